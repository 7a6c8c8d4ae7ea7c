# SPDX-License-Identifier: GPL-3.0-or-later
"""JUnit XML: what a CI server is told agrees with the exit code, whatever the names."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import bpy
import pytest

from ..schemas import IS_AVAILABLE, junit_faults, read_junit
from .reports import load_report, run, run_json
from .scenes import animate, cube, lens, mesh_object, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")

COUNTS = ("tests", "failures", "errors", "skipped")


@pytest.fixture
def junit() -> ModuleType:
    return lens.report.junit_report


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    """Two cubes penetrate, two touch, two are near each other, and one object cannot be checked."""
    for name, x in {"A": 0.0, "B": 1.5, "C": 10.0, "D": 12.0, "E": 20.0, "F": 22.001}.items():
        cube(name, (x, 0.0, 0.0))
    mesh_object("Endless", [(0, 0, 0), (1, 0, 0), (0, float("inf"), 0)], [(0, 1, 2)])
    return save_scene(tmp_path / "scene.blend")


def run_junit(file: Path, *arguments: object) -> tuple[int, Element]:
    path = file.parent / "out.xml"
    return run(file, *arguments, "--junit", path, "--quiet"), load_report(path)


def counts(suite: Element) -> list[int]:
    return [int(suite.get(name, "")) for name in COUNTS]


def case(root: Element, name: str) -> Element:
    (found,) = (case for case in root.iter("testcase") if case.get("name") == name)
    return found


def test_a_clean_scene_has_passed(tmp_path: Path) -> None:
    cube("A")
    cube("B", (5.0, 0.0, 0.0))
    code, root = run_junit(save_scene(tmp_path / "scene.blend"))
    (suite,) = root
    assert (code, suite.get("name"), counts(suite)) == (0, "scene, Scene, frame 1", [1, 0, 0, 0])
    assert [(found.get("name"), list(found)) for found in suite.iter("testcase")] == [("The check ran to the end", [])]


FAILURES = {"any": 3, "touching": 2, "penetrating": 1, "never": 0}


def test_failures_and_errors_are_those_of_the_exit_code(scene_file: Path) -> None:
    for (fail_on, failures), allowed in product(FAILURES.items(), (False, True)):
        more = ["--allow-skipped"] if allowed else []
        code, (suite,) = run_junit(scene_file, "--clearance", 0.01, "--fail-on", fail_on, *more)
        assert counts(suite) == [5, failures, not allowed, allowed], fail_on
        assert code == (1 if failures else 0 if allowed else 3)


def test_a_clash_is_described(scene_file: Path) -> None:
    _, root = run_junit(scene_file)
    assert [suite.get("name") for suite in root] == ["scene, Scene, frame 1"]
    (failure,) = case(root[0], "A and B")
    _, report = run_json(scene_file)
    assert (failure.get("type"), failure.get("message")) == ("contact_lens.penetrating", "Penetrating, depth 0.5 m")
    row = report["checks"][0]["findings"][0]
    assert failure.text.splitlines() == [
        "Penetrating, depth 0.5 m",
        "A: A",
        "B: B",
        "Center: 0.75 0 0 m",
        "Move B By: 0.5 0 0 m",
        "Area: 4 m²",
        "Status: New",
        f"Id: {row['id']}",
    ]
    (touching,) = case(root[0], "C and D")
    assert touching.get("message") == "Touching"
    (error,) = case(root[0], "Endless is checked")
    assert (error.tag, error.get("type")) == ("error", "contact_lens.geometry")
    assert "Endless" in error.text
    facts = {found.get("name"): found.get("value") for found in root[0].iter("property")}
    assert facts == {
        "path": str(scene_file),
        "sha256": report["inputs"][0]["sha256"],
        "blender": bpy.app.version_string,
    }


def test_a_pair_over_frames_is_a_case(scene_file: Path, junit: ModuleType) -> None:
    """Judged by all its frames: it fails for the first that counts, if the worst does not."""
    for name, x in (("F", 22.001), ("D", 12.0)):
        animate(
            bpy.data.objects[name], "location", "CONSTANT", f1=(x + 0.3, 0, 0), f2=(x - 0.1, 0, 0), f4=(x + 0.2, 0, 0)
        )
    save_scene(scene_file)
    code, root = run_junit(scene_file, "--frames", "1-4", "--fail-on", "transient")
    assert (code, [(suite.get("name"), counts(suite)) for suite in root]) == (
        1,
        [("scene, Scene, frames 1-4", [5, 2, 1, 0])],
    )
    (failure,) = case(root[0], "E and F")
    sentence = "E meets F at 2, deepest 0.099 m at 2, leaves after 3"
    assert (failure.get("type"), failure.get("message")) == ("contact_lens.penetrating", sentence)
    assert failure.text.splitlines()[:4] == [sentence, "A: E", "B: F", "Frame: 2"]
    assert list(case(root, "A and B")) == [], "it is permanent"
    assert counts(run_junit(scene_file, "--frames", "1-4")[1][0]) == [5, 3, 1, 0]
    _, report = run_json(scene_file, "--frames", "1-4", "--visibility", "all", "--allow-skipped")
    for check in report["checks"]:
        for row in check["findings"]:
            row["status"] = "approved" if check["frame"] < 3 else "changed"
            row["verified"] = check["frame"] != 3
    (suite,) = read_junit("".join(junit.junit_parts(report, lens.report.criteria.Criteria("transient"))))
    assert counts(suite) == [8, 2, 4, 0]
    (failure,) = case(suite, "E and F")
    assert "Frame: 3" in failure.text


def test_an_approved_clash_has_passed(scene_file: Path) -> None:
    bpy.ops.contact_lens.check_scene()
    for finding in bpy.context.scene.contact_lens_check.findings:
        finding.status = "APPROVED"
    save_scene(scene_file)
    _, root = run_junit(scene_file, "--ignore", "none", "--allow-skipped")
    assert list(case(root, "A and B")) == []


def test_what_was_stopped_or_not_read_is_an_error(scene_file: Path, junit: ModuleType) -> None:
    (scene_file.parent / "bad.blend").write_bytes(b"no blend file")
    code, root = run_junit(scene_file, scene_file.parent / "bad.blend")
    suite, _ = root
    assert (code, suite.get("name"), counts(suite)) == (2, str(scene_file.parent / "bad.blend"), [1, 0, 1, 0])
    _, report = run_json(scene_file)
    report["partial"] = report["checks"][0]["partial"] = True
    whole, check = written(junit, report)
    assert (counts(whole), counts(check)) == ([1, 0, 1, 0], [4, 2, 2, 0])
    report["checks"][0] |= {"partial": False, "skipped": []}
    report["checks"][0]["findings"][0] |= {"verified": False, "status": "approved"}
    (error,) = case(written(junit, report), "A and B is checked")
    assert "did not pass its own verification" in error.text


def test_what_is_gone_since_the_baseline_has_passed_and_what_was_not_looked_at_is_skipped(
    scene_file: Path, junit: ModuleType
) -> None:
    _, report = run_json(scene_file)
    (check,) = report["checks"]
    sides = {side: {"name": side.upper() * 2} for side in "ab"}
    check |= {"gone": [sides], "not_compared": [{**sides, "reason": "'AA' is not visible"}]}
    check["findings"][0]["change"] = "deeper"
    root = written(junit, report)
    assert list(case(root, "AA and BB")) == []
    (skipped,) = case(root, "AA and BB (2)")
    assert (skipped.tag, skipped.get("type"), skipped.text) == (
        "skipped",
        "contact_lens.not_compared",
        "'AA' is not visible",
    )
    assert "Compared with the baseline: deeper" in case(root, "A and B")[0].text


def written(junit: ModuleType, report: Any) -> Element:
    return read_junit("".join(junit.junit_parts(report, lens.report.criteria.Criteria())))


def test_names_cannot_break_the_xml_and_are_told_apart(scene_file: Path, junit: ModuleType) -> None:
    _, report = run_json(scene_file)
    (check,) = report["checks"]
    row = check["findings"][0]
    nasty = "<b>\"A\" & 'co' ]]>\x00\x1b[2J\ufffe\uffff\ud800\u202e\n"
    shown = "<b>\"A\" & 'co' ]]>\\x00\\x1b[2J\\ufffe\\uffff\\ud800\\u202e\\n"
    check["findings"] = [{**row, "a": {**row["a"], "name": nasty}, "notes": [nasty]}] * 3
    check["scene"], check["skipped"][0]["name"], check["skipped"][0]["reason"] = nasty, nasty, nasty
    (suite,) = written(junit, report)
    assert suite.get("name") == f"scene, {shown}, frame 1"
    names = [found.get("name") for found in suite.iter("testcase")]
    assert names[1:] == [f"{shown} is checked", *(f"{shown} and B{more}" for more in ("", " (2)", " (3)"))]
    assert case(suite, f"{shown} and B")[0].text.endswith(shown)


def test_a_name_that_ends_in_a_number_is_told_apart_too(junit: ModuleType) -> None:
    assert list(junit._unlike(["A", "A (2)", "A", "A", "A (2)"])) == ["A", "A (2)", "A (3)", "A (4)", "A (2) (2)"]


def test_no_type_is_one_that_gitlab_decodes(scene_file: Path, junit: ModuleType) -> None:
    """Rails' Hash.from_xml, which GitLab reads reports with, makes bytes of what is of type "file"."""
    _, report = run_json(scene_file)
    report["inputs"].append({**report["inputs"][0], "path": "/bad.blend", "error": "it is no .blend file"})
    types = {found.get("type") for found in written(junit, report).iter() if "type" in found.attrib}
    assert types == {f"contact_lens.{kind}" for kind in ("file", "geometry", "penetrating", "touching")}


def test_files_of_one_name_are_told_apart(scene_file: Path, junit: ModuleType) -> None:
    _, report = run_json(scene_file)
    report["inputs"].append({**report["inputs"][0], "path": "/other/scene.blend"})
    report["checks"].append({**report["checks"][0], "path": "/other/scene.blend"})
    paths = [str(scene_file.with_suffix("")), "/other/scene"]
    assert [suite.get("name") for suite in written(junit, report)] == [f"{path}, Scene, frame 1" for path in paths]


@pytest.mark.skipif(not IS_AVAILABLE, reason="xmlschema is not installed")
def test_the_schema_takes_nothing_else(scene_file: Path) -> None:
    run_junit(scene_file)
    text = (scene_file.parent / "out.xml").read_text(encoding="utf-8")
    assert not junit_faults(fromstring(text))
    for before, after in (
        (' time="0"', ""),
        ("<testcase ", '<testcase file="scene.blend" '),
        ("</failure>", '</failure><error type="x" message="x">x</error>'),
        ("</failure>", "<b/></failure>"),
        ('<error type="contact_lens.geometry"', "<error"),
        ('type="contact_lens.geometry"', 'type="file"'),
        ('skipped="0"', 'skipped="none"'),
        ("<testsuite ", '<testsuite timestamp="now" '),
        ('name="sha256"', 'name="digest"'),
    ):
        assert before in text
        assert junit_faults(fromstring(text.replace(before, after, 1))), before
