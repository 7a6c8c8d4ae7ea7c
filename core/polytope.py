# SPDX-License-Identifier: GPL-3.0-or-later
"""The common form of every shape with corners: vertices, edges, facets, planes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Polytope:
    """A convex polytope of any rank in the plane or in space, in world coordinates.

    Every array is read-only. `Box` and `ConvexHull` are polytopes; GJK and EPA need only `vertices`, SAT and
    the overlay read the facets and edges too.

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

    @property
    def dim(self) -> int:
        """Dimension of the points: 2 or 3."""
        return int(self.vertices.shape[1])

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (dim,) of the axis-aligned bounding box, world frame."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    @cached_property
    def corners(self) -> tuple[list[float], list[float]]:
        """`bounds` as plain floats."""
        low, high = self.bounds
        return low.tolist(), high.tolist()

    @cached_property
    def center(self) -> FloatArray:
        """(dim,) centre of the axis-aligned bounding box, world frame."""
        low, high = self.bounds
        return 0.5 * low + 0.5 * high

    @cached_property
    def centred(self) -> FloatArray:
        """(n, dim) `vertices - center`, C-contiguous: what support queries multiply with."""
        return np.ascontiguousarray(self.vertices - self.center)

    @cached_property
    def extent(self) -> float:
        """Diagonal of the axis-aligned bounding box; the length that tolerances are relative to."""
        low, high = self.bounds
        return math.hypot(*(high - low).tolist())

    @cached_property
    def magnitude(self) -> float:
        """Largest absolute coordinate: the rounding error of one coordinate is `eps * magnitude`."""
        return float(np.abs(self.vertices).max())

    @cached_property
    def rows(self) -> list[tuple[float, float, float]]:
        """`vertices` as plain floats, z = 0 in the plane: scalar loops read these (numpy scalars are slow)."""
        if self.dim == 3:
            return list(map(tuple, self.vertices.tolist()))
        return [(x, y, 0.0) for x, y in self.vertices.tolist()]
