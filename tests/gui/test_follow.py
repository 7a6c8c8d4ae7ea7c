# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback and drags in a real window: what is drawn is true, or says that it is not, and nothing flashes or jumps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest


def test_what_will_be_inspected_is_shown_before(seen: Any) -> None:
    assert seen["selected"] == ["A will be 'Shelf'", "B will be 'Crate'"]


def assert_drawn_as_it_is(drawn: list[Any]) -> None:
    """The answer is of the place that is drawn; two cubes of side 2, so many units apart along x."""
    for d in drawn:
        assert d["answer"] == d["view"], d
        assert d["distance"] == pytest.approx(d["view"] - 2.0, abs=1e-6), d
        assert not d["outdated"]


def test_every_drawn_frame_of_a_playback_shows_the_answer_of_that_frame(seen: Any) -> None:
    drawn = seen["playback"]
    assert len({d["frame"] for d in drawn}) > 60
    assert [d["view"] for d in drawn] == pytest.approx([1.0 + 0.04 * d["frame"] for d in drawn], abs=1e-5)
    assert_drawn_as_it_is(drawn)


def test_every_drawn_place_of_a_drag_shows_the_answer_of_that_place(seen: Any) -> None:
    assert len({d["view"] for d in seen["dragged"]}) >= 6
    assert_drawn_as_it_is(seen["dragged"])
    dragged, undone = seen["undo"]
    assert dragged > 1.6
    assert undone == pytest.approx(1.5), "undo is followed"


def test_a_slow_pair_is_marked_once_and_does_not_flash(seen: Any) -> None:
    drawn = seen["slow"]
    marks = [d["outdated"] for d in drawn]
    assert not marks[0]
    assert not marks[-1]
    assert sum(a != b for a, b in pairwise(marks)) == 2, "from fresh to outdated and back"
    assert {d["answer"] for d in drawn if d["outdated"]} == {drawn[0]["answer"]}, "what is drawn does not jump"
    assert seen["slow_panel"][0] == "Outdated: Penetrating"


def test_a_slow_inspection_continues_when_the_mouse_is_released(seen: Any) -> None:
    assert seen["after_an_hour"]
    assert seen["slow"][-1]["answer"] == seen["left"]
    assert seen["left"] > 1.6


def test_esc_and_the_cross_end_it(seen: Any) -> None:
    assert seen["cancelled"] == [["Outdated: Separated", "Inspection cancelled"]] * 2
    assert seen["refreshed"] == pytest.approx(1.75)


def test_strokes_in_sculpt_mode_are_followed(seen: Any) -> None:
    sculpted = seen["sculpted"]
    assert sculpted["half"] == pytest.approx(0.5)
    assert sculpted["stale"] == ""
    assert sculpted["answer"] == pytest.approx(sculpted["at"] - sculpted["half"] - 1.0, abs=1e-6)


def test_no_button_moves(seen: Any) -> None:
    assert seen["width"] < 300, "the sidebar is narrow"
    assert seen["buttons"] == ["bpy.ops.contact_lens.copy()"] * 4, "before, while it is inspected, after, cancelled"
