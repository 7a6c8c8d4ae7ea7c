# SPDX-License-Identifier: GPL-3.0-or-later
"""Invariants: nothing changes when the pair is swapped, turned, moved, scaled, mirrored or described by more points."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from contact_lens.core import Contact, ConvexHull, Relation, contact

from ..core.assertions import contact_band
from ..core.generators import CLASSES, OCTAHEDRAL, far_away, pair, size_ratios, small_on_needle
from ..core.oracles import EPS, exact, gap_along, sign_tolerance, tolerance

SEED = 40_923
SOLID_CLASSES = [name for name in CLASSES if name != "polygons_2d"]
OPPOSITE = {Relation.A_INSIDE_B: Relation.B_INSIDE_A, Relation.B_INSIDE_A: Relation.A_INSIDE_B}
INSIDE = (*OPPOSITE, Relation.PENETRATING)


def few(name: str, count: int):
    for cycle in range(count):
        yield pair(SEED, cycle * len(CLASSES) + list(CLASSES).index(name))[1:]


def touch(a, b) -> Contact:
    return contact(ConvexHull(a), ConvexHull(b))


def clear_of_the_band(c: Contact, a, b) -> bool:
    """The relation is not decided by rounding at the edge of the band of TOUCHING."""
    band = contact_band(ConvexHull(a), ConvexHull(b), c.contact_tolerance)
    return abs(abs(c.signed_distance) - band) > 1e-3 * band + 4 * sign_tolerance(a, b)


def assert_same(c: Contact, image: Contact, a, b, scale: float = 1.0, slack: float = 0.0) -> None:
    """Signed distance, bounds and relation agree within the tolerance of both."""
    tol = 2 * tolerance(a, b, c.signed_distance) + slack / scale
    assert abs(image.signed_distance / scale - c.signed_distance) <= tol
    assert abs(image.lower_bound / scale - c.lower_bound) <= 2 * tol
    assert abs(image.upper_bound / scale - c.upper_bound) <= 2 * tol
    if clear_of_the_band(c, a, b):
        # Whether one is inside the other within the band has an edge of its own; but deep stays deep.
        assert c.relation == image.relation or {c.relation, image.relation} <= set(INSIDE)


@pytest.mark.fast_cases(12)
@pytest.mark.parametrize("name", CLASSES)
def test_swap(name):
    for a, b in few(name, 8):
        c, swapped = touch(a, b), touch(b, a)
        assert_same(c, swapped, a, b)
        if clear_of_the_band(c, a, b):
            assert swapped.relation == OPPOSITE.get(c.relation, c.relation)
        for tie in swapped.ties:
            assert gap_along(a, b, -tie) >= c.signed_distance - 4 * tolerance(a, b, c.signed_distance)


@pytest.mark.parametrize("make", [small_on_needle, far_away, size_ratios])
def test_a_touch_is_one_from_both_sides_where_rounding_is_wider_than_the_contact_tolerance(make):
    touching = 0
    for k in range(100):
        a, b = map(ConvexHull, make(np.random.default_rng([5, k])))
        there, back = contact(a, b, contact_tolerance=0.0), contact(b, a, contact_tolerance=0.0)
        if abs(there.signed_distance) < 0.1 * tolerance(a.vertices, b.vertices, 0.0):
            touching += 1
            assert back.relation == there.relation in (Relation.TOUCHING, Relation.COINCIDENT)
            assert there.region is not None
            assert back.region is not None
    assert touching > 5


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("name", SOLID_CLASSES)
def test_24_rotations_and_mirrors(name):
    mirrors = [np.diag(signs) for signs in ([-1.0, 1, 1], [1, -1.0, 1], [-1.0, -1.0, -1.0])]
    for a, b in few(name, 2):
        c = touch(a, b)
        for matrix in OCTAHEDRAL + mirrors:
            image = touch(a @ matrix.T, b @ matrix.T)
            assert_same(c, image, a, b)
            tol = tolerance(a, b, c.signed_distance)
            assert gap_along(a, b, matrix.T @ image.normal) >= c.signed_distance - 2 * tol


@pytest.mark.parametrize("name", CLASSES)
def test_moved_by_a_million_sizes(name):
    for a, b in few(name, 4):
        size = max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max()) or 1.0
        shift = np.array([1e6, -2e6, 3e6])[: a.shape[1]] * size
        far_a, far_b = a + shift, b + shift
        image = touch(far_a, far_b)
        rounding = 64 * EPS * max(np.abs(far_a).max(), np.abs(far_b).max())
        assert_same(touch(a, b), image, far_a, far_b, slack=rounding)
        # The moved coordinates are rounded: for them the answer is as good as anywhere.
        truth = exact(far_a, far_b).signed_distance
        assert abs(image.signed_distance - truth) <= tolerance(far_a, far_b, truth)


@pytest.mark.fast_cases(12)
@pytest.mark.parametrize("name", CLASSES)
def test_scaled(name):
    for a, b in few(name, 3):
        c = touch(a, b)
        for scale in (1e-6, 1e6, 2.0**-20, 2.0**40):
            image = touch(a * scale, b * scale)
            assert_same(c, image, a, b, scale)
            if np.frexp(scale)[0] == 0.5:  # no bit changes
                assert image.signed_distance == c.signed_distance * scale
                assert np.array_equal(image.normal, c.normal)


def repeated(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.repeat(points, 3, axis=0)[rng.permutation(3 * len(points))]


def with_points_inside(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    i, j = rng.integers(0, len(points), (2, 20))
    inside = rng.dirichlet(np.ones(len(points)), 10) @ points
    return np.concatenate([points, 0.5 * points[i] + 0.5 * points[j], inside])


@pytest.mark.fast_cases(24)
@pytest.mark.parametrize("described", [repeated, with_points_inside])
@pytest.mark.parametrize("name", CLASSES)
def test_more_points_of_the_same_hull_change_nothing(name, described: Callable):
    rng = np.random.default_rng(SEED)
    for a, b in few(name, 4):
        assert_same(touch(a, b), touch(described(a, rng), described(b, rng)), a, b)


@pytest.mark.parametrize("cuts", [2, 8])
def test_subdivided_faces_have_the_same_contact(cuts):
    """A cube whose faces are grids is the same shape."""
    points = np.array(list(product(np.linspace(-0.5, 0.5, cuts + 1), repeat=3)))
    surface, cube = points[np.abs(points).max(axis=1) == 0.5], points[(np.abs(points) == 0.5).all(axis=1)]
    for offset in ([0.25, 0.25, 0.9], [0.25, 0, 1.0], [0.1, 0.2, 1.5], [0.7, 0.8, 0.9], [0, 0, 0]):
        plain, fine = touch(cube, cube + offset), touch(surface, surface + offset)
        assert_same(plain, fine, cube, cube + np.array(offset))
        assert (len(plain.ties), plain.relation) == (len(fine.ties), fine.relation)
        if plain.region is not None:
            assert fine.region.area == pytest.approx(plain.region.area, abs=1e-12)
            if len(plain.ties) == 1:
                assert np.abs(fine.region.centroid - plain.region.centroid).max() < 1e-12
