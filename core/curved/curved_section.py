# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of two bodies of revolution about parallel axes as that of their sections, a problem in the plane.

The plane contains both axes; for a body and a ball the axis and the ball's centre. The Minkowski difference of the
bodies is a body of revolution too. In a direction of the plane it reaches as far as the difference of the sections, and
in every other direction no less than in the one of the plane with the same inclination to the axis that leads away from
the other body. So the sections have the same signed distance, and where they are polygons it is exact. Without this, a
cylinder around a ball, say, would need bounds in all directions around the axis.
"""

from __future__ import annotations

import numpy as np

from ..shapes.curved_shape import ConvexShape, across
from ..shapes.ellipsoid import Ellipsoid
from ..shapes.hull import ConvexHull
from ..tolerance import CURVED_AXIS, EPS
from ..types import FloatArray, read_only

_CURVED_LEAN = 1e-6
"""Sine between axes of revolution, up to which sections are used. Their error is this times the extent, which is added
to the bounds; rotations in single precision are inaccurate by a tenth of it."""


def common_axis(a: ConvexShape, b: ConvexShape) -> FloatArray | None:
    """Return the common axis of revolution of a pair: rows (3, 3) origin, axis, direction across it.

    None when there is none; (0, dim) for concentric balls, in space or in the plane.
    """
    body_a, body_b = a.revolution, b.revolution
    if body_a is None or body_b is None:
        return None
    p, between = np.array(body_a.point), np.array(body_b.point) - np.array(body_a.point)
    near = CURVED_AXIS * min(a.extent, b.extent) + EPS * max(a.magnitude, b.magnitude)
    if body_a.axis is None and body_b.axis is None:
        if float(np.abs(between).max()) <= near:
            return np.zeros((0, len(p)))
        if len(p) == 2:
            return None
        axis = between / np.abs(between).max()
        axis = axis / np.linalg.norm(axis)
        return np.stack([p, axis, across(axis)[0]])
    if len(p) == 2:
        return None
    axis = np.array(body_a.axis if body_a.axis is not None else body_b.axis)
    both = body_a.axis is not None and body_b.axis is not None
    if both and float(np.linalg.norm(np.cross(axis, np.array(body_b.axis)))) > CURVED_AXIS:
        return None
    off = between - float(between @ axis) * axis
    return np.stack([p, axis, across(axis)[0]]) if float(np.linalg.norm(off)) <= near else None


def section_plane(a: ConvexShape, b: ConvexShape) -> FloatArray | None:
    """Return the plane in which the contact of a pair is that of its sections: rows (3, 3) a point of A's axis, the
    axis and a unit vector across it towards B's. None unless the axes are nearly parallel, and when both are balls."""
    if a.dim == 2:
        return None
    body_a, body_b = a.revolution, b.revolution
    if body_a is None or body_b is None or (body_a.axis is None and body_b.axis is None):
        return None
    axis = np.array(body_a.axis if body_a.axis is not None else body_b.axis)
    if _lean(a, b) > _CURVED_LEAN:
        return None
    origin = np.array(body_a.point)
    between = np.array(body_b.point) - origin
    sideways = between - float(between @ axis) * axis
    length = float(np.linalg.norm(sideways))
    side = across(axis)[0]
    if length > 4.0 * EPS * float(np.linalg.norm(between)):
        side = sideways / length
        side = side - float(side @ axis) * axis
        side = side / np.linalg.norm(side)
    return read_only(np.stack([origin, axis, side]))


def section_error(a: ConvexShape, b: ConvexShape, plane: FloatArray) -> float:
    """Return how much nearer or deeper a pair can be than its sections, world units: B's axis may be inclined, and its
    point off the plane by rounding."""
    assert b.revolution is not None
    between = np.array(b.revolution.point) - plane[0]
    off = between - float(between @ plane[1]) * plane[1] - float(between @ plane[2]) * plane[2]
    return float(np.linalg.norm(off)) + _lean(a, b) * b.extent


def _lean(a: ConvexShape, b: ConvexShape) -> float:
    """Return the sine between the axes of two bodies of revolution; 0.0 where one is a ball."""
    body_a, body_b = a.revolution, b.revolution
    if body_a is None or body_b is None or body_a.axis is None or body_b.axis is None:
        return 0.0
    return float(np.linalg.norm(np.cross(body_a.axis, body_b.axis)))


def section_of(shape: ConvexShape, plane: FloatArray) -> ConvexHull | Ellipsoid | None:
    """Return the section (coordinates along the axis and across it) of a core of revolution; None if it is unknown."""
    turned = shape.revolution
    if turned is None:
        return None
    origin, axis, side = plane
    begin = np.array(turned.point) - origin
    height, off = float(begin @ axis), float(begin @ side)
    if turned.ellipse is not None:
        return Ellipsoid.from_axes(np.array([height, off]), np.array(turned.ellipse), np.eye(2))
    if turned.profile is None:
        return None
    direction = 1.0 if turned.axis is None or float(np.array(turned.axis) @ axis) > 0.0 else -1.0
    return ConvexHull(
        [[height + direction * along, off + turn * out] for along, out in turned.profile for turn in (1.0, -1.0)]
    )


def in_space(plane: FloatArray, point: FloatArray, is_place: bool) -> FloatArray:
    """Return in space a point, or a direction, of the section plane."""
    origin, axis, side = plane
    result: FloatArray = point[0] * axis + point[1] * side
    return origin + result if is_place else result
