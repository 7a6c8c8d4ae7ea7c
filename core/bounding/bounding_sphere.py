# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding spheres, circles in the plane, many at a time. Source: S3.1, S3.2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..progress import Progress
from ..shapes.enclosing_sphere import SPHERE_ROUNDING, SPHERE_WIDER, SUBNORMAL, enclosing_spheres, widened
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray
from .volumes import Volumes, as_index, as_points, as_starts

_SMALL_SQUARE = 2.0**-960
"""Squares below this may have lost some or all digits."""


@dataclass(frozen=True, eq=False)
class Spheres(Volumes):
    """A batch of bounding spheres (circles in the plane). Source: S3.1."""

    center: FloatArray
    """(n, dim) world coordinates."""
    radius: FloatArray
    """(n,) >= 0."""

    _fields = ("center", "radius")

    def merged(self, other: Spheres) -> Spheres:
        """Return, element by element, the smallest sphere that contains both: one of them, or one that touches both."""
        self._validate_partner(other)
        offset = other.center - self.center
        distance = _length(offset.T)
        most = widened(distance)
        first = most + other.radius <= self.radius
        second = ~first & (most + self.radius <= other.radius)
        with np.errstate(over="ignore"):
            fraction = 0.5 + 0.5 * (other.radius - self.radius) / np.where(distance > 0.0, distance, 1.0)
        center = self.center + np.clip(fraction, 0.0, 1.0)[:, None] * offset
        radius = np.maximum(
            _length((center - self.center).T) + self.radius, _length((center - other.center).T) + other.radius
        )
        center[first], center[second] = self.center[first], other.center[second]
        return Spheres(center, np.where(first, self.radius, np.where(second, other.radius, widened(radius))))

    def reduce_groups(self, starts: ArrayLike) -> Spheres:
        """Return the smallest sphere around each group of spheres, from starts[i] up to starts[i + 1]."""
        first = as_starts(starts, len(self), "volumes")
        sizes = np.diff(first, append=len(self))
        if len(first) and int(sizes.max()) <= 2:  # pairs, as trees make them; the formula for two is quicker
            return self.take(first).merged(self.take(first + sizes - 1))
        return Spheres(*enclosing_spheres(self.center, self.radius, first))

    def overlaps(self, other: Spheres) -> BoolArray:
        """Return (n,) whether the centres are no farther apart than both radii. Touching counts. Source: S3.2."""
        self._validate_partner(other)
        return _within((other.center - self.center).T, self.radius + other.radius)

    def gap(self, other: Spheres) -> FloatArray:
        """Return (n,) a lower bound of the distance of the contents, 0 where the volumes overlap."""
        self._validate_partner(other)
        distance = _length((other.center - self.center).T)
        radii = self.radius + other.radius
        return np.maximum(distance - radii - (SPHERE_ROUNDING * EPS * (distance + radii) + SUBNORMAL), 0.0)

    def _inflated(self, width: float) -> Spheres:
        radius = self.radius + width
        return Spheres(self.center, np.where(radius - self.radius == width, radius, widened(radius)))

    @property
    def centers(self) -> FloatArray:
        """(n, dim) the centres."""
        return self.center

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates (dim, n) of an axis-aligned box around each volume, to a rounding error."""
        reach = self.radius
        with np.errstate(over="ignore"):
            return self.center.T - reach, self.center.T + reach

    @property
    def surface_area(self) -> FloatArray:
        """(n,) the surface area, in the plane the length of the circle."""
        with np.errstate(over="ignore"):
            size = 2.0 * np.pi * self.radius
            return size if self.dim == 2 else 2.0 * size * self.radius

    @property
    def volume(self) -> FloatArray:
        """(n,) the volume, in the plane the area."""
        with np.errstate(over="ignore"):
            area = np.pi * self.radius * self.radius
            return area if self.dim == 2 else 4.0 / 3.0 * area * self.radius

    def contains(self, points: ArrayLike) -> BoolArray:
        """Return (n,), element by element, whether points[i] (n, dim) is not certainly outside sphere i."""
        return _within((as_points(points, len(self), self.dim) - self.center).T, self.radius)

    def polytope(self, index: int) -> None:
        """Return None: a sphere is not a polytope."""
        as_index(index, len(self))


def _length(vectors: FloatArray) -> FloatArray:
    """Return the lengths (n,) of columns (dim, n), whatever their size, to a relative SPHERE_ROUNDING / 4."""
    with np.errstate(under="ignore"):
        length: FloatArray = np.hypot(vectors[0], vectors[1])
        return np.hypot(length, vectors[2], out=length) if len(vectors) == 3 else length


def _within(vectors: FloatArray, radius: FloatArray) -> BoolArray:
    """Return (n,) whether the lengths of columns (dim, n) may be no more than the radii (n,)."""
    with np.errstate(over="ignore", under="ignore"):
        square = vectors[0] * vectors[0]
        for row in vectors[1:]:
            square += row * row
        limit = radius * radius
        limit *= 1.0 + 2.0 * SPHERE_ROUNDING * EPS
        result: BoolArray = square <= limit
        square += limit
        if len(square) and not (square.min() > _SMALL_SQUARE and square.max() < np.inf):
            # Squares that overflow or vanish are useless: lengths are not. These may be wrong by the last step near 0.
            odd = np.flatnonzero(~((square > _SMALL_SQUARE) & (square < np.inf)))
            result[odd] = _length(vectors[:, odd]) <= radius[odd] * SPHERE_WIDER + SUBNORMAL
    return result


def bounding_spheres(points: FloatArray, starts: IntArray, progress: Progress | None = None) -> Spheres:
    """Return the smallest enclosing spheres of groups of points (N, dim); group i begins with point starts[i].

    See `bounding_volumes`. Radii are as small as possible to about 1e-14 of them and the rounding of the centres.
    """
    return Spheres(*enclosing_spheres(points, None, starts, progress))
