# SPDX-License-Identifier: GPL-3.0-or-later
"""An index of unit vectors by direction: round shapes have thousands of ties."""

from __future__ import annotations

from bisect import bisect_left

_X, _Y, _Z = 0.36, 0.48, 0.8
"""The vectors are sorted by their height along this one, which few directions of real shapes have in common. No
component is above 1: vectors nearer to each other than `width` differ by less in height."""

_FEW = 12  # up to this number a linear search is faster


class Directions:
    """Unit vectors, numbered in the order of insertion."""

    __slots__ = ("_heights", "_numbers", "_vectors")

    def __init__(self) -> None:
        self._vectors: list[tuple[float, float, float]] = []
        self._heights: list[float] = []  # sorted, and the vector of each; empty while they are few
        self._numbers: list[int] = []

    def add(self, x: float, y: float, z: float) -> None:
        """Add a vector, with the next number."""
        vectors = self._vectors
        vectors.append((x, y, z))
        if len(vectors) > _FEW:
            for number in range(len(self._heights), len(vectors)):
                x, y, z = vectors[number]
                height = _X * x + _Y * y + _Z * z
                place = bisect_left(self._heights, height)
                self._heights.insert(place, height)
                self._numbers.insert(place, number)

    def find(self, x: float, y: float, z: float, width: float) -> int | None:
        """Return the first vector whose components differ by no more than `width` in sum; None when there is none."""
        vectors, heights = self._vectors, self._heights
        if not heights:
            for number, (p, q, r) in enumerate(vectors):
                if abs(p - x) + abs(q - y) + abs(r - z) <= width:
                    return number
            return None
        height = _X * x + _Y * y + _Z * z
        found = None
        # mutant: epa-ties-found-in-the-wrong-place
        for place in range(bisect_left(heights, height - width), len(heights)):
            if heights[place] > height + width:
                break
            number = self._numbers[place]
            p, q, r = vectors[number]
            if abs(p - x) + abs(q - y) + abs(r - z) <= width and (found is None or number < found):
                found = number
        return found
