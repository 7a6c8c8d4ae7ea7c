# SPDX-License-Identifier: GPL-3.0-or-later
"""Fans over the borders of parts of a mesh: few triangles that look like many from afar.

From outside of the box around some triangles, these look like any other surface with the same border: a fan over the
border has few triangles and the same solid angle, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.nodes import Layout
from ..runs import ranges
from ..types import BoolArray, IntArray, ReadOnlyArrays, read_only
from .surface import Surface

LEAF = 64
"""Nodes of no more triangles have no nodes below them that matter."""


@dataclass(frozen=True, eq=False)
class Fans(ReadOnlyArrays):
    """A fan for each node of a mesh's tree that has more than LEAF triangles, or a node above that does."""

    triangles: NDArray[np.int32]
    """(f, 3) the triangles of all fans, those of one node together: numbers of points."""
    first: NDArray[np.int32]
    """(m,) the first triangle of each node's fan."""
    count: NDArray[np.int32]
    """(m,) how many its fan has."""


def fans_of(mesh: Surface) -> Fans:
    """Return the fans of the original of a mesh, which are kept with it: about 40 bytes a triangle."""
    known = mesh.known
    if "fans" not in known:
        known["fans"] = _fans(mesh.original)
    found = known["fans"]
    assert isinstance(found, Fans)
    return found


def _fans(mesh: Surface) -> Fans:
    """Make the fans of a mesh, from its leaves up: the border of a node is what is left of those of its children."""
    layout = mesh.layout
    corners = mesh.welded_ids.take(mesh.triangles)
    # Two corners in one place: no solid angle from anywhere.
    thin = (corners == corners.take([1, 2, 0], axis=1)).any(axis=1)
    parent, lowest = _lowest_nodes(layout)
    border = np.zeros((4, 0), dtype=np.intp)
    parts, owners = [], []
    for level in range(layout.depth - 1, -1, -1):
        leaves = np.flatnonzero(lowest & (layout.level == level))
        counts = layout.count.take(leaves)
        items, node = layout.items.take(ranges(layout.first.take(leaves), counts)), np.repeat(leaves, counts)
        proper = np.flatnonzero(~thin.take(items))
        chosen = items.take(proper)
        times = np.ones(len(chosen), dtype=np.intp) if mesh.times is None else mesh.times.take(chosen)
        own = _edges_of(node.take(proper), corners.take(chosen, axis=0), times)
        below = np.stack([parent.take(border[0]), *border[1:]])
        border = _reduced(np.concatenate([below, own], axis=1))
        fan, node = _fans_over(border)
        parts.append(fan.astype(np.int32))
        owners.append(node)
    node = np.concatenate(owners)
    count = np.bincount(node, minlength=len(layout))
    triangles = np.concatenate(parts).take(np.argsort(node, kind="stable"), axis=0)
    first = (np.cumsum(count) - count).astype(np.int32)
    return Fans(read_only(triangles), read_only(first), read_only(count.astype(np.int32)))


def _lowest_nodes(layout: Layout) -> tuple[IntArray, BoolArray]:
    """Return the node above each node, 0 for the root, and a mask of the highest nodes of no more than LEAF items."""
    parent = np.zeros(len(layout), dtype=np.intp)
    inner = np.flatnonzero(layout.left >= 0)
    left = layout.left.take(inner)
    parent[left] = parent[left + 1] = inner
    small = layout.count <= LEAF
    small |= layout.left < 0
    lowest = small & ~small.take(parent)
    lowest[0] = small[0]
    return parent, lowest


# A border is the directed edges (4, e) around the triangles below nodes, one column each: the node, the vertices where
# it starts and ends, and how often it is there.


def _edges_of(node: IntArray, triangles: IntArray, times: IntArray) -> IntArray:
    """Return the border of triangles (m, 3) by themselves, each in the node (m,) and so many times (m,) there."""
    ends = triangles.take([1, 2, 0], axis=1).ravel()
    return np.stack([np.repeat(node, 3), triangles.ravel(), ends, np.repeat(times, 3)])


def _reduced(border: IntArray) -> IntArray:
    """Return what is left when an edge and the same edge in the opposite direction undo each other in a node."""
    node, start, end, times = border
    low, high = np.minimum(start, end), np.maximum(start, end)
    begin, width = int(node.min(initial=0)), int(high.max(initial=0)) + 1
    if (times == 1).all() and 2 * (int(node.max(initial=0)) - begin + 1) * width**2 < 1 << 62:
        codes = 2 * (((node - begin) * width + low) * width + high) + (start < end)
        codes.sort()  # by far faster than to sort numbers of edges
        edge = codes >> 1
        first = np.flatnonzero(np.diff(edge, prepend=-1))
        forward = np.add.reduceat(codes & 1, first) if len(first) else first
        times = 2 * forward - np.diff(first, append=len(edge))
        left = np.flatnonzero(times)
        edge, times = edge.take(first.take(left)), times.take(left)
        edge, high = np.divmod(edge, width)
        node, low = np.divmod(edge, width)
        node += begin
    else:
        order = np.lexsort((high, low, node))
        edges = np.stack([node, low, high]).take(order, axis=1)
        first = np.flatnonzero((np.diff(edges, axis=1, prepend=-1) != 0).any(axis=0))
        times = np.add.reduceat(np.where(start < end, times, -times).take(order), first)
        left = np.flatnonzero(times)
        (node, low, high), times = edges.take(first.take(left), axis=1), times.take(left)
    return np.stack([node, np.where(times > 0, low, high), np.where(times > 0, high, low), np.abs(times)])


def _fans_over(border: IntArray) -> tuple[IntArray, IntArray]:
    """Return triangles (f, 3) from a vertex of a node's reduced border to its edges, and the node (f,) of each."""
    node, start, end, times = border
    first = np.flatnonzero(np.diff(node, prepend=-1))
    apex = np.repeat(start.take(first), np.diff(first, append=len(node)))
    times = np.where((apex == start) | (apex == end), 0, times)
    return np.repeat(np.stack([apex, start, end], axis=1), times, axis=0), np.repeat(node, times)
