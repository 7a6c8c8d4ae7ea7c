# SPDX-License-Identifier: GPL-3.0-or-later
"""What a picture for study consists of: lines, fills, points and labels in the world, each with its role.

The roles say what something is; `look` gives each its colour, width and form.
No Blender, no GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...core.types import FloatArray
from ..geometry.shape_outline import fan, loop

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
SIDES: tuple[Role, Role] = ("a", "b")


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


def points_of(picture: StudyPicture) -> FloatArray:
    """Return all points (n, 3) that are drawn."""
    parts = [fill.triangles for fill in picture.fills] + [line.ends for line in picture.lines]
    parts += [point.points for point in picture.points] + [label.point for label in picture.labels]
    return np.concatenate([np.zeros((0, 3)), *(np.reshape(part, (-1, 3)) for part in parts)])


Part = Fills | Lines | Points | Label
_Part = TypeVar("_Part", Fills, Lines, Points, Label)


class Canvas:
    """Collects what a picture consists of, and leaves out what is empty."""

    def __init__(self, behind: StudyPicture | None = None, whole: Canvas | None = None) -> None:
        """whole: another canvas that gets everything, too."""
        picture, self.whole = behind or StudyPicture(), whole
        self.parts: list[Part] = [*picture.fills, *picture.lines, *picture.points, *picture.labels]

    def add(self, part: Part) -> None:
        self.parts.append(part)
        if self.whole is not None:
            self.whole.add(part)

    def fill(self, role: Role, triangles: ArrayLike, opacity: float = 1.0) -> None:
        array = np.asarray(triangles, dtype=float).reshape(-1, 3, 3)
        if len(array):
            self.add(Fills(role, array, opacity))

    def line(
        self, role: Role, ends: ArrayLike, width: float = 1.0, is_dashed: bool = False, is_arrow: bool = False
    ) -> None:
        array = np.asarray(ends, dtype=float).reshape(-1, 2, 3)
        if len(array):
            self.add(Lines(role, array, is_dashed, is_arrow, width))

    def mark(self, role: Role, points: ArrayLike) -> None:
        array = np.asarray(points, dtype=float).reshape(-1, 3)
        if len(array):
            self.add(Points(role, array))

    def label(self, role: Role, text: str, point: FloatArray) -> None:
        self.add(Label(role, text, point))

    def polygon(self, role: Role, corners: FloatArray, width: float = 1.0, opacity: float = 1.0) -> None:
        """Add a convex polygon (n, 3), or the line between two corners."""
        self.fill(role, fan(corners), opacity)
        self.line(role, loop(corners), width)

    def simplex(self, role: Role, corners: FloatArray, width: float = 1.0, opacity: float = 1.0) -> None:
        """Add a point, a segment, a triangle or a tetrahedron (k, 3)."""
        indices = range(len(corners))
        self.fill(role, [corners[list(face)] for face in combinations(indices, 3)], opacity)
        self.line(role, [corners[list(edge)] for edge in combinations(indices, 2)], width)
        self.mark(role, corners)

    def picture(self) -> StudyPicture:
        """Return what has been collected."""

        def of(kind: type[_Part]) -> tuple[_Part, ...]:
            return tuple(part for part in self.parts if isinstance(part, kind))

        return StudyPicture(of(Fills), of(Lines), of(Points), of(Label))
