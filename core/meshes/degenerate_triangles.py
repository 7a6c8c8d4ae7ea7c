# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles without area: segments and points. Whether they meet another triangle, in exact arithmetic.

A point p + t (q - p) of the segment, 0 <= t <= 1, is on the other triangle where some linear conditions on t hold.
Meshes have few such triangles: they are looked at one by one. A mesh that was pressed flat to a line along an axis, or
to a point, has no others: what is on one such line is looked at many at a time, for there coordinates tell the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..types import FloatArray, IntArray

Point = tuple[Fraction, Fraction, Fraction]
Corners = Sequence[Sequence[float]]
_Condition = tuple[Fraction, Fraction, bool]
"""x + y t >= 0, or == 0 where the last is true."""

_FACE = 6


def degenerate_meeting(
    a: Corners, b: Corners, flat_a: bool, flat_b: bool
) -> tuple[list[list[float]], list[list[int]]] | None:
    """Return both ends of what two triangles have in common and their features, None when they do not meet.

    Three corners each; `flat_a` and `flat_b` say which of them have no area: one at least. The features are those of A
    and B for the first end, and for the second: 0 to 2 a corner, 3 + k the side from corner k to the next, 6 inside.
    """
    exact_a, exact_b = (tuple(_exact(corner) for corner in side) for side in (a, b))
    if not flat_a:
        found = degenerate_meeting(b, a, flat_b, flat_a)
        return None if found is None else (found[0], [pair[::-1] for pair in found[1]])
    i, j = _longest(exact_a)
    p, q = exact_a[i], exact_a[j]
    direction = _minus(q, p)
    begin, end = Fraction(0), Fraction(1)
    conditions = _on_segment(p, direction, exact_b) if flat_b else _on_triangle(p, direction, exact_b)
    for value, slope, equal in conditions:
        if slope == 0:
            if value < 0 or (equal and value != 0):
                return None
            continue
        root = -value / slope
        if equal:
            begin, end = max(begin, root), min(end, root)
        elif slope > 0:
            begin = max(begin, root)
        else:
            end = min(end, root)
    if begin > end:
        return None
    if p == q:
        end = begin
    points = [_along(p, direction, t) for t in (begin, end)]
    features = [[_feature(point, exact_a, True), _feature(point, exact_b, flat_b)] for point in points]
    return [[float(x) for x in point] for point in points], features


def on_axis(a: FloatArray, b: FloatArray) -> IntArray:
    """Return (k,) the axis 0 to 2 along which a line holds both triangles k, a and b (9, k) their corners; -1 where no
    such line does."""
    result = np.full(a.shape[1], -1, dtype=np.intp)
    sides = [np.concatenate([a[x::3], b[x::3]]) for x in range(3)]
    same = [(side == side[0]).all(axis=0) for side in sides]
    for x in range(3):
        result[same[(x + 1) % 3] & same[(x + 2) % 3]] = x
    return result


def meetings_on_axis(a: FloatArray, b: FloatArray, axis: IntArray) -> tuple[IntArray, FloatArray, NDArray[np.uint8]]:
    """Return which of the triangles a[k] and b[k] (9, k), both on a line along axis[k], meet: their numbers (j,), the
    ends (2, 3, j) of what they have in common and the features (2, 2, j) of A and B. Exact."""
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
    return met, ends, features


def _on_triangle(p: Point, direction: Point, corners: tuple[Point, ...]) -> list[_Condition]:
    """Return when p + t direction is on a triangle that has an area."""
    normal = _cross(_minus(corners[1], corners[0]), _minus(corners[2], corners[0]))
    result = [(_dot(normal, _minus(p, corners[0])), _dot(normal, direction), True)]
    for k in range(3):
        inward = _cross(normal, _minus(corners[(k + 1) % 3], corners[k]))
        result.append((_dot(inward, _minus(p, corners[k])), _dot(inward, direction), False))
    return result


def _on_segment(p: Point, direction: Point, corners: tuple[Point, ...]) -> list[_Condition]:
    """Return when p + t direction is on a triangle that is a segment or a point."""
    i, j = _longest(corners)
    start, along = corners[i], _minus(corners[j], corners[i])
    away = _minus(p, start)
    if corners[i] == corners[j]:
        return [(x, y, True) for x, y in zip(away, direction, strict=True)]
    result = [(x, y, True) for x, y in zip(_cross(away, along), _cross(direction, along), strict=True)]
    before, slope = _dot(away, along), _dot(direction, along)
    return [*result, (before, slope, False), (_dot(along, along) - before, -slope, False)]


def _feature(point: Point, corners: tuple[Point, ...], flat: bool) -> int:
    """Return the feature of a triangle that a point on it is on."""
    for k in range(3):
        if corners[k] == point:
            return k
    if flat:
        i, j = _longest(corners)
        return 3 + (i if (i + 1) % 3 == j else j)
    for k in range(3):
        if not any(_cross(_minus(corners[(k + 1) % 3], corners[k]), _minus(point, corners[k]))):
            return 3 + k
    return _FACE


def _longest(corners: tuple[Point, ...]) -> tuple[int, int]:
    """Return the ends of the longest side."""
    return max(((0, 1), (1, 2), (2, 0)), key=lambda side: _square(_minus(corners[side[0]], corners[side[1]])))


def _exact(point: Sequence[float]) -> Point:
    return Fraction(point[0]), Fraction(point[1]), Fraction(point[2])


def _along(p: Point, direction: Point, t: Fraction) -> Point:
    return p[0] + t * direction[0], p[1] + t * direction[1], p[2] + t * direction[2]


def _minus(p: Point, q: Point) -> Point:
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def _dot(p: Point, q: Point) -> Fraction:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _square(p: Point) -> Fraction:
    return _dot(p, p)


def _cross(p: Point, q: Point) -> Point:
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]
