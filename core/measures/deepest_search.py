# SPDX-License-Identifier: GPL-3.0-or-later
"""The search for the point of a surface that is deepest inside a solid, by branch and bound on triangles.

A convex function is largest at a corner of a triangle, and so is a mean of several. The distances from the places that
the corners are near are such functions, and none is less than the depth: the least mean of them bounds the depth of all
points of the triangle. Its error falls with the square of the triangle's size, also where several places are as near.
"""

from __future__ import annotations

import numpy as np

from ..progress import Progress, report_progress
from ..runs import chunks, scattered
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import least_mean
from .cut_surface import CutSurface
from .surface_depths import SurfaceDepths

_FINE, _COARSE = 1e-6, 1e-3
"""Times the depth: how near the upper bound comes while few triangles are left, and while many are."""
_FEW = 512
_BATCH = 2_048
"""Triangles cut in one go, those that may be deepest first."""
_MOST = 10_000
"""Points measured on cut triangles; the bound is what it is by then."""
_FIRST = 64
"""Corners measured before all others."""
_CHUNK = 1 << 12
"""Triangles bounded in one go."""


def search_deepest(
    depths: SurfaceDepths, surface: CutSurface, are_inside: BoolArray, floor: float, progress: Progress | None
) -> float:
    """Put points of a surface into `depths` until its deepest one is known; return an upper bound of the depth of all.

    are_inside: (m,) which triangles are known to be inside. floor: world units; what is deeper by less does not count.
    """
    if not len(surface.triangles):
        return depths.best
    # Most of the others need not be measured exactly once a few are.
    corners = np.unique(surface.triangles)
    corners, inside = corners[scattered(len(corners))], np.zeros(len(surface.points), dtype=np.bool_)
    inside[surface.triangles[are_inside]] = True
    numbers = np.zeros(len(surface.points), dtype=np.intp)
    for part in (corners[:_FIRST], corners[_FIRST:]):
        numbers[part] = depths.add(surface.points[part], inside[part])
    cells = numbers.take(surface.triangles[:, [0, 1, 2, 0]])
    bounds, most = _bounds(depths, surface, cells), len(depths.points) + _MOST
    upper = 0.0
    while True:
        report_progress(progress, depths.best / max(float(bounds.max(initial=0.0)), depths.best, floor))
        relative = _FINE if len(cells) <= _FEW else _COARSE
        is_open = bounds > depths.best * (1.0 + relative) + floor
        upper = max(upper, float(bounds[~is_open].max(initial=0.0)))
        cells, bounds, are_inside = cells[is_open], bounds[is_open], are_inside[is_open]
        if not len(cells) or len(depths.points) > most:
            return max(upper, float(bounds.max(initial=0.0)), depths.best)
        order = np.argsort(-bounds, kind="stable")
        first, others = order[:_BATCH], order[_BATCH:]
        halves = _halves(depths, surface, cells[first], are_inside[first])
        cells = np.concatenate([cells[others], halves])
        own = np.minimum(_bounds(depths, surface, halves), np.tile(bounds[first], 2))
        bounds = np.concatenate([bounds[others], own])
        are_inside = np.concatenate([are_inside[others], np.tile(are_inside[first], 2)])


def _bounds(depths: SurfaceDepths, surface: CutSurface, cells: IntArray) -> FloatArray:
    """Return (k,) what no point of a cell can be deeper than."""
    result = np.zeros(len(cells))
    for part in chunks(len(cells), _CHUNK):
        corners = cells[part, :3]
        places, numbers = (
            np.broadcast_to(own, (len(corners), 4, 3)).ravel() for own in (cells[part, :, None], corners[:, None])
        )
        bounds = least_mean(depths.distances(places, numbers).reshape(-1, 4, 3))
        # What is farther outside than the triangle is long is outside of it.
        spots = depths.points.take(corners, axis=0)
        sides = _lengths(spots - np.roll(spots, -1, axis=1))
        away = np.where(depths.sides.take(corners) < 0.0, np.abs(depths.depths.take(corners)), -np.inf)
        reach = np.maximum(sides, np.roll(sides, 1, axis=1))
        result[part] = np.minimum(bounds, (reach - away).min(axis=1)) + surface.beyond(spots)
    return result


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.sqrt((vectors * vectors).sum(axis=-1))


def _halves(depths: SurfaceDepths, surface: CutSurface, cells: IntArray, are_inside: BoolArray) -> IntArray:
    """Return (2k, 4) both halves of cells, cut in the middle of the longest side; the corner that is cut off is the
    point near it."""
    spots = depths.points.take(cells[:, :3], axis=0)
    longest = _lengths(spots - np.roll(spots, -1, axis=1)).argmax(axis=1)
    row = np.arange(len(cells))
    start, end, tip = (cells[row, (longest + k) % 3] for k in range(3))
    codes = np.minimum(start, end) * len(depths.points) + np.maximum(start, end)
    _, first, back = np.unique(codes, return_index=True, return_inverse=True)
    ends = (depths.points.take(numbers.take(first), axis=0) for numbers in (start, end))
    middle = depths.add(surface.between(*ends), are_inside[first]).take(back.ravel())
    # Of a segment, two of whose corners are one, both halves are segments.
    first_tip, second_tip = np.where(tip == end, middle, tip), np.where(tip == start, middle, tip)
    return np.concatenate(
        [np.stack([start, middle, first_tip, end], axis=1), np.stack([middle, end, second_tip, start], axis=1)]
    )
