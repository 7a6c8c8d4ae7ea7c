# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact that follows from a trace: each step is computed again from the indices in it, and compared.

It is no second search by GJK and EPA. What they search, the support points and the border of the faces that see one, is
read from the records, and checked by what makes it right: a support point is as far as any vertex, to rounding; the
border is that of all faces that see it, each of which is looked at. What follows from indices, such as the nearest
point of a simplex, a normal or a bound, is computed by the functions that the solvers use, so it has to agree to the
last digit. SAT, the cuts of the region and the first tetrahedra of GJK and EPA leave nothing to choose: they are made
again. Source: S4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from math import inf, sqrt
from typing import Any, NoReturn

from .curved.convex_contact import convex_contact
from .narrow_phase.directions import Directions
from .narrow_phase.epa import (
    _FLAT,
    Face,
    Penetration,
    _face,
    _first_polytope,
    _Flat,
    _flat_penetration,
    _Polytope,
    _rank,
    _side,
    _start_polygon,
    _support_function,
    _tie_width,
)
from .narrow_phase.epa_steps import PolygonSteps, PolytopeSteps, settled_as
from .narrow_phase.exact import nearest_on_simplex_exactly
from .narrow_phase.gjk import (
    _FLOATS,
    _SPREAD,
    _WHOLE_NUMBERS,
    Simplex,
    _inside,
    _SimplexWalk,
    first_direction,
    is_known,
    is_ordinary,
    simplex_of,
    size_of_difference,
)
from .narrow_phase.gjk_steps import SimplexSteps, pairs_of
from .narrow_phase.polytope_contact import (
    DecidingAxis,
    answer_apart,
    answer_inside,
    answer_still_deep,
    contact_of,
    deciding_axis,
)
from .result import Contact, Method
from .shapes.curved_shape import ConvexShape
from .shapes.ordinary_size import at_ordinary_size, extreme_exponent
from .shapes.polytope import Polytope
from .shapes.shape import validate_solids
from .shapes.simplex import (
    Vector,
    Vertex,
    encloses_origin,
    nearest_on_segment,
    nearest_on_simplex,
    nearest_on_tetrahedron,
)
from .tolerance import (
    COPLANAR,
    DEFAULT_CONTACT_TOLERANCE,
    EPA_CONVERGED,
    EPS,
    GJK_GAP,
    GJK_INSIDE,
    PROMISE_RELATIVE,
    SUPPORT_ROUNDING,
    TIE_WIDTH,
)
from .trace import TRACE_VERSION, EpaOutcome, EpaStep, GjkStep, IndexPair, Step, Trace


def replay(trace: Trace, a: ConvexShape, b: ConvexShape) -> Contact:
    """Return the contact that follows from the steps of `contact(a, b, trace=True)`, equal in every field.

    >>> a, b = Box((0, 0, 0), (2, 2, 2)), Box((1.5, 0.5, 0), (2, 2, 2))
    >>> trace = contact(a, b, trace=True).trace
    >>> replay(trace, a, b).depth
    0.5
    >>> replay(replace(trace, steps=trace.steps[1:]), a, b)
    Traceback (most recent call last):
    ValueError: step 0 (epa): a step of gjk has to be here

    Raises ValueError for a trace of other shapes, or one whose steps are not all in order; the message begins with the
    index of the first step that does not follow from those before, and its kind. Source: S4.5.
    """
    if not isinstance(trace, Trace):
        raise ValueError(f"trace must be that of contact(a, b, trace=True), not {type(trace).__name__}")
    validate_solids(a, b)
    if trace.version != TRACE_VERSION:
        raise ValueError(f"trace: its version is {trace.version}, not {TRACE_VERSION}; make it again")
    if trace.function != "contact":
        raise ValueError(f"trace: a trace of contact(a, b, trace=True) is needed, not one of {trace.function}")
    for name, shape, count in zip("ab", (a, b), trace.counts, strict=True):
        core = shape.skeleton if isinstance(shape, ConvexShape) else None
        if core is None:
            what = f"but a {type(shape).__name__} is not"
            raise ValueError(f"{name} must have vertices, as ConvexHull, or be round about them, as Sphere, {what}")
        if (core.dim, len(core.vertices)) != (trace.dim, count):
            raise ValueError(
                f"{name}: the trace is of a shape with {count} vertices in {trace.dim} dimensions, "
                f"not {len(core.vertices)} in {core.dim}"
            )
    if trace.radii != (a.rounding_radius, b.rounding_radius):
        raise ValueError(f"trace: it is of shapes with the radii {trace.radii[0]:g} and {trace.radii[1]:g}")
    tape, clearance, tolerance = _Tape(trace), trace.clearance, trace.contact_tolerance

    def solve_cores(a: Polytope, b: Polytope, method: Method, *, trace: bool) -> Contact:
        return _polytope_contact(tape, a, b, method)

    if isinstance(a, Polytope) and isinstance(b, Polytope):
        found = _polytope_contact(tape, a, b, trace.method, clearance, tolerance, has_region=True)
    else:
        tape.exponents.append(extreme_exponent(a, b))
        found = convex_contact(
            a, b, method=trace.method, clearance=clearance, contact_tolerance=tolerance, solve_cores=solve_cores
        )
    if tape.place < len(tape.steps):
        tape.refuse(tape.steps[tape.place].kind, "the contact is known before it")
    return replace(found, trace=trace)


class _Tape:
    """The recorded steps in order, and the shapes to which their indices refer."""

    def __init__(self, trace: Trace) -> None:
        self.steps, self.from_start = trace.steps, trace.from_start
        self.place = 0
        """Index of the step that is computed now."""
        self.exponents: list[int] = []
        """The shapes were scaled by 2 to the power of the last one, and so on to the first."""

    def refuse(self, kind: str, reason: str) -> NoReturn:
        raise ValueError(f"step {self.place} ({kind}): {reason}")

    def next(self, kind: str) -> Any:
        """Return the step that is recorded next, of the kind that has to be here."""
        if self.place == len(self.steps):
            self.refuse(kind, "it is missing")
        step = self.steps[self.place]
        if step.kind != kind:
            self.refuse(step.kind, f"a step of {kind} has to be here")
        return step

    def compare(self, computed: Sequence[Step]) -> None:
        """Compare steps that were computed with those that are recorded."""
        for step in computed:
            recorded = self.next(step.kind)
            for exponent in reversed(self.exponents):
                step = step.scaled(exponent)
            if step != recorded:
                names = [n for n in vars(step) if getattr(step, n) != getattr(recorded, n, None)]
                self.refuse(step.kind, f"{names[0] if names else 'kind'} does not follow from the steps before")
            self.place += 1


class _Pair:
    """Two polytopes of ordinary size, and their support points."""

    def __init__(self, tape: _Tape, a: Polytope, b: Polytope) -> None:
        self.tape, self.a, self.b = tape, a, b
        self.size = size_of_difference(a, b)
        self.rounding = SUPPORT_ROUNDING * EPS * self.size

    def points(self, kind: str, pairs: Sequence[IndexPair]) -> tuple[Vertex, ...]:
        """Return the points of A - B with these indices."""
        counts = len(self.a.vertices), len(self.b.vertices)
        for pair in pairs:
            if len(pair) != 2 or not all(0 <= index < count for index, count in zip(pair, counts, strict=True)):
                self.tape.refuse(kind, f"{pair} is not a pair of their vertices")
        return simplex_of(self.a, self.b, pairs)

    def support(self, kind: str, pair: IndexPair | None, direction: Vector) -> Vertex:
        """Return the point of A - B with these indices, which must be as far along a unit vector as any."""
        if pair is None:
            self.tape.refuse(kind, "it has no support point")
        (point,) = self.points(kind, [pair])
        along = direction[: self.a.dim]
        heights_a, heights_b = self.a._centred.dot(along), self.b._centred.dot(along)
        lack = float(heights_a.max() - heights_a[pair[0]] + (heights_b[pair[1]] - heights_b.min()))
        if lack > self.rounding:  # mutant: replay-any-support-point
            self.tape.refuse(kind, f"{pair} is not a support point")
        return point


def _polytope_contact(
    tape: _Tape,
    a: Polytope,
    b: Polytope,
    method: Method,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    *,
    has_region: bool = False,
) -> Contact:
    """Return the contact of two polytopes, or of two cores, which have no steps with a region."""
    exponent = 0 if is_ordinary(size_of_difference(a, b)) else extreme_exponent(a, b)

    def solve(a: Polytope, b: Polytope, clearance: float) -> Contact:
        pair = _Pair(tape, a, b)
        steps: list[Step] = []
        by_sat = deciding_axis(a, b, steps) if method in ("sat", "both") else None
        tape.compare(steps)
        steps.clear()
        if tape.from_start:
            simplex, answer = answer_still_deep(a, b, _grown(pair, _last_polytope(pair)))
        else:
            simplex = _nearest_points(pair, by_sat)
            if simplex.intersects:
                answer = answer_inside(a, b, simplex, _penetration(pair, simplex), by_sat if method == "sat" else None)
            else:
                answer = answer_apart(simplex)
        region = steps if has_region else None
        found = contact_of(a, b, pair.size, simplex, answer, by_sat, method, clearance, contact_tolerance, region)
        tape.compare(steps)
        return found

    tape.exponents.append(exponent)
    found = at_ordinary_size(solve, a, b, clearance) if exponent else solve(a, b, clearance)
    tape.exponents.pop()
    return found


# --- GJK ------------------------------------------------------------------------------------------------------------


def _nearest_points(pair: _Pair, by_sat: DecidingAxis | None) -> Simplex:
    """Return GJK's result."""
    tape, a, b, size = pair.tape, pair.a, pair.b, pair.size
    first: GjkStep = tape.next("gjk")
    start = first.tried[:3] if first.support is None else ()
    v = first_direction(a, b, by_sat.normal if by_sat is not None and by_sat.signed_distance > 0.0 else None)
    steps, begin = SimplexSteps(a.dim, size), tape.place
    found, settled = _walk(pair, _SimplexWalk(a, b, size, _FLOATS, None), v, pair.points("gjk", start), steps, begin)
    steps.end(found.intersects, found.vertices, found.nearest, found.gap, found.weights, settled)
    if not settled:
        tape.compare(steps[tape.place - begin :])
        walk = _SimplexWalk(a, b, size, _WHOLE_NUMBERS, None)
        exact, _ = _walk(pair, walk, found.nearest, found.vertices, steps, begin)
        found = exact._replace(iterations=found.iterations + exact.iterations)
        steps.end(found.intersects, found.vertices, found.nearest, found.gap, found.weights)
    tape.compare(steps[tape.place - begin :])
    return found


def _walk(
    pair: _Pair, walk: _SimplexWalk, v: Vector, simplex: tuple[Vertex, ...], steps: SimplexSteps, begin: int
) -> tuple[Simplex, bool]:
    """Return the last simplex of the walk from `v` and `simplex`, and whether the search has converged; `steps` are
    those so far, the first of which is number `begin` of the trace."""
    tape, size = pair.tape, pair.size
    vx, vy, vz = v
    v2, best_gap, best_normal = inf, -inf, (0.0, 0.0, 0.0)
    equally_near: set[frozenset[IndexPair]] = set()
    iterations = 0
    if simplex:
        found = walk.nearest_on(simplex)
        steps.restart(simplex, found, walk.nearest_on is not nearest_on_simplex)
        if found is None:
            return _inside(simplex, 0), True
        vx, vy, vz, simplex = found
        v2 = vx * vx + vy * vy + vz * vz
        if v2 <= walk.touch2:
            return walk._touching(simplex, 0)
    while True:
        tape.compare(steps[tape.place - begin :])
        step: GjkStep = tape.next("gjk")
        length = sqrt(vx * vx + vy * vy + vz * vz)
        point = pair.support("gjk", step.support, (-vx / length, -vy / length, -vz / length))
        iterations += 1
        v_w = vx * point[0] + vy * point[1] + vz * point[2]
        gap = v_w / length
        if gap > best_gap:
            best_gap, best_normal = gap, (0.0 - vx / length, 0.0 - vy / length, 0.0 - vz / length)
        steps.search((vx, vy, vz), length, point, simplex, best_gap)
        if simplex and (v2 - v_w <= GJK_GAP * EPS * length * (length + size) or is_known(simplex, point[3], point[4])):
            break
        if v_w <= 0.0 and pair.a.dim == 3 and not simplex:
            unit = vx / length, vy / length, vz / length
            opposite = walk._lowest(-vx, -vy, -vz)
            tried = walk._first_tetrahedron(unit, opposite[3:])
            iterations += len(_SPREAD)
            found = walk.nearest_on(tried) if len(tried) < 4 else nearest_on_tetrahedron(*tried, any_face=True)
        else:
            tried = (point, *simplex)
            found = walk.nearest_on(tried)
        is_thin = found is None and not encloses_origin(tried, GJK_INSIDE * EPS * size * size * size)
        if is_thin:
            found = nearest_on_simplex_exactly(tried)
        steps.reduce(tried, found, is_thin)
        if found is None:
            return _inside(tried, iterations), True
        x, y, z, face = found
        found2 = x * x + y * y + z * z
        if found2 <= walk.touch2:
            return walk._touching(face, iterations)
        if found2 >= v2:
            corners = frozenset(pairs_of(face))
            if found2 > v2 * (1.0 + GJK_GAP * EPS) or corners in equally_near:
                break
            equally_near.add(corners)
        vx, vy, vz, simplex, v2 = x, y, z, face, found2
    return walk._result(simplex, (vx, vy, vz), best_gap, best_normal, iterations)


# --- EPA ------------------------------------------------------------------------------------------------------------


def _penetration(pair: _Pair, simplex: Simplex) -> Penetration:
    """Return EPA's result."""
    a, b, size = pair.a, pair.b, pair.size
    if a.dim == 2:
        triangle = _start_polygon(_support_function(a, b), _FLAT * EPS * size)
        if not isinstance(triangle, _Flat):
            return _grown_polygon(pair, triangle.points, triangle.iterations)
        flat = triangle
    else:
        polytope = _first_polytope(a, b, simplex, size)
        if not isinstance(polytope, _Flat):
            return _grown(pair, polytope)
        flat = polytope
    steps: list[Step] = []
    found = _flat_penetration(a, b, simplex, flat, steps)
    pair.tape.compare(steps)
    return found


def _last_polytope(pair: _Pair) -> _Polytope:
    """Return the polytope that the search starts from where the last contact is known."""
    first: EpaStep = pair.tape.next("epa")
    polytope = _Polytope(list(pair.points("epa", first.corners)), pair.size)
    number = {point[3:]: k for k, point in enumerate(polytope.points)}
    facets = [tuple(number.get(corner, -1) for corner in face) for face in first.added]
    is_surface = all(len(facet) == 3 and min(facet) >= 0 for facet in facets) and polytope.set_facets(facets)
    if not is_surface or len(polytope.triangle_at) < 3 * len(facets):  # an edge of two faces: one is repeated
        pair.tape.refuse("epa", "added is not a convex polytope around the origin")
    return polytope


def _grown(pair: _Pair, polytope: _Polytope) -> Penetration:
    """Return the result of growing a polytope in space."""
    tape, points, triangles = pair.tape, polytope.points, polytope.triangles
    steps: list[Step] = []
    record, settled = PolytopeSteps(steps, polytope), _Settled(pair)
    known, iterations = {point[3:] for point in points}, polytope.iterations
    while polytope.heap:
        offset, index = heappop(polytope.heap)
        triangle = triangles[index]
        if triangle is None:
            continue
        if offset > settled.limit:
            break
        tape.compare(steps)
        steps.clear()
        x, y, z, _, i, j, k, below = triangle
        corners, inner = (points[i], points[j], points[k]), min(settled.inner, offset)
        if settled.add_coplanar((x, y, z), corners):
            settled.inner = inner
            record.take("coplanar", triangle, None, None, settled.best, inner)
            continue
        step: EpaStep = tape.next("epa")
        point = pair.support("epa", step.support, (x, y, z))
        iterations += 1
        depth = x * point[0] + y * point[1] + z * point[2]
        settled.measure(depth)
        gap = depth - offset
        if gap > settled.converged and point[3:] not in known and (gap > -below or polytope.is_above(index, point)):
            known.add(point[3:])
            points.append(point)
            _cut(pair, polytope, index, step.silhouette, settled.limit)
            record.take("grown", triangle, point, depth, settled.best, inner)
        else:
            settled.inner = inner
            record.take(settled.as_outcome(depth), triangle, point, depth, settled.best, inner)
            settled.add((x, y, z), depth, corners)
    tape.compare(steps)
    facets = tuple([triangle[4:7] for triangle in triangles if triangle is not None])
    return Penetration(settled.ranked(), settled.best, settled.inner, tuple(points), facets, iterations)


def _cut(
    pair: _Pair, polytope: _Polytope, taken: int, silhouette: Sequence[tuple[IndexPair, IndexPair]], limit: float
) -> None:
    """Replace the triangles that see the last point, of all there are, by a cone over their border, in the order of
    `silhouette`; the one that was taken is known to see it."""
    points, triangles, grid = polytope.points, polytope.triangles, polytope.grid
    apex, decided, is_exact = len(points) - 1, grid.decided, False
    wx, wy, wz = points[apex][:3]
    sides: set[tuple[int, int]] = set()
    for index, triangle in enumerate(triangles):
        if triangle is None:
            continue
        x, y, z, offset, i, j, k, below = triangle
        height = x * wx + y * wy + z * wz - offset
        if index == taken or height > -below or (height >= below and grid.height(index, i, j, k, apex) > 0):
            is_exact |= index != taken and height <= -below
            triangles[index] = None
            sides |= {(i, j), (j, k), (k, i)}
    grid.decided = decided + is_exact  # as often as if only the neighbours were looked at
    number = {point[3:]: k for k, point in enumerate(points)}
    edges = [(number.get(start, -1), number.get(end, -1)) for start, end in silhouette]
    border = {(p, q) for p, q in sides if (q, p) not in sides}
    if set(edges) != border or any(edges[k - 1][1] != edges[k][0] for k in range(len(edges))):
        pair.tape.refuse("epa", "silhouette is not the border of the faces that see the support point")
    polytope.cover([(q, p) for p, q in edges], limit)


def _grown_polygon(pair: _Pair, start: Sequence[Vertex], iterations: int) -> Penetration:
    """Return the result of growing a triangle in the plane."""
    tape, points = pair.tape, list(start)
    known = {point[3:] for point in points}
    heap = [_side(points, i, j) for i, j in ((0, 1), (1, 2), (2, 0))]
    heapify(heap)
    steps: list[Step] = []
    record, settled = PolygonSteps(steps, points, heap[0][0]), _Settled(pair)
    sides: dict[tuple[int, int], float] = {}
    while heap and heap[0][0] <= settled.limit:
        tape.compare(steps)
        steps.clear()
        side = heappop(heap)
        offset, i, j, x, y = side
        step: EpaStep = tape.next("epa")
        point = pair.support("epa", step.support, (x, y, 0.0))
        iterations += 1
        depth = x * point[0] + y * point[1]
        settled.measure(depth)
        corners, normal = (points[i], points[j]), (x, y, 0.0)
        outcome: EpaOutcome = "grown"
        if depth - offset <= settled.converged or point[3:] in known:
            x0, y0, _, _ = nearest_on_segment(*corners)
            sides[i, j] = offset if depth - offset <= settled.converged else sqrt(x0 * x0 + y0 * y0)
            outcome = settled.as_outcome(depth)
            if settled.add_coplanar(normal, corners):
                outcome = "coplanar"
            else:
                settled.add(normal, depth, corners)
        else:
            known.add(point[3:])
            points.append(point)
            for start_, end in ((i, len(points) - 1), (len(points) - 1, j)):
                heappush(heap, _side(points, start_, end))
        record.take(outcome, side, point, depth, settled.best, min(sides.values(), default=inf))
    tape.compare(steps)
    sides |= {(i, j): offset for offset, i, j, _, _ in heap}
    inner = min(sides.values())
    return Penetration(settled.ranked(), settled.best, inner, tuple(points), tuple(sides), iterations)


class _Settled:
    """The faces that are on the surface of A - B."""

    def __init__(self, pair: _Pair) -> None:
        self.faces: list[Face] = []
        self.directions = Directions()
        self.best = self.inner = self.limit = inf
        self.width, self.converged = _tie_width(pair.a, pair.b), EPA_CONVERGED * EPS * pair.size

    def measure(self, depth: float) -> None:
        """Set by how much faces may be farther than the nearest and be equally near."""
        if depth < self.best:
            self.best = depth
            self.limit = depth + self.width + TIE_WIDTH * PROMISE_RELATIVE * abs(depth)

    def as_outcome(self, depth: float) -> EpaOutcome:
        """Return what a face with this depth is beside these."""
        return settled_as([face.depth for face in self.faces], depth, self.limit)

    def add(self, normal: Vector, depth: float, corners: tuple[Vertex, ...]) -> None:
        """Add a face."""
        self.faces.append(_face(normal, depth, corners))
        self.directions.add(*normal)

    def add_coplanar(self, normal: Vector, corners: tuple[Vertex, ...]) -> bool:
        """Return whether a face is part of one of these: that one is kept which contains the origin's projection."""
        same = self.directions.find(*normal, COPLANAR)
        if same is None:
            return False
        face = _face(self.faces[same].normal, self.faces[same].depth, corners)
        if face.miss < self.faces[same].miss:
            self.faces[same] = face
        return True

    def ranked(self) -> tuple[Face, ...]:
        """Return those that are equally near, the chosen one first."""
        return _rank([face for face in self.faces if face.depth <= self.limit], self.limit - self.best)
