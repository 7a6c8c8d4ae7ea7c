# SPDX-License-Identifier: GPL-3.0-or-later
"""A polytope inside the Minkowski difference of two convex shapes; for polytopes the difference itself."""

from __future__ import annotations

import numpy as np

from ..curved.curved_inside import spread
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.hull import ConvexHull
from ..tolerance import CURVED_LEVEL, EPS
from ..types import FloatArray

_AROUND = 60
_MOST_CORNERS = 4096
"""Up to this number of differences of corners of two cores all are used; beyond it only the support points."""


def inner_difference(a: ConvexShape, b: ConvexShape, directions: FloatArray) -> ConvexHull:
    """Return a polytope inside A - B that reaches its surface at least in the unit `directions` (k, dim).

    For two polytopes it is A - B itself, whatever the directions. The cores' difference comes first, then both radii
    around it at once: two shapes with radii are one with the sum of them. If curved shapes have no
    `directions`, evenly distributed ones are used.
    """
    if not len(directions) and any(isinstance(shape, CurvedShape) for shape in (a, b)):
        directions = spread(a.dim, _AROUND)
    corners_a, corners_b = _corners(a, directions), _corners(b, -directions)
    if len(corners_a) * len(corners_b) <= _MOST_CORNERS or not len(directions):
        points = (corners_a[:, None] - corners_b[None]).reshape(-1, a.dim)
    else:
        points = a.core_supports(directions) - b.core_supports(-directions)
    core = ConvexHull(points)
    radius = a.rounding_radius + b.rounding_radius
    if radius == 0.0:
        return core
    normals = np.concatenate((directions, core.normals))
    heights = core._centred @ normals.T
    level = CURVED_LEVEL * EPS * max(core.extent, core.magnitude)
    corner, normal = np.nonzero(heights >= heights.max(axis=0) - level)
    return ConvexHull(core.vertices[corner] + radius * normals[normal])


def _corners(shape: ConvexShape, directions: FloatArray) -> FloatArray:
    """Return the corners of the core, or points of the surface of a smooth core."""
    if shape.skeleton is not None:
        return shape.skeleton.vertices
    return np.unique(shape.core_points(directions), axis=0)
