# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex pieces of the meshes of a pair, and their contact: exact ones are the solids themselves."""

from __future__ import annotations

from ..compounds.compound import Compound
from ..compounds.compound_contact import compound_contact
from ..decomposition.mesh_pieces import DEFAULT_MOST_REFLEX, check_pieces, exact_pieces
from ..meshes.decomposition import Decomposition
from ..meshes.mesh import Mesh
from ..note import Note
from ..progress import Progress, subrange
from ..result import Contact
from ..shapes.polytope import Polytope
from .mesh_pair import MeshPair

_MOST_WORK = 5_000_000  # pairs of edges of pieces: some seconds
_MOST_CUTS = 50_000
"""Triangles times edges that bend inward of a mesh that is cut into exact pieces: a second."""


def decomposed(pair: MeshPair, progress: Progress | None) -> tuple[Decomposition, Decomposition] | None:
    """Return the pieces of A and of B; None where those of one are not the solid itself within the contact
    tolerance."""
    found: list[Decomposition] = []
    for k in (0, 1) if pair.a.solid and pair.b.solid else ():
        pieces = find_pieces(pair, k, subrange(progress, 0.5 * k, 0.5 * k + 0.5))
        if pieces is None or not _fit(pair, pieces):
            return None
        found.append(pieces)
    return (found[0], found[1]) if found else None


def find_pieces(pair: MeshPair, k: int, progress: Progress | None) -> Decomposition | None:
    """Return the pieces of A (0) or B (1): those given, else exact ones; None where there are none, and for a first
    answer, which does not wait for them."""
    pieces, make, other = pair.pieces[k], pair.makers[k], pair.pieces[1 - k]
    bodies = pair.a, pair.b
    if pieces is None and pair.budget.nodes > 0:
        if make is not None:
            made = make()
            pieces = None if made is None else check_given(f"pieces_{'ab'[k]}", pair.facets[k].mesh, made)
        elif other is not None and bodies[0].mesh is bodies[1].mesh:
            pieces = other
        else:
            most = min(DEFAULT_MOST_REFLEX, _MOST_CUTS // len(bodies[k].mesh.triangles))
            pieces = exact_pieces(bodies[k].mesh, most, progress)[0]
    pair.pieces[k] = pieces
    return pieces


def _fit(pair: MeshPair, pieces: Decomposition) -> bool:
    """Return whether the distance of the pieces from the mesh is negligible."""
    return pieces.exact or pieces.distance <= 0.25 * pair.band


def contact_of_pieces(
    pair: MeshPair, pieces: tuple[Decomposition, Decomposition], progress: Progress | None
) -> Contact | None:
    """Return the contact of the pieces of A and B; None where that is too much work, which is noted."""
    a, b = (Compound(found.pieces) for found in pieces)
    if _work(a, b) > _MOST_WORK:
        pair.notes.append(Note("the pieces have too many edges, so the depth is computed from the meshes alone"))
        return None
    return solve_pieces(pair, a, b, progress)


def solve_pieces(pair: MeshPair, a: Compound, b: Compound, progress: Progress | None) -> Contact:
    """Return the contact of pieces of A and B with the contact tolerance of the meshes."""
    small, large = sorted((a.diameter, b.diameter))
    return compound_contact(
        a,
        b,
        budget=pair.budget,
        clearance=pair.clearance,
        contact_tolerance=pair.band / (small or large) if large > 0.0 else pair.contact_tolerance,
        progress=progress,
    )


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
