# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of a pair: the panel, its operators, the copied text, and the report."""

from __future__ import annotations

import json
from typing import Any

import bpy
import numpy as np
import pytest

from .scenes import cube, inspect, inspection, lens, mesh_object, update
from .test_follow_measures import follow, ticks, work_of  # noqa: F401
from .test_panel import drawn_by

pytestmark = pytest.mark.usefixtures("empty_scene")


def panel() -> Any:
    return drawn_by(lens.ui.measures_panel.CONTACT_LENS_PT_measures, "draw")


def ring(radius: float, low: float, high: float, sides: int = 48) -> np.ndarray:
    """Two rings of corners around the z axis."""
    turns = 2.0 * np.pi * np.arange(sides) / sides
    flat = radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return np.concatenate([np.column_stack([flat, np.full(sides, z)]) for z in (low, high)])


def pin(radius: float, reach: float, sides: int = 48, **options: Any) -> bpy.types.Object:
    """A cylinder along z as a mesh."""
    walls = [(k, (k + 1) % sides, sides + (k + 1) % sides, sides + k) for k in range(sides)]
    faces = [*walls, tuple(range(sides))[::-1], tuple(range(sides, 2 * sides))]
    return mesh_object("Pin", ring(radius, -reach, reach, sides), faces, kind="MESH", **options)


def bushing(inner: float, outer: float, reach: float, sides: int = 48) -> bpy.types.Object:
    """A cylinder along z with a hole, as a mesh."""
    points = np.concatenate([ring(outer, -reach, reach, sides), ring(inner, -reach, reach, sides)])
    faces = []
    for k in range(sides):
        a, b, c, d = (np.array([k, (k + 1) % sides]) + sides * level for level in range(4))
        faces += [(*a, *b[::-1]), (*c[::-1], *d), (*a[::-1], *c), (*b, *d[::-1])]
    return mesh_object("Bushing", points, faces, kind="MESH")


def in_millimeters() -> None:
    units = bpy.context.scene.unit_settings
    units.scale_length, units.length_unit = 0.001, "MILLIMETERS"


# --- the panel ------------------------------------------------------------------------------------------------------


def test_how_much_overlaps_and_how_deep_is_measured_by_one_button():
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    assert {"measure_overlap", "clearance_band"} <= panel().names
    assert bpy.ops.contact_lens.measure_overlap() == {"FINISHED"}
    texts = panel().texts
    for name, text in (("Overlap Volume", "2 m³"), ("Deepest of A", "0.5 m"), ("Deepest of B", "0.5 m")):
        assert texts[texts.index(name) + 1] == text
    assert {"Overlap Volume", "Deepest of A"} <= set(panel().given("copy", "what"))


def test_what_is_measured_is_copied_with_all_digits_and_with_the_others():
    inspect(cube("A"), cube("B", (1.5123456, 0.0, 0.0)))
    bpy.ops.contact_lens.measure_overlap()
    copied = lens.operators.pair_operators.text_to_copy
    assert copied(bpy.context, "Overlap Volume") == "1.950618 m³"
    assert "Overlap Volume\t1.951 m³\n" in copied(bpy.context, "")


def test_the_report_has_the_measures_that_were_computed(tmp_path):
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    path = tmp_path / "pair.json"
    bpy.ops.contact_lens.measure_overlap()
    bpy.ops.contact_lens.save_json(filepath=str(path))
    measures = json.loads(path.read_text(encoding="utf-8"))["measures"]
    assert set(measures) == {"overlap_volume", "deepest_point"}
    assert measures["overlap_volume"]["volume"] == pytest.approx(2.0)
    assert measures["deepest_point"]["of_a"]["distance"] == pytest.approx(0.5)


def test_a_pin_reads_the_gap_of_its_hole_in_the_units_of_the_scene():
    in_millimeters()
    inspect(pin(5.0, 14.0), bushing(5.3, 9.0, 10.0))
    assert bpy.ops.contact_lens.clearance_band() == {"FINISHED"}
    shown = panel()
    assert "Hide Clearance Band" in shown.texts
    least = shown.texts[shown.texts.index("Least Gap") + 1]
    most = shown.texts[shown.texts.index("Greatest Gap") + 1]
    assert least.endswith(" mm")
    # Within the tessellation: the sagitta of a side.
    sagitta = 5.3 * (1.0 - np.cos(np.pi / 48.0))
    assert 0.3 - sagitta <= float(least.split()[0]) <= float(most.split()[0]) <= 0.3 + sagitta
    assert bpy.ops.contact_lens.clearance_band() == {"FINISHED"}
    assert "Least Gap" not in panel().texts, "and hidden by the same button"


def test_a_limit_that_nothing_is_within_is_said():
    inspect(cube("A"), cube("B", (3.0, 0.0, 0.0)))
    bpy.ops.contact_lens.clearance_band()
    assert "Least Gap" in panel().texts
    bpy.context.scene.contact_lens.band_limit = 0.5
    assert "Nothing of 'B' faces 'A' within 0.5 m: set a larger limit" in panel().words
    bpy.context.scene.contact_lens.band_limit = 1.5
    assert "Least Gap" in panel().texts


# --- what cannot be measured ----------------------------------------------------------------------------------------


def test_a_band_of_objects_that_overlap_is_refused_and_ends_when_they_do():
    a, b = cube("A"), cube("B", (1.5, 0.0, 0.0))
    inspect(a, b)
    with pytest.raises(RuntimeError, match="move them apart"):
        bpy.ops.contact_lens.clearance_band()
    b.location.x = 3.0
    inspect(a, b)
    bpy.ops.contact_lens.clearance_band()
    assert "Least Gap" in panel().texts
    b.location.x = 1.5
    update()
    assert "Least Gap" not in panel().texts, "of before"
    bpy.ops.contact_lens.refresh()
    assert "Least Gap" not in panel().texts
    assert "The objects overlap" in panel().words
    b.location.x = 3.0
    bpy.ops.contact_lens.refresh()
    with pytest.raises(RuntimeError, match="nothing overlaps"):
        bpy.ops.contact_lens.measure_overlap()


@pytest.mark.parametrize(
    ("corners", "faces", "why"),
    [
        (((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)), ((0, 1, 2, 3),), "'A' is flat"),
        (((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0.5)), ((0, 1, 2), (0, 2, 3)), "'A' is open"),
    ],
)
def test_flat_and_open_ones_have_no_volume_and_a_sentence(corners, faces, why):
    inspect(mesh_object("A", corners, faces), cube("B"))
    assert bpy.ops.contact_lens.measure_overlap() == {"FINISHED"}
    assert why in panel().words


def test_measures_end_with_their_pair():
    a, b, c = cube("A"), cube("B", (1.5, 0.0, 0.0)), cube("C", (0.0, 5.0, 0.0))
    inspect(a, b)
    bpy.ops.contact_lens.measure_overlap()
    inspect(a, c)
    assert "Deepest of A" not in panel().texts
    inspect(a, b)
    bpy.ops.contact_lens.measure_overlap()
    bpy.data.objects.remove(b)
    update()
    assert "Deepest of A" not in panel().texts
    assert lens.live.follow_measures.valid(bpy.context) is None
    assert inspection() is None


def test_an_object_deleted_while_the_pair_is_measured_ends_that(follow):  # noqa: F811
    a, b = pin(5.0, 14.0), bushing(5.3, 9.0, 10.0)
    inspect(a, b)
    bpy.ops.contact_lens.clearance_band()
    ticks(follow)
    task = work_of(follow)
    bpy.data.objects.remove(b)
    update()
    assert ticks(follow) is None
    assert task.is_cancelled
    assert (follow.error(bpy.context.scene), panel().texts) == ("", [])


def test_bounds_are_shown_where_they_are_farther_apart_than_the_digits():
    units = lens.data.units.UnitFormat()
    assert units.bounded(2.0, 2.0 - 1e-12, 2.0 + 1e-12, 3) == "2 m³"
    assert units.bounded(4.1888, 4.1501, 4.2299, 3) == "4.2 m³ (4.15 to 4.23)"
    assert units.bounded(0.0003, 0.0003, 0.0003, 1) == "0.0003 m"
    assert lens.data.units.UnitFormat("NONE").bounded(2.0, 1.5, 2.5, 3) == "2 (1.5 to 2.5)"
