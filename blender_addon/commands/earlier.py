# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run takes from earlier ones: a report to compare with, and decisions about clashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ..data import messages
from ..data.objects import frame_of
from ..data.records import Pair
from ..frames.over_frames import over_frames
from ..history import decisions_file
from ..history.baseline import Baseline
from ..history.looked_at import looked_at
from ..history.merging import LOOKED_AT
from ..read.scene_objects import CheckInput
from ..scene.clash_ids import KnownIds
from ..scene.clashes import Clashes
from ..scene.decisions import Decision, Decisions
from ..scene.scene_check import Outcome
from ..terminal.check_lines import first_of
from ..terminal.outcome import UsageError


@dataclass(frozen=True)
class Earlier:
    """A report to compare with and decisions, each None where there is none."""

    baseline: Baseline | None
    decisions: Decisions | None

    @classmethod
    def read(
        cls,
        baseline: str | None,
        decisions: str | None,
        paths: Sequence[str | None],
        frames: Sequence[int] | None = None,
    ) -> Earlier:
        """Read both for a run of some files, at a list of frames. Raises BaselineError and DecisionsError."""
        result = cls(
            None if baseline is None else Baseline.read(baseline),
            None if decisions is None else decisions_file.read(decisions),
        )
        if result.baseline is not None:
            result.baseline.begin(paths, frames)
        return result

    def open(self, scenes: Sequence[bpy.types.Scene], frames: Sequence[int] | None) -> None:
        """Begin some scenes of the open file. Raises BaselineError where the baseline has others, or another frame."""
        if self.baseline is not None:
            of_scenes: dict[str, Sequence[float]] = {scene.name: frames or [frame_of(scene)] for scene in scenes}
            self.baseline.open(bpy.data.filepath or None, of_scenes)

    def decide(self, given: CheckInput, known: KnownIds) -> Callable[[Clashes], Mapping[Pair, Decision]]:
        """Return what returns the decisions about clashes of the open file; known: the ids of those of its list."""
        if self.decisions is None:
            return lambda clashes: {}
        decisions = self.decisions
        return lambda clashes: decisions.about(given.objects, clashes, known, Path(bpy.data.filepath).name)

    def looked_at(
        self, check: dict[str, Any], scene: bpy.types.Scene, given: CheckInput, outcome: Outcome, known: KnownIds
    ) -> dict[str, Any]:
        """Return what a check of the open file says of the clashes of the baseline: which it has looked at. known: the
        ids of the clashes of the file's list."""
        if self.baseline is None:
            return {}
        clashes = self.baseline.earlier(check["path"], check["scene"], check["frame"])
        return {LOOKED_AT: looked_at(scene, given, outcome, known, clashes)._asdict()}

    def compared(self, checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the checks of a scene, each with what it has looked at, compared with the baseline."""
        is_done = self.baseline is None or LOOKED_AT not in checks[0]
        return checks if is_done else self.baseline.compared(checks)

    @property
    def digests(self) -> dict[str, str | None]:
        """The SHA-256 of both files."""
        return {
            "baseline": None if self.baseline is None else self.baseline.sha256,
            "decisions": None if self.decisions is None else self.decisions.sha256,
        }

    def record(self, stopped: bool) -> dict[str, Any]:
        """Return what a document says of both; stopped: whether the run was."""
        decisions = self.decisions
        return {
            "baseline": None if self.baseline is None else self.baseline.record(),
            "decisions": None if decisions is None else decisions_file.record(decisions, stopped),
        }


def lines_of_earlier(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a document says of its baseline and decisions as lines of text."""
    if (baseline := record["baseline"]) is not None:
        yield from first_of(list(map(messages.other_frames, baseline.get("frames", ()))))
        yield from first_of(list(map(messages.check_not_compared, baseline["not_compared"])))
    if (decisions := record["decisions"]) is not None:
        yield from first_of([messages.decision_unused(decisions["file"], *of.values()) for of in decisions["unused"]])


def compare_with_baseline(document: dict[str, Any], run: Mapping[str, Any], path: str | None) -> None:
    """Compare a merged document with the baseline that its parts have read. Raises BaselineError and UsageError."""
    digest = run["options"]["baseline"]
    if path is None and digest is None:
        return
    if path is None or digest is None:
        raise UsageError(
            "the parts are compared with a baseline: give it to merge too, with --baseline"
            if path is None
            else "the parts are not compared with a baseline: repeat --baseline in the command of each"
        )
    baseline = Baseline.read(path)
    if baseline.sha256 != digest:
        raise UsageError(f"{path} is not the baseline of the parts: give the same file to all")
    baseline.begin([source["path"] for source in document["inputs"]], run["frames"])
    checks, scenes = document["checks"], dict[tuple[Any, ...], list[int]]()
    times = Counter[tuple[Any, ...]]()  # a file may be named twice
    for place, check in enumerate(checks):
        cell = check["path"], check["scene"], check["frame"]
        scenes.setdefault((*cell[:2], times[cell]), []).append(place)
        times[cell] += 1
    for places in scenes.values():
        for place, check in zip(places, baseline.compared([checks[place] for place in places]), strict=True):
            checks[place] = check
    document["baseline"], document["over_frames"] = baseline.record(), over_frames(checks)
