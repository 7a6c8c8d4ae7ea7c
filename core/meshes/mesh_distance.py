# SPDX-License-Identifier: GPL-3.0-or-later
"""The distance of two meshes, and of points from a mesh: descents of trees that leave out what is too far to matter.

Both are of surfaces: a mesh inside another, closed one is as far from it as their triangles are. A few of the nearest
pairs of nodes are followed down first; what they find lets most others be left out. Source: S3.4; E. Larsen et al.,
Fast distance queries with rectangular swept sphere volumes, 2000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array, validate_magnitude
from ..bounding.bounding_sphere import Spheres
from ..bounding.bounding_volumes import bounding_volumes
from ..bounding.kdop import KDops
from ..bounding.volumes import Volumes
from ..hierarchy.bvh import Bvh, alike, ranges
from ..progress import Progress, report_progress
from ..tolerance import EPS, EXTREME_EXPONENT, KDOP_GAP, MESH_GAP, SMALLEST_STEP
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from .mesh import checked_mesh
from .triangle_distance import distance_exactly, measured, points_at, slabs

_MESH_SLIVER = 1e-5
"""Sine between two sides of a triangle, below which the foot of a point on it is found in more than two steps."""

_BATCH = 1 << 14
"""Pairs of nodes, or of a point and a node, opened in one go."""

_PAIRS = 1 << 10
"""Pairs of triangles measured in one go."""

_AGAIN = 8
"""Times that the foot of a point on a sliver is looked for again."""

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


@dataclass(frozen=True, eq=False)
class MeshPoints(ReadOnlyArrays):
    """The points of a surface nearest to q points. World frame and units; the arrays are read-only."""

    distance: FloatArray
    """(q,) how far each point is from the surface, never negative."""
    point: FloatArray
    """(q, 3) the nearest point of the surface."""
    triangle: IntArray
    """(q,) a triangle that it is on."""


def mesh_distance(
    points_a: ArrayLike,
    triangles_a: ArrayLike,
    tree_a: Bvh,
    points_b: ArrayLike,
    triangles_b: ArrayLike,
    tree_b: Bvh,
    progress: Progress | None = None,
) -> MeshDistance:
    """Return the distance of two surfaces made of triangles, 0 when they meet, and where they are nearest.

    Args:
        points_a, points_b: vertices (n, 3) in one frame, the world's.
        triangles_a, triangles_b: (m, 3) indices into them, at least one; flat and single-point triangles count too.
        tree_a, tree_b: what `build_bvh` makes of `volumes_of_triangles` of these very triangles where they are now,
            both of one kind of volume.
        progress: called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is of another kind or shape, not finite or empty, when an index
    has no point or a tree is not of as many triangles; Cancelled when `progress` says so. Source: S3.4.
    """
    a = _Surface.checked("a", points_a, triangles_a, tree_a)
    b = _Surface.checked("b", points_b, triangles_b, tree_b)
    if not alike(tree_a.volumes, tree_b.volumes):
        raise ValueError("tree_b must hold volumes of the same kind and dimension as tree_a")
    search = _Search(a, b, progress)
    search.run()
    return search.result()


def points_to_mesh(
    points: ArrayLike,
    vertices: ArrayLike,
    triangles: ArrayLike,
    tree: Bvh,
    progress: Progress | None = None,
    *,
    enough: ArrayLike | None = None,
) -> MeshPoints:
    """Return, for each point (q, 3), the nearest point of a surface made of triangles. q may be 0.

    vertices (n, 3) are in the frame of the points, triangles (m, 3) indices into them, at least one; `tree` is what
    `build_bvh` makes of `volumes_of_triangles` of these triangles where they are now. `progress` is called with the
    share done, 0 to 1; False cancels. Distances are right to a few rounding errors of the largest coordinate and 1e-9.

    enough: (q,) lengths, or None. A point is not looked at further once the surface is known to be no farther than its
        length: what is told then is a point of the surface no farther than that, but maybe not the nearest.

    Raises ValueError, naming the argument, when one is of another kind or shape, not finite or empty, when an index
    has no point or the tree is not of as many triangles; Cancelled when `progress` says so. Source: S3.4.
    """
    array = as_array("points", points, "an array (q, 3)")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"points: an array (q, 3) expected, got the shape {array.shape}")
    validate_magnitude("points", array)
    surface = _Surface.checked("", vertices, triangles, tree)
    least = np.zeros(len(array)) if enough is None else as_array("enough", enough, "an array (q,)")
    if least.shape != (len(array),):
        raise ValueError(f"enough: an array ({len(array)},) expected, got the shape {least.shape}")
    distance, nearest, which = np.empty(len(array)), np.empty((len(array), 3)), np.empty(len(array), dtype=np.intp)
    report_progress(progress, 0.0)
    for begin in range(0, len(array), _BATCH):
        part = slice(begin, begin + _BATCH)
        _nearest(array[part], surface, least[part], distance[part], nearest[part], which[part])
        report_progress(progress, min(begin + _BATCH, len(array)), len(array))
    report_progress(progress, 1.0)
    return MeshPoints(read_only(distance), read_only(nearest), read_only(which))


@dataclass(frozen=True, eq=False)
class _Surface:
    """A mesh with its tree."""

    points: FloatArray
    triangles: IntArray
    tree: Bvh

    @classmethod
    def checked(cls, name: str, points: ArrayLike, triangles: ArrayLike, tree: object) -> _Surface:
        """Return it from arguments with this end of their names."""
        of_points, of_triangles, of_tree = (
            (f"points_{name}", f"triangles_{name}", f"tree_{name}") if name else ("vertices", "triangles", "tree")
        )
        array, corners = checked_mesh(points, triangles, of_points, of_triangles)
        if not isinstance(tree, Bvh):
            raise ValueError(f"{of_tree} must be a tree, what build_bvh returns, not {type(tree).__name__}")
        if tree.volumes.dim != 3 or len(tree.items) != len(corners):
            raise ValueError(
                f"{of_tree} must be over the {len(corners)} triangles in space, but it is over {len(tree.items)} "
                f"volumes of dimension {tree.volumes.dim}"
            )
        # A tree of where the mesh was before would give wrong answers: a few triangles tell most of these.
        some = np.unique(np.linspace(0, len(corners) - 1, 16).astype(np.intp))
        if not _hold(tree.item_volumes.take(some), array, corners[some]):
            raise ValueError(f"{of_tree} is not of these triangles: its volumes do not hold them")
        return cls(array, corners, tree)

    def rows(self, chosen: IntArray) -> FloatArray:
        """Return the corners of some triangles as rows (corner, axis, n)."""
        corners = self.triangles.take(chosen, axis=0)
        return np.ascontiguousarray(self.points.take(corners.T, axis=0).transpose(0, 2, 1))

    def corners(self, chosen: int) -> FloatArray:
        """Return the corners (3, 3) of a triangle."""
        return self.points[self.triangles[chosen]]


def _hold(volumes: Volumes, points: FloatArray, triangles: IntArray) -> bool:
    """Tell whether volumes hold triangles, to rounding."""
    reach = float(np.abs(points[triangles]).max())
    wide = volumes.grown(MESH_GAP * EPS * reach)
    return all(bool(wide.contain(points[triangles[:, k]]).all()) for k in range(3))


class _Gaps:
    """Lower bounds of the distances of what is inside two batches of volumes."""

    def __init__(self, a: Volumes, b: Volumes) -> None:
        """Get ready."""
        self.a, self.b = a, b
        self.slack = 0.0
        self.plain = False
        if isinstance(a, KDops) and isinstance(b, KDops):
            largest = max(float(np.abs(bound).max()) for v in (a, b) for bound in (v.low[:3], v.high[:3]))
            # Squares of differences must neither overflow nor vanish.
            self.plain = largest == 0.0 or abs(int(np.frexp(largest)[1])) <= 4 * EXTREME_EXPONENT
        else:
            # Balls and oriented boxes are rounded when they are made, and so are their gaps.
            sides = [np.abs(v.centers()).max() + np.sqrt(v.sizes().max()) for v in (a, b)]
            self.slack = MESH_GAP * EPS * float(max(sides))

    def __call__(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return (n,) bounds for volumes i of A and j of B."""
        if not self.plain:
            apart = self.a.take(i).gap(self.b.take(j)) - self.slack
            return np.maximum(apart, 0.0)
        assert isinstance(self.a, KDops)
        assert isinstance(self.b, KDops)
        result = np.zeros(len(i))
        for axis in range(3):
            gap = self.b.low[axis].take(j) - self.a.high[axis].take(i)
            np.maximum(gap, self.a.low[axis].take(i) - self.b.high[axis].take(j), out=gap)
            np.maximum(gap, 0.0, out=gap)
            gap *= gap
            result += gap
        np.sqrt(result, out=result)
        result *= 1.0 - KDOP_GAP * EPS
        return result


class _Search:
    """The work of `mesh_distance`: a stack of pairs of nodes that may hold nearer triangles than the best so far."""

    def __init__(self, a: _Surface, b: _Surface, progress: Progress | None) -> None:
        """Get ready."""
        self.a, self.b, self.progress = a, b, progress
        self.gaps = _Gaps(a.tree.volumes, b.tree.volumes)
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
            gap, i, j, share = waiting.pop()
            if len(i) > _BATCH:
                part = share * _BATCH / len(i)
                # The nearest first: what they find may spare the others.
                order = np.argpartition(gap, _BATCH)
                rest, chosen = order[_BATCH:], order[:_BATCH]
                waiting.append((gap.take(rest), i.take(rest), j.take(rest), share - part))
                gap, i, j, share = gap.take(chosen), i.take(chosen), j.take(chosen), part
            near = np.flatnonzero(gap < self.best)
            i, j = self._opened(i.take(near), j.take(near))
            gap = self.gaps(i, j)
            near = np.flatnonzero(gap < self.best)
            gap, i, j = gap.take(near), i.take(near), j.take(near)
            if len(i):
                self._follow(i.take(chosen := _least(gap, _FIRST)), j.take(chosen), levels=1)
                waiting.append((gap, i, j, share))
            else:
                self.done += share
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
            self._measure(_some(self.a.tree, i), _some(self.b.tree, j), note=False)
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
        return np.concatenate([one for one, _ in parts]), np.concatenate([other for _, other in parts])

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
            one = a.items.take(a.first.take(i).take(pair) + number // width)
            self._measure(one, b.items.take(b.first.take(j).take(pair) + number % width))

    def _measure(self, one: IntArray, other: IntArray, note: bool = True) -> None:
        """Measure pairs of triangles; without `note` only to find a near one: they will come again."""
        for begin in range(0, len(one), _BATCH):
            p, q = one[begin : begin + _BATCH], other[begin : begin + _BATCH]
            if len(p) <= _PAIRS:
                self._measure_some(p, q, note)
                continue
            # The nearest first: what they find spares most of the others.
            lower = slabs(self.a.rows(p), self.b.rows(q))
            near = np.flatnonzero(lower < self.best)
            near = near.take(np.argsort(lower.take(near), kind="stable"))
            for start in range(0, len(near), _PAIRS):
                some = near[start : start + _PAIRS]
                if self.best == 0.0 or lower[some[0]] >= self.best:
                    break
                self._measure_some(p.take(some), q.take(some), note)

    def _measure_some(self, p: IntArray, q: IntArray, note: bool) -> None:
        """Measure no more than `_PAIRS` pairs of triangles."""
        if self.best == 0.0:
            return
        rows_a, rows_b = self.a.rows(p), self.b.rows(q)
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
        found, proved, on_a, on_b = distance_exactly(self.a.corners(p), self.b.corners(q))
        self.lower = min(self.lower, proved)
        if found < self.best or found == 0.0:
            self.best, self.pair = found, (p, q)
            self.on_a, self.on_b = np.array(on_a), np.array(on_b)

    def _settle(self) -> None:
        """Measure in whole numbers what is uncertain and may be nearer than the best."""
        if self.best == 0.0 or not self.open:
            return
        lower = np.concatenate([part[0] for part in self.open])
        one = np.concatenate([part[1] for part in self.open])
        other = np.concatenate([part[2] for part in self.open])
        order = np.lexsort((other, one, lower))
        for count, k in enumerate(order.tolist()):
            if lower[k] >= self.best:
                break
            self._decide(int(one[k]), int(other[k]))
            if self.best == 0.0:
                break
            report_progress(self.progress, 0.9 + 0.1 * count / len(order))


def _least(values: FloatArray, count: int) -> IntArray:
    """Return where the smallest values are, no more than `count`."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, count)[:count]


# ---------------------------------------------------------------------------------------------------------------------
# Points


class _PointGaps:
    """Lower bounds of the distances of points from what is inside volumes of one batch."""

    def __init__(self, points: FloatArray, volumes: Volumes) -> None:
        """Get ready."""
        self.points, self.volumes = np.ascontiguousarray(points.T), volumes
        self.gaps: _Gaps | None = None
        if isinstance(volumes, KDops):
            self.low, self.high = volumes.low[:3], volumes.high[:3]
            largest = max(float(np.abs(bound).max()) for bound in (self.low, self.high, points))
            if largest == 0.0 or abs(int(np.frexp(largest)[1])) <= 4 * EXTREME_EXPONENT:
                return
            balls: Volumes = bounding_volumes("kdop", points, np.arange(len(points)), k=volumes.k)
        elif isinstance(volumes, Spheres):
            balls = bounding_volumes("sphere", points, np.arange(len(points)))
        else:
            balls = bounding_volumes("obb", points, np.arange(len(points)))
        self.gaps = _Gaps(balls, volumes)

    def __call__(self, which: IntArray, nodes: IntArray) -> FloatArray:
        """Return (n,) bounds for points and nodes."""
        if self.gaps is not None:
            return self.gaps(which, nodes)
        result = np.zeros(len(nodes))
        for axis in range(3):
            x = self.points[axis].take(which)
            gap = self.low[axis].take(nodes) - x
            np.maximum(gap, x - self.high[axis].take(nodes), out=gap)
            np.maximum(gap, 0.0, out=gap)
            gap *= gap
            result += gap
        np.sqrt(result, out=result)
        result *= 1.0 - KDOP_GAP * EPS
        return result


def _nearest(
    points: FloatArray,
    mesh: _Surface,
    enough: FloatArray,
    distance: FloatArray,
    nearest: FloatArray,
    which: IntArray,
) -> None:
    """Put the distance (q,), the nearest point (q, 3) and its triangle (q,) of some points into the last three."""
    tree = mesh.tree
    gaps = _PointGaps(points, tree.volumes)
    distance[:] = np.inf

    def measure(of: IntArray, leaves: IntArray) -> None:
        counts = tree.count.take(leaves)
        chosen = tree.items.take(ranges(tree.first.take(leaves), counts))
        of = np.repeat(of, counts)
        for begin in range(0, len(of), _BATCH):
            _measure_points(
                points, mesh, of[begin : begin + _BATCH], chosen[begin : begin + _BATCH], distance, nearest, which
            )

    # A corner below each node: no point is farther from the mesh than from these.
    corner = np.ascontiguousarray(
        mesh.points.take(mesh.triangles[:, 0].take(_some(tree, np.arange(len(tree)))), axis=0).T
    )
    rows = np.ascontiguousarray(points.T)

    def to_corner(of: IntArray, nodes: IntArray) -> FloatArray:
        gap = corner.take(nodes, axis=1)
        gap -= rows.take(of, axis=1)
        np.abs(gap, out=gap)
        return np.hypot(np.hypot(gap[0], gap[1]), gap[2]) * (1.0 + MESH_GAP * EPS)

    # Every point first goes down to the child with the nearer corner until it is at a leaf.
    of, nodes = np.arange(len(points)), np.zeros(len(points), dtype=np.intp)
    while len(of):
        left = tree.left.take(nodes)
        ends, inner = np.flatnonzero(left < 0), np.flatnonzero(left >= 0)
        measure(of.take(ends), nodes.take(ends))
        of, left = of.take(inner), left.take(inner)
        nodes = left + (to_corner(of, left + 1) < to_corner(of, left))
    bound = distance.copy()
    waiting = [(np.arange(len(points)), np.zeros(len(points), dtype=np.intp))]
    while waiting:
        of, nodes = waiting.pop()
        if len(of) > 4 * _BATCH:
            waiting.append((of[: -4 * _BATCH], nodes[: -4 * _BATCH]))
            of, nodes = of[-4 * _BATCH :], nodes[-4 * _BATCH :]
        # Not only where it is less: a bound may not have been reached yet.
        gap, found = gaps(of, nodes), distance.take(of)
        near = np.flatnonzero((gap <= bound.take(of)) & (gap < found) & (found > enough.take(of)))
        of, nodes = of.take(near), nodes.take(near)
        left = tree.left.take(nodes)
        ends, inner = np.flatnonzero(left < 0), np.flatnonzero(left >= 0)
        if len(ends):
            measure(of.take(ends), nodes.take(ends))
            np.minimum(bound, distance, out=bound)
        if len(inner):
            of = of.take(inner)
            # Nodes of one point stand together.
            starts = np.flatnonzero(np.diff(of, prepend=-1))
            nearest_corner = np.minimum.reduceat(to_corner(of, nodes.take(inner)), starts)
            target = of.take(starts)
            bound[target] = np.minimum(bound.take(target), nearest_corner)
            waiting.append((np.repeat(of, 2), (left.take(inner)[:, None] + np.arange(2)).ravel()))


def _some(tree: Bvh, nodes: IntArray) -> IntArray:
    """Return one of the items below each of some nodes."""
    return tree.items.take(tree.first.take(nodes) + tree.count.take(nodes) // 2)


def _measure_points(
    points: FloatArray,
    mesh: _Surface,
    of: IntArray,
    chosen: IntArray,
    distance: FloatArray,
    nearest: FloatArray,
    which: IntArray,
) -> None:
    """Measure points against triangles, pair by pair, and note what is nearer than before."""
    if not len(of):
        return
    p = np.ascontiguousarray(points.take(of, axis=0).T)
    rows = mesh.rows(chosen)
    found, at = point_triangle_distances(p, rows)
    # The nearest triangle of each point comes first among its own.
    order = np.lexsort((chosen, found, of))
    sorted_of = of.take(order)
    first = order[np.flatnonzero(np.diff(sorted_of, prepend=-1))]
    target = of.take(first)
    better = first[found.take(first) < distance.take(target)]
    target = of.take(better)
    distance[target], which[target] = found.take(better), chosen.take(better)
    nearest[target] = at.take(better, axis=1).T


def point_triangle_distances(p: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, element by element, the distances (n,) of points (3, n) from triangles, and the nearest points (3, n).

    Triangles have their corners in rows (corner, axis, n).
    """
    a, w = rows - rows[0], p - rows[0]
    size = np.maximum(np.abs(a).max(axis=(0, 1)), np.abs(w).max(axis=0))
    exponent = np.frexp(size)[1]
    a, w = np.ldexp(a, -exponent), np.ldexp(w, -exponent)
    best, square = np.zeros_like(w), np.full(w.shape[1], np.inf)

    def consider(foot: FloatArray, where: FloatArray | None = None) -> None:
        gap = w - foot
        its = (gap * gap).sum(axis=0)
        if where is not None:
            its[~where.astype(bool)] = np.inf
        nearer = np.flatnonzero(its < square)
        square[nearer] = its.take(nearer)
        best[:, nearer] = foot.take(nearer, axis=1)

    for k in range(3):
        start, along = a[k], a[(k + 1) % 3] - a[k]
        length = (along * along).sum(axis=0)
        share = np.divide(((w - start) * along).sum(axis=0), length, out=np.zeros_like(length), where=length > 0.0)
        np.clip(share, 0.0, 1.0, out=share)
        end = a[(k + 1) % 3]
        # From the nearer end: a foot at an end is that end itself.
        consider(np.where(share <= 0.5, start + share * along, end - (1.0 - share) * along))
    e1, e2 = a[1], a[2]
    normal = np.stack([e1[1] * e2[2] - e1[2] * e2[1], e1[2] * e2[0] - e1[0] * e2[2], e1[0] * e2[1] - e1[1] * e2[0]])
    length = (normal * normal).sum(axis=0)
    flat = length == 0.0
    length[flat] = 1.0
    normal /= length
    to_second = np.stack(
        [
            e2[1] * normal[2] - e2[2] * normal[1],
            e2[2] * normal[0] - e2[0] * normal[2],
            e2[0] * normal[1] - e2[1] * normal[0],
        ]
    )
    to_third = np.stack(
        [
            normal[1] * e1[2] - normal[2] * e1[1],
            normal[2] * e1[0] - normal[0] * e1[2],
            normal[0] * e1[1] - normal[1] * e1[0],
        ]
    )
    second, third = (w * to_second).sum(axis=0), (w * to_third).sum(axis=0)
    # Once more from there: in thin triangles the first foot is off by far more than a rounding error.
    rest = w - second * e1 - third * e2
    second += (rest * to_second).sum(axis=0)
    third += (rest * to_third).sum(axis=0)
    # In the thinnest each time takes away a few digits only.
    sine = np.sqrt(np.where(flat, np.inf, length)) / np.sqrt(np.maximum((e1 * e1).sum(axis=0), SMALLEST_STEP))
    thin = np.flatnonzero(sine < _MESH_SLIVER * np.sqrt((e2 * e2).sum(axis=0)))
    for _ in range(_AGAIN if len(thin) else 0):
        rest = w[:, thin] - second[thin] * e1[:, thin] - third[thin] * e2[:, thin]
        second[thin] += (rest * to_second[:, thin]).sum(axis=0)
        third[thin] += (rest * to_third[:, thin]).sum(axis=0)
    inside = (second >= 0.0) & (third >= 0.0) & (second + third <= 1.0) & ~flat
    consider(second * e1 + third * e2, inside)
    return np.ldexp(np.sqrt(square), exponent), np.ldexp(best, exponent) + rows[0]
