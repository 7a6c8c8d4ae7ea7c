# SPDX-License-Identifier: GPL-3.0-or-later
"""Coordinates that are too coarse for the size of an object: every report says so, and nothing is called clean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, outputs, run, run_json
from .scenes import animate, block, cube, save_scene, sheet
from .test_scene_faults import texts_of_panel

pytestmark = pytest.mark.usefixtures("empty_scene")

FAR = 500_000.0
"""Meters from the origin at which coordinates are multiples of 31 mm, and known to four times that."""


def columns(count: int = 2, apart: float = 0.2) -> None:
    for k in range(count):
        block(f"Column {k}", (0.3, 0.3, 3.0), (FAR + apart * k, 200_000.0, 0.0))


def coarse(check: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in check["skipped"] if entry["kind"] == "coarse"]


SENTENCE = (
    "The coordinates of 'Column 0' and 'Column 1' are too coarse for their sizes (0.13 m): move the objects closer to "
    "the world origin"
)


def test_columns_far_away_that_overlap_by_less_than_the_resolution_are_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns()
    scene = save_scene(tmp_path / "far.blend")
    paths, options = outputs(tmp_path)
    assert run(scene, "--fail-on", "penetrating", *options) == 3
    told = capsys.readouterr()
    assert f"  not checked: {SENTENCE}\n" in told.out
    assert told.err.endswith(f"not everything could be checked: {SENTENCE}\n")
    (check,) = load_report(paths["json"])["checks"]
    assert [entry["relation"] for entry in check["findings"]] == ["touching"]
    assert check["findings"][0]["notes"] == [SENTENCE]
    (entry,) = coarse(check)
    assert (entry["name"], entry["objects"]) == ("Column 0, Column 1", ["Column 0", "Column 1"])
    assert (entry["reason"], entry["resolution"]) == (SENTENCE, 0.125)
    assert SENTENCE.replace("'", "&#x27;") in paths["html"].read_text(encoding="utf-8")
    assert SENTENCE in paths["csv"].read_text(encoding="utf-8")
    (error,) = load_report(paths["junit"]).iter("error")
    assert (error.get("type"), error.get("message")) == ("contact_lens.coarse", SENTENCE)
    for allowed, code in (("--allow-coarse", 0), ("--allow-skipped", 3)):
        assert run(scene, "--fail-on", "penetrating", "--quiet", allowed) == code
    assert run(scene, "--no-touching", "--quiet") == 3, "what is not reported may penetrate"
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    assert SENTENCE in texts_of_panel()


@pytest.mark.parametrize(
    ("apart", "options"),
    [(0.0, []), (1.0, []), (0.9, ["--clearance", "2m", "--fail-on", "touching"])],
    ids=["deep", "apart", "clearly within the clearance"],
)
def test_what_the_resolution_cannot_change_is_checked(tmp_path: Path, apart: float, options: list[str]) -> None:
    columns(apart=apart)
    code, data = run_json(save_scene(tmp_path / "far.blend"), *options)
    assert (code, coarse(data["checks"][0])) == (0 if apart else 1, [])


def test_a_gap_that_may_be_within_the_clearance_is_not_checked(tmp_path: Path) -> None:
    columns(apart=1.0)
    scene = save_scene(tmp_path / "far.blend")
    for clearance, relations in (("0.65m", []), ("0.75m", ["within_clearance"])):
        code, data = run_json(scene, "--clearance", clearance, "--fail-on", "touching")
        assert (code, [row["relation"] for row in data["checks"][0]["findings"]]) == (3, relations)
        assert len(coarse(data["checks"][0])) == 1


def test_objects_that_are_large_enough_or_flat_are_checked(tmp_path: Path) -> None:
    cube("A", (FAR, 0.0, 0.0), 2.0), cube("B", (FAR + 2.0, 0.0, 0.0), 2.0)
    sheet("Ground", location=(FAR, 0.0, 1.0))
    code, data = run_json(save_scene(tmp_path / "far.blend"), "--fail-on", "penetrating")
    assert (code, len(data["checks"][0]["findings"])) == (0, 3)


def test_many_objects_are_one_entry_and_decided_pairs_none(tmp_path: Path) -> None:
    columns(6, 0.25)
    scene = save_scene(tmp_path / "far.blend")
    _, data = run_json(scene)
    (entry,) = coarse(data["checks"][0])
    assert entry["name"] == "Column 0, Column 1, Column 2, and 3 more"
    assert entry["objects"] == [f"Column {k}" for k in range(6)]
    assert "'Column 0', 'Column 1', 'Column 2', and 3 more are too coarse" in entry["reason"]
    assert bpy.ops.contact_lens.check_scene() == {"FINISHED"}
    for finding in bpy.context.scene.contact_lens_check.findings:
        finding.status = "APPROVED"
    code, data = run_json(save_scene(scene))
    assert (code, coarse(data["checks"][0])) == (0, [])


def test_shards_have_the_entry_of_the_whole_run(tmp_path: Path) -> None:
    columns(6, 0.25)
    animate(bpy.data.objects["Column 5"], "location", f1=(FAR, 200_005.0, 0.0), f2=(FAR + 1.25, 200_000.0, 0.0))
    scene = save_scene(tmp_path / "far.blend")
    command = [scene, "--frames", "1-2", "--fail-on", "penetrating"]
    paths, options = outputs(tmp_path)
    assert run(*command, *options, "--quiet") == 3
    whole = {kind: path.read_bytes() for kind, path in paths.items()}
    parts = [tmp_path / f"{k}.part.json" for k in (1, 2, 3)]
    for k, path in enumerate(parts, 1):
        assert run(*command, "--shard", f"{k}/3", "--json", path, "--quiet") == 0
    assert run("merge", *parts, "--fail-on", "penetrating", *options, "--quiet") == 3
    assert {kind: path.read_bytes() for kind, path in paths.items()} == whole
