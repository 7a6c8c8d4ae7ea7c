# SPDX-License-Identifier: GPL-3.0-or-later
"""GJK: the boolean test, and the distance and nearest points of two shapes.

The Minkowski difference A - B contains the origin when A and B have a common point, and its point v nearest to the
origin is as far from it as A is from B; -v points from A to B. GJK walks towards v over simplices of support points:

1. Take the support point w of A - B in the direction -v: that of A towards B minus that of B towards A.
2. The slab across v up to w is empty. If it is as wide as v is long, to rounding, or w is known already, v is the
   nearest point: end.
3. Add w to the simplex (a point, segment, triangle or tetrahedron).
4. Take the point of the simplex nearest to the origin as the new v, and only the face that contains it as the new
   simplex. If the origin is inside the tetrahedron, or v is zero to rounding, the shapes intersect: end.

Where the shapes are likely to intersect the first simplex is a tetrahedron about the first direction, which EPA then
grows from. Where rounding stalls the walk among nearly degenerate simplices, it continues in exact arithmetic.

Source: S4.3, S4.4; E. Gilbert, D. Johnson, S. Keerthi 1988; G. van den Bergen 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, inf, pi, radians, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_direction, as_floats
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope, validate_polytopes
from ..shapes.simplex import (
    Nearest,
    Vector,
    Vertex,
    barycentric,
    encloses_origin,
    nearest_on_simplex,
    nearest_on_tetrahedron,
    triangle_normal,
    weighted_mean,
)
from ..tolerance import EPS, EXTREME_EXPONENT, GJK_GAP, GJK_INSIDE, GJK_TOUCH, SUPPORT_ROUNDING
from ..trace import Trace
from ..types import FloatArray
from .exact import nearest_on_simplex_exactly, weights_exactly
from .gjk_steps import SimplexSteps
from .step_list import StepList

_DIRECTION_ROUNDING = 16.0
"""Times EPS, R and the sum of the components of a direction: the gap across it must be wider to separate with
certainty. A product of three terms for each shape and for the vector between the centres, and their sums."""


class Simplex(NamedTuple):
    """The result of GJK, from which EPA starts. In the plane z is 0."""

    intersects: bool
    """True when the origin is in the Minkowski difference, or within rounding of it."""
    vertices: tuple[Vertex, ...]
    """1 to 4 points (x, y, z, index_a, index_b) of A - B whose hull contains the nearest point (or the origin)."""
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
    """Number of support points computed."""
    trace: Trace | None = None
    """The steps, if requested."""

    def scaled(self, exponent: int) -> Simplex:
        """Return the simplex of the shapes scaled by 2**exponent."""
        x, y, z = np.ldexp(self.nearest, exponent).tolist()
        return self._replace(
            vertices=scaled_vertices(self.vertices, exponent),
            nearest=(x, y, z),
            gap=float(np.ldexp(self.gap, exponent)),
            trace=self.trace and self.trace.scaled(exponent),
        )

    def witness_points(self, a: Polytope, b: Polytope) -> tuple[FloatArray, FloatArray]:
        """Return the points (dim,) of A and of B whose difference is `nearest`, world frame."""
        return witness_points(a, b, self.vertices, self.weights)


def witness_points(
    a: Polytope, b: Polytope, vertices: tuple[Vertex, ...], weights: tuple[float, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return the weighted means (dim,) of the vertices of A and of B whose differences are the points of a simplex."""
    rows_a, rows_b = a._rows, b._rows
    (_, _, _, first_a, first_b), *following = vertices
    ax, ay, az = rows_a[first_a]
    bx, by, bz = rows_b[first_b]
    px = py = pz = qx = qy = qz = 0.0
    for (_, _, _, i, j), weight in zip(following, weights[1:], strict=True):
        # Relative to the first vertex: no digits are lost far from the origin.
        x, y, z = rows_a[i]
        px, py, pz = px + weight * (x - ax), py + weight * (y - ay), pz + weight * (z - az)
        x, y, z = rows_b[j]
        # mutant: gjk-witness-of-b-mirrored
        qx, qy, qz = qx + weight * (x - bx), qy + weight * (y - by), qz + weight * (z - bz)
    if a.dim == 2:
        return np.array((ax + px, ay + py)), np.array((bx + qx, by + qy))
    return np.array((ax + px, ay + py, az + pz)), np.array((bx + qx, by + qy, bz + qz))


def scaled_vertices(vertices: tuple[Vertex, ...], exponent: int) -> tuple[Vertex, ...]:
    """Return points of A - B for both shapes scaled by 2**exponent."""
    return tuple((*np.ldexp((x, y, z), exponent).tolist(), i, j) for x, y, z, i, j in vertices)


def size_of_difference(a: Polytope, b: Polytope) -> float:
    """Return R of tolerance.py: a length that no point of A - B exceeds, not much larger than the longest one."""
    ax, ay, az = a._middle
    bx, by, bz = b._middle
    x, y, z = ax - bx, ay - by, az - bz
    return a.extent + b.extent + sqrt(x * x + y * y + z * z)


def gjk_intersects(a: Polytope, b: Polytope, direction: ArrayLike | None = None) -> bool:
    """Return whether two shapes intersect, touching included; stops at the first separating direction. Source: S4.4.

    >>> gjk_intersects(Box((0, 0, 0), (2, 2, 2)), Box((1.5, 0, 0), (2, 2, 2)))
    True

    `direction` is as in `gjk`: one that still separates, such as the normal of the last result, ends the search at
    once.

    Raises ValueError, naming the argument, when one is not a polytope, their dimensions differ, or the direction has
    another length or is not finite.
    """
    validate_polytopes(a, b)
    if direction is not None and separates(a, b, direction):
        return False
    return nearest_simplex(a, b, direction, distance=False).intersects


def separates(a: Polytope, b: Polytope, direction: ArrayLike) -> bool:
    """Return whether a direction from A to B separates with certainty: the first step of the search alone.

    Of a pair that moves slowly, that of the last result mostly does. Source: S1.8.
    """
    floats = as_floats("direction", direction, a.dim)
    x, y, z = floats if len(floats) == 3 else (*floats, 0.0)
    along = np.asarray(direction)
    heights_a, heights_b = a._centred.dot(along), b._centred.dot(along)
    ax, ay, az = a._middle
    bx, by, bz = b._middle
    u, v, w = bx - ax, by - ay, bz - az
    gap = heights_b.item(heights_b.argmin()) - heights_a.item(heights_a.argmax()) + (x * u + y * v + z * w)
    size = a.extent + b.extent + abs(u) + abs(v) + abs(w)
    return gap > _DIRECTION_ROUNDING * EPS * size * (abs(x) + abs(y) + abs(z)) and is_ordinary(size)


def gjk(
    a: Polytope,
    b: Polytope,
    direction: ArrayLike | None = None,
    *,
    start: Sequence[tuple[int, int]] = (),
    trace: bool = False,
) -> Simplex:
    """Return the simplex of A - B nearest to the origin: distance, witness points, or the start of EPA. Source: S4.4.

    `direction` (dim,), any length, world frame, is where the search starts: a direction from A to B that is likely to
    separate, such as the normal of the last result; by default the line of the centres. `start` is a simplex to start
    from instead: indices of a vertex of A and one of B for each of up to three points of A - B, such as those of the
    last result; a bad start is only slower. With `trace` the result has the steps, for study.

    >>> result = gjk(Box((0, 0, 0), (2, 2, 2)), Box((3, 0, 0), (2, 2, 2)))
    >>> print(result.intersects, result.gap, result.normal)
    False 1.0 (1.0, 0.0, 0.0)

    Raises ValueError, naming the argument, when one is not a polytope, their dimensions differ, the direction has
    another length or is not finite, or `start` has more points or other indices.
    """
    validate_polytopes(a, b)
    if len(start) > 3 or not all(0 <= i < len(a.vertices) and 0 <= j < len(b.vertices) for i, j in start):
        raise ValueError(f"start: up to three pairs of a vertex of A and one of B expected, not {start!r}")
    return nearest_simplex(a, b, direction, start=tuple(start), steps=StepList(a, b) if trace else None)


def simplex_of(a: Polytope, b: Polytope, start: Sequence[tuple[int, int]]) -> tuple[Vertex, ...]:
    """Return the points of A - B with these indices of vertices of A and B, without duplicates."""
    rows_a, rows_b = a._rows, b._rows
    result = []
    for i, j in dict.fromkeys(start):
        (ax, ay, az), (bx, by, bz) = rows_a[i], rows_b[j]
        result.append((ax - bx, ay - by, az - bz, i, j))
    return tuple(result)


def is_ordinary(size: float) -> bool:
    """Return whether products of four lengths of shapes with a difference of this size are well within float64's
    range."""
    return 2.0**-EXTREME_EXPONENT < size < 2.0**EXTREME_EXPONENT


def nearest_simplex(
    a: Polytope,
    b: Polytope,
    direction: ArrayLike | None = None,
    *,
    distance: bool = True,
    start: tuple[tuple[int, int], ...] = (),
    steps: StepList | None = None,
) -> Simplex:
    """Return the result of `gjk` without validation of its arguments; without `distance` that of the boolean test."""
    size = size_of_difference(a, b)
    if not is_ordinary(size):
        exponent = extreme_exponent(a, b)
        if exponent:
            a, b = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent)
            return nearest_simplex(a, b, direction, distance=distance, start=start, steps=steps).scaled(exponent)
    if direction is None:
        ax, ay, az = a._middle
        bx, by, bz = b._middle
        x, y, z = ax - bx, ay - by, az - bz
    else:
        x, y, z = (*(-as_direction("direction", direction, a.dim)).tolist(), 0.0)[:3]
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        x = largest = 1.0
    # Of length 1 to 2: the square of a tiny direction would vanish.
    x, y, z = x / largest, y / largest, z / largest
    record = None if steps is None else SimplexSteps(steps, size)
    found, settled = _SimplexWalk(a, b, size, _FLOATS, record).run((x, y, z), simplex_of(a, b, start), distance)
    if record is not None:
        record.end(found.intersects, found.vertices, found.nearest, found.gap, found.weights, settled)
    if not settled:  # mutant: gjk-never-starts-again-exactly
        # Floats failed among nearly degenerate simplices: continue from where they stopped in exact arithmetic.
        exact, _ = _SimplexWalk(a, b, size, _WHOLE_NUMBERS, record).run(found.nearest, found.vertices, distance)
        found = exact._replace(iterations=found.iterations + exact.iterations)
        if record is not None:
            record.end(found.intersects, found.vertices, found.nearest, found.gap, found.weights)
    return found if steps is None else found._replace(trace=steps.trace("gjk"))


_SPREAD_ANGLE = radians(35.0)
"""Between the first direction and each of three around it; measured: EPA needs the fewest points at 30 to 40."""

_SPREAD = tuple(
    (cos(_SPREAD_ANGLE), sin(_SPREAD_ANGLE) * cos(turn), sin(_SPREAD_ANGLE) * sin(turn))
    for turn in (0.0, 2.0 * pi / 3.0, 4.0 * pi / 3.0)
)
"""Components of the three directions along v and two perpendiculars of it."""

_WeightsOf = Callable[[Vector, tuple[Vertex, ...]], tuple[float, ...]]


class _Arithmetic(NamedTuple):
    """The two computations of the search that rounding can make fail."""

    nearest_on: Callable[[tuple[Vertex, ...]], Nearest | None]
    """The point of a simplex nearest to the origin, and the face that contains it."""
    weights_of: _WeightsOf
    """The barycentric weights of that point, which is an argument, to rounding."""


_FLOATS = _Arithmetic(nearest_on_simplex, barycentric)
_WHOLE_NUMBERS = _Arithmetic(nearest_on_simplex_exactly, lambda _, simplex: weights_exactly(simplex))


class _SimplexWalk:
    """The walk over simplices of A - B, in floats or in exact arithmetic."""

    def __init__(
        self, a: Polytope, b: Polytope, size: float, arithmetic: _Arithmetic, steps: SimplexSteps | None
    ) -> None:
        self.size, self.solid, self.steps = size, a.dim == 3, steps
        self.rows_a, self.rows_b, self.dot_a, self.dot_b = a._rows, b._rows, a._centred.dot, b._centred.dot
        self.towards = np.empty(a.dim)
        self.nearest_on, self.weights_of = arithmetic
        self.rounding = SUPPORT_ROUNDING * EPS * size
        self.touch2 = (GJK_TOUCH * EPS * size) ** 2  # mutant: gjk-touch-too-wide

    def run(self, v: Vector, simplex: tuple[Vertex, ...], distance: bool) -> tuple[Simplex, bool]:
        """Walk from `v` and `simplex`; return the last simplex and whether the search has converged.

        Without `distance` the first separating direction ends the walk.
        """
        size, nearest_on, touch2 = self.size, self.nearest_on, self.touch2
        rows_a, rows_b, dot_a, dot_b = self.rows_a, self.rows_b, self.dot_a, self.dot_b
        solid, towards, rounding, steps = self.solid, self.towards, self.rounding, self.steps
        iterations = 0
        vx, vy, vz = v
        v2, best_gap, best_normal = inf, -inf, (0.0, 0.0, 0.0)
        equally_near: set[frozenset[tuple[int, int]]] = set()
        if simplex:
            restart = nearest_on(simplex)
            if steps is not None:
                steps.restart(simplex, restart, nearest_on is nearest_on_simplex_exactly)
            if restart is None:
                return _inside(simplex, 0), True
            vx, vy, vz, simplex = restart
            v2 = vx * vx + vy * vy + vz * vz
            if v2 <= touch2:
                return self._touching(simplex, 0)
        while True:
            # 1. The support point of A - B in the direction -v, inlined.
            towards[0] = vx
            towards[1] = vy
            if solid:
                towards[2] = vz
            heights_a, heights_b = dot_a(towards), dot_b(towards)
            i, j = int(heights_a.argmin()), int(heights_b.argmax())
            iterations += 1
            ax, ay, az = rows_a[i]
            bx, by, bz = rows_b[j]
            wx, wy, wz = ax - bx, ay - by, az - bz
            if steps is not None:
                wx, wy, wz, i, j = steps.support((-vx, -vy, -vz), (wx, wy, wz, i, j))
            # 2. The slab, and whether it can become wider.
            v_w = vx * wx + vy * wy + vz * wz
            length = sqrt(vx * vx + vy * vy + vz * vz)
            gap = v_w / length
            if gap > best_gap:
                best_gap = gap
                best_normal = (0.0 - vx / length, 0.0 - vy / length, 0.0 - vz / length)  # never -0.0
                if not distance and gap > rounding:
                    return Simplex(False, simplex, (vx, vy, vz), best_normal, gap, (), iterations), True
            if steps is not None:
                steps.search((vx, vy, vz), length, (wx, wy, wz, i, j), simplex, best_gap)
            # mutant: gjk-one-step
            if simplex and (v2 - v_w <= GJK_GAP * EPS * length * (length + size) or is_known(simplex, i, j)):
                break
            # 3. and 4. The nearest point of the larger simplex.
            if v_w <= 0.0 and distance and solid and not simplex:
                opposite = int(heights_a.argmax()), int(heights_b.argmin())
                tried = self._first_tetrahedron((vx / length, vy / length, vz / length), opposite)
                iterations += len(_SPREAD)
                found = nearest_on(tried) if len(tried) < 4 else nearest_on_tetrahedron(*tried, any_face=True)
            else:
                tried = ((wx, wy, wz, i, j), *simplex)
                found = nearest_on(tried)
            if steps is not None:
                steps.reduce(tried, found)
            # mutant: gjk-inside-by-floats
            if found is None and not encloses_origin(tried, GJK_INSIDE * EPS * size * size * size):
                # mutant: gjk-thin-tetrahedra-by-floats
                found = nearest_on_simplex_exactly(tried)  # thin tetrahedra are noise to floats
                if steps is not None:
                    steps.reduce(tried, found, is_exact=True)
            if found is None:
                return _inside(tried, iterations), True
            x, y, z, face = found
            found2 = x * x + y * y + z * z
            if found2 <= touch2:
                return self._touching(face, iterations)
            if found2 >= v2:
                # Rounding hides whether the new point is nearer. Its direction may still be better: use it, once.
                features = frozenset((i, j) for _, _, _, i, j in face)
                if found2 > v2 * (1.0 + GJK_GAP * EPS) or features in equally_near:
                    break
                equally_near.add(features)
            vx, vy, vz, simplex, v2 = x, y, z, face, found2
        return self._result(simplex, (vx, vy, vz), best_gap, best_normal, iterations)

    def _result(
        self, simplex: tuple[Vertex, ...], v: Vector, best_gap: float, best_normal: Vector, iterations: int
    ) -> tuple[Simplex, bool]:
        # An earlier direction may have the same gap to rounding and yet differ; and the direction of v loses digits to
        # cancellation when the gap is small against the shapes. The normal of the feature that contains v has neither
        # problem.
        normal = _feature_normal(simplex, v)
        if normal is not None:
            nx, ny, nz = normal
            wx, wy, wz, _, _ = self._lowest(-nx, -ny, -nz)
            gap = -(nx * wx + ny * wy + nz * wz)
            if gap >= best_gap - self.rounding:
                best_gap, best_normal = gap, normal  # mutant: gjk-normal-turned
        nx, ny, nz = best_normal
        foot = (-best_gap * nx, -best_gap * ny, -best_gap * nz)
        weights = self.weights_of(foot, simplex)
        x, y, z = weighted_mean(simplex, weights)
        if best_gap <= self.rounding:
            return self._common_point(simplex, weights, (x, y, z), iterations)
        miss2 = (x - foot[0]) ** 2 + (y - foot[1]) ** 2 + (z - foot[2]) ** 2
        return Simplex(False, simplex, (x, y, z), best_normal, best_gap, weights, iterations), miss2 <= self.touch2

    def _first_tetrahedron(self, v: Vector, opposite: tuple[int, int]) -> tuple[Vertex, ...]:
        """Return the distinct ones of four support points of A - B: three around -v, and the one along the unit vector
        `v`, given by its indices.

        The first direction does not separate the shapes, so they are likely to intersect: this tetrahedron contains the
        origin more often than not, and is a good start for EPA, as three corners are near its result.
        """
        x, y, z = v
        if abs(z) < 0.9:
            scale = 1.0 / sqrt(x * x + y * y)
            px, py, pz = y * scale, -x * scale, 0.0
        else:
            scale = 1.0 / sqrt(y * y + z * z)
            px, py, pz = 0.0, z * scale, -y * scale
        qx, qy, qz = y * pz - z * py, z * px - x * pz, x * py - y * px
        (ax, ay, az), (bx, by, bz) = self.rows_a[opposite[0]], self.rows_b[opposite[1]]
        found: dict[tuple[int, int], Vertex] = {opposite: (ax - bx, ay - by, az - bz, *opposite)}
        for along, p, q in _SPREAD:
            point = self._lowest(along * x + p * px + q * qx, along * y + p * py + q * qy, along * z + p * pz + q * qz)
            found[point[3], point[4]] = point
        return tuple(found.values())

    def _lowest(self, x: float, y: float, z: float) -> Vertex:
        """Return the support point of A - B against a direction."""
        towards = self.towards
        towards[0] = x
        towards[1] = y
        if self.solid:
            towards[2] = z
        i, j = int(self.dot_a(towards).argmin()), int(self.dot_b(towards).argmax())
        ax, ay, az = self.rows_a[i]
        bx, by, bz = self.rows_b[j]
        return ax - bx, ay - by, az - bz, i, j

    def _touching(self, vertices: tuple[Vertex, ...], iterations: int) -> tuple[Simplex, bool]:
        weights = self.weights_of((0.0, 0.0, 0.0), vertices)
        return self._common_point(vertices, weights, weighted_mean(vertices, weights), iterations)

    def _common_point(
        self, vertices: tuple[Vertex, ...], weights: tuple[float, ...], nearest: Vector, iterations: int
    ) -> tuple[Simplex, bool]:
        # On a sliver of a triangle, floats may find the origin inside and yet no weights for it.
        x, y, z = nearest
        settled = x * x + y * y + z * z <= self.touch2
        return Simplex(True, vertices, nearest, (0.0, 0.0, 0.0), 0.0, weights, iterations), settled


def _inside(vertices: tuple[Vertex, ...], iterations: int) -> Simplex:
    return Simplex(True, vertices, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, (), iterations)


def is_known(simplex: tuple[Vertex, ...], i: int, j: int) -> bool:
    """Return whether a simplex has the difference of vertex i of A and vertex j of B."""
    for _, _, _, known_i, known_j in simplex:  # noqa: SIM110 - any() takes twice as long
        if known_i == i and known_j == j:
            return True
    return False


def _feature_normal(simplex: tuple[Vertex, ...], v: Vector) -> Vector | None:
    """Return the unit normal from A to B of the feature that contains `v`, more accurate than -v itself."""
    vx, vy, vz = v
    if len(simplex) == 3:
        normal = triangle_normal(*simplex)
        if normal is None:
            return None
        nx, ny, nz = normal
        if nx * vx + ny * vy + nz * vz > 0.0:
            return 0.0 - nx, 0.0 - ny, 0.0 - nz
        return nx + 0.0, ny + 0.0, nz + 0.0
    if len(simplex) == 2:
        (ax, ay, az, _, _), (bx, by, bz, _, _) = simplex
        ux, uy, uz = bx - ax, by - ay, bz - az
        length2 = ux * ux + uy * uy + uz * uz
        for _ in range(2):
            along = (vx * ux + vy * uy + vz * uz) / length2
            vx, vy, vz = vx - along * ux, vy - along * uy, vz - along * uz
        length = sqrt(vx * vx + vy * vy + vz * vz)
        if length == 0.0:
            return None
        return 0.0 - vx / length, 0.0 - vy / length, 0.0 - vz / length
    length = sqrt(vx * vx + vy * vy + vz * vz)
    return 0.0 - vx / length, 0.0 - vy / length, 0.0 - vz / length
