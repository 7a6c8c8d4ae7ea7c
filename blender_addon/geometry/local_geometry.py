# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes in local space, and all that is computed once for every object and instance with the same mesh."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...core.decomposition.concavity import Concavity, least_concavity, max_concavity
from ...core.decomposition.mesh_pieces import exact_pieces, mesh_pieces
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.progress import Progress
from ...core.shapes.box import Box
from ...core.shapes.curved_shape import ConvexShape
from ...core.shapes.hull import ConvexHull
from ...core.types import FloatArray
from .cache import LruCache
from .collision_shape import RESOLUTION_STEPS, float32_step
from .snapshot import ReadArrays

_T = TypeVar("_T")

MOST_RECENT = 20_000
"""Geometries that are kept for later checks at most."""
MOST_NUMBERS = 1_500_000
"""Vertices and triangles of these together: with hulls, trees and all else that depths need some 500 MB."""
FEW = 100
"""Points up to which a hull takes no longer than to find out that it is not needed."""
STRETCHES = 16
"""Measurements kept of one geometry under several stretches."""


class Geometry:
    """A mesh in local space; all objects with the same mesh share one."""

    def __init__(self, points: FloatArray, triangles: NDArray[np.integer], digest: bytes) -> None:
        """points (n, 3), triangles (t, 3); digest: of both as Blender stores them."""
        self.points = points
        self.triangles = triangles
        self.digest = digest
        self._pieces: Decomposition | None = None
        self._exact_pieces: tuple[Decomposition | None] | None = None
        self._concavity: tuple[Concavity, float] | None = None
        """And more than which depth was enough."""
        self._by_stretch: LruCache[Any] = LruCache(STRETCHES)

    @cached_property
    def hull(self) -> ConvexHull:
        return ConvexHull(self.points)

    @property
    def has_hull(self) -> bool:
        """Whether its hull was made."""
        return "hull" in vars(self)

    @property
    def is_wire(self) -> bool:
        """Whether it is points and edges only."""
        return len(self.points) > 0 and len(self.triangles) == 0

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.points.min(axis=0), self.points.max(axis=0)

    @cached_property
    def is_box(self) -> bool:
        """Whether the hull is the local bounding box: contacts of boxes are found many times faster."""
        low, high = self.bounds
        corners = self.hull.vertices
        return bool(self.hull.rank == 3 and len(corners) == 8 and ((corners == low) | (corners == high)).all())

    def concavity(self, enough: float) -> Concavity:
        """Return how far the mesh is from its hull, in local space; a lower depth, where that is more than `enough`."""
        known, limit = self._concavity or (None, 0.0)
        if known is None or limit < known.depth <= enough:
            known = max_concavity(self.hull, self.hull.vertex_ids, self.points, self.triangles, enough=enough)
            self._concavity = known, enough
        return known

    @cached_property
    def least_concavity(self) -> float:
        """A lower bound of the depth of `concavity`, for which its hull is not made; 0.0 of few points."""
        return least_concavity(self.points) if len(self.points) > FEW else 0.0

    @cached_property
    def magnitude(self) -> float:
        """The largest absolute coordinate."""
        return float(np.abs(self.bounds).max())

    @cached_property
    def convex_bound(self) -> ConvexShape:
        """Its convex hull, in local space."""
        return Box.from_matrix(np.eye(4), *self.bounds) if self.is_box else self.hull

    def world_concavity(
        self, make_hull: Callable[[], ConvexHull], linear: FloatArray, translation: FloatArray
    ) -> Concavity:
        """Return how far the mesh is from its hull in world space; searched once for all places and rotations.

        make_hull: makes the image of the local hull, where it is needed.
        """

        def search() -> tuple[Concavity, FloatArray]:
            hull = make_hull()
            found = max_concavity(hull, hull.vertex_ids, self.points @ linear.T + translation, self.triangles)
            return found, np.linalg.pinv(linear) @ (found.point - translation)

        found, point = self.by_stretch("concavity", linear, search)
        return replace(found, point=linear @ point + translation)

    def by_stretch(self, name: Hashable, linear: FloatArray, make: Callable[[], _T]) -> _T:
        """Return a measurement of the mesh in world space that rotations do not change, made once for each stretch."""
        measured: _T = self._by_stretch.get((name, _stretch(linear)), make)
        return measured

    def pieces(self, progress: Progress | None = None) -> Decomposition:
        """Return the convex pieces that stand for the mesh, cut once. Raises Cancelled."""
        if self._pieces is None:
            self._pieces = mesh_pieces(self.mesh, progress=progress)
        return self._pieces

    def exact_pieces(self, progress: Progress | None = None) -> Decomposition | None:
        """Return the pieces whose union is the solid, cut once; None where none are found. Raises Cancelled."""
        if self._exact_pieces is None:
            self._exact_pieces = (exact_pieces(self.mesh, progress=progress)[0],)
        return self._exact_pieces[0]

    @cached_property
    def mesh(self) -> Mesh:
        """The mesh in local space; what is the same in all places is shared. Raises ValueError."""
        triangles = self.triangles.astype(np.intp, copy=False)
        mesh = Mesh(self.points, triangles, RESOLUTION_STEPS * float32_step(self.magnitude))
        self.points, self.triangles = mesh.points, mesh.triangles  # of which no second copy is needed
        return mesh


def _stretch(linear: FloatArray) -> tuple[float, ...]:
    """Return a key of what a matrix does to lengths: one for all rotations of an object, up to rounding."""
    gram = linear.T @ linear
    size = float(np.sqrt(gram.trace()))
    if size == 0.0:
        return (0.0,)
    return (float(f"{size:.5g}"), *(round(g, 5) for g in (gram / size**2).ravel().tolist()))


def _weight(geometry: Geometry) -> int:
    return len(geometry.points) + len(geometry.triangles)


_recent: LruCache[Geometry] = LruCache(MOST_RECENT, MOST_NUMBERS, _weight)
"""The geometries used last, by their digests, for all checks and inspections of a Blender run: hulls, trees and pieces
are made once of a mesh that is not edited."""
clear = _recent.clear


class Geometries:
    """Geometries by their digest: those that this frame of an animation, or the last one, has used."""

    def __init__(self) -> None:
        self._known: dict[bytes, Geometry] = {}
        self._used: dict[bytes, Geometry] = {}

    def next_frame(self) -> None:
        """Drop what the last frame did not use."""
        self._known, self._used = self._used, {}

    def get(self, digest: bytes, read_arrays: ReadArrays) -> Geometry:
        """Return the geometry of a digest, read where it is not known."""
        known = self._used.get(digest) or self._known.get(digest)
        known = known or _recent.get(digest, lambda: _read(digest, read_arrays))
        self._used[digest] = known
        return known

    def unchanged(self, place: Hashable, sources: Iterable[int]) -> Geometry | None:
        """Return the geometry that was noted at a place in memory, if it is certain to be the same; else None.

        sources: `session_uid` of all objects that make it.
        """
        return None

    def note(self, place: Hashable, geometry: Geometry) -> None:
        """Note the geometry that is at a place in memory."""


class RecentGeometries(Geometries):
    """Geometries that are kept only as long as they are among those used last."""

    def get(self, digest: bytes, read_arrays: ReadArrays) -> Geometry:
        return _recent.get(digest, lambda: _read(digest, read_arrays))


class DigestsOnly(Geometries):
    """Geometries without coordinates: their digests are enough to compare, and triangles take longest to read."""

    def get(self, digest: bytes, read_arrays: ReadArrays) -> Geometry:
        return Geometry(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32), digest)


def _read(digest: bytes, read_arrays: ReadArrays) -> Geometry:
    points, triangles = read_arrays()
    return Geometry(points.astype(np.float64), triangles, digest)
