# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from a bounding box: the size and the place of polytopes, curved shapes and compounds."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..types import FloatArray, ReadOnlyArrays


class Bounded(ReadOnlyArrays):
    """What has an axis-aligned bounding box, in the plane or in space."""

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (dim,) of the axis-aligned bounding box, world frame."""
        raise NotImplementedError

    @cached_property
    def bounds_floats(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """`bounds` as plain floats."""
        low, high = self.bounds
        return tuple(low.tolist()), tuple(high.tolist())

    @cached_property
    def center(self) -> FloatArray:
        """(dim,) centre of the axis-aligned bounding box, world frame."""
        low, high = self.bounds
        middle: FloatArray = 0.5 * low + 0.5 * high
        middle.flags.writeable = False
        return middle

    @cached_property
    def extent(self) -> float:
        """Diagonal of the axis-aligned bounding box; the length that tolerances are relative to."""
        low, high = self.bounds
        return math.hypot(*(high - low).tolist())

    @cached_property
    def magnitude(self) -> float:
        """Largest absolute coordinate: the rounding error of one coordinate is `eps * magnitude`."""
        low, high = self.bounds
        return float(max(np.abs(low).max(), np.abs(high).max()))
