# SPDX-License-Identifier: GPL-3.0-or-later
"""The axes along which two triangles may be parted: their normals, those across an edge of each, and those across an
edge in its plane. Pairs of triangles are rows (corner, axis, k)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..types import FloatArray
from ..vectors import cross


def edges_of(corners: FloatArray) -> FloatArray:
    """Return the edges of triangles (corner, axis, k)."""
    return np.stack([corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]])


def normals(edges_a: FloatArray, edges_b: FloatArray) -> Iterator[FloatArray]:
    """Yield the normals (3, k) of two triangles."""
    yield cross(edges_a[0], edges_a[1])
    yield cross(edges_b[0], edges_b[1])


def in_planes(edges_a: FloatArray, edges_b: FloatArray) -> Iterator[FloatArray]:
    """Yield the axes (3, k) in the plane of each triangle and across its edges."""
    for edges in (edges_a, edges_b):
        normal = cross(edges[0], edges[1])
        yield from (cross(normal, edge) for edge in edges)


def across_edges(edges_a: FloatArray, edges_b: FloatArray) -> Iterator[FloatArray]:
    """Yield the axes (3, k) across an edge of each triangle."""
    yield from (cross(p, q) for p in edges_a for q in edges_b)


def range_along(axis: FloatArray, corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest products (k,) of an axis (3, k) and the corners of triangles (corner, axis, k)."""
    heights = axis[0] * corners[:, 0]
    heights += axis[1] * corners[:, 1]
    heights += axis[2] * corners[:, 2]
    return heights.min(axis=0), heights.max(axis=0)
