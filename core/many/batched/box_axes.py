# SPDX-License-Identifier: GPL-3.0-or-later
"""The separating axis test of many pairs of boxes at once: least overlap or widest gap, and its axis.

A and B have the unit axes a_i and b_j, the half sizes h_i and g_j; c is the offset between their centres:

                 |<------ |n.c| ------>|                    along a unit vector n
       [=========A=========]
                         [=============B=============]
                 |<------->|                                reach of A = sum_i h_i |n.a_i|
                         |<----------->|                    reach of B = sum_j g_j |n.b_j|
                         |-|                                overlap = reach of A + reach of B - |n.c|

The overlap is how far B must be moved along n, to the side where its centre is, to be separated; negative for a gap.
With r_ij = a_i . b_j (`cosines`), t_i = a_i . c (`offset_a`), u_j = b_j . c (`offset_b`), and i1 and i2 the axes that
follow i cyclically, it is along axis

    a_i         h_i + sum_j |r_ij| g_j - |t_i|
    b_j         g_j + sum_i |r_ij| h_i - |u_j|
    a_i x b_j   (h_i1 |r_i2,j| + h_i2 |r_i1,j| + g_j1 |r_i,j2| + g_j2 |r_i,j1| - |t_i2 r_i1,j - t_i1 r_i2,j|) / s,
                s^2 = r_i1,j^2 + r_i2,j^2

for a_i1 . (a_i x b_j) = (a_i1 x a_i) . b_j = -r_i2,j and a_i2 . (a_i x b_j) = r_i1,j: the components of the product,
whose length is the sine s, and likewise along the axes of B.

1. In single precision, twice as fast: skip pairs that a face separates, where a bound of their distance is enough.
2. Of the others compute the overlaps along all axes, those of edges times their sine. The decisive axis is that of the
   least overlap, where no second one is within rounding of it. Measure it alone in double precision (`box_contacts`).
3. Where there is a second one, decide in double precision: the first axis within BOX_PREFER_FACE of the least.

Source: S0.3, S0.4, S0.5; C. Ericson, Real-Time Collision Detection, 4.4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...progress import Progress
from ...runs import chunks
from ...tolerance import BOX_PARALLEL, BOX_PREFER_FACE, SINGLE_EPS
from ...types import BoolArray, FloatArray, IntArray
from ...vectors import dot
from .box_contacts import BoxAxes, inverse, measure_axes
from .boxes import SINGLE_ROUNDING, BoxColumns
from .columns import CHUNK, SingleArray, einsum

_TIE = 8.0
"""Times the rounding of an overlap in single precision: by how much the second axis must be worse than the
decisive one. Below 2, errors as large as they may be leave all pairs open; with much more, many tie."""
_ROWS = 141
"""Rows of numbers per pair of a `_Workspace`."""
_RANKS = np.arange(15, 0, -1, dtype=np.int8)[:, None]
"""Descending, so that the first axis of several has the largest."""


@dataclass(frozen=True, eq=False)
class BoxSlabs:
    """Empty slabs between boxes A and B of many pairs; one column per pair. World frame."""

    columns: IntArray
    """(m,) which pairs these are."""
    normal: FloatArray
    """(3, m) unit vectors from A to B."""
    lower_bound: FloatArray
    """(m,) widths of the slabs, less rounding."""
    upper_bound: FloatArray
    """(m,) distances of the centres, and rounding."""


class _Allotment:
    """Rows of memory (k, n), given out one after the other."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self.rows, self.end = rows, 0

    def __call__(self, *shape: int) -> NDArray[Any]:
        """Return the next rows as (*shape, n)."""
        begin, self.end = self.end, self.end + prod(shape)
        return self.rows[begin : self.end].reshape(*shape, -1)


class _Workspace:
    """Some pairs of boxes and the overlaps along their axes, in memory that is used for one chunk after another.

    What `take` copies is in one piece.
    """

    def __init__(self, memory: NDArray[Any], count: int) -> None:
        allot = _Allotment(memory[: _ROWS * count].reshape(_ROWS, count))
        self.count = count
        self.axes_a, self.axes_b = allot(2, 3, 3)
        self.offset_b = allot(6)
        """(6, n) memory, and rows 3 to 5 the offset between the centres in the frame of B."""
        begin = allot.end
        self.half_a, self.half_b = allot(2, 3)
        self.cosines, self.offset_a = allot(3, 3), allot(3)
        self.rounding = allot()
        """(n,) error bound of an overlap, of an edge times its sine."""
        self.overlap = allot(15)
        """(15, n) in the order of `BoxAxes.axis`; of an edge times its sine."""
        self.face_rows = allot.rows[begin : allot.end - 9]
        """All from the half sizes to the overlaps of the faces, which are the first six of `overlap`."""
        self.square, self.memory = allot(2, 3, 3)
        """(3, 3, n) squared sine of an edge of A and one of B; and memory."""
        # Rows and columns 3 and 4 are 0 and 1 again: axes i + 1 and i + 2 of all i are then rows 1 to 3 and 2 to 4.
        self.cyclic, self.sizes = allot(2, 5, 5), allot(3, 5)

    def take(self, other: _Workspace, columns: IntArray) -> _Workspace:
        """Copy some pairs of another workspace, with the overlaps of their faces."""
        other.face_rows.take(columns, axis=1, out=self.face_rows, mode="clip")
        return self

    def faces(self, table: NDArray[Any], i: IntArray, j: IntArray, offset: NDArray[Any]) -> None:
        """Gather boxes i and j of a table (12 or more, n) of axes and half sizes, with the offsets (3, n) between their
        centres, and fill in the overlaps along their faces."""
        axes_a, axes_b, half_a, half_b = self.axes_a, self.axes_b, self.half_a, self.half_b
        for numbers, axes, half in ((i, axes_a, half_a), (j, axes_b, half_b)):
            table[:9].take(numbers, axis=1, out=axes.reshape(9, -1), mode="clip")
            table[9:12].take(numbers, axis=1, out=half, mode="clip")
        einsum("icn,jcn->ijn", axes_a, axes_b, out=self.cosines)
        einsum("kcn,cn->kn", axes_a, offset, out=self.offset_a)
        einsum("kcn,cn->kn", axes_b, offset, out=self.offset_b[3:])
        size = np.abs(self.cosines, out=self.memory)
        of_a, of_b = self.overlap[:3], self.overlap[3:6]
        einsum("ijn,jn->in", size, half_b, out=of_a)
        einsum("ijn,in->jn", size, half_a, out=of_b)
        of_a += half_a
        of_b += half_b
        of_a -= np.abs(self.offset_a, out=self.offset_b[:3])
        of_b -= np.abs(self.offset_b[3:], out=self.offset_b[:3])

    def midpoint_outside(self) -> NDArray[Any]:
        """Return (n,) twice the distance by which the midpoint of the centres is outside of one of both boxes along one
        of its axes. Where it is in both, no axis can separate them."""
        outside = np.abs(self.offset_b, out=self.offset_b)
        np.abs(self.offset_a, out=outside[:3])
        for rows, half in ((outside[:3], self.half_a), (outside[3:], self.half_b)):
            rows -= half
            rows -= half
        return np.maximum.reduce(outside, axis=0)

    def edges(self, careful: bool) -> None:
        """Fill in the overlaps along the edge products, times their sines, and the squared sines.

        `careful`: the reach of B comes from the same rounded numbers as the axis itself, or its error, divided by a
        small sine, would be large: r_i,j2 = r_i1,j r_i2,j1 - r_i2,j r_i1,j1, but for the sign.
        """
        r, abs_r = self.cyclic
        h, g, t = self.sizes
        overlap, square, memory = self.overlap[6:].reshape(self.memory.shape), self.square, self.memory
        r[:3, :3], r[:3, 3:] = self.cosines, self.cosines[:, :2]
        r[3:] = r[:2]
        for five, three in ((h, self.half_a), (g, self.half_b), (t, self.offset_a)):
            five[:3], five[3:] = three, three[:2]
        np.abs(r, out=abs_r)
        np.multiply(abs_r[1:4, :3], h[2:, None], out=overlap)
        overlap += np.multiply(abs_r[2:, :3], h[1:4, None], out=memory)
        if careful:
            np.multiply(r[1:4, :3], r[2:, 1:4], out=memory)
            memory -= np.multiply(r[2:, :3], r[1:4, 1:4], out=square)
            np.abs(memory, out=abs_r[:3, 2:])
            abs_r[:3, :2] = abs_r[:3, 3:]
        overlap += np.multiply(abs_r[:3, 1:4], g[2:], out=memory)
        overlap += np.multiply(abs_r[:3, 2:], g[1:4], out=memory)
        np.multiply(r[1:4, :3], t[2:, None], out=memory)
        memory -= np.multiply(r[2:, :3], t[1:4, None], out=square)
        overlap -= np.abs(memory, out=memory)
        np.multiply(r[1:4, :3], r[1:4, :3], out=square)
        square += np.multiply(r[2:, :3], r[2:, :3], out=memory)

    def decisive_axis(self) -> NDArray[np.int8]:
        """Return the decisive axis, in double precision; the edges must have been filled in with care."""
        overlap, square = self.overlap, self.square.reshape(9, -1)
        parallel = square <= BOX_PARALLEL**2
        np.copyto(square, 1.0, where=parallel)
        np.copyto(overlap[6:], np.inf, where=parallel)
        overlap[6:] /= np.sqrt(square, out=square)
        least = np.minimum.reduce(overlap, axis=0)
        limit = np.abs(least)
        limit *= BOX_PREFER_FACE
        limit += least
        good = np.less_equal(overlap, limit).view(np.int8)
        good *= _RANKS
        return 15 - np.maximum.reduce(good, axis=0)

    def only_axis(self) -> tuple[NDArray[np.int8], SingleArray]:
        """Return, in single precision, the axis that is decisive if its overlap is at most (n,) so much: -inf where
        another one may be decisive as well."""
        overlap, square, rounding = self.overlap, self.square.reshape(9, -1), self.rounding
        overlap -= rounding
        overlap[6:] /= np.sqrt(square, out=square)
        limit: SingleArray = np.minimum.reduce(overlap, axis=0)
        limit += _TIE * rounding
        good = np.less_equal(overlap, limit).view(np.int8)
        good *= _RANKS
        rank: NDArray[np.int8] = np.maximum.reduce(good, axis=0, initial=1)
        np.copyto(limit, -np.inf, where=np.add.reduce(good, axis=0, dtype=np.int8) != rank)
        return np.subtract(15, rank, out=rank), limit


class SingleChunks:
    """Workspaces in single precision, one for the pairs of a chunk and one for those that are left of it."""

    def __init__(self, boxes: BoxColumns, count: int) -> None:
        self._boxes, self._memory = boxes, np.empty((2, _ROWS * count), dtype=np.float32)

    def spheres(self, i: IntArray, j: IntArray) -> tuple[SingleArray, SingleArray, SingleArray]:
        """Return the offsets (3, n) between the centres, their squares (n,) and the sums (n,) of the bounding radii."""
        boxes = self._boxes
        offset = boxes.offsets(i, j)
        offset *= boxes.scale
        single = offset.astype(np.float32)
        reach: SingleArray = boxes.single[12].take(i, mode="clip")
        reach += boxes.single[12].take(j, mode="clip")
        return single, einsum("cn,cn->n", single, single), reach

    def faces(self, i: IntArray, j: IntArray, offset: SingleArray, reach: SingleArray) -> _Workspace:
        """Return boxes i and j with the overlaps of their faces; `offset` (3, n) between centres, at most `reach`."""
        work = _Workspace(self._memory[0], len(i))
        np.multiply(reach, np.float32(SINGLE_ROUNDING * SINGLE_EPS), out=work.rounding)
        work.faces(self._boxes.single, i, j, offset)
        return work

    def edges(self, work: _Workspace, columns: IntArray) -> _Workspace:
        """Return these columns of what `faces` returned, with the overlaps of their edges too."""
        if len(columns) < work.count:
            work = _Workspace(self._memory[1], len(columns)).take(work, columns)
        work.edges(careful=False)
        return work


def double_chunks(boxes: BoxColumns, i: IntArray, j: IntArray) -> Iterator[tuple[slice, _Workspace]]:
    """Yield boxes i (n,) and j (n,) with the overlaps of their faces in double precision, some at a time."""
    size = CHUNK // 4
    memory, table = np.empty(_ROWS * min(len(i), size)), boxes.frames[3:15]
    for part in chunks(len(i), size):
        work = _Workspace(memory, part.stop - part.start)
        work.faces(table, i[part], j[part], boxes.offsets(i[part], j[part]))
        yield part, work


def box_axes(boxes: BoxColumns, i: IntArray, j: IntArray) -> BoxAxes:
    """Return the decisive axes of boxes i (n,) and j (n,): that of the least overlap, or of the widest gap.

    Axes that are equally good within BOX_PREFER_FACE are taken in the order of `BoxAxes.axis`, faces first. Source:
    S0.3, S0.4, S0.5.
    """
    columns, axes, _ = near_box_axes(boxes, i, j, np.inf)
    return axes.take(inverse(columns))


def near_box_axes(
    boxes: BoxColumns, i: IntArray, j: IntArray, limit: FloatArray | float
) -> tuple[IntArray, BoxAxes, BoxSlabs]:
    """Return which pairs of boxes i (n,) and j (n,) no face separates by more than `limit`, (n,) or one for all, in the
    order of what decides; their decisive axes; and the slabs across that face of all others."""
    single = SingleChunks(boxes, len(i))
    with np.errstate(all="ignore"):  # what overflows is decided in double precision
        offset, square, reach = single.spheres(i, j)
        distance = np.sqrt(square, out=square)
        work = single.faces(i, j, offset, np.maximum(reach, distance))
        least = np.minimum.reduce(work.overlap[:6], axis=0)
        gap = np.add(least, work.rounding, dtype=np.float64)
        gap *= -1.0 / boxes.scale
        apart = gap > limit
        far, left = np.flatnonzero(apart), np.flatnonzero(~apart)
        upper = np.add(distance.take(far), work.rounding.take(far), dtype=np.float64) / boxes.scale
        widest = np.equal(work.overlap[:6].take(far, axis=1), least.take(far)).view(np.int8)
        widest *= _RANKS[:6]
        axis, bound = single.edges(work, left).only_axis()
    face = 15 - np.maximum.reduce(widest, axis=0).astype(np.intp)
    is_of_a = face < 3
    (side,) = boxes.sides(np.where(is_of_a, face, face - 3), np.where(is_of_a, i.take(far), j.take(far)), 0)
    normal = side[:3]
    normal *= np.copysign(1.0, dot(normal, offset.take(far, axis=1).astype(np.float64)))
    slabs = BoxSlabs(far, normal, gap.take(far), upper)
    i, j = i.take(left), j.take(left)
    with np.errstate(divide="ignore", invalid="ignore"):  # the axis may turn out to be that of parallel edges
        order, result = measure_axes(boxes, i, j, axis)
    left = left.take(order)
    tied = np.flatnonzero(~(result.signed_distance * -boxes.scale <= bound.take(order)))
    if len(tied):
        i, j = (numbers.take(order.take(tied)) for numbers in (i, j))
        axis = np.empty(len(tied), dtype=np.int8)
        for part, exact in double_chunks(boxes, i, j):
            exact.edges(careful=True)
            axis[part] = exact.decisive_axis()
        order, better = measure_axes(boxes, i, j, axis)
        result.replace(tied.take(order), better)
    return left, result, slabs


def boxes_intersect(
    boxes: BoxColumns, i: IntArray, j: IntArray, progress: Progress | None = None
) -> tuple[BoolArray, IntArray]:
    """Return (n,) whether boxes i (n,) and j (n,) intersect, and which pairs are too near to touching along a product
    of nearly parallel edges for this to be sure.

    Disjoint bounding spheres or an axis with a gap say no; inscribed spheres that meet, the midpoint of the centres in
    both boxes, or an overlap along all axes say yes. Source: S0.4. Raise Cancelled.
    """
    result = np.zeros(len(i), dtype=bool)
    single = SingleChunks(boxes, min(len(i), CHUNK))
    left, doubtful = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    for part in chunks(len(i), CHUNK, progress):
        a, b = i[part], j[part]
        with np.errstate(all="ignore"):
            offset, square, reach = single.spheres(a, b)
            inscribed = boxes.single[13].take(a) + boxes.single[13].take(b)
            met = np.less(square, inscribed * inscribed, out=result[part])
            near = np.flatnonzero(~((square > reach * reach) | met))
            work = single.faces(a.take(near), b.take(near), offset.take(near, axis=1), reach.take(near))
            near += part.start
            common = work.midpoint_outside() <= -work.rounding
            result[near[common]] = True
            gap = np.minimum.reduce(work.overlap[:6], axis=0) < -work.rounding
            columns = np.flatnonzero(~(gap | common))
            if len(columns):
                work, near = single.edges(work, columns), near.take(columns)
                least = np.minimum.reduce(work.overlap, axis=0)
                sure = result[near] = least > work.rounding
                left.append(near[~(sure | (least < -work.rounding))])
    columns = np.concatenate(left)
    for part, work in double_chunks(boxes, i.take(columns), j.take(columns)):
        near = columns[part]
        common = work.midpoint_outside() <= 0.0
        work.edges(careful=False)
        limit = boxes.frames[17].take(i[near]) + boxes.frames[17].take(j[near])
        edges = work.overlap[6:]
        met = np.minimum.reduce(work.overlap[:6], axis=0) >= 0.0
        met &= np.minimum.reduce(edges, axis=0) >= -limit
        result[near] = met | common
        close = np.abs(edges) <= limit
        close &= work.square.reshape(9, -1) > BOX_PARALLEL**2
        doubtful.append(near[close.any(axis=0) & met & ~common])
    return result, np.concatenate(doubtful)
