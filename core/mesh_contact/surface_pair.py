# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of two bare surfaces that meet, or are no farther apart than the contact tolerance: there is no depth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..meshes.body import are_disjoint
from ..meshes.separation import contact_directions
from ..meshes.short_steps import are_clear_after
from ..note import Note
from ..progress import Progress, report_progress
from ..result import Relation
from ..types import FloatArray
from .mesh_pair import NO_DEPTH, MeshPair
from .mesh_result import MeshDraft
from .pair_regions import MOST_NORMALS


def solve_surfaces(pair: MeshPair, proved: float, normal: FloatArray | None, progress: Progress | None) -> MeshDraft:
    """Return the results for two bare surfaces that meet."""
    a, b, crossings = pair.a, pair.b, pair.crossings
    # A surface that reaches beyond the other's box does not coincide with it: skip the slow samples.
    if pair.is_within_box(a, b) and pair.is_within_box(b, a) and pair.coincide(*pair.samples):
        return pair.apart(Relation.COINCIDENT, proved, normal)
    if not len(crossings):
        return pair.apart(Relation.TOUCHING, proved, normal)
    if not pair.is_deep():
        leaving = _leaving(pair, progress)
        if leaving is not None:
            return pair.draft(Relation.TOUCHING, normal=leaving)
        pair.notes.append(Note("no separating translation as short as the contact tolerance was found"))
    pair.notes.append(NO_DEPTH)
    return pair.draft(Relation.PENETRATING)


def _leaving(pair: MeshPair, progress: Progress | None) -> FloatArray | None:
    """Return a direction in which B leaves A within the contact tolerance, None if none is found."""
    normals = [region.normal for region in pair.touching[:MOST_NORMALS] if region.normal.any()]
    directions = [*normals, *(-normal for normal in normals), *contact_directions(pair.a, pair.b, pair.crossings)]
    ways = [direction * pair.band for direction in directions]
    for k in _clear_ways(pair, ways):
        report_progress(progress, k / len(ways))
        if are_disjoint(pair.a, pair.b.translated(ways[k])):
            return directions[k]
    return None


def _clear_ways(pair: MeshPair, ways: list[FloatArray]) -> Iterator[int]:
    """Yield after which of short translations of B no triangles meet; the first in any case, as most often it is
    one."""
    yield from range(min(1, len(ways)))
    if len(ways) > 1:
        yield from (1 + np.flatnonzero(are_clear_after(pair.a.mesh, pair.b.mesh, np.array(ways[1:])))).tolist()
