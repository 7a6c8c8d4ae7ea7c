# SPDX-License-Identifier: GPL-3.0-or-later
"""The grid and the tree find what testing all pairs of boxes finds, in scenes of every kind."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from contact_lens.core.broad_phase import candidate_pairs as broad_phase
from contact_lens.core.broad_phase import grid_pairs
from contact_lens.core.broad_phase.box_pairs import PairList
from contact_lens.core.broad_phase.candidate_pairs import candidate_pairs

from ..assertions import assert_progress, peak_memory
from ..generators import scattered_boxes

Boxes = tuple[np.ndarray, np.ndarray]


@pytest.fixture(params=["grid", "bvh"])
def method(request, monkeypatch):
    """Ask for one method, whatever the boxes."""
    if request.param == "grid":
        monkeypatch.setattr(grid_pairs, "_CROWDED", inf)
        monkeypatch.setattr(grid_pairs, "_CROWD", 1 << 60)
    else:
        request.getfixturevalue("tree_only")
    return request.param


@pytest.fixture
def tree_only(monkeypatch):
    """Leave all boxes to the tree."""
    monkeypatch.setattr(broad_phase, "find_grid_pairs", lambda *_: False)


def brute_force(a: Boxes, b: Boxes | None, margin: float) -> list[list[int]]:
    """All pairs, one axis after the other."""
    (low, high), (low_a, high_a) = (np.ascontiguousarray(side.T) for side in (a if b is None else b)), a
    found = []
    for i in range(len(low_a)):
        start = i + 1 if b is None else 0
        near = np.ones(low.shape[1] - start, dtype=bool)
        for axis in range(len(low)):
            near &= low[axis, start:] - high_a[i, axis] <= margin
            near &= low_a[i, axis] - high[axis, start:] <= margin
        found += [[i, start + j] for j in np.flatnonzero(near).tolist()]
    return found


@pytest.mark.usefixtures("method")
def test_as_testing_all_pairs():
    rng = np.random.default_rng(1)
    for _ in range(200):
        dim, margin = int(rng.choice([2, 3])), float(rng.choice([0.0, 0.0, 0.5]))
        a, b = (scattered_boxes(rng, int(rng.integers(0, 60)), dim) for _ in "ab")
        assert candidate_pairs(*a, margin=margin).pairs.tolist() == brute_force(a, None, margin)
        assert candidate_pairs(*a, *b, margin=margin).pairs.tolist() == brute_force(a, b, margin)


def hard_scenes() -> dict[str, Boxes]:
    """Boxes that are hard for a grid or a tree."""
    rng = np.random.default_rng(7)
    n = 1500
    center, half = rng.uniform(0.0, 2.0 * n ** (1 / 3), (n, 3)), rng.uniform(0.3, 0.7, (n, 3))
    lattice = np.stack(np.meshgrid(*[np.arange(11.0)] * 3), axis=-1).reshape(-1, 3)
    sizes = 10.0 ** rng.uniform(-6.0, 6.0, (n, 1))
    far_two, cluster, flat, line, ground = (center.copy() for _ in range(5))
    far_two[:2] = [[1e9, 0.0, 0.0], [-1e9, 1.0, 0.0]]
    cluster[::2] *= 1e-5
    flat[:, 1] = 3.0
    line[:, 1:] = 0.0
    ground[0] = 0.0
    wide = half.copy()
    wide[0] = [500.0, 500.0, 0.1]
    sticks = np.eye(3)[rng.integers(0, 3, n)] * 5.0 + 0.01
    return {
        "one size": (center - half, center + half),
        "two far away": (far_two - half, far_two + half),
        "half of them in a cluster": (cluster - half * 1e-4, cluster + half * 1e-4),
        "in a plane": (flat - half, flat + half),
        "flat in a plane": (flat - half * [1, 0, 1], flat + half * [1, 0, 1]),
        "in a row": (line - half * 0.1, line + half * 0.1),
        "on the ground": (ground - wide, ground + wide),
        "sticks": (center - sticks, center + sticks),
        "sizes of twelve orders": (center * 1e4 - half * sizes, center * 1e4 + half * sizes),
        "places of twelve orders": ((center - 11.0) * sizes - 0.01, (center - 11.0) * sizes + 0.01),
        "lattice of boxes that touch": (lattice, lattice + 1.0),
        "the same far away": (lattice + 1e6, lattice + (1e6 + 1.0)),
        "a third wide": (lattice / 3.0, lattice / 3.0 + 1.0 / 3.0),
        "lattice of points, each twice": (np.tile(lattice[:500], (2, 1)), np.tile(lattice[:500], (2, 1))),
        "all alike": (np.ones((300, 3)), np.full((300, 3), 2.0)),
        "one point": (np.zeros((300, 3)), np.zeros((300, 3))),
        "hardly larger than zero": (center * 1e-310, (center + half) * 1e-310),
        "very large": ((center - half) * 1e299, (center + half) * 1e299),
        "one coordinate very large": ((center - half) * [1e299, 1.0, 1e-300], (center + half) * [1e299, 1.0, 1e-300]),
    }


HARD = hard_scenes()


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("name", HARD)
@pytest.mark.usefixtures("method")
def test_hard_scenes(name):
    low, high = HARD[name]
    assert candidate_pairs(low, high).pairs.tolist() == brute_force((low, high), None, 0.0)
    found = candidate_pairs(low[::5], high[::5], low, high).pairs.tolist()
    assert found == brute_force((low[::5], high[::5]), (low, high), 0.0)
    plane = low[:, 1:], high[:, 1:]
    if name not in ("in a row", "places of twelve orders"):  # so many pairs that it takes long
        assert candidate_pairs(*plane).pairs.tolist() == brute_force(plane, None, 0.0)


@pytest.mark.slow
@pytest.mark.usefixtures("method")
def test_more_boxes_than_one_chunk():
    rng = np.random.default_rng(8)
    n = 20_000
    center = rng.uniform(0.0, 2.0 * n ** (1 / 3), (n, 3))
    half = rng.uniform(0.3, 0.7, (n, 3))
    uneven = half * 300.0 ** -rng.uniform(0.0, 1.0, (n, 1))
    for low, high in ((center - half, center + half), (center / 3.0 - uneven, center / 3.0 + uneven)):
        expected = brute_force((low, high), None, 0.0)
        assert len(expected) > 6000
        assert candidate_pairs(low, high).pairs.tolist() == expected


@pytest.mark.fast_cases(1)
@pytest.mark.usefixtures("method")
def test_a_range_longer_than_a_chunk():
    low = np.zeros((18_000, 3))
    low[1:, 0] = np.arange(1.0, 18_000.0)
    high = low + 0.5
    high[0] = 1e5
    assert candidate_pairs(low, high).pairs.tolist() == [[0, j] for j in range(1, 18_000)]
    found = candidate_pairs(low[:1], high[:1], low[1:], high[1:]).pairs
    assert found.tolist() == [[0, j] for j in range(17_999)]


@pytest.mark.usefixtures("method")
def test_the_margin_is_exact():
    """A gap is within the margin when the rounded difference of the corners is: never too few pairs, and the same
    ones for every method, near the origin and far away."""
    rng = np.random.default_rng(9)
    for place in (0.0, 1.0, 1e6, -1e6, 1e12):
        for margin in (0.1, 1.0, 1e-3, 1 / 3, 1e5):
            steps = rng.integers(0, 12, (120, 3)) * margin
            low = place + steps
            low += rng.integers(-1, 2, low.shape) * np.spacing(low)
            for high in (low, low + margin):
                found = candidate_pairs(low, high, margin=margin).pairs.tolist()
                assert found == brute_force((low, high), None, margin)
                found = candidate_pairs(low[:50], high[:50], low[50:], high[50:], margin=margin).pairs
                assert found.tolist() == brute_force((low[:50], high[:50]), (low[50:], high[50:]), margin)


@pytest.mark.fast_cases(1)
@pytest.mark.usefixtures("method")
def test_a_set_against_itself_and_in_another_order():
    rng = np.random.default_rng(10)
    for turn in range(60):
        low, high = scattered_boxes(rng, int(rng.integers(1, 200)), int(rng.choice([2, 3])))
        margin = 0.0
        if turn % 3:
            margin = float(rng.choice([0.1, 0.5, 1 / 3]))
            low = np.round(low / margin) * margin  # many gaps are the margin but for rounding
            high = low + margin * rng.integers(0, 3, low.shape)
        pairs = candidate_pairs(low, high, margin=margin).pairs
        both = np.concatenate([pairs, pairs[:, ::-1], np.repeat(np.arange(len(low))[:, None], 2, axis=1)])
        found = candidate_pairs(low, high, low, high, margin=margin).pairs
        assert found.tolist() == sorted(both.tolist())
        order = rng.permutation(len(low))
        turned = order[candidate_pairs(low[order], high[order], margin=margin).pairs]
        assert sorted(np.sort(turned, axis=1).tolist()) == pairs.tolist()


@pytest.mark.slow
def test_a_tree_takes_over_when_the_boxes_crowd():
    """Whether they crowd everywhere or in one place, and progress never goes back."""
    rng = np.random.default_rng(12)
    spread = rng.uniform(0.0, 40.0, (8000, 3))
    everywhere = np.where(rng.random((8000, 1)) < 0.01, 20.0, 0.05)
    one_place = spread.copy()
    one_place[:2000] = 20.0 + rng.uniform(0.0, 1.0, (2000, 3))
    for center, half in ((spread, everywhere), (one_place, np.where(np.arange(8000) < 2000, 0.01, 0.5)[:, None])):
        low, high = center - half, center + half
        fractions: list[float] = []
        found = candidate_pairs(low, high, progress=fractions.append)
        assert found.method == "bvh"
        assert fractions == sorted(fractions)
        assert found.pairs.tolist() == brute_force((low, high), None, 0.0)
        others = candidate_pairs(low[::3], high[::3], low, high)
        assert others.method == "bvh"
        assert others.pairs.tolist() == brute_force((low[::3], high[::3]), (low, high), 0.0)


@pytest.mark.usefixtures("tree_only")
def test_a_tree_takes_few_tests_wherever_the_boxes_are():
    """Also when rounding to a fraction of all the space would make most of them alike."""
    rng = np.random.default_rng(13)
    n = 5000
    center, half = rng.uniform(0.0, 2.0 * n ** (1 / 3), (n, 3)), rng.uniform(0.3, 0.7, (n, 3))
    for reach in (1.0, 1e6, 1e12):
        center[0] = reach
        found = candidate_pairs(center - half, center + half)
        assert found.tests < 60 * n
        assert found.pairs.tolist() == brute_force((center - half, center + half), None, 0.0)


@pytest.mark.usefixtures("tree_only")
@pytest.mark.parametrize(("dim", "most"), [(2, 9), (3, 15)])
def test_a_tree_of_many_boxes_follows_a_curve_that_does_not_jump(dim, most):
    rng = np.random.default_rng(15)
    low = rng.uniform(0.0, 1.0, (10_000, dim))
    high = low + rng.uniform(0.1, 0.7, low.shape) * len(low) ** (-1 / dim)
    assert candidate_pairs(low, high).tests < most * len(low)


@pytest.mark.usefixtures("tree_only")
def test_boxes_that_overlap_by_a_step_need_no_exact_test(monkeypatch):
    rng = np.random.default_rng(16)
    low = rng.uniform(0.0, 10.0, (3000, 3))
    tested: list[int] = []
    test = PairList._test
    monkeypatch.setattr(PairList, "_test", lambda self, i, j: tested.append(len(i)) or test(self, i, j))
    found = candidate_pairs(low, low + 1.0, low + 0.5, low + 1.5).pairs
    assert len(found) > 50_000
    assert sum(tested) < 0.01 * len(found)


@pytest.mark.parametrize("flat", [1.0, 1e-9])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_stack_of_wide_plates_beside_a_tall_box_takes_few_tests(method, dim, flat):
    """Nearly all overlap along all axes but one, along which the tallest is as long as the stack."""
    rng = np.random.default_rng(15)
    n = 500 if method == "grid" else 8000
    center = rng.uniform(0.0, 100.0, (n, dim))
    center[:, -1] = rng.permutation(n) / n * flat
    half = np.full(dim, 500.0)
    half[-1] = 1e-6 * flat
    low, high = np.vstack([center - half, np.full((1, dim), 2000.0)]), np.vstack([center + half, np.full(dim, 2001.0)])
    low[-1, -1], high[-1, -1] = 0.0, flat
    found = candidate_pairs(low, high)
    assert found.pairs.tolist() == []
    two = candidate_pairs(low[::2], high[::2], low, high)
    assert sorted(two.pairs.tolist()) == [[i, 2 * i] for i in range(n // 2 + 1)]
    if method != "grid":
        assert found.tests < 60 * n
        assert two.tests < 100 * n


@pytest.mark.slow
@pytest.mark.usefixtures("tree_only")
def test_a_search_that_takes_too_many_tests_is_repeated_with_space_stretched():
    """Boxes that are separated only along an axis so short that all are rounded to one place."""
    rng = np.random.default_rng(16)
    n = 15_000
    center, half = rng.uniform(0.0, 100.0, (n, 3)), np.array([15.0, 15.0, 1e-13])
    center[:, 2] = rng.permutation(n) / n * 1e-6
    low, high = center - half, center + half
    fractions: list[float] = []
    found = candidate_pairs(low, high, progress=fractions.append)
    assert fractions == sorted(fractions)
    assert found.tests < 700 * n, "not 4,000"
    assert found.pairs.tolist() == brute_force((low, high), None, 0.0)
    others = candidate_pairs(low[::2], high[::2], low, high)
    assert others.tests < 1000 * n
    assert others.pairs.tolist() == brute_force((low[::2], high[::2]), (low, high), 0.0)


@pytest.mark.usefixtures("method")
def test_pairs_that_are_known():
    low = np.array([[0.0, 0, 0], [1.0, 1, 1], [2.0 + 1e-12, 1, 1]])
    assert candidate_pairs(low, low + 1.0).pairs.tolist() == [[0, 1]], "touching in a corner"
    assert candidate_pairs(low, low + 1.0, margin=1e-11).pairs.tolist() == [[0, 1], [1, 2]]
    low = np.array([[-(2.0**1000), 0.0], [2.0**1000, 1.0], [0.0, 0.0]])
    assert candidate_pairs(low, low, margin=1.7e308).pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    whole = np.arange(12).reshape(4, 3)
    assert candidate_pairs(whole.tolist(), np.asfortranarray(whole + 3)).pairs.tolist() == [[0, 1], [1, 2], [2, 3]]
    nothing, one = np.zeros((0, 3)), np.zeros((1, 3))
    for a, b in ((nothing, None), (one, None), (nothing, one), (one, nothing)):
        pairs = candidate_pairs(a, a, b, b).pairs
        assert (pairs.shape, pairs.dtype) == ((0, 2), np.intp)
    assert candidate_pairs(one, one, one, one).pairs.tolist() == [[0, 0]]


def test_the_method_follows_the_sizes():
    rng = np.random.default_rng(3)
    center = rng.uniform(0.0, 50.0, (3000, 3))
    assert candidate_pairs(center, center + 1.0).method == "grid"
    uneven = center + np.where(np.arange(3000) % 500 == 0, 300.0, 1.0)[:, None]
    assert candidate_pairs(center, uneven).method == "bvh"
    result = candidate_pairs(center, center + 1.0)
    assert result.tests < 20 * len(result.pairs) + 20 * 3000, "not all of 4,498,500"


@pytest.mark.parametrize("crowded", [True, False])
@pytest.mark.usefixtures("method")
def test_memory_is_that_of_the_pairs_and_of_some_arrays_as_long_as_the_boxes(crowded):
    n = 1200 if crowded else 100_000
    low = np.zeros((n, 3)) if crowded else np.random.default_rng(14).uniform(0.0, 4.0 * n ** (1 / 3), (n, 3))
    found, peak = peak_memory(lambda: candidate_pairs(low, low + 1.0))
    assert len(found.pairs) == n * (n - 1) // 2 or not crowded
    assert peak < (1.5 * found.pairs.nbytes + 3e6 if crowded else 40 * n * 8 + 8e6)


@pytest.mark.usefixtures("method")
def test_progress_is_reported_and_can_cancel():
    center = np.random.default_rng(4).uniform(0.0, 20.0, (2000, 3))
    assert_progress(lambda progress: candidate_pairs(center, center + 0.5, progress=progress))


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
    ],
)
def test_wrong_arguments_are_named(words, change):
    arguments = {"low": np.zeros((1, 3)), "high": np.ones((1, 3))} | change
    with pytest.raises(ValueError, match=words):
        candidate_pairs(arguments.pop("low"), arguments.pop("high"), **arguments)
