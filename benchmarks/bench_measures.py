# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of two solids besides their contact: `python -m benchmarks --only measures`.

Times are from arrays to the answer, trees and all. Bounds: how far those of the answer are apart, times the answer.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter

import numpy as np

from contact_lens.core import Mesh, deepest_point
from tests.core.mesh_shapes import sphere, torus

from .table import duration, print_table

COUNT = 10_000
"""Triangles of each mesh, about."""
ROUNDS = 5

Arrays = tuple[np.ndarray, np.ndarray]


def meshes(count: int) -> dict[str, tuple[Arrays, Arrays]]:
    """Return pairs of meshes: deep in each other, along each other, and one inside the other."""
    rings = round((count / 4) ** 0.5)
    (ball, faces), (ring, sides) = sphere(rings), torus(2 * rings, rings)
    bumps = ball * (1.0 + 0.1 * np.sin(7.0 * ball[:, :1]) * np.sin(5.0 * ball[:, 1:2]))
    return {
        "bumpy balls that overlap by a third": ((bumps, faces), (bumps + [1.2, 0.3, 0.1], faces)),
        "tori that cross": ((ring, sides), (ring[:, [2, 0, 1]] + [0.5, 0.2, 0.1], sides)),
        "a ball through a ring": ((ring, sides), (0.5 * ball + [1.0, 0.0, 0.1], faces)),
        "a ball in a ball": ((0.5 * ball + [0.1, 0.2, 0.1], faces), (ball, faces)),
        "a ring that fits into a ring": (torus(2 * rings, rings, thick=0.28), (ring, sides)),
    }


def main(quick: bool = False) -> None:
    """Print the table."""
    lines = [["deepest points, of A in B and B in A", "triangles", "time", "bounds"]]
    for name, pair in meshes(COUNT // 10 if quick else COUNT).items():
        spent = []
        for _ in range(1 if quick else ROUNDS):
            start = perf_counter()
            found = deepest_point(*(Mesh(*arrays) for arrays in pair))
            spent.append(perf_counter() - start)
        widths = [(point.upper - point.lower) / point.distance for point in (found.of_a, found.of_b) if point]
        lines.append([name, f"{len(pair[0][1]):,}", duration(median(spent)), f"{max(widths):.1e}"])
    print_table(lines)
