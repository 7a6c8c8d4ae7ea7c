# SPDX-License-Identifier: GPL-3.0-or-later
"""EPA: penetration depth and direction of two shapes.

The penetration depth is the distance from the origin to the surface of the Minkowski difference A - B, and the nearest
point of the surface gives the normal. A polytope inside A - B grows there:

1. Start with a tetrahedron of support points: GJK's last simplex, or the widest one near it where that is thin. Flat
   and touching shapes are allowed: distances are signed, so the origin need not be inside.
2. Take the face nearest to the origin off the heap, and the support point w of A - B along its normal.
3. If w is no farther than the face, the face is on the surface of A - B: it is a result. Equally near faces are results
   too; end when the next one is farther.
4. Else w sees this face, and maybe its neighbours. Walk from edge to edge over all faces that see w, remove them, and
   put a cone of triangles with the apex w over their silhouette. Continue with 2.

Where floats do not decide on which side of a face a point is, integers do, so the polytope is always closed and convex.
It is kept as the proof of the depth. In the plane faces are sides, and no walk is needed.

Source: S2.1; G. van den Bergen, Proximity Queries and Penetration Depth Computation on 3D Game Objects, 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from math import frexp, inf, sqrt
from typing import NamedTuple

import numpy as np

from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope, validate_polytopes
from ..shapes.simplex import Vector, Vertex, barycentric, nearest_on_segment, triangle_normal, weighted_mean
from ..tolerance import (
    COPLANAR,
    EPA_CONVERGED,
    EPA_FILTER,
    EPS,
    PROMISE_RELATIVE,
    SAME_DIRECTION,
    SLIVER,
    SUPPORT_ROUNDING,
    TIE_WIDTH,
    promised,
)
from ..trace import EpaOutcome, Trace
from .directions import Directions
from .epa_steps import PolygonSteps, PolytopeSteps, flat_step
from .exact import WholeVector, weights_exactly, whole_normal, whole_plane
from .gjk import Simplex, is_ordinary, scaled_vertices, simplex_of, size_of_difference
from .step_list import StepList

_EPA_GRID_BITS = 60
"""Bits of the integer grid for exact arithmetic: its step is 2**-60 R, far below the rounding of a point."""
_FLAT = 8.0  # mutant: tolerance-flat
"""Times EPS R: a Minkowski difference thinner than this is flat."""
_THIN_START = 1e-3
"""Height over length below which GJK's tetrahedron is too thin to grow from and a wider one is searched."""


class Face(NamedTuple):
    """A nearest face of the Minkowski difference to the origin."""

    normal: Vector
    """Unit, outward: from A to B. z = 0 in the plane."""
    depth: float
    """Support of A - B along `normal`: moving B by `depth * normal` separates. World units; may be negative by
    rounding."""
    vertices: tuple[Vertex, ...]
    """Points of A - B that span the face (two in the plane; fewer where A - B is flat)."""
    weights: tuple[float, ...]
    """Barycentric weights of the point of the face nearest to the origin."""
    miss: float
    """Distance of that point from the origin's projection along the normal: 0 when the projection is in the face."""


class Penetration(NamedTuple):
    """The result of EPA."""

    faces: tuple[Face, ...]
    """The faces nearest to the origin, all within the tie tolerance; the chosen one first."""
    depth: float
    """The smallest `depth` of the faces, world units."""
    inner: float
    """The polytope's surface is nowhere nearer to the origin than this, so the true depth is at least this. World
    units; -inf when A - B is flat, negative when the origin is outside the polytope."""
    points: tuple[Vertex, ...]
    """Corners of the polytope, points of A - B; empty when A - B is flat."""
    facets: tuple[tuple[int, ...], ...]
    """The polytope's outward triangles (in the plane: sides, counter-clockwise) as indices into `points`."""
    iterations: int
    """Number of support points computed."""
    trace: Trace | None = None
    """The steps, if requested."""

    def scaled(self, exponent: int) -> Penetration:
        """Return the penetration of the shapes scaled by 2**exponent."""

        def times(length: float) -> float:
            return float(np.ldexp(length, exponent))

        faces = (
            face._replace(
                depth=times(face.depth), vertices=scaled_vertices(face.vertices, exponent), miss=times(face.miss)
            )
            for face in self.faces
        )
        return self._replace(
            faces=tuple(faces),
            depth=times(self.depth),
            inner=times(self.inner),
            points=scaled_vertices(self.points, exponent),
            trace=self.trace and self.trace.scaled(exponent),
        )


_Support = Callable[[float, float, float], Vertex]

_LEAN_X, _LEAN_Y = 0.45, 0.6
"""A ray from the origin along (_LEAN_X, _LEAN_Y, 1), which few edges of real shapes meet."""


def epa(a: Polytope, b: Polytope, simplex: Simplex, *, trace: bool = False) -> Penetration:
    """Return depth, normals and polytope of two shapes that GJK found to intersect, or to touch within rounding.

    >>> a, b = Box((0, 0, 0), (2, 2, 2)), Box((1.5, 0.5, 0), (2, 2, 2))
    >>> result = epa(a, b, gjk(a, b))
    >>> print(result.depth, result.faces[0].normal)
    0.5 (1.0, 0.0, 0.0)

    World frame and units; normals point from A to B. `simplex` is what `gjk(a, b)` returned; it may have any number of
    vertices, and the origin may be outside: the depth is then negative, minus a lower bound of the distance. With
    `trace` the result has the steps, for study.

    Raises ValueError, naming the argument, when one is not a polytope, their dimensions differ, or `simplex` is not a
    Simplex. Source: S2.1.
    """
    validate_polytopes(a, b)
    if not isinstance(simplex, Simplex):
        raise ValueError(f"simplex must be a result of gjk(a, b), not {type(simplex).__name__}")
    size = size_of_difference(a, b)
    if not is_ordinary(size):
        exponent = extreme_exponent(a, b)
        if exponent:
            a, b, simplex = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), simplex.scaled(-exponent)
            return epa(a, b, simplex, trace=trace).scaled(exponent)
    steps = StepList(a, b) if trace else None
    found = nearest_faces(a, b, simplex, steps)
    return found if steps is None else found._replace(trace=steps.trace("epa"))


def nearest_faces(a: Polytope, b: Polytope, simplex: Simplex, steps: StepList | None) -> Penetration:
    """Return the result of `epa` for validated arguments and shapes of ordinary size."""
    return (_grow_polytope if a.dim == 3 else _grow_polygon)(a, b, simplex, size_of_difference(a, b), steps)


def epa_again(
    a: Polytope,
    b: Polytope,
    pairs: Sequence[tuple[int, int]],
    facets: Sequence[tuple[int, ...]],
    steps: StepList | None = None,
) -> Penetration | None:
    """Return depth, normals and polytope of two shapes in space that still intersect, grown from their last polytope.

    `pairs` and `facets` are those of a `Certificate`, of these shapes or any others in space with such vertices. None
    where the facets, of the current points of A - B with these indices, are not a convex polytope around the origin, or
    rounding could hide that they are not: then use `gjk` and `epa`. Source: S1.8, S2.1.
    """
    size = size_of_difference(a, b)
    points = list(simplex_of(a, b, pairs))
    if a.dim != 3 or len(facets) < 4 or len(points) != len(pairs) or not is_ordinary(size):
        return None
    polytope = _Polytope(points, size)
    if not polytope.set_facets(facets):
        return None
    found = _grow(polytope, _support_function(a, b, steps), _tie_width(a, b), steps)
    return found if found.inner > SUPPORT_ROUNDING * EPS * size else None


def _tie_width(a: Polytope, b: Polytope) -> float:
    """Return by how much the distances of equally good faces may differ, besides the part proportional to depth."""
    extent_a, extent_b, magnitude_a, magnitude_b = a.extent, b.extent, a.magnitude, b.magnitude
    extent = extent_a if extent_a < extent_b else extent_b
    return TIE_WIDTH * promised(0.0, extent, magnitude_a if magnitude_a > magnitude_b else magnitude_b)


def _support_function(a: Polytope, b: Polytope, steps: StepList | None = None) -> _Support:
    """Return the support mapping of A - B for unit vectors."""
    rows_a, rows_b = a._rows, b._rows
    dot_a, dot_b = a._centred.dot, b._centred.dot
    along, heights_a, heights_b = np.empty(a.dim), np.empty(len(rows_a)), np.empty(len(rows_b))
    highest_a, lowest_b = heights_a.argmax, heights_b.argmin
    solid = a.dim == 3

    def support(x: float, y: float, z: float) -> Vertex:
        along[0] = x
        along[1] = y
        if solid:
            along[2] = z
        dot_a(along, heights_a)
        dot_b(along, heights_b)
        i, j = int(highest_a()), int(lowest_b())
        ax, ay, az = rows_a[i]
        bx, by, bz = rows_b[j]
        return ax - bx, ay - by, az - bz, i, j

    return support if steps is None else lambda x, y, z: steps.support((x, y, z), support(x, y, z))


class _Grid:
    """The points as integers, on a grid far finer than their rounding.

    The side of a plane can then be decided exactly where floats cannot, so the polytope stays convex and its surface
    simple.
    """

    def __init__(self, points: list[Vertex], cells: float) -> None:
        """`points` may grow; `cells` is the number of cells per unit of length."""
        self._points = points
        self._cells = cells
        self._whole: dict[int, WholeVector] = {}
        self._planes: dict[int, tuple[int, int, int, int]] = {}
        self.decided = 0
        """How often it has decided."""

    def point(self, index: int) -> WholeVector:
        found = self._whole.get(index)
        if found is None:
            x, y, z, _, _ = self._points[index]
            cells = self._cells
            found = self._whole[index] = (int(x * cells), int(y * cells), int(z * cells))
        return found

    def height(self, triangle: int, i: int, j: int, k: int, point: int) -> int:
        """Return the height of a point above the triangle with this number and corners, up to a positive factor."""
        self.decided += 1
        plane = self._planes.get(triangle)
        if plane is None:
            plane = self._planes[triangle] = whole_plane(self.point(i), self.point(j), self.point(k))
        x, y, z = self.point(point)
        return plane[0] * x + plane[1] * y + plane[2] * z - plane[3]

    def plane(self, i: int, j: int, k: int) -> tuple[float, float, float, float, bool]:
        """Return the plane of a triangle in floats: unit normal, offset, and whether it is a sliver.

        The normal of a sliver is computed from integers.
        """
        plane = _plane(self._points[i], self._points[j], self._points[k])
        if plane is not None:
            return *plane, False
        px, py, pz, _, _ = self._points[i]
        x, y, z = whole_normal(self.point(i), self.point(j), self.point(k))
        scale = 1.0 / sqrt(x * x + y * y + z * z)
        x, y, z = x * scale, y * scale, z * scale
        return x, y, z, x * px + y * py + z * pz, True

    def drop_last(self) -> None:
        """Remove the last point."""
        self._whole.pop(len(self._points) - 1)
        self._points.pop()


def _plane(p: Vertex, q: Vertex, r: Vertex) -> tuple[float, float, float, float] | None:
    """Return unit normal and offset of the plane of a triangle, right-handed; None of a sliver."""
    px, py, pz, _, _ = p
    qx, qy, qz, _, _ = q
    rx, ry, rz, _, _ = r
    ux, uy, uz = qx - px, qy - py, qz - pz
    vx, vy, vz = rx - px, ry - py, rz - pz
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length2 = x * x + y * y + z * z
    if length2 <= SLIVER * SLIVER * (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz):
        return None
    scale = 1.0 / sqrt(length2)
    x, y, z = x * scale, y * scale, z * scale
    return x, y, z, x * px + y * py + z * pz


_Triangle = tuple[float, float, float, float, int, int, int, float]
"""Outward unit normal x, y, z and offset of the plane; corners i, j, k, counter-clockwise seen from outside; and minus
the height below which floats do not decide on which side of the plane a point is."""


class _Polytope:
    """A closed polytope of points of A - B in space that grows by points outside of it."""

    __slots__ = ("converged", "filtered", "grid", "heap", "iterations", "points", "triangle_at", "triangles")

    def __init__(self, points: list[Vertex], size: float) -> None:
        self.points = points
        self.grid = _Grid(points, 2.0 ** (_EPA_GRID_BITS - frexp(size)[1]))
        self.filtered = EPA_FILTER * EPS * size
        self.converged = EPA_CONVERGED * EPS * size  # mutant: epa-converged-too-early
        self.triangles: list[_Triangle | None] = []
        """All triangles in order of creation; None once a new point has replaced one."""
        self.triangle_at: dict[tuple[int, int], int] = {}
        """The triangle that has an edge, from its start to its end."""
        self.heap: list[tuple[float, int]] = []
        """Offset and index of the triangles that may be nearest."""
        self.iterations = 0
        """Number of support points computed for the start."""

    @classmethod
    def tetrahedron(cls, points: tuple[Vertex, ...], height: float, size: float) -> _Polytope | None:
        """Return the tetrahedron of four points, the last of them `height` above the others; None when it is flat."""
        polytope = cls(list(points), size)
        above = height if abs(height) > polytope.filtered else polytope.grid.height(-1, 0, 1, 2, 3)
        if above == 0:
            return None
        # The base; its other sides are the first cone, with the last corner as apex.
        i, j, k = (0, 1, 2) if above < 0 else (2, 1, 0)
        x, y, z, offset, sliver = polytope.grid.plane(i, j, k)
        polytope.triangles.append((x, y, z, offset, i, j, k, -inf if sliver else -polytope.filtered))
        polytope.triangle_at = {(i, j): 0, (j, k): 0, (k, i): 0}
        polytope.heap.append((offset, 0))
        polytope.cover([(k, i), (j, k), (i, j)], inf)
        return polytope

    def set_facets(self, facets: Sequence[tuple[int, ...]]) -> bool:
        """Set the triangles; return whether they are certainly a convex polytope around the origin."""
        filtered, points, triangle_at = self.filtered, self.points, self.triangle_at
        along = [(x - _LEAN_X * z, y - _LEAN_Y * z) for x, y, z, _, _ in points]
        pierced = 0
        for index, (i, j, k) in enumerate(facets):
            plane = _plane(points[i], points[j], points[k])
            if plane is None or plane[3] <= filtered:
                return False
            self.triangles.append((*plane, i, j, k, -filtered))
            self.heap.append((plane[3], index))
            triangle_at[i, j] = triangle_at[j, k] = triangle_at[k, i] = index
            (px, py), (qx, qy), (rx, ry) = along[i], along[j], along[k]
            pierced += px * qy >= py * qx and qx * ry >= qy * rx and rx * py >= ry * px
        # All face away from the origin, so they enclose it once or several times: as often as a ray pierces them.
        if pierced != 1 or len(triangle_at) < 3 * len(facets):  # a facet that is there twice may not be pierced
            return False
        for index, (i, j, k) in enumerate(facets):
            x, y, z, offset, *_ = self.triangles[index]  # type: ignore[misc]
            for start, end in ((j, i), (k, j), (i, k)):
                across = triangle_at.get((start, end))
                if across is None:
                    return False
                if across < index:
                    continue  # seen from the other side
                far = sum(facets[across]) - start - end  # the third corner
                px, py, pz, _, _ = points[far]
                height = x * px + y * py + z * pz - offset
                if height > filtered or (height >= -filtered and self.grid.height(index, i, j, k, far) > 0):
                    return False  # it bends inward
        heapify(self.heap)
        return True

    def is_above(self, index: int, point: Vertex) -> bool:
        """Return whether a point is above a triangle, exactly; used where floats do not decide."""
        _, _, _, _, i, j, k, _ = self.triangles[index]  # type: ignore[misc]
        self.points.append(point)
        above = self.grid.height(index, i, j, k, len(self.points) - 1) > 0
        self.grid.drop_last()
        return above

    def cover(self, pending: list[tuple[int, int]], limit: float) -> None:
        """Remove the triangles that see the last point, and close the hole with a cone of this apex.

        `pending` are the edges to cross; edges are written as in the triangle across, from q to p. The walk is from
        edge to edge in order, so an edge of the silhouette ends where the one before started. Triangles farther than
        `limit` from the origin are not pushed on the heap.
        """
        points, triangles, triangle_at, heap, grid = self.points, self.triangles, self.triangle_at, self.heap, self.grid
        apex, usual, sliver2 = len(points) - 1, -self.filtered, SLIVER * SLIVER
        wx, wy, wz, _, _ = points[apex]
        last = -1
        vx = vy = vz = v2 = 0.0  # corner `last` as seen from the new point
        while pending:
            edge = pending.pop()
            across = triangle_at[edge]
            neighbour = triangles[across]
            if neighbour is None:
                continue  # replaced already: this edge is inside the hole
            x, y, z, plane, p2, q2, r2, below = neighbour
            height = x * wx + y * wy + z * wz - plane
            q, p = edge
            # mutant: epa-sides-by-floats
            if height >= below and (height > -below or grid.height(across, p2, q2, r2, apex) > 0):
                triangles[across] = None
                if p2 == q:
                    pending += ((r2, q2), (p2, r2))
                elif q2 == q:
                    pending += ((p2, r2), (q2, p2))
                else:
                    pending += ((q2, p2), (r2, q2))
                continue
            if q != last:
                px, py, pz, _, _ = points[q]
                vx, vy, vz = px - wx, py - wy, pz - wz
                v2 = vx * vx + vy * vy + vz * vz
            ux, uy, uz = vx, vy, vz
            u2, last = v2, p
            px, py, pz, _, _ = points[p]
            vx, vy, vz = px - wx, py - wy, pz - wz
            v2 = vx * vx + vy * vy + vz * vz
            x, y, z = vy * uz - vz * uy, vz * ux - vx * uz, vx * uy - vy * ux
            length2 = x * x + y * y + z * z
            if length2 > sliver2 * u2 * v2:  # mutant: epa-slivers-by-floats
                scale = 1.0 / sqrt(length2)
                x, y, z = x * scale, y * scale, z * scale
                offset = x * wx + y * wy + z * wz
                below = usual
            else:
                x, y, z, offset, _ = grid.plane(apex, p, q)
                below = -inf
            index = len(triangles)
            triangles.append((x, y, z, offset, p, q, apex, below))
            if offset <= limit:
                heappush(heap, (offset, index))
            triangle_at[p, q] = triangle_at[q, apex] = triangle_at[apex, p] = index


def _grow_polytope(a: Polytope, b: Polytope, simplex: Simplex, size: float, steps: StepList | None) -> Penetration:
    start = _start_polytope(a, b, simplex.vertices, _FLAT * EPS * size)
    if isinstance(start, _Flat):
        return _flat_penetration(a, b, simplex, start, steps)
    polytope = _Polytope.tetrahedron(start.points, start.height, size)
    if polytope is None:
        flat = _Flat(start.normal, start.iterations, start.points[:3])
        return _flat_penetration(a, b, simplex, flat, steps)
    polytope.iterations = start.iterations
    return _grow(polytope, _support_function(a, b, steps), _tie_width(a, b), steps)


def _grow(polytope: _Polytope, support: _Support, tie_width: float, steps: StepList | None) -> Penetration:
    """Grow a polytope until the faces nearest to the origin, to `tie_width`, are on the surface of A - B."""
    points, triangles, heap, converged = polytope.points, polytope.triangles, polytope.heap, polytope.converged
    known = {point[3:] for point in points}
    faces: list[Face] = []
    directions = Directions()
    best = inner = limit = inf
    iterations = polytope.iterations
    grid = polytope.grid
    record = None if steps is None else PolytopeSteps(steps, points, triangles, heap[0][0], grid.decided)
    while heap:
        offset, index = heappop(heap)
        triangle = triangles[index]
        if triangle is None:
            continue
        if offset > limit:
            break
        x, y, z, _, i, j, k, below = triangle
        if faces:
            same = directions.find(x, y, z, COPLANAR)
            if same is not None:
                # A coplanar neighbour of a settled face: the one that contains the origin's projection is kept.
                face = _face(faces[same].normal, faces[same].depth, (points[i], points[j], points[k]))
                if face.miss < faces[same].miss:
                    faces[same] = face
                inner = min(inner, offset)
                if record is not None:
                    record.take("coplanar", triangle[:4], triangle[4:7], None, None, best, inner, limit, grid.decided)
                continue
        point = support(x, y, z)
        iterations += 1
        wx, wy, wz, w_a, w_b = point
        depth = x * wx + y * wy + z * wz
        if depth < best:
            best = depth
            limit = best + tie_width + TIE_WIDTH * PROMISE_RELATIVE * abs(best)
        gap = depth - offset
        # mutant: epa-first-face
        if gap > converged and (w_a, w_b) not in known and (gap > -below or polytope.is_above(index, point)):
            known.add((w_a, w_b))
            points.append(point)
            triangles[index] = None
            polytope.cover([(j, i), (k, j), (i, k)], limit)
            if record is not None:
                record.take("grown", triangle[:4], triangle[4:7], point, depth, best, inner, limit, grid.decided)
        else:
            if record is not None:
                record.take(None, triangle[:4], triangle[4:7], point, depth, best, inner, limit, grid.decided)
            faces.append(_face((x, y, z), depth, (points[i], points[j], points[k])))
            directions.add(x, y, z)
            inner = min(inner, offset)  # mutant: epa-inner-radius-forgotten
    return Penetration(
        _rank([f for f in faces if f.depth <= limit], limit - best),
        best,
        inner,
        tuple(points),
        tuple([triangle[4:7] for triangle in triangles if triangle is not None]),
        iterations,
    )


def _grow_polygon(a: Polytope, b: Polytope, simplex: Simplex, size: float, steps: StepList | None) -> Penetration:
    converged = EPA_CONVERGED * EPS * size
    support = _support_function(a, b, steps)
    start = _start_polygon(support, _FLAT * EPS * size)
    if isinstance(start, _Flat):
        return _flat_penetration(a, b, simplex, start, steps)
    tie_width = _tie_width(a, b)

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
    directions = Directions()
    best = limit = inf
    iterations = start.iterations
    record = None if steps is None else PolygonSteps(steps, points, ((0, 1), (1, 2), (2, 0)), heap[0][0])
    while heap and heap[0][0] <= limit:
        offset, i, j, x, y = heappop(heap)
        w = support(x, y, 0.0)
        iterations += 1
        depth = x * w[0] + y * w[1]
        if depth < best:
            best = depth
            limit = best + tie_width + TIE_WIDTH * PROMISE_RELATIVE * abs(best)
        if depth - offset <= converged or (w[3], w[4]) in known:
            # The line of a very short side has large rounding errors; the distance of the side has not.
            x0, y0, _, _ = nearest_on_segment(points[i], points[j])
            settled[i, j] = offset if depth - offset <= converged else sqrt(x0 * x0 + y0 * y0)
            corners = (points[i], points[j])
            same = directions.find(x, y, 0.0, COPLANAR)
            if record is not None:
                outcome: EpaOutcome | None = None if same is None else "coplanar"
                inner = min(settled.values())
                record.take(outcome, (x, y, 0.0, offset), (i, j), w, depth, best, inner, limit)
            if same is None:
                faces.append(_face((x, y, 0.0), depth, corners))
                directions.add(x, y, 0.0)
            else:
                face = _face(faces[same].normal, faces[same].depth, corners)
                if face.miss < faces[same].miss:
                    faces[same] = face
            continue
        known.add((w[3], w[4]))
        points.append(w)
        add(i, len(points) - 1)
        add(len(points) - 1, j)
        if record is not None:
            inner = min(settled.values(), default=inf)
            record.take("grown", (x, y, 0.0, offset), (i, j), w, depth, best, inner, limit)
    for offset, i, j, _, _ in heap:
        settled[i, j] = offset
    return Penetration(
        _rank([f for f in faces if f.depth <= limit], limit - best),
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
    px, py, pz = weighted_mean(corners, weights)
    miss = sqrt((px - foot[0]) ** 2 + (py - foot[1]) ** 2 + (pz - foot[2]) ** 2)
    return Face((x + 0.0, y + 0.0, z + 0.0), depth, corners, weights, miss)  # never -0.0


def _rank(faces: list[Face], width: float) -> tuple[Face, ...]:
    """Return equally good faces in order: those that contain the origin's projection (to `width`) first, as they have
    witness points; then a face against a vertex before a pair of edges, then the most upward normal.

    When the depth is within the tie tolerance, an equally good face may not contain the projection.
    """

    def key(face: Face) -> tuple[float, bool, float, float, float]:
        edges = len({v[3] for v in face.vertices}) == 2 == len({v[4] for v in face.vertices})
        x, y, z = (round(-component, 9) for component in face.normal)
        return max(face.miss, width), edges, z, y, x

    if len(faces) == 1:
        return tuple(faces)
    distinct: list[Face] = []
    directions = Directions()
    for face in sorted(faces, key=key):
        if directions.find(*face.normal, SAME_DIRECTION) is None:
            distinct.append(face)
            directions.add(*face.normal)
    return tuple(distinct)  # mutant: epa-no-ties


class _Start(NamedTuple):
    """Corners of the first polytope, in the plane counter-clockwise; the direction in which they extend least, and the
    height of the last corner along it."""

    points: tuple[Vertex, ...]
    iterations: int
    normal: Vector
    height: float


class _Flat(NamedTuple):
    """The Minkowski difference has no thickness along `normal`."""

    normal: Vector
    iterations: int
    across: tuple[Vertex, ...]
    """One to three points of A - B to which the normal is perpendicular."""


def _start_polytope(a: Polytope, b: Polytope, vertices: tuple[Vertex, ...], flat: float) -> _Start | _Flat:
    """Return a tetrahedron of points of A - B: GJK's simplex when it is thick enough, else the widest found near it."""
    if len(vertices) == 4:
        p, q, r, s = vertices
        normal = triangle_normal(p, q, r)
        if normal is not None:
            height = _height(normal, p, s)
            if abs(height) > _THIN_START * _length(p, s):
                return _Start(vertices, 0, normal, height)
    support = _support_function(a, b)
    p = vertices[0]
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    tried = [*vertices[1:], *(support(s * x, s * y, s * z) for x, y, z in axes for s in (1.0, -1.0))]
    iterations = 6
    q = max(tried, key=lambda point: _length(p, point))
    length = _length(p, q)
    if length <= flat:
        return _Flat((0.0, 0.0, 1.0), iterations, (p,))
    ux, uy, uz = ((q[n] - p[n]) / length for n in range(3))

    def off_line(point: Vertex) -> float:
        x, y, z = point[0] - p[0], point[1] - p[1], point[2] - p[2]
        x, y, z = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
        return sqrt(x * x + y * y + z * z)

    across = _perpendicular((ux, uy, uz))
    second = (uy * across[2] - uz * across[1], uz * across[0] - ux * across[2], ux * across[1] - uy * across[0])
    tried += [support(s * x, s * y, s * z) for x, y, z in (across, second) for s in (1.0, -1.0)]
    iterations += 4
    r = max(tried, key=off_line)
    if off_line(r) <= flat:
        return _Flat(across, iterations, (p, q))
    normal = triangle_normal(p, q, r)
    if normal is None:
        return _Flat(across, iterations, (p, q))
    x, y, z = normal
    ends = (support(x, y, z), support(-x, -y, -z))
    iterations += 2
    s = max(ends, key=lambda point: abs(_height((x, y, z), p, point)))
    height = _height((x, y, z), p, s)
    if abs(height) <= flat:
        return _Flat((x, y, z), iterations, (p, q, r))
    return _Start((p, q, r, s), iterations, (x, y, z), height)


def _start_polygon(support: _Support, flat: float) -> _Start | _Flat:
    """Return a counter-clockwise triangle of support points of A - B in the plane.

    GJK's simplex is not used: its initial points may be inside of A - B, and a polygon with such a corner does not stay
    convex.
    """
    p, *tried = (support(x, y, 0.0) for x, y in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)))
    q = max(tried, key=lambda point: _length(p, point))
    length = _length(p, q)
    if length <= flat:
        return _Flat((0.0, 1.0, 0.0), 4, (p,))
    across = (-(q[1] - p[1]) / length, (q[0] - p[0]) / length, 0.0)
    x, y, _ = across
    r = max((support(x, y, 0.0), support(-x, -y, 0.0)), key=lambda point: abs(_height(across, p, point)))
    height = _height(across, p, r)
    if abs(height) <= flat:
        return _Flat(across, 6, (p, q))
    return _Start((p, q, r) if height > 0.0 else (p, r, q), 6, across, height)  # mutant: epa-polygon-clockwise


def _flat_penetration(a: Polytope, b: Polytope, simplex: Simplex, start: _Flat, steps: StepList | None) -> Penetration:
    """Return the result for a difference without thickness along a normal: both sides are equally good, unless the
    origin is beside it."""
    support = _support_function(a, b)
    x, y, z = start.normal
    weights = simplex.weights or weights_exactly(simplex.vertices)
    common = weighted_mean(simplex.vertices, weights)
    faces = []
    for sign in (1.0, -1.0):  # mutant: epa-flat-one-way-only
        normal = (sign * x + 0.0, sign * y + 0.0, sign * z + 0.0)
        px, py, pz, _, _ = support(*normal)
        depth = sign * (x * px + y * py + z * pz)
        miss = sqrt(sum((p - depth * n) ** 2 for p, n in zip(common, normal, strict=True)))
        faces.append(Face(normal, depth, simplex.vertices, weights, miss))
        if steps is not None:
            best = min(face.depth for face in faces)
            steps.append(flat_step(simplex.vertices, start.across, normal, depth, best, a.dim))
    depth = min(face.depth for face in faces)
    limit = depth + _tie_width(a, b)
    return Penetration(_rank([f for f in faces if f.depth <= limit], inf), depth, -inf, (), (), start.iterations + 2)


def _perpendicular(unit: Vector) -> Vector:
    """Return the unit vector perpendicular to `unit` with the largest z (along x when `unit` is vertical)."""
    x, y, z = unit
    px, py, pz = (-z * x, -z * y, 1.0 - z * z) if abs(z) < 0.9 else (1.0 - x * x, -x * y, -x * z)
    length = sqrt(px * px + py * py + pz * pz)
    return px / length, py / length, pz / length


def _length(p: Vertex, q: Vertex) -> float:
    x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    return sqrt(x * x + y * y + z * z)


def _height(normal: Vector, p: Vertex, q: Vertex) -> float:
    return normal[0] * (q[0] - p[0]) + normal[1] * (q[1] - p[1]) + normal[2] * (q[2] - p[2])
