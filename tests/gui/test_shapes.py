# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision shapes in a real window: a mesh with concavities as it is, and no window that waits."""

from __future__ import annotations

from typing import Any


def test_a_mesh_with_concavities_is_taken_as_it_is(seen: Any) -> None:
    panel = " ".join(seen["panel"])
    assert "Penetrating" in panel
    assert "Mesh, surface, automatic" in panel
    assert "Curves" in panel


def test_the_overlap_of_meshes_is_made_beside_blender_and_drawn_through_both(seen: Any) -> None:
    assert seen["overlap"]["triangles"] > 100
    assert seen["overlap"]["redder"] > 0.002


def test_it_follows(seen: Any) -> None:
    assert seen["followed"] == [True] * 3


def test_a_long_inspection_runs_beside_blender_and_shows_its_progress(seen: Any) -> None:
    assert len(seen["held"]) == 3, "the window is drawn meanwhile"
    for texts in seen["held"]:
        percent = next(text for text in texts if text.startswith("Inspecting: ")).split()[1]
        assert 50 <= int(percent) < 100
        assert "Up to date" not in texts
    assert seen["status"] == "bracket"
