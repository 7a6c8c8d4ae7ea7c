# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision shapes in a real window: what a dented mesh is taken as, and that nothing holds the window up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LIVES = 3
"""Times that a window which is not held up comes to its timers, at least, while work of seconds goes on: one that is
held up does so before it and after it."""


@pytest.fixture(scope="module")
def seen(play: Callable[[str], Any]) -> Any:
    return play("shapes").numbers


def test_a_dented_mesh_is_taken_as_it_is(seen: Any) -> None:
    panel = " ".join(seen["panel"])
    assert "Depth of Pieces" in panel
    assert "mesh, surface, automatic" in panel
    assert "Contact Curves" in panel


def test_it_follows(seen: Any) -> None:
    for followed, stale in seen["followed"]:
        assert followed
        assert stale == ""


def test_what_takes_long_is_inspected_beside_blender_and_tells_how_far_it_is(seen: Any) -> None:
    assert any(text.startswith("Inspecting: ") for text in seen["told"])
    assert any(text.startswith("Outdated: ") for text in seen["told"])
    reason, times, status = seen["followed_slowly"]
    assert reason == ""
    assert times >= LIVES
    assert status == "bracket"
