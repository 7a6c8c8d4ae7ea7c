# SPDX-License-Identifier: GPL-3.0-or-later
"""Decisions about clashes that are kept beside a file, written by hand or saved from the list."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, outputs, run, run_json
from .scenes import animate, cube, lens, mesh_object, open_scene, save_scene
from .test_scene_check import check as check_in_panel
from .test_scene_check import finding_of

pytestmark = pytest.mark.usefixtures("empty_scene")

AB = "vfusp33mcfix"
"""The id of the clash of A and B."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A and B overlap by 0.5, B and C by 0.1."""
    for name, x in zip("ABC", (0.0, 1.5, 3.4), strict=True):
        cube(name, (x, 0.0, 0.0))
    return save_scene(tmp_path / "room.blend")


def decisions(file: Path, *entries: dict[str, Any]) -> Path:
    path = file.parent / "decisions.json"
    lines = ",\n".join(f"    {json.dumps(entry)}" for entry in entries)
    path.write_text(
        f'{{\n  "schema": "contact-lens-decisions",\n  "schema_version": 1,\n  "decisions": [\n{lines}\n  ]\n}}\n',
        encoding="utf-8",
    )
    return path


def decided(file: Path, *entries: dict[str, Any], options: tuple[object, ...] = ()) -> tuple[int, Any]:
    """Check with decisions; the exit code and the report."""
    return run_json(file, "--decisions", decisions(file, *entries), *options)


def statuses(document: Any) -> dict[str, str]:
    rows = document["checks"][0]["findings"]
    return {"".join(sorted(row[side]["name"] for side in "ab")): row["status"] for row in rows}


def named(**more: object) -> dict[str, Any]:
    return {"a": "A", "b": "B", **more}


def unused(document: Any) -> list[tuple[int, str]]:
    return [(entry["line"], entry["reason"]) for entry in document["decisions"]["unused"]]


# --- what they do ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [{"id": AB}, {"a": "A", "b": "B"}, {"a": "B", "b": "A"}])
def test_an_approved_clash_is_left_out_until_it_is_deeper(file: Path, pair: dict[str, str]) -> None:
    entry = {**pair, "status": "approved", "approved_at": -0.5, "note": "glued", "author": "Ada"}
    before = file.read_bytes()
    code, document = decided(file, entry)
    assert (code, statuses(document)) == (1, {"BC": "new"})
    assert document["checks"][0]["ignored_pairs"] == {"approved": 1}
    assert unused(document) == []
    assert file.read_bytes() == before, "the file stays as it is"
    open_scene(file)
    bpy.data.objects["A"].location.x = 0.1
    save_scene(file)
    code, document = decided(file, entry)
    assert (code, statuses(document)) == (1, {"AB": "changed", "BC": "new"})
    assert document["checks"][0]["findings"][0]["approved_at"] == -0.5


def test_all_decided_is_clean(file: Path) -> None:
    entries = named(status="approved", approved_at="-50 cm"), {"a": "B", "b": "C", "status": "ignored"}
    code, document = decided(file, *entries)
    assert (code, statuses(document)) == (0, {})
    assert document["checks"][0]["ignored_pairs"] == {"approved": 1, "decisions": 1}
    code, document = decided(file, *entries, options=("--ignore", "none"))
    assert (code, statuses(document)) == (0, {"AB": "approved", "BC": "new"}) or code == 1


def test_a_reviewed_clash_is_reported_as_such_and_fails(file: Path) -> None:
    code, document = decided(file, named(status="reviewed"))
    assert (code, statuses(document)) == (1, {"AB": "reviewed", "BC": "new"})


def test_decisions_beside_the_file_stand_above_those_in_it(file: Path) -> None:
    open_scene(file)
    check_in_panel()
    finding_of("A", "B").status = "APPROVED"
    finding_of("B", "C").status = "REVIEWED"
    save_scene(file)
    code, document = run_json(file)
    assert (code, statuses(document)) == (1, {"BC": "reviewed"})
    entries = named(status="reviewed"), {"a": "B", "b": "C", "status": "approved", "approved_at": -0.2}
    code, document = decided(file, *entries)
    assert (code, statuses(document)) == (1, {"AB": "reviewed"})


def test_a_decision_survives_renames_where_the_list_has_its_id(file: Path) -> None:
    open_scene(file)
    check_in_panel()
    bpy.data.objects["A"].name = "Zebra"
    save_scene(file)
    _, document = decided(file, {"id": AB, "status": "ignored"})
    assert statuses(document) == {"BC": "active"}


def test_an_intersection_without_depth_is_approved_by_null(tmp_path: Path) -> None:
    bent = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (0.0, 0.0, 0.5)]
    for name, place in (("A", (0, 0, 0)), ("B", (0.5, 0.0, -0.2))):
        mesh_object(name, bent, [(0, 1, 4), (1, 2, 4), (2, 3, 4)], place, "MESH")
    file = save_scene(tmp_path / "room.blend")
    assert run_json(file)[0] == 1
    entry = named(status="approved", approved_at=None)
    code, document = decided(file, entry)
    assert (code, statuses(document)) == (0, {})


def test_a_length_has_a_unit_or_is_in_the_scenes(tmp_path: Path) -> None:
    bpy.context.scene.unit_settings.length_unit = "MILLIMETERS"
    for name, x in (("A", 0.0), ("B", 1.5)):
        cube(name, (x, 0.0, 0.0))
    file = save_scene(tmp_path / "room.blend")
    for approved, code in ((-500.0, 0), ("-500 mm", 0), ("-0.5m", 0), (-0.5, 1), ("-490 mm", 1)):
        assert decided(file, named(status="approved", approved_at=approved))[0] == code, approved


def test_a_decision_may_be_about_one_file(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "hall.blend")
    path, new = decisions(file, named(status="ignored", file="hall.blend")), tmp_path / "new.json"
    assert run(file, tmp_path / "hall.blend", "--decisions", path, "--json", new, "--quiet") == 1
    found = [[row["b"]["name"] for row in check["findings"]] for check in load_report(new)["checks"]]
    assert found == [["B", "C"], ["C"]]


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_a_decision_about_one_file_stands_above_one_about_any(file: Path, order: slice) -> None:
    entries = [{"id": AB, "status": "ignored"}, {"id": AB, "status": "reviewed", "file": "room.blend"}]
    _, document = decided(file, *entries[order])
    assert statuses(document) == {"AB": "reviewed", "BC": "new"}
    assert unused(document) == []


# --- those about nothing --------------------------------------------------------------------------------------------


def test_a_decision_about_no_clash_is_named(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = named(status="reviewed"), {"id": "aaaaaaaaaaaa", "a": "X", "b": "Y", "status": "ignored"}
    path = decisions(file, *entries)
    paths, options = outputs(tmp_path)
    capsys.readouterr()
    assert run(file, "--decisions", path, *options) == 1
    assert f"{path.name}, line 6: aaaaaaaaaaaa (X and Y): no such clash was found" in capsys.readouterr().out
    document = load_report(paths["json"])
    assert unused(document) == [(6, "no such clash was found")]
    assert document["decisions"]["file"] == "decisions.json"
    page = paths["html"].read_text(encoding="utf-8")
    assert "1 decision matches no clash that was found" in page
    assert "decisions.json, line 6: aaaaaaaaaaaa (X and Y)" in page


def test_a_stopped_run_does_not_say_that_a_clash_was_not_found(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = decisions(file, named(status="ignored"))
    assert run(file, "--decisions", path, "--timeout", "1e-9") == 3
    assert "line 5: A and B: the check was stopped" in capsys.readouterr().out


def test_decisions_on_one_line_are_distinguished(file: Path) -> None:
    path = decisions(file, named(status="reviewed"), {"id": "aaaaaaaaaaaa", "status": "ignored"})
    path.write_text(path.read_text(encoding="utf-8").replace("\n", " "), encoding="utf-8")
    _, document = run_json(file, "--decisions", path)
    assert [entry["clash"] for entry in document["decisions"]["unused"]] == ["aaaaaaaaaaaa"]


def test_a_decision_is_used_if_any_frame_has_its_clash(tmp_path: Path) -> None:
    a = cube("A")
    cube("B", (1.5, 0.0, 0.0))
    animate(a, "location", f1=(0.0, 0.0, 0.0), f3=(-9.0, 0.0, 0.0))
    file = save_scene(tmp_path / "room.blend")
    _, document = decided(file, named(status="reviewed"), options=("--frames", "1-3"))
    assert unused(document) == []


def test_a_decision_by_names_says_that_another_is_about_the_clash_by_its_id(file: Path) -> None:
    _, document = decided(file, {"id": AB, "status": "reviewed"}, named(status="ignored"))
    assert statuses(document) == {"AB": "reviewed", "BC": "new"}
    assert unused(document) == [(6, "another decision is about this clash, by its id")]


def test_a_decision_about_a_file_that_is_not_checked_says_so_in_parts_too(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "hall.blend")
    in_hall, in_room = (named(status="ignored", file=name) for name in ("hall.blend", "room.blend"))
    _, document = decided(file, in_hall, {"a": "B", "b": "C", "status": "reviewed"}, in_room)
    assert unused(document) == [(5, "this file was not checked")]
    (tmp_path / "decisions.json").write_text((tmp_path / "decisions.json").read_text().replace("\n", " "))
    path, whole, merged = tmp_path / "decisions.json", tmp_path / "whole.json", tmp_path / "merged.json"
    files = [file, tmp_path / "hall.blend"]
    code = run(*files, "--decisions", path, "--json", whole, "--quiet")
    assert load_report(whole)["decisions"]["unused"] == []
    restrictions = (files[0], "1/2"), (files[0], "2/2"), (files[1], "1/2"), (files[1], "2/2")
    parts = [tmp_path / f"part{k}.json" for k in range(4)]
    for target, (only, shard) in zip(parts, restrictions, strict=True):
        run(*files, "--decisions", path, "--only-files", only, "--shard", shard, "--json", target, "--quiet")
    assert run("merge", *parts, "--json", merged, "--quiet") == code
    assert merged.read_bytes() == whole.read_bytes()


def test_the_terminal_names_the_first_ten_that_are_unused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = decisions(file, *({"a": f"X{k}", "b": "Y", "status": "ignored"} for k in range(13)))
    assert run(file, "--decisions", path) == 1
    shown = capsys.readouterr().out.splitlines()
    assert sum("no such clash was found" in line for line in shown) == 10
    assert "and 3 more" in shown


# --- errors by hand -------------------------------------------------------------------------------------------------

GOOD = '{"id": "vfusp33mcfix", "status": "reviewed"}'
WRONG = {
    '{"id": "vfusp33mcfix" "status": "reviewed"}': "expected ',' or '}'",
    '{"id": "vfusp33mcfix", "status" "reviewed"}': "expected ':' after a name",
    '{"id": "vfusp33mcfix", status: "reviewed"}': "expected the name of a field in quotes",
    "{'id': 'vfusp33mcfix'}": "expected the name of a field in quotes",
    '{"id": vfusp33mcfix, "status": "reviewed"}': "expected a JSON value",
    '{"id": "vfusp33mcfix", "status": "reviewed",}': "expected the name of a field in quotes",
    '"vfusp33mcfix"': "expected '{'",
    '{"id": "vfusp33mcfix", "status": "aproved"}': "'status': expected approved or reviewed or ignored, not 'aproved'",
    '{"id": "vfusp33mcfix", "status": "approved"}': "expected 'approved_at': a signed distance",
    '{"id": "vfusp33mcfix", "status": "approved", "approved_at": "deep"}': "'approved_at': expected a signed distance",
    '{"id": "vfusp33mcfix", "status": "approved", "approved_at": true}': "'approved_at': expected a signed distance",
    '{"id": "vfusp33mcfix", "status": "approved", "approved_at": NaN}': "expected a JSON value, not NaN",
    '{"id": "vfusp33mcfix", "status": "approved", "approved_at": 1e999}': "'approved_at': expected a signed distance",
    '{"id": "vfusp33mcfix", "status": "approved", "approved_at": "--2mm"}': "'approved_at': expected a signed distance",
    '{"id": "vfusp33mcfix", "status": "ignored", "approved_at": -1}': "'approved_at' is allowed only for approved",
    '{"id": "vfusp33mcfix", "state": "ignored"}': "unknown field 'state': expected id, a, b, status, approved_at,",
    '{"id": "vfusp33mcfix", "id": "aaaaaaaaaaaa", "status": "ignored"}': "'id' appears twice",
    '{"id": "VFUSP", "status": "ignored"}': "'id': expected an id as reports have it, such as 'vfusp33mcfix', not",
    '{"id": 7, "status": "ignored"}': "'id': expected an id",
    '{"a": "A", "status": "ignored"}': "expected 'b': the name of the other object",
    '{"status": "ignored"}': "expected 'id': the id of the clash, or the names a and b",
    '{"id": "vfusp33mcfix"}': "expected 'status': approved or reviewed or ignored",
    '{"a": "A", "b": 3, "status": "ignored"}': "'b': expected text, not 3",
    '{"id": "vfusp33mcfix", "status": "ignored", "note": null}': "'note': expected text, not None",
    GOOD: "vfusp33mcfix is decided twice, first in line 6",
}


def refused(file: Path, text: str | bytes, capsys: pytest.CaptureFixture[str]) -> str:
    """Check with a text for decisions; what is said. Nothing is written."""
    path, new = file.parent / "decisions.json", file.parent / "new.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    capsys.readouterr()
    assert run(file, "--decisions", path, "--json", new) == 2
    assert not new.exists()
    return capsys.readouterr().err


def text_of(*entries: str) -> str:
    lines = ",\n".join(entries)
    return f'{{\n"schema": "contact-lens-decisions",\n"schema_version": 1,\n"decisions": [\n\n{lines}\n]\n}}\n'


@pytest.mark.parametrize("entry", WRONG)
def test_an_error_by_hand_is_named_with_its_line(file: Path, entry: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(file, text_of(GOOD, entry), capsys)
    assert f"decisions.json, line 7: {WRONG[entry]}" in said
    assert "Traceback" not in said


def test_an_error_in_an_entry_of_several_lines_is_named_with_its_own(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = '{\n"id": "vfusp33mcfix",\n"status": "aproved"\n}'
    assert "decisions.json, line 8: 'status': expected" in refused(file, text_of(entry), capsys)


def test_a_file_that_is_not_of_decisions_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "line 1: expected '{'" in refused(file, "", capsys)
    assert "line 1: expected '{'" in refused(file, "[]", capsys)
    assert "line 1: expected 'schema'" in refused(file, "{}", capsys)
    text = text_of(GOOD)
    assert "expected ',' or ']'" in refused(file, text[: text.index("]")], capsys)
    assert "line 9: expected the end of the file" in refused(file, text + "{}", capsys)
    assert "line 3: 'schema_version': expected 1, not 2" in refused(file, text.replace("1", "2", 1), capsys)
    assert "line 2: 'schema': expected" in refused(file, text.replace("-decisions", "-contact"), capsys)
    assert "line 4: expected '[', the list of decisions" in refused(file, text.replace("[", "3"), capsys)
    assert "line 2: unknown field 'more'" in refused(file, text.replace("{", '{\n"more": 1,', 1), capsys)
    deep = text_of(GOOD, '{"id": ' + 100_000 * "[")
    assert "line 7: expected a value with fewer levels" in refused(file, deep, capsys)
    assert "line 3: expected text in UTF-8" in refused(file, b'{\n\n"\xff', capsys)
    assert run(file, "--decisions", file.parent / "missing.json") == 2
    assert "missing.json: No such file" in capsys.readouterr().err


class Text(str):
    """Counts the letters that are looked at."""

    looked_at = 0

    def count(self, letters: str, start: int = 0, end: int | None = None) -> int:
        Text.looked_at += len(self[start:end])
        return super().count(letters, start, end)

    def __getitem__(self, place: Any) -> str:
        found = super().__getitem__(place)
        Text.looked_at += len(found)
        return found


def test_many_decisions_with_long_notes_are_read_once_through() -> None:
    decisions_file = lens.history.decisions_file
    entries = [{"a": "A", "b": f"B {k}", "status": "reviewed", "note": "x" * 2_000} for k in range(1_000)]
    text = Text("".join(decisions_file.parts(entries)))
    assert [decision.line for decision in decisions_file._decisions(text)] == list(range(5, 1_005))
    assert 0 < Text.looked_at < 4 * len(text)


def test_a_mark_at_the_beginning_and_an_empty_list_are_read(file: Path) -> None:
    path = file.parent / "decisions.json"
    path.write_bytes(b"\xef\xbb\xbf" + text_of().encode())
    code, document = run_json(file, "--decisions", path)
    assert (code, document["decisions"]["unused"]) == (1, [])
