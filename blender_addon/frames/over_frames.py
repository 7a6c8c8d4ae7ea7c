# SPDX-License-Identifier: GPL-3.0-or-later
"""Clashes over frames: of each pair at which frames of a list it was found, how deep, and whether it is permanent.

A pure function of the checks of a whole run: of a part it would say that a clash is permanent which is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...core.types import BoolArray, FloatArray, IntArray
from ..data.lazy_rows import Row, columns
from ..data.messages import pair_name
from ..data.records import Approval
from ..scene.clash_rows import APART, RESOLVED, SERIES, words

Owner = tuple[str | None, str | None]
"""Name and library of an object, of an instance those of what makes it."""
Interval = tuple[float, float]
"""The first and the last of successive frames."""
HIDDEN = "hidden"
"""What a check of one of several frames says: the objects, each an `Owner`, that are not visible at the frame."""
NOT_READ = frozenset({"geometry", "hidden", "pair", "changed"})
"""Why something is skipped that was then not checked at all."""
TOUCHING = -np.nextafter(0.0, 1.0)
"""As deep as this counts what has no depth: beside what touches, before it."""


def intervals_of(frames: FloatArray, mask: BoolArray) -> list[Interval]:
    """Return the successive ones of frames (n,), which are ascending, at which a mask (n,) is true."""
    is_in = np.concatenate([[False], mask, [False]])
    ends = np.flatnonzero(is_in[1:] != is_in[:-1]).reshape(-1, 2) - [0, 1]
    return [(frame_number(first), frame_number(last)) for first, last in frames[ends].tolist()]


def frame_number(frame: float) -> float:
    """Return a frame as it is written: whole ones without a point."""
    return int(frame) if float(frame).is_integer() else float(frame)


@dataclass(frozen=True, eq=False)
class OverFrames:
    """A pair over a list of frames."""

    frames: FloatArray
    """(n,) ascending."""
    found: BoolArray
    """(n,) whether it is a clash."""
    checked: BoolArray
    """(n,) whether both objects were checked; they were where it was found."""
    distances: FloatArray
    """(n,) the signed distance where it was found, minus infinity where there is no depth; else NaN."""
    resolution: float
    """Smaller differences of the distances are not known."""
    bounds: FloatArray | float = np.nan
    """(n,) upper ones of the distances, which stand for those that were not searched; NaN where there are none."""

    @property
    def first(self) -> float:
        """The first frame at which it was found."""
        return frame_number(self.frames[self._places[0]])

    @property
    def last(self) -> float:
        return frame_number(self.frames[self._places[-1]])

    @property
    def worst(self) -> float:
        """The first of the frames at which it is deepest, or nearest."""
        return frame_number(self.frames[self.worst_index])

    @cached_property
    def worst_index(self) -> int:
        """The place of that in the list."""
        return int(np.nanargmin(self._weights))

    @property
    def weight(self) -> float:
        """The least signed distance, by which clashes are in order."""
        return float(self._weights[self.worst_index])

    @property
    def intervals(self) -> list[Interval]:
        """Successive checked frames at which it was found."""
        return intervals_of(self.frames[self.checked], self.found[self.checked])

    @property
    def not_checked(self) -> list[Interval]:
        """Successive frames at which not both objects were checked."""
        return intervals_of(self.frames, ~self.checked)

    @cached_property
    def is_permanent(self) -> bool:
        """Whether it was found at every checked frame, at least two, and never deeper than at the first of them."""
        if self.checked.sum() < 2 or not self.found[self.checked].all():
            return False
        distances = self.distances[self._places]
        least = distances[distances > -np.inf].min(initial=np.inf)  # the others are no deeper
        first, *others = (None if of == -np.inf else float(of) for of in (distances[0], distances.min(), least))
        return all(Approval(first).covers(of, self.resolution) for of in others)

    @cached_property
    def _places(self) -> IntArray:
        return np.flatnonzero(self.found)

    @cached_property
    def _weights(self) -> FloatArray:
        return np.where(self.distances == -np.inf, np.fmin(TOUCHING, self.bounds), self.distances)


@dataclass(frozen=True, eq=False)
class ClashOverFrames:
    """A pair of a document over the frames at which a scene was checked."""

    over: OverFrames
    checks: Sequence[int]
    """(n) of each frame the place of the check in the document."""
    numbers: IntArray
    """(n,) of each frame the place among the findings of the check; -1 where it was not found."""
    id: str

    @property
    def rows(self) -> Mapping[float, tuple[int, int]]:
        """By the frames at which it was found the places of the check and of the finding."""
        found = zip(self.over.frames.tolist(), self.checks, self.numbers.tolist(), strict=True)
        return {frame: (check, row) for frame, check, row in found if row >= 0}

    @property
    def check(self) -> int:
        """The place of the check of the worst frame."""
        return self.checks[self.over.worst_index]

    @property
    def row(self) -> int:
        """The place of the clash in it."""
        return int(self.numbers[self.over.worst_index])

    def record(self, checks: Sequence[Mapping[str, Any]]) -> Row:
        """Return it as plain data; checks: those of the document."""
        over, row = self.over, checks[self.check]["findings"][self.row]
        return {
            "id": self.id,
            "a": row["a"]["name"],
            "b": row["b"]["name"],
            "permanent": over.is_permanent,
            "first": over.first,
            "worst": over.worst,
            "last": over.last,
            "intervals": over.intervals,
            "not_checked": over.not_checked,
            **{name: row[name] for name in ("relation", "signed_distance", "status", "change")},
        }


@dataclass(frozen=True, eq=False)
class SceneOverFrames:
    """A scene of a document that was checked at two or more frames."""

    path: str | None
    scene: str
    checks: list[int]
    """The places of its checks in the document, by ascending frame."""
    frames: list[float]
    clashes: list[ClashOverFrames]
    """Transient ones first, the deepest first."""

    @property
    def permanent(self) -> list[ClashOverFrames]:
        return [clash for clash in self.clashes if clash.over.is_permanent]

    @property
    def quiet(self) -> list[float]:
        """The frames without clashes."""
        found = np.zeros(len(self.frames), dtype=bool)
        for clash in self.clashes:
            found |= clash.over.found
        return [frame for frame, is_found in zip(self.frames, found.tolist(), strict=True) if not is_found]

    def record(self, checks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return it as plain data, its clashes last; checks: those of the document."""
        return {
            "path": self.path,
            "scene": self.scene,
            "frames": self.frames,
            "transient": len(self.clashes) - len(self.permanent),
            "permanent": len(self.permanent),
            "quiet": self.quiet,
            "clashes": [clash.record(checks) for clash in self.clashes],
        }


def over_frames(checks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the scenes that were checked at two or more frames as plain data; checks: as of `scenes_over_frames`."""
    return [scene.record(checks) for scene in scenes_over_frames(checks)]


def scenes_over_frames(checks: Sequence[Mapping[str, Any]]) -> list[SceneOverFrames]:
    """Return the scenes that were checked at two or more frames; checks: of a whole document, as `reported`.

    One that was stopped is not among them: which pairs were not checked there is not known. Of a list all frames that
    it has are.
    """
    places: dict[tuple[str | None, str, int], dict[float, int]] = {}
    times = Counter[tuple[Any, ...]]()  # a file may be named twice
    for place, check in enumerate(checks):
        if not check["partial"] and check.get(SERIES) is None:
            cell = check.get("path"), check["scene"], check["frame"]
            places.setdefault((*cell[:2], times[cell]), {})[check["frame"]] = place
            times[cell] += 1
    scenes = [
        _scene(path, name, dict(sorted(of_scene.items())), checks)
        for (path, name, _), of_scene in places.items()
        if len(of_scene) > 1
    ]
    return scenes + [_scene_of_list(k, check) for k, check in enumerate(checks) if len(frames_of(check)) > 1]


def frames_of(check: Mapping[str, Any]) -> list[float]:
    """Return the frames that a check is of: one, or those of a list."""
    series = check.get(SERIES)
    return [check["frame"]] if series is None else [frame_number(frame) for frame in series.frames.tolist()]


def _scene_of_list(place: int, check: Mapping[str, Any]) -> SceneOverFrames:
    frames, found = frames_of(check), columns(check["findings"], "id", "a", "b")
    clashes = []
    for row, (name, a, b, word) in enumerate(zip(*found, words(check["findings"]), strict=True)):
        over: OverFrames | None = check[SERIES].over(name)
        if over is not None and word not in (RESOLVED, APART):
            numbers = np.where(over.found, row, -1)
            clashes.append(((a, b), ClashOverFrames(over, [place] * len(frames), numbers, name)))
    return SceneOverFrames(check["path"], check["scene"], [place], frames, _in_order(clashes))


def _in_order(clashes: Sequence[tuple[tuple[Row, Row], ClashOverFrames]]) -> list[ClashOverFrames]:
    """Return clashes, which are given with their sides, transient ones first, the deepest first."""

    def key(entry: tuple[tuple[Row, Row], ClashOverFrames]) -> tuple[Any, ...]:
        sides, clash = entry
        return clash.over.is_permanent, clash.over.weight, *(side["name"] for side in sides), clash.id

    return [clash for _, clash in sorted(clashes, key=key)]


def _scene(
    path: str | None, scene: str, places: Mapping[float, int], checks: Sequence[Mapping[str, Any]]
) -> SceneOverFrames:
    of_scene = [checks[place] for place in places.values()]
    known: dict[str, tuple[IntArray, FloatArray, FloatArray, FloatArray, Row, Row]] = {}
    for k, check in enumerate(of_scene):
        findings, count = check["findings"], len(of_scene)
        of_check = columns(findings, "id", "a", "b", "signed_distance", "upper_bound", "resolution")
        for row, (word, name, a, b, distance, bound, step) in enumerate(zip(words(findings), *of_check, strict=True)):
            if word in (RESOLVED, APART):
                continue
            if name not in known:
                known[name] = np.full(count, -1, np.intp), *np.full((2, count), np.nan), np.zeros(count), a, b
            rows, distances, bounds, steps, *_ = known[name]
            rows[k], distances[k], steps[k] = row, -np.inf if distance is None else distance, step or 0.0
            bounds[k] = np.nan if bound is None else bound
    absent = [_absent(check) for check in of_scene]
    frames = np.array(list(places), dtype=np.float64)
    clashes = []
    for name, (rows, distances, bounds, steps, a, b) in known.items():
        found, things = rows >= 0, _things(a, b)
        checked = found | [things.isdisjoint(of) for of in absent]
        over = OverFrames(frames, found, checked, distances, float(steps.max()), bounds)
        clashes.append(((a, b), ClashOverFrames(over, list(places.values()), rows, name)))
    return SceneOverFrames(path, scene, list(places.values()), list(places), _in_order(clashes))


def _absent(check: Mapping[str, Any]) -> set[Owner | str]:
    """Return what was not checked at all: hidden objects, and the names of what was not read. What Blender may have
    evaluated wrong was checked as it is: else a pair that is found there only would be permanent."""
    found: set[Owner | str] = {(name, library) for name, library in check.get(HIDDEN) or ()}
    return found | {entry["name"] for entry in check["skipped"] if entry["unchecked"] and entry["kind"] in NOT_READ}


def _things(a: Row, b: Row) -> set[Owner | str | None]:
    """Return as what a pair is not checked."""
    found: set[Owner | str | None] = {pair_name(a["name"], b["name"]), pair_name(b["name"], a["name"])}
    for side in (a, b):
        owner = ("object", "library") if side["instance"] is None else ("instancer", "instancer_library")
        found |= {(side[owner[0]], side[owner[1]]), side["name"], side["object"], side["instancer"]}
    return found
