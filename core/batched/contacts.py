# SPDX-License-Identifier: GPL-3.0-or-later
"""Many pairs in one call: what `contact` tells of one pair, as arrays with one row a pair.

Boxes and hulls are answered many at once where that is faster; everything else, and every row on which a batch cannot
be sure, takes the way of the single call. Source: S0.4, S1.3, S4.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_length
from ..broad_phase.candidate_pairs import candidate_pairs
from ..curved.convex_contact import convex_contact
from ..narrow_phase.gjk import gjk_intersects
from ..narrow_phase.relation import relation_of
from ..progress import Progress, report_progress, subrange
from ..region.center import middle
from ..region.region import Region, region_between
from ..result import Contact, Method, Relation, Status
from ..shapes.box import Box
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.polytope import Polytope
from ..tolerance import (
    BATCH_MISS,
    BOX_PARALLEL,
    BOX_PREFER_FACE,
    DEFAULT_CONTACT_TOLERANCE,
    EPS,
    EXTREME_EXPONENT,
    LARGEST_COORDINATE,
    PROMISE_EXTENT,
    PROMISE_RELATIVE,
    PROMISE_ROUNDING,
    SUPPORT_ROUNDING,
)
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from .box_axes import box_axes, boxes_intersect
from .box_contacts import box_witnesses, boxes_inside
from .box_regions import BoxRegions, box_regions
from .boxes import OrientedBoxes
from .depth import hull_depths
from .distance import hull_distances
from .hull_intersection import intersect_hulls, slab_widths, widest_slabs
from .hull_table import HullTable
from .portals import APART, MEET, OPEN, search_portals

CodeArray = NDArray[np.int8]

RELATIONS = tuple(Relation)
"""What the numbers in `Contacts.relation` stand for."""
STATUSES = tuple(Status)
"""What the numbers in `Contacts.status` stand for."""

_METHODS = get_args(Method)
_FEW_BOXES = 40
"""Pairs of boxes up to which one by one is as fast."""
_FEW_HULLS = 300
"""Pairs of other polytopes up to which one by one is as fast."""
_FEW_DISTANCES = 64
"""Pairs of polytopes up to which one by one is as fast, when distances are asked for."""
_CHUNK = 4_096
"""Pairs answered in one go."""
_TELL = 64
"""Pairs done one by one in some fifty microseconds after which progress is told."""
_LOOKING = 0.05
"""Share of the work that candidates are, where they are asked for."""


class Regions(Sequence["Region | None"]):
    """The region of each row; those of boxes are arrays until they are asked for."""

    def __init__(self, held: list[Region | tuple[BoxRegions, int] | None]) -> None:
        self._held = held

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._held)

    @overload
    def __getitem__(self, row: int) -> Region | None: ...

    @overload
    def __getitem__(self, row: slice) -> tuple[Region | None, ...]: ...

    def __getitem__(self, row: int | slice) -> Region | tuple[Region | None, ...] | None:
        """Return the region of a row, or of some."""
        if isinstance(row, slice):
            return tuple(self[k] for k in range(*row.indices(len(self))))
        held = self._held[row]
        if isinstance(held, tuple):
            regions, k = held
            return regions.region(k)
        return held

    def __eq__(self, other: object) -> bool:
        """Tell whether the other has the very same regions."""
        return isinstance(other, Regions) and self[:] == other[:]

    __hash__ = None  # type: ignore[assignment]

    def centroids(self, otherwise: FloatArray) -> FloatArray:
        """Return the centroid (p, dim) of each row's region; what `otherwise` (p, dim) says of a row that has none."""
        result = otherwise.copy()
        of_boxes: dict[int, tuple[BoxRegions, list[int], list[int]]] = {}
        for row, held in enumerate(self._held):
            if isinstance(held, tuple):
                regions, k = held
                _, rows, places = of_boxes.setdefault(id(regions), (regions, [], []))
                rows.append(row)
                places.append(k)
            elif held is not None:
                result[row] = held.centroid
        for regions, rows, places in of_boxes.values():
            result[rows] = regions.centroid[places]
        return result

    def held(self, row: int) -> Region | tuple[BoxRegions, int] | None:
        """Return the region of a row, as it is kept here: made, or where it is."""
        return self._held[row]


@dataclass(frozen=True, eq=False)
class Contacts(ReadOnlyArrays):
    """What `contact` tells of each of many pairs. One row a pair; world frame, unit of the coordinates, float64.

    Row k means what the same field of `contact(shapes[i], shapes[j])` with i, j = pairs[k] means, and keeps the same
    promises. Where several normals are equally good it may be another of them. All arrays are read-only.
    """

    pairs: IntArray
    """(p, 2) numbers of shapes A and B of each pair; of two sets, A is of `shapes` and B of `others`."""
    relation: CodeArray
    """(p,) places in `RELATIONS`, the order of `Relation`; `relations` gives them as words."""
    signed_distance: FloatArray
    """(p,) > 0 gap, 0 touching, < 0 minus the penetration depth. Where status is BOUNDS_ONLY, the lower bound."""
    normal: FloatArray
    """(p, dim) unit vectors from A to B. Where status is BOUNDS_ONLY, of an empty slab as wide as the lower bound."""
    point_on_a: FloatArray
    """(p, dim) witness points on A; NaN where status is BOUNDS_ONLY."""
    point_on_b: FloatArray
    """(p, dim) witness points on B: `point_on_b - point_on_a = signed_distance * normal`."""
    lower_bound: FloatArray
    """(p,) certified: the true signed distance is not below."""
    upper_bound: FloatArray
    """(p,) certified: the true signed distance is not above."""
    status: CodeArray
    """(p,) places in `STATUSES`, the order of `Status`; `statuses` gives them as words."""
    region: Regions | None
    """One a row; None where the gap is wider than the band of TOUCHING. None when regions were not asked for."""
    clearance: float
    """As given: gaps up to this are WITHIN_CLEARANCE."""
    contact_tolerance: float
    """As given: relative to the smaller shape's extent."""
    method: Method
    """As given."""
    shapes: tuple[ConvexShape, ...] | None
    """As given, for `contact`; None when certificates were not asked for."""
    others: tuple[ConvexShape, ...] | None = None
    """As given, the second set; None when there is none, or certificates were not asked for."""

    def __len__(self) -> int:
        """Return how many pairs there are."""
        return len(self.pairs)

    @property
    def relations(self) -> list[Relation]:
        """The relation of each row."""
        return [RELATIONS[k] for k in self.relation.tolist()]

    @property
    def statuses(self) -> list[Status]:
        """The status of each row."""
        return [STATUSES[k] for k in self.status.tolist()]

    @property
    def intersects(self) -> BoolArray:
        """(p,) the bare truth, no tolerance: `signed_distance <= 0`."""
        return self.signed_distance <= 0.0

    @property
    def depth(self) -> FloatArray:
        """(p,) penetration depths, 0.0 when apart."""
        return np.maximum(-self.signed_distance, 0.0)

    @property
    def mtv(self) -> FloatArray:
        """(p, dim) minimum translation vectors: moving B by it separates the pair; zero when apart."""
        return self.depth[:, None] * self.normal

    @cached_property
    def center(self) -> FloatArray:
        """(p, dim) contact centres, world frame: of the region, else the middle of the witness points. NaN where it was
        not asked for: where status is BOUNDS_ONLY, and without regions where a pair is not apart."""
        result = middle(self.point_on_a, self.point_on_b)
        if self.region is not None:
            return read_only(self.region.centroids(result))
        result[~np.isin(self.relation, _APART)] = np.nan
        return read_only(result)

    def contact(self, row: int) -> Contact:
        """Return the contact of one row with everything `contact` tells, its certificate too; computed when asked.

        Raises ValueError when certificates were not asked for, IndexError when there is no such row.
        """
        if self.shapes is None:
            raise ValueError("row: certificates were not asked for, and the shapes not kept: use certificates=True")
        i, j = self.pairs[row].tolist()
        return convex_contact(
            self.shapes[i],
            (self.shapes if self.others is None else self.others)[j],
            method=self.method,
            clearance=self.clearance,
            contact_tolerance=self.contact_tolerance,
        )


def contacts(
    shapes: Sequence[ConvexShape],
    pairs: ArrayLike | None = None,
    *,
    others: Sequence[ConvexShape] | None = None,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    method: Method = "auto",
    distances: bool = True,
    regions: bool = True,
    certificates: bool = True,
    start: Contacts | None = None,
    progress: Progress | None = None,
) -> Contacts:
    """Return what `contact` tells of many pairs of shapes, which must all have one dimension.

    Args:
        shapes: polytopes and curved shapes, mixed.
        pairs: (p, 2) numbers of shapes, in any order. None: all pairs whose bounding boxes are within the clearance or
            the band of TOUCHING, in ascending order; pairs left out are SEPARATED.
        others: a second set: A of a pair is then of `shapes` and B of `others`. Without it both are of `shapes`.
        clearance, contact_tolerance, method: see `contact`. Methods other than "auto" answer pair by pair.
        distances: False: pairs shown to be SEPARATED get bounds only, which is much faster; see `Status.BOUNDS_ONLY`.
        regions: False: without contact regions, which is faster.
        certificates: keep the shapes, so that `Contacts.contact` can make the certificate of a row when it is asked.
        start: the last answer, with its shapes (see certificates). Pairs of shapes that are the same objects are
            taken over; of others with the same numbers the normals are tried first.
        progress: called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when a shape is none or has another dimension, a pair has no such shape, or
    an option is not valid; Cancelled when `progress` says so.
    """
    first = checked_many("shapes", shapes)
    second = None if others is None else checked_many("others", others, first)
    known = first if second is None else first + second
    if not (isinstance(method, str) and method in _METHODS):
        raise ValueError(f'method must be "auto", "sat", "gjk" or "both", not {method!r}')
    clearance = as_length("clearance", clearance)
    contact_tolerance = as_length("contact_tolerance", contact_tolerance)
    if start is not None and not isinstance(start, Contacts):
        raise ValueError(f"start must be what contacts(shapes) returned, not {type(start).__name__}")
    report_progress(progress, 0.0)
    looking = _LOOKING if pairs is None else 0.0
    # Both sets stand behind each other; of B the numbers are of the whole until the end.
    offset = 0 if second is None else len(first)
    if pairs is None:
        numbers = _candidates(
            known, None if second is None else offset, clearance, contact_tolerance, subrange(progress, 0.0, looking)
        )
    else:
        numbers = checked_pairs(pairs, len(first), len(known) - offset)
    numbers[:, 1] += offset
    rows = Rows(known, numbers, method, clearance, contact_tolerance, distances, regions)
    left = np.arange(len(numbers))
    if start is not None and start.shapes is not None:
        left = _taken_over(rows, start, start.shapes, len(first), second is not None)
    _answer(rows, left, subrange(progress, looking, 1.0))
    report_progress(progress, 1.0)
    numbers = numbers.copy()
    numbers[:, 1] -= offset
    return Contacts(
        pairs=read_only(numbers),
        relation=_read_only(rows.relation),
        signed_distance=read_only(rows.signed_distance),
        normal=read_only(rows.normal),
        point_on_a=read_only(rows.point_on_a),
        point_on_b=read_only(rows.point_on_b),
        lower_bound=read_only(rows.lower_bound),
        upper_bound=read_only(rows.upper_bound),
        status=_read_only(rows.status),
        region=Regions(rows.region) if regions else None,
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        method=method,
        shapes=first if certificates else None,
        others=second if certificates else None,
    )


class Rows:
    """The answers while they are made."""

    def __init__(
        self,
        shapes: tuple[ConvexShape, ...],
        pairs: IntArray,
        method: Method,
        clearance: float,
        contact_tolerance: float,
        distances: bool,
        regions: bool,
    ) -> None:
        self.shapes, self.pairs, self.method = shapes, pairs, method
        self.clearance, self.contact_tolerance = clearance, contact_tolerance
        self.distances, self.regions = distances, regions
        count, dim = len(pairs), shapes[0].dim if shapes else 3
        self.dim = dim
        self.relation = np.zeros(count, dtype=np.int8)
        self.status = np.zeros(count, dtype=np.int8)
        self.signed_distance, self.lower_bound, self.upper_bound = np.zeros((3, count))
        self.normal, self.point_on_a, self.point_on_b = np.zeros((3, count, dim))
        self.region: list[Region | tuple[BoxRegions, int] | None] = [None] * count if regions else []
        self.axes = np.zeros((count, dim))
        """Normals that may still separate; zero where none is known."""

    @cached_property
    def sizes(self) -> _Sizes:
        """What tolerances are relative to; there must be a shape."""
        return _Sizes(self.shapes)

    def bounds_only(self, rows: IntArray, lower_bound: FloatArray, normal: FloatArray) -> None:
        """Fill in pairs that are SEPARATED by an empty slab; no more was asked for."""
        self.relation[rows] = _RELATION_CODES[Relation.SEPARATED]
        self.status[rows] = _STATUS_CODES[Status.BOUNDS_ONLY]
        self.signed_distance[rows] = self.lower_bound[rows] = lower_bound
        self.normal[rows] = normal + 0.0  # + 0.0 turns -0.0 into 0.0
        self.point_on_a[rows] = self.point_on_b[rows] = np.nan
        # No point of the one is farther from the other than the far corner of what encloses both boxes.
        sizes, (i, j) = self.sizes, self.pairs[rows].T
        reach = np.maximum(sizes.high[:, i], sizes.high[:, j]) - np.minimum(sizes.low[:, i], sizes.low[:, j])
        length = np.sqrt((reach * reach).sum(axis=0))
        self.upper_bound[rows] = length + SUPPORT_ROUNDING * EPS * length

    def certified(self, rows: IntArray, signed_distance: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        """Fill in distances whose bounds meet."""
        self.status[rows] = _STATUS_CODES[Status.CERTIFIED]
        self.signed_distance[rows], self.lower_bound[rows], self.upper_bound[rows] = signed_distance, lower, upper

    def add_box_regions(
        self,
        rows: IntArray,
        boxes: OrientedBoxes,
        i: IntArray,
        j: IntArray,
        bands: FloatArray,
        tolerances: FloatArray,
    ) -> None:
        """Fill in the regions of pairs of boxes i and j that are answered but for them."""
        normal, on_a, on_b = self.normal[rows], self.point_on_a[rows], self.point_on_b[rows]
        extents, magnitudes = self.sizes.extents[self.pairs[rows].T], self.sizes.magnitudes[self.pairs[rows].T]
        told = box_regions(boxes, i, j, normal.T, bands, extents, magnitudes.max(axis=0), on_a.T, on_b.T)
        found = np.flatnonzero(told.found)
        for k, n in zip(rows[found].tolist(), found.tolist(), strict=True):
            self.region[k] = (told, n)
        if len(found):
            # Where both features are flat the middle of the region is what a person would show.
            distance = self.signed_distance[rows[found]]
            off = np.abs(told.depths + np.repeat(distance, np.diff(told.first)[found]))
            flat = np.maximum.reduceat(off, told.first[found]) <= BATCH_MISS * tolerances[found]
            flat &= np.diff(told.first)[found] > 1
            at, half = rows[found[flat]], 0.5 * distance[flat, None] * normal[found[flat]]
            self.point_on_a[at] = told.centroid[found[flat]] - half
            self.point_on_b[at] = told.centroid[found[flat]] + half
        left = np.flatnonzero(~told.found)
        self.add_regions(rows[left], bands[left], tolerances[left])

    def add_regions(
        self, rows: IntArray, bands: FloatArray, tolerances: FloatArray, progress: Progress | None = None
    ) -> None:
        """Fill in the regions of pairs of polytopes that are answered but for them."""
        each = zip(rows.tolist(), bands.tolist(), tolerances.tolist(), strict=True)
        for done, (k, band, tolerance) in enumerate(each):
            if done % _TELL == 0:
                report_progress(progress, done, len(rows))
            i, j = self.pairs[k].tolist()
            a, b = self.shapes[i], self.shapes[j]
            assert isinstance(a, Polytope)
            assert isinstance(b, Polytope)
            normal = self.normal[k].copy()
            region = region_between(a, b, normal, band, self.point_on_a[k].tolist(), self.point_on_b[k].tolist())
            self.region[k] = region
            distance = float(self.signed_distance[k])
            if len(region.vertices) > 1 and float(np.abs(region.depths + distance).max()) <= BATCH_MISS * tolerance:
                # Both features are flat there: the middle of the region is what a person would show.
                self.point_on_a[k] = region.centroid - 0.5 * distance * normal
                self.point_on_b[k] = region.centroid + 0.5 * distance * normal

    def one_by_one(self, rows: IntArray, progress: Progress | None) -> None:
        """Answer these rows by the single call."""
        shapes, count = self.shapes, max(1, len(rows))
        for done, (k, (i, j)) in enumerate(zip(rows.tolist(), self.pairs[rows].tolist(), strict=True)):
            report_progress(progress, done, count)
            found = convex_contact(
                shapes[i],
                shapes[j],
                method=self.method,
                clearance=self.clearance,
                contact_tolerance=self.contact_tolerance,
            )
            self.relation[k] = _RELATION_CODES[found.relation]
            self.status[k] = _STATUS_CODES[found.status]
            self.signed_distance[k] = found.signed_distance
            self.lower_bound[k] = found.lower_bound
            self.upper_bound[k] = found.upper_bound
            self.normal[k] = found.normal
            self.point_on_a[k] = found.point_on_a
            self.point_on_b[k] = found.point_on_b
            if self.regions:
                self.region[k] = found.region


_RELATION_CODES = {relation: k for k, relation in enumerate(RELATIONS)}
_STATUS_CODES = {status: k for k, status in enumerate(STATUSES)}
_APART = [_RELATION_CODES[relation] for relation in (Relation.SEPARATED, Relation.WITHIN_CLEARANCE)]


def _taken_over(rows: Rows, start: Contacts, shapes: tuple[ConvexShape, ...], first: int, two: bool) -> IntArray:
    """Fill in the rows of which nothing has changed, and the axes of those that are told of before; return the rows
    that are left.

    `shapes` are the ones that the start was made of, `first` the number of the first set's now.
    """
    count = len(rows.pairs)
    if not count or not len(start) or two != (start.others is not None) or start.normal.shape[1] != rows.dim:
        return np.arange(count)
    others = shapes if start.others is None else start.others
    width = len(others)
    codes = start.pairs[:, 0] * width + start.pairs[:, 1]
    order = np.argsort(codes, kind="stable")

    def find(i: IntArray, j: IntArray) -> tuple[IntArray, BoolArray]:
        wanted = i * width + j
        place = np.minimum(np.searchsorted(codes, wanted, sorter=order), len(codes) - 1)
        row = order[place]
        return row, (codes[row] == wanted) & (i >= 0) & (j >= 0)

    # Of the same numbers: where to look first.
    i, j = rows.pairs.T.copy()
    if two:
        j -= first
    row, known = find(np.where(i < len(shapes), i, -1), np.where(j < width, j, -1))
    at = np.flatnonzero(known)
    rows.axes[at] = start.normal[row[at]]
    if (start.clearance, start.contact_tolerance, start.method) != (
        rows.clearance,
        rows.contact_tolerance,
        rows.method,
    ):
        return np.arange(count)
    # The same objects, whatever their numbers: they are frozen, and the start still holds them.
    was = {id(shape): k for k, shape in enumerate(shapes)}
    before = [was.get(id(shape), -1) for shape in rows.shapes[: first if two else None]]
    if two:
        was = {id(shape): k for k, shape in enumerate(others)}
        before += [was.get(id(shape), -1) for shape in rows.shapes[first:]]
    i, j = np.array(before, dtype=np.intp)[rows.pairs].T
    row, known = find(i, j)
    if rows.distances:
        known &= start.status[row] != _STATUS_CODES[Status.BOUNDS_ONLY]
    if rows.regions and start.region is None:
        known[:] = False
    at, row = np.flatnonzero(known), row[known]
    for name in ("relation", "status", "signed_distance", "lower_bound", "upper_bound"):
        getattr(rows, name)[at] = getattr(start, name)[row]
    for name in ("normal", "point_on_a", "point_on_b"):
        getattr(rows, name)[at] = getattr(start, name)[row]
    if rows.regions and start.region is not None:
        for k, n in zip(at.tolist(), row.tolist(), strict=True):
            rows.region[k] = start.region.held(n)
    return np.flatnonzero(~known)


def _answer(rows: Rows, left: IntArray, progress: Progress | None) -> None:
    """Answer the rows that are left, each by the way that fits."""
    total, done = max(1, len(left)), 0.0
    if rows.method == "auto" and len(left) >= _FEW_BOXES and rows.dim == 3:
        left = _answer_boxes(rows, left, progress)
        done = 1.0 - len(left) / total
        left = _answer_polytopes(rows, left, subrange(progress, done, 1.0))
        done = 1.0 - len(left) / total
    rows.one_by_one(left, subrange(progress, done, 1.0))


def _answer_boxes(rows: Rows, left: IntArray, progress: Progress | None) -> IntArray:
    """Answer pairs of boxes; return the rows that are left."""
    fit = np.array([type(s) is Box and s.orthogonal and s.rank == 3 for s in rows.shapes])
    fit &= rows.sizes.ordinary
    both = fit[rows.pairs[left]].all(axis=1)
    mine = left[both]
    if len(mine) < _FEW_BOXES:
        return left
    numbers = np.flatnonzero(fit)
    place = np.cumsum(fit) - 1
    boxes = OrientedBoxes.of([rows.shapes[k] for k in numbers.tolist()])  # type: ignore[misc]
    low, high = rows.sizes.low[:, numbers], rows.sizes.high[:, numbers]
    remaining = [left[~both]]
    for start in range(0, len(mine), _CHUNK):
        report_progress(progress, start, len(left))
        chunk = mine[start : start + _CHUNK]
        i, j = place[rows.pairs[chunk]].T
        remaining.append(_boxes_chunk(rows, chunk, boxes, i, j, low, high))
    return np.sort(np.concatenate(remaining))


def _answer_polytopes(rows: Rows, left: IntArray, progress: Progress | None) -> IntArray:
    """Answer pairs of polytopes of ordinary size that are many enough; return the rows that are left."""
    fit = np.array([isinstance(s, Polytope) for s in rows.shapes])
    fit &= rows.sizes.ordinary
    mine = left[fit[rows.pairs[left]].all(axis=1)]
    if len(mine) < _FEW_DISTANCES:
        return left
    progress = subrange(progress, 0.0, len(mine) / len(left))
    table, place = _table_of(rows.shapes, fit, rows.pairs[mine], subrange(progress, 0.0, 0.1))
    pairs = place[rows.pairs[mine]]
    if not rows.distances and len(mine) >= _FEW_HULLS:
        apart = _apart_hulls(rows, mine, table, pairs, subrange(progress, 0.1, 0.2))
        left = np.setdiff1d(left, mine[apart], assume_unique=True)
        mine, pairs = mine[~apart], pairs[~apart]
        if len(mine) < _FEW_DISTANCES:
            return left
    i, j = np.ascontiguousarray(pairs.T)
    state = intersect_hulls(table, i, j, subrange(progress, 0.2, 0.3))
    distant, meet = np.flatnonzero(state == APART), np.flatnonzero(state == MEET)
    between = 0.3 + 0.7 * len(distant) / len(mine)
    answered = []
    if len(distant) >= _FEW_DISTANCES:
        part = subrange(progress, 0.3, between)
        answered.append(_distant_hulls(rows, mine[distant], table, i[distant], j[distant], part))
    if len(meet) >= _FEW_DISTANCES:
        part = subrange(progress, between, 1.0)
        answered.append(_deep_hulls(rows, mine[meet], table, i[meet], j[meet], part))
    return np.setdiff1d(left, np.concatenate(answered), assume_unique=True) if answered else left


def _apart_hulls(rows: Rows, mine: IntArray, table: HullTable, pairs: IntArray, progress: Progress | None) -> BoolArray:
    """Give bounds to pairs of polytopes that are SEPARATED for sure; return (n,) which these are.

    `pairs` (n, 2) are those of rows `mine` in the table.
    """
    band, _, _ = rows.sizes.bands(rows.pairs[mine], rows.contact_tolerance)
    limit = np.maximum(band, rows.clearance)
    gap, normal = np.zeros(len(mine)), rows.axes[mine].T.copy()
    some = np.flatnonzero(normal.any(axis=0))
    gap[some] = slab_widths(table, pairs[some, 0], pairs[some, 1], normal[:, some])
    some = np.flatnonzero(~(gap > limit))
    found = widest_slabs(table, pairs[some, 0], pairs[some, 1], subrange(progress, 0.0, 0.2))
    gap[some], normal[:, some] = found.gap, found.normal
    # Portals tell a slab of any width, which is enough where no more than that is asked.
    some = some[found.state == OPEN]
    deeper = search_portals(table, pairs[some, 0], pairs[some, 1], subrange(progress, 0.2, 1.0))
    gap[some], normal[:, some] = deeper.gap, deeper.normal
    apart = gap > limit
    rows.bounds_only(mine[apart], gap[apart], normal[:, apart].T)
    return apart


def _distant_hulls(
    rows: Rows, mine: IntArray, table: HullTable, i: IntArray, j: IntArray, progress: Progress | None
) -> IntArray:
    """Answer pairs of polytopes that are apart; return the rows that are answered."""
    band, extent, magnitude = rows.sizes.bands(rows.pairs[mine], rows.contact_tolerance)
    found = hull_distances(table, i, j, rows.axes[mine].T, band, progress)
    tolerance = promised_many(found.distance, extent, magnitude)
    # Where a face is opposite a face the witness points belong to its middle, which the single call finds.
    good = found.found & ~found.ambiguous & (found.distance > band)
    lower, upper = found.distance - found.rounding, found.upper + found.rounding
    good &= upper - lower <= tolerance
    good &= _realised(found.distance, found.normal, found.on_a, found.on_b, tolerance)
    at = mine[good]
    rows.relation[at] = np.where(
        found.distance[good] <= rows.clearance,
        _RELATION_CODES[Relation.WITHIN_CLEARANCE],
        _RELATION_CODES[Relation.SEPARATED],
    )
    rows.certified(at, found.distance[good], lower[good], upper[good])
    rows.normal[at] = found.normal[:, good].T + 0.0  # + 0.0 turns -0.0 into 0.0
    rows.point_on_a[at], rows.point_on_b[at] = found.on_a[:, good].T, found.on_b[:, good].T
    return at


def _deep_hulls(
    rows: Rows, mine: IntArray, table: HullTable, i: IntArray, j: IntArray, progress: Progress | None
) -> IntArray:
    """Answer pairs of polytopes that penetrate; return the rows that are answered."""
    band, extent, magnitude = rows.sizes.bands(rows.pairs[mine], rows.contact_tolerance)
    middle = 0.5 if rows.regions else 1.0
    found = hull_depths(table, i, j, subrange(progress, 0.0, middle))
    tolerance = promised_many(found.depth, extent, magnitude)
    # Which shapes coincide is asked of those that touch only, and of those with one box in the other.
    good = found.found & (found.depth > band) & (found.inner > found.rounding)
    lower, upper = -found.depth - found.rounding, found.rounding - found.inner
    good &= upper - lower <= tolerance
    good &= _realised(-found.depth, found.normal, found.on_a, found.on_b, tolerance)
    at = mine[good]
    rows.certified(at, -found.depth[good], lower[good], upper[good])
    rows.normal[at] = found.normal[:, good].T + 0.0  # + 0.0 turns -0.0 into 0.0
    rows.point_on_a[at], rows.point_on_b[at] = found.on_a[:, good].T, found.on_b[:, good].T
    rows.relation[at] = _RELATION_CODES[Relation.PENETRATING]
    a, b = rows.pairs[at].T
    low, high, slack = rows.sizes.low, rows.sizes.high, band[good]
    inside = ((low[:, a] >= low[:, b] - slack) & (high[:, a] <= high[:, b] + slack)).all(axis=0)
    inside |= ((low[:, b] >= low[:, a] - slack) & (high[:, b] <= high[:, a] + slack)).all(axis=0)
    for k in np.flatnonzero(inside).tolist():
        one, other = rows.shapes[a[k]], rows.shapes[b[k]]
        assert isinstance(one, Polytope)
        assert isinstance(other, Polytope)
        relation = relation_of(one, other, float(rows.signed_distance[at[k]]), float(slack[k]), rows.clearance)
        rows.relation[at[k]] = _RELATION_CODES[relation]
    if rows.regions:
        rows.add_regions(at, slack, tolerance[good], subrange(progress, middle, 1.0))
    return at


def _realised(
    signed_distance: FloatArray, normal: FloatArray, on_a: FloatArray, on_b: FloatArray, tolerance: FloatArray
) -> BoolArray:
    """Tell which witness points (3, n) realise the signed distances (n,)."""
    miss = on_b - on_a - signed_distance * normal
    return np.einsum("cn,cn->n", miss, miss) <= (BATCH_MISS * tolerance) ** 2


def _table_of(
    shapes: tuple[ConvexShape, ...], fit: BoolArray, pairs: IntArray, progress: Progress | None
) -> tuple[HullTable, IntArray]:
    """Return a table of the shapes that fit and are in a pair, and the place (n,) of each shape in it."""
    used = np.zeros(len(shapes), dtype=bool)
    used[pairs] = True
    used &= fit
    held: list[Polytope] = [shapes[k] for k in np.flatnonzero(used).tolist()]  # type: ignore[misc]
    return HullTable.of(held, progress), np.cumsum(used) - 1


def pairs_intersect(shapes: Sequence[ConvexShape], pairs: ArrayLike, *, progress: Progress | None = None) -> BoolArray:
    """Return (p,) whether the shapes of each pair intersect, touching included, and nothing else.

    >>> boxes = [Box((x, 0, 0), (2, 2, 2)) for x in (0, 1.5, 7)]
    >>> print(pairs_intersect(boxes, [(0, 1), (0, 2)]).tolist())
    [True, False]

    The same as `contacts(shapes, pairs).intersects`, much faster. `pairs` is (p, 2), numbers of shapes, which must all
    have one dimension. Raises ValueError, naming the argument, when a shape is none or has another dimension, or a pair
    has no such shape; Cancelled when `progress` says so. Source: S0.4, S4.4.
    """
    known = checked_many("shapes", shapes)
    numbers = checked_pairs(pairs, len(known), len(known))
    report_progress(progress, 0.0)
    result = np.zeros(len(numbers), dtype=bool)
    left, total, progress = np.arange(len(numbers)), max(1, len(numbers)), subrange(progress, 0.0, 1.0)
    if known and known[0].dim == 3:
        sizes = _Sizes(known)
        left = _boxes_meet(known, sizes, numbers, left, result, progress)
        done = 1.0 - len(left) / total
        left = _hulls_meet(known, sizes, numbers, left, result, subrange(progress, done, 1.0))
    part = subrange(progress, 1.0 - len(left) / total, 1.0)
    for count, (k, (i, j)) in enumerate(zip(left.tolist(), numbers[left].tolist(), strict=True)):
        report_progress(part, count, len(left))
        a, b = known[i], known[j]
        if isinstance(a, Polytope) and isinstance(b, Polytope):
            result[k] = gjk_intersects(a, b)
        else:
            result[k] = convex_contact(a, b).intersects
    report_progress(progress, 1.0)
    return result


def _boxes_meet(
    shapes: tuple[ConvexShape, ...],
    sizes: _Sizes,
    pairs: IntArray,
    left: IntArray,
    result: BoolArray,
    progress: Progress | None,
) -> IntArray:
    """Fill in whether boxes intersect; return the rows that are left."""
    fit = np.array([type(s) is Box and s.orthogonal and s.rank == 3 for s in shapes])
    fit &= sizes.ordinary
    both = fit[pairs[left]].all(axis=1)
    mine = left[both]
    if len(mine) < _FEW_BOXES:
        return left
    boxes = OrientedBoxes.of([shapes[k] for k in np.flatnonzero(fit).tolist()])  # type: ignore[misc]
    i, j = (np.cumsum(fit) - 1)[pairs[mine].T]
    result[mine], doubtful = boxes_intersect(boxes, i, j, subrange(progress, 0.0, len(mine) / len(left)))
    return np.sort(np.concatenate([left[~both], mine[doubtful]]))


def _hulls_meet(
    shapes: tuple[ConvexShape, ...],
    sizes: _Sizes,
    pairs: IntArray,
    left: IntArray,
    result: BoolArray,
    progress: Progress | None,
) -> IntArray:
    """Fill in whether polytopes intersect; return the rows that are left."""
    fit = np.array([isinstance(s, Polytope) for s in shapes])
    fit &= sizes.ordinary
    mine = left[fit[pairs[left]].all(axis=1)]
    if len(mine) < _FEW_HULLS:
        return left
    progress = subrange(progress, 0.0, len(mine) / len(left))
    table, place = _table_of(shapes, fit, pairs[mine], subrange(progress, 0.0, 0.5))
    i, j = place[pairs[mine].T]
    state = intersect_hulls(table, i, j, subrange(progress, 0.5, 1.0))
    result[mine] = state == MEET
    return np.setdiff1d(left, mine[state != OPEN], assume_unique=True)


def _boxes_chunk(
    rows: Rows,
    chunk: IntArray,
    boxes: OrientedBoxes,
    i: IntArray,
    j: IntArray,
    low: FloatArray,
    high: FloatArray,
) -> IntArray:
    """Answer some pairs of boxes; return the rows that are left."""
    found = box_axes(boxes, i, j)
    sd = found.signed_distance
    band, extent, magnitude = rows.sizes.bands(rows.pairs[chunk], rows.contact_tolerance)
    left = np.ones(len(chunk), dtype=bool)
    if not rows.distances:
        apart = sd - found.rounding > np.maximum(band, rows.clearance)
        rows.bounds_only(chunk[apart], (sd - found.rounding)[apart], found.normal[:, apart].T)
        left &= ~apart
    tolerance = promised_many(sd, extent, magnitude)
    lower = sd - found.rounding
    # Each axis counts with BOX_PREFER_FACE of room, and those of edges that are nearly parallel not at all.
    upper = sd * (1.0 - 2.0 * BOX_PREFER_FACE) + found.rounding + BOX_PARALLEL * extent
    meet = np.flatnonzero((sd <= 0.0) & (upper - lower <= tolerance))
    if len(meet):
        points = box_witnesses(boxes, i[meet], j[meet], found.take(meet), tolerance[meet])
        good = np.flatnonzero(points.good)
        meet = meet[good]
        at = chunk[meet]
        left[meet] = False
        a_in_b, b_in_a = boxes_inside(boxes, i[meet], j[meet], low, high, band[meet])
        rows.relation[at] = _relation_codes(sd[meet], band[meet], rows.clearance, a_in_b, b_in_a)
        rows.certified(at, sd[meet], lower[meet], upper[meet])
        rows.normal[at] = found.normal[:, meet].T + 0.0  # + 0.0 turns -0.0 into 0.0
        rows.point_on_a[at], rows.point_on_b[at] = points.on_a[:, good].T, points.on_b[:, good].T
        if rows.regions:
            rows.add_box_regions(at, boxes, i[meet], j[meet], band[meet], tolerance[meet])
    return chunk[left]


def _relation_codes(
    signed_distance: FloatArray, band: FloatArray, clearance: float, a_in_b: BoolArray, b_in_a: BoolArray
) -> CodeArray:
    """Return what `relation_of` says of solids, as codes."""
    codes = _RELATION_CODES
    conditions = [
        (signed_distance > band) & (signed_distance <= clearance),
        signed_distance > band,
        a_in_b & b_in_a,
        signed_distance >= -band,
        a_in_b,
        b_in_a,
    ]
    words = (
        Relation.WITHIN_CLEARANCE,
        Relation.SEPARATED,
        Relation.COINCIDENT,
        Relation.TOUCHING,
        Relation.A_INSIDE_B,
        Relation.B_INSIDE_A,
    )
    return np.select(conditions, [codes[w] for w in words], codes[Relation.PENETRATING]).astype(np.int8)


class _Sizes:
    """What tolerances are relative to, of each shape."""

    def __init__(self, shapes: tuple[ConvexShape, ...]) -> None:
        corners = np.array([shape._bounds_tuples for shape in shapes])  # (n, 2, dim)
        self.low, self.high = np.ascontiguousarray(corners[:, 0].T), np.ascontiguousarray(corners[:, 1].T)
        sides = self.high - self.low
        largest = sides.max(axis=0)
        scaled = sides / np.where(largest > 0.0, largest, 1.0)  # squares neither overflow nor vanish
        self.extents = largest * np.sqrt((scaled * scaled).sum(axis=0))
        self.magnitudes = np.maximum(np.abs(self.low), np.abs(self.high)).max(axis=0)
        most = 2.0 ** (EXTREME_EXPONENT - 2)
        self.ordinary = (largest > 1.0 / most) & (self.magnitudes < most)

    def bands(self, pairs: IntArray, contact_tolerance: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return of each pair `contact_band`, the smaller extent and the larger magnitude (n,)."""
        extents, magnitude = self.extents[pairs], self.magnitudes[pairs].max(axis=1)
        small, large = extents.min(axis=1), extents.max(axis=1)
        band = contact_tolerance * np.where(small > 0.0, small, large)
        return np.maximum(band, promised_many(np.zeros(1), small, magnitude)), small, magnitude


def promised_many(signed_distance: FloatArray, extent: FloatArray, magnitude: FloatArray) -> FloatArray:
    """Return what `promised` says of each of many pairs (n,)."""
    return PROMISE_RELATIVE * np.abs(signed_distance) + PROMISE_EXTENT * extent + PROMISE_ROUNDING * EPS * magnitude


def _read_only(codes: CodeArray) -> CodeArray:
    codes.flags.writeable = False
    return codes


def checked_many(
    name: str, shapes: Sequence[ConvexShape], alike: tuple[ConvexShape, ...] = ()
) -> tuple[ConvexShape, ...]:
    """Return shapes of one dimension, that of `alike` if there is one. Raises ValueError, naming `name`."""
    try:
        known = tuple(shapes)
    except TypeError as error:
        raise ValueError(f"{name}: a sequence of shapes expected, not {type(shapes).__name__}") from error
    dim = None
    for k, shape in enumerate((*alike[:1], *known), -len(alike[:1])):
        # Asking for `Polytope` first: to ask an abstract class takes ten times as long.
        if not isinstance(shape, Polytope) and not isinstance(shape, CurvedShape):
            raise ValueError(
                f"{name}: number {k} must be a shape such as ConvexHull, Box or Sphere, not {type(shape).__name__}"
            )
        dim = shape.dim if dim is None else dim
        if shape.dim != dim:
            raise ValueError(f"{name}: number {k} has dimension {shape.dim}, but the first has {dim}")
    return known


def checked_pairs(pairs: ArrayLike, count: int, others: int) -> IntArray:
    """Return a copy of pairs (p, 2) of whole numbers from 0 to count - 1 and others - 1. Raises ValueError, naming
    `pairs`."""
    try:
        array = np.asarray(pairs)
    except (TypeError, ValueError) as error:
        raise ValueError("pairs: an array (p, 2) expected; rows of different length are no array") from error
    if array.size == 0 and array.ndim <= 2:
        return np.zeros((0, 2), dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise ValueError(f"pairs: whole numbers expected, not dtype {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"pairs: an array (p, 2) expected, got the shape {array.shape}")
    wrong = (array < 0) | (array >= np.array([count, others]))
    if wrong.any():
        row = int(wrong.any(axis=1).argmax())
        there = f"{count} shapes" if count == others else f"{count} shapes and {others} others"
        raise ValueError(f"pairs: row {row} is {array[row].tolist()}, but there are {there}")
    return np.array(array, dtype=np.intp)


def _candidates(
    shapes: tuple[ConvexShape, ...],
    offset: int | None,
    clearance: float,
    contact_tolerance: float,
    progress: Progress | None,
) -> IntArray:
    """Return the pairs whose bounding boxes are within the clearance or the band of TOUCHING of each other; of the
    shapes before `offset` and those from there on, these counted from 0, if it is not None."""
    if not shapes or offset in (0, len(shapes)):
        return np.zeros((0, 2), dtype=np.intp)
    corners = np.array([shape._bounds_tuples for shape in shapes])
    low, high = corners[:, 0], corners[:, 1]
    # Each box is made wider by what is the whole band if its shape is the smaller one, or the other is a point.
    extents = np.array([shape.extent for shape in shapes])
    largest = float(np.abs(corners).max())
    wider = (contact_tolerance + PROMISE_EXTENT) * extents + PROMISE_ROUNDING * EPS * largest
    low = np.maximum(low - wider[:, None], -LARGEST_COORDINATE)
    high = np.minimum(high + wider[:, None], LARGEST_COORDINATE)
    if offset is None:
        return candidate_pairs(low, high, margin=clearance, progress=progress).pairs.copy()
    found = candidate_pairs(
        low[:offset], high[:offset], low[offset:], high[offset:], margin=clearance, progress=progress
    )
    return found.pairs.copy()
