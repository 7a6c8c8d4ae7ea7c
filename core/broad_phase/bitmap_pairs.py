# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of some thousand boxes or fewer, by bitmaps: a bit for each box tells whether it begins, or ends, in time.

Each axis is cut into levels. For each of them one row of bits tells which boxes begin there or before, and another
which end there or after. The partners of a box are in its rows of all axes at once: a few operations on words of 64
boxes each. The boxes are sorted along the axis where they crowd least, so that only a few words of a row are looked at.
Source: C.-Y. Chan, Y. Ioannidis, Bitmap index design and evaluation, 1998 (range encoding).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress, report_progress
from ..types import FloatArray, IntArray
from .box_pairs import BATCH, Boxes, PairList

WordArray = NDArray[np.uint64]

_LEVELS = 64  # of an axis
_WORD = np.dtype("<u8")  # lowest bits in the first byte, on every machine
_UP_TO = np.array([(1 << bits) - 1 for bits in range(65)], dtype=_WORD)  # the first bits of a word
_FROM = np.array([(1 << 64) - (1 << bits) for bits in range(64)], dtype=_WORD)  # all but the first bits
_WORDS = 8192  # looked at in one go; few of their bits are set
_BYTES = BATCH // 2  # that are not 0, looked at in one go
_NARROWEST = 1e-290  # extent of boxes that are told apart: its inverse must be finite
_START = 0.125  # share of the boxes whose allowance of tests may be used at once


def bitmap(
    boxes: Boxes, other: Boxes | None, found: PairList, progress: Progress | None = None, most: float = inf
) -> bool:
    """Propose pairs of boxes that overlap to `found`; without a second set, pairs of the first.

    Gives up and returns False when it takes more than about `most` tests per box, because few levels hold most of them;
    `found` then holds some of the pairs. Raises Cancelled when `progress`, which is told the share done, says so.
    """
    rows, columns, axis = _levels(boxes, other)
    # Whole numbers this short are sorted by their digits, in linear time.
    order = columns[0, axis].astype(np.uint8).argsort(kind="stable")
    columns = columns.take(order, axis=2)
    end = np.bincount(columns[0, axis], minlength=_LEVELS).cumsum()
    if other is None:
        rows, row_order = columns, order
        begin = np.arange(1, len(order) + 1)  # pairs with those before are theirs
    else:
        row_order = np.arange(boxes.count)
        begin = np.maximum.accumulate(columns[1, axis]).searchsorted(rows[0, axis])
    end = end.take(rows[1, axis])
    # Along the sorted axis all partners of one set begin after the box, and so end after it begins.
    axes = [a for a in range(boxes.dim) if other is not None or a != axis]
    bitmaps = _bitmaps(columns, axes)
    limits = rows[::-1, axes]  # partners begin before a box ends and end after it begins
    start, total = found.tests, len(row_order) + len(order)
    span = max(1 + int((((end - 1) >> 6) - (begin >> 6)).max()), 1)
    chunk = max(_WORDS // span, 1)
    for first in range(0, len(row_order), chunk):
        report_progress(progress, first, len(row_order))
        part = slice(first, first + chunk)
        for i, j in _partners(bitmaps, limits[:, :, part], begin[part], end[part], span):
            found.tests += len(i)
            if found.tests - start > most * (first + chunk + _START * total):
                return False
            found.propose(row_order[part].take(i), order.take(j))
    return True


def _levels(boxes: Boxes, other: Boxes | None) -> tuple[IntArray, IntArray, int]:
    """Return for each set (2, dim, n) the levels of low and high corners, and the axis along which boxes crowd least.

    What is not above another number is on no higher level: all is rounded alike.
    """
    sets = [boxes] if other is None else [boxes, other]
    lowest, highest = boxes.low.min(axis=1), boxes.high.max(axis=1)
    if other is not None:
        np.minimum(lowest, other.low.min(axis=1), out=lowest)
        np.maximum(highest, other.high.max(axis=1), out=highest)
    scale = [(_LEVELS - 0.5) / e if e > _NARROWEST else 0.0 for e in (highest - lowest).tolist()]
    numbers, crowd = [], np.zeros(boxes.dim)
    for s in sets:
        levels: FloatArray = s.corners - lowest[:, None]
        levels *= np.array(scale)[:, None]
        number = levels.astype(np.intp)
        lows, highs = number.sum(axis=2)
        crowd += highs - lows
        numbers.append(number)
    crowd[[s == 0.0 for s in scale]] = inf
    return numbers[0], numbers[-1], int(crowd.argmin())


def _bitmaps(columns: IntArray, axes: list[int]) -> WordArray:
    """Return (2, axes, levels, words) per axis and level which boxes begin there or before, and end there or after.

    Bits past the last box are arbitrary.
    """
    count = columns.shape[2]
    numbers = np.zeros((2, len(axes), 1, -(-count // 64) * 64), dtype=np.uint8)
    numbers[:, :, 0, :count] = columns[:, axes]
    level = np.arange(_LEVELS, dtype=np.uint8)[:, None]
    bits = np.empty((2, len(axes), _LEVELS, numbers.shape[3]), dtype=bool)
    np.less_equal(numbers[0], level, out=bits[0])
    np.greater_equal(numbers[1], level, out=bits[1])
    return np.packbits(bits.reshape(-1), bitorder="little").view(_WORD).reshape(*bits.shape[:3], -1)


def _partners(
    bitmaps: WordArray, rows: IntArray, begin: IntArray, end: IntArray, span: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Return, batch by batch, i, j for boxes i whose levels are `rows`, and boxes begin[i] <= j < end[i] in all.

    rows: (2, axes, n) levels at which partners begin, at the latest, and end, at the earliest. span: of how many words
    the ranges are parts, at most.
    """
    count, words = len(begin), bitmaps.shape[3]
    window = np.arange(span)[:, None]
    start = begin >> 6
    # The words of the range, less the bits before it and after it; past the end of a row there is only what is after.
    both = _UP_TO.take(end - (start << 6) - (window << 6), mode="clip")
    both[0] &= _FROM.take(begin & 63)
    flat, offset = bitmaps.reshape(-1), start + window
    for number, row in enumerate(rows.reshape(-1, count)):
        both &= flat.take((row + number * _LEVELS) * words + offset, mode="clip")
    # Most bytes are 0, and most others hold one bit.
    some = both.reshape(-1).view(np.uint8)
    found = some.astype(bool).nonzero()[0]
    for first in range(0, len(found), _BYTES):
        at = found[first : first + _BYTES]
        bit = np.unpackbits(some.take(at), bitorder="little").view(bool).nonzero()[0]
        word = at >> 3
        moved = word // count
        box = word - moved * count
        at &= 7
        at += (moved + start.take(box)) << 3
        byte = bit >> 3
        bit &= 7
        bit += at.take(byte) << 3
        yield box.take(byte), bit
