# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact regions of two meshes that touch, or are within the clearance, and the normal that they decide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..meshes.body import are_disjoint, length_of
from ..meshes.short_steps import are_clear_after
from ..region.merged_region import MergedRegion
from ..result import Relation
from ..types import FloatArray
from .mesh_pair import MeshPair
from .mesh_regions import mesh_regions, named_regions, point_region
from .mesh_result import MeshDraft

MOST_NORMALS = 8
"""Regions whose normals are tried."""
_SAME_NORMAL = 1.0 - 1e-12
"""Cosine of the angle up to which two normals are one."""


def with_regions(pair: MeshPair, draft: MeshDraft) -> MeshDraft:
    """Return the results for meshes that touch, or are within the clearance, with the regions of their triangles,
    and the normal of the largest one along which they are as far apart as reported."""
    if any(facets.curved for facets in pair.facets):
        return draft
    is_fitted = pair.intersects and draft.normal is None  # along no normal they are separated
    if not pair.wants_regions and (is_fitted or draft.normal is not None):
        return replace(draft, regions=())
    regions = _regions(pair, draft)
    draft = draft if is_fitted else _along_regions(pair, draft, regions)
    if not pair.wants_regions:
        return draft
    if not regions:
        on_a, on_b = draft.points
        normal = np.zeros(3) if draft.normal is None else draft.normal
        regions = (point_region(pair.a, pair.b, 0.5 * on_a + 0.5 * on_b, np.array(pair.nearest), normal),)
    return replace(draft, regions=named_regions(regions, (pair.a, pair.b), (pair.facets[0].mesh, pair.facets[1].mesh)))


def _regions(pair: MeshPair, draft: MeshDraft) -> tuple[MergedRegion, ...]:
    """Return where the meshes are as far apart as a draft says; see `mesh_regions`."""
    if draft.relation is Relation.WITHIN_CLEARANCE:
        return mesh_regions(pair.a, pair.b, draft.signed_distance, pair.band, draft.normal)
    normal = draft.normal
    if normal is not None and any(float(region.normal @ normal) < 0.0 for region in pair.touching):
        # Of bare surfaces both sides are as good.
        return pair.touching_toward(normal)
    return pair.touching


def _along_regions(pair: MeshPair, draft: MeshDraft, regions: tuple[MergedRegion, ...]) -> MeshDraft:
    """Return the results with the normal of the first region that keeps what is promised of a normal."""
    normals = [region.normal for region in regions[:MOST_NORMALS] if region.normal.any()]
    clear = np.ones(len(normals), dtype=np.bool_)
    for k, normal in enumerate(normals):
        if draft.normal is not None and float(normal @ draft.normal) > _SAME_NORMAL:
            return draft
        if k == 1 and pair.intersects:  # most often the first one separates
            length = max(draft.depth, pair.promise)
            clear[k:] = are_clear_after(pair.a.mesh, pair.b.mesh, length * np.array(normals[k:]))
        found = _along(pair, draft, normal) if clear[k] else None
        if found is not None:
            return found
    return draft


def _along(pair: MeshPair, draft: MeshDraft, normal: FloatArray) -> MeshDraft | None:
    """Return the results along another normal; None where it does not separate them as well."""
    gap = draft.signed_distance
    if not pair.intersects:
        off = length_of(draft.points[1] - draft.points[0] - gap * normal)
        if off > 0.5 * pair.promise or not are_disjoint(pair.a, pair.b.translated(pair.promise * normal)):
            return None
        return replace(draft, normal=normal)
    if not (pair.a.solid or pair.b.solid):
        return None
    length = max(draft.depth, pair.promise)
    if are_disjoint(pair.a, pair.b.translated(length * normal)):
        return replace(draft, normal=normal, lower=min(draft.lower, -length))
    return None
