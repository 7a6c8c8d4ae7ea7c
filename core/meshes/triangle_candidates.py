# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of two meshes may meet: those whose axis-aligned boxes overlap.

Where both meshes have their trees already, these are descended. Else no tree is built: what is not in the common box of
both is left out, again and again, and the few that remain go through the broad phase.
"""

from __future__ import annotations

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..hierarchy.bvh_pairs import tree_pairs
from ..progress import Progress
from ..shapes.polytope import FloatArray, IntArray
from ..tolerance import BROAD_MARGIN, EPS
from .mesh import Mesh

CELL_WIDER = 1.001
"""Times the largest box: width of a cell, with room for rounding."""

_FEW = 200  # boxes, or cells, from which it pays to look at cells first
_CELLS = 64  # along an axis at most


def triangle_candidates(a: Mesh, b: Mesh, progress: Progress | None = None) -> IntArray:
    """Return the pairs (p, 2) of a triangle of A and one of B whose boxes overlap, touching included, ascending."""
    if "tree" in a.__dict__ and "tree" in b.__dict__:
        return tree_pairs(a.tree, b.tree, progress=progress).pairs
    sides = [_columns(mesh) for mesh in (a, b)]
    low = np.maximum(*(points.min(axis=1) for points in sides))
    high = np.minimum(*(points.max(axis=1) for points in sides))
    kept = [_inside(points, mesh.triangles, low, high) for points, mesh in zip(sides, (a, b), strict=True)]
    if not (len(kept[0]) and len(kept[1])):
        return np.empty((0, 2), dtype=np.intp)
    boxes = [_boxes(points, mesh.triangles, some) for points, mesh, some in zip(sides, (a, b), kept, strict=True)]
    for side, some in enumerate(_near(boxes)):
        kept[side] = kept[side].take(some)
        boxes[side] = boxes[side].take(some, axis=2)
    found = candidate_pairs(*(side.T for box in boxes for side in box), method="bvh", progress=progress).pairs
    pairs = np.empty_like(found)
    for side in range(2):
        kept[side].take(found[:, side], out=pairs[:, side])
    return pairs


def _near(boxes: list[FloatArray]) -> list[IntArray]:
    """Return which boxes of two sets have one of the other set near: all that overlap one, and some more.

    Cells are at least as large as the largest box, so boxes that overlap begin in the same cell or in neighbours.
    """
    everything: list[IntArray] = [np.arange(box.shape[2]) for box in boxes]
    if min(map(len, everything)) < _FEW:
        return everything
    low = np.maximum(*(box[0].min(axis=1) for box in boxes))
    high = np.minimum(*(box[1].max(axis=1) for box in boxes))
    width = max(float((box[1] - box[0]).max()) for box in boxes)
    reach = max(float(np.abs(low).max()), float(np.abs(high).max()), width)
    cell = max(CELL_WIDER * width + BROAD_MARGIN * EPS * reach, float((high - low).max()) / _CELLS)
    if cell == 0.0:
        return everything  # all of them are one point, the origin
    counts = [int(n) + 3 for n in np.maximum(high - low, 0.0) / cell]
    if counts[0] * counts[1] * counts[2] < _FEW:
        return everything  # boxes as large as these are everywhere
    codes = []
    for box in boxes:
        code = np.zeros(box.shape[2], dtype=np.intp)
        for x in range(3):
            number = box[0, x] - (low[x] - cell)
            number /= cell
            np.clip(number, 0.0, counts[x] - 1.0, out=number)
            code *= counts[x]
            code += number.astype(np.intp)
        codes.append(code)
    result = []
    for mine, other in (codes, codes[::-1]):
        full = np.zeros((counts[0], counts[1], counts[2]), dtype=np.bool_)
        full.ravel()[other] = True
        for x in range(3):
            wide = full.copy()
            ahead, behind = [slice(None)] * 3, [slice(None)] * 3
            ahead[x], behind[x] = slice(1, None), slice(None, -1)
            wide[tuple(ahead)] |= full[tuple(behind)]
            wide[tuple(behind)] |= full[tuple(ahead)]
            full = wide
        result.append(np.flatnonzero(full.ravel().take(mine)))
    return result


def own_candidates(mesh: Mesh, progress: Progress | None = None) -> IntArray:
    """Return the pairs (p, 2) of triangles of one mesh, the smaller number first, whose boxes overlap, ascending."""
    if "tree" in mesh.__dict__:
        return tree_pairs(mesh.tree, progress=progress).pairs
    low, high = _boxes(_columns(mesh), mesh.triangles, np.arange(len(mesh.triangles)))
    return candidate_pairs(low.T, high.T, progress=progress).pairs


def _columns(mesh: Mesh) -> FloatArray:
    """Return the points as (3, n)."""
    return np.ascontiguousarray(mesh.points.T)


def _inside(points: FloatArray, triangles: IntArray, low: FloatArray, high: FloatArray) -> IntArray:
    """Return the triangles whose boxes overlap a box."""
    if (low > high).any():
        return np.zeros(0, dtype=np.intp)
    # A bit for each side of the box that a point is beyond: a triangle whose corners share one is outside.
    beyond = np.zeros(points.shape[1], dtype=np.uint8)
    for x in range(3):
        beyond |= (points[x] < low[x]).view(np.uint8) << np.uint8(2 * x)
        beyond |= (points[x] > high[x]).view(np.uint8) << np.uint8(2 * x + 1)
    if not beyond.any():
        return np.arange(len(triangles))
    shared = beyond.take(triangles[:, 0])
    shared &= beyond.take(triangles[:, 1])
    shared &= beyond.take(triangles[:, 2])
    return np.flatnonzero(shared == 0)


def _boxes(points: FloatArray, triangles: IntArray, some: IntArray) -> FloatArray:
    """Return lowest and highest coordinates (2, 3, k) of some triangles."""
    result = np.empty((2, 3, len(some)))
    low, high = result
    if len(some) < len(triangles):
        triangles = triangles.take(some, axis=0)
    one = np.empty((3, len(some)))
    for k in range(3):
        ids = np.ascontiguousarray(triangles[:, k])
        for x in range(3):
            if k == 0:
                points[x].take(ids, out=low[x], mode="clip")
                high[x] = low[x]
                continue
            points[x].take(ids, out=one[x], mode="clip")
            np.minimum(low[x], one[x], out=low[x])
            np.maximum(high[x], one[x], out=high[x])
    return result
