# SPDX-License-Identifier: GPL-3.0-or-later
"""A real mesh, Blender's Suzanne, at 968 to 247,808 triangles: against FCL, scipy, plain formulas and itself."""

from __future__ import annotations

from functools import cache

import fcl
import numpy as np
import pytest
from scipy.spatial import ConvexHull as QHull

from contact_lens.core import Mesh, crossing_triangles, mesh_convexity, mesh_distance, mesh_pieces, winding_numbers
from contact_lens.core.decomposition.mesh_pieces import check_pieces

from .. import mesh_shapes
from ..generators import rotation_about
from ..meshes.test_mesh_distance import fcl_object

pytestmark = pytest.mark.slow

LEVELS = range(5)
TURN = rotation_about([1, 2, 3], 0.7)
APART, CROSSING = np.array([3.0, 0.4, 0.3]), np.array([1.2, 0.4, 0.3])


@cache
def suzanne(level: int) -> Mesh:
    return Mesh(*mesh_shapes.suzanne(level))


@cache
def moved(level: int, far: bool) -> Mesh:
    mesh = suzanne(level)
    return Mesh(mesh.points @ TURN.T + (APART if far else CROSSING), mesh.triangles)


@pytest.mark.parametrize("level", LEVELS)
def test_the_mesh_is_as_blender_makes_it(level):
    mesh = suzanne(level)
    assert len(mesh.triangles) == 968 * 4**level
    assert not mesh.is_closed
    assert len(mesh.boundary_edges) == 42 * 2**level
    assert len(np.unique(mesh.loose_parts)) == 3
    assert mesh.area == pytest.approx(suzanne(0).area, rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_distance_is_that_of_fcl_and_of_the_coarse_mesh(level):
    a, b = suzanne(level), moved(level, True)
    found = mesh_distance(a, b)
    wanted = fcl.distance(
        fcl_object((a.points, a.triangles)),
        fcl_object((b.points, b.triangles)),
        fcl.DistanceRequest(),
        fcl.DistanceResult(),
    )
    assert found.distance == pytest.approx(wanted, rel=1e-9)
    assert found.distance == pytest.approx(mesh_distance(suzanne(0), moved(0, True)).distance, rel=1e-9)
    assert found.lower_bound <= found.distance
    assert np.linalg.norm(found.point_on_b - found.point_on_a) == pytest.approx(found.distance, rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_crossing_triangles_are_those_of_fcl(level):
    a = suzanne(level)
    for far in (True, False):
        b = moved(level, far)
        request = fcl.CollisionRequest(num_max_contacts=100_000, enable_contact=True)
        result = fcl.CollisionResult()
        fcl.collide(fcl_object((a.points, a.triangles)), fcl_object((b.points, b.triangles)), request, result)
        expected = {(c.b1, c.b2) for c in result.contacts}
        pairs = set(map(tuple, crossing_triangles(a, b).pairs.tolist()))
        assert (len(pairs) > 100) == (not far)
        assert pairs == expected


@pytest.mark.parametrize("level", LEVELS)
def test_winding_numbers_are_the_sum_of_all_solid_angles(level):
    """Also where the surface is open: van Oosterom and Strackee's formula for every triangle of the coarse mesh."""
    coarse, mesh = suzanne(0), suzanne(level)
    points = np.random.default_rng(3).uniform(-1.5, 1.5, (200, 3))
    r = coarse.points[coarse.triangles][None] - points[:, None, None]
    length = np.linalg.norm(r, axis=3)
    across = np.einsum("qmi,qmi->qm", r[:, :, 0], np.cross(r[:, :, 1], r[:, :, 2]))
    along = length.prod(axis=2) + sum(
        np.einsum("qmi,qmi->qm", r[:, :, i], r[:, :, j]) * length[:, :, k]
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    )
    wanted = np.arctan2(across, along).sum(axis=1) / (2.0 * np.pi)
    found = winding_numbers(points, mesh)
    np.testing.assert_allclose(found.numbers, wanted, rtol=0, atol=1e-9)
    assert (wanted > 0.9).any()
    assert (np.abs(wanted) < 0.1).any()


@pytest.mark.parametrize("level", LEVELS)
def test_it_is_as_concave_as_its_points_are_under_the_hull_and_its_piece_is_the_hull_of_all(level):
    """The eyes have corners in the same places as their sockets, and so are no parts of their own."""
    mesh = suzanne(level)
    convexity, found = mesh_convexity(mesh), mesh_pieces(mesh, concavity=np.inf)
    hull = QHull(suzanne(0).points)
    under = -(mesh.points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
    assert not convexity.convex
    assert convexity.depth >= under.max() - 1e-12
    assert convexity.depth == pytest.approx(mesh_convexity(suzanne(0)).depth, rel=1e-3)
    assert (mesh.welded().loose_parts == 0).all()
    assert not found.exact
    assert [piece.volume for piece in found.pieces] == pytest.approx([hull.volume], rel=1e-12)
    assert found.distance >= convexity.depth
    check_pieces("pieces_a", mesh, found)
