# SPDX-License-Identifier: GPL-3.0-or-later
"""Cylinders and cones, exact through their support points: rims and an apex. Source: S1.5."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_floats, as_length, validate_magnitude
from ..types import FloatArray
from .curved_shape import CurvedShape, FlatFeature, Revolution, across
from .polytope import Polytope

_RIM = 8
"""Points of a rim to begin with."""


@dataclass(frozen=True, eq=False, init=False)
class _Round(CurvedShape):
    """What stands between two ends on an axis and is round about it."""

    start: FloatArray
    """(3,) world frame."""
    end: FloatArray
    """(3,) world frame."""
    axis: FloatArray
    """(3,) unit vector from start to end."""
    rim: float
    """Radius of the rim, > 0."""
    radius = 0.0

    def __init__(self, start: ArrayLike, end: ArrayLike, radius: float, names: tuple[str, str]) -> None:
        one = np.array(as_floats(names[0], start, 3))
        other = np.array(as_floats(names[1], end, 3))
        rim = as_length("radius", radius)
        if rim == 0.0:
            raise ValueError("radius must be above 0: for a segment take a Capsule of radius 0")
        way = other - one
        largest = float(np.abs(way).max())
        if largest == 0.0:
            raise ValueError(f"{names[1]} must not be {names[0]}: their difference is the axis")
        way = way / largest
        for name, end_ in zip(names, (one, other), strict=True):
            validate_magnitude(name, end_)
        validate_magnitude("radius", np.abs(np.stack([one, other])) + rim)
        for name, value in (("start", one), ("end", other), ("axis", way / math.sqrt(float(way @ way))), ("rim", rim)):
            if isinstance(value, np.ndarray):
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
        height = float((self.end - self.start) @ self.axis)
        return Revolution(tuple(self.start.tolist()), tuple(self.axis.tolist()), ((0.0, self.rim), (height, self.top)))

    @property
    @abstractmethod
    def top(self) -> float:
        """Radius at the end."""

    def flat_directions(self, direction: FloatArray, point: FloatArray) -> FloatArray:
        # The side's normals where the direction, and where the point is seen from the axis.
        found = []
        height = float((self.end - self.start) @ self.axis)
        slope = (self.rim - self.top) / height
        for way in (direction, point - self.start):
            sideways = self.outward(way[None])[0] / self.rim
            if sideways.any():
                found += [sideways + slope * self.axis, slope * self.axis - sideways]
        ways = np.array(found).reshape(-1, 3)
        ways = ways[ways @ direction > 0.0]
        return ways / np.linalg.norm(ways, axis=1)[:, None]

    @property
    def rim_axes(self) -> FloatArray:
        """(2, 3) two perpendicular ways from the axis to the rim, right-handed with the axis."""
        return self.rim * np.array(across(self.axis))

    def _shows(self, side: FloatArray, direction: FloatArray) -> bool:
        """Tell whether the side, a vector (3,) from end to end, looks longer along a unit direction than an end looks
        wide: which of them is the feature of one so thin that both are level within the width."""
        along = float(side @ direction)
        wide = 2.0 * self.rim * float(direction @ self.axis)
        return float(side @ side) - along * along > wide * wide

    def start_directions(self) -> FloatArray:
        one, other = across(self.axis)
        turn = 2.0 * np.pi * np.arange(_RIM)[:, None] / _RIM
        return np.cos(turn) * one + np.sin(turn) * other

    def outward(self, directions: FloatArray) -> FloatArray:
        """Return (k, 3) for each unit direction the way from the axis to the point of a rim farthest along it."""
        # In a frame across the axis: along it there is no rounding that could be taken for a way.
        frame = np.array(across(self.axis))
        sideways = directions @ frame.T
        lengths = np.hypot(sideways[:, 0], sideways[:, 1])[:, None]
        return (self.rim * sideways / np.where(lengths > 0.0, lengths, 1.0)) @ frame


class Cylinder(_Round):
    """A cylinder with flat ends."""

    def __init__(self, start: ArrayLike, end: ArrayLike, radius: float) -> None:
        """Build it from the centres of its ends (3,) and its radius > 0, world frame and units.

        Raises ValueError, naming the argument, when one is of another shape or not finite, the radius is not above 0,
        or both ends are one point.
        """
        super().__init__(start, end, radius, ("start", "end"))

    @property
    def top(self) -> float:
        return self.rim

    def core_supports(self, directions: FloatArray) -> FloatArray:
        ends = np.where((directions @ self.axis > 0.0)[:, None], self.end, self.start)
        return ends + self.outward(directions)

    def core_points(self, directions: FloatArray) -> FloatArray:
        sideways = self.outward(directions)
        return np.concatenate([self.start + sideways, self.end + sideways])

    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        lean = float(direction @ self.axis)
        sideways = self.outward(direction[None])[0]
        top, bottom = (self.end, self.start) if lean > 0.0 else (self.start, self.end)
        side_is_level = float(direction @ (top - bottom)) <= width
        if 2.0 * float(direction @ sideways) <= width and not (side_is_level and self._shows(top - bottom, direction)):
            return FlatFeature(top[None], self.rim, self.axis)
        if side_is_level:
            return FlatFeature(np.stack([top + sideways, bottom + sideways]))
        return FlatFeature((top + sideways)[None])

    def scaled(self, exponent: int) -> Cylinder:
        return Cylinder(
            np.ldexp(self.start, exponent), np.ldexp(self.end, exponent), float(np.ldexp(self.rim, exponent))
        )

    def moved(self, translation: FloatArray) -> Cylinder:
        return Cylinder(self.start + translation, self.end + translation, self.rim)


class Cone(_Round):
    """A cone with a flat base."""

    def __init__(self, base: ArrayLike, apex: ArrayLike, radius: float) -> None:
        """Build it from the centre of its base (3,), its apex (3,) and the base's radius > 0, world frame and units.

        Raises ValueError, naming the argument, when one is of another shape or not finite, the radius is not above 0,
        or apex and base are one point.
        """
        super().__init__(base, apex, radius, ("base", "apex"))

    @property
    def top(self) -> float:
        return 0.0

    def core_supports(self, directions: FloatArray) -> FloatArray:
        rims = self.start + self.outward(directions)
        higher = ((self.end - rims) * directions).sum(axis=1) > 0.0
        return np.where(higher[:, None], self.end, rims)

    def core_points(self, directions: FloatArray) -> FloatArray:
        return np.concatenate([self.end[None], self.start + self.outward(directions)])

    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        sideways = self.outward(direction[None])[0]
        rim = self.start + sideways
        side = self.end - rim
        rise = float(direction @ side)
        side_is_level = abs(rise) <= width
        end_is_level = rise < 0.0 and 2.0 * float(direction @ sideways) <= width
        if end_is_level and not (side_is_level and self._shows(side, direction)):
            return FlatFeature(self.start[None], self.rim, self.axis)
        if side_is_level:
            return FlatFeature(np.stack([rim, self.end]))
        return FlatFeature((self.end if rise > 0.0 else rim)[None])

    def scaled(self, exponent: int) -> Cone:
        return Cone(np.ldexp(self.start, exponent), np.ldexp(self.end, exponent), float(np.ldexp(self.rim, exponent)))

    def moved(self, translation: FloatArray) -> Cone:
        return Cone(self.start + translation, self.end + translation, self.rim)
