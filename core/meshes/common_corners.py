# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles of one mesh that name common corners: neighbours always meet there, and some of them elsewhere, too.

Two triangles with one common corner meet in nothing else where a plane through the corner has one of them on one side,
and the other two corners of the other strictly on the other side. Floats find such a plane for most: that of a triangle
itself, or one across it through a side.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..runs import chunks
from ..tolerance import EPS, ORIENTATION_LEAST
from ..types import FloatArray, IntArray
from ..vectors import cross, dot
from .coordinates import scale_exponent, scale_points
from .crossings import Crossings
from .mesh import Mesh

_ROUNDING = 16.0
"""Times EPS and the sum of the sizes of its products: a product of up to four differences of points is right to this.
It is rounded nine times by half of EPS at most; the rest is room for the rounding of the bound itself."""
_CHUNK = 1 << 14
"""Pairs in one go."""
_NEXT = np.array([1, 2, 0])


def without_neighbours(mesh: Mesh, pairs: IntArray) -> IntArray:
    """Return the numbers, ascending, of the pairs (2, p) of triangles of a mesh that name no common corner, or one and
    may have more than it in common."""
    corners = np.ascontiguousarray(mesh.triangles.T.astype(np.int32 if len(mesh.points) < 1 << 31 else np.intp))
    points = scale_points(mesh.points, scale_exponent(mesh.magnitude))
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
        at = np.divmod(code.take(indices).astype(np.intp), 3)
        apart = common == 0
        apart[indices[_may_meet_beyond(points, mesh.triangles, pairs[:, part].take(indices, axis=1), *at)]] = True
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
    sides = [_sides(points, triangles.take(row, axis=0), at) for row, at in zip(pairs, (i, j), strict=True)]
    left = np.arange(pairs.shape[1])
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
    return left


def _sides(points: FloatArray, triangles: IntArray, at: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the sides (3, k) from one corner of each triangle to the next and to the one before."""
    rows = np.arange(len(triangles))
    corner, after, before = (triangles[rows, k] for k in (at, _NEXT.take(at), _NEXT.take(_NEXT.take(at))))
    start = points.take(corner, axis=0).T
    return points.take(after, axis=0).T - start, points.take(before, axis=0).T - start


def _cross_sizes(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the sums of the sizes of the products that `cross` subtracts, of the sizes of vectors (3, k)."""
    result: FloatArray = u[_NEXT] * v[[2, 0, 1]] + u[[2, 0, 1]] * v[_NEXT]
    return result


def _signs(normal: FloatArray, size: FloatArray, side: FloatArray) -> FloatArray:
    """Return (k,) on which side of planes through the origin points (3, k) are for sure: -1.0, 1.0, else 0.0."""
    height, error = dot(normal, side), dot(size, np.abs(side))
    error *= _ROUNDING * EPS
    error += ORIENTATION_LEAST
    return np.where(np.abs(height) > error, np.sign(height), 0.0)
