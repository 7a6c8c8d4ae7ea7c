# SPDX-License-Identifier: GPL-3.0-or-later
"""Points, how deep they are inside a solid, and a place of its surface for each that is near.

How far a point is from such a place, a plane around a convex solid or a triangle of a mesh, is a convex function of the
point, and never less than the depth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..contact import contact
from ..meshes.body import Body
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances, points_to_mesh
from ..runs import chunks
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import PRODUCTS
from ..types import BoolArray, FloatArray, IntArray
from .cut_surface import in_space, outward

_ASKED = 64
"""Points asked for their side in one go, the deepest first: those behind the first one that is inside do not matter."""
_ENOUGH = 0.9
"""Times the largest depth known: what is nearer to the surface is not measured exactly."""


class SurfaceDepths(ABC):
    """A growing table of points (n, 3); those in the plane have a third coordinate 0.0."""

    relative = 0.0
    """How nearly depths are known, times themselves."""

    def __init__(self) -> None:
        self.points = np.zeros((0, 3))
        self.depths = np.zeros(0)
        """How far each is from the surface; of a convex solid negative outside, and of a mesh anything less where it is
        less than the largest depth known."""
        self.sides = np.zeros(0)
        """1.0 inside, -1.0 outside, 0.0 where that is not known, as it does not matter."""
        self.best = 0.0
        """The largest depth."""
        self.deepest = -1
        """The number of that point; -1 where none is inside."""

    def add(self, points: FloatArray, are_inside: BoolArray) -> IntArray:
        """Measure points; return their numbers. `are_inside`: which are known to be inside."""
        new = np.arange(len(self.points), len(self.points) + len(points))
        self.points = np.concatenate([self.points, points])
        self.depths = np.concatenate([self.depths, self._measured(points)])
        self.sides = np.concatenate([self.sides, are_inside.astype(np.float64)])
        deeper = new[self.depths[new] > self.best]
        deeper = deeper[np.argsort(-self.depths[deeper], kind="stable")]
        for part in chunks(len(deeper), _ASKED):
            tried = deeper[part]
            unknown = tried[self.sides[tried] == 0.0]
            self.sides[unknown] = np.where(self._contains(self.points[unknown]), 1.0, -1.0)
            tried = tried[self.sides[tried] > 0.0]
            if len(tried):
                self.deepest = int(tried[0])
                self.best = float(self.depths[self.deepest])
                break
        return new

    @abstractmethod
    def _measured(self, points: FloatArray) -> FloatArray:
        """Return the depths of points, and keep the place of the surface that each is near."""

    @abstractmethod
    def _contains(self, points: FloatArray) -> BoolArray:
        """Return whether points with a depth above 0 are inside."""

    @abstractmethod
    def distances(self, places: IntArray, numbers: IntArray) -> FloatArray:
        """Return (n,) how far points are from the places that other points are near, both by their numbers."""

    @abstractmethod
    def nearest(self, number: int) -> FloatArray:
        """Return the point (3,) of the surface that is nearest to a point inside."""


class _DepthsInConvex(SurfaceDepths):
    """Points inside a convex solid, and a plane around it for each: a unit normal, and an offset from a center."""

    def __init__(self, center: FloatArray) -> None:
        super().__init__()
        self.center = center
        self.planes = np.zeros((0, 4))

    def _contains(self, points: FloatArray) -> BoolArray:
        return np.ones(len(points), dtype=np.bool_)

    def distances(self, places: IntArray, numbers: IntArray) -> FloatArray:
        planes = self.planes.take(places, axis=0)
        return planes[:, 3] - ((self.points.take(numbers, axis=0) - self.center) * planes[:, :3]).sum(axis=1)

    def nearest(self, number: int) -> FloatArray:
        return self.points[number] + self.depths[number] * self.planes[number, :3]


class DepthsUnderPlanes(_DepthsInConvex):
    """Points inside a polytope, and the planes (k, 4) of its facets."""

    def __init__(self, center: FloatArray, facets: FloatArray) -> None:
        super().__init__(center)
        self.facets = facets

    def _measured(self, points: FloatArray) -> FloatArray:
        depths, nearest = np.zeros(len(points)), np.zeros(len(points), dtype=np.intp)
        for part in chunks(len(points), PRODUCTS // len(self.facets)):
            gaps = self.facets[:, 3] - (points[part] - self.center) @ self.facets[:, :3].T
            nearest[part], depths[part] = gaps.argmin(axis=1), gaps.min(axis=1)
        self.planes = np.concatenate([self.planes, self.facets.take(nearest, axis=0)])
        return depths


class DepthsInRound(_DepthsInConvex):
    """Points inside a curved shape, and its support planes."""

    def __init__(self, solid: CurvedShape) -> None:
        low, high = solid.bounds
        super().__init__(in_space(0.5 * low + 0.5 * high))
        self.solid = solid

    def _measured(self, points: FloatArray) -> FloatArray:
        flat = points[:, : self.solid.dim]
        normals = outward(self.solid, flat)
        offsets = ((self.solid.supports(normals) - self.center[: self.solid.dim]) * normals).sum(axis=1)
        self.planes = np.concatenate([self.planes, np.column_stack([in_space(normals), offsets])])
        return -self.solid.signed_distance(flat)

    def nearest(self, number: int) -> FloatArray:
        point = ConvexHull(self.points[number : number + 1, : self.solid.dim])
        return in_space(contact(point, self.solid).point_on_b)


class DepthsInMesh(SurfaceDepths):
    """Points inside a closed mesh, and its triangles."""

    relative = 1e-9

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body = body
        self.triangles = np.zeros(0, dtype=np.intp)

    def _measured(self, points: FloatArray) -> FloatArray:
        found = points_to_mesh(points, self.body.mesh, enough=np.full(len(points), _ENOUGH * self.best))
        self.triangles = np.concatenate([self.triangles, found.triangle])
        return found.distance

    def _contains(self, points: FloatArray) -> BoolArray:
        return self.body.contains(points)

    def distances(self, places: IntArray, numbers: IntArray) -> FloatArray:
        rows = np.ascontiguousarray(self.points.take(numbers, axis=0).T)
        return point_triangle_distances(rows, self.body.mesh.corner_rows(self.triangles.take(places)))[0]

    def nearest(self, number: int) -> FloatArray:
        return points_to_mesh(self.points[number][None], self.body.mesh).point[0]


def depths_in(solid: Mesh | ConvexShape) -> SurfaceDepths:
    """Return an empty table for a solid with an inside."""
    if isinstance(solid, Mesh):
        return DepthsInMesh(Body.of(solid))
    if isinstance(solid, CurvedShape):
        return DepthsInRound(solid)
    return DepthsUnderPlanes(in_space(solid.center), np.column_stack([in_space(solid.normals), solid.offsets]))
