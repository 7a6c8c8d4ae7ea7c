# SPDX-License-Identifier: GPL-3.0-or-later
"""k-DOPs: convex polytopes with k / 2 pairs of parallel planes whose directions are the same for all of them.

With 6 planes in space (4 in the plane) a k-DOP is the axis-aligned bounding box. Source: S3.1, S3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..progress import Progress, report_progress, subrange
from ..runs import chunks, group_chunks
from ..shapes.hull import ConvexHull
from ..tolerance import EPS, KDOP_GAP, KDOP_SUM
from ..types import BoolArray, FloatArray, IntArray
from .kdop_polytope import kdop_corners, kdop_directions, kdop_norms, kdop_volumes
from .volumes import (
    Volumes,
    as_index,
    as_points,
    as_starts,
    box_surface_areas,
    box_volumes,
)

_POINTS = 16_384
"""Points measured at once: their temporary arrays fit into the cache."""

_TRIANGLES = 4096
"""Triangles measured at once."""
_FEW = 8
"""Points of a group, up to which groups of the same size are measured corner by corner."""


@dataclass(frozen=True, eq=False)
class KDops(Volumes):
    """A batch of k-DOPs: slab j of volume i is low[i, j] <= directions[j] @ x <= high[i, j].

    The directions are not unit vectors, so the bounds of the sums of coordinates are whole where the coordinates are.
    Where a sum had to be rounded its bounds are moved outward by KDOP_SUM rounding errors. Source: S3.1.
    """

    directions: FloatArray
    """(h, dim) the result of `kdop_directions`: whole numbers, the axes first."""
    low: FloatArray
    """(n, h) lower bounds, contiguous for each direction."""
    high: FloatArray
    """(n, h) upper bounds, contiguous for each direction."""

    _fields = ("low", "high")

    def __post_init__(self) -> None:
        """Make the arrays read-only and contiguous for each direction; the caller's own stay as they were."""
        for name, array in zip(self._fields, self._arrays, strict=True):
            if not array.flags.f_contiguous:
                object.__setattr__(self, name, np.asfortranarray(array))
        super().__post_init__()

    def _with(self, *arrays: FloatArray) -> KDops:
        return KDops(self.directions, *arrays)

    @property
    def kind(self) -> str:
        """Kind, dimension and number of planes of the volumes, in words."""
        return f"{super().kind} with {self.k} planes"

    @property
    def dim(self) -> int:
        """Dimension: 2 or 3."""
        return int(self.directions.shape[1])

    @property
    def k(self) -> int:
        """Number of planes of each volume."""
        return 2 * len(self.directions)

    def merged(self, other: KDops) -> KDops:
        """Return, element by element, the smallest k-DOP that contains both."""
        self._validate_partner(other)
        return self._with(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def reduce_groups(self, starts: ArrayLike) -> KDops:
        """Return the smallest k-DOP around each group of volumes, from starts[i] up to starts[i + 1]."""
        first = as_starts(starts, len(self), "volumes")
        return self._with(
            np.minimum.reduceat(self.low.T, first, axis=1).T, np.maximum.reduceat(self.high.T, first, axis=1).T
        )

    def overlaps(self, other: KDops) -> BoolArray:
        """Return (n,) whether no slab of the one is disjoint from that of the other. Touching counts. Source: S3.2."""
        self._validate_partner(other)
        result = np.ones(len(self), dtype=np.bool_)
        for low, high, other_low, other_high in zip(*map(np.transpose, self._arrays + other._arrays), strict=True):
            result &= low <= other_high
            result &= other_low <= high
        return result

    def gap(self, other: KDops) -> FloatArray:
        """Return (n,) a lower bound of the distance of the contents, 0 where the volumes overlap.

        It is the distance of the axis-aligned boxes or the widest gap across a slab, whichever is more.
        """
        self._validate_partner(other)
        result = np.zeros(len(self))
        for j, norm in enumerate(self._norms.tolist()):
            gap = np.maximum(other.low[:, j] - self.high[:, j], self.low[:, j] - other.high[:, j])
            np.maximum(gap, 0.0, out=gap)
            if j < self.dim:
                np.hypot(result, gap, out=result)
            else:
                np.maximum(result, gap / norm, out=result)
        return np.multiply(result, 1.0 - KDOP_GAP * EPS, out=result)

    def _inflated(self, width: float) -> KDops:
        with np.errstate(over="ignore"):
            by = np.where(self._norms == 1.0, width, np.nextafter(width * self._norms, np.inf))
            return self._with(_sum_outward(self.low, -by, -np.inf), _sum_outward(self.high, by, np.inf))

    @property
    def centers(self) -> FloatArray:
        """(n, dim) the middle of the axis-aligned box of each volume."""
        return np.ascontiguousarray(0.5 * self.low[:, : self.dim] + 0.5 * self.high[:, : self.dim])

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates (dim, n) of the axis-aligned box of each volume."""
        return self.low.T[: self.dim], self.high.T[: self.dim]

    @property
    def surface_area(self) -> FloatArray:
        """(n,) the surface area of the axis-aligned box of each volume, in the plane its perimeter.

        An upper bound for more than 6 (4) planes, and quick: trees use it many times.
        """
        return box_surface_areas((self.high[:, : self.dim] - self.low[:, : self.dim]).T)

    @property
    def volume(self) -> FloatArray:
        """(n,) the volume of the polytopes between the planes, in the plane the area."""
        if self.k == 2 * self.dim:
            return box_volumes((self.high - self.low).T)
        return kdop_volumes(self.directions, self.low.T, self.high.T)

    def contains(self, points: ArrayLike) -> BoolArray:
        """Return (n,), element by element, whether no plane of volume i has points[i] (n, dim) certainly outside."""
        rows = np.ascontiguousarray(as_points(points, len(self), self.dim).T)
        result = np.ones(len(self), dtype=np.bool_)
        for j, direction in enumerate(self.directions.astype(int).tolist()):
            least, most = slab(direction, rows)
            result &= (self.low[:, j] <= most) & (least <= self.high[:, j])
        return result

    def polytope(self, index: int) -> ConvexHull:
        """Return the intersection of the half-spaces of one volume, to a few rounding errors of its coordinates."""
        i = as_index(index, len(self))
        corners = kdop_corners(self.directions, self.low[i], self.high[i])
        if not len(corners):
            raise ValueError(f"index: the planes of volume {i} leave nothing between them")
        return ConvexHull(corners)

    @cached_property
    def _norms(self) -> FloatArray:
        return kdop_norms(self.directions)


def slab(direction: list[int], rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bounds (n,) of the exact `direction @ point` for points in rows (dim, n): the same array twice if exact.

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
        left = longer - row if sign > 0 else longer + row
        # A sum is exact when each term is what is left after the other is taken away.
        wrong = (back != row) if sign > 0 else (back != -row)
        wrong |= left != total
        inexact = wrong if inexact is None else inexact | wrong
        total = longer
        width = np.abs(total) if width is None else width + np.abs(total)
    assert width is not None
    width *= KDOP_SUM * EPS
    width *= inexact
    return total - width, total + width


def _sum_outward(values: FloatArray, by: FloatArray, outward: float) -> FloatArray:
    """Return `values + by`, moved by one step towards `outward` where it had to be rounded."""
    total = values + by
    inexact = (total - values != by) | (total - by != values)
    return np.where(inexact, np.nextafter(total, outward), total)


def bounding_kdops(points: FloatArray, starts: IntArray, k: int, progress: Progress | None = None) -> KDops:
    """Return the k-DOPs of groups of points (N, dim); group i begins with point starts[i]. See `bounding_volumes`."""
    return measured_kdops(
        lambda groups, items: points[items], starts, len(points), kdop_directions(k, points.shape[1]), progress
    )


def kdops_of_triangles(points: FloatArray, triangles: IntArray, k: int, progress: Progress | None = None) -> KDops:
    """Return the k-DOPs of triangles (m, 3), each of three of the points (N, dim). See `volumes_of_triangles`.

    Every point is measured once, however many triangles it is a corner of.
    """
    directions = kdop_directions(k, points.shape[1])
    low, high = np.empty((2, len(directions), len(triangles)))
    rows, corners = np.ascontiguousarray(points.T), np.ascontiguousarray(triangles.T)
    report_progress(progress, 0.0)
    for j, direction in enumerate(directions.astype(int).tolist()):
        below, above = slab(direction, rows)
        for part in chunks(
            len(triangles), _TRIANGLES, subrange(progress, j / len(directions), (j + 1) / len(directions))
        ):
            least = below.take(corners[:, part], mode="clip")
            most = least if above is below else above.take(corners[:, part], mode="clip")
            np.minimum.reduce(least, axis=0, out=low[j, part])
            np.maximum.reduce(most, axis=0, out=high[j, part])
    report_progress(progress, 1.0)
    return KDops(directions, low.T, high.T)


def measured_kdops(
    points: Callable[[slice, slice], FloatArray],
    starts: IntArray,
    count: int,
    directions: FloatArray,
    progress: Progress | None = None,
) -> KDops:
    """Return the k-DOPs of groups of `count` points in all; group i begins with point starts[i].

    `points(groups, items)` returns the points (n, dim) of some of the groups. Small groups of one size, such as
    triangles, are measured corner by corner, several times as fast as others.
    """
    low, high = np.empty((2, len(directions), len(starts)))
    sizes = np.diff(starts, append=count)
    alike = bool(len(starts)) and sizes[0] <= _FEW and bool((sizes == sizes[0]).all())
    report_progress(progress, 0.0)
    for groups, items in group_chunks(starts, count, _POINTS):
        chunk, first = points(groups, items), starts[groups] - items.start
        size = len(chunk) // len(first) if alike else 1
        # Of small groups all first corners, all second ones ...
        rows = np.ascontiguousarray(chunk.reshape(-1, size, chunk.shape[1]).transpose(2, 1, 0))
        rows = rows.reshape(chunk.shape[1], -1)
        for j, direction in enumerate(directions.astype(int).tolist()):
            for values, reduce, bound in zip(slab(direction, rows), (np.minimum, np.maximum), (low, high), strict=True):
                if alike:
                    reduce.reduce(values.reshape(-1, len(first)), axis=0, out=bound[j, groups])
                else:
                    reduce.reduceat(values, first, out=bound[j, groups])
            report_progress(progress, groups.start + len(first) * (j + 1) / len(directions), len(starts))
    report_progress(progress, 1.0)
    return KDops(directions, low.T, high.T)
