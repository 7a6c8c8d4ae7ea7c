# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh as a body: a solid or a bare surface, what is inside of it, and directions that turn with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot
from typing import TypeVar

import numpy as np

from ..progress import Progress
from ..shapes.quickhull import extreme_points
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross_last, spiral_directions
from .copies import welded_ids
from .joined import joined
from .mesh import Mesh
from .triangle_candidates import FEW_PAIRS
from .triangle_pairs import crossing_triangles
from .winding import contains, winding_numbers

_OPEN_VOLUME = 64.0
"""Times EPS, the area and the diagonal: closed meshes, and parts of them, of less volume enclose nothing."""
_MOST_PARTS = 32
"""Loose parts that are examined for room inside."""
_BESIDE = 1e-3
"""Times a triangle's size: how far beside it room inside is looked for."""
_MANY = 20_000
"""Corners of a mesh above which some of them are taken for its extremes."""
_EXTREMES = 256
"""Directions in which these are the farthest."""

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Body:
    """A mesh, and whether it stands for the solid inside of it."""

    mesh: Mesh
    """The surface: with corners joined where that closes it, and without copies of triangles. See `joined`."""
    solid: bool
    slit: float = 0.0
    """How far the surface may be from the mesh, because corners near each other were joined; world units."""
    given: Mesh | None = None
    """The mesh whose body it is, in some pose, where the surface lacks copies of triangles; else None."""

    @classmethod
    def of(cls, mesh: Mesh) -> Body:
        """Return the body of a mesh."""
        found = joined(mesh)
        given = None if mesh.first_copies is None else mesh
        if not found.is_closed:
            return cls(found.surface, False, given=given)
        if "solid" not in mesh.known:
            mesh.known["solid"] = _encloses(joined(mesh.original).surface)
        return cls(found.surface, mesh.known["solid"], found.slit, given)

    def named(self, triangles: IntArray) -> IntArray:
        """Return which triangles of the mesh whose body it is some of the surface are."""
        return triangles if self.given is None else self.given.given(triangles)

    def counted(self, triangles: IntArray) -> IntArray:
        """Return which triangles of the surface stand for some of the mesh whose body it is."""
        return triangles if self.given is None else self.given.counted(triangles)

    @cached_property
    def part_points(self) -> FloatArray:
        """(k, 3) a point of each loose part; of parts that begin in one place, one."""
        points = self.mesh.points.take(self.mesh.first_vertices, axis=0)
        return points[welded_ids(points) == np.arange(len(points))] if len(points) > 1 else points

    def _kept(self, name: str, make: Callable[[], _T]) -> _T:
        """Return what is the same for all bodies of the mesh, which is kept with it."""
        known = self.mesh.__dict__
        if name not in known:
            known[name] = make()
        found: _T = known[name]
        return found

    @property
    def frame(self) -> FloatArray:
        """(3, 3) unit vectors, as rows, that turn with the mesh: along the longest side and across the first of its
        largest triangles. The world's axes where no triangle has an area."""
        return self._kept("_frame", self._find_frame)

    def _find_frame(self) -> FloatArray:
        areas = self.mesh.local_areas
        triangle = self.mesh.triangles[int((areas >= areas.max() * (1.0 - 1e-6)).argmax())]
        p = self.mesh.points.take(triangle, axis=0)
        sides = np.roll(p, -1, axis=0) - p
        squares = (sides * sides).sum(axis=1)
        x = sides[int((squares >= squares.max() * (1.0 - 1e-6)).argmax())]
        z = cross_last(sides[0], sides[1])
        if not (length_of(x) > 0.0 and length_of(z) > 0.0):
            return np.eye(3)
        x, z = x / length_of(x), z / length_of(z)
        return np.array([x, cross_last(z, x), z])

    @cached_property
    def outward(self) -> float:
        """1.0 where triangles are counter-clockwise seen from outside, -1.0 where all are turned over."""
        return -1.0 if self.solid and self.mesh.original.volume < 0.0 else 1.0  # turned over where it is mirrored

    @property
    def size(self) -> float:
        """Diagonal of the box along the frame: the same in every pose."""
        return self._kept("_size", self._find_size)

    def _find_size(self) -> float:
        sides = (self.corners - self.mesh.bounds[0]) @ self.frame.T
        return length_of(sides.max(axis=0) - sides.min(axis=0))

    @cached_property
    def corners(self) -> FloatArray:
        """(k, 3) the points that triangles use."""
        used = np.zeros(len(self.mesh.points), dtype=np.bool_)
        used[self.mesh.triangles] = True
        return self.mesh.points if used.all() else self.mesh.points[used]

    @property
    def extremes(self) -> FloatArray:
        """(k, 3) the corners; of many those that are farthest in many directions, spread over the sphere."""
        return self._kept("_extremes", self._find_extremes)

    def _find_extremes(self) -> FloatArray:
        if len(self.corners) <= _MANY:
            return self.corners
        middle = 0.5 * self.mesh.bounds[0] + 0.5 * self.mesh.bounds[1]
        rows = np.ascontiguousarray((self.corners - middle).T)
        return self.corners.take(extreme_points(rows, spiral_directions(_EXTREMES) @ self.frame), axis=0)

    def contains(self, points: FloatArray, progress: Progress | None = None) -> BoolArray:
        """Return (k,) which points are inside the solid or on it; of a bare surface none."""
        result = np.zeros(len(points), dtype=np.bool_)
        if self.solid:
            low, high = self.mesh.bounds
            near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
            if len(near):
                result[near] = contains(points.take(near, axis=0), self.mesh, progress)
        return result

    def normals(self, triangles: IntArray) -> FloatArray:
        """Return (k, 3) unit normals of triangles, outward; zero where there is no area."""
        p, q, r = (self.mesh.points.take(self.mesh.triangles[triangles, k], axis=0) for k in range(3))
        u, v = q - p, r - p
        size = np.maximum(np.abs(u).max(axis=1), np.abs(v).max(axis=1))
        size[size == 0.0] = 1.0
        n = cross_last(u / size[:, None], v / size[:, None])
        length = np.sqrt((n * n).sum(axis=1))
        length[length == 0.0] = 1.0
        return n * (self.outward / length)[:, None]

    def translated(self, translation: FloatArray) -> Body:
        """Return the body moved by a vector (3,)."""
        mesh = self.mesh
        mesh.bounds, mesh.tree, mesh.first_vertices  # noqa: B018  # computed once, then moved along
        return replace(self, mesh=mesh.translated(translation))


def _encloses(mesh: Mesh) -> bool:
    """Return whether there is room inside a closed mesh, however its parts are wound."""
    # A thin one has little volume but little area, too; what rounding makes of none is in proportion to that.
    room = _OPEN_VOLUME * EPS * mesh.local_area * (mesh.extent / mesh.unit if mesh.unit else 0.0)
    if abs(mesh.local_volumes.sum()) > room:
        return True
    parts = mesh.loose_parts
    contents = np.bincount(parts, mesh.local_volumes)
    if np.abs(contents).max() <= room:
        return False
    # Parts wound against each other: where one is in the place of the other, nothing is left inside.
    order = np.lexsort((-mesh.local_areas, parts))
    largest = order.take(np.flatnonzero(np.diff(parts.take(order), prepend=-1)))
    thickest = np.argsort(-np.abs(contents), kind="stable")[:_MOST_PARTS]
    largest = largest.take(thickest[np.abs(contents).take(thickest) > room])
    p, q, r = mesh.local_corners.take(largest, axis=2)
    across = cross_last((q - p).T, (r - p).T)
    across *= _BESIDE / np.sqrt(np.sqrt((across * across).sum(axis=1)))[:, None]
    middles = mesh.points.take(mesh.triangles.take(largest, axis=0), axis=0).mean(axis=1)
    beside = np.concatenate([middles + mesh.unit * across, middles - mesh.unit * across])
    return bool((np.abs(winding_numbers(beside, mesh).numbers) > 0.5).any())


def are_disjoint(a: Body, b: Body) -> bool:
    """Return whether no triangle meets another and no part of one is inside the other. Exact."""
    (low, high), (other_low, other_high) = a.mesh.bounds, b.mesh.bounds
    if (low > other_high).any() or (other_low > high).any():
        return True
    if len(a.mesh.triangles) * len(b.mesh.triangles) > FEW_PAIRS:
        a.mesh.tree, b.mesh.moved_tree  # noqa: B018  # crossing_triangles uses trees that have been built
    return not len(crossing_triangles(a.mesh, b.mesh)) and not are_nested(a, b)


def are_nested(a: Body, b: Body) -> bool:
    """Return whether a part of one is inside the other, of two whose triangles do not meet. Exact."""
    return bool(a.contains(b.part_points).any() or b.contains(a.part_points).any())


def length_of(vector: FloatArray) -> float:
    """Return the length of a vector; it neither overflows nor vanishes."""
    return hypot(*vector.tolist())
