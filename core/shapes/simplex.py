# SPDX-License-Identifier: GPL-3.0-or-later
"""The point of a simplex nearest to the origin, in plain floats: the inner step of GJK.

A point of the Minkowski difference is a tuple (x, y, z, index_a, index_b); in the plane z is 0. Plain floats are
several times faster here than numpy on vectors of three.

Source: S4.3, S4.4; C. Ericson, Real-Time Collision Detection, 5.1 (Voronoi regions).
"""

from __future__ import annotations

from math import sqrt

from ..tolerance import SLIVER

Vertex = tuple[float, float, float, int, int]
Vector = tuple[float, float, float]
Nearest = tuple[float, float, float, tuple[Vertex, ...]]
"""The nearest point x, y, z and the vertices of the smallest face of the simplex that contains it."""


def nearest_on_simplex(vertices: tuple[Vertex, ...]) -> Nearest | None:
    """Return the point of a simplex of 1 to 4 vertices nearest to the origin, None when the origin is inside.

    Of a tetrahedron the first vertex must be the newest: see `nearest_on_tetrahedron`.
    """
    count = len(vertices)
    if count == 3:
        return nearest_on_triangle(*vertices)
    if count == 4:
        return nearest_on_tetrahedron(*vertices)
    if count == 2:
        return nearest_on_segment(*vertices)
    x, y, z, _, _ = vertices[0]
    return x, y, z, vertices


def nearest_on_segment(a: Vertex, b: Vertex) -> Nearest:
    """Return the point of segment ab nearest to the origin, with the face that contains it."""
    ax, ay, az, _, _ = a
    ux, uy, uz = b[0] - ax, b[1] - ay, b[2] - az
    along = -(ax * ux + ay * uy + az * uz)
    if along <= 0.0:
        return ax, ay, az, (a,)
    length2 = ux * ux + uy * uy + uz * uz
    if along >= length2:  # mutant: simplex-open-segment
        return b[0], b[1], b[2], (b,)
    t = along / length2
    return ax + t * ux, ay + t * uy, az + t * uz, (a, b)


def nearest_on_triangle(a: Vertex, b: Vertex, c: Vertex) -> Nearest:
    """Return the point of triangle abc nearest to the origin, with the face that contains it.

    The barycentric signs are those of the triple products n.(a x b), which stay accurate for slivers, where the
    textbook's products of dot products cancel.
    """
    ax, ay, az, _, _ = a
    bx, by, bz, _, _ = b
    cx, cy, cz, _, _ = c
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    a_u = ax * ux + ay * uy + az * uz
    a_v = ax * vx + ay * vy + az * vz
    if a_u >= 0.0 and a_v >= 0.0:
        return ax, ay, az, (a,)
    b_u = bx * ux + by * uy + bz * uz
    b_v = bx * vx + by * vy + bz * vz
    if b_u <= 0.0 and b_u <= b_v:
        return bx, by, bz, (b,)
    c_u = cx * ux + cy * uy + cz * uz
    c_v = cx * vx + cy * vy + cz * vz
    if c_v <= 0.0 and c_v <= c_u:
        return cx, cy, cz, (c,)
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    weight_c = nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx)
    if weight_c <= 0.0 and a_u <= 0.0 and b_u >= 0.0:
        length2 = b_u - a_u
        if length2 > 0.0:
            t = -a_u / length2
            return ax + t * ux, ay + t * uy, az + t * uz, (a, b)
    weight_b = nx * (cy * az - cz * ay) + ny * (cz * ax - cx * az) + nz * (cx * ay - cy * ax)
    if weight_b <= 0.0 and a_v <= 0.0 and c_v >= 0.0:
        length2 = c_v - a_v
        if length2 > 0.0:
            t = -a_v / length2
            return ax + t * vx, ay + t * vy, az + t * vz, (a, c)  # mutant: simplex-wrong-side-of-a-triangle
    weight_a = nx * (by * cz - bz * cy) + ny * (bz * cx - bx * cz) + nz * (bx * cy - by * cx)
    if weight_a <= 0.0 and b_u - b_v >= 0.0 and c_v - c_u >= 0.0:
        length2 = (b_u - b_v) + (c_v - c_u)
        if length2 > 0.0:
            t = (b_u - b_v) / length2
            return bx + t * (cx - bx), by + t * (cy - by), bz + t * (cz - bz), (b, c)
    normal2 = nx * nx + ny * ny + nz * nz
    if normal2 == 0.0 or weight_a < 0.0 or weight_b < 0.0 or weight_c < 0.0:
        # Rounding excluded every Voronoi region, so the triangle is (nearly) a segment: its sides decide.
        sides = (nearest_on_segment(a, b), nearest_on_segment(a, c), nearest_on_segment(b, c))
        return min(sides, key=_squared_length)
    s = (nx * ax + ny * ay + nz * az) / normal2
    return s * nx, s * ny, s * nz, (a, b, c)


def nearest_on_tetrahedron(new: Vertex, b: Vertex, c: Vertex, d: Vertex, *, any_face: bool = False) -> Nearest | None:
    """Return the point of a tetrahedron nearest to the origin, or None when the origin is inside.

    Unless `any_face`, `new` must be a support point in the direction from triangle bcd to the origin: then bcd cannot
    be the nearest face and is not tried.
    """
    best: Nearest | None = None
    best2 = 0.0
    if any_face and not _same_side(b, c, d, new):
        best = nearest_on_triangle(b, c, d)
        best2 = _squared_length(best)
    for p, q, opposite in ((b, c, d), (c, d, b), (d, b, c)):
        if not _same_side(new, p, q, opposite):
            found = nearest_on_triangle(new, p, q)
            found2 = _squared_length(found)
            if best is None or found2 < best2:
                best, best2 = found, found2
    return best


def encloses_origin(tetrahedron: tuple[Vertex, ...], margin: float) -> bool:
    """Return whether the origin is inside a tetrahedron, with six times the volume of each of its parts above `margin`.
    With a margin above their rounding True is certain, False is not.
    """
    (px, py, pz, _, _), (qx, qy, qz, _, _), (rx, ry, rz, _, _), (sx, sy, sz, _, _) = tetrahedron
    x, y, z = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    pqr, pqs = x * rx + y * ry + z * rz, x * sx + y * sy + z * sz
    x, y, z = ry * sz - rz * sy, rz * sx - rx * sz, rx * sy - ry * sx
    rsp, rsq = x * px + y * py + z * pz, x * qx + y * qy + z * qz
    if pqs > 0.0:
        return pqs > margin and rsq > margin and rsp < -margin and pqr < -margin
    return pqs < -margin and rsq < -margin and rsp > margin and pqr > margin


def _same_side(a: Vertex, b: Vertex, c: Vertex, inner: Vertex) -> bool:
    """Return whether the origin and `inner` are strictly on the same side of the plane abc."""
    ax, ay, az, _, _ = a
    ux, uy, uz = b[0] - ax, b[1] - ay, b[2] - az
    vx, vy, vz = c[0] - ax, c[1] - ay, c[2] - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    origin = -(nx * ax + ny * ay + nz * az)
    height = nx * (inner[0] - ax) + ny * (inner[1] - ay) + nz * (inner[2] - az)
    return (origin > 0.0 and height > 0.0) or (origin < 0.0 and height < 0.0)


def _squared_length(nearest: Nearest) -> float:
    x, y, z, _ = nearest
    return x * x + y * y + z * z


def triangle_normal(a: Vertex, b: Vertex, c: Vertex) -> Vector | None:
    """Return the unit normal of triangle abc (right-handed), or None when its corners are on one line.

    For slivers the third corner is first taken relative to the longest side and made perpendicular to it, so that all
    three corners lie in the plane to rounding however thin the triangle is.
    """
    ax, ay, az, _, _ = a
    bx, by, bz, _, _ = b
    cx, cy, cz, _, _ = c
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    normal2 = nx * nx + ny * ny + nz * nz
    u2 = ux * ux + uy * uy + uz * uz
    v2 = vx * vx + vy * vy + vz * vz
    if normal2 <= SLIVER * SLIVER * u2 * v2:
        return _sliver_normal(a, b, c)
    scale = 1.0 / sqrt(normal2)
    return nx * scale, ny * scale, nz * scale


def _sliver_normal(a: Vertex, b: Vertex, c: Vertex) -> Vector | None:
    # Rotate the corners (which keeps the orientation) until ab is the longest side; then let a be the one nearer to c.
    triangle = (a, b, c)
    first = _longest_side(triangle)
    a, b, c = triangle[first], triangle[first - 2], triangle[first - 1]
    length = _distance(a, b)
    if length == 0.0:
        return None
    sign = 1.0
    if _distance(b, c) < _distance(a, c):
        a, b, sign = b, a, -1.0
    ux, uy, uz = (b[0] - a[0]) / length, (b[1] - a[1]) / length, (b[2] - a[2]) / length
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    for _ in range(2):  # twice is enough for perpendicular to rounding
        along = ux * vx + uy * vy + uz * vz
        vx, vy, vz = vx - along * ux, vy - along * uy, vz - along * uz
    height = sqrt(vx * vx + vy * vy + vz * vz)
    if height == 0.0:
        return None
    scale = sign / height
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    nx, ny, nz = nx * scale, ny * scale, nz * scale
    unit = 1.0 / sqrt(nx * nx + ny * ny + nz * nz)
    return nx * unit, ny * unit, nz * unit


def barycentric(point: Vector, simplex: tuple[Vertex, ...]) -> tuple[float, ...]:
    """Return the weights of the point of `simplex` (1 to 3 vertices) nearest to `point`, none negative, sum 1.

    `point` must be (nearly) in the simplex. The height over the longest side is determined first and the position along
    that side afterwards, so that the weighted mean is correct to rounding however thin a triangle is.
    """
    if len(simplex) == 1:
        return (1.0,)
    if len(simplex) == 2:
        t = _segment_parameter(point, simplex[0], simplex[1])
        return 1.0 - t, t
    (ax, ay, az, _, _), (bx, by, bz, _, _), (cx, cy, cz, _, _) = simplex
    px, py, pz = point
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    normal2 = nx * nx + ny * ny + nz * nz
    if normal2 > SLIVER * SLIVER * (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz):
        # Not a sliver: the areas opposite the corners are the weights, if the point is inside.
        wx, wy, wz = px - ax, py - ay, pz - az
        second = (nx * (wy * vz - wz * vy) + ny * (wz * vx - wx * vz) + nz * (wx * vy - wy * vx)) / normal2
        third = (nx * (uy * wz - uz * wy) + ny * (uz * wx - ux * wz) + nz * (ux * wy - uy * wx)) / normal2
        first_weight = 1.0 - (second + third)
        if first_weight >= 0.0 and second >= 0.0 and third >= 0.0:
            return first_weight, second, third
    first = _longest_side(simplex)
    a, b, c = simplex[first], simplex[first - 2], simplex[first - 1]
    ax, ay, az, _, _ = a
    ux, uy, uz = b[0] - ax, b[1] - ay, b[2] - az
    vx, vy, vz = c[0] - ax, c[1] - ay, c[2] - az
    px, py, pz = px - ax, py - ay, pz - az
    length2 = ux * ux + uy * uy + uz * uz
    if length2 == 0.0:
        return 1.0, 0.0, 0.0
    hx, hy, hz = vx, vy, vz
    for _ in range(2):  # twice is enough for perpendicular to rounding
        along = (ux * hx + uy * hy + uz * hz) / length2
        hx, hy, hz = hx - along * ux, hy - along * uy, hz - along * uz
    height2 = hx * hx + hy * hy + hz * hz
    apex = min(1.0, max(0.0, (px * hx + py * hy + pz * hz) / height2)) if height2 > 0.0 else 0.0
    px, py, pz = px - apex * vx, py - apex * vy, pz - apex * vz
    end = min(1.0 - apex, max(0.0, (px * ux + py * uy + pz * uz) / length2))
    weights = (1.0 - apex - end, end, apex)
    return weights[-first], weights[1 - first], weights[2 - first]


def weighted_mean(simplex: tuple[Vertex, ...], weights: tuple[float, ...]) -> Vector:
    """Return the mean of the vertices of `simplex` with `weights` (sum 1)."""
    ax, ay, az, _, _ = simplex[0]
    x = y = z = 0.0
    for (px, py, pz, _, _), weight in zip(simplex[1:], weights[1:], strict=True):
        x, y, z = x + weight * (px - ax), y + weight * (py - ay), z + weight * (pz - az)
    return ax + x, ay + y, az + z


def _segment_parameter(point: Vector, a: Vertex, b: Vertex) -> float:
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    length2 = ux * ux + uy * uy + uz * uz
    along = (point[0] - a[0]) * ux + (point[1] - a[1]) * uy + (point[2] - a[2]) * uz
    return min(1.0, max(0.0, along / length2)) if length2 > 0.0 else 0.0


def _longest_side(triangle: tuple[Vertex, ...]) -> int:
    """Return the index of the corner at which the longest side starts (it ends at the next corner)."""
    (ax, ay, az, _, _), (bx, by, bz, _, _), (cx, cy, cz, _, _) = triangle
    x, y, z = bx - ax, by - ay, bz - az
    ab = x * x + y * y + z * z
    x, y, z = cx - bx, cy - by, cz - bz
    bc = x * x + y * y + z * z
    x, y, z = ax - cx, ay - cy, az - cz
    ca = x * x + y * y + z * z
    if ab >= bc and ab >= ca:
        return 0
    return 1 if bc >= ca else 2


def _distance(p: Vertex, q: Vertex) -> float:
    x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    return sqrt(x * x + y * y + z * z)
