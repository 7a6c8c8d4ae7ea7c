# SPDX-License-Identifier: GPL-3.0-or-later
"""Sides of convex outlines in a plane, straight or arcs: which parts of one are inside another outline.

Such an outline is that of disks and polygons that intersect: inside is what is left of all its straight sides, and in
the circles of all its arcs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import acos, atan2, cos, hypot, inf, pi, sin, sqrt
from typing import NamedTuple

from ..curved.disk_region import Disk, Place, angle_of


class OutlineSide(NamedTuple):
    """A side of an outline, counter-clockwise about what it bounds."""

    x0: float
    y0: float
    x1: float
    y1: float
    disk: Disk | None = None
    """The circle that it follows, counter-clockwise; None for a straight one."""

    @property
    def angle(self) -> float:
        """Angle of an arc, in (0, 2 pi]; 0 of a straight side."""
        return 0.0 if self.disk is None else angle_of(self.disk, self[:2], self[2:4])

    @property
    def length(self) -> float:
        return hypot(self.x1 - self.x0, self.y1 - self.y0) if self.disk is None else self.disk.radius * self.angle

    @property
    def bulge(self) -> float:
        """How far an arc is from its chord at most; 0 of a straight side."""
        if self.disk is None:
            return 0.0
        angle = self.angle
        return self.disk.radius * (1.0 - cos(0.5 * angle) if angle <= pi else 2.0)

    def at(self, fraction: float) -> Place:
        """Return the place at a fraction of the side."""
        if fraction <= 0.0 or fraction >= 1.0:
            return self[:2] if fraction <= 0.0 else self[2:4]
        if self.disk is None:
            return self.x0 + fraction * (self.x1 - self.x0), self.y0 + fraction * (self.y1 - self.y0)
        x, y, radius = self.disk
        turn = atan2(self.y0 - y, self.x0 - x) + fraction * self.angle
        return x + radius * cos(turn), y + radius * sin(turn)

    def part(self, begin: float, end: float) -> OutlineSide:
        """Return the part between two fractions."""
        return OutlineSide(*self.at(begin), *self.at(end), self.disk)


def covered_parts(
    side: OutlineSide, outline: Sequence[OutlineSide], rounding: float, yields: bool
) -> list[tuple[float, float]]:
    """Return the parts of a side, from one fraction to another, that are inside an outline; where it is on a side of
    the same direction within `rounding`, only if it `yields` to that outline."""
    cuts = sorted({0.0, 1.0, *(t for other in outline for t in _meetings(side, other) if 0.0 < t < 1.0)})
    return [(begin, end) for begin, end in pairwise(cuts) if _is_inside(side, begin, end, outline, rounding, yields)]


def _is_inside(
    side: OutlineSide, begin: float, end: float, outline: Sequence[OutlineSide], rounding: float, yields: bool
) -> bool:
    """Return whether a part of a side that no side of an outline crosses is inside of it."""
    places = side.at(begin), side.at(0.5 * (begin + end)), side.at(end)
    for other in outline:
        heights = [_height(other, place) for place in places]
        if max(map(abs, heights)) <= rounding:
            along = (side.x1 - side.x0) * (other.x1 - other.x0) + (side.y1 - side.y0) * (other.y1 - other.y0)
            if not yields and (side.disk is not None or along > 0.0):
                return False
        elif heights[1] < 0.0:
            return False
    return True


def _height(side: OutlineSide, place: Place) -> float:
    """Return how far inside of the line or the circle of a side a place is."""
    if side.disk is not None:
        return side.disk.radius - hypot(place[0] - side.disk.x, place[1] - side.disk.y)
    x, y = side.x1 - side.x0, side.y1 - side.y0
    length = hypot(x, y)
    return (x * (place[1] - side.y0) - y * (place[0] - side.x0)) / length if length > 0.0 else inf


def _meetings(side: OutlineSide, other: OutlineSide) -> Iterator[float]:
    """Yield the fractions of a side at which it meets the line or the circle of another."""
    if side.disk is None:
        yield from _meetings_of_straight(side, other)
        return
    x, y, radius = side.disk
    if other.disk is None:
        # Where the height above the line, that of the middle and a part of the radius, is 0.
        across = atan2(other.x1 - other.x0, other.y0 - other.y1)
        cosine = -_height(other, (x, y)) / radius
    else:
        dx, dy = other.disk.x - x, other.disk.y - y
        apart = hypot(dx, dy)
        across = atan2(dy, dx)
        cosine = inf
        if apart > 0.0:
            cosine = (apart + (radius - other.disk.radius) * (radius + other.disk.radius) / apart) / (2.0 * radius)
    if abs(cosine) < 1.0:
        start, angle = atan2(side.y0 - y, side.x0 - x), side.angle
        for turn in (across - acos(cosine), across + acos(cosine)):
            yield (turn - start) % (2.0 * pi) / angle


def _meetings_of_straight(side: OutlineSide, other: OutlineSide) -> Iterator[float]:
    x, y = side.x1 - side.x0, side.y1 - side.y0
    if other.disk is None:
        first, last = _height(other, side[:2]), _height(other, side[2:4])
        if first * last < 0.0:
            yield first / (first - last)
        return
    length = hypot(x, y)
    if length == 0.0:
        return
    ox, oy = other.disk.x - side.x0, other.disk.y - side.y0
    along, off = (ox * x + oy * y) / length, (ox * y - oy * x) / length
    half = (other.disk.radius - off) * (other.disk.radius + off)
    if half > 0.0:
        yield (along - sqrt(half)) / length
        yield (along + sqrt(half)) / length
