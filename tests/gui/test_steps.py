# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of algorithms in a real window: keys, mouse and panel go through them, and what is drawn is of now."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_arrow_keys_step_and_change_no_frame(seen: Any) -> None:
    last = seen["keys"][0][1] - 1
    assert last >= 2
    assert [number for number, _, _ in seen["keys"]] == [0, 1, 0, last, 0]
    assert {frame for _, _, frame in seen["keys"]} == {1}
    assert seen["over the sidebar"][0] == seen["slider"][0] + 1
    assert seen["frame"] == 2, "after the steps they are Blender's again"


def test_the_panel_plays_to_the_end_and_its_slider_goes_anywhere(seen: Any) -> None:
    assert seen["playing"]
    assert seen["played"][0] == seen["played"][1] - 1
    number, count, _ = seen["slider"]
    assert 0.4 * count < number < 0.9 * count
    assert seen["sentence"] in " ".join(seen["words"]).replace("\u00a0", " ")


def test_a_step_is_baked_undone_and_removed_and_the_trace_copied(seen: Any) -> None:
    assert seen["bake undone"]["before"] == seen["bake undone"]["after"], "the pair is still inspected"
    assert seen["copied"]


def test_a_click_on_a_bar_shows_its_axis_and_one_beside_selects(seen: Any) -> None:
    assert seen["bar"]["shown"] == seen["bar"]["clicked"]
    assert seen["bar"]["selected"]
    assert seen["beside"] == ["Cube"]


def test_the_difference_is_dragged(seen: Any) -> None:
    moved = np.subtract(seen["dragged"]["after"], seen["dragged"]["before"])
    assert not seen["dragged"]["beside"]
    assert moved[0] < -0.2, "to the left"
    assert moved[2] > 0.2, "and up"


def test_what_is_drawn_is_of_the_place_that_is_drawn(seen: Any) -> None:
    drawn = seen["drawn"]
    assert [x for x, _ in drawn] == pytest.approx([x for _, x in drawn])
    assert list(dict.fromkeys(x for x, _ in drawn)) == [1.6, 1.7, 1.8, 1.5], "and back by undo"


def test_in_a_quad_view_the_sentence_is_written_once(seen: Any) -> None:
    assert seen["written in"] == [[True, True]], "at the bottom left"


def test_other_keys_pass_through(seen: Any) -> None:
    assert seen["text field"]["before"] == seen["text field"]["after"]
    assert seen["space"], "it plays the animation"
    assert seen["after Space"] == {"on": True, "playing": False}, "Esc was for the animation"
    assert seen["after a drag"] == {"on": True, "x": 1.5}, "Esc was for the drag"
    assert seen["after Esc"] == {"on": False, "problem": ""}


def test_each_end_is_one_sentence_and_nothing_fails(seen: Any) -> None:
    assert [sentence.partition(":")[0] for sentence in seen["ended"]] == [
        "The steps ended with their 3D view",
        "The steps ended for want of a pair",
        "The steps were of another file",
    ]
    assert seen["trouble"] == ""
