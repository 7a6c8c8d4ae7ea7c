# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of scenes as one document. docs/report.md describes it."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ... import __version__
from ..clashes import changes, check_settings, clash_renewal
from ..clashes.clash_renewal import OverList
from ..clashes.stored_frames import stored_frames
from ..data import messages
from ..data.frame_lists import frames_text
from ..data.lazy_rows import LazyRows, column
from ..data.objects import frame_of
from ..data.records import Pair
from ..data.units import UnitFormat
from ..frames.motion import motion
from ..frames.over_frames import frames_of, over_frames
from ..page import html_report
from ..read.scene_objects import CheckInput
from ..scene import clash_ids
from ..scene.clash_rows import SERIES, in_scene_units, rows, unit_format
from ..scene.scene_check import Outcome
from . import csv_report, json_report, junit_report
from .criteria import Criteria
from .order import ordered

SCHEMA_VERSION = 3

Document = dict[str, Any]

WRITERS: dict[str, Callable[[Document, Criteria], Iterable[str]]] = {
    "json": lambda document, _: json_report.json_parts(document),
    "csv": lambda document, _: csv_report.csv_parts(document),
    "html": lambda document, _: (html_report.to_html(document),),
    "junit": junit_report.junit_parts,
}
"""How a document is written; the criteria say what counts."""


def input_of(path: str) -> dict[str, Any]:
    """Return what a document says of a file that is to be checked, before its bytes and those of the libraries that it
    uses are read."""
    unknown = dict.fromkeys(("sha256", "saved_with", "libraries", "error"))
    return {"file": Path(path).name or None, "path": path or None, **unknown}


def check_record(
    scene: bpy.types.Scene,
    given: CheckInput,
    outcome: Outcome,
    statuses: Mapping[Pair | None, str] | None = None,
    ids: clash_ids.KnownIds | None = None,
    frame: float | None = None,
    changed: Pair = frozenset(),
    known_sides: dict[object, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return a check as plain data in Blender units, its findings made on access.

    statuses, ids: of the pairs that are known; without them the findings have none. frame: of the check, if not the
    scene's current one. changed: the objects that were left out, as they have changed. known_sides: as of `rows`.
    """
    frame = frame_of(scene) if frame is None else frame
    more = {"frame": frame, "apart": False, "out_of_date": None}
    columns = {}
    if statuses is not None:
        found_statuses = clash_renewal.statuses_of(given.objects, outcome.clashes, statuses)
        columns["status"] = [sys.intern(status.lower()) for status in found_statuses]
    if ids is not None:
        columns["id"] = clash_ids.of_clashes(given.objects, outcome.clashes, ids)
    found = rows(given.objects, outcome.clashes, outcome.facts, given.units, more, columns, known_sides)
    return {
        "file": Path(bpy.data.filepath).name or None,
        "path": bpy.data.filepath or None,
        "scene": scene.name,
        "frame": frame,
        "partial": outcome.partial,
        "motion": None,
        "units": UnitFormat.of_scene(scene).record(),
        "settings": asdict(given.rules),
        "objects": len(given.objects) - len(changed),
        "candidate_pairs": outcome.candidates,
        "checked_pairs": len(outcome.clashes) + len(outcome.cleared) + len(outcome.approved),
        "relations": dict(sorted(Counter(column(found, "relation")).items())),
        "ignored_pairs": dict(sorted(outcome.ignored.items())),
        "skipped": [skipped.record() for skipped in outcome.skipped],
        "left_out": given.left_out,
        "differences": given.differences,
        "out_of_date": 0,
        "gone": None,
        "not_compared": None,
        "findings": found,
    }


def store_check(
    scene: bpy.types.Scene,
    given: CheckInput,
    outcome: Outcome,
    frame: float | None = None,
    changed: Pair = frozenset(),
    over: OverList | None = None,
) -> None:
    """Store a check in the scene's list of findings. over: of a check of frames; else as of `check_record`."""
    record = check_record(scene, given, outcome, frame=frame, changed=changed)
    if over is not None:
        record |= {"checked_pairs": over.found.checked, "objects": len(over.found.objects), "motion": motion(None)}
    approved = rows(given.objects, outcome.approved, outcome.facts, given.units, {"frame": record["frame"]})
    clash_renewal.store(scene, given, outcome, record, approved, changed, over)


def update_clashes(
    scene: bpy.types.Scene, given: CheckInput, outcome: Outcome, frame: float, changed: Pair = frozenset()
) -> None:
    """Store the check of some pairs, at a frame, in the scene's list. changed: as of `check_record`."""
    found = rows(given.objects, outcome.clashes, outcome.facts, given.units, {"frame": frame})
    clash_renewal.update(scene, given, outcome, found, frame, changed)


def reported(check: dict[str, Any]) -> dict[str, Any]:
    """Return a check in Blender units as documents have it: in the units of its scene, everything in order."""
    return ordered(in_scene_units(check))


def document(
    checks: list[dict[str, Any]],
    stopped: bool = False,
    inputs: list[dict[str, Any]] | None = None,
    part: dict[str, Any] | None = None,
    earlier: Mapping[str, Any] | None = None,
) -> Document:
    """Return checks, one for each file and frame, as one document; stopped: whether there should be more.

    checks: as `reported`. inputs: all files that were asked for, as `input_of` has them, with an `error` where one
    could not be checked; those of the checks if not given. part: of which run it is a part; None of a whole one.
    earlier: `baseline` and `decisions`. What is written is a function of the document, and of pictures, about which its
    `pictures` are sentences for the page.
    """
    return {
        "schema": json_report.SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "contact_lens": __version__,
        "blender": bpy.app.version_string,
        "numpy": np.__version__,
        "files": list(dict.fromkeys(check["file"] for check in checks)),
        "frames": list(dict.fromkeys(frame for check in checks for frame in frames_of(check))),
        "inputs": [input_of(check.get("path") or "") for check in checks] if inputs is None else inputs,
        "between_frames": between_frames(checks),
        "part": part,
        **(earlier or {"baseline": None, "decisions": None}),
        "partial": stopped or any(check["partial"] for check in checks),
        "pictures": [],
        "over_frames": over_frames(checks) if part is None else None,
        "checks": checks,
    }


def checks_of(scene: bpy.types.Scene) -> list[dict[str, Any]]:
    """Return the last check of the scene in Blender units, with the names, statuses and unit settings of today.

    Each finding says whether it is out of date. Empty when there was none.
    """
    check = check_settings.of_scene(scene)
    if not check.summary:
        return []
    record: dict[str, Any] = json.loads(check.summary)
    if scene == bpy.context.scene:
        changes.settle(bpy.context)
    findings = list(check.findings)  # a finding is looked up by going through those before

    def make(k: int) -> dict[str, Any]:
        # Findings of files saved earlier do not say of which frame they are.
        row = {"frame": record["frame"], **findings[k].row()}
        row["out_of_date"] = findings[k].why_out_of_date(k) or None
        row.pop("scale_length", None)
        return row

    columns = {
        "relation": [finding.relation for finding in findings],
        "status": [finding.status.lower() for finding in findings],
        "apart": [finding.is_apart for finding in findings],
        "margins": [finding.margins for finding in findings],
    }
    outdated = sum(changes.reason(scene, k)[1] != "" for k in range(len(findings)))
    rows = LazyRows(len(findings), make, columns)
    return [
        {
            "gone": None,
            "not_compared": None,
            **record,
            "units": UnitFormat.of_scene(scene).record(),
            "out_of_date": outdated,
            SERIES: stored_frames(scene),
            "findings": rows,
        }
    ]


def not_reached(missing: Sequence[tuple[str, int | None]], total: int) -> str:
    """Return why a file could not be checked, or not all scenes and frames of it, in a run that was stopped."""
    return (
        f"the run was stopped before it reached {cells_text(missing)}" if len(missing) < total else messages.NOT_REACHED
    )


def cells_text(cells: Sequence[tuple[str, int | None]]) -> str:
    """Return scenes and frames of a file in words; of a single scene without its name."""
    frames: dict[str, list[int]] = {}
    for name, frame in cells:
        frames.setdefault(name, []).extend(() if frame is None else (frame,))
    words = {name: f"frames {frames_text(of)}" if of else "" for name, of in frames.items()}
    if len(frames) == 1:
        return "".join(words.values())
    return "; ".join(f"'{name}'{', ' if text else ''}{text}" for name, text in words.items())


def between_frames(checks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what to know of each scene of a file that was checked at a list of frames."""
    of_scenes: dict[tuple[str | None, str], list[dict[str, Any]]] = {}
    for check in checks:
        of_scenes.setdefault((check.get("path"), check["scene"]), []).append(check)
    entries = [
        {"path": path, "scene": name, "words": motion_words(of_scene)} for (path, name), of_scene in of_scenes.items()
    ]
    return [entry for entry in entries if entry["words"]]


_SAMPLES = "Frames are samples: what happens between them is not checked."


def motion_words(checks: Sequence[dict[str, Any]]) -> str:
    """Say of the checked frames of a scene that they are samples, and how far the fastest object moved between two.

    Empty for checks that are not of a list of frames. checks: as `reported`.
    """
    sampled = [check for check in checks if check.get("motion") is not None]
    if not sampled:
        return ""
    pairs = [check for check in sampled if check["motion"]["since_frame"] is not None]
    if not pairs:
        return _SAMPLES
    check = max(pairs, key=_extents)
    if check["motion"]["object"] is None:
        return f"{_SAMPLES} No checked object moved from one frame to the next, unless it was hidden at one of them."
    return _motion(check["motion"], check["frame"], unit_format(check))


def _motion(fastest: Mapping[str, Any], frame: float, units: messages.Lengths) -> str:
    """Return how far the object that is fastest for its size moved between two checked frames."""
    text = (
        f"{_SAMPLES} The fastest object for its size, '{fastest['object']}', moved {units.length(fastest['distance'])} "
        f"from frame {fastest['since_frame']} to frame {frame}: "
    )
    unnoticed = ", so it may pass through others unnoticed."
    if fastest["extents"] is None:
        return f"{text}it has no extent in that direction{unnoticed}"
    text += f"{fastest['extents']:.3g} times its extent in that direction ({units.length(fastest['extent'])})"
    return text + (unnoticed if fastest["extents"] >= 1.0 else ".")


def _extents(check: dict[str, Any]) -> float:
    return math.inf if check["motion"]["extents"] is None else check["motion"]["extents"]
