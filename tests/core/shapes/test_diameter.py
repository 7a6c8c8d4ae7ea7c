# SPDX-License-Identifier: GPL-3.0-or-later
"""The size that the contact tolerance is relative to: the diameter of the smallest enclosing ball."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from contact_lens.core import (
    Box,
    Capsule,
    Circle,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    Polygon,
    Rounded,
    ShapeSet,
    Sphere,
)
from contact_lens.core.shapes.diameters import diameters_of
from contact_lens.core.shapes.enclosing_sphere import enclosing_spheres

from ..mesh_shapes import block

BOX = Box((1, 2, 3), (2, 3, 6), (1, 2, 3, 4))
KNOWN = {
    "point": (ConvexHull([(5, 5, 5)]), 0.0),
    "segment": (ConvexHull([(0, 0, 0), (1, 2, 2)]), 3.0),
    "right triangle": (ConvexHull([(0, 0, 0), (3, 0, 0), (0, 4, 0)]), 5.0),
    "regular tetrahedron": (ConvexHull([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]), 2 * 3**0.5),
    "box": (BOX, 7.0),
    "flat box": (Box((0, 0, 0), (3, 4, 0), (1, 2, 3, 4)), 5.0),
    "hull of a box": (ConvexHull(BOX.vertices), 7.0),
    "sphere": (Sphere((1, 2, 3), 2), 4.0),
    "capsule": (Capsule((0, 0, 0), (1, 2, 2), 0.5), 4.0),
    "rounded box": (Rounded(BOX, 0.5), 8.0),
    "cylinder": (Cylinder((0, 0, 0), (4, 8, 8), 2.5), 13.0),
    "slender cone": (Cone((0, 0, 0), (0, 0, 4), 2), 5.0),
    "flat cone": (Cone((0, 0, 0), (0, 0, 1), 2), 4.0),
    "ellipsoid": (Ellipsoid((1, 1, 1), (1, 3, 2), (1, 2, 3, 4)), 6.0),
    "rounded cone": (Rounded(Cone((0, 0, 0), (0, 0, 4), 2), 1), 7.0),
    "polygon": (Polygon([(0, 0), (3, 0), (3, 4), (0, 4)]), 5.0),
    "circle": (Circle((1, 1), 3), 6.0),
    "mesh": (Mesh(*block((2, 3, 6))), 7.0),
    "two boxes": (Compound([Box((0, 0, -1.5), (2, 3, 3)), Box((0, 0, 1.5), (2, 3, 3))]), 7.0),
    "two balls": (Compound([Sphere((0, 0, 0), 1), Sphere((0, 0, 6), 3)]), 10.0),
    "ball within a ball": (Compound([Sphere((0, 0, 0), 3), Sphere((0, 0, 1), 1)]), 6.0),
    "two halves of a cylinder": (
        Compound([Cylinder((0, 0, -6), (0, 0, 0), 2.5), Cylinder((0, 0, 0), (0, 0, 6), 2.5)]),
        13.0,
    ),
    "ellipsoid and ball": (Compound([Ellipsoid((0, 0, 0), (1, 3, 2)), Sphere((0, 5, 0), 1)]), 9.0),
    "two circles": (Compound([Circle((0, 0), 1), Circle((3, 4), 1)]), 7.0),
}


def turned(dim: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """A random rotation, or a reflection, times a scale, with a translation."""
    rng = np.random.default_rng(seed)
    matrix = np.eye(dim + 1)
    matrix[:dim, :dim] = scale * np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    matrix[:dim, dim] = rng.uniform(-3, 3, dim)
    return matrix


@pytest.mark.parametrize("name", KNOWN)
def test_diameter_is_that_of_the_smallest_ball_however_the_shape_is_turned(name):
    shape, diameter = KNOWN[name]
    assert shape.diameter == pytest.approx(diameter, rel=1e-12)
    for k, scale in enumerate((1.0, 1.0, 1e-3, 1e5)):
        image = shape.transformed(turned(shape.dim, k, scale))
        assert image.diameter == pytest.approx(scale * diameter, rel=1e-12)
    assert shape.scaled(2.0).diameter == pytest.approx(2.0 * diameter, rel=1e-12)


def test_doubled_points_and_subdivided_faces_leave_it_alone():
    rng = np.random.default_rng(4)
    for _ in range(20):
        points = rng.normal(size=(12, 3)) * rng.uniform(0.1, 2.0, 3)
        hull = ConvexHull(points)
        corners = hull.vertices
        weights = rng.dirichlet(np.ones(len(corners)), 50)
        more = np.concatenate([weights @ corners, points, points[::-1]])
        assert ConvexHull(more).diameter == pytest.approx(hull.diameter, rel=1e-12)
        assert Compound([ConvexHull(more[k : k + 9]) for k in range(0, len(more), 3)]).diameter == pytest.approx(
            hull.diameter, rel=1e-12
        )
        cloud = Mesh(more, np.arange(len(more) // 3 * 3).reshape(-1, 3))
        assert cloud.diameter == pytest.approx(ConvexHull(cloud.points[: cloud.triangles.size]).diameter, rel=1e-12)


def test_points_that_no_triangle_uses_do_not_count():
    points = [(0, 0, 0), (3, 0, 0), (0, 4, 0), (90, 0, 0)]
    assert Mesh(points, [(0, 1, 2)]).diameter == pytest.approx(5.0, rel=1e-12)


def test_of_compounds_it_is_that_of_many_points_of_their_surfaces():
    rng = np.random.default_rng(8)
    for _ in range(20):
        pieces = [
            Cylinder(rng.normal(size=3), rng.normal(size=3), rng.uniform(0.1, 1)),
            Cone(rng.normal(size=3), rng.normal(size=3), rng.uniform(0.1, 1)),
            Rounded(Ellipsoid(rng.normal(size=3), rng.uniform(0.2, 2, 3), rng.normal(size=4)), 0.3),
            ConvexHull(rng.normal(size=(6, 3))),
        ]
        compound = Compound(pieces)
        directions = rng.normal(size=(4000, 3))
        points = np.concatenate([piece.supports(directions) for piece in pieces])
        inside = 2.0 * enclosing_spheres(points, None, np.zeros(1, int))[1][0]
        assert inside * (1.0 - 1e-12) <= compound.diameter <= inside * (1.0 + 1e-3)
        image = compound.transformed(turned(3, 1))
        assert image.diameter == pytest.approx(compound.diameter, rel=1e-10)


def test_sizes_near_the_limits_of_floats():
    for scale in (2.0**-930, 2.0**930):
        for name in ("box", "hull of a box", "slender cone", "two halves of a cylinder", "mesh"):
            shape, diameter = KNOWN[name]
            assert shape.scaled(scale).diameter == pytest.approx(scale * diameter, rel=1e-12)


def test_among_others_it_is_the_same_to_the_last_bit():
    rng = np.random.default_rng(2)
    points = [rng.normal(size=(int(rng.integers(1, 40)), 3)) for _ in range(200)]
    # Many points on one sphere, in one plane, in one line, in one place.
    points += [rng.integers(0, 3, (int(rng.integers(1, 20)), 3)) * rng.uniform(0.1, 2.0, 3) for _ in range(200)]
    points += [BOX.vertices @ turned(3, k)[:3, :3] for k in range(100)]
    alone = [ConvexHull(some).diameter for some in points]
    assert diameters_of([ConvexHull(some) for some in points]).tolist() == alone
    flat = [np.unique(some[:, :2], axis=0) for some in points]
    circles = np.array([enclosing_spheres(some, None, np.zeros(1, int))[1][0] for some in flat])
    sizes = np.array([len(some) for some in flat])
    chosen = np.flatnonzero(sizes > 3)
    together = np.concatenate([flat[k] for k in chosen])
    starts = np.cumsum(sizes[chosen]) - sizes[chosen]
    assert enclosing_spheres(together, None, starts)[1].tolist() == circles[chosen].tolist()
    assert diameters_of([Sphere((0, 0, 0), 1), BOX]).tolist() == [2.0, BOX.diameter]


def test_random_turns_of_a_random_hull_differ_by_rounding_only():
    points = np.random.default_rng(3).normal(size=(30, 3))
    found = [ConvexHull(turn.apply(points)).diameter for turn in Rotation.random(50, random_state=1)]
    assert np.ptp(found) <= 1e-13 * found[0]


def test_of_an_image_it_is_the_same_to_the_last_bit_whenever_it_is_asked_for():
    points = np.random.default_rng(5).normal(size=(20, 3))
    steep = np.diag([1.0, 2.0, 1.0, 1.0])

    def images(asked: bool) -> list[float]:
        hull = ConvexHull(points)
        chain = [hull]
        for matrix in (turned(3, 1), turned(3, 2, 3.0), steep, turned(3, 3)):
            chain += [chain[-1].transformed(matrix), chain[-1].translated((1, 2, 3)), chain[-1].scaled(0.3)]
            if asked:
                assert chain[-1].diameter > 0.0
        return [shape.diameter for shape in chain[::-1]]

    assert images(False) == images(True)
    hull = ConvexHull(points)
    together = [hull.transformed(turned(3, k)) for k in range(5)] + [hull.transformed(steep)]
    alone = [shape.transformed(np.eye(4)).diameter for shape in (hull, hull.transformed(steep))]
    found = diameters_of(together)
    assert np.ptp(found[:5]) <= 1e-14 * alone[0]
    assert found[5] == alone[1] == pytest.approx(ConvexHull(points * [1, 2, 1]).diameter, rel=1e-13)


def test_of_a_set_in_poses_they_are_those_of_the_images():
    shapes = [KNOWN[name][0] for name in ("box", "hull of a box", "cylinder", "mesh", "right triangle", "two boxes")]
    matrices = np.stack([turned(3, k, 0.5 + k) for k in range(len(shapes))])
    found = ShapeSet(shapes).diameters(matrices)
    images = [shape.transformed(matrix) for shape, matrix in zip(shapes, matrices, strict=True)]
    assert found == pytest.approx([image.diameter for image in images], rel=1e-13)
    shear = np.tile(np.eye(4), (2, 1, 1))
    shear[:, 0, 1] = 0.7
    solid = [BOX, ConvexHull(BOX.vertices)]
    expected = ConvexHull(BOX.vertices @ shear[0, :3, :3].T).diameter
    assert ShapeSet(solid).diameters(shear) == pytest.approx([expected, expected], rel=1e-13)
