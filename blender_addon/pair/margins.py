# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision margins of rigid bodies: up to which gap Blender's simulation pushes two of them apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.types import BoolArray, FloatArray, IntArray
from ..data.collision_kinds import MESH, SPHERE
from ..data.records import SimulatedBody
from ..read.scene_objects import SceneObject

STRAIGHT = 5e-9
"""1 minus the cosine of the angle, 0.0001, up to which a normal is along an axis."""
SLACK = 1e-3
"""Relative to the margins: what the simulation does with a gap was measured to no less."""
NO_BODY = SimulatedBody("", 0.0, 0.0, False, False, 0)


class Margins:
    """The collision margins of the objects of a check."""

    def __init__(self, objects: Sequence[SceneObject]) -> None:
        bodies = [obj.body or NO_BODY for obj in objects]
        self.of_objects: FloatArray = np.array([body.margin for body in bodies])
        """(n,) by how much each is widened, Blender units."""
        self._box_margins = np.array([body.box_margin for body in bodies])
        self._is_free = np.array([body.is_free for body in bodies], dtype=bool)
        self._collections = np.array([body.collections for body in bodies], dtype=np.int64)
        self._is_mesh = np.array([body.kind == MESH for body in bodies], dtype=bool)
        self._is_sphere = np.array([body.kind == SPHERE for body in bodies], dtype=bool)
        self._is_active = np.array([body.is_active for body in bodies], dtype=bool)
        self._never_meets = [body.never_meets for body in bodies]
        self._is_held = np.array([bool(body.never_meets) for body in bodies], dtype=bool)
        self._objects = objects

    def most(self, pairs: IntArray) -> FloatArray:
        """Return of pairs (n, 2) a gap above which none is pushed apart; 0 where they do not collide."""
        return (1.0 + SLACK) * self._sums(pairs)

    def _sums(self, pairs: IntArray) -> FloatArray:
        if not self.of_objects.any():
            return np.zeros(len(pairs))
        a, b = pairs.T
        collide = (self._is_free[a] | self._is_free[b]) & ((self._collections[a] & self._collections[b]) != 0)
        of_sphere = (self._is_sphere[a] & self._is_mesh[b]) | (self._is_mesh[a] & self._is_sphere[b])
        found = np.where(collide & ~of_sphere, self.of_objects[pairs].sum(axis=1), 0.0)
        for k in np.flatnonzero((found > 0.0) & self._is_held[a]).tolist():
            if self._objects[b[k]].uid in self._never_meets[a[k]]:
                found[k] = 0.0
        return found

    def of(self, pairs: IntArray, normals: FloatArray) -> FloatArray:
        """Return of pairs (n, 2) up to which gap they are pushed apart, by the normals (n, 3) of their contacts."""
        found = self._sums(pairs)
        is_mesh = self._is_mesh[pairs]
        for k in np.flatnonzero((found > 0.0) & (is_mesh & self._is_active[pairs]).any(axis=1)):
            meshes = [self._objects[place].linear for place in pairs[k][is_mesh[k]].tolist()]
            if all(_is_along_axis(normals[k], linear) for linear in meshes):
                found[k] = min(found[k], self._box_margins[pairs[k]].sum())
        return found


def are_within(distances: FloatArray, margins: FloatArray) -> BoolArray:
    """Return of signed distances (n,) whether they are no larger than the margins (n,) of their pairs."""
    result: BoolArray = distances <= (1.0 + SLACK) * margins
    return result


def _is_along_axis(normal: FloatArray, linear: FloatArray) -> bool:
    """Return whether a normal (3,) is along an axis of an object; linear (3, 3): of its world matrix."""
    lengths = np.linalg.norm(linear, axis=0)
    return bool((np.abs(normal @ linear) >= (1.0 - STRAIGHT) * lengths).any())
