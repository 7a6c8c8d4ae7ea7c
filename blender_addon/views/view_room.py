# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a 3D view has room for labels: beside Blender's own headers, panels, text and gizmos."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ..draw.label_sheet import Box, LabelRoom
from ..draw.overlay import measure

MAIN = 0
"""Which quarter of a quad view has what is written once: at the bottom left, beside all panels."""
WIDGET = 20.0
"""Pixels at interface scale 1: Blender's unit of its interface."""
LINE = 0.9
"""Height of a line of Blender's text in a view, in widget units."""
TEXT_LINES = 4
"""Lines that Blender may write: name of the view, active object, grid, engine."""
STATISTICS_LINES = 8
STATISTICS_WIDTH = 12.0
"""In widget units."""
TEXT_SIZE = 11.0
"""Pixels at interface scale 1, as in Blender's default theme."""
GIZMO_MARGIN = 1.0
"""Around the axes of navigation, in widget units."""
BUTTON = 1.9
"""Height of a button of navigation, in widget units."""
BUTTONS = 5
SIDES = {"LEFT": 0, "BOTTOM": 1, "RIGHT": 2, "TOP": 3}
"""Which number of a box is cut by a region with this alignment."""


def room_of(context: Any) -> LabelRoom:
    """Return where labels may be in the context's region of a 3D view, in its pixels."""
    free, floating = _free(context.area, context.region)
    views = [region for region in context.area.regions if region.type == "WINDOW"]
    is_main = len(views) == 1 or context.region == views[MAIN]
    return LabelRoom(free, (*floating, *_text(context, free), *_gizmo(context, free)), is_main=is_main)


def free_box(area: bpy.types.Area, window: bpy.types.Region) -> Box:
    """Return the part of a region of a 3D view, in its pixels, over which Blender has no headers and panels."""
    return _free(area, window)[0]


def _free(area: bpy.types.Area, window: bpy.types.Region) -> tuple[Box, list[Box]]:
    return cut((0.0, 0.0, float(window.width), float(window.height)), _regions(area, window))


def _regions(area: bpy.types.Area, window: bpy.types.Region) -> Iterable[tuple[str, Box]]:
    """Return the alignments and boxes, in pixels of `window`, of an area's other regions."""
    for region in area.regions:
        if region.type != "WINDOW" and region.width > 1 and region.height > 1:
            x, y = float(region.x - window.x), float(region.y - window.y)
            yield region.alignment, (x, y, x + region.width, y + region.height)


def cut(view: Box, regions: Iterable[tuple[str, Box]]) -> tuple[Box, list[Box]]:
    """Return what regions leave of a view, those at its sides cut off, and the boxes of those that float in it."""
    free, floating = list(view), []
    for alignment, (left, bottom, right, top) in regions:
        if left >= view[2] or bottom >= view[3] or right <= view[0] or top <= view[1]:
            continue
        if alignment not in SIDES:
            floating.append((left, bottom, right, top))
            continue
        side = SIDES[alignment]
        # What lies at the left ends where its right side is, and so on.
        edge = (right, top, left, bottom)[side]
        if (edge >= view[side + 2]) if side < 2 else (edge <= view[side - 2]):
            continue  # Blender does not draw a region that has no room
        free[side] = max(free[side], edge) if side < 2 else min(free[side], edge)
    left, bottom, right, top = free
    return (left, bottom, max(left, right), max(bottom, top)), floating


def _text(context: Any, free: Box) -> list[Box]:
    """Return the box of the text that Blender writes at the top left of a view."""
    overlay, preferences = context.space_data.overlay, context.preferences
    scale = max(1.0, preferences.system.ui_scale)
    unit, size = WIDGET * scale, TEXT_SIZE * scale
    lines, width = 0.0, 0.0
    if overlay.show_text:
        scene, active = context.scene, context.view_layer.objects.active
        name = f"({scene.frame_current}) {context.view_layer.active_layer_collection.name} | "
        words = ("Camera Perspective (Local)", name + (active.name if active else ""))
        lines, width = TEXT_LINES, max(measure(text, size)[0] for text in words) + 2.0 * unit
    if overlay.show_stats:
        lines, width = lines + STATISTICS_LINES, max(width, STATISTICS_WIDTH * unit)
    if not lines:
        return []
    return [(free[0], free[3] - (lines * LINE + 0.5) * unit, free[0] + width, free[3])]


def _gizmo(context: Any, free: Box) -> list[Box]:
    """Return the box of the axes and buttons of navigation at the top right of a view."""
    space, preferences = context.space_data, context.preferences
    if not (space.show_gizmo and space.show_gizmo_navigate):
        return []
    unit = WIDGET * max(1.0, preferences.system.ui_scale)
    axes = preferences.view.gizmo_size_navigate_v3d / WIDGET + GIZMO_MARGIN
    buttons = BUTTONS * BUTTON if preferences.view.show_navigate_ui else 0.0
    if context.region_data.lock_rotation:  # a quarter of a quad view has two buttons and no axes
        return [(free[2] - 2.0 * BUTTON * unit, free[3] - 2.5 * BUTTON * unit, free[2], free[3])]
    return [(free[2] - axes * unit, free[3] - (axes + buttons) * unit, free[2], free[3])]
