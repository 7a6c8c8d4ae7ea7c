# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact region: where the two support features meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import hypot, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from .feature import Feature, FeatureKind
from .polytope import FloatArray, Polytope, extreme_exponent
from .tolerance import EPS, REGION_ROUNDING, REGION_SHARP, REGION_SUPPORT, REGION_TILT


class RegionKind(StrEnum):
    """What the contact region is."""

    POINT = "point"
    SEGMENT = "segment"
    POLYGON = "polygon"


@dataclass(frozen=True, eq=False)
class Region:
    """Intersection of the two support features in the contact plane. Source: S2.2 to S2.6.

    The contact plane is across the contact normal, half-way between the two support planes, so that swapping the
    shapes changes nothing.
    """

    kind: RegionKind
    vertices: FloatArray
    """(k, dim) world frame; 1 point, 2 ends of a segment, or a convex polygon counter-clockwise seen from the tip
    of the normal."""
    area: float
    """Area of the polygon, world units squared; 0.0 for a point or a segment."""
    length: float
    """Length of the segment or perimeter of the polygon, world units; 0.0 for a point."""
    centroid: FloatArray
    """(dim,) area centroid of the polygon, middle of the segment, or the point."""
    depths: FloatArray
    """(k,) how far the two features are inside each other along the normal at each vertex: > 0 penetrating.

    No depth is more than minus the signed distance; where both features lie flat in their support planes, every
    depth is equal to it."""
    features: tuple[tuple[Feature, Feature], ...]
    """For each vertex, the feature of A and the feature of B it lies on."""

    def scaled(self, exponent: int) -> Region:
        """Return the region of the shapes scaled by 2**exponent; an area beyond float64 is infinite."""
        with np.errstate(over="ignore"):
            area = float(np.ldexp(self.area, 2 * exponent))
        return replace(
            self,
            vertices=np.ldexp(self.vertices, exponent),
            area=area,
            length=float(np.ldexp(self.length, exponent)),
            centroid=np.ldexp(self.centroid, exponent),
            depths=np.ldexp(self.depths, exponent),
        )


# Points of a support feature in the contact plane: (x, y, height along the axis, index of the vertex in its shape).
_Point = tuple[float, float, float, int]

# A corner of the region: (x, y, place on the one outline, place on the other, the side that leaves it).
# A place on an outline is 2k for its corner k, 2k + 1 for the side from corner k to the next, _INSIDE for the rest.
# The side that leaves is k for side k of the subject of the clipping and ~k for side k of the clipping polygon.
_Corner = tuple[float, float, int, int, int]

_INSIDE = -1

# Looking up a member of an enumeration costs more than the arithmetic around it.
_VERTEX, _EDGE, _FACE = FeatureKind
_POINT, _SEGMENT, _POLYGON = RegionKind

# Up to here plain Python beats numpy: vertices of a shape to select from, corners to wind, pairs of sides to intersect.
_FEW_VERTICES = 48
_FEW_CORNERS = 14
_FEW_PAIRS = 250


def contact_region(
    a: Polytope,
    b: Polytope,
    normal: FloatArray,
    feature_width: float,
    point_on_a: FloatArray,
    point_on_b: FloatArray,
) -> Region:
    """Intersect the support features of two shapes in their contact plane. Source: S2.2 to S2.6.

    Args:
        a: the first shape, in space or in the plane.
        b: the second shape, of the same dimension.
        normal: (dim,) unit contact normal from A to B, world frame.
        feature_width: vertices of A no farther than this below its highest along the normal belong to its support
            feature, and likewise the lowest of B; world units, >= 0. It is widened to the rounding error of the
            coordinates, so that 0 selects the exact faces.
        point_on_a: (dim,) witness point on A, world frame.
        point_on_b: (dim,) witness point on B.

    Returns:
        The region, never empty. Where the features miss each other the region is the middle of the two witness
        points and names the whole support features. Exchanging A and B (and the sign of the normal) gives the same
        vertices in reverse order.

    Raises:
        ValueError: `normal` is zero or not finite.
    """
    exponent = extreme_exponent(a, b)
    if exponent:
        return contact_region(
            a.scaled(-exponent),
            b.scaled(-exponent),
            normal,
            float(np.ldexp(feature_width, -exponent)),
            np.ldexp(point_on_a, -exponent),
            np.ldexp(point_on_b, -exponent),
        ).scaled(exponent)
    magnitude = max(a.magnitude, b.magnitude)
    flat = len(normal) == 2
    if flat:
        nx, ny = normal.tolist()
        ax, ay = point_on_a.tolist()
        bx, by = point_on_b.tolist()
        nz = az = bz = 0.0
    else:
        nx, ny, nz = normal.tolist()
        ax, ay, az = point_on_a.tolist()
        bx, by, bz = point_on_b.tolist()
    size = sqrt(nx * nx + ny * ny + nz * nz)
    if not 0.0 < size < inf:
        raise ValueError("normal must be a finite vector that is not zero")

    # Work along the axis of the normal that points up, with the shapes in that order: (A, B, n) and (B, A, -n) are
    # then the very same computation, and only the last lines tell them apart.
    turned = nz < 0.0 or (nz == 0.0 and (ny < 0.0 or (ny == 0.0 and nx < 0.0)))
    if turned:
        size = -size
    nx, ny, nz = nx / size + 0.0, ny / size + 0.0, nz / size + 0.0
    if flat:
        # The contact plane of the plane is a line: y stays 0.
        sx, sy, sz, tx, ty, tz = ny, -nx, 0.0, 0.0, 0.0, 1.0
    else:
        # Smooth wherever nz >= 0, exact for the coordinate axes.
        down = -1.0 / (1.0 + nz)
        mixed = nx * ny * down
        sx, sy, sz = 1.0 + nx * nx * down, mixed, -nx
        tx, ty, tz = mixed, 1.0 + ny * ny * down, -ny
    # The middle of the witness points is in or beside the region: coordinates about it lose nothing far from the
    # world's origin.
    ox, oy, oz = 0.5 * ax + 0.5 * bx, 0.5 * ay + 0.5 * by, 0.5 * az + 0.5 * bz

    rounding = EPS * magnitude
    frame = (ox, oy, oz, sx, sy, sz, tx, ty, tz, nx, ny, nz)
    slack = REGION_SUPPORT * rounding
    # The normal carries the rounding of the smaller shape's coordinates, and tilts the larger shape's face by it.
    small = min(a.extent, b.extent) or max(a.extent, b.extent)
    tilt = min(slack / small, REGION_TILT) if small > 0.0 else 0.0
    points_a = _support_points(a, normal, True, max(feature_width, slack + tilt * a.extent), frame)
    points_b = _support_points(b, normal, False, max(feature_width, slack + tilt * b.extent), frame)

    tolerance = REGION_ROUNDING * rounding
    lower = _Outline(points_b if turned else points_a, True, slack, tolerance)
    upper = _Outline(points_a if turned else points_b, False, slack, tolerance)
    corners = _intersection(lower.loop, upper.loop, tolerance)
    measures = _measures(corners, tolerance)
    if measures is None:
        corners = _tidied(corners, tolerance)
        measures = _measures(corners, -inf)
    deepest = lower.support - upper.support
    middle = 0.5 * (lower.support + upper.support)

    if measures is None:
        # The features miss each other at the rounding limit: the witness points are the contact.
        x = y = middle = area = length = 0.0
        kind = _POINT
        depths = [deepest]
        pairs = [(lower.feature(_INSIDE), upper.feature(_INSIDE))]
        corners = [(0.0, 0.0, _INSIDE, _INSIDE, 0)]
    else:
        kind, area, length, x, y = measures
        if lower.level and upper.level:
            depths = [deepest] * len(corners)
        else:
            depths = [lower.height(place, x_, y_) - upper.height(other, x_, y_) for x_, y_, place, other, _ in corners]
        of_lower, of_upper = lower.features, upper.features
        pairs = []
        for _, _, place, other, _ in corners:
            pairs.append((of_lower.get(place) or lower.feature(place), of_upper.get(other) or upper.feature(other)))

    ox, oy, oz = ox + middle * nx, oy + middle * ny, oz + middle * nz
    if turned:
        corners.reverse()
        depths.reverse()
        pairs = [(second, first) for first, second in reversed(pairs)]
    vertices: list[tuple[float, ...]]
    if flat:
        vertices = [(ox + u * sx, oy + u * sy) for u, _, _, _, _ in corners]
        centroid = [ox + x * sx, oy + x * sy]
    else:
        vertices = [(ox + u * sx + v * tx, oy + u * sy + v * ty, oz + u * sz + v * tz) for u, v, _, _, _ in corners]
        centroid = [ox + x * sx + y * tx, oy + x * sy + y * ty, oz + x * sz + y * tz]
    return Region(
        kind,
        np.array(vertices),
        area,
        length,
        np.array(centroid),
        np.array(depths),
        tuple(pairs),
    )


def _support_points(
    shape: Polytope,
    normal: FloatArray,
    top: bool,
    width: float,
    frame: tuple[float, ...],
) -> list[_Point]:
    """The vertices within `width` of the highest (`top`) or lowest along the normal, in the frame of the contact."""
    heights = shape.centred.dot(normal)
    if len(heights) <= _FEW_VERTICES:
        values = heights.tolist()
        if top:
            limit = max(values) - width
            chosen = [i for i, value in enumerate(values) if value >= limit]
        else:
            limit = min(values) + width
            chosen = [i for i, value in enumerate(values) if value <= limit]
        rows = shape.rows
        ox, oy, oz, sx, sy, sz, tx, ty, tz, nx, ny, nz = frame
        points = []
        for i in chosen:
            x, y, z = rows[i]
            x -= ox
            y -= oy
            z -= oz
            points.append(
                (
                    x * sx + y * sy + z * sz,
                    x * tx + y * ty + z * tz,
                    x * nx + y * ny + z * nz,
                    i,
                )
            )
        return points
    if top:
        indices = (heights >= heights[heights.argmax()] - width).nonzero()[0]
    else:
        indices = (heights <= heights[heights.argmin()] + width).nonzero()[0]
    dim = len(normal)
    basis = np.array(frame[3:]).reshape(3, 3)[:, :dim]
    local = (shape.vertices[indices] - np.array(frame[:dim])).dot(basis.T)
    return [(x, y, z, i) for (x, y, z), i in zip(local.tolist(), indices.tolist(), strict=True)]


class _Outline:
    """A support feature in the contact plane: its convex outline and its heights along the axis."""

    __slots__ = ("_plane", "_points", "_top", "features", "level", "loop", "support")

    def __init__(self, points: list[_Point], top: bool, slack: float, tolerance: float) -> None:
        self._points = points
        self._top = top
        heights = [p[2] for p in points]
        highest, lowest = max(heights), min(heights)
        self.support = highest if top else lowest
        # Heights that differ by rounding only are one height: the depth over a flat face is one number.
        self.level = highest - lowest <= slack
        self.loop = _wound(points, top, tolerance)
        self.features: dict[int, Feature] = {}
        self._plane: tuple[float, float, float, float, float] | None = None

    def feature(self, place: int) -> Feature:
        """The vertex, edge or face of the shape at this place of the outline; kept in `features`."""
        loop = self.loop
        count = len(loop)
        if place == _INSIDE and count > 2:
            # Counter-clockwise seen from outside of the shape, as its facets are.
            indices = [p[3] for p in loop]
            named = Feature(_FACE, tuple(indices if self._top else indices[::-1]))
        elif count == 1 or (place >= 0 and place % 2 == 0):
            named = Feature(_VERTEX, (loop[place >> 1][3],))
        else:
            # Of a segment there is one side, whatever the place says.
            first, second = loop[place >> 1][3], loop[(place >> 1) + 1 - count][3]
            named = Feature(_EDGE, (first, second) if first < second else (second, first))
        self.features[place] = named
        return named

    def height(self, place: int, x: float, y: float) -> float:
        """Height of the feature above the origin of the frame at (x, y), where it has this place."""
        loop = self.loop
        if self.level or len(loop) == 1:
            return self.support
        if place == _INSIDE and len(loop) == 2:
            place = 1
        if place >= 0:
            x0, y0, h0, _ = loop[place >> 1]
            if place % 2 == 0:
                return h0
            x1, y1, h1, _ = loop[((place >> 1) + 1) % len(loop)]
            dx, dy = x1 - x0, y1 - y0
            share = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)
            return h0 + min(max(share, 0.0), 1.0) * (h1 - h0)
        if self._plane is None:
            self._plane = _fitted_plane(self._points)
        mean_x, mean_y, mean_h, slope_x, slope_y = self._plane
        height = mean_h + (x - mean_x) * slope_x + (y - mean_y) * slope_y
        heights = [p[2] for p in self._points]
        return min(max(height, min(heights)), max(heights))


def _fitted_plane(points: list[_Point]) -> tuple[float, float, float, float, float]:
    """Least squares plane through the points: mean x, y and height, slopes along x and y."""
    count = len(points)
    mean_x = sum(p[0] for p in points) / count
    mean_y = sum(p[1] for p in points) / count
    mean_h = sum(p[2] for p in points) / count
    us = [p[0] - mean_x for p in points]
    vs = [p[1] - mean_y for p in points]
    hs = [p[2] - mean_h for p in points]
    uu = sum(u * u for u in us)
    vv = sum(v * v for v in vs)
    turned = vv > uu
    if turned:
        us, vs, uu = vs, us, vv
    slope_u = slope_v = 0.0
    if uu > 0.0:
        # Orthogonalised one after the other: the normal equations would square the aspect ratio of a thin face.
        share = sum(u * v for u, v in zip(us, vs, strict=True)) / uu
        rest = [v - share * u for u, v in zip(us, vs, strict=True)]
        slope_u = sum(u * h for u, h in zip(us, hs, strict=True)) / uu
        ww = sum(w * w for w in rest)
        if ww > 0.0:
            slope_v = sum(w * (h - slope_u * u) for u, w, h in zip(us, rest, hs, strict=True)) / ww
            slope_u -= slope_v * share
    return (mean_x, mean_y, mean_h, slope_v, slope_u) if turned else (mean_x, mean_y, mean_h, slope_u, slope_v)


def _wound(points: list[_Point], top: bool, tolerance: float) -> list[_Point]:
    """Convex outline of points, counter-clockwise; one point or two where they span no more. Source: S2.4.

    Every point lies within `tolerance` of the outline, and every corner farther than that from the line through its
    neighbours. Taking the farthest point from a chord, instead of comparing angles, has no special case at
    180 degrees and absorbs duplicates.
    """
    if len(points) == 1:
        return points
    if len(points) == 4 or len(points) > _FEW_CORNERS:
        clear = _wound_quad(points, tolerance) if len(points) == 4 else _wound_by_angle(points, tolerance)
        if clear:
            return clear
    if len(points) == 2:
        first, last = points
    else:
        xs = [p[0] for p in points]
        ys = [p[1] for p in points]
        if max(xs) - min(xs) >= max(ys) - min(ys):
            first, last = min(points), max(points)
        else:
            first = min(points, key=_y_then_x)
            last = max(points, key=_y_then_x)
    x0, y0 = first[0], first[1]
    dx, dy = last[0] - x0, last[1] - y0
    length = hypot(dx, dy)
    if length <= tolerance:
        return [max(points, key=_height) if top else min(points, key=_height)]
    if len(points) == 2:
        return points
    limit = tolerance * length
    right: list[tuple[float, _Point]] = []
    left: list[tuple[float, _Point]] = []
    for p in points:
        side = dx * (p[1] - y0) - dy * (p[0] - x0)
        if side > limit:
            left.append((side, p))
        elif side < -limit:
            right.append((-side, p))
    if not left and not right:
        return [first, last]
    loop = [first]
    _add_chain(loop, first, last, right, tolerance)
    loop.append(last)
    _add_chain(loop, last, first, left, tolerance)
    if len(loop) == 3:
        return loop
    # A first or farthest point can be one of several on a straight side.
    kept: list[_Point] = []
    before = loop[-1]
    for i, p in enumerate(loop):
        after = loop[i + 1] if i + 1 < len(loop) else (kept[0] if kept else loop[0])
        dx, dy = after[0] - before[0], after[1] - before[1]
        if dy * (p[0] - before[0]) - dx * (p[1] - before[1]) > tolerance * hypot(dx, dy):
            kept.append(p)
            before = p
    return kept


def _wound_quad(points: list[_Point], tolerance: float) -> list[_Point]:
    """The outline of four points that are clearly four corners; nothing otherwise."""
    p, q, r, s = points
    x, y = p[0], p[1]
    ax, ay = q[0] - x, q[1] - y
    bx, by = r[0] - x, r[1] - y
    cx, cy = s[0] - x, s[1] - y
    # Twice the signed areas of the triangles pqr, pqs, prs and qrs. Their signs tell the order.
    pqr = ax * by - ay * bx
    pqs = ax * cy - ay * cx
    prs = bx * cy - by * cx
    qrs = pqr + prs - pqs
    limit = 2.0 * tolerance * (abs(ax) + abs(ay) + abs(bx) + abs(by) + abs(cx) + abs(cy))
    if abs(pqr) <= limit or abs(pqs) <= limit or abs(prs) <= limit or abs(qrs) <= limit:
        return []
    left = pqs > 0.0
    if (pqr > 0.0) is left:
        if (prs > 0.0) is left:
            if (qrs > 0.0) is left:
                return [p, q, r, s] if left else [s, r, q, p]
        elif (qrs > 0.0) is not left:
            return [p, q, s, r] if left else [r, s, q, p]
    elif (prs > 0.0) is left and (qrs > 0.0) is not left:
        return [p, r, q, s] if left else [s, q, r, p]
    return []


def _wound_by_angle(points: list[_Point], tolerance: float) -> list[_Point]:
    """The outline of many points that are clearly all corners; nothing otherwise."""
    xy = np.array([p[:2] for p in points])
    middle = xy.mean(axis=0)
    angles = np.arctan2(xy[:, 1] - middle[1], xy[:, 0] - middle[0])
    order = angles.argsort(kind="stable")
    xy = xy[order]
    ahead = np.concatenate([xy[1:], xy[:1]]) - xy
    lengths = np.hypot(ahead[:, 0], ahead[:, 1])
    before = np.concatenate([ahead[-1:], ahead[:-1]])
    turns = before[:, 0] * ahead[:, 1] - before[:, 1] * ahead[:, 0]
    limits = tolerance * (lengths + np.concatenate([lengths[-1:], lengths[:-1]]))
    # In the order of the angles the outline goes round once; left turns all the way make it convex.
    if (turns > limits).all() and lengths.min() > tolerance:
        return [points[k] for k in order.tolist()]
    return []


def _y_then_x(p: _Point) -> tuple[float, float, float, int]:
    return p[1], p[0], p[2], p[3]


def _height(p: _Point) -> float:
    return p[2]


def _add_chain(
    loop: list[_Point],
    start: _Point,
    end: _Point,
    outside: list[tuple[float, _Point]],
    tolerance: float,
) -> None:
    """Append the corners between `start` and `end`; `outside` are the points right of that chord, with how far."""
    waiting: list[tuple[_Point, _Point, list[tuple[float, _Point]]]] = [(start, end, outside)]
    while waiting:
        p, q, outside = waiting.pop()
        if not outside:
            # A chord with nothing outside: its end is the next corner.
            if q is not end:
                loop.append(q)
            continue
        far = max(outside)[1]
        x, y = far[0], far[1]
        if len(outside) == 1:
            loop.append(far)
            if q is not end:
                loop.append(q)
            continue
        ux, uy = x - p[0], y - p[1]
        vx, vy = q[0] - x, q[1] - y
        limit_u = tolerance * hypot(ux, uy)
        limit_v = tolerance * hypot(vx, vy)
        before, behind = [], []
        for _, c in outside:
            rx, ry = c[0] - x, c[1] - y
            side = uy * rx - ux * ry
            if side > limit_u:
                before.append((side, c))
                continue
            side = vy * rx - vx * ry
            if side > limit_v:
                behind.append((side, c))
        waiting.append((far, q, behind))
        waiting.append((p, far, before))


def _intersection(lower: list[_Point], upper: list[_Point], tolerance: float) -> list[_Corner]:
    """Corners of the intersection of two outlines, counter-clockwise, each with its places on both."""
    if len(lower) > 2 and len(upper) > 2 and len(lower) * len(upper) > _FEW_PAIRS:
        return _intersection_of_many(lower, upper, tolerance)
    # Fewer sides of the larger outline cut the smaller one than the other way round.
    if len(upper) > 2 and (len(lower) < 3 or _span(lower) <= _span(upper)):
        return _clipped(lower, upper, tolerance)
    if len(lower) > 2:
        return [(x, y, place, other, 0) for x, y, other, place, _ in _clipped(upper, lower, tolerance)]
    if len(lower) == 2 and len(upper) == 2:
        return _intersection_of_segments(lower, upper, tolerance)
    if len(lower) == 2:
        return [(x, y, place, 0, 0) for x, y, place in _point_on_segment(upper[0], lower, tolerance)]
    if len(upper) == 2:
        return [(x, y, 0, place, 0) for x, y, place in _point_on_segment(lower[0], upper, tolerance)]
    p, q = lower[0], upper[0]
    if hypot(p[0] - q[0], p[1] - q[1]) > tolerance:
        return []
    return [(0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0, 0, 0)]


def _span(outline: list[_Point]) -> float:
    """Distance from the first corner to one opposite: about how large the outline is."""
    p, q = outline[0], outline[len(outline) >> 1]
    return hypot(p[0] - q[0], p[1] - q[1])


def _point_on_segment(p: _Point, segment: list[_Point], tolerance: float) -> list[tuple[float, float, int]]:
    """The point and its place on the segment; nothing when it lies off it."""
    x, y = p[0], p[1]
    (x0, y0, _, _), (x1, y1, _, _) = segment
    if hypot(x - x0, y - y0) <= tolerance:
        return [(x, y, 0)]
    if hypot(x - x1, y - y1) <= tolerance:
        return [(x, y, 2)]
    dx, dy = x1 - x0, y1 - y0
    length = hypot(dx, dy)
    along = (x - x0) * dx + (y - y0) * dy
    if abs(dx * (y - y0) - dy * (x - x0)) <= tolerance * length and 0.0 < along < length * length:
        return [(x, y, 1)]
    return []


def _intersection_of_segments(first: list[_Point], second: list[_Point], tolerance: float) -> list[_Corner]:
    """Crossing point of two segments, or what they share when they lie on one line."""
    (px, py, _, _), (qx, qy, _, _) = first
    (rx, ry, _, _), (sx, sy, _, _) = second
    ux, uy = qx - px, qy - py
    vx, vy = sx - rx, sy - ry
    length_u, length_v = hypot(ux, uy), hypot(vx, vy)
    ux, uy, vx, vy = ux / length_u, uy / length_u, vx / length_v, vy / length_v
    # How far the ends of each lie left of the line through the other.
    p = vx * (py - ry) - vy * (px - rx)
    q = vx * (qy - ry) - vy * (qx - rx)
    r = ux * (ry - py) - uy * (rx - px)
    s = ux * (sy - py) - uy * (sx - px)
    if (abs(p) <= tolerance and abs(q) <= tolerance) or (abs(r) <= tolerance and abs(s) <= tolerance):
        if length_v > length_u:
            ux, uy = vx, vy
        ends = []
        for x0, y0, x1, y1 in ((px, py, qx, qy), (rx, ry, sx, sy)):
            t0, t1 = x0 * ux + y0 * uy, x1 * ux + y1 * uy
            ends.append(((t0, x0, y0, 0), (t1, x1, y1, 2)) if t0 < t1 else ((t1, x1, y1, 2), (t0, x0, y0, 0)))
        (low_1, high_1), (low_2, high_2) = ends
        if high_1[0] < low_2[0] - tolerance or high_2[0] < low_1[0] - tolerance:
            return []
        if high_1[0] <= low_2[0] + tolerance:
            return [(low_2[1], low_2[2], high_1[3], low_2[3], 0)]
        if high_2[0] <= low_1[0] + tolerance:
            return [(low_1[1], low_1[2], low_1[3], high_2[3], 0)]
        corners: list[_Corner] = []
        for end_1, end_2, inner in (
            (low_1, low_2, low_1[0] > low_2[0]),
            (high_1, high_2, high_1[0] < high_2[0]),
        ):
            _, x, y, _ = end_1 if inner else end_2
            if abs(end_1[0] - end_2[0]) <= tolerance:
                corners.append((x, y, end_1[3], end_2[3], 0))
            elif inner:
                corners.append((x, y, end_1[3], 1, 0))
            else:
                corners.append((x, y, 1, end_2[3], 0))
        return corners
    if min(p, q) > tolerance or max(p, q) < -tolerance or min(r, s) > tolerance or max(r, s) < -tolerance:
        return []
    # Along the first, kept within the reach of both: at a small angle rounding moves the crossing far.
    reach = sorted(((rx - px) * ux + (ry - py) * uy, (sx - px) * ux + (sy - py) * uy))
    low, high = max(0.0, reach[0]), min(length_u, reach[1])
    if low > high + tolerance:
        return []
    t = min(max(length_u * p / (p - q), low), high)
    x, y = px + t * ux, py + t * uy
    place = other = 1
    for end, ex, ey in ((0, rx, ry), (2, sx, sy)):
        if hypot(ex - x, ey - y) <= tolerance:
            x, y, other = ex, ey, end
    for end, ex, ey in ((0, px, py), (2, qx, qy)):
        if hypot(ex - x, ey - y) <= tolerance:
            x, y, place = ex, ey, end
    return [(x, y, place, other, 0)]


def _clipped(subject: list[_Point], clip: list[_Point], tolerance: float) -> list[_Corner]:
    """Clip a point, a segment or a convex polygon by the sides of a convex polygon (Sutherland and Hodgman).

    A corner within `tolerance` of a side lies on it and stays, so that outlines which share a side or only a corner
    give a segment or a point.
    """
    sides = len(subject)
    corners: list[_Corner] = [(p[0], p[1], 2 * k, _INSIDE, k) for k, p in enumerate(subject)]
    if sides == 2:
        # There and back along the same side.
        x, y, place, other, _ = corners[1]
        corners[1] = (x, y, place, other, 0)
    outside = -tolerance
    for gx, gy, x0, y0, line in _half_planes(clip):
        insides = [gx * (c[0] - x0) + gy * (c[1] - y0) for c in corners]
        if min(insides) > tolerance:
            continue
        if max(insides) < outside:
            return []
        on_line = ~(line >> 1)
        kept: list[_Corner] = []
        keep = kept.append
        previous = corners[-1]
        d = insides[-1]
        # Between `previous` and `corner` the outline may cross the line; then `corner` itself is looked at.
        for corner, e in zip(corners, insides):  # noqa: B905 (same length; the check costs)
            if e > tolerance:
                if d < outside:
                    keep(_crossing(previous, corner, d, e, line, previous[4], clip, sides))
                keep(corner)
            elif e < outside:
                if d > 0.0:
                    keep(_crossing(previous, corner, d, e, line, on_line, clip, sides))
                elif d >= outside and kept:
                    # `previous` is on the line, was kept last, and the outline goes on along the line.
                    kept[-1] = (*kept[-1][:4], on_line)
            else:
                if d < outside and e > 0.0:
                    keep(_crossing(previous, corner, d, e, line, previous[4], clip, sides))
                x, y, place, other, side = corner
                if other == _INSIDE:
                    other = line
                elif other % 2:
                    other = _shared_corner(other, line, len(clip))
                keep((x, y, place, other, side))
            previous = corner
            d = e
        if insides[0] < outside <= d <= 0.0:
            kept[-1] = (*kept[-1][:4], on_line)
        corners = kept
    return corners


def _half_planes(outline: list[_Point]) -> list[tuple[float, float, float, float, int]]:
    """Inward unit normal (x, y), a point on the line (x, y) and the place, for all sides of a polygon.

    After the sides come lines across the sharp corners: points a rounding error outside of both sides can be far
    beyond the tip.
    """
    x0, y0 = outline[-2][0], outline[-2][1]
    x1, y1 = outline[-1][0], outline[-1][1]
    vx, vy = x1 - x0, y1 - y0
    length = hypot(vx, vy)
    vx, vy = vx / length, vy / length
    planes: list[tuple[float, float, float, float, int]] = []
    tips: list[tuple[float, float, float, float, int]] = []
    line = 2 * len(outline) - 1
    for p in outline:
        x0, y0 = x1, y1
        x1, y1 = p[0], p[1]
        ux, uy = x1 - x0, y1 - y0
        length = hypot(ux, uy)
        ux, uy = ux / length, uy / length
        if ux * vx + uy * vy < REGION_SHARP:
            gx, gy = ux - vx, uy - vy
            length = hypot(gx, gy)
            tips.append((gx / length, gy / length, x0, y0, line - 1))
        planes.append((-uy, ux, x0, y0, line))
        line = 1 if len(planes) == 1 else line + 2
        vx, vy = ux, uy
    return planes + tips if tips else planes


def _shared_corner(place: int, line: int, count: int) -> int:
    """Place of the corner between two sides of an outline with `count` sides; `line` when there is none."""
    if line % 2 == 0 or (place + 2) % (2 * count) == line:
        return line - line % 2
    if (line + 2) % (2 * count) == place:
        return place - 1
    return line


def _shared_side(place: int, other: int, count: int) -> int:
    """The side of an outline that two places lie on; -1 when there is none."""
    if place < 0 or other < 0:
        return -1
    k, m = place >> 1, other >> 1
    if place % 2:
        return k if place == other or (other % 2 == 0 and k in (m, (m - 1) % count)) else -1
    if other % 2:
        return m if m in (k, (k - 1) % count) else -1
    if (k + 1) % count == m:
        return k
    return m if (m + 1) % count == k else -1


def _crossing(
    p: _Corner, q: _Corner, d: float, e: float, line: int, leaving: int, clip: list[_Point], sides: int
) -> _Corner:
    """Where the outline from p to q crosses a line of the clipping polygon; d and e are how far inside p and q are."""
    px, py, place_p, other_p, side = p
    qx, qy, place_q, other_q, _ = q
    if side >= 0:
        place = 2 * side + 1
        if other_p >= 0 and other_q >= 0:
            along = _shared_side(other_p, other_q, len(clip))
            if along >= 0:
                line = _shared_corner(2 * along + 1, line, len(clip))
    else:
        place = _INSIDE
        if place_p >= 0 and place_q >= 0:
            along = _shared_side(place_p, place_q, sides)
            if along >= 0:
                place = 2 * along + 1
        line = _shared_corner(1 - 2 * (side + 1), line, len(clip))
    if line % 2 == 0:
        corner = clip[line >> 1]
        return corner[0], corner[1], place, line, leaving
    share = d / (d - e)
    return px + share * (qx - px), py + share * (qy - py), place, line, leaving


def _intersection_of_many(lower: list[_Point], upper: list[_Point], tolerance: float) -> list[_Corner]:
    """The same as `_clipped` for two polygons with many sides: all pairs of sides at once.

    The corners of the intersection are the corners of each polygon inside the other and the crossings of their
    sides; they are wound once more, and then looked up on both outlines.
    """
    p = np.array([c[:2] for c in lower])
    q = np.array([c[:2] for c in upper])
    p_in_q, q_in_p = _insides(p, q), _insides(q, p)
    points = [
        p[np.minimum(p_in_q.min(axis=1), _before_sharp_corners(p, upper)) >= -tolerance],
        q[np.minimum(q_in_p.min(axis=1), _before_sharp_corners(q, lower)) >= -tolerance],
    ]
    # A side of one crosses a side of the other where each has its ends on both sides of the other's line.
    i, j = (_crosses(p_in_q, tolerance) & _crosses(q_in_p, tolerance).T).nonzero()
    after = (i + 1) % len(p)
    d, e = p_in_q[i, j], p_in_q[after, j]
    points.append(p[i] + (d / (d - e))[:, None] * (p[after] - p[i]))
    found = np.concatenate(points)
    if len(found) == 0:
        return []
    loop = _wound([(x, y, 0.0, k) for k, (x, y) in enumerate(found.tolist())], True, tolerance)
    found = found[[c[3] for c in loop]]
    places = _places(_insides(found, p), tolerance)
    others = _places(_insides(found, q), tolerance)
    return [(c[0], c[1], place, other, 0) for c, place, other in zip(loop, places, others, strict=True)]


def _insides(points: FloatArray, outline: FloatArray) -> FloatArray:
    """(k, n) how far left of each of the n sides of the outline each of the k points lies."""
    along = np.concatenate([outline[1:], outline[:1]]) - outline
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    result: FloatArray = along[:, 0] * (points[:, 1, None] - outline[:, 1])
    result -= along[:, 1] * (points[:, 0, None] - outline[:, 0])
    return result


def _crosses(insides: FloatArray, tolerance: float) -> NDArray[np.bool_]:
    """(k, n) which of the sides from one of the k points to the next cross which of the n lines."""
    outside, inside = insides < -tolerance, insides > tolerance
    result: NDArray[np.bool_] = outside & np.concatenate([inside[1:], inside[:1]])
    result |= inside & np.concatenate([outside[1:], outside[:1]])
    return result


def _places(insides: FloatArray, tolerance: float) -> list[int]:
    """Place on the outline of each point of the intersection."""
    on_side = np.abs(insides) <= tolerance
    at_corner = on_side & np.concatenate([on_side[:, -1:], on_side[:, :-1]], axis=1)
    places = np.where(on_side.any(axis=1), 2 * on_side.argmax(axis=1) + 1, _INSIDE)
    places = np.where(at_corner.any(axis=1), 2 * at_corner.argmax(axis=1), places)
    result: list[int] = places.tolist()
    return result


def _before_sharp_corners(points: FloatArray, outline: list[_Point]) -> FloatArray:
    """(k,) how far each point lies inside of the lines across the sharp corners of the outline."""
    planes = [h[:4] for h in _half_planes(outline)[len(outline) :]]
    if not planes:
        return np.full(len(points), inf)
    gx, gy, x0, y0 = np.array(planes).T
    result: FloatArray = (gx * (points[:, 0, None] - x0) + gy * (points[:, 1, None] - y0)).min(axis=1)
    return result


def _tidied(corners: list[_Corner], tolerance: float) -> list[_Corner]:
    """Without repeated corners and corners on a straight side; a sliver becomes a segment or a point."""
    if len(corners) > 2:
        kept: list[_Corner] = []
        for corner in corners:
            if kept and hypot(corner[0] - kept[-1][0], corner[1] - kept[-1][1]) <= tolerance:
                kept[-1] = _more_telling(kept[-1], corner)
            else:
                kept.append(corner)
        while len(kept) > 1 and hypot(kept[0][0] - kept[-1][0], kept[0][1] - kept[-1][1]) <= tolerance:
            kept[0] = _more_telling(kept[0], kept.pop())
        corners = kept
    if len(corners) > 2:
        kept = []
        before = corners[-1]
        for i, corner in enumerate(corners):
            after = corners[i + 1] if i + 1 < len(corners) else (kept[0] if kept else corners[0])
            ux, uy = corner[0] - before[0], corner[1] - before[1]
            vx, vy = after[0] - corner[0], after[1] - corner[1]
            if ux * vy - uy * vx > tolerance * hypot(ux + vx, uy + vy) or ux * vx + uy * vy < 0.0:
                kept.append(corner)
                before = corner
        corners = kept
    if len(corners) > 2:
        x0, y0 = corners[0][0], corners[0][1]
        twice_area = perimeter = ux = uy = 0.0
        for corner in corners:
            vx, vy = corner[0] - x0, corner[1] - y0
            twice_area += ux * vy - uy * vx
            perimeter += hypot(vx - ux, vy - uy)
            ux, uy = vx, vy
        if twice_area <= tolerance * (perimeter + hypot(ux, uy)):
            start = _farthest(corners, corners[0])
            corners = [start, _farthest(corners, start)]
    if len(corners) == 2 and hypot(corners[1][0] - corners[0][0], corners[1][1] - corners[0][1]) <= tolerance:
        corners = [_more_telling(corners[0], corners[1])]
    return corners


def _more_telling(p: _Corner, q: _Corner) -> _Corner:
    """Of two corners at the same point: the one that names corners of the outlines rather than sides or faces."""
    return q if _plainness(q) < _plainness(p) else p


def _plainness(corner: _Corner) -> int:
    return sum(2 if place < 0 else place % 2 for place in corner[2:4])


def _farthest(corners: list[_Corner], start: _Corner) -> _Corner:
    return max(corners, key=lambda c: hypot(c[0] - start[0], c[1] - start[1]))


def _measures(corners: list[_Corner], tolerance: float) -> tuple[RegionKind, float, float, float, float] | None:
    """Kind, area, length and centroid (x, y) in the contact plane. Source: S2.6.

    None when there is no region or the corners need `_tidied` first. A tolerance of -inf takes them as they are.
    """
    count = len(corners)
    if count < 3:
        if count == 0:
            return None
        x0, y0 = corners[0][0], corners[0][1]
        if count == 1:
            return _POINT, 0.0, 0.0, x0, y0
        x1, y1 = corners[1][0], corners[1][1]
        length = hypot(x1 - x0, y1 - y0)
        if length <= tolerance:
            return None
        return _SEGMENT, 0.0, length, 0.5 * (x0 + x1), 0.5 * (y0 + y1)
    # About the last corner: the terms stay as small as the polygon.
    x0, y0 = corners[-1][0], corners[-1][1]
    vx, vy = x0 - corners[-2][0], y0 - corners[-2][1]
    length_v = hypot(vx, vy)
    twice_area = perimeter = mx = my = px = py = 0.0
    for corner in corners:
        qx, qy = corner[0] - x0, corner[1] - y0
        ux, uy = qx - px, qy - py
        length_u = hypot(ux, uy)
        if length_u <= tolerance or vx * uy - vy * ux <= tolerance * (length_u + length_v):
            return None
        cross = px * qy - py * qx
        twice_area += cross
        mx += cross * (px + qx)
        my += cross * (py + qy)
        perimeter += length_u
        px, py, vx, vy, length_v = qx, qy, ux, uy, length_u
    if twice_area <= tolerance * perimeter:
        return None
    thrice = 3.0 * twice_area
    return _POLYGON, 0.5 * twice_area, perimeter, x0 + mx / thrice, y0 + my / thrice
