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
        for k in corners:
            # A corner of the face is on the side of the region, seen from the rest of the face, any other is not.
            others = [corner for corner in (*corners[k + 1 :], *corners[:k]) if corner in face]
            start, *end = simplex[others or [k]]
            towards = simplex[k] - start
            if end:
                x, y = end[0] - start
                towards = np.array([-y, x]) * (1.0 if towards @ (-y, x) >= 0.0 else -1.0)
            region = _clipped(region, towards if k in face else -towards, start)
        if len(region) > 2:
            found[face] = region
    return found


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
