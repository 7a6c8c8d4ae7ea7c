# SPDX-License-Identifier: GPL-3.0-or-later
"""Signals that ask the command line to stop."""

from __future__ import annotations

import os
import signal


class Stop:
    """Ctrl-C within it: the first time it is noted, so that what is done can be told; the second time it ends."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> Stop:
        # Said here and not left to who started Python: Blender in the background has a handler of its own.
        self._before = signal.signal(signal.SIGINT, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler if self._before is None else self._before)

    def _asked(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        # Not by print: it may be what was interrupted, and does not go on within itself.
        os.write(2, b"\ncontact_lens: stopping; press Ctrl-C again to end at once\n")
