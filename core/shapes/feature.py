# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices, edges and faces: the parts of a shape that take part in a contact."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import atan2

from ..types import FloatArray
from .polytope import Polytope


class FeatureKind(StrEnum):
    """Kind of a feature of a shape."""

    VERTEX = "vertex"
    EDGE = "edge"
    FACE = "face"


@dataclass(frozen=True)
class Feature:
    """One vertex, edge or face of a shape, identified by indices into the shape's `vertices`."""

    kind: FeatureKind
    vertices: tuple[int, ...]
    """One index for a vertex, two for an edge (ascending), three or more for a face: its outline, in cyclic order,
    counter-clockwise seen from outside of the shape."""


# Looking up a member of an enumeration costs more than the arithmetic here.
_VERTEX, _EDGE, _FACE = FeatureKind


def support_feature(shape: Polytope, direction: FloatArray, width: float) -> Feature:
    """Return the vertex, edge or face of `shape` that is extreme along the unit `direction` (dim,). Source: S2.3.

    It is made of all vertices within `width` (world units) of the support plane. Vertices no farther apart than that
    count as one, and a face no wider than that as an edge. A face is ordered counter-clockwise seen from the tip of the
    direction, beginning at its lowest index; in the plane it is a low corner with its neighbours. Arguments are not
    checked: this is an inner step of `contact`.
    """
    heights = shape._centred.dot(direction)
    indices = (heights >= heights[heights.argmax()] - width).nonzero()[0].tolist()
    if len(indices) == 1:
        return Feature(_VERTEX, (indices[0],))
    rows = shape._rows
    ax, ay, az = rows[indices[0]]
    apart = [(x - ax, y - ay, z - az) for x, y, z in (rows[i] for i in indices)]
    squares = [x * x + y * y + z * z for x, y, z in apart]
    length2 = max(squares)
    if length2 <= width * width:
        return Feature(_VERTEX, (indices[0],))
    ux, uy, uz = apart[squares.index(length2)]
    for x, y, z in apart:
        x, y, z = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
        if x * x + y * y + z * z > width * width * length2:  # mutant: support-no-faces
            return Feature(_FACE, _order_face(indices, apart, direction))
    return Feature(_EDGE, (indices[0], indices[squares.index(length2)]))


def _order_face(indices: list[int], places: list[tuple[float, float, float]], direction: FloatArray) -> tuple[int, ...]:
    """Return the vertices of a face counter-clockwise; `places` are their positions relative to the first of them."""
    nx, ny, nz = direction.tolist() if len(direction) == 3 else (0.0, 0.0, 1.0)
    count = len(indices)
    if count > 4:
        return _order_by_angle(indices, places, (nx, ny, nz))
    # Turns from one vertex to the next, seen from the first: twice the areas of triangles, on triangles and
    # quadrangles several times as fast as angles.
    _, (ax, ay, az), (bx, by, bz), *last = places
    turn_ab = nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx)
    if count == 3:
        i, j, k = indices
        return (i, j, k) if turn_ab > 0.0 else (i, k, j)  # mutant: support-triangle-wound-backwards
    cx, cy, cz = last[0]
    turn_bc = nx * (by * cz - bz * cy) + ny * (bz * cx - bx * cz) + nz * (bx * cy - by * cx)
    turn_ac = nx * (ay * cz - az * cy) + ny * (az * cx - ax * cz) + nz * (ax * cy - ay * cx)
    i, j, k, m = indices
    # The corners of a convex quadrangle are all on one side of its sides: the middle one of j, k, m is opposite i.
    if turn_ab * turn_bc > 0.0:
        return (i, j, k, m) if turn_ab > 0.0 else (i, m, k, j)
    if turn_ab * turn_ac < 0.0:
        return (i, k, j, m) if turn_ab < 0.0 else (i, m, j, k)
    if turn_ac * turn_bc < 0.0:
        return (i, j, m, k) if turn_ac > 0.0 else (i, k, m, j)
    return _order_by_angle(indices, places, (nx, ny, nz))


def _order_by_angle(
    indices: list[int], places: list[tuple[float, float, float]], direction: tuple[float, float, float]
) -> tuple[int, ...]:
    """Return the same for any number of vertices, by their angle about an inner point."""
    # Drop the coordinate along which the face is seen most nearly from the front.
    dropped = max((2, 0, 1), key=lambda axis: abs(direction[axis]))
    flat = [(place[dropped - 2], place[dropped - 1]) for place in places]
    mean_u, mean_v = sum([u for u, _ in flat]) / len(flat), sum([v for _, v in flat]) / len(flat)
    turns = [(atan2(v - mean_v, u - mean_u), i) for (u, v), i in zip(flat, indices, strict=True)]
    order = [i for _, i in sorted(turns)]
    if direction[dropped] < 0.0:
        order.reverse()
    start = order.index(indices[0])
    return tuple(order[start:] + order[:start])
