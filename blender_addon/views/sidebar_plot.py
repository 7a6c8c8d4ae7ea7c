# SPDX-License-Identifier: GPL-3.0-or-later
"""The plot of the active clash over frames, in sidebars.

Panels cannot draw, and Blender does not say where they are. So one leaves room with an icon of a colour of its own: the
plot is drawn over that wherever it is found in the sidebar.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import bpy
import bpy.utils.previews
import gpu
import numpy as np

from ..clashes import changes, check_settings
from ..clashes.stored_frames import StoredFrames, stored_frames
from ..data import messages
from ..data.look import Color
from ..data.objects import frame_of
from ..data.units import UnitFormat
from ..draw import overlay
from ..draw.frames_plot import ClashSeries, FramesPlot, PlotColors, frames_plot
from ..draw.label_sheet import Box
from ..layers.overlay_geometry import Style
from .view_room import WIDGET

HEIGHT = 5.0
"""Of the plot, in widget units."""
MARK: Color = (1.0, 0.0, 1.0, 1.0)
"""Of zeros and ones, which no colour management changes."""
SHADE = 0.4
"""By how much less it differs: Blender darkens the ends of what can be scrolled."""
BESIDE = 0.85
"""Between the edge of the sidebar and what is in a panel, in widget units."""

_icons: bpy.utils.previews.ImagePreviewCollection | None = None
_tabs: dict[int, str] = {}
"""In which panels have left room last, by the addresses of the regions: other tabs may show the colour too."""
_plots: dict[int, FramesPlot] = {}
"""As drawn last, by the addresses of the regions."""


def series_of(scene: bpy.types.Scene) -> ClashSeries | None:
    """Return what is known of the active clash over frames, grey where it is out of date; None without a clash, or of
    a check of one frame."""
    stored, clash = stored_frames(scene), check_settings.active_clash(scene)
    if stored is None or clash is None:
        return None
    is_outdated = changes.reason(scene, check_settings.of_scene(scene).active)[1] not in ("", messages.COMPARING)
    return _series(stored, clash.clash_id, "unknown" if is_outdated else clash.relation)


@lru_cache(2)
def _series(stored: StoredFrames, clash_id: str, relation: str) -> ClashSeries | None:
    over = stored.over(clash_id)
    return None if over is None else ClashSeries(over, stored.bounds(clash_id), stored.gaps(clash_id), relation)


def leave_room(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Put the room for the plot into a panel; empty room without one, so that nothing moves with the first click."""
    if _icons is not None and context.region is not None:
        _tabs[context.region.as_pointer()] = context.region.active_panel_category
        is_empty = series_of(context.scene) is None
        layout.template_icon(icon_value=0 if is_empty else _icons["mark"].icon_id, scale=HEIGHT)


def plot_at(region: bpy.types.Region, x: float, y: float) -> FramesPlot | None:
    """Return the plot at a pixel of a region; None where there is none."""
    plot = _plots.get(region.as_pointer())
    return plot if plot is not None and plot.box[0] <= x < plot.box[2] and plot.box[1] <= y < plot.box[3] else None


def draw(context: Any) -> None:
    """Draw the plot where a panel of the context's sidebar has left room for it."""
    region, scene, style = context.region, context.scene, overlay.style_of(context)
    size = region.width, region.height
    _plots.pop(region.as_pointer(), None)
    has_room = _icons is not None and _tabs.get(region.as_pointer()) == region.active_panel_category
    series = series_of(scene) if has_room else None
    box = None if series is None else _room(region, style.scale)
    if series is None or box is None:
        return
    theme = context.preferences.themes[0].user_interface.wcol_progress
    colors = PlotColors((*theme.inner[:3], 1.0), (*theme.text[:3], 1.0))
    font = overlay.measure(overlay.PROBE, style.look.label_size)
    plot = _plot(series, box, colors, style, UnitFormat.of_scene(scene), font)
    _plots[region.as_pointer()] = plot
    overlay.draw_notes(plot.notes, style, size)
    overlay.draw_notes(plot.playhead(frame_of(scene)), style, size)


@lru_cache(8)
def _plot(
    series: ClashSeries, box: Box, colors: PlotColors, style: Style, units: UnitFormat, font: tuple[float, float]
) -> FramesPlot:
    return frames_plot(series, box, colors, style, units, overlay.measure)


def _room(region: bpy.types.Region, scale: float) -> Box | None:
    """Return the box of the room in pixels of a region, whole where a part of it is in view; None without any."""
    across = _marked(int(0.5 * (region.width - WIDGET * scale)), 0, 1, region.height)
    if across is None:
        return None
    bottom, top = across
    sides = _marked(0, (bottom + top) // 2, region.width, 1)
    if sides is None or sides[1] - sides[0] < WIDGET * scale:
        return None
    left, right = sides
    if top - bottom < right - left:  # a part of the square is out of view
        bottom, top = (top - right + left, top) if bottom < region.height - top else (bottom, bottom + right - left)
    beside, middle = BESIDE * WIDGET * scale, 0.5 * (left + right)
    return (beside, float(bottom), 2.0 * middle - beside, float(top))


def _marked(x: int, y: int, width: int, height: int) -> tuple[int, int] | None:
    """Return where in a line of pixels, of what is drawn so far, the mark begins and ends."""
    buffer = gpu.state.active_framebuffer_get().read_color(x, y, width, height, 4, 0, "UBYTE")
    pixels = np.array(buffer.to_list(), dtype=np.uint8).reshape(-1, 4)
    is_mark = (np.abs(pixels[:, :3] / 255.0 - MARK[:3]) < SHADE).all(axis=1)
    found = np.flatnonzero(is_mark)
    return (int(found[0]), int(found[-1]) + 1) if len(found) else None


def register() -> None:
    global _icons
    _icons = bpy.utils.previews.new()
    preview: Any = _icons.new("mark")
    preview.image_size = (1, 1)
    preview.image_pixels_float = MARK


def unregister() -> None:
    global _icons
    if _icons is not None:
        bpy.utils.previews.remove(_icons)
        _icons = None
    _tabs.clear()
    _plots.clear()
