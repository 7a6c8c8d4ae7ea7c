# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of many pairs of convex shapes, in batches of boxes and of polytopes.

    pairs --+-- of boxes ------ separating axes --+-- a gap: bounds only, or as polytopes
            |                                     +-- overlap: relation, region
            |
            +-- of polytopes -- do they meet? ----+-- APART: GJK, or bounds only
            |                                     +-- MEET: EPA
            |                                     +-- OPEN --------------------------+
            +-- others, and rows that fail a test below -----------------------------+-- left to `contact`

A row is filled in where the bounds of its signed distance d meet, upper - lower <= tolerance, and its witness points
realise d: on_b - on_a = d * normal, to BATCH_MISS times the tolerance. Of boxes d = -overlap of the decisive axis:

    lower = d - rounding                      moving B by the overlap along that axis separates
    upper = d (1 - 2 BOX_PREFER_FACE)         other axes overlap less by BOX_PREFER_FACE, relative, at most, those of
            + rounding + BOX_PARALLEL extent  edges that count as parallel by BOX_PARALLEL extent

Witness points in the middle m of a flat region are m + 0.5 depth * normal on A and m - 0.5 depth * normal on B.

    PENETRATING,
    A_INSIDE_B, B_INSIDE_A       TOUCHING         WITHIN_CLEARANCE        SEPARATED
    ------------------------+--------+--------+----------------------+---------------> d
                          -band      0      band                 clearance

COINCIDENT is d <= band with each inside the other. A ball of radius r inside both makes the depth 2 r at least: so one
box can be inside the other, but for the band, only where -d >= 2 (r - band), r that of the smaller inscribed ball.

Source: S0.4, S1.3, S4.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...narrow_phase.relation import relation_of
from ...progress import Progress, report_progress, subrange, tracked
from ...region.region import region_between
from ...result import Relation, Status
from ...runs import chunks
from ...shapes.feature import FeatureKind
from ...shapes.polytope import Polytope
from ...tolerance import BATCH_MISS, BOX_PARALLEL, BOX_PREFER_FACE, EPS, SUPPORT_ROUNDING
from ...types import BoolArray, FloatArray, IntArray, positive_zero
from ...vectors import dot, length
from .bodies import Bodies
from .box_axes import boxes_intersect, near_box_axes
from .box_contacts import BoxAxes, boxes_inside
from .box_regions import BoxRegions, box_regions
from .columns import CHUNK
from .depth import hull_depths
from .distance import hull_distances
from .hull_features import PointRegions, feature_widths, touch_in_points
from .hull_intersection import intersect_hulls, intervals_pay, rays, slab_widths, sphere_slabs
from .hull_pairs import HullContacts
from .hull_table import HullTable
from .pair_regions import Regions
from .portals import APART, MEET, OPEN, search_portals
from .sizes import promised_many

if TYPE_CHECKING:
    from ...meshes.solid_facets import Solid

_FEW_TESTS = 64, 300
"""Pairs up to which testing one by one is as fast, and pairs of polytopes."""
_FEW_TESTS_IN_POSES = 12
"""The same where each shape would have to be transformed by itself."""
_FEW_CONTACTS, _FEW_CONTACTS_IN_POSES = (12, 40), (4, 8)
"""Pairs of boxes, and of polytopes, up to which `contact` of each is faster."""
RELATIONS, STATUSES = tuple(Relation), tuple(Status)
RELATION_CODES = {relation: k for k, relation in enumerate(RELATIONS)}
STATUS_CODES = {status: k for k, status in enumerate(STATUSES)}
ARRAYS = ("signed_distance", "normal", "point_on_a", "point_on_b", "center", "lower_bound", "upper_bound")
"""Names of the arrays of contacts, one row a pair."""


class PairContacts:
    """The contacts of many pairs while they are filled in; rows are pairs."""

    def __init__(
        self,
        bodies: Bodies,
        pairs: IntArray,
        clearance: float,
        contact_tolerance: float | FloatArray,
        budget: float | None,
        distances: bool,
        regions: bool,
        reproducible: bool,
    ) -> None:
        self.bodies, self.distances, self.with_regions = bodies, distances, regions
        few = _FEW_CONTACTS if bodies.poses is None else _FEW_CONTACTS_IN_POSES
        self._few_boxes, self._few_polytopes = (0, 0) if reproducible else few
        self._reproducible = reproducible
        self.i, self.j = np.ascontiguousarray(pairs.T)
        self.clearance, self.contact_tolerance, self.budget = clearance, contact_tolerance, budget
        count, self.dim = len(pairs), bodies.dim
        self.relation, self.status = np.zeros((2, count), dtype=np.int8)
        """Indices into RELATIONS and STATUSES."""
        self.signed_distance, self.lower_bound, self.upper_bound = np.zeros((3, count))
        # One row per coordinate: those of a chunk are put in place several times faster.
        vectors = np.full((4, self.dim, count), np.nan)
        self.normal, self.point_on_a, self.point_on_b, self.center = vectors.transpose(0, 2, 1)
        self.regions = Regions(count)
        self.start = np.zeros((count, self.dim))
        """Normals to try first; zero where none is known."""
        self._done = np.zeros(count, dtype=bool)
        """Rows that are filled in."""

    def bands(self, rows: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return of pairs the `contact_band`, the smaller extent and the larger magnitude (n,)."""
        tolerance = self.contact_tolerance
        pairs = self.i.take(rows), self.j.take(rows)
        diameters = self.bodies.diameters(np.concatenate(pairs))
        return self.bodies.sizes.bands(
            *pairs, diameters, tolerance if isinstance(tolerance, float) else tolerance[rows]
        )

    def solve(self, rows: IntArray, progress: Progress | None) -> IntArray:
        """Fill in rows in batches; return those that are left. Raise Cancelled."""
        if self.dim < 3 or len(rows) <= self._few_boxes:
            return rows
        self._solve_boxes(rows, progress)
        left = self._left(rows)
        self._solve_polytopes(left, subrange(progress, 1.0 - len(left) / len(rows), 1.0))
        return self._left(left)

    def _left(self, rows: IntArray) -> IntArray:
        """Return rows that are not filled in."""
        return rows[~self._done.take(rows)]

    def store_bounds(
        self, rows: IntArray, lower_bound: FloatArray, normal: FloatArray, upper_bound: FloatArray
    ) -> None:
        """Fill in pairs that are SEPARATED by an empty slab across `normal` (dim, n), with nothing but bounds."""
        self._done[rows] = True
        self.relation[rows] = RELATION_CODES[Relation.SEPARATED]
        self.status[rows] = STATUS_CODES[Status.BOUNDS_ONLY]
        self.signed_distance[rows] = self.lower_bound[rows] = lower_bound
        self.upper_bound[rows] = upper_bound
        _put(self.normal, rows, positive_zero(normal))

    def _store(
        self,
        rows: IntArray,
        relation: NDArray[np.int8] | int,
        bounds: tuple[FloatArray, FloatArray, FloatArray],
        vectors: tuple[FloatArray, FloatArray, FloatArray],
    ) -> None:
        """Fill in pairs whose bounds meet: signed distances with bounds, and normals with witness points (3, n)."""
        self._done[rows] = True
        self.relation[rows], self.status[rows] = relation, STATUS_CODES[Status.CERTIFIED]
        self.signed_distance[rows], self.lower_bound[rows], self.upper_bound[rows] = bounds
        normal, on_a, on_b = vectors
        _put(self.normal, rows, positive_zero(normal))
        _put(self.point_on_a, rows, on_a)
        _put(self.point_on_b, rows, on_b)
        _put(self.center, rows, 0.5 * on_a + 0.5 * on_b)

    def _solve_boxes(self, rows: IntArray, progress: Progress | None) -> None:
        """Fill in pairs of boxes."""
        chosen, i, j = _pairs_among(self.bodies.is_box, self.i, self.j, rows)
        if self._few_boxes < len(chosen) <= self._few_polytopes:
            # Others are apart, which `contact` sees five times as fast.
            near = np.flatnonzero(self.bodies.sizes.overlap(i, j))
            chosen, i, j = chosen[near], i[near], j[near]
        if len(chosen) <= self._few_boxes:
            return
        progress = subrange(progress, 0.0, len(chosen) / len(rows))
        for part in chunks(len(chosen), 2 * CHUNK, progress):
            own = subrange(progress, part.start / len(chosen), part.stop / len(chosen))
            self._solve_box_chunk(chosen[part], i[part], j[part], own)

    def _solve_box_chunk(self, rows: IntArray, i: IntArray, j: IntArray, progress: Progress | None) -> None:
        """Fill in pairs of boxes, bodies i (n,) and j (n,)."""
        boxes, places = self.bodies.boxes
        p, q = places.take(i), places.take(j)
        band, extent, magnitude = self.bands(rows)
        limit = np.maximum(band, self.clearance)
        left, axes, slabs = near_box_axes(boxes, p, q, limit)
        if not self.distances:
            self.store_bounds(rows[slabs.columns], slabs.lower_bound, slabs.normal, slabs.upper_bound)
        report_progress(progress, 0.4)
        distance, lower = axes.signed_distance, axes.signed_distance - axes.rounding
        extent, magnitude = extent.take(left), magnitude.take(left)
        if not self.distances:
            apart = np.flatnonzero(lower > limit.take(left))
            chosen = left[apart]
            upper = length(boxes.offsets(p.take(chosen), q.take(chosen))) * (1.0 + SUPPORT_ROUNDING * EPS)
            upper += axes.rounding[apart]
            self.store_bounds(rows[chosen], lower[apart], axes.normal[:, apart], upper)
        tolerance = promised_many(distance, extent, magnitude)
        # Each axis may be worse by BOX_PREFER_FACE than the best, and nearly parallel edges do not count at all.
        upper = distance * (1.0 - 2.0 * BOX_PREFER_FACE) + axes.rounding + BOX_PARALLEL * extent
        meet = np.flatnonzero((distance <= 0.0) & (upper - lower <= tolerance))
        if len(meet) < len(left):
            left, axes, distance, lower = left[meet], axes.take(meet), distance[meet], lower[meet]
            upper, magnitude, tolerance = upper[meet], magnitude[meet], tolerance[meet]
            if not len(meet):
                return
        rows, i, j, p, q = (of.take(left) for of in (rows, i, j, p, q))
        band = band.take(left)
        good = axes.good(tolerance)
        if self.with_regions:
            regions, found = self._box_regions(np.arange(len(rows)), i, j, axes, band, magnitude, tolerance, good)
        elif not good.all():
            self._box_regions(np.flatnonzero(~good), i, j, axes, band, magnitude, tolerance, good)
        report_progress(progress, 0.8)
        relation = _relations(distance, band, self.clearance, *self._boxes_inside(i, j, p, q, distance, band))
        if good.all():
            self._store(rows, relation, (distance, lower, upper), (axes.normal, axes.on_a, axes.on_b))
        else:
            kept, of = np.flatnonzero(good), axes.take(np.flatnonzero(good))
            bounds = of.signed_distance, lower[kept], upper[kept]
            self._store(rows[kept], relation[kept], bounds, (of.normal, of.on_a, of.on_b))
        if self.with_regions:
            found = found[good[found]]
            self.center[rows[found]] = regions.centroid[found]
            self.regions.store_rows(rows[found], regions, found)
            left = np.flatnonzero(good & ~regions.found)
            self._add_regions(rows[left], band[left], tolerance[left], None)

    def _box_regions(
        self,
        columns: IntArray,
        i: IntArray,
        j: IntArray,
        axes: BoxAxes,
        band: FloatArray,
        magnitude: FloatArray,
        tolerance: FloatArray,
        good: BoolArray,
    ) -> tuple[BoxRegions, IntArray]:
        """Return the regions of columns (m,) of pairs of boxes, bodies i (n,) and j (n,), and which of them are found.

        Where features are flat the witness points are moved to the middle of the region, and are `good` (n,) then.
        """
        boxes, places = self.bodies.boxes
        i, j, chosen = i.take(columns), j.take(columns), axes.take(columns)
        extents = np.stack([self.bodies.sizes.extents.take(i), self.bodies.sizes.extents.take(j)])
        arrays = chosen.normal, band.take(columns), extents, magnitude.take(columns)
        regions = box_regions(boxes, places.take(i), places.take(j), *arrays, chosen.on_a, chosen.on_b)
        found = np.flatnonzero(regions.found)
        if len(found):
            columns, count, depth = columns[found], np.diff(regions.first)[found], -axes.signed_distance
            uneven = np.abs(regions.depths - np.repeat(depth[columns], count))
            flat = np.maximum.reduceat(uneven, regions.first[found]) <= BATCH_MISS * tolerance[columns]
            flat &= (count > 1) | ~good[columns]
            middle, even = regions.centroid[found[flat]].T, columns[flat]
            half = 0.5 * depth[even] * axes.normal[:, even]
            axes.on_a[:, even], axes.on_b[:, even], good[even] = middle + half, middle - half, True
        return regions, found

    def _boxes_inside(
        self, i: IntArray, j: IntArray, p: IntArray, q: IntArray, distance: FloatArray, band: FloatArray
    ) -> tuple[BoolArray, BoolArray]:
        """Return of pairs of boxes p (n,) and q (n,), bodies i (n,) and j (n,), which are inside each other."""
        sizes, boxes = self.bodies.sizes, self.bodies.boxes[0]
        a_in_b, b_in_a = np.zeros((2, len(i)), dtype=bool)
        # A box that is inside the other, but for the band along each of three faces, is so deep in it.
        radius = boxes.frames[19]
        deep = np.flatnonzero(2.0 * (np.minimum(radius.take(p), radius.take(q)) - band) <= -distance)
        i, j, slack = i.take(deep), j.take(deep), band.take(deep)
        a_in_b[deep], b_in_a[deep] = sizes.inside(i, j, slack), sizes.inside(j, i, slack)
        near = np.flatnonzero(a_in_b | b_in_a)
        if len(near):
            inside = boxes_inside(boxes, p.take(near), q.take(near), band.take(near))
            a_in_b[near] &= inside[0]
            b_in_a[near] &= inside[1]
        return a_in_b, b_in_a

    def _add_regions(self, rows: IntArray, band: FloatArray, tolerance: FloatArray, progress: Progress | None) -> None:
        """Fill in the regions of pairs of polytopes that are filled in but for them."""
        each = list(zip(rows.tolist(), band.tolist(), tolerance.tolist(), strict=True))
        for row, width, limit in tracked(each, progress):
            a, b = self.polytopes(row)
            points = self.point_on_a[row].tolist(), self.point_on_b[row].tolist()
            region = region_between(a, b, self.normal[row].copy(), width, *points)
            self.regions.store(row, region)
            self.center[row] = region.centroid
            uneven = np.abs(region.depths + self.signed_distance[row]).max()
            # That of two edges may be beside both, where they are moved onto one line.
            has_face = any(feature.kind is FeatureKind.FACE for pair in region.features for feature in pair)
            if len(region.vertices) > 1 and has_face and uneven <= BATCH_MISS * limit:
                half = 0.5 * self.signed_distance[row] * self.normal[row]
                self.point_on_a[row], self.point_on_b[row] = region.centroid - half, region.centroid + half

    def shapes(self, row: int) -> tuple[Solid, Solid]:
        """Return the shapes of a pair in their poses. Raise ValueError, naming the pose, where one has none."""
        return self.bodies.shape(int(self.i[row])), self.bodies.shape(int(self.j[row]))

    def polytopes(self, row: int) -> tuple[Polytope, Polytope]:
        """Return the shapes of a pair that are polytopes."""
        a, b = self.shapes(row)
        assert isinstance(a, Polytope)
        assert isinstance(b, Polytope)
        return a, b

    def _solve_polytopes(self, rows: IntArray, progress: Progress | None) -> None:
        """Fill in pairs of polytopes."""
        if len(rows) <= self._few_polytopes:
            return
        chosen, i, j = _pairs_among(self.bodies.is_polytope, self.i, self.j, rows)
        if len(chosen) <= self._few_polytopes:
            return
        progress = subrange(progress, 0.0, len(chosen) / len(rows))
        table, places = self.bodies.hulls(np.concatenate([i, j]), subrange(progress, 0.0, 0.1))
        i, j = places.take(i), places.take(j)
        if not self.distances:
            state = self._separate(chosen, table, i, j, subrange(progress, 0.1, 0.3))
            left = np.flatnonzero(~self._done.take(chosen))
            chosen, i, j, state = chosen[left], i[left], j[left], state[left]
        else:
            known_enough = not self._reproducible and intervals_pay(table, i)
            state = intersect_hulls(table, i, j, known_enough, subrange(progress, 0.1, 0.3))
        distant, meet = np.flatnonzero(state == APART), np.flatnonzero(state == MEET)
        between = 0.3 + 0.7 * len(distant) / max(1, len(chosen))
        if len(distant):
            rows, pairs = chosen[distant], (table, i[distant], j[distant])
            found = hull_distances(*pairs, self.bands(rows)[0], subrange(progress, 0.3, between))
            self._store_hulls(rows, *pairs, found, None)
        if len(meet):
            middle = 0.5 * (between + 1.0) if self.with_regions else 1.0
            pairs = table, i[meet], j[meet]
            found = hull_depths(*pairs, subrange(progress, between, middle))
            self._store_hulls(chosen[meet], *pairs, found, subrange(progress, middle, 1.0))

    def _separate(
        self, rows: IntArray, table: HullTable, i: IntArray, j: IntArray, progress: Progress | None
    ) -> NDArray[np.int8]:
        """Fill in the bounds of pairs of polytopes i (n,) and j (n,) that are SEPARATED; return (n,) APART, MEET or
        OPEN of all."""
        limit = np.maximum(self.bands(rows)[0], self.clearance)
        gap, normal = np.zeros(len(rows)), self.start[rows].T.copy()
        known = np.flatnonzero(normal.any(axis=0))
        gap[known] = slab_widths(table, i[known], j[known], normal[:, known])
        state = np.where(gap > limit, np.int8(APART), np.int8(OPEN))
        left = np.flatnonzero(state == OPEN)
        # Slabs and rays first: portals find a slab of any width, which is enough where no more is needed.
        for search, begin, end in ((sphere_slabs, 0.0, 0.2), (rays, 0.2, 0.3), (search_portals, 0.3, 1.0)):
            found = search(table, i[left], j[left], subrange(progress, begin, end))
            state[left] = found.state
            apart = found.state == APART
            gap[left[apart]], normal[:, left[apart]] = found.margin[apart], found.normal[:, apart]
            left = left[found.state == OPEN]
        apart = gap > limit
        # The means are points of the polytopes.
        a, b = i[apart], j[apart]
        upper = length(table.offsets(a, b)) * (1.0 + SUPPORT_ROUNDING * EPS) + table.radii[2].take(a)
        self.store_bounds(rows[apart], gap[apart], normal[:, apart], upper + table.radii[2].take(b))
        return state

    def _store_hulls(
        self,
        rows: IntArray,
        table: HullTable,
        i: IntArray,
        j: IntArray,
        found: HullContacts,
        progress: Progress | None,
    ) -> None:
        """Fill in pairs of polytopes i (n,) and j (n,) of a table whose bounds meet."""
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
        a, b, slack = self.i.take(rows[deep]), self.j.take(rows[deep]), band[deep]
        inside[deep] = self.bodies.sizes.inside(a, b, slack) | self.bodies.sizes.inside(b, a, slack)
        for k in np.flatnonzero(inside).tolist():
            pair = self.polytopes(int(rows[k]))
            relation_now = relation_of(*pair, float(distance[k]), float(band[k]), self.clearance)
            self.relation[rows[k]] = RELATION_CODES[relation_now]
        if self.with_regions:
            near = np.flatnonzero(distance <= np.maximum(band, self.clearance))
            i, j, rows, band = i[good][near], j[good][near], rows[near], band[near]
            a, b, sizes = self.i.take(rows), self.j.take(rows), self.bodies.sizes
            extents = sizes.extents.take(a), sizes.extents.take(b)
            widths = feature_widths(band, extents, magnitude[good][near])
            points = touch_in_points(table, i, j, self.normal[rows].T, widths)
            target = rows[points]
            found_at = self.normal[target], self.point_on_a[target], self.point_on_b[target]
            source = PointRegions(self.bodies, a[points], b[points], band[points], *found_at)
            self.regions.store_rows(target, source, np.arange(len(target)))
            self._add_regions(rows[~points], band[~points], tolerance[near][~points], progress)


def intersecting_pairs(
    bodies: Bodies, pairs: IntArray, normals: FloatArray | None, progress: Progress | None
) -> tuple[BoolArray, IntArray]:
    """Return (p,) whether the bodies of each pair (p, 2) intersect, and the rows for which this is not known.

    `normals` (3, p) are of slabs that may be empty, zero where none is known. Raise Cancelled.
    """
    result, left = np.zeros(len(pairs), dtype=bool), np.arange(len(pairs))
    few, few_tests = _FEW_TESTS if bodies.poses is None else (_FEW_TESTS_IN_POSES,) * 2
    if bodies.dim < 3 or len(pairs) < few:
        return result, left
    known = np.zeros(len(pairs), dtype=bool)
    first, second = np.ascontiguousarray(pairs.T)
    chosen, i, j = _pairs_among(bodies.is_box, first, second, left)
    if len(chosen) >= few:
        boxes, places = bodies.boxes
        part = subrange(progress, 0.0, len(chosen) / len(left))
        result[chosen], doubtful = boxes_intersect(boxes, places.take(i), places.take(j), part)
        known[chosen] = True
        known[chosen[doubtful]] = False
        left = np.flatnonzero(~known)
    if len(left) < few_tests:
        return result, left
    progress = subrange(progress, 1.0 - len(left) / len(pairs), 1.0)
    chosen, i, j = _pairs_among(bodies.is_polytope, first, second, left)
    if len(chosen) >= few_tests:
        progress = subrange(progress, 0.0, len(chosen) / len(left))
        table, places = bodies.hulls(np.concatenate([i, j]), subrange(progress, 0.0, 0.5))
        state = np.full(len(chosen), OPEN)
        i, j = places.take(i), places.take(j)
        if normals is not None:
            across = normals.take(chosen, axis=1)
            first = np.flatnonzero(across.any(axis=0))
            state[first[slab_widths(table, i[first], j[first], across[:, first]) > 0.0]] = APART
        undecided = np.flatnonzero(state == OPEN)
        known_enough = intervals_pay(table, i[undecided])
        state[undecided] = intersect_hulls(
            table, i[undecided], j[undecided], known_enough, subrange(progress, 0.5, 1.0)
        )
        result[chosen] = state == MEET
        known[chosen] = state != OPEN
        left = np.flatnonzero(~known)
    return result, left


def _put(array: FloatArray, rows: IntArray, vectors: FloatArray) -> None:
    """Put vectors (3, m) in rows (m,) of an array whose columns are contiguous."""
    for column, values in zip(array.T, vectors, strict=True):
        column[rows] = values


def _pairs_among(taken: BoolArray, i: IntArray, j: IntArray, rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the rows (m,) of pairs i (n,) and j (n,) whose bodies a batch takes, and these bodies (m,)."""
    chosen = rows if taken.all() else rows[taken.take(i.take(rows)) & taken.take(j.take(rows))]
    return chosen, i.take(chosen), j.take(chosen)


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
