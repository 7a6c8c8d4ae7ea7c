# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof that two curved shapes overlap by at least a given depth in every direction, by cells that cover all
directions.

In a cell the support function of the Minkowski difference is bounded from below by a quadratic form. With n = m + x u +
y v in the cell about m, |M n|^2 is (l^2 + b^2), where l is linear in x and y and the same as |M m| in the middle, and
b^2 is a quadratic form. So |M n| - l = b^2 / (|M n| + l) is at least b^2 / (2 s), s the largest |M n| in the cell, at
one of its corners. The length of n is bounded from above likewise. The error of the bound is of third order in the
cell's size, so that rings of nearly equally good directions, which take hundreds of thousands of points of a polytope,
take some thousands of cells. Where pieces cross, their mean with any weights is a lower bound too; the weights are
those that make it most nearly level. Cells in which the bound is not enough are halved.

Cells are bounded by meridians and parallels about an axis, for rings are often parallels; at the poles they are
squares.
Source: branch and bound with second-order bounds, e.g. R. Horst and H. Tuy, Global Optimization, 1996.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..shapes.curved_shape import ConvexShape, across, ring_around
from ..shapes.ellipsoid import Ellipsoid
from ..shapes.rounded import core_of
from ..tolerance import EPS
from ..types import BoolArray, FloatArray
from .ellipsoid_hull import Pieces

COVER_ROUNDING = 16.0
"""Times EPS, the size of the Minkowski difference and 1 + the sum of a cell's sides: by how much it must exceed there
the depth that is proved. The error of lengths and depth in the middle, and of their sums, is 10; slopes and curvatures
add at most 15 times the sides."""
_COVER_OVERLAP = 2.0
"""Times EPS: by how much halves of cells of directions, coordinates below 4, are widened on either side. The middle is
rounded by half of that."""
_COVER_PATCH = 64.0
"""Times EPS: by how much the patches of planes that contain cells of directions are widened on either side, for sines,
cosines and tangents accurate to a few units in the last place, products of them, and a rounded frame."""

_MOST = 300_000
"""Total number of cells, after which the search ends."""
_CHUNK = 20_000
"""Cells processed at a time."""
_POLE = 1.4
"""Latitude, radians, beyond which cells are squares."""

_STARTS = 12
"""Directions around the axis of cells from which a better one is searched."""
_LEVEL = 0.01
"""Times the decrease of a bound in a cell: its penalty."""


class Cover(NamedTuple):
    """The result of the search."""

    complete: bool
    """Whether all directions are covered."""
    lowest: FloatArray
    """(3,) the unit direction, of those evaluated, along which the difference extends least."""
    cells: int


class _DirectionCells(NamedTuple):
    """Cells of directions: meridians and parallels or, at the poles, squares on the planes that touch there."""

    middle: FloatArray
    """(n, 2) longitude and latitude; at the poles x and y."""
    half: FloatArray
    """(n, 2) half of the sides."""
    pole: FloatArray
    """(n,) 1.0 or -1.0 at a pole, else 0.0."""

    def take(self, chosen: BoolArray | slice) -> _DirectionCells:
        return _DirectionCells(self.middle[chosen], self.half[chosen], self.pole[chosen])

    def halve(self, first: BoolArray) -> _DirectionCells:
        """Return the cells cut in two across their first side, where `first` (n,) is true, or the second. Together they
        contain all of the cell, although their middles are rounded."""
        cut = np.where(first[:, None], [1.0, 0.0], [0.0, 1.0])
        half = self.half * (1.0 - 0.5 * cut) + _COVER_OVERLAP * EPS * cut
        step = 0.5 * self.half * cut
        middle = np.concatenate([self.middle - step, self.middle + step])
        return _DirectionCells(middle, np.tile(half, (2, 1)), np.tile(self.pole, 2))


def cover_axis(a: ConvexShape, b: ConvexShape) -> FloatArray:
    """Return the unit vector (3,) that is the axis of cells: that of a body of revolution, else a semi-axis."""
    for shape in (a, b):
        turned = shape.revolution
        if turned is not None and turned.axis is not None:
            return np.array(turned.axis)
    for shape in (a, b):
        core = core_of(shape)
        if isinstance(core, Ellipsoid):
            return core.axes[int(core.semi_axes.argmax())]
    return np.array([0.0, 0.0, 1.0])


def starts_around(a: ConvexShape, b: ConvexShape, normal: FloatArray) -> FloatArray:
    """Return unit directions (k, 3) all around the axis of cells, with the same angle to it as `normal`."""
    axis = cover_axis(a, b)
    along = float(normal @ axis)
    out = np.sqrt(max(0.0, 1.0 - along * along))
    directions = along * axis + out * ring_around(axis, _STARTS)
    return directions / np.linalg.norm(directions, axis=1)[:, None]


def cover(pieces: Pieces, axis: FloatArray, depth: float, most: int = _MOST) -> Cover:
    """Return whether the difference extends at least `depth`, > 0, along every direction.

    `axis` (3,) is the unit vector that is the axis of cells. The search ends early at a direction along which the
    difference extends less, and after `most` cells.
    """
    side = across(axis)[0]
    frame = np.stack([side, np.cross(axis, side), axis])
    turns = (np.arange(16) - 7.5) * (np.pi / 8.0)
    rows = np.array([-0.75, -0.25, 0.25, 0.75]) * _POLE
    band = np.stack([np.tile(turns, 4), np.repeat(rows, 16)], axis=1)
    edge = 1.0 / np.tan(_POLE)
    open_cells = _DirectionCells(
        np.concatenate([band, np.zeros((2, 2))]),
        np.concatenate([np.tile([np.pi / 16.0, 0.25 * _POLE], (64, 1)), np.full((2, 2), edge)]),
        np.concatenate([np.zeros(64), [1.0, -1.0]]),
    )
    # The first cells overlap by more than rounding.
    open_cells = open_cells._replace(half=open_cells.half * (1.0 + 1e-6))
    count, lowest, least = 0, side, float(pieces.heights(side[None])[0])
    while len(open_cells.pole):
        cells, remaining = open_cells.take(slice(0, _CHUNK)), open_cells.take(slice(_CHUNK, None))
        count += len(cells.pole)
        patch = _patches(cells, frame)
        heights = pieces.heights(patch.middle) / np.linalg.norm(patch.middle, axis=1)
        k = int(heights.argmin())
        if heights[k] < least:
            least, lowest = float(heights[k]), patch.middle[k] / np.linalg.norm(patch.middle[k])
        if least < depth or count > most:
            return Cover(False, lowest, count)
        bounds, first_worse = _bounds(pieces, patch, depth)
        slack = COVER_ROUNDING * EPS * pieces.size * (1.0 + (patch.high - patch.low).sum(axis=1))
        fail = ~(bounds >= slack)
        if len(remaining.pole) > 10 * _CHUNK:
            return Cover(False, lowest, count)
        halves = cells.take(fail).halve(first_worse[fail])
        open_cells = _DirectionCells(*(np.concatenate(pair) for pair in zip(halves, remaining, strict=True)))
    return Cover(True, lowest, count)


class _Patches(NamedTuple):
    """Patches of planes whose directions contain those of cells."""

    middle: FloatArray
    """(n, 3)"""
    u: FloatArray
    """(n, 3) unit vectors in the plane."""
    v: FloatArray
    low: FloatArray
    """(n, 2) of the coordinates along u and v from the middle."""
    high: FloatArray


def _patches(cells: _DirectionCells, frame: FloatArray) -> _Patches:
    n = len(cells.pole)
    longitude, latitude = cells.middle.T
    cos_x, sin_x, cos_y, sin_y = np.cos(longitude), np.sin(longitude), np.cos(latitude), np.sin(latitude)
    middle = np.stack([cos_y * cos_x, cos_y * sin_x, sin_y], axis=1)
    u = np.stack([-sin_x, cos_x, np.zeros(n)], axis=1)
    v = np.stack([-sin_y * cos_x, -sin_y * sin_x, cos_y], axis=1)
    wide = cells.half[:, 0]
    ends = latitude + cells.half[:, 1] * np.array([[-1.0], [1.0]])
    # On the tangent plane at the middle a parallel is curved: its ends are as high as a parallel of another latitude.
    heights = np.stack([np.arctan(np.tan(ends) / squeeze) for squeeze in (np.ones(n), np.cos(wide))])
    heights = np.tan(heights.reshape(4, n) - latitude)
    widths = np.sin(wide) * np.cos(ends) / (sin_y * np.sin(ends) + cos_y * np.cos(ends) * np.cos(wide))
    width = widths.max(axis=0)
    low, high = np.stack([-width, heights.min(axis=0)], axis=1), np.stack([width, heights.max(axis=0)], axis=1)
    at_pole = cells.pole != 0.0
    if at_pole.any():
        place = cells.middle[at_pole]
        middle[at_pole] = np.concatenate([place, cells.pole[at_pole, None]], axis=1)
        u[at_pole], v[at_pole] = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
        low[at_pole], high[at_pole] = -cells.half[at_pole], cells.half[at_pole]
    # The frame may be inexact, as it maps all directions to all directions. All else is rounded.
    wider = _COVER_PATCH * EPS
    return _Patches(middle @ frame, u @ frame, v @ frame, low - wider, high + wider)


def _bounds(pieces: Pieces, patch: _Patches, depth: float) -> tuple[FloatArray, BoolArray]:
    """Return a lower bound (n,) of how much the difference exceeds `depth` in each patch, times the length of the
    vector to its middle, and whether cutting across the first side improves it more."""
    middle, u, v, low, high = patch
    corners = np.stack(
        [np.stack([x, y], axis=1) for x in (low[:, 0], high[:, 0]) for y in (low[:, 1], high[:, 1])], axis=1
    )
    # The length of a vector of the patch, which multiplies the depth.
    length = np.linalg.norm(middle, axis=1)
    across_u, across_v = (middle * u).sum(axis=1) / length, (middle * v).sum(axis=1) / length
    slopes = np.stack([across_u, across_v], axis=1)
    shortest = length + np.einsum("nca,na->nc", corners, slopes).min(axis=1)
    form = np.stack([1.0 - across_u**2, 1.0 - across_v**2, -across_u * across_v], axis=1)
    value = (middle @ pieces.centers.T) - depth * length[:, None]
    slope = np.stack([u @ pieces.centers.T, v @ pieces.centers.T], axis=2) - depth * slopes[:, None, :]
    bend = np.repeat(-depth * (form / shortest[:, None])[:, None, :], value.shape[1], axis=1)
    loose = np.repeat((depth * form * (1.0 / shortest - 1.0 / length)[:, None])[:, None, :2], value.shape[1], axis=1)
    for maps in pieces.maps:
        if not maps.any():
            continue
        images, along_u, along_v = (np.einsum("kij,nj->nki", maps, directions) for directions in (middle, u, v))
        reach = np.linalg.norm(images, axis=2)
        # The bound is valid for any unit vector, even one along a vector that is only rounding.
        unit = images / np.where(reach > 0.0, reach, 1.0)[:, :, None]
        p, q = (unit * along_u).sum(axis=2), (unit * along_v).sum(axis=2)
        form = np.stack(
            [
                (along_u * along_u).sum(axis=2) - p * p,
                (along_v * along_v).sum(axis=2) - q * q,
                (along_u * along_v).sum(axis=2) - p * q,
            ],
            axis=2,
        )
        x, y = corners[:, :, 0], corners[:, :, 1]
        ends = images[:, None] + x[:, :, None, None] * along_u[:, None] + y[:, :, None, None] * along_v[:, None]
        # No less than b, so that half of its rounding counts, nor than half of a side's image, with which the rounding
        # of b^2 is compared: every error is within COVER_ROUNDING.
        largest = np.linalg.norm(ends, axis=3).max(axis=1)
        fraction = 1.0 / np.where(largest > 0.0, largest, np.inf)
        value = value + reach
        slope = slope + np.stack([p, q], axis=2)
        bend = bend + form * fraction[:, :, None]
        exact = np.where(reach > 0.0, 1.0 / np.where(reach > 0.0, reach, 1.0), fraction)
        loose = loose + form[:, :, :2] * np.abs(exact - fraction)[:, :, None]
    return _best_mean(value, slope, bend, loose, low, high)


def _best_mean(
    value: FloatArray, slope: FloatArray, bend: FloatArray, loose: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return the least value (n,) of the best of k quadratic forms in each of n rectangles, and of means of two of
    them; and whether cutting the rectangle across its first side improves it more.

    `value` (n, k), `slope` (n, k, 2), `bend` (n, k, 3) and `loose`, the part of `bend` that is lost because rectangles
    are large.
    """
    n, k = value.shape
    half = 0.5 * (high - low)
    best, score = np.full(n, -np.inf), np.full(n, -np.inf)
    first = np.zeros(n, dtype=bool)
    tried: list[tuple[int, int, FloatArray]] = [(i, i, np.ones(n)) for i in range(k)]
    for i, j in combinations(range(k), 2):
        for axis in (0, 1):
            for place in (0.5 * (low + high), low, high):
                # The weights for which the mean is level there along that axis.
                rise, fall = (slope[:, m, axis] + bend[:, m, axis] * place[:, axis] for m in (i, j))
                apart = rise - fall
                tried.append((i, j, np.clip(-fall / np.where(apart == 0.0, 1.0, apart), 0.0, 1.0)))
    for i, j, fraction in tried:
        w, v = fraction[:, None], 1.0 - fraction[:, None]
        mean = w * slope[:, i] + v * slope[:, j]
        bends = w * bend[:, i] + v * bend[:, j]
        least = _least(fraction * value[:, i] + (1.0 - fraction) * value[:, j], mean, bends, low, high)
        lost = np.abs(mean) * half
        # The level one of two that are as good: its error depends on its curvature, so that cells are cut accordingly.
        worth = least - _LEVEL * lost.sum(axis=1)
        lost = lost + 0.5 * (w * loose[:, i] + v * loose[:, j] + np.maximum(-bends[:, :2], 0.0)) * half * half
        better = worth > score
        best[better], score[better] = least[better], worth[better]
        first[better] = (lost[:, 0] >= lost[:, 1])[better]
    return best, first


def _least(value: FloatArray, slope: FloatArray, bend: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return lower bounds of quadratic forms (n,) in rectangles: their least values, to rounding.

    A form that is not convex is least on a side, where it is one of one variable. A convex one is nowhere below its
    tangent planes, and the one at its least point gives the least value. For nearly singular forms that point has few
    correct digits or none, but the tangent plane at any point is a bound; so the best of those at several points is
    one.
    """
    (p, q), (xx, yy, xy) = slope.T, bend.T
    (x0, y0), (x1, y1) = low.T, high.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        det = xx * yy - xy * xy
        convex = (det > 0.0) & (xx > 0.0) & (yy > 0.0)
        inside = np.where(convex, np.clip((xy * q - yy * p) / det, x0, x1), x0)
        places = [(_least_place(p + xy * y, xx, x0, x1), y) for y in (y0, y1)]
        places += [(x, _least_place(q + xy * x, yy, y0, y1)) for x in (x0, x1, inside)]
        heights, tangents = [], []
        for x, y in places:
            g, h = p + xx * x + xy * y, q + yy * y + xy * x
            heights.append(value + 0.5 * ((p + g) * x + (q + h) * y))
            fall = np.minimum(g * (x0 - x), g * (x1 - x)) + np.minimum(h * (y0 - y), h * (y1 - y))
            tangents.append(heights[-1] + fall)
    return np.where(convex, np.max(tangents, axis=0), np.min(heights, axis=0))


def _least_place(slope: FloatArray, bend: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the points of intervals where quadratic forms of one variable (n,) are least."""
    end = np.where(slope + 0.5 * bend * (low + high) >= 0.0, low, high)
    return np.where(bend > 0.0, np.clip(-slope / bend, low, high), end)
