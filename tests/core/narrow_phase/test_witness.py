# SPDX-License-Identifier: GPL-3.0-or-later
"""Where faces meet, the witness points are at the middle of the contact, whatever order and frame."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from contact_lens.core import ConvexHull, contact

from ..assertions import assert_verified
from ..generators import cylinder, rotation

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
SHIFTS = {"penetrating": 1.9, "touching": 2.0, "apart": 2.3}


@pytest.mark.parametrize("pose", SHIFTS)
@pytest.mark.parametrize("method", ["auto", "sat"])
def test_a_cube_beside_another_is_touched_in_the_middle_of_the_common_part(pose, method):
    shift = SHIFTS[pose]
    a, b = ConvexHull(CUBE), ConvexHull(CUBE + [shift, 0.5, -0.8])
    c = contact(a, b, method=method)
    assert c.point_on_a == pytest.approx((1.0, 0.25, -0.4), abs=1e-14)
    assert c.point_on_b == pytest.approx((shift - 1.0, 0.25, -0.4), abs=1e-14)
    assert_verified(c, a, b)
    assert (c.region is None) == (pose == "apart")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("pose", SHIFTS)
def test_the_middle_moves_along_with_the_pair_and_does_not_know_the_order(pose):
    rng = np.random.default_rng(1)
    for _ in range(50):
        turn, move = rotation(rng), rng.normal(size=3)
        small = cylinder(9, 0.4, 0.2) @ np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]).T
        small += [SHIFTS[pose] - 2.0 + 1.0 - small[:, 0].min(), 0.3, -0.2]
        plain = contact(ConvexHull(CUBE), ConvexHull(small))
        assert plain.point_on_a == pytest.approx((1.0, *small.mean(axis=0)[1:]), abs=1e-12)
        a, b = ConvexHull(CUBE @ turn.T + move), ConvexHull(small @ turn.T + move)
        moved, swapped = contact(a, b), contact(b, a)
        assert moved.point_on_a == pytest.approx(turn @ plain.point_on_a + move, abs=1e-12)
        assert swapped.point_on_b == pytest.approx(moved.point_on_a, abs=1e-12)
        assert_verified(moved, a, b)
        assert_verified(swapped, b, a)


def test_an_edge_lies_on_a_face_and_beside_a_parallel_edge():
    ridge = np.array([[-0.5, 0.0, 0.0], [0.7, 0.0, 0.0], [-0.5, 1.0, 1.0], [0.7, 1.0, 1.0], [-0.5, -1.0, 1.0]])
    for gap in (0.0, 0.25):
        c = contact(ConvexHull(CUBE), ConvexHull(ridge + [0.0, 0.2, 1.0 + gap]))
        assert c.point_on_a == pytest.approx((0.1, 0.2, 1.0), abs=1e-14)
        assert c.point_on_b == pytest.approx((0.1, 0.2, 1.0 + gap), abs=1e-14)
        roof = ridge[:5] * [1.0, 1.0, -1.0]
        c = contact(ConvexHull(roof), ConvexHull(ridge + [0.5, 0.0, gap]))
        assert c.point_on_a == pytest.approx((0.35, 0.0, 0.0), abs=1e-14)


def test_in_the_plane_the_middle_is_that_of_the_common_side():
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    for shift in SHIFTS.values():
        c = contact(ConvexHull(square), ConvexHull(square + [0.5, shift]))
        assert c.point_on_a == pytest.approx((0.25, 1.0), abs=1e-14)


def test_faces_that_are_not_quite_parallel_keep_the_points_that_realise_the_distance():
    # Within the contact tolerance the tilted cube stands on its face; the nearest points are at an edge all the same.
    tilt = 3e-6
    turn = np.array([[np.cos(tilt), 0.0, -np.sin(tilt)], [0.0, 1.0, 0.0], [np.sin(tilt), 0.0, np.cos(tilt)]])
    a, b = ConvexHull(CUBE), ConvexHull(CUBE @ turn.T + [0.0, 0.0, 2.5])
    c = contact(a, b)
    assert c.feature_b.kind == "face"
    assert abs(c.point_on_b[0]) == pytest.approx(1.0, abs=1e-5)
    assert_verified(c, a, b)


def test_for_large_faces_apart_no_common_part_is_looked_for(monkeypatch):
    looked = []
    module = sys.modules["contact_lens.core.narrow_phase.polytope_contact"]
    region_between = module.region_between

    def counted(*given):
        looked.append(given)
        return region_between(*given)

    monkeypatch.setattr(module, "region_between", counted)
    for corners, times in ((20, 1), (200, 0)):
        points = cylinder(corners)
        a, b = ConvexHull(points), ConvexHull(points + [0.3, 0.2, np.ptp(points[:, 2]) + 0.5])
        looked.clear()
        c = contact(a, b)
        assert c.signed_distance == pytest.approx(0.5)
        assert len(looked) == times
        assert_verified(c, a, b)
