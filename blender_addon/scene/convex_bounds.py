# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex shapes that objects are, or that contain them: local ones, shared by all objects with a mesh, and poses.

`contacts` answers many pairs of them at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...core.many.shape_set import ShapeSet
from ...core.progress import Progress, report_progress
from ...core.shapes.curved_shape import ConvexShape
from ...core.shapes.polytope import Polytope
from ...core.types import BoolArray, FloatArray, IntArray
from ..data.collision_kinds import COMPOUND, MESH, PRIMITIVES
from ..data.records import Key
from ..geometry.collision_shape import RESOLUTION_STEPS, float32_steps
from ..read.scene_objects import SceneObject
from ..read.world_shape import WorldShapeCache

WORTH_HULL = 8
"""Candidate pairs of a mesh from which on its hull, which is only its bound, takes less time than it saves."""
HULL_POINTS = 20_000
"""Points of a mesh above which there must be more pairs, in proportion: a hull takes longer then, a pair hardly."""


class ConvexBounds:
    """The convex bounds of the objects of a check that are in candidate pairs."""

    def __init__(
        self,
        objects: Sequence[SceneObject],
        corners: tuple[FloatArray, FloatArray],
        pairs: IntArray,
        shapes: WorldShapeCache,
        pairs_before: Counter[bytes],
        progress: Progress | None = None,
    ) -> None:
        """corners: of the bounding boxes, low and high (n, 3); pairs (m, 2): of objects that may collide; pairs_before:
        how many were found alone at earlier frames, by digests of geometries. Raises Cancelled."""
        count = len(objects)
        used, uses = np.unique(pairs, return_counts=True)
        pairs_of = Counter(pairs_before)
        for k, times in zip(used.tolist(), uses.tolist(), strict=True):
            pairs_of[objects[k].geometry.digest] += times
        self.has_bound: BoolArray = np.zeros(count, dtype=bool)
        """(n,) whether an object has a convex bound."""
        self.is_convex: BoolArray = np.zeros(count, dtype=bool)
        """(n,) whether it is its bound."""
        self.is_polytope: BoolArray = np.zeros(count, dtype=bool)
        """(n,) whether its bound is one."""
        self.shapes: list[ConvexShape | None] = [None] * count
        """The bounds, in local space where `poses` says so."""
        self.poses: FloatArray = np.tile(np.eye(4), (count, 1, 1))
        self.keys: list[Key] = [obj.key for obj in objects]
        self.diameter: FloatArray = np.zeros(count)
        """(n,) diameters of the smallest balls around the bounds."""
        self.step: FloatArray = np.zeros(count)
        """(n,) spacing of float32 at the largest coordinate that took part, Blender units."""
        local = []
        for done, k in enumerate(used.tolist()):
            if done % 100 == 0:
                report_progress(progress, done, len(used))
            obj = objects[k]
            try:
                if obj.parts or obj.kind == COMPOUND:
                    continue
                if obj.kind in PRIMITIVES:
                    self.shapes[k], self.step[k] = shapes.of(obj).convex_bound, shapes.of(obj).step
                elif _is_worth_hull(obj, pairs_of):
                    if not obj.geometry.has_hull:  # that of a large mesh takes long
                        report_progress(progress, done, len(used))
                    self.shapes[k] = obj.geometry.convex_bound
                    local.append(k)
                else:
                    continue
            except ValueError:  # reported when the pair is checked by itself
                continue
            self.has_bound[k], self.is_convex[k] = True, obj.kind != MESH
            self.is_polytope[k] = isinstance(self.shapes[k], Polytope)
        if local:
            matrices = np.stack([objects[k].linear for k in local])
            self.poses[local, :3, :3], self.poses[local, :3, 3] = matrices, [objects[k].translation for k in local]
            # The matrix may cancel large local coordinates: their rounding is still there.
            largest = np.array([objects[k].geometry.magnitude for k in local]) * np.linalg.norm(
                matrices, 2, axis=(1, 2)
            )
            reach = np.maximum(np.abs(corners[0][local]), np.abs(corners[1][local])).max(axis=1)
            self.step[local] = float32_steps(np.maximum(reach, largest))
        known = np.flatnonzero(self.has_bound)
        if len(known):
            bounds = ShapeSet([shape for shape in self.shapes if shape is not None])
            self.diameter[known] = bounds.diameters(self.poses[known])

    def smaller_diameters(self, pairs: IntArray) -> FloatArray:
        """Return the smaller diameter of both objects of pairs (n, 2), of those that have one."""
        diameters = np.where(self.diameter > 0.0, self.diameter, np.inf)[pairs].min(axis=1)
        return np.where(np.isfinite(diameters), diameters, 0.0)

    def tolerances(self, pairs: IntArray, contact_tolerance: float) -> FloatArray:
        """Return the contact tolerance of each pair, as `tolerance_for`."""
        smaller = self.smaller_diameters(pairs)
        resolution = RESOLUTION_STEPS * self.step[pairs].max(axis=1)
        coarsest = np.divide(resolution, smaller, out=np.zeros(len(pairs)), where=smaller > 0.0)
        return np.maximum(contact_tolerance, coarsest)


def _is_worth_hull(obj: SceneObject, pairs_of: Counter[bytes]) -> bool:
    geometry = obj.geometry
    worth = WORTH_HULL * max(1.0, len(geometry.points) / HULL_POINTS)
    return obj.kind != MESH or geometry.has_hull or pairs_of[geometry.digest] >= worth
