# SPDX-License-Identifier: GPL-3.0-or-later
"""What must not change when the pair is swapped, turned, moved, scaled, mirrored or described by more points."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from contact_lens.core import Contact, ConvexHull, Relation, contact

from .generators import CLASSES, far_away, pair, size_ratios, small_on_needle
from .oracles import EPS, exact, gap_along, sign_tolerance, tolerance

SEED = 40_923
SOLID_CLASSES = [name for name in CLASSES if name != "polygons_2d"]
OPPOSITE = {Relation.A_INSIDE_B: Relation.B_INSIDE_A, Relation.B_INSIDE_A: Relation.A_INSIDE_B}


def rotations_of_the_cube() -> list[np.ndarray]:
    """The 24 rotations that permute the axes: exact in floating point."""
    matrices = []
    for order in permutations(range(3)):
        for signs in product((-1.0, 1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[range(3), order] = signs
            if np.linalg.det(matrix) > 0:
                matrices.append(matrix)
    return matrices


def few(name: str, count: int):
    place = list(CLASSES).index(name)
    for cycle in range(count):
        yield pair(SEED, cycle * len(CLASSES) + place)[1:]


def touch(a, b) -> Contact:
    return contact(ConvexHull(a), ConvexHull(b))


def clear_of_the_band(c: Contact, a, b) -> bool:
    """The relation is not decided by rounding at the edge of the band of TOUCHING."""
    extents = [e for e in (np.linalg.norm(np.ptp(p, axis=0)) for p in (a, b)) if e > 0]
    band = c.contact_tolerance * min(extents, default=0.0)
    return abs(abs(c.signed_distance) - band) > 1e-3 * band + 4 * sign_tolerance(a, b)


def assert_same(c: Contact, moved: Contact, a, b, scale: float = 1.0, slack: float = 0.0) -> None:
    """Signed distance, bounds and relation agree within the tolerance of both."""
    tol = 2 * tolerance(a, b, c.signed_distance) + slack / scale
    assert abs(moved.signed_distance / scale - c.signed_distance) <= tol
    assert abs(moved.lower_bound / scale - c.lower_bound) <= 2 * tol
    assert abs(moved.upper_bound / scale - c.upper_bound) <= 2 * tol
    inside = (Relation.A_INSIDE_B, Relation.B_INSIDE_A, Relation.PENETRATING)
    if clear_of_the_band(c, a, b):
        if c.relation in inside or moved.relation in inside:
            # Whether one is inside the other within the band has an edge of its own; but deep stays deep.
            assert moved.relation in inside and c.relation in inside or c.relation == moved.relation
        else:
            assert c.relation == moved.relation


@pytest.mark.parametrize("name", CLASSES)
def test_swap(name):
    for a, b in few(name, 12):
        c, swapped = touch(a, b), touch(b, a)
        tol = tolerance(a, b, c.signed_distance)
        assert abs(c.signed_distance - swapped.signed_distance) <= 2 * tol
        assert abs(c.lower_bound - swapped.lower_bound) <= 2 * tol
        assert abs(c.upper_bound - swapped.upper_bound) <= 2 * tol
        if clear_of_the_band(c, a, b):
            assert swapped.relation == OPPOSITE.get(c.relation, c.relation)
        for tie in swapped.ties:
            assert gap_along(a, b, -tie) >= c.signed_distance - 4 * tol


@pytest.mark.parametrize("make", [small_on_needle, far_away, size_ratios])
def test_a_touch_is_one_from_both_sides_where_rounding_is_wider_than_the_contact_tolerance(make):
    touching = 0
    for k in range(200):
        a, b = map(ConvexHull, make(np.random.default_rng([5, k])))
        there, back = contact(a, b, contact_tolerance=0.0), contact(b, a, contact_tolerance=0.0)
        gap = abs(there.signed_distance)
        if gap < 0.1 * tolerance(a.vertices, b.vertices, 0.0):
            touching += 1
            assert back.relation == there.relation in (Relation.TOUCHING, Relation.COINCIDENT)
            assert there.region is not None
            assert back.region is not None
    assert touching > 10


@pytest.mark.parametrize("name", SOLID_CLASSES)
def test_24_rotations(name):
    for a, b in few(name, 2):
        c = touch(a, b)
        for matrix in rotations_of_the_cube():
            turned = touch(a @ matrix.T, b @ matrix.T)
            assert_same(c, turned, a, b)
            tol = tolerance(a, b, c.signed_distance)
            assert gap_along(a, b, matrix.T @ turned.normal) >= c.signed_distance - 2 * tol


@pytest.mark.parametrize("name", CLASSES)
def test_moved_by_a_million_sizes(name):
    for a, b in few(name, 6):
        size = max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max())
        shift = np.array([1e6, -2e6, 3e6])[: a.shape[1]] * (size if size > 0 else 1.0)
        moved_a, moved_b = a + shift, b + shift
        c, moved = touch(a, b), touch(moved_a, moved_b)
        rounding = 64 * EPS * max(np.abs(moved_a).max(), np.abs(moved_b).max())
        assert_same(c, moved, moved_a, moved_b, slack=rounding)
        # The moved coordinates are rounded: for them the answer is as good as anywhere.
        truth = exact(moved_a, moved_b).signed_distance
        assert abs(moved.signed_distance - truth) <= tolerance(moved_a, moved_b, truth)


@pytest.mark.parametrize("scale", [1e-6, 1e6, 2.0**-20, 2.0**40])
@pytest.mark.parametrize("name", CLASSES)
def test_scaled(name, scale):
    for a, b in few(name, 3):
        assert_same(touch(a, b), touch(a * scale, b * scale), a, b, scale)


@pytest.mark.parametrize("name", CLASSES)
def test_scaling_by_a_power_of_two_changes_no_bit(name):
    for a, b in few(name, 3):
        c, scaled = touch(a, b), touch(a * 2.0**30, b * 2.0**30)
        assert scaled.signed_distance == c.signed_distance * 2.0**30
        assert np.array_equal(scaled.normal, c.normal)


@pytest.mark.parametrize("name", CLASSES)
def test_mirrored(name):
    for a, b in few(name, 6):
        mirror = np.array([-1.0, 1.0, 1.0])[: a.shape[1]]
        c, mirrored = touch(a, b), touch(a * mirror, b * mirror)
        assert_same(c, mirrored, a, b)
        assert gap_along(a, b, mirrored.normal * mirror) >= c.signed_distance - 2 * tolerance(a, b, c.signed_distance)


@pytest.mark.parametrize("name", CLASSES)
def test_duplicates_and_order_of_the_points_change_nothing(name):
    rng = np.random.default_rng(SEED)
    for a, b in few(name, 6):
        repeated = [np.repeat(p, 3, axis=0)[rng.permutation(3 * len(p))] for p in (a, b)]
        assert_same(touch(a, b), touch(*repeated), a, b)


@pytest.mark.parametrize("name", CLASSES)
def test_points_inside_and_between_change_nothing(name):
    rng = np.random.default_rng(SEED)
    for a, b in few(name, 6):
        fuller = []
        for points in (a, b):
            i, j = rng.integers(0, len(points), (2, 20))
            inside = rng.dirichlet(np.ones(len(points)), 10) @ points
            fuller.append(np.concatenate([points, 0.5 * points[i] + 0.5 * points[j], inside]))
        assert_same(touch(a, b), touch(*fuller), a, b)


@pytest.mark.parametrize("cuts", [2, 4, 8])
def test_subdivided_faces_have_the_same_contact(cuts):
    """A cube whose faces are grids is the same shape."""
    grid = np.linspace(-0.5, 0.5, cuts + 1)
    points = np.array(list(product(grid, repeat=3)))
    surface = points[np.abs(points).max(axis=1) == 0.5]
    cube = points[(np.abs(points) == 0.5).all(axis=1)]
    for offset in ([0.25, 0.25, 0.9], [0.25, 0, 1.0], [0.1, 0.2, 1.5], [0.7, 0.8, 0.9], [0, 0, 0]):
        plain, fine = touch(cube, cube + offset), touch(surface, surface + offset)
        assert_same(plain, fine, cube, cube + np.array(offset))
        assert len(plain.ties) == len(fine.ties)
        assert plain.relation == fine.relation
        if plain.region is not None:
            assert fine.region.area == pytest.approx(plain.region.area, abs=1e-12)
            if len(plain.ties) == 1:
                assert np.abs(fine.region.centroid - plain.region.centroid).max() < 1e-12
