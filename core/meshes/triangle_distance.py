# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances of triangles to triangles, many pairs at a time, with the points where they are nearest.

The nearest points of two triangles that do not meet are on an edge of each, or at a corner of one and inside the other:
nine pairs of edges and six corners are measured. Each answer is then proved: the slab between two parallel planes that
part the triangles is a lower bound of their distance. Where that proof fails, for rounding or because the triangles
meet, whole numbers decide. Source: S3.4; C. Ericson, Real-Time Collision Detection, 2005, 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, ldexp

import numpy as np

from ..narrow_phase.exact import WholeVector, exact_cross, exact_difference, exact_dot
from ..runs import chunks
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray, read_only
from ..vectors import cross, dot
from .coordinates import whole_vectors

_TRIANGLE_ROUNDING = 32.0
"""Times EPS and the size of a pair of triangles: what a slab between them may be wrong by. Rounded differences of
corners, two dot products of three terms, a rounded unit vector."""
_TRIANGLE_LOOSE = 1e-12
"""Times the size of a pair of triangles: bounds of their distance that are farther apart are made anew in whole
numbers."""
_TRIANGLE_LOOSE_RELATIVE = 1e-10
"""Times the distance of two triangles: the same."""
_TRIANGLE_CROSSING = 16.0
"""Times EPS and the sum of the three products of lengths of a determinant: its sign is certain beyond. The terms'
corners are rounded by EPS of the pair's size, which is at most 1 there."""

_BATCH = 1024
"""Pairs measured in one go: the nine pairs of edges of all of them fit the cache."""

_CYCLE = np.array([1, 2, 0])

_Corners = list[WholeVector]
_Foot = tuple[int, int, tuple[int, int, int], int, tuple[int, int, int], int]
"""Square of a distance (numerator, denominator); weights of the corners of A and of B (numerators, denominator)."""


@dataclass(frozen=True, eq=False)
class TriangleDistances:
    """Distances of n pairs of triangles. World frame and units; the arrays are read-only."""

    distance: FloatArray
    """(n,) 0 exactly where the triangles have a common point."""
    lower_bound: FloatArray
    """(n,) proved: the true distance is at least this. The distance itself is the other bound, to rounding."""
    point_on_a: FloatArray
    """(n, 3) a point of each triangle of A nearest to that of B."""
    point_on_b: FloatArray
    """(n, 3) a point of each triangle of B nearest to that of A."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Distances of n pairs of triangles by floats, world units; all numbers are certain but `distance` is rounded."""

    distance: FloatArray
    """(n,) distance of the points found; 0 where the triangles certainly cross."""
    lower: FloatArray
    """(n,) proved lower bounds, 0 where nothing is proved."""
    enough: FloatArray
    """(n,) the distance, but for what it may be wrong by: others that are at least as far apart are no nearer."""
    weights_a: FloatArray
    """(3, n) weights of the corners of A at the point found."""
    weights_b: FloatArray
    """(3, n) the same of B."""
    open: BoolArray
    """(n,) whether the bounds are too far apart, or it is not even known whether the triangles meet."""


def triangle_distances(a: FloatArray, b: FloatArray) -> TriangleDistances:
    """Return, element by element, the distance of two triangles and where they are nearest; 0 where they meet.

    a, b: corners (n, 3, 3), world frame; triangles may be flat or a single point. n may be 0.

    Distances are right to 1e-9 of themselves and a few rounding errors of the largest coordinate; that triangles meet
    is decided exactly. Source: S3.4.
    """
    distance, lower = np.empty((2, len(a)))
    on_a, on_b = np.empty((2, len(a), 3))
    for part in chunks(len(a), _BATCH):
        rows_a, rows_b = rows_of(a[part]), rows_of(b[part])
        found = measured(rows_a, rows_b)
        distance[part], lower[part] = found.distance, found.lower
        on_a[part], on_b[part] = points_at(rows_a, found.weights_a), points_at(rows_b, found.weights_b)
        met = part.start + np.flatnonzero(found.distance == 0.0)
        on_b[met] = on_a[met]
        for k in (part.start + np.flatnonzero(found.open)).tolist():
            distance[k], lower[k], on_a[k], on_b[k] = distance_exactly(a[k], b[k])
    return TriangleDistances(read_only(distance), read_only(lower), read_only(on_a), read_only(on_b))


def rows_of(corners: FloatArray) -> FloatArray:
    """Return corners (n, 3, 3) as rows (corner, axis, n)."""
    return np.ascontiguousarray(corners.transpose(1, 2, 0))


def points_at(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the points (n, 3) with these weights (3, n) of the corners, rows (corner, axis, n)."""
    # From the first corner on: a mean of equal numbers is that number.
    result = rows[0] + (rows[1] - rows[0]) * weights[1] + (rows[2] - rows[0]) * weights[2]
    return np.ascontiguousarray(result.T)


def slabs(rows_a: FloatArray, rows_b: FloatArray, across_faces: bool = False) -> FloatArray:
    """Return (n,) lower bounds of the distances of pairs of triangles with corners in rows (corner, axis, n): how wide
    the slab is that parts them across the line between their middles, or across their faces, 0 where none does.

    A tenth of the work of `measured`. Of triangles that are small for how far they are apart, nearly the distance.
    """
    a, b, exponent = _near_origin(rows_a, rows_b)
    directions = (b.sum(axis=0) - a.sum(axis=0))[:, None]
    if across_faces:
        normals = (cross(p[1] - p[0], p[2] - p[0])[:, None] for p in (a, b))
        directions = np.concatenate([directions, *normals], axis=1)
    lower = _parted(a[:, :, None], b[:, :, None], directions).max(axis=0)
    lower -= _TRIANGLE_ROUNDING * EPS
    np.maximum(lower, 0.0, out=lower)
    return np.ldexp(lower, exponent)


def measured(rows_a: FloatArray, rows_b: FloatArray) -> Measured:
    """Return the distances by floats of pairs of triangles with corners in rows (corner, axis, n)."""
    a, b, exponent = _near_origin(rows_a, rows_b)
    edges_a, edges_b = a.take(_CYCLE, axis=0) - a, b.take(_CYCLE, axis=0) - b

    count = a.shape[2]
    squares = np.empty((15, count))
    p, q = nearest_on_edges(a, edges_a, b, edges_b, squares[:9].reshape(3, 3, -1))
    both = np.concatenate([a, b], axis=2), np.concatenate([edges_a, edges_b], axis=2)
    of_face = np.empty((3, 2 * count))
    feet = feet_on_faces(*both, np.concatenate([b, a], axis=2), of_face)
    squares[9:12], squares[12:] = of_face[:, :count], of_face[:, count:]
    best = squares.argmin(axis=0)

    weights = np.zeros((2, 3, count))
    weights_a, weights_b = weights
    direction = np.empty((3, 2, count))
    # Edge and edge: the planes that part them contain those edges on whose inside a nearest point is.
    k = np.flatnonzero(best < 9)
    i, j = best[k] // 3, best[k] % 3
    s, t = p[i, j, k], q[i, j, k]
    weights_a[i, k], weights_a[(i + 1) % 3, k] = 1.0 - s, s
    weights_b[j, k], weights_b[(j + 1) % 3, k] = 1.0 - t, t
    ends = np.stack([edges_a[i, :, k], edges_b[j, :, k]]).transpose(2, 0, 1)
    u, v = ends[:, 0], ends[:, 1]
    between = b[j, :, k].T - a[i, :, k].T + t * v - s * u
    inside_u, inside_v = (s > 0.0) & (s < 1.0), (t > 0.0) & (t < 1.0)
    along = np.where(inside_u & inside_v, cross(u, v), between)
    across = _across(between[:, None], ends)
    along = np.where(inside_u & ~inside_v, across[:, 0], along)
    direction[:, 0, k] = np.where(inside_v & ~inside_u, across[:, 1], along)
    # Corner and face.
    k = np.flatnonzero(best >= 9)
    if len(k):
        of, i = np.divmod(best[k] - 9, 3)
        column = of * count + k
        second, third = (foot[i, column] for foot in feet)
        weights[of, 0, k], weights[of, 1, k], weights[of, 2, k] = 1.0 - second - third, second, third
        weights[1 - of, i, k] = 1.0
        direction[:, 0, k] = cross(*both[1][:2].take(column, axis=2))
    distance = np.sqrt(squares.min(axis=0))
    direction[:, 1] = (b * weights_b[:, None]).sum(axis=0) - (a * weights_a[:, None]).sum(axis=0)
    lower = _parted(a[:, :, None], b[:, :, None], direction).max(axis=0)
    lower -= _TRIANGLE_ROUNDING * EPS
    np.clip(lower, 0.0, distance, out=lower)
    enough = (1.0 - _TRIANGLE_LOOSE_RELATIVE) * distance - _TRIANGLE_LOOSE
    loose = (lower < enough) | (lower == 0.0)
    maybe = np.flatnonzero(lower == 0.0)
    if len(maybe):
        _cross_certainly(a, b, maybe, distance, weights_a, weights_b, loose)
    distance, lower, enough = np.ldexp([distance, lower, enough], exponent)
    return Measured(distance, lower, enough, weights_a, weights_b, loose)


def _near_origin(rows_a: FloatArray, rows_b: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return every pair around a corner of its own, and no larger than 1 once scaled by 2**-exponent, and these
    exponents (n,): nothing made of them overflows or vanishes."""
    a, b = rows_a - rows_a[0], rows_b - rows_a[0]
    size = np.maximum(np.abs(a).max(axis=(0, 1)), np.abs(b).max(axis=(0, 1)))
    exponent = np.frexp(size)[1]
    return np.ldexp(a, -exponent), np.ldexp(b, -exponent), exponent


def nearest_on_edges(
    a: FloatArray, edges_a: FloatArray, b: FloatArray, edges_b: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Put the squares (3, 3, n) of the distances of edge i of A from edge j of B; return where on each, 0 to 1."""
    u, v = edges_a.transpose(1, 0, 2)[:, :, None], edges_b.transpose(1, 0, 2)[:, None]
    r = b.transpose(1, 0, 2)[:, None] - a.transpose(1, 0, 2)[:, :, None]
    # By the product of both edges and not by the determinant of their scalar products: that has lost all digits where
    # the sine between them is that of sqrt(EPS), this where it is EPS and any point of an edge does.
    nx, ny, nz = cross(u, v)
    rx, ry, rz = cross(r, v)
    square = nx * nx + ny * ny + nz * nz
    s = rx * nx + ry * ny + rz * nz
    s = np.divide(s, square, out=np.zeros_like(s), where=square > 0.0)
    np.clip(s, 0.0, 1.0, out=s)
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    ru, rv = dot(r, u), dot(r, v)
    t = s * uv
    t -= rv
    t = np.divide(t, vv, out=np.zeros_like(t), where=vv > 0.0)
    np.clip(t, 0.0, 1.0, out=t)
    s = t * uv
    s += ru
    s = np.divide(s, uu, out=np.zeros_like(s), where=uu > 0.0)
    np.clip(s, 0.0, 1.0, out=s)
    for axis in range(3):
        part = r[axis] + t * v[axis]
        part -= s * u[axis]
        part *= part
        if axis:
            squares += part
        else:
            squares[:] = part
    return s, t


def feet_on_faces(
    rows: FloatArray, edges: FloatArray, points: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Put the squares (3, n) of the distances of points from the inside of a triangle, inf where the foot is outside.

    Return the foot's weights (3, n) of the second corner and of the third.
    """
    e1, e2 = edges[0], -edges[2]
    normal = cross(edges[0], edges[1])
    square = dot(normal, normal)
    flat = square == 0.0
    square[flat] = 1.0
    to_second, to_third = cross(e2, normal) / square, cross(normal, e1) / square
    w = (points - rows[0]).transpose(1, 0, 2)
    second, third = dot(w, to_second[:, None]), dot(w, to_third[:, None])
    # Once more from there: in thin triangles the first foot is off by far more than a rounding error.
    w = w - second * e1[:, None] - third * e2[:, None]
    more, less = dot(w, to_second[:, None]), dot(w, to_third[:, None])
    second += more
    third += less
    w -= more * e1[:, None] + less * e2[:, None]
    squares[:] = dot(w, w)
    squares[(second < 0.0) | (third < 0.0) | (second + third > 1.0) | flat] = np.inf
    return second, third


def _parted(a: FloatArray, b: FloatArray, direction: FloatArray) -> FloatArray:
    """Return how wide the slab across a direction (3, n) is that parts triangles; 0 where it does not."""
    length = np.sqrt(dot(direction, direction))
    # Very short ones are no direction; scaling makes all others unit vectors to rounding.
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 1e-140)
    x, y, z = direction * scale
    along_a = a[:, 0] * x + a[:, 1] * y + a[:, 2] * z
    along_b = b[:, 0] * x + b[:, 1] * y + b[:, 2] * z
    gap = np.maximum(along_b.min(axis=0) - along_a.max(axis=0), along_a.min(axis=0) - along_b.max(axis=0))
    return np.maximum(gap, 0.0)


def _cross_certainly(
    a: FloatArray,
    b: FloatArray,
    chosen: IntArray,
    distance: FloatArray,
    weights_a: FloatArray,
    weights_b: FloatArray,
    loose: BoolArray,
) -> None:
    """Note which of the chosen pairs cross for certain: an edge of one passes through the inside of the other."""
    a, b = a.take(chosen, axis=2), b.take(chosen, axis=2)
    edges_a, edges_b = a.take(_CYCLE, axis=0) - a, b.take(_CYCLE, axis=0) - b
    length_a, length_b = np.abs(edges_a).sum(axis=1), np.abs(edges_b).sum(axis=1)
    around = np.empty((3, 3, len(chosen)))
    for i in range(3):
        for j in range(3):
            r = b[j] - a[i]
            turn = dot(cross(edges_a[i], edges_b[j]), r)
            reach = np.abs(r).sum(axis=0)
            wrong = length_a[i] * length_b[j] + reach * (length_a[i] + length_b[j])
            around[i, j] = _certain(turn, wrong)
    for rows, edges, length, others, turns, of_edge, of_face in (
        (b, edges_b, length_b, a, around, weights_a, weights_b),
        (a, edges_a, length_a, b, around.transpose(1, 0, 2), weights_b, weights_a),
    ):
        normal = cross(edges[0], edges[1])
        w = others - rows[0]
        height = (w * normal).sum(axis=1)
        reach = np.abs(w).sum(axis=1)
        side = _certain(height, length[0] * length[1] + reach * (length[0] + length[1]))
        for i in range(3):
            after = (i + 1) % 3
            same = (turns[i, 0] == turns[i, 1]) & (turns[i, 1] == turns[i, 2]) & (turns[i, 0] != 0.0)
            k = np.flatnonzero(same & (side[i] * side[after] < 0.0))
            if not len(k):
                continue
            indices = chosen[k]
            t = height[i, k] / (height[i, k] - height[after, k])
            of_edge[:, indices], of_face[:, indices] = 0.0, 1.0 / 3.0
            of_edge[i, indices], of_edge[after, indices] = 1.0 - t, t
            point = others[i].take(k, axis=1) * (1.0 - t) + others[after].take(k, axis=1) * t
            own = normal.take(k, axis=1)
            square = dot(own, own)
            from_first = point - rows[0].take(k, axis=1)
            of_face[1, indices] = dot(cross(from_first, -edges[2].take(k, axis=1)), own) / square
            of_face[2, indices] = dot(cross(edges[0].take(k, axis=1), from_first), own) / square
            of_face[0, indices] = 1.0 - of_face[1, indices] - of_face[2, indices]
            distance[indices], loose[indices] = 0.0, False


def _certain(value: FloatArray, scale: FloatArray) -> FloatArray:
    """Return the sign of sums of products of three lengths, 0 where rounding may have turned it."""
    result: FloatArray = np.sign(value)
    result[np.abs(value) <= _TRIANGLE_CROSSING * EPS * scale] = 0.0
    return result


def _across(w: FloatArray, u: FloatArray) -> FloatArray:
    """Return what is left of w across u, vectors in rows (3, n)."""
    square = dot(u, u)
    fraction = np.divide(dot(w, u), square, out=np.zeros_like(square), where=square > 0.0)
    return w - fraction * u


# ---------------------------------------------------------------------------------------------------------------------
# Whole numbers


def distance_exactly(a: FloatArray, b: FloatArray) -> tuple[float, float, list[float], list[float]]:
    """Return distance, lower bound and nearest points of two triangles (3, 3), each correctly rounded."""
    corners, shift = whole_vectors(np.concatenate([a, b]))
    p, q = corners[:3], corners[3:]
    number, denominator, of_a, under_a, of_b, under_b = _nearest_exactly(p, q)
    on_a, on_b = (
        [sum(w * corner[axis] for w, corner in zip(of, corners, strict=True)) / (under << shift) for axis in range(3)]
        for corners, of, under in ((p, of_a, under_a), (q, of_b, under_b))
    )
    if number == 0:
        return 0.0, 0.0, on_a, on_a
    finer = max(0, 64 - (number.bit_length() - denominator.bit_length()) // 2)
    root = isqrt((number << 2 * finer) // denominator)
    extra = max(0, root.bit_length() - 64)
    distance = ldexp(root >> extra, extra - finer - shift)
    return distance, distance * (1.0 - 4.0 * EPS), on_a, on_b


def _nearest_exactly(a: _Corners, b: _Corners) -> _Foot:
    """Return the square of the distance of two triangles, and the weights of the corners where it is."""
    best: _Foot | None = None
    for p, q, swapped in ((a, b, False), (b, a, True)):
        for i in range(3):
            passing = _passing(p, i, q)
            if passing is not None:
                return _swapped(passing) if swapped else passing
    for i in range(3):
        for j in range(3):
            best = _nearer(best, _edges_exactly(a, i, b, j))
    for i in range(3):
        for foot, swapped in ((_face_exactly(a, b, i), False), (_face_exactly(b, a, i), True)):
            if foot is not None:
                best = _nearer(best, _swapped(foot) if swapped else foot)
    assert best is not None  # edges always have a nearest point
    return best


def _nearer(best: _Foot | None, foot: _Foot) -> _Foot:
    return foot if best is None or foot[0] * best[1] < best[0] * foot[1] else best


def _swapped(foot: _Foot) -> _Foot:
    number, denominator, of_a, under_a, of_b, under_b = foot
    return number, denominator, of_b, under_b, of_a, under_a


def _passing(a: _Corners, i: int, b: _Corners) -> _Foot | None:
    """Return where edge i of A passes from one side of B to the other through its inside; None when it does not."""
    p, q = a[i], a[(i + 1) % 3]
    normal = exact_cross(exact_difference(b[1], b[0]), exact_difference(b[2], b[0]))
    before, after = exact_dot(normal, exact_difference(p, b[0])), exact_dot(normal, exact_difference(q, b[0]))
    if not (before < 0 < after or after < 0 < before):
        return None
    along = exact_difference(q, p)
    corners = [exact_difference(corner, p) for corner in b]
    # Six times the volumes of the tetrahedra of the edge and each side of B.
    parts = [exact_dot(along, exact_cross(corners[(k + 1) % 3], corners[(k + 2) % 3])) for k in range(3)]
    if not (min(parts) > 0 or max(parts) < 0):
        return None
    total, height = sum(parts), before - after
    if total < 0:
        parts, total = [-x for x in parts], -total
    if height < 0:
        before, height = -before, -height
    weights = [0, 0, 0]
    weights[i], weights[(i + 1) % 3] = height - before, before
    return 0, 1, (weights[0], weights[1], weights[2]), height, (parts[0], parts[1], parts[2]), total


def _edges_exactly(a: _Corners, i: int, b: _Corners, j: int) -> _Foot:
    """Return where edge i of A and edge j of B are nearest."""
    u, v, r = (
        exact_difference(a[(i + 1) % 3], a[i]),
        exact_difference(b[(j + 1) % 3], b[j]),
        exact_difference(b[j], a[i]),
    )
    uu, vv, uv, ru, rv = exact_dot(u, u), exact_dot(v, v), exact_dot(u, v), exact_dot(r, u), exact_dot(r, v)
    s, s_under = _clamped(ru * vv - rv * uv, uu * vv - uv * uv)
    t, t_under = _clamped(s * uv - rv * s_under, vv * s_under)
    s, s_under = _clamped(t * uv + ru * t_under, uu * t_under)
    under = s_under * t_under
    between = [x * under + y * t * s_under - z * s * t_under for x, y, z in zip(r, v, u, strict=True)]
    of_a, of_b = [0, 0, 0], [0, 0, 0]
    of_a[i], of_a[(i + 1) % 3] = s_under - s, s
    of_b[j], of_b[(j + 1) % 3] = t_under - t, t
    square = sum(x * x for x in between)
    return square, under * under, (of_a[0], of_a[1], of_a[2]), s_under, (of_b[0], of_b[1], of_b[2]), t_under


def _clamped(number: int, denominator: int) -> tuple[int, int]:
    """Return a fraction between 0 and 1; 0 when it has no denominator."""
    if denominator <= 0 or number <= 0:
        return 0, 1
    return (1, 1) if number >= denominator else (number, denominator)


def _face_exactly(a: _Corners, b: _Corners, j: int) -> _Foot | None:
    """Return the foot of corner j of B on the triangle A; None when it is outside or the triangle is flat."""
    e1, e2, w = exact_difference(a[1], a[0]), exact_difference(a[2], a[0]), exact_difference(b[j], a[0])
    normal = exact_cross(e1, e2)
    square = exact_dot(normal, normal)
    if square == 0:
        return None
    second, third = exact_dot(normal, exact_cross(w, e2)), exact_dot(normal, exact_cross(e1, w))
    if second < 0 or third < 0 or second + third > square:
        return None
    height = exact_dot(w, normal)
    corner = (int(j == 0), int(j == 1), int(j == 2))
    return height * height, square, (square - second - third, second, third), square, corner, 1
