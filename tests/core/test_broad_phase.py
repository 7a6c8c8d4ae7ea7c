# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method finds what testing all pairs of boxes finds, in scenes of every kind."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from contact_lens.core.broad_phase import METHODS, candidate_pairs
from contact_lens.core.progress import Cancelled

every_method = pytest.mark.parametrize("method", METHODS)
Boxes = tuple[np.ndarray, np.ndarray]


def scene(rng: np.random.Generator, count: int, dim: int) -> Boxes:
    """Lowest and highest corners of boxes: scattered, touching exactly, in a plane, in a row, all alike, nested, huge
    next to tiny, points, and far from the origin."""
    kind = int(rng.integers(9))
    center = rng.normal(size=(count, dim)) * 4.0
    half = rng.uniform(0.1, 1.0, (count, dim))
    if kind == 1:
        center, half = np.round(center), np.full((count, dim), 0.5)
    elif kind == 2:
        center[:, -1] = 0.0
    elif kind == 3:
        center[:, 1:] = 0.0
        center[:, 0] *= 20.0
    elif kind == 4:
        center[:], half[:] = 1.0, 0.25
    elif kind == 5:
        center[:], half = 0.0, np.arange(1.0, count + 1)[:, None] * np.ones(dim)
    elif kind == 6:
        half *= 10.0 ** rng.uniform(-6, 3, (count, 1))
    elif kind == 7:
        half[:] = 0.0
        center = np.round(center)
    elif kind == 8:
        center += 1e6
    return center - half, center + half


def brute_force(a: Boxes, b: Boxes | None, margin: float) -> list[list[int]]:
    """All pairs, one axis after the other."""
    low, high = a if b is None else b
    near = (a[0][:, None] - margin <= high[None]).all(axis=2) & (low[None] <= a[1][:, None] + margin).all(axis=2)
    if b is None:
        near = np.triu(near, 1)
    return np.argwhere(near).tolist()


@every_method
def test_as_testing_all_pairs(method):
    rng = np.random.default_rng(1)
    for _ in range(600):
        dim, margin = int(rng.choice([2, 3])), float(rng.choice([0.0, 0.0, 0.5]))
        a, b = scene(rng, int(rng.integers(0, 60)), dim), scene(rng, int(rng.integers(0, 60)), dim)
        assert candidate_pairs(*a, margin=margin, method=method).pairs.tolist() == brute_force(a, None, margin)
        assert candidate_pairs(*a, *b, margin=margin, method=method).pairs.tolist() == brute_force(a, b, margin)


@every_method
@pytest.mark.parametrize("dim", [2, 3])
def test_many_boxes(method, dim):
    rng = np.random.default_rng(2)
    center = rng.uniform(0.0, 40.0, (2500, dim))
    half = rng.uniform(0.1, 1.0, (2500, dim))
    a, b = (center - half, center + half), (center[:900] + 0.7, center[:900] + 1.1)
    assert candidate_pairs(*a, method=method).pairs.tolist() == brute_force(a, None, 0.0)
    assert candidate_pairs(*a, *b, method=method).pairs.tolist() == brute_force(a, b, 0.0)


def test_boxes_that_touch_in_a_corner_are_a_pair_and_such_a_hair_apart_are_none():
    low = np.array([[0.0, 0, 0], [1.0, 1, 1], [2.0 + 1e-12, 1, 1]])
    for method in METHODS:
        assert candidate_pairs(low, low + 1.0, method=method).pairs.tolist() == [[0, 1]]
        assert candidate_pairs(low, low + 1.0, margin=1e-11, method=method).pairs.tolist() == [[0, 1], [1, 2]]


def test_nothing_and_one_are_no_pairs():
    none, one = np.zeros((0, 3)), np.zeros((1, 3))
    for method in METHODS:
        for a, b in ((none, None), (one, None), (none, one), (one, none)):
            pairs = candidate_pairs(a, a, b, b, method=method).pairs
            assert pairs.shape == (0, 2)
            assert pairs.dtype == np.intp
        assert candidate_pairs(one, one, one, one, method=method).pairs.tolist() == [[0, 0]]


def test_the_method_follows_the_number_and_the_sizes():
    rng = np.random.default_rng(3)
    center = rng.uniform(0.0, 50.0, (3000, 3))
    assert candidate_pairs(center, center + 1.0).method == "grid"
    assert candidate_pairs(center[:50], center[:50] + 1.0).method == "sweep"
    uneven = center + np.where(np.arange(3000) % 500 == 0, 300.0, 1.0)[:, None]
    assert candidate_pairs(center, uneven).method == "bvh"
    result = candidate_pairs(center, center + 1.0)
    assert result.tests < 20 * len(result.pairs) + 20 * 3000, "not all of 4,498,500"


@every_method
def test_memory_is_bounded_besides_what_is_found(method):
    low = np.zeros((1200, 3))
    tracemalloc.start()
    try:
        found = candidate_pairs(low, low + 1.0, method=method)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.pairs) == 1200 * 1199 // 2
    assert peak < 8 * found.pairs.nbytes + 80e6


@every_method
def test_progress_is_told_and_can_cancel(method):
    rng = np.random.default_rng(4)
    center = rng.uniform(0.0, 20.0, (2000, 3))
    shares: list[float] = []

    def note(share: float) -> bool:
        shares.append(share)
        return True

    candidate_pairs(center, center + 0.5, method=method, progress=note)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    with pytest.raises(Cancelled):
        candidate_pairs(center, center + 0.5, method=method, progress=lambda share: share < 0.1)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (r"^low: all numbers must be finite", {"low": [[0.0, 0.0, np.nan]]}),
        (r"^high: an array \(n, 2\) or \(n, 3\) expected", {"high": [0.0, 0.0, 0.0]}),
        (r"^high: the shape of low", {"high": np.ones((2, 3))}),
        (r"^low: row 0 is above that of high", {"low": [[0.0, 2.0, 0.0]]}),
        (r"^other_low and other_high must be given both", {"other_low": np.zeros((1, 3))}),
        (r"^other_low has dimension 2", {"other_low": np.zeros((1, 2)), "other_high": np.ones((1, 2))}),
        (r"^margin must be a finite number", {"margin": -0.5}),
        (r"^method must be one of auto, grid", {"method": "guess"}),
    ],
)
def test_wrong_arguments_are_named(words, change):
    arguments = {"low": np.zeros((1, 3)), "high": np.ones((1, 3))} | change
    with pytest.raises(ValueError, match=words):
        candidate_pairs(arguments.pop("low"), arguments.pop("high"), **arguments)
