# SPDX-License-Identifier: GPL-3.0-or-later
"""Move the objects of a pair apart by the minimum translation vector.

Constraints, drivers, physics and parents can undo or spread what a location says, so the outcome is looked at: when
the objects did not move as asked, everything is put back and the reason told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from . import session
from .inspection import inspect
from .read import RESOLUTION_STEPS
from .session import Inspection

FloatArray = NDArray[np.float64]

NEGLIGIBLE = 1e-6
"""Relative to the way of the object: a locked channel that would change by less stays as it is."""


class SeparateError(ValueError):
    """Why the objects cannot be moved, as a sentence for the user."""


@dataclass(frozen=True)
class _Move:
    obj: bpy.types.Object
    way: FloatArray
    """(3,) world space."""


def separate(context: bpy.types.Context, moves: str) -> tuple[str, Inspection]:
    """Move B, A or half each out of the other and inspect again.

    Returns what was moved, in words, and the new result. Raises SeparateError, with nothing moved, when an object
    cannot be moved, ReadError when one cannot be inspected.
    """
    a, b = session.pair(context.scene)
    if a is None or b is None:
        raise SeparateError("Pick two objects first")
    settings = session.settings_of(context.scene).as_settings()
    before = inspect(context, a, b, settings)
    if before.contact.depth == 0.0:
        raise SeparateError("The objects do not penetrate")
    mtv = np.asarray(before.contact.mtv, dtype=np.float64)
    plan = {
        "B": [_Move(b, mtv)],
        "A": [_Move(a, -mtv)],
        "HALF": [_Move(a, -0.5 * mtv), _Move(b, 0.5 * mtv)],
    }[moves]
    changes = [_change_of_location(move) for move in plan]
    old = [move.obj.location.copy() for move in plan]
    gap = _translation(b) - _translation(a)
    places = [_translation(move.obj) for move in plan]
    for move, change in zip(plan, changes, strict=True):
        move.obj.location = Vector((np.array(move.obj.location, dtype=np.float64) + change).tolist())
    context.view_layer.update()
    slack = 1e-3 * float(np.linalg.norm(mtv)) + RESOLUTION_STEPS * before.resolution
    problem = ""
    for move, place in zip(plan, places, strict=True):
        if np.abs(_translation(move.obj) - place - move.way).max() > slack:
            problem = f"'{move.obj.name}' does not go where it is moved: constraints, drivers or its parent hold it"
    if not problem and np.abs(_translation(b) - _translation(a) - gap - mtv).max() > slack:
        problem = f"'{a.name}' and '{b.name}' move together: one is attached to the other"
    if problem:
        for move, location in zip(plan, old, strict=True):
            move.obj.location = location
        context.view_layer.update()
        raise SeparateError(problem)
    words = " and ".join(
        f"'{move.obj.name}' by {before.units.length(float(np.linalg.norm(move.way)))}" for move in plan
    )
    return words, inspect(context, a, b, settings)


def _translation(obj: bpy.types.Object) -> FloatArray:
    return np.array(obj.matrix_world.translation, dtype=np.float64)


def _change_of_location(move: _Move) -> FloatArray:
    """What to add to the object's location so that it goes the way in world space. Raises SeparateError."""
    obj = move.obj
    if obj.library is not None:
        raise SeparateError(f"'{obj.name}' is linked from {obj.library.filepath}: it cannot be moved here")
    if obj.override_library is not None and obj.override_library.is_system_override:
        raise SeparateError(f"'{obj.name}' is linked and its override is not editable: it cannot be moved here")
    change = move.way
    if obj.parent is not None:
        linear = _frame_of_location(obj)
        if np.linalg.matrix_rank(linear) < 3:
            raise SeparateError(f"'{obj.name}' cannot go that way: its parent '{obj.parent.name}' has a scale of zero")
        change = np.asarray(np.linalg.solve(linear, move.way), dtype=np.float64)
    locks: Any = obj.lock_location
    for axis, locked, step in zip("XYZ", locks, change.tolist(), strict=True):
        if locked and abs(step) > NEGLIGIBLE * float(np.linalg.norm(change)):
            raise SeparateError(f"'{obj.name}' cannot be moved: its location {axis} is locked")
    return change


def _frame_of_location(obj: bpy.types.Object) -> FloatArray:
    """(3, 3) what a step of the location of a child becomes in world space."""
    if obj.parent_type == "OBJECT":
        frame = obj.parent.matrix_world @ obj.matrix_parent_inverse
        return np.array(frame, dtype=np.float64)[:3, :3]
    world = np.array(obj.matrix_world, dtype=np.float64)[:3, :3]
    basis = np.array(obj.matrix_basis, dtype=np.float64)[:3, :3]
    return world @ np.linalg.pinv(basis)
