# SPDX-License-Identifier: GPL-3.0-or-later
"""Clashes follow the scene: handlers note what changes, a timer compares it, and what has moved is checked again.

What has moved is checked against all that is near, once a drag ends; a pair that is inspected is renewed by itself.
Both by the rules of the scene's check, which are not those of a single inspection, and beside Blender.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

import bpy
from bpy.app.handlers import persistent

from ..clashes import changes, check_settings, clash_list, clash_renewal
from ..clashes.finding import ContactLensFinding
from ..clashes.neighbours import read_neighbours
from ..clashes.stored_frames import stored_frames
from ..data.objects import frame_of
from ..data.records import Key, Pair
from ..data.units import UnitFormat
from ..pair import session
from ..pair.inspection import Inspection
from ..read import faults as scene_faults
from ..read import scene_reader
from ..read.scene_objects import CheckInput, SceneObject, Scope
from ..read.scene_reader import snapshot_keys, states_of
from ..report import scene as scene_report
from ..scene import depths
from ..scene import scene_check as scene_pairs
from . import background, handlers
from .background import Flow, Steps

COMPARE_AFTER_S = 0.1
"""Seconds after the last change until objects are read to be compared."""
SLICE_S = 0.02
"""Seconds of reading at a time; one object is read in any case."""
PAUSE_FACTOR = 4.0
"""Times as long Blender then has for itself."""
COMPARE_INTERVAL_S = 0.05
RENEW_AFTER_S = 0.2
"""Seconds after the last inspection of a pair until its clash is renewed."""
MOST_NEAR = 300
"""Objects near what has moved that are read without being asked for at most: more would hold up Blender."""
REFINED = 50
"""Of so many clashes, the deepest, depths that are upper bounds are refined without being asked for."""

_moved: dict[int, float] = {}
"""By the scene's session_uid: when something of its list was reported last, of what has not been looked at since."""
_left: dict[int, set[object]] = {}
"""By the scene's session_uid: what was out of date then, which is not looked at twice."""
_wanted: dict[int, tuple[Pair, float]] = {}
"""By the scene's session_uid: the pair that was inspected last, and when."""
_unrefined: dict[int, list[Pair]] = {}
"""By the scene's session_uid: the deepest clashes whose depths are to be refined."""
_refined_of: dict[int, int] = {}
"""By the scene's session_uid, until they are refined: how many these were at first."""
_renewal: tuple[int, Flow] | None = None
"""What renews a clash, and the scene's session_uid."""


# --- comparing ------------------------------------------------------------------------------------------------------


def _compare() -> float | None:
    """The timer: compare some more in every scene that is in a window."""
    begin = time.monotonic()
    is_left = False
    quiet = float("inf") if handlers.is_rendering() or handlers.is_quiet() else COMPARE_AFTER_S
    for context in handlers.window_contexts():
        is_left |= changes.compare_some(context, SLICE_S, quiet)
        _look_again([context.scene])
    handlers.redraw()
    return max(COMPARE_INTERVAL_S, PAUSE_FACTOR * (time.monotonic() - begin)) if is_left else None


def _wake_comparing() -> None:
    handlers.wake(_compare, COMPARE_INTERVAL_S)


@persistent
def _depsgraph_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    # Objects may be in several scenes, of which Blender reports only the one that it has evaluated.
    concerned = [each for each in bpy.data.scenes if changes.note(each, depsgraph)]
    if concerned:
        handlers.redraw()
        _look_again(concerned)


def _look_again(scenes: Iterable[bpy.types.Scene]) -> None:
    """Look for what has moved, in a moment, where there is a window."""
    if background.has_windows():
        _moved.update({each.session_uid: time.monotonic() for each in scenes})
        handlers.wake(_renew, COMPARE_INTERVAL_S)


@persistent
def _frame_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if changes.note(scene, depsgraph, of_frame=True):
        handlers.redraw()


# --- renewing -------------------------------------------------------------------------------------------------------


def read_clash(context: bpy.types.Context, clash: ContactLensFinding) -> CheckInput | None:
    """Read the pair of a clash as it is now, to be checked by itself; None when it is gone."""
    check = check_settings.of_scene(context.scene)
    a, b = clash.key("a"), clash.key("b")
    keys = [key for key in (a, b) if key is not None]
    objects = snapshot_keys(context.evaluated_depsgraph_get(), keys, faults=scene_faults.affected(context))
    if a not in objects or b not in objects or any(_may_be_another(clash, side, objects) for side in "ab"):
        return None
    return CheckInput(
        [objects[a], objects[b]],
        [Scope([0, 1], None)],
        replace(
            check.as_rules(context),
            ignore_parents=False,
            ignore_collections=False,
            ignore_approved=False,
            least_contact="point",
            depth=depths.EXACT,
        ),
        approved=check_settings.approvals(check),
        units=UnitFormat.of_scene(context.scene),
    )


def _may_be_another(clash: ContactLensFinding, letter: str, objects: Mapping[Key | None, SceneObject]) -> bool:
    """Return whether an instance is elsewhere though its instancer is not: numbers may have shifted, which only a check
    of all its instances knows."""
    now, state = objects[clash.key(letter)], clash.state(letter)
    is_elsewhere = clash.side(letter).get("place") not in (None, now.place_digest)
    return bool(now.key[2]) and is_elsewhere and state is not None and state.place == now.state.place


def renew(scene: bpy.types.Scene, pair: Pair) -> None:
    """Renew the clash of a pair that was inspected, where it is out of date or only a bound. A script waits for it."""
    if not check_settings.of_scene(scene).findings or stored_frames(scene) is not None:
        return
    if background.has_windows():
        _wanted[scene.session_uid] = pair, time.monotonic()
        handlers.wake(_renew, RENEW_AFTER_S)
    elif bpy.context.scene == scene:
        Flow("Clash", renewal(bpy.context, pair)).run(None)


def renewal(context: bpy.types.Context, pair: Pair, is_forced: bool = False) -> Steps:
    """Check the pair as it is now, and write the result into its clash unless it has changed meanwhile.

    is_forced: though the clash may be up to date.
    """
    scene = context.scene
    k = changes.row_of_pair(scene, pair)
    if (
        k is None
        or stored_frames(scene) is not None
        or not (is_forced or changes.can_be_renewed(context, k) or can_be_refined(context, k))
    ):
        return {"CANCELLED"}
    given = read_clash(context, check_settings.of_scene(scene).findings[k])
    if given is None:
        return {"CANCELLED"}
    frame = frame_of(scene)
    outcome = yield lambda progress: scene_pairs.check(given, progress)
    if changes.row_of_pair(scene, pair) is None or frame_of(scene) != frame:
        return {"CANCELLED"}
    if states_of(context.evaluated_depsgraph_get(), pair) != {obj.key: obj.state for obj in given.objects}:
        return {"CANCELLED"}  # it is still out of date, and is renewed when the pair is inspected again
    scene_report.update_clashes(scene, given, outcome, frame)
    _set_verified(scene)
    return {"FINISHED"}


def _set_verified(scene: bpy.types.Scene) -> None:
    """Note in the clash of the pair that is inspected whether the inspection passed its checks."""
    inspection = session.stored(scene)
    if inspection is not None and (k := changes.row_of_pair(scene, frozenset(inspection.keys))) is not None:
        clash_renewal.set_verified(check_settings.of_scene(scene).findings[k], inspection)


def neighbours(context: bpy.types.Context, moved: Set[int] = frozenset(), most: int | None = MOST_NEAR) -> Steps:
    """Check what has moved against all that is near, and write the result into the list: new clashes, too.

    moved: objects, by their `session_uid`, beside those that the list knows to have moved. most: objects that are near,
    or it is left undone.
    """
    scene = context.scene
    if not check_settings.of_scene(scene).summary or stored_frames(scene) is not None:
        return {"CANCELLED"}  # one frame does not renew what is of many
    moved = moved | {key[0] for key, _ in changes.changed(scene)} | unlisted(scene).keys()
    given = read_neighbours(context, moved, most) if moved else None
    if given is None:
        return {"CANCELLED"}
    frame = frame_of(scene)
    outcome = yield lambda progress: scene_pairs.check(given, progress)
    if frame_of(scene) != frame:
        return {"CANCELLED"}
    changed = scene_reader.changed(context.evaluated_depsgraph_get(), given.objects)
    if changed:  # they are to be looked at again
        _left.pop(scene.session_uid, None)
    outcome = scene_pairs.without(outcome, given.objects, changed)
    scene_report.update_clashes(scene, given, outcome, frame, changed)
    _set_verified(scene)
    refine_deepest(context)
    return {"FINISHED"}


def unlisted(scene: bpy.types.Scene) -> Mapping[int, changes.Place]:
    """Return where objects are now, by their `session_uid`, that are in no clash and have moved since the check.

    None at other frames than those of the check, nor of one of what was selected then, of which only the clashes are
    known.
    """
    check, moved = check_settings.of_scene(scene), changes.unlisted(scene)
    if not moved or not check.summary or check.scope == "SELECTED":
        return {}
    is_of_now = stored_frames(scene) is not None or json.loads(check.summary)["frame"] == frame_of(scene)
    return moved if is_of_now else {}


def can_be_refined(context: bpy.types.Context, k: int) -> bool:
    """Return whether a finding, which must be up to date, has a depth that was not searched yet, or not refined."""
    finding = check_settings.of_scene(context.scene).findings[k]
    if finding.is_refined or not finding.is_open or not (finding.is_at_most or finding.is_unsearched):
        return False
    return not changes.reason(context.scene, k)[1] and finding.frame_of_state(0.0) == frame_of(context.scene)


def refine_deepest(context: bpy.types.Context) -> None:
    """Refine the depths of the deepest clashes that are only bounds, where there is a window, one after the other."""
    scene = context.scene
    if not background.has_windows() or stored_frames(scene) is not None:
        return
    findings = list(check_settings.of_scene(scene).findings)[:REFINED]
    pairs = [finding.pair for finding in findings if finding.is_at_most and not finding.is_refined]
    if unrefined := [pair for pair in pairs if pair is not None]:
        _unrefined[scene.session_uid], _refined_of[scene.session_uid] = unrefined, len(unrefined)
        clash_list.hold(scene)
        handlers.wake(_renew, RENEW_AFTER_S)


def refining(scene: bpy.types.Scene) -> tuple[int, int] | None:
    """Return which of the deepest clashes is being refined, from 1, and of how many; None when none is."""
    count = _refined_of.get(scene.session_uid)
    return None if count is None else (max(1, count - len(_unrefined[scene.session_uid])), count)


def _renew() -> float | None:
    """The timer: take what is done, begin what is asked for."""
    global _renewal
    is_seen = False
    for context in handlers.window_contexts():
        uid = context.scene.session_uid
        if _renewal is None and _has_settled(context):
            del _moved[uid]
            if (left := _outdated(context.scene)) - _left.get(uid, set()):
                _renewal = uid, Flow("Clashes", neighbours(context))
            _left[uid] = left
        if _renewal is None and uid in _wanted and time.monotonic() - _wanted[uid][1] >= RENEW_AFTER_S:
            _renewal = uid, Flow("Clash", renewal(context, _wanted.pop(uid)[0]))
        if _renewal is None and uid not in _wanted and _unrefined.get(uid):
            _renewal = uid, Flow("Clash", renewal(context, _unrefined[uid].pop(0)))
        if _renewal is not None and _renewal[0] == uid:
            is_seen = True
            if _renewal[1].run(0.0):
                _renewal = None
                handlers.redraw()
        if _renewal is None and not _unrefined.get(uid) and _refined_of.pop(uid, None):
            clash_list.release(context.scene)
    if _renewal is not None and not is_seen:  # its scene is in no window any more
        _drop_renewal()
    is_left = any(context.scene.session_uid in _refined_of for context in handlers.window_contexts())
    is_left |= any(context.scene.session_uid in _moved for context in handlers.window_contexts())
    return COMPARE_INTERVAL_S if _renewal is not None or _wanted or is_left else None


def _outdated(scene: bpy.types.Scene) -> set[object]:
    """Return what has moved or was edited, with the states of which its clashes are, or where it is if it has none."""
    return {*changes.changed(scene), *unlisted(scene).items()}


def _has_settled(context: bpy.types.Context) -> bool:
    """Return whether something of the list was reported, and nothing since for a moment, nor is being dragged."""
    reported = _moved.get(context.scene.session_uid)
    return (
        reported is not None
        and time.monotonic() - reported >= COMPARE_INTERVAL_S
        and not background.is_other_modal(context)
        and not handlers.is_rendering()
        and not handlers.is_playing()
    )


def _drop_renewal() -> None:
    global _renewal
    ended, _renewal = _renewal, None
    if ended is not None:
        ended[1].drop()


def _inspected(scene: bpy.types.Scene, inspection: Inspection) -> None:
    renew(scene, frozenset(inspection.keys))


@persistent
def _undone(*_: object) -> None:
    changes.clear()
    clash_list.drop()
    _left.clear()
    _look_again(bpy.data.scenes)  # what was checked again after a step is as it was before that


@persistent
def _loaded(*_: object) -> None:
    _undone()
    _wanted.clear()
    _moved.clear()
    _unrefined.clear()
    _refined_of.clear()
    for scene in bpy.data.scenes:
        clash_list.release(scene)
    _drop_renewal()


@persistent
def _saving(*_: object) -> None:
    changes.store_edited()


_FOLLOWER = handlers.Follower(
    {
        "depsgraph_update_post": _depsgraph_changed,
        "frame_change_post": _frame_changed,
        "undo_post": _undone,
        "redo_post": _undone,
        "load_pre": _loaded,
        "load_post": _undone,
        "save_pre": _saving,
    },
    timers=(_compare, _renew),
    hooks=((changes.on_uncompared, _wake_comparing), (session.on_store, _inspected)),
    stop=_loaded,
)
register, unregister = _FOLLOWER.register, _FOLLOWER.unregister
