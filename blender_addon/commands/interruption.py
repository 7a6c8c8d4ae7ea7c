# SPDX-License-Identifier: GPL-3.0-or-later
"""Signals that ask the command line to stop."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType

from ..data import messages

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
"""Those of them that the system has; all ask for the same."""


class Stop:
    """A signal within it is noted, so that what is done can be reported; Ctrl-C after that ends at once.

    Only Ctrl-C does: whoever ends a group of processes, and a terminal that is closed, signal the same process twice.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, signal._HANDLER] = {}

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
        if self.asked:
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            return
        self.asked = True
        name = "" if number == signal.SIGINT else signal.Signals(number).name
        with suppress(OSError):  # the terminal may be what was closed
            # Not by print: it may be what was interrupted, and does not go on within itself.
            os.write(2, f"\ncontact_lens: {messages.stopping(name)}\n".encode())
