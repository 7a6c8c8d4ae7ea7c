# SPDX-License-Identifier: GPL-3.0-or-later
"""The volumes of the nodes of a tree, merged from those of its items, from the deepest level up. Source: S3.3, S3.5."""

from __future__ import annotations

import numpy as np

from ..bounding.kdop import KDops
from ..bounding.volumes import Volumes
from ..progress import Progress, report_progress
from ..types import IntArray
from .nodes import Layout

_CHUNK = 1 << 15
"""Nodes whose volumes are merged at once, between two calls of the progress function."""


def node_volumes(volumes: Volumes, layout: Layout, progress: Progress | None = None) -> Volumes:
    """Return the volumes of all nodes from those of the items, from the deepest level up."""
    report_progress(progress, 0.0)
    if len(layout.left) == 0:
        return volumes.take([])
    begins = np.searchsorted(layout.level, np.arange(int(layout.level[-1]) + 2)).tolist()
    if isinstance(volumes, KDops):
        return _node_kdops(volumes, layout, begins, progress)
    starts = np.sort(layout.first[layout.left < 0])
    of_leaves = volumes.take(layout.items)
    if len(starts) < len(layout.items):
        of_leaves = of_leaves.reduce_groups(starts)
    levels: list[Volumes] = []
    below = of_leaves.take([])
    for begin, end in zip(begins[-2::-1], begins[:0:-1], strict=True):
        leaf = layout.left[begin:end] < 0
        parts = [of_leaves.take(np.searchsorted(starts, layout.first[begin:end][leaf]))]
        for start in range(0, len(below), 2 * _CHUNK):
            pairs = np.arange(start, min(start + 2 * _CHUNK, len(below)), 2)
            parts.append(below.take(pairs).merged(below.take(pairs + 1)))
            report_progress(progress, 1.0 - begin / len(layout.left))
        # First come the leaves of this level, then its inner nodes: put both in their places.
        order = np.argsort(np.concatenate([np.flatnonzero(leaf), np.flatnonzero(~leaf)]))
        below = type(volumes).concatenate(parts).take(order)
        levels.append(below)
    report_progress(progress, 1.0)
    return type(volumes).concatenate(levels[::-1])


def _node_kdops(volumes: KDops, layout: Layout, begins: list[int], progress: Progress | None) -> KDops:
    """Return the k-DOPs of all nodes, ten times as fast as others: every level is two steps over all slabs."""
    rows, nodes = len(volumes.directions), len(layout.left)
    leaves = np.flatnonzero(layout.left < 0)
    single = len(leaves) == len(layout.items)
    if not single:
        leaves = leaves[np.argsort(layout.first[leaves])]
    target = _as_slice(leaves) if single else leaves
    starts: IntArray = layout.first[leaves]
    chosen = layout.items[starts] if single else layout.items
    steps = []
    for level in range(len(begins) - 3, -1, -1):
        inner = begins[level] + np.flatnonzero(layout.left[begins[level] : begins[level + 1]] >= 0)
        begin, end = begins[level + 1], begins[level + 2]
        parents = _as_slice(inner)
        steps.append((parents, slice(begin, end, 2), slice(begin + 1, end, 2)))
    low, high = np.empty((2, rows, nodes))
    # One row at a time: it fits the cache on its way up the tree.
    for row in range(rows):
        row_pairs = ((low[row], volumes.low[:, row], np.minimum), (high[row], volumes.high[:, row], np.maximum))
        for node_row, item_row, better in row_pairs:
            if single and isinstance(target, slice):
                item_row.take(chosen, out=node_row[target], mode="clip")  # "raise" would make numpy take a copy
            else:
                node_row[target] = item_row.take(chosen) if single else better.reduceat(item_row.take(chosen), starts)
            for parents, a, b in steps:
                if isinstance(parents, slice):
                    better(node_row[a], node_row[b], out=node_row[parents])
                else:
                    node_row[parents] = better(node_row[a], node_row[b])
        report_progress(progress, row + 1, rows)
    return KDops(volumes.directions, low.T, high.T)


def _as_slice(indices: IntArray) -> IntArray | slice:
    """Return ascending indices as a slice if they have no gaps: numpy is several times as fast with these."""
    begin, end = int(indices[0]), int(indices[-1]) + 1
    return slice(begin, end) if end - begin == len(indices) else indices
