# SPDX-License-Identifier: GPL-3.0-or-later
"""What the ways to find pairs of axis-aligned boxes share: the boxes, ranges spelled out, and the exact test.

Each way proposes pairs, too many rather than too few; `PairList` tests them with the boxes as they were given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..types import FloatArray, IntArray, read_only

BATCH = 15_000
"""Pairs of boxes looked at in one go: what is made of them on the way fits the cache."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Axis-aligned boxes, one row per axis."""

    corners: FloatArray
    """(2, dim, n) lowest and highest coordinates."""

    @property
    def low(self) -> FloatArray:
        """(dim, n) lowest coordinates."""
        return self.corners[0]

    @property
    def high(self) -> FloatArray:
        """(dim, n) highest coordinates."""
        return self.corners[1]

    @property
    def dim(self) -> int:
        """Dimension: 2 or 3."""
        return int(self.corners.shape[1])

    @property
    def count(self) -> int:
        """How many."""
        return int(self.corners.shape[2])

    @property
    def magnitude(self) -> float:
        """Largest absolute coordinate; there must be a box."""
        return max(-float(self.corners[0].min()), float(self.corners[1].max()))

    @property
    def widths(self) -> FloatArray:
        """(dim,) the largest width along each axis; there must be a box."""
        low, high = self.corners
        chunk = BATCH // self.dim
        widths: FloatArray = (high[:, :chunk] - low[:, :chunk]).max(axis=1)
        for first in range(chunk, self.count, chunk):
            part = slice(first, first + chunk)
            np.maximum(widths, (high[:, part] - low[:, part]).max(axis=1), out=widths)
        return widths

    def taken(self, numbers: IntArray) -> Boxes:
        """Return the boxes with these numbers."""
        return Boxes(self.corners.take(numbers, axis=2))


class Room:
    """Memory for what is made on the way, used for batch after batch.

    New arrays of this size would be given back to the system and cleared by it each time, which takes longer than all
    else.
    """

    def __init__(self, size: int = BATCH) -> None:
        self._rows = np.empty((8, size), dtype=np.intp)
        self._counting = np.arange(0)

    def row(self, number: int, count: int) -> IntArray:
        """Return an array (count,), of a batch the same memory for the same number of 0 to 7."""
        return self._rows[number, :count] if count <= self._rows.shape[1] else np.empty(count, dtype=np.intp)

    def counting(self, count: int) -> IntArray:
        """Return 0, 1 and so on, `count` of them; not to be changed."""
        if len(self._counting) < count:
            self._counting = np.arange(count)
        return self._counting[:count]


class PairList:
    """Pairs of boxes within a margin of each other, collected batch by batch.

    Without a second set they are pairs of the first, the smaller number first.
    """

    def __init__(self, boxes: Boxes, other: Boxes | None, margin: float) -> None:
        self.tests = 0
        """How many tests were made; who proposes pairs counts them."""
        self._boxes, self._other, self._margin = boxes, boxes if other is None else other, margin
        self._itself = other is None
        # A pair is kept as one number, which sorts as pairs do.
        self._bits = self._other.count.bit_length()
        self._codes: list[IntArray] = []
        self._proposed: list[tuple[IntArray, IntArray]] = []
        self._waiting = 0

    def propose(self, i: IntArray, j: IntArray) -> None:
        """Test boxes i of the first set against boxes j of the second, now or later; keep the pairs that are near."""
        self._proposed.append((i, j))
        self._waiting += len(i)
        if self._waiting > BATCH:
            self._decide()

    @property
    def kept(self) -> int:
        """How many pairs are near, of those that were tested so far."""
        return sum(len(codes) for codes in self._codes)

    def clear(self) -> None:
        """Forget all pairs, but not how many tests they took."""
        self._codes, self._proposed, self._waiting = [], [], 0

    def keep(self, i: IntArray, j: IntArray) -> None:
        """Keep pairs that are near for sure."""
        if self._itself:
            i, j = np.minimum(i, j), np.maximum(i, j)
        codes = i << self._bits
        codes |= j
        self._codes.append(codes)

    def _decide(self) -> None:
        """Test the pairs proposed."""
        i, j = self._proposed[0]
        if len(self._proposed) > 1:
            i, j = (np.concatenate(numbers) for numbers in zip(*self._proposed, strict=True))
        self._proposed, self._waiting = [], 0
        for first in range(0, len(i), BATCH):
            self._test(i[first : first + BATCH], j[first : first + BATCH])

    def _test(self, i: IntArray, j: IntArray) -> None:
        (low_a, high_a), (low_b, high_b), margin = self._boxes.corners, self._other.corners, self._margin
        starts, ends = low_b.take(j, axis=1, mode="clip"), high_a.take(i, axis=1, mode="clip")
        other_starts, other_ends = low_a.take(i, axis=1, mode="clip"), high_b.take(j, axis=1, mode="clip")
        if margin == 0.0:
            near = starts <= ends
            near &= other_starts <= other_ends
        else:  # rounded, the gap of boxes within the margin is not above it
            starts -= ends
            other_starts -= other_ends
            near = starts <= margin
            near &= other_starts <= margin
        kept = near.all(axis=0).nonzero()[0]
        self.keep(i.take(kept), j.take(kept))

    def pairs(self) -> IntArray:
        """Return the pairs (p, 2) in ascending order; to be asked once, this or `columns`."""
        codes = self._sorted()
        pairs = np.empty((len(codes), 2), dtype=np.intp)
        self._split(codes, pairs[:, 0], pairs[:, 1])
        return read_only(pairs)

    def columns(self) -> IntArray:
        """Return the same as (2, p)."""
        codes = self._sorted()
        pairs = np.empty((2, len(codes)), dtype=np.intp)
        self._split(codes, pairs[0], pairs[1])
        return pairs

    def _sorted(self) -> IntArray:
        if self._proposed:
            self._decide()
        codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.intp)
        self._codes = []
        codes.sort()
        return codes

    def _split(self, codes: IntArray, i: IntArray, j: IntArray) -> None:
        np.right_shift(codes, self._bits, out=i)
        np.bitwise_and(codes, (1 << self._bits) - 1, out=j)


def ranges(owner: IntArray, begin: IntArray, end: IntArray, room: Room) -> Iterator[tuple[IntArray, IntArray]]:
    """Spell ranges out, a batch at a time: the range's owner, and each number begin <= j < end.

    What is returned is in rows 0 and 1 of the room. A range longer than a batch is not cut.
    """
    some = (begin < end).nonzero()[0]
    if len(some) == 0:
        return
    owner, begin = owner.take(some), begin.take(some)
    size = end.take(some)
    size -= begin
    total = size.cumsum()
    begin -= total
    begin += size  # now what to add to a running number
    first, done = 0, 0
    while first < len(some):
        last = len(some)
        if total[-1] - done > BATCH:
            last = max(first + 1, int(total.searchsorted(done + BATCH, side="right")))
        which = room.counting(last - first).repeat(size[first:last])
        count = len(which)
        numbers = begin[first:last].take(which, out=room.row(0, count), mode="clip")
        numbers += room.counting(count)
        if done:
            numbers += done
        yield owner[first:last].take(which, out=room.row(1, count), mode="clip"), numbers
        first, done = last, int(total[last - 1])
