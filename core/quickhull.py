# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hull of points in the plane and in space: rank decision, polygon hull, quickhull.

How it stays right on every finite input:

* Coordinates are centred and scaled by a power of two to whole numbers of at most 60 bits (`Frame`). Every side test
  is a float64 expression with an error bound; where the bound leaves the sign open the test is repeated with Python
  integers. The triangulated hull is therefore exactly convex and closed, whatever the input.
* A point is left out only when it is inside, or within a few roundings of the largest coordinate of the hull of the
  points that stay (`tolerance.HULL_DROP`).
* `facets.py` merges coplanar triangles to polygons afterwards.

Quickhull here inserts many points per round: points whose visible regions neither overlap nor share an edge do not
disturb each other, so a round is a fixed number of array operations.
Source: Barber, Dobkin, Huhdanpaa, "The Quickhull algorithm for convex hulls" (1996).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import tolerance
from .polytope import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

_BITS = 60  # of a coordinate: float64 values lose nothing above 2**-60 of the largest
_ONE_BY_ONE = 64  # points; up to here, and for the extreme points of larger sets, plain floats beat arrays
_FEW_LEFT = 160  # points outside the hull of the extreme ones; up to here plain floats go on
_MANY = 400  # points; from here on twice as many extreme points come first
_PRODUCT = 80_000  # entries of one matrix product: fits the cache, and BLAS does not wait for other cores' threads
_THIN = 0.0625  # squared sine between two sides; below, a normal is computed exactly
_TABLE = 2_000_000  # entries of the point-by-facet table of one round


class Frame:
    """The points as whole numbers around the middle of their box, and the tolerances in that unit."""

    def __init__(self, points: FloatArray) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        center = 0.5 * low + 0.5 * high
        magnitude = float(max(-low.min(), high.max()))
        half = float(max((high - center).max(), (center - low).max()))
        shift = _BITS - int(np.frexp(half)[1])
        # (dim, n), so that sums over points run along contiguous memory.
        self.x: FloatArray = np.rint(np.ldexp(np.ascontiguousarray((points - center).T), shift))
        self.exact = _Exact(self.x)
        unit = tolerance.EPS * float(np.ldexp(magnitude, shift)) if half > 0.0 else 1.0
        self.radius = float(np.sqrt(_squares(self.x).max()))
        self.filter = tolerance.HULL_FILTER * tolerance.EPS * self.radius
        self.drop = tolerance.HULL_DROP * unit
        self.straight = tolerance.HULL_STRAIGHT * unit
        self.merge = tolerance.HULL_MERGE * unit
        self.buried = tolerance.HULL_BURIED * unit
        self.rank = tolerance.HULL_RANK * unit


class Low(NamedTuple):
    """The points are of lower rank than the space."""

    rank: int
    ends: tuple[int, int]
    normal: FloatArray
    """Of the plane, for rank 2 in space."""


def _squares(v: FloatArray) -> FloatArray:
    """Return the squared length of each column."""
    return _dots(v, v)


def _dots(u: FloatArray, v: FloatArray) -> FloatArray:
    """Return the dot product of a vector, or of each column, with each column."""
    result: FloatArray = u[0] * v[0]
    for k in range(1, len(v)):
        result += u[k] * v[k]
    return result


def affine_rank(frame: Frame) -> Low | tuple[int, ...]:
    """Return a simplex of full rank (dim + 1 point indices), or what the points are instead."""
    x = frame.x
    dim = x.shape[0]
    nothing = np.zeros(dim)
    a = int(_squares(x).argmax())
    from_a = x - x[:, a : a + 1]
    squares = _squares(from_a)
    b = int(squares.argmax())
    length = float(np.sqrt(squares[b]))
    if length <= frame.rank:
        return Low(0, (a, a), nothing)
    along = from_a[:, b] / length
    position = _dots(along, from_a)
    if dim == 2:
        aside = along[0] * from_a[1] - along[1] * from_a[0]
        if aside.max() - aside.min() <= frame.rank:
            return Low(1, (int(position.argmin()), int(position.argmax())), nothing)
        c = int(np.abs(aside).argmax())
        return (a, b, c)
    across = from_a - along[:, None] * position
    squares = _squares(across)
    c = int(squares.argmax())
    width = float(np.sqrt(squares[c]))
    if width <= frame.rank:
        return Low(1, (int(position.argmin()), int(position.argmax())), nothing)
    unit = frame.exact.unit_normal(a, b, c)
    if unit is None:
        return Low(1, (int(position.argmin()), int(position.argmax())), nothing)
    normal = np.array(unit)
    height = _dots(normal, from_a)
    d = int(np.abs(height).argmax())
    spread = float(height.max() - height.min())
    if spread > frame.rank and spread <= 8.0 * frame.rank:
        # Noise in the three corners tilts their plane: the outline of the points gives a better one.
        better = flat_hull(frame, normal)[1]
        height = _dots(better, from_a)
        if float(height.max() - height.min()) < spread:
            normal, spread = better, float(height.max() - height.min())
    side = frame.exact.side(a, b, c, d)
    if spread <= frame.rank or side == 0:
        return Low(2, (a, b), normal)
    return (a, b, c, d) if side < 0 else (a, c, b, d)


# ---------------------------------------------------------------------------------------------- exact arithmetic


class _Exact:
    """Side tests in whole numbers; what was computed once is kept, as degenerate inputs ask for it again and again."""

    def __init__(self, x: FloatArray) -> None:
        self._x = x
        self._points: dict[int, list[int]] = {}
        self._normals: dict[tuple[int, int, int], tuple[int, int, int]] = {}

    def _point(self, i: int) -> list[int]:
        point = self._points.get(i)
        if point is None:
            point = self._points[i] = [int(value) for value in self._x[:, i].tolist()]
        return point

    def cross(self, a: int, b: int, c: int) -> tuple[int, int, int]:
        """Return the normal of the triangle (a, b, c), as long as twice its area."""
        normal = self._normals.get((a, b, c))
        if normal is None:
            ax, ay, az = self._point(a)
            bx, by, bz = self._point(b)
            cx, cy, cz = self._point(c)
            ux, uy, uz = bx - ax, by - ay, bz - az
            vx, vy, vz = cx - ax, cy - ay, cz - az
            normal = self._normals[a, b, c] = (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)
        return normal

    def side(self, a: int, b: int, c: int, p: int) -> int:
        """Return > 0 when p is above the plane of the triangle (a, b, c), 0 on it."""
        nx, ny, nz = self.cross(a, b, c)
        ax, ay, az = self._point(a)
        px, py, pz = self._point(p)
        return nx * (px - ax) + ny * (py - ay) + nz * (pz - az)

    def unit_normal(self, a: int, b: int, c: int) -> list[float] | None:
        """Return the unit normal of a triangle, right to rounding however thin it is; None when it has no area."""
        return _unit(self.cross(a, b, c))


def _unit(vector: tuple[int, int, int]) -> list[float] | None:
    # Exact integers may be far apart in size; dividing first keeps the squares within float64.
    top = max(abs(value) for value in vector)
    if top == 0:
        return None
    nx, ny, nz = vector[0] / top, vector[1] / top, vector[2] / top
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return [nx / length, ny / length, nz / length]


def polygon_normal(loop: Sequence[Sequence[float]]) -> list[float] | None:
    """Return the unit normal of a polygon in space (Newell), right to rounding; None when it has no area."""
    ox, oy, oz = (int(value) for value in loop[0])
    nx = ny = nz = 0
    ux = uy = uz = 0
    for px, py, pz in loop[1:]:
        vx, vy, vz = int(px) - ox, int(py) - oy, int(pz) - oz
        nx += uy * vz - uz * vy
        ny += uz * vx - ux * vz
        nz += ux * vy - uy * vx
        ux, uy, uz = vx, vy, vz
    return _unit((nx, ny, nz))


# ---------------------------------------------------------------------------------------------- polygons


def bends(x: FloatArray, chain: Sequence[int], width: float) -> list[int]:
    """Return the corners of a chain of points: its ends, and the inner points that straight pieces between corners
    would miss by more than `width`."""
    if len(chain) <= 2:
        return list(chain)
    p = np.ascontiguousarray(x[:, list(chain)].T)
    # Farther neighbours only make a convex corner stand out more: what is a corner between its neighbours stays.
    to, across = p[1:-1] - p[:-2], p[2:] - p[:-2]
    square = (across * across).sum(axis=1)
    miss = to - ((to * across).sum(axis=1) / np.where(square > 0.0, square, 1.0))[:, None] * across
    sure = np.flatnonzero((miss * miss).sum(axis=1) > width * width) + 1
    keep = [0, *sure.tolist(), len(chain) - 1]
    spans = [(first, last) for first, last in pairwise(keep) if last - first > 1]
    while spans:
        first, last = spans.pop()
        way = p[last] - p[first]
        inner = p[first + 1 : last] - p[first]
        length = float(way @ way)
        share = np.clip(inner @ way / length, 0.0, 1.0) if length > 0.0 else np.zeros(len(inner))
        miss = inner - share[:, None] * way
        distance = (miss * miss).sum(axis=1)
        far = int(distance.argmax())
        if float(distance[far]) > width * width:
            middle = first + 1 + far
            keep.append(middle)
            spans += [span for span in ((first, middle), (middle, last)) if span[1] - span[0] > 1]
    return [chain[i] for i in sorted(keep)]


def polygon_hull(frame: Frame, x: FloatArray) -> tuple[list[int], IntArray]:
    """Return the corners of the hull of the columns of x (2, n), counter-clockwise, and the points near its sides.

    x is the frame's own array, or two coordinates of it.
    """
    n = x.shape[1]
    ids: IntArray = np.arange(n)
    near = ids
    if n > 64:
        angle = 0.1 + np.arange(24) * (2.0 * np.pi / 24)
        extreme = np.unique((np.stack([np.cos(angle), np.sin(angle)], axis=1) @ x).argmax(axis=1))
        loop = _chain(x, extreme)
        if len(loop) >= 3:
            start = x[:, loop]
            way = np.roll(start, -1, axis=1) - start
            length = np.sqrt(_squares(way))
            normal = np.stack([way[1], -way[0]]) / length
            height = normal.T @ x - (normal * start).sum(axis=0)[:, None]
            side = height.argmax(axis=0)
            top = height[side, ids]
            share = (way.T @ x - (way * start).sum(axis=0)[:, None])[side, ids]
            beside = (share < 0.0) | (share > length[side] ** 2)
            close = top >= -frame.filter
            near = np.flatnonzero(close)
            ids = np.flatnonzero((top > frame.drop) | (close & beside))
            ids = np.unique(np.concatenate([ids, np.array(loop, dtype=np.intp)]))
    loop = _chain(x, ids)
    return _corners(x, loop, frame.straight), near


def _chain(x: FloatArray, ids: IntArray) -> list[int]:
    """Return the strictly convex hull of some columns of x by the monotone chain, with exact turns."""
    order = ids[np.lexsort((x[1, ids], x[0, ids]))]
    px: list[float] = x[0].take(order).tolist()
    py: list[float] = x[1].take(order).tolist()
    bound = 4.0 * tolerance.EPS

    def half(sequence: range) -> list[int]:
        hull: list[int] = []
        for c in sequence:
            cx, cy = px[c], py[c]
            while len(hull) >= 2:
                a, b = hull[-2], hull[-1]
                left = (px[b] - px[a]) * (cy - py[a])
                right = (py[b] - py[a]) * (cx - px[a])
                turn = left - right
                if abs(turn) <= bound * (abs(left) + abs(right)):
                    ax, ay, bx, by = int(px[a]), int(py[a]), int(px[b]), int(py[b])
                    turn = (bx - ax) * (int(cy) - ay) - (by - ay) * (int(cx) - ax)
                if turn > 0:
                    break
                hull.pop()
            if not hull or px[hull[-1]] != cx or py[hull[-1]] != cy:
                hull.append(c)
        return hull

    count = len(px)
    lower = half(range(count))
    upper = half(range(count - 1, -1, -1))
    return [int(order[i]) for i in lower[:-1] + upper[:-1]] if len(lower) > 1 else [int(order[0])]


def _corners(x: FloatArray, loop: list[int], width: float) -> list[int]:
    """Leave out the vertices of a convex polygon that are on a straight side within `width`."""
    if len(loop) < 4:
        return loop
    p = x[:, loop]
    before, after = np.roll(p, 1, axis=1), np.roll(p, -1, axis=1)
    way, to = after - before, p - before
    if ((way[0] * to[1] - way[1] * to[0]) ** 2 > width * width * _squares(way)).all():
        return loop
    # The vertex farthest from any point within is a corner, and so is the one farthest from that.
    first = int(_squares(p - p.mean(axis=1, keepdims=True)).argmax())
    second = int(_squares(p - p[:, first : first + 1]).argmax())
    cycle = loop[first:] + loop[:first]
    split = (second - first) % len(loop)
    corners = bends(x, cycle[: split + 1], width)[:-1] + bends(x, cycle[split:] + cycle[:1], width)[:-1]
    return corners if len(corners) >= 3 else loop


def _outline(frame: Frame, normal: FloatArray) -> tuple[list[int], IntArray]:
    """Return the corners of flat points, counter-clockwise seen from the tip of the normal, and the points near."""
    axis = int(np.abs(normal).argmax())
    first, second = (axis + 1) % 3, (axis + 2) % 3
    # Leaving out one coordinate is exact, where projecting onto the plane would round.
    loop, near = polygon_hull(frame, np.ascontiguousarray(frame.x[[first, second]]))
    return (loop if normal[axis] > 0.0 else loop[::-1]), near


def flat_hull(frame: Frame, normal: FloatArray) -> tuple[list[int], FloatArray]:
    """Return the corners of flat points in space, counter-clockwise about the returned unit normal."""
    loop, _ = _outline(frame, normal)
    better = polygon_normal(frame.x[:, loop].T.tolist())
    return loop, normal if better is None else np.array(better)


# ---------------------------------------------------------------------------------------------- solids


class _Small:
    """The triangulated hull of a few points, grown one point at a time in plain floats: arrays do not pay there.

    `corners`, `beside` and `planes` are rows as `Solid` has them.
    """

    def __init__(self, frame: Frame, simplex: tuple[int, ...]) -> None:
        self._x = frame.x
        self._exact = frame.exact
        self._filter = frame.filter
        self._drop = frame.drop
        self._rows: dict[int, list[float]] = {}
        self._read(list(simplex))
        self.near: list[int] = []
        a, b, c, d = simplex
        self.corners: list[tuple[int, int, int]] = [(a, b, c), (a, d, b), (b, d, c), (c, d, a)]
        self.beside: list[list[int]] = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]]
        self.planes = [self._plane(*triangle) for triangle in self.corners]
        self._outside: list[list[tuple[float, int]] | None] = [None] * 4
        self._alive = [True] * 4

    def add(self, points: IntArray) -> None:
        """Grow to the hull of what is there and the points."""
        ids = [i for i in points.tolist() if i not in self._rows]
        self._read(ids)
        self._share_out(ids, range(len(self.corners)))
        self._grow()

    def add_outside(self, points: IntArray, owner: IntArray, height: FloatArray) -> None:
        """Like `add`, for points that are outside, each with the facet it is farthest above and its height."""
        ids = points.tolist()
        self._read(ids)
        for facet, top, point in zip(owner.tolist(), height.tolist(), ids, strict=True):
            outside = self._outside[facet]
            if outside is None:
                self._outside[facet] = [(top, point)]
            else:
                outside.append((top, point))
        self._grow()

    def _read(self, ids: list[int]) -> None:
        self._rows.update(zip(ids, self._x.take(ids, axis=1).T.tolist(), strict=True))

    def _grow(self) -> None:
        todo = list(range(len(self.corners)))
        while todo:
            facet = todo.pop()
            outside = self._outside[facet]
            if not outside or not self._alive[facet]:
                continue
            top = max(outside)
            point = top[1]
            if top[0] <= self._filter and self._exact.side(*self.corners[facet], point) <= 0:
                # Not above its facet after all: the float64 height was rounding.
                outside.remove(top)
                self.near.append(point)
                todo.append(facet)
                continue
            todo.extend(self._insert(point, facet))
        # Leave out the facets that have gone.
        order = [k for k, alive in enumerate(self._alive) if alive]
        position = {k: i for i, k in enumerate(order)}
        self.corners = [self.corners[k] for k in order]
        self.planes = [self.planes[k] for k in order]
        self.beside = [[position[g] for g in self.beside[k]] for k in order]
        self._outside = [None] * len(order)
        self._alive = [True] * len(order)

    def _insert(self, point: int, facet: int) -> range:
        """Put the point, which sees the facet, on the hull; return the new facets."""
        corners, beside, planes = self.corners, self.beside, self.planes
        x, y, z = self._rows[point]
        bound = self._filter
        sees = {facet: True}
        visible = [facet]
        rim: list[tuple[int, int, int]] = []
        for f in visible:
            a, b, c = corners[f]
            over_ab, over_bc, over_ca = beside[f]
            for u, v, g in ((a, b, over_ab), (b, c, over_bc), (c, a, over_ca)):
                seen = sees.get(g)
                if seen is None:
                    nx, ny, nz, offset = planes[g]
                    height = nx * x + ny * y + nz * z - offset
                    if -bound <= height <= bound:
                        height = self._exact.side(*corners[g], point)
                    sees[g] = seen = height > 0.0
                    if seen:
                        visible.append(g)
                if not seen:
                    rim.append((u, v, g))
        first = len(corners)
        at: dict[int, int] = {}
        for u, v, g in rim:
            at[u] = len(corners)
            beside[g][corners[g].index(v)] = len(corners)
            corners.append((u, v, point))
            beside.append([g, 0, 0])
            planes.append(self._plane(u, v, point))
        for k, (_, v, _) in enumerate(rim, first):
            following = at[v]
            beside[k][1] = following
            beside[following][2] = k
        new = range(first, len(corners))
        self._outside += [None] * len(rim)
        self._alive += [True] * len(rim)
        points: list[int] = []
        for f in visible:
            self._alive[f] = False
            outside = self._outside[f]
            if outside:
                points += [q for _, q in outside if q != point]
        self._share_out(points, new)
        return new

    def _share_out(self, points: list[int], facets: range) -> None:
        """Give each point to the one of the facets that it is farthest above, if it is outside."""
        planes, rows, drop, bound = self.planes, self._rows, self._drop, -self._filter
        for q in points:
            x, y, z = rows[q]
            best = -1e300
            owner = -1
            for f in facets:
                nx, ny, nz, offset = planes[f]
                height = nx * x + ny * y + nz * z - offset
                if height > best:
                    best = height
                    owner = f
            if best > drop:
                outside = self._outside[owner]
                if outside is None:
                    self._outside[owner] = [(best, q)]
                else:
                    outside.append((best, q))
            elif best >= bound and rows[q] not in [rows[corner] for corner in self.corners[owner]]:
                self.near.append(q)

    def _plane(self, a: int, b: int, c: int) -> tuple[float, float, float, float]:
        ax, ay, az = self._rows[a]
        bx, by, bz = self._rows[b]
        cx, cy, cz = self._rows[c]
        ux, uy, uz = bx - ax, by - ay, bz - az
        vx, vy, vz = cx - ax, cy - ay, cz - az
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        square = nx * nx + ny * ny + nz * nz
        uu = ux * ux + uy * uy + uz * uz
        vv = vx * vx + vy * vy + vz * vz
        if square < _THIN * uu * vv:
            # A cross product is rounded relative to the sides it is made of: try the two shortest.
            wx, wy, wz = cx - bx, cy - by, cz - bz
            ww = wx * wx + wy * wy + wz * wz
            if uu < vv:
                ax, ay, az = bx, by, bz
                nx, ny, nz, vv = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx, ww
            else:
                ax, ay, az = cx, cy, cz
                nx, ny, nz, uu = vy * wz - vz * wy, vz * wx - vx * wz, vx * wy - vy * wx, ww
            square = nx * nx + ny * ny + nz * nz
            exact = self._exact.unit_normal(a, b, c) if square < _THIN * uu * vv else None
            if exact is not None:
                nx, ny, nz = exact
                return nx, ny, nz, nx * ax + ny * ay + nz * az
        length = math.sqrt(square)
        nx, ny, nz = nx / length, ny / length, nz / length
        return nx, ny, nz, nx * ax + ny * ay + nz * az


class Solid:
    """A triangulated convex polyhedron that grows by points: exactly convex at every moment.

    Facet k has the corners `corners[k]`, counter-clockwise seen from outside; across its side from corner s to corner
    s + 1 lies the facet `beside[k, s]`; its plane is `planes[:3, k] @ x <= planes[3, k]`, unit normal, off by less than
    the frame's `filter` anywhere within the box.
    """

    count: int
    corners: IntArray
    beside: IntArray
    planes: FloatArray

    def __init__(self, frame: Frame, simplex: tuple[int, ...]) -> None:
        """Build the hull of all points, from a simplex of full rank whose fourth corner is below the first three."""
        self.frame = frame
        self.x = frame.x
        self._near: list[IntArray] = []
        self._holes: IntArray = np.empty(0, dtype=np.intp)
        n = self.x.shape[1]
        few = _Small(frame, simplex)
        if n <= _ONE_BY_ONE:
            few.add(np.arange(n))
            self._take(few)
        else:
            few.add(_extreme(self.x, _DIRECTIONS if n > _MANY else _DIRECTIONS[::2]))
            few.near.clear()
            self._take(few)
            ids, owner, height = self._locate(self._outside_ball())
            if len(ids) <= _FEW_LEFT:
                few.add_outside(ids, owner, height)
                self._take(few)
            else:
                self._grow(ids, owner, height)
        self._close_holes()
        self._insert_exactly(self._left_too_far_out())
        self._close_holes()

    def _close_holes(self) -> None:
        if len(self._holes):
            there = np.ones(self.count, dtype=np.bool_)
            there[self._holes] = False
            position = np.cumsum(there) - 1
            order = np.flatnonzero(there)
            self.corners = self.corners[order]
            self.beside = position[self.beside[order]]
            self.planes = self.planes[:, order]
            self.count = len(order)
            self._holes = self._holes[:0]

    def _take(self, few: _Small) -> None:
        self.corners = np.array(few.corners, dtype=np.intp)
        self.beside = np.array(few.beside, dtype=np.intp)
        self.planes = np.array(few.planes).T.copy()
        self.count = len(self.corners)
        self._near.append(np.array(few.near, dtype=np.intp))

    @property
    def vertices(self) -> IntArray:
        """Indices of the points on the hull, ascending."""
        on_hull = np.zeros(self.x.shape[1], dtype=np.bool_)
        on_hull[self.corners[: self.count]] = True
        return np.flatnonzero(on_hull)

    @property
    def near(self) -> IntArray:
        """Points that were left out though they may stand out by a rounding."""
        return np.concatenate(self._near) if self._near else np.empty(0, dtype=np.intp)

    def _outside_ball(self) -> IntArray:
        """Return the points outside a ball that fits into the present polyhedron: a cheap first sieve."""
        normals, offsets = self.planes[:3, : self.count], self.planes[3, : self.count]
        middle = self.x[:, self.vertices].mean(axis=1)
        radius = float((offsets - middle @ normals).min()) - self.frame.filter
        if radius <= 0.0:
            return np.arange(self.x.shape[1])
        squares = _squares(self.x - middle[:, None])
        return np.flatnonzero(squares > radius * radius * (1.0 - 1e-9))

    def _set_planes(self, facets: IntArray) -> None:
        x, corners = self.x, self.corners[facets]
        p0, p1, p2 = x[:, corners[:, 0]], x[:, corners[:, 1]], x[:, corners[:, 2]]
        u, v, w = p1 - p0, p2 - p1, p0 - p2
        # A cross product is rounded relative to the sides it is made of: leave out the longest.
        lengths = np.stack([_squares(u), _squares(v), _squares(w)])
        longest = lengths.argmax(axis=0)
        first = np.where(longest == 0, v, np.where(longest == 1, w, u))
        second = np.where(longest == 0, w, np.where(longest == 1, u, v))
        normal = np.stack(
            [
                first[1] * second[2] - first[2] * second[1],
                first[2] * second[0] - first[0] * second[2],
                first[0] * second[1] - first[1] * second[0],
            ]
        )
        squares = _squares(normal)
        product = lengths.prod(axis=0) / lengths.max(axis=0)
        thin = np.flatnonzero(squares < _THIN * product)
        normal /= np.sqrt(np.maximum(squares, 1e-300))
        for k in thin.tolist():
            exact = self.frame.exact.unit_normal(*corners[k].tolist())
            if exact is not None:
                normal[:, k] = exact
        self.planes[:3, facets] = normal
        # The corner opposite the longest side is nearest to all three.
        near = np.where(longest == 0, p2, np.where(longest == 1, p0, p1))
        self.planes[3, facets] = _dots(normal, near)

    def _locate(self, ids: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the points that are outside, each with the facet it is farthest above and its height."""
        normals, offsets = (
            self.planes[:3, : self.count].T,
            self.planes[3, : self.count, None],
        )
        parts = []
        step = max(1, _PRODUCT // self.count)
        for start in range(0, len(ids), step):
            part = ids[start : start + step]
            heights = normals @ self.x.take(part, axis=1)
            heights -= offsets
            # Few points are outside, and max is far cheaper than argmax.
            outside = np.flatnonzero(heights.max(axis=0) >= -self.frame.filter)
            heights = heights.take(outside, axis=1)
            owner = heights.argmax(axis=0)
            parts.append((part[outside], owner, heights[owner, np.arange(len(owner))]))
        if not parts:
            return ids, ids, np.empty(0)
        return self._sort_out(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _sort_out(self, ids: IntArray, owner: IntArray, height: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Keep the points outside; note the ones near the surface; forget the rest and copies of corners."""
        outside = height > self.frame.drop
        close = np.flatnonzero(~outside & (height >= -self.frame.filter))
        if len(close):
            p = self.x[:, ids[close]]
            q = self.x[:, self.corners[owner[close]].T]
            copies = (q == p[:, None, :]).all(axis=0).any(axis=0)
            self._near.append(ids[close[~copies]])
        return ids[outside], owner[outside], height[outside]

    def _grow(self, ids: IntArray, owner: IntArray, height: FloatArray) -> None:
        """Insert points until none of the given ones is outside by more than HULL_DROP."""
        while len(ids):
            # The farthest point of each facet: of repeated indices in an assignment the last one stays.
            order = height.argsort(kind="stable")
            farthest = np.full(self.count, -1, dtype=np.intp)
            farthest[owner[order]] = order
            chosen = farthest[farthest >= 0]
            if len(chosen) > 1:
                chosen = chosen[height[chosen].argsort(kind="stable")]
                chosen = chosen[-max(1, _TABLE // self.count) :]
            inserted, blind, takers, new, first, rings = self._insert(ids[chosen], owner[chosen])
            taker = takers[owner]
            taker[chosen[inserted]] = -2
            if blind.any():
                # Not above its facet after all: the float64 height was rounding.
                taker[chosen[blind]] = -2
                self._near.append(ids[chosen[blind]])
            moved = np.flatnonzero(taker >= 0)
            stay = taker == -1
            ids, moved_ids = ids[stay], ids[moved]
            owner, height = owner[stay], height[stay]
            if len(moved):
                more = self._share_out(moved_ids, taker[moved], new, first, rings)
                ids, owner, height = (np.concatenate(pair) for pair in zip((ids, owner, height), more, strict=True))

    def _share_out(
        self,
        ids: IntArray,
        taker: IntArray,
        new: IntArray,
        first: IntArray,
        rings: IntArray,
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Give points whose facet has gone to the facet around the inserted point that they are farthest above."""
        many = rings[taker]
        end = np.cumsum(many)
        begin = end - many
        point = np.repeat(np.arange(len(ids)), many)
        facet = new[np.arange(end[-1]) - np.repeat(begin - first[taker], many)]
        planes, x = self.planes, self.x
        which = ids[point]
        heights = planes[0].take(facet) * x[0].take(which)
        heights += planes[1].take(facet) * x[1].take(which)
        heights += planes[2].take(facet) * x[2].take(which)
        heights -= planes[3].take(facet)
        height = np.maximum.reduceat(heights, begin)
        best = np.flatnonzero(heights == np.repeat(height, many))
        owner = np.empty(len(ids), dtype=np.intp)
        owner[point[best]] = facet[best]
        return self._sort_out(ids, owner, height)

    def _sees(self, points: IntArray, facets: IntArray) -> BoolArray:
        """Tell which points are strictly above which facets, pair by pair, without error."""
        p = self.x[:, points]
        planes = self.planes[:, facets]
        height = planes[0] * p[0] + planes[1] * p[1] + planes[2] * p[2] - planes[3]
        sees: BoolArray = height > 0.0
        for k in np.flatnonzero(np.abs(height) <= self.frame.filter).tolist():
            a, b, c = self.corners[facets[k]].tolist()
            sees[k] = self.frame.exact.side(a, b, c, int(points[k])) > 0
        return sees

    def _insert(
        self, points: IntArray, facets: IntArray
    ) -> tuple[BoolArray, BoolArray, IntArray, IntArray, IntArray, IntArray]:
        """Insert as many of the points, each above its given facet, as do not disturb each other; later ones first.

        Return which were inserted; which do not see their facet; for each old facet the point that removed it, or -1;
        and the new facets with, for each point, where its ring of them begins and how many there are.
        """
        count, many = self.count, len(points)
        row = np.arange(many)
        known = np.zeros(many * count, dtype=np.int8)  # 1: the point sees the facet, 2: it does not
        keys = row * count + facets
        sees = self._sees(points, facets)
        blind = ~sees
        known[keys] = 2 - sees
        found = [keys[sees]]
        while len(found[-1]):
            who, facet = np.divmod(found[-1], count)
            keys = (who[:, None] * count + self.beside[facet]).ravel()
            keys = keys[known[keys] == 0]
            if not len(keys):
                break
            keys.sort()
            keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
            who, facet = np.divmod(keys, count)
            sees = self._sees(points[who], facet)
            known[keys] = 2 - sees
            found.append(keys[sees])
        keys = np.sort(np.concatenate(found))
        who, facet = np.divmod(keys, count)
        across = self.beside[facet]
        edge, side = np.nonzero(known[who[:, None] * count + across] == 2)
        rim_who, rim_facet, rim_beyond = who[edge], facet[edge], across[edge, side]

        # Two points are at odds when one sees a facet of the other's region or rim. Later points go first; then those
        # that are not at odds with any of them, until none is left.
        inserted = np.zeros(many, dtype=np.bool_)
        seen_by = np.full(count, -1, dtype=np.intp)
        rim_of = np.full(count, -1, dtype=np.intp)
        i, f, j, g = who, facet, rim_who, rim_beyond
        while len(i):
            seen_by[f] = i
            rim_of[g] = j
            waits = np.ones(many, dtype=np.bool_)
            waits[i] = False
            waits[i[(seen_by[f] > i) | (rim_of[f] > i)]] = True
            waits[j[seen_by[g] > j]] = True
            inserted |= ~waits
            seen_by.fill(-1)
            rim_of.fill(-1)
            seen_by[facet[inserted[who]]] = 0
            rim_of[rim_beyond[inserted[rim_who]]] = 0
            out = inserted.copy()
            out[i[(seen_by[f] == 0) | (rim_of[f] == 0)]] = True
            out[j[seen_by[g] == 0]] = True
            if out.all():
                break
            seen_by.fill(-1)
            rim_of.fill(-1)
            left, left_rim = ~out[i], ~out[j]
            i, f, j, g = i[left], f[left], j[left_rim], g[left_rim]

        gone = inserted[who]
        takers = np.full(count, -1, dtype=np.intp)
        takers[facet[gone]] = who[gone]
        kept = inserted[rim_who]
        rim_who, rim_facet, rim_beyond, side = (
            rim_who[kept],
            rim_facet[kept],
            rim_beyond[kept],
            side[kept],
        )
        start = self.corners[rim_facet, side]
        end = self.corners[rim_facet, (side + 1) % 3]
        removed = facet[gone]
        new = np.concatenate([self._holes, removed])
        total = count + max(0, len(start) - len(new))
        self._reserve(total)
        new = np.concatenate([new, np.arange(count, total)])
        # A point that buries others needs fewer facets than it removes. Nothing is above the plane of a hole.
        new, self._holes = new[: len(start)], new[len(start) :]
        self.planes[:, self._holes] = [[0.0], [0.0], [0.0], [1e300]]
        self.count = total
        corner = self.corners[rim_beyond]
        self.beside[rim_beyond, (corner == end[:, None]).argmax(axis=1)] = new
        n = self.x.shape[1]
        start_key = rim_who * n + start
        order = start_key.argsort()
        following = new[order[np.searchsorted(start_key, rim_who * n + end, sorter=order)]]
        self.corners[new] = np.stack([start, end, points[rim_who]], axis=1)
        self.beside[new, 0] = rim_beyond
        self.beside[new, 1] = following
        self.beside[following, 2] = new
        self._set_planes(new)
        rings = np.bincount(rim_who, minlength=many)
        return inserted, blind, takers, new, np.cumsum(rings) - rings, rings

    def _reserve(self, total: int) -> None:
        size = len(self.corners)
        if total > size:
            more = max(total, 2 * size) - size
            self.corners = np.concatenate([self.corners, np.empty((more, 3), dtype=np.intp)])
            self.beside = np.concatenate([self.beside, np.empty((more, 3), dtype=np.intp)])
            self.planes = np.concatenate([self.planes, np.empty((4, more))], axis=1)

    def _left_too_far_out(self) -> IntArray:
        """Return the points left out near a sharp edge or tip, where near all planes is not near the polyhedron."""
        near = self.near
        if not len(near):
            return near
        normals, offsets = self.planes[:3, : self.count], self.planes[3, : self.count]
        middle = self.x[:, self.vertices].mean(axis=1)
        inside = float((offsets - middle @ normals).min())
        # Growing the polyhedron about a point within by 1 + drop / inside moves every plane out by drop at least.
        if self.frame.drop * 2.0 * self.frame.radius <= self.frame.buried * inside:
            return near[:0]
        corners = self.corners[: self.count]
        p = [self.x[:, corners[:, s]] for s in range(3)]
        way = [p[(s + 1) % 3] - p[s] for s in range(3)]
        aside = [np.stack([w[1] * normals[2] - w[2] * normals[1], w[2] * normals[0] - w[0] * normals[2],
                           w[0] * normals[1] - w[1] * normals[0]]) for w in way]  # fmt: skip
        limit = self.frame.straight
        far: list[IntArray] = []
        step = max(1, _PRODUCT // self.count)
        for begin in range(0, len(near), step):
            ids = near[begin : begin + step]
            q = self.x[:, ids]
            over = np.abs(normals.T @ q - offsets[:, None]) <= limit
            for s in range(3):
                over &= aside[s].T @ q <= (aside[s] * p[s]).sum(axis=0)[:, None]
            left = ids[~over.any(axis=0)]
            if len(left):
                far.append(left[self._edge_distance(left, p, way) > limit])
        return np.concatenate(far) if far else near[:0]

    def _edge_distance(self, ids: IntArray, starts: list[FloatArray], ways: list[FloatArray]) -> FloatArray:
        """Return the distance of each point to the nearest edge."""
        start, way = np.concatenate(starts, axis=1), np.concatenate(ways, axis=1)
        square = _squares(way)
        best = np.empty(len(ids))
        step = max(1, _TABLE // (16 * self.count))
        for begin in range(0, len(ids), step):
            to = self.x[:, None, ids[begin : begin + step]] - start[:, :, None]
            share = np.clip((to * way[:, :, None]).sum(axis=0) / square[:, None], 0.0, 1.0)
            best[begin : begin + step] = _squares(to - share * way[:, :, None]).min(axis=0)
        return np.sqrt(best)

    def _insert_exactly(self, ids: IntArray) -> None:
        """Insert those of the points that are outside at all, by however little."""
        while len(ids):
            heights = self.planes[:3, : self.count].T @ self.x[:, ids] - self.planes[3, : self.count, None]
            pending, facets = [], []
            for k, point in enumerate(ids.tolist()):
                for facet in np.flatnonzero(heights[:, k] >= -self.frame.filter).tolist():
                    a, b, c = self.corners[facet].tolist()
                    if self.frame.exact.side(a, b, c, point) > 0:
                        pending.append(point)
                        facets.append(facet)
                        break
            if not pending:
                return
            ids = np.array(pending, dtype=np.intp)
            limit = max(1, _TABLE // self.count)
            rows = ids[-limit:]
            inserted = self._insert(rows, np.array(facets[-limit:], dtype=np.intp))[0]
            ids = np.concatenate([ids[:-limit], rows[~inserted]])


def _extreme(x: FloatArray, directions: FloatArray) -> IntArray:
    """Return the indices of the columns of x that are farthest in one of the directions (rows)."""
    count = len(directions)
    best = np.full(count, -np.inf)
    found = np.zeros(count, dtype=np.intp)
    step = _PRODUCT // count
    for start in range(0, x.shape[1], step):
        heights = directions @ x[:, start : start + step]
        top = heights.argmax(axis=1)
        height = heights[np.arange(count), top]
        better = height > best
        best[better] = height[better]
        found[better] = top[better] + start
    return np.unique(found)


def _directions(count: int) -> FloatArray:
    """Return directions spread over the sphere (a Fibonacci spiral), none of them along an axis or a diagonal."""
    k = np.arange(count)
    z = 1.0 - (2.0 * k + 1.0) / count
    angle = 0.3 + k * (np.pi * (3.0 - np.sqrt(5.0)))
    r = np.sqrt(1.0 - z * z)
    directions: FloatArray = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
    return directions


_DIRECTIONS = _directions(64)
