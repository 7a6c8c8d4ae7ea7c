# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance, normal and witness points of many pairs of polytopes that are apart: GJK, all pairs at once.

The simplex of a pair has three vertices, some of them equal, and the newest support point.

1. Start with support points in the direction from mean to mean, and in three around it.
2. Find the point v of the simplex nearest to the origin. The newest vertex is always part of the answer, so only the
   three edges and three triangles that it belongs to are candidates.
3. Keep the vertices with weight, and add the support point in direction -v.
4. End where that is no nearer than v but for rounding, or is a vertex of the simplex already.
5. Measure: the slab across the normal is the lower bound, the distance of the witness points the upper one.

Pairs whose search did not end are left to the single call. Source: S4.3, S4.4; C. Ericson, Real-Time Collision
Detection, 5.1.5.
"""

from __future__ import annotations

import numpy as np

from ...progress import Progress, report_progress, subrange
from ...runs import chunks
from ...tolerance import EPS, GJK_GAP, GJK_TOUCH, PARALLEL_EDGES
from ...types import FloatArray, IntArray
from ...vectors import cross, dot, length
from .columns import CHUNK, directions_around, einsum
from .hull_features import are_parallel, support_features
from .hull_pairs import HullContacts, HullPairs, vertices_of, witness_points
from .hull_table import HullTable

_STEPS = 40
"""Support points after which a pair is left; most take two to four."""
_SLOPE = 1.8
"""Slope to the start direction of the first three, times the root of the number of vertices: about their spacing."""
_SLIVER = 64.0
"""Times EPS and the squares of two edges: the square of twice a triangle's area up to which it is taken for its edges.
Sixteen times what three rounded products may be wrong by."""
_TINY = 1e-290
"""Not relative: less than the square of any edge but 0, with a finite inverse."""


def hull_distances(
    table: HullTable,
    i: IntArray,
    j: IntArray,
    width: FloatArray,
    progress: Progress | None = None,
) -> HullContacts:
    """Return distances, normals and witness points of polytopes i (n,) and j (n,).

    Vertices within `width` (n,) of the slab belong to the support features. Raise Cancelled.
    """
    total = len(i)
    result = HullContacts.unknown(total)
    order = table.order(i, j)
    for part in chunks(total, CHUNK, progress):
        columns = order[part]
        search = _DistanceSearch(table, i.take(columns), j.take(columns))
        search.run(subrange(progress, part.start / total, part.stop / total))
        if search.ended:
            pair, points, weights = (np.concatenate(parts, axis=-1) for parts in zip(*search.ended, strict=True))
            columns = columns.take(pair)
            pairs = HullPairs(table, i.take(columns), j.take(columns))
            _measure(pairs, i.take(columns), j.take(columns), points, weights, width.take(columns), columns, result)
    return result


class _DistanceSearch(HullPairs):
    """GJK of some pairs."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray) -> None:
        super().__init__(table, i, j)
        self.points = self._first_points(i, j)
        """(4, 4, m) coordinates and id of the vertices of the simplices; the newest is the last."""
        self.weights = np.zeros((4, len(i)))
        """(4, m) barycentric weights of the first three vertices in v; and of the vertex that was the newest before,
        which has taken the places of those without weight."""
        self.square = np.full(len(i), np.inf)
        """(m,) squared length of v."""
        self.ended: list[tuple[IntArray, FloatArray, FloatArray]] = []
        """Pairs (k,) that have ended, their points and weights."""

    def _first_points(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return support points around the direction from mean to mean, and in it."""
        directions = -self.interior
        sizes = np.array([block.shape[2] for block in self.table.blocks])
        numbers = np.stack([sizes[self.table.block.take(of)] for of in (i, j)])
        slope = _SLOPE / np.sqrt(numbers.mean(axis=0))
        around = directions_around(directions, 3, slope)
        return self.supports(np.concatenate([around, directions[:, None]], axis=1))

    def run(self, progress: Progress | None) -> None:
        """Search until no pair is left. Raise Cancelled."""
        total = len(self.pair)
        for _ in range(_STEPS):
            if not len(self.pair):
                return
            self.step()
            report_progress(progress, total - len(self.pair), total)

    def step(self) -> None:
        """Reduce the simplex to the part nearest to the origin, and add a support point or end."""
        weights = _nearest_weights(self.points[:3])
        v = einsum("csm,sm->cm", self.points[:3], weights)
        square = dot(v, v)
        nearer = square < self.square
        kept = np.flatnonzero(nearer & (square > (GJK_TOUCH * EPS * self.size) ** 2))
        if len(kept) < len(square):
            self.end(np.flatnonzero(~nearer))
            self.keep(kept)
            weights, v, square = weights.take(kept, axis=1), v.take(kept, axis=1), square.take(kept)
        # The newest vertex takes the places of those without weight.
        vertices, newest = self.points[:, :3], self.points[:, 3:]
        stays = (weights[:3] > 0.0).astype(np.float64)
        vertices *= stays
        vertices += newest * (1.0 - stays)
        self.weights, self.square = weights, square
        point = self.supports(-v)
        norm = np.sqrt(square)
        done = square - dot(v, point[:3]) <= GJK_GAP * EPS * norm * (norm + self.size)
        done |= (self.points[3, :3] == point[3]).any(axis=0)
        self.points[:, 3] = point
        self.end(np.flatnonzero(done))
        self.keep(np.flatnonzero(~done))

    def end(self, columns: IntArray) -> None:
        """Store the simplices of these columns."""
        if len(columns):
            points, weights = self.points.take(columns, axis=2), self.weights.take(columns, axis=1)
            self.ended.append((self.pair.take(columns), points, weights))

    def keep(self, columns: IntArray) -> None:
        """Go on with these columns only."""
        super().keep(columns)
        self.points, self.weights = self.points.take(columns, axis=2), self.weights.take(columns, axis=1)
        self.square = self.square.take(columns)


def _nearest_weights(points: FloatArray) -> FloatArray:
    """Return the barycentric weights (4, m) of the nearest points of tetrahedra (3, 4, m) to the origin, found on the
    edges and triangles of the last vertex: at most two of the first three weights are not 0."""
    newest = points[:, 3]
    edges = np.empty_like(points)  # the first one follows the last
    np.subtract(newest[:, None], points[:, :3], out=edges[:, :3])
    edges[:, 3] = edges[:, 0]
    toward, square = einsum("csm,cm->sm", edges, newest), einsum("csm,csm->sm", edges, edges)
    between = einsum("csm,csm->sm", edges[:, :3], edges[:, 1:])
    next_toward, next_square, toward, square = toward[1:], square[1:], toward[:3], square[:3]
    # Along the edges; `gain` is by how much the squared distance is less than that of the newest vertex.
    second = toward / np.maximum(square, _TINY)
    np.maximum(second, 0.0, out=second)
    np.minimum(second, 1.0, out=second)
    gain = second * (2.0 * toward - second * square)
    # In the triangles, where the projection of the origin is inside.
    of_second = next_square * toward - between * next_toward
    of_third = square * next_toward - between * toward
    both = square * next_square
    whole = both - between * between
    inside = (of_second > 0.0) & (of_third > 0.0) & (whole > of_second + of_third) & (whole > _SLIVER * EPS * both)
    scale = 1.0 / np.where(inside, whole, np.inf)
    of_second *= scale
    of_third *= scale
    np.maximum(gain, of_second * toward + of_third * next_toward, out=gain)
    second *= ~inside
    second += of_second
    best = np.empty(gain.shape, dtype=bool)
    best[0] = gain[0] >= np.maximum(gain[1], gain[2])
    best[1] = (gain[1] >= gain[2]) & ~best[0]
    best[2] = ~(best[0] | best[1])
    of_third *= best
    weights = np.empty((4, points.shape[2]))
    np.multiply(second, best, out=weights[:3])
    weights[1:3] += of_third[:2]
    weights[0] += of_third[2]
    weights[3] = 1.0 - weights[0] - weights[1] - weights[2]
    return weights


def _measure(
    pairs: HullPairs,
    i: IntArray,
    j: IntArray,
    points: FloatArray,
    weights: FloatArray,
    width: FloatArray,
    columns: IntArray,
    result: HullContacts,
) -> None:
    """Write what simplices and weights show into the columns of the result."""
    table, rounding, ids = pairs.table, pairs.rounding, points[3]
    points, farthest = points[:3, :3], points[:3, 3]
    # The former newest vertex is in all places without weight: the first of them gets its weight.
    weights, former = weights[:3], weights[3]
    first = np.ones(former.shape, dtype=bool)
    for weight in weights:
        empty = (weight <= 0.0) & first
        weight += former * empty
        first &= ~empty
    v = einsum("csm,sm->cm", points, weights)
    # The normal of a triangle keeps digits that v has lost where the gap is small.
    normal = cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    degenerate = (weights <= 0.0).any(axis=0) | ~normal.any(axis=0)
    normal = np.where(degenerate | (dot(normal, v) > 0.0), -normal, normal)
    normal = np.where(degenerate, -v, normal)
    norm = length(normal)
    normal /= np.where(norm > 0.0, norm, 1.0)
    features = [
        support_features(pairs, normal, width, numbers, index, side)
        for side, (numbers, index) in enumerate(zip((i, j), vertices_of(ids[3]), strict=True))
    ]
    (count_a, edge_a, beyond_a), (count_b, edge_b, beyond_b) = features
    gap = -(dot(normal, farthest) + beyond_a + beyond_b)
    on_a, on_b = witness_points(table, i, j, ids[:3], weights, v)
    # Between faces or parallel edges that are opposite each other other witness points are as good.
    edges = (count_a == 2) & (count_b == 2) & ~are_parallel(edge_a, edge_b, 2.0 * PARALLEL_EDGES)
    found = (norm > 0.0) & (gap > rounding) & ((count_a < 2) | (count_b < 2) | edges)
    upper = np.maximum(gap, length(v)) + rounding
    result.store(columns, found, gap, gap - rounding, upper, normal, on_a, on_b)
