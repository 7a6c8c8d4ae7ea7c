# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of many pairs of meshes intersect: the trees of all of them are descended at once.

1. Sort the triangles of each mesh along a curve, and put a complete binary tree of boxes over them: one sort for all.
2. Descend a few nodes of each pair of trees. Where meshes cross, most often two triangles that do are found already.
3. Descend the other pairs to the end, and test all triangles whose boxes overlap.
4. Of meshes that do not cross, test whether a part of one is inside the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..narrow_phase.relation import contact_band
from ..progress import Progress, report_progress, subrange
from ..runs import chunks, ranges
from ..shapes.hilbert_curve import curve_codes
from ..tolerance import DEFAULT_CONTACT_TOLERANCE
from ..types import BoolArray, IntArray
from .body import Body
from .enclosure import enclosure_around
from .mesh import Mesh
from .mesh_distance import mesh_distance
from .triangle_pairs import meetings

_LEAF = 4
"""Triangles in a leaf."""
_CODE_BITS = 36
"""Bits of the place of a triangle on the curve."""
_FEW_NODES = 24
"""Pairs of nodes of a pair of trees that the first descent follows."""
_AT_ONCE = 128
"""Pairs of meshes whose trees are descended to the end together."""
_TESTED = 1 << 14
"""Pairs of leaves whose triangles are tested together."""


def meshes_intersect(meshes: Sequence[Mesh], pairs: IntArray, progress: Progress | None = None) -> BoolArray:
    """Return (p,) whether the meshes of each pair (p, 2) intersect, touching included. Exact.

    Raise Cancelled when `progress` returns False.
    """
    result = np.zeros(len(pairs), dtype=np.bool_)
    if not len(pairs):
        return result
    forest = _Forest(meshes)
    result[forest.crossing(pairs, _FEW_NODES)] = True
    rows = np.flatnonzero(~result)
    for part in chunks(len(rows), _AT_ONCE, subrange(progress, 0.2, 0.9)):
        result[rows[part][forest.crossing(pairs[rows[part]], None)]] = True
    bodies: dict[int, Body] = {}
    for row in np.flatnonzero(~result).tolist():
        i, j = pairs[row].tolist()
        (low, high), (other_low, other_high) = meshes[i].bounds, meshes[j].bounds
        if (low <= other_high).all() and (other_low <= high).all():
            a, b = (bodies[k] if k in bodies else bodies.setdefault(k, Body.of(meshes[k])) for k in (i, j))
            if a.contains(b.part_points).any() or b.contains(a.part_points).any():
                result[row] = True
            elif enclosure_around(a, b) is not None or enclosure_around(b, a) is not None:
                band = contact_band(a.mesh, b.mesh, DEFAULT_CONTACT_TOLERANCE)
                result[row] = mesh_distance(a.mesh, b.mesh).distance > band  # else they only touch
    report_progress(progress, 1.0)
    return result


class _Forest:
    """Complete binary trees over the triangles of many meshes, their nodes one after the other.

    The children of a node are neighbours; a leaf has a few triangles, and some at the end of a tree have none.
    """

    def __init__(self, given: Sequence[Mesh]) -> None:
        meshes = [mesh.without_copies for mesh in given]
        points = np.array([len(mesh.points) for mesh in meshes])
        counts = np.array([len(mesh.triangles) for mesh in meshes])
        shifts = np.repeat(np.cumsum(points) - points, counts)
        triangles = np.concatenate([mesh.triangles for mesh in meshes]) + shifts[:, None]
        self.scene = Mesh(np.concatenate([mesh.points for mesh in meshes]), triangles)
        owner = np.repeat(np.arange(len(meshes), dtype=np.intp), counts)  # by default 32 bits, with numpy 1 on Windows
        rows = np.ascontiguousarray(self.scene.points.T)
        p, q, r = (rows.take(triangles[:, k], axis=1) for k in range(3))
        low, high = np.minimum(np.minimum(p, q), r), np.maximum(np.maximum(p, q), r)
        begin = np.cumsum(counts) - counts
        middle = 0.5 * low + 0.5 * high
        lowest, highest = np.minimum.reduceat(middle, begin, axis=1), np.maximum.reduceat(middle, begin, axis=1)
        wide = (highest - lowest).max(axis=0)
        codes = curve_codes(middle, lowest.take(owner, axis=1), np.where(wide > 0.0, wide, 1.0).take(owner))
        self.order = np.argsort((owner << _CODE_BITS) | codes, kind="stable")
        self.box_low, self.box_high = low, high
        self._build(low.take(self.order, axis=1), high.take(self.order, axis=1), begin, counts)

    def _build(self, low: np.ndarray, high: np.ndarray, begin: IntArray, counts: IntArray) -> None:
        """Make the nodes over sorted boxes (3, m), those of each mesh from `begin` on."""
        filled = -(-counts // _LEAF)
        depth = np.ceil(np.log2(filled)).astype(np.intp)
        leaves = 1 << depth
        # As in a heap: the root is node 1 of each tree, its leaves are the last half.
        self.start = np.cumsum(2 * leaves) - 2 * leaves
        total = int((2 * leaves).sum())
        self.low, self.high = np.full((3, total), np.inf), np.full((3, total), -np.inf)
        self.left, self.first, self.count = np.full((3, total), -1)
        nodes = ranges(self.start + leaves, filled)
        first = ranges(np.zeros(len(filled), dtype=np.intp), filled) * _LEAF + np.repeat(begin, filled)
        self.low[:, nodes] = np.minimum.reduceat(low, first, axis=1)
        self.high[:, nodes] = np.maximum.reduceat(high, first, axis=1)
        self.first[nodes], self.count[nodes] = first, np.minimum(_LEAF, np.repeat(begin + counts, filled) - first)
        for level in range(int(depth.max()) - 1, -1, -1):
            trees = np.flatnonzero(depth > level)
            width = np.full(len(trees), 1 << level)
            inner = ranges(self.start[trees] + (1 << level), width)
            child = 2 * inner - np.repeat(self.start[trees], width)
            self.left[inner] = child
            self.low[:, inner] = np.minimum(self.low[:, child], self.low[:, child + 1])
            self.high[:, inner] = np.maximum(self.high[:, child], self.high[:, child + 1])

    def crossing(self, pairs: IntArray, most: int | None) -> IntArray:
        """Return the pairs of meshes (p, 2) of which triangles meet: all, or of a descent of at most so many pairs of
        nodes of each."""
        number, i, j = self._overlapping_leaves(pairs, most)
        found = np.zeros(len(pairs), dtype=np.bool_)
        for part in chunks(len(number), _TESTED):
            open_ = np.flatnonzero(~found[number[part]])
            of, a, b = (row[part].take(open_) for row in (number, i, j))
            sizes = self.count[a] * self.count[b]
            place = ranges(np.zeros(len(sizes), dtype=np.intp), sizes)
            across = np.repeat(self.count[b], sizes)
            own = self.order.take(np.repeat(self.first[a], sizes) + place // across)
            other = self.order.take(np.repeat(self.first[b], sizes) + place % across)
            of = np.repeat(of, sizes)
            near = _overlapping(self.box_low, self.box_high, own, other)
            met = meetings(self.scene, self.scene, np.stack([own.take(near), other.take(near)]))
            found[of.take(near).take(met)] = True
        return np.flatnonzero(found)

    def _overlapping_leaves(self, pairs: IntArray, most: int | None) -> tuple[IntArray, IntArray, IntArray]:
        """Return the pairs of leaves whose boxes overlap: the number of their pair of meshes, and both nodes."""
        number = np.arange(len(pairs))
        i, j = (self.start + 1)[pairs.T]
        found = [(number[:0], number[:0], number[:0])]
        while len(number):
            near = _overlapping(self.low, self.high, i, j)
            number, i, j = number.take(near), i.take(near), j.take(near)
            if most is not None:
                chosen = _spread_over(number, len(pairs), most)
                number, i, j = number.take(chosen), i.take(chosen), j.take(chosen)
            left_i, left_j = self.left.take(i), self.left.take(j)
            leaf_i, leaf_j = left_i < 0, left_j < 0
            ends = np.flatnonzero(leaf_i & leaf_j)
            found.append((number.take(ends), i.take(ends), j.take(ends)))
            # The children of both, or of the one that is no leaf.
            steps_i, steps_j = np.where(leaf_i, 1, 2), np.where(leaf_j, 1, 2)
            sizes = steps_i * steps_j
            sizes[ends] = 0
            place = ranges(np.zeros(len(sizes), dtype=np.intp), sizes)
            across = np.repeat(steps_j, sizes)
            i = np.repeat(np.where(leaf_i, i, left_i), sizes) + place // across
            j = np.repeat(np.where(leaf_j, j, left_j), sizes) + place % across
            number = np.repeat(number, sizes)
        numbers, of_a, of_b = (np.concatenate(rows) for rows in zip(*found, strict=True))
        return numbers, of_a, of_b


def _overlapping(low: np.ndarray, high: np.ndarray, i: IntArray, j: IntArray) -> IntArray:
    """Return the k for which boxes i[k] and j[k], of those with these corners (3, n), overlap."""
    left = np.arange(len(i))
    for axis in range(3):
        a, b = i.take(left), j.take(left)
        met = low[axis].take(a) <= high[axis].take(b)
        met &= low[axis].take(b) <= high[axis].take(a)
        left = left[met]
    return left


def _spread_over(number: IntArray, count: int, most: int) -> IntArray:
    """Return the indices of at most so many of each number 0 to `count` - 1, ascending and evenly spread."""
    sizes = np.bincount(number, minlength=count)
    begin = np.cumsum(sizes) - sizes
    place, size = np.arange(len(number)) - begin.take(number), sizes.take(number)
    return np.flatnonzero((size <= most) | ((place + 1) * most // size > place * most // size))
