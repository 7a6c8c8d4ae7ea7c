# SPDX-License-Identifier: GPL-3.0-or-later
"""`scene.contact_lens_check`: how a scene is checked, and its clashes with the user's decision about each.

Saved with the file and undone with it. Objects are stored by pointer property, instances by the pointer to what makes
them and their number: names may change. What was found is stored as text, because float properties are float32: see
`stored_clashes`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..data import messages
from ..data.collision_kinds import words_of_side
from ..data.distance import Distance
from ..data.objects import instance_name, library_name
from ..data.records import OF_DEPTH, Approval, Key, Pair, Reviewed, Rules, State
from ..data.units import UnitFormat
from ..scene import clash_ids
from . import changes, stored_clashes
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
SCOPES = (
    ("VISIBLE", "Visible", "All visible objects"),
    ("SELECTED", "Selected", "Selected objects"),
    ("COLLECTIONS", "Collections", "Objects of one collection against objects of another"),
    ("ONE", "One Against All", "One object against all other visible objects"),
)
LEAST_CONTACTS = (
    ("POINT", "Point", "Report all touching pairs"),
    ("EDGE", "Edge", "Leave out pairs that touch only at points"),
    ("FACE", "Face", "Leave out pairs that touch only at points and along edges"),
)
SORTS = (
    ("DEPTH", "Depth", "Deepest first, then closest"),
    ("NAME", "Name", "By the name of A"),
    ("OBJECT", "Object", "Grouped by object, objects with the most clashes first"),
    ("AREA", "Area", "Largest contact area first"),
    ("RELATION", "Relation", "Inside and penetrating first, then touching"),
    ("STATUS", "Status", "New clashes first"),
)
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
SIDE_FIELDS = ("library", "instancer_library", "geometry", "place")
"""Fields of both sides of a row that files saved earlier do not have."""
UNDECIDED = frozenset({"NEW", "ACTIVE"})
"""Those that a check gives by itself, without a decision of the user."""


on_go: list[Callable[[bpy.types.Context, ContactLensFinding | None], None]] = []
"""Called when the user goes to a finding of the list, or to none."""
on_display: list[Callable[[], None]] = []
"""Called when the list is to be drawn again."""
_silent = False


@contextmanager
def silent() -> Iterator[None]:
    """Within it a change of the active finding moves neither selection nor view."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before


def _went_to(self: Any, context: bpy.types.Context) -> None:
    check = cast("ContactLensCheck", self)
    clash = active_clash(cast(bpy.types.Scene, self.id_data))
    check.opened = "" if clash is None or _silent else json.dumps(_as_listed(check.active, clash))
    if not _silent:
        for call in on_go:
            call(context, clash)


def _display_changed(self: Any, context: bpy.types.Context) -> None:
    for call in on_display:
        call()


def _filter_changed(self: Any, context: bpy.types.Context) -> None:
    cast("ContactLensCheck", self).opened = ""
    _display_changed(self, context)


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


def _decided(self: Any, context: bpy.types.Context) -> None:
    global _decisions
    _decisions += 1
    finding = cast("ContactLensFinding", self)
    if finding.status == "APPROVED" and (finding.data or finding.table):
        finding.approval = approval_text(finding.found()["signed_distance"])
    changes.decide(cast(bpy.types.Scene, self.id_data), pair_key(finding), finding)
    _display_changed(self, context)


def _is_collection_of_scene(self: Any, collection: bpy.types.Collection) -> bool:
    scene = cast(bpy.types.Scene, self.id_data)
    return collection == scene.collection or collection in scene.collection.children_recursive


def _tooltip(self: Any) -> str:
    finding = cast("ContactLensFinding", self)
    scene, pair, reason = cast(bpy.types.Scene, self.id_data), pair_key(finding), ""
    if pair is None:  # that of what is resolved is gone says no more
        gone = next(letter for letter in "ab" if finding.key(letter) is None)
        reason = "" if finding.status == "RESOLVED" else messages.about(label(finding, gone), messages.GONE)
    elif (k := changes.row_of_pair(scene, pair)) is not None:
        reason = why_out_of_date(scene, k, finding)
    row, status = finding.row(), next(name for word, name, *_ in STATUSES if word == finding.status)
    distance = Distance.of_row(row)
    number = distance.text(UnitFormat.of_scene(scene))
    what = f"{distance.name.lower()} {number}" if number else ""
    if not finding.has_depth:
        what = messages.no_depth(row["relation"])
    note = messages.APART_NOW if finding.is_apart else ""
    note = messages.outdated(reason) if reason else messages.IGNORED if is_ignored(of_scene(scene), finding) else note
    a, b = (
        messages.checked_as(label(finding, letter), words_of_side(row[letter]), row[letter].get("shape_source"))
        for letter in "ab"
    )
    return messages.clash_tooltip((a, b), finding.relation, what, status, note)


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

    def frame_of_state(self, default: float) -> float:
        """The frame at which the pair was looked at last."""
        if self.state_frame:
            return float(json.loads(self.state_frame))
        stored = self._stored()
        return default if stored is None else stored.frame

    def _stored(self) -> StoredClashes | None:
        if not self.table:
            return None
        return stored_clashes.table_of(of_scene(cast(bpy.types.Scene, self.id_data)).tables, self.table)

    def found(self) -> dict[str, Any]:
        """What was found, as plain data with the names of then."""
        stored = None if self.data else self._stored()
        row: dict[str, Any] = json.loads(self.data) if stored is None else stored.row(self.number)
        return row

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

    def row(self) -> dict[str, Any]:
        """What was found, as plain data, with the names and the status of today."""
        row = self.found()
        if not row.get("has_depth", True):  # files saved earlier have zeros there
            row.update(dict.fromkeys(OF_DEPTH))
        if "center" not in row:  # files saved earlier do not have it
            points = zip(row["point_on_a"], row["point_on_b"], strict=True)
            row["center"] = row["centroid"] or [0.5 * x + 0.5 * y for x, y in points]
        scale = UnitFormat.of_scene(cast(bpy.types.Scene, self.id_data)).scale_length
        if row["notes"] and row.get("scale_length", scale) != scale:  # the lengths in them are text
            row["notes"] = [messages.NOTES_OUT_OF_DATE]
        row["id"] = self.clash_id
        row["status"] = self.status.lower()
        row["apart"] = self.is_apart
        for letter in "ab":
            known = {**row[letter], **self.names(letter)}
            row[letter] = {**known, **dict.fromkeys(name for name in SIDE_FIELDS if name not in known)}
        for name in ("resolution", "margins", "change", "baseline_distance"):
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
        }

    def key(self, letter: str) -> Key | None:
        """Which thing one side is; None when it is gone."""
        owner, source = getattr(self, f"object_{letter}"), getattr(self, f"source_{letter}")
        if owner is None:
            return None
        return owner.session_uid, 0 if source is None else source.session_uid, getattr(self, f"instance_{letter}")


def _shown(name: str, what: str) -> Any:
    """Return a property that filters the list."""
    return BoolProperty(name=name, description=f"Show {what}", default=True, update=_filter_changed)


class ContactLensIgnored(bpy.types.PropertyGroup):
    object_a: PointerProperty(name="A", type=bpy.types.Object)  # type: ignore[valid-type]
    object_b: PointerProperty(name="B", type=bpy.types.Object)  # type: ignore[valid-type]


class ContactLensCheck(bpy.types.PropertyGroup):
    scope: EnumProperty(name="Scope", description="Objects to check", items=SCOPES)  # type: ignore[valid-type]
    collection_a: PointerProperty(  # type: ignore[valid-type]
        name="A",
        description="Collection to check",
        type=bpy.types.Collection,
        poll=_is_collection_of_scene,
    )
    collection_b: PointerProperty(  # type: ignore[valid-type]
        name="B",
        description="Collection to check it against",
        type=bpy.types.Collection,
        poll=_is_collection_of_scene,
    )
    object: PointerProperty(  # type: ignore[valid-type]
        name="Object",
        description="Object to check; the active object if empty",
        type=bpy.types.Object,
    )
    clearance: FloatProperty(  # type: ignore[valid-type]
        name="Clearance",
        description="Largest gap that counts as a clash",
        min=0.0,
        default=0.0,
        unit="LENGTH",
        precision=4,
    )
    touching: BoolProperty(  # type: ignore[valid-type]
        name="Touching", description="Report touching pairs", default=True
    )
    least_contact: EnumProperty(  # type: ignore[valid-type]
        name="At Least", description="What touching pairs must share to be reported", items=LEAST_CONTACTS
    )
    exact: BoolProperty(  # type: ignore[valid-type]
        name="Exact Depths",
        description="Compute exact depths of meshes instead of upper bounds, several times slower",
        default=False,
    )
    instances: BoolProperty(  # type: ignore[valid-type]
        name="Instances", description="Also check instances of collections and Geometry Nodes", default=True
    )
    ignore_parents: BoolProperty(  # type: ignore[valid-type]
        name="Parent and Child", description="Ignore pairs of an object and one of its parents", default=True
    )
    ignore_collections: BoolProperty(  # type: ignore[valid-type]
        name="Same Collection", description="Ignore pairs of objects in the same collection", default=False
    )
    ignore_joined: BoolProperty(  # type: ignore[valid-type]
        name="Joined by Constraint", description="Ignore pairs joined by a rigid body constraint", default=True
    )
    ignore_listed: BoolProperty(  # type: ignore[valid-type]
        name="Listed Pairs", description="Ignore the pairs in the list below", default=True
    )
    ignore_approved: BoolProperty(  # type: ignore[valid-type]
        name="Approved Pairs",
        description="Ignore approved pairs until they get deeper or closer",
        default=True,
    )
    ignored: CollectionProperty(type=ContactLensIgnored)  # type: ignore[valid-type]
    active_ignored: IntProperty()  # type: ignore[valid-type]

    findings: CollectionProperty(type=ContactLensFinding)  # type: ignore[valid-type]
    tables: CollectionProperty(type=stored_clashes.ContactLensTable)  # type: ignore[valid-type]
    active: IntProperty(name="Clash", default=-1, update=_went_to)  # type: ignore[valid-type]
    opened: StringProperty()  # type: ignore[valid-type]
    summary: StringProperty()  # type: ignore[valid-type]

    search: StringProperty(  # type: ignore[valid-type]
        name="Search",
        description="Show only clashes of objects with this in their names",
        update=_filter_changed,
        options={"TEXTEDIT_UPDATE"},
    )
    sort: EnumProperty(  # type: ignore[valid-type]
        name="Sort", description="Order of the clashes", items=SORTS, update=_filter_changed
    )
    show_penetrating: _shown("Penetrating", "penetrating clashes, also inside each other or coincident")  # type: ignore
    show_touching: _shown("Touching", "touching clashes")  # type: ignore[valid-type]
    show_within_clearance: _shown("Within Clearance", "clashes within the clearance")  # type: ignore[valid-type]
    show_new: _shown("New", "new clashes")  # type: ignore[valid-type]
    show_changed: _shown("Changed", "clashes deeper or closer than approved")  # type: ignore[valid-type]
    show_active: _shown("Active", "clashes found before and still present")  # type: ignore[valid-type]
    show_reviewed: _shown("Reviewed", "reviewed clashes")  # type: ignore[valid-type]
    show_approved: _shown("Approved", "approved clashes")  # type: ignore[valid-type]
    show_resolved: _shown("Resolved", "resolved clashes")  # type: ignore[valid-type]
    only_changed: BoolProperty(  # type: ignore[valid-type]
        name="Only Out of Date",
        description="Show only clashes whose objects were moved, edited or removed since the check",
        update=_filter_changed,
    )
    ghost: BoolProperty(  # type: ignore[valid-type]
        name="Ghost Other Objects",
        description="Fade all other objects while the pair of the clash is selected",
        default=True,
        update=_display_changed,
    )

    def as_rules(self, context: bpy.types.Context) -> Rules:
        """The settings as plain values."""
        one = self.object or context.view_layer.objects.active
        scope = self.scope.lower()
        of_collections, of_one = scope == "collections", scope == "one"
        return Rules(
            scope=scope,
            collection_a=self.collection_a.name_full if of_collections and self.collection_a else None,
            collection_b=self.collection_b.name_full if of_collections and self.collection_b else None,
            object=one.name_full if of_one and one is not None else None,
            clearance=float(f"{self.clearance:.7g}"),  # a float32 property: seven digits are what the user typed
            contact_tolerance=float(f"{context.scene.contact_lens.contact_tolerance:.7g}"),  # type: ignore[attr-defined]
            touching=self.touching,
            least_contact=self.least_contact.lower(),
            exact=self.exact,
            instances=self.instances,
            ignore_parents=self.ignore_parents,
            ignore_collections=self.ignore_collections,
            ignore_joined=self.ignore_joined,
            ignore_listed=self.ignore_listed,
            ignore_approved=self.ignore_approved,
        )


CLASSES = (stored_clashes.ContactLensTable, ContactLensFinding, ContactLensIgnored, ContactLensCheck)


def of_scene(scene: bpy.types.Scene) -> ContactLensCheck:
    """`scene.contact_lens_check`, with its type."""
    return cast("ContactLensCheck", scene.contact_lens_check)  # type: ignore[attr-defined]


def active_clash(scene: bpy.types.Scene) -> ContactLensFinding | None:
    """Return the finding that the user is at; None when at none."""
    check = of_scene(scene)
    return check.findings[check.active] if 0 <= check.active < len(check.findings) else None


class Listed(NamedTuple):
    """By what the list shows a clash, and where."""

    number: int
    status: str
    relation: str
    signed_distance: float
    area: float
    is_out_of_date: bool
    is_ignored: bool


def _as_listed(k: int, finding: ContactLensFinding) -> Listed:
    scene = cast(bpy.types.Scene, finding.id_data)
    numbers = finding.signed_distance, finding.area
    is_out_of_date = changes.reason(scene, k)[1] not in ("", messages.COMPARING)
    return Listed(k, finding.status, finding.relation, *numbers, is_out_of_date, is_ignored(of_scene(scene), finding))


def opened(check: ContactLensCheck) -> Listed | None:
    """Return the active clash as it was when the user went to it: so it stays in its place whatever is done with it.

    None without one, and when the user has set a filter since.
    """
    result = Listed(*json.loads(check.opened)) if check.opened else None
    return result if result is not None and result.number == check.active else None


def pair_key(finding: ContactLensFinding) -> Pair | None:
    """Which pair a finding is about; None when a thing of it is gone."""
    a, b = finding.key("a"), finding.key("b")
    return None if a is None or b is None else frozenset((a, b))


def reviewed(scene: bpy.types.Scene) -> Reviewed:
    """Return the user's decisions about pairs."""
    check = of_scene(scene)
    return Reviewed(_ignored(check), approvals(check))


def _ignored(check: ContactLensCheck) -> frozenset[frozenset[int]]:
    """Return the ignored pairs, and the objects of which all pairs are, by their `session_uid`."""
    entries = ((entry.object_a, entry.object_b) for entry in check.ignored)
    return frozenset(frozenset(obj.session_uid for obj in pair if obj is not None) for pair in entries) - {frozenset()}


def ignored_now(check: ContactLensCheck) -> frozenset[frozenset[int]]:
    """Return what the next check leaves out because it is in the list of ignored pairs."""
    return _ignored(check) if check.ignore_listed else frozenset()


def is_ignored(check: ContactLensCheck, finding: ContactLensFinding) -> bool:
    """Return whether the next check leaves out the pair of a finding because it is in the list of ignored pairs."""
    listed = ignored_now(check)
    return bool(listed) and is_in(listed, pair_key(finding))


def is_in(listed: frozenset[frozenset[int]], pair: Pair | None) -> bool:
    """Return whether a pair is in a list of pairs and of objects of which all pairs are."""
    sides = [{owner, source or owner} for owner, source, _ in pair or ()]
    pairs = itertools.product(*sides) if len(sides) == 2 else ()
    return any(listed & {frozenset((i, j)), frozenset((i,)), frozenset((j,))} for i, j in pairs)


def approvals(check: ContactLensCheck) -> dict[Pair, Approval]:
    """Return the pairs that the user approved, and what they were then."""
    known = {pair_key(finding): approval_of(finding) for finding in check.findings}
    return {pair: approval for pair, approval in known.items() if pair is not None and approval is not None}


def approval_of(finding: ContactLensFinding) -> Approval | None:
    """Return what a finding was when the user approved it; None when it is not approved."""
    if finding.status not in ("APPROVED", "CHANGED"):
        return None
    if finding.approval:
        return Approval(json.loads(finding.approval)["signed_distance"])
    if finding.status == "CHANGED":  # set by the user, and never approved
        return None
    distance = finding.row().get("signed_distance")  # of a file saved earlier: what was found then was approved
    return Approval(distance, is_known=distance is not None)


def approval_text(signed_distance: float | None) -> str:
    """Return what a finding stores of its approval."""
    return json.dumps({"signed_distance": signed_distance})


def label(finding: ContactLensFinding, letter: str) -> str:
    """The name of one side."""
    names = finding.names(letter)
    return str(names["name"] if names else finding.found()[letter]["name"])


def owner(finding: ContactLensFinding, letter: str) -> bpy.types.Object | None:
    """The object that ignoring a side is about: of an instance what is instanced; None when it is gone."""
    found: bpy.types.Object | None = getattr(finding, f"source_{letter}") or getattr(finding, f"object_{letter}")
    return found


def why_out_of_date(scene: bpy.types.Scene, k: int, finding: ContactLensFinding) -> str:
    """Why a finding, the k-th, may no longer be true, such as "'Cube' has moved"; empty when it is."""
    letter, reason = changes.reason(scene, k)
    return messages.about(label(finding, letter), reason) if reason else ""


def register() -> None:
    bpy.types.Scene.contact_lens_check = PointerProperty(type=ContactLensCheck)  # type: ignore[attr-defined]


def unregister() -> None:
    del bpy.types.Scene.contact_lens_check  # type: ignore[attr-defined]
