# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchies from the top down: the items of each node are divided along the longest axis, a level at a time.

Source: S3.3.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..bounding.volumes import half_surfaces
from ..progress import Progress, report_progress
from ..runs import chunks, ranges
from ..types import BoolArray, FloatArray, IntArray
from .nodes import Layout

Split = Literal["sah", "median", "mean", "middle"]

_BINS = 16
"""Borders of the surface area heuristic on the longest axis of a node."""

_FEW = 8
"""Items of a node up to which there is a border between every two of them."""

_NODES = 1 << 11
"""Nodes that are divided by the surface area heuristic at once: their temporary arrays fit into the cache."""


def top_down_layout(
    low: FloatArray, high: FloatArray, middles: FloatArray, split: Split, most: int, progress: Progress | None
) -> Layout:
    """Divide the items along the longest axis of their middles until no more than `most` are left in a node."""
    total = middles.shape[1]
    # Ranks along each axis are distinct, so that ties fall alike on every machine.
    ranks = np.empty(middles.shape, dtype=np.intp)
    for axis, row in enumerate(middles):
        ranks[axis, np.argsort(row, kind="stable")] = np.arange(total)
    items = np.arange(total)
    first, counts = np.zeros(1, dtype=np.intp), np.array([total], dtype=np.intp)
    levels: list[tuple[IntArray, IntArray, IntArray]] = []
    made, ahead = 1, 0.0
    while len(first):
        divided = counts > most
        left = np.full(len(first), -1, dtype=np.intp)
        left[divided] = made + 2 * np.arange(int(divided.sum()))
        levels.append((left, first, counts))
        begin, both = first[divided], counts[divided]
        halves = _divide(items, middles, ranks, low, high, begin, both, split) if len(begin) else both
        made += 2 * len(halves)
        first = np.stack([begin, begin + halves], axis=1).ravel()
        counts = np.stack([halves, both - halves], axis=1).ravel()
        # What lies ahead of a node is its items times the levels below it.
        work = float((counts * np.log2(np.maximum(counts, 1))).sum())
        ahead = ahead or work + total
        report_progress(progress, 1.0 - work / ahead)
    level = np.repeat(np.arange(len(levels)), [len(left) for left, _, _ in levels])
    left, first, counts = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    return Layout(left, first, counts, items, level)


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
        rank = _rank_in_node(inside[chosen], axis[owner[chosen]], ranks, owner[chosen])
        right[chosen] = rank >= half[owner[chosen]]
        in_first = np.where(uneven, half, in_first)
    # Items that go left come first, both in the order in which they were.
    before: IntArray = np.cumsum(~right) - ~right
    before = before - before[start][owner]
    within = np.arange(len(owner)) - start[owner]
    items[place[start[owner] + np.where(right, in_first[owner] + within - before, before)]] = inside
    return in_first


def _rank_in_node(items: IntArray, axis: IntArray, ranks: IntArray, owner: IntArray) -> IntArray:
    """Return the places (n,) of items in the order along the axis of their node, counted from 0 in each node."""
    order = np.argsort(owner * ranks.shape[1] + ranks[axis, items])  # no two are equal
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
    """Return a mask of the items of the second child, for the least surface area times items over both children.

    Borders are between bins of equal width, in nodes of few items between every two of them.
    """
    right = np.empty(len(items), dtype=np.bool_)
    for few in (True, False):
        chosen = np.flatnonzero((count <= _FEW) == few)
        # Neighbouring nodes have their items one after the other if those between them are left out.
        for chunk in chunks(len(chosen), _NODES):
            nodes = chosen[chunk]
            sizes = count[nodes]
            place = ranges(start[nodes], sizes)
            owner = np.repeat(np.arange(len(nodes)), sizes)
            own = items[place]
            if few:
                bins = _FEW
                cell = _rank_in_node(own, axis[nodes][owner], ranks, owner)
            else:
                bins = _BINS
                width = most[nodes] - least[nodes]
                width[width == 0.0] = 1.0
                # Divided first: the inverse of the smallest widths is infinite.
                fraction = (along[place] - least[nodes][owner]) / width[owner]
                cell = (fraction * _BINS).astype(np.intp)
                np.minimum(cell, _BINS - 1, out=cell)
            right[place] = cell > _cheapest_border(low, high, own, owner * bins + cell, len(nodes), bins)[owner]
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
        cost += (half_surfaces(above - below) * sums)[:, step]
        # A border with nothing on one side divides nothing.
        cost[empty[:, step]] = np.inf
    # Of equally good borders the one nearest to the middle: boxes that are all alike make no chain.
    uneven = np.abs(2.0 * np.cumsum(number, axis=1)[:, :-1] - number.sum(axis=1)[:, None])
    uneven[cost > cost.min(axis=1)[:, None]] = np.inf
    return uneven.argmin(axis=1)
