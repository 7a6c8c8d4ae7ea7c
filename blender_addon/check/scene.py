# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene check: the contact of every pair of objects that may collide. Knows nothing of Blender: for any thread.

1. Bounds of all objects, and the pairs whose bounds meet (`candidates`).
2. Pairs that a rule ignores are left out.
3. Pairs with convex bounds are answered together by `contacts`, those apart and those of convex shapes for good.
4. Every other pair is checked by itself (`check_pair`).
5. What collides, touches or is within the clearance is a clash, compared with what the user approved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from ...core.contacts import contacts
from ...core.meshes.decomposition import Decomposition
from ...core.note import Note
from ...core.progress import Cancelled, Progress, equal_parts, report_progress, subrange, tracked
from ...core.result import Relation, Status
from ...core.shapes.curved_shape import ConvexShape
from ...core.types import FloatArray
from ..data.records import Approval, Key, Pair, Settings, Skipped
from ..read.collision_shape import RESOLUTION_STEPS
from ..read.scene_objects import CheckInput, SceneObject
from ..read.world_shape import WorldShape, WorldShapeCache
from ..report import messages
from .candidates import bounds_of, candidates
from .pair import PairResult, check_pair, pair_tolerance
from .pair_contact import center_of, is_convex

CHUNK = 2_000
"""Pairs that are answered together."""
FIRST_CHUNK = 125
"""The first chunks are smaller: when a check is stopped, some pairs are done."""
BOUNDS = 0.1
"""Fraction of the progress of a check after which the candidate pairs are known."""
TOGETHER = 0.1
"""The same of a chunk, after which its pairs with convex bounds are answered."""
SAME_RELATION = "the same relation"
"""The check that a clash fails whose relation is another when it is checked by itself."""


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
    shape_a: ShapeFacts
    shape_b: ShapeFacts
    resolution: float
    """Smaller differences of the signed distance are not known."""
    notes: tuple[Note, ...] = ()
    has_depth: bool = True
    """False where surfaces meet of which one is open."""
    of_pieces: bool = False
    """Whether the depth is that of convex pieces, because a surface is open."""
    checks: tuple[tuple[str, bool], ...] | None = None
    """Name and outcome of each check of `verify`; None where it was not verified."""
    approval: Approval | None = None
    """The user's."""
    verdict: Verdict | None = None
    """None without an approval."""

    @property
    def depth(self) -> float:
        return max(0.0, -self.signed_distance)

    @property
    def approved_distance(self) -> float | None:
        """The signed distance that an approval is compared with; None where there is no depth."""
        return self.signed_distance if self.has_depth else None


@dataclass(eq=False)
class Outcome:
    """The result of a scene check."""

    clashes: list[Clash] = field(default_factory=list)
    """Deepest first."""
    cleared: list[tuple[int, int]] = field(default_factory=list)
    """Candidate pairs that were checked and are apart."""
    ignored: dict[str, int] = field(default_factory=dict)
    """How many candidate pairs each rule left out."""
    ignored_pairs: set[Pair] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    candidates: int = 0
    """How many pairs the broad phase left, the ignored ones not counted."""
    partial: bool = False
    """Whether the check was cancelled."""
    approved: list[Clash] = field(default_factory=list)
    """Clashes that are left out because they are no worse than approved; deepest first."""
    unchecked: set[Pair] = field(default_factory=set)
    """Pairs that could not be checked; of one object when it could not be checked at all."""


def check(given: CheckInput, progress: Progress | None = None, verify: bool = False) -> Outcome:
    """Find every pair that collides or is within the clearance.

    progress: called with the fraction done; when it returns False, the clashes found so far are returned, marked
    partial. verify: check every clash again by itself, with a certificate.
    """
    outcome = Outcome(skipped=list(given.skipped))
    progress = subrange(progress, 0.0, 1.0)
    if given.objects:
        run = _Check(given, outcome)
        try:
            pairs = run.find_pairs(subrange(progress, 0.0, BOUNDS))
            outcome.candidates = len(pairs)
            run.check_pairs(pairs, subrange(progress, BOUNDS, 0.9 if verify else 1.0))
            if verify:
                run.verify_clashes(subrange(progress, 0.9, 1.0))
        except Cancelled:
            outcome.partial = True
        if not outcome.partial and progress is not None:
            progress(1.0)  # whatever it returns, all is done
    outcome.clashes.sort(key=lambda c: (c.approved_distance or 0.0, *(given.objects[k].name for k in (c.a, c.b))))
    _compare_with_approvals(given, outcome)
    _clear_nothing_faulty(given.objects, outcome)
    return outcome


def _compare_with_approvals(given: CheckInput, outcome: Outcome) -> None:
    """Give clashes their verdicts, and leave out those that are no worse than approved if that is asked for."""
    clashes, outcome.clashes = outcome.clashes, []
    for clash in clashes:
        key = pair_of(given.objects, clash)
        approval = given.approved.get(key)
        if approval is not None:
            verdict = Verdict.WORSE if approval.is_known else Verdict.UNKNOWN
            if approval.covers(clash.approved_distance, clash.resolution):
                verdict = Verdict.WITHIN
            clash = replace(clash, approval=approval, verdict=verdict)
        if clash.verdict == Verdict.WITHIN and given.rules.ignore_approved:
            outcome.approved.append(clash)
            outcome.ignored["approved"] = outcome.ignored.get("approved", 0) + 1
            outcome.ignored_pairs.add(key)
        else:
            outcome.clashes.append(clash)


def _clear_nothing_faulty(objects: Sequence[SceneObject], outcome: Outcome) -> None:
    """Count objects that Blender may have evaluated wrong as unchecked; their clashes stay."""
    faulty = {obj.key for obj in objects if obj.fault}
    outcome.cleared = [(i, j) for i, j in outcome.cleared if not faulty & {objects[i].key, objects[j].key}]
    outcome.unchecked |= {frozenset((key,)) for key in faulty}


def pair_of(objects: Sequence[SceneObject], clash: Clash) -> Pair:
    """Return the identity of the pair of a clash."""
    return frozenset((objects[clash.a].key, objects[clash.b].key))


class _Check:
    """A scene check that runs."""

    def __init__(self, given: CheckInput, outcome: Outcome) -> None:
        self._given, self._outcome = given, outcome
        self._objects = given.objects
        self._shapes = WorldShapeCache()
        self._settings = Settings("auto", given.rules.clearance, given.rules.contact_tolerance)

    def find_pairs(self, progress: Progress | None) -> list[tuple[int, int]]:
        """Return the pairs that may collide and that no rule ignores. Raises Cancelled."""
        objects, outcome = self._objects, self._outcome
        low, high, problems = bounds_of(objects, subrange(progress, 0.0, 0.5))
        for k, reason in sorted(problems.items()):
            self._skip_object(objects[k], reason)
        pairs = []
        for i, j in candidates(self._given, low, high, set(problems), subrange(progress, 0.5, 1.0)):
            rule = self._given.ignoring_rule(i, j)
            if rule:
                outcome.ignored[rule] = outcome.ignored.get(rule, 0) + 1
                outcome.ignored_pairs.add(frozenset((objects[i].key, objects[j].key)))
            else:
                pairs.append((i, j))
        return pairs

    def check_pairs(self, pairs: list[tuple[int, int]], progress: Progress | None) -> None:
        """Put every pair into the outcome. Raises Cancelled."""
        start, size = 0, FIRST_CHUNK
        while start < len(pairs):
            chunk = pairs[start : start + size]
            end = start + len(chunk)
            self._check_chunk(chunk, subrange(progress, start / len(pairs), end / len(pairs)))
            start, size = end, min(2 * size, CHUNK)

    def _check_chunk(self, pairs: list[tuple[int, int]], progress: Progress | None) -> None:
        report_progress(progress, 0.0)
        apart, clashes = self._answer_together(pairs, subrange(progress, 0.0, TOGETHER))
        singles = subrange(progress, TOGETHER, 1.0)
        for k, (pair, part) in enumerate(equal_parts(pairs, singles)):
            report_progress(part, 0.0)
            if k not in apart:
                clash = clashes[k] if k in clashes else self._check_alone(pair, part)
                if clash is None:
                    continue
                if clash.relation != Relation.SEPARATED and (
                    clash.relation != Relation.TOUCHING or self._given.rules.touching
                ):
                    self._outcome.clashes.append(clash)
                    continue
            self._outcome.cleared.append(pair)

    def _answer_together(
        self, pairs: list[tuple[int, int]], progress: Progress | None
    ) -> tuple[set[int], dict[int, Clash]]:
        """Return which of the pairs, by index, are apart by more than clearance and tolerance, and the contacts of
        convex shapes. Any other pair must be checked by itself."""
        bounds: dict[int, ConvexShape | None] = {}
        for i, j in tracked(pairs, subrange(progress, 0.0, 0.5)):
            bounds |= {n: self._convex_bound(n) for n in (i, j) if n not in bounds}
        rows = [k for k, (i, j) in enumerate(pairs) if bounds[i] is not None and bounds[j] is not None]
        apart: set[int] = set()
        clashes: dict[int, Clash] = {}
        if not rows:
            return apart, clashes
        places = {n: place for place, n in enumerate(dict.fromkeys(n for k in rows for n in pairs[k]))}
        found = contacts(
            [bound for n in places if (bound := bounds[n]) is not None],
            [[places[n] for n in pairs[k]] for k in rows],
            clearance=self._settings.clearance,
            contact_tolerance=self._settings.contact_tolerance,
            distances=False,
            certificates=False,
            progress=subrange(progress, 0.5, 1.0),
        )
        relations, statuses, centers = found.relation, found.status, found.center
        for row, k in enumerate(rows):
            a, b = (self._shapes.of(self._objects[n]) for n in pairs[k])
            # The tolerance of the call is that of all its pairs; that of this one may be coarser.
            tolerance, lower = pair_tolerance(a, b, self._settings.contact_tolerance), float(found.lower_bound[row])
            if relations[row] == Relation.SEPARATED:
                smaller = min((extent for extent in (a.extent, b.extent) if extent > 0.0), default=0.0)
                if lower > max(self._settings.clearance, tolerance * smaller):
                    apart.add(k)
            elif tolerance == self._settings.contact_tolerance and a.is_convex and b.is_convex:
                region = found.region[row]
                clashes[k] = Clash(
                    *pairs[k],
                    relation=relations[row],
                    intersects=bool(found.signed_distance[row] <= 0.0),
                    signed_distance=float(found.signed_distance[row]),
                    normal=found.normal[row],
                    point_on_a=found.point_on_a[row],
                    point_on_b=found.point_on_b[row],
                    center=centers[row],
                    lower_bound=lower,
                    upper_bound=float(found.upper_bound[row]),
                    region=None if region is None else str(region.kind),
                    area=0.0 if region is None else float(region.area),
                    centroid=None if region is None else region.centroid,
                    status=str(statuses[row]),
                    reason=statuses[row].reason,
                    shape_a=ShapeFacts.of(a),
                    shape_b=ShapeFacts.of(b),
                    resolution=RESOLUTION_STEPS * max(a.step, b.step),
                )
        return apart, clashes

    def _convex_bound(self, k: int) -> ConvexShape | None:
        try:
            return self._shapes.of(self._objects[k]).convex_bound
        except ValueError:  # reported when the pair is checked by itself
            return None

    def _check_alone(self, pair: tuple[int, int], progress: Progress | None, verify: bool = False) -> Clash | None:
        """Return the contact of a pair; None, with the reason in the outcome, where it cannot be checked."""
        objects = [self._objects[k] for k in pair]
        for obj in objects:
            if frozenset((obj.key,)) in self._outcome.unchecked:
                return None
            try:
                self._shapes.of(obj).prepare(subrange(progress, 0.0, 0.4))
            except ValueError as error:
                self._skip_object(obj, str(error))
                return None
        a, b = (self._shapes.of(obj) for obj in objects)
        try:
            result = check_pair(a, b, self._settings, subrange(progress, 0.4, 1.0))
            return _clash(pair, result, (a, b), verify)
        except ValueError as error:
            name_a, name_b = (obj.name for obj in objects)
            reason = messages.pair_not_checked(name_a, name_b, error)
            self._outcome.skipped.append(Skipped(f"{name_a} and {name_b}", reason, kind="pair"))
            self._outcome.unchecked.add(frozenset(obj.key for obj in objects))
            return None

    def _skip_object(self, obj: SceneObject, reason: str) -> None:
        self._outcome.skipped.append(Skipped(obj.name, messages.about(obj.name, reason)))
        self._outcome.unchecked.add(frozenset((obj.key,)))

    def verify_clashes(self, progress: Progress | None) -> None:
        """Check every clash again by itself, with a certificate. Raises Cancelled; the others are not verified then."""
        clashes = self._outcome.clashes
        for k, clash in enumerate(tracked(clashes, progress)):
            again = self._check_alone((clash.a, clash.b), None, verify=True)
            if again is not None and again.relation == clash.relation:
                clashes[k] = again
            else:
                clashes[k] = replace(clash, checks=((SAME_RELATION, False),))


def _clash(pair: tuple[int, int], result: PairResult, shapes: tuple[WorldShape, WorldShape], verify: bool) -> Clash:
    """Return a contact as a clash."""
    contact, region = result.contact, result.contact.region
    if is_convex(contact):
        kind = None if region is None else str(region.kind)
    else:
        kind = "regions" if contact.regions else "curves" if contact.curves else None
    return Clash(
        *pair,
        relation=contact.relation,
        intersects=contact.intersects,
        signed_distance=float(contact.signed_distance),
        normal=contact.normal,
        point_on_a=contact.point_on_a,
        point_on_b=contact.point_on_b,
        center=contact.center,
        lower_bound=float(contact.lower_bound),
        upper_bound=float(contact.upper_bound),
        region=kind,
        area=contact.area,
        centroid=center_of(contact),
        status=str(contact.status),
        reason=contact.reason,
        shape_a=ShapeFacts.of(shapes[0]),
        shape_b=ShapeFacts.of(shapes[1]),
        resolution=result.resolution,
        notes=contact.notes,
        has_depth=contact.has_depth,
        of_pieces=contact.status is Status.OF_PIECES,
        checks=tuple((check.name, check.ok) for check in result.verify().checks) if verify else None,
    )


def without(outcome: Outcome, objects: Sequence[SceneObject], changed: frozenset[Key]) -> Outcome:
    """Return an outcome without the pairs of objects that have changed meanwhile; these are left out."""
    if not changed:
        return outcome

    def is_valid(a: int, b: int) -> bool:
        return changed.isdisjoint((objects[a].key, objects[b].key))

    skipped = [
        Skipped(obj.name, messages.changed_while_checked(obj.name), kind="changed")
        for obj in objects
        if obj.key in changed
    ]
    return replace(
        outcome,
        clashes=[clash for clash in outcome.clashes if is_valid(clash.a, clash.b)],
        cleared=[pair for pair in outcome.cleared if is_valid(*pair)],
        approved=[clash for clash in outcome.approved if is_valid(clash.a, clash.b)],
        skipped=[*skipped, *outcome.skipped],
    )
