# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull against scipy.spatial.ConvexHull (qhull): `python -m tests.benchmarks.bench_hull`.

Both run in turn in one process and find the same vertices. Qhull is C; the aim is to stay within 10 times at 1,000,
10,000 and 100,000 points in a ball.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull as QHull

from contact_lens.core.hull import ConvexHull

COUNTS = (8, 32, 128, 1000, 10_000, 100_000)


class Row(NamedTuple):
    """One line of the table; times are medians in milliseconds."""

    workload: str
    ours: float
    peer: str
    theirs: float
    times_slower: float
    note: str


def rows(counts: Sequence[int] = COUNTS) -> list[Row]:
    """Measure points in a ball for each count, then bodies with many coplanar points."""
    rng = np.random.default_rng(1)
    result = []
    for count in counts:
        points = rng.normal(size=(count, 3))
        points *= rng.random((count, 1)) ** (1 / 3) / np.linalg.norm(points, axis=1, keepdims=True)
        hull = ConvexHull(points)
        assert hull.vertex_ids.tolist() == sorted(QHull(points).vertices.tolist())
        result.append(_row(f"ball, {count:,} points", points, f"{len(hull.vertices)} vertices"))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    grid = np.array(list(product(np.linspace(-0.5, 0.5, 21), repeat=3)))
    cube = grid[np.abs(grid).max(axis=1) == 0.5] @ turn
    result.append(_row(f"turned cube, {len(cube):,} points on it", cube, f"{len(ConvexHull(cube).facets)} facets"))
    down, around = np.linspace(0, np.pi, 17), np.linspace(0, 2 * np.pi, 33)[:-1]
    mesh = np.array([[np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)] for u in down for v in around]) @ turn
    result.append(_row(f"sphere of quads, {len(mesh):,} points", mesh, f"{len(ConvexHull(mesh).facets)} facets"))
    return result


def _row(workload: str, points: np.ndarray, note: str) -> Row:
    ours, theirs = _in_turn(lambda: ConvexHull(points), lambda: QHull(points))
    return Row(workload, ours, "scipy", theirs, ours / theirs, note)


def _in_turn(first: Callable[[], object], second: Callable[[], object], seconds: float = 1.0) -> tuple[float, float]:
    """Return the median milliseconds of two functions called alternately for about the given time."""
    spent: tuple[list[float], list[float]] = ([], [])
    end = perf_counter() + seconds
    while perf_counter() < end or len(spent[0]) < 5:
        for function, times in zip((first, second), spent, strict=True):
            start = perf_counter()
            function()
            times.append(1e3 * (perf_counter() - start))
    return float(np.median(spent[0])), float(np.median(spent[1]))


def main() -> None:
    print(f"{'convex hull':36} {'ours ms':>9} {'scipy ms':>9} {'x slower':>9}")
    for row in rows():
        print(f"{row.workload:36} {row.ours:9.3f} {row.theirs:9.3f} {row.times_slower:9.1f}  {row.note}")


if __name__ == "__main__":
    main()
