# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands for a window and for work beside it, where Blender has none."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import bpy

TICK, ESC = SimpleNamespace(type="TIMER", value="NOTHING"), SimpleNamespace(type="ESC", value="PRESS")


class Held:
    """A job that does its work when the test says so."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.share, self.done, self.cancelled = 0.0, False, False
        self._work = work

    def wait(self, seconds: float) -> bool:
        return False

    def cancel(self) -> None:
        self.cancelled = True

    def end(self) -> None:
        self._made = self._work(lambda share: True)
        self.done = True

    def result(self) -> Any:
        return self._made


class Window:
    """The context, with a window manager that counts."""

    def __init__(self) -> None:
        self.timers, self.handlers = 0, 0
        self.window_manager, self.window, self.workspace = self, None, None

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)

    def event_timer_add(self, seconds: float, window: object) -> object:
        self.timers += 1
        return self

    def event_timer_remove(self, timer: object) -> None:
        self.timers -= 1

    def modal_handler_add(self, operator: object) -> bool:
        self.handlers += 1
        return True
