# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision shapes in a real window: what a dented mesh is taken as, and that nothing holds the window up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LIVES = 0.5
"""Seconds the window may be held up for longer than twice a frame of Blender's own, with software OpenGL."""


@pytest.fixture(scope="module")
def seen(play: Callable[[str], Any]) -> Any:
    return play("shapes").numbers


def test_a_dented_mesh_is_taken_as_it_is_and_quickly(seen: Any) -> None:
    panel = " ".join(seen["panel"])
    assert "Depth of Pieces" in panel
    assert "mesh, surface, automatic" in panel
    assert "Contact Curves" in panel
    assert seen["first"]["seconds"] < 3.0, "a tenth of that on an idle machine"


def test_it_follows_without_holding_the_window_up(seen: Any) -> None:
    lives = LIVES + 2.0 * seen["idle"]
    for followed, stale, longest in seen["followed"]:
        assert followed
        assert stale == ""
        assert longest < lives


def test_what_takes_too_long_is_given_up_and_refreshed_beside_blender(seen: Any) -> None:
    lives = LIVES + 2.0 * seen["idle"]
    reason, longest = seen["given_up"]
    assert "takes too long to follow" in reason
    assert longest < lives
    reason, longest, status = seen["refreshed"]
    assert reason == ""
    assert longest < lives
    assert status == "bracket"
