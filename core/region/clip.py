# SPDX-License-Identifier: GPL-3.0-or-later
"""The intersection of two outlines in the contact plane: points, segments and convex polygons in any combination.

Outlines with few sides are clipped one side at a time in plain floats; those with many by all pairs of sides, in
chunks, with numpy.

     outside | inside             g = (gx, gy) is the inward unit normal of a side of the clipping polygon, o = (x0, y0)
             |                    on it; d = g . (p - o), e = g . (q - o): how far p and q are inside, < 0 outside.
    p .------+-----------. q      From p to q the outline crosses the line at p + f (q - p), d + f (e - d) = 0:
         d   |      e             f = d / (d - e)
             +---> g

Within the tolerance of the line a point is on it. What is kept of each step from p to q (`_clip_polygon`):

    from p   to q:  outside               on                        inside
    outside         nothing               crossing if e > 0, q      crossing, q
    on              crossing if d > 0     q                         q
    inside          crossing              q                         q

Where p is on the line, d <= 0 and q outside, the outline continues from p along the line: its side becomes that one.

Segments PQ and RS with unit directions u and v are cut at each other's lines: p = v x (P - R) and q = v x (Q - R) are
the distances of P and Q to the left of RS, so they cross at P + t u, t = |PQ| p / (p - q).

Source: S2.5.
"""

from __future__ import annotations

from math import hypot, inf

import numpy as np

from ..runs import chunks
from ..shapes.polytope import PRODUCTS
from ..types import BoolArray, FloatArray, IntArray
from .outline import INSIDE, OutlinePoint, wind, without_straight_corners

_REGION_SHARP = -0.9
"""Cosine between the directions of two sides that follow each other: below it the corner is sharp (less than 26
degrees), and points within a rounding error of both sides can be several rounding errors beyond the corner."""

Corner = tuple[float, float, int, int, int]
"""A corner of the intersection: (x, y, place on the first outline, place on the second, the side that leaves it).

The side that leaves is k for side k of the subject of the clipping and ~k, below 0, for side k of the clipping polygon:
in both, 2k + 1 is its place."""


Left = tuple[int, list[tuple[float, float]]]
"""Place of the side that cuts next, of the line across a sharp corner that of the corner; and the corners that are left
before it."""

_FEW_PAIRS = 250  # of sides; up to this number plain Python clips faster than numpy


def intersection(
    lower: list[OutlinePoint], upper: list[OutlinePoint], tolerance: float, cuts: list[Left] | None = None
) -> list[Corner]:
    """Return the corners of the intersection of two outlines, counter-clockwise, each with its places on both.

    cuts: where one side cuts after the other, what is left before each is appended to it, and with -1 the result.
    """
    if len(lower) > 2 and len(upper) > 2 and len(lower) * len(upper) > _FEW_PAIRS:
        return _intersection_of_many(lower, upper, tolerance)
    if is_clipped_by_upper(lower, upper):
        return _clip(lower, upper, tolerance, cuts)
    if len(lower) > 2:
        return [(x, y, place, clip_place, 0) for x, y, clip_place, place, _ in _clip(upper, lower, tolerance, cuts)]
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


def is_clipped_by_upper(lower: list[OutlinePoint], upper: list[OutlinePoint]) -> bool:
    """Return whether the sides of the upper outline clip the lower one, and not the other way round."""
    # Fewer sides of the larger outline cut the smaller one than vice versa.
    return len(upper) > 2 and (len(lower) < 3 or _span(lower) <= _span(upper))


def _clip(
    subject: list[OutlinePoint], clip: list[OutlinePoint], tolerance: float, cuts: list[Left] | None
) -> list[Corner]:
    found = (_clip_segment if len(subject) == 2 else _clip_polygon)(subject, clip, tolerance, cuts)
    if cuts is not None:
        cuts.append((-1, [corner[:2] for corner in found]))
    return found


def _span(outline: list[OutlinePoint]) -> float:
    """Return the distance from the first corner to an opposite one: about the size of the outline."""
    p, q = outline[0], outline[len(outline) >> 1]
    return hypot(p[0] - q[0], p[1] - q[1])


def _point_on_segment(p: OutlinePoint, segment: list[OutlinePoint], tolerance: float) -> list[tuple[float, float, int]]:
    """Return the point and its place on the segment; an empty list when it is not on it."""
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


def _intersection_of_segments(first: list[OutlinePoint], second: list[OutlinePoint], tolerance: float) -> list[Corner]:
    """Return the crossing point of two segments, or their common part when they are collinear."""
    (px, py, _, _), (qx, qy, _, _) = first
    (rx, ry, _, _), (sx, sy, _, _) = second
    ux, uy = qx - px, qy - py
    vx, vy = sx - rx, sy - ry
    length_u, length_v = hypot(ux, uy), hypot(vx, vy)
    ux, uy, vx, vy = ux / length_u, uy / length_u, vx / length_v, vy / length_v
    # Distances of the ends of each to the left of the line through the other.
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
        corners: list[Corner] = []
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
    # Along the first, clamped to the extent of both: at a small angle rounding moves the crossing far.
    reach = sorted(((rx - px) * ux + (ry - py) * uy, (sx - px) * ux + (sy - py) * uy))
    low, high = max(0.0, reach[0]), min(length_u, reach[1])
    if low > high + tolerance:
        return []
    t = min(max(length_u * p / (p - q), low), high)
    x, y = px + t * ux, py + t * uy
    place_1 = place_2 = 1
    for end, ex, ey in ((0, rx, ry), (2, sx, sy)):
        if hypot(ex - x, ey - y) <= tolerance:
            x, y, place_2 = ex, ey, end
    for end, ex, ey in ((0, px, py), (2, qx, qy)):
        if hypot(ex - x, ey - y) <= tolerance:
            x, y, place_1 = ex, ey, end
    return [(x, y, place_1, place_2, 0)]


def _clip_segment(
    segment: list[OutlinePoint], clip: list[OutlinePoint], tolerance: float, cuts: list[Left] | None
) -> list[Corner]:
    """Return the part of a segment inside a convex polygon (Cyrus and Beck), as at most two corners.

    Sides that are nearly parallel to the segment come last: after clipping by the others, the remaining part may be
    within the tolerance of them even if the ends are not.
    """
    (px, py, _, _), (qx, qy, _, _) = segment
    ux, uy = qx - px, qy - py
    place_p, place_q = 0, 2
    on_p = on_q = INSIDE
    for gx, gy, x0, y0, line in sorted(_half_planes(clip), key=lambda plane: -abs(plane[0] * ux + plane[1] * uy)):
        d = gx * (px - x0) + gy * (py - y0)
        e = gx * (qx - x0) + gy * (qy - y0)
        if cuts is not None:
            cuts.append((line, [(px, py), (qx, qy)]))
        if d < -tolerance and e < -tolerance:
            return []
        if d < -tolerance:
            if e > 0.0:
                fraction = d / (d - e)
                px, py, place_p, on_p = px + fraction * (qx - px), py + fraction * (qy - py), 1, line
            else:
                px, py, place_p, on_p = qx, qy, place_q, on_q
        elif e < -tolerance:
            if d > 0.0:
                fraction = d / (d - e)
                qx, qy, place_q, on_q = px + fraction * (qx - px), py + fraction * (qy - py), 1, line
            else:
                qx, qy, place_q, on_q = px, py, place_p, on_p
        if abs(d) <= tolerance:
            on_p = _also_on(on_p, line, len(clip))
        if abs(e) <= tolerance:
            on_q = _also_on(on_q, line, len(clip))
    if px == qx and py == qy:
        return [(px, py, place_p, on_p, 0)]
    return [(px, py, place_p, on_p, 0), (qx, qy, place_q, on_q, 0)]


def _also_on(place: int, line: int, count: int) -> int:
    """Return the place of a point of an outline with `count` sides that is on this line too."""
    if place == INSIDE:
        return line
    return _shared_corner(place, line, count) if place % 2 else place


def _clip_polygon(
    subject: list[OutlinePoint], clip: list[OutlinePoint], tolerance: float, cuts: list[Left] | None
) -> list[Corner]:
    """Clip a point or a convex polygon by the sides of a convex polygon (Sutherland and Hodgman).

    A corner within `tolerance` of a side counts as on it and is kept, so that outlines with only a side or a corner in
    common give a segment or a point.
    """
    sides = len(subject)
    corners: list[Corner] = [(p[0], p[1], 2 * k, INSIDE, k) for k, p in enumerate(subject)]
    outside = -tolerance
    for gx, gy, x0, y0, line in _half_planes(clip):
        insides = [gx * (c[0] - x0) + gy * (c[1] - y0) for c in corners]  # mutant: clip-outer-half-planes
        if cuts is not None:
            cuts.append((line, [corner[:2] for corner in corners]))
        if min(insides) > tolerance:
            continue
        if max(insides) < outside:
            return []
        on_line = ~(line >> 1)
        kept: list[Corner] = []
        keep = kept.append
        previous = corners[-1]
        d = insides[-1]
        # Between `previous` and `corner` the outline may cross the line; then `corner` itself is classified.
        for corner, e in zip(corners, insides):  # noqa: B905 (same length; the check costs)
            if e > tolerance:
                if d < outside:
                    keep(_crossing(previous, corner, d, e, line, previous[4], clip, sides, tolerance))
                keep(corner)
            elif e < outside:
                if d > 0.0:
                    keep(_crossing(previous, corner, d, e, line, on_line, clip, sides, tolerance))
                elif d >= outside and kept:
                    # `previous` is on the line, was kept last, and the outline continues along the line.
                    kept[-1] = (*kept[-1][:4], on_line)
            else:
                if d < outside and e > 0.0:
                    keep(_crossing(previous, corner, d, e, line, previous[4], clip, sides, tolerance))
                x, y, place, clip_place, side = corner
                keep((x, y, place, _also_on(clip_place, line, len(clip)), side))
            previous = corner
            d = e
        if insides[0] < outside <= d <= 0.0:
            kept[-1] = (*kept[-1][:4], on_line)
        corners = kept
    return corners


def _half_planes(outline: list[OutlinePoint]) -> list[tuple[float, float, float, float, int]]:
    """Return the inward unit normal (x, y), a point on the line (x, y) and the place, for all sides of a polygon.

    Lines across the sharp corners follow the sides: points a rounding error outside of both sides can be far beyond the
    tip.
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
        if ux * vx + uy * vy < _REGION_SHARP:
            gx, gy = ux - vx, uy - vy
            length = hypot(gx, gy)
            tips.append((gx / length, gy / length, x0, y0, line - 1))
        planes.append((-uy, ux, x0, y0, line))
        line = 1 if len(planes) == 1 else line + 2
        vx, vy = ux, uy
    return planes + tips if tips else planes


def _shared_corner(place: int, line: int, count: int) -> int:
    """Return the place of the corner between two sides of an outline with `count` sides; `line` when there is none."""
    if line % 2 == 0 or (place + 2) % (2 * count) == line:
        return line - line % 2
    if (line + 2) % (2 * count) == place:
        return place - 1
    return line


def _shared_side(place_1: int, place_2: int, count: int) -> int:
    """Return the side of an outline that contains two places; -1 when there is none."""
    if place_1 < 0 or place_2 < 0:
        return -1
    k, m = place_1 >> 1, place_2 >> 1
    if place_1 % 2:
        return k if place_1 == place_2 or (place_2 % 2 == 0 and k in (m, (m - 1) % count)) else -1
    if place_2 % 2:
        return m if m in (k, (k - 1) % count) else -1
    if (k + 1) % count == m:
        return k
    return m if (m + 1) % count == k else -1


def _crossing(
    p: Corner,
    q: Corner,
    d: float,
    e: float,
    line: int,
    leaving: int,
    clip: list[OutlinePoint],
    sides: int,
    tolerance: float,
) -> Corner:
    """Return the corner where the outline from p to q crosses a line of the clipping polygon; d and e are the distances
    of p and q inside it."""
    px, py, place_p, other_p, side = p
    qx, qy, place_q, other_q, _ = q
    if side >= 0:  # of the subject
        place = 2 * side + 1
        if other_p >= 0 and other_q >= 0:
            along = _shared_side(other_p, other_q, len(clip))
            if along >= 0:
                line = _shared_corner(2 * along + 1, line, len(clip))
    else:
        place = INSIDE
        if place_p >= 0 and place_q >= 0:
            along = _shared_side(place_p, place_q, sides)
            if along >= 0:
                place = 2 * along + 1
        line = _shared_corner(2 * ~side + 1, line, len(clip))
    if line % 2 == 0:
        x, y, _, _ = clip[line >> 1]
        # On a sliver the common corner of both lines can be far beyond the ends of this side.
        dx, dy = qx - px, qy - py
        length = hypot(dx, dy)
        if -tolerance * length <= (x - px) * dx + (y - py) * dy <= (length + tolerance) * length:
            return x, y, place, line, leaving
    fraction = d / (d - e)
    return px + fraction * (qx - px), py + fraction * (qy - py), place, line, leaving


def _intersection_of_many(lower: list[OutlinePoint], upper: list[OutlinePoint], tolerance: float) -> list[Corner]:
    """Return the same as `_clip_polygon` for two polygons with many sides.

    The corners of the intersection are the corners of each polygon inside the other and the crossings of their sides;
    they are ordered again, and then looked up on both outlines.
    """
    p = np.array([c[:2] for c in lower])
    q = np.array([c[:2] for c in upper])
    p_in_q, p_across_q = _compare_sides(p, q, tolerance)
    q_in_p, q_across_p = _compare_sides(q, p, tolerance)
    points = [
        p[np.minimum(p_in_q, _before_sharp_corners(p, upper)) >= -tolerance],
        q[np.minimum(q_in_p, _before_sharp_corners(q, lower)) >= -tolerance],
    ]
    # A side of p crosses a side of q where each has its ends on both sides of the line of the other.
    j, i = q_across_p
    i, j = np.divmod(np.intersect1d(p_across_q[0] * len(q) + p_across_q[1], i * len(q) + j), len(q))
    after = (i + 1) % len(p)
    direction = _side_directions(q)[j]
    d, e = _left_of(p[i], q[j], direction), _left_of(p[after], q[j], direction)
    points.append(p[i] + (d / (d - e))[:, None] * (p[after] - p[i]))
    corners = np.concatenate(points)
    if len(corners) == 0:
        return []
    loop = wind([(x, y, 0.0, k) for k, (x, y) in enumerate(corners.tolist())], True, tolerance)
    corners = corners[[c[3] for c in loop]]
    places, clip_places = _places(corners, p, tolerance), _places(corners, q, tolerance)
    return [(c[0], c[1], place, clip_place, 0) for c, place, clip_place in zip(loop, places, clip_places, strict=True)]


def _side_directions(outline: FloatArray) -> FloatArray:
    """Return unit vectors (n, 2) along the sides of an outline, each from its corner to the next."""
    along = np.concatenate([outline[1:], outline[:1]]) - outline
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    return along


def _left_of(points: FloatArray, starts: FloatArray, directions: FloatArray) -> FloatArray:
    """Return the distances of points to the left of lines, each a point and a unit vector; arrays (..., 2) are
    broadcast."""
    result: FloatArray = directions[..., 0] * (points[..., 1] - starts[..., 1])
    result -= directions[..., 1] * (points[..., 0] - starts[..., 0])
    return result


def _compare_sides(p: FloatArray, q: FloatArray, tolerance: float) -> tuple[FloatArray, tuple[IntArray, IntArray]]:
    """Return the distance of each corner of p inside of all sides of q, (k,), and the pairs of a side i of p that
    crosses the line of a side j of q, two arrays of equal length.

    All pairs are tested, a chunk of rows at a time.
    """
    directions = _side_directions(q)
    depths, sides, lines = [], [], []
    for corners in chunks(len(p), PRODUCTS // len(q)):
        chunk = np.arange(corners.start, corners.stop + 1) % len(p)
        left = _left_of(p[chunk, None], q, directions)
        depths.append(left[:-1].min(axis=1))
        outside, inside = left < -tolerance, left > tolerance
        i, j = ((outside[:-1] & inside[1:]) | (inside[:-1] & outside[1:])).nonzero()
        sides.append(i + corners.start)
        lines.append(j)
    return np.concatenate(depths), (np.concatenate(sides), np.concatenate(lines))


def _places(points: FloatArray, outline: FloatArray, tolerance: float) -> list[int]:
    """Return the place on the outline of each point of the intersection."""
    directions = _side_directions(outline)
    result: list[int] = []
    for chunk in chunks(len(points), PRODUCTS // len(outline)):
        on_side: BoolArray = np.abs(_left_of(points[chunk, None], outline, directions)) <= tolerance
        at_corner = on_side & np.concatenate([on_side[:, -1:], on_side[:, :-1]], axis=1)
        places = np.where(on_side.any(axis=1), 2 * on_side.argmax(axis=1) + 1, INSIDE)
        result += np.where(at_corner.any(axis=1), 2 * at_corner.argmax(axis=1), places).tolist()
    return result


def _before_sharp_corners(points: FloatArray, outline: list[OutlinePoint]) -> FloatArray:
    """Return the distance (k,) of each point inside of the lines across the sharp corners of the outline."""
    planes = [plane[:4] for plane in _half_planes(outline)[len(outline) :]]
    if not planes:
        return np.full(len(points), inf)
    gx, gy, x0, y0 = np.array(planes).T
    return (gx * (points[:, 0, None] - x0) + gy * (points[:, 1, None] - y0)).min(axis=1)


def tidy(corners: list[Corner], tolerance: float) -> list[Corner]:
    """Return the corners without duplicates and those on a straight side; a sliver becomes a segment or a point."""
    if len(corners) > 2:
        kept: list[Corner] = []
        for corner in corners:
            if kept and hypot(corner[0] - kept[-1][0], corner[1] - kept[-1][1]) <= tolerance:
                kept[-1] = _more_specific(kept[-1], corner)
            else:
                kept.append(corner)
        while len(kept) > 1 and hypot(kept[0][0] - kept[-1][0], kept[0][1] - kept[-1][1]) <= tolerance:
            kept[0] = _more_specific(kept[0], kept.pop())
        corners = kept
    if len(corners) > 2:
        corners = without_straight_corners(corners, tolerance)
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
        corners = [_more_specific(corners[0], corners[1])]
    return corners


def _more_specific(p: Corner, q: Corner) -> Corner:
    """Return the one of two corners at the same point that is on corners of the outlines rather than on sides or
    faces."""
    return q if _vagueness(q) < _vagueness(p) else p


def _vagueness(corner: Corner) -> int:
    return sum(2 if place < 0 else place % 2 for place in corner[2:4])


def _farthest(corners: list[Corner], start: Corner) -> Corner:
    return max(corners, key=lambda c: hypot(c[0] - start[0], c[1] - start[1]))
