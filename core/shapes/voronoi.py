# SPDX-License-Identifier: GPL-3.0-or-later
"""The Voronoi regions of a simplex in the plane: of each of its faces the points that are nearest to it.

GJK reads off the region of the origin which face of the simplex contains its nearest point; here the regions are made
as polygons, to be seen. Source: S4.3, S4.5.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..types import FloatArray


def voronoi_regions(simplex: FloatArray, window: FloatArray) -> dict[tuple[int, ...], FloatArray]:
    """Return the Voronoi region (n, 2) of each face of a point, a segment or a triangle `simplex` (k, 2), as much of it
    as is in a convex polygon `window` (m, 2); faces are the indices of their corners.

    A face without an area there has none; of corners in a line, edges on each other have overlapping ones.
    """
    found: dict[tuple[int, ...], FloatArray] = {}
    corners = range(len(simplex))
    for face in (face for size in corners for face in combinations(corners, size + 1)):
        region = window
        for inward, point in _half_planes(simplex, face):
            region = _clipped(region, inward, point)
        if len(region) > 2:
            found[face] = region
    return found


def _half_planes(simplex: FloatArray, face: tuple[int, ...]) -> list[tuple[FloatArray, FloatArray]]:
    """Return the half-planes whose intersection is the region of a face: a vector inward and a point of the border."""
    others = [k for k in range(len(simplex)) if k not in face]
    if len(face) == 1:
        corner = simplex[face[0]]
        return [(corner - simplex[k], corner) for k in others]
    if len(face) == 2:
        start, end = simplex[list(face)]
        strip = [(end - start, start), (start - end, end)]
        return strip + [(-_across(simplex, face, k), start) for k in others]
    return [(_across(simplex, (k - 2, k - 1), k), simplex[k - 1]) for k in face]


def _across(simplex: FloatArray, side: tuple[int, ...], corner: int) -> FloatArray:
    """Return a vector across a side of a triangle, not away from its other corner."""
    start, end = simplex[list(side)]
    x, y = end - start
    normal = np.array([-y, x])
    return normal if normal @ (simplex[corner] - start) >= 0.0 else -normal


def _clipped(polygon: FloatArray, inward: FloatArray, point: FloatArray) -> FloatArray:
    """Return the part (n, 2) of a convex polygon that is in a half-plane (Sutherland and Hodgman)."""
    heights = (polygon - point) @ inward
    kept = []
    for k, height in enumerate(heights):
        before = heights[k - 1]
        if height * before < 0.0:
            kept.append(polygon[k - 1] + before / (before - height) * (polygon[k] - polygon[k - 1]))
        if height >= 0.0:
            kept.append(polygon[k])
    return np.array(kept).reshape(-1, 2)
