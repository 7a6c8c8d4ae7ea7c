# SPDX-License-Identifier: GPL-3.0-or-later
"""A clash of the list: what it is about, what was found of it, and what the user decided about it.

Objects are stored by pointer property, instances by the pointer to what makes them and their number: names may change.
What was found is stored as text, because float properties are float32: see `stored_clashes`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from ..data import messages
from ..data.collision_kinds import words_of_side
from ..data.distance import Distance
from ..data.objects import instance_name, library_name
from ..data.records import Approval, Key, Pair, State
from ..data.units import UnitFormat
from ..scene import clash_ids, depths
from ..scene.clash_rows import without_depth
from ..scene.fields import NUMBERS
from . import changes, ignored, stored_clashes
from .stored_clashes import StoredClashes

STATUSES = (
    ("NEW", "New", "Found for the first time, or again after it was resolved", "NONE", 0),
    ("CHANGED", "Changed", "Deeper or closer than when it was approved", "NONE", 5),
    ("ACTIVE", "Active", "Found before and still present", "NONE", 1),
    ("REVIEWED", "Reviewed", "Reviewed, but not yet fixed", "NONE", 2),
    ("APPROVED", "Approved", "Intended, as long as it gets no deeper or closer", "NONE", 3),
    ("RESOLVED", "Resolved", "Found before, but no longer present", "NONE", 4),
)
"""In the order of their urgency. Files keep the numbers."""
RELATIONS = (
    "coincident",
    "a_inside_b",
    "b_inside_a",
    "penetrating",
    "touching",
    "within_clearance",
)
"""In the order of their weight."""
OPEN_STATUSES = frozenset({"NEW", "CHANGED", "ACTIVE", "REVIEWED"})
"""Those in which something is left to be done."""
SIDE_FIELDS = ("library", "instancer_library", "geometry", "place", "location")
"""Fields of both sides of a row that files saved earlier do not have."""
UNDECIDED = frozenset({"NEW", "ACTIVE"})
"""Those that a check gives by itself, without a decision of the user."""

on_display: list[Callable[[], None]] = []
"""Called when the list is to be drawn again."""
_revisions = 0
_decisions = 0


def decisions() -> int:
    """Return a number that differs when a status does."""
    return _decisions


def revision() -> int:
    """Return a number that differs when clashes are stored, renewed or removed: what is derived of them is then old."""
    return _revisions


def revise() -> None:
    """Note that clashes are others now."""
    global _revisions
    _revisions += 1


def display_changed(self: Any, context: bpy.types.Context) -> None:
    for call in on_display:
        call()


def _decided(self: Any, context: bpy.types.Context) -> None:
    global _decisions
    _decisions += 1
    finding = cast("ContactLensFinding", self)
    if finding.status == "APPROVED" and (finding.data or finding.table):
        finding.approve_at(finding.found()["signed_distance"])
    changes.decide(cast(bpy.types.Scene, self.id_data), finding.pair, finding)
    display_changed(self, context)


def _tooltip(self: Any) -> str:
    finding = cast("ContactLensFinding", self)
    scene, pair, reason = cast(bpy.types.Scene, self.id_data), finding.pair, ""
    if pair is None:  # that of what is resolved is gone says no more
        gone = next(letter for letter in "ab" if finding.key(letter) is None)
        reason = "" if finding.status == "RESOLVED" else messages.about(finding.label(gone), messages.GONE)
    elif (k := changes.row_of_pair(scene, pair)) is not None:
        reason = finding.why_out_of_date(k)
    row, status = finding.row(), next(name for word, name, *_ in STATUSES if word == finding.status)
    distance, units = Distance.of_row(row), UnitFormat.of_scene(scene)
    number = distance.text(units)
    what = f"{distance.name.lower()} {number}" if number else ""
    if not finding.has_depth:
        what = distance.no_depth_reason
    note = messages.APART_NOW if finding.is_apart else ""
    if reason:
        note = messages.outdated(reason)
    elif ignored.is_in(ignored.listed_now(scene), pair):
        note = messages.IGNORED
    a, b = (
        messages.checked_as(
            messages.placed(finding.label(letter), row[letter], units),
            words_of_side(row[letter]),
            row[letter].get("shape_source"),
        )
        for letter in "ab"
    )
    return _clash_tooltip((a, b), finding.relation, what, status, note)


def _clash_tooltip(names: tuple[str, str], relation: str, number: str, status: str, note: str) -> str:
    """Return the explanation of a row of the list."""
    what = f"{messages.RELATIONS[relation]}{', ' if number else ''}{number}"
    lines = [f"A: {names[0]}", f"B: {names[1]}", what, f"Status: {status}"]
    return "\n".join([*lines, messages.capitalized(note)] if note else lines)


class ContactLensFinding(bpy.types.PropertyGroup):
    object_a: PointerProperty(type=bpy.types.Object)  # type: ignore[valid-type]
    object_b: PointerProperty(type=bpy.types.Object)  # type: ignore[valid-type]
    source_a: PointerProperty(type=bpy.types.Object)  # type: ignore[valid-type]
    source_b: PointerProperty(type=bpy.types.Object)  # type: ignore[valid-type]
    instance_a: StringProperty()  # type: ignore[valid-type]
    instance_b: StringProperty()  # type: ignore[valid-type]
    status: EnumProperty(  # type: ignore[valid-type]
        name="Status",
        description="Review status of this clash",
        items=STATUSES,
        default="NEW",
        update=_decided,
    )
    approval: StringProperty()  # type: ignore[valid-type]
    # What was found: a row of a table of the check, unless there is something newer, or a file saved earlier has none.
    table: IntProperty()  # type: ignore[valid-type]
    number: IntProperty()  # type: ignore[valid-type]
    data: StringProperty()  # type: ignore[valid-type]
    state_a: StringProperty()  # type: ignore[valid-type]
    state_b: StringProperty()  # type: ignore[valid-type]
    state_frame: StringProperty()  # type: ignore[valid-type]
    is_apart: BoolProperty()  # type: ignore[valid-type]
    is_refined: BoolProperty()  # type: ignore[valid-type]
    tooltip: StringProperty(get=_tooltip)  # type: ignore[valid-type]

    @property
    def is_open(self) -> bool:
        """Whether something is left to be done."""
        return self.status in OPEN_STATUSES

    def state(self, letter: str) -> State | None:
        """The state of one side when the pair was looked at last; None in files saved by an earlier version."""
        text: str = getattr(self, f"state_{letter}")
        if not text and (stored := self._stored()) is not None:
            text = stored.states[stored.pairs[self.number]["ab".index(letter)]]
        return State(*text.split(":")) if text else None

    def set_looked_at(self, states: Mapping[Key, State], frame: float) -> None:
        """Store the states in which both sides were looked at, those of their keys, and at which frame."""
        for letter in "ab":
            setattr(self, f"state_{letter}", ":".join(states[self.key(letter)]))
        self.state_frame = json.dumps(frame)

    def frame_of_state(self, default: float) -> float:
        """The frame at which the pair was looked at last."""
        if self.state_frame:
            return float(json.loads(self.state_frame))
        stored = self._stored()
        return default if stored is None else stored.frame_of(self.number)

    def _stored(self) -> StoredClashes | None:
        if not self.table:
            return None
        return stored_clashes.table_of(self.id_data.contact_lens_check.tables, self.table)  # type: ignore[attr-defined]

    def found(self) -> dict[str, Any]:
        """What was found, as plain data with the names of then."""
        stored = None if self.data else self._stored()
        row: dict[str, Any] = json.loads(self.data) if stored is None else stored.row(self.number)
        return row

    def side(self, letter: str) -> Mapping[str, Any]:
        """What was found of one side, with the names of then."""
        stored = None if self.data else self._stored()
        found: Mapping[str, Any] = (
            self.found()[letter] if stored is None else stored.sides[stored.pairs[self.number]["ab".index(letter)]]
        )
        return found

    @property
    def clash_id(self) -> str:
        """The id that the clash was given when it was stored; in a file of an earlier version that of its names."""
        stored = self._stored()
        if stored is not None and stored.ids:
            return stored.ids[self.number]
        found = self.found()
        return str(found.get("id") or clash_ids.of_sides({**found[letter], **self.names(letter)} for letter in "ab"))

    @property
    def relation(self) -> str:
        """The relation that was found."""
        stored = None if self.data else self._stored()
        return str(self.found()["relation"]) if stored is None else stored.words[self.number]

    @property
    def margins(self) -> float | None:
        """Its collision margins, where the gap that was found is within them."""
        stored = None if self.data else self._stored()
        return self.found().get("margins") if stored is None else stored.margins[self.number]

    @property
    def signed_distance(self) -> float:
        """The signed distance that was found; 0.0 where there is no depth."""
        stored = None if self.data else self._stored()
        return float(self.found()["signed_distance"] or 0.0) if stored is None else stored.distances[self.number]

    @property
    def area(self) -> float:
        """The area of the contact region that was found."""
        stored = None if self.data else self._stored()
        return float(self.found()["area"]) if stored is None else stored.areas[self.number]

    @property
    def center(self) -> tuple[float, float, float]:
        """The contact center that was found."""
        stored = None if self.data else self._stored()
        x, y, z = self.row()["center"] if stored is None else stored.centers[self.number]
        return x, y, z

    @property
    def volume(self) -> float:
        """The volume of the overlap that was found; 0.0 where none was computed."""
        stored = None if self.data else self._stored()
        return float((self.found().get("overlap_volume") if stored is None else stored.volumes[self.number]) or 0.0)

    @property
    def has_depth(self) -> bool:
        """Whether the pair has a depth."""
        return bool(self.found().get("has_depth", True))

    @property
    def is_at_most(self) -> bool:
        """Whether the depth that was found is an upper bound."""
        stored = None if self.data else self._stored()
        if stored is not None and self.number not in stored.whole:
            return False
        row = self.found()
        return bool(row.get("has_depth", True)) and Distance.of_row(row).is_at_most

    @property
    def is_unsearched(self) -> bool:
        """Whether the depth was not searched."""
        return bool(self.found().get("exactness") == depths.NOT_SEARCHED)

    def row(self) -> dict[str, Any]:
        """What was found, as plain data, with the names and the status of today."""
        row = self.found()
        if not row.get("has_depth", True):  # files saved earlier have zeros there
            row.update(without_depth(row))
        if "center" not in row:  # files saved earlier do not have it
            points = zip(row["point_on_a"], row["point_on_b"], strict=True)
            row["center"] = row["centroid"] or [0.5 * x + 0.5 * y for x, y in points]
        scale = UnitFormat.of_scene(cast(bpy.types.Scene, self.id_data)).scale_length
        if row["notes"] and row.get("scale_length", scale) != scale:  # the lengths in them are text
            row["notes"] = ["The unit scale has changed, so the notes are out of date: check the scene again"]
        row["id"] = self.clash_id
        row["status"] = self.status.lower()
        row["apart"] = self.is_apart
        for letter in "ab":
            known = {**row[letter], **self.names(letter)}
            row[letter] = {**known, **dict.fromkeys(name for name in SIDE_FIELDS if name not in known)}
        for name in (*(field.name for field in NUMBERS), "change", "baseline_distance"):
            row.setdefault(name, None)
        return row

    def names(self, letter: str) -> dict[str, Any]:
        """The names of today of one side, as in the report; nothing when the object is gone."""
        owner, source = getattr(self, f"object_{letter}"), getattr(self, f"source_{letter}")
        number: str = getattr(self, f"instance_{letter}")
        if owner is None:
            return {}
        if not number:
            return {"name": owner.name, "object": owner.name, "library": library_name(owner)}
        name = (source or owner).name
        return {
            "name": instance_name(name, number, owner.name),
            "object": name,
            "library": library_name(source or owner),
            "instancer": owner.name,
            "instancer_library": library_name(owner),
            "instance": number,
        }

    def let_go(self) -> None:
        """Be about things that are gone, under the names of now."""
        self.data = json.dumps(self.row(), ensure_ascii=False)
        self.object_a = self.object_b = self.source_a = self.source_b = None
        self.instance_a = self.instance_b = ""
        if self.is_open:
            self.status = "RESOLVED"

    def key(self, letter: str) -> Key | None:
        """Which thing one side is; None when it is gone."""
        owner, source = getattr(self, f"object_{letter}"), getattr(self, f"source_{letter}")
        if owner is None:
            return None
        return owner.session_uid, 0 if source is None else source.session_uid, getattr(self, f"instance_{letter}")

    @property
    def pair(self) -> Pair | None:
        """Which pair it is about; None when a thing of it is gone."""
        a, b = self.key("a"), self.key("b")
        return None if a is None or b is None else frozenset((a, b))

    def label(self, letter: str) -> str:
        """The name of one side."""
        names = self.names(letter)
        return str(names["name"] if names else self.found()[letter]["name"])

    def owner(self, letter: str) -> bpy.types.Object | None:
        """The object that ignoring a side is about: of an instance what is instanced; None when it is gone."""
        found: bpy.types.Object | None = getattr(self, f"source_{letter}") or getattr(self, f"object_{letter}")
        return found

    def why_out_of_date(self, k: int) -> str:
        """Why it, the k-th of the list, may no longer be true, such as "'Cube' has moved"; empty when it is."""
        letter, reason = changes.reason(cast(bpy.types.Scene, self.id_data), k)
        return messages.about(self.label(letter), reason) if reason else ""

    def approve_at(self, signed_distance: float | None) -> None:
        """Store at which signed distance it is approved."""
        self.approval = json.dumps({"signed_distance": signed_distance})

    @property
    def approved(self) -> Approval | None:
        """What it was when the user approved it; None when it is not approved."""
        if self.status not in ("APPROVED", "CHANGED"):
            return None
        if self.approval:
            return Approval(json.loads(self.approval)["signed_distance"])
        if self.status == "CHANGED":  # set by the user, and never approved
            return None
        distance = self.row().get("signed_distance")  # of a file saved earlier: what was found then was approved
        return Approval(distance, is_known=distance is not None)
