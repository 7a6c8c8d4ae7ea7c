# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of any two things that objects collide as, in one form: convex shapes, compounds and meshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...core.compounds.compound import Compound, CompoundContact, CompoundStatus, compound_contact
from ...core.compounds.compound_region import MergedRegion
from ...core.decomposition.mesh_pieces import mesh_pieces, note_of_pieces
from ...core.meshes.decomposition import Decomposition
from ...core.meshes.mesh import Mesh
from ...core.meshes.mesh_contact import NO_DEPTH, MeshContact, mesh_contact
from ...core.meshes.solid_facets import Solid
from ...core.narrow_phase.contact import Contact, contact
from ...core.narrow_phase.relation import Relation
from ...core.note import Note
from ...core.progress import Progress
from ...core.shapes.curved_shape import ConvexShape
from ...core.types import FloatArray
from ...core.verify.check import Verification
from ...core.verify.verify import verify
from ..read.shape_outline import extent_of

BOUNDS_MEET = 1e-6
"""Relative to the size of the larger object: bounds that differ by no more meet."""
NO_INSIDE = "an open surface has no inside"


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of two things of which one is a compound or a mesh. World frame, Blender units."""

    source: CompoundContact | MeshContact
    relation: Relation
    intersects: bool
    signed_distance: float
    normal: FloatArray
    """(3,) unit vector from A to B; zero where surfaces meet that have no depth."""
    point_on_a: FloatArray
    point_on_b: FloatArray
    center: FloatArray
    """(3,) the contact centre."""
    lower_bound: float
    upper_bound: float
    ties: FloatArray
    regions: tuple[MergedRegion, ...]
    curves: tuple[FloatArray, ...]
    """Polylines (k, 3) in which the surfaces meet; closed ones repeat the first point."""
    curve_length: float
    area: float
    centroid: FloatArray | None
    method: str
    iterations: int
    status: str
    reason: str
    """Why the bounds do not meet, in words; empty when they do."""
    notes: tuple[Note, ...]
    """What to know."""
    clearance: float
    contact_tolerance: float
    of_pieces: tuple[CompoundContact, Compound | ConvexShape, Compound | ConvexShape] | None = None
    """Where the depth is that of convex pieces that stand for a mesh, whose surface is open and has none: their
    contact, and they."""
    region: None = None
    cross_check: None = None
    feature_a: None = None
    feature_b: None = None

    @property
    def has_depth(self) -> bool:
        """False where surfaces meet of which one is open: it has no inside."""
        return not self.intersects or bool(self.normal.any())

    @property
    def depth(self) -> float:
        return max(0.0, -self.signed_distance)

    @property
    def mtv(self) -> FloatArray:
        return self.depth * self.normal

    @cached_property
    def outlines(self) -> list[FloatArray]:
        """Corners (k, 3) of the patches of the regions: points, segments, polygons."""
        return [patch.region.outline(patch.normal) for region in self.regions for patch in region.patches]


def outlines(found: Contact | Found) -> list[FloatArray]:
    """Return the outlines (k, 3) of the contact regions: points, segments, polygons."""
    if isinstance(found, Found):
        return found.outlines
    return [] if found.region is None else [found.region.outline(found.normal)]


def curves(found: Contact | Found) -> tuple[FloatArray, ...]:
    """Return the polylines (k, 3) in which surfaces meet."""
    return found.curves if isinstance(found, Found) else ()


def vector_ends(found: Contact | Found) -> tuple[FloatArray, FloatArray]:
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
) -> Contact | Found:
    """Return the contact of two things.

    pieces: make the convex pieces that stand for meshes, which may take long, when they are needed. fill_open: whose
    mesh, where it is open and so has no depth, has that of its pieces told. progress: called with the share done; False
    cancels. Raises ValueError when core does, and Cancelled.
    """
    if not isinstance(a, Compound | Mesh) and not isinstance(b, Compound | Mesh):
        return contact(a, b, method=method, clearance=clearance, contact_tolerance=contact_tolerance)  # type: ignore
    if not isinstance(a, Mesh) and not isinstance(b, Mesh):
        return _of_compound(
            compound_contact(a, b, clearance=clearance, contact_tolerance=contact_tolerance, progress=progress)
        )
    makers = [make if isinstance(solid, Mesh) else None for solid, make in zip((a, b), pieces, strict=True)]
    of_mesh = mesh_contact(
        a,
        b,
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        pieces_a=makers[0],
        pieces_b=makers[1],
        progress=progress,
    )
    filled_in = [closed or fill for closed, fill in zip((of_mesh.a_solid, of_mesh.b_solid), fill_open, strict=True)]
    if of_mesh.intersects and of_mesh.normal is None and all(filled_in):
        filled = _filled(of_mesh, a, b, makers, progress)
        if filled is not None:
            return filled
    return _of_mesh(of_mesh, max(extent_of(a), extent_of(b)))


def _filled(
    of_mesh: MeshContact,
    a: Solid,
    b: Solid,
    makers: list[Callable[[], Decomposition] | None],
    progress: Progress | None,
) -> Found | None:
    """Return the contact of meshes of which one is open, with the depth of the convex pieces that stand for them.

    The relation and the curves stay those of the meshes. None when the pieces do not overlap.
    """
    pieces = [
        (make() if make is not None else mesh_pieces(solid)) if isinstance(solid, Mesh) else None
        for make, solid in zip(makers, (a, b), strict=True)
    ]
    solids = [
        solid if isinstance(solid, Compound | ConvexShape) else Compound(found.pieces if found is not None else ())
        for solid, found in zip((a, b), pieces, strict=True)
    ]
    of_pieces = compound_contact(*solids, contact_tolerance=of_mesh.contact_tolerance, progress=progress)
    if of_pieces.depth <= 0.0:
        return None
    told = replace(of_mesh, pieces_a=pieces[0] or of_mesh.pieces_a, pieces_b=pieces[1] or of_mesh.pieces_b)
    notes = [
        note_of_pieces(about, found)
        for about, found in zip("AB", pieces, strict=True)
        if found is not None and not found.exact
    ]
    return replace(
        _of_mesh(told, max(extent_of(a), extent_of(b))),
        signed_distance=of_pieces.signed_distance,
        normal=of_pieces.normal,
        lower_bound=of_pieces.lower_bound,
        upper_bound=of_pieces.upper_bound,
        ties=of_pieces.ties,
        iterations=of_pieces.nodes,
        status="of_pieces",
        notes=(*(note for note in told.notes if note != NO_DEPTH), *notes, *of_pieces.notes),
        reason=f"{NO_INSIDE}: the depth is that of the convex hulls of its loose parts",
        of_pieces=(of_pieces, solids[0], solids[1]),
    )


def _of_compound(c: CompoundContact) -> Found:
    return Found(
        source=c,
        relation=c.relation,
        intersects=c.intersects,
        signed_distance=c.signed_distance,
        normal=c.normal,
        point_on_a=c.point_on_a,
        point_on_b=c.point_on_b,
        center=c.center,
        lower_bound=c.lower_bound,
        upper_bound=c.upper_bound,
        ties=c.ties,
        regions=c.regions,
        curves=(),
        curve_length=0.0,
        area=c.area,
        centroid=c.centroid,
        method="compound",
        iterations=c.nodes,
        status="bracket" if c.status is CompoundStatus.CURVED_BRACKET else str(c.status),
        reason=c.status.reason,
        notes=c.notes,
        clearance=c.clearance,
        contact_tolerance=c.contact_tolerance,
    )


def _of_mesh(c: MeshContact, size: float) -> Found:
    """Return it in one form; size: of the larger of the two, world units."""
    inner = c.compound
    closed = [
        np.concatenate([curve.points, curve.points[:1]]) if curve.is_closed else curve.points for curve in c.curves
    ]
    normal = np.zeros(3) if c.normal is None else c.normal
    status, reason = "certified", ""
    if c.intersects and not normal.any():
        status, reason = "no_depth", f"{NO_INSIDE}, so there is no depth"
    elif c.upper_bound - c.lower_bound > BOUNDS_MEET * size:
        status, reason = "bracket", "the smallest translation that separates was not found, only bounds of it"
        if c.signed_distance > 0.0:
            reason = "only bounds of the distance were found"
    same = inner is not None and c.signed_distance < 0.0 and np.array_equal(inner.normal, normal)
    return Found(
        source=c,
        relation=c.relation,
        intersects=c.intersects,
        signed_distance=c.signed_distance,
        normal=normal,
        point_on_a=c.point_on_a,
        point_on_b=c.point_on_b,
        center=c.center,
        lower_bound=c.lower_bound,
        upper_bound=c.upper_bound,
        ties=inner.ties if inner is not None and same else normal[None],
        regions=c.regions,
        curves=tuple(closed),
        curve_length=sum(curve.length for curve in c.curves),
        area=sum(region.area for region in c.regions),
        centroid=inner.centroid if inner is not None and c.regions else None,
        method="mesh",
        iterations=0 if inner is None else inner.nodes,
        status=status,
        reason=reason,
        notes=c.notes,
        clearance=c.clearance,
        contact_tolerance=c.contact_tolerance,
    )


# --- checks ---------------------------------------------------------------------------------------------------------


def checked(found: Contact | Found, a: Solid, b: Solid) -> Verification:
    """Check an answer again, as core does."""
    if isinstance(found, Contact):
        return verify(found, a, b)
    verification = verify(found.source, a, b)
    if found.of_pieces is None:
        return verification
    # The meshes' answer without a depth, and that of the pieces, which has one.
    of_pieces = verify(*found.of_pieces)
    return Verification(verification.checks + of_pieces.checks, of_pieces.width)


def lifted(found: Contact | Found, point: FloatArray, axes: FloatArray) -> Contact | Found:
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
    if isinstance(found, Contact):
        region = found.region
        if region is not None:
            changes["region"] = replace(region, vertices=place(region.vertices), centroid=place(region.centroid))
        return replace(found, **changes)
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
    changes["center"] = place(found.center)
    if found.centroid is not None:
        changes["centroid"] = place(found.centroid)
    return replace(found, **changes)
