# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a run: some of its files, frames and pairs, for many machines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, run
from .scenes import animate, cube, lens, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def row_file(tmp_path: Path) -> Path:
    """A row of cubes, each half inside the next; the first moves away from frame 1 to 3."""
    cubes = [cube(f"Cube {k}", (1.5 * k, 0.0, 0.0)) for k in range(9)]
    animate(cubes[0], "location", f1=(0.0, 0.0, 0.0), f3=(-4.0, 0.0, 0.0))
    return save_scene(tmp_path / "row.blend")


def part_report(path: Path, *arguments: object) -> Any:
    assert run(*arguments, "--json", path, "--quiet") == 0, "only a merge judges"
    return load_report(path)


def pairs_in(document: Any) -> list[tuple[str, str]]:
    return sorted((row["a"]["name"], row["b"]["name"]) for check in document["checks"] for row in check["findings"])


@pytest.mark.parametrize("count", [1, 3, 20])
def test_each_candidate_pair_is_in_exactly_one_shard(row_file: Path, tmp_path: Path, count: int) -> None:
    whole = tmp_path / "whole.json"
    assert run(row_file, "--json", whole, "--quiet") == 1
    parts = [part_report(tmp_path / f"{k}.json", row_file, "--shard", f"{k}/{count}") for k in range(1, count + 1)]
    expected = load_report(whole)
    assert sorted(pair for part in parts for pair in pairs_in(part)) == pairs_in(expected)
    for number in ("candidate_pairs", "checked_pairs"):
        assert sum(part["checks"][0][number] for part in parts) == expected["checks"][0][number], number
    assert {part["checks"][0]["objects"] for part in parts} == {9}
    assert len({tuple(part["part"]["candidates"]) for part in parts}) == 1, "all have cut the same pairs alike"
    assert expected["part"] is None


def test_a_part_names_the_run_and_what_it_has_of_it(row_file: Path, tmp_path: Path) -> None:
    cube("Alone")
    other = save_scene(tmp_path / "other.blend")
    command = [row_file, other, "--frames", "1-10:3,2", "--clearance", "2mm", "--ignore", "joined", "--exact"]
    only = ["--only-files", other, "--only-frames", "2,7,1", "--shard", "2/3"]
    document = part_report(tmp_path / "new" / "folder" / "part.json", *command, *only)
    assert document["part"]["run"] | {"options": None} == {
        "files": ["row.blend", "other.blend"],
        "frames": [1, 4, 7, 10, 2],
        "shards": 3,
        "options": None,
    }
    assert document["part"]["covers"] == {
        "files": [1],
        "scenes": [["Scene"]],
        "frames": [1, 7, 2],
        "shard": 2,
    }
    given = {name: value for name, value in document["part"]["run"]["options"].items() if value}
    assert given == {"visibility": "viewport", "clearance": "2.0mm", "ignore": ["joined"], "depth": "exact"}
    assert [entry["file"] for entry in document["inputs"]] == ["other.blend"]
    assert [check["frame"] for check in document["checks"]] == [1, 7, 2]


def test_a_part_knows_how_far_objects_moved_since_a_frame_of_another(row_file: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.json"
    assert run(row_file, "--frames", "1-4", "--json", whole, "--quiet") == 1
    motions = {check["frame"]: check["motion"] for check in load_report(whole)["checks"]}
    assert motions[2]["distance"] > 0.0
    for frames in ("2", "3-4", "2,4"):
        part = part_report(tmp_path / "part.json", row_file, "--frames", "1-4", "--only-frames", frames)
        for check in part["checks"]:
            assert check["motion"] == motions[check["frame"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shard", "5/4"], "1 <= K <= N"),
        (["--shard", "0/4"], "1 <= K <= N"),
        (["--shard", "a/4"], "1 <= K <= N"),
        (["--only-frames", "1"], "--only-frames needs --frames"),
        (["--frames", "1-3", "--only-frames", "3-5"], "4, 5 are not among --frames"),
        (["--only-files", "none.blend"], "none.blend is not among the files"),
        (["--shard", "1/2", "--html", "out.html"], "merge writes the other reports"),
    ],
)
def test_what_is_no_part_of_the_run_is_refused(
    row_file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    path = tmp_path / "new" / "part.json"
    assert run(row_file, "--json", path, *arguments) == 2
    assert words in capfd.readouterr().err
    assert not path.parent.exists()
    assert not Path("out.html").exists()


def test_parts_know_all_options_that_decide_what_is_found() -> None:
    """Else parts with different ones would be merged."""
    made = argparse.ArgumentParser()
    lens.commands.check_options.add_what_to_check(made)
    known = {"help", "frames", "decisions", "clearance", "least_volume", "ignore", *lens.commands.part.SETTINGS}
    assert {action.dest for action in made._actions} == known


def test_no_folder_is_made_for_a_part_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert run("check", tmp_path / "no.blend", "--shard", "1/2", "--json", tmp_path / "parts" / "1.json") == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_saved_while_it_is_opened_is_refused(
    row_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its digest may be that of what was there before."""
    blend_file = lens.commands.blend_file
    opened = blend_file.open_file

    def open_and_save(file: str, run_scripts: bool) -> None:
        opened(file, run_scripts)
        with open(file, "ab") as stream:
            stream.write(b" ")

    monkeypatch.setattr(blend_file, "open_file", open_and_save)
    target = tmp_path / "part.json"
    assert run("check", row_file, "--shard", "1/1", "--json", target) == 2
    assert "the file was saved while it was opened: check it again" in capfd.readouterr().err
    assert not target.exists()


def test_a_part_needs_a_report_that_can_be_merged(row_file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(row_file, "--shard", "1/2") == 2
    assert "needs --json" in capfd.readouterr().err


def test_a_part_that_covers_a_missing_file_fails(row_file: Path, tmp_path: Path) -> None:
    other, path = tmp_path / "other.blend", tmp_path / "part.json"
    assert run(row_file, other, "--json", path, "--quiet", "--only-files", other) == 2
    assert not path.exists()
    assert run(row_file, other, "--json", path, "--quiet", "--only-files", row_file) == 0


def test_a_part_of_a_file_that_cannot_be_read_is_not_to_be_merged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, path = tmp_path / "cut.blend", tmp_path / "part.json"
    file.write_bytes(b"BLENDER")
    assert run(file, "--json", path, "--only-files", file) == 2
    assert not path.exists()
    assert "part of a run" not in capfd.readouterr().out


def test_a_part_says_that_it_is_one(row_file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(row_file, "--shard", "1/2", "--json", tmp_path / "part.json") == 0
    last = capfd.readouterr().out.splitlines()[-1]
    assert last.startswith("This is a part of a run: merge it")
    assert run(row_file, "--json", tmp_path / "whole.json") == 1
    assert "part of a run" not in capfd.readouterr().out


def test_the_open_file_has_parts_too(row_file: Path, tmp_path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(row_file))
    document = part_report(tmp_path / "part.json", "--shard", "1/2")
    assert document["part"]["run"]["files"] == ["row.blend"]
