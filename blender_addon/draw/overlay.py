# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: the contact drawn over a view.

`draw` is the one drawing function: the viewport, the pictures of reports and the tests call it with a result, a style
and the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Flag, auto
from functools import cache, lru_cache
from typing import Any
from weakref import ref

import blf
import gpu
import numpy as np
from mathutils import Matrix

from ...core.measures.clearance_band import ClearanceBand
from ...core.types import FloatArray
from ..data import preferences
from ..data.look import Color
from ..geometry.shape_outline import fan
from ..layers.band_colors import BandScale
from ..layers.band_geometry import band_layers, scale_of, title_of
from ..layers.clash_dots import ClashDots, ClashOutlines
from ..layers.deepest_geometry import deepest_picture
from ..layers.glyphs import RING, concatenate, fills, marks, strokes
from ..layers.overlap_geometry import overlap_layers
from ..layers.overlay_geometry import NOW, Layer, Showing, Style, layers, origin
from ..layers.section_geometry import PairSection, section_layers
from ..layers.study_geometry import middle, origin_of, study_layers, volume_layers
from ..measure.pair_measures import PairMeasures
from ..pair.inspection import Inspection
from ..study.picture import StudyPicture
from ..study.steps import Steps
from ..study.volumes import VolumesView
from .band_legend import band_legend
from .label_sheet import PLATE_COLOR, SIZES, Annotations, Box, Kept, LabelRoom, Text, flat
from .overlay_labels import TEXT_COLOR, annotate
from .overlay_shader import NOT_CUT, Pen, batches_of, layers_on_gpu, state_restored
from .step_sheet import NO_PLATE, StepPlate, annotate_steps, corners_of, step_plate

FONT = 0
PROBE = "Mixed 0.1"
"""Letters by whose size is seen whether the user has chosen another font."""
STALE_OPACITY = 0.4
NOTHING = StudyPicture()
PROGRESS_COLOR: Color = (0.22, 0.40, 0.66, 1.0)
PROGRESS_RADIUS = 1.2
"""Half the height of a bar of progress, relative to that of its text."""
RING_GAP, RING_LINE = 9.0, 2.0
"""Pixels at interface scale 1: how much wider a ring is than what is in it, and its line."""
LINE_STEP = 1.45
"""From line to line of text, relative to its size."""
TOWARD_VIEWER = 1e-3
"""How much nearer to the viewer the bright pass is drawn, relative to the distance: hull edges lie exactly on mesh
edges and must win the depth test."""
HIDDEN_BY = 2e-2
"""How far behind a surface something is at least that counts as hidden, relative to the distance: the edges of a mesh
are not hidden by the faces beside them, slanted as these may be."""


class DrawingStage(Flag):
    """What to draw: Blender has depth in one stage of a view's drawing and colours for text in another."""

    WORLD = auto()
    LABELS = auto()
    ALL = WORLD | LABELS


def draw(
    inspection: Inspection,
    style: Style,
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    part: DrawingStage = DrawingStage.ALL,
    room: LabelRoom | None = None,
    showing: Showing = NOW,
    kept: Kept | None = None,
    measures: PairMeasures | None = None,
    cut: FloatArray = NOT_CUT,
) -> None:
    """Draw the contact into the active framebuffer, over what is there; its depth decides what is in front.

    view, projection: (4, 4) world to view and view to clip space, float64. size: width and height in pixels.
    room: where labels may be; None: anywhere. showing: how far the result is of the scene as it is now.
    kept: where the labels were in the last picture of the view; brought up to date. measures: of the inspection.
    cut: (4,) a plane, world frame: areas and the body of an overlap are drawn on its positive side only.
    """
    with state_restored():
        if DrawingStage.WORLD in part:
            on_gpu = layers_on_gpu((inspection, style, measures), lambda: _pair_layers(inspection, style, measures))
            _draw_layers(on_gpu, origin(inspection), view, projection, size, showing, cut)
        if DrawingStage.LABELS in part:
            gpu.state.depth_test_set("NONE")
            notes = _annotations(inspection, style, view, projection, size, room, showing, kept or Kept(), measures)
            _draw_labels(notes, size, max(1.0, style.scale), STALE_OPACITY if showing.is_stale else 1.0)


def _pair_layers(inspection: Inspection, style: Style, measures: PairMeasures | None) -> list[Layer]:
    body = [] if measures is None else overlap_layers(measures, style)
    return [*body, *layers(inspection, style, measures)]


def _annotations(
    inspection: Inspection,
    style: Style,
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    room: LabelRoom | None,
    showing: Showing,
    kept: Kept,
    measures: PairMeasures | None,
) -> Annotations:
    """Return what depends on the view: that of the last picture if all that it depends on is the same."""
    font = measure(PROBE, style.look.label_size)
    # A region that is not drawn again keeps no result.
    made_of = (
        ref(inspection),
        measures and ref(measures),
        style,
        view.tobytes(),
        projection.tobytes(),
        size,
        room,
        showing.key(),
        font,
    )
    if kept.notes is None or kept.made_of != made_of:
        kept.notes = annotate(inspection, style, view, projection, size, measure, room, showing, kept, measures)
        kept.made_of = made_of
    return kept.notes


def measure(text: str, size: float) -> tuple[float, float]:
    """Width and height in pixels of a text `size` pixels high."""
    blf.size(FONT, size)
    width, height = blf.dimensions(FONT, text)
    return float(width), float(height)


def draw_volumes(
    volumes: VolumesView, style: Style, view: FloatArray, projection: FloatArray, size: tuple[int, int]
) -> None:
    """Draw bounding volumes into the active framebuffer, over what is there. The arguments are those of `draw`."""
    with state_restored():
        on_gpu = layers_on_gpu((volumes, style), lambda: volume_layers(volumes, style.look, style.scale))
        _draw_layers(on_gpu, middle(volumes.segments.reshape(-1, 3)), view, projection, size, NOW)


def draw_section(
    section: PairSection, style: Style, view: FloatArray, projection: FloatArray, size: tuple[int, int]
) -> None:
    """Draw where a plane cuts A and B into the active framebuffer, behind what is in front of it. The arguments are
    those of `draw`."""
    with state_restored():
        on_gpu = layers_on_gpu((section, style), lambda: section_layers(section, style.look, style.scale))
        _draw_layers(on_gpu, section.origin, view, projection, size, NOW)


def draw_study(
    picture: StudyPicture,
    plate: StepPlate,
    style: Style,
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    part: DrawingStage = DrawingStage.ALL,
    room: LabelRoom | None = None,
    kept: Kept | None = None,
    others: tuple[Box, ...] = (),
) -> None:
    """Draw a picture for study into the active framebuffer, over what is there: a step of an algorithm, or of volumes.

    plate: what is written beside it. others: the plates of labels that are drawn already. The other arguments are those
    of `draw`.
    """
    with state_restored():
        if DrawingStage.WORLD in part:
            look, scale = style.look, style.scale
            on_gpu = layers_on_gpu((picture, look, scale), lambda: study_layers(picture, look, scale))
            _draw_layers(on_gpu, origin_of(picture), view, projection, size, NOW)
        if DrawingStage.LABELS in part:
            gpu.state.depth_test_set("NONE")
            room, kept = room or LabelRoom((0.0, 0.0, float(size[0]), float(size[1]))), kept or Kept()
            made_of = (ref(picture), ref(plate), style, view.tobytes(), projection.tobytes(), size, room, others)
            if kept.notes is None or kept.made_of != made_of:
                matrix = projection @ view
                kept.notes = annotate_steps(picture, plate, style, matrix, size, measure, room, others, kept)
                kept.made_of = made_of
            _draw_labels(kept.notes, size, max(1.0, style.scale), 1.0)


def draw_band(
    band: ClearanceBand,
    inspection: Inspection,
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    cut: FloatArray = NOT_CUT,
) -> None:
    """Draw a clearance band into the active framebuffer, on what is there. The arguments are those of `measured` and of
    `draw`. cut: (4,) a plane, world frame: only what is on its positive side is drawn."""
    scale = scale_of(band, inspection)
    with state_restored():
        on_gpu = layers_on_gpu((band, scale), lambda: band_layers(band, scale))
        _draw_layers(on_gpu, middle(band.points), view, projection, size, NOW, cut)


def measured(
    measures: PairMeasures, inspection: Inspection, style: Style, room: LabelRoom | None
) -> tuple[StudyPicture, StepPlate]:
    """Return what `draw_study` draws of measures: the deepest points, and the legend of the clearance band.

    inspection: that of the measures, with the names and units of now. room: None where nothing is written.
    """
    picture, plate, band = NOTHING, NO_PLATE, measures.band
    if measures.deepest is not None and style.show_deepest:
        picture = deepest_picture(measures.deepest, inspection.units)
    if band is not None and room is not None:
        font = measure(PROBE, style.look.label_size)
        plate = _legend_of(scale_of(band, inspection), title_of(band, inspection), style, room, font)
    return picture, plate


@lru_cache(8)
def _legend_of(scale: BandScale, title: str, style: Style, room: LabelRoom, font: tuple[float, float]) -> StepPlate:
    return band_legend(scale, title, style, room, measure)


def plate_of(steps: Steps, number: int, style: Style, room: LabelRoom) -> StepPlate:
    """Return what is written beside a step: the `bar_at` of it is what a click at a pixel of the view hits."""
    return _plate_of(steps, tuple(steps.shown), number, style, room, measure(PROBE, style.look.label_size))


@lru_cache(8)
def _plate_of(
    steps: Steps, shown: tuple[int, ...], number: int, style: Style, room: LabelRoom, font: tuple[float, float]
) -> StepPlate:
    return step_plate(steps, number, style, room, measure)


def beside_steps(style: Style, is_contact: bool) -> Style:
    """Return the style of the overlay while a step is shown: outlines and names, and all of it where the step is about
    the contact."""
    if is_contact:
        return style
    bare = replace(style, show_overlap=False, show_region=False, show_points=False, show_witness=False)
    return replace(bare, show_vector=False, show_ties=False)


def draw_progress(text: str, fraction: float, number: int, style: Style, free: Box, size: tuple[int, int]) -> None:
    """Draw a bar with the progress of work, and what it is, at the bottom of the free part of a view.

    number: of the bars below it. size: width and height of the view in pixels.
    """
    height = style.look.label_size * style.scale
    radius, width = PROGRESS_RADIUS * height, measure(text, height)[0]
    y = free[1] + (3.0 + 2.5 * number) * radius
    left, right = (0.5 * (free[0] + free[2] + side * width) for side in (-1.0, 1.0))
    begin, end, done = (flat((x, y)) for x in (left, right, left + fraction * (right - left)))
    plate = concatenate(
        [
            strokes(begin, end, PLATE_COLOR, 2.0 * radius),
            strokes(begin, done, PROGRESS_COLOR, 2.0 * radius - 2.5 * style.scale),
        ]
    )
    words = Text(text, round(left), round(y - 0.5 * SIZES.capitals * height), height, TEXT_COLOR)
    draw_notes(Annotations(concatenate([]), plate, (words,), ()), style, size)


def draw_notes(notes: Annotations, style: Style, size: tuple[int, int]) -> None:
    """Draw what is in pixels of a region, over all that is there; size: its width and height."""
    with state_restored():
        gpu.state.depth_test_set("NONE")
        _draw_labels(notes, size, style.scale, 1.0)


def draw_dots(
    dots: ClashDots,
    style: Style,
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    opacity: float = 1.0,
) -> None:
    """Draw a dot at each clash into the active framebuffer, over all that is there."""
    on_gpu = layers_on_gpu((dots, style.look, style.scale), lambda: [dots.layer(style.look, style.scale)])
    with state_restored():
        gpu.state.depth_test_set("NONE")
        for _, batch in on_gpu:
            Pen(projection @ _local(view, dots.origin, None, NOW), size).draw(batch, opacity)


def draw_outlines(
    outlines: ClashOutlines, style: Style, view: FloatArray, projection: FloatArray, size: tuple[int, int]
) -> None:
    """Draw the outlines of objects that clash into the active framebuffer. The arguments are those of `draw`."""
    with state_restored():
        look, scale = style.look, style.scale
        on_gpu = layers_on_gpu((outlines, look, scale), lambda: [outlines.layer(look, scale)])
        _draw_layers(on_gpu, outlines.origin, view, projection, size, NOW)


def draw_ring(center: FloatArray, diameter: float, style: Style, matrix: FloatArray, size: tuple[int, int]) -> None:
    """Draw a ring around a dot. center: (3,); diameter: of the dot; matrix: (4, 4) world to clip space."""
    wide, line = style.scale * (diameter + RING_GAP), 0.5 * style.scale * RING_LINE
    local = matrix.copy()
    local[:, 3] += matrix[:, :3] @ center
    with state_restored():
        gpu.state.depth_test_set("NONE")
        Pen(local, size).draw_once(marks(np.zeros(3), RING, TEXT_COLOR, wide, line), halo=1.5 * style.scale)


def draw_lines(
    lines: Sequence[str], pixel: FloatArray, distance: float, style: Style, free: Box, size: tuple[int, int]
) -> None:
    """Draw lines of text on a plate beside a pixel, at least so far away, in the free part of a view."""
    text_size, pad = style.look.label_size * style.scale, SIZES.plate_padding * style.scale
    step, away = LINE_STEP * text_size, distance + SIZES.label_distance * style.scale
    width = max(measure(line, text_size)[0] for line in lines) + 2.0 * pad
    height = step * len(lines) + 2.0 * pad
    left = pixel[0] + away if pixel[0] + away + width <= free[2] else pixel[0] - away - width
    left = max(left, free[0])
    bottom = min(max(pixel[1] - 0.5 * height, free[1]), free[3] - height)
    top = bottom + height
    plate = fills(fan(corners_of((left, bottom, left + width, top))), PLATE_COLOR)
    words = tuple(
        Text(line, round(left + pad), round(top - pad - (k + 0.8) * step), text_size, TEXT_COLOR)
        for k, line in enumerate(lines)
    )
    with state_restored():
        gpu.state.depth_test_set("NONE")
        _draw_labels(Annotations(concatenate([]), plate, words, ()), size, style.scale, 1.0)


def _draw_layers(
    on_gpu: list[tuple[Layer, gpu.types.GPUBatch]],
    base: FloatArray,
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    showing: Showing,
    cut: FloatArray = NOT_CUT,
) -> None:
    """Draw layers whose glyphs are relative to `base`: faintly what lies behind, then in full what is in front."""
    whole = projection @ _local(view, base, None, showing)
    zoom = 0.5 * size[1] * float(np.linalg.norm(whole[1, :3])) / max(abs(float(whole[3, 3])), 1e-30)
    shown = [(layer, batch, _opacity(layer, showing)) for layer, batch in on_gpu if layer.least_zoom <= zoom]
    shown = [(layer, batch, opacity) for layer, batch, opacity in shown if opacity > 0.0]

    cut_here = np.append(cut[:3], cut[:3] @ base + cut[3])

    @cache
    def pen_at(side: int | None, nearer: float) -> Pen:
        local = _local(view, base, side, showing)
        return Pen(projection @ (_nearer(local, projection, nearer) if nearer else local), size, cut_here)

    def pen_of(layer: Layer, nearer: float) -> Pen:
        # What has not moved is all in one place.
        return pen_at(None if showing.moved is None else layer.side, nearer)

    for layer, batch, opacity in shown:
        gpu.state.depth_test_set("GREATER" if layer.only_hidden else "NONE")
        pen = pen_of(layer, HIDDEN_BY if layer.only_hidden else 0.0)
        gpu.state.face_culling_set("BACK" if layer.is_culled else "NONE")
        if layer.halo > 0.0 and layer.hidden_halo:
            pen.draw(batch, opacity * layer.hidden, layer.halo)
        pen.draw(batch, opacity * layer.hidden)
    gpu.state.face_culling_set("NONE")
    gpu.state.depth_test_set("LESS_EQUAL")
    for layer, batch, opacity in shown:
        if layer.only_hidden or layer.is_through:
            continue
        pen = pen_of(layer, TOWARD_VIEWER)
        if layer.halo > 0.0:
            pen.draw(batch, opacity, layer.halo)
        pen.draw(batch, opacity)


def _opacity(layer: Layer, showing: Showing) -> float:
    """Return how strongly a layer is drawn: while a result is on its way only outlines, which are at A and B."""
    if showing.is_pending and layer.side is None:
        return 0.0
    return STALE_OPACITY if showing.is_stale else 1.0


def _local(view: FloatArray, base: FloatArray, side: int | None, showing: Showing) -> FloatArray:
    """Return the matrix (4, 4) that takes what is relative to `base`, and moves with A or B, into the view."""
    # Far from the world's origin the view matrix loses nothing this way: the difference is taken in float64.
    local = view.copy() if side is None or showing.moved is None else view @ showing.moved[side]
    local[:3, 3] += local[:3, :3] @ base
    return local


def _nearer(view: FloatArray, projection: FloatArray, fraction: float) -> FloatArray:
    """Return the view nearer to the viewer by a fraction of the distance, with every point at the same pixel."""
    nearer = view.copy()
    if projection[3, 3] == 0.0:  # perspective: shrink towards the eye
        nearer[:3] *= 1.0 - fraction
    else:
        nearer[2, 3] += fraction * 2.0 / np.linalg.norm(projection[1, :3])
    return nearer


def _draw_labels(notes: Annotations, size: tuple[int, int], scale: float, opacity: float) -> None:
    """Draw labels; opacity: of the marks beside them."""
    pixels = np.diag([2.0 / size[0], 2.0 / size[1], -1.0, 1.0])
    pixels[:2, 3] = -1.0
    pen = Pen(pixels, size)
    marks, plates = batches_of(notes, (notes.marks, notes.plates))
    if marks is not None:
        pen.draw(marks, opacity, scale)
        pen.draw(marks, opacity)
    if plates is not None:
        pen.draw(plates, 1.0)
    with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():  # type: ignore[attr-defined]
        gpu.matrix.load_matrix(Matrix.Identity(4))
        gpu.matrix.load_projection_matrix(Matrix(pixels.tolist()))
        gpu.state.blend_set("ALPHA")
        for text in notes.texts:
            blf.size(FONT, text.size)
            blf.color(FONT, *text.color)
            blf.position(FONT, text.x, text.y, 0.0)
            blf.draw(FONT, text.text)


def style_of(context: Any) -> Style:
    """The style set in the preferences and in the scene's toggles."""
    shown = context.scene.contact_lens
    return Style(
        look=preferences.look(context),
        # In background mode Blender says 0.
        scale=max(1.0, context.preferences.system.ui_scale),
        show_hulls=shown.show_hulls,
        show_overlap=shown.show_overlap,
        show_region=shown.show_region,
        show_points=shown.show_points,
        show_witness=shown.show_witness,
        show_vector=shown.show_vector,
        show_labels=shown.show_labels,
        show_ties=shown.show_ties,
        show_deepest=shown.show_deepest,
    )
