# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the clashes of a check, for the page, where there is a GPU."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ..check.clash_rows import side_of
from ..check.inspection import Work
from ..data import messages
from ..data.lazy_rows import LazyRows, Row
from ..data.objects import frame_of
from ..data.records import FIRST_ANSWER, Settings
from ..data.units import UnitFormat
from ..draw.isolated_pair import IsolatedPair
from ..draw.picture import GpuUnavailable, render_isolated
from ..read.scene_objects import SceneObject
from . import files as report_files

SIZE = (960, 600)
_SHORTER = 1e-6
"""Relative: a row with a depth shorter than the first answer by more than this was refined."""

ScenePair = tuple[SceneObject, SceneObject]


def pairs_of(findings: Iterable[Row], objects: Iterable[SceneObject]) -> Iterator[ScenePair | None]:
    """Yield both objects of each finding, those of which the finding says the same; None where there is none."""
    by_name: dict[str, list[SceneObject]] = {}
    for obj in objects:
        by_name.setdefault(obj.name, []).append(obj)

    def find(side: Row) -> SceneObject | None:
        return next((obj for obj in by_name.get(side["name"], ()) if side_of(obj) == side), None)

    for row in findings:
        a, b = find(row["a"]), find(row["b"])
        yield None if a is None or b is None else (a, b)


def take_pictures(
    context: bpy.types.Context,
    check: dict[str, Any],
    pairs: Iterable[ScenePair | None],
    most: int,
) -> None:
    """Put a picture into the first rows of a check, in its scene's units, of the scene as it is now.

    pairs: both objects of each row, as they are now; None where one is gone. Why a pair has no picture is noted in the
    row, or in the check where it is the same for all. A clash of another frame has none: it would show another pose.
    """
    taken = 0
    given, unit = check["settings"], check["units"]["blender_units_per_unit"]
    settings = Settings("auto", given["clearance"] * unit, given["contact_tolerance"], budget=FIRST_ANSWER)
    units, now = UnitFormat.of_scene(context.scene), frame_of(context.scene)
    try:
        with tempfile.TemporaryDirectory(prefix="contact_lens-") as folder:
            path = Path(folder) / "pair.png"
            findings: LazyRows = check["findings"]
            for k, (row, pair) in enumerate(zip(findings, pairs, strict=True)):
                if row.get("status") == "resolved":
                    continue
                if taken >= most:
                    check["pictures"] = messages.pictures_of_first(most)
                    break
                if pair is None:
                    findings.add(k, no_picture=messages.NOT_IN_SCENE)
                    continue
                if row["out_of_date"]:
                    findings.add(k, no_picture=messages.OUT_OF_DATE)
                    continue
                if row["frame"] != now:
                    findings.add(k, no_picture=messages.found_at(row["frame"]))
                    continue
                try:
                    inspection = Work(pair, settings, units)()
                    if (row["depth"] or 0.0) * unit < inspection.contact.depth * (1.0 - _SHORTER):
                        inspection = Work(pair, replace(settings, budget=None), units)()  # the row was refined
                    render_isolated(context, IsolatedPair(inspection), str(path), *SIZE)
                except GpuUnavailable as error:
                    check["pictures"] = messages.no_pictures(str(error))
                    break
                except (ValueError, RuntimeError) as error:
                    findings.add(k, no_picture=str(error))
                    continue
                findings.add(k, picture=base64.b64encode(path.read_bytes()).decode("ascii"))
                taken += 1
    except OSError as error:  # such as no room for them: the report goes without
        check["pictures"] = messages.no_pictures(report_files.reason(error), taken > 0)
