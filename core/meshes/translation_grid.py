# SPDX-License-Identifier: GPL-3.0-or-later
"""Which translations of B may separate two solids, on a grid of them: a bound of the depth, and where to search.

Both solids are voxelized on one lattice; d is a translation of B by whole cells, n(d) the number of cells inside A that
are cells inside B moved by d. For all d at once it is a correlation, by the fast Fourier transform F:

    n(d) = sum_k a(k) b(k - d)      a(k), b(k): 1 for a cell k inside the solid, else 0
    F(n) = F(a) conj(F(b))          padded with zeros, as transforms are cyclic

Two cells that coincide at d overlap for all translations less than a cell from d along each axis: where n(d) > 0, none
in the 2 x 2 x 2 cells of translations around d separates, nor on their sides: no surface enters the two. In the plane:

    +---+---+---+---+---+---+---+
    |   |###|###|###|###|   |   |      x  translations d with n(d) > 0
    +---+---x---+---x---+---+---+      o  no translation, n(0) > 0 too
    |###|###|###|###|###|###|   |      #  no translation in this cell separates
    +---x---+---o---+---x---+---+
    |###|###|###|###|###|###|   |      The nearest cell without # begins 2 cells from o: none
    +---+---x---+---x---+---+---+      shorter separates, and the depth is 2 cells or more.
    |   |###|###|###|###|   |   |
    +---+---+---+---+---+---+---+
    |   |   |   |   |   |   |   |
    +---+---+---+---+---+---+---+

One correlation shows which kinds of cells coincide. Those inside (i) count as w, those that the surface may enter (t,
touched) as 1, and w = 2 + all touched cells of both (`weight`):

    w^2 n_ii + w (n_it + n_ti) + n_tt,      n_it + n_ti <= w - 2,  n_tt < w / 2

is w^2 or more where n_ii > 0, else less than w^2 - w; w or more where one of n_ii, n_it and n_ti is > 0, else less than
w / 2. Where these three are 0, d probably separates: the shortest such d of each region are where to search.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..progress import Progress, report_progress
from ..runs import scattered
from ..types import BoolArray, FloatArray, IntArray
from .body import Body
from .depth_proof import CommonCells, CommonPoints, Lattice
from .voxels import Voxels, surface_points, voxelize

_ALIKE = 1e-9
"""Relative: sizes of meshes that differ by less count as equal."""
_ASIDE = np.array([0.3719, 0.2357, 0.4143])
"""Cells that the lattice is moved by from the middle of the larger mesh: no plane of simple shapes is between cells."""
_COUNTED = 0.75
"""Cells: counts from transforms are whole numbers but for a rounding far below the remaining quarter."""
_INWARD = 1e-9
"""Relative: how much a bound is reduced for the rounding of lengths."""
_TESTED = 1 << 15
"""Pairs of cells tested together."""


class TranslationGrid:
    """Translations of B by whole numbers of cells, up to a length."""

    def __init__(self, a: Body, b: Body, length: float, cells: int, progress: Progress | None = None) -> None:
        """Examine all translations no longer than `length`, with about so many cells."""
        larger = a if a.size >= b.size * (1.0 - _ALIKE) else b
        frame = larger.frame
        self.frame = frame
        """(3, 3) unit vectors, as rows: the axes of the grid."""
        low_a, high_a = _bounds(a, frame)
        low_b, high_b = _bounds(b, frame)
        low, high = (low_a, high_a) if larger is a else (low_b, high_b)
        # Only parts of A and B that such a translation can bring together matter.
        near_a = np.maximum(low_a, low_b - length), np.minimum(high_a, high_b + length)
        near_b = np.maximum(low_b, low_a - length), np.minimum(high_b, high_a + length)
        sides = np.maximum(near_a[1] - near_a[0], near_b[1] - near_b[0]) + length
        self.size = _cell_size(sides, cells)
        """Length of a cell."""
        self._steps = int(length / self.size) + 2
        lattice = Lattice(frame, (0.5 * low + 0.5 * high + _ASIDE * self.size) @ frame, self.size)
        self._lattice = lattice
        origin = lattice.origin @ frame.T
        voxels, ends = [], []
        for body, (low, high) in ((a, near_a), (b, near_b)):
            first = np.floor((low - origin) / self.size).astype(np.intp)
            ends.append(np.floor((high - origin) / self.size).astype(np.intp) + 1)
            x, y, z = (ends[-1] - first).tolist()
            report_progress(progress, 1.0)
            voxels.append(voxelize(body, lattice, first, (x, y, z)))
        self._firsts = voxels[0].first, voxels[1].first
        # Cells of both that overlap wherever they coincide, and near that: of a bare surface those with a point of it.
        self._points: tuple[FloatArray, IntArray] | None = None
        self._of_a = not a.solid
        if a.solid and b.solid:
            self._cells = voxels[0].inside, voxels[1].inside
        else:
            surface, box = (a, voxels[0]) if self._of_a else (b, voxels[1])
            x, y, z = box.touched.shape
            places, points, triangles = surface_points(surface, lattice, box.first, (x, y, z))
            self._points = points, triangles
            self._hits = np.full((x, y, z), -1)
            self._hits[tuple(places.T)] = np.arange(len(places))
            hit = self._hits >= 0
            self._cells = (hit, voxels[1].deep) if self._of_a else (voxels[0].deep, hit)
        report_progress(progress, 1.0)
        self._correlate(voxels[0], voxels[1])
        self.is_resolved = all(of.inside.any() or not body.solid for of, body in zip(voxels, (a, b), strict=True))
        """Whether cells are inside of each solid."""
        self._voxels = voxels[0], voxels[1]

    def _correlate(self, a: Voxels, b: Voxels) -> None:
        """Find the translations that overlap for certain and probably, and how to find those that perhaps do."""
        apart = a.first - b.first
        shape = tuple(
            _transform_size(int(count) + self._steps)
            for count in np.maximum(np.array(a.touched.shape) + apart, np.array(b.touched.shape) - apart)
        )
        steps = np.arange(-self._steps, self._steps + 1)
        rows = [(steps - apart[k]) % shape[k] for k in range(3)]

        def correlate(of_a: FloatArray | BoolArray, of_b: FloatArray | BoolArray) -> FloatArray:
            product, other = (np.fft.rfftn(of.astype(np.float64), shape, axes=(0, 1, 2)) for of in (of_b, of_a))
            np.conj(product, out=product)
            product *= other
            for axis in (0, 1):  # of each axis only the steps are transformed along the next one
                product = np.fft.ifft(product, axis=axis).take(rows[axis], axis=axis)
            return np.fft.irfft(product, shape[2], axis=2).take(rows[2], axis=2)

        weight = 2.0 + a.touched.sum() + b.touched.sum()
        counts = correlate(weight * a.inside + a.touched, weight * b.inside + b.touched)
        self._near = counts > _COUNTED * weight
        if self._points is None:
            self._overlapping = counts > weight * (weight - _COUNTED)
        else:
            self._overlapping = correlate(*self._cells) > _COUNTED
        self._find_touching: Callable[[], BoolArray] = lambda: (
            correlate(a.inside | a.touched, b.inside | b.touched) > _COUNTED
        )

    def deepest(self) -> FloatArray | None:
        """Return a point (3,) deep inside both solids; None where no cell is inside both."""
        return _deepest(self._lattice, *self._voxels)

    @property
    def least(self) -> float:
        """Certified lower bound of the depth; no more than the length that was examined."""
        covered = _any_corner(self._overlapping)
        nearest = float(self._nearness.min(where=~covered, initial=float(self._steps**2)))
        return nearest**0.5 * self.size * (1.0 - _INWARD)

    @property
    def _nearness(self) -> FloatArray:
        """(x, y, z) squares of the least lengths of the translations between whole numbers of cells, in cells."""
        near = np.arange(-self._steps, self._steps, dtype=np.float64)
        near = np.maximum(np.maximum(near, -1.0 - near), 0.0) ** 2
        return near[:, None, None] + near[:, None] + near

    def proof(self) -> CommonCells | CommonPoints:
        """Return the proof of `least`."""
        least = self.least
        needed = self._nearness * self.size**2 < least**2
        # Each translation by whole numbers covers the eight boxes around it: take those that cover the most.
        uses = np.zeros(self._overlapping.shape, dtype=np.int16)
        count = len(needed)
        for x, y, z in np.ndindex(2, 2, 2):
            uses[x : x + count, y : y + count, z : z + count] += needed
        even = np.arange(-self._steps, self._steps + 1) % 2 == 0
        uses = 2 * uses + (even[:, None, None] & even[:, None] & even)
        uses[~self._overlapping] = -1
        boxes = np.ravel_multi_index(np.nonzero(needed), uses.shape)
        around = [np.ravel_multi_index(corner, uses.shape) for corner in np.ndindex(2, 2, 2)]
        corners = boxes[:, None] + around
        chosen = corners[np.arange(len(boxes)), uses.ravel().take(corners).argmax(axis=1)]
        steps = np.stack(np.unravel_index(np.unique(chosen), uses.shape), axis=1) - self._steps
        of_a, of_b = self._common_cells(steps)
        if self._points is None:
            return CommonCells(self._lattice, of_a, of_b, least)
        of_surface, of_solid, first = (of_a, of_b, self._firsts[0]) if self._of_a else (of_b, of_a, self._firsts[1])
        numbers = self._hits[tuple((of_surface - first).T)]
        points, triangles = (of.take(numbers, axis=0) for of in self._points)
        return CommonPoints(self._lattice, self._of_a, points, triangles, of_solid, least)

    def _common_cells(self, steps: IntArray) -> tuple[IntArray, IntArray]:
        """Return a cell inside A and one inside B that B moved by each (k, 3) of these brings there."""
        found = np.zeros_like(steps)
        cells = np.argwhere(self._cells[0])
        cells = cells[scattered(len(cells))]
        # The cells of B in a box in which all of A's are that are moved back by a step: each is one number.
        reach = np.abs(steps).max(axis=0, initial=0)
        low = self._firsts[0] - self._firsts[1] - reach
        there = np.zeros(self._cells[0].shape + 2 * reach, dtype=np.bool_)
        begin, end = np.maximum(low, 0), np.minimum(low + there.shape, self._cells[1].shape)
        if (begin < end).all():
            inner = self._cells[1][tuple(map(slice, begin, end))]
            there[tuple(map(slice, begin - low, end - low))] = inner
        numbers = np.ravel_multi_index(tuple((cells + reach).T), there.shape)
        across = steps @ (np.array(there.strides) // there.itemsize)
        left, begin = np.arange(len(steps)), 0
        while len(left):
            count = max(_TESTED // len(left), 1)
            common = there.take(numbers[begin : begin + count, None] - across.take(left))
            first = common.argmax(axis=0)
            done = common[first, np.arange(len(left))]
            found[left[done]] = cells[first[done] + begin] + self._firsts[0]
            left = left[~done]
            begin += count
        return found, found - steps

    def likely(self, length: float) -> FloatArray:
        """Return the translations (k, 3) no longer than `length` that probably separate and are about the nearest of
        their region, in ascending order."""
        return self._nearest(~self._near, length)

    def certain(self, length: float) -> FloatArray:
        """Return the translations (k, 3) no longer than `length` that certainly separate and are about the nearest of
        their region, in ascending order."""
        return self._nearest(~self._find_touching(), length)

    def _nearest(self, free: BoolArray, length: float) -> FloatArray:
        """Return the translations (k, 3) at local minima of the length among those that are free."""
        squares = np.arange(-self._steps, self._steps + 1, dtype=np.float64) ** 2
        lengths = np.where(free, squares[:, None, None] + squares[:, None] + squares, np.inf)
        least = np.pad(lengths, 1, constant_values=np.inf)
        for _ in range(3):  # along each axis, which then becomes the last one
            least = np.minimum(np.minimum(least[:-2], least[1:-1]), least[2:]).transpose(1, 2, 0)
        nearest = np.flatnonzero((lengths <= least) & (lengths * self.size**2 <= length**2))
        cells: IntArray = np.stack(np.unravel_index(nearest, lengths.shape), axis=1) - self._steps
        # Of equally long ones in an order that does not change when A and B change places.
        x, y, z = cells.T
        order = np.lexsort((y * z > 0, x * y > 0, np.abs(z), np.abs(y), lengths.ravel().take(nearest)))
        translations: FloatArray = (cells.take(order, axis=0) * self.size) @ self._lattice.frame
        return translations


def _any_corner(grid: BoolArray) -> BoolArray:
    """Return for each box between eight neighbours in a grid (x, y, z) whether one of them is True."""
    for _ in range(3):  # along each axis, which then becomes the last one
        grid = (grid[1:] | grid[:-1]).transpose(1, 2, 0)
    return grid


def _cell_size(sides: FloatArray, cells: int) -> float:
    """Return the side of so many cubes that fill a box with these sides, which may be thinner than a cube."""
    thick = np.sort(sides)[::-1] / sides.max()
    for count in (3, 2):
        size = float(thick[:count].prod() / cells) ** (1.0 / count)
        if size <= thick[count - 1]:
            break
    else:
        size = 1.0 / cells
    return size * float(sides.max())


def _deepest(lattice: Lattice, a: Voxels, b: Voxels) -> FloatArray | None:
    """Return the middle of a cell that is deep inside both A and B; None where there is none."""
    first = np.maximum(a.first, b.first)
    count = np.minimum(a.first + a.inside.shape, b.first + b.inside.shape) - first
    if (count <= 0).any():
        return None
    both = [
        of.inside[tuple(slice(begin, begin + n) for begin, n in zip(first - of.first, count, strict=True))]
        for of in (a, b)
    ]
    left = eroded = both[0] & both[1]
    while eroded.any():
        left = eroded
        inner = np.pad(left, 1)
        eroded = left.copy()
        for axis in range(3):
            for k in (0, 2):
                eroded &= np.take(inner, range(k, k + count[axis]), axis)[
                    tuple(slice(None) if other == axis else slice(1, -1) for other in range(3))
                ]
    cells = np.argwhere(left)
    if not len(cells):
        return None
    # Of several the one next to their middle.
    away = cells - cells.mean(axis=0)
    cell = cells[int(np.einsum("ij,ij->i", away, away).argmin())]
    return lattice.points_at(np.add(cell + first, 0.5)[None])[0]


def _bounds(body: Body, frame: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return lowest and highest coordinates (3,) of a body along the axes of a frame."""
    points = frame @ body.mesh.points.T
    return points.min(axis=1), points.max(axis=1)


def _transform_size(count: int) -> int:
    """Return the least whole number >= `count` without prime factors above 5, for which transforms are fast."""
    while True:
        remaining = count
        for factor in (2, 3, 5):
            while remaining % factor == 0:
                remaining //= factor
        if remaining == 1:
            return count
        count += 1
