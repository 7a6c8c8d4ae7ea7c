# SPDX-License-Identifier: GPL-3.0-or-later
"""Four independent answers to "how far apart, or how deep": none of them shares code with `contact_lens.core`.

============== =============================================== ===============================================
oracle         method                                          valid
============== =============================================== ===============================================
`exact`        integers: Wolfe's nearest point, then a hull of every finite input of any rank, in the plane and
               A - B grown around the origin until its         in space; the only cost is time (about 5 ms for
               nearest facet is a facet of A - B               boxes, 50 ms for 40 vertices)
`sat`          every face normal and every edge pair, no       sign always; value when the shapes overlap
               pruning, in float                               (apart it is only a lower bound)
`minkowski`    Qhull's hull of A - B, nearest facet of it      overlapping only; rank 3 (or 2), aspect up to 1e4
`nearest`      non-negative least squares, active set polished apart only (None when they overlap)
============== =============================================== ===============================================

All take vertex arrays (n, dim) and mean the signed distance of the convex hulls: max over unit n of
min n.b - max n.a. The float ones first move the origin to the middle of the pair and scale its size to one.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, count
from math import gcd, isqrt, lcm

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull as Qhull
from scipy.spatial import QhullError

EPS = 2.0**-52
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


@dataclass(frozen=True)
class Answer:
    """Signed distance and the unit normal from A to B that realises it."""

    signed_distance: float
    normal: np.ndarray
    exact: Fraction | None = None
    """The signed distance to about 2**-100 of its own size, from `exact` only."""


def tolerance(a, b, signed_distance) -> float:
    """The one tolerance formula of the engine: 1e-9 |sd| + 1e-10 L + 64 eps M."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return 1e-9 * abs(float(signed_distance)) + sign_tolerance(a, b)


def sign_tolerance(a, b) -> float:
    """How near to touching the sign is allowed to be wrong: 1e-10 L + 64 eps M."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    small = min(float(np.linalg.norm(np.ptp(points, axis=0))) for points in (a, b))
    return 1e-10 * small + 64 * EPS * max(float(np.abs(a).max()), float(np.abs(b).max()))


def gap_along(a, b, normal) -> float:
    """min n.b - max n.a for a unit n: a lower bound of the signed distance whatever n is."""
    a, b, normal = np.asarray(a, float), np.asarray(b, float), np.asarray(normal, float)
    middle = a[0]
    return float(((b - middle) @ normal).min() - ((a - middle) @ normal).max())


# ---------------------------------------------------------------------------------------------------------------------
# Exact


def exact(a, b) -> Answer:
    """Signed distance in integer arithmetic: coordinates are dyadic rationals, so one power of two makes them whole."""
    dim = np.shape(a)[1]
    a, b, shift = _as_integers(a, b)
    nearest = _exact_nearest(a, b)
    if any(nearest):
        distance = root(dot(nearest, nearest), 1) / (1 << shift)
        return Answer(float(distance), as_unit([-x for x in nearest])[:dim], distance)
    points = _spanning_points(a, b)
    if len(points) < 4:
        normal, offset = _across(points), 0
    else:
        normal, offset = _exact_facet_plane(a, b, points)
    depth = root(offset * offset, dot(normal, normal)) / (1 << shift)
    return Answer(0.0 - float(depth), as_unit(normal)[:dim], -depth)


def exact_distance_to_point(points, point) -> float:
    """Distance of a point from the convex hull of points, exact before the last rounding."""
    a, b, shift = _as_integers(points, [point])
    nearest = _exact_nearest(a, b)
    return float(root(dot(nearest, nearest), 1) / (1 << shift))


def _as_integers(a, b) -> tuple[list, list, int]:
    """Both point sets times one power of two, duplicates dropped; and the power.

    Polygons of the plane become prisms so long that their nearest or deepest direction is within the plane.
    """
    rows = [np.unique(np.asarray(points, dtype=np.float64) + 0.0, axis=0) for points in (a, b)]
    ratios = [[[float(x).as_integer_ratio() for x in row] for row in points] for points in rows]
    shift = max(d.bit_length() - 1 for points in ratios for row in points for _, d in row)
    whole = [[tuple(n << (shift - d.bit_length() + 1) for n, d in row) for row in points] for points in ratios]
    if rows[0].shape[1] == 2:
        far = 4 * max(abs(x) for points in whole for row in points for x in row)
        whole = [[(*row, z) for row in points for z in {-far, far}] for points in whole]
    return whole[0], whole[1], shift


def root(numerator, denominator) -> Fraction:
    """Square root of numerator / denominator to at least 100 bits."""
    value = Fraction(numerator, denominator)
    extra = max(0, 208 - value.numerator.bit_length() + value.denominator.bit_length())
    extra += extra % 2
    return Fraction(isqrt((value.numerator << extra) // value.denominator), 1 << (extra // 2))


def as_unit(vector) -> np.ndarray:
    size = max(abs(x) for x in vector)
    scaled = np.array([float(Fraction(x) / Fraction(size)) for x in vector])
    return scaled / np.linalg.norm(scaled)


def dot(p, q):
    return sum(x * y for x, y in zip(p, q, strict=True))


def minus(p, q):
    return tuple(x - y for x, y in zip(p, q, strict=True))


def cross(p, q):
    return [p[k - 2] * q[k - 1] - p[k - 1] * q[k - 2] for k in range(3)]


def _farthest(a, b, d):
    """The point of A - B farthest along d, and how far."""
    x, y, z = d
    high, p = max((x * q[0] + y * q[1] + z * q[2], q) for q in a)
    low, r = min((x * q[0] + y * q[1] + z * q[2], q) for q in b)
    return minus(p, r), high - low


def _determinant(rows):
    if len(rows) == 3:
        return dot(rows[0], cross(rows[1], rows[2]))
    return rows[0][0] if len(rows) == 1 else rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]


def _solve(matrix, right):
    """Rational solution of a regular symmetric system of one to three equations with whole numbers (Cramer's rule)."""
    whole = _determinant(matrix)
    return [Fraction(_determinant([*matrix[:k], right, *matrix[k + 1 :]]), whole) for k in range(len(right))]


def _affine_weights(points):
    """Barycentric weights of the point of the affine hull nearest to the origin."""
    first, rest = points[0], points[1:]
    if not rest:
        return [Fraction(1)]
    edges = [minus(p, first) for p in rest]
    weights = _solve([[dot(e, f) for f in edges] for e in edges], [-dot(e, first) for e in edges])
    return [1 - sum(weights), *weights]


def _exact_nearest(a, b):
    """Point of conv(A - B) nearest to the origin (Wolfe 1976), exact; zero when the shapes have a common point."""
    points = [minus(a[0], b[0])]
    weights = [Fraction(1)]
    x = tuple(Fraction(c) for c in points[0])
    while any(x):
        scale = lcm(*(c.denominator for c in x))
        direction = tuple(-int(c * scale) for c in x)
        w, reach = _farthest(a, b, direction)
        if reach <= dot(direction, x):
            return x
        points.append(w)
        weights.append(Fraction(0))
        while True:
            target = _affine_weights(points)
            if all(t > 0 for t in target):
                weights = target
                break
            step = min(u / (u - t) for u, t in zip(weights, target, strict=True) if t <= 0 and u - t > 0)
            mixed = [u + step * (t - u) for u, t in zip(weights, target, strict=True)]
            kept = [i for i, m in enumerate(mixed) if m > 0]
            points, weights = [points[i] for i in kept], [mixed[i] for i in kept]
        x = tuple(sum(t * p[i] for t, p in zip(weights, points, strict=True)) for i in range(len(x)))
    return x


def _spanning_points(a, b):
    """Up to 4 affinely independent points of A - B: as many as its rank plus one."""
    points = [_farthest(a, b, (1, 0, 0))[0]]
    while len(points) < 4:
        edges = [minus(p, points[0]) for p in points[1:]]
        if len(edges) == 2:
            directions = [cross(*edges)]
        else:
            directions = [cross(edges[0], axis) for axis in AXES] if edges else AXES
        for d in directions:
            level = dot(d, points[0])
            (w, high), (v, low) = _farthest(a, b, d), _farthest(a, b, [-x for x in d])
            if high != level or low != -level:
                points.append(w if high != level else v)
                break
        else:
            return points
    return points


def _across(points):
    """A direction across a flat A - B, given the points that span it."""
    edges = [minus(p, points[0]) for p in points[1:]]
    if len(edges) == 2:
        return cross(*edges)
    return next(d for d in (cross(edges[0], axis) for axis in AXES) if any(d)) if edges else AXES[0]


def _exact_facet_plane(a, b, points):
    """(normal, offset) of the facet of A - B nearest to the origin, which is inside; `points`: 4 that span A - B.

    Grows a polytope inside A - B at its facet nearest to the origin. All tests are exact, so the facet at which it
    stops is a facet of A - B and no other is nearer.
    """
    faces: dict[int, tuple] = {}
    edges: dict[tuple[int, int], int] = {}
    heap: list[tuple[int, int]] = []

    def add(i, j, k):
        p = points[i]
        normal = cross(minus(points[j], p), minus(points[k], p))
        offset = dot(normal, p)
        common = gcd(*normal, offset)
        if common > 1:
            normal, offset = [c // common for c in normal], offset // common
        level = isqrt((offset * offset << 128) // dot(normal, normal))
        name = next(names)
        faces[name] = (i, j, k, normal, offset)
        edges[i, j] = edges[j, k] = edges[k, i] = name
        heapq.heappush(heap, (level if offset >= 0 else -level, name))

    names = count()
    u, v, w = (minus(p, points[0]) for p in points[1:])
    if dot(cross(u, v), w) > 0:
        points[1], points[2] = points[2], points[1]
    for face in ((0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)):
        add(*face)
    while True:
        _, name = heapq.heappop(heap)
        if name not in faces:
            continue
        *_, normal, offset = faces[name]
        w, reach = _farthest(a, b, normal)
        if reach == offset:
            return normal, offset
        new = len(points)
        points.append(w)
        stack, gone, horizon = [name], {name}, []
        while stack:
            i, j, k, *_ = faces[stack.pop()]
            for p, q in ((i, j), (j, k), (k, i)):
                beyond = edges[q, p]
                if beyond in gone:
                    continue
                if dot(faces[beyond][3], w) > faces[beyond][4]:
                    gone.add(beyond)
                    stack.append(beyond)
                else:
                    horizon.append((p, q))
        # An edge met before its other face was known to be visible is inside the hole after all.
        horizon = [(p, q) for p, q in horizon if edges[q, p] not in gone]
        for old in gone:
            del faces[old]
        for p, q in horizon:
            add(p, q, new)


# ---------------------------------------------------------------------------------------------------------------------
# Float


def _normalised(a, b):
    """Both shapes about the middle of the smaller one, the larger extent one; and the scale."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    small = a if np.linalg.norm(np.ptp(a, axis=0)) <= np.linalg.norm(np.ptp(b, axis=0)) else b
    middle = 0.5 * small.min(axis=0) + 0.5 * small.max(axis=0)
    a, b = a - middle, b - middle
    scale = max(float(np.abs(a).max()), float(np.abs(b).max())) or 1.0
    return a / scale, b / scale, scale


def hull_parts(points):
    """(corners (n, 3), triangles (t, 3), edges (m, 2)) of points in space of any rank: a superset of the true parts."""
    points = np.unique(np.asarray(points, float), axis=0)
    n = len(points)
    if n <= 12:
        triples, pairs = (np.array(list(combinations(range(n), k)), dtype=int).reshape(-1, k) for k in (3, 2))
        return points, triples, pairs
    offsets = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(offsets, full_matrices=False)
    if sizes[2] > 1e-9 * sizes[0]:
        with suppress(QhullError):
            keep, corners = np.unique(Qhull(points).simplices, return_inverse=True)
            triangles = corners.reshape(-1, 3)
            sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
            return points[keep], triangles, np.unique(sides, axis=0)
    if sizes[1] > 1e-9 * sizes[0]:
        loop = Qhull(offsets @ axes[:2].T).vertices
        k = np.arange(len(loop))
        fan = np.column_stack([np.zeros(len(k), int), k, np.roll(k, -1)])[1:-1]
        return points[loop], fan, np.column_stack([k, np.roll(k, -1)])
    return _ends(points, axes[0]), np.zeros((0, 3), int), np.array([[0, 1]])


def _ends(points, axis):
    along = points @ axis
    return points[[along.argmin(), along.argmax()]]


def _reduce(a, b):
    """Corners only, for the oracles that form all differences."""
    if a.shape[1] == 3:
        return hull_parts(a)[0], hull_parts(b)[0]
    return _polygon(a), _polygon(b)


def _polygon(points):
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points
    try:
        return points[Qhull(points).vertices]
    except QhullError:
        return _ends(points, np.linalg.svd(points - points.mean(axis=0))[2][0])


def sat(a, b) -> Answer:
    """Exhaustive separating axes: valid sign, and the depth when the shapes overlap; apart a lower bound."""
    axes, gaps = sat_axes(a, b)
    best = int(gaps.argmax())
    return Answer(float(gaps[best]), axes[best])


def sat_axes(a, b) -> tuple[np.ndarray, np.ndarray]:
    """Every candidate axis (k, dim), in both directions, and min n.b - max n.a along each (k,)."""
    a, b, scale = _normalised(a, b)
    if a.shape[1] == 2:
        a, b = _polygon(a), _polygon(b)
        sides = np.concatenate([np.roll(loop, -1, axis=0) - loop for loop in (a, b)])
        axes = np.concatenate([sides[:, ::-1] * [1, -1], sides, (a[0] - b[0])[None]])
    else:
        (a, faces_a, edges_a), (b, faces_b, edges_b) = hull_parts(a), hull_parts(b)
        sides_a, sides_b = (p[edges[:, 1]] - p[edges[:, 0]] for p, edges in ((a, edges_a), (b, edges_b)))
        across = np.cross(sides_a[:, None], sides_b[None]).reshape(-1, 3)
        parts = [_triangle_normals(a[faces_a]), _triangle_normals(b[faces_b]), across]
        flat_a, flat_b = _flat_normal(a), _flat_normal(b)
        between = (a.mean(axis=0) - b.mean(axis=0))[None]
        # Flat shapes in one plane, or along one line, are separated by axes within it.
        for flat in (flat_a, flat_b):
            if flat is not None:
                parts += [np.cross(sides_a, flat), np.cross(sides_b, flat), flat[None]]
        if flat_a is not None or flat_b is not None:
            parts += [sides_a, sides_b, between]
            parts += [np.cross(s, np.cross(s, (a[0] - b[0])[None])) for s in (sides_a, sides_b)]
        axes = np.concatenate(parts)
    lengths = np.linalg.norm(axes, axis=1)
    axes = axes[lengths > 1e-18] / lengths[lengths > 1e-18, None]
    if not len(axes):
        axes = np.eye(a.shape[1])
    axes = np.concatenate([axes, -axes])
    gaps = np.empty(len(axes))
    for k in range(0, len(axes), 20_000):
        part = axes[k : k + 20_000]
        gaps[k : k + 20_000] = (part @ b.T).min(axis=1) - (part @ a.T).max(axis=1)
    return axes, gaps * scale


def _flat_normal(points):
    """Unit normal of a polygon, a direction across a segment or a point; None for a solid."""
    offsets = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(np.concatenate([offsets, np.zeros((3, 3))]), full_matrices=False)
    return axes[2] if sizes[2] <= 1e-7 * sizes[0] else None


def minkowski(a, b) -> Answer | None:
    """Depth of the origin in Qhull's hull of A - B; None when it is outside, or A - B is flat or too thin for Qhull."""
    a, b, scale = _normalised(a, b)
    a, b = _reduce(a, b)
    dim = a.shape[1]
    difference = (a[:, None] - b[None]).reshape(-1, dim)
    sizes = np.linalg.svd(difference - difference.mean(axis=0), compute_uv=False)
    if len(difference) <= dim or sizes[-1] < 1e-5 * sizes[0]:
        return None
    try:
        hull = Qhull(difference)
    except QhullError:
        return None
    if hull.equations[:, -1].max() > 0:
        return None
    # Qhull's merged planes are only as flat as their members: measure along the few best normals again.
    best = np.argsort(hull.equations[:, -1])[::-1][:64]
    normals = hull.equations[best, :-1]
    corners = difference[hull.simplices[best]]
    polished = _triangle_normals(corners) if dim == 3 else (corners[:, 1] - corners[:, 0])[:, ::-1] * [1, -1]
    lengths = np.linalg.norm(polished, axis=1)
    polished = polished[lengths > 1e-18] / lengths[lengths > 1e-18, None]
    normals = np.concatenate([normals, polished * np.sign((polished * normals[lengths > 1e-18]).sum(axis=1))[:, None]])
    gaps = -(difference @ normals.T).max(axis=0)
    k = int(gaps.argmax())
    return Answer(float(gaps[k]) * scale, normals[k])


def _triangle_normals(corners):
    """Normals of triangles (n, 3, 3), each from its two shorter sides: the most exact product."""
    sides = corners[:, [1, 2, 0]] - corners
    longest = (sides**2).sum(axis=2).argmax(axis=1)
    row = np.arange(len(corners))
    return np.cross(sides[row, (longest + 1) % 3], sides[row, (longest + 2) % 3])


def nearest(a, b) -> Answer | None:
    """Distance by non-negative least squares over all differences; None when the shapes overlap or almost touch.

    The smallest |D x, (sum x) - 1| with x >= 0 points at the nearest point of conv(D): minimising over the sum for a
    fixed direction p leaves |p|^2 / (1 + |p|^2), which grows with |p|. The few differences that carry weight are then
    solved again as equations, which removes the rounding of the large system.
    """
    a, b, scale = _normalised(a, b)
    a, b = _reduce(a, b)
    difference = (a[:, None] - b[None]).reshape(-1, a.shape[1])
    unit = float(np.linalg.norm(difference, axis=1).min())
    if unit < 1e-9:
        return None
    point = nearest_to_origin(difference / unit) * unit
    distance = float(np.linalg.norm(point))
    if distance < 1e-9:
        return None
    return Answer(distance * scale, -point / distance)


def nearest_to_origin(points) -> np.ndarray:
    """Point of the convex hull of points (n, dim) nearest to the origin, by NNLS and a polished active set."""
    dim = points.shape[1]
    matrix = np.concatenate([points.T, np.ones((1, len(points)))])
    right = np.concatenate([np.zeros(dim), [1.0]])
    weights, _ = nnls(matrix, right, maxiter=50 * len(points) + 100)
    active = np.flatnonzero(weights)
    best = points[active].T @ weights[active] / weights.sum()
    first = points[active[0]]
    if len(active) > 1:
        edges = (points[active[1:]] - first).T
        parts = np.linalg.lstsq(edges, -first, rcond=None)[0]
        polished = first + edges @ parts
        inside = parts.min() >= -1e-9 and parts.sum() <= 1 + 1e-9
        if inside and np.linalg.norm(polished) < np.linalg.norm(best) * (1 + 1e-9):
            best = polished
    return best
