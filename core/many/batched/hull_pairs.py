# SPDX-License-Identifier: GPL-3.0-or-later
"""Support points of the Minkowski differences A - B of many pairs of polytopes.

1. Gather the vertices of a few hundred polytopes of one block at a time, so that they stay in the cache.
2. Multiply them with the directions of their pairs; the largest product is the support point of A, the least that of B.
3. Number the support point by its vertices, so that the same one is recognised: `vertices_of`.

Searches derive from `HullPairs`: a column is a pair, and `keep` drops the pairs that are finished. Source: S4.3, S4.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from ...types import BoolArray, FloatArray, IntArray
from .columns import einsum
from .hull_table import BLOCK, HullTable

_ID_BASE = 2**26
"""More than the vertices of a polytope: a pair of vertices is the number a + _ID_BASE b, which a float represents."""
NO_VERTEX = -1.0
"""Id of points that are no difference of two vertices."""


@dataclass(frozen=True, eq=False)
class HullContacts:
    """Signed distances of many pairs of polytopes A and B; one column per pair. World frame."""

    found: BoolArray
    """(n,) whether the search ended and no other witness points are as good; nothing else is valid where not."""
    signed_distance: FloatArray
    """(n,) > 0 gap, < 0 minus the penetration depth."""
    lower_bound: FloatArray
    """(n,) the true signed distance is not below."""
    upper_bound: FloatArray
    """(n,) the true signed distance is not above."""
    normal: FloatArray
    """(3, n) unit vectors from A to B."""
    on_a: FloatArray
    """(3, n) witness points on A."""
    on_b: FloatArray
    """(3, n) witness points on B."""

    @classmethod
    def unknown(cls, count: int) -> HullContacts:
        """Return the contacts of pairs of which nothing is known, to be stored."""
        return cls(np.zeros(count, dtype=bool), *np.zeros((3, count)), *np.zeros((3, 3, count)))

    def store(self, columns: IntArray, *values: FloatArray | BoolArray) -> None:
        """Write the values of all fields into these columns."""
        for field, value in zip(fields(self), values, strict=True):
            getattr(self, field.name)[..., columns] = value


def vertices_of(ids: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the vertices of A and of B of which support points are made, from their ids."""
    whole = ids.astype(np.intp)
    return whole & (_ID_BASE - 1), whole // _ID_BASE


class HullPairs:
    """Pairs of polytopes in columns, of which `keep` leaves those that are still searched."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray) -> None:
        self.table = table
        radii = table.radii.take(i, axis=1)
        radii += table.radii.take(j, axis=1)
        interior = -table.offsets(i, j)
        self.all_lengths = np.concatenate([interior, radii[2:], radii[:1] + np.abs(interior).max(axis=0)])
        """(5, n) `interior`, `rounding` and `size` of all pairs, finished ones too."""
        places = np.arange(len(i)), table.block.take(i), table.block.take(j), table.slot.take(i), table.slot.take(j)
        self._assign(self.all_lengths, np.stack(places))
        self._linear: FloatArray | None = None
        """(2, 3, 3, m) linear parts of the poses of A and of B, if they have poses."""
        if table.linear is not None:
            self._linear = np.stack([table.linear.take(numbers, axis=2, mode="clip") for numbers in (i, j)])

    def _assign(self, lengths: FloatArray, places: IntArray) -> None:
        self._lengths, self._places = lengths, places
        self.interior = lengths[:3]
        """(3, m) the difference of the means, a point of A - B."""
        self.rounding, self.size = lengths[3:]
        """(m,) rounding of a height of A - B, and a bound of the distance of its points from the origin."""
        self.pair = places[0]
        """(m,) number of the pair in each column."""

    def keep(self, columns: IntArray) -> None:
        """Go on with these columns only."""
        self._assign(self._lengths.take(columns, axis=1), self._places.take(columns, axis=1))
        if self._linear is not None:
            self._linear = self._linear.take(columns, axis=3)

    def supports(self, directions: FloatArray, columns: IntArray | None = None) -> FloatArray:
        """Return the support points of A - B in directions (3, m) or (3, k, m), of any length, with their ids in a
        fourth row; of all columns, or of those given."""
        interior = self.interior if columns is None else self.interior.take(columns, axis=1)
        several = directions if directions.ndim == 3 else directions[:, None]
        points, others = np.empty((2, 4, *several.shape[1:]))
        self._farthest(several, 0, columns, points)
        self._farthest(several, 1, columns, others)
        points[:3] += interior[:, None]
        points[:3] -= others[:3]
        others[3] *= _ID_BASE
        points[3] += others[3]
        return points if directions.ndim == 3 else points[:, 0]

    def _farthest(self, directions: FloatArray, side: int, columns: IntArray | None, out: FloatArray) -> None:
        """Write the vertices of A (side 0) farthest along the directions, or of B (side 1) farthest against them, from
        the mean, and their indices."""
        shape: tuple[int, ...] = ()
        for part, vertices, heights in self.vertex_heights(directions, side, columns):
            index = (heights.argmin(axis=2) if side else heights.argmax(axis=2)).T  # (k, n)
            out[3][:, part] = index
            if vertices.shape != shape:
                shape = vertices.shape
                places = shape[2] * (3 * np.arange(shape[0], dtype=np.intp) + np.arange(3)[:, None, None])
            out[:3, :, part] = vertices.take(places + index, mode="clip")
        if self._linear is not None:
            linear = self._linear[side] if columns is None else self._linear[side].take(columns, axis=2)
            out[:3] = einsum("rcm,ckm->rkm", linear, out[:3])

    def vertex_heights(
        self, directions: FloatArray, side: int, columns: IntArray | None = None
    ) -> Iterator[tuple[slice | IntArray, FloatArray, FloatArray]]:
        """Yield of a few hundred columns: which they are, the vertices (n, 3, v) of A or B from their means, padded and
        before poses, and their heights (n, k, v) along directions (3, k, m), in their poses. The arrays are overwritten
        by the next ones."""
        if self._linear is not None:
            linear = self._linear[side] if columns is None else self._linear[side].take(columns, axis=2)
            directions = einsum("rcm,rkm->ckm", linear, directions)
        turned = np.ascontiguousarray(directions.transpose(2, 1, 0))
        blocks, slots = self._places[1 + side], self._places[3 + side]
        if columns is not None:
            blocks, slots = blocks.take(columns), slots.take(columns)
        memory, number = self.table.scratch, turned.shape[1]
        low, high = (int(blocks.min()), int(blocks.max())) if len(blocks) else (0, -1)
        for k in range(low, high + 1):
            members = None if low == high else np.flatnonzero(blocks == k)
            vertices = self.table.blocks[k]
            size = vertices.shape[2]
            step = max(1, BLOCK // (size * (3 + number)))
            total = len(slots) if members is None else len(members)
            for start in range(0, total, step):
                count = min(step, total - start)
                split, end = 3 * size * count, (3 + number) * size * count
                gathered = memory[:split].reshape(count, 3, size)
                heights = memory[split:end].reshape(count, number, size)
                part = slice(start, start + count) if members is None else members[start : start + count]
                vertices.take(slots[part], axis=0, out=gathered, mode="clip")
                np.matmul(turned[part], gathered, out=heights)
                yield part, gathered, heights


def witness_points(
    table: HullTable, i: IntArray, j: IntArray, ids: FloatArray, weights: FloatArray, point: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return witness points (3, m) on A and B, world frame: the same weights (k, m) that make `point` (3, m) of support
    points with `ids` (k, m), of the vertices of A; and as far from there as `point` says."""
    local = einsum("csm,sm->cm", table.vertices(i, vertices_of(ids)[0]), weights)
    mean_a, mean_b = (table.centers[:3].take(n, axis=1) + table.centers[3:].take(n, axis=1) for n in (i, j))
    return local + mean_a, (local - point - table.offsets(i, j)) + mean_b
