# SPDX-License-Identifier: GPL-3.0-or-later
"""Results follow moves, edits, frames and undo by themselves; on screen they are marked outdated until they do.

How depends on how long the last inspections of the pair took. A quick pair is inspected in Blender's handler, before
the frame is drawn. Others are inspected by a timer, once for all that happened meanwhile: the objects are copied out of
Blender, the rest is done in a thread. Blender waits for that only as long as nobody notices; what takes longer runs
beside it for as long as it takes. What takes very long begins when the changes end, as when the mouse is released.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from bpy.app.handlers import persistent

from ...core.progress import Cancelled
from ..check import changes, session
from ..check import results as scene_results
from ..check.inspection import Inspection, Work, clear_caches, is_outdated
from ..data import messages, properties
from ..data.collision_kinds import COMPOUND
from ..read.snapshot import HiddenError, ReadError
from . import background, handlers
from .background import Flow, Steps

QUICK_S = 0.03
"""A pair that typically takes less is inspected before the frame is drawn."""
SYNC_BUDGET_S = 0.1
"""Seconds that Blender waits for an inspection that follows a change."""
GRACE_S = 0.3
"""Seconds for which a result that is about to be replaced is not marked outdated: nothing flashes while things move."""
ASYNC_TIMEOUT_S = 1.0
"""A pair that typically takes longer is inspected when the changes end, and an inspection that has run for longer is
ended when the pair changes."""
SETTLE_S = 0.3
"""Seconds without a change after which the changes have ended."""
DELAY_S = 0.03
"""Seconds from the first change to the timer; more changes in between cost nothing."""
POLL_INTERVAL_S = 0.05
RENDER_INTERVAL_S = 0.5
"""Seconds between two looks at whether a render has ended."""
PAUSE_FACTOR = 2.0
"""While objects are dragged, Blender gets at least this many times the time that inspections take."""

clock = time.monotonic


@dataclass
class _Following:
    """What is to be done for a scene's pair, from its first change until the result is that of the last one."""

    since: float
    """When the first change came."""
    last: float
    """When the last one came."""
    reason: str = ""
    """Why the result of what runs will not hold, where that cannot be seen."""
    is_asked: bool = True
    """Whether something changed that no inspection has seen yet."""
    flow: Flow | None = None
    """The inspection that runs beside Blender."""
    work: Work | None = None
    begun: float = 0.0
    """When it began."""
    is_postponed: bool = False
    """Whether the next inspection begins only when the changes end: the last one was too long for them."""


_following: dict[int, _Following] = {}
"""By the scene's session_uid."""
_hidden: set[int] = set()
"""Scenes (their session_uid) whose pair is to be inspected when it is shown again."""
_last_seconds = 0.0


def request(scene: bpy.types.Scene, reason: str = "") -> None:
    """Inspect the scene's pair soon: something about it changed. `reason`: what to say while the result is stale."""
    if reason:
        session.mark_stale(scene, reason)
    if background.has_windows():
        _note(scene, reason)
        _wake()
    handlers.redraw()


def leave(scene: bpy.types.Scene) -> None:
    """Do not inspect the scene's pair, though it was asked for: an operator inspects it now."""
    _leave(scene.session_uid)


def cancel(scene: bpy.types.Scene) -> None:
    """Cancel the inspection that runs; the result stays, and is outdated."""
    entry = _following.pop(scene.session_uid, None)
    if entry is not None and entry.flow is not None:
        entry.flow.cancel()
    session.mark_stale(scene, messages.INSPECTION_CANCELLED)
    handlers.redraw()


def outdated(context: bpy.types.Context) -> str:
    """Return why the result is to be marked outdated on screen; empty while it holds or is about to be replaced."""
    entry = _following.get(context.scene.session_uid)
    if entry is not None and clock() - entry.since < GRACE_S:
        return ""
    return session.stale_reason(context)


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the inspection that runs for a scene; None when none has run for GRACE_S."""
    entry = _following.get(scene.session_uid)
    if entry is None or entry.flow is None or clock() - entry.since < GRACE_S:
        return None
    return entry.flow.progress


def failed(context: bpy.types.Context, error: ReadError) -> None:
    """Remember why the scene's pair cannot be inspected."""
    scene = context.scene
    if isinstance(error, HiddenError):
        _hidden.add(scene.session_uid)
        # People hide an object to look at the contact: what was found still stands until it moves.
        if session.current(context) is None:
            session.set_error(scene, str(error))
        else:
            session.mark_stale(scene, messages.about(error.name, messages.IS_HIDDEN))
    else:
        session.drop_result(scene)
        session.set_error(scene, str(error))
    handlers.redraw()


def _note(scene: bpy.types.Scene, reason: str = "") -> _Following:
    """Take note of a change."""
    now = clock()
    entry = _following.setdefault(scene.session_uid, _Following(now, now))
    entry.last, entry.is_asked, entry.reason = now, True, reason or entry.reason
    return entry


def _wake() -> None:
    handlers.wake(_run, max(DELAY_S, PAUSE_FACTOR * _last_seconds))


def _run() -> float | None:
    """The timer: look at every scene that asked for it and is in a window; others wait until they are."""
    global _last_seconds
    if handlers.is_rendering():
        handlers.redraw()
        return RENDER_INTERVAL_S
    start = time.perf_counter()
    wanted, seen = set(_following), set()
    for context in handlers.window_contexts():
        if context.scene.session_uid in wanted:
            seen.add(context.scene.session_uid)
            _follow(context)
    if seen:
        handlers.redraw()
    for uid in wanted.difference(seen, (scene.session_uid for scene in bpy.data.scenes)):  # deleted
        _leave(uid)
    _last_seconds = time.perf_counter() - start
    return POLL_INTERVAL_S if _following else None


def _follow(context: bpy.types.Context) -> None:
    """Take what is done, end what is outdated, begin what is asked for."""
    scene = context.scene
    depsgraph = context.evaluated_depsgraph_get()  # which may call the handlers below
    entry = _following.get(scene.session_uid)
    if entry is None:
        return
    flow = entry.flow
    if flow is not None and not flow.run(0.0):
        if clock() - entry.begun > ASYNC_TIMEOUT_S:
            if background.has_windows():
                background.wait_for(flow)
            settings = properties.settings_of(scene).as_settings()
            is_current = entry.work is not None and entry.work.settings == settings
            if entry.is_asked and not (is_current and _is_as_read(scene, depsgraph, entry.work)):
                flow.drop()
                session.note_seconds(scene, clock() - entry.begun)
                entry.flow, entry.is_postponed = None, True
            entry.is_asked = entry.flow is None
        if entry.flow is not None:
            return
    # One of which nothing is known is tried at once.
    is_postponed = entry.is_postponed or ASYNC_TIMEOUT_S < session.typical_seconds(scene) < math.inf
    if entry.is_asked and is_postponed and clock() - entry.last < SETTLE_S:
        return
    if entry.is_asked:
        _drop_deleted(scene)
        try:
            _begin(scene, depsgraph, entry)
        except ReadError as error:
            failed(context, error)
            entry.is_asked = False
    if not entry.is_asked and entry.flow is None:
        _following.pop(scene.session_uid, None)


def _begin(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, entry: _Following) -> None:
    """Inspect the scene's pair as the depsgraph has evaluated it; what takes long runs on. Raise ReadError."""
    _hidden.discard(scene.session_uid)
    keys = properties.pair_keys(scene)
    if keys is None:
        session.set_error(scene, "")
        entry.is_asked = False
        return
    work = session.prepare_inspection(scene, depsgraph, keys, properties.settings_of(scene).as_settings())
    entry.is_asked, entry.reason = False, ""
    if isinstance(work, Inspection):
        session.store(scene, work)  # nothing has changed after all
        return
    entry.flow, entry.work, entry.begun = Flow("Inspection", _steps(scene, entry, work)), work, clock()
    entry.flow.run(SYNC_BUDGET_S)


def _steps(scene: bpy.types.Scene, entry: _Following, work: Work) -> Steps:
    """Make what the work finds the scene's result."""
    before, problem = _contact_of(scene), ""
    inspection: Inspection | None = None
    try:
        inspection = yield work
    except ReadError as error:
        problem = str(error)
    except Cancelled:
        session.note_seconds(scene, clock() - entry.begun)
        entry.flow = None
        cancel(scene)
        raise
    entry.flow = None
    if _contact_of(scene) is not before:  # an operator was faster
        return {"CANCELLED"}
    if inspection is None:
        session.drop_result(scene)
    else:
        session.store(scene, inspection)
    session.set_error(scene, problem)
    if entry.is_asked:
        session.mark_stale(scene, entry.reason)
    return {"FINISHED"}


def _contact_of(scene: bpy.types.Scene) -> object:
    """Return the contact of the scene's result; new names and units do not change it."""
    last = session.stored(scene)
    return None if last is None else last.contact


def _is_as_read(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, read: Inspection | Work | None) -> bool:
    """Return whether the scene's pair is as it was read: Blender tags unchanged objects, too."""
    if read is None or read.keys != properties.pair_keys(scene):
        return False
    try:
        return not is_outdated(depsgraph, read)
    except ReadError:
        return False


def _is_valid(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Return whether the scene's result is not marked and its pair is as it was read."""
    return not session.marked(scene) and _is_as_read(scene, depsgraph, session.stored(scene))


def _leave(uid: int) -> None:
    """Forget what was asked for a scene, and cancel what runs for it."""
    entry = _following.pop(uid, None)
    if entry is not None and entry.flow is not None:
        entry.flow.drop()


def _drop_deleted(scene: bpy.types.Scene) -> None:
    """Empty a picker whose object was deleted: the picker alone keeps the object in the file."""
    settings = properties.settings_of(scene)
    for letter, obj in zip("ab", properties.pair(scene), strict=True):
        if obj is None and getattr(settings, f"object_{letter}") is not None:
            setattr(settings, f"object_{letter}", None)


def _inspected_at_once(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Inspect the scene's pair before the frame is drawn, where that is quick. Return whether the result holds now.

    It reads what the depsgraph has just evaluated and changes no data of Blender, so no handler is called again.
    """
    if not background.has_windows() or not handlers.is_main_thread():
        return False
    if handlers.is_rendering() or session.typical_seconds(scene) >= QUICK_S:
        return False
    entry = _note(scene)
    if entry.flow is not None:  # not as quick as usual
        return False
    try:
        _begin(scene, depsgraph, entry)
    except ReadError:
        return False  # the timer reports it
    if entry.flow is not None:
        return False
    del _following[scene.session_uid]
    handlers.redraw()
    return True


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode != "VIEWPORT":
        return
    for other in bpy.data.scenes:  # the objects may be in several
        if other != scene and session.stored(other) is not None:
            edited = _changed(other, depsgraph)[1]
            if edited and (background.has_windows() or not _is_valid(other, depsgraph)):
                request(other, reason=messages.about(edited, messages.EDITED))
    if not properties.picked(scene):
        return
    if _follow_change(scene, depsgraph):
        return
    if depsgraph.id_type_updated("SCENE") and (None in properties.pair(scene) or scene.session_uid in _hidden):
        request(scene)  # deleted, or shown again


@persistent
def _frame_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if properties.picked(scene) and depsgraph.mode == "VIEWPORT":
        _follow_change(scene, depsgraph)


def _follow_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Inspect the scene's pair, at once or soon, if it was moved or edited. Return whether it was."""
    moved, edited = _changed(scene, depsgraph)
    if edited:
        if not background.has_windows() and _is_valid(scene, depsgraph):
            return True  # tagged, but the same: without a window no timer looks at it
        # Before anything else: whatever happens from here on, the old answer is not shown as the present one.
        session.mark_stale(scene, messages.about(edited, messages.EDITED))
    if not moved and not edited:
        return False
    if not _inspected_at_once(scene, depsgraph):
        # That a matrix differs is seen without a note.
        request(scene, reason=messages.about(edited, messages.EDITED) if edited else "")
    return True


def _changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> tuple[str, str]:
    """Return the names of an object of the scene's pair that moved, and of one that was edited; empty without one."""
    picked = {obj.session_uid: obj.name for obj in properties.picked(scene)}
    parts = {part.session_uid: obj.name for obj in properties.picked(scene) for part in _possible_parts(obj)}
    parts |= _sources(scene)
    moved = edited = ""
    for update in depsgraph.updates:
        if not isinstance(update.id, (bpy.types.Object, bpy.types.Collection)):
            continue
        uid = update.id.original.session_uid
        if isinstance(update.id, bpy.types.Collection):
            edited = parts.get(uid, edited)
        elif uid in parts and (changes.is_edited(update) or update.is_updated_transform):
            edited = parts[uid]
        elif uid in picked and changes.is_edited(update):
            edited = picked[uid]
        elif uid in picked and update.is_updated_transform:
            moved = picked[uid]
    return moved, edited


def _possible_parts(obj: bpy.types.Object) -> Sequence[bpy.types.Object]:
    """Return the objects that may be parts of a compound parent, those that have just ceased to be one too."""
    body = obj.rigid_body
    return obj.children_recursive if body is not None and body.collision_shape == COMPOUND else ()


def _sources(scene: bpy.types.Scene) -> dict[int, str]:
    """Return the `session_uid` of all that picked instances depend on, with the name of their instancer."""
    settings = properties.settings_of(scene)
    sources: dict[int, str] = {}
    for letter in "ab":
        owner, source = (getattr(settings, f"{name}_{letter}") for name in ("object", "source"))
        if owner is not None and getattr(settings, f"instance_{letter}"):
            sources |= dict.fromkeys(changes.watched(owner, source) - {owner.session_uid}, owner.name)
    return sources


@persistent
def _undone(*_: object) -> None:
    # Any mesh may be another now; the digest of the geometry tells whether it is.
    for scene in bpy.data.scenes:
        if session.stored(scene) is not None:
            request(scene, reason=messages.UNDONE)


@persistent
def _loaded(*_: object) -> None:
    session.clear()
    clear_caches()
    _hidden.clear()
    for uid in list(_following):
        _leave(uid)


background.CANCELLATIONS["inspection"] = (
    "Cancel the inspection; the last result is kept and marked as outdated",
    cancel,
)
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
    stop=_loaded,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
