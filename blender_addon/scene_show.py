# SPDX-License-Identifier: GPL-3.0-or-later
"""What a click on a finding does: select the pair, put it into the pickers, move the views to it, ghost the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import bpy
import numpy as np
from mathutils import Vector

from . import refresh, session
from .inspection import inspect
from .read import ReadError

if TYPE_CHECKING:
    from .scene_results import ContactLensFinding

GHOST_ALPHA = 0.25
SIZES = 3.0
"""How many times the size of what is told of a contact the view shows."""


def redraw() -> None:
    refresh.redraw()


def objects_of(finding: ContactLensFinding) -> list[bpy.types.Object]:
    """The objects of a pair that are still there; of an instance what makes it."""
    return [obj for obj in (finding.object_a, finding.object_b) if obj is not None]


def is_pair_of_objects(finding: ContactLensFinding) -> bool:
    """Whether the pair are two objects, not instances, that can be inspected and moved."""
    return len(objects_of(finding)) == 2 and not finding.instance_a and not finding.instance_b


def show(context: bpy.types.Context, finding: ContactLensFinding) -> str:
    """Select the pair, inspect it and move the views to it. Returns what cannot be shown, or an empty string."""
    layer = context.view_layer
    pair = [obj for obj in objects_of(finding) if layer.objects.get(obj.name) == obj]
    if context.mode == "OBJECT" and pair:
        for obj in list(layer.objects.selected):
            obj.select_set(False)
        for obj in pair:
            obj.select_set(True)
        layer.objects.active = pair[0]
    problem = ""
    if is_pair_of_objects(finding) and len(pair) == 2:
        settings = session.settings_of(context.scene)
        settings.object_a, settings.object_b = pair
        try:
            inspect(context, pair[0], pair[1], settings.as_settings())
        except ReadError as error:
            problem = str(error)
            session.drop_result(context.scene)
            session.set_error(context.scene, problem)
    elif len(pair) < 2:
        problem = "An object of this pair is gone"
    frame(context, finding, pair)
    redraw()
    return problem


def frame(context: bpy.types.Context, finding: ContactLensFinding, pair: list[bpy.types.Object]) -> None:
    """Move the 3D views of the window to where the pair meets."""
    row = json.loads(finding.data)
    points = np.array([row["point_on_a"], row["point_on_b"]], dtype=np.float64)
    # What is told of a contact may be a point: show a good part of the smaller object around it.
    sizes = [float(np.linalg.norm(np.ptp(np.array(_corners(obj)), axis=0))) for obj in pair]
    radius = max(float(np.linalg.norm(points[1] - points[0])), 0.5 * min(sizes, default=1.0), 1e-6)
    for space in views(context):
        view = space.region_3d
        if view.view_perspective == "CAMERA":
            view.view_perspective = "PERSP"
        view.view_location = Vector(points.mean(axis=0).tolist())
        view.view_distance = SIZES * radius * space.lens / 50.0


def _corners(obj: bpy.types.Object) -> list[tuple[float, ...]]:
    if obj.type == "EMPTY":  # what makes instances has no size of its own
        size = float(obj.empty_display_size)
        return [(-size, -size, -size), (size, size, size)]
    return [(obj.matrix_world @ Vector(corner)).to_tuple() for corner in obj.bound_box]


def views(context: bpy.types.Context) -> list[bpy.types.SpaceView3D]:
    """The 3D views of the window."""
    if context.screen is None:
        return []
    spaces = [area.spaces.active for area in context.screen.areas if area.type == "VIEW_3D"]
    return [cast(bpy.types.SpaceView3D, space) for space in spaces]


def ghost(context: bpy.types.Context, on: bool) -> None:
    """See through everything in the window's 3D views, or no longer; the overlay stays as bright as it is."""
    for space in views(context):
        space.shading.show_xray = on
        if on:
            space.shading.xray_alpha = GHOST_ALPHA
    redraw()
