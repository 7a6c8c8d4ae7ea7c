# SPDX-License-Identifier: GPL-3.0-or-later
"""How near the bounds of a depth are: `python -m benchmarks --only bounds`.

The least depth that is proved over the reported one, of 150 pairs of closed meshes and 50 of a closed and an open one:
generated parts of buildings and round shapes, upright or turned, and a tenth of the pairs of tests/data. An open mesh
is Suzanne, a sheet, or a solid without a tenth of its triangles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from time import process_time

import numpy as np

from contact_lens.core import Mesh, contact, verify
from tests.core.generators import rotation
from tests.core.mesh_pairs import TENTH, mesh_pairs
from tests.core.mesh_shapes import Surface, block, bumpy, notch_pair, sheet, suzanne, torus, voxels

from .bench_building import duct, lattice
from .table import duration, print_table

CLOSED, OPEN = 150, 50
"""Pairs."""
NEAR = {"closed": 0.9, "one open": 0.8}
"""Least over reported depth that is the goal of 90 % of the pairs."""
TURNED = 3
"""One of so many pairs is turned at random; the others are upright, as in a building."""


def solids(rng: np.random.Generator) -> dict[str, Surface]:
    """A closed mesh of each kind, 3 to 4 across."""
    at, wide, thick = rng.uniform((0.5, 0.5, 0.1), (1.5, 1.5, 0.4))
    door, hole = np.ones((3, 1, 2), dtype=bool), np.ones((3, 3, 1), dtype=bool)
    door[1, 0, 0] = hole[1, 1] = False
    across = [0.0, at, at + wide, 4.0]
    corner, ball = voxels([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), bumpy(rng)
    return {
        "wall with a door": lattice(door, across, [0.0, thick], [0.0, 2.0, 3.0]),
        "plate with a hole": lattice(hole, across, across, [0.0, thick]),
        "slab": block((4.0, 4.0, thick)),
        "L": (corner[0] * [1.5, 1.5, 1.0 + thick], corner[1]),
        "duct": duct(4.0, [0.0, 0.0, 0.0]),
        "thin sheet": block((3.0, 2.0, 0.02)),
        "bumpy ball": (ball[0] * 1.5, ball[1]),
        "torus": torus(16, 8, 1.5, thick + 0.1),
    }


def surfaces(rng: np.random.Generator) -> dict[str, Surface]:
    """An open mesh of each kind."""
    kind, (points, triangles) = list(solids(rng).items())[int(rng.integers(8))]
    kept = rng.permutation(len(triangles))[: len(triangles) * 9 // 10]
    head = suzanne(0)
    return {"Suzanne": (head[0] * 1.5, head[1]), "sheet": sheet(8, 3.0), f"open {kind}": (points, triangles[kept])}


def posed(rng: np.random.Generator, surface: Surface, spread: float, turned: bool) -> Surface:
    """The surface with its middle near the origin; turned, or upright along an axis."""
    turn = rotation(rng) if turned else np.eye(3)[rng.permutation(3)]
    points = (surface[0] - surface[0].mean(axis=0)) @ turn.T
    return points + rng.uniform(-spread, spread, 3), surface[1]


def pairs() -> Iterator[tuple[str, str, Surface, Surface]]:
    """The pairs that penetrate: closed or not, what they are, and the meshes."""
    for pair in mesh_pairs(TENTH):
        yield "closed", "tests/data", pair.a, pair.b
    yield "closed", "tests/data", *notch_pair()
    for group, count, make in (("closed", CLOSED - len(TENTH) - 1, solids), ("one open", OPEN, surfaces)):
        rng, k = np.random.default_rng(35), 0
        while k < count:
            (kind, a), (other, b) = (list(of.items())[int(rng.integers(len(of)))] for of in (make(rng), solids(rng)))
            a, b = (posed(rng, of, 1.0, k % TURNED == 0) for of in (a, b))
            found = contact(Mesh(*a), Mesh(*b), budget=0.0)
            if found.relation.value == "penetrating" and found.depth > 0.0:
                yield group, f"{kind} - {other}", a, b
                k += 1


def main(quick: bool = False) -> None:
    """Print the table."""
    found = defaultdict(list)
    for k, (group, kind, a, b) in enumerate(pairs()):
        for name, budget in (("first", 0.0), ("refined", None)) if not quick or k % 10 == 0 else ():
            begin, shapes = process_time(), (Mesh(*a), Mesh(*b))
            c = contact(*shapes, budget=budget)
            spent = process_time() - begin
            if not verify(c, *shapes).ok:
                print(f"NOT VERIFIED: {k} {kind}")
            proof = type(c.certificate.depth_proof).__name__ if c.certificate.depth_proof else c.method
            found[group, name].append((c.least_depth / c.depth, spent, kind, proof))
    lines = [["", "pairs", "near enough", "median", "10 %", "least", "CPU", "goal"]]
    for (group, name), rows in found.items():
        ratios, seconds = (np.array([row[k] for row in rows]) for k in (0, 1))
        low, middle = np.quantile(ratios, (0.1, 0.5))
        near = f"{(ratios >= NEAR[group]).mean():.0%}"
        shown = (f"{value:.2f}" for value in (middle, low, ratios.min()))
        lines.append(
            [f"{group}, {name}", str(len(rows)), near, *shown, duration(seconds.sum()), f">= {NEAR[group]}: 90 %"]
        )
    print_table(lines, left=(0, 7))
