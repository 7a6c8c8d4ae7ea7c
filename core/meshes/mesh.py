# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh of triangles in space: any surface, convex or not, closed or open, with whatever faults it has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array, validate_magnitude
from ..bounding.bounding_volumes import volumes_of_triangles
from ..hierarchy.bvh import Bvh
from ..hierarchy.bvh_build import build_bvh
from ..shapes.orientation import signs_of_areas
from ..tolerance import EPS, EXTREME_EXPONENT, ORIENTATION_FILTER
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only

_BATCH = 1 << 14
_ROW = 64  # points


@dataclass(frozen=True, eq=False)
class Mesh(ReadOnlyArrays):
    """A surface of triangles in space, world frame.

    A closed mesh (`is_closed`) stands for the solid inside it, any other for the bare surface. Faults are no errors:
    triangles without area, triangles there twice, edges of one, three or more triangles are kept and can be asked for.
    The arrays are copies of what was given, and read-only; so is everything computed from them.

    Raises ValueError, naming the argument, when the points are not finite real numbers (n, 3), when the triangles are
    no whole numbers (m, 3) from 0 to n - 1, or when there is no triangle.
    """

    points: FloatArray
    """(n, 3) the vertices; some may belong to no triangle."""
    triangles: IntArray
    """(m, 3) three vertex numbers each; counter-clockwise seen from outside, where there is an outside."""

    def __post_init__(self) -> None:
        """Check and copy what was given."""
        points, triangles, (low, high) = _checked("points", self.points, "triangles", self.triangles)
        object.__setattr__(self, "points", read_only(np.array(points)))
        object.__setattr__(self, "triangles", read_only(np.array(triangles)))
        object.__setattr__(self, "reach", (read_only(low), read_only(high)))  # the check had to look for them

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates (3,) of the points that triangles use."""
        used = np.zeros(len(self.points), dtype=np.bool_)
        used[self.triangles] = True
        points = self.points if used.all() else self.points[used]
        columns = np.ascontiguousarray(points.T)
        return read_only(columns.min(axis=1)), read_only(columns.max(axis=1))

    @cached_property
    def reach(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates (3,) of all points, those that no triangle uses included: faster to get."""
        low, high = lowest_highest(self.points)
        return read_only(low), read_only(high)

    @cached_property
    def diagonal(self) -> float:
        """Length of the diagonal of the axis-aligned bounding box."""
        low, high = self.bounds
        sides = high - low
        largest = float(sides.max())
        return largest * float(np.linalg.norm(sides / largest)) if largest > 0.0 else 0.0

    @cached_property
    def magnitude(self) -> float:
        """Largest absolute coordinate."""
        low, high = self.bounds
        return max(float(np.abs(low).max()), float(np.abs(high).max()))

    @cached_property
    def area(self) -> float:
        """Area of all triangles together, one side of each."""
        return float(self._areas.sum()) * self._unit * self._unit  # not a power: it raises where this is infinite

    @cached_property
    def volume(self) -> float:
        """Volume inside a closed mesh: positive where its triangles are counter-clockwise seen from outside.

        Where the mesh overlaps itself parts count several times. Of a mesh that is not closed it is the volume between
        it and the middle of its box, which means little.
        """
        return float(self._contents.sum()) * self._unit * self._unit * self._unit

    @cached_property
    def centroid(self) -> FloatArray:
        """Centre of mass (3,): of the solid when the mesh is closed and has a volume, else of the surface, else of the
        box."""
        columns, (low, high) = self._local, self.bounds
        middle = 0.5 * low + 0.5 * high
        size = self.diagonal / self._unit if self._unit else 0.0
        if self.is_closed and abs(self._contents.sum()) > 64.0 * EPS * size**3:
            weights, parts = self._contents, 4.0
        elif float(self._areas.sum()) > 64.0 * EPS * size**2:
            weights, parts = self._areas, 3.0
        else:
            return read_only(middle)
        total = float(weights.sum())
        return read_only(middle + self._unit * (columns.sum(axis=0) @ weights) / (parts * total))

    @cached_property
    def tree(self) -> Bvh:
        """Tree of the axis-aligned boxes of the triangles, to be descended with `tree_pairs`."""
        return build_bvh(volumes_of_triangles("aabb", self.points, self.triangles))

    @cached_property
    def edges(self) -> IntArray:
        """(e, 2) the edges, the smaller vertex number first, in ascending order; triangles that name a vertex twice
        have none."""
        return self._edge_table[0]

    @cached_property
    def boundary_edges(self) -> IntArray:
        """(k, 2) the edges of one triangle only: where an open surface ends."""
        return read_only(self.edges[self._edge_table[1] == 1])

    @cached_property
    def nonmanifold_edges(self) -> IntArray:
        """(k, 2) the edges of three or more triangles."""
        return read_only(self.edges[self._edge_table[1] > 2])

    @cached_property
    def flipped_edges(self) -> IntArray:
        """(k, 2) the edges of two triangles that run along it the same way: one of them is turned over."""
        _, uses, forward = self._edge_table
        return read_only(self.edges[(uses == 2) & (forward != 1)])

    @cached_property
    def is_closed(self) -> bool:
        """Whether the mesh encloses a solid: every edge is of exactly two triangles, in opposite directions."""
        _, uses, forward = self._edge_table
        return len(uses) > 0 and bool((uses == 2).all()) and bool((forward == 1).all())

    @cached_property
    def duplicate_faces(self) -> IntArray:
        """(k,) triangles with the same three vertices as one before, whichever way round."""
        corners = np.sort(self.triangles, axis=1)
        order = np.lexsort((np.arange(len(corners)), corners[:, 2], corners[:, 1], corners[:, 0]))
        ranked = corners.take(order, axis=0)
        again = (ranked[1:] == ranked[:-1]).all(axis=1)
        return read_only(np.sort(order[1:][again]))

    @cached_property
    def degenerate_faces(self) -> IntArray:
        """(k,) triangles without area, exactly: their corners are on one line, or two of them are one point."""
        result = []
        for begin in range(0, len(self.triangles), _BATCH):
            flat = no_area(scaled(self.points, self._scale), self.triangles[begin : begin + _BATCH])
            result.append(np.flatnonzero(flat) + begin)
        return read_only(np.concatenate(result))

    @cached_property
    def loose_parts(self) -> IntArray:
        """(m,) the number of the connected part that each triangle belongs to, 0 for that of triangle 0, and so on.

        Triangles are connected where they name the same vertex; see `welded` for meshes with doubled vertices.
        """
        return read_only(_connected(self.triangles, len(self.points)))

    def welded(self) -> Mesh:
        """Return the mesh with points of exactly the same coordinates made one; the triangles keep their numbers."""
        ids = self._welded_ids
        used, place = np.unique(ids, return_inverse=True)
        return Mesh(self.points.take(used, axis=0), place.ravel().take(self.triangles))

    @cached_property
    def _welded_ids(self) -> IntArray:
        """(n,) for each point the number of the first point with the same coordinates."""
        return read_only(same_place(self.points))

    @cached_property
    def _edge_table(self) -> tuple[IntArray, IntArray, IntArray]:
        """The edges (e, 2), how many triangles use each, and how many of them from the smaller to the larger number."""
        corners, count = self.triangles, len(self.points)
        three = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
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
        return read_only(edges), read_only(uses), read_only(forward)

    @cached_property
    def _scale(self) -> int:
        """Power of two that coordinates are multiplied with so that products neither overflow nor vanish."""
        exponent = int(np.frexp(self.magnitude)[1])
        return -exponent if self.magnitude > 0.0 and abs(exponent) > EXTREME_EXPONENT else 0

    @cached_property
    def _unit(self) -> float:
        """Length of the unit of `_local`; 0.0 when all points are one."""
        return float(2.0 ** int(np.frexp(self.diagonal)[1])) if self.diagonal > 0.0 else 0.0

    @cached_property
    def _local(self) -> FloatArray:
        """(3, 3, m) corners, coordinates, triangles: from the middle of the box, in units of about its size."""
        low, high = self.bounds
        points = (self.points - (0.5 * low + 0.5 * high)) / (self._unit or 1.0)
        return np.ascontiguousarray(points.take(self.triangles.ravel(), axis=0).reshape(-1, 3, 3).transpose(1, 2, 0))

    @cached_property
    def _areas(self) -> FloatArray:
        p, q, r = self._local
        return 0.5 * np.sqrt((_across(q - p, r - p) ** 2).sum(axis=0))

    @cached_property
    def _contents(self) -> FloatArray:
        return _tetrahedra(self._local)


def loose_parts(triangles: ArrayLike) -> IntArray:
    """Return the number (m,) of the part that each of the triangles (m, 3) is in, counted from 0 in the order of their
    first triangles. Triangles that share a corner are in one part.

    Raises ValueError, naming the argument, when the triangles are not such an array of whole numbers from 0.
    """
    corners = _checked_triangles("triangles", triangles)
    if not len(corners):
        return np.empty(0, dtype=np.intp)
    if corners.min() < 0:
        raise ValueError("triangles: no number of a point may be negative")
    used, inverse = np.unique(corners, return_inverse=True)
    return _connected(inverse.reshape(-1, 3), len(used))


def separated(points: FloatArray, triangles: IntArray) -> list[tuple[FloatArray, IntArray]]:
    """Return the loose parts of a mesh, in their order, each with points (k, 3) of its own and triangles of them."""
    part = loose_parts(triangles)
    order = np.argsort(part, kind="stable")
    result = []
    for group in np.split(triangles.take(order, axis=0), np.flatnonzero(np.diff(part.take(order))) + 1):
        used, inverse = np.unique(group, return_inverse=True)
        result.append((points.take(used, axis=0), inverse.reshape(-1, 3)))
    return result


def _connected(triangles: IntArray, count: int) -> IntArray:
    """Return the parts (m,) of triangles (m, 3) of `count` points, as `loose_parts` does."""
    root: IntArray = np.arange(count)
    one = triangles[:, [0, 1]].ravel()
    other = triangles[:, [1, 2]].ravel()
    while True:
        high, low = root.take(one), root.take(other)
        apart = np.flatnonzero(high != low)
        if not len(apart):
            break
        one, other, high, low = one.take(apart), other.take(apart), high.take(apart), low.take(apart)
        np.minimum.at(root, np.maximum(high, low), np.minimum(high, low))
        while True:
            above = root.take(root)
            if np.array_equal(above, root):
                break
            root = above
    _, first, part = np.unique(root.take(triangles[:, 0]), return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank.take(part.ravel())


def same_place(points: FloatArray) -> IntArray:
    """Return (n,) for each of the points (n, 3) the number of the first one with the same coordinates."""
    columns = np.ascontiguousarray((points + 0.0).T)  # + 0.0: -0.0 is 0.0
    order = np.lexsort((columns[2], columns[1], columns[0]))  # stable: the first of equals has the least number
    ranked = columns.take(order, axis=1)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ranked[:, 1:] != ranked[:, :-1]).any(axis=0)
    result = np.empty(len(order), dtype=np.intp)
    result[order] = order[new].take(np.cumsum(new) - 1)
    return result


def lowest_highest(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest coordinates (3,) of points (n, 3), n >= 1."""
    # In rows of many points, which is several times as fast as in rows of one.
    whole = len(points) // _ROW * _ROW
    rows, rest = points[:whole].reshape(-1, 3 * _ROW), points[whole:]
    low, high = rest.min(axis=0, initial=np.inf), rest.max(axis=0, initial=-np.inf)
    if whole:
        low = np.minimum(low, rows.min(axis=0).reshape(_ROW, 3).min(axis=0))
        high = np.maximum(high, rows.max(axis=0).reshape(_ROW, 3).max(axis=0))
    return low, high


def signed_volume(points: FloatArray, triangles: IntArray) -> float:
    """Return the volume that triangles wound outward enclose, negative when they are wound inward."""
    corners = np.ascontiguousarray(points.take(triangles.ravel(), axis=0).reshape(-1, 3, 3).transpose(1, 2, 0))
    return float(_tetrahedra(corners).sum())


def _tetrahedra(corners: FloatArray) -> FloatArray:
    """Return the signed volumes (m,) of the tetrahedra over triangles (corner, axis, m) whose tip is the origin."""
    p, q, r = corners
    return (_across(q, r) * p).sum(axis=0) / 6.0


def _across(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the cross products of columns (3, k)."""
    return np.stack([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])


def scaled(points: FloatArray, exponent: int) -> FloatArray:
    """Return points times a power of two."""
    return points if exponent == 0 else np.ldexp(points, exponent)


def no_area(points: FloatArray, triangles: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return (m,) whether triangles of points, whose products neither overflow nor vanish, have exactly no area."""
    corners = np.ascontiguousarray(points.take(triangles.ravel(), axis=0).reshape(-1, 3, 3).transpose(1, 2, 0))
    p, q, r = corners
    u, v = q - p, r - p
    size = np.abs(u[[1, 2, 0]] * v[[2, 0, 1]]) + np.abs(u[[2, 0, 1]] * v[[1, 2, 0]])
    flat: np.ndarray[tuple[int], np.dtype[np.bool_]] = (np.abs(_across(u, v)) <= ORIENTATION_FILTER * EPS * size).all(
        axis=0
    )
    maybe = np.flatnonzero(flat)
    some = corners.take(maybe, axis=2)
    for x in range(3):
        axes = [(x + 1) % 3, (x + 2) % 3]
        flat[maybe] &= signs_of_areas(*(corner[axes] for corner in some)).signs == 0
    return flat


def checked_mesh(
    points: ArrayLike, triangles: ArrayLike, of_points: str = "points", of_triangles: str = "triangles"
) -> tuple[FloatArray, IntArray]:
    """Return points (n, 3), finite, and triangles (m, 3) of them, m >= 1: what was given, where that is such an array.

    Raises ValueError that begins with the name of the argument, for which others can be given.
    """
    return _checked(of_points, points, of_triangles, triangles)[:2]


def _checked(
    of_points: str, points: ArrayLike, of_triangles: str, triangles: ArrayLike
) -> tuple[FloatArray, IntArray, tuple[FloatArray, FloatArray]]:
    """Do the work of `checked_mesh`; return the lowest and highest coordinates of the points, too."""
    expected = "an array (n, 3)"
    array = as_array(of_points, points, expected)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{of_points}: {expected} expected, got the shape {array.shape}")
    if not len(array):
        raise ValueError(f"{of_points}: at least one point expected, got none")
    reach = lowest_highest(array)
    for corner in reach:
        validate_magnitude(of_points, corner)
    corners = _checked_triangles(of_triangles, triangles)
    if not len(corners):
        raise ValueError(f"{of_triangles}: at least one triangle expected, got none")
    numbers: IntArray = corners.astype(np.intp, copy=False)
    if numbers.view(np.uintp).max() >= len(array):  # so seen, negative numbers are the largest
        raise ValueError(f"{of_triangles}: all must be from 0 to {len(array) - 1}, for there are {len(array)} points")
    return array, numbers, reach


def _checked_triangles(name: str, value: ArrayLike) -> IntArray:
    """Return whole numbers (m, 3), m >= 0."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: whole numbers (m, 3) expected; rows of different length are none") from error
    if array.shape == (0,):
        return np.empty((0, 3), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        found = f"the shape {array.shape} of dtype {array.dtype}"
        raise ValueError(f"{name}: whole numbers (m, 3) expected, got {found}")
    return array
