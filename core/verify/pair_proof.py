# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be proved of two convex pieces that come without a certificate of their own.

The solver looks for one, as anything else might: only what its certificate proves when it is checked is used, and what
is measured where it points to. So a solver that is wrong can make a check fail, and none pass.
"""

from __future__ import annotations

import numpy as np

from ..curved.convex_contact import convex_contact
from ..curved.curved_inside import protrusion
from ..result import Contact
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.hull import ConvexHull
from ..shapes.ordinary_size import extreme_exponent
from ..types import FloatArray
from .bounds import Proven, proven_bounds


def pair_bounds(a: ConvexShape, b: ConvexShape) -> Proven:
    """Return what a certificate that is looked for proves about the signed distance of two convex shapes; infinite
    where it proves nothing."""
    exponent = extreme_exponent(a, b)
    if exponent:
        a, b = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent)
    proven = proven_bounds(convex_contact(a, b).certificate, a, b)
    if isinstance(proven, str) or not proven.lower <= proven.upper:  # not even the solver's own
        return Proven(-np.inf, np.inf, str(proven))
    return Proven(float(np.ldexp(proven.lower, exponent)), float(np.ldexp(proven.upper, exponent)), proven.by)


def proposed_contact(a: ConvexShape, b: ConvexShape) -> Contact:
    """Return the contact that the solver finds, as a place to look: whatever is said of it has to be measured."""
    return convex_contact(a, b)


def off_piece(point: FloatArray, piece: ConvexShape) -> float:
    """Return how far a point is from a convex shape at most; < 0 or 0 on it."""
    spot = ConvexHull(point[None])
    if isinstance(piece, CurvedShape) or piece.rank == piece.dim:
        return protrusion(spot, piece, np.inf)
    return pair_bounds(spot, piece).upper
