# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of every build over volumes of every kind: valid, and they find what testing all pairs finds."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contact_lens.core.bounding.bounding_sphere import Spheres
from contact_lens.core.bounding.bounding_volumes import bounding_volumes
from contact_lens.core.bounding.kdop import KDops, kdop_directions
from contact_lens.core.bounding.obb import OrientedBoxes
from contact_lens.core.bounding.volumes import Volumes
from contact_lens.core.broad_phase.candidate_pairs import candidate_pairs
from contact_lens.core.hierarchy.bvh import METHODS, REBUILD_COST, SPLITS, Bvh
from contact_lens.core.hierarchy.tree_pairs import VolumeTests
from contact_lens.core.progress import Cancelled
from contact_lens.core.shapes import hilbert_curve
from contact_lens.core.shapes.hilbert_curve import curve_order
from contact_lens.core.tolerance import EPS

from ..assertions import assert_progress, peak_memory
from ..generators import scattered_boxes

BUILDS = [(method, "sah") for method in METHODS] + [("top-down", split) for split in SPLITS if split != "sah"]
KINDS = [("aabb", None), ("kdop", 14), ("kdop", 26), ("sphere", None), ("obb", None)]
every_build = pytest.mark.parametrize(("method", "split"), BUILDS)
every_kind = pytest.mark.parametrize(("kind", "k"), KINDS)


def aabbs(low: np.ndarray, high: np.ndarray) -> KDops:
    """Axis-aligned boxes from their lowest and highest corners (n, dim)."""
    dim = low.shape[1]
    return KDops(kdop_directions(2 * dim, dim), low, high)


def boxes(rng: np.random.Generator, count: int, dim: int = 3) -> KDops:
    """Boxes of a random scene."""
    return aabbs(*scattered_boxes(rng, count, dim))


def triangles(
    rng: np.random.Generator, count: int, kind: str, k: int | None, dim: int = 3
) -> tuple[Volumes, np.ndarray]:
    points = (rng.normal(size=(count, 1, dim)) * 2.0 + rng.normal(size=(count, 3, dim))).reshape(-1, dim)
    return bounding_volumes(kind, points, np.arange(0, len(points), 3), k=k), points


def all_pairs(a: Volumes, b: Volumes | None, margin: float = 0.0) -> np.ndarray:
    """(k, 2) by brute force."""
    other = a if b is None else b
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(len(a)), np.arange(len(other)), indexing="ij"))
    if b is None:
        i, j = i[i < j], j[i < j]
    if isinstance(a, KDops) and isinstance(other, KDops):
        apart = np.maximum(a.low[i] - other.high[j], other.low[j] - a.high[i]).T
        wide = margin * np.sqrt((a.directions**2).sum(axis=1))[:, None]
        met = (apart <= wide * np.where(wide == margin, 1.0, 1.0 + 1e-15)).all(axis=0)
    else:
        met = a.inflated(margin).take(i).overlaps(other.take(j))
    return np.stack([i[met], j[met]], axis=1)


def assert_inside(inner: Volumes, outer: Volumes) -> None:
    """Element by element, but for rounding; of k-DOPs to the last bit."""
    if isinstance(inner, KDops) and isinstance(outer, KDops):
        assert (outer.low <= inner.low).all()
        assert (inner.high <= outer.high).all()
    elif isinstance(inner, Spheres) and isinstance(outer, Spheres):
        distance = np.linalg.norm(inner.center - outer.center, axis=1)
        assert (distance + inner.radius <= outer.radius * (1.0 + 1e-14) + 1e-14).all()
    else:
        assert isinstance(inner, OrientedBoxes)
        assert isinstance(outer, OrientedBoxes)
        turned = np.abs(np.einsum("nij,nkj->nik", outer.axes, inner.axes))
        away = np.abs(np.einsum("nij,nj->ni", outer.axes, inner.center - outer.center))
        assert (away + np.einsum("nik,nk->ni", turned, inner.half) <= outer.half + 1e-13).all()


def assert_valid(tree: Bvh, volumes: Volumes, leaf_size: int = 1) -> None:
    """Every item once, children after and inside their parents, ranges that fit."""
    count = len(volumes)
    assert sorted(tree.items.tolist()) == list(range(count))
    if count == 0:
        assert len(tree) == 0
        return
    assert len(tree) == 2 * tree.leaves - 1 == len(tree.volumes)
    assert tree.leaf_size <= leaf_size
    assert tree.leaves >= count / leaf_size
    assert (tree.first[0], tree.count[0], tree.level[0]) == (0, count, 0)
    inner = np.flatnonzero(~tree.is_leaf)
    left, right = tree.left[inner], tree.right[inner]
    assert [0, *np.stack([left, right], axis=1).ravel().tolist()] == list(range(len(tree))), "in the parents' order"
    assert (tree.level[left] == tree.level[inner] + 1).all()
    assert (tree.level[right] == tree.level[inner] + 1).all()
    assert (tree.first[left] == tree.first[inner]).all()
    assert (tree.first[right] == tree.first[inner] + tree.count[left]).all()
    assert (tree.count[left] + tree.count[right] == tree.count[inner]).all()
    assert tree.depth == int(tree.level.max()) + 1 >= (tree.leaves - 1).bit_length() + 1
    assert type(tree.volumes) is type(tree.item_volumes) is type(volumes)
    leaves = np.flatnonzero(tree.is_leaf)
    assert_inside(tree.volumes.take(left), tree.volumes.take(inner))
    assert_inside(tree.volumes.take(left + 1), tree.volumes.take(inner))
    assert_inside(volumes.take(tree.items_below(leaves)), tree.volumes.take(np.repeat(leaves, tree.count[leaves])))
    if isinstance(volumes, KDops):
        assert isinstance(tree.volumes, KDops)
        low, high = tree.volumes.low, tree.volumes.high
        assert (low[inner] == np.minimum(low[left], low[right])).all(), "as small as can be"
        assert (high[inner] == np.maximum(high[left], high[right])).all()
        starts = np.cumsum(tree.count[leaves]) - tree.count[leaves]
        below = volumes.take(tree.items_below(leaves)).reduce_groups(starts)
        assert_inside(tree.volumes.take(leaves), below)


def assert_right(tree_a: Bvh, tree_b: Bvh | None, margin: float = 0.0) -> None:
    """The pairs that testing all of them finds."""
    wanted = all_pairs(tree_a.item_volumes, None if tree_b is None else tree_b.item_volumes, margin)
    assert np.array_equal(tree_a.overlapping_pairs(tree_b, margin).pairs, wanted)


@pytest.mark.fast_cases(3)
@every_build
def test_every_build_finds_the_pairs_that_testing_all_finds(method, split):
    rng = np.random.default_rng(7)
    for scene in range(60):
        dim = 2 if scene % 4 == 0 else 3
        a, b = boxes(rng, int(rng.integers(0, 40)), dim), boxes(rng, int(rng.integers(0, 40)), dim)
        size, margin = int(rng.choice([1, 1, 2, 5])), float(rng.choice([0.0, 0.25, 1e-7]))
        tree = Bvh.build(a, method, split, size)
        assert_valid(tree, a, size)
        assert_right(tree, Bvh.build(b, *BUILDS[scene % len(BUILDS)], int(rng.integers(1, 9))), margin)
        assert_right(tree, None, margin)


@pytest.mark.fast_cases(2)
@every_kind
def test_touching_volumes_of_every_kind_are_found_whatever_the_tree(kind, k):
    """Whether two items that just touch overlap is a matter of rounding: that of the items, not of the nodes."""
    rng = np.random.default_rng(71)
    for scene in range(12):
        centers = rng.integers(-3, 4, (30, 1, 3)) * (0.1 if scene % 2 else 1e5) / 3.0
        points = (
            centers + np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]) * (0.05 if scene % 2 else 0.5e5) / 3.0
        )
        volumes = bounding_volumes(kind, points.reshape(-1, 3), np.arange(0, 120, 4), k=k)
        margin = float(rng.choice([0.0, 0.1 / 3.0, 1e5 / 3.0]))
        for method in METHODS:
            tree = Bvh.build(volumes, method, leaf_size=1 + scene % 3)
            assert_right(tree, None, margin)
            assert_right(tree, tree, margin)


@pytest.mark.fast_cases(2)
@every_kind
def test_trees_of_every_kind_of_volume_are_built_refitted_and_grow(kind, k):
    for method, split in BUILDS:
        assert_built_refitted_and_grown(kind, k, method, split)


def assert_built_refitted_and_grown(kind, k, method, split):
    rng = np.random.default_rng(3)
    (a, points), (b, _) = triangles(rng, 60, kind, k), triangles(rng, 45, kind, k)
    order, both = rng.permutation(len(a)), type(a).concatenate([a, b])
    for size in (1, 2, 5):
        tree = Bvh.build(a, method, split, size)
        assert_valid(tree, a, size)
        assert_valid(tree.refit(a.take(order)), a.take(order), size)
        larger = tree.insert(b)
        assert_valid(larger, both, size)
        assert_right(larger, None)
    nodes = np.repeat(np.arange(len(tree)), tree.count)
    corners = points.reshape(-1, 3, 3)[tree.items_below(np.arange(len(tree)))]
    assert tree.volumes.take(np.repeat(nodes, 3)).contains(corners.reshape(-1, 3)).all()
    assert_right(tree, Bvh.build(b, method, split))
    empty = Bvh.build(a.take([]))
    assert_valid(empty.insert(a), a)
    assert_right(empty.insert(a.take([])).insert(a), None)


@pytest.mark.fast_cases(3)
@every_build
def test_a_refitted_tree_is_right_about_items_that_moved(method, split):
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(60, 3)) * 3.0
    a = aabbs(centers - 0.25, centers + 0.25)
    tree = Bvh.build(a, method, split)
    at_first = tree.cost
    for _ in range(12):
        step = rng.normal(size=(60, 3)) * 0.5
        a = KDops(a.directions, a.low + step, a.high + step)
        tree = tree.refit(a)
        assert_valid(tree, a)
        assert_right(tree, None)
    assert tree.cost > at_first, "moving apart makes the old order worse"
    assert Bvh.build(a, method, split).cost < tree.cost


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_insertions_and_refits_in_turns_keep_the_tree_valid(dim, count):
    rng = np.random.default_rng(8)
    items = boxes(rng, 5, dim)
    tree = Bvh.build(items, leaf_size=2)
    while len(items) < count:
        more = boxes(rng, int(rng.integers(0, count // 10)), dim)
        items = KDops.concatenate([items, more])
        tree = tree.insert(more)
        assert_valid(tree, items, 2)
        step = rng.normal(size=(len(items), dim)) * 0.1
        items = KDops(items.directions, items.low + step, items.high + step)
        tree = tree.refit(items)
        assert_valid(tree, items, 2)
        assert_right(tree, None)


def test_statistics_of_a_tree_made_by_hand():
    """Four unit boxes in a row, two and two together: three levels, seven nodes, no overlap but that of the root."""
    low = np.array([[x, 0.0, 0.0] for x in (0.0, 2.0, 10.0, 12.0)])
    tree = Bvh.build(aabbs(low, low + 1.0), "top-down", "middle")
    assert (len(tree), tree.depth, tree.leaves, tree.balance) == (7, 3, 4, 1.0)
    assert tree.volumes.low.tolist()[:3] == [[0, 0, 0], [0, 0, 0], [10, 0, 0]]
    assert tree.volumes.high.tolist()[:3] == [[13, 1, 1], [3, 1, 1], [13, 1, 1]]
    assert tree.cost == pytest.approx((54 + 2 * 14 + 4 * 6) / 54)
    assert tree.at_level(1).tolist() == [1, 2]
    result = tree.overlapping_pairs()
    assert result.pairs.tolist() == []
    assert (result.tests, result.visited, result.possible) == (3, 0, 6), "the two halves, then the boxes in each"
    assert tree.items_below(np.array([2, 1])).tolist() == [2, 3, 0, 1]
    beside = Bvh.build(
        aabbs(np.array([[2.5, 0.0, 0.0], [50.0, 0.0, 0.0]]), np.array([[3.5, 1.0, 1.0], [51.0, 1.0, 1.0]]))
    )
    result = tree.overlapping_pairs(beside)
    assert result.pairs.tolist() == [[1, 0]]
    # The roots; 0-3 and 10-13 against either box; then 0-1 and 2-3 against the box that 0-3 met.
    assert (result.tests, result.visited, result.possible) == (1 + 4 + 2, 2, 8)
    pairs = Bvh.build(aabbs(low, low + 1.0), leaf_size=2)
    assert (len(pairs), pairs.leaves, pairs.leaf_size, pairs.depth) == (3, 2, 2, 2)
    assert pairs.overlapping_pairs().tests == 3


@pytest.mark.parametrize("scene", ["row", "nested", "squares", "scattered", "mesh", "alike"])
def test_trees_are_about_as_shallow_as_can_be(scene):
    """In scenes that grow evenly; linear trees and those of medians always are."""
    n = 1000
    low, number = np.zeros((n, 3)), np.arange(n)
    if scene == "scattered":
        low = np.random.default_rng(21).uniform(0.0, 30.0, (n, 3))
    elif scene == "mesh":
        low[:, 0], low[:, 1] = number % 30, number // 30
    elif scene in ("row", "squares"):
        low[:, 0] = number ** (1.0 if scene == "row" else 2.0)
    half = 0.5 * (number[:, None] + 1.0 if scene == "nested" else np.ones((n, 1)))
    for (method, split), size in product(BUILDS, (1, 4)):
        if method == "insertion":
            continue
        tree = Bvh.build(aabbs(low - half, low + half), method, split, size)
        least = (tree.leaves - 1).bit_length() + 1
        most = least if method == "linear" else 2.5 * least
        if (method, split) == ("top-down", "median"):
            most = least = (n - 1).bit_length() + 1 - (size.bit_length() - 1)
        assert least <= tree.depth <= most


def test_a_chain_is_as_deep_as_it_is_long():
    sizes = 2.0 ** np.arange(12.0)
    low = np.zeros((12, 3))
    low[:, 0] = 3.0 * sizes
    tree = Bvh.build(aabbs(low, low + sizes[:, None]), "top-down", "middle")
    assert tree.depth >= 8
    assert tree.balance < 0.7
    assert Bvh.build(aabbs(low, low + sizes[:, None]), "top-down", "median").balance == 1.0


@every_build
def test_nothing_one_and_all_alike(method, split):
    empty = Bvh.build(THREE.take([]), method, split)
    assert (len(empty), empty.depth, empty.leaves, empty.cost) == (0, 0, 0, 0.0)
    one = Bvh.build(THREE.take([0]), method, split)
    assert (len(one), one.depth, one.balance) == (1, 1, 1.0)
    assert empty.overlapping_pairs(one).pairs.shape == one.overlapping_pairs().pairs.shape == (0, 2)
    assert one.overlapping_pairs(one).pairs.tolist() == [[0, 0]]
    alike = aabbs(np.zeros((200, 3)), np.ones((200, 3)))
    tree = Bvh.build(alike, method, split)
    assert_valid(tree, alike)
    assert len(tree.overlapping_pairs().pairs) == 200 * 199 // 2
    assert tree.depth <= 12


def test_memory_is_bounded_besides_what_is_found():
    """50,000 boxes that all meet 40 others: half as much again as the answer takes, and no more."""
    for size in (1, 7):
        many = Bvh.build(aabbs(np.zeros((50_000, 3)), np.ones((50_000, 3))), leaf_size=size)
        few = Bvh.build(aabbs(np.zeros((40, 3)), np.ones((40, 3))))
        for a, b in ((many, few), (few, many)):
            result, peak = peak_memory(lambda a=a, b=b: a.overlapping_pairs(b))
            assert len(result.pairs) == 2_000_000
            assert peak < 1.5 * result.pairs.nbytes + 4e6
    alike = Bvh.build(aabbs(np.zeros((1500, 3)), np.ones((1500, 3))))
    result, peak = peak_memory(lambda: alike.overlapping_pairs())
    assert len(result.pairs) == 1500 * 1499 // 2
    assert peak < 1.5 * result.pairs.nbytes + 4e6


@pytest.mark.parametrize("itself", [False, True])
@pytest.mark.parametrize("leaf_size", [1, 3])
@every_kind
def test_the_recorded_tests_of_a_descent_are_those_it_made(kind, k, leaf_size, itself):
    rng = np.random.default_rng(41)
    a = Bvh.build(triangles(rng, 90, kind, k)[0], leaf_size=leaf_size)
    b = a if itself else Bvh.build(triangles(rng, 70, kind, k)[0], leaf_size=leaf_size)
    recorded: list[VolumeTests] = []
    found = a.overlapping_pairs(None if itself else b, tests=recorded)
    assert sum(len(each.a) for each in recorded) == found.tests
    assert np.array_equal(a.overlapping_pairs(None if itself else b).pairs, found.pairs)
    kept = []
    for each in recorded:
        first, second = (tree.item_volumes if each.are_items else tree.volumes for tree in (a, b))
        overlap = first.take(each.a).overlaps(second.take(each.b))
        # Nodes of boxes and spheres are tested a hair wider.
        assert np.array_equal(each.overlap, overlap) or (kind in ("sphere", "obb") and not each.are_items)
        assert not (overlap & ~each.overlap).any()
        i, j = each.a[each.overlap], each.b[each.overlap]
        if each.are_items:
            kept.append(np.stack([i, j], axis=1))
        elif isinstance(a.volumes, KDops) and leaf_size == 1:  # leaves are their items
            i, j = (nodes[a.is_leaf[i] & b.is_leaf[j]] for nodes in (i, j))
            kept.append(np.stack([a.items[a.first[i]], b.items[b.first[j]]], axis=1))
    left = np.concatenate(kept)
    if itself:
        left = np.sort(left, axis=1)
    assert np.array_equal(left[np.lexsort(left.T[::-1])], found.pairs)


def test_a_descent_that_finds_a_billion_pairs_keeps_only_those_found_so_far():
    tree = Bvh.build(aabbs(np.zeros((50_000, 3)), np.ones((50_000, 3))))
    calls = iter(range(100))

    def run() -> None:
        with pytest.raises(Cancelled):
            tree.overlapping_pairs(progress=lambda fraction: next(calls, None) is not None)

    _, peak = peak_memory(run)
    assert peak < 100 * 4 * 65536 * 8 / 2 + 30e6, "half of the steps find pairs, eight bytes each"


def calls_with_progress():
    """Everything that reports progress."""
    a, rng = boxes(np.random.default_rng(6), 1000), np.random.default_rng(1)
    tree, (spheres, _) = Bvh.build(a, leaf_size=2), triangles(rng, 300, "sphere", None)
    corners = np.arange(200_000.0)[:, None] * np.ones(3)
    large = Bvh.build(aabbs(corners, corners + 1.0))
    for method, split in BUILDS:
        yield lambda report, method=method, split=split: Bvh.build(a, method, split, progress=report)
    yield lambda report: Bvh.build(spheres, progress=report)
    yield lambda report: tree.refit(a, progress=report)
    yield lambda report: tree.insert(a, progress=report)
    yield lambda report: large.insert(a.take([0, 1]), report)
    yield lambda report: tree.overlapping_pairs(progress=report)
    yield lambda report: tree.overlapping_pairs(tree, progress=report)
    yield lambda report: candidate_pairs(a.low, a.high, progress=report)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("call", list(calls_with_progress()))
def test_progress_rises_to_1_and_cancels(call):
    assert_progress(call, start=0.2)


@pytest.mark.parametrize(("dim", "side"), [(2, 2), (2, 64), (3, 2), (3, 16)])
def test_the_curve_goes_from_each_cell_to_one_beside_it(dim, side):
    cells = np.stack(np.meshgrid(*[np.arange(side)] * dim)).reshape(dim, -1).astype(np.float64)
    along = cells[:, curve_order(cells)]
    assert (np.abs(np.diff(along, axis=1)).sum(axis=0) == 1.0).all()


@pytest.mark.parametrize("dim", [2, 3])
def test_more_items_than_fit_a_sorted_number_are_in_the_same_order(monkeypatch, dim):
    points = np.random.default_rng(11).integers(0, 200, (dim, 3000)).astype(np.float64)
    order = curve_order(points)
    monkeypatch.setattr(hilbert_curve, "_NUMBER_BITS", 8)
    assert np.array_equal(order, curve_order(points))


def test_a_far_point_does_not_throw_a_cluster_together():
    rng = np.random.default_rng(12)
    points = rng.uniform(size=(5000, 3)) * 1e-6
    alone = curve_order(points.T)
    with_far = curve_order(np.concatenate([points, [[1e6, 1e6, 1e6]]]).T)
    assert sorted(with_far.tolist()) == list(range(5001))
    steps = [np.linalg.norm(np.diff(points[order[order < 5000]], axis=0), axis=1).sum() for order in (alone, with_far)]
    assert steps[1] < 1.5 * steps[0]
    assert curve_order(np.ones((3, 50))).tolist() == list(range(50)), "equal points keep their order"
    for size in range(1, 40):
        levels = 2.0 ** -np.arange(12.0 * size, step=12.0)
        assert sorted(curve_order(np.stack([levels, levels, levels])).tolist()) == list(range(size))


def test_coordinates_whose_squares_overflow_or_vanish():
    rng = np.random.default_rng(13)
    a = boxes(rng, 200)
    pairs = Bvh.build(a).overlapping_pairs().pairs.tolist()
    for scale in (2.0**800, 2.0**-600):
        scaled = KDops(a.directions, a.low * scale, a.high * scale)
        for method, split in BUILDS:
            tree = Bvh.build(scaled, method, split)
            assert_valid(tree, scaled)
            assert tree.overlapping_pairs().pairs.tolist() == pairs
            assert tree.items.tolist() == Bvh.build(a, method, split).items.tolist(), "the same tree at every scale"


@pytest.mark.fast_cases(2)
@every_build
def test_a_crowd_beside_one_item_far_away_whatever_the_scales(method, split):
    for step, far in ((1e-9, 1e300), (1e-310, 1.0), (5e-324, 1.0), (1e-4, 1e301), (1e-9, 1e-3), (1e280, 2.0**1000)):
        low = np.zeros((31, 3))
        low[:, 0] = np.concatenate([np.arange(30) * step, [far]])
        for size in (0.0, step, 3.0 * step):
            volumes = aabbs(low, low + size)
            tree = Bvh.build(volumes, method, split)
            assert_valid(tree, volumes)
            assert_right(tree, None)


@pytest.mark.parametrize(("kind", "k"), [("aabb", None), ("kdop", 14), ("kdop", 26)])
def test_pairs_within_a_margin_do_not_depend_on_the_order_of_items_or_trees(kind, k):
    """Also where a gap is the margin but for rounding."""
    rng = np.random.default_rng(16)
    for scene in range(40):
        low = rng.integers(0, 12, (60, 3)) * 0.1 + (1e6 if scene % 4 == 3 else 0.0)
        points = np.stack([low, low + 0.1], axis=1).reshape(-1, 3)
        a = bounding_volumes(kind, points, np.arange(0, 120, 2), k=k)
        order = rng.permutation(60)
        size = 1 + scene % 3
        tree, turned = Bvh.build(a, leaf_size=size), Bvh.build(a.take(order), "top-down")
        pairs = tree.overlapping_pairs(margin=0.1).pairs
        assert_right(tree, None, 0.1)
        assert sorted(np.sort(order[turned.overlapping_pairs(margin=0.1).pairs], axis=1).tolist()) == pairs.tolist()
        b = Bvh.build(a.take(np.arange(25)), "bottom-up", leaf_size=size)
        one, other = tree.overlapping_pairs(b, margin=0.1).pairs, b.overlapping_pairs(tree, margin=0.1).pairs
        assert sorted(other[:, ::-1].tolist()) == one.tolist()


@every_kind
def test_with_the_largest_margins_all_pairs_are_found(kind, k):
    rng = np.random.default_rng(18)
    for scale in (1.0, 1e5, 2.0**990):
        points = rng.uniform(-1.0, 1.0, (40, 3)) * scale
        a = bounding_volumes(kind, points, np.arange(0, 40, 4), k=k)
        for margin in (4.0 * scale, 1e300 * min(scale, 10.0), 1.7e308):
            assert len(Bvh.build(a, leaf_size=2).overlapping_pairs(margin=margin).pairs) == 45
            assert len(Bvh.build(a).overlapping_pairs(Bvh.build(a, "top-down"), margin=margin).pairs) == 100


@pytest.mark.fast_cases(2)
@every_build
@settings(max_examples=3)
@given(tilt=st.floats(-5.0, -2.0).map(lambda exponent: 10.0**exponent))
def test_oriented_boxes_that_truly_meet_at_nearly_parallel_edges_are_never_lost(tilt, method, split):
    """Apart by rounding along such edges they may be lost, for the nodes have others, but nothing else is found."""
    s, half = np.sqrt(0.5), 0.1
    roof = np.array([[1.0, 0.0, 0.0], [0.0, s, s], [0.0, -s, s]])
    turned = roof @ np.array([[np.cos(tilt), np.sin(tilt), 0.0], [-np.sin(tilt), np.cos(tilt), 0.0], [0.0, 0.0, 1.0]])
    for steps in (-1e6, -64.0, 64.0, 1e3, 1e4, 1e5, 1e6):
        below = np.array([[0.0, y, -half / s] for y in (-1.0, 0.0, 1.0)])
        above = np.array([[0.0, y, half / s + steps * EPS] for y in (-1.5, 0.0, 1.5)])
        sides = np.tile([0.5, half, half], (3, 1))
        a, b = (
            OrientedBoxes(below, np.repeat(roof[None], 3, 0), sides),
            OrientedBoxes(above, np.repeat(turned[None], 3, 0), sides.copy()),
        )
        found = Bvh.build(a, method, split).overlapping_pairs(Bvh.build(b, method, split)).pairs.tolist()
        assert [tuple(pair) for pair in found] in ([(1, 1)], []), "the ridges in the middle, and no others"
        assert {tuple(pair) for pair in found} <= {tuple(pair) for pair in all_pairs(a, b).tolist()}, (
            "all of them pass their own test"
        )
        if steps < 0.0:
            assert found == [[1, 1]]


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("method", "split"), [build for build in BUILDS if build[0] != "insertion"])
def test_a_stack_of_wide_plates_takes_few_tests(method, split, dim):
    """The order along axes on which nearly all overlap says nothing."""
    rng = np.random.default_rng(20)
    n = 4000
    center = rng.uniform(0.0, 100.0, (n, dim))
    center[:, -1] = rng.permutation(n) / n
    half = np.full(dim, 500.0)
    half[-1] = 1e-6
    low, high = np.vstack([center - half, np.full((1, dim), 2000.0)]), np.vstack([center + half, np.full(dim, 2001.0)])
    tree = Bvh.build(aabbs(low, high), method, split)
    assert_valid(tree, tree.item_volumes)
    found = tree.overlapping_pairs()
    assert found.pairs.tolist() == []
    assert found.tests < 150 * n


@pytest.mark.parametrize("positions", ["squares", "powers", "nested"])
def test_bottom_up_takes_few_steps_where_each_is_nearest_to_the_one_before(positions):
    count = {"squares": 20_000, "powers": 900, "nested": 5000}[positions]
    number = np.arange(count, dtype=np.float64)
    along = {"squares": number**2, "powers": 1.01**number, "nested": np.zeros(count)}[positions]
    half = number if positions == "nested" else np.full(count, 1e-3)
    low = np.stack([along, np.zeros(count), np.zeros(count)], axis=1) - half[:, None]
    steps: list[float] = []
    tree = Bvh.build(aabbs(low, low + 2.0 * half[:, None]), "bottom-up", progress=steps.append)
    assert len(steps) < 120
    assert tree.depth < 120


def test_trees_of_scattered_boxes_are_about_as_good_as_by_the_surface_area_heuristic():
    rng = np.random.default_rng(14)
    centers = rng.uniform(0.0, 20.0, (2000, 3))
    volumes = aabbs(centers - 0.4, centers + 0.4)
    best = Bvh.build(volumes, "top-down", "sah").cost
    for method, split in BUILDS:
        assert Bvh.build(volumes, method, split).cost < 1.5 * best, (method, split)


def test_neighbours_that_follow_each_other_make_no_bad_tree_by_insertion():
    side = 40
    corners = np.stack(np.meshgrid(np.arange(side), np.arange(side), [0.0]), axis=-1).reshape(-1, 3)
    volumes = aabbs(corners, corners + 1.0)
    tree = Bvh.build(volumes, "insertion")
    assert tree.cost < 1.5 * Bvh.build(volumes, "top-down").cost
    assert tree.depth < 3 * np.log2(side**2)


def test_a_refitted_tree_that_costs_too_much_needs_more_tests_than_a_new_one():
    rng = np.random.default_rng(15)
    centers = rng.uniform(0.0, 20.0, (2000, 3))
    tree = Bvh.build(aabbs(centers - 0.3, centers + 0.3))
    at_first = tree.cost
    while tree.cost < REBUILD_COST * at_first:
        centers = centers + rng.normal(size=centers.shape) * 0.3
        tree = tree.refit(aabbs(centers - 0.3, centers + 0.3))
    new = Bvh.build(tree.item_volumes)
    assert tree.overlapping_pairs().pairs.tolist() == new.overlapping_pairs().pairs.tolist()
    assert tree.overlapping_pairs().tests > 1.4 * new.overlapping_pairs().tests


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("scene", ["scattered", "in a row", "in a row without width", "in a plane"])
@pytest.mark.parametrize(("kind", "k"), KINDS[:3])
@settings(max_examples=2)
@given(exponent=st.floats(-300.0, 298.0))
@example(exponent=-300.0)
@example(exponent=298.0)
def test_the_cost_shows_when_to_build_again_at_every_scale_and_in_every_dimension(exponent, scene, kind, k):
    scale = 10.0**exponent
    rng = np.random.default_rng(19)
    low = rng.uniform(0.0, 20.0, (300, 3))
    size = np.array([0.5, 0.5, 0.5])
    if scene.startswith("in a row"):
        low[:, 1:] = 0.0
        size = np.array([0.5, 0.0, 0.0]) if scene.endswith("width") else size
    elif scene == "in a plane":
        low[:, 1], size[1] = 3.0, 0.0

    def volumes(low: np.ndarray, scale: float) -> Volumes:
        points = np.stack([low, low + size], axis=1).reshape(-1, 3) * scale
        return bounding_volumes(kind, points, np.arange(0, len(points), 2), k=k)

    tree, plain = Bvh.build(volumes(low, scale)), Bvh.build(volumes(low, 1.0))
    shuffled = volumes(low[rng.permutation(300)], scale)
    assert 1.0 < tree.cost < 100.0
    assert tree.cost == pytest.approx(plain.cost, rel=1e-6)
    assert tree.refit(shuffled).cost > REBUILD_COST * tree.cost


def test_the_cost_of_a_tree_whose_root_is_a_point_is_the_number_of_its_nodes():
    assert Bvh.build(aabbs(np.ones((5, 3)), np.ones((5, 3)))).cost == 9.0


THREE = aabbs(np.zeros((3, 3)), np.ones((3, 3)))
TREE = Bvh.build(THREE)
OTHERS = (
    bounding_volumes("sphere", np.eye(3), [0, 1, 2]),
    bounding_volumes("kdop", np.eye(3), [0, 1, 2], k=14),
    bounding_volumes("aabb", np.eye(3)[:, :2], [0, 1, 2]),
)


@pytest.mark.parametrize(
    ("call", "values", "words"),
    [
        (Bvh.build, [np.zeros((3, 3))], "^volumes must be bounding volumes, not ndarray"),
        (lambda value: Bvh.build(THREE, value), ["sideways"], "^method must be one of linear, top-down"),
        (lambda value: Bvh.build(THREE, "top-down", value), ["somewhere"], "^split must be one of sah, median"),
        (lambda value: Bvh.build(THREE, leaf_size=value), [0, -1, 1.5, True, "2"], "^leaf_size must be a whole number"),
        (TREE.refit, [THREE.take([0, 1])], "^volumes: the tree has 3 items, but there are 2"),
        (TREE.refit, OTHERS, "^volumes must be of the same kind and dimension"),
        (TREE.insert, OTHERS, "^volumes must be of the same kind and dimension"),
        (TREE.refit, [np.zeros((3, 3))], "^volumes must be bounding volumes"),
        (TREE.insert, [np.zeros((3, 3))], "^volumes must be bounding volumes"),
        (TREE.at_level, [None, 1.0, -1, True, "1"], "^level must be a whole number from 0 on"),
        (TREE.overlapping_pairs, [THREE], "^other must be a Bvh, as Bvh.build returns it, not KDops"),
        (TREE.overlapping_pairs, [Bvh.build(other) for other in OTHERS], "^other must have volumes of the same kind"),
        (lambda value: TREE.overlapping_pairs(margin=value), [-1.0], "^margin must be a finite number"),
        *(
            (
                call,
                [aabbs(np.array([[0.0, 0, 0], [0, -number, 0], [0, 0, 0]]), np.ones((3, 3)))],
                "^volumes: all must be",
            )
            for call in (Bvh.build, TREE.refit)
            for number in (np.nan, np.inf)
        ),
    ],
)
def test_arguments_that_are_not_valid_are_refused_by_name(call, values, words):
    for value in values:
        with pytest.raises(ValueError, match=words):
            call(value)


ORDERS = ("row", "nested", "nested, largest first", "growing steps", "shrinking steps", "squares", "clusters", "alike")
every_order = pytest.mark.parametrize("order", ORDERS)


def in_order(order: str, count: int, dim: int = 3) -> KDops:
    """Boxes that come in an order which makes a list of a tree that only takes what costs least."""
    number = np.arange(count, dtype=float)
    low = np.zeros((count, dim))
    if order.startswith("nested"):
        reach = number[::-1, None] if "first" in order else number[:, None]
        return aabbs(low - reach, low + reach)
    steps = {"row": number, "squares": number**2, "clusters": number // 50 * 1e6 + number % 50, "alike": 0.0 * number}
    low[:, 0] = steps.get(order, 1.1 ** (number if order == "growing steps" else -number))
    return aabbs(low, low + (1.0 if order == "row" else 1e-3))


def lightest_child(tree: Bvh) -> float:
    """The least fraction of the leaves below a node in one of its children."""
    leaves = tree.is_leaf.astype(int)
    inner = np.flatnonzero(~tree.is_leaf)
    for node in inner[::-1].tolist():
        leaves[node] = leaves[tree.left[node]] + leaves[tree.left[node] + 1]
    lighter = np.minimum(leaves[tree.left[inner]], leaves[tree.left[inner] + 1])
    return float((lighter / leaves[inner]).min())


@pytest.mark.fast_cases(5)
@every_order
@pytest.mark.parametrize("dim", [2, 3])
def test_items_inserted_in_any_order_make_no_deep_tree(order, dim):
    for count in (2, 3, 5, 40, 400):
        volumes = in_order(order, count, dim)
        one_by_one = Bvh.build(volumes.take([0]))
        for begin, end in ((1, 1 + count // 2), (1 + count // 2, count)):
            one_by_one = one_by_one.insert(volumes.take(np.arange(begin, end)))
        for tree in (one_by_one, Bvh.build(volumes, "insertion")):
            assert_valid(tree, volumes)
            assert tree.depth <= 1 + np.log(count) / np.log(1.25)
            assert lightest_child(tree) >= 0.2
            if count < 50:
                assert_right(tree, None)


def test_random_items_inserted_one_after_the_other_keep_the_balance_and_the_quality():
    rng = np.random.default_rng(31)
    for _ in range(20):
        volumes = boxes(rng, 600)
        tree = Bvh.build(volumes, "insertion")
        assert lightest_child(tree) >= 0.2
        # A few items far from all others, left alone by other trees, are balanced with some of these.
        assert tree.cost <= 1.6 * Bvh.build(volumes, "top-down").cost + 4.0


def test_items_go_into_a_tree_with_full_leaves_and_into_one_that_is_a_list():
    rng = np.random.default_rng(32)
    for leaf_size in (3, 8):
        volumes, more = boxes(rng, 300), boxes(rng, 200)
        tree = Bvh.build(volumes, "top-down", "middle", leaf_size).insert(more)
        assert_valid(tree, KDops.concatenate([volumes, more]), leaf_size)
        assert_right(tree, None)
    corners = np.ldexp(np.ones((200, 3)), np.arange(200)[:, None])
    steps = aabbs(corners, corners * 1.01)
    tree = Bvh.build(steps, "top-down", "middle")
    assert tree.depth > 100
    grown = tree.insert(in_order("nested", 500))
    assert_valid(grown, KDops.concatenate([steps, in_order("nested", 500)]))
    assert grown.depth <= tree.depth + 30


# ---------------------------------------------------------------------------------------------------------------------
# Queries


def hit_exactly(low, high, origin, direction, length) -> bool:
    """Whether a ray hits a box, in fractions."""
    square = sum(Fraction(d) ** 2 for d in direction)
    first, last = Fraction(0), None
    for lowest, highest, start, along in zip(low, high, origin, direction, strict=True):
        lowest, highest, start, along = map(Fraction, (lowest, highest, start, along))
        if along == 0:
            if not lowest <= start <= highest:
                return False
            continue
        ends = sorted(((lowest - start) / along, (highest - start) / along))
        first, last = max(first, ends[0]), ends[1] if last is None else min(last, ends[1])
    return (last is None or first <= last) and (length is None or first * first * square <= Fraction(length) ** 2)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("kind", "k", "dim"), [("aabb", None, 3), ("kdop", 8, 2), ("sphere", None, 3), ("obb", None, 2)]
)
@pytest.mark.parametrize("leaf_size", [1, 4])
def test_queries_find_what_testing_all_items_finds(kind, k, dim, leaf_size):
    rng = np.random.default_rng(61)
    points = np.round(rng.normal(size=(300, 1, dim)) * 4.0 + rng.normal(size=(300, 4, dim)), 1)
    volumes = bounding_volumes(kind, points.reshape(-1, dim), np.arange(0, 1200, 4), k=k)
    tree = Bvh.build(volumes, leaf_size=leaf_size)
    lows, highs = points.min(axis=1), points.max(axis=1)  # what the volumes are around: a query must not lose these
    found = 0
    for turn in range(24):
        point = np.round(rng.normal(size=dim) * 4.0, 1)
        inside = tree.query_point(point)
        assert inside.tolist() == np.flatnonzero(volumes.contains(np.tile(point, (300, 1)))).tolist()
        low, high = point - 0.5, point + np.round(rng.uniform(0.0, 2.0, dim), 1)
        boxed = tree.query_box(low, high)
        direction = np.round(rng.normal(size=dim), 1) * (rng.random(dim) < 0.7)
        direction[turn % dim] = 1.0
        length = None if turn % 2 else float(np.round(rng.uniform(0.0, 5.0), 1))
        hit = tree.query_ray(point, direction, length)
        near = np.flatnonzero((lows <= high).all(axis=1) & (low <= highs).all(axis=1))
        truth = [i for i in range(300) if hit_exactly(lows[i], highs[i], point, direction, length)]
        assert set(near.tolist()) <= set(boxed.tolist())
        assert set(truth) <= set(hit.tolist())
        if isinstance(volumes, KDops):
            assert boxed.tolist() == near.tolist()
            wide = [i for i in range(300) if hit_exactly(lows[i] - 1e-12, highs[i] + 1e-12, point, direction, length)]
            assert set(hit.tolist()) <= set(wide)
        found += len(inside) + len(boxed) + len(hit)
    assert found > 80


def test_queries_of_a_row_of_boxes():
    low = np.stack([np.arange(10.0), np.zeros(10)], axis=1)
    tree = Bvh.build(aabbs(low, low + 1.0))
    assert tree.query_point([3.0, 0.5]).tolist() == [2, 3]
    assert tree.query_box([2.5, 1.0], [4.0, 5.0]).tolist() == [2, 3, 4]
    assert tree.query_ray([7.5, 0.5], [1.0, 0.0]).tolist() == [7, 8, 9]
    assert tree.query_ray([7.5, 0.5], [-2.0, 0.0], 2.0).tolist() == [5, 6, 7]
    assert tree.query_ray([7.5, 2.0], [0.0, -1.0]).tolist() == [7]
    assert tree.query_ray([7.5, 2.0], [0.0, 1.0]).tolist() == []
    assert Bvh.build(aabbs(low, low).take([])).query_point([0.0, 0.0]).tolist() == []
    for words, call in (
        (r"^point: 2 numbers expected", lambda: tree.query_point([0.0, 0.0, 0.0])),
        (r"^low must not be above high", lambda: tree.query_box([0.0, 1.0], [1.0, 0.0])),
        (r"^direction must not be zero", lambda: tree.query_ray([0.0, 0.0], [0.0, 0.0])),
        (r"^length must be a finite number", lambda: tree.query_ray([0.0, 0.0], [1.0, 0.0], -1.0)),
    ):
        with pytest.raises(ValueError, match=words):
            call()
