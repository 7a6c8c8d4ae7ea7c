# SPDX-License-Identifier: GPL-3.0-or-later
"""What a contact of a mesh and another solid reports, and what its checks measure of the two."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..compounds.compound_contact import BEYOND
from ..curved.curved_inside import support_points
from ..mesh_contact.mesh_result import MeshCertificate, certificate_of
from ..meshes.body import Body
from ..meshes.depth_proof import renumbered
from ..meshes.enclosure import SURROUNDED
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid, SolidFacets, bounds_of, pieces_of
from ..meshes.triangle_pairs import crossing_triangles
from ..narrow_phase.relation import clear_length, contact_band
from ..note import NOTCH
from ..result import Contact, Relation, Status
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..tolerance import CURVED_ROUNDING, EPS, MESH_GAP, promised
from ..types import FloatArray
from .inside import SolidSide, are_separated, least_turns, parts_inside
from .mesh_depth import crossing_depth
from .pair_proof import pair_bounds

_MOST_CURVED = 400
"""Triangles that curved pieces are measured against one by one."""
TOO_MANY = f"more than {_MOST_CURVED} triangles are near the pieces"
_TURNS = 1e-9
"""Not relative: what winding numbers are rounded by."""


class ReportedMesh:
    """A mesh and another solid and what was reported of them."""

    def __init__(self, contact: Contact, solids: tuple[Solid, Solid], facets: tuple[SolidFacets, SolidFacets]) -> None:
        assert isinstance(contact.certificate, MeshCertificate)
        self.contact, self.solids, self.facets = contact, solids, facets
        self.a, self.b = Body.of(facets[0].mesh), Body.of(facets[1].mesh)
        self.slit = self.a.slit + self.b.slit
        counted = self.a.counted, self.b.counted
        self.proof = replace(
            contact.certificate,
            crossings=contact.certificate.crossings.renumbered(*counted),
            depth_proof=renumbered(contact.certificate.depth_proof, *counted),
        )
        self.is_open = contact.status is Status.BOUNDS_ONLY
        self.curved = facets[0].curved > 0 or facets[1].curved > 0
        self.sides = tuple(map(SolidSide, solids, (self.a, self.b), (found.curved > 0 for found in facets)))
        a, b = solids
        magnitude = max(a.magnitude, b.magnitude)
        self.promise = (
            promised(0.0 if self.is_open else contact.signed_distance, min(a.extent, b.extent), magnitude)
            + MESH_GAP * EPS * magnitude
        )
        if self.curved:
            self.promise += CURVED_ROUNDING * EPS * magnitude
        self.band = contact_band(a, b, contact.contact_tolerance)
        self.pieces = self.proof.pieces_a, self.proof.pieces_b
        self.fit = all(found is not None and found.exact for found in self.pieces)

    @cached_property
    def enclosed(self) -> tuple[Relation, bool] | None:
        """Which is inside the other, a mesh that is closed but for small holes, without touching it, and whether all
        corners were looked at; None where neither is, or not all were and another relation was reported."""
        if self.proof.surface_distance <= self.band:
            return None
        if len(self.proof.crossings) or any(parts_inside(self.a, self.b)) or any(parts_inside(self.b, self.a)):
            return None
        for inner, outer, relation in ((self.a, self.b, Relation.A_INSIDE_B), (self.b, self.a, Relation.B_INSIDE_A)):
            least, are_all = least_turns(inner, outer)
            is_reported = self.contact.relation is relation
            if (is_reported or are_all) and least >= SURROUNDED + (-_TURNS if is_reported else _TURNS):
                return relation, are_all
        return None

    @property
    def tolerance(self) -> float:
        """How deep inside each other pieces count as touching."""
        return certificate_of(self.proof.compound).tolerance if self.proof.compound else 0.0

    def spare(self) -> float:
        """How far off the pieces are whose contact is told."""
        if self.proof.compound is None:
            return 0.0
        return sum(found.distance for found in self.pieces if found is not None)

    @cached_property
    def limit(self) -> float:
        """How deep inside each other solids that touch may be."""
        return 2.0 * (self.band + self.promise) + self.spare() + max(facets.slack for facets in self.facets)

    @cached_property
    def of_pieces(self) -> bool:
        """Whether the translation reported is that of exact pieces."""
        contact, of_pieces = self.contact, self.proof.compound
        if of_pieces is None or not contact.normal.any() or self.proof.compound_of_facets or not self.fit:
            return False
        slack = self.spare() + self.tolerance + self.promise
        along = float(contact.normal @ of_pieces.normal) > 1.0 - 1e-9
        return along and abs(of_pieces.signed_distance - contact.signed_distance) <= 8.0 * slack

    def are_separated(self, *translations: FloatArray) -> list[bool]:
        """Return whether the meshes, or the facets, are separated after B is moved by each of some vectors (3,)."""
        return are_separated(self.a, *map(self.b.translated, translations))

    def deepest_after(self, translation: FloatArray) -> float:
        """Return how deep two triangles are in each other after B is moved; 0.0 where they may only touch."""
        moved = self.b.translated(translation)
        crossings = crossing_triangles(self.a.mesh, moved.mesh)
        return crossing_depth(crossings, self.a, moved, self.limit + self.tolerance)

    def slab(self, direction: FloatArray) -> float:
        """Return how thick the empty slab across a unit vector between A and B is, < 0 where they overlap along it."""
        (solid_a, solid_b), (a, b) = self.solids, (self.a.mesh, self.b.mesh)
        return -_farthest(solid_b, b, -direction) - _farthest(solid_a, a, direction)

    def separates_along(self, direction: FloatArray) -> bool:
        """Return whether B moved by the depth along a unit vector is separated on the meshes, to rounding."""
        depth = self.contact.depth
        if not any(self.are_separated(depth * direction, (depth + self.promise) * direction)):
            return False
        found = self.gap(depth * direction, -self.promise) if self.curved else (0.0, 0.0)
        return found is not None and found[0] >= -2.0 * self.promise

    def beyond(self) -> list[FloatArray]:
        """Return what is promised to separate, too, when it is moved besides: none where a note says so."""
        contact = self.contact
        if NOTCH in contact.notes or contact.depth <= self.band + self.promise:
            return []
        more = max(self.band, clear_length(*self.solids, contact.contact_tolerance, contact.depth))
        return [fraction * more * contact.normal for fraction in BEYOND]

    def gap(self, translation: FloatArray, reach: float) -> tuple[float, float] | None:
        """Return what is proved of the signed distance of the pieces of the solid that is no mesh, and of all triangles
        within `reach`, B moved by a vector (3,): least and most; infinite when none is near. None when too many are."""
        of_a = not isinstance(self.solids[0], Mesh)
        solid, mesh = self.solids if of_a else self.solids[::-1]
        assert not isinstance(solid, Mesh)
        assert isinstance(mesh, Mesh)
        corners = mesh.points[mesh.triangles] + (translation if of_a else -translation)
        lows, highs = bounds_of(corners)
        least, most, count = np.inf, np.inf, 0
        for piece in pieces_of(solid):
            low, high = piece.bounds
            between = np.maximum(np.maximum(lows - high, low - highs), 0.0)
            near = np.flatnonzero(np.sqrt((between * between).sum(axis=1)) <= max(reach, 0.0))
            near = near[_slabs(piece, corners[near]) <= reach]
            count += len(near)
            if count > _MOST_CURVED:
                return None
            for k in near.tolist():
                proven = pair_bounds(piece, ConvexHull(corners[k]))
                least, most = min(least, proven.lower), min(most, proven.upper)
        return least, most


def _slabs(piece: ConvexShape, corners: FloatArray) -> FloatArray:
    """Return how far a convex shape and triangles (k, 3, 3) are apart at least, by planes across the normal of each and
    across the line between their middles; < 0 where these show nothing."""
    out = corners.mean(axis=1) - piece.center
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across *= np.where((across * out).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
    gaps = np.full(len(corners), -np.inf)
    for directions in (out, across):
        lengths = np.linalg.norm(directions, axis=1)
        rows = np.flatnonzero(lengths > 0.0)
        units = directions[rows] / lengths[rows, None]
        tops = (support_points(piece, units) * units).sum(axis=1)
        gaps[rows] = np.maximum(gaps[rows], (corners[rows] @ units[:, :, None])[:, :, 0].min(axis=1) - tops)
    return gaps


def _farthest(solid: Solid, facets: Mesh, direction: FloatArray) -> float:
    """Return how far a solid reaches along a unit vector; its facets where it is no curved one."""
    if isinstance(solid, Mesh):
        return float((facets.points[np.unique(facets.triangles)] @ direction).max())
    return max(float(support_points(piece, direction[None])[0] @ direction) for piece in pieces_of(solid))
