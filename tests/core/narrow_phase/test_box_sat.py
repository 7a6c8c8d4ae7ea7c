# SPDX-License-Identifier: GPL-3.0-or-later
"""The 15 axes of two boxes, against exact arithmetic on their 16 corners."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from contact_lens.core import ConvexHull
from contact_lens.core.narrow_phase.box_sat import box_sat
from contact_lens.core.shapes.box import Box

from ..generators import OCTAHEDRAL, as_matrix, rotation, rotation_about
from ..oracles import exact, gap_along, sign_tolerance, tolerance

SIZES = {"cube": (1.0, 1.0, 1.0), "slab": (2.0, 2.0, 0.02), "needle": (0.01, 0.02, 3.0)}
TURNS = [0.0, 1e-15, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2, 0.1, np.pi / 4]
UNIT = Box((0, 0, 0), (1, 1, 1))


def turned(size, matrix, center) -> Box:
    box = Box.from_matrix(as_matrix(matrix, center), -0.5 * np.array(size), 0.5 * np.array(size))
    assert box.orthogonal
    return box


def assert_right(a: Box, b: Box) -> None:
    """The result of either order agrees with exact arithmetic and with the other."""
    truth = exact(a.vertices, b.vertices).signed_distance
    tol = tolerance(a.vertices, b.vertices, truth)
    for first, second in ((a, b), (b, a)):
        result = box_sat(first, second)
        if abs(truth) > sign_tolerance(a.vertices, b.vertices):
            assert result.intersects == (truth <= 0), (truth, result)
        if truth <= 0:
            assert result.signed_distance == pytest.approx(truth, rel=0, abs=tol)
        else:
            assert result.signed_distance <= truth + tol
        for box, interval in ((first, result.interval_a), (second, result.interval_b)):
            heights = box.vertices @ result.normal
            assert np.allclose(interval, (heights.min(), heights.max()), rtol=0, atol=4 * tol)
        assert np.linalg.norm(result.normal) == pytest.approx(1, abs=1e-14)
        # The normal points from A to B: pushing B along it by the depth separates the pair.
        gap = gap_along(first.vertices, second.vertices, result.normal)
        assert gap == pytest.approx(result.signed_distance, rel=0, abs=tol)


def test_two_unit_boxes_overlap_by_a_quarter():
    result = box_sat(UNIT, Box((0.75, 0.1, 0), (1, 1, 1)))
    assert (result.signed_distance, result.normal.tolist(), result.axis) == (-0.25, [1, 0, 0], 0)
    assert (result.interval_a, result.interval_b, result.axes_tested) == ((-0.5, 0.5), (0.25, 1.25), 12)
    assert result.mtv.tolist() == [0.25, 0, 0]
    assert box_sat(Box((0.75, 0.1, 0), (1, 1, 1)), UNIT).normal.tolist() == [-1, 0, 0]


def test_the_first_separating_axis_ends_the_test():
    for center, axis, distance in (((3, 5, 7), 0, 2), ((0, 5, 7), 1, 4), ((0, 0, 7), 2, 6)):
        result = box_sat(UNIT, Box(center, (1, 1, 1)))
        assert (result.axis, result.axes_tested, result.signed_distance) == (axis, axis + 1, distance)
    assert box_sat(UNIT, Box((1, 1, 1), (1, 1, 1))).intersects, "touching counts"


def test_shapes_that_are_no_boxes_or_sheared_are_refused_by_name():
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    sheared = Box.from_matrix(matrix, (0, 0, 0), (1, 1, 1))
    for wrong, words in ((ConvexHull(np.eye(3)), "must be a Box, not ConvexHull"), (sheared, "must not be sheared")):
        with pytest.raises(ValueError, match=f"^b {words}"):
            box_sat(UNIT, wrong)
        with pytest.raises(ValueError, match=f"^a {words}"):
            box_sat(wrong, UNIT)


@pytest.mark.parametrize("first", SIZES)
@pytest.mark.parametrize("second", SIZES)
def test_octahedral_orientations_with_small_turns(first, second):
    """24 orientations, turned by 1e-15 to pi / 4 about a random axis, overlapping, touching and apart."""
    rng = np.random.default_rng([3, list(SIZES).index(first), list(SIZES).index(second)])
    a = turned(SIZES[first], np.eye(3), (0, 0, 0))
    for k, matrix in enumerate(OCTAHEDRAL):
        turn = rotation_about(rng.normal(size=3), TURNS[k % len(TURNS)]) @ matrix
        axis = rng.normal(size=3) if rng.random() < 0.5 else np.eye(3)[rng.integers(3)]
        axis /= np.linalg.norm(axis)
        reach = -gap_along(a.vertices, turned(SIZES[second], turn, (0, 0, 0)).vertices, axis)
        depth = rng.choice([0.0, 1e-9, 1e-3, 0.3, 1.0, -1e-9, -1e-3])
        center = axis * reach * (1 - depth) + rng.choice([0.0, 0.1]) * rng.normal(size=3)
        assert_right(a, turned(SIZES[second], turn, center))


@pytest.mark.parametrize("angle", [1e-1, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 9e-10, 1e-11])
def test_ridges_that_are_nearly_parallel_are_pushed_apart_across_both(angle):
    """Overlapping by less than the angle, two long boxes on edge are nearest to being apart where the edges cross."""
    rng = np.random.default_rng(9)
    ridge = rotation_about([1, 0, 0], np.pi / 4)
    across = 0
    for i, j in 2 * list(product(range(3), repeat=2)):
        turn = rotation(rng)
        a = turned(np.roll((4, 1, 1), i), np.roll(turn @ ridge, i, axis=1), (0, 0, 0))
        place = turn @ [rng.uniform(-1, 1), 0, np.sqrt(2) - angle * rng.uniform(0, 0.3)]
        b = turned(np.roll((3, 1, 1), j), np.roll(turn @ rotation_about([0, 0, 1], angle) @ ridge, j, axis=1), place)
        assert_right(a, b)
        across += box_sat(a, b).axis >= 6
    assert across > 10


def test_random_boxes_far_away_and_of_unequal_size():
    rng = np.random.default_rng(4)
    for k in range(120):
        scale, ratio = 10.0 ** rng.uniform(-4, 5), 10.0 ** rng.uniform(-6, 0)
        far = rng.choice([0.0, 0.0, 10.0, 1e6]) * scale * rng.normal(size=3)
        a = Box(far, scale * rng.uniform(0.1, 2, 3), rng.normal(size=4))
        center = (a.vertices[0] if k % 2 else a.center) + rng.normal(size=3) * scale * ratio
        assert_right(a, Box(center, scale * ratio * rng.uniform(0.1, 2, 3), rng.normal(size=4)))


@pytest.mark.parametrize("size", [(1, 1, 0), (1, 0, 0), (0, 0, 0)])
def test_flat_boxes_against_boxes_and_each_other(size):
    rng = np.random.default_rng(7)
    for k in range(30):
        turn = np.eye(3) if k % 2 else rotation(rng)
        flat = turned(size, turn, rng.choice([0.0, 0.25, 0.5, 0.6, 1.0], 3))
        for other in ((1, 1, 1), (1, 1, 0), (1, 0, 0)):
            assert_right(turned(other, np.eye(3) if k % 3 else turn, (0, 0, 0)), flat)
