# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance, normal and witness points of many pairs of convex polytopes that are apart: GJK, all pairs at once.

Every pair has three points of A - B, some of them equal, and their weights; a step asks for a support point of each,
and looks for the nearest point on the three triangles that it makes with two of those. What comes out is measured: the
empty slab is the lower bound, the witness points the upper one. Pairs of which they do not meet are told, for the
single call. Source: S4.3, S4.4; C. Ericson, Real-Time Collision Detection, 5.1.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress, tell
from ..shapes.polytope import FloatArray, IntArray
from ..tolerance import EPS, GJK_GAP, GJK_TOUCH, PARALLEL_EDGES
from .batched_hulls import HullPairs, HullTable, cross_rows, pairs_at_once, room_for

BoolArray = NDArray[np.bool_]

_STEPS = 40
"""Support points after which a pair is given up; most take four to seven."""
_LATE = 0.05
"""Share of pairs, the slowest of some, that are put off, to go on together with those of others."""
_LAST = 2
"""Pairs so few are slower together than one by one, and given up."""
_NEXT = np.array([1, 2, 0])


@dataclass(frozen=True, eq=False)
class HullDistances:
    """What is known of many pairs of polytopes A and B; one column a pair."""

    found: BoolArray
    """(n,) whether the pair is apart and the search has ended; all else is told of such pairs only."""
    distance: FloatArray
    """(n,) the width of the empty slab across the normal."""
    rounding: FloatArray
    """(n,) what it may be wrong by."""
    upper: FloatArray
    """(n,) the distance of the witness points, or that of the slab if it is larger."""
    normal: FloatArray
    """(3, n) unit vectors from A to B."""
    on_a: FloatArray
    """(3, n) witness points on A, world frame."""
    on_b: FloatArray
    """(3, n) witness points on B."""
    slides: BoolArray
    """(n,) whether other witness points may be as good: faces or parallel edges are opposite each other."""


def hulls_distance(
    table: HullTable,
    i: IntArray,
    j: IntArray,
    normals: FloatArray,
    width: FloatArray,
    progress: Progress | None = None,
) -> HullDistances:
    """Return how far apart shapes i (n,) and j (n,) are, and where.

    `normals` (3, n) are where to look first, from A to B, of any length; zero where nothing is known. Corners within
    `width` (n,) of the slab are opposite each other. Raises Cancelled when `progress` says so.
    """
    total = len(i)
    lengths, vectors = np.zeros((3, total)), np.zeros((3, 3, total))
    found, slides = np.zeros((2, total), dtype=bool)
    answer = HullDistances(found, lengths[0], lengths[1], lengths[2], vectors[0], vectors[1], vectors[2], slides)
    # Pairs with equally many corners side by side are answered from fewer arrays.
    order = np.lexsort((table.size.take(j), table.size.take(i)))
    step = 2 * pairs_at_once(table.corners)  # the steps are many and short: it pays to take more at a time
    memory = room_for(table, step)
    for final in (False, True):
        late: list[IntArray] = []
        for start in range(0, len(order), step):
            tell(progress, (0.9 if final else 0.0) + (0.1 if final else 0.9) * start / len(order))
            some = order[start : start + step]
            search = _Search(table, i.take(some), j.take(some), memory)
            search.run(normals.take(some, axis=1), 0.0 if final or step >= total else _LATE * len(some))
            late.append(some.take(search.rows))
            _measure(table, i.take(some), j.take(some), memory, search, width.take(some), some, answer)
        order = np.concatenate(late) if late else order
    return answer


class _Search(HullPairs):
    """GJK of some pairs; what was found is in columns of all of them."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray, memory: tuple[FloatArray, FloatArray]) -> None:
        super().__init__(table, i, j, memory)
        count = len(i)
        self.ended = np.zeros(count, dtype=bool)
        self.points, self.on_a = np.zeros((2, 3, 3, count))
        self.weights = np.zeros((3, count))

    def asked(self, ways: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return support points (3, m) of A - B, and the corners of A that made them."""
        on_a = self.farthest(ways, False)
        return self.inner + on_a - self.farthest(ways, True), on_a

    def run(self, normals: FloatArray, few: float) -> None:
        """Search until no more than `few` pairs are left, which `rows` tells."""
        ways = np.where(normals.any(axis=0), normals, -self.inner)
        point, on_a = self.asked(ways)
        points, corners = np.stack([point] * 3, axis=1), np.stack([on_a] * 3, axis=1)  # coordinate, slot, pair
        weights = np.zeros((3, len(self.rows)))
        weights[0] = 1.0
        v, square = point, np.einsum("cm,cm->m", point, point)
        for _ in range(_STEPS):
            if len(self.rows) <= max(few, _LAST):
                return
            point, on_a = self.asked(-v)
            length = np.sqrt(square)
            reached = square - np.einsum("cm,cm->m", v, point) <= GJK_GAP * EPS * length * (length + self.spread)
            reached |= (point[:, None] == points).all(axis=0).any(axis=0)
            meet = length <= GJK_TOUCH * EPS * self.spread
            new_points, new_corners, new_weights, inside = _stepped(points, corners, point, on_a)
            meet |= inside
            new_v = np.einsum("csm,sm->cm", new_points, new_weights)
            new_square = np.einsum("cm,cm->m", new_v, new_v)
            ended = (reached | (new_square >= square)) & ~meet
            at = np.flatnonzero(ended)
            rows = self.rows.take(at)
            self.ended[rows] = True
            self.points[:, :, rows], self.on_a[:, :, rows] = points[:, :, at], corners[:, :, at]
            self.weights[:, rows] = weights[:, at]
            points, corners, weights, v, square = new_points, new_corners, new_weights, new_v, new_square
            kept = np.flatnonzero(~(ended | meet))
            if len(kept) < len(ended):
                points, corners = points.take(kept, axis=2), corners.take(kept, axis=2)
                weights, v, square = weights.take(kept, axis=1), v.take(kept, axis=1), square.take(kept)
                self.keep(kept)
        self.keep(np.arange(0))


def _stepped(
    points: FloatArray, corners: FloatArray, new: FloatArray, new_on_a: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Return the three points (3, 3, m) that hold the point nearest to the origin of the tetrahedra of `points` and
    `new` (3, m), with the corners of A that made them; their weights (3, m); and which tetrahedra hold the origin."""
    count = new.shape[1]
    second, third = points, points.take(_NEXT, axis=1)
    u, v = second - new[:, None], third - new[:, None]  # along the sides of the three triangles
    shares, squares = _nearest(new, second, third, u, v)
    best = squares.argmin(axis=0)
    columns = np.arange(count)
    # Is the origin on the inner side of all four faces? Equal points make a face without a side.
    normals = cross_rows(u, v)
    origin = np.einsum("csm,cm->sm", normals, new)
    far = np.einsum("csm,csm->sm", normals, points.take([2, 0, 1], axis=1) - new[:, None])
    sides = -origin * far > 0.0
    base = cross_rows(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    height = np.einsum("cm,cm->m", base, points[:, 0])
    above = np.einsum("cm,cm->m", base, new) - height
    inside: BoolArray = sides.all(axis=0) & (-height * above > 0.0)

    weights = shares[:, best, columns]
    chosen, made = np.empty_like(points), np.empty_like(corners)
    chosen[:, 0], made[:, 0] = new, new_on_a
    for slot, place in ((1, best), (2, _NEXT[best])):
        chosen[:, slot], made[:, slot] = points[:, place, columns], corners[:, place, columns]
    # A point without weight is no part of the face: another takes its place.
    main = weights.argmax(axis=0)
    for slot in range(3):
        idle = np.flatnonzero(weights[slot] <= 0.0)
        if len(idle):
            chosen[:, slot, idle] = chosen[:, main[idle], idle]
            made[:, slot, idle] = made[:, main[idle], idle]
    return chosen, made, weights, inside


def _nearest(
    a: FloatArray, b: FloatArray, c: FloatArray, u: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the weights (3, 3, m) of the points of triangles nearest to the origin, and their squares (3, m).

    Corners are a (3, m) and b, c (3, 3, m): coordinate, triangle, pair; u = b - a and v = c - a. Sides may have no
    length.
    """
    d1, d2 = -np.einsum("csm,cm->sm", u, a), -np.einsum("csm,cm->sm", v, a)
    d3, d4 = -np.einsum("csm,csm->sm", u, b), -np.einsum("csm,csm->sm", v, b)
    d5, d6 = -np.einsum("csm,csm->sm", u, c), -np.einsum("csm,csm->sm", v, c)
    of_c, of_b, of_a = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    whole = of_a + of_b + of_c
    scale = 1.0 / np.where(whole > 0.0, whole, 1.0)
    second, third = of_b * scale, of_c * scale

    def side(where: BoolArray, part: FloatArray, length: FloatArray) -> tuple[BoolArray, FloatArray]:
        where &= length > 0.0
        return where, part / np.where(length > 0.0, length, 1.0)

    where, share = side((of_a <= 0.0) & (d4 >= d3) & (d5 >= d6), d4 - d3, (d4 - d3) + (d5 - d6))
    np.copyto(second, 1.0 - share, where=where)
    np.copyto(third, share, where=where)
    where, share = side((of_b <= 0.0) & (d2 >= 0.0) & (d6 <= 0.0), d2, d2 - d6)
    np.copyto(second, 0.0, where=where)
    np.copyto(third, share, where=where)
    where, share = side((of_c <= 0.0) & (d1 >= 0.0) & (d3 <= 0.0), d1, d1 - d3)
    np.copyto(second, share, where=where)
    np.copyto(third, 0.0, where=where)
    for where, b_weight, c_weight in (
        ((d6 >= 0.0) & (d5 <= d6), 0.0, 1.0),
        ((d3 >= 0.0) & (d4 <= d3), 1.0, 0.0),
        ((d1 <= 0.0) & (d2 <= 0.0), 0.0, 0.0),
    ):
        np.copyto(second, b_weight, where=where)
        np.copyto(third, c_weight, where=where)
    nearest = a[:, None] + second * u + third * v
    return np.stack([1.0 - second - third, second, third]), np.einsum("csm,csm->sm", nearest, nearest)


def _measure(
    table: HullTable,
    i: IntArray,
    j: IntArray,
    memory: tuple[FloatArray, FloatArray],
    search: _Search,
    width: FloatArray,
    columns: IntArray,
    answer: HullDistances,
) -> None:
    """Fill in what the simplices that were found show."""
    at = np.flatnonzero(search.ended)
    if not len(at):
        return
    pairs = HullPairs(table, i.take(at), j.take(at), memory)
    limit, inner = pairs.limit, pairs.inner
    points, corners, weights = search.points.take(at, axis=2), search.on_a.take(at, axis=2), search.weights[:, at]
    v = np.einsum("csm,sm->cm", points, weights)
    # The normal of a triangle keeps digits that the nearest point itself has lost, where the gap is small.
    normal = cross_rows(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    flat = (weights <= 0.0).any(axis=0) | ~normal.any(axis=0)
    normal = np.where(flat | (np.einsum("cm,cm->m", normal, v) > 0.0), -normal, normal)
    normal = np.where(flat, -v, normal)
    length = np.sqrt(np.einsum("cm,cm->m", normal, normal))
    at_all = length > 0.0
    normal /= np.where(at_all, length, 1.0)
    (top_a, many_a), (top_b, many_b) = (_tops(pairs, normal, width.take(at), of_b) for of_b in (False, True))
    gap = -np.einsum("cm,cm->m", normal, pairs.inner + top_a - top_b)
    slides = many_a & many_b
    some = np.flatnonzero(slides)
    if len(some):
        pairs.keep(some)
        (a_way, a_count), (b_way, b_count) = (
            _level(pairs, normal.take(some, axis=1), width.take(at).take(some), of_b) for of_b in (False, True)
        )
        parallel = cross_rows(a_way, b_way)
        sine = np.einsum("cm,cm->m", parallel, parallel)
        both = np.einsum("cm,cm->m", a_way, a_way) * np.einsum("cm,cm->m", b_way, b_way)
        slides[some] = (a_count > 1) & (b_count > 1)
        slides[some] &= (a_count > 2) | (b_count > 2) | (sine <= (2.0 * PARALLEL_EDGES) ** 2 * both)

    local = np.einsum("csm,sm->cm", corners, weights)
    mean_a, mean_b = (table.centers[:3, n] + table.centers[3:, n] for n in (i.take(at), j.take(at)))
    chosen = columns.take(at)
    answer.found[chosen] = at_all & (gap > limit)
    answer.distance[chosen], answer.rounding[chosen] = gap, limit
    answer.upper[chosen] = np.maximum(gap, np.sqrt(np.einsum("cm,cm->m", v, v)))
    answer.normal[:, chosen] = normal
    answer.on_a[:, chosen] = local + mean_a
    answer.on_b[:, chosen] = (local - v + inner) + mean_b
    answer.slides[chosen] = slides


def _heights(
    pairs: HullPairs, some: IntArray, normal: FloatArray, of_b: bool, kind: int
) -> tuple[FloatArray, FloatArray]:
    """Return the corners (k, 3, v) of shapes of one class of sizes, and how far they are toward the other shape."""
    block = pairs.corners[kind].take(pairs.places[int(of_b)].take(some), axis=0)
    ways = normal.T.take(some, axis=0)
    return block, np.matmul((-ways if of_b else ways)[:, None, :], block)[:, 0]


def _tops(pairs: HullPairs, normal: FloatArray, width: FloatArray, of_b: bool) -> tuple[FloatArray, BoolArray]:
    """Return the corners (3, m) of A, or of B, at the slab; and whether there may be others within `width` (m,)."""
    sizes = pairs.sizes[int(of_b)]
    tops, many = np.empty_like(normal), np.empty(len(sizes), dtype=bool)
    for kind in np.unique(sizes).tolist():
        some = np.flatnonzero(sizes == kind)
        block, along = _heights(pairs, some, normal, of_b, kind)
        first, lines = along.argmax(axis=1), np.arange(len(some))
        tops[:, some] = block[lines, :, first].T
        limit = along[lines, first] - width.take(some)
        many[some] = np.count_nonzero(along >= limit[:, None], axis=1) > 1
    return tops, many


def _level(pairs: HullPairs, normal: FloatArray, width: FloatArray, of_b: bool) -> tuple[FloatArray, IntArray]:
    """Return the way (3, m) between two different corners of A, or of B, that are within `width` (m,) of the slab, and
    how many there are: 1, 2, or 3 for more."""
    sizes = pairs.sizes[int(of_b)]
    count = np.ones(len(sizes), dtype=np.intp)
    ways = np.zeros_like(normal)
    for kind in np.unique(sizes).tolist():
        some = np.flatnonzero(sizes == kind)
        block, along = _heights(pairs, some, normal, of_b, kind)
        first = along.argmax(axis=1)
        lines = np.arange(len(some))
        level = along >= (along[lines, first] - width.take(some))[:, None]
        top = block[lines, :, first]
        # Room that is not needed holds a corner once more: other corners only.
        level &= (block != top[:, :, None]).any(axis=1)
        second = level.argmax(axis=1)
        other = block[lines, :, second]
        more = level & (block != other[:, :, None]).any(axis=1)
        has = level[lines, second]
        count[some] += has
        count[some] += more.any(axis=1)
        ways[:, some] = np.where(has[:, None], other - top, 0.0).T
    return ways, count
