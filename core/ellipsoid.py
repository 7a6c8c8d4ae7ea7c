# SPDX-License-Identifier: GPL-3.0-or-later
"""Ellipsoids, exact through their support points: spheres under an affine map. Source: S1.5."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from .arguments import checked_floats, checked_magnitude
from .box import rotate
from .curved_shape import CurvedShape, FlatFeature, Revolution
from .polytope import FloatArray, Polytope, frozen

_AROUND = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)])
_AROUND /= np.linalg.norm(_AROUND, axis=1)[:, None]


@dataclass(frozen=True, eq=False, init=False)
class Ellipsoid(CurvedShape):
    """An ellipsoid in space."""

    middle: FloatArray
    """(3,) its centre, world frame."""
    axes: FloatArray
    """(3, 3) row k is the unit direction of semi-axis k."""
    semi: FloatArray
    """(3,) lengths of the semi-axes, > 0."""
    radius = 0.0

    def __init__(self, center: ArrayLike, semi_axes: ArrayLike, rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Build it from its centre (3,), the lengths of its semi-axes (3,) > 0 and a rotation (4,), a quaternion.

        World frame and units; the quaternion w, x, y, z need not be a unit one. Raises ValueError, naming the argument.
        """
        middle = np.array(checked_floats("center", center, 3))
        semi = np.array(checked_floats("semi_axes", semi_axes, 3))
        if not semi.min() > 0.0:
            raise ValueError(f"semi_axes: all must be above 0, got {semi.tolist()}")
        checked_magnitude("center and semi_axes", np.abs(middle) + semi.max())
        axes = rotate(np.eye(3), checked_floats("rotation", rotation, 4))
        for name, value in (("middle", middle), ("axes", axes), ("semi", semi)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def dim(self) -> int:
        return 3

    @property
    def skeleton(self) -> Polytope | None:
        return None

    @property
    def revolution(self) -> Revolution | None:
        x, y, z = self.semi.tolist()
        if x == y == z:
            return Revolution(tuple(self.middle.tolist()), None, None)
        for odd, one, other in ((0, y, z), (1, x, z), (2, x, y)):
            if one == other:
                return Revolution(tuple(self.middle.tolist()), tuple(self.axes[odd].tolist()), None)
        return None

    def start_directions(self) -> FloatArray:
        # The points of the unit sphere, evenly around, become points of the surface with these normals.
        ways = (_AROUND / (self.semi / self.semi.min())) @ self.axes
        result: FloatArray = ways / np.linalg.norm(ways, axis=1)[:, None]
        return result

    def core_supports(self, directions: FloatArray) -> FloatArray:
        local = (directions @ self.axes.T) * (self.semi / self.semi.max())
        local /= np.linalg.norm(local, axis=1)[:, None]
        result: FloatArray = self.middle + (local * self.semi) @ self.axes
        return result

    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        return FlatFeature(self.core_supports(direction[None]))

    def scaled(self, exponent: int) -> Ellipsoid:
        return Ellipsoid.from_axes(np.ldexp(self.middle, exponent), np.ldexp(self.semi, exponent), self.axes)

    def moved(self, translation: FloatArray) -> Ellipsoid:
        return Ellipsoid.from_axes(self.middle + translation, self.semi, self.axes)

    @classmethod
    def from_axes(cls, center: FloatArray, semi_axes: FloatArray, axes: FloatArray) -> Ellipsoid:
        """Return the ellipsoid with these semi-axes (3,) along the rows of `axes` (3, 3), which are taken as they are:
        unit vectors, perpendicular to each other."""
        made = cls.__new__(cls)
        for name, value in (("middle", center), ("axes", axes), ("semi", semi_axes)):
            object.__setattr__(made, name, frozen(np.array(value, dtype=np.float64)))
        return made
