# SPDX-License-Identifier: GPL-3.0-or-later
"""Round shapes, and checks of contacts: `python -m benchmarks --only round_shapes [--before CHECKOUT]`.

The contact of a pair and its `verify`, CPU time of this version and of the one before, run by run in turn; and a round
shape apart from a mesh of 80 triangles over the same with its hull.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from contact_lens.core import Box, Capsule, ConvexHull, Cylinder, Ellipsoid, Mesh, Sphere, contact, depth_along, verify
from tests.core.mesh_shapes import sphere, torus

from .table import duration, print_table

ROOT = Path(__file__).resolve().parents[1]
TURN = (0.8, 0.3, 0.1, 0.2)


def calls() -> dict[str, Callable[[], object]]:
    """Return what is measured, by name."""
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(32, 3)) for _ in range(2))
    ball = ConvexHull(a / np.linalg.norm(a, axis=1)[:, None])
    other = ConvexHull(b / np.linalg.norm(b, axis=1)[:, None] + [1.5, 0.2, 0.1])
    egg, box = Ellipsoid((0, 0, 0), (1, 0.7, 0.5), (0.9, 0.1, 0.2, 0.3)), Box((0.7, 0.3, 0.2), (1, 1, 1), TURN)
    pairs = {
        "boxes, apart": (Box((0, 0, 0), (1, 1.2, 0.9)), box.translated((1.8, 0, 0))),
        "boxes, deep": (Box((0, 0, 0), (1, 1.2, 0.9)), box),
        "hulls of 32 vertices, apart": (ball, other.translated((1, 0, 0))),
        "hulls of 32 vertices, deep": (ball, other),
        "spheres, apart": (Sphere((0, 0, 0), 1.0), Sphere((2.5, 0.2, 0.1), 0.7)),
        "spheres, deep": (Sphere((0, 0, 0), 1.0), Sphere((1.0, 0.2, 0.1), 0.7)),
        "ellipsoid and box, deep": (egg, box),
        "ellipsoid and hull, deep": (egg, other),
        "ellipsoid and capsule, deep": (egg, Capsule((0.6, 0, 0.2), (0.6, 1, -1), 0.4)),
        "ellipsoids, apart": (egg, Ellipsoid((2.4, 0.3, 0.2), (1, 0.8, 0.4), TURN)),
        "ellipsoids, deep": (egg, Ellipsoid((1, 0.3, 0.2), (1, 0.8, 0.4), TURN)),
        "ellipsoids, one inside": (egg, Ellipsoid((0.1, 0, 0), (0.4, 0.2, 0.1), TURN)),
    }
    result: dict[str, Callable[[], object]] = {}
    for name, pair in pairs.items():
        result[name] = partial(contact, *pair)
        result[f"{name}: verify"] = partial(verify, contact(*pair), *pair)
    mesh, ring = Mesh(*sphere(5)), Mesh(*torus(32, 16))
    solids = Mesh(mesh.points, mesh.triangles), ConvexHull(mesh.points)
    for what, solid in zip(("a mesh of 80 triangles", "its hull"), solids, strict=True):
        # A shape that nothing has been asked of before.
        result[f"cylinder apart from {what}"] = lambda s=solid: contact(Cylinder((2, 0, 0), (2, 0.3, 1), 0.4), s)
    result["rod in a ring, depth_along"] = lambda: depth_along(ring, Cylinder((0, 0, -1), (0, 0.1, 1), 0.72), (0, 0, 1))
    return result


def measure(rounds: int) -> None:
    """Print CPU seconds of each, the least of some runs."""
    result = {}
    for name, call in calls().items():
        call()
        start = process_time()
        call()
        count = max(1, min(50, int(0.01 / max(process_time() - start, 1e-5))))
        spent = []
        for _ in range(rounds):
            start = process_time()
            for _ in range(count):
                call()
            spent.append((process_time() - start) / count)
        result[name] = min(spent)
    print(json.dumps(result))


def main(quick: bool = False) -> None:
    """Print the table."""
    before = os.environ.get("CONTACT_LENS_BEFORE")
    least: dict[str, dict[str, float]] = {}
    for _ in range(1 if quick else 3):
        for name, checkout in {"now": ROOT, **({"before": Path(before)} if before else {})}.items():
            variables = {**os.environ, "PYTHONPATH": str(checkout / "tests" / "tooling" / "checkout")}
            command = [sys.executable, "-m", __name__, "1" if quick else "3"]
            done = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True)
            for row, seconds in json.loads(done.stdout).items():
                known = least.setdefault(row, {})
                known[name] = min(seconds, known.get(name, seconds))
    lines = [["CPU", "now", "before", "before / now"]]
    for row, found in least.items():
        old = found.get("before")
        lines.append(
            [row, duration(found["now"]), *([duration(old), f"{old / found['now']:.1f}"] if old else ["", ""])]
        )
    print_table(lines)


if __name__ == "__main__":
    measure(int(sys.argv[1]))
