# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact regions of many pairs of boxes at once: what `contact_region` computes for one pair.

A feature of a box in the contact plane is all points c + s u + t v with |s|, |t| <= 1: of a face with the arms u and v,
of an edge with u alone, of a vertex with none. Sides of a face are counter-clockwise, v is to the left of u:

    +--<---2------+       side   centre   arm
    |      | v    ^       0      c - v     u
    3      c------1       1      c + u     v
    v         u   |       2      c + v    -u
    +------0--->--+       3      c - u    -v

1. Find the support features of both boxes (`box_features`).
2. A vertex c + d is in a face where |d x v| and |d x u| are at most |u x v|: d = s u + t v, so d x v = s (u x v). Edges
   with the arms d and e, their centres apart by w, cross at s = (w x e) / (d x e) along the first: s d = w + t e.
3. A face is what two strips have in common, one along each arm. With n a unit vector `across` u, the strip along u is
   all c + x with |x . n| <= `width` = |u x v| / |u|. A segment m + s a is in it between s = (-start - width) / step and
   s = (-start + width) / step, where `start` = (m - c) . n and `step` = a . n (Cyrus-Beck).
4. Of two faces, clip the sides of each by the other. What is left of all eight sides, in the order of their directions,
   is the outline: it must be closed and turn left everywhere, so nothing is missing. With P and Q the ends of a side,
   twice the area is the sum of P x Q, and the centroid that of (P x Q) (P + Q), over three times that sum.

Everything else, and what rounding makes ambiguous, is left to `region_between`. Source: S2.2 to S2.6; M. Cyrus and
J. Beck, Generalized Two- and Three-Dimensional Clipping, 1978.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...region.region import Region, RegionKind
from ...runs import chunks, next_in_loops
from ...tolerance import EPS, REGION_NAMED, REGION_ROUNDING, REGION_SUPPORT, REGION_TILT
from ...types import BoolArray, FloatArray, IntArray, read_only
from ...vectors import cross, dot, length
from .box_features import FEATURES, SupportFeatures
from .boxes import BoxColumns
from .columns import CHUNK, add_rows, einsum
from .hull_features import ON_ONE_LINE
from .pair_regions import RegionMeasures

_KINDS = (RegionKind.POINT, RegionKind.SEGMENT, RegionKind.POLYGON)
_CLOSED = 2.0
"""Times REGION_ROUNDING EPS M: how far the end of a side may be from the start of the next one, which is made of the
rounded vertices of the other box."""
_CLOSE = 1e3
"""Times REGION_ROUNDING EPS M: half an edge's extent across a side of a face or another edge, below which rounding may
move where they cross by a thousandth of it and more."""
_SLIVER = 1e-3
"""Relative: twice the area over the squared perimeter, below which a region is left: rounding moves the centroid of a
thin one by more than its own size."""


@dataclass(frozen=True, eq=False)
class _Plane:
    """What the features of vertices are found from, of the pairs of a chunk."""

    corners: FloatArray
    """(2, v) vertices of the regions in the contact plane."""
    count: IntArray
    """(n,) vertices of each region."""
    lower: SupportFeatures
    upper: SupportFeatures
    near: FloatArray
    """(n,) distance within which a vertex is on a side."""
    flipped: BoolArray
    """(n,) whether A is the upper one."""


@dataclass(frozen=True, eq=False)
class BoxRegions:
    """The regions of many pairs of boxes: the fields of `Region` in arrays. World frame, unit of the coordinates;
    read-only."""

    found: BoolArray
    """(n,) whether the region is here; ask `region_between` where not."""
    first: IntArray
    """(n + 1,) vertices of region k are rows first[k] to first[k + 1] - 1; none where it is not found."""
    vertices: FloatArray
    """(v, 3) counter-clockwise seen from the tip of the normal."""
    depths: FloatArray
    """(v,) how deep the features are inside each other."""
    area: FloatArray
    """(n,)."""
    length: FloatArray
    """(n,)."""
    centroid: FloatArray
    """(n, 3)."""
    _planes: list[_Plane]
    """Of the chunks."""
    _boxes: BoxColumns

    @cached_property
    def features(self) -> IntArray:
        """(2, v) of each vertex the number in FEATURES of the feature of A and of B that it is on."""
        axes = self._boxes.frames[3:12].reshape(3, 3, -1)
        mirrored = dot(cross(axes[0], axes[1]), axes[2]) < 0.0
        numbers = []
        for plane in self._planes:
            pair = np.repeat(np.arange(len(plane.count)), plane.count)
            of_pair = []
            for features in (plane.lower.take(pair), plane.upper.take(pair)):
                number = features.number_at(plane.corners, plane.near.take(pair))
                of_pair.append(number + 27 * mirrored.take(features.boxes))
            numbers.append(np.where(plane.flipped.take(pair), of_pair[::-1], of_pair))
        return read_only(np.concatenate(numbers, axis=1))

    @cached_property
    def _regions(self) -> dict[int, Region]:
        return {}

    def region(self, k: int) -> Region:
        """Return the region of pair k, which must be found; the same object each time."""
        if k not in self._regions:
            part = slice(int(self.first[k]), int(self.first[k + 1]))
            of_a, of_b = self.features[:, part].tolist()
            self._regions[k] = Region(
                _KINDS[min(len(of_a), 3) - 1],
                self.vertices[part],
                float(self.area[k]),
                float(self.length[k]),
                self.centroid[k],
                self.depths[part],
                tuple((FEATURES[p], FEATURES[q]) for p, q in zip(of_a, of_b, strict=True)),
            )
        return self._regions[k]

    def measures(self, pairs: IntArray) -> RegionMeasures:
        """Return the measures of the regions of pairs (n,), which must be found."""
        corners = np.diff(self.first).take(pairs)
        return RegionMeasures(np.minimum(corners, 3) - 1, self.area.take(pairs), self.centroid.take(pairs, axis=0))


def box_regions(
    boxes: BoxColumns,
    i: IntArray,
    j: IntArray,
    normal: FloatArray,
    band: FloatArray,
    extents: FloatArray,
    magnitude: FloatArray,
    on_a: FloatArray,
    on_b: FloatArray,
) -> BoxRegions:
    """Return the contact regions of boxes i (n,) and j (n,), which must be solid.

    `normal` (3, n) are those of the contacts, `band` (n,) as in `contact_region`, `extents` (2, n) those of A and B,
    `magnitude` (n,) the largest coordinate of both, `on_a` and `on_b` (3, n) the witness points.
    """
    origin = 0.5 * on_a + 0.5 * on_b
    parts, planes = [], []
    for part in chunks(len(i), CHUNK) if len(i) else (slice(0, 0),):
        columns = i[part], j[part], normal[:, part], band[part], extents[:, part], magnitude[part], origin[:, part]
        arrays, plane = _regions_of(boxes, *columns)
        parts.append(arrays)
        planes.append(plane)
    found, count, vertices, depths, area, lengths, centroid = (
        arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)
    )
    first = np.concatenate([[0], np.cumsum(count)])
    vertices, centroid = np.ascontiguousarray(vertices.T), np.ascontiguousarray(centroid.T)
    for array in (first, vertices, depths, area, lengths, centroid):
        array.flags.writeable = False
    return BoxRegions(found, first, vertices, depths, area, lengths, centroid, planes, boxes)


def _regions_of(
    boxes: BoxColumns,
    i: IntArray,
    j: IntArray,
    normal: FloatArray,
    band: FloatArray,
    extents: FloatArray,
    magnitude: FloatArray,
    origin: FloatArray,
) -> tuple[tuple[BoolArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray], _Plane]:
    """Return the arrays of `BoxRegions` for the pairs of a chunk, columns instead of rows, and their plane."""
    total = len(i)
    # Along that of normal and -normal which points up: (A, B, n) and (B, A, -n) are then the same computation.
    nx, ny, nz = normal
    flipped = (nz < 0.0) | ((nz == 0.0) & ((ny < 0.0) | ((ny == 0.0) & (nx < 0.0))))
    basis = np.empty((3, 3, total))
    nx, ny, nz = basis[2] = np.where(flipped, -normal, normal) + 0.0
    scale = -1.0 / (1.0 + nz)
    basis[0, 0], basis[0, 1], basis[0, 2] = 1.0 + nx * nx * scale, nx * ny * scale, -nx
    basis[1, 0], basis[1, 1], basis[1, 2] = basis[0, 1], 1.0 + ny * ny * scale, -ny

    rounding = EPS * magnitude
    slack, tolerance = REGION_SUPPORT * rounding, REGION_ROUNDING * rounding
    tilt = np.minimum(slack / np.minimum(extents[0], extents[1]), REGION_TILT)
    band_a, band_b = np.maximum(band, slack + tilt * extents)
    lower_band, upper_band = np.where(flipped, band_b, band_a), np.where(flipped, band_a, band_b)
    lower = SupportFeatures.of(boxes, np.where(flipped, j, i), basis, origin, lower_band, slack, True)
    upper = SupportFeatures.of(boxes, np.where(flipped, i, j), basis, origin, upper_band, slack, False)

    found, count = np.zeros(total, dtype=bool), np.zeros(total, dtype=np.intp)
    area, lengths, x, y = np.zeros((4, total))
    outlines = _outlines(lower, upper, tolerance, band)
    for columns, outline in outlines:
        found[columns], count[columns] = outline.found, outline.count
        area[columns], lengths[columns], x[columns], y[columns] = outline.area, outline.length, outline.x, outline.y
    pair = np.repeat(np.arange(total), count)
    first = np.cumsum(count) - count
    corners = outlines[0][1].corners if len(outlines) == 1 else np.empty((2, len(pair)))
    for columns, outline in outlines if len(outlines) > 1 else ():
        own = np.cumsum(outline.count) - outline.count
        place = np.repeat(first[columns] - own, outline.count) + np.arange(outline.corners.shape[1])
        corners[:, place] = outline.corners
    # Counter-clockwise from the tip of the normal is the other direction where it is flipped.
    if flipped.any():
        start, step = np.where(flipped, 2 * first + count - 1, 0), np.where(flipped, -1, 1)
        corners = corners.take(start.take(pair) + step.take(pair) * np.arange(len(pair)), axis=1)
    depths = (lower.support - upper.support).take(pair)
    uneven = np.flatnonzero((~(lower.level & upper.level)).take(pair))
    if len(uneven):
        points = corners[:, uneven]
        depths[uneven] = lower.take(pair[uneven]).heights(points) - upper.take(pair[uneven]).heights(points)
    base = origin + 0.5 * (lower.support + upper.support) * basis[2]
    centroid = base + x * basis[0] + y * basis[1]
    vertices, along = np.empty((2, 3, len(pair)))
    base.take(pair, axis=1, out=vertices, mode="clip")
    for k in (0, 1):
        basis[k].take(pair, axis=1, out=along, mode="clip")
        along *= corners[k]
        vertices += along
    plane = _Plane(corners, count, lower, upper, REGION_NAMED * tolerance, flipped)
    return (found, count, vertices, depths, area, lengths, centroid), plane


@dataclass(frozen=True, eq=False)
class _Outlines:
    """Regions in their contact planes: (n,) each, but for the corners (2, v), one pair after the other."""

    found: BoolArray
    count: IntArray
    corners: FloatArray
    area: FloatArray
    length: FloatArray
    x: FloatArray
    y: FloatArray

    @classmethod
    def of_segments(cls, found: BoolArray, start: FloatArray, end: FloatArray) -> _Outlines:
        """Return segments from `start` (2, n) to `end` (2, n), and points where these are equal."""
        segment = found & (start != end).any(axis=0)
        corners = np.stack([start, end], axis=2)[:, np.stack([found, segment], axis=1)]
        extent = np.where(segment, np.hypot(*(end - start)), 0.0)
        center = np.where(segment, 0.5 * (start + end), start)
        return cls(found, found.astype(np.intp) + segment, corners, np.zeros(len(found)), extent, *center)


def _outlines(
    lower: SupportFeatures, upper: SupportFeatures, tolerance: FloatArray, band: FloatArray
) -> list[tuple[IntArray, _Outlines]]:
    """Return the regions of features, and of which pairs they are, by kinds of features."""
    result = []
    kinds = np.where(lower.complete & upper.complete, 3 * lower.count + upper.count, -1)
    for kind in np.unique(kinds[kinds >= 0]).tolist():
        columns = np.flatnonzero(kinds == kind)
        of_p, of_q = divmod(kind, 3)
        p, q, limit = lower, upper, tolerance
        if len(columns) < len(kinds):
            p, q, limit = lower.take(columns), upper.take(columns), tolerance.take(columns)
        if of_p > of_q:
            p, q, of_p, of_q = q, p, of_q, of_p
        if of_p == 2:
            result += [(columns.take(chosen), outline) for chosen, outline in _face_overlap(p, q, limit)]
        elif of_p == 1:
            result.append(
                (columns, _edge_in_face(p, q, limit) if of_q == 2 else _edge_crossing(p, q, limit, band.take(columns)))
            )
        else:
            result.append((columns, _vertex_in_feature(p, q, of_q, limit)))
    return result


def _vertex_in_feature(p: SupportFeatures, q: SupportFeatures, arms: int, tolerance: FloatArray) -> _Outlines:
    """Return vertices p where they are in features q with so many arms."""
    dx, dy = p.center - q.center
    (ux, uy), (vx, vy) = q.arms
    u, v = np.hypot(ux, uy), np.hypot(vx, vy)
    if arms == 0:
        middle = 0.5 * (p.center + q.center)
        return _Outlines.of_segments(np.hypot(dx, dy) <= tolerance, middle, middle)
    if arms == 1:
        found = np.abs(dx * uy - dy * ux) <= tolerance * u
        found &= np.abs(dx * ux + dy * uy) <= (u + tolerance) * u
    else:
        area = np.abs(ux * vy - uy * vx)
        found = np.abs(dx * vy - dy * vx) <= area + tolerance * v
        found &= np.abs(dx * uy - dy * ux) <= area + tolerance * u
    return _Outlines.of_segments(found, p.center, p.center)


def _edge_crossing(p: SupportFeatures, q: SupportFeatures, tolerance: FloatArray, band: FloatArray) -> _Outlines:
    """Return where edges cross that are not along each other."""
    (dx, dy), (ex, ey) = p.arms[0], q.arms[0]
    wx, wy = q.center - p.center
    size_d, size_e = np.hypot(dx, dy), np.hypot(ex, ey)
    turn = dx * ey - dy * ex
    # How far the centre and the ends of each are from the line through the other.
    center_p, ends_p = np.abs(wx * ey - wy * ex) / size_e, np.abs(turn) / size_e
    center_q, ends_q = np.abs(wx * dy - wy * dx) / size_d, np.abs(turn) / size_d
    found = np.minimum(ends_p, ends_q) > np.maximum(_CLOSE * tolerance, ON_ONE_LINE * band)
    found &= center_p <= ends_p + tolerance
    found &= center_q <= ends_q + tolerance
    place = (wx * ey - wy * ex) / np.where(turn == 0.0, 1.0, turn)
    # Kept within the extent of both: at a small angle rounding moves the crossing far.
    middle, reach = (wx * dx + wy * dy) / (size_d * size_d), np.abs(ex * dx + ey * dy) / (size_d * size_d)
    low, high = np.maximum(middle - reach, -1.0), np.minimum(middle + reach, 1.0)
    found &= (low - high) * size_d <= tolerance
    point = p.center + np.minimum(np.maximum(place, low), high) * p.arms[0]
    return _Outlines.of_segments(found, point, point)


def _edge_in_face(p: SupportFeatures, q: SupportFeatures, tolerance: FloatArray) -> _Outlines:
    """Return what of edges p is in faces q."""
    arm = p.arms[0]
    low, high, _ = _clip(p.center[:, None], arm[:, None], q.center, q.arms, tolerance)
    # Where a side of the face is nearly along the edge, or a corner of it near, rounding decides what is left.
    found = (high[0] - low[0]) * length(arm) > tolerance
    for side in q.arms:
        found &= _is_clear(np.abs(arm[0] * side[1] - arm[1] * side[0]), tolerance * length(side))
    return _Outlines.of_segments(found, p.center + low[0] * arm, p.center + high[0] * arm)


def _is_clear(across: FloatArray, tolerance: FloatArray) -> BoolArray:
    """Return whether sides are parallel or far from it: between, rounding decides what is left of them."""
    return (across <= tolerance) | (across > _CLOSE * tolerance)


def _clip(
    centers: FloatArray, arms: FloatArray, face: FloatArray, sides: FloatArray, tolerance: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return what of segments with centres and arms (2, s, n) is in faces with centre (2, n) and arms `sides`
    (2, 2, n): from where to where (s, n), -1 to 1, reversed where nothing is; and which (s, n) are along a side.

    A segment along a side that is within the tolerance of it is inside.
    """
    turn = np.abs(sides[0, 0] * sides[1, 1] - sides[0, 1] * sides[1, 0])
    scale = 1.0 / np.sqrt(einsum("kcn,kcn->kn", sides, sides))
    width = (turn * scale)[:, None]
    across = np.empty_like(sides)
    np.multiply(sides[:, 1], scale, out=across[:, 0])
    np.multiply(sides[:, 0], -scale, out=across[:, 1])
    start = einsum("csn,kcn->ksn", centers - face[:, None], across)
    step = einsum("csn,kcn->ksn", arms, across)
    last = np.abs(step)
    along = last <= tolerance
    if along.any():
        np.copyto(step, 1.0, where=along)
    inverse = np.divide(-1.0, step, out=step)
    first = start * inverse
    np.abs(inverse, out=inverse)
    inverse *= width
    np.add(first, inverse, out=last)
    first -= inverse
    if along.any():
        outside = np.abs(start, out=start)
        outside -= width
        inside = outside <= tolerance
        np.copyto(first, np.where(inside, -1.0, 2.0), where=along)
        np.copyto(last, np.where(inside, 1.0, -2.0), where=along)
        along &= inside
        along &= outside >= -tolerance
    low, high = np.maximum(first[0], first[1]), np.minimum(last[0], last[1])
    np.maximum(low, -1.0, out=low)
    np.minimum(high, 1.0, out=high)
    return low, high, along[0] | along[1]


def _sides(arms: FloatArray, center: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the centres and arms (2, 4, n) of the sides of faces, counter-clockwise for arms (2, 2, n) that are so."""
    along, centers = np.empty((2, 2, 4, arms.shape[2]))
    along[:, :2] = arms.transpose(1, 0, 2)
    np.negative(along[:, :2], out=along[:, 2:])
    np.add(along[:, 3], center, out=centers[:, 0])
    np.add(along[:, :3], center[:, None], out=centers[:, 1:])
    return centers, along


def _counter_clockwise(arms: FloatArray) -> FloatArray:
    """Return arms (2, 2, n) of faces, swapped where the second is not to the left of the first."""
    (ux, uy), (vx, vy) = arms
    return np.where(ux * vy - uy * vx < 0.0, arms[::-1], arms)


def _face_overlap(
    first: SupportFeatures, second: SupportFeatures, tolerance: FloatArray
) -> list[tuple[IntArray, _Outlines]]:
    """Return the intersections of faces, and of which pairs they are."""
    p, q = _counter_clockwise(first.arms), _counter_clockwise(second.arms)
    # Rotate the sides of q by quarters until the direction of its first is between those of the first two of p: then
    # the sides of both, alternating, are in the order of their directions.
    sine = p[0, 0] * q[0, 1] - p[0, 1] * q[0, 0]
    cosine = q[0, 0] * p[1, 1] - q[0, 1] * p[1, 0]
    half = ((sine > 0.0) & (cosine <= 0.0)) | ((sine <= 0.0) & (cosine < 0.0))
    quarter = ((sine > 0.0) & (cosine <= 0.0)) | ((sine < 0.0) & (cosine >= 0.0))
    q = np.where(quarter, np.array([q[1], -q[0]]), q) * np.where(half, -1.0, 1.0)
    starts, ends = np.empty((2, 2, 8, len(tolerance)))
    lengths = np.empty((8, len(tolerance)))
    for k, (arms, own, other, sides) in enumerate(((p, first, second, q), (q, second, first, p))):
        center, along = _sides(arms, own.center)
        low, high, beside = _clip(center, along, other.center, sides, tolerance)
        np.multiply(along, low, out=starts[:, k::2])
        starts[:, k::2] += center
        np.multiply(along, high, out=ends[:, k::2])
        ends[:, k::2] += center
        high -= low
        size = length(arms.transpose(1, 0, 2))
        np.multiply(high[:2], size, out=lengths[k:4:2])
        np.multiply(high[2:], size, out=lengths[k + 4 :: 2])
    kept = lengths > tolerance
    kept[1::2] &= ~beside  # of two sides on one line that of p stays
    number = kept.sum(axis=0)
    clipped = starts, ends, lengths, kept, tolerance
    groups: list[tuple[BoolArray, Callable[..., _Outlines], tuple[Any, ...]]] = [
        (number < 2, _beside, (p, q, first.center, second.center, *clipped)),
        (number > 2, _polygons, clipped),
    ]
    result = []
    for chosen, outline, arrays in groups:
        if chosen.all():
            return [(np.arange(len(chosen)), outline(*arrays))]
        columns = np.flatnonzero(chosen)
        if len(columns):
            result.append((columns, outline(*(array.take(columns, axis=-1) for array in arrays))))
    return result


def _beside(
    p: FloatArray,
    q: FloatArray,
    center_p: FloatArray,
    center_q: FloatArray,
    starts: FloatArray,
    ends: FloatArray,
    lengths: FloatArray,
    kept: BoolArray,
    tolerance: FloatArray,
) -> _Outlines:
    """Return segments and points of faces beside each other, of which at most one side is kept: those of a side of p
    that has all of q on its outer side."""
    centers, (wx, wy) = _sides(p, center_p)
    size = length(np.stack([wx, wy]))
    tx, ty = center_q[:, None] - centers
    inside = wx * ty - wy * tx
    clear = np.ones(size.shape, dtype=bool)
    for arm in q:
        across = np.abs(wx * arm[1] - wy * arm[0])
        inside += across
        clear &= _is_clear(across, tolerance * length(arm))
    outside = (lengths[::2] >= -tolerance) & (inside <= tolerance * size)
    segment, columns = kept.any(axis=0), np.arange(len(tolerance))
    side = np.where(segment, kept[::2], outside).argmax(axis=0)
    found = (outside & clear)[side, columns] & (kept[2 * side, columns] | ~segment)
    start, end = starts[:, 2 * side, columns], ends[:, 2 * side, columns]
    middle = 0.5 * (start + end)
    return _Outlines.of_segments(found, np.where(segment, start, middle), np.where(segment, end, middle))


def _polygons(
    starts: FloatArray,
    ends: FloatArray,
    lengths: FloatArray,
    kept: BoolArray,
    tolerance: FloatArray,
) -> _Outlines:
    """Return polygons of the sides from `starts` to `ends` (2, 8, n), of which three or more are kept."""
    count = kept.shape[1]
    # About the origin, which is in the contact: the terms stay as small as the polygon.
    moment = starts[0] * ends[1]
    moment -= starts[1] * ends[0]
    moment *= kept
    twice, perimeter = add_rows(moment), einsum("kn,kn->n", lengths, kept.astype(np.float64))
    found = twice > _SLIVER * perimeter * perimeter
    center = einsum("ckn,kn->cn", starts, moment)
    center += einsum("ckn,kn->cn", ends, moment)
    x, y = center / (3.0 * np.where(found, twice, 1.0))

    places = np.flatnonzero(np.ascontiguousarray(kept.T))
    pair, flat = places >> 3, places & 7
    flat *= count
    flat += pair
    corners = starts.reshape(2, -1).take(flat, axis=1)
    number = kept.sum(axis=0)
    after = next_in_loops(number)
    following = corners.take(after, axis=1)
    step = following - corners
    gap = np.abs(ends.reshape(2, -1).take(flat, axis=1) - following)
    limit, long, ahead = tolerance.take(pair), length(step), step.take(after, axis=1)
    wrong = (np.maximum(gap[0], gap[1]) > _CLOSED * limit) | (long <= limit)
    wrong |= step[0] * ahead[1] - step[1] * ahead[0] <= limit * (long + long.take(after))
    found[pair[wrong]] = False
    corners = corners.take(np.flatnonzero(found.take(pair)), axis=1)
    return _Outlines(found, np.where(found, number, 0), corners, 0.5 * twice, perimeter, x, y)
