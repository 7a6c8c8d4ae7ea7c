# SPDX-License-Identifier: GPL-3.0-or-later
"""How far points are from every kind of shape: the closed forms against the solver, which knows only support points."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import ConvexHull, Ellipsoid, contact

from ..generators import sphere_points
from ..shapes.test_shapes import FLAT, RNG, SOLIDS, THIN

SHAPES = SOLIDS | THIN | FLAT


def _points(shape) -> np.ndarray:
    """Points in, on and beside a shape, and on its axes and middle."""
    low, high = shape.bounds
    spread = RNG.uniform(low - 0.6 * shape.extent, high + 0.6 * shape.extent, size=(8, shape.dim))
    near = shape.center + RNG.uniform(-0.2, 0.2, size=(5, shape.dim)) * (high - low)
    return np.concatenate([spread, near, shape.center[None], shape.center + np.diag(0.1 * (high - low))])


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("name", SHAPES)
def test_distances_of_points_are_those_the_solver_finds(name: str) -> None:
    shape = SHAPES[name]
    points = _points(shape)
    found = shape.signed_distance(points)
    for point, distance in zip(points, found, strict=True):
        c = contact(ConvexHull(point[None]), shape)
        slack = 1e-12 * shape.extent
        assert c.lower_bound - slack <= distance <= c.upper_bound + slack, point


@pytest.mark.parametrize("name", SHAPES)
def test_points_moved_off_support_points_are_as_far_as_they_were_moved(name: str) -> None:
    shape = SHAPES[name]
    normals = sphere_points(RNG, 60, shape.dim)
    for far in (0.0, 1e-6, 1.0, 1e5):
        found = shape.signed_distance(shape.supports(normals) + far * normals)
        np.testing.assert_allclose(found, far, rtol=1e-14, atol=1e-14 * (shape.magnitude + shape.extent))


def test_where_an_ellipsoid_is_as_near_on_both_sides() -> None:
    shape = Ellipsoid((0, 0, 0), (3, 2, 1))
    points = np.array([(x, y, z) for x in (0, 1.5) for y in (0, 0.5) for z in (0, 1e-300, 1e-17, 1e-9)])
    for point, distance in zip(points, shape.signed_distance(points), strict=True):
        c = contact(ConvexHull(point[None]), shape)
        assert c.lower_bound - 1e-14 <= distance <= c.upper_bound + 1e-14, point


@pytest.mark.parametrize("name", SHAPES)
def test_distances_grow_with_the_shapes(name: str) -> None:
    shape = SHAPES[name]
    points = _points(shape)
    for exponent in (-100, 40):
        grown = shape.scaled(2.0**exponent).signed_distance(np.ldexp(points, exponent))
        np.testing.assert_array_equal(grown, np.ldexp(shape.signed_distance(points), exponent))
    assert shape.signed_distance(points[:0]).shape == (0,)


@pytest.mark.parametrize("turned", [False, True])
def test_points_of_a_flat_polygon_in_space_are_on_it(turned: bool) -> None:
    """Rounding puts them below both of its sides, or above a facet that is beside them."""
    rng = np.random.default_rng(21)
    for _ in range(40):
        corners = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 3)) if turned else rng.normal(size=(8, 3)) * (1, 1, 0)
        shape = ConvexHull(corners)
        weights = rng.dirichlet(np.ones(len(shape.vertices)), 50)
        found = shape.signed_distance(weights @ shape.vertices)
        assert np.abs(found).max() <= 1e-14 * shape.extent
        away = shape.signed_distance(weights @ shape.vertices + 0.25 * shape.normals[0])
        np.testing.assert_allclose(away, 0.25, rtol=1e-13)


def test_points_of_facets_that_are_nearly_level_are_on_them() -> None:
    rng = np.random.default_rng(22)
    for _ in range(40):
        corners = rng.normal(size=(40, 3))
        corners[:, 2] = np.where(rng.random(40) < 0.5, 1.0, -1.0) + 1e-13 * rng.normal(size=40)
        shape = ConvexHull(corners)
        points = np.concatenate([rng.dirichlet(np.ones(len(loop)), 5) @ shape.vertices[loop] for loop in shape.facets])
        assert np.abs(shape.signed_distance(points)).max() <= 1e-14 * shape.extent


def test_an_ellipsoid_where_a_coordinate_is_next_to_zero() -> None:
    """Quotients by the root are beyond the range of float64 then."""
    shape = Ellipsoid((0, 0, 0), (3, 2, 1))
    for tiny in (5e-324, 1e-308, 1e-300, 1e-280):
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            found = shape.signed_distance(np.array([(0.0, -1.0, 0.0), (0.0, -1.0, tiny)]))
        np.testing.assert_allclose(found, -np.sqrt(2.0 / 3.0), rtol=1e-15)


def test_a_solid_of_many_corners() -> None:
    rng = np.random.default_rng(23)
    shape = ConvexHull(sphere_points(rng, 1500))
    chosen = rng.integers(len(shape.facets), size=300)
    middles = np.array([shape.vertices[shape.facets[k]].mean(axis=0) for k in chosen])
    corners = shape.vertices[[shape.facets[k][0] for k in chosen]]
    for far in (1e-9, 1e-3, 1.0):
        np.testing.assert_allclose(shape.signed_distance((1.0 + far) * corners), far, atol=1e-15)
        np.testing.assert_allclose(shape.signed_distance(middles + far * shape.normals[chosen]), far, atol=1e-15)
