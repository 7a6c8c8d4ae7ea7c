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
Beyond the depth: `overlap_volume(a, b)`, `deepest_point(a, b)` and `clearance_band(a, b, limit)`.

No Blender needed. Points are arrays (n, 3) or (n, 2); lengths are in the unit of the coordinates.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .compounds.compound import Compound as Compound
from .contact import contact as contact
from .narrow_phase.box_sat import box_sat as box_sat
from .narrow_phase.epa import epa as epa
from .narrow_phase.gjk import gjk as gjk
from .narrow_phase.gjk import gjk_intersects as gjk_intersects
from .narrow_phase.sat import sat as sat
from .note import Note as Note
from .progress import Cancelled as Cancelled
from .region.region import Region as Region
from .region.region import RegionKind as RegionKind
from .region.region import contact_region as contact_region
from .replay import replay as replay
from .result import Contact as Contact
from .result import Relation as Relation
from .result import Status as Status
from .shapes.box import Box as Box
from .shapes.box import rotate as rotate
from .shapes.curved_shape import CurvedShape as CurvedShape
from .shapes.cylinder import Cone as Cone
from .shapes.cylinder import Cylinder as Cylinder
from .shapes.ellipsoid import Ellipsoid as Ellipsoid
from .shapes.hull import ConvexHull as ConvexHull
from .shapes.polytope import Polytope as Polytope
from .shapes.rounded import Capsule as Capsule
from .shapes.rounded import Circle as Circle
from .shapes.rounded import Rounded as Rounded
from .shapes.rounded import Sphere as Sphere
from .shapes.support import (
    minkowski_difference as minkowski_difference,
)
from .shapes.support import (
    minkowski_sum as minkowski_sum,
)
from .shapes.support import (
    project as project,
)
from .shapes.support import (
    support as support,
)
from .verify.check import Verification as Verification
from .verify.verify import verify as verify

if TYPE_CHECKING:
    from .bounding.bounding_volumes import bounding_volumes as bounding_volumes
    from .bounding.kdop_update import update_kdops as update_kdops
    from .broad_phase.candidate_pairs import candidate_pairs as candidate_pairs
    from .decomposition.decompose_mesh import decompose_mesh as decompose_mesh
    from .decomposition.decompose_polygon import decompose_polygon as decompose_polygon
    from .decomposition.mesh_convexity import mesh_convexity as mesh_convexity
    from .decomposition.mesh_pieces import mesh_pieces as mesh_pieces
    from .decomposition.polygon import Polygon as Polygon
    from .decomposition.polygon_convexity import polygon_convexity as polygon_convexity
    from .directional_depth import depth_along as depth_along
    from .hierarchy.bvh import Bvh as Bvh
    from .many.contacts import contacts as contacts
    from .many.contacts import pairs_intersect as pairs_intersect
    from .many.neighbours import nearest_neighbours as nearest_neighbours
    from .many.parts import combine as combine
    from .many.parts import partition as partition
    from .many.result import Contacts as Contacts
    from .many.shape_set import ShapeSet as ShapeSet
    from .measures.clearance_band import ClearanceBand as ClearanceBand
    from .measures.clearance_band import clearance_band as clearance_band
    from .measures.deepest_point import deepest_point as deepest_point
    from .measures.deepest_record import DeepestPoint as DeepestPoint
    from .measures.deepest_record import DeepestPoints as DeepestPoints
    from .measures.overlap_volume import OverlapVolume as OverlapVolume
    from .measures.overlap_volume import overlap_volume as overlap_volume
    from .meshes.contact_curves import contact_curves as contact_curves
    from .meshes.decomposition import Decomposition as Decomposition
    from .meshes.mesh import Mesh as Mesh
    from .meshes.mesh_distance import mesh_distance as mesh_distance
    from .meshes.point_distance import points_to_mesh as points_to_mesh
    from .meshes.triangle_pairs import crossing_triangles as crossing_triangles
    from .meshes.triangle_pairs import self_crossings as self_crossings
    from .meshes.winding import winding_numbers as winding_numbers
    from .shapes.minkowski_hull import MinkowskiHull as MinkowskiHull
    from .shapes.minkowski_hull import minkowski_hull as minkowski_hull

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
    "contacts": ".many.contacts",
    "pairs_intersect": ".many.contacts",
    "nearest_neighbours": ".many.neighbours",
    "combine": ".many.parts",
    "partition": ".many.parts",
    "Contacts": ".many.result",
    "ShapeSet": ".many.shape_set",
    "ClearanceBand": ".measures.clearance_band",
    "clearance_band": ".measures.clearance_band",
    "OverlapVolume": ".measures.overlap_volume",
    "deepest_point": ".measures.deepest_point",
    "DeepestPoint": ".measures.deepest_record",
    "DeepestPoints": ".measures.deepest_record",
    "overlap_volume": ".measures.overlap_volume",
    "contact_curves": ".meshes.contact_curves",
    "Decomposition": ".meshes.decomposition",
    "Mesh": ".meshes.mesh",
    "mesh_distance": ".meshes.mesh_distance",
    "points_to_mesh": ".meshes.point_distance",
    "crossing_triangles": ".meshes.triangle_pairs",
    "self_crossings": ".meshes.triangle_pairs",
    "winding_numbers": ".meshes.winding",
    "MinkowskiHull": ".shapes.minkowski_hull",
    "minkowski_hull": ".shapes.minkowski_hull",
}
"""Modules that are imported when one of their names is first used: importing the package stays fast. A name that is a
module's or folder's here too, as `contact` and `verify`, is never among them: the import of that would hide it."""

__all__ = sorted(
    {name for name, value in globals().items() if getattr(value, "__module__", "").startswith(f"{__name__}.")}
    | {*_LATE}
)


def __dir__() -> list[str]:
    """Return the exports, those that are not imported yet too, and what Python keeps of a module."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


def __getattr__(name: str) -> object:
    """Return an exported name of a module that is imported when it is first used."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_LATE[name], __name__), name)
    globals()[name] = value
    return value
