# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether contact regions of curved pieces and a mesh are on both: each patch names a piece and a triangle, which are
convex. Of a disk on a triangle nothing is missing either; whether a patch is missing is not looked for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ..meshes.body import Body
from ..meshes.point_distance import point_triangle_distances
from ..region.merged_region import Patch
from ..region.region import RegionKind
from ..result import Contact
from ..shapes.curved_shape import ConvexShape, FlatFeature
from ..shapes.rounded import flat_feature
from ..tolerance import EPS, VERIFY_OUTLINE, VERIFY_REGION, VERIFY_SLIVER, VERIFY_UNIT
from ..types import FloatArray
from .check import Check
from .curved_region import check_round
from .merged_region import differences, patch_differences
from .region import plane_across

_LEANING = 1e-3
"""One less the cosine of the angle between a triangle and the plane of its patch up to which they may be parallel."""


def check_curved_mesh_regions(
    contact: Contact, pieces: Sequence[ConvexShape], mesh: Body, of_a: bool, band: float, promise: float
) -> list[Check]:
    """Return the checks of the regions of curved pieces and a mesh that touch or are within the clearance. `promise`:
    what lengths may be wrong by."""
    name = "the regions are on the pieces and the mesh"
    if not contact.regions:
        return [Check(name, contact.intersects, "there are none")]
    patches = list(chain.from_iterable(region.patches for region in contact.regions))
    off = max(_off(patch, pieces, mesh, of_a) for patch in patches)
    apart = max(float(np.abs(patch.region.depths + contact.signed_distance).max()) for patch in patches)
    leaning = sum(not _faces(patch, mesh, of_a) for patch in patches)
    limit = band + promise
    checks = [
        Check(name, off <= limit, f"{len(patches)} patches, off by {off:.3g}"),
        Check("they are as far apart there as reported", apart <= 2.0 * limit, f"to {apart:.3g}, of {band:.3g}"),
        Check("triangles face the pieces there", not leaning, f"{leaning} of {len(patches)} do not"),
    ]
    worst, what = 0.0, "fits"
    for region in contact.regions:
        rounding = VERIFY_SLIVER * EPS * float(np.abs(region.outline).max(initial=0.0))
        for measured, miss, size in (*differences(region, rounding), *patch_differences(region, rounding)):
            if miss > worst * size:
                worst, what = miss / size if size else np.inf, measured
    name, detail = "areas, lengths and centroids are those of the outlines", f"off by {worst:.3g} of it ({what})"
    checks.append(Check(name, worst <= VERIFY_REGION, f"{detail}; area {contact.area:.9g}"))
    for patch in patches:
        found_check = _whole(patch, pieces, mesh, of_a, band)
        if found_check is not None and not found_check.ok:
            return [*checks, found_check]
    return checks


def _toward(patch: Patch, of_a: bool) -> FloatArray:
    """Return the normal of a patch from its piece to its triangle."""
    return patch.normal if of_a else -patch.normal


def _off(patch: Patch, pieces: Sequence[ConvexShape], mesh: Body, of_a: bool) -> float:
    """Return how far the corners of a patch, half of the gap or depth away, are from the surface of its piece and from
    its triangle."""
    number, triangle = (patch.piece_a, patch.piece_b) if of_a else (patch.piece_b, patch.piece_a)
    shift = 0.5 * patch.region.depths[:, None] * _toward(patch, of_a)
    piece = pieces[number]
    on_piece, on_mesh = patch.region.vertices + shift, patch.region.vertices - shift
    rows = mesh.mesh.corner_rows(np.full(len(on_mesh), triangle))
    off = point_triangle_distances(np.ascontiguousarray(on_mesh.T), rows)[0]
    return max(float(np.abs(piece.core_distances(on_piece) - piece.rounding_radius).max()), float(off.max()))


def _faces(patch: Patch, mesh: Body, of_a: bool) -> bool:
    """Return whether a patch has a unit normal, that of a polygon across its triangle, to the outer side of a solid."""
    if abs(float(np.linalg.norm(patch.normal)) - 1.0) > VERIFY_UNIT * EPS:
        return False
    if patch.region.kind is not RegionKind.POLYGON:
        return True
    outward = mesh.normals(np.array([patch.piece_b if of_a else patch.piece_a]))[0]
    along = -float(outward @ _toward(patch, of_a))
    return (along if mesh.solid else abs(along)) >= 1.0 - _LEANING


def _whole(patch: Patch, pieces: Sequence[ConvexShape], mesh: Body, of_a: bool, band: float) -> Check | None:
    """Return whether the part of a disk that is on a triangle is all of it; None for other patches."""
    if patch.region.kind is not RegionKind.POLYGON:
        return None
    number, triangle = (patch.piece_a, patch.piece_b) if of_a else (patch.piece_b, patch.piece_a)
    piece, toward = pieces[number], _toward(patch, of_a)
    rounding = EPS * max(piece.magnitude, mesh.mesh.magnitude)
    own = flat_feature(piece, toward, band)
    if own.disk_radius == 0.0:
        return None
    other = FlatFeature(mesh.mesh.points[mesh.mesh.triangles[triangle]])
    features = own, other
    points = own.points + piece.rounding_radius * toward, other.points
    if not of_a:
        features, points = features[::-1], points[::-1]
    return check_round(patch.region, features, points, plane_across(patch.normal), VERIFY_OUTLINE * rounding, False)[0]
