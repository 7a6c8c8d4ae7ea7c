# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision shapes of objects: the user's choice or that of Blender's rigid bodies, and primitives fitted to a mesh.

A primitive is made from the local bounding box of the evaluated mesh, by one of two rules.

Chosen by the user, it is centred in the bounding box, and half sizes are measured in the world, so the object's scale
counts as if it had been applied:

* box: the bounding box itself, sheared where the object is;
* sphere: the largest half size is the radius;
* capsule, cylinder, cone: upright along local Z, the larger half size of X and Y is the radius. The height is that of
  the bounding box, a capsule's round ends included; a capsule is never lower than a sphere.

Taken over from a rigid body it is what the simulation has: centred at the object's origin, wherever the mesh is, with
half sizes of the mesh as it is without its scale, and then scaled: heights by the scale along Z, radii by that along X
(sphere, cylinder), along Y (capsule), or by the mean of both (cone).

Sources: `rigidbody_validate_sim_shape_helper` in Blender's rigidbody.cc; `setLocalScaling` of Bullet's shapes, and
measured with `RigidBodyWorld.convex_sweep_test`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core.decomposition.concavity import Concavity
from ...core.meshes.mesh import Mesh
from ...core.meshes.point_distance import points_to_mesh
from ...core.meshes.winding import contains
from ...core.shapes.box import Box
from ...core.shapes.curved_shape import ConvexShape
from ...core.shapes.cylinder import Cone, Cylinder
from ...core.shapes.rounded import Capsule, Sphere
from ...core.types import FloatArray
from ..data import messages
from ..data.collision_kinds import (
    AUTOMATIC,
    BOX,
    CAPSULE,
    COMPOUND,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    MESH,
    PRIMITIVES,
    SPHERE,
    WORDS,
    Choice,
)
from ..data.records import AS_HULL, AS_MESH
from .shape_outline import surface_points

if TYPE_CHECKING:
    import bpy

RESOLUTION_STEPS = 4.0
"""Steps of a float32 coordinate that two readings of the same place may differ by."""
OPEN_SHARE = 1e-4
"""A mesh that leaves no more of its hull's surface open than this covers it: areas are rounded too."""
CONCAVITY_SLACK = 1e-3
"""Relative: the depth of a concavity is found to less than that of itself."""
SIMULATED = PRIMITIVES | {CONVEX_HULL, MESH}
"""The shapes of rigid bodies that are taken over."""
DEFORMING = frozenset(
    {
        "ARMATURE",
        "CAST",
        "CORRECTIVE_SMOOTH",
        "CURVE",
        "DISPLACE",
        "HOOK",
        "LAPLACIANDEFORM",
        "LAPLACIANSMOOTH",
        "LATTICE",
        "MESH_DEFORM",
        "SHRINKWRAP",
        "SIMPLE_DEFORM",
        "SMOOTH",
        "SURFACE_DEFORM",
        "WARP",
        "WAVE",
    }
)
"""Modifiers that only move vertices: a rigid body's source Deform has them."""
FIT_SLACK = 1e-12
"""Relative to a primitive: a corner of the mesh that far outside is on it, for it was made of these."""


def chosen(obj: bpy.types.Object) -> Choice:
    """Return what the object is set to collide as; of its rigid body only the shape counts."""
    kind: str = obj.contact_lens_shape  # type: ignore[attr-defined]
    if kind != AUTOMATIC:
        return Choice(kind, "chosen")
    return Choice(AUTOMATIC, "automatic") if obj.rigid_body is None else of_rigid_body(obj)


def wanted(obj: bpy.types.Object, shapes: str) -> Choice:
    """Return what a check takes the object to collide as; shapes: of its rules."""
    if shapes == AS_MESH:
        return Choice(AUTOMATIC, "option")
    return Choice(CONVEX_HULL, "option") if shapes == AS_HULL else chosen(obj)


def of_rigid_body(obj: bpy.types.Object) -> Choice:
    """Return what the object collides as in Blender's simulation."""
    body = obj.rigid_body
    shape = body.collision_shape
    if shape == COMPOUND:
        if children(obj):
            return Choice(COMPOUND, "rigid_body")
        return Choice(AUTOMATIC, "automatic", "is a compound parent rigid body without child rigid bodies")
    if shape not in SIMULATED:
        return Choice(
            AUTOMATIC,
            "automatic",
            f"is a rigid body of shape {shape.replace('_', ' ').lower()}, which is not supported",
        )
    notes = []
    if shape in (CONVEX_HULL, MESH) and body.mesh_source != "FINAL" and _reshaped(obj, body.mesh_source):
        notes.append(
            f"is simulated without its modifiers (Source: {body.mesh_source.capitalize()}), while the final mesh is "
            "used here"
        )
    return Choice(shape, "rigid_body", " and ".join(notes))


def describe(obj: bpy.types.Object) -> str:
    """Say what the object is inspected as, and where that is, as a sentence."""
    choice = chosen(obj)
    if choice.kind == AUTOMATIC:
        body = "" if obj.rigid_body is None else f"{messages.about(obj.name, choice.note)}. "
        return f"{body}As a convex hull where the mesh is convex, otherwise as the mesh"
    if choice.source == "rigid_body":
        return _shape_of_rigid_body(WORDS[choice.kind], choice.kind in PRIMITIVES, choice.note)
    return f"As a {WORDS[choice.kind]}{', centered in its bounding box' if choice.kind in PRIMITIVES else ''}"


def _shape_of_rigid_body(shape: str, is_centered: bool, note: str) -> str:
    text = f"As its rigid body: {shape}{', centered at its origin' if is_centered else ''}"
    return f"{text}. It {note}" if note else text


def children(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the children that are parts of a compound parent: rigid bodies themselves, in the order of their names.

    One that is a compound parent without children is nothing to the simulation, and so no part, unless the user chose
    a shape for it.
    """
    bodies = [child for child in obj.children if child.rigid_body is not None and not _is_hollow(child)]
    return sorted(bodies, key=lambda child: child.name)


def _is_hollow(obj: bpy.types.Object) -> bool:
    is_chosen = obj.contact_lens_shape != AUTOMATIC  # type: ignore[attr-defined]
    return not is_chosen and obj.rigid_body.collision_shape == COMPOUND and not children(obj)


def parts(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the objects, besides itself, that decide what an object collides as: of a compound parent its children,
    and what they are made of."""
    choice = chosen(obj)
    if choice.kind != COMPOUND or choice.source != "rigid_body":
        return []
    return [part for child in children(obj) for part in (child, *parts(child))]


def _reshaped(obj: bpy.types.Object, source: str) -> bool:
    """Whether modifiers make the final mesh another than the one simulated."""
    shown = [modifier for modifier in obj.modifiers if modifier.show_viewport]
    return any(source == "BASE" or modifier.type not in DEFORMING for modifier in shown)


def readonly_reason(obj: bpy.types.Object) -> str:
    """Why the object's collision shape cannot be set here, as a sentence; empty when it can."""
    if obj.library is not None:
        return f"'{obj.name}' is linked from {obj.library.filepath}: make a library override to set its collision shape"
    if obj.override_library is not None and obj.override_library.is_system_override:
        return f"The library override of '{obj.name}' is not editable: make it editable to set its collision shape"
    return ""


def fitted(
    kind: str,
    low: FloatArray,
    high: FloatArray,
    linear: FloatArray,
    translation: FloatArray,
    at_origin: bool = False,
) -> ConvexShape:
    """Return a primitive fitted to a local bounding box, in world space.

    kind: one of PRIMITIVES. low, high: (3,) corners of the box. linear, translation: (3, 3) and (3,) the world matrix.
    at_origin: as Blender's simulation does it, instead of as it fits best.
    Raises ValueError, as the end of a sentence about the object, when the box is too flat for the shape.
    """
    if kind == BOX:
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = linear, translation
        half = 0.5 * (high - low)
        return Box.from_matrix(matrix, -half, half) if at_origin else Box.from_matrix(matrix, low, high)
    middle = translation if at_origin else linear @ (0.5 * low + 0.5 * high) + translation
    half, scale = 0.5 * (high - low), np.linalg.norm(linear, axis=0)
    if at_origin:
        wide = max(half[0], half[1])
        of_radius = {SPHERE: scale[0], CYLINDER: scale[0], CAPSULE: scale[1], CONE: 0.5 * (scale[0] + scale[1])}[kind]
        radius = float((half.max() if kind == SPHERE else wide) * of_radius)
        reach = float(half[2] * scale[2])
        stem_length = float(max(half[2] - wide, 0.0) * scale[2])
    else:
        half = half * scale
        radius = float(half.max() if kind == SPHERE else max(half[0], half[1]))
        reach = float(half[2])
        stem_length = max(reach - radius, 0.0)
    if kind == SPHERE:
        return Sphere(middle, radius)
    up = linear[:, 2]
    if kind == CAPSULE:
        if not up.any():
            return Sphere(middle, radius)
        stem = stem_length * up / np.linalg.norm(up)
        return Capsule(middle - stem, middle + stem, radius)
    words = WORDS[kind]
    if reach == 0.0:
        raise ValueError(
            f"is flat along its local Z axis, and a {words} needs a height: choose another collision shape"
        )
    if radius == 0.0:
        raise ValueError(
            f"has no width across its local Z axis, and a {words} needs a radius: choose another collision shape"
        )
    axis = reach * up / np.linalg.norm(up)
    return {CYLINDER: Cylinder, CONE: Cone}[kind](middle - axis, middle + axis, radius)


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
    if len(triangles) == 0:
        triangles = np.repeat(np.arange(len(points))[:, None], 3, axis=1)
    surface = surface_points(shape)
    mesh = Mesh(points, triangles.astype(np.intp))
    far = points_to_mesh(surface, mesh).distance
    beyond = far[~contains(surface, mesh)]
    return Fit(sticks_out(shape, corners), float(beyond.max(initial=0.0)))


def sticks_out(shape: ConvexShape, corners: FloatArray) -> float:
    """Return how far the farthest of the corners (k, 3) is outside of a primitive; 0.0 when none is."""
    farthest = float(shape.signed_distance(corners).max(initial=0.0))
    # The corners that a primitive was fitted to are on it, but for rounding.
    return farthest if farthest > FIT_SLACK * shape.extent else 0.0


def float32_step(size: float) -> float:
    """Distance of a float32 of this size from the next one."""
    return max(math.ldexp(1.0, math.frexp(size)[1] - 24), 2.0**-149)


def float32_steps(sizes: FloatArray) -> FloatArray:
    """Return the distance of a float32 of each size (n,) from the next one."""
    return np.maximum(np.ldexp(1.0, np.frexp(sizes)[1] - 24), 2.0**-149)


def step_at(magnitude: float, local_magnitude: float, linear: FloatArray) -> float:
    """Return the spacing of float32 at the largest coordinate that took part, Blender units.

    magnitude, local_magnitude: the largest absolute coordinate in the world and in local space. The matrix may cancel
    large local coordinates: their rounding is still there.
    """
    return float32_step(max(magnitude, local_magnitude * float(np.linalg.norm(linear, 2))))


def tolerance_for(contact_tolerance: float, diameters: Iterable[float], steps: Iterable[float]) -> float:
    """Return the contact tolerance of a pair: the user's, or the input's resolution where that is coarser.

    diameters: of the smallest balls around the two; steps: `step_at` of both.
    """
    smaller = min((diameter for diameter in diameters if diameter > 0.0), default=math.inf)
    return max(contact_tolerance, RESOLUTION_STEPS * max(steps) / smaller)


def covers_hull(concavity: Concavity, resolution: float) -> bool:
    """Return whether a mesh is its convex hull, as exactly as its coordinates are known."""
    return concavity.depth <= resolution and concavity.open_fraction <= OPEN_SHARE


def follows_mesh(choice: Choice) -> bool:
    """Return whether a shape is that of the mesh, whatever that is like: no other one was asked for."""
    return choice.kind == AUTOMATIC or (choice.kind == MESH and choice.source == "rigid_body")


def kind_for(choice: Choice, has_faces: bool, is_convex: Callable[[], bool]) -> str:
    """Return which shape is made, as in `collision_shape`; whether the mesh is convex is asked only where it counts."""
    kind = choice.kind
    if not follows_mesh(choice):
        return kind
    return CONVEX_HULL if has_faces and is_convex() else MESH
