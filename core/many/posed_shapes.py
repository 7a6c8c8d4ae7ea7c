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
from .batched.shape_tables import JoinedTables
from .shape_set import ShapeSet, validate_shapes


@dataclass(frozen=True)
class PosedShapes:
    """Shapes, or two sets of them, in their poses: one each, or several stacks of them."""

    first: Sequence[Shape]
    """As given: a tuple or a `ShapeSet`."""
    second: Sequence[Shape] | None
    poses: FloatArray | None
    """(n, dim + 1, dim + 1) or (k, n, dim + 1, dim + 1)."""
    other_poses: FloatArray | None
    known: ShapeSet
    """The first set."""
    other: ShapeSet | None
    """The second one."""

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
        first, second, other = shapes if known is shapes else known[:], others, None
        if isinstance(others, ShapeSet):
            validate_shapes("others", others[:1], known[:1])  # a set has one dimension
            other = others
        elif others is not None:
            second = validate_shapes("others", others, known[:1])
            other = ShapeSet(second)
        elif other_poses is not None:
            raise ValueError("other_poses: others expected, whose poses they are")
        dim = known.dim if known or other is None else other.dim
        matrices = [
            None if of is None or of_set is None else validate_poses(name, of, len(of_set), dim, stacked=True)
            for name, of, of_set in (("poses", poses, known), ("other_poses", other_poses, other))
        ]
        stacked = {len(of) for of in matrices if of is not None and of.ndim == 4}
        if len(stacked) > 1:
            raise ValueError("other_poses: as many as poses, where both have several for each shape, expected")
        if copy:
            matrices = [None if of is None else read_only(of.copy()) for of in matrices]
        return cls(first, second, matrices[0], matrices[1], known, other)

    def __len__(self) -> int:
        """Return the number of shapes of both."""
        return len(self.known) + (0 if self.other is None else len(self.other))

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of shapes that A and that B may be of."""
        return len(self.known), len(self.known if self.other is None else self.other)

    @cached_property
    def stack(self) -> int | None:
        """How many poses each shape has; None where it is one or none."""
        return next((len(of) for of in (self.poses, self.other_poses) if of is not None and of.ndim == 4), None)

    def in_each_pose(self, pairs: IntArray) -> tuple[IntArray, IntArray | None]:
        """Return pairs (p, 2) as they are; of several poses, those of each (k p, 2), and which it is (k p,)."""
        if self.stack is None:
            return pairs, None
        return np.tile(pairs, (self.stack, 1)), np.repeat(np.arange(self.stack), len(pairs))

    @cached_property
    def bodies(self) -> tuple[Bodies, ...]:
        """The shapes of each set in their poses, pose by pose where there are several."""
        result = []
        for known, poses, name in (self.known, self.poses, "poses"), (self.other, self.other_poses, "other_poses"):
            if known is not None:
                index, shape = known._index, (len(known),)
                if poses is not None:
                    shape, poses = poses.shape[:-2], poses.reshape(-1, *poses.shape[-2:])
                    index = np.resize(index, shape).ravel() if len(shape) > 1 else index
                result.append(Bodies(known._tables, index, poses, np.arange(len(index)), ((name, shape),)))
        return tuple(result)

    @cached_property
    def all_bodies(self) -> Bodies:
        """Those of the first set, followed by those of the second."""
        if self.other is None:
            return self.bodies[0]
        a, b = self.bodies
        poses = None
        if a.poses is not None or b.poses is not None:
            still = np.eye(a.dim + 1)
            parts = [np.tile(still, (len(of), 1, 1)) if of.poses is None else of.poses for of in (a, b)]
            poses = np.concatenate(parts)
        index = np.concatenate([a.index, b.index + len(a.tables)])
        return Bodies(JoinedTables(a.tables, b.tables), index, poses, np.arange(len(index)), a.labels + b.labels)

    def numbers(self, pairs: IntArray, pose_index: IntArray | None) -> IntArray:
        """Return the indices (p, 2) among all bodies of pairs (p, 2), where there are several poses in those (p,)."""
        numbers = pairs if self.other is None else pairs + np.array([0, len(self.bodies[0])])
        if pose_index is None:
            return numbers
        steps = [count * (len(self.bodies[k]) > count) for k, count in zip((0, -1), self.counts, strict=True)]
        return numbers + np.array(steps, dtype=np.intp) * pose_index[:, None]

    def bodies_of(self, numbers: IntArray, *, every: bool) -> tuple[Bodies, IntArray]:
        """Return the bodies of pairs (p, 2) of `numbers`, and the indices (p, 2) among these. `every` one may be
        returned, where all are known."""
        bodies = self.all_bodies
        if bodies.poses is None or (every and self.other is None):
            return bodies, numbers
        used = np.zeros(len(bodies), dtype=bool)
        used[numbers] = True
        chosen = np.flatnonzero(used)
        places = (np.cumsum(used) - 1).take(numbers)
        return Bodies(bodies.tables, bodies.index.take(chosen), bodies.poses, chosen, bodies.labels), places
