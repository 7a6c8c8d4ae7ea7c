# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a check its parts are, for progress: how they compare matters, not how fast a machine is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.progress import Progress, report_progress
from ...core.types import BoolArray, FloatArray
from ..read.collision_shape import COMPOUND, CONVEX_HULL, MESH
from ..read.scene_objects import Item, all_parts, by_geometry

BOUNDS = 0.02
"""Share of a check that bounds and candidate pairs are, about."""
LOOK = 0.05
"""Share of the hulls after which it is looked again at what the meshes are like."""
COST_OF_TRIANGLE = 0.02
"""About how many milliseconds hull and dents of a geometry take for each of its triangles. These costs are for
progress: how they compare matters, not how fast a machine is."""
COST_OF_ITEM = 0.02
"""The same of each thing that has it."""
COST_OF_BOXES = 0.1
"""The same of a pair of boxes, looked at together with others."""
COST_OF_HULLS = 1.0
"""Of a pair of other convex shapes, looked at together with others."""
COST_OF_WORDS = 0.05
"""Of a finding that was answered together with others, to be put into words."""
COST_ALONE = 5.0
"""Of a pair of convex shapes by itself, with certificate and check."""
COST_OF_MESHES = 200.0
"""Of a pair in which there is a mesh or a compound."""
FEW = 20
"""Pairs up to which one by one is as fast."""
FOUND = 0.5
"""Of the pairs that are looked at about so many are findings."""


def find_kinds(
    items: Sequence[Item], pairs: Sequence[tuple[int, int]], most_verified: int, progress: Progress | None
) -> float:
    """Find what the things of some pairs collide as, for which hulls are made; return the share of a check that is
    done then. Raises Cancelled.

    Only this shows which meshes are dented, and pairs of these take longest: what is not known yet is taken to be like
    what is.
    """
    if not pairs:
        return BOUNDS
    involved = sorted({k for pair in pairs for k in pair})
    groups = by_geometry(items, involved)
    costs = [COST_OF_TRIANGLE * len(one.triangles) + COST_OF_ITEM * len(members) for one, members in groups.items()]
    before = np.cumsum([0.0, *costs]) / sum(costs)
    known = dented = 0

    def share_of_hulls() -> float:
        convex = len(pairs) * (1.0 - dented / max(known, 1)) ** 2
        rest = convex * COST_OF_HULLS + min(most_verified, convex) * FOUND * COST_ALONE
        rest += (len(pairs) - convex) * COST_OF_MESHES
        return (1.0 - BOUNDS) * sum(costs) / (sum(costs) + rest)

    share, good_until = share_of_hulls(), 0.0
    for members, done in zip(groups.values(), before.tolist(), strict=False):
        if done >= good_until:
            share, good_until = share_of_hulls(), done + LOOK
        report_progress(progress, BOUNDS + done * share)
        for k in members:
            item = items[k]
            known += 1
            dented += item.kind in (MESH, COMPOUND) or bool(item.parts)
            for part in all_parts(item):
                _ = part.kind
            if item.kind == CONVEX_HULL:
                _ = item.geometry.is_box  # makes the hull, which was not needed to know the kind when it was chosen
    share = share_of_hulls()
    report_progress(progress, BOUNDS + share)
    return BOUNDS + share


@dataclass(frozen=True, eq=False)
class Costs:
    """About how long pairs take, for progress."""

    together: FloatArray
    """(p,) of each looked at together with the others."""
    alone: FloatArray
    """(p,) of each looked at by itself, where that is needed."""
    is_convex: BoolArray
    """(p,) whether both are: such pairs are settled together where there are some."""

    @classmethod
    def of(cls, items: Sequence[Item], pairs: Sequence[tuple[int, int]]) -> Costs:
        numbers = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        box, convex = np.zeros(len(items), dtype=bool), np.zeros(len(items), dtype=bool)
        for k in np.unique(numbers).tolist():
            item = items[k]
            convex[k] = item.kind not in (MESH, COMPOUND) and not item.parts
            box[k] = item.kind == CONVEX_HULL and item.geometry.is_box
        both: BoolArray = np.all(convex[numbers], axis=1)
        together = np.where(box[numbers].all(axis=1), COST_OF_BOXES, COST_OF_HULLS)
        return cls(together, np.where(both, COST_ALONE, COST_OF_MESHES), both)

    @cached_property
    def total(self) -> FloatArray:
        """(p,) of each, all that is to be expected."""
        alone = self.alone if self.convex < FEW else np.where(self.is_convex, 0.0, self.alone)
        return self.together + alone

    @cached_property
    def convex(self) -> int:
        """How many pairs are convex."""
        return int(self.is_convex.sum())

    def some(self, begin: int, end: int) -> Costs:
        """Return those of some pairs."""
        return Costs(self.together[begin:end], self.alone[begin:end], self.is_convex[begin:end])
