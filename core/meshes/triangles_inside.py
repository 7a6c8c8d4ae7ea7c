# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles are inside a mesh, by one corner of each connected part that does not meet its surface."""

from __future__ import annotations

import numpy as np

from ..connected import connected_parts
from ..types import BoolArray, FloatArray, IntArray
from .body import Body


def triangles_inside(points: FloatArray, triangles: IntArray, meets: BoolArray, body: Body) -> BoolArray:
    """Return (m,) which triangles (m, 3) of points (n, 3) are inside a body; none of those that meet its surface."""
    others = triangles[~meets]
    # Triangles with a common corner are on one side where neither meets the surface.
    parts = connected_parts(others[:, [0, 1, 1, 2]].reshape(-1, 2), len(points)).take(others[:, 0])
    first, part = np.unique(parts, return_inverse=True)
    result = np.zeros(len(triangles), dtype=np.bool_)
    result[~meets] = body.contains(points.take(first, axis=0)).take(part.ravel())
    return result
