# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the worst clashes of a run, drawn when all is checked or merged: its parts need no GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import bpy

from ...core.progress import Cancelled
from ..data import messages
from ..data.lazy_rows import LazyRows
from ..data.records import Rules
from ..draw.picture import GpuUnavailable
from ..geometry.snapshot import ReadError
from ..report import files as report_files
from ..report.pictures import ClashPlace, ScenePair, pair_finder, picture_file, take_picture, worst
from ..terminal.outcome import UsageError, complain_of_a_fault
from ..terminal.progress import Progress
from . import blend_file
from .scene_frames import SceneFrames


def draw_worst(
    document: dict[str, Any],
    most: int,
    progress: Progress,
    is_stopped: Callable[[], bool],
    *,
    with_scripts: bool,
    run_scripts: bool,
    opened: str | None = None,
) -> bool:
    """Put a picture of each of the worst clashes into a document, at most so many, and what to know of them.

    is_stopped: whether to draw no more; with_scripts: whether the files were checked with their scripts; run_scripts:
    whether these may run for pictures; opened: the path of the file that is open as it was checked. Returns whether it
    was not stopped.
    """
    checks = document["checks"]
    places, pairs = worst(checks, most) if most else ([], 0)
    if not places:
        return True
    if document["blender"] != bpy.app.version_string:
        reason = f"the parts were checked with Blender {document['blender']}, and this is {bpy.app.version_string}"
        document["pictures"] = [messages.no_pictures(reason)]
        return True
    places.sort(key=lambda place: checks[place.check]["path"] != opened)  # opening a file takes time
    inputs = {source["path"]: source for source in document["inputs"]}
    notes: list[str] = []
    drawn, is_whole = 0, True
    try:
        with picture_file() as target:
            each = _each(places, progress, is_stopped)
            for path, of_file in groupby(each, lambda place: checks[place.check]["path"]):
                before = drawn
                try:
                    if path != opened:
                        progress.end_frame()  # Blender prints that it opens a file
                        opened = None
                        _open(inputs[path], with_scripts, run_scripts)
                        opened = path
                    for place, pair in _at_their_frames(checks, of_file):
                        check = checks[place.check]
                        if pair is None:
                            check["findings"].add(
                                place.row, no_picture="no picture: the objects are not as they were checked"
                            )
                        else:
                            drawn += take_picture(bpy.context, check, place.row, pair, target)
                except (Cancelled, GpuUnavailable, OSError):
                    raise
                except Exception as error:  # a fault costs pictures, not what was checked
                    is_fault = not isinstance(error, UsageError | ReadError)
                    reason = f"{type(error).__name__}: {error}" if is_fault else str(error)
                    file = inputs[path]["file"] if len(inputs) > 1 else ""
                    notes.append(messages.no_pictures(reason, drawn > before, file))
                    if is_fault:
                        complain_of_a_fault()
    except Cancelled:
        notes.append(messages.capitalized(f"stopped after {drawn:,} of {messages.counted(len(places), 'picture')}"))
        is_whole = False
    except (GpuUnavailable, OSError) as error:  # such as no room for them
        notes.append(messages.no_pictures(report_files.reason(error), drawn > 0))
    progress.end_frame()
    are_frames = len(document["frames"]) > 1 and any(check["motion"] is not None for check in checks)
    if drawn and (of_worst := _pictures_of_worst(len(places), pairs, are_frames)):
        notes.insert(0, of_worst)
    document["pictures"] = notes
    return is_whole


def _pictures_of_worst(number: int, pairs: int, are_frames: bool) -> str:
    """Return which pairs of a report have a picture, and at which frame; nothing where that is clear."""
    if number < pairs:
        worst = f"the worst {number:,}" if number > 1 else "the worst"
        of_worst = f"{'Pictures' if number > 1 else 'A picture'} of {worst} of {pairs:,} pairs"
        return f"{of_worst}, {'each ' if number > 1 else ''}at its worst frame" if are_frames else of_worst
    return "A picture of each pair, at its worst frame" if are_frames else ""


def _each(places: Sequence[ClashPlace], progress: Progress, is_stopped: Callable[[], bool]) -> Iterator[ClashPlace]:
    """Yield places, of which the pictures are drawn one after the other. Raises Cancelled when that is stopped."""
    for number, place in enumerate(places, 1):
        if is_stopped():
            raise Cancelled
        progress.begin_picture(number, len(places))
        yield place


def _at_their_frames(
    checks: Sequence[dict[str, Any]], places: Iterable[ClashPlace]
) -> Iterator[tuple[ClashPlace, ScenePair | None]]:
    """Yield places in the open file, each at its frame, with both objects as they are there; None where one is not as
    the check says. Raises UsageError and ReadError."""
    for scene, of_scene in groupby(places, lambda place: checks[place.check]["scene"]):
        with SceneFrames(scene) as frames:
            for number, of_check in groupby(of_scene, lambda place: place.check):
                check = checks[number]
                unit = check["units"]["blender_units_per_unit"]
                rules = Rules(**{**check["settings"], "clearance": check["settings"]["clearance"] * unit})
                find = pair_finder(frames.read(None if check["motion"] is None else check["frame"], rules).objects)
                findings = check["findings"]
                check["findings"] = LazyRows.of(findings)
                for place in of_check:
                    yield place, find(findings[place.row])


def _open(source: dict[str, Any], with_scripts: bool, run_scripts: bool) -> None:
    """Open a file as it was checked. Raises UsageError when it is not the same now, or is not here."""
    if with_scripts and not run_scripts:
        raise UsageError("the parts were checked with --enable-autoexec: give it to merge too")
    if blend_file.digest(source["path"]) != source["sha256"]:
        raise UsageError(f"{source['path']} has changed since it was checked")
    blend_file.open_file(source["path"], run_scripts)
    if blend_file.libraries() != source["libraries"]:
        raise UsageError(f"the libraries of {source['path']} have changed since it was checked")
