# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of every build over volumes of every kind: valid, and they find what testing all pairs finds."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from contact_lens.core.bvh import Bvh, refitted
from contact_lens.core.bvh_build import METHODS, SPLITS, build_bvh, morton_codes
from contact_lens.core.bvh_pairs import tree_pairs
from contact_lens.core.kdop import KDops, kdop_directions
from contact_lens.core.progress import Cancelled
from contact_lens.core.volumes import Volumes, bounding_volumes

BUILDS = [(method, "sah") for method in METHODS] + [("top-down", split) for split in SPLITS if split != "sah"]
KINDS = [("aabb", None), ("kdop", 14), ("kdop", 26), ("sphere", None), ("obb", None)]
every_build = pytest.mark.parametrize(("method", "split"), BUILDS)
every_kind = pytest.mark.parametrize(("kind", "k"), KINDS)


def aabbs(low: np.ndarray, high: np.ndarray) -> KDops:
    """Axis-aligned boxes from their lowest and highest corners (n, dim)."""
    dim = low.shape[1]
    return KDops(kdop_directions(2 * dim, dim), np.ascontiguousarray(low.T), np.ascontiguousarray(high.T))


def boxes(rng: np.random.Generator, count: int, dim: int = 3) -> KDops:
    """Boxes of a random scene: scattered, on a line, in a plane, all alike, or of very different sizes."""
    kind = rng.integers(5)
    centers = rng.normal(size=(count, dim)) * 3.0
    half = rng.uniform(0.0, 1.0, (count, dim))
    if kind == 1:
        centers[:, 1:] = 0.0
    elif kind == 2:
        centers = np.round(centers)
        half = np.full((count, dim), 0.5)  # many touch exactly
    elif kind == 3:
        centers[:], half[:] = 1.0, 0.25
    elif kind == 4:
        half *= 10.0 ** rng.uniform(-6, 2, (count, 1))
    return aabbs(centers - half, centers + half)


def triangles(
    rng: np.random.Generator, count: int, kind: str, k: int | None, dim: int = 3
) -> tuple[Volumes, np.ndarray]:
    points = (rng.normal(size=(count, 1, dim)) * 2.0 + rng.normal(size=(count, 3, dim))).reshape(-1, dim)
    return bounding_volumes(kind, points, np.arange(0, len(points), 3), k=k), points


def all_pairs(a: Volumes, b: Volumes | None, margin: float = 0.0) -> list[tuple[int, int]]:
    """Brute force."""
    other = a if b is None else b
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(len(a)), np.arange(len(other)), indexing="ij"))
    if b is None:
        i, j = i[i < j], j[i < j]
    met = a.grown(margin).take(i).overlap(other.take(j))
    return list(zip(i[met].tolist(), j[met].tolist(), strict=True))


def assert_valid(tree: Bvh, volumes: Volumes) -> None:
    """Every item once, children after and inside their parents, ranges that fit."""
    count = len(volumes)
    assert sorted(tree.items.tolist()) == list(range(count))
    if count == 0:
        assert len(tree) == 0
        return
    assert len(tree) == 2 * count - 1
    assert tree.leaves == count
    assert (tree.first[0], tree.count[0], tree.level[0]) == (0, count, 0)
    inner = np.flatnonzero(~tree.is_leaf)
    left, right = tree.left[inner], tree.right[inner]
    assert (left > inner).all()
    assert sorted([0, *left.tolist(), *right.tolist()]) == list(range(len(tree)))
    assert (tree.level[left] == tree.level[inner] + 1).all()
    assert (tree.level[right] == tree.level[inner] + 1).all()
    assert (tree.first[left] == tree.first[inner]).all()
    assert (tree.first[right] == tree.first[inner] + tree.count[left]).all()
    assert (tree.count[left] + tree.count[right] == tree.count[inner]).all()
    assert (tree.count[tree.is_leaf] == 1).all()
    assert (np.diff(tree.level) >= 0).all()


@every_build
def test_every_build_finds_what_testing_all_pairs_finds(method, split):
    rng = np.random.default_rng(7)
    for scene in range(120):
        dim = 2 if scene % 4 == 0 else 3
        a, b = boxes(rng, int(rng.integers(0, 40)), dim), boxes(rng, int(rng.integers(0, 40)), dim)
        tree_a, tree_b = (build_bvh(volumes, method, split) for volumes in (a, b))
        assert_valid(tree_a, a)
        margin = float(rng.choice([0.0, 0.25]))
        assert tree_pairs(tree_a, tree_b, margin).pairs.tolist() == [list(p) for p in all_pairs(a, b, margin)]
        assert tree_pairs(tree_a, None, margin).pairs.tolist() == [list(p) for p in all_pairs(a, None, margin)]


@every_kind
@every_build
def test_trees_of_every_kind_of_volume(kind, k, method, split):
    rng = np.random.default_rng(3)
    (a, points), (b, _) = triangles(rng, 60, kind, k), triangles(rng, 45, kind, k)
    tree_a, tree_b = (build_bvh(volumes, method, split) for volumes in (a, b))
    assert_valid(tree_a, a)
    for node in range(len(tree_a)):
        below = tree_a.items[tree_a.first[node] : tree_a.first[node] + tree_a.count[node]]
        held = points.reshape(-1, 3, 3)[below].reshape(-1, 3)
        assert tree_a.volumes.take(np.full(len(held), node)).contain(held).all(), "a node holds all that is below it"
    found = {tuple(pair) for pair in tree_pairs(tree_a, tree_b).pairs.tolist()}
    assert found == set(all_pairs(a, b))


@every_build
def test_a_refitted_tree_is_right_about_items_that_moved(method, split):
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(60, 3)) * 3.0
    a = aabbs(centers - 0.25, centers + 0.25)
    tree = build_bvh(a, method, split)
    at_first = tree.cost
    for _ in range(30):
        step = rng.normal(size=(3, 60)) * 0.3
        a = KDops(a.directions, a.low + step, a.high + step)
        tree = refitted(tree, a)
        assert_valid(tree, a)
        assert tree_pairs(tree).pairs.tolist() == [list(p) for p in all_pairs(a, None)]
    assert tree.cost > at_first, "moving apart makes the old order worse"
    assert build_bvh(a, method, split).cost < tree.cost


def test_thousands_of_insertions_keep_the_tree_valid():
    rng = np.random.default_rng(8)
    a = boxes(rng, 1000)
    tree = build_bvh(a, "insertion")
    assert_valid(tree, a)
    assert tree_pairs(tree).pairs.tolist() == tree_pairs(build_bvh(a)).pairs.tolist()


def test_statistics_of_a_tree_made_by_hand():
    """Four unit boxes in a row, two and two together: three levels, seven nodes, no overlap but that of the root."""
    low = np.array([[x, 0.0, 0.0] for x in (0.0, 2.0, 10.0, 12.0)])
    tree = build_bvh(aabbs(low, low + 1.0), "top-down", "middle")
    assert (len(tree), tree.depth, tree.leaves, tree.balance) == (7, 3, 4, 1.0)
    assert tree.volumes.low.T.tolist()[:3] == [[0, 0, 0], [0, 0, 0], [10, 0, 0]]
    assert tree.volumes.high.T.tolist()[:3] == [[13, 1, 1], [3, 1, 1], [13, 1, 1]]
    assert tree.cost == pytest.approx((54 + 2 * 14 + 4 * 6) / 54)
    assert tree.at_level(1).tolist() == [1, 2]
    result = tree_pairs(tree)
    assert result.pairs.tolist() == []
    assert (result.tests, result.possible) == (3, 6), "the two halves, then the two boxes in each"


def test_a_chain_is_as_deep_as_it_is_long():
    sizes = 2.0 ** np.arange(12.0)
    low = np.zeros((12, 3))
    low[:, 0] = 3.0 * sizes
    tree = build_bvh(aabbs(low, low + sizes[:, None]), "top-down", "middle")
    assert tree.depth >= 8
    assert tree.balance < 0.7
    assert build_bvh(aabbs(low, low + sizes[:, None]), "top-down", "median").balance == 1.0


@every_build
def test_nothing_one_and_all_alike(method, split):
    none = aabbs(np.zeros((0, 3)), np.zeros((0, 3)))
    empty = build_bvh(none, method, split)
    assert (len(empty), empty.depth, empty.leaves, empty.cost) == (0, 0, 0, 0.0)
    one = build_bvh(aabbs(np.zeros((1, 3)), np.ones((1, 3))), method, split)
    assert (len(one), one.depth, one.balance) == (1, 1, 1.0)
    assert tree_pairs(empty, one).pairs.shape == tree_pairs(one).pairs.shape == (0, 2)
    assert tree_pairs(one, one).pairs.tolist() == [[0, 0]]
    alike = aabbs(np.zeros((200, 3)), np.ones((200, 3)))
    tree = build_bvh(alike, method, split)
    assert_valid(tree, alike)
    assert len(tree_pairs(tree).pairs) == 200 * 199 // 2
    if method != "insertion":
        assert tree.depth <= 10


def test_fewer_tests_than_pairs_in_a_scattered_scene():
    rng = np.random.default_rng(2)
    centers = rng.uniform(0.0, 60.0, (3000, 3))
    volumes = aabbs(centers - 0.5, centers + 0.5)
    for method in ("linear", "top-down", "bottom-up"):
        result = tree_pairs(build_bvh(volumes, method))
        assert result.possible == 3000 * 2999 // 2
        assert result.tests < result.possible / 50


def test_memory_is_bounded_besides_what_is_found():
    low = np.zeros((1500, 3))
    tree = build_bvh(aabbs(low, low + 1.0))
    tracemalloc.start()
    try:
        result = tree_pairs(tree)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(result.pairs) == 1500 * 1499 // 2
    assert peak < 6 * result.pairs.nbytes + 100e6


def test_progress_is_told_and_can_cancel():
    rng = np.random.default_rng(6)
    a = boxes(rng, 3000)
    shares: list[float] = []

    def note(share: float) -> bool:
        shares.append(share)
        return True

    for method in METHODS:
        shares.clear()
        tree = build_bvh(a, method, progress=note)
        assert shares == sorted(shares)
        assert shares[0] == 0.0
    shares.clear()
    tree_pairs(tree, progress=note)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    for method in METHODS:
        with pytest.raises(Cancelled):
            build_bvh(a, method, progress=lambda share: False)
    with pytest.raises(Cancelled):
        tree_pairs(tree, progress=lambda share: False)


def test_the_curve_goes_through_near_places_one_after_the_other():
    corners = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)])
    assert np.argsort(morton_codes(corners)).tolist() == list(range(8))
    assert np.argsort(morton_codes(corners[:4, :2])).tolist() == list(range(4))
    assert (morton_codes(np.zeros((5, 3))) == 0).all()
    rng = np.random.default_rng(1)
    points = rng.uniform(size=(4000, 3))
    ordered = points[np.argsort(morton_codes(points))]
    steps = np.linalg.norm(np.diff(ordered, axis=0), axis=1)
    assert np.median(steps) < 0.1 < np.median(np.linalg.norm(np.diff(points, axis=0), axis=1))


def test_wrong_arguments_are_named():
    volumes = aabbs(np.zeros((3, 3)), np.ones((3, 3)))
    tree = build_bvh(volumes)
    with pytest.raises(ValueError, match=r"^volumes must be bounding volumes, not ndarray"):
        build_bvh(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"^method must be one of linear, top-down"):
        build_bvh(volumes, "sideways")
    with pytest.raises(ValueError, match=r"^split must be one of sah, median"):
        build_bvh(volumes, "top-down", "somewhere")
    with pytest.raises(ValueError, match=r"^volumes: the tree is of 3 items, but there are 2"):
        refitted(tree, volumes.take([0, 1]))
    with pytest.raises(ValueError, match=r"^b must be a tree"):
        tree_pairs(tree, volumes)
    with pytest.raises(ValueError, match=r"^margin must be a finite number"):
        tree_pairs(tree, margin=-1.0)
    with pytest.raises(ValueError, match=r"^b must hold volumes of the same kind"):
        tree_pairs(tree, build_bvh(bounding_volumes("sphere", np.eye(3))))
