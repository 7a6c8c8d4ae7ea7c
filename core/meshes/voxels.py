# SPDX-License-Identifier: GPL-3.0-or-later
"""Voxels of a solid: the cells of a regular grid that its surface may enter, and those that are wholly inside of it.

1. Each triangle marks the columns of cells that it may enter, along the axis nearest to its normal, from its
   lowest to its highest point above each.
2. Cells that no triangle enters and that are connected by faces are all inside or all outside: one point decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..connected import connected_parts
from ..runs import ranges
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray
from .body import Body
from .coordinates import corner_rows
from .depth_proof import Lattice

_ROUNDING = 64.0
"""Times EPS and the largest coordinate, over the size of a cell: how much triangles are widened, in cells."""
_MARGIN = 1e-3
"""Cells: points of a surface are so far from the sides of their cell and from the edges of their triangle."""
_WIDEST = 0.25
"""Cells: where triangles have to be widened by more, all cells count as touched."""


@dataclass(frozen=True, eq=False)
class Voxels:
    """A box of cells of a lattice, and what a body is in each."""

    first: IntArray
    """(3,) the first cell of the box."""
    touched: BoolArray
    """(x, y, z) whether the surface may enter the cell: False is certain."""
    inside: BoolArray
    """(x, y, z) whether the whole cell is inside the solid: True is certain."""

    @property
    def deep(self) -> BoolArray:
        """(x, y, z) whether a cell and all around it are inside the solid."""
        deep = np.pad(self.inside, 1)
        for axis in range(3):
            count = deep.shape[axis] - 2
            parts = [np.take(deep, range(k, k + count), axis) for k in range(3)]
            deep = parts[0] & parts[1] & parts[2]
        return deep


def voxelize(body: Body, lattice: Lattice, first: IntArray, shape: tuple[int, int, int]) -> Voxels:
    """Return the voxels of a body in a box of `shape` cells of a lattice, from cell `first` (3,) on."""
    mesh = body.mesh
    rounding = _ROUNDING * EPS * (mesh.magnitude + float(np.abs(lattice.origin).max())) / lattice.size
    if rounding > _WIDEST:
        return Voxels(first, np.ones(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_))
    corners = corner_rows(lattice.cells_from(mesh.points) - first, mesh.triangles)
    touched = _touched_cells(corners, shape, rounding)
    return Voxels(first, touched, _inside_cells(body, lattice, first, touched))


def surface_points(
    body: Body, lattice: Lattice, first: IntArray, shape: tuple[int, int, int]
) -> tuple[IntArray, FloatArray, IntArray]:
    """Return points of the surface of a body, one in each of many of the cells that it enters: the cells (k, 3), the
    points (k, 3), world frame, and the triangles (k,) that they are on."""
    mesh = body.mesh
    corners = corner_rows(lattice.cells_from(mesh.points) - first, mesh.triangles)
    spots, owners = [corners[k].T for k in range(3)], [np.arange(corners.shape[2])] * 3
    columns = _columns_of(corners, shape, 0.0, -_MARGIN)
    middles = np.empty((len(columns.x), 3))
    for axis, along in zip(columns.axes, (columns.x + 0.5, columns.y + 0.5, columns.height), strict=True):
        middles[np.arange(len(axis)), axis] = along
    planes = np.flatnonzero(np.isfinite(columns.reach))
    spots.append(middles.take(planes, axis=0))
    owners.append(columns.triangles.take(planes))
    points, triangles = np.concatenate(spots), np.concatenate(owners)
    cells = np.floor(points)
    # Not so near to the side of a cell that rounding could put it into the next one.
    sure = (np.abs(points - cells - 0.5) <= 0.5 - _MARGIN).all(axis=1)
    sure &= ((cells >= 0) & (cells < shape)).all(axis=1)
    indices = np.flatnonzero(sure)
    whole: IntArray = cells.take(indices, axis=0).astype(np.intp)
    _, one = np.unique(np.ravel_multi_index(tuple(whole.T), shape), return_index=True)
    indices = indices.take(one)
    return whole.take(one, axis=0), lattice.points_at(points.take(indices, axis=0) + first), triangles.take(indices)


def _touched_cells(corners: FloatArray, shape: tuple[int, int, int], rounding: float) -> BoolArray:
    """Return the cells that triangles (corner, axis, m), in cells and widened by `rounding` cells, may enter."""
    touched = np.zeros(shape, dtype=np.bool_)
    columns = _columns_of(corners, shape, rounding, 0.5 + rounding)
    first, last = columns.range
    begin = np.maximum(np.floor(columns.height - columns.reach), first).astype(np.intp)
    counts = np.maximum(np.minimum(np.floor(columns.height + columns.reach), last).astype(np.intp) + 1 - begin, 0)
    step_x, step_y, step = np.array(touched.strides).take(columns.axes)
    cells = np.repeat(columns.x * step_x + columns.y * step_y, counts) + ranges(begin, counts) * np.repeat(step, counts)
    touched.ravel()[cells] = True
    return touched


class _Columns(NamedTuple):
    """Columns of cells and triangles above or below them; in cells."""

    axes: IntArray
    """(3, k) the axes that `x`, `y` and the height are along."""
    triangles: IntArray
    """(k,) the triangle."""
    x: IntArray
    """(k,) number of the column along the first of the axes."""
    y: IntArray
    """(k,) the same along the second."""
    height: FloatArray
    """(k,) of the plane of the triangle over the middle of the column."""
    reach: FloatArray
    """(k,) how far the plane is from there in the column, at most."""
    range: tuple[IntArray, IntArray]
    """(k,) the first and the last cell of the triangle along the last axis."""


def _columns_of(corners: FloatArray, shape: tuple[int, int, int], rounding: float, margin: float) -> _Columns:
    """Return the columns along the axis nearest to the normals of triangles (corner, axis, m), whose middles, with a
    square of `margin` around them, are not beyond an edge; a negative margin: that are inside by so much."""
    counts = np.array(shape)[:, None]
    low, high = corners.min(axis=0), corners.max(axis=0)
    near = np.flatnonzero(((low <= counts + rounding) & (high >= -rounding)).all(axis=0))
    inside, low, high = corners.take(near, axis=2), low.take(near, axis=1), high.take(near, axis=1)
    first = np.maximum(np.floor(low - rounding), 0.0).astype(np.intp)
    last = np.minimum(np.floor(high + rounding), counts - 1.0).astype(np.intp)
    p, q, r = inside
    u, v = q - p, r - p
    normals = u[[1, 2, 0]] * v[[2, 0, 1]] - u[[2, 0, 1]] * v[[1, 2, 0]]
    axes = (np.abs(normals).argmax(axis=0) + np.array([[1], [2], [0]])) % 3
    turned = axes * len(near) + np.arange(len(near))
    normals, first, last = (rows.ravel().take(turned) for rows in (normals, first, last))
    inside = inside.reshape(3, -1).take(turned, axis=1)
    of, x, y = _columns_over(inside, normals, first, last, margin)
    (a, b, c), base = normals, inside[0]
    # Where there is no area the plane is anywhere.
    flat = c != 0.0
    c = np.where(flat, c, 1.0)
    slope_x, slope_y = np.where(flat, -a / c, 0.0), np.where(flat, -b / c, 0.0)
    level = base[2] + slope_x * (0.5 - base[0]) + slope_y * (0.5 - base[1])
    reach = np.where(flat, 0.5 * (np.abs(slope_x) + np.abs(slope_y)), np.inf) + 4.0 * rounding
    slope_x, slope_y, height, reach = np.stack([slope_x, slope_y, level, reach]).take(of, axis=1)
    height += slope_x * x
    height += slope_y * y
    return _Columns(axes.take(of, axis=1), near.take(of), x, y, height, reach, (first[2].take(of), last[2].take(of)))


def _columns_over(
    corners: FloatArray, normals: FloatArray, first: IntArray, last: IntArray, margin: float
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the triangles (corner, axis, m) and the columns, x and y, over which they are."""
    sides = np.maximum(last - first + 1, 0)
    triangles = np.repeat(np.arange(len(sides[0])), sides[0] * sides[1])
    number = ranges(np.zeros(len(sides[0]), dtype=np.intp), sides[0] * sides[1])
    across = sides[1].take(triangles)
    x = number // across
    y = number - x * across
    x += first[0].take(triangles)
    y += first[1].take(triangles)
    turn = np.sign(normals[2])
    over = np.ones(len(triangles), dtype=np.bool_)
    for k in range(3):
        start, end = corners[k], corners[(k + 1) % 3]
        over_x, over_y = turn * (start[1] - end[1]), turn * (end[0] - start[0])
        offset = margin * (np.abs(over_x) + np.abs(over_y))
        offset -= over_x * (start[0] - 0.5) + over_y * (start[1] - 0.5)
        along_x, along_y, beyond = np.stack([over_x, over_y, offset]).take(triangles, axis=1)
        along_x *= x
        along_x += along_y * y
        along_x += beyond
        over &= along_x >= 0.0
    columns = np.flatnonzero(over)
    return triangles.take(columns), x.take(columns), y.take(columns)


def _inside_cells(body: Body, lattice: Lattice, first: IntArray, touched: BoolArray) -> BoolArray:
    """Return the cells that are wholly inside the solid: those connected without a touched one share their side."""
    inside = np.zeros(touched.shape, dtype=np.bool_)
    free = ~touched
    if not (body.solid and free.any()):
        return inside
    # Runs of free cells along the last axis are numbered, and linked where they begin to be side by side.
    begins = free.copy()
    begins[:, :, 1:] &= touched[:, :, :-1]
    run = np.cumsum(begins, dtype=np.int32).reshape(free.shape) - np.int32(1)
    count = int(run[-1, -1, -1]) + 1
    links = []
    for before, after in ((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:])):
        beside = begins[before] | begins[after]
        beside &= free[before]
        beside &= free[after]
        cells = np.flatnonzero(beside)
        links.append(np.stack([run[before].ravel().take(cells), run[after].ravel().take(cells)], axis=1))
    part = connected_parts(np.concatenate(links), count)
    heads = np.flatnonzero(part == np.arange(count))
    cells = np.stack(np.unravel_index(np.flatnonzero(begins).take(heads), free.shape), axis=1)
    solid = np.zeros(count, dtype=np.bool_)
    solid[heads] = body.contains(lattice.points_at(np.add(cells + first, 0.5)))
    return solid.take(part).take(run, mode="clip") & free
