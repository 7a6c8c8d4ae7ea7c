# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles in one plane: whether they meet, and how far the common polygon reaches. Exact, many at a time."""

from __future__ import annotations

import numpy as np

from ..shapes.orientation import SignArray, signs_of_areas
from ..types import BoolArray, FloatArray, IntArray
from .crossings import FACE, FeatureArray, Found, Meeting
from .triangle_rows import TriangleSide


def coplanar_meetings(a: TriangleSide, b: TriangleSide) -> Found:
    """Return which pairs of triangles in one plane, none without area, meet. The ends are two points of the common
    polygon that are farthest from each other."""
    corners = [[side.triangles.corner(k) for k in range(3)] for side in (a, b)]
    keep, turn_a, unclear = _project(corners[0], a.triangles.plane[:3])
    columns = np.arange(len(turn_a))
    flat_a, flat_b = ([corner[keep, columns] for corner in side] for side in corners)
    found = signs_of_areas(*flat_b)
    unclear += found.unclear
    # inside[0][j, i]: whether corner j of B is left of (1), on (0) or right of side i of A; inside[1] with A and B
    # swapped.
    inside, areas = np.empty((2, 3, 3, len(columns)), dtype=np.int8), np.empty((2, 3, 3, len(columns)))
    for table, values, own, other, turn in zip(
        inside, areas, (flat_a, flat_b), (flat_b, flat_a), (turn_a, found.signs), strict=True
    ):
        for i in range(3):
            for j in range(3):
                found = signs_of_areas(own[i], own[(i + 1) % 3], other[j])
                table[j, i], values[j, i] = found.signs * turn, found.values
                unclear += found.unclear
    most = inside.max(axis=1)
    met = np.flatnonzero((most >= 0).all(axis=(0, 1)))
    points, valid, features = _corners(
        a.triangles.corners.take(met, axis=1),
        b.triangles.corners.take(met, axis=1),
        inside.take(met, axis=-1),
        areas[1].take(met, axis=-1),
    )
    beside = (most.take(met, axis=-1) <= 0).any(axis=(0, 1))
    kinds = np.where(beside, Meeting.BESIDE, Meeting.COPLANAR).astype(np.uint8)
    return Found(met, kinds, *_farthest(points, valid, features), unclear)


def _project(corners: list[FloatArray], normals: FloatArray) -> tuple[IntArray, SignArray, int]:
    """Return two axes (2, k) along which triangles with corners (3, k) have an area, in which direction they turn
    there, and how many decisions floats left open."""
    count = normals.shape[1]
    keep, turn, unclear = np.zeros((2, count), dtype=np.intp), np.zeros(count, dtype=np.int8), 0
    # Seen along the largest component of the normal a triangle has an area, unless rounding made it the largest.
    for axis in np.argsort(-np.abs(normals), axis=0, kind="stable"):
        left = np.flatnonzero(turn == 0)
        if not len(left):
            break
        keep[:, left] = np.stack([(axis[left] + 1) % 3, (axis[left] + 2) % 3])
        found = signs_of_areas(*(corner[keep[:, left], left] for corner in corners))
        turn[left] = found.signs
        unclear += found.unclear
    return keep, turn, unclear


def coplanar_segments(
    p: FloatArray, q: FloatArray, triangles: FloatArray, normals: FloatArray
) -> tuple[IntArray, FloatArray, FeatureArray]:
    """Return which of the segments from p[k] to q[k] meet triangle k, in whose plane they are, and where. Exact.

    p, q (3, k) are different, triangles (9, k) have an area, `normals` (3, k) are theirs, rounded. What is
    returned: the numbers (j,) of those that meet; the ends (2, 3, j) of what they have in common, twice the same where
    it is a point; their features (2, 2, j) on the segment, 0 p, 1 q, 3 between, and on the triangle.
    """
    count = p.shape[1]
    columns = np.arange(count)
    corners = [triangles[3 * k : 3 * k + 3] for k in range(3)]
    keep, turn, _ = _project(corners, normals)
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


def _corners(
    a: FloatArray, b: FloatArray, inside: SignArray, areas: FloatArray
) -> tuple[FloatArray, BoolArray, FeatureArray]:
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


def _feature(signs: SignArray) -> FeatureArray:
    """Return the feature of a triangle that a point is on that is left of sides or on them (3, k)."""
    result = np.full(signs.shape[1], FACE, dtype=np.uint8)
    zero = signs == 0
    for i in range(3):
        result[zero[i]] = 3 + i
    for i in range(3):  # on two sides: the corner between them
        result[zero[i] & zero[i - 1]] = i
    return result


def _farthest(points: FloatArray, valid: BoolArray, features: FeatureArray) -> tuple[FloatArray, FeatureArray]:
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
