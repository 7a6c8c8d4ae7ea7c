# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings in a real window: they are of the present result, and nothing below them moves during a drag or playback."""

from __future__ import annotations

from typing import Any

import pytest

HULLS, OPEN = ["'Shelf': convex hull used", "'Crate': convex hull used"], ["No depth: open surfaces"]
RESULT, LINE = range(-96, 20), range(20, 46)
"""Rows of pixels from where Blender reported Move Out: of the result and the button, and of the first warning."""


def changed(seen: Any, name: str) -> set[int]:
    return {row - seen["row"] for row in seen[name]["changed"]}


@pytest.mark.parametrize("relation", ["separated", "touching", "penetrating", "b_inside_a"])
def test_no_warning_or_button_moves_while_a_pair_is_dragged_through_all_relations(seen: Any, relation: str) -> None:
    assert seen["before"]["warnings"] == HULLS
    assert seen[relation]["relation"] == relation
    assert seen[relation]["warnings"] == HULLS
    assert changed(seen, relation) <= set(RESULT)
    assert changed(seen, relation)


def test_a_line_without_a_warning_keeps_its_place_until_the_objects_rest(seen: Any) -> None:
    assert [seen[name]["relation"] for name in ("gone", "back", "end")] == ["separated", "penetrating", "separated"]
    assert seen["crossing"]["warnings"] == seen["back"]["warnings"] == OPEN
    assert seen["gone"]["warnings"] == seen["end"]["warnings"] == seen["stopped"]["warnings"] == []
    assert (seen["apart"]["relation"], seen["apart"]["warnings"]) == ("separated", []), "a drag that pauses"
    for name in ("apart", "gone", "end"):
        assert changed(seen, name) <= {*RESULT, *LINE}, "what is below has not moved"
        assert changed(seen, name) & set(LINE)
    assert changed(seen, "back") <= set(RESULT)
    assert changed(seen, "stopped") - {*RESULT, *LINE}, "now it is gone"
