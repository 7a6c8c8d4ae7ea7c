# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a polygon convex, and if not, at which corners is it concave?

Turns and crossings are decided exactly: by floats where these are sure, else by integers. A polygon that is convex but
for the rounding of its coordinates counts as convex. Source: S1.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_length, as_points, validate_magnitude
from ..broad_phase.candidate_pairs import candidate_pairs
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..tolerance import EPS, HULL_STRAIGHT
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from .whole_points import CHUNK, WholePoints

_NAMED = 3
"""Pairs of sides named in an error."""


@dataclass(frozen=True, eq=False)
class Convexity(ReadOnlyArrays):
    """Whether a polygon is convex, and its concave corners. Source: S1.1."""

    convex: bool
    """No corner lies deeper under the hull's outline than rounding, or than the tolerance."""
    corners: IntArray
    """(k,) numbers of the points at which the outline turns inward, ascending; empty when convex."""
    depths: FloatArray
    """(k,) how far each of them is from the side of the hull that spans it, unit of the coordinates."""
    depth: float
    """The deepest concavity, unit of the coordinates: largest distance of a point from the side of the hull above it.
    0.0 when the outline is that of its hull."""
    counter_clockwise: bool
    """How the points are wound; True for points on one line."""


def as_polygon(points: ArrayLike) -> FloatArray:
    """Return the points (n, 2), n >= 1, of a polygon. Raises ValueError that names the argument."""
    array = as_points("points", points, 2)
    if not len(array):
        raise ValueError("points: at least one point expected, got none")
    validate_magnitude("points", array)
    return np.array(array)


@dataclass(frozen=True, eq=False)
class PolygonOutline:
    """A polygon with its turns, its hull and its convexity."""

    points: FloatArray
    whole: WholePoints
    hull: ConvexHull
    loop: IntArray
    """Numbers of the points in order, counter-clockwise, without repetitions of the point before."""
    turns: NDArray[np.int8]
    """1 where the loop turns left, -1 where right, 0 where it goes straight on."""
    convexity: Convexity


def polygon_convexity(points: ArrayLike, tolerance: float = 0.0) -> Convexity:
    """Return whether a polygon is convex, and its offending corners.

    points (n, 2) in order, wound either way, world frame; repeated neighbours count once, points on one line are
    convex. `tolerance`: concavities up to this fraction of the bounding box's diagonal are none; rounding
    (HULL_STRAIGHT EPS M) always is. Turns are decided exactly. Source: S1.1.

    Raise ValueError, naming the argument, when the points are not such an array of finite real numbers, when sides
    cross or touch (the message names them), or when the tolerance is negative.

    >>> found = polygon_convexity([[0, 0], [2, 0], [2, 2], [1, 1], [0, 2]])
    >>> print(found.convex, found.corners.tolist(), found.depths.tolist())
    False [3] [1.0]
    """
    return outline_of(as_polygon(points), as_length("tolerance", tolerance)).convexity


def outline_of(points: FloatArray, tolerance: float = 0.0) -> PolygonOutline:
    """Return the outline of a polygon of checked points. Raises ValueError when its sides cross or touch."""
    whole, hull = WholePoints(points), ConvexHull(points)
    loop = np.arange(len(points))
    loop = loop[(points != np.roll(points, 1, axis=0)).any(axis=1)]
    concave, depths, depth, left, turns = loop[:0], np.empty(0), 0.0, True, np.zeros(len(loop), dtype=np.int8)
    if hull.rank == 2:
        turns = whole.turns(np.roll(loop, 1), loop, np.roll(loop, -1))
        left = _is_left(points, whole, hull, loop)
        if not left:
            loop, turns = loop[::-1], -turns[::-1]
        concave, depths, depth = _find_concave(points, whole, hull, loop, turns, tolerance)
    convexity = Convexity(not len(concave), read_only(loop[concave]), read_only(depths), depth, left)
    return PolygonOutline(points, whole, hull, loop, turns, convexity)


def _find_concave(
    points: FloatArray, whole: WholePoints, hull: ConvexHull, loop: IntArray, turns: NDArray[np.int8], tolerance: float
) -> tuple[IntArray, FloatArray, float]:
    """Return where a counter-clockwise loop is concave, how deep there, and how deep at most."""
    rounding = HULL_STRAIGHT * EPS * hull.magnitude
    depths, back = _under_lids(points, hull, loop)
    depth = 0.0 if depths is None else float(depths.max())
    none = np.empty(0, dtype=np.intp), np.empty(0)
    # Whatever the turns are where all is within rounding, they are rounding.
    if ((turns >= 0).all() and _goes_round_once(points[loop])) or (depths is not None and max(depth, back) <= rounding):
        return *none, depth if depth > rounding else 0.0
    _refuse_crossings(points, whole, loop, turns)
    if depths is None:  # rounding has hidden which corners of the hull follow each other
        depths = (hull.offsets - (points[loop] - hull.center) @ hull.normals.T).min(axis=1)
        depth = float(depths.max())
    least = max(rounding, tolerance * hull.extent)
    if depth <= least:
        return *none, depth
    concave = np.flatnonzero((turns < 0) & (depths > least))
    p = points[loop]
    before, after = np.roll(p, 1, axis=0)[concave], np.roll(p, -1, axis=0)[concave]
    standing = _distance_to_line(p[concave], before, after) > rounding
    if standing.any():
        concave = concave[standing]
    elif not len(concave):
        concave = np.array([int(depths.argmax())])
    concave = concave[np.argsort(loop[concave])]
    return concave, depths[concave], depth


def _is_left(points: FloatArray, whole: WholePoints, hull: ConvexHull, loop: IntArray) -> bool:
    """Return whether a loop is counter-clockwise: as the corners of its hull follow each other, else by its area."""
    corners = _corners_in(points, hull, loop)
    falls = int((np.roll(corners, -1) < corners).sum())
    if falls in (1, len(corners) - 1):
        return falls == 1
    ring = [whole[i] for i in loop.tolist()]
    return sum(ax * by - ay * bx for (ax, ay), (bx, by) in zip(ring, ring[1:] + ring[:1], strict=True)) >= 0


def _corners_in(points: FloatArray, hull: ConvexHull, loop: IntArray) -> IntArray:
    """Return where in the loop each corner of the hull is."""
    position = np.full(len(points), -1, dtype=np.intp)
    position[loop] = np.arange(len(loop))
    corners = position[hull.vertex_ids]
    if (corners < 0).any():  # another of several equal points
        same = {tuple(p): k for k, p in enumerate(points[loop].tolist())}
        corners = np.array([same[tuple(p)] for p in hull.vertices.tolist()], dtype=np.intp)
    return corners


def _goes_round_once(p: FloatArray) -> bool:
    """Return whether a loop that never turns right goes round once: its sides point up, then down, once each."""
    direction = np.roll(p, -1, axis=0) - p
    up = (direction[:, 1] > 0.0) | ((direction[:, 1] == 0.0) & (direction[:, 0] > 0.0))
    return int((up != np.roll(up, 1)).sum()) == 2


def _under_lids(points: FloatArray, hull: ConvexHull, loop: IntArray) -> tuple[FloatArray | None, float]:
    """Return how far each point of the loop is from the side of the hull that spans it, and by how much the points
    run back along these sides at most. None when the corners of the hull are not in the loop in their order."""
    corners = _corners_in(points, hull, loop)
    first = int(corners.argmin())
    corners = np.roll(corners, -first)
    if (np.diff(corners) <= 0).any():
        return None, 0.0
    n = len(loop)
    spans = np.diff(np.append(corners, corners[0] + n))
    lid = np.repeat(np.arange(len(corners)), spans)
    p = np.roll(points[loop], -int(corners[0]), axis=0)
    start = points[loop][corners]
    direction = np.roll(start, -1, axis=0) - start
    scale = np.abs(direction).max(axis=1)
    direction = direction / scale[:, None]
    lengths = np.sqrt((direction * direction).sum(axis=1))
    direction /= lengths[:, None]
    u, w = p - start[lid], direction[lid]
    depths = np.maximum(u[:, 1] * w[:, 0] - u[:, 0] * w[:, 1], 0.0)
    along = (u * w).sum(axis=1)
    following = np.append(along[1:], 0.0)
    following[np.cumsum(spans) - 1] = lengths * scale
    back = float((along - following).max(initial=0.0))
    return np.roll(depths, int(corners[0])), back


def _distance_to_line(p: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return how far points (n, 2) are from the lines through a and b; from a where these are one point."""
    direction, to = b - a, p - a
    largest = np.abs(direction).max(axis=1, initial=0.0)[:, None]
    direction = direction / np.where(largest > 0.0, largest, 1.0)
    length = np.sqrt((direction * direction).sum(axis=1))
    across = np.abs(direction[:, 0] * to[:, 1] - direction[:, 1] * to[:, 0]) / np.where(length > 0.0, length, 1.0)
    return np.where(length > 0.0, across, np.hypot(to[:, 0], to[:, 1]))


def _refuse_crossings(points: FloatArray, whole: WholePoints, loop: IntArray, turns: NDArray[np.int8]) -> None:
    """Raise ValueError when sides of the loop meet anywhere but at the corner between them."""
    n = len(loop)
    ends = np.roll(loop, -1)
    p = points[loop]
    direction, onward = p - np.roll(p, 1, axis=0), np.roll(p, -1, axis=0) - p
    back = np.flatnonzero((turns == 0) & ((np.sign(direction) * np.sign(onward)).sum(axis=1) < 0))
    found = [((k - 1) % n, k, "runs back over") for k in back.tolist()]
    q = points[ends]
    pairs = candidate_pairs(np.minimum(p, q), np.maximum(p, q)).pairs
    apart = (pairs[:, 1] - pairs[:, 0]) % n
    pairs = pairs[(apart != 1) & (apart != n - 1)]
    for chunk in chunks(len(pairs), CHUNK):
        i, j = pairs[chunk].T
        a, b, c, d = loop[i], ends[i], loop[j], ends[j]
        beside = whole.turns(a, b, c) * whole.turns(a, b, d) <= 0
        i, j, a, b, c, d = i[beside], j[beside], a[beside], b[beside], c[beside], d[beside]
        first, second = whole.turns(c, d, a), whole.turns(c, d, b)
        meet = np.flatnonzero(first * second <= 0)
        for k in meet.tolist():
            touch = bool(
                first[k] * second[k] == 0
                or whole.turn(int(a[k]), int(b[k]), int(c[k])) == 0
                or whole.turn(int(a[k]), int(b[k]), int(d[k])) == 0
            )
            found.append((int(i[k]), int(j[k]), "touches" if touch else "crosses"))
    if found:
        words = []
        for i, j, what in sorted(found, key=lambda f: f[2])[:_NAMED]:
            (a0, a1), (b0, b1) = (sorted((int(loop[k]), int(ends[k]))) for k in (i, j))
            words.append(f"the side between points {a0} and {a1} {what} that between {b0} and {b1}")
        more = f", and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise ValueError(f"points: sides of a polygon may meet at its corners only: {'; '.join(words)}{more}")
