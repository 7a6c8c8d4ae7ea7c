# SPDX-License-Identifier: GPL-3.0-or-later
"""Wherever the add-on says where a contact is, it says its centre: on screen, in the panel, in lists and reports.

Of crates that are turned at random Blender's matrices are rounded to single precision, which tilts their faces by 1e-7
and puts the witness points at a corner of the contact region.
"""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from .reports import pair_report, save_report
from .scenes import SQUARE, block, inspect, inspection, lens, sheet, update

pytestmark = pytest.mark.usefixtures("empty_scene")

SIZE = (480, 320)


def crate(name: str, size: np.ndarray, world: Matrix) -> bpy.types.Object:
    obj = block(name, size)
    obj.matrix_world = world
    update()
    return obj


def pressed(
    seed: int, depth: float = 0.02, reach: float = 3.0
) -> tuple[bpy.types.Object, bpy.types.Object, list[float]]:
    """A crate pressed with a whole face onto the face of a larger one, the pair turned at random and up to `reach` from
    the world origin; and the middle of the smaller face, half-way between the two."""
    rng = np.random.default_rng(seed)
    large, small = rng.uniform(2.5, 3.5, 3), rng.uniform(0.6, 1.2, 3)
    world = Matrix.Translation(rng.uniform(-reach, reach, 3)) @ Euler(rng.uniform(-3, 3, 3)).to_matrix().to_4x4()
    height = 0.5 * (large[2] + small[2]) - depth
    place = (*rng.uniform(-0.4, 0.4, 2), height)
    beside = world @ Matrix.Translation(place) @ Matrix.Rotation(rng.uniform(0, 6), 4, "Z")
    a, b = crate("Large", large, world), crate("Small", small, beside)
    middle = np.array(world, dtype=float) @ (place[0], place[1], 0.5 * large[2] - 0.5 * depth, 1.0)
    return (a, b, middle[:3].tolist()) if seed % 2 else (b, a, middle[:3].tolist())


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("shape", ["AUTOMATIC", "MESH", "COMPOUND"])
def test_thirty_turned_crates_have_the_arrow_in_the_middle_of_the_face(shape: str) -> None:
    geometry, preferences = lens.layers.overlay_geometry, lens.data.preferences
    style = geometry.Style(preferences.DEFAULT_LOOK)
    for seed in range(30):
        a, b, middle = pressed(seed)
        a.contact_lens_shape = b.contact_lens_shape = shape
        found = inspect(a, b)
        assert np.abs(found.contact.center - middle).max() < 1e-4
        layers = {layer.name: layer.glyphs for layer in geometry.layers(found, style)}
        arrow = layers["vector"][0]
        assert arrow["start"] == pytest.approx(np.zeros(3), abs=1e-6), "its tail is the origin"
        assert geometry.origin(found) == pytest.approx(middle, abs=1e-4)
        assert arrow["end"] - arrow["start"] == pytest.approx(found.contact.mtv, abs=1e-6)
        for obj in (a, b):
            bpy.data.objects.remove(obj)


def test_a_gap_within_the_clearance_is_drawn_in_the_middle_of_the_faces_and_outlines_what_faces_the_other() -> None:
    geometry, preferences = lens.layers.overlay_geometry, lens.data.preferences
    style = geometry.Style(preferences.DEFAULT_LOOK)
    for seed in range(8):
        a, b, middle = pressed(seed, depth=-0.02)
        facing = min(a.dimensions[0] * a.dimensions[1], b.dimensions[0] * b.dimensions[1])
        for clearance in (0.1, 0.0):
            found = inspect(a, b, clearance=clearance)
            layers = {layer.name: layer.glyphs for layer in geometry.layers(found, style)}
            assert geometry.origin(found) == pytest.approx(middle, abs=1e-4)
            line = layers["gap"][0]
            assert 0.5 * (line["start"] + line["end"]) == pytest.approx(np.zeros(3), abs=1e-6)
            assert np.abs(line["end"] - line["start"]) == pytest.approx(0.02 * np.abs(found.contact.normal), abs=1e-6)
            assert "region" not in layers, "they do not meet"
            assert ("region border" in layers) == (clearance > 0.0)
            rows = {row.name: row.text for row in lens.report.pair_lines.measurements(found)}
            assert "Area" not in rows
            if clearance > 0.0:
                assert rows["Facing Area"] == found.units.area(found.contact.area)
                assert found.contact.area == pytest.approx(facing, rel=1e-4)
        for obj in (a, b):
            bpy.data.objects.remove(obj)


@pytest.mark.parametrize("depth", [0.0, -0.02])
def test_the_area_of_meshes_is_outlined_without_the_seams_between_their_triangles(depth: float) -> None:
    geometry, preferences = lens.layers.overlay_geometry, lens.data.preferences
    a, b, _ = pressed(1, depth=depth)
    a.contact_lens_shape = b.contact_lens_shape = "MESH"
    found = inspect(a, b, clearance=0.1)
    (region,) = found.contact.regions
    assert len(region.patches) > 1
    layers = {layer.name: layer for layer in geometry.layers(found, geometry.Style(preferences.DEFAULT_LOOK))}
    sides = np.unique(np.hstack([layers["region border"].glyphs[end] for end in ("start", "end")]), axis=0)
    assert np.linalg.norm(sides[:, :3] - sides[:, 3:], axis=1).sum() == pytest.approx(2 * sum(b.dimensions[:2]), 1e-4)
    assert len(np.unique(layers["corners"].glyphs["start"].round(4), axis=0)) == 4


def test_in_the_plane_a_gap_is_drawn_in_the_middle_of_the_edges() -> None:
    a, b = (block(name, (1.0, 1.0, 0.0), (x, 0.25 * x, 0.0)) for name, x in (("A", 0.0), ("B", 1.2)))
    for clearance in (0.5, 0.0):
        found = inspect(a, b, clearance=clearance, flat=True)
        assert found.contact.center == pytest.approx((0.6, 0.15, 0.0), abs=1e-6)


def test_a_kilometre_away_it_is_as_near_as_coordinates_are_told() -> None:
    for seed in range(8):
        a, b, middle = pressed(seed, reach=1000.0)
        found = inspect(a, b)
        assert found.contact.region.kind == "polygon"
        assert np.abs(found.contact.center - middle).max() < 20.0 * found.resolution
        for obj in (a, b):
            bpy.data.objects.remove(obj)


@pytest.mark.parametrize("seed", range(6))
def test_the_label_of_a_crate_at_rest_stays_when_it_is_nudged_by_a_last_digit(seed: int) -> None:
    overlay, snapshot = lens.draw.overlay, lens.draw.picture
    style = lens.layers.overlay_geometry.Style(lens.data.preferences.DEFAULT_LOOK)
    a, b, _ = pressed(seed, depth=0.0)
    view = snapshot.camera(inspect(a, b), SIZE[0] / SIZE[1])
    place, turn, rng, boxes = np.array(b.location), np.array(b.rotation_euler), np.random.default_rng(seed), []
    for _ in range(6):
        b.location = place + rng.uniform(-3e-7, 3e-7, 3)
        b.rotation_euler = turn + rng.uniform(-5e-7, 5e-7, 3)
        notes = lens.draw.overlay_labels.annotate(inspect(a, b), style, *view, SIZE, overlay.measure)
        assert notes.texts[0].text == "touching"
        boxes.append(notes.boxes[0])
    assert np.ptp(boxes, axis=0).max() < 1.0, "pixels"


def view() -> bpy.types.RegionView3D:
    return next(area.spaces.active for area in bpy.context.screen.areas if area.type == "VIEW_3D").region_3d


def test_frame_contact_and_go_to_finding_look_at_it() -> None:
    a, b, middle = pressed(1)
    inspect(a, b)
    view().view_location = (50.0, 50.0, 50.0)
    assert bpy.ops.contact_lens.frame() == {"FINISHED"}
    assert np.array(view().view_location) == pytest.approx(middle, abs=1e-4)
    view().view_location = (50.0, 50.0, 50.0)
    bpy.ops.contact_lens.check_scene()
    assert bpy.ops.contact_lens.go_to_finding() == {"FINISHED"}
    assert np.array(view().view_location) == pytest.approx(middle, abs=1e-4)


def test_panel_finding_and_reports_tell_it(tmp_path: Path) -> None:
    a, b, middle = pressed(2)
    inspect(a, b)
    report, units = lens.report.pair, lens.data.units
    data = pair_report()
    assert data["contact"]["center"] == pytest.approx(middle, abs=1e-4)
    words = units.UnitFormat.of_scene(bpy.context.scene).vector(data["contact"]["center"])
    assert ("Center", words) in lens.report.pair_lines.report_lines(report.inspected(bpy.context))

    bpy.context.scene.unit_settings.length_unit = "MILLIMETERS"
    bpy.ops.contact_lens.check_scene()
    (finding,) = bpy.context.scene.contact_lens_check.findings
    assert finding.row()["center"] == pytest.approx(middle, abs=1e-4)
    (check,) = save_report(tmp_path / "out.json")["checks"]
    millimetres = [1000.0 * x for x in middle]
    assert check["findings"][0]["center"] == pytest.approx(millimetres, abs=0.1)
    (line,) = save_report(tmp_path / "out.csv")
    assert [float(line[f"center_{axis}"]) for axis in "xyz"] == pytest.approx(millimetres, abs=0.1)


def test_many_findings_found_together_have_the_centers_of_single_ones() -> None:
    middles = {}
    for seed in range(60):
        a, b, middle = pressed(seed)
        shift = Matrix.Translation((20.0 * seed, 0.0, 0.0))
        for obj in (a, b):
            obj.matrix_world = shift @ obj.matrix_world
        middles[frozenset((a.name, b.name))] = np.array(middle) + (20.0 * seed, 0.0, 0.0)
    update()
    bpy.ops.contact_lens.check_scene()
    rows = [finding.row() for finding in bpy.context.scene.contact_lens_check.findings]
    assert len(rows) == 60
    for row in rows:
        middle = middles[frozenset((row["a"]["name"], row["b"]["name"]))]
        assert row["center"] == pytest.approx(middle, abs=2e-3)  # 1,200 m away a step of a coordinate is 1e-4 m


def test_findings_of_files_saved_earlier_have_one_too() -> None:
    *_, middle = pressed(3)
    bpy.ops.contact_lens.check_scene()
    (finding,) = bpy.context.scene.contact_lens_check.findings
    row = finding.found()
    del row["center"]
    finding.data = json.dumps(row)
    assert finding.row()["center"] == pytest.approx(middle, abs=1e-4)
    finding.data = json.dumps({**row, "centroid": None})
    points = np.array([row["point_on_a"], row["point_on_b"]])
    assert finding.row()["center"] == pytest.approx(points.mean(axis=0))


def test_of_flat_shapes_in_their_plane_it_is_in_the_world() -> None:
    turned = Euler((0.5, 0.4, 0.3)).to_matrix().to_4x4()
    plates = [sheet(name, 0.5 * np.array(SQUARE)) for name in "AB"]
    plates[0].matrix_world = turned
    plates[1].matrix_world = turned @ Matrix.Translation((0.9, 0.2, 0.0))
    found = inspect(*plates, flat=True)
    middle = np.array(turned, dtype=float) @ (0.45, 0.1, 0.0, 1.0)
    assert found.contact.center == pytest.approx(middle[:3], abs=1e-5)
    assert np.array(lens.layers.overlay_geometry.origin(found)).shape == (3,)


def test_witness_points_are_drawn_when_they_are_asked_for() -> None:
    a, b, _ = pressed(4)
    inspect(a, b)
    geometry, style_of = lens.layers.overlay_geometry, lens.draw.overlay.style_of

    def drawn() -> set[str]:
        return {layer.name for layer in geometry.layers(inspection(), style_of(bpy.context))}

    assert {"corners", "center"} <= drawn()
    assert "witness" not in drawn()
    bpy.context.scene.contact_lens.show_witness = True
    assert "witness" in drawn()
