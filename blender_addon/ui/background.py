# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work in a thread of its own, so that Blender stays usable meanwhile.

The work must not touch bpy: what it needs is read before, and what it makes is taken over when it is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from ...core.progress import Progress

_T = TypeVar("_T")


class Job(Generic[_T]):
    """Work that has begun, tells how far it is, and can be cancelled."""

    def __init__(self, work: Callable[[Progress], _T]) -> None:
        """Begin. `work` gets a progress function, which says False once the job is cancelled."""
        self.share = 0.0
        """How much is done, 0 to 1."""
        self._work = work
        self._cancelled = False
        self._result: list[_T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="Contact Lens", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result.append(self._work(self._tell))
        except BaseException as error:  # handed to who asks for the result
            self._error = error

    def _tell(self, share: float) -> bool:
        self.share = share
        return not self._cancelled

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long. Returns whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def done(self) -> bool:
        """Whether the work has ended, however it did."""
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Ask the work to end soon."""
        self._cancelled = True

    def result(self) -> _T:
        """Return what the work made, once it is done. Raises what the work raised: Cancelled if it was cancelled."""
        if self._error is not None:
            raise self._error
        return self._result[0]
