# SPDX-License-Identifier: GPL-3.0-or-later
"""A translation near one after which a few triangles still cross: moved across the planes of these, until none does."""

from __future__ import annotations

from math import inf

import numpy as np

from ..types import FloatArray
from .body import Body, are_nested, length_of
from .crossings import Crossings
from .half_spaces import shortest_within
from .triangle_pairs import crossing_triangles

_TIMES = 4
"""Times that triangles which cross are looked for."""
_FARTHER = 1e-6
"""Relative: how much farther the triangles are moved."""


def resolve_crossings(
    a: Body, b: Body, translation: FloatArray, most: float, longest: float = inf
) -> FloatArray | None:
    """Return a translation of B near one that separates; None where none is found that differs from it by no more than
    `most`. One longer than `longest` may not separate: it is not tried.

    Of each two triangles that cross, one is moved to the outer side of the other's plane, whichever is nearer to it.
    """
    found = translation
    normals, offsets = np.empty((0, 3)), np.empty(0)
    for _ in range(_TIMES):
        if length_of(found) > longest:
            return found
        moved = b.translated(found)
        crossings = crossing_triangles(a.mesh, moved.mesh)
        if not len(crossings):
            return None if are_nested(a, moved) else found
        across, depths = _planes(a, moved, crossings)
        normals = np.concatenate([normals, across])
        offsets = np.concatenate([offsets, depths * (1.0 + _FARTHER) + across @ (found - translation)])
        shift = shortest_within(normals, offsets, most)
        if shift is None:
            return None
        found = translation + shift
    return None


def _planes(a: Body, b: Body, crossings: Crossings) -> tuple[FloatArray, FloatArray]:
    """Return the unit vectors (k, 3) from A to B across a plane of each two triangles that cross, and how far (k,) B
    has to be moved along it."""
    i, j = crossings.pairs.T
    of_a, of_b = a.normals(i), b.normals(j)
    p, q = (body.mesh.points[body.mesh.triangles[of]] for body, of in ((a, i), (b, j)))
    depth_a = -np.einsum("kc,kvc->kv", of_a, q - p[:, :1]).min(axis=1)
    depth_b = -np.einsum("kc,kvc->kv", of_b, p - q[:, :1]).min(axis=1)
    # A bare surface has no outer side, a triangle without area no plane.
    depth_a[~of_a.any(axis=1)] = np.inf
    depth_b[~of_b.any(axis=1)] = np.inf
    first = depth_a <= depth_b if a.solid and b.solid else np.full(len(i), a.solid)
    depths = np.maximum(np.where(first, depth_a, depth_b), 0.0)
    known = np.isfinite(depths)
    return np.where(first[:, None], of_a, -of_b)[known], depths[known]
