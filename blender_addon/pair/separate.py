# SPDX-License-Identifier: GPL-3.0-or-later
"""Move the objects of an inspected pair apart, by a translation.

Constraints, drivers, physics and parents can undo or spread what a location says, so the outcome is looked at: when
the objects did not move as asked, everything is put back and the reason reported.

Animation undoes a move only at the next frame change. With Auto Keying the move is keyed, as Blender's own Move is;
else the user is warned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.types import FloatArray
from ..geometry.collision_shape import RESOLUTION_STEPS
from .inspection import Inspection
from .mover import unmovable_reason

NEGLIGIBLE = 1e-6
"""Relative to the translation of the object: a locked channel that would change by less stays as it is."""


class SeparateError(ValueError):
    """Why the objects cannot be moved, as a sentence for the user."""


def separate(
    context: bpy.types.Context,
    a: bpy.types.Object,
    b: bpy.types.Object,
    moves: str,
    before: Inspection,
    translation: FloatArray,
) -> tuple[str, list[str]]:
    """Move B, A or half each by a translation of B out of A; before: the two as they are.

    Return what was moved and how far, and sentences about what will move an object back. Raises SeparateError, with
    nothing moved, when an object cannot be moved.
    """
    plan = {
        "B": [(b, translation)],
        "A": [(a, -translation)],
        "HALF": [(a, -0.5 * translation), (b, 0.5 * translation)],
    }[moves]
    gap = _translation(b) - _translation(a)
    slack = 1e-3 * float(np.linalg.norm(translation)) + RESOLUTION_STEPS * before.resolution
    old = [obj.location.copy() for obj, _ in plan]
    refused = translate(context, plan, slack)
    problem = next(iter(refused.values()), "")
    if not problem and np.abs(_translation(b) - _translation(a) - gap - translation).max() > slack:
        problem = f"'{a.name}' and '{b.name}' move together: one is attached to the other"
        _put_back(context, [obj for obj, _ in plan], old)
    if problem:
        raise SeparateError(problem)
    words, warnings = [], []
    for obj, step in plan:
        is_keyed, is_animated = key_move(context, obj, step)
        if is_animated:
            warnings.append(
                f"The location of '{obj.name}' is animated: insert a keyframe, or the next frame change undoes the move"
            )
        # Rounded up: who moves as far as is said gets there, too.
        length = before.units.length(max(0.0, float(np.linalg.norm(step)) - before.resolution), rounding="up")
        words.append(f"'{obj.name}' by {length}{' (keyframe inserted)' if is_keyed else ''}")
    return " and ".join(words), warnings


def translate(
    context: bpy.types.Context, plan: Sequence[tuple[bpy.types.Object, FloatArray]], slack: float
) -> dict[bpy.types.Object, str]:
    """Change the locations of objects so that they are translated in world space.

    slack: by how much a place may differ from what was asked for. Return the objects that cannot be moved, each with a
    sentence that says why; with any of them nothing has moved.
    """
    refused: dict[bpy.types.Object, str] = {}
    places = [_translation(obj) for obj, _ in plan]
    old = [obj.location.copy() for obj, _ in plan]
    changes = []
    for obj, step in plan:
        try:
            changes.append(_change_of_location(obj, step))
        except SeparateError as error:
            refused[obj] = str(error)
    if refused:
        return refused
    for (obj, _), change in zip(plan, changes, strict=True):
        obj.location = Vector((np.array(obj.location, dtype=np.float64) + change).tolist())
    context.view_layer.update()
    for (obj, step), place in zip(plan, places, strict=True):
        if np.abs(_translation(obj) - place - step).max() > slack:
            refused[obj] = f"'{obj.name}' cannot be moved: constraints, drivers or its parent fix its location"
    if refused:
        _put_back(context, [obj for obj, _ in plan], old)
    return refused


def _put_back(context: bpy.types.Context, objects: Sequence[bpy.types.Object], locations: Sequence[Vector]) -> None:
    for obj, location in zip(objects, locations, strict=True):
        obj.location = location
    context.view_layer.update()


def key_move(context: bpy.types.Context, obj: bpy.types.Object, translation: FloatArray) -> tuple[bool, bool]:
    """Key an object that was translated, as Blender's own Move would. Return whether a keyframe was inserted, and
    whether animation will move the object back."""
    keyed = _auto_key(context, obj)
    moved = {channel for channel, changes in enumerate(_changes(_change_of_location(obj, translation))) if changes}
    return bool(keyed), bool(moved & _animated(obj) - keyed)


def _translation(obj: bpy.types.Object) -> FloatArray:
    return np.array(obj.matrix_world.translation, dtype=np.float64)


def _change_of_location(obj: bpy.types.Object, translation: FloatArray) -> FloatArray:
    """Return the change of the object's location that translates it in world space. Raises SeparateError."""
    if reason := unmovable_reason(obj):
        raise SeparateError(f"'{obj.name}' cannot be moved: it {reason}")
    change = translation
    if obj.parent is not None:
        linear = _frame_of_location(obj)
        if np.linalg.matrix_rank(linear) < 3:
            raise SeparateError(
                f"'{obj.name}' cannot be moved in that direction: its parent '{obj.parent.name}' has a scale of zero"
            )
        change = np.asarray(np.linalg.solve(linear, translation), dtype=np.float64)
    locks: Any = obj.lock_location
    for axis, locked, changes in zip("XYZ", locks, _changes(change), strict=True):
        if locked and changes:
            raise SeparateError(f"'{obj.name}' cannot be moved: its {axis} location is locked")
    return change


def _changes(change: FloatArray) -> list[bool]:
    """Which of the three channels of the location change."""
    return [abs(step) > NEGLIGIBLE * float(np.linalg.norm(change)) for step in change.tolist()]


def _frame_of_location(obj: bpy.types.Object) -> FloatArray:
    """(3, 3) what a step of the location of a child becomes in world space."""
    if obj.parent_type == "OBJECT":
        frame = obj.parent.matrix_world @ obj.matrix_parent_inverse
        return np.array(frame, dtype=np.float64)[:3, :3]
    world = np.array(obj.matrix_world, dtype=np.float64)[:3, :3]
    basis = np.array(obj.matrix_basis, dtype=np.float64)[:3, :3]
    return world @ np.linalg.pinv(basis)


# --- animation ------------------------------------------------------------------------------------------------------


def _animated(obj: bpy.types.Object) -> set[int]:
    """The channels of the location that keyframes hold, in the action or in the NLA."""
    return {
        curve.array_index
        for curve in _curves(obj.animation_data)
        if curve.data_path == "location" and not curve.mute and not (curve.group and curve.group.mute)
    }


def _curves(animation: Any) -> Iterator[Any]:
    """The curves that act on an object, from its `animation_data`."""
    if animation is None:
        return
    if animation.action is not None:
        yield from _curves_of(animation)
    if animation.use_nla:
        soloed = [track for track in animation.nla_tracks if track.is_solo]
        for track in soloed or animation.nla_tracks:
            if not track.mute:
                yield from _curves_of_strips(track.strips)


def _curves_of_strips(strips: Any) -> Iterator[Any]:
    for strip in strips:
        if strip.mute:
            continue
        if strip.action is not None:
            yield from _curves_of(strip)
        yield from _curves_of_strips(strip.strips)  # of a meta strip


def _curves_of(user: Any) -> Iterator[Any]:
    """The curves in the action of an `animation_data` or of an NLA strip."""
    if not hasattr(user, "action_slot"):  # before Blender 4.4 an action was for one object
        yield from user.action.fcurves
    elif user.action_slot is not None:
        for layer in user.action.layers:
            for strip in layer.strips:
                bag = strip.channelbag(user.action_slot)
                if bag is not None:
                    yield from bag.fcurves


KEY_TIME = 0.01
"""Frames: keys nearer than this are at the same time, as in Blender."""


def _auto_key(context: bpy.types.Context, obj: bpy.types.Object) -> set[int]:
    """Insert the keyframes that Blender's own Move would. Returns the channels of the location that have one now.

    With an active keying set it is that set's affair what is keyed: it is left alone.
    """
    scene, editing = context.scene, context.preferences.edit
    tools, animation = scene.tool_settings, obj.animation_data
    if not tools.use_keyframe_insert_auto or tools.use_keyframe_insert_keyingset:
        return set()
    curves = {}
    if animation is not None and animation.action is not None:
        curves = {curve.array_index: curve for curve in _curves_of(animation) if curve.data_path == "location"}
    wanted = {0, 1, 2}
    if editing.use_keyframe_insert_available:
        wanted &= set(curves)
    if tools.auto_keying_mode == "REPLACE_KEYS":
        now = scene.frame_current_final
        wanted &= {i for i, c in curves.items() if any(abs(key.co[0] - now) < KEY_TIME for key in c.keyframe_points)}
    options: Any = {"INSERTKEY_CYCLE_AWARE"} if tools.use_keyframe_cycle_aware else set()
    try:
        keyed = {channel for channel in wanted if obj.keyframe_insert("location", index=channel, options=options)}
        obj.update_tag()  # else an action that is new beside NLA strips counts only from the next edit on
        return keyed
    except (RuntimeError, TypeError):  # its animation cannot be changed: then the user is warned
        return set()
