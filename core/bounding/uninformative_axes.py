# SPDX-License-Identifier: GPL-3.0-or-later
"""Axes along which boxes overlap nearly all others: an order along them does not separate any.

A stack of wide plates is the example: a curve through space, or a split at the longest axis, that follows the width of
the stack makes a tree whose nodes all overlap.
"""

from __future__ import annotations

import numpy as np

from ..types import BoolArray, FloatArray, IntArray

SAMPLE = 128
"""Most boxes that are examined."""

_SPREAD = 16.0
"""Widths of a box over which boxes are spread along another axis, at least: only then there is something to gain."""


def uninformative_axes(low: FloatArray, high: FloatArray) -> BoolArray:
    """Return a mask (dim,) of the axes along which most boxes (dim, n) overlap most others, if not along all.

    Decided by the middle nine tenths of a sample: a few boxes far away, or far larger, change nothing.
    """
    chosen = sample(low.shape[1], SAMPLE)
    starts, ends = low.take(chosen, axis=1), high.take(chosen, axis=1)
    # Both halved, so that neither the sums nor the differences overflow.
    middles = np.sort(0.5 * starts + 0.5 * ends, axis=1)
    widths = np.sort(0.5 * ends - 0.5 * starts, axis=1)
    few = len(chosen) // 20
    spread = 0.5 * middles[:, -1 - few] - 0.5 * middles[:, few]
    width = widths[:, len(chosen) // 2]
    mask: BoolArray = spread <= width
    if not (spread[~mask] > _SPREAD * width[~mask]).any():
        mask[:] = False
    return mask


def sample(count: int, most: int) -> IntArray:
    """Return up to `most` of the indices 0 to count - 1, in steps of the golden section, which no pattern matches."""
    if count <= most:
        return np.arange(count)
    return (np.arange(most) * 0.6180339887498949 % 1.0 * count).astype(np.intp)
