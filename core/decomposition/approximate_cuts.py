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

from itertools import combinations

import numpy as np

from ..meshes.mesh import Mesh
from ..meshes.surface import connected_triangles, signed_volume
from ..progress import Progress, report_progress, subrange
from ..types import FloatArray, IntArray
from .cut_plane import best_plane
from .decompose_mesh import cavities_of
from .part_merging import PartMerging
from .sampled_part import SampledPart, SampledRoom
from .solid_grid import surface_samples
from .surface_parts import SurfacePart, joined

_ON_PLANE = 1e-9
"""Times the extent: points nearer to a cut than this are on it."""
_SPARE_PARTS = 2.0
"""Times the number of pieces: parts that are cut before they are merged."""
_MORE_PARTS = 8  # besides these
_MOST_ROUNDS = 40
"""Times that the most concave part is cut again, and two others merged in its place."""
_GAIN = 0.99
"""Times the largest concavity: what it has to be after such a round for another."""
_SHARP = 1e-6
"""Determinant of three normals from which on their planes meet in a corner."""
_CORNER = 1e-9
"""Times the extent: how far a corner may be outside of another plane of its cell."""
_LINKS = 200
"""Samples of a loose part by which it is linked to the solid."""
_REACH = 0.87
"""Times the side of a cell: half its diagonal, at least."""


class ApproximateCuts:
    """The cutting of one surface."""

    def __init__(self, mesh: Mesh) -> None:
        self._room = SampledRoom(mesh)
        self._solid = mesh if mesh.is_closed else None
        self._start = SurfacePart(mesh.points, mesh.triangles)

    def parts(self, most: int, concavity: float, progress: Progress | None) -> list[FloatArray]:
        """Return the points of which the hulls are pieces, at most so many: cut until none is more concave than a
        fraction of the extent, or there are enough. The most concave comes first."""
        room = self._room
        outside, solid = np.arange(len(room.points)), np.flatnonzero(room.grid.distances == 0.0)
        none, no_planes = np.empty((0, 3)), (np.empty((0, 4)),)
        parts = [SampledPart(room, surface, none, no_planes, solid, outside) for surface in self._loose_solids(most)]
        limit = int(_SPARE_PARTS * most) + _MORE_PARTS
        done: list[SampledPart] = []
        cutting, refining = subrange(progress, 0.0, 0.5), subrange(progress, 0.5, 1.0)
        while parts and len(parts) + len(done) < limit:
            report_progress(cutting, len(parts) + len(done), limit)
            part = parts.pop(max(range(len(parts)), key=lambda k: parts[k].concavity))
            if part.concavity <= concavity:
                parts.append(part)
                break
            halves = self._cut(part)
            (parts if len(halves) > 1 else done).extend(halves)
        merging = PartMerging(room, parts + done)
        merging.merge(most, concavity)
        for k in range(_MOST_ROUNDS):
            report_progress(refining, k, _MOST_ROUNDS)
            before = dict(merging.parts)
            number, part = max(before.items(), key=lambda item: item[1].concavity)
            if part.concavity <= concavity:
                break
            halves = self._cut(part)
            del merging.parts[number]
            for half in halves:
                merging.add(half)
            merging.merge(most, concavity)
            if max(one.concavity for one in merging.parts.values()) > _GAIN * part.concavity:
                merging.parts = before
                break
        return [part.corners for part in sorted(merging.parts.values(), key=lambda part: -part.concavity)]

    def _loose_solids(self, most: int) -> list[SurfacePart]:
        """Return the loose parts of the surface, with their cavities; near ones together where there are too many."""
        loose = self._start.loose_parts()
        bounds = [(part.corners.min(axis=0), part.corners.max(axis=0)) for part in loose]
        lows, highs = np.array(bounds).transpose(1, 0, 2)
        outer: dict[int, int] = {}
        if self._solid is not None:
            volumes = np.array([signed_volume(part.points - self._room.center, part.triangles) for part in loose])
            outer = cavities_of(lows, highs, volumes if volumes.sum() >= 0.0 else -volumes)
        solids: dict[int, list[SurfacePart]] = {}
        for k, part in enumerate(loose):
            solids.setdefault(outer.get(k, k), []).append(part)
        middles = self._room.local(0.5 * (lows + highs))[list(solids)]
        groups = [np.arange(len(middles))]
        while len(groups) < min(most, len(middles)):
            sizes = [float(np.ptp(middles[group], axis=0).max()) if len(group) > 1 else -1.0 for group in groups]
            group = groups.pop(int(np.argmax(sizes)))
            order = np.argsort(middles[group, np.ptp(middles[group], axis=0).argmax()], kind="stable")
            groups += np.array_split(group[order], 2)
        surfaces = list(solids.values())
        return [joined([part for k in group.tolist() for part in surfaces[k]]) for group in groups]

    def _cut(self, part: SampledPart) -> list[SampledPart]:
        """Return the parts that the best plane cuts a part into; the part alone where there is none."""
        room = self._room
        best = best_plane(part, room)
        if best is None:
            return [part]
        local, offset = best
        normal = room.frame @ local
        height = offset * room.extent + float(normal @ room.center)
        heights = room.grid.middles(part.solid) @ local - offset
        result = []
        sides = part.surface.cut(normal, height, _ON_PLANE * room.extent)
        for sign, side in zip((1.0, -1.0), sides, strict=True):
            if not len(side.triangles):
                continue
            plane = sign * np.append(normal, height)[None]
            cells = tuple(np.concatenate([planes, plane]) for planes in part.cells)
            old = part.inner[sign * (part.inner @ normal - height) <= 0.0]
            inner = np.concatenate([old, *(self._new_corners(planes) for planes in cells)])
            solid = part.solid[sign * heights <= _REACH * room.grid.side]
            for surface, own_inner, own_solid in self._separated(side, inner, solid):
                result.append(SampledPart(room, surface, own_inner, cells, own_solid, part.outside))
        return result

    def _new_corners(self, planes: FloatArray) -> FloatArray:
        """Return the corners of a cell on its last plane that are inside the solid."""
        if self._solid is None or len(planes) < 3:
            return np.empty((0, 3))
        pairs = np.array(list(combinations(range(len(planes) - 1), 2)))
        rows = np.concatenate([pairs, np.full((len(pairs), 1), len(planes) - 1)], axis=1)
        normals, offsets = planes[rows][:, :, :3], planes[rows][:, :, 3]
        sharp = np.abs(np.linalg.det(normals)) > _SHARP
        if not sharp.any():
            return np.empty((0, 3))
        middle = self._room.center
        offsets = offsets - normals @ middle
        points = np.linalg.solve(normals[sharp], offsets[sharp][:, :, None])[:, :, 0] + middle
        spare = _CORNER * self._room.extent
        low, high = self._solid.bounds
        within = (points @ planes[:, :3].T - planes[:, 3] <= spare).all(axis=1)
        within &= ((points >= low) & (points <= high)).all(axis=1)
        points = points[within]
        return points[self._solid.contains(points)] if len(points) else points

    def _separated(
        self, side: SurfacePart, inner: FloatArray, cells: IntArray
    ) -> list[tuple[SurfacePart, FloatArray, IntArray]]:
        """Return what of a side is not connected by cells of the solid, with the points inside and the cells."""
        loose = side.loose_parts()
        if len(loose) == 1:
            return [(side, inner, cells)]
        room, grid = self._room, self._room.grid
        place = np.full(len(grid.coordinates), -1, dtype=np.intp)
        place[cells] = np.arange(len(cells))
        starts, ends = ([pairs] for pairs in grid.neighbours(cells))
        samples = [surface_samples(part.points, part.triangles, _LINKS) for part in loose]
        groups = [np.concatenate([part.corners, more]) for part, more in zip(loose, samples, strict=True)]
        groups += [point[None] for point in inner]
        for k, points in enumerate(groups, len(cells)):
            touched = place[grid.cells_at(room.local(points))]
            starts.append(np.append(touched[touched >= 0], k))
            ends.append(np.full(len(starts[-1]), k))
        u, v = np.concatenate(starts), np.concatenate(ends)
        lone = np.arange(len(cells))
        u, v = np.concatenate([u, lone]), np.concatenate([v, lone])
        label_of_edge = connected_triangles(np.stack([u, v, v], axis=1), len(cells) + len(groups))
        label = np.empty(len(cells) + len(groups), dtype=np.intp)
        label[u] = label_of_edge
        of_cells, of_loose, of_inner = np.split(label, [len(cells), len(cells) + len(loose)])
        # Of corners that nothing links to the surface, none may be lost.
        of_inner[~np.isin(of_inner, of_loose)] = np.bincount(of_loose).argmax()
        return [
            (
                joined([loose[k] for k in np.flatnonzero(of_loose == number).tolist()]),
                inner[of_inner == number],
                cells[of_cells == number],
            )
            for number in np.unique(of_loose).tolist()
        ]
