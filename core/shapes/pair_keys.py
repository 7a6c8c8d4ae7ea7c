# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of pairs of indices: each pair as one integer, row * columns + column, in ascending order."""

from __future__ import annotations

import numpy as np

from ..types import BoolArray, IntArray


def unique_keys(keys: IntArray) -> IntArray:
    """Return the unique keys in ascending order."""
    ordered = np.sort(keys)
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def within(keys: IntArray, queries: IntArray) -> BoolArray:
    """Return whether each of `queries`, an array of any shape, is among `keys`, which are in ascending order."""
    if not len(keys):
        return np.zeros(queries.shape, dtype=np.bool_)
    return keys[np.minimum(keys.searchsorted(queries), len(keys) - 1)] == queries
