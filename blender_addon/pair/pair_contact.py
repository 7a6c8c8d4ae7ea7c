# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of any two things that objects collide as, in one form: convex shapes, compounds and meshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.compounds.compound import Compound
from ...core.contact import contact
from ...core.mesh_contact.mesh_result import MeshCertificate
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.meshes.solid_facets import Solid
from ...core.progress import Progress
from ...core.result import Contact
from ...core.types import FloatArray


def outlines(contact: Contact, with_areas: bool = True) -> list[FloatArray]:
    """Return the outlines (k, 3) of the contact regions: points, segments, polygons; of merged regions those of their
    patches, and without areas only of those that have none."""
    if contact.region is not None:
        return [contact.region.outline(contact.normal)]
    regions = [region for region in contact.regions if with_areas or region.area == 0.0]
    return [patch.region.outline(patch.normal) for region in regions for patch in region.patches]


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
    proof = contact.certificate
    if isinstance(proof, MeshCertificate) and contact.intersects:
        return proof.pieces_a, proof.pieces_b
    return None, None


def center_of(contact: Contact) -> FloatArray | None:
    """Return the centroid (3,) of the contact regions; None where there is none."""
    if is_convex(contact):
        return None if contact.region is None else contact.region.centroid
    return contact.center if contact.regions else None


def vector_ends(found: Contact) -> tuple[FloatArray, FloatArray]:
    """Return the tail and the tip (3,) of the arrow: the contact centre, and where the MTV leads from there. Of a gap,
    the ends on A and on B of the line across it, which has the contact centre in its middle."""
    if found.signed_distance <= 0.0:
        return found.center, found.center + found.mtv
    half = 0.5 * found.signed_distance * found.normal
    return found.center - half, found.center + half


# --- any pair -------------------------------------------------------------------------------------------------------


def find(
    a: Solid,
    b: Solid,
    pieces: tuple[Callable[[], Decomposition | None] | None, Callable[[], Decomposition | None] | None],
    method: str,
    clearance: float,
    contact_tolerance: float,
    progress: Progress | None = None,
    budget: float | None = None,
    depth: bool = True,
) -> Contact:
    """Return the contact of two things.

    pieces: make the exact pieces of meshes, None without any, which may take long, when they are needed. budget: see
    `contact`; first answers are those of meshes only. depth: see `contact`. progress: called with the fraction done;
    False cancels.

    Raise ValueError when core does, and Cancelled.
    """
    makers = [make if isinstance(solid, Mesh) else None for solid, make in zip((a, b), pieces, strict=True)]
    convex = not isinstance(a, Compound | Mesh) and not isinstance(b, Compound | Mesh)
    return contact(
        a,
        b,
        method=method if convex else "auto",  # type: ignore[arg-type]
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        pieces_a=makers[0],
        pieces_b=makers[1],
        budget=budget if isinstance(a, Mesh) or isinstance(b, Mesh) else budget or None,
        depth=depth,
        progress=progress,
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
    for name in ("region", "_facing"):
        region = getattr(found, name)
        if region is not None:
            changes[name] = replace(region, vertices=place(region.vertices), centroid=place(region.centroid))
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
