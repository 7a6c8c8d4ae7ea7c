# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of boxes by sweeping one axis: sorted by where they begin, each is tested with those that begin before it ends.

Fast for few boxes, and for boxes in a row. Source: S3.2; D. Baraff, Dynamic simulation of non-penetrating rigid bodies,
1992.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..bounding.uninformative_axes import sample
from ..progress import Progress, report_progress
from ..types import FloatArray, IntArray
from .box_pairs import Boxes, PairList, Room, ranges

_SAMPLE = 64
"""Boxes by which the axis is chosen; of more than _FEW boxes sixteen times as many."""

_FEW = 2000


def sweep(boxes: Boxes, other: Boxes | None, found: PairList, progress: Progress | None = None) -> None:
    """Propose pairs of boxes that overlap to `found`; without a second set, pairs of the first.

    Raises Cancelled when `progress`, which is told the share done, says so.
    """
    axis = _axis([boxes] if other is None else [boxes, other])
    order, a = _sorted(boxes, axis)
    if other is None:
        end = a.low[axis].searchsorted(a.high[axis], "right")
        for i, j in _overlapping(a, a, axis, np.arange(1, a.count + 1), end, found, progress, 0.0, 1.0):
            found.propose(order.take(i), order.take(j))
        return
    order_b, b = _sorted(other, axis)
    # Of two boxes that overlap one begins within the other: that of B, or that of A and later.
    begin, end = b.low[axis].searchsorted(a.low[axis], "left"), b.low[axis].searchsorted(a.high[axis], "right")
    for i, j in _overlapping(a, b, axis, begin, end, found, progress, 0.0, 0.5):
        found.propose(order.take(i), order_b.take(j))
    begin, end = a.low[axis].searchsorted(b.low[axis], "right"), a.low[axis].searchsorted(b.high[axis], "right")
    for j, i in _overlapping(b, a, axis, begin, end, found, progress, 0.5, 1.0):
        found.propose(order.take(i), order_b.take(j))


def _axis(sets: list[Boxes]) -> int:
    """Return the axis along which the fewest pairs overlap, counted in a sample: one large box hardly changes that."""
    low_a, high_a = _sampled(sets[0])
    low_b, high_b = (low_a, high_a) if len(sets) == 1 else _sampled(sets[1])
    low_b, high_b = np.sort(low_b), np.sort(high_b)
    pairs = [
        int(low_b[axis].searchsorted(high_a[axis], "right").sum() - high_b[axis].searchsorted(low_a[axis]).sum())
        for axis in range(sets[0].dim)
    ]
    return pairs.index(min(pairs))


def _sampled(boxes: Boxes) -> FloatArray:
    """Return the corners (2, dim, m) of some of the boxes."""
    most = _SAMPLE if boxes.count <= _FEW else 16 * _SAMPLE
    return boxes.corners.take(sample(boxes.count, most), axis=2)


def _sorted(boxes: Boxes, axis: int) -> tuple[IntArray, Boxes]:
    """Return the order in which boxes begin along an axis, and the boxes in that order."""
    order = boxes.low[axis].argsort(kind="stable")
    return order, boxes.taken(order)


def _overlapping(
    a: Boxes,
    b: Boxes,
    axis: int,
    begin: IntArray,
    end: IntArray,
    found: PairList,
    progress: Progress | None,
    done: float,
    aim: float,
) -> Iterator[tuple[IntArray, IntArray]]:
    """Return, batch by batch, boxes i of a and begin[i] <= j < end[i] of b that overlap along the other axes."""
    others = [other for other in range(a.dim) if other != axis]
    for i, j in ranges(np.arange(a.count), begin, end, Room()):
        found.tests += len(i)
        report_progress(progress, done + (aim - done) * int(i[0]) / a.count)
        for other in others:
            met = a.low[other].take(i) <= b.high[other].take(j)
            met &= b.low[other].take(j) <= a.high[other].take(i)
            kept = met.nonzero()[0]
            i, j = i.take(kept), j.take(kept)
        yield i, j
