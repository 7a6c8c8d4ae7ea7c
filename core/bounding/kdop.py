# SPDX-License-Identifier: GPL-3.0-or-later
"""k-DOPs: convex polytopes with k / 2 pairs of parallel planes whose directions are the same for all of them.

With 6 planes in space (4 in the plane) this is the axis-aligned bounding box. Source: S3.1, S3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ..progress import Progress, report_progress
from ..shapes.hull import ConvexHull
from ..tolerance import EPS, KDOP_GAP, KDOP_SUM
from ..types import BoolArray, FloatArray, IntArray, read_only
from .volumes import (
    Volumes,
    check_partner,
    checked_index,
    checked_items,
    checked_margin,
    checked_parts,
    checked_points,
    checked_starts,
    content_of_boxes,
    freeze_views,
)

_KDOP_CORNER = 16.0
"""Times EPS M: how far a common point of three planes may be outside of another and be a corner of the k-DOP."""

_AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_CORNERS = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))
_EDGES = ((1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1))
_DIRECTIONS: dict[int, dict[int, tuple[tuple[int, ...], ...]]] = {
    2: {4: ((1, 0), (0, 1)), 8: ((1, 0), (0, 1), (1, 1), (1, -1))},
    3: {6: _AXES, 14: _AXES + _CORNERS, 18: _AXES + _EDGES, 26: _AXES + _CORNERS + _EDGES},
}

_POINTS = 16_384
"""Points whose slabs are measured in one go: what is made of them on the way fits the cache."""

_FEW = 8
"""Points of a group, up to which groups of the same size are measured corner by corner."""

_CELLS = 1 << 18
"""Numbers held at a time while contents are measured."""


def kdop_directions(k: int, dim: int) -> FloatArray:
    """Return the directions (k / 2, dim) across the slabs of a k-DOP: whole numbers -1, 0 and 1, the axes first.

    k is 6, 14, 18 or 26 in space, 4 or 8 in the plane; any other raises ValueError. Source: S3.1.
    """
    if dim not in _DIRECTIONS:
        raise ValueError(f"dim must be 2 or 3, not {dim!r}")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k not in _DIRECTIONS[dim]:
        known = ", ".join(map(str, _DIRECTIONS[dim]))
        raise ValueError(f"k must be one of {known} in dimension {dim}, not {k!r}")
    return _directions(int(k), dim)


@cache
def _directions(k: int, dim: int) -> FloatArray:
    return read_only(np.array(_DIRECTIONS[dim][k], dtype=np.float64))


@dataclass(frozen=True, eq=False)
class KDops(Volumes):
    """A batch of k-DOPs: slab j of volume i is low[j, i] <= directions[j] @ x <= high[j, i].

    The directions are not unit vectors, so the bounds of the sums of coordinates are whole where the coordinates are.
    Where a sum had to be rounded its bounds are moved outward by KDOP_SUM rounding errors. Source: S3.1.
    """

    directions: FloatArray
    """(h, dim) what `kdop_directions` returns: whole numbers, the axes first."""
    low: FloatArray
    """(h, n) lower bounds, contiguous for each direction."""
    high: FloatArray
    """(h, n) upper bounds, contiguous for each direction."""

    def __post_init__(self) -> None:
        """Make the arrays read-only; the caller's own stay as they were."""
        freeze_views(self, ("low", "high"))

    @property
    def dim(self) -> int:
        """Dimension: 2 or 3."""
        return int(self.directions.shape[1])

    @property
    def k(self) -> int:
        """Number of planes of each volume."""
        return 2 * len(self.directions)

    def __len__(self) -> int:
        """Return the number of volumes."""
        return int(self.low.shape[1])

    def take(self, indices: ArrayLike) -> KDops:
        """Return the volumes with these indices (m,), in this order."""
        chosen = checked_items(indices, len(self))
        # Checked already: numpy need not, which takes it half of the time.
        return KDops(
            self.directions,
            self.low.take(chosen, axis=1, mode="clip") if len(chosen) else self.low[:, :0],
            self.high.take(chosen, axis=1, mode="clip") if len(chosen) else self.high[:, :0],
        )

    @classmethod
    def joined(cls, parts: Sequence[KDops]) -> KDops:
        """Return the volumes of one or more batches, one batch after the other."""
        checked_parts(cls, parts)
        if len({part.k for part in parts}) > 1:
            raise ValueError(f"parts must have the same k, but there are {sorted({part.k for part in parts})}")
        return cls(
            parts[0].directions,
            np.concatenate([part.low for part in parts], axis=1),
            np.concatenate([part.high for part in parts], axis=1),
        )

    def merged(self, other: KDops) -> KDops:
        """Return, element by element, the smallest k-DOP that holds both."""
        self._check(other)
        return KDops(self.directions, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def merged_ranges(self, starts: ArrayLike) -> KDops:
        """Return the smallest k-DOP of each range of items, from starts[i] up to starts[i + 1]."""
        first = checked_starts(starts, len(self), "volumes")
        return KDops(
            self.directions,
            np.minimum.reduceat(self.low, first, axis=1) if len(first) else self.low[:, :0],
            np.maximum.reduceat(self.high, first, axis=1) if len(first) else self.high[:, :0],
        )

    def overlap(self, other: KDops) -> BoolArray:
        """Return (n,) whether no slab of the one is disjoint from that of the other. Touching counts. Source: S3.2."""
        self._check(other)
        result = np.ones(len(self), dtype=np.bool_)
        one = np.empty(len(self), dtype=np.bool_)
        for j in range(len(self.directions)):
            np.logical_and(result, np.less_equal(self.low[j], other.high[j], out=one), out=result)
            np.logical_and(result, np.less_equal(other.low[j], self.high[j], out=one), out=result)
        return result

    def gap(self, other: KDops) -> FloatArray:
        """Return (n,) a lower bound of the distance of what is inside, 0 where the volumes overlap.

        It is the distance of the axis-aligned boxes or the widest gap across a slab, whichever is more.
        """
        self._check(other)
        result = np.zeros(len(self))
        for j, norm in enumerate(self._norms.tolist()):
            apart = np.maximum(other.low[j] - self.high[j], self.low[j] - other.high[j])
            np.maximum(apart, 0.0, out=apart)
            if j < self.dim:
                np.hypot(result, apart, out=result)
            else:
                np.maximum(result, apart / norm, out=result)
        return np.multiply(result, 1.0 - KDOP_GAP * EPS, out=result)

    def grown(self, margin: float) -> KDops:
        """Return k-DOPs that hold everything within a distance `margin` >= 0 of these."""
        width = checked_margin(margin)
        if width == 0.0:
            return self
        low, high = np.empty_like(self.low), np.empty_like(self.high)
        with np.errstate(over="ignore"):
            for j, norm in enumerate(self._norms.tolist()):
                by = width if norm == 1.0 else np.nextafter(width * norm, np.inf)
                low[j] = _sum_and_bound(self.low[j], -by, -1.0)
                high[j] = _sum_and_bound(self.high[j], by, 1.0)
        return KDops(self.directions, low, high)

    def centers(self) -> FloatArray:
        """Return the middle (n, dim) of the axis-aligned box of each volume."""
        return np.ascontiguousarray((0.5 * self.low[: self.dim] + 0.5 * self.high[: self.dim]).T)

    def sizes(self) -> FloatArray:
        """Return (n,) the surface area of the axis-aligned box of each volume, in the plane its perimeter.

        That is an upper bound for more than 6 (4) planes, and quick: trees ask for it many times.
        """
        sides = self.high[: self.dim] - self.low[: self.dim]
        with np.errstate(over="ignore"):
            half = sides[0] + sides[1] if self.dim == 2 else sides[0] * (sides[1] + sides[2]) + sides[1] * sides[2]
            result: FloatArray = 2.0 * half
        return result

    def volumes(self) -> FloatArray:
        """Return (n,) the content of the polytopes between the planes: the volume, in the plane the area."""
        if self.k == 2 * self.dim:
            return content_of_boxes(self.high - self.low)
        step = max(1, _CELLS // self.k**2)
        result = np.empty(len(self))
        for begin in range(0, len(self), step):
            part = slice(begin, begin + step)
            result[part] = self._contents(self.low[:, part], self.high[:, part])
        return result

    def contain(self, points: ArrayLike) -> BoolArray:
        """Return (n,), element by element, whether no plane of volume i has points[i] (n, dim) outside for certain."""
        rows = np.ascontiguousarray(checked_points(points, len(self), self.dim).T)
        result = np.ones(len(self), dtype=np.bool_)
        for j, direction in enumerate(self.directions.astype(int).tolist()):
            least, most = slab(direction, rows)
            result &= (self.low[j] <= most) & (least <= self.high[j])
        return result

    def polytope(self, index: int) -> ConvexHull:
        """Return the intersection of the half-spaces of one volume, to a few rounding errors of its coordinates."""
        i = checked_index(index, len(self))
        low, high = self.low[:, i], self.high[:, i]
        center = 0.5 * low[: self.dim] + 0.5 * high[: self.dim]
        offset = self.directions @ center
        planes = np.concatenate([high - offset, offset - low])
        normals, corners, inverses = _corners(self.k, self.dim)
        unit = EPS * max(float(np.abs(low).max()), float(np.abs(high).max()))
        points = np.matmul(inverses, planes[corners][:, :, None])[:, :, 0]
        inside = (points @ normals.T <= planes + _KDOP_CORNER * unit).all(axis=1)
        points = points[inside]
        if not len(points):
            raise ValueError(f"index: the planes of volume {i} leave nothing between them")
        # Where more planes than needed meet, rounding makes several corners of one.
        apart = np.abs(points[:, None] - points).max(axis=2) > 2.0 * _KDOP_CORNER * unit
        first = np.flatnonzero((apart | np.tri(len(points), dtype=np.bool_).T).all(axis=1))
        return ConvexHull(points[first] + center)

    def _check(self, other: KDops) -> None:
        check_partner(self, other)
        if len(self.directions) != len(other.directions):
            raise ValueError(f"other must have the same k, but this is {self.k} and that {other.k}")

    @cached_property
    def _norms(self) -> FloatArray:
        """(h,) lengths of the directions, not less than they are."""
        norms = np.sqrt((self.directions * self.directions).sum(axis=1))
        return np.where(norms > 1.0, np.nextafter(norms, np.inf), norms)

    def _contents(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the contents (m,) of volumes given by their bounds (h, m)."""
        center = 0.5 * low[: self.dim] + 0.5 * high[: self.dim]
        offset = self.directions @ center
        planes = np.concatenate([high - offset, offset - low])
        # By powers of two, so that products neither overflow nor vanish.
        exponent = np.frexp(np.abs(planes).max(axis=0))[1]
        planes = np.ldexp(planes, -exponent)
        if self.dim == 2:
            unit, heights = _unit_normals(self.k, 2), planes / np.tile(self._norms, 2)[:, None]
            total = _area(unit, heights)
        else:
            total = np.zeros(low.shape[1])
            for own, facet in enumerate(_facets(self.k)):
                height = planes[own] * facet.scale
                # In the plane of a facet several other planes may leave lines in one direction: the nearest one counts.
                lines = np.minimum.reduceat(
                    planes[facet.others] * facet.own_share[:, None] - height * facet.facet_share[:, None],
                    facet.starts,
                    axis=0,
                )
                total += height * _area(facet.normals, lines)
            total = np.maximum(total / 3.0, 0.0)
        with np.errstate(over="ignore", under="ignore"):
            result: FloatArray = np.ldexp(total, self.dim * exponent)
        return result


def slab(direction: list[int], rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bounds (n,) of the exact `direction @ point` for points in rows (dim, n): both the same if it is exact.

    The direction has components -1, 0 and 1, and begins with 1.
    """
    parts = [(sign, row) for sign, row in zip(direction, rows, strict=True) if sign]
    total = parts[0][1]
    if len(parts) == 1:
        return total, total
    inexact, width = None, None
    for sign, row in parts[1:]:
        longer = total + row if sign > 0 else total - row
        back = longer - total
        rest = longer - row if sign > 0 else longer + row
        # A sum is exact when each term is what is left after the other is taken away.
        wrong = (back != row) if sign > 0 else (back != -row)
        wrong |= rest != total
        inexact = wrong if inexact is None else inexact | wrong
        total = longer
        width = np.abs(total) if width is None else width + np.abs(total)
    assert width is not None
    width *= KDOP_SUM * EPS
    width *= inexact
    return total - width, total + width


def _sum_and_bound(values: FloatArray, by: float, outward: float) -> FloatArray:
    """Return `values + by`, moved outward (up for 1, down for -1) where it had to be rounded."""
    total = values + by
    inexact = (total - values != by) | (total - by != values)
    return np.where(inexact, np.nextafter(total, outward * np.inf), total)


def bounding_kdops(points: FloatArray, starts: IntArray, k: int, progress: Progress | None = None) -> KDops:
    """Return the k-DOPs of groups of points (N, dim); group i begins with point starts[i]. See `bounding_volumes`."""
    directions = kdop_directions(k, points.shape[1])
    low, high = np.empty((len(directions), len(starts))), np.empty((len(directions), len(starts)))
    sizes = np.diff(starts, append=len(points))
    report_progress(progress, 0.0)
    if len(starts) and sizes[0] <= _FEW and (sizes == sizes[0]).all():
        _measure_alike(points[starts[0] :], int(sizes[0]), directions, low, high, progress)
    elif len(starts):
        _measure(points, starts, directions, low, high, progress)
    else:
        report_progress(progress, 1.0)
    return KDops(directions, low, high)


def kdops_of_triangles(points: FloatArray, triangles: IntArray, k: int, progress: Progress | None = None) -> KDops:
    """Return the k-DOPs of triangles (m, 3), each of three of the points (N, dim). See `volumes_of_triangles`.

    Every point is measured once, however many triangles it is a corner of.
    """
    directions = kdop_directions(k, points.shape[1])
    low, high = np.empty((2, len(directions), len(triangles)))
    rows = np.ascontiguousarray(points.T)
    first, second, third = np.ascontiguousarray(triangles.T)
    other = np.empty((2, min(len(triangles), _POINTS)))
    report_progress(progress, 0.0)
    for j, direction in enumerate(directions.astype(int).tolist()):
        below, above = slab(direction, rows)
        for begin in range(0, len(triangles), _POINTS):
            report_progress(progress, j + begin / len(triangles), len(directions))
            part = slice(begin, begin + _POINTS)
            least, most = low[j, part], high[j, part]
            one, two = other[:, : len(least)]
            # "raise" would make numpy take a copy; the indices are checked.
            below.take(first[part], out=least, mode="clip")
            below.take(second[part], out=one, mode="clip")
            below.take(third[part], out=two, mode="clip")
            if above is below:
                np.maximum(least, one, out=most)
                np.maximum(most, two, out=most)
            np.minimum(least, one, out=least)
            np.minimum(least, two, out=least)
            if above is not below:
                above.take(first[part], out=most, mode="clip")
                np.maximum(most, above.take(second[part], out=one, mode="clip"), out=most)
                np.maximum(most, above.take(third[part], out=two, mode="clip"), out=most)
    report_progress(progress, 1.0)
    return KDops(directions, low, high)


def _measure(
    points: FloatArray,
    starts: IntArray,
    directions: FloatArray,
    low: FloatArray,
    high: FloatArray,
    progress: Progress | None,
) -> None:
    """Put the bounds (h, g) of groups of points into `low` and `high`."""
    whole = directions.astype(int).tolist()
    ends = np.append(starts[1:], len(points))
    begin = 0
    while begin < len(starts):
        end = max(begin + 1, int(np.searchsorted(ends, starts[begin] + _POINTS, side="right")))
        rows = np.ascontiguousarray(points[starts[begin] : ends[end - 1]].T)
        first = starts[begin:end] - starts[begin]
        for j, direction in enumerate(whole):
            least, most = slab(direction, rows)
            np.minimum.reduceat(least, first, out=low[j, begin:end])
            np.maximum.reduceat(most, first, out=high[j, begin:end])
            report_progress(progress, begin + (end - begin) * (j + 1) / len(whole), len(starts))
        begin = end


def _measure_alike(
    points: FloatArray,
    size: int,
    directions: FloatArray,
    low: FloatArray,
    high: FloatArray,
    progress: Progress | None,
) -> None:
    """Do what `_measure` does for groups of `size` points each, such as triangles, several times as fast."""
    dim = points.shape[1]
    whole = directions.astype(int).tolist()
    groups = points.reshape(-1, size * dim)
    step = max(1, _POINTS // size)
    for begin in range(0, len(groups), step):
        part = slice(begin, begin + step)
        rows = np.ascontiguousarray(groups[part].T)
        for j, direction in enumerate(whole):
            least, most = low[j, part], high[j, part]
            for corner in range(size):
                below, above = slab(direction, rows[corner * dim : corner * dim + dim])
                if corner:
                    np.minimum(least, below, out=least)
                    np.maximum(most, above, out=most)
                else:
                    least[:], most[:] = below, above
        report_progress(progress, min(1.0, (begin + step) / len(groups)))


@dataclass(frozen=True, eq=False)
class _Facet:
    """What the planes of a k-DOP leave on one of them: lines at `lines` along unit `normals` from its foot point.

    The foot point is the point of the plane nearest to the centre, `planes[own] * scale` away; the line that plane
    others[i] leaves is at `planes[others[i]] * own_share[i] - that * facet_share[i]`.
    """

    scale: float
    others: IntArray
    own_share: FloatArray
    facet_share: FloatArray
    starts: IntArray
    """First of the planes for each of the lines."""
    normals: FloatArray
    """(l, 2) in coordinates of the plane."""


@cache
def _unit_normals(k: int, dim: int) -> FloatArray:
    """Return the outward unit normals (k, dim) of the planes, first those of `high`."""
    directions = _directions(k, dim)
    unit = directions / np.sqrt((directions * directions).sum(axis=1))[:, None]
    return read_only(np.concatenate([unit, -unit]))


@cache
def _facets(k: int) -> tuple[_Facet, ...]:
    """Return, for each of the k planes in space, what the others leave on it."""
    normals = np.concatenate([_directions(k, 3), -_directions(k, 3)])
    result = []
    for own, normal in enumerate(_unit_normals(k, 3)):
        others = np.array([j for j in range(k) if j % (k // 2) != own % (k // 2)], dtype=np.intp)
        along = normals[others] @ normal
        within = normals[others] - along[:, None] * normal
        length = np.sqrt((within * within).sum(axis=1))
        x = within[0] / length[0]
        y = np.cross(normal, x)
        flat = np.stack([within @ x, within @ y], axis=1) / length[:, None]
        angle = np.round(np.arctan2(flat[:, 1], flat[:, 0]) % (2 * np.pi), 6) % np.round(2 * np.pi, 6)
        order = np.argsort(angle, kind="stable")
        starts = np.flatnonzero(np.diff(angle[order], prepend=-1.0) > 0.0)
        result.append(
            _Facet(
                float(1.0 / np.sqrt((normals[own] * normals[own]).sum())),
                others[order],
                1.0 / length[order],
                along[order] / length[order],
                starts,
                flat[order][starts],
            )
        )
    return tuple(result)


def _area(normals: FloatArray, lines: FloatArray) -> FloatArray:
    """Return the areas (m,) of polygons between lines at distances `lines` (l, m) along unit `normals` (l, 2).

    No two normals are the same, and with each its opposite is there. Each line is cut to what the others leave of it.
    """
    cosine = normals @ normals.T
    sine = np.outer(normals[:, 0], normals[:, 1])
    sine = sine - sine.T  # [i, j]: how fast line i, along its normal turned left, comes nearer to the limit of line j
    total = np.zeros(lines.shape[1])
    for i in range(len(normals)):
        first, last = np.flatnonzero(sine[i] < -1e-6), np.flatnonzero(sine[i] > 1e-6)
        room = lines - cosine[i][:, None] * lines[i]
        end = (room[last] / sine[i, last][:, None]).min(axis=0)
        begin = (room[first] / sine[i, first][:, None]).max(axis=0)
        length = np.maximum(end - begin, 0.0)
        # Of two opposite lines either both count or none does, also where rounding decides.
        length[lines[i] + lines[int(cosine[i].argmin())] < 0.0] = 0.0
        total += 0.5 * lines[i] * length
    return np.maximum(total, 0.0)


@cache
def _corners(k: int, dim: int) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the normals (k, dim), every dim planes (t, dim) with a common point, and matrices (t, dim, dim) to it."""
    normals = np.concatenate([_directions(k, dim), -_directions(k, dim)])
    choices = np.array(list(combinations(range(k), dim)), dtype=np.intp)
    regular = np.abs(np.linalg.det(normals[choices])) > 0.5  # determinants of whole numbers
    choices = choices[regular]
    return read_only(normals), read_only(choices), read_only(np.linalg.inv(normals[choices]))
