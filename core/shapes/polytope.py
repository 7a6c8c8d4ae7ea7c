# SPDX-License-Identifier: GPL-3.0-or-later
"""The common form of every shape with corners: vertices, edges, facets, planes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..tolerance import EPS, EXTREME_EXPONENT, SAME_AXIS
from ..types import FloatArray, IntArray, read_only
from .bounded import Bounded

PRODUCTS = 80_000
"""Products of vectors made in one go, and held in memory: they fit the cache, and BLAS does not wait for other cores'
threads (with three times as many, SAT of two large hulls took ten times as long on a busy machine)."""


class EdgeTable(NamedTuple):
    """The edges of a polytope in space, ready for SAT."""

    directions: FloatArray
    """(m, 3) unit vectors along the edges."""
    turned: FloatArray
    """(m, 3) the same with the components y, z, x: what cross products multiply."""
    turned_back: FloatArray
    """(m, 3) the same with the components z, x, y."""
    starts: FloatArray
    """(m, 3) first vertex of each edge, from the centre."""
    first: IntArray
    """(m,) the first facet of each edge; (0,) when there are none."""
    second: IntArray
    """(m,) the second facet of each edge; (0,) when there are none."""


@dataclass(frozen=True, eq=False)
class Polytope(Bounded):
    """A convex polytope of any rank in the plane or in space, in world coordinates.

    Every array of a `Box` or a `ConvexHull` is read-only, and so is everything computed from a polytope here: it is
    kept, and the next answer is made from it. (`Polytope(...)` itself keeps the arrays it is given, as they are.) GJK
    and EPA need only `vertices`, SAT and the overlay read the facets and edges too.

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
    """(m, 2) the two facets that meet in each edge; (0, 2) when there are none. In space the first facet has the
    edge in its loop as (edges[k, 0], edges[k, 1]), the second the other way round."""
    facets: tuple[IntArray, ...]
    """Vertex indices of each facet, counter-clockwise seen from outside (in the plane: the two ends of a side)."""
    normals: FloatArray
    """(f, dim) unit outward normal of each facet."""
    offsets: FloatArray
    """(f,) `normals @ (x - center) <= offsets` for every point x of the shape."""

    def scaled(self, exponent: int) -> Polytope:
        """Return the shape scaled by 2**exponent about the world origin, which rounds nothing."""
        return Polytope(
            read_only(np.ldexp(self.vertices, exponent)),
            self.rank,
            self.edges,
            self.edge_facets,
            self.facets,
            self.normals,
            read_only(np.ldexp(self.offsets, exponent)),
        )

    def moved(self, translation: FloatArray) -> Polytope:
        """Return the shape moved by a vector (dim,), rounded to the coordinates' last digit."""
        return Polytope(
            read_only(self.vertices + translation),
            self.rank,
            self.edges,
            self.edge_facets,
            self.facets,
            self.normals,
            self.offsets,
        )

    @cached_property
    def dim(self) -> int:
        """Dimension of the points: 2 or 3."""
        return int(self.vertices.shape[1])

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (dim,) of the axis-aligned bounding box, world frame."""
        return read_only(self.vertices.min(axis=0)), read_only(self.vertices.max(axis=0))

    @cached_property
    def middle(self) -> tuple[float, float, float]:
        """`center` as plain floats, z = 0 in the plane."""
        x, y, *z = self.center.tolist()
        return x, y, z[0] if z else 0.0

    @cached_property
    def centred(self) -> FloatArray:
        """(n, dim) `vertices - center`, C-contiguous: what support queries multiply with."""
        return read_only(np.ascontiguousarray(self.vertices - self.center))

    @cached_property
    def edge_directions(self) -> FloatArray:
        """(m, dim) unit vectors along `edges`, from the first vertex to the second; zero where both are one point."""
        way = self.vertices[self.edges[:, 1]] - self.vertices[self.edges[:, 0]]
        largest = np.abs(way).max(axis=1, initial=0.0)[:, None]
        way = way / np.where(largest > 0.0, largest, 1.0)  # squares neither overflow nor vanish
        lengths = np.sqrt((way * way).sum(axis=1))[:, None]
        return read_only(way / np.where(lengths > 0.0, lengths, 1.0))

    @cached_property
    def edge_table(self) -> EdgeTable:
        """What SAT reads of the edges."""
        ways = self.edge_directions
        return EdgeTable(
            ways,
            read_only(np.ascontiguousarray(ways[:, [1, 2, 0]])),
            read_only(np.ascontiguousarray(ways[:, [2, 0, 1]])),
            read_only(self.centred[self.edges[:, 0]]),
            read_only(np.ascontiguousarray(self.edge_facets[:, 0])),
            read_only(np.ascontiguousarray(self.edge_facets[:, 1])),
        )

    @cached_property
    def facet_axes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(k, dim) facet normals of which parallel ones, n and -n too, are there once; and what the shape covers of
        each: lowest and highest (k,) `axis @ (x - center)`.
        """
        axes = self.normals
        if len(axes) > 1:
            # Sorted by their product with a vector in no special position, equal axes are neighbours.
            generic = np.array([0.6180339887498949, 0.7548776662466927, 0.2207440846057596])[: self.dim]
            keys = axes @ generic
            axes = axes * np.where(keys < 0.0, -1.0, 1.0)[:, None]
            order = np.argsort(np.abs(keys), kind="stable")
            new = np.abs(np.diff(axes[order], axis=0)).max(axis=1) > SAME_AXIS * EPS
            axes = axes[np.sort(order[np.flatnonzero(np.concatenate([[True], new]))])]
        low, high = intervals(axes, self.centred)
        return read_only(axes), read_only(low), read_only(high)

    @cached_property
    def rows(self) -> list[tuple[float, float, float]]:
        """`vertices` as plain floats, z = 0 in the plane: scalar loops read these (numpy scalars are slow)."""
        if self.dim == 3:
            return list(map(tuple, self.vertices.tolist()))
        return [(x, y, 0.0) for x, y in self.vertices.tolist()]


def intervals(axes: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest (k,) `axis @ point` of points (n, dim) for each of the axes (k, dim)."""
    step = max(1, PRODUCTS // len(points))
    if len(axes) <= step:
        if len(points) > 2 * len(axes):
            # Along short rows numpy is up to fifteen times slower than along long ones.
            products = axes.dot(points.T)
            return np.minimum.reduce(products, axis=1), np.maximum.reduce(products, axis=1)
        products = points.dot(axes.T)
        return np.minimum.reduce(products, axis=0), np.maximum.reduce(products, axis=0)
    parts = [intervals(axes[k : k + step], points) for k in range(0, len(axes), step)]
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])


def extreme_exponent(a: Bounded, b: Bounded) -> int:
    """Return the power of two by which a pair is too large or too small for products of lengths in float64, else 0."""
    lows_a, highs_a = a.bounds_floats
    lows_b, highs_b = b.bounds_floats
    half = 0.0
    for k, low in enumerate(lows_a):
        high, low_b, high_b = highs_a[k], lows_b[k], highs_b[k]
        side = 0.5 * (high if high > high_b else high_b) - 0.5 * (low if low < low_b else low_b)
        if side > half:
            half = side
    exponent = math.frexp(half)[1]
    return exponent if abs(exponent) > EXTREME_EXPONENT else 0


def as_polytope(name: str, value: object) -> Polytope:
    """Return a shape: a `Polytope` such as `ConvexHull` or `Box`."""
    if not isinstance(value, Polytope):
        raise ValueError(f"{name} must be a shape such as ConvexHull or Box, not {type(value).__name__}")
    return value


def validate_polytopes(a: object, b: object) -> None:
    """Ask for two shapes, called a and b, of the same dimension."""
    if not isinstance(a, Polytope):
        as_polytope("a", a)
    elif not isinstance(b, Polytope):
        as_polytope("b", b)
    elif a.dim != b.dim:
        raise ValueError(f"a and b must have the same dimension, but a has {a.dim} and b has {b.dim}")
