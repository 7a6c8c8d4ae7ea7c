# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex pieces that stand for a mesh, as a record."""

from __future__ import annotations

from dataclasses import dataclass

from ..shapes.hull import ConvexHull
from ..shapes.shape import counted
from ..types import ReadOnlyArrays


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition(ReadOnlyArrays):
    """Convex pieces that stand for a mesh. Source: S1.2."""

    pieces: tuple[ConvexHull, ...]
    """The pieces; those of different loose parts may overlap where the parts do."""
    exact: bool
    """The union of the pieces is the mesh's solid, and within a loose part they do not overlap. But for rounding: no
    corner was taken to be on a plane farther from it than rounding."""
    distance: float
    """Certified, unit of the coordinates: no point of the mesh is deeper inside a piece, or farther from the nearest
    piece, than this, and no corner of a piece is farther outside. Of exact pieces, no point of their own loose part is
    deeper inside: parts may overlap."""
    reflex_edges: int
    """Number of edges of the mesh that bend inward; -1 where it was not computed."""
    message: str
    """What was done, in words."""
    reason: str = ""
    """Why the pieces are not exact, where there was a choice; empty otherwise."""
    fills_hollows: bool = False
    """A loose part of an open mesh, or one of which the piece is the hull, is not convex: the pieces fill room that is
    not the mesh's."""
    outside: float = 0.0
    """Certified, unit of the coordinates: no point of a piece is farther from the mesh's solid than this, or from the
    surface of a mesh that is not closed. Of pieces cut with a tolerance, no corner; 0.0 where they are exact."""

    def __repr__(self) -> str:
        """Return in one line how many pieces there are, and whether they are the mesh."""
        how = "exact" if self.exact else f"up to {self.distance:.6g} from the mesh, {self.outside:.6g} outside"
        return f"Decomposition({counted(len(self.pieces), 'piece', 'pieces')}, {how})"
