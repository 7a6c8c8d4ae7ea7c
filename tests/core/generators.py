# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded pairs of convex shapes, as vertex arrays, from every class that has broken a collision library.

Every generator takes a `numpy.random.Generator` and returns (a, b), arrays (n, 3) or (n, 2). `pairs(seed, count)`
cycles over the classes and yields (class name, a, b); pair i depends on seed and i only, so any one can be made again:
`pair(seed, i)`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

Pair = tuple[np.ndarray, np.ndarray]

CUBE = np.array(list(product((-0.5, 0.5), repeat=3)))
OCTAHEDRAL = [
    matrix
    for order in permutations(range(3))
    for signs in product((-1.0, 1.0), repeat=3)
    if np.linalg.det(matrix := np.array(signs)[:, None] * np.eye(3)[list(order)]) > 0
]
"""The 24 rotations of a cube onto itself: exact in floats."""
MESHES = Path(__file__).parents[1] / "data" / "meshes.json"
SHALLOW = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


# ---------------------------------------------------------------------------------------------------------------------
# Shapes


def any_of(rng: Generator, *makes: Callable[[], Any]) -> Any:
    """The result of one of the functions."""
    return makes[rng.integers(len(makes))]()


def rotation(rng: Generator) -> np.ndarray:
    """A uniformly random rotation."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] *= -1
    return q


def rotation_about(axis, angle: float) -> np.ndarray:
    """Rotation by an angle in radians about an axis (Rodrigues)."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def as_matrix(turn: np.ndarray, place) -> np.ndarray:
    """Return the matrix (n + 1, n + 1) of a linear map (n, n) followed by a translation (n,)."""
    matrix = np.eye(len(turn) + 1)
    matrix[:-1, :-1], matrix[:-1, -1] = turn, place
    return matrix


def direction(rng: Generator, dim: int = 3) -> np.ndarray:
    """A uniformly random unit vector."""
    d = rng.normal(size=dim)
    return d / np.linalg.norm(d)


def box(size, center=(0.0, 0.0, 0.0)) -> np.ndarray:
    """The 8 corners of a box."""
    return CUBE * np.asarray(size, float) + center


def sphere_points(rng: Generator, count: int, dim: int = 3) -> np.ndarray:
    """Points spread evenly over the unit sphere, or circle."""
    points = rng.normal(size=(count, dim))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def cloud(rng: Generator, count: int) -> np.ndarray:
    """Points of a random blob: on an ellipsoid, in a ball, or in a box."""
    points = rng.normal(size=(count, 3))
    sphere = points / np.linalg.norm(points, axis=1, keepdims=True)
    return any_of(
        rng,
        lambda: sphere * rng.uniform(0.3, 1.0, 3),
        lambda: sphere * rng.uniform(0, 1, (count, 1)) ** (1 / 3),
        lambda: rng.uniform(-1, 1, (count, 3)),
    )


def sphere(rings: int, segments: int, radius: float = 1.0) -> np.ndarray:
    """A sphere of rings x segments + 2 vertices, poles on z."""
    polar = np.pi * np.arange(1, rings + 1) / (rings + 1)
    turn = 2 * np.pi * np.arange(segments) / segments
    circles = [np.outer(np.sin(polar), np.cos(turn)), np.outer(np.sin(polar), np.sin(turn))]
    side = np.stack([*circles, np.outer(np.cos(polar), np.ones(segments))], axis=-1)
    return radius * np.concatenate([[[0, 0, 1.0]], side.reshape(-1, 3), [[0, 0, -1.0]]])


def disc(segments: int, radius: float = 1.0, z: float = 0.0, turn: float = 0.0) -> np.ndarray:
    """A regular polygon across z."""
    angle = turn + 2 * np.pi * np.arange(segments) / segments
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(segments, z)])


def cylinder(segments: int, radius: float = 1.0, height: float = 1.0) -> np.ndarray:
    """A prism over a regular polygon, axis z, about the origin."""
    return np.concatenate([disc(segments, radius, -height / 2), disc(segments, radius, height / 2)])


def cone(segments: int, radius: float = 1.0, height: float = 1.0) -> np.ndarray:
    """A pyramid over a regular polygon, tip on z."""
    return np.concatenate([disc(segments, radius, -height / 2), [[0, 0, height / 2]]])


def round_shape(rng: Generator, most: int = 300) -> np.ndarray:
    """A sphere, cylinder or cone of up to `most` vertices."""

    def ball() -> np.ndarray:
        segments = int(rng.integers(4, max(5, int(np.sqrt(most)))))
        return sphere(int(rng.integers(2, max(3, most // segments - 1))), segments) * rng.uniform(0.5, 2)

    return any_of(
        rng,
        ball,
        lambda: cylinder(int(rng.integers(3, most // 2)), rng.uniform(0.3, 2), rng.uniform(0.3, 2)),
        lambda: cone(int(rng.integers(3, most - 1)), rng.uniform(0.3, 2), rng.uniform(0.3, 2)),
    )


def solid(rng: Generator) -> np.ndarray:
    """A small solid of about unit size: box, blob, prism, cone."""
    return any_of(
        rng,
        lambda: box(rng.uniform(0.3, 2, 3)),
        lambda: cloud(rng, int(rng.integers(4, 30))),
        lambda: cylinder(int(rng.integers(3, 12)), rng.uniform(0.3, 1), rng.uniform(0.3, 2)),
        lambda: cone(int(rng.integers(3, 12)), rng.uniform(0.3, 1), rng.uniform(0.3, 2)),
    )


def scattered_boxes(rng: Generator, count: int, dim: int) -> Pair:
    """Lowest and highest corners (count, dim) of boxes of a random scene: scattered, touching exactly, flat in a plane,
    in a row, all alike, nested, huge next to tiny, points, a cluster and some far away, farther and farther apart."""
    center, half = rng.normal(size=(count, dim)) * 4.0, rng.uniform(0.0, 1.0, (count, dim))
    ones, first, last = np.ones((count, dim)), np.eye(dim)[0], np.eye(dim)[-1]
    number = np.arange(count)[:, None]
    far = 1e6 * (number < count // 10)
    center, half = any_of(
        rng,
        lambda: (center, half),
        lambda: (np.round(center), 0.5 * ones),
        lambda: (center * (1.0 - last) + 2.0 * last, half * (1.0 - last)),
        lambda: (center * (1.0 - last), half),
        lambda: (center * 20.0 * first, half),
        lambda: (center * first, half),
        lambda: (ones, 0.25 * ones),
        lambda: (0.0 * ones, (number + 1.0) * ones),
        lambda: (center, half * 10.0 ** rng.uniform(-6, 6, (count, 1))),
        lambda: (np.round(center), 0.0 * ones),
        lambda: (center + 1e6, half),
        lambda: (np.round(center * 4.0) / 4.0 + 1e6, np.round(half * 8.0) / 8.0),
        lambda: (center * 1e-6 + far, half * 1e-7),  # so small that a far box leaves it in one cell of a curve
        lambda: (number**2.0 * first, 0.8 * ones),
    )
    return center - half, center + half


def flat_shape(rng: Generator, rank: int | None = None) -> np.ndarray:
    """A polygon across z (rank 2), a segment along x (1) or a point (0), at the origin."""
    rank = int(rng.integers(3)) if rank is None else rank
    if rank == 0:
        return np.zeros((int(rng.integers(1, 3)), 3))
    if rank == 1:
        ends = np.array([[-1.0, 0, 0], [1.0, 0, 0]]) * rng.uniform(0.3, 2)
        return ends if rng.random() < 0.5 else np.concatenate([ends, 0.5 * ends])
    if rng.random() < 0.5:
        return disc(int(rng.integers(3, 12)), rng.uniform(0.3, 2), turn=rng.uniform(0, 7))
    points = rng.uniform(-1, 1, (int(rng.integers(3, 12)), 2))
    return np.c_[points, np.zeros(len(points))]


# ---------------------------------------------------------------------------------------------------------------------
# Placing


def signed_gap(rng: Generator) -> float:
    """Deep, shallow down to 1e-6, exact touch, small gaps down to 1e-6 or a wide gap: for shapes of unit size."""
    return any_of(
        rng,
        lambda: -rng.uniform(0.1, 1.5),
        lambda: -float(rng.choice(SHALLOW)),
        lambda: 0.0,
        lambda: float(rng.choice(SHALLOW)),
        lambda: float(rng.uniform(0.1, 3)),
    )


def apart_along(a: np.ndarray, b: np.ndarray, normal: np.ndarray, gap: float) -> Pair:
    """B moved along the normal until the slab between the shapes is `gap` wide (negative: overlap)."""
    return a, b + ((a @ normal).max() - (b @ normal).min() + gap) * normal


def meet_along(a: np.ndarray, b: np.ndarray, normal: np.ndarray, gap: float) -> Pair:
    """B moved so that its foremost point faces A's across the gap: shallow overlaps really overlap."""
    return a, b + (a[(a @ normal).argmax()] - b[(b @ normal).argmin()] + gap * normal)


def face_normal(rng: Generator, points: np.ndarray) -> np.ndarray:
    """Outward normal of some face of the hull of points, by brute force over a few triples."""
    best, normal = np.inf, np.array([0.0, 0.0, 1.0])
    start = direction(rng)
    for _ in range(12):
        i = rng.choice(len(points), 3, replace=False)
        n = np.cross(points[i[1]] - points[i[0]], points[i[2]] - points[i[0]])
        if np.linalg.norm(n) < 1e-9:
            continue
        n = n / np.linalg.norm(n)
        n = n if n @ start >= 0 else -n
        outside = (points @ n).max() - points[i[0]] @ n
        if outside < best:
            best, normal = outside, n
    return normal


# ---------------------------------------------------------------------------------------------------------------------
# Classes


def random_hulls(rng: Generator) -> Pair:
    """Random hulls of 4 to 60 vertices at any depth or gap along a random direction."""
    a, b = cloud(rng, int(rng.integers(4, 61))), cloud(rng, int(rng.integers(4, 61)))
    return meet_along(a @ rotation(rng).T, b @ rotation(rng).T, direction(rng), signed_gap(rng))


def large_hulls(rng: Generator) -> Pair:
    """Random hulls of 60 to 200 vertices."""
    a, b = (cloud(rng, int(rng.integers(60, 201))) for _ in range(2))
    return meet_along(a, b, direction(rng), signed_gap(rng))


def face_contact(rng: Generator) -> Pair:
    """A vertex, edge or face of B against a face of A."""
    a, b = solid(rng) @ rotation(rng).T, solid(rng) @ rotation(rng).T
    normal = face_normal(rng, a)
    a, b = meet_along(a, b, normal, signed_gap(rng))
    across = (a.mean(axis=0) - b.mean(axis=0)) * rng.uniform(0.5, 1)
    return a, b + across - (across @ normal) * normal


def integer_lattice(rng: Generator) -> Pair:
    """Integer corners: every touch is exact, every plane is shared often."""
    size = int(rng.integers(2, 5))
    a = rng.integers(-size, size + 1, (int(rng.integers(1, 16)), 3))
    b = rng.integers(-size, size + 1, (int(rng.integers(1, 16)), 3))
    return a.astype(float), (b + rng.integers(-size, size + 1, 3)).astype(float)


def aligned_stack(rng: Generator) -> Pair:
    """Boxes, prisms and tessellated faces stacked along an axis: aligned, yawed or offset."""
    a, b = _stackable(rng), _stackable(rng)
    if rng.random() < 0.5:
        b = b @ rotation_about([0, 0, 1], float(rng.choice([0.0, np.pi / 4, np.pi / 7, 1e-3, 1e-9]))).T
    offset = np.array([*(rng.choice([0.0, 0.25, 0.5, 1.0], 2)), 0.0]) if rng.random() < 0.7 else np.zeros(3)
    lift = (a[:, 2].max() - b[:, 2].min()) + (0.0 if rng.random() < 0.4 else signed_gap(rng))
    return a, b + offset + [0, 0, lift]


def tilted_stack(rng: Generator) -> Pair:
    """The same, tilted by 1e-2 to 1e-15 rad."""
    a, b = aligned_stack(rng)
    tilt = rotation_about([*rng.normal(size=2), 0.0], 10.0 ** -rng.uniform(2, 15))
    middle = b.mean(axis=0)
    return a, (b - middle) @ tilt.T + middle


def turned_stack(rng: Generator) -> Pair:
    """A stack in a random frame: planes that were equal now differ by rounding."""
    a, b = tilted_stack(rng) if rng.random() < 0.5 else aligned_stack(rng)
    turn, move = rotation(rng), rng.normal(size=3)
    return a @ turn.T + move, b @ turn.T + move


def _stackable(rng: Generator) -> np.ndarray:
    def grid() -> np.ndarray:
        steps = np.linspace(-0.5, 0.5, int(rng.integers(2, 6)))
        return np.array(list(product(steps, steps, (-0.5, 0.5)))) * rng.choice([0.5, 1.0, 2.0], 3)

    return any_of(
        rng,
        lambda: box(rng.choice([0.5, 1.0, 2.0], 3)),
        lambda: cylinder(int(rng.integers(3, 17)), 0.75, 1.0),
        grid,
        lambda: cone(int(rng.integers(3, 17)), 0.75, 1.0) * [1, 1, rng.choice([-1.0, 1.0])],
    )


def parallel_edges(rng: Generator) -> Pair:
    """Two roof ridges that cross at an angle of 1 to 1e-15 rad, or exactly parallel.

    Overlapping by less than the angle, they are nearest to being apart across both ridges; where the eaves are level
    too, across a face.
    """
    roof = np.array([[-1, 0, 0.5], [1, 0, 0.5], [-1, -0.7, 0], [-1, 0.7, 0], [1, -0.7, 0], [1, 0.7, 0]])
    if rng.random() < 0.5:
        roof[2:] += rng.uniform(-0.2, 0.2, (4, 3))
    other = (roof * [1, 1, -1]) * rng.uniform(0.3, 2, 3)
    angle = 0.0 if rng.random() < 0.2 else 10.0 ** -rng.uniform(0, 15)
    other = other @ rotation_about([0, 0, 1], angle).T
    other = other + [rng.uniform(-0.5, 0.5), rng.choice([0.0, 1e-7, 1e-3, 0.2]), 0]
    gap = rng.choice([0.0, signed_gap(rng), -rng.uniform() * angle], p=[0.2, 0.5, 0.3])
    a, b = apart_along(roof, other, np.array([0, 0, 1.0]), gap)
    turn = np.eye(3) if rng.random() < 0.5 else rotation(rng)
    return a @ turn.T, b @ turn.T


def coincident(rng: Generator) -> Pair:
    """The same shape twice: equal, shuffled, or moved by rounding or a little more."""
    a = solid(rng) if rng.random() < 0.8 else round_shape(rng, 40)
    if rng.random() < 0.7:
        a = a @ rotation(rng).T
    b = a[rng.permutation(len(a))]
    return a, b + direction(rng) * float(rng.choice([0.0, 0.0, 1e-16, 1e-13, 1e-10, 1e-7]))


def concentric(rng: Generator) -> Pair:
    """One inside the other about the same centre."""
    a = solid(rng) if rng.random() < 0.8 else round_shape(rng, 40)
    a = a - 0.5 * (a.min(axis=0) + a.max(axis=0))
    b = a if rng.random() < 0.5 else solid(rng)
    b = (b - 0.5 * (b.min(axis=0) + b.max(axis=0))) * rng.choice([0.5, 0.1, 0.01, 1e-4])
    if rng.random() < 0.5:
        b = b @ rotation(rng).T
    return (a, b) if rng.random() < 0.5 else (b, a)


def contained(rng: Generator) -> Pair:
    """One inside the other off the centre, or reaching its wall from inside."""
    a, b = box(rng.uniform(1, 3, 3)), solid(rng) * rng.choice([0.3, 0.05, 0.01])
    b = b @ rotation(rng).T
    if rng.random() < 0.5:
        b = b - [0, 0, b[:, 2].max() - a[:, 2].max()]
    else:
        b = b + rng.uniform(-0.4, 0.4, 3) * np.ptp(a, axis=0)
    return (a, b) if rng.random() < 0.5 else (b, a)


def slabs_and_needles(rng: Generator) -> Pair:
    """Boxes and blobs of aspect 1e4 and 1e6."""

    def stretched() -> np.ndarray:
        thin = float(rng.choice([1e-4, 1e-6]))
        shape = solid(rng) * (np.array([1, 1, thin]) if rng.random() < 0.5 else np.array([1, thin, thin]))
        return shape if rng.random() < 0.3 else shape @ rotation(rng).T

    a, b = stretched(), stretched() if rng.random() < 0.6 else solid(rng)
    return any_of(
        rng,
        lambda: (a, b + direction(rng) * rng.uniform(0, 0.5)),
        lambda: meet_along(a, b, direction(rng), signed_gap(rng)),
        lambda: meet_along(a, b, face_normal(rng, a), float(rng.choice([-1e-7, -1e-5, 0.0, 1e-7, 1e-5]))),
    )


def sizes(rng: Generator) -> Pair:
    """Ordinary pairs 1e-9, 1e-4, 1e5 and 1e12 in size."""
    a, b = _ordinary(rng)
    size = float(rng.choice([1e-9, 1e-4, 1e5, 1e12]))
    return a * size, b * size


def size_ratios(rng: Generator) -> Pair:
    """One shape up to 1e6 times the other."""
    a, b = solid(rng), solid(rng) @ rotation(rng).T
    ratio = float(rng.choice([1e2, 1e4, 1e6]))
    normal = face_normal(rng, a) if rng.random() < 0.6 else direction(rng)
    a = a * ratio
    a, b = meet_along(a, b, normal, signed_gap(rng))
    if rng.random() < 0.5:
        across = direction(rng) * ratio * 0.1
        b = b + across - (across @ normal) * normal
    return (a, b) if rng.random() < 0.5 else (b, a)


def small_on_needle(rng: Generator) -> Pair:
    """A corner, an end or an inner point of a small shape on a segment or needle of a triangle up to 1e8 as long."""
    a = rng.normal(size=(int(rng.integers(2, 5)), 3))
    b = np.outer(rng.normal(size=int(rng.integers(2, 4))), direction(rng)) * 10.0 ** rng.integers(2, 9)
    if rng.random() < 0.3:
        b = b + rng.normal(size=b.shape) * 10.0 ** -rng.uniform(0, 12)
    on_a = a[0] if rng.random() < 0.6 else rng.dirichlet(np.ones(len(a))) @ a
    on_b = b[0] if rng.random() < 0.4 else rng.dirichlet(np.ones(len(b))) @ b
    b = b + on_a - on_b
    return (a, b) if rng.random() < 0.5 else (b, a)


def far_away(rng: Generator) -> Pair:
    """Ordinary pairs 1e4 and 1e6 from the origin."""
    a, b = _ordinary(rng)
    move = direction(rng) * float(rng.choice([1e4, 1e6]))
    if rng.random() < 0.3:
        move = np.round(move)
    return a + move, b + move


def duplicates(rng: Generator) -> Pair:
    """Ordinary pairs with repeated, nearly repeated (1e-10, 1e-13), interior and on-face vertices."""
    a, b = _ordinary(rng)
    return _cluttered(rng, a), _cluttered(rng, b) if rng.random() < 0.7 else b


def _cluttered(rng: Generator, points: np.ndarray) -> np.ndarray:
    count = len(points)

    def nearly_repeated() -> np.ndarray:
        near = float(rng.choice([1e-10, 1e-13]))
        return points[rng.integers(0, count, 8)] + near * rng.normal(size=(8, points.shape[1]))

    def middles(corners: int) -> np.ndarray:
        chosen = points[rng.integers(0, count, (corners, 6))]
        return 0.5 * chosen[0] + 0.5 * chosen[1] if corners == 2 else (chosen[0] + chosen[1] + chosen[2]) / 3

    added = [
        any_of(
            rng,
            lambda: points[rng.integers(0, count, 5)],
            nearly_repeated,
            lambda: rng.dirichlet(np.ones(count), 6) @ points,
            lambda: middles(2),
            lambda: middles(3),
        )
        for _ in range(int(rng.integers(1, 4)))
    ]
    return rng.permutation(np.concatenate([points, *added]))


def flat_and_solid(rng: Generator) -> Pair:
    """Polygons, segments and points against solids: through, on, beside, inside."""
    a, b = solid(rng), flat_shape(rng)
    a, b = any_of(
        rng,
        lambda: (a, b * rng.uniform(0.05, 2) @ rotation(rng).T + direction(rng) * rng.uniform(0, 0.5)),
        lambda: meet_along(a, b @ rotation(rng).T, direction(rng), signed_gap(rng)),
        lambda: (a, b + [0, 0, a[:, 2].max()] + [*rng.choice([0.0, 0.25, 0.5], 2), 0]),
        lambda: (a, a[: 1 + rng.integers(min(3, len(a)))]),
    )
    if rng.random() < 0.4:
        turn = rotation(rng)
        a, b = a @ turn.T, b @ turn.T
    return (a, b) if rng.random() < 0.5 else (b, a)


def flat_and_flat(rng: Generator) -> Pair:
    """Polygons, segments and points against each other: in one plane or line, crossing, parallel, beside."""
    a, b = flat_shape(rng), flat_shape(rng)

    def tilted() -> np.ndarray:
        tilt = rotation_about([*rng.normal(size=2), 0.0], 10.0 ** -rng.uniform(1, 15))
        return b @ tilt.T + [*rng.uniform(-1, 1, 2), 0.0]

    b = any_of(
        rng,
        lambda: b @ rotation(rng).T + direction(rng) * rng.uniform(0, 1.5),
        lambda: b @ rotation_about([0, 0, 1], rng.uniform(0, 7)).T + [*rng.uniform(-2, 2, 2), 0],
        lambda: b + [*rng.choice([0.0, 0.5, 1.0, 2.0], 2), 0.0],
        lambda: b + [*rng.uniform(-1, 1, 2), signed_gap(rng)],
        tilted,
    )
    if rng.random() < 0.5:
        turn, move = rotation(rng), rng.normal(size=3)
        a, b = a @ turn.T + move, b @ turn.T + move
    return a, b


def round_shapes(rng: Generator) -> Pair:
    """Spheres, cylinders and cones of up to 100 vertices."""
    a, b = round_shape(rng, 100), round_shape(rng, 100)
    if rng.random() < 0.6:
        b = b @ rotation(rng).T
    normal = direction(rng) if rng.random() < 0.6 else np.array([0, 0, 1.0])
    return meet_along(a, b, normal, signed_gap(rng))


def large_round_shapes(rng: Generator) -> Pair:
    """A sphere, cylinder or cone of up to 300 vertices against a smaller one."""
    a, b = round_shape(rng, 300), round_shape(rng, 40)
    return meet_along(a, b @ rotation(rng).T, direction(rng), signed_gap(rng))


def huge_hulls(rng: Generator) -> Pair:
    """Random hulls of up to 1,000 vertices, and round shapes of up to 500."""
    a, b = (
        cloud(rng, int(rng.integers(200, 1_001))) if rng.random() < 0.5 else round_shape(rng, 500) for _ in range(2)
    )
    return meet_along(a, b @ rotation(rng).T, direction(rng), signed_gap(rng))


def real_meshes(rng: Generator) -> Pair:
    """Blender's monkey, a bevelled letter, a metaball, a NURBS torus and a terrain, placed as Blender places them."""
    meshes = json.loads(MESHES.read_text(encoding="utf-8"))

    def placed() -> np.ndarray:
        points = np.array(meshes[str(rng.choice(sorted(meshes)))])
        turn = rotation(rng) * 10.0 ** rng.uniform(-1, 1, 3) if rng.random() < 0.5 else rotation(rng)
        return (points @ turn.T + rng.uniform(-5, 5, 3)).astype(np.float32).astype(float)

    return meet_along(placed(), placed(), direction(rng), signed_gap(rng))


def transformed(rng: Generator) -> Pair:
    """Mirrored, sheared and non-uniformly scaled solids."""

    def matrix() -> np.ndarray:
        shear = np.eye(3)
        shear[0, 1], shear[0, 2], shear[1, 2] = rng.uniform(-3, 3, 3)
        mirror = np.diag(rng.choice([-1.0, 1.0], 3))
        return rotation(rng) @ shear @ mirror @ np.diag(10.0 ** rng.uniform(-1.5, 1, 3))

    return meet_along(
        solid(rng) @ matrix().T,
        solid(rng) @ matrix().T,
        direction(rng),
        signed_gap(rng),
    )


def edge_contact(rng: Generator) -> Pair:
    """Two boxes or blobs that meet edge on edge at any depth or gap."""
    a, b = solid(rng), solid(rng)
    a, b = a @ rotation(rng).T, b @ rotation(rng).T
    i, j = rng.choice(len(a), 2, replace=False), rng.choice(len(b), 2, replace=False)
    normal = np.cross(a[i[1]] - a[i[0]], b[j[1]] - b[j[0]])
    normal = normal / np.linalg.norm(normal) if np.linalg.norm(normal) > 1e-6 else direction(rng)
    a, b = apart_along(a, b, normal, signed_gap(rng) if rng.random() < 0.8 else -1e-9)
    at_a, at_b = 0.5 * (a[i[0]] + a[i[1]]), 0.5 * (b[j[0]] + b[j[1]])
    across = at_a - at_b
    return a, b + across - (across @ normal) * normal


def float32_scene(rng: Generator) -> Pair:
    """Coordinates as Blender stores them: rounded to single precision after a transform."""
    a, b = _ordinary(rng)
    if a.shape[1] == 3:
        turn, move = rotation(rng), rng.uniform(-100, 100, 3)
        a, b = a @ turn.T + move, b @ turn.T + move
    return a.astype(np.float32).astype(float), b.astype(np.float32).astype(float)


def polygons_2d(rng: Generator) -> Pair:
    """Polygons, segments and points in the plane."""

    def polygon() -> np.ndarray:
        def regular() -> np.ndarray:
            return disc(int(rng.integers(3, 40)), rng.uniform(0.2, 2), turn=rng.uniform(0, 7))[:, :2]

        return any_of(
            rng,
            lambda: rng.uniform(-1, 1, (1, 2)),
            lambda: rng.uniform(-1, 1, (2, 2)),
            lambda: rng.integers(-3, 4, (int(rng.integers(3, 9)), 2)).astype(float),
            lambda: np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]]) * rng.choice([0.25, 0.5, 1.0], 2),
            regular,
            regular,
        )

    a, b = polygon(), polygon()
    if rng.random() < 0.5:
        a, b = meet_along(a, b, direction(rng, 2), signed_gap(rng))
    elif rng.random() < 0.5:
        b = b + rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 2)
    size, move = float(rng.choice([1.0, 1.0, 1e-9, 1e-4, 1e5])), float(rng.choice([0.0, 0.0, 1e4, 1e6]))
    shift = move * size * direction(rng, 2)
    return a * size + shift, b * size + shift


def composed(rng: Generator) -> Pair:
    """A pair of any class squeezed, turned, moved, rounded or joined at a few points: several troubles at once."""
    classes = [f for f in CLASSES.values() if f is not polygons_2d]
    pair = classes[int(rng.integers(len(classes)))](rng)
    for _ in range(int(rng.integers(1, 4))):
        pair = _troubled(rng, *pair)
    return pair


def _troubled(rng: Generator, a: np.ndarray, b: np.ndarray) -> Pair:
    size = max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max())

    def both(change: Callable[[np.ndarray], np.ndarray]) -> Pair:
        return change(a), change(b)

    def squeezed() -> Pair:
        squeeze = 10.0 ** (-rng.uniform(0, 8) * (rng.random(3) < 0.5))
        return both(lambda p: p * squeeze)

    def turned() -> Pair:
        turn = rotation(rng)
        return both(lambda p: p @ turn.T)

    def moved() -> Pair:
        move = direction(rng) * size * 10.0 ** rng.uniform(0, 8)
        return both(lambda p: p + move)

    def snapped() -> Pair:
        step = size * 2.0 ** -float(rng.integers(2, 40))
        return both(lambda p: np.round(p / step) * step if step > 0 else p)

    return any_of(
        rng,
        squeezed,
        turned,
        moved,
        lambda: both(lambda p: p.astype(np.float32).astype(float)),
        lambda: (_cluttered(rng, a), b),
        lambda: (a, np.concatenate([b, a[rng.integers(0, len(a), int(rng.integers(1, 4)))]])),
        lambda: (a + size * 10.0 ** -rng.uniform(9, 17) * rng.normal(size=a.shape), b),
        snapped,
    )


def slivers(rng: Generator) -> Pair:
    """Nearly flat tetrahedra, lenses and needles, thin down to the rounding, near each other's faces."""

    def thin() -> np.ndarray:
        points = rng.uniform(-1, 1, (int(rng.integers(4, 9)), 3))
        points[:, 2] *= 10.0 ** -rng.uniform(3, 17)
        if rng.random() < 0.3:
            points[:, 1] *= 10.0 ** -rng.uniform(3, 17)
        return points if rng.random() < 0.3 else points @ rotation(rng).T

    a, b = thin(), thin() if rng.random() < 0.6 else solid(rng)
    return any_of(
        rng,
        lambda: (a, b + direction(rng) * 10.0 ** -rng.uniform(0, 17)),
        lambda: (a, b + a[0] - b[0]),
        lambda: meet_along(a, b, direction(rng), signed_gap(rng)),
    )


def _ordinary(rng: Generator) -> Pair:
    """A pair of one of the common classes."""
    common = (random_hulls, face_contact, aligned_stack, tilted_stack)
    return any_of(rng, *(lambda f=f: f(rng) for f in (*common, edge_contact, contained, coincident, flat_and_solid)))


CLASSES: dict[str, Callable[[Generator], Pair]] = {
    f.__name__: f
    for f in (
        random_hulls,
        face_contact,
        edge_contact,
        integer_lattice,
        aligned_stack,
        tilted_stack,
        turned_stack,
        parallel_edges,
        coincident,
        concentric,
        contained,
        slabs_and_needles,
        sizes,
        size_ratios,
        small_on_needle,
        far_away,
        duplicates,
        flat_and_solid,
        flat_and_flat,
        round_shapes,
        transformed,
        float32_scene,
        polygons_2d,
    )
}
"""The classes `pairs` cycles over."""

LARGE: dict[str, Callable[[Generator], Pair]] = {
    f.__name__: f for f in (large_hulls, large_round_shapes, huge_hulls, real_meshes)
}
"""Classes of hundreds of vertices, slower to check: every third cycle of `pairs` has one of them."""


COMPOSED: dict[str, Callable[[Generator], Pair]] = {f.__name__: f for f in (composed, slivers)}
"""Classes made of the others' troubles at once; not part of `pairs`."""


def pair(seed: int, index: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Pair number `index` of the sequence with this seed."""
    cycle, place = divmod(index, len(CLASSES))
    name = list(CLASSES)[place]
    if name == "random_hulls" and cycle % 3 == 2:
        name = list(LARGE)[(cycle // 3) % len(LARGE)]
    a, b = (CLASSES | LARGE)[name](np.random.default_rng([seed, index]))
    return name, np.ascontiguousarray(a), np.ascontiguousarray(b)


def pairs(seed: int, count: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """`count` pairs, cycling over the classes: (class name, a, b)."""
    for index in range(count):
        yield pair(seed, index)
