# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow what changes about the clashes of a scene: handlers note it, and a timer compares it with the scene."""

from __future__ import annotations

import time

import bpy
from bpy.app.handlers import persistent

from ..check import changes
from . import handlers

QUIET_S = 0.1
"""Seconds after the last change until objects are read to be compared."""
SLICE_S = 0.02
"""Seconds of reading at a time; one object is read in any case."""
PAUSE_FACTOR = 4.0
"""Times as long Blender then has for itself."""
POLL_INTERVAL_S = 0.05


def _compare() -> float | None:
    """The timer: compare some more in every scene that is in a window."""
    begin = time.monotonic()
    is_left = False
    quiet = float("inf") if handlers.is_rendering() else QUIET_S
    for context in handlers.window_contexts():
        is_left |= changes.compare_some(context, SLICE_S, quiet)
    handlers.redraw()
    return max(POLL_INTERVAL_S, PAUSE_FACTOR * (time.monotonic() - begin)) if is_left else None


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if changes.note(scene, depsgraph):
        handlers.redraw()


@persistent
def _frame_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if changes.note(scene, depsgraph, of_frame=True):
        handlers.redraw()


@persistent
def _clear(*_: object) -> None:
    changes.clear()


def _wake() -> None:
    handlers.wake(_compare, POLL_INTERVAL_S)


_FOLLOWER = handlers.Follower(
    {
        "depsgraph_update_post": _depsgraph_changed,
        "frame_change_post": _frame_changed,
        "undo_post": _clear,
        "redo_post": _clear,
        "load_pre": _clear,
        "load_post": _clear,
    },
    timers=(_compare,),
    hooks=((changes.on_uncompared, _wake),),
    stop=changes.clear,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
