# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of a mesh and another solid: whether, where and how deep they collide, or their distance.

A closed mesh represents the solid inside it, any other a bare surface. Whether triangles meet is decided exactly,
whether one is inside the other by winding numbers. The depth of two solids, or of a solid and a bare surface, is the
length of a translation that separates their triangles; where the pieces of both are exact, the shortest one of them.

A polytope, or a compound of polytopes, is treated as the mesh of its facets, and its pieces are itself. Curved shapes
are measured exactly; see `curved_mesh_pair`.
"""

from __future__ import annotations

from ..budget import Budget
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid, facets_of
from ..progress import Progress, subrange
from ..result import Contact
from ..tolerance import DEFAULT_CONTACT_TOLERANCE
from .curved_mesh_pair import CurvedPair
from .mesh_pair import MeshPair, Pieces
from .mesh_solver import solve
from .pair_pieces import check_given


def mesh_contact(
    a: Solid,
    b: Solid,
    *,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    budget: Budget | None = None,
    pieces_a: Pieces | None = None,
    pieces_b: Pieces | None = None,
    depth: bool = True,
    regions: bool = True,
    progress: Progress | None = None,
) -> Contact:
    """Return the contact of two solids, at least one of them a mesh: `contact` without its checks of the options.

    Raises ValueError, naming the argument, when pieces are not those of their mesh, and Cancelled when `progress`
    returns False.
    """
    for name, solid, pieces in (("pieces_a", a, pieces_a), ("pieces_b", b, pieces_b)):
        if pieces is not None and not isinstance(solid, Mesh):
            raise ValueError(f"{name} must be None: a {type(solid).__name__} is its own pieces")
        if pieces is not None and isinstance(solid, Mesh) and not callable(pieces):
            check_given(name, solid, pieces)
    facets = facets_of(a), facets_of(b)
    known = [
        given or (None if found.curved else found.pieces)
        for given, found in zip((pieces_a, pieces_b), facets, strict=True)
    ]
    size = max(a.extent, b.extent)
    whole = subrange(progress, 0.0, 1.0)
    curved = any(found.curved and not isinstance(solid, Mesh) for found, solid in zip(facets, (a, b), strict=True))
    needs_depth = depth or curved  # the depth of facets is where that of a curved solid begins
    pair = MeshPair(facets, clearance, contact_tolerance, budget or Budget(), known, size, whole, needs_depth, regions)
    for of_facets, solid, mesh in ((facets[0], a, b), (facets[1], b, a)):
        if of_facets.curved and not isinstance(solid, Mesh) and isinstance(mesh, Mesh):
            return pair.contact(CurvedPair(solid, mesh, pair).draft(), depth)
    return pair.contact(solve(pair), depth)
