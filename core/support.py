# SPDX-License-Identifier: GPL-3.0-or-later
"""Support mapping: the farthest point of a shape, and of the Minkowski difference of two shapes, in a direction.

Source: S4.1, S4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .feature import Feature, FeatureKind
from .polytope import FloatArray, IntArray, Polytope

# Looking up a member of an enumeration costs more than the arithmetic around it.
_VERTEX, _EDGE, _FACE = FeatureKind


@dataclass(frozen=True, eq=False)
class MinkowskiPoints:
    """Points of the Minkowski difference A - B with the pairs of vertices that made them."""

    points: FloatArray
    """(k, dim) `a.vertices[index_a] - b.vertices[index_b]`, world axes."""
    index_a: IntArray
    """(k,) indices into `a.vertices`."""
    index_b: IntArray
    """(k,) indices into `b.vertices`."""


def support_index(shape: Polytope, direction: FloatArray) -> int:
    """Return the index of the vertex of `shape` farthest along `direction` (dim,), any length; first one of equals."""
    return int(shape.centred.dot(direction).argmax())


def support(shape: Polytope, direction: FloatArray) -> FloatArray:
    """Return the support point (dim,) of `shape` in `direction` (dim,), world frame. Source: S4.2."""
    point: FloatArray = shape.vertices[support_index(shape, direction)]
    return point


def support_indices(shape: Polytope, directions: FloatArray) -> IntArray:
    """Return the indices (k,) of the support vertices of `shape` for many `directions` (k, dim) at once."""
    indices: IntArray = np.argmax(directions @ shape.centred.T, axis=1)
    return indices


def supports(shape: Polytope, directions: FloatArray) -> FloatArray:
    """Return the support points (k, dim) of `shape` for many `directions` (k, dim) at once. Source: S4.2."""
    return shape.vertices[support_indices(shape, directions)]


def support_feature(shape: Polytope, direction: FloatArray, width: float) -> Feature:
    """Return the vertex, edge or face of `shape` that is extreme along the unit `direction` (dim,). Source: S2.3.

    It is made of all vertices within `width` (world units) of the support plane. Vertices no farther apart than that
    are one, and a face no wider than that is an edge.
    """
    heights = shape.centred.dot(direction)
    indices = (heights >= heights[heights.argmax()] - width).nonzero()[0].tolist()
    if len(indices) == 1:
        return Feature(_VERTEX, (indices[0],))
    rows = shape.rows
    ax, ay, az = rows[indices[0]]
    apart = [(x - ax, y - ay, z - az) for x, y, z in (rows[i] for i in indices)]
    squares = [x * x + y * y + z * z for x, y, z in apart]
    length2 = max(squares)
    if length2 <= width * width:
        return Feature(_VERTEX, (indices[0],))
    ux, uy, uz = apart[squares.index(length2)]
    for x, y, z in apart:
        x, y, z = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
        if x * x + y * y + z * z > width * width * length2:
            return Feature(_FACE, tuple(indices))
    return Feature(_EDGE, (indices[0], indices[squares.index(length2)]))


def minkowski_supports(a: Polytope, b: Polytope, directions: FloatArray) -> MinkowskiPoints:
    """Return the support points of the Minkowski difference A - B for `directions` (k, dim). Source: S4.2.

    The support point of A - B in a direction is that of A in the direction minus that of B in the opposite one.
    """
    index_a = support_indices(a, directions)
    index_b = support_indices(b, -directions)
    return MinkowskiPoints(a.vertices[index_a] - b.vertices[index_b], index_a, index_b)


def minkowski_difference(a: Polytope, b: Polytope) -> MinkowskiPoints:
    """Return all differences of a vertex of A and one of B: their hull is the Minkowski difference. Source: S4.1."""
    count_a, count_b = len(a.vertices), len(b.vertices)
    index_a = np.repeat(np.arange(count_a), count_b)
    index_b = np.tile(np.arange(count_b), count_a)
    return MinkowskiPoints(a.vertices[index_a] - b.vertices[index_b], index_a, index_b)


def minkowski_sum(a: Polytope, b: Polytope) -> FloatArray:
    """Return all sums (n, dim) of a vertex of A and one of B: their hull is the Minkowski sum. Source: S4.1."""
    return (a.vertices[:, None, :] + b.vertices[None, :, :]).reshape(-1, a.dim)
