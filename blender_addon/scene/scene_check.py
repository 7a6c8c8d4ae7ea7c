# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene check: the contact of every pair of objects that may collide. Knows nothing of Blender: for any thread.

1. Bounds of all objects, and the pairs whose bounds meet (`candidates`).
2. Pairs that a rule ignores are left out.
3. Pairs with convex bounds are answered together by `contacts`, those apart and those of convex shapes for good.
4. So are the relations of all others; depths of meshes are searched pair by pair (`check_pair`), the deepest first.
5. What collides, touches or is within the clearance is a clash, compared with what the user approved.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...core.broad_phase.pair_order import pair_order, split_pairs
from ...core.many.contacts import contacts
from ...core.measures.overlap_volume import overlap_volume
from ...core.progress import Cancelled, Progress, equal_parts, report_progress, subrange, tracked
from ...core.result import Relation
from ...core.shapes.curved_shape import CurvedShape
from ...core.types import IntArray
from ..data import messages
from ..data.collision_kinds import PRIMITIVES
from ..data.records import FIRST_ANSWER, Key, Pair, Settings, Shard, Skipped
from ..geometry.collision_shape import RESOLUTION_STEPS
from ..measure.pair_measures import OVERLAPPING
from ..pair.margins import Margins
from ..pair.pair_check import check_pair, pair_tolerance
from ..read.scene_objects import CheckInput, SceneObject
from . import coarse, depths
from .candidates import Bounds, bounds_of, candidates, digest_of
from .clashes import (
    LEAST_RANKS,
    RELATIONS,
    Clash,
    Clashes,
    ShapeFacts,
    are_without,
    clash_of,
    compared,
    gap_judged,
    rank_of,
)
from .convex_bounds import ConvexBounds
from .decisions import IGNORED, Decision, approvals
from .frame_cache import FoundAlone, FrameCache

CHUNK = 20_000
"""Pairs that are answered together at most."""
FIRST_CHUNK = 125
"""The first chunks are smaller: when a check is stopped, some pairs are done."""
BOUNDS = 0.1
"""Fraction of the progress of a check after which the candidate pairs are known."""
PAIRS = 0.5
"""The same of finding them, after which only their convex bounds are to be made."""
VERIFIED, MEASURED = 0.8, 0.9
"""The same of finding the clashes, where they are verified, and of that, where volumes are computed."""
MESH_PAIRS = 8
"""Pairs of meshes whose relations are found together at most: a check that is stopped loses no more."""
RELATIONS_FOUND = 0.3
"""The same of finding the clashes, after which only depths of meshes are to be searched."""
TOGETHER = 0.1
"""The same of a chunk, after which its pairs with convex bounds are answered."""
SAME_RELATION = "the same relation"
"""The check that a clash fails whose relation is another when it is checked by itself."""


@dataclass(eq=False)
class Outcome:
    """The result of a scene check."""

    clashes: Clashes = field(default_factory=Clashes.none)
    """Deepest first."""
    facts: dict[int, ShapeFacts] = field(default_factory=dict)
    """By index, of the objects that are in clashes."""
    cleared: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.intp))
    """(n, 2) candidate pairs, by the indices of their objects, that were checked and are apart."""
    ignored: dict[str, int] = field(default_factory=dict)
    """How many candidate pairs each rule left out."""
    ignored_pairs: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.intp))
    """(n, 2) these pairs, by the indices of their objects."""
    skipped: list[Skipped] = field(default_factory=list)
    bounds: Bounds | None = None
    """Of all objects; None where these could not be found in time."""
    candidates: int = 0
    """How many pairs the broad phase left, the ignored ones not counted."""
    shards_digest: str | None = None
    """Of all candidate pairs, and of how they are cut into shards; None where they are not."""
    partial: bool = False
    """Whether the check was cancelled."""
    approved: Clashes = field(default_factory=Clashes.none)
    """Clashes that are left out because they are no worse than approved; deepest first."""
    unchecked: set[Pair] = field(default_factory=set)
    """Pairs that could not be checked; of one object when it could not be checked at all."""
    decided: Mapping[Pair, Decision] = field(default_factory=dict)
    """What was decided beside the file about clashes that were found."""


def check(
    given: CheckInput,
    progress: Progress | None = None,
    verify: bool = False,
    known: FrameCache | None = None,
    found: Callable[[int], None] | None = None,
    shard: Shard | None = None,
    decide: Callable[[Clashes], Mapping[Pair, Decision]] | None = None,
    begin: Callable[[str], None] | None = None,
) -> Outcome:
    """Find every pair that collides or is within the clearance.

    progress: called with the fraction done; when it returns False, the clashes found so far are returned, marked
    partial. verify: check every clash again by itself, with a certificate. known: what the checks of other frames of
    the scene have found, which saves time. found: called with the number of clashes whenever there are more. shard:
    check these candidate pairs only. decide: returns what is decided about clashes beside the file; it overrides
    what the file says. begin: called with what is done next, in words.
    """
    without_surface = {frozenset((obj.key,)) for obj in given.without_surface}
    outcome = Outcome(skipped=list(given.skipped), unchecked=without_surface)
    progress = subrange(progress, 0.0, 1.0)
    if given.objects:
        run = _RunningCheck(given, outcome, known or FrameCache(follows=False), found, begin)
        try:
            pairs = run.find_pairs(subrange(progress, 0.0, BOUNDS), shard)
            outcome.candidates = len(pairs)
            ends = VERIFIED if verify else MEASURED if given.rules.volume else 1.0
            run.check_pairs(pairs, subrange(progress, BOUNDS, ends))
            run.keep_found()
            if verify:
                run.verify_clashes(subrange(progress, ends, MEASURED if given.rules.volume else 1.0))
            if given.rules.volume:
                run.measure_overlaps(subrange(progress, MEASURED, 1.0))
        except Cancelled:
            outcome.partial = True
            run.keep_found()
        if not outcome.partial and progress is not None:
            progress(1.0)  # whatever it returns, all is done
        outcome.clashes = outcome.clashes.deepest_first(given.objects)
        run.apply_decisions({} if decide is None else decide(outcome.clashes))
        run.note_coarse()
    _clear_nothing_faulty(given.objects, outcome)
    return outcome


def _clear_nothing_faulty(objects: Sequence[SceneObject], outcome: Outcome) -> None:
    """Count objects that Blender may have evaluated wrong as unchecked; their clashes stay."""
    faulty = {obj.key for obj in objects if obj.fault}
    if faulty:
        outcome.cleared = outcome.cleared[are_without(outcome.cleared, objects, faulty)]
        outcome.unchecked |= {frozenset((key,)) for key in faulty}


class _RunningCheck:
    """A scene check that runs."""

    def __init__(
        self,
        given: CheckInput,
        outcome: Outcome,
        known: FrameCache,
        found: Callable[[int], None] | None,
        begin: Callable[[str], None] | None,
    ) -> None:
        self._given, self._outcome, self._known = given, outcome, known
        self._report_found, self._report_phase = found, begin
        self._objects = given.objects
        self._shapes = known.shapes
        known.next_frame()
        budget = None if given.rules.depth == depths.EXACT else FIRST_ANSWER
        self._settings = Settings("auto", given.rules.clearance, given.rules.contact_tolerance, budget=budget)
        self._margins = Margins(given.objects)
        self._widest = given.rules.clearance
        self._found: list[Clashes] = []
        self._cleared: list[IntArray] = []
        self._open: list[IntArray] = []
        """Pairs (n, 2) whose relation may be another within the resolution of their coordinates."""
        self._unsearched: list[tuple[Clash, int]] = []
        """Clashes of which the depth is still to be searched, and their `rank_of`."""
        self._decided: list[IntArray] = [np.zeros((0, 2), np.intp)]
        """Clashes (n, 2) that are left out as the user decided."""

    def find_pairs(self, progress: Progress | None, shard: Shard | None) -> IntArray:
        """Return the pairs (n, 2) that may collide, all or those of a shard, and that no rule ignores. Raises
        Cancelled."""
        objects = self._objects
        self._begin("bounding boxes")
        self._outcome.bounds = bounds_of(objects, subrange(progress, 0.0, 0.5 * PAIRS))
        low, high, problems = self._outcome.bounds
        for k, reason in sorted(problems.items()):
            self._skip_object(objects[k], reason)
        self._begin("pairs that are close")
        part = subrange(progress, 0.5 * PAIRS, PAIRS)
        pairs = candidates(self._given, low, high, set(problems), self._margins, part)
        if shard is not None:
            shards = [pairs[rows] for rows in split_pairs(low, high, pairs, shard.count)]
            self._outcome.shards_digest = digest_of(objects, shards)
            pairs = shards[shard.number - 1]
        ignored = self._given.ignored_rows(pairs)
        for name, rows in ignored.items():
            self._ignore(name, pairs[rows])
        left = np.ones(len(pairs), dtype=bool)
        left[np.concatenate([np.zeros(0, np.intp), *ignored.values()])] = False
        pairs = pairs[left]
        self._widest = max(self._given.rules.clearance, float(self._margins.most(pairs).max(initial=0.0)))
        self._begin("convex hulls")
        before, progress = self._known.pairs_alone, subrange(progress, PAIRS, 1.0)
        self._bounds = ConvexBounds(objects, (low, high), pairs, self._shapes, before, progress)
        return pairs

    def _begin(self, phase: str) -> None:
        if self._report_phase is not None:
            self._report_phase(phase)

    def _ignore(self, rule: str, pairs: IntArray) -> None:
        """Count pairs (n, 2) as ignored by a rule."""
        outcome = self._outcome
        if len(pairs):
            outcome.ignored[rule] = outcome.ignored.get(rule, 0) + len(pairs)
            outcome.ignored_pairs = np.concatenate([outcome.ignored_pairs, pairs])

    def check_pairs(self, pairs: IntArray, progress: Progress | None) -> None:
        """Find the clashes among pairs, and then the depths of meshes. Raises Cancelled."""
        searches = self._given.rules.depth != depths.NONE and not self._bounds.is_convex[pairs].all()
        self._find_relations(pairs, subrange(progress, 0.0, RELATIONS_FOUND if searches else 1.0))
        # Those that are deepest by what is known first: they are there when the check is stopped.
        self._unsearched.sort(key=lambda found: -found[0].signed_distance)
        for _, part in equal_parts(list(self._unsearched), subrange(progress, RELATIONS_FOUND, 1.0)):
            report_progress(part, 0.0)
            clash, _ = self._unsearched[-1]
            found = self._check_alone((clash.a, clash.b), part)
            self._unsearched.pop()
            self._keep_all([found])

    def _find_relations(self, pairs: IntArray, progress: Progress | None) -> None:
        """Find the clashes among pairs, without the depths of meshes. Raises Cancelled."""
        start, size = 0, CHUNK if self._known.follows else FIRST_CHUNK
        while start < len(pairs):
            chunk = pairs[start : start + size]
            end = start + len(chunk)
            self._check_chunk(chunk, subrange(progress, start / len(pairs), end / len(pairs)))
            if len(chunk) < len(pairs):  # the next frame begins with the first pairs, not with the last
                self._known.last = None
            start, size = end, min(2 * size, CHUNK)

    def keep_found(self) -> None:
        """Put what was found into the outcome."""
        self._keep_all(self._unsearched)
        self._unsearched = []
        self._outcome.clashes = Clashes.joined([self._outcome.clashes, *self._found])
        self._outcome.cleared = np.concatenate([self._outcome.cleared, *self._cleared])
        self._found, self._cleared = [], []

    def _check_chunk(self, pairs: IntArray, progress: Progress | None) -> None:
        report_progress(progress, 0.0)
        self._begin("pairs of convex hulls")
        together = 1.0 if self._bounds.is_convex[pairs].all() else TOGETHER
        left = self._answer_together(pairs, subrange(progress, 0.0, together))
        if len(left):
            self._begin("pairs of meshes")
            assert self._outcome.bounds is not None
            # Those near each other one after the other: large meshes are made again less often.
            left = left[pair_order(*self._outcome.bounds[:2], pairs[left])]
        for group, part in equal_parts(self._groups(pairs[left]), subrange(progress, together, 1.0)):
            self._relate(group, part)

    def _groups(self, pairs: IntArray) -> list[IntArray]:
        """Return pairs (n, 2) in groups, of no more shapes than the cache keeps, as each group has all of its own."""
        ends, used, weight = [0], set[int](), 0
        for row, pair in enumerate(pairs.tolist()):
            new = {k: 0 if self._bounds.is_convex[k] else len(self._objects[k].geometry.triangles) for k in pair}
            weight += sum(new[k] for k in new.keys() - used)
            if row - ends[-1] == MESH_PAIRS or weight > self._shapes.triangles:
                ends.append(row)
                used, weight = set(), sum(new.values())
            used |= new.keys()
        return [group for group in np.split(pairs, ends) if len(group)]

    def _relate(self, pairs: IntArray, progress: Progress | None) -> None:
        """Find the clashes among pairs (n, 2) of which one at least is a compound or a mesh, without a depth where that
        takes a search. Raises Cancelled."""
        found: list[tuple[tuple[int, int], FoundAlone]] = []
        left: dict[float, list[tuple[int, int]]] = {}
        for (a, b), part in equal_parts(pairs.tolist(), subrange(progress, 0.0, 0.4)):
            report_progress(part, 0.0)
            if self._are_ready((a, b), part):
                settings, state = self._state((a, b))
                is_curved = any(isinstance(self._shapes.of(self._objects[k]).solid, CurvedShape) for k in (a, b))
                if self._known.recalls(state):
                    found.append(((a, b), self._known.alone((a, b), state, lambda: None)))
                elif is_curved and self._given.rules.depth != depths.NONE:  # its relation takes as long as its depth
                    self._keep_all([self._check_alone((a, b), part)])
                else:
                    left.setdefault(settings.clearance, []).append((a, b))
        for clearance, group in left.items():
            try:
                found += self._relations_of(group, clearance, subrange(progress, 0.4, 1.0))
            except ValueError:  # which says why one of them cannot be checked
                self._keep_all([self._check_alone(pair, None) for pair in group])
        self._cleared.append(np.array([pair for pair, each in found if each is None], np.intp).reshape(-1, 2))
        self._keep_all([each for _, each in found])

    def _relations_of(
        self, pairs: Sequence[tuple[int, int]], clearance: float, progress: Progress | None
    ) -> Iterator[tuple[tuple[int, int], FoundAlone]]:
        """Yield the pairs with what they are, but for those whose depth is still to be searched. Raises Cancelled."""
        used, numbers = np.unique(pairs, return_inverse=True)
        shapes = {k: self._shapes.of(self._objects[k]) for k in used.tolist()}
        self._known.pairs_alone.update(self._objects[k].geometry.digest for pair in pairs for k in pair)
        sides = [(shapes[a], shapes[b]) for a, b in pairs]
        relations = contacts(
            [shape.solid for shape in shapes.values()],
            numbers.reshape(-1, 2),
            clearance=clearance,
            contact_tolerance=[pair_tolerance(a, b, self._settings.contact_tolerance) for a, b in sides],
            budget=self._settings.budget,
            depths=False,
            regions=self._given.rules.touching or clearance > 0.0,
            reproducible=True,
            progress=progress,
        )
        for row, (pair, (a, b)) in enumerate(zip(pairs, sides, strict=True)):
            each: FoundAlone = None
            if relations.relation[row] != Relation.SEPARATED:
                contact = relations.contact(row)
                each = clash_of(pair, contact, RESOLUTION_STEPS * max(a.step, b.step)), rank_of(contact)
                if each[0].status == depths.NOT_SEARCHED and self._given.rules.depth != depths.NONE:
                    self._unsearched.append(each)
                    continue
            yield pair, self._known.alone(pair, self._state(pair)[1], [each].pop)

    def _keep_all(self, found: Sequence[FoundAlone]) -> None:
        """Keep clashes that were found by themselves."""
        known = [(gap_judged(each[0], self._margins, self._settings.clearance), each[1]) for each in found if each]
        if known:
            clashes = Clashes.joined([Clashes.of_single(clash) for clash, _ in known])
            self._note_facts(clashes.pairs)
            self._keep(clashes, np.array([rank for _, rank in known]))

    def _keep(self, clashes: Clashes, ranks: IntArray) -> None:
        """Keep the clashes that the rules ask for, and count the others; ranks (n,): how they touch, see `rank_of`."""
        rules, relations = self._given.rules, clashes.relations
        touching = relations == RELATIONS.index(Relation.TOUCHING)
        is_within = relations == RELATIONS.index(Relation.WITHIN_CLEARANCE)
        is_within &= clashes.column("signed_distance") >= rules.clearance - clashes.column("resolution")
        self._open.append(clashes.pairs[touching | is_within])
        is_clear = (relations == RELATIONS.index(Relation.SEPARATED)) | (touching & (not rules.touching))
        is_small = touching & ~is_clear & (ranks < LEAST_RANKS[rules.least_contact])
        self._cleared.append(clashes.pairs[is_clear])
        if number := int((touching & is_clear).sum()):  # they are known to be no deeper: as good as apart
            self._outcome.ignored["touching"] = self._outcome.ignored.get("touching", 0) + number
        self._ignore("least_contact", clashes.pairs[is_small])
        if (is_clear | is_small).any():
            clashes = clashes.take(np.flatnonzero(~(is_clear | is_small)))
        if len(clashes):
            self._found.append(clashes)
            if self._report_found is not None:
                self._report_found(len(clashes))

    def note_coarse(self) -> None:
        """Count pairs as unchecked whose coordinates are too coarse to say whether they collide, or are within the
        clearance; but for those that the user has decided about."""
        objects, outcome, clearance = self._objects, self._outcome, self._given.rules.clearance
        if outcome.bounds is None:
            return
        low, high, _ = outcome.bounds
        apart = outcome.cleared if clearance > 0.0 else outcome.cleared[:0]
        pairs = np.concatenate([apart, *self._open])
        codes, decided = (np.sort(rows, axis=1) @ [len(objects), 1] for rows in (pairs, np.concatenate(self._decided)))
        pairs = pairs[~np.isin(codes, decided)]
        a, b = pairs.T
        resolution = coarse.resolutions(objects, low, high, pairs)
        gaps = np.maximum(low[a] - high[b], low[b] - high[a]).max(axis=1, initial=0.0)
        sides = coarse.coarse_sides(objects, pairs, resolution) & (gaps <= clearance + resolution)[:, None]
        if sides.any():
            names = sorted({objects[k].name for k in pairs[sides].tolist()})
            coarsest = float(resolution[sides.any(axis=1)].max())
            outcome.skipped.append(coarse.entry(names, coarsest, self._given.units.rough))

    def _answer_together(self, pairs: IntArray, progress: Progress | None) -> IntArray:
        """Find the clashes of convex shapes, and which of the pairs are apart by more than clearance and tolerance.
        Returns the rows of all others, which must be checked by themselves."""
        bounds = self._bounds
        # Bounds of meshes may only show that these are apart: where they meet, how deep says nothing.
        is_known = np.asarray(bounds.has_bound[pairs].all(axis=1))
        tested = np.flatnonzero(bounds.is_polytope[pairs].all(axis=1) & ~bounds.is_convex[pairs].all(axis=1))
        if len(tested):
            meet = self._known.intersect(bounds, pairs[tested], subrange(progress, 0.0, 0.5))
            is_known[tested[meet]], progress = False, subrange(progress, 0.5, 1.0)
        rows = np.flatnonzero(is_known)
        left = np.ones(len(pairs), dtype=bool)
        if len(rows):
            chosen = pairs[rows]
            tolerance = bounds.tolerances(chosen, self._settings.contact_tolerance)
            found = self._known.contacts(bounds, chosen, tolerance, self._widest, progress)
            separated = found.relation == Relation.SEPARATED
            # Their shapes may be inside their bounds: such a pair touches or not by its own tolerance.
            widest = np.maximum(self._settings.clearance, tolerance * bounds.smaller_diameters(chosen))
            widest = np.maximum(widest, self._margins.most(chosen))
            has_gap = separated | (found.relation == Relation.WITHIN_CLEARANCE)
            apart = has_gap & (found.lower_bound > widest)
            self._cleared.append(chosen[apart])
            both = np.flatnonzero(~separated & ~apart & bounds.is_convex[chosen].all(axis=1))
            resolution = RESOLUTION_STEPS * bounds.step[chosen[both]].max(axis=1)
            clashes = Clashes.of_contacts(chosen[both], found, both, resolution)
            clashes.judge_gaps(self._margins, self._settings.clearance)
            self._note_facts(chosen[both])
            self._keep(clashes, clashes.ranks.astype(np.intp))
            left[rows[apart]] = left[rows[both]] = False
        return np.flatnonzero(left)

    def _note_facts(self, pairs: IntArray) -> None:
        """Note how the objects of pairs are checked."""
        facts = self._outcome.facts
        for k in np.unique(pairs).tolist():
            if k not in facts:
                obj = self._objects[k]
                is_plain = self._bounds.has_bound[k] and obj.kind not in PRIMITIVES
                facts[k] = ShapeFacts(obj.kind, 0.0, None) if is_plain else ShapeFacts.of(self._shapes.of(obj))

    def _check_alone(
        self, pair: tuple[int, int], progress: Progress | None, verify: bool = False, exact: bool = False
    ) -> FoundAlone:
        """Return the contact of a pair, and its `rank_of`; None where it is separated, or, with the reason in the
        outcome, cannot be checked."""
        if not self._are_ready(pair, subrange(progress, 0.0, 0.4)):
            return None
        objects = [self._objects[k] for k in pair]
        a, b = (self._shapes.of(obj) for obj in objects)
        settings, state = self._state(pair, exact, verify)

        def find() -> tuple[Clash, int]:
            self._known.pairs_alone.update(obj.geometry.digest for obj in objects)
            result = check_pair(a, b, settings, subrange(progress, 0.4, 1.0))
            checks = tuple((check.name, check.ok) for check in result.verify().checks) if verify else None
            return clash_of(pair, result.contact, result.resolution, checks), rank_of(result.contact)

        try:
            found = self._known.alone(pair, state, find)
            return None if found is None else (gap_judged(found[0], self._margins, self._settings.clearance), found[1])
        except ValueError as error:
            name_a, name_b = (obj.name for obj in objects)
            reason = f"'{name_a}' and '{name_b}' cannot be checked: {error}"
            self._outcome.skipped.append(Skipped(f"{name_a} and {name_b}", reason, kind="pair"))
            self._outcome.unchecked.add(frozenset(obj.key for obj in objects))
            return None

    def _are_ready(self, pair: tuple[int, int], progress: Progress | None) -> bool:
        """Make the shapes of a pair; return whether both can be checked, else the reason is in the outcome."""
        for k in pair:
            obj = self._objects[k]
            if frozenset((obj.key,)) in self._outcome.unchecked:
                return False
            try:
                self._shapes.of(obj).prepare(progress)
            except ValueError as error:
                self._skip_object(obj, str(error))
                return False
        return True

    def _state(self, pair: tuple[int, int], exact: bool = False, verify: bool = False) -> tuple[Settings, Hashable]:
        """Return the settings with which a pair is checked, and all that decides what it is found to be."""
        clearance = max(self._settings.clearance, float(self._margins.most(np.array([pair]))[0]))
        settings = replace(self._settings, clearance=clearance, budget=None if exact else self._settings.budget)
        keys = (self._objects[k].shape_key for k in pair)
        return settings, (*keys, settings, verify, self._given.rules.depth == depths.NONE)

    def _skip_object(self, obj: SceneObject, reason: str) -> None:
        self._outcome.skipped.append(Skipped(obj.name, messages.about(obj.name, reason)))
        self._outcome.unchecked.add(frozenset((obj.key,)))

    def verify_clashes(self, progress: Progress | None) -> None:
        """Check every clash again by itself, with a certificate. Raises Cancelled; the others are not verified then."""
        self._begin("verification")
        clashes = self._outcome.clashes
        for k in tracked(range(len(clashes)), progress):
            clash = clashes[k]
            again = self._check_alone((clash.a, clash.b), None, verify=True)
            if again is not None and again[0].relation == clash.relation:
                clashes.put(k, again[0])
            else:
                clashes.put(k, replace(clash, checks=((SAME_RELATION, False),)))

    def measure_overlaps(self, progress: Progress | None) -> None:
        """Find the volumes in which the objects of clashes overlap, and leave out those that overlap in less than was
        asked for. Raises Cancelled; the others have none then."""
        self._begin("overlap volumes")
        clashes = self._outcome.clashes
        deep = np.isin(clashes.relations, [RELATIONS.index(relation) for relation in OVERLAPPING])
        for k, part in equal_parts(np.flatnonzero(deep).tolist(), progress):
            report_progress(part, 0.0)
            a, b = (self._shapes.of(self._objects[side]).solid for side in clashes.pairs[k].tolist())
            clashes.put_volume(k, overlap_volume(a, b, progress=part))
        is_small = clashes.column("overlap_volume_upper") < self._given.rules.least_volume
        self._ignore("least_volume", clashes.pairs[is_small])
        self._outcome.clashes = clashes.take(np.flatnonzero(~is_small))

    def apply_decisions(self, decided: Mapping[Pair, Decision]) -> None:
        """Leave out clashes that are ignored, give others their verdicts, and leave out those that are no worse than
        approved, as far as the rules ask for that."""
        given, outcome = self._given, self._outcome
        outcome.decided = decided
        ignored = [pair for pair, decision in decided.items() if decision.status == IGNORED]
        if ignored and given.rules.ignore_listed:
            rows = sorted(outcome.clashes.rows_of(given.objects, ignored).values())
            self._ignore("decisions", outcome.clashes.pairs[rows])
            self._decided.append(outcome.clashes.pairs[rows])
            left = np.setdiff1d(np.arange(len(outcome.clashes)), rows)
            outcome.clashes = outcome.clashes.take(left)
        approved = {pair: approval for pair, approval in given.approved.items() if pair not in decided}
        approved |= approvals(decided, given.units)

        def refine(clash: Clash) -> Clash:
            known = given.rules.depth == depths.EXACT and clash.status != depths.NOT_SEARCHED
            found = None if known else self._check_alone((clash.a, clash.b), None, exact=True)
            return clash if found is None else found[0].with_volume_of(clash)

        within = compared(outcome.clashes, given.objects, approved, refine)
        if within and given.rules.ignore_approved:
            left = np.ones(len(outcome.clashes), dtype=bool)
            left[within] = False
            outcome.approved = outcome.clashes.take(np.flatnonzero(~left))
            outcome.clashes = outcome.clashes.take(np.flatnonzero(left))
            self._ignore("approved", outcome.approved.pairs)
            self._decided.append(outcome.approved.pairs)


def without(outcome: Outcome, objects: Sequence[SceneObject], changed: frozenset[Key]) -> Outcome:
    """Return an outcome without the pairs of objects that have changed meanwhile; these are left out."""
    if not changed:
        return outcome
    skipped = [
        Skipped(obj.name, f"'{obj.name}' changed during the check: check the scene again", kind="changed")
        for obj in objects
        if obj.key in changed
    ]
    return replace(
        outcome,
        clashes=outcome.clashes.without(objects, changed),
        cleared=outcome.cleared[are_without(outcome.cleared, objects, changed)],
        approved=outcome.approved.without(objects, changed),
        skipped=[*dict.fromkeys(skipped), *outcome.skipped],
    )
