# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether contact regions of meshes are where their triangles face each other, or their edges are near, and nowhere
else.

Each patch names its two triangles: they are convex, so a patch whose corners are on both is. What is not looked for is
whether a region is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np

from ..meshes.body import Body
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances
from ..meshes.solid_facets import pieces_of
from ..region.merged_region import MergedRegion, Patch, TrianglePatches
from ..region.region import Region, RegionKind
from ..result import Contact, Relation, Status
from ..shapes.curved_shape import ConvexShape
from ..shapes.feature import Feature, FeatureKind
from ..tolerance import EPS, VERIFY_REGION, VERIFY_SLIVER, VERIFY_UNIT
from ..types import BoolArray, FloatArray, IntArray
from .check import Check
from .curved_mesh_region import check_curved_mesh_regions
from .form import (
    MEASURES,
    Test,
    are_indices,
    are_pairs,
    field_faults,
    first,
    is_arc,
    is_array,
    is_feature,
    of_kind,
    vector,
    vectors,
)
from .merged_region import differences
from .reported_mesh import ReportedMesh
from .surfaces import points_off

_LEANING = 0.5
"""Sine of the angle between a triangle and the plane of its patch up to which they may be parallel."""

_SEAM = 2.0
"""Times what rounds the corners of a patch: how far those of two are apart where their sides meet."""


Pieces = Sequence[ConvexShape]
"""The pieces of a curved shape."""


def region_faults(contact: Contact, a: Mesh | Pieces, b: Mesh | Pieces) -> Iterator[str]:
    """Yield the faults in the form of regions made of triangles and the pieces of curved shapes."""
    counts = tuple(len(side.triangles) if isinstance(side, Mesh) else len(side) for side in (a, b))
    tests: dict[str, Test] = {
        "kind": of_kind(RegionKind),
        "normal centroid": vector(3),
        "outline": lambda sides: is_array(sides, (None, 2, 3)),
        "patches": lambda patches: isinstance(patches, tuple | TrianglePatches) and len(patches) > 0,
    }
    for region in contact.regions:
        if not isinstance(region, MergedRegion):
            yield f"a region is a {type(region).__name__}"
            return
        yield from field_faults(region, tests | MEASURES)
        if isinstance(region.patches, TrianglePatches) and isinstance(a, Mesh) and isinstance(b, Mesh):
            yield from _column_faults(region.patches, a, b)
            continue
        for patch in region.patches:
            if not (isinstance(patch, Patch) and isinstance(patch.region, Region) and is_array(patch.normal, (3,))):
                yield f"a patch is {patch!r}"
                return
            if not all(are_indices((k,), n) for k, n in zip((patch.piece_a, patch.piece_b), counts, strict=True)):
                yield f"a patch has the triangles {patch.piece_a!r} and {patch.piece_b!r}"
                return
            yield from _patch_faults(patch, a, b)


def _column_faults(patches: TrianglePatches, a: Mesh, b: Mesh) -> Iterator[str]:
    """Yield the faults in the form of the patches of many pairs of triangles."""
    count = len(patches.counts)
    if not are_pairs(patches.pairs, len(a.triangles), len(b.triangles)):
        yield f"triangles of patches are {patches.pairs!r}"
        return
    shapes: dict[str, tuple[int | None, ...]] = {
        "normals": (count, 3),
        "vertices": (count, None, 3),
        "depths": (count, None),
        "areas": (count,),
        "centroids": (count, 3),
    }
    for name, shape in shapes.items():
        if not is_array(getattr(patches, name), shape):
            yield f"{name} of patches are {getattr(patches, name)!r}"
    most = patches.vertices.shape[1]
    if not (patches.counts.shape == (len(patches.pairs),) and ((patches.counts >= 3) & (patches.counts <= most)).all()):
        yield f"counts of patches are {patches.counts!r}"
    faces = np.stack([mesh.triangles[patches.pairs[:, k]] for k, mesh in enumerate((a, b))], axis=1)
    if patches.depths.shape[1] != most or not np.array_equal(patches.faces, faces):
        yield f"depths or triangles of patches are {patches.depths!r} and {patches.faces!r}"


def _patch_faults(patch: Patch, a: Mesh | Pieces, b: Mesh | Pieces) -> Iterator[str]:
    region, count = patch.region, len(patch.region.vertices)
    is_round = not (isinstance(a, Mesh) and isinstance(b, Mesh))
    yield from field_faults(
        region,
        {"kind": of_kind(RegionKind), "vertices": vectors(3), "centroid": vector(3)}
        | {"depths": lambda depths: is_array(depths, (count,)), "arcs": of_kind(tuple)}
        | MEASURES,
    )
    if not all(is_round and is_arc(arc, count, 3) for arc in region.arcs):
        yield f"arcs are {region.arcs!r}"
    fewest = 2 if region.arcs else 3  # of a lens
    limits = {RegionKind.POINT: (1, 1), RegionKind.SEGMENT: (2, 2), RegionKind.POLYGON: (fewest, np.inf)}
    least, most = limits[region.kind]
    if not least <= count <= most:
        yield f"{count} vertices for a {region.kind!r}"
    for name, k, side in (("A", patch.piece_a, a), ("B", patch.piece_b, b)):
        found = {pair[name == "B"] for pair in region.features}
        if isinstance(side, Mesh):
            fits = found == {Feature(FeatureKind.FACE, tuple(side.triangles[k].tolist()))}
        else:
            fits = all(is_feature(feature, side[k]) for feature in found)
        if not fits or len(region.features) != count:
            yield f"features of {name} are {region.features!r}"


def check_mesh_regions(contact: Contact, a: Body, b: Body, band: float, promise: float) -> list[Check]:
    """Return the checks of the regions of two meshes that touch or are within the clearance. `promise`: what lengths
    may be wrong by."""
    name = "the regions are on both meshes"
    if not contact.regions:
        return [Check(name, False, "there are none")]
    columns = [_columns(region.patches) for region in contact.regions]
    count, is_polygon, points, depths, normals, pairs = (np.concatenate(rows) for rows in zip(*columns, strict=True))
    pairs = np.stack([a.counted(pairs[:, 0]), b.counted(pairs[:, 1])], axis=1)
    which = np.repeat(np.arange(len(count)), count)
    is_apart = contact.relation is Relation.WITHIN_CLEARANCE
    gap, room = (contact.signed_distance, band) if is_apart else (0.0, _DEEPER * band)
    across = np.where(is_polygon[which], 0.5 * depths, 0.0)[:, None] * normals[which]
    slack = np.where(is_polygon[which], 0.0, 0.5 * (abs(gap) + room))
    off = np.maximum(_off(points + across, a.mesh, pairs[which, 0]), _off(points - across, b.mesh, pairs[which, 1]))
    apart = float(np.abs(depths + gap).max())
    worst = float((off - slack).max())
    checks = [
        Check(name, worst <= promise, f"{len(count)} patches, off by {worst:.3g}"),
        Check("they are as far apart there as reported", apart <= room + promise, f"to {apart:.3g}, of {room:.3g}"),
        Check("triangles face each other there", *_facing(a, b, pairs[is_polygon], normals[is_polygon])),
        Check("areas, lengths and centroids are those of the outlines", *_measures(contact)),
        Check("no two triangles have two areas", *_different(pairs[is_polygon])),
    ]
    ends = np.concatenate(
        [
            np.concatenate([region.outline.reshape(-1, 3), region.centroid[None]])
            if region.kind is not RegionKind.POLYGON
            else region.outline.reshape(-1, 3)
            for region in contact.regions
        ]
    )
    reach = 0.5 * abs(gap) + _BESIDE * room + promise
    off_outline = max(float(points_off(ends, body.mesh, reach).max(initial=0.0)) for body in (a, b))
    checks.append(Check("outlines are on both meshes", off_outline <= reach, f"off by {off_outline:.3g}"))
    return checks


def _columns(patches: Sequence[Patch]) -> tuple[IntArray, BoolArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Return of patches the number of vertices, whether they are polygons, vertices and depths of one after the other,
    normals and triangles."""
    if isinstance(patches, TrianglePatches):
        valid = np.arange(patches.vertices.shape[1]) < patches.counts[:, None]
        is_polygon = np.ones(len(patches), dtype=np.bool_)
        return (
            patches.counts,
            is_polygon,
            patches.vertices[valid],
            patches.depths[valid],
            patches.normals,
            patches.pairs,
        )
    return (
        np.array([len(patch.region.vertices) for patch in patches]),
        np.array([patch.region.kind is RegionKind.POLYGON for patch in patches]),
        np.concatenate([patch.region.vertices for patch in patches]),
        np.concatenate([patch.region.depths for patch in patches]),
        np.array([patch.normal for patch in patches]),
        np.array([(patch.piece_a, patch.piece_b) for patch in patches], dtype=np.intp),
    )


_DEEPER = 2.0
"""Times the band: gaps and depths in regions of what touches."""
_BESIDE = 8.0
"""Times the contact tolerance: how far an outline may be from both meshes, besides half of the gap. It is drawn through
patches whose planes differ by the contact tolerance."""


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


def _different(pairs: IntArray) -> tuple[bool, str]:
    """Return whether no pair (k, 2) is there twice."""
    count = len(np.unique(pairs, axis=0))
    return count == len(pairs), f"{count} of {len(pairs)} are different"


def _measures(contact: Contact) -> tuple[bool, str]:
    """Return whether areas, lengths and centroids of regions are those of their outlines, and no area is more than that
    of its patches."""
    worst, what = 0.0, "fits"
    for region in contact.regions:
        count, is_polygon, points, _, normals, _ = _columns(region.patches)
        if isinstance(region.patches, TrianglePatches):
            reported, centroids = region.patches.areas, region.patches.centroids
        else:
            reported = np.array([patch.region.area for patch in region.patches])
            centroids = np.array([patch.region.centroid for patch in region.patches])
        # Fans of all polygons: from their first vertex to each two that follow each other.
        which = np.repeat(np.arange(len(count)), count)
        first = np.cumsum(count) - count
        away = points - points[first][which]
        across = np.einsum("ij,ij->i", np.cross(away[:-1], away[1:]), normals[which[1:]])
        across[which[1:] != which[:-1]] = 0.0
        areas = np.bincount(which[1:], 0.5 * across, len(count)) * is_polygon
        moments = np.zeros((len(count), 3))
        np.add.at(moments, which[1:], across[:, None] * (away[:-1] + away[1:]) / 6.0)
        sizes = np.zeros(len(count))
        np.maximum.at(sizes, which, np.linalg.norm(away, axis=1))
        total = float(reported.sum())
        rounding = _SEAM * VERIFY_SLIVER * EPS * float(np.abs(region.outline).max(initial=0.0))
        found = [
            *differences(region, rounding),
            ("area of the patches", max(0.0, region.area - total), max(total, 1e-300)),
            ("area of a patch", float(np.abs(areas - reported).max()), max(total, 1e-300)),
        ]
        if region.kind is RegionKind.POLYGON:
            beside = np.linalg.norm(moments - areas[:, None] * (centroids - points[first]), axis=1) * is_polygon
            off = float((beside - (VERIFY_REGION * areas + rounding * sizes) * sizes).max())
            found.append(("centroid of a patch", max(0.0, off), max(total * region.length, 1e-300)))
        if region.kind is RegionKind.POLYGON and total <= (1.0 + VERIFY_REGION) * region.area:
            # They do not overlap.
            sum_of = (moments + areas[:, None] * (points[first] - region.centroid)).sum(axis=0)
            off = (
                float(np.linalg.norm(sum_of)) - (2.0 * VERIFY_REGION * total + rounding * region.length) * region.length
            )
            found.append(("centroid of the patches", max(0.0, off), total * region.length))
        for name, miss, size in found:
            if miss > worst * size:
                worst, what = miss / size if size else np.inf, name
    return worst <= VERIFY_REGION, f"off by {worst:.3g} of it ({what}); area {contact.area:.9g}"


def check_regions(pair: ReportedMesh) -> list[Check]:
    """The regions are those of the triangles where the meshes touch or are within the clearance; where they are
    deeper, those of the pieces' contact, unless the depth reported differs from that of the pieces."""
    contact, of_pieces = pair.contact, pair.proof.compound
    if contact.relation in (Relation.TOUCHING, Relation.WITHIN_CLEARANCE) and not pair.curved:
        meshes = pair.facets[0].mesh, pair.facets[1].mesh
        form = first("the regions are well-formed", region_faults(contact, *meshes))
        found = check_mesh_regions(contact, pair.a, pair.b, pair.band, pair.promise) if form.ok else []
        return [form, *found]
    if contact.relation in (Relation.TOUCHING, Relation.WITHIN_CLEARANCE) and of_pieces is None:
        of_a = not isinstance(pair.solids[0], Mesh)
        body, solid = (pair.b, pair.solids[0]) if of_a else (pair.a, pair.solids[1])
        assert not isinstance(solid, Mesh)
        pieces = pieces_of(solid)
        sides = (pieces, body.mesh) if of_a else (body.mesh, pieces)
        form = first("the regions are well-formed", region_faults(contact, *sides))
        found = check_curved_mesh_regions(contact, pieces, body, of_a, pair.band, pair.promise) if form.ok else []
        return [form, *found]
    name = "the regions are those of the pieces"
    if of_pieces is None:
        return [Check(name, not contact.regions, f"{len(contact.regions)} without a contact of pieces")]
    if contact.regions:
        same = len(contact.regions) == len(of_pieces.regions) and all(
            map(_same_region, contact.regions, of_pieces.regions)
        )
        return [Check(name, same, f"{len(contact.regions)} and {len(of_pieces.regions)}")]
    along = contact.normal.any() and float(contact.normal @ of_pieces.normal) > 1.0 - 64.0 * EPS
    if not of_pieces.regions or not along:
        return [Check(name, True, f"{len(of_pieces.regions)} of the pieces, along another normal")]
    if pair.fit and of_pieces.status is not Status.UNVERIFIED:
        return [Check(name, False, f"{len(of_pieces.regions)} of the pieces are missing")]
    return [Check("not checked: that no region is missing", True, "the pieces are not the solids")]


def _same_region(a: object, b: object) -> bool:
    """Return whether two regions have the same fields."""
    if a is b:
        return True
    if not (isinstance(a, MergedRegion) and isinstance(b, MergedRegion)):
        return False
    values = ((getattr(a, field.name), getattr(b, field.name)) for field in fields(MergedRegion))
    return all(x is y or (np.array_equal(x, y) if isinstance(y, np.ndarray) else x == y) for x, y in values)
