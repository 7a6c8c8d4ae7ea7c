# SPDX-License-Identifier: GPL-3.0-or-later
"""The oracles against each other, against known geometry and against the hard pairs' file."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from . import generators
from .oracles import (
    EPS,
    distance_to_point,
    exact,
    exact_distance_to_point,
    gap_along,
    minkowski,
    nearest,
    sat,
    sign_tolerance,
    tolerance,
)
from .test_hard_pairs import every_pair, vertices

SEED = 20_240_601


def disagreements(name: str, a: np.ndarray, b: np.ndarray) -> list[str]:
    """What the float oracles say where they are valid, if it is not what the exact one says."""
    truth = exact(a, b)
    sd, tol, sign_tol = truth.signed_distance, tolerance(a, b, truth.signed_distance), sign_tolerance(a, b)
    found = []
    by_axes = sat(a, b)
    if sd <= sign_tol and abs(by_axes.signed_distance - sd) > tol:
        found.append(f"sat {by_axes.signed_distance!r}")
    if sd > sign_tol and not 0 < by_axes.signed_distance <= sd + tol:
        found.append(f"sat {by_axes.signed_distance!r}")
    for oracle in (minkowski, nearest):
        answer = oracle(a, b)
        if answer is not None and abs(answer.signed_distance - sd) > tol:
            found.append(f"{oracle.__name__} {answer.signed_distance!r}")
    if gap_along(a, b, truth.normal) < sd - tol:
        found.append("exact: its own normal is not optimal")
    return [f"{name}: exact {sd!r}, {words}, tol {tol:.1e}" for words in found]


@pytest.mark.parametrize("name", generators.CLASSES)
def test_oracles_agree_in_every_class(name):
    for index in range(3):
        a, b = generators.CLASSES[name](np.random.default_rng([SEED, index]))
        assert disagreements(f"{name} {index}", a, b) == []


@every_pair
def test_oracles_agree_with_the_hard_pairs(pair):
    a, b = vertices(pair)
    expected = pair["expected"]["signed_distance"]
    assert abs(exact(a, b).signed_distance - expected) <= tolerance(a, b, expected)
    assert disagreements(pair["id"], a, b) == []


def test_exact_depth_of_two_unit_cubes_is_exact():
    cube = generators.CUBE
    answer = exact(cube, cube + [0.75, 0.125, 0.0])
    assert answer.exact == Fraction(-1, 4)
    assert answer.normal.tolist() == [1, 0, 0]


def test_exact_sees_a_gap_of_one_unit_in_the_last_place():
    cube = generators.CUBE
    above = cube + [0, 0, 1.0]
    assert exact(cube, above).signed_distance == 0
    above[above[:, 2] == 0.5, 2] = 0.5 + EPS
    assert exact(cube, above).signed_distance == EPS
    above[above[:, 2] == 0.5 + EPS, 2] = 0.5 - EPS / 2
    assert exact(cube, above).signed_distance == -EPS / 2


def test_exact_distance_of_skew_segments():
    a = np.array([[-1.0, 0, 0], [1, 0, 0]])
    b = np.array([[0.0, -1, 3], [0, 1, 3]])
    assert exact(a, b).exact == 3
    assert exact(a, b).normal.tolist() == [0, 0, 1]


def test_flat_shapes_in_one_plane_touch_when_they_overlap():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    answer = exact(square, square + [0.5, 0.5, 0])
    assert answer.signed_distance == 0
    assert abs(answer.normal[2]) == 1
    assert exact(square, square + [2, 0, 0]).exact == 1


def test_exact_depth_in_the_plane():
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    answer = exact(square, square + [0.25, 0.75])
    assert answer.exact == Fraction(-1, 4)
    assert answer.normal.tolist() == [0, 1]


def test_exact_agrees_with_the_closed_form_of_a_regular_tetrahedron():
    tetrahedron = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    # A - A is a cuboctahedron with vertices at 2 sqrt 2; its nearest facets are the squares, 2 from the middle.
    assert exact(tetrahedron, tetrahedron).exact == -2


@pytest.mark.parametrize("index", range(10))
def test_distances_to_a_point_agree(index):
    rng = np.random.default_rng([SEED, index])
    points = generators.cloud(rng, 20)
    point = rng.normal(size=3)
    assert distance_to_point(points, point) == pytest.approx(exact_distance_to_point(points, point), abs=1e-14)


def test_pairs_are_the_same_for_the_same_seed_and_differ_for_another():
    first, again = list(generators.pairs(1, 30)), list(generators.pairs(1, 30))
    for (name, a, b), (name_again, a_again, b_again) in zip(first, again, strict=True):
        assert name == name_again
        assert np.array_equal(a, a_again)
        assert np.array_equal(b, b_again)
    other = generators.pair(2, 0)
    assert not np.array_equal(first[0][1], other[1])


def test_every_class_has_pairs_and_the_corpus_has_each_state():
    seen = dict.fromkeys((*generators.CLASSES, *generators.LARGE), 0)
    states = {"apart": 0, "touching": 0, "deep": 0}
    for name, a, b in generators.pairs(SEED, 12 * len(generators.CLASSES)):
        assert np.isfinite(a).all()
        assert np.isfinite(b).all()
        seen[name] += 1
        sd, tol = exact(a, b).signed_distance, sign_tolerance(a, b)
        states["apart" if sd > tol else "deep" if sd < -tol else "touching"] += 1
    assert min(seen.values()) >= 1
    assert min(states.values()) >= 30, states
