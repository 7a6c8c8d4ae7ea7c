# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles in one plane: whether they meet, and how far the common polygon reaches. Exact, many at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..shapes.orientation import SignArray, signs_of_areas
from ..types import BoolArray, FloatArray, IntArray

_COPLANAR, _BESIDE = 2, 3  # numbers of `triangle_pairs.Meeting`
_FACE = 6


def coplanar_meetings(
    a: FloatArray, b: FloatArray, normals: FloatArray
) -> tuple[IntArray, NDArray[np.uint8], FloatArray, NDArray[np.uint8], int]:
    """Return which of the triangles a[k] and b[k], in one plane and none without area, meet.

    a, b (9, k) are their corners, `normals` (3 or more rows, k) across the first ones, rounded. What is returned: the
    numbers (j,) of those that meet; 2 where they overlap and 3 where they only touch; two points (2, 3, j) of the
    common polygon that are farthest from each other; their features (2, 2, j) on A and B; how many decisions floats
    left open.
    """
    count = a.shape[1]
    axis = np.abs(normals[:3]).argmax(axis=0)
    drop = np.array([[1, 2], [2, 0], [0, 1]])[axis].T * count + np.arange(count)
    flat_a, flat_b = (
        [np.stack([side[3 * k : 3 * k + 3].ravel().take(row) for row in drop]) for k in range(3)] for side in (a, b)
    )
    unclear = 0
    turns = []
    for p, q, r in (flat_a, flat_b):
        found = signs_of_areas(p, q, r)
        turns.append(found.signs)
        unclear += found.unclear
    # Seen along the largest component of the normal a triangle always has an area, or rounding made it the largest.
    wrong = np.flatnonzero((turns[0] == 0) | (turns[1] == 0))
    if len(wrong):
        return _with_other_axes(a, b, normals, wrong)
    # inside[0][j, i]: whether corner j of B is left of (1), on (0) or right of side i of A; inside[1] the other way.
    inside, areas = [], []
    for own, other, turn in ((flat_a, flat_b, turns[0]), (flat_b, flat_a, turns[1])):
        table = np.empty((3, 3, count), dtype=np.int8)
        values = np.empty((3, 3, count))
        for i in range(3):
            for j in range(3):
                found = signs_of_areas(own[i], own[(i + 1) % 3], other[j])
                np.multiply(found.signs, turn, out=table[j, i])
                values[j, i] = found.values
                unclear += found.unclear
        inside.append(table)
        areas.append(values)
    apart, beside = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    for table in inside:
        most = table.max(axis=0)
        apart |= (most < 0).any(axis=0)
        beside |= (most <= 0).any(axis=0)
    met = np.flatnonzero(~apart)
    if not len(met):
        return met, np.zeros(0, np.uint8), np.empty((2, 3, 0)), np.empty((2, 2, 0), np.uint8), unclear
    points, valid, features = _corners(
        a.take(met, axis=1),
        b.take(met, axis=1),
        [table.take(met, axis=2) for table in inside],
        areas[1].take(met, axis=2),
    )
    ends, chosen = _farthest(points, valid, features)
    kinds = np.where(beside.take(met), _BESIDE, _COPLANAR).astype(np.uint8)
    return met, kinds, ends, chosen, unclear


def coplanar_segments(
    p: FloatArray, q: FloatArray, triangles: FloatArray, normals: FloatArray
) -> tuple[IntArray, FloatArray, NDArray[np.uint8]]:
    """Return which of the segments from p[k] to q[k] meet triangle k, in whose plane they are, and where. Exact.

    p, q (3, k) are different, triangles (9, k) have an area, `normals` (3 or more rows, k) are theirs, rounded. What is
    returned: the numbers (j,) of those that meet; the ends (2, 3, j) of what they have in common, twice the same where
    it is a point; their features (2, 2, j) on the segment, 0 p, 1 q, 3 between, and on the triangle.
    """
    count = p.shape[1]
    columns = np.arange(count)
    order = np.argsort(-np.abs(normals[:3]), axis=0, kind="stable")
    corners = [triangles[3 * k : 3 * k + 3] for k in range(3)]
    turn = np.zeros(count, dtype=np.int8)
    keep = np.zeros((2, count), dtype=np.intp)
    # Seen along the largest component of the normal a triangle has an area, unless rounding made it the largest.
    for axis in order:
        left = np.flatnonzero(turn == 0)
        if not len(left):
            break
        keep[:, left] = np.stack([(axis[left] + 1) % 3, (axis[left] + 2) % 3])
        turn[left] = signs_of_areas(*(corner[keep[:, left], left] for corner in corners)).signs
    start, stop = p[keep, columns], q[keep, columns]
    flat = [corner[keep, columns] for corner in corners]
    points, valid = np.zeros((8, 3, count)), np.zeros((8, count), dtype=np.bool_)
    features = np.full((8, 2, count), 3, dtype=np.uint8)
    inside, areas = np.empty((2, 3, count), dtype=np.int8), np.empty((2, 3, count))
    for row, (end, point) in enumerate(((start, p), (stop, q))):
        for i in range(3):
            found = signs_of_areas(flat[i], flat[(i + 1) % 3], end)
            inside[row, i], areas[row, i] = found.signs * turn, found.values
        points[row], valid[row] = point, inside[row].min(axis=0) >= 0
        features[row, 0], features[row, 1] = row, _feature(inside[row])
    beside = [signs_of_areas(start, stop, corner).signs for corner in flat]
    low, high = np.minimum(start, stop), np.maximum(start, stop)
    for i in range(3):
        # A corner between the ends: along an axis in which these differ.
        between = np.where(low[0] < high[0], (low[0] < flat[i][0]) & (flat[i][0] < high[0]), False)
        between |= np.where(low[0] < high[0], False, (low[1] < flat[i][1]) & (flat[i][1] < high[1]))
        points[2 + i], valid[2 + i] = corners[i], (beside[i] == 0) & between
        features[2 + i, 1] = i
        row = 5 + i
        valid[row] = (inside[0, i] * inside[1, i] < 0) & (beside[i] * beside[(i + 1) % 3] < 0)
        indices = np.flatnonzero(valid[row])
        before, after = areas[0, i].take(indices), areas[1, i].take(indices)
        fraction = before / (before - after)
        points[row][:, indices] = p.take(indices, axis=1) + fraction * (
            q.take(indices, axis=1) - p.take(indices, axis=1)
        )
        features[row, 1] = 3 + i
    # What they have in common is convex: no more than two of the points are on it, its ends.
    met = np.flatnonzero(valid.any(axis=0))
    first = valid.argmax(axis=0).take(met)
    last = len(valid) - 1 - valid[::-1].argmax(axis=0).take(met)
    chosen = np.stack([first, last])[:, None]
    ends: FloatArray = points[chosen, np.arange(3)[:, None], met]
    return met, ends, features[chosen, np.arange(2)[:, None], met]


def _with_other_axes(
    a: FloatArray, b: FloatArray, normals: FloatArray, wrong: IntArray
) -> tuple[IntArray, NDArray[np.uint8], FloatArray, NDArray[np.uint8], int]:
    """Start again with another axis for those that have no area seen along the first."""
    better = np.abs(normals[:3])
    better[better.argmax(axis=0)[wrong], wrong] = -1.0
    hidden = better.max(axis=0) < 0.0
    assert not hidden.any()  # a triangle with an area has one seen along some axis
    return coplanar_meetings(a, b, np.where(better < 0.0, 0.0, better + 2.0**-1000))


def _corners(
    a: FloatArray, b: FloatArray, inside: list[SignArray], areas: FloatArray
) -> tuple[FloatArray, BoolArray, NDArray[np.uint8]]:
    """Return 15 points (15, 3, k), some of which are the corners of the common polygon, which these are (15, k), and
    their features (15, 2, k)."""
    count = a.shape[1]
    points = np.zeros((15, 3, count))
    valid = np.zeros((15, count), dtype=np.bool_)
    features = np.empty((15, 2, count), dtype=np.uint8)
    in_a, in_b = inside
    for j in range(3):
        for k, table, side in ((0, in_b, a), (1, in_a, b)):
            row = 3 * k + j
            points[row] = side[3 * j : 3 * j + 3]
            valid[row] = table[j].min(axis=0) >= 0
            features[row, k] = j
            features[row, 1 - k] = _feature(table[j])
    row = 6
    for i in range(3):  # side i of A with side j of B, where they cross
        for j in range(3):
            valid[row] = (in_b[i, j] * in_b[(i + 1) % 3, j] < 0) & (in_a[j, i] * in_a[(j + 1) % 3, i] < 0)
            indices = np.flatnonzero(valid[row])
            if len(indices):
                before, after = areas[i, j].take(indices), areas[(i + 1) % 3, j].take(indices)
                p = a[3 * i : 3 * i + 3].take(indices, axis=1)
                n = (i + 1) % 3
                q = a[3 * n : 3 * n + 3].take(indices, axis=1)
                points[row][:, indices] = p + before / (before - after) * (q - p)
            features[row, 0], features[row, 1] = 3 + i, 3 + j
            row += 1
    return points, valid, features


def _feature(signs: SignArray) -> NDArray[np.uint8]:
    """Return the feature of a triangle that a point is on that is left of sides or on them (3, k)."""
    result = np.full(signs.shape[1], _FACE, dtype=np.uint8)
    zero = signs == 0
    for i in range(3):
        result[zero[i]] = 3 + i
    for i in range(3):  # on two sides: the corner between them
        result[zero[i] & zero[i - 1]] = i
    return result


def _farthest(
    points: FloatArray, valid: BoolArray, features: NDArray[np.uint8]
) -> tuple[FloatArray, NDArray[np.uint8]]:
    """Return the two of some points (n, 3, k) that are farthest from each other (2, 3, k), and their features."""
    count = valid.shape[1]
    best = np.full(count, -1.0)
    first, second = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
    for i in range(len(points)):
        for j in range(i + 1):
            square = ((points[i] - points[j]) ** 2).sum(axis=0)
            better = np.flatnonzero(valid[i] & valid[j] & (square > best))
            best[better] = square[better]
            first[better], second[better] = j, i
    number = np.arange(count)
    columns = np.stack([first, second])
    ends = points[columns[:, None, :], np.arange(3)[None, :, None], number]
    return ends, features[columns[:, None, :], np.arange(2)[None, :, None], number]
