# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of triangles: those whose corners are in the same three places as those of one before, wound alike.

They have no point that the first does not have. What is found of the first is true of all, and a search that pairs
triangles would otherwise grow as the square of their number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..tolerance import EPS
from ..types import FloatArray, IntArray

_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
"""Odd numbers whose bits are spread, by which coordinates are mixed into keys."""
_PLACE = 2.0**-20
"""Times the size of a triangle, a power of two: how far apart corners of triangles in nearly one place may be. Less
than the contact tolerance."""
_WEIGHTS = np.array([0.9, 0.7, 0.4])
"""Of coordinates, in a sum that few places have in common."""
_APART = 18.0
"""Times `_PLACE` and the size of the largest: more than such sums of nine coordinates in nearly one place differ."""
_BETWEEN = 0.3
"""Of that: numbers that are often corners, as 0 and 1, are where no two places meet."""


def first_copies(points: FloatArray, triangles: IntArray) -> IntArray | None:
    """Return (m,) for each triangle (m, 3) of points the number of the first one in its place, wound alike, which may
    be itself. None where no triangle is a copy. Exact."""
    keys = _keys(points, triangles)
    sorted_keys = np.sort(keys)
    again = sorted_keys[1:][sorted_keys[1:] == sorted_keys[:-1]]
    if not len(again):
        return None
    maybe = np.flatnonzero(np.isin(keys, again))
    corners = _rotated(welded_ids(points).take(triangles.take(maybe, axis=0)))
    order = np.lexsort(
        (corners[:, 2], corners[:, 1], corners[:, 0])
    )  # stable: the first of equals has the least number
    ranked = corners.take(order, axis=0)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    if new.all():
        return None
    result = np.arange(len(triangles))
    result[maybe[order]] = maybe[order[new]].take(np.cumsum(new) - 1)
    return result


def welded_ids(points: FloatArray) -> IntArray:
    """Return (n,) for each point (n, 3) the index of the first one with the same coordinates."""
    columns = np.ascontiguousarray((points + 0.0).T)  # + 0.0: -0.0 is 0.0
    order = np.lexsort((columns[2], columns[1], columns[0]))  # stable: the first of equals has the least index
    ranked = columns.take(order, axis=1)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ranked[:, 1:] != ranked[:, :-1]).any(axis=0)
    result = np.empty(len(order), dtype=np.intp)
    result[order] = order[new].take(np.cumsum(new) - 1)
    return result


def few_in_one_place(points: FloatArray, triangles: IntArray, most: int) -> IntArray:
    """Return in ascending order which triangles (m, 3) of points are left where those beyond so many with their corners
    in nearly the same places, however wound, are left out; now and then another one is."""
    count = len(triangles)
    corners = np.ascontiguousarray(points.T).take(triangles.T, axis=1)  # axis, corner, triangle
    size = (corners.max(axis=1) - corners.min(axis=1)).max(axis=0)
    # Corners in one place have nearly the same sum.
    sums = np.sort(_WEIGHTS @ corners.sum(axis=1))
    apart = _APART * (_PLACE * size.max(initial=0.0) + EPS * np.abs(sums).max(initial=0.0))
    if not (sums[most:] - sums[:-most] <= apart).any():
        return np.arange(count)
    _, exponent = np.frexp(size)
    cells = np.floor(corners / np.ldexp(_PLACE, exponent) + _BETWEEN).reshape(3, -1)
    number = np.arange(count)
    keys = _keys(cells.T, np.stack([number, number + count, number + 2 * count], axis=1))
    ranked = np.sort(keys)
    if not (ranked[most:] == ranked[:-most]).any():
        return number
    order = np.argsort(keys, kind="stable")
    begin = np.maximum.accumulate(np.where(np.append(True, ranked[1:] != ranked[:-1]), number, 0))
    return np.sort(order[number - begin < most])


def _keys(points: FloatArray, triangles: IntArray) -> NDArray[np.uint64]:
    """Return a number (m,) for each triangle, the same for all in one place, however wound; seldom the same else."""
    columns = np.ascontiguousarray((points + 0.0).T).view(np.uint64)
    key = np.zeros(columns.shape[1], dtype=np.uint64)
    for column, mix in zip(columns, _MIX, strict=True):
        key ^= column
        key *= np.uint64(mix)
        key ^= key >> np.uint64(32)
    key *= np.uint64(_MIX[0])
    result = key.take(triangles[:, 0])
    result += key.take(triangles[:, 1])
    result += key.take(triangles[:, 2])
    return result


def _rotated(corners: IntArray) -> IntArray:
    """Return triangles (m, 3) that begin with their least corner and are wound as before; those that name a corner
    twice in ascending order."""
    rows, first = np.arange(len(corners))[:, None], corners.argmin(axis=1)[:, None]
    result = corners[rows, (first + np.arange(3)) % 3]
    ranked = np.sort(corners, axis=1)
    thin = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
    result[thin] = ranked[thin]
    return result
