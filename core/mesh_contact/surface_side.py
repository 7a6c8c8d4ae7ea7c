# SPDX-License-Identifier: GPL-3.0-or-later
"""On which side of an open surface a solid is."""

from __future__ import annotations

import numpy as np

from ..meshes.body import Body
from ..meshes.point_distance import point_triangle_distances, points_to_mesh
from ..types import FloatArray, IntArray

_CLEAR = 1e-3
"""Sine of the angle between a triangle and the line to a point, from which on that is clearly on one side."""
_ASKED = 64
"""Corners of a solid that are tested."""


def side_of_surface(surface: Body, solid: Body, nearest: FloatArray, rounding: float) -> int:
    """Return the side of an open surface that a solid separated from it is on: 1 where the normals of its triangles
    point, -1 for the other, 0 where that is not clear.

    nearest: (3,) the point of the solid that is nearest to the surface. rounding: world units. The side is clear where
    all triangles at the point of the surface next to that agree, and none says otherwise of other corners of the solid.
    """
    mesh = surface.mesh
    if len(mesh.flipped_edges):
        return 0
    chosen = np.linspace(0, len(solid.corners) - 1, min(_ASKED, len(solid.corners))).astype(np.intp)
    points = np.concatenate([nearest[None], solid.corners.take(chosen, axis=0)])
    feet = points_to_mesh(points, mesh)
    sides = _sides(surface, points - feet.point, feet.triangle, rounding)
    foot = feet.point[:1]
    near = mesh.tree.query_box(foot[0] - rounding, foot[0] + rounding)
    off, _ = point_triangle_distances(np.repeat(foot, len(near), axis=0).T, mesh.corner_rows(near))
    near = near[off <= rounding]
    there = _sides(surface, np.repeat(points[:1] - foot, len(near), axis=0), near, rounding)
    side = sides[0]
    return 0 if (there != side).any() or (sides == -side).any() else int(side)


def _sides(surface: Body, away: FloatArray, triangles: IntArray, rounding: float) -> FloatArray:
    """Return (k,) the sides of triangles (k,) that vectors (k, 3) from them clearly point to, 0 where none."""
    heights = np.einsum("ij,ij->i", away, surface.normals(triangles))
    clear = np.abs(heights) > np.maximum(_CLEAR * np.sqrt((away * away).sum(axis=1)), rounding)
    return np.where(clear, np.sign(heights), 0.0)
