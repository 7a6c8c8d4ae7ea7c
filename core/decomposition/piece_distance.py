# SPDX-License-Identifier: GPL-3.0-or-later
"""How far convex pieces are from the surface of a mesh: how deep it is inside of them, and how far outside."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ..curved.convex_contact import convex_contact
from ..meshes.mesh import Mesh
from ..meshes.surface import validate_mesh
from ..progress import Progress, report_progress, tracked
from ..runs import chunks, scattered
from ..shapes.hull import ConvexHull
from ..shapes.polytope import PRODUCTS
from ..tolerance import CONVEX_FLAT, EPS
from ..types import FloatArray

_BOUND = 1e-2
"""Times the distance of the pieces from the mesh: how nearly it is found where they are not exact."""
_AMPLIFIED = 16.0
"""Times the spare width: how far from a piece a part of the surface may be that its planes leave under it."""
_PLANES = 16  # of a piece, that triangles are measured by at a time
_AT_ONCE = 1000  # triangles that are cut at a time
_MOST_SPLIT = 50_000
"""Triangles, in the search for the depth of a mesh inside a piece."""

_Row = tuple[float, float, float]
_Ring = list[_Row]


def distance_from_mesh(
    pieces: Sequence[ConvexHull], mesh: Mesh, progress: Progress | None = None, *, spare: float = 0.0
) -> float:
    """Return an upper bound, unit of the coordinates, of how far solid convex pieces are from the surface of a mesh.

    It is the larger of: how deep a point of the mesh is inside a piece, under the piece's own surface (0 when nothing
    of the surface is buried, so that no concavity is filled), and how far a point of the mesh is from the nearest piece
    (0 when nothing is left out). The first is found to _BOUND of itself or some 1e-6 of the diagonal, the second may be
    up to four times too large.

    spare: a part of the surface within this length of a piece is not measured against the others; 0.0 for a default.

    Raise ValueError that names the argument; Cancelled when `progress` returns False.
    """
    validate_mesh("mesh", mesh)
    if not pieces:
        raise ValueError("pieces: at least one expected, got none")
    surface = _Surface(mesh, spare)
    for piece in tracked(sorted(pieces, key=lambda piece: -piece.volume), progress):
        surface.measure(piece)
    surface.measure_uncovered(pieces)
    return max(surface.buried, surface.missing) + 2.0 * surface.rounding


class _Surface:
    """The surface of a mesh, measured against one piece after another."""

    def __init__(self, mesh: Mesh, spare: float) -> None:
        low, high = mesh.bounds
        self.extent = float(np.sqrt(((high - low) ** 2).sum()))
        self.rounding = CONVEX_FLAT * EPS * mesh.magnitude
        self.spare = max(2.0 * self.rounding, spare or 1e-2 * _BOUND * self.extent)
        self.triangles = mesh.points[mesh.triangles]
        self.lows, self.highs = self.triangles.min(axis=1), self.triangles.max(axis=1)
        self.covered = np.zeros(len(self.triangles), dtype=np.bool_)
        self.left: dict[int, list[_Ring]] = {}
        """The parts of triangles that no piece has covered."""
        self.buried = self.missing = 0.0
        """How deep the surface is inside a piece, and how far outside of all, so far."""

    def rings(self, triangle: int) -> list[_Ring]:
        """Return the parts of a triangle that no piece has covered."""
        return self.left.get(triangle) or [list(map(tuple, self.triangles[triangle].tolist()))]

    def measure(self, piece: ConvexHull) -> None:
        """Measure what of the surface is inside a piece, and take away what the piece covers."""
        bottom, top = piece.bounds
        near = np.flatnonzero(((self.lows <= top + self.spare) & (self.highs >= bottom - self.spare)).all(axis=1))
        inner: list[FloatArray] = []
        for chunk in chunks(len(near), PRODUCTS // len(piece.normals)):
            rows = near[chunk]
            heights = (self.triangles[rows] - piece.center) @ piece.normals.T - piece.offsets
            lowest = heights.min(axis=1).max(axis=1)
            inside = heights.max(axis=1).max(axis=1) <= self.rounding
            self.covered[rows[inside]] = True
            for k in np.flatnonzero(-lowest > self.rounding).tolist():
                inner += self._part_inside(piece, int(rows[k]), bool(inside[k]))
            for triangle in rows[~inside & (lowest < self.spare)].tolist():
                if not self.covered[triangle]:
                    limit = _AMPLIFIED * self.spare
                    self.left[triangle] = self._subtract(piece, self.rings(triangle), self.spare, limit)
                    self.covered[triangle] = not self.left[triangle]
        if inner:
            self.buried = max(self.buried, _deepest_in(piece, np.array(inner), self.buried, self.rounding, self.extent))

    def _part_inside(self, piece: ConvexHull, triangle: int, is_inside: bool) -> list[FloatArray]:
        """Return the part of a triangle inside a piece as triangles; none where it is no deeper than what is known."""
        polygon = self.triangles[triangle]
        if not is_inside:
            ring, _ = _clip(list(map(tuple, polygon.tolist())), piece, 0.0)
            if len(ring) < 3:
                return []
            polygon = np.array(ring)
        heights = (polygon - piece.center) @ piece.normals.T - piece.offsets
        if -float(heights.min(axis=0).max()) <= max(self.buried, self.rounding):
            return []
        return [polygon[[0, i, i + 1]] for i in range(1, len(polygon) - 1)]

    def _subtract(self, piece: ConvexHull, rings: list[_Ring], spare: float, limit: float) -> list[_Ring]:
        """Return what a piece grown by `spare` across its planes leaves of polygons.

        Beyond the sharp edge of a thin piece a little across its planes is far away: what would be farther from it than
        `limit` stays.
        """
        result: list[_Ring] = []
        for ring in rings:
            part, outside = _clip(ring, piece, spare)
            distance = _farthest(part, piece, self.rounding) if len(part) >= 3 else inf
            if distance <= limit:
                self.missing = max(self.missing, distance)
                result += outside
            else:
                result.append(ring)
        return result

    def measure_uncovered(self, pieces: Sequence[ConvexHull]) -> None:
        """Measure what no piece covers: wider and wider ones do, or it is as far away as its farthest corner."""
        rings = [ring for triangle in np.flatnonzero(~self.covered).tolist() for ring in self.rings(triangle)]
        spare = self.spare
        while rings and spare < self.extent:
            spare *= 2.0
            for piece in pieces:
                rings = self._subtract(piece, rings, spare, 2.0 * spare)
        for ring in rings:
            self.missing = max(self.missing, min(_farthest(ring, piece, self.rounding) for piece in pieces))


def depth_inside(
    piece: ConvexHull, triangles: FloatArray, known: float, rounding: float, progress: Progress | None = None
) -> float:
    """Return a bound of how deep triangles (k, 3, 3) are inside a piece, found to _BOUND of itself where
    _MOST_SPLIT triangles are enough for that; `known` or about that where they are no deeper. Raise Cancelled."""
    low, high = piece.bounds
    near = ((triangles.min(axis=1) <= high) & (triangles.max(axis=1) >= low)).all(axis=1)
    triangles = triangles[near] - piece.center
    bounds, depths = _depths(piece, triangles, max(known, rounding))
    least = max(rounding, 1e-4 * _BOUND * piece.extent)
    deepest = max(known, float(depths.max(initial=0.0)))
    cut = 0
    while True:
        allowed = max(deepest * (1.0 + _BOUND), deepest + least)
        open_ones = bounds > allowed
        triangles, bounds = triangles[open_ones], bounds[open_ones]
        if not len(triangles):
            return allowed
        if cut > _MOST_SPLIT:
            return float(bounds.max())
        report_progress(progress, deepest, float(bounds.max()))
        # The deepest first: their corners show how deep the others have to be.
        first = bounds >= np.partition(bounds, -_AT_ONCE)[-_AT_ONCE] if len(bounds) > _AT_ONCE else bounds > 0.0
        halves = _halves(triangles[first])
        of_halves, depths = _depths(piece, halves, deepest)
        deepest = max(deepest, float(depths.max()))
        cut += len(halves)
        triangles = np.concatenate([triangles[~first], halves])
        bounds = np.concatenate([bounds[~first], of_halves])


def _depths(piece: ConvexHull, triangles: FloatArray, known: float) -> tuple[FloatArray, FloatArray]:
    """Return how deep under a piece's planes no point of triangles, from its center, is and how deep a corner of each
    is; about 0.0 where it is no deeper than what is known."""
    bounds, depths = np.zeros(len(triangles)), np.zeros(len(triangles))
    # Planes in all directions come first: most triangles are no deeper than what is known under one of few.
    order = scattered(len(piece.normals))
    for chunk in chunks(len(triangles), PRODUCTS // (3 * _PLANES)):
        rows = np.arange(chunk.start, chunk.stop)
        under = np.full((len(rows), 3), np.inf)
        bound = np.full(len(rows), np.inf)
        for planes in np.array_split(order, -(-len(order) // _PLANES)):
            heights = piece.offsets[planes] - triangles[rows] @ piece.normals[planes].T
            np.minimum(under, heights.min(axis=2), out=under)
            np.minimum(bound, heights.max(axis=1).min(axis=1), out=bound)
            deep = bound > known
            rows, under, bound = rows[deep], under[deep], bound[deep]
        bounds[rows], depths[rows] = bound, under.max(axis=1)
    return bounds, depths


def _halves(triangles: FloatArray) -> FloatArray:
    """Return triangles cut in the middles of their longest sides."""
    sides = triangles[:, [1, 2, 0]] - triangles
    first = (sides * sides).sum(axis=2).argmax(axis=1)
    rows = np.arange(len(triangles))
    a, b, c = (triangles[rows, (first + k) % 3] for k in range(3))
    middle = 0.5 * (a + b)
    return np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])


def _deepest_in(piece: ConvexHull, inner: FloatArray, known: float, rounding: float, extent: float) -> float:
    """Return a bound of how deep triangles (k, 3, 3) are inside a piece: split where one plane leaves that open."""
    local = inner - piece.center
    while True:
        bounds, depths = _depths(piece, local, max(known, rounding))
        known = max(known, float(depths.max()))
        allowed = max(known * (1.0 + _BOUND), known + 1e-4 * _BOUND * extent, rounding)
        remaining = local[bounds > allowed]
        if not len(remaining):
            return max(float(bounds.max()), known)
        if len(remaining) > _MOST_SPLIT:
            return float(bounds.max())
        known = max(known, float(bounds[bounds <= allowed].max(initial=0.0)))
        a, b, c = remaining[:, 0], remaining[:, 1], remaining[:, 2]
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        local = np.concatenate([np.stack(part, axis=1) for part in parts])


def _clip(ring: _Ring, piece: ConvexHull, spare: float) -> tuple[_Ring, list[_Ring]]:
    """Return the part of a convex polygon inside a piece grown by `spare` across its planes, and the parts outside."""
    outside: list[_Ring] = []
    cx, cy, cz = piece._middle
    for (nx, ny, nz), offset in zip(piece.normals.tolist(), piece.offsets.tolist(), strict=True):
        d = [nx * (x - cx) + ny * (y - cy) + nz * (z - cz) - offset - spare for x, y, z in ring]
        if max(d) <= 0.0:
            continue
        inner: _Ring = []
        outer: _Ring = []
        for k, p in enumerate(ring):
            q, s, e = ring[k - 1], d[k - 1], d[k]
            if (s < 0.0 < e) or (e < 0.0 < s):
                t = s / (s - e)
                x, y, z = (i + t * (j - i) for i, j in zip(q, p, strict=True))
                inner.append((x, y, z))
                outer.append((x, y, z))
            if e <= 0.0:
                inner.append(p)
            if e >= 0.0:
                outer.append(p)
        if len(outer) >= 3:
            outside.append(outer)
        ring = inner
        if len(ring) < 3:
            return [], outside
    return ring, outside


def _farthest(ring: _Ring, piece: ConvexHull, rounding: float) -> float:
    """Return a bound of how far a convex polygon reaches from a piece: at a corner, for the distance is convex."""
    p = np.array(ring)
    beyond = ((p - piece.center) @ piece.normals.T - piece.offsets).max(axis=1)
    far = p[beyond > rounding]
    return max(
        (convex_contact(ConvexHull(q[None]), piece).upper_bound for q in far), default=max(0.0, float(beyond.max()))
    )
