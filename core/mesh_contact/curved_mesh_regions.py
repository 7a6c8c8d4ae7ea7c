# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact regions of curved pieces and a mesh, from the pieces' own features and the triangles: parts of disks and
polygons, segments and points where triangles face them, and where edges and corners are as near and no face is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..compounds.compound_region import merged_regions
from ..curved.convex_contact import convex_contact
from ..curved.curved_region import curved_region, whole_feature
from ..meshes.body import Body
from ..meshes.coordinates import scale_exponent
from ..meshes.point_distance import point_triangle_distances
from ..meshes.solid_facets import bounds_of
from ..region.merged_region import MergedRegion, Patch
from ..region.region import Region, RegionKind
from ..shapes.curved_shape import ConvexShape, FlatFeature
from ..shapes.feature import Feature, FeatureKind
from ..shapes.hull import ConvexHull
from ..shapes.rounded import flat_feature
from ..tolerance import EPS, REGION_ROUNDING
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import unit_rows

_MOST_EDGES = 64
"""Triangles that do not face a piece, up to which it is compared with each of them."""
_BEHIND = 1e-6
"""Sine: what rises no more from a point towards a piece than this is not nearer to it than the point."""


def curved_mesh_regions(
    pieces: Sequence[ConvexShape], mesh: Body, gap: float, tolerance: float, of_a: bool
) -> tuple[MergedRegion, ...]:
    """Return where pieces are `gap` apart from a mesh, to the tolerance, the largest region first; below 0 they are as
    deep in it. Empty where they are nowhere.

    of_a: whether the pieces are those of A. Patches name a piece and a triangle.
    """
    magnitude = max(mesh.mesh.magnitude, *(piece.magnitude for piece in pieces))
    exponent = scale_exponent(magnitude)
    if exponent:
        factor = 2.0**exponent
        pieces, mesh = [piece.scaled(factor) for piece in pieces], Body(mesh.mesh.scaled(factor), mesh.solid)
        gap, tolerance, magnitude = gap * factor, tolerance * factor, magnitude * factor
    rounding = REGION_ROUNDING * EPS * magnitude
    found = [
        spot
        for k, piece in enumerate(pieces)
        for spot in _Facing(k, piece, mesh, gap, tolerance + rounding, rounding, of_a).spots()
    ]
    lowest = [spot.patch for spot in found if spot.is_lowest]
    # Where rounding leaves none, the nearest.
    patches = lowest or [min(found, key=lambda spot: spot.distance).patch] if found else []
    regions = merged_regions(patches, tolerance, rounding)
    return tuple(region.scaled(-exponent) for region in regions) if exponent else regions


class _Spot(NamedTuple):
    """A patch, how far apart they are there, and whether they are farther apart all around."""

    patch: Patch
    distance: float
    is_lowest: bool


class _Facing:
    """A piece and the triangles near it."""

    def __init__(
        self,
        number: int,
        piece: ConvexShape,
        mesh: Body,
        gap: float,
        tolerance: float,
        rounding: float,
        of_a: bool,
    ) -> None:
        self.number, self.piece, self.mesh, self.of_a = number, piece, mesh, of_a
        self.gap, self.tolerance, self.rounding = gap, tolerance, rounding
        reach = max(gap, 0.0) + tolerance
        self.triangles = mesh.mesh.tree.query_box(piece.bounds[0] - reach, piece.bounds[1] + reach)
        self.corners = mesh.mesh.points[mesh.mesh.triangles[self.triangles]]
        normals = mesh.normals(self.triangles)
        ahead = np.einsum("ij,ij->i", self.corners[:, 0] - piece.center, normals)
        # From the piece to the triangle: against the outer side of a solid, to the other side of a bare surface.
        signs = np.full(len(ahead), -1.0) if mesh.solid else np.where(ahead < 0.0, -1.0, 1.0)
        self.normals = normals * signs[:, None] + 0.0
        known: BoolArray = np.abs(self.normals).max(axis=1) > 0.0
        tops = piece.supports(np.where(known[:, None], self.normals, [1.0, 0.0, 0.0]))
        self.heights = np.einsum("ij,ij->i", self.corners[:, 0] - tops, self.normals)
        self.is_facing = known & (np.abs(self.heights - gap) <= tolerance)

    def spots(self) -> list[_Spot]:
        """Return where triangles face the piece, and where edges and corners are as near."""
        faces = ((k, self._face(k)) for k in np.flatnonzero(self.is_facing).tolist())
        found = [_Spot(patch, float(self.heights[k]), True) for k, patch in faces if patch is not None]
        beside = self._ahead() <= self.gap + self.tolerance
        beside &= ~self.is_facing & (self.heights <= self.gap + self.tolerance)
        if not found:
            beside |= self.is_facing
        chosen = np.flatnonzero(beside)
        if len(chosen) <= _MOST_EDGES:
            found += self._edges(chosen)
        return found

    def _ahead(self) -> FloatArray:
        """Return how far all of each triangle is beyond the piece along the axes and the normals of those that face
        it."""
        lows, highs = bounds_of(self.corners)
        low, high = self.piece.bounds
        result = np.maximum(lows - high, low - highs).max(axis=1)
        facing = np.flatnonzero(self.is_facing)
        if len(facing):
            normal = self.normals[facing[0]]
            top = self.piece.supports(normal[None])[0]
            np.maximum(result, ((self.corners - top) @ normal).min(axis=1), out=result)
        return result

    def _face(self, k: int) -> Patch | None:
        """Return the patch of the piece's feature and a triangle that faces it, None where they miss each other."""
        normal, corners = self.normals[k], self.corners[k]
        feature = flat_feature(self.piece, normal, self.tolerance)
        if not _may_meet(feature, self.piece.rounding_radius, normal, corners, self.tolerance):
            return None
        top = self.piece.supports(normal[None])[0]
        on_core = top - self.piece.rounding_radius * normal
        own = self.piece, feature, self.piece.rounding_radius, on_core
        other = ConvexHull(corners), FlatFeature(corners), 0.0, top + self.heights[k] * normal
        first, second = (own, other) if self.of_a else (other, own)
        across = normal if self.of_a else -normal
        region = curved_region(
            first[1],
            second[1],
            across,
            first[2],
            second[2],
            self.tolerance,
            first[0],
            second[0],
            (first[3], second[3]),
        )
        if region is None:
            return None
        if region.kind is RegionKind.POINT:
            shift = -0.5 * float(region.depths[0]) * normal
            off, _ = point_triangle_distances((region.vertices[0] + shift)[:, None], corners[:, :, None])
            if off[0] > self.tolerance:
                return None  # they miss each other
        return self._patch(k, across, region, feature)

    def _edges(self, chosen: IntArray) -> list[_Spot]:
        """Return where edges and corners of triangles are as near as asked for."""
        found: list[_Spot] = []
        reach = max(self.gap, 0.0) + self.tolerance
        for k in chosen.tolist():
            hull = ConvexHull(self.corners[k])
            shapes = (self.piece, hull) if self.of_a else (hull, self.piece)
            small = min(self.piece.diameter, hull.diameter) or max(self.piece.diameter, hull.diameter)
            c = convex_contact(*shapes, clearance=2.0 * reach, contact_tolerance=self.tolerance / small)
            if abs(c.signed_distance - self.gap) > self.tolerance or c.region is None:
                continue
            toward, foot = (c.normal, c.point_on_b) if self.of_a else (-c.normal, c.point_on_a)
            patch = self._patch(k, c.normal, c.region, flat_feature(self.piece, toward, self.tolerance))
            found.append(_Spot(patch, c.signed_distance, self._is_lowest(foot, toward)))
        return found

    def _is_lowest(self, foot: FloatArray, normal: FloatArray) -> bool:
        """Return whether no triangle at a point of the mesh rises from there towards the piece."""
        mesh = self.mesh.mesh
        around = mesh.tree.query_box(foot - self.tolerance, foot + self.tolerance)
        off, _ = point_triangle_distances(np.repeat(foot[:, None], len(around), axis=1), mesh.corner_rows(around))
        away = (mesh.points[mesh.triangles[around[off <= self.tolerance]]] - foot).reshape(-1, 3)
        return bool((away @ normal >= -_BEHIND * np.sqrt((away * away).sum(axis=1)) - self.rounding).all())

    def _patch(self, k: int, normal: FloatArray, region: Region, feature: FlatFeature) -> Patch:
        """Return a patch, which names the piece's feature and the triangle."""
        triangle = int(self.triangles[k])
        face = Feature(FeatureKind.FACE, tuple(self.mesh.mesh.triangles[triangle].tolist()))
        names = (whole_feature(feature), face) if self.of_a else (face, whole_feature(feature))
        region = replace(region, features=(names,) * len(region.vertices))
        pair = (self.number, triangle) if self.of_a else (triangle, self.number)
        return Patch(*pair, normal, region)


def _may_meet(feature: FlatFeature, radius: float, normal: FloatArray, corners: FloatArray, tolerance: float) -> bool:
    """Return whether a feature may be over a triangle (3, 3), seen along a unit normal: all of it is beyond no side."""
    after = corners.take((1, 2, 0), axis=0)
    outward = unit_rows(np.cross(after - corners, normal))
    if float((corners[2] - corners[0]) @ outward[0]) > 0.0:
        outward = -outward
    beyond = np.einsum("pkj,kj->pk", (feature.points + radius * normal)[:, None] - corners, outward)
    return bool((beyond.min(axis=0) <= feature.disk_radius + tolerance).all())
