# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks around what is below each node of a mesh's tree, and the gaps between them.

The box around a piece of a smooth surface is about as thick as it is wide; a disk along the surface is thinner the
smaller the piece. Where two surfaces are nearly parallel, as those of a shaft in its bearing or of two links of a
chain, boxes leave hundreds of times as many pairs to be measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..hierarchy.nodes import both_children
from ..runs import chunks
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross, dot
from .coordinates import scale_points
from .surface import Surface, node_bounds

_DISK_ROUNDING = 64.0
"""Times EPS and the lengths that are added: what a thickness, or a gap of disks, may be wrong by. Times EPS: what the
square of a sine may."""
_CHUNK = 1 << 13  # nodes in one go: what is made of them on the way fits the cache


class NodeDisks(NamedTuple):
    """A disk for each node of a mesh's tree: what is below is in the ball of its radius and between its planes."""

    rows: FloatArray
    """(8, m) center; unit normal, zero where there is none; half the thickness along it; radius."""

    @classmethod
    def of(cls, mesh: Surface, exponent: int, is_near: Callable[[IntArray], BoolArray]) -> NodeDisks:
        """Return the disks of those nodes of a mesh's tree that are near, with the root and their parents, scaled by
        2**exponent; what nobody asks for is not made, and of children that are not near there are balls."""
        tree = mesh.tree
        rows, weights = np.empty((8, len(tree))), np.zeros(len(tree))
        low, high = (scale_points(bound, exponent) for bound in node_bounds(mesh))
        nodes: IntArray = np.arange(min(1, len(tree)))
        levels = []
        while len(nodes):
            least, most = low.take(nodes, axis=1), high.take(nodes, axis=1)
            rows[:3, nodes], sides = 0.5 * (least + most), most - least
            radius = 0.5 * np.sqrt(dot(sides, sides))
            rows[3:6, nodes], rows[6, nodes], rows[7, nodes] = 0.0, *_widened(radius.copy(), radius)
            levels.append(nodes[is_near(nodes)])
            left = tree.left.take(levels[-1])
            nodes = both_children(left[left >= 0])
        for level in levels[::-1]:
            is_leaf = tree.left.take(level) < 0
            leaves, inner = level[is_leaf], level[~is_leaf]
            for part in chunks(len(leaves), _CHUNK):
                nodes = leaves[part]
                corners = scale_points(mesh.corner_rows(tree.items.take(tree.first.take(nodes))), exponent)
                normal, weights[nodes] = _unit(cross(corners[1] - corners[0], corners[2] - corners[0]))
                away = corners - rows[:3].take(nodes, axis=1)
                thick = np.abs((away * normal).sum(axis=1)).max(axis=0)
                radius = np.sqrt((away * away).sum(axis=1).max(axis=0))
                rows[3:6, nodes], rows[6, nodes], rows[7, nodes] = normal, *_widened(thick, radius)
            for part in chunks(len(inner), _CHUNK):
                nodes = inner[part]
                left = tree.left.take(nodes)
                children = [(rows.take(k, axis=1), weights.take(k)) for k in (left, left + 1)]
                sums = [child[3:6] * weight for child, weight in children]
                normal, weights[nodes] = _unit(sums[0] + sums[1])
                center, ball = rows[:3].take(nodes, axis=1), rows[7].take(nodes)
                thick, radius = np.zeros((2, len(nodes)))
                for child, _ in children:
                    away = child[:3] - center
                    np.maximum(thick, np.abs(dot(away, normal)) + _reach(child, normal), out=thick)
                    np.maximum(radius, np.sqrt(dot(away, away)) + child[7], out=radius)
                np.minimum(radius, ball, out=radius)
                rows[3:6, nodes], rows[6, nodes], rows[7, nodes] = normal, *_widened(thick, radius)
        return cls(rows)

    def gaps(self, other: NodeDisks, i: IntArray, j: IntArray) -> FloatArray:
        """Return (n,) lower bounds of the distances of what is below nodes i of this tree and j of the other.

        They are those of cylinders along the normals of this tree's disks.
        """
        a, b = np.empty((2, 8, len(i)))
        self.rows.take(i, axis=1, out=a, mode="clip")
        other.rows.take(j, axis=1, out=b, mode="clip")
        across = b[:3] - a[:3]
        square = dot(across, across)
        along = dot(across, a[3:6])
        aside = (1.0 - _DISK_ROUNDING * EPS) * square
        aside -= along * along
        np.sqrt(np.maximum(aside, 0.0, out=aside), out=aside)
        aside -= a[7]
        aside -= b[7]
        np.abs(along, out=along)
        along -= a[6]
        along -= _reach(b, a[3:6])
        np.maximum(aside, 0.0, out=aside)
        np.maximum(along, 0.0, out=along)
        gap = np.hypot(aside, along)
        room = np.sqrt(square, out=square)
        room += a[7]
        room += b[7]
        room *= _DISK_ROUNDING * EPS
        gap -= room
        return np.maximum(gap, 0.0, out=gap)


def _unit(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return unit vectors (3, n), zero along zero, and the lengths."""
    length = np.sqrt(dot(vectors, vectors))
    return vectors / np.where(length > 0.0, length, np.inf), length


def _reach(disk: FloatArray, direction: FloatArray) -> FloatArray:
    """Return how far disks (8, n) may reach from their centers along unit vectors (3, n)."""
    cosine = dot(disk[3:6], direction)
    sine = np.sqrt(1.0 + _DISK_ROUNDING * EPS - cosine * cosine)
    sine *= disk[7]
    reach = np.abs(cosine, out=cosine)
    reach *= disk[6]
    reach += sine
    return np.minimum(reach, disk[7], out=reach)


def _widened(thick: FloatArray, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return thicknesses and radii with room for their rounding."""
    radius *= 1.0 + _DISK_ROUNDING * EPS
    return np.minimum(thick + _DISK_ROUNDING * EPS * radius, radius), radius
