# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes of shapes with a curved surface, from their support points: as wide as the shape. Source: S3.1."""

from __future__ import annotations

import numpy as np

from ..shapes.curved_shape import CurvedShape, across, ring_around
from ..shapes.cylinder import Cone, Cylinder
from ..shapes.ellipsoid import Ellipsoid
from ..shapes.enclosing_sphere import enclosing_spheres, widened
from ..shapes.polytope import Polytope
from ..shapes.rounded import core_of
from ..tolerance import EPS
from ..types import FloatArray
from .bounding_sphere import Spheres
from .kdop import KDops
from .obb import OrientedBoxes, bounding_obbs

_FIRST = np.zeros(1, dtype=np.intp)
_ROUND_WIDER = 16.0
"""Times EPS and the largest coordinate of the support points: a volume is wider by this than they are."""


def kdop_of_round(shape: CurvedShape, directions: FloatArray) -> KDops:
    """Return the k-DOP of a shape with slabs across `directions` (h, dim)."""
    low, high, wider = _widths(shape, directions)
    return KDops(directions, (low - wider)[None], (high + wider)[None])


def obb_of_round(shape: CurvedShape) -> OrientedBoxes:
    """Return a box around a shape along its own axes; of a rounded polytope along those of the polytope's box."""
    core = core_of(shape)
    if isinstance(core, Polytope):
        axes = bounding_obbs(core.vertices, _FIRST).axes[0]
    elif isinstance(core, Ellipsoid):
        axes = core.axes
    else:
        assert isinstance(core, Cylinder | Cone)
        axes = np.array([core.axis, *across(core.axis)])
    low, high, wider = _widths(shape, axes)
    half = 0.5 * (high - low) + wider
    return OrientedBoxes((0.5 * (low + high) @ axes)[None], axes[None], half[None])


def sphere_of_round(shape: CurvedShape) -> Spheres:
    """Return the smallest sphere around a shape: that of its core, wider by the radius that rounds it."""
    core, wider = core_of(shape), shape.rounding_radius
    if isinstance(core, Polytope):
        points = core.vertices
    elif isinstance(core, Ellipsoid):
        reach = core.axes * core.semi_axes[:, None]
        points = np.concatenate([core.center - reach, core.center + reach])
    else:  # the smallest sphere around a section through the axis has its center on the axis
        assert isinstance(core, Cylinder | Cone)
        points = core.core_points(ring_around(core.axis, 2))
    if not isinstance(core, Polytope):  # whose points are exact
        wider += _ROUND_WIDER * EPS * float(np.abs(points).max())
    center, radius = enclosing_spheres(points, None, _FIRST)
    return Spheres(center, widened(radius + wider))


def _widths(shape: CurvedShape, directions: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the least and greatest `directions @ x` (h,) of a shape, and a bound of their rounding."""
    lowest, highest = shape.supports(-directions), shape.supports(directions)
    wider = _ROUND_WIDER * EPS * max(float(np.abs(lowest).max()), float(np.abs(highest).max()))
    return (lowest * directions).sum(axis=1), (highest * directions).sum(axis=1), wider
