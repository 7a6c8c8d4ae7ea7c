# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the surfaces of two meshes that are inside the other mesh, by their boundaries.

Of a triangle that the other surface cuts, the part is given by the directed lines around it: the segments of the cuts,
and its own edges, each with how often the other surface goes around it. Around every part they close, so sums over
them are sums over the parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..connected import connected_parts
from ..meshes.coordinates import scale_exponent, scale_points
from ..meshes.crossings import Crossings, Meeting
from ..meshes.general_position import Cuts, GeneralPosition, general_position, windings_by_rays
from ..meshes.mesh import Mesh
from ..meshes.winding import winding_numbers
from ..progress import Progress, subrange
from ..runs import ranges
from ..types import BoolArray, FloatArray, IntArray

_CLEAR = 0.25
"""How far the winding number of a mesh with holes may be from a whole number that it stands for."""
_HALF = 1e-6
"""By how much more than a half the winding number of a mesh with holes must be: a flat one has a half beside it."""
_FAR = np.array([0.7548776662466927, 0.5698402909980532, 0.3247179572447460])
"""A direction in no plane of usual shapes: powers of a root."""


@dataclass(frozen=True, eq=False)
class InsidePart:
    """The part of one mesh's surface inside the other mesh."""

    mesh: Mesh
    points: FloatArray
    """(n, 3) the corners of the mesh, then the points of the cuts, from `origin`, scaled."""
    windings: IntArray
    """(c,) how often the other surface goes around each corner."""
    whole: IntArray
    """(w,) triangles without a cut, inside the other mesh as a whole."""
    triangles: IntArray
    """(s,) triangles with a cut, one for each line."""
    lines: IntArray
    """(s, 2) points that a line around the part of its triangle goes from and to, counter-clockwise seen from
    outside."""
    times: IntArray
    """(s,) how often."""
    is_consistent: bool
    """Whether the lines close around every part: not where a hole of the other mesh reaches into this surface."""


@dataclass(frozen=True, eq=False)
class OverlapParts:
    """Both parts, which together bound the overlap."""

    a: InsidePart
    b: InsidePart
    cuts: GeneralPosition
    origin: FloatArray
    """(3,) what was subtracted from coordinates after they were scaled."""
    exponent: int
    """The power of two that lengths are multiplied with."""


def overlap_parts(
    a: Mesh, b: Mesh, crossings: Crossings, closed: tuple[bool, bool], progress: Progress | None = None
) -> OverlapParts:
    """Return the parts of the surfaces of two meshes inside the other one.

    crossings: `crossing_triangles(a, b)`. closed: whether the meshes are; the triangles of those that are turn outward.
    """
    exponent = scale_exponent(max(float(np.abs(x).max()) for mesh in (a, b) for x in mesh.reach))
    scaled = [scale_points(mesh.points, exponent) for mesh in (a, b)]
    columns = [np.ascontiguousarray(points.T) for points in scaled]
    # Triangles in one plane do not cut each other, whatever the step; those that name a corner twice have no edges.
    kept = crossings.kinds < Meeting.COPLANAR
    for mesh, which in zip((a, b), crossings.pairs.T, strict=True):
        corners = mesh.triangles.take(which, axis=0)
        kept &= (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    across = crossings.pairs[kept]
    cuts = general_position(columns[0], columns[1], (a.triangles, b.triangles), across)
    low = np.maximum(*(scale_points(mesh.bounds[0], exponent) for mesh in (a, b)))
    high = np.minimum(*(scale_points(mesh.bounds[1], exponent) for mesh in (a, b)))
    origin = 0.5 * low + 0.5 * high
    local = [points - origin for points in scaled]
    nodes = np.empty((len(cuts.fractions), 3))
    for points, cut in zip(local, (cuts.a, cuts.b), strict=True):
        start, end = (points.take(corners, axis=0) for corners in cut.edges.T)
        fraction = cuts.fractions.take(cut.nodes)[:, None]
        # From the nearer end: rounding is then at most that of the coordinates.
        nodes[cut.nodes] = np.where(
            fraction <= 0.5, start + fraction * (end - start), end + (1.0 - fraction) * (start - end)
        )
    parts = []
    for k, (mesh, other, cut) in enumerate(((a, b, cuts.a), (b, a, cuts.b))):
        part = subrange(progress, 0.5 * k, 0.5 * (k + 1))
        touched = np.zeros(len(mesh.points), dtype=np.bool_)
        touched[mesh.triangles.take(crossings.pairs[:, k], axis=0)] = True
        totals = np.bincount(_edge_numbers(mesh, cut.edges), cut.steps, len(mesh.edges)).astype(np.intp)
        search = _Windings(mesh, other, totals, touched, columns, k == 0)
        windings, is_consistent = search.closed(part) if closed[1 - k] else search.open(closed[k], part)
        points = np.concatenate([local[k], nodes])
        parts.append(_part(mesh, points, cut, cuts.fractions, windings, is_consistent and cuts.is_consistent))
    return OverlapParts(parts[0], parts[1], cuts, origin, exponent)


def _edge_numbers(mesh: Mesh, edges: IntArray) -> IntArray:
    """Return which of `mesh.edges`, which are in ascending order, some edges (k, 2) are."""
    count = len(mesh.points)
    return np.searchsorted(mesh.edges[:, 0] * count + mesh.edges[:, 1], edges[:, 0] * count + edges[:, 1])


@dataclass(frozen=True, eq=False)
class _Windings:
    """The search for how often another surface goes around the corners of a mesh, in general position."""

    mesh: Mesh
    other: Mesh
    totals: IntArray
    """(e,) for each edge of the mesh the difference between its ends."""
    touched: BoolArray
    """(n,) the corners of triangles that meet the other surface, which may be on it."""
    columns: list[FloatArray]
    """The points of A and of B, (3, n), scaled."""
    is_a: bool

    def _potentials(self) -> tuple[IntArray, IntArray, BoolArray]:
        """Return for each corner its difference to the first corner of its part of the mesh, that corner, and whether
        all ways along edges give the same difference (for each part, at the number of that corner)."""
        count = len(self.mesh.points)
        steps = self.totals != 0
        root = connected_parts(self.mesh.edges[~steps], count)
        ends = root.take(self.mesh.edges[steps])
        links = np.unique(np.column_stack([ends, self.totals[steps]]), axis=0)
        part = connected_parts(links[:, :2], count)
        near: dict[int, list[tuple[int, int]]] = {}
        for p, q, step in links.tolist():
            near.setdefault(p, []).append((q, step))
            near.setdefault(q, []).append((p, -step))
        difference = np.zeros(count, dtype=np.intp)
        is_same = np.ones(count, dtype=np.bool_)
        known: dict[int, int] = {}
        for first in near:
            if first in known:
                continue
            known[first] = 0
            waiting = [first]
            while waiting:
                p = waiting.pop()
                for q, step in near[p]:
                    if q not in known:
                        known[q] = known[p] + step
                        waiting.append(q)
                    elif known[q] != known[p] + step:
                        is_same[part[q]] = False
        for corner, value in known.items():
            difference[corner] = value
        return difference.take(root), part.take(root), is_same

    def _first_of_parts(self, part: IntArray, chosen: BoolArray) -> IntArray:
        """Return a corner of each part that has one among the chosen."""
        corners = np.flatnonzero(chosen)
        return corners.take(np.unique(part.take(corners), return_index=True)[1])

    def closed(self, progress: Progress | None) -> tuple[IntArray, bool]:
        """Return the numbers (n,) around which a closed surface goes, and whether they are consistent."""
        difference, part, is_same = self._potentials()
        used = np.zeros(len(part), dtype=np.bool_)
        used[self.mesh.triangles] = True
        base = np.zeros(len(part), dtype=np.intp)
        known = self._first_of_parts(part, used & ~self.touched)
        numbers = winding_numbers(self.mesh.points.take(known, axis=0), self.other, progress).numbers
        base[part.take(known)] = np.rint(numbers).astype(np.intp) - difference.take(known)
        used &= ~np.isin(part, part.take(known))
        on_it = self._first_of_parts(part, used)
        if len(on_it):
            own, others = self.columns if self.is_a else self.columns[::-1]
            low, high = others.min(axis=1), others.max(axis=1)
            far = high + (high - low).max() * _FAR
            found = windings_by_rays(own.take(on_it, axis=1), far, others, self.other.triangles, self.is_a)
            base[part.take(on_it)] = found - difference.take(on_it)
        return base.take(part) + difference, bool(is_same.all())

    def open(self, is_solid: bool, progress: Progress | None) -> tuple[IntArray, bool]:
        """Return the numbers for a surface with holes: whole numbers that stand for its winding numbers; where these
        are not near whole numbers, as about a terrain, 1 behind the surface and 0 before it."""
        difference, part, is_same = self._potentials()
        (low, high), points = self.other.bounds, self.mesh.points
        near = np.zeros(len(part), dtype=np.bool_)
        near[self.mesh.triangles] = True
        near &= ((points >= low) & (points <= high)).all(axis=1)
        corners = np.flatnonzero(near)
        numbers = winding_numbers(points.take(corners, axis=0), self.other, progress).numbers
        result = np.zeros(len(part), dtype=np.intp)
        result[corners] = np.abs(numbers) > 0.5 + _HALF
        beyond = numbers - difference.take(corners)
        off = np.abs(beyond - np.rint(beyond))
        crossed = np.unique(part[difference != 0])
        for first in crossed.tolist():
            its = np.flatnonzero(part.take(corners) == first)
            is_clear = len(its) > 0 and float(np.median(off.take(its))) < _CLEAR
            if is_same[first] and is_solid and not is_clear:
                members = part == first
                result[members] = difference[members] - difference[members].min()
        edges = self.mesh.edges
        return result, bool((result.take(edges[:, 1]) == result.take(edges[:, 0]) + self.totals).all())


def _part(
    mesh: Mesh, points: FloatArray, cuts: Cuts, fractions: FloatArray, windings: IntArray, is_consistent: bool
) -> InsidePart:
    """Return the part of a mesh inside another that goes around its corners so many times."""
    corners = len(mesh.points)
    is_cut = np.zeros(len(mesh.triangles), dtype=np.bool_)
    is_cut[cuts.triangles] = True
    inside = (windings.take(mesh.triangles) > 0).all(axis=1)
    chosen = np.flatnonzero(is_cut)
    # All sides of cut triangles, and the points on them in order.
    starts = mesh.triangles.take(chosen, axis=0)
    ends = np.roll(starts, -1, axis=1)
    codes = np.minimum(starts, ends) * corners + np.maximum(starts, ends)
    sides, place = np.unique(codes, return_inverse=True)
    place = place.reshape(codes.shape)
    low, high = sides // corners, sides % corners
    own = np.searchsorted(sides, cuts.edges[:, 0] * corners + cuts.edges[:, 1])
    order = np.lexsort((fractions.take(cuts.nodes), own))
    own, nodes, steps = own[order], corners + cuts.nodes[order], cuts.steps[order].astype(np.intp)
    # A side of k points is k + 1 lines: before each of them and after the last.
    count = np.bincount(own, minlength=len(sides))
    first = np.cumsum(count + 1) - (count + 1)
    total = len(own) + len(sides)
    begin, end, times = (np.empty(total, dtype=np.intp) for _ in range(3))
    rows = np.arange(len(own)) + own
    end[rows], begin[rows + 1] = nodes, nodes
    begin[first], end[first + count] = low, high
    times[:] = 0
    times[rows + 1] = steps
    times = np.cumsum(times)
    times += (windings.take(low) - times.take(first)).repeat(count + 1)
    times[first + count] = windings.take(high)  # as it is already, unless a hole is in between
    # Each triangle has the lines of its sides, in its own direction.
    lines = ranges(first.take(place.ravel()), count.take(place.ravel()) + 1)
    repeats = count.take(place.ravel()) + 1
    triangle = np.repeat(np.repeat(chosen, 3), repeats)
    forward = np.repeat((starts < ends).ravel(), repeats)
    along = np.where(forward, 1, -1) * times.take(lines)
    links = np.stack([begin.take(lines), end.take(lines)], axis=1)
    kept = along != 0
    links, triangle, along = links[kept], triangle[kept], along[kept]
    links[along < 0] = links[along < 0, ::-1]
    return InsidePart(
        mesh,
        points,
        windings,
        np.flatnonzero(inside & ~is_cut),
        np.concatenate([triangle, cuts.triangles]),
        np.concatenate([links, corners + cuts.segments]),
        np.concatenate([np.abs(along), np.ones(len(cuts.triangles), dtype=np.intp)]),
        is_consistent,
    )
