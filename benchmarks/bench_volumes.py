# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kind of bounding volume to pick, and when hill climbing pays: `python -m benchmarks --only volumes`.

The first table: what a kind costs, and how many pairs of a scene of hulls it takes for colliding that are not. A narrow
phase follows on every one of them, so a false candidate costs about as much as GJK on one pair. The second: the k-DOPs
of hulls that turn by an angle, recomputed from all vertices or updated by hill climbing; both give the same bits.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter

import numpy as np

from contact_lens.core import ConvexHull, gjk_intersects
from contact_lens.core.bounding.bounding_volumes import Kind, bounding_volumes, volumes_of_shapes
from contact_lens.core.bounding.kdop_update import update_kdops

from .table import duration, in_turn, print_table, times

KINDS: tuple[tuple[str, Kind, int | None], ...] = (
    ("sphere", "sphere", None),
    ("AABB", "aabb", None),
    ("14-DOP", "kdop", 14),
    ("18-DOP", "kdop", 18),
    ("26-DOP", "kdop", 26),
    ("OBB", "obb", None),
)
PAIRS = 100_000
"""Pairs of volumes tested in one call, and triangles bounded in one call."""


def _random_rotations(rng: np.random.Generator, count: int) -> np.ndarray:
    q, r = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    q = q * np.sign(np.einsum("nii->ni", r))[:, None]
    q[np.linalg.det(q) < 0, :, 0] *= -1
    return q


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation by an angle about an axis (Rodrigues)."""
    x, y, z = axis / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def scene(count: int, stretch: tuple[float, float, float]) -> list[ConvexHull]:
    """Hulls of 32 points on stretched spheres, turned every way, in a cube so full that some of them collide."""
    rng = np.random.default_rng(4)
    points = rng.normal(size=(count, 32, 3))
    points *= np.array(stretch) / np.linalg.norm(points, axis=2, keepdims=True)
    points = points @ _random_rotations(rng, count) + rng.uniform(0, 1.6 * count ** (1 / 3), (count, 1, 3))
    return [ConvexHull(p) for p in points]


def kinds(quick: bool) -> list[list[str]]:
    """Return the lines of the first table."""
    rng = np.random.default_rng(5)
    count = 60 if quick else 400
    rounds = 2 if quick else 7
    scenes = {"round": scene(count, (1.0, 1.0, 1.0)), "long": scene(count, (1.5, 0.5, 0.25))}
    i, j = np.triu_indices(count, 1)
    near = volumes_of_shapes("sphere", scenes["long"]), volumes_of_shapes("sphere", scenes["round"])
    truth = {}
    for (name, hulls), spheres in zip(scenes.items(), near[::-1], strict=True):
        together = spheres.take(i).overlaps(spheres.take(j))  # never a false negative: the rest need no test
        hits = [n for n in np.flatnonzero(together).tolist() if gjk_intersects(hulls[i[n]], hulls[j[n]])]
        truth[name] = np.isin(np.arange(len(i)), hits)
    centers = rng.normal(size=(PAIRS, 1, 3)) * 20
    triangles = (centers + rng.normal(size=(PAIRS, 3, 3))).reshape(-1, 3)
    starts = np.arange(0, 3 * PAIRS, 3)
    some = rng.permutation(PAIRS)
    lines = [["", "build, triangle", "build, hull", "1,000 tests", "1,000 merges", "content"]]
    lines[0] += [f"false, {name} hulls ({truth[name].sum()} collide)" for name in scenes]
    contents = {}
    for label, kind, k in KINDS:
        volumes = bounding_volumes(kind, triangles, starts, k=k)
        other = volumes.take(some)
        build, hull, test, merge = in_turn(
            (
                partial(bounding_volumes, kind, triangles, starts, k=k),
                partial(volumes_of_shapes, kind, scenes["long"], k=k),
                partial(volumes.overlaps, other),
                partial(volumes.merged, other),
            ),
            rounds,
        )
        shares = (build / PAIRS, hull / count, 1000 * test / PAIRS, 1000 * merge / PAIRS)
        cells = [label, *map(duration, shares)]
        false = []
        for name, hulls in scenes.items():
            all_of = volumes_of_shapes(kind, hulls, k=k)
            told = all_of.take(i).overlaps(all_of.take(j))
            assert not (truth[name] & ~told).any(), f"{label} misses a pair that collides"
            false.append(str(np.count_nonzero(told & ~truth[name])))
            contents[label] = float(all_of.volume.mean())
        lines.append([*cells, times(contents[label] / contents["sphere"]), *false])
    return lines


def updates(quick: bool) -> list[list[str]]:
    """Return the lines of the second table."""
    rng = np.random.default_rng(6)
    angles = (0.001, 0.02, 0.2, 2.0)
    sizes = ((32, 1), (500, 1), (500, 50)) if quick else (
        (32, 1), (500, 1), (2000, 1), (10_000, 1), (50_000, 1), (32, 1000), (128, 300), (500, 100), (2000, 25)
    )  # fmt: skip
    lines = [["", "k", "recomputed", *(f"by {angle:g} rad" for angle in angles)]]
    for vertices, hulls in sizes:
        points = rng.normal(size=(min(hulls, 25), vertices, 3))
        points /= np.linalg.norm(points, axis=2, keepdims=True)
        made = [ConvexHull(p) for p in points]
        shapes = [made[n % len(made)] for n in range(hulls)]
        before, offset = _random_rotations(rng, hulls), rng.normal(size=(hulls, 3))
        for k in (6, 18, 26):
            last = update_kdops(update_kdops(shapes, before, offset, k=k), before, offset)
            after = [_turn(np.array([1.0, 2.0, 3.0]), angle) @ before for angle in angles]
            for turned in after:
                fresh = update_kdops(last, turned, offset, method="recompute").kdops
                climbed = update_kdops(last, turned, offset).kdops
                assert np.array_equal(fresh.low, climbed.low)
                assert np.array_equal(fresh.high, climbed.high)
            calls = [partial(update_kdops, last, turned, offset) for turned in after]
            recompute = partial(update_kdops, last, after[0], offset, method="recompute")
            base, *climbs = in_turn((recompute, *calls), 2 if quick else 7)
            label = f"{hulls:,} hull{'s' if hulls > 1 else ''} of {vertices:,} vertices" if k == 6 else ""
            cells = [f"{duration(climb / hulls)} {times(base / climb):>5}" for climb in climbs]
            lines.append([label, str(k), duration(base / hulls), *cells])
    return lines


def main(quick: bool = False) -> None:
    """Print both tables."""
    start = perf_counter()
    print("Kinds of volume. Times per triangle of 100,000 in one call, per hull of 32 vertices, and per 1,000 pairs of")
    print("100,000 in one call; content on average, of the long hulls, against the sphere's.")
    print_table(kinds(quick))
    print("\nk-DOPs of turned hulls. Time per hull, all in one call. Recomputed / climbed: above 1 climbing pays.")
    print_table(updates(quick))
    print(f"({perf_counter() - start:.0f} s)")
