# SPDX-License-Identifier: GPL-3.0-or-later
"""Many pairs of meshes at once: the same answers as pair by pair, whatever the meshes."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Cancelled, Mesh, candidate_pairs, pairs_intersect
from contact_lens.core.meshes.body import Body, are_disjoint
from contact_lens.core.meshes.mesh_forest import meshes_intersect

from ..generators import rotation
from ..mesh_shapes import block, bumpy, joined, sheet, sphere, torus


def crowd(rng: np.random.Generator, count: int) -> list[Mesh]:
    """Solids and surfaces of 1 to 1,000 triangles, of several parts, some wholly inside of others, some flat."""
    kinds = [
        sphere(9),
        torus(30, 15),
        bumpy(rng),
        sheet(3),
        block([1.0, 1.0, 1.0]),
        joined([block([0.2] * 3), block([0.3] * 3, [0.8, 0.8, 0.8])]),
        (np.eye(3), np.array([[0, 1, 2]])),
        (np.zeros((3, 3)) + 0.1, np.array([[0, 1, 2]])),
        (0.05 * sphere(6)[0], sphere(6)[1]),
    ]
    meshes = []
    for k in range(count):
        points, triangles = kinds[k % len(kinds)]
        meshes.append(Mesh(points @ rotation(rng).T * rng.uniform(0.5, 1.5) + rng.uniform(-3, 3, 3), triangles))
    return meshes


@pytest.mark.parametrize("size", [1.0, 1e-8, 1e8])
def test_many_pairs_of_meshes_are_decided_as_each_alone(size):
    meshes = [Mesh(mesh.points * size, mesh.triangles) for mesh in crowd(np.random.default_rng(3), 90)]
    bodies = [Body.of(mesh) for mesh in meshes]
    pairs = np.array([(i, j) for i in range(len(meshes)) for j in range(i)])
    expected = [not are_disjoint(bodies[i], bodies[j]) for i, j in pairs.tolist()]
    assert 100 < sum(expected) < len(pairs) - 100
    assert meshes_intersect(meshes, pairs).tolist() == expected
    assert meshes_intersect(meshes, pairs[::-1, ::-1]).tolist() == expected[::-1]
    assert meshes_intersect(meshes, pairs[:0]).tolist() == []


def test_boxes_that_touch_intersect_exactly():
    """Bricks in rows: each touches the next in a face, an edge or a corner, and one is a rounding error away."""
    places = np.array([[x, y, z] for x in range(3) for y in range(3) for z in range(3)], dtype=float)
    places = np.concatenate([places, [[3.0 + 2.0**-50, 0.0, 0.0]]])
    meshes = [Mesh(*block([1.0, 1.0, 1.0], place)) for place in places]
    pairs = np.array([(i, j) for i in range(28) for j in range(i)])
    gaps = np.abs(places[pairs[:, 0]] - places[pairs[:, 1]]).max(axis=1)
    assert (meshes_intersect(meshes, pairs) == (gaps <= 1.0)).all()


def test_meshes_in_poses_are_decided_where_they_are_and_the_work_can_be_cancelled():
    rng = np.random.default_rng(4)
    mesh = Mesh(*torus(24, 12))
    poses = np.tile(np.eye(4), (60, 1, 1))
    poses[:, :3, :3] = [rotation(rng) for _ in poses]
    poses[:, :3, 3] = rng.uniform(-3, 3, (60, 3))
    placed = [mesh.transformed(pose) for pose in poses]
    low, high = np.array([m.bounds for m in placed]).transpose(1, 0, 2)
    pairs = candidate_pairs(low, high).pairs
    expected = [not are_disjoint(Body.of(placed[i]), Body.of(placed[j])) for i, j in pairs.tolist()]
    assert pairs_intersect([mesh] * 60, pairs, poses=poses).tolist() == expected
    with pytest.raises(Cancelled):
        pairs_intersect(placed, pairs, progress=lambda fraction: fraction < 0.5)
