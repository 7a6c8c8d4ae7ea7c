# SPDX-License-Identifier: GPL-3.0-or-later
"""A closed mesh as the union of convex solids: exactly, by cutting along faces.

The cuts run in the planes of faces beside edges that bend inward, until no cell holds such an edge: what is left of the
mesh's solid in a cell is then the cell under the planes of its faces. Cells are cut in whole numbers, so that they fit
without gaps; corners are rounded once, at the end. What is nearer to a plane than rounding, or a tolerance, is on it.

Sources: S1.2; Chazelle, "Convex partitions of polyhedra" (1984); Naylor, Amanatides and Thibault, "Merging BSP trees
yields polyhedral set operations" (1990).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, inf, isqrt
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_length
from ..broad_phase.candidate_pairs import candidate_pairs
from ..meshes.mesh import checked_mesh, separated, signed_volume
from ..narrow_phase.contact import contact
from ..progress import Progress, report_progress, subrange
from ..shapes.hull import ConvexHull
from ..shapes.polytope import PRODUCTS
from ..tolerance import CONVEX_FLAT, DECOMPOSE_VOLUME, EPS
from ..types import FloatArray, IntArray, ReadOnlyArrays
from .convexity import WholePoints, dented_edges, is_balanced, mesh_convexity

_DECOMPOSE_FILTER = 64.0
"""Times EPS and the size of a mesh: corners of its pieces this far from a plane are surely on that side."""
_DECOMPOSE_ALIKE = 2.0**-30
"""Normals and, in half the size of the solid, distances of planes in the same steps of it may be one plane."""
_DECOMPOSE_BOUND = 1e-2
"""Times the distance of the pieces from the mesh: how nearly it is found where they are not exact."""

_CANDIDATES = 48  # planes that are compared closely before a cell is cut
_MOST_CELLS = 20_000
_AMPLIFIED = 16.0
_MOST_SPLIT = 50_000  # triangles, when the depth of a mesh inside a piece is looked for

_Point = tuple[int, int, int, int]
_Plane = tuple[int, int, int, int]
_Ring = list[int]


@dataclass(frozen=True, eq=False)
class Decomposition(ReadOnlyArrays):
    """Convex pieces that stand for a mesh. Source: S1.2."""

    pieces: tuple[ConvexHull, ...]
    """The pieces; those of different loose parts may overlap where the parts do."""
    exact: bool
    """The union of the pieces is the mesh's solid, and within a loose part they do not overlap. But for rounding: no
    corner was taken to be on a plane farther from it than CONVEX_FLAT EPS M or _DECOMPOSE_FILTER EPS sizes."""
    distance: float
    """Certified, unit of the coordinates: no point of the mesh is deeper inside a piece, or farther from the nearest
    piece, than this. See `distance_from_mesh`."""
    reflex_edges: int
    """How many edges of the mesh bend inward; -1 where that was not asked."""
    message: str
    """What was done, in words."""
    reason: str = ""
    """Why the pieces are not exact, where there was a choice; empty otherwise."""
    fills_hollows: bool = False
    """The pieces are hulls of loose parts, of which one at least is not convex or leaves its hull open: they fill room
    that is not the mesh's."""


def decomposed_mesh(
    points: ArrayLike,
    triangles: ArrayLike,
    *,
    most_reflex: int = 100,
    tolerance: float = 0.0,
    progress: Progress | None = None,
) -> Decomposition:
    """Return convex pieces whose union is the solid that a closed mesh bounds.

    Args:
        points: (n, 3), world frame.
        triangles: (m, 3) indices into the points, wound outward; a loose part wound inward is turned round, unless it
            is a cavity, inside the box of another part. Otherwise its box must not overlap that of one wound outward.
        most_reflex: up to so many edges may bend inward; time grows with the square of it or faster.
        tolerance: dents and bends up to this share of the bounding box's diagonal are left out, as rounding
            (CONVEX_FLAT EPS M) always is. Meshes stored in single precision want about 1e-6.
        progress: called with the share done, 0 to 1; False cancels.

    A convex mesh is one piece. Raises ValueError, naming the argument, when one is not of that kind, when the mesh is
    not closed or bounds no volume, when more edges bend inward, when parts wound against each other may overlap, or
    when the pieces do not add up to the mesh's volume (its surface crosses itself); Cancelled when `progress` says so.
    Source: S1.2.
    """
    array, corners = checked_mesh(points, triangles)
    tolerance = as_length("tolerance", tolerance)
    if not isinstance(most_reflex, Integral) or isinstance(most_reflex, bool) or most_reflex < 0:
        raise ValueError(f"most_reflex must be a whole number that is not negative, not {most_reflex!r}")
    report_progress(progress, 0.0)
    if not is_balanced(corners):
        raise ValueError(
            "triangles: the mesh is not closed (an edge is not used once in each direction); only a solid has pieces"
        )
    hull = ConvexHull(array[np.unique(corners)])
    least = max(CONVEX_FLAT * EPS * hull.magnitude, tolerance * hull.extent)
    groups = _solids(array, corners)
    reflex = sum(len(dented_edges(own, group, least)[0]) for own, group in groups)
    if reflex > most_reflex:
        raise ValueError(
            f"most_reflex: {reflex} edges of the mesh bend inward and {int(most_reflex)} are allowed; allow more, take "
            f"a simpler mesh or a larger tolerance"
        )
    parts: list[tuple[list[ConvexHull], float]] = []
    for k, (own, group) in enumerate(groups):
        convexity = mesh_convexity(own, group, tolerance)
        if convexity.convex:
            parts.append(([ConvexHull(own)], convexity.depth))
        else:
            cutting = _Cutting(own, group, least)
            found = cutting.pieces(subrange(progress, 0.7 * k / len(groups), 0.7 * (k + 1) / len(groups)))
            parts.append((found, cutting.moved))
    pieces = [piece for found, _ in parts for piece in found]
    enclosed = sum(signed_volume(own - hull.center, group) for own, group in groups)
    total = sum(piece.volume for piece in pieces)
    allowed = DECOMPOSE_VOLUME * enclosed + 8.0 * least * sum(piece.area for piece in pieces)
    if not abs(total - enclosed) <= allowed:
        raise ValueError(
            f"triangles: the pieces have the volume {total:.9g} and the mesh has {enclosed:.9g}: the surface of a "
            f"loose part crosses or touches itself"
        )
    distance, exact = 0.0, True
    rounding = CONVEX_FLAT * EPS * hull.magnitude
    for k, ((own, group), (found, moved)) in enumerate(zip(groups, parts, strict=True)):
        exact = exact and moved <= max(rounding, 2.0 * _DECOMPOSE_FILTER * EPS * hull.extent)
        if found:
            share = subrange(progress, 0.7 + 0.3 * k / len(groups), 0.7 + 0.3 * (k + 1) / len(groups))
            distance = max(distance, _distance(found, own, group, 2.0 * max(moved, rounding), share))
    words = f"{len(pieces)} convex piece{'s' if len(pieces) != 1 else ''} from {reflex} edges that bend inward"
    words += ", exact" if exact else f", nowhere more than {distance:.3g} from the mesh"
    report_progress(progress, 1.0)
    return Decomposition(tuple(pieces), exact, distance, reflex, words)


def _solids(points: FloatArray, triangles: IntArray) -> list[tuple[FloatArray, IntArray]]:
    """Return the points and the triangles of each solid, wound outward: loose parts, with their cavities."""
    parts = separated(points, triangles)
    center = 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)
    volumes = np.array([signed_volume(own - center, corners) for own, corners in parts])
    turned = bool(volumes.sum() < 0.0)
    if turned:
        volumes = -volumes
    within = _cavities(parts, volumes)
    _check_turned(parts, volumes, within)
    solids: dict[int, list[tuple[FloatArray, IntArray]]] = {}
    for k in [*np.flatnonzero(volumes > 0.0).tolist(), *np.flatnonzero(volumes < 0.0).tolist()]:
        own, corners = parts[k]
        inward = volumes[k] < 0.0 and k not in within
        solids.setdefault(within.get(k, k), []).append((own, corners[:, ::-1] if turned != inward else corners))
    if not solids:
        raise ValueError("triangles: the mesh encloses no volume")
    return [_joined(group) for group in solids.values()]


def _check_turned(parts: list[tuple[FloatArray, IntArray]], volumes: FloatArray, within: dict[int, int]) -> None:
    """Ask that no part wound inward that is no cavity may share room with one wound outward: the surface goes around
    that not at all, and so it is outside of the mesh, though inside of both."""
    inward = np.array([k for k in np.flatnonzero(volumes < 0.0).tolist() if k not in within], dtype=np.intp)
    outward = np.flatnonzero(volumes > 0.0)
    if not (len(inward) and len(outward)):
        return
    lows = np.array([own.min(axis=0) for own, _ in parts])
    highs = np.array([own.max(axis=0) for own, _ in parts])
    pairs = candidate_pairs(lows[inward], highs[inward], lows[outward], highs[outward]).pairs
    k, j = inward[pairs[:, 0]], outward[pairs[:, 1]]
    if (np.minimum(highs[k], highs[j]) > np.maximum(lows[k], lows[j])).all(axis=1).any():
        raise ValueError("triangles: loose parts that are wound against each other may overlap")


def _cavities(parts: list[tuple[FloatArray, IntArray]], volumes: FloatArray) -> dict[int, int]:
    """Return which parts wound inward are in the box of a larger one wound outward, and the smallest such part."""
    lows = np.array([own.min(axis=0) for own, _ in parts])
    highs = np.array([own.max(axis=0) for own, _ in parts])
    hollow, full = np.flatnonzero(volumes < 0.0), np.flatnonzero(volumes > 0.0)
    if not len(hollow) or not len(full):
        return {}
    pairs = candidate_pairs(lows[hollow], highs[hollow], lows[full], highs[full]).pairs
    k, j = hollow[pairs[:, 0]], full[pairs[:, 1]]
    around = (volumes[j] > -volumes[k]) & (lows[j] <= lows[k]).all(axis=1) & (highs[j] >= highs[k]).all(axis=1)
    k, j = k[around], j[around]
    order = np.lexsort((j, volumes[j], k))
    first = order[np.flatnonzero(np.diff(k[order], prepend=-1))]
    return dict(zip(k[first].tolist(), j[first].tolist(), strict=True))


def _joined(meshes: list[tuple[FloatArray, IntArray]]) -> tuple[FloatArray, IntArray]:
    """Return meshes as one."""
    starts = np.cumsum([0, *(len(points) for points, _ in meshes[:-1])])
    return (
        np.concatenate([points for points, _ in meshes]),
        np.concatenate([corners + start for (_, corners), start in zip(meshes, starts, strict=True)]),
    )


@dataclass
class _Cell:
    """A convex polyhedron: the plane and the ring of corners of each face."""

    faces: list[tuple[int, _Ring]]

    def corners(self) -> list[int]:
        return sorted({v for _, ring in self.faces for v in ring})


class _Cutting:
    """The cutting of one solid. Points and planes are whole numbers, with floats at hand to decide most questions.

    A point (x, y, z, w) is (x, y, z) / w, w > 0; a plane (a, b, c, d) has a x + b y + c z = d. Both without common
    factors, so that equal ones are found. Floats are in units of half the solid's size, from its middle.
    """

    def __init__(self, points: FloatArray, triangles: IntArray, least: float) -> None:
        used, inverse = np.unique(triangles, return_inverse=True)
        p = points[used]
        self._grid = WholePoints(np.concatenate([p, 0.5 * p[:1]]))  # and the halves of coordinates
        low, high = p.min(axis=0), p.max(axis=0)
        self._origin = tuple(self._grid.whole(x) for x in p[0].tolist())
        whole = [tuple(x - o for x, o in zip(self._grid[i], self._origin, strict=True)) for i in range(len(p))]
        reach = max(max(map(abs, point)) for point in whole)
        self._unit = 1 << reach.bit_length()
        size = float((high - low).max())
        self._size = self._unit / (1 << self._grid.bits) if self._grid.bits < 1000 else size
        self._least = least / self._size
        self._moved = 0.0
        self._points: list[_Point] = []
        self._floats: list[tuple[float, float, float]] = []
        self._point_ids: dict[_Point, int] = {}
        self._planes: list[_Plane] = []
        self._plane_floats: list[tuple[float, float, float, float]] = []
        self._plane_ids: dict[_Plane, int] = {}
        self._sides: dict[tuple[int, int], int] = {}
        self._values: dict[int, int] = {}
        corner_ids = [self._point((x, y, z, 1)) for x, y, z in whole]
        self._fragments: list[tuple[int, _Ring]] = []
        for a, b, c in inverse.reshape(-1, 3).tolist():
            plane = self._plane_through(whole[a], whole[b], whole[c])
            if plane is not None:
                self._fragments.append((plane, [corner_ids[a], corner_ids[b], corner_ids[c]]))
        self._share_planes()
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
        if common != 1:
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
        if common > 1:
            a, b, c, d = plane
            plane = (a // common, b // common, c // common, d // common)
        number = self._plane_ids.get(plane)
        if number is None:
            number = self._plane_ids[plane] = len(self._planes)
            self._planes.append(plane)
            a, b, c, d = plane
            length = isqrt((a * a + b * b + c * c) << 128)  # to 64 bits, however large
            self._plane_floats.append(
                ((a << 64) / length, (b << 64) / length, (c << 64) / length, (d << 64) / (length * self._unit))
            )
        return number

    def _plane_through(self, p: tuple[int, ...], q: tuple[int, ...], r: tuple[int, ...]) -> int | None:
        ux, uy, uz = (j - i for i, j in zip(p, q, strict=True))
        vx, vy, vz = (j - i for i, j in zip(p, r, strict=True))
        a, b, c = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        if not (a or b or c):
            return None
        return self._plane((a, b, c, a * p[0] + b * p[1] + c * p[2]))

    def _share_planes(self) -> None:
        """Put fragments in the first plane that they are in but for the tolerance: whether those of one face are in one
        plane exactly depends on the pose."""
        if not self._fragments:
            return
        steps = np.rint(np.array(self._plane_floats) / _DECOMPOSE_ALIKE)
        _, first, group = np.unique(steps, axis=0, return_index=True, return_inverse=True)
        shared = first[group.reshape(-1)][[plane for plane, _ in self._fragments]]
        n = np.array(self._plane_floats)[shared]
        corners = np.array(self._floats)[np.array([ring for _, ring in self._fragments])]
        off = np.abs(np.einsum("fck,fk->fc", corners, n[:, :3]) - n[:, 3:]).max(axis=1)
        same = off <= max(self._least, _DECOMPOSE_FILTER * EPS)
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

    def _exact_side(self, plane: int, point: int) -> int:
        side = self._sides.get((plane, point))
        if side is None:
            value = self._value(plane, point)
            side = self._sides[plane, point] = (value > 0) - (value < 0)
        return side

    def _heights(self, planes: list[int], points: list[int]) -> FloatArray:
        """Return the heights (planes, points) of points above planes, in units of the size."""
        p = np.array([self._floats[v] for v in points])
        n = np.array([self._plane_floats[h] for h in planes])
        return n[:, :3] @ p.T - n[:, 3:]

    def _signs(self, plane: int, points: list[int]) -> dict[int, int]:
        """Return on which side of a plane points are, exactly."""
        heights = self._heights([plane], points)[0].tolist()
        bound = _DECOMPOSE_FILTER * EPS
        return {
            v: (1 if h > 0.0 else -1) if abs(h) > bound else self._exact_side(plane, v)
            for v, h in zip(points, heights, strict=True)
        }

    def _crossing(self, plane: int, v: int, w: int) -> int:
        """Return the point in which the edge from v to w crosses a plane."""
        one, other = self._value(plane, v), self._value(plane, w)
        (ax, ay, az, aw), (bx, by, bz, bw) = self._points[v], self._points[w]
        return self._point((ax * other - bx * one, ay * other - by * one, az * other - bz * one, aw * other - bw * one))

    def _box(self, whole: list[tuple[int, ...]]) -> _Cell:
        low = [min(p[k] for p in whole) for k in range(3)]
        high = [max(p[k] for p in whole) for k in range(3)]
        spare = self._unit
        ends = [(a - spare, b + spare) for a, b in zip(low, high, strict=True)]
        ids = {s: self._point((ends[0][s[0]], ends[1][s[1]], ends[2][s[2]], 1)) for s in product((0, 1), repeat=3)}
        faces: list[tuple[int, _Ring]] = []
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for end in (0, 1):
                ring = []
                for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    s = [0, 0, 0]
                    s[axis], s[u], s[v] = end, i, j
                    ring.append(ids[s[0], s[1], s[2]])
                normal = [0, 0, 0]
                normal[axis] = 1 if end else -1
                plane = self._plane((normal[0], normal[1], normal[2], ends[axis][end] * normal[axis]))
                faces.append((plane, ring if end else ring[::-1]))
        return _Cell(faces)

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
        if not any(sign[v] < 0 for v in ring):
            below = []
        if not any(sign[v] > 0 for v in ring):
            above = []
        return below, above

    def _split_cell(self, cell: _Cell, plane: int) -> tuple[_Cell | None, _Cell | None]:
        """Return the parts of a cell under and above a plane, None for a part thinner than the tolerance."""
        corners = cell.corners()
        heights = self._heights([plane], corners)[0]
        bound = _DECOMPOSE_FILTER * EPS
        highest, lowest = float(heights.max()), float(heights.min())
        if highest <= max(self._least, bound):
            self._moved = max(self._moved, highest)
            return cell, None
        if lowest >= -max(self._least, bound):
            self._moved = max(self._moved, -lowest)
            return None, cell
        sign = self._signs(plane, corners)
        halves: list[list[tuple[int, _Ring]]] = [[], []]
        rims: list[dict[int, int]] = [{}, {}]
        for face, ring in cell.faces:
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
        return _Cell(halves[0]), _Cell(halves[1])

    def pieces(self, progress: Progress | None) -> list[ConvexHull]:
        """Return the convex pieces of the solid."""
        found: list[_Cell] = []
        stack = [(self._start, self._fragments, 0.0, 1.0)]
        cells = 0
        while stack:
            cell, fragments, begin, share = stack.pop()
            report_progress(progress, 0.8 * begin)
            cells += 1
            if cells > _MOST_CELLS:
                raise ValueError(f"triangles: the mesh needs more than {_MOST_CELLS} cuts; allow a larger tolerance")
            plane = self._choose(fragments)
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
                stack.append((above, upper, begin + 0.5 * share, 0.5 * share))
            if below is not None:
                if lower:
                    stack.append((below, lower, begin, 0.5 * share))
                else:
                    found.append(below)
        return [
            hull for vertices in self._merged(found, progress) if (hull := ConvexHull(self._world(vertices))).rank == 3
        ]

    def _split_fragments(
        self, fragments: list[tuple[int, _Ring]], plane: int
    ) -> tuple[list[tuple[int, _Ring]], list[tuple[int, _Ring]]]:
        """Return the parts of fragments under and above a plane. Corners within the tolerance are on it."""
        corners = sorted({v for _, ring in fragments for v in ring})
        width = max(self._least, _DECOMPOSE_FILTER * EPS)
        heights = self._heights([plane], corners)[0].tolist()
        sign = {v: 0 if abs(h) <= width else (1 if h > 0.0 else -1) for v, h in zip(corners, heights, strict=True)}
        self._moved = max(self._moved, max((abs(h) for h in heights if abs(h) <= width), default=0.0))
        lower: list[tuple[int, _Ring]] = []
        upper: list[tuple[int, _Ring]] = []
        for face, ring in fragments:
            below, above = self._split_ring(ring, plane, sign)
            if below:
                lower.append((face, below))
            if above:
                upper.append((face, above))
        return lower, upper

    def _choose(self, fragments: list[tuple[int, _Ring]]) -> int | None:
        """Return the plane to cut a cell in; None when its fragments bound a convex solid.

        Two fragments conflict when one rises above the plane of the other; the plane that leaves the fewest conflicts
        within its two sides is taken, and of those the one that cuts the fewest fragments.
        """
        planes = list(dict.fromkeys(face for face, _ in fragments))
        corners = sorted({v for _, ring in fragments for v in ring})
        place = {v: k for k, v in enumerate(corners)}
        flat = np.array([place[v] for _, ring in fragments for v in ring])
        starts = np.cumsum([0, *(len(ring) for _, ring in fragments)])[:-1]
        width = max(self._least, _DECOMPOSE_FILTER * EPS)
        above = np.empty((len(planes), len(fragments)), dtype=np.bool_)
        below = np.empty_like(above)
        step = max(1, 4_000_000 // len(flat))
        for begin in range(0, len(planes), step):
            heights = self._heights(planes[begin : begin + step], corners)[:, flat]
            highest = np.maximum.reduceat(heights, starts, axis=1)
            above[begin : begin + step] = highest > width
            self._moved = max(self._moved, float(highest[highest <= width].max(initial=0.0)))
            below[begin : begin + step] = np.minimum.reduceat(heights, starts, axis=1) < -width
        cutting = np.flatnonzero(above.any(axis=1))
        if not len(cutting):
            return None
        row = {h: k for k, h in enumerate(planes)}
        conflict = above[[row[face] for face, _ in fragments]].astype(np.float32)
        cut = (above[cutting] & below[cutting]).sum(axis=1)
        if len(cutting) > _CANDIDATES:
            some = np.argsort(cut, kind="stable")[:_CANDIDATES]
            cutting, cut = cutting[some], cut[some]
        left = np.zeros(len(cutting))
        for side in (above[cutting], below[cutting]):
            here = side.astype(np.float32)
            left += ((here @ conflict) * here).sum(axis=1)
        best = int(np.lexsort((cut, left))[0])
        return planes[int(cutting[best])]

    def _merged(self, cells: list[_Cell], progress: Progress | None) -> list[list[int]]:
        """Return the corners of pieces: cells joined while the union of two is convex.

        It is when they are on either side of a plane, and each is under all other planes of the other.
        """
        planes = [{face for face, _ in cell.faces} for cell in cells]
        corners = [cell.corners() for cell in cells]
        alive = set(range(len(cells)))
        width = max(self._least, _DECOMPOSE_FILTER * EPS)

        def beyond(one: set[int], vertices: list[int]) -> float:
            return float(self._heights(list(one), vertices).max()) if one else 0.0

        changed = True
        while changed:
            changed = False
            report_progress(progress, 0.8 + 0.2 / (1 + len(alive)))
            beside: dict[int, list[int]] = defaultdict(list)
            for k in alive:
                for h in planes[k]:
                    beside[h].append(k)
            for k in sorted(alive):
                if k not in alive:
                    continue
                for h in sorted(planes[k]):
                    back = self._flipped(h)
                    for j in beside.get(back, ()):
                        if j == k or j not in alive or back not in planes[j]:
                            continue
                        mine, others = planes[k] - {h}, planes[j] - {back}
                        if not (set(corners[k]) & set(corners[j])):
                            continue
                        out = beyond(mine, corners[j])
                        if out <= width and (out := max(out, beyond(others, corners[k]))) <= width:
                            self._moved = max(self._moved, out)
                            planes[k] = mine | others
                            corners[k] = sorted({*corners[k], *corners[j]})
                            alive.discard(j)
                            changed = True
                            break
                    if changed:
                        break
                if changed:
                    break
        return [corners[k] for k in sorted(alive)]

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


# ---------------------------------------------------------------------------------------------------------------------
# How far pieces are from the mesh

_Row = tuple[float, float, float]
_Heights = list[list[float]]


def distance_from_mesh(
    pieces: Sequence[ConvexHull], points: ArrayLike, triangles: ArrayLike, progress: Progress | None = None
) -> float:
    """Return an upper bound, unit of the coordinates, of how far convex pieces are from the surface of a mesh.

    It is the larger of: how deep a point of the mesh is inside a piece, under the piece's own surface (0 when nothing
    of the surface is buried, so that no dent is filled), and how far a point of the mesh is from the nearest piece (0
    when nothing is left out). The first is found to _DECOMPOSE_BOUND of itself or some 1e-6 of the diagonal, the second
    may be up to four times too large.

    points (n, 3) and triangles (m, 3) as for `decomposed_mesh`; pieces are solid. Raises ValueError that names the
    argument; Cancelled when `progress` says so.
    """
    array, corners = checked_mesh(points, triangles)
    if not pieces:
        raise ValueError("pieces: at least one expected, got none")
    return _distance(pieces, array, corners, 0.0, progress)


def _distance(
    pieces: Sequence[ConvexHull], array: FloatArray, corners: IntArray, spare: float, progress: Progress | None
) -> float:
    """Return `distance_from_mesh`; what is within `spare` of a piece is in no other; 0.0 for a width of its own."""
    used = array[np.unique(corners)]
    low, high = used.min(axis=0), used.max(axis=0)
    extent = float(np.sqrt(((high - low) ** 2).sum()))
    rounding = CONVEX_FLAT * EPS * float(np.abs(used).max())
    t = array[corners]
    lows, highs = t.min(axis=1), t.max(axis=1)
    covered = np.zeros(len(t), dtype=np.bool_)
    left: dict[int, list[list[_Row]]] = {}
    spare = max(2.0 * rounding, spare or 1e-2 * _DECOMPOSE_BOUND * extent)
    buried = missing = 0.0
    for number, piece in enumerate(sorted(pieces, key=lambda piece: -piece.volume)):
        report_progress(progress, number, len(pieces))
        bottom, top = piece.bounds
        near = np.flatnonzero(((lows <= top + spare) & (highs >= bottom - spare)).all(axis=1))
        step = max(1, PRODUCTS // len(piece.normals))
        inner: list[FloatArray] = []
        for begin in range(0, len(near), step):
            rows = near[begin : begin + step]
            heights = (t[rows] - piece.center) @ piece.normals.T - piece.offsets
            lowest, highest = heights.min(axis=1), heights.max(axis=1)
            depth = -lowest.max(axis=1)
            inside = highest.max(axis=1) <= rounding
            covered[rows[inside]] = True
            for k in np.flatnonzero(depth > rounding).tolist():
                if inside[k]:
                    polygon = t[rows[k]]
                else:
                    ring, _ = _clipped(list(map(tuple, t[rows[k]].tolist())), piece, 0.0)
                    if len(ring) < 3:
                        continue
                    polygon = np.array(ring)
                h = (polygon - piece.center) @ piece.normals.T - piece.offsets
                if -float(h.min(axis=0).max()) > max(buried, rounding):
                    inner += [polygon[[0, i, i + 1]] for i in range(1, len(polygon) - 1)]
            for k in np.flatnonzero(~inside & (lowest.max(axis=1) < spare)).tolist():
                face = int(rows[k])
                if covered[face]:
                    continue
                rest: list[list[_Row]] = []
                for ring in left.get(face) or [list(map(tuple, t[face].tolist()))]:
                    part, outside = _clipped(ring, piece, spare)
                    # Beyond the sharp edge of a thin piece a little across its planes is far away.
                    far = _farthest(part, piece, rounding) if len(part) >= 3 else inf
                    if far <= _AMPLIFIED * spare:
                        missing = max(missing, far)
                        rest += outside
                    else:
                        rest.append(ring)
                left[face] = rest
                covered[face] = not rest
        if inner:
            buried = max(buried, _deepest_in(piece, np.array(inner), buried, rounding, extent))
    rings = [
        ring
        for face in np.flatnonzero(~covered).tolist()
        for ring in left.get(face) or [list(map(tuple, t[face].tolist()))]
    ]
    # What no piece covers within `spare` is covered by wider ones, or is as far as its farthest corner.
    while rings and spare < extent:
        spare *= 2.0
        for piece in pieces:
            rest = []
            for ring in rings:
                part, outside = _clipped(ring, piece, spare)
                far = _farthest(part, piece, rounding) if len(part) >= 3 else inf
                if far <= 2.0 * spare:
                    missing = max(missing, far)
                    rest += outside
                else:
                    rest.append(ring)
            rings = rest
    for ring in rings:
        missing = max(missing, min(_farthest(ring, piece, rounding) for piece in pieces))
    return max(buried, missing) + 2.0 * rounding


def _deepest_in(piece: ConvexHull, inner: FloatArray, known: float, rounding: float, extent: float) -> float:
    """Return a bound of how deep triangles (k, 3, 3) are inside a piece: split where one plane does not tell."""
    local = inner - piece.center
    while True:
        heights = local.reshape(-1, 3) @ piece.normals.T - piece.offsets
        depths = np.maximum(-heights.max(axis=1), 0.0).max()
        bounds = -heights.reshape(len(local), 3, -1).min(axis=1).max(axis=1)
        known = max(known, float(depths))
        allowed = max(known * (1.0 + _DECOMPOSE_BOUND), known + 1e-4 * _DECOMPOSE_BOUND * extent, rounding)
        rest = local[bounds > allowed]
        if not len(rest):
            return max(float(bounds.max()), known)
        if len(rest) > _MOST_SPLIT:
            return float(bounds.max())
        known = max(known, float(bounds[bounds <= allowed].max(initial=0.0)))
        a, b, c = rest[:, 0], rest[:, 1], rest[:, 2]
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        local = np.concatenate([np.stack(part, axis=1) for part in parts])


def _clipped(ring: list[_Row], piece: ConvexHull, spare: float) -> tuple[list[_Row], list[list[_Row]]]:
    """Return the part of a convex polygon inside a piece grown by `spare` across its planes, and the parts outside."""
    outside: list[list[_Row]] = []
    cx, cy, cz = piece.middle
    for (nx, ny, nz), offset in zip(piece.normals.tolist(), piece.offsets.tolist(), strict=True):
        d = [nx * (x - cx) + ny * (y - cy) + nz * (z - cz) - offset - spare for x, y, z in ring]
        if max(d) <= 0.0:
            continue
        inner: list[_Row] = []
        outer: list[_Row] = []
        for k, p in enumerate(ring):
            q, s, e = ring[k - 1], d[k - 1], d[k]
            if (s < 0.0 < e) or (e < 0.0 < s):
                share = s / (s - e)
                x, y, z = (i + share * (j - i) for i, j in zip(q, p, strict=True))
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


def _farthest(ring: list[_Row], piece: ConvexHull, rounding: float) -> float:
    """Return a bound of how far a convex polygon reaches from a piece: at a corner, for the distance is convex."""
    p = np.array(ring)
    beyond = ((p - piece.center) @ piece.normals.T - piece.offsets).max(axis=1)
    far = p[beyond > rounding]
    return max((contact(ConvexHull(q[None]), piece).upper_bound for q in far), default=max(0.0, float(beyond.max())))
