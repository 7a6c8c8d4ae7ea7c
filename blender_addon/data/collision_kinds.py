# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of collision shapes an object can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
        "The shape of the rigid body if there is one, otherwise the mesh itself",
    ),
    (CONVEX_HULL, "Convex Hull", "Smallest convex shape around the mesh"),
    (BOX, "Box", "Local bounding box of the mesh"),
    (SPHERE, "Sphere", "Sphere with the longest side of the local bounding box as its diameter"),
    (CAPSULE, "Capsule", "Capsule along local Z, fitted to the local bounding box"),
    (CYLINDER, "Cylinder", "Cylinder along local Z, fitted to the local bounding box"),
    (CONE, "Cone", "Cone along local Z with its apex up, fitted to the local bounding box"),
    (COMPOUND, "Compound", "Convex pieces of the mesh: exact for simple meshes, approximate for others"),
    (MESH, "Mesh", "The mesh itself: a solid if it is closed, otherwise only its surface"),
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
    """The collision shape that an object is set to have."""

    kind: str
    """AUTOMATIC when that depends on the mesh, else a shape."""
    source: str
    """Where it comes from: "chosen" by the user, "rigid_body" from Blender's settings, "option" of the check, or
    "automatic"."""
    note: str = ""
    """The difference from the request, as the end of a sentence about the object."""


def words_of_side(side: Mapping[str, Any]) -> str:
    """Return the shape in which a side of a clash collided, where that is not its mesh; empty where it is."""
    kind = side["checked_as"].upper()
    is_mesh = kind == MESH or (kind == CONVEX_HULL and side["convex"])
    return "" if is_mesh else WORDS[kind]
