# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a surface, and how concave they are by samples."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..meshes.mesh import Mesh
from ..types import FloatArray, IntArray
from .main_axes import face_axes, grid_axes, main_frame
from .solid_grid import GOLDEN, Float32Array, SolidGrid, surface_samples
from .surface_parts import SurfacePart

_AXES = grid_axes(2)
_STAGES = 0, 3, 13, 49, 10_000
"""Directions that are looked along before the others: most points are outside of few planes."""
_LARGE = 2e-3
"""Fraction of the area: faces as large give directions to look along."""
_SAMPLES = 1500
"""Samples of the surface of a part, besides its corners."""
_MOST_CORNERS = 1500
_PAIRS = 4000
"""Middles between samples of a part."""


class SampledRoom:
    """What all parts of a mesh are measured with: directions, and samples of the room outside of the solid.

    Lengths are in the extent of the mesh, coordinates in a frame of its own: the first axis across its largest faces.
    """

    def __init__(self, mesh: Mesh) -> None:
        used = mesh.points[np.unique(mesh.triangles)]
        self.frame = main_frame(mesh.points - used.mean(axis=0), mesh.triangles)
        turned = used @ self.frame
        low, high = turned.min(axis=0), turned.max(axis=0)
        self.center = self.frame @ (0.5 * (low + high))
        self.extent = float(np.sqrt(((high - low) ** 2).sum()))
        local = self.local(mesh.points)
        normals, fractions = face_axes(local, mesh.triangles)
        self.axes = np.concatenate([_AXES, normals[fractions > _LARGE]])
        """(d, 3) unit vectors; the hull of a part is taken to be between its planes across all of them."""
        self.grid = SolidGrid(local, mesh.triangles, mesh.is_closed)
        outside = np.flatnonzero(self.grid.distances > 0.0)
        self.points = self.grid.middles(outside)
        """(q, 3) samples of the room outside."""
        self.distances = self.grid.distances[outside]
        """(q,) how far they are from the solid."""
        self.heights = self.heights_of(self.points)

    def local(self, points: FloatArray) -> FloatArray:
        """Return points of the world in the frame of the mesh."""
        return np.asarray((points - self.center) @ self.frame / self.extent)

    def heights_of(self, points: FloatArray) -> Float32Array:
        """Return the heights (d, n) of points along the directions."""
        return (self.axes @ points.T).astype(np.float32)

    def covered(self, rows: IntArray, top: Float32Array, bottom: Float32Array) -> IntArray:
        """Return which samples of the room are between planes across all directions."""
        return rows_between(self.heights, rows, top, bottom)


class SampledPart:
    """A part of the surface of a mesh, with samples of it and of the room outside that is in its hull."""

    def __init__(
        self,
        room: SampledRoom,
        surface: SurfacePart,
        inner: FloatArray,
        cells: tuple[FloatArray, ...],
        solid: IntArray,
        outside: IntArray,
    ) -> None:
        self.surface = surface
        self.inner = inner
        """(k, 3) its corners inside the solid, where three cuts meet: they are on no triangle."""
        self.cells = cells
        """The planes (p, 4) of the cuts around it, normals outward, world frame; several sets where it was merged."""
        self.solid = solid
        """Cells of the grid in the solid that it may touch."""
        corners = room.local(surface.corners)
        heights = room.heights_of(np.concatenate([corners, room.local(inner)]))
        self.top, self.bottom = heights.max(axis=1), heights.min(axis=1)
        if len(corners) > _MOST_CORNERS:
            heights = heights[:, : len(corners)]
            spread = np.linspace(0, len(corners) - 1, _MOST_CORNERS).astype(np.intp)
            corners = corners[np.unique(np.concatenate([spread, heights.argmax(axis=1), heights.argmin(axis=1)]))]
        samples = surface_samples(surface.points, surface.triangles, _SAMPLES)
        self.points = np.concatenate([corners, room.local(samples)])
        """(s, 3) samples of the surface."""
        self.heights = room.heights_of(self.points)
        # Middles between two points of a part are in its hull, however thin that is.
        steps = np.arange(_PAIRS) + 0.5
        self.first, self.second = ((steps * step % 1.0 * len(self.points)).astype(np.intp) for step in GOLDEN)
        middles = 0.5 * (self.points[self.first] + self.points[self.second])
        self.between = room.grid.distances[room.grid.cells_at(middles)]
        """(p,) how far the middles between samples `first` and `second` are from the solid."""
        self.depths = depths_under(self.heights, self.top, self.bottom)
        """(s,) how deep the samples are under the hull."""
        self.outside = room.covered(outside, self.top, self.bottom)
        """Samples of the room that are in the hull, of those that may be."""
        filled = max(room.distances[self.outside].max(initial=0.0), self.between.max())
        self.concavity = float(max(self.depths.max(), filled))
        """How deep the surface is under the hull, or how far the hull goes into the room outside."""

    @property
    def corners(self) -> FloatArray:
        """(n, 3) points of which the hull is that of the part, world frame."""
        return np.concatenate([self.surface.corners, self.inner])


def depths_under(heights: Float32Array, top: Float32Array, bottom: Float32Array) -> Float32Array:
    """Return how deep points are under planes across all directions; heights (directions, points)."""
    under = top[:, None] - heights
    np.minimum(under, heights - bottom[:, None], out=under)
    return np.asarray(under.min(axis=0))


def rows_between(heights: Float32Array, rows: IntArray, top: Float32Array, bottom: Float32Array) -> IntArray:
    """Return which of some points are between planes across all directions; heights (directions, points)."""
    for start, end in pairwise(_STAGES):
        h = heights[start:end].take(rows, axis=1)
        rows = rows[((h <= top[start:end, None]) & (h >= bottom[start:end, None])).all(axis=0)]
    return rows
