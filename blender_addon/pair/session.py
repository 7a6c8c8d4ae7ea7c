# SPDX-License-Identifier: GPL-3.0-or-later
"""The inspection of each scene's pair, and whether it is still valid.

Results are Python objects with NumPy arrays: they live here, not in properties. Nothing here holds a reference to
Blender data (undo and file load would kill it); objects and scenes are named by their `session_uid`.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..data import messages
from ..data.objects import instance_name, matrix_numbers
from ..data.properties import pair, pair_keys, settings_of, shaped_pair
from ..data.records import Settings
from ..data.units import UnitFormat
from ..geometry import collision_shape
from .inspection import Inspection, Keys, Stage, Work, is_of, read_pair

if TYPE_CHECKING:
    import bpy
import numpy as np

on_store: list[Callable[[bpy.types.Scene, Inspection], None]] = []
"""Called with every result that is not provisional once it is that of its scene."""
_inspections: dict[int, Inspection] = {}
_stale: dict[int, str] = {}
_errors: dict[int, str] = {}
_frames: dict[int, float] = {}
_seconds: dict[int, dict[Stage, deque[float]]] = {}
"""How long the last inspections of the scene's pair took."""

LAST = 5
"""Inspections of a pair by whose times is known how long the next one takes."""


def store(scene: bpy.types.Scene, inspection: Inspection) -> None:
    """Make `inspection` the scene's current one.

    Called in Blender's handlers, too, where its data must not be changed: what follows from it there is up to a timer.
    """
    last = _inspections.get(scene.session_uid)
    if last is None or last.keys != inspection.keys:
        _seconds.pop(scene.session_uid, None)
    if inspection is not last:
        note_seconds(scene, inspection.seconds_read + inspection.seconds_contact, inspection.stage)
    _inspections[scene.session_uid] = inspection
    _frames[scene.session_uid] = scene.frame_current_final
    _stale.pop(scene.session_uid, None)
    _errors.pop(scene.session_uid, None)
    for call in () if inspection.is_provisional else on_store:
        call(scene, inspection)


def drop_result(scene: bpy.types.Scene) -> None:
    """Drop the scene's result: its objects can no longer be inspected."""
    for of_scene in (_inspections, _stale, _frames, _seconds):
        of_scene.pop(scene.session_uid, None)


def note_seconds(scene: bpy.types.Scene, seconds: float, stage: Stage = Stage.WHOLE) -> None:
    """Remember how long an inspection of the scene's pair took to a stage, or ran until it was ended."""
    of_scene = _seconds.setdefault(scene.session_uid, {})
    of_scene.setdefault(stage, deque(maxlen=LAST)).append(seconds)


def typical_seconds(scene: bpy.types.Scene, stage: Stage = Stage.WHOLE) -> float:
    """Return the median of how long the last inspections of the scene's pair took to a stage; infinite when there was
    none."""
    return float(np.median(_seconds.get(scene.session_uid, {}).get(stage) or (math.inf,)))


def forget_seconds(scene: bpy.types.Scene) -> None:
    """Forget how long provisional inspections of the scene's pair took: the next one says whether they still do."""
    for stage in Stage:
        if stage is not Stage.WHOLE:
            _seconds.get(scene.session_uid, {}).pop(stage, None)


def stored(scene: bpy.types.Scene) -> Inspection | None:
    """The last result of the scene, whether or not it is about the pair of today."""
    return _inspections.get(scene.session_uid)


def frame_of_result(scene: bpy.types.Scene) -> float:
    """The frame at which the scene's last result was found."""
    return _frames.get(scene.session_uid, scene.frame_current_final)


def clear() -> None:
    """Drop everything: a file was loaded, or the add-on goes."""
    for of_scene in (_inspections, _stale, _errors, _frames, _seconds):
        of_scene.clear()


def mark_stale(scene: bpy.types.Scene, reason: str) -> None:
    """Remember why the scene's result may no longer hold; an empty reason takes the mark away."""
    if reason and scene.session_uid in _inspections:
        _stale[scene.session_uid] = reason
    else:
        _stale.pop(scene.session_uid, None)


def marked(scene: bpy.types.Scene) -> bool:
    """Whether the scene's result carries a mark of being stale."""
    return scene.session_uid in _stale


def set_error(scene: bpy.types.Scene, message: str) -> None:
    """Remember why the scene's pair could not be inspected; an empty message takes it away."""
    if message:
        _errors[scene.session_uid] = message
    else:
        _errors.pop(scene.session_uid, None)


def error(context: bpy.types.Context) -> str:
    """Why the scene's pair could not be inspected, or an empty string."""
    return _errors.get(context.scene.session_uid, "")


def prepare_inspection(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, keys: Keys, settings: Settings, stage: Stage = Stage.WHOLE
) -> Inspection | Work:
    """Read A and B as the depsgraph has evaluated them; return the work of inspecting them.

    When nothing has changed since the scene's last inspection, which went as far, that is returned. Raises ReadError.
    """
    start = time.perf_counter()
    objects = read_pair(depsgraph, keys)
    last = stored(scene)
    if last is not None and last.stage >= stage and is_of(last, objects, settings):
        return last
    return Work(objects, settings, UnitFormat.of_scene(scene), time.perf_counter() - start)


def current(context: bpy.types.Context) -> Inspection | None:
    """Return the result of the scene's pair, with the objects' names of today; None when there is none.

    A result is of two objects or instances: when one was deleted, or the pickers name another, there is none.
    """
    scene = context.scene
    inspection = _inspections.get(scene.session_uid)
    if inspection is None or pair_keys(scene) != inspection.keys:
        return None
    names = [
        instance_name(source.name, obj.key[2], maker.name) if obj.key[2] else maker.name
        for obj, maker, source in zip(inspection.objects, pair(scene), shaped_pair(scene), strict=True)
        if maker is not None and source is not None
    ]
    units = UnitFormat.of_scene(scene)
    if (*names, units) != (inspection.name_a, inspection.name_b, inspection.units):
        inspection = replace(inspection, name_a=names[0], name_b=names[1], units=units)
        _inspections[scene.session_uid] = inspection
    return inspection


def stale_reason(context: bpy.types.Context) -> str:
    """Return why the current result may no longer be valid, as a sentence for the panel; empty when it is valid."""
    inspection = current(context)
    if inspection is None:
        return ""
    if marked(context.scene):
        return _stale[context.scene.session_uid]
    for obj, then in zip(pair(context.scene), inspection.objects, strict=True):
        if obj is not None and matrix_numbers(obj) != then.owner_matrix:
            return messages.about(obj.name, messages.MOVED)
        if obj is not None and not then.key[2] and collision_shape.chosen(obj) != then.choice:
            return f"the collision shape of '{obj.name}' has changed"
    if settings_of(context.scene).as_settings() != inspection.settings:
        return "the settings have changed"
    return ""


def is_stale(context: bpy.types.Context) -> bool:
    """Whether the current result may no longer hold. False when there is no result."""
    return bool(stale_reason(context))
