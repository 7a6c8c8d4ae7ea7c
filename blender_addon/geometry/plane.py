# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat meshes in one common plane, as shapes of that plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...core.compounds.compound import Compound
from ...core.decomposition.decompose_polygon import decompose_polygon
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.shapes.curved_shape import ConvexShape
from ...core.shapes.hull import ConvexHull
from ...core.shapes.polytope import Polytope
from ...core.shapes.rounded import Capsule, Circle, Rounded
from ...core.types import FloatArray
from ..data.collision_kinds import WORDS

STEPS = 72
"""Corners that a round shape is drawn with."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane in the world with a frame of its own."""

    point: FloatArray
    """(3,) its origin."""
    axes: FloatArray
    """(2, 3) unit vectors."""

    @property
    def normal(self) -> FloatArray:
        """(3,) unit vector."""
        return np.cross(self.axes[0], self.axes[1])

    def to_2d(self, points: FloatArray) -> FloatArray:
        """Return points (n, 2) of the plane's frame from points (n, 3) of the world."""
        return (points - self.point) @ self.axes.T

    def to_3d(self, points: FloatArray) -> FloatArray:
        """Return points (..., 3) of the world from points (..., 2) of the plane's frame."""
        return self.point + points @ self.axes

    @property
    def names(self) -> str:
        """What its two coordinates are called: x, y or z where they are those of the world, else u and v."""
        rows = self.axes.tolist()
        unit = np.eye(3).tolist()
        return "".join("xyz"[unit.index(row)] for row in rows) if all(row in unit for row in rows) else "uv"

    def off(self, points: FloatArray) -> float:
        """Return how far the farthest of points (n, 3) is from the plane."""
        return float(np.abs((points - self.point) @ self.normal).max(initial=0.0))


def plane_through(points: FloatArray, slack: float) -> Plane:
    """Return the plane that fits points (n, 3) best; a plane of the world's axes when they are within `slack` of it."""
    low, high = points.min(axis=0), points.max(axis=0)
    for axis in (2, 1, 0):
        if high[axis] - low[axis] <= slack:
            axes = np.eye(3)[[(axis + 1) % 3, (axis + 2) % 3]]
            return Plane(np.where(np.arange(3) == axis, 0.5 * (low + high), 0.0), axes)
    middle = 0.5 * (low + high)
    _, _, directions = np.linalg.svd(points - points.mean(axis=0), full_matrices=True)
    plane = Plane(middle, directions[:2])
    lift = float(((points - middle) @ plane.normal).mean())
    return Plane(middle + lift * plane.normal, directions[:2])


_DISABLE_2D = "Disable 2D to inspect the objects in space"


def common_plane(
    names: tuple[str, str], points: tuple[FloatArray, FloatArray], slack: float, length: Callable[[float], str]
) -> Plane:
    """Return the plane in which both sets of points (n, 3) lie. length: writes a length in the scene's units.

    Raises ValueError, with a sentence that names an object, when one is not flat or they lie in two planes.
    """
    for name, cloud in zip(names, points, strict=True):
        off = plane_through(cloud, slack).off(cloud)
        if off > slack:
            raise ValueError(f"'{name}' is not flat: it is up to {length(off)} off its plane. {_DISABLE_2D}")
    plane = plane_through(np.concatenate(points), slack)
    if max(plane.off(cloud) for cloud in points) > slack:
        off = plane_through(points[0], slack).off(points[1])
        raise ValueError(f"'{names[1]}' is up to {length(off)} off the plane of '{names[0]}'. {_DISABLE_2D}")
    return plane


def to_2d(name: str, kind: str, solid: Solid, mesh: Mesh | None, plane: Plane, slack: float) -> Solid:
    """Return the collision shape of an object in the plane.

    Raises ValueError, with a sentence that names the object, when its shape has no counterpart there.
    """
    if isinstance(solid, Compound | Mesh):
        if mesh is not None:
            return flat_pieces(mesh, plane)
        assert isinstance(solid, Compound)  # a compound parent: its children's shapes
        pieces = [to_2d(name, kind, piece, None, plane, slack) for piece in solid.pieces]
        return Compound([piece for piece in pieces if isinstance(piece, ConvexShape)])
    words = WORDS[kind]
    if isinstance(solid, Polytope):
        if plane.off(solid.vertices) > slack:
            raise ValueError(_not_in_plane(name, words))
        return ConvexHull(plane.to_2d(solid.vertices))
    if isinstance(solid, Rounded) and isinstance(solid.core, Polytope):
        ends = solid.core.vertices
        if plane.off(ends) <= slack:
            corners = plane.to_2d(ends)
            if solid.core.rank == 0:
                return Circle(corners[0], solid.radius)
            return Capsule(corners[0], corners[1], solid.radius)
        raise ValueError(_not_in_plane(name, words))
    raise ValueError(f"'{name}' cannot be a {words} in 2D: choose a convex hull, box, sphere or capsule. {_DISABLE_2D}")


def _not_in_plane(name: str, shape: str) -> str:
    return f"The {shape} of '{name}' does not lie in the plane of the two objects. {_DISABLE_2D}"


def flat_pieces(mesh: Mesh, plane: Plane) -> Compound:
    """Return convex polygons whose union is a flat mesh: of its outline where that is one loop, else its triangles."""
    points = plane.to_2d(mesh.points)
    edges = mesh.boundary_edges
    beside: dict[int, list[int]] = {}
    for i, j in edges.tolist():
        beside.setdefault(i, []).append(j)
        beside.setdefault(j, []).append(i)
    if edges.size and all(len(neighbours) == 2 for neighbours in beside.values()):
        loop = [int(edges[0, 0])]
        step: int | None = beside[loop[0]][0]
        while step not in (loop[0], None):
            loop.append(step)
            step = next((k for k in beside[step] if k != loop[-2]), None)
        if len(loop) == len(edges):
            try:
                return Compound([ConvexHull(piece) for piece in decompose_polygon(points[loop])])
            except ValueError:  # it crosses itself: its triangles are what it is
                pass
    return Compound([ConvexHull(points[corners]) for corners in mesh.triangles])


def to_3d(solid: Solid, plane: Plane) -> Solid:
    """Return a shape of the plane as one in space, to be drawn."""
    if isinstance(solid, Compound):
        pieces = [to_3d(piece, plane) for piece in solid.pieces]
        return Compound([piece for piece in pieces if isinstance(piece, ConvexShape)])
    if isinstance(solid, Polytope):
        corners = solid.vertices
    else:
        assert not isinstance(solid, Mesh)
        turn = 2.0 * np.pi * np.arange(STEPS) / STEPS
        corners = solid.supports(np.stack([np.cos(turn), np.sin(turn)], axis=1))
    return ConvexHull(plane.to_3d(corners))
