# SPDX-License-Identifier: GPL-3.0-or-later
"""The distance of two meshes: a descent of both trees that leaves out what is too far apart to matter.

It is that of the surfaces: a mesh inside another, closed one is as far from it as their triangles are. A few of the
nearest pairs of nodes are followed down first; what they find lets most others be left out. Source: S3.4; E. Larsen et
al., Fast distance queries with rectangular swept sphere volumes, 2000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bounding.kdop import KDops
from ..hierarchy.bvh import Bvh
from ..progress import Progress, report_progress
from ..tolerance import EPS, EXTREME_EXPONENT, KDOP_GAP
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from .surface import Surface, validate_mesh
from .triangle_distance import distance_exactly, measured, points_at, slabs
from .vectors import scale_exponent, scale_points

_BATCH = 1 << 14
"""Pairs of nodes opened in one go."""
_PAIRS = 1 << 10
"""Pairs of triangles measured in one go."""
_FIRST = 32
"""Pairs of nodes followed down before all others."""


@dataclass(frozen=True, eq=False)
class MeshDistance(ReadOnlyArrays):
    """How far two surfaces are apart, and where. World frame and units."""

    distance: float
    """0 exactly when a triangle of A and one of B have a common point. Otherwise right to 1e-9 of itself, 1e-12 of the
    size of the two triangles and a few rounding errors of the largest coordinate."""
    point_on_a: FloatArray
    """(3,) a point of A nearest to B, read-only."""
    point_on_b: FloatArray
    """(3,) a point of B nearest to A, read-only."""
    triangle_a: int
    """Which triangle of A `point_on_a` is on."""
    triangle_b: int
    """Which triangle of B `point_on_b` is on."""
    lower_bound: float
    """Proved: no two points of the surfaces are nearer to each other than this."""
    measured: int
    """How many pairs of triangles were measured."""
    possible: int
    """How many pairs of triangles there are."""


def mesh_distance(a: Surface, b: Surface, progress: Progress | None = None) -> MeshDistance:
    """Return the distance of the surfaces of two meshes, 0 where they meet, and where they are nearest.

    Triangles without area count too. `progress` is called with the fraction done, 0 to 1; False cancels. Raise
    ValueError, naming the argument, when one is not a Mesh; Cancelled when `progress` returns False. Source: S3.4.

    >>> triangle = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> mesh_distance(triangle, triangle.translated([0, 0, 2])).distance
    2.0
    """
    validate_mesh("a", a)
    validate_mesh("b", b)
    search = _Search(a, b, progress)
    search.run()
    return search.result()


def _corners(mesh: Surface, triangle: int) -> FloatArray:
    """Return the corners (3, 3) of a triangle."""
    return mesh.points[mesh.triangles[triangle]]


class BoxGaps:
    """Lower bounds of the distances between the boxes of two sets, by their corners (3, n); points are such boxes."""

    def __init__(self, low_a: FloatArray, high_a: FloatArray, low_b: FloatArray, high_b: FloatArray) -> None:
        """Scale the corners where squares of differences would overflow or vanish."""
        self.is_points = low_a is high_a
        bounds = [low_a, low_b, high_b] if self.is_points else [low_a, high_a, low_b, high_b]
        largest = max(float(np.abs(bound).max(initial=0.0)) for bound in bounds)
        self.exponent = scale_exponent(largest, 4 * EXTREME_EXPONENT)
        bounds = [scale_points(bound, self.exponent) for bound in bounds]
        self.low_a, self.high_a, self.low_b, self.high_b = bounds[0], bounds[-3], *bounds[-2:]

    def __call__(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return (n,) bounds for boxes i of A and j of B."""
        result = np.zeros(len(i))
        for axis in range(3):
            high = self.high_a[axis].take(i)
            low = high if self.is_points else self.low_a[axis].take(i)
            gap = self.low_b[axis].take(j)
            gap -= high
            np.maximum(gap, low - self.high_b[axis].take(j), out=gap)
            np.maximum(gap, 0.0, out=gap)
            gap *= gap
            result += gap
        np.sqrt(result, out=result)
        result *= 1.0 - KDOP_GAP * EPS
        return scale_points(result, -self.exponent)


def node_bounds(mesh: Surface) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest corners (3, m) of the nodes of a mesh's tree."""
    volumes = mesh.tree.volumes
    assert isinstance(volumes, KDops)
    return volumes.low.T, volumes.high.T


def some_items(tree: Bvh, nodes: IntArray) -> IntArray:
    """Return one of the items below each of some nodes."""
    return tree.items.take(tree.first.take(nodes) + tree.count.take(nodes) // 2)


class _Search:
    """The work of `mesh_distance`: a stack of pairs of nodes that may contain nearer triangles than the best so far."""

    def __init__(self, a: Surface, b: Surface, progress: Progress | None) -> None:
        """Get ready."""
        self.a, self.b, self.progress = a, b, progress
        self.gaps = BoxGaps(*node_bounds(a), *node_bounds(b))
        self.best, self.lower = np.inf, np.inf
        self.pair = (0, 0)
        self.on_a = self.on_b = np.zeros(3)
        self.measured = 0
        self.done = 0.0
        self.open: list[tuple[FloatArray, IntArray, IntArray]] = []
        """Lower bounds and pairs of triangles whose distance is still uncertain."""

    def run(self) -> None:
        """Find the nearest pair of triangles."""
        report_progress(self.progress, 0.0)
        root = np.zeros(1, dtype=np.intp)
        self._follow(root, root)
        waiting = [(self.gaps(root, root), root, root, 1.0)]
        while waiting and self.best > 0.0:
            gap, i, j, fraction = waiting.pop()
            if len(i) > _BATCH:
                part = fraction * _BATCH / len(i)
                # The nearest first: what they find may spare the others.
                order = np.argpartition(gap, _BATCH)
                remaining, chosen = order[_BATCH:], order[:_BATCH]
                waiting.append((gap.take(remaining), i.take(remaining), j.take(remaining), fraction - part))
                gap, i, j, fraction = gap.take(chosen), i.take(chosen), j.take(chosen), part
            near = np.flatnonzero(gap < self.best)
            i, j = self._opened(i.take(near), j.take(near))
            gap = self.gaps(i, j)
            near = np.flatnonzero(gap < self.best)
            gap, i, j = gap.take(near), i.take(near), j.take(near)
            if len(i):
                self._follow(i.take(chosen := _least(gap, _FIRST)), j.take(chosen), levels=1)
                waiting.append((gap, i, j, fraction))
            else:
                self.done += fraction
            report_progress(self.progress, 0.9 * self.done)
        self._settle()
        report_progress(self.progress, 1.0)

    def result(self) -> MeshDistance:
        """Return what was found."""
        return MeshDistance(
            self.best,
            read_only(np.array(self.on_a)),
            read_only(np.array(self.on_b)),
            *self.pair,
            min(self.lower, self.best),
            self.measured,
            len(self.a.triangles) * len(self.b.triangles),
        )

    def _follow(self, i: IntArray, j: IntArray, levels: int | None = None) -> None:
        """Measure a triangle each of a few pairs of nodes and, level by level, of the nearest below them."""
        while len(i) and self.best > 0.0:
            self._measure(some_items(self.a.tree, i), some_items(self.b.tree, j), note=False)
            if levels is not None:
                return
            i, j = self._opened(i, j)
            gap = self.gaps(i, j)
            chosen = _least(gap, _FIRST)
            i, j = i.take(chosen), j.take(chosen)

    def _opened(self, i: IntArray, j: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of nodes below pairs of nodes; the triangles of pairs of leaves are measured."""
        left_i, left_j = self.a.tree.left.take(i), self.b.tree.left.take(j)
        leaf_i, leaf_j = left_i < 0, left_j < 0
        ends = np.flatnonzero(leaf_i & leaf_j)
        if len(ends):
            self._measure_leaves(i.take(ends), j.take(ends))
        k = np.flatnonzero(~(leaf_i | leaf_j))
        parts = [
            (
                (left_i.take(k)[:, None] + np.array([0, 0, 1, 1])).ravel(),
                (left_j.take(k)[:, None] + np.array([0, 1, 0, 1])).ravel(),
            )
        ]
        twins = np.arange(2)
        k = np.flatnonzero(leaf_j & ~leaf_i)
        parts.append(((left_i.take(k)[:, None] + twins).ravel(), np.repeat(j.take(k), 2)))
        k = np.flatnonzero(leaf_i & ~leaf_j)
        parts.append((np.repeat(i.take(k), 2), (left_j.take(k)[:, None] + twins).ravel()))
        return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])

    def _measure_leaves(self, i: IntArray, j: IntArray) -> None:
        """Measure every triangle of leaf i[k] of A against every one of leaf j[k] of B."""
        a, b = self.a.tree, self.b.tree
        count_j = b.count.take(j)
        counts = a.count.take(i) * count_j
        if int(counts.max()) == 1:
            self._measure(a.items.take(a.first.take(i)), b.items.take(b.first.take(j)))
            return
        ends = np.cumsum(counts)
        for begin in range(0, int(ends[-1]), _BATCH):
            number = np.arange(begin, min(begin + _BATCH, int(ends[-1])))
            pair = np.searchsorted(ends, number, side="right")
            number -= (ends - counts).take(pair)
            width = count_j.take(pair)
            of_a = a.items.take(a.first.take(i).take(pair) + number // width)
            self._measure(of_a, b.items.take(b.first.take(j).take(pair) + number % width))

    def _measure(self, i: IntArray, j: IntArray, note: bool = True) -> None:
        """Measure pairs of triangles; without `note` only to find a near one: they will come again."""
        for begin in range(0, len(i), _BATCH):
            p, q = i[begin : begin + _BATCH], j[begin : begin + _BATCH]
            if len(p) <= _PAIRS:
                self._measure_batch(p, q, note)
                continue
            # The nearest first: what they find spares most of the others.
            lower = slabs(
                self.a.corner_rows(p),
                self.b.corner_rows(q),
            )
            near = np.flatnonzero(lower < self.best)
            near = near.take(np.argsort(lower.take(near), kind="stable"))
            for start in range(0, len(near), _PAIRS):
                indices = near[start : start + _PAIRS]
                if self.best == 0.0 or lower[indices[0]] >= self.best:
                    break
                self._measure_batch(p.take(indices), q.take(indices), note)

    def _measure_batch(self, p: IntArray, q: IntArray, note: bool) -> None:
        """Measure no more than `_PAIRS` pairs of triangles."""
        if self.best == 0.0:
            return
        rows_a, rows_b = (
            self.a.corner_rows(p),
            self.b.corner_rows(q),
        )
        found = measured(rows_a, rows_b)
        self.measured += len(p)
        # What may meet is not believed to: only what certainly crosses is at distance 0.
        certain = np.where(found.open & (found.distance == 0.0), np.inf, found.distance)
        k = int(certain.argmin())
        if certain[k] < self.best:
            self.best = float(certain[k])
            self.pair = (int(p[k]), int(q[k]))
            at = slice(k, k + 1)
            self.on_a = points_at(rows_a[..., at], found.weights_a[:, at])[0]
            self.on_b = points_at(rows_b[..., at], found.weights_b[:, at])[0]
            if self.best == 0.0:
                self.on_b, self.lower = self.on_a, 0.0
        if note:
            unsure = np.flatnonzero(found.open & (found.lower < self.best))
            if len(unsure):
                self.open.append((found.lower.take(unsure), p.take(unsure), q.take(unsure)))
                # One of them at once: where meshes touch, one that does is enough.
                k = int(unsure[found.distance.take(unsure).argmin()])
                self._decide(int(p[k]), int(q[k]))
            sure = np.where(found.open, np.inf, found.lower)
            self.lower = min(self.lower, float(sure.min()))

    def _decide(self, p: int, q: int) -> None:
        """Measure a pair of triangles in whole numbers."""
        found, proved, on_a, on_b = distance_exactly(_corners(self.a, p), _corners(self.b, q))
        self.lower = min(self.lower, proved)
        if found < self.best or found == 0.0:
            self.best, self.pair = found, (p, q)
            self.on_a, self.on_b = np.array(on_a), np.array(on_b)

    def _settle(self) -> None:
        """Measure in whole numbers what is uncertain and may be nearer than the best."""
        if self.best == 0.0 or not self.open:
            return
        lower = np.concatenate([part[0] for part in self.open])
        a = np.concatenate([part[1] for part in self.open])
        b = np.concatenate([part[2] for part in self.open])
        order = np.lexsort((b, a, lower))
        for count, k in enumerate(order.tolist()):
            if lower[k] >= self.best:
                break
            self._decide(int(a[k]), int(b[k]))
            if self.best == 0.0:
                break
            report_progress(self.progress, 0.9 + 0.1 * count / len(order))


def _least(values: FloatArray, count: int) -> IntArray:
    """Return where the smallest values are, no more than `count`."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, count)[:count]
