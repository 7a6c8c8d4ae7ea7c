# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles without area: segments and points. Whether they meet another triangle, in exact arithmetic.

A point p + t (q - p) of the segment, 0 <= t <= 1, is on the other triangle where some linear conditions on t are met.
Meshes have few such triangles: they are looked at one by one. A mesh that was pressed flat to a line along an axis, or
to a point, has no others: what is on one such line is looked at many at a time, for there coordinates give the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..narrow_phase.exact import WholeVector, exact_cross, exact_difference, exact_dot
from ..types import FloatArray, IntArray
from .coordinates import whole_vectors
from .crossings import FACE, Found, Meeting
from .triangle_rows import TriangleSide

_Condition = tuple[int, int, bool]
"""x + y t >= 0, or == 0 where the last is true."""
_Meeting = tuple[list[list[float]], list[list[int]]]
"""Both ends of what two triangles have in common, and the features of A and B there."""


def degenerate_meetings(a: TriangleSide, b: TriangleSide) -> Found:
    """Return which pairs of triangles meet of which one at least has no area: on a line along an axis many at a time,
    others one by one in exact arithmetic, those in the very same places once."""
    corners = a.triangles.corners, b.triangles.corners
    axis = on_axis(*corners)
    along = np.flatnonzero(axis >= 0)
    flat = np.stack([a.triangles.flat, b.triangles.flat], axis=1).tolist()
    rows = np.concatenate(corners).T.tolist()
    known: dict[tuple[float, ...], _Meeting | None] = {}
    chosen: list[int] = []
    found: list[_Meeting] = []
    for k in np.flatnonzero(axis < 0).tolist():
        key = tuple(rows[k])
        if key not in known:
            p, q = ((key[i : i + 3], key[i + 3 : i + 6], key[i + 6 : i + 9]) for i in (0, 9))
            known[key] = degenerate_meeting(p, q, *flat[k])
        meeting = known[key]
        if meeting is not None:
            chosen.append(k)
            found.append(meeting)
    ends, features = np.array([ends for ends, _ in found]), np.array([named for _, named in found], dtype=np.uint8)
    single = Found(
        np.array(chosen, dtype=np.intp),
        np.full(len(chosen), Meeting.TOUCHING, dtype=np.uint8),
        ends.reshape(-1, 2, 3).transpose(1, 2, 0),
        features.reshape(-1, 2, 2).transpose(1, 2, 0),
    )
    lines = meetings_on_axis(corners[0].take(along, axis=1), corners[1].take(along, axis=1), axis.take(along))
    return Found.concatenate([lines.of(along), single])


def degenerate_meeting(
    a: Sequence[Sequence[float]], b: Sequence[Sequence[float]], flat_a: bool, flat_b: bool
) -> _Meeting | None:
    """Return both ends of what two triangles have in common and their features, None when they do not meet.

    Three corners each; `flat_a` and `flat_b` say which of them have no area: one at least. The features are those of A
    and B for the first end, and for the second: 0 to 2 a corner, 3 + k the side from corner k to the next, 6 inside.
    """
    if not flat_a:
        found = degenerate_meeting(b, a, flat_b, flat_a)
        return None if found is None else (found[0], [pair[::-1] for pair in found[1]])
    corners, shift = whole_vectors(np.array([*a, *b]))
    own, other = corners[:3], corners[3:]
    i, j = _longest(own)
    p, direction = own[i], exact_difference(own[j], own[i])
    begin, end = Fraction(0), Fraction(1)
    conditions = _on_segment(p, direction, other) if flat_b else _on_triangle(p, direction, other)
    for value, slope, equal in conditions:
        if slope == 0:
            if value < 0 or (equal and value != 0):
                return None
            continue
        root = Fraction(-value, slope)
        if equal or slope > 0:
            begin = max(begin, root)
        if equal or slope < 0:
            end = min(end, root)
    if begin > end:
        return None
    ends, features = [], []
    for t in (begin, begin if own[i] == own[j] else end):
        n, d = t.numerator, t.denominator
        # All in steps that divide t, too.
        point = d * p[0] + n * direction[0], d * p[1] + n * direction[1], d * p[2] + n * direction[2]
        scaled = [(d * x, d * y, d * z) for x, y, z in corners]
        ends.append([x / (d << shift) for x in point])
        features.append([_feature(point, scaled[:3], True), _feature(point, scaled[3:], flat_b)])
    return ends, features


def on_axis(a: FloatArray, b: FloatArray) -> IntArray:
    """Return (k,) the axis 0 to 2 of a line that contains both triangles k, a and b (9, k) their corners; -1 where no
    such line does."""
    result = np.full(a.shape[1], -1, dtype=np.intp)
    sides = [np.concatenate([a[x::3], b[x::3]]) for x in range(3)]
    same = [(side == side[0]).all(axis=0) for side in sides]
    for x in range(3):
        result[same[(x + 1) % 3] & same[(x + 2) % 3]] = x
    return result


def meetings_on_axis(a: FloatArray, b: FloatArray, axis: IntArray) -> Found:
    """Return which of the triangles a[k] and b[k] (9, k), both on a line along axis[k], meet. Exact."""
    columns = np.arange(a.shape[1])
    along = [np.stack([side[3 * k + axis, columns] for k in range(3)]) for side in (a, b)]
    low, high = np.maximum(*(side.min(axis=0) for side in along)), np.minimum(*(side.max(axis=0) for side in along))
    met = np.flatnonzero(low <= high)
    places = np.stack([low, high]).take(met, axis=1)
    ends = np.repeat(a[:3].take(met, axis=1)[None], 2, axis=0)
    ends[:, axis.take(met), np.arange(len(met))] = places
    features = np.empty((2, 2, len(met)), dtype=np.uint8)
    for m, side in enumerate(along):
        corners = side.take(met, axis=1)
        after = np.roll(corners, -1, axis=0)
        whole = np.minimum(corners, after) == corners.min(axis=0)
        whole &= np.maximum(corners, after) == corners.max(axis=0)
        longest = whole.argmax(axis=0)
        for e in range(2):
            there = corners == places[e]
            features[e, m] = np.where(there.any(axis=0), there.argmax(axis=0), 3 + longest)
    return Found(met, np.full(len(met), Meeting.TOUCHING, dtype=np.uint8), ends, features)


def _on_triangle(p: WholeVector, direction: WholeVector, corners: Sequence[WholeVector]) -> list[_Condition]:
    """Return when p + t direction is on a triangle that has an area."""
    normal = exact_cross(exact_difference(corners[1], corners[0]), exact_difference(corners[2], corners[0]))
    result = [(exact_dot(normal, exact_difference(p, corners[0])), exact_dot(normal, direction), True)]
    for k in range(3):
        inward = exact_cross(normal, exact_difference(corners[(k + 1) % 3], corners[k]))
        result.append((exact_dot(inward, exact_difference(p, corners[k])), exact_dot(inward, direction), False))
    return result


def _on_segment(p: WholeVector, direction: WholeVector, corners: Sequence[WholeVector]) -> list[_Condition]:
    """Return when p + t direction is on a triangle that is a segment or a point."""
    i, j = _longest(corners)
    start, along = corners[i], exact_difference(corners[j], corners[i])
    away = exact_difference(p, start)
    if corners[i] == corners[j]:
        return [(x, y, True) for x, y in zip(away, direction, strict=True)]
    result = [(x, y, True) for x, y in zip(exact_cross(away, along), exact_cross(direction, along), strict=True)]
    before, slope = exact_dot(away, along), exact_dot(direction, along)
    return [*result, (before, slope, False), (exact_dot(along, along) - before, -slope, False)]


def _feature(point: WholeVector, corners: Sequence[WholeVector], flat: bool) -> int:
    """Return the feature of a triangle that a point on it is on."""
    for k in range(3):
        if corners[k] == point:
            return k
    if flat:
        i, j = _longest(corners)
        return 3 + (i if (i + 1) % 3 == j else j)
    for k in range(3):
        side = exact_difference(corners[(k + 1) % 3], corners[k])
        if not any(exact_cross(side, exact_difference(point, corners[k]))):
            return 3 + k
    return FACE


def _longest(corners: Sequence[WholeVector]) -> tuple[int, int]:
    """Return the ends of the longest side."""
    sides = [(exact_difference(corners[i], corners[j]), i, j) for i, j in ((0, 1), (1, 2), (2, 0))]
    return max(sides, key=lambda side: exact_dot(side[0], side[0]))[1:]
