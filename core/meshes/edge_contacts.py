# SPDX-License-Identifier: GPL-3.0-or-later
"""Where edges and corners of two meshes are within reach of each other: a segment or a point for each pair of
triangles."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..runs import chunks
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross, dot
from .mesh import Mesh
from .triangle_distance import feet_on_faces, nearest_on_edges

_BATCH = 1024
"""Pairs in one go: the nine pairs of edges of all of them fit the cache."""
_CYCLE = np.array([1, 2, 0])
_LAST, _FIRST = np.tril_indices(15)
"""Pairs of the points at which two triangles may be near."""
_END = 1e-6
"""Fraction of an edge that is one of its ends."""
_ACROSS = 1e-3
"""Sine of the angle from which on two edges have a normal."""


class EdgeContacts(NamedTuple):
    """Where edges and corners of k pairs of triangles are near: segments, and points as segments without length."""

    pairs: IntArray
    """(k, 2) of a triangle of A and one of B."""
    ends: FloatArray
    """(k, 2, 3) half-way between both."""
    normals: FloatArray
    """(k, 3) unit vectors from A to B, zero where there is none."""
    ranks: IntArray
    """(k,) what the normals are of: 0 a face that a corner is on, 1 two edges that cross, 2 nothing."""

    def take(self, chosen: IntArray) -> EdgeContacts:
        """Return some of them."""
        return EdgeContacts._make(column.take(chosen, axis=0) for column in self)


def edge_contacts(
    a: Mesh, b: Mesh, pairs: IntArray, reach: float, are_known: Callable[[FloatArray], BoolArray]
) -> EdgeContacts:
    """Return where edges and corners of pairs (k, 2) of triangles are no farther apart than `reach`; pairs that are
    farther apart are left out, and those whose segments, given by their ends (k, 2, 3), `are_known`."""
    parts = []
    for part in chunks(max(len(pairs), 1), _BATCH):
        met, ends, normals, ranks = _contacts(
            a.corner_rows(pairs[part, 0]), b.corner_rows(pairs[part, 1]), reach, are_known
        )
        parts.append(EdgeContacts(pairs[part].take(met, axis=0), ends, normals, ranks))
    return EdgeContacts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _contacts(
    rows_a: FloatArray, rows_b: FloatArray, reach: float, are_known: Callable[[FloatArray], BoolArray]
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Return which pairs with corners in rows (corner, axis, n) are near, their segments, normals and ranks."""
    origin = rows_a[0]
    a, b = rows_a - origin, rows_b - origin
    edges_a, edges_b = a.take(_CYCLE, axis=0) - a, b.take(_CYCLE, axis=0) - b
    count = a.shape[2]
    squares = np.empty((15, count))
    points = np.empty((15, 3, count))
    s, t = nearest_on_edges(a, edges_a, b, edges_b, squares[:9].reshape(3, 3, -1))
    own_side, other_side = s[:, :, None] * edges_a[:, None], t[:, :, None] * edges_b
    points[:9] = (0.5 * (a[:, None] + own_side + b + other_side)).reshape(9, 3, -1)
    for row, own, edges, others in ((9, a, edges_a, b), (12, b, edges_b, a)):
        second, third = feet_on_faces(own, edges, others, squares[row : row + 3])
        foot = own[0] + second[:, None] * edges[0] - third[:, None] * edges[2]
        points[row : row + 3] = 0.5 * (foot + others)
    valid = squares <= reach * reach
    met = np.flatnonzero(valid.any(axis=0))
    points, valid = points.take(met, axis=2), valid.take(met, axis=1)
    place = np.arange(len(met))
    away = (points.take(_LAST, axis=0) - points.take(_FIRST, axis=0)).transpose(1, 0, 2)
    farthest = np.where(valid.take(_LAST, axis=0) & valid.take(_FIRST, axis=0), dot(away, away), -1.0).argmax(axis=0)
    first, last = points[_FIRST.take(farthest), :, place], points[_LAST.take(farthest), :, place]
    ends = np.stack([first, last], axis=1) + origin.T.take(met, axis=0)[:, None]
    left = np.flatnonzero(~are_known(ends))
    met, ends, valid = met.take(left), ends.take(left, axis=0), valid.take(left, axis=1)
    a, b, s, t = a.take(met, axis=2), b.take(met, axis=2), s.take(met, axis=2), t.take(met, axis=2)
    normals, ranks = _normals(a, b, valid, s, t)
    return met, ends, normals, ranks


def _normals(
    a: FloatArray, b: FloatArray, valid: BoolArray, s: FloatArray, t: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Return unit normals (n, 3) from A to B, of a face that a corner is on, else across two edges that cross, and
    their ranks (n,)."""
    result = np.zeros((3, a.shape[2]))
    edges_a, edges_b = a.take(_CYCLE, axis=0) - a, b.take(_CYCLE, axis=0) - b
    u, v = edges_a.transpose(1, 0, 2)[:, :, None], edges_b.transpose(1, 0, 2)[:, None]
    normals = np.concatenate(
        [
            np.stack([cross(edges_a[0], edges_a[1]), cross(edges_b[0], edges_b[1])], axis=1),
            cross(u, v).reshape(3, 9, -1),
        ],
        axis=1,
    )
    squares = dot(normals, normals)
    between = (np.minimum(s, t) > _END) & (np.maximum(s, t) < 1.0 - _END)
    chosen = squares > 0.0
    chosen[0] &= valid[9:12].any(axis=0)
    chosen[1] &= valid[12:].any(axis=0)
    chosen[2:] &= valid[:9] & (
        between & (dot(u, u) * dot(v, v) * _ACROSS**2 < squares[2:].reshape(between.shape))
    ).reshape(9, -1)
    found, best = np.flatnonzero(chosen.any(axis=0)), chosen.argmax(axis=0)
    result[:, found] = normals[:, best.take(found), found]
    ranks = np.full(a.shape[2], 2)
    ranks[found] = best.take(found) >= 2
    length = np.sqrt(dot(result, result))
    result /= np.where(length > 0.0, length, 1.0)
    toward = dot(result, b.mean(axis=0) - a.mean(axis=0))
    return np.ascontiguousarray((result * np.where(toward < 0.0, -1.0, 1.0)).T), ranks
