# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull of points in space: quickhull with many points per round.

Points whose visible regions neither overlap nor share an edge are independent: they are inserted together, so that a
round is a fixed number of array operations. Why it is correct on every finite input:

* The points are integers (`HullGrid`), and side tests that floats leave open are repeated exactly: the triangulated
  hull is exactly convex and closed.
* A point is left out only when it is inside the hull of the remaining points, or outside by a few roundings of the
  largest coordinate (`tolerance.HULL_DROP`).
* `facets.py` merges coplanar triangles to polygons afterwards.

Source: Barber, Dobkin, Huhdanpaa, "The Quickhull algorithm for convex hulls" (1996).
"""

from __future__ import annotations

import math

import numpy as np

from ..progress import Progress, report_progress, subrange
from ..runs import chunks, ranges
from ..tolerance import HULL_SLIVER
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross, dot, spiral_directions, squared_lengths
from .hilbert_curve import curve_order
from .hull_grid import HullGrid
from .orientation import signs_of_volumes
from .pair_keys import unique_keys, within
from .polytope import PRODUCTS
from .small_hull import SmallHull

_HULL_SIEVE = 1e-9
"""Relative: the square of the radius of the ball inside a hull is reduced by this, for its rounding."""

_ONE_BY_ONE = 64  # points; up to this number, and for extreme points, plain floats are faster than arrays
_FEW_LEFT = 160  # points outside the hull of the extreme ones; up to this number plain floats continue
_MANY = 400  # points; from this number on, twice as many extreme points are inserted first
_TABLE = 2_000_000  # pairs of a point and a facet that it sees, per round
_MANY_UNCLEAR = 100  # pairs of a point and a facet; from here on arrays with twice the digits are faster than integers
_NEIGHBOURS = 64  # points whose nearest edges are searched together
_SLIVER = HULL_SLIVER**2


class Solid:
    """A triangulated convex polyhedron that grows by points, always exactly convex.

    Facet k has the corners `corners[k]`, counter-clockwise seen from outside; across side s, from its corner s to the
    next, lies the facet `beside[k, s]`; its plane is `planes[:3, k] @ x <= planes[3, k]`, unit normal, with an error of
    less than the grid's `filter` anywhere in the bounding box.
    """

    count: int
    corners: IntArray
    beside: IntArray
    planes: FloatArray

    def __init__(self, grid: HullGrid, simplex: tuple[int, ...], progress: Progress | None = None) -> None:
        """Build the hull of all points, from a simplex of full rank whose fourth corner is below the first three.

        Raises Cancelled when `progress` says so.
        """
        self.grid = grid
        self.x = grid.x
        self._left_out: list[IntArray] = []
        self._holes: IntArray = np.empty(0, dtype=np.intp)
        n = self.x.shape[1]
        few = SmallHull(grid, simplex)
        if n <= _ONE_BY_ONE:
            few.add(np.arange(n))
            self._take(few)
        else:
            few.add(extreme_points(self.x, _DIRECTIONS if n > _MANY else _DIRECTIONS[::2]))
            few.left_out.clear()
            self._take(few)
            ids, owner, height = self._locate(self._outside_ball(), subrange(progress, 0.0, 0.1))
            if len(ids) <= _FEW_LEFT:
                few.add_outside(ids, owner, height)
                self._take(few)
            else:
                self._grow(ids, owner, height, subrange(progress, 0.1, 0.8))
        self._close_holes()
        self._insert_exactly(*self._left_too_far_out(subrange(progress, 0.8, 0.9)), subrange(progress, 0.9, 1.0))
        self._close_holes()

    def _close_holes(self) -> None:
        if len(self._holes):
            alive = np.ones(self.count, dtype=np.bool_)
            alive[self._holes] = False
            position = np.cumsum(alive) - 1
            order = np.flatnonzero(alive)
            self.corners = self.corners[order]
            self.beside = position[self.beside[order]]
            self.planes = self.planes[:, order]
            self.count = len(order)
            self._holes = self._holes[:0]

    def _take(self, few: SmallHull) -> None:
        self.corners = np.array(few.corners, dtype=np.intp)
        self.beside = np.array(few.beside, dtype=np.intp)
        self.planes = np.array(few.planes).T.copy()
        self.count = len(self.corners)
        self._left_out.append(np.array(few.left_out, dtype=np.intp))

    @property
    def vertices(self) -> IntArray:
        """Indices of the points on the hull, ascending."""
        on_hull = np.zeros(self.x.shape[1], dtype=np.bool_)
        on_hull[self.corners[: self.count]] = True
        return np.flatnonzero(on_hull)

    @property
    def left_out(self) -> IntArray:
        """Points that were left out although they may protrude by rounding."""
        return np.concatenate(self._left_out)

    def _outside_ball(self) -> IntArray:
        """Return the points outside a ball that fits into the current polyhedron: a cheap first filter."""
        normals, offsets = self.planes[:3, : self.count], self.planes[3, : self.count]
        middle = self.x[:, self.vertices].mean(axis=1)
        radius = float((offsets - middle @ normals).min()) - self.grid.filter
        if radius <= 0.0:
            return np.arange(self.x.shape[1])
        squares = squared_lengths(self.x - middle[:, None])
        return np.flatnonzero(squares > radius * radius * (1.0 - _HULL_SIEVE))

    def _set_planes(self, facets: IntArray) -> None:
        x, corners = self.x, self.corners[facets]
        p0, p1, p2 = x[:, corners[:, 0]], x[:, corners[:, 1]], x[:, corners[:, 2]]
        u, v, w = p1 - p0, p2 - p1, p0 - p2
        # The error of a cross product is relative to its factors: use the two shorter sides.
        lengths = np.stack([squared_lengths(u), squared_lengths(v), squared_lengths(w)])
        longest = lengths.argmax(axis=0)
        first = np.where(longest == 0, v, np.where(longest == 1, w, u))
        second = np.where(longest == 0, w, np.where(longest == 1, u, v))
        normal = cross(first, second)
        squares = squared_lengths(normal)
        product = lengths.prod(axis=0) / lengths.max(axis=0)
        thin = np.flatnonzero(squares < _SLIVER * product)
        normal /= np.sqrt(np.where(squares > 0.0, squares, 1.0))
        for k in thin.tolist():
            exact = self.grid.exact.unit_normal(*corners[k].tolist())
            if exact is not None:
                normal[:, k] = exact
        self.planes[:3, facets] = normal
        # The corner opposite the longest side is nearest to all three.
        near = np.where(longest == 0, p2, np.where(longest == 1, p0, p1))
        self.planes[3, facets] = dot(normal, near)

    def _locate(self, ids: IntArray, progress: Progress | None) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the points that are outside, each with the facet it is farthest above and its height."""
        normals, offsets = (
            self.planes[:3, : self.count].T,
            self.planes[3, : self.count, None],
        )
        parts = []
        for chunk in chunks(len(ids), PRODUCTS // self.count, progress):
            part = ids[chunk]
            heights = normals @ self.x.take(part, axis=1)
            heights -= offsets
            # Few points are outside, and max is far cheaper than argmax.
            outside = np.flatnonzero(heights.max(axis=0) >= -self.grid.filter)
            heights = heights.take(outside, axis=1)
            owner = heights.argmax(axis=0)
            parts.append((part[outside], owner, heights[owner, np.arange(len(owner))]))
        if not parts:
            return ids, ids, np.empty(0)
        return self._keep_outside(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _keep_outside(
        self, ids: IntArray, owner: IntArray, height: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the points outside; add those near the surface to `left_out`, except duplicates of corners."""
        outside = height > self.grid.drop
        close = np.flatnonzero(~outside & (height >= -self.grid.filter))
        if len(close):
            p = self.x[:, ids[close]]
            q = self.x[:, self.corners[owner[close]].T]
            copies = (q == p[:, None, :]).all(axis=0).any(axis=0)
            self._left_out.append(ids[close[~copies]])
        return ids[outside], owner[outside], height[outside]

    def _grow(
        self, ids: IntArray, owner: IntArray, height: FloatArray, progress: Progress | None, exactly: bool = False
    ) -> None:
        """Insert points until none is outside by more than HULL_DROP; with `exactly`, until none is outside at all.

        With `exactly`, `height` is the exact volume of the tetrahedron of a point and its facet.
        """
        count = len(ids)
        while len(ids):
            report_progress(progress, 1.0 - len(ids) / count)  # the number of points only falls
            # The farthest point of each facet: in an assignment with repeated indices the last one counts.
            order = height.argsort(kind="stable")
            farthest = np.full(self.count, -1, dtype=np.intp)
            farthest[owner[order]] = order
            chosen = farthest[farthest >= 0]
            chosen = chosen[height[chosen].argsort(kind="stable")]
            inserted, blind, takers, new, first, rings = self._insert(ids[chosen], owner[chosen])
            taker = takers[owner]
            taker[chosen[inserted]] = -2
            if blind.any():
                # Not above its facet: the float64 height was a rounding error.
                taker[chosen[blind]] = -2
                self._left_out.append(ids[chosen[blind]])
            displaced = np.flatnonzero(taker >= 0)
            stay = taker == -1
            ids, displaced_ids = ids[stay], ids[displaced]
            owner, height = owner[stay], height[stay]
            if len(displaced):
                added = self._reassign(displaced_ids, taker[displaced], new, first, rings, exactly)
                ids, owner, height = (np.concatenate(pair) for pair in zip((ids, owner, height), added, strict=True))

    def _reassign(
        self,
        ids: IntArray,
        taker: IntArray,
        new: IntArray,
        first: IntArray,
        rings: IntArray,
        exactly: bool,
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Assign points whose facet was removed to the facet around the inserted point that they are farthest above."""
        many = rings[taker]
        begin = np.cumsum(many) - many
        point = np.repeat(np.arange(len(ids)), many)
        facet = new[ranges(first[taker], many)]
        points = ids[point]
        heights = self._volumes(points, facet) if exactly else self._heights(points, facet)
        height = np.maximum.reduceat(heights, begin)
        best = np.flatnonzero(heights == np.repeat(height, many))
        owner = np.empty(len(ids), dtype=np.intp)
        owner[point[best]] = facet[best]
        if exactly:
            outside = height > 0.0
            return ids[outside], owner[outside], height[outside]
        return self._keep_outside(ids, owner, height)

    def _heights(self, points: IntArray, facets: IntArray) -> FloatArray:
        """Return the heights of points above the planes of facets, pair by pair, to rounding."""
        planes, x = self.planes, self.x
        heights: FloatArray = planes[0].take(facets) * x[0].take(points)
        heights += planes[1].take(facets) * x[1].take(points)
        heights += planes[2].take(facets) * x[2].take(points)
        heights -= planes[3].take(facets)
        return heights

    def _volumes(self, points: IntArray, facets: IntArray) -> FloatArray:
        """Return six times the volume between points and facets, pair by pair: > 0 exactly where a point is above."""
        corners = self.corners.take(facets, axis=0)
        a, b, c = (self.x.take(corners[:, s], axis=1) for s in range(3))
        return signs_of_volumes(a, b, c, self.x.take(points, axis=1)).values

    def _sees(self, points: IntArray, facets: IntArray) -> BoolArray:
        """Return whether points are strictly above facets, pair by pair, exactly."""
        height = self._heights(points, facets)
        sees: BoolArray = height > 0.0
        unclear = np.flatnonzero(np.abs(height) <= self.grid.filter)  # mutant: hull-sides-by-floats
        if len(unclear) > _MANY_UNCLEAR:
            sees[unclear] = self._volumes(points[unclear], facets[unclear]) > 0.0
            return sees
        for k in unclear.tolist():
            a, b, c = self.corners[facets[k]].tolist()
            sees[k] = self.grid.exact.side(a, b, c, int(points[k])) > 0
        return sees

    def _insert(
        self, points: IntArray, facets: IntArray
    ) -> tuple[BoolArray, BoolArray, IntArray, IntArray, IntArray, IntArray]:
        """Insert as many of the points, each above its given facet, as are independent of each other; later ones first.

        Return masks of the points that were inserted and of those that do not see their facet; for each old facet the
        point that removed it, or -1; and the new facets with, for each point, the start and the length of its ring of
        them.
        """
        count, many = self.count, len(points)
        sees = self._sees(points, facets)
        blind = ~sees
        keys = np.flatnonzero(sees) * count + facets[sees]  # a point and a facet; ascending
        before = keys[:0]
        found = [keys]
        first = 0
        while len(keys):
            # Breadth first: what a point sees beside a facet is on the same level, the last one or the next one.
            viewer, facet = np.divmod(keys, count)
            beyond = unique_keys((viewer[:, None] * count + self.beside[facet]).ravel())
            beyond = beyond[~(within(keys, beyond) | within(before, beyond))]
            viewer, facet = np.divmod(beyond, count)
            before, keys = keys, beyond[self._sees(points[viewer], facet)]
            found.append(keys)
            if sum(map(len, found)) > _TABLE and first < many - 1:
                first = (first + many) // 2  # later ones first; the others follow in another round
                found = [part[part >= first * count] for part in found]
                before, keys = found[-2:]
        keys = np.sort(np.concatenate(found))
        viewer, facet = np.divmod(keys, count)
        across = self.beside[facet]
        edge, side = np.nonzero(~within(keys, viewer[:, None] * count + across))
        rim_viewer, rim_facet, rim_beyond = viewer[edge], facet[edge], across[edge, side]

        # Two points conflict when one sees a facet of the other's region or rim. Later points go first; then those
        # without a conflict with any of them, until none remains.
        inserted = np.zeros(many, dtype=np.bool_)
        seen_by = np.full(count, -1, dtype=np.intp)
        rim_of = np.full(count, -1, dtype=np.intp)
        i, f, j, g = viewer, facet, rim_viewer, rim_beyond
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
            seen_by[facet[inserted[viewer]]] = 0
            rim_of[rim_beyond[inserted[rim_viewer]]] = 0
            out = inserted.copy()
            out[i[(seen_by[f] == 0) | (rim_of[f] == 0)]] = True
            out[j[seen_by[g] == 0]] = True
            if out.all():
                break
            seen_by.fill(-1)
            rim_of.fill(-1)
            left, left_rim = ~out[i], ~out[j]
            i, f, j, g = i[left], f[left], j[left_rim], g[left_rim]

        is_removed = inserted[viewer]
        takers = np.full(count, -1, dtype=np.intp)
        takers[facet[is_removed]] = viewer[is_removed]
        kept = inserted[rim_viewer]
        rim_viewer, rim_facet, rim_beyond, side = (
            rim_viewer[kept],
            rim_facet[kept],
            rim_beyond[kept],
            side[kept],
        )
        start = self.corners[rim_facet, side]
        end = self.corners[rim_facet, (side + 1) % 3]
        removed = facet[is_removed]
        new = np.concatenate([self._holes, removed])
        total = count + max(0, len(start) - len(new))
        self._reserve(total)
        new = np.concatenate([new, np.arange(count, total)])
        # A point that encloses others needs fewer facets than it removes. Nothing is above the plane of a hole.
        new, self._holes = new[: len(start)], new[len(start) :]
        self.planes[:, self._holes] = [[0.0], [0.0], [0.0], [np.inf]]
        self.count = total
        corner = self.corners[rim_beyond]
        self.beside[rim_beyond, (corner == end[:, None]).argmax(axis=1)] = new
        n = self.x.shape[1]
        start_key = rim_viewer * n + start
        order = start_key.argsort()
        following = new[order[np.searchsorted(start_key, rim_viewer * n + end, sorter=order)]]
        self.corners[new] = np.stack([start, end, points[rim_viewer]], axis=1)
        self.beside[new, 0] = rim_beyond
        self.beside[new, 1] = following
        self.beside[following, 2] = new
        self._set_planes(new)
        rings = np.bincount(rim_viewer, minlength=many)
        return inserted, blind, takers, new, np.cumsum(rings) - rings, rings

    def _reserve(self, total: int) -> None:
        size = len(self.corners)
        if total > size:
            more = max(total, 2 * size) - size
            self.corners = np.concatenate([self.corners, np.empty((more, 3), dtype=np.intp)])
            self.beside = np.concatenate([self.beside, np.empty((more, 3), dtype=np.intp)])
            self.planes = np.concatenate([self.planes, np.empty((4, more))], axis=1)

    def _left_too_far_out(self, progress: Progress | None) -> tuple[IntArray, IntArray]:
        """Return the points left out near a sharp edge or tip, where a point near all planes may be far from the
        polyhedron.

        Each is returned with its nearest edge: side s of facet k is number s * count + k.
        """
        near = self.left_out
        if not len(near):
            return near, near
        normals, offsets = self.planes[:3, : self.count], self.planes[3, : self.count]
        middle = self.x[:, self.vertices].mean(axis=1)
        inside = float((offsets - middle @ normals).min())
        # Scaling the polyhedron about an inner point by 1 + drop / inside moves every plane out by at least drop.
        if self.grid.drop * 2.0 * self.grid.radius <= self.grid.buried * inside:
            return near[:0], near[:0]
        corners = self.corners[: self.count]
        p = [self.x[:, corners[:, s]] for s in range(3)]
        direction = [p[(s + 1) % 3] - p[s] for s in range(3)]
        aside = [cross(side, normals) for side in direction]
        limit = self.grid.straight
        beside = []
        for chunk in chunks(len(near), PRODUCTS // self.count, progress):
            ids = near[chunk]
            q = self.x[:, ids]
            over = np.abs(normals.T @ q - offsets[:, None]) <= limit
            for s in range(3):
                over &= aside[s].T @ q <= (aside[s] * p[s]).sum(axis=0)[:, None]
            beside.append(ids[~over.any(axis=0)])
        ids = np.concatenate(beside)
        edge, distance = self._nearest_edges(ids, np.concatenate(p, axis=1), np.concatenate(direction, axis=1))
        far = distance > limit
        return ids[far], edge[far]

    def _nearest_edges(self, ids: IntArray, start: FloatArray, direction: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the edge nearest to each point, and its distance; `start` and `direction` are those of the sides of
        facets."""
        # Every edge is a side of two facets: one of them is enough.
        once = np.flatnonzero((self.corners[: self.count] < np.roll(self.corners[: self.count], -1, axis=1)).T.ravel())
        start, direction = start[:, once], direction[:, once]
        square = squared_lengths(direction)

        def squares(q: FloatArray, chosen: slice | IntArray) -> FloatArray:
            to = q[:, None, :] - start[:, chosen, None]
            fraction = np.clip((to * direction[:, chosen, None]).sum(axis=0) / square[chosen, None], 0.0, 1.0)
            return squared_lengths(to - fraction * direction[:, chosen, None])

        nearest, best = np.empty(len(ids), dtype=np.intp), np.empty(len(ids))
        order = curve_order(self.x[:, ids])
        for part in chunks(len(ids), min(_TABLE // (16 * self.count), _NEIGHBOURS)):
            # Edges farther than this from the middle of a few neighbours are nearest to none of them.
            chunk = order[part]
            q = self.x[:, ids[chunk]]
            middle = q.mean(axis=1, keepdims=True)
            away = np.sqrt(squares(middle, slice(None))[:, 0])
            reach = float(away.min()) + 2.0 * math.sqrt(float(squared_lengths(q - middle).max()))
            close = np.flatnonzero(away <= reach * (1.0 + _HULL_SIEVE))
            found = squares(q, close)
            least = found.argmin(axis=0)
            nearest[chunk] = once[close[least]]
            best[chunk] = np.sqrt(found[least, np.arange(len(least))])
        return nearest, best

    def _insert_exactly(self, ids: IntArray, edges: IntArray, progress: Progress | None) -> None:
        """Insert the points that are outside at all, by however little; each is given with its nearest edge.

        A point outside is above a facet beside its nearest edge, except by rounding or where a corner is as near.
        """
        if not len(ids):
            return
        side, facet = np.divmod(edges, self.count)
        across = self.beside[facet, side]
        volume, volume_across = self._volumes(ids, facet), self._volumes(ids, across)
        owner = np.where(volume >= volume_across, facet, across)
        volume = np.maximum(volume, volume_across)
        unseen = np.flatnonzero(volume <= 0.0)
        for chunk in chunks(len(unseen), PRODUCTS // (16 * self.count)):
            part = unseen[chunk]
            heights = self.x[:, ids[part]].T @ self.planes[:3, : self.count] - self.planes[3, : self.count]
            row, facet = np.nonzero(heights >= -self.grid.filter)
            found = self._volumes(ids[part[row]], facet)
            above = np.flatnonzero(found > 0.0)
            owner[part[row[above]]] = facet[above]
            volume[part[row[above]]] = found[above]
        outside = np.flatnonzero(volume > 0.0)
        # mutant: hull-sharp-tips-left-out
        self._grow(ids[outside], owner[outside], volume[outside], progress, exactly=True)


def extreme_points(x: FloatArray, directions: FloatArray) -> IntArray:
    """Return the indices of the columns of x that are farthest in one of the directions (rows)."""
    count = len(directions)
    best = np.full(count, -np.inf)
    found = np.zeros(count, dtype=np.intp)
    for chunk in chunks(x.shape[1], PRODUCTS // count):
        heights = directions @ x[:, chunk]
        top = heights.argmax(axis=1)
        height = heights[np.arange(count), top]
        better = height > best
        best[better] = height[better]
        found[better] = top[better] + chunk.start
    return np.unique(found)


_DIRECTIONS = spiral_directions(64, 0.3)
"""None of them is along an axis or a diagonal."""
