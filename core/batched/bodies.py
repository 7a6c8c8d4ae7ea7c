# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes in their poses: what batches need to know of the bodies that are in pairs.

Boxes and polytopes in poses are transformed as arrays. A box that is sheared or flat in its pose is a polytope as any
other; shapes of all other kinds are transformed one by one, and polytopes too where a pair is solved by itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from ..arguments import as_array
from ..progress import Progress
from ..tolerance import LARGEST_COORDINATE
from ..types import BoolArray, FloatArray, IntArray, read_only
from .boxes import OrientedBoxes
from .hull_table import HullTable
from .shape_tables import ShapeTables
from .sizes import Sizes

if TYPE_CHECKING:
    from ..meshes.solid_facets import Solid


class Bodies:
    """Shapes of tables, each in a pose of its own or as it is."""

    def __init__(self, tables: ShapeTables, index: IntArray, matrices: FloatArray | None, names: IntArray) -> None:
        """Take the shape `index` (n,) and the pose (n, dim + 1, dim + 1) of each body, and the row of `poses` that
        errors name (n,): row k of `other_poses` as -1 - k."""
        self.tables, self.index, self.matrices, self._names = tables, index, matrices, names
        self._shapes: dict[int, Solid] = {}
        self._hulls: tuple[HullTable, IntArray] | None = None

    def __len__(self) -> int:
        """Return the number of bodies."""
        return len(self.index)

    @property
    def dim(self) -> int:
        """Dimension: 2 or 3."""
        return self.tables.dim

    def shape(self, number: int) -> Solid:
        """Return the shape of a body in its pose. Raise ValueError, naming the pose, where it has none."""
        shape = cast("Solid", self.tables.shapes[self.index[number]])
        if self.matrices is None:
            return shape
        if number not in self._shapes:
            try:
                self._shapes[number] = cast("Solid", shape.transformed(self.matrices[number]))
            except ValueError as error:
                row = int(self._names[number])
                words = f"poses: row {row}" if row >= 0 else f"other_poses: row {-1 - row}"
                raise ValueError(f"{words}: {str(error).removeprefix('matrix: ')}") from error
        return self._shapes[number]

    @cached_property
    def is_box(self) -> BoolArray:
        """(n,) whether each is a solid box that is not sheared."""
        return self._boxes[0]

    @cached_property
    def is_polytope(self) -> BoolArray:
        """(n,) whether each is a polytope in space, of any rank."""
        known = self.tables.is_polytope.take(self.index)
        return known if self.matrices is None else known & self.sizes.ordinary

    @cached_property
    def boxes(self) -> tuple[OrientedBoxes, IntArray]:
        """The boxes, and the column (n,) of each body among them, if it is one."""
        return self._boxes[1:]

    @cached_property
    def _boxes(self) -> tuple[BoolArray, OrientedBoxes, IntArray]:
        tables, known = self.tables, self.tables.is_box.take(self.index)
        if self.matrices is None:
            return known, tables.boxes, tables.place_of_box.take(self.index)
        chosen = np.flatnonzero(known)
        solid, boxes = tables.boxes.posed(tables.place_of_box.take(self.index.take(chosen)), *self._affine(chosen))
        known[chosen] = solid
        return known, boxes, np.cumsum(known) - 1

    def hulls(self, wanted: IntArray, progress: Progress | None = None) -> tuple[HullTable, IntArray]:
        """Return a table with the polytopes `wanted` (m,) and perhaps others, and the place (n,) of each body in it.

        Raise Cancelled.
        """
        if self.matrices is None:
            table, places = self.tables.hulls(self.index.take(wanted), progress)
            return table, places.take(self.index)
        if self._hulls is None or (self._hulls[1].take(wanted) < 0).any():
            chosen = np.unique(wanted)
            table, places = self.tables.hulls(self.index.take(chosen), progress)
            posed = table.posed(places.take(self.index.take(chosen)), *self._affine(chosen))
            places = np.full(len(self), -1)
            places[chosen] = np.arange(len(chosen))
            self._hulls = posed, places
        return self._hulls

    @cached_property
    def sizes(self) -> Sizes:
        """Bounding boxes and sizes. Raise ValueError, naming a pose that takes a shape too far."""
        known = self.tables.sizes
        if self.matrices is None:
            same = len(self) == len(self.tables) and np.array_equal(self.index, np.arange(len(self)))
            return known if same else known.take(self.index)
        low, high = np.empty((2, self.dim, len(self)))
        left = np.ones(len(self), dtype=bool)
        if self.dim == 3:
            boxes = np.flatnonzero(self.is_box)
            low[:, boxes], high[:, boxes] = self._boxes[1].bounds()
            polytopes = np.flatnonzero(self.tables.is_polytope.take(self.index) & ~self.is_box)
            with np.errstate(over="ignore", invalid="ignore"):
                table, places = self.hulls(polytopes)
                low[:, polytopes], high[:, polytopes] = (of.take(places[polytopes], axis=1) for of in table.bounds())
                left[boxes] = left[polytopes] = False
                left |= ~((low >= -LARGEST_COORDINATE) & (high <= LARGEST_COORDINATE)).all(axis=0)
        for k in np.flatnonzero(left).tolist():
            low[:, k], high[:, k] = self.shape(k)._bounds_tuples
        sizes = Sizes(low, high)
        if not sizes.ordinary.all():  # squares of lengths in that table may overflow
            self._hulls = None
        return sizes

    def _affine(self, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the linear parts (m, 3, 3) and the offsets (m, 3) of poses."""
        assert self.matrices is not None
        matrices = self.matrices.take(chosen, axis=0)
        return np.ascontiguousarray(matrices[:, :3, :3]), matrices[:, :3, 3]


def validate_poses(name: str, value: object, count: int, dim: int) -> FloatArray:
    """Return a read-only copy of affine matrices (count, dim + 1, dim + 1). Raise ValueError, naming `name`."""
    expected = f"an array ({count}, {dim + 1}, {dim + 1})"
    array = as_array(name, value, expected)  # type: ignore[arg-type]
    if array.shape != (count, dim + 1, dim + 1):
        raise ValueError(f"{name}: {expected}, one matrix for each shape, expected, got the shape {array.shape}")
    wrong = (array[:, dim] != np.eye(dim + 1)[dim]).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{name}: row {row}: the last row must be {', '.join('0' * dim)}, 1, got {array[row, dim].tolist()}"
        )
    return read_only(np.array(array))
