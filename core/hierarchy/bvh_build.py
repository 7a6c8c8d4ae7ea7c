# SPDX-License-Identifier: GPL-3.0-or-later
"""Building hierarchies: along a curve (linear), from the top down, from the bottom up, and by insertion.

The shape of a tree is chosen by the axis-aligned boxes around its items, whatever their kind; then the volumes of that
kind are merged up the tree. All but insertion take one step for each level, never one for each node. Source: S3.3.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ..bounding.uninformative_axes import uninformative_axes
from ..bounding.volumes import Volumes
from ..progress import Progress, report_progress, subrange
from ..shapes.hilbert_curve import curve_order
from ..types import BoolArray, FloatArray, IntArray
from .bvh import Bvh, Layout, assembled, enclosing_boxes, half_surfaces, handy, ranges
from .bvh_insert import insertion_layout, layout_of_children, pruned
from .bvh_linear import linear_layout

Method = Literal["linear", "top-down", "bottom-up", "insertion"]
Split = Literal["sah", "median", "mean", "middle"]
METHODS, SPLITS = get_args(Method), get_args(Split)

_BINS = 16
"""Places at which the surface area heuristic is asked for on the longest axis of a node."""

_FEW = 8
"""Items of a node up to which it is asked for between every two of them."""

_NODES = 1 << 11
"""Nodes that are divided by the surface area heuristic in one go: what is made on the way fits the cache."""

_NEAR = 8
"""Neighbours along the curve, on either side, that a volume looks at for one to merge with."""

_SLOW = 16
"""When fewer than one in so many volumes found a partner, the rest is paired along the curve."""


def build_bvh(
    volumes: Volumes,
    method: Method = "linear",
    split: Split = "sah",
    leaf_size: int = 1,
    progress: Progress | None = None,
) -> Bvh:
    """Return a hierarchy over volumes, the items.

    Args:
        volumes: one for each item, of any kind.
        method: "linear" (sorted along a space-filling curve; by far the fastest), "top-down", "bottom-up" (near
            neighbours are merged; good trees) or "insertion" (one item after the other; slow, for comparison and for
            trees that grow: see `inserted`).
        split: how "top-down" divides the items along the longest axis of their middles: "sah" (least surface area),
            "median", "mean" or "middle" (of space).
        leaf_size: most items in a leaf.
        progress: called with the share done, 0 to 1; False cancels.

    No volumes, no nodes. Raises ValueError, naming the argument, when one is none of these or a volume is not finite;
    Cancelled when `progress` says so. Source: S3.3; D. Meister, J. Bittner, Parallel Locally-Ordered Clustering for
    Bounding Volume Hierarchy Construction, 2018.
    """
    if not isinstance(volumes, Volumes):
        raise ValueError(f"volumes must be bounding volumes, not {type(volumes).__name__}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, not {split!r}")
    if isinstance(leaf_size, bool) or not isinstance(leaf_size, int | np.integer) or leaf_size < 1:
        raise ValueError(f"leaf_size must be a whole number from 1 on, not {leaf_size!r}")
    report_progress(progress, 0.0)
    low, high = handy(*enclosing_boxes(volumes))
    middles = low + high  # twice the middles: the order is the same
    most = min(int(leaf_size), max(len(volumes), 1))
    if len(volumes) == 0:
        none = np.zeros(0, dtype=np.intp)
        layout = Layout(none, none.copy(), none.copy(), none.copy(), none.copy())
    elif method == "linear":
        layout = linear_layout(_telling(middles, low, high), most)
    elif method == "top-down":
        layout = _top_down(low, high, _telling(middles, low, high), split, most, subrange(progress, 0.0, 0.5))
    else:
        share = subrange(progress, 0.0, 0.5)
        if method == "bottom-up":
            layout = pruned(_bottom_up(low, high, _telling(middles, low, high), share), most)
        else:
            layout = pruned(insertion_layout(low, high, share), most)
    return assembled(volumes, layout, subrange(progress, 0.5, 1.0))


def _telling(middles: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the middles (dim, n) of boxes, all in one place along the axes that say nothing about who meets."""
    ignored = uninformative_axes(low, high)
    if ignored.any():
        middles[ignored] = 0.0
    return middles


# ---------------------------------------------------------------------------------------------------------------------
# From the top, a level at a time


def _top_down(
    low: FloatArray, high: FloatArray, middles: FloatArray, split: Split, most: int, progress: Progress | None
) -> Layout:
    """Divide the items along the longest axis of their middles until no more than `most` are left in a node."""
    total = middles.shape[1]
    # Ranks along each axis tell every two items apart, so that ties fall alike on every machine.
    ranks = np.empty(middles.shape, dtype=np.intp)
    if split in ("median", "sah"):
        for axis, row in enumerate(middles):
            ranks[axis, np.argsort(row, kind="stable")] = np.arange(total)
    items = np.arange(total)
    first, counts = np.zeros(1, dtype=np.intp), np.array([total], dtype=np.intp)
    lefts: list[IntArray] = []
    firsts: list[IntArray] = []
    all_counts: list[IntArray] = []
    made, ahead = 1, 0.0
    while len(first):
        divided = counts > most
        left = np.full(len(first), -1, dtype=np.intp)
        left[divided] = made + 2 * np.arange(int(divided.sum()))
        lefts.append(left)
        firsts.append(first)
        all_counts.append(counts)
        begin, both = first[divided], counts[divided]
        halves = _divide(items, middles, ranks, low, high, begin, both, split) if len(begin) else both
        made += 2 * len(halves)
        first = np.stack([begin, begin + halves], axis=1).ravel()
        counts = np.stack([halves, both - halves], axis=1).ravel()
        # What lies ahead of a node is its items times the levels below it.
        work = float((counts * np.log2(np.maximum(counts, 1))).sum())
        ahead = ahead or work + total
        report_progress(progress, 1.0 - work / ahead)
    level = np.repeat(np.arange(len(lefts)), [len(left) for left in lefts])
    return Layout(np.concatenate(lefts), np.concatenate(firsts), np.concatenate(all_counts), items, level)


def _divide(
    items: IntArray,
    middles: FloatArray,
    ranks: IntArray,
    low: FloatArray,
    high: FloatArray,
    first: IntArray,
    count: IntArray,
    split: Split,
) -> IntArray:
    """Put the items of each node in order, those of its first child first, and return how many these are."""
    start = np.cumsum(count) - count
    node = np.arange(len(first))
    owner = np.repeat(node, count)
    place = ranges(first, count)
    inside = items[place]
    points = np.stack([row.take(inside) for row in middles])
    lowest, highest = np.minimum.reduceat(points, start, axis=1), np.maximum.reduceat(points, start, axis=1)
    axis = (highest - lowest).argmax(axis=0)
    least, most = lowest[axis, node], highest[axis, node]
    along = np.choose(axis[owner], points) if len(node) > 1 else points[axis[0]]
    if split == "median":
        right = np.zeros(len(owner), dtype=np.bool_)
    elif split == "sah":
        right = _by_surface_area(inside, low, high, along, ranks, axis, start, count, least, most)
    else:
        border = 0.5 * least + 0.5 * most
        if split == "mean":
            border = least + np.add.reduceat(along - least[owner], start) / count
        right = along > border[owner]
    in_first = count - np.add.reduceat(right, start, dtype=np.intp)
    # Where all would be on one side (equal middles, or the median is wanted), the order along the axis decides.
    uneven = (in_first == 0) | (in_first == count)
    if uneven.any():
        half = count + 1 >> 1
        chosen = np.flatnonzero(uneven[owner])
        rank = _rank_in_node(inside[chosen], along[chosen], axis[owner[chosen]], ranks, owner[chosen], split)
        right[chosen] = rank >= half[owner[chosen]]
        in_first = np.where(uneven, half, in_first)
    # Items that go left come first, both in the order in which they were.
    before: IntArray = np.cumsum(~right) - ~right
    before = before - before[start][owner]
    within = np.arange(len(owner)) - start[owner]
    items[place[start[owner] + np.where(right, in_first[owner] + within - before, before)]] = inside
    return in_first


def _rank_in_node(
    items: IntArray, along: FloatArray, axis: IntArray, ranks: IntArray, owner: IntArray, split: Split
) -> IntArray:
    """Return the places (n,) of items in the order along the axis of their node, counted from 0 in each node."""
    if split in ("median", "sah"):
        order = np.argsort(owner * ranks.shape[1] + ranks[axis, items])  # no two are equal
    else:
        order = np.lexsort((items, along, owner))
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    size = np.diff(start, append=len(owner))
    result = np.empty(len(items), dtype=np.intp)
    result[order] = np.arange(len(items)) - np.repeat(start, size)
    return result


def _by_surface_area(
    items: IntArray,
    low: FloatArray,
    high: FloatArray,
    along: FloatArray,
    ranks: IntArray,
    axis: IntArray,
    start: IntArray,
    count: IntArray,
    least: FloatArray,
    most: FloatArray,
) -> BoolArray:
    """Tell which items go to the second child, so that surface area times items is least over both children.

    Borders are asked for between bins of equal width, in nodes of few items between every two of them.
    """
    right = np.empty(len(items), dtype=np.bool_)
    for few in (True, False):
        chosen = np.flatnonzero((count <= _FEW) == few)
        # Neighbouring nodes have their items one after the other if those between them are left out.
        for begin in range(0, len(chosen), _NODES):
            nodes = chosen[begin : begin + _NODES]
            sizes = count[nodes]
            place = ranges(start[nodes], sizes)
            owner = np.repeat(np.arange(len(nodes)), sizes)
            mine = items[place]
            if few:
                bins = _FEW
                cell = _rank_in_node(mine, along, axis[nodes][owner], ranks, owner, "sah")
            else:
                bins = _BINS
                width = most[nodes] - least[nodes]
                width[width == 0.0] = 1.0
                # Divided first: the inverse of the smallest widths is infinite.
                share = (along[place] - least[nodes][owner]) / width[owner]
                cell = (share * _BINS).astype(np.intp)
                np.minimum(cell, _BINS - 1, out=cell)
            right[place] = cell > _cheapest_border(low, high, mine, owner * bins + cell, len(nodes), bins)[owner]
    return right


def _cheapest_border(
    low: FloatArray, high: FloatArray, items: IntArray, cell: IntArray, nodes: int, bins: int
) -> IntArray:
    """Return the last bin (nodes,) that goes to the first child; `cell` is node * bins + bin for each item."""
    order = np.argsort(cell, kind="stable")
    ordered = cell[order]
    begin = np.flatnonzero(np.diff(ordered, prepend=-1))
    filled = ordered[begin]
    sorted_items = items[order]
    shape = (len(low), nodes, bins)
    least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
    number = np.zeros((nodes, bins))
    number.ravel()[filled] = np.diff(begin, append=len(order))
    for axis in range(len(low)):
        least[axis].ravel()[filled] = np.minimum.reduceat(low[axis].take(sorted_items), begin)
        most[axis].ravel()[filled] = np.maximum.reduceat(high[axis].take(sorted_items), begin)
    cost = np.zeros((nodes, bins - 1))
    for backward in (False, True):
        step = slice(None, None, -1 if backward else 1)
        below = np.minimum.accumulate(least[:, :, step], axis=2)[:, :, :-1]
        above = np.maximum.accumulate(most[:, :, step], axis=2)[:, :, :-1]
        sums = np.cumsum(number[:, step], axis=1)[:, :-1]
        empty = sums == 0.0
        below[:, empty], above[:, empty] = 0.0, 0.0
        cost += (half_surfaces(below, above) * sums)[:, step]
        # A border with nothing on one side divides nothing.
        cost[empty[:, step]] = np.inf
    # Of equally good borders the one nearest to the middle: boxes that are all alike make no chain.
    uneven = np.abs(2.0 * np.cumsum(number, axis=1)[:, :-1] - number.sum(axis=1)[:, None])
    uneven[cost > cost.min(axis=1)[:, None]] = np.inf
    return uneven.argmin(axis=1)


# ---------------------------------------------------------------------------------------------------------------------
# From the bottom, a generation at a time


def _bottom_up(low: FloatArray, high: FloatArray, middles: FloatArray, progress: Progress | None) -> Layout:
    """Merge boxes that are each other's best neighbours along the curve, until one is left."""
    count = low.shape[1]
    nodes = curve_order(middles)
    low, high = low[:, nodes], high[:, nodes]
    children = [np.full((count, 2), -1, dtype=np.intp)]
    made = count
    while len(nodes) > 1:
        one, other = _partners(low, high)
        children.append(np.stack([nodes[one], nodes[other]], axis=1))
        kept = np.ones(len(nodes), dtype=np.bool_)
        kept[other] = False
        nodes[one] = made + np.arange(len(one))
        made += len(one)
        low[:, one] = np.minimum(low[:, one], low[:, other])
        high[:, one] = np.maximum(high[:, one], high[:, other])
        low, high, nodes = low[:, kept], high[:, kept], nodes[kept]
        report_progress(progress, 1.0 - (len(nodes) - 1) / count)
    # The items are the first nodes.
    own = np.arange(made)
    return layout_of_children(np.concatenate(children), int(nodes[0]), own, np.ones_like(own), own)


def _partners(low: FloatArray, high: FloatArray) -> tuple[IntArray, IntArray]:
    """Return which of the boxes (dim, n) along the curve are to be merged with which others, later ones."""
    size = low.shape[1]
    number = np.arange(size)
    best, cost = np.zeros(size, dtype=np.intp), np.full(size, np.inf)
    for step in range(1, min(_NEAR, size - 1) + 1):
        surface = half_surfaces(np.minimum(low[:, :-step], low[:, step:]), np.maximum(high[:, :-step], high[:, step:]))
        for mine, its in ((number[:-step], number[step:]), (number[step:], number[:-step])):
            # Of equals the one next to it in a pair: equal boxes then merge two by two, not one after the other.
            here = cost[mine[0] : mine[-1] + 1]
            better = (surface < here) | ((surface == here) & (its == mine ^ 1))
            here[better] = surface[better]
            best[mine[0] : mine[-1] + 1][better] = its[better]
    mutual = (best[best] == number) & (number < best)
    if _SLOW * int(mutual.sum()) < size:
        # Rings of equal costs, or chains in which each box is nearest to the one before: two by two along the curve.
        taken = mutual.copy()
        taken[best[mutual]] = True
        pair = np.flatnonzero(~taken[:-1] & ~taken[1:])
        pair = pair[pair % 2 == 0]
        mutual[pair], best[pair] = True, pair + 1
    one = np.flatnonzero(mutual)
    return one, best[one]
