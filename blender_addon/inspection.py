# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job: two objects in, everything known about their contact out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import bpy

from ..core.progress import Progress
from . import session
from .collision_shape import COMPOUND
from .finding import find, lifted
from .plane import common_plane, drawn, flattened
from .read import RESOLUTION_STEPS, ReadError, Shape, read
from .session import Flat, Inspection, Settings, Stand
from .shape_outline import extent_of
from .units import UnitFormat


def inspect(context: bpy.types.Context, a: bpy.types.Object, b: bpy.types.Object, settings: Settings) -> Inspection:
    """Read A and B as they are now and find their contact; store it as the scene's result and return it.

    When nothing has changed since the last time, the result of then is returned.
    Raises ReadError, with a sentence for the user, when one of them cannot be inspected.
    """
    inspection = begun(context, a, b, settings)
    if not isinstance(inspection, Inspection):
        inspection = inspection(lambda share: True)
    session.store(context.scene, inspection)
    return inspection


def begun(
    context: bpy.types.Context, a: bpy.types.Object, b: bpy.types.Object, settings: Settings
) -> Inspection | Callable[[Progress], Inspection]:
    """Read A and B as they are now; return what makes the inspection of that, in any thread, without touching Blender.

    When nothing has changed since the last time, that inspection is returned. Raises ReadError, as does what is
    returned; that raises Cancelled too, when its progress function says so.
    """
    if a == b:
        raise ReadError(f"'{a.name}' cannot be inspected against itself: pick two objects")
    pair = _read(context, a, b)
    last = session.stored(context.scene)
    if last is not None and _still_holds(last, a, b, *pair.shapes, settings):
        return last
    units = UnitFormat.of_scene(context.scene)
    return lambda progress: _inspect(pair, settings, units, progress)


def overtaken(context: bpy.types.Context, a: bpy.types.Object, b: bpy.types.Object, inspection: Inspection) -> bool:
    """Whether A or B is no longer as it was when the inspection was begun. Raises ReadError when one cannot be read."""
    depsgraph = context.evaluated_depsgraph_get()
    return not _still_holds(inspection, a, b, read(a, depsgraph), read(b, depsgraph), inspection.settings)


class _Pair(NamedTuple):
    """A and B as they were read."""

    names: tuple[str, str]
    uids: tuple[int, int]
    shapes: tuple[Shape, Shape]
    seconds: float


def _read(context: bpy.types.Context, a: bpy.types.Object, b: bpy.types.Object) -> _Pair:
    start = time.perf_counter()
    depsgraph = context.evaluated_depsgraph_get()
    shapes = read(a, depsgraph), read(b, depsgraph)
    return _Pair((a.name, b.name), (a.session_uid, b.session_uid), shapes, time.perf_counter() - start)


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


def _inspect(pair: _Pair, settings: Settings, units: UnitFormat, progress: Progress) -> Inspection:
    shape_a, shape_b = pair.shapes
    name_a, name_b = pair.names
    resolution = RESOLUTION_STEPS * max(shape_a.step, shape_b.step)
    extents = [extent for shape in (shape_a, shape_b) if (extent := extent_of(shape.solid)) > 0.0]
    tolerance = settings.contact_tolerance
    if extents:
        tolerance = max(tolerance, resolution / min(extents))
    start = time.perf_counter()
    try:
        flat = None
        solids = shape_a.solid, shape_b.solid
        if settings.flat:
            slack = max(resolution, settings.contact_tolerance * min(extents, default=0.0))
            plane = common_plane(pair.names, (shape_a.hull.vertices, shape_b.hull.vertices), slack)
            in_plane = (
                flattened(name_a, shape_a.kind, shape_a.solid, shape_a.mesh, plane, slack),
                flattened(name_b, shape_b.kind, shape_b.solid, shape_b.mesh, plane, slack),
            )
            in_2d = find(*in_plane, (None, None), (None, None), settings.method, settings.clearance, tolerance)
            flat = Flat(plane, in_2d, *in_plane)
            found = lifted(in_2d, plane.point, plane.axes)
            solids = drawn(flat.shape_a, plane), drawn(flat.shape_b, plane)
        else:
            found = find(
                *solids,
                (shape_a.mesh, shape_b.mesh),
                (shape_a.make_pieces, shape_b.make_pieces),
                settings.method,
                settings.clearance,
                tolerance,
                progress,
            )
    except ValueError as error:
        if settings.flat and str(error).startswith("'"):
            raise ReadError(str(error)) from error
        raise ReadError(f"'{name_a}' and '{name_b}' cannot be inspected: {error}") from error
    seconds_contact = time.perf_counter() - start
    return Inspection(
        contact=found,
        shape_a=solids[0],
        shape_b=solids[1],
        stand_a=_stand(shape_a, flat),
        stand_b=_stand(shape_b, flat),
        flat=flat,
        hull_a=shape_a.hull,
        hull_b=shape_b.hull,
        name_a=name_a,
        name_b=name_b,
        uid_a=pair.uids[0],
        uid_b=pair.uids[1],
        state_a=shape_a.state,
        state_b=shape_b.state,
        dent_a=shape_a.dent,
        dent_b=shape_b.dent,
        settings=settings,
        contact_tolerance=tolerance,
        resolution=resolution,
        units=units,
        seconds_read=pair.seconds,
        seconds_contact=seconds_contact,
        seconds_move=shape_a.seconds_move + shape_b.seconds_move + seconds_contact,
        seconds_edit=shape_a.seconds_edit + shape_b.seconds_edit + seconds_contact,
    )


def _stand(shape: Shape, flat: Flat | None) -> Stand:
    # In the plane the pieces are those of the outline.
    wanted = shape.kind == COMPOUND and flat is None and shape.make_pieces is not None
    pieces = shape.make_pieces() if wanted and shape.make_pieces is not None else None
    return Stand(shape.kind, shape.choice, shape.fit, shape.mesh, pieces)
