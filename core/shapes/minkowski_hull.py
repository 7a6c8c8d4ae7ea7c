# SPDX-License-Identifier: GPL-3.0-or-later
"""The Minkowski difference or sum of two convex shapes as a shape: facets, and what of both shapes each is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..runs import chunks
from ..tolerance import EPS
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from ..vectors import spiral_directions
from .curved_shape import ConvexShape, ring_around
from .cylinder import Cone, Cylinder
from .ellipsoid import Ellipsoid
from .hull import ConvexHull
from .polytope import PRODUCTS, Polytope
from .rounded import Rounded, core_of
from .shape import validate_solids

_ALL_PAIRS = 1 << 18
"""Pairs of vertices up to which the hull of all is faster than searching the extreme ones."""
_RIM = 48
"""Corners of the polygon inside or around a rim."""
_SPOTS = 200
"""Corners, or facets, of the polytope inside or around an ellipsoid."""
_OUTSIDE = 1.0 + 16.0 * EPS
"""Scale of what must not be inside by rounding."""


@dataclass(frozen=True, eq=False)
class MinkowskiHull(ReadOnlyArrays):
    """The Minkowski difference A - B, or sum A + B, and where its facets and corners are from; arrays are read-only."""

    shape: ConvexHull | Rounded
    """The difference or sum, world axes and units: `hull`, rounded by the radii of both shapes."""
    hull: ConvexHull
    """That of the polytopes `a` and `b`, to which all indices refer; the shape itself where there are no radii."""
    a: Polytope
    """A; of a rounded shape its core, of a cylinder, cone or ellipsoid the polytope around it or inside it."""
    b: Polytope
    """The same of B."""
    pairs: IntArray
    """(n, 2) the vertices of `a` and of `b` whose difference, or sum, each of `hull.vertices` is."""
    faces: IntArray
    """(f, 2) facet of `a` and of `b` that each of `hull.facets` is, -1 for none: both where two are parallel."""
    edges: IntArray
    """(f, 2) edge of `a` and of `b` that span each of `hull.facets`, -1 for none; beside the facet of one shape an edge
    of the other that is parallel to it. In the plane all are -1: sides are facets there."""


def minkowski_hull(a: ConvexShape, b: ConvexShape, difference: bool = True, *, inner: bool = False) -> MinkowskiHull:
    """Return the Minkowski difference A - B of two convex shapes, or with `difference=False` their sum, as a shape.

    The signed distance of A and B is that of the difference from the origin. Of polytopes, and of spheres, capsules and
    other shapes rounded from one, it is exact; around a cylinder, a cone or an ellipsoid, or with `inner` inside it, it
    is that of a polytope: the signed distance is between those of both.

    >>> a, b = Box((0, 0, 0), (2, 2, 2)), Box((3, 0, 0), (2, 2, 2))
    >>> found = minkowski_hull(a, b)
    >>> print(found.shape.signed_distance([(0, 0, 0)]), contact(a, b).signed_distance)
    [1.] 1.0
    >>> print(len(found.hull.facets), found.pairs[0], found.faces[0])
    6 [0 7] [4 5]

    Raises ValueError, naming the argument, when a shape is not convex or the dimensions differ. Source: S4.1.
    """
    validate_solids(a, b)
    polytope_a, polytope_b = _polytope("a", a, inner), _polytope("b", b, inner)
    sign = -1.0 if difference else 1.0
    hull, pairs = _hull_of_pairs(polytope_a, polytope_b, sign)
    of_a = _origins(hull, polytope_a, pairs[:, 0], hull.normals)
    of_b = _origins(hull, polytope_b, pairs[:, 1], sign * hull.normals)
    faces, edges = np.stack([of_a, of_b], axis=2)
    radius = a.rounding_radius + b.rounding_radius
    shape = Rounded(hull, radius) if radius > 0.0 else hull
    return MinkowskiHull(shape, hull, polytope_a, polytope_b, *map(read_only, (pairs, faces, edges)))


def _polytope(name: str, shape: ConvexShape, inner: bool) -> Polytope:
    """Return a shape without its radius where that is a polytope, else a polytope inside it or around it."""
    if not isinstance(shape, ConvexShape):
        raise ValueError(
            f"{name} must be convex, which a {type(shape).__name__} is not: take one of its pieces, or the ConvexHull "
            "of its points"
        )
    core = core_of(shape) if shape.skeleton is None else shape.skeleton
    if isinstance(core, Polytope):
        return core
    # The polytope around it is inside of a shape that is larger by as much as its facets are nearer to the middle.
    if isinstance(core, Cylinder | Cone):
        larger = 1.0 if inner else _OUTSIDE / math.cos(math.pi / _RIM)
        around = core._with(core.start, core.end, core.radius * larger)
        return ConvexHull(around.core_points(ring_around(core.axis, _RIM)))
    assert isinstance(core, Ellipsoid)
    ball = ConvexHull(spiral_directions(_SPOTS))
    larger = 1.0 if inner else _OUTSIDE / -float(ball.core_distances(np.zeros((1, 3)))[0])
    return ConvexHull(core.center + (ball.vertices * core.semi_axes * larger) @ core.axes)


def _hull_of_pairs(a: Polytope, b: Polytope, sign: float) -> tuple[ConvexHull, IntArray]:
    """Return the hull of A - B or A + B and the pair of vertices (n, 2) of each of its corners.

    Of large solids corners are searched from inside: those of the facets of both, then as long as a support point is
    beyond a facet.
    """
    count_a, count_b = len(a.vertices), len(b.vertices)
    from_inside = count_a * count_b > _ALL_PAIRS and max(a.rank, b.rank) == a.dim

    def extreme(normals: FloatArray) -> IntArray:
        return np.unique(_support(a, normals) * count_b + _support(b, sign * normals))

    if from_inside:
        found = np.union1d(np.arange(count_a, dtype=np.intp) * count_b, np.arange(count_b, dtype=np.intp))
        found = np.union1d(found, extreme(np.concatenate([a.normals, sign * b.normals])))
    else:
        found = np.arange(count_a * count_b, dtype=np.intp)
    while True:
        i, j = np.divmod(found, count_b)
        hull = ConvexHull(a.vertices[i] + sign * b.vertices[j])
        known = len(found)
        if from_inside:
            found = np.union1d(found, extreme(hull.normals))
        if len(found) == known:
            return hull, np.stack([i, j], axis=1)[hull.vertex_ids]


def _support(shape: Polytope, directions: FloatArray) -> IntArray:
    rows = chunks(len(directions), PRODUCTS // len(shape.vertices))
    return np.concatenate([shape.support_indices(directions[chunk]) for chunk in rows])


def _origins(hull: ConvexHull, shape: Polytope, corners: IntArray, normals: FloatArray) -> tuple[IntArray, IntArray]:
    """Return (f,) the facet of a shape and (f,) the edge that each facet of the hull is made of, -1 for none.

    `corners` (n,) are the shape's vertices of the hull's, `normals` (f, dim) the facets' outward normals at the shape.
    """
    faces: IntArray = np.full(len(hull.facets), -1, dtype=np.intp)
    edges = faces.copy()
    ends = {frozenset(edge): k for k, edge in enumerate(shape.edges.tolist())} if shape.dim == 3 else {}
    for k, loop in enumerate(hull.facets):
        own = frozenset(corners[loop].tolist())
        if own in ends:
            edges[k] = ends[own]
        elif len(own) > 1 and len(shape.normals):
            # Facets that are merged in one of both hulls only have other corners: the normal tells.
            faces[k] = (shape.normals @ normals[k]).argmax()
    return faces, edges
