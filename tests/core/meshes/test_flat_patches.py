# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat patches: which triangles are one polygon, and that the surface stays where it is."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Mesh
from contact_lens.core.meshes.flat_patches import flat_patches
from contact_lens.core.meshes.point_distance import points_to_mesh

from ..generators import rotation
from ..mesh_shapes import block, bumpy, joined, prism, sheet, sphere, torus

L_SHAPE = ([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])


def ring(corners: int) -> tuple[np.ndarray, np.ndarray]:
    """A flat ring: its border has two loops."""
    turn, k = np.arange(corners) / corners * 2 * np.pi, np.arange(corners)
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros(corners)], axis=1)
    after = (k + 1) % corners
    halves = [np.stack([k, k + corners, after + corners], 1), np.stack([k, after + corners, after], 1)]
    return np.concatenate([circle, 2.0 * circle]), np.concatenate(halves)


@pytest.mark.parametrize(
    ("surface", "patches", "triangles"),
    [
        (block(), 6, 12),
        (sheet(7), 1, 2),
        (
            prism([(np.cos(k), np.sin(k)) for k in np.arange(8) * np.pi / 4], [(0, k, k + 1) for k in range(1, 7)]),
            10,
            28,
        ),
        (prism(*L_SHAPE), 6 + 8, 6 * 2 + 8),  # concave: its triangles stay
        (ring(12), 24, 24),
        (joined([sheet(3), sheet(3, low=(5, 0, 0))]), 2, 4),
        (torus(6, 5), 30, 60),
        (([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]]), 1, 1),
    ],
)
def test_triangles_of_one_convex_polygon_are_one_patch(surface, patches: int, triangles: int) -> None:
    rng = np.random.default_rng(1)
    points, faces = np.asarray(surface[0], dtype=float), np.asarray(surface[1])
    for place in (points, points @ rotation(rng).T + [3.0, -20.0, 7.0], 1e-6 * points, 1e6 * points):
        mesh = Mesh(place, faces)
        found = flat_patches(mesh)
        assert len(np.unique(found.patch)) == patches
        assert len(found.mesh.triangles) == triangles
        assert found.mesh.area == pytest.approx(mesh.area)
        assert found.slack.max() <= 1e-13 * mesh.magnitude


@pytest.mark.parametrize("seed", range(3))
def test_the_surface_is_no_farther_than_the_slack_from_its_polygons(seed: int) -> None:
    """Grids in single precision, in which no three triangles are in one plane, and surfaces without any plane."""
    rng = np.random.default_rng(seed)
    flat = Mesh((sheet(20)[0] @ rotation(rng).T).astype(np.float32).astype(float), sheet(20)[1])
    found = flat_patches(flat)
    assert len(np.unique(found.patch)) == 1
    assert 0.0 < found.slack.max() <= 1e-6
    weights = rng.dirichlet(np.ones(3), 500)
    for own, other in ((flat, found.mesh), (found.mesh, flat)):
        corners = own.points[own.triangles[rng.integers(len(own.triangles), size=500)]]
        points = np.einsum("ik,ikd->id", weights, corners)
        assert points_to_mesh(points, other).distance.max() <= found.slack.max() + 1e-15
    for points, faces in (bumpy(rng), sphere(6)):
        found = flat_patches(Mesh(points, faces))
        assert not found.slack.any() or found.slack.max() < 1e-12
        assert len(np.unique(found.patch)) >= len(faces) // 2
