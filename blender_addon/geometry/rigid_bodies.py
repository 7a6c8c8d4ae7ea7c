# SPDX-License-Identifier: GPL-3.0-or-later
"""By how much Blender's simulation widens the collision shapes of rigid bodies, as measured in 4.2, 4.5 and 5.2.

tests/blender/test_collision_margins.py measures it again. Boxes, spheres, capsules and cylinders keep their size, and
so do convex hulls without Collision Margin. Any other shape is widened by the length that the setting has, whether it
is turned on or not; a mesh is not where it meets a sphere.

Before contacts with a mesh are looked for, the boxes of its triangles along its own axes must meet the other body. They
are widened by less: of flat faces across such an axis only that counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...core.types import FloatArray
from ..data.collision_kinds import CONE, CONVEX_HULL, MESH, Choice
from ..data.records import SimulatedBody

if TYPE_CHECKING:
    import bpy


KEPT_BOXES = (5, 0)
"""Before this version of Blender the boxes of an active mesh without scale keep the width that they are made with."""
MADE_WITH = 0.01
"""That width, Blender units."""
OF_PASSIVE = 0.0015
"""The width of the boxes of a passive mesh where an active one meets it, for each unit of its scale."""
UNSCALED = 1e-3
"""A scale that differs from 1 by no more is none."""


class RigidBodies:
    """The rigid bodies of a scene that Blender simulates."""

    def __init__(self, scene: bpy.types.Scene, version: tuple[int, ...]) -> None:
        self._scene = scene
        self._keeps_boxes = version < KEPT_BOXES

    @cached_property
    def _uids(self) -> set[int]:
        """The objects that are simulated, by `session_uid`."""
        world = self._scene.rigidbody_world
        if world is None or not world.enabled or world.collection is None:
            return set()
        return {obj.session_uid for obj in world.collection.all_objects}

    @cached_property
    def _never_meet(self) -> dict[int, frozenset[int]]:
        """By object the others that constraints keep it from colliding with, also where they are not enabled."""
        world = self._scene.rigidbody_world
        found: dict[int, frozenset[int]] = {}
        for obj in () if world is None or world.constraints is None else world.constraints.all_objects:
            joint = obj.rigid_body_constraint
            if joint is None or not (joint.disable_collisions and joint.object1 and joint.object2):
                continue
            for one, other in ((joint.object1, joint.object2), (joint.object2, joint.object1)):
                found[one.session_uid] = found.get(one.session_uid, frozenset()) | {other.session_uid}
        return found

    def of(self, obj: bpy.types.Object, choice: Choice, linear: FloatArray) -> SimulatedBody | None:
        """Return the body of an object that collides as it is simulated; linear (3, 3): of its world matrix."""
        if choice.source != "rigid_body" or obj.session_uid not in self._uids:
            return None
        body, kind = obj.rigid_body, choice.kind
        is_active = body.type == "ACTIVE"
        is_widened = kind in (CONE, MESH) or (kind == CONVEX_HULL and body.use_margin)
        margin = float(body.collision_margin) if is_widened else 0.0
        width = margin
        if kind == CONE:
            width = 2.0 * margin
        elif kind == MESH:
            scale = np.linalg.norm(linear, axis=0)
            if not is_active:
                width = OF_PASSIVE * float(scale.max())
            elif self._keeps_boxes and np.abs(scale - 1.0).max() <= UNSCALED:
                width = MADE_WITH
        of_each: Iterable[bool] = body.collision_collections  # type: ignore[assignment]
        collections = sum(1 << k for k, is_in in enumerate(of_each) if is_in)
        is_free = is_active and body.enabled and not body.kinematic
        never_meets = self._never_meet.get(obj.session_uid, frozenset())
        return SimulatedBody(kind, margin, width, is_active, is_free, collections, never_meets)
