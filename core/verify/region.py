# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a contact region is the intersection of the two support features: nothing beside them, nothing missing.

All is done with support values in the contact plane, which are right however badly a direction is rounded:

* Nothing beside: along no direction does the region reach farther than a feature does.
* Nothing missing: each half-plane that bounds the region contains the intersection of the features. It does when it
  contains one of them, or, by the duality of linear programs in the plane, when the sum of two half-planes of
  the features is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import hypot
from typing import NamedTuple

import numpy as np

from ..narrow_phase.gjk import size_of_difference
from ..region.outline import on_one_line
from ..region.region import Region, RegionKind
from ..result import Contact
from ..runs import chunks
from ..shapes.feature import FeatureKind
from ..shapes.polytope import PRODUCTS, Polytope, intervals
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


class Support(NamedTuple):
    """A shape and its support plane across the normal, on the side of the other shape."""

    shape: Polytope
    height: float
    """Of the plane above the center of the shape."""
    below: FloatArray
    """(n,) how far each vertex is below the plane."""


def supports(a: Polytope, b: Polytope, normal: FloatArray) -> tuple[Support, Support]:
    """Return the support planes of A along the unit normal and of B against it."""
    heights = a._centred.dot(normal), b._centred.dot(-normal)
    top_a, top_b = (float(np.maximum.reduce(each)) for each in heights)
    return Support(a, top_a, top_a - heights[0]), Support(b, top_b, top_b - heights[1])


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
    contact: Contact,
    sides: tuple[Support, Support],
    band: float,
    tolerance: float,
    grain: float,
    exponent: int,
    area: float,
) -> list[Check]:
    """Return the checks of the region.

    `tolerance` is the promised one, `grain` the spacing of the smallest numbers. `area` is the region's, reported in
    the unit of the world, which is 2**exponent times that of the shapes: it can be too large or too small for float64.
    """
    region = contact._region_or_facing
    checks = [check_presence(contact, band)]
    if region is None:
        return checks
    rounding = EPS * max(side.shape.magnitude for side in sides)
    frame = plane_across(contact.normal)
    # Features reach this far below their support planes; `contact_region` widens them by the rounding of the normal.
    width = band + REGION_TILT * max(side.shape.extent for side in sides)
    return [
        *checks,
        *_check_place(contact, region, sides, tolerance, width + tolerance),
        *_check_measures(region, contact.normal, tolerance, exponent, area),
        check_outlines(contact, region, sides, band, rounding, grain, frame),
        _check_names(region, sides, width, tolerance, VERIFY_OUTLINE * (rounding + grain), frame),
    ]


def check_presence(contact: Contact, band: float) -> Check:
    """Return whether there is a region unless the shapes are separated."""
    wanted = contact.signed_distance <= max(band, contact.clearance)
    holds = (contact.region is not None) == wanted and not (wanted and contact._facing is not None)
    return Check("there is a region unless the shapes are separated", holds, f"region {contact.region is not None}")


def check_support_features(contact: Contact, sides: tuple[Support, Support], band: float, rounding: float) -> Check:
    """Return whether `feature_a` and `feature_b` are the support features along the normal.

    A vertex and an edge stand for all vertices within the feature's width of them.
    """
    width = max(band, SUPPORT_ROUNDING * EPS * size_of_difference(sides[0].shape, sides[1].shape))
    features = contact.feature_a, contact.feature_b
    for name, side, feature in zip("AB", sides, features, strict=True):
        assert feature is not None
        named = list(feature.vertices)
        low = max(side.below.take(named).tolist())
        if low > width + rounding:
            return Check(
                _SUPPORTED, False, f"{name}: {feature} is {low:.3g} below the support plane, width {width:.3g}"
            )
        left = set(np.flatnonzero(side.below <= width - rounding).tolist()).difference(named)
        if not left:
            continue
        if feature.kind is FeatureKind.FACE:
            return Check(_SUPPORTED, False, f"{name}: {len(left)} vertices of the support feature are not in {feature}")
        vertices = side.shape.vertices
        away = vertices[list(left)] - vertices[named[0]]
        if feature.kind is FeatureKind.EDGE:
            along = vertices[named[1]] - vertices[named[0]]
            along = along / max(float(np.linalg.norm(along)), np.finfo(np.float64).tiny)
            away = away - (away @ along)[:, None] * along
        off = float(np.sqrt((away * away).sum(axis=1).max()))
        if off > width + rounding:
            return Check(_SUPPORTED, False, f"{name}: the support feature is {off:.3g} wider than {feature}")
    return Check(_SUPPORTED, True, " and ".join(str(feature.kind) for feature in features if feature))


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


# ---------------------------------------------------------------------------------------------------------------------
# Place and measures


def _check_place(
    contact: Contact, region: Region, sides: tuple[Support, Support], tolerance: float, width: float
) -> list[Check]:
    normal, (a, b) = contact.normal, sides
    tops = a.shape.center + a.height * normal, b.shape.center - b.height * normal
    middle = 0.5 * tops[0] + 0.5 * tops[1]
    off = float(np.abs((region.vertices - middle).dot(normal)).max())
    depths = region.depths.tolist()
    too_deep, too_shallow = max(depths) + contact.signed_distance, -contact.signed_distance - min(depths)
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
    sides: tuple[Support, Support],
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
    extents = [side.shape.extent for side in sides]
    small = min(extents) or max(extents)
    tilt = min(REGION_SUPPORT * rounding / small, REGION_TILT) if small > 0.0 else 0.0
    bounding = _bounding(points, region.kind)
    first = ""
    seen: list[tuple[IntArray, IntArray]] = []
    for changes in product((0.0, -1.0, 1.0), repeat=2):
        parts = []
        for side, change in zip(sides, changes, strict=True):
            width = max(band, REGION_SUPPORT * rounding + tilt * side.shape.extent)
            vertices = np.flatnonzero(side.below <= max(width + change * _VERIFY_SAME_HEIGHT * rounding, 0.0))
            parts.append((vertices, flat_hull((side.shape.vertices.take(vertices, axis=0) - origin).dot(frame.T))))
        moved = _on_one_line(parts[0][1], parts[1][1], max(band, tolerance))
        outlines = [
            _Outline(vertices, corners, *_sides(corners)[:2])
            for (vertices, _), corners in zip(parts, moved, strict=True)
        ]
        chosen = (outlines[0].vertices, outlines[1].vertices)
        if any(all(map(np.array_equal, chosen, other)) for other in seen):
            continue
        seen.append(chosen)
        fault, is_beside = _fault(points, bounding, outlines, tolerance, least)
        if fault and _features_miss(outlines, least):
            # Where they miss each other nothing is missing; the region is beside neither, or is the middle of the
            # witness points.
            middle = 0.5 * contact.point_on_a + 0.5 * contact.point_on_b
            off = float(np.abs((middle - origin) @ frame.T).max())
            if not is_beside or (len(points) == 1 and off <= tolerance):
                fault = ""
        if not fault:
            return Check(_INTERSECTION, True, f"of {len(chosen[0])} and {len(chosen[1])} vertices")
        first = first or fault
    return Check(_INTERSECTION, False, first)


_INTERSECTION = "the region is the intersection of the support features"


def _on_one_line(a: FloatArray, b: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
    """Return two segments within `width` of the line between them moved onto it, other outlines unchanged."""
    if len(a) != 2 or len(b) != 2:
        return a, b
    ends = [[(x, y, 0.0, 0) for x, y in corners.tolist()] for corners in (a, b)]
    p, q = on_one_line(ends[0], ends[1], width)
    return np.array(p)[:, :2], np.array(q)[:, :2]


def _sides(corners: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the unit outward normals (m, 2), the lengths (m,) and the starts (m, 2) of the sides of an outline."""
    sides = np.concatenate((corners[1:], corners[:1])) - corners
    lengths = np.hypot(sides[:, 0], sides[:, 1])
    if not lengths.all():
        rows = np.flatnonzero(lengths)
        sides, lengths, corners = sides[rows], lengths[rows], corners[rows]
    return sides.dot(_RIGHT) / lengths[:, None], lengths, corners


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


def _fault(
    points: FloatArray,
    bounding: tuple[FloatArray, FloatArray, FloatArray],
    outlines: list[_Outline],
    tolerance: float,
    least: float,
) -> tuple[str, bool]:
    """Say how far the region reaches beside a feature, or how much of the intersection lies beyond the region, ""
    when neither; and whether it is beside."""
    normals, through, lengths = bounding
    directions = np.concatenate((_COMPASS, outlines[0].sides, outlines[1].sides, normals))
    own, *reaches = (intervals(directions, corners)[1] for corners in (points, *(o.corners for o in outlines)))
    for name, reach in zip("AB", reaches, strict=True):
        beside = float(np.maximum.reduce(own - reach))
        if beside > tolerance:
            return f"it is {beside:.3g} beside the feature of {name}, tolerance {tolerance:.3g}", True
    span = max(float(max(reach[0] + reach[8], reach[4] + reach[12])) for reach in reaches)
    # The direction of a short side is known only so well.
    slack = tolerance * (1.0 + span / lengths)
    heights = (normals * through).sum(axis=1)
    first = len(directions) - len(normals)
    if (own[first:] - heights > slack).any():
        return "its outline is not convex", False
    beyond = np.minimum(*reaches)[first:] - heights
    rows = np.flatnonzero(beyond > slack)
    for part in chunks(len(rows), PRODUCTS // (2 * _NEAREST) ** 2):
        chosen = rows[part]
        held = _held(normals[chosen], through[chosen], outlines, tolerance, slack[chosen], least)
        for k in chosen[~held].tolist():
            return f"up to {beyond[k]:.3g} is missing along {normals[k]}, tolerance {slack[k]:.3g}", False
    return "", False


def _bounding(points: FloatArray, kind: RegionKind) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the half-planes that bound a region: outward unit normals (k, 2), points (k, 2) on the lines, and lengths
    (k,) of these."""
    if kind is RegionKind.POINT:
        return _COMPASS[::4], points.repeat(4, axis=0), np.full(4, np.inf)
    normals, lengths, starts = _sides(points)
    if kind is RegionKind.POLYGON:
        return normals, starts, lengths
    # Of a segment these are the two sides, seen from above and below, and its ends.
    normals = np.concatenate((normals, normals.dot(_RIGHT)))
    return normals, np.concatenate((starts, starts)), np.concatenate((lengths, lengths))


def _held(
    directions: FloatArray,
    points: FloatArray,
    outlines: list[_Outline],
    tolerance: float,
    slack: FloatArray,
    least: float,
) -> BoolArray:
    """Return (k,) whether two sides of the features together keep their intersection from reaching beyond points
    (k, 2) along `directions`.

    With `direction = s p + t q`, p and q the normals of the two sides and s, t >= 0, what lies in both features reaches
    no farther along `direction` than s times the one and t times the other side does. Both sides may be of one feature:
    rounding moves a sharp tip far.
    """
    parts, row = [], np.arange(len(points))[:, None]
    for outline in outlines:
        gaps = outline.reach(outline.sides) - points.dot(outline.sides.T)
        nearest = np.argsort(gaps, axis=1, kind="stable")[:, :_NEAREST]
        parts.append((outline.sides.take(nearest, axis=0), gaps[row, nearest], outline.lengths.take(nearest)))
    p, gap, length = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    x, y = p[..., 0], p[..., 1]
    turn = x[:, :, None] * y[:, None] - y[:, :, None] * x[:, None]
    across = directions[:, :1] * y - directions[:, 1:] * x
    with np.errstate(divide="ignore", invalid="ignore"):
        s = across[:, None] / turn
        t = s.swapaxes(1, 2)
        beyond = s * (gap - tolerance)[:, :, None]
        holds = (np.minimum(s, t) >= 0.0) & (beyond + beyond.swapaxes(1, 2) <= slack[:, None, None])
        # Sides so nearly parallel that rounding decides where they cross hold nothing.
        holds &= least * np.maximum(s, t) <= np.minimum(length[:, :, None], length[:, None])
    return np.asarray(holds.any(axis=(1, 2)))


def _features_miss(outlines: list[_Outline], margin: float) -> bool:
    """Return whether a line separates the two features by more than `margin`."""
    directions = np.concatenate((_COMPASS, outlines[0].sides, -outlines[1].sides))
    gap = -outlines[0].reach(directions) - outlines[1].reach(-directions)
    return bool(gap.max() > margin)


# ---------------------------------------------------------------------------------------------------------------------
# The names of the features


def _check_names(
    region: Region, sides: tuple[Support, Support], width: float, promised: float, tolerance: float, frame: FloatArray
) -> Check:
    """Each vertex of the region lies, in the contact plane, on the two features it names."""
    width = width + tolerance
    origin = region.vertices[0]
    points = (region.vertices - origin).dot(frame.T)
    # The features of one point may miss each other, and an edge or a vertex then stands for all within the width of it.
    # Two edges along each other are moved onto the line between them.
    of_edges = all(feature.kind is not FeatureKind.FACE for pair in region.features for feature in pair)
    allowed = width + promised if of_edges or len(points) == 1 else tolerance
    for name, side, features in zip("AB", sides, zip(*region.features, strict=True), strict=True):
        faces = {id(feature): feature for feature in features if feature.kind is FeatureKind.FACE}
        for feature in faces.values():
            named = side.shape.vertices.take(feature.vertices, axis=0) - origin
            off = _beside_face(points[[other is feature for other in features]], named.dot(frame.T))
            low = max(side.below.take(feature.vertices).tolist())
            if off > allowed or low > width:
                return Check(_NAMED, False, f"{off:.3g} beside or {low:.3g} below a face of {name}")
        there = [k for k, feature in enumerate(features) if feature.kind is not FeatureKind.FACE]
        if there:
            ends = np.array([(features[k].vertices[0], features[k].vertices[-1]) for k in there])
            named = side.shape.vertices.take(ends, axis=0) - origin
            off = max(segment_distances(points[there], named.dot(frame.T)).tolist())
            low = float(side.below.take(ends).max())
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
