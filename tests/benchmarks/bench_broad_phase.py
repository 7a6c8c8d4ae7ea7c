# SPDX-License-Identifier: GPL-3.0-or-later
"""The broad phase against coal's tree of boxes: `python -m tests.benchmarks --only broad_phase`.

coal's objects have moved: `update` and `collide` with a callback that collects the pairs, all in C++. Ours takes the
boxes as arrays. Both run in turn in one process and find the same pairs.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from contact_lens.core.broad_phase import candidate_pairs

from .table import Against, Row, in_turn, show

COUNTS = {1_000: 1.2, 10_000: 2.0, 100_000: 2.3}
"""Boxes of about one size, and the ratio wanted."""
UNEVEN = 0.9
"""Ratio wanted for boxes of sizes mixed 300 to 1."""


def boxes(rng: np.random.Generator, count: int, uneven: bool) -> tuple[np.ndarray, np.ndarray]:
    """Boxes of a scene in which each touches about one other."""
    half = rng.uniform(0.3, 0.7, (count, 3))
    if uneven:
        half *= 300.0 ** -rng.uniform(0.0, 1.0, (count, 1))
    center = rng.uniform(0.0, 2.0 * count ** (1 / 3), (count, 3))
    # coal's boxes are those of shapes with a place: the same numbers on both sides.
    return center, half


def of_coal(center: np.ndarray, half: np.ndarray) -> tuple[Any, Any, list[Any]]:
    """A manager of coal with these boxes, a callback, and its objects."""
    import coal

    objects = []
    for middle, side in zip(center, half, strict=True):
        place = coal.Transform3s(np.eye(3), middle)
        objects.append(coal.CollisionObject(coal.Box(*(2.0 * side)), place))
    manager = coal.DynamicAABBTreeCollisionManager()
    for one in objects:
        manager.registerObject(one)
    manager.setup()
    return manager, coal.CollisionCallBackCollect(50 * len(objects)), objects


def rows(counts: dict[int, float], rounds: int) -> list[Row]:
    """Measure scenes of each size, then one of mixed sizes."""
    rng = np.random.default_rng(5)
    result = []
    for count, uneven, goal in [*((count, False, goal) for count, goal in counts.items()), (10_000, True, UNEVEN)]:
        center, half = boxes(rng, count, uneven)
        manager, callback, objects = of_coal(center, half)

        def theirs(manager: Any = manager, callback: Any = callback) -> None:
            callback.init()
            manager.update()
            manager.collide(callback)

        low, high = center - half, center + half
        found = candidate_pairs(low, high)
        theirs()
        # coal's boxes are a hair larger or smaller by rounding: none of the pairs may depend on it.
        assert callback.numCollisionPairs() == len(found.pairs)
        for i, j in found.pairs[:: max(1, len(found.pairs) // 500)].tolist():
            assert callback.exist(objects[i], objects[j]) or callback.exist(objects[j], objects[i])
        ours, coal_time = in_turn((partial(candidate_pairs, low, high), theirs), rounds)
        sizes = "sizes mixed 300:1" if uneven else "about one size"
        name = f"{count:,} boxes, {sizes}: {len(found.pairs):,} pairs ({found.method})"
        result.append(Row(name, ours, {"coal": Against(coal_time, ours)}, {"coal": goal}))
    return result


def main(quick: bool = False) -> None:
    """Print the table."""
    try:
        import coal  # noqa: F401
    except ImportError as error:
        print(f"coal is not here, and there is nothing to compare with ({error}).")
        return
    show(rows({1_000: 1.2}, 3) if quick else rows(COUNTS, 9))
