# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of a call, one set or two, in their poses: checked, and as the bodies that batches work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..shapes.shape import Shape
from ..types import FloatArray, IntArray, read_only
from .batched.bodies import Bodies
from .batched.poses import validate_poses
from .shape_set import ShapeSet, validate_shapes


@dataclass(frozen=True)
class PosedShapes:
    """Shapes, or two sets of them, in their poses."""

    first: Sequence[Shape]
    """As given: a tuple or a `ShapeSet`."""
    second: Sequence[Shape] | None
    poses: FloatArray | None
    other_poses: FloatArray | None
    known: ShapeSet
    """All of them, the second set after the first."""

    @classmethod
    def of(
        cls,
        shapes: Sequence[Shape],
        poses: ArrayLike | None,
        others: Sequence[Shape] | None,
        other_poses: ArrayLike | None,
        *,
        copy: bool = False,
    ) -> PosedShapes:
        """Return validated shapes and poses, or read-only copies of these. Raise ValueError, naming the argument."""
        known = shapes if isinstance(shapes, ShapeSet) else ShapeSet(shapes)
        first = shapes if known is shapes else known[:]
        second = others
        if others is not None:
            different = validate_shapes("others", others, first)
            second = others if isinstance(others, ShapeSet) else different
            known = ShapeSet((*first, *different))
        elif other_poses is not None:
            raise ValueError("other_poses: others expected, whose poses they are")
        matrices = None if poses is None else validate_poses("poses", poses, len(first), known.dim)
        other_matrices = None
        if second is not None and other_poses is not None:
            other_matrices = validate_poses("other_poses", other_poses, len(second), known.dim)
        if copy:
            matrices, other_matrices = (
                None if of is None else read_only(of.copy()) for of in (matrices, other_matrices)
            )
        return cls(first, second, matrices, other_matrices, known)

    def __len__(self) -> int:
        """Return the number of shapes of both"""
        return len(self.known)

    @property
    def count(self) -> int:
        """Number of shapes of the first set."""
        return len(self.first)

    def numbers(self, pairs: IntArray) -> IntArray:
        """Return the indices (p, 2) among all shapes of pairs (p, 2) of both sets."""
        return pairs if self.second is None else pairs + np.array([0, self.count])

    @cached_property
    def matrices(self) -> FloatArray | None:
        """(n, dim + 1, dim + 1) the poses of all shapes; None where there are none."""
        if self.second is None or (self.poses is None and self.other_poses is None):
            return self.poses
        parts = (self.poses, self.count), (self.other_poses, len(self.second))
        still = np.eye(self.known.dim + 1)
        return np.concatenate([np.tile(still, (count, 1, 1)) if of is None else of for of, count in parts])

    def bodies(self) -> Bodies:
        """Return all shapes in their poses."""
        return self._bodies_of(np.arange(len(self)))

    def bodies_of(self, pairs: IntArray) -> tuple[Bodies, IntArray]:
        """Return the shapes of pairs (p, 2) in their poses, and their numbers (p, 2) among those."""
        if self.matrices is None:
            return self.bodies(), pairs
        used = np.zeros(len(self), dtype=bool)
        used[pairs] = True
        chosen, places = np.flatnonzero(used), np.empty(len(self), dtype=np.intp)
        places[chosen] = np.arange(len(chosen))
        return self._bodies_of(chosen), places.take(pairs)

    def _bodies_of(self, numbers: IntArray) -> Bodies:
        known = self.known
        return Bodies(known._tables, known._index.take(numbers), self.matrices, numbers, self.count)
