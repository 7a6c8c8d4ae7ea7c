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
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid
from ..progress import Progress, equal_parts
from ..shapes.curved_shape import ConvexShape
from ..tolerance import EPS, OVERLAP_SUM
from ..types import FloatArray
from .volume_record import OverlapVolume, none_overlaps

_TOUCHING = 1e-9
"""Times the sum: pieces that have no more in common only touch."""

Piece = Mesh | ConvexShape


class _PieceOverlap(NamedTuple):
    """The overlap of a piece of A and a piece of B."""

    pieces: tuple[int, int]
    low: FloatArray
    high: FloatArray
    found: OverlapVolume


def compound_overlap(
    a: Solid, b: Solid, overlap: Callable[[Piece, Piece, Progress | None], OverlapVolume], progress: Progress | None
) -> OverlapVolume:
    """Return the volume in which two solids, one of which at least is a compound, overlap; `overlap` returns that of
    two pieces."""
    pieces: list[tuple[Piece, ...]] = [solid.pieces if isinstance(solid, Compound) else (solid,) for solid in (a, b)]
    (lows, highs), (other_lows, other_highs) = (
        np.moveaxis(np.array([piece.bounds for piece in of]), 1, 0) for of in pieces
    )
    # One pair at least: it may have no volume, and the reason for it.
    pairs = candidate_pairs(lows, highs, other_lows, other_highs).pairs.tolist() or [[0, 0]]
    cells = []
    for (i, j), part in equal_parts(pairs, progress):
        found = overlap(pieces[0][i], pieces[1][j], part)
        if found.volume is None:
            return found
        if found.upper:
            low, high = np.maximum(lows[i], other_lows[j]), np.minimum(highs[i], other_highs[j])
            cells.append(_PieceOverlap((i, j), low, high, found))
    if not cells:
        return none_overlaps()
    sizes = np.array([(cell.found.lower, cell.found.volume, cell.found.upper) for cell in cells], dtype=np.float64)
    lower, volume, upper = sizes.sum(axis=0)
    common = _common(pieces, cells, overlap)
    most = sum(found.upper or 0.0 for found in common)
    rounding = OVERLAP_SUM * EPS * float(upper)
    lower, upper = max(0.0, float(sizes[:, 0].max()), float(lower) - most - rounding), float(upper) + rounding
    bodies = [cell.found.body for cell in cells if cell.found.body is not None]
    if most > _TOUCHING * upper and len(bodies) == len(cells):
        volume, moment = union_moments(bodies)
    else:
        # What three cells have in common is subtracted too often: where that is too much, nothing is.
        shared = sum(found.volume or 0.0 for found in common)
        weighed = [(1.0, cell.found) for cell in cells]
        if volume - shared >= lower:
            volume -= shared
            weighed += [(-1.0, found) for found in common]
        moment = np.zeros(a.dim)
        for sign, found in weighed:
            moment += sign * (found.volume or 0.0) * (0.0 if found.centroid is None else found.centroid)
    centroid = moment / volume if volume > 0.0 else None
    return OverlapVolume(min(max(float(volume), lower), upper), lower, upper, centroid)


def _common(
    pieces: list[tuple[Piece, ...]],
    cells: list[_PieceOverlap],
    overlap: Callable[[Piece, Piece, Progress | None], OverlapVolume],
) -> list[OverlapVolume]:
    """Return at least what any two of the cells have in common."""
    known: dict[tuple[int, int, int], OverlapVolume] = {}
    result = []
    lows, highs = np.array([cell.low for cell in cells]), np.array([cell.high for cell in cells])
    for m, n in candidate_pairs(lows, highs).pairs.tolist():
        if not (np.minimum(highs[m], highs[n]) > np.maximum(lows[m], lows[n])).all():
            continue
        found = [cells[m].found, cells[n].found]
        parts: list[Piece | None] = []
        slack = 0.0
        for side, i, j in zip((0, 1), cells[m].pieces, cells[n].pieces, strict=True):
            part: Piece | None = pieces[side][i]
            if i != j:
                key = side, min(i, j), max(i, j)
                if key not in known:
                    known[key] = overlap(pieces[side][i], pieces[side][j], None)
                found.append(known[key])
                part = known[key].body
                slack += (known[key].upper or 0.0) - (known[key].lower or 0.0)
            parts.append(part)
        least = min(found, key=lambda one: one.upper or 0.0)
        if least.upper and parts[0] is not None and parts[1] is not None:
            both = overlap(parts[0], parts[1], None)
            upper = (both.upper or 0.0) + slack
            if both.volume is not None and upper < least.upper:
                least = OverlapVolume(both.volume, 0.0, upper, both.centroid)
        result.append(least)
    return result
