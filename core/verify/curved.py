# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a contact of curved shapes, without the solver.

The lower bound follows from the shapes' support points across the normal; the upper bound from two polytopes inside the
cores, made anew from the certificate's directions, and the certificate of their contact.
"""

from __future__ import annotations

import numpy as np

from ..curved.curved_inside import curved_relation, protrusion
from ..narrow_phase.relation import contact_band
from ..region.region import Region
from ..result import Contact, Status
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..shapes.ordinary_size import extreme_exponent
from ..tolerance import EPS, VERIFY_SLIVER, promised
from ..types import FloatArray
from .bounds import proven_bounds
from .check import Check, Verification
from .curved_region import check_curved_region
from .form import check_form
from .region import check_presence, measure
from .ties import check_normals, check_realised, check_ties, overlaps_of_normals

_ARC_STEPS = 2000
"""Straight pieces of a circle when the area of a region is measured a second time: right to 1e-6 of it."""
_ARC_FINER = 100
"""Times as many at most, where the circle is as much longer than the region's outline."""
_AREA = 1e-5
"""Of the area (and of the size, for the centroid): how far both measurements may differ."""


def check_curved(contact: Contact, a: ConvexShape, b: ConvexShape) -> Verification:
    """Check a contact of convex shapes of which at least one is curved."""
    exponent = extreme_exponent(a, b)
    if exponent:
        # Nothing is squared beyond the range of float64; what certificates hold is of this size as well.
        a, b = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent)
    form = check_form(contact, a, b)
    if not all(check.ok for check in form):
        return Verification(tuple(form), float("nan"))
    reported = width = contact.upper_bound - contact.lower_bound
    if exponent:
        contact = contact.scaled(-exponent)
        width = contact.upper_bound - contact.lower_bound
    tolerance = promised(contact.signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    checks = [
        *form,
        *check_normals(contact, *overlaps_of_normals(contact, a, b), tolerance),
        *_check_witness(contact, a, b, tolerance),
        _check_bounds(contact, a, b),
        Check(
            "the bounds meet",
            (contact.status is Status.CERTIFIED) == (width <= tolerance) and width >= 0.0,
            f"status {contact.status}, width {width:.3g}, tolerance {tolerance:.3g}",
        ),
        _check_relation(contact, a, b),
        *_check_region(contact, a, b, tolerance),
        *check_curved_region(contact, a, b, tolerance),
        *check_ties(contact, a, b, tolerance),
    ]
    return Verification(tuple(checks), reported)


def _check_witness(contact: Contact, a: ConvexShape, b: ConvexShape, tolerance: float) -> list[Check]:
    off = max(
        protrusion(ConvexHull(point[None]), shape, np.inf)
        for shape, point in ((a, contact.point_on_a), (b, contact.point_on_b))
    )
    return [
        Check("witness points lie on their shapes", off <= tolerance, f"off by {off:.3g}"),
        check_realised(contact, tolerance),
    ]


def _check_bounds(contact: Contact, a: ConvexShape, b: ConvexShape) -> Check:
    proven = proven_bounds(contact.certificate, a, b)
    if isinstance(proven, str):
        return Check("support points prove both bounds", False, proven)
    holds = contact.lower_bound <= min(proven.lower, contact.signed_distance)
    holds = holds and contact.upper_bound >= max(proven.upper, contact.signed_distance)
    detail = (
        f"bounds {contact.lower_bound:.17g} and {contact.upper_bound:.17g}, "
        f"proven {proven.lower:.17g} and {proven.upper:.17g}"
    )
    return Check("support points prove both bounds", holds, detail)


def _check_relation(contact: Contact, a: ConvexShape, b: ConvexShape) -> Check:
    band = contact_band(a, b, contact.contact_tolerance)
    found = curved_relation(a, b, contact.signed_distance, band, contact.clearance)
    return Check("the relation fits", contact.relation is found, f"{contact.relation}, found {found}")


def _check_region(contact: Contact, a: ConvexShape, b: ConvexShape, tolerance: float) -> list[Check]:
    band = contact_band(a, b, contact.contact_tolerance)
    region = contact._region_or_facing
    checks = [check_presence(contact, band)]
    if region is None:
        return checks
    # Half of the gap or depth away along the normal, each corner is on the one shape and on the other.
    off = 0.0
    for sign, shape in ((1.0, a), (-1.0, b)):
        for vertex, depth in zip(region.vertices, region.depths, strict=True):
            point = vertex + sign * 0.5 * depth * contact.normal
            off = max(off, protrusion(ConvexHull(point[None]), shape, np.inf))
    checks.append(Check("the region is on both shapes", off <= band + tolerance, f"off by {off:.3g}, band {band:.3g}"))
    outline = _outline(region, contact.normal)
    area, length, centroid = measure(outline, region.kind, contact.normal)
    rounding = VERIFY_SLIVER * EPS * float(np.abs(outline).max())
    slack = _AREA * max(region.area, region.length * region.length) + rounding * region.length
    reach = float(np.linalg.norm(centroid - region.centroid))
    near = _AREA * region.length + tolerance
    checks.append(
        Check(
            "area, length and centroid are those of the outline",
            abs(area - region.area) <= slack and abs(length - region.length) <= near and reach <= near,
            f"area {region.area:.9g}, found {area:.9g}; length {region.length:.9g}, found {length:.9g}; "
            f"centroid off by {reach:.3g}",
        )
    )
    return checks


def _outline(region: Region, normal: FloatArray) -> FloatArray:
    """Return the outline (m, dim) of a region with its arcs as many short sides, of short arcs no fewer."""
    circle = 2.0 * np.pi * max((arc.radius for arc in region.arcs), default=0.0)
    around = float(np.linalg.norm(region.vertices - np.roll(region.vertices, 1, axis=0), axis=1).sum())
    finer = circle / around if circle < _ARC_FINER * around else _ARC_FINER
    return region.outline(normal, int(_ARC_STEPS * max(1.0, finer)))
