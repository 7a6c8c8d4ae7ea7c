# SPDX-License-Identifier: GPL-3.0-or-later
"""GJK: do two shapes intersect, and if not, how far apart are they and where.

The nearest point v of the Minkowski difference A - B to the origin is found by walking over simplices of support
points. `-v` points from A to B. Source: S4.3, S4.4; E. Gilbert, D. Johnson, S. Keerthi 1988; G. van den Bergen 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from .polytope import FloatArray, Polytope
from .simplex import (
    Nearest,
    Vector,
    Vertex,
    barycentric,
    nearest_on_segment,
    nearest_on_tetrahedron,
    nearest_on_triangle,
    triangle_normal,
    weighted_mean,
)
from .tolerance import EPS, GJK_GAP, GJK_TOUCH, SUPPORT_ROUNDING


@dataclass(frozen=True)
class Simplex:
    """What GJK knows when it stops; EPA starts from it. Points of the plane have z = 0."""

    intersects: bool
    """True when the origin is in the Minkowski difference, or too near to it for rounding to tell."""
    vertices: tuple[Vertex, ...]
    """1 to 4 points (x, y, z, index_a, index_b) of A - B whose hull holds the nearest point (or the origin)."""
    nearest: Vector
    """The point of A - B nearest to the origin, (0, 0, 0) when inside."""
    normal: Vector
    """Unit vector from A to B that proves the gap; (0, 0, 0) when the shapes intersect."""
    gap: float
    """Width of the empty slab across `normal`: at most the distance, equal to it to rounding once GJK has converged.
    World units; 0.0 when the shapes intersect."""
    weights: tuple[float, ...]
    """Barycentric weights of `nearest`, one for each of `vertices`; empty when four points enclose the origin and
    after the boolean test."""
    iterations: int
    """How many support points were asked for."""

    def witness_points(self, a: Polytope, b: Polytope) -> tuple[FloatArray, FloatArray]:
        """Return the points (dim,) of A and of B whose difference is `nearest`, world frame."""
        return witness_points(a, b, self.vertices, self.weights)


def witness_points(
    a: Polytope, b: Polytope, vertices: tuple[Vertex, ...], weights: tuple[float, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return the weighted means (dim,) of the vertices of A and of B that made the points of a simplex."""
    rows_a, rows_b = a.rows, b.rows
    (_, _, _, first_a, first_b), *others = vertices
    ax, ay, az = rows_a[first_a]
    bx, by, bz = rows_b[first_b]
    px = py = pz = qx = qy = qz = 0.0
    for (_, _, _, i, j), weight in zip(others, weights[1:], strict=True):
        # Relative to the first vertex: no digits are lost far from the origin.
        x, y, z = rows_a[i]
        px, py, pz = px + weight * (x - ax), py + weight * (y - ay), pz + weight * (z - az)
        x, y, z = rows_b[j]
        qx, qy, qz = qx + weight * (x - bx), qy + weight * (y - by), qz + weight * (z - bz)
    if a.dim == 2:
        return np.array((ax + px, ay + py)), np.array((bx + qx, by + qy))
    return np.array((ax + px, ay + py, az + pz)), np.array((bx + qx, by + qy, bz + qz))


def size_of_difference(a: Polytope, b: Polytope) -> float:
    """Return R of tolerance.py: a length that no point of A - B exceeds, not much larger than the longest one."""
    between = a.center - b.center
    return a.extent + b.extent + sqrt(float(between.dot(between)))


def gjk_intersects(a: Polytope, b: Polytope) -> bool:
    """Tell whether two shapes intersect, touching included; stops at the first separating direction. Source: S4.4."""
    return _gjk(a, b, distance=False).intersects


def gjk(a: Polytope, b: Polytope, direction: FloatArray | None = None) -> Simplex:
    """Return the simplex of A - B nearest to the origin: distance, witness points, or the start of EPA. Source: S4.4.

    `direction` (dim,), any length, is where the search starts: a direction from B to A that is likely to separate.
    Without it the line of the centres is taken.
    """
    return _gjk(a, b, distance=True, direction=direction)


def _gjk(a: Polytope, b: Polytope, *, distance: bool, direction: FloatArray | None = None) -> Simplex:
    rows_a, rows_b = a.rows, b.rows
    dot_a, dot_b = a.centred.dot, b.centred.dot
    size = size_of_difference(a, b)
    rounding = SUPPORT_ROUNDING * EPS * size
    touch2 = (GJK_TOUCH * EPS * size) ** 2
    toward = np.empty(a.dim)
    solid = a.dim == 3
    if direction is None:
        direction = a.center - b.center
    vx, vy = float(direction[0]), float(direction[1])
    vz = float(direction[2]) if solid else 0.0
    if vx == 0.0 == vy and vz == 0.0:
        vx = 1.0
    v2 = float("inf")
    simplex: tuple[Vertex, ...] = ()
    iterations = 0
    best_gap = -float("inf")
    best_normal = (0.0, 0.0, 0.0)
    while True:
        toward[0] = vx
        toward[1] = vy
        if solid:
            toward[2] = vz
        i = int(dot_a(toward).argmin())
        j = int(dot_b(toward).argmax())
        iterations += 1
        ax, ay, az = rows_a[i]
        bx, by, bz = rows_b[j]
        wx, wy, wz = ax - bx, ay - by, az - bz
        v_w = vx * wx + vy * wy + vz * wz
        length = sqrt(vx * vx + vy * vy + vz * vz)
        if not distance and v_w > rounding * length:
            return Simplex(False, simplex, (vx, vy, vz), (-vx / length, -vy / length, -vz / length), v_w / length, (), iterations)
        gap = v_w / length
        if gap > best_gap:
            best_gap = gap
            best_normal = (-vx / length, -vy / length, -vz / length)
        if simplex:
            if v2 - v_w <= GJK_GAP * EPS * length * (length + size):
                break
            for _, _, _, known_i, known_j in simplex:
                if known_i == i and known_j == j:
                    break
            else:
                known_i = -1
            if known_i >= 0:
                break
        new = (wx, wy, wz, i, j)
        count = len(simplex)
        found: Nearest | None
        if count == 0:
            found = (wx, wy, wz, (new,))
        elif count == 1:
            found = nearest_on_segment(new, simplex[0])
        elif count == 2:
            found = nearest_on_triangle(new, simplex[0], simplex[1])
        else:
            found = nearest_on_tetrahedron(new, simplex[0], simplex[1], simplex[2])
            if found is None:
                return Simplex(True, (new, *simplex), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, (), iterations)
        x, y, z, face = found
        found2 = x * x + y * y + z * z
        if found2 <= touch2:
            weights = barycentric((0.0, 0.0, 0.0), face)
            return Simplex(True, face, (x, y, z), (0.0, 0.0, 0.0), 0.0, weights, iterations)
        if found2 >= v2:
            break  # rounding: no point of the difference is nearer than v
        vx, vy, vz, simplex, v2 = x, y, z, face, found2
    if not distance:
        return Simplex(best_gap <= rounding, simplex, (vx, vy, vz), best_normal, max(0.0, best_gap), (), iterations)
    # The direction of v loses digits to cancellation when the gap is small against the shapes; the normal of the
    # feature that holds v does not.
    for nx, ny, nz in _feature_normals(simplex, (vx, vy, vz)):
        toward[0] = -nx
        toward[1] = -ny
        if solid:
            toward[2] = -nz
        i = int(dot_a(toward).argmin())
        j = int(dot_b(toward).argmax())
        ax, ay, az = rows_a[i]
        bx, by, bz = rows_b[j]
        gap = -(nx * (ax - bx) + ny * (ay - by) + nz * (az - bz))
        if gap > best_gap:
            best_gap, best_normal = gap, (nx, ny, nz)
    nx, ny, nz = best_normal
    weights = barycentric((-best_gap * nx, -best_gap * ny, -best_gap * nz), simplex)
    nearest = weighted_mean(simplex, weights)
    if best_gap <= rounding:
        return Simplex(True, simplex, nearest, (0.0, 0.0, 0.0), 0.0, weights, iterations)
    return Simplex(False, simplex, nearest, best_normal, best_gap, weights, iterations)


def _feature_normals(simplex: tuple[Vertex, ...], v: Vector) -> list[Vector]:
    """Return unit normals from A to B of the feature that holds `v`, better rounded than -v itself."""
    vx, vy, vz = v
    if len(simplex) == 3:
        normal = triangle_normal(*simplex)
        if normal is None:
            return []
        nx, ny, nz = normal
        if nx * vx + ny * vy + nz * vz > 0.0:
            nx, ny, nz = -nx, -ny, -nz
        return [(nx, ny, nz)]
    if len(simplex) == 2:
        (ax, ay, az, _, _), (bx, by, bz, _, _) = simplex
        ux, uy, uz = bx - ax, by - ay, bz - az
        length2 = ux * ux + uy * uy + uz * uz
        for _ in range(2):
            along = (vx * ux + vy * uy + vz * uz) / length2
            vx, vy, vz = vx - along * ux, vy - along * uy, vz - along * uz
        length = sqrt(vx * vx + vy * vy + vz * vz)
        if length == 0.0:
            return []
        return [(-vx / length, -vy / length, -vz / length)]
    return []
