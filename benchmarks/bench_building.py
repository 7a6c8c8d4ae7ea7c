# SPDX-License-Identifier: GPL-3.0-or-later
"""A building through `contacts`: `python -m benchmarks --only building`.

Storeys of slabs with a shaft, walls with openings, doors that fit into these, rooms between, a duct through all walls
of a storey. CPU time of first answers, and without depths, with `--before CHECKOUT` of an older version too; FCL
tells which intersect. CONTACT_LENS_BUILDING names a file of `numpy.savez` to be measured instead: points_K (n, 3) and
triangles_K (m, 3) for each K from 0, and pairs (p, 2).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np

from contact_lens.core import Mesh, contacts
from tests.core.mesh_shapes import block, voxels

from .bench_mesh_depth import ROOT
from .peers import fcl_mesh, fcl_mesh_pairs
from .table import duration

Arrays = tuple[np.ndarray, np.ndarray]
STOREYS, ROOMS = 2, 4
ROOM, HIGH, THICK = 4.0, 3.0, 0.25
"""Metres: sides and height of a room, and how thick walls and slabs are."""


def lattice(full: np.ndarray, *steps: list[float]) -> Arrays:
    """Boxes of a lattice with these coordinates along the axes, where `full`."""
    points, triangles = voxels(np.argwhere(full).tolist())
    return np.stack([np.take(s, points[:, k].astype(int)) for k, s in enumerate(steps)], axis=1), triangles


def duct(length: float, low: list[float]) -> Arrays:
    """A prism of eight sides along x."""
    angle = np.arange(8) * np.pi / 4
    ring = np.stack([0.0 * angle, 0.2 * np.cos(angle), 0.2 * np.sin(angle)], axis=1)
    points = np.concatenate([ring, ring + [length, 0.0, 0.0], [[0.0, 0.0, 0.0], [length, 0.0, 0.0]]])
    faces = []
    for k in range(8):
        n = (k + 1) % 8
        faces += [(k, n, 8 + n), (k, 8 + n, 8 + k), (n, k, 16), (8 + k, 8 + n, 17)]
    return points + low, np.array(faces)


def building(storeys: int, rooms: int) -> list[Arrays]:
    """The meshes; rooms are in two rows, along x."""
    result = []
    span = rooms * ROOM
    for z in np.arange(storeys) * (HIGH + THICK):
        low = z + THICK
        hole = np.ones((3, 3, 1), dtype=bool)
        hole[1, 1] = False
        result.append(lattice(hole, [0.0, 1.0, 2.0, span], [-ROOM, -1.0, -0.5, ROOM], [z, low]))
        wall = np.ones((3, 1, 2), dtype=bool)
        wall[1, 0, 0] = False
        for x in np.arange(rooms) * ROOM:
            for y in (-ROOM, 0.0):
                result.append(block((ROOM - THICK, ROOM - THICK, HIGH), (x + THICK, y + THICK, low)))
                across = lattice(
                    wall.transpose(1, 0, 2), [x, x + THICK], [y, y + 1.5, y + 2.5, y + ROOM], [low, low + 2, low + HIGH]
                )
                result += [across, block((0.1, 1.0, 2.0), (x + 0.1, y + 1.5, low))]
            along = lattice(wall, [x + THICK, x + 1.5, x + 2.5, x + ROOM], [0.0, THICK], [low, low + 2, low + HIGH])
            result += [along, block((1.0, 0.1, 2.0), (x + 1.5, 0.1, low))]
        result += [duct(span, [0.1, y, low + 2.5]) for y in (-2.0, 2.0)]
    return result


def scene(quick: bool) -> tuple[list[Mesh], list[list[int]] | None]:
    """The meshes, and their pairs where these are given."""
    if path := os.environ.get("CONTACT_LENS_BUILDING"):
        given = np.load(path)
        count = sum(name.startswith("points_") for name in given.files)
        arrays = [(given[f"points_{k}"], given[f"triangles_{k}"].astype(np.intp)) for k in range(count)]
        return [Mesh(*surface) for surface in arrays], given["pairs"].tolist()
    return [Mesh(*surface) for surface in building(1 if quick else STOREYS, 2 if quick else ROOMS)], None


def serve(quick: bool) -> None:
    """Print what this version takes, and what it finds."""
    found = {}
    for name, options in (
        ("first answers", {}),
        ("without depths", {"depths": False}),
        ("nor regions", {"depths": False, "regions": False}),
    ):
        meshes, pairs = scene(quick)
        begin = process_time()
        try:
            clashes = contacts(meshes, pairs, budget=0.0, **options)
        except TypeError:
            continue  # an older version
        found[name] = process_time() - begin, len(clashes), dict(Counter(clashes.relation.tolist()))
    print(json.dumps(found))


def main(quick: bool = False) -> None:
    """Print the table."""
    paths = (
        {"now": ROOT, "before": Path(os.environ["CONTACT_LENS_BEFORE"])}
        if "CONTACT_LENS_BEFORE" in os.environ
        else {"now": ROOT}
    )
    for version, path in paths.items():
        command = [sys.executable, "-m", __name__, "serve", *(["quick"] if quick else [])]
        variables = {**os.environ, "PYTHONPATH": str(path / "tests" / "tooling" / "checkout")}
        done = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True)
        for name, (seconds, count, relations) in json.loads(done.stdout).items():
            clashes = count - relations.get("separated", 0)
            words = ", ".join(f"{number} {relation}" for relation, number in sorted(relations.items()))
            spent = f"{duration(seconds)} for {count} pairs, {duration(seconds / clashes)} a clash"
            print(f"{version}, {name}: {spent}; {words}")
    if not find_spec("fcl"):
        print("FCL is left out: the package python-fcl is not installed.")
        return
    meshes, pairs = scene(quick)
    models = [fcl_mesh(mesh.points, mesh.triangles) for mesh in meshes]
    chosen = contacts(meshes, pairs, budget=0.0, depths=False).pairs.tolist()
    begin = process_time()
    met = sum(map(bool, map(partial(_collide, models), chosen)))
    print(f"FCL, surfaces that meet, trees made before: {duration(process_time() - begin)}, {met} of {len(chosen)}")


def _collide(models: list, pair: list[int]) -> bool:
    return bool(fcl_mesh_pairs(models[pair[0]], models[pair[1]], 1).is_collision)


if __name__ == "__main__" and sys.argv[1:2] == ["serve"]:
    serve("quick" in sys.argv)
