# SPDX-License-Identifier: GPL-3.0-or-later
"""What a click on a finding does: select the pair, put it into the pickers, show it, move the views to it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import bpy
import numpy as np
from mathutils import Vector

from . import exhibit, refresh, scene_check, scene_results, session
from .inspection import inspect
from .read import ReadError
from .units import UnitFormat

if TYPE_CHECKING:
    from .scene_results import ContactLensFinding

SIZES = 4.5
"""How many times the size of what is told of a contact the view shows."""


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
    problem, made = "", None
    if len(pair) < 2:
        problem = "An object of this pair is gone"
    else:
        try:
            made = _exhibit(context, finding)
        except ValueError as error:  # a ReadError among them
            problem = str(error)
    exhibit.show(context, made)
    if problem:
        session.drop_result(context.scene)
        session.set_error(context.scene, problem)
    frame(context, json.loads(finding.data), made)
    refresh.redraw()
    return problem


def _exhibit(context: bpy.types.Context, finding: ContactLensFinding) -> exhibit.Exhibit:
    """Return the pair as it is now; two objects are inspected. Raises ValueError, a sentence for the user."""
    keys = finding.key("a"), finding.key("b")
    settings = session.settings_of(context.scene)
    inspection = None
    if is_pair_of_objects(finding):
        settings.object_a, settings.object_b = finding.object_a, finding.object_b
        if finding.relation == "within_clearance":  # or the panel would call it separated
            settings.clearance = max(settings.clearance, scene_results.of_scene(context.scene).clearance)
        inspection = inspect(context, finding.object_a, finding.object_b, settings.as_settings())
    items = scene_check.items_of(context, [key for key in keys if key is not None])
    a, b = (items.get(key) for key in keys)
    if a is None or b is None:
        raise ReadError("What this finding is about is hidden or gone: check the scene again")
    if inspection is not None:
        return exhibit.of_inspection(inspection, a, b)
    rules = scene_results.of_scene(context.scene).as_rules(context)
    return exhibit.of_items(a, b, rules.clearance, rules.contact_tolerance, UnitFormat.of_scene(context.scene))


def frame(context: bpy.types.Context, row: dict[str, Any], shown: exhibit.Exhibit | None) -> None:
    """Move the 3D views of the window to where the pair meets."""
    points = np.array([row["point_on_a"], row["point_on_b"]], dtype=np.float64)
    if shown is not None:
        points = np.array([shown.contact.point_on_a, shown.contact.point_on_b], dtype=np.float64)
    # What is told of a contact may be a point: show a good part of the smaller object around it.
    size = 0.5 * shown.smaller if shown is not None else 0.5
    radius = max(float(np.linalg.norm(points[1] - points[0])), size, 1e-6)
    for space in views(context):
        view = space.region_3d
        if view.view_perspective == "CAMERA":
            view.view_perspective = "PERSP"
        view.view_location = Vector(points.mean(axis=0).tolist())
        view.view_distance = SIZES * radius * space.lens / 50.0


def views(context: bpy.types.Context) -> list[bpy.types.SpaceView3D]:
    """The 3D views of the window."""
    if context.screen is None:
        return []
    spaces = [area.spaces.active for area in context.screen.areas if area.type == "VIEW_3D"]
    return [cast(bpy.types.SpaceView3D, space) for space in spaces]
