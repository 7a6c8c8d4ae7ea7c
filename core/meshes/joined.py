# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface that a mesh stands for: which of its corners count as one, whether it is closed then, and which triangles
count, for copies do not.

1. A mesh is closed as it is, or with corners in one place as one, or with corners near each other as one: those of its
   open edges that are no farther apart than `Surface.margin`. How far is the slit.
2. Of triangles in one place, wound alike, the first one stands for all; winding numbers count all of them.

The surface of a mesh with a slit has the joined corners, so there is no gap in it. It is nowhere farther from the mesh,
nor the mesh from it, than the slit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tolerance import DEFAULT_CONTACT_TOLERANCE
from ..types import FloatArray, IntArray
from .mesh import Mesh
from .near_points import near_clusters


@dataclass(frozen=True, eq=False)
class Joined:
    """The surface that a mesh stands for."""

    surface: Mesh
    """The mesh itself where no corners are joined and no copies left out; else a mesh with the same points."""
    is_closed: bool
    """Whether a solid is inside, unless there is no room."""
    is_welded: bool
    """Whether corners had to be joined for that."""
    edges: int
    """How many open edges corners near each other close; 0 where corners in one place do, or the mesh is closed."""
    slit: float
    """How far these corners are moved at most; world units, 0.0 without any."""


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is the same in all poses of a mesh."""

    surface: Mesh | None
    """That of the original; None where it is the mesh itself."""
    is_closed: bool
    ids: IntArray | None
    """(n,) the point that each point counts as; None where no corners are joined."""
    is_welded: bool
    edges: int


def joined(mesh: Mesh) -> Joined:
    """Return the surface that a mesh stands for; what is the same in all poses is found once, of the original."""
    known, plan = mesh.__dict__, _plan_of(mesh.original)
    if plan.surface is None:
        return Joined(mesh, plan.is_closed, False, 0, 0.0)
    if "_joined" not in known:
        known["_joined"] = _posed(mesh, plan.surface, plan)
    found: Joined = known["_joined"]
    return found


def closing_links(mesh: Mesh) -> IntArray | None:
    """Return pairs (k, 2) of points of an open mesh, of which `Mesh.welded` with the longest distance closes it; None
    where none does that is within the default contact tolerance of the mesh by itself. Found once, of the original."""
    known, original = mesh.known, mesh.original
    if "closing links" not in known:
        known["closing links"] = _closing_links(original)
    found: IntArray | None = known["closing links"]
    return found


def _plan_of(original: Mesh) -> _Plan:
    known = original.known
    if "joined" not in known:
        known["joined"] = _plan(original)
    found: _Plan = known["joined"]
    return found


def _plan(mesh: Mesh) -> _Plan:
    """Find the surface of an original."""
    ids, edges = None, 0
    is_closed = mesh.is_closed
    if not is_closed:
        welded = mesh.with_common_corners
        if welded.is_closed:
            is_closed, ids = True, mesh.welded_ids
        elif len(welded.boundary_edges):
            near = _near_ids(mesh, welded, mesh.margin)[0]
            # Where chains of near corners reach farther, there is a hole, and no slit.
            if near is not None and _slit(mesh, near) <= mesh.margin and mesh.named(near).is_closed:
                is_closed, ids, edges = True, near, len(welded.boundary_edges)
    surface = mesh.without_copies
    is_welded = ids is not None
    if is_closed and ids is None and surface is not mesh:
        ids = mesh.welded_ids  # the first copies may be of different shells
    if ids is not None:
        surface = surface.named(ids)
        surface.known["first copies"] = None
    return _Plan(None if surface is mesh else surface, is_closed, ids, is_welded, edges)


def _posed(mesh: Mesh, surface: Mesh, plan: _Plan) -> Joined:
    """Return the surface of a pose, from that of the original."""
    if mesh.original is not mesh:
        surface = surface._posed(mesh.points, surface.triangles[:, ::-1] if mesh.is_turned else surface.triangles)
    slit = _slit(mesh, plan.ids) if plan.edges and plan.ids is not None else 0.0
    return Joined(surface, plan.is_closed, plan.is_welded, plan.edges, slit)


def _near_ids(mesh: Mesh, welded: Mesh, distance: float) -> tuple[IntArray | None, IntArray]:
    """Return the point (n,) that each counts as where those of open edges no farther apart than a distance are one,
    None where none are; and links (k, 2) between these."""
    rim = np.unique(welded.boundary_edges)
    clusters, links = near_clusters(mesh.points.take(rim, axis=0), distance)
    if not len(links):
        return None, links
    ids = np.arange(len(mesh.points))
    ids[rim] = rim.take(clusters)
    return ids.take(mesh.welded_ids), rim.take(links)


def _slit(mesh: Mesh, ids: IntArray) -> float:
    """Return how far points are at most from those that they count as."""
    return longest(mesh.points, np.stack([np.arange(len(ids)), ids], axis=1)[mesh.triangles.ravel()])


def longest(points: FloatArray, links: IntArray) -> float:
    """Return how far the two points of one of some pairs (k, 2) are apart at most."""
    return float(_lengths(points, links).max(initial=0.0))


def _lengths(points: FloatArray, links: IntArray) -> FloatArray:
    x, y, z = (points.take(links[:, 0], axis=0) - points.take(links[:, 1], axis=0)).T
    return np.hypot(np.hypot(x, y), z)


def _closing_links(mesh: Mesh) -> IntArray | None:
    """Find the shortest links that close an original."""
    welded = mesh.with_common_corners
    if not len(welded.boundary_edges):
        return None

    def closes(distance: float) -> bool:
        ids = _near_ids(mesh, welded, distance)[0]
        return ids is not None and mesh.named(ids).is_closed

    most = DEFAULT_CONTACT_TOLERANCE * mesh.diameter
    links = _near_ids(mesh, welded, most)[1]
    if not (len(links) and closes(most)):
        return None
    lengths = _lengths(mesh.points, links)
    steps = np.unique(lengths)
    begin, end = 0, len(steps) - 1
    while begin < end:
        middle = (begin + end) // 2
        begin, end = (begin, middle) if closes(float(steps[middle])) else (middle + 1, end)
    return links[lengths <= steps[begin]] if mesh.welded(float(steps[begin])).is_closed else None
