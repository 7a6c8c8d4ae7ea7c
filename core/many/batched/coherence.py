# SPDX-License-Identifier: GPL-3.0-or-later
"""How far shapes moved from one pose to another: temporal coherence.

A signed distance cannot have changed by more than one shape moved relative to the other: where that is less than a
bound of it is from 0, a pair is as it was, and nothing is computed. Where it is not, the last normal is tried first.
Source: S1.8, S4.4; D. Baraff, Curved Surfaces and Coherence, 1990 (separating planes as witnesses).
"""

from __future__ import annotations

import numpy as np

from ...tolerance import BATCH_CORNERS, EPS
from ...types import FloatArray
from .columns import einsum
from .sizes import Sizes


def motion_bounds(
    sizes: Sizes, radii: FloatArray, before: FloatArray, now: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the steps (dim, n) of the middles of bounding boxes, and upper bounds (n,) of how much farther any point
    of each shape moved, rounding of both poses included.

    `sizes` are those of the shapes without poses, `radii` (n,) the distances from these middles that no point exceeds,
    `before` and `now` affine matrices (n, dim + 1, dim + 1).
    """
    dim, middle = len(sizes.low), 0.5 * sizes.low + 0.5 * sizes.high
    reach = np.zeros(len(radii))
    for matrices in (before, now):
        rows = np.ascontiguousarray(matrices[:, :dim].transpose(1, 2, 0))  # (dim, dim + 1, n)
        reach += _norm(rows[:, :dim]) * (np.sqrt(dim) * np.abs(middle).max(axis=0, initial=0.0) + radii)
        reach += np.abs(rows[:, dim]).max(axis=0)
    change = np.ascontiguousarray((now - before)[:, :dim].transpose(1, 2, 0))
    step = einsum("rcn,cn->rn", change[:, :dim], middle) + change[:, dim]
    # No vector is stretched by more than the square root of this norm of the matrix times its transpose.
    square = einsum("rcn,rdn->cdn", change[:, :dim], change[:, :dim])
    return step, np.sqrt(_norm(square)) * radii + BATCH_CORNERS * EPS * reach


def _norm(matrices: FloatArray) -> FloatArray:
    """Return the roots (n,) of the sums of squares of matrices (rows, columns, n)."""
    return np.sqrt(einsum("rcn,rcn->n", matrices, matrices))
