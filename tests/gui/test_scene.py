# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Scene in a real window: the list, and a long check that Esc ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="module")
def played(play: Callable[[str], Any]) -> Any:
    """What one run of the scenario brought home: every test here reads from it."""
    return play("scene")


def test_the_list_is_walked_through(played: Any) -> None:
    seen = played.numbers
    assert seen["found"] == pytest.approx([0.5, 0.25])
    assert seen["first"] == ["A", "B"]
    assert seen["looks at"] == pytest.approx([0.75, 0.0, 0.0], abs=1e-5)
    assert seen["clicked"] == ["C", "D"]
    assert seen["stands apart"] == [True, False], "until something else is selected"
    assert seen["depth after"] == pytest.approx(0.0, abs=1e-5)


def test_findings_follow_their_objects(played: Any) -> None:
    moved, edited = "has moved", "has changed"
    assert played.numbers["followed"] == [
        [moved, ""],
        [moved, edited],
        [moved, ""],
        ["", ""],
        [moved, ""],
        ["", ""],
    ], "moved, edited, undone twice, redone, undone"


def test_a_pair_that_is_inspected_again_writes_its_answer_into_the_finding(played: Any) -> None:
    (there, why_there), (back, why_back) = played.numbers["renewed"]
    assert [there, back] == pytest.approx([0.4, 0.5], abs=1e-5)
    assert [why_there, why_back] == ["", ""]


def test_a_pair_that_takes_long_does_not_stop_the_window(played: Any) -> None:
    seen = played.numbers
    assert seen["long"] == [["A", "B"], [], False]
    assert seen["next"] == [["C", "D"], False], "another row gives it up"
    assert seen["ended"] == [["C", "D"], ["C", "D"], True]
    assert seen["given up"] == [["A", "B"], [], False], "Esc ends it, and the row stays"
    assert seen["left by looking"] == [], "no data, handler, operator or thread"


def test_separating_beside_a_check(played: Any) -> None:
    seen = played.numbers["meanwhile"]
    assert seen["moved"]
    assert seen["depth"] == pytest.approx(0.0, abs=1e-5)
    assert len(seen["left out"]) == 1, "what was moved is named"
    assert seen["as the check read it"] == [], "a place where it no longer is is not told"


def test_playing_the_animation_beside_a_check(played: Any) -> None:
    seen = played.numbers["played"]
    assert seen["frame"] == 1, "that at which it was begun"
    assert seen["left out"] == ["R"], "what was moved by hand, not what is animated"
    assert seen["animated"] == pytest.approx(0.5)
    assert not seen["by hand"]


def test_esc_ends_a_long_check_and_what_is_done_is_kept(played: Any) -> None:
    seen = played.numbers
    assert 0.0 < seen["share"] < 1.0
    assert seen["left behind"] == [], "no data, handler, operator or thread"
    ended = seen["after Esc"]
    assert ended["partial"] is True
    assert ended["checked"] < ended["candidates"]
    assert ended["findings"] >= 2
