# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex pieces for any mesh, exact ones where they are found."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from ..arguments import as_length, as_whole_number
from ..broad_phase.candidate_pairs import candidate_pairs
from ..curved.convex_contact import convex_contact
from ..meshes.decomposition import Decomposition
from ..meshes.joined import joined
from ..meshes.mesh import Mesh
from ..meshes.surface import validate_mesh
from ..progress import Progress, equal_parts, report_progress, subrange, tracked
from ..shapes.hull import ConvexHull
from ..shapes.shape import counted
from ..tolerance import CONCAVITY_RELATIVE, CONVEX_FLAT, EPS, PIECES_OUT
from .approximate_cuts import ApproximateCuts
from .concavity import least_concavity, max_concavity
from .decompose_mesh import decompose_mesh
from .mesh_convexity import reflex_edges
from .piece_distance import depth_inside
from .piece_reach import reach_from_center, reach_outside

_SINGLE = 1e-6
"""Times the bounding box's diagonal: concavities of meshes that were stored in single precision, which do not count."""

DEFAULT_MOST_REFLEX = 48
"""Edges that bend inward up to which a mesh is cut exactly for its depth, which then takes some seconds at most."""

DEFAULT_MOST_CUTS = 60_000
"""Cuts, as `decompose_mesh` counts them, after which a mesh has no exact pieces: a second for each tolerance."""

_FEW_CUTS = 2_000
"""Cuts that are tried before one piece is enough: some hundredths of a second."""

_DEPTH_CUTS = 1_000_000
"""Cuts of a mesh with few edges that bend inward, whose number bounds the time."""

DEFAULT_MOST_PIECES = 32

DEFAULT_CONCAVITY = 0.02
"""Times the bounding box's diagonal: a part that is no more concave than this is not cut."""

_FILLED = 0.8
"""Fraction of a hull that a mesh fills at least where one piece is enough: a comb fills less, however fine it is."""

_ROUNDING = 8.0
"""Times CONVEX_FLAT EPS M: what cuts, the hulls and their planes round, added to the certified distance."""

_ASKED = 250  # corners of a mesh that are asked whether pieces are those of the mesh


def mesh_pieces(
    mesh: Mesh,
    *,
    most_cuts: int = DEFAULT_MOST_CUTS,
    most_pieces: int = DEFAULT_MOST_PIECES,
    concavity: float = DEFAULT_CONCAVITY,
    progress: Progress | None = None,
) -> Decomposition:
    """Return convex pieces that stand for a mesh: exact ones, or near ones that contain its surface.

    Args:
        mesh: any mesh, its coordinates in world space or its own. One that is not closed stands for its surface.
        most_cuts: the pieces are exact where the mesh is closed, does not cross itself, and at most so many cuts of its
            triangles are needed, see `decompose_mesh`, however many pieces that makes; 0 for none.
        most_pieces: at least 1; the number of pieces at most, where they are not exact.
        concavity: cut until none of the pieces is more concave than this fraction of the bounding box's diagonal, by
            samples, or until there are enough; `inf` for the convex hulls of the loose parts, however many. Unless
            exact ones take few cuts, a closed mesh that is proven to be within it, and fills four fifths of its hull,
            is one piece.
        progress: called with the fraction done, 0 to 1; False cancels.

    `exact`, `message`, `distance`, `outside` and `reason` of the result say which, how near to the surfaces of the
    pieces that of the mesh is for certain, how far they reach outside of it, and why they are not exact;
    `fills_hollows` whether they are more than a mesh that is not closed. The same mesh always has the same pieces.

    Raise ValueError, naming the argument, when one is not of that kind; Cancelled when `progress` returns False.
    Source: S1.2.

    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> pieces = mesh_pieces(Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
    >>> print(len(pieces.pieces), pieces.exact)
    1 True
    """
    validate_mesh("mesh", mesh)
    most_cuts = as_whole_number("most_cuts", most_cuts)
    most_pieces = as_whole_number("most_pieces", most_pieces, 1)
    concavity = inf if concavity == inf else as_length("concavity", concavity)
    whole = joined(mesh).surface
    whole = whole if whole is mesh and mesh.is_closed else whole.welded()
    few = min(_FEW_CUTS, most_cuts)
    report_progress(progress, 0.0)
    found, reflex, reason = exact_pieces(mesh, None, subrange(progress, 0.0, 0.1), few)
    if found is None and reflex > 0 and 0.0 < concavity < inf:
        found = _one_piece(whole, reflex, concavity, subrange(progress, 0.1, 0.2))
    if found is None and few < most_cuts:
        found, reflex, reason = exact_pieces(mesh, None, subrange(progress, 0.2, 0.8), most_cuts)
    if found is not None:
        return found
    remaining = subrange(progress, 0.8 if reflex >= 0 and 2 * len(whole.triangles) <= most_cuts else 0.2, 1.0)
    if concavity == inf or not whole.extent > 0.0:
        return _hulls(whole, reflex, reason, remaining)
    return _cut(whole, reflex, reason, most_pieces, concavity, remaining)


def _one_piece(mesh: Mesh, reflex: int, concavity: float, progress: Progress | None) -> Decomposition | None:
    """Return the hull of a closed mesh that fills it and is proven to be within a concavity of it, else None."""
    used, corners = np.unique(mesh.triangles, return_inverse=True)
    points, limit = mesh.points[used], concavity * mesh.extent
    hull = ConvexHull(points)
    if hull.rank < 3 or abs(mesh.volume) < _FILLED * hull.volume or least_concavity(points) > limit:
        return None
    corners = corners.reshape(-1, 3)
    found = max_concavity(hull, hull.vertex_ids, points, corners, enough=limit, progress=progress)
    distance = found.depth * (1.0 + CONCAVITY_RELATIVE) + _ROUNDING * CONVEX_FLAT * EPS * mesh.magnitude
    if distance > limit or (outside := reach_from_center(hull, mesh, distance)) > limit:
        return None
    report_progress(progress, 1.0)
    reason = f"its concavity is at most {concavity:g} of its diagonal"
    return Decomposition((hull,), False, distance, reflex, "the convex hull of the mesh", reason, outside=outside)


def _cut(
    mesh: Mesh, reflex: int, why: str, most_pieces: int, concavity: float, progress: Progress | None
) -> Decomposition:
    """Return hulls of parts of the surface that are nearly convex."""
    report_progress(progress, 0.0)
    cuts = ApproximateCuts(mesh)
    corners = cuts.parts(most_pieces, concavity, subrange(progress, 0.0, 0.8))
    pieces = tuple(ConvexHull(points) for points in corners)
    distance = 0.0
    triangles = mesh.points[mesh.triangles]
    rounding = _ROUNDING * CONVEX_FLAT * EPS * mesh.magnitude
    for piece, part in equal_parts(pieces, subrange(progress, 0.8, 0.9)):
        if piece.rank == 3:
            distance = max(distance, depth_inside(piece, triangles, distance, rounding, part))
    distance += rounding
    outside = reach_outside(pieces, mesh, distance, subrange(progress, 0.9, 1.0))
    fills = not mesh.is_closed and _hulls(mesh, reflex, why, None).fills_hollows
    report_progress(progress, 1.0)
    words = f"{counted(len(pieces), 'convex piece that contains', 'convex pieces that contain')} the surface"
    return Decomposition(pieces, False, distance, reflex, words, why, fills, outside)


def exact_pieces(
    mesh: Mesh,
    most_reflex: int | None = DEFAULT_MOST_REFLEX,
    progress: Progress | None = None,
    most_cuts: int = _DEPTH_CUTS,
) -> tuple[Decomposition | None, int, str]:
    """Return the exact pieces of a mesh, the number of edges that bend inward, -1 where they were not counted, and the
    reason why there are no exact pieces where there are none.

    most_reflex: None for any number, where single precision alone does not make more of them.

    Raise Cancelled when `progress` returns False.
    """
    found = joined(mesh)
    whole = mesh if found.surface is mesh else found.surface.welded()
    if not found.is_closed or found.surface.times is not None:
        return None, -1, "the mesh is not closed"
    reflex = 0
    if whole.extent > 0.0:
        reflex = len(reflex_edges(whole.points, whole.triangles, _SINGLE * whole.extent)[0])
    if most_reflex is None:
        most_reflex = max(DEFAULT_MOST_REFLEX, reflex)
    reason = f"{counted(reflex, 'edge bends', 'edges bend')} inward and {most_reflex} are allowed"
    many = f"the mesh needs more than {most_cuts} cuts"
    if reflex and 2 * len(whole.triangles) > most_cuts:
        return None, reflex, many
    fine = len(reflex_edges(whole.points, whole.triangles, CONVEX_FLAT * EPS * whole.magnitude)[0]) if reflex else 0
    # Coordinates stored in single precision are no planes; a second try takes them as such.
    for k, tolerance in enumerate((0.0, _SINGLE) if reflex <= most_reflex else ()):
        try:
            part = subrange(progress, 0.5 * k, 0.5 * (k + 1))
            pieces = decompose_mesh(
                whole, most_reflex=most_reflex, most_cuts=most_cuts, tolerance=tolerance, progress=part
            )
        except ValueError as error:
            reason = str(error).split(": ", 1)[-1].split(";", 1)[0]
            if str(error).startswith("most_cuts"):
                reason = many
                if reflex == fine:
                    break
            continue
        if pieces.exact or pieces.distance <= PIECES_OUT * whole.extent:
            return replace(pieces, distance=pieces.distance + found.slit), reflex, ""
        reason = f"planes that nearly coincide meet up to {pieces.distance:.3g} outside of the mesh"
    return None, reflex, reason


def _hulls(mesh: Mesh, reflex: int, why: str, progress: Progress | None) -> Decomposition:
    """Return the hulls of the loose parts."""
    pieces: list[ConvexHull] = []
    distance, filled = 0.0, False
    for part, half in equal_parts(mesh.split(), subrange(progress, 0.0, 0.5)):
        hull = ConvexHull(part.points, progress=subrange(half, 0.0, 0.8))
        found = max_concavity(hull, hull.vertex_ids, part.points, part.triangles, progress=subrange(half, 0.8, 1.0))
        distance = max(distance, found.depth * (1.0 + CONCAVITY_RELATIVE))
        filled = filled or found.depth > _SINGLE * hull.extent or found.open_fraction > _SINGLE
        pieces.append(hull)
    # A part of which a point is deep in another's hull sticks in it at least as deep.
    low, high = np.array([hull.bounds for hull in pieces]).transpose(1, 0, 2)
    pairs = candidate_pairs(low, high, progress=subrange(progress, 0.5, 0.6)).pairs
    for i, j in tracked(pairs.tolist(), subrange(progress, 0.6, 1.0)):
        distance = max(distance, convex_contact(pieces[i], pieces[j]).depth)
    distance += 2.0 * CONVEX_FLAT * EPS * mesh.magnitude
    one = "the convex hull of the mesh" if len(pieces) == 1 else f"the convex hulls of {len(pieces)} loose parts"
    outside = reach_outside(pieces, mesh, distance) if filled else distance
    return Decomposition(tuple(pieces), False, distance, reflex, one, why, filled, outside)


def check_pieces(name: str, mesh: Mesh, pieces: Decomposition) -> None:
    """Ask for pieces that are not plainly those of another mesh, or of the mesh before it was moved.

    Some corners of the mesh, those that touch its box among them, must be as near to a piece as is certified, and the
    pieces must not extend beyond its box. Raises ValueError that begins with the name.
    """
    rounding = 8.0 * CONVEX_FLAT * EPS * max(mesh.magnitude, *(piece.magnitude for piece in pieces.pieces))
    reach = pieces.distance * (1.0 + 1e-9) + rounding
    corners = mesh.triangles.ravel()
    indices = corners.take(np.linspace(0, len(corners) - 1, _ASKED).astype(np.intp))
    points = mesh.points.take(corners, axis=0)
    points = np.concatenate(
        [mesh.points.take(indices, axis=0), points.take([*points.argmin(axis=0), *points.argmax(axis=0)], axis=0)]
    )
    low, high = mesh.bounds
    room = PIECES_OUT * mesh.extent + rounding
    out = 0.0
    for piece in pieces.pieces:
        bottom, top = piece.bounds
        out = max(out, float((low - bottom).max()), float((top - high).max()))
        away = np.maximum(bottom - points, points - top).max(axis=1)
        if len(piece.normals):
            np.maximum(away, ((points - piece.center) @ piece.normals.T - piece.offsets).max(axis=1), out=away)
        points = points[away > reach]
    wrong = f"{name}: not the pieces of this mesh as it is now"
    if len(points):
        x, y, z = points[0].tolist()
        raise ValueError(f"{wrong}; its corner ({x:.6g}, {y:.6g}, {z:.6g}) is farther from them than their distance")
    if out > room:
        raise ValueError(f"{wrong}; they extend beyond its box by {out:.3g}")
