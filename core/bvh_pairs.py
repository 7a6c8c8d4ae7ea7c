# SPDX-License-Identifier: GPL-3.0-or-later
"""Tree against tree: which items may collide. The one traversal for trees of every kind and build.

Both trees are descended at once, into overlapping nodes only, many pairs of nodes at a time. Source: S3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arguments import checked_length
from .bvh import Bvh
from .polytope import IntArray
from .progress import Progress, tell

_BATCH = 1 << 16  # pairs of nodes in one step: memory is this times the depth of the trees, besides what is found


@dataclass(frozen=True, eq=False)
class TreePairs:
    """What a descent of two trees found."""

    pairs: IntArray
    """(p, 2) numbers of items whose volumes overlap, in ascending order; of a tree with itself the smaller first."""
    tests: int
    """How many pairs of volumes were tested, those of the items in the leaves included."""
    possible: int
    """How many pairs of items there are: what testing all of them would take."""


def tree_pairs(a: Bvh, b: Bvh | None = None, margin: float = 0.0, progress: Progress | None = None) -> TreePairs:
    """Return which items of two trees may collide: item of A, item of B. Without B, of one tree with itself.

    Args:
        a, b: trees over volumes of the same kind.
        margin: items whose volumes come this near count too; world units, >= 0.
        progress: called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is no tree, the trees hold different kinds of volumes, or the
    margin is negative or not finite; Cancelled when `progress` says so. Source: S3.4.
    """
    other = a if b is None else b
    for name, tree in (("a", a), ("b", other)):
        if not isinstance(tree, Bvh):
            raise ValueError(f"{name} must be a tree, what build_bvh returns, not {type(tree).__name__}")
    if type(a.volumes) is not type(other.volumes) or a.volumes.dim != other.volumes.dim:
        raise ValueError("b must hold volumes of the same kind and dimension as a")
    distance = checked_length("margin", margin)
    count = len(a.items)
    possible = count * (count - 1) // 2 if b is None else count * len(other.items)
    none = np.zeros((0, 2), dtype=np.intp)
    if len(a) == 0 or len(other) == 0:
        return TreePairs(none, 0, possible)
    grown = a.volumes.grown(distance)
    start = np.zeros((1, 2), dtype=np.intp)
    waiting = [(start, np.ones(1))]  # pairs of nodes, and the share of the work that each stands for
    found: list[IntArray] = []
    tests, done = 0, 0.0
    while waiting:
        nodes, share = waiting.pop()
        if len(nodes) > _BATCH:
            waiting.append((nodes[:-_BATCH], share[:-_BATCH]))
            nodes, share = nodes[-_BATCH:], share[-_BATCH:]
        i, j = nodes[:, 0], nodes[:, 1]
        same = (i == j) if b is None else np.zeros(len(i), dtype=bool)
        met = same | grown.take(i).overlap(other.volumes.take(j))
        tests += int(len(i) - same.sum())
        done += float(share[~met].sum())
        i, j, same, share = i[met], j[met], same[met], share[met]
        leaf_i, leaf_j = a.left[i] < 0, other.left[j] < 0
        at_end = leaf_i & leaf_j
        done += float(share[at_end].sum())
        met_items = np.stack([a.items[a.first[i[at_end]]], other.items[other.first[j[at_end]]]], axis=1)[~same[at_end]]
        found.append(np.sort(met_items, axis=1) if b is None else met_items)
        tell(progress, done)
        below = _children(a, other, i, j, same, leaf_i, leaf_j, share)
        if len(below[0]):
            waiting.append(below)
    pairs = np.concatenate([none, *found])
    return TreePairs(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], tests, possible)


def _children(
    a: Bvh,
    b: Bvh,
    i: IntArray,
    j: IntArray,
    same: np.ndarray,
    leaf_i: np.ndarray,
    leaf_j: np.ndarray,
    share: np.ndarray,
) -> tuple[IntArray, np.ndarray]:
    """Return the pairs of nodes one step down: children of both, or of the one that has some."""
    pairs: list[IntArray] = []
    shares: list[np.ndarray] = []

    def add(one: IntArray, other: IntArray, of: np.ndarray, parts: int) -> None:
        pairs.append(np.stack([one, other], axis=1))
        shares.append(share[of] / parts)

    twice = same & ~leaf_i
    left = a.left[i[twice]]
    for one, other in ((0, 0), (1, 1), (0, 1)):
        add(left + one, left + other, twice, 3)
    both = ~leaf_i & ~leaf_j & ~same
    for one in (0, 1):
        for other in (0, 1):
            add(a.left[i[both]] + one, b.left[j[both]] + other, both, 4)
    only_i, only_j = ~leaf_i & leaf_j, leaf_i & ~leaf_j
    for step in (0, 1):
        add(a.left[i[only_i]] + step, j[only_i], only_i, 2)
        add(i[only_j], b.left[j[only_j]] + step, only_j, 2)
    return np.concatenate(pairs), np.concatenate(shares)
