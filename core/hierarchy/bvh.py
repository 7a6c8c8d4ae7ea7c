# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volume hierarchies: the tree, what can be said about it, and how it follows items that move.

Nodes stand level by level, the root first, and the two children of a node next to each other, in the order of their
parents: every step over a tree is a step over a whole level. How trees are built is in `bvh_build.py`, how they are
descended in `bvh_pairs.py`. Source: S3.3, S3.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..bounding.bounding_sphere import Spheres
from ..bounding.kdop import KDops
from ..bounding.obb import Obbs
from ..bounding.volumes import Volumes, checked_items
from ..progress import Progress, report_progress
from ..tolerance import EXTREME_EXPONENT
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only

REBUILD_COST = 1.5
"""Times the cost of the tree when it was built: a refitted tree that costs more is better built anew."""

_SMALL = 2.0**-300
"""Not relative: surfaces smaller than this, or larger than its inverse, are measured at another scale."""

_MERGED = 1 << 15
"""Nodes whose volumes are merged in one go, between two calls of the progress function."""


@dataclass(frozen=True, eq=False)
class Bvh(ReadOnlyArrays):
    """A binary tree of bounding volumes over n items; without items it has no nodes. Its arrays are read-only."""

    volumes: Volumes
    """One for each of the m nodes. It holds the volumes of all items below, and those of its children."""
    left: IntArray
    """(m,) the first child of each node, the second is the next node; -1 in a leaf."""
    first: IntArray
    """(m,) the items below a node are `items[first : first + count]`, in leaves and in inner nodes alike."""
    count: IntArray
    """(m,) how many items are below a node; in a leaf at least one and at most what `build_bvh` was told."""
    items: IntArray
    """(n,) the numbers of the items in the order of the leaves."""
    level: IntArray
    """(m,) 0 for the root, then one more for each generation."""
    item_volumes: Volumes
    """One for each item, by number: what the tree was built over."""

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
        """How many levels the tree has; 0 without items."""
        return int(self.level[-1]) + 1 if len(self) else 0

    @property
    def leaves(self) -> int:
        """How many leaves the tree has."""
        return int(self.is_leaf.sum())

    @cached_property
    def leaf_size(self) -> int:
        """How many items the fullest leaf has; 0 without items."""
        return int(self.count[self.is_leaf].max(initial=0))

    @property
    def balance(self) -> float:
        """Levels of the shallowest tree with as many leaves, over the levels of this one: 1.0 is perfectly balanced."""
        leaves = self.leaves
        return ((leaves - 1).bit_length() + 1) / self.depth if leaves else 1.0

    @property
    def cost(self) -> float:
        """How many volumes a random line through the root meets, by the surface area heuristic.

        It grows as items move and the tree is only refitted: beyond REBUILD_COST times the cost after the build,
        building anew pays. Where the root has no surface, as of items in a row without any width, lengths are compared
        instead; where it is a point, the cost is the number of nodes. Source: S3.3; J. Goldsmith, J. Salmon, 1987.
        """
        if not len(self):
            return 0.0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            surfaces = self.volumes.sizes()
        root = float(surfaces[0])
        if not _SMALL <= root <= 1.0 / _SMALL:  # squares of lengths overflow or vanish: the boxes at another scale
            low, high = enclosing_boxes(self.volumes)
            sides = 0.5 * high - 0.5 * low
            sides = np.ldexp(sides, -int(np.frexp(sides[:, 0].max())[1]))
            surfaces = half_surfaces(np.zeros_like(sides), sides)
            if surfaces[0] < _SMALL:
                surfaces = sides.sum(axis=0)
            root = float(surfaces[0])
            if root == 0.0:
                return float(len(self))
        return float((surfaces / root).sum())

    def at_level(self, level: int) -> IntArray:
        """Return the nodes of one level and the leaves above it: together they hold every item once.

        Raises ValueError when `level` is no whole number from 0 on.
        """
        if isinstance(level, bool) or not isinstance(level, int | np.integer) or level < 0:
            raise ValueError(f"level must be a whole number from 0 on, not {level!r}")
        return np.flatnonzero((self.level == level) | (self.is_leaf & (self.level < level)))

    def items_below(self, nodes: IntArray) -> IntArray:
        """Return the numbers of the items below some nodes, those of the first node first."""
        chosen = checked_items(nodes, len(self))
        return self.items.take(ranges(self.first.take(chosen), self.count.take(chosen)))


@dataclass(frozen=True, eq=False)
class Layout:
    """A tree without its volumes: see `Bvh` for each of the arrays."""

    left: IntArray
    first: IntArray
    count: IntArray
    items: IntArray
    level: IntArray


def refitted(tree: Bvh, volumes: Volumes, progress: Progress | None = None) -> Bvh:
    """Return the tree with the same nodes around items that have moved: `volumes` has one for each. Source: S3.5.

    The answers of a refitted tree are as right as those of a new one; it only may need more tests: see `Bvh.cost`.
    `progress` is called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when there are not as many volumes as items or they are of another kind or
    dimension; Cancelled when `progress` says so.
    """
    checked_tree("tree", tree)
    if not isinstance(volumes, Volumes):
        raise ValueError(f"volumes must be bounding volumes, not {type(volumes).__name__}")
    if len(volumes) != len(tree.items):
        raise ValueError(f"volumes: the tree is of {len(tree.items)} items, but there are {len(volumes)} volumes")
    if len(tree) and not alike(volumes, tree.item_volumes):
        raise ValueError("volumes must be of the same kind and dimension as those in the tree")
    enclosing_boxes(volumes)
    layout = Layout(tree.left, tree.first, tree.count, tree.items, tree.level)
    return replace(tree, volumes=node_volumes(volumes, layout, progress), item_volumes=volumes)


def enclosing_boxes(volumes: Volumes) -> tuple[FloatArray, FloatArray]:
    """Return an axis-aligned box around each volume, as rows (dim, n) of lowest and highest coordinates, all finite.

    Builds choose the shape of a tree by these: they are the same for every kind of volume and cheap to merge. A
    rounding error does not matter to them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(volumes, KDops):
            low, high = volumes.low, volumes.high
        else:
            middle = volumes.centers().T
            if isinstance(volumes, Spheres):
                reach = volumes.radius
            elif isinstance(volumes, Obbs):
                reach = (np.abs(volumes.axes) * volumes.half[:, :, None]).sum(axis=1).T
            else:
                raise ValueError(f"volumes: spheres, oriented boxes or k-DOPs expected, not {type(volumes).__name__}")
            low, high = middle - reach, middle + reach
        # A sum is finite only if all its terms are, but may overflow on its own: then each is looked at.
        finite = np.isfinite(low.sum() + high.sum()) or (np.isfinite(low).all() and np.isfinite(high).all())
    if not finite:
        raise ValueError("volumes: all must be finite")
    return low[: volumes.dim], high[: volumes.dim]


def handy(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return boxes (dim, n), scaled by a power of two if their surfaces could not be told in float64."""
    largest = max(float(high.max(initial=0.0)), -float(low.min(initial=0.0)))
    exponent = int(np.frexp(largest)[1])
    if abs(exponent) <= EXTREME_EXPONENT:
        return low, high
    return np.ldexp(low, -exponent), np.ldexp(high, -exponent)


def checked_tree(name: str, value: object) -> Bvh:
    """Return a tree, what `build_bvh` returns."""
    if not isinstance(value, Bvh):
        raise ValueError(f"{name} must be a tree, what build_bvh returns, not {type(value).__name__}")
    return value


def half_surfaces(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return half the surface area of boxes (dim, ...), in the plane half the perimeter."""
    sides = high - low
    if len(sides) == 2:
        result: FloatArray = sides[0] + sides[1]
    else:
        result = sides[0] * (sides[1] + sides[2])
        result += sides[1] * sides[2]
    return result


def alike(volumes: Volumes, other: Volumes) -> bool:
    """Tell whether two batches are of the same kind and dimension, with the same planes if they are k-DOPs."""
    if isinstance(volumes, KDops) and isinstance(other, KDops) and volumes.k != other.k:
        return False
    return type(volumes) is type(other) and volumes.dim == other.dim


def ranges(first: IntArray, count: IntArray) -> IntArray:
    """Return first[0], first[0] + 1 ... count[0] of them, then those of the next range, and so on."""
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(first - (ends - count), count)


def assembled(volumes: Volumes, layout: Layout, progress: Progress | None = None) -> Bvh:
    """Return the tree with this layout over volumes of items."""
    return Bvh(
        node_volumes(volumes, layout, progress),
        read_only(layout.left),
        read_only(layout.first),
        read_only(layout.count),
        read_only(layout.items),
        read_only(layout.level),
        volumes,
    )


def node_volumes(volumes: Volumes, layout: Layout, progress: Progress | None = None) -> Volumes:
    """Return the volumes of all nodes from those of the items, from the deepest level up."""
    report_progress(progress, 0.0)
    if len(layout.left) == 0:
        return volumes.take([])
    begins = np.searchsorted(layout.level, np.arange(int(layout.level[-1]) + 2)).tolist()
    if isinstance(volumes, KDops):
        return _slabs_of_nodes(volumes, layout, begins, progress)
    leaves = np.flatnonzero(layout.left < 0)
    in_order = leaves[np.argsort(layout.first[leaves], kind="stable")]
    of_leaves = volumes.take(layout.items)
    if len(leaves) < len(layout.items):
        of_leaves = of_leaves.merged_ranges(layout.first[in_order])
    place = np.empty(len(layout.left), dtype=np.intp)
    place[in_order] = np.arange(len(in_order))
    levels: list[Volumes] = []
    below = of_leaves.take([])
    for begin, end in zip(begins[-2::-1], begins[:0:-1], strict=True):
        leaf = layout.left[begin:end] < 0
        parts = [of_leaves.take(place[begin:end][leaf])]
        for start in range(0, len(below), 2 * _MERGED):
            pairs = np.arange(start, min(start + 2 * _MERGED, len(below)), 2)
            parts.append(below.take(pairs).merged(below.take(pairs + 1)))
            report_progress(progress, 1.0 - begin / len(layout.left))
        # First come the leaves of this level, then its inner nodes: put both in their places.
        order = np.empty(end - begin, dtype=np.intp)
        order[np.concatenate([np.flatnonzero(leaf), np.flatnonzero(~leaf)])] = np.arange(end - begin)
        below = type(volumes).joined(parts).take(order)
        levels.append(below)
    report_progress(progress, 1.0)
    return type(volumes).joined(levels[::-1])


def _slabs_of_nodes(volumes: KDops, layout: Layout, begins: list[int], progress: Progress | None) -> KDops:
    """Do what `node_volumes` does for k-DOPs, ten times as fast: every level is two steps over all slabs."""
    rows, nodes = len(volumes.directions), len(layout.left)
    leaves = np.flatnonzero(layout.left < 0)
    single = len(leaves) == len(layout.items)
    if not single:
        leaves = leaves[np.argsort(layout.first[leaves])]
    where = _slice_of(leaves) if single else leaves
    starts: IntArray = layout.first[leaves]
    chosen = layout.items[starts] if single else layout.items
    steps = []
    for level in range(len(begins) - 3, -1, -1):
        inner = begins[level] + np.flatnonzero(layout.left[begins[level] : begins[level + 1]] >= 0)
        begin, end = begins[level + 1], begins[level + 2]
        parents = _slice_of(inner)
        steps.append((parents, slice(begin, end, 2), slice(begin + 1, end, 2)))
    low, high = np.empty((2, rows, nodes))
    # One row at a time: it fits the cache on its way up the tree.
    for row in range(rows):
        for mine, its, better in ((low[row], volumes.low[row], np.minimum), (high[row], volumes.high[row], np.maximum)):
            if single and isinstance(where, slice):
                its.take(chosen, out=mine[where], mode="clip")  # "raise" would make numpy take a copy
            else:
                mine[where] = its.take(chosen) if single else better.reduceat(its.take(chosen), starts)
            for parents, one, other in steps:
                if isinstance(parents, slice):
                    better(mine[one], mine[other], out=mine[parents])
                else:
                    mine[parents] = better(mine[one], mine[other])
        report_progress(progress, row + 1, rows)
    return KDops(volumes.directions, low, high)


def _slice_of(indices: IntArray) -> IntArray | slice:
    """Return growing indices as a slice where they have no gaps: numpy is several times as fast with these."""
    begin, end = int(indices[0]), int(indices[-1]) + 1
    return slice(begin, end) if end - begin == len(indices) else indices
