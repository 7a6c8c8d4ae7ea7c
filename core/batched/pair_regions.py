# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact regions of many pairs: arrays, of which a `Region` is made when a row is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, overload

import numpy as np

from ..region.region import Region
from ..types import IntArray


class RegionSource(Protocol):
    """Regions of some pairs as arrays."""

    def region(self, k: int) -> Region:
        """Return the region of pair k; the same object each time."""
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
