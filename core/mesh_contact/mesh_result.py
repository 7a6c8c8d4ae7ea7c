# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of a mesh and another solid as a record: its certificate, and a draft of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ulp

import numpy as np

from ..meshes.crossings import Crossings
from ..meshes.decomposition import Decomposition
from ..meshes.depth_proof import DepthProof
from ..note import Note
from ..region.contact_curve import ContactCurve
from ..region.merged_region import MergedRegion
from ..result import CompoundCertificate, Contact, Proof, Relation
from ..types import FloatArray

BOUNDS_MEET = 1e-6
"""Times the size of the larger shape: bounds that differ by no more count as equal."""
LEAST_GAP = ulp(0.0)
"""The signed distance of meshes separated by less than rounding: its sign says that they do not intersect."""


@dataclass(frozen=True, eq=False, repr=False)
class MeshCertificate(Proof):
    """Proof of a contact of two shapes, at least one of them a mesh. World frame, the unit of the coordinates.

    `crossings` and pieces are those of meshes: any other solid is represented by its facets. The facets of a curved one
    are inside it by up to `slack_a` or `slack_b`; all other fields are valid for the solid itself.
    """

    crossings: Crossings
    """The triangles that meet."""
    surface_distance: float
    """Distance of the two surfaces, 0.0 when they meet: the clearance around a shape that is inside the other."""
    a_solid: bool
    """Whether A is closed and represents the solid inside."""
    b_solid: bool
    """Whether B is closed and represents the solid inside."""
    slack_a: float
    """Certified: no point of A is farther from the facets that represent it; 0.0 when they are A itself, and when they
    were not needed."""
    slack_b: float
    """Same for B."""
    compound: Contact | None
    """The contact of the pieces of two solids that are not separated, with the depth of the pieces. None when they have
    too many edges for that. For a curved solid, of its own pieces where those of the mesh are exact, else of its
    facets."""
    compound_of_facets: bool
    """Whether facets represent a curved solid in `compound`."""
    pieces_a: Decomposition | None
    """The pieces of A in `compound`."""
    pieces_b: Decomposition | None
    """The pieces of B in `compound`."""
    depth_proof: DepthProof | None
    """Proves that no translation shorter than `least_depth` separates them; None where that is 0.0, and where
    `compound` proves it."""


@dataclass(kw_only=True)
class MeshDraft:
    """Results for a mesh and another solid before the `Contact` is built; fields as there, unless described
    otherwise."""

    relation: Relation
    signed_distance: float = 0.0
    lower: float = 0.0
    upper: float = 0.0
    normal: FloatArray | None = None
    """None where the direction is unknown."""
    points: tuple[FloatArray, FloatArray]
    """Witness points (3,) on A and B."""
    intersects: bool = False
    compound: Contact | None = None
    depth_proof: DepthProof | None = None
    of_facets: bool = False
    """Whether facets represent a curved solid in `compound`."""
    regions: tuple[MergedRegion, ...] = ()
    middle: FloatArray | None = None
    """`_middle` of the contact."""
    crossings: Crossings
    curves: tuple[ContactCurve, ...] = ()
    surface: float = 0.0
    """Distance of the surfaces."""
    slacks: tuple[float, float] = (0.0, 0.0)
    """`slack_a` and `slack_b` of the certificate."""
    notes: tuple[Note, ...] = ()

    @property
    def depth(self) -> float:
        return max(0.0, -self.signed_distance)

    @property
    def mtv(self) -> FloatArray:
        return np.zeros(3) if self.normal is None else self.depth * self.normal


def narrowed(found: Contact, other: Contact) -> Contact:
    """Return a contact of shapes that intersect with what another one of the same shapes knows better: the shorter
    translation that separates, and of two meshes also a larger lower bound of the depth, with its proof. No bound is
    worse than it was."""
    shorter, longer = (other, found) if other.depth < found.depth else (found, other)
    if longer.upper_bound >= shorter.upper_bound:
        return shorter
    proof, better = shorter.certificate, longer.certificate
    if not (isinstance(proof, MeshCertificate) and isinstance(better, MeshCertificate) and better.depth_proof):
        return found
    return replace(shorter, upper_bound=longer.upper_bound, certificate=replace(proof, depth_proof=better.depth_proof))


def certificate_of(contact: Contact) -> CompoundCertificate:
    """Return the certificate of a contact of compounds."""
    assert isinstance(contact.certificate, CompoundCertificate)
    return contact.certificate
