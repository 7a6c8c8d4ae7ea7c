# SPDX-License-Identifier: GPL-3.0-or-later
"""The depth of two meshes that intersect, from both sides: shorter translations that separate, and proofs that none is
shorter still."""

from __future__ import annotations

from math import inf

import numpy as np

from ..meshes.crossing_boxes import crossing_boxes
from ..meshes.crossings import Crossings
from ..meshes.depth_bounds import common_ball, point_inside
from ..meshes.depth_proof import DepthProof
from ..meshes.separation import SeparationSearch, contact_directions
from ..meshes.short_steps import are_clear_after
from ..meshes.translation_grid import TranslationGrid
from ..progress import Progress, subrange
from ..tolerance import MESH_DEPTH_STEP

_CELLS = (32**3, 64**3, 96**3, 128**3, 160**3)
"""Cells of the grids of translations, one after the other."""
_TRIED = (0, 5, 8, 8, 8)
"""Translations of each grid that slide to a minimum; of the first one tried as it is."""
_LEVELS = 2
"""Grids of a search without a limit in seconds."""
_SHRUNK = 0.85
"""Times the longest translation of a grid: where the depth is less than this, another one has as many cells."""
_VAGUE = 0.6
"""Times the depth: lower bounds of less after these grids are looked for among triangles that cross, then in a finer
grid."""
_NEAR = 0.9
"""Times the depth: lower bounds of less are compared, for small meshes, with that of triangles that cross."""
_FEW = 70_000
"""Pairs of triangles of small meshes, of which these take 0.1 to 0.5 s."""
_UNSEEN = 0.3
"""Times the depth: lower bounds of less let shorter translations be tried one by one."""
_RESOLVED = 0.98
"""Times the depth: lower bounds of less are compared with that of a ball."""


def search_depth(
    search: SeparationSearch,
    crossings: Crossings,
    known: DepthProof | None,
    band: float,
    progress: Progress | None = None,
) -> DepthProof | None:
    """Look for shorter translations than the best of a search; return what proves a lower bound of the depth.

    None where nothing proves one; `known` proves one already. Where no lower bound exceeds `band`, translations
    by that are tried: one as short decides that the meshes only touch, and ends a search without a limit in seconds.
    Raise Cancelled when `progress` returns False.
    """
    a, b, budget, last = search.a, search.b, search.budget, subrange(progress, 1.0, 1.0)
    best: DepthProof | TranslationGrid | None = known
    if _least(best) <= band < search.length:
        ways = np.reshape(contact_directions(a, b, crossings), (-1, 3)) * band
        for way in ways[are_clear_after(a.mesh, b.mesh, ways)]:
            if search.separates(way):
                search.slide_to_minimum(search.best, band)
                break
    if search.length <= band and budget.seconds == inf:
        return known
    along, inside = search.best, None
    if not _is_enough(search, best):
        enough = search.length * (1.0 - MESH_DEPTH_STEP)
        inside = point_inside(a, b, crossings, along, subrange(progress, 0.1, 0.1), enough)
        best = _larger(best, inside)
    levels = 1 if budget.nodes == 0 else _LEVELS if budget.seconds == inf else len(_CELLS)
    level, deepest, cell, are_compared = 0, None, None, False
    # The first answer is found however little time there is.
    while level < levels and not _is_enough(search, best) and not (level > 0 and budget.is_late):
        length = search.length
        part = subrange(progress, 0.1 + 0.9 * level / levels, 0.1 + 0.9 * (level + 1) / levels)
        grid = search.explore(_CELLS[level], _TRIED[level], part)
        cell = grid.size
        if budget.nodes > 0 and (found := grid.deepest()) is not None:
            deepest = found
        best = _larger(best, grid)
        if level == 0 and inside is None:  # a corner proves less than is enough, but maybe more than cells
            best = _larger(best, point_inside(a, b, crossings, along, subrange(part, 1.0, 1.0), _least(best)))
        # A grid of much shorter translations has smaller cells.
        if level == 0 or search.length > _SHRUNK * length:
            level += 1
            if level == _LEVELS and _least(best) < _VAGUE * search.length:
                best = _larger(best, crossing_boxes(a, b, search.length, budget, subrange(part, 1.0, 1.0)))
                are_compared = True
                if levels == _LEVELS and _least(best) < _VAGUE * search.length:
                    levels += 1
    if budget.nodes > 0 and _least(best) < _RESOLVED * search.length:
        best = _larger(best, common_ball(a, b, crossings, deepest, last))
        best = _larger(best, point_inside(a, b, crossings, None, last))
        is_far = _least(best) < _NEAR * search.length and not (are_compared or budget.is_late)
        if is_far and len(a.mesh.triangles) * len(b.mesh.triangles) <= _FEW:
            best = _larger(best, crossing_boxes(a, b, search.length, budget, last))
    if budget.nodes > 0 and _least(best) < _UNSEEN * search.length and cell is not None:
        search.search_below_cell(cell)
    return best.proof() if isinstance(best, TranslationGrid) else best


def _least(bound: DepthProof | TranslationGrid | None) -> float:
    """Return the lower bound that is proved, 0.0 without one."""
    return 0.0 if bound is None else bound.least


def _larger(
    bound: DepthProof | TranslationGrid | None, other: DepthProof | TranslationGrid | None
) -> DepthProof | TranslationGrid | None:
    """Return what proves the larger lower bound, the first where they are equal."""
    return other if _least(other) > _least(bound) else bound


def _is_enough(search: SeparationSearch, bound: DepthProof | TranslationGrid | None) -> bool:
    """Return whether no translation is known to be possible that is shorter by more than MESH_DEPTH_STEP."""
    return search.length * (1.0 - MESH_DEPTH_STEP) <= _least(bound)
