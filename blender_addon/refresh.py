# SPDX-License-Identifier: GPL-3.0-or-later
"""Results follow moves, edits and undo by themselves where that is cheap, and are marked stale where it is not.

Blender's handlers only take note. The work is done a moment later by a timer, once for all that happened meanwhile.
"""

from __future__ import annotations

import time

import bpy
from bpy.app.handlers import persistent

from . import read, session
from .inspection import inspect
from .read import HiddenError, ReadError

CHEAP = 0.1
"""Seconds an inspection may take and still follow by itself."""
DELAY = 0.03
"""Seconds from the first change to the refresh; more changes in between cost nothing."""
SHARE = 2.0
"""While objects are dragged, Blender gets at least this many times the time that inspections take."""

_pending: set[int] = set()
_last_seconds = 0.0


def request(scene: bpy.types.Scene, edited: bool = False, reason: str = "") -> None:
    """Something about the scene's pair changed: refresh it soon if that is cheap, else mark it stale.

    `edited`: the geometry may have changed too, which costs more. `reason`: what to say while the result is stale.
    """
    inspection = session.stored(scene)
    if reason:
        session.mark_stale(scene, reason)
    cheap = inspection is None or (inspection.seconds_edit if edited else inspection.seconds_move) <= CHEAP
    if cheap and not bpy.app.background:
        _pending.add(scene.session_uid)
        if not bpy.app.timers.is_registered(_run):
            bpy.app.timers.register(_run, first_interval=max(DELAY, SHARE * _last_seconds))
    redraw()


def refresh(context: bpy.types.Context) -> str:
    """Inspect the scene's pair now. Returns why it cannot be done, or an empty string."""
    scene = context.scene
    a, b = session.pair(scene)
    if a is None or b is None:
        session.set_error(scene, "")
        return "Pick two objects"
    try:
        inspect(context, a, b, session.settings_of(scene).as_settings())
    except HiddenError as error:
        # People hide an object to look at the contact: what was found still stands until it moves.
        if session.current(context) is None:
            session.set_error(scene, str(error))
        else:
            session.mark_stale(scene, f"{error} again")
        return str(error)
    except ReadError as error:
        session.drop_result(scene)
        session.set_error(scene, str(error))
        return str(error)
    session.set_error(scene, "")
    return ""


def redraw() -> None:
    """Draw every 3D view again, its sidebar too."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()


def _run() -> None:
    """The timer: refresh every scene that asked for it and is in a window."""
    global _last_seconds
    scenes = set(_pending)
    _pending.clear()
    start = time.perf_counter()
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            if window.scene.session_uid in scenes:
                scenes.discard(window.scene.session_uid)
                with bpy.context.temp_override(window=window):
                    _drop_deleted(window.scene)
                    refresh(bpy.context)
    _last_seconds = time.perf_counter() - start
    redraw()


def _drop_deleted(scene: bpy.types.Scene) -> None:
    """Empty a picker whose object was deleted: the picker alone keeps the object in the file."""
    settings = session.settings_of(scene)
    a, b = session.pair(scene)
    if settings.object_a is not None and a is None:
        settings.object_a = None
    if settings.object_b is not None and b is None:
        settings.object_b = None


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not session.picked(scene) or depsgraph.mode != "VIEWPORT":
        return
    moved, edited = _changed(scene, depsgraph)
    if edited:
        request(scene, edited=True, reason=f"'{edited}' has changed")
    elif moved:
        request(scene)  # that the matrix differs is seen without a note
    elif depsgraph.id_type_updated("SCENE") and (None in session.pair(scene) or session.marked(scene)):
        request(scene)  # deleted, or shown again


@persistent
def _frame_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if session.stored(scene) is None or depsgraph.mode != "VIEWPORT" or bpy.app.is_job_running("RENDER"):
        return
    moved, edited = _changed(scene, depsgraph)
    if edited:
        request(scene, edited=True, reason=f"'{edited}' has changed with the frame")
    elif moved:
        request(scene)


def _changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> tuple[str, str]:
    """The name of an object of the scene's pair that moved, and of one whose geometry changed; empty when none did."""
    picked = {obj.session_uid for obj in session.picked(scene)}
    moved = edited = ""
    for update in depsgraph.updates:
        if isinstance(update.id, bpy.types.Object) and update.id.original.session_uid in picked:
            if update.is_updated_geometry:
                edited = update.id.name
            elif update.is_updated_transform:
                moved = update.id.name
    return moved, edited


@persistent
def _undone(*_: object) -> None:
    # Any mesh may be another now; the digest of the geometry tells whether it is.
    for scene in bpy.data.scenes:
        if session.stored(scene) is not None:
            request(scene, edited=True, reason="a step was undone or redone")


@persistent
def _loaded(*_: object) -> None:
    session.clear()
    read.forget()
    _pending.clear()


_HANDLERS = (
    ("depsgraph_update_post", _depsgraph_changed),
    ("frame_change_post", _frame_changed),
    ("undo_post", _undone),
    ("redo_post", _undone),
    ("load_post", _loaded),
)


def register() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    if bpy.app.timers.is_registered(_run):
        bpy.app.timers.unregister(_run)
    _loaded()
