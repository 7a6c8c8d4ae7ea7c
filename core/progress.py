# SPDX-License-Identifier: GPL-3.0-or-later
"""How long work tells how far it is, and is stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable

Progress = Callable[[float], bool | None]
"""Called with the share done, 0 to 1; returns False to cancel. None, which a function without `return` gives, does
not."""


class Cancelled(Exception):  # noqa: N818
    """The caller's progress function asked to stop."""


def part_of(progress: Progress | None, begin: float, end: float) -> Progress | None:
    """Return a progress function for a part of the work, from share `begin` to share `end` of the whole."""
    if progress is None:
        return None
    # Rounding must not take it beyond the end, where the next part begins.
    return lambda share: progress(min(begin + share * (end - begin), end))


def rising(progress: Progress | None) -> Progress | None:
    """Return what never tells less than before, for work whose next part may be left out or done another way."""
    if progress is None:
        return None
    told, most = progress, 0.0

    def told_at_least(share: float) -> bool | None:
        nonlocal most
        most = max(most, share)
        return told(most)

    return told_at_least


class Stages:
    """Progress of work in stages of which it is known only on the way how long they take.

    Costs are in any unit: how they compare matters, not how fast a machine is.
    """

    def __init__(self, progress: Progress | None) -> None:
        """Begin; `progress` is that of the whole."""
        self._progress, self._done = progress, 0.0

    def next(self, cost: float, later: float) -> Progress | None:
        """Return a progress function for the next stage, by its cost and that of all that is expected after it."""
        begin = self._done
        self._done += (1.0 - begin) * cost / max(cost + later, sys.float_info.min)
        return part_of(self._progress, begin, self._done)


def tell(progress: Progress | None, share: float) -> None:
    """Call `progress`, if there is one. Raises Cancelled when it returns what is false, but not None."""
    if progress is None:
        return
    answer = progress(min(max(share, 0.0), 1.0))
    if answer is not None and not answer:
        raise Cancelled("cancelled by the caller's progress function")
