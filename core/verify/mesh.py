# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a contact of meshes, without the searches that found it.

Crossings are measured against their two triangles, points and distances against all triangles whose boxes are near
enough to matter, containment by the sum of solid angles, the pieces' contact as one of compounds. What cannot be proved
again this way is named in a check that says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cached_property

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..compounds.compound import Compound
from ..compounds.compound_contact import BEYOND
from ..curved.curved_inside import support_points
from ..mesh_contact.mesh_result import BOUNDS_MEET, LEAST_GAP, MeshCertificate, certificate_of
from ..meshes.body import Body
from ..meshes.crossings import Crossings, Meeting
from ..meshes.decomposition import Decomposition
from ..meshes.depth_proof import renumbered
from ..meshes.enclosure import SURROUNDED
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid, SolidFacets, bounds_of, pieces_of, solid_facets
from ..meshes.triangle_pairs import crossing_triangles
from ..narrow_phase.relation import clear_length, contact_band
from ..note import NOTCH
from ..region.contact_curve import ContactCurve
from ..region.merged_region import MergedRegion
from ..result import Contact, Relation, Status
from ..runs import chunks
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..tolerance import CURVED_ROUNDING, DECOMPOSE_VOLUME, EPS, MESH_GAP, VERIFY_UNIT, promised
from ..types import FloatArray
from .check import Check, Verification
from .compound import check_compound
from .curved_mesh_region import check_curved_mesh_regions
from .form import (
    Test,
    absent_fields,
    are_pairs,
    contact_tests,
    field_faults,
    first,
    is_array,
    is_length,
    of_kind,
    optional,
    vector,
)
from .inside import SolidSide, are_separated, check_inside, distances, least_turns, off_solid, parts_inside, turns
from .mesh_depth import check_depth_proof, crossing_depth, proof_faults
from .mesh_region import check_mesh_regions, region_faults
from .pair_proof import pair_bounds
from .pieces_inside import sticks_out
from .region import segment_distances
from .surfaces import off_surface, points_off, surface_distance, surfaces_meet, tree_faults
from .ties import check_realised

_MOST_CURVED = 400
"""Triangles that curved pieces are measured against one by one."""
_SLIT = 1e-9
"""Relative: how much less room than their slits bounds may leave."""
_TURNS = 1e-9
"""Not relative: what winding numbers are rounded by."""
_CHUNK = 1 << 14
"""Pairs of a point and a segment measured in one go."""


def check_mesh(contact: Contact, a: Solid, b: Solid) -> Verification:
    """Check a contact of a mesh and any other solid."""
    facets = solid_facets(a), solid_facets(b)
    form = (
        first("the contact is well-formed", _faults(contact, max(a.magnitude, b.magnitude))),
        first(
            "the certificate is well-formed", _certificate_faults(contact.certificate, facets[0].mesh, facets[1].mesh)
        ),
    )
    if not all(check.ok for check in form):
        return Verification(form, float("nan"))
    return Verification(
        (*form, *_ReportedMesh(contact, (a, b), facets).checks()), contact.upper_bound - contact.lower_bound
    )


def _faults(c: Contact, magnitude: float) -> Iterator[str]:
    tests: dict[str, Test] = {
        "curves": lambda curves: isinstance(curves, tuple) and all(map(_is_curve, curves)),
        "regions": of_kind(tuple),
        "_middle": optional(vector(3)),
    }
    is_open = c.status is Status.BOUNDS_ONLY
    yield from field_faults(c, contact_tests(3, not is_open) | absent_fields("mesh") | tests)
    # A gap along each axis that is rounding has no direction.
    if not (is_open or c.normal.any() or 0.0 <= c.signed_distance <= LEAST_GAP + 2.0 * MESH_GAP * EPS * magnitude):
        yield f"normal is {c.normal!r}"
    if not np.array_equal(c.ties[0], c.normal):
        yield f"the normal is not the first of the ties: {c.ties!r}"
    if c.status in (Status.NO_DEPTH, Status.BOUNDS_ONLY) and c.normal.any():
        yield f"status is {c.status!r}"


def _are_hulls(value: object) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(isinstance(piece, ConvexHull) for piece in value)


def _is_curve(value: object) -> bool:
    return isinstance(value, ContactCurve) and is_array(value.points, (None, 3))


def _certificate_faults(proof: object, a: Mesh, b: Mesh) -> Iterator[str]:
    if not isinstance(proof, MeshCertificate):
        yield f"it is a {type(proof).__name__}"
        return
    tests = {
        "a_solid b_solid compound_of_facets": of_kind(bool | np.bool_),
        "surface_distance slack_a slack_b": is_length,
        "compound": optional(of_kind(Contact)),
        "pieces_a pieces_b": optional(of_kind(Decomposition)),
        "crossings": of_kind(Crossings),
    }
    yield from field_faults(proof, tests)
    if proof.compound is not None:
        yield from field_faults(
            proof.compound, contact_tests(3) | absent_fields("compound") | {"regions": of_kind(tuple)}
        )
    for pieces in (proof.pieces_a, proof.pieces_b):
        if pieces is not None:
            tests = {"distance": is_length, "pieces": _are_hulls, "exact": of_kind(bool | np.bool_)}
            yield from field_faults(pieces, tests)
    yield from proof_faults(proof.depth_proof, (len(a.triangles), len(b.triangles)))
    pairs, ends, kinds = proof.crossings.pairs, proof.crossings.segments, proof.crossings.kinds
    if not are_pairs(pairs, len(a.triangles), len(b.triangles)):
        yield f"crossings are not pairs of triangles: {pairs!r}"
    if not is_array(ends, (len(pairs), 2, 3)):
        yield "segments are not two finite points for each pair of triangles"
    if not (isinstance(kinds, np.ndarray) and kinds.shape == (len(pairs),) and kinds.dtype == np.uint8):
        yield f"kinds are {kinds!r}"


class _ReportedMesh:
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
        self.fit = all(found is not None and found.exact for found in (self.proof.pieces_a, self.proof.pieces_b))

    def checks(self) -> list[Check]:
        contact = self.contact
        checks = [
            Check(
                "solids are closed meshes",
                (bool(self.proof.a_solid), bool(self.proof.b_solid)) == (self.a.solid, self.b.solid),
                f"A {self.a.solid}, B {self.b.solid}",
            ),
            Check(
                "the bounds contain the signed distance",
                (contact.lower_bound <= contact.upper_bound <= 0.0)
                if self.is_open
                else (contact.lower_bound <= contact.signed_distance <= contact.upper_bound and self._status_fits()),
                f"{contact.lower_bound:.9g} to {contact.upper_bound:.9g}, reported {contact.signed_distance:.9g}",
            ),
            *self._slits(),
            first("the boxes of the trees contain the triangles", self._tree_faults()),
            *self._slack(),
            *self._crossings(),
            *self._curves(),
            self._meeting(),
            *self._witness(),
            *self._middle(),
            *self._normal(),
            *self._ties(),
            *self._relation(),
            self._surface_distance(),
            *self._regions(),
        ]
        if not contact.intersects:
            checks += self._apart()
        checks += self._pieces()
        if self.is_open:
            checks += self._open_depth()
        elif contact.depth > 0.0:
            checks += self._depth()
        elif contact.intersects and (self.a.solid or self.b.solid):
            checks += self._touch()
        return checks

    def _tree_faults(self) -> Iterator[str]:
        for name, body in (("A", self.a), ("B", self.b)):
            yield from (f"{name}: {fault}" for fault in tree_faults(body.mesh))

    def _slits(self) -> list[Check]:
        """Bounds leave room for the slits of meshes that are closed by corners near each other."""
        contact = self.contact
        if not self.slit or not contact.has_depth:
            return []
        room = min(contact.signed_distance - contact.lower_bound, contact.upper_bound - contact.signed_distance)
        ok = room >= self.slit * (1.0 - _SLIT) - MESH_GAP * EPS * max(solid.magnitude for solid in self.solids)
        return [Check("the bounds leave room for slits", ok, f"{room:.3g}, slits of {self.slit:.3g}")]

    def _status_fits(self) -> bool:
        """Return whether bounds are certified to meet where they do, and no depth is where nothing has a direction."""
        has_direction = bool(not self.contact.intersects or self.contact.normal.any())
        if self.contact.status is Status.NO_DEPTH or not has_direction:
            return self.contact.status is Status.NO_DEPTH and not has_direction
        meet = self.contact.upper_bound - self.contact.lower_bound <= BOUNDS_MEET * max(
            solid.extent for solid in self.solids
        )
        return (self.contact.status is Status.CERTIFIED) == meet

    def _slack(self) -> list[Check]:
        """Facets of curved solids are made alike again, and their distance from the surface is certain."""
        slacks, found = (self.proof.slack_a, self.proof.slack_b), tuple(facets.slack for facets in self.facets)
        if not self.curved and slacks == found:
            return []
        unused = slacks == (0.0, 0.0) and not len(self.proof.crossings) and self.contact.depth == 0.0
        ok = unused or slacks == found
        return [Check("facets are as far inside as reported", ok, f"{slacks}, found {found}")]

    def _crossings(self) -> list[Check]:
        found = self.proof.crossings
        off = 0.0
        for side, mesh in ((0, self.a.mesh), (1, self.b.mesh)):
            corners = mesh.points[mesh.triangles[found.pairs[:, side]]]
            for end in range(2):
                off = max(off, float(distances(found.segments[:, end], corners).max(initial=0.0)))
        checks = [Check("crossings lie on both of their triangles", off <= self.promise, f"off by {off:.3g}")]
        if not (len(found) or self.curved):
            (meet,) = surfaces_meet(self.a.mesh, self.b.mesh)
            checks.append(Check("the surfaces do not meet where no triangles are reported to", not meet, "exactly"))
        return checks

    def _curves(self) -> list[Check]:
        """Curves lie on both surfaces, and each segment in which triangles meet at an angle is on one of them."""
        crossings = self.proof.crossings
        links = [np.zeros((0, 2, 3))]
        for curve in self.contact.curves:
            follows = np.roll(curve.points, -1, axis=0)
            kept = len(follows) if curve.is_closed or len(follows) == 1 else -1
            links.append(np.stack([curve.points, follows], axis=1)[:kept])
        steps = np.concatenate(links)
        found, names = np.unique(
            np.concatenate([steps, crossings.segments]).reshape(-1, 3) + 0.0, axis=0, return_inverse=True
        )
        pairs = np.sort(names.reshape(-1, 2), axis=1)
        codes = pairs[:, 0] * len(found) + pairs[:, 1]
        of_steps, of_segments = codes[: len(steps)], codes[len(steps) :]
        strange = steps[~np.isin(of_steps, of_segments)]
        points = np.concatenate([strange[:, 0], 0.5 * strange[:, 0] + 0.5 * strange[:, 1]])
        off = max(float(points_off(points, body.mesh, self.promise).max(initial=0.0)) for body in (self.a, self.b))
        checks = [Check("curves lie on both surfaces", off <= self.promise, f"{len(steps)} steps, off by {off:.3g}")]
        at_angle = crossings.kinds < Meeting.COPLANAR
        # The same point, found from two triangles, may be rounded in two ways.
        others = crossings.segments[at_angle & ~np.isin(of_segments, of_steps)]
        points = np.concatenate([others[:, 0], 0.5 * others[:, 0] + 0.5 * others[:, 1], others[:, 1]])
        off = float(_off_segments(points, steps, 4.0 * self.promise).max(initial=0.0))
        name = "curves contain all segments in which triangles cross"
        checks.append(Check(name, off <= 4.0 * self.promise, f"{len(others)} other segments, off by {off:.3g}"))
        if len(crossings):
            words = "each one reported is checked, missing ones are not searched for"
            checks.append(Check("not checked: that no crossing is missing", True, words))
        return checks

    def _meeting(self) -> Check:
        """Tell again whether they intersect: crossings are checked one by one, containment by solid angles."""
        held = any(parts_inside(self.a, self.b)) or any(parts_inside(self.b, self.a))
        found = held or bool(len(self.proof.crossings))
        if self.curved and not found:
            # Facets do not tell of what is between them and the surface.
            gap = self._gap(np.zeros(3), self.promise)
            if gap is None:
                found = bool(self.contact.intersects)
            else:
                found = gap[1] <= self.promise if self.contact.intersects else gap[0] < -self.promise
        found = found or self._enclosed is not None
        # What touches to rounding may be inside by rounding; that it is no farther is another check.
        same = self.contact.intersects == found or 0.0 < self.contact.signed_distance <= self.promise
        return Check("they intersect where they cross or one is inside", same, f"reported {self.contact.intersects}")

    def _witness(self) -> list[Check]:
        off = max(map(off_solid, (self.contact.point_on_a, self.contact.point_on_b), self.sides))
        limit = 2.0 * self.promise + self._spare() + self._tolerance
        checks = [Check("witness points lie on their meshes", off <= limit, f"off by {off:.3g}, limit {limit:.3g}")]
        if self.contact.intersects and self.proof.compound is None and not self.curved and self._enclosed is None:
            off = float(np.abs(self.contact.point_on_b - self.contact.point_on_a).max())
            checks.append(Check("the witness points are one common point", off <= limit, f"off by {off:.3g}"))
        return checks

    def _middle(self) -> list[Check]:
        """The middle of a feature that faces the mesh across a gap is as near to both as reported."""
        contact = self.contact
        if contact._middle is None:
            return []
        half = 0.5 * contact.signed_distance * contact.normal
        off = 0.0
        for point, side in zip((contact._middle - half, contact._middle + half), self.sides, strict=True):
            if isinstance(side.solid, Mesh):
                off = max(off, off_surface(point, side.body.mesh))
            else:
                pieces = pieces_of(side.solid)
                off = max(off, min(abs(float(p.core_distances(point[None])[0]) - p.rounding_radius) for p in pieces))
        limit = 2.0 * (self.band + self.promise)
        fits = contact.relation is Relation.SEPARATED and self.curved and off <= limit
        return [
            Check("the center is in the middle of what faces the other", fits, f"off by {off:.3g}, limit {limit:.3g}")
        ]

    @cached_property
    def _enclosed(self) -> tuple[Relation, bool] | None:
        """Which is inside the other, a mesh that is closed but for small holes, without touching it, and whether all
        corners were looked at; None where neither is, or not all were and another relation was reported."""
        if self.proof.surface_distance <= self.band:
            return None
        if len(self.proof.crossings) or any(parts_inside(self.a, self.b)) or any(parts_inside(self.b, self.a)):
            return None
        for inner, outer, relation in (
            (self.a, self.b, Relation.A_INSIDE_B),
            (self.b, self.a, Relation.B_INSIDE_A),
        ):
            least, are_all = least_turns(inner, outer)
            is_reported = self.contact.relation is relation
            if (is_reported or are_all) and least >= SURROUNDED + (-_TURNS if is_reported else _TURNS):
                return relation, are_all
        return None

    @property
    def _tolerance(self) -> float:
        """How deep inside each other pieces count as touching."""
        return certificate_of(self.proof.compound).tolerance if self.proof.compound else 0.0

    def _spare(self) -> float:
        """How far off the pieces are whose contact is told."""
        if self.proof.compound is None:
            return 0.0
        return sum(found.distance for found in (self.proof.pieces_a, self.proof.pieces_b) if found is not None)

    @cached_property
    def _limit(self) -> float:
        """How deep inside each other solids that touch may be."""
        return 2.0 * (self.band + self.promise) + self._spare() + max(facets.slack for facets in self.facets)

    def _normal(self) -> list[Check]:
        contact = self.contact
        if not contact.normal.any():
            return []
        error = abs(float(np.linalg.norm(contact.normal)) - 1.0)
        checks = [Check("the normal is a unit vector", error <= VERIFY_UNIT * EPS, f"off by {error:.3g}")]
        if contact.signed_distance > 0.0 or (self._of_pieces and contact.depth > 0.0):
            checks.append(check_realised(contact, 2.0 * self.promise + self._tolerance))
        return checks

    def _relation(self) -> list[Check]:
        contact = self.contact
        name = "the relation fits the distance"
        if contact.signed_distance > self.band:
            near = contact.signed_distance <= contact.clearance
            wanted = Relation.WITHIN_CLEARANCE if near else Relation.SEPARATED
            return [Check(name, contact.relation is wanted, f"{contact.relation}, expected {wanted}")]
        if self._enclosed is not None:
            found, are_all = self._enclosed
            fits = contact.relation is found and contact.status is Status.NO_DEPTH
            checks = [Check(name, fits, f"{contact.relation}, found {found} but for small holes, without a depth")]
            return checks if are_all else [*checks, Check("not checked: that no other corner is outside", True, "many")]
        possible = {Relation.TOUCHING, Relation.COINCIDENT}
        is_bare = not (self.a.solid or self.b.solid)
        if self.is_open:
            possible = set() if is_bare else {Relation.COINCIDENT}
        if (
            (self.is_open and not is_bare)
            or contact.depth > 0.0
            or (contact.intersects and (self.curved or (is_bare and not contact.has_depth)))
        ):
            possible |= {Relation.PENETRATING, Relation.A_INSIDE_B, Relation.B_INSIDE_A}
        # What fits exactly into a slot touches it all around, but leaves it by a long translation only.
        of_pieces = self.proof.compound
        fits = self._of_pieces and of_pieces is not None and of_pieces.relation is Relation.TOUCHING
        if (contact.depth > self.band and not fits) or (is_bare and not contact.has_depth):
            possible -= {Relation.TOUCHING}
        ok = contact.relation in possible
        checks = [Check(name, ok, f"{contact.relation}, expected {' or '.join(sorted(possible))}")]
        crossing = len(self.proof.crossings) > 0
        return [*checks, *check_inside(contact, crossing, self.sides[0], self.sides[1], self.band, self._limit)]

    def _surface_distance(self) -> Check:
        contact = self.contact
        name = "the surfaces are as far apart as reported"
        if not contact.intersects:
            off = abs(self.proof.surface_distance - contact.signed_distance)
            return Check(name, off <= self.promise, f"off by {off:.3g} from the distance")
        if len(self.proof.crossings):
            # A curved solid may be apart from what its facets, those inside of it, meet.
            ok = self.proof.surface_distance == 0.0 or self.curved
            return Check(name, ok, f"they cross, reported {self.proof.surface_distance:.9g}")
        reported, slack = self.proof.surface_distance, max(facets.slack for facets in self.facets)
        if self.curved and reported == 0.0:
            return Check("not checked: how far apart the surfaces are", True, f"reported {reported:.9g}")
        reach = reported + slack + self.promise
        least, most = surface_distance(self.a.mesh, self.b.mesh, reach, reported - self.promise)
        ok = reported - self.promise <= most <= reach
        return Check(name, ok, f"reported {reported:.9g}, triangles {least:.9g} to {most:.9g}")

    def _regions(self) -> list[Check]:
        """The regions are those of the triangles where the meshes touch or are within the clearance; where they are
        deeper, those of the pieces' contact, unless the depth reported differs from that of the pieces."""
        contact, of_pieces = self.contact, self.proof.compound
        if contact.relation in (Relation.TOUCHING, Relation.WITHIN_CLEARANCE) and not self.curved:
            meshes = self.facets[0].mesh, self.facets[1].mesh
            form = first("the regions are well-formed", region_faults(contact, *meshes))
            found = check_mesh_regions(contact, self.a, self.b, self.band, self.promise) if form.ok else []
            return [form, *found]
        if contact.relation in (Relation.TOUCHING, Relation.WITHIN_CLEARANCE) and of_pieces is None:
            of_a = not isinstance(self.solids[0], Mesh)
            body, solid = (self.b, self.solids[0]) if of_a else (self.a, self.solids[1])
            assert not isinstance(solid, Mesh)
            pieces = pieces_of(solid)
            sides = (pieces, body.mesh) if of_a else (body.mesh, pieces)
            form = first("the regions are well-formed", region_faults(contact, *sides))
            found = check_curved_mesh_regions(contact, pieces, body, of_a, self.band, self.promise) if form.ok else []
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
        if self.fit and of_pieces.status is not Status.UNVERIFIED:
            return [Check(name, False, f"{len(of_pieces.regions)} of the pieces are missing")]
        return [Check("not checked: that no region is missing", True, "the pieces are not the solids")]

    def _apart(self) -> list[Check]:
        contact = self.contact
        across = contact.point_on_b - contact.point_on_a
        reach = float(np.linalg.norm(across))
        checks = [
            Check(
                "two points prove the upper bound",
                contact.upper_bound >= reach - self.promise,
                f"{reach:.9g}",
            )
        ]
        name = "a plane or all pairs of triangles prove the lower bound"
        a, b = self.a.mesh, self.b.mesh
        if reach > 0.0:
            direction = across / reach
            gap = self._slab(direction)
            if gap >= contact.lower_bound - self.promise:
                return [*checks, Check(name, True, f"bound {contact.lower_bound:.9g}, plane {gap:.9g}")]
        if self.curved:
            found = self._gap(np.zeros(3), contact.lower_bound)
            if found is None:
                words = f"more than {_MOST_CURVED} triangles are near, and no plane parts them"
                return [*checks, Check("not checked: the lower bound of the distance", True, words)]
            return [*checks, Check(name, contact.lower_bound <= found[0] + self.promise, f"triangles {found[0]:.9g}")]
        least, _ = surface_distance(a, b, contact.lower_bound, contact.lower_bound - self.promise)
        ok = contact.lower_bound <= least + self.promise
        return [*checks, Check(name, ok, f"bound {contact.lower_bound:.9g}, triangles {least:.9g}")]

    def _pieces(self) -> list[Check]:
        name = "the contact of the pieces holds"
        if self.proof.compound is None:
            return []
        if self.proof.pieces_a is None or self.proof.pieces_b is None:
            return [Check(name, False, "pieces are missing")]
        compound_a, compound_b = (
            Compound(pieces_of(solid) if facets.curved and not self.proof.compound_of_facets else pieces.pieces)  # type: ignore
            for solid, facets, pieces in zip(
                self.solids, self.facets, (self.proof.pieces_a, self.proof.pieces_b), strict=True
            )
        )
        found = check_compound(self.proof.compound, compound_a, compound_b)
        words = "; ".join(f"{check.name}: {check.detail}" for check in found.failures)
        if not found.failures:
            words = "; ".join(check.name for check in found.checks if check.name.startswith("not checked"))
        own = first("the pieces are those of their meshes", self._piece_faults())
        return [Check(name, found.ok, words or f"{len(found.checks)} checks"), own]

    def _piece_faults(self) -> Iterator[str]:
        """Yield which pieces are not inside their solid: corners and middles are asked, and what triangles enter."""
        for name, body, facets, found in zip(
            "AB", (self.a, self.b), self.facets, (self.proof.pieces_a, self.proof.pieces_b), strict=True
        ):
            assert found is not None
            if facets.pieces is not None:
                own = facets.pieces.pieces
                same = (
                    found.distance == facets.pieces.distance
                    and len(own) == len(found.pieces)
                    and all(np.array_equal(p.vertices, q.vertices) for p, q in zip(own, found.pieces, strict=True))
                )
                if not same:
                    yield f"{name}: they are not the pieces of the shape"
                continue
            if found.distance > max(0.25 * self.band, self.promise):
                yield f"{name}: they are up to {found.distance:.3g} from the mesh"
            corners = [piece.vertices for piece in found.pieces]
            points = np.concatenate([*corners, [of_piece.mean(axis=0) for of_piece in corners]])
            inside = body.contains(points)
            limit = found.distance + 2.0 * self.promise
            off = float(points_off(points[~inside], body.mesh, limit).max(initial=0.0))
            if off > limit:
                yield f"{name}: a corner or a middle is outside of the mesh"
            middles = inside[len(points) - len(corners) :].tolist()
            for piece, middle in zip(found.pieces, middles, strict=True):
                if sticks_out(piece, body, limit, middle):
                    yield f"{name}: a piece reaches outside of the mesh"

    def _depth(self) -> list[Check]:
        contact = self.contact
        checks = []
        if self.fit:
            for name, body, solid, pieces in (
                ("A", self.a, self.solids[0], self.proof.pieces_a),
                ("B", self.b, self.solids[1], self.proof.pieces_b),
            ):
                assert pieces is not None
                if not isinstance(solid, Mesh):
                    continue
                volume, wanted = sum(piece.volume for piece in pieces.pieces), _volume(body.mesh)
                room = 4.0 * DECOMPOSE_VOLUME * wanted + self._spare() * body.mesh.area + self.promise * body.mesh.area
                checks.append(
                    Check(
                        f"the pieces of {name} have the volume of the mesh",
                        abs(volume - wanted) <= room,
                        f"{volume:.9g} and {wanted:.9g}",
                    )
                )
        of_pieces = self.proof.compound
        if of_pieces is not None and self.fit and not self.proof.compound_of_facets:
            slack = self._spare() + self._tolerance + self.promise
            longer = contact.depth - of_pieces.depth
            least = contact.least_depth <= of_pieces.least_depth + slack
            checks.append(
                Check(
                    "the depth is no longer than that of the pieces",
                    longer <= 8.0 * slack and least,
                    f"{of_pieces.depth:.9g}",
                )
            )
            if not self._of_pieces:
                checks += self._translation()
            else:
                checks.append(self._parted())
                if NOTCH in of_pieces.notes:
                    checks.append(Check("the note of the pieces is reported", NOTCH in contact.notes, str(NOTCH)))
        else:
            checks += self._translation()
            if self.curved:
                checks.append(self._curved_apart())
            proved = check_depth_proof(self.proof.depth_proof, self.a, self.b, contact.least_depth, self.promise)
            checks.append(proved if proved.ok or not self.curved else self._curved_depth())
            over = contact.least_depth * (1.0 - 1e-6) - self.promise
            if over > 0.0 and contact.normal.any() and not self.curved:
                (shorter,) = are_separated(self.a, self.b.translated(over * contact.normal))
                checks.append(Check("no shorter one along the normal separates", not shorter, f"{over:.9g}"))
        return checks

    def _open_depth(self) -> list[Check]:
        """No shorter translation than the upper bound separates, and one as long as the lower bound does."""
        contact = self.contact
        (low, high), (other_low, other_high) = (solid.bounds for solid in self.solids)
        length = float(np.minimum(high - other_low, other_high - low).min())
        ok = -contact.lower_bound >= length - self.promise
        least, nested = max(0.0, contact.least_depth - self.slit), not len(self.proof.crossings)
        proved = check_depth_proof(self.proof.depth_proof, self.a, self.b, least, self.promise)
        if not proved.ok and nested and least <= self.proof.surface_distance:
            proved = replace(proved, ok=True, detail="a part is inside by more")
        checks = [Check("boxes are parted by the lower bound", ok, f"{contact.lower_bound:.9g}, {length:.9g}"), proved]
        if contact.least_depth <= self.band:
            checks.append(Check("not checked: that they are deeper than the band", True, "their depth was not kept"))
        return checks

    def _parted(self) -> Check:
        """The translation of pieces must separate the meshes, which may touch then, as a peg does in its slot."""
        deepest = self._deepest_after(self.contact.mtv)
        name = "the translation of the pieces separates the meshes"
        return Check(name, deepest == 0.0, f"two triangles are {deepest:.3g} deep in each other")

    def _deepest_after(self, translation: FloatArray) -> float:
        """Return how deep two triangles are in each other after B is moved; 0.0 where they may only touch."""
        moved = self.b.translated(translation)
        crossings = crossing_triangles(self.a.mesh, moved.mesh)
        return crossing_depth(crossings, self.a, moved, self._limit + self._tolerance)

    def _ties(self) -> list[Check]:
        """Each tie separates as the first of them, the normal: one of the pieces as their translation, any other on the
        meshes."""
        contact, of_pieces = self.contact, self.proof.compound
        others = contact.ties[1:]
        if not len(others):
            return []
        name = "all ties are unit vectors that separate as the normal does"
        error = float(np.abs(np.linalg.norm(others, axis=1) - 1.0).max())
        if contact.depth == 0.0 or error > VERIFY_UNIT * EPS:
            return [
                Check(name, False, f"{len(others)} besides the normal, depth {contact.depth:.3g}, off by {error:.3g}")
            ]
        proved = self._of_pieces and of_pieces is not None and of_pieces.status is not Status.UNVERIFIED
        own = of_pieces.ties if proved and of_pieces is not None else others[:0]
        for tie in others:
            if self._slab(tie) + contact.depth >= -self.promise:
                continue  # nothing of A is beyond a plane that nothing of B is before
            is_own = bool((own == tie).all(axis=1).any())
            if not (self._deepest_after(contact.depth * tie) == 0.0 if is_own else self._separates_along(tie)):
                return [Check(name, False, f"a translation of {contact.depth:.9g} along {tie.tolist()} does not")]
        return [Check(name, True, f"{len(contact.ties)} ties")]

    def _slab(self, direction: FloatArray) -> float:
        """Return how thick the empty slab across a unit vector between A and B is, < 0 where they overlap along it."""
        (solid_a, solid_b), (a, b) = self.solids, (self.a.mesh, self.b.mesh)
        return -_farthest(solid_b, b, -direction) - _farthest(solid_a, a, direction)

    def _separates_along(self, direction: FloatArray) -> bool:
        """Return whether B moved by the depth along a unit vector is separated on the meshes, to rounding."""
        depth = self.contact.depth
        moved = (self.b.translated(length * direction) for length in (depth, depth + self.promise))
        if not any(are_separated(self.a, *moved)):
            return False
        found = self._gap(depth * direction, -self.promise) if self.curved else (0.0, 0.0)
        return found is not None and found[0] >= -2.0 * self.promise

    def _touch(self) -> list[Check]:
        """What meets but has no depth may only touch: no two triangles are deeper than that in each other, and its
        pieces touch, or it is separated by less than rounding."""
        contact, of_pieces = self.contact, self.proof.compound
        name = "shapes that meet without a depth only touch"
        limit = self._limit + self._tolerance
        deepest = crossing_depth(self.proof.crossings, self.a, self.b, limit)
        if deepest > 0.0:
            return [Check(name, False, f"two triangles are {deepest:.3g} deep in each other, limit {limit:.3g}")]
        if of_pieces is not None:
            room = self._tolerance + self._spare() + self.promise
            return [
                Check(name, of_pieces.depth <= room, f"the pieces are {of_pieces.depth:.3g} deep, limit {room:.3g}")
            ]
        if self.curved:
            found = self._gap(np.zeros(3), 0.0)
            ok = found is None or found[0] >= -2.0 * self.promise
            return [Check(name if found else f"not checked: {name}", ok, f"{found}")]
        if not (contact.normal.any() and self.a.solid and self.b.solid):
            return []  # checked with the relation
        lengths = min(-contact.lower_bound, self.promise), self.promise
        apart = any(are_separated(self.a, *(self.b.translated(length * contact.normal) for length in lengths)))
        return [Check(name, apart, "moved by rounding along the normal they do not meet")]

    @cached_property
    def _of_pieces(self) -> bool:
        """Whether the translation reported is that of exact pieces."""
        contact, of_pieces = self.contact, self.proof.compound
        if of_pieces is None or not contact.normal.any() or self.proof.compound_of_facets or not self.fit:
            return False
        slack = self._spare() + self._tolerance + self.promise
        along = float(contact.normal @ of_pieces.normal) > 1.0 - 1e-9
        return along and abs(of_pieces.signed_distance - contact.signed_distance) <= 8.0 * slack

    def _beyond(self) -> list[FloatArray]:
        """Return what is promised to separate, too, when it is moved besides: none where a note says so."""
        contact = self.contact
        if NOTCH in contact.notes or contact.depth <= self.band + self.promise:
            return []
        more = max(self.band, clear_length(*self.solids, contact.contact_tolerance, contact.depth))
        return [fraction * more * contact.normal for fraction in BEYOND]

    def _translation(self) -> list[Check]:
        """The translation must separate the meshes, and so must moving on in the same direction."""
        contact = self.contact
        # What it ends in may be narrower than rounding.
        lengths = np.zeros(3), self.promise * contact.normal, *([] if self.curved else self._beyond())
        moved = (self.b.translated(contact.mtv + more) for more in lengths)
        exact, rounded, *beyond = are_separated(self.a, *moved)
        apart = exact or rounded
        checks = [Check("the translation separates the meshes", apart, "to rounding, no triangles meet")]
        if not self.curved:
            words = "moved a little farther they stay apart"
            checks.append(Check(words, all(beyond), f"{contact.notes}"))
        return checks

    def _curved_depth(self) -> Check:
        """No translation shorter than that of a curved piece and one triangle separates."""
        found = self._gap(np.zeros(3), 0.0)
        if found is None:
            words = f"more than {_MOST_CURVED} triangles are near the pieces"
            return Check("not checked: that no shorter translation separates", True, words)
        ok = -found[1] >= self.contact.least_depth - self.promise
        return Check("no shorter translation separates", ok, f"a piece and a triangle prove {-found[1]:.9g}")

    def _curved_apart(self) -> Check:
        """The translation must separate the curved surface itself, not only its facets."""
        least = np.inf
        for more in (np.zeros(3), *self._beyond()):
            found = self._gap(self.contact.mtv + more, -self.promise)
            if found is None:
                words = f"more than {_MOST_CURVED} triangles are near the pieces"
                return Check("not checked: that the translation separates the curved surface", True, words)
            least = min(least, found[0])
        name = "the translation separates the curved surface from all triangles"
        return Check(name, least >= -2.0 * self.promise, f"{least:.3g}")

    def _gap(self, translation: FloatArray, reach: float) -> tuple[float, float] | None:
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


def _volume(mesh: Mesh) -> float:
    """Return the volume inside a closed mesh: parts turned against the others count as hollows only inside of these."""
    parts = mesh.loose_parts
    volumes = np.bincount(parts, mesh.local_volumes) * mesh.unit**3
    total = float(volumes.sum())
    turned = volumes < 0.0 if total >= 0.0 else volumes > 0.0
    wanted = abs(total)
    for k in np.flatnonzero(turned).tolist():
        start = mesh.points[mesh.triangles[parts == k][0, 0]]
        if abs(turns(start, Mesh(mesh.points, mesh.triangles[parts != k]))) < 0.5:
            wanted += 2.0 * abs(float(volumes[k]))
    return wanted


def _farthest(solid: Solid, facets: Mesh, direction: FloatArray) -> float:
    """Return how far a solid reaches along a unit vector; its facets where it is no curved one."""
    if isinstance(solid, Mesh):
        return float((facets.points[np.unique(facets.triangles)] @ direction).max())
    return max(float(support_points(piece, direction[None])[0] @ direction) for piece in pieces_of(solid))


def _same_region(a: object, b: object) -> bool:
    """Return whether two regions have the same fields."""
    if a is b:
        return True
    if not (isinstance(a, MergedRegion) and isinstance(b, MergedRegion)):
        return False
    values = ((getattr(a, field.name), getattr(b, field.name)) for field in fields(MergedRegion))
    return all(x is y or (np.array_equal(x, y) if isinstance(y, np.ndarray) else x == y) for x, y in values)


def _off_segments(points: FloatArray, segments: FloatArray, reach: float) -> FloatArray:
    """Return how far points (n, 3) are from the nearest of segments (k, 2, 3), infinite beyond `reach`."""
    result = np.full(len(points), np.inf)
    i, j = candidate_pairs(points, points, segments.min(axis=1), segments.max(axis=1), margin=reach).pairs.T
    for part in chunks(len(i), _CHUNK):
        np.minimum.at(result, i[part], segment_distances(points.take(i[part], axis=0), segments.take(j[part], axis=0)))
    return result
