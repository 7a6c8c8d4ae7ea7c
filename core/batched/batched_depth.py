# SPDX-License-Identifier: GPL-3.0-or-later
"""Depth, normal and witness points of many pairs of convex polytopes that penetrate: EPA, all pairs at once.

Every pair has its own polytope around the origin, inside A - B. It begins as the hull of support points around the way
to the other shape, or as the last tetrahedron of a portal. In each step it grows at its nearest face: a cone over the
border of the faces that see the new point takes their place. The surface stays closed whatever rounding does, and as
long as all its faces look away from the origin it is around a ball as large as the nearest face is far: the proof of
the depth, for which it need not be convex. Pairs of which that does not hold are told, for the single call.
A pair that is done makes room for the next one, so that a step is always of many pairs. Source: S2.1; G. van den Bergen
2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress, part_of, tell
from ..shapes.polytope import FloatArray, IntArray
from ..tolerance import EPA_CONVERGED, EPA_FILTER, EPS, GJK_INSIDE
from .batched_first_hulls import CORNERS, FACETS, first_hulls
from .batched_hulls import MEET, HullPairs, HullTable, cross_rows, fans, hulls_by_portals, room_for

BoolArray = NDArray[np.bool_]

_AT_ONCE = 1_024
"""Polytopes that grow at a time: of fewer numpy's calls cost more, of more the way to memory."""
_CHUNK = 8_192
"""Pairs answered in one go."""
_FIRST = 1_024
"""Pairs whose first hulls are made in one go: thirty-five determinants each."""
_POINTS = 48
"""Corners of a polytope; of hulls of a hundred corners, one pair in two hundred needs more."""
_FACES = 2 * _POINTS - 4
"""Faces of a closed surface of so many corners."""
_BEGINNING = 0.2
"""Share of the work that the first hulls are."""
_LAST = 2
"""Pairs so few are slower together than one by one, and left."""
_SHARE = 0.85
"""Share of pairs still to be answered from which, when no more follow, those that are answered are put away."""
_BITS, _MASK = 6, 63
"""Bits of a corner's number in the code of a face: begin, end, third."""
_INNER = -1
"""The name of the difference of the mean corners, which is no difference of two corners."""
_INWARD = 0.1
"""Share of the way from the middle of a hull to a corner, where a point is inside."""
_WIDTH = 0.85
"""How far aside of the way to the other shape, over the way along it, the first support points are looked for."""


def _code(corners: IntArray) -> IntArray:
    """Return faces with the corners (..., 3) as one number each."""
    result: IntArray = corners[..., 0] | corners[..., 1] << _BITS | corners[..., 2] << 2 * _BITS
    return result


_TETRAHEDRA = _code(
    np.array([[[0, 3, 2], [0, 2, 1], [0, 1, 3], [1, 2, 3]], [[0, 2, 3], [0, 1, 2], [0, 3, 1], [1, 3, 2]]])
)
"""Faces of tetrahedra whose last three corners are counter-clockwise, seen from outside; and clockwise."""


@dataclass(frozen=True, eq=False)
class HullDepths:
    """What is known of many pairs of polytopes A and B; one column a pair."""

    found: BoolArray
    """(n,) whether the pair penetrates and the search has ended; all else is told of such pairs only."""
    depth: FloatArray
    """(n,) how far A - B reaches along the normal."""
    inner: FloatArray
    """(n,) the radius of a ball around the origin inside A - B: the true depth is at least that, to rounding."""
    rounding: FloatArray
    """(n,) what both may be wrong by."""
    normal: FloatArray
    """(3, n) unit vectors from A to B: moving B by depth * normal separates the pair."""
    on_a: FloatArray
    """(3, n) witness points on A, world frame."""
    on_b: FloatArray
    """(3, n) witness points on B."""


def hulls_depth(table: HullTable, i: IntArray, j: IntArray, progress: Progress | None = None) -> HullDepths:
    """Return how deep shapes i (n,) and j (n,) penetrate each other, which way and where. Raises Cancelled when
    `progress` says so."""
    total = len(i)
    answer = HullDepths(np.zeros(total, dtype=bool), *np.zeros((3, total)), *np.zeros((3, 3, total)))
    # Pairs with equally many corners side by side are answered from fewer arrays.
    order = np.lexsort((table.size.take(j), table.size.take(i)))
    memory = room_for(table)
    for start in range(0, total, _CHUNK):
        some = order[start : start + _CHUNK]
        here = part_of(progress, start / total, (start + len(some)) / total)
        pair = i.take(some), j.take(some)
        polytopes = _Polytopes(table, *pair, memory, _First(table, *pair, memory, part_of(here, 0.0, _BEGINNING)))
        polytopes.grow(part_of(here, _BEGINNING, 1.0))
        _measure(table, *pair, polytopes, some, answer)
    return answer


class _First:
    """The polytopes of pairs to begin with, one row each. Without a face: none could be found."""

    def __init__(
        self, table: HullTable, i: IntArray, j: IntArray, memory: FloatArray, progress: Progress | None
    ) -> None:
        count = len(i)
        self.points = np.zeros((count, 3, CORNERS))
        self.names = np.full((count, CORNERS), _INNER)
        self.codes = np.zeros((count, FACETS), dtype=np.intp)
        self.faces = np.zeros(count, dtype=np.intp)
        for start in range(0, count, _FIRST):
            tell(progress, start / count)
            part = slice(start, start + _FIRST)
            self.by_fans(table, i[part], j[part], start, memory)
        left = np.flatnonzero(self.faces == 0)
        if len(left):
            self.by_portals(table, i.take(left), j.take(left), left)

    def by_fans(self, table: HullTable, i: IntArray, j: IntArray, start: int, memory: FloatArray) -> None:
        """Fill in hulls of support points around the ways from A to B, and of the difference of the mean corners."""
        count = len(i)
        pairs = HullPairs(table, i, j, memory)
        pairs.named = [*np.zeros((2, CORNERS - 1, count), dtype=np.int32)]
        toward = -pairs.inner
        ways = np.concatenate([toward[:, None], fans(toward, CORNERS - 2, _WIDTH)], axis=1)
        points = np.concatenate([pairs.inner[:, None], pairs.supports(ways)], axis=1)
        names = np.concatenate([np.full((1, count), _INNER), _name(pairs.named)])
        self.names[start : start + count] = names.T
        # A point that is there twice is moved into the hull, where it is no corner.
        middle = points.mean(axis=1)
        for k in range(2, CORNERS):
            twice = np.flatnonzero((names[1:k] == names[k]).any(axis=0))
            if len(twice):
                inward = points[:, k - 2, twice] - middle[:, twice]
                points[:, k, twice] = middle[:, twice] + _INWARD * inward
        self.points[start : start + count] = points.transpose(2, 0, 1)
        hull, corners = first_hulls(points, GJK_INSIDE * EPS * pairs.spread**3)
        number = np.bincount(hull, minlength=count)
        rank = np.arange(len(hull)) - (np.cumsum(number) - number).take(hull)
        self.codes[start + hull, rank] = _code(corners)
        self.faces[start : start + count] = number

    def by_portals(self, table: HullTable, i: IntArray, j: IntArray, at: IntArray) -> None:
        """Fill in tetrahedra around the origin in rows `at`."""
        found = hulls_by_portals(table, i, j, start=np.full((2, 3, len(i)), -1, dtype=np.int32))
        assert found.around is not None
        assert found.corners is not None
        meet = np.flatnonzero((found.state == MEET) & (found.corners[0, 0] >= 0))
        at = at.take(meet)
        around = found.around.take(meet, axis=2)
        inner = self.points[at, :, 0].T
        self.points[at, :, 1:4] = around.transpose(2, 0, 1)
        self.names[at, 1:4] = _name(found.corners.take(meet, axis=2)).T
        self.names[at, 4:] = _INNER
        first, second, third = around.transpose(1, 0, 2)
        turned = np.einsum("cm,cm->m", cross_rows(second - first, third - first), inner - first) > 0.0
        self.codes[at, :4] = _TETRAHEDRA[turned.astype(np.intp)]
        self.faces[at] = 4


def _name(corners: Sequence[NDArray[np.int32]] | NDArray[np.int32]) -> IntArray:
    """Return one number for corners of A and B (2, ...)."""
    result: IntArray = corners[0] | corners[1].astype(np.intp) << 32
    return result


class _Polytopes(HullPairs):
    """The polytopes of some pairs, one row each; what was found is of all pairs."""

    ended = 0
    """How many have come to an end."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray, memory: FloatArray, first: _First) -> None:
        super().__init__(table, i, j, memory)
        self.first, self.waiting = first, np.flatnonzero(first.faces > 0)
        self.depth, self.inner_ball = np.zeros((2, len(i)))
        self.normal = np.zeros((3, len(i)))
        self.level: list[tuple[IntArray, FloatArray, IntArray]] = []
        """Pairs (k,) that have ended, with the corners (3, 3, k) of their nearest faces and those beside them in one
        plane, coordinate, corner, face; and the names (3, k) of these."""
        count = min(_AT_ONCE, len(self.waiting))
        self.keep(np.arange(count))
        self.named = [*np.zeros((2, count), dtype=np.int32)]
        self.good = np.zeros(count, dtype=bool)
        self.count, self.faces = np.zeros((2, count), dtype=np.intp)  # of each
        self.points = np.zeros((count, 3, _POINTS))
        self.names = np.full((count, _POINTS), _INNER)
        self.planes = np.zeros((count, 4, _FACES))
        """Unit normals outward and minus the offsets: minus infinity where there is no face."""
        self.planes[:, 3] = -np.inf
        self.codes = np.zeros((count, _FACES), dtype=np.intp)
        self.edges = np.zeros(count << 2 * _BITS, dtype=bool)

    def grow(self, progress: Progress | None) -> None:
        """Let all polytopes grow until their nearest faces are on the surface of A - B. Raises Cancelled."""
        while True:
            free = np.flatnonzero(~self.good)
            active = len(self.rows) - len(free)
            if len(free) and len(self.waiting):
                self.begin(free[: len(self.waiting)])
            elif active <= _LAST:
                return
            elif active < _SHARE * len(self.rows):
                self.only(np.flatnonzero(self.good))
            self.step()
            tell(progress, self.ended / len(self.depth))

    def begin(self, at: IntArray) -> None:
        """Let the next pairs take these rows."""
        pairs, self.waiting = self.waiting[: len(at)], self.waiting[len(at) :]
        self.replace(at, pairs)
        self.points[at, :, :CORNERS] = self.first.points.take(pairs, axis=0)
        self.names[at] = _INNER
        self.names[at, :CORNERS] = self.first.names.take(pairs, axis=0)
        self.planes[at, 3] = -np.inf
        self.faces[at] = faces = self.first.faces.take(pairs)
        self.count[at], self.good[at] = CORNERS, True
        owner, slots = np.nonzero(np.arange(FACETS) < faces[:, None])
        codes = self.first.codes[pairs[owner], slots]
        self.put(at.take(owner), slots, codes & _MASK, codes >> _BITS & _MASK, codes >> 2 * _BITS)

    def put(self, owner: IntArray, slots: IntArray, begin: IntArray, end: IntArray, third: IntArray) -> None:
        """Add faces with these corners (k,) to polytopes `owner` (k,) in places `slots` (k,)."""
        self.codes.ravel()[owner * _FACES + slots] = begin | end << _BITS | third << 2 * _BITS
        base = owner * (3 * _POINTS)
        top, u, v = np.empty((3, 3, len(owner)))
        coordinates = self.points.ravel()
        for held, corner in ((top, third), (u, begin), (v, end)):
            place = base + corner
            for row in held:
                coordinates.take(place, out=row, mode="clip")
                place += _POINTS
        u -= top
        v -= top
        normals = cross_rows(u, v)
        length = np.sqrt(np.einsum("ck,ck->k", normals, normals))
        normals /= np.where(length > 0.0, length, 1.0)
        # A sliver's normal is rounded by much: with a corner lower than its offset the ball would not be inside.
        offsets = np.minimum(np.einsum("ck,ck->k", normals, u), np.einsum("ck,ck->k", normals, v))
        np.minimum(offsets, 0.0, out=offsets)
        offsets += np.einsum("ck,ck->k", normals, top)
        place = owner * (4 * _FACES) + slots
        planes = self.planes.ravel()
        for row in (*normals, -offsets):
            planes[place] = row
            place += _FACES
        self.good[owner[~(offsets > self.limit.take(owner))]] = False

    def only(self, kept: IntArray) -> None:
        """Go on with these rows only."""
        self.keep(kept)
        self.count, self.faces, self.good = self.count[kept], self.faces[kept], self.good[kept]
        self.points, self.names = self.points.take(kept, axis=0), self.names.take(kept, axis=0)
        self.planes, self.codes = self.planes.take(kept, axis=0), self.codes.take(kept, axis=0)

    def step(self) -> None:
        """Look beyond the nearest faces: end there, or add what is found."""
        lines = np.arange(len(self.rows))
        nearest = self.planes[:, 3, : int(self.faces.max())].argmax(axis=1)
        place = lines * (4 * _FACES) + nearest
        planes = np.empty((4, len(lines)))
        for row in planes:
            self.planes.ravel().take(place, out=row, mode="clip")
            place += _FACES
        ways, offset = planes[:3], -planes[3]
        new = self.supports(ways)
        assert self.named is not None
        names = _name(self.named)
        depth = np.einsum("cm,cm->m", ways, new)
        ended = depth - offset <= EPA_CONVERGED * EPS * self.spread
        # Where the planes are not as exact the point is there already.
        near = np.flatnonzero((depth - offset <= EPA_FILTER * EPS * self.spread) & ~ended)
        ended[near] = (self.names.take(near, axis=0) == names.take(near)[:, None]).any(axis=1)
        ended &= self.good
        self.note(np.flatnonzero(ended), ways, depth, offset)
        self.good &= ~ended
        self.good &= self.count < _POINTS
        self.add(new, names, nearest)

    def note(self, at: IntArray, ways: FloatArray, depth: FloatArray, offset: FloatArray) -> None:
        """Keep what rows `at` have come to."""
        pairs = self.rows.take(at)
        self.ended += len(at)
        self.depth[pairs], self.inner_ball[pairs] = depth.take(at), offset.take(at)
        self.normal[:, pairs] = ways.take(at, axis=1)
        used = int(self.faces.max())
        flat = offset.take(at) + EPA_FILTER * EPS * self.spread.take(at)
        owner, face = np.divmod(np.flatnonzero(self.planes[at, 3, :used] >= -flat[:, None]), used)
        place = at.take(owner)
        codes = self.codes[place, face]
        corners = codes & _MASK, codes >> _BITS & _MASK, codes >> 2 * _BITS
        points = np.stack([self.points[place, :, corner].T for corner in corners], axis=1)
        names = np.stack([self.names[place, corner] for corner in corners])
        self.level.append((pairs.take(owner), points, names))

    def add(self, new: FloatArray, names: IntArray, nearest: IntArray) -> None:
        """Add a point to each polytope that still grows, whose nearest face sees it."""
        width, used = len(self.rows), int(self.faces.max())
        grows = np.flatnonzero(self.good)
        slot = self.count.take(grows)
        self.points[grows, :, slot], self.names[grows, slot] = new.take(grows, axis=1).T, names.take(grows)
        ways = np.ones((width, 1, 4))
        ways[:, 0, :3] = new.T
        heights = np.matmul(ways, self.planes[:, :, :used])[:, 0]  # minus infinity where there is no face
        visible = heights > (EPA_FILTER * EPS * self.spread)[:, None]
        visible[np.arange(width), nearest] = True
        visible[~self.good] = False
        row, face = np.divmod(np.flatnonzero(visible), used)
        codes = self.codes.ravel().take(row * _FACES + face)
        corners = np.empty((len(row), 3), dtype=np.intp)
        corners[:, 0], corners[:, 1], corners[:, 2] = codes & _MASK, codes >> _BITS & _MASK, codes >> 2 * _BITS
        begin, end = corners.ravel(), corners.take([1, 2, 0], axis=1).ravel()
        owner = np.repeat(row, 3)
        base = owner << 2 * _BITS
        there = base + (begin << _BITS) + end
        self.edges[there] = True
        border = np.flatnonzero(~self.edges.take(base + (end << _BITS) + begin))
        self.edges[there] = False
        owner, begin, end = owner.take(border), begin.take(border), end.take(border)
        # What a point sees is a disk, whose border has two edges more than it has faces, or fewer.
        seen, sides = np.bincount(row, minlength=width), np.bincount(owner, minlength=width)
        torn = np.flatnonzero(sides > seen + 2)
        if len(torn):
            self.good[torn] = False
            whole = np.flatnonzero(self.good.take(owner))
            owner, begin, end = owner.take(whole), begin.take(whole), end.take(whole)
            sides[torn] = 0
        # The new faces take the places of those that are gone, and two more.
        self.planes.ravel()[row * (4 * _FACES) + (3 * _FACES) + face] = -np.inf
        rank = np.arange(len(owner)) - (np.cumsum(sides) - sides).take(owner)
        over = rank - seen.take(owner)
        again = face.take((np.cumsum(seen) - seen).take(owner) + rank, mode="clip")
        slots = np.where(over < 0, again, self.faces.take(owner) + over)
        self.put(owner, slots, begin, end, self.count.take(owner))
        self.faces += np.where(self.good, np.maximum(sides - seen, 0), 0)
        self.count += self.good


def _measure(
    table: HullTable, i: IntArray, j: IntArray, found: _Polytopes, columns: IntArray, answer: HullDepths
) -> None:
    """Fill in what the nearest faces show."""
    if not found.level:
        return
    owner, points, names = (np.concatenate(parts, axis=-1) for parts in zip(*found.level, strict=True))
    # Of the faces in one plane that one which holds the origin's projection.
    normal = found.normal.take(owner, axis=1)
    p, q, r = points.transpose(1, 0, 2)
    weights = _weights(p, q, r, normal, normal * np.einsum("ck,ck->k", normal, p))
    order = np.lexsort((-weights.min(axis=0), owner))
    first = np.flatnonzero(np.diff(owner.take(order), prepend=-1))
    order = order.take(first)
    order = order.take(np.flatnonzero((names.take(order, axis=1) != _INNER).all(axis=0)))
    at, points, names = owner.take(order), points.take(order, axis=2), names.take(order, axis=1)
    weights = np.maximum(weights.take(order, axis=1), 0.0)
    weights /= weights.sum(axis=0)
    pair = i.take(at), j.take(at)
    corners = table.at(pair[0], (names & 0xFFFFFFFF).astype(np.int32))
    mean = np.einsum("ckm,km->cm", points, weights)
    local = np.einsum("ckm,km->cm", corners, weights)
    mean_a, mean_b = (table.centers[:3, n] + table.centers[3:, n] for n in pair)
    inner = -(mean_b - mean_a)
    chosen = columns.take(at)
    answer.found[chosen] = True
    answer.depth[chosen], answer.inner[chosen] = found.depth.take(at), found.inner_ball.take(at)
    answer.rounding[chosen] = table.balls[2].take(pair[0]) + table.balls[2].take(pair[1])
    answer.normal[:, chosen] = found.normal.take(at, axis=1)
    answer.on_a[:, chosen] = local + mean_a
    answer.on_b[:, chosen] = (local - mean + inner) + mean_b


def _weights(p: FloatArray, q: FloatArray, r: FloatArray, normal: FloatArray, point: FloatArray) -> FloatArray:
    """Return the barycentric weights (3, m) of points in the planes of triangles; some negative when it is outside."""
    whole = np.einsum("cm,cm->m", cross_rows(q - p, r - p), normal)
    scale = 1.0 / np.where(whole > 0.0, whole, np.inf)
    way = point - p
    second = np.einsum("cm,cm->m", cross_rows(way, r - p), normal) * scale
    third = np.einsum("cm,cm->m", cross_rows(q - p, way), normal) * scale
    return np.stack([1.0 - second - third, second, third])
