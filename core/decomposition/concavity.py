# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a surface mesh is from its convex hull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..meshes.surface import Surface, signed_volume
from ..progress import Progress, report_progress
from ..runs import chunks, ranges
from ..shapes.hull import ConvexHull
from ..shapes.polytope import PRODUCTS, Polytope
from ..shapes.quickhull import extreme_points
from ..tolerance import CONCAVITY_RELATIVE, EPS
from ..types import FloatArray, IntArray, ReadOnlyArrays
from ..vectors import least_mean, spiral_directions

_FLOOR = 64.0
"""Times EPS M: a mesh this near to its hull is convex; the rounding of the planes."""

_CHUNK = 2_000_000  # plane-by-point products at a time
_DIRECTIONS = 256  # planes to start with
_BATCH = 64  # pieces measured under all planes at a time
_EXTREMES = 32  # directions whose extreme points are a first hull


@dataclass(frozen=True, eq=False)
class Concavity(ReadOnlyArrays):
    """The deepest place of a mesh under the surface of its convex hull."""

    depth: float
    """Distance from the deepest point of the mesh to the surface of the hull, unit of the coordinates, found to
    CONCAVITY_RELATIVE of itself; 0.0 when the whole mesh lies on its hull. For a flat hull: within its plane, to the
    outline."""
    point: FloatArray
    """(dim,) that deepest point, world frame."""
    is_closed: bool
    """Whether the triangles enclose a volume: every edge is used once in each direction."""
    missing_fraction: float | None
    """Fraction of the hull's volume outside of the mesh, 0 to 1; None when the mesh is not closed or the hull flat."""
    open_fraction: float
    """Fraction of the hull's surface (of a flat hull: of its polygon) that the mesh's triangles leave open, 0 to 1: an
    open box, a wire ring. Exact for a mesh that lies on its hull once, a lower bound for any other; 0.0 for a segment
    or a point."""


def max_concavity(
    hull: Polytope,
    corner_ids: NDArray[np.integer],
    points: FloatArray,
    triangles: NDArray[np.integer],
    *,
    enough: float = np.inf,
    progress: Progress | None = None,
) -> Concavity:
    """Return how far a mesh is from its convex hull.

    `hull` is the convex hull of `points` (n, 3), in the same frame; `corner_ids` says which of the points each vertex
    of the hull is (`ConvexHull.vertex_ids`); `triangles` (m, 3) are indices into `points`.
    Points that no triangle uses count as parts of the mesh. For a flat hull only the mesh's outline counts, because
    the inside of a flat mesh is no concavity.

    The distance to the surface of a hull is the least distance to its planes, a concave function inside it: on a
    triangle it can be larger than at any corner, so triangles are split until none can hide a deeper point, or one
    deeper than `enough` is found, whose depth is returned then.

    `progress` is called with the fraction done, 0 to 1; False cancels. Raise Cancelled then.
    """
    triangles = np.asarray(triangles, dtype=np.intp).reshape(-1, 3)
    surface = Surface(points, triangles) if len(triangles) else None
    closed = surface is not None and surface.is_closed
    normals, offsets, pieces = hull.normals, hull.offsets, triangles
    if hull.rank < 2:
        return Concavity(0.0, np.array(hull.vertices[0]), False, None, 0.0)
    if hull.rank == 2:
        normals, offsets = _sides(hull)
        pieces = np.empty((0, 2), dtype=np.intp) if surface is None else surface.boundary_edges
    on_hull = np.full(len(points), -1, dtype=np.intp)
    on_hull[corner_ids] = np.arange(len(corner_ids))
    loose = on_hull < 0
    loose[triangles] = False
    # A loose point is a piece whose corners are all the same.
    pieces = np.concatenate([pieces, np.repeat(np.flatnonzero(loose)[:, None], pieces.shape[1], axis=1)])
    local = np.asarray(points, dtype=np.float64) - hull.center
    start = _bounds_at_corners(hull, normals, offsets, on_hull, local, pieces)
    depth, point = _deepest(normals, offsets, local[pieces], start, hull.extent, enough, progress)
    floor = _FLOOR * EPS * max(hull.magnitude, hull.extent)
    # Volumes and areas in a unit of about the hull's size: products of lengths neither overflow nor vanish.
    exponent = -int(np.frexp(hull.extent)[1])
    own, whole = np.ldexp(local, exponent), hull.scaled(2.0**exponent)
    volume = abs(signed_volume(own, triangles)) / whole.volume if closed and hull.rank == 3 else None
    missing = None if volume is None else min(1.0, max(0.0, 1.0 - volume))
    start = own[triangles[:, 0]]
    products = np.cross(own[triangles[:, 1]] - start, own[triangles[:, 2]] - start)
    area = 0.5 * float(np.linalg.norm(products, axis=1).sum())
    open_fraction = min(1.0, max(0.0, 1.0 - area / whole.area))
    return Concavity(depth if depth > floor else 0.0, point + hull.center, closed, missing, open_fraction)


def least_concavity(points: FloatArray) -> float:
    """Return a lower bound of the depth that `max_concavity` returns for a mesh with these points (n, 3), in the unit
    of the coordinates: of the deepest point under the surface of a hull inside theirs, that of a few extreme points. It
    takes a twentieth of the time; 0.0 says nothing."""
    size = np.ptp(points, axis=0)
    stretched = (points / np.where(size > 0.0, size, 1.0)).T  # else the extremes of a rod are all at its ends
    hull = ConvexHull(points[extreme_points(stretched, spiral_directions(_EXTREMES))])
    if hull.rank < 3:
        return 0.0
    depth = 0.0
    for chunk in chunks(len(points), PRODUCTS // len(hull.normals)):
        heights = hull.normals @ (points[chunk] - hull.center).T
        depth = max(depth, float((hull.offsets[:, None] - heights).min(axis=0).max()))
    floor = _FLOOR * EPS * max(hull.magnitude, hull.extent)
    return depth - floor if depth > floor else 0.0


def _sides(hull: Polytope) -> tuple[FloatArray, FloatArray]:
    """Return outward unit normals and offsets, within the plane, of the sides of a flat hull."""
    if hull.dim == 2:
        return hull.normals, hull.offsets
    start, end = hull._centred[hull.edges[:, 0]], hull._centred[hull.edges[:, 1]]
    normals = np.cross(end - start, hull.normals[0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return normals, (normals * start).sum(axis=1)


def _bounds_at_corners(
    hull: Polytope,
    normals: FloatArray,
    offsets: FloatArray,
    on_hull: IntArray,
    points: FloatArray,
    pieces: IntArray,
) -> FloatArray:
    """Return (m,) the depth that no point of a piece can exceed under the planes around one of its corners that is a
    corner of the hull; inf for a piece without. About zero for a piece that lies on the hull."""
    bounds = np.full(len(pieces), np.inf)
    loops = hull.facets if hull.rank == 3 else tuple(hull.edges)
    plane = np.repeat(np.arange(len(loops)), [len(loop) for loop in loops])
    corner = np.concatenate(loops)
    plane = plane[np.argsort(corner, kind="stable")]
    count = np.bincount(corner, minlength=len(hull.vertices))
    first = np.cumsum(count) - count
    corners = on_hull[pieces].max(axis=1)
    rows = np.flatnonzero((corners >= 0) & (count[corners] > 0))
    for part in chunks(len(rows), _CHUNK // 50):
        chunk = rows[part]
        around = count[corners[chunk]]
        begins = np.cumsum(around) - around
        row = np.repeat(chunk, around)
        planes = plane[ranges(first[corners[chunk]], around)]
        heights = offsets[planes, None] - np.einsum("ikd,id->ik", points[pieces[row]], normals[planes])
        bounds[chunk] = np.minimum.reduceat(heights.max(axis=1), begins)
    return bounds


def _deepest(
    normals: FloatArray,
    offsets: FloatArray,
    pieces: FloatArray,
    bound: FloatArray,
    extent: float,
    enough: float,
    progress: Progress | None,
) -> tuple[float, FloatArray]:
    """Return depth and place of the deepest point of `pieces` (m, k, dim), none of which is deeper than its `bound`, or
    of one deeper than `enough`.

    The depth under some planes bounds the depth under all of them from above: most pieces never meet most planes.
    """
    k = pieces.shape[1]
    best, place, done = 0.0, np.zeros(normals.shape[1]), 0.0
    report_progress(progress, done)
    least = CONCAVITY_RELATIVE * CONCAVITY_RELATIVE * CONCAVITY_RELATIVE * extent
    pieces, bound = pieces[bound > least], bound[bound > least]
    chosen = _spread(normals)
    known = np.zeros(len(normals), dtype=bool)
    known[chosen] = True
    bound = np.minimum(bound, _bounds(normals[chosen], offsets[chosen], pieces))
    batch = max(1, min(_BATCH, _CHUNK // (len(normals) * (k + 1))))
    while True:
        keep = bound > best + max(CONCAVITY_RELATIVE * best, least)
        pieces, bound = pieces[keep], bound[keep]
        if len(pieces) == 0 or best > enough:
            return best, place
        done = max(done, best / float(bound.max()))  # all is done when no piece can be deeper than the best
        report_progress(progress, done)
        top = np.argsort(bound)[-batch:]
        # Where a piece may be deepest: its corners and its middle, under all planes.
        candidates = np.concatenate([pieces[top], pieces[top].mean(axis=1, keepdims=True)], axis=1)
        under = offsets - candidates @ normals.T  # (batch, k + 1, planes)
        depths = under.min(axis=2)
        i, j = divmod(int(depths.argmax()), k + 1)
        if depths[i, j] > best:
            best, place = float(depths[i, j]), candidates[i, j]
        tops, nearest = pieces[top], under.argmin(axis=2)
        # Between two planes the deepest places are a line, along which only means of the two bound the depth closely.
        rows = np.take_along_axis(under[:, :k].transpose(0, 2, 1), nearest[:, :, None], axis=1)
        bounds_of_tops = np.minimum(under[:, :k].max(axis=1).min(axis=1), least_mean(rows))
        pieces, bound = np.delete(pieces, top, axis=0), np.delete(bound, top)
        new = np.flatnonzero(~known & np.isin(np.arange(len(normals)), nearest))
        if len(new):
            known[new] = True
            bound = np.minimum(bound, _bounds(normals[new], offsets[new], pieces))
        is_open = bounds_of_tops > best + max(CONCAVITY_RELATIVE * best, least)
        if is_open.any():
            halves = np.concatenate([_split(piece) for piece in tops[is_open]])
            pieces = np.concatenate([pieces, halves])
            of_halves = np.minimum(_bounds(normals, offsets, halves), bounds_of_tops[is_open].repeat(2))
            bound = np.concatenate([bound, of_halves])


def _spread(normals: FloatArray) -> IntArray:
    """Return indices of planes that face all directions: all of them when they are few."""
    if len(normals) <= _DIRECTIONS:
        return np.arange(len(normals))
    turn = np.arange(_DIRECTIONS) + 0.5
    if normals.shape[1] == 2:
        angle = 2.0 * np.pi * turn / _DIRECTIONS
        directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:  # a Fibonacci spiral covers the sphere evenly
        height, angle = 1.0 - 2.0 * turn / _DIRECTIONS, np.pi * (1.0 + 5.0**0.5) * turn
        radius = np.sqrt(1.0 - height * height)
        directions = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
    return np.unique((normals @ directions.T).argmax(axis=0))


def _bounds(normals: FloatArray, offsets: FloatArray, pieces: FloatArray) -> FloatArray:
    """Return (m,) the depth under these planes that no point of a piece can exceed: over planes the least of that of
    the highest corner."""
    bounds = np.empty(len(pieces))
    for chunk in chunks(len(pieces), _CHUNK // (len(normals) * pieces.shape[1])):
        bounds[chunk] = (offsets - pieces[chunk] @ normals.T).max(axis=1).min(axis=1)
    return bounds


def _split(piece: FloatArray) -> FloatArray:
    """Return the two halves (2, k, dim) of a segment or triangle, cut in the middle of its longest side."""
    k = len(piece)
    sides = [(i, j) for i in range(k) for j in range(i)]
    i, j = max(sides, key=lambda ij: float(((piece[ij[0]] - piece[ij[1]]) ** 2).sum()))
    middle = 0.5 * (piece[i] + piece[j])
    first, second = piece.copy(), piece.copy()
    first[i], second[j] = middle, middle
    return np.stack([first, second])
