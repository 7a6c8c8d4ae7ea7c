# SPDX-License-Identifier: GPL-3.0-or-later
"""Depth, normal and witness points of many pairs of polytopes that penetrate: EPA, all pairs at once.

Every pair has a polytope of support points inside A - B, a closed surface of triangles.

1. Start with the hull of six support points: one from A to B, one in the opposite direction, four around
   (`first_hulls`). It need not contain the origin yet.
2. Take the face nearest to the origin, or that one which the origin is farthest beyond, and the support point along its
   normal. Where that is no farther than the face, the face is on the surface of A - B: end.
3. Remove the faces that the point sees. The edges that only one of them has are the horizon; join it to the point. The
   surface stays closed whatever rounding does. A horizon that is torn ends the search without a result.
4. Measure: where all faces look away from the origin, the polytope contains a ball as large as the nearest face is far,
   which proves the depth; the plane at the support point proves the other bound.

Polytopes that run out of room wait, and go on with more room, all together. Source: S2.1; G. van den Bergen, Proximity
Queries and Penetration Depth Computation on 3D Game Objects, 2001.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...progress import Progress, report_progress, subrange
from ...runs import chunks
from ...tolerance import EPA_CONVERGED, EPA_FILTER, EPS, GJK_INSIDE
from ...types import FloatArray, IntArray, read_only
from ...vectors import cross, dot, length
from .columns import CHUNK, add_rows, directions_around, einsum
from .first_hulls import VERTICES, first_hulls
from .hull_pairs import NO_VERTEX, HullContacts, HullPairs, witness_points
from .hull_table import HullTable

_ROOM = 16, 48
"""Vertices of a polytope, one to spare: first for all pairs, so that the arrays stay in the cache; then for those that
need more. Of hulls of a hundred vertices that is one pair in two hundred, and nearly every one of concentric balls."""
_COMPACT = 0.7
"""Fraction of pairs still searched below which the arrays are compacted: until then the others are dragged along."""
_SLOPES = 0.85, 4.0
"""Slopes to the direction from A to B of the four around; the second where rounding could change the first hull."""
_SHRINK = 0.25
"""How far first points are moved into their hull for the second: of regular shapes four are often in one plane."""
_BITS, _MASK = 6, 63
"""A face is one number: its vertices, counter-clockwise seen from outside, of so many bits each."""


def _shrink_weights() -> FloatArray:
    """Return weights of vertices, one row per point, that give points inside of their hull, no four in a plane."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    weights = 0.5 + np.arange(VERTICES**2).reshape(VERTICES, VERTICES) * golden % 1.0
    return read_only(weights / weights.sum(axis=1)[:, None])


_SHRINK_WEIGHTS = _shrink_weights()


def _unpack(faces: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the three vertices of faces."""
    return faces & _MASK, faces >> _BITS & _MASK, faces >> 2 * _BITS


def _pack(first: IntArray, second: IntArray, third: IntArray) -> IntArray:
    return first | second << _BITS | third << 2 * _BITS


def hull_depths(table: HullTable, i: IntArray, j: IntArray, progress: Progress | None = None) -> HullContacts:
    """Return depths, normals and witness points of polytopes i (n,) and j (n,). Raise Cancelled."""
    total = len(i)
    result = HullContacts.unknown(total)
    order = table.order(i, j)
    for part in chunks(total, CHUNK // 2, progress):
        columns = order[part]
        polytopes = _Polytopes(table, i.take(columns), j.take(columns))
        polytopes.grow(subrange(progress, (part.start + 0.2 * len(columns)) / total, part.stop / total))
        _measure(polytopes, i, j, columns, result)
    return result


class _Polytopes(HullPairs):
    """The polytopes of some pairs, one row each; what was found is of all pairs."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray) -> None:
        super().__init__(table, i, j)
        count, room = len(i), _ROOM[0]
        faces = 2 * room - 4
        self.room, self.face_room = room, faces
        self.growing, self.encloses, self.found, self.full = np.zeros((4, count), dtype=bool)
        """(m,) whether it still grows, contained the origin in the last step, has just ended, or needs more room."""
        self.last = np.zeros((3, count)), np.zeros(count), np.zeros(count)
        """Normals (3, m), support heights and offsets of the nearest faces in the last step."""
        self.points = np.zeros((count, 3, room))
        self.ids = np.full((count, room), NO_VERTEX)
        self.vertex_count, self.face_count = np.zeros((2, count), dtype=np.intp)
        """(m,) vertices of each polytope, and places for faces that are or were used."""
        self.faces = np.zeros((count, faces), dtype=np.intp)
        self.normals = np.zeros((count, 3, faces))
        """Outward unit normals."""
        self.heights = np.full((count, faces), -np.inf)
        """Of the origin over the planes of the faces, minus their offsets; minus infinity where there is no face."""
        self.edges = np.zeros(count * room * room, dtype=bool)
        """Whether there is a directed edge, while a horizon is looked for."""
        self.depth, self.inner, self.normal = np.zeros(count), np.zeros(count), np.zeros((3, count))
        self.ended: list[tuple[IntArray, FloatArray, FloatArray]] = []
        """Pairs (k,) that have ended, with the vertices (3, 3, k) (coordinate, vertex, face) of their nearest faces and
        those level with them, and the ids (3, k) of these."""
        self.begin()

    def begin(self) -> None:
        """Make the first polytopes."""
        for slope in _SLOPES:
            rows = np.flatnonzero(~self.growing)
            for part in chunks(len(rows), CHUNK // 4):
                self.begin_rows(rows[part], slope, slope == _SLOPES[-1])

    def begin_rows(self, rows: IntArray, slope: float, shrink: bool) -> None:
        """Make the first polytopes of some rows, of points that are moved into their hull if `shrink`."""
        inward = self.interior.take(rows, axis=1)
        around = directions_around(-inward, VERTICES - 2, slope)
        points = self.supports(np.concatenate([inward[:, None], -inward[:, None], around], axis=1), rows)
        points, ids = points[:3], points[3]
        # A point that is there twice is moved into the hull, where it is no vertex.
        twice = np.array([(ids[:k] == ids[k]).any(axis=0) for k in range(VERTICES)])
        again = np.flatnonzero(twice.any(axis=0))
        inside = einsum("kl,clm->ckm", _SHRINK_WEIGHTS, points.take(again, axis=2))
        points[:, :, again] = np.where(twice.take(again, axis=1), inside, points.take(again, axis=2))
        if shrink:
            points += _SHRINK * (einsum("kl,clm->ckm", _SHRINK_WEIGHTS, points) - points)
            ids[:] = NO_VERTEX
        self.points[rows, :, :VERTICES] = points.transpose(2, 0, 1)
        self.ids[rows, :VERTICES] = ids.T
        hull, facets = first_hulls(points, GJK_INSIDE * EPS * self.size.take(rows) ** 3)
        count = np.bincount(hull, minlength=len(rows))
        self.face_count[rows], self.vertex_count[rows], self.growing[rows] = count, VERTICES, count > 0
        self.put(rows.take(hull), _rank(hull, count), *facets.T)

    def grow(self, progress: Progress | None) -> None:
        """Let the polytopes grow until all have ended. Raise Cancelled."""
        total = len(self.pair)
        while True:
            growing, left = int(np.count_nonzero(self.growing)), self.growing | self.full
            active = int(np.count_nonzero(left))
            report_progress(progress, total - active, total)
            if not (active if self.room < _ROOM[-1] else growing):
                return self.store()
            if active < _COMPACT * len(left):
                self.store()
                self.keep(np.flatnonzero(left))
            if not growing:
                self.store()
                self.make_room(_ROOM[-1])
            self.step()

    def make_room(self, room: int) -> None:
        """Let the polytopes that are full go on, with room for more vertices."""
        self.keep(np.flatnonzero(self.growing | self.full))
        self.growing[:], self.full[:] = True, False
        more = ((0, 0), (0, room - self.room))
        more_faces = ((0, 0), (0, 2 * (room - self.room)))
        self.points = np.pad(self.points, ((0, 0), *more))
        self.ids = np.pad(self.ids[:, :-1], ((0, 0), (0, room - self.room + 1)), constant_values=NO_VERTEX)
        self.faces, self.normals = np.pad(self.faces, more_faces), np.pad(self.normals, ((0, 0), *more_faces))
        self.heights = np.pad(self.heights, more_faces, constant_values=-np.inf)
        self.edges = np.zeros(len(self.pair) * room * room, dtype=bool)
        self.room, self.face_room = room, 2 * room - 4

    def step(self) -> None:
        """Look beyond the nearest faces: end there, or add the support point."""
        rows = np.arange(len(self.pair))
        nearest = self.heights.argmax(axis=1)
        offset = -self.heights.ravel().take(rows * self.face_room + nearest)
        directions, place = np.empty((3, len(rows))), rows * (3 * self.face_room) + nearest
        for row in directions:
            self.normals.ravel().take(place, out=row, mode="clip")
            place += self.face_room
        new = self.supports(directions)
        depth, rounding = dot(directions, new[:3]), EPS * self.size
        beyond = depth - offset
        ended = beyond <= EPA_CONVERGED * rounding
        # Where the planes are not as exact the point is there already.
        near = np.flatnonzero((beyond <= EPA_FILTER * rounding) & ~ended)
        ended[near] = (self.ids.take(near, axis=0) == new[3].take(near)[:, None]).any(axis=1)
        ended &= self.growing
        self.encloses = (offset > self.rounding) & (offset < np.inf)
        self.found |= ended & self.encloses
        self.last = directions, depth, offset
        self.growing &= ~ended & (depth > self.rounding)
        self.full |= self.growing & (self.vertex_count == self.room - 1)
        self.growing &= ~self.full
        if self.growing.any():
            self.add(new, nearest)

    def add(self, new: FloatArray, nearest: IntArray) -> None:
        """Add a point (4, m) to each polytope that grows, whose nearest face sees it."""
        number, used = len(self.pair), int(self.face_count.max())
        rows = np.arange(number)
        # What is written of those that do not grow is not read.
        place, points = rows * (3 * self.room) + self.vertex_count, self.points.ravel()
        for coordinate in new[:3]:
            points[place] = coordinate
            place += self.room
        self.ids[rows, self.vertex_count] = new[3]
        above = einsum("cm,mcf->mf", new[:3], self.normals[:, :, :used])
        above += self.heights[:, :used]  # minus infinity where there is no face
        visible = above > (EPA_FILTER * EPS * self.size)[:, None]
        visible[rows, nearest] = True
        visible[~self.growing] = False
        place = np.flatnonzero(visible)
        row = place // used
        slot = place - row * used
        removed = row * self.face_room + slot
        corners = np.empty((len(row), 4), dtype=np.intp)  # the first one follows the last
        corners[:, 0], corners[:, 1], corners[:, 2] = _unpack(self.faces.ravel().take(removed))
        corners[:, 3] = corners[:, 0]
        first, second, owner = corners[:, :3].ravel(), corners[:, 1:].ravel(), np.repeat(row, 3)
        base = owner * (self.room * self.room)
        edge = base + first * self.room + second
        self.edges[edge] = True
        horizon = np.flatnonzero(~self.edges.take(base + second * self.room + first, mode="clip"))
        self.edges[edge] = False
        owner, first, second = owner.take(horizon), first.take(horizon), second.take(horizon)
        # The visible faces are a disk, whose border has two edges more than it has faces, or fewer.
        seen, sides = np.bincount(row, minlength=number), np.bincount(owner, minlength=number)
        torn = np.flatnonzero(sides > seen + 2)
        if len(torn):
            self.growing[torn] = False
            whole = np.flatnonzero(self.growing.take(owner))
            owner, first, second = owner.take(whole), first.take(whole), second.take(whole)
            sides[torn] = 0
        # The new faces take the places of those that are removed, and two more.
        self.heights.ravel()[removed] = -np.inf
        rank = _rank(owner, sides)
        over = rank - seen.take(owner)
        again = slot.take((np.cumsum(seen) - seen).take(owner) + rank, mode="clip")
        slots = np.where(over < 0, again, self.face_count.take(owner) + over)
        self.put(owner, slots, first, second, self.vertex_count.take(owner))
        self.face_count += np.maximum(sides - seen, 0)
        self.vertex_count += self.growing

    def put(self, owner: IntArray, slots: IntArray, first: IntArray, second: IntArray, third: IntArray) -> None:
        """Write faces with these vertices (k,) into places `slots` (k,) of polytopes `owner` (k,)."""
        place = owner * self.face_room + slots
        self.faces.ravel()[place] = _pack(first, second, third)
        apex, u, v = self.vertices(owner, (third, first, second))
        u -= apex
        v -= apex
        normals = cross(u, v)
        norm = length(normals)
        normals /= np.where(norm > 0.0, norm, 1.0)
        # A sliver's normal is rounded by much: with a vertex lower than its offset the ball would not be inside.
        offsets = np.minimum(dot(normals, u), dot(normals, v))
        np.minimum(offsets, 0.0, out=offsets)
        offsets += dot(normals, apex)
        self.heights.ravel()[place] = -offsets
        place += owner * (2 * self.face_room)
        flat = self.normals.ravel()
        for row in normals:
            flat[place] = row
            place += self.face_room
        # A polytope that contains the origin goes on to, but for rounding.
        least = np.where(self.encloses, self.rounding, -np.inf)
        self.growing[owner[~(offsets > least.take(owner))]] = False

    def vertices(self, owner: IntArray, indices: Sequence[IntArray]) -> FloatArray:
        """Return vertices (c, k) of polytopes `owner` (k,), as (c, 3, k)."""
        result = np.empty((len(indices), 3, len(owner)))
        coordinates, base = self.points.ravel(), owner * (3 * self.room)
        for points, index in zip(result, indices, strict=True):
            place = base + index
            for row in points:
                coordinates.take(place, out=row, mode="clip")
                place += self.room
        return result

    def store(self) -> None:
        """Store the results of the rows that have just ended."""
        rows = np.flatnonzero(self.found)
        self.found[rows] = False
        directions, depth, offset = self.last
        pair = self.pair.take(rows)
        self.depth[pair], self.inner[pair] = depth.take(rows), offset.take(rows)
        self.normal[:, pair] = directions.take(rows, axis=1)
        limit = offset.take(rows) + EPA_FILTER * EPS * self.size.take(rows)
        owner, slot = np.divmod(np.flatnonzero(self.heights.take(rows, axis=0) >= -limit[:, None]), self.face_room)
        row = rows.take(owner)
        corners = _unpack(self.faces.ravel().take(row * self.face_room + slot))
        ids = self.ids.ravel().take(np.stack(corners) + row * self.room)
        self.ended.append((pair.take(owner), self.vertices(row, corners).transpose(1, 0, 2), ids))

    def keep(self, columns: IntArray) -> None:
        """Go on with these rows only."""
        super().keep(columns)
        for name in ("growing", "encloses", "found", "full", "vertex_count", "face_count"):
            setattr(self, name, getattr(self, name)[columns])
        for name in ("points", "ids", "faces", "normals", "heights"):
            setattr(self, name, getattr(self, name).take(columns, axis=0))


def _rank(owner: IntArray, count: IntArray) -> IntArray:
    """Return the position of each entry among those of its owner; they are grouped, `count` of each owner."""
    return np.arange(len(owner)) - (np.cumsum(count) - count).take(owner)


def _measure(polytopes: _Polytopes, i: IntArray, j: IntArray, columns: IntArray, result: HullContacts) -> None:
    """Write what the nearest faces show into the columns of the result."""
    owner, points, ids = (np.concatenate(parts, axis=-1) for parts in zip(*polytopes.ended, strict=True))
    # Of level faces that one which contains the projection of the origin.
    normal = polytopes.normal.take(owner, axis=1)
    weights = _barycentric_weights(points, normal)
    least = weights.min(axis=0)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))  # the faces of a pair follow each other
    if len(starts):
        most = np.repeat(np.maximum.reduceat(least, starts), np.diff(starts, append=len(owner)))
        chosen = np.flatnonzero((least == most) & (ids != NO_VERTEX).all(axis=0))
        chosen = chosen.take(np.flatnonzero(np.diff(owner.take(chosen), prepend=-1)))
        pair, ids = owner.take(chosen), ids.take(chosen, axis=1)
        weights = np.maximum(weights.take(chosen, axis=1), 0.0)
        weights /= add_rows(weights)
        nearest = einsum("ckm,km->cm", points.take(chosen, axis=2), weights)
        columns = columns.take(pair)
        i, j = i.take(columns), j.take(columns)
        depth, inner, rounding = (of.take(pair) for of in (polytopes.depth, polytopes.inner, polytopes.all_lengths[3]))
        witnesses = witness_points(polytopes.table, i, j, ids, weights, nearest)
        found = inner > rounding
        normal = polytopes.normal.take(pair, axis=1)
        result.store(columns, found, -depth, -depth - rounding, rounding - inner, normal, *witnesses)


def _barycentric_weights(triangles: FloatArray, normal: FloatArray) -> FloatArray:
    """Return the weights (3, m) of the projections of the origin on the planes of triangles (3, 3, m), coordinate
    first; some are negative where it is outside."""
    p, q, r = triangles.transpose(1, 0, 2)
    whole = dot(cross(q - p, r - p), normal)
    scale = 1.0 / np.where(whole > 0.0, whole, np.inf)
    offset = normal * dot(normal, p) - p
    second = dot(cross(offset, r - p), normal) * scale
    third = dot(cross(q - p, offset), normal) * scale
    return np.stack([1.0 - second - third, second, third])
