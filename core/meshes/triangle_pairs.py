# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh against mesh: which triangles meet, where, and how.

Two triangles that are not in one plane meet on the line that their planes have in common, where each of them cuts out
an interval. All that has to be known is on which side of either plane the corners are, and in which order the ends of
the intervals come: signs of volumes of four corners, each of them exact. So is the answer, which features of the meshes
it is on included, whatever the input. Source: P. Guigue, O. Devillers, Fast and robust triangle-triangle overlap test
using orientation predicates, 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress, report_progress, subrange
from ..shapes.orientation import SignArray, precise_volumes, signs_above, signs_of_volumes
from ..tolerance import EPS, EXTREME_EXPONENT, ORIENTATION_FILTER, ORIENTATION_LEAST
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from .coplanar_triangles import coplanar_meetings
from .degenerate_triangles import degenerate_meeting, meetings_on_axis, on_axis
from .mesh import Mesh
from .surface import have_no_area, scale_points, validate_mesh
from .triangle_candidates import own_candidates, triangle_candidates

_MESH_SIEVE = 16.0
"""Times EPS, the largest coordinate and the sum of the sizes of the products that a normal consists of: how far from a
plane a point is, both measured from the origin, is known to this. Two products of three terms, and the normal."""
_MESH_STEEP = 2.0**32
"""Times the error of a height: where an edge rises less than this from one side of a plane to the other, its heights
are computed in twice the digits, or the point where it meets the plane could be off along the edge by 1e-10 of it."""

FeatureArray = NDArray[np.uint8]

FACE = 6
"""The number of the inside of a triangle among its features; 0 to 2 are its corners, 3 + k the side from corner k."""

_BATCH = 8192
_SIEVED = 1 << 14  # pairs of which most are told apart, looked at in one go


class Meeting(IntEnum):
    """How two triangles meet."""

    CROSSING = 0
    """Each goes through the plane of the other, and they have a segment in common."""
    TOUCHING = 1
    """They have a segment or a point in common and do not cross; they are in different planes, or one has no area."""
    COPLANAR = 2
    """They are in one plane and overlap: what they have in common has an area."""
    BESIDE = 3
    """They are in one plane and have a segment or a point in common."""


@dataclass(frozen=True, eq=False)
class Crossings(ReadOnlyArrays):
    """The triangles of two meshes that meet; p pairs in ascending order. Its arrays are read-only."""

    pairs: IntArray
    """(p, 2) a triangle of A and a triangle of B; of a mesh with itself the smaller number first."""
    kinds: NDArray[np.uint8]
    """(p,) numbers of `Meeting`."""
    segments: FloatArray
    """(p, 2, 3) the ends of what a pair has in common, world frame; twice the same where it is a point. Of a coplanar
    pair, two points of the common polygon that are farthest from each other. Rounded, all else is exact."""
    features: FeatureArray
    """(p, 2, 2) for each end the feature of the triangle of A and that of B whose inside it is on: 0 to 2 a corner,
    3 + k the side from corner k to the next, 6 the inside of the triangle."""
    candidates: int
    """How many pairs of triangles with overlapping boxes were looked at."""
    unclear: int
    """How many decisions rounding would have left open; they were made exactly."""

    @classmethod
    def none(cls) -> Crossings:
        """Return those of meshes that do not meet."""
        pairs, kinds = np.zeros((0, 2), dtype=np.intp), np.zeros(0, dtype=np.uint8)
        segments, features = np.zeros((0, 2, 3)), np.zeros((0, 2, 2), dtype=np.uint8)
        for array in (pairs, kinds, segments, features):
            array.flags.writeable = False
        return cls(pairs, kinds, segments, features, 0, 0)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.pairs)

    def sample(self, count: int) -> IntArray:
        """Return the indices of about `count` pairs, which are the same when A and B change places."""
        indices = np.unique(np.linspace(0, len(self.pairs) - 1, count).astype(np.intp))
        order = np.lexsort((np.abs(self.pairs[:, 0] - self.pairs[:, 1]), self.pairs.sum(axis=1)))
        return order.take(indices)

    def of_kind(self, kind: Meeting) -> IntArray:
        """Return the numbers of the pairs of one kind."""
        return np.flatnonzero(self.kinds == kind)


def crossing_triangles(a: Mesh, b: Mesh, progress: Progress | None = None) -> Crossings:
    """Return which triangles of two meshes meet, and where. Touching counts. The decisions are exact.

    Trees are used where both meshes have them already (`Mesh.tree`), and not built for this: without them it is faster
    to look at what the meshes have in common only. `progress` is called with the fraction done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is no mesh; Cancelled when `progress` says so.
    """
    for name, mesh in (("a", a), ("b", b)):
        validate_mesh(name, mesh)
    report_progress(progress, 0.0)
    return _meetings(a, b, triangle_candidates(a, b, subrange(progress, 0.0, 0.5)), subrange(progress, 0.5, 1.0))


def self_crossings(mesh: Mesh, progress: Progress | None = None) -> Crossings:
    """Return which triangles of one mesh meet, and where, as `crossing_triangles` does: triangle i of A, j > i of B.

    Triangles that name a common vertex are left out: neighbours always meet. See `Mesh.welded` for doubled vertices.

    Raises ValueError when it is no mesh; Cancelled when `progress` says so.
    """
    validate_mesh("mesh", mesh)
    report_progress(progress, 0.0)
    pairs = own_candidates(mesh, subrange(progress, 0.0, 0.5))
    a, b = (mesh.triangles.take(row, axis=0).T for row in pairs)
    beside = np.zeros(pairs.shape[1], dtype=np.bool_)
    for i in range(3):
        for j in range(3):
            beside |= a[i] == b[j]
    return _meetings(mesh, mesh, pairs[:, ~beside], subrange(progress, 0.5, 1.0))


class _Part(NamedTuple):
    """What was found among some candidates."""

    chosen: IntArray
    """Which of the candidates meet."""
    kinds: NDArray[np.uint8]
    ends: FloatArray
    """(2, 3, k) the ends of what they have in common."""
    features: FeatureArray
    """(2, 2, k) their features: end, mesh."""
    unclear: int


def _meetings(a: Mesh, b: Mesh, pairs: IntArray, progress: Progress | None) -> Crossings:
    """Test candidates (2, p), many at a time."""
    reach = max(float(np.abs(side).max()) for mesh in (a, b) for side in mesh.reach)
    exponent = int(np.frexp(reach)[1])
    exponent = -exponent if abs(exponent) > EXTREME_EXPONENT else 0
    reach = float(np.ldexp(reach, exponent))
    tables = _Table.of(a, pairs[0], exponent, reach), _Table.of(b, pairs[1], exponent, reach)
    sieve = _Sieve(tables)
    parts: list[_Part] = []
    waiting: list[IntArray] = []
    count = 0
    total = pairs.shape[1]
    for begin in range(0, total, _SIEVED):
        report_progress(progress, begin, total)
        left = sieve.left(pairs[:, begin : begin + _SIEVED])
        waiting.append(left + begin)
        count += len(left)
        if count > _BATCH or begin + _SIEVED >= total:
            rows = np.concatenate(waiting)
            waiting, count = [], 0
            for first in range(0, len(rows), _BATCH):
                indices = rows[first : first + _BATCH]
                sides = [
                    table.side.take(table.place.take(row.take(indices)))
                    for row, table in zip(pairs, tables, strict=True)
                ]
                part = _tested(sides[0], sides[1])
                parts.append(part._replace(chosen=indices.take(part.chosen)))
    if not parts:
        parts = [_nothing()]
    chosen = np.concatenate([part.chosen for part in parts])
    ends = np.concatenate([part.ends for part in parts], axis=2)
    result = Crossings(
        read_only(np.ascontiguousarray(pairs.take(chosen, axis=1).T)),
        np.concatenate([part.kinds for part in parts]),
        read_only(np.ascontiguousarray(scale_points(ends, -exponent).transpose(2, 0, 1))),
        np.ascontiguousarray(np.concatenate([part.features for part in parts], axis=2).transpose(2, 0, 1)),
        total,
        sum(part.unclear for part in parts),
    )
    for array in (result.kinds, result.features):
        array.flags.writeable = False
    report_progress(progress, 1.0)
    return result


def _nothing() -> _Part:
    none = np.zeros(0, dtype=np.uint8)
    return _Part(np.zeros(0, dtype=np.intp), none, np.empty((2, 3, 0)), np.empty((2, 2, 0), dtype=np.uint8), 0)


class _Side(NamedTuple):
    """Some triangles of one mesh, one column each."""

    corners: FloatArray
    """(9, k) x, y, z of the first corner, of the second, of the third."""
    plane: FloatArray
    """(4, k) normal, and the sum of the sizes of the products it consists of."""
    size: FloatArray
    """(k,) the longest side of the box."""
    flat: BoolArray
    """(k,) whether a triangle has no area."""

    def take(self, chosen: IntArray) -> _Side:
        """Return some of the triangles."""
        return _Side(
            self.corners.take(chosen, axis=1, mode="clip"),
            self.plane.take(chosen, axis=1, mode="clip"),
            self.size.take(chosen, mode="clip"),
            self.flat.take(chosen, mode="clip"),
        )

    def corner(self, k: int) -> FloatArray:
        """Return (3, k) one corner of each triangle."""
        return self.corners[3 * k : 3 * k + 3]

    def picked(self, which: IntArray, indices: IntArray | None = None) -> FloatArray:
        """Return (3, k) corner which[i] of triangle i, or of triangle indices[i]."""
        count = self.corners.shape[1]
        flat = self.corners.ravel()
        first = which * (3 * count)
        first += np.arange(count) if indices is None else indices
        result = np.empty((3, len(first)))
        for x in range(3):
            flat.take(first, out=result[x], mode="clip")
            first += count
        return result


class _Table(NamedTuple):
    """The triangles of a mesh that candidates name."""

    side: _Side
    slab: FloatArray
    """(2, k) products of the normal with points beyond these bounds are below or above the plane for sure."""
    place: IntArray
    """(m,) for each triangle of the mesh its column."""

    @classmethod
    def of(cls, mesh: Mesh, named: IntArray, exponent: int, reach: float) -> _Table:
        """Make the table; no coordinate of either mesh is larger than `reach`, after scaling."""
        mask = np.zeros(len(mesh.triangles), dtype=np.bool_)
        mask[named] = True
        used = np.flatnonzero(mask)
        place = np.empty(len(mask), dtype=np.intp)
        place[used] = np.arange(len(used))
        side = _Side(
            np.empty((9, len(used))), np.empty((4, len(used))), np.empty(len(used)), np.empty(len(used), dtype=np.bool_)
        )
        slab = np.empty((2, len(used)))
        points = scale_points(mesh.points, exponent)
        for begin in range(0, len(used), _BATCH):
            part = slice(begin, begin + _BATCH)
            triangles = mesh.triangles.take(used[part], axis=0)
            piece = _Side(side.corners[:, part], side.plane[:, part], side.size[part], side.flat[part])
            _fill(piece, points, triangles)
            # Seen from the origin, not from a corner: two thirds of the work, for errors that grow with coordinates.
            (x, y, z, weight), (px, py, pz) = piece.plane, piece.corners[:3]
            offset = x * px
            offset += y * py
            offset += z * pz
            error = weight * (_MESH_SIEVE * EPS * reach)
            error += ORIENTATION_LEAST
            np.subtract(offset, error, out=slab[0, part])
            np.add(offset, error, out=slab[1, part])
        return cls(side, slab, place)


def _fill(side: _Side, points: FloatArray, triangles: IntArray) -> None:
    """Compute what is kept of some triangles."""
    numbers = points.ravel()
    corners, weight = side.corners, side.plane[3]
    for k in range(3):
        ids = triangles[:, k] * 3
        for x in range(3):
            numbers.take(ids, out=corners[3 * k + x], mode="clip")
            ids += 1
    p, q, r = corners[:3], corners[3:6], corners[6:]
    u, v = q - p, r - p
    weight[:] = 0.0
    side.flat[:] = True
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        a, b = u[y] * v[z], u[z] * v[y]
        normal = np.subtract(a, b, out=side.plane[x])
        np.abs(a, out=a)
        a += np.abs(b, out=b)
        weight += a
        a *= ORIENTATION_FILTER * EPS
        side.flat[:] &= np.abs(normal) <= a
    low, high = np.minimum(p, q), np.maximum(p, q)
    np.minimum(low, r, out=low)
    np.maximum(high, r, out=high)
    high -= low
    high.max(axis=0, out=side.size)
    maybe = np.flatnonzero(side.flat)
    if len(maybe):
        side.flat[maybe] = have_no_area(points, triangles.take(maybe, axis=0))


def _heights(
    base: FloatArray, plane: FloatArray, corners: FloatArray, sizes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (3, k) six times the volumes that triangles span with the corners of others, and (k,) their error.

    `base` (3 or more rows, k) and `plane` (4, k) are of the former, `corners` (9, k) of the latter. `sizes` (k,) is at
    least any difference of coordinates: where boxes overlap, the sides of both together.
    """
    x, y, z, weight = plane
    result = np.empty((3, len(x)))
    room = np.empty(len(x))
    for k in range(3):
        height = np.subtract(corners[3 * k], base[0], out=result[k])
        height *= x
        for row, component in ((1, y), (2, z)):
            np.subtract(corners[3 * k + row], base[row], out=room)
            room *= component
            height += room
    np.multiply(sizes, weight, out=room)
    room *= ORIENTATION_FILTER * EPS
    room += ORIENTATION_LEAST
    return result, room


class _Sieve(NamedTuple):
    """What tells most pairs of triangles of which one is on one side of the other's plane."""

    tables: tuple[_Table, _Table]

    def left(self, pairs: IntArray) -> IntArray:
        """Return the numbers of the pairs (2, p) of which none is on one side of the other's plane for sure."""
        columns = [table.place.take(row) for row, table in zip(pairs, self.tables, strict=True)]
        indices = self._between(1, columns)
        remaining = self._between(0, [column.take(indices) for column in columns])
        return indices.take(remaining)

    def _between(self, plane: int, columns: list[IntArray]) -> IntArray:
        """Return the pairs of which the triangle of one mesh is not on one side of the plane of the other's."""
        below, above = self.tables[plane].side, self.tables[1 - plane].side
        a, b = columns[plane], columns[1 - plane]
        normal = below.plane[:3].take(a, axis=1, mode="clip")
        low, high = self.tables[plane].slab.take(a, axis=1, mode="clip")
        room = np.empty((4, len(a)))
        least, most, height, product = room
        for k in range(3):
            height = least if k == 0 else room[2]
            for x in range(3):
                target = height if x == 0 else product
                above.corners[3 * k + x].take(b, out=target, mode="clip")
                target *= normal[x]
                if x:
                    height += product
            if k == 0:
                most[:] = least
            else:
                np.minimum(least, height, out=least)
                np.maximum(most, height, out=most)
        between = least <= high
        between &= most >= low
        return np.flatnonzero(between)


def _tested(a: _Side, b: _Side) -> _Part:
    """Return which pairs of triangles a[k] and b[k], whose boxes overlap, meet."""
    chosen: IntArray = np.arange(len(a.flat))
    sizes = a.size + b.size
    heights_a, error_a = _heights(b.corners, b.plane, a.corners, sizes)
    heights_b, error_b = _heights(a.corners, a.plane, b.corners, sizes)
    if not len(chosen):
        return _nothing()
    signs_a, unclear_a = _signs(heights_a, error_a, b, a)
    signs_b, unclear_b = _signs(heights_b, error_b, a, b)
    unclear = unclear_a + unclear_b
    degenerate = a.flat | b.flat
    in_plane = ~signs_a.any(axis=0) & ~degenerate
    # Both now without exception: strictly on one side of the other's plane.
    apart = _strictly(signs_a) & ~b.flat
    apart |= _strictly(signs_b) & ~a.flat
    crossing = ~(apart | degenerate | in_plane)
    parts = []
    indices = np.flatnonzero(crossing)
    if len(indices):
        line = _Line(a, b, signs_a, signs_b, heights_a, heights_b, error_a, error_b)
        part = (line if len(indices) == len(crossing) else line.take(indices)).meetings()
        parts.append(part._replace(chosen=chosen.take(indices.take(part.chosen))))
    indices = np.flatnonzero(in_plane)
    if len(indices):
        met, kinds, ends, features, count = coplanar_meetings(
            a.corners.take(indices, axis=1), b.corners.take(indices, axis=1), a.plane.take(indices, axis=1)
        )
        parts.append(_Part(chosen.take(indices.take(met)), kinds, ends, features, count))
    indices = np.flatnonzero(degenerate & ~apart)
    if len(indices):
        part = _degenerate(a.take(indices), b.take(indices))
        parts.append(part._replace(chosen=chosen.take(indices.take(part.chosen))))
    if not parts:
        return _nothing()._replace(unclear=unclear)
    order = np.argsort(np.concatenate([part.chosen for part in parts]), kind="stable")
    return _Part(
        np.concatenate([part.chosen for part in parts]).take(order),
        np.concatenate([part.kinds for part in parts]).take(order),
        np.concatenate([part.ends for part in parts], axis=2).take(order, axis=2),
        np.concatenate([part.features for part in parts], axis=2).take(order, axis=2),
        unclear + sum(part.unclear for part in parts),
    )


def _one_side(heights: FloatArray, error: FloatArray) -> BoolArray:
    """Return whether all three heights are positive, or all negative, beyond doubt."""
    least = np.minimum(np.minimum(heights[0], heights[1]), heights[2])
    most = np.maximum(np.maximum(heights[0], heights[1]), heights[2])
    result: BoolArray = least > error
    result |= most < -error
    return result


def _strictly(signs: SignArray) -> BoolArray:
    return (signs[0] != 0) & (signs[0] == signs[1]) & (signs[1] == signs[2])


def _signs(heights: FloatArray, error: FloatArray, below: _Side, above: _Side) -> tuple[SignArray, int]:
    """Return the signs (3, k) of heights, and put better heights where floats could not tell."""
    signs = np.empty(heights.shape, dtype=np.int8)
    unclear = 0
    for k in range(3):
        found = signs_above(heights[k], error, below.corner(0), below.corner(1), below.corner(2), above.corner(k))
        signs[k], heights[k] = found.signs, found.values
        unclear += found.unclear
    return signs, unclear


class _Cut(NamedTuple):
    """How a plane cuts a triangle, for each of the 27 triples of signs of its corners."""

    down: IntArray
    """The side that comes from above or in the plane and ends lower: it starts at this corner."""
    up: IntArray
    """The side that starts lower and ends higher."""
    feature_down: FeatureArray
    """The corner or the inside of the side where it meets the plane."""
    feature_up: FeatureArray
    inside: FeatureArray
    """What is between: the inside of the triangle, or of the side that is in the plane."""
    through: BoolArray
    """Whether there are corners on both sides."""
    point: BoolArray
    """Whether only a corner is in the plane."""


def _cuts() -> _Cut:
    columns: list[list[int]] = [[] for _ in range(7)]
    for code in range(27):
        s = [code // 9 - 1, code // 3 % 3 - 1, code % 3 - 1]
        down = next((k for k in range(3) if s[k] > s[(k + 1) % 3]), 0)
        up = next((k for k in range(3) if s[k] < s[(k + 1) % 3]), 0)
        flat = [k for k in range(3) if s[k] == 0 and s[(k + 1) % 3] == 0]
        row = [down, up]
        for k in (down, up):
            ends = [corner for corner in (k, (k + 1) % 3) if s[corner] == 0]
            row.append(ends[0] if ends else 3 + k)
        row.append(3 + flat[0] if len(flat) == 1 else FACE)
        row.append(min(s) < 0 < max(s))
        row.append(s.count(0) == 1 and not min(s) < 0 < max(s))
        for column, value in zip(columns, row, strict=True):
            column.append(int(value))
    types = (np.intp, np.intp, np.uint8, np.uint8, np.uint8, np.bool_, np.bool_)
    return _Cut(*(np.array(column, dtype=kind) for column, kind in zip(columns, types, strict=True)))


_CUTS = _cuts()


class _Ends(NamedTuple):
    """The ends of the intervals of one kind: where a side of a triangle meets the plane of the other triangle."""

    side: _Side
    upper: IntArray
    """The corner of the side that is above the plane or in it."""
    lower: IntArray
    feature: FeatureArray

    def take(self, indices: IntArray, side: _Side) -> _Ends:
        """Return some of the ends, those of `side`."""
        return _Ends(side, self.upper.take(indices), self.lower.take(indices), self.feature.take(indices))


class _Line(NamedTuple):
    """Pairs of triangles in different planes, none of them on one side of the other's plane."""

    a: _Side
    b: _Side
    signs_a: SignArray
    """(3, k) on which side of the plane of b the corners of a are."""
    signs_b: SignArray
    heights_a: FloatArray
    heights_b: FloatArray
    error_a: FloatArray
    error_b: FloatArray

    def take(self, indices: IntArray) -> _Line:
        """Return some of the pairs."""
        return _Line(
            self.a.take(indices),
            self.b.take(indices),
            self.signs_a.take(indices, axis=1),
            self.signs_b.take(indices, axis=1),
            self.heights_a.take(indices, axis=1),
            self.heights_b.take(indices, axis=1),
            self.error_a.take(indices),
            self.error_b.take(indices),
        )

    def meetings(self) -> _Part:
        """Return which pairs meet, and where."""
        code_a, code_b = ((9 * s[0].astype(np.intp) + 3 * s[1] + s[2]) + 13 for s in (self.signs_a, self.signs_b))
        next_corner = np.array([1, 2, 0])
        # Along the line of both planes, in the direction normal of a x normal of b: a triangle is to the right of a
        # side that goes up through the plane of the other, and to the left of one that goes down.
        ends = []
        for code, rising in ((code_a, True), (code_b, False)):
            up, down = _CUTS.up.take(code), _CUTS.down.take(code)
            climbing = (next_corner.take(up), up, _CUTS.feature_up.take(code))
            falling = (down, next_corner.take(down), _CUTS.feature_down.take(code))
            ends += [climbing, falling] if rising else [falling, climbing]
        low_a, high_a = (_Ends(self.a, *end) for end in ends[:2])
        low_b, high_b = (_Ends(self.b, *end) for end in ends[2:])
        unclear = 0
        low_high, count = _order(low_a, high_b)
        met = np.flatnonzero(low_high <= 0)
        unclear += count
        high_low, count = _order(high_a, low_b, met)
        unclear += count
        remaining = np.flatnonzero(high_low >= 0)
        met, high_low = met.take(remaining), high_low.take(remaining)
        low_high = low_high.take(met)
        if not len(met):
            return _nothing()._replace(unclear=unclear)
        line = self.take(met)
        low_a, high_a = low_a.take(met, line.a), high_a.take(met, line.a)
        low_b, high_b = low_b.take(met, line.b), high_b.take(met, line.b)
        code_a, code_b = code_a.take(met), code_b.take(met)
        low_low, count = _order(low_a, low_b)
        unclear += count
        high_high, count = _order(high_a, high_b)
        unclear += count
        inside_a, inside_b = _CUTS.inside.take(code_a), _CUTS.inside.take(code_b)
        # Where the interval of both begins, that of the other has begun too, or just begins or ends there.
        features = np.empty((2, 2, len(met)), dtype=np.uint8)
        features[0, 0] = np.where(low_low >= 0, low_a.feature, np.where(high_low == 0, high_a.feature, inside_a))
        features[0, 1] = np.where(low_low <= 0, low_b.feature, np.where(low_high == 0, high_b.feature, inside_b))
        features[1, 0] = np.where(high_high <= 0, high_a.feature, np.where(low_high == 0, low_a.feature, inside_a))
        features[1, 1] = np.where(high_high >= 0, high_b.feature, np.where(high_low == 0, low_b.feature, inside_b))
        ends_found = np.empty((2, 3, len(met)))
        for k, (of_a, from_a, of_b) in enumerate(((low_a, low_low > 0, low_b), (high_a, high_high < 0, high_b))):
            line._place(ends_found[k], features[k], of_a, of_b, from_a)
        point = (low_high == 0) | (high_low == 0) | _CUTS.point.take(code_a) | _CUTS.point.take(code_b)
        ends_found[1] = np.where(point, ends_found[0], ends_found[1])
        features[1] = np.where(point, features[0], features[1])
        through = ~point & _CUTS.through.take(code_a) & _CUTS.through.take(code_b)
        kinds = np.where(through, Meeting.CROSSING, Meeting.TOUCHING).astype(np.uint8)
        return _Part(met, kinds, ends_found, features, unclear)

    def _place(self, out: FloatArray, features: FeatureArray, of_a: _Ends, of_b: _Ends, from_a: BoolArray) -> None:
        """Compute the points where intervals begin or end: corners as they are, others on their sides.

        A point on sides of both meshes is taken on that of B, whichever triangles it is found from.
        """
        corner_a, corner_b = features[0] < 3, features[1] < 3
        for k, (mesh, own, corner, end) in enumerate(
            ((self.a, from_a, corner_a & ~corner_b, of_a), (self.b, ~from_a, corner_b, of_b))
        ):
            indices = np.flatnonzero(corner)
            if len(indices):
                out[:, indices] = mesh.take(indices).picked(features[k].take(indices).astype(np.intp))
            indices = np.flatnonzero(own & ~(corner_a | corner_b))
            if not len(indices):
                continue
            other, heights, error = (
                (self.b, self.heights_a, self.error_a) if k == 0 else (self.a, self.heights_b, self.error_b)
            )
            part, upper, lower = end.side.take(indices), end.upper.take(indices), end.lower.take(indices)
            p, q = part.picked(upper), part.picked(lower)
            count = heights.shape[1]
            over, under = heights.ravel().take(upper * count + indices), heights.ravel().take(lower * count + indices)
            vague = np.flatnonzero(over - under < _MESH_STEEP * error.take(indices))
            if len(vague):
                plane = other.take(indices.take(vague))
                corners = plane.corner(0), plane.corner(1), plane.corner(2)
                over[vague] = precise_volumes(*corners, p.take(vague, axis=1))
                under[vague] = precise_volumes(*corners, q.take(vague, axis=1))
            over, under = np.maximum(over, 0.0), np.minimum(under, 0.0)
            span = over - under
            fraction = np.where(span > 0.0, over / np.where(span > 0.0, span, 1.0), 0.5)
            out[:, indices] = p + fraction * (q - p)


def _order(one: _Ends, other: _Ends, indices: IntArray | None = None) -> tuple[SignArray, int]:
    """Return the order of ends of A and B, or of some of them, along the line of both planes: 1 where that of A is
    farther on.

    Both sides go downward, each through the plane of the other triangle: the volume that they span tells.
    """
    found = signs_of_volumes(
        *(
            end.side.picked(which if indices is None else which.take(indices), indices)
            for end in (one, other)
            for which in (end.upper, end.lower)
        )
    )
    return -found.signs, found.unclear


def _degenerate(a: _Side, b: _Side) -> _Part:
    """Test pairs of which one triangle at least has no area: on a line along an axis many at a time, others one by one
    in exact arithmetic, those in the very same places once."""
    axis = on_axis(a.corners, b.corners)
    indices = np.flatnonzero(axis >= 0)
    met, ends, features = meetings_on_axis(
        a.corners.take(indices, axis=1), b.corners.take(indices, axis=1), axis.take(indices)
    )
    kinds = np.full(len(met), Meeting.TOUCHING, dtype=np.uint8)
    parts = [_Part(indices.take(met), kinds, ends, features, len(indices))]
    remaining = np.flatnonzero(axis < 0)
    if len(remaining):
        parts.append(_one_by_one(a.take(remaining), b.take(remaining)))
        parts[1] = parts[1]._replace(chosen=remaining.take(parts[1].chosen))
    return _Part(
        np.concatenate([part.chosen for part in parts]),
        np.concatenate([part.kinds for part in parts]),
        np.concatenate([part.ends for part in parts], axis=2),
        np.concatenate([part.features for part in parts], axis=2),
        len(a.flat),
    )


def _one_by_one(a: _Side, b: _Side) -> _Part:
    """Test pairs of which one triangle at least has no area in exact arithmetic."""
    rows = np.concatenate([a.corners, b.corners]).T + 0.0  # + 0.0: -0.0 is 0.0
    _, first, place = np.unique(
        np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel(),
        return_index=True,
        return_inverse=True,
    )
    known, ends, features = np.zeros(len(first), np.bool_), np.zeros((len(first), 2, 3)), np.zeros((len(first), 2, 2))
    for k, (row, flat_a, flat_b) in enumerate(
        zip(rows.take(first, axis=0).tolist(), a.flat.take(first).tolist(), b.flat.take(first).tolist(), strict=True)
    ):
        found = degenerate_meeting(
            (row[:3], row[3:6], row[6:9]), (row[9:12], row[12:15], row[15:]), bool(flat_a), bool(flat_b)
        )
        if found is not None:
            known[k], ends[k], features[k] = True, found[0], found[1]
    place = place.ravel()
    chosen = np.flatnonzero(known.take(place))
    place = place.take(chosen)
    return _Part(
        chosen,
        np.full(len(chosen), Meeting.TOUCHING, dtype=np.uint8),
        ends.take(place, axis=0).transpose(1, 2, 0),
        features.take(place, axis=0).transpose(1, 2, 0).astype(np.uint8),
        len(a.flat),
    )
