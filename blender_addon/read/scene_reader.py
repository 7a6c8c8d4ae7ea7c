# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects, and the instances that they make, read from the evaluated scene."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..data.collision_kinds import AUTOMATIC, COMPOUND, Choice
from ..data.objects import instance_name, library_name, matrix_numbers, may_have_surface, unsupported_reason
from ..data.records import Key, Rules, Skipped, State
from ..geometry import collision_shape
from ..geometry import snapshot as read
from ..geometry.local_geometry import DigestsOnly, Geometries, Geometry
from ..geometry.rigid_bodies import RigidBodies
from ..geometry.snapshot import ReadError
from . import faults as scene_faults
from .scene_objects import SceneObject
from .visibility import INSTANCING

NO_SURFACE = {
    "VOLUME": "a volume",
    "POINTCLOUD": "a point cloud",
    "CURVES": "hair",
    "GREASEPENCIL": "a Grease Pencil drawing",
    "GPENCIL": "a Grease Pencil drawing",
}
"""Types of objects that may fill space and are no surfaces, in words."""
HOLDS = {"CURVES": "curves", "POINTCLOUD": "points", "GREASEPENCIL": "layers"}
"""What there is none of where modifiers turn such an object into something else, as hair into a mesh."""
IS_DOMAIN = "is the domain of a fluid"
NOTHING = Geometry(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32), b"")
"""The geometry of a compound parent until its parts are known: its own mesh does not count."""
PARTS_MISSING = Choice(AUTOMATIC, "automatic", "is a compound parent whose children are not instanced with it")


def snapshot_object(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, geometries: Geometries | None = None
) -> SceneObject:
    """Return an object as the depsgraph has evaluated it.

    Raises ReadError when it has no surface of its own or is not evaluated.
    """
    if reason := unsupported_reason(obj):
        raise ReadError(reason)
    evaluated = read.evaluated_object(obj, depsgraph)
    if not is_compound_parent(collision_shape.chosen(obj)) and read.makes_instances(obj, depsgraph):
        # First of all: of nothing but instances the mesh is empty.
        raise ReadError(
            f"'{obj.name}' makes instances, which are not part of its mesh: run Check Scene and open a clash to "
            "inspect them, or make them real"
        )
    found = SceneReader(depsgraph, geometries or Geometries(), Rules()).snapshot(obj, evaluated)
    if not found.has_surface:
        advice = ": set its scale, or that of its parents" if found.is_scaled_away else ""
        raise ReadError(f"{_why_without_surface(found, obj.name)}{advice}")
    return found


def snapshot_keys(
    depsgraph: bpy.types.Depsgraph,
    keys: Collection[Key],
    geometries: Geometries | None = None,
    faults: Mapping[bpy.types.ID, scene_faults.Fault] | None = None,
) -> dict[Key, SceneObject]:
    """Return objects and instances as they are now, without those that are gone, hidden or have no geometry."""
    owners = {key[0] for key in keys}
    reader = SceneReader(depsgraph, geometries or Geometries(), Rules(), set(keys), faults)
    reader.read([obj for obj in depsgraph.view_layer.objects if obj.session_uid in owners])
    return {obj.key: obj for obj in reader.objects if obj.key in keys}


def states_of(depsgraph: bpy.types.Depsgraph, keys: Collection[Key]) -> dict[Key, State]:
    """Return the states of objects and instances as they are now, without those that `snapshot_keys` leaves out."""
    return {key: obj.state for key, obj in snapshot_keys(depsgraph, keys, DigestsOnly()).items()}


def changed(depsgraph: bpy.types.Depsgraph, objects: Sequence[SceneObject]) -> frozenset[Key]:
    """Return which objects are no longer as they were read: elsewhere, of another shape, hidden or gone."""
    now = states_of(depsgraph, {obj.key for obj in objects})
    return frozenset(obj.key for obj in objects if now.get(obj.key) != obj.state)


def edited(scene: bpy.types.Scene, objects: Sequence[SceneObject], uids: Collection[int]) -> frozenset[Key]:
    """Return which objects are gone from the scene, have another collision shape, or are, or are instances of, one of
    the objects `uids` (`session_uid`). At another frame no more is known: what is animated is elsewhere there.
    """
    by_uid = {obj.session_uid: obj for obj in bpy.data.objects}
    in_scene = {obj.session_uid for obj in scene.objects}

    def is_edited(obj: SceneObject) -> bool:
        now = by_uid.get(obj.uid)
        return (
            now is None
            or obj.key[0] not in in_scene
            or obj.key[0] in uids
            or obj.uid in uids
            or (obj.choice is not PARTS_MISSING and obj.choice != collision_shape.chosen(now))
            or any(map(is_edited, obj.parts))
        )

    return frozenset(obj.key for obj in objects if is_edited(obj))


def _why_without_surface(obj: SceneObject, name: str) -> str:
    if obj.is_scaled_away:
        axes = [axis for axis, column in zip("XYZ", obj.linear.T, strict=True) if not column.any()]
        along = f" along {' and '.join(axes)}" if len(axes) < 3 else ""
        return f"'{name}' is scaled to zero{along}, so it has no surface"
    return _only_edges(name, may_choose=obj.choice.source != "option")


def _only_edges(name: str, may_choose: bool = True) -> str:
    """may_choose: whether a collision shape of its own counts."""
    advice = ": choose Convex Hull as its collision shape if it is solid" if may_choose else ""
    return f"'{name}' has no faces, so it has no surface{advice}"


def _is_fluid_domain(obj: Any) -> bool:
    """Return whether the mesh of an object is a box in which a fluid is simulated, and never becomes its surface."""
    domains = [modifier.domain_settings for modifier in obj.modifiers if modifier.type == "FLUID"]
    return any(domain is not None and not (domain.domain_type == "LIQUID" and domain.use_mesh) for domain in domains)


def _particles_of(obj: bpy.types.Object) -> list[str]:
    """Return what the particle systems of an object make that are no instances, in words."""
    modifiers: list[Any] = [each for each in obj.modifiers if each.type == "PARTICLE_SYSTEM" and each.show_viewport]
    made = (each.particle_system.settings for each in modifiers)
    shown = [each for each in made if each is not None and each.render_type not in INSTANCING | {"NONE"}]
    return sorted({"hair" if each.type == "HAIR" else "particles" for each in shown})


_Body = tuple[SceneObject, bpy.types.Object]
"""An instance of a rigid body, and the object it is an instance of."""


class SceneReader:
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
        self.objects: list[SceneObject] = []
        self.skipped: list[Skipped] = []
        self.without_surface: list[SceneObject] = []
        """What has no faces, and no collision shape that needs none."""
        self._depsgraph = depsgraph
        self._geometries = geometries
        self._rules = rules
        self._only = only
        self._faults = faults or {}
        self._by_data: dict[tuple[int, str], Geometry] = {}
        self._collections: dict[int, set[object]] | None = None
        self._above: dict[int, frozenset[int]] = {}
        self._libraries: dict[int, str | None] = {}
        self._bodies = RigidBodies(depsgraph.scene, bpy.app.version)

    def read(self, objects: list[bpy.types.Object]) -> None:
        # Walking all instances of the scene takes long.
        wants_instances = self._only is None or any(key[2] for key in self._only)
        if not all(obj.show_instancer_for_viewport for obj in objects):
            wants_instances = True  # whether it makes some decides whether the object itself is there
        makers = self._instances({obj.session_uid for obj in objects}) if wants_instances else set()
        for obj in objects:
            has_surface = may_have_surface(obj) and not _is_fluid_domain(obj)
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
                    self._skip(obj.name, error, is_emptied=read.is_emptied(obj))
            for kind in _particles_of(obj):
                self._skip_kind(f"{kind} of {obj.name}", _no_surface(obj.name, f"has {kind}"))
        self.objects.sort(key=lambda found: (found.name, found.key))

    def _without_surface(self, obj: bpy.types.Object, makes_instances: bool) -> None:
        """Name what is no surface, and a collection instance without anything to check."""
        if obj.type in NO_SURFACE:
            data = obj.evaluated_get(self._depsgraph).data
            if makes_instances and len(getattr(data, HOLDS.get(obj.type, ""), (data,))) == 0:
                return
            self._skip_kind(obj.name, _no_surface(obj.name, f"is {NO_SURFACE[obj.type]}"))
        elif _is_fluid_domain(obj):
            self._skip_kind(obj.name, _no_surface(obj.name, IS_DOMAIN))
        elif obj.instance_type == "COLLECTION" and not makes_instances and obj not in self._faults:
            self.skipped.append(
                Skipped(obj.name, f"'{obj.name}' has no instances that can be checked", unchecked=False)
            )

    def _skip_kind(self, name: str, why: str) -> None:
        self.skipped.append(Skipped(name, why, unchecked=False, kind="no_surface"))

    def _skip(self, name: str, error: ReadError, is_emptied: bool = False) -> None:
        is_empty = isinstance(error, read.EmptyError)
        of_error = "hidden" if isinstance(error, read.HiddenError) else "geometry"
        self.skipped.append(Skipped(name, str(error), not is_empty, "emptied" if is_empty and is_emptied else of_error))

    def _fault(self, *objects: bpy.types.Object) -> str:
        """Why Blender may have evaluated one of the objects wrong; empty where nothing is known."""
        return next((self._faults[obj].reason for obj in objects if obj in self._faults), "")

    def _object(self, obj: bpy.types.Object, makes_instances: bool) -> None:
        evaluated = read.evaluated_object(obj, self._depsgraph)
        if makes_instances and not obj.show_instancer_for_viewport:
            return
        try:
            found = self.snapshot(obj, evaluated)
        except ReadError:
            if not makes_instances:  # else its instances are all there is of it
                raise
            return
        if found.has_surface:
            self.objects.append(found)
        else:
            self.without_surface.append(found)
            self._skip_kind(obj.name, _why_without_surface(found, obj.name))

    def snapshot(self, obj: bpy.types.Object, evaluated: bpy.types.Object) -> SceneObject:
        """Return an evaluated object, with its parts if it is a compound parent. Raises ReadError."""
        choice = collision_shape.wanted(obj, self._rules.shapes)
        linear, translation = read.world_matrix(obj.name, evaluated)
        found = SceneObject(
            key=(obj.session_uid, 0, ""),
            name=obj.name,
            object_name=obj.name,
            instancer_name=None,
            geometry=NOTHING if is_compound_parent(choice) else self._geometry(obj, evaluated),
            linear=linear,
            translation=translation,
            choice=choice,
            above=self._parents(obj),
            collections=self._in_collections(obj),
            fault=self._fault(obj),
            owner_matrix=matrix_numbers(obj),
            library=self._library(obj),
            body=self._bodies.of(obj, choice, linear),
        )
        if not is_compound_parent(choice):
            return found
        try:
            parts = [
                self.snapshot(child, read.evaluated_object(child, self._depsgraph))
                for child in collision_shape.children(obj)
            ]
        except read.EmptyError as error:  # of one part: there may be others
            raise ReadError(str(error)) from error
        return _with_parts(found, parts)

    def _instances(self, wanted: set[int]) -> set[int]:
        """Read the instances that the wanted objects make. Returns which objects make instances."""
        makers: dict[int, str] = {}
        without: dict[tuple[str, str], None] = {}
        empty: dict[bpy.types.Object, ReadError] = {}
        fluids: dict[tuple[int, int], bool] = {}
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
            if not may_have_surface(shown):
                if shown.type in NO_SURFACE:
                    words = _no_surface(maker.name, f"makes {NO_SURFACE[shown.type]}")
                    without.setdefault((maker.name, words))
                continue
            pair = maker.session_uid, source.session_uid
            if source != maker and pair not in fluids:  # once: there may be many instances
                thing = f"{source.name} of {maker.name}"
                fluids[pair] = _is_fluid_domain(source)
                if fluids[pair]:
                    without.setdefault((thing, _no_surface(thing, IS_DOMAIN)))
                for kind in _particles_of(source):
                    without.setdefault((f"{kind} of {thing}", _no_surface(thing, f"has {kind}")))
            if fluids.get(pair):
                continue
            number = ".".join(map(str, numbers))
            own = source.session_uid if source != maker else 0
            group = maker.session_uid, _without_own(number)
            if only is not None and group not in only:
                continue
            name = instance_name(source.name, number, maker.name)
            try:
                geometry = self._geometry(source, shown, maker)
                linear, translation = read.world_matrix(name, instance)
            except read.EmptyError as error:
                if source == maker and shown.type == "CURVE":  # of nodes, which give it no profile
                    without.setdefault((maker.name, _no_surface(maker.name, "makes curves")))
                else:
                    empty.setdefault(source, error)
                continue
            except ReadError as error:
                self._skip(name, error)
                continue
            of_collection = maker.instance_type == "COLLECTION"
            found = SceneObject(
                key=(maker.session_uid, own, number),
                name=name,
                object_name=source.name,
                instancer_name=maker.name,
                geometry=geometry,
                linear=linear,
                translation=translation,
                choice=collision_shape.wanted(source, self._rules.shapes),
                above=self._parents(maker) | (self._parents(source) if of_collection else frozenset()),
                collections=self._in_collections(maker, instance=True),
                fault=self._fault(source, maker),
                owner_matrix=matrix_numbers(maker),
                library=self._library(source),
                instancer_library=self._library(maker),
            )
            if found.has_surface:
                self.objects.append(found)
            else:
                self.without_surface.append(found)
                name = maker.name if source == maker else f"{source.name} of {maker.name}"
                without.setdefault((name, _why_without_surface(found, name)))
            if source.rigid_body is not None:
                together.setdefault(group, {})[source.session_uid] = found, source
        for name, why in without:
            self._skip_kind(name, why)
        for source, why_empty in empty.items():  # a sentence about the object itself
            self._skip(source.name, why_empty, is_emptied=read.is_emptied(source))
        parents = {parent.key: parent for bodies in together.values() for parent in _parents_of(bodies)}
        if parents:
            self.objects = [parents.get(found.key, found) for found in self.objects]
        if not self._rules.instances:
            for name in makers.values():
                reason = f"'{name}' has instances, which are left out"
                self.skipped.append(Skipped(name, reason, unchecked=False, kind="instances"))
        return set(makers)

    def _geometry(self, obj: bpy.types.Object, evaluated: bpy.types.Object, *makers: bpy.types.Object) -> Geometry:
        """Return the geometry of an evaluated object, or of an instance and what makes it. Raises ReadError."""
        place = (evaluated.data.as_pointer(), evaluated.type) if evaluated.data is not None else (0, "")
        is_mesh = evaluated.type == "MESH" and evaluated.data is not None
        known = self._by_data.get(place) if is_mesh else None
        if known is None:
            sources = tuple(one.session_uid for one in (obj, *makers))
            is_sculpted = obj.mode == "SCULPT"  # strokes are not evaluated
            known = self._geometries.unchanged((place, sources), sources) if is_mesh and not is_sculpted else None
            if known is None:
                with read.geometry(obj, evaluated) as (digest, read_arrays):
                    known = self._geometries.get(digest, read_arrays)
            self._geometries.note((place, sources), known)
            self._by_data[place] = known
        return known

    def _library(self, obj: bpy.types.Object) -> str | None:
        library = obj.library
        if library is None:
            return None
        if library.session_uid not in self._libraries:
            self._libraries[library.session_uid] = library_name(obj)
        return self._libraries[library.session_uid]

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


def _no_surface(name: str, kind: str) -> str:
    return f"'{name}' {kind}, which {'have' if kind.endswith('s') else 'has'} no surface"


def is_compound_parent(choice: Choice) -> bool:
    """Whether an object collides as its children do."""
    return choice.kind == COMPOUND and choice.source == "rigid_body"


def _with_parts(parent: SceneObject, parts: list[SceneObject]) -> SceneObject:
    """Return a compound parent with its parts and, as its geometry, all of theirs in world space."""
    first = np.cumsum([0, *(len(part.geometry.points) for part in parts)])
    triangles = [part.geometry.triangles + start for part, start in zip(parts, first[:-1].tolist(), strict=True)]
    geometry = Geometry(np.concatenate([part.points for part in parts]), np.concatenate(triangles), b"")
    fault = parent.fault or next((part.fault for part in parts if part.fault), "")
    body = parent.body
    if body is not None:  # as wide as the widest: a contact does not say of which part it is
        margin = max((part.body.margin for part in parts if part.body is not None), default=0.0)
        body = replace(body, margin=margin, box_margin=margin)
    return replace(
        parent, geometry=geometry, linear=np.eye(3), translation=np.zeros(3), parts=tuple(parts), fault=fault, body=body
    )


def _parents_of(bodies: dict[int, _Body]) -> list[SceneObject]:
    """Return the compound parents of what is instanced together, by `session_uid` of the objects, with their parts."""

    def whole(body: SceneObject, source: bpy.types.Object) -> SceneObject:
        if not is_compound_parent(body.choice):
            return body
        children = [bodies.get(child.session_uid) for child in collision_shape.children(source)]
        parts = [whole(*child) for child in children if child is not None]
        return _with_parts(body, parts) if parts else replace(body, choice=PARTS_MISSING)

    return [whole(body, source) for body, source in bodies.values() if is_compound_parent(body.choice)]


def _without_own(number: str) -> str:
    """An instance's number without its own part: the same for all that is instanced together."""
    return number.partition(".")[2]
