# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of many bodies: affine matrices, one for each shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import as_array
from ...types import FloatArray, IntArray


def validate_poses(name: str, value: ArrayLike, count: int, dim: int) -> FloatArray:
    """Return affine matrices (count, dim + 1, dim + 1), the given ones where they are float64. Raise ValueError, naming
    `name`."""
    expected = f"an array ({count}, {dim + 1}, {dim + 1})"
    array = as_array(name, value, expected)
    if array.shape != (count, dim + 1, dim + 1):
        raise ValueError(f"{name}: {expected}, one matrix for each shape, expected, got the shape {array.shape}")
    wrong = np.zeros(count, dtype=bool)
    for column in range(dim + 1):
        wrong |= array[:, dim, column] != (column == dim)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{name}: row {row}: the last row must be {', '.join('0' * dim)}, 1, got {array[row, dim].tolist()}"
        )
    return array


def affine_rows(poses: FloatArray, rows: IntArray) -> FloatArray:
    """Return `rows` (m,) of poses in space as coordinates (3, 4, m): linear parts, and offsets in the last column."""
    first, count = int(rows[0]) if len(rows) else 0, len(rows)
    # Rows that follow each other need not be gathered.
    together = count and int(rows[-1]) - first == count - 1 and bool((rows[1:] > rows[:-1]).all())
    chosen = poses[first : first + count] if together else poses.take(rows, axis=0)
    return np.ascontiguousarray(chosen[:, :3].transpose(1, 2, 0))
