# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs that are not checked between two frames: one of them moved so far that it may have passed through the other.

A thing may have been anywhere in the box around its places at both frames, its swept box, but not far from its path
there relative to the other. What turns far or follows a curve can leave the box: it is a sign of what was missed, not a
proof that nothing was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from ...core.broad_phase.candidate_pairs import candidate_pairs
from ...core.result import Relation
from ...core.shapes.hull import ConvexHull
from ...core.types import BoolArray, FloatArray, IntArray
from ..data import messages
from ..data.collision_kinds import PRIMITIVES
from ..data.records import FIRST_ANSWER, Pair, Settings, Skipped
from ..pair.pair_check import check_pair
from ..pair.pair_contact import find
from ..read.scene_objects import CheckInput, SceneObject
from ..scene.candidates import touching_bands
from ..scene.clashes import RELATIONS, Clashes
from ..scene.convex_bounds import ConvexBounds
from ..scene.decisions import APPROVED, IGNORED, Decision
from ..scene.frame_cache import FrameCache
from .motion import FrameSteps, Sample, extents_along

TOGETHER = 1e-3
"""Relative to how far a thing moved: what moves no more relative to another moves with it."""
CORNERS = np.array([(x, y, z) for x in (False, True) for y in (False, True) for z in (False, True)])
"""(8, 3) whether a corner of a box is at the high end of each axis."""


def not_checked_between(steps: FrameSteps, decide: Callable[[Clashes], Mapping[Pair, Decision]]) -> list[Skipped]:
    """Return of each thing through which others it may have passed unnoticed between two frames.

    It moved farther than its own extent, also relative to the other, and their swept boxes overlap by more than those
    of things that touch. Not of pairs that a rule ignores, that the user decided about, or that are found in any case:
    they intersect at one of the frames, or touch at both. decide: returns what is decided beside the file.
    """
    given = steps.now.given
    pairs = _overlapping(steps)
    if not len(pairs):
        return []
    distance, extent = np.zeros((2, len(given.objects)))
    distance[steps.moved], extent[steps.moved] = steps.distances, steps.extents
    pairs = pairs[_are_fast(steps, pairs, distance, extent)]
    ignored = np.concatenate([np.zeros(0, np.intp), *given.ignored_rows(pairs).values()])
    pairs = np.delete(pairs, ignored, axis=0)
    pairs = pairs[~_are_decided(given, pairs, decide)]
    # A pair of which either may have passed through the other is one of that which moved farther.
    codes, back = pairs @ [len(given.objects), 1], pairs @ [1, len(given.objects)]
    is_second = (distance[pairs] @ [-1, 1] > 0.0) | ((distance[pairs] @ [-1, 1] == 0.0) & (pairs @ [1, -1] > 0))
    pairs = pairs[~(np.isin(codes, back) & is_second)]
    pairs = pairs[~_keep_clear(steps, pairs)]
    pairs = pairs[~_are_known(steps, pairs)]
    found: dict[int, set[str]] = {}
    for k, other in pairs.tolist():
        found.setdefault(k, set()).add(given.objects[other].name)
    frames = steps.before.frame, steps.now.frame
    entries = []
    for k, names in found.items():
        name, others = given.objects[k].name, sorted(names)
        extents = distance[k] / extent[k] if extent[k] > 0.0 else np.inf
        reason = _may_have_passed(name, others, frames, given.units.length(float(distance[k])), extents)
        entries.append(Skipped(name, reason, kind="fast", objects=(name, *others)))
    return entries


def _may_have_passed(
    name: str, others: Sequence[str], frames: tuple[float, float], distance: str, extents: float
) -> str:
    """Return that an object may have passed through others between two checked frames; extents: how many of its own
    the distance is."""
    times = f", {extents:.3g} times its extent in that direction"
    if extents < 1.0:
        times = f", farther than its extent relative to {'that' if len(others) == 1 else 'them'}"
    elif extents == float("inf"):
        times = ", and has no extent in that direction"
    return (
        f"'{name}' may have passed through {messages.quoted(others, 3)} between frames {frames[0]:g} and "
        f"{frames[1]:g}: it moved {distance}{times}"
    )


def _overlapping(steps: FrameSteps) -> IntArray:
    """Return the pairs (n, 2) of things that the scopes check whose swept boxes overlap, one that may be fast first."""
    given, start = steps.now.given, steps.start
    may_be_fast = 2.0 * steps.distances > steps.extents  # relative to another it moves twice as far at most
    if not may_be_fast.any():
        return np.zeros((0, 2), np.intp)
    (low, high, problems), (low_before, high_before, problems_before) = steps.now.bounds, steps.before.bounds
    is_there = start >= 0
    is_there[list(problems)] = False
    is_there &= ~np.isin(start, list(problems_before))
    band = touching_bands(given.rules, low, high)[:, None]
    low, high = np.minimum(low, low_before[start]), np.maximum(high, high_before[start])
    first, other = steps.moved[may_be_fast & is_there[steps.moved]], np.flatnonzero(is_there)
    middle = 0.5 * low + 0.5 * high
    low_inside, high_inside = np.minimum(low + band, middle), np.maximum(high - band, middle)
    found = candidate_pairs(low_inside[first], high_inside[first], low[other], high[other]).pairs
    pairs = np.stack([first[found[:, 0]], other[found[:, 1]]], axis=1)
    is_checked = np.zeros(len(pairs), dtype=bool)
    for scope in given.scopes:
        on_side = np.zeros((2, len(given.objects)), dtype=bool)
        for side, members in zip(on_side, scope.sides, strict=True):
            side[members] = True
        for i, j in (pairs.T, pairs[:, ::-1].T):
            is_checked |= on_side[0][i] & on_side[1][j]
    return pairs[is_checked & (pairs[:, 0] != pairs[:, 1])]


def _are_fast(steps: FrameSteps, pairs: IntArray, distance: FloatArray, extent: FloatArray) -> BoolArray:
    """Return of pairs (n, 2) whether the first moved farther than its extent, relative to the other one; distance,
    extent (m,): of all things, how far they moved and their extents along that."""
    first, other = pairs.T
    fast: BoolArray = distance[first] > extent[first]
    both = np.flatnonzero((distance[other] > 0.0) & (fast | (distance[first] >= distance[other])))
    fast &= distance[other] == 0.0
    relative = _relative_steps(steps, pairs[both])
    lengths = np.linalg.norm(relative, axis=1)
    both, relative, lengths = (of[lengths > TOGETHER * distance[first[both]]] for of in (both, relative, lengths))
    for k in np.unique(first[both]).tolist():
        rows = np.flatnonzero(first[both] == k)
        directions = (relative[rows] / lengths[rows, None]).T
        fast[both[rows]] = lengths[rows] > extents_along(steps.before.given.objects[int(steps.start[k])], directions)
    return fast


def _relative_steps(steps: FrameSteps, pairs: IntArray) -> FloatArray:
    """Return how the first of each pair (n, 2) moved relative to the other one (n, 3): its fastest corner.

    Relative to the middle of the other, or as if it were attached to it, whatever is less.
    """
    (now, other), (before, other_before) = _sides(steps, pairs)
    end, start = _corners(now), _corners(before)
    shift = _corners(other).mean(axis=1) - _corners(other_before).mean(axis=1)
    attached, _ = _attached(end, other, other_before)
    found = []
    for moved in (end - shift[:, None] - start, attached - start):
        fastest = np.einsum("nij,nij->ni", moved, moved).argmax(axis=1)
        found.append(moved[np.arange(len(pairs)), fastest])
    nearer = np.linalg.norm(found[1], axis=1) < np.linalg.norm(found[0], axis=1)
    return np.where(nearer[:, None], found[1], found[0])


def _sides(steps: FrameSteps, pairs: IntArray) -> list[list[list[SceneObject]]]:
    """Return the things of pairs (n, 2), of both sides, at the second frame, and at the first one."""
    samples = (steps.now, pairs), (steps.before, steps.start[pairs])
    return [[[sample.given.objects[k] for k in side] for side in places.T.tolist()] for sample, places in samples]


def _attached(
    points: FloatArray, others: Sequence[SceneObject], before: Sequence[SceneObject]
) -> tuple[FloatArray, FloatArray]:
    """Return where points (n, k, 3) were before if they were attached to the others, and how they were turned
    (n, 3, 3)."""
    (linear, place), (linear_before, place_before) = _poses(others), _poses(before)
    is_flattened = np.linalg.det(linear) == 0.0
    linear, linear_before = (np.where(is_flattened[:, None, None], np.eye(3), of) for of in (linear, linear_before))
    turned = linear_before @ np.linalg.inv(linear)
    return (points - place[:, None]) @ turned.transpose(0, 2, 1) + place_before[:, None], turned


def _keep_clear(steps: FrameSteps, pairs: IntArray) -> BoolArray:
    """Return of pairs (n, 2) whether the first kept clear of the other, which is rigid.

    It did where a capsule around its path, relative to the other, is apart from that: what turns about an axis that
    stays, by half a turn at most or about its own middle, does not leave the capsule.
    """
    clear = np.zeros(len(pairs), dtype=bool)
    if not len(pairs):
        return clear
    (now, other), (before, other_before) = _sides(steps, pairs)
    start = _corners(before)
    end, turned = _attached(_corners(now), other, other_before)
    first, last = start.mean(axis=1), end.mean(axis=1)
    radii = [np.linalg.norm(points - middle[:, None], axis=2) for points, middle in ((start, first), (end, last))]
    bulge = 0.5 * np.linalg.norm(last - first, axis=1) * np.tan(0.25 * _angles(before, now, turned))
    radius = np.max(radii, axis=(0, 2)) + bulge
    known = FrameCache(follows=False)
    for k, (item, at_end) in enumerate(zip(other_before, other, strict=True)):
        is_rigid = item.geometry.digest == at_end.geometry.digest and np.linalg.det(at_end.linear) != 0.0
        if not is_rigid or item.parts or _may_leave_its_box(now[k]):
            continue
        with suppress(ValueError):  # the check of the frame says so
            shape = known.shapes.of(item)
            shape.prepare()
            line, tolerance = ConvexHull(np.stack([first[k], last[k]])), steps.now.given.rules.contact_tolerance
            found = find(
                line, shape.solid, (None, None), "auto", float(radius[k]), tolerance, None, FIRST_ANSWER, False
            )
            clear[k] = found.relation == Relation.SEPARATED
    return clear


def _may_leave_its_box(item: SceneObject) -> bool:
    """Return whether the shape of a thing may be elsewhere than the box of its mesh."""
    return bool(item.parts) or (item.kind in PRIMITIVES and item.choice.source == "rigid_body")


def _angles(before: Sequence[SceneObject], now: Sequence[SceneObject], turned: FloatArray) -> FloatArray:
    """Return by how much things turned (n,), in radians, pi at most; turned (n, 3, 3): the axes of what they are
    compared with."""
    linear, linear_before = turned @ _poses(now)[0], _poses(before)[0]
    with np.errstate(invalid="ignore"):
        axes, axes_before = (of / np.linalg.norm(of, axis=1, keepdims=True) for of in (linear, linear_before))
    cosines = 0.5 * (np.einsum("nij,nij->n", axes, axes_before) - 1.0)
    angles: FloatArray = np.arccos(np.clip(np.nan_to_num(cosines, nan=-1.0), -1.0, 1.0))
    return angles


def _corners(objects: Sequence[SceneObject]) -> FloatArray:
    """Return the corners (n, 8, 3) of the bounding boxes of things, which are in their own axes."""
    low, high = np.reshape([obj.geometry.bounds for obj in objects], (-1, 2, 1, 3)).transpose(1, 0, 2, 3)
    linear, place = _poses(objects)
    return np.where(CORNERS, high, low) @ linear.transpose(0, 2, 1) + place[:, None]


def _poses(objects: Sequence[SceneObject]) -> tuple[FloatArray, FloatArray]:
    """Return the linear parts (n, 3, 3) and the translations (n, 3) of world matrices."""
    linear, place = [obj.linear for obj in objects], [obj.translation for obj in objects]
    return np.reshape(linear, (-1, 3, 3)), np.reshape(place, (-1, 3))


def _are_decided(given: CheckInput, pairs: IntArray, decide: Callable[[Clashes], Mapping[Pair, Decision]]) -> BoolArray:
    """Return of pairs (n, 2) whether the user approved or ignores them, and the rules leave them out for that."""
    rules, decided = given.rules, decide(Clashes.of_pairs(pairs))
    if not decided and not given.approved:
        return np.zeros(len(pairs), dtype=bool)
    left_out = {APPROVED} if rules.ignore_approved else set()
    left_out |= {IGNORED} if rules.ignore_listed else set()
    approved = given.approved if rules.ignore_approved else {}

    def is_decided(pair: Pair) -> bool:
        return decided[pair].status in left_out if pair in decided else pair in approved

    keys = [frozenset(given.objects[k].key for k in pair) for pair in pairs.tolist()]
    return np.array([is_decided(pair) for pair in keys], dtype=bool)


def _are_known(steps: FrameSteps, pairs: IntArray) -> BoolArray:
    """Return of pairs (n, 2) whether they intersect at one of the frames, or touch at both."""
    touch, intersect = np.ones(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool)
    for sample, numbers in ((steps.before, steps.start[pairs]), (steps.now, pairs)):
        low, high, _ = sample.bounds
        band = touching_bands(sample.given.rules, low, high)[:, None]
        a, b = numbers.T
        is_near = (np.maximum((low - band)[a], (low - band)[b]) <= np.minimum((high + band)[a], (high + band)[b])).all(
            1
        )
        relations = _relations(sample, numbers[is_near])
        touching, apart = (relations == RELATIONS.index(of) for of in (Relation.TOUCHING, Relation.SEPARATED))
        touch &= is_near
        touch[is_near] &= touching
        intersect[is_near] |= ~(touching | apart)
    return touch | intersect


def _relations(sample: Sample, pairs: IntArray) -> IntArray:
    """Return what pairs (n, 2) are to each other, as indices of RELATIONS: separated where that cannot be checked."""
    objects, (low, high, _), rules = sample.given.objects, sample.bounds, sample.given.rules
    known = FrameCache(follows=False)
    bounds = ConvexBounds(objects, (low, high), pairs, known.shapes, Counter())
    found = np.full(len(pairs), RELATIONS.index(Relation.SEPARATED))
    convex = np.flatnonzero(bounds.is_convex[pairs].all(axis=1))
    if len(convex):
        tolerance = bounds.tolerances(pairs[convex], rules.contact_tolerance)
        contacts = known.contacts(bounds, pairs[convex], tolerance, 0.0, None)
        found[convex] = [RELATIONS.index(relation) for relation in contacts.relation]
    settings = Settings("auto", 0.0, rules.contact_tolerance, budget=FIRST_ANSWER)
    for row in np.setdiff1d(np.arange(len(pairs)), convex).tolist():
        a, b = (known.shapes.of(objects[k]) for k in pairs[row].tolist())
        with suppress(ValueError):  # the check of the frame says so
            found[row] = RELATIONS.index(check_pair(a, b, settings, depth=False).contact.relation)
    return found
