# SPDX-License-Identifier: GPL-3.0-or-later
"""The schemas of reports take what is written, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

from ..schemas import FOLDER, IS_AVAILABLE, UNLISTED, faults, mutants, schema_of
from .reports import SAVED, pair_report, run_json, save_report
from .scenes import animate, collection_of, cube, inspect, instance_of, mesh_object, pane, save_scene, sheet

pytestmark = [
    pytest.mark.usefixtures("empty_scene"),
    pytest.mark.skipif(not IS_AVAILABLE, reason="jsonschema-rs is not installed"),
]

OPTIONAL = re.compile(
    r"(path|motion|left_out|differences|least_contact|settings/depth|visibility|shapes|shape_source|margins|kind|approved_at|more_\w+"
    r"|measures|checks/\*/hidden|\w*volume\w*|deepest_point|clearance_band|location)$"
)
"""Fields that checks stored by earlier versions, and so saved lists, do not have, and what was measured if it was."""
VERSION = schema_of("scene-report")["properties"]["schema_version"]["const"]
OF_SIDES_0_1_0 = ("name", "object", "instancer", "instance", "checked_as", "convex")
COUNTED = re.compile("no .*(relations|ignored_pairs)/[^/]*$")
"""Fields of records in which each is a count above 0."""


def scene_report(folder: Path) -> Any:
    """A report of two frames, with every kind of record."""
    mover = cube("Mover")
    animate(mover, "location", f1=(0.0, 0.0, 0.0), f2=(0.5, 0.0, 0.0))
    cube("Child", (0.3, 0.0, 0.0)).parent = mover
    cube("Still", (1.5, 0.0, 0.0)).modifiers.new("Subdivision", "SUBSURF").render_levels = 3
    pane("Pane", 20.5)
    sheet("Sheet", location=(20.5, 0.0, 0.3), kind="MESH")
    instance_of(collection_of("Parts", cube("Part"), is_only=True), "Instancer", (0.0, 0.7, 0.0))
    mesh_object("Endless", [(0, 0, 0), (1, 0, 0), (0, float("inf"), 0)], [(0, 1, 2)])
    cube("Hidden", (60.0, 0.0, 0.0)).hide_set(True)
    file = save_scene(folder / "scene.blend")
    return run_json(file, folder / "none.blend", "--frames", "1-2", "--clearance", 0.01)[1]


def part_report(folder: Path) -> Any:
    """A report of a part of a run."""
    cube("A")
    cube("B", (1.5, 0.0, 0.0))
    cube("C").hide_set(True)
    return run_json(save_scene(folder / "scene.blend"), "--frames", "1-2", "--only-frames", "2")[1]


def hulls(folder: Path) -> Any:
    """A report of two hulls with a side that is an arc."""
    inspect(cube("A"), cube("B", (0.2, 0.1, 1.9), kind="CYLINDER"))
    return pair_report()


def meshes(folder: Path) -> Any:
    inspect(cube("A", kind="MESH"), cube("B", (1.5, 0.2, 0.1), kind="MESH"))
    assert bpy.ops.contact_lens.measure_overlap() == {"FINISHED"}
    return pair_report()


def apart(folder: Path) -> Any:
    """A report of two that are apart, with the gap on all of A."""
    inspect(cube("A"), cube("B", (2.4, 0.2, 0.1)))
    assert bpy.ops.contact_lens.clearance_band() == {"FINISHED"}
    return pair_report()


def compounds(folder: Path) -> Any:
    inspect(cube("A", kind="COMPOUND"), cube("B", (1.5, 0.2, 0.1), kind="COMPOUND"))
    return pair_report()


def panes(folder: Path) -> Any:
    """A report of two that are flat and in one plane."""
    a = mesh_object("A", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    b = mesh_object("B", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)], (0.5, 0.5, 0.0))
    inspect(a, b)
    return pair_report()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (scene_report, "scene-report"),
        (part_report, "scene-report"),
        (hulls, "pair-report"),
        (meshes, "pair-report"),
        (apart, "pair-report"),
        (compounds, "pair-report"),
        (panes, "pair-report"),
    ],
)
def test_a_report_with_a_field_more_or_less_or_of_another_type_is_refused(
    tmp_path: Path, make: Callable[[Path], Any], name: str
) -> None:
    report = make(tmp_path)
    taken = [what for what, changed in mutants(report) if not faults(changed, name)]
    assert [what for what in taken if not OPTIONAL.search(what) and not COUNTED.search(what)] == []


def test_the_report_of_the_test_has_every_record(tmp_path: Path) -> None:
    report = scene_report(tmp_path)
    last = report["checks"][-1]
    assert report["inputs"][1]["error"]
    assert all(report[name] for name in ("between_frames", "over_frames", "files", "frames"))
    assert set(schema_of("scene-report")["$defs"]["check"]["properties"]) == {*last, "looked_at", "hidden"}
    assert all(last[name] for name in ("motion", "skipped", "left_out", "differences", "ignored_pairs", "relations"))
    sides = [row[side] for row in last["findings"] for side in "ab"]
    assert {side["instance"] is None for side in sides} == {True, False}
    assert {row["has_depth"] for row in last["findings"]} == {True, False}


def test_words_that_are_not_listed_are_refused(tmp_path: Path) -> None:
    report = scene_report(tmp_path)
    (check, *_), schema = report["checks"], "scene-report"
    assert not faults(report, schema)
    row, skipped = check["findings"][0], check["skipped"][0]
    for record, name in (
        *((row, name) for name in ("id", "relation", "region", "exactness", "status")),
        *((check["settings"], name) for name in ("scope", "visibility", "least_contact")),
        *((check["units"], name) for name in ("length", "area", "system", "numbers_in")),
        (row["a"], "checked_as"),
        (row["a"], "place"),
        (skipped, "kind"),
        (report["inputs"][0], "sha256"),
        (report, "schema"),
    ):
        before = record[name]
        record[name] = UNLISTED
        assert faults(report, schema), name
        record[name] = before
    row.update(has_depth=False)
    assert faults(report, schema), "without a depth the numbers are null"


def test_a_line_of_a_partial_report_has_one_check(tmp_path: Path) -> None:
    report = scene_report(tmp_path)
    line = {**report, "partial": True, "inputs": report["inputs"][:1], "checks": report["checks"][:1]}
    assert not faults(line, "partial-line")
    for more in ({"partial": False}, {"inputs": report["inputs"]}, {"checks": report["checks"]}, {UNLISTED: 0}):
        assert faults({**line, **more}, "partial-line"), more


def test_a_list_that_0_1_0_has_stored_is_written_in_this_version(tmp_path: Path) -> None:
    cube("A")
    cube("B", (1.5, 0.0, 0.0))
    bpy.ops.contact_lens.check_scene()
    check = bpy.context.scene.contact_lens_check
    (finding,) = check.findings
    row, record = finding.row(), json.loads(check.summary)
    for name in ("id", "center", "resolution", "frame", "approved_at", "apart", "out_of_date", "status"):
        row.pop(name, None)
    for side in "ab":
        row[side] = {name: row[side][name] for name in OF_SIDES_0_1_0}
    finding.data = json.dumps({**row, "of_pieces": False, "scale_length": 1.0})
    for name in ("path", "motion", "left_out", "differences", "out_of_date"):
        record.pop(name, None)
    for name in ("least_contact", "depth", "visibility"):
        del record["settings"][name]
    check.summary = json.dumps(record)
    report = save_report(tmp_path / "out.json")
    (written,) = report["checks"][0]["findings"]
    assert (report["schema_version"], written["of_pieces"]) == (VERSION, False)
    assert written["depth"] == pytest.approx(0.5)
    for kind in SAVED:
        save_report(tmp_path / f"again.{kind}")


def test_a_report_names_the_version_that_the_document_describes(tmp_path: Path) -> None:
    text = (FOLDER.parent / "report.md").read_text(encoding="utf-8")
    assert f"## JSON, schema `contact-lens-scene-report`, version {VERSION}\n" in text
    table = text.partition("## Versions of the schema")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (\d+) \|", table, re.M) == [str(version + 1) for version in range(VERSION)]


def names(schema: Any) -> set[str]:
    """The fields that a schema names."""
    if isinstance(schema, list):
        return set().union(*map(names, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", ())).union(*map(names, schema.values()))


def test_the_document_describes_every_field_of_a_scene_report() -> None:
    text = (FOLDER.parent / "report.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`(\w+)", text))
    assert names(schema_of("scene-report")) - described == set()
