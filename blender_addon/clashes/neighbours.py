# SPDX-License-Identifier: GPL-3.0-or-later
"""What has moved and what is near it, read to be checked again by the rules of the scene's check.

Not all of the scene is read: Blender's own bounding boxes decide what may be near.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import bpy
import numpy as np

from ...core.types import BoolArray, FloatArray
from ..data.collision_kinds import PRIMITIVES
from ..data.objects import matrix_numbers, may_have_surface
from ..geometry import collision_shape
from ..geometry.collision_shape import RESOLUTION_STEPS, float32_steps
from ..geometry.snapshot import ReadError
from ..read.scene import Sides, read_input, sides_of
from ..read.scene_objects import CheckInput
from . import changes, check_settings

MOST_SEARCHED = 5_000
"""Objects among which those near are looked for unasked at most: more would hold up Blender for too long."""


def read_neighbours(context: bpy.types.Context, moved: Set[int], most: int | None = None) -> CheckInput | None:
    """Read objects that have moved, by their `session_uid`, what may collide with them, and what they are in clashes
    with; None where the check has nothing of that: then it is not known as moved any more.

    most: if more objects are near, or the check has very many, None, too: Blender waits for it.
    """
    scene = context.scene
    rules = replace(check_settings.of_scene(scene).as_rules(context), ignore_approved=False)
    try:
        sides = sides_of(context, rules)
    except ReadError:  # the settings are not those of the check any more
        return None
    in_check = {obj.session_uid for first, other in sides for obj in (*first, *(other or ()))}
    changes.know(scene, moved - in_check)
    moved = moved & in_check
    if not moved or (most is not None and len(in_check) > MOST_SEARCHED):
        return None
    near = moved | _near(context.evaluated_depsgraph_get(), moved, rules.clearance, rules.contact_tolerance)
    near |= changes.partners(scene, moved)
    if most is not None and len(near & in_check) > most:
        return None
    given = read_input(context, rules, check_settings.reviewed(scene), sides=_of_moved(sides, moved, near))
    listed = [(finding.key("a"), finding.key("b")) for finding in check_settings.of_scene(scene).findings]
    now = {key: given.renumbered.get(key, key) for pair in listed for key in pair if key is not None}
    return replace(given, ordered=frozenset((now[a], now[b]) for a, b in listed if a and b))


def _of_moved(sides: Sides, moved: Set[int], near: Set[int]) -> Sides:
    """Return sides of what has moved against all that is near."""
    result = []
    for first, other in sides:
        for one, against in [(first, first)] if other is None else [(first, other), (other, first)]:
            of_moved = [obj for obj in one if obj.session_uid in moved]
            if of_moved:
                result.append((of_moved, [obj for obj in against if obj.session_uid in near]))
    return result


def _near(depsgraph: bpy.types.Depsgraph, moved: Set[int], clearance: float, contact_tolerance: float) -> set[int]:
    """Return the `session_uid` of what is near some objects: of objects, and of what makes instances."""
    uids, matrices, corners, chosen, margins = [], [], [], [], []
    for instance in depsgraph.object_instances:
        shown = instance.object
        if not may_have_surface(shown):
            continue
        owner, source = (instance.parent if instance.is_instance else shown).original, shown.original
        body = source.rigid_body
        is_part = body is not None and owner.parent is not None  # of a compound parent, perhaps
        for each in (owner, owner.parent) if is_part else (owner,):
            uids.append(each.session_uid)
            matrices.append(matrix_numbers(instance))
            corners.append([tuple(corner) for corner in shown.bound_box])
            chosen.append(collision_shape.chosen(source).kind in PRIMITIVES)
            margins.append(body.collision_margin if body is not None and body.use_margin else 0.0)
    if not uids:
        return set()
    placed = np.array(matrices, dtype=np.float64).reshape(-1, 4, 4)
    low, high = _boxes(placed, np.array(corners, dtype=np.float64), np.array(chosen))
    room = np.array(margins) + clearance + contact_tolerance * np.linalg.norm(high - low, axis=1)
    room += 2.0 * RESOLUTION_STEPS * float32_steps(np.maximum(np.abs(low), np.abs(high)).max(axis=1))
    low, high = low - room[:, None], high + room[:, None]
    owners = np.array(uids)
    is_near = np.zeros(len(owners), dtype=bool)
    for k in np.flatnonzero(np.isin(owners, list(moved))).tolist():
        is_near |= ((low <= high[k]) & (high >= low[k])).all(axis=1)
    return set(owners[is_near].tolist())


def _boxes(matrices: FloatArray, corners: FloatArray, chosen: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners low and high (n, 3) of boxes around things; corners: (n, 8, 3) of those in local space; chosen
    (n,): those that may collide as primitives."""
    origins = matrices[:, :3, 3]
    placed = np.einsum("nij,nkj->nki", matrices[:, :3, :3], corners) + origins[:, None]
    low, high = placed.min(axis=1), placed.max(axis=1)
    # About the middle of the box, or about the origin as in the simulation.
    middle, reach = 0.5 * low + 0.5 * high, np.linalg.norm(high - low, axis=1)[:, None]
    around = np.minimum(middle, origins) - reach, np.maximum(middle, origins) + reach
    return np.where(chosen[:, None], around[0], low), np.where(chosen[:, None], around[1], high)
