# SPDX-License-Identifier: GPL-3.0-or-later
"""Many convex polytopes as arrays, and what tests of pairs need to know of each one.

1. The vertices, from their mean, in blocks of equal size: those of smaller polytopes are padded with the first one.
2. A bounding sphere and an inscribed sphere about the mean.
3. The interval of the polytope along each of 32 fixed axes, in single precision: disjoint intervals separate a pair.
4. Upper bounds of its gauge function, from its facet planes (`gauges`).

A pose leaves vertices and gauges as they are: directions and points are transformed back, what is found is transformed
forth. Source: S4.4; C. Ericson, Real-Time Collision Detection, 4.6 (k-DOPs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...progress import Progress, report_progress, subrange
from ...runs import chunks
from ...shapes.polytope import Polytope
from ...tolerance import BATCH_CORNERS, EPS, SINGLE_EPS, SUPPORT_ROUNDING
from ...types import FloatArray, IntArray, read_only
from ...vectors import cross, dot
from .columns import SingleArray, einsum
from .fixed_axes import AXES, FIXED_AXES
from .gauges import gauge_bounds, gauges_at_nodes

BLOCK = 65_536
"""Numbers gathered or multiplied at a time, so that they are still in the cache when they are read again."""
_INTERVAL_ROUNDING = 8.0
"""Times SINGLE_EPS and the distance of the farthest vertex from the common origin: what an interval is widened by on
either side. Rounded vertices, axes and products take 2.5 of the polytope's own size, sums and differences 2.5 of all.
"""
_THINNEST = 1e-36
"""Not relative: radius of inscribed spheres below which gauges overflow in single precision, and are not used."""
_FLATTEST = 1e-3
"""Relative: least stretch of a pose below which it cannot be inverted exactly enough for gauges."""
_RIGID = 1e-9
"""Relative: stretch of a pose up to which its inverse is its transpose for gauges, which are rounded up by far more."""
_STRETCH_ROUNDING = 16.0
"""Times EPS, relative: what the stretches of a pose may be computed wrong by."""


@dataclass(frozen=True, eq=False)
class HullTable:
    """Many convex polytopes in space. World frame, unit of the coordinates; read-only."""

    centers: FloatArray
    """(6, n) rows 0 to 2 the centre of the bounding box, or where a pose took the mean of the vertices to; 3 to 5 the
    vector from there to the mean, about which all else is measured."""
    radii: FloatArray
    """(3, n) of the bounding and the inscribed sphere about the mean; rounding of a height of a vertex."""
    blocks: tuple[FloatArray, ...]
    """Of each padded size (k, 3, v): the vertices of its polytopes from their mean, before poses."""
    block: IntArray
    """(n,) block of each polytope."""
    slot: IntArray
    """(n,) place in its block."""
    count: IntArray
    """(n,) number of vertices."""
    gauges: SingleArray
    """(m, nodes) upper bounds of the gauge functions before poses; 0 where there is no inside. Rounding is included."""
    gauge: IntArray
    """(n,) row of `gauges` of each polytope."""
    linear: FloatArray | None = None
    """(3, 3, n) linear parts of the poses, rows first; None: the polytopes are as they were."""
    inverse: FloatArray | None = None
    """(3, 3, n) inverses of these, for gauges; 0 where there is none."""

    def __len__(self) -> int:
        """Return the number of polytopes."""
        return len(self.block)

    @classmethod
    def of(cls, shapes: Sequence[Polytope], progress: Progress | None = None) -> HullTable:
        """Return a table of polytopes of any rank. Raise Cancelled."""
        number = len(shapes)
        count = np.array([len(shape.vertices) for shape in shapes], dtype=np.intp)
        vertices = np.ascontiguousarray(np.concatenate([np.empty((0, 3)), *(shape.vertices for shape in shapes)]).T)
        first = np.cumsum(count) - count
        centers, radii = np.zeros((6, number)), np.zeros((3, number))
        if number:
            low, high = (extreme.reduceat(vertices, first, axis=1) for extreme in (np.minimum, np.maximum))
            centers[:3] = 0.5 * low + 0.5 * high
        size, block, slot = _padded_sizes(count), *np.zeros((2, number), dtype=np.intp)
        blocks: list[FloatArray] = []
        for k in np.unique(size).tolist():
            members = np.flatnonzero(size == k)
            block[members], slot[members] = len(blocks), np.arange(len(members))
            places = np.arange(k)
            index = first[members, None] + places * (places < count[members, None])
            padded = vertices.take(index, axis=1)
            padded -= centers[:3, members, None]
            padded = np.ascontiguousarray(padded.transpose(1, 0, 2))
            mean = padded.mean(axis=2)
            padded -= mean[:, :, None]
            centers[3:, members] = mean.T
            radii[0, members] = np.sqrt(einsum("kcv,kcv->kv", padded, padded).max(axis=1))
            blocks.append(read_only(padded))
        report_progress(progress, 0.3)
        radii[2] = _height_rounding(np.abs(centers[:3]).max(axis=0, initial=0.0), radii[0])
        gauges = _gauges(shapes, centers[3:], radii, subrange(progress, 0.3, 1.0))
        return cls(read_only(centers), read_only(radii), tuple(blocks), block, slot, count, gauges, np.arange(number))

    @classmethod
    def gathered(cls, *sources: tuple[HullTable, IntArray]) -> HullTable:
        """Return polytopes `numbers` (m,) of each of several tables, none of which may be posed, in turn."""

        def rows(name: str) -> Any:
            arrays = [(getattr(table, name), numbers) for table, numbers in sources]
            return read_only(np.concatenate([array.take(numbers, axis=-1) for array, numbers in arrays], axis=-1))

        sizes = [np.array([block.shape[2] for block in table.blocks]) for table, _ in sources]
        size = np.concatenate(
            [of[table.block.take(numbers)] for of, (table, numbers) in zip(sizes, sources, strict=True)]
        )
        block, slot = np.zeros((2, len(size)), dtype=np.intp)
        blocks: list[FloatArray] = []
        for k in np.unique(size).tolist():
            members, parts = np.flatnonzero(size == k), []
            block[members], slot[members] = len(blocks), np.arange(len(members))
            for of, (table, numbers) in zip(sizes, sources, strict=True):
                for place in np.flatnonzero(of == k).tolist():
                    own = numbers[table.block.take(numbers) == place]
                    parts.append(table.blocks[place].take(table.slot.take(own), axis=0))
            blocks.append(read_only(np.concatenate(parts)))
        gauges = np.concatenate([table.gauges.take(table.gauge.take(numbers), axis=0) for table, numbers in sources])
        places = tuple(blocks), block, slot, rows("count")
        return cls(rows("centers"), rows("radii"), *places, read_only(gauges), np.arange(len(size)))

    def posed(self, numbers: IntArray, affine: FloatArray) -> HullTable:
        """Return polytopes `numbers` (m,) of the table, the same several times too, transformed by affine matrices
        (3, 4, m), also sheared, mirrored and flat ones."""
        mean = (self.centers[:3] + self.centers[3:]).take(numbers, axis=1)
        centers, radii = np.zeros((6, len(numbers))), self.radii.take(numbers, axis=1)
        rows, offsets = affine[:, :3], affine[:, 3]
        turned = einsum("rcm,cm->rm", rows, mean)
        np.add(turned, offsets, out=centers[:3])
        largest, least, inverse = _stretches(rows)
        reach = np.abs(turned)
        for other in (offsets, centers[:3]):
            np.maximum(reach, np.abs(other), out=reach)
        radii[0] *= largest
        rounding = largest * radii[2] + _height_rounding(reach.max(axis=0, initial=0.0), 2.0 * radii[0])
        radii[0] += rounding
        radii[1] = np.maximum(radii[1] * least - rounding, 0.0)
        radii[2] = rounding
        if self.linear is not None and self.inverse is not None:
            rows = einsum("rkm,kcm->rcm", rows, self.linear.take(numbers, axis=2))
            inverse = einsum("rkm,kcm->rcm", self.inverse.take(numbers, axis=2), inverse)
        block, slot, count, gauge = (of.take(numbers) for of in (self.block, self.slot, self.count, self.gauge))
        places, gauges = (self.blocks, block, slot, count), (self.gauges, gauge)
        return HullTable(read_only(centers), read_only(radii), *places, *gauges, rows, inverse)

    def order(self, i: IntArray, j: IntArray) -> IntArray:
        """Return an order of pairs in which those of the same blocks follow each other."""
        if len(self.blocks) == 1:
            return np.arange(len(i))
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
        if self.linear is not None:
            result = einsum("rcm,ckm->rkm", self.linear.take(numbers, axis=2), result)
        return result

    def _vertex_rows(self, step: int) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield `step` numbers, or fewer, at a time, and coordinates (k, 3, v) of these polytopes' vertices from their
        means; more of them where there are few vertices."""
        for k, block in enumerate(self.blocks):
            members = np.flatnonzero(self.block == k)
            for part in chunks(len(members), step // block.shape[2]):
                chosen = members[part]
                vertices = block.take(self.slot.take(chosen), axis=0)
                if self.linear is not None:
                    turns = np.ascontiguousarray(self.linear.take(chosen, axis=2).transpose(2, 0, 1))
                    vertices = np.matmul(turns, vertices)
                yield chosen, vertices

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return lowest and highest corners (3, n) of the axis-aligned bounding boxes, to rounding."""
        low, high = np.empty((2, 3, len(self)))
        for chosen, vertices in self._vertex_rows(BLOCK // 3):
            rows = np.ascontiguousarray(vertices.transpose(2, 1, 0))  # reduced along the long axis
            low[:, chosen], high[:, chosen] = rows.min(axis=0), rows.max(axis=0)
        mean = self.centers[:3] + self.centers[3:]
        return mean + low, mean + high

    @cached_property
    def intervals(self) -> tuple[SingleArray, SingleArray]:
        """(n, AXES) middle of the interval along each fixed axis, from an origin common to all, and half its length,
        rounding included."""
        low, high = np.empty((2, AXES, len(self)), dtype=np.float32)
        axes = FIXED_AXES.astype(np.float32)
        for chosen, vertices in self._vertex_rows(BLOCK // 4):
            # One product for each vertex: a large one is shared among threads, which wait for each other.
            heights = np.matmul(axes, vertices.transpose(2, 1, 0).astype(np.float32, order="C"))
            low[:, chosen], high[:, chosen] = heights.min(axis=0), heights.max(axis=0)
        mean = self.centers[:3] + self.centers[3:]
        if len(self):
            mean -= 0.5 * (mean.min(axis=1) + mean.max(axis=1))[:, None]
        middle, half = FIXED_AXES @ mean, 0.5 * (high - low)
        middle += 0.5 * (low + high)
        reach = np.sqrt(dot(mean, mean)) + self.radii[0]
        half += (_INTERVAL_ROUNDING * SINGLE_EPS * reach + self.radii[2]).astype(np.float32)
        return read_only(middle.T.astype(np.float32, order="C")), read_only(np.ascontiguousarray(half.T))

    @cached_property
    def scratch(self) -> FloatArray:
        """Memory for gathered vertices and their heights: a new array of this size would be cleared each time."""
        largest = max((block.shape[2] for block in self.blocks), default=1)
        return np.empty(max(BLOCK, 9 * largest))

    def gauges_at(self, numbers: IntArray, points: FloatArray) -> FloatArray:
        """Return upper bounds (m,) of the gauges of polytopes `numbers` (m,) at points (3, m) from their means."""
        if self.inverse is not None:
            points = einsum("rcm,cm->rm", self.inverse.take(numbers, axis=2), points)
        return gauge_bounds(self.gauges, self.gauge.take(numbers), points)


def _padded_sizes(counts: IntArray) -> IntArray:
    """Return the size of each polytope's block: 8, 12, 16, 24, 32 and so on."""
    steps = np.array([k << n for n in range(3, 40) for k in (2, 3)]) >> 1
    return steps[np.searchsorted(steps, counts)]


def _height_rounding(reach: FloatArray, radius: FloatArray) -> FloatArray:
    """Return the rounding of heights of vertices up to `radius` from a mean with coordinates up to `reach`."""
    return EPS * (2.0 * SUPPORT_ROUNDING * radius + BATCH_CORNERS * (reach + radius))


def _gauges(shapes: Sequence[Polytope], means: FloatArray, radii: FloatArray, progress: Progress | None) -> SingleArray:
    """Return `HullTable.gauges`, and fill in the radii of the inscribed spheres, less rounding."""
    number = len(shapes)
    facets = np.array([len(shape.normals) if shape.rank == 3 else 0 for shape in shapes], dtype=np.intp)
    solid = [shape for shape in shapes if shape.rank == 3]
    normals = np.concatenate([np.empty((0, 3)), *(shape.normals for shape in solid)]).T
    offsets = np.concatenate([np.empty(0), *(shape.offsets for shape in solid)])
    owner, first = np.repeat(np.arange(number), facets), np.cumsum(facets) - facets
    offsets -= einsum("cf,cf->f", normals, means.take(owner, axis=1))
    if solid:
        places = np.flatnonzero(facets)
        radii[1, places] = np.minimum.reduceat(offsets, first[places]) - 2.0 * radii[2, places]
    radii[1, radii[1] < _THINNEST] = 0.0
    thick = radii[1] > 0.0
    heights = offsets - 2.0 * radii[2].take(owner)
    planes = normals / np.where(thick.take(owner), heights, np.inf)
    return gauges_at_nodes(planes, first, np.where(thick, facets, 0), np.where(thick, radii[1], 1.0), progress)


def _stretches(linear: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return bounds (m,) of how much matrices (3, 3, m) stretch a vector at most, and at least, and their inverses: 0
    where the least is not known or too small."""
    columns = linear.transpose(1, 0, 2)
    gram = einsum("krm,lrm->klm", columns, columns)
    even = einsum("kkm->m", gram) / 3.0
    gram[np.arange(3), np.arange(3)] -= even
    uneven = np.sqrt(einsum("klm,klm->m", gram, gram))
    rounding = _STRETCH_ROUNDING * EPS
    largest = np.sqrt(even + uneven) * (1.0 + rounding)
    rigid = uneven + np.abs(even - 1.0) <= _RIGID
    if rigid.all():
        return largest, np.sqrt(even - uneven) * (1.0 - rounding), columns
    inverse = np.stack([cross(columns[k - 2], columns[k - 1]) for k in range(3)])  # rows of the adjugate
    volume = dot(inverse[0], columns[0])
    known = np.abs(volume) > 0.0
    inverse *= known / np.where(known, volume, 1.0)
    norm = np.sqrt(einsum("krm,krm->m", inverse, inverse))
    least = np.maximum(np.sqrt(np.maximum(even - uneven, 0.0)), known / np.where(known, norm, 1.0)) * (1.0 - rounding)
    least[~(least > _FLATTEST * largest)] = 0.0
    inverse *= least > 0.0
    least[rigid] = np.sqrt((even - uneven)[rigid]) * (1.0 - rounding)
    inverse[:, :, rigid] = columns[:, :, rigid]
    return largest, least, inverse
