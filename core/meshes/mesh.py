# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh: the solid inside a closed surface of triangles, or the bare surface."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_points
from ..types import BoolArray, FloatArray
from .point_distance import points_to_mesh
from .surface import Surface
from .winding import winding_numbers


class Mesh(Surface):
    """A surface of triangles in space, world frame, from `points` (n, 3) and `triangles` (m, 3), indices of points.

    A closed mesh (`is_closed`) stands for the solid inside it, any other for the bare surface. For `contact` corners in
    one place count as one, and so do those of open edges within the promise's margin or the `resolution` of the
    coordinates, where that closes the mesh; `welded` merges others. Faults are no errors: triangles without area,
    triangles there twice, edges of one, three or more triangles are kept and can be asked for. The arrays are copies of
    what was given, and read-only; so is everything computed from them.

    Raises ValueError, naming the argument, when the points are not finite real numbers (n, 3), when the triangles are
    no whole numbers (m, 3) from 0 to n - 1, when there is no triangle, or when the resolution is negative.

    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> tetrahedron = Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    >>> tetrahedron.is_closed, round(tetrahedron.volume, 3)
    (True, 0.167)
    """

    def contains(self, points: ArrayLike) -> BoolArray:
        """Return (n,) whether `points` (n, 3) are inside the solid or on the surface. Exact."""
        winding = winding_numbers(as_points("points", points, 3), self)
        return winding.on_surface | (np.abs(winding.numbers) > 0.5) if self.is_closed else winding.on_surface

    def _signed_distances(self, points: FloatArray) -> FloatArray:
        distance = points_to_mesh(points, self).distance
        return np.where(self.is_closed & self.contains(points), -distance, distance) + 0.0
