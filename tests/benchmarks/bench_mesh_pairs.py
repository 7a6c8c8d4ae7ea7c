# SPDX-License-Identifier: GPL-3.0-or-later
"""All triangles of two meshes that meet: `python -m tests.benchmarks --only mesh_pairs`.

Against Blender's mathutils.bvhtree (CONTACT_LENS_BLENDER_PYTHON, as for bench_bvh) and, with trees made before, FCL.
mathutils rounds to float32 and tells only the pairs; we tell where they meet too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from contact_lens.core.meshes.contact_curves import contact_curves
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.triangle_pairs import Crossings, crossing_triangles

from .bench_bvh import mesh
from .table import Against, Row, duration, in_turn, show

COUNTS = (10_000, 100_000, 500_000)
NEAR = 63_000
GOALS = {10_000: 1.5, 100_000: 4.0, 500_000: 6.0}
"""Ratios wanted against mathutils, trees and all."""
BUILT = 100_000
"""Triangles of which trees are made before."""

Arrays = tuple[np.ndarray, np.ndarray]


def surfaces(count: int, near: bool) -> tuple[Arrays, Arrays]:
    """Two bumpy spheres that overlap by a third, or two copies of one that are nearly at the same place."""
    points, triangles = mesh(count)
    if near:
        noise = np.random.default_rng(0).normal(size=points.shape) * 1e-4
        return (points, triangles), (points * 1.0005 + noise, triangles)
    other, its = mesh(count, 0.3)
    return (points, triangles), (other + [1.2, 0.3, 0.1], its)


def ours(a: Arrays, b: Arrays) -> Crossings:
    """From arrays to the answer: what is timed."""
    return crossing_triangles(Mesh(*a), Mesh(*b))


def against_mathutils(count: int, near: bool, built: bool, rounds: int) -> tuple[float, float]:
    """Their time and ours, on the same surfaces; their answer must be ours but for what float32 cannot tell."""
    import bpy  # noqa: F401 - without it there is no mathutils
    from mathutils.bvhtree import BVHTree

    both = surfaces(count, near)
    lists = [(points.tolist(), triangles.tolist()) for points, triangles in both]
    build = partial(BVHTree.FromPolygons, all_triangles=True)
    trees = [build(*one) for one in lists]
    meshes = [Mesh(*one) for one in both]
    theirs_found = set(trees[0].overlap(trees[1]))
    ours_found = set(map(tuple, ours(*both).pairs.tolist()))
    other = len(theirs_found ^ ours_found)
    assert other <= 0.01 * len(ours_found), f"{other} of {len(ours_found)} pairs are not the same"
    if built:
        for one in meshes:
            one.tree  # noqa: B018 - it is made and kept
        calls = [partial(trees[0].overlap, trees[1]), partial(crossing_triangles, *meshes)]
    else:
        calls = [lambda: build(*lists[0]).overlap(build(*lists[1])), partial(ours, *both)]
    theirs, mine = in_turn(calls, rounds)
    return theirs, mine


def against_fcl(count: int, rounds: int) -> tuple[float, float]:
    """The time of FCL and ours, trees made before. It tells contacts one by one; several may be of one pair."""
    import fcl

    both = surfaces(count, False)
    models: list[Any] = []
    for points, triangles in both:
        model = fcl.BVHModel()
        model.beginModel(len(points), len(triangles))
        model.addSubModel(points, triangles)
        model.endModel()
        models.append(fcl.CollisionObject(model))
    meshes = [Mesh(*one) for one in both]
    for one in meshes:
        one.tree  # noqa: B018 - it is made and kept
    most = 4 * len(crossing_triangles(*meshes))

    def theirs() -> Any:
        request = fcl.CollisionRequest(num_max_contacts=most, enable_contact=True)
        result = fcl.CollisionResult()
        fcl.collide(models[0], models[1], request, result)
        return result

    found = {(contact.b1, contact.b2) for contact in theirs().contacts}
    wanted = set(map(tuple, crossing_triangles(*meshes).pairs.tolist()))
    other = len(found ^ wanted)
    assert other <= 0.01 * len(wanted), f"{other} of {len(wanted)} pairs are not the same"
    time, mine = in_turn((theirs, partial(crossing_triangles, *meshes)), rounds)
    return time, mine


def requests(quick: bool) -> list[tuple[int, bool, bool, int]]:
    """Count of triangles, whether nearly coincident, whether trees are made before, rounds."""
    if quick:
        return [(2000, False, False, 2), (2000, False, True, 2), (2000, True, False, 2)]
    plain = [(count, False, False, 5 if count > 200_000 else 9) for count in COUNTS]
    return [*plain, (BUILT, False, True, 9), (NEAR, True, False, 5)]


def in_blender(wanted: list[tuple[int, bool, bool, int]]) -> list[tuple[float, float] | None]:
    """The times of `against_mathutils`, here or in Blender's Python; None where there is none."""
    if find_spec("bpy"):
        return [against_mathutils(*one) for one in wanted]
    python = os.environ.get("CONTACT_LENS_BLENDER_PYTHON")
    if not python:
        print("mathutils is left out: it needs Blender's Python module, which `build.py bench` provides.")
        return [None] * len(wanted)
    done = subprocess.run(
        [python, "-m", "tests.benchmarks.bench_mesh_pairs", json.dumps(wanted)],
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Blender's Python ended with code {done.returncode}:\n{done.stdout}")
    return [(theirs, mine) for theirs, mine in json.loads(done.stdout.splitlines()[-1])]


def rows(quick: bool) -> list[Row]:
    """Measure against the peers."""
    wanted = requests(quick)
    result = []
    for (count, near, built, rounds), times in zip(wanted, in_blender(wanted), strict=True):
        peers = {} if times is None else {"mathutils": Against(*times)}
        if built and find_spec("fcl"):
            peers["fcl"] = Against(*against_fcl(count, rounds))
        both = surfaces(count, near)
        if built:
            goals = {"fcl": 1.0, "mathutils": 0.5}
            meshes = [Mesh(*one) for one in both]
            for one in meshes:
                one.tree  # noqa: B018 - it is made and kept
            (mine,) = in_turn((partial(crossing_triangles, *meshes),), rounds)
        else:
            goals = {"mathutils": 0.8 if near else GOALS.get(count, 1.0)}
            (mine,) = in_turn((partial(ours, *both),), rounds)
        special = ", nearly coincident" if near else ", trees before" if built else ""
        name = f"{count:,} triangles each{special}"
        result.append(Row(name, mine, peers, {} if quick else goals))
    return result


def main(quick: bool = False) -> None:
    """Print the tables."""
    show(rows(quick))
    for count in (2000,) if quick else COUNTS:
        meshes = [Mesh(*one) for one in surfaces(count, False)]
        found = crossing_triangles(*meshes)
        (time,) = in_turn((partial(contact_curves, found, *meshes),), 3)
        curves = contact_curves(found, *meshes)
        print(f"{count:,} triangles: {len(found):,} pairs to {len(curves)} curve(s) in {duration(time)}")


if __name__ == "__main__":
    print(json.dumps([against_mathutils(*one) for one in json.loads(sys.argv[1])]))
