# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision shapes in a real window: a mesh with concavities as it is, and no window that waits."""

from __future__ import annotations

from typing import Any

LIVES = 3
"""Times at least that a window comes to its timers during work of seconds; one that waits: before and after it."""


def test_a_mesh_with_concavities_is_taken_as_it_is(seen: Any) -> None:
    panel = " ".join(seen["panel"])
    assert "Depth" in panel or "Signed Distance" in panel
    assert "mesh, surface, automatic" in panel
    assert "Curves" in panel


def test_it_follows(seen: Any) -> None:
    assert seen["followed"] == [True] * 3


def test_a_long_inspection_runs_beside_blender_and_shows_its_progress(seen: Any) -> None:
    texts = {text for shown in seen["shown"] for text in shown}
    assert any(text.startswith("Inspecting: ") for text in texts)
    assert any(text.startswith("Outdated: ") for text in texts)
    assert len(seen["shown"]) >= LIVES
    assert seen["status"] == "bracket"
