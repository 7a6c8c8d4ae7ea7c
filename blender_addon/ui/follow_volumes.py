# SPDX-License-Identifier: GPL-3.0-or-later
"""The bounding volumes of each scene, and how they follow selection, moves and edits.

As for contacts, Blender's handlers only take note and a timer does the work; a view that takes long to make waits for
its button, and is made in a thread meanwhile.
"""

from __future__ import annotations

import time
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.progress import Cancelled
from ..check.volumes import VolumesView, subject_of, view_of
from ..data import properties
from ..read.snapshot import ReadError
from . import handlers
from .background import Job

CHEAP = 0.15
"""Seconds a view may take and still follow by itself."""
PATIENCE = 0.2
"""Seconds Blender waits for a view; after that it goes on and shows the progress."""
DELAY = 0.05
POLL = 0.1
"""Seconds between two looks at a job."""
END = 10.0
"""Seconds that a cancelled job may take to end when the add-on is switched off."""

_views: dict[int, VolumesView] = {}
_troubles: dict[int, str] = {}
_seconds: dict[int, float] = {}
_outdated: set[int] = set()
_pending: set[int] = set()
_jobs: dict[int, tuple[Job[VolumesView], float]] = {}
"""The job that makes a scene's view, and when it began."""
_overtaken: set[int] = set()
"""Scenes that changed since their job began."""


def current(scene: bpy.types.Scene) -> VolumesView | None:
    """The scene's view, if it is shown."""
    return _views.get(scene.session_uid) if _settings(scene).show_volumes else None


def trouble(scene: bpy.types.Scene) -> str:
    """Why there is no view, as a sentence; empty when there is one."""
    return _troubles.get(scene.session_uid, "")


def is_outdated(scene: bpy.types.Scene) -> bool:
    """Whether something changed that the view, being slow to make, has not followed."""
    return scene.session_uid in _outdated


def share_done(uid: int) -> float | None:
    """How much of the view of a scene (its session_uid) is made, 0 to 1; None when none is being made."""
    return _jobs[uid][0].share if uid in _jobs else None


def update(context: bpy.types.Context) -> str:
    """Make the scene's view now. Returns why there is none, or an empty string."""
    if begin(context):
        job, _ = _jobs[context.scene.session_uid]
        while not job.wait(POLL):
            pass
        _take_over(context.scene.session_uid)
    return trouble(context.scene)


def begin(context: bpy.types.Context) -> bool:
    """Begin to make the scene's view. Returns whether that is still going on; else it is made, or there is trouble."""
    uid = context.scene.session_uid
    _drop_job(uid)
    _pending.discard(uid)
    start = time.perf_counter()
    try:
        subject = subject_of(context, _settings(context.scene).as_volume_settings())
    except ReadError as error:
        _fail(uid, str(error))
        _seconds[uid] = time.perf_counter() - start
        return False
    job = Job(lambda progress: view_of(subject, progress))
    _jobs[uid] = job, start
    if job.wait(PATIENCE):
        _take_over(uid)
        return False
    if not bpy.app.timers.is_registered(_poll):
        bpy.app.timers.register(_poll, first_interval=POLL)
    return True


def cancel(uid: int) -> None:
    """Give up making the view of a scene (its session_uid): what was shown before stays, and is outdated."""
    if _drop_job(uid):
        _outdated.add(uid)
        handlers.redraw()


def request(scene: bpy.types.Scene, asked: bool = True) -> None:
    """Something that the scene's view shows may have changed. `asked`: the person changed a setting of it."""
    uid = scene.session_uid
    if not _settings(scene).show_volumes:
        _forget(uid)
    elif uid in _jobs and not asked:
        _overtaken.add(uid)
    elif bpy.app.background or (_seconds.get(uid, 0.0) > CHEAP and not asked):
        _outdated.add(uid)
    else:
        _pending.add(uid)
        if not bpy.app.timers.is_registered(_run):
            bpy.app.timers.register(_run, first_interval=DELAY)
    handlers.redraw()


def _take_over(uid: int) -> None:
    """Take over what a job that is done has made."""
    job, start = _jobs.pop(uid)
    _seconds[uid] = time.perf_counter() - start
    _outdated.discard(uid)
    if uid in _overtaken:
        _overtaken.discard(uid)
        _outdated.add(uid)
    try:
        _views[uid] = job.result()
        _troubles.pop(uid, None)
    except Cancelled:
        _outdated.add(uid)
    except Exception as error:
        _fail(uid, f"Contact Lens cannot make the volumes: {error}")
        raise


def _fail(uid: int, why: str) -> None:
    _views.pop(uid, None)
    _outdated.discard(uid)
    _troubles[uid] = why


def _drop_job(uid: int) -> bool:
    """Cancel the scene's job, if there is one; what it makes is not waited for."""
    _overtaken.discard(uid)
    if uid not in _jobs:
        return False
    _jobs.pop(uid)[0].cancel()
    return True


def _forget(uid: int) -> None:
    _drop_job(uid)
    for of_scene in (_views, _troubles, _seconds):
        of_scene.pop(uid, None)
    _outdated.discard(uid)


def _forget_all() -> None:
    for uid in list(_jobs):
        _drop_job(uid)
    for of_scene in (_views, _troubles, _seconds):
        of_scene.clear()
    for uids in (_outdated, _pending, _overtaken):
        uids.clear()


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
                    if begin(bpy.context):
                        bpy.ops.contact_lens.watch_volumes("INVOKE_DEFAULT")  # type: ignore[attr-defined]
    handlers.redraw()


def _poll() -> float | None:
    for uid, (job, _) in list(_jobs.items()):
        if job.done:
            _take_over(uid)
    handlers.redraw()
    return POLL if _jobs else None


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not _settings(scene).show_volumes or depsgraph.mode != "VIEWPORT":
        return
    if scene.session_uid in _jobs and not depsgraph.id_type_updated("OBJECT"):
        return  # the operator that began the job touches the scene itself
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
    _forget_all()
    _undone()


def _stop() -> None:
    ending = [job for job, _ in _jobs.values()]
    _forget_all()
    for job in ending:
        job.wait(END)


_FOLLOWER = handlers.Follower(
    {
        "depsgraph_update_post": _depsgraph_changed,
        "frame_change_post": _depsgraph_changed,
        "undo_post": _undone,
        "redo_post": _undone,
        "load_post": _loaded,
    },
    timers=(_run, _poll),
    hooks=((properties.on_volumes, request),),
    stop=_stop,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
