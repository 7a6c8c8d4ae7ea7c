# SPDX-License-Identifier: GPL-3.0-or-later
"""Decisions of the list as a file: saved for checks that leave the .blend as it is, and loaded into a list."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import bpy
import pytest

from .reports import run_json
from .scenes import cube, mesh_object, save_scene, update
from .test_scene_check import check as check_in_panel
from .test_scene_check import finding_of, names, settings, two_instances

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where decisions are saved. A and B overlap by 0.5, B and C by 0.1; all are in the list."""
    for name, x in zip("ABC", (0.0, 1.5, 3.4), strict=True):
        cube(name, (x, 0.0, 0.0))
    save_scene(tmp_path / "room.blend")
    check_in_panel()
    return tmp_path / "decisions.json"


def save(path: Path) -> list[dict[str, Any]]:
    assert bpy.ops.contact_lens.save_decisions(filepath=str(path)) == {"FINISHED"}
    entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["decisions"]
    return entries


def load(path: Path, *entries: dict[str, Any]) -> None:
    if entries:
        document = {"schema": "contact-lens-decisions", "schema_version": 1, "decisions": entries}
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    assert bpy.ops.contact_lens.load_decisions(filepath=str(path)) == {"FINISHED"}


def statuses() -> dict[str, str]:
    return {" | ".join(next(iter(names([finding])))): finding.status for finding in settings().findings}


def ignore(a: str, b: str | None = None) -> None:
    entry = settings().ignored.add()
    entry.object_a, entry.object_b = bpy.data.objects[a], None if b is None else bpy.data.objects[b]


def words(path: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """What loading says."""
    capfd.readouterr()
    load(path)
    return capfd.readouterr().out


# --- saving ---------------------------------------------------------------------------------------------------------


def test_a_line_has_id_names_decision_and_file(path: Path) -> None:
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    finding_of("A", "B").status = "APPROVED"
    assert save(path) == [
        {
            "id": "vfusp33mcfix",
            "a": "A",
            "b": "B",
            "status": "approved",
            "approved_at": "-50.0 cm",
            "file": "room.blend",
        }
    ]
    assert path.read_text(encoding="utf-8").count("\n") == 7, "a decision has one line"
    finding_of("B", "C").status = "REVIEWED"
    ignore("A", "B")
    assert [(entry["b"], entry["status"]) for entry in save(path)] == [("B", "ignored"), ("C", "reviewed")]


def test_what_is_ignored_before_a_check_is_saved_once(path: Path) -> None:
    ignore("A", "B")
    ignore("B", "A")
    assert [entry["id"] for entry in save(path)] == ["vfusp33mcfix"]
    check_in_panel()
    assert [entry["id"] for entry in save(path)] == ["vfusp33mcfix"], "it is not in the list any more"
    load(path)


def test_any_name_can_be_saved(path: Path) -> None:
    chair = bpy.data.objects["A"]
    chair.name = 'A "\u00e4\u202e\n'
    finding_of(chair.name, "B").status = "REVIEWED"
    assert save(path)[0]["a"] == chair.name
    load(path)


def test_a_file_keeps_what_the_list_does_not_know(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    finding_of("B", "C").status = "REVIEWED"
    others = [
        {"a": "Lamp", "b": "Table", "status": "ignored"},
        {"a": "A", "b": "B", "status": "reviewed", "file": "hall.blend"},
    ]
    known = [
        {"a": "C", "b": "B", "status": "ignored", "note": "glued", "author": "Ada"},
        {"a": "A", "b": "B", "status": "ignored"},
    ]
    text = {"schema": "contact-lens-decisions", "schema_version": 1, "decisions": [*others, *known]}
    path.write_text(json.dumps(text), encoding="utf-8")
    reviewed, *kept = save(path)
    assert (reviewed["status"], reviewed["note"], reviewed["author"]) == ("reviewed", "glued", "Ada")
    assert "file" not in reviewed, "it was about any file"
    assert kept == others, "A and B are not decided any more"
    assert "3 decisions; removed 1 earlier decision that the list leaves undecided" in capfd.readouterr().out
    save(path)
    assert "removed" not in capfd.readouterr().out


def test_no_other_file_is_replaced(path: Path) -> None:
    for text in ('{"mine": 1}', "mine", '{"schema": "contact-lens-scene-report"}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(RuntimeError, match=r"The file of decisions cannot be saved: .*decisions\.json, line 1: "):
            bpy.ops.contact_lens.save_decisions(filepath=str(path))
        assert path.read_text(encoding="utf-8") == text
    save_scene(path.parent / "room.blend")
    path.unlink()
    save(path)
    with pytest.raises(RuntimeError, match="not a report of Contact Lens"):
        bpy.ops.contact_lens.save_scene_report(filepath=str(path), kind="JSON")


def test_objects_that_are_ignored_altogether_are_named(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ignore("C")
    capfd.readouterr()
    save(path)
    assert "1 decision, without the other ignored pairs of 'C': " in capfd.readouterr().out


# --- a check with what was saved ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_check_with_what_was_saved_finds_what_the_list_finds(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    bpy.context.scene.unit_settings.length_unit = chosen.choice(("METERS", "MILLIMETERS", "ADAPTIVE"))
    two_instances()
    bent = [(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (0.0, 0.0, 0.5)]
    for name, x in (("Roof", 30.0), ("Sheet", 30.5)):
        mesh_object(name, bent, [(0, 1, 4), (1, 2, 4), (2, 3, 4)], (x, 0.0, 0.2 * (name == "Roof")), "MESH")
    for k, x in enumerate((0.0, 1.7, 3.2, 5.2, 6.1, 7.9, 9.0)):
        cube(f"Cube {k}", (x, 40.0, 0.0))
    check_in_panel(clearance=0.2)
    for pair in sorted(statuses()):
        finding, what = (
            finding_of(*pair.split(" | ")),
            chosen.choice(("NEW", "APPROVED", "APPROVED", "REVIEWED", "ignored")),
        )
        if what == "ignored":
            ignore(finding.object_a.name, finding.object_b.name)
            if not finding.instance_a:
                check_in_panel()  # so it is not in the list any more
        else:
            finding.status = what
    for k in range(7):
        bpy.data.objects[f"Cube {k}"].location.x += chosen.choice((0.0, 0.0, 0.1, -0.1))
    update()
    path = tmp_path / "decisions.json"
    (tmp_path / "stored").mkdir()
    save_scene(tmp_path / "stored" / "room.blend")
    save(path)
    bpy.ops.contact_lens.clear_findings()
    settings().ignored.clear()
    save_scene(tmp_path / "room.blend")

    def found(file: Path, *options: object) -> tuple[int, list[Any]]:
        code, document = run_json(file, *options)
        rows = document["checks"][0]["findings"]
        fields = ("id", "relation", "signed_distance", "approved_at", "notes")
        undecided = {"new": "open", "active": "open"}
        return code, [([row[name] for name in fields], undecided.get(row["status"], row["status"])) for row in rows]

    assert found(tmp_path / "room.blend", "--decisions", path) == found(tmp_path / "stored" / "room.blend")


# --- loading --------------------------------------------------------------------------------------------------------


def test_what_was_saved_is_loaded(path: Path) -> None:
    finding_of("A", "B").status = "APPROVED"
    ignore("B", "C")
    save(path)
    finding_of("A", "B").status = "NEW"
    settings().ignored.clear()
    load(path)
    assert statuses() == {"A | B": "APPROVED", "B | C": "NEW"}
    assert [{pair.object_a.name, pair.object_b.name} for pair in settings().ignored] == [{"B", "C"}]
    before = path.read_bytes()
    load(path)
    assert len(settings().ignored) == 1, "it is listed once"
    check_in_panel()
    load(path)
    save(path)
    assert path.read_bytes() == before


def test_a_clash_that_is_deeper_than_approved_is_changed(path: Path) -> None:
    load(path, {"a": "A", "b": "B", "status": "approved", "approved_at": "-40 cm"})
    assert statuses()["A | B"] == "CHANGED"
    assert save(path)[0]["approved_at"] == "-0.4 m"
    load(path, {"a": "A", "b": "B", "status": "approved", "approved_at": -0.6})
    assert statuses()["A | B"] == "APPROVED"
    assert save(path)[0]["approved_at"] == "-0.6 m"


def test_a_clash_whose_depth_was_not_searched_is_not_changed_by_a_decision(path: Path) -> None:
    for obj in bpy.data.objects:
        obj.contact_lens_shape = "MESH"
    settings().depth = "NONE"
    check_in_panel()
    assert settings().findings[0].row()["exactness"] == "bounds_only"
    load(path, {"a": "A", "b": "B", "status": "approved", "approved_at": "-60 cm"})
    assert statuses()["A | B"] == "APPROVED"


def test_decisions_about_no_clash_of_the_list_are_named(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load(
        path,
        {"a": "A", "b": "B", "status": "reviewed"},
        {"a": "X", "b": "Y", "status": "reviewed"},
        {"a": "A", "b": "B", "status": "ignored", "file": "hall.blend"},
    )
    assert statuses() == {"A | B": "REVIEWED", "B | C": "NEW"}
    said = words(path, capfd)
    assert (
        "Applied 1 decision, not line 10, X and Y: no such clash is in the list; line 15, A and B in hall.blend: "
        in said
    )
    assert "in hall.blend: it belongs to another file" in said


def test_a_pair_of_instances_is_not_ignored_in_the_list(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """All instances of the two objects would be."""
    two_instances()
    check_in_panel()
    clash = next(finding for finding in settings().findings if finding.instance_a)
    a, b = next(iter(names([clash])))
    load(path, {"a": a, "b": b, "status": "ignored"})
    assert len(settings().ignored) == 0
    assert "a pair of instances cannot be ignored in the list" in words(path, capfd)


def test_a_clash_whose_object_is_gone_is_not_decided(path: Path) -> None:
    """Else all pairs of the other object would be ignored."""
    bpy.data.objects.remove(bpy.data.objects["C"])
    load(path, {"a": "B", "b": "C", "status": "ignored"})
    assert len(settings().ignored) == 0


def test_loading_is_undone_in_one_step(path: Path) -> None:
    bpy.ops.ed.undo_push(message="Check Scene")
    ignored = {"a": "B", "b": "C", "status": "ignored"}
    load(path, {"a": "A", "b": "B", "status": "approved", "approved_at": -0.6}, ignored)
    bpy.ops.ed.undo_push(message="Load Decisions")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert (statuses(), len(settings().ignored)) == ({"A | B": "NEW", "B | C": "NEW"}, 0)


def test_an_error_is_named_with_its_line_and_changes_nothing(path: Path) -> None:
    text = '{"schema": "contact-lens-decisions",\n"schema_version": 1,\n"decisions": [\n'
    path.write_text(
        f'{text}{{"a": "A", "b": "B", "status": "reviewed"}},\n{{"a": "B", "status": "ignored"}}]}}', encoding="utf-8"
    )
    with pytest.raises(RuntimeError, match=r"decisions\.json, line 5: expected 'b'"):
        bpy.ops.contact_lens.load_decisions(filepath=str(path))
    assert statuses() == {"A | B": "NEW", "B | C": "NEW"}
    path.unlink()
    with pytest.raises(RuntimeError, match=r"decisions\.json: No such file"):
        bpy.ops.contact_lens.load_decisions(filepath=str(path))
