# SPDX-License-Identifier: GPL-3.0-or-later
"""How far points are from every kind of shape: the closed forms against the solver, which knows only support points."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Circle,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Polygon,
    Rounded,
    Sphere,
    contact,
)
from contact_lens.core.shapes.signed_distance import signed_distances

RNG = np.random.default_rng(20)
TURN = RNG.normal(size=4)
SHAPES = {
    "box": Box((1, 2, 3), (2, 0.5, 1), TURN),
    "hull": ConvexHull(RNG.normal(size=(20, 3))),
    "polygon in space": ConvexHull([(0, 0, 0), (2, 0, 1), (2, 1, 1), (0, 1, 0)]),
    "segment": ConvexHull([(0, 0, 0), (1, 2, 3)]),
    "point": ConvexHull([(1, 2, 3)]),
    "sphere": Sphere((1, 0, 2), 0.7),
    "capsule": Capsule((0, 0, 0), (1, 2, 0), 0.3),
    "rounded box": Rounded(Box((1, 2, 3), (2, 0.5, 1), TURN), 0.2),
    "rounded polygon": Rounded(ConvexHull([(0, 0, 0), (2, 0, 1), (2, 1, 1), (0, 1, 0)]), 0.2),
    "cylinder": Cylinder((0, 1, 0), (1, 2, 2), 0.8),
    "flat cylinder": Cylinder((0, 1, 0), (0.01, 1, 0.02), 0.8),
    "cone": Cone((0, 1, 0), (1, 2, 2), 0.8),
    "sharp cone": Cone((0, 1, 0), (1, 2, 2), 0.02),
    "flat cone": Cone((0, 1, 0), (0.1, 1, 0.02), 0.8),
    "rounded cone": Rounded(Cone((0, 1, 0), (1, 2, 2), 0.8), 0.1),
    "ellipsoid": Ellipsoid((1, 0, 0), (1, 2, 0.5), TURN),
    "spheroid": Ellipsoid((1, 0, 0), (1, 1, 0.5), TURN),
    "egg": Ellipsoid((1, 0, 0), (0.5, 0.5, 2), TURN),
    "needle": Ellipsoid((1, 0, 0), (0.01, 0.02, 1), TURN),
    "ball": Ellipsoid((1, 0, 0), (0.5, 0.5, 0.5), TURN),
    "rounded ellipsoid": Rounded(Ellipsoid((1, 0, 0), (1, 2, 0.5), TURN), 0.3),
    "polygon": Polygon([(0, 0), (2, 0), (3, 1), (0, 2)]),
    "circle": Circle((1, 1), 0.5),
    "capsule in the plane": Capsule((0, 0), (1, 2), 0.3),
    "rounded polygon in the plane": Rounded(Polygon([(0, 0), (2, 0), (3, 1), (0, 2)]), 0.25),
    "segment in the plane": ConvexHull([(0, 0), (1, 2)]),
}


def _points(shape) -> np.ndarray:
    """Points in, on and beside a shape, and on its axes and middle."""
    low, high = shape.bounds
    spread = RNG.uniform(low - 0.6 * shape.extent, high + 0.6 * shape.extent, size=(8, shape.dim))
    near = shape.center + RNG.uniform(-0.2, 0.2, size=(5, shape.dim)) * (high - low)
    return np.concatenate([spread, near, shape.center[None], shape.center + np.diag(0.1 * (high - low))])


@pytest.mark.parametrize("name", SHAPES)
def test_distances_of_points_are_those_the_solver_finds(name: str) -> None:
    shape = SHAPES[name]
    points = _points(shape)
    found = signed_distances(shape, points)
    for point, distance in zip(points, found, strict=True):
        c = contact(ConvexHull(point[None]), shape)
        slack = 1e-12 * shape.extent
        assert c.lower_bound - slack <= distance <= c.upper_bound + slack, point


@pytest.mark.parametrize("name", SHAPES)
def test_points_moved_off_support_points_are_as_far_as_they_were_moved(name: str) -> None:
    shape = SHAPES[name]
    ways = RNG.normal(size=(60, shape.dim))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    if hasattr(shape, "supports"):
        tops = shape.supports(ways)
    else:
        tops = shape.vertices[(ways @ shape.vertices.T).argmax(axis=1)]
    for far in (0.0, 1e-6, 1.0, 1e5):
        found = signed_distances(shape, tops + far * ways)
        np.testing.assert_allclose(found, far, rtol=1e-14, atol=1e-14 * (shape.magnitude + shape.extent))


def test_where_an_ellipsoid_is_as_near_on_both_sides() -> None:
    shape = Ellipsoid((0, 0, 0), (3, 2, 1))
    points = np.array([(x, y, z) for x in (0, 1.5) for y in (0, 0.5) for z in (0, 1e-300, 1e-17, 1e-9)])
    for point, distance in zip(points, signed_distances(shape, points), strict=True):
        c = contact(ConvexHull(point[None]), shape)
        assert c.lower_bound - 1e-14 <= distance <= c.upper_bound + 1e-14, point


@pytest.mark.parametrize("name", SHAPES)
def test_distances_grow_with_the_shapes(name: str) -> None:
    shape = SHAPES[name]
    points = _points(shape)
    for exponent in (-100, 40):
        grown = signed_distances(shape.scaled(exponent), np.ldexp(points, exponent))
        np.testing.assert_array_equal(grown, np.ldexp(signed_distances(shape, points), exponent))


def test_no_points_have_no_distances() -> None:
    for shape in SHAPES.values():
        assert signed_distances(shape, np.zeros((0, shape.dim))).shape == (0,)
