# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull of points as a shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_cloud, validate_magnitude
from ..progress import Progress, report_progress, subrange
from ..runs import chunks, next_in_loops
from ..tolerance import EPS, EXTREME_EXPONENT, HULL_MERGE, HULL_RANK
from ..types import FloatArray, IntArray, set_parts
from .affine_rank import LowerRank, affine_rank
from .facets import Facets, merge
from .hull_grid import HullGrid
from .polygon_hull import flat_hull, polygon_hull
from .polytope import PRODUCTS, Polytope, intervals
from .quickhull import Solid

_HUGE = 1e300  # coordinates; the sum of three of them may overflow
_MOST_PRODUCTS = 8_000_000
"""Facets times vertices up to which checking a transformed hull is faster than building a new one."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ConvexHull(Polytope):
    """The convex hull of points in the plane or in space, of any rank: point, segment, polygon, solid.

    Vertices are exact copies of input points. With M the largest absolute coordinate and EPS = 2**-52:

    * in every direction the farthest vertex is within 8 EPS M of the farthest input point;
    * every input point is within the facets' half-spaces up to 1e-12 of the extent, also far from the origin;
    * triangles whose corners lie within HULL_MERGE EPS M of one plane are one facet, without corners inside it or on a
      straight edge;
    * points that extend less than HULL_RANK EPS M across a plane or a line are flat or collinear.

    Vertices of a solid or a segment are in the order of the input, of a polygon in cyclic order from the lowest input
    index (counter-clockwise in the plane, about `normals[0]` in space). In the plane edges have no facets:
    `edge_facets` is (0, 2).

    Source: Barber, Dobkin, Huhdanpaa, "The Quickhull algorithm for convex hulls" (1996).
    """

    vertex_ids: IntArray
    """(n,) index of each vertex in the points given."""

    def __init__(self, points: ArrayLike, *, progress: Progress | None = None) -> None:
        """Build the hull of points (n, 2) or (n, 3), n >= 1, world frame, in any order, duplicates allowed.

        `progress` is called with the fraction done, 0 to 1; False cancels. A million points take a fraction of a second
        where few of them are corners; 100,000 corners take a few seconds, and time is roughly proportional to their
        number.

        Raises ValueError, naming the argument, when the points are not such an array of finite real numbers. The array
        is not modified. Raises Cancelled when `progress` says so.
        """
        array = _as_points(points)
        report_progress(progress, 0.0)
        parts = _solve(array, progress)
        report_progress(progress, 1.0)
        set_parts(self, parts)

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> ConvexHull:
        # The image of a hull is the hull of the image: a solid keeps its vertices, edges and facets (a mirrored one
        # reverses its loops), which takes a fraction of the time of a new hull. Where the image is so thin or so
        # distorted by rounding that another hull might be right, a new one is built. The promises of the class are
        # kept, with the image of the vertices as the input; `vertex_ids` refer to this hull's own input.
        with np.errstate(over="ignore", invalid="ignore"):
            image = self.vertices @ linear.T + offset
        validate_magnitude("matrix", image)
        parts = _image(self, image, mirrored=float(np.linalg.slogdet(linear)[0]) < 0.0)
        if parts is None:
            fresh = ConvexHull(image)
            parts = {name: getattr(fresh, name) for name in _PARTS}
            parts["vertex_ids"] = self.vertex_ids[fresh.vertex_ids]
        made = object.__new__(type(self))
        set_parts(made, parts)
        return made

    @cached_property
    def _beyond(self) -> IntArray:
        """(s,) the corner of the adjacent facet that follows each side of a facet of a solid."""
        sides = self._sides
        # A side and its twin, which runs in the opposite direction, are at the same position of both orders.
        twin = np.empty_like(sides.facet)
        count = len(self.vertices)
        twin[(sides.start * count + sides.end).argsort()] = (sides.end * count + sides.start).argsort()
        return sides.end[next_in_loops(sides.sizes)[twin]]


_PARTS = ("vertices", "rank", "edges", "edge_facets", "facets", "normals", "offsets", "vertex_ids")


def _image(hull: ConvexHull, image: FloatArray, mirrored: bool) -> dict[str, object] | None:
    """Return the parts of a solid with vertices at `image` (n, 3) and the same facets; None when a new hull might have
    different ones."""
    if hull.rank < 3 or len(hull.facets) * len(image) > _MOST_PRODUCTS:
        return None
    low, high = image.min(axis=0), image.max(axis=0)
    half = float((0.5 * high - 0.5 * low).max())
    if half == 0.0 or abs(math.frexp(half)[1]) > EXTREME_EXPONENT:
        return None
    unit = EPS * float(np.abs(image).max())
    centred = image - (0.5 * low + 0.5 * high)
    sides = hull._sides
    # Newell's sum about a corner of each facet: small terms are not lost in large ones.
    about = centred[sides.start[sides.first]][sides.facet]
    normals = np.add.reduceat(np.cross(centred[sides.start] - about, centred[sides.end] - about), sides.first, axis=0)
    lengths = np.sqrt((normals * normals).sum(axis=1))
    if not (lengths > EPS * half * half).all():
        return None
    normals /= (-lengths if mirrored else lengths)[:, None]
    lowest, highest = intervals(normals, centred)
    along = normals[sides.facet]
    bent = highest - np.minimum.reduceat((along * centred[sides.start]).sum(axis=1), sides.first)
    depth = highest[sides.facet] - (along * centred[hull._beyond]).sum(axis=1)
    if (
        bent.max() > 2.0 * HULL_MERGE * unit  # a corner protrudes, or a facet is no longer flat
        or depth.min() <= 2.0 * HULL_MERGE * unit  # two facets have become one
        or (highest - lowest).min() <= 2.0 * HULL_RANK * unit  # it has become flat
    ):
        return None
    facets, edge_facets = hull.facets, hull.edge_facets
    if mirrored:
        facets = tuple(np.concatenate([loop[:1], loop[:0:-1]]) for loop in facets)
        edge_facets = np.ascontiguousarray(edge_facets[:, ::-1])
        for loop in facets:
            loop.flags.writeable = False
    return {
        "vertices": image,
        "rank": 3,
        "edges": hull.edges,
        "edge_facets": edge_facets,
        "facets": facets,
        "normals": normals,
        "offsets": highest,
        "vertex_ids": hull.vertex_ids,
    }


def _as_points(points: ArrayLike) -> FloatArray:
    array = as_cloud("points", points)
    if not len(array):
        raise ValueError("points: at least one point expected, got none")
    return np.array(array)  # contiguous, whatever the layout of the argument


def _solve(points: FloatArray, progress: Progress | None) -> dict[str, object]:
    grid = HullGrid(points)
    base = affine_rank(grid)
    last = subrange(progress, 0.95, 1.0)
    if points.shape[1] == 3 and not isinstance(base, LowerRank):
        solid = Solid(grid, base, subrange(progress, 0.0, 0.7))
        surface = merge(solid, subrange(progress, 0.7, 0.9))
        if isinstance(surface, Facets):
            return _parts(points, 3, surface, solid.left_out, last)
        base = LowerRank(2, (0, 0), surface)
    if isinstance(base, LowerRank) and base.rank < 2:
        return _parts(points, base.rank, _segment(grid, base), np.arange(len(points)), last)
    return _parts(points, 2, *_polygon(grid, base, subrange(progress, 0.0, 0.95)), last)


def _segment(grid: HullGrid, base: LowerRank) -> Facets:
    """Return a segment or a point; in the plane the segment has two facets, itself seen from either side."""
    ids = np.unique(base.ends)
    edges = np.array([[0, 1]] if base.rank else np.empty((0, 2)), dtype=np.intp)
    if base.rank == 0 or len(grid.x) == 3:
        return Facets(ids, (), np.empty((0, len(grid.x))), edges)
    return Facets(ids, (edges[0], edges[0, ::-1]), _side_normals(grid.x[:, ids]), edges)


def _polygon(grid: HullGrid, base: LowerRank | tuple[int, ...], progress: Progress | None) -> tuple[Facets, IntArray]:
    """Return a polygon, in space seen from either side, and the points that may be outside of it by rounding."""
    maybe_outside = np.arange(grid.x.shape[1])
    if isinstance(base, LowerRank):
        corners, normal = flat_hull(grid, base.normal, progress)
    else:
        corners, maybe_outside = polygon_hull(grid, grid.x, progress)
        maybe_outside = np.setdiff1d(maybe_outside, corners, assume_unique=True)
    turn = corners.index(min(corners))
    ids = np.array(corners[turn:] + corners[:turn], dtype=np.intp)
    around: IntArray = np.arange(len(ids))
    edges = np.stack([around, np.roll(around, -1)], axis=1)
    if not isinstance(base, LowerRank):
        return Facets(ids, tuple(edges), _side_normals(grid.x[:, ids]), edges), maybe_outside
    loops = (around, np.roll(around[::-1], 1))
    beside = np.tile(np.array([[0, 1]], dtype=np.intp), (len(ids), 1))
    return Facets(ids, loops, np.stack([normal, -normal]), edges, beside), maybe_outside


def _parts(
    points: FloatArray, rank: int, surface: Facets, maybe_outside: IntArray, progress: Progress | None
) -> dict[str, object]:
    for loop in surface.loops:
        loop.flags.writeable = False
    return {
        "vertices": points[surface.corners],
        "rank": rank,
        "edges": surface.edges,
        "edge_facets": surface.edge_facets,
        "facets": surface.loops,
        "normals": surface.normals,
        "offsets": _offsets(points, surface, maybe_outside, progress),
        "vertex_ids": surface.corners,
    }


def _side_normals(corners: FloatArray) -> FloatArray:
    """Return the outward unit normals (n, 2) of the sides of a polygon given counter-clockwise as columns."""
    direction = np.roll(corners, -1, axis=1) - corners
    direction /= np.abs(direction).max(axis=0)
    direction /= np.sqrt((direction * direction).sum(axis=0))
    return np.stack([direction[1], -direction[0]], axis=1)


def _offsets(points: FloatArray, surface: Facets, maybe_outside: IntArray, progress: Progress | None) -> FloatArray:
    """Return (f,) how far the points reach along each normal from the centre of the vertices' bounding box.

    A facet's own vertices reach farthest, up to the rounding of the normal; `maybe_outside` are points that may reach
    farther, `surface.reaching` are pairs of a facet and such a point.
    """
    vertices, normals = points[surface.corners], surface.normals
    if not len(normals):
        return np.empty(0)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    center = 0.5 * low + 0.5 * high
    # Sums of three products must not overflow where the offset does not.
    scale = 0.25 if max(float(high.max()), -float(low.min())) > _HUGE else 1.0
    sizes = np.array([len(loop) for loop in surface.loops])
    own = ((vertices - center) * scale)[np.concatenate(surface.loops)]
    heights = (own * np.repeat(normals, sizes, axis=0)).sum(axis=1)
    offsets: FloatArray = np.maximum.reduceat(heights, np.cumsum(sizes) - sizes)
    facet, point = surface.reaching
    np.maximum.at(offsets, facet, ((points[point] - center) * scale * normals[facet]).sum(axis=1))
    outside = (points[maybe_outside] - center) * scale
    for chunk in chunks(len(maybe_outside), PRODUCTS // len(normals), progress):
        products = normals @ outside[chunk].T
        np.maximum(offsets, products.max(axis=1), out=offsets)
    return offsets / scale
