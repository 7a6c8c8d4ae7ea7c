# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of two objects moves out of the other: the one that is not fixed, as a user would do it."""

from __future__ import annotations

import bpy

FAR_LARGER = 2.0
"""Times as large, by the diagonal of the dimensions, as an object is that stays: a floor, a wall, a table."""


def unmovable_reason(obj: bpy.types.Object) -> str:
    """Return why an object cannot be moved at all, as what follows its name; empty where it can."""
    if obj.library is not None:
        return f"is linked from {obj.library.filepath}"
    if obj.override_library is not None and obj.override_library.is_system_override:
        return "has a library override that is not editable"
    if all(obj.lock_location):  # type: ignore[arg-type]
        return "has a locked location"
    return ""


def fixed_reason(obj: bpy.types.Object) -> str:
    """Return why an object stays unless the user picks it, as what follows its name; empty where it may move."""
    is_passive = obj.rigid_body is not None and obj.rigid_body.type == "PASSIVE"
    return unmovable_reason(obj) or ("is a Passive rigid body" if is_passive else "")


def choose(a: bpy.types.Object, b: bpy.types.Object) -> str:
    """Return which of two objects moves, "A" or "B", by the first that tells them apart; empty where both are fixed.

    What is fixed stays, then what has more locked channels of its location, then what is not an Active rigid body, then
    what is more than twice as large; else B moves.
    """
    if fixed_reason(a) and fixed_reason(b):
        return ""
    of_a, of_b = _ties(a), _ties(b)
    if of_a != of_b:
        return "A" if of_a < of_b else "B"
    return "A" if b.dimensions.length > FAR_LARGER * a.dimensions.length else "B"


def both_fixed_reason(a: bpy.types.Object, b: bpy.types.Object) -> str:
    """Return why neither of two fixed objects moves by itself, as a sentence."""
    return f"'{a.name}' {fixed_reason(a)}, '{b.name}' {fixed_reason(b)}: pick the one to move in the menu"


def _ties(obj: bpy.types.Object) -> tuple[bool, int, bool]:
    """Return what ties an object to its place, the strongest first."""
    is_active = obj.rigid_body is not None and obj.rigid_body.type == "ACTIVE"
    return bool(fixed_reason(obj)), sum(obj.lock_location), not is_active  # type: ignore[call-overload]
