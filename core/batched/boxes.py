# SPDX-License-Identifier: GPL-3.0-or-later
"""Separating axes of many pairs of boxes at once: the test of `box_sat`, one array operation for a thousand pairs.

Everything is in rows (3, n), one column a box or a pair, and some pairs at a time, so that what is made on the way
stays in the cache. Single precision, which is twice as fast, tells which axis decides wherever its rounding leaves no
doubt; that axis alone is then measured in double precision. As in `box_sat`, r_ij is axis i of A . axis j of B, t the
way between the centres in the frame of A, h and g are the half sizes. Source: S0.3, S0.4, S0.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import frexp, ldexp
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_array, validate_magnitude
from ..progress import Progress, report_progress
from ..shapes.box import Box
from ..tolerance import BATCH_CORNERS, BOX_ORTHOGONAL, BOX_PARALLEL, BOX_PREFER_FACE, EPS, SINGLE_EPS
from ..types import BoolArray, FloatArray, IntArray, read_only

_ROUNDING = 16.0
"""Times EPS and half the diagonals of two boxes: what an overlap across an axis may be wrong by when it is measured
from their centres. Axes are unit vectors and perpendicular to BOX_ORTHOGONAL EPS; some products of three terms."""
_SINGLE = 64.0
"""Times SINGLE_EPS and the sum of the radii of the balls around two boxes, or the way between their centres if that is
more: what an overlap of boxes in single precision may be wrong by, of edges times their sine. Cosines are wrong by 2.5;
of products of them with sizes 10 and with the way 8.5, of the sine that divides them 8."""
_TIE = 8.0
"""Times what _SINGLE allows: by how much the second axis of boxes must be worse than the first one for single
precision to tell which one decides. Below 2 errors as large as they may be leave all pairs open; with much more, many
tie."""
_BALL = 8.0
"""Times SINGLE_EPS: relative, by how much the balls around boxes are made larger in single precision, and those inside
smaller. Of rounded radii and ways, their squares and sums 3."""
_SMALLEST = 1e-15
"""Relative to the largest box: radius below which a ball around a box counts as that large in single precision, where
the squares of smaller ones vanish."""

SingleArray = NDArray[np.float32]

CHUNK = 10_240
"""Pairs asked in one go: with fewer the calls of numpy take longer than the numbers, with more memory does."""

_CLOSELY = 2_048
"""The same in double precision."""
_ROWS = 141
"""Rows of numbers of a pair."""
OF_A = np.array([0, 1, 2, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
OF_B = np.array([0, 0, 0, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
"""Of `BoxAxis.axis`, the axis of A and of B, if there is one."""
_LEFT = np.arange(15, 0, -1, dtype=np.int8)[:, None]


@dataclass(frozen=True, eq=False)
class OrientedBoxes:
    """Many boxes that are not sheared, one column a box. World frame, unit of the coordinates; read-only."""

    frames: FloatArray
    """(20, n) rows 0 to 2 the centre, 3 to 11 the axes (row 3 + 3 k + c: component c of unit axis k), 12 to 16 the half
    sizes 0, 1, 2, 0, 1; 17 what rounding adds to an overlap; 18 and 19 the radii of the balls around and inside."""

    def __len__(self) -> int:
        """Return the number of boxes."""
        return int(self.frames.shape[1])

    @classmethod
    def of(cls, boxes: Sequence[Box]) -> OrientedBoxes:
        """Return boxes as rows. They must not be sheared; flat ones are as good as any."""
        if not boxes:
            return cls._of_rows(np.zeros((15, 0)))
        return cls._of_rows(np.array([box.frame for box in boxes]).T)

    @classmethod
    def from_poses(cls, centers: ArrayLike, axes: ArrayLike, half: ArrayLike) -> OrientedBoxes:
        """Return n boxes with `centers` (n, 3), `axes` (n, 3, 3), row k of one the unit direction of its local axis k,
        and `half` (n, 3) half sizes, >= 0.

        Raises ValueError, naming the argument, when one has another shape or is not finite, axes are not perpendicular
        unit vectors, or a size is negative.
        """
        rows = np.empty((15, 0))
        for name, value, tail, first in (
            ("centers", centers, (3,), 0),
            ("axes", axes, (3, 3), 3),
            ("half", half, (3,), 12),
        ):
            expected = "an array (n, 3, 3)" if len(tail) == 2 else "an array (n, 3)"
            array = as_array(name, value, expected)
            if array.shape[1:] != tail or (first and len(array) != rows.shape[1]):
                raise ValueError(f"{name}: {expected} expected, one row a box, got the shape {array.shape}")
            validate_magnitude(name, array)
            if not first:
                rows = np.empty((15, len(array)))
            width = 3 ** len(tail)
            rows[first : first + width] = array.reshape(len(array), width).T
        x, y, z = rows[3:12].reshape(3, 3, -1)
        for k, (u, v, right) in enumerate(
            ((x, x, 1.0), (y, y, 1.0), (z, z, 1.0), (x, y, 0.0), (y, z, 0.0), (z, x, 0.0))
        ):
            off = np.abs(np.einsum("cn,cn->n", u, v) - right) > 2.0 * BOX_ORTHOGONAL * EPS
            if off.any():
                what = "unit vectors" if k < 3 else "perpendicular"
                raise ValueError(f"axes: those of box {int(off.argmax())} are not {what}")
        if (rows[12:15] < 0.0).any():
            raise ValueError(f"half: the sizes of box {int((rows[12:15] < 0.0).any(axis=0).argmax())} are negative")
        return cls._of_rows(rows)

    @classmethod
    def _of_rows(cls, rows: FloatArray) -> OrientedBoxes:
        frames = np.empty((20, rows.shape[1]))
        frames[:15] = rows
        half = frames[12:15]
        frames[15:17] = half[:2]
        np.sqrt(np.einsum("kn,kn->n", half, half), out=frames[18])
        frames[19] = half.min(axis=0, initial=np.inf)
        frames[17] = np.abs(frames[:3]).max(axis=0, initial=0.0) + frames[18]
        frames[17] *= BATCH_CORNERS * EPS
        frames[17] += _ROUNDING * EPS * frames[18]
        return cls(read_only(frames))

    @cached_property
    def scale(self) -> float:
        """A power of 2 by which lengths are multiplied in single precision: the largest box is then about 1."""
        largest = float(self.frames[18].max(initial=0.0))
        return ldexp(1.0, min(max(-frexp(largest)[1], -1000), 1000))

    @cached_property
    def single(self) -> SingleArray:
        """(14, n) in single precision: rows 0 to 8 the axes, 9 to 11 the half sizes, 12 and 13 the radii of the balls
        around, no less, and inside, no more."""
        single = np.empty((14, len(self)), dtype=np.float32)
        single[:9] = self.frames[3:12]
        with np.errstate(over="ignore"):
            lengths = self.frames[[12, 13, 14, 17, 19]]
            lengths[3] /= _SINGLE * SINGLE_EPS  # the rounding of single precision is then more than this
            lengths[3] += self.frames[18]
            lengths[3] *= 1.0 + _BALL * SINGLE_EPS
            lengths[4] *= 1.0 - _BALL * SINGLE_EPS
            lengths *= self.scale
            np.maximum(lengths[3], _SMALLEST, out=lengths[3])
            lengths[4, lengths[4] < _SMALLEST] = 0.0
            single[9:] = lengths
        single.flags.writeable = False
        return single

    @cached_property
    def _sides(self) -> FloatArray:
        """(4, 5 n) unit vectors and half sizes of the axes 0 of all boxes, then 1, 2, and 0 and 1 again."""
        sides = np.empty((4, 5, len(self)))
        sides[:3, :3] = self.frames[3:12].reshape(3, 3, -1).transpose(1, 0, 2)
        sides[:3, 3:] = sides[:3, :2]
        sides[3] = self.frames[12:17]
        return read_only(sides.reshape(4, -1))

    def sides(self, axis: IntArray, numbers: IntArray, *steps: int) -> tuple[FloatArray, ...]:
        """Return (4, m) the unit vectors and half sizes of axes 0 to 2 of boxes `numbers` (m,), 0, 1 or 2 axes further
        on, around, for each of the steps."""
        column = axis * len(self)
        column += numbers
        return tuple(self._sides.take(column + step * len(self), axis=1, mode="clip") for step in steps)

    def way(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return (3, m) the ways from the centres of boxes i (m,) to those of boxes j (m,)."""
        way: FloatArray = self.frames[:3].take(j, axis=1, mode="clip")
        way -= self.frames[:3].take(i, axis=1, mode="clip")
        return way

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return lowest and highest corner (3, n) of the axis-aligned bounding boxes, to rounding."""
        axes = self.frames[3:12].reshape(3, 3, -1)
        reach = np.abs(axes[0])
        reach *= self.frames[12]
        for k in (1, 2):
            part = np.abs(axes[k])
            part *= self.frames[12 + k]
            reach += part
        return self.frames[:3] - reach, self.frames[:3] + reach


@dataclass(frozen=True, eq=False)
class BoxAxes:
    """The axis that decides about each of many pairs of boxes A and B; the fields of `BoxAxis`, one column a pair."""

    signed_distance: FloatArray
    """(n,) minus the penetration depth; or, above 0, the widest gap across an axis, a lower bound of the distance."""
    normal: FloatArray
    """(3, n) unit vectors from A to B, world frame: moving B by depth * normal separates the pair."""
    axis: NDArray[np.int8]
    """(n,) 0 to 2: face of A; 3 to 5: face of B; 6 + 3 i + j: product of axis i of A and axis j of B."""
    rounding: FloatArray
    """(n,) what the signed distance may be wrong by."""

    def taken(self, places: IntArray) -> BoxAxes:
        """Return what is told of these pairs."""
        return BoxAxes(
            self.signed_distance.take(places),
            self.normal.take(places, axis=1),
            self.axis.take(places),
            self.rounding.take(places),
        )


class _Chunk:
    """Some pairs of boxes, and what their axes tell, in memory that is used for one chunk after another.

    All that is taken on is in one piece: `take` would make copies otherwise.
    """

    def __init__(self, memory: NDArray[Any], count: int) -> None:
        rows = memory[: _ROWS * count].reshape(_ROWS, count)
        self.count = count
        self.axes_a, self.axes_b = rows[:18].reshape(2, 3, 3, count)
        self.along_b = rows[18:24]
        self.kept = rows[24:49]
        self.half_a, self.half_b = self.kept[:3], self.kept[3:6]
        self.cosines, self.along_a = self.kept[6:15].reshape(3, 3, count), self.kept[15:18]
        self.rounding = self.kept[18]
        """What an overlap may be wrong by, of an edge times its sine."""
        self.overlap = rows[43:58]
        """Of the axes in the order of `BoxAxes.axis`; of an edge times its sine."""
        self.square, self.part = rows[58:76].reshape(2, 3, 3, count)
        """Of the sine of an edge of A and one of B; and memory."""
        # Rows and columns 3 and 4 are 0 and 1 again: axes i + 1 and i + 2 of all i are then rows 1 to 3 and 2 to 4.
        self.wide, self.sizes = rows[76:126].reshape(2, 5, 5, count), rows[126:141].reshape(3, 5, count)

    def take(self, chunk: _Chunk, places: IntArray) -> None:
        """Take some pairs of another chunk, with what their faces tell."""
        chunk.kept.take(places, axis=1, out=self.kept, mode="clip")

    def gather(self, table: NDArray[Any], i: IntArray, j: IntArray, way: NDArray[Any]) -> None:
        """Take boxes i and j of a table (12 or more, n), axes and half sizes, with the ways (3, n) from one centre to
        the other, and fill in what their faces tell."""
        axes_a, axes_b, half_a, half_b = self.axes_a, self.axes_b, self.half_a, self.half_b
        for numbers, axes, half in ((i, axes_a, half_a), (j, axes_b, half_b)):
            table[:9].take(numbers, axis=1, out=axes.reshape(9, -1), mode="clip")
            table[9:12].take(numbers, axis=1, out=half, mode="clip")
        np.einsum("icn,jcn->ijn", axes_a, axes_b, out=self.cosines)
        np.einsum("kcn,cn->kn", axes_a, way, out=self.along_a)
        np.einsum("kcn,cn->kn", axes_b, way, out=self.along_b[3:])
        size = np.abs(self.cosines, out=self.part)
        of_a, of_b = self.overlap[:3], self.overlap[3:6]
        np.einsum("ijn,jn->in", size, half_b, out=of_a)
        np.einsum("ijn,in->jn", size, half_a, out=of_b)
        of_a += half_a
        of_b += half_b
        of_a -= np.abs(self.along_a, out=self.along_b[:3])
        of_b -= np.abs(self.along_b[3:], out=self.along_b[:3])

    def outside(self) -> NDArray[Any]:
        """Return (n,) by how much the point half-way between the centres, times 2, is outside of one of both boxes.

        Where it is in both it is a common point: no axis can separate them.
        """
        outside = np.abs(self.along_b, out=self.along_b)
        np.abs(self.along_a, out=outside[:3])
        for rows, half in ((outside[:3], self.half_a), (outside[3:], self.half_b)):
            rows -= half
            rows -= half
        return np.maximum.reduce(outside, axis=0)

    def edges(self, careful: bool) -> None:
        """Fill rows 6 to 14 of the overlap, times the sines of the edges, and the squares of the sines.

        `careful`: what B reaches along an axis comes from the same rounded numbers as the axis itself, or its error,
        divided by a small sine, would be large.
        """
        r, q = self.wide
        h, g, t = self.sizes
        overlap, square, part = self.overlap[6:].reshape(self.part.shape), self.square, self.part
        r[:3, :3], r[:3, 3:] = self.cosines, self.cosines[:, :2]
        r[3:] = r[:2]
        for wide, rows in ((h, self.half_a), (g, self.half_b), (t, self.along_a)):
            wide[:3], wide[3:] = rows, rows[:2]
        np.abs(r, out=q)
        np.multiply(q[1:4, :3], h[2:, None], out=overlap)
        overlap += np.multiply(q[2:, :3], h[1:4, None], out=part)
        if careful:
            np.multiply(r[1:4, :3], r[2:, 1:4], out=part)
            part -= np.multiply(r[2:, :3], r[1:4, 1:4], out=square)
            np.abs(part, out=q[:3, 2:])
            q[:3, :2] = q[:3, 3:]
        overlap += np.multiply(q[:3, 1:4], g[2:], out=part)
        overlap += np.multiply(q[:3, 2:], g[1:4], out=part)
        np.multiply(r[1:4, :3], t[2:, None], out=part)
        part -= np.multiply(r[2:, :3], t[1:4, None], out=square)
        overlap -= np.abs(part, out=part)
        np.multiply(r[1:4, :3], r[1:4, :3], out=square)
        square += np.multiply(r[2:, :3], r[2:, :3], out=part)

    def axis(self) -> NDArray[np.int8]:
        """Return the axis that decides, in double precision; the edges must have been filled in with care."""
        overlap, square = self.overlap, self.square.reshape(9, -1)
        parallel = square <= BOX_PARALLEL**2
        if parallel.any():
            np.copyto(square, 1.0, where=parallel)
            np.copyto(overlap[6:], np.inf, where=parallel)
        overlap[6:] /= np.sqrt(square, out=square)
        least = np.minimum.reduce(overlap, axis=0)
        limit = np.abs(least)
        limit *= BOX_PREFER_FACE
        limit += least
        # The first one within the limit: the largest of numbers that go down.
        good = np.less_equal(overlap, limit).view(np.int8)
        good *= _LEFT
        return 15 - np.maximum.reduce(good, axis=0)

    def only_axis(self) -> tuple[NDArray[np.int8], SingleArray]:
        """Return, in single precision, the axis that decides if it overlaps by no more than (n,) so much.

        That is -inf where another one may decide as well.
        """
        overlap, square, room = self.overlap, self.square.reshape(9, -1), self.rounding
        overlap -= room
        overlap[6:] /= np.sqrt(square, out=square)
        limit: SingleArray = np.minimum.reduce(overlap, axis=0)
        limit += _TIE * room
        good = np.less_equal(overlap, limit).view(np.int8)
        good *= _LEFT
        axis: NDArray[np.int8] = np.maximum.reduce(good, axis=0, initial=1)
        np.copyto(limit, -np.inf, where=np.add.reduce(good, axis=0, dtype=np.int8) != axis)
        return np.subtract(15, axis, out=axis), limit


class _Chunks:
    """Chunks of pairs one after the other in single precision, some of whose pairs are taken on."""

    def __init__(self, count: int) -> None:
        self._memory = np.empty((2, _ROWS * min(count, CHUNK)), dtype=np.float32)

    def first(self, boxes: OrientedBoxes, i: IntArray, j: IntArray, way: SingleArray, reach: SingleArray) -> _Chunk:
        """Return boxes i and j, with their faces; `way` (3, n) from the one centre to the other, at most `reach`."""
        chunk = _Chunk(self._memory[0], len(i))
        np.multiply(reach, np.float32(_SINGLE * SINGLE_EPS), out=chunk.rounding)
        chunk.gather(boxes.single, i, j, way)
        return chunk

    def left(self, chunk: _Chunk, places: IntArray) -> _Chunk:
        """Return these pairs of the first chunk."""
        if len(places) == chunk.count:
            return chunk
        some = _Chunk(self._memory[1], len(places))
        some.take(chunk, places)
        return some


def _closely(boxes: OrientedBoxes, i: IntArray, j: IntArray) -> Iterator[tuple[slice, _Chunk]]:
    """Return pairs, some at a time, in double precision, with their faces."""
    memory = np.empty(_ROWS * min(len(i), _CLOSELY))
    table = boxes.frames[3:15]
    for start in range(0, len(i), _CLOSELY):
        part = slice(start, start + _CLOSELY)
        chunk = _Chunk(memory, len(i[part]))
        chunk.gather(table, i[part], j[part], boxes.way(i[part], j[part]))
        yield part, chunk


def _axis_of(boxes: OrientedBoxes, i: IntArray, j: IntArray) -> NDArray[np.int8]:
    """Return the axis that decides about boxes i (n,) and j (n,), by double precision."""
    axis = np.empty(len(i), dtype=np.int8)
    for part, pairs in _closely(boxes, i, j):
        pairs.edges(careful=True)
        axis[part] = pairs.axis()
    return axis


def by_feature(axis: NDArray[np.int8]) -> tuple[IntArray, int, int]:
    """Return the places of pairs of which a face of A decides, a face of B, or edges, and how many are before those of
    B and before those of edges."""
    of_b, edges = axis >= 3, axis >= 6
    places = np.flatnonzero(~of_b), np.flatnonzero(of_b & ~edges), np.flatnonzero(edges)
    return np.concatenate(places), len(places[0]), len(places[0]) + len(places[1])


def _measured(boxes: OrientedBoxes, i: IntArray, j: IntArray, axis: NDArray[np.int8]) -> BoxAxes:
    """Return what these axes (n,) tell of boxes i (n,) and j (n,)."""
    told = np.empty((4, len(axis)))
    order, of_b, edges = by_feature(axis)
    for begin, end, ask in ((0, of_b, _across_a), (of_b, edges, _across_b), (edges, len(axis), _across_edges)):
        for start in range(begin, end, CHUNK):
            part = slice(start, min(start + CHUNK, end))
            some = order[part]
            told[:, part] = ask(boxes, i.take(some), j.take(some), axis.take(some))
    # Taken from where they are: to put them where they belong takes several times as long.
    place = np.empty(len(axis), dtype=np.intp)
    place[order] = np.arange(len(axis))
    told = told.take(place, axis=1, mode="clip")
    rounding = boxes.frames[17].take(i)
    rounding += boxes.frames[17].take(j)
    return BoxAxes(told[3], told[:3], axis, rounding)


def _across_a(boxes: OrientedBoxes, i: IntArray, j: IntArray, axis: NDArray[np.int8]) -> FloatArray:
    """Return (4, n) the normals and signed distances along axes 0 to 2, those of faces of A."""
    return _to_side(_across_faces(boxes, i, j, axis.astype(np.intp)), boxes.way(i, j))


def _across_b(boxes: OrientedBoxes, i: IntArray, j: IntArray, axis: NDArray[np.int8]) -> FloatArray:
    """The same along axes 3 to 5, of faces of B."""
    return _to_side(_across_faces(boxes, j, i, axis.astype(np.intp) - 3), boxes.way(i, j))


def _across_faces(boxes: OrientedBoxes, own: IntArray, other: IntArray, face: IntArray) -> FloatArray:
    """Return (4, n) axes `face` of boxes `own`, and how far they and the other ones reach along them."""
    (side,) = boxes.sides(face, own, 0)
    frames = boxes.frames[3:15].take(other, axis=1, mode="clip")
    reach = _products(frames[:9].reshape(3, 3, -1), side[:3])
    np.abs(reach, out=reach)
    side[3] += _products(reach, frames[9:])
    return side


def _across_edges(boxes: OrientedBoxes, i: IntArray, j: IntArray, axis: NDArray[np.int8]) -> FloatArray:
    """Return (4, n) the normals and signed distances along the products of edges."""
    a1, a2 = boxes.sides(OF_A.take(axis), i, 1, 2)
    b, b1, b2 = boxes.sides(OF_B.take(axis), j, 0, 1, 2)
    # Perpendicular to both but for rounding, however nearly parallel they are.
    one, two = _products(a1[:3], b[:3]), _products(a2[:3], b[:3])
    sine = one * one
    sine += two * two
    np.sqrt(sine, out=sine)
    one /= sine
    two /= sine
    reach = a1[3] * np.abs(two)
    reach += a2[3] * np.abs(one)
    a2 *= one
    a1 *= two
    a2 -= a1
    for side in (b1, b2):
        reach += side[3] * np.abs(_products(side[:3], a2[:3]))
    a2[3] = reach
    return _to_side(a2, boxes.way(i, j))


def _products(vectors: FloatArray, others: FloatArray) -> FloatArray:
    """Return (..., n) the products of vectors (..., 3, n) and others (3, n), each added up in the same order: `einsum`
    takes another one when there is a single pair."""
    terms = vectors * others
    result: FloatArray = terms[..., 0, :]
    result += terms[..., 1, :]
    result += terms[..., 2, :]
    return result


def _to_side(reach: FloatArray, way: FloatArray) -> FloatArray:
    """Return, in the same memory, (4, n) normals and signed distances, of axes and how far both boxes reach along them
    together: to the side to which B is."""
    along = _products(reach[:3], way)
    along += 0.0  # turns -0.0 into 0.0
    reach[:3] *= np.copysign(1.0, along)
    np.subtract(np.abs(along), reach[3], out=reach[3])
    return reach


def _decided(boxes: OrientedBoxes, i: IntArray, j: IntArray, axis: NDArray[np.int8], limit: SingleArray) -> BoxAxes:
    """Return the axis that decides about boxes i (n,) and j (n,): those of `_Chunk.only_axis`, or another one where
    single precision leaves that open."""
    open_ = np.flatnonzero(limit == -np.inf)
    if 2 * len(open_) > len(axis):  # few are settled with those that do not keep to the limit: calls take time, too
        axis[open_], limit[open_] = _axis_of(boxes, i.take(open_), j.take(open_)), np.inf
    with np.errstate(divide="ignore", invalid="ignore"):  # what looked like an axis may be a product of parallel edges
        found = _measured(boxes, i, j, axis)
    open_ = np.flatnonzero(~(found.signed_distance * -boxes.scale <= limit))
    if len(open_):
        i, j = i.take(open_), j.take(open_)
        better = _measured(boxes, i, j, _axis_of(boxes, i, j))
        for field in fields(BoxAxes):
            getattr(found, field.name)[..., open_] = getattr(better, field.name)
    return found


def _parts(count: int, progress: Progress | None) -> Iterator[slice]:
    """Return so many pairs in chunks of about one size. Raises Cancelled when `progress`, which is told the share done,
    says so."""
    parts = -(-count // CHUNK)
    for k in range(parts):
        report_progress(progress, k, parts)
        yield slice(k * count // parts, (k + 1) * count // parts)


def _balls(boxes: OrientedBoxes, i: IntArray, j: IntArray) -> tuple[SingleArray, SingleArray, SingleArray]:
    """Return, in single precision, (3, n) the ways between the centres of boxes i and j, (n,) their squares, and the
    sums (n,) of the radii of the balls around."""
    way = boxes.way(i, j)
    way *= boxes.scale
    single = way.astype(np.float32)
    reach: SingleArray = boxes.single[12].take(i, mode="clip")
    reach += boxes.single[12].take(j, mode="clip")
    return single, np.einsum("cn,cn->n", single, single), reach


def _mostly_tied(limit: SingleArray) -> bool:
    """Tell whether single precision leaves most pairs open, as in a scene of aligned boxes, where it is then a waste of
    time."""
    return 2 * int(np.count_nonzero(limit == -np.inf)) > len(limit)


def box_axes(boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None) -> BoxAxes:
    """Return the axis of least overlap, or of the widest gap, of boxes i (n,) and j (n,).

    Axes that are equally good within BOX_PREFER_FACE are taken in the order of `BoxAxis.axis`, faces first. Source:
    S0.3, S0.4, S0.5. Raises Cancelled when `progress` says so.
    """
    chunks = _Chunks(len(i))
    axis, limit = np.zeros(len(i), dtype=np.int8), np.full(len(i), -np.inf, dtype=np.float32)
    tied = False
    for part in _parts(len(i), progress):
        if tied:
            continue
        ii, jj = i[part], j[part]
        with np.errstate(all="ignore"):
            way, square, reach = _balls(boxes, ii, jj)
            pairs = chunks.first(boxes, ii, jj, way, np.maximum(reach, np.sqrt(square)))
            pairs.edges(careful=False)
            axis[part], limit[part] = pairs.only_axis()
        tied = _mostly_tied(limit[part])
    return _decided(boxes, i, j, axis, limit)


def meeting_boxes(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None
) -> tuple[IntArray, BoxAxes]:
    """Return the places of the pairs of boxes i (n,) and j (n,) whose signed distance is not above 0, and what
    `box_axes` tells of these.

    Where many pairs are apart this is faster: the faces are measured only of those whose balls meet, the edges only of
    those that no face separates. Raises Cancelled when `progress` says so.
    """
    chunks = _Chunks(len(i))
    tied = False
    open_, axes, limits = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.int8)], [np.zeros(0, dtype=np.float32)]
    for part in _parts(len(i), progress):
        ii, jj = i[part], j[part]
        with np.errstate(all="ignore"):  # what is no number here is left to double precision
            way, square, reach = _balls(boxes, ii, jj)
            near = np.flatnonzero(~(square > reach * reach))
            pairs = chunks.first(boxes, ii.take(near), jj.take(near), way.take(near, axis=1), reach.take(near))
            left = np.flatnonzero(~(np.minimum.reduce(pairs.overlap[:6], axis=0) < -pairs.rounding))
            if not len(left):
                continue
            axis, limit = np.zeros(len(left), dtype=np.int8), np.full(len(left), -np.inf, dtype=np.float32)
            if not tied:
                pairs = chunks.left(pairs, left)
                pairs.edges(careful=False)
                axis, limit = pairs.only_axis()
                tied = _mostly_tied(limit)
        open_.append(near.take(left) + part.start)
        axes.append(axis)
        limits.append(limit)
    places = np.concatenate(open_)
    found = _decided(boxes, i.take(places), j.take(places), np.concatenate(axes), np.concatenate(limits))
    met = np.flatnonzero(found.signed_distance <= 0.0)
    return places.take(met), found.taken(met)


def boxes_overlap(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None
) -> tuple[BoolArray, IntArray]:
    """Return (n,) whether boxes i (n,) and j (n,) have a common point, and the places of pairs too near to touching,
    along an axis of nearly parallel edges, for this to be sure.

    Source: S0.4. Raises Cancelled when `progress` says so.
    """
    result = np.zeros(len(i), dtype=bool)
    chunks = _Chunks(len(i))
    open_: list[IntArray] = [np.zeros(0, dtype=np.intp)]
    for part in _parts(len(i), progress):
        ii, jj = i[part], j[part]
        with np.errstate(all="ignore"):
            way, square, reach = _balls(boxes, ii, jj)
            inside = boxes.single[13].take(ii) + boxes.single[13].take(jj)
            met = np.less(square, inside * inside, out=result[part])
            near = np.flatnonzero(~((square > reach * reach) | met))
            pairs = chunks.first(boxes, ii.take(near), jj.take(near), way.take(near, axis=1), reach.take(near))
            near += part.start
            common = pairs.outside() <= -pairs.rounding
            result[near[common]] = True
            least = np.minimum.reduce(pairs.overlap[:6], axis=0)
            left = np.flatnonzero(~((least < -pairs.rounding) | common))
            if not len(left):
                continue
            near, pairs = near.take(left), chunks.left(pairs, left)
            pairs.edges(careful=False)
            least = np.minimum.reduce(pairs.overlap, axis=0)
            sure = result[near] = least > pairs.rounding
            open_.append(near[~(sure | (least < -pairs.rounding))])
    left = np.concatenate(open_)
    doubtful: list[IntArray] = [np.zeros(0, dtype=np.intp)]
    for part, pairs in _closely(boxes, i.take(left), j.take(left)):
        near = left[part]
        common = pairs.outside() <= 0.0
        pairs.edges(careful=False)
        limit = boxes.frames[17].take(i[near]) + boxes.frames[17].take(j[near])
        edges = pairs.overlap[6:]
        met = np.minimum.reduce(pairs.overlap[:6], axis=0) >= 0.0
        met &= np.minimum.reduce(edges, axis=0) >= -limit
        result[near] = met | common
        close = np.abs(edges) <= limit
        close &= pairs.square.reshape(9, -1) > BOX_PARALLEL**2
        doubtful.append(near[close.any(axis=0) & met & ~common])
    return result, np.concatenate(doubtful)
