# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene in a real window: the list, and a long check that Esc ends."""

from __future__ import annotations

from typing import Any

import pytest

HEIGHT, BUTTON = 565, 20
"""Pixels: of the sidebar where Blender's window has 1280 x 720, and of a button."""
EDGE = 3
"""Pixels from where a button is found to where it is clicked."""


def test_the_list_is_walked_through(seen: Any) -> None:
    assert seen["found"] == pytest.approx([0.5, 0.25])
    assert seen["first"] == ["A", "B"]
    assert seen["looks at"] == pytest.approx([0.75, 0.0, 0.0], abs=1e-5)
    assert seen["clicked"] == ["C", "D"]
    assert seen["isolated"] == [True, False], "until something else is selected"
    assert seen["depth after"] == pytest.approx(0.0, abs=1e-5)


def test_a_click_on_a_dot_opens_its_clash_and_others_are_blenders(seen: Any) -> None:
    assert seen["dot"] == ["C", "D"]
    assert seen["beside dots"] == [["B"], 1], "it selects, and the clash stays the active one"


def test_both_names_of_a_clash_are_readable(seen: Any) -> None:
    """However long they are, each has a line and shows how it ends and what it differs from the other by."""
    assert seen["rows"][:3] == ["A", "0.5 m", "B"]
    (first, depth, second), names = seen["long rows"], seen["long names"]
    assert depth == "0.5 m"
    for shown, name, differing in zip((first, second), names, ("Beam.Y", "Pipe"), strict=True):
        begin, end = shown.split("…")
        assert name.startswith(begin)
        assert name.endswith(end)
        assert differing in shown


def test_no_button_moves_from_clash_to_clash(seen: Any) -> None:
    first, second = seen["places"]
    assert len(first) == 7
    assert first == second
    assert first["go_to_finding(step=1)"][1] - seen["first click"][1] == EDGE, "nor by the first click"


def test_the_answer_and_the_buttons_are_on_a_small_screen(seen: Any) -> None:
    """Without scrolling, beside and above the other editors of a new file."""
    for command, (_, y) in seen["places"][0].items():
        assert seen["top"] - y < HEIGHT - BUTTON, command


def test_the_buttons_below_the_list(seen: Any) -> None:
    assert seen["approved"] == ["NEW", "APPROVED"]
    assert seen["ignored"] == ["C", "D"]


def test_findings_follow_their_objects(seen: Any) -> None:
    before, moved, edited = [0.5, 4.0], [0.4, 4.0], [0.25, 3.0]
    assert seen["followed"] == [
        [moved, [0.25, 4.0]],
        [moved, edited],
        [moved, [0.25, 4.0]],
        [before, [0.25, 4.0]],
        [moved, [0.25, 4.0]],
        [before, [0.25, 4.0]],
    ], "moved, edited, undone twice, redone, undone: depths and areas of what has moved are known again by themselves"


def test_a_pair_that_takes_long_does_not_stop_the_window(seen: Any) -> None:
    assert seen["long"] == [["A", "B"], [], False]
    assert seen["next"] == [["C", "D"], False], "another row cancels it"
    assert seen["ended"] == [["C", "D"], ["C", "D"], True]
    assert seen["cancelled"] == [["A", "B"], [], False], "Esc ends it, and the row stays"
    assert seen["left by looking"] == [], "no data, handler, operator or thread"


def test_separating_beside_a_check(seen: Any) -> None:
    seen = seen["meanwhile"]
    assert seen["moved"]
    assert seen["depth"] == pytest.approx(0.0, abs=1e-5)
    assert len(seen["left out"]) == 1, "what was moved is named"
    assert seen["as the check read it"] == [], "a place where it no longer is is not reported"


def test_one_click_moves_out_all_that_clash(seen: Any) -> None:
    assert seen["moved out"][2:5] == [True, True, True]


def test_esc_ends_a_long_check_and_what_is_done_is_kept(seen: Any) -> None:
    assert 0.0 < seen["fraction"] < 1.0
    assert seen["left behind"] == [], "no data, handler, operator or thread"
    ended = seen["after Esc"]
    assert ended["partial"] is True
    assert ended["checked"] < ended["candidates"]
    assert ended["findings"] >= 2
