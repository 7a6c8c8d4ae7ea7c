# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Frames in a real window: one undo step, Esc, a click on a row, playback, another file."""

from __future__ import annotations

from typing import Any

ROWS = [["Hand", 40], ["Leg", 1]]


def test_frames_are_checked_as_one_step(seen: Any) -> None:
    assert seen["checked"] == [ROWS, 60, False, 7]
    assert seen["undone"] == [[], 0, False, 7]
    assert seen["redone"] == seen["checked"]


def test_a_row_goes_to_its_worst_frame(seen: Any) -> None:
    assert abs(seen["depth"] - 0.5) < 1e-5


def test_the_plot_and_its_buttons_go_to_frames(seen: Any) -> None:
    assert [255, 0, 255] not in seen["colors"], "the plot covers the mark of its place"
    assert [213, 94, 0] in seen["colors"], "and what is in contact is filled"
    assert seen["went"] == [20, 45, 40, seen["last"]], "as with Blender's timeline, undo goes back by all of them"


def test_another_tab_has_no_plot(seen: Any) -> None:
    assert seen["tabs"] == [0, 1]


def test_playing_makes_no_row_out_of_date_and_a_check_ends_it(seen: Any) -> None:
    assert seen["playing"] == [[ROWS, 60, False], ["", ""], False]


def test_esc_keeps_the_frames_that_were_checked(seen: Any) -> None:
    rows, count, is_partial, frame = seen["stopped"]
    assert 30 <= count < 60
    assert seen["elsewhere"] in (count, count + 1)
    assert (is_partial, frame) == (True, 7)
    assert sorted(rows) == ROWS, "at frames that were not checked the hand may still be in the table"


def test_another_file_ends_it(seen: Any) -> None:
    is_running, (rows, count, *_) = seen["loaded"]
    assert (is_running, rows, count) == (False, [], 0)
