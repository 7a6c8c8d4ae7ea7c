# SPDX-License-Identifier: GPL-3.0-or-later
"""Signals and a time limit that ask the command line to stop."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from types import FrameType

from ..data import messages
from .streams import complain, complain_in_signal

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Those of them that the system has; all ask for the same. SIGBREAK is Ctrl-Break of Windows, and the end of its
console or session."""


class Stop:
    """A signal within it is noted, so that what is done can be reported; Ctrl-C after that ends at once.

    Only Ctrl-C does: whoever ends a group of processes, and a terminal that is closed, signal the same process twice.
    seconds: a time limit, which counts from now and asks for the same.
    """

    def __init__(self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.timed_out = False
        self._signaled = False
        self.seconds, self._clock = seconds, clock
        self._end = math.inf if seconds is None else clock() + seconds
        self._before: dict[int, signal._HANDLER] = {}

    @property
    def asked(self) -> bool:
        """Whether to stop now. For those who will: the time limit is noted when it is seen here."""
        if not self.noted and self._clock() >= self._end:
            self.timed_out = True
            complain(
                f"contact_lens: stopping: {messages.duration(self.seconds)} have passed (--timeout); press Ctrl-C to "
                "end at once"
            )
        return self.noted

    @property
    def noted(self) -> bool:
        """Whether it was asked for until now."""
        return self._signaled or self.timed_out

    def __enter__(self) -> Stop:
        for name in NAMES:
            number = getattr(signal, name, None)
            # Ignored is what nohup made of it. Ctrl-C is not left to who started Python: Blender in the background
            # has a handler of its own for that.
            if number is not None and (name == "SIGINT" or signal.getsignal(number) is not signal.SIG_IGN):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, signal.default_int_handler if before is None else before)

    def _ask(self, number: int, _: FrameType | None) -> None:
        if self.noted:
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            return
        self._signaled = True
        name = "" if number == signal.SIGINT else signal.Signals(number).name
        complain_in_signal(f"contact_lens: {messages.stopping(name)}")
