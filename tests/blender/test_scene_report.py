# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of a scene check, and the command line that makes them."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

import contact_lens

from ..schemas import read_json
from .layouts import Layout
from .processes import environment_of, in_process, installed, modules_of
from .reports import SAVED, load_report, outputs, run, run_json, save_report
from .scenes import (
    animate,
    cube,
    inspect,
    lens,
    mesh_object,
    one_line,
    open_scene,
    pane,
    rigid_body,
    save_scene,
    sheet,
    torus,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

NASTY = "<b>\"A\" & 'co'</b>"


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    """A saved scene: a pair with a nasty name that penetrates, one within 2 mm, and one that begins to at frame 10."""
    places = {NASTY: 0.0, "=B": 1.5, "C": 10.0, "D": 12.0015, "E": 30.0, "F": 35.0}
    cubes = {name: cube(name, (x, 0.0, 0.0)) for name, x in places.items()}
    animate(cubes["E"], "location", f1=(30.0, 0.0, 0.0), f10=(34.0, 0.0, 0.0))
    bpy.context.scene.frame_set(1)
    return save_scene(tmp_path / "scene.blend")


# --- reports --------------------------------------------------------------------------------------------------------


def test_the_three_reports_tell_the_same(scene_file: Path, tmp_path: Path) -> None:
    paths, options = outputs(tmp_path)
    assert run(scene_file, "--clearance", 0.002, "--quiet", *options) == 1
    data, rows, page, junit = (load_report(path) for path in paths.values())
    assert (data["schema"], data["schema_version"]) == ("contact-lens-scene-report", 3)
    (check,) = data["checks"]
    assert check["settings"]["clearance"] == 0.002
    assert [row["relation"] for row in check["findings"]] == ["penetrating", "within_clearance"]
    assert [float(row["signed_distance"]) for row in rows] == [row["signed_distance"] for row in check["findings"]]
    assert {check["findings"][0][side]["name"] for side in "ab"} == {NASTY, "=B"} == set(page.rows[1][0].split("\n"))
    assert {rows[0]["a"], rows[0]["b"]} == {NASTY, "'=B"}, "no spreadsheet takes a name for a formula"
    assert "b" not in page.tags[page.tags.index("table") :], "a name is no markup"
    assert page.rows[0] == ["Objects", "Relation", "Depth or Gap", "Area", "Status"]
    assert [row[1:3] for row in page.rows[1:]] == [["Penetrating", "Depth 0.5 m"], ["Within Clearance", "Gap 0.0015 m"]]
    assert [(row["region"], row["area"]) for row in check["findings"]] == [("polygon", 4.0)] * 2
    assert [row[3] for row in page.rows[1:]] == ["4 m\N{SUPERSCRIPT TWO}", "4 m\N{SUPERSCRIPT TWO} facing"]
    assert page.links == [], "the page needs nothing but itself"
    (suite,) = junit
    areas = re.findall("^(?:Area|Facing area): 4", "\n".join(suite.itertext()), re.M)
    assert areas == ["Area: 4", "Facing area: 4"], "a gap has no contact area"
    assert (suite.get("failures"), suite.get("errors")) == ("2", "0")
    assert [case.get("name") for case in suite.iter("testcase")][1:] == [
        f"{row['a']['name']} and {row['b']['name']}" for row in check["findings"]
    ]


def test_a_page_begins_with_the_verdict_and_what_was_checked(scene_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    options = ["--clearance", "2mm", "--least-contact", "edge", "--ignore", "parents", "--ignore", "collections"]
    assert run(scene_file, "--html", path, "--quiet", "--pictures", 0, *options) == 1
    header, _, _ = path.read_text(encoding="utf-8").partition("</header>")
    assert re.sub("<[^>]*>", "", header).index("1 penetrating1 within clearance") < header.index("<dl")
    facts = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", header))
    report = facts.pop("Report")
    assert facts == {
        "File": str(scene_file),
        "Scene": "Scene, frame 1",
        "Scope": "Visible objects with instances, as in the viewport",
        "Shapes": "Those of the objects",
        "Clearance": "0.002 m",
        "Touching": "Reported along edges and in faces",
        "Depths": "First answers; \N{LESS-THAN OR EQUAL TO} marks an upper bound",
        "Ignored": "Parent and child, same collection",
        "Tolerance": "0.000010 of the size of the smaller object",
        "Unit": "m; a Blender unit is 1 m",
        "SHA-256": hashlib.sha256(scene_file.read_bytes()).hexdigest(),
    }
    versions = f"Contact Lens {contact_lens.__version__}, Blender {bpy.app.version_string}, numpy {np.__version__}"
    assert report == versions


def test_a_note_of_all_clashes_stands_once_at_the_top_of_the_page(tmp_path: Path) -> None:
    for k in range(3):
        rigid_body(torus(f"Ring {k}", (1.5 * k, 0.0, 0.0)), "CONVEX_HULL")
    bpy.ops.contact_lens.check_scene()
    path = tmp_path / "out.html"
    page = save_report(path, pictures=0)
    assert [row[0] for row in page.rows[1:]] == ["Ring 0\nRing 1", "Ring 1\nRing 2"]
    note = "<p class=\"dim\">Each of 'Ring 0', 'Ring 1' and 'Ring 2' is not convex: its convex hull is used</p>"
    header, _, table = html.unescape(path.read_text(encoding="utf-8")).partition("</header>")
    assert header.count(note) == 1
    assert "convex hull is used" not in table
    notes = [row["notes"] for row in save_report(tmp_path / "out.json")["checks"][0]["findings"]]
    assert notes[0] == [f"'Ring {k}' is not convex: its convex hull is used" for k in (0, 1)], "each has its own there"
    cube("Nail", (0.0, 9.0, 0.0), 0.2), cube("Board", (0.0, 9.0, 0.15), 0.2)  # they clash, and have no note
    bpy.ops.contact_lens.check_scene()
    save_report(path, pictures=0)
    header, _, table = path.read_text(encoding="utf-8").partition("</header>")
    assert "is used" not in header
    assert table.count("is used") == 4


def test_numbers_are_in_the_scenes_unit(scene_file: Path, tmp_path: Path) -> None:
    unit_settings("METRIC", "MILLIMETERS", 0.01)
    bpy.ops.contact_lens.check_scene()
    page = save_report(tmp_path / "out.html", pictures=0)
    assert page.rows[1][2:5] == ["Depth 5 mm", "400 mm²", "New"]


def unit_settings(system: str, length_unit: str, scale: float) -> None:
    settings = bpy.context.scene.unit_settings
    settings.system, settings.scale_length = system, scale
    if system != "NONE":
        settings.length_unit = length_unit


def test_each_finding_is_marked_with_its_frame(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, pictures = lens.report.scene, lens.report.pictures
    monkeypatch.setattr(
        pictures, "render_isolated", lambda context, exhibit, path, *size: Path(path).write_bytes(b"PNG")
    )
    panel = lens.ui.scene_panel.CONTACT_LENS_PT_scene
    scene, check = bpy.context.scene, bpy.context.scene.contact_lens_check

    def shown() -> str:
        layout = Layout()
        panel.draw(SimpleNamespace(layout=layout), bpy.context)
        return "; ".join(layout.drawn.texts)

    bpy.ops.contact_lens.check_scene()
    bpy.ops.contact_lens.go_to_finding()
    assert "frame" not in shown().lower()
    scene.frame_set(10)
    assert "Checked at frame 1" in shown()
    assert "Found at frame 1" in shown()
    check.scope, check.object = "ONE", bpy.data.objects["F"]  # what it does not look at stays as it was
    bpy.ops.contact_lens.check_scene()
    frames = {finding.label("a"): finding.row()["frame"] for finding in check.findings}
    assert frames == {NASTY: 1, "F": 10}
    assert "Checked at frame" not in shown()
    assert "Found at frame 1" in shown()
    data, table, page = (save_report(tmp_path / f"out.{kind}") for kind in SAVED)
    (told,) = data["checks"]
    assert (told["frame"], [row["frame"] for row in told["findings"]]) == (10, [10, 1])
    assert [line["frame"] for line in table] == ["10", "1"]
    assert ["\nFound at frame 1" in row[0] for row in page.rows[1:]] == [False, True]
    assert [row[5] for row in page.rows[1:]] == ["", "Found at frame 1"], "a picture would show another pose"
    # Separated it is as it is now. Findings of files saved earlier do not say of which frame they are.
    check.active = next(k for k, finding in enumerate(check.findings) if finding.row()["frame"] == 1)
    assert bpy.ops.contact_lens.separate_finding() == {"FINISHED"}
    finding = check.findings[check.active]
    assert finding.row()["frame"] == 10
    finding.data = json.dumps({name: value for name, value in finding.row().items() if name != "frame"})
    assert "Found at Frame" not in shown()
    assert [row["frame"] for row in report.checks_of(scene)[0]["findings"]] == [10, 10]


@pytest.mark.parametrize(
    ("system", "length_unit", "scale", "symbol", "factor"),
    [
        ("METRIC", "METERS", 1.0, "m", 1.0),
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
    check = bpy.context.scene.contact_lens_check
    check.clearance = 0.002
    bpy.ops.contact_lens.check_scene()
    found = [finding.row() for finding in check.findings]
    unit_settings(system, length_unit, scale)  # of today, as the panel is
    (told,), table = save_report(tmp_path / "out.json")["checks"], save_report(tmp_path / "out.csv")

    def is_scaled(value: Any, bare: Any, power: int = 1) -> bool:
        scaled = None if bare is None else (np.array(bare) * factor**power).tolist()
        return scaled is value is None or value == pytest.approx(scaled, rel=1e-15)

    per_unit = told["units"]["blender_units_per_unit"]
    assert per_unit * factor == pytest.approx(1.0, rel=1e-15)
    assert told["units"] == told["units"] | {"length": symbol, "area": f"{symbol}²", "numbers_in": "scene_units"}
    assert told["settings"]["clearance"] == pytest.approx(0.002 * factor, rel=1e-15)
    assert told["settings"]["contact_tolerance"] == 1e-5
    points = ("mtv", "point_on_a", "point_on_b", "center", "centroid")
    lengths = ("signed_distance", "depth", "lower_bound", "upper_bound", *points)
    for line, row, bare in zip(table, told["findings"], found, strict=True):
        assert [name for name in lengths if not is_scaled(row[name], bare[name])] == []
        assert is_scaled(row["area"], bare["area"], 2)
        assert row["normal"] == bare["normal"]
        assert (line["length_unit"], line["area_unit"]) == (symbol, f"{symbol}²")
        written = {name: row[name] for name in ("depth", "area")} | {"blender_units_per_unit": per_unit}
        for name in ("point_on_b", "center"):
            written |= {f"{name}_{axis}": x for axis, x in zip("xyz", row[name], strict=True)}
        assert {name: float(line[name]) for name in written} == written


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
    scene_file: Path, length_unit: str, scale: float, written: str, blender_units: float
) -> None:
    unit_settings("METRIC", length_unit, scale)
    save_scene(scene_file)
    code, data = run_json(scene_file, "--object", "C", "--clearance", written)
    assert code == (blender_units > 0.0015), "the gap"
    (check,) = data["checks"]
    clearance = check["settings"]["clearance"] * check["units"]["blender_units_per_unit"]
    assert clearance == pytest.approx(blender_units, rel=1e-14)


def test_the_unit_of_a_clearance_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "a number alone, such as 0.002, is in the unit of the scene" in told
    assert told.isascii(), "any terminal can show it"


def test_the_report_has_the_statuses_and_names_of_today(scene_file: Path, tmp_path: Path) -> None:
    bpy.ops.contact_lens.check_scene()
    bpy.context.scene.contact_lens_check.findings[0].status = "REVIEWED"
    bpy.data.objects["=B"].name = "Renamed"
    row = save_report(tmp_path / "out.json")["checks"][0]["findings"][0]
    assert (row["status"], "Renamed" in (row["a"]["name"], row["b"]["name"])) == ("reviewed", True)


def test_pictures_are_in_the_page_or_it_says_why_not(scene_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    assert run(scene_file, "--quiet", "--html", path, "--clearance", 0.002, "--pictures", 1) == 1
    text = path.read_text(encoding="utf-8")
    pictures = re.findall(r"data:image/png;base64,([^\"]+)", text)
    if not pictures:
        assert "No pictures: " in text
        return
    (tmp_path / "picture.png").write_bytes(base64.b64decode(*pictures))
    picture = bpy.data.images.load(str(tmp_path / "picture.png"))
    assert tuple(picture.size) == (960, 600)
    opacity = np.array(picture.pixels[:]).reshape(600, 960, 4)[:, :, 3]
    assert opacity[[0, 0, -1, -1], [0, -1, 0, -1]].max() == 0.0, "it suits pages of any color"
    assert (opacity == 1.0).mean() > 0.1


def test_no_room_for_pictures_costs_no_report(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.html"
    arguments = [scene_file, "--quiet", "--clearance", 0.002, "--html", path]

    def full(context: object, shown: object, file: str, *size: int) -> None:
        if Path(file).exists():
            raise OSError(28, "No space left on device", file)
        Path(file).write_bytes(b"")

    monkeypatch.setattr(lens.report.pictures, "render_isolated", full)
    assert run(*arguments) == 1
    text = path.read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 1
    assert re.search(r"No more pictures: [^<]*: No space left on device", text)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert run(*arguments) == 1
    assert re.search(r"No pictures: [^<]*: No such file or directory", path.read_text(encoding="utf-8"))
    bpy.ops.contact_lens.check_scene()
    save_report(path)
    assert "No pictures: " in path.read_text(encoding="utf-8")


def test_what_has_no_depth_is_not_told_in_zeros(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, x in ("B", 10.0), ("C", 11.5):
        cube(name, (x, 0.0, 0.0))
    pane("A")
    sheet("Sheet", location=(0.5, 0.0, 0.3), kind="MESH")
    paths, options = outputs(tmp_path)
    run(save_scene(tmp_path / "scene.blend"), *options)
    data, table, page, _ = (load_report(path) for path in paths.values())
    with_depth, without = data["checks"][0]["findings"]
    assert with_depth["depth"] == pytest.approx(0.5)
    of_depth = ("signed_distance", "depth", "normal", "mtv", "lower_bound", "upper_bound")
    assert [without[name] for name in of_depth] == [None] * 6
    assert (without["intersects"], without["has_depth"], len(without["point_on_a"])) == (True, False, 3)
    assert [row["depth"] != "" for row in table] == [True, False]
    empty = ("signed_distance", "depth", "normal_x", "normal_y", "normal_z", "lower_bound", "upper_bound")
    assert [table[1][name] for name in empty] == [""] * 7
    assert (table[1]["point_on_b_z"] != "", table[1]["b_checked_as"]) == (True, "mesh")
    assert "no inside" in table[1]["notes"]
    assert [row[2] for row in page.rows[1:]] == ["Depth 0.5 m", "No depth: open surfaces"]
    (said,) = (line for line in capsys.readouterr().out.splitlines() if "Sheet" in line)
    assert "no depth: both surfaces are open" in said


def test_a_body_in_a_ball_with_a_missing_triangle_is_inside_without_a_depth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3)
    ball = bpy.context.object.data
    faces = [tuple(face.vertices) for face in ball.polygons]
    mesh_object("Ball", [tuple(vertex.co) for vertex in ball.vertices], faces[1:])
    bpy.data.objects.remove(bpy.context.object)
    cube("Inner", size=0.3)
    scene = save_scene(tmp_path / "scene.blend")
    code, data = run_json(scene, "--verify", "--fail-on", "penetrating")
    (row,) = data["checks"][0]["findings"]
    assert (code, row["relation"], row["verified"]) == (1, "b_inside_a", True)
    assert (row["has_depth"], row["signed_distance"], row["depth"], row["intersects"]) == (False, None, None, True)
    assert row["notes"][-2:] == [
        "B is inside A, but A has a hole of 3 edges",
        "Open surfaces have no inside, so there is no depth",
    ]
    run(scene)
    assert "  B inside A  Ball  Inner  no depth: the outer surface is open" in capsys.readouterr().out
    found = inspect(bpy.data.objects["Inner"], bpy.data.objects["Ball"])
    assert (found.contact.relation, found.verification.ok) == ("a_inside_b", True)
    assert one_line() == "Inner inside Ball, no depth: the outer surface is open"
    assert not found.is_depth_pending
    assert not bpy.ops.contact_lens.separate.poll()


def test_a_depth_that_is_not_known_exactly_is_one_at_most(scene_file: Path) -> None:
    (check,) = run_json(scene_file)[1]["checks"]
    row, units = check["findings"][0], lens.data.units.UnitFormat.of_scene(bpy.context.scene)
    terminal, panel = lens.terminal.check_lines, lens.ui.scene_panel
    table, report_units = lens.page.html_table, lens.scene.clash_rows
    for status, least, is_bound in (("certified", 0.5, False), ("bracket", 0.25, True)):
        row["exactness"], row["upper_bound"] = status, -least
        assert ("at most" in terminal._distance(row, units)) == is_bound
        assert panel._number_of(row, units).startswith("\N{LESS-THAN OR EQUAL TO}") == is_bound
        cell = table._distance(row, report_units.unit_format(check))
        assert ("Depth</span> \N{LESS-THAN OR EQUAL TO} 0.5 m<" in cell) == is_bound
        hint = "  1 depth is an upper bound: add --depth exact to refine it"
        assert (hint in terminal.lines({**check, "findings": [row]})) == is_bound


def test_the_list_of_a_scene_says_that_there_is_no_depth() -> None:
    pane("A")
    sheet("Sheet", location=(0.5, 0.0, 0.3), kind="MESH")
    bpy.ops.contact_lens.check_scene()
    check, panel = bpy.context.scene.contact_lens_check, lens.ui.scene_panel
    (finding,) = check.findings
    assert not finding.has_depth
    units = lens.data.units.UnitFormat.of_scene(bpy.context.scene)
    assert panel._number(check, finding, units) == "no depth"
    check.sort = "AREA"
    assert panel._number(check, finding, units) == "0 m²"
    # Files saved earlier have zeros.
    finding.data = json.dumps({**finding.row(), "signed_distance": 0.0, "depth": 0.0, "normal": [0.0, 0.0, 0.0]})
    assert panel._number_of(finding.row(), units) == "no depth"
    bpy.ops.contact_lens.check_scene()
    (finding,) = bpy.context.scene.contact_lens_check.findings
    assert (finding.status, finding.has_depth) == ("ACTIVE", False)


# --- command line ---------------------------------------------------------------------------------------------------


def test_exit_codes(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
        (2, [scene_file, "--object", ""]),
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
        assert run(*arguments) == expected, arguments
        told = capsys.readouterr()
        assert ("contact_lens: " in told.err) == (expected == 2), arguments


def test_a_contact_that_fails_its_verification_is_not_clean(
    scene_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene_pairs = lens.scene.scene_check
    honest = scene_pairs.clash_of
    monkeypatch.setattr(scene_pairs, "clash_of", lambda *given: replace(honest(*given), relation="separated"))
    arguments = scene_file, "--fail-on", "never"
    assert run(*arguments) == 0
    capsys.readouterr()
    assert run(*arguments, "--verify") == 3
    assert "did not pass its own verification" in capsys.readouterr().err
    assert run(*arguments, "--verify", "--allow-skipped") == 0


def test_what_cannot_be_checked_is_not_clean(
    scene_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bpy.context.scene.objects["C"].select_set(True)
    mesh_object("Nothing", [], [], (50.0, 0.0, 0.0)).select_set(True)
    save_scene(scene_file)
    assert run(scene_file, "--selected") == 0, "what has no geometry collides with nothing"
    assert "'Nothing' has no vertices" in capsys.readouterr().out
    mesh_object("Wire", [(10.0, 0.0, 0.0), (10.5, 0.0, 0.0)], kind="MESH").select_set(True)
    save_scene(scene_file)
    code, data = run_json(scene_file, "--selected")
    said = "contact_lens: not everything could be checked: 'Wire' has no faces, so it cannot collide as a mesh: "
    assert (code, capsys.readouterr().err) == (3, f"{said}choose another collision shape\n")
    unchecked = {entry["name"]: entry["unchecked"] for entry in data["checks"][0]["skipped"]}
    assert unchecked == {"Nothing": False, "Wire": True}
    assert run(scene_file, "--selected", "--allow-skipped") == 0
    assert run(scene_file, "--selected", "--fail-on", "never") == 3, "it is no finding"
    assert run(scene_file) == 1, "findings count first"

    # A pair of which core says that it cannot.
    def refused(*_: object) -> None:
        raise ValueError("b is too large")

    bpy.data.objects.remove(bpy.data.objects["Wire"])
    bpy.data.objects["=B"].contact_lens_shape = "MESH"  # meshes are checked one by one
    save_scene(scene_file)
    monkeypatch.setattr(lens.scene.scene_check, "check_pair", refused)
    assert run(scene_file) == 3
    assert f"'{NASTY}' and '=B' cannot be checked: b is too large\n" in capsys.readouterr().err


def test_ctrl_c_keeps_what_is_done(scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, path = lens.scene.scene_check, tmp_path / "out.json"
    for obj in bpy.data.objects:
        obj.contact_lens_shape = "MESH"  # their depths are searched after all relations
    save_scene(scene_file)
    find, before = pairs.contacts, signal.getsignal(signal.SIGINT)

    def stopped_meanwhile(*arguments: Any, **options: Any) -> Any:
        found = find(*arguments, **options)
        signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(pairs, "contacts", stopped_meanwhile)
    code, data = run_json(scene_file, scene_file, "--frames", "1-10", "--clearance", "4")
    (check,) = data["checks"]
    assert (code, data["partial"], data["frames"], check["partial"]) == (130, True, [1], True)
    assert [entry["error"] for entry in data["inputs"]] == [
        "the run was stopped before it reached frames 2-10",
        "the run was stopped before it was reached",
    ]
    assert [row["has_depth"] for row in check["findings"] if row["relation"] == "penetrating"] == [False]
    assert signal.getsignal(signal.SIGINT) is before

    def stopped_twice(*arguments: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(pairs, "contacts", stopped_twice)
    path.unlink()
    assert run(scene_file, "--json", path, "--quiet") == 130
    assert not path.exists()


def test_missing_files_are_told_before_anything_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "none.blend", tmp_path, "--json", tmp_path / "out.json") == 2
    told = capsys.readouterr()
    assert "none.blend: there is no such file" in told.err
    assert "is a folder" in told.err
    assert told.out == ""
    assert not list(tmp_path.iterdir())


def test_what_nobody_foresaw_has_an_exit_code_too(
    scene_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("nobody foresaw this")

    monkeypatch.setattr(lens.scene.scene_check, "check", broken)
    assert run(scene_file) == 2
    told = capsys.readouterr().err
    assert "nobody foresaw this" in told
    assert told.splitlines()[-1] == ("contact_lens: unexpected error: please report it with the lines above")


def test_frames_are_checked_one_by_one(scene_file: Path) -> None:
    def checks(span: str) -> list[dict[str, Any]]:
        checked: list[dict[str, Any]] = run_json(scene_file, "--object", "F", "--frames", span)[1]["checks"]
        return checked

    whole, parts = checks("1-10:3"), checks("1-4:3") + checks("7-10:3")
    assert [(check["frame"], len(check["findings"])) for check in whole] == [(1, 0), (4, 0), (7, 0), (10, 1)]
    # A range in parts reports what the whole one does, but for the motion from the last frame of one to the next part.
    assert [check.pop("motion")["since_frame"] for check in whole] == [None, 1, 4, 7]
    assert [check.pop("motion")["since_frame"] for check in parts] == [None, 1, None, 7]
    assert parts == whole


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1-3", [1, 2, 3]),
        ("5", [5]),
        ("1,5,9-13:2,5", [1, 5, 9, 11, 13]),
        ("-2-1", [-2, -1, 0, 1]),
        ("-5--3", [-5, -4, -3]),
    ],
)
def test_frame_lists(written: str, expected: list[int]) -> None:
    assert lens.commands.check_options.frames(written) == expected


def test_the_user_guide_has_every_option() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "user-guide.md").read_text(encoding="utf-8")
    table = guide.split("## Check scenes from a terminal")[1].split("| option |")[1].split("\n\n")[0]
    written = set(re.findall(r"--[\w-]+", "".join(row.split("|")[1] for row in table.splitlines()[2:])))
    actions = lens.commands.check_options.parser("check")._actions
    options = {name for action in actions for name in action.option_strings}
    assert options - {"-h", "--help"} == written


def test_approved_pairs_fail_a_build_only_when_they_became_deeper(
    scene_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bpy.ops.contact_lens.check_scene()
    [finding] = bpy.context.scene.contact_lens_check.findings
    finding.status = "APPROVED"
    save_scene(scene_file)
    assert run(scene_file) == 0
    code, data = run_json(scene_file, "--ignore", "none")
    assert (code, [row["status"] for row in data["checks"][0]["findings"]]) == (0, ["approved"])
    open_scene(scene_file)
    bpy.data.objects["=B"].location.x = 1.4
    save_scene(scene_file)
    code, data = run_json(scene_file)
    [row] = data["checks"][0]["findings"]
    assert (code, row["status"], row["approved_at"]) == (1, "changed", pytest.approx(-0.5))
    assert row["depth"] == pytest.approx(0.6, abs=1e-6)
    run(scene_file)
    assert "changed: approved at 0.5 m" in capsys.readouterr().out


def test_what_a_person_reads(scene_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(scene_file, "--clearance", 0.002)
    told = capsys.readouterr().out
    for words in (
        "6 objects, 1 penetrating, 1 within clearance",
        "depth 0.5 m   area 4 m²",
        "gap 0.0015",
        "; clearance 0.002 m\n",
    ):
        assert words in told
    run(scene_file, "--quiet")
    assert "findings" not in capsys.readouterr().out


# --- other processes ------------------------------------------------------------------------------------------------


def stopped_by_ctrl_c(command: list[str], folder: Path, **environment: str) -> None:
    """Press Ctrl-C once contacts are seen to be on the way; check what is reported."""
    terminal, side = pytest.importorskip("pty").openpty()
    environment = environment_of(folder, **environment)
    command = [*command, "--json", "out.json"]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=side)
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
    assert process.returncode == 130, told
    assert b"Traceback" not in out + told
    assert b"contact_lens: stopping; press Ctrl-C again to end at once" in told
    assert b"contact_lens: stopped: not everything was checked" in told
    assert b"stopped early" in out
    data = load_report(folder / "out.json")
    assert data["partial"]
    assert 0 < data["checks"][0]["checked_pairs"] < data["checks"][0]["candidate_pairs"]


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
    return save_scene(tmp_path / "slow.blend")


@pytest.mark.slow
@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")
def test_ctrl_c_in_a_module_of_python(addon: ModuleType, slow_file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "contact_lens", "slow.blend"]
    stopped_by_ctrl_c(command, tmp_path, PYTHONPATH=str(modules_of(addon, tmp_path)))


def test_ctrl_c_in_a_command_of_blender(packed: Path, slow_file: Path, tmp_path: Path) -> None:
    binary = installed(packed, tmp_path)
    stopped_by_ctrl_c([binary, "-b", "slow.blend", "--command", "contact_lens", "check"], tmp_path)


@pytest.mark.skipif(bpy.app.binary_path != "", reason="this is about the bpy module")
def test_as_a_module_of_python(addon: ModuleType, scene_file: Path, tmp_path: Path) -> None:
    (tmp_path / "profile").mkdir()
    (tmp_path / "temporary").mkdir()
    variables = {"PYTHONPATH": str(modules_of(addon, tmp_path)), "TMPDIR": str(tmp_path / "temporary")}
    for expected, said, arguments in (
        (1, '"schema"', ["scene.blend", "--json", "-"]),
        (0, "0 clashes", ["check", "scene.blend", "--object", "C"]),
        (2, "none.blend: there is no such file", ["none.blend"]),
    ):
        command = [sys.executable, "-m", "contact_lens", *arguments]
        code, out, err = in_process(command, tmp_path, **variables)
        assert (code, said in (err if code == 2 else out)) == (expected, True), err
        assert list((tmp_path / "temporary").iterdir()) == []
        if "--json" in arguments:
            assert len(read_json(out)["checks"][0]["findings"]) == 1, "nothing but the JSON is there"


def test_as_a_command_of_blender(packed: Path, scene_file: Path, tmp_path: Path) -> None:
    binary = installed(packed, tmp_path)
    check = ["--command", "contact_lens", "check"]
    open_scene(scene_file)
    mesh_object("Wire", [(10.0, 0.0, 0.0), (10.5, 0.0, 0.0)]).contact_lens_shape = "MESH"
    save_scene(tmp_path / "wire.blend")
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
        (2, "profile is a folder", [*check, "scene.blend", "--json", "profile"]),
        (2, "expected check", ["--command", "contact_lens"]),
    ):
        code, out, err = in_process([binary, *arguments], tmp_path)
        assert code == expected, (arguments, out, err)
        assert said in err, arguments
        assert "Traceback" not in out + err, arguments
        told = [line for line in err.splitlines() if line.startswith("contact_lens: ")]
        assert len(told) == (expected in (2, 3)), arguments
    data = load_report(tmp_path / "out.json")
    assert len(data["checks"][0]["findings"]) == 2
    arguments = [*check, "scene.blend", "--object", "F", "--frames", "1-10:9", "--json", "-"]
    code, out, _ = in_process([binary, *arguments], tmp_path)
    assert code == 1
    # Blender itself may warn while it starts, before the command is asked.
    assert read_json(out[out.index("{\n") :])["frames"] == [1, 10], "nothing is behind or within the JSON"
    assert "<table" in (tmp_path / "out.html").read_text(encoding="utf-8")
