# SPDX-License-Identifier: GPL-3.0-or-later
"""The volume of the overlap of compounds: of all pairs of pieces, less what two of these have in common.

Where pieces have no common interior, as those of a decomposition, that is what rounding leaves, and the sum is exact.
Otherwise it is a lower bound, and the sum of all pairs an upper one (Bonferroni's inequalities).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..compounds.compound import Compound
from ..compounds.covered import union_moments
from ..contact import contact
from ..shapes.curved_shape import ConvexShape
from ..shapes.polytope import Polytope
from ..tolerance import EPS, OVERLAP_SUM
from ..types import FloatArray
from .volume_record import OverlapVolume, none_overlaps

_TOUCHING = 1e-9
"""Times the extent: pieces this deep in each other only touch, and have a slab in common at most."""


class _PieceOverlap(NamedTuple):
    """The overlap of a piece of A and a piece of B."""

    pieces: tuple[int, int]
    low: FloatArray
    high: FloatArray
    found: OverlapVolume


def compound_overlap(
    a: Compound, b: Compound, convex: Callable[[ConvexShape, ConvexShape], OverlapVolume]
) -> OverlapVolume:
    """Return the volume in which two compounds overlap; `convex` returns that of two of their pieces."""
    cells = []
    for i, j in candidate_pairs(a.lows, a.highs, b.lows, b.highs).pairs.tolist():
        low, high = np.maximum(a.lows[i], b.lows[j]), np.minimum(a.highs[i], b.highs[j])
        if (low < high).all():
            found = convex(a.pieces[i], b.pieces[j])
            if found.upper:
                cells.append(_PieceOverlap((i, j), low, high, found))
    if not cells:
        return none_overlaps()
    sizes = np.array([(cell.found.lower, cell.found.volume, cell.found.upper) for cell in cells], dtype=np.float64)
    lower, volume, upper = sizes.sum(axis=0)
    common, is_plain = _common(a, b, cells, convex)
    rounding = OVERLAP_SUM * EPS * float(upper)
    lower, upper = max(0.0, float(sizes[:, 0].max()), float(lower) - common - rounding), float(upper) + rounding
    bodies = [cell.found.body for cell in cells if cell.found.body is not None]
    if not is_plain and len(bodies) == len(cells):
        volume, moment = union_moments(bodies)
    else:
        moment = np.zeros(a.dim)
        for cell, size in zip(cells, sizes[:, 1].tolist(), strict=True):
            moment += size * cell.found.centroid if cell.found.centroid is not None else 0.0
    centroid = moment / volume if volume > 0.0 else None
    return OverlapVolume(min(max(float(volume), lower), upper), lower, upper, centroid)


def _common(
    a: Compound, b: Compound, cells: list[_PieceOverlap], convex: Callable[[ConvexShape, ConvexShape], OverlapVolume]
) -> tuple[float, bool]:
    """Return at least what any two of the cells have in common, in sum, and whether they only touch each other."""
    depths: dict[tuple[int, int, int], float] = {}

    def depth(side: int, i: int, j: int) -> float:
        """Return how deep two pieces of A, or of B, are inside each other at most."""
        key = side, min(i, j), max(i, j)
        if key not in depths:
            pieces = (a, b)[side].pieces
            depths[key] = max(0.0, -contact(pieces[i], pieces[j]).lower_bound)
        return depths[key]

    total, is_plain = 0.0, True
    lows, highs = np.array([cell.low for cell in cells]), np.array([cell.high for cell in cells])
    for m, n in candidate_pairs(lows, highs).pairs.tolist():
        one, two = cells[m], cells[n]
        sides = np.minimum(one.high, two.high) - np.maximum(one.low, two.low)
        if not (sides > 0.0).all():
            continue
        shadow = float(sides.sum()) if a.dim == 2 else float(sides @ np.roll(sides, 1))
        others = zip((0, 1), one.pieces, two.pieces, strict=True)
        thickness = min(depth(side, i, j) for side, i, j in others if i != j)
        most = min(one.found.upper or 0.0, two.found.upper or 0.0, thickness * shadow)
        if thickness > _TOUCHING * min(a.extent, b.extent):
            is_plain = False
            bodies = one.found.body, two.found.body
            if isinstance(bodies[0], Polytope) and isinstance(bodies[1], Polytope):
                most = min(most, convex(bodies[0], bodies[1]).upper or 0.0)
        total += most
    return total, is_plain
