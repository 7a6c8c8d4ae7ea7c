# SPDX-License-Identifier: GPL-3.0-or-later
"""The outline of a support feature in the contact plane: its corners in order.

With p x q = px qy - py qx, a point r is (q - p) x (r - p) / |q - p| to the left of the line from p to q, to the right
where that is negative. Comparisons with the tolerance are multiplied by |q - p|.

    behind   far   before      Of the points to the right of a chord from p to q, the farthest is a corner. Next are
          . '   ' .            those to the right of the chord from p to far (`before`) and of that from far to q
       . '         ' .         (`behind`), until there are none (`_add_chain`).
     q <------------- p        Chords from the first point to the last and back, the ends along the wider of x and y,
        (the others)           give the outline, counter-clockwise (`wind`).

Of four points p, q, r, s the signs of areas decide (`_wind_quad`); pqr + prs = pqs + qrs, twice that of the
quadrilateral pqrs, cut along either diagonal.

The height of a face that is not level is that of a plane, by least squares (`_fit_plane`): u, v and h are coordinates
of its points from their mean. As w = v - (u.v / u.u) u is orthogonal to u, the slopes are found one by one:

    h = slope_u u + slope_v v,  slope_v = w.h / w.w,  slope_u = u.h / u.u - slope_v (u.v / u.u)

Source: S2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import TypeVar

import numpy as np

from ..shapes.feature import Feature, FeatureKind

OutlinePoint = tuple[float, float, float, int]
"""A point of a support feature: x and y in the contact plane, height along the axis, index of the vertex."""

INSIDE = -1
"""A place on an outline is 2k for its corner k, 2k + 1 for the side from corner k to the next, this for its interior:

    6 --5-- 4
    |       |
    7  -1   3
    |       |
    0 --1-- 2
"""

_Place = TypeVar("_Place", bound=Sequence[float])

# Looking up a member of an enumeration costs more than the arithmetic here.
_VERTEX, _EDGE, _FACE = FeatureKind

_FEW_CORNERS = 14  # up to this number plain Python is faster than numpy


class Outline:
    """A support feature in the contact plane: its convex outline and its heights along the axis."""

    __slots__ = ("_plane", "_points", "_top", "features", "level", "loop", "support")

    def __init__(self, points: list[OutlinePoint], top: bool, slack: float, tolerance: float) -> None:
        self._points = points
        self._top = top
        heights = [p[2] for p in points]
        highest, lowest = max(heights), min(heights)
        self.support = highest if top else lowest
        # Heights that differ by rounding only count as equal: the depth over a flat face is one number.
        self.level = highest - lowest <= slack
        self.loop = wind(points, top, tolerance)
        self.features: dict[int, Feature] = {}
        self._plane: tuple[float, float, float, float, float] | None = None

    def place_of(self, place: int, x: float, y: float, tolerance: float) -> int:
        """Return the place of a point of the intersection: `place`, unless the point is beside it.

        Clipping determines the place from the lines that cross. On slivers several lines pass within the tolerance, and
        the corner or side of that place can be far from the point: then the point is looked up.
        """
        loop = self.loop
        if place == INSIDE or len(loop) == 1:
            return place
        x0, y0, _, _ = loop[place >> 1]
        if place % 2 == 0:
            return place if hypot(x - x0, y - y0) <= tolerance else self._look_up(x, y, tolerance)
        x1, y1, _, _ = loop[(place >> 1) + 1 - len(loop)]
        return place if _beside(x, y, x0, y0, x1, y1) <= tolerance else self._look_up(x, y, tolerance)

    def _look_up(self, x: float, y: float, tolerance: float) -> int:
        loop = self.loop
        corners = [hypot(x - p[0], y - p[1]) for p in loop]
        nearest = min(corners)
        if nearest <= tolerance:
            return 2 * corners.index(nearest)
        sides = [_beside(x, y, *p[:2], *loop[k + 1 - len(loop)][:2]) for k, p in enumerate(loop)]
        nearest = min(sides)
        if nearest <= tolerance or len(loop) == 2:
            return 2 * sides.index(nearest) + 1
        return INSIDE

    def feature(self, place: int) -> Feature:
        """Return the vertex, edge or face of the shape at this place of the outline; it is cached in `features`."""
        loop = self.loop
        count = len(loop)
        if place == INSIDE and count > 2:
            # Counter-clockwise seen from outside of the shape, as its facets are, beginning at the lowest index: where
            # the loop begins is left to rounding.
            indices = [p[3] for p in (loop if self._top else loop[::-1])]
            begin = indices.index(min(indices))
            named = Feature(_FACE, tuple(indices[begin:] + indices[:begin]))
        elif count == 1 or (place >= 0 and place % 2 == 0):
            named = Feature(_VERTEX, (loop[place >> 1][3],))
        else:
            # A segment has one side, whatever the place.
            first, second = loop[place >> 1][3], loop[(place >> 1) + 1 - count][3]
            named = Feature(_EDGE, (first, second) if first < second else (second, first))
        self.features[place] = named
        return named

    def height(self, place: int, x: float, y: float) -> float:
        """Return the height of the feature above the origin of the frame at (x, y), a point with this place."""
        loop = self.loop
        if self.level or len(loop) == 1:
            return self.support
        if place == INSIDE and len(loop) == 2:
            place = 1
        if place >= 0:
            x0, y0, h0, _ = loop[place >> 1]
            if place % 2 == 0:
                return h0
            x1, y1, h1, _ = loop[((place >> 1) + 1) % len(loop)]
            dx, dy = x1 - x0, y1 - y0
            fraction = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)
            return h0 + min(max(fraction, 0.0), 1.0) * (h1 - h0)
        if self._plane is None:
            self._plane = _fit_plane(self._points)
        mean_x, mean_y, mean_h, slope_x, slope_y = self._plane
        height = mean_h + (x - mean_x) * slope_x + (y - mean_y) * slope_y
        heights = [p[2] for p in self._points]
        return min(max(height, min(heights)), max(heights))


def _beside(x: float, y: float, x0: float, y0: float, x1: float, y1: float) -> float:
    """Return the distance of a point from a segment."""
    dx, dy = x1 - x0, y1 - y0
    fraction = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)
    fraction = min(max(fraction, 0.0), 1.0)
    return hypot(x - x0 - fraction * dx, y - y0 - fraction * dy)


def _fit_plane(points: list[OutlinePoint]) -> tuple[float, float, float, float, float]:
    """Return the least squares plane through the points: mean x, y and height, slopes along x and y."""
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
        # The normal equations would square the aspect ratio of a thin face.
        fraction = sum(u * v for u, v in zip(us, vs, strict=True)) / uu
        ws = [v - fraction * u for u, v in zip(us, vs, strict=True)]
        slope_u = sum(u * h for u, h in zip(us, hs, strict=True)) / uu
        ww = sum(w * w for w in ws)
        if ww > 0.0:
            slope_v = sum(w * (h - slope_u * u) for u, w, h in zip(us, ws, hs, strict=True)) / ww
            slope_u -= slope_v * fraction
    return (mean_x, mean_y, mean_h, slope_v, slope_u) if turned else (mean_x, mean_y, mean_h, slope_u, slope_v)


def wind(points: list[OutlinePoint], top: bool, tolerance: float) -> list[OutlinePoint]:
    """Return the convex outline of points, counter-clockwise; one or two points where it is a point or a segment.
    Source: S2.4.

    Every point lies within `tolerance` of the outline, and every corner farther than that from the line through its
    neighbours. Taking the farthest point from a chord, instead of comparing angles, has no special case at 180 degrees
    and removes duplicates.
    """
    if len(points) == 1:
        return points
    if len(points) == 4 or len(points) > _FEW_CORNERS:
        clear = _wind_quad(points, tolerance) if len(points) == 4 else _wind_by_angle(points, tolerance)
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
    right: list[tuple[float, OutlinePoint]] = []
    left: list[tuple[float, OutlinePoint]] = []
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
    # The first or the farthest point can be on a straight side.
    return without_straight_corners(loop, tolerance)


def _wind_quad(points: list[OutlinePoint], tolerance: float) -> list[OutlinePoint]:
    """Return the outline of four points that are clearly four corners; an empty list otherwise."""
    p, q, r, s = points
    x, y = p[0], p[1]
    ax, ay = q[0] - x, q[1] - y
    bx, by = r[0] - x, r[1] - y
    cx, cy = s[0] - x, s[1] - y
    # Twice the signed areas of triangles.
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


def _wind_by_angle(points: list[OutlinePoint], tolerance: float) -> list[OutlinePoint]:
    """Return the outline of many points that are clearly all corners; an empty list otherwise."""
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
    # In the order of the angles the outline has winding number 1; with left turns only it is convex.
    if (turns > limits).all() and lengths.min() > tolerance:
        return [points[k] for k in order.tolist()]
    return []


def _y_then_x(p: OutlinePoint) -> tuple[float, float, float, int]:
    return p[1], p[0], p[2], p[3]


def _height(p: OutlinePoint) -> float:
    return p[2]


def _add_chain(
    loop: list[OutlinePoint],
    start: OutlinePoint,
    end: OutlinePoint,
    outside: list[tuple[float, OutlinePoint]],
    tolerance: float,
) -> None:
    """Append the corners between `start` and `end`; `outside` are the points right of that chord, with their
    distances."""
    waiting: list[tuple[OutlinePoint, OutlinePoint, list[tuple[float, OutlinePoint]]]] = [(start, end, outside)]
    while waiting:
        p, q, outside = waiting.pop()
        if not outside:
            # A chord without points outside: its end is the next corner.
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


def on_one_line(
    first: list[OutlinePoint], second: list[OutlinePoint], width: float
) -> tuple[list[OutlinePoint], list[OutlinePoint]]:
    """Return two segments moved sideways onto the line between them where all their ends are within `width` of it, in
    world units, and each is rather along it than across; other outlines unchanged.

    Segments that lie along each other cross by rounding of the input, anywhere along them. A segment across the line
    that is shorter than `width` would become a point that is on none of its ends.
    """
    if len(first) != 2 or len(second) != 2:
        return first, second
    (px, py, *_), (qx, qy, *_) = first
    (rx, ry, *_), (sx, sy, *_) = second
    ux, uy, vx, vy = qx - px, qy - py, sx - rx, sy - ry
    sign = 1.0 if ux * vx + uy * vy >= 0.0 else -1.0
    x, y = ux + sign * vx, uy + sign * vy
    length = hypot(x, y)
    if length == 0.0:
        return first, second
    x, y = -y / length, x / length
    if abs(ux * x + uy * y) > abs(ux * y - uy * x) or abs(vx * x + vy * y) > abs(vx * y - vy * x):
        return first, second
    between = 0.25 * ((px + qx + (rx + sx)) * x + (py + qy + (ry + sy)) * y)
    offs = [[p[0] * x + p[1] * y - between for p in ends] for ends in (first, second)]
    if max(abs(off) for ends in offs for off in ends) > width:
        return first, second
    moved = [
        [(px - off * x, py - off * y, height, index) for (px, py, height, index), off in zip(ends, own, strict=True)]
        for ends, own in zip((first, second), offs, strict=True)
    ]
    return moved[0], moved[1]


def without_straight_corners(loop: list[_Place], tolerance: float) -> list[_Place]:
    """Return a counter-clockwise loop of points (x, y, ...) without those on the straight line between their
    neighbours.

    A point within `tolerance` of that line is still a corner where the loop turns back: the tip of a sliver.
    """
    kept: list[_Place] = []
    before = loop[-1]
    for i, corner in enumerate(loop):
        after = loop[i + 1] if i + 1 < len(loop) else (kept[0] if kept else loop[0])
        ux, uy = corner[0] - before[0], corner[1] - before[1]
        vx, vy = after[0] - corner[0], after[1] - corner[1]
        if ux * vy - uy * vx > tolerance * hypot(ux + vx, uy + vy) or ux * vx + uy * vy < 0.0:
            kept.append(corner)
            before = corner
    return kept
