# SPDX-License-Identifier: GPL-3.0-or-later
"""The intersection of two convex polytopes as a polytope, and its volume between bounds that hold.

Its corners are the corners of each inside the other, and where edges of each enter and leave the other. However they
were found, two facts about them, measured about a point inside, prove the bounds:

* shrunk until every corner is below every facet's plane the body is inside both shapes: the lower bound;
* each facet of the body is near one plane of the shapes. So whoever is below all these planes, shrunk by as much, does
  not reach its surface: grown by as much it contains the overlap: the upper bound.

A plane is where the shape's farthest corner is, or, where it must be inside, at the lowest corner of its facet, because
the corners of a facet are in one plane to rounding only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..tolerance import EPS, OVERLAP_ROUNDING, OVERLAP_SUM
from ..types import FloatArray, IntArray
from ..vectors import cross, dot

_FAR_FROM_PLANE = 1e-13
"""Relative to a plane's distance from the middle: facets of the body that are farther below the plane with the normal
nearest to theirs look for another one."""


class OverlapBounds(NamedTuple):
    """What a body proves of the overlap's volume, and which planes it is made of."""

    lower: float
    volume: float
    upper: float
    centroid: FloatArray
    """(dim,) world frame."""
    planes: IntArray
    """(g,) the facet that each facet of the body is on: of A, or, from A's number of facets on, of B."""


def overlap_body(a: Polytope, b: Polytope) -> ConvexHull | None:
    """Return the intersection of two polytopes that fill their space, to rounding; None where it does not."""
    low, high = np.maximum(a.bounds[0], b.bounds[0]), np.minimum(a.bounds[1], b.bounds[1])
    origin = 0.5 * low + 0.5 * high
    local_a, local_b = a.vertices - origin, b.vertices - origin
    slack = OVERLAP_ROUNDING * EPS * max(float(np.abs(local_a).max()), float(np.abs(local_b).max()))
    points = [
        _inside(local_a, a.edges, local_b, b.normals, slack),
        _inside(local_b, b.edges, local_a, a.normals, slack),
    ]
    if points[0] is None or points[1] is None:
        return None
    corners = np.concatenate([points[0], points[1]])
    if len(corners) <= a.dim:
        return None
    body = ConvexHull(corners + origin)
    return body if body.rank == body.dim else None


def _inside(
    points: FloatArray, edges: IntArray, other: FloatArray, normals: FloatArray, slack: float
) -> FloatArray | None:
    """Return the corners (k, dim) of a polytope in another, to the slack, and the ends of its edges' parts there; None
    where a facet of the other parts both."""
    heights = points @ normals.T - (other @ normals.T).max(axis=0)
    if (heights.min(axis=0) > slack).any():
        return None
    heights = heights[:, heights.max(axis=0) > slack]
    is_above = heights > slack
    is_inside = ~is_above.any(axis=1)
    start, end = edges[~is_inside[edges].all(axis=1)].T
    crossing = ~(is_above[start] & is_above[end]).any(axis=1)
    start, end = start[crossing], end[crossing]
    first, last, above_first, above_last = heights[start], heights[end], is_above[start], is_above[end]

    def part(beyond: float) -> tuple[FloatArray, FloatArray]:
        """Return where edges enter and leave, as fractions of their lengths."""
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.clip((first - beyond) / (first - last), 0.0, 1.0)
        entering, leaving = np.where(above_first, place, 0.0), np.where(above_last, place, 1.0)
        return entering.max(axis=1, initial=0.0), leaving.min(axis=1, initial=1.0)

    enter, leave = part(0.0)
    # An edge through an edge of the other: without the slack it may be the only one that finds the corner there.
    wide_enter, wide_leave = part(slack)
    misses = enter > leave
    enter, leave = np.where(misses, wide_enter, enter), np.where(misses, wide_leave, leave)
    meets = enter <= leave
    enters, leaves = meets & above_first.any(axis=1), meets & above_last.any(axis=1)
    begin, stop = points[start], points[end]
    return np.concatenate(
        [
            points[is_inside],
            begin[enters] + enter[enters, None] * (stop - begin)[enters],
            stop[leaves] - (1.0 - leave[leaves, None]) * (stop - begin)[leaves],
        ]
    )


class _FacetPlanes(NamedTuple):
    """The planes of a polytope's facets about a point."""

    normals: FloatArray
    """(f, dim)"""
    outer: FloatArray
    """(f,) the polytope is below."""
    inner: FloatArray
    """(f,) what is below all of these is inside the polytope."""


def _planes(shape: Polytope, origin: FloatArray) -> _FacetPlanes:
    points = shape.vertices - origin
    heights = points @ shape.normals.T
    corners = np.concatenate(shape.facets)
    sizes = np.fromiter(map(len, shape.facets), dtype=np.intp, count=len(shape.facets))
    own = heights[corners, np.repeat(np.arange(len(sizes)), sizes)]
    rounding = OVERLAP_ROUNDING * EPS * float(np.abs(points).max())
    lowest = np.minimum.reduceat(own, np.cumsum(sizes) - sizes)
    return _FacetPlanes(shape.normals, heights.max(axis=0) + rounding, lowest - rounding)


class _Cones(NamedTuple):
    """The body in cones from a point inside over pieces of its facets: triangles, in the plane its sides."""

    volumes: FloatArray
    centroids: FloatArray
    """(t, dim) about the point."""
    lowest: FloatArray
    """(g,) height of each facet's lowest corner along its normal."""
    error: float
    """What the sum of the volumes may be wrong by."""


def _cones(body: ConvexHull, origin: FloatArray, normals: FloatArray) -> _Cones:
    """Return the cones over the facets, whose corners are level along `normals` (g, dim) to rounding."""
    points = body.vertices - origin
    if body.dim == 2:
        facet, first = np.arange(len(body.edges)), np.arange(len(body.edges))
        start, end = points[body.edges[:, 0]].T, points[body.edges[:, 1]].T
    else:
        sides = body._sides
        facet, first = sides.facet, sides.first
        start, end = points[sides.start].T, points[sides.end].T
    along = normals.T[:, facet]
    level = dot(along, start)
    highest, lowest = np.maximum.reduceat(level, first), np.minimum.reduceat(level, first)
    if body.dim == 2:
        level = dot(along, end)
        highest, lowest = np.maximum(highest, level), np.minimum(lowest, level)
    radius = float(np.abs(points).max())
    rounding = OVERLAP_ROUNDING * EPS * radius
    tilt = (0.5 * (highest - lowest) + rounding)[facet]
    height = (0.5 * (highest + lowest))[facet]
    if body.dim == 2:
        side = end - start
        areas = along[0] * side[1] - along[1] * side[0]
        beside = np.abs(along[0] * start[1] - along[1] * start[0]) + np.abs(along[0] * end[1] - along[1] * end[0])
        volumes, centroids = height * areas / 2.0, (start + end) / 3.0
        wrong = tilt * (beside + rounding) / 2.0 + np.abs(height) * rounding
    else:
        middles = np.stack([np.add.reduceat(row, first) for row in start]) / sides.sizes
        middle = middles[:, facet]
        u, v = start - middle, end - middle
        areas = dot(along, cross(u, v)) / 2.0
        beside = sum(np.abs(dot(along, cross(p, q))) for p, q in ((start, end), (end, middle), (middle, start)))
        volumes, centroids = height * areas / 3.0, (start + end + middle) / 4.0
        size = np.sqrt(dot(u, u) * dot(v, v))
        wrong = tilt * (beside + rounding * radius) / 6.0 + np.abs(height) * OVERLAP_ROUNDING * EPS * size / 3.0
    # Where the surface folds back by rounding, a part of it is counted twice.
    error = float(wrong.sum() - 2.0 * np.minimum(volumes, 0.0).sum() + OVERLAP_SUM * EPS * np.abs(volumes).sum())
    return _Cones(volumes, centroids.T, lowest, error)


def overlap_bounds(a: Polytope, b: Polytope, body: ConvexHull) -> OverlapBounds | None:
    """Return what the body proves; None where the overlap is as thin as rounding."""
    origin = body.vertices.mean(axis=0)
    cones = _cones(body, origin, body.normals)
    total = float(cones.volumes.sum())
    if not total > 0.0:
        return None
    origin = origin + cones.volumes @ cones.centroids / total
    points = body.vertices - origin
    planes = [_planes(shape, origin) for shape in (a, b)]
    normals, outer, inner = (np.concatenate(parts) for parts in zip(*planes, strict=True))
    rounding = OVERLAP_ROUNDING * EPS * float(np.abs(points).max())
    if outer.min() <= 0.0:
        return None
    tops = (points @ normals.T).max(axis=0) + rounding
    grown = max(1.0, float((tops / inner).max())) if inner.min() > 0.0 else np.inf
    chosen = (body.normals @ normals.T).argmax(axis=1)
    cones = _cones(body, origin, normals[chosen])
    far = np.flatnonzero(cones.lowest < (1.0 - _FAR_FROM_PLANE) * outer[chosen])
    if len(far):
        for k in far.tolist():
            chosen[k] = ((points[body.facets[k]] @ normals.T).min(axis=0) / outer).argmax()
        cones = _cones(body, origin, normals[chosen])
    shrunk = min(1.0, float(((cones.lowest - rounding) / outer[chosen]).min()))
    if shrunk <= 0.5:
        return None
    volume = float(cones.volumes.sum())
    wider = 1.0 + OVERLAP_SUM * EPS
    lower = max(0.0, (volume - cones.error) / (grown**a.dim * wider))
    upper = (volume + cones.error) / shrunk**a.dim * wider
    centroid = origin + cones.volumes @ cones.centroids / volume
    return OverlapBounds(lower, volume, upper, centroid, chosen)
