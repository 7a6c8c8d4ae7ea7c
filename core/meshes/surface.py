# SPDX-License-Identifier: GPL-3.0-or-later
"""A surface of triangles in space, closed or open, with whatever faults: all of a mesh but what is inside of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_length, as_points, validate_magnitude
from ..bounding.bounding_volumes import volumes_of_triangles
from ..bounding.kdop import KDops
from ..connected import connected_parts
from ..hierarchy.bvh import Bvh
from ..hierarchy.linear import linear_layout
from ..hierarchy.nodes import Layout, enclosing_boxes, scaled_boxes, tree_centers
from ..hierarchy.tree_pairs import find_pairs
from ..progress import Progress
from ..runs import chunks
from ..shapes.enclosing_sphere import enclosing_diameter
from ..shapes.orientation import signs_of_areas
from ..shapes.polytope import PRODUCTS
from ..shapes.shape import Shape, counted
from ..tolerance import EPS, ORIENTATION_FILTER, promised
from ..types import BoolArray, FloatArray, IntArray, read_only
from ..vectors import cross, dot
from .coordinates import corner_rows, scale_exponent, scale_points
from .copies import first_copies, welded_ids
from .near_points import near_clusters

_BATCH = 1 << 14
_ROW = 64  # points
_FLAT = 1e-9
"""Relative: a matrix of no larger determinant presses what it transforms flat."""

_S = TypeVar("_S", bound="Surface")


@dataclass(frozen=True, eq=False, repr=False)
class Surface(Shape):
    """A surface of triangles in space, world frame; see `Mesh`."""

    without_vertices = "is not convex: use contact(a, b), or ConvexHull(mesh.points)"
    points: FloatArray
    """(n, 3) the vertices; some may belong to no triangle."""
    triangles: IntArray
    """(m, 3) three vertex numbers each; counter-clockwise seen from outside, where there is an outside."""
    resolution: float = 0.0
    """How far apart points of one corner may be, because coordinates were rounded before they became numbers of double
    precision; in the unit of the coordinates, those of `original`. See `margin`."""

    def __post_init__(self) -> None:
        """Check and copy what was given."""
        points = as_points("points", self.points, 3)
        if not len(points):
            raise ValueError("points: at least one point expected, got none")
        # Row by row in memory, or numpy would copy all of them to take a few.
        object.__setattr__(self, "points", read_only(np.array(points, order="C")))
        for corner in self.reach:
            validate_magnitude("points", corner)
        object.__setattr__(
            self, "triangles", read_only(np.array(_as_triangles(self.triangles, len(points)), order="C"))
        )
        object.__setattr__(self, "resolution", as_length("resolution", self.resolution))

    @property
    def dim(self) -> int:
        """Dimension of the points: 3."""
        return 3

    @property
    def _parts(self) -> list[str]:
        points, triangles = len(self.points), len(self.triangles)
        return [counted(points, "point", "points"), counted(triangles, "triangle", "triangles"), self._box_words]

    @property
    def _used_points(self) -> FloatArray:
        """The points (n, 3) that triangles use."""
        used = np.zeros(len(self.points), dtype=np.bool_)
        used[self.triangles] = True
        return self.points if used.all() else self.points[used]

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates (3,) of the points that triangles use."""
        columns = np.ascontiguousarray(self._used_points.T)
        return read_only(columns.min(axis=1)), read_only(columns.max(axis=1))

    @cached_property
    def reach(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates (3,) of all points, those that no triangle uses included: faster to get."""
        low, high = _lowest_highest(self.points)
        return read_only(low), read_only(high)

    def _diameter(self) -> float:
        return enclosing_diameter(self._used_points)

    @cached_property
    def area(self) -> float:
        """Area of all triangles together, one side of each."""
        return self.local_area * self.unit * self.unit  # not a power: it raises where this is infinite

    @cached_property
    def volume(self) -> float:
        """Volume inside a closed mesh: positive where its triangles are counter-clockwise seen from outside.

        Where the mesh overlaps itself parts count several times. Of a mesh that is not closed it is the volume between
        it and the middle of its box, which means little.
        """
        return float(self.local_volumes.sum()) * self.unit * self.unit * self.unit

    @cached_property
    def centroid(self) -> FloatArray:
        """Centre of mass (3,): of the solid when the mesh is closed and has a volume, else of the surface, else of the
        box."""
        columns, (low, high) = self.local_corners, self.bounds
        middle = 0.5 * low + 0.5 * high
        size = self.extent / self.unit if self.unit else 0.0
        if self.is_closed and abs(self.local_volumes.sum()) > 64.0 * EPS * size**3:
            weights, parts = self.local_volumes, 4.0
        elif self.local_area > 64.0 * EPS * size**2:
            weights, parts = self.local_areas, 3.0
        else:
            return read_only(middle)
        total = float(weights.sum())
        return read_only(middle + self.unit * (columns.sum(axis=0) @ weights) / (parts * total))

    @property
    def original(self: _S) -> _S:
        """The mesh that this one was moved, scaled or transformed from, at first; itself where it was not.

        It is kept as long as the mesh. What is the same for both is made once, of the original: edges, loose parts,
        which triangles stand together in the tree, and `known`.
        """
        return self.__dict__.get("_original", self)

    @property
    def is_turned(self) -> bool:
        """Whether triangles name their corners the other way round than those of the original: it was mirrored."""
        theirs = self.original.triangles
        return self.triangles is not theirs and not np.array_equal(self.triangles, theirs)

    @property
    def margin(self) -> float:
        """How far apart corners may be that count as one where that closes the mesh: as far as the promise allows an
        answer to be wrong, or the resolution of the coordinates. In the unit of the coordinates of `original`."""
        original = self.original
        return max(promised(0.0, original.extent, original.magnitude), original.resolution)

    @property
    def first_copies(self) -> IntArray | None:
        """(m,) for each triangle the number of the first one in its place, wound alike; None where no two are."""
        known = self.known
        if "first copies" not in known:
            known["first copies"] = first_copies(self.original.points, self.original.triangles)
        found: IntArray | None = known["first copies"]
        return found

    @property
    def without_copies(self: _S) -> _S:
        """The mesh with the first of the triangles in one place, wound alike; itself where no two are. Winding numbers
        and volumes of it are the same, unless all triangles have the same number of copies."""
        first = self.first_copies
        if first is None:
            return self
        if "_without_copies" not in self.__dict__:
            chosen, counts = np.unique(first, return_counts=True)
            if self.original is self:
                result = self.some_of(chosen)
                result.__dict__["_times"] = counts if (counts != counts[0]).any() else None
                result.known["first copies"] = None
            else:
                original = self.original.without_copies
                result = original._posed(self.points, self.triangles.take(chosen, axis=0))
            self.__dict__["_without_copies"] = result
        found: _S = self.__dict__["_without_copies"]
        return found

    def given(self, triangles: IntArray) -> IntArray:
        """Return which triangles of the mesh some of `without_copies` are."""
        first = self.first_copies
        return triangles if first is None else np.unique(first).take(triangles)

    def counted(self, triangles: IntArray) -> IntArray:
        """Return the triangles of `without_copies` that stand for some of the mesh."""
        first = self.first_copies
        return triangles if first is None else np.unique(first).searchsorted(first.take(triangles))

    @property
    def times(self) -> IntArray | None:
        """(m,) how often each triangle counts in winding numbers and volumes; None where each counts once."""
        return self.original.__dict__.get("_times")

    @property
    def known(self) -> dict[str, Any]:
        """What was found out about the original by others and is true of all meshes transformed from it, by name."""
        return self.original.__dict__.setdefault("_known", {})

    @cached_property
    def tree(self) -> Bvh:
        """Tree of the axis-aligned boxes of the triangles, to be descended with `overlapping_pairs`."""
        if "_moved_tree" in self.__dict__:
            return translated_tree(*self.moved_tree)
        volumes = volumes_of_triangles("aabb", self.points, self.triangles)
        is_new = self.original is self and "layout" not in self.__dict__
        tree = Bvh.build(volumes) if is_new else Bvh.around(self.layout, volumes)
        return replace(tree, kept_item_volumes=None)

    @property
    def moved_tree(self) -> tuple[Bvh, FloatArray]:
        """A tree, and the step (3,) by which all boxes of it are moved to be those of `tree`."""
        if "tree" in self.__dict__ or "_moved_tree" not in self.__dict__:
            return self.tree, np.zeros(3)
        found: tuple[Bvh, FloatArray] = self.__dict__["_moved_tree"]
        return found

    @cached_property
    def layout(self) -> Layout:
        """The nodes of `tree` without their boxes: those of the original."""
        if self.original is not self:
            return self.original.layout
        if self.has_tree:
            return self.tree
        low, high = scaled_boxes(*enclosing_boxes(volumes_of_triangles("aabb", self.points, self.triangles)))
        return linear_layout(tree_centers(low, high), 1)

    @cached_property
    def edges(self) -> IntArray:
        """(e, 2) the edges, the smaller vertex number first, in ascending order; triangles that name a vertex twice
        have none."""
        return read_only(self._edge_table()[0]) if self.original is self else self.original.edges

    @cached_property
    def boundary_edges(self) -> IntArray:
        """(k, 2) the edges of one triangle only: where an open surface ends."""
        edges, uses = self._odd_edges
        return read_only(edges[uses == 1])

    @cached_property
    def nonmanifold_edges(self) -> IntArray:
        """(k, 2) the edges of three or more triangles."""
        edges, uses = self._odd_edges
        return read_only(edges[uses > 2])

    @cached_property
    def flipped_edges(self) -> IntArray:
        """(k, 2) the edges of two triangles that run along it in the same direction: one of them is turned over."""
        edges, uses = self._odd_edges
        return read_only(edges[uses == 2])

    @cached_property
    def is_closed(self) -> bool:
        """Whether the mesh encloses a solid: every edge is of exactly two triangles, in opposite directions."""
        return not len(self._odd_edges[0]) and bool(_have_three_corners(self.triangles).any())

    @cached_property
    def duplicate_faces(self) -> IntArray:
        """(k,) triangles with the same three vertices as one before, whichever way round."""
        if self.original is not self:
            return self.original.duplicate_faces
        corners = np.sort(self.triangles, axis=1)
        order = np.lexsort((np.arange(len(corners)), corners[:, 2], corners[:, 1], corners[:, 0]))
        ranked = corners.take(order, axis=0)
        again = (ranked[1:] == ranked[:-1]).all(axis=1)
        return read_only(np.sort(order[1:][again]))

    @cached_property
    def degenerate_faces(self) -> IntArray:
        """(k,) triangles without area, exactly: their corners are on one line, or two of them are one point."""
        points = scale_points(self.points, scale_exponent(self.magnitude))
        parts = chunks(len(self.triangles), _BATCH)
        return read_only(np.flatnonzero(np.concatenate([have_no_area(points, self.triangles[p]) for p in parts])))

    @cached_property
    def loose_parts(self) -> IntArray:
        """(m,) the number of the connected part that each triangle belongs to, 0 for that of triangle 0, and so on.

        Triangles are connected where they name the same vertex; see `welded` for meshes with doubled vertices.
        """
        if self.original is not self:
            return self.original.loose_parts
        return read_only(connected_triangles(self.triangles, len(self.points)))

    @cached_property
    def first_vertices(self) -> IntArray:
        """(k,) a vertex of each loose part."""
        if self.original is not self:
            return self.original.first_vertices
        _, first = np.unique(_part_vertices(self.triangles, len(self.points)), return_index=True)
        return read_only(self.triangles[:, 0].take(np.sort(first)))

    def named(self: _S, ids: IntArray) -> _S:
        """Return the mesh with triangles that name for each corner another point, ids[corner] (n,)."""
        result = type(self)(self.points, ids.take(self.triangles), self.resolution)
        result.__dict__["_times"] = self.times
        return result

    @property
    def with_common_corners(self: _S) -> _S:
        """The mesh of which corners in one place have one number; itself where no two are in one place."""
        ids = self.welded_ids
        return self if np.array_equal(ids, np.arange(len(ids))) else self.named(ids)

    def some_of(self: _S, triangles: IntArray) -> _S:
        """Return the mesh of some triangles (k,), with all points."""
        result = type(self)(self.points, self.triangles.take(triangles, axis=0), self.resolution)
        result.__dict__["_times"] = None if self.times is None else self.times.take(triangles)
        return result

    def welded(self: _S, distance: float = 0.0) -> _S:
        """Return the mesh with points no farther apart than a distance merged; triangles keep their order.

        distance: world units, >= 0. By default only points of exactly the same coordinates are merged. Of a chain of
        points, each no farther from the next than the distance, all become the one with the least index, in its place.

        Raise ValueError when the distance is negative or not finite.

        >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1.000001]]
        >>> torn = Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 4]])
        >>> torn.is_closed, torn.welded().is_closed, torn.welded(2e-6).is_closed
        (False, False, True)
        """
        ids = near_clusters(self.points, as_length("distance", distance))[0]
        used, place = np.unique(ids, return_inverse=True)
        return type(self)(self.points.take(used, axis=0), place.ravel().take(self.triangles), self.resolution)

    def split(self: _S) -> list[_S]:
        """Return the loose parts as meshes of their own, in order."""
        order = np.argsort(self.loose_parts, kind="stable")
        ends = np.flatnonzero(np.diff(self.loose_parts.take(order))) + 1
        result = []
        for group in np.split(self.triangles.take(order, axis=0), ends):
            used, place = np.unique(group, return_inverse=True)
            result.append(type(self)(self.points.take(used, axis=0), place.reshape(-1, 3), self.resolution))
        return result

    def _translated(self: _S, step: FloatArray) -> _S:
        """Return the surface moved. Bounds and a tree that are known stay known."""
        result = self._posed(self.points + step, self.triangles)
        # Sums are rounded alike, so these are exactly what the moved points would give.
        if "bounds" in self.__dict__:
            result.__dict__["bounds"] = tuple(read_only(corner + step) for corner in self.bounds)
        if self.has_tree:
            result.__dict__["_moved_tree"] = self.tree, step
        return result

    def _scaled(self: _S, factor: float) -> _S:
        return self._posed(self.points * factor, self.triangles)

    def _transformed(self: _S, linear: FloatArray, offset: FloatArray) -> _S:
        # A reflection turns the triangles over, so that their normals stay outward.
        content = np.linalg.det(linear)
        triangles = self.triangles[:, ::-1] if content < 0.0 else self.triangles
        points = self.points @ linear.T + offset
        if abs(content) <= _FLAT * np.abs(linear).max() ** 3:
            return type(self)(points, triangles)  # pressed flat: no longer the same but for its place
        return self._posed(points, triangles)

    def _posed(self: _S, points: FloatArray, triangles: IntArray) -> _S:
        """Return the surface with its points elsewhere, which are checked."""
        result = object.__new__(type(self))
        object.__setattr__(result, "points", read_only(as_points("points", points, 3)))
        for corner in result.reach:
            validate_magnitude("points", corner)
        object.__setattr__(result, "triangles", read_only(np.ascontiguousarray(triangles)))
        object.__setattr__(result, "resolution", self.resolution)
        result.__dict__["_original"] = self.original
        return result

    def _support_points(self, directions: FloatArray) -> FloatArray:
        """Return the farthest points along directions, of those that triangles use."""
        used = self.points[np.unique(self.triangles)]
        parts = chunks(len(directions), PRODUCTS // len(used))
        return np.concatenate([used[(used @ directions[p].T).argmax(axis=0)] for p in parts] or [np.empty((0, 3))])

    def corner_rows(self, triangles: IntArray) -> FloatArray:
        """Return the corners of some triangles as rows (corner, axis, k)."""
        return corner_rows(self.points, self.triangles.take(triangles, axis=0))

    @property
    def has_tree(self) -> bool:
        """Whether `tree` has been built, or needs not be."""
        return "tree" in self.__dict__ or "_moved_tree" in self.__dict__

    @cached_property
    def welded_ids(self) -> IntArray:
        """(n,) for each point the index of the first point with the same coordinates."""
        return read_only(welded_ids(self.points))

    @cached_property
    def _odd_edges(self) -> tuple[IntArray, IntArray]:
        """The edges (k, 2) that are not of two triangles in opposite directions, and how many triangles use each: a
        table of all is not kept, for it is large."""
        if self.original is not self:
            return self.original._odd_edges
        edges, uses, forward = self._edge_table()
        odd = np.flatnonzero((uses != 2) | (forward != 1))
        return read_only(edges.take(odd, axis=0)), read_only(uses.take(odd))

    def _edge_table(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the edges (e, 2), how many triangles use each, and how many of them from the smaller to the larger
        number."""
        corners, count = self.triangles, len(self.points)
        three = _have_three_corners(corners)
        corners = corners if three.all() else corners[three]
        start = corners.T.ravel()
        end = np.concatenate([corners[:, 1], corners[:, 2], corners[:, 0]])
        codes = np.minimum(start, end) * count + np.maximum(start, end)
        codes = 2 * codes + (start < end)
        codes.sort()
        edge = codes >> 1
        first = np.flatnonzero(np.concatenate([[True], edge[1:] != edge[:-1]])) if len(edge) else np.zeros(0, np.intp)
        uses = np.diff(np.append(first, len(edge)))
        forward = np.add.reduceat(codes & 1, first) if len(first) else np.zeros(0, dtype=np.intp)
        edge = edge.take(first)
        edges = np.stack([edge // count, edge % count], axis=1)
        return edges, uses, forward

    @cached_property
    def unit(self) -> float:
        """Length, a power of two of about the size of the box, in which `local_corners` and the like are; 0.0 when all
        points are one."""
        return float(2.0 ** int(np.frexp(self.extent)[1])) if self.extent > 0.0 else 0.0

    @property
    def local_corners(self) -> FloatArray:
        """(3, 3, m) corners, coordinates, triangles: from the middle of the box, in `unit`. Not kept: it is large."""
        low, high = self.bounds
        points = (self.points - (0.5 * low + 0.5 * high)) / (self.unit or 1.0)
        return read_only(corner_rows(points, self.triangles))

    @property
    def local_areas(self) -> FloatArray:
        """(m,) areas of the triangles, in squares of `unit`. Not kept either."""
        p, q, r = self.local_corners
        return read_only(0.5 * np.sqrt((cross(q - p, r - p) ** 2).sum(axis=0)))

    @cached_property
    def local_area(self) -> float:
        """Area of all triangles, in squares of `unit`."""
        return float(self.local_areas.sum())

    @property
    def local_volumes(self) -> FloatArray:
        """(m,) signed volumes of the tetrahedra between the middle of the box and the triangles, in cubes of `unit`.
        Not kept either."""
        volumes = _tetrahedra(self.local_corners)
        return read_only(volumes if self.times is None else volumes * self.times)


def connected_triangles(triangles: IntArray, count: int) -> IntArray:
    """Return the parts (m,) of triangles (m, 3) of `count` points, as `Mesh.loose_parts` has them."""
    _, first, part = np.unique(_part_vertices(triangles, count), return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank.take(part.ravel())


def _part_vertices(triangles: IntArray, count: int) -> IntArray:
    """Return (m,) a vertex for each triangle, the same for all of a connected part."""
    return connected_parts(triangles[:, [0, 1, 1, 2]].reshape(-1, 2), count).take(triangles[:, 0])


def _have_three_corners(triangles: IntArray) -> BoolArray:
    """Return (m,) whether no vertex is named twice."""
    p, q, r = triangles.T
    return (p != q) & (q != r) & (r != p)


def _lowest_highest(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest coordinates (3,) of points (n, 3), n >= 1."""
    # In rows of many points, which is several times as fast as in rows of one.
    whole = len(points) // _ROW * _ROW
    rows, remaining = points[:whole].reshape(-1, 3 * _ROW), points[whole:]
    low, high = remaining.min(axis=0, initial=np.inf), remaining.max(axis=0, initial=-np.inf)
    if whole:
        low = np.minimum(low, rows.min(axis=0).reshape(_ROW, 3).min(axis=0))
        high = np.maximum(high, rows.max(axis=0).reshape(_ROW, 3).max(axis=0))
    return low, high


def translated_tree(tree: Bvh, step: FloatArray) -> Bvh:
    """Return a mesh's tree with all boxes moved by a step (3,): that of the points moved by it, to the last digit."""
    volumes = tree.volumes
    assert isinstance(volumes, KDops)
    return replace(tree, volumes=KDops(volumes.directions, volumes.low + step, volumes.high + step))


def overlapping_triangles(a: Surface, b: Surface, progress: Progress | None = None) -> IntArray:
    """Return the pairs (k, 2) of triangles of two meshes whose boxes overlap, ascending, by their trees."""
    tree, step = b.moved_tree
    return find_pairs(a.tree, tree, 0.0, progress, moved=(step, step) if step.any() else None).pairs


def node_bounds(mesh: Surface) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest corners (3, m) of the nodes of a mesh's tree."""
    volumes = mesh.tree.volumes
    assert isinstance(volumes, KDops)
    return volumes.low.T, volumes.high.T


def signed_volume(points: FloatArray, triangles: IntArray) -> float:
    """Return the volume that triangles wound outward enclose, negative when they are wound inward."""
    return float(_tetrahedra(corner_rows(points, triangles)).sum())


def _tetrahedra(corners: FloatArray) -> FloatArray:
    """Return the signed volumes (m,) of the tetrahedra over triangles (corner, axis, m) whose tip is the origin."""
    p, q, r = corners
    return dot(cross(q, r), p) / 6.0


def have_no_area(points: FloatArray, triangles: IntArray) -> BoolArray:
    """Return (m,) whether triangles of points, whose products neither overflow nor vanish, have exactly no area."""
    corners = corner_rows(points, triangles)
    p, q, r = corners
    u, v = q - p, r - p
    flat = np.ones(len(triangles), dtype=np.bool_)
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        a, b = u[y] * v[z], u[z] * v[y]
        normal = np.abs(a - b)
        np.abs(a, out=a)
        a += np.abs(b, out=b)
        a *= ORIENTATION_FILTER * EPS
        flat &= normal <= a
    maybe = np.flatnonzero(flat)
    indices = corners.take(maybe, axis=2)
    for x in range(3):
        axes = [(x + 1) % 3, (x + 2) % 3]
        flat[maybe] &= signs_of_areas(*(corner[axes] for corner in indices)).signs == 0
    return flat


def validate_mesh(name: str, value: object) -> None:
    """Raise ValueError that begins with the name when a value is not a Mesh."""
    if not isinstance(value, Surface):
        raise ValueError(f"{name} must be a Mesh, not {type(value).__name__}")


def _as_triangles(value: ArrayLike, count: int) -> IntArray:
    """Return triangles (m, 3), m >= 1, of `count` points."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError("triangles: whole numbers (m, 3) expected, got rows of different length") from error
    if array.size == 0:
        raise ValueError("triangles: at least one triangle expected, got none")
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        found = f"the shape {array.shape} of dtype {array.dtype}"
        raise ValueError(f"triangles: whole numbers (m, 3) expected, got {found}")
    triangles: IntArray = array.astype(np.intp, copy=False)
    if triangles.view(np.uintp).max() >= count:  # as unsigned numbers, negative ones are the largest
        raise ValueError(f"triangles: indices from 0 to {count - 1} expected, for there are {count} points")
    return triangles
