# SPDX-License-Identifier: GPL-3.0-or-later
"""GJK and the point of a simplex nearest to the origin."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import ConvexHull, gjk, gjk_intersects
from contact_lens.core.narrow_phase.exact import nearest_on_simplex_exactly, weights_exactly
from contact_lens.core.narrow_phase.gjk import nearest_simplex
from contact_lens.core.shapes.simplex import (
    barycentric,
    encloses_origin,
    nearest_on_simplex,
    nearest_on_tetrahedron,
    triangle_normal,
)

from ..generators import CUBE, rotation, sphere_points
from ..oracles import exact

SOLID = 2.0 * CUBE


def vertices(points) -> tuple[tuple[float, float, float, int, int], ...]:
    return tuple((*map(float, point), i, i) for i, point in enumerate(points))


def assert_same_nearest(floats, exact) -> None:
    """Both find the same point, or that the origin is inside, on the same face of the simplex."""
    assert (floats is None) == (exact is None)
    if exact is not None:
        assert np.allclose(floats[:3], exact[:3], rtol=0, atol=1e-13)
        assert {v[3] for v in floats[3]} == {v[3] for v in exact[3]}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_floats_and_whole_numbers_find_the_same_nearest_point(count):
    rng = np.random.default_rng(count)
    compared = 0
    for _ in range(600):
        points = rng.normal(size=(count, 3)) + rng.normal(size=3)
        if count == 4:
            # The first vertex must be a support point towards the origin: see `nearest_on_tetrahedron`.
            side = nearest_on_simplex(vertices(points[1:]))
            toward = -np.array(side[:3])
            if len(side[3]) < 3 or toward @ points[0] <= (points[1:] @ toward).max():
                continue
        assert_same_nearest(nearest_on_simplex(vertices(points)), nearest_on_simplex_exactly(vertices(points)))
        compared += 1
    assert compared > 30


def test_any_face_of_a_tetrahedron_can_be_the_nearest():
    rng = np.random.default_rng(9)
    inside = 0
    for _ in range(400):
        corners = vertices(rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=3))
        exact = nearest_on_simplex_exactly(corners)
        assert_same_nearest(nearest_on_tetrahedron(*corners, any_face=True), exact)
        assert encloses_origin(corners, 1e-12) == (exact is None)
        inside += exact is None
    assert 20 < inside < 380


def test_whole_numbers_see_that_a_needle_of_a_triangle_is_nearer_than_its_long_sides():
    # The third corner is 1e-15 off the line of the others: the float cross product is noise.
    triangle = vertices([(-1.0, 1.0, 1e-3), (2.0, 1.0, 1e-3), (0.5, 1.0 - 1e-15, 1e-3)])
    x, y, z, face = nearest_on_simplex_exactly(triangle)
    assert (x, y, z) == (pytest.approx(0.0, abs=1e-15), pytest.approx(1.0, abs=1e-15), 1e-3)
    assert 2 in {v[3] for v in face}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_exact_weights_lead_to_the_nearest_point(count):
    rng = np.random.default_rng(10 + count)
    inside = 0
    for _ in range(200):
        points = rng.normal(size=(count, 3))
        weights = weights_exactly(vertices(points))
        assert min(weights) >= 0.0
        assert sum(weights) == pytest.approx(1.0, rel=1e-15)
        nearest = nearest_on_simplex_exactly(vertices(points))
        inside += nearest is None
        wanted = (0.0, 0.0, 0.0) if nearest is None else nearest[:3]
        assert np.allclose(np.array(weights) @ points, wanted, rtol=0, atol=1e-14)
    assert count < 4 or inside > 5


def test_the_weights_of_a_thin_triangle_give_the_point_back():
    # The origin is on the short side's end of a triangle 1e10 times as long as high.
    triangle = vertices([(0.0, 0.0, 0.0), (1.0, -1.0, 1.0), (1e10, 3e9, -1e10)])
    assert weights_exactly(triangle) == (1.0, 0.0, 0.0)
    triangle = vertices([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.3, 1e-9, 0.0)])
    weights = barycentric((0.25, 0.5e-9, 0.0), triangle)
    assert min(weights) >= 0.0
    assert np.allclose(np.array(weights) @ [v[:3] for v in triangle], (0.25, 0.5e-9, 0.0), rtol=0, atol=1e-16)


@pytest.mark.parametrize("height", [1.0, 1e-3, 1e-9, 1e-14])
def test_all_corners_of_a_triangle_lie_in_its_plane_however_thin_it_is(height):
    rng = np.random.default_rng(3)
    for _ in range(100):
        along, across = rotation(rng)[:2]
        points = rng.normal(size=3) + np.array([0 * along, along, 0.4 * along + height * across])
        normal = np.array(triangle_normal(*vertices(points)))
        assert np.abs((points - points[0]) @ normal).max() < 8 * np.spacing(np.abs(points).max())


def test_distance_weights_and_witness_points_belong_together():
    rng = np.random.default_rng(4)
    for _ in range(100):
        a, b = ConvexHull(sphere_points(rng, 20)), ConvexHull(sphere_points(rng, 20) + [2.5, 0.5, 0.0])
        found = gjk(a, b)
        assert not found.intersects
        assert found.gap == pytest.approx(exact(a.vertices, b.vertices).signed_distance, rel=1e-14)
        assert sum(found.weights) == pytest.approx(1.0)
        assert min(found.weights) >= 0.0
        point_on_a, point_on_b = found.witness_points(a, b)
        assert np.allclose(point_on_a - point_on_b, found.nearest, atol=1e-14)
        assert np.allclose(point_on_b - point_on_a, found.gap * np.array(found.normal), atol=1e-13)


def test_a_good_first_direction_and_the_boolean_save_steps():
    # Long shapes beside each other: the line of the centres is far from the direction of the gap.
    rng = np.random.default_rng(5)
    cold_steps = warm_steps = steps = distance_steps = 0
    for _ in range(50):
        a, b = (ConvexHull(sphere_points(rng, 60) * [8.0, 1.0, 1.0] + shift) for shift in ([0, 0, 0], [9.0, 3.0, 0.0]))
        cold = gjk(a, b)
        warm = gjk(a, b, cold.normal)
        assert warm.gap == pytest.approx(cold.gap, rel=1e-12)
        cold_steps += cold.iterations
        warm_steps += warm.iterations
        a, b = ConvexHull(sphere_points(rng, 60)), ConvexHull(sphere_points(rng, 60) + 4.0 * sphere_points(rng, 1))
        stopped, full = nearest_simplex(a, b, distance=False), gjk(a, b)
        assert not stopped.intersects
        assert 0.0 < stopped.gap < full.gap
        steps += stopped.iterations
        distance_steps += full.iterations
    assert warm_steps < 0.8 * cold_steps
    assert steps == 50, "the line of the centres separates balls"
    assert distance_steps > 150
    assert gjk_intersects(ConvexHull(SOLID), ConvexHull(SOLID + [2.0, 0.0, 0.0])), "touching counts"


@pytest.mark.parametrize("apart", [1e-160, 1e-200, 5e-324])
def test_centres_that_all_but_coincide_are_no_trouble(apart):
    inside = gjk(ConvexHull(SOLID), ConvexHull(np.array([[0.0, 0.0, apart]])))
    assert inside.intersects
    far = gjk(ConvexHull(SOLID), ConvexHull(SOLID + [4.0, 0.0, 0.0]), np.array([-apart, 0.0, 0.0]))
    assert far.gap == 2.0


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-150, 1e150, 1e170, 1e300])
def test_the_size_of_the_shapes_does_not_matter(size):
    a = ConvexHull(SOLID * size)
    assert gjk_intersects(a, ConvexHull((SOLID + [0.5, 0.1, 0.2]) * size))
    assert not gjk_intersects(a, ConvexHull((SOLID + [2.5, 0.1, 0.2]) * size))
    assert gjk(a, ConvexHull((SOLID + [2.5, 0.1, 0.2]) * size)).gap / size == pytest.approx(0.5)


def test_four_points_of_parallel_flat_shapes_hold_no_origin_that_is_beside_them():
    # The spread's tetrahedron is flat: every side of it is noise, and the origin is a millionth away.
    rng = np.random.default_rng(8)
    for _ in range(150):
        turn = rotation(rng)
        first, second = (np.c_[rng.normal(size=(6, 2)), np.zeros(6)] for _ in range(2))
        a, b = ConvexHull(first @ turn.T), ConvexHull((second + [0.0, 0.0, 1e-6]) @ turn.T)
        found = gjk(a, b)
        if exact(first, second).signed_distance == 0.0:
            assert not found.intersects
            assert found.gap == pytest.approx(1e-6, abs=1e-12)
            assert np.array(found.normal) @ turn[:, 2] == pytest.approx(1.0)
