# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of two convex shapes: polytopes, or shapes of which at least one is curved.

The radii are subtracted first: the signed distance of two shapes is that of their cores less both radii. Cores that are
polytopes are solved as such, exactly. For points and segments (spheres, capsules) and for a sphere with a box or hull
that is in effect the closed form: GJK ends with the feature in whose Voronoi region the nearest point is, EPA with the
nearest facet. Only two spheres have a formula of their own: most of the time goes into what they do not need.

Two ellipsoids, or one and a point, are solved by the best direction and a proof in closed form, bodies of revolution
about parallel axes in the plane.

Any other smooth core is bracketed: the polytope of some of its points is inside of it, and the plane across any
direction at its support point is outside. So the pair of inner polytopes gives an upper bound of the signed distance
and a direction; support points there give a lower bound and new points for the polytopes; and so on until both bounds
meet. Where rings of directions are nearly equally good, the bounds may not meet; cells of directions then close the
gap. Near a smooth optimum the direction is improved by Newton's method, and rings of points around it close the bracket
at once. Source: S1.5, S4.2; G. van den Bergen, Proximity Queries and Penetration Depth Computation on 3D Game Objects,
2001 (the bracket).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..narrow_phase.polytope_contact import polytope_contact
from ..narrow_phase.relation import contact_band
from ..narrow_phase.step_list import Recorder
from ..result import BallCertificate, Contact, Method, Proof, Status, SupportCertificate
from ..shapes.curved_shape import ConvexShape, FlatFeature
from ..shapes.feature import Feature, support_feature
from ..shapes.ordinary_size import at_ordinary_size
from ..shapes.polytope import Polytope
from ..shapes.rounded import flat_feature
from ..tolerance import CURVED_ROUNDING, DEFAULT_CONTACT_TOLERANCE, EPS, promised
from ..types import FloatArray, read_only
from .bracket import bracket_cores
from .curved_core import Core, Solved, bound_widening, slab_noise, slab_widths
from .curved_inside import curved_relation
from .curved_region import curved_region, whole_feature
from .curved_section import common_axis, in_space, section_error, section_of, section_plane
from .curved_ties import find_ties
from .curved_witness import contains_foot, find_witness_points
from .direction_cover import cover, cover_axis, starts_around
from .ellipsoid_hull import lowest_nearby, pieces_of
from .ellipsoid_pair import ellipsoid_pair, solve_ellipsoids
from .two_balls import two_balls_contact

_CURVED_BESIDE = 0.25
"""Times the promised tolerance: where the error of the sections is no more, only the sections are solved."""
_CURVED_POLE = 1e-6
"""Sine: a normal this near to the axis of two bodies of revolution is replaced by it, if that separates as well."""
_COVER_FRACTION = 0.5
"""Times the promised tolerance: bounds of curved shapes that are closer are not improved by cells of directions."""
_CLAIMED = 0.1
"""Times the promised tolerance: how much less than the reported depth these prove."""

_FEW_CELLS = 2_000
"""Cells of directions in the time that polytopes take instead, for two ellipsoids."""


def convex_contact(
    a: ConvexShape,
    b: ConvexShape,
    *,
    method: Method = "auto",
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    start: Proof | None = None,
    recorder: Recorder | None = None,
) -> Contact:
    """Return the contact of two convex shapes: `contact` without validation of its arguments; see `polytope_contact`
    for the last two."""

    if isinstance(a, Polytope) and isinstance(b, Polytope):
        return polytope_contact(a, b, method, clearance, contact_tolerance, start, recorder)

    def solve(a: ConvexShape, b: ConvexShape, clearance: float) -> Contact:
        return _curved_contact(a, b, method, clearance, contact_tolerance, recorder)

    return at_ordinary_size(solve, a, b, clearance)


def _curved_contact(
    a: ConvexShape,
    b: ConvexShape,
    method: Method,
    clearance: float,
    contact_tolerance: float,
    recorder: Recorder | None,
) -> Contact:
    """Return the contact of a pair of ordinary size of which at least one shape is curved."""
    balls = two_balls_contact(a, b, clearance, contact_tolerance) if method == "auto" and recorder is None else None
    if balls is not None:
        return balls
    core_a, core_b = Core.of(a), Core.of(b)
    axis = common_axis(a, b)
    found = _solve_cores(a, b, core_a, core_b, method, recorder)
    if found.status is Status.CURVED_BRACKET:
        found = _cover_directions(a, b, found)
    found = _along_points(a, b, found)
    core_a, core_b, normal, slab = found.core_a, found.core_b, found.normal, found.slab
    size = float(np.linalg.norm(a.center - b.center)) + a.extent + b.extent
    magnitude = max(a.magnitude, b.magnitude)
    rounding = CURVED_ROUNDING * EPS * (size + magnitude)
    radii = core_a.radius + core_b.radius
    signed_distance = slab - radii
    lower = min(signed_distance, found.lower - radii) - rounding
    upper = max(found.upper - radii, signed_distance) + rounding
    tolerance = promised(signed_distance, min(a.extent, b.extent), magnitude)
    status = Status.CERTIFIED if upper - lower <= tolerance else found.status
    ties, kind = find_ties(found, tolerance, axis)
    band = contact_band(a, b, contact_tolerance)
    width = max(band, rounding)
    feature_a, feature_b = flat_feature(a, normal, width), flat_feature(b, -normal, width)
    on_a, on_b = find_witness_points(core_a, core_b, found.points, normal, slab, None)
    is_separated, region = signed_distance > max(band, clearance), None
    if not is_separated or (feature_a.extended and feature_b.extended):  # else the witness points are unique
        region = curved_region(feature_a, feature_b, normal, core_a.radius, core_b.radius, band, a, b, (on_a, on_b))
    middle = None if region is None else region.centroid
    if middle is not None and not all(contains_foot(feature, normal, middle) for feature in (feature_a, feature_b)):
        middle = None
    on_a, on_b = find_witness_points(core_a, core_b, (on_a, on_b), normal, slab, middle)
    point_on_a, point_on_b = on_a + core_a.radius * normal, on_b - core_b.radius * normal
    if region is None and not is_separated:
        contact_on_a, contact_on_b = FlatFeature(point_on_a[None]), FlatFeature(point_on_b[None])
        region = curved_region(contact_on_a, contact_on_b, normal, 0.0, 0.0, band, a, b, (point_on_a, point_on_b))
        assert region is not None
        region = replace(region, features=((whole_feature(feature_a), whole_feature(feature_b)),))
    return Contact(
        relation=curved_relation(a, b, signed_distance, band, clearance),
        signed_distance=signed_distance,
        normal=read_only(normal),
        point_on_a=read_only(point_on_a),
        point_on_b=read_only(point_on_b),
        region=None if is_separated else region,
        _facing=region if is_separated else None,
        lower_bound=lower,
        upper_bound=upper,
        ties=read_only(ties),
        feature_a=_feature_of(a, feature_a, normal, width),
        feature_b=_feature_of(b, feature_b, -normal, width),
        method=f"{found.method}, curved",
        iterations=found.iterations,
        status=status,
        cross_check=found.cross_check,
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        certificate=found.certificate,
        tie_kind=kind,
        trace=found.trace
        and replace(
            found.trace,
            radii=(core_a.radius, core_b.radius),
            clearance=clearance,
            contact_tolerance=contact_tolerance,
        ),
    )


def _solve_cores(
    a: ConvexShape, b: ConvexShape, core_a: Core, core_b: Core, method: Method, recorder: Recorder | None
) -> Solved:
    if not core_a.smooth and not core_b.smooth:
        inner = convex_contact(core_a.inner, core_b.inner, method=method, recorder=recorder)
        # The region of the cores is not that of the shapes.
        trace = inner.trace and replace(inner.trace, steps=inner.trace.of_kind("sat", "gjk", "epa"))
        inner = replace(inner, trace=None) if trace else inner
        return Solved(
            core_a,
            core_b,
            inner.normal,
            inner.signed_distance,
            inner.lower_bound + bound_widening(core_a.inner, core_b.inner),
            inner.upper_bound - bound_widening(core_a.inner, core_b.inner),
            (inner.point_on_a, inner.point_on_b),
            inner.ties,
            inner.method,
            inner.iterations,
            Status.CURVED_BRACKET if inner.status is Status.CERTIFIED else inner.status,
            inner.cross_check,
            SupportCertificate(inner.normal, core_a.directions, core_b.directions, inner),
            trace,
        )
    small = min(a.extent, b.extent) or max(a.extent, b.extent)
    tolerance = promised(0.0, small, max(a.magnitude, b.magnitude))
    plane = section_plane(a, b)
    pieces = ellipsoid_pair(a, b)
    if pieces is not None:
        found = solve_ellipsoids(core_a, core_b, pieces)
        if found.method == "secular":
            return found
        found = found if plane is not None else _cover_directions(a, b, found)
        near = found.upper - found.lower <= _COVER_FRACTION * tolerance
        if found.certificate.depth is not None or (near and (found.slab <= 0.0 or _miss(found) <= 0.5 * tolerance)):
            return found
    flat = None if plane is None else _by_sections(a, b, core_a, core_b, plane)
    if flat is None:
        return bracket_cores(core_a, core_b, small)
    assert plane is not None
    if section_error(a, b, plane) <= _CURVED_BESIDE * tolerance:
        return flat
    found = bracket_cores(core_a, core_b, small)
    if flat.upper < found.upper:
        # Nearly parallel axes: the error of the sections is the angle between them, which may be smaller.
        assert isinstance(flat.certificate, SupportCertificate)
        proof = replace(flat.certificate, normal=found.normal)
        return found._replace(upper=max(flat.upper, found.lower), certificate=proof)
    return found


def _by_sections(a: ConvexShape, b: ConvexShape, core_a: Core, core_b: Core, plane: FloatArray) -> Solved | None:
    """Return the result for bodies of revolution from the contact of their sections; None when one is unknown."""
    section_a, section_b = section_of(a, plane), section_of(b, plane)
    if section_a is None or section_b is None:
        return None
    inner = convex_contact(section_a, section_b)
    directions = np.array([in_space(plane, direction, False) for direction in inner.ties])
    # Where smooth sections end on the axis, the normal is accurate to the root of rounding only.
    along = np.where(directions @ plane[1] > 0.0, 1.0, -1.0)[:, None] * plane[1]
    slack = CURVED_ROUNDING * EPS * (core_a.shape.extent + core_b.shape.extent)
    level = np.linalg.norm(directions - along, axis=1) <= _CURVED_POLE
    level &= slab_widths(core_a, core_b, along) >= slab_widths(core_a, core_b, directions) - slack
    directions = np.where(level[:, None], along, directions)
    normal = directions[0].copy()
    slab = float(slab_widths(core_a, core_b, normal[None])[0])
    return Solved(
        core_a,
        core_b,
        normal,
        slab,
        slab,
        inner.upper_bound - bound_widening(section_a, section_b) + section_error(a, b, plane),
        (in_space(plane, inner.point_on_a, True), in_space(plane, inner.point_on_b, True)),
        directions,
        inner.method.removesuffix(", curved"),
        inner.iterations,
        Status.CURVED_BRACKET if inner.status is Status.CERTIFIED else inner.status,
        inner.cross_check,
        SupportCertificate(normal, core_a.directions, core_b.directions, inner, plane),
    )


def _along_points(a: ConvexShape, b: ConvexShape, found: Solved) -> Solved:
    """Return the result for separated cores with the normal along the known points, where no points realise the slab
    across the reported normal.

    The slabs of directions that differ by less than the root of rounding are equal: they do not determine the direction
    of the nearest points.
    """
    p, q = found.points
    gap = float(np.linalg.norm(q - p))
    if found.slab <= 0.0 or gap == 0.0:
        return found
    signed_distance = found.slab - found.core_a.radius - found.core_b.radius
    tolerance = promised(signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    miss = _miss(found)
    direction = (q - p) / gap
    slab = float(slab_widths(found.core_a, found.core_b, direction[None])[0])
    if miss <= 0.5 * tolerance or slab < found.slab - slab_noise(found.core_a, found.core_b) or abs(gap - slab) >= miss:
        return found
    return found._replace(
        normal=direction, slab=slab, lower=slab, certificate=replace(found.certificate, normal=direction)
    )


def _miss(found: Solved) -> float:
    """Return how far the witness points are from realising the slab across the normal."""
    on_a, on_b = find_witness_points(found.core_a, found.core_b, found.points, found.normal, found.slab, None)
    return float(np.linalg.norm(on_b - on_a - found.slab * found.normal))


def _cover_directions(a: ConvexShape, b: ConvexShape, found: Solved) -> Solved:
    """Return the result for penetrating cores whose bounds have not met, with a better direction, if there is one, and
    a bound proved by cells of directions: see `direction_cover`."""
    core_a, core_b = found.core_a, found.core_b
    depth = -found.slab
    radii = core_a.radius + core_b.radius
    tolerance = promised(depth + radii, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    proof = found.certificate
    near = found.upper - found.lower <= _COVER_FRACTION * tolerance
    if depth <= tolerance or proof.depth is not None or found.method == "secular":
        return found
    if near and (isinstance(proof, BallCertificate) or proof.section is not None):
        return found
    pieces = pieces_of(a, b) if a.dim == 3 else None
    if pieces is None:
        return found
    if near:  # but the direction is accurate to the root of that only
        direction = lowest_nearby(pieces, found.normal) + 0.0
        slab = float(slab_widths(core_a, core_b, direction[None])[0])
        if slab <= found.slab + slab_noise(core_a, core_b):
            return found
        return found._replace(normal=direction, slab=slab, lower=slab, certificate=replace(proof, normal=direction))
    directions, most = found.normal[None], [_FEW_CELLS]
    if isinstance(proof, SupportCertificate):
        most = []
        directions = np.concatenate([directions, starts_around(a, b, found.normal), found.others])
    while True:
        directions = np.array([lowest_nearby(pieces, direction) for direction in directions])
        slabs = slab_widths(core_a, core_b, directions)
        normal = directions[int(slabs.argmax())] + 0.0
        slab = float(slabs.max())
        if slab <= found.slab:
            normal, slab = found.normal, found.slab
        claim = -slab - _CLAIMED * tolerance
        cells = cover(pieces, cover_axis(a, b), claim, *most) if claim > 0.0 else None
        if cells is None or cells.complete or float(slab_widths(core_a, core_b, cells.lowest[None])[0]) <= -claim:
            break
        directions = np.concatenate([cells.lowest[None], directions])
    upper, proven_depth = max(slab, found.upper), None
    if cells is not None and cells.complete and -claim < upper:
        upper, proven_depth = -claim, claim
    return found._replace(
        normal=normal,
        slab=slab,
        lower=slab,
        upper=upper,
        others=np.concatenate([found.others, directions, -directions]),
        certificate=replace(proof, normal=normal, depth=proven_depth),
    )


def _feature_of(shape: ConvexShape, feature: FlatFeature, direction: FloatArray, width: float) -> Feature:
    """Return the feature with its kind and, for a polytope or a rounded one, its vertices."""
    if shape.skeleton is not None:
        return support_feature(shape.skeleton, direction, width)
    return whole_feature(feature)
