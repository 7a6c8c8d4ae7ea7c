# SPDX-License-Identifier: GPL-3.0-or-later
"""A relation does not depend on how the scene is turned: just inside and just outside of both ends of the band."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Circle,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Mesh,
    Polygon,
    Relation,
    Rounded,
    ShapeSet,
    contact,
    contacts,
    verify,
)
from contact_lens.core.shapes.shape import Shape

from ..core.mesh_shapes import block
from ..core.shapes.test_diameter import turned

TOLERANCE = 1e-5
NEAR = 1e-4
"""Relative: how far from the ends of the band the pairs are, 1e-9 of the size: ten times the promise."""
TURNS = 200
DEAR_TURNS = 70
FEW_TURNS = 3
ENDS = (-1.0 - NEAR, -1.0 + NEAR, 1.0 - NEAR, 1.0 + NEAR)
"""Signed distances in units of the band."""


PYRAMID = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0.2, 0.1, 0.5)]


def slab(height: float) -> Box:
    return Box((0, 0, height - 1), (5, 5, 2))


PAIRS: dict[str, tuple[Callable[[float], Shape], Shape, float]] = {
    "boxes": (lambda z: Box((0, 0, z + 1.5), (1, 2, 3)), slab(0), 14**0.5),
    "hulls": (lambda z: ConvexHull(np.add(PYRAMID, (0, 0, z))), ConvexHull(slab(0).vertices), 8**0.5),
    "box and hull": (lambda z: Box((0, 0, z + 1.5), (1, 2, 3)), ConvexHull(slab(0).vertices), 14**0.5),
    "cylinder and box": (lambda z: Cylinder((0, 0, z), (0, 0, z + 4), 1.5), slab(0), 5.0),
    "lying cylinder and box": (lambda z: Cylinder((-2, 0, z + 1.5), (2, 0, z + 1.5), 1.5), slab(0), 5.0),
    "cone and cylinder": (lambda z: Cone((0, 0, z), (0, 0, z + 4), 2), Cylinder((0, 0, -4), (0, 0, 0), 3), 5.0),
    "rounded box and box": (lambda z: Rounded(Box((0, 0, z + 2), (1, 2, 2)), 1), slab(0), 5.0),
    "segment and box": (lambda z: ConvexHull([(0, 0, z), (0, 0, z + 2)]), slab(0), 2.0),
    "compound and box": (
        lambda z: Compound([Box((0, 0, z + 0.5), (3, 1, 1)), Box((-1, 0, z + 2), (1, 1, 2))]),
        slab(0),
        19**0.5,
    ),
    "meshes": (lambda z: Mesh(*block((1, 2, 3), (-0.5, -1, z))), Mesh(*block((5, 5, 2), (-2.5, -2.5, -2))), 14**0.5),
    "mesh and cylinder": (
        lambda z: Cylinder((0, 0, z), (0, 0, z + 4), 1.5),
        Mesh(*block((5, 5, 2), (-2.5, -2.5, -2))),
        5.0,
    ),
    "polygons": (
        lambda z: Polygon([(0, z), (3, z), (0, z + 4)]),
        Polygon([(-9, 0), (-9, -9), (9, -9), (9, 0)]),
        5.0,
    ),
    "circle and polygon": (lambda z: Circle((0, z + 1), 1), Polygon([(-9, 0), (-9, -9), (9, -9), (9, 0)]), 2.0),
}
QUICK = ("boxes", "hulls", "box and hull", "segment and box", "polygons")
"""Of these all turns are tried, of the others in the slow tests only."""


def expected(end: float) -> Relation:
    """The relation at a distance, in units of the band."""
    if abs(end) <= 1.0:
        return Relation.TOUCHING
    return Relation.SEPARATED if end > 0.0 else Relation.PENETRATING


def poses(dim: int, count: int) -> np.ndarray:
    return np.stack([np.eye(dim + 1), *(turned(dim, seed) for seed in range(count - 1))])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "mesh and cylinder")) for name in PAIRS]
)
def test_every_orientation_has_one_relation(name):
    make, other, diameter = PAIRS[name]
    band = TOLERANCE * diameter
    for end in ENDS:
        lifted = make(end * band)
        count = TURNS if name in QUICK else FEW_TURNS
        for matrix in poses(other.dim, count):
            a, b = lifted.transformed(matrix), other.transformed(matrix)
            c = contact(a, b, budget=0.0)
            assert c.relation == expected(end), matrix
            assert contact(b, a, budget=0.0).relation == c.relation
        assert verify(c, a, b).failures == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAIRS if name not in QUICK])
def test_every_orientation_of_other_shapes_has_one_relation(name):
    make, other, diameter = PAIRS[name]
    for end in ENDS:
        lifted = make(end * TOLERANCE * diameter)
        for matrix in poses(other.dim, DEAR_TURNS if name == "mesh and cylinder" else TURNS):
            found = contact(lifted.transformed(matrix), other.transformed(matrix), budget=0.0)
            assert found.relation == expected(end), matrix


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e4])
@pytest.mark.parametrize("name", QUICK)
def test_many_at_once_in_poses_have_the_same(name, scale):
    make, other, diameter = PAIRS[name]
    matrices = np.repeat(poses(other.dim, TURNS), 2, axis=0)
    matrices[:, :-1, :-1] *= scale
    pairs = np.arange(2 * TURNS).reshape(-1, 2)
    for end in ENDS:
        shapes = ShapeSet([make(end * TOLERANCE * diameter), other] * TURNS)
        found = contacts(shapes, pairs, poses=matrices, certificates=False)
        assert set(found.relation) == {expected(end)}
        still = [shape.transformed(matrix) for shape, matrix in zip(shapes, matrices, strict=True)][:20]
        assert set(contacts(still, pairs[:10]).relation) == {expected(end)}
        assert set(contacts(still, pairs[:10, ::-1]).relation) == {expected(end)}


def test_doubled_points_and_subdivided_faces_change_no_relation():
    rng = np.random.default_rng(6)
    points, triangles = block((1, 2, 3), (-0.5, -1, 0))
    fine = np.concatenate([points[triangles].mean(axis=1), points, points])
    ends, number = len(triangles) + triangles, np.arange(len(triangles))
    fans = np.concatenate([np.stack([ends[:, k], ends[:, (k + 1) % 3], number], axis=1) for k in range(3)])
    for end in ENDS:
        up = (0, 0, end * TOLERANCE * 14**0.5)
        for matrix in poses(3, FEW_TURNS):
            floor = slab(0).transformed(matrix)
            rows = rng.permutation(len(fine))
            for shape in (ConvexHull(fine[rows] + up), Mesh(fine + up, fans), Mesh(points + up, triangles)):
                assert contact(shape.transformed(matrix), floor, budget=0.0).relation == expected(end)
