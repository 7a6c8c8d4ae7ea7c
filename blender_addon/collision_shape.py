# SPDX-License-Identifier: GPL-3.0-or-later
"""What an object collides as: the person's choice, and primitives fitted to it as Blender's rigid bodies fit theirs.

A primitive is made from the local bounding box of the evaluated mesh. Its half sizes are measured in the world, so the
object's scale counts as if it had been applied:

* box: the bounding box itself, sheared where the object is;
* sphere: the largest half size is the radius;
* capsule, cylinder, cone: upright along local Z, the larger half size of X and Y is the radius. The height is that of
  the bounding box, a capsule's round ends included; a capsule is never lower than a sphere.

All are centred in the bounding box. Two things differ from what Blender's simulation does: that puts a primitive round
the object's origin wherever its mesh is, and under an uneven scale it multiplies a radius by the scale along one axis.
Source: `rigidbody_validate_sim_shape` in Blender's rigidbody.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.box import Box
from ..core.bvh_build import build_bvh
from ..core.curved_shape import ConvexShape
from ..core.cylinder import Cone, Cylinder
from ..core.mesh_distance import points_to_mesh
from ..core.polytope import Polytope
from ..core.rounded import Capsule, Sphere
from ..core.volumes import volumes_of_triangles
from ..core.winding import contains
from .shape_outline import surface_points

if TYPE_CHECKING:
    import bpy

FloatArray = NDArray[np.float64]

AUTOMATIC, CONVEX_HULL, BOX, SPHERE, CAPSULE, CYLINDER, CONE, COMPOUND, MESH = (
    "AUTOMATIC",
    "CONVEX_HULL",
    "BOX",
    "SPHERE",
    "CAPSULE",
    "CYLINDER",
    "CONE",
    "COMPOUND",
    "MESH",
)
ITEMS = (
    (AUTOMATIC, "Automatic", "As the object's rigid body collides, if it has one, else its convex hull"),
    (CONVEX_HULL, "Convex Hull", "The smallest convex shape around the mesh"),
    (BOX, "Box", "The local bounding box"),
    (SPHERE, "Sphere", "A sphere as large as the longest side of the local bounding box"),
    (CAPSULE, "Capsule", "A capsule along local Z, fitted to the local bounding box"),
    (CYLINDER, "Cylinder", "A cylinder along local Z, fitted to the local bounding box"),
    (CONE, "Cone", "A cone along local Z, its apex up, fitted to the local bounding box"),
    (COMPOUND, "Compound", "Convex pieces of the mesh: exact ones where it is simple, else those of its loose parts"),
    (MESH, "Mesh", "The mesh itself with all its dents: a solid where it is closed, else a bare surface"),
)
WORDS = {
    CONVEX_HULL: "convex hull",
    BOX: "box",
    SPHERE: "sphere",
    CAPSULE: "capsule",
    CYLINDER: "cylinder",
    CONE: "cone",
    COMPOUND: "compound",
    MESH: "mesh",
}
PRIMITIVES = frozenset({BOX, SPHERE, CAPSULE, CYLINDER, CONE})
WHEN_CONVEX = CONVEX_HULL
"""What Automatic takes for a mesh that is convex."""
WHEN_DENTED = CONVEX_HULL
"""What Automatic takes for a mesh that is not convex."""


@dataclass(frozen=True)
class Choice:
    """What an object is set to collide as."""

    kind: str
    """AUTOMATIC when that depends on the mesh, else a shape."""
    source: str
    """Who says so: "chosen" the person, "rigid_body" Blender's settings, "automatic" nobody."""
    note: str = ""
    """What is different from what was asked for, as the end of a sentence about the object."""


def chosen(obj: bpy.types.Object) -> Choice:
    """Return what the object is set to collide as; of its rigid body only the shape counts."""
    kind: str = obj.contact_lens_shape  # type: ignore[attr-defined]
    if kind != AUTOMATIC:
        return Choice(kind, "chosen")
    body = obj.rigid_body
    if body is None:
        return Choice(AUTOMATIC, "automatic")
    shape = body.collision_shape
    if shape in available():
        return Choice(shape, "rigid_body")
    if shape == COMPOUND:
        return Choice(AUTOMATIC, "automatic", "is a compound parent as a rigid body: its children are not looked at")
    return Choice(AUTOMATIC, "automatic", f"collides as {shape.replace('_', ' ').lower()} as a rigid body")


def why_fixed(obj: bpy.types.Object) -> str:
    """Why the object's collision shape cannot be set here, as a sentence; empty when it can."""
    if obj.library is not None:
        return f"'{obj.name}' is linked from {obj.library.filepath}: make a library override to set its collision shape"
    if obj.override_library is not None and obj.override_library.is_system_override:
        return f"'{obj.name}' is linked and its override is not editable: make it editable to set its collision shape"
    return ""


def available() -> frozenset[str]:
    """The shapes that a rigid body's is taken over from."""
    return frozenset(kind for kind, _, _ in ITEMS) - {AUTOMATIC, COMPOUND}


def fitted(kind: str, low: FloatArray, high: FloatArray, linear: FloatArray, translation: FloatArray) -> ConvexShape:
    """Return a primitive fitted to a local bounding box, in world space.

    kind: one of PRIMITIVES. low, high: (3,) corners of the box. linear, translation: (3, 3) and (3,) the world matrix.
    Raises ValueError, as the end of a sentence about the object, when the box is too flat for the shape.
    """
    if kind == BOX:
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = linear, translation
        return Box.from_matrix(matrix, low, high)
    middle = linear @ (0.5 * low + 0.5 * high) + translation
    half = 0.5 * (high - low) * np.linalg.norm(linear, axis=0)
    if kind == SPHERE:
        return Sphere(middle, float(half.max()))
    radius, reach = float(max(half[0], half[1])), float(half[2])
    up = linear[:, 2]
    if kind == CAPSULE:
        if not up.any():
            return Sphere(middle, radius)
        stem = max(reach - radius, 0.0) * up / np.linalg.norm(up)
        return Capsule(middle - stem, middle + stem, radius)
    words = WORDS[kind]
    if reach == 0.0:
        raise ValueError(f"is flat along its local Z, and a {words} needs a height: choose another collision shape")
    if radius == 0.0:
        raise ValueError(
            f"has no width across its local Z, and a {words} needs a radius: choose another collision shape"
        )
    axis = reach * up / np.linalg.norm(up)
    if kind == CYLINDER:
        return Cylinder(middle - axis, middle + axis, radius)
    return Cone(middle - axis, middle + axis, radius)


@dataclass(frozen=True)
class Fit:
    """How far a primitive is from the mesh that it stands for. Blender units."""

    sticks_out: float
    """How far the mesh sticks out of the primitive: of its farthest vertex, to rounding."""
    reaches_beyond: float
    """How far the primitive reaches beyond the mesh: the largest distance found at some hundred points of its surface,
    so it may be a little more."""


def fit_of(shape: ConvexShape, corners: FloatArray, points: FloatArray, triangles: NDArray[np.integer]) -> Fit:
    """Measure how far a primitive is from a mesh, both in world space.

    corners: (k, 3) the corners of the mesh's hull, one of which sticks out farthest. points (n, 3), triangles (t, 3).
    """
    out = float(_outside(shape)(corners).max(initial=0.0))
    if len(triangles) == 0:
        triangles = np.repeat(np.arange(len(points))[:, None], 3, axis=1)
    surface = surface_points(shape)
    tree = build_bvh(volumes_of_triangles("aabb", points, triangles))
    far = points_to_mesh(surface, points, triangles, tree).distance
    beyond = far[~contains(surface, points, triangles)]
    return Fit(max(out, 0.0), float(beyond.max(initial=0.0)))


def _outside(shape: ConvexShape) -> Callable[[FloatArray], FloatArray]:
    """Return the function that tells how far points (n, 3) are outside of a primitive."""
    if isinstance(shape, Cylinder | Cone):
        solid = shape

        def from_round(points: FloatArray) -> FloatArray:
            way = points - solid.start
            along = way @ solid.axis
            across = np.linalg.norm(way - along[:, None] * solid.axis, axis=1)
            height = float((solid.end - solid.start) @ solid.axis)
            below = np.hypot(np.maximum(across - solid.rim, 0.0), np.maximum(-along, 0.0))
            if isinstance(solid, Cylinder):
                beside = np.maximum(np.abs(along - 0.5 * height) - 0.5 * height, 0.0)
                return np.asarray(np.hypot(np.maximum(across - solid.rim, 0.0), beside))
            # In the half plane through the axis: the side goes from (rim, 0) to (0, height).
            side = np.array([-solid.rim, height])
            share = np.clip(((across - solid.rim) * side[0] + along * side[1]) / (side @ side), 0.0, 1.0)
            to_side = np.hypot(across - (solid.rim + share * side[0]), along - share * side[1])
            inside = (along >= 0.0) & (across * height + along * solid.rim <= solid.rim * height)
            outside: FloatArray = np.where(inside, 0.0, np.where(along < 0.0, np.minimum(below, to_side), to_side))
            return outside

        return from_round
    if isinstance(shape, Polytope):
        return lambda points: np.zeros(len(points))  # a box holds the mesh it is the bounding box of
    core = shape.skeleton
    assert core is not None
    start, end = core.vertices[0], core.vertices[-1]
    stem = end - start

    def from_stem(points: FloatArray) -> FloatArray:
        share = np.clip((points - start) @ stem / max(float(stem @ stem), np.finfo(float).tiny), 0.0, 1.0)
        distance: FloatArray = np.linalg.norm(points - start - share[:, None] * stem, axis=1) - shape.radius
        outside: FloatArray = np.maximum(distance, 0.0)
        return outside

    return from_stem
