# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull of a few points in space: quickhull in plain floats, one point at a time.

`quickhull.py` does the same with arrays, many points at a time; numpy's overhead per call makes that 5 to 12 times
slower (measured) for the 8 to 64 points with which every hull begins and most are complete.
"""

from __future__ import annotations

import math

from ..tolerance import HULL_SLIVER
from ..types import FloatArray, IntArray
from .hull_grid import HullGrid

_SLIVER = HULL_SLIVER**2


class SmallHull:
    """The triangulated hull of a few points, grown one point at a time in plain floats.

    `corners`, `beside` and `planes` are the rows of those of `Solid`.
    """

    def __init__(self, grid: HullGrid, simplex: tuple[int, ...]) -> None:
        self._grid = grid
        self._rows: dict[int, list[float]] = {}
        self._read(list(simplex))
        self.left_out: list[int] = []
        a, b, c, d = simplex
        self.corners: list[tuple[int, int, int]] = [(a, b, c), (a, d, b), (b, d, c), (c, d, a)]
        self.beside: list[list[int]] = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]]
        self.planes = [self._plane(*triangle) for triangle in self.corners]
        self._outside: list[list[tuple[float, int]]] = [[], [], [], []]
        self._alive = [True] * 4

    def add(self, points: IntArray) -> None:
        """Grow to the hull including the points."""
        ids = [i for i in points.tolist() if i not in self._rows]
        self._read(ids)
        self._assign(ids, range(len(self.corners)))
        self._grow()

    def add_outside(self, points: IntArray, owner: IntArray, height: FloatArray) -> None:
        """Like `add`, for points that are outside, each with the facet it is farthest above and its height."""
        ids = points.tolist()
        self._read(ids)
        for facet, top, point in zip(owner.tolist(), height.tolist(), ids, strict=True):
            self._outside[facet].append((top, point))
        self._grow()

    def _read(self, ids: list[int]) -> None:
        self._rows.update(zip(ids, self._grid.x.take(ids, axis=1).T.tolist(), strict=True))

    def _grow(self) -> None:
        todo = list(range(len(self.corners)))
        while todo:
            facet = todo.pop()
            outside = self._outside[facet]
            if not outside or not self._alive[facet]:
                continue
            top = max(outside)
            point = top[1]
            if top[0] <= self._grid.filter and self._grid.exact.side(*self.corners[facet], point) <= 0:
                # Not above its facet: the float64 height was a rounding error.
                outside.remove(top)
                self.left_out.append(point)
                todo.append(facet)
                continue
            todo.extend(self._insert(point, facet))
        # Drop the facets that were removed.
        order = [k for k, alive in enumerate(self._alive) if alive]
        position = {k: i for i, k in enumerate(order)}
        self.corners = [self.corners[k] for k in order]
        self.planes = [self.planes[k] for k in order]
        self.beside = [[position[g] for g in self.beside[k]] for k in order]
        self._outside = [[] for _ in order]
        self._alive = [True] * len(order)

    def _insert(self, point: int, facet: int) -> range:
        """Add the point, which sees the facet, to the hull; return the new facets."""
        corners, beside, planes = self.corners, self.beside, self.planes
        x, y, z = self._rows[point]
        bound = self._grid.filter
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
                        height = self._grid.exact.side(*corners[g], point)
                    sees[g] = seen = height > 0.0
                    if seen:
                        visible.append(g)
                if not seen:
                    rim.append((u, v, g))
        first = len(corners)
        first_with: dict[int, int] = {}
        for u, v, g in rim:
            first_with[u] = len(corners)
            beside[g][corners[g].index(v)] = len(corners)
            corners.append((u, v, point))
            beside.append([g, 0, 0])
            planes.append(self._plane(u, v, point))
        for k, (_, v, _) in enumerate(rim, first):
            following = first_with[v]
            beside[k][1] = following
            beside[following][2] = k
        new = range(first, len(corners))
        self._outside += [[] for _ in rim]
        self._alive += [True] * len(rim)
        points: list[int] = []
        for f in visible:
            self._alive[f] = False
            points += [q for _, q in self._outside[f] if q != point]
        self._assign(points, new)
        return new

    def _assign(self, points: list[int], facets: range) -> None:
        """Assign each point to the facet that it is farthest above, if it is outside."""
        planes, rows, drop, bound = self.planes, self._rows, self._grid.drop, -self._grid.filter
        for q in points:
            x, y, z = rows[q]
            best = -math.inf
            owner = -1
            for f in facets:
                nx, ny, nz, offset = planes[f]
                height = nx * x + ny * y + nz * z - offset
                if height > best:
                    best = height
                    owner = f
            if best > drop:
                self._outside[owner].append((best, q))
            elif best >= bound and rows[q] not in [rows[corner] for corner in self.corners[owner]]:
                self.left_out.append(q)

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
        if square < _SLIVER * uu * vv:
            # The error of a cross product is relative to its factors: try the two shortest sides.
            wx, wy, wz = cx - bx, cy - by, cz - bz
            ww = wx * wx + wy * wy + wz * wz
            if uu < vv:
                ax, ay, az = bx, by, bz
                nx, ny, nz, vv = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx, ww
            else:
                ax, ay, az = cx, cy, cz
                nx, ny, nz, uu = vy * wz - vz * wy, vz * wx - vx * wz, vx * wy - vy * wx, ww
            square = nx * nx + ny * ny + nz * nz
            exact = self._grid.exact.unit_normal(a, b, c) if square < _SLIVER * uu * vv else None
            if exact is not None:
                nx, ny, nz = exact
                return nx, ny, nz, nx * ax + ny * ay + nz * az
        length = math.sqrt(square)
        nx, ny, nz = nx / length, ny / length, nz / length
        return nx, ny, nz, nx * ax + ny * ay + nz * az
