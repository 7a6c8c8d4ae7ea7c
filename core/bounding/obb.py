# SPDX-License-Identifier: GPL-3.0-or-later
"""Oriented bounding boxes, rectangles in the plane, many at a time. Source: S3.1, S3.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from ..progress import Progress, report_progress, subrange
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..tolerance import EPS, SMALLEST_STEP, SUBNORMAL_SUM
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import dot
from .obb_axes import best_axes
from .obb_fit import OBB_ROUNDING, boxes_along, fit_boxes, frames_of_three
from .volumes import Volumes, as_index, as_points, as_starts, box_surface_areas, box_volumes

_OBB_PARALLEL = 1e-3
"""Sine between two edges of boxes below which their product gives no distance; the faces give nearly the same."""
_CHUNK = 1 << 14
"""Points or pairs of boxes processed at once."""
_STEPS = SUBNORMAL_SUM * SMALLEST_STEP


@dataclass(frozen=True, eq=False)
class OrientedBoxes(Volumes):
    """A batch of oriented bounding boxes (rectangles in the plane). Source: S3.1."""

    center: FloatArray
    """(n, dim) world coordinates."""
    axes: FloatArray
    """(n, dim, dim) row k of each is the unit direction of its axis k in the world; the rows are perpendicular."""
    half: FloatArray
    """(n, dim) half of the length of the sides along each axis, >= 0."""

    _fields = ("center", "axes", "half")

    def merged(self, other: OrientedBoxes) -> OrientedBoxes:
        """Return, element by element, a small box that contains both: the best along the axes of either, along the
        principal axes of all corners, or along the world's."""
        self._validate_partner(other)
        center, axes, half = (
            np.stack(pair, axis=1).reshape(2 * len(self), *pair[0].shape[1:])
            for pair in zip(self._arrays, other._arrays, strict=True)
        )
        return OrientedBoxes(*fit_boxes(center, axes, half, np.arange(0, 2 * len(self), 2)))

    def reduce_groups(self, starts: ArrayLike) -> OrientedBoxes:
        """Return a small box around each group of boxes, from starts[i] up to starts[i + 1]: see `merged`."""
        return OrientedBoxes(*fit_boxes(self.center, self.axes, self.half, as_starts(starts, len(self), "volumes")))

    def overlaps(self, other: OrientedBoxes) -> BoolArray:
        """Return (n,) whether no axis across faces or edges of the two separates them. Touching counts. Source: S3.2.

        15 axes in space, 4 in the plane.
        """
        self._validate_partner(other)
        result = np.empty(len(self), dtype=np.bool_)
        for chunk in chunks(len(self), _CHUNK):
            pair = _Pairs.of(self, other, chunk)
            together = pair.face_gaps() <= 0.0
            if self.dim == 3:
                left = np.flatnonzero(together)
                together[left] = pair.take(left).edge_gaps(divided=False) <= 0.0
            result[chunk] = together
        return result

    def gap(self, other: OrientedBoxes) -> FloatArray:
        """Return (n,) a lower bound of the distance of the contents: the widest gap across faces or edges, or 0."""
        self._validate_partner(other)
        result = np.empty(len(self))
        for chunk in chunks(len(self), _CHUNK):
            pair = _Pairs.of(self, other, chunk)
            gap = pair.face_gaps()
            if self.dim == 3:
                gap = np.maximum(gap, pair.edge_gaps(divided=True))
            result[chunk] = np.maximum(gap, 0.0)
        return result

    def _inflated(self, width: float) -> OrientedBoxes:
        half = self.half + width
        half += OBB_ROUNDING * EPS * half.sum(axis=1, keepdims=True)
        return OrientedBoxes(self.center, self.axes, half)

    @property
    def centers(self) -> FloatArray:
        """(n, dim) the centres."""
        return self.center

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates (dim, n) of an axis-aligned box around each volume, to a rounding error."""
        reach = (np.abs(self.axes) * self.half[:, :, None]).sum(axis=1).T
        with np.errstate(over="ignore"):
            return self.center.T - reach, self.center.T + reach

    @property
    def surface_area(self) -> FloatArray:
        """(n,) the surface area, in the plane the perimeter."""
        return box_surface_areas(2.0 * self.half.T)

    @property
    def volume(self) -> FloatArray:
        """(n,) the volume, in the plane the area."""
        return box_volumes(2.0 * self.half.T)

    def contains(self, points: ArrayLike) -> BoolArray:
        """Return (n,), element by element, whether points[i] (n, dim) is not certainly outside box i."""
        offset = as_points(points, len(self), self.dim) - self.center
        along = np.abs((self.axes * offset[:, None, :]).sum(axis=2))
        slack = OBB_ROUNDING * EPS * self.half.sum(axis=1, keepdims=True) + _STEPS
        return (along <= self.half + slack).all(axis=1)

    def polytope(self, index: int) -> ConvexHull:
        """Return the hull of the corners of one box."""
        i = as_index(index, len(self))
        signs = np.array(list(product((-1.0, 1.0), repeat=self.dim)))
        return ConvexHull(self.center[i] + (signs * self.half[i]) @ self.axes[i])


@dataclass(eq=False)
class _Pairs:
    """Pairs of boxes in the frame of the first, for the tests of separating axes."""

    a: FloatArray
    """(dim, m) half sides of the first."""
    b: FloatArray
    """(dim, m) half sides of the second."""
    turn: FloatArray
    """(dim, dim, m) cosines between axis i of the first and axis j of the second."""
    offset: FloatArray
    """(dim, m) from centre to centre, along the axes of the first."""
    slack: FloatArray
    """(m,) bound of the rounding error of a gap."""

    @classmethod
    def of(cls, first: OrientedBoxes, second: OrientedBoxes, chunk: slice) -> _Pairs:
        axes, other = np.ascontiguousarray(first.axes[chunk].T), np.ascontiguousarray(second.axes[chunk].T)
        offset = np.ascontiguousarray((second.center[chunk] - first.center[chunk]).T)
        turn = dot(axes[:, :, None], other[:, None])  # axes[c, i]: component c of axis i
        along = dot(axes, offset[:, None])
        a, b = np.ascontiguousarray(first.half[chunk].T), np.ascontiguousarray(second.half[chunk].T)
        slack = OBB_ROUNDING * EPS * (a.sum(axis=0) + b.sum(axis=0) + np.abs(offset).sum(axis=0)) + _STEPS
        return cls(a, b, turn, along, slack)

    def take(self, indices: IntArray) -> _Pairs:
        return _Pairs(*(x.take(indices, axis=-1) for x in (self.a, self.b, self.turn, self.offset, self.slack)))

    def face_gaps(self) -> FloatArray:
        """Return the widest gap (m,) across the faces, negative where they overlap in all."""
        size = np.abs(self.turn)
        gaps_a = np.abs(self.offset) - (self.a + dot(self.b[:, None], size.swapaxes(0, 1)))
        gaps_b = np.abs(dot(self.offset[:, None], self.turn)) - (self.b + dot(self.a[:, None], size))
        return np.maximum(gaps_a, gaps_b).max(axis=0) - self.slack

    def edge_gaps(self, divided: bool) -> FloatArray:
        """Return the widest gap (m,) across two edges: as a distance, or, for its sign, times the sine between them."""
        a, b, turn, offset = self.a, self.b, self.turn, self.offset
        size = np.abs(turn)
        result = np.full(a.shape[1], -np.inf)
        for i in range(3):
            i1, i2 = (i + 1) % 3, (i + 2) % 3
            for j in range(3):
                j1, j2 = (j + 1) % 3, (j + 2) % 3
                along = np.abs(offset[i2] * turn[i1, j] - offset[i1] * turn[i2, j])
                reach = a[i1] * size[i2, j] + a[i2] * size[i1, j] + b[j1] * size[i, j2] + b[j2] * size[i, j1]
                gap = along - reach - self.slack
                if divided:
                    sine = np.hypot(turn[i1, j], turn[i2, j])
                    gap = np.where(sine > _OBB_PARALLEL, gap / np.maximum(sine, _OBB_PARALLEL), -np.inf)
                np.maximum(result, gap, out=result)
        return result


def bounding_obbs(points: FloatArray, starts: IntArray, progress: Progress | None = None) -> OrientedBoxes:
    """Return oriented boxes of groups of points (N, dim); group i begins with point starts[i]. See `bounding_volumes`.

    Groups of up to three points take their longest side and are done all at once. For larger ones their hull is made,
    one after the other.
    """
    dim = points.shape[1]
    sizes = np.diff(starts, append=len(points))
    frames = np.empty((len(starts), dim, dim))
    few, many = np.flatnonzero(sizes <= 3), np.flatnonzero(sizes > 3)
    # A larger group costs as much as a hundred points more.
    total = len(points) + 100 * len(many)
    report_progress(progress, 0.0)
    for chunk in chunks(len(few), _CHUNK):
        part = few[chunk]
        frames[part] = frames_of_three(points, starts[part], sizes[part])
        report_progress(progress, chunk.stop, total)
    done = int(sizes[few].sum())
    for group in many.tolist():
        own = int(sizes[group]) + 100
        group_progress = subrange(progress, done / total, (done + own) / total)
        own_points = points[starts[group] : starts[group] + sizes[group]]
        hull = ConvexHull(own_points, progress=subrange(group_progress, 0.0, 0.5))
        frames[group] = best_axes(hull, subrange(group_progress, 0.5, 0.9))
        done += own
    result = OrientedBoxes(*boxes_along(points, starts, frames))
    report_progress(progress, 1.0)
    return result


def obbs_of_shapes(shapes: Sequence[Polytope], dim: int, progress: Progress | None = None) -> OrientedBoxes:
    """Return one oriented box for each shape, of dimension `dim`."""
    frames = np.empty((len(shapes), dim, dim))
    counts = np.array([len(shape.vertices) for shape in shapes], dtype=np.intp)
    ends = np.cumsum(counts)
    report_progress(progress, 0.0)
    for i, shape in enumerate(shapes):
        begin, end = (float(x) / float(ends[-1] + 1) for x in (ends[i] - counts[i], ends[i]))
        frames[i] = best_axes(shape, subrange(progress, begin, end))
    points = np.concatenate([shape.vertices for shape in shapes]) if len(shapes) else np.empty((0, dim))
    result = OrientedBoxes(*boxes_along(points, ends - counts, frames))
    report_progress(progress, 1.0)
    return result
