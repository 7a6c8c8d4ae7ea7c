# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a contact of curved shapes, without the solver.

The lower bound follows from the shapes' support points across the normal; the upper bound from two polytopes inside the
cores, made anew from the certificate's directions, and the certificate of their contact.
"""

from __future__ import annotations

import numpy as np

from .certificate import Certificate, SupportCertificate
from .check import Check, Verification
from .contact import Contact, Status
from .curved_contact import inner_polytope
from .curved_inside import curved_relation, sticks_out, support_points
from .curved_section import common_axis, section_of
from .curved_shape import ConvexShape, CurvedShape
from .hull import ConvexHull
from .polytope import FloatArray, Polytope
from .region import Region
from .relation import contact_band
from .tolerance import CURVED_ROUNDING, EPS, VERIFY_UNIT, promised
from .verify_polytope import proven_upper

_ARC_STEPS = 2000
"""Straight pieces of an arc when the area of a region is measured a second time: right to 1e-6 of it."""
_AREA = 1e-5
"""Of the area (and of the size, for the centroid): how far both measurements may differ."""


def verify_curved(contact: Contact, a: ConvexShape, b: ConvexShape) -> Verification:
    """Return what `verify` does, for a pair of which at least one shape is curved."""
    width = contact.upper_bound - contact.lower_bound
    proof = contact.certificate
    if not isinstance(proof, SupportCertificate) or not isinstance(proof.inner.certificate, Certificate):
        form = Check("the certificate is one of support points", False, type(proof).__name__)
        return Verification((form,), float("nan"))
    cores = _cores(proof, a, b)
    if isinstance(cores, str):
        return Verification((Check("the certificate fits the shapes", False, cores),), float("nan"))
    magnitude = max(a.magnitude, b.magnitude)
    size = float(np.linalg.norm(a.center - b.center)) + a.extent + b.extent
    tolerance = promised(contact.signed_distance, min(a.extent, b.extent), magnitude)
    own = 0.5 * CURVED_ROUNDING * EPS * (size + magnitude)
    checks = [
        *_check_normals(contact, a, b, tolerance),
        *_check_witness(contact, a, b, tolerance),
        _check_bounds(contact, a, b, cores, own),
        Check(
            "the bounds meet",
            (contact.status is Status.CERTIFIED) == (width <= tolerance) and width >= 0.0,
            f"status {contact.status}, width {width:.3g}, tolerance {tolerance:.3g}",
        ),
        _check_relation(contact, a, b),
        *_check_region(contact, a, b, tolerance),
    ]
    return Verification(tuple(checks), width)


def _cores(proof: SupportCertificate, a: ConvexShape, b: ConvexShape) -> tuple[Polytope, Polytope] | str:
    """Return the polytopes inside the cores, or their sections, or what is wrong with what they are made of."""
    if proof.section is not None:
        axis = common_axis(a, b)
        if axis is None or axis.shape != proof.section.shape or not np.array_equal(axis, proof.section):
            return "the pair is not round about the axis of the section"
        assert isinstance(a, CurvedShape)
        assert isinstance(b, CurvedShape)
        sections = section_of(a, axis), section_of(b, axis)
        if sections[0] is None or sections[1] is None:
            return "the sections are no polygons"
        return sections[0], sections[1]
    found: list[Polytope] = []
    for shape, ways in ((a, proof.directions_a), (b, proof.directions_b)):
        if isinstance(shape, Polytope):
            found.append(shape)
        elif shape.skeleton is not None:
            found.append(shape.skeleton)
        else:
            if ways.ndim != 2 or ways.shape[1] != shape.dim or len(ways) == 0:
                return f"directions of the shape {ways.shape}"
            off = float(np.abs(np.linalg.norm(ways, axis=1) - 1.0).max())
            if not off <= VERIFY_UNIT * EPS:
                return f"off by {off:.3g}"
            found.append(inner_polytope(shape, ways))
    return found[0], found[1]


def _overlap_along(a: ConvexShape, b: ConvexShape, normals: FloatArray) -> FloatArray:
    overlap: FloatArray = ((support_points(a, normals) - support_points(b, -normals)) * normals).sum(axis=1)
    return overlap


def _check_normals(contact: Contact, a: ConvexShape, b: ConvexShape, tolerance: float) -> list[Check]:
    normals = np.vstack((contact.normal, contact.certificate.normal, contact.ties))
    error = float(np.abs(np.linalg.norm(normals, axis=1) - 1.0).max())
    worst = float(np.abs(_overlap_along(a, b, normals) + contact.signed_distance).max())
    return [
        Check("normals are unit vectors", error <= VERIFY_UNIT * EPS, f"off by {error:.3g}"),
        Check(
            "normal and ties separate the pair by the signed distance",
            worst <= tolerance,
            f"off by {worst:.3g}, tolerance {tolerance:.3g}",
        ),
        Check(
            "the chosen normal is the first tie",
            bool(np.array_equal(contact.normal, contact.ties[0])),
            f"{contact.normal} and {contact.ties[0]}",
        ),
    ]


def _check_witness(contact: Contact, a: ConvexShape, b: ConvexShape, tolerance: float) -> list[Check]:
    off = max(
        sticks_out(ConvexHull(point[None]), shape, np.inf)
        for shape, point in ((a, contact.point_on_a), (b, contact.point_on_b))
    )
    between = contact.point_on_b - contact.point_on_a
    miss = float(np.linalg.norm(between - contact.signed_distance * contact.normal))
    return [
        Check("witness points lie on their shapes", off <= tolerance, f"off by {off:.3g}"),
        Check(
            "witness points realise the signed distance",
            miss <= tolerance,
            f"off by {miss:.3g}, tolerance {tolerance:.3g}",
        ),
    ]


def _check_bounds(
    contact: Contact, a: ConvexShape, b: ConvexShape, cores: tuple[Polytope, Polytope], rounding: float
) -> Check:
    proof = contact.certificate
    assert isinstance(proof, SupportCertificate)
    assert isinstance(proof.inner.certificate, Certificate)
    lower = -float(_overlap_along(a, b, proof.normal[None])[0]) - rounding
    radii = sum(shape.radius for shape in (a, b) if isinstance(shape, CurvedShape))
    try:
        found = proven_upper(proof.inner.certificate, *cores)
    except (IndexError, ValueError) as error:
        return Check("support points prove both bounds", False, f"the inner certificate cannot be read: {error}")
    if found is None:
        return Check("support points prove both bounds", False, "the polytope is torn or inside out")
    upper = found[0] - radii + rounding
    holds = contact.lower_bound <= min(lower, contact.signed_distance)
    holds = holds and contact.upper_bound >= max(upper, contact.signed_distance)
    detail = f"bounds {contact.lower_bound:.17g} and {contact.upper_bound:.17g}, proven {lower:.17g} and {upper:.17g}"
    return Check("support points prove both bounds", holds, detail)


def _check_relation(contact: Contact, a: ConvexShape, b: ConvexShape) -> Check:
    band = contact_band(a, b, contact.contact_tolerance)
    found = curved_relation(a, b, contact.signed_distance, band, contact.clearance)
    return Check("the relation fits", contact.relation is found, f"{contact.relation}, found {found}")


def _check_region(contact: Contact, a: ConvexShape, b: ConvexShape, tolerance: float) -> list[Check]:
    band = contact_band(a, b, contact.contact_tolerance)
    region = contact.region
    wanted = contact.signed_distance <= band
    checks = [Check("a region where the shapes meet", (region is not None) == wanted, f"{region and region.kind}")]
    if region is None:
        return checks
    # Half of the gap or depth away along the normal, each corner is on the one shape and on the other.
    off = 0.0
    for sign, shape in ((1.0, a), (-1.0, b)):
        for vertex, depth in zip(region.vertices, region.depths, strict=True):
            point = vertex + sign * 0.5 * depth * contact.normal
            off = max(off, sticks_out(ConvexHull(point[None]), shape, np.inf))
    checks.append(Check("the region is on both shapes", off <= band + tolerance, f"off by {off:.3g}, band {band:.3g}"))
    area, centroid = _measured(region, contact.normal)
    slack = _AREA * max(region.area, region.length * region.length)
    reach = float(np.linalg.norm(centroid - region.centroid))
    near = _AREA * region.length + tolerance
    checks.append(
        Check(
            "area and centroid are those of the outline",
            abs(area - region.area) <= slack and reach <= near,
            f"area {region.area:.9g}, found {area:.9g}; centroid off by {reach:.3g}",
        )
    )
    return checks


def _measured(region: Region, normal: FloatArray) -> tuple[float, FloatArray]:
    """Return area and centroid of a region whose arcs are taken as many short sides."""
    outline = region.outline(normal, _ARC_STEPS)
    if len(outline) < 3:
        return 0.0, outline.mean(axis=0)
    origin = outline[0]
    ways = outline - origin
    if len(normal) == 2:
        return 0.0, outline.mean(axis=0)
    twice = np.cross(ways[1:-1], ways[2:]) @ normal
    total = float(twice.sum())
    if total <= 0.0:
        return 0.0, outline.mean(axis=0)
    middle = origin + (twice @ (ways[1:-1] + ways[2:])) / (3.0 * total)
    return 0.5 * total, middle
