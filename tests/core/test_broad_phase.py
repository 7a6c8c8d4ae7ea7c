# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method finds what testing all pairs of boxes finds, in scenes of every kind."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from contact_lens.core.bounding.bounding_volumes import bounding_volumes
from contact_lens.core.broad_phase.box_pairs import PairList
from contact_lens.core.broad_phase.candidate_pairs import METHODS, candidate_pairs, overlapping_pairs
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


def hard_scenes() -> dict[str, Boxes]:
    """Boxes that are hard on some way or other to find pairs."""
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


@every_method
@pytest.mark.parametrize("name", HARD)
def test_hard_scenes(method, name):
    low, high = HARD[name]
    assert candidate_pairs(low, high, method=method).pairs.tolist() == brute_force((low, high), None, 0.0)
    some = slice(None, None, 5)
    found = candidate_pairs(low[some], high[some], low, high, method=method).pairs.tolist()
    assert found == brute_force((low[some], high[some]), (low, high), 0.0)
    plane = low[:, 1:], high[:, 1:]
    if name not in ("in a row", "places of twelve orders"):  # so many pairs that it takes long
        assert candidate_pairs(*plane, method=method).pairs.tolist() == brute_force(plane, None, 0.0)


def test_more_boxes_than_one_batch():
    rng = np.random.default_rng(8)
    n = 20_000
    center = rng.uniform(0.0, 2.0 * n ** (1 / 3), (n, 3))
    half = rng.uniform(0.3, 0.7, (n, 3))
    uneven = half * 300.0 ** -rng.uniform(0.0, 1.0, (n, 1))
    for low, high in ((center - half, center + half), (center / 3.0 - uneven, center / 3.0 + uneven)):
        expected = brute_force((low, high), None, 0.0)
        assert len(expected) > 6000
        for method in METHODS:
            assert candidate_pairs(low, high, method=method).pairs.tolist() == expected


@every_method
def test_a_range_longer_than_a_batch(method):
    low = np.zeros((18_000, 3))
    low[1:, 0] = np.arange(1.0, 18_000.0)
    high = low + 0.5
    high[0] = 1e5
    assert candidate_pairs(low, high, method=method).pairs.tolist() == [[0, j] for j in range(1, 18_000)]
    found = candidate_pairs(low[:1], high[:1], low[1:], high[1:], method=method).pairs
    assert found.tolist() == [[0, j] for j in range(17_999)]


@every_method
def test_the_margin_is_exact(method):
    """A gap is within the margin when the rounded difference of the corners is: never too few pairs, and the same
    ones for every method, near the origin and far away."""
    rng = np.random.default_rng(9)
    for place in (0.0, 1.0, 1e6, -1e6, 1e12):
        for margin in (0.1, 1.0, 1e-3, 1 / 3, 1e5):
            steps = rng.integers(0, 12, (120, 3)) * margin
            low = place + steps
            low += rng.integers(-1, 2, low.shape) * np.spacing(low)
            for high in (low, low + margin):
                found = candidate_pairs(low, high, margin=margin, method=method).pairs.tolist()
                assert found == brute_force((low, high), None, margin)
                found = candidate_pairs(low[:50], high[:50], low[50:], high[50:], margin=margin, method=method).pairs
                assert found.tolist() == brute_force((low[:50], high[:50]), (low[50:], high[50:]), margin)


@every_method
def test_the_largest_margin_finds_all(method):
    low = np.array([[-(2.0**1000), 0.0], [2.0**1000, 1.0], [0.0, 0.0]])
    found = candidate_pairs(low, low, margin=1.7e308, method=method).pairs
    assert found.tolist() == [[0, 1], [0, 2], [1, 2]]


@every_method
def test_a_set_against_itself_and_in_another_order(method):
    rng = np.random.default_rng(10)
    for turn in range(60):
        low, high = scene(rng, int(rng.integers(1, 200)), int(rng.choice([2, 3])))
        margin = 0.0
        if turn % 3:
            margin = float(rng.choice([0.1, 0.5, 1 / 3]))
            low = np.round(low / margin) * margin  # many gaps are the margin but for rounding
            high = low + margin * rng.integers(0, 3, low.shape)
        pairs = candidate_pairs(low, high, margin=margin, method=method).pairs
        both = np.concatenate([pairs, pairs[:, ::-1], np.repeat(np.arange(len(low))[:, None], 2, axis=1)])
        found = candidate_pairs(low, high, low, high, margin=margin, method=method).pairs
        assert found.tolist() == sorted(both.tolist())
        order = rng.permutation(len(low))
        turned = order[candidate_pairs(low[order], high[order], margin=margin, method=method).pairs]
        assert sorted(np.sort(turned, axis=1).tolist()) == pairs.tolist()


@every_method
def test_the_answer_is_read_only_and_the_input_is_left_alone(method):
    rng = np.random.default_rng(11)
    low, high = scene(rng, 50, 3)
    low, high = np.asfortranarray(low), high.astype(np.float32).astype(np.float64)
    high = np.maximum(low, high)
    before = low.copy(), high.copy()
    found = candidate_pairs(low, high, margin=0.25, method=method)
    assert np.array_equal(low, before[0])
    assert np.array_equal(high, before[1])
    assert not found.pairs.flags.writeable
    assert (
        candidate_pairs(low.tolist(), high.tolist(), margin=0.25, method=method).pairs.tolist() == found.pairs.tolist()
    )
    whole = np.arange(12).reshape(4, 3)
    assert candidate_pairs(whole, whole + 3, method=method).pairs.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_a_grid_is_given_up_when_the_boxes_crowd():
    """Whether they crowd everywhere or in one place, and progress never goes back."""
    rng = np.random.default_rng(12)
    spread = rng.uniform(0.0, 40.0, (8000, 3))
    everywhere = np.where(rng.random((8000, 1)) < 0.01, 20.0, 0.05)
    one_place = spread.copy()
    one_place[:2000] = 20.0 + rng.uniform(0.0, 1.0, (2000, 3))
    for center, half in ((spread, everywhere), (one_place, np.where(np.arange(8000) < 2000, 0.01, 0.5)[:, None])):
        low, high = center - half, center + half
        shares: list[float] = []
        found = candidate_pairs(low, high, progress=lambda share, shares=shares: shares.append(share) is None)
        assert found.method == "bvh"
        assert shares == sorted(shares)
        assert np.array_equal(found.pairs, candidate_pairs(low, high, method="bvh").pairs)
        assert np.array_equal(found.pairs, candidate_pairs(low, high, method="sweep").pairs)
        others = candidate_pairs(low[::3], high[::3], low, high)
        assert others.method == "bvh"
        assert np.array_equal(others.pairs, candidate_pairs(low[::3], high[::3], low, high, method="sweep").pairs)


def test_a_tree_takes_few_tests_wherever_the_boxes_are():
    """Also when rounding to a share of all the space would make most of them alike."""
    rng = np.random.default_rng(13)
    n = 5000
    center, half = rng.uniform(0.0, 2.0 * n ** (1 / 3), (n, 3)), rng.uniform(0.3, 0.7, (n, 3))
    for reach in (1.0, 1e6, 1e12):
        center[0] = reach
        found = candidate_pairs(center - half, center + half, method="bvh")
        assert found.tests < 60 * n
        assert np.array_equal(found.pairs, candidate_pairs(center - half, center + half, method="sweep").pairs)


@pytest.mark.parametrize(("dim", "most"), [(2, 9), (3, 15)])
def test_a_tree_of_many_boxes_follows_a_curve_that_does_not_jump(dim, most):
    rng = np.random.default_rng(15)
    low = rng.uniform(0.0, 1.0, (10_000, dim))
    high = low + rng.uniform(0.1, 0.7, low.shape) * len(low) ** (-1 / dim)
    assert candidate_pairs(low, high, method="bvh").tests < most * len(low)


def test_boxes_that_overlap_by_a_step_need_no_look_at_their_corners(monkeypatch):
    rng = np.random.default_rng(16)
    low = rng.uniform(0.0, 10.0, (3000, 3))
    looked = 0
    test = PairList._test

    def counted(self, i, j):
        nonlocal looked
        looked += len(i)
        test(self, i, j)

    monkeypatch.setattr(PairList, "_test", counted)
    found = candidate_pairs(low, low + 1.0, low + 0.5, low + 1.5, method="bvh").pairs
    assert len(found) > 50_000
    assert looked < 0.01 * len(found)


@pytest.mark.parametrize("flat", [1.0, 1e-9])
@pytest.mark.parametrize("dim", [2, 3])
@every_method
def test_a_stack_of_wide_plates_beside_a_tall_box_takes_few_tests(method, dim, flat):
    """Nearly all overlap along all axes but one, along which the tallest is as long as the stack."""
    rng = np.random.default_rng(15)
    n = {"grid": 500, "bitmap": 2000}.get(method, 8000)
    center = rng.uniform(0.0, 100.0, (n, dim))
    center[:, -1] = rng.permutation(n) / n * flat
    half = np.full(dim, 500.0)
    half[-1] = 1e-6 * flat
    low, high = np.vstack([center - half, np.full((1, dim), 2000.0)]), np.vstack([center + half, np.full(dim, 2001.0)])
    low[-1, -1], high[-1, -1] = 0.0, flat
    found = candidate_pairs(low, high, method=method)
    assert found.pairs.tolist() == []
    two = candidate_pairs(low[::2], high[::2], low, high, method=method)
    assert sorted(two.pairs.tolist()) == [[i, 2 * i] for i in range(n // 2 + 1)]
    if method != "grid":
        assert found.tests < 60 * n
        assert two.tests < 100 * n


def test_bitmaps_know_every_bit_of_every_word():
    """Of sets that end one before a word, with it and one after, and of ranges of one word, of two and of many."""
    rng = np.random.default_rng(18)
    for n, m in ((63, 129), (64, 64), (65, 1), (127, 128), (128, 65), (129, 63), (1000, 70)):
        for half in (0.0, 0.002, 0.05, 0.6):
            center = rng.uniform(0.0, 1.0, (n + m, 3))
            low, high = center - half, center + half
            a, b = (low[:n], high[:n]), (low[n:], high[n:])
            assert candidate_pairs(*a, method="bitmap").pairs.tolist() == brute_force(a, None, 0.0)
            assert candidate_pairs(*a, *b, method="bitmap").pairs.tolist() == brute_force(a, b, 0.0)


def test_bitmaps_are_for_hundreds_and_give_way_to_a_tree_where_boxes_crowd():
    rng = np.random.default_rng(19)
    center = rng.uniform(0.0, 10.0, (1000, 3))
    assert candidate_pairs(center - 0.5, center + 0.5).method == "bitmap"
    center[:-1] *= 1e-4
    found = candidate_pairs(center - 1e-6, center + 1e-6)
    assert found.method == "bvh"
    assert np.array_equal(found.pairs, candidate_pairs(center - 1e-6, center + 1e-6, method="sweep").pairs)


def test_a_tree_that_takes_too_many_tests_is_made_anew_with_space_stretched():
    """Boxes that are told apart only along an axis so short that all are rounded to one place."""
    rng = np.random.default_rng(16)
    n = 15_000
    center, half = rng.uniform(0.0, 100.0, (n, 3)), np.array([15.0, 15.0, 1e-13])
    center[:, 2] = rng.permutation(n) / n * 1e-6
    low, high = center - half, center + half
    shares: list[float] = []
    found = candidate_pairs(low, high, method="bvh", progress=shares.append)
    assert shares == sorted(shares)
    assert found.tests < 700 * n, "not 4,000"
    assert np.array_equal(found.pairs, candidate_pairs(low, high, method="sweep").pairs)
    others = candidate_pairs(low[::2], high[::2], low, high, method="bvh")
    assert others.tests < 1000 * n
    assert np.array_equal(others.pairs, candidate_pairs(low[::2], high[::2], low, high, method="sweep").pairs)


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


@pytest.mark.parametrize("seed", range(4))
def test_boxes_of_a_dense_scene_are_left_to_the_grid(seed):
    # Some 25 neighbours each.
    rng = np.random.default_rng(seed)
    center, half = rng.uniform(0.0, 1.1 * 5_000 ** (1 / 3), (5_000, 3)), rng.uniform(0.6, 1.1, (5_000, 3))
    found = candidate_pairs(center - half, center + half)
    assert found.method == "grid"
    assert 20 * 5_000 < 2 * len(found.pairs) < 30 * 5_000
    assert found.tests < 50 * 5_000


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
    assert peak < 1.5 * found.pairs.nbytes + 3e6


def test_memory_grows_with_the_boxes_only():
    rng = np.random.default_rng(14)
    n = 100_000
    center = rng.uniform(0.0, 4.0 * n ** (1 / 3), (n, 3))
    for method in ("auto", "grid", "bvh"):
        tracemalloc.start()
        try:
            candidate_pairs(center, center + 1.0, method=method)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 40 * n * 8 + 8e6, method


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
        (r"^method must be one of auto, sweep", {"method": "guess"}),
    ],
)
def test_wrong_arguments_are_named(words, change):
    arguments = {"low": np.zeros((1, 3)), "high": np.ones((1, 3))} | change
    with pytest.raises(ValueError, match=words):
        candidate_pairs(arguments.pop("low"), arguments.pop("high"), **arguments)


KINDS = [("aabb", None, 3), ("aabb", None, 2), ("kdop", 8, 2), ("kdop", 14, 3), ("kdop", 26, 3), ("sphere", None, 3)]
KINDS += [("sphere", None, 2), ("obb", None, 3), ("obb", None, 2)]


@pytest.mark.parametrize(("kind", "k", "dim"), KINDS)
def test_overlapping_volumes_of_every_kind_as_testing_all_pairs(kind, k, dim):
    rng = np.random.default_rng(17)
    for _ in range(10):
        count, few = (int(number) for number in rng.integers(0, 60, 2))
        points = (rng.normal(size=(count, 1, dim)) * 2.0 + rng.normal(size=(count, 4, dim)) * 0.5).reshape(-1, dim)
        volumes = bounding_volumes(kind, points, np.arange(0, len(points), 4), k=k)
        other = bounding_volumes(kind, points[: 4 * min(few, count)] + 0.3, np.arange(0, 4 * min(few, count), 4), k=k)
        i, j = np.nonzero(np.tri(count, k=-1, dtype=bool).T)
        met = volumes.take(i).overlap(volumes.take(j))
        assert overlapping_pairs(volumes).pairs.tolist() == np.stack([i[met], j[met]], axis=1).tolist()
        i, j = np.indices((count, len(other))).reshape(2, -1)
        for margin in (0.0, 0.4):
            shares: list[float] = []
            found = overlapping_pairs(volumes, other, margin=margin, progress=shares.append)
            met = volumes.grown(margin).take(i).overlap(other.take(j))
            assert found.pairs.tolist() == np.stack([i[met], j[met]], axis=1).tolist()
            assert shares == sorted(shares)
            assert (shares[0], shares[-1]) == (0.0, 1.0)
    with pytest.raises(Cancelled):
        overlapping_pairs(volumes, progress=lambda share: share < 0.1)


def test_what_overlapping_pairs_cannot_take_is_named():
    boxes, balls = bounding_volumes("aabb", np.eye(3)), bounding_volumes("sphere", np.eye(3))
    assert overlapping_pairs(boxes, method="grid").method == "grid"
    for words, arguments in (
        (r"^volumes must be bounding volumes, not NoneType", {"volumes": None}),
        (r"^other must be bounding volumes, not list", {"other": []}),
        (r"^other must be of the same kind and dimension", {"other": balls}),
        (r"^other must be of the same kind and dimension", {"other": bounding_volumes("aabb", np.eye(3)[:, :2])}),
        (r"^method must be one of auto, sweep", {"method": "guess"}),
        (r'^method must be "auto" or "bvh" but for axis-aligned boxes', {"volumes": balls, "method": "grid"}),
        (r"^margin must be a finite number", {"margin": -1.0}),
        (r"^margin must be a finite number", {"volumes": balls, "margin": None}),
    ):
        with pytest.raises(ValueError, match=words):
            overlapping_pairs(**({"volumes": boxes} | arguments))
