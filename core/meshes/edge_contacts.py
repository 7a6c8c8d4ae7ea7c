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
        return EdgeContacts(
            self.pairs.take(chosen, axis=0),
            self.ends.take(chosen, axis=0),
            self.normals.take(chosen, axis=0),
            self.ranks.take(chosen),
        )


def edge_contacts(
    a: Mesh, b: Mesh, pairs: IntArray, reach: float, are_known: Callable[[FloatArray], BoolArray]
) -> EdgeContacts:
    """Return where edges and corners of pairs (k, 2) of triangles are no farther apart than `reach`; pairs that are
    farther apart are left out, and those whose segments, given by their ends (k, 2, 3), `are_known`."""
    parts = [EdgeContacts(pairs[:0], np.zeros((0, 2, 3)), np.zeros((0, 3)), pairs[:0, 0])]
    for part in chunks(len(pairs), _BATCH):
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
    for i in range(3):
        for j in range(3):
            points[3 * i + j] = 0.5 * (a[i] + s[i, j] * edges_a[i] + b[j] + t[i, j] * edges_b[j])
    for row, own, edges, others in ((9, a, edges_a, b), (12, b, edges_b, a)):
        second, third = feet_on_faces(own, edges, others, squares[row : row + 3])
        for k in range(3):
            foot = own[0] + second[k] * edges[0] - third[k] * edges[2]
            points[row + k] = 0.5 * (foot + others[k])
    valid = squares <= reach * reach
    met = np.flatnonzero(valid.any(axis=0))
    points, valid = points.take(met, axis=2), valid.take(met, axis=1)
    best, place = np.full(len(met), -1.0), np.arange(len(met))
    first, last = np.zeros((2, len(met)), dtype=np.intp)
    for i in range(15):
        away = (points[i] - points[: i + 1]).transpose(1, 0, 2)
        square = np.where(valid[i] & valid[: i + 1], dot(away, away), -1.0)
        j = square.argmax(axis=0)
        farther = np.flatnonzero(square[j, place] > best)
        best[farther], first[farther], last[farther] = square[j, place][farther], j[farther], i
    ends = np.stack([points[first, :, place], points[last, :, place]], axis=1) + origin.T.take(met, axis=0)[:, None]
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
    candidates = [
        (valid[9:12].any(axis=0), cross(edges_a[0], edges_a[1])),
        (valid[12:].any(axis=0), cross(edges_b[0], edges_b[1])),
    ]
    for i in range(3):
        for j in range(3):
            normal = cross(edges_a[i], edges_b[j])
            size = dot(edges_a[i], edges_a[i]) * dot(edges_b[j], edges_b[j])
            between = (np.minimum(s[i, j], t[i, j]) > _END) & (np.maximum(s[i, j], t[i, j]) < 1.0 - _END)
            candidates.append((valid[3 * i + j] & between & (dot(normal, normal) > _ACROSS**2 * size), normal))
    ranks = np.full(a.shape[2], 2)
    for k, (where, normal) in enumerate(candidates):
        chosen = (ranks == 2) & where & (dot(normal, normal) > 0.0)
        result[:, chosen] = normal[:, chosen]
        ranks[chosen] = int(k >= 2)
    length = np.sqrt(dot(result, result))
    result /= np.where(length > 0.0, length, 1.0)
    toward = dot(result, b.mean(axis=0) - a.mean(axis=0))
    return np.ascontiguousarray((result * np.where(toward < 0.0, -1.0, 1.0)).T), ranks
