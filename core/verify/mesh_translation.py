# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the translation reported separates a mesh from another solid, no shorter one does, and the pieces by which it
was found are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..compounds.compound import Compound
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import pieces_of
from ..note import NOTCH
from ..result import Status
from ..tolerance import DECOMPOSE_VOLUME, EPS, VERIFY_UNIT
from .check import Check
from .compound import check_compound
from .form import first
from .inside import turns
from .mesh_depth import check_depth_proof
from .pieces_inside import sticks_out
from .reported_mesh import TOO_MANY, ReportedMesh
from .surfaces import points_off
from .ties import check_realised


def check_normal(pair: ReportedMesh) -> list[Check]:
    contact = pair.contact
    if not contact.normal.any():
        return []
    error = abs(float(np.linalg.norm(contact.normal)) - 1.0)
    checks = [Check("the normal is a unit vector", error <= VERIFY_UNIT * EPS, f"off by {error:.3g}")]
    if contact.signed_distance > 0.0 or (pair.of_pieces and contact.depth > 0.0):
        checks.append(check_realised(contact, 2.0 * pair.promise + pair.tolerance))
    return checks


def check_ties(pair: ReportedMesh) -> list[Check]:
    """Each tie separates as the first of them, the normal: one of the pieces as their translation, any other on the
    meshes."""
    contact, of_pieces = pair.contact, pair.proof.compound
    others = contact.ties[1:]
    if not len(others):
        return []
    name = "all ties are unit vectors that separate as the normal does"
    error = float(np.abs(np.linalg.norm(others, axis=1) - 1.0).max())
    if contact.depth == 0.0 or error > VERIFY_UNIT * EPS:
        return [Check(name, False, f"{len(others)} besides the normal, depth {contact.depth:.3g}, off by {error:.3g}")]
    proved = pair.of_pieces and of_pieces is not None and of_pieces.status is not Status.UNVERIFIED
    own = of_pieces.ties if proved and of_pieces is not None else others[:0]
    for tie in others:
        if pair.slab(tie) + contact.depth >= -pair.promise:
            continue  # nothing of A is beyond a plane that nothing of B is before
        is_own = bool((own == tie).all(axis=1).any())
        if not (pair.deepest_after(contact.depth * tie) == 0.0 if is_own else pair.separates_along(tie)):
            return [Check(name, False, f"a translation of {contact.depth:.9g} along {tie.tolist()} does not")]
    return [Check(name, True, f"{len(contact.ties)} ties")]


def check_depth(pair: ReportedMesh) -> list[Check]:
    contact = pair.contact
    checks = []
    if pair.fit:
        for name, body, solid, pieces in zip("AB", (pair.a, pair.b), pair.solids, pair.pieces, strict=True):
            if pieces is None or not isinstance(solid, Mesh):
                continue
            volume, wanted = sum(piece.volume for piece in pieces.pieces), _volume(body.mesh)
            room = 4.0 * DECOMPOSE_VOLUME * wanted + pair.spare() * body.mesh.area + pair.promise * body.mesh.area
            words = f"the pieces of {name} have the volume of the mesh"
            checks.append(Check(words, abs(volume - wanted) <= room, f"{volume:.9g} and {wanted:.9g}"))
    of_pieces = pair.proof.compound
    if of_pieces is not None and pair.fit and not pair.proof.compound_of_facets:
        slack = pair.spare() + pair.tolerance + pair.promise
        ok = contact.depth - of_pieces.depth <= 8.0 * slack and contact.least_depth <= of_pieces.least_depth + slack
        checks.append(Check("the depth is no longer than that of the pieces", ok, f"{of_pieces.depth:.9g}"))
        if not pair.of_pieces:
            checks += _translation(pair)
        else:
            # They may touch then, as a peg does in its slot.
            deepest, words = pair.deepest_after(contact.mtv), "the translation of the pieces separates the meshes"
            checks.append(Check(words, deepest == 0.0, f"two triangles are {deepest:.3g} deep in each other"))
            if NOTCH in of_pieces.notes:
                checks.append(Check("the note of the pieces is reported", NOTCH in contact.notes, str(NOTCH)))
    else:
        checks += _translation(pair)
        if pair.curved:
            checks.append(_curved_apart(pair))
        proved = check_depth_proof(pair.proof.depth_proof, pair.a, pair.b, contact.least_depth, pair.promise)
        checks.append(proved if proved.ok or not pair.curved else _curved_depth(pair))
        over = contact.least_depth * (1.0 - 1e-6) - pair.promise
        if over > 0.0 and contact.normal.any() and not pair.curved:
            (shorter,) = pair.are_separated(over * contact.normal)
            checks.append(Check("no shorter one along the normal separates", not shorter, f"{over:.9g}"))
    return checks


def check_open_depth(pair: ReportedMesh) -> list[Check]:
    """No shorter translation than the upper bound separates, and one as long as the lower bound does."""
    contact = pair.contact
    (low, high), (other_low, other_high) = (solid.bounds for solid in pair.solids)
    length = float(np.minimum(high - other_low, other_high - low).min())
    ok = -contact.lower_bound >= length - pair.promise
    least, nested = max(0.0, contact.least_depth - pair.slit), not len(pair.proof.crossings)
    proved = check_depth_proof(pair.proof.depth_proof, pair.a, pair.b, least, pair.promise)
    if not proved.ok and nested and least <= pair.proof.surface_distance:
        proved = replace(proved, ok=True, detail="a part is inside by more")
    checks = [Check("boxes are parted by the lower bound", ok, f"{contact.lower_bound:.9g}, {length:.9g}"), proved]
    if contact.least_depth <= pair.band:
        checks.append(Check("not checked: that they are deeper than the band", True, "their depth was not kept"))
    return checks


def _translation(pair: ReportedMesh) -> list[Check]:
    """The translation must separate the meshes, and so must moving on in the same direction."""
    contact = pair.contact
    # What it ends in may be narrower than rounding.
    lengths = np.zeros(3), pair.promise * contact.normal, *([] if pair.curved else pair.beyond())
    exact, rounded, *beyond = pair.are_separated(*(contact.mtv + more for more in lengths))
    checks = [Check("the translation separates the meshes", exact or rounded, "to rounding, no triangles meet")]
    if not pair.curved:
        checks.append(Check("moved a little farther they stay apart", all(beyond), f"{contact.notes}"))
    return checks


def _curved_depth(pair: ReportedMesh) -> Check:
    """No translation shorter than that of a curved piece and one triangle separates."""
    found = pair.gap(np.zeros(3), 0.0)
    if found is None:
        return Check("not checked: that no shorter translation separates", True, TOO_MANY)
    ok = -found[1] >= pair.contact.least_depth - pair.promise
    return Check("no shorter translation separates", ok, f"a piece and a triangle prove {-found[1]:.9g}")


def _curved_apart(pair: ReportedMesh) -> Check:
    """The translation must separate the curved surface itself, not only its facets."""
    least = np.inf
    for more in (np.zeros(3), *pair.beyond()):
        found = pair.gap(pair.contact.mtv + more, -pair.promise)
        if found is None:
            return Check("not checked: that the translation separates the curved surface", True, TOO_MANY)
        least = min(least, found[0])
    name = "the translation separates the curved surface from all triangles"
    return Check(name, least >= -2.0 * pair.promise, f"{least:.3g}")


def check_pieces(pair: ReportedMesh) -> list[Check]:
    name = "the contact of the pieces holds"
    if pair.proof.compound is None:
        return []
    if None in pair.pieces:
        return [Check(name, False, "pieces are missing")]
    compound_a, compound_b = (
        Compound(pieces_of(solid) if facets.curved and not pair.proof.compound_of_facets else pieces.pieces)  # type: ignore
        for solid, facets, pieces in zip(pair.solids, pair.facets, pair.pieces, strict=True)
    )
    found = check_compound(pair.proof.compound, compound_a, compound_b)
    words = "; ".join(f"{check.name}: {check.detail}" for check in found.failures)
    if not found.failures:
        words = "; ".join(check.name for check in found.checks if check.name.startswith("not checked"))
    own = first("the pieces are those of their meshes", _piece_faults(pair))
    return [Check(name, found.ok, words or f"{len(found.checks)} checks"), own]


def _piece_faults(pair: ReportedMesh) -> Iterator[str]:
    """Yield which pieces are not inside their solid: corners and middles are asked, and what triangles enter."""
    for name, body, facets, found in zip("AB", (pair.a, pair.b), pair.facets, pair.pieces, strict=True):
        assert found is not None
        if facets.pieces is not None:
            own = facets.pieces.pieces
            same = found.distance == facets.pieces.distance and len(own) == len(found.pieces)
            if not (
                same and all(np.array_equal(p.vertices, q.vertices) for p, q in zip(own, found.pieces, strict=True))
            ):
                yield f"{name}: they are not the pieces of the shape"
            continue
        if found.distance > max(0.25 * pair.band, pair.promise):
            yield f"{name}: they are up to {found.distance:.3g} from the mesh"
        corners = [piece.vertices for piece in found.pieces]
        points = np.concatenate([*corners, [of_piece.mean(axis=0) for of_piece in corners]])
        inside = body.contains(points)
        limit = found.distance + 2.0 * pair.promise
        off = float(points_off(points[~inside], body.mesh, limit).max(initial=0.0))
        if off > limit:
            yield f"{name}: a corner or a middle is outside of the mesh"
        middles = inside[len(points) - len(corners) :].tolist()
        for piece, middle in zip(found.pieces, middles, strict=True):
            if sticks_out(piece, body, limit, middle):
                yield f"{name}: a piece reaches outside of the mesh"


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
