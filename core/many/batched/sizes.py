# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding boxes and sizes of many shapes, which the tolerances of pairs are relative to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...shapes.polytope import Polytope
from ...shapes.shape import Shape
from ...tolerance import EPS, EXTREME_EXPONENT, PROMISE_EXTENT, PROMISE_RELATIVE, PROMISE_ROUNDING, SUPPORT_ROUNDING
from ...types import BoolArray, FloatArray, IntArray
from ...vectors import length
from .columns import einsum


class Sizes:
    """Bounding boxes and sizes of shapes, of which there must be one."""

    def __init__(self, low: FloatArray, high: FloatArray) -> None:
        """Take the lowest and highest corners (dim, n) of the bounding boxes."""
        self.low, self.high = low, high
        """(dim, n) lowest and highest corners."""
        sides = high - low
        longest = sides.max(axis=0)
        scaled = sides / np.where(longest > 0.0, longest, 1.0)  # squares neither overflow nor vanish
        self.extents = longest * length(scaled)
        """(n,) diagonals."""
        self.magnitudes = np.maximum(np.abs(low), np.abs(high)).max(axis=0)
        """(n,) largest coordinates."""
        most = 2.0 ** (EXTREME_EXPONENT - 2)
        self.ordinary = (longest > 1.0 / most) & (self.magnitudes < most)
        """(n,) whether squares and cubes of lengths neither overflow nor vanish."""

    @classmethod
    def joined(cls, parts: Sequence[Sizes]) -> Sizes:
        """Return the sizes of the shapes of all parts."""
        result = cls.__new__(cls)
        for name in vars(parts[0]):
            setattr(result, name, np.concatenate([getattr(part, name) for part in parts], axis=-1))
        return result

    def take(self, numbers: IntArray) -> Sizes:
        """Return the sizes of shapes `numbers` (m,)."""
        return Sizes(self.low.take(numbers, axis=1), self.high.take(numbers, axis=1))

    def overlap(self, i: IntArray, j: IntArray) -> BoolArray:
        """Return (n,) whether bounding boxes of i (n,) and j (n,) overlap."""
        low = np.maximum(self.low.take(i, axis=1), self.low.take(j, axis=1))
        high = np.minimum(self.high.take(i, axis=1), self.high.take(j, axis=1))
        result: BoolArray = np.logical_and.reduce(low <= high, axis=0)
        return result

    def inside(self, i: IntArray, j: IntArray, slack: FloatArray) -> BoolArray:
        """Return (n,) whether bounding boxes of i (n,) stick out of those of j (n,) by no more than `slack` (n,)."""
        below = self.low.take(j, axis=1) - self.low.take(i, axis=1)
        above = self.high.take(i, axis=1) - self.high.take(j, axis=1)
        return np.maximum(below, above).max(axis=0) <= slack

    def bands(
        self, i: IntArray, j: IntArray, diameters: FloatArray, contact_tolerance: float | FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return of pairs i (n,) and j (n,) `contact_band`, the smaller extent and the larger magnitude (n,).

        diameters: of the shapes, as far as they are in pairs.
        """
        magnitude = np.maximum(self.magnitudes.take(i), self.magnitudes.take(j))
        small = np.minimum(self.extents.take(i), self.extents.take(j))
        sizes = diameters.take(i), diameters.take(j)
        smaller = np.minimum(*sizes)
        band = contact_tolerance * np.where(smaller > 0.0, smaller, np.maximum(*sizes))
        return np.maximum(band, promised_many(np.zeros(1), small, magnitude)), small, magnitude


def corners_of(shapes: Sequence[Shape], dim: int) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest corners (dim, n) of the bounding boxes of shapes."""
    low, high = np.empty((2, dim, len(shapes)))
    is_polytope = np.fromiter((isinstance(shape, Polytope) for shape in shapes), dtype=bool, count=len(shapes))
    polytopes = [shape.vertices for shape in shapes if isinstance(shape, Polytope)]
    if polytopes:
        count = np.fromiter(map(len, polytopes), dtype=np.intp, count=len(polytopes))
        vertices, first = np.ascontiguousarray(np.concatenate(polytopes).T), np.cumsum(count) - count
        low[:, is_polytope] = np.minimum.reduceat(vertices, first, axis=1)
        high[:, is_polytope] = np.maximum.reduceat(vertices, first, axis=1)
    if len(polytopes) < len(shapes):
        corners = np.array([shape._bounds_tuples for shape in shapes if not isinstance(shape, Polytope)])
        low[:, ~is_polytope], high[:, ~is_polytope] = corners.transpose(1, 2, 0)
    return low, high


def radii_about_middles(shapes: Sequence[Shape], sizes: Sizes) -> FloatArray:
    """Return distances (n,) from the middles of the bounding boxes that no point of each shape exceeds."""
    radii = 0.5 * sizes.extents
    numbers = [k for k, shape in enumerate(shapes) if isinstance(shape, Polytope)]
    if numbers:
        polytopes = [shape.vertices for shape in shapes if isinstance(shape, Polytope)]
        count = np.fromiter(map(len, polytopes), dtype=np.intp, count=len(polytopes))
        middles = (0.5 * sizes.low + 0.5 * sizes.high)[:, numbers]
        offsets = np.concatenate(polytopes).T - np.repeat(middles, count, axis=1)
        with np.errstate(over="ignore"):
            squares = np.maximum.reduceat(einsum("cv,cv->v", offsets, offsets), np.cumsum(count) - count)
        radii[numbers] = np.where(sizes.ordinary[numbers], np.sqrt(squares), radii[numbers])
    result: FloatArray = radii * (1.0 + SUPPORT_ROUNDING * EPS)
    return result


def promised_many(signed_distance: FloatArray, extent: FloatArray, magnitude: FloatArray) -> FloatArray:
    """Return `promised` of each of many pairs (n,)."""
    return PROMISE_RELATIVE * np.abs(signed_distance) + PROMISE_EXTENT * extent + PROMISE_ROUNDING * EPS * magnitude
