# SPDX-License-Identifier: GPL-3.0-or-later
"""The relation of two polytopes, and the band of touching."""

from __future__ import annotations

import numpy as np

from ..result import Relation
from ..shapes.polytope import PRODUCTS, Polytope
from ..shapes.shape import Shape
from ..tolerance import NOTCH_DEPTH, NOTCH_EXTENT, promised


def contact_band(a: Shape, b: Shape, contact_tolerance: float) -> float:
    """Return the half-width of TOUCHING around signed distance 0, world units.

    It is `contact_tolerance` times the smaller non-zero `diameter`, which does not depend on how the shapes are turned,
    but never less than the rounding error of the distance: a touch must not become a gap by rounding.
    """
    floor = promised(0.0, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    if contact_tolerance == 0.0:  # inner searches ask for no more: no sizes are made
        return floor
    small, large = min(a.diameter, b.diameter), max(a.diameter, b.diameter)
    return max(contact_tolerance * (small or large), floor)  # mutant: relation-band-without-floor


def clear_length(a: Shape, b: Shape, contact_tolerance: float, depth: float) -> float:
    """Return how far beyond a separating translation of length `depth` shapes stay apart, world units, or it ends in a
    notch."""
    farther = max(contact_tolerance, NOTCH_DEPTH) * depth
    return max(contact_band(a, b, max(contact_tolerance, NOTCH_EXTENT)), farther)


def relation_of(a: Polytope, b: Polytope, signed_distance: float, band: float, clearance: float) -> Relation:
    """Return the relation of two shapes whose signed distance is known.

    `band` and `clearance` are lengths in world units. One shape is inside the other, and two coincide, when no part
    protrudes by more than the band.
    """
    if signed_distance > band:
        # mutant: relation-clearance-left-out
        return Relation.WITHIN_CLEARANCE if signed_distance <= clearance else Relation.SEPARATED
    a_in_b = _box_inside(a, b, band)
    b_in_a = _box_inside(b, a, band)
    if a_in_b and b_in_a and _coincide(a, b, band):
        return Relation.COINCIDENT
    if signed_distance >= -band:  # mutant: relation-no-band
        return Relation.TOUCHING
    if a_in_b and _inside(a, b, band):  # mutant: relation-inside-by-bounding-boxes
        return Relation.A_INSIDE_B  # mutant: relation-inside-mixed
    if b_in_a and _inside(b, a, band):
        return Relation.B_INSIDE_A
    return Relation.PENETRATING


def relation_of_overlapping(a_in_b: bool, b_in_a: bool, touching: bool) -> Relation:
    """Return the relation of two shapes that intersect: which one is inside the other, and whether they only touch."""
    if a_in_b and b_in_a:
        return Relation.COINCIDENT
    if touching:
        return Relation.TOUCHING
    if a_in_b:
        return Relation.A_INSIDE_B
    return Relation.B_INSIDE_A if b_in_a else Relation.PENETRATING


def _box_inside(inner: Polytope, outer: Polytope, slack: float) -> bool:
    """Return whether the bounding box of `inner` is in that of `outer`: a cheap first test."""
    (lows, highs), (outer_lows, outer_highs) = inner._bounds_tuples, outer._bounds_tuples
    for k, low in enumerate(lows):  # noqa: SIM110 (`all` of a generator takes several times as long)
        if low < outer_lows[k] - slack or highs[k] > outer_highs[k] + slack:
            return False
    return True


def _inside(inner: Polytope, outer: Polytope, slack: float) -> bool:
    """Return whether no vertex of `inner` is outside a facet plane of `outer` by more than `slack`.

    False for a shape that does not fill its space: it has no inside.
    """
    if outer.rank < outer.dim:
        return False
    shift = (inner.center - outer.center) @ outer.normals.T
    limits = outer.offsets + slack
    # In chunks of facets: all products of two large shapes would fill the memory. Mostly the first chunk has a vertex
    # that is outside.
    step = max(1, PRODUCTS // len(inner.vertices))
    for k in range(0, len(limits), step):
        heights = outer.normals[k : k + step] @ inner._centred.T
        if not (heights.max(axis=1) + shift[k : k + step] <= limits[k : k + step]).all():
            return False
    return True


def _coincide(a: Polytope, b: Polytope, slack: float) -> bool:
    if _inside(a, b, slack) and _inside(b, a, slack):
        return True
    # Shapes without an inside: every corner of each must be a corner of the other.
    if a.rank != b.rank or a.rank == a.dim:
        return False
    return _corners_match(a, b, slack) and _corners_match(b, a, slack)  # mutant: relation-part-of-the-corners


def _corners_match(a: Polytope, b: Polytope, slack: float) -> bool:
    shift = a.center - b.center
    nearest = (np.linalg.norm(b._centred - (corner + shift), axis=1).min() for corner in a._centred)
    return all(distance <= slack for distance in nearest)
