# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles in columns, and on which side of their planes the corners of others are: by floats where these are sure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runs import chunks
from ..shapes.orientation import SignArray, decide_signs
from ..tolerance import EPS, ORIENTATION_FILTER, ORIENTATION_LEAST
from ..types import BoolArray, FloatArray, IntArray
from .coordinates import scale_points
from .mesh import Mesh
from .surface import have_no_area

_SIEVE = 16.0
"""Times EPS, the largest coordinate and the sum of the sizes of the products that a normal consists of: how far from a
plane a point is, both measured from the origin, is known to this. Two products of three terms, and the normal."""
_CHUNK = 8192
"""Triangles in one go."""


class TriangleRows(NamedTuple):
    """Some triangles of one mesh, one column each."""

    rows: FloatArray
    """(15, k) x, y, z of the first corner, of the second, of the third; the normal, and the sum of the sizes of the
    products it consists of; the longest side of the box; 1.0 where there is no area, else 0.0."""

    def take(self, chosen: IntArray) -> TriangleRows:
        """Return some of the triangles."""
        return TriangleRows(self.rows.take(chosen, axis=1, mode="clip"))

    @property
    def corners(self) -> FloatArray:
        """(9, k) x, y, z of each corner."""
        return self.rows[:9]

    @property
    def plane(self) -> FloatArray:
        """(4, k) normal, and the sum of the sizes of the products it consists of."""
        return self.rows[9:13]

    @property
    def flat(self) -> BoolArray:
        """(k,) whether a triangle has no area."""
        return self.rows[14] != 0.0

    def corner(self, k: int) -> FloatArray:
        """Return (3, k) one corner of each triangle."""
        return self.rows[3 * k : 3 * k + 3]

    def pick(self, which: IntArray, indices: IntArray | None = None) -> FloatArray:
        """Return (3, k) corner which[i] of triangle i, or of triangle indices[i]."""
        count = self.rows.shape[1]
        flat = self.corners.ravel()
        first = which * (3 * count)
        first += np.arange(count) if indices is None else indices
        result = np.empty((3, len(first)))
        for x in range(3):
            flat.take(first, out=result[x], mode="clip")
            first += count
        return result


class TriangleTable(NamedTuple):
    """The triangles of a mesh that candidates name."""

    triangles: TriangleRows
    slabs: FloatArray
    """(2, k) products of the normal with points beyond these bounds are below or above the plane for sure."""
    place: IntArray
    """(m,) for each triangle of the mesh its column."""

    @classmethod
    def of(cls, mesh: Mesh, named: IntArray, exponent: int, reach: float) -> TriangleTable:
        """Return the table; no coordinate of either mesh is larger than `reach`, after scaling."""
        mask = np.zeros(len(mesh.triangles), dtype=np.bool_)
        mask[named] = True
        used = np.flatnonzero(mask)
        rows, slabs = np.empty((15, len(used))), np.empty((2, len(used)))
        points = scale_points(mesh.points, exponent)
        for chunk in chunks(len(used), _CHUNK):
            part = rows[:, chunk]
            _fill(part, points, mesh.triangles.take(used[chunk], axis=0))
            # Seen from the origin, not from a corner: two thirds of the work, for errors that grow with coordinates.
            offset = part[9] * part[0]
            offset += part[10] * part[1]
            offset += part[11] * part[2]
            error = part[12] * (_SIEVE * EPS * reach)
            error += ORIENTATION_LEAST
            np.subtract(offset, error, out=slabs[0, chunk])
            np.add(offset, error, out=slabs[1, chunk])
        return cls(TriangleRows(rows), slabs, np.cumsum(mask) - 1)


def _fill(rows: FloatArray, points: FloatArray, triangles: IntArray) -> None:
    """Compute the rows (15, k) of triangles."""
    numbers = points.ravel()
    corners, normal, weight, size, flat = rows[:9], rows[9:12], rows[12], rows[13], rows[14]
    for k in range(3):
        ids = triangles[:, k] * 3
        for x in range(3):
            numbers.take(ids, out=corners[3 * k + x], mode="clip")
            ids += 1
    p, q, r = corners[:3], corners[3:6], corners[6:]
    u, v = q - p, r - p
    weight[:] = 0.0
    maybe = np.ones(len(triangles), dtype=np.bool_)
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        a, b = u[y] * v[z], u[z] * v[y]
        np.subtract(a, b, out=normal[x])
        np.abs(a, out=a)
        a += np.abs(b, out=b)
        weight += a
        a *= ORIENTATION_FILTER * EPS
        maybe &= np.abs(normal[x]) <= a
    low, high = np.minimum(p, q), np.maximum(p, q)
    np.minimum(low, r, out=low)
    np.maximum(high, r, out=high)
    high -= low
    high.max(axis=0, out=size)
    flat[:] = maybe
    indices = np.flatnonzero(maybe)
    if len(indices):
        flat[indices] = have_no_area(points, triangles.take(indices, axis=0))


def find_unparted(pairs: IntArray, a: TriangleTable, b: TriangleTable) -> IntArray:
    """Return the numbers of the pairs (2, p) of which no triangle is on one side of the other's plane for sure."""
    i, j = a.place.take(pairs[0]), b.place.take(pairs[1])
    indices = _reach_plane(a, i, b, j)
    return indices.take(_reach_plane(b, j.take(indices), a, i.take(indices)))


def _reach_plane(above: TriangleTable, i: IntArray, below: TriangleTable, j: IntArray) -> IntArray:
    """Return which triangles in columns i are not on one side of the plane of that in columns j."""
    corners, normal = above.triangles.rows, below.triangles.rows[9:12].take(j, axis=1, mode="clip")
    low, high = below.slabs.take(j, axis=1, mode="clip")
    heights, product = np.empty((3, len(i))), np.empty(len(i))
    for k, height in enumerate(heights):
        for x in range(3):
            target = product if x else height
            corners[3 * k + x].take(i, out=target, mode="clip")
            target *= normal[x]
            if x:
                height += product
    between = heights.min(axis=0) <= high
    between &= heights.max(axis=0) >= low
    return np.flatnonzero(between)


class TriangleSide(NamedTuple):
    """The triangles of one mesh, and where their corners are from the planes of those of the other mesh."""

    triangles: TriangleRows
    signs: SignArray
    """(3, k) exactly on which side of the other's plane the corners are."""
    heights: FloatArray
    """(3, k) six times the volumes that the other triangle spans with the corners."""
    error: FloatArray
    """(k,) their rounding."""

    def take(self, indices: IntArray) -> TriangleSide:
        """Return some of the triangles."""
        triangles, signs, heights, error = self
        return TriangleSide(
            triangles.take(indices), signs.take(indices, axis=1), heights.take(indices, axis=1), error.take(indices)
        )

    @property
    def is_beyond(self) -> BoolArray:
        """(k,) whether all corners are strictly on one side of the other's plane."""
        return (self.signs[0] != 0) & (self.signs[0] == self.signs[1]) & (self.signs[1] == self.signs[2])


def both_sides(a: TriangleRows, b: TriangleRows) -> tuple[TriangleSide, TriangleSide, int]:
    """Return the sides of triangles a[k] and b[k] whose boxes overlap, and how many signs floats left open."""
    # Where boxes overlap, no difference of coordinates is more than the sides of both together.
    reach = a.rows[13] + b.rows[13]
    reach *= ORIENTATION_FILTER * EPS
    sides, unsure = [], []
    for own, other in ((a, b), (b, a)):
        heights = _heights(own, other)
        error = reach * other.plane[3]
        error += ORIENTATION_LEAST
        signs = (heights > error).view(np.int8)
        signs -= heights < -error
        unsure.append(np.divmod(np.flatnonzero(signs == 0), heights.shape[1]))
        sides.append(TriangleSide(own, signs, heights, error))
    # All at once: few are left, and many steps are taken for them.
    corners = [
        np.concatenate([p, own.pick(which, k)])
        for own, other, (which, k) in ((a, b, unsure[0]), (b, a, unsure[1]))
        for p in [other.corners.take(k, axis=1)]
    ]
    rows = np.concatenate(corners, axis=1)
    if rows.shape[1]:
        zeros = np.zeros(rows.shape[1])
        found = decide_signs(zeros, zeros, *rows.reshape(4, 3, -1))
        first = len(unsure[0][0])
        for side, (which, k), part in zip(sides, unsure, (slice(first), slice(first, None)), strict=True):
            side.signs[which, k], side.heights[which, k] = found.signs[part], found.values[part]
    return sides[0], sides[1], rows.shape[1]


def _heights(own: TriangleRows, other: TriangleRows) -> FloatArray:
    """Return (3, k) six times the volumes that the other triangles span with the corners of some."""
    x, y, z, _ = other.plane
    heights, room = np.empty((3, len(x))), np.empty(len(x))
    for k, height in enumerate(heights):
        np.subtract(own.rows[3 * k], other.rows[0], out=height)
        height *= x
        for row, component in ((1, y), (2, z)):
            np.subtract(own.rows[3 * k + row], other.rows[row], out=room)
            room *= component
            height += room
    return heights
