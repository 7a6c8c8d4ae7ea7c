# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of any two things that objects collide as, in one form: convex shapes, compounds and meshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from ...core.compounds.compound import Compound, as_compound
from ...core.contact import contact
from ...core.decomposition.mesh_pieces import mesh_pieces, note_of_pieces
from ...core.mesh_contact.mesh_pair import NO_DEPTH
from ...core.mesh_contact.mesh_result import MeshCertificate
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.progress import Progress
from ...core.result import Contact, PiecesCertificate, Status
from ...core.types import FloatArray


def outlines(contact: Contact) -> list[FloatArray]:
    """Return the outlines (k, 3) of the contact regions: points, segments, polygons."""
    if contact.region is not None:
        return [contact.region.outline(contact.normal)]
    return [patch.region.outline(patch.normal) for region in contact.regions for patch in region.patches]


def curves(contact: Contact) -> tuple[FloatArray, ...]:
    """Return the polylines (k, 3) in which surfaces meet; closed ones repeat the first point."""
    return tuple(
        np.concatenate([curve.points, curve.points[:1]]) if curve.is_closed else curve.points
        for curve in contact.curves
    )


def curve_length(contact: Contact) -> float:
    """Return the length of all curves in which surfaces meet."""
    return sum(curve.length for curve in contact.curves)


def is_convex(contact: Contact) -> bool:
    """Return whether a contact is of two convex shapes: neither is a compound or a mesh."""
    return contact.feature_a is not None


def pieces_of(contact: Contact) -> tuple[Decomposition | None, Decomposition | None]:
    """Return the convex pieces that stand for the meshes of a contact; None for other shapes and where none did."""
    proof = contact.certificate.surfaces.certificate if isinstance(contact.certificate, PiecesCertificate) else None
    proof = proof or contact.certificate
    return (
        (proof.pieces_a, proof.pieces_b) if isinstance(proof, MeshCertificate) and contact.intersects else (None, None)
    )


def center_of(contact: Contact) -> FloatArray | None:
    """Return the centroid (3,) of the contact regions; None where there is none."""
    if is_convex(contact):
        return None if contact.region is None else contact.region.centroid
    return contact.center if contact.regions else None


def vector_ends(found: Contact) -> tuple[FloatArray, FloatArray]:
    """Return the ends (3,) on B and on A of the penetration vector, or of the line across the gap, in true length; the
    contact centre is in the middle."""
    half = 0.5 * found.signed_distance * found.normal
    return found.center + half, found.center - half


# --- any pair -------------------------------------------------------------------------------------------------------


def find(
    a: Solid,
    b: Solid,
    pieces: tuple[Callable[[], Decomposition] | None, Callable[[], Decomposition] | None],
    method: str,
    clearance: float,
    contact_tolerance: float,
    fill_open: tuple[bool, bool] = (False, False),
    progress: Progress | None = None,
    budget: float | None = None,
) -> Contact:
    """Return the contact of two things.

    pieces: make the convex pieces that stand for meshes, which may take long, when they are needed. fill_open: whose
    mesh, where it is open and so has no depth, gets that of its pieces. budget: see `contact`, for meshes.
    progress: called with the fraction done; False cancels. Raises ValueError when core does, and Cancelled.
    """
    makers = [make if isinstance(solid, Mesh) else None for solid, make in zip((a, b), pieces, strict=True)]
    convex = not isinstance(a, Compound | Mesh) and not isinstance(b, Compound | Mesh)
    found = contact(
        a,
        b,
        method=method if convex else "auto",  # type: ignore[arg-type]
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        pieces_a=makers[0],
        pieces_b=makers[1],
        budget=budget if isinstance(a, Mesh) or isinstance(b, Mesh) else None,
        progress=progress,
    )
    proof = found.certificate
    if isinstance(proof, MeshCertificate) and not found.has_depth:
        filled_in = [closed or fill for closed, fill in zip((proof.a_solid, proof.b_solid), fill_open, strict=True)]
        if all(filled_in):
            return _filled(found, proof, a, b, makers, progress) or found
    return found


def _filled(
    of_mesh: Contact,
    proof: MeshCertificate,
    a: Solid,
    b: Solid,
    makers: list[Callable[[], Decomposition] | None],
    progress: Progress | None,
) -> Contact | None:
    """Return the contact of meshes of which one is open, with the depth of the convex pieces that stand for them.

    The relation and the curves stay those of the meshes. None when the pieces do not overlap.
    """
    pieces = [
        (make() if make is not None else mesh_pieces(solid, concavity=inf)) if isinstance(solid, Mesh) else None
        for make, solid in zip(makers, (a, b), strict=True)
    ]
    solid_a, solid_b = (
        as_compound(solid) if not isinstance(solid, Mesh) else Compound(found.pieces if found is not None else ())
        for solid, found in zip((a, b), pieces, strict=True)
    )
    of_pieces = contact(solid_a, solid_b, contact_tolerance=of_mesh.contact_tolerance, progress=progress)
    if of_pieces.depth <= 0.0:
        return None
    proof = replace(proof, pieces_a=pieces[0] or proof.pieces_a, pieces_b=pieces[1] or proof.pieces_b)
    of_mesh = replace(of_mesh, certificate=proof)
    notes = [
        note_of_pieces(about, found)
        for about, found in zip("AB", pieces, strict=True)
        if found is not None and not found.exact
    ]
    return replace(
        of_mesh,
        signed_distance=of_pieces.signed_distance,
        normal=of_pieces.normal,
        lower_bound=of_pieces.lower_bound,
        upper_bound=of_pieces.upper_bound,
        ties=of_pieces.ties,
        iterations=of_pieces.iterations,
        status=Status.OF_PIECES,
        notes=(*(note for note in of_mesh.notes if note != NO_DEPTH), *notes, *of_pieces.notes),
        certificate=PiecesCertificate(of_mesh, of_pieces, (solid_a, solid_b)),
    )


def lifted(found: Contact, point: FloatArray, axes: FloatArray) -> Contact:
    """Return a contact in a plane as one in space.

    point (3,) is the plane's origin, axes (2, 3) its unit vectors in the world.
    """

    def place(points: FloatArray) -> FloatArray:
        return point + points @ axes

    changes: dict[str, Any] = {
        "normal": found.normal @ axes,
        "point_on_a": place(found.point_on_a),
        "point_on_b": place(found.point_on_b),
        "ties": found.ties @ axes,
    }
    region = found.region
    if region is not None:
        changes["region"] = replace(region, vertices=place(region.vertices), centroid=place(region.centroid))
    changes["regions"] = tuple(
        replace(
            merged,
            normal=merged.normal @ axes,
            centroid=place(merged.centroid),
            outline=place(merged.outline),
            patches=tuple(
                replace(
                    patch,
                    normal=patch.normal @ axes,
                    region=replace(
                        patch.region, vertices=place(patch.region.vertices), centroid=place(patch.region.centroid)
                    ),
                )
                for patch in merged.patches
            ),
        )
        for merged in found.regions
    )
    return replace(found, **changes)
