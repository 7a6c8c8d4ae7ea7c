# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlap of two solids as a surface to be drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only


@dataclass(frozen=True, eq=False)
class OverlapSurface(ReadOnlyArrays):
    """The boundary of the intersection of two shapes A and B, to be drawn; world frame. Empty where none is."""

    points: FloatArray
    """(n, dim) corners of the triangles; some may be in one place."""
    triangles: IntArray
    """(m, 3) indices of points, counter-clockwise seen from outside; in the plane the area itself."""
    of_a: BoolArray
    """(m,) whether a triangle is a part of A's surface, else of B's."""
    curves: tuple[FloatArray, ...] = ()
    """(k, dim) each: the polylines in which the surfaces meet; a closed one ends where it begins."""
    is_closed: bool = True
    """Whether the triangles enclose the overlap; False where a hole of a surface leaves it open."""

    @classmethod
    def empty(cls, dim: int, curves: tuple[FloatArray, ...] = ()) -> OverlapSurface:
        """Return that of shapes that do not overlap, but may meet in curves."""
        none = read_only(np.zeros((0, 3), dtype=np.intp)), read_only(np.zeros(0, dtype=np.bool_))
        return cls(read_only(np.zeros((0, dim))), *none, curves)
