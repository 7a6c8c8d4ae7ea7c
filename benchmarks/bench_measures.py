# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of two solids besides their contact: `python -m benchmarks --only measures`.

Times are from arrays to the answer, trees and all; of overlaps from hulls made before, those of manifold3d too.
Bounds: how far those of the answer are apart, times the answer.
Clearance bands beside trimesh, which measures the same points against the same triangles, and no more than that.
"""

from __future__ import annotations

from importlib.util import find_spec
from statistics import median
from time import perf_counter

import numpy as np

from contact_lens.core import (
    Capsule,
    ConvexHull,
    Cylinder,
    Mesh,
    clearance_band,
    contact,
    deepest_point,
    overlap_volume,
    verify,
)
from contact_lens.core.measures.overlap_surface import overlap_surface
from tests.core.generators import sphere_points
from tests.core.mesh_shapes import sphere, torus

from .table import Against, Row, duration, in_turn, print_table, show

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


def overlap_rows(quick: bool) -> list[Row]:
    """Measure overlaps of convex shapes: the volume between its bounds, its check, and the surface to be drawn."""
    rng, result = np.random.default_rng(1), []
    for count in (32,) if quick else (32, 500):
        points = sphere_points(rng, count), sphere_points(rng, count) + [0.7, 0.2, 0.1]
        a, b = map(ConvexHull, points)
        found = overlap_volume(a, b)
        calls = [lambda: overlap_volume(a, b), lambda: overlap_surface(a, b), lambda: verify(found, a, b)]  # noqa: B023
        if find_spec("manifold3d"):
            from manifold3d import Manifold

            solids = [Manifold.hull_points(one) for one in points]
            assert abs((solids[0] ^ solids[1]).volume() - found.volume) <= 1e-9
            calls.append(lambda: (solids[0] ^ solids[1]).volume())  # noqa: B023
        ours, drawn, checked, *theirs = in_turn(calls, 5)
        name = f"overlap of hulls of {count} vertices"
        peers = {"manifold3d": Against(theirs[0], ours)} if theirs else {}
        result += [Row(f"{name}, volume", ours, peers), Row(f"{name}, surface", drawn), Row(f"{name}, check", checked)]
    round_a, round_b = Capsule((0, 0, 0), (0, 0, 2), 0.5), Cylinder((-1, 0.2, 1), (1, 0, 1), 0.4)
    known = contact(round_a, round_b)
    calls = [lambda: overlap_volume(round_a, round_b, known), lambda: overlap_surface(round_a, round_b, known)]
    ours, drawn = in_turn(calls, 5)
    name = "overlap of a capsule and a cylinder"
    return [*result, Row(f"{name}, volume within 1 %", ours), Row(f"{name}, surface", drawn)]


def main(quick: bool = False) -> None:
    """Print the tables."""
    show(overlap_rows(quick))
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
    bands(quick)


def bands(quick: bool) -> None:
    """Print the table of clearance bands."""
    theirs = find_spec("rtree") and find_spec("trimesh")
    if not theirs:
        print("trimesh is left out: it needs the package rtree.")
    part = 3 if quick else 1
    ring, bore = torus(500 // part, 200 // part, 3.0, 1.0), torus(100 // part, 50 // part, 3.0, 1.3)
    shell, count = torus(40, 20, 3.0, 1.9), len(bore[0])
    tube = np.concatenate([bore[0], shell[0]]), np.concatenate([bore[1][:, ::-1], shell[1] + count])
    lines = [["clearance band, of A beside B", "points", "triangles", "time", "contact known", "trimesh, distances"]]
    for name, b in (("a ring above a ring", (bore[0] + [0.0, 0.0, 2.5], bore[1])), ("a ring inside a ring", tube)):
        spent: list[list[float]] = [[], [], []]
        for _ in range(1 if quick else ROUNDS):
            start = perf_counter()
            clearance_band(Mesh(*ring), Mesh(*b), 0.5)
            spent[0].append(perf_counter() - start)
            meshes = Mesh(*ring), Mesh(*b)
            known = contact(*meshes, budget=0.0)
            start = perf_counter()
            band = clearance_band(*meshes, 0.5, known)
            spent[1].append(perf_counter() - start)
            if theirs:
                import trimesh

                start = perf_counter()
                _, distance, _ = trimesh.proximity.closest_point(trimesh.Trimesh(*b, process=False), ring[0])
                spent[2].append(perf_counter() - start)
                gaps = band.gaps[: len(distance)]
                assert np.allclose(gaps, np.where(np.isfinite(gaps), distance, np.nan), equal_nan=True)
        times = [duration(median(each)) if each else "" for each in spent]
        lines.append([name, f"{len(band.points):,}", f"{len(b[1]):,}", *times])
    print_table(lines)
