# SPDX-License-Identifier: GPL-3.0-or-later
"""What a click on a clash does: select the pair, put it into the pickers, inspect it, move the views to it.

What was stored of the clash is there at once. How the pair is now is computed beside Blender where that takes long.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.types import FloatArray
from ..clashes import check_settings, clash_renewal
from ..clashes.finding import ContactLensFinding
from ..clashes.stored_frames import stored_frames
from ..data import messages, properties
from ..data.objects import contains, object_in_scene
from ..geometry.snapshot import ReadError
from ..live import background, follow_pair, handlers
from ..live.background import Flow, Steps
from ..pair import session
from ..pair.inspection import Inspection, Keys, is_outdated, is_reshaped
from ..pair.session import prepare_inspection
from . import viewport

UNKNOWN_SIZE = 1.0
"""Blender units: how much is shown around the contact of a pair of which one is gone."""
ELSEWHERE = 0.05
"""Relative to the size of the smaller one: the views move again when the pair meets farther from where it was found."""


def objects_of(clash: ContactLensFinding) -> list[bpy.types.Object]:
    """Return the objects of a pair that are still there; of an instance its instancer."""
    return [obj for obj in (clash.object_a, clash.object_b) if obj is not None]


def missing(scene: bpy.types.Scene, clash: ContactLensFinding) -> str:
    """Return why nothing can be done with a pair: an object of it is gone. Empty when both are there."""
    for letter in "ab":
        if object_in_scene(scene, getattr(clash, f"object_{letter}")) is None:
            return f"'{clash.label(letter)}' is gone: check the scene again"
    return ""


_pending: tuple[int, Flow] | None = None
"""The inspection that runs beside Blender, and the `session_uid` of its scene."""


def progress_of(scene: bpy.types.Scene) -> float | None:
    """Return the fraction done of the inspection of a clash in the scene; None when none runs."""
    return _pending[1].progress if _pending is not None and _pending[0] == scene.session_uid else None


def drop() -> None:
    """Drop the inspection that runs."""
    global _pending
    ended, _pending = _pending, None
    if ended is not None:
        ended[1].drop()


def open_clash(context: bpy.types.Context, clash: ContactLensFinding | None) -> None:
    """Select the pair and move the views to it, then inspect it as it is now; None: leave the clash that is open.

    A clash over frames is gone to at its worst frame, unless an animation is played.
    """
    global _pending
    drop()
    if clash is None:
        return
    frames = stored_frames(context.scene)
    if frames is not None and frames.over(clash.clash_id) is not None and not handlers.is_playing():
        context.scene.frame_set(int(clash.frame_of_state(0.0)))
    layer = context.view_layer
    pair = [obj for obj in objects_of(clash) if contains(layer.objects, obj)]
    if context.mode == "OBJECT" and pair:
        for obj in list(layer.objects.selected):
            obj.select_set(False)
        for obj in pair:
            obj.select_set(True)
        layer.objects.active = pair[0]
    flow = Flow("Inspection", _steps(context, clash))
    if not flow.run(background.seconds_to_wait(context)):
        _pending = context.scene.session_uid, flow
        background.wait_for(flow)


def _steps(context: bpy.types.Context, clash: ContactLensFinding) -> Steps:
    """Inspect the pair and make that the scene's result, unless the user has left it meanwhile."""
    global _pending
    scene, row = context.scene, clash.row()
    uid = scene.session_uid
    center, length = np.array(row["center"], dtype=np.float64), abs(row["signed_distance"] or 0.0)
    frame(context, center, length, ())
    try:
        keys = _pick(context, clash)
        before, depsgraph = session.stored(scene), context.evaluated_depsgraph_get()
        work = prepare_inspection(scene, depsgraph, keys, properties.settings_of(scene).as_settings())
        points = [obj.points for obj in work.objects]
        frame(context, center, length, points)
        handlers.redraw()
        try:
            inspection: Inspection = work if isinstance(work, Inspection) else (yield work)
        finally:
            is_late, _pending = _pending is not None, None
        if is_late and not _is_open(context, uid, keys):
            return {"CANCELLED"}
        if session.stored(scene) is before:  # else an operator was faster
            session.store(scene, inspection)
            depsgraph = context.evaluated_depsgraph_get()
            if is_late and is_outdated(depsgraph, inspection):
                follow_pair.request(scene, messages.CHANGED_MEANWHILE if is_reshaped(depsgraph, inspection) else "")
    except ReadError as error:
        session.drop_result(scene)
        session.set_error(scene, str(error))
        handlers.redraw()
        return {"CANCELLED"}
    contact = inspection.contact
    if (active := check_settings.active_clash(scene)) is not None:
        clash_renewal.set_verified(active, inspection)
    size = min(float(np.linalg.norm(np.ptp(each, axis=0))) for each in points)
    if np.abs(contact.center - center).max() > ELSEWHERE * size:
        frame(context, contact.center, abs(contact.signed_distance), points)
    handlers.redraw()
    return {"FINISHED"}


def _pick(context: bpy.types.Context, clash: ContactLensFinding) -> Keys:
    """Put the pair into the pickers. Raise ReadError where an object of it is gone."""
    scene, settings = context.scene, properties.settings_of(context.scene)
    if reason := missing(scene, clash):
        raise ReadError(reason)
    keys = clash.key("a"), clash.key("b")
    session.set_error(scene, "")
    properties.pick(scene, keys)
    if clash.relation == "within_clearance":  # or the panel would call it separated
        settings.clearance = max(settings.clearance, check_settings.of_scene(scene).clearance, clash.margins or 0.0)
    follow_pair.leave(scene)
    return keys


def _is_open(context: bpy.types.Context, uid: int, keys: Keys) -> bool:
    """Return whether the clash of the pair is still the active one, and the pair in the pickers."""
    scene = context.scene
    clash = check_settings.active_clash(scene)
    if scene.session_uid != uid or clash is None:
        return False
    return (clash.key("a"), clash.key("b")) == keys == properties.pair_keys(scene)


def frame(context: bpy.types.Context, center: FloatArray, length: float, objects: Sequence[FloatArray]) -> None:
    """Move the 3D views of the window to a contact: its center (3,), depth or gap; objects: points (n, 3) of each."""
    around = center + (length if objects else max(length, UNKNOWN_SIZE)) * np.vstack((np.eye(3), -np.eye(3)))
    viewport.frame(viewport.areas(context), center, around, objects)
