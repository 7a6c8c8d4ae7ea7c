# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a mesh bound a convex solid, and if not, at which edges does it bend inward?

A mesh that is convex but for the rounding of its coordinates counts as convex. Source: S1.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arguments import as_length
from ..meshes.mesh import Mesh
from ..meshes.surface import signed_volume, validate_mesh
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..shapes.polytope import PRODUCTS
from ..tolerance import CONVEX_COVERED, CONVEX_FLAT, EPS
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from .concavity import max_concavity
from .whole_points import CHUNK


@dataclass(frozen=True, eq=False)
class MeshConvexity(ReadOnlyArrays):
    """Whether a mesh bounds a convex solid, and its reflex edges. Source: S1.1."""

    convex: bool
    """The mesh is closed and, to rounding or the tolerance, its own convex hull. A flat mesh: it fills its hull."""
    closed: bool
    """Whether every edge is used once in each direction."""
    edges: IntArray
    """(k, 2) point numbers of the edges at which the surface bends inward, the sharpest first; of edges with
    exactly two triangles, wound alike. Empty when convex."""
    bends: FloatArray
    """(k,) by how many radians the surface bends inward there: 0 is flat, pi a crack."""
    depth: float
    """The deepest place of the mesh under the surface of its hull, unit of the coordinates."""
    point: FloatArray
    """(3,) that place, world frame."""
    reason: str
    """Why it is not convex, in words; empty when it is."""


def mesh_convexity(mesh: Mesh, tolerance: float = 0.0) -> MeshConvexity:
    """Return whether a mesh, wound outward or all inward, bounds a convex solid, and the edges at which it is concave.

    `tolerance`: concavities up to this fraction of the bounding box's diagonal are ignored, as rounding (CONVEX_FLAT
    EPS M) always is. Raise ValueError, naming the argument, when the mesh is not a Mesh or the tolerance is negative.
    Source: S1.1.

    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> mesh_convexity(Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])).convex
    True
    """
    validate_mesh("mesh", mesh)
    tolerance = as_length("tolerance", tolerance)
    used, inverse = np.unique(mesh.triangles, return_inverse=True)
    array, corners = mesh.points[used], inverse.reshape(-1, 3).astype(np.intp)
    hull = ConvexHull(array)
    found = max_concavity(hull, hull.vertex_ids, array, corners)
    depth, point = found.depth, found.point
    rounding = CONVEX_FLAT * EPS * hull.magnitude
    least = max(rounding, tolerance * hull.extent)
    edges, bends = np.empty((0, 2), dtype=np.intp), np.empty(0)
    reason = ""
    if hull.rank < 3:
        if depth > least:
            reason = f"the mesh is flat and its outline is concave, {depth:.3g} deep"
        elif hull.rank == 2 and found.open_fraction > max(CONVEX_COVERED, tolerance):
            reason = f"the mesh is flat and leaves {found.open_fraction:.3g} of its hull open"
    else:
        edges, bends = reflex_edges(array, corners, least)
        if not depth and len(edges):  # too shallow for the search: the edges show where it is
            depth, point = _depth_at_edges(hull, array, edges[:CHUNK])
        fraction = abs(signed_volume(array - hull.center, corners)) / hull.volume
        if depth > least:
            reason = f"the surface is concave, {depth:.3g} deep"
        elif not found.is_closed:
            reason = "the mesh is not closed: not every edge is used once in each direction"
        elif abs(fraction - 1.0) > max(CONVEX_COVERED, 2.0 * least * hull.area / hull.volume):
            reason = f"the mesh encloses {fraction:.6g} times the volume of its hull"
    if not reason:
        edges, bends = edges[:0], bends[:0]
    numbers: IntArray = used.astype(np.intp)[edges].reshape(-1, 2)
    return MeshConvexity(
        not reason,
        found.is_closed,
        read_only(numbers),
        read_only(bends),
        depth if depth > rounding else 0.0,
        point,
        reason,
    )


def _depth_at_edges(hull: ConvexHull, points: FloatArray, edges: IntArray) -> tuple[float, FloatArray]:
    """Return the deepest of the middles of edges under the surface of the hull, and where it is."""
    middles = 0.5 * points[edges[:, 0]] + 0.5 * points[edges[:, 1]]
    depths = np.full(len(edges), np.inf)
    for indices in chunks(len(hull.normals), PRODUCTS // len(edges)):
        under = hull.offsets[indices] - (middles - hull.center) @ hull.normals[indices].T
        np.minimum(depths, under.min(axis=1), out=depths)
    deepest = int(depths.argmax())
    return float(depths[deepest]), middles[deepest]


def is_balanced(triangles: IntArray) -> bool:
    """Return whether every edge is used as often in one direction as in the other: the triangles then enclose what
    they enclose, also where more than two meet in an edge."""
    count = int(triangles.max()) + 1
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    return np.array_equal(np.sort(start * count + end), np.sort(end * count + start))


def inner_edges(triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Return the edges (k, 2) that exactly two triangles use, in opposite directions, and (k, 2) these triangles: the
    first has the edge as it is given."""
    count = int(triangles.max()) + 1
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    face = np.repeat(np.arange(len(triangles)), 3)
    keys = np.minimum(start, end) * count + np.maximum(start, end)
    order = np.argsort(keys, kind="stable")
    _, first, uses = np.unique(keys[order], return_index=True, return_counts=True)
    i, j = order[first[uses == 2]], order[first[uses == 2] + 1]
    fits = start[i] == end[j]
    i, j = i[fits], j[fits]
    return np.stack([start[i], end[i]], axis=1), np.stack([face[i], face[j]], axis=1)


def reflex_edges(points: FloatArray, triangles: IntArray, least: float) -> tuple[IntArray, FloatArray]:
    """Return the edges at which the surface bends inward by more than `least`, the sharpest first, and the angles."""
    edges, faces = inner_edges(triangles)
    center = 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)
    size = float(np.abs(points - center).max())
    p = (points - center) / size
    outward = 1.0 if signed_volume(p, triangles) >= 0.0 else -1.0
    found, angles = [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for chunk in chunks(len(edges), CHUNK):
        edge, pair = edges[chunk], faces[chunk]
        a, b = p[edge[:, 0]], p[edge[:, 1]]
        c = p[triangles[pair[:, 0]].sum(axis=1) - edge.sum(axis=1)]
        d = p[triangles[pair[:, 1]].sum(axis=1) - edge.sum(axis=1)]
        along, u, v = b - a, c - a, d - a
        n, m = np.cross(along, u), np.cross(v, along)
        volume = (n * v).sum(axis=1) * outward
        # The thickness of four points: their volume over the largest of the faces and of the products of two edges.
        products = [n, m, np.cross(c - b, d - b), np.cross(u, v)]
        products += [np.cross(along, d - c), np.cross(u, d - b), np.cross(v, c - b)]
        largest = np.sqrt(np.max([(x * x).sum(axis=1) for x in products], axis=0))
        inward = volume > least / size * largest
        bend = np.arctan2(np.sqrt((along * along).sum(axis=1)) * np.abs(volume), (n * m).sum(axis=1))
        rows = np.flatnonzero(inward)
        found.append(rows + chunk.start)
        angles.append(bend[rows])
    rows, bends = np.concatenate(found), np.concatenate(angles)
    order = np.argsort(-bends, kind="stable")
    return edges[rows[order]], bends[order]
