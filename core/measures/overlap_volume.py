# SPDX-License-Identifier: GPL-3.0-or-later
"""The volume in which two solids overlap."""

from __future__ import annotations

import numpy as np

from ..compounds.compound import Compound
from ..contact import contact as find_contact
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid, bracketing_meshes
from ..progress import Progress, subrange
from ..result import Contact
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope
from ..shapes.shape import validate_solids
from .compound_overlap import Piece, compound_overlap
from .mesh_overlap import mesh_overlap_volume
from .polytope_overlap import overlap_body, overlap_bounds
from .round_overlap import round_overlap
from .volume_record import OverlapVolume as OverlapVolume
from .volume_record import no_volume, none_overlaps

_THIN = 1.0 + 2.0**-40
"""By how much more than computed the bound of a thin overlap is, for its rounding."""


def overlap_volume(
    a: Solid, b: Solid, contact: Contact | None = None, progress: Progress | None = None
) -> OverlapVolume:
    """Return the volume of the intersection of two solids, in the plane its area, between bounds that hold.

    Of convex polytopes also the intersection itself. Its bounds are at most 1e-12 times its surface and the size of the
    smaller shape apart, plus its surface times 64 EPS times the largest coordinate, for that is how rounding bends flat
    facets far from the origin. `contact` is what `contact(a, b)` returned, where it is known.

    Of closed meshes the bounds are apart by what rounding the corners of the overlap makes of its area. An open mesh,
    or one that crosses itself, has no volume, and `unsupported_reason` says so. `progress` is called with the fraction
    done of meshes, 0 to 1; False cancels.

    >>> a, b = Box((0, 0, 0), (2, 2, 2)), Box((1.5, 0, 0), (2, 2, 2))
    >>> found = overlap_volume(a, b)
    >>> print(round(found.volume, 9), found.lower <= 2.0 <= found.upper, found.centroid, len(found.body.facets))
    2.0 True [0.75 0.   0.  ] 6

    Raises ValueError, naming the argument, when one is not a shape, or their dimensions differ; Cancelled when
    `progress` returns False.
    """
    validate_solids(a, b)
    low, high = np.maximum(a.bounds[0], b.bounds[0]), np.minimum(a.bounds[1], b.bounds[1])
    for name, shape in (("A", a), ("B", b)):
        if isinstance(shape, Polytope) and shape.rank < shape.dim:
            return none_overlaps(f"{name} is flat: it has no volume")
    if (low > high).any():
        return none_overlaps()
    exponent = extreme_exponent(a, b)
    if exponent:
        a, b, contact = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), None
    if isinstance(a, Compound) or isinstance(b, Compound):
        found = compound_overlap(a, b, _of_pieces, progress)
    elif isinstance(a, Mesh) or isinstance(b, Mesh):
        found = _of_pieces(a, b, progress)
    else:
        found = convex_overlap_volume(a, b, contact)
    return found.scaled(exponent, a.dim) if exponent else found


def _of_pieces(a: Piece, b: Piece, progress: Progress | None) -> OverlapVolume:
    """Return the volume in which two meshes or convex shapes of ordinary size overlap: beside a mesh a polytope is the
    mesh of its facets, and a curved shape between meshes inside and around it."""
    if not (isinstance(a, Mesh) or isinstance(b, Mesh)):
        return convex_overlap_volume(a, b)
    own, other = bracketing_meshes(a), bracketing_meshes(b)
    if own is None or other is None:
        return no_volume(f"{'A' if own is None else 'B'} is too small beside its coordinates")
    if len(own) == len(other) == 1:
        return mesh_overlap_volume(own[0], other[0], progress)
    inner = mesh_overlap_volume(own[0], other[0], subrange(progress, 0.0, 0.5))
    outer = mesh_overlap_volume(own[-1], other[-1], subrange(progress, 0.5, 1.0))
    if inner.volume is None or outer.volume is None:
        return inner if inner.volume is None else outer
    centroid = inner.centroid if inner.volume else outer.centroid
    return OverlapVolume(0.5 * (inner.volume + outer.volume), inner.lower, outer.upper, centroid)


def convex_overlap_volume(a: ConvexShape, b: ConvexShape, contact: Contact | None = None) -> OverlapVolume:
    """Return the volume in which two convex shapes of ordinary size overlap."""
    sides = np.minimum(a.bounds[1], b.bounds[1]) - np.maximum(a.bounds[0], b.bounds[0])
    if sides.min() <= 0.0:
        return none_overlaps()
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        body = overlap_body(a, b)
        known = None if body is None else overlap_bounds(a, b, body)
        if known is not None:
            return OverlapVolume(known.volume, known.lower, known.upper, known.centroid, body)
    contact = contact or find_contact(a, b)
    if contact.lower_bound >= 0.0:
        return none_overlaps()
    if isinstance(a, CurvedShape) or isinstance(b, CurvedShape):
        found = round_overlap(a, b, contact)
        if found is not None:
            return found
    # As thin as rounding: no more than the slab in which both are, across the contact's normal.
    thickness = -contact.lower_bound
    # The shadow of the box of both, which is less than half of its surface.
    across = float(sides.sum()) if a.dim == 2 else float(sides @ np.roll(sides, 1))
    return OverlapVolume(0.0, 0.0, thickness * across * _THIN)
