# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchies of bounding volumes: `python -m benchmarks --only bvh`.

First our fastest build against Blender's mathutils.bvhtree and coal's tree of a mesh, from triangles to the finished
tree, in turn in one process. The work is not the same: mathutils takes lists of Python numbers, which were
made before the clock starts, rounds them to float32 and keeps the mesh with its tree; its tree finds pairs of triangles
that intersect, ours pairs of boxes that overlap, in float64. coal reads its vectors of points and triangles, made
before as well, and fits oriented boxes (and spheres swept along rectangles). Ours starts from arrays.

mathutils is in Blender's Python only: where this one is another, that part runs there (CONTACT_LENS_BLENDER_PYTHON,
which `build.py bench` sets). Then our own builds and kinds of volume against each other, so that a user can see which
to pick.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from contact_lens.core.bounding.bounding_volumes import volumes_of_triangles
from contact_lens.core.hierarchy.bvh import METHODS, REBUILD_COST, SPLITS, Bvh

from .in_blender import measure_in_blender
from .table import Against, Row, duration, in_turn, print_table, show

COUNTS = (10_000, 100_000)
GOALS = {"mathutils": 2.0, "coal": 25.0}
"""Ratios wanted for the most triangles."""
KINDS: tuple[tuple[str, int | None], ...] = (
    ("sphere", None),
    ("aabb", None),
    ("obb", None),
    ("kdop", 14),
    ("kdop", 18),
    ("kdop", 26),
)
SLOW = 20_000
"""Items up to which insertion, which is Python, is measured."""


def mesh(count: int, turn: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (v, 3) and triangles (about `count`, 3) of a bumpy sphere, turned about an axis in no special place."""
    steps = round((count / 2) ** 0.5)
    around, down = np.meshgrid(np.arange(steps) / steps * 2 * np.pi, (np.arange(steps + 1) + 0.5) / (steps + 1) * np.pi)
    radius = 1.0 + 0.1 * np.sin(7 * around) * np.sin(5 * down)
    points = radius[..., None] * np.stack(
        [np.cos(around) * np.sin(down), np.sin(around) * np.sin(down), np.cos(down)], axis=2
    )
    axis = np.array([0.36, 0.48, 0.8])
    cross = np.cross(np.eye(3), axis)
    points = points.reshape(-1, 3) @ (np.eye(3) + np.sin(turn) * cross + (1 - np.cos(turn)) * cross @ cross)
    row, column = np.meshgrid(np.arange(steps) * steps, np.arange(steps), indexing="ij")
    beside = (column + 1) % steps
    corners = [row + column, row + beside, row + steps + beside, row + steps + column]
    halves = [np.stack([corners[k] for k in half], axis=2).reshape(-1, 3) for half in ((0, 1, 2), (0, 2, 3))]
    return points, np.concatenate(halves)


def tree_of(points: np.ndarray, triangles: np.ndarray) -> Bvh:
    """From triangles to the finished tree: what is timed."""
    return Bvh.build(volumes_of_triangles("aabb", points, triangles))


def against_coal(count: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Our time and coal's, by name: its usual model of a mesh, and the one with the simplest volumes it has."""
    import coal

    points, triangles = mesh(count)
    vertices, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in points:
        vertices.append(point)
    for triangle in triangles.tolist():
        faces.append(coal.Triangle(*triangle))

    def build(kind: Any) -> Any:
        model = kind()
        model.beginModel(len(triangles), len(points))
        model.addSubModel(vertices, faces)
        model.endModel()
        return model

    models = {"coal": coal.BVHModelOBBRSS, "coal OBB": coal.BVHModelOBB}
    assert build(models["coal"]).num_tris == tree_of(points, triangles).leaves
    calls: list[Callable[[], Any]] = [partial(tree_of, points, triangles)]
    calls += [partial(build, kind) for kind in models.values()]
    ours, *theirs = in_turn(calls, rounds)
    return {name: (time, ours) for name, time in zip(models, theirs, strict=True)}


def measure(count: int, rounds: int) -> tuple[float, float]:
    """Their time and ours. mathutils takes lists, which are not part of its time; its answer must be within ours."""
    import bpy  # noqa: F401 - without it there is no mathutils
    from mathutils.bvhtree import BVHTree

    both = [mesh(count), mesh(count, 0.3)]
    lists = [(points.tolist(), triangles.tolist()) for points, triangles in both]
    build = partial(BVHTree.FromPolygons, all_triangles=True)
    met = build(*lists[0]).overlap(build(*lists[1]))
    first, second = (tree_of(points, triangles) for points, triangles in both)
    found = first.overlapping_pairs(second).pairs
    candidates = set((found[:, 0] * len(both[1][1]) + found[:, 1]).tolist())
    # It rounds coordinates to float32: a few pairs that nearly touch are its own.
    missed = sum(i * len(both[1][1]) + j not in candidates for i, j in met)
    assert missed <= 1e-3 * len(met), f"{missed} of {len(met)} pairs of mathutils are not among our candidates"
    theirs, ours = in_turn((partial(build, *lists[0]), partial(tree_of, *both[0])), rounds)
    return theirs, ours


def rows(counts: tuple[int, ...], rounds: int) -> list[Row]:
    """Measure against the peers."""
    blender = measure_in_blender("bench_bvh", [(count, rounds) for count in counts])
    result = []
    for k, count in enumerate(counts):
        peers = {"mathutils": Against(*blender[k])} if blender else {}
        if find_spec("coal"):
            peers |= {name: Against(*times) for name, times in against_coal(count, rounds).items()}
        points, triangles = mesh(count)
        (ours,) = in_turn((partial(tree_of, points, triangles),), rounds)
        goals = GOALS if count == max(COUNTS) else {}
        result.append(Row(f"{count:,} triangles to a tree (mathutils: float32)", ours, peers, goals))
    return result


def builds(count: int) -> list[list[str]]:
    """Every build of axis-aligned boxes: how long it takes, how good its tree is, and how long that is descended."""
    a, b = (volumes_of_triangles("aabb", *one) for one in (mesh(count), mesh(count, 0.3)))
    lines = [["build", "time", "depth", "cost", "tests against a tree of the same build", "descent", "candidates"]]
    answers = set()
    for method, split in [(m, "sah") for m in METHODS if m != "top-down"] + [("top-down", s) for s in SPLITS]:
        if method == "insertion" and len(a) > SLOW:
            continue
        build = partial(Bvh.build, a, method, split)  # type: ignore[arg-type]
        tree, other = build(), Bvh.build(b, method, split)  # type: ignore[arg-type]
        found = tree.overlapping_pairs(other)
        answers.add(found.pairs.tobytes())
        time, descent = in_turn((build, partial(tree.overlapping_pairs, other)), 1 if method == "insertion" else 3)
        name = f"{method}, {split}" if method == "top-down" else method
        numbers = [f"{tree.depth}", f"{tree.cost:.1f}", f"{found.tests:,}", duration(descent), f"{len(found.pairs):,}"]
        lines.append([name, duration(time), *numbers])
    assert len(answers) == 1, "every build finds the same"
    tree = Bvh.build(a)
    (time,) = in_turn((partial(tree.refit, a),), 5)
    lines.append(["refit of linear", duration(time), "", "", "", "", ""])
    return lines


def kinds(count: int) -> list[list[str]]:
    """Every kind of volume around the triangles of two meshes that intersect: time, tests, false candidates."""
    meshes = [mesh(count), mesh(count, 0.3)]
    corners = [points[triangles] for points, triangles in meshes]
    lines = [["volumes", "made", "tree", "descent", "tests", "candidates", "false"]]
    true: int | None = None
    for kind, k in sorted(KINDS, key=lambda pair: pair[0] != "aabb"):
        make = partial(volumes_of_triangles, kind, *meshes[0], k=k)  # type: ignore[arg-type]
        a = make()
        b = volumes_of_triangles(kind, *meshes[1], k=k)  # type: ignore[arg-type]
        build = partial(Bvh.build, a)
        descend = partial(build().overlapping_pairs, Bvh.build(b))
        found = descend()
        first, second = (part[found.pairs[:, side]] for side, part in enumerate(corners))
        met = int((crossed(first, second) | crossed(second, first)).sum())
        assert true in (None, met), "no kind of volume loses a pair"
        true = met
        times = in_turn((make, build, descend), 3)
        false = 1.0 - met / max(len(found.pairs), 1)
        name = kind if k is None else f"{k}-DOP"
        numbers = [f"{found.tests:,}", f"{len(found.pairs):,}", f"{100 * false:.0f} %"]
        lines.append([name, *map(duration, times), *numbers])
    return lines


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether an edge of triangle a[i] goes through triangle b[i]; (n, 3, 3) each, none of them coplanar."""
    result = np.zeros(len(a), dtype=bool)
    u, v = b[:, 1] - b[:, 0], b[:, 2] - b[:, 0]
    for k in range(3):
        start, way = a[:, k], a[:, (k + 1) % 3] - a[:, k]
        across = np.cross(way, v)
        det = (u * across).sum(axis=1)
        det = np.where(det == 0.0, np.nan, det)
        away = start - b[:, 0]
        s = (away * across).sum(axis=1) / det
        other = np.cross(away, u)
        t, along = (way * other).sum(axis=1) / det, (v * other).sum(axis=1) / det
        result |= (s >= 0) & (t >= 0) & (s + t <= 1) & (along >= 0) & (along <= 1)
    return result


def main(quick: bool = False) -> None:
    """Print the tables."""
    show(rows((2000,) if quick else COUNTS, 3 if quick else 15))
    for count in (2000,) if quick else (10_000, 100_000):
        print(f"\nBuilds of {count:,} boxes (a refit is enough up to {REBUILD_COST} times the cost)")
        print_table(builds(count))
    count = 2000 if quick else 20_000
    print(f"\nKinds of volume around {count:,} triangles of each of two meshes, linear trees")
    print_table(kinds(count))
