# SPDX-License-Identifier: GPL-3.0-or-later
"""All pairs of a scene: the contact of each. Knows nothing of Blender, so any thread may do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ...core.batched.contacts import contacts
from ...core.narrow_phase.contact import Contact
from ...core.narrow_phase.relation import Relation
from ...core.progress import Cancelled, Progress, report_progress, subrange
from ...core.shapes.curved_shape import ConvexShape
from ..read.collision_shape import AUTOMATIC
from ..read.collision_solid import RESOLUTION_STEPS, tolerance_for
from ..read.scene_objects import Ignore, Item, Key, Skipped, Subject
from ..read.world_shape import Ready, ReadyThings
from ..report.rows import Answer, PairFound, Verdict, answer_of, judged, row_of, rows
from .candidates import bounds_of, candidates
from .costs import BOUNDS, COST_ALONE, COST_OF_WORDS, FEW, FOUND, Costs, find_kinds
from .pair_contact import Found, find

BATCH = 2_000
"""At most so many pairs' bounds are looked at together."""
FIRST_BATCH = 125
"""The first batches are smaller: when a check is stopped, something is done."""
MOST_VERIFIED = 2_000
"""Findings that were answered together are looked at again up to so many, the deepest first: some seconds."""


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
    approved: list[PairFound] = field(default_factory=list)
    """Pairs that were looked at and left out, because they are no worse than approved; deepest first."""
    unchecked: set[frozenset[Key]] = field(default_factory=set)
    """Pairs that could not be checked; a single thing could not at all."""
    left_out: dict[str, int] = field(default_factory=dict)
    differences: list[dict[str, Any]] = field(default_factory=list)
    """Both as the subject has them."""


def check(subject: Subject, progress: Progress | None = None) -> Outcome:
    """Find every pair of the subject that collides or is within the clearance.

    `progress` is called with the share done; when it says False, what is found so far is returned, marked partial.
    """
    outcome = Outcome([], [], {}, set(), list(subject.skipped), 0, False)
    outcome.left_out, outcome.differences = subject.left_out, subject.differences
    items, progress = subject.items, subrange(progress, 0.0, 1.0)
    if not items:
        return outcome
    try:
        low, high, problems = bounds_of(items, subrange(progress, 0.0, BOUNDS))
        outcome.skipped += [Skipped(items[k].name, f"'{items[k].name}' {why}") for k, why in sorted(problems.items())]
        outcome.unchecked.update(frozenset((items[k].key,)) for k in problems)
        pairs = candidates(subject, low, high, set(problems), subrange(progress, BOUNDS, BOUNDS))
        wanted = []
        for i, j in pairs:
            why = subject.ignore.why(items[i], items[j])
            if why:
                outcome.ignored[why] = outcome.ignored.get(why, 0) + 1
                outcome.ignored_pairs.add(frozenset((items[i].key, items[j].key)))
            else:
                wanted.append((i, j))
        outcome.candidates = len(wanted)
        known = find_kinds(items, wanted, MOST_VERIFIED, progress)
    except Cancelled:
        outcome.partial = True
        return outcome
    costs = Costs.of(items, wanted)
    looking, again = float(costs.total.sum()), FOUND * COST_ALONE * min(MOST_VERIFIED, costs.convex)
    verifying = known + (1.0 - known) * (looking / (looking + again) if wanted else 0.0)
    check_pairs(items, wanted, subject, outcome, costs, subrange(progress, known, verifying))

    def rank(found: PairFound) -> tuple[float, str, str]:
        return found.row["signed_distance"] or 0.0, items[found.a].name, items[found.b].name

    outcome.found.sort(key=rank)
    if not outcome.partial:
        _look_again(items, subject, outcome.found, subrange(progress, verifying, 1.0))
        outcome.found.sort(key=rank)
        if progress is not None:
            progress(1.0)  # whatever it answers, all is done
    _judge(items, subject, outcome)
    outcome.rows = rows(items, outcome.found)
    return _without_faulty(outcome, items)


def _without_faulty(outcome: Outcome, items: Sequence[Item]) -> Outcome:
    """Return an outcome that clears nothing that Blender may have evaluated wrong; what collides stays in it."""
    faulty = {item.key for item in items if item.fault}
    cleared = [(i, j) for i, j in outcome.cleared if not faulty & {items[i].key, items[j].key}]
    unchecked = outcome.unchecked | {frozenset((key,)) for key in faulty}
    return replace(outcome, cleared=cleared, unchecked=unchecked)


def _judge(items: Sequence[Item], subject: Subject, outcome: Outcome) -> None:
    """Compare the found pairs with the user's approvals, and leave out those that are covered if that is asked for."""
    found, outcome.found = outcome.found, []
    for pair in found:
        key = frozenset((items[pair.a].key, items[pair.b].key))
        pair = judged(pair, subject.approved.get(key), subject.units)
        if pair.verdict == Verdict.WITHIN and subject.without_approved:
            outcome.approved.append(pair)
            outcome.ignored["approved"] = outcome.ignored.get("approved", 0) + 1
            outcome.ignored_pairs.add(key)
        else:
            outcome.found.append(pair)


def _look_again(items: Sequence[Item], subject: Subject, found: list[PairFound], progress: Progress | None) -> None:
    """Find the contact of the first pairs that were answered together by itself, which has a certificate to check.

    Nothing is missing when `progress` says that it is enough: what is left has not been checked again.
    """
    things = ReadyThings(items)
    left = [k for k, pair in enumerate(found) if pair.row["verified"] is None][:MOST_VERIFIED]
    try:
        for done, k in enumerate(left):
            report_progress(progress, done, len(left))
            pair = found[k]
            a, b = things[pair.a], things[pair.b]
            row = row_of(answer_of(contact_of(a, b, subject), a, b), a, b, subject.units)
            if row["relation"] != pair.row["relation"]:
                wrong = "The answer did not pass its own check (the same relation): please report it"
                row = {**pair.row, "verified": False, "notes": [*pair.row["notes"], wrong]}
            found[k] = replace(pair, row=row)
    except Cancelled:
        return


def check_pairs(
    items: Sequence[Item],
    pairs: list[tuple[int, int]],
    subject: Subject,
    outcome: Outcome,
    costs: Costs,
    progress: Progress | None = None,
) -> None:
    """Find the contact of each pair and put it into the outcome; stop, and mark that, when `progress` says so.

    This is the one place where pairs are decided.
    """
    things = ReadyThings(items)
    before = np.concatenate([[0.0], np.cumsum(costs.total)])
    before /= max(float(before[-1]), 1.0)
    begin, size = 0, FIRST_BATCH
    while begin < len(pairs):
        some = pairs[begin : begin + size]
        end = begin + len(some)
        here = subrange(progress, float(before[begin]), float(before[end]))
        try:
            report_progress(here, 0.0)
            _check_some(items, some, things, subject, outcome, costs.some(begin, end), here)
        except Cancelled:
            outcome.partial = True
            return
        begin, size = end, min(2 * size, BATCH)


def _check_some(
    items: Sequence[Item],
    pairs: list[tuple[int, int]],
    things: ReadyThings,
    subject: Subject,
    outcome: Outcome,
    costs: Costs,
    progress: Progress | None,
) -> None:
    share = 0.8 * float(costs.together.sum() / costs.total.sum())
    within = _within_convex(pairs, things, subrange(progress, 0.0, 0.4 * share))
    apart, told = _together(pairs, within, things, subject, subrange(progress, 0.4 * share, share))
    left = [0.0 if k in apart else COST_OF_WORDS if k in told else float(costs.alone[k]) for k in range(len(pairs))]
    before = np.concatenate([[0.0], np.cumsum(left)])
    before = share + (1.0 - share) * before / max(float(before[-1]), COST_OF_WORDS)
    for k, (i, j) in enumerate(pairs):
        here = subrange(progress, float(before[k]), float(before[k + 1]))
        report_progress(here, 0.0)
        if k in apart:
            outcome.cleared.append((i, j))
            continue
        a, b = things[i], things[j]
        if k not in told and not _both_collide(a, b, outcome, subrange(here, 0.0, 0.4)):
            continue
        try:
            answer = told.get(k) or answer_of(contact_of(a, b, subject, subrange(here, 0.4, 1.0)), a, b)
        except ValueError as error:
            one, other = items[i].name, items[j].name
            reason = f"'{one}' and '{other}' cannot be checked: {error}"
            outcome.skipped.append(Skipped(f"{one} and {other}", reason, kind="pair"))
            outcome.unchecked.add(frozenset((items[i].key, items[j].key)))
            continue
        if answer.relation == Relation.SEPARATED or (answer.relation == Relation.TOUCHING and not subject.touching):
            outcome.cleared.append((i, j))
        else:
            resolution = RESOLUTION_STEPS * max(a.step, b.step)
            outcome.found.append(PairFound(i, j, row_of(answer, a, b, subject.units), resolution))


def _both_collide(a: Ready, b: Ready, outcome: Outcome, progress: Progress | None) -> bool:
    """Make two things as they collide; return False, and put the reason into the outcome once, where one cannot.

    Raises Cancelled.
    """
    for k, thing in enumerate((a, b)):
        item = thing.item
        if frozenset((item.key,)) in outcome.unchecked:
            return False
        try:
            thing.prepare(subrange(progress, 0.5 * k, 0.5 * (k + 1)))
        except ValueError as error:
            outcome.skipped.append(Skipped(item.name, f"'{item.name}' {error}"))
            outcome.unchecked.add(frozenset((item.key,)))
            return False
    return True


def _within_convex(pairs: list[tuple[int, int]], things: ReadyThings, progress: Progress | None) -> list[int]:
    """Return which pairs are convex shapes or within such: those can be looked at together. Makes these shapes."""
    rows = []
    for k, (i, j) in enumerate(pairs):
        report_progress(progress, k, len(pairs))
        try:
            around = things[i].around, things[j].around
        except ValueError:  # told by the single way
            continue
        if None not in around:
            rows.append(k)
    return rows


def _together(
    pairs: list[tuple[int, int]], rows: list[int], things: ReadyThings, subject: Subject, progress: Progress | None
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
                center=found.center[row],
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
    """Find the contact of two things that are prepared. Raises ValueError when it cannot be told, and Cancelled."""
    progress = subrange(progress, 0.0, 1.0)
    make_pieces = [
        partial(thing.make_pieces, subrange(progress, 0.2 * k, 0.2 * (k + 1))) if thing.has_mesh else None
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
        subrange(progress, 0.4, 1.0),
    )


def contact_between(
    a: Item, b: Item, clearance: float, contact_tolerance: float, progress: Progress | None = None
) -> tuple[Ready, Ready, Contact | Found]:
    """Return two things as they collide, and their contact. Raises ValueError when that cannot be told; Cancelled."""
    one, other = Ready(a), Ready(b)
    for k, thing in enumerate((one, other)):
        try:
            thing.prepare(subrange(progress, 0.2 * k, 0.2 * (k + 1)))
        except ValueError as error:
            raise ValueError(f"'{thing.item.name}' {error}") from error
    subject = Subject([a, b], None, [0, 1], Ignore(), clearance, contact_tolerance, True)
    return one, other, contact_of(one, other, subject, subrange(progress, 0.4, 1.0))


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
        approved=[pair for pair in outcome.approved if holds(pair.a, pair.b)],
        skipped=[
            *(
                Skipped(name, f"'{name}' changed while the scene was checked: check again", kind="changed")
                for name in names
            ),
            *outcome.skipped,
        ],
    )
