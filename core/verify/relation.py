# SPDX-License-Identifier: GPL-3.0-or-later
"""The relations that a signed distance and how far two convex shapes stick out of each other allow."""

from __future__ import annotations

import numpy as np

from ..curved.curved_inside import curved_relation
from ..result import Relation
from ..shapes.curved_shape import ConvexShape
from ..shapes.polytope import Polytope, intervals

_PRODUCTS = 1 << 18  # held in memory at a time


def possible_relations(
    a: ConvexShape, b: ConvexShape, signed_distance: float, band: float, clearance: float, rounding: float
) -> tuple[set[Relation], str]:
    """Return the relations that fit, and the numbers compared in words.

    Where something is `band` up to `rounding`, both answers are right.
    """
    detail = f"signed distance {signed_distance:.3g}, band {band:.3g}"
    if signed_distance > band:
        return {Relation.WITHIN_CLEARANCE if signed_distance <= clearance else Relation.SEPARATED}, detail
    if not (isinstance(a, Polytope) and isinstance(b, Polytope)):
        sides = (signed_distance - rounding, min(signed_distance + rounding, band))
        return {curved_relation(a, b, distance, band, clearance) for distance in sides}, detail
    possible: set[Relation] = set()
    limit = band + rounding
    a_out, b_out = _sticks_out(a, b, limit), _sticks_out(b, a, limit)
    differ = max(a_out, b_out)
    if a.rank == b.rank < a.dim:
        differ = max(_corner_off(a, b, limit), _corner_off(b, a, limit))
    for off, relation in ((differ, Relation.COINCIDENT), (a_out, Relation.A_INSIDE_B), (b_out, Relation.B_INSIDE_A)):
        if relation is not Relation.COINCIDENT and signed_distance >= -band:
            break
        if off <= limit:
            possible.add(relation)
        if off <= band - rounding:
            break
    else:
        possible.add(Relation.PENETRATING)
    if signed_distance >= -band and differ > band - rounding:
        possible.add(Relation.TOUCHING)
    return possible, f"{detail}, A sticks out of B by {a_out:.3g}, B out of A by {b_out:.3g}"


def _sticks_out(inner: Polytope, outer: Polytope, limit: float) -> float:
    """Return how far `inner` reaches beyond the worst facet of `outer`, or something above `limit` when that is.

    Of a shape that does not fill its space everything sticks out.
    """
    if outer.rank < outer.dim:
        return np.inf
    (low, high), (outer_low, outer_high) = inner.bounds, outer.bounds
    most = float(np.maximum(outer_low - low, high - outer_high).max())
    shift = inner.center - outer.center
    step = max(1, _PRODUCTS // len(inner.vertices))
    for k in range(0, len(outer.normals), step):
        if most > limit:
            break
        normals = outer.normals[k : k + step]
        reach = intervals(normals, inner._centred)[1] + normals @ shift
        most = max(most, float((reach - outer.offsets[k : k + step]).max()))
    return most


def _corner_off(a: Polytope, b: Polytope, limit: float) -> float:
    """Return how far the worst vertex of A is from the nearest of B, or something above `limit` when that is."""
    most = float(max(np.abs(end_a - end_b).max() for end_a, end_b in zip(a.bounds, b.bounds, strict=True)))
    shift = a.center - b.center
    step = max(1, _PRODUCTS // len(b.vertices))
    for k in range(0, len(a.vertices), step):
        if most > limit:
            break
        between = (a._centred[k : k + step] + shift)[:, None, :] - b._centred
        most = max(most, float(np.sqrt((between * between).sum(axis=2)).min(axis=1).max()))
    return most
