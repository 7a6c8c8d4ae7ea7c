# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles in columns, and on which side of their planes the corners of others are: by floats where these are sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..runs import chunks
from ..shapes.orientation import SignArray, decide_signs
from ..tolerance import EPS, ORIENTATION_FILTER, ORIENTATION_LEAST
from ..types import BoolArray, FloatArray, IntArray
from .surface import have_no_area

_SIEVE = 16.0
"""Times EPS, the largest coordinate and the sum of the sizes of the products that a normal consists of: how far from a
plane a point is, both measured from the origin, is known to this. Two products of three terms, and the normal."""
_CHUNK = 8192
"""Triangles in one go."""
_NEXT, _BEFORE = np.array([1, 2, 0]), np.array([2, 0, 1])


class TriangleRows(NamedTuple):
    """Some triangles, one column each."""

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

    def pick(self, which: IntArray, columns: IntArray | None = None) -> FloatArray:
        """Return (3, ...) corner which[..., i] of triangle i, or of triangle columns[i]."""
        count = self.rows.shape[1]
        first = 3 * count * which + (np.arange(count) if columns is None else columns)
        return self.rows.ravel().take(np.array([first, first + count, first + 2 * count]), mode="clip")


class TriangleTable(NamedTuple):
    """The triangles that candidates name, those of all meshes one after the other."""

    triangles: TriangleRows
    slabs: FloatArray
    """(2, k) products of the normal with points beyond these bounds are below or above the plane for sure."""

    @classmethod
    def of(cls, meshes: Sequence[tuple[FloatArray, IntArray]], reach: float) -> TriangleTable:
        """Return the table of triangles (m, 3) of points (n, 3) no coordinate of which is larger than `reach`."""
        ends = np.cumsum([0, *(len(triangles) for _, triangles in meshes)]).tolist()
        rows, slabs = np.empty((15, ends[-1])), np.empty((2, ends[-1]))
        for (points, triangles), first in zip(meshes, ends, strict=False):
            numbers = points.ravel()
            for chunk in chunks(len(triangles), _CHUNK):
                ids = triangles[chunk].T * 3
                corners = numbers.take(np.array([ids, ids + 1, ids + 2]), mode="clip")  # axis, corner, triangle
                part = rows[:9, first + chunk.start : first + chunk.stop]
                part.reshape(3, 3, -1)[...] = corners.swapaxes(0, 1)
        for chunk in chunks(ends[-1], _CHUNK):
            part = rows[:, chunk]
            _fill(part)
            # Seen from the origin, not from a corner: two thirds of the work, for errors that grow with coordinates.
            offset = (part[9:12] * part[:3]).sum(axis=0)
            error = part[12] * (_SIEVE * EPS * reach) + ORIENTATION_LEAST
            np.subtract(offset, error, out=slabs[0, chunk])
            np.add(offset, error, out=slabs[1, chunk])
        return cls(TriangleRows(rows), slabs)


def _fill(rows: FloatArray) -> None:
    """Compute the rows (15, k) of triangles from the first nine, their corners."""
    p, q, r = corners = rows[:9].reshape(3, 3, -1)
    u, v = q - p, r - p
    a, b = u[_NEXT] * v[_BEFORE], u[_BEFORE] * v[_NEXT]
    np.subtract(a, b, out=rows[9:12])
    np.abs(a, out=a)
    a += np.abs(b, out=b)
    a.sum(axis=0, out=rows[12])
    a *= ORIENTATION_FILTER * EPS
    (corners.max(axis=0) - corners.min(axis=0)).max(axis=0, out=rows[13])
    maybe = np.flatnonzero((np.abs(rows[9:12]) <= a).all(axis=0))
    rows[14] = 0.0
    if len(maybe):
        flat = rows[:9, maybe].T.reshape(-1, 3)
        rows[14, maybe] = have_no_area(flat, np.arange(len(flat)).reshape(-1, 3))


def find_unparted(table: TriangleTable, i: IntArray, j: IntArray) -> IntArray:
    """Return the numbers of the pairs of triangles i[k] and j[k], neither of which is on one side of the other's plane
    for sure."""
    indices = _reach_plane(table, i, j)
    return indices.take(_reach_plane(table, j.take(indices), i.take(indices)))


def _reach_plane(table: TriangleTable, i: IntArray, j: IntArray) -> IntArray:
    """Return which triangles in columns i are not on one side of the plane of that in columns j."""
    rows = table.triangles.rows
    low, high = table.slabs.take(j, axis=1, mode="clip")
    heights = rows[:9].take(i, axis=1, mode="clip").reshape(3, 3, -1)
    heights *= rows[9:12].take(j, axis=1, mode="clip")
    heights = heights.sum(axis=1)
    return np.flatnonzero((heights.min(axis=0) <= high) & (heights.max(axis=0) >= low))


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


def both_sides(rows: FloatArray) -> tuple[TriangleSide, TriangleSide]:
    """Return the sides of triangles with rows[:, 0, k] and rows[:, 1, k] (15, 2, n) whose boxes overlap."""
    other = rows[:, ::-1]
    corners = rows[:9].reshape(3, 3, 2, -1)
    heights = ((corners - other[:3]) * other[9:12]).sum(axis=1)
    # Where boxes overlap, no difference of coordinates is more than the sides of both together.
    error = (rows[13, 0] + rows[13, 1]) * (ORIENTATION_FILTER * EPS) * other[12] + ORIENTATION_LEAST
    signs = (heights > error).view(np.int8) - (heights < -error)
    which, side, column = np.nonzero(signs == 0)
    if len(which):
        plane = rows[:9, 1 - side, column].reshape(3, 3, -1)
        zeros = np.zeros(len(which))
        found = decide_signs(zeros, zeros, *plane, corners[which, :, side, column].T)
        signs[which, side, column], heights[which, side, column] = found
    a, b = (TriangleSide(TriangleRows(rows[:, k]), signs[:, k], heights[:, k], error[k]) for k in range(2))
    return a, b
