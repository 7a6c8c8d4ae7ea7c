# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks of successive frames have found, as the list keeps it: the worst clash of each pair, and numbers of
pairs over frames, which are kept where they change. Knows nothing of Blender."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...core.many.contacts import contacts
from ...core.many.shape_set import ShapeSet
from ...core.progress import Cancelled, Progress
from ...core.types import BoolArray, FloatArray, IntArray
from ..data.collision_kinds import COMPOUND, MESH, PRIMITIVES
from ..data.records import Key, Skipped
from ..geometry.collision_shape import follows_mesh
from ..geometry.local_geometry import FEW, Geometry
from ..read.scene_objects import CheckInput, SceneObject
from ..read.world_shape import WorldShape
from ..scene.clashes import Clashes, ShapeFacts, Verdict
from ..scene.scene_check import Outcome
from .over_frames import TOUCHING
from .sentences import at_frames

_CODE = np.array([1 << 31, 1], np.intp)
"""Makes one number of two."""
MOST_GAPS = 100_000
"""Gaps that are computed at most, in some seconds; the others are not known."""


@dataclass(frozen=True, eq=False)
class Changes:
    """Numbers of pairs over frames, each from the frame on at which it changes; NaN before the first."""

    where: IntArray
    """(m, 2) the numbers of pairs and the places of frames, in order."""
    values: FloatArray
    """(m, k)"""

    def of(self, pair: int, count: int) -> FloatArray:
        """Return the numbers of a pair at so many frames (count, k)."""
        first, last = np.searchsorted(self.where[:, 0], [pair, pair + 1])
        places = np.searchsorted(self.where[first:last, 1], np.arange(count), side="right") - 1
        return np.concatenate([self.values[first:last], np.full((1, self.values.shape[1]), np.nan)])[places]


class _Recorder:
    """Makes `Changes` of the numbers of all pairs (n, k) at one frame after the other, of which n may grow."""

    def __init__(self, width: int) -> None:
        self._now, self._count = np.zeros((0, width)), 0
        self._where, self._values = [np.zeros((0, 2), np.intp)], [self._now]

    def add(self, now: FloatArray) -> None:
        before = np.full(now.shape, np.nan)
        before[: len(self._now)] = self._now
        rows = np.flatnonzero(((now != before) & ~(np.isnan(now) & np.isnan(before))).any(axis=1))
        self._where.append(np.column_stack([rows, np.full(len(rows), self._count)]))
        self._values.append(now[rows])
        self._now, self._count = now, self._count + 1

    def changes(self) -> Changes:
        where, values = np.concatenate(self._where), np.concatenate(self._values)
        order = np.lexsort((where[:, 1], where[:, 0]))
        return Changes(where[order], values[order])


class _Part(NamedTuple):
    """Clashes of one frame with the objects that they are of, by whose indices they name them."""

    frame: float
    objects: list[SceneObject]
    facts: Mapping[int, ShapeFacts]
    clashes: Clashes

    def take(self, rows: IntArray) -> _Part:
        clashes = self.clashes.take(rows)
        used, places = np.unique(clashes.pairs, return_inverse=True)
        facts = {k: self.facts[place] for k, place in enumerate(used.tolist())}
        things = [self.objects[k] for k in used.tolist()]
        return _Part(self.frame, things, facts, clashes.renumbered(places.reshape(-1, 2)))


class FoundFrames:
    """What was found at the frames so far."""

    def __init__(self) -> None:
        self.frames: list[float] = []
        """Ascending."""
        self.checked = self._candidates = 0
        self.objects: dict[Key, int] = {}
        """The numbers of all objects."""
        self._pairs: dict[int, int] = {}
        """The numbers of pairs by the codes of both objects."""
        self._depths = _Recorder(3)
        self._worst = np.zeros(0, [("least", "f8"), ("resolution", "f8"), ("part", np.intp), ("row", np.intp)])
        """(n,) of each pair its least distance, and where its worst clash is."""
        self._parts: dict[int, _Part] = {}
        self._read: list[tuple[IntArray, IntArray, IntArray]] = []
        """Of each frame the objects that were read and that were checked, and the codes of pairs that could not be."""
        self._last: dict[int, SceneObject] = {}
        self._first: dict[int, Geometry] = {}
        self._moved: list[tuple[int, int, SceneObject]] = []
        """The place of a frame, and which object is as it is there until the next entry."""
        self._skipped: dict[Skipped, tuple[Skipped, list[float]]] = {}
        """By what they are without numbers of frames: the first, and the frames of all."""
        self._ignored: dict[str, int] = {}

    def add(self, frame: float, given: CheckInput, outcome: Outcome) -> None:
        """Take the check of the next frame."""
        numbers = [self.objects.setdefault(obj.key, len(self.objects)) for obj in given.objects]
        self._note_moved(given.objects, numbers)
        clashes = Clashes.joined([outcome.clashes, outcome.approved])
        pairs = self.numbers_of(given.objects, clashes)
        distances = np.array([-np.inf if of is None else of for of in clashes.distances], dtype=np.float64)
        now = np.full((len(self._pairs), 3), np.nan)
        now[pairs] = np.column_stack([distances, clashes.column("lower_bound"), clashes.column("upper_bound")])
        self._depths.add(now)
        more = np.zeros(len(self._pairs) - len(self._worst), self._worst.dtype)
        more["least"] = np.inf
        worst = self._worst = np.concatenate([self._worst, more])
        worst["resolution"][pairs] = np.fmax(worst["resolution"][pairs], clashes.column("resolution"))
        weights = np.where(distances == -np.inf, np.minimum(TOUCHING, clashes.column("upper_bound")), distances)
        worse = np.flatnonzero(weights < worst["least"][pairs])
        part = len(self.frames)
        for name, value in (("least", weights[worse]), ("part", part), ("row", np.arange(len(worse)))):
            worst[name][pairs[worse]] = value
        self._parts[part] = _Part(frame, given.objects, outcome.facts, clashes).take(worse)
        self._parts = {k: self._parts[k] for k in np.unique(worst["part"]).tolist()}
        alone = {key for pair in outcome.unchecked if len(pair) == 1 for key in pair}
        there = [k for k, obj in zip(numbers, given.objects, strict=True) if obj.key not in alone]
        both = [[self.objects[key] for key in pair] for pair in outcome.unchecked if len(pair) == 2]
        codes = _codes(np.array(both, np.intp).reshape(-1, 2))
        self._read.append((np.array(numbers, np.intp), np.array(there, np.intp), codes))
        self.frames.append(frame)
        self.checked += len(clashes) + len(outcome.cleared)
        self._candidates += outcome.candidates
        for entry in dict.fromkeys(outcome.skipped):
            of_frames = entry._replace(reason=re.sub(rf"\bframe {frame:g}\b", "", entry.reason))
            self._skipped.setdefault(of_frames, (entry, []))[1].append(frame)
        for rule, count in outcome.ignored.items():
            self._ignored[rule] = max(count, self._ignored.get(rule, 0))

    def numbers_of(self, objects: Sequence[SceneObject], clashes: Clashes) -> IntArray:
        """Return the numbers of the pairs of clashes (n,)."""
        numbers = np.array([self.objects[obj.key] for obj in objects], np.intp)
        codes = _codes(numbers[clashes.pairs]).tolist()
        return np.array([self._pairs.setdefault(code, len(self._pairs)) for code in codes], np.intp)

    def _note_moved(self, objects: Sequence[SceneObject], numbers: Sequence[int]) -> None:
        for number, obj in zip(numbers, objects, strict=True):
            before = self._last.get(number)
            if before is not None and before.geometry is obj.geometry and np.array_equal(before.matrix, obj.matrix):
                continue
            self._last[number] = obj
            is_same = obj.geometry is self._first.setdefault(number, obj.geometry)
            if not is_same and len(obj.geometry.points) > FEW and follows_mesh(obj.choice):
                obj = replace(obj, geometry=_box(obj.geometry))  # hulls of all frames would take too long
            self._moved.append((len(self.frames), number, obj))

    # in the end ---------------------------------------------------------------------------------------------------

    def merged(self, given: CheckInput) -> tuple[CheckInput, Outcome, FloatArray]:
        """Return the worst clash of each pair as one check, and the frames (n,) of its objects: one is there as often
        as there are frames with clashes of it. given: what was read at one of the frames."""
        objects, facts, frames = list[SceneObject](), list[ShapeFacts](), list[float]()
        clashes = []
        for k, part in self._parts.items():
            part = part.take(self._worst["row"][self._worst["part"] == k])
            clashes.append(part.clashes.renumbered(part.clashes.pairs + len(objects)))
            objects += part.objects
            facts += part.facts.values()
            frames += [part.frame] * len(part.objects)
        found = Clashes.joined(clashes).deepest_first(objects)
        is_left_out = np.zeros(len(found), dtype=bool)
        if given.rules.ignore_approved:
            is_left_out[[k for k in found.judged if found[k].verdict == Verdict.WITHIN]] = True
        outcome = Outcome(
            clashes=found.take(np.flatnonzero(~is_left_out)),
            facts=dict(enumerate(facts)),
            ignored=self._ignored,
            skipped=[
                entry if of == self.frames else entry._replace(reason=at_frames(entry.reason, of, self.frames))
                for entry, of in self._skipped.values()
            ],
            candidates=self._candidates,
            approved=found.take(np.flatnonzero(is_left_out)),
        )
        return replace(given, objects=objects, scopes=[]), outcome, np.array(frames)

    def absent(self) -> dict[Key, tuple[str, list[float]]]:
        """Return the names of objects that were read at some frames only, and the other frames."""
        found: dict[Key, tuple[str, list[float]]] = {}
        keys = list(self.objects)
        for frame, (read, *_) in zip(self.frames, self._read, strict=True):
            for k in np.setdiff1d(np.arange(len(keys)), read).tolist() if len(read) < len(keys) else ():
                if not keys[k][2]:  # instances may have other numbers
                    found.setdefault(keys[k], (self._last[k].name, []))[1].append(frame)
        return found

    @property
    def resolutions(self) -> FloatArray:
        """(n,) of all pairs."""
        found: FloatArray = self._worst["resolution"]
        return found

    def series(self) -> dict[str, Changes]:
        """Return the signed distances of all pairs with their bounds, minus infinity where there is no depth, and where
        they were not checked."""
        missing = _Recorder(1)
        for _, there, codes in self._read:
            missing.add(np.where(self._are_checked(there, codes), np.nan, 1.0)[:, None])
        return {"depths": self._depths.changes(), "unchecked": missing.changes()}

    @property
    def _ends(self) -> IntArray:
        """(n, 2) the numbers of the objects of pairs."""
        return _pairs_of(np.array(list(self._pairs), np.intp))

    def _are_checked(self, there: IntArray, codes: IntArray) -> BoolArray:
        is_there = np.isin(np.arange(len(self.objects)), there)
        checked: BoolArray = is_there[self._ends].all(axis=1) & ~np.isin(list(self._pairs), codes)
        return checked

    def gaps(self, progress: Progress | None = None) -> Changes:
        """Return the gaps of all pairs where they are apart, and 1 where these are exact, 0 where they are lower
        bounds, of convex hulls and of boxes around what deforms. Cancelled, it knows none."""
        ends, depths, count = self._ends, self._depths.changes(), len(self.frames)
        is_apart = np.stack([np.isnan(depths.of(k, count)[:, 0]) for k in range(len(ends))] or [np.zeros(count, bool)])
        now, left = np.zeros(len(self.objects), np.intp), list(enumerate(self._moved))[::-1]
        rows, wanted = [], dict[int, int]()
        for place, (_, there, codes) in enumerate(self._read):
            while left and left[-1][1][0] == place:
                k, (_, number, _) = left.pop()
                now[number] = k
            pairs = np.flatnonzero(is_apart[: len(ends), place] & self._are_checked(there, codes))
            sides = _codes(now[ends[pairs]]).tolist()
            rows.append((pairs, np.array([wanted.setdefault(code, len(wanted)) for code in sides], np.intp)))
        found = np.full((len(wanted), 2), np.nan)
        with suppress(Cancelled):  # what was not reached is not known
            found[:MOST_GAPS] = self._solved(np.array(list(wanted)[:MOST_GAPS], np.intp), progress)
        result = _Recorder(2)
        for pairs, solved in rows:
            values = np.full((len(ends), 2), np.nan)
            values[pairs] = found[solved]
            result.add(values)
        return result.changes()

    def _solved(self, codes: IntArray, progress: Progress | None) -> FloatArray:
        """Return of pairs of what moved, by their codes (n,), the gaps, and whether they are exact (n, 2)."""
        used, places = np.unique(_pairs_of(codes), return_inverse=True)
        known = {k: bound for k, place in enumerate(used.tolist()) if (bound := _bound(self._moved[place][2]))}
        pairs = places.reshape(-1, 2)
        rows = np.flatnonzero(np.isin(pairs, list(known)).all(axis=1))
        result = np.full((len(codes), 2), np.nan)
        if len(rows):
            shapes, poses, exact = zip(*known.values(), strict=True)
            pairs = np.searchsorted(list(known), pairs[rows])
            found = contacts(
                ShapeSet(shapes),
                pairs,
                poses=np.stack(poses),
                regions=False,
                certificates=False,
                reproducible=True,
                progress=progress,
            )
            is_exact = np.array(exact)[pairs].all(axis=1)
            gaps = np.where(is_exact, found.signed_distance, found.lower_bound)
            result[rows] = np.where((gaps > 0.0)[:, None], np.column_stack([gaps, is_exact]), np.nan)
        return result


def _codes(pairs: IntArray) -> IntArray:
    """Return a number for each pair of numbers (n, 2), in any order."""
    codes: IntArray = np.sort(pairs, axis=1) @ _CODE
    return codes


def _pairs_of(codes: IntArray) -> IntArray:
    """Return the pairs of numbers (n, 2) of which these are."""
    return np.column_stack(np.divmod(codes, _CODE[0]))


def _box(geometry: Geometry) -> Geometry:
    """Return the corners of the bounding box of a geometry."""
    corners = np.stack(np.meshgrid(*np.transpose(geometry.bounds), indexing="ij"), axis=-1).reshape(-1, 3)
    return Geometry(corners, np.zeros((0, 3), np.int32), b"")


def _bound(obj: SceneObject) -> tuple[Any, FloatArray, bool] | None:
    """Return a convex bound of an object, its pose, and whether it is its bound; None where there is none."""
    if obj.parts or obj.kind == COMPOUND:
        return None
    try:
        if obj.kind in PRIMITIVES:
            return WorldShape(obj).convex_bound, np.eye(4), True
        return obj.geometry.convex_bound, obj.matrix, obj.kind != MESH
    except ValueError:  # the checks say so
        return None
