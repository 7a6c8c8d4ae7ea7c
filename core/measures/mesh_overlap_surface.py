# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of the overlap of two meshes, in triangles to be drawn.

The part of a triangle that is inside the other mesh is filled in strips, cut at the height of every corner of its
outline: between two lines in a strip is a trapezoid where the other surface goes around. That needs no order of the
outline and no outline without faults, so there is no input that it cannot fill.

Where faces of both meshes coincide and face each other nothing overlaps, whatever the cuts in general position say: the
other triangle is taken away from the part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..meshes.body import Body
from ..meshes.contact_curves import contact_curves
from ..meshes.coordinates import scale_points
from ..meshes.crossings import Crossings, Meeting
from ..meshes.mesh import Mesh
from ..meshes.triangle_pairs import crossing_triangles
from ..progress import Progress, report_progress, subrange
from ..region.contact_curve import ContactCurve
from ..runs import group_chunks, ranges
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray, read_only
from .overlap_parts import InsidePart, overlap_parts
from .surface_record import OverlapSurface

_MOST = 1 << 22
"""Lines in strips, or pairs of lines, of one triangle: beyond that it is left out, or its crossings are."""
_CHUNK = 1 << 18
"""Lines in strips in one go."""
_THIN = 64.0
"""Times EPS and the largest coordinate: trapezoids this thin are rounding."""


def mesh_overlap_surface(
    a: Mesh,
    b: Mesh,
    curves: tuple[ContactCurve, ...] = (),
    normal: FloatArray | None = None,
    progress: Progress | None = None,
) -> OverlapSurface:
    """Return the boundary of the overlap of two meshes, to be drawn: of A's surface what is inside B, and of B's what
    is inside A. Where both are in one place there is one of them.

    curves: those in which they meet, where they are known. normal: (3,) from A to B, where it is known: B leaves A
    along it, which tells the side of a terrain that is inside.

    Inside of an open mesh is where its winding number is more than a half; of one like a terrain, which is far from
    closed, what a solid has behind it. Raise Cancelled when `progress` returns False.
    """
    bodies = [Body.of(mesh) for mesh in (a, b)]
    closed = bodies[0].solid, bodies[1].solid
    crossings = crossing_triangles(bodies[0].mesh, bodies[1].mesh, subrange(progress, 0.0, 0.2))
    found = list(curves)
    if not found and len(crossings):
        found = contact_curves(crossings, bodies[0].mesh, bodies[1].mesh)
    own, other = (
        _outward(body, crossings.pairs[:, k], np.zeros(3) if normal is None else toward * normal)
        for k, (body, toward) in enumerate(zip(bodies, (-1.0, 1.0), strict=True))
    )
    lines = tuple(read_only(_polyline(curve)) for curve in found if len(curve.points) > 1)
    parts = overlap_parts(own, other, crossings, closed, subrange(progress, 0.2, 0.6))
    filled = [
        _filled(part, beside, opposite, subrange(progress, 0.6 + 0.2 * k, 0.8 + 0.2 * k))
        for k, (part, beside, opposite) in enumerate(
            zip((parts.a, parts.b), (parts.b, parts.a), _facing_each_other(own, other, crossings), strict=True)
        )
    ]
    points, triangles, of_a, first = [], [], [], 0
    for k, (part, (whole, corners)) in enumerate(zip((parts.a, parts.b), filled, strict=True)):
        used, place = np.unique(part.mesh.triangles.take(whole, axis=0), return_inverse=True)
        points += [part.mesh.points.take(used, axis=0), scale_points(corners + parts.origin, -parts.exponent)]
        numbers = len(used) + np.arange(len(corners))
        of_this = np.concatenate([place.reshape(-1, 3), numbers.reshape(-1, 3)])
        triangles.append(of_this + first)
        of_a.append(np.full(len(of_this), k == 0))
        first += len(used) + len(corners)
    report_progress(progress, 1.0)
    return OverlapSurface(
        read_only(np.concatenate(points)),
        read_only(np.concatenate(triangles)),
        read_only(np.concatenate(of_a)),
        lines,
        all(closed) or not (_is_open(parts.a) or _is_open(parts.b)),
    )


def _outward(body: Body, crossed: IntArray, away: FloatArray) -> Mesh:
    """Return the surface of a body with its triangles turned outward, those of an open one, of which some are crossed,
    against the direction in which it leaves the other body."""
    mesh = body.mesh
    is_outward = body.outward > 0.0 if body.solid else float(_normals(mesh, crossed).sum(axis=0) @ away) <= 0.0
    return mesh if is_outward else Mesh(mesh.points, mesh.triangles[:, ::-1])


def _polyline(curve: ContactCurve) -> FloatArray:
    """Return the points of a curve, a closed one with its first point at the end."""
    return np.concatenate([curve.points, curve.points[:1]]) if curve.is_closed else curve.points.copy()


def _is_open(part: InsidePart) -> bool:
    """Return whether the part of a surface inside the other ends at a hole of one of them."""
    return not part.is_consistent or bool((part.windings.take(part.mesh.boundary_edges) > 0).any())


class _PartLines(NamedTuple):
    """Directed lines, each in a triangle of one mesh; `points` are their ends."""

    triangles: IntArray
    starts: FloatArray
    ends: FloatArray
    times: IntArray

    def take(self, chosen: IntArray | BoolArray | slice) -> _PartLines:
        """Return some of the lines."""
        return _PartLines(self.triangles[chosen], self.starts[chosen], self.ends[chosen], self.times[chosen])


def _facing_each_other(a: Mesh, b: Mesh, crossings: Crossings) -> list[IntArray]:
    """Return for A and for B which triangle (k, 2) of it coincides with one of the other that faces it."""
    pairs = crossings.pairs.take(crossings.of_kind(Meeting.COPLANAR), axis=0)
    normals = [_normals(mesh, of) for mesh, of in ((a, pairs[:, 0]), (b, pairs[:, 1]))]
    pairs = pairs[(normals[0] * normals[1]).sum(axis=1) < 0.0]
    return [pairs, pairs[:, ::-1]]


def _normals(mesh: Mesh, triangles: IntArray) -> FloatArray:
    """Return vectors (k, 3) across triangles, of the length of their size."""
    p, q, r = (mesh.points.take(mesh.triangles[triangles, k], axis=0) for k in range(3))
    u, v = q - p, r - p
    size = np.maximum(np.abs(u).max(axis=1), np.abs(v).max(axis=1))
    size = np.where(size > 0.0, size, 1.0)[:, None]
    return np.cross(u / size, v / size)


def _filled(
    part: InsidePart, other: InsidePart, opposite: IntArray, progress: Progress | None
) -> tuple[IntArray, FloatArray]:
    """Return which triangles of a part are inside as a whole, and the corners (3 t, 3) of t triangles that fill the
    others."""
    whole = part.whole
    starts, ends = part.points.take(part.lines.T, axis=0)
    outline = _PartLines(part.triangles, starts, ends, part.times)
    if not part.is_consistent:
        outline = _closing(outline, part.lines)
    if len(opposite):
        covered = np.isin(whole, opposite[:, 0])
        sides = _sides(part, np.repeat(whole[covered][:, None], 2, axis=1), part)
        whole = whole[~covered]
        outline = _joined(outline, sides)
        opposite = opposite[np.isin(opposite[:, 0], outline.triangles)]
        outline = _joined(outline, _sides(part, opposite, other))
    return whole, _fill(part, outline, bool(len(opposite)), progress)


def _sides(part: InsidePart, pairs: IntArray, other: InsidePart) -> _PartLines:
    """Return the sides of triangles pairs[:, 1] of `other`, as lines in triangles pairs[:, 0]; without those that two
    of them have in opposite directions."""
    corners = other.mesh.triangles.take(pairs[:, 1], axis=0)
    starts, ends = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    table = np.stack([np.repeat(pairs[:, 0], 3), np.minimum(starts, ends), np.maximum(starts, ends)], axis=1)
    table, place = np.unique(table, axis=0, return_inverse=True)
    times = np.bincount(place.ravel(), np.where(starts < ends, 1, -1), len(table)).astype(np.intp)
    table, times = table[times != 0], times[times != 0]
    links = np.where((times > 0)[:, None], table[:, 1:], table[:, :0:-1])
    begins, stops = other.points.take(links.T, axis=0)
    return _PartLines(table[:, 0], begins, stops, np.abs(times))


def _joined(first: _PartLines, second: _PartLines) -> _PartLines:
    """Return the lines of both."""
    return _PartLines(
        np.concatenate([first.triangles, second.triangles]),
        np.concatenate([first.starts, second.starts]),
        np.concatenate([first.ends, second.ends]),
        np.concatenate([first.times, second.times]),
    )


def _closing(outline: _PartLines, links: IntArray) -> _PartLines:
    """Return the lines of those triangles in which as many go from every point as come to it."""
    triangles = np.concatenate([outline.triangles, outline.triangles])
    order = np.lexsort((links.T.ravel(), triangles))
    sums = np.concatenate([outline.times, -outline.times])[order].cumsum()
    ends = np.stack([triangles, links.T.ravel()])[:, order]
    last = np.append((ends[:, 1:] != ends[:, :-1]).any(axis=0), True) if len(order) else np.zeros(0, np.bool_)
    sums, of = sums[last], ends[0, last]
    open_ones = of[np.diff(sums, prepend=0) != 0]
    return outline.take(~np.isin(outline.triangles, open_ones))


def _fill(part: InsidePart, outline: _PartLines, is_crossed: bool, progress: Progress | None) -> FloatArray:
    """Return the corners (3 t, 3) of triangles that fill the outlines in triangles of a mesh."""
    normals = _normals(part.mesh, outline.triangles)
    axis = np.abs(normals).argmax(axis=1)
    across = np.take_along_axis(normals, axis[:, None], axis=1)[:, 0]
    order = np.argsort(outline.triangles, kind="stable")
    order = order[across[order] != 0.0]
    outline, axis, across = outline.take(order), axis[order], across[order]
    # The two other axes, of which the first turns to the second counter-clockwise seen from outside.
    plane = np.stack([(axis + 1) % 3, (axis + 2) % 3], axis=1)
    plane[across < 0.0] = plane[across < 0.0, ::-1]
    flat = [np.take_along_axis(ends, plane, axis=1) for ends in (outline.starts, outline.ends)]
    starts = np.flatnonzero(np.diff(outline.triangles, prepend=-1))
    found = [np.zeros((0, 3))]
    thin = _THIN * EPS * float(np.abs(part.points).max(initial=0.0))
    sizes = np.diff(np.append(starts, len(order)))
    groups = group_chunks(starts, len(order), _CHUNK >> 4)
    for group, lines in groups:
        report_progress(progress, lines.start, len(order))
        place = np.repeat(np.arange(group.stop - group.start), sizes[group])
        found.append(_strips(outline.take(lines), place, flat[0][lines], flat[1][lines], is_crossed, thin))
    return np.concatenate(found)


def _strips(
    outline: _PartLines, place: IntArray, start: FloatArray, end: FloatArray, is_crossed: bool, thin: float
) -> FloatArray:
    """Return the corners (3 t, 3) of triangles that fill some outlines: those of equal `place`, ascending, with their
    ends in the plane (n, 2)."""
    heights, of = np.concatenate([start[:, 1], end[:, 1]]), np.concatenate([place, place])
    if is_crossed:
        more, of_more = _crossing_heights(place, start, end)
        heights, of = np.concatenate([heights, more]), np.concatenate([of, of_more])
    order = np.lexsort((heights, of))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (heights[order][1:] != heights[order][:-1]) | (of[order][1:] != of[order][:-1])
    level = np.empty(len(order), dtype=np.intp)
    level[order] = np.cumsum(new) - 1
    heights = heights[order][new]
    first, last = level[: len(start)], level[len(start) : 2 * len(start)]
    low, count = np.minimum(first, last), np.abs(first - last)
    # Strips that are mere rounding, and triangles with too many of them, are left out.
    most = np.bincount(place, count)
    count[most.take(place) > _MOST] = 0
    line, strip = np.repeat(np.arange(len(start)), count), ranges(low, count)
    kept = heights.take(strip + 1) - heights.take(strip) > thin
    line, strip = line[kept], strip[kept]
    rise = end[:, 1] - start[:, 1]
    below, above = ((heights.take(strip + k) - start[:, 1].take(line)) / rise.take(line) for k in (0, 1))
    left, right = start[:, 0].take(line), end[:, 0].take(line)
    bottom, top = ((1.0 - part) * left + part * right for part in (below, above))
    order = np.lexsort((bottom + top, strip))
    line, strip, below, above, bottom, top = (x[order] for x in (line, strip, below, above, bottom, top))
    # From the left: a line that goes down begins what is inside, one that goes up ends it.
    times = np.where(rise.take(line) < 0.0, 1, -1) * outline.times.take(line)
    begins = np.diff(strip, prepend=-1) != 0
    total = np.cumsum(times)
    before = total - times
    total -= np.repeat(before[begins], np.diff(np.append(np.flatnonzero(begins), len(strip))))
    k = np.flatnonzero((total[:-1] > 0) & ~begins[1:])
    corners = []
    for which, part in ((k, below), (k + 1, below), (k + 1, above), (k, above)):
        fraction, its = part.take(which)[:, None], line.take(which)
        corners.append((1.0 - fraction) * outline.starts.take(its, axis=0) + fraction * outline.ends.take(its, axis=0))
    wide = [x.take(k + 1) - x.take(k) > thin for x in (bottom, top)]
    lower = np.stack([corners[0], corners[1], corners[2]], axis=1)[wide[0]]
    upper = np.stack([corners[0], corners[2], corners[3]], axis=1)[wide[1]]
    return np.concatenate([lower, upper]).reshape(-1, 3)


def _crossing_heights(place: IntArray, start: FloatArray, end: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the heights at which lines of one outline cross each other, and the outlines' numbers."""
    count = np.bincount(place)
    count[count * count > _MOST] = 0
    begins = np.cumsum(np.bincount(place)) - np.bincount(place)
    first = np.repeat(np.arange(len(place)), count.take(place))
    second = ranges(begins.take(place), count.take(place))
    upper = first < second
    first, second = first[upper], second[upper]
    p, q = start.take(first, axis=0), start.take(second, axis=0)
    u, v = end.take(first, axis=0) - p, end.take(second, axis=0) - q
    turn, offset = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0], q - p
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        along = (offset[:, 0] * v[:, 1] - offset[:, 1] * v[:, 0]) / turn
        beside = (offset[:, 0] * u[:, 1] - offset[:, 1] * u[:, 0]) / turn
    met = (along > 0.0) & (along < 1.0) & (beside > 0.0) & (beside < 1.0)
    return p[met, 1] + along[met] * u[met, 1], place.take(first[met])
