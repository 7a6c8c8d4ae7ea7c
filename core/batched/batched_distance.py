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

from ..progress import Progress, part_of, tell
from ..shapes.polytope import FloatArray, IntArray
from ..tolerance import EPS, GJK_GAP, GJK_SLIVER, GJK_TOUCH, PARALLEL_EDGES
from .batched_hulls import HullPairs, HullTable, cross_rows, fans, room_for

BoolArray = NDArray[np.bool_]

_AT_ONCE = 4_096
"""Pairs that are searched at a time."""
_CHUNK = 8_192
"""Pairs answered in one go."""
_STEPS = 40
"""Support points after which a pair is given up; most take four to seven."""
_SHARE = 0.85
"""Share of pairs still to be answered from which, when no more follow, those that are answered are put away."""
_LAST = 2
"""Pairs so few are slower together than one by one, and given up."""
_WIDTH = 0.45
"""How far aside of where to look first, over the way along it, the corners of the first simplex are looked for."""
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
    memory = room_for(table)
    for start in range(0, total, _CHUNK):
        some = order[start : start + _CHUNK]
        here = part_of(progress, start / total, (start + len(some)) / total)
        search = _Search(table, i.take(some), j.take(some), normals.take(some, axis=1), memory)
        search.run(here)
        ended = np.flatnonzero(search.ended)
        for begin in range(0, len(ended), _AT_ONCE):
            at = ended[begin : begin + _AT_ONCE]
            _measure(table, i, j, search, at, width, some.take(at), answer)
    return answer


class _Search(HullPairs):
    """GJK of some pairs, in columns; what was found is in columns of all pairs."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray, normals: FloatArray, memory: FloatArray) -> None:
        super().__init__(table, i, j, memory)
        total = len(i)
        self.starts = np.where(normals.any(axis=0), -normals, self.inner)
        self.waiting = 0
        """The first pair that has not begun."""
        self.ended = np.zeros(total, dtype=bool)
        self.named = [*np.zeros((2, 3, total), dtype=np.int32)]
        self.ended_points = self.supports(fans(-self.starts, 3, _WIDTH))
        """The simplices of all pairs: those to begin with, and in the end those that were found."""
        self.ended_names = self.name()
        self.ended_weights = np.zeros((3, total))
        count = min(_AT_ONCE, total)
        self.keep(np.arange(count))
        self.active = np.zeros(count, dtype=bool)
        self.points = np.zeros((3, 4, count))
        """The simplices: coordinate, slot, pair; in the last slot the point that is new."""
        self.names = np.zeros((4, count), dtype=np.intp)
        self.weights = np.zeros((3, count))
        self.v = np.zeros((3, count))
        self.square = np.zeros(count)
        self.steps = np.zeros(count, dtype=np.intp)

    def run(self, progress: Progress | None) -> None:
        """Search until the nearest points of all pairs are known, or these are few or slow. Raises Cancelled."""
        total = len(self.ended)
        while True:
            free = np.flatnonzero(~self.active)
            active = len(self.active) - len(free)
            if len(free) and self.waiting < total:
                self.begin(free[: total - self.waiting])
            elif active <= _LAST:
                return
            elif active < _SHARE * len(self.active):
                self.only(np.flatnonzero(self.active))
            self.step()
            tell(progress, float(self.ended.mean()))

    def begin(self, at: IntArray) -> None:
        """Let the next pairs take these columns."""
        pairs = slice(self.waiting, self.waiting + len(at))
        self.waiting += len(at)
        self.replace(at, pairs)
        self.v[:, at], self.square[at] = self.starts[:, pairs], np.inf
        self.points[:, :3, at], self.names[:3, at] = self.ended_points[:, :, pairs], self.ended_names[:, pairs]
        self.active[at], self.steps[at] = True, 0

    def only(self, kept: IntArray) -> None:
        """Go on with these columns only."""
        self.keep(kept)
        self.active, self.steps, self.square = self.active[kept], self.steps[kept], self.square[kept]
        self.points, self.names = self.points.take(kept, axis=2), self.names.take(kept, axis=1)
        self.weights, self.v = self.weights.take(kept, axis=1), self.v.take(kept, axis=1)

    def step(self) -> None:
        """Ask for a support point of each pair: end there, or go on with a simplex in which it is."""
        ways = -self.v
        point = self.supports(ways)
        name = self.name()
        fresh = np.isinf(self.square)
        length = np.sqrt(np.where(fresh, 0.0, self.square))
        reached = self.square - np.einsum("cm,cm->m", self.v, point) <= GJK_GAP * EPS * length * (length + self.spread)
        reached |= (self.names[:3] == name).any(axis=0) & ~fresh
        self.points[:, 3], self.names[3] = point, name
        second, third, best = _nearest(self.points)
        first = 1.0 - second - third
        width = len(name)
        lines = np.arange(width)
        # A corner without weight is no part of the simplex: the new point takes its place.
        slots = np.where(second > 0.0, best, 3), np.where(third > 0.0, _NEXT.take(best), 3)
        places = [slot * width + lines for slot in slots]
        v = first * point
        corners = np.empty((3, 2, width))
        for c in range(3):
            for row, place, weight in zip(corners[c], places, (second, third), strict=True):
                self.points[c].ravel().take(place, out=row, mode="clip")
                v[c] += weight * row
        square = np.einsum("cm,cm->m", v, v)
        self.steps += 1
        ended = self.active & (reached | (square >= self.square))
        self.note(np.flatnonzero(ended))
        self.active &= ~ended & (square > (GJK_TOUCH * EPS * self.spread) ** 2) & (self.steps < _STEPS)
        others = [self.names.ravel().take(place) for place in places]
        self.points[:, 0], self.points[:, 1:3] = point, corners
        self.names[0], self.names[1], self.names[2] = name, *others
        self.weights[0], self.weights[1], self.weights[2] = first, second, third
        self.v, self.square = v, square

    def name(self) -> IntArray:
        """Return one number for each of the last support points."""
        assert self.named is not None
        result: IntArray = self.named[0] | self.named[1].astype(np.intp) << 32
        return result

    def note(self, at: IntArray) -> None:
        """Keep the simplices of columns `at`."""
        pairs = self.rows.take(at)
        self.ended[pairs] = True
        self.ended_points[:, :, pairs] = self.points[:, :3, at]
        self.ended_names[:, pairs], self.ended_weights[:, pairs] = self.names[:3, at], self.weights[:, at]


def _nearest(points: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the point of tetrahedra nearest to the origin, as the weights (m,) of two corners, and of which: `best`
    (m,) and the next of the first three.

    Corners are (3, 4, m): coordinate, corner, pair; some may be equal. The last, a support point toward the origin, is
    always part of the answer: so only the three sides and the three triangles that it is part of are looked at.
    """
    new = points[:, 3]
    sides = points[:, :3] - new[:, None]
    beside = sides.take(_NEXT, axis=1)
    toward = -np.einsum("csm,cm->sm", sides, new)
    length, cross = np.einsum("csm,csm->sm", sides, sides), np.einsum("csm,csm->sm", sides, beside)
    other, far = toward.take(_NEXT, axis=0), length.take(_NEXT, axis=0)
    # Along the sides.
    second = toward / np.where(length > 0.0, length, 1.0)
    np.clip(second, 0.0, 1.0, out=second)
    nearer = second * (2.0 * toward - second * length)  # how much less the square of the distance is than that of new
    # In the triangles, where the point is inside.
    of_second, of_third = far * toward - cross * other, length * other - cross * toward
    both = length * far
    whole = both - cross * cross
    inside = (of_second > 0.0) & (of_third > 0.0) & (whole > of_second + of_third) & (whole > GJK_SLIVER * EPS * both)
    scale = 1.0 / np.where(inside, whole, 1.0)
    of_second *= scale
    of_third *= scale
    np.copyto(second, of_second, where=inside)
    np.copyto(nearer, of_second * toward + of_third * other, where=inside)
    best = nearer.argmax(axis=0)
    place = best * points.shape[2] + np.arange(points.shape[2])
    return second.ravel().take(place), np.where(inside, of_third, 0.0).ravel().take(place), best


def _measure(
    table: HullTable,
    i: IntArray,
    j: IntArray,
    search: _Search,
    at: IntArray,
    width: FloatArray,
    chosen: IntArray,
    answer: HullDistances,
) -> None:
    """Fill in what the simplices that were found of pairs `at` of the search show, in columns `chosen`."""
    i, j, width = i.take(chosen), j.take(chosen), width.take(chosen)
    pairs = HullPairs(table, i, j, search.memory)
    limit, inner = pairs.limit, pairs.inner
    points, weights = search.ended_points.take(at, axis=2), search.ended_weights.take(at, axis=1)
    corners = table.at(i, (search.ended_names.take(at, axis=1) & 0xFFFFFFFF).astype(np.int32))
    v = np.einsum("csm,sm->cm", points, weights)
    # The normal of a triangle keeps digits that the nearest point itself has lost, where the gap is small.
    normal = cross_rows(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    flat = (weights <= 0.0).any(axis=0) | ~normal.any(axis=0)
    normal = np.where(flat | (np.einsum("cm,cm->m", normal, v) > 0.0), -normal, normal)
    normal = np.where(flat, -v, normal)
    length = np.sqrt(np.einsum("cm,cm->m", normal, normal))
    at_all = length > 0.0
    normal /= np.where(at_all, length, 1.0)
    (top_a, count_a, way_a), (top_b, count_b, way_b) = (_tops(pairs, normal, width, of_b) for of_b in (False, True))
    gap = -np.einsum("cm,cm->m", normal, pairs.inner + top_a - top_b)
    slides = (count_a > 1) & (count_b > 1)
    # An edge on either side is the usual case; of all others it is found out which corners are different ones.
    edges = slides & (count_a + count_b == 4) & way_a.any(axis=0) & way_b.any(axis=0)
    slides &= ~edges | _parallel(way_a, way_b)
    some = np.flatnonzero(slides & ~edges)
    if len(some):
        pairs.keep(some)
        (way_a, count_a), (way_b, count_b) = (
            _different(pairs, normal.take(some, axis=1), width.take(some), of_b) for of_b in (False, True)
        )
        slides[some] = (count_a > 1) & (count_b > 1)
        slides[some] &= (count_a > 2) | (count_b > 2) | _parallel(way_a, way_b)

    local = np.einsum("csm,sm->cm", corners, weights)
    mean_a, mean_b = (table.centers[:3, n] + table.centers[3:, n] for n in (i, j))
    answer.found[chosen] = at_all & (gap > limit)
    answer.distance[chosen], answer.rounding[chosen] = gap, limit
    answer.upper[chosen] = np.maximum(gap, np.sqrt(np.einsum("cm,cm->m", v, v)))
    answer.normal[:, chosen] = normal
    answer.on_a[:, chosen] = local + mean_a
    answer.on_b[:, chosen] = (local - v + inner) + mean_b
    answer.slides[chosen] = slides


def _parallel(u: FloatArray, v: FloatArray) -> BoolArray:
    """Tell which vectors (3, m) are nearly parallel."""
    across = cross_rows(u, v)
    sine = np.einsum("cm,cm->m", across, across)
    both = np.einsum("cm,cm->m", u, u) * np.einsum("cm,cm->m", v, v)
    result: BoolArray = sine <= (2.0 * PARALLEL_EDGES) ** 2 * both
    return result


def _tops(
    pairs: HullPairs, normal: FloatArray, width: FloatArray, of_b: bool
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the corners (3, m) of A, or of B, at the slab; how many there are within `width` (m,) of it, room that is
    not needed included; and the way (3, m) to another of them, if there is one."""
    tops, ways, counts = np.empty_like(normal), np.empty_like(normal), np.empty(normal.shape[1], dtype=np.intp)
    for some, block, along in pairs.gathered((-normal if of_b else normal)[:, None], of_b):
        first, level = _level(along[:, 0], width[some])
        lines = np.arange(len(first))
        counts[some] = level.view(np.int8).sum(axis=1, dtype=np.intp)
        level[lines, first] = False
        top = block[lines, :, first]
        tops[:, some] = top.T
        ways[:, some] = (block[lines, :, level.argmax(axis=1)] - top).T
    return tops, counts, ways


def _level(along: FloatArray, width: FloatArray) -> tuple[IntArray, BoolArray]:
    """Return the farthest of the heights (n, v) in each row (n,), and which are within `width` (n,) of that."""
    first: IntArray = along.argmax(axis=1)
    level: BoolArray = along >= (along[np.arange(len(first)), first] - width)[:, None]
    return first, level


def _different(pairs: HullPairs, normal: FloatArray, width: FloatArray, of_b: bool) -> tuple[FloatArray, IntArray]:
    """Return the way (3, m) between two different corners of A, or of B, that are within `width` (m,) of the slab, and
    how many there are: 1, 2, or 3 for more."""
    count = np.ones(normal.shape[1], dtype=np.intp)
    ways = np.zeros_like(normal)
    for some, block, along in pairs.gathered((-normal if of_b else normal)[:, None], of_b):
        first, level = _level(along[:, 0], width[some])
        lines = np.arange(len(first))
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
