# SPDX-License-Identifier: GPL-3.0-or-later
"""Two meshes: what of them meets, how far apart they are: `python -m benchmarks --only mesh_pairs`.

All triangles that meet against Blender's mathutils.bvhtree (CONTACT_LENS_BLENDER_PYTHON, as for bench_bvh) and, with
trees made before, FCL. mathutils rounds to float32 and tells only the pairs; we tell where they meet too. Distances
against FCL and manifold3d, which tells the distance alone; overlaps against manifold3d. Then first answers and checks
of meshes of up to a million triangles, each in a process of its own, for its memory; with `--before CHECKOUT` of an
older version too.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from contact_lens.core import Mesh, contact, contact_curves, crossing_triangles, mesh_distance, verify
from contact_lens.core.measures.overlap_surface import overlap_surface
from contact_lens.core.measures.overlap_volume import overlap_volume
from tests.core.mesh_shapes import torus

from .bench_bvh import mesh
from .in_blender import measure_in_blender
from .peers import fcl_mesh, fcl_mesh_pairs
from .table import Against, Row, duration, in_turn, print_table, show, times

COUNTS = (10_000, 100_000, 500_000)
NEAR = 63_000
GOALS = {10_000: 1.5, 100_000: 4.0, 500_000: 6.0}
"""Ratios wanted against mathutils, trees and all."""
BUILT = 100_000
"""Triangles of which trees are made before."""
DISTANT = 20_000
"""Triangles of meshes whose distance is measured."""
OVERLAPPING = 10_000
"""Triangles of meshes whose overlap is measured."""
ROOT = Path(__file__).resolve().parents[1]
LARGE = (
    ("tori that cross", 100_000, "1.5 s"),
    ("tori apart", 1_000_000, "10 s, 1.5 GB"),
    ("linked tori", 1_000_000, "10 s, 1.5 GB"),
)
"""Workload, triangles of each mesh, goal."""

Arrays = tuple[np.ndarray, np.ndarray]


def surfaces(count: int, near: bool) -> tuple[Arrays, Arrays]:
    """Two bumpy spheres that overlap by a third, or two copies of one that are nearly at the same place."""
    points, triangles = mesh(count)
    if near:
        noise = np.random.default_rng(0).normal(size=points.shape) * 1e-4
        return (points, triangles), (points * 1.0005 + noise, triangles)
    points_b, triangles_b = mesh(count, 0.3)
    return (points, triangles), (points_b + [1.2, 0.3, 0.1], triangles_b)


def ours(a: Arrays, b: Arrays) -> Any:
    """From arrays to the answer: what is timed."""
    return crossing_triangles(Mesh(*a), Mesh(*b))


def meshes_with_trees(surfaces: tuple[Arrays, Arrays]) -> list[Mesh]:
    """Meshes whose trees are made and kept."""
    meshes = [Mesh(*surface) for surface in surfaces]
    assert all(mesh.tree for mesh in meshes)
    return meshes


def assert_same_pairs(theirs: set[tuple[int, int]], ours: Any) -> None:
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


def ring(count: int, thick: float = 0.35) -> Arrays:
    """A torus of about so many triangles."""
    across = round((count / 6) ** 0.5)
    return torus(round(count / 2 / across), across, 1.0, thick)


def pose(count: int, kind: str) -> tuple[Arrays, Arrays]:
    """Two tori: turned and moved so that they cross or are apart, linked as in a chain, or one inside the other."""
    a = ring(count)
    if kind == "linked tori":
        points, triangles = ring(count, 0.3)
        return a, (points[:, [0, 2, 1]] + [1.0, 0.0, 0.0], np.ascontiguousarray(triangles[:, ::-1]))
    if kind == "one in the other":
        return a, ring(count, 0.2)
    axis = np.array([0.36, 0.48, 0.8])
    cross = np.cross(np.eye(3), axis)
    turn = np.eye(3) + np.sin(1.2) * cross + (1.0 - np.cos(1.2)) * cross @ cross
    return a, (a[0] @ turn + ([0.6, 0.2, 0.1] if kind == "tori that cross" else [3.0, 0.2, 0.1]), a[1])


def distance_rows(quick: bool) -> list[Row]:
    """Measure distances from arrays to the answer."""
    result = []
    few = DISTANT // 10  # more take the peers minutes
    for kind, count in (("tori apart", DISTANT), ("linked tori", few), ("one in the other", few)):
        a, b = pose(count // 10 if quick else count, kind)

        def distance(a: Arrays = a, b: Arrays = b) -> float:
            return mesh_distance(Mesh(*a), Mesh(*b)).distance

        calls = {"ours": distance}
        if find_spec("fcl"):
            import fcl

            def theirs(a: Arrays = a, b: Arrays = b) -> float:
                models = [fcl_mesh(*one) for one in (a, b)]
                return float(fcl.distance(*models, fcl.DistanceRequest(), fcl.DistanceResult()))

            calls["fcl"] = theirs
        if find_spec("manifold3d"):
            from manifold3d import Manifold, Mesh64

            def least(a: Arrays = a, b: Arrays = b) -> float:
                solids = [Manifold(Mesh64(np.ascontiguousarray(p), t.astype(np.uint64))) for p, t in (a, b)]
                return float(solids[0].min_gap(solids[1], 10.0))

            calls["manifold3d"] = least
        wanted = distance()
        for name, call in calls.items():
            # manifold3d takes what is inside of another solid for no gap.
            assert abs(call() - wanted) <= 1e-6 or (name, kind) == ("manifold3d", "one in the other"), (name, kind)
        if kind == "one in the other":
            calls.pop("manifold3d", None)
        ours, *others = in_turn(list(calls.values()), 1)
        peers = {name: Against(time, ours) for name, time in zip(list(calls)[1:], others, strict=True)}
        result.append(Row(f"distance of {kind}, {len(a[1]):,} triangles each", ours, peers))
    return result


def overlap_rows(quick: bool) -> list[Row]:
    """Measure overlaps, from arrays to the volume between its bounds, and to the surface to be drawn. For the volume it
    is asked whether the meshes cross themselves; manifold3d takes that for granted."""
    both = pose((1_000 if quick else OVERLAPPING), "tori that cross")

    def volume() -> float:
        return overlap_volume(*(Mesh(*one) for one in both)).volume or 0.0

    def surface() -> object:
        return overlap_surface(*(Mesh(*one) for one in both))

    calls: list[Callable[[], object]] = [volume, surface]
    if find_spec("manifold3d"):
        from manifold3d import Manifold, Mesh64

        def theirs() -> float:
            solids = [Manifold(Mesh64(np.ascontiguousarray(p), t.astype(np.uint64))) for p, t in both]
            return float((solids[0] ^ solids[1]).volume())

        assert abs(theirs() - volume()) <= 1e-9 * volume()
        calls.append(theirs)
    seconds = in_turn(calls, 5)
    name = f"overlap of tori that cross, {len(both[0][1]):,} triangles each"
    return [
        Row(f"{name}, {what}", ours, dict(zip(("manifold3d",), (Against(s, ours) for s in seconds[2:]), strict=False)))
        for what, ours in zip(("volume", "surface"), seconds[:2], strict=True)
    ]


def large(kind: str, count: int) -> None:
    """Print CPU seconds of the first answer from arrays, those of its check, and the most memory in bytes."""
    both = pose(count, kind)
    begin = process_time()
    meshes = [Mesh(*one) for one in both]
    found = contact(*meshes, budget=0.0)
    middle = process_time()
    ok = bool(verify(found, *meshes))
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps([middle - begin, process_time() - middle, peak, ok]))


def show_large(quick: bool) -> None:
    """Print the table of large meshes; each is measured in a process of its own."""
    checkouts = {"now": ROOT}
    if path := os.environ.get("CONTACT_LENS_BEFORE"):
        checkouts["before"] = Path(path)
    lines = [["first answer, CPU", "now", "verify", "memory", "before", "memory", "before / now", "goal"]]
    for kind, count, goal in LARGE:
        found = {}
        for name, checkout in checkouts.items():
            variables = {**os.environ, "PYTHONPATH": str(checkout / "tests" / "tooling" / "checkout")}
            command = [sys.executable, "-m", __name__, "large", kind, str(count // 100 if quick else count)]
            done = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True, check=True)
            found[name] = json.loads(done.stdout.splitlines()[-1])
        seconds, check, peak, ok = found["now"]
        cells = [duration(seconds), duration(check) if ok else "NOT VERIFIED", f"{peak / 2**30:.2f} GiB"]
        if "before" in found:
            theirs, _, most, _ = found["before"]
            cells += [duration(theirs), f"{most / 2**30:.2f} GiB", times(theirs / seconds)]
        else:
            cells += ["", "", ""]
        lines.append([f"{kind}, {count:,} triangles each", *cells, goal])
    print_table(lines, left=(0, 7))


def main(quick: bool = False) -> None:
    """Print the tables."""
    show(rows(quick))
    show(distance_rows(quick))
    show(overlap_rows(quick))
    show_large(quick)
    for count in (2000,) if quick else COUNTS:
        meshes = [Mesh(*one) for one in surfaces(count, False)]
        found = crossing_triangles(*meshes)
        (time,) = in_turn((partial(contact_curves, found, *meshes),), 3)
        curves = contact_curves(found, *meshes)
        print(f"{count:,} triangles: {len(found):,} pairs to {len(curves)} curve(s) in {duration(time)}")


if __name__ == "__main__" and sys.argv[1:2] == ["large"]:
    large(sys.argv[2], int(sys.argv[3]))
