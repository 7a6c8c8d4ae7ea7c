# SPDX-License-Identifier: GPL-3.0-or-later
"""Depth, normal and witness points of many pairs of convex polytopes that penetrate: EPA, all pairs at once.

Every pair has its own polytope inside A - B. It begins as the hull of support points around the way to the other shape
and of one behind, which need not hold the origin yet. In each step it grows at its nearest face, or at the one that the
origin is farthest beyond: a cone over the border of the faces that see the new point takes their place. The surface
stays closed whatever rounding does, and when all its faces look away from the origin it is around a ball as large as
the nearest face is far: the proof of the depth, for which it need not be convex. Pairs of which that does not hold are
told, for the single call. A pair that is done makes room for the next one, so that a step is always of many pairs.
Source: S2.1; G. van den Bergen 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress, report_progress, subrange
from ..tolerance import EPA_CONVERGED, EPA_FILTER, EPS, GJK_INSIDE
from ..types import BoolArray, FloatArray, IntArray, read_only
from .first_hulls import CORNERS, FACETS, first_hulls
from .hulls import HullPairs, HullTable, cross_rows, fans, room_for

_AT_ONCE = 4_096
"""Polytopes that grow at a time: of fewer numpy's calls cost more, of more the way to memory."""
_CHUNK = 16_384
"""Pairs answered in one go."""
_FIRST = 2_048
"""Pairs whose first hulls are made in one go: fifteen determinants each."""
_ROOMS = 16, 48
"""Corners for which there is room, one to spare: what most pairs need stays in the second cache, and the others go on
together. Of hulls of a hundred corners, one pair in two hundred needs more, and nearly every one of round hulls about
one middle."""
_BEGINNING = 0.2
"""Share of the work that the first hulls are."""
_LAST = 2
"""Pairs so few are slower together than one by one, and left."""
_SHARE, _SHARE_OF_FEW, _FEW = 0.85, 0.5, 512
"""Share of pairs still to be answered from which, when no more follow, those that are answered are put away; and that
of few pairs, for which it costs more than to keep them."""
_BITS, _MASK = 6, 63
"""Bits of a corner's number in the code of a face: begin, end, third."""
_INNER = -1
"""The name of points that are no differences of two corners."""
_WIDTHS = 0.85, 1.6, 4.0
"""How far aside of the way to the other shape, over the way along it, the first support points are looked for; and
again, where these are too few, or rounding could turn what their hull is."""
_PULLED = 0.25
"""How far points are pulled into their hull in the last turn: of regular shapes four are often in one plane."""


def _inward() -> FloatArray:
    """Return weights of corners, one row a point, with which points are inside of their hull and no four in a plane."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    weights = 0.5 + np.arange(CORNERS**2).reshape(CORNERS, CORNERS) * golden % 1.0
    return read_only(weights / weights.sum(axis=1)[:, None])


_INWARD = _inward()


def _corners(codes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return where the first sides of faces begin, where they end, and the third corners."""
    return codes & _MASK, codes >> _BITS & _MASK, codes >> 2 * _BITS


def _code(corners: IntArray) -> IntArray:
    """Return faces with the corners (..., 3) as one number each."""
    return corners[..., 0] | corners[..., 1] << _BITS | corners[..., 2] << 2 * _BITS


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
        here = subrange(progress, start / total, (start + len(some)) / total)
        pair = i.take(some), j.take(some)
        polytopes = _Polytopes(table, *pair, memory, _First(table, *pair, memory, subrange(here, 0.0, _BEGINNING)))
        polytopes.grow(subrange(here, _BEGINNING, 1.0))
        _measure(table, *pair, polytopes, some, answer)
    return answer


@dataclass(frozen=True, eq=False)
class _Begun:
    """Polytopes that wait to grow, one row each."""

    pairs: IntArray
    points: FloatArray
    """(k, 3, corners)"""
    names: IntArray
    """(k, corners) which corners of A and B they are of."""
    codes: IntArray
    """(k, faces)"""
    count: IntArray
    """(k,) how many corners there are."""
    faces: IntArray
    """(k,) how many places for faces are in use, or were."""
    there: BoolArray
    """(k, faces) in which of these there is one."""

    def part(self, part: slice) -> _Begun:
        """Return some of them."""
        return _Begun(
            self.pairs[part],
            self.points[part],
            self.names[part],
            self.codes[part],
            self.count[part],
            self.faces[part],
            self.there[part],
        )

    @classmethod
    def together(cls, parts: list[_Begun]) -> _Begun:
        """Return all of them as one, with equally many places for corners."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


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
        progress = subrange(progress, 0.0, 1.0)  # most are found in the first turn
        for width in _WIDTHS:
            left = np.flatnonzero(self.faces == 0)
            for start in range(0, len(left), _FIRST):
                report_progress(progress, count - len(left) + start, count)
                at = left[start : start + _FIRST]
                self.by_fans(table, i.take(at), j.take(at), at, width, memory, width == _WIDTHS[-1])

    def begun(self) -> _Begun:
        """Return those that could be found."""
        at = np.flatnonzero(self.faces)
        some = at if len(at) < len(self.faces) else slice(None)
        count, faces = np.full(len(at), CORNERS), self.faces[some]
        there = np.arange(FACETS) < faces[:, None]
        return _Begun(at, self.points[some], self.names[some], self.codes[some], count, faces, there)

    def by_fans(
        self,
        table: HullTable,
        i: IntArray,
        j: IntArray,
        at: IntArray,
        width: float,
        memory: FloatArray,
        pulled: bool,
    ) -> None:
        """Fill in hulls of support points around the ways from A to B, and of one on the other side, in rows `at`; or
        of these points `pulled` into their hull, so that no four are in a plane."""
        count = len(i)
        pairs = HullPairs(table, i, j, memory)
        pairs.named = [*np.zeros((2, CORNERS, count), dtype=np.int32)]
        toward = -pairs.inner
        ways = np.concatenate([pairs.inner[:, None], toward[:, None], fans(toward, CORNERS - 2, width)], axis=1)
        points = pairs.supports(ways)
        names = _name(pairs.named)
        self.names[at] = names.T
        # A point that is there twice is moved into the hull, where it is no corner.
        moved = []
        for k in range(1, CORNERS):
            twice = (names[:k] == names[k]).any(axis=0).nonzero()[0]
            if len(twice):
                moved.append((k, twice, np.einsum("k,ckm->cm", _INWARD[k], points.take(twice, axis=2))))
        for k, twice, inside in moved:
            points[:, k, twice] = inside
        if pulled:
            points += _PULLED * (np.einsum("kl,clm->ckm", _INWARD, points) - points)
            self.names[at] = _INNER
        self.points[at] = points.transpose(2, 0, 1)
        hull, corners = first_hulls(points, GJK_INSIDE * EPS * pairs.spread**3)
        number = np.bincount(hull, minlength=count)
        rank = np.arange(len(hull)) - (np.cumsum(number) - number).take(hull)
        self.codes[at.take(hull), rank] = _code(corners)
        self.faces[at] = number


def _name(corners: Sequence[NDArray[np.int32]] | NDArray[np.int32]) -> IntArray:
    """Return one number for corners of A and B (2, ...)."""
    return corners[0] | corners[1].astype(np.intp) << 32


class _Polytopes(HullPairs):
    """The polytopes of some pairs, one row each; what was found is of all pairs."""

    ended = 0
    """How many have come to an end."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray, memory: FloatArray, first: _First) -> None:
        super().__init__(table, i, j, memory)
        self.waiting = first.begun()
        self.depth, self.inner_ball = np.zeros((2, len(i)))
        self.normal = np.zeros((3, len(i)))
        self.level: list[tuple[IntArray, FloatArray, IntArray]] = []
        """Pairs (k,) that have ended, with the corners (3, 3, k) of their nearest faces and those beside them in one
        plane, corner, coordinate, face; and the names (3, k) of these."""
        self.named = [*np.zeros((2, 0), dtype=np.int32)]
        self.make_room(_ROOMS[0])

    def make_room(self, room: int) -> None:
        """Make room for so many corners of each polytope that is to grow at a time; there is none yet."""
        count = min(_AT_ONCE, len(self.waiting.pairs))
        self.room, self.most = room, 2 * room - 4
        self.late: list[_Begun] = []
        """Those for which it was too little."""
        self.restart(np.arange(count))
        # Which still grow, which are around the origin, and which have ended there and are to be noted.
        self.good, self.inside, self.found = np.zeros((3, count), dtype=bool)
        self.last = np.zeros((3, count)), np.zeros(count), np.zeros(count)
        """Normals, depths there and offsets of the nearest faces in the last step."""
        self.count, self.faces = np.zeros((2, count), dtype=np.intp)  # of each
        self.points = np.zeros((count, 3, room))
        self.names = np.full((count, room), _INNER)
        self.normals = np.zeros((count, 3, self.most))
        """Outward, of unit length."""
        self.below = np.full((count, self.most), -np.inf)
        """How far the origin is above the planes of the faces, most often below 0: minus their offsets; minus infinity
        where there is no face."""
        self.codes = np.zeros((count, self.most), dtype=np.intp)
        self.edges = np.zeros(count * room * room, dtype=bool)

    def grow(self, progress: Progress | None) -> None:
        """Let all polytopes grow until their nearest faces are on the surface of A - B. Raises Cancelled."""
        while True:
            free = np.flatnonzero(~self.good)
            active = len(self.rows) - len(free)
            if len(free) and len(self.waiting.pairs):
                self.begin(free[: len(self.waiting.pairs)])
            elif active <= _LAST:
                self.note()
                self.put_off(np.flatnonzero(self.good))
                if not self.late:
                    return
                self.waiting = _Begun.together(self.late)
                self.make_room(_ROOMS[1])
                continue
            elif active < (_SHARE if len(self.rows) > _FEW else _SHARE_OF_FEW) * len(self.rows):
                self.only(np.flatnonzero(self.good))
            self.step()
            report_progress(progress, self.ended, len(self.depth))

    def begin(self, at: IntArray) -> None:
        """Let the next pairs take these rows."""
        self.note()
        begun, self.waiting = self.waiting.part(slice(len(at))), self.waiting.part(slice(len(at), None))
        self.replace(at, begun.pairs)
        width = begun.names.shape[1]
        self.points[at, :, :width] = begun.points
        self.names[at] = _INNER
        self.names[at, :width] = begun.names
        self.below[at] = -np.inf
        self.faces[at], self.count[at], self.good[at], self.inside[at] = begun.faces, begun.count, True, False
        owner, slots = begun.there.nonzero()
        self.put(at.take(owner), slots, *_corners(begun.codes[owner, slots]))

    def put_off(self, at: IntArray) -> None:
        """Give up the polytopes in these rows, which go on when there is more room, if ever there is."""
        self.good[at] = False
        if self.room < _ROOMS[-1] and len(at):
            there = self.below[at] > -np.inf
            held = self.points[at], self.names[at], self.codes[at]
            self.late.append(_Begun(self.rows[at], *held, self.count[at], self.faces[at], there))

    def put(self, owner: IntArray, slots: IntArray, begin: IntArray, end: IntArray, third: IntArray) -> None:
        """Add faces with these corners (k,) to polytopes `owner` (k,) in places `slots` (k,)."""
        place = owner * self.most + slots
        self.codes.ravel()[place] = begin | end << _BITS | third << 2 * _BITS
        top, u, v = self.points_at(owner, (third, begin, end))
        u -= top
        v -= top
        normals = cross_rows(u, v)
        length = np.sqrt(np.einsum("ck,ck->k", normals, normals))
        normals /= np.where(length > 0.0, length, 1.0)
        # A sliver's normal is rounded by much: with a corner lower than its offset the ball would not be inside.
        offsets = np.minimum(np.einsum("ck,ck->k", normals, u), np.einsum("ck,ck->k", normals, v))
        np.minimum(offsets, 0.0, out=offsets)
        offsets += np.einsum("ck,ck->k", normals, top)
        self.below.ravel()[place] = -offsets
        place += owner * (2 * self.most)
        held = self.normals.ravel()
        for row in normals:
            held[place] = row
            place += self.most
        # What holds the origin still does, but for rounding.
        least = np.where(self.inside, self.limit, -np.inf)
        self.good[owner[~(offsets > least.take(owner))]] = False

    def points_at(self, owner: IntArray, corners: Sequence[IntArray]) -> FloatArray:
        """Return corners (c, k) of polytopes `owner` (k,), as (c, 3, k)."""
        result = np.empty((len(corners), 3, len(owner)))
        coordinates, base = self.points.ravel(), owner * (3 * self.room)
        for held, corner in zip(result, corners, strict=True):
            place = base + corner
            for row in held:
                coordinates.take(place, out=row, mode="clip")
                place += self.room
        return result

    def only(self, kept: IntArray) -> None:
        """Go on with these rows only."""
        self.note()
        self.keep(kept)
        self.count, self.faces, self.good = self.count[kept], self.faces[kept], self.good[kept]
        self.inside, self.found = self.inside[kept], self.found[kept]
        self.points, self.names = self.points.take(kept, axis=0), self.names.take(kept, axis=0)
        self.normals, self.below = self.normals.take(kept, axis=0), self.below.take(kept, axis=0)
        self.codes = self.codes.take(kept, axis=0)

    def step(self) -> None:
        """Look beyond the nearest faces: end there, or add what is found."""
        lines = np.arange(len(self.rows))
        nearest = self.below.argmax(axis=1)
        offset = -self.below.ravel().take(lines * self.most + nearest)
        place, ways = lines * (3 * self.most) + nearest, np.empty((3, len(lines)))
        for row in ways:
            self.normals.ravel().take(place, out=row, mode="clip")
            place += self.most
        new = self.supports(ways)
        assert self.named is not None
        names = _name(self.named)
        depth = np.einsum("cm,cm->m", ways, new)
        beyond, rounding = depth - offset, EPS * self.spread
        ended = beyond <= EPA_CONVERGED * rounding
        # Where the planes are not as exact the point is there already.
        near = ((beyond <= EPA_FILTER * rounding) & ~ended).nonzero()[0]
        if len(near):
            ended[near] = (self.names.take(near, axis=0) == names.take(near)[:, None]).any(axis=1)
        self.inside = (offset > self.limit) & (offset < np.inf)  # no face is none that is far
        ended &= self.good
        found = ended & self.inside
        self.ended += int(np.count_nonzero(found))
        self.found |= found
        self.last = ways, depth, offset
        self.good &= ~ended & (depth > self.limit)
        self.put_off((self.good & (self.count == self.room - 1)).nonzero()[0])
        self.add(new, names, nearest)

    def note(self) -> None:
        """Keep what the rows that have ended around the origin have come to: nothing changes there any more."""
        at = self.found.nonzero()[0]
        if not len(at):
            return
        self.found[at] = False
        ways, depth, offset = self.last
        pairs = self.rows.take(at)
        self.depth[pairs], self.inner_ball[pairs] = depth.take(at), offset.take(at)
        self.normal[:, pairs] = ways.take(at, axis=1)
        flat = offset.take(at) + EPA_FILTER * EPS * self.spread.take(at)
        level = np.flatnonzero(self.below.take(at, axis=0) >= -flat[:, None])
        owner = level // self.most
        place = at.take(owner)
        corners = _corners(self.codes.ravel().take(level + (place - owner) * self.most))
        names = self.names.ravel().take(np.stack(corners) + place * self.room)
        self.level.append((pairs.take(owner), self.points_at(place, corners), names))

    def add(self, new: FloatArray, names: IntArray, nearest: IntArray) -> None:
        """Add a point to each polytope that still grows, whose nearest face sees it."""
        width, used = len(self.rows), int(self.faces.max())
        lines = np.arange(width)
        # What is written there of those that do not grow is not read.
        place, points = lines * (3 * self.room) + self.count, self.points.ravel()
        for row in new:
            points[place] = row
            place += self.room
        self.names[lines, self.count] = names
        heights = np.einsum("cm,mcf->mf", new, self.normals[:, :, :used])
        heights += self.below[:, :used]  # minus infinity where there is no face
        visible = heights > (EPA_FILTER * EPS * self.spread)[:, None]
        visible[lines, nearest] = True
        visible[~self.good] = False
        place = visible.ravel().nonzero()[0]
        row = place // used
        place += row * (self.most - used)
        corners = np.empty((len(row), 4), dtype=np.intp)  # the first one follows the last
        corners[:, 0], corners[:, 1], corners[:, 2] = _corners(self.codes.ravel().take(place))
        corners[:, 3] = corners[:, 0]
        begin, end = corners[:, :3].ravel(), corners[:, 1:].ravel()
        owner = np.repeat(row, 3)
        base = owner * (self.room * self.room)
        there = base + begin * self.room + end
        self.edges[there] = True
        border = (~self.edges.take(base + end * self.room + begin, mode="clip")).nonzero()[0]
        self.edges[there] = False
        owner, begin, end = owner.take(border), begin.take(border), end.take(border)
        # What a point sees is a disk, whose border has two edges more than it has faces, or fewer.
        seen, sides = np.bincount(row, minlength=width), np.bincount(owner, minlength=width)
        torn = (sides > seen + 2).nonzero()[0]
        if len(torn):
            self.good[torn] = False
            whole = np.flatnonzero(self.good.take(owner))
            owner, begin, end = owner.take(whole), begin.take(whole), end.take(whole)
            sides[torn] = 0
        # The new faces take the places of those that are gone, and two more.
        self.below.ravel()[place] = -np.inf
        face = place - row * self.most
        rank = np.arange(len(owner)) - (np.cumsum(sides) - sides).take(owner)
        over = rank - seen.take(owner)
        again = face.take((np.cumsum(seen) - seen).take(owner) + rank, mode="clip")
        slots = np.where(over < 0, again, self.faces.take(owner) + over)
        self.put(owner, slots, begin, end, self.count.take(owner))
        self.faces += np.maximum(sides - seen, 0)
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
    p, q, r = points
    weights = _weights(p, q, r, normal, normal * np.einsum("ck,ck->k", normal, p))
    least = weights.min(axis=0)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))  # the faces of a pair follow each other
    most = np.repeat(np.maximum.reduceat(least, starts), np.diff(starts, append=len(owner)))
    order = np.flatnonzero((least == most) & (names != _INNER).all(axis=0))
    order = order.take(np.flatnonzero(np.diff(owner.take(order), prepend=-1)))
    at, points, names = owner.take(order), points.take(order, axis=2), names.take(order, axis=1)
    weights = np.maximum(weights.take(order, axis=1), 0.0)
    weights /= weights.sum(axis=0)
    pair = i.take(at), j.take(at)
    corners = table.at(pair[0], (names & 0xFFFFFFFF).astype(np.int32))
    mean = np.einsum("kcm,km->cm", points, weights)
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
