# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene check: the contact of every pair of objects that may collide. Knows nothing of Blender: for any thread.

1. Bounds of all objects, and the pairs whose bounds meet (`candidates`).
2. Pairs that a rule ignores are left out.
3. Pairs with convex bounds are answered together by `contacts`, those apart and those of convex shapes for good.
4. Every other pair is checked by itself (`check_pair`).
5. What collides, touches or is within the clearance is a clash, compared with what the user approved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...core.broad_phase.pair_order import split_pairs
from ...core.measures.overlap_volume import overlap_volume
from ...core.progress import Cancelled, Progress, equal_parts, report_progress, subrange, tracked
from ...core.result import Relation
from ...core.types import IntArray
from ..data import messages
from ..data.collision_kinds import PRIMITIVES
from ..data.records import FIRST_ANSWER, Key, Pair, Settings, Shard, Skipped
from ..geometry.collision_shape import RESOLUTION_STEPS
from ..measure.pair_measures import OVERLAPPING
from ..pair.margins import Margins
from ..pair.pair_check import check_pair
from ..read.scene_objects import CheckInput, SceneObject
from . import coarse
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
from .frame_cache import FrameCache

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
        budget = None if given.rules.exact else FIRST_ANSWER
        self._settings = Settings("auto", given.rules.clearance, given.rules.contact_tolerance, budget=budget)
        self._margins = Margins(given.objects)
        self._widest = given.rules.clearance
        self._found: list[Clashes] = []
        self._cleared: list[IntArray] = []
        self._open: list[IntArray] = []
        """Pairs (n, 2) whose relation may be another within the resolution of their coordinates."""
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
        """Find the clashes among pairs. Raises Cancelled."""
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
        for k, part in equal_parts(left.tolist(), subrange(progress, together, 1.0)):
            report_progress(part, 0.0)
            a, b = pairs[k].tolist()
            found = self._check_alone((a, b), part)
            if found is not None:
                clash, rank = found
                self._note_facts(pairs[k : k + 1])
                self._keep(Clashes.of_single(clash), np.array([rank]))

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
        is_bound = bounds.is_polytope[pairs].all(axis=1) & ~bounds.is_convex[pairs].all(axis=1)
        rows = np.flatnonzero(is_bound)
        meet = self._known.intersect(bounds, pairs[rows], subrange(progress, 0.0, 0.5))
        rows = np.setdiff1d(np.flatnonzero(bounds.has_bound[pairs].all(axis=1)), rows[meet])
        left = np.ones(len(pairs), dtype=bool)
        if len(rows):
            chosen = pairs[rows]
            progress = subrange(progress, 0.5 if is_bound.any() else 0.0, 1.0)
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
    ) -> tuple[Clash, int] | None:
        """Return the contact of a pair, and its `rank_of`; None, with the reason in the outcome, where it cannot be
        checked."""
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
        most = float(self._margins.most(np.array([pair]))[0])
        settings = replace(self._settings, clearance=max(self._settings.clearance, most))
        if exact:
            settings = replace(settings, budget=None)

        def find() -> tuple[Clash, int]:
            self._known.pairs_alone.update(obj.geometry.digest for obj in objects)
            result = check_pair(a, b, settings, subrange(progress, 0.4, 1.0))
            return clash_of(pair, result, verify), rank_of(result.contact)

        try:
            clash, rank = self._known.alone(pair, (a.object.shape_key, b.object.shape_key, settings, verify), find)
            return gap_judged(clash, self._margins, self._settings.clearance), rank
        except ValueError as error:
            name_a, name_b = (obj.name for obj in objects)
            reason = f"'{name_a}' and '{name_b}' cannot be checked: {error}"
            self._outcome.skipped.append(Skipped(f"{name_a} and {name_b}", reason, kind="pair"))
            self._outcome.unchecked.add(frozenset(obj.key for obj in objects))
            return None

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
            found = None if given.rules.exact else self._check_alone((clash.a, clash.b), None, exact=True)
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
