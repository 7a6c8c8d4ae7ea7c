# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of shapes with a curved surface: a core and a radius around it.

The core is a polytope (a point, a segment ...) or a smooth solid. Both are known exactly through their support points;
nothing is tessellated. Source: S1.5, S4.2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..types import FloatArray, ReadOnlyArrays, read_only
from .polytope import Polytope
from .shape import Shape

_C = TypeVar("_C", bound="CurvedShape")


@dataclass(frozen=True, eq=False)
class FlatFeature(ReadOnlyArrays):
    """The part of a core that is extreme in a direction: the hull of points, or a disk."""

    points: FloatArray
    """(k, dim) corners; of a disk its centre."""
    disk_radius: float = 0.0
    """0.0 when it is not a disk."""
    disk_axis: FloatArray | None = None
    """(3,) unit vector across a disk."""
    ids: tuple[int, ...] = ()
    """Vertex indices of the points, when the core is a polytope."""

    @property
    def extended(self) -> bool:
        """Whether it is more than a point."""
        return self.disk_radius > 0.0 or len(self.points) > 1


@dataclass(frozen=True)
class Revolution:
    """The axis and the section of a body of revolution."""

    point: tuple[float, ...]
    """(dim,) a point of the axis."""
    axis: tuple[float, ...] | None
    """(dim,) unit vector; None when every axis through the point is one."""
    profile: tuple[tuple[float, float], ...] | None
    """Corners of the core's section through the axis: distance along it from the point, and distance from it. None when
    the section is not a polygon."""
    ellipse: tuple[float, float] | None = None
    """Semi-axes of the section along the axis and across it, when it is an ellipse about the point."""


class CurvedShape(Shape, ABC):
    """A convex shape with a curved surface, in the plane or in space, in world coordinates; immutable."""

    _has_formula = True
    without_vertices = "is curved: use contact(a, b)"

    @property
    @abstractmethod
    def rounding_radius(self) -> float:
        """Distance from the core to the surface, the same all around, 0.0 where the core is the shape; world units."""

    @property
    @abstractmethod
    def skeleton(self) -> Polytope | None:
        """The core when it is a polytope; None when it is a smooth solid."""

    @abstractmethod
    def core_supports(self, directions: FloatArray) -> FloatArray:
        """Return the support points (k, dim) of the core for unit `directions` (k, dim)."""

    @abstractmethod
    def start_directions(self) -> FloatArray:
        """Return directions (k, dim) whose `core_points` span a solid; (0, dim) when the core is a polytope."""

    def core_points(self, directions: FloatArray) -> FloatArray:
        """Return points of the core's surface (m, dim), the support points for `directions` (k, dim) among them."""
        return self.core_supports(directions)

    @abstractmethod
    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        """Return the part of the core that is extreme in a unit `direction` (dim,), to `width` in world units."""

    def flat_directions(self, direction: FloatArray, point: FloatArray) -> FloatArray:
        """Return directions (k, dim) near a unit `direction`, in which the core ends in a segment or more, that lead
        from the core towards or past a `point`; none for most shapes."""
        return np.zeros((0, self.dim))

    @property
    @abstractmethod
    def revolution(self) -> Revolution | None:
        """The axis of revolution; None when there is none."""

    @property
    @abstractmethod
    def steiner_terms(self) -> tuple[FloatArray, FloatArray]:
        """Weights (dim + 1,) and first moments (dim + 1, dim) about `center` of the volume of all points within r of
        the core, the sum of `weights[k] * r**k`."""

    @abstractmethod
    def core_distances(self, points: FloatArray) -> FloatArray:
        """Return the signed distances (n,) of points (n, dim) from the core."""

    @abstractmethod
    def _transformed(self, linear: FloatArray, offset: FloatArray) -> CurvedShape: ...

    def translated(self: _C, vector: ArrayLike) -> _C:
        image = super().translated(vector)
        # What is made of it is translated along.
        image.__dict__["_translated_from"] = self.__dict__.get("_translated_from", self)
        return image

    @property
    def volume(self) -> float:
        """Volume of a shape in space, area of a shape in the plane; 0.0 where it does not fill its space."""
        shape, exponent = self._at_ordinary_size
        with np.errstate(over="ignore"):
            return float(np.ldexp(shape.steiner_terms[0] @ shape._powers, self.dim * exponent))

    @property
    def centroid(self) -> FloatArray:
        """(dim,) centre of mass, world frame."""
        shape, exponent = self._at_ordinary_size
        weights, moments = shape.steiner_terms
        offset = (shape._powers @ moments) / (shape._powers @ weights)
        return read_only(self.center + np.ldexp(offset, exponent))

    @property
    def _powers(self) -> FloatArray:
        return self.rounding_radius ** np.arange(self.dim + 1.0)

    def _diameter(self) -> float:
        return self._core_diameter() + 2.0 * self.rounding_radius

    @abstractmethod
    def _core_diameter(self) -> float:
        """Return the diameter of the smallest ball around the core."""

    def _signed_distances(self, points: FloatArray) -> FloatArray:
        return self.core_distances(points) - self.rounding_radius

    def _support_points(self, directions: FloatArray) -> FloatArray:
        units = directions / np.abs(directions).max(axis=1)[:, None]
        units = units / np.linalg.norm(units, axis=1)[:, None]
        return self.core_supports(units) + self.rounding_radius * units

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (dim,) of the axis-aligned bounding box, world frame; right to rounding."""
        axes = np.eye(self.dim)
        high = np.diagonal(self.core_supports(axes)) + self.rounding_radius
        low = np.diagonal(self.core_supports(-axes)) - self.rounding_radius
        return read_only(low.copy()), read_only(high.copy())


ConvexShape = Polytope | CurvedShape
"""Every convex shape that `contact` takes."""


def across(axis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two unit vectors (3,) that make a right-handed frame with a unit vector (3,): both across it."""
    x, y, z = axis.tolist()
    sign = math.copysign(1.0, z)
    down = -1.0 / (sign + z)
    mixed = x * y * down
    return (
        np.array([1.0 + sign * x * x * down, sign * mixed, -sign * x]),
        np.array([mixed, sign + y * y * down, -y]),
    )


def ring_around(axis: FloatArray, count: int) -> FloatArray:
    """Return unit vectors (count, 3) across a unit vector (3,), evenly spaced around it."""
    u, v = across(axis)
    turn = 2.0 * np.pi * np.arange(count)[:, None] / count
    return np.cos(turn) * u + np.sin(turn) * v
