# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of two meshes may meet: those whose axis-aligned boxes overlap.

Of few triangles all pairs are compared. Where both meshes have their trees already, these are descended. Else what is
outside the common box of both is left out, then what begins in no cell near one in which a triangle of the other mesh
begins: in small whole numbers, of which one integer has room for 3. The few that remain, or all where the meshes nearly
coincide, get boxes and a tree for this once.
Source: L. Lamport, Multiple byte processing with full-word instructions, 1975.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..broad_phase.box_pairs import Boxes, PairList
from ..broad_phase.candidate_pairs import candidate_pairs
from ..broad_phase.linear_bvh import find_tree_pairs
from ..progress import Progress, subrange
from ..types import BoolArray, FloatArray, IntArray
from .mesh import Mesh
from .surface import overlapping_triangles

PackedArray = NDArray[np.int32]

_BITS = 9
"""Of a coordinate as a number of steps; the next bit of its field is spare."""
_FIELD = _BITS + 1
_LAST = (1 << _BITS) - 1
_ONE = 1 | 1 << _FIELD | 1 << 2 * _FIELD
"""1 in all fields."""
_SPARE = _ONE << _BITS
"""All spare bits."""

FEW_PAIRS = 4_000
"""Pairs of triangles that are all compared, which is faster than to make or to descend trees."""
_CHUNK = 1 << 15  # points or triangles looked at in one go: what is made of them on the way fits the cache
_FEW = 200  # triangles, or cells, from which it pays to look at cells first
_CELLS = 100  # along an axis at most
_ROOMY = 8  # cells per triangle at most


def triangle_candidates(a: Mesh, b: Mesh, progress: Progress | None = None) -> IntArray:
    """Return the pairs (2, p) of a triangle of A and one of B whose boxes overlap, touching included, ascending."""
    if len(a.triangles) * len(b.triangles) <= FEW_PAIRS:
        (low, high), (other_low, other_high) = (_boxes(mesh, np.arange(len(mesh.triangles))) for mesh in (a, b))
        met = (low[..., None] <= other_high[:, None]) & (other_low[:, None] <= high[..., None])
        return np.array(np.nonzero(met.all(axis=0)))
    if a.has_tree and b.has_tree:
        return overlapping_triangles(a, b, progress).T
    kept = _in_common(a, b)
    if not (len(kept[0]) and len(kept[1])):
        return np.empty((2, 0), dtype=np.intp)
    boxes = [Boxes(_boxes(mesh, indices)) for mesh, indices in zip((a, b), kept, strict=True)]
    found = PairList(boxes[0], boxes[1], 0.0)
    find_tree_pairs(boxes[0], boxes[1], found, progress=subrange(progress, 0.0, 1.0))
    pairs = found.sorted_pairs()
    for row, indices, mesh in zip(pairs, kept, (a, b), strict=True):
        if len(indices) < len(mesh.triangles):
            indices.take(row, out=row, mode="clip")
    return pairs


def own_candidates(mesh: Mesh, progress: Progress | None = None) -> IntArray:
    """Return the pairs (2, p) of triangles of one mesh, the smaller number first, whose boxes overlap, ascending."""
    if mesh.has_tree:
        return mesh.tree.overlapping_pairs(progress=progress).pairs.T
    low, high = _boxes(mesh, np.arange(len(mesh.triangles)))
    return candidate_pairs(low.T, high.T, progress=progress).pairs.T


def _in_common(a: Mesh, b: Mesh) -> list[IntArray]:
    """Return the triangles of each of two meshes that have one of the other near: all whose boxes overlap, and more.

    Corners are rounded to steps along the sides of the common box of both meshes. Rounding keeps their order, so boxes
    that overlap still do.
    """
    low, high = np.maximum(a.reach[0], b.reach[0]), np.minimum(a.reach[1], b.reach[1])
    if (low > high).any():
        return [np.zeros(0, dtype=np.intp)] * 2
    # Step 0 is below the common box, the last one beyond it.
    scale = (_LAST - 2) / np.maximum(high - low, 1e-290)
    sides = [_within(_steps(mesh.points, low, scale), mesh.triangles) for mesh in (a, b)]
    kept = [side.triangles for side in sides]
    if min(map(len, kept)) < _FEW:
        return kept
    # Cells at least as wide as any box: boxes that overlap begin in the same cell or in neighbours.
    room = _ROOMY * (len(kept[0]) + len(kept[1]))
    widths = np.maximum(np.maximum(sides[0].widest, sides[1].widest), _LAST // _CELLS).tolist()
    while True:
        counts = [_LAST // width + 1 for width in widths]
        size = counts[0] * counts[1] * counts[2]
        if size <= room:
            break
        widths = [width + width // 8 + 1 for width in widths]
    if size < _FEW:
        return kept  # boxes as large as these are everywhere
    cells = [_cells(side.low, widths, counts) for side in sides]
    return [
        indices.take(np.flatnonzero(_around(other, counts).take(own)))
        for indices, own, other in zip(kept, cells, cells[::-1], strict=True)
    ]


def _steps(points: FloatArray, low: FloatArray, scale: FloatArray) -> PackedArray:
    """Return (n,) how many steps each point is from the low corner, and one more, 0 to _LAST; three fields a number."""
    result = np.empty(len(points), dtype=np.int32)
    room = np.empty((3, min(len(points), _CHUNK)))
    with np.errstate(over="ignore"):  # infinite is beyond the last step
        for begin in range(0, len(points), _CHUNK):
            packed = result[begin : begin + _CHUNK]
            rough = room[:, : len(packed)]
            np.subtract(points[begin : begin + _CHUNK].T, low[:, None], out=rough)
            rough *= scale[:, None]
            rough += 1.0
            np.clip(rough, 0.0, _LAST, out=rough)
            x, y, z = rough.astype(np.int32)
            np.left_shift(z, 2 * _FIELD, out=packed)
            y <<= _FIELD
            packed |= y
            packed |= x
    return result


class _Within(NamedTuple):
    """The triangles of a mesh whose boxes reach into the common box."""

    triangles: IntArray
    """(k,) their numbers."""
    low: PackedArray
    """(k,) low corners of their boxes, in steps."""
    widest: IntArray
    """(3,) how many steps there are from the low end of a box to its high end, at most."""


def _within(steps: PackedArray, triangles: IntArray) -> _Within:
    """Return those that are not below the common box, or beyond it, along an axis."""
    kept, lows, widest = [], [], np.zeros(3, dtype=np.intp)
    for begin in range(0, len(triangles), _CHUNK):
        p, q, r = (steps.take(triangles[begin : begin + _CHUNK, k], mode="clip") for k in range(3))
        # All corners in step 0, or all in the last one: that sets the spare bit.
        below = p | q
        below |= r
        np.subtract(_SPARE, below, out=below)
        beyond = p & q
        beyond &= r
        beyond += _ONE
        beyond |= below
        beyond &= _SPARE
        indices = np.flatnonzero(beyond == 0)
        p, q, r = p.take(indices), q.take(indices), r.take(indices)
        low, high = _sorted(p, q)
        low, high = _sorted(low, r)[0], _sorted(high, r)[1]
        indices += begin
        kept.append(indices)
        lows.append(low)
        high -= low
        for axis in range(3):
            widest[axis] = max(widest[axis], (high >> axis * _FIELD & _LAST).max(initial=0))
    return _Within(np.concatenate(kept), np.concatenate(lows), widest)


def _sorted(p: PackedArray, q: PackedArray) -> tuple[PackedArray, PackedArray]:
    """Return the smaller and the larger one of two numbers, field by field."""
    smaller = q | _SPARE
    smaller -= p
    smaller &= _SPARE  # where p is not above q
    smaller -= smaller >> _BITS  # the other bits of these fields
    differ = p ^ q
    differ &= smaller
    return q ^ differ, p ^ differ


def _cells(low: PackedArray, widths: list[int], counts: list[int]) -> PackedArray:
    """Return the number (k,) of the cell that each corner is in, so many steps wide."""
    result = np.zeros(len(low), dtype=np.int32)
    for axis, (width, count) in enumerate(zip(widths, counts, strict=True)):
        cell = low >> axis * _FIELD
        cell &= _LAST
        cell //= width
        result *= count
        result += cell
    return result


def _around(cells: PackedArray, counts: list[int]) -> BoolArray:
    """Return for each cell of a grid whether it or a neighbour is among some."""
    full = np.zeros(tuple(counts), dtype=np.bool_)
    full.ravel()[cells] = True
    for x in range(3):
        wide = full.copy()
        ahead, behind = [slice(None)] * 3, [slice(None)] * 3
        ahead[x], behind[x] = slice(1, None), slice(None, -1)
        wide[tuple(ahead)] |= full[tuple(behind)]
        wide[tuple(behind)] |= full[tuple(ahead)]
        full = wide
    return full.ravel()


def _boxes(mesh: Mesh, indices: IntArray) -> FloatArray:
    """Return lowest and highest coordinates (2, 3, k) of some triangles."""
    result = np.empty((2, 3, len(indices)))
    triangles = mesh.triangles if len(indices) == len(mesh.triangles) else mesh.triangles.take(indices, axis=0)
    for begin in range(0, len(indices), _CHUNK):
        ids = triangles[begin : begin + _CHUNK].T * 3
        corners = mesh.points.ravel().take(np.array([ids, ids + 1, ids + 2]), mode="clip")  # axis, corner, triangle
        corners.min(axis=1, out=result[0, :, begin : begin + _CHUNK])
        corners.max(axis=1, out=result[1, :, begin : begin + _CHUNK])
    return result
