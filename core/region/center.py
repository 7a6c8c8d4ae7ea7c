# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact centre: one point that represents the contact of two shapes.

Witness points prove a distance, but where faces meet many pairs are equally good, and rounding of the input selects
one: at a corner as soon as a face is tilted by a last digit. The centroid of the contact region is continuous. Source:
S2.6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..types import FloatArray, read_only


def middle(point_on_a: FloatArray, point_on_b: FloatArray) -> FloatArray:
    """Return the contact centre (..., dim) of shapes without a region: the midpoint of the witness points."""
    return 0.5 * point_on_a + 0.5 * point_on_b


def weighted_center(centroids: ArrayLike, areas: ArrayLike, lengths: ArrayLike) -> FloatArray:
    """Return the centroid (dim,) of n >= 1 parts: weighted by area, by length where all areas are 0, and the mean where
    all lengths are 0 too.

    `centroids` (n, dim) are those of the parts; `areas` and `lengths` (n,) >= 0.
    """
    points = np.asarray(centroids, dtype=np.float64)
    weights = np.asarray(areas, dtype=np.float64)
    if not weights.any():
        weights = np.asarray(lengths, dtype=np.float64)
    if not weights.any():
        weights = np.ones(len(points))
    weights = weights / weights.max()  # sums neither overflow nor vanish
    # About the first one: no digits are lost far from the world origin.
    return read_only(points[0] + weights @ (points - points[0]) / weights.sum())
