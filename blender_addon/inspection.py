# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job: two objects in, everything known about their contact out."""

from __future__ import annotations

import time

import bpy

from ..core.contact import contact
from . import session
from .read import RESOLUTION_STEPS, ReadError, Shape, read
from .session import Inspection, Settings
from .units import UnitFormat


def inspect(context: bpy.types.Context, a: bpy.types.Object, b: bpy.types.Object, settings: Settings) -> Inspection:
    """Read A and B as they are now and find their contact; store it as the scene's result and return it.

    When nothing has changed since the last time, the result of then is returned.
    Raises ReadError, with a sentence for the user, when one of them cannot be inspected.
    """
    if a == b:
        raise ReadError(f"'{a.name}' cannot be inspected against itself: pick two objects")
    start = time.perf_counter()
    depsgraph = context.evaluated_depsgraph_get()
    shape_a, shape_b = read(a, depsgraph), read(b, depsgraph)
    seconds_read = time.perf_counter() - start
    inspection = session.stored(context.scene)
    if inspection is None or not _still_holds(inspection, a, b, shape_a, shape_b, settings):
        inspection = _inspect(a, b, shape_a, shape_b, settings, UnitFormat.of_scene(context.scene), seconds_read)
    session.store(context.scene, inspection)
    return inspection


def _still_holds(
    last: Inspection, a: bpy.types.Object, b: bpy.types.Object, shape_a: Shape, shape_b: Shape, settings: Settings
) -> bool:
    return (last.uid_a, last.uid_b, last.state_a, last.state_b, last.settings) == (
        a.session_uid,
        b.session_uid,
        shape_a.state,
        shape_b.state,
        settings,
    )


def _inspect(
    a: bpy.types.Object,
    b: bpy.types.Object,
    shape_a: Shape,
    shape_b: Shape,
    settings: Settings,
    units: UnitFormat,
    seconds_read: float,
) -> Inspection:
    resolution = RESOLUTION_STEPS * max(shape_a.step, shape_b.step)
    extents = [shape.hull.extent for shape in (shape_a, shape_b) if shape.hull.extent > 0.0]
    tolerance = settings.contact_tolerance
    if extents:
        tolerance = max(tolerance, resolution / min(extents))
    start = time.perf_counter()
    try:
        found = contact(
            shape_a.hull,
            shape_b.hull,
            method=settings.method,  # type: ignore[arg-type]
            clearance=settings.clearance,
            contact_tolerance=tolerance,
        )
    except ValueError as error:
        raise ReadError(f"'{a.name}' and '{b.name}' cannot be inspected: {error}") from error
    seconds_contact = time.perf_counter() - start
    return Inspection(
        contact=found,
        hull_a=shape_a.hull,
        hull_b=shape_b.hull,
        name_a=a.name,
        name_b=b.name,
        uid_a=a.session_uid,
        uid_b=b.session_uid,
        state_a=shape_a.state,
        state_b=shape_b.state,
        dent_a=shape_a.dent,
        dent_b=shape_b.dent,
        settings=settings,
        contact_tolerance=tolerance,
        resolution=resolution,
        units=units,
        seconds_read=seconds_read,
        seconds_contact=seconds_contact,
        seconds_move=shape_a.seconds_move + shape_b.seconds_move + seconds_contact,
        seconds_edit=shape_a.seconds_edit + shape_b.seconds_edit + seconds_contact,
    )
