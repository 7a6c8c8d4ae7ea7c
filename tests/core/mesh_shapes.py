# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed and open surfaces for tests: points (n, 3) and triangles (m, 3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

Surface = tuple[np.ndarray, np.ndarray]


def block(size: Sequence[float] = (1.0, 1.0, 1.0), low: Sequence[float] = (0.0, 0.0, 0.0)) -> Surface:
    """A box; triangles 0 and 1 are its lowest side in x."""
    corners = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return corners * size + low, np.array([[q[0], q[i], q[i + 1]] for q in quads for i in (1, 2)])


def torus(around: int, across: int, radius: float = 1.0, thick: float = 0.3) -> Surface:
    """A ring about the z axis."""
    u, v = np.meshgrid(np.arange(around) / around * 2 * np.pi, np.arange(across) / across * 2 * np.pi, indexing="ij")
    out = radius + thick * np.cos(v)
    points = np.stack([out * np.cos(u), out * np.sin(u), thick * np.sin(v)], axis=2).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    k, m = (i + 1) % around, (j + 1) % across
    corners = [x * across + y for x, y in ((i, j), (k, j), (k, m), (i, m))]
    halves = [np.stack([corners[n] for n in half], axis=2).reshape(-1, 3) for half in ((0, 1, 2), (0, 2, 3))]
    return points, np.concatenate(halves)


def sphere(rings: int, center: Sequence[float] = (0.0, 0.0, 0.0)) -> Surface:
    """A sphere of radius 1 of 2 rings sectors."""
    sectors = 2 * rings
    angle = np.arange(1, rings) / rings * np.pi
    turn = np.arange(sectors) / sectors * 2 * np.pi
    body = np.stack(
        [
            np.outer(np.sin(angle), np.cos(turn)),
            np.outer(np.sin(angle), np.sin(turn)),
            np.outer(np.cos(angle), np.ones(sectors)),
        ],
        axis=2,
    ).reshape(-1, 3)
    points = np.concatenate([body, [[0, 0, 1.0], [0, 0, -1.0]]])
    top, bottom = len(body), len(body) + 1
    triangles = []
    for j in range(sectors):
        k = (j + 1) % sectors
        triangles += [[top, j, k], [bottom, (rings - 2) * sectors + k, (rings - 2) * sectors + j]]
        for i in range(rings - 2):
            a, b, c, d = i * sectors + j, i * sectors + k, (i + 1) * sectors + k, (i + 1) * sectors + j
            triangles += [[a, c, b], [a, d, c]]
    return points + np.asarray(center), np.array(triangles)


def bumpy(rng: np.random.Generator, rings: int = 7, low: float = 0.6, high: float = 1.2) -> Surface:
    """A sphere whose points are moved in and out, to these radii."""
    points, triangles = sphere(rings)
    return points * rng.uniform(low, high, (len(points), 1)), triangles


def prism(outline: Sequence, faces: Sequence, height: Sequence[float] = (0.0, 1.0)) -> Surface:
    """The solid over a polygon, counter-clockwise, of which triangles are given."""
    count, flat = len(outline), np.array(faces)
    points = np.concatenate([np.column_stack([outline, np.full(count, z)]) for z in height])
    k, after = np.arange(count), (np.arange(count) + 1) % count
    sides = [np.stack([k, after, after + count], axis=1), np.stack([k, after + count, k + count], axis=1)]
    return points, np.concatenate([flat[:, ::-1], flat + count, *sides])


def flipped(surface: Surface) -> Surface:
    """The surface turned over."""
    return surface[0], surface[1][:, ::-1]


def sheet(steps: int, size: float = 1.0, low: Sequence[float] = (0.0, 0.0, 0.0)) -> Surface:
    """A square in a plane of equal z."""
    x, y = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    points = np.stack([x, y, np.zeros_like(x)], axis=2).reshape(-1, 3) * (size / steps) + np.asarray(low)
    first = (np.arange(steps)[:, None] * (steps + 1) + np.arange(steps)).ravel()
    a, b, c, d = first, first + steps + 1, first + steps + 2, first + 1
    return points, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def joined(parts: Sequence[Surface]) -> Surface:
    """Several surfaces as one mesh."""
    counts = np.cumsum([0] + [len(points) for points, _ in parts])
    return (
        np.concatenate([points for points, _ in parts]),
        np.concatenate([triangles + first for (_, triangles), first in zip(parts, counts[:-1], strict=True)]),
    )


def suzanne(level: int) -> Surface:
    """Blender's monkey: 968 triangles, open, of three loose parts; each level cuts every triangle into four.

    The cuts are at the middles of sides. Coordinates are fractions of 128, so that the middles are exact and the
    surface stays the same, point by point.
    """
    if level == 0:
        data = np.load(Path(__file__).parent.parent / "data" / "suzanne.npz")
        return data["points"].astype(float), data["triangles"].astype(int)
    points, t = suzanne(level - 1)
    sides = np.sort(np.stack([t, np.roll(t, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, of = np.unique(sides, axis=0, return_inverse=True)
    middle = len(points) + of.reshape(-1, 3)
    corners = [np.stack([t[:, k], middle[:, k], middle[:, k - 1]], axis=1) for k in range(3)]
    return np.concatenate([points, points[edges].mean(axis=1)]), np.concatenate([*corners, middle])


def random_cells(rng: np.random.Generator) -> set[tuple[int, ...]]:
    """Some connected cells whose `voxels` are a closed surface: no edge has four faces."""
    while True:
        cells = {(0, 0, 0)}
        for _ in range(9):
            cell = list(sorted(cells)[rng.integers(len(cells))])
            cell[rng.integers(3)] += rng.choice([-1, 1])
            cells.add(tuple(cell))
        triangles = voxels(cells)[1]
        sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
        if (np.unique(sides, axis=0, return_counts=True)[1] == 2).all():
            return cells


def voxels(cells: object) -> Surface:
    """Unit cubes at whole numbers, without the faces between two of them."""
    cells = {tuple(cell) for cell in cells}
    faces = []
    for cell in sorted(cells):
        for axis in range(3):
            for side in (0, 1):
                beside = list(cell)
                beside[axis] += 2 * side - 1
                if tuple(beside) in cells:
                    continue
                u, v = (axis + 1) % 3, (axis + 2) % 3
                corner = np.array(cell, dtype=float)
                corner[axis] += side
                loop = [corner + np.eye(3)[u] * p + np.eye(3)[v] * q for p, q in ((0, 0), (1, 0), (1, 1), (0, 1))]
                faces.append(loop if side else loop[::-1])
    points = np.array(faces).reshape(-1, 3)
    unique, where = np.unique(points, axis=0, return_inverse=True)
    quads = where.reshape(-1, 4)
    return unique, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def notch_pair() -> tuple[Surface, Surface]:
    """Two bumpy solids; the shortest translation known ends in a corner that narrows towards it."""
    with np.load(Path(__file__).parents[1] / "data" / "notch_pair.npz") as data:
        a, b = ((data[f"points_{k}"], data[f"triangles_{k}"].astype(np.intp)) for k in "ab")
    return a, b
