# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of shapes with corners: vertices, edges, facets, planes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import dist
from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_direction
from ..runs import chunks, next_in_loops, ranges
from ..tolerance import EPS, SAME_AXIS, SAME_DIRECTION
from ..types import FloatArray, IntArray, read_only
from ..vectors import unit_rows
from .enclosing_sphere import enclosing_diameter
from .shape import Shape, as_shape, counted

_FACET_BELOW = 16.0
"""Times EPS and the sum of a polytope's magnitude and a point's distance from its centre: how far below the plane of a
facet a point may be computed to be that is above it. Facets merged of coplanar triangles are off by HULL_MERGE,
products of vectors and normals by 3."""
_FAR = 16.0
"""Times the magnitude: a polytope translated farther out is rebuilt, as other points may be coplanar there."""
_TINY = 2.0**-960
"""Extents below this lose digits: such a polytope is rebuilt too."""

PRODUCTS = 80_000
"""Products of vectors computed at a time: they fit the cache, and BLAS does not wait for other cores' threads (with
three times as many, SAT of two large hulls took ten times as long on a busy machine)."""


_P = TypeVar("_P", bound="Polytope")


class EdgeTable(NamedTuple):
    """The edges of a polytope in space, ready for SAT."""

    directions: FloatArray
    """(m, 3) unit vectors along the edges."""
    turned: FloatArray
    """(m, 3) the same with the components y, z, x, as cross products need them."""
    turned_back: FloatArray
    """(m, 3) the same with the components z, x, y."""
    starts: FloatArray
    """(m, 3) first vertex of each edge, from the centre."""
    first: IntArray
    """(m,) the first facet of each edge; (0,) when there are none."""
    second: IntArray
    """(m,) the second facet of each edge; (0,) when there are none."""


class Sides(NamedTuple):
    """The sides of all facets, one facet after the other."""

    facet: IntArray
    """(s,) the facet of each side."""
    first: IntArray
    """(f,) the first side of each facet."""
    sizes: IntArray
    """(f,) the number of sides of each facet."""
    start: IntArray
    """(s,) the corner each side begins with."""
    end: IntArray
    """(s,) the corner it ends with."""


@dataclass(frozen=True, eq=False, repr=False)
class Polytope(Shape):
    """A convex polytope of any rank in the plane or in space, in world coordinates.

    Every array of a `Box` or a `ConvexHull` is read-only, and so are all cached properties. (`Polytope(...)` itself
    keeps its arguments unchanged.) GJK and EPA need only `vertices`, SAT and the overlay read the facets and edges too.

    ==== ====== ======================================================= =====================================
    dim  rank   facets and normals                                      edges
    ==== ====== ======================================================= =====================================
    3    3      outward polygons, coplanar triangles merged             each between two facets
    3    2      two: the polygon seen from either side                  the polygon's sides, between facets 0, 1
    3    1, 0   none                                                    the segment; none
    2    2      one per side: facet i is edge i                         the sides, counter-clockwise
    2    1      two: the segment seen from either side                  the segment
    2    0      none                                                    none
    ==== ====== ======================================================= =====================================
    """

    vertices: FloatArray
    """(n, dim) the corners, exactly as given. In the plane, and for a flat polygon in space, in cyclic order."""
    rank: int
    """Dimension of the affine hull: 0 point, 1 segment, 2 polygon, 3 solid."""
    edges: IntArray
    """(m, 2) vertex indices of each edge."""
    edge_facets: IntArray
    """(m, 2) the two facets that meet in each edge; (0, 2) when there are none. In space the first facet has the edge
    in its loop as (edges[k, 0], edges[k, 1]), the second reversed."""
    facets: tuple[IntArray, ...]
    """Vertex indices of each facet, counter-clockwise seen from outside (in the plane: the two ends of a side)."""
    normals: FloatArray
    """(f, dim) unit outward normal of each facet."""
    offsets: FloatArray
    """(f,) `normals @ (x - center) <= offsets` for every point x of the shape."""

    # What a `CurvedShape` has: a polytope is its own core.
    rounding_radius = 0.0
    revolution = None

    @property
    def skeleton(self) -> Polytope:
        """The polytope itself."""
        return self

    def core_supports(self, directions: FloatArray) -> FloatArray:
        """Return the support points (k, dim) for `directions` (k, dim)."""
        return self._support_points(directions)

    def flat_directions(self, direction: FloatArray, point: FloatArray) -> FloatArray:
        """Return no directions (0, dim): see `CurvedShape.flat_directions`."""
        return np.zeros((0, self.dim))

    @property
    def dim(self) -> int:
        """Dimension of the points: 2 or 3."""
        return int(self.vertices.shape[1])

    @property
    def _parts(self) -> list[str]:
        corners, sides = len(self.vertices), len(self.facets)
        return [counted(corners, "vertex", "vertices"), counted(sides, "facet", "facets"), self._box_words]

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (dim,) of the axis-aligned bounding box, world frame."""
        return read_only(self.vertices.min(axis=0)), read_only(self.vertices.max(axis=0))

    @cached_property
    def area(self) -> float:
        """Surface area of a solid; area of a polygon (one side of it); 0.0 for a segment or a point."""
        if self.rank < 2:
            return 0.0
        return float(0.5 * np.abs(self._vector_areas).sum()) / (2.0 if self.rank < self.dim else 1.0)

    @cached_property
    def volume(self) -> float:
        """Volume of a solid; in the plane the area; 0.0 for anything flat."""
        if self.rank < self.dim:
            return 0.0
        if self.dim == 2:
            return self.area
        heights = (self.normals * self._centred[[loop[0] for loop in self.facets]]).sum(axis=1)
        return float((heights * self._vector_areas).sum() / 6.0)

    @cached_property
    def centroid(self) -> FloatArray:
        """(dim,) centre of mass, world frame: of the volume of a solid, of a polygon's area, of a segment's length."""
        if self.rank < 2:
            return self.center
        # Triangles about one corner of each facet; a solid in tetrahedra about the middle of its box.
        loops = (np.arange(len(self.vertices)),) if self.rank == 2 else self.facets
        corners = np.concatenate(
            [np.stack([np.full(len(f) - 2, f[0]), f[1:-1], f[2:]], axis=1) for f in loops]  # (t, 3)
        )
        size = float(np.abs(self._centred).max())
        local = self._centred / size  # products neither overflow nor vanish
        p, q, r = (local[corners[:, k]] for k in range(3))
        if self.rank == 3:
            weights, fourth = (p * np.cross(q, r)).sum(axis=1), 4.0
        elif self.dim == 3:
            weights, fourth = np.cross(q - p, r - p) @ self.normals[0], 3.0
        else:
            weights, fourth = (q - p)[:, 0] * (r - p)[:, 1] - (q - p)[:, 1] * (r - p)[:, 0], 3.0
        return read_only(self.center + size * (weights @ (p + q + r)) / (fourth * weights.sum()))

    @cached_property
    def steiner_terms(self) -> tuple[FloatArray, FloatArray]:
        """Weights (dim + 1,) and their first moments (dim + 1, dim) about `center`, of Steiner's formula.

        The volume of all points within r is the sum of `weights[k] * r**k`: of the polytope, its facets, its edges
        with the angles between their facets, and its corners with the solid angles that their facets leave.
        """
        p, flat = self._centred, self.dim == 2
        start, end = p[self.edges[:, 0]], p[self.edges[:, 1]]
        lengths = np.linalg.norm(end - start, axis=1)
        loops = (np.arange(len(p)),) if flat and self.rank else self.facets
        angles = np.zeros(len(p))
        sizes, middles = np.zeros(len(loops)), np.zeros((len(loops), self.dim))
        for k, loop in enumerate(loops):
            corners = p[loop]
            following, before = np.roll(corners, -1, axis=0) - corners, np.roll(corners, 1, axis=0) - corners
            cosines = (following * before).sum(axis=1)
            across = np.sqrt(np.maximum((following**2).sum(axis=1) * (before**2).sum(axis=1) - cosines**2, 0.0))
            angles[loop] += np.arctan2(across, cosines)
            if not flat:
                fan = np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0]) @ self.normals[k] / 2.0
                sizes[k] = fan.sum()
                middles[k] = fan @ (corners[0] + corners[1:-1] + corners[2:]) / 3.0
        full = np.pi if flat else 2.0 * np.pi
        open_angles = full - angles if self.rank else np.full(1, 2.0 * full)
        body = (self.volume, self.volume * (self.centroid - self.center))
        corners_term = (open_angles.sum(), open_angles @ p)
        if flat:
            sides = lengths * (2.0 if self.rank == 1 else 1.0)
            terms = [body, (sides.sum(), sides @ (start + end) / 2.0), tuple(0.5 * x for x in corners_term)]
        else:
            turns = np.full(len(lengths), 2.0 * np.pi)
            if len(self.edge_facets):
                n, m = self.normals[self.edge_facets].transpose(1, 0, 2)
                turns = np.arctan2(np.linalg.norm(np.cross(n, m), axis=1), (n * m).sum(axis=1))
            bent = 0.5 * turns * lengths
            edges_term = (bent.sum(), bent @ (start + end) / 2.0)
            terms = [body, (sizes.sum(), middles.sum(axis=0)), edges_term, tuple(x / 3.0 for x in corners_term)]
        return np.array([weight for weight, _ in terms]), np.array([moment for _, moment in terms])

    @cached_property
    def _middle(self) -> tuple[float, float, float]:
        """`center` as plain floats, z = 0 in the plane."""
        x, y, *z = self.center.tolist()
        return x, y, z[0] if z else 0.0

    @cached_property
    def _centred(self) -> FloatArray:
        """(n, dim) `vertices - center`, C-contiguous, for support queries."""
        return read_only(np.ascontiguousarray(self.vertices - self.center))

    @cached_property
    def _sides(self) -> Sides:
        sizes = np.fromiter(map(len, self.facets), dtype=np.intp, count=len(self.facets))
        start = np.concatenate(self.facets)
        facet = np.repeat(np.arange(len(sizes)), sizes)
        return Sides(facet, np.cumsum(sizes) - sizes, sizes, start, start[next_in_loops(sizes)])

    @cached_property
    def edge_directions(self) -> FloatArray:
        """(m, dim) unit vectors along `edges`, from the first vertex to the second; zero where both are one point."""
        return read_only(unit_rows(self.vertices[self.edges[:, 1]] - self.vertices[self.edges[:, 0]]))

    @cached_property
    def _edge_table(self) -> EdgeTable:
        """The edges as SAT reads them."""
        directions = self.edge_directions
        return EdgeTable(
            directions,
            read_only(np.ascontiguousarray(directions[:, [1, 2, 0]])),
            read_only(np.ascontiguousarray(directions[:, [2, 0, 1]])),
            read_only(self._centred[self.edges[:, 0]]),
            read_only(np.ascontiguousarray(self.edge_facets[:, 0])),
            read_only(np.ascontiguousarray(self.edge_facets[:, 1])),
        )

    @cached_property
    def _facet_axes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(k, dim) facet normals without parallel ones (n and -n count as parallel), and the shape's interval on each:
        lowest and highest (k,) `axis @ (x - center)`.
        """
        axes, numbers = parallel_axes(self.normals, SAME_AXIS * EPS)
        axes = axes[np.sort(np.unique(numbers, return_index=True)[1])]
        low, high = intervals(axes, self._centred)
        return read_only(axes), read_only(low), read_only(high)

    @cached_property
    def _edge_axes(self) -> IntArray:
        """(m,) numbers of the edges' axes: edges that are parallel within SAME_DIRECTION have the same."""
        return read_only(parallel_axes(self.edge_directions, SAME_DIRECTION)[1])

    @cached_property
    def _rows(self) -> list[tuple[float, float, float]]:
        """`vertices` as plain floats, z = 0 in the plane: scalar loops read these (numpy scalars are slow)."""
        if self.dim == 3:
            return list(map(tuple, self.vertices.tolist()))
        return [(x, y, 0.0) for x, y in self.vertices.tolist()]

    def support_index(self, direction: ArrayLike) -> int:
        """Return the index of the vertex farthest along `direction` (dim,), any length but zero; of several the first.

        Raises ValueError, naming the argument. Source: S4.2.
        """
        return int(self._centred.dot(as_direction("direction", direction, self.dim)).argmax())

    def support_indices(self, directions: FloatArray) -> IntArray:
        """Return the indices (k,) of the vertices farthest along `directions` (k, dim)."""
        return np.argmax(directions @ self._centred.T, axis=1)  # mutant: support-nearest-vertices

    def _diameter(self) -> float:
        if len(self.vertices) <= 2:
            return dist(self.vertices[0].tolist(), self.vertices[-1].tolist())
        return enclosing_diameter(self.vertices)

    def _support_points(self, directions: FloatArray) -> FloatArray:
        return self.vertices[self.support_indices(directions)]

    def transformed(self: _P, matrix: ArrayLike) -> _P:
        """Return the image under an affine `matrix`, (4, 4) or in the plane (3, 3): see `Shape.transformed`."""
        return cast(_P, super().transformed(matrix))

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> Polytope:
        raise ValueError("matrix: a bare Polytope has no image; transform ConvexHull(vertices)")

    def _translated(self: _P, step: FloatArray) -> _P:
        vertices = self.vertices + step
        if self.rank and np.abs(vertices).max() > _FAR * self.magnitude:
            return cast(_P, self._transformed(np.eye(self.dim), step))
        return self._replace(vertices=read_only(vertices))

    def _scaled(self: _P, factor: float) -> _P:
        if self.rank and self.extent * factor < _TINY:
            return cast(_P, self._transformed(factor * np.eye(self.dim), np.zeros(self.dim)))
        return self._replace(vertices=read_only(self.vertices * factor), offsets=read_only(self.offsets * factor))

    def _replace(self: _P, **changes: object) -> _P:
        made = object.__new__(type(self))
        made.__dict__.update({name: self.__dict__[name] for name in self.__dataclass_fields__} | changes)
        return made

    def _signed_distances(self, points: FloatArray) -> FloatArray:
        return self.core_distances(points)

    def highest_facets(self, points: FloatArray) -> FloatArray:
        """Return the heights (n,) of points (n, dim) above the facet plane that they are highest above, world units.

        Inside a polytope that fills its space that is the signed distance, outside a lower bound of it.
        """
        local = points - self.center
        rows = chunks(len(local), PRODUCTS // len(self.normals))
        parts = [(local[chunk] @ self.normals.T - self.offsets).max(axis=1) for chunk in rows]
        return np.concatenate(parts) if parts else np.zeros(0)

    def core_distances(self, points: FloatArray) -> FloatArray:
        """Return the signed distances (n,) of points (n, dim) from the core, which is the polytope itself."""
        if self.rank < self.dim:
            return self._from_outside(points)
        distances = self.highest_facets(points)
        outside = np.flatnonzero(distances > 0.0)
        distances[outside] = self._from_outside(points[outside])
        return distances

    def _from_outside(self, points: FloatArray) -> FloatArray:
        """Return the distance to the nearest edge or, where a point is above one, the nearest facet."""
        if len(self.edges) == 0:
            return np.linalg.norm(points - self.vertices[0], axis=1)
        if self.dim == 3 and self.facets:
            return self._from_facets(points)
        start, end = self.vertices[self.edges[:, 0]], self.vertices[self.edges[:, 1]]
        parts = [
            _from_segments(points[chunk, None], start, end, self.edge_directions).min(axis=1)
            for chunk in chunks(len(points), PRODUCTS // len(self.edges))
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _from_facets(self, points: FloatArray) -> FloatArray:
        """Return the distance from points outside to the nearest of the facets whose planes they are above.

        The vector from the nearest point is a sum of the normals of the facets there, times numbers >= 0, so the point
        is above one of these.
        """
        of_facet, first, counts, starts, ends = self._sides
        start, end = self.vertices[starts], self.vertices[ends]
        directions = end - start
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        outward = np.cross(directions, self.normals[of_facet])
        # By rounding, a point on a facet may be below it, and above an adjacent one.
        slack = _FACET_BELOW * EPS * (self.magnitude + np.abs(points - self.center).max(axis=1, initial=0.0))
        distances = np.empty(len(points))
        for chunk in chunks(len(points), PRODUCTS // len(start)):
            local = points[chunk] - self.center
            heights = local @ self.normals.T - self.offsets
            highest = heights.max(axis=1)
            point, facet = np.nonzero(heights >= np.minimum(highest, -slack[chunk])[:, None])
            # The sides of all these facets.
            sides = counts[facet]
            begin = np.cumsum(sides) - sides
            side = ranges(first[facet], sides)
            spots = points[chunk][np.repeat(point, sides)]
            nearest = np.minimum.reduceat(_from_segments(spots, start[side], end[side], directions[side]), begin)
            # A point is above a facet when it is on the inner side of each of its sides.
            beyond = np.maximum.reduceat(((spots - start[side]) * outward[side]).sum(axis=1), begin)
            height = np.maximum(heights[point, facet], 0.0)
            nearest = np.where(beyond <= 0.0, np.minimum(nearest, height), nearest)
            of_point = np.searchsorted(point, np.arange(len(local)))
            distances[chunk] = np.maximum(np.minimum.reduceat(nearest, of_point), highest)
        return distances

    @cached_property
    def _vector_areas(self) -> FloatArray:
        """Twice the area of each facet (of the whole polygon in the plane)."""
        p = self._centred
        if self.dim == 2:
            q = np.roll(p, -1, axis=0)
            return np.array([float((p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum())])
        if not self.facets:
            return np.zeros(0)
        _, first, sizes, start, end = self._sides
        origin = p[np.repeat(start[first], sizes)]
        areas = np.add.reduceat(np.cross(p[start] - origin, p[end] - origin), first, axis=0)
        return (areas * self.normals).sum(axis=1)


def _from_segments(points: FloatArray, start: FloatArray, end: FloatArray, directions: FloatArray) -> FloatArray:
    # From both ends: the nearer one gives the position along the segment with the digits of the smaller numbers.
    from_start, from_end = points - start, points - end
    along = np.clip((from_start * directions).sum(axis=-1), 0.0, np.linalg.norm(end - start, axis=-1))
    foot = from_start - along[..., None] * directions
    past = (from_end * directions).sum(axis=-1) >= 0.0
    foot[past] = from_end[past]
    return np.linalg.norm(foot, axis=-1)


def parallel_axes(vectors: FloatArray, tolerance: float) -> tuple[FloatArray, IntArray]:
    """Return unit vectors (n, dim) turned to one side of a plane, and numbers (n,): of vectors that are then equal
    within `tolerance` in each component the same."""
    # Sorted by their product with a generic vector, equal axes are neighbours.
    generic = np.array([0.6180339887498949, 0.7548776662466927, 0.2207440846057596])[: vectors.shape[1]]
    keys = vectors @ generic
    axes = vectors * np.where(keys < 0.0, -1.0, 1.0)[:, None]
    order = np.argsort(np.abs(keys), kind="stable")
    numbers = np.zeros(len(axes), dtype=np.intp)
    numbers[order[1:]] = np.cumsum(np.abs(np.diff(axes[order], axis=0)).max(axis=1) > tolerance)
    return axes, numbers


def intervals(axes: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest (k,) `axis @ point` of points (n, dim) for each of the axes (k, dim)."""
    step = max(1, PRODUCTS // len(points))
    if len(axes) <= step:
        if len(points) > 2 * len(axes):
            # Reducing along short rows is up to fifteen times slower than along long ones.
            products = axes.dot(points.T)
            return np.minimum.reduce(products, axis=1), np.maximum.reduce(products, axis=1)
        products = points.dot(axes.T)
        return np.minimum.reduce(products, axis=0), np.maximum.reduce(products, axis=0)
    parts = [intervals(axes[k : k + step], points) for k in range(0, len(axes), step)]
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])


def as_polytope(name: str, value: object) -> Polytope:
    """Return a `Polytope` such as `ConvexHull` or `Box`; raise ValueError, naming the argument, for anything else."""
    if isinstance(value, Polytope):
        return value
    shape = as_shape(name, value)
    raise ValueError(
        f"{name} must have vertices, as ConvexHull and Box have, but a {type(shape).__name__} {shape.without_vertices}"
    )


def validate_polytopes(a: object, b: object) -> None:
    """Raise ValueError unless `a` and `b` are polytopes of the same dimension."""
    dim_a, dim_b = as_polytope("a", a).dim, as_polytope("b", b).dim
    if dim_a != dim_b:
        raise ValueError(f"a and b must have the same dimension, but a has {dim_a} and b has {dim_b}")
