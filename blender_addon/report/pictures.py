# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the clashes of a check, for the page, where there is a GPU."""

from __future__ import annotations

import base64
import heapq
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ...core.progress import Progress, subrange
from ...core.result import Relation
from ..data import messages
from ..data.lazy_rows import LazyRows, Row, columns
from ..data.objects import frame_of
from ..data.records import FIRST_ANSWER, Settings
from ..data.units import UnitFormat
from ..draw.picture import GpuUnavailable, render_isolated
from ..frames.over_frames import scenes_over_frames
from ..measure.pair_measures import PairMeasures, band_of, with_overlap
from ..page.html_table import severity
from ..pair.inspection import Stage, Work, is_outdated
from ..read.scene_objects import SceneObject
from ..scene import depths
from ..scene.clash_rows import RESOLVED, side_of
from . import files as report_files

SIZE = (960, 600)
CHANGED = "changed while the report was saved"
"""Why a pair has no picture: its row is of the moment when saving began."""
_BAND = 2.0
"""Times the clearance: gaps up to this are colored, red below the clearance."""
_SHORTER = 1e-6
"""Relative: a row with a depth shorter than the first answer by more than this was refined."""

ScenePair = tuple[SceneObject, SceneObject]
MeasuringWork = Callable[[Progress | None], PairMeasures]


class ClashPlace(NamedTuple):
    """Where a clash stands in a report."""

    check: int
    row: int


def worst(checks: Sequence[dict[str, Any]], most: int) -> tuple[list[ClashPlace], int]:
    """Return where the worst clashes of checks are worst, at most so many, in order; and how many there are in all.

    A clash over frames is one; permanent ones come last. Worse is what is more severe by its relation, then what is
    deeper or closer, in meters, as scenes have different units; then what comes first.
    """
    scenes = scenes_over_frames(checks)
    places = {ClashPlace(of.check, of.row): of.over.is_permanent for scene in scenes for of in scene.clashes}
    alone = set(range(len(checks))).difference(*(scene.checks for scene in scenes))
    known = [columns(check["findings"], "relation", "signed_distance", "status") for check in checks]
    for number in alone:
        statuses = enumerate(known[number][2])
        places |= {ClashPlace(number, k): False for k, status in statuses if status != RESOLVED}

    def rank(place: ClashPlace) -> tuple[bool, int, float, ClashPlace]:
        (relations, distances, _), units = known[place.check], checks[place.check]["units"]
        meters = units["blender_units_per_unit"] * units["scale_length"]
        return places[place], severity(relations[place.row]), (distances[place.row] or 0.0) * meters, place

    return sorted(heapq.nsmallest(most, places, key=rank)), len(places)


def pair_finder(objects: Iterable[SceneObject]) -> Callable[[Row], ScenePair | None]:
    """Return what finds both objects of a finding, those of which it says the same; None where there is none."""
    by_name: dict[str, list[SceneObject]] = {}
    for obj in objects:
        by_name.setdefault(obj.name, []).append(obj)

    def find(side: Row) -> SceneObject | None:
        bare = {**side, "location": None}  # which is in the scene's units
        return next((obj for obj in by_name.get(side["name"], ()) if {**side_of(obj), "location": None} == bare), None)

    def find_both(row: Row) -> ScenePair | None:
        a, b = find(row["a"]), find(row["b"])
        return None if a is None or b is None else (a, b)

    return find_both


def take_pictures(
    context: bpy.types.Context, check: dict[str, Any], pairs: Iterable[ScenePair | None], most: int
) -> Generator[Callable[[Progress], Any], Any, list[str]]:
    """Put a picture into the first rows of a check, in its scene's units, of the scene as it is now, one after the
    other: yield the inspection of each, which any thread can do, and take what it returns, or the error it raises.

    pairs: both objects of each row, as they were read. Why a pair has no picture is noted in the row, or returned where
    it is the same for all. A clash of another frame has none: it would show another pose.
    """
    taken, findings = 0, check["findings"]
    number = max(1, min(most, len(findings)))
    try:
        with picture_file() as path:
            for k, (row, pair) in enumerate(zip(findings, pairs, strict=True)):
                if row.get("status") == RESOLVED:
                    continue
                if taken >= most:
                    return [_pictures_of_first(most)]
                if row["out_of_date"] and pair is not None:
                    findings.add(k, no_picture=messages.OUT_OF_DATE)
                elif row["frame"] != frame_of(context.scene):
                    findings.add(k, no_picture=messages.found_at(row["frame"]))
                elif pair is None:
                    findings.add(k, no_picture="no longer in the scene")
                else:
                    part = taken / number, (taken + 1) / number
                    try:
                        measures = yield partial(_in_part, _measures_of(context, check, k, pair), part)
                        if is_outdated(context.evaluated_depsgraph_get(), measures.inspection):
                            findings.add(k, no_picture=CHANGED)
                        else:
                            _draw_picture(context, findings, k, measures, path)
                            taken += 1
                    except GpuUnavailable:
                        raise
                    except (ValueError, RuntimeError) as error:
                        findings.add(k, no_picture=str(error))
    except (GpuUnavailable, OSError) as error:  # such as no room for them: the report goes without
        return [messages.no_pictures(report_files.reason(error), taken > 0)]
    return []


def _in_part(work: MeasuringWork, part: tuple[float, float], progress: Progress) -> PairMeasures:
    """Do work whose progress is a part of that of all."""
    return work(subrange(progress, *part))


def _pictures_of_first(number: int) -> str:
    return f"Pictures of the first {number:,} pairs" if number > 1 else "A picture of the first pair"


@contextmanager
def picture_file() -> Iterator[Path]:
    """Give the path of a file for one picture after the other."""
    with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
        yield Path(folder) / "pair.png"


def take_picture(context: bpy.types.Context, check: dict[str, Any], k: int, pair: ScenePair, path: Path) -> bool:
    """Put a picture of the scene as it is now into a row of a check, or why there is none. Returns whether there is.

    Raises GpuUnavailable and OSError, where there can be none of any.
    """
    try:
        _draw_picture(context, check["findings"], k, _measures_of(context, check, k, pair)(None), path)
    except GpuUnavailable:
        raise
    except (ValueError, RuntimeError) as error:
        check["findings"].add(k, no_picture=str(error))
        return False
    return True


def _measures_of(context: bpy.types.Context, check: dict[str, Any], k: int, pair: ScenePair) -> MeasuringWork:
    """Return the inspection of the pair of a row, as far as the row's went, and its overlap, or how wide the gap within
    the clearance is, as work for any thread."""
    row, given, unit = check["findings"][k], check["settings"], check["units"]["blender_units_per_unit"]
    clearance = max(given["clearance"], row.get("margins") or 0.0) * unit
    settings = Settings("auto", clearance, given["contact_tolerance"], budget=FIRST_ANSWER)
    units = UnitFormat.of_scene(context.scene)

    def measure(progress: Progress | None) -> PairMeasures:
        progress = subrange(progress, 0.0, 1.0)
        is_searched = row["exactness"] != depths.NOT_SEARCHED
        inspection = Work(pair, settings, units)(progress, Stage.WHOLE if is_searched else Stage.CROSSING)
        if row["has_depth"] and (row["depth"] or 0.0) * unit < inspection.contact.depth * (1.0 - _SHORTER):
            inspection = Work(pair, replace(settings, budget=None), units)(progress)  # the row was refined
        measures = with_overlap(inspection, progress=progress)
        if inspection.contact.relation is Relation.WITHIN_CLEARANCE:
            measures = replace(measures, band=band_of(inspection, _BAND * clearance, progress))
        return measures

    return measure


def _draw_picture(context: bpy.types.Context, findings: LazyRows, k: int, measures: PairMeasures, path: Path) -> None:
    """Put the picture of an inspection into a row. Raises ValueError and RuntimeError."""
    render_isolated(context, measures.inspection, str(path), *SIZE, measures)
    findings.add(k, picture=base64.b64encode(path.read_bytes()).decode("ascii"))
