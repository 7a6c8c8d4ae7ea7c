# SPDX-License-Identifier: GPL-3.0-or-later
"""100 pairs of closed meshes of 500 to 12,000 triangles that penetrate, each with the best known translation.

Parts of machines (of the packages pybullet and example-robot-data), results of booleans, torus knots, lattices, gears,
springs, bowls in bowls, Suzanne with lids. benchmarks/corpus made them and looked for the translations;
tests/data/README.md names the licences of the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import hypot
from pathlib import Path

import numpy as np

from .mesh_shapes import Surface

DATA = Path(__file__).parent.parent / "data"
PAIRS_FILE = DATA / "mesh_pairs.npz"
"""Meshes and poses."""
BEST_FILE = DATA / "mesh_pairs_best.npz"
"""The best known translation of each pair."""
COUNT = 100
"""Pairs."""
MESHES = 87
"""What they are made of."""
TENTH = range(3, COUNT, 10)
"""A tenth of the pairs, of all kinds."""


@dataclass(frozen=True, eq=False)
class MeshPair:
    """Two solids that penetrate; world frame, float64."""

    name: str
    a: Surface
    b: Surface
    best: np.ndarray
    """(3,) the shortest known translation of B that separates them."""

    @property
    def best_length(self) -> float:
        """Length of the best known translation: the depth is not more."""
        return hypot(*self.best.tolist())


def mesh_pairs(indices: Sequence[int] = range(COUNT), best: np.ndarray | None = None) -> list[MeshPair]:
    """Return some of the pairs, with the stored translations unless others (100, 3) are given."""
    data = _data(str(PAIRS_FILE))
    best = _data(str(BEST_FILE))["translations"] if best is None else best
    result = []
    for k in indices:
        surfaces, names = [], []
        for side in (0, 1):
            mesh = int(data["pairs"][k, side])
            points, triangles = mesh_of(mesh)
            surfaces.append((_posed(points, data["poses"][k, side]), triangles))
            names.append(str(data["names"][mesh]))
        result.append(MeshPair(f"{k} {names[0]} - {names[1]}", *surfaces, best[k]))
    return result


def mesh_of(index: int) -> Surface:
    """Return one of the meshes, in its own frame."""
    data = _data(str(PAIRS_FILE))
    rows = []
    for kind, dtype in (("points", np.float64), ("triangles", np.int64)):
        counts = data[f"{kind[:-1]}_counts"]
        first = int(counts[:index].sum())
        rows.append(np.ascontiguousarray(data[kind][:, first : first + int(counts[index])].T, dtype=dtype))
    return rows[0], rows[1]


def _posed(points: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Points moved by a matrix: sums of products in one order, so that they are the same on every machine."""
    x, y, z = points.T
    return np.stack([row[0] * x + row[1] * y + row[2] * z + row[3] for row in pose[:3]], axis=1)


@cache
def _data(path: str) -> dict[str, np.ndarray]:
    with np.load(path) as data:
        return dict(data)
