# SPDX-License-Identifier: GPL-3.0-or-later
"""The broad phase against coal's tree of boxes: `python -m benchmarks --only broad_phase`.

In every frame all boxes have moved by a twentieth of their size or less. coal's `update` and `collide` with its own
callback that collects pairs are timed, all in C++; putting its objects in their new places is not. Ours starts from
nothing but the arrays. Both run once per frame, in turn, with what the other left in the caches, as in a simulation
that does more than this; and they find the same pairs. In a space of 1 for each box it touches 7 others on average, in
one of 2 about one.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from contact_lens.core.broad_phase.candidate_pairs import candidate_pairs

from .table import Against, Row, show


@dataclass(frozen=True)
class Workload:
    """Boxes in a cube."""

    count: int
    room: float
    """Side of the cube that each box has for itself; the boxes have sides of 0.6 to 1.4."""
    goal: float | None
    uneven: float = 1.0
    """Sizes are divided by up to this, evenly over their logarithms."""

    @property
    def words(self) -> str:
        sizes = "about one size" if self.uneven == 1.0 else f"sizes mixed {self.uneven:.0f}:1"
        return f"{self.count:,} boxes, {sizes}"


WORKLOADS = (
    Workload(1_000, 1.0, 1.2),
    Workload(10_000, 1.0, 2.0),
    Workload(100_000, 1.0, 2.3),
    Workload(1_000, 2.0, None),
    Workload(10_000, 2.0, None),
    Workload(100_000, 2.0, None),
    Workload(10_000, 2.0, 0.9, 300.0),
    Workload(10_000, 0.5, 0.9, 300.0),
    Workload(10_000, 0.25, 0.9, 300.0),
)
FRAMES = {1_000: 200, 10_000: 60}
"""Frames by number of boxes."""
QUICK = (Workload(1_000, 1.0, 1.2), Workload(1_000, 0.5, 0.9, 300.0))


class Scene:
    """The same boxes here and in coal."""

    def __init__(self, workload: Workload) -> None:
        import coal

        self._rng = np.random.default_rng(5)
        self.half = self._rng.uniform(0.3, 0.7, (workload.count, 3))
        self.half *= workload.uneven ** -self._rng.uniform(0.0, 1.0, (workload.count, 1))
        self.center = self._rng.uniform(0.0, workload.room * workload.count ** (1 / 3), (workload.count, 3))
        self.objects = [
            coal.CollisionObject(coal.Box(*(2.0 * half)), coal.Transform3s(np.eye(3), center))
            for half, center in zip(self.half, self.center, strict=True)
        ]
        self.manager = coal.DynamicAABBTreeCollisionManager()
        for one in self.objects:
            self.manager.registerObject(one)
        self.manager.setup()
        self.callback = coal.CollisionCallBackCollect(100 * workload.count)

    def move(self) -> None:
        """Move every box."""
        self.center = self.center + self._rng.uniform(-0.1, 0.1, self.center.shape) * self.half
        for one, center in zip(self.objects, self.center, strict=True):
            one.setTranslation(center)
            one.computeAABB()

    def coal(self) -> float:
        """Find coal's pairs, and return how long it took."""
        self.callback.init()
        start = perf_counter()
        self.manager.update()
        self.manager.collide(self.callback)
        return perf_counter() - start

    def check(self, pairs: np.ndarray) -> None:
        """Ask that coal found the same pairs."""
        exist: Any = self.callback.exist
        assert self.callback.numCollisionPairs() == len(pairs)
        objects = self.objects
        for i, j in pairs.tolist():
            assert exist(objects[i], objects[j]) or exist(objects[j], objects[i])


def row(workload: Workload, frames: int) -> Row:
    """Measure one workload: the median over some frames."""
    scene = Scene(workload)
    ours, theirs = [], []
    for frame in range(frames):
        scene.move()
        low, high = scene.center - scene.half, scene.center + scene.half
        coal_first = frame % 2 == 1
        if coal_first:
            theirs.append(scene.coal())
        start = perf_counter()
        found = candidate_pairs(low, high)
        ours.append(perf_counter() - start)
        if not coal_first:
            theirs.append(scene.coal())
        if frame == 0:
            scene.check(found.pairs)
        assert scene.callback.numCollisionPairs() == len(found.pairs)
    name = f"{workload.words}: {len(found.pairs):,} pairs ({found.method})"
    goals = {} if workload.goal is None else {"coal": workload.goal}
    return Row(name, median(ours), {"coal": Against(median(theirs), median(ours))}, goals)


def main(quick: bool = False) -> None:
    """Print the table."""
    try:
        import coal  # noqa: F401
    except ImportError as error:
        print(f"coal is not here, and there is nothing to compare with ({error}).")
        return
    show(
        [row(workload, 4 if quick else FRAMES.get(workload.count, 15)) for workload in (QUICK if quick else WORKLOADS)]
    )
