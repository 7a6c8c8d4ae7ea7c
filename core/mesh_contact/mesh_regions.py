# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact regions of two meshes, from their triangles: polygons where they face each other, segments and points
where edges and corners are as near and no polygon covers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..compounds.compound_region import merged_regions
from ..connected import connected_parts
from ..meshes.body import Body, length_of
from ..meshes.coordinates import scale_exponent
from ..meshes.copies import few_in_one_place
from ..meshes.edge_contacts import EdgeContacts, edge_contacts
from ..meshes.facing_triangles import AFTER, ALIKE, Facing, facing_triangles
from ..meshes.mesh import Mesh
from ..meshes.near_points import near_clusters
from ..meshes.near_triangles import near_triangles
from ..region.merged_region import MergedRegion, Patch, TrianglePatches
from ..region.region import Region, RegionKind
from ..shapes.feature import Feature, FeatureKind
from ..tolerance import EPS, REGION_ROUNDING
from ..types import BoolArray, FloatArray, IntArray, read_only
from ..vectors import cross_last, unit_rows

_BESIDE = 2.0
"""Times how far beside each other points are that are as near as asked for: what is on a polygon or a line."""
_SHORT = 4.0
"""Times that: a shorter segment is a point, and points this near to each other are one."""
_SAME_AREA = 1e-7
"""Relative: by how much the areas of polygons and of their outline may differ, as the planes of both meshes do."""
_OPEN = 1e-3
"""Times its length: how far apart begin and end of an outline may be, whose sides are rounded."""
_MOST_TRIED = 64
"""Normals that are tried at a point or on a line."""
_MOST_IN_ONE_PLACE = 8
"""Triangles of a mesh that are looked at: their polygons lie on each other."""
_MOST_TESTED = 4_096
"""Pairs of a point and a box that are tested faster than sorted."""
_MOST_MERGED = 300
"""Polygons of parts that overlap, up to which they are united: a fifth of a second."""
_MOST_REGIONS = 4
"""Regions of polygons, the largest, that pairs of triangles are first compared with as a whole."""
_MOST_COMPARED = 1 << 16
"""Pairs of triangles times sides of such a region."""
_FLAT = 10.0
"""Times the tolerance: a body no thicker has no side."""


def mesh_regions(a: Body, b: Body, gap: float, tolerance: float, toward: FloatArray | None) -> tuple[MergedRegion, ...]:
    """Return where two meshes are `gap` apart, to the tolerance, the largest region first; below 0 they are as deep in
    each other. Empty where they are nowhere.

    toward: (3,) from A to B, decides about the normals of two bare surfaces; None: they point to where B is. Where
    surfaces of one mesh lie on each other the area counts once; of very many triangles as often as they do.
    """
    exponent = scale_exponent(max(a.mesh.magnitude, b.mesh.magnitude))
    if exponent:
        a, b = (Body(body.mesh.scaled(2.0**exponent), body.solid) for body in (a, b))
        gap, tolerance = float(np.ldexp(gap, exponent)), float(np.ldexp(tolerance, exponent))
    reach = abs(gap) + tolerance + REGION_ROUNDING * EPS * max(a.mesh.magnitude, b.mesh.magnitude)
    pairs = near_triangles(a.mesh, b.mesh, reach)
    for k, mesh in enumerate((a.mesh, b.mesh)):
        used = np.unique(pairs[:, k])
        few = few_in_one_place(mesh.points, mesh.triangles.take(used, axis=0), _MOST_IN_ONE_PLACE)
        if len(few) < len(used):
            pairs = pairs[np.isin(pairs[:, k], used.take(few))]
    facing, covered = facing_triangles(a, b, pairs, gap, tolerance)
    regions, facing = _polygons(a, b, facing, tolerance, toward)
    # Where they are not parallel, what is no farther apart than that is this far beside where they are nearest.
    beside = sqrt(max(reach - max(gap, 0.0), 0.0) * (reach + max(gap, 0.0)))
    # Neighbours in a plane meet along their sides: those of polygons are in their outline.
    for own, others in zip(facing.pairs.T, pairs.T, strict=True):
        covered &= np.bincount(own, minlength=others.max(initial=0) + 1).take(others) > 0
    codes, known = (rows @ [len(b.mesh.triangles), 1] for rows in (pairs, facing.pairs))
    covered[codes.searchsorted(known)] = True
    pairs = pairs[~covered]
    for region in regions[:_MOST_REGIONS]:
        if len(pairs):
            pairs = pairs[~_are_within(a, b, pairs, region, 0.5 * max(gap, 0.0), reach - max(gap, 0.0), beside)]
    if len(pairs):
        regions += _edges(a, b, facing, pairs, gap, reach, _BESIDE * beside)
    return tuple(region.scaled(-exponent) if exponent else region for region in regions)


def named_regions(
    regions: tuple[MergedRegion, ...], bodies: tuple[Body, Body], meshes: tuple[Mesh, Mesh]
) -> tuple[MergedRegion, ...]:
    """Return regions of two bodies with the triangles and corners as the meshes name them that these are made of."""
    if all(body.mesh is mesh for body, mesh in zip(bodies, meshes, strict=True)):
        return regions

    def named(patch: Patch) -> Patch:
        pieces = [
            int(body.named(np.array([k]))[0]) for body, k in zip(bodies, (patch.piece_a, patch.piece_b), strict=True)
        ]
        a, b = (
            Feature(FeatureKind.FACE, tuple(mesh.triangles[k].tolist())) for mesh, k in zip(meshes, pieces, strict=True)
        )
        region = replace(patch.region, features=((a, b),) * len(patch.region.vertices))
        return replace(patch, piece_a=pieces[0], piece_b=pieces[1], region=region)

    def all_named(patches: Sequence[Patch]) -> Sequence[Patch]:
        if not isinstance(patches, TrianglePatches):
            return tuple(map(named, patches))
        pairs = [body.named(side) for body, side in zip(bodies, patches.pairs.T, strict=True)]
        faces = [mesh.triangles.take(side, axis=0) for mesh, side in zip(meshes, pairs, strict=True)]
        return replace(patches, pairs=read_only(np.stack(pairs, axis=1)), faces=read_only(np.stack(faces, axis=1)))

    return tuple(replace(region, patches=all_named(region.patches)) for region in regions)


# Polygons


def _polygons(
    a: Body, b: Body, facing: Facing, width: float, toward: FloatArray | None
) -> tuple[list[MergedRegion], Facing]:
    """Return the regions of polygons, the largest first, and the polygons in them: not those of strips as narrow as
    `width`, where edges or corners meet."""
    if not len(facing.pairs):
        return [], facing
    rounding = REGION_ROUNDING * EPS * max(a.mesh.magnitude, b.mesh.magnitude)
    is_bare = not (a.solid or b.solid)
    clusters = _clusters(facing, width, is_bare) if facing.parts.any() else facing.parts
    order = np.argsort(clusters, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(clusters.take(order))) + 1)
    result: list[MergedRegion] = []
    kept = np.ones(len(facing.pairs), dtype=np.bool_)
    for group in groups:
        chosen = facing.take(group)
        is_one = bool((chosen.parts == chosen.parts[0]).all())
        if is_bare:
            chosen = _turned(chosen, chosen.normals @ chosen.normals[int(chosen.areas.argmax())] < 0.0)
        normal = (chosen.normals * chosen.areas[:, None]).sum(axis=0)
        normal /= length_of(normal) or 1.0
        if is_bare and _is_behind(a, b, chosen, normal, width, toward):
            chosen, normal = _turned(chosen, np.ones(len(group), dtype=np.bool_)), -normal
        patches = _patches(a, b, chosen)
        outline = _outline(chosen, chosen.outer, rounding)
        if not is_one or not _encloses(outline, chosen, normal):
            # Parts of a mesh that lie on each other, or one that is folded onto itself.
            merged = merged_regions(list(patches), width, rounding) if len(group) <= _MOST_MERGED else ()
            if merged and sum(region.area for region in merged) <= (1.0 + _SAME_AREA) * float(chosen.areas.sum()):
                result += merged
                continue
            outline = _outline(chosen, _sides(chosen), rounding)
            if not _encloses(outline, chosen, normal):
                # Of very many polygons that are bent each is a region of its own.
                for one in (chosen.take(np.array([k])) for k in range(len(group))):
                    sides = _outline(one, _sides(one), rounding)
                    result.append(_united(one, _patches(a, b, one), one.normals[0], sides))
                continue
        region = _united(chosen, patches, normal, outline)
        if 2.0 * region.area > width * region.length:
            result.append(region)
        else:
            kept[group] = False
    return sorted(result, key=lambda region: -region.area), facing if kept.all() else facing.take(np.flatnonzero(kept))


def _clusters(facing: Facing, width: float, is_bare: bool) -> IntArray:
    """Return for each polygon the cluster of connected parts that may overlap: boxes of their polygons meet, and these
    face the same direction; of two bare surfaces, which have no side, or the opposite one."""
    low, high = facing.corners.min(axis=1), facing.corners.max(axis=1)
    links = np.stack(_near_boxes(low, high, low, high, width), axis=1)
    links = links[facing.parts.take(links[:, 0]) != facing.parts.take(links[:, 1])]
    cosine = np.einsum("ij,ij->i", *facing.normals.take(links.T, axis=0))
    alike = (np.abs(cosine) if is_bare else cosine) > ALIKE
    return connected_parts(facing.parts.take(links[alike]), len(low)).take(facing.parts)


def _near_boxes(
    low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray, width: float
) -> tuple[IntArray, IntArray]:
    """Return which boxes of two sets are no farther apart than `width` along any axis."""
    if len(low) * len(other_low) > _MOST_TESTED:
        i, j = candidate_pairs(low, high, other_low, other_high, margin=width).pairs.T
        return i, j
    i, j = np.nonzero(((low[:, None] <= other_high + width) & (high[:, None] >= other_low - width)).all(axis=2))
    return i, j


def _is_behind(a: Body, b: Body, facing: Facing, normal: FloatArray, width: float, toward: FloatArray | None) -> bool:
    """Return whether the normal of a region of two bare surfaces is to be turned over."""
    if toward is not None and toward.any() and abs(float(normal @ toward)) > 0.1:
        return float(normal @ toward) < 0.0
    center = facing.areas @ (facing.centroids - facing.centroids[0]) / facing.areas.sum() + facing.centroids[0]
    sides = [float((body.corners.mean(axis=0) - center) @ normal) for body in (a, b)]
    if max(map(abs, sides)) <= _FLAT * width:
        return False
    # The smaller one decides: a terrain around has its middle anywhere.
    return sides[1] / b.size**2 - sides[0] / a.size**2 < 0.0


def _turned(facing: Facing, which: BoolArray) -> Facing:
    """Return polygons, some of them (k,) seen from the other side."""
    places = np.arange(facing.corners.shape[1])
    counts, is_turned = facing.counts[:, None], which[:, None]
    side = np.where(is_turned & (places < counts), (counts - 2 - places) % counts, places)
    places = np.where(places < counts, places, 0)
    back = np.where(is_turned, counts - 1 - places, places)
    sign = np.where(is_turned, -1.0, 1.0)
    return facing._replace(
        normals=sign * facing.normals,
        corners=np.take_along_axis(facing.corners, back[..., None], axis=1),
        gaps=sign * np.take_along_axis(facing.gaps, back, axis=1),
        outer=np.take_along_axis(facing.outer, side, axis=1),
    )


def _patches(a: Body, b: Body, facing: Facing) -> TrianglePatches:
    """Return the polygons as patches, the largest first."""
    facing = facing.take(np.argsort(-facing.areas, kind="stable"))
    faces = [body.mesh.triangles.take(facing.pairs[:, k], axis=0) for k, body in enumerate((a, b))]
    result = TrianglePatches(
        facing.pairs,
        np.stack(faces, axis=1),
        facing.normals,
        facing.corners,
        facing.counts,
        -facing.gaps,
        facing.areas,
        facing.centroids,
    )
    for column in vars(result).values():
        read_only(column)
    return result


def _sides(facing: Facing) -> BoolArray:
    """Return which sides (k, 8) polygons have."""
    return np.asarray(np.arange(facing.corners.shape[1]) < facing.counts[:, None])


def _outline(facing: Facing, sides: BoolArray, rounding: float) -> FloatArray:
    """Return some of the sides (k, 8) of polygons, (s, 2, 3), without those that are rounding."""
    ends = np.stack([facing.corners, facing.corners.take(AFTER, axis=1)], axis=2)[sides]
    return ends[np.abs(ends[:, 1] - ends[:, 0]).max(axis=1) > rounding]


def _encloses(outline: FloatArray, facing: Facing, normal: FloatArray) -> bool:
    """Return whether sides go around the area of the polygons, and end where they begin."""
    ends = outline - facing.corners[0, 0]
    steps = ends[:, 1] - ends[:, 0]
    if length_of(steps.sum(axis=0)) > _OPEN * float(np.abs(steps).sum()):
        return False
    area = float(facing.areas.sum())
    return abs(0.5 * float(cross_last(ends[:, 0], ends[:, 1]).sum(axis=0) @ normal) - area) <= _SAME_AREA * area


def _united(facing: Facing, patches: TrianglePatches, normal: FloatArray, outline: FloatArray) -> MergedRegion:
    """Return the region of polygons that do not overlap."""
    area = float(facing.areas.sum())
    center = facing.centroids[0] + facing.areas @ (facing.centroids - facing.centroids[0]) / area
    lengths = np.sqrt(((outline[:, 1] - outline[:, 0]) ** 2).sum(axis=1))
    return MergedRegion(
        RegionKind.POLYGON,
        read_only(normal),
        patches,
        area,
        float(lengths.sum()),
        read_only(center),
        read_only(outline),
    )


def deepest(region: MergedRegion) -> float:
    """Return how deep the meshes are in each other at the corners of a region, below 0 where none are."""
    if isinstance(region.patches, TrianglePatches):
        return float(region.patches.depths.max())
    return max(float(patch.region.depths.max()) for patch in region.patches)


# Segments and points


def _are_within(
    a: Body, b: Body, pairs: IntArray, region: MergedRegion, half: float, slack: float, beside: float
) -> BoolArray:
    """Return which pairs of triangles, `half` a gap on each side of a flat region's plane, are near each other only on
    it: of each of its sides one of the two is inside."""
    patches, start = region.patches, region.outline[:, 0]
    if not isinstance(patches, TrianglePatches) or len(pairs) * len(start) > _MOST_COMPARED:
        return np.zeros(len(pairs), dtype=np.bool_)
    origin, normal = start[0], region.normal
    if float(np.abs((patches.vertices - origin) @ normal).max()) > slack:
        return np.zeros(len(pairs), dtype=np.bool_)
    inward = unit_rows(cross_last(normal, region.outline[:, 1] - start))
    foot = np.einsum("ij,ij->i", start - origin, inward)
    p, q = (
        body.mesh.points.take(body.mesh.triangles.take(row, axis=0), axis=0) - origin
        for body, row in ((a, pairs[:, 0]), (b, pairs[:, 1]))
    )
    apart = np.minimum(-(p @ normal).max(axis=1), (q @ normal).min(axis=1)) >= half - slack
    inside = np.maximum(*((rows @ inward.T).min(axis=1) for rows in (p, q))) - foot
    return np.asarray(apart & (inside >= -beside).all(axis=1))


def _edges(
    a: Body, b: Body, facing: Facing, pairs: IntArray, gap: float, reach: float, width: float
) -> list[MergedRegion]:
    """Return the regions of segments and points beside all polygons, where edges and corners are no farther apart than
    `reach`, the longest first. What is within `width` of each other is one."""

    def are_known(ends: FloatArray) -> BoolArray:
        asked = np.concatenate([ends[:, 0], ends[:, 1], 0.5 * ends[:, 0] + 0.5 * ends[:, 1]])
        return np.asarray(_on_polygons(asked, facing, width).reshape(3, -1).all(axis=0))

    found = edge_contacts(a.mesh, b.mesh, pairs, reach, are_known)
    lengths = np.sqrt(((found.ends[:, 1] - found.ends[:, 0]) ** 2).sum(axis=1))
    found = found.take(np.lexsort((np.arange(len(lengths)), -lengths)))
    faces = _RegionFaces(a, b, gap, width)
    result: list[MergedRegion] = []
    while len(found.ends):
        start = found.ends[0, 0]
        length = length_of(found.ends[0, 1] - start)
        if length <= _SHORT * width:
            break
        along = (found.ends[0, 1] - start) / length
        on_line = _on_line(found.ends, start, along, width)
        own, found = found.take(np.flatnonzero(on_line)), found.take(np.flatnonzero(~on_line))
        own, spans = _spans(own, start, along)
        highest = np.maximum.accumulate(spans[:, 1])
        first = np.flatnonzero(np.append(True, spans[1:, 0] > highest[:-1] + width))
        for chosen in np.split(np.arange(len(spans)), first[1:]):
            low, high = spans[chosen[0], 0], spans[chosen, 1].max()
            ends = np.stack([start + low * along, start + high * along])
            is_point = high - low <= _SHORT * width
            result.append(_thin(ends.mean(axis=0)[None] if is_point else ends, own.take(chosen), faces))
    if len(found.ends):
        points = found.ends.mean(axis=1)
        roots, _ = near_clusters(points, _SHORT * width)
        for root in np.unique(roots).tolist():
            chosen = np.flatnonzero(roots == root)
            own = points.take(chosen, axis=0)
            away = own - (0.5 * own.min(axis=0) + 0.5 * own.max(axis=0))
            chosen = chosen.take(np.argsort((away * away).sum(axis=1), kind="stable"))
            result.append(_thin(points[chosen[:1]], found.take(chosen), faces))
    return sorted(result, key=lambda region: -region.length)


def _spans(found: EdgeContacts, start: FloatArray, along: FloatArray) -> tuple[EdgeContacts, FloatArray]:
    """Return segments on a line in order along it, and where they begin and end there (k, 2)."""
    spans = np.sort((found.ends - start) @ along, axis=1)
    order = np.lexsort((spans[:, 1], spans[:, 0]))
    return found.take(order), spans.take(order, axis=0)


class _RegionFaces(NamedTuple):
    """The triangles of two meshes in regions without an area."""

    a: Body
    b: Body
    gap: float
    width: float
    """How near to each other points are one."""

    def normal(self, found: EdgeContacts, point: FloatArray) -> FloatArray:
        """Return the unit vector (3,) from A to B across which triangles at a point or on a line are separated best: of
        those of where they are near, and of the triangles themselves."""
        below, above = (
            body.mesh.points.take(body.mesh.triangles.take(found.pairs[:, k], axis=0), axis=0).reshape(-1, 3) - point
            for k, body in enumerate((self.a, self.b))
        )
        own = [sign * body.normals(found.pairs[:, k]) for k, (body, sign) in enumerate(((self.a, 1.0), (self.b, -1.0)))]
        toward = above.mean(axis=0) - below.mean(axis=0)
        for k, body in enumerate((self.a, self.b)):
            if not body.solid:
                own[k] *= np.where(own[k] @ toward < 0.0, -1.0, 1.0)[:, None]
        normals = np.concatenate([found.normals, *own])
        ranks = np.append(found.ranks, np.full(2 * len(found.ranks), 2))
        chosen = np.lexsort((np.arange(len(ranks)), ranks))
        chosen = chosen[normals[chosen].any(axis=1)][:_MOST_TRIED]
        if not len(chosen):
            return np.zeros(3)
        normals = normals.take(chosen, axis=0)
        over = np.maximum((below @ normals.T).max(axis=0), -(above @ normals.T).min(axis=0))
        # The first of those that separate them alike, to what is as good as one place.
        return normals[int((over <= over.min() + self.width).argmax())].copy()

    def patch(self, ends: FloatArray, pair: IntArray, normal: FloatArray) -> Patch:
        """Return the patch of a pair of triangles: a segment (2, 3) or a point (1, 3)."""
        p, q = pair.tolist()
        faces = tuple(
            Feature(FeatureKind.FACE, tuple(body.mesh.triangles[k].tolist())) for body, k in ((self.a, p), (self.b, q))
        )
        kind = RegionKind.POINT if len(ends) == 1 else RegionKind.SEGMENT
        region = Region(
            kind,
            read_only(ends.copy()),
            0.0,
            length_of(ends[-1] - ends[0]),
            read_only(0.5 * ends[0] + 0.5 * ends[-1]),
            read_only(np.full(len(ends), -self.gap)),
            ((faces[0], faces[1]),) * len(ends),
        )
        return Patch(p, q, normal, region)


def _thin(ends: FloatArray, found: EdgeContacts, faces: _RegionFaces) -> MergedRegion:
    """Return the region of a segment (2, 3), of whose parts these are, or of a point (1, 3)."""
    normal = read_only(faces.normal(found, ends[0]))
    if len(ends) == 1:
        patches = [faces.patch(ends, found.pairs[0], normal)]
    else:
        lengths = np.abs(found.ends[:, 1] - found.ends[:, 0]).max(axis=1)
        order = np.lexsort((np.arange(len(lengths)), -lengths)).tolist()
        patches = [faces.patch(found.ends[k], found.pairs[k], normal) for k in order if lengths[k] > 0.0]
    middle = read_only(0.5 * ends[0] + 0.5 * ends[-1])
    outline = ends[None] if len(ends) == 2 else np.zeros((0, 2, 3))
    length = length_of(ends[-1] - ends[0])
    return MergedRegion(patches[0].region.kind, normal, tuple(patches), 0.0, length, middle, read_only(outline.copy()))


def point_region(a: Body, b: Body, point: FloatArray, pair: IntArray, normal: FloatArray) -> MergedRegion:
    """Return the region of a point (3,) of a pair of triangles (2,)."""
    return _thin(
        point[None],
        EdgeContacts(pair[None], point[None, None].repeat(2, axis=1), normal[None], np.zeros(1, dtype=np.intp)),
        _RegionFaces(a, b, 0.0, 0.0),
    )


def _on_line(ends: FloatArray, start: FloatArray, along: FloatArray, width: float) -> BoolArray:
    """Return which segments (k, 2, 3) are on a line."""
    away = ends - start
    off = away - (away @ along)[..., None] * along
    on: BoolArray = ((off * off).sum(axis=2) <= width * width).all(axis=1)
    return on


def _on_polygons(points: FloatArray, facing: Facing, width: float) -> BoolArray:
    """Return which points (n, 3) are on a polygon."""
    result = np.zeros(len(points), dtype=np.bool_)
    start = facing.corners
    i, j = _near_boxes(points, points, start.min(axis=1), start.max(axis=1), width)
    away = points.take(i, axis=0)[:, None] - start[j]
    inside = np.abs(np.einsum("ij,ij->i", away[:, 0], facing.normals[j])) <= width
    side = start.take(AFTER, axis=1) - start
    # The line of a short side is anywhere.
    side[np.abs(side).max(axis=2) <= width] = 0.0
    across = cross_last(facing.normals[:, None], side)
    inward = unit_rows(across.reshape(-1, 3)).reshape(across.shape)
    inside &= (np.einsum("ikj,ikj->ik", away, inward[j]) >= -width).all(axis=1)
    result[i[inside]] = True
    return result
