# SPDX-License-Identifier: GPL-3.0-or-later
"""All triangles of two meshes that meet: `python -m tests.benchmarks --only mesh_pairs`.

Against Blender's mathutils.bvhtree (CONTACT_LENS_BLENDER_PYTHON, as for bench_bvh) and, with trees made before, FCL.
mathutils rounds to float32 and tells only the pairs; we tell where they meet too.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np

from contact_lens.core.meshes.contact_curves import contact_curves
from contact_lens.core.meshes.crossings import Crossings
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.triangle_pairs import crossing_triangles

from .bench_bvh import mesh
from .in_blender import measure_in_blender
from .peers import fcl_mesh, fcl_mesh_pairs
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
    points_b, triangles_b = mesh(count, 0.3)
    return (points, triangles), (points_b + [1.2, 0.3, 0.1], triangles_b)


def ours(a: Arrays, b: Arrays) -> Crossings:
    """From arrays to the answer: what is timed."""
    return crossing_triangles(Mesh(*a), Mesh(*b))


def meshes_with_trees(surfaces: tuple[Arrays, Arrays]) -> list[Mesh]:
    """Meshes whose trees are made and kept."""
    meshes = [Mesh(*surface) for surface in surfaces]
    assert all(mesh.tree for mesh in meshes)
    return meshes


def assert_same_pairs(theirs: set[tuple[int, int]], ours: Crossings) -> None:
    """Ask that a peer finds our pairs, but for triangles that only just meet."""
    differ = len(theirs ^ set(map(tuple, ours.pairs.tolist())))
    assert differ <= 0.01 * len(ours), f"{differ} of {len(ours)} pairs are not the same"


def measure(count: int, near: bool, built: bool, rounds: int) -> list[float]:
    """The time of mathutils and ours, on the same surfaces; its answer must be ours but for rounding to float32."""
    import bpy  # noqa: F401 - without it there is no mathutils
    from mathutils.bvhtree import BVHTree

    both = surfaces(count, near)
    lists = [(points.tolist(), triangles.tolist()) for points, triangles in both]
    build = partial(BVHTree.FromPolygons, all_triangles=True)
    trees = [build(*surface) for surface in lists]
    assert_same_pairs(set(trees[0].overlap(trees[1])), ours(*both))
    if built:
        calls = [partial(trees[0].overlap, trees[1]), partial(crossing_triangles, *meshes_with_trees(both))]
    else:
        calls = [lambda: build(*lists[0]).overlap(build(*lists[1])), partial(ours, *both)]
    return in_turn(calls, rounds)


def against_fcl(count: int, rounds: int) -> list[float]:
    """The time of FCL and ours, trees made before. It reports contacts one by one; several may be of one pair."""
    both = surfaces(count, False)
    models, meshes = [fcl_mesh(*surface) for surface in both], meshes_with_trees(both)
    found = crossing_triangles(*meshes)
    collide = partial(fcl_mesh_pairs, *models, 4 * len(found))
    assert_same_pairs({(contact.b1, contact.b2) for contact in collide().contacts}, found)
    return in_turn((collide, partial(crossing_triangles, *meshes)), rounds)


def requests(quick: bool) -> list[tuple[int, bool, bool, int]]:
    """Count of triangles, whether nearly coincident, whether trees are made before, rounds."""
    if quick:
        return [(2000, False, False, 2), (2000, False, True, 2), (2000, True, False, 2)]
    plain = [(count, False, False, 5 if count > 200_000 else 9) for count in COUNTS]
    return [*plain, (BUILT, False, True, 9), (NEAR, True, False, 5)]


def rows(quick: bool) -> list[Row]:
    """Measure against the peers."""
    result = []
    times = measure_in_blender("bench_mesh_pairs", requests(quick))
    for k, (count, near, built, rounds) in enumerate(requests(quick)):
        peers = {"mathutils": Against(*times[k])} if times else {}
        if built and find_spec("fcl"):
            peers["fcl"] = Against(*against_fcl(count, rounds))
        both = surfaces(count, near)
        call = partial(crossing_triangles, *meshes_with_trees(both)) if built else partial(ours, *both)
        goals = {"fcl": 1.0, "mathutils": 0.5} if built else {"mathutils": 0.8 if near else GOALS.get(count, 1.0)}
        special = ", nearly coincident" if near else ", trees before" if built else ""
        name = f"{count:,} triangles each{special}"
        result.append(Row(name, in_turn((call,), rounds)[0], peers, {} if quick else goals))
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
