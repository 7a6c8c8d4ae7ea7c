# SPDX-License-Identifier: GPL-3.0-or-later
"""Many convex polytopes as arrays, and what tests of pairs need to know of each one.

1. The vertices, from their mean, in blocks of equal size: those of smaller polytopes are padded with the first one.
2. A bounding sphere and an inscribed sphere about the mean.
3. The interval of the polytope along each of 32 fixed axes, in single precision: disjoint intervals separate a pair.
4. Bounds of its gauge function (by which factor the polytope must be scaled about the mean to reach a point) at the
   nodes of a grid on the octahedron |x| + |y| + |z| = 1: how far it reaches at least in any direction. The gauge is
   convex, so between the nodes it is at most the interpolated one.

A pose turns and moves 1 to 3; 4 stays as it is, in the axes of the polytope. Source: S4.4; C. Ericson, Real-Time
Collision Detection, 4.6 (k-DOPs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..progress import Progress, report_progress, subrange, tracked
from ..shapes.polytope import Polytope
from ..tolerance import BATCH_CORNERS, EPS, SINGLE_EPS, SUPPORT_ROUNDING
from ..types import FloatArray, IntArray, read_only
from .vectors import SingleArray

AXES = 32
"""Fixed axes along which the interval of every polytope is known."""
BLOCK = 65_536
"""Numbers gathered or multiplied at a time, so that they are still in the cache when they are read again."""
STEPS = 6
"""Cells of the octahedron's grid from a pole to the equator."""
_INTERVAL_ROUNDING = 8.0
"""Times SINGLE_EPS and the distance of the farthest vertex from the common origin: what an interval is widened by on
either side. Rounded vertices, axes and products take 2.5 of the polytope's own size, sums and differences 2.5 of all.
"""
_THINNEST = 1e-36
"""Not relative: radius of inscribed spheres below which gauges overflow in single precision, and are not used."""


def _spread_axes() -> FloatArray:
    """Return unit vectors (AXES, 3), the coordinate axes among them, of which no two are nearly parallel."""
    count = AXES - 3
    z = 1.0 - (np.arange(count) + 0.5) / count
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    ring = np.sqrt(1.0 - z * z)
    spiral = np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)
    return read_only(np.concatenate([np.eye(3), spiral]))


def _octahedron_nodes() -> FloatArray:
    """Return the nodes (k, 3) of the grid: for z >= 0, then for z <= 0, row by row of the grid of x and y.

    Nodes outside of the octahedron are in the plane of one of its faces, so that each cell is in one plane.
    """
    x, y = np.meshgrid(*[np.arange(-STEPS, STEPS + 1) / STEPS] * 2, indexing="ij")
    z = 1.0 - np.abs(x) - np.abs(y)
    return read_only(np.concatenate([np.stack([x, y, sign * z], axis=2).reshape(-1, 3) for sign in (1.0, -1.0)]))


FIXED_AXES = _spread_axes()
_NODES = _octahedron_nodes()
_NODE_ROW = 2 * STEPS + 1


@dataclass(frozen=True, eq=False)
class HullTable:
    """Many convex polytopes in space. World frame, unit of the coordinates; read-only."""

    centers: FloatArray
    """(6, n) rows 0 to 2 the centre of the bounding box, 3 to 5 the vector from there to the mean of the vertices,
    about which all else is measured."""
    radii: FloatArray
    """(3, n) of the bounding and the inscribed sphere about the mean; rounding of a height of a vertex."""
    interval_centers: SingleArray
    """(n, AXES) middle of the interval along each axis, from an origin common to all."""
    interval_radii: SingleArray
    """(n, AXES) half the length of the interval, rounding included."""
    blocks: tuple[FloatArray, ...]
    """Of each padded size (k, 3, v): the vertices of its polytopes from their mean."""
    block: IntArray
    """(n,) block of each polytope."""
    slot: IntArray
    """(n,) place in its block."""
    count: IntArray
    """(n,) number of vertices."""
    gauges: SingleArray
    """(n, nodes) upper bounds of the gauge function at the octahedron's nodes, in the polytope's own axes; 0 where it
    has no inside. Rounding is included."""
    axes: FloatArray | None = None
    """(n, 3, 3) the polytopes' own axes in rows; None where these are the world's."""

    def __len__(self) -> int:
        """Return the number of polytopes."""
        return len(self.block)

    @classmethod
    def of(cls, shapes: Sequence[Polytope], progress: Progress | None = None) -> HullTable:
        """Return a table of polytopes of any rank. Raise Cancelled."""
        number = len(shapes)
        centers, radii = np.zeros((6, number)), np.zeros((3, number))
        count = np.array([len(shape.vertices) for shape in shapes], dtype=np.intp)
        size, block, slot = _padded_sizes(count), *np.zeros((2, number), dtype=np.intp)
        blocks: list[FloatArray] = []
        for k in np.unique(size).tolist():
            members = np.flatnonzero(size == k)
            block[members], slot[members] = len(blocks), np.arange(len(members))
            places = np.arange(k)
            padded = [shapes[n]._centred.take(places * (places < count[n]), axis=0) for n in members.tolist()]
            vertices = np.ascontiguousarray(np.array(padded).transpose(0, 2, 1))
            mean = vertices.mean(axis=2)
            vertices -= mean[:, :, None]
            centers[3:, members] = mean.T
            radii[0, members] = np.sqrt(np.einsum("kcv,kcv->kv", vertices, vertices).max(axis=1))
            blocks.append(read_only(vertices))
            report_progress(progress, 0.3 * (block >= 0).mean())
        if number:
            centers[:3] = np.array([shape.center for shape in shapes]).T
        solid = [k for k, shape in enumerate(shapes) if shape.rank == 3]
        owner = np.repeat(np.array(solid, dtype=np.intp), [len(shapes[k].normals) for k in solid])
        normals = np.concatenate([np.empty((0, 3)), *(shapes[k].normals for k in solid)])
        offsets = np.concatenate([np.empty(0), *(shapes[k].offsets for k in solid)])
        offsets -= np.einsum("fc,cf->f", normals, centers[3:].take(owner, axis=1))
        if solid:
            radii[1, solid] = np.minimum.reduceat(offsets, np.flatnonzero(np.diff(owner, prepend=-1)))
        reach = np.abs(centers[:3]).max(axis=0, initial=0.0) + radii[0]
        radii[2] = EPS * (2.0 * SUPPORT_ROUNDING * radii[0] + BATCH_CORNERS * reach)
        radii[1] -= 2.0 * radii[2]
        radii[1, radii[1] < _THINNEST] = 0.0
        gauges = _gauges_at_nodes(owner, normals, offsets, radii, subrange(progress, 0.3, 1.0))
        intervals = _intervals(centers, radii, blocks, block)
        return cls(
            read_only(centers), read_only(radii), *intervals, tuple(blocks), block, slot, count, read_only(gauges)
        )

    def posed(self, axes: FloatArray, centers: FloatArray) -> HullTable:
        """Return the polytopes turned and moved.

        `axes` (n, 3, 3) are orthonormal, row k the image of world axis k; `centers` (n, 3) are the images of the
        origin.
        """
        mean = np.matmul((self.centers[:3] + self.centers[3:]).T[:, None, :], axes)[:, 0]
        mean += centers
        moved, radii = np.zeros((6, len(self))), self.radii.copy()
        moved[:3] = mean.T
        turns = np.ascontiguousarray(axes.transpose(0, 2, 1))
        blocks = [read_only(np.matmul(turns.take(members, axis=0), block)) for members, block in self._members()]
        reach = np.abs(mean).max(axis=1, initial=0.0) + radii[0]
        radii[2] = EPS * (4.0 * SUPPORT_ROUNDING * radii[0] + BATCH_CORNERS * reach)
        radii[0] += radii[2]
        radii[1] = np.maximum(radii[1] - radii[2], 0.0)
        intervals = _intervals(moved, radii, blocks, self.block)
        own = axes if self.axes is None else np.matmul(self.axes, axes)
        places = self.block, self.slot, self.count
        return HullTable(read_only(moved), read_only(radii), *intervals, tuple(blocks), *places, self.gauges, own)

    def _members(self) -> list[tuple[IntArray, FloatArray]]:
        return [(np.flatnonzero(self.block == k), block) for k, block in enumerate(self.blocks)]

    def order(self, i: IntArray, j: IntArray) -> IntArray:
        """Return an order of pairs in which those of the same blocks follow each other."""
        return np.lexsort((self.block.take(j), self.block.take(i)))

    def offsets(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return the vectors (3, m) from the means of polytopes i (m,) to those of polytopes j (m,)."""
        offsets = self.centers.take(j, axis=1)
        offsets -= self.centers.take(i, axis=1)
        offsets[:3] += offsets[3:]
        return offsets[:3]

    def vertices(self, numbers: IntArray, indices: IntArray) -> FloatArray:
        """Return vertices `indices` (k, m) of polytopes `numbers` (m,), from their means, as (3, k, m)."""
        result = np.empty((3, *indices.shape))
        blocks, slots = self.block.take(numbers), self.slot.take(numbers)
        for k, block in enumerate(self.blocks):
            columns = np.flatnonzero(blocks == k) if len(self.blocks) > 1 else slice(None)
            size = block.shape[2]
            place = 3 * size * slots[columns] + indices[:, columns]
            result[:, :, columns] = block.ravel().take(place + size * np.arange(3)[:, None, None])
        return result

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return lowest and highest corners (3, n) of the axis-aligned bounding boxes, to rounding."""
        low, high = np.empty((2, 3, len(self)))
        for members, block in self._members():
            rows = np.ascontiguousarray(block.transpose(1, 2, 0))  # reduced along the long axis
            low[:, members], high[:, members] = rows.min(axis=1), rows.max(axis=1)
        mean = self.centers[:3] + self.centers[3:]
        return mean + low, mean + high

    @cached_property
    def scratch(self) -> FloatArray:
        """Memory for gathered vertices and their heights: a new array of this size would be cleared each time."""
        largest = max((block.shape[2] for block in self.blocks), default=1)
        return np.empty(max(BLOCK, 9 * largest))

    def gauge(self, numbers: IntArray, points: FloatArray) -> FloatArray:
        """Return upper bounds (m,) of the gauges of polytopes `numbers` (m,) at points (3, m) from their means."""
        if self.axes is not None:
            points = np.einsum("mkc,cm->km", self.axes.take(numbers, axis=0), points)
        x, y, z = points
        norm = np.abs(x) + np.abs(y)
        norm += np.abs(z)
        scale = STEPS / np.where(norm > 0.0, norm, 1.0)
        u, v = x * scale, y * scale
        u += STEPS
        v += STEPS
        row, column = (np.minimum(t.astype(np.intp), _NODE_ROW - 2) for t in (u, v))
        u -= row
        v -= column
        node = 2 * numbers
        node += z < 0.0
        node *= _NODE_ROW
        node += row
        node *= _NODE_ROW
        node += column
        flat = self.gauges.reshape(-1)
        low, high = (flat.take(node + k) * (1.0 - v) + flat.take(node + (k + 1)) * v for k in (0, _NODE_ROW))
        high -= low
        high *= u
        low += high
        return low * norm


def _padded_sizes(counts: IntArray) -> IntArray:
    """Return the size of each polytope's block: 8, 12, 16, 24, 32 and so on."""
    steps = np.array([k << n for n in range(3, 40) for k in (2, 3)]) >> 1
    return steps[np.searchsorted(steps, counts)]


def _gauges_at_nodes(
    owner: IntArray, normals: FloatArray, offsets: FloatArray, radii: FloatArray, progress: Progress | None
) -> SingleArray:
    """Return `HullTable.gauges` from facet planes (f, 3), (f,) about the means: the largest n.x / d of all."""
    gauges = np.zeros((radii.shape[1], len(_NODES)), dtype=np.float32)
    used = np.flatnonzero(np.abs(_NODES[:, :2]).sum(axis=1) < 1.0 + 2.5 / STEPS)
    nodes = np.ascontiguousarray(_NODES[used].T) * (1.0 + SINGLE_EPS)  # rounded up
    thick = np.flatnonzero(radii[1].take(owner) > 0.0)
    owner = owner.take(thick)
    planes = normals.take(thick, axis=0) / (offsets.take(thick) - 2.0 * radii[2].take(owner))[:, None]
    step = BLOCK // len(used)
    starts = np.flatnonzero(np.diff(owner, prepend=-1)).tolist()
    for start, end in tracked(list(pairwise([*starts, len(owner)])), progress):
        largest = np.zeros(len(used), dtype=np.float32)
        for k in range(start, end, step):
            np.maximum(largest, (planes[k : min(k + step, end)] @ nodes).max(axis=0), out=largest)
        gauges[owner[start], used] = largest
    return gauges


def _intervals(
    centers: FloatArray, radii: FloatArray, blocks: Sequence[FloatArray], block: IntArray
) -> tuple[SingleArray, SingleArray]:
    """Return `interval_centers` and `interval_radii` of a table."""
    low, high = np.empty((2, AXES, centers.shape[1]), dtype=np.float32)
    axes = FIXED_AXES.astype(np.float32)
    for k, vertices in enumerate(blocks):
        members, size = np.flatnonzero(block == k), vertices.shape[2]
        step = max(1, BLOCK // (4 * size))
        for start in range(0, len(members), step):
            chosen = members[start : start + step]
            rows = vertices[start : start + step].transpose(1, 2, 0).astype(np.float32, order="C")
            heights = (axes @ rows.reshape(3, -1)).reshape(AXES, size, -1)
            low[:, chosen], high[:, chosen] = heights.min(axis=1), heights.max(axis=1)
    mean = centers[:3] + centers[3:]
    if len(block):
        mean -= 0.5 * (mean.min(axis=1) + mean.max(axis=1))[:, None]
    middle, half = FIXED_AXES @ mean, 0.5 * (high - low)
    middle += 0.5 * (low + high)
    reach = np.sqrt(np.einsum("cn,cn->n", mean, mean)) + radii[0]
    half += (_INTERVAL_ROUNDING * SINGLE_EPS * reach + radii[2]).astype(np.float32)
    return read_only(middle.T.astype(np.float32, order="C")), read_only(np.ascontiguousarray(half.T))
