# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of many pairs of convex shapes, in batches of boxes and of polytopes.

1. Boxes: the separating axis test; witness points and regions of those that intersect.
2. Polytopes: find which intersect; then GJK for those that do not, EPA for those that do.
3. Fill in a row where its bounds meet within the promised tolerance and its witness points realise the signed distance.

All other rows are left to `contact`. Source: S0.4, S1.3, S4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..narrow_phase.relation import relation_of
from ..progress import Progress, subrange, tracked
from ..region.region import Region, region_between
from ..result import Relation, Status
from ..shapes.box import Box
from ..shapes.polytope import Polytope
from ..shapes.shape import Shape
from ..tolerance import (
    BATCH_MISS,
    BOX_PARALLEL,
    BOX_PREFER_FACE,
    EPS,
    EXTREME_EXPONENT,
    PROMISE_EXTENT,
    PROMISE_RELATIVE,
    PROMISE_ROUNDING,
    SUPPORT_ROUNDING,
)
from ..types import BoolArray, FloatArray, IntArray, positive_zero
from .box_axes import box_axes, boxes_intersect
from .box_contacts import box_witnesses, boxes_inside
from .box_regions import BoxRegions, box_regions
from .boxes import OrientedBoxes
from .depth import hull_depths
from .distance import hull_distances
from .hull_intersection import intersect_hulls, slab_widths, widest_slabs
from .hull_pairs import HullContacts
from .hull_table import HullTable
from .portals import APART, MEET, OPEN, search_portals
from .vectors import CHUNK, chunks, dot

_FEW = 64
"""Pairs up to which one by one is as fast."""
_FEW_TESTS = 300
"""Pairs of polytopes up to which one by one is as fast where distances are not needed."""
RELATIONS, STATUSES = tuple(Relation), tuple(Status)
RELATION_CODES = {relation: k for k, relation in enumerate(RELATIONS)}
STATUS_CODES = {status: k for k, status in enumerate(STATUSES)}
RegionEntry = Region | tuple[BoxRegions, int] | None
"""A region, or where it is among those of boxes."""


class PairContacts:
    """The contacts of many pairs while they are filled in; rows are pairs."""

    def __init__(
        self,
        shapes: tuple[Shape, ...],
        pairs: IntArray,
        clearance: float,
        contact_tolerance: float | FloatArray,
        budget: float | None,
        distances: bool,
        regions: bool,
    ) -> None:
        self.shapes, self.pairs, self.distances, self.with_regions = shapes, pairs, distances, regions
        self.clearance, self.contact_tolerance, self.budget = clearance, contact_tolerance, budget
        count, self.dim = len(pairs), shapes[0].dim if shapes else 3
        self.relation, self.status = np.zeros((2, count), dtype=np.int8)
        """Indices into RELATIONS and STATUSES."""
        self.signed_distance, self.lower_bound, self.upper_bound = np.zeros((3, count))
        self.normal, self.point_on_a, self.point_on_b, self.center = np.zeros((4, count, self.dim))
        self.regions: list[RegionEntry] = [None] * count
        self.start = np.zeros((count, self.dim))
        """Normals to try first; zero where none is known."""

    @cached_property
    def sizes(self) -> Sizes:
        """Bounds and sizes of the shapes, of which there must be one."""
        return Sizes(self.shapes)

    def bands(self, rows: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return of pairs the `contact_band`, the smaller extent and the larger magnitude (n,)."""
        tolerance = self.contact_tolerance
        return self.sizes.bands(self.pairs[rows], tolerance if isinstance(tolerance, float) else tolerance[rows])

    def solve(self, rows: IntArray, progress: Progress | None) -> IntArray:
        """Fill in rows in batches; return those that are left. Raise Cancelled."""
        if self.dim < 3 or len(rows) < _FEW:
            return rows
        left = self._solve_boxes(rows, progress)
        return self._solve_polytopes(left, subrange(progress, 1.0 - len(left) / len(rows), 1.0))

    def store_bounds(self, rows: IntArray, lower_bound: FloatArray, normal: FloatArray) -> None:
        """Fill in pairs that are SEPARATED by an empty slab across `normal` (3, n), with nothing but bounds."""
        self.relation[rows] = RELATION_CODES[Relation.SEPARATED]
        self.status[rows] = STATUS_CODES[Status.BOUNDS_ONLY]
        self.signed_distance[rows] = self.lower_bound[rows] = lower_bound
        self.normal[rows] = positive_zero(normal.T)
        self.point_on_a[rows] = self.point_on_b[rows] = self.center[rows] = np.nan
        # No distance is longer than the diagonal of the box around both.
        sizes, (i, j) = self.sizes, self.pairs[rows].T
        sides = np.maximum(sizes.high[:, i], sizes.high[:, j]) - np.minimum(sizes.low[:, i], sizes.low[:, j])
        self.upper_bound[rows] = np.sqrt((sides * sides).sum(axis=0)) * (1.0 + SUPPORT_ROUNDING * EPS)

    def _store(
        self,
        rows: IntArray,
        relation: NDArray[np.int8] | int,
        bounds: tuple[FloatArray, FloatArray, FloatArray],
        vectors: tuple[FloatArray, FloatArray, FloatArray],
    ) -> None:
        """Fill in pairs whose bounds meet: signed distances with bounds, and normals with witness points (3, n)."""
        self.relation[rows], self.status[rows] = relation, STATUS_CODES[Status.CERTIFIED]
        self.signed_distance[rows], self.lower_bound[rows], self.upper_bound[rows] = bounds
        normal, on_a, on_b = vectors
        self.normal[rows], self.point_on_a[rows], self.point_on_b[rows] = positive_zero(normal.T), on_a.T, on_b.T
        self.center[rows] = (0.5 * on_a + 0.5 * on_b).T

    def _solve_boxes(self, rows: IntArray, progress: Progress | None) -> IntArray:
        """Fill in pairs of boxes; return the rows that are left."""
        chosen, solids, i, j = _pairs_among(self.shapes, self.sizes, _is_box, self.pairs, rows)
        if len(chosen) < _FEW:
            return rows
        boxes = OrientedBoxes.of(solids)
        answered = [
            self._solve_box_chunk(chosen[part], boxes, i[part], j[part])
            for part in chunks(len(chosen), subrange(progress, 0.0, len(chosen) / len(rows)), CHUNK // 2)
        ]
        return np.setdiff1d(rows, np.concatenate(answered), assume_unique=True)

    def _solve_box_chunk(self, rows: IntArray, boxes: OrientedBoxes, i: IntArray, j: IntArray) -> IntArray:
        """Fill in pairs of boxes i (n,) and j (n,); return which were."""
        axes, sizes = box_axes(boxes, i, j), self.sizes
        distance, lower = axes.signed_distance, axes.signed_distance - axes.rounding
        band, extent, magnitude = self.bands(rows)
        apart = np.zeros(0, dtype=np.intp)
        if not self.distances:
            apart = np.flatnonzero(lower > np.maximum(band, self.clearance))
            self.store_bounds(rows[apart], lower[apart], axes.normal[:, apart])
        tolerance = promised_many(distance, extent, magnitude)
        # Each axis may be worse by BOX_PREFER_FACE than the best, and nearly parallel edges do not count at all.
        upper = distance * (1.0 - 2.0 * BOX_PREFER_FACE) + axes.rounding + BOX_PARALLEL * extent
        meet = np.flatnonzero((distance <= 0.0) & (upper - lower <= tolerance))
        i, j, band, distance, tolerance = i[meet], j[meet], band[meet], distance[meet], tolerance[meet]
        points = box_witnesses(boxes, i, j, axes.take(meet), tolerance)
        # Where features are flat the witness points are in the middle of the region.
        columns = np.arange(len(meet)) if self.with_regions else np.flatnonzero(~points.good)
        extents, magnitudes = (of[self.pairs[rows[meet[columns]]].T] for of in (sizes.extents, sizes.magnitudes))
        arrays = axes.normal[:, meet[columns]], band[columns], extents, magnitudes.max(axis=0)
        regions = box_regions(boxes, i[columns], j[columns], *arrays, points.on_a[:, columns], points.on_b[:, columns])
        found = np.flatnonzero(regions.found)
        columns, count = columns[found], np.diff(regions.first)[found]
        if len(found):
            uneven = np.abs(regions.depths + np.repeat(distance[columns], count))
            flat = np.maximum.reduceat(uneven, regions.first[found]) <= BATCH_MISS * tolerance[columns]
            flat &= (count > 1) | ~points.good[columns]
            middle, even = regions.centroid[found[flat]].T, columns[flat]
            half = 0.5 * distance[even] * axes.normal[:, meet[even]]
            points.on_a[:, even], points.on_b[:, even], points.good[even] = middle - half, middle + half, True
        good = np.flatnonzero(points.good)
        inside = boxes_inside(boxes, i, j, band)
        a, b = self.pairs[rows[meet]].T
        inside = inside[0] & sizes.inside(a, b, band), inside[1] & sizes.inside(b, a, band)
        relation = _relations(distance, band, self.clearance, *inside)
        bounds = distance[good], lower[meet[good]], upper[meet[good]]
        vectors = axes.normal[:, meet[good]], points.on_a[:, good], points.on_b[:, good]
        self._store(rows[meet[good]], relation[good], bounds, vectors)
        if self.with_regions:
            there = points.good[columns]
            chosen, found = rows[meet[columns[there]]], found[there]
            self.center[chosen] = regions.centroid[found]
            for row, k in zip(chosen.tolist(), found.tolist(), strict=True):
                self.regions[row] = regions, k
            left = np.flatnonzero(points.good & ~regions.found)
            self._add_regions(rows[meet[left]], band[left], tolerance[left], None)
        return np.concatenate([rows[apart], rows[meet[good]]])

    def _add_regions(self, rows: IntArray, band: FloatArray, tolerance: FloatArray, progress: Progress | None) -> None:
        """Fill in the regions of pairs of polytopes that are filled in but for them."""
        each = list(zip(rows.tolist(), band.tolist(), tolerance.tolist(), strict=True))
        for row, width, limit in tracked(each, progress):
            a, b = (self.shapes[k] for k in self.pairs[row].tolist())
            points = self.point_on_a[row].tolist(), self.point_on_b[row].tolist()
            region = region_between(a, b, self.normal[row].copy(), width, *points)
            self.regions[row], self.center[row] = region, region.centroid
            uneven = np.abs(region.depths + self.signed_distance[row]).max()
            if len(region.vertices) > 1 and uneven <= BATCH_MISS * limit:
                half = 0.5 * self.signed_distance[row] * self.normal[row]
                self.point_on_a[row], self.point_on_b[row] = region.centroid - half, region.centroid + half

    def _solve_polytopes(self, rows: IntArray, progress: Progress | None) -> IntArray:
        """Fill in pairs of polytopes; return the rows that are left."""
        chosen, hulls, i, j = _pairs_among(self.shapes, self.sizes, _is_polytope, self.pairs, rows)
        if len(chosen) < _FEW:
            return rows
        progress = subrange(progress, 0.0, len(chosen) / len(rows))
        table = HullTable.of(hulls, subrange(progress, 0.0, 0.1))
        answered = [rows[:0]]
        if not self.distances and len(chosen) >= _FEW_TESTS:
            apart = self._separate(chosen, table, i, j, subrange(progress, 0.1, 0.2))
            answered.append(chosen[apart])
            chosen, i, j = chosen[~apart], i[~apart], j[~apart]
        state = intersect_hulls(table, i, j, subrange(progress, 0.2, 0.3))
        distant, meet = np.flatnonzero(state == APART), np.flatnonzero(state == MEET)
        between = 0.3 + 0.7 * len(distant) / max(1, len(chosen))
        if len(distant) >= _FEW:
            a, b, rows_apart = i[distant], j[distant], chosen[distant]
            band = self.bands(rows_apart)[0]
            start = self.start[rows_apart].T
            found = hull_distances(table, a, b, start, band, subrange(progress, 0.3, between))
            answered.append(self._store_hulls(rows_apart, found, None))
        if len(meet) >= _FEW:
            middle = 0.5 * (between + 1.0) if self.with_regions else 1.0
            found = hull_depths(table, i[meet], j[meet], subrange(progress, between, middle))
            answered.append(self._store_hulls(chosen[meet], found, subrange(progress, middle, 1.0)))
        return np.setdiff1d(rows, np.concatenate(answered), assume_unique=True)

    def _separate(
        self, rows: IntArray, table: HullTable, i: IntArray, j: IntArray, progress: Progress | None
    ) -> BoolArray:
        """Fill in the bounds of pairs of polytopes i (n,) and j (n,) that are SEPARATED; return (n,) which are."""
        limit = np.maximum(self.bands(rows)[0], self.clearance)
        gap, normal = np.zeros(len(rows)), self.start[rows].T.copy()
        known = np.flatnonzero(normal.any(axis=0))
        gap[known] = slab_widths(table, i[known], j[known], normal[:, known])
        left = np.flatnonzero(~(gap > limit))
        slabs = widest_slabs(table, i[left], j[left], subrange(progress, 0.0, 0.2))
        gap[left], normal[:, left] = np.where(slabs.state == APART, slabs.margin, 0.0), slabs.normal
        # Portals find a slab of any width, which is enough where no more is needed.
        left = left[slabs.state == OPEN]
        portals = search_portals(table, i[left], j[left], subrange(progress, 0.2, 1.0))
        gap[left], normal[:, left] = np.where(portals.state == APART, portals.margin, 0.0), portals.normal
        apart = gap > limit
        self.store_bounds(rows[apart], gap[apart], normal[:, apart])
        return apart

    def _store_hulls(self, rows: IntArray, found: HullContacts, progress: Progress | None) -> IntArray:
        """Fill in pairs of polytopes whose bounds meet; return which these are."""
        band, extent, magnitude = self.bands(rows)
        distance = found.signed_distance
        tolerance = promised_many(distance, extent, magnitude)
        miss = found.on_b - found.on_a - distance * found.normal
        good = found.found & (np.abs(distance) > band) & (found.upper_bound - found.lower_bound <= tolerance)
        good &= dot(miss, miss) <= (BATCH_MISS * tolerance) ** 2
        rows, band, tolerance, distance = rows[good], band[good], tolerance[good], distance[good]
        inside = np.zeros(len(rows), dtype=bool)
        relation = _relations(distance, band, self.clearance, inside, inside)
        bounds = distance, found.lower_bound[good], found.upper_bound[good]
        self._store(rows, relation, bounds, (found.normal[:, good], found.on_a[:, good], found.on_b[:, good]))
        # Only a shape whose bounding box is in that of the other can be inside of it.
        deep = np.flatnonzero(distance < 0.0)
        (a, b), slack = self.pairs[rows[deep]].T, band[deep]
        inside[deep] = self.sizes.inside(a, b, slack) | self.sizes.inside(b, a, slack)
        for k in np.flatnonzero(inside).tolist():
            p, q = (self.shapes[n] for n in self.pairs[rows[k]].tolist())
            self.relation[rows[k]] = RELATION_CODES[
                relation_of(p, q, float(distance[k]), float(band[k]), self.clearance)
            ]
        if self.with_regions:
            self._add_regions(rows[deep], slack, tolerance[deep], progress)
        return rows


def intersecting_pairs(
    shapes: tuple[Shape, ...], pairs: IntArray, progress: Progress | None
) -> tuple[BoolArray, IntArray]:
    """Return (p,) whether the shapes of each pair intersect, and the rows for which this is not known. Raise
    Cancelled."""
    result, left = np.zeros(len(pairs), dtype=bool), np.arange(len(pairs))
    if not shapes or shapes[0].dim < 3:
        return result, left
    sizes = Sizes(shapes)
    chosen, solids, i, j = _pairs_among(shapes, sizes, _is_box, pairs, left)
    if len(chosen) >= _FEW:
        boxes = OrientedBoxes.of(solids)
        result[chosen], doubtful = boxes_intersect(boxes, i, j, subrange(progress, 0.0, len(chosen) / len(left)))
        left = np.setdiff1d(left, np.delete(chosen, doubtful), assume_unique=True)
    progress = subrange(progress, 1.0 - len(left) / max(1, len(pairs)), 1.0)
    chosen, hulls, i, j = _pairs_among(shapes, sizes, _is_polytope, pairs, left)
    if len(chosen) >= _FEW_TESTS:
        progress = subrange(progress, 0.0, len(chosen) / len(left))
        table = HullTable.of(hulls, subrange(progress, 0.0, 0.5))
        state = intersect_hulls(table, i, j, subrange(progress, 0.5, 1.0))
        result[chosen] = state == MEET
        left = np.setdiff1d(left, chosen[state != OPEN], assume_unique=True)
    return result, left


def _is_box(shape: Shape) -> bool:
    return type(shape) is Box and shape.orthogonal and shape.rank == 3


def _is_polytope(shape: Shape) -> bool:
    return isinstance(shape, Polytope)


def _pairs_among(
    shapes: Sequence[Shape], sizes: Sizes, is_taken: Callable[[Shape], bool], pairs: IntArray, rows: IntArray
) -> tuple[IntArray, list[Any], IntArray, IntArray]:
    """Return the rows (m,) whose shapes a batch takes, these shapes, and the indices (m,) of A and of B among them."""
    taken = sizes.ordinary & np.array([is_taken(shape) for shape in shapes])
    chosen = rows[taken[pairs[rows]].all(axis=1)]
    used = np.zeros(len(taken), dtype=bool)
    used[pairs[chosen]] = True
    i, j = np.ascontiguousarray((np.cumsum(used) - 1)[pairs[chosen]].T)
    return chosen, [shapes[k] for k in np.flatnonzero(used).tolist()], i, j


def _relations(
    distance: FloatArray, band: FloatArray, clearance: float, a_in_b: BoolArray, b_in_a: BoolArray
) -> NDArray[np.int8]:
    """Return the indices (n,) of what `relation_of` returns for solids."""
    cases = {
        Relation.WITHIN_CLEARANCE: (distance > band) & (distance <= clearance),
        Relation.SEPARATED: distance > band,
        Relation.COINCIDENT: a_in_b & b_in_a,
        Relation.TOUCHING: distance >= -band,
        Relation.A_INSIDE_B: a_in_b,
        Relation.B_INSIDE_A: b_in_a,
    }
    codes = [RELATION_CODES[relation] for relation in cases]
    return np.select(list(cases.values()), codes, RELATION_CODES[Relation.PENETRATING]).astype(np.int8)


class Sizes:
    """Bounding boxes and sizes of shapes, which tolerances are relative to."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        corners = np.array([shape._bounds_tuples for shape in shapes])  # (n, 2, dim)
        self.low, self.high = np.ascontiguousarray(corners[:, 0].T), np.ascontiguousarray(corners[:, 1].T)
        """(dim, n) lowest and highest corners."""
        sides = self.high - self.low
        longest = sides.max(axis=0)
        scaled = sides / np.where(longest > 0.0, longest, 1.0)  # squares neither overflow nor vanish
        self.extents = longest * np.sqrt((scaled * scaled).sum(axis=0))
        """(n,) diagonals."""
        self.magnitudes = np.maximum(np.abs(self.low), np.abs(self.high)).max(axis=0)
        """(n,) largest coordinates."""
        most = 2.0 ** (EXTREME_EXPONENT - 2)
        self.ordinary = (longest > 1.0 / most) & (self.magnitudes < most)
        """(n,) whether squares and cubes of lengths neither overflow nor vanish."""

    def inside(self, i: IntArray, j: IntArray, slack: FloatArray) -> BoolArray:
        """Return (n,) whether bounding boxes of i (n,) stick out of those of j (n,) by no more than `slack` (n,)."""
        below = self.low.take(j, axis=1) - self.low.take(i, axis=1)
        above = self.high.take(i, axis=1) - self.high.take(j, axis=1)
        return np.maximum(below, above).max(axis=0) <= slack

    def bands(
        self, pairs: IntArray, contact_tolerance: float | FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return of each pair `contact_band`, the smaller extent and the larger magnitude (n,)."""
        extents, magnitude = self.extents[pairs], self.magnitudes[pairs].max(axis=1)
        small, large = extents.min(axis=1), extents.max(axis=1)
        band = contact_tolerance * np.where(small > 0.0, small, large)
        return np.maximum(band, promised_many(np.zeros(1), small, magnitude)), small, magnitude


def promised_many(signed_distance: FloatArray, extent: FloatArray, magnitude: FloatArray) -> FloatArray:
    """Return `promised` of each of many pairs (n,)."""
    return PROMISE_RELATIVE * np.abs(signed_distance) + PROMISE_EXTENT * extent + PROMISE_ROUNDING * EPS * magnitude
