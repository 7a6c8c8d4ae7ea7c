# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a curve in which two surfaces meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..types import FloatArray, ReadOnlyArrays
from .center import weighted_center


@dataclass(frozen=True, eq=False)
class ContactCurve(ReadOnlyArrays):
    """A polyline on both meshes."""

    points: FloatArray
    """(k, 3) its corners in order, world frame, read-only; a closed curve does not repeat the first. A single point
    where the meshes touch in a point."""
    is_closed: bool
    """Whether the last point is joined to the first."""

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """(s, 3) start and end of each side, including the one from the last point to the first of a closed curve; a
        single point has one side of length 0."""
        if self.is_closed or len(self.points) == 1:
            return self.points, np.roll(self.points, -1, axis=0)
        return self.points[:-1], self.points[1:]

    @property
    def length(self) -> float:
        """Length, including the side from the last point to the first of a closed curve."""
        begins, ends = self.ends
        steps = ends - begins
        largest = float(np.abs(steps).max(initial=0.0))
        if largest == 0.0:
            return 0.0
        return largest * float(np.sqrt(((steps / largest) ** 2).sum(axis=1)).sum())


def curves_center(curves: Sequence[ContactCurve]) -> FloatArray:
    """Return the centroid (3,) of one or more curves, weighted by length; of single points only, their mean. World
    frame."""
    begins, ends = (np.concatenate(points) for points in zip(*(curve.ends for curve in curves), strict=True))
    steps = ends - begins
    largest = float(np.abs(steps).max())
    lengths = np.sqrt(((steps / (largest or 1.0)) ** 2).sum(axis=1))
    return weighted_center(0.5 * begins + 0.5 * ends, np.zeros(len(steps)), lengths)
