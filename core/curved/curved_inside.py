# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a convex shape is inside another, curved or not, and the relation of a pair.

The signed distance of a point to a convex shape is a convex function; a shape protrudes most from another where that is
largest, at one of its extreme points. Radii are separate terms: with cores A and B the protrusion is

    max over n of (h_A + r_A) - (h_B + r_B)  =  r_A - r_B + max over A of the signed distance to B.

The extreme points of a polytope are its corners, those of cylinders and cones rims and an apex, and those of an
ellipsoid its whole surface. Rims and surfaces are images of the unit circle and sphere, and are halved into ever
smaller cells. No point of a cell is farther out than the farthest corner of a simplex around it, which proves an upper
bound; every point proves a lower one. Source: branch and bound, e.g. R. Horst and H. Tuy, Global Optimization, 1996.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ..narrow_phase.relation import relation_of_overlapping
from ..result import Relation
from ..shapes.curved_shape import ConvexShape
from ..shapes.cylinder import Cone, Cylinder
from ..shapes.ellipsoid import Ellipsoid, secular_root
from ..shapes.polytope import Polytope
from ..shapes.rounded import core_of
from ..types import FloatArray
from ..vectors import spiral_directions

_MOST = 300_000
"""Total number of cells, after which the search ends."""


def curved_relation(a: ConvexShape, b: ConvexShape, signed_distance: float, band: float, clearance: float) -> Relation:
    """Return the relation of two shapes whose signed distance is known; see `relation.relation_of`."""
    if signed_distance > band:
        return Relation.WITHIN_CLEARANCE if signed_distance <= clearance else Relation.SEPARATED
    return relation_of_overlapping(
        protrusion(a, b, band) <= band, protrusion(b, a, band) <= band, signed_distance >= -band
    )


def protrusion(inner: ConvexShape, outer: ConvexShape, enough: float) -> float:
    """Return how far `inner` protrudes from `outer` at most, world units; < 0 when it is completely inside.

    Exact to rounding when `inner` is a polytope, rounded or not, and the result is not above `enough`. Else only the
    comparison with `enough` is exact: a larger result is attained at a point, a smaller one is proved. When the search
    ends early the result is larger: whether the shape is inside is then unknown.
    """
    (low, high), (outer_low, outer_high) = inner.bounds, outer.bounds
    by_box = float(max((outer_low - low).max(), (high - outer_high).max()))
    if by_box > enough:
        return by_box
    core = _core(inner)
    if isinstance(outer, Polytope) and outer.rank == outer.dim:
        # By the corners, or by the support points across the facets.
        if isinstance(core, Polytope):
            by_facets = inner.rounding_radius + float(outer.highest_facets(core.vertices).max())
        else:
            tops = support_points(inner, outer.normals) - outer.center
            by_facets = float(((tops * outer.normals).sum(axis=1) - outer.offsets).max())
        if by_facets > enough or by_facets <= 0.0:
            return by_facets
    rounding = inner.rounding_radius - outer.rounding_radius
    return rounding + _core_protrusion(core, _core(outer), enough - rounding)


def _core(shape: ConvexShape) -> ConvexShape:
    """Return the core of a rounded shape; for a ball its centre."""
    return core_of(shape) if shape.skeleton is None else shape.skeleton


def _core_protrusion(inner: ConvexShape, outer: ConvexShape, enough: float) -> float:
    if isinstance(inner, Polytope):
        if isinstance(outer, Polytope) and outer.rank == outer.dim:
            above = float(outer.highest_facets(inner.vertices).max())
            if above > enough or above <= 0.0:
                return above
        return float(outer.signed_distance(inner.vertices).max())
    if isinstance(inner, Ellipsoid):
        known = _ellipsoid_protrusion(inner, outer, enough)
        if known is not None:
            return known
        return _image_protrusion(inner.center, inner.semi_axes[:, None] * inner.axes, outer, enough)
    assert isinstance(inner, Cylinder | Cone)
    ring = inner.rim_axes
    farthest = _image_protrusion(inner.start, ring, outer, enough)
    if farthest > enough:
        return farthest
    if isinstance(inner, Cone):
        return max(farthest, float(outer.core_distances(inner.end[None])[0]))
    return max(farthest, _image_protrusion(inner.end, ring, outer, enough))


def _ellipsoid_protrusion(inner: Ellipsoid, outer: ConvexShape, enough: float) -> float | None:
    """Return the protrusion of an ellipsoid from another or from a point, where a closed form decides; else None.

    In the frame in which `outer` is the unit ball `inner` is an ellipsoid too, and its farthest point from the centre
    has a closed form, like the nearest point with the opposite sign. Cells would be slow, as all of it may be nearly as
    far out.
    """
    if isinstance(outer, Polytope):
        if len(outer.vertices) > 1:
            return None
        middle, axes, semi = outer.vertices[0], inner.axes, np.ones(inner.dim)
    else:
        if not isinstance(outer, Ellipsoid):
            return None
        middle, axes, semi = outer.center, outer.axes, outer.semi_axes
    # In that frame the points of `inner` are offset + turn @ u, |u| <= 1.
    turn = (axes @ inner.axes.T) * inner.semi_axes / semi[:, None]
    offset = axes @ (inner.center - middle) / semi
    _, stretch, directions = np.linalg.svd(turn)
    poles = (stretch[0] - stretch) * (stretch[0] + stretch)
    parts = directions @ (turn.T @ offset)
    root = float(secular_root(parts[None], poles)[0])
    under = poles + root
    local = np.where(under > 0.0, parts / np.where(under > 0.0, under, 1.0), 0.0)
    local[0] += np.copysign(np.sqrt(max(0.0, 1.0 - float(local @ local))), parts[0]) if root == 0.0 else 0.0
    far = offset + turn @ (local @ directions)
    if isinstance(outer, Polytope):
        return float(np.linalg.norm(far))
    beyond = (float(np.linalg.norm(far)) - 1.0) * float(semi.max())
    if enough >= 0.0 and beyond <= enough:
        return beyond
    distance = float(outer.core_distances((middle + (far * semi) @ axes)[None])[0])
    return distance if distance > enough else None


def _image_protrusion(center: FloatArray, axes: FloatArray, outer: ConvexShape, enough: float) -> float:
    """Return the protrusion of the image of the unit circle or sphere: the points `center + u @ axes`, with `axes` (k,
    dim)."""
    found = float(outer.core_distances(center[None])[0])
    if found > enough:
        return found
    size = len(axes)
    cells = np.array([np.diag(signs) for signs in product((1.0, -1.0), repeat=size)])
    left, most = _MOST, found
    while len(cells):
        middles = cells.sum(axis=1)
        middles /= np.linalg.norm(middles, axis=1)[:, None]
        found = max(found, float(outer.core_distances(center + middles @ axes).max()))
        if found > enough:
            return found
        # A unit vector is a sum of a cell's corners times numbers >= 0, whose sum is between 1 and the inverse of the
        # least product of the middle with a corner. So the hull of the centre and of the corners scaled by that
        # contains it.
        around = cells / (cells * middles[:, None]).sum(axis=2).min(axis=1)[:, None, None]
        bounds = outer.core_distances(center + (around @ axes).reshape(-1, axes.shape[1]))
        bounds = bounds.reshape(-1, size).max(axis=1)
        open_ = bounds > enough
        most = max(most, float(bounds[~open_].max(initial=-np.inf)))
        left -= len(cells)
        if left < 0:
            return max(most, float(bounds.max()))
        cells = _divide(cells[open_])
    return most


def _divide(cells: FloatArray) -> FloatArray:
    """Return arcs (n, 2, 2) of unit vectors divided in two, or triangles (n, 3, 3) in four."""
    halves = cells + np.roll(cells, -1, axis=1)
    halves /= np.linalg.norm(halves, axis=2)[:, :, None]
    if cells.shape[1] == 2:
        return np.concatenate([np.stack([cells[:, k], halves[:, 0]], axis=1) for k in (0, 1)])
    corners = [np.stack([cells[:, k], halves[:, k], halves[:, k - 1]], axis=1) for k in range(3)]
    return np.concatenate([*corners, halves])


def support_points(shape: ConvexShape, directions: FloatArray) -> FloatArray:
    """Return the support points (k, dim) of any convex shape for unit `directions` (k, dim)."""
    return shape.core_supports(directions) + shape.rounding_radius * directions


def spread(dim: int, count: int) -> FloatArray:
    """Return at least `count` evenly spaced unit directions (k, dim); in space they include those of the axes."""
    if dim == 2:
        turn = 2.0 * np.pi * np.arange(count) / count
        return np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.concatenate([spiral_directions(count), np.eye(3), -np.eye(3)])
