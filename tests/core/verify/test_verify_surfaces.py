# SPDX-License-Identifier: GPL-3.0-or-later
"""What checks of meshes measure with: against all pairs of triangles, and against the searches that are checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contact_lens.core.meshes.mesh import Mesh
from contact_lens.core.meshes.point_distance import points_to_mesh
from contact_lens.core.meshes.triangle_pairs import crossing_triangles
from contact_lens.core.verify.surfaces import off_surface, points_off, surface_distance, surfaces_meet, tree_faults

from ..generators import rotation
from ..mesh_shapes import torus
from ..meshes.test_mesh_distance import all_pairs, ball, random_pair, tolerance


def test_surfaces_meet_where_triangles_cross_or_touch():
    rng = np.random.default_rng(6)
    met = 0
    for _ in range(80):
        pair = random_pair(rng)
        a, b = Mesh(*pair[0]), Mesh(*pair[1])
        expected = len(crossing_triangles(a, b)) > 0
        assert surfaces_meet(a, b) == surfaces_meet(b, a) == [expected]
        met += expected
    assert 10 < met < 70


def test_surfaces_meet_where_they_are_moved_to():
    rng = np.random.default_rng(16)
    answers = set()
    for k in range(40):
        pair = random_pair(rng)
        a, b = Mesh(*pair[0]), Mesh(*pair[1])
        moved = [b, *(b.translated(vector) for vector in rng.normal(size=(4, 3)) * (1e-3, 0.3, 3.0)[k % 3])]
        expected = [len(crossing_triangles(a, other)) > 0 for other in moved]
        assert surfaces_meet(a, *moved) == expected
        answers.add(tuple(expected))
    assert len(answers) > 5


def test_the_distance_of_surfaces_is_between_what_is_measured_within_reach():
    rng = np.random.default_rng(7)
    for _ in range(40):
        pair = random_pair(rng)
        a, b, wanted = Mesh(*pair[0]), Mesh(*pair[1]), all_pairs(*pair)
        room = tolerance(*pair, wanted)
        least, most = surface_distance(a, b, wanted + room)
        assert wanted - room <= least <= most <= wanted + room
        least, most = surface_distance(a, b, 0.5 * wanted)
        assert least == 0.5 * wanted
        assert most > least or wanted == 0.0


def test_a_distance_larger_than_the_true_one_is_found_out():
    points, faces = torus(60, 24)
    a, b = Mesh(points, faces), Mesh(torus(60, 24, 1.0, 0.2)[0], faces)
    least, _ = surface_distance(a, b, 0.11, 0.1)
    assert 0.09 < least < 0.1


def test_points_are_as_far_from_a_surface_as_from_the_nearest_of_its_triangles():
    rng = np.random.default_rng(8)
    surface = ball(12, 0.2)
    mesh = Mesh(surface[0] @ rotation(rng) + [5.0, 0.0, 0.0], surface[1])
    points = np.concatenate([mesh.points[:5], rng.normal(size=(40, 3)) + [5.0, 0.0, 0.0]])
    expected = points_to_mesh(points, mesh).distance
    found = [off_surface(point, mesh) for point in points]
    np.testing.assert_allclose(found, expected, atol=1e-14)
    found = points_off(points, mesh, 0.3)
    near = expected <= 0.3
    np.testing.assert_allclose(found[near], expected[near], atol=1e-14)
    assert (found[~near] > 0.3).all()


def test_a_tree_that_loses_a_triangle_or_has_too_small_a_box_is_found_out():
    mesh = Mesh(*ball(6, 0.1))
    tree = mesh.tree
    assert not list(tree_faults(mesh))
    volumes = tree.volumes
    low = volumes.low.copy()
    low[3, 1] += 1e-12
    items = tree.items.copy()
    items[4] = items[5]
    left = tree.left.copy()
    left[2] = left[1]
    for wrong in (
        {"volumes": replace(volumes, low=low)},
        {"kept_item_volumes": replace(tree.item_volumes, high=tree.item_volumes.high - 1e-9)},
        {"items": items},
        {"left": left},
    ):
        copy = Mesh(mesh.points, mesh.triangles)
        copy.__dict__["tree"] = replace(tree, **wrong)
        assert list(tree_faults(copy)), wrong
