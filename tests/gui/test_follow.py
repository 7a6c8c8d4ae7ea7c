# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback and drags in a real window: what is drawn is true, or says that it is not, and nothing flashes or jumps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest


def assert_drawn_as_it_is(drawn: list[Any]) -> None:
    """The answer is of the place that is drawn; two cubes of side 2, so many units apart along x."""
    for d in drawn:
        assert d["answer"] == d["view"], d
        assert d["distance"] == pytest.approx(d["view"] - 2.0, abs=1e-6) or d["surface"] == "open", d
        assert not d["outdated"]
        assert not d["pending"]


def test_every_drawn_frame_of_a_playback_shows_the_answer_of_that_frame(seen: Any) -> None:
    drawn = seen["playback"]
    assert len({d["frame"] for d in drawn}) > 24
    assert [d["view"] for d in drawn] == pytest.approx([1.0 + 0.04 * d["frame"] for d in drawn], abs=1e-5)
    assert_drawn_as_it_is(drawn)
    assert {(d["status"], d["provisional"]) for d in drawn} == {("Up to date", False)}


def test_of_a_slower_pair_every_drawn_frame_shows_the_first_answer(seen: Any) -> None:
    for drawn, rests in ((seen["slower_playback"], 1), (seen["slower_drag"], 0)):
        assert_drawn_as_it_is(drawn)
        moving = [d for d in drawn if d["provisional"]]
        assert len(moving) > len(drawn) / 2
        assert {d["status"] for d in moving} == {"Updating"}, "it does not flicker"
        flips = sum(a["provisional"] != b["provisional"] for a, b in pairwise(drawn))
        assert flips <= 2 + 2 * rests, "first answers follow each other until the object rests"
    assert {d["relation"] for d in seen["slower_playback"]} >= {"penetrating", "touching", "separated"}
    assert "open" in {d["surface"] for d in seen["slower_playback"]}
    assert seen["whole"], "when the mouse is released the whole inspection is made"


def test_every_drawn_place_of_a_drag_shows_the_answer_of_that_place(seen: Any) -> None:
    assert len({d["view"] for d in seen["dragged"]}) >= 6
    assert_drawn_as_it_is(seen["dragged"])
    dragged, undone = seen["undo"]
    assert dragged > 1.6
    assert undone == pytest.approx(1.5), "undo is followed"


def test_a_slow_pair_is_pending_once_and_does_not_flash(seen: Any) -> None:
    drawn = seen["slow"]
    marks = [d["pending"] for d in drawn]
    assert not marks[0]
    assert not marks[-1]
    assert sum(a != b for a, b in pairwise(marks)) == 2, "from fresh to pending and back"
    for d in drawn:
        assert d["pending"] or d["answer"] == d["view"], "what is not known is not shown"
        assert not d["outdated"]
    assert seen["slow_panel"][2:5] == ["...", "Frame", "Updating"]


def test_a_slow_inspection_continues_when_the_mouse_is_released(seen: Any) -> None:
    assert seen["after_an_hour"]
    assert seen["slow"][-1]["answer"] == seen["left"]
    assert seen["left"] > 1.6


def test_esc_and_the_cross_end_it(seen: Any) -> None:
    assert seen["cancelled"] == [True, True]
    assert seen["refreshed"] == pytest.approx(1.75)


def test_strokes_in_sculpt_mode_are_followed(seen: Any) -> None:
    sculpted = seen["sculpted"]
    assert sculpted["half"] == pytest.approx(0.5)
    assert sculpted["stale"] == ""
    assert sculpted["answer"] == pytest.approx(sculpted["at"] - sculpted["half"] - 1.0, abs=1e-6)


BOX, BUTTON = range(-96, -12), range(-12, 20)
"""Rows of pixels above and below where Blender reported Move Out: those of the three rows of the result, and those of
the button, which is greyed where nothing is to be moved."""


def test_no_button_moves(seen: Any) -> None:
    assert seen["width"] < 300, "the sidebar is narrow"
    assert len(seen["buttons"]) == 4
    assert set(seen["buttons"]) == {"bpy.ops.contact_lens.separate(moves='B')"}
    phases = ["penetrating", "touching", "separated", "open"]
    drags = ["quick playback", "quick drag", "slower drag", "slow drag", "slow inspection", "after", "cancelled"]
    assert sorted(seen["changed"]) == sorted(phases + drags)
    for phase, rows in seen["changed"].items():
        changed = {row - seen["row"] for row in rows}
        assert changed & set(BOX), phase
        assert changed <= {*BOX, *BUTTON}, f"{phase}: something outside of the three rows has moved"
