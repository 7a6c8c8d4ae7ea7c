# SPDX-License-Identifier: GPL-3.0-or-later
"""The points of a hull as integers, with exact predicates.

Every side test is a float64 expression with an error bound first; where the bound leaves the sign open it is evaluated
again with Python integers. The triangulated hull is therefore exactly convex and closed, whatever the input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..tolerance import EPS, HULL_DROP, HULL_MERGE, HULL_RANK, HULL_STRAIGHT
from ..types import FloatArray
from ..vectors import squared_lengths

_HULL_FILTER = 32.0
"""Times EPS R (R: farthest point from the middle of the box): a point this far from a facet plane in float64 is surely
on that side. Bounds the rounding of a plane through three corners and of the dot product with it."""
_HULL_BURIED = 5.0
"""Times EPS M: a corner that protrudes by less from a merged facet, or from the straight line of the edge between two
facets, is removed."""

_BITS = 60  # of a coordinate: float64 values lose nothing above 2**-60 of the largest


class HullGrid:
    """The points as integers about the centre of their bounding box, and the tolerances in that unit."""

    def __init__(self, points: FloatArray) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        center = 0.5 * low + 0.5 * high
        magnitude = float(max(-low.min(), high.max()))
        half = float(max((high - center).max(), (center - low).max()))
        shift = _BITS - int(np.frexp(half)[1])
        # All attributes are in steps of the grid; `x` is (dim, n), so that sums over points run along contiguous
        # memory.
        self.x: FloatArray = np.rint(np.ldexp(np.ascontiguousarray((points - center).T), shift))
        self.exact = ExactSides(self.x)
        with np.errstate(over="ignore"):  # infinite: points that coincide but for the last digits
            unit = EPS * float(np.ldexp(magnitude, shift)) if half > 0.0 else 1.0
        self.radius = float(np.sqrt(squared_lengths(self.x).max()))
        self.filter = _HULL_FILTER * EPS * self.radius
        self.drop = HULL_DROP * unit
        self.straight = HULL_STRAIGHT * unit
        self.merge = HULL_MERGE * unit
        self.buried = _HULL_BURIED * unit
        self.rank = HULL_RANK * unit


class ExactSides:
    """Side tests with integers; results are cached, as degenerate inputs need them again and again."""

    def __init__(self, x: FloatArray) -> None:
        self._x = x
        self._points: dict[int, list[int]] = {}
        self._normals: dict[tuple[int, int, int], tuple[int, int, int]] = {}

    def _point(self, i: int) -> list[int]:
        point = self._points.get(i)
        if point is None:
            point = self._points[i] = [int(value) for value in self._x[:, i].tolist()]
        return point

    def cross(self, a: int, b: int, c: int) -> tuple[int, int, int]:
        """Return the normal of the triangle (a, b, c); its length is twice the area."""
        normal = self._normals.get((a, b, c))
        if normal is None:
            ax, ay, az = self._point(a)
            bx, by, bz = self._point(b)
            cx, cy, cz = self._point(c)
            ux, uy, uz = bx - ax, by - ay, bz - az
            vx, vy, vz = cx - ax, cy - ay, cz - az
            normal = self._normals[a, b, c] = (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)
        return normal

    def side(self, a: int, b: int, c: int, p: int) -> int:
        """Return a number > 0 when p is above the plane of the triangle (a, b, c), 0 on it."""
        nx, ny, nz = self.cross(a, b, c)
        ax, ay, az = self._point(a)
        px, py, pz = self._point(p)
        return nx * (px - ax) + ny * (py - ay) + nz * (pz - az)

    def unit_normal(self, a: int, b: int, c: int) -> list[float] | None:
        """Return the unit normal of a triangle, correct to rounding however thin it is; None when its area is 0."""
        return _unit(self.cross(a, b, c))


def _unit(vector: tuple[int, int, int]) -> list[float] | None:
    # Exact integers may be far apart in size; dividing first keeps the squares within float64.
    top = max(abs(value) for value in vector)
    if top == 0:
        return None
    nx, ny, nz = vector[0] / top, vector[1] / top, vector[2] / top
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return [nx / length, ny / length, nz / length]


def polygon_normal(loop: Sequence[Sequence[float]]) -> list[float] | None:
    """Return the unit normal of a polygon in space (Newell), correct to rounding; None when its area is 0."""
    ox, oy, oz = (int(value) for value in loop[0])
    nx = ny = nz = 0
    ux = uy = uz = 0
    for px, py, pz in loop[1:]:
        vx, vy, vz = int(px) - ox, int(py) - oy, int(pz) - oz
        nx += uy * vz - uz * vy
        ny += uz * vx - ux * vz
        nz += ux * vy - uy * vx
        ux, uy, uz = vx, vy, vz
    return _unit((nx, ny, nz))
