# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that are given more than once: each is a list, means the same, or is refused."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, run, run_json
from .scenes import collection_of, cube, lens, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")

EXAMPLES = ("1", "2", "1/2", "2/2")
"""Each type of an option takes two of these."""


@pytest.fixture
def row_file(tmp_path: Path) -> Path:
    """A row of six cubes, each half inside the next, and a collection of each; that of Nothing is empty."""
    for k, name in enumerate("ABCDEF"):
        collection_of(f"Of {name}", cube(name, (1.5 * k, 0.0, 0.0)))
    collection_of("Nothing")
    return save_scene(tmp_path / "row.blend")


def parsed(made: argparse.ArgumentParser, *words: str) -> Any:
    """The options, or None where they are refused."""
    try:
        return made.parse_args(["a", *words])
    except lens.terminal.outcome.UsageError:
        return None


def alternatives(made: argparse.ArgumentParser, action: argparse.Action) -> list[list[str]]:
    """An option as it can be given, with two values if it has one."""
    if action.nargs == 0:
        return [[name] for name in action.option_strings]
    count = action.nargs if isinstance(action.nargs, int) else 1
    given = [[action.option_strings[0], *[value] * count] for value in map(str, action.choices or EXAMPLES)]
    return [words for words in given if parsed(made, *words)][:2]


@pytest.mark.parametrize("command", ["check", "merge", "farm"])
def test_no_option_that_is_repeated_is_silently_the_last_one(command: str) -> None:
    made = getattr(lens.commands, command).parser(command)
    for action in made._actions:
        if not action.option_strings or action.dest in ("help", "version"):
            continue
        first, *others = alternatives(made, action)
        assert others or action.const is not None, f"{first[0]}: what are its values?"
        assert parsed(made, *first, *first) == parsed(made, *first), f"{first[0]} says the same twice"
        for second in others:
            both = parsed(made, *first, *second)
            if both is not None:
                values = [getattr(options, action.dest) for options in (parsed(made, *first), parsed(made, *second))]
                assert getattr(both, action.dest) == values[0] + values[1], f"{first[0]} is the last one"
                assert "can be repeated" in action.help, f"{first[0]} does not say that it is a list"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--clearance", "2mm", "--clearance=5mm"], "--clearance 2mm and --clearance 5mm contradict each other"),
        (["--no-touching", "--touching"], "--no-touching and --touching contradict each other: give one of them"),
        (["--fail-on", "any", "--quiet", "--fail-on", "never"], "--fail-on any and --fail-on never contradict"),
        (["--visible", "--selected"], "--selected: not allowed with argument --visible"),
        (["--object", "A", "--collections", "Of A", "Of B"], "not allowed with argument --object"),
        (["--frames", "20-1"], "frames '20-1' run backwards: name the first one first"),
        (["--frames", "1-20:0"], "frames '1-20:0': expected a step of 1 or more"),
        (["--frames", ""], "expected frames such as 1-100 or 1,5,9-20:2, not ''"),
        (
            ["--frames", "1-1000000"],
            "1,000,000 frames are more than the 100,000 of a run: with one clash they take",
        ),
        (["--frames", "1-99999,7-9"], "100,002 frames are more than"),
        (["--fail-on", "transient"], "--fail-on transient needs two frames or more"),
        (["--fail-on", "transient", "--frames", "5", "--frames=5"], "--fail-on transient needs two frames or more"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    row_file: Path, options: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    target = row_file.parent / "out.json"
    assert run(row_file, "--json", target, *options) == 2
    assert said in capfd.readouterr().err
    assert not target.exists()


def pairs_in(document: Any) -> list[str]:
    (check,) = document["checks"]
    return sorted(row["a"]["name"] + row["b"]["name"] for row in check["findings"])


def test_each_pair_of_collections_is_checked_and_a_clash_is_there_once(row_file: Path) -> None:
    pairs = ["--collections", "Of A", "Of B", "--collections", "Of D", "Of E", "--collections", "Of B", "Of A"]
    code, document = run_json(row_file, *pairs)
    assert code == 1
    assert pairs_in(document) == ["AB", "DE"]
    (check,) = document["checks"]
    assert check["checked_pairs"] == 2
    settings = check["settings"]
    assert (settings["scope"], settings["collection_a"], settings["collection_b"]) == ("collections", "Of A", "Of B")
    assert settings["more_collections"] == [["Of D", "Of E"], ["Of B", "Of A"]]


def test_each_object_is_checked_against_all_others(row_file: Path) -> None:
    code, document = run_json(row_file, "--object", "B", "--object", "C", "--object", "F", "--object", "B")
    assert code == 1
    assert pairs_in(document) == ["BA", "BC", "CD", "FE"]
    assert document["checks"][0]["settings"]["more_objects"] == ["C", "F"]


def test_the_page_names_all_that_was_to_be_checked(row_file: Path) -> None:
    page = row_file.parent / "out.html"
    run(row_file, "--object", "B", "--object", "C", "--html", page, "--pictures", 0)
    assert "B, C against all with instances" in page.read_text(encoding="utf-8")
    pairs = ["--collections", "Of A", "Of B", "--collections", "Of D", "Of E"]
    run(row_file, *pairs, "--html", page, "--pictures", 0)
    assert "Collection Of A against collection Of B, collection Of D against collection Of E" in page.read_text("utf-8")


def test_an_empty_set_beside_others_is_not_clean(row_file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pairs = ["--collections", "Of A", "Of C", "--collections", "Of A", "Nothing"]
    code, document = run_json(row_file, *pairs)
    assert code == 3
    assert "in collection 'Nothing'" in capfd.readouterr().err
    assert [entry["kind"] for entry in document["checks"][0]["skipped"]] == ["empty"]
    assert run(row_file, *pairs, "--allow-empty", "--quiet") == 0


def test_a_set_that_is_not_there_is_named(row_file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(row_file, "--object", "A", "--object", "Z") == 2
    assert "There is no object 'Z' in the view layer" in capfd.readouterr().err


def test_lists_of_frames_are_joined(row_file: Path) -> None:
    _, document = run_json(row_file, "--frames", "5,1-2", "--frames=2-3")
    assert document["frames"] == [5, 1, 2, 3]


def test_parts_of_several_sets_are_the_whole(row_file: Path, tmp_path: Path) -> None:
    command = [
        row_file,
        "--collections",
        "Of A",
        "Of B",
        "--collections",
        "Of D",
        "Of E",
        "--frames",
        "1",
        "--frames",
        "2",
    ]
    run_json(row_file, *command[1:])
    for k in (1, 2):
        assert run(*command, "--shard", f"{k}/2", "--json", tmp_path / "parts" / f"{k}.json", "--quiet") == 0
    assert run("merge", tmp_path / "parts", "--json", tmp_path / "merged.json", "--quiet") == 1
    assert (tmp_path / "merged.json").read_bytes() == (tmp_path / "out.json").read_bytes()


def test_a_clash_of_one_set_is_gone_only_if_that_set_was_looked_at(row_file: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    pairs = ["--collections", "Of A", "Of B", "--collections", "Of D", "Of E"]
    assert run(row_file, *pairs, "--json", old) == 1
    bpy.data.objects["B"].location.y = bpy.data.objects["D"].location.y = 9.0
    bpy.ops.wm.save_mainfile()
    code, document = run_json(row_file, *pairs, "--baseline", old)
    assert code == 0
    assert [entry["a"]["name"] for entry in document["checks"][0]["gone"]] == ["A", "D"]
    _, document = run_json(row_file, *pairs[:3], "--baseline", old)
    assert [entry["reason"] for entry in document["checks"][0]["not_compared"]] == [
        "other settings: more collections"
    ] * 2


def test_reports_of_before_are_compared_though_they_say_nothing_of_more_sets(row_file: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    assert run(row_file, "--object", "B", "--json", old) == 1
    text = old.read_text(encoding="utf-8")
    for name in ("more_collections", "more_objects"):
        assert f'"{name}": null' in text
        text = text.replace(f'"{name}": null,', "")
    old.write_text(text, encoding="utf-8")
    bpy.data.objects["A"].location.y = 9.0
    bpy.ops.wm.save_mainfile()
    _, document = run_json(row_file, "--object", "B", "--baseline", old)
    assert load_report(row_file.parent / "out.json") == document
    assert [entry["b"]["name"] for entry in document["checks"][0]["gone"]] == ["A"]
