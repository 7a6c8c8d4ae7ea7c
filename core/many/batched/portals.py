# SPDX-License-Identifier: GPL-3.0-or-later
"""Do many pairs of polytopes intersect: Minkowski portal refinement (MPR, XenoCollide), all pairs at once.

The ray from an interior point of A - B through the origin leaves A - B by some triangle of support points: a portal.

1. Take three support points around the ray as the first portal.
2. Discover: while the ray passes outside of a side, replace the vertex opposite that side by the support point of the
   plane through that side and the interior point, on the ray's side.
3. Refine: while the origin is beyond the portal, add the support point along its normal and keep that one of the three
   new triangles which the ray passes. A support point that is not beyond the origin separates the pair.
4. Prove: where the origin is on the inner side, the tetrahedron of portal and interior point must contain it by more
   than rounding; the distance from its faces is the radius of a ball in A - B.

What has no proof is OPEN, for the single call. Source: S4.2; G. Snethen, XenoCollide, Game Programming Gems 7, 2008.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...progress import Progress
from ...runs import chunks
from ...tolerance import EPS, GJK_INSIDE
from ...types import BoolArray, FloatArray, IntArray
from ...vectors import cross, dot, length
from .columns import CHUNK, directions_around, einsum
from .hull_pairs import HullPairs
from .hull_table import HullTable

APART, MEET, OPEN = -1, 1, 0
"""State of a pair; OPEN where nothing could be proved."""

_STEPS = 40
"""Steps of each phase after which a pair is left open; most pairs take three to five."""
_SLOPE = 0.7
"""Slope to the ray of the directions in which the vertices of a first portal are searched."""


@dataclass(frozen=True, eq=False)
class HullStates:
    """What was proved of many pairs of polytopes A and B; one column per pair."""

    state: NDArray[np.int8]
    """(n,) APART, MEET or OPEN."""
    margin: FloatArray
    """(n,) a lower bound of the distance or depth, rounding taken off: where APART, the width of an empty slab; where
    MEET, 0 or the radius of a ball around the origin in A - B; where OPEN, 0."""
    normal: FloatArray
    """(3, n) where APART, unit vectors from A to B across the slab; else 0."""

    @classmethod
    def unknown(cls, count: int) -> HullStates:
        """Return the states of pairs of which nothing is known, to be filled in."""
        return cls(np.zeros(count, dtype=np.int8), np.zeros(count), np.zeros((3, count)))


def search_portals(table: HullTable, i: IntArray, j: IntArray, progress: Progress | None = None) -> HullStates:
    """Return what portals prove of polytopes i (n,) and j (n,). Raise Cancelled."""
    result = HullStates.unknown(len(i))
    order = table.order(i, j)
    for part in chunks(len(i), CHUNK // 2, progress):
        columns = order[part]
        search = _PortalSearch(table, i.take(columns), j.take(columns))
        search.run()
        found = search.result
        result.state[columns], result.margin[columns] = found.state, found.margin
        result.normal[:, columns] = found.normal
    return result


def enclosing_ball(
    p: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray, size: FloatArray, rounding: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return which tetrahedra p, a, b, c (3, m) contain the origin for sure, and of these the radius (k,) of a ball
    around it that is inside."""
    limit = GJK_INSIDE * EPS * size**3
    first, second = np.concatenate([a, b, c, a], axis=1), np.concatenate([b, a, b, c], axis=1)
    third = np.concatenate([c, p, p, p], axis=1)
    volumes = dot(cross(first, second), third).reshape(4, -1)
    sure = np.flatnonzero((volumes.min(axis=0) > limit) | (volumes.max(axis=0) < -limit))
    # Heights of the origin over the four faces, which rounding reduces by no more than the limit.
    faces = cross(second - first, third - first).reshape(3, 4, -1).take(sure, axis=2)
    areas = np.sqrt(einsum("cfm,cfm->fm", faces, faces))
    heights = (np.abs(volumes.take(sure, axis=1)) - limit.take(sure)) / areas
    return sure, np.maximum(heights.min(axis=0) - rounding.take(sure), 0.0)


class _PortalSearch(HullPairs):
    """The portals of some pairs; `result` is of all of them, everything else of the columns still searched."""

    def __init__(self, table: HullTable, i: IntArray, j: IntArray) -> None:
        super().__init__(table, i, j)
        self.result = HullStates.unknown(len(i))
        self.points = np.empty((4, 3, 0))
        """(4, 3, m) vertices of the portals, counter-clockwise seen from outside: coordinates and id."""
        self.last = np.zeros((3, 3, len(i)))
        """The last portals of all pairs."""

    def run(self) -> None:
        """Search until no pair is left."""
        self.begin()
        self.discover()
        normal = self.normals()
        offset = dot(normal, self.points[:3, 0])
        done, passed = np.zeros(len(offset), dtype=bool), np.zeros(len(self.result.state), dtype=bool)
        for _ in range(_STEPS):
            inner = np.flatnonzero(~done & (offset > 0.0))
            passed[self.pair.take(inner)] = done[inner] = True
            left = np.flatnonzero(~done)
            if len(left) < len(done):
                self.finish(np.flatnonzero(done))
                self.keep(left)
                normal, offset = normal.take(left, axis=1), offset.take(left)
            if not len(left):
                break
            point = self.supports(normal)
            done, height, norm = self.separated(normal, point)
            # No farther than the portal: that is on the surface, or rounding decides.
            done |= height - offset <= self.rounding * norm
            self.refine(point)
            normal = self.normals()
            offset = dot(normal, self.points[:3, 0])
        self.finish(np.arange(len(self.pair)))
        self.prove(np.flatnonzero(passed))

    def begin(self) -> None:
        """Search the vertices of the first portals."""
        self.keep(np.flatnonzero(self.interior.any(axis=0)))
        directions = directions_around(-self.interior, 3, _SLOPE)
        self.points = self.supports(directions)
        heights = einsum("ckm,ckm->km", directions, self.points[:3])
        lowest, columns = heights.argmin(axis=0), np.arange(heights.shape[1])
        apart, _, _ = self.separated(directions[:, lowest, columns], self.points[:3, lowest, columns])
        self.keep(np.flatnonzero(~apart))

    def discover(self) -> None:
        """Let the ray pass all portals; drop the pairs of which that fails or which turn out to be separated."""
        columns, sides = self.missed(np.arange(len(self.pair)))
        dropped = np.zeros(len(self.pair), dtype=bool)
        for _ in range(_STEPS):
            if not len(columns):
                break
            side, interior = sides.argmax(axis=0), self.interior.take(columns, axis=1)
            first, second, third = side, (side + 1) % 3, (side + 2) % 3
            v1, v2 = self.points[:3, first, columns], self.points[:3, second, columns]
            direction = cross(v2 - interior, v1 - interior)
            # A portal without width: search beside it.
            thin = np.flatnonzero(~sides.any(axis=0))
            direction[:, thin] = cross(v1, interior)[:, thin]
            point = self.supports(direction, columns)
            self.points[:, third, columns] = point
            done, height, norm = self.separated(direction, point, columns)
            # With nothing beyond the side, the interior point is on the surface.
            done |= height - dot(direction, interior) <= self.rounding.take(columns) * norm
            dropped[columns] = done
            columns, sides = self.missed(columns[~done])
        dropped[columns] = True
        self.keep(np.flatnonzero(~dropped))

    def missed(self, columns: IntArray) -> tuple[IntArray, FloatArray]:
        """Turn the portals of these columns counter-clockwise; return the columns whose portals the ray misses, and
        volumes (3, k) above 0 for each side that it passes outside of, or all 0 for portals without width."""
        points, interior = self.points.take(columns, axis=2), self.interior.take(columns, axis=1)
        v1, v2, v3 = points[:3].transpose(1, 0, 2)
        clockwise = np.flatnonzero(dot(cross(v1 - v3, v2 - v3), interior - v3) > 0.0)
        points[:, :2, clockwise] = points[:, 1::-1, clockwise]
        turned = columns.take(clockwise)
        self.points[:, :2, turned] = points[:, :2, clockwise]
        points = points[:3]
        volumes = einsum("ckm,cm->km", cross(points, points.take([1, 2, 0], axis=1)), interior)
        missed = np.flatnonzero((volumes > 0.0).any(axis=0) | ~volumes.any(axis=0))
        return columns.take(missed), volumes.take(missed, axis=1)

    def normals(self) -> FloatArray:
        """Return the outward normals (3, m) of the portals, of any length."""
        v1, v2, v3 = self.points[:3].transpose(1, 0, 2)
        return cross(v1 - v3, v2 - v3)

    def separated(
        self, directions: FloatArray, points: FloatArray, columns: IntArray | None = None
    ) -> tuple[BoolArray, FloatArray, FloatArray]:
        """Note which pairs support points in these directions separate; return which, the heights of the points, and
        the lengths of the directions. Of all columns, or of those given."""
        pair = self.pair if columns is None else self.pair.take(columns)
        rounding = self.rounding if columns is None else self.rounding.take(columns)
        heights, norm = dot(directions, points[:3]), length(directions)
        apart = heights < -rounding * norm
        found = np.flatnonzero(apart)
        if len(found):
            pair, norms = pair.take(found), norm.take(found)
            self.result.state[pair] = APART
            self.result.margin[pair] = -heights.take(found) / norms - rounding.take(found)
            self.result.normal[:, pair] = directions.take(found, axis=1) / norms
        return apart, heights, norm

    def refine(self, point: FloatArray) -> None:
        """Replace the vertex of each portal without which the ray still passes it by the new point (4, m)."""
        one, two, three = einsum("cm,ckm->km", cross(point[:3], self.interior), self.points[:3]) >= 0.0
        slot = np.where(one, np.where(two, 0, 2), three)
        self.points[:, slot, np.arange(len(slot))] = point

    def finish(self, columns: IntArray) -> None:
        """Store the portals of these columns."""
        pair = self.pair.take(columns)
        self.last[:, :, pair] = self.points[:3, :, columns]

    def prove(self, passed: IntArray) -> None:
        """Settle the pairs whose tetrahedron of portal and interior point contains the origin for sure."""
        lengths, (a, b, c) = self.all_lengths.take(passed, axis=1), self.last.take(passed, axis=2).transpose(1, 0, 2)
        sure, radius = enclosing_ball(lengths[:3], a, b, c, lengths[4], lengths[3])
        self.result.state[passed.take(sure)] = MEET
        self.result.margin[passed.take(sure)] = radius

    def keep(self, columns: IntArray) -> None:
        """Go on with these columns only."""
        super().keep(columns)
        if self.points.shape[2]:
            self.points = self.points.take(columns, axis=2)
