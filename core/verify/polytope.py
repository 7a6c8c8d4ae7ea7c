# SPDX-License-Identifier: GPL-3.0-or-later
"""The proof of a depth: a closed polytope around the origin, whose corners are differences of vertices."""

from __future__ import annotations

from math import pi

import numpy as np

from ..result import Certificate
from ..shapes.polytope import Polytope
from ..tolerance import EPS, VERIFY_UNIT
from ..types import FloatArray, IntArray
from ..vectors import cross

_VERIFY_TURN = 0.25
"""Turns: how far the winding number of a polytope around the origin, a whole number, may be from 1 by rounding."""
_FOLLOWING = {2: [1, 0], 3: [1, 2, 0]}
"""The corner after each of a side or a triangle."""
_TINY = float(np.finfo(np.float64).tiny)
NO_PROOF = "the polytope is torn or inside out, or the weights make no points of the shapes"


def inscribed_radius(
    pairs: tuple[tuple[int, int], ...], facets: tuple[tuple[int, ...], ...], a: Polytope, b: Polytope
) -> float | None:
    """Return the radius of a ball around the origin inside the polytope, None when it is not a closed outward surface.

    A closed surface that winds once around the origin and comes nowhere nearer than r encloses the ball of radius r;
    its corners are points of the convex A - B, so the ball is in A - B.
    """
    chosen = np.array(pairs, dtype=np.intp)
    points = a.vertices[chosen[:, 0]] - b.vertices[chosen[:, 1]]
    loops: IntArray = np.array(facets, dtype=np.intp)
    if loops.size == 0 or not _closed(loops, len(points)):
        return None
    corners = points[loops]
    by_plane, by_side = _distances_from_origin(corners)
    # When every facet faces away from the origin, all its signed angles are positive and their sum is a full turn or
    # more. Otherwise (a sliver whose plane rounding has tilted, or a tear) the sum must show it.
    if not (by_plane > 0.0).all() and abs(_winding(corners) - 1.0) > _VERIFY_TURN:
        return None
    return float(np.maximum(by_plane, by_side).min())


def _closed(loops: IntArray, count: int) -> bool:
    """Return whether each edge is there as often in one direction as in the other (in the plane: each corner)."""
    if loops.shape[1] == 2:
        return bool(np.array_equal(np.sort(loops[:, 0]), np.sort(loops[:, 1])))
    start, end = loops.reshape(-1), loops[:, _FOLLOWING[3]].reshape(-1)
    return bool(np.array_equal(np.sort(start * count + end), np.sort(end * count + start)))


def _winding(corners: FloatArray) -> float:
    """Return how often the surface (f, dim, dim) winds around the origin: the sum of signed angles over a full turn."""
    if corners.shape[2] == 2:
        p, q = corners[:, 0], corners[:, 1]
        doubled = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
        return float(np.arctan2(doubled, (p * q).sum(axis=1)).sum() / (2.0 * pi))
    p, q, r = (corners[:, n] for n in range(3))
    # The triple product p (q x r) cancels for thin triangles; normal times the nearest corner does not.
    nearest = corners[np.arange(len(corners)), (corners * corners).sum(axis=2).argmin(axis=1)]
    volume = (_careful_normals(corners, corners[:, _FOLLOWING[3]] - corners) * nearest).sum(axis=1)
    lp, lq, lr = (np.linalg.norm(side, axis=1) for side in (p, q, r))
    spread = lp * lq * lr + (p * q).sum(axis=1) * lr + (q * r).sum(axis=1) * lp + (r * p).sum(axis=1) * lq
    return float((2.0 * np.arctan2(volume, spread)).sum() / (4.0 * pi))


def _distances_from_origin(corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two lower bounds (f,) of the distance of each facet (f, k, dim) from the origin.

    Along any unit vector the nearest corner is such a bound, however badly the vector is rounded. Two are tried: the
    facet's outward normal (a negative bound says that the facet faces the origin), and the direction of the nearest
    point of its sides.
    """
    sides = corners[:, _FOLLOWING[corners.shape[1]]] - corners
    if corners.shape[2] == 2:
        normal = np.stack((sides[:, 0, 1], -sides[:, 0, 0]), axis=1)
    else:
        normal = _careful_normals(corners, sides)
    length2 = np.maximum((sides * sides).sum(axis=2), _TINY)
    t = np.minimum(np.maximum(-(corners * sides).sum(axis=2) / length2, 0.0), 1.0)
    feet = corners + t[:, :, None] * sides
    foot = feet[np.arange(len(feet)), (feet * feet).sum(axis=2).argmin(axis=1)]
    by_plane, by_side = (
        (corners @ direction[:, :, None])[:, :, 0].min(axis=1)
        / np.maximum(np.sqrt((direction * direction).sum(axis=1)), _TINY)
        for direction in (normal, foot)
    )
    return by_plane, by_side


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


def are_weights(weights: FloatArray) -> bool:
    """Return whether numbers are not below 0 and 1 in sum: then they make a point of a shape of any of its points."""
    return bool((weights >= 0.0).all()) and abs(float(weights.sum()) - 1.0) <= VERIFY_UNIT * EPS


def proven_upper(proof: Certificate, a: Polytope, b: Polytope) -> tuple[float, str] | None:
    """Return what two points or a polytope prove that the signed distance is not above, and which of them it was.

    None when there is a polytope that is torn or inside out, or the points are not of the shapes.
    """
    weights = np.array(proof.weights)
    if not are_weights(weights):
        return None
    # Differences of vertices first: far from the origin the points themselves have lost the digits that matter.
    differences = b.vertices[list(proof.index_b)] - a.vertices[list(proof.index_a)]
    proven = float(np.linalg.norm(differences[0] + weights @ (differences - differences[0])))
    if not proof.pairs:
        return proven, "two points"
    radius = inscribed_radius(proof.pairs, proof.facets, a, b)
    if radius is None:
        return None
    return (-radius, "polytope") if -radius < proven else (proven, "two points")
