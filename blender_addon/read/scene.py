# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene: which objects and instances, which rules, read from Blender into what `scene_pairs` checks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..check.scene import Outcome
from ..check.session import matrix_numbers
from ..data.units import UnitFormat
from ..report import messages as answer_words
from . import collision_shape
from . import faults as scene_faults
from . import snapshot as read
from . import visibility as scene_visibility
from .collision_shape import COMPOUND, Choice
from .scene_objects import Approval, Geometry, Ignore, Item, Key, Skipped, State, Subject, all_parts
from .snapshot import ReadArrays, ReadError


@dataclass(frozen=True)
class Rules:
    """What to check, as plain values."""

    scope: str = "visible"
    """"visible", "selected", "collections" (A against B) or "one" (an object against all)."""
    collection_a: str | None = None
    collection_b: str | None = None
    object: str | None = None
    clearance: float = 0.0
    contact_tolerance: float = 1e-5
    touching: bool = True
    """Whether pairs that only touch are told."""
    instances: bool = True
    """Whether instances are checked too."""
    visibility: str = scene_visibility.VIEWPORT
    """Which objects are visible, as in `scene_visibility`; the scene is made so before it is read."""
    ignore_parents: bool = True
    ignore_collections: bool = False
    ignore_joined: bool = True
    ignore_listed: bool = True
    ignore_approved: bool = True


@dataclass(frozen=True)
class Lists:
    """What the person decided about pairs before."""

    listed: frozenset[frozenset[int]] = field(default_factory=frozenset)
    approved: Mapping[frozenset[Key], Approval] = field(default_factory=dict)


NO_SURFACE = {"VOLUME": "a volume", "POINTCLOUD": "a point cloud", "CURVES": "hair"}
"""Types of objects that may fill space and are no surfaces, in words."""
NOTHING = Geometry(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
"""The geometry of a compound parent until its parts are known: its own mesh does not count."""
PARTS_MISSING = Choice(
    collision_shape.AUTOMATIC, "automatic", "is a compound parent whose children are not instanced with it"
)


class Geometries:
    """Geometry read before, found again by its digest: for the next frame of an animation."""

    def __init__(self) -> None:
        self._known: dict[bytes, Geometry] = {}
        self._used: dict[bytes, Geometry] = {}

    def next_frame(self) -> None:
        """Let go of what the last frame did not use."""
        self._known, self._used = self._used, {}

    def get(self, digest: bytes, read_arrays: ReadArrays) -> Geometry:
        known = self._used.get(digest) or self._known.get(digest)
        if known is None:
            points, triangles = read_arrays()
            known = Geometry(points.astype(np.float64), triangles, digest)
        self._used[digest] = known
        return known


class Digests(Geometries):
    """Geometry known by its digest alone: enough to compare, and its triangles need not be read."""

    def get(self, digest: bytes, read_arrays: ReadArrays) -> Geometry:
        return Geometry(NOTHING.points, NOTHING.triangles, digest)


# --- what to check --------------------------------------------------------------------------------------------------


def subject_of(
    context: bpy.types.Context, rules: Rules, lists: Lists | None = None, geometries: Geometries | None = None
) -> Subject:
    """Read what the rules name. Raises ReadError, with a sentence for the user, when there is nothing to check."""
    lists = lists or Lists()
    depsgraph = context.evaluated_depsgraph_get()
    first, other = _sides(context, rules)
    wanted = {obj.session_uid: obj for obj in [*first, *(other or ())]}
    faults = scene_faults.affected(context)
    reader = _Reader(depsgraph, geometries or Geometries(), rules, faults=faults)
    reader.read(list(wanted.values()))
    # An instance is where what makes it is.
    of_first, of_other = ({obj.session_uid for obj in side or ()} for side in (first, other))
    items = reader.items

    def of_side(uids: set[int]) -> list[int]:
        """Return the items of a side; what is part of a compound parent there is checked as that."""
        parts = {part.key for item in items if item.key[0] in uids for part in all_parts(item)}
        return [k for k, item in enumerate(items) if item.key[0] in uids and item.key not in parts]

    sides = of_side(of_first), None if other is None else of_side(of_other)
    skipped = [*_around(context, rules, faults), *reader.skipped, *_empty(rules, sides)]
    scene, layer = context.scene, context.view_layer
    left_out = scene_visibility.left_out(scene, layer) if rules.scope in ("visible", "one") else {}
    uids = {uid for item in items for uid in (item.key[0], item.uid)}
    differences = scene_visibility.differences(scene, [obj for obj in bpy.data.objects if obj.session_uid in uids])
    if rules.visibility == scene_visibility.RENDER:  # only those are left that cannot be made as for a render
        skipped += [Skipped(entry["object"], answer_words.difference(entry), kind="render") for entry in differences]
    ignore = Ignore(
        parents=rules.ignore_parents,
        collections=rules.ignore_collections,
        joined=_joined(context.scene) if rules.ignore_joined else frozenset(),
        listed=lists.listed if rules.ignore_listed else frozenset(),
    )
    return Subject(
        items=items,
        first=sides[0],
        other=sides[1],
        ignore=ignore,
        clearance=rules.clearance,
        contact_tolerance=rules.contact_tolerance,
        touching=rules.touching,
        instances=rules.instances,
        skipped=skipped,
        left_out=left_out,
        differences=differences,
        approved=lists.approved,
        without_approved=rules.ignore_approved,
        units=UnitFormat.of_scene(context.scene),
    )


def items_of(
    context: bpy.types.Context,
    keys: Collection[Key],
    geometries: Geometries | None = None,
    faults: Mapping[bpy.types.ID, scene_faults.Fault] | None = None,
) -> dict[Key, Item]:
    """Read some things of the scene as they are now. What is gone, hidden or has no geometry is not among them."""
    owners = {key[0] for key in keys}
    reader = _Reader(context.evaluated_depsgraph_get(), geometries or Geometries(), Rules(), set(keys), faults)
    reader.read([obj for obj in context.view_layer.objects if obj.session_uid in owners])
    return {item.key: item for item in reader.items if item.key in keys}


def states_of(context: bpy.types.Context, keys: Collection[Key]) -> dict[Key, State]:
    """Return the states of some things of the scene as they are now; of what `items_of` does not read there is none."""
    return {key: item.state for key, item in items_of(context, keys, Digests()).items()}


def changed(context: bpy.types.Context, items: Sequence[Item], geometries: Geometries) -> frozenset[Key]:
    """Return which things are no longer as they were read: elsewhere, of another shape, hidden or gone.

    geometries: those they were read with.
    """
    now = items_of(context, {item.key for item in items}, geometries)
    return frozenset(item.key for item in items if item.key not in now or not _is_same(item, now[item.key]))


def edited(scene: bpy.types.Scene, items: Sequence[Item], uids: Collection[int]) -> frozenset[Key]:
    """Return which things are gone from the scene, were set to collide as something else, or are made by or of one of
    the objects `uids` (`session_uid`). At another frame no more can be told: what is animated is elsewhere there.
    """
    objects = {obj.session_uid: obj for obj in bpy.data.objects}
    there = {obj.session_uid for obj in scene.objects}

    def is_edited(item: Item) -> bool:
        obj = objects.get(item.uid)
        return (
            obj is None
            or item.key[0] not in there
            or item.key[0] in uids
            or item.uid in uids
            or (item.choice is not PARTS_MISSING and item.choice != collision_shape.chosen(obj))
            or any(map(is_edited, item.parts))
        )

    return frozenset(item.key for item in items if is_edited(item))


def _is_same(item: Item, now: Item) -> bool:
    """Tell whether a thing is where it was, and collides as it did."""
    if item.parts or now.parts:
        same = len(item.parts) == len(now.parts) and all(map(_is_same, item.parts, now.parts))
    else:
        same = item.geometry is now.geometry
    return (
        same
        and item.choice == now.choice
        and np.array_equal(item.linear, now.linear)
        and np.array_equal(item.translation, now.translation)
    )


def _sides(context: bpy.types.Context, rules: Rules) -> tuple[list[bpy.types.Object], list[bpy.types.Object] | None]:
    """Return the objects of the first side, and of the second when not all are checked against all."""
    layer = context.view_layer
    visible = [obj for obj in layer.objects if obj.visible_get(view_layer=layer)]
    if rules.scope == "visible":
        return visible, None
    if rules.scope == "selected":
        chosen = [obj for obj in layer.objects if obj.select_get(view_layer=layer)]
        if not chosen:
            raise ReadError("Nothing is selected: select the objects to check")
        return chosen, None
    if rules.scope == "one":
        one: bpy.types.Object | None = layer.objects.get(rules.object or "")
        if one is None:
            raise ReadError(
                f"There is no object '{rules.object}' in the view layer" if rules.object else "Pick the object to check"
            )
        return [one], [obj for obj in visible if obj != one]
    sides = []
    in_layer = {obj.session_uid for obj in layer.objects}
    for letter, name in (("A", rules.collection_a), ("B", rules.collection_b)):
        collection = _collection(context.scene, name)
        if collection is None:
            raise ReadError(
                f"There is no collection '{name}' in the scene" if name else f"Pick collection {letter} to check"
            )
        sides.append([obj for obj in collection.all_objects if obj.session_uid in in_layer])
    return sides[0], sides[1]


def _around(
    context: bpy.types.Context, rules: Rules, faults: Mapping[bpy.types.ID, scene_faults.Fault]
) -> list[Skipped]:
    """Return what no object to be checked shows: what is excluded or missing, and scripts that were not run."""
    inside: list[bpy.types.Collection] = []
    tops: list[bpy.types.Collection | None] = []
    if rules.scope == "collections":
        tops = [_collection(context.scene, name) for name in (rules.collection_a, rules.collection_b)]
        inside = [one for top in tops if top is not None for one in (top, *top.children_recursive)]
    elif rules.scope != "selected":
        inside = [one.collection for one in _shown(context.view_layer.layer_collection)]
    excluded = {obj.session_uid: obj for top in tops if top is not None for obj in top.all_objects}
    for obj in context.view_layer.objects:
        excluded.pop(obj.session_uid, None)
    found = [
        Skipped(obj.name, f"'{obj.name}' is excluded from the view layer: include it to check it", kind="hidden")
        for obj in excluded.values()
        if obj.type in read.TYPES_WITH_SURFACE or obj.instance_type == "COLLECTION"
    ]
    found += [
        Skipped(collection.name, fault.reason, kind=fault.kind)
        for collection in dict.fromkeys(inside)
        if (fault := faults.get(collection)) is not None and fault.is_own
    ]
    for name in scene_faults.texts_not_run():
        why = f"The script '{name}' of the file was not run: allow it with --enable-autoexec or Auto Run Python Scripts"
        found.append(Skipped(name, why, unchecked=False, kind="script"))
    return found


def _shown(top: bpy.types.LayerCollection) -> Iterator[bpy.types.LayerCollection]:
    """The collections of a view layer that are neither excluded nor hidden."""
    if not top.exclude and top.is_visible:
        yield top
        for child in top.children:
            yield from _shown(child)


def _empty(rules: Rules, sides: tuple[list[int], list[int] | None]) -> list[Skipped]:
    """Return that there was nothing to check, or nothing to check against, unless there was."""
    first, other = sides
    names = {
        "visible": ("among the visible objects",),
        "selected": ("among the selected objects",),
        "collections": (f"in collection '{rules.collection_a}'", f"in collection '{rules.collection_b}'"),
        "one": (f"in object '{rules.object}'", f"beside object '{rules.object}'"),
    }[rules.scope]
    return [
        Skipped(rules.scope, f"Nothing was checked: there is no geometry {where}", kind="empty")
        for where, side in zip(names, (first, other), strict=False)
        if not side
    ][:1]


def _collection(scene: bpy.types.Scene, name: str | None) -> bpy.types.Collection | None:
    inside = [scene.collection, *scene.collection.children_recursive]
    return next((collection for collection in inside if collection.name == name), None)


def _joined(scene: bpy.types.Scene) -> frozenset[frozenset[int]]:
    """Return the pairs of objects that rigid-body constraints join."""
    constraints = [obj.rigid_body_constraint for obj in scene.objects if obj.rigid_body_constraint is not None]
    return frozenset(
        frozenset((joint.object1.session_uid, joint.object2.session_uid))
        for joint in constraints
        if joint.enabled and joint.object1 is not None and joint.object2 is not None
    )


class _Body(NamedTuple):
    """An instance of a rigid body."""

    item: Item
    source: bpy.types.Object


class _Reader:
    """Reads objects and the instances they make."""

    def __init__(
        self,
        depsgraph: bpy.types.Depsgraph,
        geometries: Geometries,
        rules: Rules,
        only: set[Key] | None = None,
        faults: Mapping[bpy.types.ID, scene_faults.Fault] | None = None,
    ) -> None:
        """only: of the instances those; None: all."""
        self.items: list[Item] = []
        self.skipped: list[Skipped] = []
        self._depsgraph = depsgraph
        self._geometries = geometries
        self._rules = rules
        self._only = only
        self._faults = faults or {}
        self._by_data: dict[tuple[int, str], Geometry] = {}
        self._collections: dict[int, set[object]] | None = None
        self._above: dict[int, frozenset[int]] = {}

    def read(self, objects: list[bpy.types.Object]) -> None:
        # Nothing that an instance tells is asked for: walking all of the scene's takes long.
        without = self._only is not None and not any(key[2] for key in self._only)
        makers = set() if without and all(map(_shows_itself, objects)) else self._instances(_uids(objects))
        for obj in objects:
            has_surface = obj.type in read.TYPES_WITH_SURFACE
            is_instancer = obj.session_uid in makers or obj.instance_type == "COLLECTION"
            fault = self._faults.get(obj)
            if fault is not None and (has_surface or is_instancer or obj.is_missing):
                self.skipped.append(Skipped(obj.name, fault.reason, kind=fault.kind))
            if not has_surface:
                self._without_surface(obj, obj.session_uid in makers)
                continue
            try:
                self._object(obj, obj.session_uid in makers)
            except ReadError as error:
                if fault is None or not isinstance(error, read.EmptyError):
                    self._skip(obj.name, error)
            if any(system.settings.type == "HAIR" for system in obj.particle_systems if system.settings is not None):
                self._skip_kind(f"hair of {obj.name}", f"'{obj.name}' has hair, which has no surface")
        self.items.sort(key=lambda item: (item.name, item.key))

    def _without_surface(self, obj: bpy.types.Object, makes_instances: bool) -> None:
        """Name what is no surface, and a collection instance without anything to check."""
        if obj.type in NO_SURFACE:
            self._skip_kind(obj.name, f"'{obj.name}' is {NO_SURFACE[obj.type]}, which has no surface")
        elif obj.instance_type == "COLLECTION" and not makes_instances and obj not in self._faults:
            why = f"'{obj.name}' makes no instances that can be checked"
            self.skipped.append(Skipped(obj.name, why, unchecked=False))

    def _skip_kind(self, name: str, why: str) -> None:
        self.skipped.append(Skipped(name, why, unchecked=False, kind="no_surface"))

    def _skip(self, name: str, error: ReadError) -> None:
        kind = "hidden" if isinstance(error, read.HiddenError) else "geometry"
        self.skipped.append(Skipped(name, str(error), not isinstance(error, read.EmptyError), kind))

    def _fault(self, *objects: bpy.types.Object) -> str:
        """Why Blender may have evaluated one of the objects wrong; empty where nothing is known."""
        return next((self._faults[obj].reason for obj in objects if obj in self._faults), "")

    def _object(self, obj: bpy.types.Object, makes_instances: bool) -> None:
        evaluated = self._evaluated(obj)
        if makes_instances and not obj.show_instancer_for_viewport:
            return
        try:
            self.items.append(self._item(obj, evaluated))
        except ReadError:
            if not makes_instances:  # else its instances are all there is of it
                raise

    def _item(self, obj: bpy.types.Object, evaluated: bpy.types.Object) -> Item:
        choice = collision_shape.chosen(obj)
        _, linear, translation = read.world_matrix(obj.name, evaluated)
        item = Item(
            key=(obj.session_uid, 0, ""),
            name=obj.name,
            object_name=obj.name,
            instancer_name=None,
            geometry=NOTHING if _is_parent(choice) else self._geometry(obj, evaluated),
            linear=linear,
            translation=translation,
            choice=choice,
            above=self._parents(obj),
            collections=self._in_collections(obj),
            fault=self._fault(obj),
            owner_matrix=matrix_numbers(obj),
        )
        if not _is_parent(choice):
            return item
        try:
            parts = [self._item(child, self._evaluated(child)) for child in collision_shape.children(obj)]
        except read.EmptyError as error:  # of one part: there may be others
            raise ReadError(str(error)) from error
        return _made_of(item, parts)

    def _evaluated(self, obj: bpy.types.Object) -> bpy.types.Object:
        """Return the evaluated object. Raises HiddenError when there is none."""
        evaluated = obj.evaluated_get(self._depsgraph)
        if not obj.visible_get(view_layer=self._depsgraph.view_layer) or not evaluated.is_evaluated:
            raise read.HiddenError(obj.name, "so Blender does not evaluate it: show it to check it")
        return evaluated

    def _instances(self, wanted: set[int]) -> set[int]:
        """Read the instances that the wanted objects make. Returns which objects make instances."""
        makers: dict[int, str] = {}
        without: dict[tuple[str, str], None] = {}
        there: set[tuple[int, int, tuple[int, ...]]] = set()
        together: dict[tuple[int, str], dict[int, _Body]] = {}
        only = None if self._only is None else {(key[0], _without_own(key[2])) for key in self._only}
        # All the way through: Blender leaks the iterator of a loop that is left early.
        for instance in self._depsgraph.object_instances:
            if not instance.is_instance or instance.parent is None or not instance.show_self:
                continue
            maker = instance.parent.original
            if maker.session_uid not in wanted:
                continue
            shown, numbers, mesh_of = instance.object, read.numbers_of(instance), read.mesh_of(instance)
            source = shown.original
            there.add((maker.session_uid, source.session_uid, numbers))
            is_maker = mesh_of == () and source == maker
            if is_maker or (maker.session_uid, source.session_uid, mesh_of) in there:
                continue  # the thing itself is read
            makers[maker.session_uid] = maker.name
            if not self._rules.instances:
                continue
            if shown.type not in read.TYPES_WITH_SURFACE:
                if shown.type in NO_SURFACE:
                    without.setdefault((maker.name, shown.type))
                continue
            number = ".".join(map(str, numbers))
            own = source.session_uid if source != maker else 0
            group = maker.session_uid, _without_own(number)
            if only is not None and group not in only:
                continue
            name = f"{source.name} [{number}] of {maker.name}"
            try:
                geometry = self._geometry(source, shown)
                _, linear, translation = read.world_matrix(name, instance)
            except ReadError as error:
                self._skip(name, error)
                continue
            of_collection = maker.instance_type == "COLLECTION"
            item = Item(
                key=(maker.session_uid, own, number),
                name=name,
                object_name=source.name,
                instancer_name=maker.name,
                geometry=geometry,
                linear=linear,
                translation=translation,
                choice=collision_shape.chosen(source),
                above=self._parents(maker) | (self._parents(source) if of_collection else frozenset()),
                collections=self._in_collections(maker, instance=True),
                fault=self._fault(source, maker),
                owner_matrix=matrix_numbers(maker),
            )
            self.items.append(item)
            if source.rigid_body is not None:
                together.setdefault(group, {})[source.session_uid] = _Body(item, source)
        for name, kind in without:
            self._skip_kind(name, f"'{name}' makes {NO_SURFACE[kind]}, which has no surface")
        parents = {parent.key: parent for bodies in together.values() for parent in _parents_of(bodies)}
        if parents:
            self.items = [parents.get(item.key, item) for item in self.items]
        if not self._rules.instances:
            for name in makers.values():
                why = f"'{name}' makes instances, which are left out"
                self.skipped.append(Skipped(name, why, unchecked=False, kind="instances"))
        return set(makers)

    def _geometry(self, obj: bpy.types.Object, evaluated: bpy.types.Object) -> Geometry:
        """Return the geometry of an evaluated object or instance. Raises ReadError."""
        place = (evaluated.data.as_pointer(), evaluated.type) if evaluated.data is not None else (0, "")
        known = self._by_data.get(place) if evaluated.type == "MESH" else None
        if known is None:
            with read.geometry(obj, evaluated) as (digest, read_arrays):
                known = self._geometries.get(digest, read_arrays)
            self._by_data[place] = known
        return known

    def _parents(self, obj: bpy.types.Object) -> frozenset[int]:
        known = self._above.get(obj.session_uid)
        if known is None:
            known = frozenset()
            if obj.parent is not None:
                known = self._parents(obj.parent) | {obj.parent.session_uid}
            self._above[obj.session_uid] = known
        return known

    def _in_collections(self, obj: bpy.types.Object, instance: bool = False) -> frozenset[object]:
        """Return the collections the object is directly in; being in the scene's own means nothing.

        All instances of one collection are in that.
        """
        if not self._rules.ignore_collections:
            return frozenset()
        if self._collections is None:
            self._collections = {}  # `users_collection` looks through the whole file for each object
            for collection in bpy.data.collections:
                for member in collection.objects:
                    self._collections.setdefault(member.session_uid, set()).add(collection.session_uid)
        known: set[object] = self._collections.get(obj.session_uid, set())
        if instance and obj.instance_type == "COLLECTION":
            known = known | {("instances", obj.session_uid)}
        return frozenset(known)


def _is_parent(choice: Choice) -> bool:
    """Whether an object collides as its children do."""
    return choice.kind == COMPOUND and choice.source == "rigid_body"


def _made_of(parent: Item, parts: list[Item]) -> Item:
    """Return a compound parent with its parts and, as its geometry, all of theirs in world space."""
    points = [part.geometry.points @ part.linear.T + part.translation for part in parts]
    first = np.cumsum([0, *(len(some) for some in points)])
    triangles = [part.geometry.triangles + start for part, start in zip(parts, first[:-1].tolist(), strict=True)]
    geometry = Geometry(np.concatenate(points), np.concatenate(triangles))
    fault = parent.fault or next((part.fault for part in parts if part.fault), "")
    return replace(
        parent, geometry=geometry, linear=np.eye(3), translation=np.zeros(3), parts=tuple(parts), fault=fault
    )


def _parents_of(bodies: dict[int, _Body]) -> list[Item]:
    """Return the compound parents of what is instanced together, by `session_uid` of the objects, with their parts."""

    def whole(body: _Body) -> Item:
        if not _is_parent(body.item.choice):
            return body.item
        children = [bodies.get(child.session_uid) for child in collision_shape.children(body.source)]
        parts = [whole(child) for child in children if child is not None]
        return _made_of(body.item, parts) if parts else replace(body.item, choice=PARTS_MISSING)

    return [whole(body) for body in bodies.values() if _is_parent(body.item.choice)]


def _shows_itself(obj: bpy.types.Object) -> bool:
    """Whether an object is there even if it makes instances."""
    return bool(obj.show_instancer_for_viewport)


def _uids(objects: list[bpy.types.Object]) -> set[int]:
    return {obj.session_uid for obj in objects}


def _without_own(number: str) -> str:
    """An instance's number without its own part: the same for all that is instanced together."""
    return number.partition(".")[2]


# --- what came out --------------------------------------------------------------------------------------------------


def units_of(scene: bpy.types.Scene) -> dict[str, Any]:
    """Return the unit settings of a scene as plain data, and what the numbers of a check are in."""
    return {**asdict(UnitFormat.of_scene(scene)), "numbers_in": "blender_units", "frame": "world"}


def frame_of(scene: bpy.types.Scene) -> float:
    """Return the scene's current frame: an int, but for one between two frames."""
    frame = float(scene.frame_current_final)
    return int(frame) if frame.is_integer() else frame


def told(
    scene: bpy.types.Scene, rules: Rules, outcome: Outcome, count: int, frame: float | None = None
) -> dict[str, Any]:
    """Return a check as plain data, JSON-ready; its findings have no status yet. `count`: how many were checked;
    `frame`: at which frame, if not at the scene's current one."""
    frame = frame_of(scene) if frame is None else frame
    relations: dict[str, int] = {}
    for row in outcome.rows:
        relations[row["relation"]] = relations.get(row["relation"], 0) + 1
    return {
        "file": Path(bpy.data.filepath).name or None,
        "path": bpy.data.filepath or None,
        "scene": scene.name,
        "frame": frame,
        "partial": outcome.partial,
        "motion": None,
        "units": units_of(scene),
        "settings": asdict(rules),
        "objects": count,
        "candidate_pairs": outcome.candidates,
        "checked_pairs": len(outcome.found) + len(outcome.cleared) + len(outcome.approved),
        "relations": dict(sorted(relations.items())),
        "ignored_pairs": dict(sorted(outcome.ignored.items())),
        "skipped": [skipped._asdict() for skipped in outcome.skipped],
        "left_out": outcome.left_out,
        "differences": outcome.differences,
        "out_of_date": 0,
        "findings": [{**row, "frame": frame, "apart": False, "out_of_date": None} for row in outcome.rows],
    }
