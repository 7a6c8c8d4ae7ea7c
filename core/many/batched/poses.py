# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of many bodies: affine matrices, one for each shape."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import as_array
from ...types import FloatArray, IntArray

PoseLabels = tuple[tuple[str, tuple[int, ...]], ...]
"""Of one or two arguments the name, and how many matrices it has: (n,) or (k, n)."""


def validate_poses(name: str, value: ArrayLike, count: int, dim: int, *, stacked: bool = False) -> FloatArray:
    """Return affine matrices (count, dim + 1, dim + 1), the given ones where they are float64; where they may be
    `stacked`, (k, count, dim + 1, dim + 1) too. Raise ValueError, naming `name`."""
    size = dim + 1
    expected = f"an array ({count}, {size}, {size})" + f" or (k, {count}, {size}, {size})" * stacked
    array = as_array(name, value, expected)
    if array.shape[-3:] != (count, size, size) or array.ndim > 3 + stacked:
        raise ValueError(f"{name}: {expected}, one matrix for each shape, expected, got the shape {array.shape}")
    wrong = np.zeros(array.shape[:-2], dtype=bool)
    for column in range(size):
        wrong |= array[..., dim, column] != (column == dim)
    if wrong.any():
        row = int(wrong.argmax())
        last = array.reshape(-1, size, size)[row, dim].tolist()
        label = pose_label(((name, array.shape[:-2]),), row)
        raise ValueError(f"{label}: the last row must be {', '.join('0' * dim)}, 1, got {last}")
    return array


def pose_label(labels: PoseLabels, row: int) -> str:
    """Return words for a row of the matrices of one or two arguments."""
    name, shape = labels[0]
    if row >= prod(shape):
        return pose_label(labels[1:], row - prod(shape))
    return f"{name}: row {row}" if len(shape) == 1 else f"{name}: pose {row // shape[1]}, row {row % shape[1]}"


def affine_rows(poses: FloatArray, rows: IntArray) -> FloatArray:
    """Return `rows` (m,) of poses in space as coordinates (3, 4, m): linear parts, and offsets in the last column."""
    first, count = int(rows[0]) if len(rows) else 0, len(rows)
    # Rows that follow each other need not be gathered.
    together = count and int(rows[-1]) - first == count - 1 and bool((rows[1:] > rows[:-1]).all())
    chosen = poses[first : first + count] if together else poses.take(rows, axis=0)
    return np.ascontiguousarray(chosen[:, :3].transpose(1, 2, 0))
