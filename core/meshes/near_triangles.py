# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs of triangles of two surfaces that are no farther apart than a length: one descent of both trees, which of
few triangles takes longer than to compare all.

Boxes leave out most, disks along the surfaces what is parallel over a wide area, slabs the last. Source: S3.4.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..hierarchy.nodes import both_children, crossed_children
from ..runs import chunks
from ..tolerance import EPS, KDOP_GAP
from ..types import BoolArray, IntArray
from .coordinates import scale_points
from .mesh_distance import BoxGaps, disks_within
from .node_disks import NodeDisks
from .surface import Surface, node_bounds
from .triangle_distance import slabs

_FIRST_LEVEL = 4
"""All pairs of nodes on this level are the first to be compared."""
_FEW = 1 << 14
"""Pairs of triangles whose boxes are all compared."""
_CHUNK = 4_000
"""Pairs of nodes compared in one go: what is made of them on the way fits the cache."""
_SIEVED = 1 << 13
"""Pairs of triangles in one go."""
_DISKS = 1 << 14
"""Pairs of nodes compared from which on it pays to make disks, unless there are eight times as many nodes."""


def near_triangles(a: Surface, b: Surface, reach: float) -> IntArray:
    """Return pairs (k, 2) of a triangle of A and one of B in ascending order: all that are no farther apart than
    `reach`, and few others."""
    if len(a.triangles) * len(b.triangles) <= _FEW:
        return np.ascontiguousarray(_sieved(a, b, np.stack(np.nonzero(_are_near(a, b, reach))), reach).T)
    found = [np.zeros((2, 0), dtype=np.intp), *(np.stack(pairs) for pairs in near_pairs(a, b, reach))]
    pairs = _sieved(a, b, np.concatenate(found, axis=1), reach)
    return np.ascontiguousarray(pairs.take(np.lexsort(pairs[::-1]), axis=1).T)


def _are_near(a: Surface, b: Surface, reach: float) -> BoolArray:
    """Return (m, n) whether boxes of triangles of A and of B are no farther apart than `reach` along any axis."""
    p, q = (np.ascontiguousarray(mesh.points.T).take(mesh.triangles.T, axis=1) for mesh in (a, b))
    (low, high), (other_low, other_high) = ((rows.min(axis=1), rows.max(axis=1)) for rows in (p, q))
    gaps = np.maximum(low[..., None] - other_high[:, None], other_low[:, None] - high[..., None]).max(axis=0)
    return np.asarray(gaps * (1.0 - KDOP_GAP * EPS) <= reach)


def near_pairs(a: Surface, b: Surface, reach: float) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of triangles of two meshes, many at a time: all but those whose boxes or disks prove that they are
    farther apart than `reach`."""
    trees, gaps = (a.tree, b.tree), BoxGaps(*node_bounds(a), *node_bounds(b))
    disks: tuple[NodeDisks, ...] = ()
    first, second = (tree.nodes_down_to(_FIRST_LEVEL) for tree in trees)
    waiting, compared = [(np.repeat(first, len(second)), np.tile(second, len(first)))], 0
    found: list[list[IntArray]] = []
    while waiting:
        i, j = waiting.pop()
        if len(i) > _CHUNK:
            waiting.append((i[:-_CHUNK], j[:-_CHUNK]))
            i, j = i[-_CHUNK:], j[-_CHUNK:]
        compared += len(i)
        near = np.flatnonzero(gaps(i, j) <= reach)
        i, j = i.take(near), j.take(near)
        if reach > 0.0 and compared > max(_DISKS, (len(trees[0]) + len(trees[1])) // 8):
            disks = disks or disks_within(a, b, gaps, reach)
            near = np.flatnonzero(scale_points(disks[0].gaps(disks[1], i, j), -gaps.exponent) <= reach)
            i, j = i.take(near), j.take(near)
        left_i, left_j = trees[0].left.take(i), trees[1].left.take(j)
        leaf_i, leaf_j = left_i < 0, left_j < 0
        ends = np.flatnonzero(leaf_i & leaf_j)
        found.append([tree.items.take(tree.first.take(k.take(ends))) for tree, k in zip(trees, (i, j), strict=True)])
        both = np.flatnonzero(~(leaf_i | leaf_j))
        of_a, of_b = np.flatnonzero(leaf_j & ~leaf_i), np.flatnonzero(leaf_i & ~leaf_j)
        parts = (
            crossed_children(left_i.take(both), left_j.take(both)),
            (both_children(left_i.take(of_a)), np.repeat(j.take(of_a), 2)),
            (np.repeat(i.take(of_b), 2), both_children(left_j.take(of_b))),
        )
        waiting += [part for part in parts if len(part[0])]
        if not waiting or sum(len(p) for p, _ in found) >= _SIEVED:
            p, q = (np.concatenate(column) for column in zip(*found, strict=True))
            yield p, q
            found.clear()


def _sieved(a: Surface, b: Surface, pairs: IntArray, reach: float) -> IntArray:
    """Return those of pairs (2, k) of triangles that no slab shows to be farther apart than `reach`."""
    kept = [pairs[:, :0]]
    for part in chunks(pairs.shape[1], _SIEVED):
        p, q = pairs[:, part]
        near = np.flatnonzero(slabs(a.corner_rows(p), b.corner_rows(q), across_faces=True) <= reach)
        kept.append(pairs[:, part].take(near, axis=1))
    return np.concatenate(kept, axis=1)
