# SPDX-License-Identifier: GPL-3.0-or-later
"""Ellipsoids, exact through their support points: spheres under an affine map. Source: S1.5.

One whose semi-axes are equal is a ball: its core is its middle. In the plane, where bodies of revolution have their
sections, they are ellipses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_floats, validate_magnitude
from ..types import FloatArray, read_only
from .box import rotate
from .curved_shape import CurvedShape, FlatFeature, Revolution
from .hull import ConvexHull
from .polytope import Polytope


def _around(dim: int) -> FloatArray:
    ways = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=dim) if any(way)])
    return ways / np.linalg.norm(ways, axis=1)[:, None]


_AROUND = {dim: _around(dim) for dim in (2, 3)}


@dataclass(frozen=True, eq=False, init=False)
class Ellipsoid(CurvedShape):
    """An ellipsoid in space; sections are made in the plane, where `dim` is 2."""

    middle: FloatArray
    """(dim,) its centre, world frame."""
    axes: FloatArray
    """(dim, dim) row k is the unit direction of semi-axis k."""
    semi: FloatArray
    """(dim,) lengths of the semi-axes, > 0."""
    radius: float
    """Of a ball its radius, all around the middle; else 0.0."""

    def __init__(self, center: ArrayLike, semi_axes: ArrayLike, rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Build it from its centre (3,), the lengths of its semi-axes (3,) > 0 and a rotation (4,), a quaternion.

        World frame and units; the quaternion w, x, y, z need not be a unit one. Raises ValueError, naming the argument.
        """
        middle = np.array(as_floats("center", center, 3))
        semi = np.array(as_floats("semi_axes", semi_axes, 3))
        if not semi.min() > 0.0:
            raise ValueError(f"semi_axes: all must be above 0, got {semi.tolist()}")
        validate_magnitude("center and semi_axes", np.abs(middle) + semi.max())
        axes = rotate(np.eye(3), as_floats("rotation", rotation, 4))
        self._set(middle, semi, axes)

    def _set(self, middle: FloatArray, semi: FloatArray, axes: FloatArray) -> None:
        for name, value in (("middle", middle), ("axes", axes), ("semi", semi)):
            object.__setattr__(self, name, read_only(value))
        first, *others = semi.tolist()
        object.__setattr__(self, "radius", first if all(other == first for other in others) else 0.0)

    @property
    def dim(self) -> int:
        return len(self.middle)

    @cached_property
    def skeleton(self) -> Polytope | None:
        return ConvexHull(self.middle[None]) if self.radius > 0.0 else None

    @property
    def revolution(self) -> Revolution | None:
        place = tuple(self.middle.tolist())
        if self.radius > 0.0:
            return Revolution(place, None, ((0.0, 0.0),))
        if self.dim == 2:
            return None
        x, y, z = self.semi.tolist()
        for odd, along, one, other in ((0, x, y, z), (1, y, x, z), (2, z, x, y)):
            if one == other:
                return Revolution(place, tuple(self.axes[odd].tolist()), None, (along, one))
        return None

    def start_directions(self) -> FloatArray:
        if self.radius > 0.0:
            return np.zeros((0, self.dim))
        # The points of the unit sphere, evenly around, become points of the surface with these normals.
        ways = (_AROUND[self.dim] / (self.semi / self.semi.min())) @ self.axes
        return ways / np.linalg.norm(ways, axis=1)[:, None]

    def core_supports(self, directions: FloatArray) -> FloatArray:
        if self.radius > 0.0:
            return np.broadcast_to(self.middle, directions.shape)
        local = (directions @ self.axes.T) * (self.semi / self.semi.max())
        local /= np.linalg.norm(local, axis=1)[:, None]
        return self.middle + (local * self.semi) @ self.axes

    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        return FlatFeature(self.core_supports(direction[None]))

    def scaled(self, exponent: int) -> Ellipsoid:
        return Ellipsoid.from_axes(np.ldexp(self.middle, exponent), np.ldexp(self.semi, exponent), self.axes)

    def moved(self, translation: FloatArray) -> Ellipsoid:
        return Ellipsoid.from_axes(self.middle + translation, self.semi, self.axes)

    @classmethod
    def from_axes(cls, center: FloatArray, semi_axes: FloatArray, axes: FloatArray) -> Ellipsoid:
        """Return the ellipsoid about `center` (dim,) with these semi-axes (dim,) along the rows of `axes` (dim, dim),
        which are taken as they are: unit vectors, perpendicular to each other."""
        made = cls.__new__(cls)
        made._set(*(np.array(value, dtype=np.float64) for value in (center, semi_axes, axes)))
        return made
