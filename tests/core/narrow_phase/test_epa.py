# SPDX-License-Identifier: GPL-3.0-or-later
"""EPA: from any start to the same depth, with a polytope that proves it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from contact_lens.core import ConvexHull, epa, gjk

from ..generators import CUBE, sphere, sphere_points
from ..oracles import exact

SOLID = 2.0 * CUBE


def overlapping_pairs(count: int):
    """`count` pairs of hulls that intersect, with their exact depths."""
    rng = np.random.default_rng(7)
    while count:
        a, b = rng.normal(size=(12, 3)), rng.normal(size=(12, 3)) + 0.3 * rng.normal(size=3)
        truth = exact(a, b).signed_distance
        if truth < 0.0:
            count -= 1
            yield ConvexHull(a), ConvexHull(b), -truth


@pytest.mark.parametrize("corners", [1, 2, 3, 4])
def test_the_start_does_not_matter(corners):
    for a, b, _ in overlapping_pairs(40):
        simplex = gjk(a, b)
        whole = epa(a, b, simplex)
        part = epa(a, b, simplex._replace(vertices=simplex.vertices[:corners], weights=()))
        assert part.depth == pytest.approx(whole.depth, rel=1e-12)
        assert np.allclose(part.faces[0].normal, whole.faces[0].normal, atol=1e-9)


def test_the_polytope_is_closed_convex_and_inside_the_difference_and_proves_the_depth():
    for a, b, truth in overlapping_pairs(40):
        found = epa(a, b, gjk(a, b))
        assert found.inner - 1e-14 <= truth <= found.depth + 1e-14
        points = np.array([point[:3] for point in found.points])
        for (*_, i, j), point in zip(found.points, points, strict=True):
            assert np.array_equal(a.vertices[i] - b.vertices[j], point)
        edges = Counter((t[k], t[k - 2]) for t in found.facets for k in range(3))
        assert set(edges.values()) == {1}, "no edge twice in one direction"
        assert all((q, p) in edges for p, q in edges), "each edge in both directions"
        for triangle in found.facets:
            p, q, r = points[list(triangle)]
            normal = np.cross(q - p, r - p)
            normal /= np.linalg.norm(normal)
            assert ((points - p) @ normal).max() < 1e-12, "convex"
            assert p @ normal > found.inner - 1e-12, "nowhere nearer than the depth it proves"


def test_a_start_beside_the_origin_gives_a_bound_of_the_distance():
    a, b = ConvexHull(SOLID), ConvexHull(SOLID + [2.5, 0.3, 0.1])
    found = epa(a, b, gjk(a, b))
    assert found.depth == pytest.approx(-0.5)


def test_all_equally_good_normals_of_concentric_cubes_are_found():
    a, b = ConvexHull(SOLID), ConvexHull(CUBE)
    found = epa(a, b, gjk(a, b))
    assert sorted(face.normal for face in found.faces) == sorted(map(tuple, np.vstack((np.eye(3), -np.eye(3)))))
    assert found.faces[0].normal == (0.0, 0.0, 1.0), "upward first"
    assert {face.depth for face in found.faces} == {1.5}


def test_round_shapes_about_one_centre_cost_their_faces_and_no_more():
    points = sphere(9, 24)[1:-1]
    a, b = ConvexHull(points), ConvexHull(0.5 * points)
    found = epa(a, b, gjk(a, b))
    assert found.depth == pytest.approx(1.5 * np.cos(0.1 * np.pi)), "the flat caps are nearest"
    assert found.iterations < 2_000


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_the_size_of_the_shapes_does_not_matter(size):
    a, b = ConvexHull(SOLID * size), ConvexHull((SOLID + [0.5, 0.1, 0.2]) * size)
    found = epa(a, b, gjk(a, b))
    assert found.depth / size == pytest.approx(1.5)
    assert found.inner / size == pytest.approx(1.5)
    assert found.faces[0].normal == pytest.approx((1.0, 0.0, 0.0))


def test_where_gjk_ends_is_a_good_place_to_start_from():
    rng = np.random.default_rng(11)
    asked = 0
    for _ in range(40):
        a, b = ConvexHull(sphere_points(rng, 100)), ConvexHull(sphere_points(rng, 100) + 1.5 * sphere_points(rng, 1))
        asked += epa(a, b, gjk(a, b)).iterations
    assert asked < 40 * 10, "14 points a pair from a tetrahedron around the origin, 8 from one towards the other shape"


def test_a_flat_difference_beside_the_origin_has_one_normal():
    square = SOLID[::2] * [1, 1, 0]
    for gap in (1e-6, -1e-6):
        a, b = ConvexHull(square), ConvexHull(square + [0.3, 0.2, gap])
        found = epa(a, b, gjk(a, b)._replace(weights=()))
        assert [face.normal for face in found.faces] == [(0.0, 0.0, np.sign(gap))]
        assert found.depth == -1e-6
    assert len(epa(a, a, gjk(a, a)).faces) == 2, "in one plane both normals are as good"
