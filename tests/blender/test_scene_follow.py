# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings follow the scene: what was found is never shown or written as true of things that are others now."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from .layouts import Layout
from .reports import load_report
from .scenes import (
    add_object,
    animate,
    collection_of,
    cube,
    inspect,
    instance_of,
    lens,
    refresh,
    reopen,
    shape_key,
    update,
)
from .test_scene_check import check, row_of_cubes, settings, two_instances

pytestmark = pytest.mark.usefixtures("empty_scene")


def panel() -> list[str]:
    """The texts of the section Scene Check, without the rows of the list."""
    layout = Layout()
    cls = lens.ui.scene_panel.CONTACT_LENS_PT_scene
    cls.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn.texts


def listed() -> dict[str, str]:
    """The rows of the list: the number beside each pair of names."""
    cls, rows = lens.ui.scene_panel.CONTACT_LENS_UL_findings, {}
    for k, finding in enumerate(settings().findings):
        layout = Layout()
        cls.draw_item(SimpleNamespace(), bpy.context, layout, settings(), finding, 0, settings(), "active", k)
        a, *number, b = layout.drawn.texts
        rows[f"{a} | {b}"] = "".join(number)
    return rows


def move(obj: bpy.types.Object, x: float) -> None:
    obj.location.x = x
    update()


def collide_as(obj: bpy.types.Object, kind: str) -> None:
    obj.contact_lens_shape = kind


def go_to(names: str) -> Any:
    """Go to the finding of a pair such as "AB" and return it."""
    for k, finding in enumerate(settings().findings):
        if "".join(finding.label(letter) for letter in "ab") == names:
            settings().active = k
            return finding
    raise AssertionError(f"there is no finding {names}")


def out_of_date() -> dict[str, str | None]:
    """What a report that is saved now says of each pair."""
    [document] = lens.report.scene.checks_of(bpy.context.scene)
    told = {f"{row['a']['name']}{row['b']['name']}": row["out_of_date"] for row in document["findings"]}
    assert document["out_of_date"] == sum(why is not None for why in told.values())
    return told


def squeeze(obj: bpy.types.Object, to: float) -> None:
    """Put the upper corners of a cube at another height."""
    for vertex in obj.data.vertices:
        if vertex.co.z > 0.0:
            vertex.co.z = to
    obj.data.update()
    update()


# --- what changes ---------------------------------------------------------------------------------------------------


def test_what_moved_was_edited_or_deleted_is_marked_in_rows_detail_and_totals() -> None:
    a, b, c, d, _e = row_of_cubes()
    check(clearance=0.02)
    assert listed() == {"A | B": "0.5 m", "B | C": "", "C | D": "0.01 m"}
    assert "Up to date" in panel()

    move(a, -0.5)
    assert listed()["A | B"] == "out of date"
    assert listed()["B | C"] == ""
    assert "1 out of date" in panel()
    settings()["active"] = [f.object_a for f in settings().findings].index(a)
    assert "'A' has moved" in panel()

    squeeze(d, 0.5)
    assert listed()["C | D"] == "out of date"
    assert "2 out of date" in panel()
    assert out_of_date() == {"AB": "'A' has moved", "BC": None, "CD": "'D' has changed"}

    bpy.data.objects.remove(c)
    update()
    assert "3 out of date" in panel()
    assert out_of_date()["BC"] == "'C' is gone"
    check()
    assert "Up to date" in panel()
    assert all(why is None for why in out_of_date().values())
    assert b.name == "B"


def test_what_is_looked_at_again_from_the_other_side_is_said_of_the_right_object() -> None:
    cube("A").scale = (0.25, 0.25, 0.25)
    b = cube("B")
    check()
    move(b, 0.1)
    lens.live.background.Flow("Clashes", lens.live.follow_clashes.neighbours(bpy.context)).run(None)
    (finding,) = settings().findings
    row = finding.row()
    assert (finding.label("a"), finding.found()["a"]["name"], row["relation"]) == ("A", "A", "a_inside_b")
    assert {row[letter]["name"]: row[letter]["place"] for letter in "ab"} == {
        obj.name: obj.place_digest
        for obj in lens.read.scene_reader.snapshot_keys(
            bpy.context.evaluated_depsgraph_get(), [finding.key(letter) for letter in "ab"]
        ).values()
    }


def test_what_is_as_it_was_found_again_is_up_to_date_again() -> None:
    a, b, *_ = row_of_cubes()
    check()
    of_b = {"AB": "'B' has changed", "BC": "'B' has changed"}
    for change, take_back, expected in (
        (lambda: b.modifiers.new("Bevel", "BEVEL"), b.modifiers.clear, of_b),
        (lambda: move(a, 5.0), lambda: move(a, 0.0), {"AB": "'A' has moved", "BC": None}),
        (lambda: collide_as(b, "SPHERE"), lambda: collide_as(b, "AUTOMATIC"), of_b),
    ):
        change()
        update()
        assert out_of_date() == expected
        take_back()
        update()
        assert out_of_date() == {"AB": None, "BC": None}
    b.hide_set(True)
    update()
    assert out_of_date() == {"AB": None, "BC": None}, "hidden to look behind it"


def test_what_hangs_on_something_else_is_followed() -> None:
    """A child and a constrained object move without being touched, and a lattice bends a third."""
    a, b, *_ = row_of_cubes()
    empty = a.parent = add_object("Empty")
    b.constraints.new("COPY_LOCATION").target = empty
    b.constraints[0].use_offset = True
    update()
    check()
    assert set(out_of_date().values()) == {None}
    move(empty, 0.25)
    assert out_of_date()["AB"] == "'A' has moved"
    assert out_of_date()["BC"] == "'B' has moved"
    move(empty, 0.0)
    lattice = add_object("Lattice", bpy.data.lattices.new("Lattice"))
    a.modifiers.new("Lattice", "LATTICE").object = lattice
    update()
    check()
    assert set(out_of_date().values()) == {None}
    lattice.data.points[0].co_deform.x = -2.0
    lattice.data.update_tag()
    update()
    assert out_of_date()["AB"] == "'A' has changed"


def test_undo_and_redo() -> None:
    row_of_cubes()
    check()
    bpy.ops.ed.undo_push()
    move(bpy.data.objects["A"], 1.0)
    bpy.ops.ed.undo_push()
    moved, fresh = {"AB": "'A' has moved", "BC": None}, {"AB": None, "BC": None}
    assert out_of_date() == moved
    for step, expected in ((bpy.ops.ed.undo, fresh), (bpy.ops.ed.redo, moved), (bpy.ops.ed.undo, fresh)):
        step()
        assert out_of_date() == expected
    squeeze(bpy.data.objects["C"], 0.5)
    bpy.ops.ed.undo_push()
    assert out_of_date() == {"AB": None, "BC": "'C' has changed"}
    bpy.ops.ed.undo()
    assert out_of_date() == fresh


def test_findings_in_a_file_are_compared_with_what_it_holds(tmp_path: Path) -> None:
    row_of_cubes()
    check()
    squeeze(bpy.data.objects["C"], 0.5)
    for _ in range(2):
        reopen(tmp_path / "findings.blend")
        assert out_of_date() == {"AB": None, "BC": "'C' has changed"}
    move(bpy.data.objects["A"], 1.0)
    assert out_of_date()["AB"] == "'A' has moved"
    check()
    for finding in settings().findings:  # as an earlier version saved them
        finding.data, finding.table = json.dumps(finding.found()), 0
    reopen(tmp_path / "findings.blend")
    assert all("earlier version" in str(why) for why in out_of_date().values())
    assert "2 out of date" in panel()


def test_a_finding_of_another_frame_is_of_that_frame() -> None:
    a, _b, c, *_ = row_of_cubes()
    scene = bpy.context.scene
    animate(a, "location", f1=(0.0, 0.0, 0.0), f10=(-3.0, 0.0, 0.0))
    key = shape_key(c)
    key.data[0].co.x = 3.0
    animate(key, "value", f1=0.0, f10=1.0)
    scene.frame_set(1)
    check()
    up_to_date = {"AB": None, "BC": None}
    assert out_of_date() == up_to_date
    for frame in (10, 1, 10):
        scene.frame_set(frame)
        assert out_of_date() == up_to_date
    squeeze(bpy.data.objects["B"], 0.5)
    assert out_of_date() == dict.fromkeys(up_to_date, "'B' was changed at another frame")
    scene.frame_set(1)
    assert out_of_date() == dict.fromkeys(up_to_date, "'B' has changed")
    squeeze(bpy.data.objects["B"], 1.0)
    assert out_of_date() == up_to_date
    scene.frame_set(10)
    bpy.data.objects.remove(bpy.data.objects["B"])
    update()
    assert set(out_of_date().values()) == {"'B' is gone"}


def test_instances_are_followed() -> None:
    one, _two = two_instances()
    source, [collection] = bpy.data.objects["Part"], bpy.data.collections
    bpy.context.scene.collection.objects.unlink(source)
    check()
    [pair] = out_of_date()
    moved, changed = "'Part [0] of One' has moved", "'Part [0] of One' has changed"
    for change, reason in (
        (update, None),
        (lambda: move(one, 9.9), moved),
        (lambda: move(one, 10.0), None),
        (lambda: move(source, 0.5), changed),
        (lambda: move(source, 0.0), None),
        (lambda: setattr(collection, "instance_offset", (0.5, 0.0, 0.0)), changed),
        (lambda: setattr(collection, "instance_offset", (0.0, 0.0, 0.0)), None),
        (lambda: squeeze(source, 0.5), changed),
        (lambda: squeeze(source, 1.0), None),
    ):
        change()
        update()
        assert out_of_date()[pair] == reason
    one.instance_type = "NONE"
    update()
    assert out_of_date()[pair] is not None


def test_instances_within_instances_are_followed() -> None:
    between = instance_of(collection_of("Inner", cube("Part"), is_only=True), "Between")
    instance_of(collection_of("Outer", between, is_only=True), "Maker")
    cube("Other", (1.5, 0.0, 0.0))
    check()
    assert set(out_of_date().values()) == {None}
    move(between, 0.25)
    assert set(out_of_date().values()) == {"'Part [0.0] of Maker' has changed"}


# --- what is done about it ------------------------------------------------------------------------------------------


def test_a_pair_that_is_inspected_again_writes_its_answer_into_the_finding() -> None:
    a, b, c, *_ = row_of_cubes()
    check()
    move(a, 0.25)
    finding = go_to("AB")
    assert finding.row()["depth"] == pytest.approx(0.75)
    assert listed()["A | B"] == "0.75 m"
    assert "Up to date" in panel()
    move(a, -0.25)
    assert out_of_date()["AB"] == "'A' has moved"
    refresh()
    assert finding.row()["depth"] == pytest.approx(0.25)
    assert finding.status == "NEW"
    assert out_of_date()["AB"] is None
    move(a, -2.0)
    inspect(b, a)
    assert finding.status == "RESOLVED"
    assert out_of_date()["AB"] is None
    move(a, 0.25)
    assert out_of_date()["AB"] == "'A' has moved", "that it is resolved is not sure any more"
    inspect(a, b)
    assert (finding.status, finding.row()["depth"]) == ("NEW", pytest.approx(0.75))
    move(c, 3.25)
    finding = go_to("BC")
    assert finding.row()["relation"] == "penetrating"
    finding.status = "APPROVED"
    move(c, 3.0)
    inspect(b, c)
    assert (finding.status, finding.row()["depth"]) == ("CHANGED", pytest.approx(0.5))
    move(c, 4.0)
    inspect(b, c)
    assert finding.status == "RESOLVED"


def test_an_approved_pair_that_is_apart_says_so_and_stays_approved() -> None:
    a, *_ = row_of_cubes()
    check()
    finding = go_to("AB")
    finding.status = "APPROVED"
    move(a, -2.0)
    assert listed()["A | B"] == "out of date"
    check()
    finding = go_to("AB")
    assert (finding.status, listed()["A | B"]) == ("APPROVED", "apart")
    assert finding.row()["apart"]
    move(a, 0.1)
    check()
    finding = go_to("AB")
    assert (finding.status, listed()["A | B"]) == ("CHANGED", "0.6 m")
    assert not finding.row()["apart"]


def test_a_pair_of_instances_that_is_looked_at_again_writes_its_answer() -> None:
    one, _two = two_instances()
    check()
    move(one, 10.25)
    assert bpy.ops.contact_lens.go_to_finding() == {"FINISHED"}
    assert settings().findings[0].row()["depth"] == pytest.approx(0.75)
    assert set(out_of_date().values()) == {None}


def test_a_finding_of_another_frame_is_not_written_over() -> None:
    a, *_ = row_of_cubes()
    animate(a, "location", f1=(0.0, 0.0, 0.0), f10=(0.25, 0.0, 0.0))
    bpy.context.scene.frame_set(1)
    check()
    assert go_to("BC").row()["verified"]
    bpy.context.scene.frame_set(10)
    finding = go_to("AB")
    assert finding.row()["depth"] == pytest.approx(0.5)
    assert finding.row()["frame"] == 1
    assert finding.row()["verified"] is None, "what was verified is the contact of another frame"


def test_the_findings_of_a_scene_are_out_of_date_when_its_objects_change_in_another() -> None:
    a, b, *_ = row_of_cubes()
    check()
    inspect(a, b)
    session, scene = lens.pair.session, bpy.context.scene
    other = bpy.data.scenes.new("Other")
    for obj in (a, b):
        other.collection.objects.link(obj)
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        other.view_layers[0].update()
        squeeze(b, 1.0)
        update()
        assert not session.stale_reason(SimpleNamespace(scene=scene)), "nothing has changed"
        squeeze(b, 0.5)
        update()
    assert session.stale_reason(bpy.context) == "'B' has changed"
    assert out_of_date()["AB"] == "'B' has changed"


def test_the_notes_of_a_finding_are_of_the_unit_scale_of_today() -> None:
    a, *_ = row_of_cubes()
    a.contact_lens_shape = "SPHERE"
    a.location.x = 0.5
    check()
    scene = bpy.context.scene
    notes = lens.report.scene.checks_of
    found = [row["notes"] for row in notes(scene)[0]["findings"]]
    assert any(" m" in note for of_row in found for note in of_row)
    scene.unit_settings.scale_length = 0.001
    outdated = ["The unit scale has changed, so the notes are out of date: check the scene again"]
    assert [row["notes"] for row in notes(scene)[0]["findings"]] == [of_row and outdated for of_row in found]
    check()
    assert any(" 0.0007321 m" in note for row in notes(scene)[0]["findings"] for note in row["notes"])


def test_an_instance_that_is_inspected_has_its_names_of_today() -> None:
    one, _two = two_instances()
    check()
    assert bpy.ops.contact_lens.go_to_finding() == {"FINISHED"}
    session = lens.pair.session
    before = session.current(bpy.context)
    source = one.instance_collection.objects[0]
    old = one.name, source.name
    one.name, source.name = "Maker", "Thing"
    after = session.current(bpy.context)
    row = settings().findings[0].row()
    assert [after.name_a, after.name_b] == [row["a"]["name"], row["b"]["name"]] != [before.name_a, before.name_b]
    assert not any(name in f"{after.name_a}{after.name_b}" for name in old)


def test_nothing_can_be_done_with_a_pair_of_which_an_object_is_gone() -> None:
    _a, b, *_ = row_of_cubes()
    check()
    finding = go_to("AB")
    separate = bpy.ops.contact_lens.separate_finding
    assert separate.poll()
    bpy.context.scene.collection.objects.unlink(b)
    update()
    assert not separate.poll()
    for operator in (separate, bpy.ops.contact_lens.ignore_pair):
        with pytest.raises(RuntimeError, match="'B' is gone: check the scene again"):
            operator()
    assert len(settings().ignored) == 0
    assert "'B' is gone" in panel()
    assert finding.status == "NEW"


def test_the_exhibit_of_instances_ends_with_what_they_are_made_of() -> None:
    two_instances()
    source = bpy.data.objects["Part"]
    exhibit = lens.views.isolation
    for change in (lambda: squeeze(source, 0.5), lambda: move(source, 0.25)):
        check()
        settings().active = -1
        bpy.ops.contact_lens.go_to_finding()
        assert exhibit.is_isolated(bpy.context)
        change()
        assert not exhibit.is_isolated(bpy.context)


def test_the_exhibit_ends_with_a_frame_at_which_a_surface_is_another() -> None:
    a, *_ = row_of_cubes()
    key = shape_key(a)
    key.data[0].co.x = -3.0
    animate(key, "value", f1=0.0, f10=1.0)
    bpy.context.scene.frame_set(1)
    check()
    go_to("AB")
    exhibit = lens.views.isolation
    assert exhibit.is_isolated(bpy.context)
    bpy.context.scene.frame_set(10)
    assert not exhibit.is_isolated(bpy.context)


# --- what is written ------------------------------------------------------------------------------------------------


def test_a_saved_report_says_how_many_rows_are_out_of_date_and_which(tmp_path: Path) -> None:
    a, *_ = row_of_cubes()
    check()
    move(a, -0.5)
    save = bpy.ops.contact_lens.save_scene_report
    for kind in ("JSON", "CSV", "HTML"):
        assert save(filepath=str(tmp_path / f"out.{kind.lower()}"), kind=kind, pictures=0) == {"FINISHED"}
    [saved] = load_report(tmp_path / "out.json")["checks"]
    assert saved["out_of_date"] == 1
    assert [row["out_of_date"] for row in saved["findings"]] == ["'A' has moved", None]
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert [row["out_of_date"] for row in csv.DictReader(file)] == ["'A' has moved", ""]
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "1 of 2 clashes is out of date" in page
    assert "Out of date: &#x27;A&#x27; has moved" in page
    assert page.count('outdated"') == 1


# --- what it costs --------------------------------------------------------------------------------------------------


def test_a_change_costs_what_hangs_on_it_however_many_findings_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: after a move one place is compared and nothing is read; after an edit one object is read."""
    for k in range(60):
        cube(f"{k:02}", (1.5 * k, 0.0, 0.0))
    assert len(check()) == 59
    follow = lens.clashes.changes
    listed()
    places: list[Any] = []
    reads: list[Any] = []
    place_of, states_of = follow.place_of, follow.states_of
    monkeypatch.setattr(follow, "place_of", lambda matrix: places.append(matrix) or place_of(matrix))
    monkeypatch.setattr(follow, "states_of", lambda context, keys: reads.append(keys) or states_of(context, keys))
    move(bpy.data.objects["30"], 45.1)
    panel()
    listed()
    assert (len(places), reads) == (1, [])
    squeeze(bpy.data.objects["10"], 0.5)
    panel()
    listed()
    assert [len(keys) for keys in reads] == [1]
    assert "4 out of date" in panel()
