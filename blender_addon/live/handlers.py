# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows Blender: handlers, timers and hooks that come and go together, and the windows they look at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import gpu

Timer = Callable[[], float | None]


class Follower:
    """Handlers in bpy.app.handlers, timers and hooks, registered and unregistered together."""

    def __init__(
        self,
        events: dict[str, Callable[..., None]],
        timers: Sequence[Timer] = (),
        hooks: Sequence[tuple[Any, Any]] = (),
        stop: Callable[[], None] | None = None,
    ) -> None:
        """events: by the name of the list in bpy.app.handlers. hooks: lists or menus, each with the function to append.
        stop: called last, to end what runs."""
        self._entries = [*((getattr(bpy.app.handlers, name), handler) for name, handler in events.items()), *hooks]
        self._timers, self._stop = timers, stop

    def register(self) -> None:
        for functions, function in self._entries:
            functions.append(function)

    def unregister(self) -> None:
        for functions, function in self._entries:
            functions.remove(function)
        for timer in self._timers:
            if bpy.app.timers.is_registered(timer):
                bpy.app.timers.unregister(timer)
        if self._stop is not None:
            self._stop()


def wake(timer: Timer, seconds: float) -> None:
    """Call `timer` after so many seconds, unless it is to be called already. Only from Blender's main thread.

    Without windows Blender calls none, and one that is there when it ends, as a module, keeps it from ending.
    """
    if is_main_thread() and not bpy.app.background and not bpy.app.timers.is_registered(timer):
        bpy.app.timers.register(timer, first_interval=seconds)


def window_contexts() -> Iterator[bpy.types.Context]:
    """Yield the context of one window for each scene that is in a window."""
    seen = set()
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            if window.scene.session_uid not in seen:
                seen.add(window.scene.session_uid)
                with bpy.context.temp_override(window=window):
                    yield bpy.context


def redraw() -> None:
    """Draw every 3D view again, its sidebar too."""
    if not is_main_thread():
        return
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()


def activate_gpu(context: bpy.types.Context) -> None:
    """Draw a window where no GPU context is active, as after a script has closed a window.

    Blender 5.2 crashes when it lays out the redo panel of an operator then, of its own ones too.
    """
    if bpy.app.background or context.window is None:
        return
    try:
        gpu.types.GPUOffScreen(1, 1).free()
    except RuntimeError:
        bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)


def is_main_thread() -> bool:
    """Return whether this is the thread of Blender's windows; a script may change the frame from that of a render."""
    return threading.current_thread() is threading.main_thread()


def is_playing() -> bool:
    """Return whether an animation is played in a window."""
    return any(window.screen.is_animation_playing for manager in bpy.data.window_managers for window in manager.windows)


def is_rendering() -> bool:
    """Return whether Blender renders beside its windows: nothing is evaluated for the add-on meanwhile."""
    return bpy.app.is_job_running("RENDER")


_is_quiet = False


@contextmanager
def quiet() -> Iterator[None]:
    """Within it nothing is found anew of the frames that the scene is set to: it is set back in the end."""
    global _is_quiet
    _is_quiet = True
    try:
        yield
    finally:
        _is_quiet = False


def is_quiet() -> bool:
    """Return whether the scene is at another frame for a while."""
    return _is_quiet
