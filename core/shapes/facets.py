# SPDX-License-Identifier: GPL-3.0-or-later
"""From the triangles of a solid to its facets: coplanar triangles are merged to polygons, redundant corners removed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..progress import Progress, report_progress, subrange
from ..runs import next_in_loops, ranges
from ..types import FloatArray, IntArray
from ..vectors import cross, dot, squared_lengths
from .hull_grid import HullGrid, polygon_normal
from .pair_keys import unique_keys, within
from .polygon_hull import bends
from .quickhull import Solid

_ATTEMPTS = 16
_EDGES = 1_000_000  # edges followed at a time
_NO_PAIRS: tuple[IntArray, IntArray] = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))


class Facets(NamedTuple):
    """The boundary of a solid. `corners` are indices into the input points; all other indices are positions in
    `corners`."""

    corners: IntArray
    loops: tuple[IntArray, ...]
    normals: FloatArray
    edges: IntArray
    edge_facets: IntArray = np.empty((0, 2), dtype=np.intp)
    reaching: tuple[IntArray, IntArray] = _NO_PAIRS
    """Pairs of a facet and an input point, a corner of the triangles, that may reach beyond the facet's own corners.
    Facets that are triangles of the hull have no such pairs."""


@dataclass(eq=False)
class _Region:
    """Triangles to be merged to one facet: always a disc, so that its rim is one simple loop."""

    triangles: dict[int, None]
    corners: set[int]
    normal: list[float]


def merge(solid: Solid, progress: Progress | None = None) -> Facets | FloatArray:
    """Return the facets of a finished solid, or the unit normal of a solid so thin that only two sides remain.

    Triangles are merged when their corners lie within HULL_MERGE of one plane. Corners within a facet and corners on a
    straight edge of two facets are removed, unless they protrude by more than the tolerances; then the merge is
    repeated without removing them. Where no merge is possible without breaking the polyhedron the triangles are kept.
    Raises Cancelled when `progress` says so.
    """
    triangles = solid.corners[: solid.count]
    beside = solid.beside[: solid.count]
    planes = solid.planes[:, : solid.count]
    flat = _flat_neighbours(solid.x, triangles, beside, planes, 2.0 * solid.grid.merge)
    if flat.any():
        merger = _Merger(solid.grid, triangles, beside, planes, flat)
        for k in range(_ATTEMPTS):
            merger.grow_all(subrange(progress, 1.0 - 0.5**k, 1.0 - 0.5 ** (k + 1)))
            loops = merger.loops()
            if loops is not None and len(loops) == 2:
                normal = np.array(merger.regions[0].normal)
                heights = normal @ solid.x[:, solid.vertices]
                if float(heights.max() - heights.min()) <= solid.grid.rank:
                    return normal
                break
            if loops is not None:
                sizes = np.array([len(loop) for loop in loops])
                result = _assemble(np.concatenate([np.array(loop) for loop in loops]), sizes, merger.normals())
                if result is None:
                    break
                result = result._replace(reaching=merger.reaching(result))
                if not merger.misses(result):
                    return result
    result = _assemble(triangles.ravel(), np.full(len(triangles), 3), planes[:3])
    assert result is not None, "an exactly convex triangulation is closed"
    return result


def _flat_neighbours(
    x: FloatArray,
    triangles: IntArray,
    beside: IntArray,
    planes: FloatArray,
    limit: float,
) -> IntArray:
    """Return (n, 3) for each triangle and side whether the corner beyond is below the triangle's plane by at most
    `limit`."""
    far = triangles[beside].sum(axis=2) - triangles - np.roll(triangles, -1, axis=1)
    depth = planes[3][:, None] - sum(planes[k][:, None] * x[k][far] for k in range(3))
    return depth <= limit


class _Merger:
    """Grows regions of coplanar triangles and turns them into polygons."""

    def __init__(
        self,
        grid: HullGrid,
        triangles: IntArray,
        beside: IntArray,
        planes: FloatArray,
        flat: IntArray,
    ) -> None:
        self.grid = grid
        self.x = grid.x
        self.corners = triangles
        self.triangles: list[list[int]] = triangles.tolist()
        self.beside: list[list[int]] = beside.tolist()
        self.planes = planes
        self.unit: list[list[float]] = planes[:3].T.tolist()
        used = np.unique(triangles)
        self.points: dict[int, list[float]] = dict(zip(used.tolist(), grid.x[:, used].T.tolist(), strict=True))
        first, second, third = (grid.x[:, triangles[:, s]] for s in range(3))
        area = squared_lengths(cross(second - first, third - first))
        seeds = np.flatnonzero(flat.any(axis=1))
        # Large triangles first: their planes are the surest.
        self.seeds: list[int] = seeds[(-area[seeds]).argsort(kind="stable")].tolist()
        self.kept: set[int] = set()  # corners that must not be removed
        self.alone: set[int] = set()  # triangles that must not be merged
        self.regions: list[_Region] = []
        self.label: list[int] = []

    def grow_all(self, progress: Progress | None) -> None:
        self.regions = []
        self.label = [-1] * len(self.triangles)
        for k, seed in enumerate(self.seeds):
            if self.label[seed] < 0 and seed not in self.alone:
                report_progress(progress, k, len(self.seeds))
                region = self._grow(seed)
                if len(region.triangles) > 1:
                    for triangle in region.triangles:
                        self.label[triangle] = len(self.regions)
                    self.regions.append(region)

    def _grow(self, seed: int) -> _Region:
        """Return the disc of triangles around a seed within HULL_MERGE of one plane."""
        merge = self.grid.merge
        plane = self.unit[seed]
        for limit in (2.0 * merge, merge):
            # Wide around the seed's own plane first, which noise may have tilted; the common plane decides.
            region = _Region({seed: None}, set(self.triangles[seed]), plane)
            height = float(self.planes[3, seed])
            self._extend(region, height - limit, height + limit)
            while len(region.triangles) > 1:
                low, high = self._refine(region)
                if high - low > 2.0 * merge:
                    break
                middle = 0.5 * (low + high)
                if not self._extend(region, middle - merge, middle + merge):
                    return region
            if len(region.triangles) == 1:
                return region
        return _Region({seed: None}, set(self.triangles[seed]), plane)

    def _refine(self, region: _Region) -> tuple[float, float]:
        """Set the region's normal to that of its rim; return the lowest and highest corner along it."""
        normal = polygon_normal([self.points[corner] for corner in self._rim(region.triangles)])
        if normal is not None:
            region.normal = normal
        heights = self._heights(region.normal, region.corners)
        return min(heights), max(heights)

    def _heights(self, normal: list[float], corners: Iterable[int]) -> list[float]:
        nx, ny, nz = normal
        return [nx * p[0] + ny * p[1] + nz * p[2] for p in map(self.points.__getitem__, corners)]

    def _extend(self, region: _Region, low: float, high: float) -> bool:
        """Add neighbours between two heights while the region stays a disc; return whether any were added."""
        inside, corners, normal = region.triangles, region.corners, region.normal
        nx, ny, nz = normal
        queue = deque(g for f in inside for g in self.beside[f] if g not in inside)
        grown = False
        while queue:
            f = queue.popleft()
            if f in inside or self.label[f] >= 0 or f in self.alone:
                continue
            ux, uy, uz = self.unit[f]
            if ux * nx + uy * ny + uz * nz <= 0.0:
                continue
            triangle, beside = self.triangles[f], self.beside[f]
            shared = [s for s in range(3) if beside[s] in inside]
            if len(shared) == 1:
                corner = triangle[(shared[0] + 2) % 3]
                if corner in corners:
                    continue
                px, py, pz = self.points[corner]
                if not low <= nx * px + ny * py + nz * pz <= high:
                    continue
                corners.add(corner)
            elif len(shared) == 2:
                # The corner between both shared sides becomes an inner one.
                if triangle[shared[1] if shared != [0, 2] else 0] in self.kept:
                    continue
            else:
                continue
            inside[f] = None
            grown = True
            queue.extend(g for g in beside if g not in inside)
        return grown

    def _rim(self, inside: dict[int, None]) -> list[int]:
        following = {}
        for f in inside:
            triangle = self.triangles[f]
            for s in range(3):
                if self.beside[f][s] not in inside:
                    following[triangle[s]] = triangle[(s + 1) % 3]
        start = min(following)
        loop = [start]
        while (corner := following[loop[-1]]) != start:
            loop.append(corner)
        return loop

    def loops(self) -> list[list[int]] | None:
        """Return the loops, merged regions first; None when something has to be kept or left alone first."""
        rims = [self._rim(region.triangles) for region in self.regions]
        loops = rims + [t for t, label in zip(self.triangles, self.label, strict=True) if label < 0]
        sizes = np.array([len(loop) for loop in loops])
        flat = np.concatenate([np.array(loop, dtype=np.intp) for loop in loops])
        between_two = np.bincount(flat)[flat] < 3
        weak = np.flatnonzero(np.add.reduceat(between_two, np.cumsum(sizes) - sizes)).tolist()
        facets_of: dict[int, list[int]] = {corner: [] for corner in flat[between_two].tolist()}
        for k in weak:
            for corner in loops[k]:
                if corner in facets_of:
                    facets_of[corner].append(k)
        problems = self._protruding(rims)
        dropped: set[int] = set()
        for k in weak:
            dropped |= self._straight_corners(k, loops[k], facets_of)
        for k in weak:
            short = [corner for corner in loops[k] if corner not in dropped]
            if len(short) < 3:
                problems |= dropped.intersection(loops[k])
            elif len(short) < len(loops[k]) and k < len(rims):
                normal = polygon_normal([self.points[corner] for corner in short])
                if normal is not None:
                    self.regions[k].normal = normal
            loops[k] = short
        if problems:
            self.kept |= problems
            return None
        non_convex = self._non_convex(loops[: len(rims)])
        for k in non_convex:
            self.alone |= set(self.regions[k].triangles)
        return None if non_convex else loops

    def _protruding(self, rims: list[list[int]]) -> set[int]:
        """Return the inner corners of regions that protrude too far to be removed."""
        result: set[int] = set()
        for region, rim in zip(self.regions, rims, strict=True):
            if len(region.corners) > len(rim):
                inner = sorted(region.corners.difference(rim))
                limit = min(self._heights(region.normal, rim)) + self.grid.buried
                heights = self._heights(region.normal, inner)
                result.update(corner for corner, height in zip(inner, heights, strict=True) if height > limit)
        return result

    def _straight_corners(self, k: int, loop: list[int], facets_of: dict[int, list[int]]) -> set[int]:
        """Return the corners on straight edges between facet k and facets that come later."""
        ends = [i for i, corner in enumerate(loop) if corner not in facets_of or corner in self.kept]
        if len(ends) == len(loop):
            return set()
        if len(ends) < 2:
            self.kept |= set(loop)
            return set()
        dropped: set[int] = set()
        for i, j in zip(ends, [*ends[1:], ends[0] + len(loop)], strict=True):
            chain = [loop[m % len(loop)] for m in range(i, j + 1)]
            if len(chain) > 2 and min(facets_of[chain[1]]) == k:
                dropped |= set(chain).difference(bends(self.x, chain, self.grid.buried))
        return dropped

    def _non_convex(self, loops: list[list[int]]) -> list[int]:
        """Return the merged facets with a corner inside the line between its neighbours by more than rounding."""
        if not loops:
            return []
        sizes = np.array([len(loop) for loop in loops])
        facet = np.repeat(np.arange(len(loops)), sizes)
        ahead = next_in_loops(sizes)
        back = np.argsort(ahead)
        p = self.x[:, np.concatenate([np.array(loop, dtype=np.intp) for loop in loops])]
        direction, to = p[:, ahead] - p[:, back], p - p[:, back]
        normal = np.array([region.normal for region in self.regions]).T[:, facet]
        out = dot(normal, cross(to, direction))
        length = np.sqrt(squared_lengths(direction))
        return np.unique(facet[out < -2.0 * self.grid.merge * length]).tolist()

    def reaching(self, facets: Facets) -> tuple[IntArray, IntArray]:
        """Return pairs of a merged facet and a corner of the triangles about as high above it as its own corners.

        The part of a convex surface above a plane is connected. So every point higher than a facet's highest corner is
        found along edges that begin there and descend by no more than rounding.
        """
        count, most = self.x.shape[1], len(self.regions)
        if not most:
            return _NO_PAIRS
        start = self.corners.ravel()
        end = np.roll(self.corners, -1, axis=1).ravel()[start.argsort(kind="stable")]
        degree = np.bincount(start, minlength=count)
        first = np.cumsum(degree) - degree
        found = []
        sizes = np.array([len(loop) for loop in facets.loops[:most]])
        edges = np.array([int(degree[facets.corners[loop]].sum()) for loop in facets.loops[:most]])
        for part in np.split(np.arange(most, dtype=np.intp), np.flatnonzero(np.diff(np.cumsum(edges) // _EDGES)) + 1):
            facet = np.repeat(part, sizes[part])
            corner = facets.corners[np.concatenate(facets.loops[part[0] : part[-1] + 1])]
            height = self._above(facets.normals, facet, corner)
            least = np.maximum.reduceat(height, np.cumsum(sizes[part]) - sizes[part]) - 2.0 * self.grid.filter
            keys = np.sort((facet * count + corner)[height >= least[facet - part[0]]])
            before = keys[:0]
            while len(keys):
                found.append(keys)
                facet, corner = np.divmod(keys, count)
                many = degree[corner]
                to = end[ranges(first[corner], many)]
                beyond = unique_keys(np.repeat(facet, many) * count + to)
                beyond = beyond[~(within(keys, beyond) | within(before, beyond))]
                facet, corner = np.divmod(beyond, count)
                higher = self._above(facets.normals, facet, corner) >= least[facet - part[0]]
                before, keys = keys, beyond[higher]
        facet, corner = np.divmod(np.concatenate(found), count)
        return facet, corner

    def _above(self, normals: FloatArray, facet: IntArray, corner: IntArray) -> FloatArray:
        """Return the height of corners along the normals of facets, pair by pair."""
        return dot(normals.take(facet, axis=0).T, self.x.take(corner, axis=1))

    def misses(self, facets: Facets) -> bool:
        """Return whether removed corners protrude too far together, and mark those to be kept."""
        facet, corner = facets.reaching
        out = ~np.isin(corner, facets.corners)
        if not out.any():
            return False
        sizes = np.array([len(loop) for loop in facets.loops])
        own = self._above(
            facets.normals, np.repeat(np.arange(len(sizes)), sizes), facets.corners[np.concatenate(facets.loops)]
        )
        reach = np.maximum.reduceat(own, np.cumsum(sizes) - sizes)
        excess = self._above(facets.normals, facet[out], corner[out]) - reach[facet[out]]
        lost = corner[out][excess > self.grid.buried + self.grid.drop]
        self.kept.update(lost.tolist())
        return len(lost) > 0

    def normals(self) -> FloatArray:
        """Return the unit normals, one a column, in the order of the loops."""
        merged = np.array([region.normal for region in self.regions]).reshape(-1, 3).T
        return np.concatenate([merged, self.planes[:3, np.flatnonzero(np.array(self.label) < 0)]], axis=1)


def _assemble(flat: IntArray, sizes: IntArray, normals: FloatArray) -> Facets | None:
    """Return the facets with the corners `flat`, loop after loop; None when they are not the boundary of a solid."""
    used = np.zeros(int(flat.max()) + 1, dtype=np.bool_)
    used[flat] = True
    corners = np.flatnonzero(used)
    flat = (np.cumsum(used, dtype=np.intp) - 1)[flat]  # by default 32 bits, with numpy 1 on Windows
    ends = np.cumsum(sizes).tolist()
    edges = _edges(flat, flat[next_in_loops(sizes)], np.repeat(np.arange(len(sizes)), sizes), len(corners), len(sizes))
    if edges is None:
        return None
    loops = tuple(flat[begin:end] for begin, end in pairwise([0, *ends]))
    return Facets(corners, loops, np.ascontiguousarray(normals.T), *edges)


def _edges(
    start: IntArray, end: IntArray, facet: IntArray, corners: int, facets: int
) -> tuple[IntArray, IntArray] | None:
    """Return edges and their facets from the half-edges of all loops; None when they do not close a ball."""
    forth, back = start * corners + end, end * corners + start
    order, order_back = forth.argsort(), back.argsort()
    forth = forth[order]
    if not np.array_equal(forth, back[order_back]) or (forth[1:] == forth[:-1]).any():
        return None
    if corners - len(start) // 2 + facets != 2:
        return None
    up = start[order] < end[order]
    edges = np.stack([start[order], end[order]], axis=1)[up]
    return edges, np.stack([facet[order], facet[order_back]], axis=1)[up]
