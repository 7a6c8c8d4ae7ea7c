# SPDX-License-Identifier: GPL-3.0-or-later
"""Tree against tree: the pairs of items that may collide. The one traversal for trees of every kind and build.

Both trees are descended at once, into overlapping nodes only, many pairs of nodes at a time. Source: S3.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..bounding.bounding_sphere import Spheres
from ..bounding.kdop import KDops
from ..bounding.volumes import Volumes
from ..progress import Progress, report_progress
from ..runs import chunks
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from .nodes import VolumeTree, both_children, crossed_children, enclosing_boxes

_BVH_WIDER = 64.0
"""Times EPS and the largest coordinate of two trees: the nodes of one are inflated by this where tests of volumes are
rounded, so that no node hides items that pass their own test. Several times what those tests and the merging allow."""

_FIRST_LEVEL = 4
"""Of k-DOPs: all pairs of nodes on this level are tested first, which is faster than level by level from the roots."""
_FEW = 64
"""Nodes up to which the roots are tested first."""
_AT_ONCE = 4_000
"""Pairs up to which all slabs are compared at once."""

_CHUNK = 1 << 16
"""Pairs tested at once: memory is this times the depth of the trees, besides the result."""


Moved = tuple[FloatArray, FloatArray]
"""By how much (h,) the lower bounds of k-DOPs are moved along each direction, and their upper ones."""


@dataclass(frozen=True, eq=False)
class TreePairs(ReadOnlyArrays):
    """Result of a descent of two trees."""

    pairs: IntArray
    """(p, 2) indices of items whose volumes overlap, in ascending order; of a tree with itself the smaller first."""
    tests: int
    """Number of tests of two volumes, of nodes and of items."""
    visited: int
    """Number of pairs of nodes that overlapped and were opened."""
    possible: int
    """Number of all pairs of items: the tests without trees."""


@dataclass(frozen=True, eq=False)
class VolumeTests(ReadOnlyArrays):
    """Tests of two volumes that a descent made at once, in their order."""

    a: IntArray
    """(t,) nodes of the first tree, or items."""
    b: IntArray
    """(t,) nodes or items of the other tree; of a tree with itself, of the same one."""
    overlap: BoolArray
    """(t,) whether the two volumes overlap."""
    are_items: bool
    """Whether the volumes are those of items, not of nodes."""


def find_pairs(
    a: VolumeTree,
    b: VolumeTree | None,
    margin: float,
    progress: Progress | None,
    tests: list[VolumeTests] | None = None,
    moved: Moved | None = None,
) -> TreePairs:
    """Return the pairs of items of two trees, or of one with itself, that may collide: see `Bvh.overlapping_pairs`.

    moved: of two trees of k-DOPs with one item in each leaf, what is added to the bounds of B before they are compared.
    """
    descent = _NodePairStack(a, b, margin, progress, tests, moved)
    descent.run()
    count = len(a.items)
    possible = count * (count - 1) // 2 if b is None else count * len(b.items)
    return TreePairs(descent.sorted_pairs(), descent.tests, descent.visited, possible)


def _meeting(
    a: Volumes, b: Volumes, i: IntArray, j: IntArray, widths: list[float] | None = None, moved: Moved | None = None
) -> IntArray:
    """Return the k (p,), ascending, for which volume i[k] of A and volume j[k] of B overlap.

    widths: of k-DOPs, the largest gap of two slabs. moved: what is added to the bounds of B.
    """
    if not (isinstance(a, KDops) and isinstance(b, KDops)):
        return np.flatnonzero(a.take(i).overlaps(b.take(j)))
    if len(i) <= _AT_ONCE and widths is None:
        low, high = b.low.T.take(j, axis=1), b.high.T.take(j, axis=1)
        if moved is not None:
            low, high = low + moved[0][:, None], high + moved[1][:, None]
        above = a.low.T.take(i, axis=1) > high
        above |= low > a.high.T.take(i, axis=1)
        return np.flatnonzero(~above.any(axis=0))
    left: IntArray | None = None
    for row in range(len(a.directions)):
        # Most pairs that do not meet are separated by one of the first slabs: the others are not loaded for them.
        low, high = b.low[:, row].take(j), b.high[:, row].take(j)
        if moved is not None:
            low += moved[0][row]
            high += moved[1][row]
        if widths is None:
            met = a.low[:, row].take(i) <= high
            met &= low <= a.high[:, row].take(i)
        else:  # rounded, the gap of slabs within the width is not above it, and that of a node's slabs not above that
            met = a.low[:, row].take(i) - high <= widths[row]
            met &= low - a.high[:, row].take(i) <= widths[row]
        kept = np.flatnonzero(met)
        if left is None or len(kept) < len(left):
            i, j = i.take(kept), j.take(kept)
            left = kept if left is None else left.take(kept)
    assert left is not None
    return left


class _NodePairStack:
    """A stack of pairs of nodes still to be tested, the deepest first."""

    def __init__(
        self,
        a: VolumeTree,
        b: VolumeTree | None,
        margin: float,
        progress: Progress | None,
        recorded: list[VolumeTests] | None,
        moved: Moved | None,
    ) -> None:
        """Prepare the volumes: those of A are inflated by the margin."""
        self.a, self.b = a, a if b is None else b
        self.recorded, self.moved, self.margin = recorded, moved, margin
        self.itself = b is None
        self.progress = progress
        self.tests, self.visited, self.done = 0, 0, 0.0
        self.found: list[IntArray] = []
        """Numbers that encode pairs of items in the same order: item of A times their number plus item of B."""
        self.wide_a = a.volumes
        self.widths: list[float] | None = None
        # Slabs of a node are never narrower than those of its items. The test of other kinds is rounded: there nodes
        # are wider than their items by more than any rounding, and items have their own test.
        self.as_items = isinstance(a.volumes, KDops) and a.leaf_size <= 1 and self.b.leaf_size <= 1
        if isinstance(a.volumes, KDops):
            if margin > 0.0:
                norms = np.sqrt((a.volumes.directions * a.volumes.directions).sum(axis=1)).tolist()
                self.widths = [
                    margin if n == 1.0 else math.nextafter(math.nextafter(n, 2.0) * margin, math.inf) for n in norms
                ]
        elif len(self.a) and len(self.b):
            sides = [tree.volumes.take([0]) for tree in (self.a, self.b)]
            reach = max(float(np.abs(side).max()) for volume in sides for side in enclosing_boxes(volume))
            # A box grown along its axes is farther out at its corners, and its node's axes may be others.
            corner = margin if isinstance(a.volumes, Spheres) else math.sqrt(a.volumes.dim) * margin
            self.wide_a = a.volumes.inflated(corner + _BVH_WIDER * EPS * (reach + corner))

    @cached_property
    def items_a(self) -> Volumes:
        """The volumes of A's items, inflated by the margin where that is not part of the test."""
        volumes = self.a.item_volumes
        return volumes if isinstance(volumes, KDops) else volumes.inflated(self.margin)

    def run(self) -> None:
        """Test and open pairs of nodes until none is left."""
        queued = self._start()
        report_progress(self.progress, 0.0)
        while queued:
            i, j, fraction = queued.pop()
            if len(i) > _CHUNK:
                part = fraction * _CHUNK / len(i)
                queued.append((i[:-_CHUNK], j[:-_CHUNK], fraction - part))
                i, j, fraction = i[-_CHUNK:], j[-_CHUNK:], part
            met = _meeting(self.wide_a, self.b.volumes, i, j, self.widths, self.moved)
            self._count(i, j, met, are_items=False)
            i, j = self._opened(i.take(met), j.take(met))
            if len(i):
                queued.append((i, j, fraction))
            else:
                self.done += fraction
            report_progress(self.progress, self.done)
        report_progress(self.progress, 1.0)

    def _start(self) -> list[tuple[IntArray, IntArray, float]]:
        """Return the pairs of nodes to start with, and their fraction of the work."""
        if not len(self.a) or not len(self.b):
            return []
        if not self.itself:
            level = _FIRST_LEVEL if isinstance(self.a.volumes, KDops) and min(len(self.a), len(self.b)) > _FEW else 0
            first, second = (tree.nodes_down_to(level) for tree in (self.a, self.b))
            return [(np.repeat(first, len(second)), np.tile(second, len(first)), 1.0)]
        # Two items separate below one node, or are in one leaf.
        leaf = self.a.is_leaf
        many = np.flatnonzero(leaf & (self.a.count > 1))
        self._test_items(many, many)
        inner = np.flatnonzero(~leaf)
        weight = np.cumsum(self.a.count[inner], dtype=np.float64)
        result, before = [], 0.0
        for chunk in chunks(len(inner), _CHUNK):
            left = self.a.left[inner[chunk]]
            until = float(weight[chunk.stop - 1] / weight[-1])
            result.append((left, left + 1, until - before))
            before = until
        return result

    def _opened(self, i: IntArray, j: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of nodes below pairs that overlap: children of both, or of one and a leaf.

        The items of pairs of leaves are tested.
        """
        left_i, left_j = self.a.left.take(i), self.b.left.take(j)
        leaf_i, leaf_j = left_i < 0, left_j < 0
        both = np.flatnonzero(~(leaf_i | leaf_j))
        self.visited += len(i)
        if len(both) == len(i):
            return crossed_children(left_i, left_j)
        parts = [crossed_children(left_i.take(both), left_j.take(both))]
        only_i, only_j = np.flatnonzero(leaf_j & ~leaf_i), np.flatnonzero(leaf_i & ~leaf_j)
        parts.append((both_children(left_i.take(only_i)), np.repeat(j.take(only_i), 2)))
        parts.append((np.repeat(i.take(only_j), 2), both_children(left_j.take(only_j))))
        ends = np.flatnonzero(leaf_i & leaf_j)
        self.visited -= len(ends)
        if self.as_items:
            firsts = self.a.first.take(i.take(ends)), self.b.first.take(j.take(ends))
            self._found(self.a.items.take(firsts[0]), self.b.items.take(firsts[1]))
        else:
            self._test_items(i.take(ends), j.take(ends))
        return np.concatenate([i for i, _ in parts]), np.concatenate([j for _, j in parts])

    def _test_items(self, i: IntArray, j: IntArray) -> None:
        """Test every item in leaf i[k] of A against every item in leaf j[k] of B, or all pairs in one leaf."""
        if not len(i):
            return
        first_i, first_j = self.a.first.take(i), self.b.first.take(j)
        count_j = self.b.count.take(j).astype(np.intp)
        ends = np.cumsum(self.a.count.take(i) * count_j)
        within = self.itself and bool((i == j).all())
        for chunk in chunks(int(ends[-1]), _CHUNK):
            number = np.arange(chunk.start, chunk.stop)
            pair = np.searchsorted(ends, number, side="right")
            number -= np.where(pair > 0, ends.take(pair - 1), 0)
            width = count_j.take(pair)
            of_i, of_j = number // width, number % width
            if within:
                once = np.flatnonzero(of_i < of_j)
                pair, of_i, of_j = pair.take(once), of_i.take(once), of_j.take(once)
            item_a = self.a.items.take(first_i.take(pair) + of_i)
            item_b = self.b.items.take(first_j.take(pair) + of_j)
            if self.itself:  # the smaller index is inflated by the margin, as if all pairs were tested
                item_a, item_b = np.minimum(item_a, item_b), np.maximum(item_a, item_b)
            met = _meeting(self.items_a, self.b.item_volumes, item_a, item_b, self.widths)
            self._count(item_a, item_b, met, are_items=True)
            self._found(item_a.take(met), item_b.take(met))
            report_progress(self.progress, self.done)

    def _count(self, i: IntArray, j: IntArray, met: IntArray, are_items: bool) -> None:
        self.tests += len(i)
        if self.recorded is not None:
            overlap = np.zeros(len(i), dtype=np.bool_)
            overlap[met] = True
            self.recorded.append(VolumeTests(i, j, overlap, are_items))

    def _found(self, i: IntArray, j: IntArray) -> None:
        if self.itself:
            i, j = np.minimum(i, j), np.maximum(i, j)
        if len(i):
            self.found.append(i * len(self.b.items) + j)

    def sorted_pairs(self) -> IntArray:
        """Return the pairs of items (p, 2) in ascending order."""
        numbers = np.concatenate([np.zeros(0, dtype=np.intp), *self.found])
        self.found.clear()
        numbers.sort()
        pairs = np.empty((len(numbers), 2), dtype=np.intp)
        np.floor_divide(numbers, max(len(self.b.items), 1), out=pairs[:, 0])
        for part in chunks(len(pairs), _CHUNK):
            pairs[part, 1] = numbers[part] - pairs[part, 0] * len(self.b.items)
        return read_only(pairs)
