# SPDX-License-Identifier: GPL-3.0-or-later
"""The cutting of one solid into convex cells, in whole numbers.

1. The solid stands in a box, with the triangles of its surface as fragments in their planes.
2. A cell whose fragments bend inward is cut in the plane of a fragment, and its fragments with it.
3. A cell whose fragments do not is cut down to what is under all their planes: a piece.
4. Cells are merged while the union of two is convex.

    +-----+                 +-----+          g rises above the plane of f, and f above that of g: two conflicts, as
    |     |f       plane    |     |          the solid bends inward between them. Cut in the plane of f, one cell has
    |     +-----+   of f    |     +-----+    f and the other g, which leaves none.
    |        g  |   --->    |     :     |
    +-----------+           +-----+-----+    With conflict[f, g] = 1 where g rises above the plane of f, and side[f] = 1
                                             where a part of f is in a cell, side @ conflict @ side are left in it.

A point (x, y, z, w) is (x, y, z) / w, w > 0; a plane (a, b, c, d) has a x + b y + c z = d, (a, b, c) points up. Both
are without common factors, so that equal ones are found. The value of a point, > 0 above the plane,

    a x + b y + c z - d w = w |(a, b, c)| height,

is linear in the four numbers. On the edge from v to w, with values p and q of unlike signs, the point q v - p w has the
value q p - p q = 0: there the edge crosses the plane. These are products of whole numbers: nothing is rounded.

Sources: S1.2; Chazelle, "Convex partitions of polyhedra" (1984); Naylor, Amanatides and Thibault, "Merging BSP trees
yields polyhedral set operations" (1990).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import gcd, isqrt
from operator import mul

import numpy as np

from ..narrow_phase.exact import WholeVector, exact_cross, exact_difference, exact_dot
from ..progress import Progress, report_progress
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..tolerance import EPS
from ..types import FloatArray, IntArray
from .whole_points import WholePoints

_FILTER = 64.0
"""Times EPS and the size of a mesh: corners of its pieces this far from a plane are surely on that side."""
ROUNDING = 2.0 * _FILTER * EPS
"""Times the size of a mesh: cuts that moved corners by no more are exact but for rounding."""
_ALIKE = 2.0**-30
"""Normals and, in half the size of the solid, distances of planes in the same steps of it may be one plane."""
_CANDIDATES = 48
"""Planes that are compared closely before a cell is cut."""
_THIN = 1e-4
"""In half the size of the solid: what is rounding of a plane may be far beyond the tip of a cell thinner than this."""
_COMPARED = 128
"""Planes to compare a fragment with take as long as to cut it in two."""
_HEIGHTS = 4_000_000
"""Heights of corners above planes computed at once."""

_BOX_FACES = (
    ((-1, 0, 0), (1, 3, 2, 0)),
    ((1, 0, 0), (4, 6, 7, 5)),
    ((0, -1, 0), (4, 5, 1, 0)),
    ((0, 1, 0), (2, 3, 7, 6)),
    ((0, 0, -1), (2, 6, 4, 0)),
    ((0, 0, 1), (1, 5, 7, 3)),
)
"""Normals of the faces of a box, and their corners, number 4 x + 2 y + z with 0 for low and 1 for high."""

_Point = tuple[int, int, int, int]
_Plane = tuple[int, int, int, int]
_Ring = list[int]
_Faces = list[tuple[int, _Ring]]
"""The plane and the ring of corners of each face: of a cell, a convex polyhedron, or of the surface in it."""


def _corners_of(faces: _Faces) -> list[int]:
    return sorted({v for _, ring in faces for v in ring})


class ExactCuts:
    """The cutting of one solid. Points and planes are whole numbers, with floats at hand to decide most questions.

    `least`, unit of the coordinates: corners nearer to a plane than this, or than rounding, are on it. Where it is 0.0
    nothing is rounded: triangles that lean against each other, however little, have planes of their own.

    Floats are in units of half the solid's size, from its middle.
    """

    def __init__(self, points: FloatArray, triangles: IntArray, least: float) -> None:
        used, inverse = np.unique(triangles, return_inverse=True)
        p = points[used]
        self._grid = WholePoints(np.concatenate([p, 0.5 * p[:1]]))  # and the halves of coordinates
        low, high = p.min(axis=0), p.max(axis=0)
        ox, oy, oz = self._grid[0]
        self._origin = ox, oy, oz
        whole = [(x - ox, y - oy, z - oz) for x, y, z in (self._grid[i] for i in range(len(p)))]
        reach = max(max(map(abs, point)) for point in whole)
        self._unit = 1 << reach.bit_length()
        size = float((high - low).max())
        self._size = self._unit / (1 << self._grid.bits) if self._grid.bits < 1000 else size
        self._width = max(least / self._size, _FILTER * EPS) if least > 0.0 else 0.0  # nearer to a plane is on it
        self.cuts = 0
        """How many cuts were made, see `cells`."""
        self._moved = 0.0
        self._points: list[_Point] = []
        self._floats: list[tuple[float, float, float]] = []
        self._point_ids: dict[_Point, int] = {}
        self._planes: list[_Plane] = []
        self._plane_floats: list[tuple[float, float, float, float]] = []
        self._plane_ids: dict[_Plane, int] = {}
        corner_ids = [self._point((x, y, z, 1)) for x, y, z in whole]
        self._fragments: _Faces = []
        for a, b, c in inverse.reshape(-1, 3).tolist():
            plane = self._plane_through(whole[a], whole[b], whole[c])
            if plane is not None:
                self._fragments.append((plane, [corner_ids[a], corner_ids[b], corner_ids[c]]))
        self._merge_planes()
        self._start = self._box(whole)

    @property
    def moved(self) -> float:
        """How far corners were from planes that they were taken to be on, unit of the coordinates."""
        return self._moved * self._size

    # Points and planes

    def _point(self, point: _Point) -> int:
        x, y, z, w = point
        common = gcd(x, y, z, w)
        if w < 0:
            common = -common
        point = x, y, z, w = (x // common, y // common, z // common, w // common)
        number = self._point_ids.get(point)
        if number is None:
            number = self._point_ids[point] = len(self._points)
            self._points.append(point)
            unit = self._unit * w
            self._floats.append((x / unit, y / unit, z / unit))
        return number

    def _plane(self, plane: _Plane) -> int:
        common = gcd(*plane)
        a, b, c, d = (x // common for x in plane)
        number = self._plane_ids.get((a, b, c, d))
        if number is None:
            number = self._plane_ids[a, b, c, d] = len(self._planes)
            self._planes.append((a, b, c, d))
            length = isqrt((a * a + b * b + c * c) << 128)  # to 64 bits, however large
            self._plane_floats.append(
                ((a << 64) / length, (b << 64) / length, (c << 64) / length, (d << 64) / (length * self._unit))
            )
        return number

    def _plane_through(self, p: WholeVector, q: WholeVector, r: WholeVector) -> int | None:
        normal = exact_cross(exact_difference(q, p), exact_difference(r, p))
        return self._plane((*normal, exact_dot(normal, p))) if any(normal) else None

    def _merge_planes(self) -> None:
        """Put fragments in the first plane that they are in but for the tolerance: whether those of one face are in one
        plane exactly depends on the pose."""
        if not self._fragments or self._width == 0.0:
            return
        steps = np.rint(np.array(self._plane_floats) / _ALIKE)
        _, first, group = np.unique(steps, axis=0, return_index=True, return_inverse=True)
        shared = first[group.reshape(-1)][[plane for plane, _ in self._fragments]]
        n = np.array(self._plane_floats)[shared]
        corners = np.array(self._floats)[np.array([ring for _, ring in self._fragments])]
        off = np.abs(np.einsum("fck,fk->fc", corners, n[:, :3]) - n[:, 3:]).max(axis=1)
        same = off <= self._width
        self._moved = max(self._moved, float(off[same].max(initial=0.0)))
        self._fragments = [
            (plane if alike else own, ring)
            for (own, ring), plane, alike in zip(self._fragments, shared.tolist(), same.tolist(), strict=True)
        ]

    def _flipped(self, plane: int) -> int:
        a, b, c, d = self._planes[plane]
        return self._plane((-a, -b, -c, -d))

    def _value(self, plane: int, point: int) -> int:
        a, b, c, d = self._planes[plane]
        x, y, z, w = self._points[point]
        return a * x + b * y + c * z - d * w

    def _side(self, plane: int, point: int) -> int:
        """Return on which side of a plane a point is, exactly: 1, -1 or 0."""
        value = self._value(plane, point)
        return (value > 0) - (value < 0)

    def _heights(self, planes: list[int], points: list[int]) -> FloatArray:
        """Return the heights (planes, points) of points above planes, in units of the size. Where nothing is rounded
        their signs are exact."""
        p = np.array([self._floats[v] for v in points])
        n = np.array([self._plane_floats[h] for h in planes])
        heights = n[:, :3] @ p.T - n[:, 3:]
        if self._width == 0.0:
            for i, j in np.argwhere(np.abs(heights) <= _FILTER * EPS).tolist():
                heights[i, j] = self._side(planes[i], points[j]) * _FILTER * EPS
        return heights

    def _crossing(self, plane: int, v: int, w: int) -> int:
        """Return the point in which the edge from v to w crosses a plane."""
        p, q = self._value(plane, v), self._value(plane, w)
        (ax, ay, az, aw), (bx, by, bz, bw) = self._points[v], self._points[w]
        return self._point((ax * q - bx * p, ay * q - by * p, az * q - bz * p, aw * q - bw * p))

    def _box(self, whole: list[WholeVector]) -> _Faces:
        """Return a box around points, with room to spare."""
        ends = [(min(column) - self._unit, max(column) + self._unit) for column in zip(*whole, strict=True)]
        corners = list(product(*ends))
        ids = [self._point((x, y, z, 1)) for x, y, z in corners]
        planes = [(a, b, c, sum(map(mul, (a, b, c), corners[ring[0]]))) for (a, b, c), ring in _BOX_FACES]
        return [
            (self._plane(plane), [ids[v] for v in ring]) for plane, (_, ring) in zip(planes, _BOX_FACES, strict=True)
        ]

    # Cutting

    def _split_ring(self, ring: _Ring, plane: int, sign: dict[int, int]) -> tuple[_Ring, _Ring]:
        """Return the parts of a convex ring under and above a plane; empty where there is none."""
        below: _Ring = []
        above: _Ring = []
        for k, v in enumerate(ring):
            w = ring[(k + 1) % len(ring)]
            s, t = sign[v], sign[w]
            if s <= 0:
                below.append(v)
            if s >= 0:
                above.append(v)
            if s * t < 0:
                new = self._crossing(plane, v, w)
                below.append(new)
                above.append(new)
        return (
            below if any(sign[v] < 0 for v in ring) else [],
            above if any(sign[v] > 0 for v in ring) else [],
        )

    def _split_cell(self, cell: _Faces, plane: int) -> tuple[_Faces | None, _Faces | None]:
        """Return the parts of a cell under and above a plane, None for a part thinner than the tolerance."""
        corners = _corners_of(cell)
        heights = self._heights([plane], corners)[0]
        highest, lowest = float(heights.max()), float(heights.min())
        if highest <= self._width:
            self._moved = max(self._moved, highest)
            return cell, None
        if lowest >= -self._width:
            self._moved = max(self._moved, -lowest)
            return None, cell
        sign = {
            v: int(np.sign(h)) if abs(h) > _FILTER * EPS else self._side(plane, v)
            for v, h in zip(corners, heights.tolist(), strict=True)
        }
        halves: list[_Faces] = [[], []]
        rims: list[dict[int, int]] = [{}, {}]
        for face, ring in cell:
            for side, part in enumerate(self._split_ring(ring, plane, sign)):
                if not part:
                    continue
                halves[side].append((face, part))
                for k, v in enumerate(part):
                    w = part[(k + 1) % len(part)]
                    if sign.get(v, 0) == 0 and sign.get(w, 0) == 0:
                        rims[side][w] = v
        for side, rim in enumerate(rims):
            start = next(iter(rim))
            ring = [start]
            while (following := rim[ring[-1]]) != start:
                ring.append(following)
            halves[side].append((self._flipped(plane) if side else plane, ring))
        return halves[0], halves[1]

    def cells(self, most: int, progress: Progress | None) -> list[_Faces]:
        """Return convex cells that are the solid together. Raise ValueError when they need more than so many cuts: one
        for each fragment in a cell, and one more for each _COMPARED planes of that cell."""
        found: list[_Faces] = []
        stack = [(self._start, self._fragments, 0.0, 1.0)]
        while stack:
            cell, fragments, begin, fraction = stack.pop()
            report_progress(progress, begin)
            self.cuts += len(fragments) * (1 + len({face for face, _ in fragments}) // _COMPARED)
            if self.cuts > most:
                raise ValueError("most_cuts: the mesh needs more cuts than that; allow more, or a larger tolerance")
            plane = self._choose_plane(fragments)
            if plane is None:
                for h in dict.fromkeys(face for face, _ in fragments):
                    below, _ = self._split_cell(cell, h)
                    if below is None:
                        break
                    cell = below
                else:
                    found.append(cell)
                continue
            below, above = self._split_cell(cell, plane)
            lower, upper = self._split_fragments(fragments, plane)
            if above is not None and upper:
                stack.append((above, upper, begin + 0.5 * fraction, 0.5 * fraction))
            if below is not None:
                if lower:
                    stack.append((below, lower, begin, 0.5 * fraction))
                else:
                    found.append(below)
        return found

    def is_thin(self, cell: _Faces) -> bool:
        """Return whether what rounding adds to a cell, or takes away, may be far longer than it is thick."""
        heights = self._heights([face for face, _ in cell], _corners_of(cell))
        return bool(heights.min(axis=1).max() > -_THIN)

    def pieces(self, cells: list[_Faces], progress: Progress | None) -> list[ConvexHull]:
        """Return the convex pieces of the solid: its cells, merged."""
        hulls = (ConvexHull(self._world(vertices)) for vertices in self._merge(cells, progress))
        return [hull for hull in hulls if hull.rank == 3]

    def _split_fragments(self, fragments: _Faces, plane: int) -> tuple[_Faces, _Faces]:
        """Return the parts of fragments under and above a plane. Corners within the tolerance are on it."""
        corners = _corners_of(fragments)
        heights = self._heights([plane], corners)[0].tolist()
        sign = {
            v: 0 if abs(h) <= self._width else (1 if h > 0.0 else -1) for v, h in zip(corners, heights, strict=True)
        }
        self._moved = max(self._moved, max((abs(h) for h in heights if abs(h) <= self._width), default=0.0))
        lower: _Faces = []
        upper: _Faces = []
        for face, ring in fragments:
            below, above = self._split_ring(ring, plane, sign)
            lower += [(face, below)] if below else []
            upper += [(face, above)] if above else []
        return lower, upper

    def _choose_plane(self, fragments: _Faces) -> int | None:
        """Return the plane to cut a cell in; None when its fragments bound a convex solid.

        Two fragments conflict when one rises above the plane of the other; the plane that leaves the fewest conflicts
        within its two sides is taken, and of those the one that cuts the fewest fragments.
        """
        planes = list(dict.fromkeys(face for face, _ in fragments))
        corners = _corners_of(fragments)
        place = {v: k for k, v in enumerate(corners)}
        flat = np.array([place[v] for _, ring in fragments for v in ring])
        starts = np.cumsum([0, *(len(ring) for _, ring in fragments)])[:-1]
        above = np.empty((len(planes), len(fragments)), dtype=np.bool_)
        below = np.empty_like(above)
        for chunk in chunks(len(planes), _HEIGHTS // len(flat)):
            heights = self._heights(planes[chunk], corners)[:, flat]
            highest = np.maximum.reduceat(heights, starts, axis=1)
            above[chunk] = highest > self._width
            self._moved = max(self._moved, float(highest[highest <= self._width].max(initial=0.0)))
            below[chunk] = np.minimum.reduceat(heights, starts, axis=1) < -self._width
        cutting = np.flatnonzero(above.any(axis=1))
        if not len(cutting):
            return None
        row = {h: k for k, h in enumerate(planes)}
        conflict = above[[row[face] for face, _ in fragments]].astype(np.float32)
        cut = (above[cutting] & below[cutting]).sum(axis=1)
        if len(cutting) > _CANDIDATES:
            fewest = np.argsort(cut, kind="stable")[:_CANDIDATES]
            cutting, cut = cutting[fewest], cut[fewest]
        sides = (above[cutting].astype(np.float32), below[cutting].astype(np.float32))
        left = sum(((side @ conflict) * side).sum(axis=1, dtype=np.float64) for side in sides)
        best = int(np.lexsort((cut, left))[0])
        return planes[int(cutting[best])]

    def _merge(self, cells: list[_Faces], progress: Progress | None) -> list[list[int]]:
        """Return the corners of pieces: cells merged while the union of two is convex."""
        planes = {k: {face for face, _ in cell} for k, cell in enumerate(cells)}
        corners = {k: set(_corners_of(cell)) for k, cell in enumerate(cells)}
        rejected: set[tuple[int, int, int]] = set()
        while (found := self._mergeable(planes, corners, rejected)) is not None:
            k, j, plane = found
            planes[k] = (planes[k] - {plane}) | (planes.pop(j) - {self._flipped(plane)})
            corners[k] |= corners.pop(j)
            rejected = {pair for pair in rejected if k not in pair[:2]}
            report_progress(progress, 1.0 / (1 + len(planes)))
        return [sorted(corners[k]) for k in sorted(corners)]

    def _mergeable(
        self, planes: dict[int, set[int]], corners: dict[int, set[int]], rejected: set[tuple[int, int, int]]
    ) -> tuple[int, int, int] | None:
        """Return the first two cells whose union is convex, and the plane between them; note those that are not.

        It is convex when they are on either side of a plane, and each is under all other planes of the other.
        """
        beside: dict[int, list[int]] = defaultdict(list)
        for k in sorted(planes):
            for plane in planes[k]:
                beside[plane].append(k)
        for k in sorted(planes):
            for plane in sorted(planes[k]):
                back = self._flipped(plane)
                for j in beside.get(back, ()):
                    pair = k, j, plane
                    if j == k or pair in rejected or corners[k].isdisjoint(corners[j]):
                        continue
                    beyond = self._beyond(planes[k] - {plane}, corners[j])
                    if beyond <= self._width:
                        beyond = max(beyond, self._beyond(planes[j] - {back}, corners[k]))
                    if beyond <= self._width:
                        self._moved = max(self._moved, beyond)
                        return pair
                    rejected.add(pair)
        return None

    def _beyond(self, planes: set[int], corners: set[int]) -> float:
        """Return how far the farthest of some corners is above the planes."""
        return float(self._heights(list(planes), sorted(corners)).max()) if planes else 0.0

    def _world(self, vertices: list[int]) -> FloatArray:
        """Return points in world coordinates, each coordinate rounded once."""
        unit = 1 << self._grid.bits
        rows = []
        for v in vertices:
            x, y, z, w = self._points[v]
            ox, oy, oz = self._origin
            below = w * unit
            rows.append(((x + ox * w) / below, (y + oy * w) / below, (z + oz * w) / below))
        return np.array(rows)
