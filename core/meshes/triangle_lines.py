# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles in different planes: whether they meet on the line that the planes have in common, and where.

Each triangle cuts out an interval of the line. All that has to be known is in which order the ends of the intervals
come: the sign of the volume of the two sides that they are on, exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..shapes.orientation import SignArray, precise_volumes, signs_of_volumes
from ..types import BoolArray, FloatArray, IntArray
from .crossings import FACE, FeatureArray, Found, Meeting
from .triangle_rows import TriangleRows, TriangleSide

_STEEP = 2.0**32
"""Times the error of a height: where an edge rises less than this from one side of a plane to the other, its heights
are computed in twice the digits, or the point where it meets the plane could be off along the edge by 1e-10 of it."""
_NEXT = np.array([1, 2, 0])


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

    @classmethod
    def of_all(cls) -> _Cut:
        """Return the table."""
        rows = []
        for code in range(27):
            s = [code // 9 - 1, code // 3 % 3 - 1, code % 3 - 1]
            down = next((k for k in range(3) if s[k] > s[(k + 1) % 3]), 0)
            up = next((k for k in range(3) if s[k] < s[(k + 1) % 3]), 0)
            ends = [next((corner for corner in (k, (k + 1) % 3) if s[corner] == 0), 3 + k) for k in (down, up)]
            flat = [k for k in range(3) if s[k] == 0 and s[(k + 1) % 3] == 0]
            inside, through = 3 + flat[0] if len(flat) == 1 else FACE, min(s) < 0 < max(s)
            rows.append((down, up, *ends, inside, through, s.count(0) == 1 and not through))
        types = (np.intp, np.intp, np.uint8, np.uint8, np.uint8, np.bool_, np.bool_)
        return cls(*(np.array(column, dtype=kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)))


_CUTS = _Cut.of_all()


class _Ends(NamedTuple):
    """The ends of the intervals of one kind: where a side of a triangle meets the plane of the other triangle."""

    triangles: TriangleRows
    upper: IntArray
    """The corner of the side that is above the plane or in it."""
    lower: IntArray
    feature: FeatureArray

    def take(self, indices: IntArray, triangles: TriangleRows) -> _Ends:
        """Return some of the ends, those of `triangles`."""
        return _Ends(triangles, self.upper.take(indices), self.lower.take(indices), self.feature.take(indices))


def line_meetings(a: TriangleSide, b: TriangleSide) -> Found:
    """Return which pairs of triangles in different planes, none of them on one side of the other's, meet, and where."""
    ends, codes = [], []
    # Along the line of both planes, in the direction normal of a x normal of b: a triangle is to the right of a side
    # that goes up through the plane of the other, and to the left of one that goes down.
    for side, order in ((a, 1), (b, -1)):
        code = 9 * side.signs[0].astype(np.intp) + 3 * side.signs[1] + side.signs[2] + 13
        up, down = _CUTS.up.take(code), _CUTS.down.take(code)
        climbing = _Ends(side.triangles, _NEXT.take(up), up, _CUTS.feature_up.take(code))
        falling = _Ends(side.triangles, down, _NEXT.take(down), _CUTS.feature_down.take(code))
        ends += [climbing, falling][::order]
        codes.append(code)
    low_a, high_a, low_b, high_b = ends
    (low_high,), unclear = _orders([(low_a, high_b, None)])
    met = np.flatnonzero(low_high <= 0)
    (high_low,), more = _orders([(high_a, low_b, met)])
    unclear += more
    left = np.flatnonzero(high_low >= 0)
    met, high_low = met.take(left), high_low.take(left)
    if not len(met):
        return Found.none(unclear)
    low_high = low_high.take(met)
    a, b = a.take(met), b.take(met)
    low_a, high_a = low_a.take(met, a.triangles), high_a.take(met, a.triangles)
    low_b, high_b = low_b.take(met, b.triangles), high_b.take(met, b.triangles)
    code_a, code_b = (code.take(met) for code in codes)
    lows_highs, more = _orders([(low_a, low_b, None), (high_a, high_b, None)])
    unclear += more
    low_low, high_high = lows_highs
    inside_a, inside_b = _CUTS.inside.take(code_a), _CUTS.inside.take(code_b)
    # Where the interval of both begins, that of the other has begun too, or just begins or ends there.
    features = np.empty((2, 2, len(met)), dtype=np.uint8)
    features[0, 0] = np.where(low_low >= 0, low_a.feature, np.where(high_low == 0, high_a.feature, inside_a))
    features[0, 1] = np.where(low_low <= 0, low_b.feature, np.where(low_high == 0, high_b.feature, inside_b))
    features[1, 0] = np.where(high_high <= 0, high_a.feature, np.where(low_high == 0, low_a.feature, inside_a))
    features[1, 1] = np.where(high_high >= 0, high_b.feature, np.where(high_low == 0, low_b.feature, inside_b))
    found = np.empty((2, 3, len(met)))
    _place(found[0], features[0], low_low > 0, (a, low_a), (b, low_b))
    _place(found[1], features[1], high_high < 0, (a, high_a), (b, high_b))
    point = (low_high == 0) | (high_low == 0) | _CUTS.point.take(code_a) | _CUTS.point.take(code_b)
    found[1] = np.where(point, found[0], found[1])
    features[1] = np.where(point, features[0], features[1])
    through = ~point & _CUTS.through.take(code_a) & _CUTS.through.take(code_b)
    kinds = np.where(through, Meeting.CROSSING, Meeting.TOUCHING).astype(np.uint8)
    return Found(met, kinds, found, features, unclear)


def _orders(pairs: list[tuple[_Ends, _Ends, IntArray | None]]) -> tuple[list[SignArray], int]:
    """Return for pairs of ends of A and B, or some of them, their order along the line of both planes: 1 where that of
    A is farther on; and how many orders floats left open.

    Both sides go downward, each through the plane of the other triangle: the volume that they span decides.
    """
    columns = [
        [
            end.triangles.pick(which if indices is None else which.take(indices), indices)
            for end in (a, b)
            for which in (end.upper, end.lower)
        ]
        for a, b, indices in pairs
    ]
    found = signs_of_volumes(*(np.concatenate(corners, axis=1) for corners in zip(*columns, strict=True)))
    ends = np.cumsum([corners[0].shape[1] for corners in columns])[:-1]
    return np.split(-found.signs, ends), found.unclear


def _place(
    out: FloatArray,
    features: FeatureArray,
    from_a: BoolArray,
    a: tuple[TriangleSide, _Ends],
    b: tuple[TriangleSide, _Ends],
) -> None:
    """Compute the points (3, k) where intervals begin or end: corners as they are, others on their sides.

    A point on sides of both meshes is taken on that of B, whichever triangles it is found from.
    """
    corner_a, corner_b = features < 3
    for k, ((side, end), (other, _), own, corner) in enumerate(
        ((a, b, from_a, corner_a & ~corner_b), (b, a, ~from_a, corner_b))
    ):
        indices = np.flatnonzero(corner)
        if len(indices):
            out[:, indices] = side.triangles.pick(features[k].take(indices).astype(np.intp), indices)
        indices = np.flatnonzero(own & ~(corner_a | corner_b))
        if not len(indices):
            continue
        upper, lower = end.upper.take(indices), end.lower.take(indices)
        p, q = side.triangles.pick(upper, indices), side.triangles.pick(lower, indices)
        over, under = side.heights[upper, indices], side.heights[lower, indices]
        vague = np.flatnonzero(over - under < _STEEP * side.error.take(indices))
        if len(vague):
            plane = other.triangles.take(indices.take(vague))
            corners = plane.corner(0), plane.corner(1), plane.corner(2)
            over[vague] = precise_volumes(*corners, p.take(vague, axis=1))
            under[vague] = precise_volumes(*corners, q.take(vague, axis=1))
        over, under = np.maximum(over, 0.0), np.minimum(under, 0.0)
        span = over - under
        fraction = np.where(span > 0.0, over / np.where(span > 0.0, span, 1.0), 0.5)
        out[:, indices] = p + fraction * (q - p)
