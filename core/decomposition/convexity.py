# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a polygon or a mesh convex, and if not, where is it dented?

Turns and crossings are decided exactly: by floats where these are sure, else by whole numbers. What is convex up to
the rounding of its coordinates counts as convex.

Source: S1.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import frexp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_array, as_length, validate_magnitude
from ..broad_phase.candidate_pairs import candidate_pairs
from ..meshes.mesh import checked_mesh, signed_volume
from ..shapes.hull import ConvexHull
from ..shapes.polytope import PRODUCTS
from ..tolerance import CONVEX_COVERED, CONVEX_FLAT, CONVEX_TURN, EPS, HULL_STRAIGHT
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from .concavity import deepest_dent

_CHUNK = 16_000
_NAMED = 3  # pairs of sides named in an error
UNDERFLOW = 1e-290
"""Products of coordinates up to 1 that are smaller may have lost digits."""


@dataclass(frozen=True, eq=False)
class Convexity(ReadOnlyArrays):
    """Whether a polygon is convex, and the corners that are dents. Source: S1.1."""

    convex: bool
    """No corner lies deeper under the hull's outline than rounding, or than the tolerance."""
    corners: IntArray
    """(k,) numbers of the points at which the outline turns inward, ascending; empty when convex."""
    depths: FloatArray
    """(k,) how far each of them is from the side of the hull that closes its dent, unit of the coordinates."""
    depth: float
    """The deepest dent, unit of the coordinates: the largest distance of a point from the side of the hull above it.
    0.0 when the outline is that of its hull."""
    counter_clockwise: bool
    """How the points are wound; True for points on one line."""


@dataclass(frozen=True, eq=False)
class MeshConvexity(ReadOnlyArrays):
    """Whether a mesh bounds a convex solid, and the edges that are dents. Source: S1.1."""

    convex: bool
    """The mesh is closed and, to rounding or the tolerance, its own convex hull. A flat mesh: it fills its hull."""
    closed: bool
    """Whether every edge is used once in each direction."""
    edges: IntArray
    """(k, 2) point numbers of the edges at which the surface bends inward, the sharpest first; only edges with exactly
    two triangles, wound alike, can be told. Empty when convex."""
    bends: FloatArray
    """(k,) by how many radians the surface bends inward there: 0 is flat, pi a crack."""
    depth: float
    """The deepest place of the mesh under the surface of its hull, unit of the coordinates."""
    point: FloatArray
    """(3,) that place, world frame."""
    reason: str
    """Why it is not convex, in words; empty when it is."""


class WholePoints:
    """Points as whole numbers without any rounding, made when they are asked for."""

    def __init__(self, points: FloatArray) -> None:
        self._points = points
        smallest = np.abs(points[points != 0.0]).min(initial=1.0)
        self.bits = max(0, 53 - frexp(float(smallest))[1])
        """A coordinate is the whole number times 2**-bits."""
        self._known: dict[int, tuple[int, ...]] = {}

    def __getitem__(self, i: int) -> tuple[int, ...]:
        point = self._known.get(i)
        if point is None:
            point = self._known[i] = tuple(self.whole(x) for x in self._points[i].tolist())
        return point

    def whole(self, x: float) -> int:
        """Return x times 2**bits."""
        numerator, denominator = x.as_integer_ratio()
        return numerator << (self.bits + 1 - denominator.bit_length())

    def turn(self, a: int, b: int, c: int) -> int:
        """Return > 0 when points a, b, c of the plane turn left, 0 when they are on one line."""
        (ax, ay), (bx, by), (cx, cy) = self[a], self[b], self[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    @cached_property
    def scaled(self) -> FloatArray:
        """The points divided by a power of two, so that the largest coordinate is about 1."""
        return np.ldexp(self._points, -frexp(float(np.abs(self._points).max()))[1])

    def turns(self, a: IntArray, b: IntArray, c: IntArray) -> NDArray[np.int8]:
        """Return 1 where points a, b, c of the plane turn left, -1 where right, 0 where they are on one line."""
        p = self.scaled
        signs = np.empty(len(a), dtype=np.int8)
        for begin in range(0, len(a), _CHUNK):
            some = slice(begin, begin + _CHUNK)
            i, j, k = a[some], b[some], c[some]
            start = p.take(i, axis=0)
            u, v = p.take(j, axis=0) - start, p.take(k, axis=0) - start
            left, right = u[:, 0] * v[:, 1], u[:, 1] * v[:, 0]
            turn = left - right
            sign = np.sign(turn).astype(np.int8)
            unsure = np.flatnonzero(np.abs(turn) <= CONVEX_TURN * EPS * (np.abs(left) + np.abs(right)) + UNDERFLOW)
            for n in unsure.tolist():
                value = self.turn(int(i[n]), int(j[n]), int(k[n]))
                sign[n] = (value > 0) - (value < 0)
            signs[some] = sign
        return signs


def checked_polygon(points: ArrayLike) -> FloatArray:
    """Return the points (n, 2), n >= 1, of a polygon. Raises ValueError that names the argument."""
    array = as_array("points", points, "an array (n, 2)")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"points: an array (n, 2) expected, got the shape {array.shape}")
    if not len(array):
        raise ValueError("points: at least one point expected, got none")
    validate_magnitude("points", array)
    return np.array(array)


@dataclass(frozen=True, eq=False)
class Outline:
    """A polygon looked at: what its convexity and its decomposition are told from."""

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
    convex. `tolerance`: dents up to this share of the bounding box's diagonal are none; rounding (HULL_STRAIGHT EPS
    M) always is. Turns are decided exactly. Source: S1.1.

    Raises ValueError, naming the argument, when the points are not such an array of finite real numbers, when sides
    cross or touch (the message names them), or when the tolerance is negative.
    """
    return outline_of(checked_polygon(points), as_length("tolerance", tolerance)).convexity


def outline_of(points: FloatArray, tolerance: float = 0.0) -> Outline:
    """Return the outline of a polygon of checked points. Raises ValueError when its sides cross or touch."""
    whole, hull = WholePoints(points), ConvexHull(points)
    loop = np.arange(len(points))
    loop = loop[(points != np.roll(points, 1, axis=0)).any(axis=1)]
    none, no_depths = read_only(np.empty(0, dtype=np.intp)), read_only(np.empty(0))
    if hull.rank < 2:
        flat = Convexity(True, none, no_depths, 0.0, True)
        return Outline(points, whole, hull, loop, np.zeros(len(loop), dtype=np.int8), flat)
    turns = whole.turns(np.roll(loop, 1), loop, np.roll(loop, -1))
    left = _is_left(points, whole, hull, loop)
    if not left:
        loop, turns = loop[::-1], -turns[::-1]
    least = HULL_STRAIGHT * EPS * hull.magnitude
    if (turns >= 0).all() and _goes_round_once(points[loop]):
        depths, _ = _under_lids(points, hull, loop)
        depth = float(depths.max()) if depths is not None else 0.0
        convexity = Convexity(True, none, no_depths, depth if depth > least else 0.0, left)
        return Outline(points, whole, hull, loop, turns, convexity)
    depths, back = _under_lids(points, hull, loop)
    if depths is not None and depths.max() <= least and back <= least:
        # Whatever its turns are, they are rounding.
        return Outline(points, whole, hull, loop, turns, Convexity(True, none, no_depths, 0.0, left))
    _refuse_crossings(points, whole, loop, turns)
    if depths is None:  # rounding has hidden which corners of the hull follow each other
        depths = (hull.offsets - (points[loop] - hull.center) @ hull.normals.T).min(axis=1)
    depth = float(depths.max())
    least = max(least, tolerance * hull.extent)
    if depth <= least:
        return Outline(points, whole, hull, loop, turns, Convexity(True, none, no_depths, depth, left))
    dents = np.flatnonzero((turns < 0) & (depths > least))
    p = points[loop]
    before, after = np.roll(p, 1, axis=0)[dents], np.roll(p, -1, axis=0)[dents]
    standing = _distance_to_line(p[dents], before, after) > HULL_STRAIGHT * EPS * hull.magnitude
    if standing.any():
        dents = dents[standing]
    elif not len(dents):
        dents = np.array([int(depths.argmax())])
    dents = dents[np.argsort(loop[dents])]
    convexity = Convexity(False, read_only(loop[dents]), read_only(depths[dents]), depth, left)
    return Outline(points, whole, hull, loop, turns, convexity)


def _is_left(points: FloatArray, whole: WholePoints, hull: ConvexHull, loop: IntArray) -> bool:
    """Return whether a loop is counter-clockwise: as the corners of its hull follow each other, else by its area."""
    corners = _corners_in(points, hull, loop)
    falls = int((np.roll(corners, -1) < corners).sum())
    if falls in (1, len(corners) - 1):
        return falls == 1
    area = 0
    ring = [whole[i] for i in loop.tolist()]
    for (ax, ay), (bx, by) in zip(ring, ring[1:] + ring[:1], strict=True):
        area += ax * by - ay * bx
    return area >= 0


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
    way = np.roll(p, -1, axis=0) - p
    up = (way[:, 1] > 0.0) | ((way[:, 1] == 0.0) & (way[:, 0] > 0.0))
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
    way = np.roll(start, -1, axis=0) - start
    scale = np.abs(way).max(axis=1)
    way = way / scale[:, None]
    way /= np.sqrt((way * way).sum(axis=1))[:, None]
    u, w = p - start[lid], way[lid]
    depths = np.maximum(u[:, 1] * w[:, 0] - u[:, 0] * w[:, 1], 0.0)
    along = (u * w).sum(axis=1)
    ends = np.sqrt(((np.roll(start, -1, axis=0) - start) / scale[:, None]) ** 2 @ np.ones(2)) * scale
    following = np.append(along[1:], 0.0)
    lasts = np.cumsum(spans) - 1
    following[lasts] = ends
    back = float((along - following).max(initial=0.0))
    return np.roll(depths, int(corners[0])), back


def _distance_to_line(p: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return how far points (n, 2) are from the lines through a and b; from a where these are one point."""
    way, to = b - a, p - a
    largest = np.abs(way).max(axis=1, initial=0.0)[:, None]
    way = way / np.where(largest > 0.0, largest, 1.0)
    length = np.sqrt((way * way).sum(axis=1))
    across = np.abs(way[:, 0] * to[:, 1] - way[:, 1] * to[:, 0]) / np.where(length > 0.0, length, 1.0)
    return np.where(length > 0.0, across, np.hypot(to[:, 0], to[:, 1]))


def _refuse_crossings(points: FloatArray, whole: WholePoints, loop: IntArray, turns: NDArray[np.int8]) -> None:
    """Raise ValueError when sides of the loop meet anywhere but at the corner between them."""
    n = len(loop)
    ends = np.roll(loop, -1)
    p = points[loop]
    way, onward = p - np.roll(p, 1, axis=0), np.roll(p, -1, axis=0) - p
    back = np.flatnonzero((turns == 0) & ((np.sign(way) * np.sign(onward)).sum(axis=1) < 0))
    found = [((k - 1) % n, k, "runs back over") for k in back.tolist()]
    q = points[ends]
    pairs = candidate_pairs(np.minimum(p, q), np.maximum(p, q)).pairs
    apart = (pairs[:, 1] - pairs[:, 0]) % n
    pairs = pairs[(apart != 1) & (apart != n - 1)]
    for begin in range(0, len(pairs), _CHUNK):
        i, j = pairs[begin : begin + _CHUNK].T
        a, b, c, d = loop[i], ends[i], loop[j], ends[j]
        beside = whole.turns(a, b, c) * whole.turns(a, b, d) <= 0
        i, j, a, b, c, d = i[beside], j[beside], a[beside], b[beside], c[beside], d[beside]
        one, other = whole.turns(c, d, a), whole.turns(c, d, b)
        meet = np.flatnonzero(one * other <= 0)
        for k in meet.tolist():
            touch = bool(
                one[k] * other[k] == 0
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


def mesh_convexity(points: ArrayLike, triangles: ArrayLike, tolerance: float = 0.0) -> MeshConvexity:
    """Return whether a mesh bounds a convex solid, and the edges at which it is dented.

    points (n, 3), world frame; triangles (m, 3) indices into them, wound outward or all inward. `tolerance`: dents up
    to this share of the bounding box's diagonal are none; rounding (CONVEX_FLAT EPS M) never is one. Source: S1.1.

    Raises ValueError, naming the argument, when one is not such an array, when an index has no point, or when the
    tolerance is negative.
    """
    array, corners = checked_mesh(points, triangles)
    tolerance = as_length("tolerance", tolerance)
    used, inverse = np.unique(corners, return_inverse=True)
    array, corners = array[used], inverse.reshape(-1, 3).astype(np.intp)
    hull = ConvexHull(array)
    dent = deepest_dent(hull, hull.vertex_ids, array, corners)
    depth, point = dent.depth, dent.point
    rounding = CONVEX_FLAT * EPS * hull.magnitude
    least = max(rounding, tolerance * hull.extent)
    edges, bends = np.empty((0, 2), dtype=np.intp), np.empty(0)
    reason = ""
    if hull.rank < 3:
        if depth > least:
            reason = f"the mesh is flat and its outline is dented {depth:.3g} deep"
        elif hull.rank == 2 and dent.open_share > max(CONVEX_COVERED, tolerance):
            reason = f"the mesh is flat and leaves {dent.open_share:.3g} of its hull open"
    else:
        edges, bends = dented_edges(array, corners, least)
        if not depth and len(edges):  # too shallow to be looked for; edges tell where it is
            depth, point = _depth_at_edges(hull, array, edges[:_CHUNK])
        share = abs(signed_volume(array - hull.center, corners)) / hull.volume
        if depth > least:
            reason = f"the surface is dented {depth:.3g} deep"
        elif not dent.closed:
            reason = "the mesh is not closed: not every edge is used once in each direction"
        elif abs(share - 1.0) > max(CONVEX_COVERED, 2.0 * least * hull.area / hull.volume):
            reason = f"the mesh encloses {share:.6g} times the volume of its hull"
    if not reason:
        edges, bends = edges[:0], bends[:0]
    numbers: IntArray = used.astype(np.intp)[edges].reshape(-1, 2)
    return MeshConvexity(
        not reason, dent.closed, read_only(numbers), read_only(bends), depth if depth > rounding else 0.0, point, reason
    )


def _depth_at_edges(hull: ConvexHull, points: FloatArray, edges: IntArray) -> tuple[float, FloatArray]:
    """Return the deepest of the middles of edges under the surface of the hull, and where it is."""
    middles = 0.5 * points[edges[:, 0]] + 0.5 * points[edges[:, 1]]
    depths = np.full(len(edges), np.inf)
    step = max(1, PRODUCTS // len(edges))
    for begin in range(0, len(hull.normals), step):
        some = slice(begin, begin + step)
        under = hull.offsets[some] - (middles - hull.center) @ hull.normals[some].T
        np.minimum(depths, under.min(axis=1), out=depths)
    deepest = int(depths.argmax())
    return float(depths[deepest]), middles[deepest]


def is_balanced(triangles: IntArray) -> bool:
    """Return whether every edge is used as often in one direction as in the other: the triangles then enclose what
    they enclose, also where more than two meet in an edge."""
    count = int(triangles.max()) + 1
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    return np.array_equal(np.sort(start * count + end), np.sort(end * count + start))


def inner_edges(triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Return the edges (k, 2) that exactly two triangles use, in opposite directions, and (k, 2) these triangles: the
    first has the edge as it is given."""
    count = int(triangles.max()) + 1
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    face = np.repeat(np.arange(len(triangles)), 3)
    keys = np.minimum(start, end) * count + np.maximum(start, end)
    order = np.argsort(keys, kind="stable")
    _, first, uses = np.unique(keys[order], return_index=True, return_counts=True)
    i, j = order[first[uses == 2]], order[first[uses == 2] + 1]
    fits = start[i] == end[j]
    i, j = i[fits], j[fits]
    return np.stack([start[i], end[i]], axis=1), np.stack([face[i], face[j]], axis=1)


def dented_edges(points: FloatArray, triangles: IntArray, least: float) -> tuple[IntArray, FloatArray]:
    """Return the edges at which the surface bends inward by more than `least`, the sharpest first, and the angles."""
    edges, faces = inner_edges(triangles)
    center = 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)
    size = float(np.abs(points - center).max())
    p = (points - center) / size
    outward = 1.0 if signed_volume(p, triangles) >= 0.0 else -1.0
    found, angles = [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for begin in range(0, len(edges), _CHUNK):
        edge, pair = edges[begin : begin + _CHUNK], faces[begin : begin + _CHUNK]
        a, b = p[edge[:, 0]], p[edge[:, 1]]
        c = p[triangles[pair[:, 0]].sum(axis=1) - edge.sum(axis=1)]
        d = p[triangles[pair[:, 1]].sum(axis=1) - edge.sum(axis=1)]
        along, u, v = b - a, c - a, d - a
        n, m = np.cross(along, u), np.cross(v, along)
        volume = (n * v).sum(axis=1) * outward
        # The thickness of four points: their volume over the largest of the faces and of the products of two edges.
        products = [n, m, np.cross(c - b, d - b), np.cross(u, v)]
        products += [np.cross(along, d - c), np.cross(u, d - b), np.cross(v, c - b)]
        largest = np.sqrt(np.max([(x * x).sum(axis=1) for x in products], axis=0))
        inward = volume > least / size * largest
        bend = np.arctan2(np.sqrt((along * along).sum(axis=1)) * np.abs(volume), (n * m).sum(axis=1))
        rows = np.flatnonzero(inward)
        found.append(rows + begin)
        angles.append(bend[rows])
    rows, bends = np.concatenate(found), np.concatenate(angles)
    order = np.argsort(-bends, kind="stable")
    return edges[rows[order]], bends[order]
