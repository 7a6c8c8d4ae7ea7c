# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of small hulls deep in large smooth shapes: a normal within the promise leaves the support points beside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import Cone, ConvexHull, Cylinder, Ellipsoid, Rounded, contact, verify
from contact_lens.core.shapes.curved_shape import across

from ..assertions import assert_verified

SOLIDS = {
    "ellipsoid": Ellipsoid((0, 0, 0), (1.0, 0.3, 0.25)),
    "rounded ellipsoid": Rounded(Ellipsoid((0, 0, 0), (1.0, 0.3, 0.25)), 0.1),
    "cylinder": Cylinder((0, 0, -1), (0, 0, 1), 0.4),
    "cone": Cone((0, 0, -1), (0, 0, 1), 0.6),
    "rounded cone": Rounded(Cone((0, 0, -1), (0, 0, 1), 0.6), 0.1),
}


@pytest.mark.fast_cases(10)
@pytest.mark.parametrize("size", [1e-3, 3e-2])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", SOLIDS)
def test_a_region_at_the_witness_points_is_one_and_any_beside_them_is_none(name, seed, size):
    rng, solid = np.random.default_rng(seed), SOLIDS[name]
    hull = ConvexHull(rng.uniform(-1, 1, 3) * [0.3, 0.1, 0.01] + size * rng.normal(size=(9, 3)))
    for a, b in ((solid, hull), (hull, solid)):
        c = contact(a, b)
        assert_verified(c, a, b)
        assert c.region is not None
        for side in across(c.normal):
            for off in (1e-6, -1e-4):
                vertices = c.region.vertices + off * side
                lie = replace(c, region=replace(c.region, vertices=vertices, centroid=c.region.centroid + off * side))
                assert not verify(lie, a, b).ok
