# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of scenes as one document, with pictures of the pairs where there is a GPU. docs/report.md describes it."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy

from ... import __version__
from ..check import motion as scene_motion
from ..data.units import UnitFormat, counted
from ..draw.isolated_pair import isolate
from ..draw.picture import GpuUnavailable, render_isolated
from ..read.scene import frame_of
from ..read.scene_objects import Item
from . import csv_report as report_csv
from . import files as report_files
from . import html_report as report_html
from . import json_report as report_json
from . import messages as answer_words

SCHEMA_VERSION = 2
PICTURE_SIZE = (640, 400)

Document = dict[str, Any]

WRITERS: dict[str, Callable[[Document], str]] = {
    "json": report_json.to_json,
    "csv": report_csv.to_csv,
    "html": report_html.to_html,
}


def input_of(path: str, sha256: str | None = None) -> dict[str, Any]:
    """Return what a document says of a file that is to be checked; sha256: of its bytes, where they were read."""
    return {"file": Path(path).name or None, "path": path or None, "sha256": sha256, "error": None}


def document(
    checks: list[dict[str, Any]], stopped: bool = False, inputs: list[dict[str, Any]] | None = None
) -> Document:
    """Return checks, one for each file and frame, as one document; stopped: whether there should be more.

    inputs: all files that were asked for, as `input_of` has them, with an `error` where one could not be checked; those
    of the checks if not given. The document is in Blender units, as the checks are; what writes it turns that into the
    scenes' units.
    """
    return {
        "schema": report_json.SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "contact_lens": __version__,
        "blender": bpy.app.version_string,
        "files": list(dict.fromkeys(check["file"] for check in checks)),
        "frames": list(dict.fromkeys(check["frame"] for check in checks)),
        "inputs": [input_of(check.get("path") or "") for check in checks] if inputs is None else inputs,
        "between_frames": _between_frames(checks),
        "partial": stopped or any(check["partial"] for check in checks),
        "checks": checks,
    }


def _between_frames(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what to know of each file that was checked at a list of frames."""
    of_files: dict[str | None, list[dict[str, Any]]] = {}
    for check in checks:
        of_files.setdefault(check.get("path"), []).append(check)
    told = [{"path": path, "words": scene_motion.words(some)} for path, some in of_files.items()]
    return [entry for entry in told if entry["words"]]


def one_line(check: dict[str, Any]) -> str:
    """A check in one line: 'Scene: 12 objects, 3 findings (2 penetrating, 1 touching)'."""
    found = [row for row in check["findings"] if row.get("status") != "resolved"]
    counts: dict[str, int] = {}
    for row in found:
        word = row["relation"].replace("_", " ")
        counts[word] = counts.get(word, 0) + 1
    text = f"{check['scene']}: {counted(check['objects'], 'object')}, {counted(len(found), 'finding')}"
    if counts:
        text += f" ({', '.join(f'{number:,} {word}' for word, number in counts.items())})"
    text += "".join(f", {words}" for words in answer_words.left_out(check))
    if check["partial"]:
        text += ", stopped early"
    return text


def take_pictures(
    context: bpy.types.Context, check: dict[str, Any], pairs: Sequence[tuple[Item, Item] | None], most: int
) -> None:
    """Put a picture into the first rows of a check of the scene as it is now.

    pairs: both things of each row, as they are now; None where one is gone. What keeps a pair from having a picture is
    told in the row, or in the check where it holds for all. A finding of another frame has none: it would show another
    pose.
    """
    taken = 0
    clearance, tolerance = check["settings"]["clearance"], check["settings"]["contact_tolerance"]
    units, now = UnitFormat.of_scene(context.scene), frame_of(context.scene)
    try:
        with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
            path = Path(folder) / "pair.png"
            for row, pair in zip(check["findings"], pairs, strict=True):
                if row.get("status") == "resolved":
                    continue
                if taken >= most:
                    check["pictures"] = f"Pictures of the first {most} pairs"
                    break
                if pair is None:
                    row["no_picture"] = "no longer there"
                    continue
                if row["out_of_date"]:
                    row["no_picture"] = "out of date"
                    continue
                if row["frame"] != now:
                    row["no_picture"] = f"found at frame {row['frame']}"
                    continue
                try:
                    render_isolated(context, isolate(*pair, clearance, tolerance, units), str(path), *PICTURE_SIZE)
                except GpuUnavailable as error:
                    check["pictures"] = f"No pictures: {error}"
                    break
                except (ValueError, RuntimeError) as error:
                    row["no_picture"] = str(error)
                    continue
                row["picture"] = base64.b64encode(path.read_bytes()).decode("ascii")
                taken += 1
    except OSError as error:  # such as no room for them: the report goes without
        check["pictures"] = f"No {'more ' if taken else ''}pictures: {report_files.reason(error)}"
