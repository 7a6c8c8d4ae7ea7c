# SPDX-License-Identifier: GPL-3.0-or-later
"""How two meshes collide: from whether their triangles meet to the solver of what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..meshes.body import length_of
from ..meshes.contact_curves import contact_curves
from ..meshes.mesh_distance import mesh_distance
from ..meshes.triangle_pairs import crossing_triangles
from ..progress import report_progress, subrange
from ..result import Relation
from ..types import FloatArray
from .mesh_pair import MeshPair
from .mesh_result import MeshDraft
from .pair_regions import with_regions
from .solid_pair import only_related, solve_beside, solve_solids
from .surface_pair import solve_surfaces


def solve(pair: MeshPair) -> MeshDraft:
    """Return the results for the meshes."""
    a, b = pair.a, pair.b
    if pair.depth:
        a.mesh.tree, b.mesh.tree  # noqa: B018  # what follows needs them too, and is faster with them
    pair.crossings = crossings = crossing_triangles(a.mesh, b.mesh, subrange(pair.progress, 0.1, 0.2))
    proved = 0.0
    normal: FloatArray | None = None
    if len(crossings):
        ends = crossings.segments
        longest = int(np.abs(ends[:, 1] - ends[:, 0]).max(axis=1).argmax())
        on_a = on_b = 0.5 * ends[longest, 0] + 0.5 * ends[longest, 1]
        pair.nearest = int(crossings.pairs[longest, 0]), int(crossings.pairs[longest, 1])
    else:
        nearest = mesh_distance(a.mesh, b.mesh, subrange(pair.progress, 0.2, 0.3))
        pair.surface, proved = nearest.distance, nearest.lower_bound
        on_a, on_b = nearest.point_on_a, nearest.point_on_b
        pair.nearest = nearest.triangle_a, nearest.triangle_b
        pair.a_in_b, pair.b_in_a = b.contains(a.part_points), a.contains(b.part_points)
        pair.nested = bool(pair.a_in_b.any() or pair.b_in_a.any())
        if pair.nested:
            on_a = on_b = a.part_points[pair.a_in_b][0] if pair.a_in_b.any() else b.part_points[pair.b_in_a][0]
        else:
            apart = on_b - on_a
            largest = float(np.abs(apart).max())
            if largest > pair.rounding:  # a touch within rounding has no direction
                normal = apart / largest / length_of(apart / largest)
    pair.points = on_a, on_b
    pair.intersects = pair.nested or bool(len(crossings))
    enclosed = None if pair.intersects or pair.surface <= pair.band else pair.enclosed()
    if not pair.intersects:
        pair.note_side(pair.points)
    near = subrange(pair.progress, 0.3, 1.0)
    if enclosed is not None:
        draft = pair.draft(enclosed)
    elif not pair.intersects and pair.surface > pair.band:
        draft = pair.apart(pair.apart_relation(pair.surface, pair.band), proved, normal)
    elif not (a.solid or b.solid):
        draft = solve_surfaces(pair, proved, normal, near)
    elif not pair.intersects:
        draft = solve_beside(pair, proved, normal, near)
    elif not pair.depth and pair.is_deep():
        draft = only_related(pair, pair.deep_proof, proved)
    else:
        draft = solve_solids(pair, near)
    if draft.relation in (Relation.TOUCHING, Relation.WITHIN_CLEARANCE):
        draft = with_regions(pair, draft)
    report_progress(pair.progress, 1.0)
    return replace(
        draft,
        lower=min(draft.lower, draft.signed_distance),
        upper=max(draft.upper, draft.signed_distance),
        intersects=pair.intersects,
        of_facets=any(facets.curved for facets in pair.facets),
        crossings=crossings,
        curves=tuple(contact_curves(crossings, a.mesh, b.mesh)),
        surface=pair.surface,
        notes=tuple(pair.notes),
    )
