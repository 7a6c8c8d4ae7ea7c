# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull against scipy.spatial.ConvexHull (qhull): `python -m benchmarks --only hull`.

Both run in turn in one process and find the same vertices. Qhull is C; the aim is to stay within 10 times at 1,000,
10,000 and 100,000 points in a ball.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.spatial import ConvexHull as QHull

from contact_lens.core.shapes.hull import ConvexHull

from .table import Against, Row, in_turn, show

COUNTS = (8, 32, 128, 1000, 10_000, 100_000)
QUICK = (8, 32, 128, 1000)
GOAL = 0.1
"""Ratio wanted from 1,000 points on."""


def rows(counts: Sequence[int] = COUNTS, rounds: int = 15) -> list[Row]:
    """Measure points in a ball for each count, then bodies with many coplanar points."""
    rng = np.random.default_rng(1)
    result = []
    for count in counts:
        points = rng.normal(size=(count, 3))
        points *= rng.random((count, 1)) ** (1 / 3) / np.linalg.norm(points, axis=1, keepdims=True)
        hull = ConvexHull(points)
        assert hull.vertex_ids.tolist() == sorted(QHull(points).vertices.tolist())
        result.append(_row(f"ball, {count:,} points", points, f"{len(hull.vertices)} vertices", rounds))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    grid = np.array(list(product(np.linspace(-0.5, 0.5, 21), repeat=3)))
    cube = grid[np.abs(grid).max(axis=1) == 0.5] @ turn
    result.append(
        _row(f"turned cube, {len(cube):,} points on it", cube, f"{len(ConvexHull(cube).facets)} facets", rounds)
    )
    down, around = np.linspace(0, np.pi, 17), np.linspace(0, 2 * np.pi, 33)[:-1]
    mesh = np.array([[np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)] for u in down for v in around]) @ turn
    result.append(
        _row(f"sphere of quads, {len(mesh):,} points", mesh, f"{len(ConvexHull(mesh).facets)} facets", rounds)
    )
    return result


def _row(workload: str, points: np.ndarray, found: str, rounds: int) -> Row:
    ours, theirs = in_turn((lambda: ConvexHull(points), lambda: QHull(points)), rounds)
    goals = {"scipy": GOAL} if len(points) >= 1000 else {}
    return Row(f"{workload}: {found}", ours, {"scipy": Against(theirs, ours)}, goals)


def main(quick: bool = False) -> None:
    """Print the table."""
    show(rows(QUICK, 3) if quick else rows())
