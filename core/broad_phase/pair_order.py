# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of boxes ordered along Hilbert's curve and cut into parts: pairs of one part are near each other in space.

Source: S3.2; C. Hamilton, Compact Hilbert Indices, 2006.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..shapes.hilbert_curve import curve_order
from ..types import FloatArray, IntArray


def pair_order(low: FloatArray, high: FloatArray, pairs: IntArray) -> IntArray:
    """Return the order (p,) of pairs (p, 2) of boxes along Hilbert's curve; equal places keep their order.

    `low` and `high` (n, dim) are the corners of the boxes. The same boxes and pairs have the same order on every
    machine.
    """
    # The middle of what the two boxes share, or of the gap: of a floor and a chair, where the chair is.
    both = pairs.T
    shared_low, shared_high = low.take(both, axis=0).max(axis=0), high.take(both, axis=0).min(axis=0)
    return curve_order(np.ascontiguousarray((0.5 * shared_low + 0.5 * shared_high).T))


def split_pairs(low: FloatArray, high: FloatArray, pairs: IntArray, parts: int) -> list[IntArray]:
    """Return the rows (k,) of pairs (p, 2) of boxes that are in each of so many parts, in ascending order.

    Every row is in exactly one part; the sizes of two parts differ by at most one.
    """
    order, edges = pair_order(low, high, pairs), [k * len(pairs) // parts for k in range(parts + 1)]
    return [np.sort(order[begin:end]) for begin, end in pairwise(edges)]
