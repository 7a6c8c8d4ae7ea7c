# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact regions of many pairs: arrays, of which a `Region` is made on access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np

from ...region.region import Region, RegionKind
from ...types import FloatArray, IntArray

RANKS = {RegionKind.POINT: 0, RegionKind.SEGMENT: 1, RegionKind.POLYGON: 2}
"""Dimension of each kind of region."""


@dataclass(frozen=True, eq=False)
class RegionMeasures:
    """What many regions have in common, as arrays."""

    rank: IntArray
    """(n,) 0 point, 1 segment, 2 polygon; -1 where there is no region."""
    area: FloatArray
    """(n,) 0.0 for points and segments, and without a region."""
    centroid: FloatArray
    """(n, 3) NaN without a region."""


class RegionSource(Protocol):
    """Regions of some pairs as arrays."""

    def region(self, k: int) -> Region:
        """Return the region of pair k; the same object each time."""
        ...

    def measures(self, pairs: IntArray) -> RegionMeasures:
        """Return the measures of the regions of pairs (n,)."""
        ...


class Regions(Sequence[Region | None]):
    """The region of each row; None where there is none."""

    def __init__(self, count: int) -> None:
        """Take the number of rows, of which no region is known."""
        self._source = np.full(count, -1)
        self._place = np.zeros(count, dtype=np.intp)
        self._sources: list[RegionSource] = []
        self._single: dict[int, Region] = {}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._source)

    @overload
    def __getitem__(self, row: int) -> Region | None: ...

    @overload
    def __getitem__(self, row: slice) -> tuple[Region | None, ...]: ...

    def __getitem__(self, row: int | slice) -> Region | tuple[Region | None, ...] | None:
        """Return the region of a row, or those of a slice."""
        if isinstance(row, slice):
            return tuple(self[k] for k in range(*row.indices(len(self))))
        source = int(self._source[row])
        if source >= 0:
            return self._sources[source].region(int(self._place[row]))
        return self._single.get(row % len(self))

    def measures(self, rows: IntArray) -> RegionMeasures:
        """Return the measures of the regions of rows (n,), in space, without making the regions."""
        rank, area, centroid = np.full(len(rows), -1), np.zeros(len(rows)), np.full((len(rows), 3), np.nan)
        sources = self._source.take(rows)
        for number in np.unique(sources[sources >= 0]).tolist():
            chosen = np.flatnonzero(sources == number)
            found = self._sources[number].measures(self._place.take(rows[chosen]))
            rank[chosen], area[chosen], centroid[chosen] = found.rank, found.area, found.centroid
        for k in np.flatnonzero(sources < 0).tolist():
            region = self._single.get(int(rows[k]))
            if region is not None:
                rank[k], area[k], centroid[k] = RANKS[region.kind], region.area, region.centroid
        return RegionMeasures(rank, area, centroid)

    def store(self, row: int, region: Region | None) -> None:
        """Keep the region of a row."""
        if region is not None:
            self._single[row] = region

    def store_rows(self, rows: IntArray, source: RegionSource, places: IntArray) -> None:
        """Keep where the regions of rows (n,) are: pairs `places` (n,) of a source."""
        self._source[rows], self._place[rows] = len(self._sources), places
        self._sources.append(source)

    def take_over(self, rows: IntArray, other: Regions, before: IntArray) -> None:
        """Keep regions of rows `before` (n,) of others for `rows` (n,)."""
        old = other._source[before]
        for number in np.unique(old[old >= 0]).tolist():
            chosen = np.flatnonzero(old == number)
            self.store_rows(rows[chosen], other._sources[number], other._place[before[chosen]])
        for k in np.flatnonzero(np.isin(before, list(other._single))).tolist() if other._single else ():
            self._single[int(rows[k])] = other._single[int(before[k])]
