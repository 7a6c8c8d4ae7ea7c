# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles of one mesh that name common corners: neighbours always meet there, and some of them elsewhere, too.

Two triangles with one common corner meet in nothing else where a plane through the corner has one of them on one side,
and the other two corners of the other strictly on the other side; or where it goes through a side of each, and the
third corners are strictly on different sides. Floats find such a plane for most, the quickest first: one across the
line between their middles, that of a triangle itself, one across it through a side, or one through a side of each.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..runs import chunks
from ..tolerance import EPS, ORIENTATION_LEAST
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross, dot
from .coordinates import scale_exponent, scale_points
from .crossings import Crossings
from .mesh import Mesh

_ROUNDING = 16.0
"""Times EPS and the sum of the sizes of its products: a product of up to four differences of points is right to this.
It is rounded nine times by half of EPS at most; the rest is room for the rounding of the bound itself."""
_CHUNK = 1 << 15
"""Pairs in one go."""
_NEXT, _BEFORE = np.array([1, 2, 0]), np.array([2, 0, 1])


def without_neighbours(mesh: Mesh, pairs: IntArray) -> IntArray:
    """Return the numbers, ascending, of the pairs (2, p) of triangles of a mesh that name no common corner, or one and
    may have more than it in common."""
    corners = np.ascontiguousarray(mesh.triangles.T.astype(np.int32 if len(mesh.points) < 1 << 31 else np.intp))
    points = np.ascontiguousarray(scale_points(mesh.points, scale_exponent(mesh.magnitude)).T)
    triangles = mesh.triangles.ravel()
    kept = [np.zeros(0, dtype=np.intp)]
    for part in chunks(pairs.shape[1], _CHUNK):
        own, others = ([row.take(side) for row in corners] for side in pairs[:, part])
        common = np.zeros(len(own[0]), dtype=np.uint8)
        code = np.zeros(len(own[0]), dtype=np.uint8)
        for i, row in enumerate(own):
            for j, other in enumerate(others):
                same = row == other
                common += same
                code += same * np.uint8(3 * i + j)
        indices = np.flatnonzero(common == 1)
        numbers = np.divmod(code.take(indices).astype(np.intp), 3)
        apart = common == 0
        apart[indices[_may_meet_beyond(points, triangles, pairs[:, part].take(indices, axis=1), *numbers)]] = True
        kept.append(np.flatnonzero(apart) + part.start)
    return np.concatenate(kept)


def beyond_corners(mesh: Mesh, crossings: Crossings) -> Crossings:
    """Return the crossings of a mesh with itself but those of pairs that have only a common corner in common."""
    features = crossings.features
    named = np.take_along_axis(
        mesh.triangles.take(crossings.pairs, axis=0),  # pair, mesh, corner
        np.minimum(features, 2).transpose(0, 2, 1).astype(np.intp),  # pair, mesh, end
        axis=2,
    )
    corners = (features < 3).all(axis=(1, 2)) & (named == named[:, :1, :1]).all(axis=(1, 2))
    if not corners.any():
        return crossings
    pairs, kinds, segments, features = (
        rows[~corners] for rows in (crossings.pairs, crossings.kinds, crossings.segments, features)
    )
    return replace(crossings, pairs=pairs, kinds=kinds, segments=segments, features=features)


def _may_meet_beyond(points: FloatArray, triangles: IntArray, pairs: IntArray, i: IntArray, j: IntArray) -> IntArray:
    """Return which pairs (2, p), of which corner i of the first is corner j of the second, may have more in common."""
    sides = [_sides(points, triangles, which, numbers) for which, numbers in zip(pairs, (i, j), strict=True)]
    left = np.flatnonzero(~_are_beside(*sides))
    for own, other in (sides, sides[::-1]):
        u, v, p, q = (side.take(left, axis=1) for side in (*own, *other))
        normal, size = cross(u, v), _cross_sizes(np.abs(u), np.abs(v))
        apart = np.zeros(len(left), dtype=np.bool_)
        signs = [_signs(normal, size, side) for side in (p, q)]
        apart |= (signs[0] != 0) & (signs[0] == signs[1])
        for across, sizes in (
            (cross(normal, u), _cross_sizes(size, np.abs(u))),
            (cross(v, normal), _cross_sizes(size, np.abs(v))),
        ):
            apart |= (_signs(across, sizes, p) < 0) & (_signs(across, sizes, q) < 0)
        left = left[~apart]
    u, v, p, q = (side.take(left, axis=1) for own in sides for side in own)
    apart = np.zeros(len(left), dtype=np.bool_)
    for side, third in ((u, v), (v, u)):
        for other_side, other_third in ((p, q), (q, p)):
            normal, size = cross(side, other_side), _cross_sizes(np.abs(side), np.abs(other_side))
            apart |= _signs(normal, size, third) * _signs(normal, size, other_third) < 0
    return left[~apart]


def _are_beside(own: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]) -> BoolArray:
    """Return (k,) whether the plane across the line between the middles of two triangles parts them for sure."""
    (u, v), (p, q) = own, other
    across = u + v
    across -= p
    across -= q
    sizes = np.abs(u)
    for side in (v, p, q):
        sizes += np.abs(side)
    error = dot(sizes, sizes)
    error *= _ROUNDING * EPS
    error += ORIENTATION_LEAST
    result: BoolArray = np.minimum(dot(across, u), dot(across, v)) > error
    result &= np.maximum(dot(across, p), dot(across, q)) < -error
    return result


def _sides(
    points: FloatArray, triangles: IntArray, which: IntArray, numbers: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the sides (3, k) from corner `numbers` of some triangles to the next and to the one before."""
    first = 3 * which
    start, after, before = (
        points.take(triangles.take(first + corner), axis=1)
        for corner in (numbers, _NEXT.take(numbers), _BEFORE.take(numbers))
    )
    after -= start
    before -= start
    return after, before


def _cross_sizes(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the sums of the sizes of the products that `cross` subtracts, of the sizes of vectors (3, k)."""
    result: FloatArray = u[_NEXT] * v[_BEFORE] + u[_BEFORE] * v[_NEXT]
    return result


def _signs(normal: FloatArray, size: FloatArray, side: FloatArray) -> FloatArray:
    """Return (k,) on which side of planes through the origin points (3, k) are for sure: -1.0, 1.0, else 0.0."""
    height, error = dot(normal, side), dot(size, np.abs(side))
    error *= _ROUNDING * EPS
    error += ORIENTATION_LEAST
    return np.where(np.abs(height) > error, np.sign(height), 0.0)
