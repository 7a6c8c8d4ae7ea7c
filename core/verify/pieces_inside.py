# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that convex pieces are inside the solid of a mesh: no triangle enters one, and its middle is inside.

Where no surface is, all points are inside the same of its loose parts.
"""

from __future__ import annotations

import numpy as np

from ..meshes.body import Body
from ..meshes.mesh import Mesh
from ..runs import chunks, scattered
from ..shapes.hull import ConvexHull
from ..shapes.polytope import PRODUCTS
from ..types import BoolArray, FloatArray, IntArray
from .inside import turns

_PLANES = 16
"""Planes of a piece that triangles are measured by at a time."""
_MANY = 256
"""Planes of a piece, above which triangles are first measured by those in whose direction they are."""


def sticks_out(piece: ConvexHull, body: Body, room: float, middle_inside: bool) -> bool:
    """Return whether a piece, deeper than `room` under its own planes, is outside of a solid somewhere.

    `middle_inside` is whether the mean of its corners is inside of the solid. A piece whose middle is no deeper than
    `room` is not judged.
    """
    middle = piece.vertices.mean(axis=0)
    if piece.rank < 3 or float((piece.normals @ (middle - piece.center) - piece.offsets).max()) >= -room:
        return False
    mesh = body.mesh
    entering = triangles_in(piece, body, room)
    if not len(entering):
        return not middle_inside
    # Loose parts may overlap: what is inside of one is inside, whatever others turned the same way come in.
    of_parts = mesh.loose_parts
    parts = np.unique(of_parts[entering])
    remaining = mesh.triangles[~np.isin(of_parts, parts)]
    if not len(remaining):
        return True
    around = turns(middle, Mesh(mesh.points, remaining))
    against = np.count_nonzero(np.bincount(of_parts, mesh.local_volumes)[parts] * around < 0.0)
    return bool(abs(around) - against < 0.5)


def triangles_in(piece: ConvexHull, body: Body, room: float) -> IntArray:
    """Return the triangles of a body of which a part is deeper than `room` under all planes of a piece."""
    low, high = piece.bounds
    corners = body.mesh.points[body.mesh.triangles]
    near = np.flatnonzero(((corners.max(axis=1) > low) & (corners.min(axis=1) < high)).all(axis=1))
    if len(piece.normals) > _MANY:
        near = near[~_on_facets(piece, corners[near], body.normals(near), room)]
    order = scattered(len(piece.normals))
    found = []
    for chunk in chunks(len(near), PRODUCTS // (3 * _PLANES)):
        rows = near[chunk]
        polygons = corners[rows] - piece.center
        # First those that are outside of one plane as a whole, nearly all; then the others are cut.
        for planes in np.array_split(order, -(-len(order) // _PLANES)):
            heights = polygons @ piece.normals[planes].T - piece.offsets[planes]
            enters = (heights.min(axis=1) < -room).all(axis=1)
            rows, polygons = rows[enters], polygons[enters]
            if not len(rows):
                break
        for normal, offset in zip(piece.normals, piece.offsets, strict=True):
            left, polygons = _below(polygons, normal, float(offset) - room)
            rows = rows[left]
            if not len(rows):
                break
        found.append(rows)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)


def _on_facets(piece: ConvexHull, corners: FloatArray, directions: FloatArray, room: float) -> BoolArray:
    """Return which triangles (k, 3, 3) are no deeper than `room` under a plane of a piece, of those planes that have
    about the direction (k, 3) of the triangle."""
    about = piece.normals[scattered(len(piece.normals))[: int(len(piece.normals) ** 0.5)]]
    of_planes, of_triangles = (piece.normals @ about.T).argmax(axis=1), (directions @ about.T).argmax(axis=1)
    result = np.zeros(len(corners), dtype=np.bool_)
    for k in range(len(about)):
        planes, rows = np.flatnonzero(of_planes == k), np.flatnonzero(of_triangles == k)
        for part in chunks(len(rows), PRODUCTS // (3 * max(1, len(planes)))):
            heights = (corners[rows[part]] - piece.center) @ piece.normals[planes].T - piece.offsets[planes]
            result[rows[part]] = (heights.min(axis=1) >= -room).any(axis=1)
    return result


def _below(polygons: FloatArray, normal: FloatArray, height: float) -> tuple[BoolArray, FloatArray]:
    """Return which convex polygons (k, n, 3) have a part below a plane, (k,), and these parts, (l, n or n + 1, 3): the
    last corner of one with fewer is repeated."""
    above = polygons @ normal - height
    left = above.min(axis=1) < 0.0
    polygons, above = polygons[left], above[left]
    if not (above > 0.0).any():
        return left, polygons
    k, n = above.shape
    following, above_following = np.roll(polygons, -1, axis=1), np.roll(above, -1, axis=1)
    crosses = (above < 0.0) != (above_following < 0.0)
    fraction = np.divide(above, above - above_following, out=np.zeros_like(above), where=crosses)
    cuts = polygons + fraction[:, :, None] * (following - polygons)
    # Each corner that is kept, and then the cut on the side that begins at it.
    points = np.stack([polygons, cuts], axis=2).reshape(k, 2 * n, 3)
    kept = np.stack([above < 0.0, crosses], axis=2).reshape(k, 2 * n)
    counts = kept.sum(axis=1)
    places = np.argsort(~kept, axis=1, kind="stable")
    columns = np.minimum(np.arange(counts.max()), counts[:, None] - 1)
    return left, points[np.arange(k)[:, None], np.take_along_axis(places, columns, axis=1)]
