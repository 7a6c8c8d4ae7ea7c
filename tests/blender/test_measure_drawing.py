# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of measures: the colors of a clearance band and its legend, and the deepest points."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import bpy
import gpu
import numpy as np
import pytest

from .scenes import cube, inspect, lens
from .test_overlay import DARK, graphics, styled  # noqa: F401
from .test_step_drawing import grey, is_within, text_box

SIZE = (320, 240)
draw, layers = lens.draw, lens.layers


def millimeters() -> Any:
    return lens.data.units.UnitFormat("METRIC", 0.001, "MILLIMETERS")


def scale(greatest: float = 0.45, wanted: float = 0.2) -> Any:
    return layers.band_colors.BandScale.reaching(greatest, wanted, millimeters())


def measure(text: str, size: float) -> tuple[float, float]:
    return 0.6 * size * len(text), size


def legend(room: Any, **options: Any) -> Any:
    style = styled(**options)
    return draw.band_legend.band_legend(scale(), "Gap from Pin to Bushing: 0.15 to 0.45 mm", style, room, measure)


def room(width: float = 1280.0, height: float = 720.0, **options: Any) -> Any:
    return draw.label_sheet.LabelRoom((0.0, 0.0, width, height), **options)


# --- colors ---------------------------------------------------------------------------------------------------------


def test_below_the_wanted_clearance_all_is_red_and_above_it_ever_darker():
    shown = scale()
    colors = shown.colors(np.array([0.0, 0.1999, *np.linspace(0.2, 0.5, 20), 9.0]))
    assert (colors[:2] == layers.band_colors.BELOW_WANTED).all()
    assert (np.diff(grey(colors[2:22, :3])) < 0.0).all(), "told apart without color vision, too"
    assert (colors[22] == colors[21]).all()
    assert (colors[2:22, 1] > 0.25).all(), "none of them is red"
    assert (scale(wanted=0.0).colors(np.zeros(1)) != layers.band_colors.BELOW_WANTED).any()


@pytest.mark.parametrize(
    ("greatest", "wanted", "words"),
    [
        (0.45, 0.2, ["0", "0.2", "0.35", "0.5 mm"]),
        (0.302, 0.0, ["0", "0.2", "0.4 mm"]),
        (0.302, 0.01, ["0.01", "0.205", "0.4 mm"]),
        (0.1, 2.0, ["0", "2", "3 mm"]),
        (0.0, 0.0, ["0", "0.5", "1 mm"]),
        (12.0, 10.0, ["0", "10", "15 mm"]),
    ],
)
def test_the_scale_ends_at_a_round_number_of_the_unit_and_names_the_wanted_clearance(greatest, wanted, words):
    steps = scale(greatest, wanted).steps()
    assert [text for _, text in steps] == words
    assert steps[-1][0] >= greatest


def band_of_plate(gaps: list[float]) -> Any:
    """A square around the origin, facing +Z, whose corners have these gaps."""
    points = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], dtype=float)
    return lens.core.measures.clearance_band.ClearanceBand(
        float(np.nanmin(gaps)), 0.0, float(np.nanmax(gaps)), 1.0, points, np.array(gaps),
        np.array([(0, 1, 2), (0, 2, 3)]), 1.0,
    )  # fmt: skip


def picture_of(band: Any, *, behind: bool = False, from_below: bool = False) -> np.ndarray:
    """The band as seen from above, with something in front of it or not."""
    pair = SimpleNamespace(settings=SimpleNamespace(clearance=0.2), units=millimeters())
    view = np.diag([0.5, -0.5 if from_below else 0.5, -0.5 if from_below else 0.5, 1.0])
    projection = np.diag([1.0, 1.0, -0.5, 1.0])
    offscreen = gpu.types.GPUOffScreen(*SIZE)
    try:
        with offscreen.bind():
            gpu.state.active_framebuffer_get().clear(color=(*DARK, 1.0), depth=0.1 if behind else 1.0)
            draw.overlay.draw_band(band, pair, view, projection, SIZE)
            return draw.picture.read_pixels(*SIZE) / 255.0
    finally:
        offscreen.free()


def test_colors_go_from_point_to_point_and_points_without_a_gap_have_none(graphics):  # noqa: F811
    pixels = picture_of(band_of_plate([0.2, 0.5, 0.5, 0.2]))
    left, right = pixels[120, 84], pixels[120, 235]
    near, far = scale().colors(np.array([0.2, 0.5]))[:, :3]
    np.testing.assert_allclose([left, right], [near, far], atol=0.05)
    assert abs(grey(pixels[120, 160:161])[0] - grey(0.5 * (left + right)[None])[0]) < 0.15
    red = picture_of(band_of_plate([0.1, 0.1, 0.1, 0.1]))[120, 160]
    np.testing.assert_allclose(red, layers.band_colors.BELOW_WANTED[:3], atol=0.01)
    half = picture_of(band_of_plate([0.2, np.nan, 0.2, 0.2]))
    strength = np.abs(half[[80, 140, 160, 178], [120, 180, 200, 237]] - DARK).max(axis=1)
    assert (np.diff(strength) < 0.0).all(), "it fades"
    assert strength[3] < 0.05


def test_what_is_hidden_is_fainter_and_only_of_the_side_that_faces_the_viewer(graphics):  # noqa: F811
    band = band_of_plate([0.2, 0.2, 0.2, 0.2])
    seen, behind = picture_of(band)[120, 160], picture_of(band, behind=True)[120, 160]
    assert np.abs(behind - DARK).max() > 0.2
    assert np.abs(behind - seen).max() > 0.05
    away = picture_of(band, behind=True, from_below=True)[120, 160]
    np.testing.assert_allclose(away, DARK, atol=0.01)
    assert np.abs(picture_of(band, from_below=True)[120, 160] - DARK).max() > 0.2, "a sheet has two sides"


# --- the legend -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "pixel"), [((1280.0, 720.0), 1.0), ((460.0, 400.0), 1.0), ((460.0, 400.0), 2.0)])
def test_the_legend_is_in_the_view_and_no_number_is_on_another(size, pixel):
    plate = legend(room(*size), scale=pixel)
    assert is_within(plate.box, (0.0, 0.0, *size))
    boxes = [text_box(text) for text in plate.texts]
    assert all(is_within(box, plate.box) for box in boxes)
    numbers = sorted(boxes[1:])
    assert all(one[2] < other[0] for one, other in pairwise(numbers))
    assert [text.text for text in plate.texts][1:] == ["0", "0.2", "0.35", "0.5 mm"]


def test_the_legend_is_above_a_plate_that_is_there_and_written_once_in_a_quad_view():
    steps = (300.0, 6.0, 980.0, 110.0)
    assert legend(room(taken=(steps,))).box[1] >= steps[3]
    assert legend(room(is_main=False)) is draw.step_sheet.NO_PLATE


# --- deepest points -------------------------------------------------------------------------------------------------


def test_deepest_points_are_lines_between_marks_with_a_label(empty_scene):
    inspect(cube("A"), cube("B", (1.5, 0.0, 0.0)))
    bpy.ops.contact_lens.measure_overlap()
    deepest = lens.live.follow_measures.valid(bpy.context).deepest
    picture = layers.deepest_geometry.deepest_picture(deepest, lens.data.units.UnitFormat())
    assert [line.role for line in picture.lines] == ["a", "b"]
    assert [label.text for label in picture.labels] == ["A 0.5 m deep", "B 0.5 m deep"]
    for line, found in zip(picture.lines, (deepest.of_a, deepest.of_b), strict=True):
        np.testing.assert_allclose(np.linalg.norm(np.diff(line.ends[0], axis=0)), found.distance, atol=1e-6)
        np.testing.assert_allclose(line.ends[0, 0], found.point)


def test_a_picture_of_the_contact_has_the_band_and_its_legend(graphics, empty_scene, tmp_path):  # noqa: F811
    pair = inspect(cube("A"), cube("B", (2.4, 0.0, 0.0)), clearance=1.0)
    bpy.ops.contact_lens.clearance_band()
    measures = lens.live.follow_measures.valid(bpy.context)

    def reds(render: Any, *given: Any) -> int:
        path = tmp_path / "picture.png"
        render(bpy.context, *given)
        image = bpy.data.images.load(str(path))
        pixels = np.array(image.pixels[:]).reshape(-1, 4)[:, :3]
        bpy.data.images.remove(image)
        return int((np.abs(pixels - layers.band_colors.BELOW_WANTED[:3]).max(axis=1) < 0.02).sum())

    path = str(tmp_path / "picture.png")
    with_legend = reds(lambda context: draw.picture.render_contact(context, path, *SIZE, measures=measures))
    without = reds(lambda context: draw.picture.render_contact(context, path, *SIZE))
    assert without == 0 < with_legend
    assert reds(lambda context: draw.picture.render_isolated(context, pair, path, *SIZE, measures)) > 0
