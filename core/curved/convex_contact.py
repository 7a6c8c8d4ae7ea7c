# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of two convex shapes: polytopes, or shapes of which at least one is curved.

The radii come off first: two shapes are as far apart as their cores, less both radii. Cores that are polytopes are
solved as such, exactly. Of points and segments (spheres, capsules) and a sphere with a box or hull that is the closed
form in effect: GJK ends with the feature in whose Voronoi region the nearest point is, EPA with the nearest facet, and
a formula beside it would save a tenth of the time at most (13 to 50 of 190 to 1000 microseconds, measured).

An ellipsoid and a point are solved by a closed form, bodies of revolution about parallel axes in the plane.

Any other smooth core is bracketed: the polytope of some of its points is inside of it, and the plane across any
direction at its support point is outside. So the pair of inner polytopes gives an upper bound of the signed distance
and a direction; support points there give a lower bound and new points for the polytopes; and so on until both bounds
meet.
Bounds that are still apart then, for rings of directions are all but equally good, are closed by cells of directions.
Near a smooth optimum the direction is improved by Newton's method, and rings of points close around it close the
bracket at once. Source: S1.5, S4.2; G. van den Bergen, Proximity Queries and Penetration Depth Computation on 3D Game
Objects, 2001 (the bracket).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..narrow_phase.polytope_contact import polytope_contact
from ..narrow_phase.relation import contact_band
from ..result import BallCertificate, Contact, Method, Status, SupportCertificate
from ..shapes.curved_shape import ConvexShape, CurvedShape, FlatFeature
from ..shapes.feature import Feature, support_feature
from ..shapes.ordinary_size import at_ordinary_size
from ..shapes.polytope import Polytope
from ..tolerance import CURVED_ROUNDING, DEFAULT_CONTACT_TOLERANCE, EPS, promised
from ..types import FloatArray, read_only
from .bracket import bracket_cores
from .curved_core import Core, Solved, bound_widening, slab_noise, slab_widths
from .curved_inside import curved_relation
from .curved_region import curved_region, whole_feature
from .curved_section import beside_section, common_axis, in_space, section_of, section_plane
from .curved_ties import find_ties
from .curved_witness import contains_foot, find_witness_points
from .direction_cover import cover, cover_axis, starts_around
from .ellipsoid_ball import BallPair, ball_pair, nearest_on_ellipsoid, proven_above
from .ellipsoid_hull import lowest_nearby, pieces_of

_CURVED_BESIDE = 0.25
"""Times the promised tolerance: sections that leave out no more are all that is looked at."""
_CURVED_POLE = 1e-6
"""Sine: a normal this near to the axis of two bodies of revolution is along it, if that separates as well."""
_COVER_FRACTION = 0.5
"""Times the promised tolerance: bounds of curved shapes that are no farther apart are not brought nearer by cells of
directions, and how much less than the reported depth these prove."""


def convex_contact(
    a: ConvexShape,
    b: ConvexShape,
    *,
    method: Method = "auto",
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    start: Contact | None = None,
) -> Contact:
    """Return the contact of two convex shapes: `contact` without its checks of the arguments."""

    if isinstance(a, Polytope) and isinstance(b, Polytope):
        return polytope_contact(a, b, method, clearance, contact_tolerance, start)

    def solve(one: ConvexShape, other: ConvexShape, clear: float) -> Contact:
        return _curved_contact(one, other, method, clear, contact_tolerance)

    return at_ordinary_size(solve, a, b, clearance)


def _curved_contact(
    a: ConvexShape, b: ConvexShape, method: Method, clearance: float, contact_tolerance: float
) -> Contact:
    """Return the contact of a pair of ordinary size of which at least one shape is curved."""
    one, other = Core.of(a), Core.of(b)
    axis = common_axis(a, b)
    found = _solved(a, b, one, other, method, axis)
    if found.status is Status.CURVED_BRACKET:
        found = _covered(a, b, found)
    found = _along_points(a, b, found)
    one, other, normal, slab = found.one, found.other, found.normal, found.slab
    size = float(np.linalg.norm(a.center - b.center)) + a.extent + b.extent
    magnitude = max(a.magnitude, b.magnitude)
    rounding = CURVED_ROUNDING * EPS * (size + magnitude)
    both = one.radius + other.radius
    signed_distance = slab - both
    lower = min(signed_distance, found.lower - both) - rounding
    upper = max(found.upper - both, signed_distance) + rounding
    tolerance = promised(signed_distance, min(a.extent, b.extent), magnitude)
    status = Status.CERTIFIED
    if upper - lower > tolerance:
        status = found.status
    ties, kind = find_ties(found, tolerance, axis)
    band = contact_band(a, b, contact_tolerance)
    width = max(band, rounding)
    feature_a, feature_b = one.feature(normal, width), other.feature(-normal, width)
    on_a, on_b = find_witness_points(one, other, found.points, normal, slab, None)
    region = None
    if signed_distance <= band or (feature_a.extended and feature_b.extended):  # or there is no choice of points
        region = curved_region(feature_a, feature_b, normal, one.radius, other.radius, band, a, b, (on_a, on_b))
    middle = None if region is None else region.centroid
    if middle is not None and not all(contains_foot(feature, normal, middle) for feature in (feature_a, feature_b)):
        middle = None
    on_a, on_b = find_witness_points(one, other, (on_a, on_b), normal, slab, middle)
    point_on_a, point_on_b = on_a + one.radius * normal, on_b - other.radius * normal
    if region is None and signed_distance <= band:
        one_point, other_point = FlatFeature(point_on_a[None]), FlatFeature(point_on_b[None])
        region = curved_region(one_point, other_point, normal, 0.0, 0.0, band, a, b, (point_on_a, point_on_b))
        assert region is not None
        region = replace(region, features=((whole_feature(feature_a), whole_feature(feature_b)),))
    return Contact(
        relation=curved_relation(a, b, signed_distance, band, clearance),
        signed_distance=signed_distance,
        normal=read_only(normal),
        point_on_a=read_only(point_on_a),
        point_on_b=read_only(point_on_b),
        region=region if signed_distance <= band else None,
        lower_bound=lower,
        upper_bound=upper,
        ties=read_only(ties),
        feature_a=_named(a, feature_a, normal, width),
        feature_b=_named(b, feature_b, -normal, width),
        method=f"{found.method}, curved",
        iterations=found.iterations,
        status=status,
        cross_check=found.cross_check,
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        certificate=found.certificate,
        tie_kind=kind,
    )


def _solved(a: ConvexShape, b: ConvexShape, one: Core, other: Core, method: Method, axis: FloatArray | None) -> Solved:
    if not one.smooth and not other.smooth:
        inner = convex_contact(one.inner, other.inner, method=method)
        return Solved(
            one,
            other,
            inner.normal,
            inner.signed_distance,
            inner.lower_bound + bound_widening(one.inner, other.inner),
            inner.upper_bound - bound_widening(one.inner, other.inner),
            (inner.point_on_a, inner.point_on_b),
            inner.ties,
            inner.method,
            inner.iterations,
            Status.CURVED_BRACKET if inner.status is Status.CERTIFIED else inner.status,
            inner.cross_check,
            SupportCertificate(inner.normal, one.directions, other.directions, inner),
        )
    pair = ball_pair(a, b)
    if pair is not None:
        return _by_ball(one, other, pair)
    small = min(a.extent, b.extent) or max(a.extent, b.extent)
    plane = section_plane(a, b)
    flat = None if plane is None else _by_sections(a, b, one, other, plane)
    if flat is None:
        return bracket_cores(one, other, small)
    assert plane is not None
    if beside_section(a, b, plane) <= _CURVED_BESIDE * promised(0.0, small, max(a.magnitude, b.magnitude)):
        return flat
    found = bracket_cores(one, other, small)
    if flat.upper < found.upper:
        # Axes that are all but parallel: the sections are wrong by as much as they lean, which may be less.
        assert isinstance(flat.certificate, SupportCertificate)
        proof = replace(flat.certificate, normal=found.normal)
        return found._replace(upper=max(flat.upper, found.lower), certificate=proof)
    return found


def _by_sections(a: ConvexShape, b: ConvexShape, one: Core, other: Core, plane: FloatArray) -> Solved | None:
    """Return what the contact of two sections says of bodies of revolution; None when one is not known."""
    assert isinstance(a, CurvedShape)
    assert isinstance(b, CurvedShape)
    first, second = section_of(a, plane), section_of(b, plane)
    if first is None or second is None:
        return None
    inner = convex_contact(first, second)
    directions = np.array([in_space(plane, direction, False) for direction in inner.ties])
    # Where smooth sections end on the axis, the normal is no more exact than the root of rounding.
    along = np.where(directions @ plane[1] > 0.0, 1.0, -1.0)[:, None] * plane[1]
    slack = CURVED_ROUNDING * EPS * (one.shape.extent + other.shape.extent)
    level = np.linalg.norm(directions - along, axis=1) <= _CURVED_POLE
    level &= slab_widths(one, other, along) >= slab_widths(one, other, directions) - slack
    directions = np.where(level[:, None], along, directions)
    normal = directions[0].copy()
    slab = float(slab_widths(one, other, normal[None])[0])
    return Solved(
        one,
        other,
        normal,
        slab,
        slab,
        inner.upper_bound - bound_widening(first, second) + beside_section(a, b, plane),
        (in_space(plane, inner.point_on_a, True), in_space(plane, inner.point_on_b, True)),
        directions,
        inner.method.removesuffix(", curved"),
        inner.iterations,
        Status.CURVED_BRACKET if inner.status is Status.CERTIFIED else inner.status,
        inner.cross_check,
        SupportCertificate(normal, one.directions, other.directions, inner, plane),
    )


def _by_ball(one: Core, other: Core, pair: BallPair) -> Solved:
    """Return the result for an ellipsoid and a point: see `ellipsoid_ball`."""
    ellipsoid, point, first = pair
    found = nearest_on_ellipsoid(ellipsoid, point)
    outward = np.concatenate([found.normal[None], found.others])
    normals = outward if first else -outward
    slabs = slab_widths(one, other, normals)
    k = int(slabs.argmax())
    normal, slab = normals[k], float(slabs[k])
    upper = proven_above(ellipsoid, point, outward[k], found.gap)
    foot = point - slab * outward[k]
    points = (foot, point) if first else (point, foot)
    proof = BallCertificate(normal, found.gap)
    nothing = Status.CURVED_BRACKET
    return Solved(
        one, other, normal, slab, slab, upper, points, normals, "secular", found.iterations, nothing, None, proof
    )


def _along_points(a: ConvexShape, b: ConvexShape, found: Solved) -> Solved:
    """Return the result for cores that are apart with the normal along the known points, where no points realise the
    slab across the reported one.

    The slabs of directions that differ by less than the root of rounding are all alike: they do not say which one is
    that of the nearest points.
    """
    p, q = found.points
    gap = float(np.linalg.norm(q - p))
    if found.slab <= 0.0 or gap == 0.0:
        return found
    signed_distance = found.slab - found.one.radius - found.other.radius
    tolerance = promised(signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    on_a, on_b = find_witness_points(found.one, found.other, found.points, found.normal, found.slab, None)
    miss = float(np.linalg.norm(on_b - on_a - found.slab * found.normal))
    direction = (q - p) / gap
    slab = float(slab_widths(found.one, found.other, direction[None])[0])
    if miss <= 0.5 * tolerance or slab < found.slab - slab_noise(found.one, found.other) or abs(gap - slab) >= miss:
        return found
    return found._replace(
        normal=direction, slab=slab, lower=slab, certificate=replace(found.certificate, normal=direction)
    )


def _covered(a: ConvexShape, b: ConvexShape, found: Solved) -> Solved:
    """Return the result for cores that penetrate and whose bounds are still apart, with a better direction, if there
    is one, and a bound that cells of directions prove: see `direction_cover`."""
    one, other = found.one, found.other
    depth = -found.slab
    both = one.radius + other.radius
    tolerance = promised(depth + both, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    proof = found.certificate
    if depth <= tolerance or isinstance(proof, BallCertificate):
        return found
    near = found.upper - found.lower <= _COVER_FRACTION * tolerance
    pieces = None if near and proof.section is not None else pieces_of(a, b)
    if pieces is None:
        return found
    if near:  # but a direction is known only to the root of that
        direction = lowest_nearby(pieces, found.normal) + 0.0
        slab = float(slab_widths(one, other, direction[None])[0])
        if slab <= found.slab + slab_noise(one, other):
            return found
        return found._replace(normal=direction, slab=slab, lower=slab, certificate=replace(proof, normal=direction))
    directions = np.concatenate([found.normal[None], starts_around(a, b, found.normal), found.others])
    while True:
        directions = np.array([lowest_nearby(pieces, direction) for direction in directions])
        slabs = slab_widths(one, other, directions)
        normal = directions[int(slabs.argmax())] + 0.0
        slab = float(slabs.max())
        if slab <= found.slab:
            normal, slab = found.normal, found.slab
        claim = -slab - _COVER_FRACTION * tolerance
        cells = cover(pieces, cover_axis(a, b), claim) if claim > 0.0 else None
        if cells is None or cells.complete or float(slab_widths(one, other, cells.lowest[None])[0]) <= -claim:
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
        others=np.concatenate([directions, -directions]),
        certificate=replace(proof, normal=normal, depth=proven_depth),
    )


def _named(shape: ConvexShape, feature: FlatFeature, direction: FloatArray, width: float) -> Feature:
    """Return the feature by its kind; of a polytope, and of a rounded one, with the vertices of it."""
    core = shape if isinstance(shape, Polytope) else shape.skeleton
    if core is not None:
        return support_feature(core, direction, width)
    return whole_feature(feature)
