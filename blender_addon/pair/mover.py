# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of two objects moves out of the other: the one that is not fixed, as a user would do it."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Ties(NamedTuple):
    """What ties an object to its place, the strongest first."""

    is_fixed: bool
    locks: int
    """Channels of the location that are locked."""
    is_not_active: bool
    """Whether it is no Active rigid body."""
    size: float
    """The diagonal of its dimensions."""


def ties_of(obj: bpy.types.Object) -> Ties:
    """Return what ties an object to its place."""
    is_active = obj.rigid_body is not None and obj.rigid_body.type == "ACTIVE"
    locks: Any = obj.lock_location
    return Ties(bool(fixed_reason(obj)), sum(locks), not is_active, obj.dimensions.length)


def stays(one: Ties, other: Ties) -> bool:
    """Return whether an object stays where it meets another one, by the first that tells them apart.

    What is fixed stays, then what has more locked channels of its location, then what is not an Active rigid body, then
    what is more than twice as large.
    """
    if one[:-1] != other[:-1]:
        return one[:-1] > other[:-1]
    return one.size > FAR_LARGER * other.size


def choose(a: bpy.types.Object, b: bpy.types.Object) -> str:
    """Return which of two objects moves, "A" or "B": that which does not stay, else B; empty where both are fixed."""
    of_a, of_b = ties_of(a), ties_of(b)
    if of_a.is_fixed and of_b.is_fixed:
        return ""
    return "A" if stays(of_b, of_a) else "B"


def both_fixed_reason(a: bpy.types.Object, b: bpy.types.Object) -> str:
    """Return why neither of two fixed objects moves by itself, as a sentence."""
    can_be_picked = not (unmovable_reason(a) and unmovable_reason(b))
    advice = "pick the one to move in the menu" if can_be_picked else "unlock one of them, or make it local"
    return f"'{a.name}' {fixed_reason(a)}, '{b.name}' {fixed_reason(b)}: {advice}"
