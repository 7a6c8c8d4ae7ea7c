# SPDX-License-Identifier: GPL-3.0-or-later
"""Separating axes of many pairs of boxes at once: the test of `box_sat`, one array operation for a thousand pairs.

Everything is in rows (3, n), one column a box or a pair, and some pairs at a time, so that what is made on the way
stays in the cache. As in `box_sat`, r_ij is axis i of A . axis j of B, t the way between the centres in the frame of A,
h and g are the half sizes. Source: S0.3, S0.4, S0.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import checked_array, checked_magnitude
from ..progress import Progress, tell
from ..shapes.box import Box
from ..shapes.polytope import FloatArray, IntArray, frozen
from ..tolerance import BATCH_CORNERS, BATCH_ROUNDING, BOX_ORTHOGONAL, BOX_PARALLEL, BOX_PREFER_FACE, EPS

BoolArray = NDArray[np.bool_]

CHUNK = 3_072
"""Pairs answered in one go: with fewer the calls of numpy take longer than the numbers, with more memory does."""
_LOOK = 4_096
"""Pairs whose balls are compared in one go: they take much less each."""

_FRAME = 18
"""Rows of a box that its axes are made of."""
_KEPT = 2 * _FRAME + 9
"""Rows of a pair from which its edges are measured: both boxes, and the cosines of their axes."""
_ROWS = (_KEPT, 15, 15, 9, 9, 24, 18, 6)
"""Rows of the arrays that a chunk takes, one after the other."""
_FIRST = np.array([3, 6, 9, *(_FRAME + k for k in (3, 6, 9)), *9 * [0]])
"""First of the rows of axes 0 to 5; of edges none."""
_OF_A, _OF_B = np.arange(9) // 3, np.arange(9) % 3
"""Of the product of two edges, the axis of A and of B."""
NEXT_AXIS = np.array([1, 2, 0, 1])
"""Axes i + 1 and i + 2 of i are NEXT_AXIS[i] and NEXT_AXIS[i + 1]."""
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
            array = checked_array(name, value, expected)
            if array.shape[1:] != tail or (first and len(array) != rows.shape[1]):
                raise ValueError(f"{name}: {expected} expected, one row a box, got the shape {array.shape}")
            checked_magnitude(name, array)
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
        frames[17] += BATCH_ROUNDING * EPS * frames[18]
        return cls(frozen(frames))

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

    @classmethod
    def joined(cls, parts: Sequence[BoxAxes]) -> BoxAxes:
        """Return what is told of pairs in several parts."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(np.zeros(0), np.zeros((3, 0)), np.zeros(0, dtype=np.int8), np.zeros(0))
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts], axis=-1) for field in fields(cls)))


def three_rows(rows: FloatArray, first: IntArray, columns: IntArray) -> FloatArray:
    """Return (3, n) three of the rows, from row `first` (n,) on, of `columns` (n,); by places in flat memory, which is
    several times as fast as by rows and columns."""
    width = rows.shape[1]
    at = first * width
    at += columns
    result: FloatArray = rows.ravel().take(width * np.arange(3)[:, None] + at, mode="clip")
    return result


class _Chunk:
    """Some pairs of boxes: their frames, and what their axes tell, in memory that is used for one chunk after another.

    All arrays are in one piece: `take` would make copies of others. Sums of products are left to `einsum`: it keeps
    nothing on the way.
    """

    def __init__(self, memory: FloatArray, count: int) -> None:
        parts, start = [], 0
        for rows in _ROWS:
            parts.append(memory[start * count : (start + rows) * count].reshape(rows, count))
            start += rows
        self.count = count
        self.kept, self.along, self.overlap, self.square, self.part, turned, reach, around = parts
        self.a, self.b = self.kept[:_FRAME], self.kept[_FRAME : 2 * _FRAME]
        self.cosines = self.kept[2 * _FRAME :].reshape(3, 3, count)
        # Of axis i of A what belongs to axes i + 1 and i + 2, and of axis j of B likewise.
        self.turned, self.reach = turned.reshape(2, 3, 4, count), reach.reshape(2, 3, 3, count)
        self.around = around.reshape(2, 3, count)

    def gather(self, boxes: OrientedBoxes, i: IntArray, j: IntArray) -> None:
        """Take the frames of boxes i and j."""
        frames = boxes.frames[:_FRAME]
        frames.take(i, axis=1, out=self.a, mode="clip")
        frames.take(j, axis=1, out=self.b, mode="clip")

    def take(self, chunk: _Chunk, places: IntArray) -> None:
        """Take some pairs of another chunk, with what the axes of their faces tell."""
        chunk.kept.take(places, axis=1, out=self.kept, mode="clip")
        chunk.along[:6].take(places, axis=1, out=self.along[:6], mode="clip")
        chunk.overlap[:6].take(places, axis=1, out=self.overlap[:6], mode="clip")

    def faces(self) -> None:
        """Fill the cosines r_ij, and rows 0 to 5 of along and overlap."""
        a, b, count = self.a, self.b, self.count
        axes_a, axes_b = a[3:12].reshape(3, 3, count), b[3:12].reshape(3, 3, count)
        np.einsum("icn,jcn->ijn", axes_a, axes_b, out=self.cosines)
        way = np.subtract(b[:3], a[:3], out=self.part[:3])
        np.einsum("kcn,cn->kn", axes_a, way, out=self.along[:3])
        np.einsum("kcn,cn->kn", axes_b, way, out=self.along[3:6])
        q = np.abs(self.cosines, out=self.part.reshape(3, 3, count))
        overlap = self.overlap[:6]
        np.einsum("ijn,jn->in", q, b[12:15], out=overlap[:3])
        np.einsum("ijn,in->jn", q, a[12:15], out=overlap[3:])
        overlap[:3] += a[12:15]
        overlap[3:] += b[12:15]
        overlap -= np.abs(self.along[:6], out=self.part[:6])

    def edges(self, careful: bool) -> None:
        """Fill rows 6 to 14 of along and overlap, both times the sine of the edges, and the squares of the sines.

        `careful`: what B reaches along an axis comes from the same rounded numbers as the axis itself, or its error,
        divided by a small sine, would be large.
        """
        r, t, reach, around = self.cosines, self.along[:3], self.reach, self.around
        along, overlap, square, part = (
            rows.reshape(r.shape) for rows in (self.along[6:], self.overlap[6:], self.square, self.part)
        )
        self.turned[0, :2, :3], self.turned[0, 2, :3] = r[1:], r[0]
        self.turned[1, 0, :3], self.turned[1, 1:, :3] = r[2], r[:2]
        turned = self.turned[:, :, :3]
        around[0, 0], around[0, 1:] = t[2], t[:2]
        np.negative(t[1:], out=around[1, :2])
        np.negative(t[0], out=around[1, 2])
        np.einsum("sijn,sin->ijn", turned, around, out=along)
        np.einsum("sijn,sijn->ijn", turned, turned, out=square)
        if careful:
            self.turned[:, :, 3] = self.turned[:, :, 0]
            np.multiply(turned[0], self.turned[1, :, 1:], out=reach[0])
            reach[0] -= np.multiply(turned[1], self.turned[0, :, 1:], out=part)
            np.abs(reach[0], out=reach[0])
            reach[1, :, 0], reach[1, :, 1:] = reach[0, :, 2], reach[0, :, :2]
        else:
            np.abs(r, out=part)
            reach[0, :, 0], reach[0, :, 1:] = part[:, 2], part[:, :2]
            reach[1, :, 2], reach[1, :, :2] = part[:, 0], part[:, 1:]
        half = self.b[12:17]
        around[0], around[1] = half[1:4], half[2:5]
        np.einsum("sijn,sjn->ijn", reach, around, out=overlap)
        np.abs(turned, out=reach)
        half = self.a[12:17]
        around[0], around[1] = half[2:5], half[1:4]
        overlap += np.einsum("sijn,sin->ijn", reach, around, out=part)
        overlap -= np.abs(along, out=part)

    def rounding(self) -> FloatArray:
        """Return (n,) what an overlap across a unit vector may be wrong by."""
        result: FloatArray = self.a[17] + self.b[17]
        return result

    def axes(self) -> BoxAxes:
        """Return the axes that decide; the edges must have been filled in with care."""
        overlap, square, count = self.overlap, self.square, self.count
        parallel = square <= BOX_PARALLEL**2
        if parallel.any():
            np.copyto(square, 1.0, where=parallel)
            np.copyto(overlap[6:], np.inf, where=parallel)
        np.sqrt(square, out=square)
        overlap[6:] /= square
        least = np.minimum.reduce(overlap, axis=0)
        limit = np.abs(least)
        limit *= BOX_PREFER_FACE
        limit += least
        # The first one within the limit: the largest of numbers that go down.
        good = np.less_equal(overlap, limit).view(np.int8)
        good *= _LEFT
        best = 15 - np.maximum.reduce(good, axis=0)
        # By places in flat memory: numbers of rows and columns together take several times as long.
        columns, place = np.arange(count), best.astype(np.intp)
        at = place * count
        at += columns
        least = overlap.ravel().take(at)
        side = self.along.ravel().take(at)
        return BoxAxes(0.0 - least, self._normals(place, side), best, self.rounding())

    def _normals(self, place: IntArray, side: FloatArray) -> FloatArray:
        """Return (3, n) the unit vectors along axes `place` (n,), to the side (n,)."""
        count = self.count
        normal = three_rows(self.kept, _FIRST.take(place), np.arange(count))
        edges = np.flatnonzero(place >= 6)
        if len(edges):
            which = place.take(edges)
            which -= 6
            first, other = _OF_A.take(which), _OF_B.take(which)
            one, two = NEXT_AXIS.take(first), NEXT_AXIS.take(first + 1)
            other *= count
            other += edges
            which *= count
            which += edges
            scale = 1.0 / self.square.ravel().take(which)
            first_axis, second_axis = (three_rows(self.kept, 3 + 3 * k, edges) for k in (one, two))
            cosines = self.cosines.ravel()
            second_axis *= cosines.take(one * (3 * count) + other) * scale
            first_axis *= cosines.take(two * (3 * count) + other) * scale
            second_axis -= first_axis
            for row, values in zip(normal, second_axis, strict=True):
                row[edges] = values
        normal *= np.where(side < 0.0, -1.0, 1.0)
        return normal


class _Chunks:
    """Chunks of pairs one after the other, some of whose pairs are taken on."""

    def __init__(self, count: int) -> None:
        self._memory = np.empty((2, sum(_ROWS) * min(count, CHUNK)))

    def first(self, boxes: OrientedBoxes, i: IntArray, j: IntArray) -> _Chunk:
        """Return boxes i and j, with their faces."""
        chunk = _Chunk(self._memory[0], len(i))
        chunk.gather(boxes, i, j)
        chunk.faces()
        return chunk

    def left(self, chunk: _Chunk, places: IntArray) -> _Chunk:
        """Return these pairs of the first chunk."""
        if len(places) == chunk.count:
            return chunk
        some = _Chunk(self._memory[1], len(places))
        some.take(chunk, places)
        return some


def boxes_overlap(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None
) -> tuple[BoolArray, IntArray]:
    """Return (n,) whether boxes i (n,) and j (n,) have a common point, and the places of pairs too near to touching,
    along an axis of nearly parallel edges, for this to be sure.

    Source: S0.4. Raises Cancelled when `progress` says so.
    """
    result, open_ = _by_balls(boxes, i, j)
    chunks = _Chunks(len(open_))
    doubtful: list[IntArray] = []
    for places in _parts(open_, progress):
        pairs = chunks.first(boxes, i.take(places), j.take(places))
        # A point half-way between the centres in both is a common point: no axis can separate them.
        least = np.minimum.reduce(pairs.overlap[:6], axis=0)
        within = np.abs(pairs.along[:6], out=pairs.part[:6])
        for rows, frames in ((within[:3], pairs.a), (within[3:], pairs.b)):
            rows -= frames[12:15]
            rows -= frames[12:15]
        common = np.maximum.reduce(within, axis=0) <= 0.0
        result[places[common]] = True
        left = np.flatnonzero((least >= 0.0) & ~common)
        if not len(left):
            continue
        places, pairs = places.take(left), chunks.left(pairs, left)
        pairs.edges(careful=False)
        limit = pairs.rounding()
        edges = pairs.overlap[6:]
        least = np.minimum.reduce(edges, axis=0)
        met = result[places] = least >= -limit
        near = np.abs(edges, out=edges) <= limit
        if near.any():
            near &= pairs.square > BOX_PARALLEL**2
            doubtful.append(places[near.any(axis=0) & met])
    return result, np.concatenate(doubtful) if doubtful else np.zeros(0, dtype=np.intp)


def meeting_boxes(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None
) -> tuple[IntArray, BoxAxes]:
    """Return the places of the pairs of boxes i (n,) and j (n,) whose signed distance is not above 0, and what
    `box_axes` tells of these.

    Where many pairs are apart this is faster: the edges are measured only of those that no face separates. Raises
    Cancelled when `progress` says so.
    """
    near: list[IntArray] = [np.zeros(0, dtype=np.intp)]
    for start, square, reach in _balls(boxes, i, j):
        near.append(np.flatnonzero(square <= reach[1]) + start)
    open_ = np.concatenate(near)
    chunks = _Chunks(len(open_))
    met: list[IntArray] = [np.zeros(0, dtype=np.intp)]
    found = []
    for places in _parts(open_, progress):
        pairs = chunks.first(boxes, i.take(places), j.take(places))
        left = np.flatnonzero(np.minimum.reduce(pairs.overlap[:6], axis=0) >= 0.0)
        if not len(left):
            continue
        pairs = chunks.left(pairs, left)
        pairs.edges(careful=True)
        axes = pairs.axes()
        hit = np.flatnonzero(axes.signed_distance <= 0.0)
        met.append(places.take(left.take(hit)))
        found.append(axes.taken(hit))
    return np.concatenate(met), BoxAxes.joined(found)


def _parts(places: IntArray, progress: Progress | None) -> Iterator[IntArray]:
    """Return places (n,) chunk by chunk. Raises Cancelled when `progress`, which is told the share done, says so."""
    for start in range(0, len(places), CHUNK):
        if start % (16 * CHUNK) == 0:
            tell(progress, start / len(places))
        yield places[start : start + CHUNK]


def _balls(boxes: OrientedBoxes, i: IntArray, j: IntArray) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Return, some pairs at a time, the place of the first, the squares (n,) of the ways between the centres, and (3,
    n) the squares of the sums of the radii of the balls around the boxes, to be sure a little more, and inside."""
    centers, reach = boxes.frames[:3], boxes.frames[17:20]
    for start in range(0, len(i), _LOOK):
        ii, jj = i[start : start + _LOOK], j[start : start + _LOOK]
        way = centers.take(jj, axis=1, mode="clip")
        way -= centers.take(ii, axis=1, mode="clip")
        square = np.einsum("cn,cn->n", way, way)
        both = reach.take(ii, axis=1, mode="clip")
        both += reach.take(jj, axis=1, mode="clip")
        both[1] += both[0]
        both *= both
        yield start, square, both


def _by_balls(boxes: OrientedBoxes, i: IntArray, j: IntArray) -> tuple[BoolArray, IntArray]:
    """Return (n,) which pairs intersect for sure, as the balls inside them do, and the places of those left when those
    whose balls around them do not meet are left out too."""
    result = np.zeros(len(i), dtype=bool)
    open_: list[IntArray] = [np.zeros(0, dtype=np.intp)]
    for start, square, reach in _balls(boxes, i, j):
        inside = square <= reach[2]
        result[start : start + len(square)] = inside
        open_.append(np.flatnonzero((square <= reach[1]) & ~inside) + start)
    return result, np.concatenate(open_)


def box_axes(boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None) -> BoxAxes:
    """Return the axis of least overlap, or of the widest gap, of boxes i (n,) and j (n,).

    Axes that are equally good within BOX_PREFER_FACE are taken in the order of `BoxAxis.axis`, faces first. Source:
    S0.3, S0.4, S0.5. Raises Cancelled when `progress` says so.
    """
    chunks, found = _Chunks(len(i)), []
    for places in _parts(np.arange(len(i)), progress):
        pairs = chunks.first(boxes, i.take(places), j.take(places))
        pairs.edges(careful=True)
        found.append(pairs.axes())
    return BoxAxes.joined(found)
