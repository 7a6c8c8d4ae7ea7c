# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of boxes of about one size, from a grid whose cells are as wide as the largest of them.

The boxes are sorted by the cell their low corner is in, and a table has the begin of each cell: partners are in the
same cell or its neighbours, and cells in a row are one range. Along the rows cells are cut into slices, so that a range
begins little before the first partner and ends with the last; rows that a box does not reach are left out. All
comparisons of two boxes are made at once: each box is rounded to a small number of steps per axis, all of them packed
into one integer, and the signs of the six differences are read from a single subtraction. Source: M. Mazhar et al., A
scalable parallel method for large collision detection problems, 2011; L. Lamport, Multiple byte processing with
full-word instructions, 1975.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from math import floor, prod

import numpy as np

from ..progress import Progress
from ..runs import chunks
from ..types import FloatArray, IntArray, read_only
from .box_pairs import CHUNK, Boxes, Buffers, PairList, expanded_ranges

_STEPS = 128  # of a cell along each axis
_WIDEST = 126  # steps of the largest box: with the rounding it is still shorter than a cell
_SURE = 3  # steps from which an overlap is certain: 2, and 1 by which a field of a difference may be too large
_CELLS = 3.0  # cells per box, at most: beyond, wider cells are faster than a longer table
_SLICES = 16  # of a cell along a row, at most; a power of 2, below _STEPS
_SLICED = 4.0  # slices per box, about, at most
_FEW = 1000  # pairs for which the exact test is as fast as sorting out the certain ones
_CROWD = 8  # boxes in the same cell, for half of the boxes: a tree is faster
_CROWDED = 50.0  # tests per box from which a tree is faster
_START = 0.125  # fraction of all tests allowed that may be used at once
_REACH = 8  # bits for the slices from the low corner of a box to the high one
_NARROWEST = 1e-290  # of a step: its inverse must be finite


def find_grid_pairs(
    boxes: Boxes, other: Boxes | None, found: PairList, widened: float = 0.0, progress: Progress | None = None
) -> bool:
    """Add the pairs of boxes that overlap to `found`; without a second set, pairs of the first.

    Returns False, with only a part of the pairs found, when the boxes crowd in a few cells and take more than about
    _CROWDED tests each. `widened`: most by which boxes that were extended may overlap without being within the margin.
    `progress` is called with the fraction done; raises Cancelled when it says so.
    """
    cells = _GridCells.around([boxes] if other is None else [boxes, other])
    order, key, upper, lower, end_key, unreached = cells.sorted(boxes)
    order_b, key_b, lower_b = order, key, lower
    if other is not None:
        order_b, key_b, _, lower_b, _, _ = cells.sorted(other)
    cell = key_b // cells.slices
    if 2 * np.count_nonzero(cell[_CROWD:] == cell[:-_CROWD]) > len(cell):
        return False
    table = np.bincount(key_b, minlength=cells.count)
    table.cumsum(out=table)  # boxes in a slice or in one before it
    steps, above = cells.rows(other is None)
    sign, surely = cells.fields(1 << (cells.bits - 1)), cells.fields(_SURE)
    sure = widened * 16.0 <= cells.step
    start, allowance = found.tests, _CROWDED * _START * (len(order) + len(order_b))
    buffers = Buffers()
    for part in chunks(len(order), CHUNK // len(steps), progress):
        number = np.arange(part.start, part.stop)
        begin = table.take(key[part] + (steps - (cells.slices + 1)), mode="clip")
        ends = end_key[part] + steps
        for rows, below in zip(above, unreached, strict=True):
            ends[rows] -= below[part]
        end = table.take(ends, mode="clip")
        if other is None:
            np.add(number, 1, out=begin[0])  # of its own row those after it
        owner = buffers.row(2, begin.size).reshape(begin.shape)
        owner[:] = number
        for i, j in expanded_ranges(owner.ravel(), begin.ravel(), end.ravel(), buffers):
            found.tests += len(i)
            # The boxes of a chunk come once for each row, so its last box does not measure the progress within it.
            if found.tests - start > allowance + _CROWDED * part.stop:
                return False
            difference = upper.take(i, out=buffers.row(3, len(i)), mode="clip")
            difference -= lower_b.take(j, out=buffers.row(4, len(i)), mode="clip")
            met = (np.bitwise_and(difference, sign, out=buffers.row(4, len(i))) == 0).nonzero()[0]
            i, j = order.take(i.take(met)), order_b.take(j.take(met))
            if not sure or len(i) < _FEW:
                found.propose(i, j)
                continue
            difference = difference.take(met)
            difference -= surely
            difference &= sign
            certain = difference == 0
            met = certain.nonzero()[0]
            found.keep(i.take(met), j.take(met))
            met = np.logical_not(certain, out=certain).nonzero()[0]
            found.propose(i.take(met), j.take(met))
    return True


@dataclass(frozen=True, eq=False)
class _GridCells:
    """A grid, with an empty cell on each side."""

    origin: FloatArray
    """(dim, 1) low corner."""
    scale: FloatArray
    """(dim, 1) steps per length."""
    strides: list[int]
    """Step of the slice index along each axis: by a slice for the first, by a cell for the others."""
    slices: int
    """Slices of a cell along the first axis; a power of 2."""
    count: int
    """Number of slices."""

    @classmethod
    def around(cls, sets: list[Boxes]) -> _GridCells:
        """Return a grid for boxes whose cells are as wide as the widest of them, or wider."""
        limit = _CELLS * sum(s.count for s in sets) + 64.0
        lowest, highest, widths = sets[0].low.min(axis=1), sets[0].low.max(axis=1), sets[0].widths
        for s in sets[1:]:
            lowest, highest = np.minimum(lowest, s.low.min(axis=1)), np.maximum(highest, s.low.max(axis=1))
            widths = np.maximum(widths, s.widths)
        extent = (highest - lowest).tolist()
        # No more cells in a row than the table may have: their numbers stay small.
        width = [
            max(w * _STEPS / _WIDEST, e / limit, _NARROWEST * _STEPS)
            for w, e in zip(widths.tolist(), extent, strict=True)
        ]
        while True:
            shape = [floor(e / w) + 1 for e, w in zip(extent, width, strict=True)]
            size = prod(shape)
            if size <= limit:
                break
            factor = max(1.02, (size / limit) ** (1.0 / sum(cells > 1 for cells in shape)))
            width = [w * factor if cells > 1 else w for w, cells in zip(width, shape, strict=True)]
        slices = _SLICES
        while slices > 1 and size * slices > _SLICED * limit / _CELLS:
            slices //= 2
        strides = [1, slices * (shape[0] + 3)]  # rounding may put a corner one cell further
        for cells in shape[1:]:
            strides.append(strides[-1] * (cells + 3))
        scale = np.array([[_STEPS / w] for w in width])
        return cls(lowest[:, None], scale, strides[:-1], slices, strides[-1] + 1)

    @property
    def bits(self) -> int:
        """Width of a field of a packed box: the differences of two boxes are far from half of its range."""
        return 60 // (2 * len(self.strides))

    @property
    def step(self) -> float:
        """Length of the shortest step."""
        return 1.0 / float(self.scale.max())

    def fields(self, number: int) -> int:
        """Return a packed box with this number in all fields."""
        bits, fields = self.bits, 2 * len(self.strides)
        return number * (((1 << bits * fields) - 1) // ((1 << bits) - 1))

    def rows(self, itself: bool) -> tuple[IntArray, tuple[IntArray, ...]]:
        """Return the offsets (rows, 1) of the rows of the neighbourhood, and per axis the indices of the rows above.

        For a set with itself only its own row, which is the first, and those after it.
        """
        directions, above = _row_directions(len(self.strides) - 1, itself)
        steps = [
            [sum(sign * stride for sign, stride in zip(direction, self.strides[1:], strict=True))]
            for direction in directions
        ]
        return np.array(steps, dtype=np.intp), above

    def sorted(self, boxes: Boxes) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, list[IntArray]]:
        """Sort boxes by the slice of their low corner; return order, slices, and upper and lower packed boxes, sorted.

        And the slice in which each ends along its row, and for each other axis what is to be taken from that for the
        rows above: 0, or more than any slice if the box does not reach the next cell.

        Each field of the difference of an upper and a lower one, of boxes in neighbouring cells, is by how many steps
        they overlap along an axis, seen from one side, or one more. Boxes with a negative one do not overlap.
        """
        n, bits = boxes.count, self.bits
        strides = np.array(self.strides)[:, None]
        around, ones = sum(self.strides[1:]) + self.slices, self.fields(1)
        key, upper, lower, length = np.empty((4, n), dtype=np.intp)
        within = _STEPS.bit_length() - 1
        shifts = np.full((len(self.strides), 1), within)
        shifts[0] -= self.slices.bit_length() - 1
        chunk = min(n, CHUNK // 5)
        rough = np.empty((2, boxes.dim, chunk))
        steps = np.empty((2, boxes.dim, chunk), dtype=np.intp)
        for part in chunks(n, chunk):
            if (count := part.stop - part.start) < chunk:
                rough, steps = rough[:, :, :count], steps[:, :, :count]
            np.subtract(boxes.corners[:, :, part], self.origin, out=rough)
            rough *= self.scale
            steps[:] = rough  # rounds down: what is sorted stays sorted
            packed = steps[:, -1] << (2 * bits)  # all axes of low, all of high: each takes every second field
            for axis in range(boxes.dim - 2, 0, -1):
                packed += steps[:, axis]
                packed <<= 2 * bits
            packed += steps[:, 0]
            low, high = packed
            # High minus low, and one more, for the field before may take one away; then the other side of the boxes.
            above = upper[part]
            np.left_shift(low, bits, out=above)
            np.subtract(high, above, out=above)
            above += ones
            high <<= bits
            np.subtract(low, high, out=lower[part])
            steps >>= shifts
            cell, other = steps
            other -= cell
            # How many slices further it ends, and a bit for each other axis along which it reaches the next cell.
            reach = length[part]
            reach[:] = other[0]
            for axis in range(1, boxes.dim):
                reach |= other[axis] << (_REACH + axis)
            cell *= strides
            cell.sum(axis=0, out=key[part])
            key[part] += around
        shift = n.bit_length()
        key <<= shift
        key |= np.arange(n)
        key.sort()
        order = key & ((1 << shift) - 1)
        key >>= shift
        length = length.take(order)
        unreached = [((length >> (_REACH + axis)) & 1 ^ 1) * self.count for axis in range(1, boxes.dim)]
        length &= (1 << _REACH) - 1
        length += key
        return order, key, upper.take(order), lower.take(order), length, unreached


@cache
def _row_directions(axes: int, itself: bool) -> tuple[tuple[tuple[int, ...], ...], tuple[IntArray, ...]]:
    """Return the direction to each row of a neighbourhood, of -1, 0 and 1, and per axis the indices of the rows above.

    The own row is the first. For a set with itself only those after it, when the last axis counts most.
    """
    around = [direction[::-1] for direction in product((-1, 0, 1), repeat=axes)]  # in ascending order
    own = len(around) // 2
    directions = [around[own], *([] if itself else around[:own]), *around[own + 1 :]]
    above = [
        np.array([row for row, direction in enumerate(directions) if direction[axis] > 0], dtype=np.intp)
        for axis in range(axes)
    ]
    return tuple(directions), tuple(read_only(rows) for rows in above)
