# SPDX-License-Identifier: GPL-3.0-or-later
"""Voxels of a solid: the cells of a regular grid that its surface may enter, and those that are wholly inside of it.

1. Each triangle marks the columns of cells that it may enter, along the axis nearest to its normal, from its
   lowest to its highest point above each.
2. Cells that no triangle enters and that are connected by faces are all inside or all outside: one point decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..connected import connected_parts
from ..runs import ranges
from ..tolerance import EPS
from ..types import BoolArray, FloatArray, IntArray
from .body import Body
from .depth_proof import Lattice
from .vectors import corner_rows

_ROUNDING = 64.0
"""Times EPS and the largest coordinate, over the size of a cell: how much triangles are widened, in cells."""
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


def voxelize(body: Body, lattice: Lattice, first: IntArray, shape: tuple[int, int, int]) -> Voxels:
    """Return the voxels of a body in a box of `shape` cells of a lattice, from cell `first` (3,) on."""
    mesh = body.mesh
    rounding = _ROUNDING * EPS * (mesh.magnitude + float(np.abs(lattice.origin).max())) / lattice.size
    if rounding > _WIDEST:
        return Voxels(first, np.ones(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_))
    corners = corner_rows(lattice.cells_from(mesh.points) - first, mesh.triangles)
    touched = _touched_cells(corners, shape, rounding)
    return Voxels(first, touched, _inside_cells(body, lattice, first, touched))


def _touched_cells(corners: FloatArray, shape: tuple[int, int, int], rounding: float) -> BoolArray:
    """Return the cells that triangles (corner, axis, m), in cells and widened by `rounding` cells, may enter."""
    counts = np.array(shape)[:, None]
    low, high = corners.min(axis=0), corners.max(axis=0)
    near = np.flatnonzero(((low <= counts + rounding) & (high >= -rounding)).all(axis=0))
    corners, low, high = corners.take(near, axis=2), low.take(near, axis=1), high.take(near, axis=1)
    first = np.maximum(np.floor(low - rounding), 0.0).astype(np.intp)
    last = np.minimum(np.floor(high + rounding), counts - 1.0).astype(np.intp)
    p, q, r = corners
    u, v = q - p, r - p
    normals = u[[1, 2, 0]] * v[[2, 0, 1]] - u[[2, 0, 1]] * v[[1, 2, 0]]
    steepest = np.abs(normals).argmax(axis=0)
    touched = np.zeros(shape, dtype=np.bool_)
    for up in range(3):
        axes = [(up + 1) % 3, (up + 2) % 3, up]
        indices = np.flatnonzero(steepest == up)
        rows = np.ix_(np.array(axes), indices)
        dimensions = [shape[axis] for axis in axes]
        found = _touched_columns(
            corners[:, axes].take(indices, axis=2), normals[rows], first[rows], last[rows], dimensions, rounding
        )
        touched |= found.transpose(np.argsort(axes))
    return touched


def _touched_columns(
    corners: FloatArray, normals: FloatArray, first: IntArray, last: IntArray, shape: list[int], rounding: float
) -> BoolArray:
    """Return the cells that triangles (corner, axis, m) may enter whose normals (axis, m) are steepest along the last
    axis; the cells of their boxes are `first` to `last` (axis, m)."""
    # The columns of cells along the last axis, in the box of each triangle.
    sides = np.maximum(last - first + 1, 0)
    triangles = np.repeat(np.arange(len(sides[0])), sides[0] * sides[1])
    number = ranges(np.zeros(len(sides[0]), dtype=np.intp), sides[0] * sides[1])
    across = sides[1].take(triangles)
    x = number // across
    y = number - x * across
    x += first[0].take(triangles)
    y += first[1].take(triangles)
    # Those that are on the inner side of the three edges, or on both sides of one.
    turn = np.sign(normals[2])
    crossed = np.ones(len(triangles), dtype=np.bool_)
    for k in range(3):
        start, end = corners[k], corners[(k + 1) % 3]
        over_x, over_y = turn * (start[1] - end[1]), turn * (end[0] - start[0])
        offset = (0.5 + rounding) * (np.abs(over_x) + np.abs(over_y))
        offset -= over_x * (start[0] - 0.5) + over_y * (start[1] - 0.5)
        crossed &= over_x.take(triangles) * x + over_y.take(triangles) * y + offset.take(triangles) >= 0.0
    columns = np.flatnonzero(crossed)
    triangles, x, y = triangles.take(columns), x.take(columns), y.take(columns)
    # How high the plane is in the column; where there is no area, anywhere.
    flat = normals[2] != 0.0
    height = np.where(flat, normals[2], 1.0)
    slope_x, slope_y = np.where(flat, -normals[0] / height, 0.0), np.where(flat, -normals[1] / height, 0.0)
    reach = np.where(flat, 0.5 * (np.abs(slope_x) + np.abs(slope_y)), np.inf) + 4.0 * rounding
    level = corners[0, 2] - slope_x * (corners[0, 0] - 0.5) - slope_y * (corners[0, 1] - 0.5)
    middle = level.take(triangles) + slope_x.take(triangles) * x + slope_y.take(triangles) * y
    reach = reach.take(triangles)
    begin = np.maximum(np.floor(middle - reach), first[2].take(triangles)).astype(np.intp)
    end = np.minimum(np.floor(middle + reach), last[2].take(triangles)).astype(np.intp)
    columns = np.flatnonzero(begin <= end)
    # Runs of cells: how many begin, less how many have ended.
    base = (x.take(columns) * shape[1] + y.take(columns)) * (shape[2] + 1)
    size = shape[0] * shape[1] * (shape[2] + 1)
    change = np.bincount(base + begin.take(columns), minlength=size)
    change -= np.bincount(base + end.take(columns) + 1, minlength=size)
    touched: BoolArray = change.cumsum().reshape(shape[0], shape[1], shape[2] + 1)[:, :, :-1] > 0
    return touched


def _inside_cells(body: Body, lattice: Lattice, first: IntArray, touched: BoolArray) -> BoolArray:
    """Return the cells that are wholly inside the solid: those connected without a touched one share their side."""
    inside = np.zeros(touched.shape, dtype=np.bool_)
    free = ~touched
    if not (body.solid and free.any()):
        return inside
    # Runs of free cells along the last axis are numbered, and linked where they are side by side.
    begins = free.copy()
    begins[:, :, 1:] &= touched[:, :, :-1]
    run = begins.ravel().cumsum().reshape(free.shape) - 1
    count = int(run[-1, -1, -1]) + 1
    links = []
    for before, after in ((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:])):
        beside = free[before] & free[after]
        pairs = np.stack([run[before][beside], run[after][beside]], axis=1)
        links.append(pairs[np.diff(pairs, axis=0, prepend=-1).any(axis=1)])
    part = connected_parts(np.concatenate(links), count)
    heads = np.flatnonzero(part == np.arange(count))
    cells = np.stack(np.nonzero(begins), axis=1).take(heads, axis=0)
    solid = np.zeros(count, dtype=np.bool_)
    solid[heads] = body.contains(lattice.points_at(np.add(cells + first, 0.5)))
    inside[free] = solid.take(part).take(run[free])
    return inside
