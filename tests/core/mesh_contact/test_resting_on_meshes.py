# SPDX-License-Identifier: GPL-3.0-or-later
"""What rests on a mesh or lies in its surface: when the search for its depth ends, and where a curved shape rests.

Oracles: closed forms of disks, segments and points on a plane.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import (
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    Relation,
    Sphere,
    Status,
    contact,
    verify,
)
from contact_lens.core.meshes.separation import SeparationSearch
from contact_lens.core.narrow_phase.relation import contact_band

from ..assertions import assert_verified
from ..generators import as_matrix, rotation, rotation_about
from ..mesh_shapes import block, joined, sheet

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


FLOORS = {
    "an open grid": FLOOR,
    "a closed slab": Mesh(*block((4.0, 4.0, 1.0), (-2.0, -2.0, -1.0))),
    "an open crate": Mesh(*joined([sheet(3, 4.0, (-2.0, -2.0, 0.0)), block((0.1, 4.0, 1.0), (-2.0, -2.0, 0.0))])),
}
SPOT = np.array([0.13, 0.27, 0.0])
CURVED = {
    "a cylinder": (Cylinder(SPOT, SPOT + (0, 0, 1), 0.4), 0.16 * np.pi, 0.0),
    "a cone": (Cone(SPOT, SPOT + (0, 0, 1), 0.4), 0.16 * np.pi, 0.0),
    "a lying cylinder": (Cylinder(SPOT + (-0.5, 0, 0.2), SPOT + (0.5, 0, 0.2), 0.2), 0.0, 1.0),
    "a lying capsule": (Capsule(SPOT + (-0.5, 0, 0.2), SPOT + (0.5, 0, 0.2), 0.2), 0.0, 1.0),
    "a ball": (Sphere(SPOT + (0, 0, 0.3), 0.3), 0.0, 0.0),
    "an ellipsoid": (Ellipsoid(SPOT + (0, 0, 0.3), (0.5, 0.4, 0.3)), 0.0, 0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("name", CURVED)
def test_where_a_curved_shape_rests_does_not_jump_with_steps_of_single_precision(floor, name, fresh_seed):
    rng = np.random.default_rng(fresh_seed)
    shape, area, length = CURVED[name]
    mesh, band = FLOORS[floor], contact_band(FLOORS[floor], shape, 1e-5)
    pose = as_matrix(rotation(rng), rng.normal(size=3))
    up, spot = pose[:3, 2], pose[:3, :3] @ SPOT + pose[:3, 3]
    for gap in (0.0, 0.4 * band, -0.4 * band, 0.02):
        for step in range(2):
            turn = rotation_about(rng.normal(size=3), 1e-7 * step)
            moved = shape.transformed(pose @ as_matrix(turn, (0.0, 0.0, gap)))
            c = contact(mesh.transformed(pose), moved, clearance=0.05, budget=0 if step else None)
            assert c.relation is (Relation.WITHIN_CLEARANCE if gap > band else Relation.TOUCHING)
            assert len(c.regions) == 1
            assert c.area == pytest.approx(area, rel=1e-6)
            assert c.length == pytest.approx(length, rel=1e-4)
            assert c.center == pytest.approx(spot + 0.5 * gap * up, abs=1e-5)
            assert c.normal == pytest.approx(up, abs=1e-4)
            assert_verified(c, mesh.transformed(pose), moved)


def test_a_region_of_another_place_or_size_is_rejected():
    disk = CURVED["a cylinder"][0]
    c = contact(FLOOR, disk)
    assert verify(c, FLOOR, disk)
    (region,) = c.regions
    assert region.area == pytest.approx(0.16 * np.pi, rel=1e-6)

    def forged(**changes):
        part = region.patches[0]
        patches = (replace(part, region=replace(part.region, **changes)), *region.patches[1:])
        return replace(c, regions=(replace(region, patches=patches),))

    part = region.patches[0].region
    lifted = part.vertices + (0.0, 0.0, 1e-3)
    assert not verify(forged(vertices=lifted), FLOOR, disk)
    assert not verify(forged(vertices=part.vertices + (1e-3, 0.0, 0.0)), FLOOR, disk)
    assert not verify(forged(depths=part.depths + 1e-3), FLOOR, disk)
    assert not verify(forged(area=part.area * 1.01), FLOOR, disk)
    assert not verify(replace(c, regions=(replace(region, area=region.area * 1.01),)), FLOOR, disk)
    assert not verify(replace(c, regions=(replace(region, centroid=region.centroid + 0.1),)), FLOOR, disk)


@pytest.mark.parametrize("solid", [False, True])
def test_a_rim_that_barely_reaches_over_an_edge_leaves_beside_it(solid):
    """Deeper below the top than it reaches over the edge, both less than the contact tolerance."""
    surface = block((4.0, 6.0, 1.0), (-4.0, -3.0, -1.0)) if solid else sheet(4, 6.0, (-6.0, -3.0, 0.0))
    over, sink = 1e-6, 1e-5
    a, b = Mesh(*surface), Cylinder([0.25 - over, 0.1, -sink], [0.25 - over, 0.1, 1.0], 0.25)
    c = contact(a, b)
    assert c.relation is Relation.TOUCHING
    assert c.depth == pytest.approx(over, rel=1e-3)
    assert c.normal == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert_verified(c, a, b)
