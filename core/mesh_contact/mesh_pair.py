# SPDX-License-Identifier: GPL-3.0-or-later
"""Two meshes, or a mesh and the facets of another solid, and what is known of them as they are solved.

The signed distance is between two bounds, each with a proof:

             intersecting                                  separated
          lower        upper                             lower  upper
    --------[------------]--------------|------0------|----[------]------> signed distance
         -length       -least         -band          band

    length      of a translation that was tried: with B moved by it no triangles meet, and nothing is inside
    least       of a depth proof: no shorter translation separates
    separated   a proved lower bound of the distance, and `surface`, that of the nearest points, with `rounding`

The depth is the length of the shortest translation that separates: least <= depth <= length. Where the surfaces do not
meet, and a part of one is inside the other, `surface` is a lower bound of the depth, too. Bounds are widened by the
slits, how far the surfaces may be from the meshes. Up to `band` from 0 two are TOUCHING; up to `promise` a depth is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from math import nan

import numpy as np

from ..budget import Budget
from ..meshes.body import Body
from ..meshes.crossings import Crossings
from ..meshes.decomposition import Decomposition
from ..meshes.depth_bounds import Samples, crossing_pair, deep_corner, sample_surface
from ..meshes.depth_proof import CrossingPair, DepthProof, PointInside, renumbered
from ..meshes.enclosure import enclosure_around
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import SolidFacets
from ..narrow_phase.relation import contact_band
from ..note import Note
from ..progress import Progress, subrange
from ..region.merged_region import MergedRegion
from ..result import Contact, Relation, Status
from ..shapes.shape import counted
from ..tolerance import CONVEX_COVERED, EPS, MESH_GAP, promised
from ..types import FloatArray, positive_zero, read_only
from .mesh_faults import mesh_faults
from .mesh_regions import mesh_regions
from .mesh_result import BOUNDS_MEET, LEAST_GAP, MeshCertificate, MeshDraft
from .surface_side import side_of_surface

Pieces = Decomposition | Callable[[], Decomposition | None]
"""Convex pieces of a mesh, or a function that returns them, or None without any, when they are needed."""
NO_DEPTH = Note("open surfaces have no inside, so there is no depth")
"""The note of contacts that have no depth."""
_DEEPER = 2.0
"""Times the band: gaps and depths in regions of what touches."""


class MeshPair:
    """Two meshes, or a mesh and the facets of another solid, and what is known of them so far."""

    def __init__(
        self,
        facets: tuple[SolidFacets, SolidFacets],
        clearance: float,
        contact_tolerance: float,
        budget: Budget,
        pieces: list[Pieces | None],
        size: float,
        progress: Progress | None,
        depth: bool = True,
        wants_regions: bool = True,
    ) -> None:
        self.facets, self.depth, self.wants_regions = facets, depth, wants_regions
        a, b = (of.solid if of.curved else of.mesh for of in facets)
        self.clearance, self.contact_tolerance, self.budget, self.size = clearance, contact_tolerance, budget, size
        self.pieces = [given if isinstance(given, Decomposition) else None for given in pieces]
        self.makers = [None if isinstance(given, Decomposition) else given for given in pieces]
        self.progress = progress
        self.magnitude = max(a.magnitude, b.magnitude)
        self.rounding = MESH_GAP * EPS * self.magnitude
        self.promise = promised(0.0, min(a.extent, b.extent), self.magnitude)
        self.band = contact_band(a, b, contact_tolerance)
        self.notes: list[Note] = []
        self.crossings = Crossings.none()
        self.surface = 0.0
        self.points = np.zeros(3), np.zeros(3)
        self.nearest = 0, 0
        self.a_in_b = self.b_in_a = np.zeros(0, dtype=np.bool_)
        self.intersects = self.nested = False
        self.depth_proof: DepthProof | None = None
        for k, (name, given) in enumerate(zip("AB", facets, strict=True)):
            part = subrange(progress, 0.05 * k, 0.05 * (k + 1))
            if isinstance(given.solid, Mesh):
                self.notes += [replace(note, about=name) for note in mesh_faults(given.solid, budget.nodes > 0, part)]
            elif not given.curved and not self.body(k).solid:
                self.notes.append(Note("flat, so only its surface collides", about=name))

    @cached_property
    def a(self) -> Body:
        """A, or its facets."""
        return Body.of(self.facets[0].mesh)

    @cached_property
    def b(self) -> Body:
        """B, or its facets."""
        return Body.of(self.facets[1].mesh)

    def body(self, k: int) -> Body:
        """Return `a` or `b`."""
        return self.b if k else self.a

    def contact(self, draft: MeshDraft, depth: bool = True) -> Contact:
        """Return the contact that a draft of this pair describes; `depth`: with a depth deeper than the contact
        tolerance."""
        signed_distance = draft.signed_distance
        is_deep = draft.intersects and draft.normal is not None and draft.relation is not Relation.TOUCHING
        if is_deep and not depth:
            return self._without_depth(draft)
        if not draft.intersects and signed_distance <= 0.0:
            signed_distance = LEAST_GAP
        has_depth = not draft.intersects or draft.normal is not None
        # Facets that are not needed are not made.
        bodies = [None if of.is_thick else self.body(k) for k, of in enumerate(self.facets)]
        slit = sum(0.0 if body is None else body.slit for body in bodies) if has_depth else 0.0
        lower, upper = min(draft.lower, signed_distance) - slit, max(draft.upper, signed_distance) + slit
        normal = positive_zero(np.zeros(3) if draft.normal is None else draft.normal)
        status = Status.CERTIFIED
        if not has_depth:
            status = Status.NO_DEPTH
        elif upper - lower > BOUNDS_MEET * self.size:
            status = Status.BRACKET
        crossings = draft.crossings
        if len(crossings):
            crossings = crossings.renumbered(self.a.named, self.b.named)
        proof = draft.depth_proof and renumbered(draft.depth_proof, self.a.named, self.b.named)
        compound = draft.compound
        # Only of exact pieces all translations separate the meshes, and not only the one that was tried on them.
        same = (
            compound is not None
            and signed_distance < 0.0
            and np.array_equal(compound.normal, normal)
            and compound.status is not Status.UNVERIFIED
            and all(found is not None and found.exact for found in self.pieces)
        )
        return Contact(
            relation=draft.relation,
            signed_distance=signed_distance + 0.0,
            normal=read_only(normal),
            point_on_a=read_only(np.array(draft.points[0])),
            point_on_b=read_only(np.array(draft.points[1])),
            region=None,
            regions=draft.regions,
            curves=draft.curves,
            lower_bound=lower + 0.0,
            upper_bound=upper + 0.0,
            ties=compound.ties if compound is not None and same else read_only(normal[None]),
            method="mesh",
            iterations=0 if compound is None else compound.iterations,
            status=status,
            notes=draft.notes,
            clearance=self.clearance,
            contact_tolerance=self.contact_tolerance,
            _middle=None if draft.middle is None else read_only(draft.middle),
            certificate=MeshCertificate(
                crossings=crossings,
                surface_distance=draft.surface,
                a_solid=bodies[0] is None or bodies[0].solid,
                b_solid=bodies[1] is None or bodies[1].solid,
                slack_a=draft.slacks[0],
                slack_b=draft.slacks[1],
                compound=compound,
                compound_of_facets=draft.of_facets,
                pieces_a=self.pieces[0] if compound is not None else None,
                pieces_b=self.pieces[1] if compound is not None else None,
                depth_proof=proof,
            ),
        )

    def _without_depth(self, draft: MeshDraft) -> Contact:
        """Return the contact of two that are deeper in each other than the contact tolerance, without its depth."""
        points = draft.points if draft.slacks != (0.0, 0.0) else self.points
        found = self.contact(replace(draft, points=points, compound=None, regions=(), lower=-self.out_of_box()))
        proof = draft.depth_proof
        least = max(0.0 if proof is None else proof.least, draft.surface if self.nested else 0.0)
        zero = read_only(np.zeros(3))
        return replace(
            found,
            signed_distance=nan,
            normal=zero,
            ties=zero[None],
            upper_bound=min(0.0, self.a.slit + self.b.slit + self.rounding - least) + 0.0,
            status=Status.BOUNDS_ONLY,
        )

    def out_of_box(self) -> float:
        """Return the length of a translation along an axis that moves B out of the box around A."""
        (low, high), (other_low, other_high) = self.a.mesh.bounds, self.b.mesh.bounds
        slack = self.facets[0].slack + self.facets[1].slack + self.rounding
        return float(np.minimum(high - other_low, other_high - low).min()) + slack

    def apart_relation(self, gap: float, band: float) -> Relation:
        """Return the relation of shapes that do not intersect."""
        if gap <= band:
            return Relation.TOUCHING
        return Relation.WITHIN_CLEARANCE if gap <= self.clearance else Relation.SEPARATED

    @cached_property
    def touching(self) -> tuple[MergedRegion, ...]:
        """Where the meshes are no farther apart, and no deeper in each other, than those that touch may be with what is
        within the contact tolerance of their support planes."""
        return self.touching_toward(None)

    def touching_toward(self, direction: FloatArray | None) -> tuple[MergedRegion, ...]:
        """Return the same; of two bare surfaces with the normals that point in a direction from A to B."""
        return mesh_regions(self.a, self.b, 0.0, _DEEPER * self.band, direction)

    def enclosed(self) -> Relation | None:
        """Return which of two that neither meet nor touch is inside the other, a mesh that is closed but for small
        holes, and note it; None where neither is. They intersect then, and have no depth."""
        sides = (self.a, self.b, "A", "B", Relation.A_INSIDE_B), (self.b, self.a, "B", "A", Relation.B_INSIDE_A)
        for inner, outer, name, around, relation in sides:
            found = enclosure_around(inner, outer)
            if found is not None:
                self.notes += [Note(f"{name} is inside {around}, but {around} {_holes(found.holes)}"), NO_DEPTH]
                self.intersects = True
                return relation
        return None

    def note_side(self, nearest: tuple[FloatArray, FloatArray]) -> None:
        """Add a note on which side of an open mesh a solid is, from the points on A and B nearest to each other."""
        for k, given in enumerate(self.facets):
            if isinstance(given.solid, Mesh) and not (surface := self.body(k)).solid and self.body(1 - k).solid:
                side = side_of_surface(surface, self.body(1 - k), nearest[1 - k], self.promise)
                if side:
                    words = "in front of" if side > 0 else "behind"
                    self.notes.append(Note(f"{'BA'[k]} is {words} the faces of {'AB'[k]}"))

    def apart(self, relation: Relation, proved: float, normal: FloatArray | None) -> MeshDraft:
        """Return the results for separated surfaces; `proved` is a lower bound of their distance."""
        upper = self.surface + (self.rounding if not self.intersects else 0.0)
        return self.draft(relation, self.surface, proved, upper, normal)

    def draft(
        self,
        relation: Relation,
        signed_distance: float = 0.0,
        lower: float = 0.0,
        upper: float = 0.0,
        normal: FloatArray | None = None,
        found: Contact | None = None,
        along_pieces: bool = True,
    ) -> MeshDraft:
        """Return results; `found` is the contact of the pieces, whose witness points and regions are those of the
        meshes if the translation has the same direction."""
        of = found if along_pieces else None
        return MeshDraft(
            relation=relation,
            signed_distance=signed_distance,
            lower=lower,
            upper=upper,
            normal=normal,
            points=self.points if of is None else (of.point_on_a, of.point_on_b),
            regions=() if of is None else of.regions,
            compound=found,
            crossings=self.crossings,
            depth_proof=self.depth_proof,
        )

    @cached_property
    def deepest_pair(self) -> CrossingPair | None:
        """The crossing triangles that prove the largest depth."""
        return crossing_pair(self.a.mesh, self.b.mesh, self.crossings)

    def is_deep(self) -> bool:
        """Return whether two that intersect are known to do so by more than the contact tolerance."""
        return self.deep_proof is not None if len(self.crossings) else self.surface > self.band

    @cached_property
    def deep_proof(self) -> CrossingPair | PointInside | None:
        """What proves that two that cross are deeper in each other than the contact tolerance, if that is known."""
        pair = self.deepest_pair
        if pair is not None and pair.least > self.band:
            return pair
        return deep_corner(self.a, self.b, _DEEPER * self.band)  # so none of `touching` is as deep

    def is_within_box(self, inner: Body, outer: Body) -> bool:
        """Return whether `inner` is inside the box of `outer` within the contact tolerance."""
        (low, high), (outer_low, outer_high) = inner.mesh.bounds, outer.mesh.bounds
        return bool((low >= outer_low - self.band).all() and (high <= outer_high + self.band).all())

    def coincide(self, of_a: Samples, of_b: Samples) -> bool:
        """Return whether the surfaces coincide, by their samples, and enclose the same volume."""
        if max(float(of_a.distance.max()), float(of_b.distance.max())) > self.band:
            return False
        if self.a.solid != self.b.solid:
            return False
        if not self.a.solid:
            return True
        volume_a, volume_b = abs(self.a.mesh.volume), abs(self.b.mesh.volume)
        return abs(volume_a - volume_b) <= 2.0 * self.band * self.a.mesh.area + CONVEX_COVERED * volume_a

    @cached_property
    def samples(self) -> tuple[Samples, Samples]:
        """Points of A and of B, seen from the other."""
        a, b, crossings = self.a, self.b, self.crossings
        return sample_surface(a, b, crossings, 0, self.band), sample_surface(b, a, crossings, 1, self.band)

    def nested_relation(self, otherwise: Relation) -> Relation:
        """Return the relation of shapes whose surfaces do not meet, with parts of one inside the other."""
        if not self.nested or otherwise in (Relation.COINCIDENT, Relation.TOUCHING):
            return otherwise
        if self.a_in_b.all() and not self.b_in_a.any():
            return Relation.A_INSIDE_B
        if self.b_in_a.all() and not self.a_in_b.any():
            return Relation.B_INSIDE_A
        return Relation.PENETRATING


def _holes(edges: tuple[int, ...]) -> str:
    """Return the holes of a mesh in words, by how many edges their rims have."""
    if not edges:
        return "is not closed"
    size = counted(edges[-1], "edge", "edges")
    return f"has a hole of {size}" if len(edges) == 1 else f"has {len(edges)} holes, the largest of {size}"
