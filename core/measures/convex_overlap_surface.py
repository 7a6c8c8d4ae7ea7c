# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of the overlap of convex shapes and compounds, in triangles to be drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..compounds.compound import Compound, ConvexPieces, as_compound
from ..contact import contact as find_contact
from ..meshes.contact_curves import paths
from ..result import Contact
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope
from ..types import BoolArray, FloatArray, IntArray, read_only
from .polytope_overlap import overlap_body, overlap_bounds
from .round_overlap import inner_overlaps
from .surface_record import OverlapSurface

_BESIDE = 1e-6
"""Times the extent of a compound: a facet of an overlap this near to another piece is inside the compound."""
_INWARD = 1e-3
"""Times the distance from a corner of a facet to its middle: so far from the corner it is looked at."""
_SMOOTH = {2: 1e-3, 3: 0.1}
"""Relative: how much of the overlap of curved shapes, by their dimension, the one that is drawn may miss. Coarser
facets look like creases."""


class _Cell(NamedTuple):
    """The overlap of two convex shapes."""

    a: Polytope
    """A, or a polytope inside."""
    b: Polytope
    body: ConvexHull
    of_a: BoolArray
    """(g,) whether each facet is of A's surface."""
    shown: BoolArray
    """(g,) whether each facet is on the surface of both compounds."""


def convex_overlap_surface(a: ConvexPieces, b: ConvexPieces, contact: Contact | None = None) -> OverlapSurface:
    """Return the boundary of the overlap of two convex shapes or compounds.

    Of polytopes it is exact, of curved shapes it is that of polytopes inside. In the plane the triangles are the area,
    each with the side that it is of, and the curves are its outline.
    """
    exponent = extreme_exponent(a, b)
    if exponent:
        found = convex_overlap_surface(a.scaled(2.0**-exponent), b.scaled(2.0**-exponent))
        curves = tuple(read_only(np.ldexp(curve, exponent)) for curve in found.curves)
        return replace(found, points=read_only(np.ldexp(found.points, exponent)), curves=curves)
    one, two = as_compound(a), as_compound(b)
    is_compound = len(one.pieces) + len(two.pieces) > 2
    cells = []
    for i, j in candidate_pairs(one.lows, one.highs, two.lows, two.highs).pairs.tolist():
        cell = _cell(one.pieces[i], two.pieces[j], None if is_compound else contact)
        if cell is not None:
            shown = cell.shown if not is_compound else _shown(cell, (one, i), (two, j))
            cells.append(cell._replace(shown=shown))
    parts = [_triangles(cell) for cell in cells if cell.shown.any()]
    if not parts:
        return OverlapSurface.empty(a.dim)
    first = np.cumsum([0, *(len(points) for points, _, _ in parts)]).tolist()
    triangles = np.concatenate([corners + start for (_, corners, _), start in zip(parts, first, strict=False)])
    return OverlapSurface(
        read_only(np.concatenate([points for points, _, _ in parts])),
        read_only(triangles),
        read_only(np.concatenate([of_a for _, _, of_a in parts])),
        tuple(curve for cell in cells for curve in _curves(cell)),
    )


def _cell(a: ConvexShape, b: ConvexShape, contact: Contact | None) -> _Cell | None:
    """Return the overlap of two convex shapes; None where rounding hides it."""
    body = bounds = None
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        body = overlap_body(a, b) if min(a.rank, b.rank) == a.dim else None
        bounds = None if body is None else overlap_bounds(a, b, body)
    else:
        contact = contact or find_contact(a, b)
        if contact.lower_bound < 0.0:
            wanted = _SMOOTH[a.dim]
            for inner in inner_overlaps(a, b, contact, wanted):
                a, b, body, bounds = inner.a, inner.b, inner.body, inner.bounds
    if body is None or bounds is None:
        return None
    assert isinstance(a, Polytope)
    assert isinstance(b, Polytope)
    return _Cell(a, b, body, bounds.planes < len(a.facets), np.ones(len(body.facets), dtype=bool))


def _middles(body: ConvexHull) -> FloatArray:
    """Return the mean (g, dim) of the corners of each facet."""
    sizes = np.array([len(loop) for loop in body.facets])
    corners = body.vertices[np.concatenate(body.facets)]
    means: FloatArray = np.add.reduceat(corners, np.cumsum(sizes) - sizes, axis=0) / sizes[:, None]
    return means


def _shown(cell: _Cell, *owners: tuple[Compound, int]) -> BoolArray:
    """Return (g,) whether the facets are where one of both compounds ends: the other ones are walls inside."""
    sizes = np.array([len(loop) for loop in cell.body.facets])
    facet, first = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes
    # Nearly at the corners, and beyond: where all of these are in a convex piece, it goes on there.
    spots = cell.body.vertices[np.concatenate(cell.body.facets)]
    spots = spots + _INWARD * (_middles(cell.body)[facet] - spots)
    spots = spots + _BESIDE * max(compound.extent for compound, _ in owners) * cell.body.normals[facet]
    low, high = spots.min(axis=0), spots.max(axis=0)
    goes_on = np.ones(len(sizes), dtype=bool)
    for (compound, own), polytope in zip(owners, (cell.a, cell.b), strict=True):
        within = np.zeros(len(sizes), dtype=bool)
        near = (compound.lows <= high).all(axis=1) & (compound.highs >= low).all(axis=1)
        for k in np.flatnonzero(near).tolist():
            piece = polytope if k == own else compound.pieces[k]
            within |= np.logical_and.reduceat(_is_in(piece, spots), first)
        goes_on &= within
    shown: BoolArray = ~goes_on
    return shown


def _is_in(shape: ConvexShape, points: FloatArray) -> BoolArray:
    """Return (n,) whether points are in the interior of a convex shape."""
    if not isinstance(shape, Polytope):
        return shape.signed_distance(points) < 0.0
    return shape.highest_facets(points) < 0.0 if shape.rank == shape.dim else np.zeros(len(points), dtype=bool)


def _triangles(cell: _Cell) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return points, triangles and whether these are of A's surface, of the facets that are shown."""
    body = cell.body
    if body.dim == 2:
        count = len(body.vertices)
        points = np.concatenate([body.vertices, body.vertices.mean(axis=0, keepdims=True)])
        return points, np.column_stack([body.edges, np.full(count, count)]), cell.of_a
    sides = body._sides
    origin = sides.start[sides.first][sides.facet]
    rows = np.flatnonzero((sides.start != origin) & (sides.end != origin) & cell.shown[sides.facet])
    return body.vertices, np.column_stack([origin, sides.start, sides.end])[rows], cell.of_a[sides.facet[rows]]


def _curves(cell: _Cell) -> list[FloatArray]:
    """Return the polylines in which the surfaces meet; in the plane the outline."""
    body = cell.body
    if body.dim == 2:
        return [read_only(body.vertices[[*range(len(body.vertices)), 0]])]
    beside = body.edge_facets
    meets = (cell.of_a[beside[:, 0]] != cell.of_a[beside[:, 1]]) & cell.shown[beside].all(axis=1)
    return [
        read_only(body.vertices[[*path, path[0]] if closed else path])
        for path, closed in paths(body.edges[meets], len(body.vertices))
    ]
