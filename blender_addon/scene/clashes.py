# SPDX-License-Identifier: GPL-3.0-or-later
"""The clashes that a scene check finds: arrays with a row each, of which a `Clash` is made on access."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...core.many.batched.pair_regions import RANKS
from ...core.many.result import Contacts
from ...core.measures.volume_record import OverlapVolume
from ...core.meshes.decomposition import Decomposition
from ...core.note import Note
from ...core.result import Contact, Relation, Status
from ...core.types import FloatArray, IntArray
from ..data.records import Approval, Key, Pair
from ..geometry.collision_shape import RESOLUTION_STEPS
from ..pair.margins import Margins, are_within
from ..pair.pair_contact import center_of, is_convex
from ..read.scene_objects import SceneObject
from ..read.world_shape import WorldShape
from . import depths
from .fields import CHECK, STORED

RELATIONS, STATUSES = tuple(Relation), tuple(Status)
REGIONS = (None, *RANKS)
"""The kinds of contact regions by their dimension, after none."""
LEAST_RANKS = {"point": 0, "edge": 1, "face": 2}
"""The dimension of the contact regions that a check reports at least."""
_VOLUMES = ("overlap_volume", "overlap_volume_lower", "overlap_volume_upper")
"""Numbers of `scene.fields` that say in how much volume two overlap: what was found, and its bounds."""


class Verdict(Enum):
    """A clash compared with what the user approved."""

    WITHIN = "within"
    """No worse than approved."""
    WORSE = "worse"
    """Deeper or closer than approved."""
    UNKNOWN = "unknown"
    """The file does not say at which depth it was approved."""


@dataclass(frozen=True, eq=False)
class ShapeFacts:
    """How an object was checked."""

    kind: str
    """Of its collision shape."""
    protrusion: float
    """How far its mesh sticks out of a primitive, Blender units."""
    approximation: Decomposition | None
    """The pieces of a compound, where they are not exact."""

    @classmethod
    def of(cls, shape: WorldShape) -> ShapeFacts:
        protrusion = shape.protrusion if shape.protrusion > RESOLUTION_STEPS * shape.step else 0.0
        return cls(shape.kind, protrusion, shape.approximation)


@dataclass(frozen=True, eq=False)
class Clash:
    """A pair that collides, touches or is within the clearance. World space, Blender units; see `Contact`."""

    a: int
    """Index of A in the objects of the check."""
    b: int
    relation: Relation
    intersects: bool
    signed_distance: float
    normal: FloatArray
    point_on_a: FloatArray
    point_on_b: FloatArray
    center: FloatArray
    lower_bound: float
    upper_bound: float
    region: str | None
    """The kind of the contact region, "regions" or "curves" of several; None without one."""
    area: float
    centroid: FloatArray | None
    status: str
    reason: str
    """Why the bounds do not meet, in words; empty when they do."""
    resolution: float
    """Smaller differences of the signed distance are not known."""
    notes: tuple[Note, ...] = ()
    has_depth: bool = True
    """False where two open surfaces meet, or one is around the other, and where no depth was searched: then
    `signed_distance` is the upper bound."""
    checks: tuple[tuple[str, bool], ...] | None = None
    """Name and outcome of each check of `verify`; None where it was not verified."""
    approval: Approval | None = None
    """The user's."""
    verdict: Verdict | None = None
    """None without an approval."""
    unmeasured: str = ""
    """Why the volume in which they overlap is not known, where it was asked for."""
    margins: float | None = None
    """Up to which gap Blender's simulation pushes the two apart; None unless their gap is smaller."""
    more: dict[str, Any] = field(default_factory=dict)
    """Numbers of `scene.fields` that are only reported, by name."""

    @property
    def depth(self) -> float:
        return max(0.0, -self.signed_distance)

    @property
    def mtv(self) -> FloatArray:
        return max(0.0, -self.signed_distance) * self.normal + 0.0

    def number(self, name: str) -> Any:
        """Return one of the numbers of `scene.fields`; None where it is not known."""
        return self.more[name] if name in self.more else getattr(self, name)

    def with_volume_of(self, clash: Clash) -> Clash:
        """Return the clash with the volume that was found of the same pair in the same place."""
        known = {name: clash.more[name] for name in _VOLUMES if name in clash.more}
        return replace(self, more={**self.more, **known}, unmeasured=clash.unmeasured)

    @property
    def approved_distance(self) -> float | None:
        """The signed distance that an approval is compared with; None where there is no depth."""
        return self.signed_distance if self.has_depth else None


def clash_of(
    pair: tuple[int, int],
    contact: Contact,
    resolution: float,
    checks: tuple[tuple[str, bool], ...] | None = None,
) -> Clash:
    """Return the contact of a pair with a compound or a mesh as a clash; resolution, checks: see `Clash`."""
    region = contact.region
    if is_convex(contact):
        kind = None if region is None else str(region.kind)
    else:
        kind = "regions" if contact.regions else "curves" if contact.curves else None
    numbers = {stored.name: None if stored.source == CHECK else getattr(contact, stored.source) for stored in STORED}
    numbers |= {"centroid": center_of(contact), "resolution": resolution}
    if contact.status == depths.NOT_SEARCHED:  # by which clashes are in order
        numbers["signed_distance"] = contact.upper_bound
    return _clash(
        *pair,
        {name: value if value is None or np.ndim(value) else float(value) for name, value in numbers.items()},
        relation=contact.relation,
        intersects=contact.intersects,
        region=kind,
        status=str(contact.status),
        reason=contact.reason,
        notes=contact.notes,
        has_depth=contact.has_depth,
        checks=checks,
    )


def gap_judged(clash: Clash, margins: Margins, clearance: float) -> Clash:
    """Return a clash with its collision margins, where the gap is within them; it is separated where the gap is not
    within the clearance either."""
    if clash.relation != Relation.WITHIN_CLEARANCE:
        return clash
    both = margins.of(np.array([[clash.a, clash.b]]), clash.normal[None])
    if are_within(np.array([clash.signed_distance]), both).all():
        return replace(clash, margins=float(both[0]))
    return clash if clash.signed_distance <= clearance else replace(clash, relation=Relation.SEPARATED)


def rank_of(contact: Contact) -> int:
    """Return the dimension of where a pair meets: 0 in points, 1 along edges, 2 in faces, or where it is not known."""
    if contact.region is not None:
        return RANKS[contact.region.kind]
    if contact.area > 0.0 or not contact.regions:
        return 2
    ranks = [RANKS[patch.region.kind] for region in contact.regions for patch in region.patches]
    return max(ranks, default=2)


DTYPE = np.dtype(
    [(stored.name, np.float64, (stored.kind.width,) if stored.kind.width > 1 else ()) for stored in STORED]
)
"""The numbers of a clash; NaN where one is not known."""
_NAMES = DTYPE.names or ()
_SCALARS = tuple(stored.name for stored in STORED if stored.kind.width == 1)
REPORTED_ONLY = {stored.name for stored in STORED} - {declared.name for declared in fields(Clash)}
"""Numbers that `Clash` has in `more`."""


def _clash(a: int, b: int, numbers: dict[str, Any], **words: Any) -> Clash:
    """Return a clash; numbers: all that are STORED by name, None where one is not known."""
    if REPORTED_ONLY:
        words["more"] = {name: numbers.pop(name) for name in REPORTED_ONLY}
    return Clash(a, b, **numbers, **words)


class Clashes(Sequence[Clash]):
    """Clashes, some 200 bytes each until one is accessed; those that were checked by themselves are kept whole."""

    def __init__(self, pairs: IntArray, codes: NDArray[np.int8], numbers: NDArray[np.void]) -> None:
        """pairs (n, 2): indices of objects; codes (n, 3): indices of RELATIONS and STATUSES, and the dimension of the
        region, -1 without one; numbers (n,): DTYPE."""
        self.pairs, self._codes, self._numbers = pairs, codes, numbers
        self._single: dict[int, Clash] = {}
        """Those that were checked by themselves."""

    @classmethod
    def none(cls) -> Clashes:
        """Return no clashes."""
        return cls.of_pairs(np.zeros((0, 2), np.intp))

    @classmethod
    def of_pairs(cls, pairs: IntArray) -> Clashes:
        """Return pairs (n, 2) as clashes of which nothing else is known."""
        return cls(pairs, np.zeros((len(pairs), 3), np.int8), np.zeros(len(pairs), DTYPE))

    @classmethod
    def of_contacts(cls, pairs: IntArray, found: Contacts, rows: IntArray, resolution: FloatArray) -> Clashes:
        """Return the contacts of convex shapes in some rows: pairs (n, 2), rows (n,), resolution (n,)."""
        assert found.region is not None
        measures = found.region.measures(rows)
        numbers = np.empty(len(rows), DTYPE)
        given = {"resolution": resolution, "area": measures.area, "centroid": measures.centroid}
        for stored in STORED:
            name, source = stored.name, stored.source
            numbers[name] = (
                given.get(name, np.nan) if name in given or source == CHECK else getattr(found, source)[rows]
            )
        codes = found._relations.take(rows), found._statuses.take(rows), measures.rank.astype(np.int8)
        return cls(pairs, np.stack(codes, axis=1), numbers)

    @classmethod
    def of_single(cls, clash: Clash) -> Clashes:
        """Return the one clash of a pair that was checked by itself."""
        numbers = np.full(1, np.nan, DTYPE)
        for stored in STORED:
            if (value := clash.number(stored.name)) is not None:
                numbers[stored.name] = value
        codes = np.array([[RELATIONS.index(clash.relation), 0, -1]], dtype=np.int8)
        result = cls(np.array([[clash.a, clash.b]]), codes, numbers)
        result._single[0] = clash
        return result

    @classmethod
    def joined(cls, parts: Sequence[Clashes]) -> Clashes:
        """Return the clashes of all parts, in their order."""
        if not parts:
            return cls.none()
        arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in cls._ARRAYS)
        result, before = cls(*arrays), 0
        for part in parts:
            result._single.update((before + k, clash) for k, clash in part._single.items())
            before += len(part)
        return result

    _ARRAYS = ("pairs", "_codes", "_numbers")

    def take(self, rows: IntArray) -> Clashes:
        """Return some of the clashes, in this order."""
        result = Clashes(*(getattr(self, name).take(rows, axis=0) for name in self._ARRAYS))
        if self._single:
            result._single = {k: self._single[row] for k, row in enumerate(rows.tolist()) if row in self._single}
        return result

    def put(self, row: int, clash: Clash) -> None:
        """Put another clash of the same pair into a row."""
        for name in self._ARRAYS:
            getattr(self, name)[row] = getattr(Clashes.of_single(clash), name)[0]
        self._single[row] = clash

    def put_volume(self, row: int, found: OverlapVolume) -> None:
        """Put the volume in which the two of a clash overlap into its row, or why it is not known."""
        values = dict(zip(_VOLUMES, (found.volume, found.lower, found.upper), strict=True))
        for name, value in values.items():
            self._numbers[name][row] = np.nan if value is None else value
        if row in self._single or found.volume is None:
            clash = self[row]
            reason = "" if found.volume is not None else found.unsupported_reason
            self._single[row] = replace(clash, more={**clash.more, **values}, unmeasured=reason)

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, row: int) -> Clash: ...

    @overload
    def __getitem__(self, row: slice) -> Clashes: ...

    def __getitem__(self, row: int | slice) -> Clash | Clashes:
        if isinstance(row, slice):
            return self.take(np.arange(*row.indices(len(self))))
        row = range(len(self))[row]
        if row in self._single:
            return self._single[row]
        relation, code, rank = self._codes[row].tolist()
        region, status = REGIONS[rank + 1], STATUSES[code]
        numbers = dict(zip(_NAMES, self._numbers[row].item(), strict=True))
        for name in _SCALARS:
            if numbers[name] != numbers[name]:  # a NaN
                numbers[name] = None
        if region is None:
            numbers["centroid"] = None
        a, b = self.pairs[row].tolist()
        return _clash(
            a,
            b,
            numbers,
            relation=RELATIONS[relation],
            intersects=numbers["signed_distance"] <= 0.0,
            region=None if region is None else str(region),
            status=str(status),
            reason=status.reason,
        )

    def judge_gaps(self, margins: Margins, clearance: float) -> None:
        """Do what `gap_judged` does of all clashes, of which none was checked by itself."""
        rows = np.flatnonzero(self.relations == RELATIONS.index(Relation.WITHIN_CLEARANCE))
        distances = self.column("signed_distance")[rows]
        both = margins.of(self.pairs[rows], self._numbers["normal"][rows])
        is_within = are_within(distances, both)
        self._numbers["margins"][rows] = np.where(is_within, both, np.nan)
        self._codes[rows[~is_within & (distances > clearance)], 0] = RELATIONS.index(Relation.SEPARATED)

    @property
    def margins(self) -> list[float | None]:
        """(n,) the collision margins of those whose gap is within them, else None."""
        return self._known("margins")

    @property
    def volumes(self) -> list[float | None]:
        """(n,) the volumes of the overlaps, None where they are not known."""
        return self._known("overlap_volume")

    def _known(self, name: str) -> list[float | None]:
        found: list[float] = self.column(name).tolist()
        return [None if number != number else number for number in found]

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return what the constructor takes."""
        return self.pairs, self._codes, self._numbers

    def renumbered(self, pairs: IntArray) -> Clashes:
        """Return the clashes with other indices of objects (n, 2)."""
        result = Clashes(pairs, self._codes, self._numbers)
        for row, clash in self._single.items():
            result._single[row] = replace(clash, a=int(pairs[row, 0]), b=int(pairs[row, 1]))
        return result

    @property
    def detailed_rows(self) -> list[int]:
        """The rows of clashes that are more than their numbers: those checked alone, and with bounds apart."""
        apart = self._codes[:, 1] != STATUSES.index(Status.CERTIFIED)
        return sorted({*self._single, *np.flatnonzero(apart).tolist()})

    def column(self, name: str) -> FloatArray:
        """Return a number of all clashes (n,), such as their areas."""
        return self._numbers[name]

    @property
    def relations(self) -> NDArray[np.int8]:
        """(n,) indices of RELATIONS."""
        return self._codes[:, 0]

    @property
    def ranks(self) -> NDArray[np.int8]:
        """(n,) the dimensions of the regions, -1 where there is none."""
        return self._codes[:, 2]

    def words(self) -> list[str]:
        """Return the relations in words."""
        names = [str(relation) for relation in RELATIONS]
        return [names[code] for code in self.relations.tolist()]

    @property
    def distances(self) -> list[float | None]:
        """(n,) the signed distances; None where there is no depth."""
        found: list[float | None] = self.column("signed_distance").tolist()
        for row, clash in self._single.items():
            if not clash.has_depth:
                found[row] = None
        return found

    @property
    def upper_bounds(self) -> list[float | None]:
        """(n,) the upper bounds of the signed distances; None where there is no depth."""
        found: list[float | None] = self.column("upper_bound").tolist()
        for row, clash in self._single.items():
            if clash.status == Status.NO_DEPTH:
                found[row] = None
        return found

    @property
    def verified(self) -> dict[int, Clash]:
        """By row the clashes that were verified."""
        return {row: clash for row, clash in self._single.items() if clash.checks is not None}

    @property
    def judged(self) -> list[int]:
        """The rows of clashes that have a verdict."""
        return [row for row, clash in self._single.items() if clash.verdict is not None]

    def deepest_first(self, objects: Sequence[SceneObject]) -> Clashes:
        """Return the clashes in the order of their signed distances, or bounds, equal ones by the names of objects."""
        distances = self.column("signed_distance").copy()
        distances[[row for row, clash in self._single.items() if clash.status == Status.NO_DEPTH]] = 0.0
        used, places = np.unique(self.pairs, return_inverse=True)
        names = [objects[k].name for k in used.tolist()]
        ranks = {name: rank for rank, name in enumerate(sorted(set(names)))}
        rank = np.array([ranks[name] for name in names], dtype=np.intp)[places.reshape(-1, 2)]
        return self.take(np.lexsort((rank[:, 1], rank[:, 0], distances)))

    def rows_of(self, objects: Sequence[SceneObject], pairs: Iterable[Pair]) -> dict[Pair, int]:
        """Return the rows of those of the pairs that clash."""
        wanted = [pair for pair in pairs if len(pair) == 2]
        if not (wanted and len(self)):
            return {}
        numbers: dict[Key, int] = {}
        places = np.array([numbers.setdefault(obj.key, k) for k, obj in enumerate(objects)], np.intp)
        codes = np.sort(places[self.pairs], axis=1) @ [len(objects), 1]
        order = np.argsort(codes, kind="stable")
        found = {}
        for pair in wanted:
            first, last = sorted(numbers.get(key, -1) for key in pair)
            code = first * len(objects) + last
            place = int(np.searchsorted(codes, code, sorter=order))
            if first >= 0 and place < len(order) and codes[order[place]] == code:
                found[pair] = int(order[place])
        return found

    def without(self, objects: Sequence[SceneObject], keys: frozenset[Key]) -> Clashes:
        """Return the clashes in which none of these objects is."""
        return self.take(np.flatnonzero(are_without(self.pairs, objects, keys)))


def are_without(pairs: IntArray, objects: Sequence[SceneObject], keys: frozenset[Key] | set[Key]) -> NDArray[np.bool_]:
    """Return of pairs (n, 2) of objects whether neither is one of the keys."""
    valid = np.array([obj.key not in keys for obj in objects], dtype=bool)
    return np.logical_and(valid[pairs[:, 0]], valid[pairs[:, 1]])


def compared(
    clashes: Clashes,
    objects: Sequence[SceneObject],
    approved: Mapping[Pair, Approval],
    refine: Callable[[Clash], Clash],
) -> list[int]:
    """Give clashes that the user approved their verdicts; return the rows of those that are no worse than approved.

    refine: returns a clash with its exact depth, which decides where an upper bound of the depth does not.
    """
    within = []
    for pair, row in sorted(clashes.rows_of(objects, approved).items(), key=lambda item: item[1]):
        approval, clash = approved[pair], clashes[row]
        is_covered = approval.covers(clash.approved_distance, clash.resolution)
        if approval.is_known and not is_covered and clash.reason:
            clash = refine(clash)
            is_covered = approval.covers(clash.approved_distance, clash.resolution)
        verdict = Verdict.WORSE if approval.is_known else Verdict.UNKNOWN
        verdict = Verdict.WITHIN if is_covered else verdict
        clashes.put(row, replace(clash, approval=approval, verdict=verdict))
        if verdict == Verdict.WITHIN:
            within.append(row)
    return within
