# SPDX-License-Identifier: GPL-3.0-or-later
"""Results follow moves, edits, frames and undo by themselves.

How depends on how long the last inspections of the pair took.

1. A quick pair is inspected in Blender's handler, before the frame is drawn.
2. Of others the handler makes as much as is cheap (`Stage`), which is true of what is drawn: a first answer, whose
   depth between meshes is only an upper bound, or the relation and where surfaces cross, without a depth. The whole
   inspection begins when the changes end, as when the mouse is released.
3. Where not even that is cheap, the answer is pending until the changes end.

Objects are copied out of Blender, the rest is done in a thread. Blender waits for that only as long as nobody notices;
what takes longer runs beside it for as long as it takes, unless the pair changes again.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import bpy
from bpy.app.handlers import persistent

from ...core.progress import Cancelled
from ..clashes.finding import on_display
from ..data import messages, properties
from ..geometry.snapshot import HiddenError, ReadError
from ..pair import session
from ..pair.inspection import Inspection, Stage, Work, clear_caches, is_outdated, is_reshaped
from . import background, handlers
from .background import Flow, Steps
from .pair_changes import changed

QUICK_S = 0.03
"""A pair that typically takes less is inspected before the frame is drawn."""
CHEAP_S = 0.1
"""What typically takes less is made of other pairs before the frame is drawn. Blender waits so long for any inspection
that follows a change."""
GRACE_S = 0.3
"""Seconds for which nothing is said of an inspection that may end at once: nothing flashes."""
MODAL_AFTER_S = 1.0
"""Seconds after which Esc is heard by an inspection that runs beside Blender."""
SETTLE_S = 0.3
"""Seconds without a change after which the changes have ended."""
PLAYING_SETTLE_S = 1.0
"""The same while an animation is played, however slowly."""
DELAY_S = 0.03
"""Seconds from the first change to the timer; more changes in between cost nothing."""
POLL_INTERVAL_S = 0.05
RENDER_INTERVAL_S = 0.5
"""Seconds between two looks at whether a render has ended."""

TITLE = "Inspection"

clock = time.monotonic


@dataclass(frozen=True)
class PairStatus:
    """How what is shown of the scene's pair relates to the scene as it is."""

    text: str = ""
    """The same in a few words; empty without a result."""
    is_outdated: bool = False
    """Whether the result no longer holds, and none is on its way."""
    is_pending: bool = False
    """Whether the result no longer holds, and one that does is on its way. Constant while objects move."""
    is_provisional: bool = False
    """Whether the result holds, but is not the whole one."""
    is_following: bool = False
    """Whether a whole result is on its way, or begins when the changes end."""
    progress: float | None = None
    """The fraction done of the inspection that runs; None when none has run for GRACE_S."""


@dataclass
class _Following:
    """What is to be done for a scene's pair, from its first change until the result is that of the last one."""

    since: float
    """When the first change came."""
    last: float
    """When the last one came."""
    reason: str = ""
    """Why the result of what runs will not hold, where that cannot be seen."""
    is_changed: bool = True
    """Whether something changed since the pair was read."""
    begun: Stage | None = None
    """What was begun after that."""
    answered: Stage | None = None
    """What the result is of the pair after the last change; None while it is of before."""
    flow: Flow | None = None
    """The inspection that runs beside Blender."""
    work: Work | None = None
    start: float = 0.0
    """When it began."""


_following: dict[int, _Following] = {}
"""By the scene's session_uid."""
_hidden: set[int] = set()
"""Scenes (their session_uid) whose pair is to be inspected when it is shown again."""


def request(scene: bpy.types.Scene, reason: str = "") -> None:
    """Inspect the scene's pair soon: something about it changed. `reason`: what to say while the result is stale."""
    if reason:
        session.mark_stale(scene, reason)
    if background.has_windows():
        _note(scene, reason)
        _wake()
    handlers.redraw()


def _wake() -> None:
    handlers.wake(_run, DELAY_S)


def leave(scene: bpy.types.Scene) -> None:
    """Do not inspect the scene's pair, though it was asked for: an operator inspects it now."""
    _leave(scene.session_uid)


def cancel(scene: bpy.types.Scene) -> None:
    """Cancel the inspection that runs, an operator's too. The result stays; it is outdated unless it holds."""
    entry = _following.get(scene.session_uid)
    flow = background.shown_flow(scene, TITLE) if entry is None else entry.flow
    if flow is not None:
        flow.cancel()
    if entry is None or flow is None:
        _cancelled(scene, entry)


def _cancelled(scene: bpy.types.Scene, entry: _Following | None) -> None:
    """Leave the scene's result as it is: cancelled was what would have replaced it."""
    _following.pop(scene.session_uid, None)
    last = session.stored(scene)
    if entry is None or entry.answered is None or (last is not None and last.is_depth_pending):
        session.mark_stale(scene, messages.INSPECTION_CANCELLED)
    handlers.redraw()


_FOLLOWING = "Updating"
"""Objects move: the first answer is shown, or none."""


def status(context: bpy.types.Context) -> PairStatus:
    """Return how what is shown of the scene's pair relates to the scene as it is. Cheap: every drawing asks for it."""
    scene, inspection = context.scene, session.current(context)
    entry, progress = _following.get(scene.session_uid), progress_of(scene)
    if inspection is None:
        return PairStatus(progress=progress)
    reason = session.stale_reason(context)
    if reason and entry is not None and not _ends_at_once(scene, entry):
        return PairStatus(_FOLLOWING, is_pending=True, is_following=True, progress=progress)
    if reason and entry is None:
        return PairStatus(messages.capitalized(reason), is_outdated=True, progress=progress)
    if inspection.is_provisional:
        is_following = entry is not None
        text = _FOLLOWING if is_following else messages.FIRST_ANSWER
        return PairStatus(text, is_provisional=True, is_following=is_following, progress=progress)
    return PairStatus(messages.UP_TO_DATE, progress=progress)


def _ends_at_once(scene: bpy.types.Scene, entry: _Following) -> bool:
    """Return whether the answer to a change is only some frames away."""
    return clock() - entry.since < GRACE_S and _stage_at_once(scene) is not None


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the inspection that runs for a scene; None when none has run for GRACE_S."""
    entry = _following.get(scene.session_uid)
    if entry is not None and entry.flow is not None:
        return entry.flow.progress if clock() - entry.start >= GRACE_S else None
    flow = background.shown_flow(scene, TITLE)
    return None if flow is None else flow.progress


def failed(context: bpy.types.Context, error: ReadError) -> None:
    """Remember why the scene's pair cannot be inspected."""
    scene = context.scene
    if isinstance(error, HiddenError):
        _hidden.add(scene.session_uid)
        # People hide an object to look at the contact: what was found still stands until it moves.
        if session.current(context) is None:
            session.set_error(scene, str(error))
        else:
            session.mark_stale(scene, messages.about(error.name, "is hidden"))
    else:
        session.drop_result(scene)
        session.set_error(scene, str(error))
    handlers.redraw()


def _stage_at_once(scene: bpy.types.Scene) -> Stage | None:
    """Return what is made of the scene's pair before a frame is drawn, if anything. What is not known to take long is
    tried."""
    if session.typical_seconds(scene) < QUICK_S:
        return Stage.WHOLE
    seconds = {stage: session.typical_seconds(scene, stage) for stage in (Stage.FIRST, Stage.CROSSING)}
    return next((stage for stage, taken in seconds.items() if taken < CHEAP_S or taken == math.inf), None)


def _note(scene: bpy.types.Scene, reason: str = "") -> _Following:
    """Take note of a change."""
    now = clock()
    entry = _following.setdefault(scene.session_uid, _Following(now, now))
    entry.last, entry.is_changed, entry.answered, entry.reason = now, True, None, reason or entry.reason
    return entry


def _run() -> float | None:
    """The timer: look at every scene that asked for it and is in a window; others wait until they are."""
    if handlers.is_rendering():
        handlers.redraw()
        return RENDER_INTERVAL_S
    wanted, seen = set(_following), set()
    for context in handlers.window_contexts():
        if context.scene.session_uid in wanted:
            seen.add(context.scene.session_uid)
            _follow(context)
    if seen:
        handlers.redraw()
    for uid in wanted.difference(seen, (scene.session_uid for scene in bpy.data.scenes)):  # deleted
        _leave(uid)
    return POLL_INTERVAL_S if _following else None


def _follow(context: bpy.types.Context) -> None:
    """Take what is done, end what is outdated, begin what is asked for."""
    scene = context.scene
    depsgraph = context.evaluated_depsgraph_get()  # which may call the handlers below
    entry = _following.get(scene.session_uid)
    if entry is None:
        return
    if entry.flow is not None and not entry.flow.run(0.0):
        _drop_outdated(scene, depsgraph, entry)
        if entry.flow is not None:
            if background.has_windows() and clock() - entry.start > MODAL_AFTER_S:
                background.wait_for(entry.flow)
            return
    stage = _stage_at_once(scene)
    settle = PLAYING_SETTLE_S if handlers.is_playing() else SETTLE_S
    is_settled = clock() - entry.last >= settle or session.typical_seconds(scene) == math.inf
    try:
        if stage is Stage.WHOLE or is_settled:
            if entry.is_changed or entry.begun is not Stage.WHOLE:
                _drop_deleted(scene)
                _begin(scene, depsgraph, entry, Stage.WHOLE)
        elif entry.is_changed and stage is not None:
            _begin(scene, depsgraph, entry, stage)
    except ReadError as error:
        failed(context, error)
        entry.is_changed, entry.begun = False, Stage.WHOLE
    if entry.begun is Stage.WHOLE and not entry.is_changed and entry.flow is None:
        _following.pop(scene.session_uid, None)


def _drop_outdated(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, entry: _Following) -> None:
    """Drop the inspection that runs if the pair has changed since it was read: Blender tags unchanged objects, too."""
    if not entry.is_changed or entry.flow is None:
        return
    if _is_as_read(scene, depsgraph, entry.work):
        entry.is_changed = False
        return
    entry.flow.drop()
    if entry.begun is not None:
        session.note_seconds(scene, clock() - entry.start, entry.begun)
    entry.flow = entry.begun = None


def _begin(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, entry: _Following, stage: Stage) -> None:
    """Inspect the scene's pair as the depsgraph has evaluated it; what takes long runs on. Raise ReadError."""
    _hidden.discard(scene.session_uid)
    keys = properties.pair_keys(scene)
    entry.begun = stage
    if keys is None:
        session.set_error(scene, "")
        entry.is_changed, entry.begun = False, Stage.WHOLE
        return
    settings = properties.settings_of(scene).as_settings()
    work = session.prepare_inspection(scene, depsgraph, keys, settings, stage)
    entry.is_changed, entry.reason = False, ""
    if isinstance(work, Inspection):
        session.store(scene, work)  # nothing has changed after all
        entry.answered = entry.begun = work.stage
        return
    first = stage
    if stage is Stage.WHOLE and session.typical_seconds(scene) >= QUICK_S:
        first = work.stage_after(None if entry.answered is None else session.stored(scene))
        if first is not Stage.WHOLE and _stage_at_once(scene) is not Stage.FIRST:
            session.forget_seconds(scene)  # so that more is tried when the objects move again
    entry.work, entry.start = work, clock()
    entry.flow = Flow(TITLE, _steps(scene, entry, work, first, stage))
    entry.flow.run(CHEAP_S)


def _steps(scene: bpy.types.Scene, entry: _Following, work: Work, stage: Stage, last: Stage) -> Steps:
    """Make what the work finds at a stage, and those after it up to the last, the scene's result."""
    while True:
        before, problem = _contact_of(scene), ""
        inspection: Inspection | None = None
        try:
            inspection = yield work.part(stage)
        except ReadError as error:
            problem = str(error)
        except Cancelled:
            session.note_seconds(scene, clock() - entry.start, last)
            entry.flow = None
            _cancelled(scene, entry)
            raise
        if _contact_of(scene) is not before:  # an operator was faster
            entry.flow = None
            return {"CANCELLED"}
        if inspection is None:
            session.drop_result(scene)
        else:
            session.store(scene, inspection)
        session.set_error(scene, problem)
        if entry.is_changed:
            session.mark_stale(scene, entry.reason)
        entry.answered = None if entry.is_changed or inspection is None else stage
        if inspection is None or stage is last:
            break
        stage = work.stage_after(inspection)
    entry.flow = None
    return {"FINISHED"}


def _contact_of(scene: bpy.types.Scene) -> object:
    """Return the contact of the scene's result; new names and units do not change it."""
    last = session.stored(scene)
    return None if last is None else last.contact


def _is_as_read(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, read: Inspection | Work | None) -> bool:
    """Return whether the scene's pair is as it was read, with the settings of today."""
    if read is None or read.keys != properties.pair_keys(scene):
        return False
    if read.settings != properties.settings_of(scene).as_settings():
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


def _answered_at_once(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Make as much of an inspection of the scene's pair as is cheap before the frame is drawn. Return whether the
    result holds now.

    It reads what the depsgraph has just evaluated and changes no data of Blender, so no handler is called again.
    """
    stage = _stage_at_once(scene)
    if stage is None or handlers.is_rendering() or not (background.has_windows() and handlers.is_main_thread()):
        return False
    entry = _note(scene)
    _drop_outdated(scene, depsgraph, entry)
    if entry.flow is not None:
        return False
    try:
        _begin(scene, depsgraph, entry, stage)
    except ReadError:
        return False  # the timer reports it
    if entry.flow is not None:
        return False
    if entry.begun is Stage.WHOLE:
        del _following[scene.session_uid]
    else:
        _wake()
    handlers.redraw()
    return True


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode != "VIEWPORT":
        return
    for other in bpy.data.scenes:  # the objects may be in several
        if other != scene and session.stored(other) is not None:
            edited = changed(other, depsgraph)[1]
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
    if properties.picked(scene) and depsgraph.mode == "VIEWPORT" and not handlers.is_quiet():
        _follow_change(scene, depsgraph)


def _follow_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Inspect the scene's pair, at once or soon, if it was moved or edited. Return whether it was."""
    moved, edited = changed(scene, depsgraph)
    known = None if session.marked(scene) else session.stored(scene)
    if edited:
        if not background.has_windows() and _is_valid(scene, depsgraph):
            return True  # tagged, but the same: without a window no timer looks at it
        # Before anything else: whatever happens from here on, the old answer is not shown as the present one.
        session.mark_stale(scene, messages.about(edited, messages.EDITED))
    if not moved and not edited:
        return False
    if not _answered_at_once(scene, depsgraph):
        if edited and known is not None and not is_reshaped(depsgraph, known):
            # With any selection Blender tags every active rigid body: the result stands.
            session.mark_stale(scene, "")
            edited = ""
        # That a matrix differs is seen without a note.
        request(scene, reason=messages.about(edited, messages.EDITED) if edited else "")
    return True


@persistent
def _undone(*_: object) -> None:
    # Any mesh may be another now; the digest of the geometry tells whether it is.
    for scene in bpy.data.scenes:
        if session.stored(scene) is not None:
            request(scene, reason="a step was undone or redone")


@persistent
def _loaded(*_: object) -> None:
    session.clear()
    clear_caches()
    _hidden.clear()
    for uid in list(_following):
        _leave(uid)


background.CANCELLATIONS["inspection"] = (
    "Cancel the inspection and keep the last result",
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
        (on_display, handlers.redraw),
    ),
    stop=_loaded,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
