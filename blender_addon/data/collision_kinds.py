# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of collision shapes an object can have."""

from __future__ import annotations

from dataclasses import dataclass

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
    (
        AUTOMATIC,
        "Automatic",
        "As the object's rigid body collides, if it has one; else its convex hull where it is convex, else its mesh",
    ),
    (CONVEX_HULL, "Convex Hull", "The smallest convex shape around the mesh"),
    (BOX, "Box", "The local bounding box, wherever the origin is"),
    (SPHERE, "Sphere", "A sphere as large as the longest side of the local bounding box"),
    (CAPSULE, "Capsule", "A capsule along local Z, fitted to the local bounding box"),
    (CYLINDER, "Cylinder", "A cylinder along local Z, fitted to the local bounding box"),
    (CONE, "Cone", "A cone along local Z, its apex up, fitted to the local bounding box"),
    (COMPOUND, "Compound", "Exact convex pieces of a closed mesh with few edges that bend inward"),
    (MESH, "Mesh", "The mesh itself with all its concavities: a solid where it is closed, else a bare surface"),
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


@dataclass(frozen=True)
class Choice:
    """What an object is set to collide as."""

    kind: str
    """AUTOMATIC when that depends on the mesh, else a shape."""
    source: str
    """Who says so: "chosen" the person, "rigid_body" Blender's settings, "automatic" nobody."""
    note: str = ""
    """What is different from what was asked for, as the end of a sentence about the object."""
