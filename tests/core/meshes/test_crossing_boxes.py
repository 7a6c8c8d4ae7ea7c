# SPDX-License-Identifier: GPL-3.0-or-later
"""Thin solids in open surfaces: what triangles that cross prove about the depth, where no cell is inside."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Mesh, contact
from contact_lens.core.budget import Budget
from contact_lens.core.meshes.body import Body, are_disjoint
from contact_lens.core.meshes.crossing_boxes import crossing_boxes
from contact_lens.core.meshes.depth_proof import CrossingBoxes

from ..assertions import assert_verified
from ..generators import rotation
from ..mesh_shapes import Surface, block, joined, sheet, suzanne, torus


def waves() -> Surface:
    points, triangles = sheet(40, 4.0, (-2.0, -2.0, 0.0))
    return points + np.outer(0.05 * np.sin(3.0 * points[:, 0]) * np.cos(2.0 * points[:, 1]), [0, 0, 1]), triangles


def stool(thick: float) -> Surface:
    legs = [block([thick, thick, 0.45], [x, y, -0.04]) for x in (-0.25, 0.25) for y in (-0.2, 0.2)]
    return joined([block([0.6, 0.5, 0.05], [-0.3, -0.25, 0.4]), *legs])


THIN = {
    "a board": (waves(), block([1.2, 0.8, 0.02], [-0.5, -0.3, 0.02])),
    "a board on edge": (waves(), block([1.0, 0.02, 0.7], [-0.4, 0.1, -0.1])),
    "a stool": (waves(), stool(0.02)),
    "a stool, in the order B, A": (stool(0.01), waves()),
    "a plate through Suzanne": (suzanne(0), block([1.6, 2.2, 0.02], [-0.8, -1.2, 0.0])),
}


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("name", THIN)
def test_the_bounds_of_thin_solids_are_near_each_other(name):
    rng = np.random.default_rng(1)
    turn, move = rotation(rng), rng.normal(size=3)
    a, b = (Mesh(points @ turn.T + move, triangles) for points, triangles in THIN[name])
    c = contact(a, b)
    assert isinstance(c.certificate.depth_proof, CrossingBoxes)
    assert 0.45 * c.depth < c.least_depth <= c.depth
    if "Suzanne" not in name:
        assert c.least_depth > 0.9 * c.depth
    assert_verified(c, a, b)
    bodies = Body.of(a), Body.of(b)
    directions = rng.normal(size=(100, 3))
    for direction in directions / np.linalg.norm(directions, axis=1)[:, None]:
        assert not are_disjoint(bodies[0], bodies[1].translated(direction * c.least_depth * rng.uniform() ** 0.2))


def test_closed_meshes_with_large_triangles_are_bounded_too():
    ring = torus(8, 4, 1.0, 0.4)
    a, b = (
        Body.of(Mesh(*ring)),
        Body.of(Mesh(ring[0] @ rotation(np.random.default_rng(2)).T + [0.9, 0.3, 0.2], ring[1])),
    )
    depth = contact(a.mesh, b.mesh).depth
    proof = crossing_boxes(a, b, depth, Budget())
    assert proof is not None
    assert 0.1 * depth < proof.least <= depth


def test_small_triangles_prove_nothing_of_a_great_depth():
    a, b = Body.of(Mesh(*torus(60, 30))), Body.of(Mesh(torus(60, 30)[0] + [0.3, 0.2, 0.1], torus(60, 30)[1]))
    assert crossing_boxes(a, b, 0.5, Budget()) is None
