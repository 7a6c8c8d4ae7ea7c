# SPDX-License-Identifier: GPL-3.0-or-later
"""Axes of small oriented boxes around one shape.

A box of least volume has, in the plane, one side along a side of the hull (rotating calipers): there the fit is exact.
In space:

1. Boxes with an axis across a facet or along an edge of the hull are tried, and those about the principal axes.
2. The best are improved: seen along one of its axes a box is turned to the least rectangle, until no turn helps.

On random hulls of 4 to 40 corners that comes to 1 % more than the least volume on average, to 11 % at worst.

Source: S3.1; Freeman, Shapira, "Determining the minimum-area encasing rectangle for an arbitrary closed curve" (1975).
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np

from ..progress import Progress, equal_parts, report_progress, subrange
from ..runs import chunks
from ..shapes.polytope import Polytope, intervals
from ..types import FloatArray, IntArray
from ..vectors import cross, unit_rows
from .volumes import box_surface_areas

_OBB_FLAT = 1e-10
"""Times the diagonal and the surface area: added to the volume of a box when the best is chosen, it decides between
boxes of flat points, whose volumes are all rounding."""
_CHUNK = 1 << 14
"""Points processed at once."""
_MANY = 50
"""Corners of a shape from which only the largest facets are tried, one by one."""
_OUTLINE = 300
"""Corners of a shape from which the outline is sorted first, so that not every corner is tested with every side."""
_LARGEST = 24
"""Number of facets that are tried then."""
_BEST = 3
"""Number of boxes that are improved."""
_TURNS = 8
"""Most turns of a box."""
_GAIN = 1e-9
"""Least relative gain of a turn."""


def best_axes(shape: Polytope, progress: Progress | None) -> FloatArray:
    """Return the axes (dim, dim) of a small box around a shape; in the plane of the smallest. Source: S3.1."""
    report_progress(progress, 0.0)
    low, high = shape.bounds
    largest = float((0.5 * high - 0.5 * low).max())
    if shape.rank == 0 or largest == 0.0:
        return np.eye(shape.dim)
    points = np.ldexp(shape._centred, -int(np.frexp(largest)[1]))
    if shape.rank == 1:
        return complete_frames((points[1] - points[0])[None])[0]
    if shape.dim == 2:
        turned = np.stack([-shape.normals[:, 1], shape.normals[:, 0]], axis=1)
        frames = np.stack([shape.normals, turned], axis=1)
        if len(points) <= _OUTLINE:
            return _best_of(frames, points)[0]
        return frames[int(box_score(_rectangle_sides(points, shape.normals, progress)).argmin())]
    covariance = points - points.mean(axis=0)
    principal = np.linalg.eigh(covariance.T @ covariance)[1].T
    found = [_best_of(principal[None], points)]
    if len(points) > _MANY:
        for facet, part in equal_parts(_largest_facets(shape).tolist(), subrange(progress, 0.0, 0.7)):
            found += _calipers(shape, points, shape.normals[facet : facet + 1], 1, part)
        found = [found[0], *sorted(found[1:], key=itemgetter(1))[:_BEST]]
    else:
        normals = shape.normals if shape.rank == 3 else shape.normals[:1]
        part = subrange(progress, 0.0, 0.7)
        found += _calipers(shape, points, np.concatenate([normals, shape.edge_directions]), _BEST, part)
    starts = equal_parts(found, subrange(progress, 0.7, 1.0))
    return min((_improved(shape, points, *start, part) for start, part in starts), key=itemgetter(1))[0]


def _improved(
    shape: Polytope, points: FloatArray, frame: FloatArray, score: float, progress: Progress | None
) -> tuple[FloatArray, float]:
    """Return a box, and its score, turned about its axes until no turn helps."""
    for _, part in equal_parts(range(_TURNS), progress):
        better = _calipers(shape, points, frame, 1, part)
        if not better or better[0][1] >= score * (1.0 - _GAIN):
            break
        frame, score = better[0]
    return frame, score


def _largest_facets(shape: Polytope) -> IntArray:
    """Return the indices of up to _LARGEST of the largest facets of a solid."""
    sides, corners = shape._sides, shape._centred / max(shape.extent, 1e-300)
    areas = np.add.reduceat(np.cross(corners[sides.start], corners[sides.end]), sides.first)
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
        for normal, part in equal_parts(list(normals), progress):
            found += _rotating_calipers(shape, points, normal, part)
        return sorted(found, key=itemgetter(1))[:keep]
    which, edge = _outline_edges(shape, normals)
    normal, along = normals[which], shape.edge_directions[edge]
    for _ in range(2):  # the second time removes the rounding error of the first
        along = along - (along * normal).sum(axis=1)[:, None] * normal
    length = np.sqrt((along * along).sum(axis=1))
    usable = np.flatnonzero(length > 1e-6)
    if len(normals) == 1 and len(points) > _MANY:
        # Only the outline, and what is extreme along the axis, can be extreme.
        height = points @ normals[0]
        ends = [int(height.argmin()), int(height.argmax())]
        points = points[np.unique(np.concatenate([shape.edges[edge].ravel(), ends]))]
    which, normal, along = which[usable], normal[usable], along[usable] / length[usable][:, None]
    frames = _right_handed(normal, along)
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


def _outline_edges(shape: Polytope, normals: FloatArray) -> tuple[IntArray, IntArray]:
    """Return pairs of a unit normal (f, 3) and an edge that is in the shape's outline seen along it, by indices."""
    facing = normals @ shape.normals.T
    first, second = facing[:, shape.edge_facets[:, 0]], facing[:, shape.edge_facets[:, 1]]
    which, edge = np.nonzero((np.minimum(first, second) <= 1e-9) & (np.maximum(first, second) >= -1e-9))
    return which, edge


def _rotating_calipers(
    shape: Polytope, points: FloatArray, normal: FloatArray, progress: Progress | None
) -> list[tuple[FloatArray, float]]:
    """Return the axes and the score of the best box with an axis along a unit normal (3,), for many points (n, 3).

    None if no edge is in its outline. The time grows with the 3/2nd power of the corners of the outline.
    """
    edges = _outline_edges(shape, normal[None])[1]
    x, y = complete_frames(normal[None])[0, 1:]
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
    sides = _rectangle_sides(points[np.unique(shape.edges[edges])] @ plane, along, progress)
    scores = box_score(np.concatenate([np.full((1, len(along)), height.max() - height.min()), sides]))
    best = int(scores.argmin())
    second_axis = plane @ along[best]
    for _ in range(2):  # the second time removes the rounding error of the first
        second_axis = second_axis - (second_axis @ normal) * normal
        second_axis = second_axis / np.sqrt(second_axis @ second_axis)
    return [(_right_handed(normal[None], second_axis[None])[0], float(scores[best]))]


def _rectangle_sides(points: FloatArray, along: FloatArray, progress: Progress | None = None) -> FloatArray:
    """Return the sides (2, d) of the rectangles along unit directions (d, 2) around the corners of a convex outline.

    points (n, 2), in any order. They are sorted along the outline, into an upper and a lower chain; around it the
    height along a direction rises once and falls once, so that the farthest of every sqrt(n)-th corner is near the
    farthest of all.
    """
    ends = points[[0, 0]]
    for _ in range(3):  # to two corners about as far from each other as any: no side is across the line between these
        for i in (0, 1):
            away = points - ends[1 - i]
            ends[i] = points[int((away * away).sum(axis=1).argmax())]
    line = ends[1] - ends[0]
    place, above = points @ line, (points - ends[0]) @ np.array([-line[1], line[0]]) >= 0.0
    upper, lower = np.flatnonzero(above), np.flatnonzero(~above)
    ring = points[np.concatenate([upper[np.argsort(place[upper])], lower[np.argsort(-place[lower])]])]
    step = max(1, round(len(ring) ** 0.5))
    around = np.arange(-step, step + 1)
    sides = np.empty((2, len(along)))
    columns = np.ascontiguousarray(ring.T)
    for part in chunks(len(along), _CHUNK // step, progress):
        for k, direction in enumerate((along[part], along[part] @ np.array([[0.0, 1.0], [-1.0, 0.0]]))):
            sampled = direction @ columns[:, ::step]
            reach = np.zeros(len(direction))
            for sign, sample in ((1.0, sampled.argmax(axis=1)), (-1.0, sampled.argmin(axis=1))):
                near = (sample[:, None] * step + around) % len(ring)
                value = direction[:, :1] * columns[0].take(near) + direction[:, 1:] * columns[1].take(near)
                reach += (sign * value).max(axis=1)
            sides[k, part] = reach
    return sides


def _right_handed(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return right-handed frames (c, 3, 3) of two perpendicular unit vectors (c, 3) each."""
    return np.stack([first, second, cross(first.T, second.T).T], axis=1)


def _best_of(frames: FloatArray, points: FloatArray) -> tuple[FloatArray, float]:
    """Return the one of the frames (c, dim, dim) whose box of points (n, dim) scores least, and its score."""
    scores = _scores(frames, points)
    best = int(scores.argmin())
    return frames[best], float(scores[best])


def _scores(frames: FloatArray, points: FloatArray) -> FloatArray:
    """Return the scores (c,) of the boxes of points (n, dim) along the axes of frames (c, dim, dim)."""
    dim = points.shape[1]
    low, high = intervals(frames.reshape(-1, dim), points)
    return box_score((high - low).reshape(-1, dim).T)


def box_score(sides: FloatArray) -> FloatArray:
    """Return the scores (c,) of boxes with sides (dim, c), less is better: the volume plus a little of the surface."""
    with np.errstate(under="ignore"):
        return np.multiply.reduce(sides, axis=0) + _OBB_FLAT * box_surface_areas(sides) * sides.sum(axis=0)


def complete_frames(along: FloatArray, beside: FloatArray | None = None) -> FloatArray:
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
    return _right_handed(first, second)


def _unit(vectors: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return unit vectors (n, dim) along those given, `otherwise` (dim,) for zero."""
    return np.where(np.abs(vectors).max(axis=1)[:, None] > 0.0, unit_rows(vectors), otherwise)
