# SPDX-License-Identifier: GPL-3.0-or-later
"""The affine rank of points: solid, flat, collinear or coincident."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..types import FloatArray
from ..vectors import dot, squared_lengths
from .hull_grid import HullGrid
from .polygon_hull import flat_hull

_HULL_MAYBE_FLAT = 8.0
"""Times HULL_RANK EPS M: points less thick than this are measured again, across their outline's plane."""


class LowerRank(NamedTuple):
    """Points of lower rank than their space."""

    rank: int
    ends: tuple[int, int]
    normal: FloatArray
    """Of the plane, for rank 2 in space."""


def affine_rank(grid: HullGrid) -> LowerRank | tuple[int, ...]:
    """Return a simplex of full rank (dim + 1 point indices), or a `LowerRank` where there is none."""
    x = grid.x
    dim = x.shape[0]
    nothing = np.zeros(dim)
    a = int(squared_lengths(x).argmax())
    from_a = x - x[:, a : a + 1]
    squares = squared_lengths(from_a)
    b = int(squares.argmax())
    length = float(np.sqrt(squares[b]))
    if length <= grid.rank:
        return LowerRank(0, (a, a), nothing)
    along = from_a[:, b] / length
    position = dot(along, from_a)
    if dim == 2:
        aside = along[0] * from_a[1] - along[1] * from_a[0]
        if aside.max() - aside.min() <= grid.rank:
            return LowerRank(1, (int(position.argmin()), int(position.argmax())), nothing)
        c = int(np.abs(aside).argmax())
        return (a, b, c)
    across = from_a - along[:, None] * position
    squares = squared_lengths(across)
    c = int(squares.argmax())
    width = float(np.sqrt(squares[c]))
    if width <= grid.rank:
        return LowerRank(1, (int(position.argmin()), int(position.argmax())), nothing)
    unit = grid.exact.unit_normal(a, b, c)
    if unit is None:
        return LowerRank(1, (int(position.argmin()), int(position.argmax())), nothing)
    normal = np.array(unit)
    height = dot(normal, from_a)
    d = int(np.abs(height).argmax())
    spread = float(height.max() - height.min())
    if spread > grid.rank and spread <= _HULL_MAYBE_FLAT * grid.rank:
        # Noise in the three corners tilts their plane: the outline of the points gives a better one.
        better = flat_hull(grid, normal)[1]
        height = dot(better, from_a)
        if float(height.max() - height.min()) < spread:
            normal, spread = better, float(height.max() - height.min())
    side = grid.exact.side(a, b, c, d)
    if spread <= grid.rank or side == 0:
        return LowerRank(2, (a, b), normal)
    return (a, b, c, d) if side < 0 else (a, c, b, d)
