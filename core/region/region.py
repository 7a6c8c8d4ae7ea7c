# SPDX-License-Identifier: GPL-3.0-or-later
r"""The contact region: the intersection of the two support features.

     h
     ^            \    upper    /
     |             +-----------+              h = upper.support, its lowest point
     o===================================     contact plane, h = `middle` of both supports
     |       +-----------+                    h = lower.support, its highest point
     |      /    lower    \
     +             |-----|                    the region: what both features cover, seen along n

The frame of the contact: o is the middle of the witness points, n the normal, or minus the normal, that points up. The
rotation by the shortest arc that turns z to n turns x to s and y to t:

    s = (1 - nx^2 / (1 + nz), -nx ny / (1 + nz), -nx),   t = (-nx ny / (1 + nz), 1 - ny^2 / (1 + nz), -ny)

A point p has the coordinates (p - o) . s and (p - o) . t and the height h = (p - o) . n; a depth is the height of the
lower feature less that of the upper one, > 0 where they overlap.

Measures are sums over the triangles of the last corner and each side, from P to Q, all from that corner (`_measures`):
P x Q is twice the area of a triangle, (P + Q) / 3 its centroid.

    area = 1/2 sum P x Q,   centroid = sum (P x Q) (P + Q) / (3 sum P x Q)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import hypot, inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_floats, as_length, as_unit
from ..shapes.feature import Feature
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope, validate_polytopes
from ..tolerance import EPS, REGION_NAMED, REGION_ROUNDING, REGION_SUPPORT, REGION_TILT
from ..trace import Step
from ..types import FloatArray, ReadOnlyArrays, read_only
from .clip import Corner, Left, intersection, tidy
from .outline import INSIDE, Outline, OutlinePoint, on_one_line
from .region_steps import region_steps


class RegionKind(StrEnum):
    """Kind of a contact region."""

    POINT = "point"
    SEGMENT = "segment"
    POLYGON = "polygon"


@dataclass(frozen=True, eq=False)
class Arc(ReadOnlyArrays):
    """A side of a region that follows a circle, in the contact plane."""

    side: int
    """It runs from vertex `side` to the next one, counter-clockwise seen from the tip of the normal."""
    center: FloatArray
    """(dim,) world frame."""
    radius: float
    """World units."""


@dataclass(frozen=True, eq=False)
class Region(ReadOnlyArrays):
    """Intersection of the two support features in the contact plane. Source: S2.2 to S2.6.

    The contact plane is across the contact normal, half-way between the two support planes, so that it does not depend
    on the order of the shapes. Across a gap the region is what of the two features faces each other, as it would be if
    one were moved along the normal until they touch. The arrays are read-only.

    The kind is that of the intersection, not of the features: the faces of two boxes that touch along an edge lie in
    one plane and have only that edge in common, so the region of two faces is a segment.

    >>> found = contact(Box((0, 0, 0), (2, 2, 2)), Box((2, 2, 0), (2, 2, 2)))
    >>> print(found.feature_a.kind.value, found.feature_b.kind.value, found.region.kind.value, found.region.length)
    face face segment 2.0
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
    """(k,) depth of the two features in each other along the normal at each vertex: > 0 penetrating, < 0 minus the gap
    between them.

    No depth is more than minus the signed distance; where both features lie flat in their support planes, every
    depth is equal to it."""
    features: tuple[tuple[Feature, Feature], ...]
    """For each vertex, the feature of A and the feature of B it lies on."""
    arcs: tuple[Arc, ...] = ()
    """Sides that are arcs; area, length and centroid include them. Empty for polytopes."""

    def outline(self, normal: FloatArray, steps: int = 48) -> FloatArray:
        """Return the outline (m, dim) with arcs as short straight sides, `steps` to a full circle; else the vertices.

        `normal` (dim,) is that of the contact.
        """
        if not self.arcs:
            return self.vertices
        of_side = {arc.side: arc for arc in self.arcs}
        points: list[FloatArray] = []
        for side, start in enumerate(self.vertices):
            points.append(start[None])
            arc = of_side.get(side)
            if arc is None:
                continue
            end = self.vertices[(side + 1) % len(self.vertices)]
            out, to = start - arc.center, end - arc.center
            angle = float(np.arctan2(np.cross(out, to) @ normal, out @ to)) % (2.0 * np.pi)
            count = max(1, round(steps * angle / (2.0 * np.pi)))
            turn = angle * np.arange(1, count)[:, None] / count
            points.append(arc.center + np.cos(turn) * out + np.sin(turn) * np.cross(normal, out))
        return np.concatenate(points)

    def scaled(self, exponent: int) -> Region:
        """Return the region of the shapes scaled by 2**exponent; an area beyond float64 is infinite."""
        return replace(
            self,
            vertices=read_only(np.ldexp(self.vertices, exponent)),
            area=scaled_area(self.area, exponent),
            length=float(np.ldexp(self.length, exponent)),
            centroid=read_only(np.ldexp(self.centroid, exponent)),
            depths=read_only(np.ldexp(self.depths, exponent)),
            arcs=tuple(
                Arc(arc.side, read_only(np.ldexp(arc.center, exponent)), float(np.ldexp(arc.radius, exponent)))
                for arc in self.arcs
            ),
        )


def scaled_area(area: float, exponent: int) -> float:
    """Return the area of a region scaled by 2**exponent; infinite beyond float64."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(area, 2 * exponent))


# Looking up a member of an enumeration costs more than the arithmetic here.
_POINT, _SEGMENT, _POLYGON = RegionKind

_FEW_VERTICES = 48  # up to this number plain Python selects the vertices of a support feature faster than numpy


def contact_region(
    a: Polytope,
    b: Polytope,
    normal: ArrayLike,
    feature_width: float,
    point_on_a: ArrayLike,
    point_on_b: ArrayLike,
) -> Region:
    """Intersect the support features of two shapes in their contact plane. Source: S2.2 to S2.6.

    >>> lower, upper = Box((0, 0, 0), (2, 2, 2)), Box((1, 0, 1.9), (2, 2, 2))
    >>> region = contact_region(lower, upper, (0, 0, 1), 0.0, (0.5, 0, 1), (0.5, 0, 0.9))
    >>> print(region.kind.value, round(region.area, 9), region.centroid.round(9).tolist())
    polygon 2.0 [0.5, 0.0, 0.95]

    Args:
        a: the first shape, in space or in the plane.
        b: the second shape, of the same dimension.
        normal: (dim,) contact normal from A to B, world frame; normalised here.
        feature_width: vertices of A no farther than this below its highest along the normal belong to its support
            feature, and likewise the lowest of B; world units, >= 0. It is widened to the rounding error of the
            coordinates, so that 0 selects the exact faces.
        point_on_a: (dim,) witness point on A, world frame.
        point_on_b: (dim,) witness point on B.

    Returns: The region, never empty. Where the features miss each other the region is the midpoint of the two witness
        points with the whole support features. Exchanging A and B (and the sign of the normal) gives the same vertices
        in reverse order.

    Raises: ValueError: naming the argument, when a shape is not a polytope or the dimensions differ, when `normal` or a
        witness point has another length or is not finite, when `normal` is zero, or when `feature_width` is negative or
        not finite.
    """
    validate_polytopes(a, b)
    unit = as_unit("normal", normal, a.dim)
    width = as_length("feature_width", feature_width)
    on_a = as_floats("point_on_a", point_on_a, a.dim)
    on_b = as_floats("point_on_b", point_on_b, a.dim)
    exponent = extreme_exponent(a, b)
    if exponent:
        a, b = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent)
        width = float(np.ldexp(width, -exponent))
        on_a, on_b = np.ldexp(on_a, -exponent).tolist(), np.ldexp(on_b, -exponent).tolist()
        return region_between(a, b, unit, width, on_a, on_b).scaled(exponent)
    return region_between(a, b, unit, width, on_a, on_b)


def region_between(
    a: Polytope,
    b: Polytope,
    normal: FloatArray,
    width: float,
    point_on_a: list[float],
    point_on_b: list[float],
    steps: list[Step] | None = None,
) -> Region:
    """Return the contact region for validated arguments and shapes of ordinary size; steps: its own are appended."""
    magnitude = max(a.magnitude, b.magnitude)
    flat = len(normal) == 2
    nx, ny, nz = (*normal.tolist(), 0.0)[:3]
    ax, ay, az = (*point_on_a, 0.0)[:3]
    bx, by, bz = (*point_on_b, 0.0)[:3]
    size = sqrt(nx * nx + ny * ny + nz * nz)

    # Work along the axis of the normal that points up, with the shapes in that order: (A, B, n) and (B, A, -n) are then
    # the same computation, and only the last lines distinguish them.
    turned = nz < 0.0 or (nz == 0.0 and (ny < 0.0 or (ny == 0.0 and nx < 0.0)))
    if turned:
        size = -size
    nx, ny, nz = nx / size + 0.0, ny / size + 0.0, nz / size + 0.0
    if flat:
        # In the plane the contact plane is a line: y is 0.
        sx, sy, sz, tx, ty, tz = ny, -nx, 0.0, 0.0, 0.0, 1.0
    else:
        # Smooth wherever nz >= 0, exact for the coordinate axes.
        down = -1.0 / (1.0 + nz)
        mixed = nx * ny * down
        sx, sy, sz = 1.0 + nx * nx * down, mixed, -nx
        tx, ty, tz = mixed, 1.0 + ny * ny * down, -ny
    # The midpoint of the witness points is in or near the region: coordinates about it lose no digits far from the
    # world's origin.
    ox, oy, oz = 0.5 * ax + 0.5 * bx, 0.5 * ay + 0.5 * by, 0.5 * az + 0.5 * bz

    rounding = EPS * magnitude
    frame = (ox, oy, oz, sx, sy, sz, tx, ty, tz, nx, ny, nz)
    slack = REGION_SUPPORT * rounding
    # The normal carries the rounding of the smaller shape's coordinates, and tilts the larger shape's face by it.
    small = min(a.extent, b.extent) or max(a.extent, b.extent)
    tilt = min(slack / small, REGION_TILT) if small > 0.0 else 0.0
    points_a = _support_points(a, normal, max(width, slack + tilt * a.extent), frame)
    points_b = _support_points(b, -normal, max(width, slack + tilt * b.extent), frame)

    tolerance = REGION_ROUNDING * rounding
    lower = Outline(points_b if turned else points_a, True, slack, tolerance)
    upper = Outline(points_a if turned else points_b, False, slack, tolerance)
    lower.loop, upper.loop = on_one_line(lower.loop, upper.loop, width)
    cuts: list[Left] | None = None if steps is None else []
    corners = intersection(lower.loop, upper.loop, tolerance, cuts)
    measures = _measures(corners, tolerance)
    if measures is None:
        corners = tidy(corners, tolerance)
        measures = _measures(corners, -inf)
    deepest = lower.support - upper.support
    middle = 0.5 * (lower.support + upper.support)  # mutant: region-in-the-plane-of-a

    if measures is None:
        # The features miss each other at the rounding limit: the witness points are the contact.
        x = y = middle = area = length = 0.0
        kind = _POINT
        depths = [deepest]
        pairs = [(lower.feature(INSIDE), upper.feature(INSIDE))]
        corners = [(0.0, 0.0, INSIDE, INSIDE, 0)]
    else:
        kind, area, length, x, y = measures
        near = REGION_NAMED * tolerance
        corners = [(u, v, lower.place_of(i, u, v, near), upper.place_of(j, u, v, near), 0) for u, v, i, j, _ in corners]
        if lower.level and upper.level:  # mutant: region-one-depth-for-all
            depths = [deepest] * len(corners)
        else:
            depths = [lower.height(i, x_, y_) - upper.height(j, x_, y_) for x_, y_, i, j, _ in corners]
        of_lower, of_upper = lower.features, upper.features
        pairs = [
            (of_lower.get(i) or lower.feature(i), of_upper.get(j) or upper.feature(j)) for _, _, i, j, _ in corners
        ]

    ox, oy, oz = ox + middle * nx, oy + middle * ny, oz + middle * nz
    if turned:
        corners.reverse()
        depths.reverse()
        pairs = [(second, first) for first, second in reversed(pairs)]  # mutant: region-features-of-the-other
    dim = len(normal)
    vertices = [(ox + u * sx + v * tx, oy + u * sy + v * ty, oz + u * sz + v * tz)[:dim] for u, v, _, _, _ in corners]
    centroid = (ox + x * sx + y * tx, oy + x * sy + y * ty, oz + x * sz + y * tz)[:dim]
    region = Region(
        kind,
        read_only(np.array(vertices)),
        area,
        length,
        read_only(np.array(centroid)),
        read_only(np.array(depths)),
        tuple(pairs),
    )
    if steps is not None:
        axes = np.array([(sx, sy, sz), (tx, ty, tz)])[:, :dim]
        plane = np.array((ox, oy, oz)[:dim]), axes
        steps += region_steps(lower.loop, upper.loop, not turned, cuts or [], region.vertices, normal, plane)
    return region


def _support_points(
    shape: Polytope,
    direction: FloatArray,
    width: float,
    frame: tuple[float, ...],
) -> list[OutlinePoint]:
    """Return the vertices within `width` of the farthest along a direction, in the frame of the contact."""
    heights = shape._centred.dot(direction)
    if len(heights) <= _FEW_VERTICES:
        values = heights.tolist()
        limit = max(values) - width
        chosen = [i for i, value in enumerate(values) if value >= limit]
        rows = shape._rows
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
    indices = (heights >= heights[heights.argmax()] - width).nonzero()[0]
    dim = len(direction)
    basis = np.array(frame[3:]).reshape(3, 3)[:, :dim]
    local = (shape.vertices[indices] - np.array(frame[:dim])).dot(basis.T)
    return [(x, y, z, i) for (x, y, z), i in zip(local.tolist(), indices.tolist(), strict=True)]


def _measures(corners: list[Corner], tolerance: float) -> tuple[RegionKind, float, float, float, float] | None:
    """Return kind, area, length and centroid (x, y) in the contact plane. Source: S2.6.

    None when there is no region or `tidy` must be applied to the corners first. A tolerance of -inf accepts any
    corners.
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
    # About the last corner, so that the terms are as small as the polygon.
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
    thrice = 3.0 * twice_area  # mutant: region-mean-of-corners
    return _POLYGON, 0.5 * twice_area, perimeter, x0 + mx / thrice, y0 + my / thrice  # mutant: region-half-the-area
