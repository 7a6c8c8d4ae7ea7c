# SPDX-License-Identifier: GPL-3.0-or-later
"""Separating axes of many pairs of boxes at once: the test of `box_sat`, one array operation for a thousand pairs.

Everything is in rows (3, n), one column a box or a pair, and some pairs at a time, so that what is made on the way
stays in the cache. As in `box_sat`, r_ij is axis i of A . axis j of B, t the way between the centres in the frame of A,
h and g are the half sizes. Source: S0.3, S0.4, S0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import checked_array, checked_magnitude
from .box import Box
from .polytope import FloatArray, IntArray, frozen
from .progress import Progress, tell
from .tolerance import BATCH_CORNERS, BATCH_ROUNDING, BOX_ORTHOGONAL, BOX_PARALLEL, BOX_PREFER_FACE, EPS

BoolArray = NDArray[np.bool_]

CHUNK = 1_024
"""Pairs answered in one go: what they take fits the second cache."""
_LOOK = 4_096
"""Pairs whose balls are compared in one go: they take much less each."""

_FEW = 0.35
"""Share of a chunk's pairs, left by the axes of the faces, from which the edges are measured of all of them."""

_NEXT = np.array([1, 2, 0, 1])
"""Axes i + 1 and i + 2 of i are _NEXT[i] and _NEXT[i + 1]."""
_LEFT = np.arange(15, 0, -1, dtype=np.int8)[:, None]
_TURN = (1, 2, 0, 1)
"""The same as whole numbers."""


@dataclass(frozen=True, eq=False)
class OrientedBoxes:
    """Many boxes that are not sheared, one column a box. World frame, unit of the coordinates; read-only."""

    frames: FloatArray
    """(20, n) rows 0 to 2 the centre, 3 to 11 the axes (row 3 + 3 k + c: component c of unit axis k), 12 to 16 the half
    sizes 0, 1, 2, 0, 1; 17 and 18 the radii of the balls around and inside; 19 what rounding adds to an
    overlap."""

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
        np.sqrt(np.einsum("kn,kn->n", half, half), out=frames[17])
        frames[18] = half.min(axis=0, initial=np.inf)
        frames[19] = np.abs(frames[:3]).max(axis=0, initial=0.0) + frames[17]
        frames[19] *= BATCH_CORNERS * EPS
        frames[19] += BATCH_ROUNDING * EPS * frames[17]
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


class _Room:
    """Memory for what is made of a chunk on the way, used for chunk after chunk."""

    def __init__(self) -> None:
        self.both = np.empty((2, 20, CHUNK))
        self.a, self.b = self.both
        self.way, self.local = np.empty((2, 3, CHUNK))
        self.r, self.q = np.empty((2, 3, 5, CHUNK))
        self.overlap = np.empty((15, CHUNK))
        self.square = np.empty((9, CHUNK))
        self.along = np.empty((15, CHUNK))
        self.product, self.other = np.empty((2, 9, CHUNK))
        self.line = np.empty(CHUNK)
        self.good = np.empty((15, CHUNK), dtype=bool)


class _Frames:
    """A chunk of pairs of boxes: their frames, and what the face axes tell."""

    def __init__(self, boxes: OrientedBoxes, i: IntArray, j: IntArray, room: _Room) -> None:
        count = len(i)
        self.count, self.room = count, room
        # Slices of larger memory are not in one piece: `take` would copy.
        a = self.a = room.a.reshape(-1)[: 20 * count].reshape(20, count)
        b = self.b = room.b.reshape(-1)[: 20 * count].reshape(20, count)
        boxes.frames.take(i, axis=1, out=a, mode="clip")
        boxes.frames.take(j, axis=1, out=b, mode="clip")
        self.axes_a, self.axes_b = a[3:12].reshape(3, 3, count), b[3:12].reshape(3, 3, count)
        self.way = np.subtract(b[:3], a[:3], out=room.way[:, :count])
        self.r = room.r.reshape(-1)[: 15 * count].reshape(3, 5, count)
        self.q = room.q.reshape(-1)[: 15 * count].reshape(3, 5, count)
        self.overlap, self.along = room.overlap[:, :count], room.along[:, :count]
        self.square = room.square[:, :count]
        self.product = room.product.reshape(-1)[: 9 * count].reshape(9, count)
        self.other = room.other[:, :count]

    def faces(self) -> None:
        """Fill r, its absolute values q, and rows 0 to 5 of along and overlap."""
        a, b, way, r, q, count = self.axes_a, self.axes_b, self.way, self.r, self.q, self.count
        product = self.product.reshape(3, 3, count)
        inner = r[:, :3]
        np.multiply(a[:, 0, None], b[None, :, 0], out=inner)
        np.multiply(a[:, 1, None], b[None, :, 1], out=product)
        inner += product
        np.multiply(a[:, 2, None], b[None, :, 2], out=product)
        inner += product
        r[:, 3:] = r[:, :2]
        np.abs(r, out=q)
        along, part = self.along, product[0]
        for axes, first in ((a, 0), (b, 3)):
            rows = along[first : first + 3]
            np.multiply(axes[:, 0], way[0], out=rows)
            for c in (1, 2):
                np.multiply(axes[:, c], way[c], out=part)
                rows += part
        overlap, h, g = self.overlap, self.a[12:15], self.b[12:15]
        rows = overlap[:3]
        rows[...] = h
        for k in range(3):
            np.multiply(q[:, k], g[k], out=part)
            rows += part
        np.abs(along[:3], out=part)
        rows -= part
        rows = overlap[3:6]
        rows[...] = g
        for k in range(3):
            np.multiply(q[k, :3], h[k], out=part)
            rows += part
        np.abs(along[3:6], out=part)
        rows -= part

    def edges(self, careful: bool) -> None:
        """Fill rows 6 to 14 of along and overlap, both times the sine of the edges, and the squares of the sines.

        `careful`: what B reaches along an axis comes from the same rounded numbers as the axis itself, or its error,
        divided by a small sine, would be large.
        """
        r, q, t, h, g = self.r, self.q, self.along, self.a[12:17], self.b[12:17]
        part, other = self.product[:3], self.other[:3]
        for i in range(3):
            first, second = _TURN[i], _TURN[i + 1]
            u, v = r[first, :3], r[second, :3]
            along, overlap = self.along[6 + 3 * i : 9 + 3 * i], self.overlap[6 + 3 * i : 9 + 3 * i]
            np.multiply(u, t[second], out=along)
            np.multiply(v, t[first], out=part)
            along -= part
            np.multiply(q[second, :3], h[first], out=overlap)
            np.multiply(q[first, :3], h[second], out=part)
            overlap += part
            if careful:
                for step in (1, 2):
                    np.multiply(u, r[second, step : step + 3], out=part)
                    np.multiply(v, r[first, step : step + 3], out=other)
                    part -= other
                    np.abs(part, out=part)
                    part *= g[step : step + 3]
                    overlap += part
            else:
                np.multiply(q[i, 2:5], g[1:4], out=part)
                overlap += part
                np.multiply(q[i, 1:4], g[2:5], out=part)
                overlap += part
            np.abs(along, out=part)
            overlap -= part
            square = self.square[3 * i : 3 * i + 3]
            np.multiply(u, u, out=square)
            np.multiply(v, v, out=part)
            square += part

    def rounding(self) -> FloatArray:
        """Return (n,) what an overlap across a unit vector may be wrong by."""
        result: FloatArray = np.add(self.a[19], self.b[19], out=self.room.line[: self.count])
        return result


def boxes_overlap(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None
) -> tuple[BoolArray, IntArray]:
    """Return (n,) whether boxes i (n,) and j (n,) have a common point, and the places of pairs too near to touching,
    along an axis of nearly parallel edges, for this to be sure.

    Source: S0.4. Raises Cancelled when `progress` says so.
    """
    result, open_ = _by_balls(boxes, i, j)
    room = _Room()
    doubtful: list[IntArray] = []
    for start in range(0, len(open_), CHUNK):
        if start % (16 * CHUNK) == 0:
            tell(progress, start / len(open_))
        places = open_[start : start + CHUNK]
        ii, jj = i.take(places), j.take(places)
        pairs = _Frames(boxes, ii, jj, room)
        pairs.faces()
        # A point half-way between the centres in both is a common point: no axis can separate them.
        least = pairs.overlap[:6].min(axis=0)
        within = np.abs(pairs.along[:6], out=pairs.product[:6])
        within[:3] -= pairs.a[12:15]
        within[:3] -= pairs.a[12:15]
        within[3:] -= pairs.b[12:15]
        within[3:] -= pairs.b[12:15]
        common = within.max(axis=0) <= 0.0
        result[places[common]] = True
        left = np.flatnonzero((least >= 0.0) & ~common)
        if not len(left):
            continue
        if len(left) < _FEW * len(places):
            places = places.take(left)
            pairs = _Frames(boxes, ii.take(left), jj.take(left), room)
            pairs.faces()
            left = np.arange(len(left))
        pairs.edges(careful=False)
        limit = pairs.rounding()
        edges = pairs.overlap[6:]
        least = edges.min(axis=0)
        result[places.take(left)] = least.take(left) >= -limit.take(left)
        near = np.abs(edges) <= limit
        near &= pairs.square > BOX_PARALLEL**2
        near_rows = np.flatnonzero(near.any(axis=0) & (least >= -limit))
        if len(near_rows):
            doubtful.append(places.take(np.intersect1d(near_rows, left)))
    return result, np.concatenate(doubtful) if doubtful else np.zeros(0, dtype=np.intp)


def boxes_not_parted(boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None) -> IntArray:
    """Return the places of the pairs of boxes i (n,) and j (n,) that no axis of a face separates: nearly all of them
    intersect, and `box_axes` tells which.

    Where the axes are asked for anyway, this takes half as long as `boxes_overlap`. Raises Cancelled when `progress`
    says so.
    """
    inside, open_ = _by_balls(boxes, i, j)
    kept = inside
    room = _Room()
    for start in range(0, len(open_), CHUNK):
        if start % (16 * CHUNK) == 0:
            tell(progress, start / len(open_))
        places = open_[start : start + CHUNK]
        pairs = _Frames(boxes, i.take(places), j.take(places), room)
        pairs.faces()
        kept[places] = pairs.overlap[:6].min(axis=0) >= -pairs.rounding()
    return np.flatnonzero(kept)


def _by_balls(boxes: OrientedBoxes, i: IntArray, j: IntArray) -> tuple[BoolArray, IntArray]:
    """Return (n,) which pairs intersect for sure, as the balls inside them do, and the places of those left when those
    whose balls around them do not meet are left out too."""
    result = np.zeros(len(i), dtype=bool)
    centers, reach = boxes.frames[:3], boxes.frames[17:20]
    open_: list[IntArray] = []
    for start in range(0, len(i), _LOOK):
        ii, jj = i[start : start + _LOOK], j[start : start + _LOOK]
        way = centers.take(jj, axis=1)
        way -= centers.take(ii, axis=1)
        way *= way
        square = way[0]
        square += way[1]
        square += way[2]
        both = reach.take(ii, axis=1)
        both += reach.take(jj, axis=1)
        both[0] += both[2]
        both *= both
        inside = square <= both[1]
        result[start : start + _LOOK] = inside
        open_.append(np.flatnonzero((square <= both[0]) & ~inside) + start)
    return result, np.concatenate(open_) if open_ else np.zeros(0, dtype=np.intp)


def box_axes(boxes: OrientedBoxes, i: IntArray, j: IntArray, progress: Progress | None = None) -> BoxAxes:
    """Return the axis of least overlap, or of the widest gap, of boxes i (n,) and j (n,).

    Axes that are equally good within BOX_PREFER_FACE are taken in the order of `BoxAxis.axis`, faces first. Source:
    S0.3, S0.4, S0.5. Raises Cancelled when `progress` says so.
    """
    total = len(i)
    distance, normal, chosen = np.empty(total), np.empty((3, total)), np.empty(total, dtype=np.int8)
    rounding = np.empty(total)
    room = _Room()
    for start in range(0, total, CHUNK):
        if start % (16 * CHUNK) == 0:
            tell(progress, start / total)
        part = slice(start, start + CHUNK)
        pairs = _Frames(boxes, i[part], j[part], room)
        pairs.faces()
        pairs.edges(careful=True)
        overlap, square, count = pairs.overlap, pairs.square, pairs.count
        parallel = square <= BOX_PARALLEL**2
        if parallel.any():
            np.copyto(square, 1.0, where=parallel)
            np.copyto(overlap[6:], np.inf, where=parallel)
        np.sqrt(square, out=square)
        overlap[6:] /= square
        least = overlap.min(axis=0)
        limit = np.abs(least)
        limit *= BOX_PREFER_FACE
        limit += least
        # The first one within the limit: the largest of numbers that go down.
        good = np.less_equal(overlap, limit, out=room.good[:, :count]).view(np.int8)
        good *= _LEFT
        best = 15 - np.maximum.reduce(good, axis=0)
        columns = np.arange(count)
        # By places in flat memory: numbers of rows and columns together take several times as long.
        place = best.astype(np.intp)
        flat = place * CHUNK
        flat += columns
        least = room.overlap.ravel().take(flat)
        side = room.along.ravel().take(flat)
        distance[part] = 0.0 - least
        chosen[part] = best
        rounding[part] = pairs.rounding()
        # Faces: an axis of A or of B. Rows 3 to 11 of both frames are the axes.
        way = normal[:, part]
        is_b = place >= 3
        at = np.where(place < 6, 3 + 3 * (place - 3 * is_b), 3)
        at *= count
        at += is_b * (20 * CHUNK)
        at += columns
        for c in range(3):
            room.both.ravel().take(at, out=way[c], mode="clip")
            at += count
        edges = np.flatnonzero(place >= 6)
        if len(edges):
            which = place.take(edges) - 6
            first = which // 3
            other = which - 3 * first
            one, two = _NEXT.take(first), _NEXT.take(first + 1)
            scale = 1.0 / room.square.ravel().take(which * CHUNK + edges)
            products, axes = pairs.r.ravel(), pairs.a.ravel()
            other *= count
            other += edges
            u = products.take(one * (5 * count) + other)
            v = products.take(two * (5 * count) + other)
            u *= scale
            v *= scale
            at_one, at_two = ((3 + 3 * k) * count + edges for k in (one, two))
            for c in range(3):
                way[c, edges] = u * axes.take(at_two) - v * axes.take(at_one)
                at_one += count
                at_two += count
        np.negative(way, out=way, where=side < 0.0)
    return BoxAxes(distance, normal, chosen, rounding)
