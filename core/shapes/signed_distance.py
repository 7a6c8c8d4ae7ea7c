# SPDX-License-Identifier: GPL-3.0-or-later
"""How far points are from a convex shape, inside and outside: in closed form for each kind of shape.

The signed distance of a point is `max over unit n of (n . point - h(n))` with the shape's support function h: a convex
function, below 0 inside. A rounding radius is taken off. Of a solid of revolution it is that of its section; of a
polytope the highest facet's inside and the nearest edge's or facet's outside. Where an ellipsoid is nearest is the root
of one increasing function, of which any approximation leads to a value that is hardly less than the true one.
Sources: S1.5; D. Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid, 2011; J. J. More and
D. C. Sorensen, Computing a Trust Region Step, 1983.
"""

from __future__ import annotations

import numpy as np

from ..tolerance import EPS
from ..types import FloatArray
from .curved_shape import ConvexShape, CurvedShape, across
from .cylinder import Cone, Cylinder
from .ellipsoid import Ellipsoid
from .polytope import PRODUCTS, Polytope
from .rounded import Rounded

_ROOT_SMALLEST = 1e-290
"""In units of what is largest: parts of a secular equation that count as 0. What larger ones are divided by, and their
quotients by the root, are in the range of float64."""
_FACET_BELOW = 16.0
"""Times EPS and the sum of a polytope's magnitude and a point's way from its centre: how far below the plane of a facet
a point may be computed to be that is above it. Facets merged of coplanar triangles are off by HULL_MERGE, products of
ways and normals by 3."""

_STEPS = 60
"""Steps to a root: each doubles its digits, and it starts next to it or, at worst, some powers of ten away."""


def signed_distances(shape: ConvexShape, points: FloatArray) -> FloatArray:
    """Return how far points (n, dim) are from a shape: > 0 outside, < 0 minus the way out to its surface.

    World frame and units, right to rounding, that of facets' planes too. A shape that does not fill its space has no
    inside. Source: S1.5.
    """
    if isinstance(shape, Polytope):
        return _from_polytope(shape, points)
    return core_distances(shape, points) - shape.radius


def core_distances(shape: ConvexShape, points: FloatArray) -> FloatArray:
    """Return how far points (n, dim) are from a shape's core, as `signed_distances` does from the shape."""
    core = shape.core if isinstance(shape, Rounded) else shape
    if isinstance(core, CurvedShape) and core.skeleton is not None:
        core = core.skeleton
    if isinstance(core, Polytope):
        return _from_polytope(core, points)
    if isinstance(core, Cylinder | Cone):
        return _from_round(core, points)
    assert isinstance(core, Ellipsoid)
    return _from_ellipsoid(core, points)


def heights_above(shape: Polytope, points: FloatArray) -> FloatArray:
    """Return how far points (n, dim) are above the facet plane that they are highest above: the signed distance inside
    a polytope that fills its space, and no more than that outside. World units."""
    way = points - shape.center
    step = max(1, PRODUCTS // len(shape.normals))
    parts = [(way[k : k + step] @ shape.normals.T - shape.offsets).max(axis=1) for k in range(0, len(way), step)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _from_polytope(shape: Polytope, points: FloatArray) -> FloatArray:
    if shape.rank < shape.dim:
        return _from_outside(shape, points)
    distances = heights_above(shape, points)
    outside = np.flatnonzero(distances > 0.0)
    distances[outside] = _from_outside(shape, points[outside])
    return distances


def _from_outside(shape: Polytope, points: FloatArray) -> FloatArray:
    """Return the distance to the nearest edge or, where a point is above one, the nearest facet."""
    if len(shape.edges) == 0:
        return np.linalg.norm(points - shape.vertices[0], axis=1)
    if shape.dim == 3 and shape.facets:
        return _from_facets(shape, points)
    step = max(1, PRODUCTS // len(shape.edges))
    start, end = shape.vertices[shape.edges[:, 0]], shape.vertices[shape.edges[:, 1]]
    parts = [
        _from_segments(points[k : k + step, None], start, end, shape.edge_directions).min(axis=1)
        for k in range(0, len(points), step)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _from_segments(points: FloatArray, start: FloatArray, end: FloatArray, directions: FloatArray) -> FloatArray:
    # From both ends, so that the nearer of them tells how far along: with the digits of the smaller numbers.
    from_start, from_end = points - start, points - end
    along = np.clip((from_start * directions).sum(axis=-1), 0.0, np.linalg.norm(end - start, axis=-1))
    foot = from_start - along[..., None] * directions
    past = (from_end * directions).sum(axis=-1) >= 0.0
    foot[past] = from_end[past]
    return np.linalg.norm(foot, axis=-1)


def _from_facets(shape: Polytope, points: FloatArray) -> FloatArray:
    """Return the distance to the nearest of the facets that a point outside is above the planes of: the way from the
    nearest point of all is a sum of the normals of facets there, times numbers >= 0, so it is above one of these."""
    counts = np.fromiter(map(len, shape.facets), dtype=np.intp, count=len(shape.facets))
    first = np.cumsum(counts) - counts
    corner = np.concatenate(shape.facets)
    next_place = np.arange(1, len(corner) + 1)
    next_place[first + counts - 1] = first
    start, end = shape.vertices[corner], shape.vertices[corner[next_place]]
    ways = end - start
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    outward = np.cross(ways, np.repeat(shape.normals, counts, axis=0))
    # A point on a facet may be computed to be below it, and above one beside it.
    slack = _FACET_BELOW * EPS * (shape.magnitude + np.abs(points - shape.center).max(axis=1, initial=0.0))
    distances = np.empty(len(points))
    step = max(1, PRODUCTS // len(corner))
    for k in range(0, len(points), step):
        way = points[k : k + step] - shape.center
        heights = way @ shape.normals.T - shape.offsets
        highest = heights.max(axis=1)
        point, facet = np.nonzero(heights >= np.minimum(highest, -slack[k : k + step])[:, None])
        # Their sides, one after the other.
        sides = counts[facet]
        begin = np.cumsum(sides) - sides
        side = np.arange(int(sides.sum())) + np.repeat(first[facet] - begin, sides)
        spots = points[k : k + step][np.repeat(point, sides)]
        nearest = np.minimum.reduceat(_from_segments(spots, start[side], end[side], ways[side]), begin)
        # A point is above a facet when it is on the inner side of each of its sides.
        beyond = np.maximum.reduceat(((spots - start[side]) * outward[side]).sum(axis=1), begin)
        height = np.maximum(heights[point, facet], 0.0)
        nearest = np.where(beyond <= 0.0, np.minimum(nearest, height), nearest)
        of_point = np.searchsorted(point, np.arange(len(way)))
        distances[k : k + step] = np.maximum(np.minimum.reduceat(nearest, of_point), highest)
    return distances


def _from_round(shape: Cylinder | Cone, points: FloatArray) -> FloatArray:
    """Return it in the half plane through the axis, where a point is so far along the axis and so far from it."""
    way = points - shape.start
    along = way @ shape.axis
    out = np.hypot(*(way @ np.array(across(shape.axis)).T).T)
    height = float((shape.end - shape.start) @ shape.axis)
    if isinstance(shape, Cylinder):
        beyond, beside = np.maximum(-along, along - height), out - shape.rim
        inside: FloatArray = np.minimum(np.maximum(beyond, beside), 0.0)
        return inside + np.hypot(np.maximum(beyond, 0.0), np.maximum(beside, 0.0))
    slant = np.hypot(shape.rim, height)
    above = ((out - shape.rim) * height + along * shape.rim) / slant
    deepest = np.maximum(above, -along)
    share = np.clip(((shape.rim - out) * shape.rim + along * height) / (slant * slant), 0.0, 1.0)
    to_side = np.hypot(out - shape.rim * (1.0 - share), along - share * height)
    to_base = np.hypot(np.maximum(out - shape.rim, 0.0), along)
    return np.where(deepest <= 0.0, deepest, np.minimum(to_side, to_base))


def _from_ellipsoid(shape: Ellipsoid, points: FloatArray) -> FloatArray:
    unit = float(shape.semi.max())
    place, semi = (points - shape.middle) @ shape.axes.T / unit, shape.semi / unit
    least = float(semi.min())
    # The surface is nearest at x with normal n: n_k = p_k / (s_k^2 + w), and sum (s_k n_k)^2 = 1.
    beyond = (semi - least) * (semi + least)
    root = secular_root(semi * place, beyond)
    under = beyond + root[:, None]
    zero = under == 0.0
    ways = place / np.where(zero, 1.0, under)
    # On the plane across the smallest semi-axis it may be as near on both sides.
    rest = np.sqrt(np.maximum(0.0, 1.0 - ((ways * semi) ** 2).sum(axis=1))) / least
    smallest = int(semi.argmin())
    ways[:, smallest] = np.where(root == 0.0, rest, ways[:, smallest])
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    return unit * ((ways * place).sum(axis=1) - np.linalg.norm(ways * semi, axis=1))


def secular_root(parts: FloatArray, poles: FloatArray) -> FloatArray:
    """Return for each row of `parts` (n, k) the number z >= 0 for which `sum_k (parts_k / (poles_k + z))^2` is 1, or
    0.0 where the sum is never that large. `poles` (k,) >= 0, the least of them 0.

    Newton's method on the inverse square root of the sum, which is all but straight and concave: from below it never
    steps too far.
    """
    # Parts that would overflow when they are divided by the smallest roots: without them nothing moves.
    parts = np.where(np.abs(parts) < _ROOT_SMALLEST, 0.0, parts)
    root: FloatArray = np.maximum((np.abs(parts) - poles).max(axis=1), 0.0)
    for _ in range(_STEPS):
        under = poles + root[:, None]
        under = np.where(under > 0.0, under, np.inf)
        ratio = parts / under
        squares = (ratio * ratio).sum(axis=1)
        length = np.sqrt(squares)
        steep = (ratio * ratio / under).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where((length > 1.0) & (steep > 0.0), (length - 1.0) * squares / steep, 0.0)
        following = root + step
        if (following == root).all():
            break
        root = following
    return root
