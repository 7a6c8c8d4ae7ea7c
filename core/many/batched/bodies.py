# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes in their poses: what batches need to know of the bodies that are in pairs.

Boxes and polytopes in poses are transformed as arrays. A box that is sheared or flat in its pose is a polytope as any
other; shapes of all other kinds are transformed one by one, and polytopes too where a pair is solved by itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from ...progress import Progress
from ...runs import chunks
from ...shapes.diameters import diameters_of
from ...shapes.polytope import Polytope
from ...shapes.shape import even_scales
from ...tolerance import EXTREME_EXPONENT, LARGEST_COORDINATE
from ...types import BoolArray, FloatArray, IntArray, read_only
from .boxes import BoxColumns
from .columns import CHUNK, einsum
from .hull_table import HullTable
from .poses import PoseLabels, affine_rows, pose_label
from .shape_tables import ShapeTables
from .sizes import Sizes

if TYPE_CHECKING:
    from ...meshes.solid_facets import Solid


_EXTREME = 2.0 ** (4 - EXTREME_EXPONENT)
"""Not relative: lengths below this, or beyond its inverse, are looked at in bounding boxes."""


class Bodies:
    """Shapes of tables, each in a pose of its own or as it is."""

    def __init__(
        self, tables: ShapeTables, index: IntArray, poses: FloatArray | None, rows: IntArray, labels: PoseLabels
    ) -> None:
        """Take the shape `index` (n,) of each body, and its row (n,) of the poses (r, dim + 1, dim + 1)."""
        self.tables, self.index = tables, index
        self.poses, self.rows, self.labels = poses, rows, labels
        self._shapes: dict[int, Solid] = {}
        self._diameters: FloatArray = np.full(len(index), np.nan)
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
        if self.poses is None:
            return shape
        if number not in self._shapes:
            row = int(self.rows[number])
            try:
                self._shapes[number] = cast("Solid", shape.transformed(self.poses[row]))
            except ValueError as error:
                raise ValueError(f"{pose_label(self.labels, row)}: {str(error).removeprefix('matrix: ')}") from error
        return self._shapes[number]

    def vertices(self, number: int) -> Solid:
        """Return a polytope of which only vertices are as in its pose, which is all that GJK reads; other shapes as
        `shape` does."""
        shape = self.tables.shapes[self.index[number]]
        if self.poses is None or not self.is_polytope[number] or not isinstance(shape, Polytope):
            return self.shape(number)
        matrix = self.poses[self.rows[number]]
        vertices = read_only(shape.vertices @ matrix[:3, :3].T + matrix[:3, 3])
        faces = shape.edges, shape.edge_facets, shape.facets, shape.normals, shape.offsets
        return Polytope(vertices, shape.rank, *faces)

    @cached_property
    def is_box(self) -> BoolArray:
        """(n,) whether each is a solid box that is not sheared."""
        return self.tables.is_box.take(self.index) if self.poses is None else self._boxes[0]

    @cached_property
    def is_polytope(self) -> BoolArray:
        """(n,) whether each is a polytope in space, of any rank."""
        known = self.tables.is_polytope.take(self.index)
        if self.poses is None:
            return known
        # Bounding boxes are needed only where poses are extreme.
        numbers = np.flatnonzero(known)
        for part in chunks(len(numbers), CHUNK):
            chosen, shapes = self.rows.take(numbers[part]), self.index.take(numbers[part])
            affine = affine_rows(self.poses, chosen)
            stretch = np.sqrt(einsum("rcm,rcm->m", affine[:, :3], affine[:, :3]))
            reach = np.abs(affine[:, 3]).max(axis=0) + stretch * self.tables.sizes.magnitudes.take(shapes)
            least = stretch * self.tables.sizes.extents.take(shapes)
            if not ((reach < 1.0 / _EXTREME) & (least > _EXTREME)).all():
                return known & self.sizes.ordinary
        return known

    @cached_property
    def boxes(self) -> tuple[BoxColumns, IntArray]:
        """The boxes, and the column (n,) of each body among them, if it is one."""
        return self._boxes[1:]

    @cached_property
    def _boxes(self) -> tuple[BoolArray, BoxColumns, IntArray]:
        tables, known = self.tables, self.tables.is_box.take(self.index)
        if self.poses is None:
            return known, tables.boxes, tables.place_of_box.take(self.index)
        chosen = np.flatnonzero(known)
        places = tables.place_of_box.take(self.index.take(chosen))
        solid, boxes = tables.boxes.posed(places, self.poses, self.rows.take(chosen))
        known[chosen] = solid
        columns = np.zeros(len(self), dtype=np.intp)
        columns[known] = np.arange(len(boxes))
        return known, boxes, columns

    def hulls(self, wanted: IntArray, progress: Progress | None = None) -> tuple[HullTable, IntArray]:
        """Return a table with the polytopes `wanted` (m,) and perhaps others, and the place (n,) of each body in it.

        Raise Cancelled.
        """
        if self.poses is None:
            table, places = self.tables.hulls(self.index.take(wanted), progress)
            return table, places.take(self.index)
        if self._hulls is None or (self._hulls[1].take(wanted) < 0).any():
            used = np.zeros(len(self), dtype=bool)
            used[wanted] = True
            chosen = np.flatnonzero(used)
            table, places = self.tables.hulls(self.index.take(chosen), progress)
            posed = table.posed(places.take(self.index.take(chosen)), affine_rows(self.poses, self.rows.take(chosen)))
            places = np.full(len(self), -1)
            places[chosen] = np.arange(len(chosen))
            self._hulls = posed, places
        return self._hulls

    def diameters(self, wanted: IntArray) -> FloatArray:
        """Return the diameters (n,) of the bodies, of those `wanted` (m,) at least; others may be NaN."""
        if self.poses is None:
            return self.tables.diameters(self.index.take(wanted)).take(self.index)
        missing = np.zeros(len(self), dtype=bool)
        missing[wanted] = True
        missing &= np.isnan(self._diameters)
        if not missing.any():
            return self._diameters
        if self.dim == 3:
            known, boxes, _ = self._boxes
            self._diameters[known] = boxes.diameters
            missing &= ~known
            turned = np.flatnonzero(missing)
            scale = even_scales(affine_rows(self.poses, self.rows.take(turned))[:, :3])
            turned, scale = turned[scale > 0.0], scale[scale > 0.0]
            shapes = self.index.take(turned)
            self._diameters[turned] = scale * self.tables.diameters(shapes).take(shapes)
            missing[turned] = False
        numbers = np.flatnonzero(missing)
        if len(numbers):
            self._diameters[numbers] = diameters_of([self.vertices(k) for k in numbers.tolist()])
        return self._diameters

    @cached_property
    def sizes(self) -> Sizes:
        """Bounding boxes and sizes. Raise ValueError, naming a pose that takes a shape too far."""
        known = self.tables.sizes
        if self.poses is None:
            same = len(self) == len(self.tables) and np.array_equal(self.index, np.arange(len(self)))
            return known if same else known.take(self.index)
        low, high = np.empty((2, self.dim, len(self)))
        left = np.ones(len(self), dtype=bool)
        if self.dim == 3:
            boxes = np.flatnonzero(self.is_box)
            low[:, boxes], high[:, boxes] = self._boxes[1].bounds()
            polytopes = np.flatnonzero(self.tables.is_polytope.take(self.index) & ~self.is_box)
            with np.errstate(over="ignore", invalid="ignore"):
                if len(polytopes):
                    table, places = self.hulls(polytopes)
                    corners = (of.take(places.take(polytopes), axis=1) for of in table.bounds())
                    low[:, polytopes], high[:, polytopes] = corners
                left[boxes] = left[polytopes] = False
                left |= ~((low >= -LARGEST_COORDINATE) & (high <= LARGEST_COORDINATE)).all(axis=0)
        for k in np.flatnonzero(left).tolist():
            low[:, k], high[:, k] = self.shape(k)._bounds_tuples
        sizes = Sizes(low, high)
        if not sizes.ordinary.all():  # squares of lengths in that table may overflow
            self._hulls = None
        return sizes
