# SPDX-License-Identifier: GPL-3.0-or-later
"""Depth, normal and witness points of many pairs of convex polytopes that penetrate: EPA, all pairs at once.

Every pair has its own polytope around the origin, inside A - B. In each step it grows at its nearest face: a cone over
the border of the faces that see the new point takes their place. The surface stays closed whatever rounding does, and
as long as all its faces look away from the origin it is around a ball as large as the nearest face is far: the proof of
the depth, for which it need not be convex. Pairs of which that does not hold are told, for the single call.
Source: S2.1; G. van den Bergen 2001.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress, part_of, tell
from ..shapes.polytope import FloatArray, IntArray
from ..tolerance import DEPTH_NORMAL, EPA_CONVERGED, EPA_FILTER, EPS
from .batched_hulls import MEET, HullPairs, HullTable, cross_rows, hulls_by_portals, room_for

BoolArray = NDArray[np.bool_]

_CHUNK = 1_024
"""Pairs answered in one go: their faces fit the second cache."""
_POINTS = 28
"""Corners of a polytope; of hulls of a hundred corners, one pair in a thousand needs more."""
_FACES = 112
"""Faces that a polytope has ever had."""
_LAST = 2
"""Pairs so few are slower together than one by one, and left."""
_SHARE = 0.85
"""Share of pairs still to be answered from which those that are answered are put away."""
_BENT = 1e-3
"""By how much a normal is bent toward a corner of its face: others of the face are lower then, those beside it not yet
higher."""
_START = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
"""Faces of a tetrahedron, outward when its last corner is below the first face."""


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
    portals = hulls_by_portals(table, i, j, part_of(progress, 0.0, 0.2))
    assert portals.around is not None
    members = np.flatnonzero(portals.state == MEET)
    memory = room_for(table, _CHUNK)
    for start in range(0, len(members), _CHUNK):
        tell(progress, 0.2 + 0.8 * start / len(members))
        some = members[start : start + _CHUNK]
        polytopes = _Polytopes(table, i.take(some), j.take(some), memory, portals.around.take(some, axis=2))
        polytopes.grow()
        _measure(table, i.take(some), j.take(some), polytopes, some, answer)
    return answer


class _Polytopes(HullPairs):
    """The polytopes of some pairs; of active pairs only, but for what was found."""

    def __init__(
        self,
        table: HullTable,
        i: IntArray,
        j: IntArray,
        memory: tuple[FloatArray, FloatArray],
        around: FloatArray,
    ) -> None:
        super().__init__(table, i, j, memory)
        self.memory_of_all = memory
        count = len(i)
        self.ended = np.zeros(count, dtype=bool)
        self.depth, self.inner_ball, self.slack = np.zeros((3, count))
        self.normal = np.zeros((3, count))
        self.face, self.face_on_a = np.zeros((2, 3, 3, count))  # coordinate, corner, pair
        self.count, self.faces = np.full((2, count), 4)  # of each
        self.points, self.on_a = np.full((2, 3, count, _POINTS), np.nan)
        self.normals = np.zeros((3, count, _FACES))
        self.offsets = np.full((count, _FACES), np.inf)
        self.corners_of = np.zeros((count, _FACES, 3), dtype=np.intp)
        # Which corners of A made those of the first tetrahedron is found out where they are part of the answer.
        self.points[:, :, 3], self.on_a[:, :, 3] = self.inner, 0.0
        for slot in range(3):
            self.points[:, :, slot] = around[:, slot]
        self.edges = np.zeros(count * _POINTS * _POINTS, dtype=bool)
        first, second, third = (around[:, k] for k in range(3))
        up = np.einsum("cm,cm->m", cross_rows(second - first, third - first), self.inner - first) > 0.0
        turned = np.flatnonzero(up)
        for held in (self.points, self.on_a):
            held[:, turned, 0], held[:, turned, 1] = held[:, turned, 1].copy(), held[:, turned, 0].copy()
        rows = np.repeat(np.arange(count), 4)
        slots = np.tile(np.arange(4), count)
        self.good = np.ones(count, dtype=bool)
        self.put(rows, slots, np.tile(_START, (count, 1)))

    def put(self, rows: IntArray, slots: IntArray, corners: IntArray) -> None:
        """Add faces (k, 3) to polytopes `rows` (k,) in places `slots` (k,)."""
        p, q, r = (self.points[:, rows, corners[:, k]] for k in range(3))
        normals = cross_rows(q - p, r - p)
        length = np.sqrt(np.einsum("ck,ck->k", normals, normals))
        normals /= np.where(length > 0.0, length, 1.0)
        offsets = np.einsum("ck,ck->k", normals, p)
        self.normals[:, rows, slots] = normals
        self.offsets[rows, slots] = offsets
        self.corners_of[rows, slots] = corners
        self.good[rows[~(offsets > self.limit.take(rows))]] = False

    def grow(self) -> None:
        """Let all polytopes grow until their nearest faces are on the surface of A - B."""
        for _ in range(_POINTS - 4):
            active = np.flatnonzero(self.good)
            if len(active) <= _LAST:
                return
            if len(active) < _SHARE * len(self.rows):  # to copy all of them each time would cost more
                self.only(active)
            lines = np.arange(len(self.rows))
            nearest = self.offsets[:, : int(self.faces.max())].argmin(axis=1)
            offset = self.offsets[lines, nearest]
            ways = self.normals[:, lines, nearest]
            on_a = self.farthest(ways, False)
            new = self.inner + on_a - self.farthest(ways, True)
            depth = np.einsum("cm,cm->m", ways, new)
            ended = depth - offset <= EPA_CONVERGED * EPS * self.spread
            ended |= (new[:, :, None] == self.points).all(axis=0).any(axis=1)
            self.note(np.flatnonzero(ended & self.good), nearest, ways, depth, offset)
            self.good &= ~ended
            self.add(new, on_a, nearest)

    def only(self, kept: IntArray) -> None:
        """Go on with these of the active pairs only."""
        self.keep(kept)
        self.count, self.faces, self.good = self.count[kept], self.faces[kept], self.good[kept]
        self.points, self.on_a = self.points.take(kept, axis=1), self.on_a.take(kept, axis=1)
        self.normals = self.normals.take(kept, axis=1)
        self.offsets, self.corners_of = self.offsets.take(kept, axis=0), self.corners_of.take(kept, axis=0)

    def note(self, at: IntArray, nearest: IntArray, ways: FloatArray, depth: FloatArray, offset: FloatArray) -> None:
        """Keep what active pairs `at` have come to."""
        rows = self.rows.take(at)
        self.ended[rows] = True
        self.depth[rows], self.inner_ball[rows] = depth[at], offset[at]
        self.normal[:, rows] = ways[:, at]
        p, q, r = (self.points[:, at, self.corners_of[at, nearest[at], k]] for k in range(3))
        # The normal of a sliver is rounded by more, and so is how far its plane is from the origin.
        one, other, across = (np.einsum("cm,cm->m", v, v) for v in (q - p, r - p, cross_rows(q - p, r - p)))
        bent = np.sqrt(one * other / np.where(across > 0.0, across, np.inf))
        self.slack[rows] = DEPTH_NORMAL * EPS * np.sqrt(np.einsum("cm,cm->m", p, p)) * bent
        corners = self.corners_of[at, self.holding(at, nearest, ways)]
        for k in range(3):
            self.face[:, k, rows] = self.points[:, at, corners[:, k]]
            self.face_on_a[:, k, rows] = self.on_a[:, at, corners[:, k]]

    def holding(self, at: IntArray, nearest: IntArray, ways: FloatArray) -> IntArray:
        """Return of the faces in one plane with the nearest ones of active pairs `at` those that hold the origin's
        projection."""
        offset = self.offsets[at, nearest[at]]
        flat = (EPA_FILTER * EPS * self.spread)[at]
        row, face = np.nonzero(self.offsets[at] <= (offset + flat)[:, None])
        pair = at[row]
        p, q, r = (self.points[:, pair, self.corners_of[pair, face, k]] for k in range(3))
        normal = ways[:, pair]
        weights = _weights(p, q, r, normal, normal * offset[row])
        # Corners as high as the nearest face: in its plane.
        level = np.max([np.abs(np.einsum("ck,ck->k", normal, v) - offset[row]) for v in (p, q, r)], axis=0) <= flat[row]
        inside = np.where(level | (face == nearest[pair]), weights.min(axis=0), -np.inf)
        order = np.lexsort((-inside, row))
        return face[order[np.searchsorted(row[order], np.arange(len(at)))]]

    def add(self, new: FloatArray, on_a: FloatArray, nearest: IntArray) -> None:
        """Add a point to each active polytope, whose nearest face sees it."""
        lines = np.arange(len(nearest))
        slot = self.count[lines]
        self.points[:, lines, slot], self.on_a[:, lines, slot] = new, on_a
        used = int(self.faces.max())
        heights = np.einsum("cm,cmf->mf", new, self.normals[:, :, :used])
        heights -= self.offsets[:, :used]  # minus infinity where a face is gone
        visible = heights > (EPA_FILTER * EPS * self.spread)[:, None]
        visible[lines, nearest] = True
        row, face = np.nonzero(visible)
        corners = self.corners_of[row, face]
        self.offsets[row, face] = np.inf
        begin, end = corners.ravel(), corners[:, [1, 2, 0]].ravel()
        row = np.repeat(row, 3)
        base = row * (_POINTS * _POINTS)
        codes = base + begin * _POINTS + end
        self.edges[codes] = True
        border = np.flatnonzero(~self.edges[base + end * _POINTS + begin])
        self.edges[codes] = False
        row, begin, end = row[border], begin[border], end[border]
        # The border's edges of each pair come one after the other, pair after pair.
        first = np.searchsorted(row, lines)
        slots = self.faces[row] + np.arange(len(row)) - first[row]
        room = slots < _FACES
        self.good[row[~room]] = False
        row, begin, end, slots = row[room], begin[room], end[room], slots[room]
        self.put(row, slots, np.stack([begin, end, slot[row]], axis=1))
        self.faces = np.minimum(self.faces + np.bincount(row, minlength=len(lines)), _FACES)
        self.count += 1


def _measure(
    table: HullTable, i: IntArray, j: IntArray, found: _Polytopes, columns: IntArray, answer: HullDepths
) -> None:
    """Fill in what the nearest faces show."""
    at = np.flatnonzero(found.ended)
    if not len(at):
        return
    pair = i.take(at), j.take(at)
    normal, depth = found.normal[:, at], found.depth[at]
    _name(HullPairs(table, *pair, found.memory_of_all), found, at, normal)
    p, q, r = (found.face[:, k, at] for k in range(3))
    foot = normal * np.einsum("cm,cm->m", normal, p)
    weights = np.maximum(_weights(p, q, r, normal, foot), 0.0)
    weights /= weights.sum(axis=0)
    mean = np.einsum("ckm,km->cm", found.face[:, :, at], weights)
    local = np.einsum("ckm,km->cm", found.face_on_a[:, :, at], weights)
    mean_a, mean_b = (table.centers[:3, n] + table.centers[3:, n] for n in pair)
    inner = -(mean_b - mean_a)
    chosen = columns.take(at)
    limit = table.balls[2].take(pair[0]) + table.balls[2].take(pair[1])
    answer.found[chosen] = ~np.isnan(local[0])
    answer.depth[chosen], answer.inner[chosen], answer.rounding[chosen] = (
        depth,
        found.inner_ball[at],
        limit + found.slack[at],
    )
    answer.normal[:, chosen] = normal
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


def _name(pairs: HullPairs, found: _Polytopes, at: IntArray, normal: FloatArray) -> None:
    """Find out which corners of A made the corners of nearest faces that are not known yet: a support point for a way
    that is bent toward one is that corner, or the face stays unknown."""
    middle = found.face[:, :, at].mean(axis=1)
    for slot in range(3):
        unknown = np.flatnonzero(np.isnan(found.face_on_a[0, slot, at]))
        if not len(unknown):
            continue
        corner = found.face[:, slot, at[unknown]]
        bent = corner - middle[:, unknown]
        length = np.sqrt(np.einsum("cm,cm->m", bent, bent))
        ways = normal[:, unknown] + _BENT * bent / np.where(length > 0.0, length, 1.0)
        full = normal.copy()
        full[:, unknown] = ways
        on_a = pairs.farthest(full, False)
        same = (pairs.inner + on_a - pairs.farthest(full, True))[:, unknown] == corner
        known = unknown[same.all(axis=0)]
        found.face_on_a[:, slot, at[known]] = on_a[:, known]
