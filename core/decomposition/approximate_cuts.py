# SPDX-License-Identifier: GPL-3.0-or-later
"""The cutting of a surface into parts that are nearly convex, by planes where it is most concave.

1. The concavity of a part is how deep its surface is under its hull, and how far that hull goes into the room outside
   of the solid: by samples of the surface and of that room, with planes in many directions in place of the hull.
2. The most concave part is cut by the plane that leaves the least, of planes through its deepest places, in its faces
   and across its axes.
3. Parts are merged while the hull of two is not too concave, or while there are more than allowed.

Sources: S1.2; Lien and Amato, "Approximate convex decomposition of polyhedra" (2007); Mamou and Ghorbel, "A simple and
efficient approach for 3D mesh approximate convex decomposition" (2009); Wei et al., "Approximate convex decomposition
for 3D meshes with collision-aware concavity and tree search" (2022).
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import combinations, pairwise, product
from math import gcd

import numpy as np

from ..meshes.mesh import Mesh
from ..meshes.surface import connected_triangles, signed_volume
from ..progress import Progress, report_progress, subrange
from ..types import FloatArray, IntArray
from .decompose_mesh import cavities_of
from .solid_grid import GOLDEN, Float32Array, SolidGrid, surface_samples
from .surface_parts import SurfacePart, joined

_ON_PLANE = 1e-9
"""Times the extent: points nearer to a cut than this are on it."""
_SAMPLES = 1500
"""Samples of the surface of a part, besides its corners."""
_MOST_CORNERS = 1500
_MOST_HOLLOW = 6000
"""Samples of the room outside that a part is measured by."""
_PAIRS = 4000
"""Middles between samples of a part, which are in its hull."""
_STAGES = (0, 3, 13, 49, 10_000)
"""Directions that are looked along before the others: most points are outside of few planes."""
_COARSE = 4
"""Every so many samples are asked first which planes are the best."""
_FINE = 12
"""Planes that all samples are asked about."""
_FACES = 24
"""Directions of faces that are looked along, and planes of faces to cut in."""
_ACROSS = 12
"""Cuts across an axis."""
_SPARE_PARTS = 1.5
"""Times the number of pieces: parts that are cut before they are merged."""


def _grid_axes(reach: int) -> FloatArray:
    """Return unit vectors through the points of a small grid, one of each opposite pair, those of its axes first."""
    span = range(-reach, reach + 1)
    rows = [row for row in product(span, span, span) if row > (0, 0, 0) and gcd(*row) == 1]
    axes = np.array(rows, dtype=np.float64)
    axes = axes[np.argsort((axes * axes).sum(axis=1), kind="stable")]
    return np.asarray(axes / np.sqrt((axes * axes).sum(axis=1))[:, None])


_AXES = _grid_axes(2)
_MAIN_AXES = _grid_axes(1)


def face_axes(points: FloatArray, triangles: IntArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the unit normals, one of each opposite pair, that most of the area has, largest first, and the fraction
    of the area."""
    a, b, c = points.take(triangles, axis=0).transpose(1, 0, 2)
    products = np.cross(b - a, c - a)
    areas = np.sqrt((products * products).sum(axis=1))
    products, areas = products[areas > 0.0], areas[areas > 0.0]
    normals = products / areas[:, None]
    steps = np.rint(normals * 64.0)
    lead = np.take_along_axis(steps, (np.abs(steps) > 0.5).argmax(axis=1)[:, None], axis=1)
    flip = np.where(lead < 0.0, -1.0, 1.0)
    _, place = np.unique(steps * flip, axis=0, return_inverse=True)
    place = place.ravel()
    totals = np.bincount(place, weights=areas)
    sums = np.stack([np.bincount(place, weights=(products * flip)[:, k]) for k in range(3)], axis=1)
    order = np.argsort(-totals, kind="stable")[:count]
    chosen = sums[order]
    return chosen / np.sqrt((chosen * chosen).sum(axis=1))[:, None], totals[order] / areas.sum()


def main_frame(points: FloatArray, triangles: IntArray) -> FloatArray:
    """Return three orthonormal axes as columns: those of the largest faces, or of inertia."""
    normals, fractions = face_axes(points, triangles, _FACES)
    samples = surface_samples(points, triangles, 4000)
    samples = samples - samples.mean(axis=0)
    inertia = np.linalg.eigh(samples.T @ samples)[1][:, ::-1]
    if fractions[0] < 0.1:
        return np.asarray(inertia)
    first = normals[0]
    others = np.concatenate([normals[1:], inertia.T])
    weights = np.concatenate([fractions[1:], [2e-2, 1e-2, 5e-3]])
    flat = others - (others @ first)[:, None] * first
    lengths = np.sqrt((flat * flat).sum(axis=1))
    second = flat[int((weights * (lengths > 0.99) + 1e-6 * lengths).argmax())]
    second = second / np.sqrt(second @ second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


class _Part:
    """A part of the surface, with samples of it and of the room outside in its hull."""

    def __init__(
        self,
        search: ApproximateCuts,
        surface: SurfacePart,
        inner: FloatArray,
        planes: FloatArray,
        cells: IntArray,
        hollow: IntArray,
    ) -> None:
        self.surface = surface
        self.inner = inner
        """(k, 3) corners of the cell inside the solid, where three cuts meet: they are on no triangle."""
        self.planes = planes
        """(p, 4) the planes of the cuts around the cell, normals outward, world frame."""
        self.cells = cells
        """Cells of the grid in the solid that the part may touch."""
        corners = search.local(surface.corners)
        samples = search.local(surface_samples(surface.points, surface.triangles, _SAMPLES))
        heights = np.concatenate([corners, search.local(inner)]) @ search.axes.T
        self.top, self.bottom = heights.max(axis=0), heights.min(axis=0)
        if len(corners) > _MOST_CORNERS:
            keep = np.linspace(0, len(corners) - 1, _MOST_CORNERS).astype(np.intp)
            heights = heights[: len(corners)]
            keep = np.unique(np.concatenate([keep, heights.argmax(axis=0), heights.argmin(axis=0)]))
            corners = corners[keep]
        self.points = np.concatenate([corners, samples])
        self.heights = (search.axes @ self.points.T).astype(np.float32)
        # Middles between two points of a part are in its hull, however thin that is.
        steps = np.arange(_PAIRS) + 0.5
        self.first, self.second = ((steps * step % 1.0 * len(self.points)).astype(np.intp) for step in GOLDEN)
        middles = 0.5 * (self.points[self.first] + self.points[self.second])
        self.between = search.grid.distances[search.grid.cells_at(middles)]
        self.measure(search, hollow)

    @property
    def corners(self) -> FloatArray:
        """(n, 3) points of which the hull is that of the part."""
        return np.concatenate([self.surface.corners, self.inner])

    def measure(self, search: ApproximateCuts, hollow: IntArray) -> None:
        """Measure the concavity; of the room outside, `hollow` may be in the hull."""
        self.top32, self.bottom32 = self.top.astype(np.float32), self.bottom.astype(np.float32)
        self.hollow = search.covered(hollow, self.top32, self.bottom32)
        self.depths = depths_under(self.heights, self.top32, self.bottom32)
        self.filled = float(max(search.distances[self.hollow].max(initial=0.0), self.between.max()))
        self.volume = len(self.hollow) * search.cell**3
        self.concavity = max(float(self.depths.max(initial=0.0)), self.filled)


def depths_under(heights: Float32Array, top: Float32Array, bottom: Float32Array) -> Float32Array:
    """Return how deep points are under the planes of all directions; heights (directions, points)."""
    under = top[:, None] - heights
    np.minimum(under, heights - bottom[:, None], out=under)
    return np.asarray(under.min(axis=0))


def between(heights: Float32Array, rows: IntArray, top: Float32Array, bottom: Float32Array) -> IntArray:
    """Return which of some points are between planes in all directions; heights (directions, points)."""
    for start, end in pairwise(_STAGES):
        h = heights[start:end].take(rows, axis=1)
        kept = ((h <= top[start:end, None]) & (h >= bottom[start:end, None])).all(axis=0)
        rows = rows[kept]
    return rows


class ApproximateCuts:
    """The cutting of one surface, in a frame of its own in which its size is about 1."""

    def __init__(self, mesh: Mesh) -> None:
        points, triangles, closed = mesh.points, mesh.triangles, mesh.is_closed
        used = points[np.unique(triangles)]
        self.frame = main_frame(points - used.mean(axis=0), triangles)
        turned = used @ self.frame
        low, high = turned.min(axis=0), turned.max(axis=0)
        self.center = self.frame @ (0.5 * (low + high))
        self.extent = float(np.sqrt(((high - low) ** 2).sum()))
        local = self.local(points)
        normals, fractions = face_axes(local, triangles, _FACES)
        self.axes = np.concatenate([_AXES, normals[fractions > 2e-3]])
        self.grid = SolidGrid(local, triangles, closed)
        self.cell = self.grid.side
        hollow = np.flatnonzero(self.grid.distances > 0.0)
        self.hollow, self.distances = self.grid.middles(hollow), self.grid.distances[hollow]
        self.hollow_heights = (self.axes @ self.hollow.T).astype(np.float32)
        self.solid = mesh if closed else None
        self.start = SurfacePart(points, triangles)

    def local(self, points: FloatArray) -> FloatArray:
        """Return points in the frame of the search."""
        return np.asarray((points - self.center) @ self.frame / self.extent)

    def covered(self, rows: IntArray, top: Float32Array, bottom: Float32Array) -> IntArray:
        """Return which samples of the room outside are between planes in all directions."""
        return between(self.hollow_heights, rows, top, bottom)

    def parts(self, most: int, concavity: float, progress: Progress | None) -> list[FloatArray]:
        """Return the points of which the hulls are pieces, at most so many: cut until none is more concave than a
        fraction of the extent, or there are enough."""
        everything, solid = np.arange(len(self.hollow)), np.flatnonzero(self.grid.distances == 0.0)
        none = np.empty((0, 3)), np.empty((0, 4))
        parts = [_Part(self, surface, *none, solid, everything) for surface in self._loose_solids(most)]
        done: list[_Part] = []
        limit = max(most, int(_SPARE_PARTS * most))
        cutting = subrange(progress, 0.0, 0.8)
        while parts and len(parts) + len(done) < limit:
            report_progress(cutting, (len(parts) + len(done)) / limit)
            k = max(range(len(parts)), key=lambda k: parts[k].concavity)
            part = parts.pop(k)
            if part.concavity <= concavity:
                parts.append(part)
                break
            halves = self._cut(part)
            if len(halves) < 2:
                done.append(part)
            else:
                parts += halves
        return [part.corners for part in self._merged(parts + done, most, concavity, subrange(progress, 0.8, 1.0))]

    def _loose_solids(self, most: int) -> list[SurfacePart]:
        """Return the loose parts of the surface, with their cavities; near ones together where there are too many."""
        loose = self.start.loose_parts()
        bounds = [(part.corners.min(axis=0), part.corners.max(axis=0)) for part in loose]
        lows, highs = np.array(bounds).transpose(1, 0, 2)
        outer: dict[int, int] = {}
        if self.solid is not None:
            volumes = np.array([signed_volume(part.points - self.center, part.triangles) for part in loose])
            outer = cavities_of(lows, highs, volumes if volumes.sum() >= 0.0 else -volumes)
        solids: dict[int, list[SurfacePart]] = {}
        for k, part in enumerate(loose):
            solids.setdefault(outer.get(k, k), []).append(part)
        middles = self.local(0.5 * (lows + highs))[list(solids)]
        groups = [np.arange(len(middles))]
        while len(groups) < min(most, len(middles)):
            sizes = [float(np.ptp(middles[group], axis=0).max()) if len(group) > 1 else -1.0 for group in groups]
            group = groups.pop(int(np.argmax(sizes)))
            order = np.argsort(middles[group, np.ptp(middles[group], axis=0).argmax()], kind="stable")
            groups += np.array_split(group[order], 2)
        surfaces = list(solids.values())
        return [joined([part for k in group.tolist() for part in surfaces[k]]) for group in groups]

    def _cut(self, part: _Part) -> list[_Part]:
        """Return the parts that the best plane cuts a part into; the part alone where there is none."""
        best = self._best_plane(part)
        if best is None:
            return [part]
        normal, offset = best
        world = self.frame @ normal
        height = offset * self.extent + float(world @ self.center)
        result = []
        sides = part.surface.cut(world, height, _ON_PLANE * self.extent)
        for sign, side in zip((1.0, -1.0), sides, strict=True):
            if not len(side.triangles):
                continue
            planes = np.concatenate([part.planes, sign * np.append(world, height)[None]])
            old = part.inner[sign * (part.inner @ world - height) <= 0.0]
            inner = np.concatenate([old, self._new_corners(planes)])
            heights = self.grid.middles(part.cells) @ normal - offset
            cells = part.cells[sign * heights <= 0.87 * self.cell]
            for surface, own_inner, own_cells in self._separated(side, inner, cells):
                result.append(_Part(self, surface, own_inner, planes, own_cells, part.hollow))
        return result

    def _new_corners(self, planes: FloatArray) -> FloatArray:
        """Return the corners of a cell on its last plane that are inside the solid."""
        if self.solid is None or len(planes) < 3:
            return np.empty((0, 3))
        pairs = np.array(list(combinations(range(len(planes) - 1), 2)))
        rows = np.concatenate([pairs, np.full((len(pairs), 1), len(planes) - 1)], axis=1)
        normals, offsets = planes[rows][:, :, :3], planes[rows][:, :, 3]
        sharp = np.abs(np.linalg.det(normals)) > 1e-6
        if not sharp.any():
            return np.empty((0, 3))
        middle = self.center
        offsets = offsets - normals @ middle
        points = np.linalg.solve(normals[sharp], offsets[sharp][:, :, None])[:, :, 0] + middle
        spare = 1e-9 * self.extent
        low, high = self.solid.bounds
        within = (points @ planes[:, :3].T - planes[:, 3] <= spare).all(axis=1)
        within &= ((points >= low) & (points <= high)).all(axis=1)
        points = points[within]
        return points[self.solid.contains(points)] if len(points) else points

    def _separated(
        self, side: SurfacePart, inner: FloatArray, cells: IntArray
    ) -> list[tuple[SurfacePart, FloatArray, IntArray]]:
        """Return what of a side is not connected by cells of the solid, with the points inside and the cells."""
        loose = side.loose_parts()
        if len(loose) == 1:
            return [(side, inner, cells)]
        place = np.full(len(self.grid.coordinates), -1, dtype=np.intp)
        place[cells] = np.arange(len(cells))
        one, two = self.grid.neighbours(cells)
        starts, ends = [one], [two]
        groups = [*(surface.corners for surface in loose), *(point[None] for point in inner)]
        for k, points in enumerate(groups):
            local = self.local(points)
            if k < len(loose):
                local = np.concatenate([local, self.local(surface_samples(loose[k].points, loose[k].triangles, 200))])
            at = place[self.grid.cells_at(local)]
            at = np.append(at[at >= 0], len(cells) + k)
            starts.append(at)
            ends.append(np.full(len(at), len(cells) + k))
        u, v = np.concatenate(starts), np.concatenate(ends)
        lone = np.arange(len(cells))
        u, v = np.concatenate([u, lone]), np.concatenate([v, lone])
        label_of_edge = connected_triangles(np.stack([u, v, v], axis=1), len(cells) + len(groups))
        label = np.empty(len(cells) + len(groups), dtype=np.intp)
        label[u] = label_of_edge
        of_cells, of_loose, of_inner = np.split(label, [len(cells), len(cells) + len(loose)])
        return [
            (
                joined([loose[k] for k in np.flatnonzero(of_loose == number).tolist()]),
                inner[of_inner == number],
                cells[of_cells == number],
            )
            for number in np.unique(of_loose).tolist()
        ]

    def _planes(self, part: _Part) -> list[tuple[FloatArray, list[float]]]:
        """Return planes to try, by normal and offsets."""
        planes: list[tuple[FloatArray, list[float]]] = []
        points = part.points
        centred = points - points.mean(axis=0)
        inertia = np.linalg.eigh(centred.T @ centred)[1].T
        deep = points[int(part.depths.argmax())]
        filled = self.hollow[part.hollow[int(self.distances[part.hollow].argmax())]] if len(part.hollow) else deep
        fractions = (np.arange(_ACROSS) + 1.0) / (_ACROSS + 1.0)
        for axis in np.concatenate([np.eye(3), inertia]):
            h = points @ axis
            low, high = float(h.min()), float(h.max())
            planes.append(
                (axis, [*(low + fractions * (high - low)).tolist(), float(deep @ axis), float(filled @ axis)])
            )
        planes += [(axis, [float(deep @ axis), float(filled @ axis)]) for axis in _MAIN_AXES]
        return planes + self._face_planes(part)

    def _face_planes(self, part: _Part) -> list[tuple[FloatArray, list[float]]]:
        """Return the planes of the largest faces."""
        local = self.local(part.surface.points)
        a, b, c = local.take(part.surface.triangles, axis=0).transpose(1, 0, 2)
        products = np.cross(b - a, c - a)
        areas = np.sqrt((products * products).sum(axis=1))
        keep = areas > 0.0
        normals = products[keep] / areas[keep, None]
        offsets = (normals * a[keep]).sum(axis=1)
        steps = np.rint(np.concatenate([normals * 64.0, offsets[:, None] * 256.0], axis=1))
        lead = np.take_along_axis(steps, (np.abs(steps) > 0.5).argmax(axis=1)[:, None], axis=1)
        steps *= np.where(lead < 0.0, -1.0, 1.0)
        _, first, place = np.unique(steps, axis=0, return_index=True, return_inverse=True)
        totals = np.bincount(place.ravel(), weights=areas[keep])
        order = first[np.argsort(-totals, kind="stable")[:_FACES]]
        return [(normals[k], [float(offsets[k])]) for k in order.tolist()]

    def _best_plane(self, part: _Part) -> tuple[FloatArray, float] | None:
        """Return the plane that leaves a part least concave; None where none cuts it."""
        hollow = part.hollow
        if len(hollow) > _MOST_HOLLOW:
            hollow = hollow[np.linspace(0, len(hollow) - 1, _MOST_HOLLOW).astype(np.intp)]
        planes = self._planes(part)
        scores = self._scores(part, planes, hollow, _COARSE)
        best = np.argsort([score for score, _, _ in scores], kind="stable")[:_FINE].tolist()
        chosen = [(normal, [offset]) for _, normal, offset in (scores[k] for k in best)]
        scores = self._scores(part, chosen, hollow, 1)
        if not scores:
            return None
        _, normal, offset = min(scores, key=lambda item: item[0])
        return normal, offset

    def _scores(
        self, part: _Part, planes: list[tuple[FloatArray, list[float]]], hollow: IntArray, step: int
    ) -> list[tuple[float, FloatArray, float]]:
        """Return how concave the two sides of planes are, by every `step`-th sample, with the planes."""
        points, heights = part.points[::step], part.heights[:, ::step]
        hollow = hollow[::step]
        room, rooms, distances = self.hollow[hollow], self.hollow_heights[:, hollow], self.distances[hollow]
        pairs = slice(None, None, step)
        first, second, filled = part.points[part.first[pairs]], part.points[part.second[pairs]], part.between[pairs]
        found = []
        for normal, offsets in planes:
            h, g = points @ normal, room @ normal
            order, room_order = np.argsort(h, kind="stable"), np.argsort(g, kind="stable")
            h, g = h[order], g[room_order]
            sides = heights.take(order, axis=1), rooms.take(room_order, axis=1), distances[room_order]
            lower, upper = first @ normal, second @ normal
            lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
            for offset in offsets:
                if h[0] + 1e-3 < offset < h[-1] - 1e-3:
                    crossed = (lower < offset) & (upper > offset)
                    worst = float(filled[~crossed].max(initial=0.0))
                    score = _score(sides, h - offset, g - offset)
                    volume = (score[0] + 1.0) / (len(hollow) + 1.0)
                    found.append((volume + max(score[1], worst) / part.concavity, normal, offset))
        return found

    def _merged(self, parts: list[_Part], most: int, concavity: float, progress: Progress | None) -> list[_Part]:
        """Return parts, merged where the hull of two is little more concave than they are."""
        parts = list(parts)
        everything = np.arange(len(self.hollow))
        spare = everything
        if len(spare) > 4 * _MOST_HOLLOW:
            spare = spare[np.linspace(0, len(spare) - 1, 4 * _MOST_HOLLOW).astype(np.intp)]
        alive = dict(enumerate(parts))
        # The least cost that a pair may have, or the one that it has.
        costs = [(self._least_cost(alive[i], alive[j]), i, j, False) for i, j in combinations(alive, 2)]
        heapify(costs)
        while costs:
            cost, i, j, known = heappop(costs)
            if i not in alive or j not in alive:
                continue
            if cost > concavity and len(alive) <= most:
                break
            if not known:
                report_progress(progress, 1.0 - len(alive) / len(parts))
                heappush(costs, (max(cost, self._filled(alive[i], alive[j], spare)), i, j, True))
                continue
            first, second = alive.pop(i), alive.pop(j)
            one = _Part(
                self,
                joined([first.surface, second.surface]),
                np.concatenate([first.inner, second.inner]),
                np.empty((0, 4)),
                np.empty(0, dtype=np.intp),
                everything,
            )
            number = len(parts)
            parts.append(one)
            for k, other in alive.items():
                heappush(costs, (self._least_cost(other, one), k, number, False))
            alive[number] = one
        return list(alive.values())

    def _least_cost(self, one: _Part, two: _Part) -> float:
        """Return what the concavity of two parts as one is at least, by few samples."""
        top, bottom = np.maximum(one.top32, two.top32), np.minimum(one.bottom32, two.bottom32)
        depth = max(float(depths_under(part.heights[:, ::_COARSE], top, bottom).max()) for part in (one, two))
        a, b = one.points[:: 2 * _COARSE], two.points[:: 2 * _COARSE]
        count = min(len(a), len(b))
        middles = 0.5 * (a[:count] + b[:count][::-1])
        return max(depth, float(self.grid.distances[self.grid.cells_at(middles)].max()))

    def _filled(self, one: _Part, two: _Part, spare: IntArray) -> float:
        """Return how far the hull of two parts goes into the room outside."""
        top, bottom = np.maximum(one.top32, two.top32), np.minimum(one.bottom32, two.bottom32)
        return float(self.distances[self.covered(spare, top, bottom)].max(initial=0.0))


def _score(sides: tuple[Float32Array, Float32Array, Float32Array], h: FloatArray, g: FloatArray) -> tuple[int, float]:
    """Return how many samples of the room the sides of a plane contain, and how concave they are.

    sides: of samples in the order of their heights `h` above the plane, and of samples of the room, `g`.
    """
    heights, rooms, distances = sides
    k, r = int(np.searchsorted(h, 0.0)), int(np.searchsorted(g, 0.0))
    count, worst = 0, 0.0
    for own, near in ((slice(k), slice(r)), (slice(k, None), slice(r, None))):
        top, bottom = heights[:, own].max(axis=1), heights[:, own].min(axis=1)
        depths = np.minimum(depths_under(heights[:, own], top, bottom), np.abs(h[own]))
        inside = between(rooms[:, near], np.arange(rooms[:, near].shape[1]), top, bottom)
        count += len(inside)
        worst = max(worst, float(depths.max()), float(distances[near][inside].max(initial=0.0)))
    return count, worst
