# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a curved shape is inside another, and what a person would call the state of a pair.

One convex shape is inside another when it reaches no farther in any direction. Of a polytope's facets that takes as
many directions as there are facets; of curved surfaces it is looked for among many directions, and from the best of
them uphill.
"""

from __future__ import annotations

import numpy as np

from ..narrow_phase.relation import Relation
from ..shapes.curved_shape import ConvexShape, across
from ..shapes.polytope import FloatArray, Polytope

_AROUND = 400
"""Directions in which one shape may stick out of the other, at first."""
_CLIMBS = 6
"""Of these the best are climbed from."""
_LOOKS = 200
"""Looks around on one climb, at most."""
_SMALLEST = 1e-8
"""Angle at which climbing ends."""


def curved_relation(a: ConvexShape, b: ConvexShape, signed_distance: float, band: float, clearance: float) -> Relation:
    """Return the relation of two shapes whose signed distance is known; see `relation.relation_of`."""
    if signed_distance > band:
        return Relation.WITHIN_CLEARANCE if signed_distance <= clearance else Relation.SEPARATED
    a_in_b = sticks_out(a, b, band) <= band
    b_in_a = sticks_out(b, a, band) <= band
    if a_in_b and b_in_a:
        return Relation.COINCIDENT
    if signed_distance >= -band:
        return Relation.TOUCHING
    if a_in_b:
        return Relation.A_INSIDE_B
    return Relation.B_INSIDE_A if b_in_a else Relation.PENETRATING


def sticks_out(inner: ConvexShape, outer: ConvexShape, enough: float) -> float:
    """Return how far `inner` reaches beyond `outer` in the direction where that is most; > `enough` ends the search."""
    (low, high), (outer_low, outer_high) = inner.bounds, outer.bounds
    by_box = float(max((outer_low - low).max(), (high - outer_high).max()))
    if by_box > enough:
        return by_box
    if isinstance(outer, Polytope) and outer.rank == outer.dim:
        heights = (support_points(inner, outer.normals) - outer.center) * outer.normals
        return float((heights.sum(axis=1) - outer.offsets).max())
    ways = spread(inner.dim, _AROUND)
    ways = np.concatenate([ways, *(shape.normals for shape in (inner, outer) if isinstance(shape, Polytope))])
    beyond = _beyond(inner, outer, ways)
    best = float(beyond.max())
    for k in np.argsort(beyond)[::-1][:_CLIMBS].tolist():
        if best > enough:
            break
        best = max(best, _climbed(inner, outer, ways[k], float(beyond[k])))
    return best


def support_points(shape: ConvexShape, directions: FloatArray) -> FloatArray:
    """Return the support points (k, dim) of any convex shape for unit `directions` (k, dim)."""
    if isinstance(shape, Polytope):
        chosen: FloatArray = shape.vertices[np.argmax(directions @ shape.centred.T, axis=1)]
        return chosen
    return shape.core_supports(directions) + shape.radius * directions


def _beyond(inner: ConvexShape, outer: ConvexShape, ways: FloatArray) -> FloatArray:
    result: FloatArray = ((support_points(inner, ways) - support_points(outer, ways)) * ways).sum(axis=1)
    return result


def _climbed(inner: ConvexShape, outer: ConvexShape, way: FloatArray, here: float) -> float:
    """Return the most that is found uphill from a direction, with ever smaller steps."""
    angle = 0.1
    for _ in range(_LOOKS):
        if angle < _SMALLEST:
            break
        sides = across(way) if len(way) == 3 else (np.array([-way[1], way[0]]),)
        around = np.array([way + sign * angle * side for side in sides for sign in (1.0, -1.0)])
        around /= np.linalg.norm(around, axis=1)[:, None]
        beyond = _beyond(inner, outer, around)
        k = int(beyond.argmax())
        if beyond[k] > here:
            way, here, angle = around[k], float(beyond[k]), 1.5 * angle
        else:
            angle *= 0.3
    return here


def spread(dim: int, count: int) -> FloatArray:
    """Return unit directions (k, dim) evenly around, at least `count`; in space those of the axes among them."""
    if dim == 2:
        turn = 2.0 * np.pi * np.arange(count) / count
        return np.stack([np.cos(turn), np.sin(turn)], axis=1)
    # A spiral by the golden angle.
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    reach = np.sqrt(1.0 - z * z)
    return np.concatenate([np.stack([reach * np.cos(turn), reach * np.sin(turn), z], axis=1), np.eye(3), -np.eye(3)])
