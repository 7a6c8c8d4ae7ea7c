# SPDX-License-Identifier: GPL-3.0-or-later
"""A reproducible row of `contacts` depends on its two shapes, poses and options alone, not on others of the call.

Compared to the last bit: the result of a scene does not depend on how it is cut into parts, frames and processes.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Compound,
    Cone,
    Contacts,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    ShapeSet,
    Sphere,
    Status,
    contacts,
)

from ..assertions import ROW_ARRAYS, assert_same_rows
from ..generators import CLASSES, CUBE, direction
from ..many_shapes import make_boxes
from ..mesh_shapes import bumpy, sheet

OPTIONS = {
    "all": {"clearance": 0.3},
    "no distances": {"distances": False},
    "no distances, regions and certificates": {"distances": False, "regions": False, "certificates": False},
}


@cache
def shapes_of(kind: str) -> tuple:
    """Shapes of one kind, about as many of them in contact as apart."""
    rng = np.random.default_rng(len(kind))
    if kind == "turned boxes":
        return tuple(make_boxes(40, "turned"))
    if kind == "bricks":
        return tuple(Box(place, (1.0, 1.0, 1.0)) for place in np.ndindex(4, 3, 3))
    if kind == "hulls":
        sizes = np.geomspace(4, 150, 40).astype(int)
        return tuple(ConvexHull(rng.normal(size=(n, 3)) + rng.uniform(0.0, 5.0, 3)) for n in sizes)
    if kind == "lattice of hulls":
        return tuple(ConvexHull(CUBE + rng.integers(0, 5, 3)) for _ in range(40))
    if kind == "awkward hulls":
        pairs = [make(np.random.default_rng([3, *name.encode()])) for name, make in CLASSES.items()]
        return tuple(ConvexHull(points) for pair in pairs for points in pair if points.shape[1] == 3)
    if kind == "flat hulls":
        return tuple(ConvexHull(rng.normal(size=(9, 2)) + rng.uniform(0.0, 6.0, 2)) for _ in range(20))
    if kind == "curved":
        makers = (
            lambda at: Sphere(at, 0.7),
            lambda at: Capsule(at, at + direction(rng, 3), 0.4),
            lambda at: Cylinder(at, at + direction(rng, 3), 0.5),
            lambda at: Cone(at, at + direction(rng, 3), 0.5),
            lambda at: Ellipsoid(at, (0.9, 0.6, 0.4)),
            lambda at: Box(at, (1.0, 0.8, 0.6)),
        )
        return tuple(makers[k % 6](rng.uniform(0.0, 2.0, 3)) for k in range(12))
    corner = Compound([ConvexHull(CUBE * [2, 0.5, 0.5]), ConvexHull(CUBE * [0.5, 2, 0.5] + [-0.7, 0.7, 0])])
    solid = Mesh(*bumpy(rng))
    shapes = [corner, solid, Mesh(*sheet(4)), Sphere((0, 0, 0), 0.7), Box((0, 0, 0), (1, 1, 1)), ConvexHull(CUBE)]
    return tuple(shape.translated(rng.uniform(0.0, 1.2, 3)) for shape in shapes for _ in range(2))


KINDS = ["turned boxes", "bricks", "hulls", "lattice of hulls", "awkward hulls", "flat hulls", "curved", "mixed"]


def make_poses(shapes: tuple) -> np.ndarray:
    """Rigid poses of most shapes, and of every fifth in space one that stretches and shears."""
    rng, dim = np.random.default_rng(8), shapes[0].dim
    poses = np.tile(np.eye(dim + 1), (len(shapes), 1, 1))
    poses[:, :dim, :dim] = np.linalg.qr(rng.normal(size=(len(shapes), dim, dim)))[0]
    poses[:, :dim, dim] = rng.uniform(-0.3, 0.3, (len(shapes), dim))
    for k, pose in enumerate(poses):
        if k % 5 == 0 and isinstance(shapes[k], Box | ConvexHull | Mesh):
            pose[:dim, :dim] = np.diag(rng.uniform(0.7, 1.3, dim)) @ pose[:dim, :dim]
    return poses


def find(shapes, pairs, poses, numbers=None, **options) -> Contacts:
    """The contacts of pairs, of all shapes or of `numbers` alone, first answers where a depth takes long."""
    if numbers is not None:
        place = {number: k for k, number in enumerate(numbers.tolist())}
        shapes, pairs = [shapes[k] for k in numbers.tolist()], [[place[i], place[j]] for i, j in pairs.tolist()]
        poses = None if poses is None else poses[numbers]
    return contacts(shapes, np.array(pairs), poses=poses, budget=0.0, reproducible=True, **options)


def numbered(found: Contacts, pairs: np.ndarray) -> Contacts:
    """A result with other indices of its shapes."""
    object.__setattr__(found, "pairs", pairs)
    return found


@pytest.mark.fast_cases(16)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("in_poses", [False, True], ids=["as they are", "in poses"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_does_not_depend_on_the_others(kind: str, in_poses: bool, options: dict) -> None:
    shapes = shapes_of(kind)
    poses = make_poses(shapes) if in_poses else None
    rng = np.random.default_rng(1)
    pairs = rng.permutation(list(combinations(range(len(shapes)), 2)))[: {"mixed": 14, "curved": 40}.get(kind, 500)]
    whole = find(ShapeSet(shapes), pairs, poses, **options)
    assert 0.05 < np.mean(whole.signed_distance > 0.0) < 1.0
    for size in (7, 1) if kind in ("mixed", "curved") else (len(pairs), 250, 70, 13, 2, 1, 1, 1, 1):
        rows = rng.permutation(len(pairs))[:size]
        assert_same_rows(find(shapes, pairs[rows], poses, **options), whole, rows)
        if size < 20:
            own = find(shapes, pairs[rows], poses, np.unique(pairs[rows]), **options)
            assert_same_rows(numbered(own, pairs[rows]), whole, rows)


@pytest.mark.parametrize("distances", [True, False], ids=["distances", "no distances"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("curved", "mixed")])
def test_a_row_does_not_depend_on_the_start_but_for_what_is_only_bounded(kind: str, distances: bool) -> None:
    """A row with a start is that without, but where it has bounds alone; and that with the start is its own too."""
    shapes = ShapeSet(shapes_of(kind))
    poses = make_poses(tuple(shapes))
    last = find(shapes, np.array(list(combinations(range(len(shapes)), 2)))[::2], poses, distances=distances)
    poses[:, :-1, -1] += 0.02
    poses[::3, 0, -1] -= 0.03
    rng = np.random.default_rng(2)
    pairs = rng.permutation(list(combinations(range(len(shapes)), 2)))[:500]
    options = {"distances": distances, "clearance": 0.2}
    cold, warm = find(shapes, pairs, poses, **options), find(shapes, pairs, poses, start=last, **options)
    bounded = (cold.status == Status.BOUNDS_ONLY) | (warm.status == Status.BOUNDS_ONLY)
    assert not (bounded.any() and distances)
    assert cold._relations.tobytes() == warm._relations.tobytes()
    rows = np.flatnonzero(~bounded)
    for name in ROW_ARRAYS:
        assert getattr(warm, name)[rows].tobytes() == getattr(cold, name)[rows].tobytes(), name
    for size in (250, 13, 1, 1):
        rows = rng.permutation(len(pairs))[:size]
        assert_same_rows(find(shapes, pairs[rows], poses, start=last, **options), warm, rows)
