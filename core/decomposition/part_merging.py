# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a surface that are merged while the hull of two is little more concave than they are."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from .sampled_part import SampledPart, SampledRoom, depths_under
from .surface_parts import joined

_MOST_OUTSIDE = 24_000
"""Samples of the room outside that merged parts are measured by."""
_COARSE = 4
"""Of so many samples one is tested first."""


class PartMerging:
    """Parts, and the cost of merging each two: the concavity that they would have as one."""

    def __init__(self, room: SampledRoom, parts: list[SampledPart]) -> None:
        self._room = room
        self._everything = np.arange(len(room.points))
        self._samples = np.linspace(0, len(room.points) - 1, min(len(room.points), _MOST_OUTSIDE)).astype(np.intp)
        self.parts: dict[int, SampledPart] = {}
        self._number = 0
        self._costs: list[tuple[float, int, int, bool]] = []
        """The cost of each pair, or the least that it may have: the last is whether it is known."""
        for part in parts:
            self.add(part)

    def add(self, part: SampledPart) -> None:
        """Add a part."""
        for number, other in self.parts.items():
            heappush(self._costs, (self._least_cost(other, part), number, self._number, False))
        self.parts[self._number] = part
        self._number += 1

    def merge(self, most: int, concavity: float) -> None:
        """Merge the pair of least cost while it is no more concave than that, or while there are more than `most`."""
        while self._costs and len(self.parts) > 1:
            cost, i, j, known = heappop(self._costs)
            if i not in self.parts or j not in self.parts:
                continue
            if cost > concavity and len(self.parts) <= most:
                heappush(self._costs, (cost, i, j, known))
                return
            one, two = self.parts[i], self.parts[j]
            if not known:
                heappush(self._costs, (max(cost, self._filled(one, two)), i, j, True))
                continue
            del self.parts[i], self.parts[j]
            self.add(
                SampledPart(
                    self._room,
                    joined([one.surface, two.surface]),
                    np.concatenate([one.inner, two.inner]),
                    one.cells + two.cells,
                    np.union1d(one.solid, two.solid),
                    self._everything,
                )
            )

    def _least_cost(self, one: SampledPart, two: SampledPart) -> float:
        """Return what the concavity of two parts as one is at least, by few samples."""
        top, bottom = np.maximum(one.top, two.top), np.minimum(one.bottom, two.bottom)
        depth = max(float(depths_under(part.heights[:, ::_COARSE], top, bottom).max()) for part in (one, two))
        a, b = one.points[:: 2 * _COARSE], two.points[:: 2 * _COARSE]
        count = min(len(a), len(b))
        grid = self._room.grid
        return max(depth, float(grid.distances[grid.cells_at(0.5 * (a[:count] + b[:count][::-1]))].max()))

    def _filled(self, one: SampledPart, two: SampledPart) -> float:
        """Return how far the hull of two parts goes into the room outside."""
        top, bottom = np.maximum(one.top, two.top), np.minimum(one.bottom, two.bottom)
        return float(self._room.distances[self._room.covered(self._samples, top, bottom)].max(initial=0.0))
