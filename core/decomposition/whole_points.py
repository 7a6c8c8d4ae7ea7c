# SPDX-License-Identifier: GPL-3.0-or-later
"""Points as integers, for turns and crossings that floats leave unclear."""

from __future__ import annotations

from functools import cached_property
from math import frexp

import numpy as np
from numpy.typing import NDArray

from ..runs import chunks
from ..tolerance import CONVEX_TURN, EPS
from ..types import FloatArray, IntArray

CHUNK = 16_000
"""Turns or edges computed in one go."""
UNDERFLOW = 1e-290
"""Products of coordinates up to 1 that are smaller may have lost digits."""


class WholePoints:
    """Points as integers, without any rounding, computed on demand."""

    def __init__(self, points: FloatArray) -> None:
        self._points = points
        smallest = np.abs(points[points != 0.0]).min(initial=1.0)
        self.bits = max(0, 53 - frexp(float(smallest))[1])
        """A coordinate is the integer times 2**-bits."""
        self._known: dict[int, tuple[int, ...]] = {}

    def __getitem__(self, i: int) -> tuple[int, ...]:
        point = self._known.get(i)
        if point is None:
            point = self._known[i] = tuple(self.whole(x) for x in self._points[i].tolist())
        return point

    def whole(self, x: float) -> int:
        """Return x times 2**bits."""
        numerator, denominator = x.as_integer_ratio()
        return numerator << (self.bits + 1 - denominator.bit_length())

    def turn(self, a: int, b: int, c: int) -> int:
        """Return > 0 when points a, b, c of the plane turn left, 0 when they are on one line."""
        (ax, ay), (bx, by), (cx, cy) = self[a], self[b], self[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    @cached_property
    def scaled(self) -> FloatArray:
        """The points divided by a power of two, so that the largest coordinate is about 1."""
        return np.ldexp(self._points, -frexp(float(np.abs(self._points).max()))[1])

    def turns(self, a: IntArray, b: IntArray, c: IntArray) -> NDArray[np.int8]:
        """Return 1 where points a, b, c of the plane turn left, -1 where right, 0 where they are on one line."""
        p = self.scaled
        signs = np.empty(len(a), dtype=np.int8)
        for indices in chunks(len(a), CHUNK):
            i, j, k = a[indices], b[indices], c[indices]
            start = p.take(i, axis=0)
            u, v = p.take(j, axis=0) - start, p.take(k, axis=0) - start
            left, right = u[:, 0] * v[:, 1], u[:, 1] * v[:, 0]
            turn = left - right
            sign = np.sign(turn).astype(np.int8)
            unclear = np.flatnonzero(np.abs(turn) <= CONVEX_TURN * EPS * (np.abs(left) + np.abs(right)) + UNDERFLOW)
            for n in unclear.tolist():
                value = self.turn(int(i[n]), int(j[n]), int(k[n]))
                sign[n] = (value > 0) - (value < 0)
            signs[indices] = sign
        return signs
