# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that are closed but for small holes, and what is inside of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..connected import connected_parts
from ..shapes.hull import ConvexHull
from ..shapes.shape import Shape
from ..types import FloatArray, IntArray
from ..vectors import cross
from .body import Body
from .coordinates import corner_rows
from .mesh import Mesh
from .solid_facets import fans
from .winding import winding_numbers

SMALL_HOLE = 0.01
"""Times the area of a loose part: a hole in it is small where one side of the hull of its rim is less."""
SMALL_HOLES = 0.05
"""The same of all holes of the part together."""
SURROUNDED = 0.95
"""Winding number from which on a point is inside: less than this, it is outside or near a hole."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """The loose parts of an open mesh that are closed but for small holes."""

    parts: Mesh | None
    """None where all parts of the mesh are."""
    holes: tuple[int, ...]
    """How many edges the rim of each hole has, ascending."""

    def surface(self, mesh: Mesh) -> Mesh:
        """Return these parts of the mesh."""
        return mesh if self.parts is None else self.parts


def enclosure_of(mesh: Mesh) -> Enclosure | None:
    """Return the parts of an open mesh that are closed but for small holes, found once; None without any."""
    known = mesh.__dict__
    if "_enclosure" not in known:
        known["_enclosure"] = _enclosure(mesh)
    found: Enclosure | None = known["_enclosure"]
    return found


def is_enclosure(shape: Shape) -> bool:
    """Return whether a shape is a mesh in which another one can be inside without crossing its surface first: next to a
    hole, or to a triangle that is turned over, nothing is."""
    return isinstance(shape, Mesh) and not shape.is_closed and enclosure_of(shape) is not None


def enclosure_around(inner: Body, outer: Body) -> Enclosure | None:
    """Return what of an open mesh has every corner of a body inside, which does not meet it; None where that is not."""
    if outer.solid:
        return None
    (low, high), (outer_low, outer_high) = inner.mesh.bounds, outer.mesh.bounds
    if (low < outer_low).any() or (high > outer_high).any():
        return None
    found = enclosure_of(outer.mesh)
    if found is None:
        return None
    surface = found.surface(outer.mesh)
    # A few points first: they tell what is outside from what is inside.
    is_inside = all(
        (np.abs(winding_numbers(points, surface).numbers) >= SURROUNDED).all()
        for points in (inner.part_points, inner.corners)
    )
    return found if is_inside else None


@dataclass(frozen=True, eq=False)
class _HoleRims:
    """The edges at which a mesh ends, by holes. Points in one place count as one."""

    edges: IntArray
    """(k, 2) those of one hole together."""
    first: IntArray
    """(h,) the first edge of each hole."""
    part: IntArray
    """(h,) the loose part that each hole is in."""
    parts: IntArray
    """(m,) the loose part of each triangle."""


def _rims(mesh: Mesh) -> _HoleRims:
    welded = Mesh(mesh.points, mesh.welded_ids.take(mesh.triangles))
    edges, parts = welded.boundary_edges, welded.loose_parts
    hole = connected_parts(edges, len(mesh.points)).take(edges[:, 0])
    order = np.argsort(hole, kind="stable")
    first = np.flatnonzero(np.diff(hole.take(order), prepend=-1))
    part_of_point = np.zeros(len(mesh.points), dtype=np.intp)
    part_of_point[welded.triangles] = parts[:, None]
    edges = edges.take(order, axis=0)
    return _HoleRims(edges, first, part_of_point.take(edges[first, 0]), parts)


def _enclosure(mesh: Mesh) -> Enclosure | None:
    if "rims" not in mesh.known:
        mesh.known["rims"] = _rims(mesh.original)
    rims: _HoleRims = mesh.known["rims"]
    areas = np.bincount(rims.parts, mesh.local_areas)
    is_closed = areas > 0.0
    counts = np.diff(rims.first, append=len(rims.edges))
    corners = mesh.points.take(rims.edges, axis=0) / (mesh.unit or 1.0)
    is_closed[rims.part[_least_areas(corners, rims.first, counts) >= SMALL_HOLE * areas.take(rims.part)]] = False
    sizes = np.zeros(len(counts))
    for hole in np.flatnonzero(is_closed.take(rims.part)).tolist():
        sizes[hole] = _hull_area(corners[rims.first[hole] :][: counts[hole]].reshape(-1, 3))
    is_closed[rims.part[sizes >= SMALL_HOLE * areas.take(rims.part)]] = False
    is_closed &= np.bincount(rims.part, sizes, len(areas)) < SMALL_HOLES * areas
    kept = is_closed.take(rims.parts)
    if not kept.any():
        return None
    parts = None if kept.all() else mesh.some_of(np.flatnonzero(kept))
    return Enclosure(parts, tuple(np.sort(counts[is_closed.take(rims.part)]).tolist()))


def _least_areas(corners: FloatArray, first: IntArray, counts: IntArray) -> FloatArray:
    """Return (h,) the area of a large triangle in each hole, less than one side of its hull: of most large holes it is
    enough. corners: (k, 2, 3) of edges."""
    if not len(first):
        return np.zeros(0)
    start = np.repeat(corners[first, 0], counts, axis=0)
    away = corners[:, 0] - start
    order = np.lexsort(((away * away).sum(axis=1), np.repeat(np.arange(len(first)), counts)))
    farthest = np.repeat(away.take(order.take(first + counts - 1), axis=0), counts, axis=0)
    across = [cross(farthest.T, (corners[:, end] - start).T) for end in (0, 1)]
    doubled = np.sqrt(np.maximum(*((of_end * of_end).sum(axis=0) for of_end in across)))
    return 0.5 * np.maximum.reduceat(doubled, first)


def _hull_area(points: FloatArray) -> float:
    """Return the area of one side of the convex hull of points (k, 3)."""
    hull = ConvexHull(points - points[0])
    if hull.rank < 2:
        return 0.0
    p, q, r = corner_rows(hull.vertices, fans(hull, False))
    normals = cross(q - p, r - p)
    area = 0.5 * float(np.sqrt((normals * normals).sum(axis=0)).sum())
    return 0.5 * area if hull.rank == 3 else area
