# SPDX-License-Identifier: GPL-3.0-or-later
"""The bounding volumes of each scene, and how they follow selection, moves and edits.

As for contacts, Blender's handlers only take note and a timer does the work; volumes that take long to compute wait for
their button.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import bpy
from bpy.app.handlers import persistent

from ...core.progress import Cancelled
from ..data import properties
from ..geometry.snapshot import ReadError
from ..study.volumes import VolumesInput, VolumesView, read_volumes, view_of
from . import background, handlers
from .background import Flow, Steps

CHEAP_S = 0.15
"""Seconds the volumes may take and still follow by themselves."""
DELAY_S = 0.05
"""Seconds from a change to the timer."""


@dataclass(eq=False)
class _Volumes:
    """The volumes of a scene."""

    view: VolumesView | None = None
    error: str = ""
    """Why there is no view, as a sentence."""
    seconds: float = 0.0
    """What the last view took."""
    is_outdated: bool = False
    """Whether something changed that the view, being slow to compute, has not followed."""
    is_pending: bool = False
    """Whether the timer is to compute it."""
    flow: Flow | None = None
    """Computes the view."""
    is_overtaken: bool = False
    """Whether something changed since the flow began."""


_of_scene: dict[int, _Volumes] = {}
"""By the scene's session_uid."""
_NONE = _Volumes()


def current(scene: bpy.types.Scene) -> VolumesView | None:
    """Return the scene's view, if it is shown."""
    return _get(scene).view if properties.settings_of(scene).show_volumes else None


def error(scene: bpy.types.Scene) -> str:
    """Return why there is no view, as a sentence; empty when there is one."""
    return _get(scene).error


def is_outdated(scene: bpy.types.Scene) -> bool:
    """Return whether something changed that the view, being slow to compute, has not followed."""
    return _get(scene).is_outdated


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the scene's view; None when none is being computed."""
    flow = _get(scene).flow
    return None if flow is None else flow.progress


def begin(context: bpy.types.Context, seconds: float | None) -> None:
    """Compute the scene's view: what takes longer than `seconds` beside Blender, with progress; None: all of it now."""
    volumes = _of_scene.setdefault(context.scene.session_uid, _Volumes())
    _drop(volumes)
    start = time.perf_counter()
    try:
        given = read_volumes(context, properties.settings_of(context.scene).as_volume_settings())
    except ReadError as error:
        _finish(volumes, start, None, str(error))
        return
    flow = volumes.flow = Flow("Bounding volumes", _steps(volumes, given, start))
    if not flow.run(seconds):
        background.wait_for(flow)


def _steps(volumes: _Volumes, given: VolumesInput, start: float) -> Steps:
    """Make what is computed the scene's view; when that is cancelled, the previous one stays and is outdated."""
    try:
        last = None if volumes.view is None else volumes.view.moving
        view = yield lambda progress: view_of(given, progress, last)
        _finish(volumes, start, view)
    except Cancelled:
        _finish(volumes, start, volumes.view, volumes.error)
        volumes.is_outdated = True
    except Exception as error:
        _finish(volumes, start, None, f"The bounding volumes cannot be computed: {error}")
        raise
    return {"FINISHED"}


def _finish(volumes: _Volumes, start: float, view: VolumesView | None, error: str = "") -> None:
    volumes.view, volumes.error, volumes.seconds = view, error, time.perf_counter() - start
    volumes.is_outdated, volumes.is_overtaken, volumes.flow = volumes.is_overtaken, False, None


def cancel(scene: bpy.types.Scene) -> None:
    """Cancel computing the view of a scene: the previous one stays and is outdated."""
    flow = _get(scene).flow
    if flow is not None:
        flow.cancel()
        handlers.redraw()


def request(scene: bpy.types.Scene, is_asked: bool = True) -> None:
    """Note that what the scene's view shows may have changed. is_asked: the user changed a setting of it."""
    volumes = _of_scene.setdefault(scene.session_uid, _Volumes())
    if not properties.settings_of(scene).show_volumes:
        _drop(_of_scene.pop(scene.session_uid))
    elif volumes.flow is not None and not is_asked:
        volumes.is_overtaken = True
    elif not background.has_windows() or (volumes.seconds > CHEAP_S and not is_asked):
        volumes.is_outdated = True
    else:
        volumes.is_pending = True
        handlers.wake(_run, DELAY_S)
    handlers.redraw()


def _drop(volumes: _Volumes) -> None:
    """Drop the flow, and what was to be computed."""
    volumes.is_overtaken = volumes.is_pending = False
    flow, volumes.flow = volumes.flow, None
    if flow is not None:
        flow.drop()


def _clear() -> None:
    for volumes in _of_scene.values():
        _drop(volumes)
    _of_scene.clear()


def _get(scene: bpy.types.Scene) -> _Volumes:
    return _of_scene.get(scene.session_uid, _NONE)


def _run() -> None:
    for context in handlers.window_contexts():
        if _get(context.scene).is_pending and properties.settings_of(context.scene).show_volumes:
            begin(context, background.MODAL_AFTER_S)
    handlers.redraw()


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not properties.settings_of(scene).show_volumes or depsgraph.mode != "VIEWPORT" or handlers.is_quiet():
        return
    if _get(scene).flow is not None and not depsgraph.id_type_updated("OBJECT"):
        return  # the operator that began it touches the scene itself
    # Selection, moves, edits, objects that come and go: any of them changes what is shown.
    if depsgraph.id_type_updated("OBJECT") or depsgraph.id_type_updated("SCENE"):
        request(scene, is_asked=False)


@persistent
def _undone(*_: object) -> None:
    for scene in bpy.data.scenes:
        if properties.settings_of(scene).show_volumes:
            request(scene, is_asked=False)


@persistent
def _loaded(*_: object) -> None:
    _clear()
    _undone()


background.CANCELLATIONS["volumes"] = "Cancel computing the bounding volumes", cancel
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
    stop=_clear,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
