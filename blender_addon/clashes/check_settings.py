# SPDX-License-Identifier: GPL-3.0-or-later
"""`scene.contact_lens_check`: how a scene is checked, its list of clashes, and the clash of it that the user is at.

Saved with the file and undone with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
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
from ..data.frame_lists import LAST_FRAME
from ..data.records import Approval, Key, Pair, Reviewed, Rules
from ..read.instances import Digests, moved_by
from . import changes, ignored
from .finding import ContactLensFinding, display_changed
from .ignored import ContactLensIgnored
from .stored_clashes import ContactLensTable

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
NONE, FIRST, EXACT = range(3)
DEPTH_ITEMS = (
    ("NONE", "None", "Find whether and where meshes intersect, not how deep: faster where many penetrate", NONE),
    ("FIRST", "First Answer", "Find upper bounds of the depths of meshes", FIRST),
    ("EXACT", "Exact", "Find exact depths of meshes, several times slower", EXACT),
)
SORTS = (
    ("DEPTH", "Depth", "Deepest first, then closest; over frames, transient ones before permanent ones"),
    ("NAME", "Name", "By the name of A"),
    ("OBJECT", "Object", "Grouped by object, objects with the most clashes first"),
    ("AREA", "Area", "Largest contact area first"),
    ("VOLUME", "Overlap Volume", "Largest overlap first, where it was computed"),
    ("RELATION", "Relation", "Inside and penetrating first, then touching"),
    ("STATUS", "Status", "New clashes first"),
)

on_go: list[Callable[[bpy.types.Context, ContactLensFinding | None], None]] = []
"""Called when the user goes to a finding of the list, or to none."""
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


def _depth(self: Any) -> int:
    return NONE if self.has_no_depths else EXACT if self.exact else FIRST


def _set_depth(self: Any, depth: int) -> None:
    self.has_no_depths, self.exact = depth == NONE, depth == EXACT


def _filter_changed(self: Any, context: bpy.types.Context) -> None:
    cast("ContactLensCheck", self).opened = ""
    display_changed(self, context)


def _is_collection_of_scene(self: Any, collection: bpy.types.Collection) -> bool:
    scene = cast(bpy.types.Scene, self.id_data)
    return collection == scene.collection or collection in scene.collection.children_recursive


def _shown(name: str, what: str) -> Any:
    """Return a property that filters the list."""
    return BoolProperty(name=name, description=f"Show {what}", default=True, update=_filter_changed)


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
        name="Scene Clearance",
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
    depth: EnumProperty(  # type: ignore[valid-type]
        name="Depth",
        description="How far to search the depths of meshes; those of boxes and convex hulls are always exact",
        items=DEPTH_ITEMS,
        get=_depth,
        set=_set_depth,
    )
    has_no_depths: BoolProperty()  # type: ignore[valid-type]
    exact: BoolProperty()  # type: ignore[valid-type]  # as files of version 0.2.0 have it
    volume: BoolProperty(  # type: ignore[valid-type]
        name="Overlap Volumes",
        description="Compute the volume of each overlap; meshes have one where they are closed",
        default=False,
    )
    least_volume: FloatProperty(  # type: ignore[valid-type]
        name="At Least",
        description="Leave out pairs whose overlap has less volume",
        min=0.0,
        default=0.0,
        unit="VOLUME",
        precision=4,
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
    use_scene_frames: BoolProperty(  # type: ignore[valid-type]
        name="Scene Range",
        description="Check the frames of the scene, or of its preview range where that is used",
        default=True,
    )
    frame_start: IntProperty(  # type: ignore[valid-type]
        name="Start", description="First frame to check", min=-LAST_FRAME, max=LAST_FRAME, default=1
    )
    frame_end: IntProperty(  # type: ignore[valid-type]
        name="End", description="Last frame to check", min=-LAST_FRAME, max=LAST_FRAME, default=250
    )
    frame_step: IntProperty(  # type: ignore[valid-type]
        name="Step", description="1 to check every frame, 2 to check every other frame", min=1, default=1
    )
    ignored: CollectionProperty(type=ContactLensIgnored)  # type: ignore[valid-type]
    active_ignored: IntProperty()  # type: ignore[valid-type]

    findings: CollectionProperty(type=ContactLensFinding)  # type: ignore[valid-type]
    tables: CollectionProperty(type=ContactLensTable)  # type: ignore[valid-type]
    frames: PointerProperty(type=ContactLensTable)  # type: ignore[valid-type]
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
    show_permanent: _shown("Permanent", "clashes found at every frame and never deeper than at the first")  # type: ignore
    only_changed: BoolProperty(  # type: ignore[valid-type]
        name="Only Out of Date",
        description="Show only clashes whose objects were moved, edited or removed since the check",
        update=_filter_changed,
    )
    show_dots: BoolProperty(  # type: ignore[valid-type]
        name="Clashes",
        description="Show a dot at each clash of the list in the viewport: a click on it opens the clash",
        default=True,
        update=display_changed,
    )
    ghost: BoolProperty(  # type: ignore[valid-type]
        name="Ghost Other Objects",
        description="Fade all other objects while A and B, and nothing else, are selected",
        default=True,
        update=display_changed,
    )

    def chosen_frames(self, scene: bpy.types.Scene) -> range:
        """The frames that Check Frames checks."""
        start, end = self.frame_start, self.frame_end
        if self.use_scene_frames and scene.use_preview_range:
            start, end = scene.frame_preview_start, scene.frame_preview_end
        elif self.use_scene_frames:
            start, end = scene.frame_start, scene.frame_end
        return range(start, end + 1, self.frame_step)

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
            depth=self.depth.lower(),
            volume=self.volume,
            least_volume=float(f"{self.least_volume:.7g}") if self.volume else 0.0,
            instances=self.instances,
            ignore_parents=self.ignore_parents,
            ignore_collections=self.ignore_collections,
            ignore_joined=self.ignore_joined,
            ignore_listed=self.ignore_listed,
            ignore_approved=self.ignore_approved,
        )


CLASSES = (ContactLensTable, ContactLensFinding, ContactLensIgnored, ContactLensCheck)


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
    volume: float
    is_out_of_date: bool
    is_ignored: bool


def _as_listed(k: int, finding: ContactLensFinding) -> Listed:
    scene = cast(bpy.types.Scene, finding.id_data)
    numbers = finding.signed_distance, finding.area, finding.volume
    is_ignored = ignored.is_in(ignored.listed_now(scene), finding.pair)
    is_out_of_date = changes.reason(scene, k)[1] not in ("", messages.COMPARING)
    return Listed(k, finding.status, finding.relation, *numbers, is_out_of_date, is_ignored)


def opened(check: ContactLensCheck) -> Listed | None:
    """Return the active clash as it was when the user went to it: so it stays in its place whatever is done with it.

    None without one, and when the user has set a filter since.
    """
    result = Listed(*json.loads(check.opened)) if check.opened else None
    return result if result is not None and result.number == check.active else None


def reviewed(scene: bpy.types.Scene) -> Reviewed:
    """Return the user's decisions about pairs."""
    check = of_scene(scene)
    return Reviewed(ignored.listed(scene), approvals(check), instances(check))


def approvals(check: ContactLensCheck) -> dict[Pair, Approval]:
    """Return the pairs that the user approved, and what they were then."""
    known = {finding.pair: finding.approved for finding in check.findings}
    return {pair: approval for pair, approval in known.items() if pair is not None and approval is not None}


def instances(check: ContactLensCheck) -> dict[Key, Digests]:
    """Return the digests with which instances were found, the last time of each."""
    found: dict[Key, Digests] = {}
    for finding, letter in product(check.findings, "ab"):
        key = finding.key(letter)
        if key is not None and key[2] and key not in found:
            side, state = finding.side(letter), finding.state(letter)
            # Of a collection each object is made once, wherever it has moved.
            is_only_one = getattr(finding, f"object_{letter}").instance_type == "COLLECTION" and "." not in key[2]
            moved = None if state is None or is_only_one else moved_by(state.place, finding.frame_of_state(0.0))
            found[key] = (side.get("geometry"), side.get("place"), moved)
    return found


def register() -> None:
    bpy.types.Scene.contact_lens_check = PointerProperty(type=ContactLensCheck)  # type: ignore[attr-defined]


def unregister() -> None:
    del bpy.types.Scene.contact_lens_check  # type: ignore[attr-defined]
