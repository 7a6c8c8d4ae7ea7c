# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a contact region is the intersection of the two support features: nothing beside them, nothing missing.

All is done with support values in the contact plane, which are right however badly a direction is rounded:

* Nothing beside: along no direction does the region reach farther than a feature does.
* Nothing missing: each half-plane that bounds the region contains the intersection of the features. It does when it
  contains one of them, or, by the duality of linear programs in the plane, when the sum of two half-planes of
  the features is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import hypot, inf

import numpy as np

from ..narrow_phase.gjk import size_of_difference
from ..narrow_phase.relation import contact_band
from ..region.outline import on_one_line
from ..region.region import Region, RegionKind
from ..result import Contact
from ..shapes.feature import FeatureKind
from ..shapes.polytope import Polytope, intervals
from ..tolerance import EPS, REGION_SUPPORT, REGION_TILT, SUPPORT_ROUNDING, VERIFY_OUTLINE, VERIFY_REGION
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross
from .check import Check

_VERIFY_MISS = 4.0
"""Times EPS M: features separated by more have no common point, and sides that part by more over their length are not
parallel. Less than REGION_ROUNDING."""
_VERIFY_SAME_HEIGHT = 16.0
"""Times EPS M: a vertex this near to the edge of a support feature's width may be in the feature or not."""

_COMPASS = np.array([[np.cos(turn), np.sin(turn)] for turn in np.arange(16) * np.pi / 8.0])
_RIGHT = np.array([[0.0, -1.0], [1.0, 0.0]])
"""Turns rows by a quarter to the right."""
_NEAREST = 48  # sides looked at where a point must be held by two of them; those that touch it come first


@dataclass(frozen=True, eq=False)
class _Outline:
    """A support feature in the contact plane."""

    vertices: IntArray
    """(k,) which vertices of the shape, those within the feature's width of its support plane."""
    corners: FloatArray
    """(m, 2) the corners of their convex hull, counter-clockwise; (2, 2) of a segment."""
    sides: FloatArray
    """(m, 2) unit outward normals of its sides; of a segment there are two, of a point none."""
    lengths: FloatArray
    """(m,) lengths of the sides."""

    def reach(self, directions: FloatArray) -> FloatArray:
        """Return the support values (k,) along `directions` (k, 2)."""
        return intervals(directions, self.corners)[1]


def check_region(
    contact: Contact, a: Polytope, b: Polytope, tolerance: float, grain: float, exponent: int, area: float
) -> list[Check]:
    """Return the checks of the region.

    `tolerance` is the promised one, `grain` the spacing of the smallest numbers. `area` is the region's, reported in
    the unit of the world, which is 2**exponent times that of the shapes: it can be too large or too small for float64.
    """
    band = contact_band(a, b, contact.contact_tolerance)
    region = contact._region_or_facing
    checks = [check_presence(contact, band)]
    if region is None:
        return checks
    rounding = EPS * max(a.magnitude, b.magnitude)
    frame = plane_across(contact.normal)
    return [
        *checks,
        *_check_place(contact, region, a, b, tolerance, band),
        *_check_measures(region, contact.normal, tolerance, exponent, area),
        check_outlines(contact, region, a, b, band, rounding, grain, frame),
        _check_names(contact, region, a, b, band, tolerance, rounding + grain, frame),
    ]


def check_presence(contact: Contact, band: float) -> Check:
    """Return whether there is a region unless the shapes are separated."""
    wanted = contact.signed_distance <= max(band, contact.clearance)
    holds = (contact.region is not None) == wanted and not (wanted and contact._facing is not None)
    return Check("there is a region unless the shapes are separated", holds, f"region {contact.region is not None}")


def check_support_features(contact: Contact, a: Polytope, b: Polytope, rounding: float) -> Check:
    """Return whether `feature_a` and `feature_b` are the support features along the normal.

    A vertex and an edge stand for all vertices within the feature's width of them.
    """
    band = contact_band(a, b, contact.contact_tolerance)
    width = max(band, SUPPORT_ROUNDING * EPS * size_of_difference(a, b))
    kinds: list[str] = []
    for name, shape, direction, feature in (
        ("A", a, contact.normal, contact.feature_a),
        ("B", b, -contact.normal, contact.feature_b),
    ):
        assert feature is not None
        kinds.append(str(feature.kind))
        below = _below(shape, direction)
        named = list(feature.vertices)
        low = float(below[named].max())
        if low > width + rounding:
            return Check(
                _SUPPORTED, False, f"{name}: {feature} is {low:.3g} below the support plane, width {width:.3g}"
            )
        alone = np.flatnonzero(below <= width - rounding)
        if feature.kind is FeatureKind.FACE:
            left = len(set(alone.tolist()).difference(named))
            if left:
                return Check(_SUPPORTED, False, f"{name}: {left} vertices of the support feature are not in {feature}")
            continue
        away = shape.vertices[alone] - shape.vertices[named[0]]
        if feature.kind is FeatureKind.EDGE:
            along = shape.vertices[named[1]] - shape.vertices[named[0]]
            along = along / max(float(np.linalg.norm(along)), np.finfo(np.float64).tiny)
            away = away - (away @ along)[:, None] * along
        off = float(np.sqrt((away * away).sum(axis=1).max(initial=0.0)))
        if off > width + rounding:
            return Check(_SUPPORTED, False, f"{name}: the support feature is {off:.3g} wider than {feature}")
    return Check(_SUPPORTED, True, " and ".join(kinds))


_SUPPORTED = "the features that decided are the support features"


def plane_across(normal: FloatArray) -> FloatArray:
    """Return two unit vectors (2, dim) across the normal; in the plane the second is zero."""
    if len(normal) == 2:
        return np.array([[-normal[1], normal[0]], [0.0, 0.0]])
    # Across the normal and the axis farthest from it.
    x, y, z = normal.tolist()
    u, v, w = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))[int(np.abs(normal).argmin())]
    length = hypot(u, v, w) or 1.0
    u, v, w = u / length, v / length, w / length
    return np.array([[u, v, w], [y * w - z * v, z * u - x * w, x * v - y * u]])


def _below(shape: Polytope, direction: FloatArray) -> FloatArray:
    """Return how far (n,) each vertex is below the support plane of `shape` along the unit `direction`."""
    heights = shape._centred.dot(direction)
    return heights.max() - heights


# ---------------------------------------------------------------------------------------------------------------------
# Place and measures


def _check_place(
    contact: Contact, region: Region, a: Polytope, b: Polytope, tolerance: float, band: float
) -> list[Check]:
    planes = []
    for shape, unit in ((a, contact.normal), (b, -contact.normal)):
        reach = float((shape._centred @ unit).max())
        heights = (region.vertices - shape.center) @ unit
        planes.append(region.vertices + (reach - heights)[:, None] * unit)
    off = float(np.abs(0.5 * (planes[0] + planes[1]) - region.vertices).max())
    # Features reach this far below their support planes; `contact_region` widens them by the rounding of the normal.
    width = band + tolerance + REGION_TILT * max(a.extent, b.extent)
    too_deep = float(region.depths.max()) + contact.signed_distance
    too_shallow = -contact.signed_distance - float(region.depths.min())
    return [
        Check("the region is half-way between the support planes", off <= 2.0 * tolerance, f"off by {off:.3g}"),
        Check(
            "the region's depths fit",
            too_deep <= tolerance and too_shallow <= 2.0 * width,
            f"deeper by {too_deep:.3g}, shallower by {too_shallow:.3g}",
        ),
    ]


def _check_measures(
    region: Region, normal: FloatArray, tolerance: float, exponent: int, reported: float
) -> list[Check]:
    area, length, centroid = measure(region.vertices, region.kind, normal)
    longest = float(np.abs(region.vertices - region.vertices[0]).max())
    with np.errstate(over="ignore"):
        world, slack = np.ldexp([area, VERIFY_REGION * area + tolerance * longest], 2 * exponent).tolist()
    area_fits = reported == world or abs(reported - world) <= slack + float(np.finfo(np.float64).tiny)
    length_fits = abs(region.length - length) <= VERIFY_REGION * length + tolerance
    centroid_off = float(np.abs(region.centroid - centroid).max())
    # The centroid of a thin polygon is as uncertain along it as its thickness is.
    blur = 0.0
    if region.kind is RegionKind.POLYGON:
        blur = tolerance * longest * longest / area if area > tolerance * longest else longest
    return [
        Check(
            "the region's size is that of its outline",
            area_fits and length_fits,
            f"area {reported:.17g}, measured {world:.17g}; length {region.length:.17g}, measured {length:.17g}",
        ),
        Check(
            "the region's centroid is that of its outline",
            centroid_off <= VERIFY_REGION * longest + 2.0 * tolerance + blur,
            f"off by {centroid_off:.3g}",
        ),
    ]


def measure(outline: FloatArray, kind: RegionKind, normal: FloatArray) -> tuple[float, float, FloatArray]:
    """Return area, length (of a polygon: of its outline) and centroid of a region from its outline (m, dim)."""
    first = outline[0]
    v = outline - first
    if kind is not RegionKind.POLYGON:
        return 0.0, float(np.linalg.norm(v[-1])), first + 0.5 * v[-1]
    following = np.concatenate((v[1:], v[:1]))
    sides = following - v
    length = float(np.sqrt((sides * sides).sum(axis=1)).sum())
    doubled = normal.dot(cross(v.T, following.T))
    area = 0.5 * float(doubled.sum())
    if area <= 0.0:
        return area, length, first + v.mean(axis=0)
    return area, length, first + (doubled[:, None] * (v + following)).sum(axis=0) / (6.0 * area)


# ---------------------------------------------------------------------------------------------------------------------
# Nothing beside the features, nothing missing


def check_outlines(
    contact: Contact,
    region: Region,
    a: Polytope,
    b: Polytope,
    band: float,
    rounding: float,
    grain: float,
    frame: FloatArray,
) -> Check:
    """Compare the region with the support features, which are the vertices within a width of the support planes.

    A vertex at the edge of that width is in or out by rounding: what fits a slightly wider or narrower one is right.
    """
    origin = region.vertices[0]
    tolerance = VERIFY_OUTLINE * rounding + 4.0 * grain
    least = _VERIFY_MISS * rounding
    points = (region.vertices - origin) @ frame.T
    small = min(a.extent, b.extent) or max(a.extent, b.extent)
    tilt = min(REGION_SUPPORT * rounding / small, REGION_TILT) if small > 0.0 else 0.0
    first = ""
    seen: list[tuple[IntArray, IntArray]] = []
    for changes in product((0.0, -1.0, 1.0), repeat=2):
        outlines: list[_Outline] = []
        for shape, unit, change in ((a, contact.normal, changes[0]), (b, -contact.normal, changes[1])):
            width = max(band, REGION_SUPPORT * rounding + tilt * shape.extent) + change * _VERIFY_SAME_HEIGHT * rounding
            outlines.append(_outline(shape, _below(shape, unit) <= max(width, 0.0), origin, frame))
        outlines = _on_one_line(outlines, max(band, tolerance))
        chosen = (outlines[0].vertices, outlines[1].vertices)
        if any(all(map(np.array_equal, chosen, other)) for other in seen):
            continue
        seen.append(chosen)
        beside = _beside(points, outlines, tolerance)
        fault = beside or _missing(points, region.kind, outlines, tolerance, least)
        if fault and _features_miss(outlines, least):
            # Where they miss each other nothing is missing; the region is beside neither, or is the middle of the
            # witness points.
            middle = 0.5 * contact.point_on_a + 0.5 * contact.point_on_b
            off = float(np.abs((middle - origin) @ frame.T).max())
            if not beside or (len(points) == 1 and off <= tolerance):
                fault = ""
        if not fault:
            return Check(_INTERSECTION, True, f"of {len(chosen[0])} and {len(chosen[1])} vertices")
        first = first or fault
    return Check(_INTERSECTION, False, first)


_INTERSECTION = "the region is the intersection of the support features"


def _outline(shape: Polytope, chosen: BoolArray, origin: FloatArray, frame: FloatArray) -> _Outline:
    vertices = np.flatnonzero(chosen)
    points = (shape.vertices[vertices] - origin) @ frame.T
    corners = flat_hull(points)
    return _Outline(vertices, corners, *_sides(corners))


def _on_one_line(outlines: list[_Outline], width: float) -> list[_Outline]:
    """Return two segments within `width` of the line between them moved onto it, other outlines unchanged."""
    ends = [[(x, y, 0.0, 0) for x, y in outline.corners.tolist()] for outline in outlines]
    moved = [np.array([point[:2] for point in points]) for points in on_one_line(ends[0], ends[1], width)]
    return [
        _Outline(outline.vertices, corners, *_sides(corners)) for outline, corners in zip(outlines, moved, strict=True)
    ]


def _sides(corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the unit outward normals (m, 2) and the lengths (m,) of the sides of an outline."""
    sides = np.concatenate((corners[1:], corners[:1])) - corners
    lengths = np.hypot(sides[:, 0], sides[:, 1])
    if not lengths.all():
        sides, lengths = sides[lengths > 0.0], lengths[lengths > 0.0]
    return sides.dot(_RIGHT) / lengths[:, None], lengths


def flat_hull(points: FloatArray) -> FloatArray:
    """Return the corners of the convex hull of points (k, 2) in the plane, counter-clockwise (monotone chain)."""
    ordered = sorted(set(map(tuple, points.tolist())))
    if len(ordered) < 3:
        return np.array(ordered)
    loop: list[tuple[float, float]] = []
    for half in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for x, y in half:
            while len(chain) > 1:
                (px, py), (qx, qy) = chain[-2:]
                if (qx - px) * (y - qy) - (qy - py) * (x - qx) > 0.0:
                    break
                chain.pop()
            chain.append((x, y))
        loop += chain[:-1]
    return np.array(loop)


def _beside(points: FloatArray, outlines: list[_Outline], tolerance: float) -> str:
    """Say how far the region reaches beside a feature, "" when it does not."""
    for name, outline in zip("AB", outlines, strict=True):
        directions = np.concatenate((_COMPASS, outline.sides))
        beside = float((intervals(directions, points)[1] - outline.reach(directions)).max())
        if beside > tolerance:
            return f"it is {beside:.3g} beside the feature of {name}, tolerance {tolerance:.3g}"
    return ""


def _missing(points: FloatArray, kind: RegionKind, outlines: list[_Outline], tolerance: float, least: float) -> str:
    """Say how much of the intersection lies beyond the region, "" when nothing does."""
    span = max(float(np.ptp(outline.corners, axis=0).max()) for outline in outlines)
    for direction, through, length in _bounding(points, kind):
        # The direction of a short side is known only so well.
        slack = tolerance * (1.0 + span / length)
        if float((points @ direction).max()) - float(through @ direction) > slack:
            return "its outline is not convex"
        beyond = min(float((o.corners @ direction).max()) for o in outlines) - float(through @ direction)
        if beyond > slack and not _held(direction, through, outlines, tolerance, slack, least):
            return f"up to {beyond:.3g} is missing along {direction}, tolerance {slack:.3g}"
    return ""


def _bounding(points: FloatArray, kind: RegionKind) -> Iterator[tuple[FloatArray, FloatArray, float]]:
    """The half-planes that bound a region: outward unit normal, a point on the line, and its length."""
    if kind is RegionKind.POINT:
        for direction in _COMPASS[::4]:
            yield direction, points[0], inf
        return
    # Of a segment these are the two sides, seen from above and below.
    for start, end in zip(points, np.concatenate((points[1:], points[:1])), strict=True):
        x, y = (end - start).tolist()
        length = hypot(x, y)
        if length == 0.0:
            continue
        yield np.array([y, -x]) / length, start, length
        if kind is RegionKind.SEGMENT:
            yield np.array([x, y]) / length, end, length


def _held(
    direction: FloatArray, point: FloatArray, outlines: list[_Outline], tolerance: float, slack: float, least: float
) -> bool:
    """Return whether two sides of the features together keep their intersection from reaching beyond a point.

    With `direction = s p + t q`, p and q the normals of the two sides and s, t >= 0, what lies in both features reaches
    no farther along `direction` than s times the one and t times the other side does. Both sides may be of one feature:
    rounding moves a sharp tip far.
    """
    normals, gaps, lengths = [], [], []
    for outline in outlines:
        gap = outline.reach(outline.sides) - outline.sides @ point
        nearest = np.argsort(gap, kind="stable")[:_NEAREST]
        normals.append(outline.sides[nearest])
        gaps.append(gap[nearest])
        lengths.append(outline.lengths[nearest])
    p, gap, length = np.concatenate(normals), np.concatenate(gaps), np.concatenate(lengths)
    turn = p[:, :1] * p[:, 1] - p[:, 1:] * p[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (direction[0] * p[:, 1] - direction[1] * p[:, 0]) / turn
        t = (p[:, :1] * direction[1] - p[:, 1:] * direction[0]) / turn
        holds = (s >= 0.0) & (t >= 0.0) & (s * gap[:, None] + t * gap <= tolerance * (s + t) + slack)
        # Sides so nearly parallel that rounding decides where they cross hold nothing.
        holds &= least * np.maximum(s, t) <= np.minimum(length[:, None], length)
    return bool(holds.any())


def _features_miss(outlines: list[_Outline], margin: float) -> bool:
    """Return whether a line separates the two features by more than `margin`."""
    directions = np.concatenate((_COMPASS, outlines[0].sides, -outlines[1].sides))
    gap = -outlines[0].reach(directions) - outlines[1].reach(-directions)
    return bool(gap.max() > margin)


# ---------------------------------------------------------------------------------------------------------------------
# The names of the features


def _check_names(
    contact: Contact,
    region: Region,
    a: Polytope,
    b: Polytope,
    band: float,
    promised: float,
    rounding: float,
    frame: FloatArray,
) -> Check:
    """Each vertex of the region lies, in the contact plane, on the two features it names."""
    tolerance = VERIFY_OUTLINE * rounding
    width = band + tolerance + REGION_TILT * max(a.extent, b.extent)
    origin = region.vertices[0]
    points = (region.vertices - origin) @ frame.T
    # The features of one point may miss each other, and an edge or a vertex then stands for all within the width of it.
    # Two edges along each other are moved onto the line between them.
    of_edges = all(feature.kind is not FeatureKind.FACE for pair in region.features for feature in pair)
    allowed = width + promised if of_edges or len(points) == 1 else tolerance
    for side, (name, shape, unit) in enumerate((("A", a, contact.normal), ("B", b, -contact.normal))):
        below = _below(shape, unit)
        plane = (shape.vertices - origin) @ frame.T
        features = [pair[side] for pair in region.features]
        faces = {id(feature): feature for feature in features if feature.kind is FeatureKind.FACE}
        for feature in faces.values():
            there = [k for k, other in enumerate(features) if other is feature]
            named = list(feature.vertices)
            off, low = _beside_face(points[there], plane[named]), float(below[named].max())
            if off > allowed or low > width:
                return Check(_NAMED, False, f"{off:.3g} beside or {low:.3g} below a face of {name}")
        there = [k for k, feature in enumerate(features) if feature.kind is not FeatureKind.FACE]
        if there:
            ends = np.array([(features[k].vertices[0], features[k].vertices[-1]) for k in there])
            off, low = float(segment_distances(points[there], plane[ends]).max()), float(below[ends].max())
            if off > allowed or low > width:
                return Check(_NAMED, False, f"{off:.3g} beside or {low:.3g} below an edge or vertex of {name}")
    return Check(_NAMED, True, f"{len(points)} vertices")


_NAMED = "the region's vertices lie on the features they name"


def _beside_face(points: FloatArray, corners: FloatArray) -> float:
    directions = np.concatenate((_COMPASS, _sides(flat_hull(corners))[0]))
    return float((intervals(directions, points)[1] - intervals(directions, corners)[1]).max())


def segment_distances(points: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the distances (k,) of points (k, dim) from segments (k, 2, dim), whose ends can be one point."""
    away, along = points - ends[:, 0], ends[:, 1] - ends[:, 0]
    squared = np.maximum((along * along).sum(axis=1), np.finfo(np.float64).tiny)
    fraction = np.minimum(np.maximum((away * along).sum(axis=1) / squared, 0.0), 1.0)
    off = away - fraction[:, None] * along
    return np.asarray(np.sqrt((off * off).sum(axis=1)))
