# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bodies of revolution about one axis: their contact is that of their sections through it, a problem in the plane.

In a direction of the plane a body reaches as far as its section, and in every other direction as far as in the one
that leans as much. So the sections have the same signed distance, and where they are polygons it is exact. Without this
a cylinder around a ball, say, would have to be told in all directions around that it is no nearer.
"""

from __future__ import annotations

import numpy as np

from .curved_shape import ConvexShape, CurvedShape, across
from .hull import ConvexHull
from .polytope import FloatArray, Polytope
from .tolerance import CURVED_AXIS, EPS


def common_axis(a: ConvexShape, b: ConvexShape) -> FloatArray | None:
    """Return the axis about which a pair can be turned without changing: rows (3, 3) origin, axis and a way across it.

    None when there is none; of balls about one point, and in the plane, (0, dim).
    """
    if isinstance(a, Polytope) or isinstance(b, Polytope):
        return None
    one, other = a.revolution, b.revolution
    if one is None or other is None:
        return None
    p, between = np.array(one.point), np.array(other.point) - np.array(one.point)
    near = CURVED_AXIS * min(a.extent, b.extent) + EPS * max(a.magnitude, b.magnitude)
    if one.axis is None and other.axis is None:
        if float(np.abs(between).max()) <= near:
            return np.zeros((0, len(p)))
        if len(p) == 2:
            return None
        axis = between / np.abs(between).max()
        axis = axis / np.linalg.norm(axis)
        return np.stack([p, axis, across(axis)[0]])
    if len(p) == 2:
        return None
    axis = np.array(one.axis if one.axis is not None else other.axis)
    both = one.axis is not None and other.axis is not None
    if both and float(np.linalg.norm(np.cross(axis, np.array(other.axis)))) > CURVED_AXIS:
        return None
    off = between - float(between @ axis) * axis
    return np.stack([p, axis, across(axis)[0]]) if float(np.linalg.norm(off)) <= near else None


def section_of(shape: CurvedShape, frame: FloatArray) -> ConvexHull | None:
    """Return the section (in the plane: along the axis, across it) of a core of revolution; None if no polygon."""
    turned = shape.revolution
    if turned is None or turned.profile is None:
        return None
    origin, axis, _ = frame
    begin = float((np.array(turned.point) - origin) @ axis)
    way = 1.0 if turned.axis is None or float(np.array(turned.axis) @ axis) > 0.0 else -1.0
    return ConvexHull([[begin + way * along, side * out] for along, out in turned.profile for side in (1.0, -1.0)])


def in_space(frame: FloatArray, point: FloatArray, is_place: bool) -> FloatArray:
    """Return a point, or a direction, of the plane of the section in space."""
    origin, axis, side = frame
    result: FloatArray = point[0] * axis + point[1] * side
    return origin + result if is_place else result
