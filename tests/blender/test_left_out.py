# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules and settings left out of a check is counted wherever its verdict stands."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

from .reports import load_report, outputs, run
from .scenes import adopt, cube, save_scene
from .test_scene_faults import texts_of_panel

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    """A row of cubes, each half inside the next: the first is the parent of the second, and a third one is hidden."""
    cubes = [cube(f"Cube {k}", (1.5 * k, 0.0, 0.0)) for k in range(5)]
    adopt(cubes[0], cubes[1])
    cube("Hidden").hide_viewport = True
    return save_scene(tmp_path / "room.blend")


def pair(k: int, **verdict: object) -> dict[str, object]:
    return {"a": f"Cube {k}", "b": f"Cube {k + 1}", **verdict}


@pytest.fixture
def decisions(tmp_path: Path) -> Path:
    path = tmp_path / "decisions.json"
    approved = [pair(k, status="approved", approved_at="-50 cm") for k in (1, 2)]
    head = {"schema": "contact-lens-decisions", "schema_version": 1}
    path.write_text(json.dumps({**head, "decisions": [*approved, pair(3, status="ignored")]}), encoding="utf-8")
    return path


LEFT_OUT = "left out: 1 pair of parent and child, 2 approved, 1 by decisions.json"


def test_a_clean_verdict_counts_what_rules_left_out(
    scene_file: Path, decisions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths, options = outputs(tmp_path)
    assert run(scene_file, "--decisions", decisions, *options) == 0
    assert f"Scene: 5 objects, 0 clashes; {LEFT_OUT}, 1 object hidden (rendered)\n" in capsys.readouterr().out
    sentence = f"L{LEFT_OUT[1:]}, 1 object hidden (rendered)"
    assert f">{sentence}</p>" in paths["html"].read_text(encoding="utf-8")
    ((suite,),) = [load_report(paths["junit"])]
    ((text,),) = [list(case) for case in suite.iter("testcase")]
    assert (text.tag, text.text) == ("system-out", sentence)


def test_several_checks_count_it_together(
    scene_file: Path, decisions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths, options = outputs(tmp_path)
    command = [scene_file, "--frames", "1-3", "--decisions", decisions]
    assert run(*command, *options) == 0
    of_all = f"{LEFT_OUT}, 1 object hidden"
    assert f"frames 1-3: Scene: 5 objects, no clashes; {of_all}" in capsys.readouterr().out
    assert f"<br>L{of_all[1:]}" in paths["html"].read_text(encoding="utf-8")
    part = tmp_path / "part.json"
    assert run(*command, "--shard", "1/1", "--json", part, "--quiet") == 0
    assert run("merge", part) == 0
    told = capsys.readouterr().out
    assert told.count(of_all) == 1


def test_the_panel_counts_it(scene_file: Path) -> None:
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    for finding in bpy.context.scene.contact_lens_check.findings:
        finding.status = "APPROVED"
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    assert "Left out: 1 pair of parent and child, 3 approved, 1 object hidden (rendered)" in texts_of_panel()


def test_touching_pairs_that_are_not_reported_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cubes = [cube(f"Cube {k}", (2.0 * k, 0.0, 0.0)) for k in range(4)]
    adopt(cubes[0], cubes[1])
    bpy.context.scene.contact_lens_check.touching = False  # as the file was saved
    assert run(save_scene(tmp_path / "room.blend")) == 0
    said = capsys.readouterr().out
    assert "Scene: 4 objects, 0 clashes; left out: 1 pair of parent and child, 2 touching\n" in said
