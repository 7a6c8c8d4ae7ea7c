# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated Blender objects copied into arrays: vertices, triangles, world matrix, and a digest of the geometry."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.types import FloatArray
from ..data.objects import TYPES_WITH_SURFACE, matrix_numbers, unsupported_reason

ReadArrays = Callable[[], tuple[NDArray[np.float32], NDArray[np.int32]]]
"""Reads local vertices (n, 3) and triangles (t, 3)."""

_NO_NUMBER = 0x7FFFFFFF
"""What Blender fills the unused places of a persistent id with."""
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


class ReadError(ValueError):
    """Why an object cannot be inspected, as a sentence that names it."""


class EmptyError(ReadError):
    """The object has no geometry."""


class HiddenError(ReadError):
    """The object is not evaluated, so neither its place nor its geometry is known."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' is hidden, so Blender does not evaluate it: show it to inspect it")
        self.name = name


class NotFiniteError(ReadError):
    """Coordinates of vertices are not finite."""

    def __init__(self, obj: bpy.types.Object) -> None:
        self.object = obj
        self.vertices = np.flatnonzero(~np.isfinite(_unmodified_points(obj)).all(axis=1))
        """The indices of these vertices in the object's own mesh; none if its modifiers or shape keys make them."""
        number = max(1, len(self.vertices))
        words = "a vertex" if number == 1 else f"{number:,} vertices"
        sentence = f"'{obj.name}' has {words} whose coordinates are not finite"
        if len(self.vertices):
            others = f" and {number - 1:,} more" if number > 1 else ""
            super().__init__(f"{sentence}: remove vertex {self.vertices[0]}{others}")
        elif origin := _origin_of_points(obj):
            super().__init__(f"{sentence}: change {origin}")
        else:
            super().__init__(f"{sentence}: remove it")


def points(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> FloatArray:
    """Read the vertices (n, 3) of the evaluated object in world space. Raises what `read` raises."""
    evaluated, linear, translation = _placed(obj, depsgraph)
    with _evaluated_mesh(obj, evaluated) as mesh:
        return _moved(_checked_points(obj, mesh), linear, translation)


def bounds(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[FloatArray, FloatArray]:
    """Return the corners low and high (3,) of a box around the vertices of the evaluated object in world space.

    Of many vertices found in single precision, twice as fast as from `points`, and wider than needed by what that
    loses: some 1e-6 of the largest coordinate. Raises what `read` raises.
    """
    evaluated, linear, translation = _placed(obj, depsgraph)
    with _evaluated_mesh(obj, evaluated) as mesh:
        local = _points(obj, mesh)
        largest = _largest(obj, local)
        if len(local) <= _EXACT:
            return _exact_bounds(local, linear, translation)
        single, part = linear.astype(np.float32), np.empty((3, min(_PART_IN_SINGLE, len(local))), dtype=np.float32)
        low, high = np.full(3, np.inf, dtype=np.float32), np.full(3, -np.inf, dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(local), _PART_IN_SINGLE):
                chunk = local[begin : begin + _PART_IN_SINGLE].T
                placed = np.matmul(single, chunk, out=part[:, : chunk.shape[1]])
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
    evaluated, linear, translation = _placed(obj, depsgraph)
    with _evaluated_mesh(obj, evaluated) as mesh:
        return _moved(_checked_points(obj, mesh), linear, translation), _triangles(mesh, _faces(mesh))


def faces_of_triangles(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> NDArray[np.int32] | None:
    """Return (t,) the face of the object's own mesh that each triangle of the evaluated object is of; None where its
    modifiers make other faces. Raises ReadError."""
    if obj.mode == "EDIT":
        obj.update_from_editmode()
    with _evaluated_mesh(obj, evaluated_object(obj, depsgraph)) as mesh:
        own: Any = obj.data
        if (len(own.loops), len(own.polygons)) != (len(mesh.loops), len(mesh.polygons)):
            return None
        faces = _faces(mesh)
        corners, begins = np.empty_like(faces.corners), np.empty_like(faces.begins)
        own.loops.foreach_get("vertex_index", corners)  # in Edit Mode it has no attributes
        own.polygons.foreach_get("loop_start", begins)
        if not (np.array_equal(corners, faces.corners) and np.array_equal(begins, faces.begins)):
            return None
        mesh.calc_loop_triangles()
        found = np.empty(len(mesh.loop_triangles), dtype=np.int32)
        mesh.loop_triangles.foreach_get("polygon_index", found)
        return found


@contextmanager
def geometry(obj: bpy.types.Object, evaluated: bpy.types.Object) -> Iterator[tuple[bytes, ReadArrays]]:
    """Give the digest of the geometry of an evaluated object or instance, and what reads it, while the context lasts.

    Triangles take longest, and need not be read of what is known. Raises ReadError when there is no finite, non-empty
    geometry.
    """
    with _evaluated_mesh(obj, evaluated) as mesh:
        own, faces = _checked_points(obj, mesh), _faces(mesh)
        yield _digest(own, faces), lambda: (own, _triangles(mesh, faces))


def _placed(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[bpy.types.Object, FloatArray, FloatArray]:
    """Return the evaluated object, and the linear part and translation of its world matrix."""
    if reason := unsupported_reason(obj):
        raise ReadError(reason)
    evaluated = evaluated_object(obj, depsgraph)
    return evaluated, *world_matrix(obj.name, evaluated)


def evaluated_object(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
    """Return the evaluated object. Raises HiddenError when there is none."""
    evaluated = obj.evaluated_get(depsgraph)
    # A hidden object may have been evaluated while it was visible, and be out of date since.
    if not obj.visible_get(view_layer=depsgraph.view_layer) or not evaluated.is_evaluated:
        raise HiddenError(obj.name)
    return evaluated


def world_matrix(name: str, obj: bpy.types.Object | bpy.types.DepsgraphObjectInstance) -> tuple[FloatArray, FloatArray]:
    """Return the linear part (3, 3) and the translation (3,) of the world matrix of an object or instance.

    Raises ReadError, with that name, when they are not finite.
    """
    numbers = matrix_numbers(obj)
    if not math.isfinite(sum(numbers)):
        raise ReadError(f"The world matrix of '{name}' is not finite: clear its transforms")
    matrix = np.array(numbers).reshape(4, 4)
    return matrix[:3, :3], matrix[:3, 3]


def _moved(points: NDArray[np.float32], linear: FloatArray, translation: FloatArray) -> FloatArray:
    """Return local points (n, 3) in world space, float64; in memory column by column, along which bounds are found.

    In parts that fit the cache: ten times as fast as in one expression, whose arrays the system hands out page by page.
    """
    moved = np.empty((3, len(points)))
    affine = np.column_stack([linear, translation])
    part = np.ones((4, _PART))
    for begin in range(0, len(points), _PART):
        chunk = points[begin : begin + _PART].T
        part[:3, : chunk.shape[1]] = chunk
        np.matmul(affine, part[:, : chunk.shape[1]], out=moved[:, begin : begin + _PART])
    return moved.T


def _checked_points(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """(n, 3) local coordinates, as Blender stores them: n > 0, all finite."""
    found = _points(obj, mesh)
    _largest(obj, found)
    return found


def _largest(obj: bpy.types.Object, points: NDArray[np.float32]) -> float:
    """The largest absolute coordinate. Raises ReadError when one is not finite."""
    largest = max(float(points.max()), -float(points.min()))
    if not np.isfinite(largest):
        raise NotFiniteError(obj)
    return largest


def _unmodified_points(obj: bpy.types.Object) -> NDArray[np.float32]:
    """Return the local vertices (n, 3) of the object's own mesh, as it is being edited; none where it is no mesh."""
    own = obj.data
    if not isinstance(own, bpy.types.Mesh):
        return np.zeros((0, 3), dtype=np.float32)
    if obj.mode == "EDIT":
        vertices = bmesh.from_edit_mesh(own).verts
        return np.array([vertex.co for vertex in vertices], dtype=np.float32).reshape(-1, 3)
    return _points(obj, own) if len(own.vertices) else np.zeros((0, 3), dtype=np.float32)


def _origin_of_points(obj: bpy.types.Object) -> str:
    """Return what may have moved the vertices of the object's own mesh; empty for nothing."""
    keys = getattr(obj.data, "shape_keys", None)
    for key in () if keys is None else keys.key_blocks:
        if not np.isfinite([point.co for point in key.data]).all():
            return f"the shape key '{key.name}'"
    shown = [modifier.name for modifier in obj.modifiers if modifier.show_viewport]
    if len(shown) == 1:
        return f"the modifier '{shown[0]}'"
    return "its modifiers" if shown else ""


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
        raise ReadError(_no_mesh(obj.name, f": {error}")) from error
    try:
        if mesh is None:
            raise EmptyError(_no_mesh(obj.name, _hint_when_empty(obj)))
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def _no_mesh(name: str, details: str) -> str:
    return f"'{name}' has no mesh{details}"


def is_emptied(obj: bpy.types.Object) -> bool:
    """Return whether an object without geometry has faces of its own, of which its modifiers leave nothing."""
    return isinstance(obj.data, bpy.types.Mesh) and len(obj.data.polygons) > 0


def _hint_when_empty(obj: bpy.types.Object) -> str:
    if obj.type == "META":
        return ": only the first of merged metaballs has the mesh"
    return " after its modifiers are evaluated" if len(obj.modifiers) else ""


def _points(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """(n, 3) local coordinates, as Blender stores them. Raises EmptyError when there are none."""
    count = len(mesh.vertices)
    if count == 0:
        raise EmptyError(f"'{obj.name}' has no vertices{_hint_when_empty(obj)}")
    points = np.empty((count, 3), dtype=np.float32)
    # 20 times faster than reading `vertices`.
    mesh.attributes["position"].data.foreach_get("vector", points.ravel())  # type: ignore[attr-defined]
    return points


class _MeshFaces(NamedTuple):
    """The faces of a mesh, as Blender stores them."""

    corners: NDArray[np.int32]
    """(c,) the vertex of each corner of each face."""
    begins: NDArray[np.int32]
    """(f,) where the corners of each face begin."""


def _faces(mesh: bpy.types.Mesh) -> _MeshFaces:
    found = _MeshFaces(np.empty(len(mesh.loops), dtype=np.int32), np.empty(len(mesh.polygons), dtype=np.int32))
    if len(found.corners):
        mesh.attributes[".corner_vert"].data.foreach_get("value", found.corners)  # type: ignore[attr-defined]
        mesh.polygons.foreach_get("loop_start", found.begins)
    return found


def _triangles(mesh: bpy.types.Mesh, faces: _MeshFaces) -> NDArray[np.int32]:
    corners, begins = faces
    if len(corners) == 3 * len(begins) and np.array_equal(begins, np.arange(0, len(corners), 3)):  # all are triangles
        return corners.reshape(-1, 3)
    mesh.calc_loop_triangles()
    places = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
    mesh.loop_triangles.foreach_get("loops", places.ravel())  # twice as fast as their vertices
    return corners.take(places)


def _digest(points: NDArray[np.float32], faces: _MeshFaces) -> bytes:
    """Two geometries with the same digest are the same."""
    digest = hashlib.blake2b(b"%d points, %d corners:" % (len(points), len(faces.corners)), digest_size=16)
    for array in (points, *faces):
        digest.update(array.data)
    return digest.digest()


def numbers_of(instance: bpy.types.DepsgraphObjectInstance) -> tuple[int, ...]:
    """Return the numbers that identify an instance: its own, that of the instance it is in, and so on."""
    numbers: Iterable[int] = instance.persistent_id  # type: ignore[assignment]
    return tuple(number for number in numbers if number != _NO_NUMBER)


def mesh_of(instance: bpy.types.DepsgraphObjectInstance) -> tuple[int, ...] | None:
    """Return the numbers of the thing of which an instance may be the mesh, else None.

    Blender lists the mesh of a curve, surface, text or metaball as an instance beside the thing itself, with the number
    0 before the numbers of that; which has none when it is no instance.
    """
    first, *others = numbers_of(instance)
    shown = instance.object
    is_mesh = shown.type == "MESH" and shown.original.type in TYPES_WITH_SURFACE - {"MESH"}
    return tuple(others) if is_mesh and first == 0 else None


def makes_instances(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Return whether the object makes instances, which are not part of its mesh."""
    if obj.instance_type == "NONE" and not any(modifier.type == "NODES" for modifier in obj.modifiers):
        return False
    made = [
        instance.is_instance
        and instance.parent is not None
        and instance.parent.original == obj
        and mesh_of(instance) != ()
        for instance in depsgraph.object_instances  # all of them: Blender leaks the iterator of a loop left early
    ]
    return any(made)
