# SPDX-License-Identifier: GPL-3.0-or-later
"""Oriented boxes around many groups of points or boxes at once, along given axes or the best of a few.

Source: S3.1; Gottschalk, Lin, Manocha, "OBBTree" (1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runs import group_chunks
from ..tolerance import EPS
from ..types import FloatArray, IntArray
from ..vectors import dot
from .obb_axes import box_score, complete_frames

OBB_ROUNDING = 16.0
"""Times EPS and the sum of the sides: oriented boxes are wider by this, and it bounds the error of their separating
axes. Axes are unit vectors and perpendicular to a few EPS; two products of three terms each."""
_CHUNK = 1 << 14
"""Points or boxes processed at once."""


def frames_of_three(points: FloatArray, starts: IntArray, sizes: IntArray) -> FloatArray:
    """Return frames (g, dim, dim) along the longest side of groups of one, two or three points, and their plane."""
    items = starts[:, None] + np.minimum(np.arange(3), sizes[:, None] - 1)
    p = points[items]
    sides = p[:, (1, 2, 0)] - p
    largest = np.abs(sides).max(axis=(1, 2))
    sides = np.ldexp(sides, -np.frexp(largest)[1][:, None, None])
    squares = (sides * sides).sum(axis=2)
    longest = squares.argmax(axis=1)
    every = np.arange(len(starts))
    along, next_ = sides[every, longest], sides[every, (longest + 1) % 3]
    return complete_frames(along, next_)


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
        rows = self.center if from_ is None else self.center - np.repeat(from_, self.sizes, axis=1)
        axes = np.repeat(frames.transpose(2, 1, 0), self.sizes, axis=2)
        least = most = dot(axes, rows[:, None])
        if self.arms is not None:
            reach = sum(np.abs(dot(axes, self.arms[:, arm, None])) for arm in range(len(rows)))
            least, most = least - reach, most + reach
        return np.minimum.reduceat(least, self.starts, axis=1), np.maximum.reduceat(most, self.starts, axis=1)

    def sides(self, frames: FloatArray) -> FloatArray:
        """Return the sides (dim, g) of boxes along frames (g, dim, dim)."""
        low, high = self.spans(frames)
        return high - low

    def principal(self) -> FloatArray:
        """Return the principal axes (g, dim, dim) of the items' points or corners."""
        mean = np.add.reduceat(self.center, self.starts, axis=1) / self.sizes
        away = self.center - np.repeat(mean, self.sizes, axis=1)
        i, j = np.tril_indices(len(away))  # all that eigh reads
        products = away[i] * away[j]
        if self.arms is not None:
            products += (self.arms[i] * self.arms[j]).sum(axis=1)
        covariance = np.zeros((len(self.starts), len(away), len(away)))
        covariance[:, i, j] = np.add.reduceat(products, self.starts, axis=1).T
        return np.ascontiguousarray(np.linalg.eigh(covariance)[1].transpose(0, 2, 1))

    def boxes(self, frames: FloatArray, origin: FloatArray, exponent: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return centres (g, dim), world frame, and half sides (g, dim) of boxes along frames around the items."""
        low, high = self.spans(frames)
        middle = 0.5 * low + 0.5 * high
        local = dot(np.ascontiguousarray(frames.transpose(1, 2, 0)), middle[:, None])
        with np.errstate(under="ignore"):
            center = origin + np.ldexp(local, exponent)
            # The centre is rounded: the half sides are measured from where it is.
            low, high = self.spans(frames, np.ldexp(center - origin, -exponent))
            half = np.maximum(np.maximum(-low, high), 0.0)
            half += OBB_ROUNDING * EPS * half.sum(axis=0)
            # A side that is rounded to 0 here still has a width.
            half = np.where(half > 0.0, np.nextafter(np.ldexp(half, exponent), np.inf), 0.0)
        return np.ascontiguousarray(center.T), np.ascontiguousarray(half.T)


def boxes_along(points: FloatArray, starts: IntArray, frames: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centres, axes and half sides of boxes around groups of points, along given frames (g, dim, dim)."""
    center, half = np.empty(frames.shape[:2]), np.empty(frames.shape[:2])
    for groups, chunk in group_chunks(starts, len(points), _CHUNK):
        items, origin, exponent = _Items.of(points[chunk], None, None, starts[groups] - chunk.start)
        center[groups], half[groups] = items.boxes(frames[groups], origin, exponent)
    return center, frames, half


def fit_boxes(
    centers: FloatArray, axes: FloatArray, halves: FloatArray, starts: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centres, axes and half sides of small boxes around groups of boxes, group i from box starts[i] on."""
    dim = centers.shape[1]
    center, half, frames = np.empty((len(starts), dim)), np.empty((len(starts), dim)), np.empty((len(starts), dim, dim))
    for groups, chunk in group_chunks(starts, len(centers), _CHUNK):
        first = starts[groups] - chunk.start
        items, origin, exponent = _Items.of(centers[chunk], axes[chunk], halves[chunk], first)
        last = first + items.sizes - 1
        best = axes[chunk][first]
        least = box_score(items.sides(best))
        world = np.broadcast_to(np.eye(dim), best.shape)
        for choice in (axes[chunk][last], items.principal(), world):
            score = box_score(items.sides(choice))
            better = score < least
            best[better], least[better] = choice[better], score[better]
        frames[groups] = best
        center[groups], half[groups] = items.boxes(best, origin, exponent)
    return center, frames, half
