# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact regions of many pairs of boxes at once: what `contact_region` makes of one pair.

A support feature of a box is a corner, an edge or a face: in the contact plane its middle and up to two arms. Each of
the four sides of one face is cut by those of the other, and what is left of all eight, in the order of their
directions, is the outline. A region is told when the sides that are left are closed and turn left all the way: each is
in both faces and on the border of one, so that nothing is missing and nothing is beside. The others, and features that
rounding makes unclear, are told to be left to `region_between`. Source: S2.2 to S2.6; M. Cyrus and J. Beck 1978.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..region.region import Region, RegionKind
from ..shapes.box import Box
from ..shapes.feature import Feature, FeatureKind
from ..tolerance import EPS, REGION_NAMED, REGION_ROUNDING, REGION_SUPPORT, REGION_TILT
from ..types import BoolArray, FloatArray, IntArray, read_only
from .boxes import OrientedBoxes
from .hulls import cross_rows

_CLOSED = 2.0
"""Times REGION_ROUNDING EPS M: how far the end of a side of a region may be from the start of the next one, which is
made of the rounded corners of the other box."""
_CLOSE = 1e3
"""Times REGION_ROUNDING EPS M: half an edge's way across a side of a face or another edge, below which rounding may
move the end of what is left of the edge, or the crossing, by a thousandth of it and more."""
_SLIVER = 1e-3
"""Relative: twice the area over the square of the perimeter, below which a region is left to the single call: rounding
moves the centroid of a thin one by more than its own size."""

_CHUNK = 8_192
"""Pairs answered in one go: with fewer the calls of numpy take longer than the numbers, with more memory does."""


def _features() -> tuple[Feature, ...]:
    """Return the features of boxes that are not mirrored, then of those that are; of each 27, told by the place along
    each axis: low, between or high."""
    facets = [facet.tolist() for facet in Box((0, 0, 0), (1, 1, 1)).facets]
    result = []
    for mirrored in (False, True):
        for signs in product((-1, 0, 1), repeat=3):
            on = [k for k in range(8) if all(s == 0 or (k >> (2 - c)) % 2 == (s > 0) for c, s in enumerate(signs))]
            kind = FeatureKind.VERTEX if len(on) == 1 else FeatureKind.EDGE if len(on) == 2 else FeatureKind.FACE
            if len(on) == 4:
                on = next(facet for facet in facets if sorted(facet) == on)
            result.append(Feature(kind, tuple(on[::-1] if mirrored and len(on) == 4 else on)))
    return tuple(result)


_FEATURES = _features()
_FREE = np.array([[0, 0, 1, 0, 2, 0, 1, 0], [2, 0, 1, 1, 2, 2, 2, 2]])
"""The first and the last of the axes of a box whose bits are set."""
_KINDS = (RegionKind.POINT, RegionKind.SEGMENT, RegionKind.POLYGON)


@dataclass(frozen=True, eq=False)
class _Patches:
    """The support features of one box of each pair, in the contact plane; columns are pairs."""

    boxes: IntArray
    """(n,) whose they are."""
    middle: FloatArray
    """(2, n) x and y of the middle."""
    arms: FloatArray
    """(2, 2, n) first and second arm: x and y of the way from the middle to the end of an edge, or to the sides of a
    face; 0 where there is none."""
    rise: FloatArray
    """(2, n) how much higher the end of each arm is."""
    height: FloatArray
    """(n,) of the middle."""
    support: FloatArray
    """(n,) of the corner that is farthest toward the other box."""
    level: BoolArray
    """(n,) whether all is as high as the support, to rounding."""
    count: IntArray
    """(n,) number of arms."""
    axes: IntArray
    """(2, n) along which axis of the box each arm is."""
    ends: FloatArray
    """(3, n) on which end of each axis of the box the middle is: -1 or 1; 0 along the arms."""
    clear: BoolArray
    """(n,) whether this is the whole support feature."""

    def taken(self, at: IntArray) -> _Patches:
        """Return those of some pairs."""
        return _Patches(*(getattr(self, field.name).take(at, axis=-1) for field in fields(self)))

    def heights(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return how high the features are at these places (n,)."""
        shares = self.shares(x, y)
        result: FloatArray = self.height + shares[0] * self.rise[0] + shares[1] * self.rise[1]
        return np.where(self.level, self.support, result)

    def shares(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return (2, n) how far along their arms these places (n,) are: -1 to 1."""
        dx, dy = x - self.middle[0], y - self.middle[1]
        (ux, uy), (vx, vy) = self.arms
        # An edge has a second arm across it for this: what it would say does not count.
        edge = self.count == 1
        vx, vy = np.where(edge, -uy, vx), np.where(edge, ux, vy)
        area = ux * vy - uy * vx
        area = np.where(area == 0.0, 1.0, area)
        result = np.array([dx * vy - dy * vx, ux * dy - uy * dx]) / area
        result[1, edge] = 0.0
        return np.clip(result, -1.0, 1.0)

    def codes(self, x: FloatArray, y: FloatArray, near: FloatArray) -> IntArray:
        """Return (n,) which of the 27 features of a box these places (n,) are on, to `near` (n,)."""
        shares = self.shares(x, y)
        ends = self.ends.copy()
        columns = np.arange(len(x))
        (ux, uy), (vx, vy) = self.arms
        area = np.abs(ux * vy - uy * vx)
        for k, (other, own) in enumerate(((np.hypot(vx, vy), np.hypot(ux, uy)), (np.hypot(ux, uy), np.hypot(vx, vy)))):
            width = np.where(self.count == 2, area / np.where(other > 0.0, other, 1.0), own)
            share = shares[k]
            on = (self.count > k) & ((1.0 - np.abs(share)) * width <= near)
            ends[self.axes[k, on], columns[on]] = np.where(share[on] > 0.0, 1.0, -1.0)
        return (9.0 * ends[0] + 3.0 * ends[1] + ends[2] + 13.0).astype(np.intp)


_Places = tuple[FloatArray, IntArray, _Patches, _Patches, FloatArray, BoolArray]


@dataclass(frozen=True, eq=False)
class BoxRegions:
    """The regions of many pairs of boxes. World frame, unit of the coordinates; the fields of `Region`, read-only."""

    found: BoolArray
    """(n,) whether the region is told; where not, ask `region_between`."""
    first: IntArray
    """(n + 1,) vertices of region k are rows first[k] to first[k + 1] - 1; none where it is not told."""
    vertices: FloatArray
    """(v, 3) counter-clockwise seen from the tip of the normal."""
    depths: FloatArray
    """(v,) how far the features are inside each other."""
    area: FloatArray
    """(n,)."""
    length: FloatArray
    """(n,)."""
    centroid: FloatArray
    """(n, 3)."""
    _places: list[_Places]
    """Of some pairs after the other: x and y in the contact plane of each vertex; of each pair their number, the lower
    and the upper feature, how near is on a side, and whether A is the upper one."""
    _boxes: OrientedBoxes

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.found)

    @cached_property
    def features(self) -> IntArray:
        """(2, v) of each vertex the number of the feature of A and of B that it is on."""
        axes = self._boxes.frames[3:12].reshape(3, 3, -1)
        mirrored = np.einsum("cn,cn->n", cross_rows(axes[0], axes[1]), axes[2]) < 0.0
        numbers = []
        for corners, count, lower, upper, near, turned in self._places:
            pair = np.repeat(np.arange(len(count)), count)
            codes = []
            for patches in (lower, upper):
                own = patches.taken(pair)
                codes.append(own.codes(corners[0], corners[1], near.take(pair)) + 27 * mirrored.take(own.boxes))
            numbers.append(np.where(turned.take(pair), codes[::-1], codes))
        return read_only(np.concatenate(numbers, axis=1))

    @cached_property
    def _made(self) -> dict[int, Region]:
        return {}

    def region(self, k: int) -> Region:
        """Return the region of pair k, which must be told; the same each time."""
        made = self._made.get(k)
        if made is None:
            made = self._made[k] = self._region(k)
        return made

    def _region(self, k: int) -> Region:
        part = slice(int(self.first[k]), int(self.first[k + 1]))
        a, b = self.features[:, part].tolist()
        return Region(
            _KINDS[min(len(a), 3) - 1],
            self.vertices[part],
            float(self.area[k]),
            float(self.length[k]),
            self.centroid[k],
            self.depths[part],
            tuple((_FEATURES[p], _FEATURES[q]) for p, q in zip(a, b, strict=True)),
        )


def box_regions(
    boxes: OrientedBoxes,
    i: IntArray,
    j: IntArray,
    normal: FloatArray,
    width: FloatArray,
    extents: FloatArray,
    magnitude: FloatArray,
    on_a: FloatArray,
    on_b: FloatArray,
) -> BoxRegions:
    """Return the contact regions of boxes i (n,) and j (n,), which must be solid.

    `normal` (3, n) are those of the contacts, `width` (n,) as in `contact_region`, `extents` (2, n) those of A and B,
    `magnitude` (n,) of their largest coordinates, `on_a` and `on_b` (3, n) the witness points.
    """
    parts = []
    for start in range(0, max(1, len(i)), _CHUNK):
        at = slice(start, start + _CHUNK)
        parts.append(
            _regions(
                boxes,
                i[at],
                j[at],
                normal[:, at],
                width[at],
                extents[:, at],
                magnitude[at],
                0.5 * on_a[:, at] + 0.5 * on_b[:, at],
            )
        )
    found, count, vertices, depths, area, length, centroid = (
        arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=-1)
        for arrays in zip(*(part[0] for part in parts), strict=True)
    )
    first = np.concatenate([[0], np.cumsum(count)])
    vertices, centroid = np.ascontiguousarray(vertices.T), np.ascontiguousarray(centroid.T)
    for array in (vertices, depths, area, length, centroid):
        array.flags.writeable = False
    return BoxRegions(
        found, read_only(first), vertices, depths, area, length, centroid, [part[1] for part in parts], boxes
    )


def _regions(
    boxes: OrientedBoxes,
    i: IntArray,
    j: IntArray,
    normal: FloatArray,
    width: FloatArray,
    extents: FloatArray,
    magnitude: FloatArray,
    origin: FloatArray,
) -> tuple[tuple[NDArray[Any], ...], _Places]:
    """Do what `box_regions` does for some pairs; return arrays of pairs and of vertices, and where these are."""
    total = len(i)
    # Along the axis of the normal that points up: (A, B, n) and (B, A, -n) are then the very same computation.
    nx, ny, nz = normal
    turned = (nz < 0.0) | ((nz == 0.0) & ((ny < 0.0) | ((ny == 0.0) & (nx < 0.0))))
    up = np.where(turned, -normal, normal) + 0.0
    basis = np.empty((3, 3, total))
    nx, ny, nz = basis[2] = up
    down = -1.0 / (1.0 + nz)
    basis[0, 0], basis[0, 1], basis[0, 2] = 1.0 + nx * nx * down, nx * ny * down, -nx
    basis[1, 0], basis[1, 1], basis[1, 2] = basis[0, 1], 1.0 + ny * ny * down, -ny

    rounding = EPS * magnitude
    slack, tolerance = REGION_SUPPORT * rounding, REGION_ROUNDING * rounding
    tilt = np.minimum(slack / np.minimum(extents[0], extents[1]), REGION_TILT)
    wide_a, wide_b = np.maximum(width, slack + tilt * extents)
    lower = _patches(boxes, np.where(turned, j, i), basis, origin, np.where(turned, wide_b, wide_a), slack, True)
    upper = _patches(boxes, np.where(turned, i, j), basis, origin, np.where(turned, wide_a, wide_b), slack, False)

    found = np.zeros(total, dtype=bool)
    count = np.zeros(total, dtype=np.intp)
    area, length, x, y = np.zeros((4, total))
    outlines: list[tuple[IntArray, _Outlines]] = []
    kinds = np.where(lower.clear & upper.clear, 3 * lower.count + upper.count, -1)
    for kind in np.flatnonzero(np.bincount(kinds + 1, minlength=10)[1:]).tolist():
        some = np.flatnonzero(kinds == kind)
        of_lower, of_upper = divmod(kind, 3)
        one, other, limit = lower, upper, tolerance
        if len(some) < total:
            one, other, limit = lower.taken(some), upper.taken(some), tolerance.take(some)
        if of_lower > of_upper:
            one, other, of_lower, of_upper = other, one, of_upper, of_lower
        if of_lower == 2:
            outlines += [(some.take(at), outline) for at, outline in _common(one, other, limit)]
        elif of_lower == 1:
            outlines.append((some, (_along_face if of_upper == 2 else _across)(one, other, limit)))
        else:
            outlines.append((some, _corner(one, other, of_upper, limit)))
    for some, outline in outlines:
        found[some], count[some] = outline.found, outline.count
        area[some], length[some], x[some], y[some] = outline.area, outline.length, outline.x, outline.y

    pair = np.repeat(np.arange(total), count)
    first = np.cumsum(count) - count
    if len(outlines) == 1 and len(outlines[0][0]) == total:
        corners = outlines[0][1].corners
    else:
        corners = np.empty((2, len(pair)))
        for some, outline in outlines:
            own = np.cumsum(outline.count) - outline.count
            corners[:, np.repeat(first[some] - own, outline.count) + np.arange(outline.corners.shape[1])] = (
                outline.corners
            )
    if turned.any():  # seen from the tip of the other normal: the other way round
        back = np.where(turned, 2 * first + count - 1, 0).take(pair) - np.where(turned, 1, -1).take(pair) * np.arange(
            len(pair)
        )
        corners = corners.take(back, axis=1)
    deepest = lower.support - upper.support
    depths = deepest.take(pair)
    bent = np.flatnonzero((~(lower.level & upper.level)).take(pair))
    if len(bent):
        one, other, at = lower.taken(pair[bent]), upper.taken(pair[bent]), corners[:, bent]
        depths[bent] = one.heights(*at) - other.heights(*at)
    middle = 0.5 * (lower.support + upper.support)
    base = origin + middle * basis[2]
    centroid = base + x * basis[0] + y * basis[1]
    vertices, part = np.empty((2, 3, len(pair)))
    base.take(pair, axis=1, out=vertices, mode="clip")
    for k in (0, 1):
        basis[k].take(pair, axis=1, out=part, mode="clip")
        part *= corners[k]
        vertices += part
    places = (corners, count, lower, upper, REGION_NAMED * tolerance, turned)
    return (found, count, vertices, depths, area, length, centroid), places


def _patches(
    boxes: OrientedBoxes,
    numbers: IntArray,
    basis: FloatArray,
    origin: FloatArray,
    width: FloatArray,
    slack: FloatArray,
    top: bool,
) -> _Patches:
    """Return the features of boxes `numbers` (n,) within `width` (n,) of their highest corners, or of their lowest."""
    frames = boxes.frames[:15].take(numbers, axis=1, mode="clip")
    half, axes = frames[12:15], frames[3:12].reshape(3, 3, -1)
    # Half axes and middle along the basis.
    local = np.einsum("bcn,kcn->kbn", basis, axes)
    local *= half[:, None]
    middle = np.einsum("bcn,cn->bn", basis, frames[:3] - origin)
    steep = np.abs(local[:, 2])
    span = 2.0 * steep
    free = span <= width
    flat = np.where(free, span, 0.0).sum(axis=0)
    support = steep.sum(axis=0)
    np.add(middle[2], support if top else -support, out=support)
    ends = np.copysign(1.0 if top else -1.0, local[:, 2] if top else -local[:, 2])
    ends *= ~free
    middle += np.einsum("kn,kbn->bn", ends, local)
    count = np.add.reduce(free, axis=0, dtype=np.intp)
    which = _FREE.take(np.array([1, 2, 4]) @ free, axis=1, mode="clip")
    arms, rise = np.zeros((2, 2, len(numbers))), np.zeros((2, len(numbers)))
    some = int(count.max(initial=0))
    for k in range(min(some, 2)):
        place = which[k] * (3 * len(numbers))
        place += np.arange(len(numbers))
        there = count > k
        for row in (arms[k, 0], arms[k, 1], rise[k]):
            np.multiply(local.ravel().take(place), there, out=row)
            place += len(numbers)
    return _Patches(
        numbers,
        middle[:2],
        arms,
        rise,
        middle[2],
        support,
        flat <= slack,
        count,
        which,
        ends,
        (count <= 2) & (flat <= width),
    )


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
    def of_few(cls, found: BoolArray, start: FloatArray, end: FloatArray, point: BoolArray) -> _Outlines:
        """Return segments from `start` (2, n) to `end` (2, n), and points where these are the same."""
        count = np.where(found, np.where(point, 1, 2), 0)
        corners = np.stack([start, end], axis=2)  # coordinate, pair, end
        kept = np.stack([found, found & ~point], axis=1)
        length = np.where(found & ~point, np.hypot(end[0] - start[0], end[1] - start[1]), 0.0)
        x, y = np.where(point, start, 0.5 * (start + end))
        return cls(found, count, corners[:, kept], np.zeros(len(found)), length, x, y)


def _corner(one: _Patches, other: _Patches, kind: int, tolerance: FloatArray) -> _Outlines:
    """Return corners that are in a feature of the other box with `kind` arms."""
    x, y = one.middle
    dx, dy = x - other.middle[0], y - other.middle[1]
    (ux, uy), (vx, vy) = other.arms
    u, v = np.hypot(ux, uy), np.hypot(vx, vy)
    point = one.middle
    if kind == 0:
        point = 0.5 * (one.middle + other.middle)
        found = np.hypot(dx, dy) <= tolerance
    elif kind == 1:
        found = np.abs(dx * uy - dy * ux) <= tolerance * u
        found &= np.abs(dx * ux + dy * uy) <= (u + tolerance) * u
    else:
        area = np.abs(ux * vy - uy * vx)
        found = np.abs(dx * vy - dy * vx) <= area + tolerance * v
        found &= np.abs(dx * uy - dy * ux) <= area + tolerance * u
    return _Outlines.of_few(found, point, point, np.ones(len(x), dtype=bool))


def _across(one: _Patches, other: _Patches, tolerance: FloatArray) -> _Outlines:
    """Return where edges cross that are not parallel."""
    (dx, dy), (ex, ey) = one.arms[0], other.arms[0]
    wx, wy = other.middle - one.middle
    d, e = np.hypot(dx, dy), np.hypot(ex, ey)
    turn = dx * ey - dy * ex
    # How far the middle and the ends of each are from the line through the other.
    p, q = np.abs(wx * ey - wy * ex) / e, np.abs(turn) / e
    r, s = np.abs(wx * dy - wy * dx) / d, np.abs(turn) / d
    found = (np.minimum(q, s) > _CLOSE * tolerance) & (p <= q + tolerance) & (r <= s + tolerance)
    share = (wx * ey - wy * ex) / np.where(turn == 0.0, 1.0, turn)
    # Kept within the reach of both: at a small angle rounding moves the crossing far.
    place, reach = (wx * dx + wy * dy) / (d * d), np.abs(ex * dx + ey * dy) / (d * d)
    low, high = np.maximum(place - reach, -1.0), np.minimum(place + reach, 1.0)
    found &= (low - high) * d <= tolerance
    point = one.middle + np.minimum(np.maximum(share, low), high) * one.arms[0]
    return _Outlines.of_few(found, point, point, np.ones(len(wx), dtype=bool))


def _along_face(one: _Patches, other: _Patches, tolerance: FloatArray) -> _Outlines:
    """Return what is in a face of an edge of the other box."""
    arm = one.arms[0]
    low, high, _ = _cut(one.middle[:, None], arm[:, None], other.middle, other.arms, tolerance)
    low, high, long = low[0], high[0], _length(arm)
    start, end = one.middle + low * arm, one.middle + high * arm
    # Where a side of the face is nearly along the edge, or a corner of it near, it depends on rounding what is left.
    found = (high - low) * long > tolerance
    for side in other.arms:
        across = np.abs(arm[0] * side[1] - arm[1] * side[0])
        limit = tolerance * _length(side)
        found &= (across <= limit) | (across > _CLOSE * limit)
    return _Outlines.of_few(found, start, end, np.zeros(len(long), dtype=bool))


def _length(way: FloatArray) -> FloatArray:
    """Return the lengths (...) of vectors (2, ...)."""
    return np.sqrt(np.einsum("c...,c...->...", way, way))


def _cut(
    middle: FloatArray, arms: FloatArray, center: FloatArray, sides: FloatArray, tolerance: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray | None]:
    """Return what part of segments with the `middle` and arms (2, s, n) is in faces with the `center` (2, n) and the
    arms `sides` (2, 2, n): from where to where (s, n), -1 to 1, where it is none the other way round; and which (s, n)
    are along a side, None for none.

    A segment along a side that is within the tolerance of it is inside.
    """
    turn = np.abs(sides[0, 0] * sides[1, 1] - sides[0, 1] * sides[1, 0])
    scale = 1.0 / np.sqrt(np.einsum("kcn,kcn->kn", sides, sides))
    wide = turn * scale
    across = np.empty_like(sides)
    np.multiply(sides[:, 1], scale, out=across[:, 0])
    np.multiply(sides[:, 0], -scale, out=across[:, 1])
    start = np.einsum("csn,kcn->ksn", middle - center[:, None], across)
    step = np.einsum("csn,kcn->ksn", arms, across)
    last = np.abs(step)
    along = last <= tolerance
    level = along.any()
    if level:
        np.copyto(step, 1.0, where=along)
    inverse = np.divide(-1.0, step, out=step)
    first = start * inverse
    np.abs(inverse, out=inverse)
    inverse *= wide[:, None]
    np.add(first, inverse, out=last)
    first -= inverse
    beside = None
    if level:
        off = np.abs(start, out=start)
        off -= wide[:, None]
        inside = off <= tolerance
        np.copyto(first, np.where(inside, -1.0, 2.0), where=along)
        np.copyto(last, np.where(inside, 1.0, -2.0), where=along)
        along &= inside
        along &= off >= -tolerance
        beside = along[0] | along[1]
    low, high = np.maximum(first[0], first[1]), np.minimum(last[0], last[1])
    np.maximum(low, -1.0, out=low)
    np.minimum(high, 1.0, out=high)
    return low, high, beside


def _sides(arms: FloatArray, middle: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the middles and arms (2, 4, n) of the sides of faces, counter-clockwise for arms (2, 2, n) that are so."""
    ways, middles = np.empty((2, 2, 4, arms.shape[2]))
    ways[:, :2] = arms.transpose(1, 0, 2)
    np.negative(ways[:, :2], out=ways[:, 2:])
    np.add(ways[:, 3], middle, out=middles[:, 0])
    np.add(ways[:, :3], middle[:, None], out=middles[:, 1:])
    return middles, ways


def _leftward(arms: FloatArray) -> FloatArray:
    """Return arms (2, 2, n) of faces, swapped where the second is not to the left of the first."""
    (ux, uy), (vx, vy) = arms
    return np.where(ux * vy - uy * vx < 0.0, arms[::-1], arms)


def _common(one: _Patches, other: _Patches, tolerance: FloatArray) -> list[tuple[IntArray, _Outlines]]:
    """Return what faces have in common, and of which pairs that is."""
    count = len(tolerance)
    p, q = (_leftward(patches.arms) for patches in (one, other))
    # The sides of q are turned until the first one's direction is between those of the first two of p: then the sides
    # of both, one after the other, are in the order of their directions.
    sine = p[0, 0] * q[0, 1] - p[0, 1] * q[0, 0]
    cosine = q[0, 0] * p[1, 1] - q[0, 1] * p[1, 0]
    second = np.where(((sine > 0.0) & (cosine <= 0.0)) | ((sine <= 0.0) & (cosine < 0.0)), -1.0, 1.0)
    odd = ((sine > 0.0) & (cosine <= 0.0)) | ((sine < 0.0) & (cosine >= 0.0))
    # By a quarter one arm takes the other's place, with the sign that keeps the second to the left of the first.
    q = np.where(odd, np.array([q[1], -q[0]]), q) * second
    starts, ends = np.empty((2, 2, 8, count))
    longs = np.empty((8, count))
    beside: BoolArray | None = None
    for k, (arms, patches, face, sides) in enumerate(((p, one, other, q), (q, other, one, p))):
        middle, way = _sides(arms, patches.middle)
        low, high, beside = _cut(middle, way, face.middle, sides, tolerance)
        np.multiply(way, low, out=starts[:, k::2])
        starts[:, k::2] += middle
        np.multiply(way, high, out=ends[:, k::2])
        ends[:, k::2] += middle
        high -= low
        size = _length(arms.transpose(1, 0, 2))
        np.multiply(high[:2], size, out=longs[k:4:2])
        np.multiply(high[2:], size, out=longs[k + 4 :: 2])
    kept = longs > tolerance
    if beside is not None:  # of sides on one line that of p stays
        kept[1::2] &= ~beside
    number = kept.sum(axis=0)
    few = np.flatnonzero(number < 2)
    result = []
    if len(few):
        result.append((few, _flush(p, q, one, other, (starts, ends, kept, longs < -tolerance), few, tolerance)))
    many = np.flatnonzero(number > 2)
    if len(many) < count:
        starts, ends, longs = (array.take(many, axis=-1) for array in (starts, ends, longs))
        kept = kept.take(many, axis=1)
    if len(many):
        result.append((many, _closed(starts, ends, longs, kept, tolerance.take(many))))
    return result


def _closed(
    starts: FloatArray, ends: FloatArray, longs: FloatArray, kept: BoolArray, tolerance: FloatArray
) -> _Outlines:
    """Return polygons of columns of sides from `starts` to `ends` (2, 8, n), `longs` (8, n), of which three or more are
    kept."""
    count = kept.shape[1]
    # About the origin, which is in the contact: the terms stay as small as the polygon.
    cross = starts[0] * ends[1]
    cross -= starts[1] * ends[0]
    cross *= kept
    twice, length = np.add.reduce(cross, axis=0), np.einsum("kn,kn->n", longs, kept.astype(np.float64))
    found = twice > _SLIVER * length * length
    middle = np.einsum("ckn,kn->cn", starts, cross)
    middle += np.einsum("ckn,kn->cn", ends, cross)
    x, y = middle / (3.0 * np.where(found, twice, 1.0))

    places = np.flatnonzero(np.ascontiguousarray(kept.T))
    pair, flat = places >> 3, places & 7
    flat *= count
    flat += pair
    corners = starts.reshape(2, -1).take(flat, axis=1)
    number = kept.sum(axis=0)
    first = np.cumsum(number) - number
    after = np.arange(1, len(pair) + 1)
    after[first + number - 1] = first
    following = corners.take(after, axis=1)
    step = following - corners
    gap = ends.reshape(2, -1).take(flat, axis=1)
    gap -= following
    limit, long, ahead = tolerance.take(pair), _length(step), step.take(after, axis=1)
    np.abs(gap, out=gap)
    wrong = (np.maximum(gap[0], gap[1]) > _CLOSED * limit) | (long <= limit)
    wrong |= step[0] * ahead[1] - step[1] * ahead[0] <= limit * (long + long.take(after))
    found[pair[wrong]] = False
    if not found.all():
        corners, number = corners.take(np.flatnonzero(found.take(pair)), axis=1), np.where(found, number, 0)
    return _Outlines(found, number, corners, 0.5 * twice, length, x, y)


def _flush(
    p: FloatArray,
    q: FloatArray,
    one: _Patches,
    other: _Patches,
    sides: tuple[FloatArray, FloatArray, BoolArray, BoolArray],
    few: IntArray,
    tolerance: FloatArray,
) -> _Outlines:
    """Return the segments and points of faces `few` (m,) of which no more than one side is left: one beside another.

    So it is where a side of the first that is not empty has all of the second on its outer side.
    """
    starts, ends = (array.take(few, axis=2) for array in sides[:2])
    kept, empty = (array.take(few, axis=1) for array in sides[2:])
    middle, way = _sides(p.take(few, axis=2), one.middle.take(few, axis=1))
    (wx, wy), long = way, _length(way)
    far = other.middle.take(few, axis=1)[:, None] - middle
    inside = wx * far[1] - wy * far[0]
    clear = np.ones(long.shape, dtype=bool)
    for arm in q.take(few, axis=2):
        turn = np.abs(wx * arm[1] - wy * arm[0])
        inside += turn
        # As of an edge along a face: where they are nearly parallel, it depends on rounding what is left.
        limit = tolerance.take(few) * _length(arm)
        clear &= (turn <= limit) | (turn > _CLOSE * limit)
    beside = ~empty[0::2] & (inside <= tolerance.take(few) * long)
    lone = np.logical_or.reduce(kept, axis=0)
    chosen = np.where(lone, kept[0::2].argmax(axis=0), beside.argmax(axis=0))
    columns = np.arange(len(few))
    found = (beside & clear)[chosen, columns] & (kept[2 * chosen, columns] | ~lone)
    start, end = starts[:, 2 * chosen, columns], ends[:, 2 * chosen, columns]
    return _Outlines.of_few(found, np.where(lone, start, 0.5 * (start + end)), end, ~lone)
