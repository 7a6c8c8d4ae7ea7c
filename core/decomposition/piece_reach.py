# SPDX-License-Identifier: GPL-3.0-or-later
"""How far convex pieces reach outside of the solid that they stand for, by branch and bound on tetrahedra.

The distance from a triangle is a convex function, largest at a corner of a tetrahedron, and so is a mean of several;
none of them is less than the distance from the solid. A tetrahedron into which no triangle goes is inside, or outside,
with its middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances, points_to_mesh
from ..progress import Progress, report_progress
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..tolerance import CONVEX_FLAT, EPS
from ..types import FloatArray
from ..vectors import least_mean

_NEAR = 0.05
"""Times the distance that is found: how much larger its bound may be."""
_LEAST = 1e-3
"""Times the diagonal of the mesh: how much larger it may be in any case."""
_MOST = 6_000
"""Tetrahedra that are measured; the bound is what it is by then."""
_BATCH = 250
_PAIRS = 1 << 16  # of tetrahedra and triangles at a time
_ON_FACE = 8.0
"""Times CONVEX_FLAT EPS M: a triangle that goes no farther into a tetrahedron only touches it."""


def reach_outside(pieces: Sequence[ConvexHull], mesh: Mesh, depth: float, progress: Progress | None = None) -> float:
    """Return an upper bound, unit of the coordinates, of how far a point of convex pieces is from the solid that a mesh
    bounds, or from the surface of one that is not closed, where that is nowhere deeper in a piece than `depth`.

    It comes to _NEAR of that or _LEAST of the diagonal where _MOST tetrahedra are enough. Raise Cancelled when
    `progress` returns False.
    """
    parts = [_tetrahedra(piece) for piece in pieces]
    cells = np.concatenate(parts)
    bounds = np.repeat([reach_from_center(piece, mesh, depth) for piece in pieces], [len(part) for part in parts])
    near = np.full((len(cells), 3), -1)
    rows = mesh.points.take(mesh.triangles, axis=0)
    surface = rows, rows.min(axis=1), rows.max(axis=1)
    touching = _ON_FACE * CONVEX_FLAT * EPS * mesh.magnitude
    least = _LEAST * mesh.extent
    best = upper = 0.0
    measured = 0
    while True:
        allowed = max(best * (1.0 + _NEAR), best + least)
        is_open = bounds > allowed
        upper = max(upper, float(bounds[~is_open].max(initial=0.0)))
        cells, bounds, near = cells[is_open], bounds[is_open], near[is_open]
        highest = float(bounds.max(initial=upper))
        if not len(cells) or (measured >= _MOST and highest < inf):
            return highest + touching
        report_progress(progress, best / highest)
        order = np.argsort(-bounds, kind="stable")
        first, others = order[:_BATCH], order[_BATCH:]
        own, own_near = cells[first], near[first]
        measured += len(own)
        middles = own.mean(axis=1)
        found = points_to_mesh(middles, mesh)
        inside = mesh.contains(middles) if mesh.is_closed else np.zeros(len(own), dtype=np.bool_)
        best = max(best, float(found.distance[~inside].max(initial=0.0)))
        radius = np.sqrt(((own - middles[:, None]) ** 2).sum(axis=2)).max(axis=1)
        own_near = np.where(own_near < 0, found.triangle[:, None], own_near)
        own_near = np.column_stack([found.triangle, own_near[:, :2]])
        limit = np.minimum(bounds[first], radius + np.where(inside, -found.distance, found.distance))
        limit = np.minimum(limit, least_mean(_corner_distances(own, rows[own_near])))
        unsure = np.flatnonzero(inside & (limit > allowed))
        beyond = _reach_beyond(own[unsure], middles[unsure], radius[unsure], surface, touching)
        limit[unsure] = np.minimum(limit[unsure], beyond)
        cells = np.concatenate([cells[others], _halves(own)])
        bounds = np.concatenate([bounds[others], np.tile(limit, 2)])
        near = np.concatenate([near[others], np.tile(own_near, (2, 1))])


def reach_from_center(piece: ConvexHull, mesh: Mesh, depth: float) -> float:
    """Return how far a point of a piece is outside of a solid at most, where its surface is nowhere deeper in the piece
    than `depth`; inf where the center of the piece is not inside of the solid and deeper.

    On the line to the center such a point meets the surface, not beyond that depth.
    """
    around = float(piece.offsets.min()) if piece.rank == 3 else 0.0
    if not (depth < around and mesh.is_closed and mesh.contains(piece.center[None])[0]):
        return inf
    return depth / around * float(np.sqrt(((piece.vertices - piece.center) ** 2).sum(axis=1).max()))


def _tetrahedra(piece: ConvexHull) -> FloatArray:
    """Return tetrahedra (k, 4, 3), flat ones of a flat piece, that are a piece together."""
    loops = piece.facets if piece.rank > 1 else [np.arange(len(piece.vertices))[[0, 0, -1]]]
    fans = [(loop[0], loop[i], loop[i + 1]) for loop in loops for i in range(1, len(loop) - 1)]
    sides = piece.vertices[np.array(fans)]
    return np.concatenate([sides, np.broadcast_to(piece.center, (len(sides), 1, 3))], axis=1)


def _corner_distances(cells: FloatArray, triangles: FloatArray) -> FloatArray:
    """Return the distances (k, r, 4) of the corners of tetrahedra (k, 4, 3) from triangles (k, r, 3, 3) of each."""
    count, each = triangles.shape[:2]
    points = np.broadcast_to(cells[:, None], (count, each, 4, 3)).reshape(-1, 3).T
    corners = np.broadcast_to(triangles[:, :, None], (count, each, 4, 3, 3)).reshape(-1, 3, 3).transpose(1, 2, 0)
    return point_triangle_distances(np.ascontiguousarray(points), np.ascontiguousarray(corners))[0].reshape(
        count, each, 4
    )


def _reach_beyond(
    cells: FloatArray,
    middles: FloatArray,
    radius: FloatArray,
    surface: tuple[FloatArray, FloatArray, FloatArray],
    touching: float,
) -> FloatArray:
    """Return how far a point of tetrahedra is outside at most, where their middles are inside; 0.0 where no triangle
    goes into one, farther than it does where it only touches.

    On its way from the middle such a point is beyond the plane of a triangle that goes in, and the rest of the way is
    as short, to the whole, as it is beyond.
    """
    reach = np.zeros(len(cells))
    if not len(cells):
        return reach
    triangles, lows, highs = surface
    pairs = candidate_pairs(cells.min(axis=1), cells.max(axis=1), lows, highs).pairs
    for chunk in chunks(len(pairs), _PAIRS):
        cell, other = pairs[chunk].T
        corners, faces = cells[cell], triangles[other]
        normal = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
        heights = _heights(normal, faces[:, 0], corners)
        under = _heights(normal, faces[:, 0], middles[cell][:, None])[:, 0]
        beyond = (heights * np.where(under > 0.0, -1.0, 1.0)[:, None]).max(axis=1)
        apart = beyond <= touching
        for k in range(4):
            a, b, c, d = (corners[:, (k + j) % 4] for j in range(4))
            normal = np.cross(b - a, c - a)
            normal *= np.where(((d - a) * normal).sum(axis=1) > 0.0, -1.0, 1.0)[:, None]
            apart |= _heights(normal, a, faces).min(axis=1) >= -touching
        cell, beyond, under = cell[~apart], beyond[~apart], np.abs(under[~apart])
        np.maximum.at(reach, cell, radius[cell] * (beyond / (beyond + under)))
    return reach


def _heights(normal: FloatArray, start: FloatArray, corners: FloatArray) -> FloatArray:
    """Return the heights (k, n) of corners (k, n, 3) above planes, 0.0 where a normal is."""
    length = np.sqrt((normal * normal).sum(axis=1))
    unit = normal / np.where(length > 0.0, length, 1.0)[:, None]
    return ((corners - start[:, None]) * unit[:, None]).sum(axis=2)


def _halves(cells: FloatArray) -> FloatArray:
    """Return tetrahedra cut in the middles of their longest sides, the first halves of all before the others."""
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    sides = cells[:, pairs[:, 0]] - cells[:, pairs[:, 1]]
    ends = pairs[(sides * sides).sum(axis=2).argmax(axis=1)]
    row = np.arange(len(cells))
    middle = 0.5 * (cells[row, ends[:, 0]] + cells[row, ends[:, 1]])
    one, two = cells.copy(), cells.copy()
    one[row, ends[:, 0]] = middle
    two[row, ends[:, 1]] = middle
    return np.concatenate([one, two])
