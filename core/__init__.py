# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision detection in pure Python and numpy: SAT, GJK, EPA, contact regions, each answer with its proof; for convex
and curved shapes, compounds and meshes.

    from contact_lens.core import ConvexHull, contact, verify

    a, b = ConvexHull(points_a), ConvexHull(points_b)
    c = contact(a, b)
    print(c.relation, c.signed_distance, c.normal, verify(c, a, b).ok)

Many pairs in one call: `contacts(shapes)`, and `nearest_neighbours(shapes)`; in many processes: `partition` and
`combine`.
Shapes are convex, a `Compound` of convex ones, or a `Mesh`, closed or open: `contact(Mesh(points, triangles), other)`.

No Blender needed. Points are arrays (n, 3) or (n, 2); lengths are in the unit of the coordinates.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .compounds.compound import Compound
from .contact import contact
from .many.contacts import Contacts, contacts, pairs_intersect
from .narrow_phase.box_sat import box_sat
from .narrow_phase.epa import epa
from .narrow_phase.gjk import gjk, gjk_intersects
from .narrow_phase.sat import sat
from .note import Note
from .progress import Cancelled
from .region.region import Region, RegionKind, contact_region
from .result import Contact, Relation, Status
from .shapes.box import Box, rotate
from .shapes.curved_shape import CurvedShape
from .shapes.cylinder import Cone, Cylinder
from .shapes.ellipsoid import Ellipsoid
from .shapes.hull import ConvexHull
from .shapes.polytope import Polytope
from .shapes.rounded import Capsule, Circle, Rounded, Sphere
from .shapes.support import minkowski_difference, minkowski_sum, project, support
from .verify.check import Verification
from .verify.verify import verify

if TYPE_CHECKING:
    from .bounding.bounding_volumes import bounding_volumes
    from .bounding.kdop_update import update_kdops
    from .broad_phase.candidate_pairs import candidate_pairs
    from .decomposition.decompose_mesh import decompose_mesh
    from .decomposition.decompose_polygon import decompose_polygon
    from .decomposition.mesh_convexity import mesh_convexity
    from .decomposition.mesh_pieces import mesh_pieces
    from .decomposition.polygon import Polygon
    from .decomposition.polygon_convexity import polygon_convexity
    from .directional_depth import depth_along
    from .hierarchy.bvh import Bvh
    from .many.neighbours import nearest_neighbours
    from .many.parts import combine, partition
    from .many.shape_set import ShapeSet
    from .meshes.contact_curves import contact_curves
    from .meshes.decomposition import Decomposition
    from .meshes.mesh import Mesh
    from .meshes.mesh_distance import mesh_distance
    from .meshes.point_distance import points_to_mesh
    from .meshes.triangle_pairs import crossing_triangles, self_crossings
    from .meshes.winding import winding_numbers

_LATE = {
    "bounding_volumes": ".bounding.bounding_volumes",
    "update_kdops": ".bounding.kdop_update",
    "candidate_pairs": ".broad_phase.candidate_pairs",
    "decompose_mesh": ".decomposition.decompose_mesh",
    "decompose_polygon": ".decomposition.decompose_polygon",
    "mesh_convexity": ".decomposition.mesh_convexity",
    "mesh_pieces": ".decomposition.mesh_pieces",
    "Polygon": ".decomposition.polygon",
    "polygon_convexity": ".decomposition.polygon_convexity",
    "depth_along": ".directional_depth",
    "Bvh": ".hierarchy.bvh",
    "contact_curves": ".meshes.contact_curves",
    "Decomposition": ".meshes.decomposition",
    "Mesh": ".meshes.mesh",
    "mesh_distance": ".meshes.mesh_distance",
    "points_to_mesh": ".meshes.point_distance",
    "crossing_triangles": ".meshes.triangle_pairs",
    "self_crossings": ".meshes.triangle_pairs",
    "winding_numbers": ".meshes.winding",
    "nearest_neighbours": ".many.neighbours",
    "combine": ".many.parts",
    "partition": ".many.parts",
    "ShapeSet": ".many.shape_set",
}
"""Modules that are imported when one of their names is first used: importing the package stays fast. A name that is a
module's or folder's here too, as `contact` and `verify`, is never among them: the import of that would hide it."""

__all__ = [
    "Box",
    "Bvh",
    "Cancelled",
    "Capsule",
    "Circle",
    "Compound",
    "Cone",
    "Contact",
    "Contacts",
    "ConvexHull",
    "CurvedShape",
    "Cylinder",
    "Decomposition",
    "Ellipsoid",
    "Mesh",
    "Note",
    "Polygon",
    "Polytope",
    "Region",
    "RegionKind",
    "Relation",
    "Rounded",
    "ShapeSet",
    "Sphere",
    "Status",
    "Verification",
    "bounding_volumes",
    "box_sat",
    "candidate_pairs",
    "combine",
    "contact",
    "contact_curves",
    "contact_region",
    "contacts",
    "crossing_triangles",
    "decompose_mesh",
    "decompose_polygon",
    "depth_along",
    "epa",
    "gjk",
    "gjk_intersects",
    "mesh_convexity",
    "mesh_distance",
    "mesh_pieces",
    "minkowski_difference",
    "minkowski_sum",
    "nearest_neighbours",
    "pairs_intersect",
    "partition",
    "points_to_mesh",
    "polygon_convexity",
    "project",
    "rotate",
    "sat",
    "self_crossings",
    "support",
    "update_kdops",
    "verify",
    "winding_numbers",
]


def __dir__() -> list[str]:
    """Return all names, those of modules that are not imported yet too."""
    return sorted({*globals(), *_LATE})


def __getattr__(name: str) -> object:
    """Return an exported name of a module that is imported when it is first used."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_LATE[name], __name__), name)
    globals()[name] = value
    return value
