# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volume hierarchies: the tree, what can be said about it, and how it follows items that move.

Nodes stand level by level, the root first, and the two children of a node next to each other: every step over a tree is
a step over a whole level. Source: S3.3, S3.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .polytope import IntArray
from .volumes import BoolArray, Volumes


@dataclass(frozen=True, eq=False)
class Bvh:
    """A binary tree of bounding volumes over n items; without items it has no nodes."""

    volumes: Volumes
    """One for each node."""
    left: IntArray
    """(m,) the first child of each node, the second is the next node; -1 in a leaf."""
    first: IntArray
    """(m,) the items below a node are `items[first : first + count]`, in leaves and in inner nodes alike."""
    count: IntArray
    """(m,) how many items are below a node: one in each leaf."""
    items: IntArray
    """(n,) the numbers of the items in the order of the leaves."""
    level: IntArray
    """(m,) 0 for the root, then one more for each generation."""

    def __len__(self) -> int:
        return len(self.left)

    @property
    def right(self) -> IntArray:
        """(m,) the second child of each node, -1 in a leaf."""
        result: IntArray = np.where(self.left < 0, -1, self.left + 1)
        return result

    @property
    def is_leaf(self) -> BoolArray:
        """(m,) whether a node has no children."""
        result: BoolArray = self.left < 0
        return result

    @property
    def depth(self) -> int:
        """How many levels the tree has; 0 without items."""
        return int(self.level.max()) + 1 if len(self) else 0

    @property
    def leaves(self) -> int:
        """How many leaves the tree has."""
        return int(self.is_leaf.sum())

    @property
    def balance(self) -> float:
        """Levels of the shallowest tree with as many leaves, over the levels of this one: 1.0 is perfectly balanced."""
        if self.leaves == 0:
            return 1.0
        return float((int(np.ceil(np.log2(self.leaves))) + 1) / self.depth)

    @property
    def cost(self) -> float:
        """How many volumes a random line through the root meets, by the surface area heuristic.

        It grows as items move and the tree is only refitted: when it is half as much again as after the build, building
        anew pays. Source: S3.3; J. Goldsmith, J. Salmon, 1987.
        """
        if not len(self):
            return 0.0
        surfaces = self.volumes.sizes()
        root = float(surfaces[0])
        return float(surfaces.sum() / root) if root > 0.0 else float(len(self))

    def at_level(self, level: int) -> IntArray:
        """Return the nodes of one level and the leaves above it: together they hold every item once."""
        return np.flatnonzero((self.level == level) | (self.is_leaf & (self.level < level)))


def refitted(tree: Bvh, volumes: Volumes) -> Bvh:
    """Return the tree with the same nodes around items that have moved: `volumes` has one for each. Source: S3.5.

    Raises ValueError, naming the argument, when there are not as many volumes as items.
    """
    if len(volumes) != len(tree.items):
        raise ValueError(f"volumes: the tree is of {len(tree.items)} items, but there are {len(volumes)} volumes")
    return replace(tree, volumes=node_volumes(volumes, tree.left, tree.first, tree.items, tree.level))


def node_volumes(volumes: Volumes, left: IntArray, first: IntArray, items: IntArray, level: IntArray) -> Volumes:
    """Return the volumes of all nodes from those of the items, from the deepest level up."""
    if len(left) == 0:
        return volumes.take([])
    leaves = np.flatnonzero(left < 0)
    in_order = leaves[np.argsort(first[leaves], kind="stable")]
    of_leaves = volumes.take(items).merged_ranges(first[in_order])
    place = np.empty(len(left), dtype=np.intp)
    place[in_order] = np.arange(len(in_order))
    begins = np.searchsorted(level, np.arange(int(level[-1]) + 2))
    levels: list[Volumes] = []
    below: Volumes | None = None
    for begin, end in zip(begins[-2::-1].tolist(), begins[:0:-1].tolist(), strict=True):
        here = left[begin:end]
        leaf = here < 0
        if below is None or leaf.all():
            found = of_leaves.take(place[begin:end])
        else:
            pairs = np.arange(0, len(below), 2)
            merged = below.take(pairs).merged(below.take(pairs + 1))
            if leaf.any():
                order = np.empty(len(here), dtype=np.intp)
                order[leaf], order[~leaf] = np.arange(leaf.sum()), leaf.sum() + np.arange((~leaf).sum())
                found = type(merged).joined([of_leaves.take(place[begin:end][leaf]), merged]).take(order)
            else:
                found = merged
        levels.append(found)
        below = found
    return type(volumes).joined(levels[::-1])
