# SPDX-License-Identifier: GPL-3.0-or-later
"""The oracles against each other, against known geometry and against the hard pairs' file."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ..promises.test_hard_pairs import every_pair, vertices
from . import generators
from .fuzz import contradictions
from .oracles import (
    EPS,
    exact,
    exact_distance_to_point,
    gap_along,
    nearest_to_origin,
    sat,
    sign_tolerance,
    tolerance,
)

SEED = 20_240_601


def disagreements(a: np.ndarray, b: np.ndarray) -> list[str]:
    """Return the float oracles that contradict the exact one where they are valid."""
    truth, bound = exact(a, b), sat(a, b).signed_distance
    sd, tol, sign_tol = truth.signed_distance, tolerance(a, b, truth.signed_distance), sign_tolerance(a, b)
    found = contradictions(a, b)
    if sd > sign_tol and not 0 < bound <= sd + tol:
        found.append(f"sat {bound!r} of a gap of {sd!r}")
    if gap_along(a, b, truth.normal) < sd - tol:
        found.append("exact: its own normal is not optimal")
    return found


@pytest.mark.parametrize("name", generators.CLASSES)
def test_oracles_agree_in_every_class(name):
    for index in range(3):
        a, b = generators.CLASSES[name](np.random.default_rng([SEED, index]))
        assert disagreements(a, b) == [], index


@every_pair
def test_oracles_agree_with_the_hard_pairs(pair):
    a, b = vertices(pair)
    expected = pair["expected"]["signed_distance"]
    assert abs(exact(a, b).signed_distance - expected) <= tolerance(a, b, expected)
    assert disagreements(a, b) == []


CUBE = generators.CUBE
SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
IN_SPACE = np.c_[SQUARE, np.zeros(4)]
TETRAHEDRON = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
SEGMENT = [[-1.0, 0, 0], [1, 0, 0]]


def with_bottom(z: float) -> np.ndarray:
    return np.c_[CUBE[:, :2], np.where(CUBE[:, 2] < 0, z, 1.5)]


@pytest.mark.parametrize(
    ("a", "b", "signed_distance", "normal"),
    [
        (CUBE, CUBE + [0.75, 0.125, 0.0], Fraction(-1, 4), [1, 0, 0]),
        # A touch, and one unit in the last place apart or deep.
        (CUBE, with_bottom(0.5), 0, [0, 0, 1]),
        (CUBE, with_bottom(0.5 + EPS), EPS, [0, 0, 1]),
        (CUBE, with_bottom(0.5 - EPS / 2), -EPS / 2, [0, 0, 1]),
        (SEGMENT, [[0.0, -1, 3], [0, 1, 3]], 3, [0, 0, 1]),
        (IN_SPACE, IN_SPACE + [0.5, 0.5, 0], 0, None),
        (IN_SPACE, IN_SPACE + [2, 0, 0], 1, [1, 0, 0]),
        (SQUARE, SQUARE + [0.25, 0.75], Fraction(-1, 4), [0, 1]),
        # A - A is a cuboctahedron with vertices at 2 sqrt 2; its nearest facets are the squares, 2 from the middle.
        (TETRAHEDRON, TETRAHEDRON, -2, None),
    ],
)  # fmt: skip
def test_exact_answers_in_closed_form(a, b, signed_distance, normal):
    found = exact(a, b)
    assert found.exact == signed_distance
    if normal:
        assert found.normal.tolist() == normal


@pytest.mark.parametrize("index", range(10))
def test_distances_to_a_point_agree(index):
    rng = np.random.default_rng([SEED, index])
    points, point = generators.cloud(rng, 20), rng.normal(size=3)
    distance = np.linalg.norm(nearest_to_origin(points - point))
    assert exact_distance_to_point(points, point) == pytest.approx(distance, abs=1e-14)


def test_every_class_has_pairs_and_the_corpus_has_each_state():
    seen = dict.fromkeys((*generators.CLASSES, *generators.LARGE), 0)
    states = {"apart": 0, "touching": 0, "deep": 0}
    for name, a, b in generators.pairs(SEED, 12 * len(generators.CLASSES)):
        assert np.isfinite(np.concatenate([a, b])).all()
        seen[name] += 1
        sd, tol = exact(a, b).signed_distance, sign_tolerance(a, b)
        states["apart" if sd > tol else "deep" if sd < -tol else "touching"] += 1
    assert min(seen.values()) >= 1
    assert min(states.values()) >= 30, states
