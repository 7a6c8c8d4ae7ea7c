# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel's buttons in a real window: what copies, and Move Out, on a crate built into a ramp.

docs/images/window.png is build/gui/separate/contact.png, reduced to a palette.
"""

from __future__ import annotations

from typing import Any

import pytest

FLOAT32 = 1e-6
"""Blender holds the crate's place and turn in single precision."""


def test_the_contact_is_the_one_that_was_built(seen: Any) -> None:
    asked, contact = seen["asked"], seen["contact"]
    assert asked["over"] > 0.1, "a corner of the crate hangs over the ramp's edge"
    assert contact["relation"] == "penetrating"
    assert contact["depth"] == pytest.approx(asked["depth"], abs=FLOAT32)
    assert contact["normal"] == pytest.approx(asked["normal"], abs=FLOAT32)
    assert contact["area"] == pytest.approx(asked["area"], abs=4 * FLOAT32)
    assert contact["corners"] == 5


def test_the_panel_shows_it(seen: Any) -> None:
    panel, asked = seen["panel"], seen["asked"]
    rows = dict(zip(seen["measurements"][::2], seen["measurements"][1::2], strict=False))
    assert panel[2:4] == ["Penetrating", f"{asked['depth']:.1f} m"]
    assert [[name, rows[name]] for name, _, _ in seen["rows"]] == [row[:2] for row in seen["rows"]]
    assert rows["Area"] == f"{asked['area']:.4g} m²"


def test_a_click_on_the_number_copies_it_with_all_digits(seen: Any) -> None:
    number, unit = seen["copied"]["number"].split(" ")
    assert unit == "m"
    assert float(number) == pytest.approx(seen["contact"]["depth"], rel=1e-6)


def test_the_icon_of_a_row_copies_what_blenders_fields_take(seen: Any) -> None:
    center = next(copied for name, _, copied in seen["rows"] if name == "Center")
    assert seen["copied"]["center"] == center
    assert center.startswith("[")


def test_copy_all_fills_the_clipboard_with_the_report(seen: Any) -> None:
    rows = [line.split("\t") for line in seen["copied"]["all"].splitlines()]
    assert rows == seen["report"]
    assert ["Depth", f"{seen['asked']['depth']:.1f} m"] in rows


def value_of(texts: list[str], name: str) -> str:
    """Return the text beside a name."""
    return texts[texts.index(name) + 1]


def test_measures_say_how_much_overlaps_and_how_deep(seen: Any) -> None:
    assert value_of(seen["overlap"], "Overlap Volume").endswith(" m³")
    deepest = float(value_of(seen["overlap"], "Deepest of B").split()[0])
    assert 0.0 < deepest <= seen["asked"]["depth"], "no point is deeper than the face that is parallel to the slope"


def test_the_clearance_band_is_shown_follows_and_is_hidden(seen: Any) -> None:
    before, shown, after = seen["blue"]
    assert max(before, after) < 1000 < shown
    least, followed = (float(value_of(seen[name], "Least Gap").split()[0]) for name in ("band", "followed"))
    assert 0.0 < least < followed


def test_move_out_moves_b_by_the_mtv(seen: Any) -> None:
    separated, asked = seen["separated"], seen["asked"]
    mtv = [asked["depth"] * x for x in asked["normal"]]
    assert separated["moved"]["Ramp"] == [0.0, 0.0, 0.0]
    assert separated["moved"]["Crate"] == pytest.approx(mtv, abs=FLOAT32)
    assert separated["moved"]["Crate"] == pytest.approx(seen["contact"]["mtv"], abs=FLOAT32)
    assert separated["relation"] == "touching"
    assert abs(separated["signed_distance"]) <= separated["resolution"]
    assert separated["panel"][2] == "Touching"


def test_undo_puts_b_back(seen: Any) -> None:
    assert seen["undone"]["moved"] == {"Ramp": [0.0, 0.0, 0.0], "Crate": [0.0, 0.0, 0.0]}
    assert seen["undone"]["depth"] == pytest.approx(seen["contact"]["depth"], rel=1e-9)


def test_progress_is_in_the_row_of_the_status_and_its_button_cancels(seen: Any) -> None:
    idle, moving, cancelled = seen["panel"], seen["moving"], seen["cancelled"]
    assert [text.split(":")[0] for text in moving[2:]] == [*idle[2:6], "Inspecting", "Move 'Crate' Out"]
    assert "Inspection cancelled" in cancelled["panel"]
    assert cancelled["moved"]["Crate"] == pytest.approx(seen["separated"]["moved"]["Crate"], abs=FLOAT32)


def test_swap_exchanges_a_and_b(seen: Any) -> None:
    expected = ["Penetrating", f"{seen['asked']['depth']:.1f} m", "down, 18° off -Z", "Frame", "Up to date"]
    assert seen["swapped"]["panel"][2:7] == expected
    assert seen["swapped"]["stale"] == ""
