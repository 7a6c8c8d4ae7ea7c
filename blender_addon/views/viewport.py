# SPDX-License-Identifier: GPL-3.0-or-later
"""The 3D views: the overlay of what is shown now, and where the views look."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Vector

from ...core.trace import RegionStep
from ...core.types import FloatArray
from ..data.properties import pair
from ..draw import overlay
from ..draw.isolated_pair import background_of, draw_isolated
from ..draw.label_sheet import Box, Kept, LabelRoom
from ..draw.overlay import DrawingStage
from ..draw.overlay_shader import NOT_CUT, free
from ..draw.step_sheet import NO_PLATE, StepPlate, room_beside
from ..layers.overlay_geometry import NOW, Showing
from ..live import background, follow_measures, follow_pair, follow_steps, follow_volumes
from ..pair import session
from ..pair.inspection import Inspection
from ..study.picture import StudyPicture
from ..study.steps import Steps
from . import clash_dots, isolation, section, sidebar_plot
from .view_room import free_box, room_of

FILLED = 0.75
"""Of a view: the part for what it is moved to, beside which there is room for labels."""
FARTHER = 4.0
"""Both objects are in view where that takes at most so many times the distance of the smaller one."""
SENSOR = 36.0
"""Half of the longer side of what a view shows at a distance, times the lens."""
LEAST_ROOM = 0.2
"""Of half of the longer side of a view: taken where panels leave less."""
LEAST_DISTANCE = 1e-6
"""Blender units."""
_STAGES: tuple[tuple[DrawingStage | None, Any, Any], ...] = (
    (DrawingStage.WORLD, "WINDOW", "POST_VIEW"),
    (DrawingStage.LABELS, "WINDOW", "POST_PIXEL"),
    (None, "UI", "POST_PIXEL"),
)
"""What is drawn into which region, and when."""
_handles: list[tuple[object, Any]] = []
_error = ""
_kept: dict[tuple[int, str], Kept] = {}
"""Of each region of a 3D view, for the labels of the contact, of the steps and of the volumes."""


def error() -> str:
    """Return why the overlay is not drawn, for the panel; empty when it is."""
    return _error


def _draw(part: DrawingStage | None) -> None:
    """Draw a part of a view, None: of a sidebar."""
    global _error
    if _error:
        return
    try:
        if part is None:
            sidebar_plot.draw(bpy.context)
            return
        _draw_current(bpy.context, part)
        if DrawingStage.LABELS in part:
            _draw_progress(bpy.context)
    except Exception as error:
        # The outermost frame: the same error would come again with every redraw. Report it once in the panel and stop.
        traceback.print_exc()
        if part is None:  # the overlay does without
            sidebar_plot.unregister()
            return
        _error = f"The overlay cannot be drawn ({error}): disable and enable the add-on to retry"


def _draw_current(context: Any, part: DrawingStage) -> None:
    if not context.space_data.overlay.show_overlays:
        return
    scene, is_world = context.scene, DrawingStage.WORLD in part
    section.follow(scene)
    volumes = follow_volumes.current(scene)
    inspection = session.current(context) if scene.contact_lens.show_overlay else None
    shown, has_dots = follow_steps.current(scene), clash_dots.is_shown(context)
    if volumes is None and inspection is None and shown is None and not has_dots:
        return
    # In quad view every quarter comes here with its own region and region data.
    view, projection = (
        np.array(matrix, dtype=np.float64)
        for matrix in (context.region_data.view_matrix, context.region_data.window_matrix)
    )
    size, style = (context.region.width, context.region.height), overlay.style_of(context)
    is_isolated = inspection is not None and _has_ghost(context)
    cut = None if section.unsupported_reason(context.area) else section.of_view(context.region_data)
    plane = NOT_CUT if cut is None else cut.plane.astype(np.float64)
    if is_world and is_isolated and inspection is not None:
        steps = isolation.steps(pair(scene), inspection)
        draw_isolated(inspection, style, background_of(context), view, projection, size, steps, plane)
    measures = follow_measures.valid(context) if inspection is not None else None
    if is_world and inspection is not None and cut is not None and not session.is_stale(context):
        surface = measures.surface if measures is not None and style.show_overlap else None
        overlay.draw_section(section.drawn(cut, inspection, surface), style, view, projection, size)
    if has_dots and is_world:
        clash_dots.draw(context, view, projection, size, is_isolated)
    if volumes is not None and is_world:
        overlay.draw_volumes(volumes, style, view, projection, size)
    if inspection is not None and measures is not None and measures.band is not None and is_world:
        overlay.draw_band(measures.band, inspection, view, projection, size, plane)
    room = room_of(context) if DrawingStage.LABELS in part else None
    studies: dict[str, tuple[StudyPicture, StepPlate]] = {}
    if shown is not None:
        plate = NO_PLATE if room is None else overlay.plate_of(*shown, style, room)
        studies["steps"] = shown[0].picture(shown[1]), plate
    if inspection is not None and measures is not None and (measures.band or measures.deepest):
        above = room and _above(room, [plate for _, plate in studies.values()])
        studies["measures"] = overlay.measured(measures, inspection, style, above)
    if volumes is not None:
        studies["volumes"] = volumes.picture_of(context.window_manager.contact_lens_test), NO_PLATE
    region = context.region.as_pointer()
    others: tuple[Box, ...] = ()
    if inspection is not None:
        kept = _kept.setdefault((region, "contact"), Kept())
        where, of_contact = room, style
        if shown is not None:
            of_contact = overlay.beside_steps(style, _is_result(*shown))
            where = where and room_beside(*studies["steps"], projection @ view, size, where)
        if "measures" in studies:
            where = where and room_beside(*studies["measures"], projection @ view, size, where)
        showing = _showing(context, inspection)
        overlay.draw(inspection, of_contact, view, projection, size, part, where, showing, kept, measures, plane)
        others = kept.notes.boxes if kept.notes is not None else ()
    for name, study in studies.items():
        kept = _kept.setdefault((region, name), Kept())
        overlay.draw_study(*study, style, view, projection, size, part, room, kept, others)
        others = (*others, *(kept.notes.boxes if kept.notes is not None else ()))


def _above(room: LabelRoom, plates: Iterable[StepPlate]) -> LabelRoom:
    """Return the room that plates at the bottom of a view leave."""
    return replace(room, taken=(*room.taken, *(plate.box for plate in plates)))


def _is_result(steps: Steps, number: int) -> bool:
    """Return whether a step is the contact that was found."""
    step = steps.trace.steps[steps.shown[number]]
    return isinstance(step, RegionStep) and step.stage == "result"


def _draw_progress(context: Any) -> None:
    """Draw the progress of what operators wait for: seen whatever the sidebar shows."""
    if not context.space_data.overlay.show_overlays:
        return
    for number, flow in enumerate(background.shown_flows(context.scene)):
        size, room, style = (context.region.width, context.region.height), room_of(context), overlay.style_of(context)
        left, bottom, right, top = room.free
        shown, measures = follow_steps.current(context.scene), follow_measures.valid(context)
        inspection = session.current(context) if context.scene.contact_lens.show_overlay else None
        plates = [] if shown is None else [overlay.plate_of(*shown, style, room)]
        if inspection is not None and measures is not None:
            plates.append(overlay.measured(measures, inspection, style, _above(room, plates))[1])
        bottom = max(bottom, *(plate.box[3] for plate in plates), 0.0)
        overlay.draw_progress(flow.status, flow.progress, number, style, (left, bottom, right, top), size)


def _has_ghost(context: Any) -> bool:
    """Return whether all but the pair is faded: not where the user wants to see through what is in front."""
    shading = context.space_data.shading
    is_see_through = shading.type == "WIREFRAME" or (shading.type == "SOLID" and shading.show_xray)
    return context.scene.contact_lens_check.ghost and not is_see_through and isolation.is_isolated(context)


def _showing(context: Any, inspection: Inspection) -> Showing:
    """Return how far a result is of the scene as it is now."""
    status = follow_pair.status(context)
    if not (status.is_outdated or status.is_pending):
        return NOW
    return Showing(status.is_outdated, status.is_pending, isolation.steps(pair(context.scene), inspection))


def register() -> None:
    for part, region, stage in _STAGES:
        _handles.append((bpy.types.SpaceView3D.draw_handler_add(_draw, (part,), region, stage), region))


def unregister() -> None:
    """Stop drawing and free everything on the GPU."""
    global _error
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(*_handles.pop())
    free()
    _kept.clear()
    clash_dots.drop()
    _error = ""


def areas(context: bpy.types.Context) -> list[bpy.types.Area]:
    """Return the 3D views of the window."""
    return [] if context.screen is None else [area for area in context.screen.areas if area.type == "VIEW_3D"]


def frame(
    areas: Iterable[bpy.types.Area], center: FloatArray, contact: FloatArray, objects: Sequence[FloatArray]
) -> None:
    """Look at the center (3,) of a contact, out of a camera too, from where both objects are in view, or the smaller
    one if the other is far larger, beside what Blender shows over the view.

    contact: (n, 3), what else is to be seen; objects: (n, 3) points of each, none where they are not known.
    """
    boxes = [_corners(points) for points in objects]
    smaller = min(boxes, key=lambda box: float(np.ptp(box, axis=0).max()), default=contact)
    for area in areas:
        space = cast(bpy.types.SpaceView3D, area.spaces.active)
        view = space.region_3d
        if view.view_perspective == "CAMERA":
            view.view_perspective = "PERSP"
        turn = np.array(view.view_rotation.to_matrix(), dtype=np.float64)
        room = _room(area, space.lens)
        near, far = (
            _distance((np.concatenate([contact, *shown]) - center) @ turn, room, view.is_perspective)
            for shown in ([smaller], boxes)
        )
        view.view_location = Vector(center.tolist())
        view.view_distance = far if far <= FARTHER * near else near


def _corners(points: FloatArray) -> FloatArray:
    """Return the corners (8, 3) of the box around points."""
    return np.array(list(product(*zip(points.min(axis=0), points.max(axis=0), strict=True))))


def _room(area: bpy.types.Area, lens: float) -> FloatArray:
    """Return how far there is room left, below, right and above (4,) of what a view looks at, at the distance 1."""
    window = [region for region in area.regions if region.type == "WINDOW"][-1]  # of a quad view that which turns
    left, bottom, right, top = free_box(area, window)
    middle = 0.5 * np.array((window.width, window.height, window.width, window.height))
    sides = np.array((-1.0, -1.0, 1.0, 1.0)) * (np.array((left, bottom, right, top)) - middle)
    half = 0.5 * max(window.width, window.height, 1)
    return np.maximum(FILLED * sides / half, LEAST_ROOM) * SENSOR / lens


def _distance(points: FloatArray, room: FloatArray, is_perspective: bool) -> float:
    """Return from how far points (n, 3) are in view; points: from what it looks at to the right, up, to the viewer."""
    reach = np.concatenate((-points[:, :2], points[:, :2]), axis=1) / room
    if is_perspective:
        reach += points[:, 2:]
    return max(float(reach.max()), LEAST_DISTANCE)
