# SPDX-License-Identifier: GPL-3.0-or-later
"""A closed mesh as the union of convex solids: exactly, by cutting along faces.

The cuts run in the planes of faces beside edges that bend inward, until no cell contains such an edge: what is left of
the mesh's solid in a cell is then the cell under the planes of its faces. Corners are rounded once, at the end. What is
nearer to a plane than rounding, or a tolerance, is on it. Source: S1.2.
"""

from __future__ import annotations

import numpy as np

from ..arguments import as_length, as_whole_number
from ..broad_phase.candidate_pairs import candidate_pairs
from ..meshes.decomposition import Decomposition
from ..meshes.mesh import Mesh
from ..meshes.point_distance import points_to_mesh
from ..meshes.surface import signed_volume, validate_mesh
from ..meshes.winding import contains
from ..progress import Progress, equal_parts, report_progress, subrange
from ..shapes.hull import ConvexHull
from ..shapes.shape import counted
from ..tolerance import CONVEX_FLAT, DECOMPOSE_VOLUME, EPS
from ..types import FloatArray, IntArray
from .exact_cuts import ROUNDING, ExactCuts
from .mesh_convexity import is_balanced, mesh_convexity, reflex_edges
from .piece_distance import distance_from_mesh


def decompose_mesh(
    mesh: Mesh,
    *,
    most_reflex: int = 100,
    most_cuts: int = 1_000_000,
    tolerance: float = 0.0,
    progress: Progress | None = None,
) -> Decomposition:
    """Return convex pieces whose union is the solid that a closed mesh bounds.

    Args:
        mesh: wound outward; a loose part wound inward is turned round, unless it is a cavity, inside the box of another
            part. Otherwise its box must not overlap that of one wound outward.
        most_reflex: at most so many edges may bend inward; time grows with the square of it or faster.
        most_cuts: of triangles, or of parts that are left of them; 100,000 take about a second.
        tolerance: concavities and bends up to this fraction of the bounding box's diagonal are left out, as rounding
            (CONVEX_FLAT EPS M) always is. Meshes stored in single precision want about 1e-6.
        progress: called with the fraction done, 0 to 1; False cancels.

    A convex mesh is one piece. Raise ValueError, naming the argument, when one is not of that kind, when the mesh is
    not closed or bounds no volume, when more edges bend inward or more cuts are needed, when parts wound against each
    other may overlap, or when the pieces do not add up to the mesh's volume (its surface crosses itself); Cancelled
    when `progress` returns False. Source: S1.2.

    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> len(decompose_mesh(Mesh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])).pieces)
    1
    """
    validate_mesh("mesh", mesh)
    tolerance = as_length("tolerance", tolerance)
    most_reflex = as_whole_number("most_reflex", most_reflex)
    most_cuts = as_whole_number("most_cuts", most_cuts)
    report_progress(progress, 0.0)
    if not is_balanced(mesh.triangles):
        raise ValueError("mesh: it is not closed (an edge is not used once in each direction); only a solid has pieces")
    hull = ConvexHull(mesh.points[np.unique(mesh.triangles)])
    rounding = CONVEX_FLAT * EPS * hull.magnitude
    least = max(rounding, tolerance * hull.extent)
    solids = _solids(mesh)
    reflex = sum(len(reflex_edges(solid.points, solid.triangles, least)[0]) for solid in solids)
    if reflex > most_reflex:
        raise ValueError(
            f"most_reflex: {counted(reflex, 'edge of the mesh bends', 'edges of the mesh bend')} inward and "
            f"{most_reflex} are allowed; allow more, take a simpler mesh or a larger tolerance"
        )
    parts: list[tuple[list[ConvexHull], float]] = []
    for solid, part in equal_parts(solids, subrange(progress, 0.0, 0.7)):
        convexity = mesh_convexity(solid, tolerance)
        if convexity.convex:
            parts.append(([ConvexHull(solid.points)], convexity.depth))
        else:
            cuts = ExactCuts(solid.points, solid.triangles, least)
            cells = cuts.cells(most_cuts, subrange(part, 0.0, 0.4))
            most_cuts -= cuts.cuts
            if tolerance == 0.0 and any(map(cuts.is_thin, cells)):
                # Faces that lean against each other a little: what is rounded across a plane is far along it.
                cuts = ExactCuts(solid.points, solid.triangles, 0.0)
                cells = cuts.cells(most_cuts, subrange(part, 0.4, 0.8))
                most_cuts -= cuts.cuts
            parts.append((cuts.pieces(cells, subrange(part, 0.8, 1.0)), cuts.moved))
    pieces = [piece for found, _ in parts for piece in found]
    _check_volume(pieces, sum(signed_volume(solid.points - hull.center, solid.triangles) for solid in solids), least)
    exact = all(moved <= max(rounding, ROUNDING * hull.extent) for _, moved in parts)
    distance = 0.0
    made = list(zip(solids, parts, strict=True))
    for (solid, (found, moved)), part in equal_parts(made, subrange(progress, 0.7, 1.0)):
        if found:
            distance = max(distance, distance_from_mesh(found, solid, part, spare=2.0 * max(moved, rounding)))
            if not exact:
                distance = max(distance, _outside(found, solid))
    inward = counted(reflex, "edge that bends inward", "edges that bend inward")
    words = f"{counted(len(pieces), 'convex piece', 'convex pieces')} from {inward}"
    words += ", exact" if exact else f", nowhere more than {distance:.3g} from the mesh"
    report_progress(progress, 1.0)
    return Decomposition(tuple(pieces), exact, distance, reflex, words, outside=0.0 if exact else distance)


def _check_volume(pieces: list[ConvexHull], enclosed: float, least: float) -> None:
    """Raise ValueError when pieces do not add up to the volume that a mesh encloses."""
    total = sum(piece.volume for piece in pieces)
    if not abs(total - enclosed) <= DECOMPOSE_VOLUME * enclosed + 8.0 * least * sum(piece.area for piece in pieces):
        raise ValueError(
            f"mesh: the pieces have the volume {total:.9g} and the mesh has {enclosed:.9g}: the surface of a "
            f"loose part crosses or touches itself"
        )


def _outside(pieces: list[ConvexHull], solid: Mesh) -> float:
    """Return how far outside of a solid corners of its pieces are, as those where nearly parallel planes meet."""
    corners = np.concatenate([piece.vertices for piece in pieces])
    outside = corners[~contains(corners, solid)]
    return float(points_to_mesh(outside, solid).distance.max(initial=0.0))


def _solids(mesh: Mesh) -> list[Mesh]:
    """Return each solid of a mesh, wound outward: loose parts, with their cavities."""
    parts = mesh.split()
    center = 0.5 * mesh.points.min(axis=0) + 0.5 * mesh.points.max(axis=0)
    volumes = np.array([signed_volume(part.points - center, part.triangles) for part in parts])
    turned = bool(volumes.sum() < 0.0)
    if turned:
        volumes = -volumes
    lows, highs = (np.array(corners) for corners in zip(*(part.bounds for part in parts), strict=True))
    outer = cavities_of(lows, highs, volumes)
    _check_turned(lows, highs, volumes, outer)
    solids: dict[int, list[Mesh]] = {}
    for k in [*np.flatnonzero(volumes > 0.0).tolist(), *np.flatnonzero(volumes < 0.0).tolist()]:
        inward = volumes[k] < 0.0 and k not in outer
        part = Mesh(parts[k].points, parts[k].triangles[:, ::-1]) if turned != inward else parts[k]
        solids.setdefault(outer.get(k, k), []).append(part)
    if not solids:
        raise ValueError("mesh: it encloses no volume")
    return [_join(group) for group in solids.values()]


def _check_turned(lows: FloatArray, highs: FloatArray, volumes: FloatArray, outer: dict[int, int]) -> None:
    """Raise ValueError when a part wound inward that is not a cavity may share room with one wound outward: the surface
    does not go around that room, so it is outside of the mesh, though inside of both."""
    inward = np.array([k for k in np.flatnonzero(volumes < 0.0).tolist() if k not in outer], dtype=np.intp)
    outward = np.flatnonzero(volumes > 0.0)
    k, j = _overlapping(lows, highs, inward, outward)
    if (np.minimum(highs[k], highs[j]) > np.maximum(lows[k], lows[j])).all(axis=1).any():
        raise ValueError("mesh: loose parts that are wound against each other may overlap")


def cavities_of(lows: FloatArray, highs: FloatArray, volumes: FloatArray) -> dict[int, int]:
    """Return which parts wound inward are in the box of a larger one wound outward, and the smallest such part."""
    k, j = _overlapping(lows, highs, np.flatnonzero(volumes < 0.0), np.flatnonzero(volumes > 0.0))
    around = (volumes[j] > -volumes[k]) & (lows[j] <= lows[k]).all(axis=1) & (highs[j] >= highs[k]).all(axis=1)
    k, j = k[around], j[around]
    order = np.lexsort((j, volumes[j], k))
    first = order[np.flatnonzero(np.diff(k[order], prepend=-1))]
    return dict(zip(k[first].tolist(), j[first].tolist(), strict=True))


def _overlapping(lows: FloatArray, highs: FloatArray, a: IntArray, b: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of one of the boxes `a` and one of the boxes `b` that overlap, as two columns of indices."""
    pairs = candidate_pairs(lows[a], highs[a], lows[b], highs[b]).pairs
    return a[pairs[:, 0]], b[pairs[:, 1]]


def _join(meshes: list[Mesh]) -> Mesh:
    """Return meshes as one."""
    starts = np.cumsum([0, *(len(mesh.points) for mesh in meshes[:-1])]).tolist()
    triangles = [mesh.triangles + start for mesh, start in zip(meshes, starts, strict=True)]
    return Mesh(np.concatenate([mesh.points for mesh in meshes]), np.concatenate(triangles))
