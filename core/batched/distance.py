# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance, normal and witness points of many pairs of convex polytopes that are apart: GJK, all pairs at once.

Every pair has three points of A - B, some of them equal, and a support point that is new: to begin with, four around
where to look first. A step looks for the nearest point on the three triangles that the new one makes with two of the
others, and asks for a support point there. What comes out is measured: the empty slab is the lower bound, the witness
points the upper one. Pairs of which they do not meet are told, for the single call. Source: S4.3, S4.4; C. Ericson,
Real-Time Collision Detection, 5.1.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..progress import Progress, report_progress, subrange
from ..tolerance import EPS, GJK_GAP, GJK_TOUCH, PARALLEL_EDGES
from ..types import BoolArray, FloatArray, IntArray
from .hulls import HullPairs, HullTable, cross_rows, fans, room_for

_GJK_SLIVER = 64.0
"""Times EPS and the squares of two sides: the square of twice a triangle's area up to which it is taken for its sides.
Sixteen times what three rounded products may be wrong by."""

_CHUNK = 16_384
"""Pairs that are searched in one go: of fewer numpy's calls cost more."""
_STEPS = 40
"""Support points after the first four with which a pair is given up; most take two to four."""
_LAST = 2
"""Pairs so few are slower together than one by one, and given up."""
_WIDTH = 1.8
"""How far aside of where to look first, over the way along it, the corners of the first simplex are looked for, times
the root of how many corners a shape has: about as far as these are from each other."""
_NAMES = 2**26
"""More than a shape has corners: the numbers of two are one number, which a float holds as it is."""
_TINY = 1e-290
"""Not relative: less than the square of any side but 0, with a finite inverse."""


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
        here = subrange(progress, start / total, (start + len(some)) / total)
        search = _Search(table, i.take(some), j.take(some), normals.take(some, axis=1), memory)
        search.run(here)
        if search.found:
            at, points, weights = (np.concatenate(parts, axis=-1) for parts in zip(*search.found, strict=True))
            _measure(table, i, j, points, weights, width, some.take(at), answer, memory)
    return answer


class _Search(HullPairs):
    """GJK of some pairs, in columns of those that are still searched; what was found is in the order of finding."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray, normals: FloatArray, memory: FloatArray) -> None:
        super().__init__(table, i, j, memory)
        total = len(i)
        ways = np.where(normals.any(axis=0), normals, -self.inner)
        self.named = [*np.zeros((2, 4, total), dtype=np.int32)]
        self.points = np.empty((4, 4, total))
        """Coordinates and name of the corners of the simplices, slot, pair; in the last slot the point that is new."""
        width = _WIDTH / np.sqrt(np.array([block.shape[2] for block in table.corners]).take(self.sizes).mean(axis=0))
        self.points[:3] = self.supports(np.concatenate([fans(ways, 3, width), ways[:, None]], axis=1))
        self.points[3] = self.name()
        self.weights = np.zeros((4, total))
        """Those of the first three slots, and that of the point that was new, which is in the slots without weight."""
        self.square = np.full(total, np.inf)
        self.found: list[tuple[IntArray, FloatArray, FloatArray]] = []
        """Pairs (k,) that have ended, their `points` (4, 4, k) and `weights` (4, k)."""

    def run(self, progress: Progress | None) -> None:
        """Search until the nearest points of all pairs are known, or these are few or slow. Raises Cancelled."""
        total = len(self.rows)
        for _ in range(_STEPS):
            if len(self.rows) <= _LAST:
                return
            self.step()
            report_progress(progress, 1.0 - len(self.rows) / total)

    def step(self) -> None:
        """Go on with the simplex in which the nearest point is, and ask for a support point there: end, or add it."""
        weights = _nearest(self.points[:3])
        v = np.einsum("csm,sm->cm", self.points[:3], weights)
        square = np.einsum("cm,cm->m", v, v)
        nearer = square < self.square
        apart = square > (GJK_TOUCH * EPS * self.spread) ** 2
        kept = np.flatnonzero(nearer & apart)
        if len(kept) < len(square):
            self.note(np.flatnonzero(~nearer))
            self.keep(kept)
            weights, v, square = weights.take(kept, axis=1), v.take(kept, axis=1), square.take(kept)
        # A corner without weight is no part of the simplex: the new point takes its place.
        old, new = self.points[:, :3], self.points[:, 3:]
        stays = (weights[:3] > 0.0).astype(np.float64)
        old *= stays
        old += new * (1.0 - stays)
        self.weights, self.square = weights, square
        point = self.supports(-v)
        name = self.name()
        length = np.sqrt(square)
        reached = square - np.einsum("cm,cm->m", v, point) <= GJK_GAP * EPS * length * (length + self.spread)
        for corner in self.points[3, :3]:
            reached |= corner == name
        self.points[:3, 3], self.points[3, 3] = point, name
        self.note(np.flatnonzero(reached))
        self.keep(np.flatnonzero(~reached))

    def name(self) -> FloatArray:
        """Return one number for each of the last support points."""
        assert self.named is not None
        return self.named[0] + float(_NAMES) * self.named[1]

    def note(self, at: IntArray) -> None:
        """Keep what was found of columns `at`."""
        if len(at):
            self.found.append((self.rows.take(at), self.points.take(at, axis=2), self.weights.take(at, axis=1)))

    def keep(self, kept: IntArray) -> None:
        """Go on with these columns only."""
        super().keep(kept)
        self.points, self.weights = self.points.take(kept, axis=2), self.weights.take(kept, axis=1)
        self.square = self.square.take(kept)


def _nearest(points: FloatArray) -> FloatArray:
    """Return the point of tetrahedra nearest to the origin, as the weights (4, m) of the corners, of which at most two
    of the first three have any.

    Corners are (3, 4, m): coordinate, corner, pair; some may be equal. The last, a support point toward the origin, is
    always part of the answer: so only the three sides and the three triangles that it is part of are looked at.
    """
    new = points[:, 3]
    sides = np.empty_like(points)  # the first side follows the last
    np.subtract(new[:, None], points[:, :3], out=sides[:, :3])
    sides[:, 3] = sides[:, 0]
    toward, length = np.einsum("csm,cm->sm", sides, new), np.einsum("csm,csm->sm", sides, sides)
    cross = np.einsum("csm,csm->sm", sides[:, :3], sides[:, 1:])
    other, far, toward, length = toward[1:], length[1:], toward[:3], length[:3]
    # Along the sides.
    second = toward / np.maximum(length, _TINY)
    np.maximum(second, 0.0, out=second)
    np.minimum(second, 1.0, out=second)
    nearer = second * (2.0 * toward - second * length)  # how much less the square of the distance is than that of new
    # In the triangles, where the point is inside.
    of_second, of_third = far * toward - cross * other, length * other - cross * toward
    both = length * far
    whole = both - cross * cross
    inside = (of_second > 0.0) & (of_third > 0.0) & (whole > of_second + of_third) & (whole > _GJK_SLIVER * EPS * both)
    scale = 1.0 / np.where(inside, whole, np.inf)
    of_second *= scale
    of_third *= scale
    np.maximum(nearer, of_second * toward + of_third * other, out=nearer)
    second *= ~inside
    second += of_second
    best = np.empty(nearer.shape, dtype=bool)
    best[0] = nearer[0] >= np.maximum(nearer[1], nearer[2])
    best[1] = (nearer[1] >= nearer[2]) & ~best[0]
    best[2] = ~(best[0] | best[1])
    of_third *= best
    weights = np.empty((4, points.shape[2]))
    np.multiply(second, best, out=weights[:3])
    weights[1:3] += of_third[:2]
    weights[0] += of_third[2]
    weights[3] = 1.0 - weights[0] - weights[1] - weights[2]
    return weights


def _measure(
    table: HullTable,
    i: IntArray,
    j: IntArray,
    points: FloatArray,
    weights: FloatArray,
    width: FloatArray,
    chosen: IntArray,
    answer: HullDistances,
    memory: FloatArray,
) -> None:
    """Fill in what `points` and `weights` that the search found show, in columns `chosen`."""
    i, j, width = i.take(chosen), j.take(chosen), width.take(chosen)
    pairs = HullPairs(table, i, j, memory)
    limit, inner = pairs.limit, pairs.inner
    names = points[3].astype(np.intp)
    names_a, names_b = names & (_NAMES - 1), names // _NAMES
    corners = table.at(i, names_a[:3])
    points, farthest = points[:3, :3], points[:3, 3]
    # The point that was new is in all slots of which the corner has no weight: the first of them has its own.
    weights, last = weights[:3], weights[3]
    free = np.ones(last.shape, dtype=bool)
    for weight in weights:
        gone = (weight <= 0.0) & free
        weight += last * gone
        free &= ~gone
    v = np.einsum("csm,sm->cm", points, weights)
    # The normal of a triangle keeps digits that the nearest point itself has lost, where the gap is small.
    normal = cross_rows(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    flat = (weights <= 0.0).any(axis=0) | ~normal.any(axis=0)
    normal = np.where(flat | (np.einsum("cm,cm->m", normal, v) > 0.0), -normal, normal)
    normal = np.where(flat, -v, normal)
    length = np.sqrt(np.einsum("cm,cm->m", normal, normal))
    at_all = length > 0.0
    normal /= np.where(at_all, length, 1.0)
    (count_a, others_a, beyond_a), (count_b, others_b, beyond_b) = (
        _level(pairs, normal, width, first[3], of_b) for first, of_b in ((names_a, False), (names_b, True))
    )
    gap = -(np.einsum("cm,cm->m", normal, farthest) + beyond_a + beyond_b)
    slides = (count_a > 1) & (count_b > 1)
    # An edge on either side is the usual case; of all others it is found out which corners are different ones.
    edges = slides & (count_a + count_b == 4)
    some = np.flatnonzero(edges)
    ways = []
    for shape, first, others in ((i, names_a[3], others_a), (j, names_b[3], others_b)):
        ends = table.at(shape.take(some), np.stack([first, others]).take(some, axis=1))
        ways.append(ends[:, 1] - ends[:, 0])
    way_a, way_b = ways
    edges[some] = same = way_a.any(axis=0) & way_b.any(axis=0)
    slides[some] = ~same | _parallel(way_a, way_b)
    some = np.flatnonzero(slides & ~edges)
    if len(some):
        pairs.keep(some)
        (way_a, count_a), (way_b, count_b) = (
            _different(pairs, normal.take(some, axis=1), width.take(some), of_b) for of_b in (False, True)
        )
        slides[some] = (count_a > 1) & (count_b > 1)
        slides[some] &= (count_a > 2) | (count_b > 2) | _parallel(way_a, way_b)

    local = np.einsum("csm,sm->cm", corners, weights)
    mean_a, mean_b = (table.centers.take(n, axis=1) for n in (i, j))
    answer.found[chosen] = at_all & (gap > limit)
    answer.distance[chosen], answer.rounding[chosen] = gap, limit
    answer.upper[chosen] = np.maximum(gap, np.sqrt(np.einsum("cm,cm->m", v, v)))
    answer.normal[:, chosen] = normal
    answer.on_a[:, chosen] = local + (mean_a[:3] + mean_a[3:])
    answer.on_b[:, chosen] = (local - v + inner) + (mean_b[:3] + mean_b[3:])
    answer.slides[chosen] = slides


def _parallel(u: FloatArray, v: FloatArray) -> BoolArray:
    """Tell which vectors (3, m) are nearly parallel."""
    across = cross_rows(u, v)
    sine = np.einsum("cm,cm->m", across, across)
    both = np.einsum("cm,cm->m", u, u) * np.einsum("cm,cm->m", v, v)
    return sine <= (2.0 * PARALLEL_EDGES) ** 2 * both


def _level(
    pairs: HullPairs, normal: FloatArray, width: FloatArray, first: IntArray, of_b: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return how many corners of A, or of B, are within `width` (m,) of the height of corner `first` (m,), or higher,
    this one and room that is not needed included; the sum of the numbers of the others; and by how much the highest of
    them is higher."""
    total = normal.shape[1]
    lines = np.arange(total)
    found = []
    for some, block, along in pairs.gathered((-normal if of_b else normal)[:, None], of_b):
        count, _, room = block.shape
        heights = along.take(first[some] + room * lines[:count])
        there = np.flatnonzero(along[:, 0] >= (heights - width[some])[:, None])
        row = there // room
        found.append((lines[some].take(row), there - room * row, along.take(there) - heights.take(row)))
    row, corner, above = (np.concatenate(parts) for parts in zip(*found, strict=True))
    beyond = np.zeros(total)
    starts = np.flatnonzero(np.diff(row, prepend=-1))  # the corners of a shape follow each other
    beyond[row.take(starts)] = np.maximum.reduceat(above, starts)
    return np.bincount(row, minlength=total), np.bincount(row, corner, total).astype(np.intp) - first, beyond


def _different(pairs: HullPairs, normal: FloatArray, width: FloatArray, of_b: bool) -> tuple[FloatArray, IntArray]:
    """Return the way (3, m) between two different corners of A, or of B, that are within `width` (m,) of the slab, and
    how many there are: 1, 2, or 3 for more."""
    count = np.ones(normal.shape[1], dtype=np.intp)
    ways = np.zeros_like(normal)
    for some, block, along in pairs.gathered((-normal if of_b else normal)[:, None], of_b):
        along = along[:, 0]
        first = along.argmax(axis=1)
        lines = np.arange(len(first))
        level = along >= (along[lines, first] - width[some])[:, None]
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
