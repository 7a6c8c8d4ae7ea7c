# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a contact of meshes, without the searches that found it.

Crossings are measured against their two triangles, points and distances against all triangles whose boxes are near
enough to matter, containment by the sum of solid angles, the pieces' contact as one of compounds. What cannot be proved
again this way is named in a check that says so.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..mesh_contact.mesh_result import BOUNDS_MEET, LEAST_GAP, MeshCertificate
from ..meshes.crossings import Crossings, Meeting
from ..meshes.decomposition import Decomposition
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid, pieces_of, solid_facets
from ..region.contact_curve import ContactCurve
from ..result import Contact, Relation, Status
from ..runs import chunks
from ..shapes.hull import ConvexHull
from ..tolerance import EPS, MESH_GAP
from ..types import FloatArray
from .check import Check, Verification
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
from .inside import check_inside, distances, off_solid, parts_inside
from .mesh_depth import crossing_depth, proof_faults
from .mesh_region import check_regions
from .mesh_translation import check_depth, check_normal, check_open_depth, check_pieces, check_ties
from .region import segment_distances
from .reported_mesh import TOO_MANY, ReportedMesh
from .surfaces import off_surface, points_off, surface_distance, surfaces_meet, tree_faults

_SLIT = 1e-9
"""Relative: how much less room than their slits bounds may leave."""
_CHUNK = 1 << 14
"""Pairs of a point and a segment measured in one go."""


def check_mesh(contact: Contact, a: Solid, b: Solid) -> Verification:
    """Check a contact of a mesh and any other solid."""
    facets = solid_facets(a), solid_facets(b)
    meshes = facets[0].mesh, facets[1].mesh
    form = (
        first("the contact is well-formed", _faults(contact, max(a.magnitude, b.magnitude))),
        first("the certificate is well-formed", _certificate_faults(contact.certificate, *meshes)),
    )
    if not all(check.ok for check in form):
        return Verification(form, float("nan"))
    checks = _checks(ReportedMesh(contact, (a, b), facets))
    return Verification((*form, *checks), contact.upper_bound - contact.lower_bound)


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


def _are_hulls(value: object) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(isinstance(piece, ConvexHull) for piece in value)


def _is_curve(value: object) -> bool:
    return isinstance(value, ContactCurve) and is_array(value.points, (None, 3))


def _checks(pair: ReportedMesh) -> list[Check]:
    contact = pair.contact
    checks = [
        Check(
            "solids are closed meshes",
            (bool(pair.proof.a_solid), bool(pair.proof.b_solid)) == (pair.a.solid, pair.b.solid),
            f"A {pair.a.solid}, B {pair.b.solid}",
        ),
        Check(
            "the bounds contain the signed distance",
            (contact.lower_bound <= contact.upper_bound <= 0.0)
            if pair.is_open
            else (contact.lower_bound <= contact.signed_distance <= contact.upper_bound and _status_fits(pair)),
            f"{contact.lower_bound:.9g} to {contact.upper_bound:.9g}, reported {contact.signed_distance:.9g}",
        ),
        *_check_slits(pair),
        first(
            "the boxes of the trees contain the triangles",
            (f"{name}: {text}" for name, body in (("A", pair.a), ("B", pair.b)) for text in tree_faults(body.mesh)),
        ),
        *_check_slack(pair),
        *_check_crossings(pair),
        *_check_curves(pair),
        _check_meeting(pair),
        *_check_witness(pair),
        *_check_middle(pair),
        *check_normal(pair),
        *check_ties(pair),
        *_check_relation(pair),
        _check_surface_distance(pair),
        *check_regions(pair),
    ]
    if not contact.intersects:
        checks += _check_apart(pair)
    checks += check_pieces(pair)
    if pair.is_open:
        checks += check_open_depth(pair)
    elif contact.depth > 0.0:
        checks += check_depth(pair)
    elif contact.intersects and (pair.a.solid or pair.b.solid):
        checks += _check_touch(pair)
    return checks


def _check_slits(pair: ReportedMesh) -> list[Check]:
    """Bounds leave room for the slits of meshes that are closed by corners near each other."""
    contact = pair.contact
    if not pair.slit or not contact.has_depth:
        return []
    room = min(contact.signed_distance - contact.lower_bound, contact.upper_bound - contact.signed_distance)
    ok = room >= pair.slit * (1.0 - _SLIT) - MESH_GAP * EPS * max(solid.magnitude for solid in pair.solids)
    return [Check("the bounds leave room for slits", ok, f"{room:.3g}, slits of {pair.slit:.3g}")]


def _status_fits(pair: ReportedMesh) -> bool:
    """Return whether bounds are certified to meet where they do, and no depth is where nothing has a direction."""
    has_direction = bool(not pair.contact.intersects or pair.contact.normal.any())
    if pair.contact.status is Status.NO_DEPTH or not has_direction:
        return pair.contact.status is Status.NO_DEPTH and not has_direction
    width, extent = pair.contact.upper_bound - pair.contact.lower_bound, max(solid.extent for solid in pair.solids)
    return (pair.contact.status is Status.CERTIFIED) == (width <= BOUNDS_MEET * extent)


def _check_witness(pair: ReportedMesh) -> list[Check]:
    off = max(map(off_solid, (pair.contact.point_on_a, pair.contact.point_on_b), pair.sides))
    limit = 2.0 * pair.promise + pair.spare() + pair.tolerance
    checks = [Check("witness points lie on their meshes", off <= limit, f"off by {off:.3g}, limit {limit:.3g}")]
    if pair.contact.intersects and pair.proof.compound is None and not pair.curved and pair.enclosed is None:
        off = float(np.abs(pair.contact.point_on_b - pair.contact.point_on_a).max())
        checks.append(Check("the witness points are one common point", off <= limit, f"off by {off:.3g}"))
    return checks


def _check_middle(pair: ReportedMesh) -> list[Check]:
    """The middle of a feature that faces the mesh across a gap is as near to both as reported."""
    contact = pair.contact
    if contact._middle is None:
        return []
    half = 0.5 * contact.signed_distance * contact.normal
    off = 0.0
    for point, side in zip((contact._middle - half, contact._middle + half), pair.sides, strict=True):
        if isinstance(side.solid, Mesh):
            off = max(off, off_surface(point, side.body.mesh))
        else:
            pieces = pieces_of(side.solid)
            off = max(off, min(abs(float(p.core_distances(point[None])[0]) - p.rounding_radius) for p in pieces))
    limit = 2.0 * (pair.band + pair.promise)
    fits = contact.relation is Relation.SEPARATED and pair.curved and off <= limit
    return [Check("the center is in the middle of what faces the other", fits, f"off by {off:.3g}, limit {limit:.3g}")]


def _check_surface_distance(pair: ReportedMesh) -> Check:
    contact = pair.contact
    name = "the surfaces are as far apart as reported"
    if not contact.intersects:
        off = abs(pair.proof.surface_distance - contact.signed_distance)
        return Check(name, off <= pair.promise, f"off by {off:.3g} from the distance")
    if len(pair.proof.crossings):
        # A curved solid may be apart from what its facets, those inside of it, meet.
        ok = pair.proof.surface_distance == 0.0 or pair.curved
        return Check(name, ok, f"they cross, reported {pair.proof.surface_distance:.9g}")
    reported, slack = pair.proof.surface_distance, max(facets.slack for facets in pair.facets)
    if pair.curved and reported == 0.0:
        return Check("not checked: how far apart the surfaces are", True, f"reported {reported:.9g}")
    reach = reported + slack + pair.promise
    least, most = surface_distance(pair.a.mesh, pair.b.mesh, reach, reported - pair.promise)
    ok = reported - pair.promise <= most <= reach
    return Check(name, ok, f"reported {reported:.9g}, triangles {least:.9g} to {most:.9g}")


def _check_apart(pair: ReportedMesh) -> list[Check]:
    contact = pair.contact
    across = contact.point_on_b - contact.point_on_a
    reach = float(np.linalg.norm(across))
    checks = [Check("two points prove the upper bound", contact.upper_bound >= reach - pair.promise, f"{reach:.9g}")]
    name = "a plane or all pairs of triangles prove the lower bound"
    if reach > 0.0:
        gap = pair.slab(across / reach)
        if gap >= contact.lower_bound - pair.promise:
            return [*checks, Check(name, True, f"bound {contact.lower_bound:.9g}, plane {gap:.9g}")]
    if pair.curved:
        found = pair.gap(np.zeros(3), contact.lower_bound)
        if found is None:
            return [
                *checks,
                Check("not checked: the lower bound of the distance", True, f"{TOO_MANY}, no plane parts them"),
            ]
        return [*checks, Check(name, contact.lower_bound <= found[0] + pair.promise, f"triangles {found[0]:.9g}")]
    least, _ = surface_distance(pair.a.mesh, pair.b.mesh, contact.lower_bound, contact.lower_bound - pair.promise)
    ok = contact.lower_bound <= least + pair.promise
    return [*checks, Check(name, ok, f"bound {contact.lower_bound:.9g}, triangles {least:.9g}")]


def _check_slack(pair: ReportedMesh) -> list[Check]:
    """Facets of curved solids are made alike again, and their distance from the surface is certain."""
    slacks, found = (pair.proof.slack_a, pair.proof.slack_b), tuple(facets.slack for facets in pair.facets)
    if not pair.curved and slacks == found:
        return []
    unused = slacks == (0.0, 0.0) and not len(pair.proof.crossings) and pair.contact.depth == 0.0
    ok = unused or slacks == found
    return [Check("facets are as far inside as reported", ok, f"{slacks}, found {found}")]


def _check_crossings(pair: ReportedMesh) -> list[Check]:
    found = pair.proof.crossings
    off = 0.0
    for side, mesh in ((0, pair.a.mesh), (1, pair.b.mesh)):
        corners = mesh.points[mesh.triangles[found.pairs[:, side]]]
        for end in range(2):
            off = max(off, float(distances(found.segments[:, end], corners).max(initial=0.0)))
    checks = [Check("crossings lie on both of their triangles", off <= pair.promise, f"off by {off:.3g}")]
    if not (len(found) or pair.curved):
        (meet,) = surfaces_meet(pair.a.mesh, pair.b.mesh)
        checks.append(Check("the surfaces do not meet where no triangles are reported to", not meet, "exactly"))
    return checks


def _check_curves(pair: ReportedMesh) -> list[Check]:
    """Curves lie on both surfaces, and each segment in which triangles meet at an angle is on one of them."""
    crossings = pair.proof.crossings
    links = [np.zeros((0, 2, 3))]
    for curve in pair.contact.curves:
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
    off = max(float(points_off(points, body.mesh, pair.promise).max(initial=0.0)) for body in (pair.a, pair.b))
    checks = [Check("curves lie on both surfaces", off <= pair.promise, f"{len(steps)} steps, off by {off:.3g}")]
    at_angle = crossings.kinds < Meeting.COPLANAR
    # The same point, found from two triangles, may be rounded in two ways.
    others = crossings.segments[at_angle & ~np.isin(of_segments, of_steps)]
    points = np.concatenate([others[:, 0], 0.5 * others[:, 0] + 0.5 * others[:, 1], others[:, 1]])
    off = float(_off_segments(points, steps, 4.0 * pair.promise).max(initial=0.0))
    name = "curves contain all segments in which triangles cross"
    checks.append(Check(name, off <= 4.0 * pair.promise, f"{len(others)} other segments, off by {off:.3g}"))
    if len(crossings):
        words = "each one reported is checked, missing ones are not searched for"
        checks.append(Check("not checked: that no crossing is missing", True, words))
    return checks


def _check_meeting(pair: ReportedMesh) -> Check:
    """Tell again whether they intersect: crossings are checked one by one, containment by solid angles."""
    held = any(parts_inside(pair.a, pair.b)) or any(parts_inside(pair.b, pair.a))
    found = held or bool(len(pair.proof.crossings))
    if pair.curved and not found:
        # Facets do not tell of what is between them and the surface.
        gap = pair.gap(np.zeros(3), pair.promise)
        found = bool(pair.contact.intersects)
        if gap is not None:
            found = gap[1] <= pair.promise if found else gap[0] < -pair.promise
    found = found or pair.enclosed is not None
    # What touches to rounding may be inside by rounding; that it is no farther is another check.
    same = pair.contact.intersects == found or 0.0 < pair.contact.signed_distance <= pair.promise
    return Check("they intersect where they cross or one is inside", same, f"reported {pair.contact.intersects}")


def _check_relation(pair: ReportedMesh) -> list[Check]:
    contact = pair.contact
    name = "the relation fits the distance"
    if contact.signed_distance > pair.band:
        near = contact.signed_distance <= contact.clearance
        wanted = Relation.WITHIN_CLEARANCE if near else Relation.SEPARATED
        return [Check(name, contact.relation is wanted, f"{contact.relation}, expected {wanted}")]
    if pair.enclosed is not None:
        found, are_all = pair.enclosed
        fits = contact.relation is found and contact.status is Status.NO_DEPTH
        checks = [Check(name, fits, f"{contact.relation}, found {found} but for small holes, without a depth")]
        return checks if are_all else [*checks, Check("not checked: that no other corner is outside", True, "many")]
    possible = {Relation.TOUCHING, Relation.COINCIDENT}
    is_bare = not (pair.a.solid or pair.b.solid)
    if pair.is_open:
        possible = set() if is_bare else {Relation.COINCIDENT}
    if (
        (pair.is_open and not is_bare)
        or contact.depth > 0.0
        or (contact.intersects and (pair.curved or (is_bare and not contact.has_depth)))
    ):
        possible |= {Relation.PENETRATING, Relation.A_INSIDE_B, Relation.B_INSIDE_A}
    # What fits exactly into a slot touches it all around, but leaves it by a long translation only.
    of_pieces = pair.proof.compound
    fits = pair.of_pieces and of_pieces is not None and of_pieces.relation is Relation.TOUCHING
    if (contact.depth > pair.band and not fits) or (is_bare and not contact.has_depth):
        possible -= {Relation.TOUCHING}
    ok = contact.relation in possible
    checks = [Check(name, ok, f"{contact.relation}, expected {' or '.join(sorted(possible))}")]
    crossing = len(pair.proof.crossings) > 0
    return [*checks, *check_inside(contact, crossing, pair.sides[0], pair.sides[1], pair.band, pair.limit)]


def _check_touch(pair: ReportedMesh) -> list[Check]:
    """What meets but has no depth may only touch: no two triangles are deeper than that in each other, and its
    pieces touch, or it is separated by less than rounding."""
    contact, of_pieces = pair.contact, pair.proof.compound
    name = "shapes that meet without a depth only touch"
    limit = pair.limit + pair.tolerance
    deepest = crossing_depth(pair.proof.crossings, pair.a, pair.b, limit)
    if deepest > 0.0:
        return [Check(name, False, f"two triangles are {deepest:.3g} deep in each other, limit {limit:.3g}")]
    if of_pieces is not None:
        room = pair.tolerance + pair.spare() + pair.promise
        return [Check(name, of_pieces.depth <= room, f"the pieces are {of_pieces.depth:.3g} deep, limit {room:.3g}")]
    if pair.curved:
        found = pair.gap(np.zeros(3), 0.0)
        ok = found is None or found[0] >= -2.0 * pair.promise
        return [Check(name if found else f"not checked: {name}", ok, f"{found}")]
    if not (contact.normal.any() and pair.a.solid and pair.b.solid):
        return []  # checked with the relation
    lengths = min(-contact.lower_bound, pair.promise), pair.promise
    apart = any(pair.are_separated(*(length * contact.normal for length in lengths)))
    return [Check(name, apart, "moved by rounding along the normal they do not meet")]


def _off_segments(points: FloatArray, segments: FloatArray, reach: float) -> FloatArray:
    """Return how far points (n, 3) are from the nearest of segments (k, 2, 3), infinite beyond `reach`."""
    result = np.full(len(points), np.inf)
    i, j = candidate_pairs(points, points, segments.min(axis=1), segments.max(axis=1), margin=reach).pairs.T
    for part in chunks(len(i), _CHUNK):
        np.minimum.at(result, i[part], segment_distances(points.take(i[part], axis=0), segments.take(j[part], axis=0)))
    return result
