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
from .triangle_rows import TriangleSide

_STEEP = 2.0**32
"""Times the error of a height: where an edge rises less than this from one side of a plane to the other, its heights
are computed in twice the digits, or the point where it meets the plane could be off along the edge by 1e-10 of it."""
_TURN = np.array([[1], [-1]], dtype=np.int8)


class _Cut(NamedTuple):
    """How a plane cuts a triangle, for each of the 27 triples of signs of its corners."""

    sides: IntArray
    """(2, 2, 27) the corners at the upper and the lower ends of the side that starts lower and ends higher, and of the
    one that comes from above or in the plane and ends lower."""
    features: FeatureArray
    """(2, 27) the corner or the inside of these sides where they meet the plane."""
    inside: FeatureArray
    """What is between: the inside of the triangle, or of the side that is in the plane."""
    through: BoolArray
    """Whether there are corners on both sides."""
    point: BoolArray
    """Whether only a corner is in the plane."""

    @classmethod
    def of_all(cls) -> _Cut:
        """Return the table."""
        sides, features, rows = [], [], []
        for code in range(27):
            s = [code // 9 - 1, code // 3 % 3 - 1, code % 3 - 1]
            down = next((k for k in range(3) if s[k] > s[(k + 1) % 3]), 0)
            up = next((k for k in range(3) if s[k] < s[(k + 1) % 3]), 0)
            sides.append([[(up + 1) % 3, down], [up, (down + 1) % 3]])
            features.append([next((i for i in (k, (k + 1) % 3) if s[i] == 0), 3 + k) for k in (up, down)])
            flat = [k for k in range(3) if s[k] == 0 and s[(k + 1) % 3] == 0]
            inside, through = 3 + flat[0] if len(flat) == 1 else FACE, min(s) < 0 < max(s)
            rows.append((inside, through, s.count(0) == 1 and not through))
        inside, through, point = np.array(rows, dtype=np.uint8).T
        corners = np.array(sides, dtype=np.intp).transpose(1, 2, 0)
        return cls(corners, np.array(features, dtype=np.uint8).T, inside, through != 0, point != 0)


_CUTS = _Cut.of_all()


def line_meetings(a: TriangleSide, b: TriangleSide) -> Found:
    """Return which pairs of triangles in different planes, none of them on one side of the other's, meet, and where."""
    codes = np.array([9 * side.signs[0].astype(np.intp) + 3 * side.signs[1] + side.signs[2] + 13 for side in (a, b)])
    # Along the line of both planes, in the direction normal of a x normal of b: a triangle is to the right of a side
    # that goes up through the plane of the other, and to the left of one that goes down. So the interval of A begins on
    # the first of its sides, that of B on the second.
    sides = _CUTS.sides.take(codes, axis=2)
    sides_a, sides_b = sides[:, :, 0], sides[:, ::-1, 1]
    corners_a, corners_b = a.triangles.pick(sides_a), b.triangles.pick(sides_b)
    across = _orders(corners_a, corners_b[:, :, ::-1])  # where one begins and the other ends
    met = np.flatnonzero((across[0] <= 0) & (across[1] >= 0))
    if not len(met):
        return Found.none()
    codes, across = codes.take(met, axis=1), across.take(met, axis=1)
    corners_a, corners_b = corners_a.take(met, axis=3), corners_b.take(met, axis=3)
    later = _orders(corners_a, corners_b)  # where both begin, and where both end
    later *= _TURN
    named, inside = _CUTS.features.take(codes, axis=1), _CUTS.inside.take(codes)
    named_a, named_b = named[:, 0], named[::-1, 1]
    # Where the interval of both begins, that of the other has begun too, or just begins or ends there.
    features = np.empty((2, 2, len(met)), dtype=np.uint8)
    features[:, 0] = np.where(later >= 0, named_a, np.where(across[::-1] == 0, named_a[::-1], inside[0]))
    features[:, 1] = np.where(later <= 0, named_b, np.where(across == 0, named_b[::-1], inside[1]))
    corner = features < 3
    between = ~corner.any(axis=1)
    found = np.empty((3, 2 * len(met)))
    # A point on sides of both meshes is taken on that of B, whichever triangles it is found from.
    for k, (side, other, ends, corners, is_corner, is_end) in enumerate(
        (
            (a, b, sides_a, corners_a, corner[:, 0] & ~corner[:, 1], later > 0),
            (b, a, sides_b, corners_b, corner[:, 1], later <= 0),
        )
    ):
        places = np.flatnonzero(is_corner)
        if len(places):
            which = features[:, k].ravel().take(places).astype(np.intp)
            found[:, places] = side.triangles.pick(which, met.take(places % len(met)))
        places = np.flatnonzero(is_end & between)
        if len(places):
            numbers = met.take(places % len(met))
            heights = side.heights[ends.take(met, axis=2).reshape(2, -1).take(places, axis=1), numbers]
            found[:, places] = _between(
                corners.reshape(3, 2, -1).take(places, axis=2), heights, side.error.take(numbers), other, numbers
            )
    both = found.reshape(3, 2, -1).swapaxes(0, 1)
    point = (across == 0).any(axis=0) | _CUTS.point.take(codes).any(axis=0)
    both[1] = np.where(point, both[0], both[1])
    features[1] = np.where(point, features[0], features[1])
    through = ~point & _CUTS.through.take(codes).all(axis=0)
    kinds = np.where(through, Meeting.CROSSING, Meeting.TOUCHING).astype(np.uint8)
    return Found(met, kinds, both, features)


def _orders(a: FloatArray, b: FloatArray) -> SignArray:
    """Return the order (2, k) of ends of A and B, given by the corners of sides (3, 2, 2, k), along the line of both
    planes: 1 where that of A is farther on.

    Both sides go downward, each through the plane of the other triangle: the volume that they span decides.
    """
    corners = (side[:, k].reshape(3, -1) for side in (a, b) for k in range(2))
    return -signs_of_volumes(*corners).signs.reshape(2, -1)


def _between(
    corners: FloatArray, heights: FloatArray, error: FloatArray, other: TriangleSide, numbers: IntArray
) -> FloatArray:
    """Return the points (3, k) where sides, from corners (3, 2, k) at two heights (2, k), meet the planes of triangles
    of the other mesh."""
    vague = np.flatnonzero(heights[0] - heights[1] < _STEEP * error)
    if len(vague):
        p, q, r = other.triangles.corners.take(np.tile(numbers.take(vague), 2), axis=1).reshape(3, 3, -1)
        heights[:, vague] = precise_volumes(p, q, r, corners.take(vague, axis=2).reshape(3, -1)).reshape(2, -1)
    over, under = np.maximum(heights[0], 0.0), np.minimum(heights[1], 0.0)
    span = over - under
    fraction = np.where(span > 0.0, over / np.where(span > 0.0, span, 1.0), 0.5)
    upper, lower = corners[:, 0], corners[:, 1]
    result: FloatArray = upper + fraction * (lower - upper)
    return result
