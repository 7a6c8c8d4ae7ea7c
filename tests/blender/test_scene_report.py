# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of a scene check, and the command line that makes them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest

from .processes import environment_of, in_process, installed, modules_of
from .scenes import cube, mesh_object

Part = Callable[[str], ModuleType]

pytestmark = pytest.mark.usefixtures("empty_scene")

NASTY = "<b>\"A\" & 'co'</b>"


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    """A saved scene: a pair with a nasty name that penetrates, one within 2 mm, and one that begins to at frame 10."""
    cube(NASTY)
    cube("=B", (1.5, 0.0, 0.0))
    cube("C", (10.0, 0.0, 0.0))
    cube("D", (12.0015, 0.0, 0.0))
    moving = cube("E", (30.0, 0.0, 0.0))
    cube("F", (35.0, 0.0, 0.0))
    moving.keyframe_insert("location", frame=1)
    moving.location.x = 34.0
    moving.keyframe_insert("location", frame=10)
    bpy.context.scene.frame_set(1)
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


class Cells(HTMLParser):
    """The rows of the page's tables as text, and the tags it has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attributes if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data


def run(part: Part, *arguments: object) -> int:
    code = part("blender_addon.command_line").main([str(a) for a in arguments], "check")
    assert isinstance(code, int)
    return code


# --- reports --------------------------------------------------------------------------------------------------------


def test_the_three_reports_tell_the_same(part: Part, scene_file: Path, tmp_path: Path) -> None:
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html")}
    outputs = [part for kind, path in paths.items() for part in (f"--{kind}", path)]
    assert run(part, scene_file, "--clearance", 0.002, "--quiet", "--pictures", 0, *outputs) == 1
    data = json.loads(paths["json"].read_text(encoding="utf-8"))
    assert (data["schema"], data["schema_version"]) == ("contact-lens-scene-report", 2)
    (check,) = data["checks"]
    assert check["settings"]["clearance"] == 0.002
    assert [row["relation"] for row in check["findings"]] == ["penetrating", "within_clearance"]
    assert check["findings"][0]["a"]["name"] in (NASTY, "=B")
    rows = list(csv.DictReader(io.StringIO(paths["csv"].read_text(encoding="utf-8"), newline="")))
    assert [float(row["signed_distance"]) for row in rows] == [row["signed_distance"] for row in check["findings"]]
    assert {rows[0]["a"], rows[0]["b"]} == {NASTY, "'=B"}, "no spreadsheet takes a name for a formula"
    page = Cells(paths["html"].read_text(encoding="utf-8"))
    assert {page.rows[1][0], page.rows[1][1]} == {NASTY, "=B"}
    assert "b" not in page.tags[page.tags.index("table") :], "a name is no markup"
    assert page.rows[1][3] == "-0.50000"
    assert page.rows[0][3] == "Signed distance (m)"
    assert page.links == [], "the page needs nothing but itself"


def test_numbers_are_in_the_scenes_unit(part: Part, scene_file: Path, tmp_path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    bpy.context.scene.unit_settings.length_unit = "MILLIMETERS"
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.ops.contact_lens.check_scene()
    path = tmp_path / "out.html"
    assert bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind="HTML", pictures=0) == {"FINISHED"}
    page = Cells(path.read_text(encoding="utf-8"))
    assert page.rows[0][3:5] == ["Signed distance (mm)", "Area (mm²)"]
    assert page.rows[1][3:6] == ["-5.0000", "400.00", "new"]


def unit_settings(system: str, length_unit: str, scale: float) -> None:
    settings = bpy.context.scene.unit_settings
    settings.system, settings.scale_length = system, scale
    if system != "NONE":
        settings.length_unit = length_unit


class Sidebar:
    """A layout of Blender's that keeps the texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **options: self

    def label(self, text: str = "", icon: str = "") -> None:
        self.texts.append(text)


def test_each_finding_is_marked_with_its_frame(
    part: Part, scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = part("blender_addon.report.scene")
    monkeypatch.setattr(report, "render_isolated", lambda context, exhibit, path, *size: Path(path).write_bytes(b"PNG"))
    panel = part("blender_addon.ui.scene_panel").CONTACT_LENS_PT_scene
    label = part("blender_addon.check.results").label
    scene, check = bpy.context.scene, bpy.context.scene.contact_lens_check

    def shown() -> str:
        sidebar = Sidebar()
        panel.draw(SimpleNamespace(layout=sidebar), bpy.context)
        return "; ".join(sidebar.texts)

    bpy.ops.contact_lens.check_scene()
    bpy.ops.contact_lens.go_to_finding()
    assert "frame" not in shown().lower()
    scene.frame_set(10)
    assert "Checked at another frame: 1" in shown()
    assert "Found at Frame; 1" in shown()
    check.scope, check.object = "ONE", bpy.data.objects["F"]  # what it does not look at stays as it was
    bpy.ops.contact_lens.check_scene()
    assert {label(finding, "a"): finding.row()["frame"] for finding in check.findings} == {NASTY: 1, "F": 10}
    assert "another frame" not in shown()
    assert "Found at Frame; 1" in shown()
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html")}
    for kind, path in paths.items():
        assert bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind=kind.upper()) == {"FINISHED"}
    (told,) = json.loads(paths["json"].read_text(encoding="utf-8"))["checks"]
    assert (told["frame"], [row["frame"] for row in told["findings"]]) == (10, [10, 1])
    table = list(csv.DictReader(io.StringIO(paths["csv"].read_text(encoding="utf-8"), newline="")))
    assert [line["frame"] for line in table] == ["10", "1"]
    page = Cells(paths["html"].read_text(encoding="utf-8"))
    assert ["found at frame 1" in row[2] for row in page.rows[1:]] == [False, True]
    assert [row[6] for row in page.rows[1:]] == ["", "found at frame 1"], "a picture would show another pose"
    # Separated it is as it is now. Findings of files saved earlier do not say of which frame they are.
    check.active = next(k for k, finding in enumerate(check.findings) if finding.row()["frame"] == 1)
    assert bpy.ops.contact_lens.separate_finding() == {"FINISHED"}
    assert check.findings[check.active].row()["frame"] == 10
    finding = check.findings[check.active]
    finding.data = json.dumps({name: value for name, value in finding.row().items() if name != "frame"})
    assert "Found at Frame" not in shown()
    assert [row["frame"] for row in part("blender_addon.check.results").document_of(scene)[0]["findings"]] == [10, 10]


@pytest.mark.parametrize(
    ("system", "length_unit", "scale", "symbol", "factor"),
    [
        ("METRIC", "METERS", 1.0, "m", 1.0),
        ("METRIC", "MILLIMETERS", 1.0, "mm", 1000.0),
        ("METRIC", "MILLIMETERS", 0.001, "mm", 1.0),
        ("METRIC", "CENTIMETERS", 0.1, "cm", 10.0),
        ("METRIC", "ADAPTIVE", 0.01, "m", 0.01),
        ("IMPERIAL", "INCHES", 1.0, "in", 1.0 / 0.0254),
        ("IMPERIAL", "ADAPTIVE", 1.0, "ft", 1.0 / 0.3048),
        ("NONE", "", 0.001, "BU", 1.0),
    ],
)
def test_files_are_in_the_scenes_unit_and_name_it(
    scene_file: Path, tmp_path: Path, system: str, length_unit: str, scale: float, symbol: str, factor: float
) -> None:
    unit_settings(system, length_unit, scale)
    check = bpy.context.scene.contact_lens_check
    check.clearance = 0.002
    bpy.ops.contact_lens.check_scene()
    found = [finding.row() for finding in check.findings]
    for kind in ("JSON", "CSV"):
        path = tmp_path / f"out.{kind.lower()}"
        assert bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind=kind) == {"FINISHED"}
    (told,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["checks"]
    assert (told["units"]["length"], told["units"]["area"]) == (symbol, f"{symbol}²")
    assert told["units"]["blender_units_per_unit"] * factor == pytest.approx(1.0, rel=1e-15)
    assert told["units"]["numbers_in"] == "scene_units"
    assert told["settings"]["clearance"] == pytest.approx(0.002 * factor, rel=1e-15)
    assert told["settings"]["contact_tolerance"] == 1e-5
    for row, bare in zip(told["findings"], found, strict=True):
        for name in ("signed_distance", "depth", "lower_bound", "upper_bound"):
            assert row[name] == pytest.approx(bare[name] * factor, rel=1e-15)
        for name in ("mtv", "point_on_a", "point_on_b", "center", "centroid"):
            assert row[name] is bare[name] is None or row[name] == pytest.approx(
                [x * factor for x in bare[name]], rel=1e-15
            )
        assert row["area"] == pytest.approx(bare["area"] * factor**2, rel=1e-15)
        assert row["normal"] == bare["normal"]
    table = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8"), newline="")))
    for line, row in zip(table, told["findings"], strict=True):
        assert (line["length_unit"], line["area_unit"]) == (symbol, f"{symbol}²")
        assert float(line["blender_units_per_unit"]) == told["units"]["blender_units_per_unit"]
        assert [float(line[name]) for name in ("depth", "area")] == [row["depth"], row["area"]]
        for name in ("point_on_b", "center"):
            assert [float(line[f"{name}_{axis}"]) for axis in "xyz"] == row[name]


def test_reports_are_in_the_unit_of_today_as_the_panel_is(scene_file: Path, tmp_path: Path) -> None:
    bpy.ops.contact_lens.check_scene()
    unit_settings("METRIC", "MILLIMETERS", 1.0)
    path = tmp_path / "out.json"
    bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind="JSON")
    (check,) = json.loads(path.read_text(encoding="utf-8"))["checks"]
    assert (check["units"]["length"], check["findings"][0]["depth"]) == ("mm", 500.0)


@pytest.mark.parametrize(
    ("length_unit", "scale", "written", "blender_units"),
    [
        ("METERS", 1.0, "0.002", 0.002),
        ("MILLIMETERS", 1.0, "2", 0.002),
        ("MILLIMETERS", 1.0, "0.002", 0.000002),
        ("MILLIMETERS", 1.0, "0.002bu", 0.002),
        ("MILLIMETERS", 0.001, "2", 2.0),
        ("ADAPTIVE", 0.01, "0.00002", 0.002),
        ("METERS", 1.0, "2mm", 0.002),
        ("MILLIMETERS", 0.001, " 2e-3 M ", 2.0),
        ("METERS", 1.0, "1in", 0.0254),
        ("METERS", 1.0, ".5 µm", 5e-7),
        ("METERS", 1.0, "0.5um", 5e-7),
    ],
)
def test_a_clearance_is_in_the_scenes_unit_or_its_own(
    part: Part, scene_file: Path, tmp_path: Path, length_unit: str, scale: float, written: str, blender_units: float
) -> None:
    unit_settings("METRIC", length_unit, scale)
    bpy.ops.wm.save_as_mainfile(filepath=str(scene_file))
    path = tmp_path / "out.json"
    gap = 0.0015
    findings = ["--object", "C", "--clearance", written, "--json", path, "--quiet"]
    assert run(part, scene_file, *findings) == (1 if blender_units > gap else 0)
    (check,) = json.loads(path.read_text(encoding="utf-8"))["checks"]
    clearance = check["settings"]["clearance"] * check["units"]["blender_units_per_unit"]
    assert clearance == pytest.approx(blender_units, rel=1e-14)


def test_the_unit_of_a_clearance_is_told(part: Part, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(part, "--help") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "a number alone, such as 0.002, is in the unit of the scene" in told
    assert told.isascii(), "any terminal can show it"


def test_the_report_has_the_statuses_and_names_of_today(scene_file: Path, tmp_path: Path) -> None:
    bpy.ops.contact_lens.check_scene()
    bpy.context.scene.contact_lens_check.findings[0].status = "REVIEWED"
    bpy.data.objects["=B"].name = "Renamed"
    path = tmp_path / "out.json"
    bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind="JSON")
    row = json.loads(path.read_text(encoding="utf-8"))["checks"][0]["findings"][0]
    assert row["status"] == "reviewed"
    assert "Renamed" in (row["a"]["name"], row["b"]["name"])


def test_pictures_are_in_the_page_or_it_says_why_not(part: Part, scene_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    assert run(part, scene_file, "--quiet", "--html", path, "--clearance", 0.002, "--pictures", 1) == 1
    text = path.read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 1 or "No pictures: " in text


def test_no_room_for_pictures_costs_no_report(
    part: Part, scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.html"
    arguments = [scene_file, "--quiet", "--clearance", 0.002, "--html", path]

    def full(context: object, shown: object, file: str, *size: int) -> None:
        if Path(file).exists():
            raise OSError(28, "No space left on device", file)
        Path(file).write_bytes(b"")

    monkeypatch.setattr(part("blender_addon.report.scene"), "render_isolated", full)
    assert run(part, *arguments) == 1
    text = path.read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 1
    assert re.search(r"No more pictures: [^<]*: No space left on device", text)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert run(part, *arguments) == 1
    assert re.search(r"No pictures: [^<]*: No such file or directory", path.read_text(encoding="utf-8"))
    bpy.ops.contact_lens.check_scene()
    assert bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind="HTML") == {"FINISHED"}
    assert "No pictures: " in path.read_text(encoding="utf-8")


def sheet(name: str, location: object) -> bpy.types.Object:
    """A square that is checked as it is: an open surface, which has no depth."""
    made = mesh_object(name, [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2, 3)], location)
    made.contact_lens_shape = "MESH"
    return made


def test_what_has_no_depth_is_not_told_in_zeros(part: Part, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cube("A")
    sheet("Sheet", (0.5, 0.0, 0.3))
    cube("B", (10.0, 0.0, 0.0))
    cube("C", (11.5, 0.0, 0.0))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html")}
    outputs = [part for kind, path in paths.items() for part in (f"--{kind}", path)]
    run(part, tmp_path / "scene.blend", "--pictures", 0, *outputs)
    with_depth, without = json.loads(paths["json"].read_text(encoding="utf-8"))["checks"][0]["findings"]
    assert with_depth["depth"] == pytest.approx(0.5)
    of_depth = ("signed_distance", "depth", "normal", "mtv", "lower_bound", "upper_bound")
    assert [without[name] for name in of_depth] == [None] * 6
    assert (without["intersects"], without["has_depth"]) == (True, False)
    assert len(without["point_on_a"]) == 3
    table = list(csv.DictReader(io.StringIO(paths["csv"].read_text(encoding="utf-8"), newline="")))
    assert [row["depth"] != "" for row in table] == [True, False]
    empty = ("signed_distance", "depth", "normal_x", "normal_y", "normal_z", "lower_bound", "upper_bound")
    assert [table[1][name] for name in empty] == [""] * 7
    assert table[1]["point_on_b_z"] != ""
    assert table[1]["b_checked_as"] == "mesh"
    assert "no inside" in table[1]["notes"]
    page = Cells(paths["html"].read_text(encoding="utf-8"))
    assert [row[3] for row in page.rows[1:]] == ["-0.50000", "\N{EN DASH}no depth: a surface is open"]
    said = [line for line in capsys.readouterr().out.splitlines() if "Sheet" in line]
    assert ["no depth: a surface is open" in line for line in said] == [True]


def test_the_depth_of_pieces_is_called_that(part: Part, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(2):
        bpy.ops.mesh.primitive_monkey_add(location=(0.6 * k, 0.0, 0.2 * k))
    file, page_file = tmp_path / "monkeys.blend", tmp_path / "out.html"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert run(part, file, "--html", page_file, "--pictures", 0) == 1
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  penetrating"))
    assert re.search(r"depth 1\.\d+ m of pieces$", line)
    page = Cells(page_file.read_text(encoding="utf-8"))
    assert page.rows[1][3].endswith("depth of pieces")


def test_a_depth_that_is_not_known_exactly_is_one_at_most(part: Part, scene_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert run(part, scene_file, "--json", path, "--quiet") == 1
    check = json.loads(path.read_text(encoding="utf-8"))["checks"][0]
    row, units = check["findings"][0], part("blender_addon.data.units").UnitFormat.of_scene(bpy.context.scene)
    terminal, panel = part("blender_addon.ui.terminal"), part("blender_addon.ui.scene_panel")
    html, report_units = (
        part("blender_addon.report.html_report"),
        part("blender_addon.report.scene_units").unit_format(check),
    )
    for status, most in (("certified", False), ("bracket", True)):
        row["exactness"] = status
        assert ("at most" in terminal._distance(row, units)) == most
        assert ("at most" in panel._distance(row, units)[1]) == most
        assert ("upper bound" in html._distance(row, report_units)) == most


def test_the_list_of_a_scene_says_that_there_is_no_depth(part: Part) -> None:
    cube("A")
    sheet("Sheet", (0.5, 0.0, 0.3))
    bpy.ops.contact_lens.check_scene()
    check, panel = bpy.context.scene.contact_lens_check, part("blender_addon.ui.scene_panel")
    (finding,) = check.findings
    assert not finding.has_depth
    units = part("blender_addon.data.units").UnitFormat.of_scene(bpy.context.scene)
    assert panel._number(check, finding, units) == "no depth"
    check.sort = "AREA"
    assert panel._number(check, finding, units) == "0 m²"
    told = ("Depth", "none: a surface is open")
    assert panel._distance(finding.row(), units) == told
    # Files saved earlier have zeros.
    finding.data = json.dumps({**finding.row(), "signed_distance": 0.0, "depth": 0.0, "normal": [0.0, 0.0, 0.0]})
    assert panel._distance(finding.row(), units) == told
    bpy.ops.contact_lens.check_scene()
    (finding,) = bpy.context.scene.contact_lens_check.findings
    assert (finding.status, finding.has_depth) == ("ACTIVE", False)


# --- command line ---------------------------------------------------------------------------------------------------


def test_exit_codes(part: Part, scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for expected, arguments in (
        (1, [scene_file]),
        (1, [scene_file, "--fail-on", "penetrating"]),
        (0, [scene_file, "--fail-on", "never"]),
        (0, [scene_file, "--object", "C"]),
        (1, [scene_file, "--object", "C", "--clearance", "0.002"]),
        (0, [scene_file, "--object", "C", "--clearance", "0.002", "--fail-on", "touching"]),
        (2, [tmp_path / "none.blend"]),
        (2, [scene_file, "--bogus"]),
        (2, [scene_file, "--object", "None"]),
        (2, [scene_file, "--collections", "None", "None"]),
        (2, [scene_file, "--scene", "None"]),
        (2, [scene_file, "--clearance", "-1"]),
        (2, [scene_file, "--clearance", "nan"]),
        (2, [scene_file, "--clearance", "1e999"]),
        (2, [scene_file, "--clearance", "1e30km"]),
        (2, [scene_file, "--clearance", "2 parsec"]),
        (2, [scene_file, "--clearance", "mm"]),
        (2, [scene_file, "--frames", "5-1"]),
        (2, [scene_file, "--frames", "x"]),
        (2, [scene_file, "--frames", "1-3:0"]),
        (2, [scene_file, "--frames", "1048573-1048577"]),
        (2, [scene_file, "--ignore", "none", "--ignore", "parents"]),
        (2, [scene_file, "--json", tmp_path / "same.out", "--csv", tmp_path / "same.out"]),
        (2, [scene_file, "--json", tmp_path / "none" / "out.json"]),
        (2, [scene_file, "--json", "-", "--csv", "-"]),
        (2, [scene_file, "--pictures", "-1"]),
        (0, ["--help"]),
    ):
        assert run(part, *arguments) == expected, arguments
        told = capsys.readouterr()
        assert ("contact_lens: " in told.err) == (expected == 2), arguments


def test_a_broken_file_is_told(part: Part, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.blend"
    path.write_bytes(b"no blend file")
    assert run(part, path) == 2
    assert "broken.blend" in capsys.readouterr().err


def test_what_cannot_be_checked_is_not_clean(
    part: Part, scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bpy.context.scene.objects["C"].select_set(True)
    mesh_object("Nothing", [], [], (50.0, 0.0, 0.0)).select_set(True)
    bpy.ops.wm.save_as_mainfile(filepath=str(scene_file))
    assert run(part, scene_file, "--selected") == 0, "what has no geometry collides with nothing"
    assert "'Nothing' has no vertices" in capsys.readouterr().out
    wire = mesh_object("Wire", [(10.0, 0.0, 0.0), (10.5, 0.0, 0.0)])
    wire.contact_lens_shape = "MESH"
    wire.select_set(True)
    bpy.ops.wm.save_as_mainfile(filepath=str(scene_file))
    path = tmp_path / "out.json"
    assert run(part, scene_file, "--selected", "--json", path, "--quiet") == 3
    said = "contact_lens: not everything could be checked: 'Wire' has no faces, so it cannot collide as a mesh: "
    assert capsys.readouterr().err == f"{said}choose another collision shape\n"
    (check,) = json.loads(path.read_text(encoding="utf-8"))["checks"]
    assert {entry["name"]: entry["unchecked"] for entry in check["skipped"]} == {"Nothing": False, "Wire": True}
    assert run(part, scene_file, "--selected", "--allow-skipped") == 0
    assert run(part, scene_file, "--selected", "--fail-on", "never") == 3, "it is no finding"
    assert run(part, scene_file) == 1, "findings count first"
    # A pair of which core says that it cannot.
    pairs = part("blender_addon.check.scene")

    def refused(*_: object) -> None:
        raise ValueError("b is too large")

    bpy.data.objects.remove(bpy.data.objects["Wire"])
    bpy.data.objects["=B"].contact_lens_shape = "MESH"  # meshes are checked one by one
    bpy.ops.wm.save_as_mainfile(filepath=str(scene_file))
    monkeypatch.setattr(pairs, "check_pair", refused)
    capsys.readouterr()
    assert run(part, scene_file) == 3
    assert f"'{NASTY}' and '=B' cannot be checked: b is too large\n" in capsys.readouterr().err


def test_ctrl_c_keeps_what_is_done(
    part: Part, scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = part("blender_addon.check.scene")
    bpy.data.objects["=B"].contact_lens_shape = "MESH"  # meshes are checked one by one
    bpy.ops.wm.save_as_mainfile(filepath=str(scene_file))
    find, before = pairs.check_pair, signal.getsignal(signal.SIGINT)

    def stopped_meanwhile(*arguments: Any) -> Any:
        found = find(*arguments)
        signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(pairs, "check_pair", stopped_meanwhile)
    path = tmp_path / "out.json"
    frames = ["--frames", "1-10", "--clearance", "4"]
    assert run(part, scene_file, scene_file, "--json", path, "--quiet", *frames) == 130
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["partial"], data["frames"], len(data["checks"])) == (True, [1], 1)
    assert data["checks"][0]["partial"]
    assert [entry["error"] for entry in data["inputs"]] == [None, "the run was stopped before it was reached"]
    assert len(data["checks"][0]["findings"]) == 1
    assert signal.getsignal(signal.SIGINT) is before

    def stopped_twice(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(pairs, "check_pair", stopped_twice)
    path.unlink()
    assert run(part, scene_file, "--json", path, "--quiet") == 130
    assert not path.exists()


def test_missing_files_are_told_before_anything_is_written(
    part: Part, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(part, tmp_path / "none.blend", tmp_path, "--json", tmp_path / "out.json") == 2
    told = capsys.readouterr()
    assert "none.blend: there is no such file" in told.err
    assert "is a folder" in told.err
    assert told.out == ""
    assert not list(tmp_path.iterdir())


def test_no_report_is_written_over_the_file_that_is_checked(part: Part, scene_file: Path, tmp_path: Path) -> None:
    before = scene_file.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(scene_file)
    for path in (scene_file, link):
        assert run(part, scene_file, "--json", path) == 2
    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    assert run(part, "--csv", scene_file) == 2
    assert scene_file.read_bytes() == before


def test_what_nobody_foresaw_has_an_exit_code_too(
    part: Part, scene_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("nobody foresaw this")

    monkeypatch.setattr(part("blender_addon.check.scene"), "check", broken)
    assert run(part, scene_file) == 2
    told = capsys.readouterr().err
    assert "nobody foresaw this" in told
    assert told.splitlines()[-1] == ("contact_lens: unexpected error: please report it with the lines above")


def test_frames_are_checked_one_by_one(part: Part, scene_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert run(part, scene_file, "--object", "F", "--frames", "1-10:3", "--json", path, "--quiet") == 1
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["frames"] == [1, 4, 7, 10]
    assert [check["frame"] for check in data["checks"]] == [1, 4, 7, 10]
    assert [len(check["findings"]) for check in data["checks"]] == [0, 0, 0, 1]
    # A range in parts tells what the whole one tells, but for the motion from the last frame of one to the next part.
    assert [check["motion"]["since_frame"] for check in data["checks"]] == [None, 1, 4, 7]
    parts = []
    for span in ("1-4:3", "7-10:3"):
        run(part, scene_file, "--object", "F", "--frames", span, "--json", path, "--quiet")
        parts += json.loads(path.read_text(encoding="utf-8"))["checks"]
    assert [check.pop("motion")["since_frame"] for check in parts] == [None, 1, None, 7]
    for check in data["checks"]:
        del check["motion"]
    assert parts == data["checks"]


def test_frame_lists(part: Part) -> None:
    frames = part("blender_addon.ui.command_options").frames
    assert frames("1-3") == [1, 2, 3]
    assert frames("5") == [5]
    assert frames("1,5,9-13:2,5") == [1, 5, 9, 11, 13]
    assert frames("-2-1") == [-2, -1, 0, 1]
    assert frames("-5--3") == [-5, -4, -3]


def test_approved_pairs_do_not_fail_a_build(part: Part, scene_file: Path, tmp_path: Path) -> None:
    bpy.ops.contact_lens.check_scene()
    assert len(bpy.context.scene.contact_lens_check.findings) == 1
    bpy.context.scene.contact_lens_check.findings[0].status = "APPROVED"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene_file))
    assert run(part, scene_file) == 0
    path = tmp_path / "out.json"
    assert run(part, scene_file, "--ignore", "none", "--json", path) == 0
    assert [f["status"] for f in json.loads(path.read_text(encoding="utf-8"))["checks"][0]["findings"]] == ["approved"]


def test_approved_pairs_that_became_deeper_fail_a_build(
    part: Part, scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bpy.ops.contact_lens.check_scene()
    [finding] = bpy.context.scene.contact_lens_check.findings
    finding.status = "APPROVED"
    bpy.data.objects["=B"].location.x = 1.4
    bpy.ops.wm.save_as_mainfile(filepath=str(scene_file))
    path = tmp_path / "out.json"
    assert run(part, scene_file, "--json", path) == 1
    [row] = json.loads(path.read_text(encoding="utf-8"))["checks"][0]["findings"]
    assert row["status"] == "changed"
    assert row["approved_at"] == pytest.approx(-0.5)
    assert row["depth"] == pytest.approx(0.6, abs=1e-6)
    assert "changed: approved at 0.50000 m" in capsys.readouterr().out


def test_what_a_person_reads(part: Part, scene_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(part, scene_file, "--clearance", 0.002)
    told = capsys.readouterr().out
    assert "6 objects, 2 clashes (1 penetrating, 1 within clearance)" in told
    assert "depth 0.50000 m  area 4.0000 m²" in told
    assert "gap 0.0015" in told
    assert "; clearance 0.0020000 m\n" in told
    run(part, scene_file, "--quiet")
    assert "findings" not in capsys.readouterr().out


# --- other processes ------------------------------------------------------------------------------------------------


def stopped_by_ctrl_c(command: list[str], folder: Path, **environment: str) -> tuple[int, str, str]:
    """Press Ctrl-C once contacts are seen to be on the way; the exit code, standard output, the terminal since then."""
    pty = pytest.importorskip("pty")
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment_of(folder, **environment),
        stdout=subprocess.PIPE,
        stderr=side,
    )
    os.close(side)
    told, pressed = b"", False
    try:
        with contextlib.suppress(OSError):  # the other end of a terminal is closed
            while more := os.read(terminal, 4096):
                told += more
                # Bounds and what is apart are done, and a few contacts.
                if not pressed and re.search(rb"Checking: [3-9]\d %", told):
                    pressed, told = True, b""
                    process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=100)
    finally:
        process.kill()
        os.close(terminal)
    return process.returncode, out.decode("utf-8"), told.decode("utf-8")


@pytest.fixture
def slow_file(tmp_path: Path) -> Path:
    """A scene that takes long to check: a chain of rings."""
    bpy.ops.mesh.primitive_torus_add(major_segments=24, minor_segments=8)
    ring = bpy.context.object
    for k in range(1, 60):
        other = ring.copy()
        other.location.x, other.rotation_euler.x = 1.6 * k, 1.5 * (k % 2)
        bpy.context.scene.collection.objects.link(other)
    (tmp_path / "profile").mkdir()
    path = tmp_path / "slow.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def assert_stopped(code: int, out: str, told: str, report: Path) -> None:
    assert code == 130, told
    assert "Traceback" not in out + told
    assert "contact_lens: stopping; press Ctrl-C again to end at once" in told
    assert "contact_lens: stopped: not everything was checked" in told
    assert "stopped early" in out
    data = json.loads(report.read_text(encoding="utf-8"))
    assert data["partial"]
    assert 0 < data["checks"][0]["checked_pairs"] < data["checks"][0]["candidate_pairs"]


@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")
def test_ctrl_c_in_a_module_of_python(addon: ModuleType, slow_file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "contact_lens", "slow.blend", "--json", "out.json"]
    told = stopped_by_ctrl_c(command, tmp_path, PYTHONPATH=str(modules_of(addon, tmp_path)))
    assert_stopped(*told, tmp_path / "out.json")


def test_ctrl_c_in_a_command_of_blender(packed: Path, slow_file: Path, tmp_path: Path) -> None:
    binary = installed(packed, tmp_path)
    command = [binary, "-b", "slow.blend", "--command", "contact_lens", "check", "--json", "out.json"]
    assert_stopped(*stopped_by_ctrl_c(command, tmp_path), tmp_path / "out.json")


@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")
def test_as_a_module_of_python(addon: ModuleType, scene_file: Path, tmp_path: Path) -> None:
    (tmp_path / "profile").mkdir()
    modules = str(modules_of(addon, tmp_path))
    command = [sys.executable, "-m", "contact_lens"]
    code, out, err = in_process([*command, "scene.blend", "--json", "-"], tmp_path, PYTHONPATH=modules)
    assert code == 1, err
    assert len(json.loads(out)["checks"][0]["findings"]) == 1, "nothing but the JSON is there"
    code, out, err = in_process([*command, "check", "scene.blend", "--object", "C"], tmp_path, PYTHONPATH=modules)
    assert (code, "0 clashes" in out) == (0, True), err
    code, out, err = in_process([*command, "none.blend"], tmp_path, PYTHONPATH=modules)
    assert code == 2
    assert "none.blend: there is no such file" in err


def test_as_a_command_of_blender(packed: Path, scene_file: Path, tmp_path: Path) -> None:
    binary = installed(packed, tmp_path)
    check = ["--command", "contact_lens", "check"]
    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    mesh_object("Wire", [(10.0, 0.0, 0.0), (10.5, 0.0, 0.0)]).contact_lens_shape = "MESH"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "wire.blend"))
    (tmp_path / "cut.blend").write_bytes(scene_file.read_bytes()[:5000])
    (tmp_path / "words.blend").write_bytes(b"no blend file")
    for expected, said, arguments in (
        (1, "", ["-b", "scene.blend", *check]),
        (1, "", ["-b", "scene.blend", *check, "--fail-on", "penetrating"]),
        (0, "", ["-b", "scene.blend", *check, "--object", "C"]),
        (0, "", ["-b", "scene.blend", *check, "--fail-on", "never"]),
        (0, "", ["-b", "scene.blend", *check, "--object", "C", "--clearance", "0.002", "--fail-on", "penetrating"]),
        (0, "", [*check, "--help"]),
        (1, "", [*check, "scene.blend", "--clearance", "0.002", "--json", "out.json", "--html", "out.html"]),
        (3, "'Wire' has no faces", [*check, "wire.blend", "--object", "C"]),
        (0, "", [*check, "wire.blend", "--object", "C", "--allow-skipped"]),
        (1, "", [*check, "wire.blend"]),
        (2, "--bogus", ["-b", "scene.blend", *check, "--bogus"]),
        (2, "name a .blend file", ["-b", "none.blend", *check]),
        (2, "none.blend: there is no such file", [*check, "none.blend"]),
        (2, "profile: is a folder", [*check, "profile"]),
        (2, "cut.blend: ", [*check, "cut.blend"]),
        (2, "words.blend: ", [*check, "words.blend"]),
        (2, "name a .blend file", ["-b", "words.blend", *check]),
        (2, "there is no folder", [*check, "scene.blend", "--json", "none/out.json"]),
        (2, "profile: is a folder", [*check, "scene.blend", "--json", "profile"]),
        (2, "the one command is check", ["--command", "contact_lens"]),
    ):
        code, out, err = in_process([binary, *arguments], tmp_path)
        assert code == expected, (arguments, out, err)
        assert said in err, arguments
        assert "Traceback" not in out + err, arguments
        told = [line for line in err.splitlines() if line.startswith("contact_lens: ")]
        assert len(told) == (expected in (2, 3)), arguments
    data: Any = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert len(data["checks"][0]["findings"]) == 2
    arguments = [*check, "scene.blend", "--object", "F", "--frames", "1-10:9", "--json", "-"]
    code, out, _ = in_process([binary, *arguments], tmp_path)
    assert code == 1
    # Blender itself may warn while it starts, before the command is asked.
    assert json.loads(out[out.index("{\n") :])["frames"] == [1, 10], "nothing is behind or within the JSON"
    assert "<table" in (tmp_path / "out.html").read_text(encoding="utf-8")
