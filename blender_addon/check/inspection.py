# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job: two objects in, everything known about their contact out."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import NamedTuple

import bpy

from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh_contact import MeshContact
from ...core.progress import Cancelled, Progress, report_progress, subrange
from ..data.units import UnitFormat
from ..draw.shape_outline import extent_of
from ..read.collision_shape import AUTOMATIC, COMPOUND, MESH
from ..read.collision_solid import RESOLUTION_STEPS, tolerance_for
from ..read.plane import common_plane, drawn, flattened
from ..read.snapshot import Copied, ReadError, Shape, copied, shaped, state_of
from . import session
from .pair_contact import Found, checked, find, lifted
from .session import Flat, Inspection, Settings, Stand, State


def inspect(context: bpy.types.Context, a: bpy.types.Object, b: bpy.types.Object, settings: Settings) -> Inspection:
    """Read A and B as they are now and find their contact; store it as the scene's result and return it.

    When nothing has changed since the last time, the result of then is returned.
    Raises ReadError, with a sentence for the user, when one of them cannot be inspected.
    """
    inspection = begun(context.scene, context.evaluated_depsgraph_get(), a, b, settings)
    if isinstance(inspection, Work):
        inspection = inspection(lambda share: True)
    session.store(context.scene, inspection)
    return inspection


@dataclass(frozen=True, eq=False)
class Work:
    """An inspection of two objects as they were read, still to be made: in any thread, without touching Blender."""

    pair: _Pair
    settings: Settings
    units: UnitFormat

    def __call__(self, progress: Progress) -> Inspection:
        """Make it. Raises ReadError, and Cancelled when the progress function says so."""
        try:
            return _inspect(self.pair, self.settings, self.units, subrange(progress, 0.0, 1.0))
        except (ReadError, Cancelled):
            raise
        except Exception as error:
            # A defect, or no memory: the user gets a sentence, and no old answer stays as if it held.
            traceback.print_exc()
            a, b = self.pair.names
            raise ReadError(
                f"'{a}' and '{b}' cannot be inspected ({type(error).__name__}: {error}): "
                "report this with the text in the system console"
            ) from error


def begun(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    a: bpy.types.Object,
    b: bpy.types.Object,
    settings: Settings,
) -> Inspection | Work:
    """Read A and B as the depsgraph has evaluated them; return the work of inspecting them.

    When nothing has changed since the last time, that inspection is returned. Raises ReadError.
    """
    if a == b:
        raise ReadError(f"'{a.name}' cannot be inspected against itself: pick two objects")
    start = time.perf_counter()
    copies = copied(a, depsgraph), copied(b, depsgraph)
    last = session.stored(scene)
    if last is not None and _still_holds(last, a, b, copies[0].state, copies[1].state, settings):
        return last
    pair = _Pair((a.name, b.name), (a.session_uid, b.session_uid), copies, time.perf_counter() - start)
    return Work(pair, settings, UnitFormat.of_scene(scene))


def overtaken(depsgraph: bpy.types.Depsgraph, a: bpy.types.Object, b: bpy.types.Object, inspection: Inspection) -> bool:
    """Whether A or B is no longer as it was when the inspection was begun. Raises ReadError when one cannot be read."""
    return not _still_holds(inspection, a, b, state_of(a, depsgraph), state_of(b, depsgraph), inspection.settings)


def is_of(
    work: Work, depsgraph: bpy.types.Depsgraph, a: bpy.types.Object, b: bpy.types.Object, settings: Settings
) -> bool:
    """Whether the work is about A and B as they are now. Raises ReadError when one cannot be read."""
    states = state_of(a, depsgraph), state_of(b, depsgraph)
    return (work.pair.uids, work.pair.states, work.settings) == ((a.session_uid, b.session_uid), states, settings)


class _Pair(NamedTuple):
    """A and B as they were copied out of Blender."""

    names: tuple[str, str]
    uids: tuple[int, int]
    copies: tuple[Copied, Copied]
    seconds: float

    @property
    def states(self) -> tuple[State, State]:
        return self.copies[0].state, self.copies[1].state


def _still_holds(
    last: Inspection, a: bpy.types.Object, b: bpy.types.Object, state_a: State, state_b: State, settings: Settings
) -> bool:
    return (last.uid_a, last.uid_b, last.state_a, last.state_b, last.settings) == (
        a.session_uid,
        b.session_uid,
        state_a,
        state_b,
        settings,
    )


def _inspect(pair: _Pair, settings: Settings, units: UnitFormat, progress: Progress | None) -> Inspection:
    name_a, name_b = pair.names
    start = time.perf_counter()
    shape_a, shape_b = (
        shaped(copy, subrange(progress, 0.15 * k, 0.15 * (k + 1)), settings.flat) for k, copy in enumerate(pair.copies)
    )
    seconds_read = pair.seconds + time.perf_counter() - start
    resolution = RESOLUTION_STEPS * max(shape_a.step, shape_b.step)
    extents = [extent for shape in (shape_a, shape_b) if (extent := extent_of(shape.solid)) > 0.0]
    tolerance = tolerance_for(settings.contact_tolerance, extents, (shape_a.step, shape_b.step))
    start = time.perf_counter()
    try:
        flat = None
        solids = shape_a.solid, shape_b.solid
        if settings.flat:
            slack = max(resolution, settings.contact_tolerance * min(extents, default=0.0))
            plane = common_plane(pair.names, (shape_a.hull.vertices, shape_b.hull.vertices), slack, units.length)
            in_plane = (
                flattened(name_a, shape_a.kind, shape_a.solid, shape_a.mesh, plane, slack),
                flattened(name_b, shape_b.kind, shape_b.solid, shape_b.mesh, plane, slack),
            )
            in_2d = find(*in_plane, (None, None), settings.method, settings.clearance, tolerance)
            flat = Flat(plane, in_2d, *in_plane)
            found = lifted(in_2d, plane.point, plane.axes)
            solids = drawn(flat.shape_a, plane), drawn(flat.shape_b, plane)
        else:
            found = find(
                *solids,
                (shape_a.make_pieces, shape_b.make_pieces),
                settings.method,
                settings.clearance,
                tolerance,
                (shape_a.choice.kind == AUTOMATIC, shape_b.choice.kind == AUTOMATIC),
                subrange(progress, 0.3, 0.95),
            )
    except ValueError as error:
        if settings.flat and str(error).startswith("'"):
            raise ReadError(f"{error}. Switch 2D off to inspect them in space") from error
        raise ReadError(f"'{name_a}' and '{name_b}' cannot be inspected: {error}") from error
    source = found.source if isinstance(found, Found) and found.intersects else None
    pieces = (source.pieces_a, source.pieces_b) if isinstance(source, MeshContact) else (None, None)
    stands = _stand(shape_a, flat, pieces[0]), _stand(shape_b, flat, pieces[1])
    if flat is not None:
        verification = checked(flat.contact, flat.shape_a, flat.shape_b)
    else:
        verification = checked(found, *solids)
    seconds_contact = time.perf_counter() - start
    report_progress(progress, 1.0)
    return Inspection(
        contact=found,
        shape_a=solids[0],
        shape_b=solids[1],
        stand_a=stands[0],
        stand_b=stands[1],
        verification=verification,
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
        seconds_read=seconds_read,
        seconds_contact=seconds_contact,
    )


def _stand(shape: Shape, flat: Flat | None, of_mesh: Decomposition | None) -> Stand:
    """Return what stood for an object; of_mesh: the pieces that its mesh's depth was found with."""
    pieces = of_mesh if shape.kind == MESH else None
    if shape.kind == COMPOUND and flat is None and shape.make_pieces is not None:  # in the plane: of the outline
        pieces = shape.make_pieces()
    return Stand(shape.kind, shape.choice, shape.fit, shape.mesh, pieces)
