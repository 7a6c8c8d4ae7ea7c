# SPDX-License-Identifier: GPL-3.0-or-later
"""Results follow moves, edits, frames and undo by themselves; on screen they are marked outdated until they do.

How depends on how long the last inspections of the pair took. A quick pair is inspected in Blender's handler, before
the frame is drawn. Others are inspected by a timer, once for all that happened meanwhile: the objects are copied out of
Blender, the rest is done in a thread. Blender waits for that only as long as nobody notices; what takes longer goes on
beside it for as long as it takes. What takes very long is begun when the changes end, as when the mouse is released.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from bpy.app.handlers import persistent

from ...core.narrow_phase.contact import Contact
from ...core.progress import Cancelled
from ..check import changes, session
from ..check import results as scene_results
from ..check.inspection import Work, begun, inspect, is_of
from ..check.pair_contact import Found
from ..check.session import Inspection
from ..data import properties
from ..read import collision_shape
from ..read import snapshot as read
from ..read.snapshot import HiddenError, ReadError
from . import handlers
from .background import Job

QUICK = 0.03
"""Seconds: a pair that typically takes less is inspected before the frame is drawn."""
UNNOTICED = 0.1
"""Seconds that Blender waits for an inspection while it follows."""
GRACE = 0.3
"""Seconds for which a result that is about to be replaced is not marked outdated: nothing flashes while things move."""
LONG = 1.0
"""Seconds: a pair that typically takes longer is inspected when the changes end, and an inspection that has gone on for
longer is ended when the pair changes."""
SETTLED = 0.3
"""Seconds without a change after which the changes have ended."""
DELAY = 0.03
"""Seconds from the first change to the timer; more changes in between cost nothing."""
END = 10.0
"""Seconds that cancelled inspections may take to end when the add-on is switched off."""
POLL = 0.05
"""Seconds between two looks at an inspection that goes on."""
RENDERING = 0.5
"""Seconds between two looks at whether a render has ended."""
SHARE = 2.0
"""While objects are dragged, Blender gets at least this many times the time that inspections take."""
CANCELLED = "inspection cancelled"
OVERTAKEN = "changed while inspected"

clock = time.monotonic


@dataclass
class _Run:
    """An inspection that goes on beside Blender."""

    job: Job[Inspection]
    work: Work
    before: Contact | Found | None
    """The contact of the scene's result when it began; new names and units do not change it."""
    since: float


@dataclass
class _Following:
    """What is to be done for a scene's pair, from its first change until the result is that of the last one."""

    since: float
    """When the first change came."""
    last: float
    """When the last one came."""
    reason: str = ""
    """Why the result of what runs will not hold, where that cannot be seen."""
    asked: bool = True
    """Whether something changed that no inspection has seen yet."""
    run: _Run | None = None
    waits: bool = False
    """Whether the next inspection is begun only when the changes end: the last one was too long for them."""
    watched: bool = False
    """Whether Esc ends it."""


_following: dict[int, _Following] = {}
"""By the scene's session_uid."""
_hidden: set[int] = set()
"""Scenes (their session_uid) whose pair is to be inspected when it is shown again."""
_ended: list[Job[Inspection]] = []
"""Cancelled inspections, whose threads may still go on for a moment."""
_last_seconds = 0.0


def request(scene: bpy.types.Scene, reason: str = "") -> None:
    """Something about the scene's pair changed: inspect it soon. `reason`: what to say while the result is stale."""
    if reason:
        session.mark_stale(scene, reason)
    if not _in_background():
        _note(scene, reason)
        _wake()
    handlers.redraw()


def leave(scene: bpy.types.Scene) -> None:
    """Do not inspect the scene's pair, though it was asked for: someone else inspects it now."""
    _leave(scene.session_uid)


def cancel(scene: bpy.types.Scene) -> None:
    """The user does not want to wait for the inspection that goes on: the result stays, and is outdated."""
    entry = _following.get(scene.session_uid)
    if entry is not None and entry.run is not None:
        session.note_seconds(scene, clock() - entry.run.since)
    _leave(scene.session_uid)
    session.mark_stale(scene, CANCELLED)
    handlers.redraw()


def outdated(context: bpy.types.Context) -> str:
    """Why the result is to be marked outdated on screen; empty while it holds, and while it is about to be replaced."""
    entry = _following.get(context.scene.session_uid)
    if entry is not None and clock() - entry.since < GRACE:
        return ""
    return session.stale_reason(context)


def progress_of(uid: int) -> float | None:
    """How much of an inspection that goes on is done, 0 to 1, by the scene's session_uid; None when none does.

    One of which nothing is to be seen yet counts as none.
    """
    entry = _following.get(uid)
    if entry is None or entry.run is None or clock() - entry.since < GRACE:
        return None
    return entry.run.job.share


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
        _hidden.add(scene.session_uid)
        # People hide an object to look at the contact: what was found still stands until it moves.
        if session.current(context) is None:
            session.set_error(scene, str(error))
        else:
            session.mark_stale(scene, f"'{error.name}' is hidden")
    else:
        session.drop_result(scene)
        session.set_error(scene, str(error))
    return str(error)


def _in_background() -> bool:
    """Whether there is no window, so nothing is followed."""
    return bpy.app.background


def _note(scene: bpy.types.Scene, reason: str = "") -> _Following:
    """Take note of a change."""
    now = clock()
    entry = _following.setdefault(scene.session_uid, _Following(now, now))
    entry.last, entry.asked, entry.reason = now, True, reason or entry.reason
    return entry


def _wake() -> None:
    handlers.wake(_run, max(DELAY, SHARE * _last_seconds))


def _run() -> float | None:
    """The timer: look at every scene that asked for it and is in a window; others wait until they are.

    Returns when to come again.
    """
    global _last_seconds
    if handlers.is_rendering():
        handlers.redraw()
        return RENDERING
    start = time.perf_counter()
    wanted = set(_following)
    asked = len(wanted)
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            if window.scene.session_uid in wanted:
                wanted.discard(window.scene.session_uid)
                with bpy.context.temp_override(window=window):
                    _follow(bpy.context)
    if len(wanted) < asked:
        handlers.redraw()
    for uid in wanted.difference(scene.session_uid for scene in bpy.data.scenes):  # deleted
        _leave(uid)
    _last_seconds = time.perf_counter() - start
    return POLL if _following else None


def _follow(context: bpy.types.Context) -> None:
    """Take over what is done, end what is overtaken, begin what is asked for."""
    scene = context.scene
    depsgraph = context.evaluated_depsgraph_get()  # which may call the handlers below
    entry = _following.get(scene.session_uid)
    if entry is None:
        return
    run = entry.run
    if run is not None:
        if run.job.done:
            _take(scene, entry, run)
        elif clock() - run.since > LONG:
            if not entry.watched and not _in_background():
                entry.watched = True
                bpy.ops.contact_lens.watch_inspection("INVOKE_DEFAULT")  # type: ignore[attr-defined]
            if entry.asked and not _is_still_about(scene, depsgraph, run.work):
                _end(run)
                session.note_seconds(scene, clock() - run.since)
                entry.run, entry.waits = None, True
            entry.asked = entry.run is None
        if entry.run is not None:
            return
    # One of which nothing is known is tried at once.
    waits = entry.waits or LONG < session.typical_seconds(scene) < math.inf
    if entry.asked and waits and clock() - entry.last < SETTLED:
        return
    if entry.asked:
        _drop_deleted(scene)
        try:
            _begin(scene, depsgraph, entry)
        except ReadError as error:
            failed(context, error)
            entry.asked = False
    if not entry.asked and entry.run is None:
        _following.pop(scene.session_uid, None)


def _begin(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, entry: _Following) -> None:
    """Inspect the scene's pair as the depsgraph has evaluated it; what takes long goes on. Raises ReadError."""
    _hidden.discard(scene.session_uid)
    a, b = session.pair(scene)
    if a is None or b is None:
        session.set_error(scene, "")
        entry.asked = False
        return
    work = begun(scene, depsgraph, a, b, session.settings_of(scene).as_settings())
    entry.asked, entry.reason = False, ""
    if isinstance(work, Inspection):
        session.store(scene, work)  # nothing has changed after all
        return
    run = entry.run = _Run(Job(work), work, _contact_of(scene), clock())
    if run.job.wait(UNNOTICED):
        _take(scene, entry, run)


def _take(scene: bpy.types.Scene, entry: _Following, run: _Run) -> None:
    """Make what a run has found the scene's result."""
    entry.run = None
    if _contact_of(scene) is not run.before:  # someone was faster
        return
    try:
        session.store(scene, run.job.result())
        session.set_error(scene, "")
    except Cancelled:
        pass  # whoever cancelled it has said why
    except ReadError as error:
        session.drop_result(scene)
        session.set_error(scene, str(error))
    if entry.asked:
        session.mark_stale(scene, entry.reason)


def _contact_of(scene: bpy.types.Scene) -> Contact | Found | None:
    last = session.stored(scene)
    return None if last is None else last.contact


def _is_still_about(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, work: Work) -> bool:
    """Whether the work is about the scene's pair as it is now: Blender tags objects that have not changed, too."""
    a, b = session.pair(scene)
    if a is None or b is None:
        return False
    try:
        return is_of(work, depsgraph, a, b, session.settings_of(scene).as_settings())
    except ReadError:
        return False


def _leave(uid: int) -> None:
    """Forget what was asked for a scene, and cancel what goes on for it."""
    entry = _following.pop(uid, None)
    if entry is not None and entry.run is not None:
        _end(entry.run)


def _end(run: _Run) -> None:
    """Cancel what goes on."""
    run.job.cancel()
    _ended[:] = [job for job in (*_ended, run.job) if not job.done]


def _drop_deleted(scene: bpy.types.Scene) -> None:
    """Empty a picker whose object was deleted: the picker alone keeps the object in the file."""
    settings = session.settings_of(scene)
    a, b = session.pair(scene)
    if settings.object_a is not None and a is None:
        settings.object_a = None
    if settings.object_b is not None and b is None:
        settings.object_b = None


def _inspected_at_once(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Inspect the scene's pair before the frame is drawn, where that is quick. Returns whether the result holds now.

    It reads what the depsgraph has just evaluated and changes no data of Blender, so no handler is called again.
    """
    if (
        _in_background()
        or handlers.is_rendering()
        or not handlers.is_main_thread()
        or session.typical_seconds(scene) >= QUICK
    ):
        return False
    entry = _note(scene)
    if entry.run is not None:  # not as quick as usual
        return False
    try:
        _begin(scene, depsgraph, entry)
    except ReadError:
        return False  # the timer tells
    if entry.run is not None:
        return False
    del _following[scene.session_uid]
    handlers.redraw()
    return True


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not session.picked(scene) or depsgraph.mode != "VIEWPORT":
        return
    if _follow_change(scene, depsgraph):
        return
    if depsgraph.id_type_updated("SCENE") and (None in session.pair(scene) or scene.session_uid in _hidden):
        request(scene)  # deleted, or shown again


@persistent
def _frame_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if session.picked(scene) and depsgraph.mode == "VIEWPORT":
        _follow_change(scene, depsgraph)


def _follow_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Inspect the scene's pair, at once or soon, if it was moved or edited. Returns whether it was."""
    moved, edited = _changed(scene, depsgraph)
    if edited:
        if _in_background() and _as_before(scene, depsgraph):
            return True  # tagged, but the same: without a window no timer looks at it
        # Before anything else: whatever happens from here on, the old answer is not shown as the present one.
        session.mark_stale(scene, f"'{edited}' has changed")
    if not moved and not edited:
        return False
    if not _inspected_at_once(scene, depsgraph):
        # That a matrix differs is seen without a note.
        request(scene, reason=f"'{edited}' has changed" if edited else "")
    return True


def _changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> tuple[str, str]:
    """The name of an object of the scene's pair that moved, and of one whose geometry changed; empty when none did."""
    picked = {obj.session_uid: obj.name for obj in session.picked(scene)}
    parts = {part.session_uid: obj.name for obj in session.picked(scene) for part in _possible_parts(obj)}
    moved = edited = ""
    for update in depsgraph.updates:
        if not isinstance(update.id, bpy.types.Object):
            continue
        uid = update.id.original.session_uid
        if uid in parts and (changes.is_edited(update) or update.is_updated_transform):
            edited = parts[uid]
        elif uid in picked and changes.is_edited(update):
            edited = picked[uid]
        elif uid in picked and update.is_updated_transform:
            moved = picked[uid]
    return moved, edited


def _possible_parts(obj: bpy.types.Object) -> Sequence[bpy.types.Object]:
    """The objects that may be parts of a compound parent, those that have just ceased to be one too."""
    body = obj.rigid_body
    return obj.children_recursive if body is not None and body.collision_shape == collision_shape.COMPOUND else ()


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
    _hidden.clear()
    for uid in list(_following):
        _leave(uid)


def _stop() -> None:
    _loaded()
    for job in _ended:
        job.wait(END)
    _ended.clear()


_FOLLOWER = handlers.Follower(
    {
        "depsgraph_update_post": _depsgraph_changed,
        "frame_change_post": _frame_changed,
        "undo_post": _undone,
        "redo_post": _undone,
        "load_post": _loaded,
    },
    timers=(_run,),
    hooks=(
        (properties.on_pair, request),
        (properties.on_display, handlers.redraw),
        (scene_results.on_display, handlers.redraw),
    ),
    stop=_stop,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
