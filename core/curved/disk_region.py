# SPDX-License-Identifier: GPL-3.0-or-later
"""Intersections in the plane that have arcs: of a disk with a point, a segment, a convex polygon or another disk.

Areas and centroids are exact to rounding: polygons plus segments of circles. Source: S2.5, S2.6.
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin, sqrt
from typing import NamedTuple

Place = tuple[float, float]

_SMALL_ARC = 1e-3
"""Angle below which a segment of a circle is measured by the first term of its series: the remainder is 1e-7 of it."""


class Disk(NamedTuple):
    """A disk in the plane."""

    x: float
    y: float
    radius: float


class RoundOutline(NamedTuple):
    """A convex outline of straight sides and arcs, counter-clockwise; one corner makes a point, two may make a
    segment."""

    corners: tuple[Place, ...]
    arcs: tuple[Disk | None, ...]
    """For each side, from its corner to the next one, the circle it follows; None for a straight one."""


def disk_and_points(disk: Disk, points: list[Place], tolerance: float) -> RoundOutline | None:
    """Return the intersection of a disk and a point, a segment or a convex polygon (counter-clockwise); None when
    empty.

    Lengths below `tolerance` count as 0.
    """
    if len(points) == 1:
        x, y = points[0]
        inside = hypot(x - disk.x, y - disk.y) <= disk.radius + tolerance
        return RoundOutline(((x, y),), (None,)) if inside else None
    pieces = [
        piece
        for k, start in enumerate(points)
        if (piece := _within(disk, start, points[(k + 1) % len(points)], tolerance)) is not None
    ]
    if len(points) == 2:
        if not pieces:
            return None
        p, q = pieces[0]
        if hypot(q[0] - p[0], q[1] - p[1]) <= tolerance:
            return RoundOutline((p,), (None,))
        return RoundOutline((p, q), (None, None))
    if not pieces:
        return _whole(disk) if _inside(points, (disk.x, disk.y)) else None
    corners: list[Place] = []
    arcs: list[Disk | None] = []
    for k, (start, end) in enumerate(pieces):
        follows = pieces[(k + 1) % len(pieces)][0]
        if hypot(end[0] - start[0], end[1] - start[1]) > tolerance:
            corners.append(start)
            arcs.append(None)
        if hypot(follows[0] - end[0], follows[1] - end[1]) > tolerance or len(pieces) == 1:
            corners.append(end)
            arcs.append(disk)
    if len(corners) == 1:
        # A side touches the circle: the whole disk is on one side of it.
        return _whole(disk) if _inside(points, (disk.x, disk.y)) else RoundOutline((corners[0],), (None,))
    if not corners:
        return RoundOutline((pieces[0][0],), (None,))
    return RoundOutline(tuple(corners), tuple(arcs))


def disk_and_disk(a: Disk, b: Disk, tolerance: float) -> RoundOutline | None:
    """Return the intersection of two disks; None when empty."""
    # Relative to the smaller one: the rounding of a large radius may be all of a small one.
    small, large = (a, b) if a.radius <= b.radius else (b, a)
    dx, dy = large.x - small.x, large.y - small.y
    apart = hypot(dx, dy)
    if apart > small.radius + large.radius + tolerance:
        return None
    if apart <= large.radius - small.radius + tolerance:
        return _whole(small)
    along = ((apart - large.radius) * (apart + large.radius) + small.radius**2) / (2.0 * apart)
    half2 = (small.radius - along) * (small.radius + along)
    x, y = small.x + dx * along / apart, small.y + dy * along / apart
    if half2 <= tolerance * tolerance:
        return RoundOutline(((x, y),), (None,))
    half = sqrt(half2)
    left, right = (x - dy * half / apart, y + dx * half / apart), (x + dy * half / apart, y - dx * half / apart)
    # Counter-clockwise: the rim of the small disk from right to left is inside the large one.
    return RoundOutline((right, left), (small, large))


def measures(outline: RoundOutline) -> tuple[float, float, Place]:
    """Return area, length of the outline and centroid; the area of a point or a segment is 0."""
    corners, arcs = outline.corners, outline.arcs
    x0, y0 = corners[0]
    if len(corners) == 1 and arcs[0] is None:
        return 0.0, 0.0, (x0, y0)
    if len(corners) == 2 and arcs == (None, None):
        x1, y1 = corners[1]
        return 0.0, hypot(x1 - x0, y1 - y0), (0.5 * (x0 + x1), 0.5 * (y0 + y1))
    area = length = mx = my = 0.0
    for k, (start, arc) in enumerate(zip(corners, arcs, strict=True)):
        end = corners[(k + 1) % len(corners)]
        ax, ay, bx, by = start[0] - x0, start[1] - y0, end[0] - x0, end[1] - y0
        cross = 0.5 * (ax * by - ay * bx)
        area += cross
        mx += cross * (ax + bx) / 3.0
        my += cross * (ay + by) / 3.0
        if arc is None:
            length += hypot(bx - ax, by - ay)
            continue
        part, around, (x, y) = segment_of(arc, start, end)
        length += around
        area += part
        mx += part * (arc.x - x0 + x)
        my += part * (arc.y - y0 + y)
    if area <= 0.0:
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return 0.0, length, (sum(xs) / len(xs), sum(ys) / len(ys))
    return area, length, (x0 + mx / area, y0 + my / area)


def segment_of(arc: Disk, start: Place, end: Place) -> tuple[float, float, Place]:
    """Return the area between an arc and its chord, the length of the arc, and the centroid of that area from the
    middle of the circle."""
    angle = angle_of(arc, start, end)
    r2 = arc.radius**2
    part, reach = r2 * angle**3 / 12.0, arc.radius
    if angle > _SMALL_ARC:
        part = 0.5 * r2 * (angle - sin(angle))
        reach = (4.0 / 3.0) * arc.radius * sin(0.5 * angle) ** 3 / (angle - sin(angle))
    middle = atan2(start[1] - arc.y, start[0] - arc.x) + 0.5 * angle
    return part, arc.radius * angle, (reach * cos(middle), reach * sin(middle))


def angle_of(arc: Disk, start: Place, end: Place) -> float:
    """Return the angle of an arc, counter-clockwise, in (0, 2 pi]."""
    ax, ay, bx, by = start[0] - arc.x, start[1] - arc.y, end[0] - arc.x, end[1] - arc.y
    angle = atan2(ax * by - ay * bx, ax * bx + ay * by)
    return angle if angle > 0.0 else angle + 2.0 * pi


def _whole(disk: Disk) -> RoundOutline:
    x, y, r = disk
    return RoundOutline(((x + r, y), (x, y + r), (x - r, y), (x, y - r)), (disk,) * 4)


def _within(disk: Disk, start: Place, end: Place, tolerance: float) -> tuple[Place, Place] | None:
    """Return the part of a segment that is in a disk; None when empty."""
    ux, uy = end[0] - start[0], end[1] - start[1]
    length = hypot(ux, uy)
    if length <= tolerance:
        return (start, start) if hypot(start[0] - disk.x, start[1] - disk.y) <= disk.radius + tolerance else None
    ux, uy = ux / length, uy / length
    along = (disk.x - start[0]) * ux + (disk.y - start[1]) * uy
    off = (disk.x - start[0]) * uy - (disk.y - start[1]) * ux
    half2 = disk.radius**2 - off * off
    if half2 < 0.0:
        if abs(off) > disk.radius + tolerance or not 0.0 <= along <= length:
            return None
        half2 = 0.0
    half = sqrt(half2)
    first, last = max(0.0, along - half), min(length, along + half)
    if first > last:
        return None
    entry = start if first == 0.0 else (start[0] + ux * first, start[1] + uy * first)
    exit_ = end if last == length else (start[0] + ux * last, start[1] + uy * last)
    return entry, exit_


def _inside(points: list[Place], place: Place) -> bool:
    x, y = place
    sides = zip(points, points[1:] + points[:1], strict=True)
    return all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0.0 for (ax, ay), (bx, by) in sides)
