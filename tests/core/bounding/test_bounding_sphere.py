# SPDX-License-Identifier: GPL-3.0-or-later
"""Smallest enclosing spheres, of points and of spheres: the smallest there are, by other means."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

from contact_lens.core.bounding.bounding_sphere import Spheres
from contact_lens.core.bounding.bounding_volumes import bounding_volumes

from ..generators import rotation, sphere_points


def sphere(points, starts=None) -> Spheres:
    volumes = bounding_volumes("sphere", points, starts)
    assert isinstance(volumes, Spheres)
    return volumes


def smallest_by_trial(points: np.ndarray) -> float:
    """The radius of the smallest sphere of all that 2, 3 or 4 of the points carry and that contain the others."""
    n, dim = points.shape
    best = np.inf if n > 1 else 0.0
    for size in range(2, dim + 2):
        for choice in combinations(range(n), min(size, n)):
            p = points[list(choice)]
            ends = p[1:] - p[0]
            x, *_ = np.linalg.lstsq(ends, 0.5 * (ends * ends).sum(axis=1), rcond=None)
            radius = np.linalg.norm(points - p[0] - x, axis=1).max()
            best = min(best, float(radius))
    return best


def is_carried(center: np.ndarray, radius: float, centers: np.ndarray, radii: np.ndarray) -> float:
    """How far the centre is from the hull of the centres of what the sphere touches, as a fraction of the radius.

    A sphere around balls is the smallest if and only if it is not.
    """
    reach = np.linalg.norm(centers - center, axis=1) + radii
    near = centers[reach >= radius * (1 - 1e-9)]
    away = (near - center) / max(radius, 1e-300)
    length = np.linalg.norm(away, axis=1, keepdims=True)
    away = away / np.where(length > 0, length, 1.0)
    # The point of a hull nearest to the origin, with weights that are not negative and whose sum is 1.
    heavy = 1e3
    weights, _ = nnls(np.vstack([away.T, np.full(len(away), heavy)]), np.append(np.zeros(away.shape[1]), heavy))
    return float(np.linalg.norm(weights @ away))


@pytest.mark.parametrize("dim", [2, 3])
def test_few_points_have_the_smallest_of_all_spheres_they_carry(dim):
    rng = np.random.default_rng(dim)
    for trial in range(300):
        points = rng.normal(size=(int(rng.integers(1, 8)), dim))
        if trial % 3 == 1:
            points = np.round(points)
        elif trial % 3 == 2:
            points = points * 10.0 ** rng.uniform(-3, 0, dim)
        found, wanted = float(sphere(points).radius[0]), smallest_by_trial(points)
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("count", [3, 10, 100, 10_000])
def test_the_points_on_a_smallest_sphere_are_all_around_it(dim, count):
    rng = np.random.default_rng(count)
    for _ in range(20 if count < 1000 else 3):
        points = rng.normal(size=(count, dim))
        found = sphere(points)
        assert is_carried(found.center[0], found.radius[0], points, np.zeros(count)) < 1e-6
        assert found.radius[0] <= np.linalg.norm(points - found.center[0], axis=1).max() * (1 + 1e-14)


def test_known_bodies():
    cube = np.array([[x, y, z] for x in (0, 2) for y in (0, 2) for z in (0, 2)], float)
    found = sphere(cube)
    np.testing.assert_allclose(found.center[0], [1, 1, 1], atol=1e-15)
    assert found.radius[0] == pytest.approx(np.sqrt(3), rel=1e-14)
    right = sphere(np.array([[0, 0], [3, 0], [0, 4.0]]))
    assert right.center[0].tolist() == [1.5, 2.0]
    assert right.radius[0] == pytest.approx(2.5, rel=1e-14)
    obtuse = sphere(np.array([[0, 0], [10, 0], [5, 1.0]]))
    assert obtuse.center[0].tolist() == [5.0, 0.0]
    equilateral = sphere(np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0.0]]))
    assert equilateral.radius[0] == pytest.approx(np.sqrt(2 / 3), rel=1e-14)


def test_points_on_one_sphere_all_carry_it():
    rng = np.random.default_rng(5)
    for count in (4, 20, 500, 20_000):
        points = sphere_points(rng, count)
        points = np.concatenate([points, -points])
        found = sphere(points * 3.0 + [10, 20, 30])
        np.testing.assert_allclose(found.center[0], [10, 20, 30], atol=1e-13)
        assert found.radius[0] == pytest.approx(3.0, rel=1e-13)


def test_ten_thousand_triangles_are_as_small_as_by_trial():
    rng = np.random.default_rng(6)
    points = rng.normal(size=(10_000, 3, 3))
    points[::5, 2] = points[::5, 0] + 1e-9 * rng.normal(size=(2000, 3))  # slivers
    points[1::5, 2] = 2 * points[1::5, 1] - points[1::5, 0]  # collinear
    found = sphere(points.reshape(-1, 3), np.arange(0, 30_000, 3))
    for i in range(0, 10_000, 31):
        assert found.radius[i] == pytest.approx(smallest_by_trial(points[i]), rel=1e-9)


def test_grids_where_many_points_are_equally_far_end_too():
    for steps in (2, 3, 6, 10):
        axis = np.linspace(0, 1, steps)
        grid = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
        assert sphere(grid).radius[0] == pytest.approx(np.sqrt(0.75), rel=1e-13)
        turned = grid @ rotation(np.random.default_rng(steps)).T + 1e3
        assert sphere(turned).radius[0] == pytest.approx(np.sqrt(0.75), rel=1e-11)


# ---------------------------------------------------------------------------------------------------------------------
# Spheres around spheres


@pytest.mark.parametrize("dim", [2, 3])
def test_two_spheres_are_inside_one_that_both_touch(dim):
    rng = np.random.default_rng(8)
    first = Spheres(rng.normal(size=(2000, dim)), rng.random(2000))
    second = Spheres(rng.normal(size=(2000, dim)) * 2, rng.random(2000) * 2)
    both = first.merged(second)
    distance = np.linalg.norm(first.center - second.center, axis=1)
    wanted = np.maximum.reduce([first.radius, second.radius, 0.5 * (distance + first.radius + second.radius)])
    np.testing.assert_allclose(both.radius, wanted, rtol=1e-14)
    inside = distance + second.radius < first.radius
    assert inside.any()
    np.testing.assert_array_equal(both.center[inside], first.center[inside])
    np.testing.assert_array_equal(both.radius[inside], first.radius[inside])


@pytest.mark.parametrize("dim", [2, 3])
def test_a_sphere_of_spheres_is_the_smallest(dim):
    rng = np.random.default_rng(9)
    for trial in range(200):
        count = int(rng.integers(1, 12))
        centers = rng.normal(size=(count, dim))
        radii = rng.random(count) * 10.0 ** rng.integers(-3, 1) * (trial % 4 != 0)
        found = Spheres(centers, radii).reduce_groups([0])
        reach = np.linalg.norm(centers - found.center[0], axis=1) + radii
        assert reach.max() <= found.radius[0]
        assert found.radius[0] <= reach.max() * (1 + 1e-13)
        if count > 1 and found.radius[0] > radii.max() * (1 + 1e-9):
            assert is_carried(found.center[0], found.radius[0], centers, radii) < 1e-6


def test_one_sphere_stays_as_it_is_and_one_that_contains_the_others_too():
    one = Spheres(np.array([[1.0, 2, 3], [1.1, 2, 3], [0.9, 2.1, 3]]), np.array([5.0, 0.1, 0.2]))
    alone = one.reduce_groups([0, 1, 2])
    np.testing.assert_array_equal(alone.center, one.center)
    np.testing.assert_array_equal(alone.radius, one.radius)
    large = one.reduce_groups([0])
    np.testing.assert_allclose(large.center[0], [1, 2, 3], atol=1e-14)
    assert large.radius[0] == pytest.approx(5.0, rel=1e-14)


def test_spheres_overlap_when_they_touch():
    a = Spheres(np.zeros((3, 3)), np.array([1.0, 1.0, 1.0]))
    b = Spheres(np.array([[3.0, 0, 0], [3.0, 0, 0], [0.5, 0, 0]]), np.array([2.0, 1.9, 9.0]))
    assert a.overlaps(b).tolist() == [True, False, True]
    np.testing.assert_allclose(a.gap(b), [0, 0.1, 0], atol=1e-14)
