# SPDX-License-Identifier: GPL-3.0-or-later
"""Support mapping of a shape; Minkowski sum and difference of two shapes.

World frame throughout: directions and points have the axes and the unit of the shapes' coordinates. Every function
raises ValueError, naming the argument, when a shape is of another kind, when two shapes differ in dimension, or when a
direction has another length than the shape's points, is zero or not finite. Source: S4.1, S4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_directions, as_unit
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from .polytope import Polytope, validate_polytopes
from .shape import Shape, as_shape


@dataclass(frozen=True, eq=False)
class MinkowskiPoints(ReadOnlyArrays):
    """Points of the Minkowski difference A - B with the pairs of vertices they come from. The arrays are read-only."""

    points: FloatArray
    """(k, dim) `a.vertices[index_a] - b.vertices[index_b]`, world axes."""
    index_a: IntArray
    """(k,) indices into `a.vertices`."""
    index_b: IntArray
    """(k,) indices into `b.vertices`."""


def support(shape: Shape, direction: ArrayLike) -> FloatArray:
    """Return the support point (dim,) of any shape in `direction` (dim,), of any length but zero.

    Of a compound or a mesh it is the support point of the convex hull.

    >>> print(support(Sphere((0, 0, 5), 2), (0, 0, 1)))
    [0. 0. 7.]

    Raises ValueError, naming the argument. Source: S4.2.
    """
    return as_shape("shape", shape).support(direction)


def project(shape: Shape, axis: ArrayLike) -> tuple[float, float]:
    """Return the interval (low, high) of an axis that any shape covers: the least and the greatest `n @ x` of its
    points x, with n the unit vector along `axis` (dim,).

    World frame and units. Two convex shapes whose intervals do not overlap are apart, and `axis` is a separating axis.

    >>> print(project(Sphere((0, 0, 5), 2), (0, 0, 1)), project(Box((0, 0, 0), (2, 2, 2)), (0, 0, 3)))
    (3.0, 7.0) (-1.0, 1.0)

    Raises ValueError, naming the argument. Source: S0.4, S1.4.
    """
    n = as_unit("axis", axis, as_shape("shape", shape).dim)
    high, low = (shape.supports(np.stack([n, -n])) @ n).tolist()
    return low, high


def minkowski_supports(a: Polytope, b: Polytope, directions: ArrayLike) -> MinkowskiPoints:
    """Return the support points of the Minkowski difference A - B for `directions` (k, dim).

    The support point of A - B in a direction is that of A in the direction minus that of B in the opposite one.

    >>> a, b = Box((0, 0, 0), (2, 2, 2)), Box((3, 0, 0), (2, 2, 2))
    >>> print(minkowski_supports(a, b, [(1, 1, 1)]).points)
    [[-1.  2.  2.]]

    Raises ValueError, naming the argument, for a shape without vertices too: see the module. Source: S4.2.
    """
    validate_polytopes(a, b)
    array = as_directions("directions", directions, a.dim)
    return _differences(a, b, a.support_indices(array), b.support_indices(-array))


def minkowski_difference(a: Polytope, b: Polytope) -> MinkowskiPoints:
    """Return all differences of a vertex of A and one of B: their convex hull is the Minkowski difference A - B.

    >>> a, b = Box((0, 0, 0), (2, 2, 2)), Box((3, 0, 0), (2, 2, 2))
    >>> hull = ConvexHull(minkowski_difference(a, b).points)
    >>> print(len(hull.vertices), hull.center + 0.0)
    8 [-3.  0.  0.]

    Raises ValueError, naming the argument, for a shape without vertices too: see the module. Source: S4.1.
    """
    validate_polytopes(a, b)
    count_a, count_b = len(a.vertices), len(b.vertices)
    return _differences(a, b, np.repeat(np.arange(count_a), count_b), np.tile(np.arange(count_b), count_a))


def minkowski_sum(a: Polytope, b: Polytope) -> FloatArray:
    """Return all sums (n, dim) of a vertex of A and one of B: their convex hull is the Minkowski sum.

    >>> a, b = Polygon([(0, 0), (2, 0), (0, 2)]), Polygon([(0, 0), (1, 0), (1, 1)])
    >>> print(len(ConvexHull(minkowski_sum(a, b)).vertices))
    5

    Raises ValueError, naming the argument, for a shape without vertices too: see the module. Source: S4.1.
    """
    validate_polytopes(a, b)
    return (a.vertices[:, None, :] + b.vertices[None, :, :]).reshape(-1, a.dim)


def _differences(a: Polytope, b: Polytope, index_a: IntArray, index_b: IntArray) -> MinkowskiPoints:
    points: FloatArray = a.vertices[index_a] - b.vertices[index_b]
    return MinkowskiPoints(read_only(points), read_only(index_a), read_only(index_b))
