# SPDX-License-Identifier: GPL-3.0-or-later
"""Many things at once: bounds, candidate pairs, the contact of each. Knows nothing of Blender, so any thread may do it.

What things collide as is made when a candidate pair needs it and kept for the next few: a scene of ten thousand objects
has few candidates for each.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.box import Box
from ..core.broad_phase import candidate_pairs
from ..core.compound import Compound
from ..core.contact import Contact
from ..core.contacts import contacts
from ..core.curved_shape import ConvexShape
from ..core.decompose_mesh import Decomposition
from ..core.dent import deepest_dent
from ..core.hull import ConvexHull
from ..core.mesh import Mesh
from ..core.mesh_pieces import mesh_pieces
from ..core.progress import Cancelled, Progress, part_of, tell
from ..core.region import Region
from ..core.relation import Relation
from . import collision_shape
from .collision_shape import Choice
from .finding import Found, Solid, find

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Key = tuple[int, int, str]
"""Which thing: `session_uid` of the object, or of what makes the instance; that of the instanced object, else 0; the
instance's number, else empty."""

RESOLUTION_STEPS = 4.0
"""Steps of a float32 coordinate that two readings of the same place may differ by."""
OPEN_SHARE = 1e-4
KEPT = 4_000
"""Solids kept, as many as a batch may need; the least recently used go first."""
BATCH = 2_000
"""At most so many pairs' bounds are looked at together."""
FIRST_BATCH = 125
"""The first batches are smaller: when a check is stopped, something is done."""
FEW = 20
"""Pairs up to which one by one is as fast."""
NUMBERS = 2_000_000
"""Coordinates that are transformed at once."""
READING = 0.2
"""Share of the work that bounds are, about; the rest is contacts."""


class Geometry:
    """A mesh in its own space; all objects of the same geometry share one."""

    def __init__(self, points: FloatArray, triangles: NDArray[np.int32]) -> None:
        """points (n, 3), triangles (t, 3)."""
        self.points = points
        self.triangles = triangles

    @cached_property
    def hull(self) -> ConvexHull:
        return ConvexHull(self.points)

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.points.min(axis=0), self.points.max(axis=0)

    @cached_property
    def is_box(self) -> bool:
        """Whether the hull is the local bounding box: boxes are made, and their contacts found, many times faster."""
        low, high = self.bounds
        corners = self.hull.vertices
        return bool(self.hull.rank == 3 and len(corners) == 8 and ((corners == low) | (corners == high)).all())

    @cached_property
    def convex(self) -> bool:
        """Whether the mesh is its convex hull, as exactly as float32 tells."""
        dent = deepest_dent(self.hull, self.hull.vertex_ids, self.points, self.triangles)
        size = max(float(np.abs(self.hull.vertices).max()), 2.0**-126)
        return bool(dent.depth <= RESOLUTION_STEPS * np.spacing(np.float32(size)) and dent.open_share <= OPEN_SHARE)

    @cached_property
    def pieces(self) -> Decomposition:
        return mesh_pieces(Mesh(self.points, self.triangles.astype(np.intp)))


@dataclass(frozen=True, eq=False)
class Item:
    """One thing in the scene: an object, or an instance of one."""

    key: Key
    name: str
    """For people: unlike the key it may be that of another thing."""
    object_name: str
    instancer_name: str | None
    """Which object makes the instance; None for an object that is no instance."""
    geometry: Geometry
    linear: FloatArray
    """(3, 3) of the world matrix."""
    translation: FloatArray
    """(3,) of the world matrix."""
    choice: Choice
    above: frozenset[int] = frozenset()
    """`session_uid` of its parents, of theirs, and so on; of an instance those of what makes it, and within an
    instanced collection its own."""
    collections: frozenset[object] = frozenset()
    """Which collections it is in; of an instance within what makes it."""

    @property
    def uid(self) -> int:
        """`session_uid` of the object itself, which for an instance is the instanced one."""
        return self.key[1] or self.key[0]


@dataclass(frozen=True)
class Ignore:
    """Which pairs are not looked at."""

    parents: bool = False
    """A thing and one it hangs on."""
    collections: bool = False
    """Things in one collection."""
    joined: frozenset[frozenset[int]] = frozenset()
    """Pairs of objects, by `session_uid`, joined by rigid-body constraints."""
    listed: frozenset[frozenset[int]] = frozenset()
    """Pairs in the person's list; a single object is ignored altogether."""
    approved: frozenset[frozenset[Key]] = frozenset()
    """Pairs that the person approved."""

    def why(self, a: Item, b: Item) -> str:
        """Return the rule by which a pair is ignored, or an empty string."""
        if self.parents and _hang(a, b):
            return "parents"
        if self.collections and a.collections & b.collections:
            return "collections"
        if self.joined and frozenset((a.key[0], b.key[0])) in self.joined:
            return "joined"
        if self.listed:
            for one in {a.key[0], a.uid}:
                for other in {b.key[0], b.uid}:
                    if self.listed & {frozenset((one, other)), frozenset((one,)), frozenset((other,))}:
                        return "listed"
        if self.approved and frozenset((a.key, b.key)) in self.approved:
            return "approved"
        return ""


def _hang(a: Item, b: Item) -> bool:
    """Tell whether one thing is a parent of the other, or makes it."""
    if a.key[0] != b.key[0]:
        return a.key[0] in b.above or b.key[0] in a.above
    if not (a.key[2] and b.key[2]):  # an object and an instance that it makes
        return True
    return a.key[1] in b.above or b.key[1] in a.above


@dataclass(frozen=True, eq=False)
class Subject:
    """What is checked, as read from Blender."""

    items: list[Item]
    other: list[int] | None
    """When not all are checked against all: the items of the second side. `first` are those of the first."""
    first: list[int]
    ignore: Ignore
    clearance: float
    contact_tolerance: float
    touching: bool
    """Whether pairs that only touch are told."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Name of what is left out, and why."""


@dataclass(frozen=True, eq=False)
class PairFound:
    """The contact of one pair, as plain data."""

    a: int
    b: int
    row: dict[str, Any]


@dataclass(eq=False)
class Outcome:
    """What the check found."""

    found: list[PairFound]
    """Deepest first."""
    cleared: list[tuple[int, int]]
    """Candidate pairs that were looked at and are apart."""
    ignored: dict[str, int]
    """How many candidate pairs each rule left out."""
    ignored_pairs: set[frozenset[Key]]
    skipped: list[tuple[str, str]]
    candidates: int
    """How many pairs the broad phase left, the ignored ones not counted."""
    partial: bool
    """Whether the check was cancelled."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The findings as plain data, in the order of `found`."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What is told of one contact, found alone or with others. The fields are those of `Contact`."""

    relation: Relation
    signed_distance: float
    normal: FloatArray
    point_on_a: FloatArray
    point_on_b: FloatArray
    lower_bound: float
    upper_bound: float
    region: Region | Found | None
    """Where they meet; of compounds and meshes all that was found."""
    status: str


@dataclass(frozen=True, eq=False)
class Ready:
    """A thing as it collides."""

    solid: Solid
    kind: str
    mesh: Mesh | None
    make_pieces: Callable[[], Decomposition] | None
    extent: float
    step: float
    """Blender units: spacing of float32 at the largest coordinate that took part."""


# --- bounds ---------------------------------------------------------------------------------------------------------


def kind_of(item: Item) -> str:
    """Return what the item collides as, as in `collision_shape`."""
    if item.choice.kind != collision_shape.AUTOMATIC:
        return item.choice.kind
    if collision_shape.WHEN_CONVEX == collision_shape.WHEN_DENTED or item.geometry.convex:
        return collision_shape.WHEN_CONVEX
    return collision_shape.WHEN_DENTED


def bounds_of(items: Sequence[Item], progress: Progress | None = None) -> tuple[FloatArray, FloatArray, dict[int, str]]:
    """Return the corners low and high (n, 3) of what the items collide as, and why some cannot be told, by number.

    Raises Cancelled when `progress` says so.
    """
    low, high = np.zeros((len(items), 3)), np.zeros((len(items), 3))
    problems: dict[int, str] = {}
    groups: dict[Geometry, list[int]] = {}
    for k, item in enumerate(items):
        groups.setdefault(item.geometry, []).append(k)
    done = 0
    for geometry, members in groups.items():
        tell(progress, done / len(items))
        done += len(members)
        try:
            corners = geometry.hull.vertices.T
            plain = [k for k in members if kind_of(items[k]) not in collision_shape.PRIMITIVES]
            step = max(1, NUMBERS // max(corners.size, 1))
            for begin in range(0, len(plain), step):
                some = plain[begin : begin + step]
                placed = np.stack([items[k].linear for k in some]) @ corners
                moved = np.stack([items[k].translation for k in some])
                low[some], high[some] = placed.min(axis=2) + moved, placed.max(axis=2) + moved
                for k in some:
                    if kind_of(items[k]) != collision_shape.CONVEX_HULL and len(geometry.triangles) == 0:
                        problems[k] = f"has no faces: a {collision_shape.WORDS[kind_of(items[k])]} is made of them"
            for k in set(members) - set(plain):
                try:
                    low[k], high[k] = made(items[k]).solid.bounds
                except ValueError as error:
                    problems[k] = str(error)
        except ValueError as error:  # the geometry itself
            problems.update(dict.fromkeys(members, str(error)))
    return low, high, problems


def made(item: Item) -> Ready:
    """Make what an item collides as, in world space. Raises ValueError, as the end of a sentence about the item."""
    geometry, linear, translation = item.geometry, item.linear, item.translation
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, translation
    kind = kind_of(item)
    mesh: Mesh | None = None
    make_pieces: Callable[[], Decomposition] | None = None
    solid: Solid
    corners = geometry.hull.vertices @ linear.T + translation
    if kind in collision_shape.PRIMITIVES:
        solid = collision_shape.fitted(kind, *geometry.bounds, linear, translation)
    elif kind == collision_shape.CONVEX_HULL and geometry.is_box:
        solid = Box.from_matrix(matrix, *geometry.bounds)
    elif kind == collision_shape.CONVEX_HULL:
        solid = geometry.hull.moved(matrix)
    else:
        make_pieces = _Pieces(geometry, matrix)
        mesh = Mesh(geometry.points @ linear.T + translation, geometry.triangles.astype(np.intp))
        solid = mesh if kind == collision_shape.MESH else Compound(make_pieces().pieces)
    low, high = corners.min(axis=0), corners.max(axis=0)
    # The matrix may cancel large local coordinates: their rounding is still there.
    terms = float(np.abs(geometry.hull.vertices).max()) * float(np.linalg.norm(linear, 2))
    size = max(float(np.abs(low).max()), float(np.abs(high).max()), terms, 2.0**-126)
    extent = float(np.linalg.norm(solid.bounds[1] - solid.bounds[0]))
    return Ready(solid, kind, mesh, make_pieces, extent, float(np.spacing(np.float32(size))))


class _Pieces:
    """Makes the convex pieces of a mesh in world space, once."""

    def __init__(self, geometry: Geometry, matrix: FloatArray) -> None:
        self._of = geometry, matrix
        self._made: Decomposition | None = None

    def __call__(self) -> Decomposition:
        if self._made is None:
            geometry, matrix = self._of
            found = geometry.pieces
            self._made = replace(
                found,
                pieces=tuple(piece.moved(matrix) for piece in found.pieces),
                distance=found.distance * float(np.linalg.norm(matrix[:3, :3], 2)),
            )
        return self._made


class _Solids:
    """The last few solids made."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._kept: OrderedDict[int, Ready] = OrderedDict()

    def __getitem__(self, k: int) -> Ready:
        ready = self._kept.get(k)
        if ready is None:
            ready = self._kept[k] = made(self._items[k])
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(k)
        return ready


# --- contacts -------------------------------------------------------------------------------------------------------


def check(subject: Subject, progress: Progress | None = None) -> Outcome:
    """Find every pair of the subject that collides or is within the clearance.

    `progress` is called with the share done; when it says False, what is found so far is returned, marked partial.
    """
    outcome = Outcome([], [], {}, set(), list(subject.skipped), 0, False)
    items = subject.items
    try:
        if not items:
            return outcome
        low, high, problems = bounds_of(items, part_of(progress, 0.0, 0.8 * READING))
        outcome.skipped += [(items[k].name, f"'{items[k].name}' {why}") for k, why in sorted(problems.items())]
        pairs = _candidates(subject, low, high, set(problems), part_of(progress, 0.8 * READING, READING))
    except Cancelled:
        outcome.partial = True
        return outcome
    wanted = []
    for i, j in pairs:
        why = subject.ignore.why(items[i], items[j])
        if why:
            outcome.ignored[why] = outcome.ignored.get(why, 0) + 1
            outcome.ignored_pairs.add(frozenset((items[i].key, items[j].key)))
        else:
            wanted.append((i, j))
    outcome.candidates = len(wanted)
    check_pairs(items, wanted, subject, outcome, part_of(progress, READING, 1.0))
    outcome.found.sort(key=lambda f: (f.row["signed_distance"], items[f.a].name, items[f.b].name))
    outcome.rows = rows(items, outcome)
    return outcome


def _candidates(
    subject: Subject, low: FloatArray, high: FloatArray, without: set[int], progress: Progress | None
) -> list[tuple[int, int]]:
    """Return the pairs that may collide: the first side's item first, or of all against all the earlier one."""
    # Touching has a width. It is that of the smaller one, so half of each one's own is enough.
    extent = np.linalg.norm(high - low, axis=1)
    largest = np.maximum(np.abs(low), np.abs(high)).max(axis=1).astype(np.float32)
    band = np.maximum(subject.contact_tolerance * extent, 2.0 * RESOLUTION_STEPS * np.spacing(largest))
    low, high = low - band[:, None], high + band[:, None]
    first = np.array([k for k in subject.first if k not in without], dtype=np.intp)
    if subject.other is None:
        found = candidate_pairs(low[first], high[first], margin=subject.clearance, progress=progress).pairs
        return [(int(i), int(j)) for i, j in first[found].tolist()]
    other = np.array([k for k in subject.other if k not in without], dtype=np.intp)
    found = candidate_pairs(
        low[first], high[first], low[other], high[other], margin=subject.clearance, progress=progress
    ).pairs
    told: dict[frozenset[int], tuple[int, int]] = {}
    for i, j in zip(first[found[:, 0]].tolist(), other[found[:, 1]].tolist(), strict=True):
        if i != j:  # things may be on both sides
            told.setdefault(frozenset((i, j)), (i, j))
    return list(told.values())


def check_pairs(
    items: Sequence[Item],
    pairs: Iterable[tuple[int, int]],
    subject: Subject,
    outcome: Outcome,
    progress: Progress | None = None,
) -> None:
    """Find the contact of each pair and put it into the outcome; stop, and mark that, when `progress` says so.

    This is the one place where pairs are decided.
    """
    pairs = list(pairs)
    solids = _Solids(items)
    begin, size = 0, FIRST_BATCH
    while begin < len(pairs):
        some = pairs[begin : begin + size]
        here = part_of(progress, begin / len(pairs), (begin + len(some)) / len(pairs))
        try:
            tell(here, 0.0)
            _check_some(items, some, solids, subject, outcome, here)
        except Cancelled:
            outcome.partial = True
            return
        begin, size = begin + len(some), min(2 * size, BATCH)


def _check_some(
    items: Sequence[Item],
    pairs: list[tuple[int, int]],
    solids: _Solids,
    subject: Subject,
    outcome: Outcome,
    progress: Progress | None,
) -> None:
    convex = _convex(pairs, solids, part_of(progress, 0.0, 0.3))
    apart, told = _together(pairs, convex, solids, subject, part_of(progress, 0.3, 0.7))
    for k, (i, j) in enumerate(pairs):
        here = part_of(progress, 0.7 + 0.3 * k / len(pairs), 0.7 + 0.3 * (k + 1) / len(pairs))
        tell(here, 0.0)
        if k in apart:
            outcome.cleared.append((i, j))
            continue
        try:
            a, b = comparable(solids[i], solids[j])
            answer = told.get(k) or answer_of(contact_of(a, b, subject, here))
        except ValueError as error:
            names = f"{items[i].name} and {items[j].name}"
            outcome.skipped.append((names, f"'{items[i].name}' and '{items[j].name}' cannot be checked: {error}"))
            continue
        if answer.relation == Relation.SEPARATED or (answer.relation == Relation.TOUCHING and not subject.touching):
            outcome.cleared.append((i, j))
        else:
            outcome.found.append(PairFound(i, j, row_of(answer, a, b)))


def _convex(pairs: list[tuple[int, int]], solids: _Solids, progress: Progress | None) -> list[int]:
    """Return which pairs are two convex shapes: those can be looked at together. Makes the solids."""
    rows = []
    for k, (i, j) in enumerate(pairs):
        tell(progress, k / len(pairs))
        try:
            solid_a, solid_b = solids[i].solid, solids[j].solid
        except ValueError:  # told by the single way
            continue
        if isinstance(solid_a, ConvexShape) and isinstance(solid_b, ConvexShape):
            rows.append(k)
    return rows


def _together(
    pairs: list[tuple[int, int]], rows: list[int], solids: _Solids, subject: Subject, progress: Progress | None
) -> tuple[set[int], dict[int, Answer]]:
    """Return which of the pairs are apart by more than clearance and tolerance, and what is known of the others.

    rows: the pairs to look at. A pair in neither is one that must be looked at by itself.
    """
    if len(rows) < FEW:
        return set(), {}
    places: dict[int, int] = {}
    numbers = [[places.setdefault(i, len(places)) for i in pairs[k]] for k in rows]
    shapes: list[ConvexShape] = [solids[i].solid for i in places]  # type: ignore[misc]
    found = contacts(
        shapes,
        numbers,
        clearance=subject.clearance,
        contact_tolerance=subject.contact_tolerance,
        distances=False,
        certificates=False,
        progress=progress,
    )
    assert found.region is not None
    apart: set[int] = set()
    told: dict[int, Answer] = {}
    relations, statuses = found.relations, found.statuses
    for row, k in enumerate(rows):
        a, b = (solids[i] for i in pairs[k])
        # The tolerance of a call is that of all its pairs; that of this one may be coarser.
        tolerance, lower = _tolerance(a, b, subject), float(found.lower_bound[row])
        if relations[row] == Relation.SEPARATED:
            extents = [extent for extent in (a.extent, b.extent) if extent > 0.0]
            if lower > max(subject.clearance, tolerance * min(extents, default=0.0)):
                apart.add(k)
        elif tolerance == subject.contact_tolerance:
            told[k] = Answer(
                relation=relations[row],
                signed_distance=float(found.signed_distance[row]),
                normal=found.normal[row],
                point_on_a=found.point_on_a[row],
                point_on_b=found.point_on_b[row],
                lower_bound=lower,
                upper_bound=float(found.upper_bound[row]),
                region=found.region[row],
                status=str(statuses[row]),
            )
    return apart, told


def _tolerance(a: Ready, b: Ready, subject: Subject) -> float:
    """The contact tolerance of a pair: the person's, or the input's resolution where that is coarser."""
    extents = [extent for extent in (a.extent, b.extent) if extent > 0.0]
    if not extents:
        return subject.contact_tolerance
    return max(subject.contact_tolerance, RESOLUTION_STEPS * max(a.step, b.step) / min(extents))


def contact_of(a: Ready, b: Ready, subject: Subject, progress: Progress | None = None) -> Contact | Found:
    """Find the contact of two things. Raises ValueError when it cannot be told, and Cancelled."""
    meshes, pieces = (a.mesh, b.mesh), (a.make_pieces, b.make_pieces)
    return find(a.solid, b.solid, meshes, pieces, "auto", subject.clearance, _tolerance(a, b, subject), progress)


def contact_between(
    a: Item, b: Item, clearance: float, contact_tolerance: float
) -> tuple[Ready, Ready, Contact | Found]:
    """Return two things as they are compared, and their contact. Raises ValueError when that cannot be told."""
    one, other = comparable(made(a), made(b))
    subject = Subject([a, b], None, [0, 1], Ignore(), clearance, contact_tolerance, True)
    return one, other, contact_of(one, other, subject)


def comparable(a: Ready, b: Ready) -> tuple[Ready, Ready]:
    """Return a pair as it can be compared: beside a mesh a compound is the mesh it was made of."""
    one, other = (
        replace(thing, solid=thing.mesh, kind=collision_shape.MESH)
        if thing.kind == collision_shape.COMPOUND and beside.kind == collision_shape.MESH and thing.mesh is not None
        else thing
        for thing, beside in ((a, b), (b, a))
    )
    return one, other


def answer_of(found: Contact | Found) -> Answer:
    """Return what is told of a contact."""
    return Answer(
        relation=found.relation,
        signed_distance=float(found.signed_distance),
        normal=found.normal,
        point_on_a=found.point_on_a,
        point_on_b=found.point_on_b,
        lower_bound=float(found.lower_bound),
        upper_bound=float(found.upper_bound),
        region=found if isinstance(found, Found) else found.region,
        status=str(found.status),
    )


def row_of(found: Answer, a: Ready, b: Ready) -> dict[str, Any]:
    """Return a contact as plain data: world space, Blender units."""
    region, notes = found.region, []
    kind: str | None = None
    if isinstance(region, Found):
        kind = "regions" if region.regions else "curves" if region.curves else None
        notes = list(region.notes)
    elif region is not None:
        kind = str(region.kind)
    depth = max(0.0, -found.signed_distance)
    centroid = None if region is None else region.centroid
    return {
        "relation": str(found.relation),
        "intersects": found.signed_distance <= 0.0,
        "signed_distance": found.signed_distance,
        "depth": depth,
        "normal": found.normal.tolist(),
        "mtv": (depth * found.normal + 0.0).tolist(),
        "point_on_a": found.point_on_a.tolist(),
        "point_on_b": found.point_on_b.tolist(),
        "lower_bound": found.lower_bound,
        "upper_bound": found.upper_bound,
        "region": kind,
        "area": 0.0 if region is None else float(region.area),
        "centroid": None if centroid is None else centroid.tolist(),
        "checked_as": [a.kind.lower(), b.kind.lower()],
        "exactness": found.status,
        "notes": notes,
    }


def things(items: Sequence[Item], found: PairFound) -> list[dict[str, Any]]:
    """Return both things of a pair as plain data."""
    told = []
    for k, kind in zip((found.a, found.b), found.row["checked_as"], strict=True):
        item = items[k]
        told.append(
            {
                "name": item.name,
                "object": item.object_name,
                "instancer": item.instancer_name,
                "instance": item.key[2] or None,
                "checked_as": kind,
                "convex": item.geometry.convex,
            }
        )
    return told


def rows(items: Sequence[Item], outcome: Outcome) -> list[dict[str, Any]]:
    """Return the findings as plain data, deepest first."""
    told = []
    for found in outcome.found:
        a, b = things(items, found)
        row = {name: value for name, value in found.row.items() if name != "checked_as"}
        notes = [
            f"'{thing['name']}' is not convex: its hull is checked"
            for thing in (a, b)
            if thing["checked_as"] == "convex_hull" and not thing["convex"]
        ]
        notes += [
            f"'{items[k].name}' is a compound, which is not compared with a mesh: its mesh is checked"
            for k, thing in ((found.a, a), (found.b, b))
            if thing["checked_as"] == "mesh" and kind_of(items[k]) == collision_shape.COMPOUND
        ]
        told.append({"a": a, "b": b, **row, "notes": notes + row["notes"]})
    return told
