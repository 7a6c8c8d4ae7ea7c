# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of clashes after another check, of the scene or of one pair: what is new, what stays, what is resolved."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import bpy
import numpy as np

from ...core.types import FloatArray
from ..data.lazy_rows import joined_rows
from ..data.objects import frame_of
from ..data.records import Key, Pair, State
from ..frames.found_frames import Changes, FoundFrames
from ..pair.inspection import Inspection
from ..read.instances import renumbered
from ..read.scene_objects import CheckInput, SceneObject
from ..scene import clash_ids, depths
from ..scene.clash_ids import KnownIds
from ..scene.clashes import Clashes, Verdict
from ..scene.decisions import IGNORED, Decision
from ..scene.scene_check import Outcome
from . import changes, check_settings, stored_clashes, stored_frames
from .check_settings import ContactLensCheck, active_clash, of_scene, silent
from .finding import UNDECIDED, ContactLensFinding, revise
from .ignored import is_in
from .presence import Presence
from .stored_clashes import StoredClashes
from .stored_frames import StoredFrames


@dataclass(frozen=True, eq=False)
class OverList:
    """What the list is to be after a check of frames, beside the worst clash of each pair."""

    found: FoundFrames
    frames: FloatArray
    """(n,) of the objects of these clashes."""
    gaps: Changes
    apart: Mapping[Pair, Mapping[Key, State]]
    """Pairs of the list that are apart at the frame at which the list has them, with the states of their things."""

    def stored(self, objects: Sequence[SceneObject], clashes: Clashes, ids: Sequence[str]) -> StoredFrames:
        """Return what is stored of the frames; ids: of the clashes."""
        of_pairs = [""] * len(self.found.resolutions)
        for pair, clash_id in zip(self.found.numbers_of(objects, clashes).tolist(), ids, strict=True):
            of_pairs[pair] = clash_id
        frames = np.array(self.found.frames, dtype=np.float64)
        return StoredFrames(frames, of_pairs, self.found.resolutions, {**self.found.series(), "gaps": self.gaps})


SAME = 1e-6
"""Relative: numbers of one contact, found with many others or alone, differ by no more."""
_STORED = [name for name in ContactLensFinding.__annotations__ if name != "tooltip"]


def statuses(scene: bpy.types.Scene) -> dict[Pair | None, str]:
    """Return the status of each pair that is known."""
    return {finding.pair: str(finding.status) for finding in of_scene(scene).findings}


def statuses_with(
    scene: bpy.types.Scene, given: CheckInput, decided: Mapping[Pair, Decision]
) -> dict[Pair | None, str]:
    """Return the same where decisions beside the file stand above those of the list; who ignores has no status."""
    known = {given.now(pair): status for pair, status in statuses(scene).items()}
    return known | {pair: decision.status.upper() for pair, decision in decided.items() if decision.status != IGNORED}


def known_ids(scene: bpy.types.Scene, given: CheckInput | None = None) -> KnownIds:
    """Return the ids of the clashes in the scene's list, of pairs as they are numbered in what was read."""
    now = (lambda pair: pair) if given is None else given.now
    ids = [(now(finding.pair), finding.clash_id) for finding in of_scene(scene).findings]
    return KnownIds({pair: known for pair, known in ids if pair is not None}, frozenset(known for _, known in ids))


def next_status(before: str | None, verdict: Verdict | None) -> str:
    """The status of a pair that is found, by the one it had before and how it stands to its approval."""
    if before is None or before == "RESOLVED" or verdict == Verdict.UNKNOWN:
        return "NEW"
    if verdict is not None:
        return "APPROVED" if verdict == Verdict.WITHIN else "CHANGED"
    return "ACTIVE" if before in ("NEW", "CHANGED") else before


def statuses_of(objects: Sequence[SceneObject], clashes: Clashes, known: Mapping[Pair | None, str]) -> list[str]:
    """Return the statuses of clashes; known: those that pairs had before."""
    result = [next_status(None, None)] * len(clashes)
    before = {row: known[pair] for pair, row in clashes.rows_of(objects, filter(None, known)).items()}
    for row in {*before, *clashes.judged}:
        result[row] = next_status(before.get(row), clashes[row].verdict)
    return result


def store(
    scene: bpy.types.Scene,
    given: CheckInput,
    outcome: Outcome,
    record: dict[str, Any],
    approved: Sequence[dict[str, Any]],
    changed: Pair = frozenset(),
    over: OverList | None = None,
) -> None:
    """Store the outcome of a check in the scene's list, which keeps the decisions about pairs.

    record: the check as plain data; approved: the rows of the clashes that are left out as approved. A pair of the list
    is resolved when the check compared its objects and found no clash, or one of them is gone. Pairs that the check did
    not or could not compare, and those of objects that have `changed` since they were read, stay as they were. over:
    of a check of frames.
    """
    _renumber(scene, given)
    check, objects, frame = of_scene(scene), given.objects, record["frame"]
    known, active = statuses(scene), active_clash(scene)
    active_key = None if active is None else active.pair
    clashes = Clashes.joined([outcome.clashes, outcome.approved])
    ids = clash_ids.of_clashes(objects, clashes, known_ids(scene))
    rows = joined_rows(record["findings"], approved)
    frames = [] if over is None else over.frames[clashes.pairs[:, 0]].tolist()
    stored = StoredClashes.of(objects, clashes, outcome.facts, given.units, frame, rows, ids, frames)
    found = clashes.rows_of(objects, filter(None, known)).keys()
    kept = _kept(check, found, given, outcome, frame, changed, over)
    found_statuses = statuses_of(objects, clashes, known)
    if over is not None and not check.is_property_set("show_permanent"):
        check.show_permanent, check.show_touching = False, True  # what touches now and then is what is looked for
    elif not check.summary and not check.is_property_set("show_touching"):
        check.show_touching = False  # of the first check; the default is that of lists which were saved with it
    check.findings.clear()
    changes.forget(scene)
    check.only_changed = False
    revise()
    serial = stored_clashes.store(check.tables, stored)
    stored_frames.store(scene, None if over is None else over.stored(objects, clashes, ids))
    by_uid = {obj.session_uid: obj for obj in bpy.data.objects}
    things = {k: _pointers(objects[k].key, by_uid) for k in np.unique(clashes.pairs).tolist()}
    for row, (a, b) in enumerate(clashes.pairs.tolist()):
        finding = check.findings.add()
        finding.table, finding.number = serial, row
        for name, value in things[a]:
            setattr(finding, f"{name}_a", value)
        for name, value in things[b]:
            setattr(finding, f"{name}_b", value)
        if found_statuses[row] != "NEW":
            finding.status = found_statuses[row]
            if finding.status in ("APPROVED", "CHANGED"):
                pair = frozenset((objects[a].key, objects[b].key))
                finding.approve_at(given.approved[pair].signed_distance)
    place = clashes.rows_of(objects, [active_key]).get(active_key, -1) if active_key is not None else -1
    for entry in kept:
        finding = check.findings.add()
        for name, value in entry.items():
            setattr(finding, name, value)
        if active_key is not None and finding.pair == active_key:
            place = len(check.findings) - 1
    stored_clashes.drop_unused(check.tables, {serial, *(entry["table"] for entry in kept)})
    with silent():
        check.active = place
    check.summary = json.dumps({name: value for name, value in record.items() if name != "findings"})
    of_now = frame == frame_of(scene) and over is None
    changes.renew(scene, {obj.key: obj.state for obj in objects if of_now and obj.key not in changed}, is_new=True)
    changes.know(scene, changes.unlisted(scene).keys() - {key[0] for key in changed})


def _renumber(scene: bpy.types.Scene, given: CheckInput) -> None:
    """Give instances of the list the numbers that they have now; nothing is left of clashes whose instance is gone."""
    check = of_scene(scene)
    now = renumbered(check_settings.instances(check), given.instances)  # the list may be newer than what was read
    for finding, letter in product(check.findings, "ab"):
        key = finding.key(letter)
        if key is not None and key in now:
            if (other := now[key]) is None:
                finding.let_go()
            else:
                setattr(finding, f"instance_{letter}", other[2])
    if now:
        changes.forget(scene)


def _pointers(key: Key, by_uid: Mapping[int, bpy.types.Object]) -> list[tuple[str, Any]]:
    """Return what a finding stores of one of its things: the object, or the instancer, the source and the number."""
    owner, source, number = key
    values = {"object": by_uid.get(owner), "source": by_uid.get(source), "instance": number}
    return [(name, value) for name, value in values.items() if value]


def update(
    scene: bpy.types.Scene,
    given: CheckInput,
    outcome: Outcome,
    rows: Sequence[dict[str, Any]],
    frame: float,
    changed: Pair = frozenset(),
) -> None:
    """Store the outcome of a check of some pairs in the scene's list: in their clashes, or as new ones.

    rows: of the clashes that were found. A clash of which the pair was not or could not be compared stays as it was,
    and one of an object that has `changed` since it was read.
    """
    if outcome.partial:
        return
    _renumber(scene, given)
    check, objects, clashes = of_scene(scene), given.objects, outcome.clashes
    states = {obj.key: obj.state for obj in objects if obj.key not in changed}
    found = {frozenset((objects[a].key, objects[b].key)): k for k, (a, b) in enumerate(clashes.pairs.tolist())}
    presence, is_exact = Presence(scene, given, outcome), given.rules.depth == depths.EXACT
    for pair, place in changes.rows_of(scene, states.keys()).items():
        row = found.pop(pair, None)
        if row is None and presence.reasons_of_pair(pair):
            continue
        finding = check.findings[place]
        finding.set_looked_at(states, frame)
        finding.is_apart = row is None
        if row is not None:
            approval, verdict = finding.approved, clashes[row].verdict
            if verdict is not None or finding.status == "RESOLVED":
                finding.status = next_status(finding.status, verdict)
            finding.data, finding.is_refined = _as_data({**rows[row], "id": finding.clash_id}, given), is_exact
            if approval is not None and finding.status in ("APPROVED", "CHANGED"):
                finding.approve_at(approval.signed_distance)
        elif finding.is_open:
            finding.status = "RESOLVED"
    if found:
        new = sorted(found.values())
        ids = clash_ids.of_clashes(objects, clashes.take(np.array(new)), known_ids(scene))
        by_uid = {obj.session_uid: obj for obj in bpy.data.objects}
        for row, clash_id in zip(new, ids, strict=True):
            finding = check.findings.add()
            for letter, side in zip("ab", clashes.pairs[row].tolist(), strict=True):
                for name, value in _pointers(objects[side].key, by_uid):
                    setattr(finding, f"{name}_{letter}", value)
            finding.set_looked_at(states, frame)
            finding.data, finding.is_refined = _as_data({**rows[row], "id": clash_id}, given), is_exact
    revise()
    changes.renew(scene, states)


def set_verified(finding: ContactLensFinding, inspection: Inspection) -> None:
    """Note in a finding whether an inspection of its pair passed its checks, if both are of the same contact."""
    row, contact = finding.row(), inspection.contact
    states = [_text_of_state(obj.state) for obj in inspection.objects]
    numbers = (contact.signed_distance if contact.has_depth else 0.0, contact.area, *contact.center)
    is_same = (
        states == [_text_of_state(state) for letter in "ab" if (state := finding.state(letter)) is not None]
        and (row["relation"], row["signed_distance"] is not None) == (str(contact.relation), contact.has_depth)
        and np.allclose(
            (row["signed_distance"] or 0.0, row["area"], *row["center"]), numbers, SAME, inspection.resolution
        )
    )
    checked = inspection.verification
    if is_same and checked is not None and row["verified"] != checked.ok:
        data = {**finding.found(), "verified": checked.ok}
        finding.data = json.dumps(data, ensure_ascii=False)


def _text_of_state(state: State) -> str:
    return ":".join(state)


def _as_data(row: dict[str, Any], given: CheckInput) -> str:
    """Return what a finding stores of a row of a check that is newer than its table."""
    return json.dumps({**row, "scale_length": given.units.scale_length}, ensure_ascii=False)


def _kept(
    check: ContactLensCheck,
    found: Container[Pair | None],
    given: CheckInput,
    outcome: Outcome,
    frame: float,
    changed: Pair,
    over: OverList | None,
) -> list[dict[str, Any]]:
    """Return the entries of the list that the check did not find again, with the status they have now."""
    if not check.findings:
        return []
    scene = cast(bpy.types.Scene, check.id_data)
    presence, before = Presence(scene, given, outcome), stored_frames.stored_frames(scene)
    states: Mapping[Key, State] = {obj.key: obj.state for obj in given.objects}
    kept, cleared = [], presence.pairs(outcome.cleared)
    for finding in check.findings:
        key = finding.pair
        if key in found or (finding.status in UNDECIDED and is_in(given.listed, key)):
            continue
        if key is None or not all(presence.is_there(part[0]) for part in key):
            finding.let_go()
            if finding.status != "APPROVED":  # else nothing is left that could be approved
                kept.append({name: getattr(finding, name) for name in _STORED})
            continue
        entry, is_changed = {name: getattr(finding, name) for name in _STORED}, not changed.isdisjoint(key)
        of_pair, looked_at = states, frame
        if over is not None:
            of_pair, looked_at = over.apart.get(key, {}), finding.frame_of_state(frame)
            apart = key in over.apart and not is_changed and _are_all_checked(before, finding, over.found)
        elif before is None:
            apart = key in cleared or not (is_changed or presence.reasons_of_pair(key))
        elif finding.status in UNDECIDED:
            continue
        else:
            apart = False  # of other frames nothing is known
        if apart and finding.is_open:
            entry["status"] = "RESOLVED"
        if apart and key <= of_pair.keys():
            # It is of then that they are apart.
            entry |= {f"state_{side}": _text_of_state(of_pair[of]) for side in "ab" if (of := finding.key(side))}
            entry |= {"state_frame": json.dumps(looked_at), "is_apart": True}
        kept.append(entry)
    return kept


def _are_all_checked(before: StoredFrames | None, finding: ContactLensFinding, now: FoundFrames) -> bool:
    """Return whether all frames at which a clash was found have been checked again."""
    over = None if before is None else before.over(finding.clash_id)
    return over is None or set(over.frames[over.found].tolist()) <= set(now.frames)


def listed_at_frames(scene: bpy.types.Scene) -> dict[float, list[Pair]]:
    """Return the pairs of the list by the frames at which it has them."""
    found: dict[float, list[Pair]] = {}
    for finding in of_scene(scene).findings:
        if (pair := finding.pair) is not None:
            found.setdefault(finding.frame_of_state(frame_of(scene)), []).append(pair)
    return found


def apart_of(
    scene: bpy.types.Scene, given: CheckInput, outcome: Outcome, pairs: Sequence[Pair]
) -> dict[Pair, Mapping[Key, State]]:
    """Return which of some pairs a check has looked at and not found, with the states of their things."""
    states = {obj.key: obj.state for obj in given.objects}
    found = Clashes.joined([outcome.clashes, outcome.approved]).rows_of(given.objects, pairs)
    presence = Presence(scene, given, outcome)
    are_apart = [pair for pair in pairs if pair not in found and not presence.reasons_of_pair(pair)]
    return {pair: {key: states[key] for key in pair & states.keys()} for pair in are_apart}
