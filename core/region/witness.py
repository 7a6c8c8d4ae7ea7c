# SPDX-License-Identifier: GPL-3.0-or-later
"""Witness points in the middle of the contact.

GJK and EPA stop at a pair of points that realises the signed distance. Where two faces, or an edge and a face, meet,
many pairs do, and the one found is arbitrary. The one at the centroid of the contact region is the one a user expects,
and does not depend on order or frame. Source: S2.3.
"""

from __future__ import annotations

from ..shapes.feature import Feature
from ..shapes.polytope import Polytope
from ..shapes.simplex import Vector, Vertex, barycentric, weighted_mean
from ..tolerance import PARALLEL_EDGES
from ..types import FloatArray

_MOST_PAIRS = 2_000
"""Of corners of two separated faces, up to which the middle of their common part is computed: half a millisecond."""

Common = tuple[tuple[Vertex, ...], tuple[float, ...]]
"""Points of A - B and their weights: the witness points are the weighted means of the vertices they come from."""


def can_slide(a: Polytope, b: Polytope, feature_a: Feature, feature_b: Feature) -> bool:
    """Return whether many pairs of points of two support features may be equally near: one is a face, or both are
    (nearly) parallel edges. False for faces with very many corners: the middle of their common part would cost more
    than the distance."""
    first, second = feature_a.vertices, feature_b.vertices
    if len(first) == 1 or len(second) == 1:
        return False
    if len(first) > 2 or len(second) > 2:
        return len(first) * len(second) <= _MOST_PAIRS
    ux, uy, uz = _minus(a._rows[first[0]], a._rows[first[1]])
    vx, vy, vz = _minus(b._rows[second[0]], b._rows[second[1]])
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    u2, v2 = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
    return x * x + y * y + z * z <= PARALLEL_EDGES * PARALLEL_EDGES * u2 * v2


def _minus(p: Vector, q: Vector) -> Vector:
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def central_witness(
    a: Polytope, b: Polytope, feature_a: Feature, feature_b: Feature, normal: Vector, gap: float, centre: FloatArray
) -> Common:
    """Return the points of A - B whose weights put the witness points on the two features where `centre` (dim,) is.

    Faces must be ordered as by `support_feature`. `normal` is the unit contact normal, `gap` the signed
    distance: the point on B is searched at that distance from the one on A. The features need not be flat; the caller
    must check that the points realise the distance.
    """
    x, y, z = (*centre.tolist(), 0.0)[:3]
    nx, ny, nz = normal
    corners_a, weights_a = _feature_weights(a, feature_a, (x, y, z), normal)
    x, y, z = weighted_mean(corners_a, weights_a)
    across = (x + gap * nx, y + gap * ny, z + gap * nz)
    corners_b, weights_b = _feature_weights(b, feature_b, across, (-nx, -ny, -nz))
    vertices, weights = [], []
    for (px, py, pz, i, _), weight_a in zip(corners_a, weights_a, strict=True):
        for (qx, qy, qz, j, _), weight_b in zip(corners_b, weights_b, strict=True):
            if weight_a * weight_b > 0.0:
                vertices.append((px - qx, py - qy, pz - qz, i, j))
                weights.append(weight_a * weight_b)
    return tuple(vertices), tuple(weights)


def _feature_weights(
    shape: Polytope, feature: Feature, point: Vector, outward: Vector
) -> tuple[tuple[Vertex, ...], tuple[float, ...]]:
    """Return the corners of a feature (1 to 3) around a point, and its barycentric weights."""
    rows = shape._rows
    indices = feature.vertices
    if len(indices) > 3:
        indices = _triangle(rows, indices, point, outward)
    corners = tuple((*rows[i], i, i) for i in indices)
    return corners, barycentric(point, corners)


def _triangle(rows: list[Vector], loop: tuple[int, ...], point: Vector, outward: Vector) -> tuple[int, ...]:
    """Return the triangle that contains a point, of a fan over a convex loop that is counter-clockwise about
    `outward`."""
    ax, ay, az = rows[loop[0]]
    px, py, pz = point[0] - ax, point[1] - ay, point[2] - az
    nx, ny, nz = outward
    # The normal times the vector to the point: positive on corners to its right.
    tx, ty, tz = py * nz - pz * ny, pz * nx - px * nz, px * ny - py * nx
    low, high = 1, len(loop) - 1
    while high - low > 1:
        middle = (low + high) // 2
        x, y, z = rows[loop[middle]]
        if (x - ax) * tx + (y - ay) * ty + (z - az) * tz >= 0.0:  # mutant: witness-wrong-triangle
            low = middle
        else:
            high = middle
    return loop[0], loop[low], loop[high]
