# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes that follow moves: refitted trees, k-DOPs by hill climbing, the last separating axis; and what each
costs against making it anew. Source: S1.8, S3.5.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from ...core.bounding.kdop_update import ClimbStep, HullKDops, update_kdops
from ...core.bounding.volumes import Volumes
from ...core.hierarchy.bvh import REBUILD_COST, Bvh
from ...core.narrow_phase.gjk import gjk, separates
from ...core.shapes.hull import ConvexHull
from ...core.shapes.polytope import Polytope
from ...core.types import FloatArray
from ..data.messages import counted
from .picture import Canvas

Rows = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class MovedTree:
    """A tree over items that may have moved since it was built."""

    tree: Bvh
    made_of: tuple[object, ...]
    """What the tree is of besides places: with another it is built anew."""
    points: FloatArray
    built_cost: float
    rows: Rows
    """What the last move cost, for the panel; none after a build."""

    @classmethod
    def of(
        cls,
        volumes: Volumes,
        points: FloatArray,
        made_of: tuple[object, ...],
        what: str,
        build: Callable[[Volumes], Bvh],
        last: MovedTree | None,
    ) -> MovedTree:
        """Return the tree around the volumes of items with these points: the last one, refitted where that pays."""
        if last is None or last.made_of != made_of:
            tree = build(volumes)
            return cls(tree, made_of, points, tree.cost, [])
        if np.array_equal(points, last.points):
            return last
        tree = last.tree.refit(volumes)
        grown = tree.cost / last.built_cost
        if grown > REBUILD_COST:
            tree = build(volumes)
            return cls(tree, made_of, points, tree.cost, [("Rebuilt", f"refit costs {100.0 * grown:.0f} %")])
        rows = [
            ("Refit", counted(len(tree), "volume")),
            ("Sorted by a Rebuild", counted(len(tree.items), what)),
            ("Cost", f"{100.0 * grown:.0f} % of that when built"),
        ]
        return cls(tree, made_of, points, last.built_cost, rows)


@dataclass(frozen=True, eq=False)
class ClimbedKDop:
    """The k-DOP of a hull that may have moved since it was measured."""

    hull: ConvexHull
    """In its own frame."""
    matrix: FloatArray
    """(3, 4) of the last move."""
    updated: HullKDops
    steps: tuple[ClimbStep, ...] = ()
    """Of the climbs of the last move; none after a measurement of all vertices."""

    @classmethod
    def of(cls, hull: ConvexHull, matrix: FloatArray, k: int, last: ClimbedKDop | None) -> ClimbedKDop:
        """Return the k-DOP of a hull under a matrix (3, 4), by climbing from the last extreme vertices."""
        motion = matrix[None, :, :3], matrix[None, :, 3]
        if last is None or last.hull is not hull or last.updated.kdops.k != k:
            # Extreme vertices are found by a climb: the next one starts from them.
            return cls(hull, matrix, update_kdops(update_kdops([hull], *motion, k=k), *motion))
        if np.array_equal(matrix, last.matrix):
            return last
        steps: list[ClimbStep] = []
        updated = update_kdops(last.updated, *motion, steps=steps)
        return cls(hull, matrix, updated, tuple(steps))

    @property
    def visited(self) -> tuple[int, int]:
        """How often the climbs visited a vertex, and how often measuring all vertices would."""
        total = self.updated.kdops.k // 2 * len(self.hull.vertices)
        return sum(len(step.vertex) for step in self.steps), total if self.steps else 0

    def draw(self, canvas: Canvas) -> None:
        """Add the walk of each extreme vertex along the edges of the hull, from where it was to where it is."""
        placed = self.hull.vertices @ self.matrix[:, :3].T + self.matrix[:, 3]
        walks = [np.stack([step.origin, step.vertex], axis=1)[step.is_higher] for step in self.steps[1:]]
        walked = np.concatenate([np.zeros((0, 2), dtype=np.intp), *walks])
        ends = np.unique(self.updated.extremes)
        starts = np.setdiff1d(np.unique(self.steps[0].vertex), ends) if self.steps else ends[:0]
        canvas.line("direction", placed[walked], is_arrow=True)
        canvas.mark("other", placed[starts])
        canvas.mark("support", placed[ends])


def climb_rows(climbed: Collection[ClimbedKDop]) -> Rows:
    """Return what the last moves of hulls cost, for the panel; none where nothing has moved."""
    visited, total = (sum(each.visited[i] for each in climbed) for i in (0, 1))
    if not total:
        return []
    return [("Vertices Visited", f"{visited:,} by climbing"), ("Visited by a Rebuild", f"{total:,}")]


@dataclass(frozen=True, eq=False)
class SeparatingAxis:
    """The axis that separated two hulls when it was last looked for."""

    axis: FloatArray | None
    """(dim,) from A to B; None where they intersect."""
    vertices: tuple[FloatArray, FloatArray]
    """Of both."""
    rows: Rows
    """What that took, for the panel; none the first time."""

    @classmethod
    def of(cls, a: Polytope, b: Polytope, last: SeparatingAxis | None) -> SeparatingAxis:
        """Return the axis that separates two hulls: the last one if it still does, else one that GJK finds."""
        vertices = a.vertices, b.vertices
        if last is not None and all(map(np.array_equal, vertices, last.vertices)):
            return last
        axis = None if last is None or last.axis is None or len(last.axis) != a.dim else last.axis
        if axis is not None and separates(a, b, axis):
            return cls(axis, vertices, [("Separating Axis", "the last one, in 1 test")])
        found = gjk(a, b, axis)
        tests = counted(found.iterations, "support point")
        words = f"none, {tests}" if found.intersects else f"a new one, {tests}"
        axis = None if found.intersects else np.array(found.normal[: a.dim])
        return cls(axis, vertices, [] if last is None else [("Separating Axis", words)])


@dataclass(frozen=True, eq=False)
class Moving:
    """What the next view of the same objects starts from."""

    trees: dict[str, MovedTree] = field(default_factory=dict)
    """By the name of the object."""
    kdops: dict[str, ClimbedKDop] = field(default_factory=dict)
    axes: dict[tuple[str, ...], SeparatingAxis] = field(default_factory=dict)
    """By the names of the pair."""
