# SPDX-License-Identifier: GPL-3.0-or-later
"""The ghost in a real window: what it tints, and when; and the section of its pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_only_the_pair_is_seen_while_it_alone_is_selected(seen: Any) -> None:
    tinted = seen["tinted"]
    for name in ("clash", "moved", "pair"):
        assert min(tinted[name]) > 0.012, f"{name}: both objects are seen, though a third stands before them"
    for name in ("before", "xray", "left"):
        assert max(tinted[name]) < 0.01, name


def test_of_a_floor_only_what_is_near_the_contact_is_seen(seen: Any) -> None:
    for name in ("clash", "moved"):
        assert max(seen["tinted"][name]) < 0.2, name


def test_a_section_goes_through_the_contact_along_its_direction_and_is_moved_and_flipped(seen: Any) -> None:
    section = seen["section"]
    assert (section["before"], section["on"], section["off"]) == ([False], [True], [False])
    *normal, offset = section["plane"]
    assert np.dot(normal, section["center"]) + offset == pytest.approx(0.0, abs=1e-6)
    assert np.dot(normal, section["normal"]) == pytest.approx(0.0, abs=1e-6)
    assert section["moved"] == pytest.approx([*normal, offset + 0.25])
    assert section["flipped"] == pytest.approx([-number for number in section["moved"]])
    assert section["seen"] > 0.02
    assert section["restored"] < 0.002


def test_a_section_is_in_all_of_a_quad_view_and_leaves_what_the_user_clips_and_files_alone(seen: Any) -> None:
    section = seen["section"]
    assert section["of_user"] == [True, True, True]
    assert section["quad"] == [True] * 4
    assert section["saving"] == [[False]]
    assert section["saved"] == section["flipped"]
    assert section["unsupported"]


def test_a_script_may_close_a_window_and_inspect_and_render_at_once(seen: Any) -> None:
    """Blender has no active GPU context then, and would crash with the redo panel."""
    assert seen["closed"] == 3
