# SPDX-License-Identifier: GPL-3.0-or-later
"""Cores, which are shapes without their radii, slabs across directions, and the record of a result for cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..narrow_phase.gjk import size_of_difference
from ..result import BallCertificate, Status, SupportCertificate
from ..shapes.curved_shape import ConvexShape, CurvedShape, across, ring_around
from ..shapes.polytope import Polytope
from ..tolerance import CURVED_ROUNDING, EPS, SUPPORT_ROUNDING
from ..trace import Trace
from ..types import FloatArray, read_only

_RING = 6
"""Directions in a ring."""


@dataclass(frozen=True, eq=False)
class Core:
    """A shape without its radius, and a polytope inside of it."""

    shape: ConvexShape
    radius: float
    directions: FloatArray
    """(k, dim) the directions of the points of the inner polytope; empty when the core is that polytope."""

    def __post_init__(self) -> None:
        read_only(self.directions)

    @cached_property
    def inner(self) -> Polytope:
        """The polytope inside of it."""
        if self.shape.skeleton is not None:
            return self.shape.skeleton
        assert isinstance(self.shape, CurvedShape)
        return inner_polytope(self.shape, self.directions)

    @property
    def smooth(self) -> bool:
        return len(self.directions) > 0

    @classmethod
    def of(cls, shape: ConvexShape) -> Core:
        directions = np.zeros((0, shape.dim)) if shape.skeleton is not None else shape.start_directions()
        return cls(shape, shape.rounding_radius, directions)

    def supports(self, directions: FloatArray) -> FloatArray:
        """Return support points (k, dim) of the core."""
        return self.shape.core_supports(directions)

    def grow(self, directions: FloatArray) -> Core:
        """Return the core with more points in its inner polytope."""
        return replace(self, directions=np.concatenate([self.directions, directions])) if self.smooth else self


def inner_polytope(shape: CurvedShape, directions: FloatArray) -> Polytope:
    """Return the polytope of the points of a smooth core for unit `directions` (k, dim): it is inside of the core.

    It has vertices only, as GJK and EPA need no more; all of them are corners or on the surface.
    """
    dim = directions.shape[1]
    pairs, nothing = np.zeros((0, 2), dtype=np.intp), np.zeros(0)
    return Polytope(
        read_only(np.unique(shape.core_points(directions), axis=0)), dim, pairs, pairs, (), np.zeros((0, dim)), nothing
    )


class Solved(NamedTuple):
    """The result of a method for two cores."""

    core_a: Core
    core_b: Core
    normal: FloatArray
    """(dim,) unit vector from A to B."""
    slab: float
    """Signed distance of the cores across it; world units, as all lengths of this record."""
    lower: float
    upper: float
    """Proved bounds of the cores' signed distance, not yet widened by rounding."""
    points: tuple[FloatArray, FloatArray]
    """(dim,) on both cores, as far apart as that."""
    others: FloatArray
    """(k, dim) normals that may be as good; the chosen one may be among them."""
    method: str
    iterations: int
    status: Status
    """The status if the bounds do not meet."""
    cross_check: float | None
    certificate: SupportCertificate | BallCertificate
    trace: Trace | None = None
    """The steps with cores that are polytopes, if requested."""


def bound_widening(a: ConvexShape, b: ConvexShape) -> float:
    """Return by how much the bounds of the contact of two cores are widened: 0.0 unless both are polytopes, as the
    bounds of curved shapes are widened by more."""
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        return SUPPORT_ROUNDING * EPS * size_of_difference(a, b)
    return 0.0


def slab_widths(core_a: Core, core_b: Core, normals: FloatArray) -> FloatArray:
    """Return the width (k,) of the empty slab across each of the unit `normals` (k, dim); negative when the cores
    overlap."""
    return ((core_b.supports(-normals) - core_a.supports(normals)) * normals).sum(axis=1)


def rings(normal: FloatArray, angles: Sequence[float]) -> FloatArray:
    """Return unit directions (k, dim) around `normal`, on a ring for each angle; in the plane to either side."""
    if len(normal) == 2:
        around = np.array([[-normal[1], normal[0]], [normal[1], -normal[0]]])
    else:
        around = ring_around(normal, _RING)
    directions = np.concatenate([normal + angle * around for angle in angles])
    return directions / np.linalg.norm(directions, axis=1)[:, None]


def slab_noise(core_a: Core, core_b: Core) -> float:
    """Return by how much slabs may differ by rounding: it does not distinguish directions near a smooth optimum."""
    return CURVED_ROUNDING * EPS * (core_a.shape.extent + core_b.shape.extent)


def is_better_slab(slab: float, off: float, than_slab: float, than_off: float, noise: float) -> bool:
    """Return whether a slab is clearly wider than another, or about as wide and its support points are less far off."""
    return slab > than_slab + noise or (slab >= than_slab - noise and off < than_off)


def perpendiculars(normal: FloatArray) -> FloatArray:
    """Return unit vectors (dim - 1, dim) perpendicular to a unit vector and to each other."""
    return np.array(across(normal) if len(normal) == 3 else [[-normal[1], normal[0]]])
