# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles in one plane: whether they meet, and how far the common polygon reaches. Exact, many at a time."""

from __future__ import annotations

import numpy as np

from ..shapes.orientation import SignArray, signs_of_areas
from ..types import BoolArray, FloatArray, IntArray
from .crossings import FACE, FeatureArray, Found, Meeting
from .triangle_rows import TriangleSide

_NEXT = np.array([1, 2, 0])
_AXES = np.array([[1], [2]])
_AREAS = np.array(
    [(3, 4, 5)] + [(own + i, own + (i + 1) % 3, 3 - own + j) for own in (0, 3) for j in range(3) for i in range(3)]
).T
"""(3, 19) corners of A, 0 to 2, and B, 3 to 5, that span areas: B, then sides of A with corners of B, and of B with
those of A."""
_ON_SIDES = np.array([FACE, 3, 4, 1, 5, 0, 2, 2], dtype=np.uint8)
"""The feature on each set of sides, side k being the number 2**k: two have a corner in common."""
_TWO = np.tril_indices(15)


def coplanar_meetings(a: TriangleSide, b: TriangleSide) -> Found:
    """Return which pairs of triangles in one plane, none without area, meet. The ends are two points of the common
    polygon that are farthest from each other."""
    corners = np.concatenate([a.triangles.corners, b.triangles.corners]).reshape(6, 3, -1)
    keep, turn_a = _project(corners[:3], a.triangles.plane[:3])
    flat = corners[:, keep, np.arange(len(turn_a))].swapaxes(0, 1)
    found = signs_of_areas(*(flat.take(corner, axis=1).reshape(2, -1) for corner in _AREAS))
    turn_b, signs = np.split(found.signs.reshape(19, -1), [1])
    # inside[0][j, i]: whether corner j of B is left of (1), on (0) or right of side i of A; inside[1] with A and B
    # swapped.
    inside = signs.reshape(2, 3, 3, -1) * np.array([turn_a, turn_b[0]])[:, None, None]
    most = inside.max(axis=1)
    met = np.flatnonzero((most >= 0).all(axis=(0, 1)))
    areas = found.values.reshape(19, -1)[10:].reshape(3, 3, -1)
    beside = (most.take(met, axis=2) <= 0).any(axis=(0, 1))
    kinds = np.where(beside, Meeting.BESIDE, Meeting.COPLANAR).astype(np.uint8)
    polygons = _corners(corners.take(met, axis=2), inside.take(met, axis=3), areas.take(met, axis=2))
    return Found(met, kinds, *_farthest(*polygons))


def _project(corners: FloatArray, normals: FloatArray) -> tuple[IntArray, SignArray]:
    """Return two axes (2, k) along which triangles with corners (3, 3, k) have an area, and in which direction they
    turn there."""
    count = normals.shape[1]
    keep, turn = np.zeros((2, count), dtype=np.intp), np.zeros(count, dtype=np.int8)
    # Seen along the largest component of the normal a triangle has an area, unless rounding made it the largest.
    for axis in np.argsort(-np.abs(normals), axis=0, kind="stable"):
        left = np.flatnonzero(turn == 0)
        if not len(left):
            break
        axes = (axis[left] + _AXES) % 3
        keep[:, left] = axes
        turn[left] = signs_of_areas(*corners[:, axes, left]).signs
    return keep, turn


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
    corners = triangles.reshape(3, 3, -1)
    keep, turn = _project(corners, normals)
    start, stop = p[keep, columns], q[keep, columns]
    flat = corners[:, keep, columns]
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


def _corners(corners: FloatArray, inside: SignArray, areas: FloatArray) -> tuple[FloatArray, BoolArray, FeatureArray]:
    """Return 15 points (15, 3, k), some of which are the corners of the common polygon, which these are (15, k), and
    their features (15, 2, k), of triangles with corners (6, 3, k)."""
    count = corners.shape[2]
    points = np.zeros((15, 3, count))
    valid = np.zeros((15, count), dtype=np.bool_)
    features = np.empty((15, 2, count), dtype=np.uint8)
    in_a, in_b = inside
    points[:6], valid[:3], valid[3:6] = corners, in_b.min(axis=1) >= 0, in_a.min(axis=1) >= 0
    features[:3, 0] = features[3:6, 1] = np.arange(3)[:, None]
    features[:3, 1], features[3:6, 0] = _feature(in_b), _feature(in_a)
    # side i of A with side j of B, where they cross
    cross = (in_b * in_b.take(_NEXT, axis=0) < 0) & (in_a * in_a.take(_NEXT, axis=0) < 0).swapaxes(0, 1)
    valid[6:] = cross.reshape(9, -1)
    features[6:, 0], features[6:, 1] = np.repeat([3, 4, 5], 3)[:, None], np.tile([3, 4, 5], 3)[:, None]
    i, j, number = np.nonzero(cross)
    before, after = areas[i, j, number], areas[_NEXT[i], j, number]
    p, q = corners[i, :, number], corners[_NEXT[i], :, number]
    points[6 + 3 * i + j, :, number] = p + (before / (before - after))[:, None] * (q - p)
    return points, valid, features


def _feature(signs: SignArray) -> FeatureArray:
    """Return the features (...) of a triangle that points are on that are left of sides or on them (..., 3, k)."""
    zero = signs == 0
    return _ON_SIDES.take(zero[..., 0, :] + 2 * zero[..., 1, :] + 4 * zero[..., 2, :])


def _farthest(points: FloatArray, valid: BoolArray, features: FeatureArray) -> tuple[FloatArray, FeatureArray]:
    """Return the two of some points (15, 3, k) that are farthest from each other (2, 3, k), and their features."""
    second, first = _TWO
    both = valid.take(first, axis=0) & valid.take(second, axis=0)
    pair, number = np.nonzero(both)
    square = np.full(both.shape, -1.0)
    square[both] = ((points[second[pair], :, number] - points[first[pair], :, number]) ** 2).sum(axis=1)
    best = square.argmax(axis=0)
    ends, number = np.array([first.take(best), second.take(best)])[:, None], np.arange(len(best))
    return points[ends, np.arange(3)[:, None], number], features[ends, np.arange(2)[:, None], number]
