# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of two meshes: of solids, of a solid and a bare surface, or of two bare surfaces, which have no depth.

Unless both are solids with exact pieces, both bounds of the depth are proved on the meshes themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from math import nan

import numpy as np

from ..budget import Budget
from ..compounds.compound import Compound
from ..compounds.compound_contact import compound_contact
from ..decomposition.mesh_pieces import DEFAULT_MOST_REFLEX, check_pieces, exact_pieces
from ..meshes.body import Body, are_disjoint, length_of
from ..meshes.contact_curves import contact_curves
from ..meshes.crossings import Crossings
from ..meshes.decomposition import Decomposition
from ..meshes.depth_bounds import MOST_SAMPLED, Samples, common_ball, crossing_pair, deep_corner, sample_surface
from ..meshes.depth_proof import CommonBall, CrossingPair, DepthProof, PointInside, renumbered
from ..meshes.enclosure import enclosure_around
from ..meshes.mesh import Mesh
from ..meshes.mesh_distance import mesh_distance
from ..meshes.point_distance import points_to_mesh
from ..meshes.separation import SeparationSearch, contact_directions
from ..meshes.short_steps import are_clear_after
from ..meshes.solid_facets import SolidFacets
from ..meshes.triangle_pairs import crossing_triangles
from ..narrow_phase.relation import clear_length, contact_band
from ..note import NOTCH, Note
from ..progress import Progress, report_progress, subrange
from ..region.merged_region import MergedRegion
from ..result import CompoundCertificate, Contact, Relation, Status
from ..shapes.polytope import Polytope
from ..shapes.shape import counted
from ..tolerance import CLEAR_LONGER, CONVEX_COVERED, EPS, MESH_DEPTH_STEP, MESH_GAP, promised
from ..types import FloatArray, positive_zero, read_only
from .mesh_faults import mesh_faults
from .mesh_regions import deepest, mesh_regions, named_regions, point_region
from .mesh_result import BOUNDS_MEET, LEAST_GAP, MeshCertificate, MeshDraft
from .search_depth import search_depth
from .surface_side import side_of_surface

Pieces = Decomposition | Callable[[], Decomposition | None]
"""Convex pieces of a mesh, or a function that returns them, or None without any, when they are needed."""
NO_DEPTH = Note("open surfaces have no inside, so there is no depth")
"""The note of contacts that have no depth."""

_SAMPLED = Note("touching was decided from samples of the surfaces")
_MOST_WORK = 5_000_000  # pairs of edges of pieces: some seconds
_MOST_CUTS = 50_000
"""Triangles times edges that bend inward of a mesh that is cut into exact pieces: a second."""
_ALONG = 1e-9
"""Less than 1 by this, the cosine of two normals: they are one, and have the same regions."""
_MOST_NORMALS = 8
"""Regions whose normals are tried."""
_DEEPER = 2.0
"""Times the band: gaps and depths in regions of what touches."""
_TOGETHER = 0.99
"""Cosine of the angle up to which B leaves two regions along one of their normals."""
_SAME_NORMAL = 1.0 - 1e-12
"""Cosine of the angle up to which two normals are one."""
_ASKED = 16
"""Corners of a mesh that are tested first for whether it is inside the other."""


class MeshPair:
    """Two meshes, or a mesh and the facets of another solid, and their contact."""

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
        self._makers = [None if isinstance(given, Decomposition) else given for given in pieces]
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

    def draft(self) -> MeshDraft:
        """Return the results for the meshes."""
        a, b = self.a, self.b
        if self.depth:
            a.mesh.tree, b.mesh.tree  # noqa: B018  # what follows needs them too, and is faster with them
        self.crossings = crossings = crossing_triangles(a.mesh, b.mesh, subrange(self.progress, 0.1, 0.2))
        proved = 0.0
        normal: FloatArray | None = None
        if len(crossings):
            ends = crossings.segments
            longest = int(np.abs(ends[:, 1] - ends[:, 0]).max(axis=1).argmax())
            on_a = on_b = 0.5 * ends[longest, 0] + 0.5 * ends[longest, 1]
            self.nearest = int(crossings.pairs[longest, 0]), int(crossings.pairs[longest, 1])
        else:
            nearest = mesh_distance(a.mesh, b.mesh, subrange(self.progress, 0.2, 0.3))
            self.surface, proved = nearest.distance, nearest.lower_bound
            on_a, on_b = nearest.point_on_a, nearest.point_on_b
            self.nearest = nearest.triangle_a, nearest.triangle_b
            self.a_in_b, self.b_in_a = b.contains(a.part_points), a.contains(b.part_points)
            self.nested = bool(self.a_in_b.any() or self.b_in_a.any())
            if self.nested:
                on_a = on_b = a.part_points[self.a_in_b][0] if self.a_in_b.any() else b.part_points[self.b_in_a][0]
            else:
                apart = on_b - on_a
                largest = float(np.abs(apart).max())
                if largest > self.rounding:  # a touch within rounding has no direction
                    normal = apart / largest / length_of(apart / largest)
        self.points = on_a, on_b
        self.intersects = self.nested or bool(len(crossings))
        enclosed = None if self.intersects or self.surface <= self.band else self.enclosed()
        if not self.intersects:
            self.note_side(self.points)
        near = subrange(self.progress, 0.3, 1.0)
        if enclosed is not None:
            draft = self._draft(enclosed)
        elif not self.intersects and self.surface > self.band:
            draft = self._apart(self.apart_relation(self.surface, self.band), proved, normal)
        elif not (a.solid or b.solid):
            draft = self._surfaces(proved, normal, near)
        elif not self.intersects:
            draft = self._beside(proved, normal, near)
        elif not self.depth and self._is_deep():
            draft = self._only_related(self._deep_proof, proved)
        else:
            draft = self._solids(near)
        if draft.relation in (Relation.TOUCHING, Relation.WITHIN_CLEARANCE):
            draft = self._with_regions(draft)
        report_progress(self.progress, 1.0)
        return replace(
            draft,
            lower=min(draft.lower, draft.signed_distance),
            upper=max(draft.upper, draft.signed_distance),
            intersects=self.intersects,
            of_facets=any(facets.curved for facets in self.facets),
            crossings=crossings,
            curves=tuple(contact_curves(crossings, a.mesh, b.mesh)),
            surface=self.surface,
            notes=tuple(self.notes),
        )

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
        found = self.contact(replace(draft, points=points, compound=None, regions=(), lower=-self._out_of_box()))
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

    def _out_of_box(self) -> float:
        """Return the length of a translation along an axis that moves B out of the box around A."""
        (low, high), (other_low, other_high) = self.a.mesh.bounds, self.b.mesh.bounds
        slack = self.facets[0].slack + self.facets[1].slack + self.rounding
        return float(np.minimum(high - other_low, other_high - low).min()) + slack

    def apart_relation(self, gap: float, band: float) -> Relation:
        """Return the relation of shapes that do not intersect."""
        if gap <= band:
            return Relation.TOUCHING
        return Relation.WITHIN_CLEARANCE if gap <= self.clearance else Relation.SEPARATED

    # Regions

    def _with_regions(self, draft: MeshDraft) -> MeshDraft:
        """Return the results for meshes that touch, or are within the clearance, with the regions of their triangles,
        and the normal of the largest one along which they are as far apart as reported."""
        if any(facets.curved for facets in self.facets):
            return draft
        if not self.wants_regions and draft.normal is not None:
            return replace(draft, regions=())
        is_fitted = self.intersects and draft.normal is None  # along no normal they are separated
        if is_fitted and not self.wants_regions:
            return replace(draft, regions=())
        regions = self.regions(draft)
        draft = draft if is_fitted else self._along_regions(draft, regions)
        if not self.wants_regions:
            return draft
        if not regions:
            on_a, on_b = draft.points
            normal = np.zeros(3) if draft.normal is None else draft.normal
            regions = (point_region(self.a, self.b, 0.5 * on_a + 0.5 * on_b, np.array(self.nearest), normal),)
        return replace(
            draft, regions=named_regions(regions, (self.a, self.b), (self.facets[0].mesh, self.facets[1].mesh))
        )

    def regions(self, draft: MeshDraft) -> tuple[MergedRegion, ...]:
        """Return where the meshes are as far apart as a draft says; see `mesh_regions`."""
        if draft.relation is Relation.WITHIN_CLEARANCE:
            return mesh_regions(self.a, self.b, draft.signed_distance, self.band, draft.normal)
        normal = draft.normal
        if normal is not None and any(float(region.normal @ normal) < 0.0 for region in self.touching):
            # Of bare surfaces both sides are as good.
            return mesh_regions(self.a, self.b, 0.0, _DEEPER * self.band, normal)
        return self.touching

    @cached_property
    def touching(self) -> tuple[MergedRegion, ...]:
        """Where the meshes are no farther apart, and no deeper in each other, than those that touch may be with what is
        within the contact tolerance of their support planes."""
        return mesh_regions(self.a, self.b, 0.0, _DEEPER * self.band, None)

    def _along_regions(self, draft: MeshDraft, regions: tuple[MergedRegion, ...]) -> MeshDraft:
        """Return the results with the normal of the first region that keeps what is promised of a normal."""
        normals = [region.normal for region in regions[:_MOST_NORMALS] if region.normal.any()]
        clear = np.ones(len(normals), dtype=np.bool_)
        for k, normal in enumerate(normals):
            if draft.normal is not None and float(normal @ draft.normal) > _SAME_NORMAL:
                return draft
            if k == 1 and self.intersects:  # most often the first one separates
                length = max(draft.depth, self.promise)
                clear[k:] = are_clear_after(self.a.mesh, self.b.mesh, length * np.array(normals[k:]))
            found = self._along(draft, normal) if clear[k] else None
            if found is not None:
                return found
        return draft

    def _along(self, draft: MeshDraft, normal: FloatArray) -> MeshDraft | None:
        """Return the results along another normal; None where it does not separate them as well."""
        gap = draft.signed_distance
        if not self.intersects:
            off = length_of(draft.points[1] - draft.points[0] - gap * normal)
            if off > 0.5 * self.promise or not are_disjoint(self.a, self.b.translated(self.promise * normal)):
                return None
            return replace(draft, normal=normal)
        if not (self.a.solid or self.b.solid):
            return None
        length = max(draft.depth, self.promise)
        if are_disjoint(self.a, self.b.translated(length * normal)):
            return replace(draft, normal=normal, lower=min(draft.lower, -length))
        return None

    # Bare surfaces

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

    def _apart(self, relation: Relation, proved: float, normal: FloatArray | None) -> MeshDraft:
        """Return the results for separated surfaces; `proved` is a lower bound of their distance."""
        upper = self.surface + (self.rounding if not self.intersects else 0.0)
        return self._draft(relation, self.surface, proved, upper, normal)

    def _draft(
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

    def _surfaces(self, proved: float, normal: FloatArray | None, progress: Progress | None) -> MeshDraft:
        """Return the results for two bare surfaces that meet."""
        a, b, crossings = self.a, self.b, self.crossings
        # A surface that reaches beyond the other's box does not coincide with it: skip the slow samples.
        if self._within(a, b) and self._within(b, a) and self._coincide(*self._samples):
            return self._apart(Relation.COINCIDENT, proved, normal)
        if not len(crossings):
            return self._apart(Relation.TOUCHING, proved, normal)
        if not self._is_deep():
            leaving = self._leaving(progress)
            if leaving is not None:
                return self._draft(Relation.TOUCHING, normal=leaving)
            self.notes.append(Note("no separating translation as short as the contact tolerance was found"))
        self.notes.append(NO_DEPTH)
        return self._draft(Relation.PENETRATING)

    @cached_property
    def _deepest_pair(self) -> CrossingPair | None:
        """The crossing triangles that prove the largest depth."""
        return crossing_pair(self.a.mesh, self.b.mesh, self.crossings)

    def _is_deep(self) -> bool:
        """Return whether two that intersect are known to do so by more than the contact tolerance."""
        return self._deep_proof is not None if len(self.crossings) else self.surface > self.band

    @cached_property
    def _deep_proof(self) -> CrossingPair | PointInside | None:
        """What proves that two that cross are deeper in each other than the contact tolerance, if that is known."""
        pair = self._deepest_pair
        if pair is not None and pair.least > self.band:
            return pair
        return deep_corner(self.a, self.b, _DEEPER * self.band)  # so none of `touching` is as deep

    def _within(self, inner: Body, outer: Body) -> bool:
        """Return whether `inner` is inside the box of `outer` within the contact tolerance."""
        (low, high), (outer_low, outer_high) = inner.mesh.bounds, outer.mesh.bounds
        return bool((low >= outer_low - self.band).all() and (high <= outer_high + self.band).all())

    def _leaving(self, progress: Progress | None) -> FloatArray | None:
        """Return a direction in which B leaves A within the contact tolerance, None if none is found."""
        normals = [region.normal for region in self.touching[:_MOST_NORMALS] if region.normal.any()]
        directions = [*normals, *(-normal for normal in normals), *contact_directions(self.a, self.b, self.crossings)]
        ways = [direction * self.band for direction in directions]
        for k in self._clear_ways(ways):
            report_progress(progress, k / len(ways))
            if are_disjoint(self.a, self.b.translated(ways[k])):
                return directions[k]
        return None

    def _coincide(self, of_a: Samples, of_b: Samples) -> bool:
        """Return whether the surfaces coincide, by their samples, and enclose the same volume."""
        if max(float(of_a.distance.max()), float(of_b.distance.max())) > self.band:
            return False
        if self.a.solid != self.b.solid:
            return False
        if not self.a.solid:
            return True
        volume_a, volume_b = abs(self.a.mesh.volume), abs(self.b.mesh.volume)
        return abs(volume_a - volume_b) <= 2.0 * self.band * self.a.mesh.area + CONVEX_COVERED * volume_a

    # Solids

    def _decomposed(self, progress: Progress | None) -> tuple[Decomposition, Decomposition] | None:
        """Return the pieces of A and of B; None where those of one are not the solid itself within the contact
        tolerance."""
        found: list[Decomposition] = []
        for k in (0, 1) if self.a.solid and self.b.solid else ():
            pieces = self.pieces_of(k, subrange(progress, 0.5 * k, 0.5 * k + 0.5))
            if pieces is None or not self._fit(pieces):
                return None
            found.append(pieces)
        return (found[0], found[1]) if found else None

    def pieces_of(self, k: int, progress: Progress | None) -> Decomposition | None:
        """Return the pieces of A (0) or B (1): those given, else exact ones; None where there are none, and for a first
        answer, which does not wait for them."""
        pieces, make, other = self.pieces[k], self._makers[k], self.pieces[1 - k]
        bodies = self.a, self.b
        if pieces is None and self.budget.nodes > 0:
            if make is not None:
                made = make()
                pieces = None if made is None else check_given(f"pieces_{'ab'[k]}", self.facets[k].mesh, made)
            elif other is not None and bodies[0].mesh is bodies[1].mesh:
                pieces = other
            else:
                most = min(DEFAULT_MOST_REFLEX, _MOST_CUTS // len(bodies[k].mesh.triangles))
                pieces = exact_pieces(bodies[k].mesh, most, progress)[0]
        self.pieces[k] = pieces
        return pieces

    def _fit(self, pieces: Decomposition) -> bool:
        """Return whether the distance of the pieces from the mesh is negligible."""
        return pieces.exact or pieces.distance <= 0.25 * self.band

    def _compound(self, pieces: tuple[Decomposition, Decomposition], progress: Progress | None) -> Contact | None:
        a, b = (Compound(found.pieces) for found in pieces)
        if _work(a, b) > _MOST_WORK:
            self.notes.append(Note("the pieces have too many edges, so the depth is computed from the meshes alone"))
            return None
        return self.compound_contact(a, b, progress)

    def compound_contact(self, a: Compound, b: Compound, progress: Progress | None) -> Contact:
        """Return the contact of pieces of A and B with the contact tolerance of the meshes."""
        small, large = sorted((a.diameter, b.diameter))
        return compound_contact(
            a,
            b,
            budget=self.budget,
            clearance=self.clearance,
            contact_tolerance=self.band / (small or large) if large > 0.0 else self.contact_tolerance,
            progress=progress,
        )

    def _beside(self, proved: float, normal: FloatArray | None, progress: Progress | None) -> MeshDraft:
        """Return the results for two solids separated by no more than the contact tolerance."""
        draft = self._apart(Relation.TOUCHING, proved, normal)
        pieces = self._decomposed(subrange(progress, 0.0, 0.7))
        found = None if pieces is None else self._compound(pieces, subrange(progress, 0.7, 1.0))
        if found is not None:
            draft.compound, draft.regions = found, found.regions
            if normal is None:
                draft.normal = found.normal
        return draft

    def _solids(self, progress: Progress | None) -> MeshDraft:
        """Return the results for two solids that intersect."""
        pieces = self._decomposed(subrange(progress, 0.0, 0.3))
        found = None if pieces is None else self._compound(pieces, subrange(progress, 0.3, 0.7))
        proving = subrange(progress, 0.7, 1.0)
        if pieces is None or found is None:
            search = self._search()
            return self._fitted(search) or self._by_meshes(search, self._refine(search, proving))
        spare = pieces[0].distance + pieces[1].distance
        exact = pieces[0].exact and pieces[1].exact
        tolerance = certificate_of(found).tolerance
        touch = found.depth <= tolerance + spare and not self.nested
        if exact and touch:
            return self._touching(found, min(0.0, found.lower_bound) - spare - tolerance)
        search = self._search()
        translations = [tie * found.depth for tie in found.ties] if found.depth > 0.0 else []
        taken = search.try_all(translations[:8], tolerance, spare)
        if found.status is Status.BUDGET:
            # Cells may prove more than the nodes of a search that ended early.
            least = self._refine(search, proving)
            if least > found.least_depth - spare:
                return self._by_meshes(search, least)
            self.depth_proof = None
        if touch and search.length <= self.band:
            return self._touching(found, -search.length)
        if taken is not None and (exact or search.length > found.depth * (1.0 - MESH_DEPTH_STEP)):
            length = length_of(taken)
            if length <= found.depth + 8.0 * (tolerance + spare) + 64.0 * EPS * self.magnitude:
                # Pieces that fill a gap, however narrow, block a direction: inexact pieces prove nothing, but the parts
                # of them inside the meshes do.
                least = found.least_depth - spare if exact else self._refine(search, proving)
                if search.length < found.depth - tolerance:
                    return self._shorter(search, least, found)
                upper = -min(max(0.0, least), found.depth)
                lower = min(found.lower_bound - spare, -length)
                chosen = taken / length
                same = float(chosen @ found.normal) > 1.0 - _ALONG
                if (NOTCH in found.notes) if exact and same else not search.stays_clear(taken, self._beyond(length)):
                    self.notes.append(NOTCH)
                return self._draft(
                    self._nested_relation(found.relation),
                    found.signed_distance if exact else -length,
                    lower,
                    upper,
                    found.normal if exact and same else chosen,
                    found,
                    same,
                )
        if exact and found.status is not Status.UNVERIFIED:
            if search.length < found.depth - tolerance:
                return self._shorter(search, found.least_depth - spare, found)
            self.notes += found.notes
            # The pieces are the solids. After the translation they may still touch, as a peg does that fits its slot
            # exactly: that is not an overlap, though meshes cannot decide it.
            return self._draft(
                self._nested_relation(found.relation),
                found.signed_distance,
                found.lower_bound - spare,
                min(0.0, found.upper_bound + spare),
                found.normal,
                found,
            )
        return self._by_meshes(search, self._refine(search, proving))

    def _shorter(self, search: SeparationSearch, least: float, found: Contact) -> MeshDraft:
        """Return the results for pieces that fit, where a shorter translation than theirs separates the meshes."""
        chosen = self._clear(search, least)
        length = length_of(chosen)
        relation, upper = self._nested_relation(found.relation), -min(max(0.0, least), length)
        draft = self._draft(relation, -length, -length, upper, chosen / length, found, False)
        if float(chosen @ found.normal) > (1.0 - _ALONG) * length:
            draft.regions = found.regions
        return draft

    def _search(self) -> SeparationSearch:
        """Return a search that knows how B leaves A from where they face each other within the contact tolerance."""
        search = SeparationSearch(self.a, self.b, self.budget)
        if self._is_deep():
            return search
        regions = [region for region in self.touching if region.normal.any()]
        ways: list[FloatArray] = []
        for region in regions[:_MOST_NORMALS]:
            together = [other for other in regions if float(other.normal @ region.normal) > _TOGETHER]
            ways.append((max(0.0, *map(deepest, together)) + search.clearance) * region.normal)
        if ways and length_of(ways[0]) < search.length:
            search.separates(ways[0])  # most often it is one
        shorter = [way for way in ways[1:] if length_of(way) < search.length]
        if shorter:
            for k in np.flatnonzero(are_clear_after(self.a.mesh, self.b.mesh, np.array(shorter))).tolist():
                if length_of(shorter[k]) < search.length:
                    search.separates(shorter[k])
        return search

    def _clear_ways(self, ways: list[FloatArray]) -> Iterator[int]:
        """Yield after which of short translations of B no triangles meet; the first in any case, as most often it is
        one."""
        yield from range(min(1, len(ways)))
        if len(ways) > 1:
            yield from (1 + np.flatnonzero(are_clear_after(self.a.mesh, self.b.mesh, np.array(ways[1:])))).tolist()

    def _fitted(self, search: SeparationSearch) -> MeshDraft | None:
        """Return the first answer for two that touch all around, as what fits into a hollow does: no part of one is
        inside the other and no translation within the band separates; also where a part is, if no depth is wanted.
        None where that is not known from their triangles."""
        if (self.depth and self.budget.nodes > 0) or self.nested or search.length <= self.band or self._is_deep():
            return None
        are_many = any(len(body.mesh.triangles) > MOST_SAMPLED for body in (self.a, self.b))
        if self.depth and are_many:
            return None
        of_a, of_b = self._samples
        if max(of_a.deepest, of_b.deepest) > self.band:
            is_of_a = of_a.deepest >= of_b.deepest
            point = (of_a if is_of_a else of_b).point_inside(is_of_a, self.magnitude)
            return None if self.depth or point.least <= self.band else self._only_related(point)
        if are_many or self._coincide(of_a, of_b):
            return None
        ways = [self.band * direction for direction in contact_directions(self.a, self.b, self.crossings)]
        if are_clear_after(self.a.mesh, self.b.mesh, np.array(ways)).any():
            return None
        ball = common_ball(self.a, self.b, self.crossings)
        if ball is not None and ball.least > self.band:
            return None if self.depth else self._only_related(ball)
        self.notes.append(_SAMPLED)
        return self._draft(Relation.TOUCHING, lower=-search.length)

    @cached_property
    def _samples(self) -> tuple[Samples, Samples]:
        """Points of A and of B, seen from the other."""
        a, b, crossings = self.a, self.b, self.crossings
        return sample_surface(a, b, crossings, 0, self.band), sample_surface(b, a, crossings, 1, self.band)

    def _beyond(self, length: float) -> float:
        """Return the length beyond a translation of `length` for which the solids must stay separated."""
        return clear_length(self.a.mesh, self.b.mesh, self.contact_tolerance, length)

    def _clear(self, search: SeparationSearch, least: float) -> FloatArray:
        """Return the translation to report: the best, or one little longer that stays clear beyond. No shorter one than
        `least` separates."""
        if search.length <= self.band:
            return search.best
        is_shortest = least >= search.length * (1.0 - MESH_DEPTH_STEP)
        longest = search.length * (1.0 + MESH_DEPTH_STEP if is_shortest else CLEAR_LONGER)
        clear = search.find_clear(self._beyond(search.length), longest)
        if clear is None:
            self.notes.append(NOTCH)
            return search.best
        return clear

    def _touching(self, found: Contact, lower: float) -> MeshDraft:
        """Return the results for pieces that fit and touch: the signs of the remaining distances are rounding."""
        relation = found.relation if found.relation is Relation.COINCIDENT else Relation.TOUCHING
        return self._draft(relation, 0.0, lower, 0.0, found.normal, found)

    def _only_related(self, proof: CommonBall | CrossingPair | PointInside | None, proved: float = 0.0) -> MeshDraft:
        """Return the results for two that are known to be deeper in each other than the contact tolerance, which are
        moved out of each other's box; without crossings, their surfaces are apart by `proved`."""
        length = self._out_of_box()
        self.depth_proof = proof
        least = proved if proof is None else proof.least
        draft = self._draft(Relation.PENETRATING, -length, -length, 0.0, np.eye(3)[0])
        self._relate(draft, least)
        return draft

    def _by_meshes(self, search: SeparationSearch, least: float) -> MeshDraft:
        """Return the results for two solids from the meshes themselves; `least` is a lower bound of the depth."""
        best = self._clear(search, least)
        length = length_of(best)
        chosen = best / length if length > 0.0 else None
        lower, upper = -length, -min(least, length)
        deep = self._draft(Relation.PENETRATING, -length, lower, upper, chosen)
        if length <= self.band:
            deep.relation = Relation.TOUCHING
            if length <= self.promise:
                deep.signed_distance, deep.upper = 0.0, 0.0
        else:
            self._relate(deep, least)
        return deep

    def _refine(self, search: SeparationSearch, progress: Progress | None) -> float:
        """Look for shorter translations; return a certified lower bound of the depth and keep its proof."""
        self.depth_proof = search_depth(
            search, self.crossings, self._deep_proof or self._deepest_pair, self.band, progress
        )
        return 0.0 if self.depth_proof is None else self.depth_proof.least

    def _relate(self, deep: MeshDraft, least: float) -> None:
        """Find the relation of two solids that intersect by more than the contact tolerance, by samples of the surfaces
        where the meshes do not decide."""
        a, b = self.a, self.b
        a_within = self._within(a, b) and not self._sticks_out(a, b)
        b_within = self._within(b, a) and not self._sticks_out(b, a)
        if self.nested and not (a_within and b_within):
            deep.relation = self._nested_relation(deep.relation)
            return
        if not (a_within or b_within or least <= self.band):
            return
        of_a, of_b = self._samples
        if self._coincide(of_a, of_b):
            deep.relation = Relation.COINCIDENT
        elif self.nested:
            deep.relation = self._nested_relation(deep.relation)
        elif least <= self.band and max(of_a.deepest, of_b.deepest) <= self.band:
            # No part is known to be inside: for example, a shape that fits into a hollow.
            deep.relation, deep.signed_distance, deep.normal = Relation.TOUCHING, 0.0, None
            self.notes.append(_SAMPLED)
        elif of_a.farthest <= self.band and of_b.deepest <= self.band:
            deep.relation = Relation.A_INSIDE_B
            self.notes.append(Note("A inside B was decided from samples of its surface"))
        elif of_b.farthest <= self.band and of_a.deepest <= self.band:
            deep.relation = Relation.B_INSIDE_A
            self.notes.append(Note("B inside A was decided from samples of its surface"))

    def _sticks_out(self, inner: Body, outer: Body) -> bool:
        """Return whether one of a few corners of `inner` is outside of `outer` by more than the contact tolerance."""
        corners = inner.mesh.triangles.ravel()
        points = inner.mesh.points.take(corners[:: max(1, len(corners) // _ASKED)], axis=0)
        outside = points[~outer.contains(points)]
        return bool((points_to_mesh(outside, outer.mesh).distance > self.band).any()) if len(outside) else False

    def _nested_relation(self, otherwise: Relation) -> Relation:
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


def _work(a: Compound, b: Compound) -> int:
    """Return the number of pairs of edges in a search for the smallest translation."""
    if len(a.pieces) == len(b.pieces) == 1:
        return 0
    edges = [sum(len(piece.edges) for piece in found.pieces if isinstance(piece, Polytope)) for found in (a, b)]
    return edges[0] * edges[1]


def check_given(name: str, mesh: Mesh, pieces: object) -> Decomposition:
    """Return the pieces given for a mesh. Raise ValueError, beginning with their name, when they do not fit it."""
    if not (isinstance(pieces, Decomposition) and pieces.pieces):
        raise ValueError(f"{name} must be None or what mesh_pieces returns, not {type(pieces).__name__}")
    check_pieces(name, mesh, pieces)
    return pieces


def certificate_of(contact: Contact) -> CompoundCertificate:
    """Return the certificate of a contact of compounds."""
    assert isinstance(contact.certificate, CompoundCertificate)
    return contact.certificate
