# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes as points and lines, for drawing and for looking at them: no Blender, no GPU."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...core.compounds.compound import Compound
from ...core.meshes.mesh import Mesh
from ...core.shapes.curved_shape import ConvexShape, across
from ...core.shapes.cylinder import Cone, Cylinder
from ...core.shapes.ellipsoid import Ellipsoid
from ...core.shapes.hull import ConvexHull
from ...core.shapes.polytope import Polytope
from ...core.shapes.rounded import Rounded
from ...core.types import FloatArray

STEPS = 72
"""Straight pieces of a full circle; a multiple of 24."""
SIDES = 8
"""Lines along the side of a cylinder, a cone or a capsule."""
DIRECTIONS = 256
"""Directions in which points of a curved surface are looked for."""

SHARP = float(np.cos(np.radians(30.0)))
"""Cosine of the angle between two faces from which on the edge between them is a crease, seen from anywhere."""
FLAT = float(np.cos(np.radians(0.1)))
"""The same for an edge that is never seen: its faces are in one plane."""
MOST_EDGES = 30_000
"""Edges of a mesh that are drawn at most; of a mesh with more, only the sharpest creases."""

_stand_ins: WeakKeyDictionary[ConvexShape | Mesh, Polytope] = WeakKeyDictionary()


def stand_in(shape: ConvexShape | Compound | Mesh) -> Polytope:
    """Return a polytope to look at instead of a shape: itself, or the hull of points of its surface."""
    if isinstance(shape, Compound):
        shape = shape.hull
    if isinstance(shape, Polytope):
        return shape
    if shape not in _stand_ins:
        points = [shape.points] if isinstance(shape, Mesh) else [shape.supports(_spread()), *wires(shape)]
        _stand_ins[shape] = ConvexHull(np.concatenate(points))
    return _stand_ins[shape]


def surface_points(shape: ConvexShape) -> FloatArray:
    """Return some hundred points (n, 3) of a shape's surface, the extreme ones and those between them."""
    if isinstance(shape, Polytope):
        corners = [shape.vertices[facet] for facet in shape.facets] or [shape.vertices]
        found = [shape.vertices]
        for corner in corners:
            middle = corner.mean(axis=0)
            found += [middle + fraction * (corner - middle) for fraction in (0.0, 0.25, 0.5, 0.75)]
            found += [0.5 * (corner + np.roll(corner, -1, axis=0))]
        return np.concatenate(found)
    found = [shape.supports(_spread()), *wires(shape)]
    if isinstance(shape, Cylinder | Cone):
        ring = _ring(shape.start, *across(shape.axis), shape.radius)[::3]
        ends = [shape.start] if isinstance(shape, Cone) else [shape.start, shape.end]
        for end in ends:  # flat ends
            found += [end + fraction * (ring - shape.start) for fraction in (0.0, 1.0 / 3.0, 2.0 / 3.0)]
        for fraction in (0.25, 0.5, 0.75):
            shrink = 1.0 - fraction if isinstance(shape, Cone) else 1.0
            found.append(shape.start + fraction * (shape.end - shape.start) + shrink * (ring - shape.start))
    return np.concatenate(found)


def wires(shape: ConvexShape) -> list[FloatArray]:
    """Return lines (k, 3) that show a curved shape: rings, and lines along its side."""
    if isinstance(shape, Cylinder | Cone):
        u, v = across(shape.axis)
        bottom = _ring(shape.start, u, v, shape.radius)
        if isinstance(shape, Cone):
            return [bottom, *_lines(bottom, np.tile(shape.end, (STEPS + 1, 1)))]
        top = _ring(shape.end, u, v, shape.radius)
        return [bottom, top, *_lines(bottom, top)]
    if isinstance(shape, Ellipsoid):
        axes = shape.axes * shape.semi_axes[:, None]
        return [_ring(shape.center, axes[i], axes[j], 1.0) for i, j in ((0, 1), (1, 2), (2, 0))]
    if isinstance(shape, Rounded) and shape.skeleton is not None and shape.dim == 3:
        corners = shape.skeleton.vertices
        if shape.skeleton.rank == 0:
            x, y, z = np.eye(3)
            return [_ring(corners[0], u, v, shape.radius) for u, v in ((x, y), (y, z), (z, x))]
        if shape.skeleton.rank == 1:
            axis = corners[1] - corners[0]
            axis = axis / np.linalg.norm(axis)
            u, v = across(axis)
            bottom, top = (_ring(corner, u, v, shape.radius) for corner in corners)
            half = STEPS // 2 + 1
            caps = [
                _ring(corner, side, sign * axis, shape.radius)[:half]
                for corner, sign in ((corners[0], -1.0), (corners[1], 1.0))
                for side in (u, v)
            ]
            return [bottom, top, *caps, *_lines(bottom, top, 4)]
    if isinstance(shape, Polytope):
        return [shape.vertices[edge] for edge in shape.edges]
    hull = ConvexHull(shape.supports(_spread()))
    return [hull.vertices[edge] for edge in hull.edges]


def fan(polygon: FloatArray) -> FloatArray:
    """Return the triangles (t, 3, 3) of a convex polygon (n, 3), all from its first corner."""
    return np.stack([np.broadcast_to(polygon[0], polygon[2:].shape), polygon[1:-1], polygon[2:]], axis=1)


def loop(polygon: FloatArray) -> FloatArray:
    """Return the sides (n, 2, dim) of a polygon (n, dim), or the one line between two corners."""
    sides = np.stack([polygon, np.roll(polygon, -1, axis=0)], axis=1)
    return sides[:1] if len(polygon) == 2 else sides


def rectangle(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the corners (4, 2) of a rectangle between two points (2,); of an interval (1,) both ends (2, 1)."""
    return np.array([low, high] if len(low) == 1 else [low, (high[0], low[1]), high, (low[0], high[1])])


def edges_and_sides(shape: Polytope | Mesh) -> tuple[FloatArray, FloatArray]:
    """Return the edges (k, 2, 3) of a shape that are not flat, and the unit normals (k, 2, 3) of the faces beside each.

    Where it ends, or where more than two faces meet, the normals are 0.
    """
    if isinstance(shape, Mesh):
        return mesh_edges(shape.points, shape.triangles)
    edges: FloatArray = shape.vertices[shape.edges]
    if len(shape.edge_facets) != len(edges):  # a segment
        return edges, np.zeros_like(edges)
    return edges, shape.normals[shape.edge_facets]


def mesh_edges(points: FloatArray, triangles: NDArray[np.integer[Any]]) -> tuple[FloatArray, FloatArray]:
    """Return `edges_and_sides` of a mesh: points (n, 3), triangles (t, 3), which may be wound either way."""
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    normals /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
    ends = np.concatenate([triangles[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))]).astype(np.int64)
    low, high = ends.min(axis=1), ends.max(axis=1)
    order = np.argsort(low * len(points) + high, kind="stable")
    face, is_along = np.tile(np.arange(len(triangles)), 3)[order], (ends[:, 0] == low)[order]
    low, high = low[order], high[order]
    first = np.flatnonzero((np.diff(low, prepend=-1) != 0) | (np.diff(high, prepend=-1) != 0))
    two = np.flatnonzero(np.diff(np.append(first, len(order))) == 2)
    left, right = first[two], first[two] + 1
    # Both faces run along an edge in opposite directions, unless one of them is wound the other way.
    same = np.where(is_along[left] == is_along[right], -1.0, 1.0)
    sides = np.zeros((len(first), 2, 3))
    sides[two, 0], sides[two, 1] = normals[face[left]], same[:, None] * normals[face[right]]
    bend = np.einsum("ij,ij->i", sides[:, 0], sides[:, 1])
    chosen = np.flatnonzero(bend < FLAT)
    if len(chosen) > MOST_EDGES:
        chosen = chosen[bend[chosen] < SHARP]
        chosen = chosen[np.argsort(bend[chosen], kind="stable")][:MOST_EDGES]
    return points[np.stack([low, high], axis=1)[first[chosen]]], sides[chosen]


def _ring(middle: FloatArray, u: FloatArray, v: FloatArray, radius: float) -> FloatArray:
    turn = np.linspace(0.0, 2.0 * np.pi, STEPS + 1)[:, None]
    return middle + radius * (np.cos(turn) * u + np.sin(turn) * v)


def _lines(bottom: FloatArray, top: FloatArray, count: int = SIDES) -> list[FloatArray]:
    return [np.stack([bottom[k], top[k]]) for k in range(0, STEPS, STEPS // count)]


def _spread() -> FloatArray:
    """Unit directions (DIRECTIONS, 3) evenly around: a Fibonacci spiral."""
    turn = np.arange(DIRECTIONS) + 0.5
    height, angle = 1.0 - 2.0 * turn / DIRECTIONS, np.pi * (1.0 + 5.0**0.5) * turn
    radius = np.sqrt(1.0 - height * height)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
