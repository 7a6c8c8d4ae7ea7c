# SPDX-License-Identifier: GPL-3.0-or-later
"""Ellipsoids, exact through their support points: spheres under an affine map. Source: S1.5.

With equal semi-axes it is a ball, whose core is its centre. Sections of bodies of revolution use them in the plane, as
ellipses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_floats, at_ordinary_length, validate_magnitude
from ..tolerance import EPS
from ..types import FloatArray, set_parts
from .box import rotate, turned
from .curved_shape import CurvedShape, FlatFeature, Revolution
from .hull import ConvexHull
from .polytope import Polytope
from .shape import numbers, similarity

_STEPS = 60
"""Newton steps to a root: each doubles its digits, and the start is close to it or, at worst, several powers of ten
away."""
_FLAT = 16.0
"""Times EPS: semi-axes smaller than this times the largest are rounding."""
_ROOT_SMALLEST = 1e-290
"""In units of the largest semi-axis: parts of a secular equation that count as 0. The divisors of larger ones, and
their quotients by the root, are in the range of float64."""
_NEEDLE = 1e-100
"""Ratio of semi-axes below which squares may vanish."""
_LEAST_SQUARE = 1e-200
"""For semi-axes of ordinary size: smaller squares count as this, mean stretches divide by them."""
_EQUAL = 1e-8
"""Relative: numbers this close are replaced by their mean, which is exact to the last digit of the integral."""


@cache
def _around(dim: int) -> FloatArray:
    directions = np.array([direction for direction in product((-1.0, 0.0, 1.0), repeat=dim) if any(direction)])
    return directions / np.linalg.norm(directions, axis=1)[:, None]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Ellipsoid(CurvedShape):
    """An ellipsoid in space; sections are made in the plane, where `dim` is 2."""

    center: FloatArray
    """(dim,) its centre, world frame."""
    axes: FloatArray
    """(dim, dim) row k is the unit direction of semi-axis k."""
    semi_axes: FloatArray
    """(dim,) lengths of the semi-axes, > 0."""

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
        set_parts(self, {"center": middle, "axes": axes, "semi_axes": semi})

    @property
    def _parts(self) -> list[str]:
        return [f"center={numbers(self.center)}", f"semi_axes={numbers(self.semi_axes)}", *turned(self.axes)]

    @property
    def dim(self) -> int:
        return len(self.center)

    @cached_property
    def rounding_radius(self) -> float:
        """Radius of a ball, whose core is its centre; 0.0 for any other ellipsoid."""
        first, *others = self.semi_axes.tolist()
        return first if all(length == first for length in others) else 0.0

    @cached_property
    def skeleton(self) -> Polytope | None:
        return ConvexHull(self.center[None]) if self.rounding_radius > 0.0 else None

    @property
    def revolution(self) -> Revolution | None:
        place = tuple(self.center.tolist())
        if self.rounding_radius > 0.0:
            return Revolution(place, None, ((0.0, 0.0),))
        if self.dim == 2:
            return None
        x, y, z = self.semi_axes.tolist()
        for odd, along, u, v in ((0, x, y, z), (1, y, x, z), (2, z, x, y)):
            if u == v:
                return Revolution(place, tuple(self.axes[odd].tolist()), None, (along, u))
        return None

    def start_directions(self) -> FloatArray:
        if self.rounding_radius > 0.0:
            return np.zeros((0, self.dim))
        # Evenly spaced points of the unit sphere become points of the surface with these normals.
        directions = (_around(self.dim) / (self.semi_axes / self.semi_axes.min())) @ self.axes
        return directions / np.linalg.norm(directions, axis=1)[:, None]

    def core_supports(self, directions: FloatArray) -> FloatArray:
        if self.rounding_radius > 0.0:
            return np.broadcast_to(self.center, directions.shape)
        local = (directions @ self.axes.T) * self._proportions
        if self._is_needle:
            local = at_ordinary_length(local)
        local /= np.linalg.norm(local, axis=1)[:, None]
        return self.center + (local * self.semi_axes) @ self.axes

    @cached_property
    def _proportions(self) -> FloatArray:
        return self.semi_axes / self.semi_axes.max()

    @cached_property
    def _is_needle(self) -> bool:
        """Whether squares of the proportions may vanish."""
        return float(self._proportions.min()) < _NEEDLE

    def _core_diameter(self) -> float:
        return 0.0 if self.rounding_radius > 0.0 else 2.0 * float(self.semi_axes.max())

    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        return FlatFeature(self.core_supports(direction[None]))

    def core_distances(self, points: FloatArray) -> FloatArray:
        if self.skeleton is not None:
            return self.skeleton.core_distances(points)
        unit = float(self.semi_axes.max())
        place, directions = (points - self.center) @ self.axes.T / unit, self.nearest_normals(points) @ self.axes.T
        reach = np.linalg.norm(directions * (self.semi_axes / unit), axis=1)
        distances: FloatArray = unit * ((directions * place).sum(axis=1) - reach)
        return distances

    def nearest_normals(self, points: FloatArray) -> FloatArray:
        """Return the outward unit normals (n, dim) where the surface is nearest to points (n, dim)."""
        unit = float(self.semi_axes.max())
        place, semi = (points - self.center) @ self.axes.T / unit, self.semi_axes / unit
        least = float(semi.min())
        # The surface is nearest at x with normal n: n_k = p_k / (s_k^2 + w), and sum (s_k n_k)^2 = 1.
        beyond = (semi - least) * (semi + least)
        root = secular_root(semi * place, beyond)
        under = beyond + root[:, None]
        zero = under == 0.0
        directions = place / np.where(zero, 1.0, under)
        # On the plane across the smallest semi-axis both sides may be equally near.
        least_component = np.sqrt(np.maximum(0.0, 1.0 - ((directions * semi) ** 2).sum(axis=1))) / least
        smallest = int(semi.argmin())
        directions[:, smallest] = np.where(root == 0.0, least_component, directions[:, smallest])
        directions = directions @ self.axes
        return directions / np.linalg.norm(directions, axis=1)[:, None]

    @cached_property
    def steiner_terms(self) -> tuple[FloatArray, FloatArray]:
        squares = np.maximum(self.semi_axes * self.semi_axes, _LEAST_SQUARE)
        ball = math.pi if self.dim == 2 else 4.0 * math.pi / 3.0
        if self.rounding_radius > 0.0:
            weights = [0.0] * self.dim + [ball]
        elif self.dim == 2:
            weights = [ball * self.semi_axes.prod(), 8.0 * _mean_stretch(0.0, *squares), ball]
        else:
            faces = np.roll(self.semi_axes, 1) * np.roll(self.semi_axes, -1)
            weights = [
                ball * self.semi_axes.prod(),
                3.0 * ball * _mean_stretch(*np.maximum(faces * faces, _LEAST_SQUARE)),
                3.0 * ball * _mean_stretch(*squares),
                ball,
            ]
        return np.array(weights), np.zeros((self.dim + 1, self.dim))

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> Ellipsoid:
        found = similarity(linear)
        if found is not None:
            semi, axes = found[0] * self.semi_axes, self.axes @ found[1].T
        else:
            across, semi, _ = np.linalg.svd(linear @ (self.axes.T * self.semi_axes))
            axes = across.T
        if not semi.min() > _FLAT * EPS * semi.max():
            raise ValueError("matrix: it makes the ellipsoid flat; take ConvexHull of its points in the plane")
        middle = linear @ self.center + offset
        validate_magnitude("matrix", np.abs(middle) + semi.max())
        return Ellipsoid.from_axes(middle, semi, axes)

    def _translated(self, step: FloatArray) -> Ellipsoid:
        return Ellipsoid.from_axes(self.center + step, self.semi_axes, self.axes)

    def _scaled(self, factor: float) -> Ellipsoid:
        return Ellipsoid.from_axes(self.center * factor, self.semi_axes * factor, self.axes)

    @classmethod
    def from_axes(cls, center: FloatArray, semi_axes: FloatArray, axes: FloatArray) -> Ellipsoid:
        """Return the ellipsoid about `center` (dim,) with these semi-axes (dim,) along the rows of `axes` (dim, dim),
        which must be unit vectors perpendicular to each other and are not checked."""
        made = cls.__new__(cls)
        made._set(*(np.array(value, dtype=np.float64) for value in (center, semi_axes, axes)))
        return made


def _mean_stretch(x: float, y: float, z: float) -> float:
    """Return the mean of sqrt(x u^2 + y v^2 + z w^2) over all unit vectors (u, v, w): the integral R_G.

    By duplication, which makes the numbers equal. Source: B. C. Carlson, Numerical computation of real or complex
    elliptic integrals, 1995.
    """
    x, z, y = sorted((x, y, z))
    a, b, c, quarter, rd = x, y, z, 1.0, 0.0
    while max(a, b, c) - min(a, b, c) > _EQUAL * max(a, b, c):
        root = math.sqrt(a * b) + math.sqrt(b * c) + math.sqrt(c * a)
        rd += 3.0 * quarter / (math.sqrt(c) * (c + root))
        a, b, c, quarter = 0.25 * (a + root), 0.25 * (b + root), 0.25 * (c + root), 0.25 * quarter
    rf = 1.0 / math.sqrt((a + b + c) / 3.0)
    rd += quarter * ((a + b + 3.0 * c) / 5.0) ** -1.5
    return 0.5 * (z * rf - (x - z) * (y - z) * rd / 3.0 + math.sqrt(x * y / z))


def secular_root(parts: FloatArray, poles: FloatArray) -> FloatArray:
    """Return for each row of `parts` (n, k) the number z >= 0 for which `sum_k (parts_k / (poles_k + z))^2` is 1, or
    0.0 where the sum is always less. `poles` (k,) >= 0, the least of them 0.

    Newton's method on the inverse square root of the sum, which is nearly linear and concave: from below it never
    overshoots.
    """
    # Parts that would overflow when divided by the smallest roots: they change nothing.
    parts = np.where(np.abs(parts) < _ROOT_SMALLEST, 0.0, parts)
    root: FloatArray = np.maximum((np.abs(parts) - poles).max(axis=1), 0.0)
    for _ in range(_STEPS):
        under = poles + root[:, None]
        under = np.where(under > 0.0, under, np.inf)
        ratio = parts / under
        squares = (ratio * ratio).sum(axis=1)
        length = np.sqrt(squares)
        steep = (ratio * ratio / under).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where((length > 1.0) & (steep > 0.0), (length - 1.0) * squares / steep, 0.0)
        following = root + step
        if (following == root).all():
            break
        root = following
    return root
