# SPDX-License-Identifier: GPL-3.0-or-later
"""The front door for the surface of the overlap of two shapes of any kind."""

from __future__ import annotations

from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid, solid_facets
from ..progress import Progress
from ..result import Contact
from ..shapes.shape import validate_solids
from .convex_overlap_surface import convex_overlap_surface
from .mesh_overlap_surface import mesh_overlap_surface
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
    if isinstance(a, Mesh) or isinstance(b, Mesh):
        curves, normal = ((), None) if contact is None else (contact.curves, contact.normal)
        return mesh_overlap_surface(solid_facets(a).mesh, solid_facets(b).mesh, curves, normal, progress)
    return convex_overlap_surface(a, b, contact)
