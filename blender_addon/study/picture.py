# SPDX-License-Identifier: GPL-3.0-or-later
"""What a picture for study consists of: lines, fills, points and labels in the world, each with its role.

The roles say what something is; `draw` gives each its colour, width and form, and a baked picture its material.
No Blender, no GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...core.types import FloatArray

Role = Literal[
    "a",  # of object A
    "b",  # of object B
    "axis",  # a candidate axis, a direction, a normal
    "gap",
    "overlap",
    "plane",  # a separating plane, the contact plane
    "hull",  # of the Minkowski difference or sum
    "origin",
    "direction",  # of a search
    "support",  # the new support point
    "simplex",  # simplex or polytope as it was
    "nearest",  # nearest feature, face or point
    "silhouette",
    "removed",  # faces removed, corners cut off
    "added",  # new faces
    "region",
    "voronoi",  # the Voronoi region of the origin
    "other",  # those that are not it
]


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight lines."""

    role: Role
    ends: FloatArray
    """(n, 2, 3) world space."""
    is_dashed: bool = False
    is_arrow: bool = False
    width: float = 1.0
    """Relative to the width of the role."""


@dataclass(frozen=True, eq=False)
class Fills:
    """Translucent triangles."""

    role: Role
    triangles: FloatArray
    """(n, 3, 3) world space."""
    opacity: float = 1.0
    """Relative to that of the role."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points."""

    role: Role
    points: FloatArray
    """(n, 3) world space."""


@dataclass(frozen=True, eq=False)
class Label:
    """A short text beside a point."""

    role: Role
    text: str
    point: FloatArray
    """(3,) world space."""


@dataclass(frozen=True, eq=False)
class StudyPicture:
    """All of one picture, drawn in this order: fills, lines, points, labels."""

    fills: tuple[Fills, ...] = ()
    lines: tuple[Lines, ...] = ()
    points: tuple[Points, ...] = ()
    labels: tuple[Label, ...] = ()
