# SPDX-License-Identifier: GPL-3.0-or-later
"""The proof of a depth: a closed polytope around the origin, whose corners are differences of vertices."""

from __future__ import annotations

from math import pi

import numpy as np

from ..result import Certificate
from ..shapes.orientation import signs_of_volumes
from ..shapes.polytope import Polytope
from ..tolerance import EPS, VERIFY_UNIT
from ..types import FloatArray, IntArray
from ..vectors import cross, cross_last

_RAY = np.array([[0.5702], [0.3931], [0.7213]])
"""A direction that edges and corners of polytopes do not meet."""
_VERIFY_FACING = 256.0
"""Times EPS and the farthest corner, cubed, in the plane squared: what rounding may make of the distance of a plane
from the origin times twice the area of a facet in it."""
_FOLLOWING = {2: [1, 0], 3: [1, 2, 0]}
"""The corner after each of a side or a triangle."""
_TINY = float(np.finfo(np.float64).tiny)
NO_PROOF = "the polytope is torn or inside out, or the weights make no points of the shapes"


def inscribed_radius(proof: Certificate, a: Polytope, b: Polytope, wanted: float = np.inf) -> float | None:
    """Return the radius of a ball around the origin inside the polytope, None when it is not a closed outward surface;
    of at least `wanted` where that is proved at once, else as large as can be proved.

    A closed surface that winds once around the origin and comes nowhere nearer than r encloses the ball of radius r;
    its corners are points of the convex A - B, so the ball is in A - B.
    """
    chosen = np.array(proof.pairs, dtype=np.intp)
    points = a.vertices.take(chosen[:, 0], axis=0) - b.vertices.take(chosen[:, 1], axis=0)
    loops: IntArray = np.array(proof.facets, dtype=np.intp)
    if loops.size == 0 or not _closed(loops, len(points)):
        return None
    corners = points.take(loops, axis=0)
    sides = corners.take(_FOLLOWING[a.dim], axis=1) - corners
    normals = (
        np.stack((sides[:, 0, 1], -sides[:, 0, 0]), axis=1) if a.dim == 2 else cross_last(sides[:, 0], sides[:, 1])
    )
    radius = float(np.minimum.reduce(_least_along(corners, normals)))
    # When every facet faces away from the origin, all its signed angles are positive and their sum is a full turn or
    # more. Otherwise (a sliver whose normal is rounding, or a tear) the winding number must show it.
    thinnest = float(np.sqrt(np.minimum.reduce((normals * normals).sum(axis=1))))
    face_away = radius * thinnest > _VERIFY_FACING * EPS * float(np.abs(points).max()) ** a.dim
    if face_away and radius >= wanted:
        return radius
    by_plane = _least_along(corners, normals if a.dim == 2 else _careful_normals(corners, sides))
    by_side = _least_along(corners, _nearest_of_sides(corners, sides))
    if not face_away and _winding(corners) < 1:
        return None
    return float(np.maximum(by_plane, by_side).min())


def _closed(loops: IntArray, count: int) -> bool:
    """Return whether each edge is there as often in one direction as in the other (in the plane: each corner)."""
    if loops.shape[1] == 2:
        return bool(np.array_equal(np.sort(loops[:, 0]), np.sort(loops[:, 1])))
    start, end = loops.reshape(-1), loops.take(_FOLLOWING[3], axis=1).reshape(-1)
    return bool((np.sort(start * count + end) == np.sort(end * count + start)).all())


def _winding(corners: FloatArray) -> int:
    """Return how often the surface (f, dim, dim) winds around the origin: in the plane the sum of angles, in space how
    often a ray leaves it less how often it enters, by exact signs, as solid angles of slivers are what rounding makes
    them."""
    if corners.shape[2] == 2:
        p, q = corners[:, 0], corners[:, 1]
        doubled = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
        return round(float(np.arctan2(doubled, (p * q).sum(axis=1)).sum() / (2.0 * pi)))
    starts, ends = corners.reshape(-1, 3).T, corners.take(_FOLLOWING[3], axis=1).reshape(-1, 3).T
    origin = np.zeros_like(starts)
    passes = signs_of_volumes(origin, np.broadcast_to(_RAY, starts.shape), starts, ends).signs.reshape(-1, 3)
    crossed = np.flatnonzero(np.abs(passes.sum(axis=1)) == 3)
    facing = signs_of_volumes(origin[:, : len(crossed)], *corners[crossed].transpose(1, 2, 0)).signs
    return int(facing[facing == passes[crossed, 0]].sum())


def _least_along(corners: FloatArray, directions: FloatArray) -> FloatArray:
    """Return a lower bound (f,) of the distance of each facet (f, k, dim) from the origin, however badly its direction
    (f, dim) is rounded: how far its nearest corner is along that. Below 0 along the normal of one facing the origin."""
    lengths = np.sqrt((directions * directions).sum(axis=1))
    return np.minimum.reduce((corners @ directions[:, :, None])[:, :, 0], axis=1) / np.maximum(lengths, _TINY)


def _nearest_of_sides(corners: FloatArray, sides: FloatArray) -> FloatArray:
    """Return the point (f, dim) of the sides of each facet that is nearest to the origin."""
    length2 = np.maximum((sides * sides).sum(axis=2), _TINY)
    t = np.minimum(np.maximum(-(corners * sides).sum(axis=2) / length2, 0.0), 1.0)
    feet = corners + t[:, :, None] * sides
    return feet[np.arange(len(feet)), (feet * feet).sum(axis=2).argmin(axis=1)]


def _careful_normals(corners: FloatArray, sides: FloatArray) -> FloatArray:
    """Return a normal (f, 3) of each triangle that all its corners agree on to rounding, however thin it is."""
    row = np.arange(len(corners))
    longest = (sides * sides).sum(axis=2).argmax(axis=1)
    base = sides[row, longest]
    start, end, apex = corners[row, longest], corners[row, longest - 2], corners[row, longest - 1]
    to_start, to_end = apex - start, apex - end
    nearer = (to_start * to_start).sum(axis=1) < (to_end * to_end).sum(axis=1)
    height = np.where(nearer[:, None], to_start, to_end)
    base2 = np.maximum((base * base).sum(axis=1, keepdims=True), _TINY)
    for _ in range(2):  # twice is enough for perpendicular to rounding
        height = height - (height * base).sum(axis=1, keepdims=True) / base2 * base
    return cross(base.T, height.T).T


def are_weights(weights: tuple[float, ...]) -> bool:
    """Return whether numbers are not below 0 and 1 in sum: then they make a point of a shape of any of its points."""
    return min(weights) >= 0.0 and abs(sum(weights) - 1.0) <= VERIFY_UNIT * EPS


def weighted_mean(points: FloatArray, weights: tuple[float, ...]) -> FloatArray:
    """Return the mean (dim,) of points (n, dim) by weights that are 1 in sum."""
    return points[0] + np.array(weights).dot(points - points[0])


def proven_upper(proof: Certificate, a: Polytope, b: Polytope, wanted: float = np.inf) -> tuple[float, str] | None:
    """Return what two points or a polytope prove that the signed distance is not above, and which of them it was.

    None when there is a polytope that is torn or inside out, or the points are not of the shapes. wanted: the depth
    from which on a polytope need not prove more.
    """
    if not are_weights(proof.weights):
        return None
    # Differences of vertices first: far from the origin the points themselves have lost the digits that matter.
    differences = b.vertices.take(proof.index_b, axis=0) - a.vertices.take(proof.index_a, axis=0)
    proven = float(np.linalg.norm(weighted_mean(differences, proof.weights)))
    if not proof.pairs:
        return proven, "two points"
    radius = inscribed_radius(proof, a, b, wanted)
    if radius is None:
        return None
    return (-radius, "polytope") if -radius < proven else (proven, "two points")
