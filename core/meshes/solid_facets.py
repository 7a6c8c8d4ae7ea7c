# SPDX-License-Identifier: GPL-3.0-or-later
"""Any solid as a mesh of facets: exactly, or of curved surfaces from inside, and how far they reach beyond that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..compounds.compound import Compound, ConvexPieces
from ..curved.curved_inside import spread
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..tolerance import CURVED_ROUNDING, EPS
from ..types import FloatArray, IntArray
from .decomposition import Decomposition
from .mesh import Mesh

Solid = Mesh | ConvexPieces
"""Every kind of shape that `contact` takes."""

_AROUND = 2_000
"""Directions in which the facets reach a curved surface: within about 1e-3 radii of a sphere everywhere."""
_FEW_AROUND = 500
"""The same, of facets that are refined afterwards."""
_THICK = 1e-6
"""Volume over the cube of the extent from which on rounding makes no curved shape flat."""
_KEPT = 8
"""Polytopes that are kept: a contact, its measures and its verification ask for the same ones."""


@dataclass(frozen=True, eq=False)
class SolidFacets:
    """A solid as the mesh of its facets, made when they are first asked for. World frame and units."""

    solid: Solid

    @cached_property
    def curved(self) -> int:
        """How many pieces are curved."""
        return sum(isinstance(piece, CurvedShape) for piece in self._convex)

    @cached_property
    def is_thick(self) -> bool:
        """Whether pieces are curved, and the facets certainly are closed and enclose a volume, without making them."""
        return self.curved > 0 and all(
            piece.rank == 3 if isinstance(piece, Polytope) else piece.volume > _THICK * piece.extent**3
            for piece in self._convex
        )

    @cached_property
    def mesh(self) -> Mesh:
        """The facets of all pieces, those inside of the others too; a mesh itself."""
        return self.solid if isinstance(self.solid, Mesh) else mesh_of([hull for hull, _ in self._hulls])

    @cached_property
    def pieces(self) -> Decomposition | None:
        """The pieces inside the facets, exactly; None for a mesh."""
        if isinstance(self.solid, Mesh):
            return None
        return Decomposition(tuple(hull for hull, _ in self._hulls), True, 0.0, -1, "the pieces as they are")

    @cached_property
    def slack(self) -> float:
        """Certified: no point of the solid is farther from the facets' solid, which is inside of it. 0.0 where there is
        no curved surface."""
        return max((slack for _, slack in self._hulls), default=0.0)

    @property
    def _convex(self) -> tuple[ConvexShape, ...]:
        return () if isinstance(self.solid, Mesh) else pieces_of(self.solid)

    @cached_property
    def _hulls(self) -> list[tuple[ConvexHull, float]]:
        """A polytope inside each piece, and how far that reaches beyond."""
        return [
            inner_hull(piece)
            if isinstance(piece, CurvedShape)
            else (piece if isinstance(piece, ConvexHull) else ConvexHull(piece.vertices), 0.0)
            for piece in self._convex
        ]


def facets_of(solid: Solid) -> SolidFacets:
    """Return a solid in space as a mesh. Polytopes keep theirs, whose tree is made once for all pairs."""
    if not isinstance(solid, Polytope):
        return SolidFacets(solid)
    kept: SolidFacets = solid.__dict__.setdefault("_solid_facets", SolidFacets(solid))
    return kept


def solid_facets(solid: Solid) -> SolidFacets:
    """Return the same, with the mesh made."""
    found = facets_of(solid)
    found.mesh  # noqa: B018
    return found


def pieces_of(solid: ConvexPieces) -> tuple[ConvexShape, ...]:
    """Return the convex pieces whose union a solid is."""
    return solid.pieces if isinstance(solid, Compound) else (solid,)


def mesh_of(pieces: list[ConvexHull] | list[Polytope]) -> Mesh:
    """Return the facets of polytopes as one mesh; a segment or a point is a triangle without area.

    Flat ones have both of their sides beside one with a volume: with one of them the mesh would be open.
    """
    first = np.cumsum([0, *(len(piece.vertices) for piece in pieces)]).tolist()
    has_volume = any(piece.rank == 3 for piece in pieces)
    triangles = [fans(piece, has_volume) + start for piece, start in zip(pieces, first[:-1], strict=True)]
    return Mesh(np.concatenate([piece.vertices for piece in pieces]), np.concatenate(triangles))


def fans(shape: Polytope, both_sides: bool) -> IntArray:
    """Return triangles (t, 3) of the facets of a polytope in space, as indices into its vertices, counter-clockwise
    seen from outside; of a flat one one side or both, of a point or a segment one without area."""
    facets = shape.facets if shape.rank == 3 or both_sides else shape.facets[:1]
    if shape.rank == 2 and both_sides:
        # Without a diagonal of both sides, which would be an edge of four triangles.
        facets = (facets[0], np.roll(facets[1], 1))
    found = [(loop[0], loop[k], loop[k + 1]) for loop in facets for k in range(1, len(loop) - 1)]
    last = len(shape.vertices) - 1
    return np.array(found or [(0, last, last)], dtype=np.intp)


def facets_of_pieces(solid: Solid) -> Iterator[tuple[ConvexShape | None, Mesh, float]]:
    """Yield each convex piece of a solid, of a mesh None, with its facets, few where it is curved, and a certified
    length: no point of the piece is farther from them."""
    if isinstance(solid, Mesh):
        yield None, solid, 0.0
        return
    for piece in pieces_of(solid):
        hull, slack = inner_hull(piece, _FEW_AROUND) if isinstance(piece, CurvedShape) else (piece, 0.0)
        yield piece, mesh_of([hull]), slack


@lru_cache(_KEPT)
def inner_hull(shape: CurvedShape, around: int = _AROUND) -> tuple[ConvexHull, float]:
    """Return a polytope inside a curved shape in space, and a length: no point of the shape is farther from it. Its
    corners are support points in `around` directions.

    Grown about a point inside until its planes are beyond the support planes it contains the shape; the length is what
    its farthest corner moves by.
    """
    original: CurvedShape | None = shape.__dict__.get("_translated_from")
    rounding = CURVED_ROUNDING * EPS * (shape.rounding_radius + shape.magnitude)
    if original is not None:
        hull, slack = inner_hull(original, around)  # translated facets are the same
        return hull.translated(shape.center - original.center), slack + rounding
    hull = ConvexHull(shape.supports(spread(3, around)))
    if hull.rank < 3:  # so small that all is rounding
        return hull, shape.extent + rounding
    middle = hull._centred.mean(axis=0)
    room = hull.offsets - hull.normals @ middle
    corners = hull._centred - middle
    beyond = ((shape.supports(hull.normals) - hull.center - middle) * hull.normals).sum(axis=1) - room
    if room.min() <= 0.0:
        return hull, shape.extent + rounding
    grown = float((np.maximum(beyond, 0.0) / room).max())
    return hull, grown * float(np.sqrt((corners * corners).sum(axis=1).max())) + rounding


def bracketing_meshes(shape: Mesh | ConvexShape) -> tuple[Mesh, ...] | None:
    """Return the surface of a shape in space as a mesh, or of a curved one two: of a polytope inside and of one around
    it; None where rounding leaves none inside."""
    if not isinstance(shape, CurvedShape):
        return (solid_facets(shape).mesh,)
    hull, slack = inner_hull(shape)
    if hull.rank < 3:
        return None
    middle = hull._centred.mean(axis=0)
    corners = hull._centred - middle
    farthest = float(np.sqrt((corners * corners).sum(axis=1).max()))
    return mesh_of([hull]), mesh_of([ConvexHull(hull.center + middle + corners * (1.0 + slack / farthest))])


def bounds_of(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest corners (t, 3) of triangles (t, 3, 3)."""
    return points.min(axis=1), points.max(axis=1)
