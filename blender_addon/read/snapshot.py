# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender objects read as shapes: the evaluated geometry, the full world matrix, float64.

First what matters is copied out of Blender (`copied`); then the shape is made of that (`shaped`), in any thread.
What is costly (the convex hulls, the search for the deepest dent) is remembered under a digest of the geometry itself,
not under the name or address of a mesh: no edit, undo or file load can make a remembered hull wrong.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.compounds.compound import Compound
from ...core.decomposition.concavity import Concavity, max_concavity
from ...core.decomposition.mesh_pieces import mesh_pieces
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid, solid_facets
from ...core.progress import Progress
from ...core.shapes.curved_shape import ConvexShape
from ...core.shapes.hull import ConvexHull
from ...core.types import FloatArray
from ..check.session import State, matrix_numbers
from . import collision_shape
from .collision_shape import Choice, Fit
from .collision_solid import Part, compound_of, covers_hull, joined, kind_for, placed_mesh, placed_pieces, step_at

TYPES_WITH_SURFACE = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})
_NO_NUMBER = 0x7FFFFFFF
"""What Blender fills the unused places of a persistent id with."""
REMEMBERED = 16
"""Hulls kept; the least recently used go first."""
_PART = 8192
"""Points that are moved at a time."""
_PART_IN_SINGLE = 25_000
"""The same in single precision: of more the system's BLAS calls other threads, which takes longer than the work."""
_EXACT = 10_000
"""Points up to which bounds are found in double precision, which of so few takes hardly longer."""
_SINGLE = np.finfo(np.float32)
_ROUNDING = 2.0 * float(_SINGLE.eps)
"""Times the sum of three products' magnitudes: what adding them up in single precision loses at most."""
_VANISHING = 4.0 * float(_SINGLE.tiny)
"""More than what is lost where these are too small for single precision."""

HULL = Choice(collision_shape.CONVEX_HULL, "chosen")


class ReadError(ValueError):
    """Why an object cannot be inspected, as a sentence that names it."""


class EmptyError(ReadError):
    """The object has no geometry."""


class HiddenError(ReadError):
    """The object is not evaluated, so nobody knows where it is and what it looks like now."""

    def __init__(self, name: str, more: str) -> None:
        """`more`: what to say after that the object of that name is hidden."""
        super().__init__(f"'{name}' is hidden, {more}")
        self.name = name


@dataclass(frozen=True, eq=False)
class Copied:
    """What of an object decides how it is inspected, copied out of Blender."""

    name: str
    state: State
    linear: FloatArray
    """(3, 3) of the world matrix."""
    translation: FloatArray
    """(3,) of the world matrix."""
    points: NDArray[np.float32]
    """(n, 3) local coordinates, just as Blender holds them."""
    triangles: NDArray[np.int32]
    """(t, 3) numbers of these."""
    children: tuple[Copied, ...] = ()
    """The parts of a compound parent, each a rigid body of its own."""


@dataclass(frozen=True, eq=False)
class Shape:
    """One object as it is inspected."""

    hull: ConvexHull
    """The convex hull of the mesh, world space."""
    dent: Concavity
    """How far the mesh is from its hull."""
    solid: Solid
    """What the object collides as, world space."""
    kind: str
    """Which shape `solid` is, as in `collision_shape`."""
    choice: Choice
    """What was asked for."""
    fit: Fit | None
    """How far a primitive is from the mesh; None for the hull."""
    mesh: Mesh | None
    """The mesh in world space, of a compound of its pieces or a mesh."""
    make_pieces: Callable[[], Decomposition] | None = field(repr=False)
    """Makes the convex pieces that stand for the mesh, in world space; or finds them where they are known."""
    state: State
    step: float
    """Blender units: spacing of float32 at the largest coordinate that took part."""


Value = TypeVar("Value")
ReadArrays = Callable[[], tuple[NDArray[np.float32], NDArray[np.int32]]]
"""Reads local vertices (n, 3) and triangles (t, 3)."""


class _Memory(Generic[Value]):
    """The last few values made."""

    def __init__(self) -> None:
        self._values: OrderedDict[object, Value] = OrderedDict()
        self._lock = threading.Lock()  # shapes are made in more threads than one

    def get(self, key: object, make: Callable[[], Value]) -> Value:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            if len(self._values) > REMEMBERED:
                self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


_local_hulls: _Memory[ConvexHull] = _Memory()
_world_hulls: _Memory[ConvexHull] = _Memory()
_dents: _Memory[tuple[Concavity, FloatArray]] = _Memory()
_primitives: _Memory[ConvexShape] = _Memory()
_compounds: _Memory[Compound] = _Memory()
_meshes: _Memory[Mesh] = _Memory()
_local_pieces: _Memory[Decomposition] = _Memory()
_pieces: _Memory[Decomposition] = _Memory()
_fits: _Memory[Fit] = _Memory()
_parents: _Memory[tuple[Compound, Decomposition, ConvexHull, Concavity]] = _Memory()
_MEMORIES: tuple[_Memory[Any], ...] = (
    _local_hulls,
    _world_hulls,
    _dents,
    _primitives,
    _compounds,
    _meshes,
    _local_pieces,
    _pieces,
    _fits,
    _parents,
)


def forget() -> None:
    """Let go of everything remembered."""
    for memory in _MEMORIES:
        memory.clear()


def why_not(obj: bpy.types.Object) -> str:
    """Why an object of this kind cannot be inspected, or an empty string."""
    if obj.type in TYPES_WITH_SURFACE:
        return ""
    if obj.type == "EMPTY" and obj.instance_type == "COLLECTION":
        return (
            f"'{obj.name}' is an instance of a collection: make its instances real to inspect them, or use Check Scene"
        )
    types = obj.bl_rna.properties["type"].enum_items  # type: ignore[attr-defined]
    kind = types[obj.type].name.lower()
    return f"'{obj.name}' is of type {kind} and has no surface to inspect"


def read(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, hull_only: bool = False) -> Shape:
    """Read the evaluated object as the shape it collides as, in world space; as its hull, when only that is wanted.

    Raises ReadError when it has no finite, non-empty geometry, HiddenError when Blender does not evaluate it.
    """
    return shaped(copied(obj, depsgraph, hull_only))


def copied(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, hull_only: bool = False) -> Copied:
    """Copy the evaluated object out of Blender. Raises what `read` raises of that."""
    return _copied(obj, depsgraph, hull_only)


def state_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> State:
    """Return where the object is and what it is made of. Raises what `read` raises of that."""
    return _copied(obj, depsgraph, state_only=True).state


def _copied(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, hull_only: bool = False, state_only: bool = False
) -> Copied:
    """Copy the evaluated object; without its triangles, which take longest, when only its state is wanted."""
    choice = HULL if hull_only else collision_shape.chosen(obj)
    evaluated, numbers, linear, translation = _placed(obj, depsgraph)
    if choice.kind == collision_shape.COMPOUND and choice.source == "rigid_body":
        children = tuple(_copied(child, depsgraph, state_only=state_only) for child in collision_shape.children(obj))
        digest = hashlib.blake2b(digest_size=16)
        for child in children:
            digest.update(child.state.digest + repr((child.state.matrix, child.state.choice)).encode())
        state = State(numbers, digest.digest(), choice)
        nothing = np.zeros((0, 3))
        return Copied(
            obj.name, state, linear, translation, nothing.astype(np.float32), nothing.astype(np.int32), children
        )
    if _makes_instances(obj, depsgraph):  # first of all: of nothing but instances the mesh is empty
        raise ReadError(
            f"'{obj.name}' makes instances, which are not part of its mesh: "
            "make them real to inspect them, or use Check Scene"
        )
    with _evaluated_mesh(obj, evaluated) as mesh:
        points, faces = _checked_points(obj, mesh), _faces(mesh)
        state = State(numbers, _digest(points, faces), choice)
        triangles = np.zeros((0, 3), dtype=np.int32) if state_only else _triangles(mesh, faces)
        return Copied(obj.name, state, linear, translation, points, triangles)


def shaped(copy: Copied, progress: Progress | None = None, flat: bool = False) -> Shape:
    """Return the shape that an object collides as, of what was copied; Blender is not asked.

    flat: it is to be laid into a plane, where a compound is made of the outline of its mesh: `solid` is the mesh then.

    Raises ReadError when its geometry does not allow the shape, and Cancelled.
    """
    if copy.children:
        return _compound_of(copy, progress)
    state, linear, translation, triangles = copy.state, copy.linear, copy.translation, copy.triangles
    choice, digest, numbers = state.choice, state.digest, state.matrix
    local = copy.points.astype(np.float64)
    local_hull = _local_hulls.get(digest, lambda: ConvexHull(local))
    corners = local_hull.vertices @ linear.T + translation
    hull = _world_hulls.get((digest, numbers), lambda: ConvexHull(corners))
    dent, place = _dents.get(
        (digest, _stretch(linear)),
        lambda: _dent(hull, local_hull.vertex_ids[hull.vertex_ids], local, triangles, linear, translation),
    )
    fit: Fit | None = None
    solid: Solid = hull
    world_mesh: Mesh | None = None
    make_pieces: Callable[[], Decomposition] | None = None
    kind = kind_for(choice, len(triangles) > 0, lambda: covers_hull(dent, hull.magnitude))
    if kind in collision_shape.PRIMITIVES:
        at_origin = choice.source == "rigid_body"
        try:
            # Kept, for what is kept on the GPU and for the pictures is found by the shape itself.
            primitive = _primitives.get(
                (digest, numbers, kind, at_origin),
                lambda: collision_shape.fitted(
                    kind, local.min(axis=0), local.max(axis=0), linear, translation, at_origin
                ),
            )
        except ValueError as error:
            raise ReadError(f"'{copy.name}' {error}") from error
        fit = _fits.get(
            (digest, _stretch(linear), kind, at_origin),
            lambda: collision_shape.fit_of(primitive, hull.vertices, local @ linear.T + translation, triangles),
        )
        solid = primitive
    elif kind in (collision_shape.COMPOUND, collision_shape.MESH):
        try:
            world_mesh = _meshes.get(
                (digest, numbers), lambda: placed_mesh(kind, local, triangles, linear, translation)
            )
        except ValueError as error:
            raise ReadError(f"'{copy.name}' {error}") from error
        make_pieces = _pieces_of(digest, numbers, local, triangles, linear, translation, progress)
        solid = world_mesh
        if kind == collision_shape.COMPOUND and not flat:
            pieces = make_pieces()
            try:
                solid = _compounds.get((digest, numbers), lambda: compound_of(pieces))
            except ValueError as error:
                raise ReadError(f"'{copy.name}' {error}") from error
    return Shape(
        hull=hull,
        dent=replace(dent, point=linear @ place + translation),
        solid=solid,
        kind=kind,
        choice=choice,
        fit=fit,
        mesh=world_mesh,
        make_pieces=make_pieces,
        state=state,
        step=step_at(hull.magnitude, float(np.abs(local_hull.vertices).max()), linear),
    )


def _compound_of(copy: Copied, progress: Progress | None) -> Shape:
    """Return the shape of a compound parent: what its children collide as."""
    state = copy.state
    parts = [shaped(child, progress) for child in copy.children]

    def made_of_parts() -> tuple[Compound, Decomposition, ConvexHull, Concavity]:
        compound, exact, distance, reason = joined(
            Part(child.name, part.solid, part.make_pieces) for child, part in zip(copy.children, parts, strict=True)
        )
        # The dent is only looked at, so facets do.
        facets = solid_facets(f"'{copy.name}'", compound)
        assert facets.pieces is not None
        hull = ConvexHull(facets.mesh.points)
        dent = max_concavity(hull, hull.vertex_ids, facets.mesh.points, facets.mesh.triangles)
        made = Decomposition(facets.pieces.pieces, exact, distance, -1, "the children are its pieces", reason)
        return compound, made, hull, dent

    try:
        solid, pieces, hull, dent = _parents.get((state.digest, state.matrix), made_of_parts)
    except ValueError as error:
        raise ReadError(f"'{copy.name}' {error}") from error
    return Shape(
        hull=hull,
        dent=dent,
        solid=solid,
        kind=collision_shape.COMPOUND,
        choice=state.choice,
        fit=None,
        mesh=None,
        make_pieces=lambda: pieces,
        state=state,
        step=max(part.step for part in parts),
    )


def _pieces_of(
    digest: bytes,
    numbers: tuple[float, ...],
    local: FloatArray,
    triangles: NDArray[np.int32],
    linear: FloatArray,
    translation: FloatArray,
    progress: Progress | None,
) -> Callable[[], Decomposition]:
    """Return what makes the convex pieces of a mesh in world space. They are cut once, where the mesh is at home."""

    def moved() -> Decomposition:
        found = _local_pieces.get(
            digest, lambda: mesh_pieces(Mesh(local, triangles.astype(np.intp)), progress=progress)
        )
        return placed_pieces(found, linear, translation)

    return lambda: _pieces.get((digest, numbers), moved)


def points(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> FloatArray:
    """Read the vertices (n, 3) of the evaluated object in world space. Raises what `read` raises."""
    evaluated, _, linear, translation = _placed(obj, depsgraph)
    with _evaluated_mesh(obj, evaluated) as mesh:
        return _moved(_checked_points(obj, mesh), linear, translation)


def bounds(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[FloatArray, FloatArray]:
    """Return the corners low and high (3,) of a box that holds the vertices of the evaluated object in world space.

    Of many vertices found in single precision, twice as fast as from `points`, and wider than needed by what that
    loses: some 1e-6 of the largest coordinate. Raises what `read` raises.
    """
    evaluated, _, linear, translation = _placed(obj, depsgraph)
    with _evaluated_mesh(obj, evaluated) as mesh:
        local = _points(obj, mesh)
        largest = _largest(obj, local)
        if len(local) <= _EXACT:
            return _exact_bounds(local, linear, translation)
        single, part = linear.astype(np.float32), np.empty((3, min(_PART_IN_SINGLE, len(local))), dtype=np.float32)
        low, high = np.full(3, np.inf, dtype=np.float32), np.full(3, -np.inf, dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(local), _PART_IN_SINGLE):
                some = local[begin : begin + _PART_IN_SINGLE].T
                placed = np.matmul(single, some, out=part[:, : some.shape[1]])
                low, high = np.minimum(low, placed.min(axis=1)), np.maximum(high, placed.max(axis=1))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):  # beyond single precision
            return _exact_bounds(local, linear, translation)
        room = _ROUNDING * largest * np.abs(linear).sum(axis=1) + _VANISHING
        low, high = low.astype(np.float64) - room + translation, high.astype(np.float64) + room + translation
        return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


def _exact_bounds(
    points: NDArray[np.float32], linear: FloatArray, translation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    moved = _moved(points, linear, translation)
    return moved.min(axis=0), moved.max(axis=0)


def triangles(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[FloatArray, NDArray[np.int32]]:
    """Read the vertices (n, 3) of the evaluated object in world space, and its triangles (t, 3) as numbers of these.

    Raises what `read` raises.
    """
    evaluated, _, linear, translation = _placed(obj, depsgraph)
    with _evaluated_mesh(obj, evaluated) as mesh:
        return _moved(_checked_points(obj, mesh), linear, translation), _triangles(mesh, _faces(mesh))


@contextmanager
def geometry(obj: bpy.types.Object, evaluated: bpy.types.Object) -> Iterator[tuple[bytes, ReadArrays]]:
    """Give the digest of the geometry of an evaluated object or instance, and what reads it, while the context lasts.

    Triangles take longest, and need not be read of what is known. Raises ReadError when there is no finite, non-empty
    geometry.
    """
    with _evaluated_mesh(obj, evaluated) as mesh:
        own, faces = _checked_points(obj, mesh), _faces(mesh)
        yield _digest(own, faces), lambda: (own, _triangles(mesh, faces))


def _placed(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> tuple[bpy.types.Object, tuple[float, ...], FloatArray, FloatArray]:
    """Return the evaluated object, the 16 numbers of its world matrix, and its linear part and translation."""
    reason = why_not(obj)
    if reason:
        raise ReadError(reason)
    evaluated = obj.evaluated_get(depsgraph)
    # What is hidden may have been evaluated while it was seen, and be out of date since.
    if not obj.visible_get(view_layer=depsgraph.view_layer) or not evaluated.is_evaluated:
        raise HiddenError(obj.name, "so Blender evaluates neither its modifiers nor its place: show it to inspect it")
    return evaluated, *world_matrix(obj.name, evaluated)


def world_matrix(
    name: str, obj: bpy.types.Object | bpy.types.DepsgraphObjectInstance
) -> tuple[tuple[float, ...], FloatArray, FloatArray]:
    """Return the 16 numbers of the world matrix of an object or instance, its linear part (3, 3) and translation (3,).

    Raises ReadError, with that name, when they are not finite.
    """
    numbers = matrix_numbers(obj)
    if not math.isfinite(sum(numbers)):
        raise ReadError(f"'{name}' has a world matrix that is not finite")
    matrix = np.array(numbers).reshape(4, 4)
    return numbers, matrix[:3, :3], matrix[:3, 3]


def _moved(points: NDArray[np.float32], linear: FloatArray, translation: FloatArray) -> FloatArray:
    """Return local points (n, 3) in world space, float64; in memory column by column, along which bounds are found.

    In parts that fit the cache: ten times as fast as in one expression, whose arrays the system hands out page by page.
    """
    moved = np.empty((3, len(points)))
    affine = np.column_stack([linear, translation])
    part = np.ones((4, _PART))
    for begin in range(0, len(points), _PART):
        some = points[begin : begin + _PART].T
        part[:3, : some.shape[1]] = some
        np.matmul(affine, part[:, : some.shape[1]], out=moved[:, begin : begin + _PART])
    return moved.T


def _checked_points(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """(n, 3) local coordinates, just as Blender holds them: n > 0, all finite."""
    found = _points(obj, mesh)
    _largest(obj, found)
    return found


def _largest(obj: bpy.types.Object, points: NDArray[np.float32]) -> float:
    """The largest absolute coordinate. Raises ReadError when one is not finite."""
    largest = max(float(points.max()), -float(points.min()))
    if not np.isfinite(largest):
        raise ReadError(f"'{obj.name}' has a vertex whose coordinates are not finite")
    return largest


@contextmanager
def _evaluated_mesh(obj: bpy.types.Object, evaluated: bpy.types.Object) -> Iterator[bpy.types.Mesh]:
    own = obj.data
    if obj.mode == "SCULPT" and isinstance(own, bpy.types.Mesh) and not len(obj.modifiers) and own.shape_keys is None:
        # Strokes go into the mesh itself, which is not evaluated again until Sculpt Mode is left.
        if obj.use_dynamic_topology_sculpting:
            raise ReadError(f"'{obj.name}' is sculpted with dynamic topology: leave Sculpt Mode to inspect it")
        yield own
        return
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError as error:
        raise ReadError(f"'{obj.name}' has no mesh: {error}") from error
    try:
        if mesh is None:
            raise EmptyError(f"'{obj.name}' has no mesh{_hint_when_empty(obj)}")
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def _hint_when_empty(obj: bpy.types.Object) -> str:
    if obj.type == "META":
        return ": of metaballs that melt together, the first one carries the mesh"
    return " once its modifiers are applied" if len(obj.modifiers) else ""


def _points(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """(n, 3) local coordinates, just as Blender holds them. Raises EmptyError when there are none."""
    count = len(mesh.vertices)
    if count == 0:
        raise EmptyError(f"'{obj.name}' has no vertices{_hint_when_empty(obj)}")
    points = np.empty((count, 3), dtype=np.float32)
    # 20 times faster than reading `vertices`.
    mesh.attributes["position"].data.foreach_get("vector", points.ravel())  # type: ignore[attr-defined]
    return points


class _Faces(NamedTuple):
    """The faces of a mesh, just as Blender holds them."""

    corners: NDArray[np.int32]
    """(c,) the vertex of each corner of each face."""
    begins: NDArray[np.int32]
    """(f,) where the corners of each face begin."""


def _faces(mesh: bpy.types.Mesh) -> _Faces:
    found = _Faces(np.empty(len(mesh.loops), dtype=np.int32), np.empty(len(mesh.polygons), dtype=np.int32))
    if len(found.corners):
        mesh.attributes[".corner_vert"].data.foreach_get("value", found.corners)  # type: ignore[attr-defined]
        mesh.polygons.foreach_get("loop_start", found.begins)
    return found


def _triangles(mesh: bpy.types.Mesh, faces: _Faces) -> NDArray[np.int32]:
    corners, begins = faces
    if len(corners) == 3 * len(begins) and np.array_equal(begins, np.arange(0, len(corners), 3)):  # all are triangles
        return corners.reshape(-1, 3)
    mesh.calc_loop_triangles()
    places = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
    mesh.loop_triangles.foreach_get("loops", places.ravel())  # twice as fast as their vertices
    return corners.take(places)


def _digest(points: NDArray[np.float32], faces: _Faces) -> bytes:
    """Two geometries with the same digest are the same."""
    digest = hashlib.blake2b(b"%d points, %d corners:" % (len(points), len(faces.corners)), digest_size=16)
    for array in (points, *faces):
        digest.update(array.data)
    return digest.digest()


def _stretch(linear: FloatArray) -> tuple[float, ...]:
    """What a matrix does to lengths: the same for all places and turns of one object, up to the matrix's rounding."""
    gram = linear.T @ linear
    size = float(np.sqrt(gram.trace()))
    if size == 0.0:
        return (0.0,)
    return (float(f"{size:.5g}"), *(round(g, 5) for g in (gram / size**2).ravel().tolist()))


def _dent(
    hull: ConvexHull,
    corner_ids: NDArray[np.integer],
    local: FloatArray,
    triangles: NDArray[np.int32],
    linear: FloatArray,
    translation: FloatArray,
) -> tuple[Concavity, FloatArray]:
    """The dent, and its deepest point in local space."""
    dent = max_concavity(hull, corner_ids, local @ linear.T + translation, triangles)
    return dent, np.linalg.pinv(linear) @ (dent.point - translation)


def numbers_of(instance: bpy.types.DepsgraphObjectInstance) -> tuple[int, ...]:
    """Return what tells an instance from others of what makes it: its own number, that of what it is in, and so on."""
    numbers: Iterable[int] = instance.persistent_id  # type: ignore[assignment]
    return tuple(number for number in numbers if number != _NO_NUMBER)


def mesh_of(instance: bpy.types.DepsgraphObjectInstance) -> tuple[int, ...] | None:
    """Return the numbers of the thing of which an instance may be the mesh, else None.

    Blender lists the mesh of a curve, surface, text or metaball as an instance beside the thing itself, with the number
    0 before the numbers of that; which has none when it is no instance.
    """
    first, *rest = numbers_of(instance)
    shown = instance.object
    is_mesh = shown.type == "MESH" and shown.original.type in TYPES_WITH_SURFACE - {"MESH"}
    return tuple(rest) if is_mesh and first == 0 else None


def _makes_instances(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    if obj.instance_type == "NONE" and not any(modifier.type == "NODES" for modifier in obj.modifiers):
        return False
    # All the way through: Blender leaks the iterator of a loop that is left early.
    return (
        sum(
            instance.is_instance
            and instance.parent is not None
            and instance.parent.original == obj
            and mesh_of(instance) != ()
            for instance in depsgraph.object_instances
        )
        > 0
    )
