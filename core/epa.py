# SPDX-License-Identifier: GPL-3.0-or-later
"""EPA: how deep and which way two shapes penetrate.

A polytope inside the Minkowski difference A - B grows, always at the face nearest to the origin, until that face lies
on the boundary. Its normal is the contact normal, its distance the depth. Any simplex will do as a start, touching and
flat shapes too: distances are signed, so the origin need not be inside the first polytope.

The polytope is kept closed whatever rounding does: the faces that a new point sees are replaced by a cone over their
border. It stays as the proof of the depth. Source: S2.1; G. van den Bergen, Proximity Queries and Penetration Depth
Computation on 3D Game Objects, 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf, sqrt

import numpy as np

from .gjk import Simplex, size_of_difference
from .polytope import Polytope
from .simplex import Vector, Vertex, barycentric, nearest_on_segment, nearest_on_triangle, triangle_normal
from .tolerance import EPA_CONVERGED, EPA_VISIBLE, EPS, FLAT, SAME_DIRECTION, THIN_START, promised


@dataclass(frozen=True)
class Face:
    """A face of the Minkowski difference that is as near to the origin as any."""

    normal: Vector
    """Unit, outward: from A to B. z = 0 in the plane."""
    depth: float
    """Support of A - B along `normal`: moving B by `depth * normal` separates. World units; may be negative by
    rounding."""
    vertices: tuple[Vertex, ...]
    """Points of A - B that span the face (two in the plane; fewer where A - B is flat)."""
    weights: tuple[float, ...]
    """Barycentric weights of the point of the face nearest to the origin."""
    inside: float
    """Smallest barycentric weight of the origin's projection before clamping: not negative when it is in the face."""


@dataclass(frozen=True)
class Penetration:
    """What EPA found."""

    faces: tuple[Face, ...]
    """The faces nearest to the origin, all within the tie tolerance; the chosen one first."""
    depth: float
    """The smallest `depth` of the faces, world units."""
    inner: float
    """The polytope's surface is nowhere nearer to the origin than this, so the true depth is at least it. World
    units; -inf when A - B is flat, negative when the origin is outside the polytope."""
    points: tuple[Vertex, ...]
    """Corners of the polytope, points of A - B; empty when A - B is flat."""
    facets: tuple[tuple[int, ...], ...]
    """The polytope's outward triangles (in the plane: sides, counter-clockwise) as indices into `points`."""
    iterations: int
    """How many support points were asked for."""


_Support = Callable[[float, float, float], Vertex]


def epa(a: Polytope, b: Polytope, simplex: Simplex) -> Penetration:
    """Return depth, normals and polytope of two shapes that GJK found to intersect, or to touch within rounding.

    `simplex` may have any number of vertices and the origin may be outside: the depth is then negative, minus a lower
    bound of the distance.
    """
    return _grow_polytope(a, b, simplex) if a.dim == 3 else _grow_polygon(a, b, simplex)


def _support_function(a: Polytope, b: Polytope) -> _Support:
    rows_a, rows_b = a.rows, b.rows
    dot_a, dot_b = a.centred.dot, b.centred.dot
    along = np.empty(a.dim)
    solid = a.dim == 3

    def support(x: float, y: float, z: float) -> Vertex:
        along[0] = x
        along[1] = y
        if solid:
            along[2] = z
        i = int(dot_a(along).argmax())
        j = int(dot_b(along).argmin())
        ax, ay, az = rows_a[i]
        bx, by, bz = rows_b[j]
        return ax - bx, ay - by, az - bz, i, j

    return support


def _grow_polytope(a: Polytope, b: Polytope, simplex: Simplex) -> Penetration:
    size = size_of_difference(a, b)
    converged = EPA_CONVERGED * EPS * size
    visible = EPA_VISIBLE * EPS * size
    support = _support_function(a, b)
    start = _start_polytope(support, simplex.vertices, FLAT * EPS * size)
    if isinstance(start, _Flat):
        return _flat_penetration(support, simplex, start)
    extent, magnitude = min(a.extent, b.extent), max(a.magnitude, b.magnitude)

    points = list(start.points)
    known = {(i, j) for _, _, _, i, j in points}
    # One entry per triangle ever made: its plane and corners; None once a new point has replaced it.
    triangles: list[tuple[float, float, float, float, int, int, int] | None] = []
    triangle_at: dict[tuple[int, int], int] = {}
    heap: list[tuple[float, int]] = []
    unsettled: set[int] = set()
    limit = inf

    def add(i: int, j: int, k: int) -> None:
        index = len(triangles)
        p = points[i]
        normal = triangle_normal(p, points[j], points[k])
        if normal is None:
            # Corners on one line: kept, so that the surface stays closed, but every new point may replace it.
            triangles.append((0.0, 0.0, 0.0, -inf, i, j, k))
            unsettled.add(index)
        else:
            x, y, z = normal
            offset = x * p[0] + y * p[1] + z * p[2]
            triangles.append((x, y, z, offset, i, j, k))
            if offset <= limit:
                heappush(heap, (offset, index))
        triangle_at[i, j] = triangle_at[j, k] = triangle_at[k, i] = index

    for i, j, k in ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)):
        add(i, j, k)

    faces: list[Face] = []
    best = inf
    iterations = start.iterations
    while heap:
        offset, index = heappop(heap)
        triangle = triangles[index]
        if triangle is None:
            continue
        if offset > limit:
            break
        x, y, z, _, i, j, k = triangle
        corners = (points[i], points[j], points[k])
        same = _same_direction(faces, x, y, z)
        if same is not None:
            # A coplanar neighbour of a face that is settled: the one that holds the projection of the origin is kept.
            face = _face((x, y, z), faces[same].depth, corners)
            if face.inside > faces[same].inside:
                faces[same] = face
            continue
        w = support(x, y, z)
        iterations += 1
        wx, wy, wz, w_a, w_b = w
        depth = x * wx + y * wy + z * wz
        if depth < best:
            best = depth
            limit = best + 0.5 * promised(best, extent, magnitude)
        if depth - offset <= converged:
            faces.append(_face((x, y, z), depth, corners))
            continue
        if (w_a, w_b) in known:
            unsettled.add(index)  # the plane of a sliver: too badly rounded to say anything
            continue
        known.add((w_a, w_b))
        hidden = {index: (i, j, k)}
        pending = [(i, j, k)]
        border: list[tuple[int, int]] = []
        while pending:
            p, q, r = pending.pop()
            for edge in ((p, q), (q, r), (r, p)):
                across = triangle_at[edge[1], edge[0]]
                if across in hidden:
                    continue
                nx, ny, nz, plane, p2, q2, r2 = triangles[across]  # type: ignore[misc]  # a border is never dead
                if nx * wx + ny * wy + nz * wz - plane > visible:
                    hidden[across] = (p2, q2, r2)
                    pending.append((p2, q2, r2))
                else:
                    border.append(edge)
        if not border or len({p for p, _ in border}) != len(border):
            unsettled.add(index)  # rounding left no simple border: growing on would tear the surface
            continue
        for replaced in hidden:
            triangles[replaced] = None
        apex = len(points)
        points.append(w)
        for p, q in border:
            add(p, q, apex)

    alive = [(index, t) for index, t in enumerate(triangles) if t is not None]
    inner = inf
    for index, (_, _, _, offset, i, j, k) in alive:
        if index in unsettled:
            x, y, z, _ = nearest_on_triangle(points[i], points[j], points[k])
            offset = sqrt(x * x + y * y + z * z)
        inner = min(inner, offset)
    return Penetration(
        _ranked([f for f in faces if f.depth <= limit]),
        best,
        inner,
        tuple(points),
        tuple((i, j, k) for _, (_, _, _, _, i, j, k) in alive),
        iterations,
    )


def _grow_polygon(a: Polytope, b: Polytope, simplex: Simplex) -> Penetration:
    size = size_of_difference(a, b)
    converged = EPA_CONVERGED * EPS * size
    support = _support_function(a, b)
    start = _start_polygon(support, simplex.vertices, FLAT * EPS * size)
    if isinstance(start, _Flat):
        return _flat_penetration(support, simplex, start)
    extent, magnitude = min(a.extent, b.extent), max(a.magnitude, b.magnitude)

    points = list(start.points)
    known = {(i, j) for _, _, _, i, j in points}
    heap: list[tuple[float, int, int, float, float]] = []
    settled: dict[tuple[int, int], float] = {}

    def add(i: int, j: int) -> None:
        px, py = points[i][:2]
        x, y = points[j][1] - py, px - points[j][0]
        length = sqrt(x * x + y * y)
        x, y = x / length, y / length
        heappush(heap, (x * px + y * py, i, j, x, y))

    for i, j in ((0, 1), (1, 2), (2, 0)):
        add(i, j)
    faces: list[Face] = []
    best = limit = inf
    iterations = start.iterations
    while heap and heap[0][0] <= limit:
        offset, i, j, x, y = heappop(heap)
        w = support(x, y, 0.0)
        iterations += 1
        depth = x * w[0] + y * w[1]
        if depth < best:
            best = depth
            limit = best + 0.5 * promised(best, extent, magnitude)
        if depth - offset <= converged or (w[3], w[4]) in known:
            settled[i, j] = offset
            face = _face((x, y, 0.0), depth, (points[i], points[j]))
            same = _same_direction(faces, x, y, 0.0)
            if same is None:
                faces.append(face)
            elif face.inside > faces[same].inside:
                faces[same] = face
            continue
        known.add((w[3], w[4]))
        points.append(w)
        add(i, len(points) - 1)
        add(len(points) - 1, j)
    for offset, i, j, _, _ in heap:
        settled[i, j] = offset
    return Penetration(
        _ranked([f for f in faces if f.depth <= limit]),
        best,
        min(settled.values()),
        tuple(points),
        tuple(settled),
        iterations,
    )


def _face(normal: Vector, depth: float, corners: tuple[Vertex, ...]) -> Face:
    """Return the face with the weights of the origin's projection along the normal."""
    x, y, z = normal
    height = x * corners[0][0] + y * corners[0][1] + z * corners[0][2]
    foot = (height * x, height * y, height * z)
    weights = barycentric(foot, corners)
    return Face(normal, depth, corners, weights, _insideness(foot, normal, corners))


def _insideness(foot: Vector, normal: Vector, corners: tuple[Vertex, ...]) -> float:
    """Return the smallest signed area ratio of the foot point in a triangle (or on a side): negative when outside."""
    px, py, pz = foot
    if len(corners) == 2:
        (ax, ay, _, _, _), (bx, by, _, _, _) = corners
        ux, uy = bx - ax, by - ay
        t = ((px - ax) * ux + (py - ay) * uy) / (ux * ux + uy * uy)
        return min(t, 1.0 - t)
    nx, ny, nz = normal
    least = inf
    total = 0.0
    for (ax, ay, az, _, _), (bx, by, bz, _, _) in (corners[:2], corners[1:], (corners[2], corners[0])):
        ax, ay, az, bx, by, bz = ax - px, ay - py, az - pz, bx - px, by - py, bz - pz
        area = nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx)
        least = min(least, area)
        total += area
    return least / total if total > 0.0 else -inf


def _same_direction(faces: list[Face], x: float, y: float, z: float) -> int | None:
    for index, face in enumerate(faces):
        nx, ny, nz = face.normal
        if abs(nx - x) + abs(ny - y) + abs(nz - z) <= SAME_DIRECTION:
            return index
    return None


def _ranked(faces: list[Face]) -> tuple[Face, ...]:
    """Order equally good faces: a face against a vertex before a pair of edges, then the most upward normal."""

    def key(face: Face) -> tuple[bool, float, float, float]:
        edges = len({v[3] for v in face.vertices}) == 2 == len({v[4] for v in face.vertices})
        x, y, z = (round(-component, 9) for component in face.normal)
        return edges, z, y, x

    return tuple(sorted(faces, key=key)) if len(faces) > 1 else tuple(faces)


@dataclass(frozen=True)
class _Start:
    """Corners of the first polytope: outward triangles are 012, 031, 132, 230; in the plane counter-clockwise."""

    points: tuple[Vertex, ...]
    iterations: int


@dataclass(frozen=True)
class _Flat:
    """The Minkowski difference has no thickness along `normal`."""

    normal: Vector
    iterations: int


def _start_polytope(support: _Support, vertices: tuple[Vertex, ...], flat: float) -> _Start | _Flat:
    """Return a tetrahedron of points of A - B: GJK's own when it is thick enough, else the widest found near it."""
    iterations = 0
    if len(vertices) == 4:
        p, q, r, s = vertices
        normal = triangle_normal(p, q, r)
        if normal is not None:
            height = _height(normal, p, s)
            if abs(height) > THIN_START * _length(p, s):
                return _Start((p, q, r, s) if height < 0.0 else (p, r, q, s), iterations)
    p = vertices[0]
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    tried = [*vertices[1:], *(support(s * x, s * y, s * z) for x, y, z in axes for s in (1.0, -1.0))]
    iterations += 6
    q = max(tried, key=lambda point: _length(p, point))
    length = _length(p, q)
    if length <= flat:
        return _Flat((0.0, 0.0, 1.0), iterations)
    ux, uy, uz = ((q[n] - p[n]) / length for n in range(3))

    def off_line(point: Vertex) -> float:
        x, y, z = point[0] - p[0], point[1] - p[1], point[2] - p[2]
        x, y, z = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
        return sqrt(x * x + y * y + z * z)

    across = _perpendicular((ux, uy, uz))
    other = (uy * across[2] - uz * across[1], uz * across[0] - ux * across[2], ux * across[1] - uy * across[0])
    tried += [support(s * x, s * y, s * z) for x, y, z in (across, other) for s in (1.0, -1.0)]
    iterations += 4
    r = max(tried, key=off_line)
    if off_line(r) <= flat:
        return _Flat(across, iterations)
    normal = triangle_normal(p, q, r)
    if normal is None:
        return _Flat(across, iterations)
    x, y, z = normal
    ends = (support(x, y, z), support(-x, -y, -z))
    iterations += 2
    s = max(ends, key=lambda point: abs(_height((x, y, z), p, point)))
    height = _height((x, y, z), p, s)
    if abs(height) <= flat:
        return _Flat((x, y, z), iterations)
    return _Start((p, q, r, s) if height < 0.0 else (p, r, q, s), iterations)


def _start_polygon(support: _Support, vertices: tuple[Vertex, ...], flat: float) -> _Start | _Flat:
    """Return a counter-clockwise triangle of points of A - B in the plane."""
    p = vertices[0]
    tried = [*vertices[1:], *(support(x, y, 0.0) for x, y in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)))]
    q = max(tried, key=lambda point: _length(p, point))
    length = _length(p, q)
    if length <= flat:
        return _Flat((0.0, 1.0, 0.0), 4)
    across = (-(q[1] - p[1]) / length, (q[0] - p[0]) / length, 0.0)
    x, y, _ = across
    r = max((support(x, y, 0.0), support(-x, -y, 0.0)), key=lambda point: abs(_height(across, p, point)))
    height = _height(across, p, r)
    if abs(height) <= flat:
        return _Flat(across, 6)
    return _Start((p, q, r) if height > 0.0 else (p, r, q), 6)


def _flat_penetration(support: _Support, simplex: Simplex, start: _Flat) -> Penetration:
    """Return the answer for a difference without thickness along a normal: either side of it is equally good."""
    x, y, z = start.normal
    corners = simplex.vertices[:3]
    if len(corners) == 3:
        corners = nearest_on_triangle(*corners)[3]
    if len(corners) == 2:
        corners = nearest_on_segment(*corners)[3]
    weights = barycentric((0.0, 0.0, 0.0), corners)
    faces = []
    for sign in (1.0, -1.0):
        normal = (sign * x, sign * y, sign * z)
        point = support(*normal)
        faces.append(Face(normal, sum(n * p for n, p in zip(normal, point, strict=False)), corners, weights, 0.0))
    depth = min(face.depth for face in faces)
    return Penetration(_ranked(faces), depth, -inf, (), (), start.iterations + 2)


def _perpendicular(unit: Vector) -> Vector:
    """Return the unit vector perpendicular to `unit` that points upward most (along x when `unit` is vertical)."""
    x, y, z = unit
    px, py, pz = (-z * x, -z * y, 1.0 - z * z) if abs(z) < 0.9 else (1.0 - x * x, -x * y, -x * z)
    length = sqrt(px * px + py * py + pz * pz)
    return px / length, py / length, pz / length


def _length(p: Vertex, q: Vertex) -> float:
    x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    return sqrt(x * x + y * y + z * z)


def _height(normal: Vector, p: Vertex, q: Vertex) -> float:
    return normal[0] * (q[0] - p[0]) + normal[1] * (q[1] - p[1]) + normal[2] * (q[2] - p[2])
