# SPDX-License-Identifier: GPL-3.0-or-later
"""Many things at once: bounds, candidate pairs, the contact of each. Knows nothing of Blender, so any thread may do it.

What things collide as is made when a candidate pair needs it and kept for the next few: a scene of ten thousand objects
has few candidates for each.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.batched.contacts import contacts
from ..core.broad_phase.candidate_pairs import candidate_pairs
from ..core.compounds.compound import Compound
from ..core.decomposition.decompose_mesh import Decomposition
from ..core.decomposition.dent import Dent, deepest_dent
from ..core.decomposition.mesh_pieces import mesh_pieces
from ..core.meshes.mesh import Mesh
from ..core.meshes.solid_facets import Solid
from ..core.narrow_phase.contact import Contact
from ..core.narrow_phase.relation import Relation
from ..core.note import Note
from ..core.progress import Cancelled, Progress, part_of, rising, tell
from ..core.region.region import Region
from ..core.shapes.box import Box
from ..core.shapes.curved_shape import ConvexShape
from ..core.shapes.hull import ConvexHull
from . import answer_words, collision_shape
from .collision_shape import AUTOMATIC, COMPOUND, CONVEX_HULL, MESH, PRIMITIVES, WORDS, Choice
from .collision_solid import (
    RESOLUTION_STEPS,
    Joined,
    Part,
    covers_hull,
    float32_step,
    joined,
    kind_for,
    placed_mesh,
    placed_pieces,
    step_at,
    tolerance_for,
)
from .finding import Found, checked, find
from .shape_outline import extent_of
from .units import UnitFormat

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Key = tuple[int, int, str]
"""Which thing: `session_uid` of the object, or of what makes the instance; that of the instanced object, else 0; the
instance's number, else empty."""

KEPT = 4_000
"""Things kept as they collide, as many as a batch may need; the least recently used go first."""
KEPT_TRIANGLES = 1_000_000
"""Triangles of meshes kept in world space, with trees of theirs: some hundred megabytes."""
STICKS_OUT = 0.03
"""Times the diagonal of a mesh: approximate pieces of it stay so near to its bounding box."""
DENT_SLACK = 1e-3
"""Relative: dents are found to less than that of themselves."""
BATCH = 2_000
"""At most so many pairs' bounds are looked at together."""
FIRST_BATCH = 125
"""The first batches are smaller: when a check is stopped, something is done."""
FEW = 20
"""Pairs up to which one by one is as fast."""
NUMBERS = 2_000_000
"""Coordinates that are transformed at once."""
OF_DEPTH = ("signed_distance", "depth", "normal", "mtv", "lower_bound", "upper_bound")
"""What of a row is None where surfaces meet of which one is open: such a pair has no depth."""
MANY = 100
"""Things of one geometry from which on its hull pays for their bounds."""
COST_OF_TRIANGLE = 0.02
"""About how many milliseconds hull and dents of a geometry take for each of its triangles. These costs are for
progress: how they compare matters, not how fast a machine is."""
COST_OF_ITEM = 0.02
"""The same of each thing that has it."""
COST_OF_BOXES = 0.1
"""The same of a pair of boxes, looked at together with others."""
COST_OF_HULLS = 1.0
"""Of a pair of other convex shapes, looked at together with others."""
COST_OF_WORDS = 0.05
"""Of a finding that was answered together with others, to be put into words."""
COST_ALONE = 5.0
"""Of a pair of convex shapes by itself, with certificate and check."""
COST_OF_MESHES = 200.0
"""Of a pair in which there is a mesh or a compound."""
LOOK = 0.05
"""Share of the hulls after which it is looked again at what the meshes are like."""
BOUNDS = 0.02
"""Share of a check that bounds and candidate pairs are, about."""
FOUND = 0.5
"""Of the pairs that are looked at about so many are findings."""
MOST_VERIFIED = 2_000
"""Findings that were answered together are looked at again up to so many, the deepest first: some seconds."""


class Geometry:
    """A mesh in its own space; all objects of the same geometry share one."""

    def __init__(self, points: FloatArray, triangles: NDArray[np.int32]) -> None:
        """points (n, 3), triangles (t, 3)."""
        self.points = points
        self.triangles = triangles
        self._pieces: Decomposition | None = None

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
    def dent(self) -> Dent:
        """How far the mesh is from its hull."""
        return deepest_dent(self.hull, self.hull.vertex_ids, self.points, self.triangles)

    @cached_property
    def magnitude(self) -> float:
        """The largest absolute coordinate."""
        return float(np.abs(self.hull.vertices).max())

    def pieces(self, progress: Progress | None = None) -> Decomposition:
        """Return the convex pieces that stand for the mesh; cut once. Raises Cancelled."""
        if self._pieces is None:
            self._pieces = mesh_pieces(Mesh(self.points, self.triangles.astype(np.intp)), progress=progress)
        return self._pieces


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
    parts: tuple[Item, ...] = ()
    """What a compound parent is made of; its geometry is all of theirs then, in world space."""

    @property
    def uid(self) -> int:
        """`session_uid` of the object itself, which for an instance is the instanced one."""
        return self.key[1] or self.key[0]

    @cached_property
    def matrix(self) -> FloatArray:
        """(4, 4) the world matrix."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.linear, self.translation
        return matrix

    @cached_property
    def kind(self) -> str:
        """What it collides as, as in `collision_shape`."""
        return kind_for(self.choice, len(self.geometry.triangles) > 0, lambda: self.is_convex)

    @cached_property
    def is_convex(self) -> bool:
        """Whether the mesh, where it is, is its convex hull, as exactly as float32 tells."""
        geometry, dent = self.geometry, self.geometry.dent
        if dent.depth == 0.0 and dent.open_share == 0.0:
            return True
        magnitude = float(np.abs(geometry.hull.vertices @ self.linear.T + self.translation).max())
        # Lengths grow by the largest stretch at most, and by the least at least; areas by products of two stretches.
        most, _, least = np.linalg.svd(self.linear, compute_uv=False).tolist()
        if least > 0.0:
            twist = (most / least) ** 2
            if covers_hull(Dent(dent.depth * most, dent.point, dent.closed, None, dent.open_share * twist), magnitude):
                return True
            if dent.depth * least > (1.0 + DENT_SLACK) * RESOLUTION_STEPS * float32_step(magnitude):
                return False
        hull = geometry.hull.transformed(self.matrix)
        points = geometry.points @ self.linear.T + self.translation
        return covers_hull(deepest_dent(hull, hull.vertex_ids, points, geometry.triangles), magnitude)


def all_parts(item: Item) -> Iterator[Item]:
    """What a compound parent is made of, and these are."""
    for part in item.parts:
        yield part
        yield from all_parts(part)


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


class Skipped(NamedTuple):
    """What is left out of a check: a thing or a pair."""

    name: str
    reason: str
    """A sentence."""
    unchecked: bool = True
    """Whether something was to be checked and was not. Not so of what has no geometry, or is left out by the rules."""


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
    instances: bool = True
    """Whether instances are checked too."""
    skipped: list[Skipped] = field(default_factory=list)
    units: UnitFormat = field(default_factory=UnitFormat)
    """For the lengths in notes."""

    def sides(self) -> tuple[list[Item], list[Item]]:
        """Return the things of both sides, the parts of compound parents too. All against all, they are the same."""

        def side(numbers: list[int]) -> list[Item]:
            return [one for k in numbers for one in (self.items[k], *all_parts(self.items[k]))]

        first = side(self.first)
        return first, first if self.other is None else side(self.other)


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
    skipped: list[Skipped]
    candidates: int
    """How many pairs the broad phase left, the ignored ones not counted."""
    partial: bool
    """Whether the check was cancelled."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The findings as plain data, in the order of `found`."""
    unchecked: set[frozenset[Key]] = field(default_factory=set)
    """Pairs that could not be checked; a single thing could not at all."""


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
    reason: str = ""
    """Why the bounds do not meet, in words; empty when they do."""
    notes: tuple[Note, ...] = ()
    has_depth: bool = True
    """False where surfaces meet of which one is open."""
    of_pieces: bool = False
    """Whether the depth is that of convex pieces, because a surface is open."""
    failed: tuple[str, ...] | None = None
    """The checks of `verify` that it fails; None for one found together with others: it has no certificate."""


# --- bounds ---------------------------------------------------------------------------------------------------------


def bounds_of(items: Sequence[Item], progress: Progress | None = None) -> tuple[FloatArray, FloatArray, dict[int, str]]:
    """Return the corners low and high (n, 3) of what the items collide as, and why some cannot be told, by number.

    Those of vertices: most things of a scene have nothing near, and no hull is ever made of them. Raises Cancelled when
    `progress` says so.
    """
    low, high = np.zeros((len(items), 3)), np.zeros((len(items), 3))
    problems: dict[int, str] = {}
    groups = _by_geometry(items)
    before = np.cumsum([0, *(len(geometry.points) * len(members) for geometry, members in groups.items())])
    for (geometry, members), done in zip(groups.items(), before.tolist(), strict=False):
        tell(progress, done / max(int(before[-1]), 1))
        plain = [k for k in members if items[k].choice.kind not in PRIMITIVES and not items[k].parts]
        hull_is_known = "hull" in vars(geometry)  # looked up before
        corners = (geometry.hull.vertices if hull_is_known or len(plain) >= MANY else geometry.points).T
        step = max(1, NUMBERS // max(corners.size, 1))
        for begin in range(0, len(plain), step):
            some = plain[begin : begin + step]
            placed = np.stack([items[k].linear for k in some]) @ corners
            moved = np.stack([items[k].translation for k in some])
            low[some], high[some] = placed.min(axis=2) + moved, placed.max(axis=2) + moved
        for k in plain:
            if len(geometry.triangles) == 0 and items[k].kind != CONVEX_HULL:
                problems[k] = f"has no faces: a {WORDS[items[k].kind]} is made of them"
            if items[k].choice.kind == COMPOUND:
                diagonal = float(np.linalg.norm(np.subtract(*geometry.bounds)))
                room = STICKS_OUT * diagonal * float(np.linalg.norm(items[k].linear, 2))
                low[k], high[k] = low[k] - room, high[k] + room
        for k in set(members) - set(plain):
            try:
                low[k], high[k] = _bounds_of_one(items[k])
            except ValueError as error:
                problems[k] = str(error)
    return low, high, problems


def _by_geometry(items: Sequence[Item], numbers: Iterable[int] | None = None) -> dict[Geometry, list[int]]:
    """Return which items have each geometry, of those with the numbers or of all."""
    groups: dict[Geometry, list[int]] = {}
    for k in range(len(items)) if numbers is None else numbers:
        groups.setdefault(items[k].geometry, []).append(k)
    return groups


def _bounds_of_one(item: Item) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of a primitive or of a compound parent. Raises ValueError, the end of a sentence about it."""
    if not item.parts:
        return Ready(item).solid.bounds
    low, high, problems = bounds_of(item.parts)
    for k, why in problems.items():
        raise ValueError(f"cannot be checked: its part '{item.parts[k].name}' {why}")
    return low.min(axis=0), high.max(axis=0)


# --- as it collides -------------------------------------------------------------------------------------------------


class Ready:
    """A thing as it collides, in world space. What is costly is made when it is first asked for.

    `around` and `solid` raise ValueError, the end of a sentence about the item, when it cannot be made.
    """

    def __init__(self, item: Item) -> None:
        self.item = item
        self.kind = item.kind
        self._parts = tuple(Ready(part) for part in item.parts)
        self._pieces: Decomposition | None = None

    @cached_property
    def around(self) -> ConvexShape | None:
        """A convex shape that it is, or that a mesh is within; None for a compound."""
        item, geometry = self.item, self.item.geometry
        if self._parts or self.kind == COMPOUND:
            return None
        if self.kind in PRIMITIVES:
            at_origin = item.choice.source == "rigid_body"
            return collision_shape.fitted(self.kind, *geometry.bounds, item.linear, item.translation, at_origin)
        if geometry.is_box:
            return Box.from_matrix(item.matrix, *geometry.bounds)
        return geometry.hull.transformed(item.matrix)

    @cached_property
    def solid(self) -> Solid:
        """What it collides as."""
        if self._parts:
            return self._joined.compound
        item = self.item
        if self.kind == MESH:
            geometry = item.geometry
            return placed_mesh(self.kind, geometry.points, geometry.triangles, item.linear, item.translation)
        if self.kind == COMPOUND:
            return Compound(self.make_pieces().pieces)
        assert self.around is not None
        return self.around

    @cached_property
    def _joined(self) -> Joined:
        return joined(
            Part(part.item.name, part.solid, part.make_pieces if part.has_mesh else None) for part in self._parts
        )

    @property
    def is_alone(self) -> bool:
        """Whether it is convex, so that it is the solid that is `around`."""
        return not self._parts and self.kind not in (MESH, COMPOUND)

    def make_pieces(self, progress: Progress | None = None) -> Decomposition:
        """Return the convex pieces that stand for its mesh, in world space; made once. Raises Cancelled."""
        if self._pieces is None:
            found = self.item.geometry.pieces(progress)
            self._pieces = placed_pieces(found, self.item.linear, self.item.translation)
        return self._pieces

    @cached_property
    def stands(self) -> tuple[int, str, float] | None:
        """Of a compound whose pieces are not exact: how many, why not, and how far its surface is from theirs."""
        if self._parts:
            told = self._joined
            return None if told.exact else (len(told.compound.pieces), told.reason, told.distance)
        if self.kind != COMPOUND or self.make_pieces().exact:
            return None
        found = self.make_pieces()
        return len(found.pieces), found.reason or found.message, found.distance

    @property
    def has_mesh(self) -> bool:
        """Whether it is made of a mesh, of which there are pieces."""
        return self.kind in (MESH, COMPOUND) and not self._parts

    @cached_property
    def extent(self) -> float:
        """Diagonal of the bounding box."""
        return extent_of(self.solid if self.around is None else self.around)

    @cached_property
    def step(self) -> float:
        """Blender units: spacing of float32 at the largest coordinate that took part."""
        if self._parts:
            return max(part.step for part in self._parts)
        item, geometry = self.item, self.item.geometry
        corners = geometry.hull.vertices @ item.linear.T + item.translation
        return step_at(float(np.abs(corners).max()), geometry.magnitude, item.linear)

    @property
    def weight(self) -> int:
        """About how many triangles are kept with it."""
        own = 0 if self.is_alone else len(self.item.geometry.triangles)
        return max(own, sum(part.weight for part in self._parts))


class _Things:
    """The last few things as they collide."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._kept: OrderedDict[int, Ready] = OrderedDict()
        self._weight = 0

    def __getitem__(self, k: int) -> Ready:
        ready = self._kept.get(k)
        if ready is None:
            ready = self._kept[k] = Ready(self._items[k])
            self._weight += ready.weight
            while len(self._kept) > KEPT or (self._weight > KEPT_TRIANGLES and len(self._kept) > 2):
                self._weight -= self._kept.popitem(last=False)[1].weight
        else:
            self._kept.move_to_end(k)
        return ready


# --- contacts -------------------------------------------------------------------------------------------------------


def check(subject: Subject, progress: Progress | None = None) -> Outcome:
    """Find every pair of the subject that collides or is within the clearance.

    `progress` is called with the share done; when it says False, what is found so far is returned, marked partial.
    """
    outcome = Outcome([], [], {}, set(), list(subject.skipped), 0, False)
    items, progress = subject.items, rising(progress)
    if not items:
        return outcome
    try:
        low, high, problems = bounds_of(items, part_of(progress, 0.0, BOUNDS))
        outcome.skipped += [Skipped(items[k].name, f"'{items[k].name}' {why}") for k, why in sorted(problems.items())]
        outcome.unchecked.update(frozenset((items[k].key,)) for k in problems)
        pairs = _candidates(subject, low, high, set(problems), part_of(progress, BOUNDS, BOUNDS))
        wanted = []
        for i, j in pairs:
            why = subject.ignore.why(items[i], items[j])
            if why:
                outcome.ignored[why] = outcome.ignored.get(why, 0) + 1
                outcome.ignored_pairs.add(frozenset((items[i].key, items[j].key)))
            else:
                wanted.append((i, j))
        outcome.candidates = len(wanted)
        read = _find_kinds(items, wanted, progress)
    except Cancelled:
        outcome.partial = True
        return outcome
    costs = _Costs.of(items, wanted)
    looking, again = float(costs.total.sum()), FOUND * COST_ALONE * min(MOST_VERIFIED, costs.convex)
    verifying = read + (1.0 - read) * (looking / (looking + again) if wanted else 0.0)
    check_pairs(items, wanted, subject, outcome, costs, part_of(progress, read, verifying))

    def rank(found: PairFound) -> tuple[float, str, str]:
        return found.row["signed_distance"] or 0.0, items[found.a].name, items[found.b].name

    outcome.found.sort(key=rank)
    if not outcome.partial:
        _look_again(items, subject, outcome.found, part_of(progress, verifying, 1.0))
        outcome.found.sort(key=rank)
    outcome.rows = rows(items, outcome)
    return outcome


def _find_kinds(items: Sequence[Item], pairs: Sequence[tuple[int, int]], progress: Progress | None) -> float:
    """Find what the things of some pairs collide as, for which hulls are made; return the share of a check that is
    done then. Raises Cancelled.

    Only this shows which meshes are dented, and pairs of these take longest: what is not known yet is taken to be like
    what is.
    """
    involved = sorted({k for pair in pairs for k in pair})
    groups = _by_geometry(items, involved)
    costs = [COST_OF_TRIANGLE * len(one.triangles) + COST_OF_ITEM * len(members) for one, members in groups.items()]
    before = np.cumsum([0.0, *costs]) / max(sum(costs), COST_OF_ITEM)
    known = dented = 0

    def share_of_hulls() -> float:
        convex = len(pairs) * (1.0 - dented / max(known, 1)) ** 2
        rest = convex * COST_OF_HULLS + min(MOST_VERIFIED, convex) * FOUND * COST_ALONE
        rest += (len(pairs) - convex) * COST_OF_MESHES
        return (1.0 - BOUNDS) * sum(costs) / max(sum(costs) + rest, COST_OF_ITEM)

    share, good_until = share_of_hulls(), 0.0
    for members, done in zip(groups.values(), before.tolist(), strict=False):
        if done >= good_until:
            share, good_until = share_of_hulls(), done + LOOK
        tell(progress, BOUNDS + done * share)
        for k in members:
            item = items[k]
            known += 1
            dented += item.kind in (MESH, COMPOUND) or bool(item.parts)
            if item.kind == CONVEX_HULL:
                _ = item.geometry.is_box  # makes the hull, which was not needed to know the kind when it was chosen
    share = share_of_hulls()
    tell(progress, BOUNDS + share)
    return BOUNDS + share


@dataclass(frozen=True, eq=False)
class _Costs:
    """About how long pairs take, for progress."""

    together: FloatArray
    """(p,) of each looked at together with the others."""
    alone: FloatArray
    """(p,) of each looked at by itself, where that is needed."""
    is_convex: NDArray[np.bool_]
    """(p,) whether both are: such pairs are settled together where there are some."""

    @classmethod
    def of(cls, items: Sequence[Item], pairs: Sequence[tuple[int, int]]) -> _Costs:
        numbers = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        box, convex = np.zeros(len(items), dtype=bool), np.zeros(len(items), dtype=bool)
        for k in np.unique(numbers).tolist():
            item = items[k]
            convex[k] = item.kind not in (MESH, COMPOUND) and not item.parts
            box[k] = item.kind == CONVEX_HULL and item.geometry.is_box
        both: NDArray[np.bool_] = np.all(convex[numbers], axis=1)
        together = np.where(box[numbers].all(axis=1), COST_OF_BOXES, COST_OF_HULLS)
        return cls(together, np.where(both, COST_ALONE, COST_OF_MESHES), both)

    @cached_property
    def total(self) -> FloatArray:
        """(p,) of each, all that is to be expected."""
        alone = self.alone if self.convex < FEW else np.where(self.is_convex, 0.0, self.alone)
        total: FloatArray = self.together + alone
        return total

    @cached_property
    def convex(self) -> int:
        """How many pairs are convex."""
        return int(self.is_convex.sum())

    def some(self, begin: int, end: int) -> _Costs:
        """Return those of some pairs."""
        return _Costs(self.together[begin:end], self.alone[begin:end], self.is_convex[begin:end])


def _look_again(items: Sequence[Item], subject: Subject, found: list[PairFound], progress: Progress | None) -> None:
    """Find the contact of the first pairs that were answered together by itself, which has a certificate to check.

    Nothing is missing when `progress` says that it is enough: what is left has not been checked again.
    """
    things = _Things(items)
    left = [k for k, pair in enumerate(found) if pair.row["verified"] is None][:MOST_VERIFIED]
    try:
        for done, k in enumerate(left):
            tell(progress, done / len(left))
            pair = found[k]
            a, b = things[pair.a], things[pair.b]
            row = row_of(answer_of(contact_of(a, b, subject), a, b), a, b, subject.units)
            if row["relation"] != pair.row["relation"]:
                wrong = "The answer did not pass its own check (the same relation): please report it"
                row = {**pair.row, "verified": False, "notes": [*pair.row["notes"], wrong]}
            found[k] = replace(pair, row=row)
    except Cancelled:
        return


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
    pairs: list[tuple[int, int]],
    subject: Subject,
    outcome: Outcome,
    costs: _Costs,
    progress: Progress | None = None,
) -> None:
    """Find the contact of each pair and put it into the outcome; stop, and mark that, when `progress` says so.

    This is the one place where pairs are decided.
    """
    things = _Things(items)
    before = np.concatenate([[0.0], np.cumsum(costs.total)])
    before /= max(float(before[-1]), 1.0)
    begin, size = 0, FIRST_BATCH
    while begin < len(pairs):
        some = pairs[begin : begin + size]
        end = begin + len(some)
        here = part_of(progress, float(before[begin]), float(before[end]))
        try:
            tell(here, 0.0)
            _check_some(items, some, things, subject, outcome, costs.some(begin, end), here)
        except Cancelled:
            outcome.partial = True
            return
        begin, size = end, min(2 * size, BATCH)


def _check_some(
    items: Sequence[Item],
    pairs: list[tuple[int, int]],
    things: _Things,
    subject: Subject,
    outcome: Outcome,
    costs: _Costs,
    progress: Progress | None,
) -> None:
    share = 0.8 * float(costs.together.sum() / costs.total.sum())
    within = _within_convex(pairs, things, part_of(progress, 0.0, 0.4 * share))
    apart, told = _together(pairs, within, things, subject, part_of(progress, 0.4 * share, share))
    left = [0.0 if k in apart else COST_OF_WORDS if k in told else float(costs.alone[k]) for k in range(len(pairs))]
    before = np.concatenate([[0.0], np.cumsum(left)])
    before = share + (1.0 - share) * before / max(float(before[-1]), COST_OF_WORDS)
    for k, (i, j) in enumerate(pairs):
        here = part_of(progress, float(before[k]), float(before[k + 1]))
        tell(here, 0.0)
        if k in apart:
            outcome.cleared.append((i, j))
            continue
        try:
            a, b = things[i], things[j]
            answer = told.get(k) or answer_of(contact_of(a, b, subject, here), a, b)
        except ValueError as error:
            one, other = items[i].name, items[j].name
            reason = f"'{one}' and '{other}' cannot be checked: {error}"
            outcome.skipped.append(Skipped(f"{one} and {other}", reason))
            outcome.unchecked.add(frozenset((items[i].key, items[j].key)))
            continue
        if answer.relation == Relation.SEPARATED or (answer.relation == Relation.TOUCHING and not subject.touching):
            outcome.cleared.append((i, j))
        else:
            outcome.found.append(PairFound(i, j, row_of(answer, a, b, subject.units)))


def _within_convex(pairs: list[tuple[int, int]], things: _Things, progress: Progress | None) -> list[int]:
    """Return which pairs are convex shapes or within such: those can be looked at together. Makes these shapes."""
    rows = []
    for k, (i, j) in enumerate(pairs):
        tell(progress, k / len(pairs))
        try:
            around = things[i].around, things[j].around
        except ValueError:  # told by the single way
            continue
        if None not in around:
            rows.append(k)
    return rows


def _together(
    pairs: list[tuple[int, int]], rows: list[int], things: _Things, subject: Subject, progress: Progress | None
) -> tuple[set[int], dict[int, Answer]]:
    """Return which of the pairs are apart by more than clearance and tolerance, and what is known of the others.

    rows: the pairs to look at. A pair in neither is one that must be looked at by itself.
    """
    if len(rows) < FEW:
        return set(), {}
    places: dict[int, int] = {}
    numbers = [[places.setdefault(i, len(places)) for i in pairs[k]] for k in rows]
    shapes: list[ConvexShape] = [things[i].around for i in places]
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
        a, b = (things[i] for i in pairs[k])
        # The tolerance of a call is that of all its pairs; that of this one may be coarser.
        tolerance, lower = _tolerance(a, b, subject), float(found.lower_bound[row])
        if relations[row] == Relation.SEPARATED:
            extents = [extent for extent in (a.extent, b.extent) if extent > 0.0]
            if lower > max(subject.clearance, tolerance * min(extents, default=0.0)):
                apart.add(k)
        elif tolerance == subject.contact_tolerance and a.is_alone and b.is_alone:
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
                reason=statuses[row].reason,
            )
    return apart, told


def _tolerance(a: Ready, b: Ready, subject: Subject) -> float:
    return tolerance_for(subject.contact_tolerance, (a.extent, b.extent), (a.step, b.step))


def contact_of(a: Ready, b: Ready, subject: Subject, progress: Progress | None = None) -> Contact | Found:
    """Find the contact of two things. Raises ValueError when it cannot be told, and Cancelled."""
    progress = rising(progress)
    make_pieces = [
        partial(thing.make_pieces, part_of(progress, 0.2 * k, 0.2 * (k + 1))) if thing.has_mesh else None
        for k, thing in enumerate((a, b))
    ]
    return find(
        a.solid,
        b.solid,
        (make_pieces[0], make_pieces[1]),
        "auto",
        subject.clearance,
        _tolerance(a, b, subject),
        (a.item.choice.kind == AUTOMATIC, b.item.choice.kind == AUTOMATIC),
        part_of(progress, 0.4, 1.0),
    )


def contact_between(
    a: Item, b: Item, clearance: float, contact_tolerance: float, progress: Progress | None = None
) -> tuple[Ready, Ready, Contact | Found]:
    """Return two things as they collide, and their contact. Raises ValueError when that cannot be told; Cancelled."""
    one, other = Ready(a), Ready(b)
    subject = Subject([a, b], None, [0, 1], Ignore(), clearance, contact_tolerance, True)
    return one, other, contact_of(one, other, subject, progress)


def answer_of(found: Contact | Found, a: Ready, b: Ready) -> Answer:
    """Return what is told of a contact, checked again."""
    reason = found.reason if isinstance(found, Found) else found.status.reason
    checks = [(check.name, check.ok) for check in checked(found, a.solid, b.solid).checks]
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
        reason=reason,
        notes=found.notes if isinstance(found, Found) else (),
        has_depth=not isinstance(found, Found) or found.has_depth,
        of_pieces=isinstance(found, Found) and found.of_pieces is not None,
        failed=tuple(answer_words.failed_checks(checks, reason)),
    )


def row_of(found: Answer, a: Ready, b: Ready, units: UnitFormat) -> dict[str, Any]:
    """Return a contact as plain data: world space, Blender units; the lengths in its notes in those of the scene."""
    region = found.region
    kind: str | None = None
    if isinstance(region, Found):
        kind = "regions" if region.regions else "curves" if region.curves else None
    elif region is not None:
        kind = str(region.kind)
    depth = max(0.0, -found.signed_distance)
    centroid = None if region is None else region.centroid
    row = {
        "relation": str(found.relation),
        "intersects": region.intersects if isinstance(region, Found) else found.signed_distance <= 0.0,
        "has_depth": found.has_depth,
        "of_pieces": found.of_pieces,
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
        "exactness": found.status,
        "verified": None if found.failed is None else not found.failed,
        "notes": [*_notes_of(a, units), *_notes_of(b, units), *_notes_of_answer(found, a, b, units)],
    }
    return row if found.has_depth else {**row, **dict.fromkeys(OF_DEPTH)}


def _notes_of(thing: Ready, units: UnitFormat) -> list[str]:
    """What to know of how a thing collides."""
    item, words = thing.item, WORDS[thing.kind]
    notes = []
    if item.choice.note:
        instead = "" if item.choice.source == "rigid_body" else f": its {words} is checked"
        notes.append(f"'{item.name}' {item.choice.note}{instead}")
    if thing.kind in PRIMITIVES and thing.around is not None:
        out = collision_shape.sticks_out(thing.around, item.geometry.hull.vertices @ item.linear.T + item.translation)
        if out > RESOLUTION_STEPS * thing.step:
            notes.append(answer_words.sticks_out_words(item.name, words, out, units))
    if thing.kind == CONVEX_HULL and not item.is_convex:
        notes.append(f"'{item.name}' is not convex: its hull is checked")
    if thing.stands is not None:
        notes.append(answer_words.pieces_words(item.name, *thing.stands, units))
    return notes


def _notes_of_answer(found: Answer, a: Ready, b: Ready, units: UnitFormat) -> list[str]:
    """What to know of an answer."""
    names = a.item.name, b.item.name
    notes = [answer_words.named(note.words(units.length), names) for note in found.notes]
    depth = max(0.0, -found.signed_distance)
    bounds = found.lower_bound, found.upper_bound
    why = answer_words.reason_words(found.reason, found.status, found.has_depth, found.of_pieces, depth, bounds, units)
    if why:
        notes.append(why)
    if found.failed:
        notes.append(f"The answer did not pass its own check ({', '.join(found.failed)}): please report it")
    return notes


def without(outcome: Outcome, items: Sequence[Item], changed: frozenset[Key]) -> Outcome:
    """Return what a check found without what it says of things that have changed meanwhile; these are left out."""
    if not changed:
        return outcome

    def holds(a: int, b: int) -> bool:
        return items[a].key not in changed and items[b].key not in changed

    kept = [holds(found.a, found.b) for found in outcome.found]
    names = [item.name for item in items if item.key in changed]
    return replace(
        outcome,
        found=[found for found, keep in zip(outcome.found, kept, strict=True) if keep],
        rows=[row for row, keep in zip(outcome.rows, kept, strict=True) if keep],
        cleared=[pair for pair in outcome.cleared if holds(*pair)],
        skipped=[
            *(Skipped(name, f"'{name}' changed while the scene was checked: check again") for name in names),
            *outcome.skipped,
        ],
    )


def _told(item: Item) -> dict[str, Any]:
    """Return a thing of a pair as plain data."""
    return {
        "name": item.name,
        "object": item.object_name,
        "instancer": item.instancer_name,
        "instance": item.key[2] or None,
        "checked_as": item.kind.lower(),
        "convex": item.is_convex,
    }


def rows(items: Sequence[Item], outcome: Outcome) -> list[dict[str, Any]]:
    """Return the findings as plain data, deepest first."""
    return [{"a": _told(items[found.a]), "b": _told(items[found.b]), **found.row} for found in outcome.found]
