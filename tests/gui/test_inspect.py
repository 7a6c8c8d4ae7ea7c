# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job in a real window: the panel shows what core computes, and follows redo panel and undo."""

from __future__ import annotations

import struct
from math import acos, degrees
from typing import Any

import pytest

ROUNDED, ROUNDED_DEGREES = 0.5000001e-4, 0.5000001
"""What the panel's digits may be off: those of a depth below 1 m, in Blender units, and of a direction."""


def number(text: str) -> float:
    """The number of a text such as '-0.29562 m'."""
    value, unit = text.split(" ")
    assert unit == "m"
    return float(value)


def off_axis(panel: list[str]) -> tuple[float, str]:
    """The direction in the second row of the result, such as 'down, 9° off -Z', in degrees and its axis."""
    angle, _, axis = panel[panel.index("Penetrating") + 2].split(", ")[-1].partition("° off ")
    return float(angle), axis


def nearest_axis(normal: list[float]) -> tuple[float, str]:
    """By how many degrees a direction is off the nearest axis, and that axis."""
    k = max(range(3), key=lambda k: abs(normal[k]))
    return degrees(acos(abs(normal[k]))), ("-" if normal[k] < 0.0 else "+") + "XYZ"[k]


def is_about(direction: tuple[float, str]) -> tuple[Any, str]:
    return pytest.approx(direction[0], abs=ROUNDED_DEGREES), direction[1]


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_frame_keeps_both_objects_in_view_beside_the_sidebar(seen: Any) -> None:
    left, bottom, right, top = seen["view"]
    assert all(left < x < right and bottom < y < top for x, y in seen["framed"])
    assert seen["middle"][0] == pytest.approx(seen["middle"][1], abs=1.5)


def test_the_installed_extension_has_its_tab_in_the_sidebar(played: Any) -> None:
    assert played.numbers["tab"] == "Contact"
    assert played.numbers["sidebar"] > 100
    assert struct.unpack(">II", played.pictures["inspected"].read_bytes()[16:24]) == (1280, 800)


def test_two_clicks_select_the_pair_and_f3_inspects_it(seen: Any) -> None:
    assert sorted(seen["selected"]) == ["Cube", "Suzanne"]
    assert seen["active"] == "Suzanne"
    assert (seen["contact"]["a"], seen["contact"]["b"]) == ("Suzanne", "Cube")


def test_the_panel_shows_the_number_that_core_computes(seen: Any) -> None:
    # Core was run in the scenario on hulls of the meshes, read without the add-on.
    assert seen["core"] < -0.1
    assert seen["contact"]["signed_distance"] == pytest.approx(seen["core"], rel=1e-9)
    assert number(seen["panel"][seen["panel"].index("Penetrating") + 1]) == pytest.approx(-seen["core"], abs=ROUNDED)
    assert off_axis(seen["panel"]) == is_about(nearest_axis(seen["contact"]["normal"]))


def test_the_depth_is_the_overlap_of_the_meshes_along_the_normal(seen: Any) -> None:
    normal = seen["contact"]["normal"]
    a, b = seen["points"]
    overlap = max(dot(p, normal) for p in a) - min(dot(p, normal) for p in b)
    assert -seen["contact"]["signed_distance"] == pytest.approx(overlap, abs=1e-9)


def test_the_panel_is_the_pair_and_the_answer(seen: Any) -> None:
    words, number, direction = "Penetrating", *seen["panel"][3:5]
    assert seen["panel"] == ["A", "B", words, number, direction, "Frame", "Up to date", "Move 'Cube' Out"]


def test_the_redo_panel_changes_the_method(seen: Any) -> None:
    assert seen["redo_rows"] == 5, "method, clearance, contact tolerance, 2D and swap"
    both = seen["both"]
    assert both["operator"] == "BOTH"
    assert "sat" in both["method"]
    assert "gjk" in both["method"]
    assert 0.0 <= both["cross_check"] < 1e-9
    assert both["signed_distance"] == pytest.approx(seen["core"], rel=1e-9)
    assert both["stale"] == ""


def test_the_redo_panel_swaps_the_pair(seen: Any) -> None:
    swapped = seen["swapped"]
    assert (swapped["a"], swapped["b"]) == ("Cube", "Suzanne")
    assert swapped["pickers"] == ["Cube", "Suzanne"]
    assert swapped["method"] == "both", "what was set before in the redo panel stays"
    assert swapped["signed_distance"] == pytest.approx(seen["core"], rel=1e-9)
    assert swapped["normal"] == pytest.approx([-x for x in seen["contact"]["normal"]], abs=1e-9)
    assert swapped["stale"] == ""
    assert off_axis(swapped["panel"]) == is_about(nearest_axis(swapped["normal"]))


def test_the_panel_of_the_move_sets_the_margin_and_the_object(seen: Any) -> None:
    margin, other = seen["margin"], seen["other"]
    assert margin["gap"] == pytest.approx(0.1, abs=1e-6 + margin["resolution"])
    assert (margin["moved"]["Cube"], other["moved"]["Suzanne"]) == (0.0, 0.0)
    assert other["gap"] == pytest.approx(margin["gap"], abs=1e-6)
    assert other["moved"]["Cube"] == pytest.approx(margin["moved"]["Suzanne"], abs=1e-6)


def test_undo_takes_the_result_away_and_redo_brings_it_back(seen: Any) -> None:
    assert seen["undone"]["panel"] == ["A", "B"]
    assert seen["undone"]["objects"] == ["Cube", "Suzanne"]
    assert seen["redone"]["a"] == "Cube"
    assert seen["redone"]["signed_distance"] == pytest.approx(seen["core"], rel=1e-9)
    assert seen["redone"]["panel"] == seen["swapped"]["panel"]


def test_repeat_last_does_not_inspect_another_pair_in_2d(seen: Any) -> None:
    assert seen["repeated"] == [False, False]


def test_without_a_pair_it_says_what_to_select_and_offers_a_check_of_more(seen: Any) -> None:
    assert seen["one"], "the pair of before is not inspected instead"
    assert seen["three"] == "SELECTED"
