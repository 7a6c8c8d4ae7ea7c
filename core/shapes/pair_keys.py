# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of pairs of indices: each pair as one whole number, row * columns + column, in ascending order."""

from __future__ import annotations

import numpy as np

from ..types import BoolArray, IntArray


def different(keys: IntArray) -> IntArray:
    """Return the different ones of some keys in any order, ascending."""
    ordered = np.sort(keys)
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def within(keys: IntArray, asked: IntArray) -> BoolArray:
    """Tell which of the asked ones, an array of any shape, are among the keys, which ascend."""
    if not len(keys):
        return np.zeros(asked.shape, dtype=np.bool_)
    return keys[np.minimum(keys.searchsorted(asked), len(keys) - 1)] == asked
