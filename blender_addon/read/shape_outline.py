# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes as points and lines, for drawing and for looking at them: no Blender, no GPU."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

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
"""Cosine of the angle between two triangles of a mesh from which on the edge between them is always drawn in full."""
BENT = float(np.cos(np.radians(2.0)))
"""The same for an edge that is drawn fading where edges lie close together on screen."""
MOST_EDGES = 20_000
"""Edges of a mesh that are drawn at most, the sharpest."""

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
        ring = _ring(shape.start, *across(shape.axis), shape.rim)[::3]
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
        bottom = _ring(shape.start, u, v, shape.rim)
        if isinstance(shape, Cone):
            return [bottom, *_lines(bottom, np.tile(shape.end, (STEPS + 1, 1)))]
        top = _ring(shape.end, u, v, shape.rim)
        return [bottom, top, *_lines(bottom, top)]
    if isinstance(shape, Ellipsoid):
        axes = shape.axes * shape.semi[:, None]
        return [_ring(shape.middle, axes[i], axes[j], 1.0) for i, j in ((0, 1), (1, 2), (2, 0))]
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


def bent_edges(mesh: Mesh) -> tuple[FloatArray, FloatArray]:
    """Return the edges (k, 2, 3) of a mesh that show its form, and how wide (k,) the surface beside each smooth one is.

    Those where it ends or bends much have the width 0; a smooth one has it as a part of its length. What lies in a
    plane is left out.
    """
    corners = mesh.points[mesh.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    sides = np.sort(np.concatenate([mesh.triangles[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))]), axis=1)
    face = np.tile(np.arange(len(mesh.triangles)), 3)
    order = np.lexsort((sides[:, 1], sides[:, 0]))
    sides, face = sides[order], face[order]
    first = np.flatnonzero(np.diff(sides, axis=0, prepend=-1).any(axis=1))
    count = np.diff(np.append(first, len(sides)))
    flat = np.full(len(first), -1.0)  # an edge of one triangle, or of three and more, is always drawn
    wide = np.zeros(len(first))
    two = np.flatnonzero(count == 2)
    left, right = face[first[two]], face[first[two] + 1]
    flat[two] = np.abs(np.einsum("ij,ij->i", normals[left], normals[right]))
    chosen = np.flatnonzero(flat < BENT)
    chosen = chosen[np.argsort(flat[chosen], kind="stable")][:MOST_EDGES]
    edges: FloatArray = mesh.points[sides[first]]
    vectors = edges[:, 1] - edges[:, 0]
    squares = np.maximum(np.einsum("ij,ij->i", vectors, vectors), np.finfo(float).tiny)
    wide[two] = 0.5 * np.minimum(lengths[left], lengths[right]) / squares[two]
    wide[flat < SHARP] = 0.0
    return edges[chosen], wide[chosen]


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
