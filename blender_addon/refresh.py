# SPDX-License-Identifier: GPL-3.0-or-later
"""Results follow moves, edits and undo by themselves where that takes little, and are marked stale where it does not.

Blender's handlers only take note. The work is done a moment later by a timer, once for all that happened meanwhile: the
objects are copied out of Blender, the rest is done in a thread. Blender waits for that only as long as nobody notices;
what takes longer goes on beside it, and what takes too long is given up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from weakref import ref

import bpy
from bpy.app.handlers import persistent

from ..core.progress import Cancelled
from . import collision_shape, handlers, read, session
from .inspection import begun, inspect
from .job import Job
from .read import HiddenError, ReadError
from .session import Inspection

UNNOTICED = 0.1
"""Seconds that Blender waits for an inspection while it follows."""
FOLLOWED = 1.0
"""Seconds an inspection may take, beside Blender, to follow by itself."""
DELAY = 0.03
"""Seconds from the first change to the refresh; more changes in between cost nothing."""
POLL = 0.05
"""Seconds between two looks at an inspection that goes on."""
SHARE = 2.0
"""While objects are dragged, Blender gets at least this many times the time that inspections take."""
TOO_LONG = "it takes too long to follow by itself: press Refresh"

_pending: set[int] = set()
_running: dict[int, _Run] = {}
_given_up: dict[int, ref[Inspection] | None] = {}
"""By scene: the result that was there when following it took too long."""
_last_seconds = 0.0


@dataclass
class _Run:
    """An inspection that goes on beside Blender."""

    job: Job[Inspection]
    before: Inspection | None
    """The scene's result when it began."""
    since: float


def request(scene: bpy.types.Scene, reason: str = "", anew: bool = False) -> None:
    """Something about the scene's pair changed: look at it soon.

    `reason`: what to say while the result is stale. `anew`: what is inspected is another now, so how long it took last
    time says nothing.
    """
    if reason:
        session.mark_stale(scene, reason)
    if anew:
        _given_up.pop(scene.session_uid, None)
    if not bpy.app.background:
        _pending.add(scene.session_uid)
        if not bpy.app.timers.is_registered(_run):
            bpy.app.timers.register(_run, first_interval=max(DELAY, SHARE * _last_seconds))
    redraw()


def leave(scene: bpy.types.Scene) -> None:
    """Do not look at the scene's pair, though it was asked for: someone else inspects it now."""
    _pending.discard(scene.session_uid)
    _stop(scene.session_uid)


def refresh(context: bpy.types.Context) -> str:
    """Inspect the scene's pair now, and wait for it. Returns why it cannot be done, or an empty string."""
    scene = context.scene
    a, b = session.pair(scene)
    if a is None or b is None:
        session.set_error(scene, "")
        return "Pick two objects"
    try:
        inspect(context, a, b, session.settings_of(scene).as_settings())
    except ReadError as error:
        return failed(context, error)
    session.set_error(scene, "")
    return ""


def failed(context: bpy.types.Context, error: ReadError) -> str:
    """Say why the scene's pair cannot be inspected, and return it."""
    scene = context.scene
    if isinstance(error, HiddenError):
        # People hide an object to look at the contact: what was found still stands until it moves.
        if session.current(context) is None:
            session.set_error(scene, str(error))
        else:
            session.mark_stale(scene, f"{error} again")
    else:
        session.drop_result(scene)
        session.set_error(scene, str(error))
    return str(error)


def redraw() -> None:
    """Draw every 3D view again, its sidebar too."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()


def _run() -> float | None:
    """The timer: look at every scene that asked for it and is in a window. Returns when to come again."""
    global _last_seconds
    start = time.perf_counter()
    wanted = _pending | set(_running)
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            if window.scene.session_uid in wanted:
                wanted.discard(window.scene.session_uid)
                with bpy.context.temp_override(window=window):
                    _follow(bpy.context)
    for uid in wanted:  # of no window
        _pending.discard(uid)
        _stop(uid)
    _last_seconds = time.perf_counter() - start
    redraw()
    return POLL if _running or _pending else None


def _follow(context: bpy.types.Context) -> None:
    """Take over what is done, give up what takes too long, begin what is asked for."""
    scene = context.scene
    uid = scene.session_uid
    run = _running.get(uid)
    if run is not None:
        if not run.job.done:
            if time.perf_counter() - run.since > FOLLOWED:
                _give_up(scene, run)
            return
        del _running[uid]
        if session.stored(scene) is run.before:  # else someone was faster
            _take(scene, run)
    if uid not in _pending:
        return
    _pending.discard(uid)
    _drop_deleted(scene)
    a, b = session.pair(scene)
    if a is None or b is None:
        session.set_error(scene, "")
        return
    try:
        made = begun(context, a, b, session.settings_of(scene).as_settings())
    except ReadError as error:
        failed(context, error)
        return
    last = session.stored(scene)
    if isinstance(made, Inspection):
        session.store(scene, made)  # nothing has changed after all
        return
    if uid in _given_up and _given_up[uid] == (None if last is None else ref(last)):
        session.mark_stale(scene, TOO_LONG)
        return
    _given_up.pop(uid, None)
    run = _Run(Job(made), last, time.perf_counter())
    if run.job.wait(UNNOTICED):
        _take(scene, run)
    else:
        _running[uid] = run


def _take(scene: bpy.types.Scene, run: _Run) -> None:
    """Make what a run has found the scene's result."""
    try:
        session.store(scene, run.job.result())
        session.set_error(scene, "")
    except Cancelled:
        pass  # whoever cancelled it has said why
    except ReadError as error:
        session.drop_result(scene)
        session.set_error(scene, str(error))


def _give_up(scene: bpy.types.Scene, run: _Run) -> None:
    _stop(scene.session_uid)
    _pending.discard(scene.session_uid)
    _given_up[scene.session_uid] = None if run.before is None else ref(run.before)
    if run.before is None:
        session.set_error(scene, TOO_LONG[0].upper() + TOO_LONG[1:])
    else:
        session.mark_stale(scene, TOO_LONG)


def _stop(uid: int) -> None:
    """Cancel what goes on for a scene."""
    run = _running.pop(uid, None)
    if run is not None:
        run.job.cancel()


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
    if edited and bpy.app.background and _as_before(scene, depsgraph):
        return  # tagged, but the same: without a window no timer looks at it
    if edited:
        request(scene, reason=f"'{edited}' has changed")
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
        request(scene, reason=f"'{edited}' has changed with the frame")
    elif moved:
        request(scene)


def _changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> tuple[str, str]:
    """The name of an object of the scene's pair that moved, and of one whose geometry changed; empty when none did."""
    picked = {obj.session_uid: obj.name for obj in session.picked(scene)}
    parts = {part.session_uid: obj.name for obj in session.picked(scene) for part in collision_shape.parts(obj)}
    moved = edited = ""
    for update in depsgraph.updates:
        if not isinstance(update.id, bpy.types.Object):
            continue
        uid = update.id.original.session_uid
        if uid in parts and (update.is_updated_geometry or update.is_updated_transform):
            edited = parts[uid]
        elif uid in picked and update.is_updated_geometry:
            edited = picked[uid]
        elif uid in picked and update.is_updated_transform:
            moved = picked[uid]
    return moved, edited


def _as_before(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether the scene's pair is still what its result is about."""
    last = session.stored(scene)
    a, b = session.pair(scene)
    if last is None or a is None or b is None or session.marked(scene):
        return False
    try:
        return (last.state_a, last.state_b) == (read.state_of(a, depsgraph), read.state_of(b, depsgraph))
    except ReadError:
        return False


@persistent
def _undone(*_: object) -> None:
    # Any mesh may be another now; the digest of the geometry tells whether it is.
    for scene in bpy.data.scenes:
        if session.stored(scene) is not None:
            request(scene, reason="a step was undone or redone")


@persistent
def _loaded(*_: object) -> None:
    session.clear()
    read.forget()
    _pending.clear()
    _given_up.clear()
    for uid in list(_running):
        _stop(uid)


_HANDLERS = (
    ("depsgraph_update_post", _depsgraph_changed),
    ("frame_change_post", _frame_changed),
    ("undo_post", _undone),
    ("redo_post", _undone),
    ("load_post", _loaded),
)


def register() -> None:
    handlers.add(_HANDLERS)


def unregister() -> None:
    handlers.remove(_HANDLERS)
    if bpy.app.timers.is_registered(_run):
        bpy.app.timers.unregister(_run)
    _loaded()
