# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlap of two solids as numbers: its volume between certified bounds, its centroid, and its body."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..result import plain
from ..shapes.hull import ConvexHull
from ..types import FloatArray, ReadOnlyArrays


@dataclass(frozen=True, eq=False)
class OverlapVolume(ReadOnlyArrays):
    """The volume of the intersection of two solids A and B, in the plane its area, with bounds that hold.

    World frame and units."""

    volume: float | None
    """Of the overlap, in cubic (square) units; 0.0 where the solids do not overlap or one of them is flat; None where
    there is none, which `unsupported_reason` explains."""
    lower: float | None
    """Certified: no less overlaps."""
    upper: float | None
    """Certified: no more overlaps."""
    centroid: FloatArray | None = None
    """(dim,) center of mass of the overlap, world frame; None where nothing overlaps."""
    body: ConvexHull | None = None
    """The overlap itself, of convex polytopes, to the last digits of their coordinates; else None."""
    unsupported_reason: str = ""
    """Why there is no volume, or why it is 0.0 whatever the pose (a flat solid): a sentence; "" where there is one."""

    def scaled(self, exponent: int, dim: int) -> OverlapVolume:
        """Return the overlap of the shapes in `dim` dimensions scaled by 2**exponent."""
        if self.volume is None or self.lower is None or self.upper is None:
            return self
        with np.errstate(over="ignore", under="ignore"):
            volume, lower, upper = (float(np.ldexp(x, dim * exponent)) for x in (self.volume, self.lower, self.upper))
            if not np.isfinite(upper):
                return no_volume("The volume is too large for a number")
            # Between the smallest numbers digits are lost.
            lower = lower if np.ldexp(lower, -dim * exponent) <= self.lower else float(np.nextafter(lower, 0.0))
            upper = upper if np.ldexp(upper, -dim * exponent) >= self.upper else float(np.nextafter(upper, np.inf))
        return OverlapVolume(
            volume,
            lower,
            upper,
            None if self.centroid is None else np.ldexp(self.centroid, exponent),
            None if self.body is None else self.body.scaled(2.0**exponent),
            self.unsupported_reason,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, without the body, as plain numbers, lists and strings, ready for `json.dumps`."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self) if field.name != "body"}


def no_volume(reason: str) -> OverlapVolume:
    """Return that there is no volume, and why."""
    return OverlapVolume(None, None, None, unsupported_reason=reason)


def none_overlaps(reason: str = "") -> OverlapVolume:
    """Return that surely nothing overlaps."""
    return OverlapVolume(0.0, 0.0, 0.0, unsupported_reason=reason)
