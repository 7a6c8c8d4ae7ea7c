# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact centre: the one point that stands for where two shapes meet.

Witness points prove a distance, but where faces meet any of many pairs is as good, and rounding of the input picks one:
at a corner as soon as a face is tilted by a last digit. The centroid of the contact region changes no more than the
region does. Source: S2.6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..types import FloatArray, read_only


def middle(point_on_a: FloatArray, point_on_b: FloatArray) -> FloatArray:
    """Return the contact centre (..., dim) of shapes that have no region: the middle of the witness points."""
    return 0.5 * point_on_a + 0.5 * point_on_b


def weighted_center(centroids: ArrayLike, areas: ArrayLike, lengths: ArrayLike) -> FloatArray:
    """Return the centroid (dim,) of n >= 1 parts: by their areas, by their lengths where no part has an area, and the
    mean where no part has a length either.

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
