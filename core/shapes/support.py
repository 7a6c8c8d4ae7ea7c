# SPDX-License-Identifier: GPL-3.0-or-later
"""Support mapping: the farthest point of a shape, and of the Minkowski difference of two shapes, in a direction.

World frame throughout: directions and points have the axes and the unit of the shapes' coordinates. Every function
raises a ValueError that names the argument when a shape is none, when two shapes differ in dimension, or when a
direction has another length than the shape's points, is zero or not finite. Source: S4.1, S4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_direction, as_directions
from ..shapes.polytope import as_polytope, validate_polytopes
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from .feature import Feature, FeatureKind
from .polytope import Polytope

# Looking up a member of an enumeration costs more than the arithmetic around it.
_VERTEX, _EDGE, _FACE = FeatureKind


@dataclass(frozen=True, eq=False)
class MinkowskiPoints(ReadOnlyArrays):
    """Points of the Minkowski difference A - B with the pairs of vertices that made them. The arrays are read-only."""

    points: FloatArray
    """(k, dim) `a.vertices[index_a] - b.vertices[index_b]`, world axes."""
    index_a: IntArray
    """(k,) indices into `a.vertices`."""
    index_b: IntArray
    """(k,) indices into `b.vertices`."""


def support_index(shape: Polytope, direction: ArrayLike) -> int:
    """Return the index of the vertex of `shape` farthest along `direction` (dim,), any length but zero.

    Of several equally far vertices it is the first. Raises ValueError, naming the argument: see the module.
    """
    as_polytope("shape", shape)
    return int(shape.centred.dot(as_direction("direction", direction, shape.dim)).argmax())


def support(shape: Polytope, direction: ArrayLike) -> FloatArray:
    """Return the support point (dim,) of `shape` in `direction` (dim,), any length but zero, world frame.

    Raises ValueError, naming the argument: see the module. Source: S4.2.
    """
    index = support_index(shape, direction)
    return shape.vertices[index]


def support_indices(shape: Polytope, directions: ArrayLike) -> IntArray:
    """Return the indices (k,) of the support vertices of `shape` for many `directions` (k, dim) at once.

    Raises ValueError, naming the argument: see the module.
    """
    as_polytope("shape", shape)
    return _farthest(shape, as_directions("directions", directions, shape.dim))


def supports(shape: Polytope, directions: ArrayLike) -> FloatArray:
    """Return the support points (k, dim) of `shape` for many `directions` (k, dim) at once, world frame.

    Raises ValueError, naming the argument: see the module. Source: S4.2.
    """
    indices = support_indices(shape, directions)
    return shape.vertices[indices]


def _farthest(shape: Polytope, directions: FloatArray) -> IntArray:
    return np.argmax(directions @ shape.centred.T, axis=1)  # mutant: support-nearest-vertices


def support_feature(shape: Polytope, direction: FloatArray, width: float) -> Feature:
    """Return the vertex, edge or face of `shape` that is extreme along the unit `direction` (dim,). Source: S2.3.

    It is made of all vertices within `width` (world units) of the support plane. Vertices no farther apart than that
    are one, and a face no wider than that is an edge. A face is wound counter-clockwise seen from the tip of the
    direction, beginning at its lowest index; in the plane it is a low corner with its neighbours. This is a step of
    `contact`, which has checked its arguments.
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
        if x * x + y * y + z * z > width * width * length2:  # mutant: support-no-faces
            return Feature(_FACE, _wound(indices, apart, direction))
    return Feature(_EDGE, (indices[0], indices[squares.index(length2)]))


def _wound(indices: list[int], places: list[tuple[float, float, float]], direction: FloatArray) -> tuple[int, ...]:
    """Return the vertices of a face, given with their places from the first of them, counter-clockwise."""
    nx, ny, nz = direction.tolist() if len(direction) == 3 else (0.0, 0.0, 1.0)
    count = len(indices)
    if count > 4:
        return _wound_by_angle(indices, places, (nx, ny, nz))
    # Turns from one vertex to the next, seen from the first: twice the areas of triangles, on triangles and
    # quadrangles several times as fast as angles.
    _, (ax, ay, az), (bx, by, bz), *rest = places
    turn_ab = nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx)
    if count == 3:
        i, j, k = indices
        return (i, j, k) if turn_ab > 0.0 else (i, k, j)  # mutant: support-triangle-wound-backwards
    cx, cy, cz = rest[0]
    turn_bc = nx * (by * cz - bz * cy) + ny * (bz * cx - bx * cz) + nz * (bx * cy - by * cx)
    turn_ac = nx * (ay * cz - az * cy) + ny * (az * cx - ax * cz) + nz * (ax * cy - ay * cx)
    i, j, k, m = indices
    # The corners of a convex quadrangle are all on one side of its sides: the middle one of j, k, m is opposite i.
    if turn_ab * turn_bc > 0.0:
        return (i, j, k, m) if turn_ab > 0.0 else (i, m, k, j)
    if turn_ab * turn_ac < 0.0:
        return (i, k, j, m) if turn_ab < 0.0 else (i, m, j, k)
    if turn_ac * turn_bc < 0.0:
        return (i, j, m, k) if turn_ac > 0.0 else (i, k, m, j)
    return _wound_by_angle(indices, places, (nx, ny, nz))


def _wound_by_angle(
    indices: list[int], places: list[tuple[float, float, float]], direction: tuple[float, float, float]
) -> tuple[int, ...]:
    """The same for any number of vertices, by their angle about an inner point."""
    nx, ny, nz = direction
    sx, sy, sz = abs(nx), abs(ny), abs(nz)
    # Without the coordinate along which the face is seen most nearly from the front.
    if sz >= sx and sz >= sy:
        front, flat = nz, [(x, y) for x, y, _ in places]
    elif sx >= sy:
        front, flat = nx, [(y, z) for _, y, z in places]
    else:
        front, flat = ny, [(z, x) for x, _, z in places]
    mean_u, mean_v = sum([u for u, _ in flat]) / len(flat), sum([v for _, v in flat]) / len(flat)
    turns = [(atan2(v - mean_v, u - mean_u), i) for (u, v), i in zip(flat, indices, strict=True)]
    order = [i for _, i in sorted(turns)]
    if front < 0.0:
        order.reverse()
    start = order.index(indices[0])
    return tuple(order[start:] + order[:start])


def minkowski_supports(a: Polytope, b: Polytope, directions: ArrayLike) -> MinkowskiPoints:
    """Return the support points of the Minkowski difference A - B for `directions` (k, dim). Source: S4.2.

    The support point of A - B in a direction is that of A in the direction minus that of B in the opposite one.
    Raises ValueError, naming the argument: see the module.
    """
    validate_polytopes(a, b)
    ways = as_directions("directions", directions, a.dim)
    return _differences(a, b, _farthest(a, ways), _farthest(b, -ways))


def minkowski_difference(a: Polytope, b: Polytope) -> MinkowskiPoints:
    """Return all differences of a vertex of A and one of B: their hull is the Minkowski difference. Source: S4.1.

    Raises ValueError, naming the argument, when a shape is none or the dimensions differ.
    """
    validate_polytopes(a, b)
    count_a, count_b = len(a.vertices), len(b.vertices)
    index_a = np.repeat(np.arange(count_a), count_b)
    index_b = np.tile(np.arange(count_b), count_a)
    return _differences(a, b, index_a, index_b)


def _differences(a: Polytope, b: Polytope, index_a: IntArray, index_b: IntArray) -> MinkowskiPoints:
    points: FloatArray = a.vertices[index_a] - b.vertices[index_b]
    return MinkowskiPoints(read_only(points), read_only(index_a), read_only(index_b))


def minkowski_sum(a: Polytope, b: Polytope) -> FloatArray:
    """Return all sums (n, dim) of a vertex of A and one of B: their hull is the Minkowski sum. Source: S4.1.

    Raises ValueError, naming the argument, when a shape is none or the dimensions differ.
    """
    validate_polytopes(a, b)
    return (a.vertices[:, None, :] + b.vertices[None, :, :]).reshape(-1, a.dim)
