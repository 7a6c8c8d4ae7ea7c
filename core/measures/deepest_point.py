# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep the surface of one solid is inside another, and where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..compounds.compound import Compound
from ..mesh_contact.mesh_faults import own_crossings
from ..meshes.body import Body
from ..meshes.crossings import Meeting
from ..meshes.joined import joined
from ..meshes.mesh import Mesh
from ..meshes.solid_facets import Solid
from ..meshes.triangle_pairs import crossing_triangles
from ..meshes.triangles_inside import triangles_inside
from ..progress import Progress, report_progress, subrange
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope
from ..shapes.shape import validate_solids
from ..tolerance import EPS, MESH_GAP
from ..types import read_only
from .cut_surface import CutSurface
from .deepest_record import DeepestPoint, DeepestPoints
from .deepest_search import search_deepest
from .surface_depths import DepthsInMesh, depths_in

TOUCHING = 1e-3
"""Times the smaller extent: of surfaces that touch and do not cross, nothing that is less deep is looked for."""


def deepest_point(a: Solid, b: Solid, progress: Progress | None = None) -> DeepestPoints:
    """Return the point of A's surface that is farthest from B's surface of those inside B, and that of B's inside A.

    This is no translation: a pin across a plate is half as deep inside the plate as that is thick, and leaves it
    lengthwise. An open mesh is a bare surface, which can be inside, but nothing is inside of it; nor is there an answer
    for the inside of a mesh that crosses itself, and for compounds of several pieces. Where surfaces of meshes touch
    and do not cross, what is less deep than 1e-3 of the smaller one may count as outside. `progress` is called with the
    fraction done, 0 to 1; False cancels.

    Raise ValueError, naming the argument, when one is not a shape or the dimensions differ; Cancelled when `progress`
    returns False.

    >>> found = deepest_point(Box([0, 0, 0], [2, 2, 2]), Box([1.5, 0.5, 0], [2, 2, 4]))
    >>> found.of_a.distance, found.of_a.point.tolist()[0], found.of_a.nearest.tolist()[0]
    (0.5, 1.0, 0.5)
    """
    validate_solids(a, b)
    exponent = extreme_exponent(a, b)
    solids = [plain_solid(solid.scaled(2.0**-exponent) if exponent else solid) for solid in (a, b)]
    reasons = [no_inside(solid, subrange(progress, 0.1 * k, 0.1 * (k + 1))) for k, solid in enumerate(solids)]
    found: list[DeepestPoint | None] = [None, None]
    for k, (own, other) in enumerate((solids, solids[::-1])):
        if not (reasons[1 - k] or isinstance(own, Compound) or isinstance(other, Compound)):
            found[k] = _deepest(own, other, subrange(progress, 0.2 + 0.4 * k, 0.6 + 0.4 * k))
    report_progress(progress, 1.0)
    deepest = DeepestPoints(found[0], found[1], named_reasons(reasons))
    return deepest.scaled(exponent) if exponent else deepest


def named_reasons(reasons: Sequence[str]) -> str:
    """Return why there is no answer, from the ends of such sentences about A and B."""
    return " ".join(f"{name} {why}." for name, why in zip("AB", reasons, strict=True) if why)


def plain_solid(solid: Solid) -> Solid:
    """Return the piece of a compound of one, and the polytope that a shape without a radius is."""
    if isinstance(solid, Compound) and len(solid.pieces) == 1:
        solid = solid.pieces[0]
    if isinstance(solid, CurvedShape) and solid.skeleton is not None and solid.rounding_radius == 0.0:
        return solid.skeleton
    return solid


def no_inside(solid: Solid, progress: Progress | None = None) -> str:
    """Return why no points are inside a solid, or not known how deep, as the end of a sentence; else nothing."""
    if isinstance(solid, Compound):
        return "is a compound: surfaces of its pieces are inside of it, so take its mesh or a single piece"
    if isinstance(solid, Polytope) and solid.rank < solid.dim:
        return "is flat: it has no inside"
    if isinstance(solid, Mesh) and not joined(solid).is_closed:
        return "is open: only a closed mesh has an inside"
    if isinstance(solid, Mesh) and not Body.of(solid).solid:
        return "encloses nothing: it has no inside"
    if isinstance(solid, Mesh) and own_crossings(solid, progress) != (0, True):
        return "crosses itself: it has no clear inside"
    return ""


def _deepest(own: Mesh | ConvexShape, other: Mesh | ConvexShape, progress: Progress | None) -> DeepestPoint | None:
    """Return the point of the surface of one solid that is deepest inside the other; None where none is inside."""
    surface, depths = CutSurface(own), depths_in(other)
    rounding = MESH_GAP * EPS * max(own.magnitude, other.magnitude)
    floor, are_inside = rounding, np.zeros(len(surface.triangles), dtype=np.bool_)
    if isinstance(depths, DepthsInMesh):
        floor = rounding = rounding + depths.body.slit
        if surface.curved is None:
            crossings = crossing_triangles(Mesh(surface.points, surface.triangles), depths.body.mesh)
            meets = np.zeros(len(surface.triangles), dtype=np.bool_)
            meets[crossings.pairs[:, 0]] = True
            are_inside = triangles_inside(surface.points, surface.triangles, meets, depths.body)
            kept = are_inside | meets
            surface.triangles, are_inside = surface.triangles[kept], are_inside[kept]
            if not (are_inside.any() or len(crossings.of_kind(Meeting.CROSSING))):
                floor = max(rounding, TOUCHING * min(own.extent, other.extent))
    upper = search_deepest(depths, surface, are_inside, floor, progress)
    if depths.best <= rounding:
        return None
    point, nearest = (spot[: own.dim] for spot in (depths.points[depths.deepest], depths.nearest(depths.deepest)))
    return DeepestPoint(
        depths.best,
        max(0.0, depths.best * (1.0 - depths.relative) - rounding),
        upper * (1.0 + depths.relative) + rounding,
        read_only(np.array(point)),
        read_only(np.array(nearest)),
    )
