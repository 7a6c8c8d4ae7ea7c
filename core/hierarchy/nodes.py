# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of a hierarchy, and what all builds and descents have in common.

Nodes stand level by level, the root first, and the two children of a node next to each other, in the order of their
parents: every step over a tree is a step over a whole level. Source: S3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arguments import as_indices, as_whole_number
from ..bounding.uninformative_axes import uninformative_axes
from ..bounding.volumes import Volumes
from ..runs import ranges
from ..tolerance import EXTREME_EXPONENT
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays


@dataclass(frozen=True, eq=False)
class Layout(ReadOnlyArrays):
    """A binary tree of m nodes over n items, without its volumes; without items it has no nodes.

    The numbers of linear trees, but the items, have no more bits than they need: there are as many as of coordinates.
    """

    left: IntArray
    """(m,) the first child of each node, the second is the next node; -1 in a leaf."""
    first: IntArray
    """(m,) the items below a node are `items[first : first + count]`, in leaves and in inner nodes alike."""
    count: IntArray
    """(m,) number of items below a node; in a leaf at least one and at most the leaf size of the build."""
    items: IntArray
    """(n,) the indices of the items in the order of the leaves."""
    level: IntArray
    """(m,) 0 for the root, then one more for each generation."""

    @classmethod
    def empty(cls) -> Layout:
        """Return the tree without items."""
        return Layout(*np.zeros((5, 0), dtype=np.intp))

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.left)

    @property
    def right(self) -> IntArray:
        """(m,) the second child of each node, -1 in a leaf."""
        return np.where(self.left < 0, -1, self.left + 1)

    @property
    def is_leaf(self) -> BoolArray:
        """(m,) whether a node has no children."""
        return self.left < 0

    @property
    def depth(self) -> int:
        """Number of levels; 0 without items."""
        return int(self.level[-1]) + 1 if len(self) else 0

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @cached_property
    def leaf_size(self) -> int:
        """Number of items of the fullest leaf; 0 without items."""
        return int(self.count[self.is_leaf].max(initial=0))

    @property
    def balance(self) -> float:
        """Levels of the shallowest tree with as many leaves, over the levels of this one: 1.0 is perfectly balanced."""
        leaves = self.leaves
        return ((leaves - 1).bit_length() + 1) / self.depth if leaves else 1.0

    def at_level(self, level: int) -> IntArray:
        """Return the nodes of one level and the leaves above it: together they contain every item once.

        Raises ValueError when `level` is not a whole number from 0 on.
        """
        return self.nodes_down_to(as_whole_number("level", level))

    def nodes_down_to(self, level: int) -> IntArray:
        """Return what `at_level` does, unchecked."""
        level = min(level, self.depth)
        begin, end = self.level.searchsorted(np.array([level, level + 1], dtype=self.level.dtype)).tolist()
        return np.concatenate([np.flatnonzero(self.left[:begin] < 0), np.arange(begin, end)])

    def items_below(self, nodes: IntArray) -> IntArray:
        """Return the indices of the items below nodes, those of the first node first."""
        chosen = as_indices("nodes", nodes, len(self), "nodes")
        return self.items.take(ranges(self.first.take(chosen), self.count.take(chosen)))


@dataclass(frozen=True, eq=False)
class VolumeTree(Layout):
    """A tree with the volumes of its nodes and items."""

    volumes: Volumes
    """One for each of the m nodes. It contains the volumes of all items below, and those of its children."""
    kept_item_volumes: Volumes | None
    """The volumes of the items; None where these are not kept beside those of leaves with one item each."""

    @property
    def item_volumes(self) -> Volumes:
        """One for each item, by index: those that the tree was built over."""
        if self.kept_item_volumes is not None:
            return self.kept_item_volumes
        leaves = np.flatnonzero(self.left < 0)
        leaf_of = np.zeros(len(self.items), dtype=np.intp)
        leaf_of[self.items.take(self.first.take(leaves))] = leaves
        return self.volumes.take(leaf_of)


def enclosing_boxes(volumes: Volumes) -> tuple[FloatArray, FloatArray]:
    """Return an axis-aligned box around each volume, as rows (dim, n) of lowest and highest coordinates, all finite.

    Builds choose the shape of a tree by these: they are the same for every kind of volume and cheap to merge. A
    rounding error does not matter to them.
    """
    if not volumes.is_finite:
        raise ValueError("volumes: all must be finite")
    return volumes.bounds


def scaled_boxes(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return boxes (dim, n), scaled by a power of two if their surfaces have no number in float64."""
    largest = max(float(high.max(initial=0.0)), -float(low.min(initial=0.0)))
    exponent = int(np.frexp(largest)[1])
    if abs(exponent) <= EXTREME_EXPONENT:
        return low, high
    return np.ldexp(low, -exponent), np.ldexp(high, -exponent)


def tree_centers(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return twice the centres (dim, n) of boxes, by which trees are built: 0.0 along axes that tell nothing."""
    centers = low + high
    centers[uninformative_axes(low, high)] = 0.0
    return centers


def both_children(left: IntArray) -> IntArray:
    """Return both children, one after the other, of nodes with these first children."""
    return (left[:, None] + np.arange(2)).ravel()


def crossed_children(left_i: IntArray, left_j: IntArray) -> tuple[IntArray, IntArray]:
    """Return the four pairs of children of each pair of nodes with these first children."""
    i, j = np.empty((len(left_i), 4), dtype=np.intp), np.empty((len(left_j), 4), dtype=np.intp)
    # Column by column: five times as fast as one sum over rows of four.
    i[:, 0] = i[:, 1] = left_i
    i[:, 2] = i[:, 3] = left_i + 1
    j[:, 0] = j[:, 2] = left_j
    j[:, 1] = j[:, 3] = left_j + 1
    return i.ravel(), j.ravel()
