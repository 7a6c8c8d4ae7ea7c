# SPDX-License-Identifier: GPL-3.0-or-later
"""The points of two surfaces that are deepest inside the other solid, as a record."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..result import plain
from ..types import FloatArray, ReadOnlyArrays, read_only


@dataclass(frozen=True, eq=False)
class DeepestPoint(ReadOnlyArrays):
    """The point of one surface that is deepest inside the other solid. World frame and units."""

    distance: float
    """How far it is from the other surface."""
    lower: float
    """Certified: the deepest point is no less deep than this."""
    upper: float
    """Certified: no point of the surface is deeper inside than this. Most often within 1e-6 of the distance; where the
    surfaces run side by side what is reached with a number of points, about 1 % between fine grids."""
    point: FloatArray
    """(dim,) the point of this surface."""
    nearest: FloatArray
    """(dim,) the point of the other surface that is nearest to it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain numbers and lists, ready for `json.dumps`."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    def scaled(self, exponent: int) -> DeepestPoint:
        """Return the same of surfaces 2**exponent times as large."""
        distance, lower, upper = np.ldexp([self.distance, self.lower, self.upper], exponent).tolist()
        point, nearest = (read_only(np.ldexp(spot, exponent)) for spot in (self.point, self.nearest))
        return DeepestPoint(distance, lower, upper, point, nearest)


@dataclass(frozen=True)
class DeepestPoints:
    """How deep the surfaces of two solids are inside each other. World frame and units."""

    of_a: DeepestPoint | None
    """Of the surface of A inside B; None where nothing of it is, but for rounding, or there is no answer."""
    of_b: DeepestPoint | None
    """Of the surface of B inside A."""
    unsupported_reason: str = ""
    """Why there is no answer in one of the directions, or in both."""

    def to_dict(self) -> dict[str, Any]:
        """Return both as plain numbers, lists and strings, ready for `json.dumps`."""
        return {
            "of_a": self.of_a and self.of_a.to_dict(),
            "of_b": self.of_b and self.of_b.to_dict(),
            "unsupported_reason": self.unsupported_reason,
        }

    def scaled(self, exponent: int) -> DeepestPoints:
        """Return the same of solids 2**exponent times as large."""
        of_a, of_b = (point and point.scaled(exponent) for point in (self.of_a, self.of_b))
        return DeepestPoints(of_a, of_b, self.unsupported_reason)
