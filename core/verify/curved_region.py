# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the region of a contact of curved shapes is the intersection of their support features.

Where no disk takes part it is that of two polytopes. Of a disk, points of both outlines are taken: those inside the
other feature must be in the region, and none of the region may be beside a feature.
"""

from __future__ import annotations

import numpy as np

from ..curved.curved_inside import support_points
from ..curved.curved_region import whole_feature
from ..narrow_phase.relation import contact_band
from ..region.region import Region, RegionKind
from ..result import Contact
from ..shapes.curved_shape import ConvexShape, FlatFeature
from ..shapes.feature import Feature, FeatureKind, support_feature
from ..shapes.hull import ConvexHull
from ..shapes.rounded import flat_feature
from ..tolerance import EPS, REGION_ROUNDING, VERIFY_OUTLINE
from ..types import FloatArray
from .bounds import rounding_of
from .check import Check
from .region import check_outlines, flat_hull, plane_across, segment_distances, supports

_TURN = 360
"""Points of a circle."""
_SIDE = 33
"""Points of a straight side."""

_WHOLE = "the region is the intersection of the support features"
_NAMES = "the features are the support features"
_DEPTHS = "the region's place and depths fit the support planes"


def check_curved_region(contact: Contact, a: ConvexShape, b: ConvexShape, tolerance: float) -> list[Check]:
    """Return the checks of the features, and of the region if there is one. `tolerance` is the promised one."""
    normal = contact.normal
    band = contact_band(a, b, contact.contact_tolerance)
    width = max(band, 2.0 * rounding_of(a, b))
    features = tuple(flat_feature(shape, direction, width) for shape, direction in ((a, normal), (b, -normal)))
    checks = [_check_features(contact, a, b, features, width)]
    region = contact._region_or_facing
    if region is None:
        return checks
    rounding = EPS * max(a.magnitude, b.magnitude)
    frame = plane_across(normal)
    points = features[0].points + a.rounding_radius * normal, features[1].points - b.rounding_radius * normal
    middle = 0.5 * contact.point_on_a + 0.5 * contact.point_on_b
    beside = float(np.abs((region.vertices[0] - middle) @ frame.T).max())
    # Where the features miss each other, the region is the middle of the witness points.
    at_witness = region.kind is RegionKind.POINT and beside <= tolerance
    round_one = features[0].disk_radius > 0.0 or features[1].disk_radius > 0.0
    missed = False
    if round_one:
        whole, missed = check_round(region, features, points, frame, VERIFY_OUTLINE * rounding, at_witness)
    else:
        hulls = ConvexHull(points[0]), ConvexHull(points[1])
        own = EPS * max(hull.magnitude for hull in hulls)
        sides = supports(*hulls, normal)
        whole = check_outlines(contact, region, sides, band, own, REGION_ROUNDING * rounding, frame)
    return [
        *checks,
        whole,
        *_check_depths(contact, region, a, b, features, tolerance, missed),
        _check_names(region, features, points, frame, VERIFY_OUTLINE * rounding, width + tolerance, at_witness),
    ]


def _check_features(
    contact: Contact, a: ConvexShape, b: ConvexShape, found: tuple[FlatFeature, ...], width: float
) -> Check:
    wanted: list[Feature] = []
    for shape, direction, feature in ((a, contact.normal, found[0]), (b, -contact.normal, found[1])):
        core = shape.skeleton
        wanted.append(whole_feature(feature) if core is None else support_feature(core, direction, width))
    ok = [contact.feature_a, contact.feature_b] == wanted
    detail = f"{contact.feature_a} and {contact.feature_b}, found {wanted[0]} and {wanted[1]}"
    return Check("the features that decided are the support features", ok, detail)


def _check_depths(
    contact: Contact,
    region: Region,
    a: ConvexShape,
    b: ConvexShape,
    features: tuple[FlatFeature, ...],
    tolerance: float,
    missed: bool,
) -> list[Check]:
    normal = contact.normal
    tops = support_points(a, normal[None])[0], support_points(b, -normal[None])[0]
    half_way = 0.5 * tops[0] + 0.5 * tops[1]
    # Level features are in the support planes, all others reach below them.
    tilt = 0.0
    for feature in features:
        tilt += float(np.ptp((feature.points - feature.points[0]) @ normal))
        if feature.disk_axis is not None:
            tilt += feature.disk_radius * float(np.linalg.norm(np.cross(feature.disk_axis, normal)))
    off = float(np.abs((region.vertices - half_way) @ normal).max())
    deeper = float(region.depths.max()) + contact.signed_distance
    shallower = -contact.signed_distance - float(region.depths.min())
    ok = off <= tilt + 2.0 * tolerance
    words = f"off by {off:.3g}, deeper by {deeper:.3g}, shallower by {shallower:.3g}, features tilted by {tilt:.3g}"
    if missed:
        name = "not checked: the depth where the support features miss each other"
        return [Check(_DEPTHS, ok and deeper <= 2.0 * tolerance, words), Check(name, True, words)]
    return [Check(_DEPTHS, ok and deeper <= 2.0 * tolerance and shallower <= tilt + 2.0 * tolerance, words)]


def _check_names(
    region: Region,
    features: tuple[FlatFeature, ...],
    points: tuple[FloatArray, ...],
    frame: FloatArray,
    tolerance: float,
    width: float,
    at_witness: bool,
) -> Check:
    """Each vertex of the region lies, in the contact plane, on the features it names.

    A normal within the promise is right to the root of it only, and the support point of a smooth surface is beside the
    best one by as much times the radius of curvature. An edge that is level then leans by as much, and its corner is
    named. Two edges along each other are moved onto the line between them. The witness points are not beside, and are
    on both shapes and realise the signed distance: checked elsewhere.
    """
    along = region.kind is RegionKind.SEGMENT and all(len(corners) == 2 for corners in points)
    allowed = width if along or len(region.vertices) == 1 else tolerance
    for side, (feature, corners) in enumerate(zip(features, points, strict=True)):
        whole = whole_feature(feature)
        for vertex, pair in zip(region.vertices, region.features, strict=True):
            named = pair[side]
            if named == whole and (feature.disk_radius > 0.0 or named.kind is FeatureKind.FACE or at_witness):
                continue
            if not set(named.vertices) <= set(feature.ids) or bool(named.vertices) != bool(feature.ids):
                return Check(_NAMES, False, f"{named} is not a part of {whole}")
            chosen = [k for k, name in enumerate(feature.ids) if name in named.vertices] or range(len(corners))
            outline = flat_hull((corners[list(chosen)] - corners[0]) @ frame.T)
            off = float(_beyond(((vertex - corners[0]) @ frame.T)[None], outline)[0])
            if named.kind is FeatureKind.VERTEX:
                off = float(np.abs((corners[list(chosen)] - vertex) @ frame.T).max(axis=1).min())
            if off > allowed or (not feature.ids and named.kind is not FeatureKind.VERTEX and named != whole):
                return Check(_NAMES, False, f"a vertex of the region is {off:.3g} beside {named}")
    return Check(_NAMES, True, f"{len(region.vertices)} vertices")


def check_round(
    region: Region,
    features: tuple[FlatFeature, ...],
    points: tuple[FloatArray, ...],
    frame: FloatArray,
    tolerance: float,
    at_witness: bool,
) -> tuple[Check, bool]:
    """Check the region where one feature at least is a disk; also tell whether the features miss each other."""
    origin = points[0][0]
    flat = [
        flat_hull((corners - origin) @ frame.T) if feature.disk_radius == 0.0 else (corners - origin) @ frame.T
        for feature, corners in zip(features, points, strict=True)
    ]
    radii = [feature.disk_radius for feature in features]
    vertices = (region.vertices - origin) @ frame.T
    beside = max(float(_beyond(vertices, flat[k], radii[k]).max()) for k in range(2))
    centers = [flat[k][0] for k in range(2) if radii[k] > 0.0]
    held = [
        spots[_beyond(spots, flat[1 - k], radii[1 - k]) <= -tolerance]
        if radii[1 - k] > 0.0 or len(flat[1 - k]) > 2
        else spots[:0]
        for k in range(2)
        for spots in (_outline(flat[k], radii[k], [*centers, *_feet(flat, radii)]),)
    ]
    inside = np.concatenate(held)
    if not len(inside) and beside > tolerance:
        return Check(_WHOLE, at_witness, f"the features miss each other, the region {beside:.3g} beside"), True
    if beside > tolerance:
        return Check(_WHOLE, False, f"it is {beside:.3g} beside a feature"), False
    limits = [_beyond(inside, vertices)] if region.kind is not RegionKind.POLYGON else []
    of_side = {arc.side: arc for arc in region.arcs}
    if region.kind is RegionKind.POLYGON:
        for k, start in enumerate(vertices):
            arc = of_side.get(k)
            if arc is None:
                x, y = vertices[(k + 1) % len(vertices)] - start
                length = float(np.hypot(x, y)) or 1.0
                limits.append((inside - start) @ np.array([y, -x]) / length)
                continue
            center = (arc.center - origin) @ frame.T
            known = any(
                radii[j] > 0.0 and np.hypot(*(center - flat[j][0])) + abs(arc.radius - radii[j]) <= tolerance
                for j in range(2)
            )
            if not known:
                return Check(_WHOLE, False, f"an arc of radius {arc.radius:.9g} belongs to no feature"), False
            limits.append(np.hypot(*(inside - center).T) - arc.radius)
    missing = max((float(off.max(initial=0.0)) for off in limits), default=0.0)
    words = f"it is {beside:.3g} beside a feature, {len(inside)} points of both are at most {missing:.3g} beyond it"
    return Check(_WHOLE, missing <= tolerance, words), False


def _feet(flat: list[FloatArray], radii: list[float]) -> list[FloatArray]:
    """Return the points of the lines of straight sides that are nearest to the centres of disks."""
    found: list[FloatArray] = []
    for k in range(2):
        if radii[k] == 0.0 or radii[1 - k] > 0.0:
            continue
        for start, end in zip(flat[1 - k], np.roll(flat[1 - k], -1, axis=0), strict=True):
            direction = end - start
            square = float(direction @ direction)
            if square > 0.0:
                found.append(start + float((flat[k][0] - start) @ direction) / square * direction)
    return found


def _outline(corners: FloatArray, radius: float, towards: list[FloatArray]) -> FloatArray:
    """Return points (k, 2) of an outline; of a circle also those towards and away from some points."""
    if radius > 0.0:
        turn = 2.0 * np.pi * np.arange(_TURN) / _TURN
        directions = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        extra = np.array([place - corners[0] for place in towards]).reshape(-1, 2)
        lengths = np.hypot(*extra.T)
        extra = extra[lengths > 0.0] / lengths[lengths > 0.0, None]
        return corners[0] + radius * np.concatenate([directions, extra, -extra])
    sides = np.linspace(corners, np.roll(corners, -1, axis=0), _SIDE).reshape(-1, 2)
    feet = [place[None] for place in towards if len(corners) > 1 and float(_beyond(place[None], corners)[0]) <= 0.0]
    return np.concatenate([sides, *feet])


def _beyond(points: FloatArray, corners: FloatArray, radius: float = 0.0) -> FloatArray:
    """Return how far points (k, 2) are outside of a disk, a polygon (counter-clockwise), a segment or a point."""
    if len(corners) == 1:
        return np.hypot(*(points - corners[0]).T) - radius
    if len(corners) == 2:
        return segment_distances(points, corners[None])
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*sides.T)
    normals = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return (points @ normals.T - (corners * normals).sum(axis=1)).max(axis=1)
