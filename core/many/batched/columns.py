# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic of many pairs, one column per pair: each sum is the same for a pair alone as among others."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import FloatArray
from ...vectors import length

SingleArray = NDArray[np.float32]
CHUNK = 10_240
"""Pairs processed together. Of fewer, numpy's calls dominate; of more, the working memory leaves the cache. Searches
that hold a simplex or a polytope of every pair take half as many."""


def add_rows(rows: FloatArray) -> FloatArray:
    """Return the sums (...) of two or more rows (k, ...), added one after the other: `np.add.reduce` takes another
    order where there is a single pair."""
    result: FloatArray = rows[0] + rows[1]
    for row in rows[2:]:
        result += row
    return result


@cache
def _with_pairs(subscripts: str) -> tuple[bool, ...]:
    """Return of which operands the last index is that of the result."""
    return tuple(name[-1] == subscripts[-1] for name in subscripts.partition("->")[0].split(","))


def einsum(subscripts: str, *operands: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return `np.einsum` of arrays whose last index is that of the pair: the same for a pair alone as among others.

    Where there is only one, numpy adds along another axis, in another order. Operands without that index may take part.
    """
    of_pairs = _with_pairs(subscripts)
    if operands[of_pairs.index(True)].shape[-1] != 1:
        found: NDArray[Any] = np.einsum(subscripts, *operands, out=out)
        return found
    twice = [of.repeat(2, -1) if is_of else of for of, is_of in zip(operands, of_pairs, strict=True)]
    single: NDArray[Any] = np.einsum(subscripts, *twice)[..., :1]
    if out is None:
        return single
    out[...] = single
    return out


def directions_around(axes: FloatArray, count: int, slope: float | FloatArray) -> FloatArray:
    """Return `count` directions (3, count, m) on a cone around each axis (3, m), counter-clockwise seen from its tip.

    `slope`, one for all or (m,), is the distance from the axis per unit along it. Around a zero axis they are around
    the x axis. Source: T. Duff and others, Building an Orthonormal Basis, Revisited, 2017.
    """
    norm = length(axes)
    unit = axes / np.where(norm > 0.0, norm, 1.0)
    unit[0, norm == 0.0] = 1.0
    x, y, z = unit
    sign = np.copysign(1.0, z)
    scale = -1.0 / (sign + z)
    both = x * y * scale
    right = np.stack([1.0 + sign * x * x * scale, sign * both, -sign * x])
    up = np.stack([both, sign + y * y * scale, -y])
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.stack([unit + slope * (np.cos(t) * right + np.sin(t) * up) for t in angles.tolist()], axis=1)
