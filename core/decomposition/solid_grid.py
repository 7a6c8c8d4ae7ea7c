# SPDX-License-Identifier: GPL-3.0-or-later
"""A grid over the box of a mesh: which of its cells are in the solid, and how far the others are from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runs import ranges
from ..types import BoolArray, FloatArray, IntArray

Float32Array = NDArray[np.float32]

_CELLS = 2**18
"""Cells of the grid."""
_THIN = 1 / 96
"""Least size of a cell, times the longest side of the box."""
_DENSE = 4.0
"""Samples of the surface for each cell side squared."""
GOLDEN = 0.7548776662466927, 0.5698402909980532
"""Steps of an evenly spread sequence in the unit square."""


def surface_samples(points: FloatArray, triangles: IntArray, count: int) -> FloatArray:
    """Return (count, 3) points spread evenly over triangles, none where they have no area."""
    a, b, c = points.take(triangles, axis=0).transpose(1, 0, 2)
    areas = np.sqrt((np.cross(b - a, c - a) ** 2).sum(axis=1))
    ends = np.cumsum(areas)
    if not len(ends) or not ends[-1] > 0.0:
        return np.empty((0, 3))
    steps = np.arange(count) + 0.5
    rows = np.minimum(np.searchsorted(ends, steps * (ends[-1] / count), side="right"), len(ends) - 1)
    u, v = (steps * step % 1.0 for step in GOLDEN)
    over = u + v > 1.0
    u, v = np.where(over, 1.0 - u, u)[:, None], np.where(over, 1.0 - v, v)[:, None]
    samples: FloatArray = a[rows] * (1.0 - u - v) + b[rows] * u + c[rows] * v
    return samples


class SolidGrid:
    """The cells of a grid in the box of a mesh, numbered in one row.

    Of a mesh that is not closed, the solid is its surface.
    """

    def __init__(self, points: FloatArray, triangles: IntArray, closed: bool) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        size = high - low
        longest = float(size.max())
        self.side = max(float(np.prod(np.maximum(size, _THIN * longest)) / _CELLS) ** (1 / 3), _THIN * longest)
        shape = np.maximum(1, np.ceil(size / self.side)).astype(np.intp)
        self.shape = shape
        self.start = low - 0.5 * (shape * self.side - size)
        cells = (points - self.start) / self.side
        solid = _inside(cells, triangles, shape) if closed else np.zeros(shape, dtype=np.bool_)
        a, b, c = cells.take(triangles, axis=0).transpose(1, 0, 2)
        area = 0.5 * float(np.sqrt((np.cross(b - a, c - a) ** 2).sum(axis=1)).sum())
        on = surface_samples(cells, triangles, int(min(_DENSE * area, 400_000)) + 100)
        solid[tuple(np.clip(on.astype(np.intp), 0, shape - 1).T)] = True
        squares = np.where(solid, np.float32(0.0), np.float32(np.inf))
        for axis in range(3):
            squares = np.moveaxis(_lower_envelope(np.moveaxis(squares, axis, -1)), -1, axis)
        self.distances = np.ascontiguousarray(np.float32(self.side) * np.sqrt(squares)).ravel()
        """How far the middle of each cell is from the solid, 0 in it."""
        self.coordinates = np.stack(np.unravel_index(np.arange(solid.size), shape), axis=1)

    def middles(self, cells: IntArray) -> FloatArray:
        """Return the middles (k, 3) of cells."""
        return np.asarray(self.start + (self.coordinates[cells] + 0.5) * self.side)

    def cells_at(self, points: FloatArray) -> IntArray:
        """Return the cells in which points are."""
        i, j, k = np.clip(((points - self.start) / self.side).astype(np.intp), 0, self.shape - 1).T
        return np.asarray((i * self.shape[1] + j) * self.shape[2] + k)

    def neighbours(self, cells: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of some cells that have a side in common, as two columns of indices into `cells`."""
        place = np.full(len(self.coordinates), -1, dtype=np.intp)
        place[cells] = np.arange(len(cells))
        found = []
        for axis, step in enumerate((self.shape[1] * self.shape[2], self.shape[2], 1)):
            rows = np.flatnonzero(self.coordinates[cells, axis] < self.shape[axis] - 1)
            other = place[cells[rows] + step]
            found.append((rows[other >= 0], other[other >= 0]))
        one, two = zip(*found, strict=True)
        return np.concatenate(one), np.concatenate(two)


def _lower_envelope(squares: FloatArray) -> FloatArray:
    """Return for each cell of the rows the least of the values of the row plus the squared distance to them."""
    n = squares.shape[-1]
    steps = np.arange(n, dtype=np.float32)
    result = np.full_like(squares, np.inf)
    for k in range(n):
        np.minimum(result, squares[..., k : k + 1] + (steps - k) ** 2, out=result)
    return result


def _inside(cells: FloatArray, triangles: IntArray, shape: IntArray) -> BoolArray:
    """Return which cells' middles a closed surface goes around, by its crossings with the columns of the grid."""
    # Middles of columns are whole numbers, from 0; the sides that two triangles share are computed alike.
    p = cells - 0.5
    corners = p.take(triangles, axis=0)
    low = np.maximum(np.ceil(corners[:, :, :2].min(axis=1)), 0).astype(np.intp)
    high = np.minimum(np.floor(corners[:, :, :2].max(axis=1)), shape[:2] - 1).astype(np.intp)
    across = np.maximum(high - low + 1, 0)
    count = across[:, 0] * across[:, 1]
    rows = np.repeat(np.arange(len(triangles)), count)
    index = ranges(np.zeros(len(count), dtype=np.intp), count)
    x = low[rows, 0] + index // np.maximum(across[rows, 1], 1)
    y = low[rows, 1] + index % np.maximum(across[rows, 1], 1)
    weights = []
    for k in range(3):
        ids = triangles[rows][:, [(k + 1) % 3, (k + 2) % 3]]
        swapped = ids[:, 0] > ids[:, 1]
        u, v = p[ids.min(axis=1)], p[ids.max(axis=1)]
        side = (v[:, 0] - u[:, 0]) * (y - u[:, 1]) - (v[:, 1] - u[:, 1]) * (x - u[:, 0])
        # A column on a side is on the left of it.
        weights.append(np.where(swapped, -1.0, 1.0) * np.where(side == 0.0, 1e-300, side))
    signs = np.sign(np.array(weights))
    within = np.abs(signs.sum(axis=0)) == 3.0
    rows, x, y = rows[within], x[within], y[within]
    weight = np.array(weights)[:, within]
    total = weight.sum(axis=0)
    z = (weight * corners[rows][:, :, 2].T).sum(axis=0) / np.where(total == 0.0, 1.0, total)
    turns = np.zeros((*shape[:2], shape[2] + 1), dtype=np.int32)
    np.add.at(turns, (x, y, np.clip(np.ceil(z), 0, shape[2]).astype(np.intp)), signs[0, within].astype(np.int32))
    return np.asarray(np.cumsum(turns, axis=2)[:, :, :-1] != 0)
