# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of long work: a fraction done, sub-ranges of it, and cancelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")

Progress = Callable[[float], bool | None]
"""Called with the fraction done, from 0 to 1, which never decreases. Returns False to cancel; None, as a function
without `return` does, continues."""


class Cancelled(Exception):  # noqa: N818
    """The caller's progress function returned False."""


def report_progress(progress: Progress | None, done: float, total: float = 1.0) -> None:
    """Report `done` of `total` to `progress`, if there is one. Raise Cancelled when it returns False.

    >>> report_progress(print, 3, 4)
    0.75
    """
    if progress is None:
        return
    answer = progress(min(max(done / total, 0.0), 1.0))
    if answer is not None and not answer:
        raise Cancelled("cancelled by the caller's progress function")


def tracked(items: Sequence[_T], progress: Progress | None) -> Iterator[_T]:
    """Yield the items one by one, and report how many of them are done before each. Raise Cancelled.

    >>> list(tracked("ab", print))
    0.0
    0.5
    ['a', 'b']
    """
    for done, item in enumerate(items):
        report_progress(progress, done, len(items))
        yield item


def subrange(progress: Progress | None, start: float, end: float) -> Progress | None:
    """Return a progress function for a part of the work, from fraction `start` to fraction `end` of the whole.

    What it passes on never decreases, so the part may restart or be repeated.

    >>> half = subrange(print, 0.5, 1.0)
    >>> report_progress(half, 1, 2)
    0.75
    """
    if progress is None:
        return None
    reached = start

    def report(fraction: float) -> bool | None:
        nonlocal reached
        # Rounding must not take it beyond the end, where the next part begins.
        reached = max(reached, min(start + fraction * (end - start), end))
        return progress(reached)

    return report


def equal_parts(items: Sequence[_T], progress: Progress | None) -> Iterator[tuple[_T, Progress | None]]:
    """Yield the items one by one, each with the progress function of its part of the work, all parts alike.

    >>> [report_progress(part, 1.0) for _, part in equal_parts("ab", print)]
    0.5
    1.0
    [None, None]
    """
    for k, item in enumerate(items):
        yield item, subrange(progress, k / len(items), (k + 1) / len(items))
