# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of convex pieces that are outside the union of others, cut off facet by facet: containment and volume."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..types import FloatArray

_MOST_CELLS = 4_000


def is_covered(inner: Sequence[Polytope], outer: Sequence[Polytope], slack: float) -> bool:
    """Return whether every inner piece is inside the union of the outer ones, each grown by `slack`; world units.

    Only full-dimensional pieces have an interior. Also False where the decision takes more than some thousand cells.
    """
    outer = [piece for piece in outer if piece.rank == piece.dim]
    if not outer:
        return False
    left = [_MOST_CELLS]
    # Corners first: they are fast to test, and usually one of them is outside.
    corners = np.concatenate([piece.vertices for piece in inner])
    for piece in outer:
        corners = corners[_heights(piece, corners).max(axis=1) > slack]
    if len(corners):
        return False
    return not any(True for piece in inner for _ in _cells_outside(piece, piece.rank, outer, slack, left))


def union_moments(pieces: Sequence[Polytope]) -> tuple[float, FloatArray]:
    """Return the volume (in the plane the area) of a union of pieces, and its first moment (dim,) about the origin."""
    volume, moment = 0.0, np.zeros(pieces[0].dim)
    solid = [piece for piece in pieces if piece.rank == piece.dim]
    for k, piece in enumerate(solid):
        for cell in _cells_outside(piece, piece.rank, solid[:k], 0.0, [10**9]):
            volume += cell.volume
            moment += cell.volume * cell.centroid
    return volume, moment


def _heights(piece: Polytope, points: FloatArray) -> FloatArray:
    """Return the heights (n, f) of points (n, dim) above each facet of a piece."""
    return (points - piece.center) @ piece.normals.T - piece.offsets


def _cells_outside(
    cell: Polytope, rank: int, outer: list[Polytope], slack: float, left: list[int]
) -> Iterator[Polytope]:
    """Yield the parts of a cell that are outside of all outer pieces and not of lower rank.

    `left[0]` is the number of cuts that may still be made; at 0, the cell itself is yielded.
    """
    low, high = cell.bounds
    near = [
        piece for piece in outer if (piece.bounds[0] - slack <= high).all() and (piece.bounds[1] + slack >= low).all()
    ]
    heights = [_heights(piece, cell.vertices) for piece in near]
    # The piece that contains most of the cell's corners is likely to leave the least.
    order = sorted(range(len(near)), key=lambda k: -int((heights[k].max(axis=1) <= slack).sum()))
    for place, k in enumerate(order):
        above = heights[k] - slack
        if (above <= 0.0).all():
            return
        if (above.min(axis=0) >= 0.0).any():
            continue
        others = [near[m] for m in order[place + 1 :]]
        remainder: Polytope = cell
        for facet in np.flatnonzero(above.max(axis=0) > 0.0).tolist():
            left[0] -= 1
            if left[0] < 0:
                yield remainder
                return
            level = _heights(near[k], remainder.vertices)[:, facet] - slack
            if level.max() <= 0.0:
                continue
            if level.min() >= 0.0:
                yield from _cells_outside(remainder, rank, others, slack, left)
                return
            cut = _cut(remainder, level)
            outside = ConvexHull(np.concatenate((remainder.vertices[level >= 0.0], cut)))
            if outside.rank >= rank:
                yield from _cells_outside(outside, rank, others, slack, left)
            inside = ConvexHull(np.concatenate((remainder.vertices[level <= 0.0], cut)))
            if inside.rank < rank:
                break
            remainder = inside
        return
    yield cell


def _cut(cell: Polytope, level: FloatArray) -> FloatArray:
    """Return the points where the edges of a cell cross the plane of level 0."""
    p, q = cell.edges[:, 0], cell.edges[:, 1]
    crossing = (level[p] < 0.0) != (level[q] < 0.0)
    p, q = p[crossing], q[crossing]
    with np.errstate(invalid="ignore", divide="ignore"):
        fraction = np.clip(level[p] / (level[p] - level[q]), 0.0, 1.0)
    return cell.vertices[p] + fraction[:, None] * (cell.vertices[q] - cell.vertices[p])
