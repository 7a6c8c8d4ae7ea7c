# SPDX-License-Identifier: GPL-3.0-or-later
"""What rests on a mesh or lies in its surface: when the search for its depth ends."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import ConvexHull, Cylinder, Mesh, Relation, Status, contact
from contact_lens.core.meshes.separation import SeparationSearch
from contact_lens.core.narrow_phase.relation import contact_band

from .assertions import assert_verified
from .generators import as_matrix, rotation
from .mesh_shapes import block, sheet

FLOOR = Mesh(*sheet(6, 4.0, (-2.0, -2.0, 0.0)))
CUBE = Mesh(*block(low=(-0.4, -0.3, 0.0)))
RESTING = {
    "a hull on a floor": (FLOOR, ConvexHull(CUBE.points)),
    "a mesh on a floor": (FLOOR, CUBE),
    "a cylinder on a floor": (FLOOR, Cylinder((0.3, 0.2, 0.0), (0.3, 0.2, 1.0), 0.5)),
    "a plane in a cube's face": (CUBE, Mesh(*sheet(1, 2.0, (-1.0, -1.0, 1.0)))),
}


@pytest.mark.parametrize("name", RESTING)
@pytest.mark.parametrize("depth", [0.0, 0.4])
def test_the_search_for_a_depth_ends_where_a_translation_within_the_band_separates(
    name, depth, fresh_seed, monkeypatch
):
    rng = np.random.default_rng(fresh_seed)
    a, b = RESTING[name]
    band = contact_band(a, b, 1e-5)
    pose = as_matrix(rotation(rng), rng.normal(size=3))
    a = a.transformed(pose)
    b = b.transformed(pose @ as_matrix(np.eye(3), (0.0, 0.0, -depth * band)))
    monkeypatch.setattr(SeparationSearch, "explore", lambda *_: pytest.fail("it searches on"))
    for found in (contact(a, b, budget=0), contact(a, b)):
        assert_verified(found, a, b)
        assert found.relation is Relation.TOUCHING
        assert found.status is Status.CERTIFIED
        assert found.depth == pytest.approx(depth * band, abs=1e-3 * band)
        assert found.least_depth <= depth * band * (1.0 + 1e-6)


def test_a_budget_in_seconds_searches_on():
    tilted = CUBE.transformed(as_matrix(np.eye(3), (0.0, 0.0, -4e-6)))
    within, longer = contact(FLOOR, tilted), contact(FLOOR, tilted, budget=0.5)
    assert within.relation is longer.relation is Relation.TOUCHING
    assert longer.depth <= within.depth * (1.0 + 1e-6)
    assert longer.least_depth >= within.least_depth * (1.0 - 1e-6)
