# SPDX-License-Identifier: GPL-3.0-or-later
"""Oriented bounding boxes: fitted to points and shapes, merged, and tested against each other, many at a time.

A box of least content has, in the plane, one side along a side of the hull (rotating calipers): there the fit is exact.
In space boxes with an axis across a facet or along an edge of the hull and those about the principal axes are tried,
and the best are improved: seen along one of its axes a box is turned to the least rectangle, until no turn helps. On
random hulls of 4 to 40 corners that comes to 1 % more than the least volume on average, to 11 % at worst.

Source: S3.1; Freeman, Shapira, "Determining the minimum-area encasing rectangle for an arbitrary closed curve" (1975);
Gottschalk, Lin, Manocha, "OBBTree" (1996).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from ..progress import Progress, report_progress, subrange
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope, intervals
from ..tolerance import EPS, SMALLEST_STEP, SUBNORMAL_SUM
from ..types import BoolArray, FloatArray, IntArray
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

_OBB_ROUNDING = 16.0
"""Times EPS and the sum of the sides: by how much oriented boxes are made wider, and what their separating axes may be
wrong by. Axes are unit vectors and perpendicular to a few EPS; two products of three terms each."""
_OBB_FLAT = 1e-10
"""Times the diagonal and the surface area: what this adds to the content of a box when the best is chosen decides
between boxes of flat points, whose contents are all rounding."""
_OBB_PARALLEL = 1e-3
"""Sine between two edges of boxes below which their product tells no distance; the faces tell nearly the same."""

_ITEMS = 1 << 14
"""Points or boxes looked at in one go."""
_MANY = 50
"""Corners of a shape from which only the largest facets are tried, one by one."""
_OUTLINE = 300
"""Corners of a shape from which the outline is put in order first, so that not every corner meets every side."""
_LARGEST = 24
"""How many facets are tried then."""
_BEST = 3
"""How many of the best boxes are improved."""
_TURNS = 8
"""Most turns of a box."""
_STEPS = SUBNORMAL_SUM * SMALLEST_STEP
_GAIN = 1e-9
"""What a turn must gain, relatively."""


@dataclass(frozen=True, eq=False)
class Obbs(Volumes):
    """A batch of oriented bounding boxes (rectangles in the plane). Source: S3.1."""

    center: FloatArray
    """(n, dim) world coordinates."""
    axes: FloatArray
    """(n, dim, dim) row k of each is the unit direction of its axis k in the world; the rows are perpendicular."""
    half: FloatArray
    """(n, dim) half of the length of the sides along each axis, >= 0."""

    def __post_init__(self) -> None:
        """Make the arrays read-only; the caller's own stay as they were."""
        freeze_views(self, ("center", "axes", "half"))

    @property
    def dim(self) -> int:
        """Dimension: 2 or 3."""
        return int(self.center.shape[1])

    def __len__(self) -> int:
        """Return the number of volumes."""
        return len(self.center)

    def take(self, indices: ArrayLike) -> Obbs:
        """Return the volumes with these indices (m,), in this order."""
        chosen = checked_items(indices, len(self))
        return Obbs(*(array.take(chosen, axis=0) for array in (self.center, self.axes, self.half)))

    @classmethod
    def joined(cls, parts: Sequence[Obbs]) -> Obbs:
        """Return the volumes of one or more batches, one batch after the other."""
        checked_parts(cls, parts)
        return cls(
            np.concatenate([part.center for part in parts]),
            np.concatenate([part.axes for part in parts]),
            np.concatenate([part.half for part in parts]),
        )

    def merged(self, other: Obbs) -> Obbs:
        """Return, element by element, a small box that holds both: the best along the axes of either, along the
        principal axes of all corners, or along the world's."""
        check_partner(self, other)
        center, axes, half = (
            np.stack(pair, axis=1).reshape(2 * len(self), *pair[0].shape[1:])
            for pair in ((self.center, other.center), (self.axes, other.axes), (self.half, other.half))
        )
        return _fitted(center, axes, half, np.arange(0, 2 * len(self), 2))

    def merged_ranges(self, starts: ArrayLike) -> Obbs:
        """Return a small box for each range of boxes, from starts[i] up to starts[i + 1]: see `merged`."""
        return _fitted(self.center, self.axes, self.half, checked_starts(starts, len(self), "volumes"))

    def overlap(self, other: Obbs) -> BoolArray:
        """Return (n,) whether no axis across faces or edges of the two separates them. Touching counts. Source: S3.2.

        15 axes in space, 4 in the plane.
        """
        check_partner(self, other)
        result = np.empty(len(self), dtype=np.bool_)
        for begin in range(0, len(self), _ITEMS):
            part = slice(begin, begin + _ITEMS)
            pair = _Pairs.of(self, other, part)
            together = pair.face_gaps() <= 0.0
            if self.dim == 3:
                rest = np.flatnonzero(together)
                together[rest] = pair.chosen(rest).edge_gaps(divided=False) <= 0.0
            result[part] = together
        return result

    def gap(self, other: Obbs) -> FloatArray:
        """Return (n,) a lower bound of the distance of what is inside: the widest gap across faces or edges, or 0."""
        check_partner(self, other)
        result = np.empty(len(self))
        for begin in range(0, len(self), _ITEMS):
            part = slice(begin, begin + _ITEMS)
            pair = _Pairs.of(self, other, part)
            gap = pair.face_gaps()
            if self.dim == 3:
                gap = np.maximum(gap, pair.edge_gaps(divided=True))
            result[part] = np.maximum(gap, 0.0)
        return result

    def grown(self, margin: float) -> Obbs:
        """Return boxes that hold everything within a distance `margin` >= 0 of these."""
        width = checked_margin(margin)
        if width == 0.0:
            return self
        half = self.half + width
        half += _OBB_ROUNDING * EPS * half.sum(axis=1, keepdims=True)
        return Obbs(self.center, self.axes, half)

    def centers(self) -> FloatArray:
        """Return the centres (n, dim)."""
        return self.center

    def sizes(self) -> FloatArray:
        """Return (n,) the surface area, in the plane the perimeter."""
        return _area(2.0 * self.half.T)

    def volumes(self) -> FloatArray:
        """Return (n,) the volume, in the plane the area."""
        return content_of_boxes(2.0 * self.half.T)

    def contain(self, points: ArrayLike) -> BoolArray:
        """Return (n,), element by element, whether points[i] (n, dim) is not outside of box i for certain."""
        away = checked_points(points, len(self), self.dim) - self.center
        along = np.abs((self.axes * away[:, None, :]).sum(axis=2))
        slack = _OBB_ROUNDING * EPS * self.half.sum(axis=1, keepdims=True) + _STEPS
        return (along <= self.half + slack).all(axis=1)

    def polytope(self, index: int) -> ConvexHull:
        """Return the hull of the corners of one box."""
        i = checked_index(index, len(self))
        signs = np.array(list(product((-1.0, 1.0), repeat=self.dim)))
        return ConvexHull(self.center[i] + (signs * self.half[i]) @ self.axes[i])


@dataclass(eq=False)
class _Pairs:
    """Pairs of boxes, ready for their separating axes."""

    a: FloatArray
    """(dim, m) half sides of the first."""
    b: FloatArray
    """(dim, m) half sides of the second."""
    turn: FloatArray
    """(dim, dim, m) cosines between axis i of the first and axis j of the second."""
    way: FloatArray
    """(dim, m) from centre to centre, along the axes of the first."""
    slack: FloatArray
    """(m,) what a gap may be wrong by."""

    @classmethod
    def of(cls, first: Obbs, second: Obbs, part: slice) -> _Pairs:
        axes, other = np.ascontiguousarray(first.axes[part].T), np.ascontiguousarray(second.axes[part].T)
        way = np.ascontiguousarray((second.center[part] - first.center[part]).T)
        dim = len(way)
        turn = np.empty((dim, dim, way.shape[1]))
        along = np.empty_like(way)
        for i in range(dim):  # axes[c, i]: component c of axis i
            along[i] = _sum_of_products(axes[:, i], way)
            for j in range(dim):
                turn[i, j] = _sum_of_products(axes[:, i], other[:, j])
        a, b = np.ascontiguousarray(first.half[part].T), np.ascontiguousarray(second.half[part].T)
        slack = _OBB_ROUNDING * EPS * (a.sum(axis=0) + b.sum(axis=0) + np.abs(way).sum(axis=0)) + _STEPS
        return cls(a, b, turn, along, slack)

    def chosen(self, rest: IntArray) -> _Pairs:
        return _Pairs(*(x.take(rest, axis=-1) for x in (self.a, self.b, self.turn, self.way, self.slack)))

    def face_gaps(self) -> FloatArray:
        """Return the widest gap (m,) across the faces, negative where they overlap in all."""
        dim = len(self.a)
        size = np.abs(self.turn)
        gap = np.full(self.a.shape[1], -np.inf)
        for i in range(dim):
            np.maximum(gap, np.abs(self.way[i]) - (self.a[i] + _sum_of_products(self.b, size[i])), out=gap)
            along = np.abs(_sum_of_products(self.way, self.turn[:, i]))
            np.maximum(gap, along - (self.b[i] + _sum_of_products(self.a, size[:, i])), out=gap)
        return gap - self.slack

    def edge_gaps(self, divided: bool) -> FloatArray:
        """Return the widest gap (m,) across two edges: as a distance, or, for its sign, times the sine between them."""
        a, b, turn, way = self.a, self.b, self.turn, self.way
        size = np.abs(turn)
        result = np.full(a.shape[1], -np.inf)
        for i in range(3):
            i1, i2 = (i + 1) % 3, (i + 2) % 3
            for j in range(3):
                j1, j2 = (j + 1) % 3, (j + 2) % 3
                along = np.abs(way[i2] * turn[i1, j] - way[i1] * turn[i2, j])
                reach = a[i1] * size[i2, j] + a[i2] * size[i1, j] + b[j1] * size[i, j2] + b[j2] * size[i, j1]
                gap = along - reach - self.slack
                if divided:
                    sine = np.hypot(turn[i1, j], turn[i2, j])
                    gap = np.where(sine > _OBB_PARALLEL, gap / np.maximum(sine, _OBB_PARALLEL), -np.inf)
                np.maximum(result, gap, out=result)
        return result


def bounding_obbs(points: FloatArray, starts: IntArray, progress: Progress | None = None) -> Obbs:
    """Return oriented boxes of groups of points (N, dim); group i begins with point starts[i]. See `bounding_volumes`.

    Groups of up to three points take their longest side and are done all at once. For larger ones their hull is made,
    one after the other.
    """
    dim = points.shape[1]
    sizes = np.diff(starts, append=len(points))
    frames = np.empty((len(starts), dim, dim))
    few, many = np.flatnonzero(sizes <= 3), np.flatnonzero(sizes > 3)
    # What a group of more points takes is worth a hundred points of the others.
    total = len(points) + 100 * len(many)
    report_progress(progress, 0.0)
    for begin in range(0, len(few), _ITEMS):
        part = few[begin : begin + _ITEMS]
        frames[part] = _frames_of_three(points, starts[part], sizes[part])
        report_progress(progress, begin + len(part), total)
    done = int(sizes[few].sum())
    for group in many.tolist():
        own = int(sizes[group]) + 100
        told = subrange(progress, done / total, (done + own) / total)
        own_points = points[starts[group] : starts[group] + sizes[group]]
        hull = ConvexHull(own_points, progress=subrange(told, 0.0, 0.5))
        frames[group] = _best_frame(hull, subrange(told, 0.5, 0.9))
        done += own
    result = _boxes(points, starts, frames)
    report_progress(progress, 1.0)
    return result


def obbs_of_shapes(shapes: Sequence[Polytope], dim: int, progress: Progress | None = None) -> Obbs:
    """Return one oriented box for each shape, of dimension `dim`."""
    frames = np.empty((len(shapes), dim, dim))
    counts = np.array([len(shape.vertices) for shape in shapes], dtype=np.intp)
    ends = np.cumsum(counts)
    report_progress(progress, 0.0)
    for i, shape in enumerate(shapes):
        begin, end = (float(x) / float(ends[-1] + 1) for x in (ends[i] - counts[i], ends[i]))
        frames[i] = _best_frame(shape, subrange(progress, begin, end))
    points = np.concatenate([shape.vertices for shape in shapes]) if len(shapes) else np.empty((0, dim))
    result = _boxes(points, ends - counts, frames)
    report_progress(progress, 1.0)
    return result


# ---------------------------------------------------------------------------------------------------------------------
# One shape


def _best_frame(shape: Polytope, progress: Progress | None) -> FloatArray:
    """Return the axes (dim, dim) of a small box around a shape; in the plane the smallest."""
    report_progress(progress, 0.0)
    low, high = shape.bounds
    largest = float((0.5 * high - 0.5 * low).max())
    if shape.rank == 0 or largest == 0.0:
        return np.eye(shape.dim)
    points = np.ldexp(shape.centred, -int(np.frexp(largest)[1]))
    if shape.rank == 1:
        return _completed((points[1] - points[0])[None])[0]
    if shape.dim == 2:
        turned = np.stack([-shape.normals[:, 1], shape.normals[:, 0]], axis=1)
        frames = np.stack([shape.normals, turned], axis=1)
        if len(points) <= _OUTLINE:
            return _least(frames, points)[0]
        return frames[int(_score(_outline_sides(points, shape.normals, progress)).argmin())]
    covariance = points - points.mean(axis=0)
    principal = np.linalg.eigh(covariance.T @ covariance)[1].T
    found = [_least(principal[None], points)]
    if len(points) > _MANY:
        facets = _largest_facets(shape).tolist()
        for done, facet in enumerate(facets):
            told = subrange(progress, 0.7 * done / len(facets), 0.7 * (done + 1) / len(facets))
            found += _calipers(shape, points, shape.normals[facet : facet + 1], 1, told)
        found = [found[0], *sorted(found[1:], key=_content)[:_BEST]]
    else:
        normals = shape.normals if shape.rank == 3 else shape.normals[:1]
        told = subrange(progress, 0.0, 0.7)
        found += _calipers(shape, points, np.concatenate([normals, shape.edge_directions]), _BEST, told)
    results: list[tuple[FloatArray, float]] = []
    for done, start in enumerate(found):
        told = subrange(progress, 0.7 + 0.3 * done / len(found), 0.7 + 0.3 * (done + 1) / len(found))
        results.append(_turned(shape, points, *start, told))
    return min(results, key=_content)[0]


def _turned(
    shape: Polytope, points: FloatArray, frame: FloatArray, score: float, progress: Progress | None
) -> tuple[FloatArray, float]:
    """Return a box, and its score, turned about its axes until no turn helps."""
    for turn in range(_TURNS):
        better = _calipers(shape, points, frame, 1, subrange(progress, turn / _TURNS, (turn + 1) / _TURNS))
        if not better or better[0][1] >= score * (1.0 - _GAIN):
            break
        frame, score = better[0]
    return frame, score


def _content(found: tuple[FloatArray, float]) -> float:
    return found[1]


def _largest_facets(shape: Polytope) -> IntArray:
    """Return the indices of some of the largest facets of a solid."""
    sizes = np.array([len(loop) for loop in shape.facets])
    starts = np.cumsum(sizes) - sizes
    ids = np.concatenate(shape.facets)
    following = np.arange(1, len(ids) + 1)
    following[starts + sizes - 1] = starts
    corners = shape.centred[ids] / max(shape.extent, 1e-300)
    areas = np.add.reduceat(np.cross(corners, corners[following]), starts)
    order: IntArray = np.argsort(-np.abs((areas * shape.normals).sum(axis=1)), kind="stable")
    return order[:_LARGEST]


def _calipers(
    shape: Polytope, points: FloatArray, normals: FloatArray, keep: int, progress: Progress | None
) -> list[tuple[FloatArray, float]]:
    """Return the axes and the score of up to `keep` boxes, the best first, each with an axis along another unit normal.

    Seen along that axis the box is a least rectangle, and one side of it is along a side of the shape's outline.
    normals (f, 3); no two of the boxes have the same.
    """
    report_progress(progress, 0.0)
    if len(points) > _OUTLINE:
        found = []
        for k, normal in enumerate(normals):
            told = subrange(progress, k / len(normals), (k + 1) / len(normals))
            found += _rotating_calipers(shape, points, normal, told)
        return sorted(found, key=_content)[:keep]
    facing = normals @ shape.normals.T
    first, second = facing[:, shape.edge_facets[:, 0]], facing[:, shape.edge_facets[:, 1]]
    which, edge = np.nonzero((np.minimum(first, second) <= 1e-9) & (np.maximum(first, second) >= -1e-9))
    normal, along = normals[which], shape.edge_directions[edge]
    for _ in range(2):  # the second time takes away what rounding has left
        along = along - (along * normal).sum(axis=1)[:, None] * normal
    length = np.sqrt((along * along).sum(axis=1))
    usable = np.flatnonzero(length > 1e-6)
    if len(normals) == 1 and len(points) > _MANY:
        # Only the outline, and what is extreme along the axis, can be extreme.
        height = points @ normals[0]
        ends = [int(height.argmin()), int(height.argmax())]
        points = points[np.unique(np.concatenate([shape.edges[edge].ravel(), ends]))]
    which, normal, along = which[usable], normal[usable], along[usable] / length[usable][:, None]
    frames = _frames(normal, along)
    scores = _scores(frames, points)
    result: list[tuple[FloatArray, float]] = []
    seen: set[int] = set()
    for best in np.argsort(scores, kind="stable").tolist():
        if len(seen) == keep:
            break
        if which[best] not in seen:
            seen.add(int(which[best]))
            result.append((frames[best], float(scores[best])))
    return result


def _rotating_calipers(
    shape: Polytope, points: FloatArray, normal: FloatArray, progress: Progress | None
) -> list[tuple[FloatArray, float]]:
    """Return the axes and the score of the best box with an axis along a unit normal (3,), for many points (n, 3).

    None if no edge is in its outline. The time grows with the 3/2nd power of the corners of the outline.
    """
    facing = shape.normals @ normal
    first, second = facing[shape.edge_facets[:, 0]], facing[shape.edge_facets[:, 1]]
    edges = np.flatnonzero((np.minimum(first, second) <= 1e-9) & (np.maximum(first, second) >= -1e-9))
    x, y = _completed(normal[None])[0, 1:]
    plane = np.stack([x, y], axis=1)
    along = shape.edge_directions[edges] @ plane
    length = np.sqrt((along * along).sum(axis=1))
    along = along[length > 1e-6] / length[length > 1e-6][:, None]
    if not len(along):
        return []
    # A rectangle has four sides: directions that are a quarter turn apart, to rounding, are one.
    turn = np.arctan2(along[:, 1], along[:, 0]) % (0.5 * np.pi)
    order = np.argsort(turn, kind="stable")
    along = along[order[np.diff(turn[order], prepend=-1.0) > 1e-14]]
    height = points @ normal
    sides = _outline_sides(points[np.unique(shape.edges[edges])] @ plane, along, progress)
    scores = _score(np.concatenate([np.full((1, len(along)), height.max() - height.min()), sides]))
    best = int(scores.argmin())
    second_axis = plane @ along[best]
    for _ in range(2):  # the second time takes away what rounding has left
        second_axis = second_axis - (second_axis @ normal) * normal
        second_axis = second_axis / np.sqrt(second_axis @ second_axis)
    return [(_frames(normal[None], second_axis[None])[0], float(scores[best]))]


def _outline_sides(points: FloatArray, along: FloatArray, progress: Progress | None = None) -> FloatArray:
    """Return the sides (2, d) of the rectangles along unit directions (d, 2) around the corners of a convex outline.

    points (n, 2), in any order. They are put in the order of the outline, along an upper and a lower chain; on the way
    around what is measured rises once and falls once, so that of every sqrt(n)-th corner the farthest is near the
    farthest of all.
    """
    ends = points[[0, 0]]
    for _ in range(3):  # to two corners about as far from each other as any: no side is across the line between these
        for i in (0, 1):
            away = points - ends[1 - i]
            ends[i] = points[int((away * away).sum(axis=1).argmax())]
    way = ends[1] - ends[0]
    place, above = points @ way, (points - ends[0]) @ np.array([-way[1], way[0]]) >= 0.0
    upper, lower = np.flatnonzero(above), np.flatnonzero(~above)
    ring = points[np.concatenate([upper[np.argsort(place[upper])], lower[np.argsort(-place[lower])]])]
    step = max(1, round(len(ring) ** 0.5))
    around = np.arange(-step, step + 1)
    sides = np.empty((2, len(along)))
    columns = np.ascontiguousarray(ring.T)
    for begin in range(0, len(along), _ITEMS // step):
        report_progress(progress, begin, len(along))
        part = slice(begin, begin + _ITEMS // step)
        for k, direction in enumerate((along[part], along[part] @ np.array([[0.0, 1.0], [-1.0, 0.0]]))):
            some = direction @ columns[:, ::step]
            reach = np.zeros(len(direction))
            for sign, sample in ((1.0, some.argmax(axis=1)), (-1.0, some.argmin(axis=1))):
                near = (sample[:, None] * step + around) % len(ring)
                value = direction[:, :1] * columns[0].take(near) + direction[:, 1:] * columns[1].take(near)
                reach += (sign * value).max(axis=1)
            sides[k, part] = reach
    return sides


def _frames(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return right-handed frames (c, 3, 3) of two perpendicular unit vectors (c, 3) each."""
    frames = np.empty((len(first), 3, 3))
    frames[:, 0], frames[:, 1] = first, second
    a, b = first.T, second.T
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        frames[:, 2, i] = a[j] * b[k] - a[k] * b[j]
    return frames


def _least(frames: FloatArray, points: FloatArray) -> tuple[FloatArray, float]:
    """Return the one of frames (c, dim, dim) whose box of points (n, dim) scores least, and its score."""
    scores = _scores(frames, points)
    best = int(scores.argmin())
    return frames[best], float(scores[best])


def _scores(frames: FloatArray, points: FloatArray) -> FloatArray:
    """Return the scores (c,) of the boxes of points (n, dim) along the axes of frames (c, dim, dim)."""
    dim = points.shape[1]
    low, high = intervals(frames.reshape(-1, dim), points)
    sides = (high - low).reshape(-1, dim).T
    return _score(sides)


def _score(sides: FloatArray) -> FloatArray:
    """Return what is wanted least (c,) of boxes with sides (dim, c): the content, and a little of the surface."""
    with np.errstate(under="ignore"):
        result: FloatArray = np.multiply.reduce(sides, axis=0) + _OBB_FLAT * _area(sides) * sides.sum(axis=0)
    return result


def _area(sides: FloatArray) -> FloatArray:
    """Return the surface areas (n,), or perimeters, of boxes with sides (dim, n)."""
    with np.errstate(over="ignore", under="ignore"):
        half = sides[0] + sides[1] if len(sides) == 2 else sides[0] * (sides[1] + sides[2]) + sides[1] * sides[2]
        result: FloatArray = 2.0 * half
    return result


# ---------------------------------------------------------------------------------------------------------------------
# Many groups at once


def _frames_of_three(points: FloatArray, starts: IntArray, sizes: IntArray) -> FloatArray:
    """Return frames (g, dim, dim) along the longest side of groups of one, two or three points, and their plane."""
    items = starts[:, None] + np.minimum(np.arange(3), sizes[:, None] - 1)
    p = points[items]
    ways = p[:, (1, 2, 0)] - p
    largest = np.abs(ways).max(axis=(1, 2))
    ways = np.ldexp(ways, -np.frexp(largest)[1][:, None, None])
    squares = (ways * ways).sum(axis=2)
    longest = squares.argmax(axis=1)
    every = np.arange(len(starts))
    along, next_ = ways[every, longest], ways[every, (longest + 1) % 3]
    return _completed(along, next_)


def _completed(along: FloatArray, beside: FloatArray | None = None) -> FloatArray:
    """Return right-handed frames (g, dim, dim) whose first axis is along vectors (g, dim).

    The second axis is in the plane of the first and `beside` (g, dim), as far as these have one plane.
    """
    dim = along.shape[1]
    first = _unit(along, np.eye(dim)[0])
    if dim == 2:
        return np.stack([first, np.stack([-first[:, 1], first[:, 0]], axis=1)], axis=1)
    away = np.eye(3)[np.abs(first).argmin(axis=1)]
    spare = _unit(np.cross(first, away), np.eye(3)[1])
    second = spare
    if beside is not None:
        second = beside - (beside * first).sum(axis=1)[:, None] * first
        second = np.where((second * second).sum(axis=1)[:, None] > 1e-20, second, spare)
        second = _unit(second, np.eye(3)[1])
        second = _unit(second - (second * first).sum(axis=1)[:, None] * first, np.eye(3)[1])
    return _frames(first, second)


def _unit(vectors: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return unit vectors (n, dim) along those given, `otherwise` (dim,) for zero."""
    largest = np.abs(vectors).max(axis=1)[:, None]
    scaled = vectors / np.where(largest > 0.0, largest, 1.0)
    length = np.sqrt((scaled * scaled).sum(axis=1))[:, None]
    return np.where(length > 0.0, scaled / np.where(length > 0.0, length, 1.0), otherwise)


@dataclass(eq=False)
class _Items:
    """Groups of boxes, or of points when `half` is None, near the origin and of about unit size, as rows."""

    center: FloatArray
    """(dim, n)."""
    arms: FloatArray | None
    """(dim, dim, n): component c of the k-th half side of each is arms[c, k]."""
    starts: IntArray
    sizes: IntArray

    @classmethod
    def of(
        cls, center: FloatArray, axes: FloatArray | None, half: FloatArray | None, starts: IntArray
    ) -> tuple[_Items, FloatArray, IntArray]:
        """Return the items, and the origin (dim, g) and the exponent (g,) of the unit of each group."""
        sizes = np.diff(starts, append=len(center))
        rows = np.ascontiguousarray(center.T)
        reach = 0.0 if half is None else half.sum(axis=1)  # along every axis no more than this
        low = np.minimum.reduceat(rows - reach, starts, axis=1)
        high = np.maximum.reduceat(rows + reach, starts, axis=1)
        origin = 0.5 * low + 0.5 * high
        # Not half of the difference: that of the least number is 0.
        exponent: IntArray = np.frexp(np.maximum(high - origin, origin - low).max(axis=0))[1]
        every = np.repeat(exponent, sizes)
        arms = None
        with np.errstate(under="ignore"):
            rows = np.ldexp(rows - np.repeat(origin, sizes, axis=1), -every)
            if axes is not None and half is not None:
                arms = np.ascontiguousarray((axes * np.ldexp(half, -every[:, None])[:, :, None]).T)
        return cls(rows, arms, starts, sizes), origin, exponent

    def spans(self, frames: FloatArray, from_: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return what the groups cover, lowest and highest (dim, g), of the axes of frames (g, dim, dim).

        From the local origin, or from points (dim, g).
        """
        dim = len(self.center)
        rows = self.center if from_ is None else self.center - np.repeat(from_, self.sizes, axis=1)
        low, high = np.empty((dim, len(self.starts))), np.empty((dim, len(self.starts)))
        for k in range(dim):
            axis = np.repeat(np.ascontiguousarray(frames[:, k].T), self.sizes, axis=1)
            middle = _sum_of_products(axis, rows)
            if self.arms is None:
                np.minimum.reduceat(middle, self.starts, out=low[k])
                np.maximum.reduceat(middle, self.starts, out=high[k])
                continue
            reach = np.abs(_sum_of_products(axis, self.arms[:, 0]))
            for arm in range(1, dim):
                reach += np.abs(_sum_of_products(axis, self.arms[:, arm]))
            np.minimum.reduceat(middle - reach, self.starts, out=low[k])
            np.maximum.reduceat(middle + reach, self.starts, out=high[k])
        return low, high

    def principal(self) -> FloatArray:
        """Return the principal axes (g, dim, dim) of the items' points or corners."""
        dim = len(self.center)
        mean = np.add.reduceat(self.center, self.starts, axis=1) / self.sizes
        away = self.center - np.repeat(mean, self.sizes, axis=1)
        covariance = np.empty((len(self.starts), dim, dim))
        for i in range(dim):
            for j in range(i + 1):
                value = away[i] * away[j]
                if self.arms is not None:
                    value += (self.arms[i] * self.arms[j]).sum(axis=0)
                covariance[:, i, j] = covariance[:, j, i] = np.add.reduceat(value, self.starts)
        return np.ascontiguousarray(np.linalg.eigh(covariance)[1].transpose(0, 2, 1))

    def boxes(self, frames: FloatArray, origin: FloatArray, exponent: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return centres (g, dim), world frame, and half sides (g, dim) of boxes along frames that hold the items."""
        low, high = self.spans(frames)
        middle = 0.5 * low + 0.5 * high
        local = _sum_of_products(np.ascontiguousarray(frames.transpose(1, 2, 0)), middle[:, None])
        with np.errstate(under="ignore"):
            center = origin + np.ldexp(local, exponent)
            # The centre is rounded: what counts is how far the items really reach from it.
            low, high = self.spans(frames, np.ldexp(center - origin, -exponent))
            half = np.maximum(np.maximum(-low, high), 0.0)
            half += _OBB_ROUNDING * EPS * half.sum(axis=0)
            # What is rounded to 0 here is not without width.
            half = np.where(half > 0.0, np.nextafter(np.ldexp(half, exponent), np.inf), 0.0)
        return np.ascontiguousarray(center.T), np.ascontiguousarray(half.T)


def _sum_of_products(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the sum over the first axis of a * b, in the order of the terms."""
    result: FloatArray = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        result = result + x * y
    return result


def _parts(starts: IntArray, count: int) -> list[tuple[slice, slice]]:
    """Return slices of groups, and of the items in them, of limited size."""
    ends = np.append(starts[1:], count)
    parts = []
    begin = 0
    while begin < len(starts):
        end = max(begin + 1, int(np.searchsorted(ends, starts[begin] + _ITEMS, side="right")))
        parts.append((slice(begin, end), slice(int(starts[begin]), int(ends[end - 1]))))
        begin = end
    return parts


def _boxes(points: FloatArray, starts: IntArray, frames: FloatArray) -> Obbs:
    """Return the boxes of groups of points along given frames (g, dim, dim)."""
    center, half = np.empty(frames.shape[:2]), np.empty(frames.shape[:2])
    for part, inside in _parts(starts, len(points)):
        items, origin, exponent = _Items.of(points[inside], None, None, starts[part] - inside.start)
        center[part], half[part] = items.boxes(frames[part], origin, exponent)
    return Obbs(center, frames, half)


def _fitted(centers: FloatArray, axes: FloatArray, halves: FloatArray, starts: IntArray) -> Obbs:
    """Return small boxes around groups of boxes, group i from box starts[i] on."""
    dim = centers.shape[1]
    center, half, frames = np.empty((len(starts), dim)), np.empty((len(starts), dim)), np.empty((len(starts), dim, dim))
    for part, inside in _parts(starts, len(centers)):
        first = starts[part] - inside.start
        items, origin, exponent = _Items.of(centers[inside], axes[inside], halves[inside], first)
        last = first + items.sizes - 1
        best = axes[inside][first]
        least = _score(_sides(items.spans(best)))
        world = np.broadcast_to(np.eye(dim), best.shape)
        for choice in (axes[inside][last], items.principal(), world):
            score = _score(_sides(items.spans(choice)))
            better = score < least
            best[better], least[better] = choice[better], score[better]
        frames[part] = best
        center[part], half[part] = items.boxes(best, origin, exponent)
    return Obbs(center, frames, half)


def _sides(spans: tuple[FloatArray, FloatArray]) -> FloatArray:
    return spans[1] - spans[0]
