# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of consecutive items: chunks of work, and groups of unequal size one after the other in one array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .progress import Progress, report_progress
from .types import IntArray

_GOLDEN = 0.6180339887498949
"""The golden section: its multiples, less their whole numbers, are far from each other."""


def chunks(count: int, size: int, progress: Progress | None = None) -> Iterator[slice]:
    """Yield slices of at most `size` items, but at least one, that cover `count` items; report progress before each."""
    size = max(1, size)
    for begin in range(0, count, size):
        report_progress(progress, begin, count)
        yield slice(begin, min(begin + size, count))


def group_chunks(starts: IntArray, count: int, limit: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices of groups and of their items, of `count` items in all: at most `limit` items, or one group."""
    ends = np.append(starts[1:], count)
    begin = 0
    while begin < len(starts):
        end = max(begin + 1, int(np.searchsorted(ends, starts[begin] + limit, side="right")))
        yield slice(begin, end), slice(int(starts[begin]), int(ends[end - 1]))
        begin = end


def ranges(first: IntArray, count: IntArray) -> IntArray:
    """Return first[0], first[0] + 1 ... count[0] of them, then those of the next range, and so on."""
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(first - (ends - count), count)


def next_in_loops(sizes: IntArray) -> IntArray:
    """Return for each item of loops of these sizes the index of the next one; after the last of a loop is its first."""
    following = np.arange(1, int(sizes.sum()) + 1)
    following[np.cumsum(sizes) - 1] -= sizes
    return following


def scattered(count: int) -> IntArray:
    """Return the numbers below `count` in an order in which neighbours are far from each other.

    >>> scattered(8).tolist()
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    return np.argsort(np.arange(count) * _GOLDEN % 1.0, kind="stable")
