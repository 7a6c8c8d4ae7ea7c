# SPDX-License-Identifier: GPL-3.0-or-later
"""The decisions of a scene's list as a file of decisions has them, and those of a file in the list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import bpy

from ..data.objects import library_name
from ..data.records import Approval, Key
from ..data.units import UnitFormat
from ..read.scene_objects import identity_of
from ..scene.decisions import APPROVED, IGNORED, REVIEWED, Decision, Decisions, Spot, Unused, matching
from . import check_settings, clash_renewal
from .finding import ContactLensFinding
from .ignored import is_in, listed, listed_now

ByClash = Mapping[str | frozenset[str] | None, list[Decision]]
_BESIDE = ("file", "note", "author")
"""What an entry says beside the decision."""


class Saved(NamedTuple):
    """What a file of decisions becomes."""

    entries: list[dict[str, Any]]
    """The decisions, as plain data."""
    removed: int
    """How many of the earlier ones were about clashes that are undecided in the list."""


class Applied(NamedTuple):
    """What the list took of decisions."""

    number: int
    """How many."""
    unused: list[Unused]
    """Those that it did not take."""


def saved(scene: bpy.types.Scene, file: str | None, earlier: Decisions | None) -> Saved:
    """Return the decisions of the list for a file; file: name of the .blend file, None of one that is not saved.

    earlier: those of the file that is replaced. Of these all that are about no clash of the list stay, and of the
    others what is said beside the decision.
    """
    units, findings, left_out = UnitFormat.of_scene(scene), _present(scene), listed_now(scene)
    by_clash = {} if earlier is None else earlier.by_clash(file)
    about = _about(scene, findings, by_clash)
    found: list[dict[str, Any]] = []
    replaced: set[Decision] = set()
    for k, finding in enumerate(findings):
        is_ignored = bool(left_out) and is_in(left_out, finding.pair)
        if (decided := {"status": IGNORED} if is_ignored else _decided(finding, units)) is not None:
            names = {letter: finding.label(letter) for letter in "ab"}
            before = about.get(k, [])
            replaced.update(before[-1:])
            spots = zip("ab", _spots(finding), strict=True)
            places = {f"{letter}_place": " ".join(digests) for letter, (_, *digests) in spots if digests}
            found.append({"id": finding.clash_id, **names, **places, **decided, **_beside(before, file)})
    for pair in _ignored_pairs(scene, findings):
        before = by_clash.get(pair.id) or by_clash.get(pair.names) or []
        replaced.update(before[-1:])
        found.append({"id": pair.id, "a": pair.a, "b": pair.b, "status": IGNORED, **_beside(before, file)})
    removed = {decisions[-1] for decisions in about.values()} - replaced
    dropped = replaced | removed
    kept = [of.entry for of in (earlier.all if earlier else ()) if of not in dropped]
    return Saved([*found, *kept], len(removed))


def apply(scene: bpy.types.Scene, decisions: Decisions, file: str | None) -> Applied:
    """Decide about the clashes of the list as decisions say; file: name of the .blend file."""
    units, findings = UnitFormat.of_scene(scene), _present(scene)
    by_clash, ignored = decisions.by_clash(file), listed(scene)
    used: set[Decision] = set()
    refused: dict[Decision, str] = {}
    for pair in _ignored_pairs(scene, findings):  # those that the check has left out
        same = by_clash.get(pair.id) or by_clash.get(pair.names) or []
        used.update(decision for decision in same if decision.status == IGNORED)
    for k, about in _about(scene, findings, by_clash).items():
        finding, decision = findings[k], about[-1]
        if decision.status == IGNORED and not is_in(ignored, finding.pair):
            if finding.instance_a or finding.instance_b:
                refused |= dict.fromkeys(about, "a pair of instances cannot be ignored in the list")
                continue
            entry = check_settings.of_scene(scene).ignored.add()
            entry.object_a, entry.object_b = finding.object_a, finding.object_b
        elif decision.status == REVIEWED:
            finding.status = "REVIEWED"
        elif decision.status == APPROVED:
            _approve(finding, decision.approval(units))
        used.update(about)
    refused |= {each: "it belongs to another file" for each in decisions.all if each.file not in (None, file)}
    unused = [
        Unused(decision.line, decision.words, refused.get(decision, "no such clash is in the list"))
        for decision in decisions.all
        if decision not in used
    ]
    return Applied(len(used), unused)


def ignored_objects(scene: bpy.types.Scene) -> list[str]:
    """Return the names of the objects of which all pairs are ignored, which no decision about a clash says."""
    pairs = ((entry.object_a, entry.object_b) for entry in check_settings.of_scene(scene).ignored)
    return [(a or b).name for a, b in pairs if (a is None) != (b is None)]


def _present(scene: bpy.types.Scene) -> list[ContactLensFinding]:
    """Return the clashes of the list that are not resolved, and whose objects are there."""
    findings = check_settings.of_scene(scene).findings
    return [finding for finding in findings if finding.status != "RESOLVED" and finding.pair is not None]


def _about(
    scene: bpy.types.Scene, findings: Sequence[ContactLensFinding], by_clash: ByClash
) -> dict[int, list[Decision]]:
    """Return the decisions about clashes of the list, by their numbers."""
    things: dict[Key | None, str] = {(obj.session_uid, 0, ""): obj.name for obj in scene.objects}
    names = [[finding.label(letter) for letter in "ab"] for finding in findings if by_clash]
    for finding, pair in zip(findings, names, strict=False):
        things |= {finding.key(letter): name for letter, name in zip("ab", pair, strict=True)}
    counts = Counter(things.values())
    found = {}
    for k, pair in enumerate(names):
        about, named = matching(by_clash, findings[k].clash_id, _spots(findings[k]))
        if not about and max(counts[name] for name in pair) == 1:
            about = named
        if about:
            found[k] = about
    return found


def _spots(finding: ContactLensFinding) -> list[Spot]:
    """Return both things of a clash as they were found."""
    spots: list[Spot] = []
    for letter in "ab":
        side, state = finding.side(letter), finding.state(letter)
        digests = (side.get("geometry"), side.get("place"), state and state.place) if side["instance"] else ()
        spots.append((finding.label(letter), *(() if None in digests else digests)))
    return spots


def _beside(before: Sequence[Decision], file: str | None) -> dict[str, Any]:
    """Return what an entry says beside the decision: what it said before; a new one is about this file alone."""
    if before:
        return {name: before[-1].entry[name] for name in _BESIDE if name in before[-1].entry}
    return {} if file is None else {"file": file}


def _decided(finding: ContactLensFinding, units: UnitFormat) -> dict[str, Any] | None:
    """Return what is decided about a clash of the list; None where nothing is."""
    approval = finding.approved
    if approval is not None and approval.is_known:
        unit, distance = units.fixed(), approval.signed_distance
        text = None if distance is None else f"{distance * unit.per_blender_unit!r} {unit.symbol}"
        return {"status": APPROVED, "approved_at": text}
    return {"status": REVIEWED} if finding.status == "REVIEWED" else None


def _approve(finding: ContactLensFinding, approval: Approval) -> None:
    """Take an approval: the clash is changed where it is worse."""
    row = finding.row()
    # Bounds alone make no clash worse: the next check refines them.
    has_bounds = finding.is_at_most or finding.is_unsearched
    is_within = has_bounds or approval.covers(row["signed_distance"], row["resolution"] or 0.0)
    finding.status = "APPROVED" if is_within else "CHANGED"
    finding.approve_at(approval.signed_distance)


class _IgnoredPair(NamedTuple):
    """A pair of objects that the user has listed as ignored."""

    id: str
    a: str
    b: str

    @property
    def names(self) -> frozenset[str]:
        return frozenset((self.a, self.b))


def _ignored_pairs(scene: bpy.types.Scene, findings: Sequence[ContactLensFinding]) -> Iterator[_IgnoredPair]:
    """Yield the listed pairs of two objects that are no clashes of the list: the check has left them out."""
    known = clash_renewal.known_ids(scene)
    present = {finding.pair for finding in findings}
    for entry in check_settings.of_scene(scene).ignored:
        a, b = entry.object_a, entry.object_b
        if a is None or b is None:
            continue
        pair = frozenset((obj.session_uid, 0, "") for obj in (a, b))
        if pair not in present:
            present.add(pair)
            first, other = (identity_of(obj.name, library_name(obj), None, None, None) for obj in (a, b))
            yield _IgnoredPair(known.of_pairs.get(pair) or known.of(first, other), a.name, b.name)
