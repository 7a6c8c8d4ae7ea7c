# SPDX-License-Identifier: GPL-3.0-or-later
"""What a click on a clash does: select the pair, put it into the pickers, isolate it, move the views to it.

What was stored of the clash is there at once. How the pair is now is computed beside Blender where that takes long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.progress import Progress
from ...core.types import FloatArray
from ..check import changes, session
from ..check import results as scene_results
from ..check.inspection import Inspection, Keys, Work, is_outdated
from ..check.results import ContactLensFinding
from ..check.session import prepare_inspection
from ..data import properties
from ..data.objects import object_in_scene
from ..draw.isolated_pair import IsolatedPair
from ..read.scene_reader import states_of
from ..read.snapshot import ReadError
from . import background, follow_pair, handlers, isolation, viewport
from .background import Flow, Steps

SIZES = 4.5
"""How many times the length of the vector, or half the size of the smaller object, the view shows."""
UNKNOWN_SIZE = 1.0
"""Blender units: taken for the size of a pair of which one is gone."""
ELSEWHERE = 0.05
"""Relative to the size of the smaller one: the views move again when the pair meets farther from where it was found."""


def objects_of(clash: ContactLensFinding) -> list[bpy.types.Object]:
    """Return the objects of a pair that are still there; of an instance its instancer."""
    return [obj for obj in (clash.object_a, clash.object_b) if obj is not None]


def missing(scene: bpy.types.Scene, clash: ContactLensFinding) -> str:
    """Return why nothing can be done with a pair: an object of it is gone. Empty when both are there."""
    for letter in "ab":
        if object_in_scene(scene, getattr(clash, f"object_{letter}")) is None:
            return f"'{scene_results.label(clash, letter)}' is gone: check the scene again"
    return ""


def is_pair_of_objects(clash: ContactLensFinding) -> bool:
    """Return whether the pair are two objects, not instances, that can be inspected and moved."""
    return len(objects_of(clash)) == 2 and not clash.instance_a and not clash.instance_b


@dataclass(frozen=True, eq=False)
class _PendingInspection:
    """The pair of a clash as it was read when the user went there."""

    scene: int
    """`session_uid` of the scene."""
    keys: Keys
    before: Inspection | None
    """The scene's result then."""
    center: FloatArray
    """(3,) contact centre that the views are at."""
    size: float
    """Of the smaller one."""
    dependencies: frozenset[int]
    """`session_uid` of what else than these objects the pair depends on."""
    work: Callable[[Progress], Inspection]
    """Compute the contact, in any thread. Raise ReadError and Cancelled."""


_pending: tuple[_PendingInspection, Flow] | None = None
"""The inspection that runs beside Blender."""


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the inspection of a clash in the scene; None when none runs."""
    return _pending[1].progress if _pending is not None and _pending[0].scene == scene.session_uid else None


def drop() -> None:
    """Drop the inspection that runs."""
    global _pending
    ended, _pending = _pending, None
    if ended is not None:
        ended[1].drop()


def open_clash(context: bpy.types.Context, clash: ContactLensFinding | None) -> None:
    """Select the pair and move the views to it, then inspect it as it is now; None: leave the clash that is open."""
    global _pending
    drop()
    isolation.isolate(context, None)
    if clash is None:
        return
    layer = context.view_layer
    pair = [obj for obj in objects_of(clash) if layer.objects.get(obj.name) == obj]
    if context.mode == "OBJECT" and pair:
        for obj in list(layer.objects.selected):
            obj.select_set(False)
        for obj in pair:
            obj.select_set(True)
        layer.objects.active = pair[0]
    row = clash.row()
    center, length = np.array(row["center"], dtype=np.float64), abs(row["signed_distance"] or 0.0)
    try:
        if gone := missing(context.scene, clash):
            raise ReadError(gone)
        pending = _read(context, clash, center)
    except ReadError as error:
        _fail(context, error)
        frame(context, center, length, UNKNOWN_SIZE)
        return
    frame(context, center, length, pending.size)
    handlers.redraw()
    flow = Flow("Inspection", _steps(context, pending))
    if not flow.run(background.seconds_to_wait(context)):
        _pending = pending, flow
        background.wait_for(flow)


def _read(context: bpy.types.Context, clash: ContactLensFinding, center: FloatArray) -> _PendingInspection:
    """Read the pair as it is now and put it into the pickers. Raise ReadError."""
    scene, settings = context.scene, properties.settings_of(context.scene)
    session.set_error(scene, "")
    a, b = clash.key("a"), clash.key("b")
    if a is None or b is None:
        raise ReadError("An object of this clash is gone: check the scene again")
    properties.pick(scene, (a, b))
    if clash.relation == "within_clearance":  # or the panel would call it separated
        settings.clearance = max(settings.clearance, scene_results.of_scene(scene).clearance)
    follow_pair.leave(scene)
    made = prepare_inspection(scene, context.evaluated_depsgraph_get(), (a, b), settings.as_settings())
    owners = objects_of(clash)
    sources = (clash.source_a or owners[0], clash.source_b or owners[1])
    dependencies = set().union(*map(changes.watched, owners, sources)) - {owner.session_uid for owner in owners}
    return _PendingInspection(
        scene=scene.session_uid,
        keys=(a, b),
        before=session.stored(scene),
        center=center,
        size=min(float(np.linalg.norm(np.ptp(obj.points, axis=0))) for obj in made.objects),
        dependencies=frozenset(dependencies),
        work=made if isinstance(made, Work) else lambda progress: made,
    )


def _is_current(context: bpy.types.Context, pending: _PendingInspection) -> bool:
    """Return whether the clash is still the active one, and its pair in the pickers."""
    clash = scene_results.active_clash(context.scene)
    return (
        context.scene.session_uid == pending.scene
        and clash is not None
        and (clash.key("a"), clash.key("b")) == pending.keys
        and properties.pair_keys(context.scene) == pending.keys
    )


def _steps(context: bpy.types.Context, pending: _PendingInspection) -> Steps:
    """Make what is computed the scene's result and isolate the pair; what the user has left meanwhile is left alone."""
    global _pending
    try:
        try:
            result = yield pending.work
        finally:
            is_late, _pending = _pending is not None, None
        if not is_late or _is_current(context, pending):
            _collect_result(context, pending, result, is_late)
    except ReadError as error:
        _fail(context, error)
    return {"FINISHED"}


def _collect_result(
    context: bpy.types.Context, pending: _PendingInspection, inspection: Inspection, is_late: bool
) -> None:
    """Show a result; late: much may have happened since the pair was read. Raise ReadError."""
    scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
    states = {obj.key: obj.state for obj in inspection.objects}
    now = states_of(depsgraph, pending.keys) if is_late else states
    is_shown = all(key in now and now[key].made == state.made for key, state in states.items())
    if session.stored(scene) is pending.before:  # else an operator was faster
        session.store(scene, inspection)
        if is_late and is_outdated(depsgraph, inspection):
            follow_pair.request(scene, reason=follow_pair.OVERTAKEN)
    isolation.isolate(context, IsolatedPair(inspection, pending.dependencies) if is_shown else None)
    clash = scene_results.active_clash(scene)
    if clash is not None:
        scene_results.set_verified(clash, str(inspection.contact.relation), inspection.verification.ok)
    contact = inspection.contact
    if np.abs(contact.center - pending.center).max() > ELSEWHERE * pending.size:
        frame(context, contact.center, abs(contact.signed_distance), pending.size)
    handlers.redraw()


def _fail(context: bpy.types.Context, error: ValueError) -> None:
    session.drop_result(context.scene)
    session.set_error(context.scene, str(error))
    handlers.redraw()


def frame(context: bpy.types.Context, center: FloatArray, length: float, size: float) -> None:
    """Move the 3D views of the window to a contact: its centre (3,), depth or gap, the size of the smaller object."""
    # A contact may be a point: show a good part of the smaller object around it.
    radius = max(length, 0.5 * size, 1e-6)
    viewport.look_at(viewport.views(context), center, lambda space: SIZES * radius * space.lens / 50.0)
