# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of many pairs, as arrays with one row per pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..contact import contact
from ..result import DICT_VERSION, WITHOUT_DEPTH, Contact, Method, Status, plain
from ..shapes.shape import Shape
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from .batched.convex_pairs import ARRAYS, RELATIONS, STATUS_CODES, STATUSES
from .pair_arguments import tolerance_of

if TYPE_CHECKING:
    from .batched.pair_regions import Regions


@dataclass(frozen=True, eq=False)
class Contacts(ReadOnlyArrays):
    """The contacts of many pairs. One row per pair; world frame, unit of the coordinates, float64, read-only.

    Row k has the fields of `contact(shapes[i], shapes[j])` with i, j = pairs[k], with the same promises. Where several
    normals are equally good it may be another of them. With `reproducible` it is the same, to the last bit, whatever
    other pairs and shapes are asked for with it.
    """

    pairs: IntArray
    """(p, 2) indices of shapes A and B of each pair; of two sets, A is of `shapes` and B of `others`."""
    signed_distance: FloatArray
    """(p,) > 0 gap, 0 touching, < 0 minus the penetration depth. Where status is BOUNDS_ONLY, the lower bound of a gap,
    NaN where a pair intersects."""
    normal: FloatArray
    """(p, dim) unit vectors from A to B. Where status is BOUNDS_ONLY, of an empty slab as wide as the lower bound; zero
    where a pair intersects."""
    point_on_a: FloatArray
    """(p, dim) witness points on A; NaN where a pair is separated and status is BOUNDS_ONLY."""
    point_on_b: FloatArray
    """(p, dim) witness points on B: `point_on_b - point_on_a = signed_distance * normal`."""
    center: FloatArray
    """(p, dim) contact centres: see `Contact.center`. NaN where a gap has bounds only, and without regions where a pair
    is not separated."""
    lower_bound: FloatArray
    """(p,) certified: the true signed distance is not below."""
    upper_bound: FloatArray
    """(p,) certified: the true signed distance is not above."""
    distances: bool
    """As given: False where pairs may have bounds only."""
    depths: bool
    """As given: False where compounds and meshes that penetrate have bounds only."""
    region: Regions | None
    """One per row; None where a pair is separated, and for compounds and meshes, whose `regions` `contact(row)` has.
    None when regions were not asked for."""
    clearance: float
    """As given: gaps up to this are WITHIN_CLEARANCE."""
    contact_tolerance: float | FloatArray
    """As given, one for all or (p,): relative to the smaller shape's diameter."""
    method: Method
    """As given."""
    budget: float | None
    """As given: seconds per pair of compounds and meshes."""
    reproducible: bool
    """As given: whether a row depends on its own pair alone, to the last bit."""
    shapes: Sequence[Shape] | None
    """As given, for `contact`: a tuple or a `ShapeSet`; None when certificates were not asked for."""
    others: Sequence[Shape] | None
    """As given, the second set; None when there is none, or certificates were not asked for."""
    poses: FloatArray | None
    """As given, of the shapes: (n, dim + 1, dim + 1), or (k, n, dim + 1, dim + 1) of `pose_index`; None when there are
    none, or certificates were not asked for."""
    other_poses: FloatArray | None
    """As given, of the second set; None when there are none, or certificates were not asked for."""
    _relations: NDArray[np.int8]
    _statuses: NDArray[np.int8]
    _solved: dict[int, Contact] = field(default_factory=dict, repr=False)
    """Contacts of compounds and meshes, which take long."""
    pose_index: IntArray | None = None
    """(p,) of poses (k, n, dim + 1, dim + 1), in which each pair is, in ascending order; None without several poses."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.pairs)

    @cached_property
    def relation(self) -> NDArray[Any]:
        """(p,) of `Relation`: compare with one, `found.relation == Relation.PENETRATING`."""
        return read_only(np.array(RELATIONS, dtype=object)[self._relations])

    @cached_property
    def status(self) -> NDArray[Any]:
        """(p,) of `Status`."""
        return read_only(np.array(STATUSES, dtype=object)[self._statuses])

    @property
    def intersects(self) -> BoolArray:
        """(p,) the bare truth, no tolerance: `signed_distance <= 0`, known or not."""
        return (self.signed_distance <= 0.0) | np.isnan(self.signed_distance)

    @property
    def depth(self) -> FloatArray:
        """(p,) penetration depths, 0.0 when apart, NaN where none was asked for."""
        return np.maximum(-self.signed_distance, 0.0)

    @property
    def mtv(self) -> FloatArray:
        """(p, dim) minimum translation vectors: moving B by it separates the pair; zero when apart."""
        return np.nan_to_num(self.depth)[:, None] * self.normal

    def contact(self, row: int) -> Contact:
        """Return the contact of one row with all its fields, its certificate too; computed when asked.

        Raise ValueError when certificates were not asked for, IndexError when there is no such row.
        """
        if self.shapes is None:
            raise ValueError("row: certificates were not asked for, and the shapes not kept: use certificates=True")
        i, j = self.pairs[index(row)].tolist()
        row %= len(self.pairs)
        if row not in self._solved:
            a, b = self.shapes[i], (self.shapes if self.others is None else self.others)[j]
            pose = slice(None) if self.pose_index is None else self.pose_index[row]
            poses, other_poses = (
                of if of is None or of.ndim == 3 else of[pose]
                for of in (self.poses, self.poses if self.others is None else self.other_poses)
            )
            return contact(
                a if poses is None else a.transformed(poses[i]),
                b if other_poses is None else b.transformed(other_poses[j]),
                method=self.method,
                clearance=self.clearance,
                contact_tolerance=tolerance_of(self.contact_tolerance, row),
                budget=self.budget,
                depth=self.depths,
            )
        return self._solved[row]

    def to_dict(self) -> dict[str, Any]:
        """Return the contacts as plain numbers, lists and strings, ready for `json.dumps`, without shapes and poses.

        Fields of pairs are lists, one item a pair; `version` and None are as in `Contact.to_dict`.

        >>> from contact_lens.core import Sphere, contacts
        >>> found = contacts([Sphere([0, 0, 0], 1), Sphere([3, 0, 0], 1)], [[0, 1]]).to_dict()
        >>> found["pairs"], found["relation"], found["signed_distance"]
        ([[0, 1]], ['separated'], [1.0])
        """
        names = ("pairs", "pose_index", "relation", "status", *ARRAYS, "depth", "mtv", "intersects")
        options = ("distances", "depths", "clearance", "contact_tolerance", "method", "budget", "reproducible")
        result = {name: plain(getattr(self, name)) for name in (*names, *options)}
        without = (self._statuses == STATUS_CODES[Status.NO_DEPTH]) | np.isnan(self.signed_distance)
        for row in np.flatnonzero(without).tolist():
            for name in WITHOUT_DEPTH:
                result[name][row] = None
        region = None if self.region is None else plain(self.region[:])
        return {"version": DICT_VERSION, **result, "region": region}
