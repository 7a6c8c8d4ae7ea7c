# SPDX-License-Identifier: GPL-3.0-or-later
"""Cylinders and cones, exact through their support points: rims and an apex. Source: S1.5."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_floats, as_length, validate_magnitude
from ..types import FloatArray, set_parts
from .curved_shape import CurvedShape, FlatFeature, Revolution, across, ring_around
from .polytope import Polytope
from .shape import SIMILAR, numbers

_R = TypeVar("_R", bound="_Round")

_RIM = 8
"""Number of points of a rim at the start."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class _Round(CurvedShape):
    """A solid of revolution between two ends on an axis."""

    start: FloatArray
    """(3,) centre of the end that the axis begins at, of a cone that of its base; world frame."""
    end: FloatArray
    """(3,) centre of the other end, of a cone its apex; world frame."""
    axis: FloatArray
    """(3,) unit vector from start to end."""
    radius: float
    """Radius of the rim at the start, > 0: of the cylinder, or of the base of the cone; world units."""
    rounding_radius = 0.0
    _names: ClassVar[tuple[str, str]] = ("start", "end")
    """What the arguments for both ends are called."""

    def __init__(self, start: ArrayLike, end: ArrayLike, radius: float) -> None:
        names = self._names
        first = np.array(as_floats(names[0], start, 3))
        second = np.array(as_floats(names[1], end, 3))
        rim = as_length("radius", radius)
        if rim == 0.0:
            raise ValueError("radius must be above 0: for a segment take a Capsule of radius 0")
        direction = second - first
        largest = float(np.abs(direction).max())
        if largest == 0.0:
            raise ValueError(f"{names[1]} must not be {names[0]}: their difference is the axis")
        direction = direction / largest
        for name, point in zip(names, (first, second), strict=True):
            validate_magnitude(name, point)
        validate_magnitude("radius", np.abs(np.stack([first, second])) + rim)
        axis = direction / math.sqrt(float(direction @ direction))
        set_parts(self, {"start": first, "end": second, "axis": axis, "radius": rim})

    @property
    def _parts(self) -> list[str]:
        ends = zip(self._names, (self.start, self.end), strict=True)
        return [*(f"{name}={numbers(end)}" for name, end in ends), f"radius={self.radius:.6g}"]

    @property
    def dim(self) -> int:
        return 3

    @property
    def skeleton(self) -> Polytope | None:
        return None

    @property
    def revolution(self) -> Revolution | None:
        height = float((self.end - self.start) @ self.axis)
        profile = (0.0, self.radius), (height, self.top)
        return Revolution(tuple(self.start.tolist()), tuple(self.axis.tolist()), profile)

    @property
    @abstractmethod
    def top(self) -> float:
        """Radius at the end."""

    def flat_directions(self, direction: FloatArray, point: FloatArray) -> FloatArray:
        # The side's normals towards the direction and towards the point, seen from the axis.
        found = []
        height = float((self.end - self.start) @ self.axis)
        slope = (self.radius - self.top) / height
        for vector in (direction, point - self.start):
            sideways = self.outward(vector[None])[0] / self.radius
            if sideways.any():
                found += [sideways + slope * self.axis, slope * self.axis - sideways]
        directions = np.array(found).reshape(-1, 3)
        directions = directions[directions @ direction > 0.0]
        return directions / np.linalg.norm(directions, axis=1)[:, None]

    def core_distances(self, points: FloatArray) -> FloatArray:
        # In the half plane through the axis: coordinates along the axis and away from it.
        direction = points - self.start
        out = np.hypot(*(direction @ np.array(across(self.axis)).T).T)
        return self._section_distances(direction @ self.axis, out, float((self.end - self.start) @ self.axis))

    @abstractmethod
    def _section_distances(self, along: FloatArray, out: FloatArray, height: float) -> FloatArray:
        """Return the signed distances of points at `along` on the axis from the start and `out` from the axis."""

    def _transformed(self: _R, linear: FloatArray, offset: FloatArray) -> _R:
        axis, rim = linear @ self.axis, linear @ np.array(across(self.axis)).T
        _, stretches, _ = np.linalg.svd(rim, full_matrices=False)
        lean = np.abs(axis @ rim).max()
        height = math.hypot(*axis.tolist())
        if not (stretches[1] > (1.0 - SIMILAR) * stretches[0] and 0.0 <= lean < SIMILAR * height * stretches[0]):
            raise ValueError(
                f"matrix: a {type(self).__name__} keeps its form under rotation, reflection, translation, even scale "
                f"and scale along its axis only; take ConvexHull(shape.supports(directions)), a polytope inside it"
            )
        ends = np.stack([self.start, self.end]) @ linear.T + offset
        scale = float(stretches.mean())
        validate_magnitude("matrix", np.abs(ends) + self.radius * scale)
        return self._with(ends[0], ends[1], self.radius * scale)

    def _translated(self: _R, step: FloatArray) -> _R:
        return self._with(self.start + step, self.end + step, self.radius)

    def _scaled(self: _R, factor: float) -> _R:
        return self._with(self.start * factor, self.end * factor, self.radius * factor)

    def _with(self: _R, start: FloatArray, end: FloatArray, rim: float) -> _R:
        """Return a shape of the same class between other ends."""
        made = object.__new__(type(self))
        _Round.__init__(made, start, end, rim)
        return made

    def _moments(self, terms: list[tuple[float, float]]) -> tuple[FloatArray, FloatArray]:
        """Return the Steiner terms given as weights and the heights of their centroids, as fractions of the axis."""
        weights, heights = np.array(terms).T
        middles = self.start - self.center + heights[:, None] * (self.end - self.start)
        return weights, weights[:, None] * middles

    @property
    def rim_axes(self) -> FloatArray:
        """(2, 3) two perpendicular vectors from the axis to the rim, right-handed with the axis."""
        return self.radius * np.array(across(self.axis))

    def _is_side_larger(self, side: FloatArray, direction: FloatArray) -> bool:
        """Return whether the side, a vector (3,) from end to end, appears longer than an end is wide when seen along a
        unit direction: it decides between the two where the solid is so thin that both are level within the width."""
        along = float(side @ direction)
        wide = 2.0 * self.radius * float(direction @ self.axis)
        return float(side @ side) - along * along > wide * wide

    def start_directions(self) -> FloatArray:
        return ring_around(self.axis, _RIM)

    def outward(self, directions: FloatArray) -> FloatArray:
        """Return (k, 3) for each unit direction the vector from the axis to the point of a rim farthest along it."""
        # In a frame across the axis: no rounding along it can be taken for a direction.
        frame = np.array(across(self.axis))
        sideways = directions @ frame.T
        lengths = np.hypot(sideways[:, 0], sideways[:, 1])[:, None]
        return (self.radius * sideways / np.where(lengths > 0.0, lengths, 1.0)) @ frame


class Cylinder(_Round):
    """A cylinder with flat ends."""

    def __init__(self, start: ArrayLike, end: ArrayLike, radius: float) -> None:
        """Build it from the centres of its ends (3,) and its radius > 0, world frame and units.

        Raises ValueError, naming the argument, when one is of another shape or not finite, the radius is not above 0,
        or both ends are one point.
        """
        super().__init__(start, end, radius)

    @property
    def top(self) -> float:
        return self.radius

    def core_supports(self, directions: FloatArray) -> FloatArray:
        ends = np.where((directions @ self.axis > 0.0)[:, None], self.end, self.start)
        return ends + self.outward(directions)

    def core_points(self, directions: FloatArray) -> FloatArray:
        sideways = self.outward(directions)
        return np.concatenate([self.start + sideways, self.end + sideways])

    def _core_diameter(self) -> float:
        return math.hypot(math.dist(self.start, self.end), 2.0 * self.radius)

    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        lean = float(direction @ self.axis)
        sideways = self.outward(direction[None])[0]
        top, bottom = (self.end, self.start) if lean > 0.0 else (self.start, self.end)
        side_is_level = float(direction @ (top - bottom)) <= width
        if 2.0 * float(direction @ sideways) <= width and not (
            side_is_level and self._is_side_larger(top - bottom, direction)
        ):
            return FlatFeature(top[None], self.radius, self.axis)
        if side_is_level:
            return FlatFeature(np.stack([top + sideways, bottom + sideways]))
        return FlatFeature((top + sideways)[None])

    def _section_distances(self, along: FloatArray, out: FloatArray, height: float) -> FloatArray:
        beyond, beside = np.maximum(-along, along - height), out - self.radius
        inside = np.minimum(np.maximum(beyond, beside), 0.0)
        return inside + np.hypot(np.maximum(beyond, 0.0), np.maximum(beside, 0.0))

    @cached_property
    def steiner_terms(self) -> tuple[FloatArray, FloatArray]:
        r, h = self.radius, math.dist(self.start, self.end)
        area, bent = 2.0 * r * (r + h), h + math.pi * r
        return self._moments([(math.pi * x, 0.5) for x in (r * r * h, area, bent, 4.0 / 3.0)])


class Cone(_Round):
    """A cone with a flat base."""

    _names = ("base", "apex")

    def __init__(self, base: ArrayLike, apex: ArrayLike, radius: float) -> None:
        """Build it from the centre of its base (3,), its apex (3,) and the base's radius > 0, world frame and units.

        Raises ValueError, naming the argument, when one is of another shape or not finite, the radius is not above 0,
        or apex and base are one point.
        """
        super().__init__(base, apex, radius)

    @property
    def base(self) -> FloatArray:
        """(3,) centre of the base, world frame."""
        return self.start

    @property
    def apex(self) -> FloatArray:
        """(3,) world frame."""
        return self.end

    @property
    def top(self) -> float:
        return 0.0

    def core_supports(self, directions: FloatArray) -> FloatArray:
        rims = self.start + self.outward(directions)
        higher = ((self.end - rims) * directions).sum(axis=1) > 0.0
        return np.where(higher[:, None], self.end, rims)

    def core_points(self, directions: FloatArray) -> FloatArray:
        return np.concatenate([self.end[None], self.start + self.outward(directions)])

    def _core_diameter(self) -> float:
        # The circle around the section through the axis; of a flat cone the base is a great circle of the ball.
        height = math.dist(self.start, self.end)
        slant = math.hypot(height, self.radius)
        return slant * (slant / height) if height > self.radius else 2.0 * self.radius

    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        sideways = self.outward(direction[None])[0]
        rim = self.start + sideways
        side = self.end - rim
        rise = float(direction @ side)
        side_is_level = abs(rise) <= width
        end_is_level = rise < 0.0 and 2.0 * float(direction @ sideways) <= width
        if end_is_level and not (side_is_level and self._is_side_larger(side, direction)):
            return FlatFeature(self.start[None], self.radius, self.axis)
        if side_is_level:
            return FlatFeature(np.stack([rim, self.end]))
        return FlatFeature((self.end if rise > 0.0 else rim)[None])

    def _section_distances(self, along: FloatArray, out: FloatArray, height: float) -> FloatArray:
        slant = np.hypot(self.radius, height)
        above = ((out - self.radius) * height + along * self.radius) / slant
        deepest = np.maximum(above, -along)
        fraction = np.clip(((self.radius - out) * self.radius + along * height) / (slant * slant), 0.0, 1.0)
        to_side = np.hypot(out - self.radius * (1.0 - fraction), along - fraction * height)
        to_base = np.hypot(np.maximum(out - self.radius, 0.0), along)
        return np.where(deepest <= 0.0, deepest, np.minimum(to_side, to_base))

    @cached_property
    def steiner_terms(self) -> tuple[FloatArray, FloatArray]:
        r, h = self.radius, math.dist(self.start, self.end)
        slant = math.hypot(r, h)
        area, side = r * (r + slant), math.atan2(r, h)
        rim_bend = r * (0.5 * math.pi + side)
        cap = 2.0 * (1.0 - r / slant)  # the normals at the apex
        parts = [
            (r * r * h / 3.0, 0.25),
            (area, r * slant / 3.0 / area),
            (h + rim_bend, 0.5 * h / (h + rim_bend)),
            (4.0 / 3.0, cap / 4.0),
        ]
        return self._moments([(math.pi * weight, height) for weight, height in parts])
