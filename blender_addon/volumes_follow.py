# SPDX-License-Identifier: GPL-3.0-or-later
"""The bounding volumes of each scene, and how they follow selection, moves and edits.

As for contacts, Blender's handlers only take note and a timer does the work; a view that takes long to make waits for
its button.
"""

from __future__ import annotations

import time
from typing import Any

import bpy
from bpy.app.handlers import persistent

from . import refresh
from .read import ReadError
from .volumes_view import VolumesView, view_of

CHEAP = 0.15
"""Seconds a view may take and still follow by itself."""
DELAY = 0.05

_views: dict[int, VolumesView] = {}
_troubles: dict[int, str] = {}
_seconds: dict[int, float] = {}
_outdated: set[int] = set()
_pending: set[int] = set()


def current(scene: bpy.types.Scene) -> VolumesView | None:
    """The scene's view, if it is shown."""
    return _views.get(scene.session_uid) if _settings(scene).show_volumes else None


def trouble(scene: bpy.types.Scene) -> str:
    """Why there is no view, as a sentence; empty when there is one."""
    return _troubles.get(scene.session_uid, "")


def is_outdated(scene: bpy.types.Scene) -> bool:
    """Whether something changed that the view, being slow to make, has not followed."""
    return scene.session_uid in _outdated


def update(context: bpy.types.Context) -> str:
    """Make the scene's view now. Returns why there is none, or an empty string."""
    scene = context.scene
    start = time.perf_counter()
    try:
        _views[scene.session_uid] = view_of(context, _settings(scene).as_volume_settings())
        _troubles.pop(scene.session_uid, None)
    except ReadError as error:
        _views.pop(scene.session_uid, None)
        _troubles[scene.session_uid] = str(error)
    _seconds[scene.session_uid] = time.perf_counter() - start
    _outdated.discard(scene.session_uid)
    return trouble(scene)


def request(scene: bpy.types.Scene, asked: bool = True) -> None:
    """Something that the scene's view shows may have changed. `asked`: the person changed a setting of it."""
    uid = scene.session_uid
    if not _settings(scene).show_volumes:
        for of_scene in (_views, _troubles, _seconds):
            of_scene.pop(uid, None)
        _outdated.discard(uid)
    elif bpy.app.background or (_seconds.get(uid, 0.0) > CHEAP and not asked):
        _outdated.add(uid)
    else:
        _pending.add(uid)
        if not bpy.app.timers.is_registered(_run):
            bpy.app.timers.register(_run, first_interval=DELAY)
    refresh.redraw()


def _settings(scene: bpy.types.Scene) -> Any:
    return scene.contact_lens  # type: ignore[attr-defined]


def _run() -> None:
    scenes = set(_pending)
    _pending.clear()
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            if window.scene.session_uid in scenes and _settings(window.scene).show_volumes:
                scenes.discard(window.scene.session_uid)
                with bpy.context.temp_override(window=window):
                    update(bpy.context)
    refresh.redraw()


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not _settings(scene).show_volumes or depsgraph.mode != "VIEWPORT":
        return
    # Selection, moves, edits, objects that come and go: any of them changes what is shown.
    if depsgraph.id_type_updated("OBJECT") or depsgraph.id_type_updated("SCENE"):
        request(scene, asked=False)


@persistent
def _undone(*_: object) -> None:
    for scene in bpy.data.scenes:
        if _settings(scene).show_volumes:
            request(scene, asked=False)


@persistent
def _loaded(*_: object) -> None:
    for of_scene in (_views, _troubles, _seconds):
        of_scene.clear()
    _outdated.clear()
    _pending.clear()
    _undone()


_HANDLERS = (
    ("depsgraph_update_post", _depsgraph_changed),
    ("frame_change_post", _depsgraph_changed),
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
    for of_scene in (_views, _troubles, _seconds):
        of_scene.clear()
    _outdated.clear()
    _pending.clear()
