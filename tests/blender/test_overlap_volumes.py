# SPDX-License-Identifier: GPL-3.0-or-later
"""The volumes in which clashing objects overlap: in the list, in reports, and as what leaves pairs out."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import run, run_json
from .scenes import cube, lens, mesh_object, save_scene

pytestmark = pytest.mark.usefixtures("empty_scene")
TOUCHING = {"AD", "BD", "CD"}
OPEN_CUBE = [(0, 1, 2, 3), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    """Overlaps of 1 of two meshes, of 0.5 of a mesh and a hull, a touch, and an open box in a mesh; in centimetres."""
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    cube("A", kind="MESH")
    cube("B", (1.75, 0.0, 0.0), kind="MESH")
    cube("C", (-1.875, 0.0, 0.0))
    cube("D", (0.0, 2.0, 0.0))
    corners = [
        (x, y, z) for z in (-0.25, 0.25) for x, y in ((-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25))
    ]
    mesh_object("Open", corners, OPEN_CUBE, (0.0, 0.0, 1.0)).contact_lens_shape = "MESH"
    return save_scene(tmp_path / "scene.blend")


def by_names(check: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {"".join(sorted(row[side]["name"] for side in "ab")): row for row in check["findings"]}


def test_reports_have_the_volumes_that_were_asked_for(scene_file: Path, tmp_path: Path) -> None:
    table, page, junit = (tmp_path / name for name in ("out.csv", "out.html", "out.xml"))
    options = ("--csv", str(table), "--html", str(page), "--junit", str(junit), "--pictures", "0")
    without = by_names(run_json(scene_file, *options)[1]["checks"][0])
    assert {row["overlap_volume"] for row in without.values()} == {None}
    assert "Overlap" not in re.findall(">([^<>]+)<", page.read_text(encoding="utf-8"))

    (check,) = run_json(scene_file, "--volume", *options)[1]["checks"]
    rows = by_names(check)
    assert check["settings"]["volume"] is True
    for names, volume in {"AB": 1.0e6, "AC": 0.5e6}.items():
        row = rows[names]
        assert row["overlap_volume"] == pytest.approx(volume, rel=1e-6), names
        assert row["overlap_volume_lower"] <= row["overlap_volume"] <= row["overlap_volume_upper"]
        assert row["overlap_volume_upper"] - row["overlap_volume_lower"] < 1e-3 * volume
    assert rows["AD"]["relation"] == "touching"
    assert rows["AD"]["overlap_volume"] is None
    assert rows["AOpen"]["overlap_volume"] is None
    assert any(note.startswith("No overlap volume: 'Open' is open") for note in rows["AOpen"]["notes"])
    for before, now in ((without[names], rows[names]) for names in ("AB", "AC", "AD")):
        assert {**before, **{name: now[name] for name in before if "overlap" in name}} == now, "all else is the same"

    with table.open(encoding="utf-8-sig", newline="") as file:
        cells = {row["a"] + row["b"]: row["overlap_volume"] for row in csv.DictReader(file)}
    assert sorted(cells.values()) == [*[""] * 4, *sorted(str(rows[names]["overlap_volume"]) for names in ("AB", "AC"))]
    assert {"Overlap", "1000000 cm³"} <= {*re.findall(">([^<>]+)<", page.read_text(encoding="utf-8"))}
    assert "Overlap: 1000000 cm³" in junit.read_text(encoding="utf-8")


def test_pairs_that_overlap_in_less_than_asked_for_are_left_out(scene_file: Path) -> None:
    (check,) = run_json(scene_file, "--least-volume", "0.75m3")[1]["checks"]
    assert by_names(check).keys() == {"AB", "AOpen", *TOUCHING}
    assert check["ignored_pairs"]["least_volume"] == 1
    assert check["settings"]["least_volume"] == pytest.approx(7.5e5)


def test_a_clash_that_is_refined_for_its_approval_keeps_its_volume(
    scene_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refined(clashes: Any, objects: Any, approved: Any, refine: Any) -> list[int]:
        for k in range(len(clashes)):
            clashes.put(k, refine(clashes[k]))
        return []

    monkeypatch.setattr(lens.scene.scene_check, "compared", refined)
    check = bpy.context.scene.contact_lens_check
    check.volume = True
    bpy.ops.contact_lens.check_scene()
    assert sorted(finding.volume for finding in check.findings)[-2:] == pytest.approx([0.5, 1.0])
    notes = [note for finding in check.findings for note in finding.row()["notes"]]
    assert any(note.startswith("No overlap volume: 'Open' is open") for note in notes)


def test_volumes_that_are_switched_off_and_asked_for_are_refused(
    scene_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(scene_file, "--no-volume", "--least-volume", "3") == 2
    assert "--least-volume needs the volumes: leave out --no-volume" in capsys.readouterr().err


def test_a_volume_with_another_word_than_a_unit_is_refused() -> None:
    written = lens.data.units.written_volume
    assert written("8 mm3") == (2.0, "mm")
    assert written("0.001").number == pytest.approx(0.1)
    for text in ("8 litres", "-1mm3", "nan", "3mm33"):
        with pytest.raises(ValueError, match=f"expected a volume of 0 or more such as .*{text}"):
            written(text)


def test_the_list_is_sorted_by_volume_and_keeps_it(scene_file: Path) -> None:
    check = bpy.context.scene.contact_lens_check
    check.volume, check.sort = True, "VOLUME"
    bpy.ops.contact_lens.check_scene()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(scene_file))
    scene = bpy.context.scene
    findings = scene.contact_lens_check.findings
    order = [findings[k] for k in lens.clashes.clash_list.shown(scene).rows]
    assert [finding.volume for finding in order] == pytest.approx([1.0, 0.5, 0.0])
    assert any("No overlap volume" in note for finding in order for note in finding.row()["notes"])
    units = lens.data.units.UnitFormat.of_scene(scene)
    assert lens.ui.scene_panel._number(scene.contact_lens_check, order[0], units) == "1000000 cm³"
