# SPDX-License-Identifier: GPL-3.0-or-later
"""The volume of the overlap of a mesh and any other solid: a polytope is the mesh of its facets, a round shape between
polytopes inside and around it, a compound the sum of its pieces, less what these have in common."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import numpy as np

from ..compounds.compound import ConvexPieces
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid, bracketing_hulls, mesh_of, pieces_of, solid_facets
from ..progress import Progress, equal_parts
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.polytope import Polytope
from ..tolerance import EPS, OVERLAP_ROUNDING
from ..types import read_only
from .mesh_overlap import mesh_overlap_volume
from .polytope_overlap import overlap_body, overlap_bounds
from .volume_record import OverlapVolume, no_volume

_SUM = 8.0
"""Times EPS: what sums and differences of bounds are rounded by, which no pair of pieces cancels."""


def solid_overlap_volume(a: Solid, b: Solid, progress: Progress | None = None) -> OverlapVolume:
    """Return the volume of the intersection of two solids, at least one of which is a mesh; see `mesh_overlap_volume`.

    Raise Cancelled when `progress` returns False.
    """
    if isinstance(a, Mesh) and isinstance(b, Mesh):
        return mesh_overlap_volume(a, b, progress)
    is_first = isinstance(a, Mesh)
    mesh, other = (a, b) if is_first else (b, a)
    assert isinstance(mesh, Mesh)
    assert not isinstance(other, Mesh)
    found = [_of_piece(mesh, piece, is_first, part) for piece, part in equal_parts(pieces_of(other), progress)]
    return found[0] if len(found) == 1 else _united(mesh, other, found, is_first)


def _ordered(mesh: Mesh, other: Mesh, is_first: bool, progress: Progress | None = None) -> OverlapVolume:
    """Return the overlap of a mesh with another that is B where the mesh is A."""
    return mesh_overlap_volume(mesh, other, progress) if is_first else mesh_overlap_volume(other, mesh, progress)


def _of_piece(mesh: Mesh, piece: ConvexShape, is_first: bool, progress: Progress | None) -> OverlapVolume:
    """Return the overlap of a mesh and a convex shape."""
    if isinstance(piece, Polytope):
        return _ordered(mesh, solid_facets(piece).mesh, is_first, progress)
    assert isinstance(piece, CurvedShape)
    hulls = bracketing_hulls(piece)
    if hulls is None:
        return no_volume(f"{'B' if is_first else 'A'} is too small beside its coordinates")
    inner, outer = (_ordered(mesh, mesh_of([shape]), is_first, progress) for shape in hulls)
    return _between([inner], [outer])


def _united(mesh: Mesh, compound: ConvexPieces, found: list[OverlapVolume], is_first: bool) -> OverlapVolume:
    """Return the overlap of a mesh and a compound, with those of its pieces."""
    refused = [one for one in found if one.volume is None]
    if refused:
        return refused[0]
    pieces = pieces_of(compound)
    common: list[OverlapVolume] = []
    forest = list(range(len(pieces)))
    spanned: list[OverlapVolume] = []
    for j, piece in enumerate(pieces):
        for i in range(j):
            both = _in_common(mesh, pieces[i], piece, found[i], found[j], is_first)
            if both is None:
                continue
            common.append(both)
            if forest[i] != forest[j]:
                spanned.append(both)
                forest = [forest[i] if root == forest[j] else root for root in forest]
    return _between(found, found, common, spanned)


def _in_common(
    mesh: Mesh,
    first: ConvexShape,
    second: ConvexShape,
    of_first: OverlapVolume,
    of_second: OverlapVolume,
    is_first: bool,
) -> OverlapVolume | None:
    """Return the overlap of a mesh and what two pieces have in common; None where their boxes do not overlap."""
    sides = np.minimum(first.bounds[1], second.bounds[1]) - np.maximum(first.bounds[0], second.bounds[0])
    if sides.min() < 0.0:
        return None
    if not (isinstance(first, Polytope) and isinstance(second, Polytope)):
        most = min(of_first.upper or 0.0, of_second.upper or 0.0)
        return OverlapVolume(0.5 * most, 0.0, most)
    body = overlap_body(first, second)
    bounds = None if body is None else overlap_bounds(first, second, body)
    if body is None or bounds is None:
        # As thin as rounding.
        thin = OVERLAP_ROUNDING * EPS * max(first.magnitude, second.magnitude)
        return OverlapVolume(0.0, 0.0, 2.0 * thin * float(sides @ np.roll(sides, 1)))
    found = _ordered(mesh, mesh_of([body]), is_first)
    if found.volume is None or found.lower is None or found.upper is None:
        return None
    width = bounds.upper - bounds.lower
    return OverlapVolume(found.volume, max(0.0, found.lower - width), found.upper + width, found.centroid)


def _between(
    inner: Sequence[OverlapVolume],
    outer: Sequence[OverlapVolume],
    common: Sequence[OverlapVolume] = (),
    spanned: Sequence[OverlapVolume] = (),
) -> OverlapVolume:
    """Return a volume between those inside and around pieces, less what pairs of them have in common: of all pairs for
    the lower bound, as what three have in common is subtracted too often; of pairs without a ring for the upper one."""
    for one in (*inner, *outer):
        if one.volume is None:
            return one
    lowest = [one.lower or 0.0 for one in inner]
    lower = max(max(lowest), fsum(lowest) - fsum(one.upper or 0.0 for one in common))
    upper = fsum(one.upper or 0.0 for one in outer) - fsum(one.lower or 0.0 for one in spanned)
    weighed = [(0.5, one) for one in (*inner, *outer)] + [(-1.0, one) for one in common]
    volume = fsum(weight * (one.volume or 0.0) for weight, one in weighed)
    moments = [weight * (one.volume or 0.0) * one.centroid for weight, one in weighed if one.centroid is not None]
    lower, upper = lower * (1.0 - _SUM * EPS), upper * (1.0 + _SUM * EPS)
    centroid = read_only(np.sum(moments, axis=0) / volume) if volume > 0.0 and moments else None
    return OverlapVolume(min(max(volume, lower), upper), lower, upper, centroid if upper > 0.0 else None)
