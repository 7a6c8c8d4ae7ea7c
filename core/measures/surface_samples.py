# SPDX-License-Identifier: GPL-3.0-or-later
"""Points of a surface that are nowhere farther apart than a length, and the triangles between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..meshes.body import Body
from ..meshes.solid_facets import Solid, facets_of_pieces
from ..progress import Progress, report_progress
from ..runs import ranges
from ..shapes.curved_shape import CurvedShape
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import unit_rows

_ONTO = 40
"""Times that points are moved onto a curved surface at most; at a rim a third of the way is left each time."""
_ON = 1e-13
"""Times the diameter: so near to a curved surface points are on it."""


@dataclass(frozen=True, eq=False)
class SurfaceSamples:
    """Points of a surface and the triangles between them. World frame and units."""

    points: FloatArray
    """(n, 3) the corners of the surface's triangles, and points between them; on curved surfaces, not on facets."""
    triangles: IntArray
    """(m, 3) indices of points, wound as the triangles that they are parts of."""
    normals: FloatArray
    """(m, 3) unit normals, outward; zero where there is no area."""
    is_bare: BoolArray
    """(m,) whether a triangle is of a bare surface, which has no outside."""
    slack: float
    """Certified: no point of the surface is farther from these triangles. 0.0 without curved surfaces."""


def surface_samples(solid: Solid, spacing: float, progress: Progress | None = None) -> SurfaceSamples:
    """Return points of a solid's surface, no two joined by an edge farther apart than `spacing`, world units.

    progress: called with the fraction done, 0 to 1; False cancels. Raise Cancelled.
    """
    parts: list[SurfaceSamples] = []
    for piece, mesh, slack in facets_of_pieces(solid):
        report_progress(progress, 0.0)
        body = Body.of(mesh)
        used, place = np.unique(body.mesh.triangles, return_inverse=True)
        points, triangles, owners = subdivided(body.mesh.points.take(used, axis=0), place.reshape(-1, 3), spacing)
        normals = body.normals(np.arange(len(body.mesh.triangles))).take(owners, axis=0)
        if isinstance(piece, CurvedShape):
            points = _onto(piece, points, triangles, normals)
            p, q, r = (points.take(triangles[:, k], axis=0) for k in range(3))
            normals = unit_rows(np.cross(q - p, r - p))
        parts.append(SurfaceSamples(points, triangles, normals, np.full(len(triangles), not body.solid), 2.0 * slack))
    begins = np.cumsum([0, *(len(part.points) for part in parts)]).tolist()
    return SurfaceSamples(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.triangles + begin for part, begin in zip(parts, begins[:-1], strict=True)]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.is_bare for part in parts]),
        max(part.slack for part in parts),
    )


def subdivided(points: FloatArray, triangles: IntArray, spacing: float) -> tuple[FloatArray, IntArray, IntArray]:
    """Return triangles cut into parts with no side longer than `spacing`: the points, those given first, the triangles,
    and which of those given each is a part of.

    Sides are cut by their own lengths alone, alike in all of their triangles, so that no gaps open. A triangle is cut
    across by rows of points, from a point of one long side to one of the other, parallel to the shortest or nearly, and
    the points of neighbouring rows are joined.
    """
    # Two steps at most, along a row and across it, are joined.
    step = 0.5 * spacing
    corners = points.take(triangles, axis=0)
    if (_lengths(corners - np.roll(corners, 1, axis=1)) <= spacing).all():
        return points, triangles, np.arange(len(triangles))
    turn = (_lengths(np.roll(corners, -1, axis=1) - np.roll(corners, 1, axis=1)).argmin(axis=1)[:, None] + range(3)) % 3
    tip, left, right = np.take_along_axis(triangles, turn, axis=1).T
    sides = _Sides(points, np.stack([[tip, tip, left], [left, right, right]], axis=2), step)
    points = sides.points
    # Rows from the tip, which is the first, to the side across from it, the last.
    count = sides.parts[:2].max(axis=0)
    of = np.repeat(np.arange(len(triangles)), count + 1)
    row = ranges(np.zeros_like(count), count + 1)
    ends = [sides.point(side, of, (row * sides.parts[side, of] + count[of] // 2) // count[of]) for side in (0, 1)]
    is_last = row == count[of]
    parts = np.ceil(_lengths(points[ends[1]] - points[ends[0]]) / step).astype(np.intp)
    parts = np.where(is_last, sides.parts[2, of], np.where(row == 0, 0, np.maximum(parts, 1)))
    inner = np.where(is_last, 0, np.maximum(parts - 1, 0))
    begin = len(points) + np.cumsum(inner) - inner
    chosen = np.repeat(np.arange(len(of)), inner)
    weight = ((ranges(np.ones_like(inner), inner)) / parts[chosen])[:, None]
    points = np.concatenate([points, (1.0 - weight) * points[ends[0][chosen]] + weight * points[ends[1][chosen]]])

    def at(rows: IntArray, k: IntArray) -> IntArray:
        found = np.where(is_last[rows], sides.point(2, of[rows], k), begin[rows] + k - 1)
        return np.where(k == 0, ends[0][rows], np.where(k == parts[rows], ends[1][rows], found))

    # Between two rows: each part of one with the point of the other that has as many parts before it, by their middles.
    upper = np.flatnonzero(~is_last)
    above, below = parts[upper], parts[upper + 1]
    rows, k = np.repeat(upper, above), ranges(np.zeros_like(above), above)
    a, b = parts[rows], parts[rows + 1]
    down = np.stack([at(rows, k), at(rows + 1, -((a - (2 * k + 1) * b) // (2 * a))), at(rows, k + 1)], axis=1)
    others, k = np.repeat(upper, below), ranges(np.zeros_like(below), below)
    a, b = parts[others], parts[others + 1]
    up = np.stack([at(others + 1, k), at(others + 1, k + 1), at(others, ((2 * k + 1) * a + b) // (2 * b))], axis=1)
    made, owners = np.concatenate([down, up]), of[np.concatenate([rows, others])]
    proper = (made != np.roll(made, 1, axis=1)).all(axis=1)
    return points, made[proper], owners[proper]


class _Sides:
    """The sides of triangles, cut into equal parts."""

    def __init__(self, points: FloatArray, ends: IntArray, step: float) -> None:
        """Cut sides (3, m, 2), numbers of corners, into parts no longer than a step."""
        low, high = ends.min(axis=2), ends.max(axis=2)
        codes, place = np.unique(low * len(points) + high, return_inverse=True)
        first, second = np.divmod(codes, len(points))
        starts, out = points[first], points[second] - points[first]
        parts = np.maximum(np.ceil(_lengths(out) / step).astype(np.intp), 1)
        inner = np.repeat(np.arange(len(codes)), parts - 1)
        fraction = (ranges(np.ones_like(parts), parts - 1) / parts[inner])[:, None]
        self.points = np.concatenate([points, starts[inner] + fraction * out[inner]])
        self._ends, self._is_turned = ends, ends[:, :, 0] > ends[:, :, 1]
        place = place.reshape(low.shape)
        self._begin = (len(points) + np.cumsum(parts - 1) - parts + 1)[place]
        self.parts: IntArray = parts[place]
        """(3, m) how many parts each side has."""

    def point(self, side: int, of: IntArray, k: IntArray) -> IntArray:
        """Return the k-th point, from 0 on, of a side of some triangles."""
        parts = self.parts[side, of]
        found = self._begin[side, of] + np.where(self._is_turned[side, of], parts - k, k) - 1
        start, end = self._ends[side, of].T
        return np.where(k == 0, start, np.where(k == parts, end, found))


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.sqrt((vectors * vectors).sum(axis=-1))


def _onto(shape: CurvedShape, points: FloatArray, triangles: IntArray, normals: FloatArray) -> FloatArray:
    """Return points of facets inside a curved shape moved onto its surface, along the mean of the normals there."""
    directions = np.zeros_like(points)
    for k in range(3):
        np.add.at(directions, triangles[:, k], normals)
    lengths = np.sqrt((directions * directions).sum(axis=1))[:, None]
    directions /= np.where(lengths > 0.0, lengths, 1.0)
    for _ in range(_ONTO):
        off = shape.signed_distance(points)
        points = points - off[:, None] * directions
        if np.abs(off).max() <= _ON * shape.diameter:
            break
    return points
