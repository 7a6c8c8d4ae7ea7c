# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether contact regions of meshes are where their triangles face each other, or their edges are near, and nowhere
else.

Each patch names its two triangles: they are convex, so a patch whose corners are on both is. What is not looked for is
whether a region is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from ..meshes.body import Body
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances
from ..region.merged_region import MergedRegion, Patch
from ..region.region import Region, RegionKind
from ..result import Contact
from ..shapes.feature import Feature, FeatureKind
from ..tolerance import EPS, VERIFY_REGION, VERIFY_SLIVER, VERIFY_UNIT
from ..types import FloatArray, IntArray
from .check import Check
from .compound import differences
from .form import MEASURES, Test, are_indices, field_faults, is_array, of_kind, vector, vectors
from .surfaces import points_off

_LEANING = 0.5
"""Sine of the angle between a triangle and the plane of its patch up to which they may be parallel."""


def region_faults(contact: Contact, a: Mesh, b: Mesh) -> Iterator[str]:
    """Yield the faults in the form of regions made of triangles."""
    tests: dict[str, Test] = {
        "kind": of_kind(RegionKind),
        "normal centroid": vector(3),
        "outline": lambda sides: is_array(sides, (None, 2, 3)),
        "patches": lambda patches: isinstance(patches, tuple) and len(patches) > 0,
    }
    for region in contact.regions:
        if not isinstance(region, MergedRegion):
            yield f"a region is a {type(region).__name__}"
            return
        yield from field_faults(region, tests | MEASURES)
        for patch in region.patches:
            if not (isinstance(patch, Patch) and isinstance(patch.region, Region) and is_array(patch.normal, (3,))):
                yield f"a patch is {patch!r}"
                return
            if not all(are_indices((k,), len(mesh.triangles)) for k, mesh in ((patch.piece_a, a), (patch.piece_b, b))):
                yield f"a patch is of triangles {patch.piece_a!r} and {patch.piece_b!r}"
                return
            yield from _patch_faults(patch, a, b)


def _patch_faults(patch: Patch, a: Mesh, b: Mesh) -> Iterator[str]:
    region, count = patch.region, len(patch.region.vertices)
    yield from field_faults(
        region,
        {"kind": of_kind(RegionKind), "vertices": vectors(3), "centroid": vector(3)}
        | {"depths": lambda depths: is_array(depths, (count,)), "arcs": lambda arcs: arcs == ()}
        | MEASURES,
    )
    least, most = {RegionKind.POINT: (1, 1), RegionKind.SEGMENT: (2, 2), RegionKind.POLYGON: (3, np.inf)}[region.kind]
    if not least <= count <= most:
        yield f"{count} vertices for a {region.kind!r}"
    faces = tuple(
        Feature(FeatureKind.FACE, tuple(mesh.triangles[k].tolist()))
        for k, mesh in ((patch.piece_a, a), (patch.piece_b, b))
    )
    if region.features != (faces,) * count:
        yield f"features are {region.features!r}, not {faces!r}"


def check_mesh_regions(contact: Contact, a: Body, b: Body, band: float, promise: float) -> list[Check]:
    """Return the checks of the regions of two meshes that touch or are within the clearance. `promise`: what lengths
    may be wrong by."""
    name = "the regions are on both meshes"
    if not contact.regions:
        return [Check(name, False, "there are none")]
    patches = list(chain.from_iterable(region.patches for region in contact.regions))
    is_polygon = np.array([patch.region.kind is RegionKind.POLYGON for patch in patches])
    count = np.array([len(patch.region.vertices) for patch in patches])
    which = np.repeat(np.arange(len(patches)), count)
    points = np.concatenate([patch.region.vertices for patch in patches])
    depths = np.concatenate([patch.region.depths for patch in patches])
    normals = np.array([patch.normal for patch in patches])
    pairs = np.array([(patch.piece_a, patch.piece_b) for patch in patches], dtype=np.intp)
    across = np.where(is_polygon[which], 0.5 * depths, 0.0)[:, None] * normals[which]
    room = np.where(is_polygon[which], 0.0, 0.5 * (abs(contact.signed_distance) + band))
    off = np.maximum(_off(points + across, a.mesh, pairs[which, 0]), _off(points - across, b.mesh, pairs[which, 1]))
    apart = float(np.abs(depths + contact.signed_distance).max())
    worst = float((off - room).max())
    checks = [
        Check(name, worst <= promise, f"{len(patches)} patches, off by {worst:.3g}"),
        Check("they are as far apart there as reported", apart <= band + promise, f"to {apart:.3g}, of {band:.3g}"),
        Check("triangles face each other there", *_facing(a, b, pairs[is_polygon], normals[is_polygon])),
        Check("areas, lengths and centroids are those of the outlines", *_measures(contact)),
    ]
    ends = np.concatenate(
        [
            np.concatenate([region.outline.reshape(-1, 3), region.centroid[None]])
            if region.kind is not RegionKind.POLYGON
            else region.outline.reshape(-1, 3)
            for region in contact.regions
        ]
    )
    reach = _BESIDE * (abs(contact.signed_distance) + band) + promise
    off_outline = max(float(points_off(ends, body.mesh, reach).max(initial=0.0)) for body in (a, b))
    checks.append(Check("outlines are on both meshes", off_outline <= reach, f"off by {off_outline:.3g}"))
    return checks


_BESIDE = 8.0
"""Times what they are apart, at most: how far an outline may be from both meshes. It is drawn through patches whose
planes differ by the contact tolerance."""


def _off(points: FloatArray, mesh: Mesh, triangles: IntArray) -> FloatArray:
    """Return how far points (n, 3) are from triangles (n,)."""
    return point_triangle_distances(np.ascontiguousarray(points.T), mesh.corner_rows(triangles))[0]


def _facing(a: Body, b: Body, pairs: IntArray, normals: FloatArray) -> tuple[bool, str]:
    """Return whether patches are across both triangles, the outer sides of solids towards each other."""
    wrong = 0
    error = float(np.abs(np.linalg.norm(normals, axis=1) - 1.0).max(initial=0.0))
    for body, row, sign in ((a, pairs[:, 0], 1.0), (b, pairs[:, 1], -1.0)):
        p, q, r = body.mesh.points[body.mesh.triangles[row]].transpose(1, 0, 2)
        outward = np.cross(q - p, r - p) * (body.outward * sign)
        along = np.einsum("ij,ij->i", outward, normals) / np.maximum(
            np.linalg.norm(outward, axis=1), np.finfo(float).tiny
        )
        if not body.solid:
            along = np.abs(along)
        wrong += int((along < 1.0 - _LEANING**2).sum())
    return wrong == 0 and error <= VERIFY_UNIT * EPS, f"{wrong} of {len(pairs)} do not"


def _measures(contact: Contact) -> tuple[bool, str]:
    """Return whether areas, lengths and centroids of regions are those of their outlines, and no area is more than that
    of its patches."""
    worst, what = 0.0, "fits"
    for region in contact.regions:
        total = sum(patch.region.area for patch in region.patches)
        found = [
            *differences(region, VERIFY_SLIVER * EPS * float(np.abs(region.outline).max(initial=0.0))),
            ("area of the patches", max(0.0, region.area - total), max(total, 1e-300)),
        ]
        for patch in region.patches:
            if patch.region.kind is RegionKind.POLYGON:
                corners = patch.region.vertices - patch.region.vertices[0]
                own = 0.5 * float(np.cross(corners[1:-1], corners[2:]).sum(axis=0) @ patch.normal)
                found.append(("area of a patch", abs(own - patch.region.area), max(total, 1e-300)))
        for name, miss, size in found:
            if miss > worst * size:
                worst, what = miss / size if size else np.inf, name
    return worst <= VERIFY_REGION, f"off by {worst:.3g} of it ({what}); area {contact.area:.9g}"
