# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door for many pairs: what `contact` returns of one pair, as arrays with one row per pair.

1. Check the arguments; without pairs, take those whose bounding boxes are near (broad phase).
2. Take over the rows of the last result whose shapes are the same objects.
3. Solve boxes and polytopes in batches (`batched`), everything else by `contact`.

Source: S0.4, S1.3, S4.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import as_array, as_length
from .contact import contact
from .late import LateModule
from .narrow_phase.gjk import gjk_intersects
from .progress import Progress, equal_parts, report_progress, subrange, tracked
from .region.region import Region
from .result import Contact, Method, Relation, Status
from .shapes.curved_shape import ConvexShape
from .shapes.polytope import Polytope
from .shapes.shape import Shape
from .tolerance import DEFAULT_CONTACT_TOLERANCE, EPS, LARGEST_COORDINATE, PROMISE_EXTENT, PROMISE_ROUNDING
from .types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only

if TYPE_CHECKING:
    from .batched import convex_pairs
    from .batched.convex_pairs import PairContacts, RegionEntry
    from .broad_phase import candidate_pairs as broad_phase
else:
    broad_phase = LateModule(".broad_phase.candidate_pairs", __package__)
    convex_pairs = LateModule(".batched.convex_pairs", __package__)

_METHODS = get_args(Method)
_BROAD_PHASE = 0.05
"""Fraction of the work that finding the pairs is."""
_ARRAYS = ("signed_distance", "normal", "point_on_a", "point_on_b", "center", "lower_bound", "upper_bound")


class Regions(Sequence["Region | None"]):
    """The region of each row; those of boxes are arrays until they are asked for."""

    def __init__(self, entries: list[RegionEntry]) -> None:
        self.entries = entries

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.entries)

    @overload
    def __getitem__(self, row: int) -> Region | None: ...

    @overload
    def __getitem__(self, row: slice) -> tuple[Region | None, ...]: ...

    def __getitem__(self, row: int | slice) -> Region | tuple[Region | None, ...] | None:
        """Return the region of a row, or those of a slice."""
        if isinstance(row, slice):
            return tuple(self[k] for k in range(*row.indices(len(self))))
        entry = self.entries[row]
        return entry[0].region(entry[1]) if isinstance(entry, tuple) else entry


@dataclass(frozen=True, eq=False)
class Contacts(ReadOnlyArrays):
    """The contacts of many pairs. One row per pair; world frame, unit of the coordinates, float64, read-only.

    Row k has the fields of `contact(shapes[i], shapes[j])` with i, j = pairs[k], with the same promises. Where several
    normals are equally good it may be another of them.
    """

    pairs: IntArray
    """(p, 2) indices of shapes A and B of each pair; of two sets, A is of `shapes` and B of `others`."""
    relation: NDArray[Any]
    """(p,) of `Relation`: compare with one, `found.relation == Relation.PENETRATING`."""
    signed_distance: FloatArray
    """(p,) > 0 gap, 0 touching, < 0 minus the penetration depth. Where status is BOUNDS_ONLY, the lower bound."""
    normal: FloatArray
    """(p, dim) unit vectors from A to B. Where status is BOUNDS_ONLY, of an empty slab as wide as the lower bound."""
    point_on_a: FloatArray
    """(p, dim) witness points on A; NaN where status is BOUNDS_ONLY."""
    point_on_b: FloatArray
    """(p, dim) witness points on B: `point_on_b - point_on_a = signed_distance * normal`."""
    center: FloatArray
    """(p, dim) contact centres: of the regions, else the middle of the witness points. NaN where status is BOUNDS_ONLY,
    and without regions where a pair is not apart."""
    lower_bound: FloatArray
    """(p,) certified: the true signed distance is not below."""
    upper_bound: FloatArray
    """(p,) certified: the true signed distance is not above."""
    status: NDArray[Any]
    """(p,) of `Status`."""
    region: Regions | None
    """One per row; None where the gap is wider than the band of TOUCHING, and for compounds and meshes, whose `regions`
    `contact(row)` has. None when regions were not asked for."""
    clearance: float
    """As given: gaps up to this are WITHIN_CLEARANCE."""
    contact_tolerance: float | FloatArray
    """As given, one for all or (p,): relative to the smaller shape's extent."""
    method: Method
    """As given."""
    budget: float | None
    """As given: seconds per pair of compounds and meshes."""
    shapes: tuple[Shape, ...] | None
    """As given, for `contact`; None when certificates were not asked for."""
    others: tuple[Shape, ...] | None = None
    """As given, the second set; None when there is none, or certificates were not asked for."""
    _solved: dict[int, Contact] = field(default_factory=dict, repr=False)
    """Contacts of compounds and meshes, which take long."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.pairs)

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

    def contact(self, row: int) -> Contact:
        """Return the contact of one row with all its fields, its certificate too; computed when asked.

        Raise ValueError when certificates were not asked for, IndexError when there is no such row.
        """
        if self.shapes is None:
            raise ValueError("row: certificates were not asked for, and the shapes not kept: use certificates=True")
        i, j = self.pairs[index(row)].tolist()
        row %= len(self.pairs)
        if row not in self._solved:
            return contact(
                self.shapes[i],
                (self.shapes if self.others is None else self.others)[j],
                method=self.method,
                clearance=self.clearance,
                contact_tolerance=tolerance_of(self.contact_tolerance, row),
                budget=self.budget,
            )
        return self._solved[row]


def contacts(
    shapes: Sequence[Shape],
    pairs: ArrayLike | None = None,
    *,
    others: Sequence[Shape] | None = None,
    clearance: float = 0.0,
    contact_tolerance: float | ArrayLike = DEFAULT_CONTACT_TOLERANCE,
    method: Method = "auto",
    budget: float | None = None,
    distances: bool = True,
    regions: bool = True,
    certificates: bool = True,
    start: Contacts | None = None,
    progress: Progress | None = None,
) -> Contacts:
    """Return the contacts of many pairs of shapes, as `contact` returns that of one.

    Args:
        shapes: convex shapes, compounds and meshes, mixed, of one dimension.
        pairs: (p, 2) indices of shapes, in any order. None: all pairs whose bounding boxes are within the clearance or
            the band of TOUCHING, in ascending order; pairs left out are SEPARATED.
        others: a second set: A of a pair is then of `shapes` and B of `others`. Without it both are of `shapes`.
        clearance, contact_tolerance, method: see `contact`. With pairs, the tolerance may be an array (p,), one of each
            pair. Methods other than "auto" solve pair by pair.
        budget: seconds for each pair of compounds or meshes; 0 for the first answers: see `contact`.
        distances: False: pairs of convex shapes shown to be SEPARATED may get bounds only, which is much faster; see
            `Status.BOUNDS_ONLY`.
        regions: False: without contact regions, which is faster.
        certificates: keep the shapes, so that `Contacts.contact` can make the certificate of a row when it is asked.
        start: the last result, with its shapes (see certificates). Pairs of shapes that are the same objects are taken
            over; of others with the same indices the normals are tried first.
        progress: called with the fraction done, 0 to 1; False cancels.

    Raise ValueError, naming the argument, when one is not a shape or has another dimension, a pair has no such shape,
    or an option is not valid; Cancelled when `progress` returns False.

    >>> row = [Box([x, 0, 0], [1, 1, 1]) for x in (0, 0.75, 3)]
    >>> found = contacts(row)
    >>> print(found.pairs, found.depth, found.relation[0])
    [[0 1]] [0.25] penetrating
    """
    first = validate_shapes("shapes", shapes)
    second = None if others is None else validate_shapes("others", others, first)
    if not (isinstance(method, str) and method in _METHODS):
        raise ValueError(f'method must be "auto", "sat", "gjk" or "both", not {method!r}')
    clearance = as_length("clearance", clearance)
    if budget is not None:
        budget = as_length("budget", budget)
    if start is not None and not isinstance(start, Contacts):
        raise ValueError(f"start must be what contacts(shapes) returned, not {type(start).__name__}")
    report_progress(progress, 0.0)
    begin = _BROAD_PHASE if pairs is None else 0.0
    tolerance: float | FloatArray
    if pairs is None:
        tolerance = as_length("contact_tolerance", contact_tolerance)
        indices = _candidates(first, second, clearance, tolerance, subrange(progress, 0.0, begin))
    else:
        indices = validate_pairs(pairs, len(first), len(first if second is None else second))
        tolerance = validate_tolerance(contact_tolerance, len(indices))
    # The second set follows the first.
    known, offset = (first, 0) if second is None else (first + second, len(first))
    result = convex_pairs.PairContacts(
        known, indices + np.array([0, offset]), clearance, tolerance, budget, distances, regions
    )
    left, solved = np.arange(len(indices)), dict[int, Contact]()
    if start is not None and start.shapes is not None and len(start) and start.normal.shape[1] == result.dim:
        same = (start.clearance, start.method, start.budget) == (clearance, method, budget)
        left = _take_over(result, indices, first, second, start, same, solved)
    progress = subrange(progress, begin, 1.0)
    total = max(1, len(left))
    if method == "auto":
        left = result.solve(left, progress)
    _solve_singly(result, left, method, solved, subrange(progress, 1.0 - len(left) / total, 1.0))
    if not regions:
        result.center[result.relation < convex_pairs.RELATION_CODES[Relation.WITHIN_CLEARANCE]] = np.nan
    report_progress(progress, 1.0)
    return Contacts(
        pairs=read_only(indices),
        relation=read_only(np.array(convex_pairs.RELATIONS, dtype=object)[result.relation]),
        status=read_only(np.array(convex_pairs.STATUSES, dtype=object)[result.status]),
        region=Regions(result.regions) if regions else None,
        clearance=clearance,
        contact_tolerance=tolerance,
        method=method,
        budget=budget,
        shapes=first if certificates else None,
        others=second if certificates else None,
        _solved=solved if certificates else {},
        **{name: read_only(getattr(result, name)) for name in _ARRAYS},
    )


def pairs_intersect(shapes: Sequence[Shape], pairs: ArrayLike, *, progress: Progress | None = None) -> BoolArray:
    """Return (p,) whether the shapes of each pair intersect, touching included, and nothing else.

    The same as `contacts(shapes, pairs).intersects`, much faster. `pairs` is (p, 2), indices of shapes, which must all
    have one dimension. Raise ValueError, naming the argument, when one is not a shape or has another dimension, or a
    pair has no such shape; Cancelled when `progress` returns False. Source: S0.4, S4.4.

    >>> print(pairs_intersect([Sphere([x, 0, 0], 1) for x in (0, 1, 5)], [[0, 1], [1, 2]]))
    [ True False]
    """
    known = validate_shapes("shapes", shapes)
    indices = validate_pairs(pairs, len(known), len(known))
    report_progress(progress, 0.0)
    result, left = convex_pairs.intersecting_pairs(known, indices, progress)
    singly = subrange(progress, 1.0 - len(left) / max(1, len(indices)), 1.0)
    for k in tracked(left.tolist(), singly):
        a, b = (known[n] for n in indices[k].tolist())
        polytopes = isinstance(a, Polytope) and isinstance(b, Polytope)
        result[k] = gjk_intersects(a, b) if polytopes else contact(a, b).intersects
    report_progress(progress, 1.0)
    return result


def _solve_singly(
    result: PairContacts, rows: IntArray, method: Method, solved: dict[int, Contact], progress: Progress | None
) -> None:
    """Fill in rows by `contact`, and keep those of compounds and meshes in `solved`."""
    for row, part in equal_parts(rows.tolist(), progress):
        report_progress(part, 0.0)
        a, b = (result.shapes[n] for n in result.pairs[row].tolist())
        found = contact(
            a,
            b,
            method=method,
            clearance=result.clearance,
            contact_tolerance=tolerance_of(result.contact_tolerance, row),
            budget=result.budget,
            progress=part,
        )
        result.relation[row] = convex_pairs.RELATION_CODES[found.relation]
        result.status[row] = convex_pairs.STATUS_CODES[found.status]
        result.regions[row] = found.region
        for name in _ARRAYS:
            getattr(result, name)[row] = getattr(found, name)
        if not (isinstance(a, ConvexShape) and isinstance(b, ConvexShape)):
            solved[row] = found


@overload
def tolerance_of(tolerance: float | FloatArray, rows: int) -> float: ...


@overload
def tolerance_of(tolerance: float | FloatArray, rows: IntArray) -> float | FloatArray: ...


def tolerance_of(tolerance: float | FloatArray, rows: int | IntArray) -> float | FloatArray:
    """Return the contact tolerance of some rows, of one for all or one for each (p,)."""
    if isinstance(tolerance, float):
        return tolerance
    chosen = tolerance[rows]
    return float(chosen) if isinstance(rows, int) else chosen


def _take_over(
    result: PairContacts,
    pairs: IntArray,
    first: tuple[Shape, ...],
    second: tuple[Shape, ...] | None,
    start: Contacts,
    same_options: bool,
    solved: dict[int, Contact],
) -> IntArray:
    """Fill in the rows of `start` of which nothing has changed, and the normals to start from of those with the same
    indices; return the rows that are left."""
    rows = np.arange(len(pairs))
    if (second is None) != (start.others is None) or start.shapes is None:
        return rows
    shapes, others = start.shapes, start.shapes if start.others is None else start.others
    codes = start.pairs[:, 0] * len(others) + start.pairs[:, 1]
    order = np.argsort(codes, kind="stable")

    def find(i: IntArray, j: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the rows of `start` with shapes i and j, and whether there are such."""
        wanted = np.where((i >= 0) & (j >= 0), i * len(others) + j, -1)
        found = order[np.minimum(np.searchsorted(codes, wanted, sorter=order), len(codes) - 1)]
        return found, codes[found] == wanted

    i, j = pairs.T
    before, known = find(np.where(i < len(shapes), i, -1), np.where(j < len(others), j, -1))
    result.start[known] = start.normal[before[known]]
    if not same_options or (result.with_regions and start.region is None):
        return rows
    # Shapes are frozen, and `start` keeps them alive: the same object is the same shape.
    i = _indices_of(first, shapes)[i]
    j = _indices_of(first if second is None else second, others)[j]
    before, known = find(i, j)
    if result.distances:
        known &= start.status[before] != Status.BOUNDS_ONLY
    known &= tolerance_of(result.contact_tolerance, rows) == tolerance_of(start.contact_tolerance, before)
    taken, before = rows[known], before[known]
    for name in _ARRAYS:
        getattr(result, name)[taken] = getattr(start, name)[before]
    relation_codes, status_codes = convex_pairs.RELATION_CODES, convex_pairs.STATUS_CODES
    result.relation[taken] = [relation_codes[relation] for relation in start.relation[before]]
    result.status[taken] = [status_codes[status] for status in start.status[before]]
    for row, old in zip(taken.tolist(), before.tolist(), strict=True):
        if start.region is not None:
            result.regions[row] = start.region.entries[old]
        if old in start._solved:
            solved[row] = start._solved[old]
    return rows[~known]


def _indices_of(shapes: tuple[Shape, ...], known: tuple[Shape, ...]) -> IntArray:
    """Return (n,) the index of each shape among those known, -1 where it is none of them."""
    indices = {id(shape): k for k, shape in enumerate(known)}
    return np.array([indices.get(id(shape), -1) for shape in shapes], dtype=np.intp)


def validate_shapes(name: str, shapes: Sequence[Shape], alike: tuple[Shape, ...] = ()) -> tuple[Shape, ...]:
    """Return shapes of one dimension, that of `alike` if there is one. Raise ValueError, naming `name`."""
    try:
        result = tuple(shapes)
    except TypeError as error:
        raise ValueError(f"{name}: a sequence of shapes expected, not {type(shapes).__name__}") from error
    dim = alike[0].dim if alike else None
    for k, shape in enumerate(result):
        if not isinstance(shape, Shape):
            raise ValueError(
                f"{name}: number {k} must be a shape such as ConvexHull, Box or Sphere, a Compound or a Mesh, "
                f"not {type(shape).__name__}"
            )
        dim = shape.dim if dim is None else dim
        if shape.dim != dim:
            raise ValueError(f"{name}: number {k} has dimension {shape.dim}, but the first has {dim}")
    return result


def validate_pairs(pairs: ArrayLike, count: int, others: int) -> IntArray:
    """Return a copy of pairs (p, 2) of whole numbers from 0 to count - 1 and others - 1. Raise ValueError, naming
    `pairs`."""
    try:
        array = np.asarray(pairs)
    except (TypeError, ValueError) as error:
        raise ValueError("pairs: an array (p, 2) expected; rows of different length are not an array") from error
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


def validate_tolerance(value: float | ArrayLike, count: int) -> float | FloatArray:
    """Return the contact tolerance of all pairs, or a read-only copy (count,) of those of each. Raise ValueError."""
    if not isinstance(value, np.ndarray | Sequence) or isinstance(value, str):
        return as_length("contact_tolerance", value)
    array = as_array("contact_tolerance", value, f"a number or an array ({count},)")
    if array.shape != (count,) or not (array >= 0.0).all():
        raise ValueError(
            f"contact_tolerance: a number, or one for each of the {count} pairs, expected, none negative; got the "
            f"shape {array.shape}"
        )
    return read_only(np.array(array))


def _candidates(
    shapes: tuple[Shape, ...],
    others: tuple[Shape, ...] | None,
    clearance: float,
    contact_tolerance: float,
    progress: Progress | None,
) -> IntArray:
    """Return the pairs whose bounding boxes are within the clearance or the band of TOUCHING of each other."""
    if not shapes or others == ():
        return np.zeros((0, 2), dtype=np.intp)
    known = shapes if others is None else shapes + others
    low, high = np.array([shape._bounds_tuples for shape in known]).transpose(1, 0, 2)
    # Each box is enlarged by the whole band if its shape is the smaller one, or the other is a point.
    extents = np.array([shape.extent for shape in known])
    largest = float(max(np.abs(low).max(), np.abs(high).max()))
    margin = ((contact_tolerance + PROMISE_EXTENT) * extents + PROMISE_ROUNDING * EPS * largest)[:, None]
    low, high = np.maximum(low - margin, -LARGEST_COORDINATE), np.minimum(high + margin, LARGEST_COORDINATE)
    count = len(shapes)
    second = () if others is None else (low[count:], high[count:])
    found = broad_phase.candidate_pairs(low[:count], high[:count], *second, margin=clearance, progress=progress)
    return found.pairs.copy()
