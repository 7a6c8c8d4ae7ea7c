# SPDX-License-Identifier: GPL-3.0-or-later
"""The distance of two meshes: a descent of both trees that leaves out what is too far apart to matter.

It is that of the surfaces: a mesh inside another, closed one is as far from it as their triangles are. Corners below
the nearest pairs of nodes prove how far that is at most, which lets most others be left out; where many are left, disks
along the surfaces are compared besides boxes. Source: S3.4; E. Larsen et al., Fast distance queries with rectangular
swept sphere volumes, 2000.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..hierarchy.bvh import Bvh
from ..hierarchy.nodes import both_children, crossed_children
from ..progress import Progress, report_progress
from ..runs import chunks
from ..tolerance import EPS, EXTREME_EXPONENT, KDOP_GAP, MESH_GAP
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from .coordinates import scale_exponent, scale_points
from .node_disks import NodeDisks
from .surface import Surface, node_bounds, validate_mesh
from .triangle_distance import distance_exactly, measured, points_at, slabs

_FIRST_LEVEL = 4
"""All pairs of nodes on this level are the first to be compared."""
_BATCH = 12_000
"""Pairs of nodes opened, or of triangles sieved, in one go."""
_CHUNK = 4_000
"""Pairs of nodes compared in one go: what is made of them on the way fits the cache."""
_PAIRS = 1 << 10
"""Pairs of triangles measured in one go."""
_FIRST = 64
"""Pairs of triangles measured before all others, those whose slabs are the narrowest."""
_TRIED = 64
"""Pairs of nodes of so many of which a corner each is measured."""
_FEW_PAIRS = 1 << 13
"""Pairs of triangles up to which all are compared, which is faster than to descend trees."""
_DISKS = 1 << 14
"""Pairs of nodes compared from which on it pays to make disks, unless there are eight times as many nodes."""


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
    of_a, of_b = a.without_copies, b.without_copies
    search = _NearestSearch(of_a, of_b, progress)
    search.run()
    found = search.result()
    if of_a is a and of_b is b:
        return found
    first, second = (int(mesh.given(np.array([k]))[0]) for mesh, k in ((a, found.triangle_a), (b, found.triangle_b)))
    return replace(found, triangle_a=first, triangle_b=second, possible=len(a.triangles) * len(b.triangles))


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
        """Return bounds for boxes i of A and j of B, which are broadcast."""
        result: FloatArray = np.zeros(np.broadcast_shapes(i.shape, j.shape))
        for axis in range(3):
            high = self.high_a[axis].take(i)
            low = high if self.is_points else self.low_a[axis].take(i)
            gap = self.low_b[axis].take(j) - high
            np.maximum(gap, low - self.high_b[axis].take(j), out=gap)
            np.maximum(gap, 0.0, out=gap)
            gap *= gap
            result += gap
        np.sqrt(result, out=result)
        result *= 1.0 - KDOP_GAP * EPS
        return scale_points(result, -self.exponent)


def triangle_bounds(mesh: Surface) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest coordinates (3, m) of a mesh's triangles."""
    corners = mesh.corner_rows(np.arange(len(mesh.triangles)))
    return corners.min(axis=0), corners.max(axis=0)


def disks_within(a: Surface, b: Surface, gaps: BoxGaps, reach: float) -> tuple[NodeDisks, NodeDisks]:
    """Return disks to compare nodes of the trees of A and B whose boxes, of these gaps, are no farther apart than
    `reach`."""
    # Most of a large mesh is farther from the box around the other.
    return (
        NodeDisks.of(a, gaps.exponent, lambda nodes: gaps(nodes, np.zeros_like(nodes)) <= reach),
        NodeDisks.of(b, gaps.exponent, lambda nodes: gaps(np.zeros_like(nodes), nodes) <= reach),
    )


def some_items(tree: Bvh, nodes: IntArray) -> IntArray:
    """Return one of the items below each of some nodes."""
    return tree.items.take(tree.first.take(nodes) + tree.count.take(nodes) // 2)


class _NearestSearch:
    """The work of `mesh_distance`: a stack of pairs of nodes that may contain nearer triangles than the best so far."""

    def __init__(self, a: Surface, b: Surface, progress: Progress | None) -> None:
        """Get ready."""
        self.a, self.b, self.progress = a, b, progress
        self.are_few = len(a.triangles) * len(b.triangles) <= _FEW_PAIRS
        bounds = triangle_bounds if self.are_few else node_bounds
        self.gaps = BoxGaps(*bounds(a), *bounds(b))
        self.disks: tuple[NodeDisks, NodeDisks] | None = None
        self.best, self.lower = np.inf, np.inf
        self.bound = np.inf
        """No larger than the best: a distance of two points of the surfaces."""
        self.enough = np.inf
        """Triangles at least as far apart are no nearer than the best, but for what that may be wrong by."""
        self.pair = (0, 0)
        self.on_a = self.on_b = np.zeros(3)
        self.measured = 0
        self.opened = 0
        self.done = 0.0
        self.open: list[tuple[FloatArray, IntArray, IntArray]] = []
        """Lower bounds and pairs of triangles whose distance is still uncertain."""

    def run(self) -> None:
        """Find the nearest pair of triangles."""
        report_progress(self.progress, 0.0)
        if self.are_few:
            count = len(self.b.triangles)
            gap = self.gaps(np.arange(len(self.a.triangles))[:, None], np.arange(count)).ravel()
            self._try(*divmod(_least(gap, _TRIED), count))
            self._measure(*divmod(np.flatnonzero(gap <= self.bound), count))
        else:
            self._descend()
        self._settle()
        report_progress(self.progress, 1.0)

    def _descend(self) -> None:
        """Measure what may be nearest of what is below pairs of nodes, the nearest first."""
        first, second = (mesh.tree.nodes_down_to(_FIRST_LEVEL) for mesh in (self.a, self.b))
        waiting = [(*self._near(np.repeat(first, len(second)), np.tile(second, len(first))), 1.0)]
        while waiting and self.best > 0.0:
            gap, i, j, fraction = waiting.pop()
            if len(i) > _BATCH:
                part = fraction * _BATCH / len(i)
                # The nearest first: what they find may spare the others.
                order = np.argpartition(gap, _BATCH)
                remaining, chosen = order[_BATCH:], np.sort(order[:_BATCH])  # neighbours stay together
                waiting.append((gap.take(remaining), i.take(remaining), j.take(remaining), fraction - part))
                gap, i, j, fraction = gap.take(chosen), i.take(chosen), j.take(chosen), part
            near = np.flatnonzero(gap <= self.bound)
            i, j = self._opened(i.take(near), j.take(near))
            gap, i, j = self._near(i, j)
            if len(i):
                waiting.append((gap, i, j, fraction))
            else:
                self.done += fraction
            report_progress(self.progress, 0.9 * self.done)

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

    def _near(self, i: IntArray, j: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Return lower bounds of the distances below pairs of nodes and the pairs, of those that may have the least."""
        self.opened += len(i)
        if self.disks is None and self.opened > max(_DISKS, (len(self.a.tree) + len(self.b.tree)) // 8):
            self.disks = disks_within(self.a, self.b, self.gaps, self.bound)
        parts = [(np.zeros(0), i[:0], j[:0])]
        for part in chunks(len(i), _CHUNK):
            p, q = i[part], j[part]
            gap = self.gaps(p, q)
            if self.disks is not None:
                near = np.flatnonzero(gap <= self.bound)
                p, q = p.take(near), q.take(near)
                between = scale_points(self.disks[0].gaps(self.disks[1], p, q), -self.gaps.exponent)
                gap = np.maximum(gap.take(near), between)
            tried = _least(gap, _TRIED)
            self._try(some_items(self.a.tree, p.take(tried)), some_items(self.b.tree, q.take(tried)))
            near = np.flatnonzero(gap <= self.bound)
            parts.append((gap.take(near), p.take(near), q.take(near)))
        gap, i, j = (np.concatenate(column) for column in zip(*parts, strict=True))
        return gap, i, j

    def _try(self, i: IntArray, j: IntArray) -> None:
        """Measure a corner each of pairs of triangles: the surfaces are no farther apart."""
        if not len(i):
            return
        a, b = (
            mesh.points.take(mesh.triangles.take(k, axis=0)[:, 0], axis=0) for mesh, k in ((self.a, i), (self.b, j))
        )
        x, y, z = (a - b).T
        length = float(np.hypot(np.hypot(x, y), z).min())
        self.bound = min(self.bound, length * (1.0 + MESH_GAP * EPS))

    def _opened(self, i: IntArray, j: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of nodes below pairs of nodes; the triangles of pairs of leaves are measured."""
        left_i, left_j = self.a.tree.left.take(i), self.b.tree.left.take(j)
        leaf_i, leaf_j = left_i < 0, left_j < 0
        both = np.flatnonzero(~(leaf_i | leaf_j))
        if len(both) == len(i):
            return crossed_children(left_i, left_j)
        ends = np.flatnonzero(leaf_i & leaf_j)
        trees = self.a.tree, self.b.tree
        self._measure(*(tree.items.take(tree.first.take(k.take(ends))) for tree, k in zip(trees, (i, j), strict=True)))
        only_i, only_j = np.flatnonzero(leaf_j & ~leaf_i), np.flatnonzero(leaf_i & ~leaf_j)
        parts = [
            crossed_children(left_i.take(both), left_j.take(both)),
            (both_children(left_i.take(only_i)), np.repeat(j.take(only_i), 2)),
            (np.repeat(i.take(only_j), 2), both_children(left_j.take(only_j))),
        ]
        return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])

    def _measure(self, i: IntArray, j: IntArray) -> None:
        """Measure pairs of triangles, the nearest first: what they find spares most of the others."""
        for part in chunks(len(i), _BATCH):
            p, q = i[part], j[part]
            rows_a, rows_b = self.a.corner_rows(p), self.b.corner_rows(q)
            for across_faces in (False, True):
                lower = slabs(rows_a, rows_b, across_faces)
                near = np.flatnonzero(lower <= self.bound)
                p, q, lower = p.take(near), q.take(near), lower.take(near)
                rows_a, rows_b = rows_a.take(near, axis=2), rows_b.take(near, axis=2)
                if len(p) <= _FIRST:
                    break
            order = np.argsort(lower, kind="stable")
            begin, count = 0, _FIRST
            while begin < len(order) and self.best > 0.0:
                least = float(lower[order[begin]])
                if least > self.bound or least >= self.enough and least > 0.0:
                    self.lower = min(self.lower, least)
                    break
                k = order[begin : begin + count]
                self._measure_batch(p.take(k), q.take(k), rows_a.take(k, axis=2), rows_b.take(k, axis=2))
                begin, count = begin + count, min(2 * count, _PAIRS)

    def _measure_batch(self, p: IntArray, q: IntArray, rows_a: FloatArray, rows_b: FloatArray) -> None:
        """Measure no more than `_PAIRS` pairs of triangles."""
        found = measured(rows_a, rows_b)
        self.measured += len(p)
        # What may meet is not believed to: only what certainly crosses is at distance 0.
        certain = np.where(found.open & (found.distance == 0.0), np.inf, found.distance)
        k = int(certain.argmin())
        if certain[k] < self.best:
            self._found(float(certain[k]), int(p[k]), int(q[k]))
            self.enough = float(found.enough[k])
            column = slice(k, k + 1)
            self.on_a = points_at(rows_a[..., column], found.weights_a[:, column])[0]
            self.on_b = points_at(rows_b[..., column], found.weights_b[:, column])[0]
            if self.best == 0.0:
                self.on_b, self.lower = self.on_a, 0.0
        unsure = np.flatnonzero(found.open & (found.lower <= self.bound))
        if len(unsure):
            self.open.append((found.lower.take(unsure), p.take(unsure), q.take(unsure)))
            # One of them at once: where meshes touch, one that does is enough.
            k = int(unsure[found.distance.take(unsure).argmin()])
            self._decide(int(p[k]), int(q[k]))
        sure = np.where(found.open, np.inf, found.lower)
        self.lower = min(self.lower, float(sure.min()))

    def _found(self, distance: float, p: int, q: int) -> None:
        """Keep a pair of triangles as the nearest so far."""
        self.best, self.pair = distance, (p, q)
        self.bound = min(self.bound, distance)

    def _decide(self, p: int, q: int) -> None:
        """Measure a pair of triangles in whole numbers."""
        found, proved, on_a, on_b = distance_exactly(_corners(self.a, p), _corners(self.b, q))
        self.lower = min(self.lower, proved)
        if found < self.best or found == 0.0:
            self._found(found, p, q)
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
