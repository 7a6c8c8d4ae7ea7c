# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: the contact drawn over a view.

`draw` is the one drawing function: the viewport, the pictures of reports and the tests call it with a result, a style
and the view.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Flag, auto
from typing import Any

import blf
import gpu
import numpy as np
from mathutils import Matrix

from ...core.types import FloatArray
from ..check.inspection import Inspection
from ..check.volumes import VolumesView
from ..data import preferences
from .overlay_geometry import Layer, Style, layers, origin
from .overlay_labels import Annotations, Box, annotate
from .overlay_shader import Pen, layers_on_gpu, state_restored
from .volumes_geometry import middle, volume_layers

FONT = 0
STALE_OPACITY = 0.4
TOWARD_VIEWER = 1e-3
"""How much nearer to the viewer the bright pass is drawn, relative to the distance: hull edges lie exactly on mesh
edges and must win the depth test."""


class Part(Flag):
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
    length: Callable[[float], str],
    part: Part = Part.ALL,
    clear: Box | None = None,
    stale: bool = False,
) -> None:
    """Draw the contact into the active framebuffer, over what is there; its depth decides what is in front.

    view, projection: (4, 4) world to view and view to clip space, float64. size: width and height in pixels.
    length: writes a length in the scene's units. clear: the part of the view that nothing covers, see `annotate`.
    stale: the result may no longer hold, so it is faded and its label says so.
    """
    with state_restored():
        if Part.WORLD in part:
            on_gpu = layers_on_gpu((inspection, style), lambda: layers(inspection, style))
            opacity = STALE_OPACITY if stale else 1.0
            _draw_layers(on_gpu, origin(inspection), view, projection, size, opacity)
        if Part.LABELS in part:
            gpu.state.depth_test_set("NONE")
            notes = annotate(inspection, style, view, projection, size, measure, length, clear, stale)
            _draw_labels(notes, size, max(1.0, style.scale))


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
        _draw_layers(on_gpu, middle(volumes), view, projection, size, 1.0)


def _draw_layers(
    on_gpu: list[tuple[Layer, gpu.types.GPUBatch]],
    base: FloatArray,
    view: FloatArray,
    projection: FloatArray,
    size: tuple[int, int],
    opacity: float,
) -> None:
    """Draw layers whose glyphs are relative to `base`: faintly all of them, then in full what is in front."""
    # Far from the world's origin the view matrix loses nothing this way: the difference is taken in float64.
    local = view.copy()
    local[:3, 3] += view[:3, :3] @ base

    gpu.state.depth_test_set("NONE")
    pen = Pen(projection @ local, size)
    for layer, batch in on_gpu:
        if layer.halo > 0.0 and layer.hidden_halo:
            pen.draw(batch, opacity * layer.hidden, layer.halo)
        pen.draw(batch, opacity * layer.hidden)

    gpu.state.depth_test_set("LESS_EQUAL")
    pen = Pen(projection @ _nearer(local, projection), size)
    for layer, batch in on_gpu:
        if layer.halo > 0.0:
            pen.draw(batch, opacity, layer.halo)
        pen.draw(batch, opacity)


def _nearer(view: FloatArray, projection: FloatArray) -> FloatArray:
    """The view a little nearer to the viewer, with every point at the same pixel."""
    nearer = view.copy()
    if projection[3, 3] == 0.0:  # perspective: shrink towards the eye
        nearer[:3] *= 1.0 - TOWARD_VIEWER
    else:
        nearer[2, 3] += TOWARD_VIEWER * 2.0 / np.linalg.norm(projection[1, :3])
    return nearer


def _draw_labels(notes: Annotations, size: tuple[int, int], scale: float) -> None:
    pixels = np.diag([2.0 / size[0], 2.0 / size[1], -1.0, 1.0])
    pixels[:2, 3] = -1.0
    pen = Pen(pixels, size)
    pen.draw_once(notes.marks, halo=scale)
    pen.draw_once(notes.plates)
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
        show_region=shown.show_region,
        show_points=shown.show_points,
        show_witness=shown.show_witness,
        show_vector=shown.show_vector,
        show_labels=shown.show_labels,
        show_ties=shown.show_ties,
    )
