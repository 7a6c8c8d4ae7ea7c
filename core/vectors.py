# SPDX-License-Identifier: GPL-3.0-or-later
"""Products of vectors in rows (dim, ...), one column a vector: sums run along contiguous memory, and the same vectors
give the same bits alone and among others."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .types import FloatArray


def dot(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the scalar products of vectors in rows (dim, ...), which are broadcast."""
    result: FloatArray = u[0] * v[0]
    for k in range(1, len(v)):
        result += u[k] * v[k]
    return result


def squared_lengths(u: FloatArray) -> FloatArray:
    """Return the squared lengths of vectors in rows (dim, ...)."""
    return dot(u, u)


def length(u: FloatArray) -> FloatArray:
    """Return the lengths of vectors in rows (dim, ...)."""
    return np.sqrt(squared_lengths(u))


def cross(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the vector products of vectors in rows (3, ...)."""
    x = u[1] * v[2] - u[2] * v[1]
    result = np.empty((3, *x.shape))
    result[0] = x
    np.subtract(u[2] * v[0], u[0] * v[2], out=result[1])
    np.subtract(u[0] * v[1], u[1] * v[0], out=result[2])
    return result


def cross_last(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the vector products of vectors (..., 3), which are broadcast; with less overhead than `np.cross`."""
    result = np.empty(np.broadcast_shapes(u.shape, v.shape))
    for k, i, j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.subtract(u[..., i] * v[..., j], u[..., j] * v[..., i], out=result[..., k])
    return result


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Return unit vectors (n, dim) along those given, zero along zero; squares neither overflow nor vanish."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)[:, None]
    scaled = vectors / np.where(largest > 0.0, largest, 1.0)
    lengths = np.sqrt((scaled * scaled).sum(axis=1))[:, None]
    return scaled / np.where(lengths > 0.0, lengths, 1.0)


def spiral_directions(count: int, turn: float = 0.0) -> FloatArray:
    """Return unit vectors (count, 3) spread evenly over the sphere: a spiral by the golden angle, `turn` radians on."""
    k = np.arange(count)
    z = 1.0 - (2.0 * k + 1.0) / count
    angle = turn + k * (np.pi * (3.0 - np.sqrt(5.0)))
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def least_mean(rows: FloatArray) -> FloatArray:
    """Return (k,) the largest column of one of the rows (k, r, c), or of a weighted mean of two of them: the least that
    there is. It bounds what is less than all rows."""
    found = rows.max(axis=2).min(axis=1)
    for s, t in combinations(range(rows.shape[1]), 2):
        x, y = rows[:, s], rows[:, t]
        for u, v in combinations(range(rows.shape[2]), 2):
            # The largest of a mean is least where two of its columns are equal.
            rise, fall = x[:, u] - x[:, v], y[:, v] - y[:, u]
            total = rise + fall
            weight = np.divide(fall, total, out=np.zeros_like(total), where=total != 0.0).clip(0.0, 1.0)[:, None]
            np.minimum(found, (weight * x + (1.0 - weight) * y).max(axis=1), out=found)
    return found
