# SPDX-License-Identifier: GPL-3.0-or-later
"""Common parts of the two broad phases: the boxes, expanded ranges, and the exact test of the pairs they propose.

Both propose pairs, too many rather than too few; `PairList` tests them with the boxes as they were given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..types import FloatArray, IntArray

CHUNK = 15_000
"""Pairs of boxes processed at once: their temporary arrays fit into the cache."""


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
        """Number of boxes."""
        return int(self.corners.shape[2])

    @property
    def magnitude(self) -> float:
        """Largest absolute coordinate of at least one box."""
        return max(-float(self.corners[0].min()), float(self.corners[1].max()))

    @property
    def widths(self) -> FloatArray:
        """(dim,) the largest width along each axis, of at least one box."""
        low, high = self.corners
        chunk = CHUNK // self.dim
        widths = (high[:, :chunk] - low[:, :chunk]).max(axis=1)
        for first in range(chunk, self.count, chunk):
            part = slice(first, first + chunk)
            np.maximum(widths, (high[:, part] - low[:, part]).max(axis=1), out=widths)
        return widths

    def extended(self, margin: float) -> Boxes:
        """Return the boxes with their high corners moved by a margin: of two boxes one side each is enough."""
        corners = self.corners.copy()
        corners[1] += margin
        return Boxes(corners)


class Buffers:
    """Memory for temporary arrays, used for chunk after chunk.

    New arrays of this size would be returned to the system and cleared by it each time, which takes longer than all
    else.
    """

    def __init__(self, size: int = CHUNK) -> None:
        self._rows = np.empty((8, size), dtype=np.intp)
        self._counting = np.arange(0)

    def row(self, number: int, count: int) -> IntArray:
        """Return an array (count,): the same memory for the same number, 0 to 7, if no more than a chunk is wanted."""
        return self._rows[number, :count] if count <= self._rows.shape[1] else np.empty(count, dtype=np.intp)

    def counting(self, count: int) -> IntArray:
        """Return 0 to count - 1; not to be changed."""
        if len(self._counting) < count:
            self._counting = np.arange(count)
        return self._counting[:count]


class PairList:
    """Pairs of boxes within a margin of each other, collected chunk by chunk.

    Without a second set they are pairs of the first, the smaller index first.
    """

    def __init__(self, boxes: Boxes, other: Boxes | None, margin: float) -> None:
        self.tests = 0
        """Number of tests, counted by the caller that proposes pairs."""
        self._boxes, self._other, self._margin = boxes, boxes if other is None else other, margin
        self._itself = other is None
        # A pair is kept as one number, which sorts as pairs do.
        self._bits = self._other.count.bit_length()
        self._codes: list[IntArray] = []
        self._proposed: list[tuple[IntArray, IntArray]] = []
        self._waiting = 0

    def propose(self, i: IntArray, j: IntArray) -> None:
        """Queue boxes i of the first set and boxes j of the second for the exact test."""
        self._proposed.append((i, j))
        self._waiting += len(i)
        if self._waiting > CHUNK:
            self._test_queue()

    @property
    def kept(self) -> int:
        """Number of pairs that passed the test so far."""
        return sum(len(codes) for codes in self._codes)

    def clear(self) -> None:
        """Remove all pairs, but keep the number of tests."""
        self._codes, self._proposed, self._waiting = [], [], 0

    def keep(self, i: IntArray, j: IntArray) -> None:
        """Keep pairs that need no test."""
        if self._itself:
            i, j = np.minimum(i, j), np.maximum(i, j)
        codes = i << self._bits
        codes |= j
        self._codes.append(codes)

    def _test_queue(self) -> None:
        """Test the queued pairs."""
        i, j = self._proposed[0]
        if len(self._proposed) > 1:
            i, j = (np.concatenate(numbers) for numbers in zip(*self._proposed, strict=True))
        self._proposed, self._waiting = [], 0
        for first in range(0, len(i), CHUNK):
            self._test(i[first : first + CHUNK], j[first : first + CHUNK])

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

    def sorted_pairs(self) -> IntArray:
        """Return the pairs (2, p) in ascending order; to be called once."""
        if self._proposed:
            self._test_queue()
        codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.intp)
        self._codes = []
        codes.sort()
        pairs = np.empty((2, len(codes)), dtype=np.intp)
        np.right_shift(codes, self._bits, out=pairs[0])
        np.bitwise_and(codes, (1 << self._bits) - 1, out=pairs[1])
        return pairs


def expanded_ranges(
    owner: IntArray, begin: IntArray, end: IntArray, buffers: Buffers
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield, chunk by chunk, the owner of each range and each number begin <= j < end.

    The arrays are rows 0 and 1 of the buffers. A range longer than a chunk is not cut.
    """
    filled = (begin < end).nonzero()[0]
    if len(filled) == 0:
        return
    owner, begin = owner.take(filled), begin.take(filled)
    size = end.take(filled)
    size -= begin
    total = size.cumsum()
    begin -= total
    begin += size  # now what to add to a running number
    first, done = 0, 0
    while first < len(filled):
        last = len(filled)
        if total[-1] - done > CHUNK:
            last = max(first + 1, int(total.searchsorted(done + CHUNK, side="right")))
        which = buffers.counting(last - first).repeat(size[first:last])
        count = len(which)
        numbers = begin[first:last].take(which, out=buffers.row(0, count), mode="clip")
        numbers += buffers.counting(count)
        if done:
            numbers += done
        yield owner[first:last].take(which, out=buffers.row(1, count), mode="clip"), numbers
        first, done = last, int(total[last - 1])
