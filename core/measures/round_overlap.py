# SPDX-License-Identifier: GPL-3.0-or-later
"""The volume of the overlap of convex shapes, one of which at least is curved, between polytopes inside and around it.

Both shapes are replaced by polytopes inside, whose overlap is one inside. The facets that it has of a curved shape,
moved out to the shape's support planes, are around it. Where the two differ by too much the support points of these
planes are corners of the next polytopes. Two balls have a closed form.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from ..curved.curved_inside import protrusion, spread, support_points
from ..result import Contact, Relation
from ..shapes.curved_shape import ConvexShape, CurvedShape, ring_around
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..tolerance import EPS
from ..types import FloatArray, IntArray
from ..vectors import cross, dot
from .polytope_overlap import OverlapBounds, overlap_body, overlap_bounds
from .volume_record import OverlapVolume

ENOUGH = 8e-3
"""Relative: gaps between facets and support planes in sum that leave bounds a hundredth apart: those at the edges
are not counted."""
_LEFT = 0.3
"""What is left of the gap of a facet when the support point of its plane is a corner."""
_FINE = 0.02
"""Of all gaps: what facets that are never refined have."""
_MOST = 3_000
"""Corners of a polytope inside, from which on the bounds are reported as they are."""
_START = 24
"""Directions of the first polytopes."""
_RINGS = np.array([1.5, 0.75, 0.4, 0.2])
"""Times the angle of the cap of a ball that is as deep: angles of rings of directions around the contact's normal."""
_BEYOND = (1e-9, 1e-6, 1e-3)
"""Times the distance of the centroid from the surface: what a shape inside another may protrude by."""
_ROUNDING = 1e-7
"""Relative: by how much bounds are widened for rounding, which is far less."""


class InnerOverlap(NamedTuple):
    """Polytopes inside two shapes and their overlap."""

    a: Polytope
    b: Polytope
    body: ConvexHull
    bounds: OverlapBounds
    """Of the overlap of the polytopes."""
    normals: FloatArray
    """(g, dim) of the support plane of the shape that each facet of the body is of."""
    offsets: FloatArray
    """(g,) their heights, world frame."""
    gaps: FloatArray
    """(g,) about how much is between facets and planes."""

    @property
    def gap(self) -> float:
        """About what the overlap misses, but for what is at its edges."""
        return float(self.gaps.sum())


def inner_overlaps(a: ConvexShape, b: ConvexShape, contact: Contact, wanted: float) -> Iterator[InnerOverlap]:
    """Yield overlaps of ever finer polytopes inside two shapes that penetrate, until what they miss is this part; none
    where rounding hides it."""
    corners = [_start(a, contact.normal, contact.depth), _start(b, -contact.normal, contact.depth)]
    inner: list[Polytope] = [a, b]  # type: ignore[list-item]
    while True:
        for k, shape in enumerate((a, b)):
            if isinstance(shape, CurvedShape):
                inner[k] = ConvexHull(corners[k])
        if min(shape.rank for shape in inner) < a.dim:
            return
        body = overlap_body(inner[0], inner[1])
        bounds = None if body is None else overlap_bounds(inner[0], inner[1], body)
        if body is None or bounds is None:
            return
        found = InnerOverlap(
            inner[0], inner[1], body, bounds, *_support_planes(a, b, inner, bounds.planes, _areas(body))
        )
        yield found
        # The facets that miss most, as many as are enough where each leaves a fraction.
        if found.gap <= wanted * bounds.volume or max(len(shape.vertices) for shape in inner) > _MOST:
            return
        order = np.argsort(-found.gaps, kind="stable")
        missed = np.cumsum(found.gaps[order])
        enough = (missed[-1] - wanted * bounds.volume) / (1.0 - _LEFT)
        worst = order[: 1 + int(np.searchsorted(missed, min(enough, (1.0 - _FINE) * missed[-1])))]
        split = len(inner[0].facets)
        for k, shape in enumerate((a, b)):
            if isinstance(shape, CurvedShape):
                rows = worst[(bounds.planes[worst] < split) == (k == 0)]
                corners[k] = np.concatenate([inner[k].vertices, support_points(shape, found.normals[rows])])


def _start(shape: ConvexShape, normal: FloatArray, depth: float) -> FloatArray:
    """Return points of the surface of a curved shape (k, dim): all around, and many where it ends along the normal."""
    if isinstance(shape, Polytope):
        return shape.vertices
    around = shape.start_directions()
    directions = [around if len(around) else spread(shape.dim, _START)]
    if normal.any():
        rim = ring_around(normal, 8) if shape.dim == 3 else np.array([[-1.0], [1.0]]) * [-normal[1], normal[0]]
        angles = (_RINGS * sqrt(min(1.0, 4.0 * depth / max(shape.extent, depth))))[:, None, None]
        turned = np.cos(angles) * normal + np.sin(angles) * rim
        directions += [normal[None], turned.reshape(-1, shape.dim)]
    revolution = shape.revolution
    if revolution is not None and revolution.axis is not None:
        directions.append(np.array([1.0, -1.0])[:, None] * revolution.axis)
    return support_points(shape, np.concatenate(directions))


def round_overlap(a: ConvexShape, b: ConvexShape, contact: Contact) -> OverlapVolume | None:
    """Return the volume of the overlap of two shapes that penetrate; None where rounding hides it."""
    balls = ball_of(a), ball_of(b)
    if balls[0] is not None and balls[1] is not None:
        return _lens(*balls[0], *balls[1])
    for inside, outside, relation in ((a, b, Relation.A_INSIDE_B), (b, a, Relation.B_INSIDE_A)):
        if contact.relation in (relation, Relation.COINCIDENT):
            whole = _contained(inside, outside)
            if whole is not None:
                return whole
    found = list(inner_overlaps(a, b, contact, ENOUGH))
    if not found:
        return None
    last = found[-1]
    lower = last.bounds.lower * (1.0 - _ROUNDING)
    upper = _outer_volume(last.normals, last.offsets, last.bounds.centroid) * (1.0 + _ROUNDING)
    return OverlapVolume(0.5 * (lower + upper), lower, upper, last.bounds.centroid)


def _support_planes(
    a: ConvexShape, b: ConvexShape, inner: list[Polytope], planes: IntArray, areas: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return normals, offsets and gaps of `InnerOverlap`."""
    normals = np.concatenate([polytope.normals for polytope in inner])[planes]
    own = np.concatenate([polytope.offsets + polytope.normals @ polytope.center for polytope in inner])[planes]
    of_a, of_b = ((shape.supports(normals) * normals).sum(axis=1) for shape in (a, b))
    offsets = np.where(planes < len(inner[0].facets), of_a, of_b)
    return normals, offsets, np.maximum(offsets - own, 0.0) * areas


def _areas(body: ConvexHull) -> FloatArray:
    """Return the areas of the facets, in the plane the lengths of the sides."""
    if body.dim == 3:
        return body._vector_areas / 2.0
    return np.linalg.norm(np.diff(body.vertices[body.edges], axis=1)[:, 0], axis=1)


def dual_corners(normals: FloatArray, offsets: FloatArray, middle: FloatArray) -> tuple[ConvexHull, FloatArray]:
    """Return the dual of the polytope below planes about a point inside, and its corners (k, dim) about that point: one
    of each facet of the dual."""
    room = offsets - normals @ middle
    dual = ConvexHull(normals / room[:, None])
    return dual, dual.normals / (dual.offsets + dual.normals @ dual.center)[:, None]


def _outer_volume(normals: FloatArray, offsets: FloatArray, middle: FloatArray) -> float:
    """Return the volume of the polytope below planes about a point inside."""
    dual, rows = dual_corners(normals, offsets, middle)
    corners = rows.T
    if len(corners) == 2:
        x, y = corners
        return float(np.abs(x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) / 2.0
    # An edge is in the facets of two corners of the dual, with which it spans cones about their feet.
    first, second = corners[:, dual.edge_facets[:, 0]], corners[:, dual.edge_facets[:, 1]]
    feet = dual.vertices.T / dot(dual.vertices.T, dual.vertices.T)
    start, end = feet[:, dual.edges[:, 0]], feet[:, dual.edges[:, 1]]
    return float(np.abs(dot(cross(second, first), end - start).sum())) / 6.0


def part_inside(inside: ConvexShape, outside: ConvexShape) -> float:
    """Return by what a shape must be scaled about its centroid to be inside another surely; 0.0 where that is much."""
    room = -float(inside.signed_distance(inside.centroid[None])[0])
    for beyond in _BEYOND:
        # It is inside of the other grown by this, and a ball about the centroid is inside the other itself.
        if protrusion(inside, outside, beyond * room) <= beyond * room:
            return 1.0 - beyond
    return 0.0


def _contained(inside: ConvexShape, outside: ConvexShape) -> OverlapVolume | None:
    """Return the volume of a shape that is inside another, but for what it may protrude by; None where that matters."""
    volume, centroid, left = inside.volume, inside.centroid, part_inside(inside, outside)
    lower, upper = volume * left**inside.dim * (1.0 - _ROUNDING), volume * (1.0 + _ROUNDING)
    return OverlapVolume(volume, lower, upper, centroid) if upper - lower <= ENOUGH * upper else None


def ball_of(shape: ConvexShape) -> tuple[FloatArray, float] | None:
    """Return centre and radius of a ball; None for other shapes."""
    if isinstance(shape, CurvedShape) and shape.skeleton is not None and len(shape.skeleton.vertices) == 1:
        return shape.skeleton.vertices[0], shape.rounding_radius
    return None


def _lens(p: FloatArray, r: float, q: FloatArray, s: float) -> OverlapVolume:
    """Return the volume in which two balls, in the plane circles, overlap, which are not apart."""
    apart = q - p
    distance = sqrt(float(apart @ apart))
    dim = len(p)
    # Where the distance is wrong by its rounding the lens is by as much of its section.
    rounding = 8.0 * EPS * max(float(np.abs(p).max()), float(np.abs(q).max()), r, s)
    if distance <= abs(r - s):
        radius, centroid = (r, p) if r < s else (s, q)
        volume = (4.0 / 3.0 * pi * radius**3) if dim == 3 else pi * radius**2
        wrong = rounding * (4.0 * pi * radius**2 if dim == 3 else 2.0 * pi * radius)
        return OverlapVolume(volume, max(0.0, volume - wrong), volume + wrong, centroid)
    # Heights of the caps of both balls, from the tip of each to the plane in which the spheres meet.
    depth = r + s - distance
    of_r, of_s = depth * (s - r + distance) / (2.0 * distance), depth * (r - s + distance) / (2.0 * distance)
    (first, at_first), (second, at_second) = _cap(r, of_r, dim), _cap(s, of_s, dim)
    volume = first + second
    along = apart / distance
    centroid = (first * (p + at_first * along) + second * (q - at_second * along)) / volume if volume > 0.0 else p
    smaller = min(r, s)
    wrong = rounding * (pi * smaller**2 if dim == 3 else 2.0 * smaller) + 64.0 * EPS * smaller**dim
    return OverlapVolume(max(volume, 0.0), max(0.0, volume - wrong), max(volume, 0.0) + wrong, centroid)


def _cap(radius: float, height: float, dim: int) -> tuple[float, float]:
    """Return the volume of a cap, of a circle's segment the area, and how far its centroid is from the centre."""
    if dim == 3:
        volume = pi * height**2 * (3.0 * radius - height) / 3.0
        return volume, 3.0 * (2.0 * radius - height) ** 2 / (4.0 * (3.0 * radius - height))
    half = sqrt(max(0.0, height * (2.0 * radius - height)))
    angle = np.arctan2(half, radius - height)
    area = float(radius**2 * angle - (radius - height) * half)
    return area, 2.0 * half**3 / (3.0 * area) if area > 0.0 else radius
