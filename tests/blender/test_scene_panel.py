# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of a scene check and the rows of its list, as drawn into a layout that stands for Blender's."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from .layouts import Drawn, Layout
from .scenes import adopt, block, cube, lens, rigid_body, torus, update
from .test_scene_check import check, row_of_cubes, settings

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def dots_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The add-on's own icons, which have no number in background mode, by their names."""
    monkeypatch.setattr(lens.ui.status_icons, "icon", lambda relation: relation)


@pytest.fixture(autouse=True)
def touching_is_listed(empty_scene: None) -> None:
    """As where the user wants it, or in files that were saved before it was hidden at first."""
    settings().show_touching = True


def panel() -> Drawn:
    layout = Layout()
    lens.ui.scene_panel.CONTACT_LENS_PT_scene.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def drawn_header() -> Drawn:
    layout = Layout()
    lens.ui.scene_panel.CONTACT_LENS_PT_scene.draw_header_preset(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def header() -> list[str]:
    return drawn_header().texts


def warnings_of_header() -> list[str]:
    return [icon for icon in drawn_header().icons if icon == "ERROR"]


def checks() -> list[dict[str, Any]]:
    return lens.report.scene.checks_of(bpy.context.scene)


def tooltip(name: str) -> str:
    """The explanation of the row that begins with a name."""
    return next(finding.tooltip for finding in settings().findings if finding.found()["a"]["name"] == name)


def shown_rows() -> list[int]:
    return lens.clashes.clash_list.shown(bpy.context.scene).rows


def row(k: int) -> Drawn:
    """The k-th row of the list, in its order."""
    at, layout = shown_rows()[k], Layout()
    draw = lens.ui.scene_panel.CONTACT_LENS_UL_findings.draw_item
    draw(SimpleNamespace(), bpy.context, layout, settings(), settings().findings[at], 0, settings(), "active", at)
    return layout.drawn


def move(name: str, x: float) -> None:
    bpy.data.objects[name].location.x = x
    update()


# --- rows -----------------------------------------------------------------------------------------------------------


def test_a_row_has_a_dot_the_number_and_both_names() -> None:
    row_of_cubes()
    check(clearance=0.02)
    rows = [row(k) for k in range(3)]
    assert [each.texts for each in rows] == [["A", "0.5 m", "B"], ["B", "C"], ["C", "0.01 m", "D"]]
    assert [each.dots for each in rows] == [["penetrating"], ["touching"], ["within_clearance"]]
    assert [each.greyed for each in rows] == [[], [], []]


def test_a_row_names_the_shapes_that_are_not_the_mesh() -> None:
    row_of_cubes()
    bpy.ops.rigidbody.world_add()
    rigid_body(bpy.data.objects["A"], "CYLINDER")
    bpy.data.objects["B"].contact_lens_shape = "BOX"
    check()
    assert [each.texts[::2] for each in (row(0), row(1))] == [["A (cylinder)", "B (box)"], ["B (box)"]]
    assert tooltip("A").startswith("A: A (as a cylinder of its rigid body)\nB: B (as a box)\n")
    check(sort="OBJECT")
    assert row(0).texts[::2] == ["B (box) (2)", "A (cylinder)"]


def test_gaps_within_margins_are_counted_in_the_panel() -> None:
    bpy.ops.rigidbody.world_add()
    for k, z in enumerate((0.0, 2.06)):
        rigid_body(cube(f"Cone {k}", (0.0, 0.0, z)), "CONE")
    check()
    assert "1 within margins" in panel().texts
    assert header() == ["1"], "beside a dot"
    cube("Crate", (0.0, 5.0, 0.0))
    cube("Wall", (0.0, 7.01, 0.0))
    check(clearance=0.02)
    assert "2 within clearance (1 within margins)" in panel().texts


def test_the_header_counts_by_relation_in_words_where_they_fit() -> None:
    row_of_cubes()
    check()
    assert (header(), drawn_header().dots) == (["1", "1"], ["penetrating", "touching"])
    move("A", -9.0)
    check()
    assert header() == ["1 touching"]


def test_the_panel_says_in_short_what_was_left_out_and_not_checked() -> None:
    a, b, c, *_ = row_of_cubes()
    adopt(a, b)
    c.hide_viewport = True
    bpy.data.scenes.new("Shot").collection.objects.link(bpy.data.objects.new("Prop", a.data))
    check()
    assert "3 left out" in panel().texts, "where the sidebar is narrow"
    words = lens.data.messages.not_checked_in_short
    record = json.loads(settings().summary)
    assert words(record, 0, 60) == "1 pair, 1 object, 1 scene left out"
    record["skipped"].append({"unchecked": True})
    assert words(record, 0, 60) == "1 not checked, 1 pair, 1 object, 1 scene left out"
    assert words(record, 0, 32) == "1 not checked, 3 left out"


def test_the_header_warns_of_what_was_not_checked() -> None:
    row_of_cubes()
    check()
    assert warnings_of_header() == []
    block("Far", (0.3, 0.3, 3.0), (500_000.0, 0.0, 0.0))
    block("Near Far", (0.3, 0.3, 3.0), (500_000.2, 0.0, 0.0))
    check()
    assert warnings_of_header() == ["ERROR"]


def test_what_is_done_or_out_of_date_is_greyed() -> None:
    row_of_cubes()
    check(clearance=0.02)
    settings().findings[0].status = "APPROVED"
    assert (row(0).greyed, row(0).dots) == (row(0).texts, ["penetrating"])
    assert row(2).greyed == []
    move("D", 5.6)
    assert row(2).greyed == row(2).texts
    assert (row(2).texts[1], row(2).dots) == ("out of date", ["unknown"])


def test_statuses_have_icons_but_new_only_beside_earlier_clashes() -> None:
    row_of_cubes()
    check()
    assert [row(k).icons[-2] for k in (0, 1)] == ["BLANK1", "BLANK1"], "all are new"
    settings().findings[0].status = "APPROVED"
    assert [row(k).icons[-2] for k in (0, 1)] == ["CHECKMARK", "BLANK1"]
    move("D", 5.5)
    check(ignore_approved=False)
    assert [row(k).icons[-2] for k in range(3)] == ["CHECKMARK", "BLANK1", "DOT"]


def test_a_group_has_its_size_and_its_object_first() -> None:
    row_of_cubes()
    check(clearance=0.02, sort="OBJECT")
    assert [row(k).texts[0] for k in range(3)] == ["B (2)", "B", "C (1)"]
    assert [row(k).texts[-1] for k in range(3)] == ["A", "C", "D"]


def test_an_ignored_pair_says_so_until_the_next_check_leaves_it_out() -> None:
    row_of_cubes()
    check()
    with lens.clashes.check_settings.silent():
        settings().active = 0
    assert bpy.ops.contact_lens.ignore_pair(what="FINDING") == {"FINISHED"}
    assert (row(0).texts, row(0).greyed) == (["B", "C"], []), "what is left to do comes first"
    assert row(1).texts == row(1).greyed == ["A", "ignored", "B"]


def test_the_number_is_what_the_list_is_sorted_by() -> None:
    row_of_cubes()
    check(sort="AREA")
    assert [row(k).texts[1] for k in (0, 1)] == ["4 m²", "4 m²"]
    settings().findings[0].is_apart = True
    settings().sort = "DEPTH"
    assert "apart" in row(0).texts


def test_an_approved_pair_that_is_apart_is_not_counted_as_a_present_clash() -> None:
    row_of_cubes()
    check()
    settings().findings[0].status = "APPROVED"
    move("A", -2.0)
    check(sort="AREA")
    assert row(0).texts == ["A", "apart", "B"]
    assert "the earlier numbers" in settings().findings[shown_rows()[0]].tooltip
    assert header() == ["1 touching"]
    assert [text for text in panel().texts if "penetrating" in text or "touching" in text] == ["1 touching"]
    assert ", 1 touching" in lens.operators.scene_operators.summary(bpy.context.scene)
    verdict = "".join(lens.page.html_report._verdict(checks()))
    assert ("1 touching" in verdict, "1 apart" in verdict, "penetrating" in verdict) == (True, True, False)


def test_the_explanation_of_a_row_says_what_is_gone_until_that_is_resolved() -> None:
    row_of_cubes()
    check()
    bpy.data.objects.remove(bpy.data.objects["A"])
    update()
    assert tooltip("A").endswith("\nStatus: New\nOut of date: 'A' is gone")
    check()
    assert tooltip("A").endswith("\nStatus: Resolved")


def test_a_check_without_clashes_is_not_asked_for_again() -> None:
    reason = lens.operators.scene_operators.CONTACT_LENS_OT_go_to_finding.disabled_reason
    cube("Alone")
    assert "run Check Scene" in reason(bpy.context)
    check()
    assert reason(bpy.context) == "No clashes"


def test_a_number_is_never_cut_off_and_a_name_in_its_middle() -> None:
    layout = lens.operators.layout
    cube("The first of two objects with long names"), cube("The second of two objects with long names", (1.9, 0, 0))
    bpy.context.scene.unit_settings.length_unit = "MICROMETERS"
    check()
    first, number, second = row(0).texts
    assert number == "100000 µm"
    assert (first[:3], first[-3:], second[:3]) == ("The", "mes", "The")
    width = layout.room_of(bpy.context) - lens.ui.scene_panel.AROUND_ROWS
    _, _, left = layout.with_number(Layout(), bpy.context, number, width)
    assert layout.width_of(bpy.context, number) < width - left
    assert layout.width_of(bpy.context, first) < left
    assert layout.with_number(Layout(), bpy.context, "1 m", width)[2] > left


def test_a_tooltip_says_all_of_a_row() -> None:
    row_of_cubes()
    check(clearance=0.02)
    tooltips = [finding.tooltip for finding in settings().findings]
    assert tooltips[0] == "A: A\nB: B\nPenetrating, depth 0.5 m\nStatus: New"
    assert tooltips[1] == "A: B\nB: C\nTouching\nStatus: New"
    assert "Within Clearance, gap 0.01 m" in tooltips[2]
    move("D", 5.6)
    assert settings().findings[2].tooltip.splitlines()[-1] == "Out of date: 'D' has moved"


# --- below the list -------------------------------------------------------------------------------------------------


def test_as_many_rows_are_below_the_list_whatever_clash_is_active(monkeypatch: pytest.MonkeyPatch) -> None:
    row_of_cubes()
    bpy.data.objects["A"].contact_lens_shape = "SPHERE"  # which has a note
    bpy.context.scene.frame_set(1)
    check(clearance=0.02)
    assert settings().active == -1
    none = panel()
    assert {"CONTACT_LENS_MT_ignore"} <= set(none.disabled)
    states = set()
    for k in range(3):
        with lens.clashes.check_settings.silent():
            settings().active = k
        assert panel().row == none.row
        assert "CONTACT_LENS_MT_ignore" not in panel().disabled
        states.add(panel().texts[-3])
    assert any(sentence.startswith("'A' extends") for sentence in [*states, *panel_of(0).texts])
    assert panel_of(1).texts.count("Up to date") == 2, "of the check and of the clash"
    move("D", 5.6)
    assert "'D' has moved" in panel_of(2).texts
    assert panel().row == none.row
    bpy.context.scene.frame_set(3)
    assert "Found at frame 1" in panel_of(0).texts
    assert panel().row == none.row
    monkeypatch.setattr(lens.views.open_clash, "progress_of", lambda scene: 0.25)
    assert panel().bars == ["Inspecting: 25 %"]
    assert panel().row == none.row


def panel_of(k: int) -> Drawn:
    """The panel with the k-th clash active."""
    with lens.clashes.check_settings.silent():
        settings().active = k
    return panel()


def test_what_has_nothing_to_move_out_is_disabled() -> None:
    row_of_cubes()
    check()
    assert set(panel_of(0).disabled) == set(), "A and B penetrate"
    assert set(panel_of(1).disabled) == {"contact_lens.separate_finding", "CONTACT_LENS_MT_move_out_of_clash"}
    settings().clearance = 0.001
    assert set(panel_of(1).disabled) == set(), "a touch is less than the clearance"
    settings().clearance = 0.0
    bpy.data.objects["A"].location.x = -0.5
    update()
    check()
    assert "contact_lens.move_all_out" in panel_of(0).disabled


def test_a_hull_is_left_to_the_warnings_of_the_pair() -> None:
    for k in range(2):
        rigid_body(torus(f"Ring {k}", (1.5 * k, 0.0, 0.0)), "CONVEX_HULL")
    check()
    assert settings().findings[0].row()["notes"][0] == "'Ring 0' is not convex: its convex hull is used"
    assert "convex" not in panel_of(0).words
    assert panel_of(0).texts.count("Up to date") == 2
    bpy.data.objects["Ring 0"].modifiers.new("Array", "ARRAY").count = 1
    update()
    check()
    (sentence,) = (text for text in panel_of(0).given("explain", "sentence") if text.startswith("'Ring 0'"))
    assert "is simulated without its modifiers" in sentence
    assert "convex" not in sentence


def test_an_object_that_is_gone_cannot_be_ignored() -> None:
    row_of_cubes()
    check()
    assert "CONTACT_LENS_MT_ignore" not in panel_of(0).disabled
    bpy.data.objects.remove(bpy.data.objects["A"])
    update()
    assert "CONTACT_LENS_MT_ignore" in panel_of(0).disabled


def test_only_some_reasons_are_listed_of_what_was_not_checked() -> None:
    most = lens.ui.scene_panel.MOST_SENTENCES
    row_of_cubes()
    for k in range(most + 2):
        cube(f"Far {k}").data.vertices[0].co.x = float("nan")
    check()
    assert f"{most + 2} not checked" in panel().texts
    assert "2 more: save a report to see all" in panel().words
    assert panel().icons.count("ERROR") == 2 + most


# --- operators ------------------------------------------------------------------------------------------------------


def test_going_through_the_list_begins_at_its_ends() -> None:
    row_of_cubes()
    check(clearance=0.02)
    order = lens.clashes.clash_list.shown(bpy.context.scene).rows
    for step, expected in (1, order[0]), (-1, order[-1]):
        with lens.clashes.check_settings.silent():
            settings().active = -1
        bpy.ops.contact_lens.go_to_finding(step=step)
        assert settings().active == expected


def test_approve_explains_itself_and_other_statuses_are_named() -> None:
    description = lens.operators.scene_operators.CONTACT_LENS_OT_set_status.description
    assert "until it gets deeper" in description(bpy.context, SimpleNamespace(status="APPROVED", all_shown=False))
    assert description(bpy.context, SimpleNamespace(status="REVIEWED", all_shown=False)) == ""
