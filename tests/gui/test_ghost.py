# SPDX-License-Identifier: GPL-3.0-or-later
"""The ghost in a real window: what it tints, and when."""

from __future__ import annotations

from typing import Any


def test_only_the_pair_is_seen_while_it_alone_is_selected(seen: Any) -> None:
    tinted = seen["tinted"]
    for name in ("clash", "moved", "pair"):
        assert min(tinted[name]) > 0.012, f"{name}: both objects are seen, though a third stands before them"
    for name in ("before", "xray", "left"):
        assert max(tinted[name]) < 0.01, name


def test_of_a_floor_only_what_is_near_the_contact_is_seen(seen: Any) -> None:
    for name in ("clash", "moved"):
        assert max(seen["tinted"][name]) < 0.2, name


def test_a_script_may_close_a_window_and_inspect_and_render_at_once(seen: Any) -> None:
    """Blender has no active GPU context then, and would crash with the redo panel."""
    assert seen["closed"] == 3
