# SPDX-License-Identifier: GPL-3.0-or-later
"""Coordinates of points and triangles in other forms: whole numbers, rows of corners, scaled by powers of two."""

from __future__ import annotations

import numpy as np

from ..narrow_phase.exact import WholeVector
from ..tolerance import EXTREME_EXPONENT
from ..types import FloatArray, IntArray


def whole_vectors(points: FloatArray) -> tuple[list[WholeVector], int]:
    """Return points (n, 3) as whole numbers of steps of 2**-shift, exactly, and the shift."""
    ratios = [x.as_integer_ratio() for x in points.ravel().tolist()]
    finest = max(bottom for _, bottom in ratios)
    whole = [top * (finest // bottom) for top, bottom in ratios]
    return list(zip(whole[::3], whole[1::3], whole[2::3], strict=True)), finest.bit_length() - 1


def corner_rows(points: FloatArray, triangles: IntArray) -> FloatArray:
    """Return the corners of triangles (n, 3) as rows (corner, axis, n)."""
    result = np.empty((3, 3, len(triangles)))
    numbers = points.ravel()
    # Number by number into its row: to turn rows of three around takes up to ten times as long.
    for corner, rows in zip(triangles.T, result, strict=True):
        places = corner * 3
        for row in rows:
            numbers.take(places, out=row, mode="clip")
            places += 1
    return result


def scale_exponent(magnitude: float, extreme: int = EXTREME_EXPONENT) -> int:
    """Return the power of two to multiply numbers of this magnitude with so that their products neither overflow nor
    vanish; 0 for all but numbers beyond 2**extreme or below its inverse."""
    exponent = int(np.frexp(magnitude)[1])
    return -exponent if abs(exponent) > extreme else 0


def scale_points(points: FloatArray, exponent: int) -> FloatArray:
    """Return points times a power of two."""
    return points if exponent == 0 else np.ldexp(points, exponent)
