# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that people made, each against a copy of itself: `python -m benchmarks --only real_meshes`.

Suzanne at five levels of subdivision, and meshes that the pybullet package ships: open, of loose parts, with holes,
crossing themselves. All triangles that meet against FCL, trees and all; and what the whole answer takes and says.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from contact_lens.core import Mesh, contact
from tests.core.mesh_shapes import suzanne

from .bench_mesh_pairs import assert_same_pairs, ours
from .peers import fcl_mesh, fcl_mesh_pairs
from .table import Against, Row, duration, in_turn, show

SHIPPED = (
    "bunny.obj",
    "racecar/meshes/left_rear_wheel.obj",
    "teddy2_VHACD_CHs.obj",
    "duck.obj",
    "soccerball.obj",
    "franka_panda/meshes/visual/hand.obj",
    "a1/meshes/trunk.obj",
    "samurai_monastry.obj",
)

Arrays = tuple[np.ndarray, np.ndarray]


def read_obj(path: Path) -> Arrays:
    """Points and triangles of a Wavefront file; its polygons as fans."""
    points, triangles = [], []
    for line in path.read_text(errors="replace").splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            points.append([float(x) for x in rest[:3]])
        elif word == "f":
            corners = [int(corner.split("/")[0]) for corner in rest]
            corners = [c - 1 if c > 0 else len(points) + c for c in corners]
            triangles += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    return np.array(points), np.array(triangles)


def meshes(quick: bool) -> dict[str, Arrays]:
    """The meshes by name."""
    result = {f"Suzanne, level {level}": suzanne(level) for level in range(2 if quick else 5)}
    found = find_spec("pybullet_data")
    if found is None or found.origin is None:
        print("Meshes of pybullet are left out: the package pybullet is not installed.")
        return result
    folder = Path(found.origin).parent
    return result | {name.split("/")[-1]: read_obj(folder / name) for name in SHIPPED[: 2 if quick else None]}


def crossing(mesh: Arrays) -> Arrays:
    """A copy, turned about an oblique axis and moved by a third of its size, so that both cross."""
    points, triangles = mesh
    low, high = points.min(axis=0), points.max(axis=0)
    axis, angle = np.array([1.0, 2.0, 3.0]) / 14**0.5, 0.7
    cross = np.cross(np.eye(3), axis)
    turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    middle = (low + high) / 2
    return (points - middle) @ turn.T + middle + (high - low) * [0.3, 0.2, 0.1], triangles


def against_fcl(a: Arrays, b: Arrays) -> list[float]:
    """The time of FCL and ours from arrays to pairs."""
    found = ours(a, b)

    def theirs() -> Any:
        return fcl_mesh_pairs(fcl_mesh(*a), fcl_mesh(*b), 4 * len(found))

    assert_same_pairs({(contact.b1, contact.b2) for contact in theirs().contacts}, found)
    return in_turn((theirs, partial(ours, a, b)), 5)


def main(quick: bool = False) -> None:
    """Print the tables."""
    pairs = {name: (mesh, crossing(mesh)) for name, mesh in meshes(quick).items()}
    rows = []
    for name, (a, b) in pairs.items():
        against = Against(*against_fcl(a, b))
        rows.append(Row(f"{name}: {len(a[1]):,} triangles", against.ours, {"fcl": against}))
    show(rows)
    for name, (a, b) in pairs.items():
        one, other = Mesh(*a), Mesh(*b)
        start = perf_counter()
        c = contact(one, other)
        time = perf_counter() - start
        kind = "solid" if c.certificate.a_solid and c.certificate.b_solid else "surface"
        depth = f", depth {c.least_depth:.4g} to {c.depth:.4g}" if c.has_depth else ""
        print(f"{name}: {kind}, {c.relation.value}, {len(c.curves)} curve(s){depth} in {duration(time)}")
