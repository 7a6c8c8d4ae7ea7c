# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: the contact drawn over a view.

`draw` is the one drawing function: the viewport, the picture of `snapshot` and the tests call it with a result, a
style and the view. The handlers at the end call it for every 3D view.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from enum import Flag, auto
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from mathutils import Matrix

from ...core.types import FloatArray
from ..check import session
from ..check.volumes import VolumesView
from ..data import preferences
from ..data.units import UnitFormat
from ..ui import refresh, volumes_follow
from . import isolated_pair as exhibit
from .overlay_geometry import Annotations, Box, Layer, Style, Subject, annotate, layers, origin
from .overlay_shader import Pen, builds, free, kept, layers_on_gpu
from .volumes_geometry import middle, volume_layers

__all__ = ["Part", "builds", "draw", "draw_volumes", "free", "kept", "register", "style_of", "trouble", "unregister"]

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
    inspection: Subject,
    style: Style,
    view_matrix: FloatArray,
    projection_matrix: FloatArray,
    size: tuple[int, int],
    length: Callable[[float], str],
    part: Part = Part.ALL,
    clear: Box | None = None,
    stale: bool = False,
) -> None:
    """Draw the contact into the active framebuffer, over what is there; its depth decides what is in front.

    view_matrix, projection_matrix: (4, 4) world to view and view to clip space. size: width and height in pixels.
    length: writes a length in the scene's units. clear: the part of the view that nothing covers, see `annotate`.
    stale: the result may no longer hold, so it is faded and its label says so.
    """
    view = np.array(view_matrix, dtype=np.float64)
    projection = np.array(projection_matrix, dtype=np.float64)
    blend, depth_test = gpu.state.blend_get(), gpu.state.depth_test_get()
    depth_mask = gpu.state.depth_mask_get()
    try:
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_mask_set(False)
        if Part.WORLD in part:
            _draw_world(inspection, style, view, projection, size, STALE_OPACITY if stale else 1.0)
        if Part.LABELS in part:
            gpu.state.depth_test_set("NONE")
            notes = annotate(inspection, style, view, projection, size, measure, length, clear, stale)
            _draw_labels(notes, size, max(1.0, style.scale))
    finally:
        gpu.state.blend_set(blend)  # type: ignore[arg-type]
        gpu.state.depth_test_set(depth_test)  # type: ignore[arg-type]
        gpu.state.depth_mask_set(depth_mask)


def measure(text: str, size: float) -> tuple[float, float]:
    """Width and height in pixels of a text `size` pixels high."""
    blf.size(FONT, size)
    width, height = blf.dimensions(FONT, text)
    return float(width), float(height)


def draw_volumes(
    volumes: VolumesView, style: Style, view_matrix: FloatArray, projection_matrix: FloatArray, size: tuple[int, int]
) -> None:
    """Draw bounding volumes into the active framebuffer, over what is there. The arguments are those of `draw`."""
    blend, depth_test = gpu.state.blend_get(), gpu.state.depth_test_get()
    depth_mask = gpu.state.depth_mask_get()
    try:
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_mask_set(False)
        on_gpu = layers_on_gpu((volumes, style), lambda: volume_layers(volumes, style.look, style.scale))
        view, projection = np.array(view_matrix, dtype=np.float64), np.array(projection_matrix, dtype=np.float64)
        _draw_layers(on_gpu, middle(volumes), view, projection, size, 1.0)
    finally:
        gpu.state.blend_set(blend)  # type: ignore[arg-type]
        gpu.state.depth_test_set(depth_test)  # type: ignore[arg-type]
        gpu.state.depth_mask_set(depth_mask)


def _draw_world(
    inspection: Subject, style: Style, view: FloatArray, projection: FloatArray, size: tuple[int, int], opacity: float
) -> None:
    on_gpu = layers_on_gpu((inspection, style), lambda: layers(inspection, style))
    _draw_layers(on_gpu, origin(inspection), view, projection, size, opacity)


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


# --- in the viewport ------------------------------------------------------------------------------------------------

_handlers: list[object] = []
_trouble = ""


def trouble() -> str:
    """Why the overlay is not drawn, for the panel; empty when all is well."""
    return _trouble


def _clear_part(area: bpy.types.Area, window: bpy.types.Region) -> Box:
    """The part of a 3D view that its sidebar, toolbar and headers leave free, in pixels of its window region."""
    left, bottom, right, top = 0, 0, window.width, window.height
    for region in area.regions:
        if region.type not in {"UI", "TOOLS", "HEADER", "TOOL_HEADER", "ASSET_SHELF"} or region.width <= 1:
            continue
        x, y = region.x - window.x, region.y - window.y
        if x >= window.width or y >= window.height or x + region.width <= 0 or y + region.height <= 0:
            continue
        if region.alignment == "RIGHT":
            right = min(right, x)
        elif region.alignment == "LEFT":
            left = max(left, x + region.width)
        elif region.alignment == "TOP":
            top = min(top, y)
        elif region.alignment == "BOTTOM":
            bottom = max(bottom, y + region.height)
    if right - left < 0.3 * window.width or top - bottom < 0.3 * window.height:
        return (0.0, 0.0, float(window.width), float(window.height))
    return (float(left), float(bottom), float(right), float(top))


def _draw_in_view(part: Part) -> None:
    global _trouble
    if _trouble:
        return
    try:
        _draw_current(bpy.context, part)
    except Exception as error:
        # The outermost frame: whatever went wrong would come again with every redraw. Say it once, draw no more, and
        # let the panel tell.
        traceback.print_exc()
        _trouble = f"The overlay cannot be drawn ({error}). Enable the add-on again to retry"


def _draw_current(context: Any, part: Part) -> None:
    if not context.space_data.overlay.show_overlays:
        return
    scene, world = context.scene, Part.WORLD in part
    shown = exhibit.current(context)
    apart = shown if world and shown is not None and scene.contact_lens_check.ghost else None
    volumes = volumes_follow.current(scene) if world else None
    subject: Subject | None = None
    if scene.contact_lens.show_overlay:
        # A pair of objects is inspected, and its result follows what they do.
        subject = shown if shown is not None and shown.of_instances else session.current(context)
    if apart is None and volumes is None and subject is None:
        return
    # In quad view every quarter comes here with its own region and region data.
    view, projection = (
        np.array(matrix, dtype=np.float64)
        for matrix in (context.region_data.view_matrix, context.region_data.window_matrix)
    )
    size, style = (context.region.width, context.region.height), style_of(context)
    if apart is not None:
        steps = exhibit.steps(context, apart)
        exhibit.draw_apart(apart, style, exhibit.background_of(context), view, projection, size, steps)
    if volumes is not None:
        draw_volumes(volumes, style, view, projection, size)
    if subject is not None:
        stale = exhibit.is_moved(context, shown) if subject is shown else bool(refresh.outdated(context))
        clear = _clear_part(context.area, context.region) if Part.LABELS in part else None
        draw(subject, style, view, projection, size, UnitFormat.of_scene(scene).length, part, clear, stale)


def register() -> None:
    """Draw in every 3D view from now on."""
    for part, stage in ((Part.WORLD, "POST_VIEW"), (Part.LABELS, "POST_PIXEL")):
        _handlers.append(bpy.types.SpaceView3D.draw_handler_add(_draw_in_view, (part,), "WINDOW", stage))


def unregister() -> None:
    """Stop drawing and let go of everything on the GPU."""
    global _trouble
    while _handlers:
        bpy.types.SpaceView3D.draw_handler_remove(_handlers.pop(), "WINDOW")
    free()
    _trouble = ""
