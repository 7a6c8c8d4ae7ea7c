# SPDX-License-Identifier: GPL-3.0-or-later
"""Winding numbers: whole numbers around closed surfaces, right next to and on them too, and what open ones have."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core.meshes import winding
from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.winding import contains, winding_numbers

from ..assertions import assert_progress
from ..exact import exact, height
from ..generators import rotation
from ..mesh_shapes import Surface, sphere
from .test_mesh_distance import ball, box, soup


def summed(points: np.ndarray, mesh: Surface) -> np.ndarray:
    """Brute force, in the plainest method."""
    result = np.zeros(len(points))
    for k, point in enumerate(points):
        a, b, c = (mesh[0][mesh[1][:, i]] - point for i in range(3))
        r, s, t = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        sine = np.einsum("ij,ij->i", a, np.cross(b, c))
        cosine = r * s * t + (a * b).sum(axis=1) * t + (b * c).sum(axis=1) * r + (c * a).sum(axis=1) * s
        result[k] = np.arctan2(sine, cosine).sum() / (2.0 * np.pi)
    return result


@pytest.fixture(params=["sum", "tree"])
def method(request, monkeypatch):
    """Both methods: all triangles, and a tree of fans."""
    monkeypatch.setattr(winding, "_FEW", 1 << 60 if request.param == "sum" else -1)
    monkeypatch.setattr(winding, "_MANY", 0)
    return request.param


def test_open_closed_and_scattered_surfaces_have_what_the_sum_of_angles_is(method):
    rng = np.random.default_rng(1)
    for case in range(40):
        kind = case % 4
        mesh = [ball(6, 0.2), soup(rng, 80, 0.3), ball(9), box()][kind]
        points, faces = mesh[0] @ rotation(rng), mesh[1]
        if kind == 2:
            faces = faces[rng.random(len(faces)) < 0.7]
        size, move = rng.choice([1.0, 1e-4, 1e5]), rng.choice([0.0, 100.0])
        mesh = (points * size + move, faces)
        queries = rng.normal(size=(60, 3)) * size + move
        np.testing.assert_allclose(winding_numbers(queries, Mesh(*mesh)).numbers, summed(queries, mesh), atol=1e-10)


def test_a_surface_twice_or_turned_over_counts_so(method):
    points, faces = ball(7)
    inside = np.random.default_rng(2).normal(size=(50, 3)) * 0.2
    twice = np.concatenate([faces, faces])
    np.testing.assert_allclose(winding_numbers(inside, Mesh(points, twice)).numbers, 2.0, atol=1e-12)
    np.testing.assert_allclose(winding_numbers(inside, Mesh(points, faces[:, ::-1])).numbers, -1.0, atol=1e-12)
    nested = np.concatenate([points, points * 0.5])
    shell = np.concatenate([faces, faces[:, ::-1] + len(points)])
    np.testing.assert_allclose(winding_numbers(inside * 0.1, Mesh(nested, shell)).numbers, 0.0, atol=1e-12)
    assert not contains(inside * 0.1, Mesh(nested, shell)).any()
    assert contains(inside, Mesh(points, faces[:, ::-1])).all()


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("move", [0.0, 1e6])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e5])
def test_what_is_inside_a_hull_is_contained(method, size, move):
    """Points at any distance from the faces, edges and corners, down to the last digits."""
    rng = np.random.default_rng(7)
    for _ in range(4):
        points, faces = ball(4)
        points = (
            np.round((points @ rotation(rng)) * size * 2.0**10) / 2.0**10 + move if size > 1 else points * size + move
        )
        hull = [[exact(points[k]) for k in face] for face in faces.tolist()]
        queries = []
        for _ in range(60):
            corners = points[faces[rng.integers(len(faces))]]
            weights = [[1.0, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5], rng.dirichlet([1.0] * 3)][rng.integers(4)]
            away = size * 10.0 ** -rng.uniform(0, 18) * rng.normal(size=3) * rng.integers(2)
            queries.append(np.asarray(weights) @ corners + away)
        array = np.array(queries)
        found = contains(array, Mesh(points, faces))
        numbers = winding_numbers(array, Mesh(points, faces))
        for k, query in enumerate(array):
            # The ball's faces need not be convex after rounding: only where all decide is it sure.
            if all(height(exact(query), *face) < 0 for face in hull):
                assert found[k]
                assert numbers.numbers[k] == pytest.approx(1.0, abs=1e-6)
        assert numbers.on_surface.sum() >= 1


def test_the_numbers_of_a_closed_surface_are_whole_right_next_to_it(method):
    rng = np.random.default_rng(8)
    points, faces = ball(6, 0.3)
    for exponent in range(0, 18, 2):
        corners = points[faces[rng.integers(len(faces), size=40)]]
        weights = rng.dirichlet([0.3] * 3, 40)
        weights[:10] = np.eye(3)[rng.integers(3, size=10)]
        weights[10:20] = 0.5 * (1.0 - np.eye(3)[rng.integers(3, size=10)])
        queries = np.einsum("nk,nkd->nd", weights, corners) + 10.0**-exponent * rng.normal(size=(40, 3))
        found = winding_numbers(queries, Mesh(points, faces))
        apart = ~found.on_surface
        assert np.abs(found.numbers - np.round(found.numbers))[apart].max(initial=0.0) < 1e-6
        assert set(np.round(found.numbers[apart]).tolist()) <= {0.0, 1.0}


def test_points_of_a_box_are_on_its_surface(method):
    points, faces = box()
    face, edge, corner = [0.25, 0.125, 0.5], [0.5, 0.5, 0.125], [0.5, 0.5, 0.5]
    next_out, next_in = [0.25, 0.125, np.nextafter(0.5, 1)], [0.25, 0.125, np.nextafter(0.5, 0)]
    edge_out, edge_in = [0.5, np.nextafter(0.5, 1), 0.125], [np.nextafter(0.5, 0), np.nextafter(0.5, 0), 0.125]
    beside = [1.0, 0.125, 0.5]
    queries = [face, edge, corner, next_out, next_in, edge_out, edge_in, beside, [0.25, 0.25, 0.5]]
    found = winding_numbers(queries, Mesh(points, faces))
    assert found.on_surface.tolist() == [True, True, True, False, False, False, False, False, True]
    np.testing.assert_allclose(found.numbers, [0.5, 0.25, 0.125, 0, 1, 0, 1, 0, 0.5], atol=1e-9)
    assert contains(queries, Mesh(points, faces)).tolist() == [True, True, True, False, True, False, True, False, True]


def test_separate_vertices_in_one_place_make_no_difference(method):
    points, faces = ball(9, 0.2)
    queries = np.random.default_rng(9).normal(size=(200, 3))
    loose = points[faces].reshape(-1, 3)
    found = winding_numbers(queries, Mesh(loose, np.arange(len(loose)).reshape(-1, 3))).numbers
    np.testing.assert_allclose(found, winding_numbers(queries, Mesh(points, faces)).numbers, atol=1e-12)


def test_degenerate_triangles_add_nothing(method):
    points, faces = ball(6)
    queries = np.random.default_rng(10).normal(size=(100, 3))
    more = np.concatenate([faces, [[0, 0, 0], [1, 1, 5], [3, 9, 3]]])
    found = winding_numbers(queries, Mesh(points, more))
    np.testing.assert_allclose(found.numbers, winding_numbers(queries, Mesh(points, faces)).numbers, atol=1e-12)
    assert contains(queries, Mesh(points, more)).tolist() == contains(queries, Mesh(points, faces)).tolist()
    line = winding_numbers(
        [[0.5, 0, 0], [2.0, 0, 0], [0.5, 1, 0]], Mesh([[0.0, 0, 0], [1, 0, 0], [0.75, 0, 0]], [[0, 1, 2]])
    )
    assert line.on_surface.tolist() == [True, False, False]
    assert line.numbers.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("size", [1e-200, 1e290])
def test_extreme_sizes(method, size):
    points, faces = box()
    found = winding_numbers(
        np.array([[0.1, 0.2, 0.3], [0.7, 0, 0], [0.5, 0, 0.125]]) * size, Mesh(points * size, faces)
    )
    np.testing.assert_allclose(found.numbers, [1.0, 0.0, 0.5], atol=1e-9)
    assert found.on_surface.tolist() == [False, False, True]


def test_arguments():
    mesh = Mesh(*box())
    for name, arguments in (
        ("points", (np.zeros(3), mesh)),
        ("points", ([[np.nan, 0, 0]], mesh)),
        ("mesh must be a Mesh", (mesh.points, mesh.points)),
    ):
        for function in (winding_numbers, contains):
            with pytest.raises(ValueError, match=f"^{name}"):
                function(*arguments)
    assert len(contains(np.zeros((0, 3)), mesh)) == 0
    for queries in (mesh.points, np.tile(mesh.points, (3000, 1)) * 0.9):
        assert_progress(lambda progress, queries=queries: winding_numbers(queries, mesh, progress))


def test_what_is_inside_does_not_depend_on_the_pose_and_on_what_was_asked_before():
    rng = np.random.default_rng(12)
    first = Mesh(*ball(20, 0.3))
    points = rng.uniform(-1.4, 1.4, (300, 3))
    expected = contains(points, first)
    assert 20 < expected.sum() < 280
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation(rng) @ np.diag([-2.0, 2.0, 2.0]), [3.0, 1.0, 2.0]
    pose, moved = first.transformed(matrix), points @ matrix[:3, :3].T + matrix[:3, 3]
    for mesh, places in ((first, points), (pose, moved), (Mesh(pose.points, pose.triangles), moved)):
        np.testing.assert_array_equal(contains(places, mesh), expected)
        np.testing.assert_array_equal([bool(contains(place[None], mesh)[0]) for place in places[:40]], expected[:40])
        np.testing.assert_allclose(winding_numbers(places, mesh).numbers, expected, atol=1e-9)


def test_points_on_the_plane_of_a_rim_are_inside_alone_among_others_and_after_many():
    """The winding number is a half there: rounding, which differs, does not decide."""
    points, triangles = sphere(48)
    lower = triangles[(points[triangles, 2] <= 1e-9).all(axis=1)]
    rng = np.random.default_rng(6)
    rim = np.concatenate([rng.uniform(-0.6, 0.6, (40, 2)), np.zeros((40, 1))], axis=1)
    asked = Mesh(points, lower)
    contains(rng.normal(size=(4000, 3)), asked)
    assert contains(rim, Mesh(points, lower)).all()
    for point in rim[:10]:
        assert contains(point[None], asked).all()
        assert contains(point[None], Mesh(points, lower)).all()
    assert not contains(rim + [0.0, 0.0, 1e-6], asked).any()
