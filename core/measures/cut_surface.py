# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of a solid as triangles that can be cut; of a shape in the plane they are segments."""

from __future__ import annotations

import numpy as np

from ..curved.curved_inside import spread
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import mesh_of
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..types import FloatArray
from ..vectors import unit_rows

_DIRECTIONS = 64
"""Points of a curved surface to begin with."""
_HALVINGS = 60
"""Of the line on which a point of a curved surface is looked for."""
_STEP = 1e-5
"""Times the extent: the step by which directions are found."""


class CutSurface:
    """Points (n, 3) and triangles (m, 3); those in the plane have a third coordinate 0.0 and two corners in one."""

    def __init__(self, solid: Mesh | ConvexShape) -> None:
        self.curved = None if isinstance(solid, Mesh | Polytope) else solid
        polytope = (
            ConvexHull(solid.supports(spread(solid.dim, _DIRECTIONS))) if isinstance(solid, CurvedShape) else solid
        )
        if isinstance(polytope, Mesh):
            self.points, self.triangles = polytope.points, polytope.triangles
        elif solid.dim == 3:
            mesh = mesh_of([polytope])
            self.points, self.triangles = mesh.points, mesh.triangles
        else:
            self.points = in_space(polytope.vertices)
            edges = polytope.edges if len(polytope.edges) else np.zeros((1, 2), dtype=np.intp)
            self.triangles = edges[:, [0, 1, 1]]
        self.middle = self.points.mean(axis=0)

    def between(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Return points (n, 3) of the surface between points of it: in the middle, or out from there."""
        middle = 0.5 * p + 0.5 * q
        if self.curved is None:
            return middle
        away = middle - self.middle
        low = np.ones(len(away))
        high = self.curved.extent / np.sqrt((away * away).sum(axis=1))
        for _ in range(_HALVINGS):
            half = 0.5 * low + 0.5 * high
            points = self.middle + half[:, None] * away
            is_inside = self.curved.signed_distance(points[:, : self.curved.dim]) <= 0.0
            low, high = np.where(is_inside, half, low), np.where(is_inside, high, half)
        return self.middle + low[:, None] * away

    def beyond(self, corners: FloatArray) -> FloatArray:
        """Return (n,) how far points of the surface may be from the triangles (n, 3, 3) that stand for them: those that
        are seen from the middle through the triangle."""
        if self.curved is None:
            return np.zeros(len(corners))
        solid, local = self.curved, corners - self.middle
        normals = outward(solid, corners.mean(axis=1)[:, : solid.dim])
        support = ((solid.supports(normals) - self.middle[: solid.dim]) * normals).sum(axis=1)
        heights = np.einsum("ikd,id->ik", local[:, :, : solid.dim], normals).min(axis=1)
        # Along the line from the middle it is farther the more that leans.
        far = np.sqrt((local * local).sum(axis=2)).max(axis=1)
        lean = np.divide(far, heights, out=np.full(len(far), np.inf), where=heights > 0.0)
        return np.where(support > heights, (support - heights) * lean, 0.0)


def outward(solid: CurvedShape, points: FloatArray) -> FloatArray:
    """Return the unit directions (n, dim), nearly, in which points are nearest to the surface from inside."""
    steps = _STEP * solid.extent * np.eye(solid.dim)
    away = np.stack([solid.signed_distance(points + step) for step in steps], axis=1)
    directions = unit_rows(away - solid.signed_distance(points)[:, None])
    directions[~directions.any(axis=1), 0] = 1.0
    return directions


def in_space(points: FloatArray) -> FloatArray:
    """Return points (..., dim) of the plane or of space as points of space."""
    return np.concatenate([points, np.zeros((*points.shape[:-1], 3 - points.shape[-1]))], axis=-1)
