# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for a window and for work beside it, where Blender has none."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest

TICK, ESC = SimpleNamespace(type="TIMER", value="NOTHING"), SimpleNamespace(type="ESC", value="PRESS")


class Held:
    """A task that does its work when the test says so."""

    def __init__(self, work: Callable[[Any], Any], is_blocking: bool = False) -> None:
        self.progress, self.is_done, self.is_cancelled = 0.0, False, False
        self._work = work
        if is_blocking:
            self.end()

    def wait(self, seconds: float) -> bool:
        return self.is_done

    def cancel(self) -> None:
        self.is_cancelled = True

    def end(self) -> None:
        self._made = self._work(lambda fraction: True)
        self.is_done = True

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


def modal_operator(
    background: ModuleType, steps: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch, **attributes: Any
) -> tuple[Any, Window]:
    """Begin an operator of these steps with a button, all of its work held; return it and its context."""
    monkeypatch.setattr(background, "Task", Held)
    monkeypatch.setattr(background, "seconds_to_wait", lambda context: 0.3)
    said: list[str] = []
    members = {"title": "Work", "steps": steps, "report": lambda self, kind, text: said.append(text), "said": said}
    operator, window = type("Operator", (background.BackgroundOperator,), members | attributes)(), Window()
    assert operator.invoke(window, None) == {"RUNNING_MODAL"}
    assert (window.timers, window.handlers) == (1, 1)
    return operator, window
