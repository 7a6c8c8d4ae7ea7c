# SPDX-License-Identifier: GPL-3.0-or-later
"""Directions spread over the sphere, the same for all polytopes: along them intervals and farthest vertices are known.

The fixed axis nearest to a vector is looked up in a grid on the octahedron |x| + |y| + |z| = 1. Source: S4.4.
"""

from __future__ import annotations

import numpy as np

from ..types import FloatArray, IntArray, read_only
from .vectors import directions_around

AXES = 32
"""Fixed axes along which the interval of every polytope is known."""
_STEPS = 8
"""Cells of the octahedron's grid from a pole to the equator."""
_SIDE = 2 * _STEPS + 1


def _spread_axes() -> FloatArray:
    """Return unit vectors (AXES, 3), the coordinate axes among them, of which no two are nearly parallel."""
    count = AXES - 3
    z = 1.0 - (np.arange(count) + 0.5) / count
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    ring = np.sqrt(1.0 - z * z)
    spiral = np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)
    return read_only(np.concatenate([np.eye(3), spiral]))


FIXED_AXES = _spread_axes()
_BOTH_WAYS = np.concatenate([FIXED_AXES, -FIXED_AXES])
"""(2 AXES, 3) the opposite of direction k is k + AXES, or k - AXES."""


def _nearest_at_nodes() -> IntArray:
    """Return the direction nearest to each node of the grid: for z >= 0, then for z <= 0, row by row of x and y."""
    x, y = np.meshgrid(*[np.arange(-_STEPS, _STEPS + 1) / _STEPS] * 2, indexing="ij")
    z = 1.0 - np.abs(x) - np.abs(y)
    nodes = np.concatenate([np.stack([x, y, sign * z], axis=2).reshape(-1, 3) for sign in (1.0, -1.0)])
    return read_only((nodes @ _BOTH_WAYS.T).argmax(axis=1))


_NEAREST = _nearest_at_nodes()


def nearest_directions(vectors: FloatArray) -> IntArray:
    """Return a fixed direction (m,) near to each of vectors (3, m): k along axis k, k + AXES against it."""
    x, y, z = vectors
    norm = np.abs(x) + np.abs(y)
    norm += np.abs(z)
    scale = _STEPS / np.where(norm > 0.0, norm, 1.0)
    row, column = (np.rint(t * scale).astype(np.intp) + _STEPS for t in (x, y))
    return _NEAREST.take(((z < 0.0) * _SIDE + row) * _SIDE + column)


def directions_beside(count: int, slope: float) -> IntArray:
    """Return `count` fixed directions around each one, about at that slope to it, and itself (count + 1, 2 AXES)."""
    around = directions_around(_BOTH_WAYS.T, count, slope)
    nearest = np.einsum("nc,ckm->kmn", _BOTH_WAYS, around).argmax(axis=2)
    return read_only(np.concatenate([nearest, np.arange(2 * AXES)[None]]))


def opposite(directions: IntArray) -> IntArray:
    """Return the opposite fixed directions."""
    return directions ^ AXES
