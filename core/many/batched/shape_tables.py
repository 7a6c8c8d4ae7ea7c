# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made once of each of many different shapes: which batch takes it, its bounds, and the tables of batches.

Everything is made when it is first asked for. Tables of hulls grow: only of those that are asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...progress import Progress
from ...shapes.box import Box
from ...shapes.curved_shape import ConvexShape
from ...shapes.diameters import diameters_of
from ...shapes.polytope import Polytope
from ...shapes.shape import Shape
from ...types import BoolArray, FloatArray, IntArray, read_only
from .boxes import BoxColumns
from .hull_table import HullTable
from .sizes import Sizes, corners_of, radii_about_middles


class ShapeTables:
    """Tables of shapes of one dimension."""

    def __init__(self, shapes: tuple[Shape, ...], dim: int) -> None:
        self.shapes, self.dim = shapes, dim
        self._hulls: tuple[HullTable, IntArray] | None = None
        self._diameters: FloatArray = np.full(len(shapes), np.nan)

    def extended(self, shapes: tuple[Shape, ...]) -> ShapeTables:
        """Return tables of these shapes, followed by others, with what has been made of these."""
        new = ShapeTables(shapes, self.dim)
        both = JoinedTables(self, new)
        result = ShapeTables(both.shapes, self.dim)
        result.__dict__.update({name: getattr(both, name) for name in _JOINED if name in self.__dict__})
        result._diameters = np.concatenate([self._diameters, new._diameters])
        if self._hulls is not None:
            result._hulls = self._hulls[0], np.concatenate([self._hulls[1], np.full(len(new), -1)])
        return result

    def __len__(self) -> int:
        """Return the number of shapes."""
        return len(self.shapes)

    @cached_property
    def is_box(self) -> BoolArray:
        """(n,) whether each is a solid box that is not sheared."""
        kinds = (type(s) is Box and s.orthogonal and s.rank == 3 for s in self.shapes)
        result = np.fromiter(kinds, dtype=bool, count=len(self))
        return result & self.sizes.ordinary if result.any() else result

    @cached_property
    def is_polytope(self) -> BoolArray:
        """(n,) whether each is a polytope in space, of any rank."""
        if self.dim < 3:
            return np.zeros(len(self), dtype=bool)
        kinds = (isinstance(s, Polytope) for s in self.shapes)
        return np.fromiter(kinds, dtype=bool, count=len(self)) & self.sizes.ordinary

    @cached_property
    def is_convex(self) -> BoolArray:
        """(n,) whether each is convex, by its class."""
        return np.fromiter((isinstance(s, ConvexShape) for s in self.shapes), dtype=bool, count=len(self))

    @cached_property
    def sizes(self) -> Sizes:
        """Bounding boxes and sizes."""
        return Sizes(*corners_of(self.shapes, self.dim))

    def diameters(self, wanted: IntArray) -> FloatArray:
        """Return the diameters (n,) of the shapes, of those `wanted` (m,) at least; others may be NaN."""
        missing = np.zeros(len(self), dtype=bool)
        missing[wanted] = True
        missing &= np.isnan(self._diameters)
        if (missing & self.is_box).any():
            self._diameters[self.is_box] = self.boxes.diameters
            missing &= ~self.is_box
        new = np.flatnonzero(missing)
        if len(new):
            self._diameters[new] = diameters_of([self.shapes[k] for k in new.tolist()])
        return self._diameters

    @cached_property
    def radii(self) -> FloatArray:
        """(n,) distances from the middles of the bounding boxes that no point of each shape exceeds, and rounding."""
        return radii_about_middles(self.shapes, self.sizes)

    @cached_property
    def place_of_box(self) -> IntArray:
        """(n,) the column of each shape in `boxes`, if it is one."""
        return np.cumsum(self.is_box) - 1

    @cached_property
    def boxes(self) -> BoxColumns:
        """The boxes."""
        numbers = np.flatnonzero(self.is_box)
        chosen = (self.shapes[k] for k in numbers.tolist())
        sizes = self.sizes.take(numbers)
        return BoxColumns.of([shape for shape in chosen if isinstance(shape, Box)], (sizes.low, sizes.high))

    def hulls(self, wanted: IntArray, progress: Progress | None = None) -> tuple[HullTable, IntArray]:
        """Return a table with the polytopes `wanted` (m,) and perhaps others, and the place (n,) of each shape in it.

        Raise Cancelled.
        """
        table, places = (None, np.full(len(self), -1)) if self._hulls is None else self._hulls
        missing = np.zeros(len(self), dtype=bool)
        missing[wanted] = True
        missing &= places < 0
        new = np.flatnonzero(missing)
        if table is None or len(new):
            chosen = (self.shapes[k] for k in new.tolist())
            made = HullTable.of([shape for shape in chosen if isinstance(shape, Polytope)], progress)
            places = places.copy()
            places[new] = (0 if table is None else len(table)) + np.arange(len(new))
            if table is not None:
                made = HullTable.gathered((table, np.arange(len(table))), (made, np.arange(len(new))))
            table = made
            self._hulls = table, places
        return table, places


_JOINED = "is_box", "is_polytope", "is_convex", "sizes", "radii", "boxes"
"""Cached properties of tables that are joined from those of parts."""


class JoinedTables(ShapeTables):
    """The shapes of several tables, one after the other, which keep what is made of them."""

    def __init__(self, *parts: ShapeTables) -> None:
        self._parts = [part for part in parts if len(part)] or parts[:1]
        super().__init__(sum((part.shapes for part in parts), ()), self._parts[0].dim)

    def _joined(self, name: str) -> Any:
        """Return the rows (n,) of all parts."""
        return np.concatenate([getattr(part, name) for part in self._parts], axis=-1)

    is_box = cached_property(lambda self: self._joined("is_box"))
    is_polytope = cached_property(lambda self: self._joined("is_polytope"))
    is_convex = cached_property(lambda self: self._joined("is_convex"))
    radii = cached_property(lambda self: self._joined("radii"))

    @cached_property
    def sizes(self) -> Sizes:
        """As in `ShapeTables`."""
        return Sizes.joined([part.sizes for part in self._parts])

    @cached_property
    def boxes(self) -> BoxColumns:
        """As in `ShapeTables`."""
        return BoxColumns(read_only(np.concatenate([part.boxes.frames for part in self._parts], axis=1)))

    def hulls(self, wanted: IntArray, progress: Progress | None = None) -> tuple[HullTable, IntArray]:
        """As in `ShapeTables`, of those that are wanted."""
        used, sources = np.zeros(len(self), dtype=bool), []
        used[wanted] = True
        first = 0
        for part in self._parts:
            chosen = np.flatnonzero(used[first : first + len(part)])
            table, places = part.hulls(chosen, progress)
            sources.append((table, places.take(chosen)))
            first += len(part)
        return HullTable.gathered(*sources), np.cumsum(used) - 1
