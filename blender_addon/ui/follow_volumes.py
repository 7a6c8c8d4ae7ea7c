# SPDX-License-Identifier: GPL-3.0-or-later
"""The bounding volumes of each scene, and how they follow selection, moves and edits.

As for contacts, Blender's handlers only take note and a timer does the work; a view that takes long to compute waits
for its button.
"""

from __future__ import annotations

import time
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.progress import Cancelled
from ..check.volumes import VolumesInput, VolumesView, read_volumes, view_of
from ..data import properties
from ..read.snapshot import ReadError
from . import background, handlers
from .background import Flow, Steps

CHEAP_S = 0.15
"""Seconds a view may take and still follow by itself."""
DELAY_S = 0.05
"""Seconds from a change to the timer."""

_views: dict[int, VolumesView] = {}
_errors: dict[int, str] = {}
_seconds: dict[int, float] = {}
_outdated: set[int] = set()
_pending: set[int] = set()
_flows: dict[int, Flow] = {}
"""What computes a scene's view."""
_overtaken: set[int] = set()
"""Scenes that changed since their view was begun. All of these are by the scene's session_uid."""


def current(scene: bpy.types.Scene) -> VolumesView | None:
    """Return the scene's view, if it is shown."""
    return _views.get(scene.session_uid) if _settings(scene).show_volumes else None


def error(scene: bpy.types.Scene) -> str:
    """Return why there is no view, as a sentence; empty when there is one."""
    return _errors.get(scene.session_uid, "")


def is_outdated(scene: bpy.types.Scene) -> bool:
    """Return whether something changed that the view, being slow to compute, has not followed."""
    return scene.session_uid in _outdated


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the scene's view; None when none is being computed."""
    flow = _flows.get(scene.session_uid)
    return None if flow is None else flow.progress


def begin(context: bpy.types.Context, seconds: float | None) -> None:
    """Compute the scene's view: what takes longer than `seconds` beside Blender, with progress; None: all of it now."""
    uid = context.scene.session_uid
    _drop(uid)
    _pending.discard(uid)
    start = time.perf_counter()
    try:
        given = read_volumes(context, _settings(context.scene).as_volume_settings())
    except ReadError as error:
        _fail(uid, str(error))
        _seconds[uid] = time.perf_counter() - start
        return
    flow = _flows[uid] = Flow("Bounding volumes", _steps(uid, given, start))
    if not flow.run(seconds):
        background.wait_for(flow)


def _steps(uid: int, given: VolumesInput, start: float) -> Steps:
    """Make what is computed the scene's view; when that is cancelled, the one before stays and is outdated."""
    try:
        _views[uid] = yield lambda progress: view_of(given, progress)
        _errors.pop(uid, None)
        _outdated.discard(uid)
    except Cancelled:
        _outdated.add(uid)
    except Exception as error:
        _fail(uid, f"The volumes cannot be computed: {error}")
        raise
    finally:
        _seconds[uid] = time.perf_counter() - start
        if uid in _overtaken:
            _overtaken.discard(uid)
            _outdated.add(uid)
        _flows.pop(uid, None)
    return {"FINISHED"}


def cancel(scene: bpy.types.Scene) -> None:
    """Cancel computing the view of a scene: what was shown before stays, and is outdated."""
    if scene.session_uid in _flows:
        _flows[scene.session_uid].cancel()
        handlers.redraw()


def request(scene: bpy.types.Scene, is_asked: bool = True) -> None:
    """Note that what the scene's view shows may have changed. is_asked: the user changed a setting of it."""
    uid = scene.session_uid
    if not _settings(scene).show_volumes:
        _forget(uid)
    elif uid in _flows and not is_asked:
        _overtaken.add(uid)
    elif not background.has_windows() or (_seconds.get(uid, 0.0) > CHEAP_S and not is_asked):
        _outdated.add(uid)
    else:
        _pending.add(uid)
        handlers.wake(_run, DELAY_S)
    handlers.redraw()


def _fail(uid: int, reason: str) -> None:
    _views.pop(uid, None)
    _outdated.discard(uid)
    _errors[uid] = reason


def _drop(uid: int) -> None:
    """Drop what computes the scene's view."""
    _overtaken.discard(uid)
    if uid in _flows:
        _flows[uid].drop()


def _forget(uid: int) -> None:
    _drop(uid)
    for of_scene in (_views, _errors, _seconds):
        of_scene.pop(uid, None)
    _outdated.discard(uid)


def _forget_all() -> None:
    for uid in {*_views, *_errors, *_seconds, *_flows, *_outdated}:
        _forget(uid)
    _pending.clear()


def _settings(scene: bpy.types.Scene) -> Any:
    return scene.contact_lens  # type: ignore[attr-defined]


def _run() -> None:
    scenes = set(_pending)
    _pending.clear()
    for context in handlers.window_contexts():
        if context.scene.session_uid in scenes and _settings(context.scene).show_volumes:
            begin(context, background.MODAL_AFTER_S)
    handlers.redraw()


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not _settings(scene).show_volumes or depsgraph.mode != "VIEWPORT":
        return
    if scene.session_uid in _flows and not depsgraph.id_type_updated("OBJECT"):
        return  # the operator that began it touches the scene itself
    # Selection, moves, edits, objects that come and go: any of them changes what is shown.
    if depsgraph.id_type_updated("OBJECT") or depsgraph.id_type_updated("SCENE"):
        request(scene, is_asked=False)


@persistent
def _undone(*_: object) -> None:
    for scene in bpy.data.scenes:
        if _settings(scene).show_volumes:
            request(scene, is_asked=False)


@persistent
def _loaded(*_: object) -> None:
    _forget_all()
    _undone()


_FOLLOWER = handlers.Follower(
    {
        "depsgraph_update_post": _depsgraph_changed,
        "frame_change_post": _depsgraph_changed,
        "undo_post": _undone,
        "redo_post": _undone,
        "load_post": _loaded,
    },
    timers=(_run,),
    hooks=((properties.on_volumes, request),),
    stop=_forget_all,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
