# SPDX-License-Identifier: GPL-3.0-or-later
"""Instances whose numbers shift: a baseline, decisions and the list follow their places."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import load_report, outputs, run, run_json
from .scenes import adopt, cube, mesh_object, save_scene
from .test_baseline import baseline_of, compare, edited

pytestmark = pytest.mark.usefixtures("empty_scene")

POLES = [(0.0, 3.0, 9.0), (3.2, 0.1, 9.0), (6.4, 0.2, 9.0), (9.6, 3.0, 9.0)]
"""Two in the middle reach into the wall, not equally deep."""
NEW = (-3.2, 3.0, 9.0)
FIRST, SECOND = POLES[1], POLES[2]
Places = Sequence[tuple[float, ...]]


def poles(places: Places) -> None:
    """Let the row have a pole at each of some places."""
    mesh = bpy.data.objects["Row"].data
    mesh.clear_geometry()
    mesh.from_pydata(places, [], [])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    row = mesh_object("Row", POLES)
    adopt(row, cube("Pole", (0.0, 0.0, 0.0), size=0.5))
    row.instance_type = "VERTS"
    cube("Wall", (0.0, -1.0, 9.0)).scale = (20.0, 1.0, 1.0)
    return save_scene(tmp_path / "yard.blend")


def at(x: float, y: float, _: float = 0.0) -> str:
    return f"{x:g} {y:g}"


def by_place(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """A field of clashes by the places of their poles."""
    sides = ((row, next(row[side] for side in "ab" if row[side]["instance"])) for row in rows)
    return {at(*side["location"]): row[name] for row, side in sides}


# --- a baseline -----------------------------------------------------------------------------------------------------

MOVED = [(x + 0.05, y, z) for x, y, z in POLES]


@pytest.mark.parametrize("places", [[NEW, *POLES], POLES[1:], POLES[::-1], MOVED, [*POLES[2:], NEW, *POLES[:2]]])
def test_clashes_are_those_of_the_same_places(file: Path, places: Places) -> None:
    """Or of the same numbers, where all have moved."""
    old = baseline_of(file)
    before = load_report(old)["checks"][0]["findings"]
    (check,) = compare(edited(file, lambda: poles(places)), old).checks
    rows = check["findings"]
    assert list(by_place(rows, "change").values()) == ["same", "same"]
    assert [row["baseline_distance"] for row in rows] == [row["signed_distance"] for row in before]
    assert (check["gone"], check["not_compared"]) == ([], [])
    assert [row["id"] for row in rows] == [row["id"] for row in run_json(file)[1]["checks"][0]["findings"]], "of now"


def test_of_several_frames_each_has_the_numbers_of_the_one_that_the_baseline_has(file: Path) -> None:
    old = baseline_of(file, "--frames", "2")
    checks = compare(edited(file, lambda: poles([NEW, *POLES])), old, "--frames", "1-3").checks
    assert [[row["change"] for row in check["findings"]] for check in checks] == [["same", "same"]] * 3
    assert all(check["gone"] == check["not_compared"] == [] for check in checks)


def test_what_stands_elsewhere_is_new_though_it_has_a_number_of_before(file: Path) -> None:
    old = baseline_of(file)
    elsewhere = (12.8, 0.05, 9.0)
    (check,) = compare(edited(file, lambda: poles([NEW, elsewhere, SECOND])), old).checks
    assert by_place(check["findings"], "change") == {at(*elsewhere): "deeper", at(*SECOND): "same"}, "one moved"
    (check,) = compare(edited(file, lambda: poles([NEW, elsewhere, POLES[3], SECOND])), old).checks
    assert by_place(check["findings"], "change") == {at(*elsewhere): "new", at(*SECOND): "same"}
    assert [entry["b"]["name"] for entry in check["gone"]] == ["Wall"]
    assert at(*check["gone"][0]["a"]["location"]) == at(*FIRST)


def test_poles_in_one_place_are_told_by_their_number(file: Path) -> None:
    old = baseline_of(edited(file, lambda: poles([FIRST, SECOND, FIRST])))
    (check,) = compare(edited(file, lambda: poles([NEW, FIRST, SECOND, FIRST])), old).checks
    assert {row["change"] for row in check["findings"]} == {"same"}
    assert (len(check["findings"]), check["gone"]) == (4, [])
    (check,) = compare(edited(file, lambda: poles([NEW, FIRST, SECOND])), old).checks
    assert ([row["change"] for row in check["findings"]], len(check["gone"])) == (["same", "same"], 2)


def test_another_mesh_and_another_name_beside_a_shift(file: Path) -> None:
    old = baseline_of(file)

    def change() -> None:
        poles([NEW, *POLES])
        bpy.data.objects["Pole"].data.vertices[0].co.z -= 0.1
        bpy.data.objects["Wall"].name = "Fence"

    (check,) = compare(edited(file, change), old).checks
    assert [row["change"] for row in check["findings"]] == ["same", "same"]
    assert check["gone"] == []


def test_parts_are_compared_as_the_whole_run_is(file: Path, tmp_path: Path) -> None:
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    old = baseline_of(save_scene(file))
    edited(file, lambda: poles([NEW, (12.8, 0.05, 9.0), *POLES[2:]]))
    paths, options = outputs(tmp_path)
    code = run(file, "--baseline", old, "--quiet", *options)
    before = [path.read_bytes() for path in paths.values()]
    assert "Pole [2] of Row, at 640, 20, 900" in paths["html"].read_text(encoding="utf-8")
    assert "A: Pole [2] of Row, at 640, 20, 900" in paths["junit"].read_text(encoding="utf-8")
    parts = [tmp_path / f"part{k}.json" for k in range(2)]
    for k, path in enumerate(parts):
        run(file, "--baseline", old, "--shard", f"{k + 1}/2", "--json", path, "--quiet")
    assert run("merge", *parts, "--baseline", old, "--quiet", *options) == code
    assert [path.read_bytes() for path in paths.values()] == before


def test_lists_and_reports_of_before_have_no_places(file: Path) -> None:
    old = baseline_of(file)
    document = load_report(old)
    for side in (row[letter] for row in document["checks"][0]["findings"] for letter in "ab"):
        side.pop("location")
    old.write_text(json.dumps(document), encoding="utf-8")
    (check,) = compare(edited(file, lambda: poles(POLES[2:])), old).checks
    assert [entry["a"]["location"] for entry in check["gone"]] == [None]
