# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex pieces for any mesh, exact ones where they are found; and what of them is inside the mesh for certain."""

from __future__ import annotations

import numpy as np

from ..arguments import as_whole_number
from ..broad_phase.candidate_pairs import candidate_pairs
from ..curved.convex_contact import convex_contact
from ..meshes.decomposition import Decomposition
from ..meshes.mesh import Mesh
from ..meshes.surface import validate_mesh
from ..meshes.winding import winding_numbers
from ..note import Note
from ..progress import Progress, equal_parts, subrange, tracked
from ..shapes.hull import ConvexHull
from ..tolerance import CONCAVITY_RELATIVE, CONVEX_FLAT, EPS, PIECES_OUT
from ..types import FloatArray
from .concavity import max_concavity
from .decompose_mesh import decompose_mesh
from .mesh_convexity import reflex_edges

_SINGLE = 1e-6
"""Times the bounding box's diagonal: concavities of meshes that were stored in single precision, which do not count."""

DEFAULT_MOST_REFLEX = 48
"""Edges that bend inward up to which a mesh is cut exactly: a few seconds at most."""

_ASKED = 250  # corners of a mesh that are asked whether pieces are those of the mesh
_CENTRE_STEPS = 60  # towards the middle of the largest ball in a piece


def mesh_pieces(
    mesh: Mesh, *, most_reflex: int = DEFAULT_MOST_REFLEX, progress: Progress | None = None
) -> Decomposition:
    """Return convex pieces that stand for a mesh.

    Exact ones where the mesh is closed, does not cross itself, and at most `most_reflex` edges bend inward; else the
    convex hulls of the loose parts. `exact`, `message`, `distance` and `reason` of the result say which, how near to
    their surfaces that of the mesh is, and why; `fills_hollows` whether these hulls are more than the mesh.

    Raise ValueError, naming the argument, when one is not of that kind; Cancelled when `progress` returns False.

    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> pieces = mesh_pieces(Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]))
    >>> print(len(pieces.pieces), pieces.exact)
    1 True
    """
    validate_mesh("mesh", mesh)
    exact, reflex, reason = exact_pieces(
        mesh, as_whole_number("most_reflex", most_reflex), subrange(progress, 0.0, 0.8)
    )
    if exact is not None:
        return exact
    whole = mesh if mesh.is_closed else mesh.welded()
    return _hulls(whole, reflex, reason, subrange(progress, 0.8, 1.0))


def exact_pieces(
    mesh: Mesh, most_reflex: int = DEFAULT_MOST_REFLEX, progress: Progress | None = None
) -> tuple[Decomposition | None, int, str]:
    """Return the exact pieces of a mesh, the number of edges that bend inward, -1 where they were not counted, and the
    reason why there are no exact pieces where there are none.

    Raise Cancelled when `progress` returns False.
    """
    whole = mesh if mesh.is_closed else mesh.welded()
    if not whole.is_closed:
        return None, -1, "the mesh is not closed"
    reflex = 0
    if whole.extent > 0.0:
        reflex = len(reflex_edges(whole.points, whole.triangles, _SINGLE * whole.extent)[0])
    reason = f"{reflex} edges bend inward and {most_reflex} are allowed"
    # Coordinates stored in single precision are no planes; a second try takes them as such.
    for k, tolerance in enumerate((0.0, _SINGLE) if reflex <= most_reflex else ()):
        try:
            part = subrange(progress, 0.5 * k, 0.5 * (k + 1))
            return decompose_mesh(whole, most_reflex=most_reflex, tolerance=tolerance, progress=part), reflex, ""
        except ValueError as error:
            reason = str(error).split(": ", 1)[-1].split(";", 1)[0]
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
    return Decomposition(tuple(pieces), False, distance, reflex, one, why, filled)


def note_of_pieces(about: str, pieces: Decomposition) -> Note:
    """Return what to know about pieces that are not exact; `about` is "A" or "B"."""
    count = len(pieces.pieces)
    many = f"{count} convex pieces" if count != 1 else "1 convex piece"
    why = (pieces.reason or pieces.message).replace("{", "{{").replace("}", "}}")
    words = f"approximated by {many} ({why}): its surface is within {{}} of them, but filled hollows may be deeper"
    return Note(words, (pieces.distance,), about)


def check_pieces(name: str, mesh: Mesh, pieces: Decomposition) -> None:
    """Ask for pieces that are not plainly those of another mesh, or of the mesh before it was moved.

    Some corners of the mesh, those that touch its box among them, must be as near to a piece as is certified, and the
    pieces must not stand out of its box. Raises ValueError that begins with the name.
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
        raise ValueError(f"{wrong}; its corner ({x:.6g}, {y:.6g}, {z:.6g}) is farther from them than they say")
    if out > room:
        raise ValueError(f"{wrong}; they stand out of its box by {out:.3g}")


def inner_pieces(mesh: Mesh, pieces: Decomposition) -> list[ConvexHull]:
    """Return convex pieces that are certainly inside a closed mesh: those given without a rim as wide as `distance`.

    No point of the mesh is deeper in a piece than that, so what is left of it is on one side of the surface. Exact ones
    as they are: to rounding.
    """
    if pieces.exact:
        return list(pieces.pieces)
    rim = pieces.distance * (1.0 + 1e-9) + 4.0 * CONVEX_FLAT * EPS * mesh.magnitude
    found = [core for piece in pieces.pieces if (core := _without_rim(piece, rim)) is not None]
    if not found:
        return []
    middles = np.array([core.vertices.mean(axis=0) for core in found])
    numbers = winding_numbers(middles, mesh).numbers
    return [core for core, number in zip(found, numbers.tolist(), strict=True) if abs(number) > 0.5]


def _without_rim(piece: ConvexHull, rim: float) -> ConvexHull | None:
    """Return the points of a piece that are deeper than `rim`, or a little less; None when there are none."""
    if piece.rank < 3:
        return None
    middle = _deepest(piece.normals, piece.offsets, piece._centred)
    room = piece.offsets - piece.normals @ middle - rim
    if room.min() <= 1e-3 * rim:
        return None
    # Corners of a polytope around the origin are the facets of the polytope of its planes.
    unit = float(room.max())
    dual = ConvexHull(piece.normals * (unit / room)[:, None])
    heights = dual.offsets + dual.normals @ dual.center
    if dual.rank < 3 or heights.min() <= 0.0:
        return None
    corners = dual.normals * (unit / heights)[:, None]
    deepest = (corners @ piece.normals.T - room).max()
    if deepest > 0.0:  # rounding
        corners *= 1.0 - float(2.0 * deepest / room.min())
    return ConvexHull(corners + (middle + piece.center))


def _deepest(normals: FloatArray, offsets: FloatArray, corners: FloatArray) -> FloatArray:
    """Return about the middle of the largest ball in a polytope, from its center: away from the nearest plane."""
    best: FloatArray = corners.mean(axis=0)
    x, room = best, offsets - normals @ best
    least = float(room.min())
    for step in range(1, _CENTRE_STEPS):
        x = x - normals[int(room.argmin())] * (least / step)
        room = offsets - normals @ x
        if float(room.min()) > least:
            best, least = x, float(room.min())
    return best
