# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision detection in pure Python and numpy: SAT, GJK, EPA, contact regions, each answer with its proof; for convex
and curved shapes, compounds and meshes.

    from contact_lens.core import ConvexHull, contact, verify

    a, b = ConvexHull(points_a), ConvexHull(points_b)
    c = contact(a, b)
    print(c.relation, c.signed_distance, c.normal, verify(c, a, b).ok)

Many pairs in one call: `contacts(shapes)`, and `nearest_neighbours(shapes)`.
Closed or open meshes: `mesh_contact(Mesh(points, triangles), other)`, the other a mesh, a compound or any shape.

No Blender needed. Points are arrays (n, 3) or (n, 2); lengths are in the unit of the coordinates.
"""

from .batched.contacts import RELATIONS, STATUSES, Contacts, contacts, pairs_intersect
from .batched.nearest_neighbours import nearest_neighbours
from .bounding.bounding_volumes import bounding_volumes, volumes_of_shapes, volumes_of_triangles
from .bounding.kdop_update import HullKDops, update_kdops
from .bounding.volumes import Volumes
from .broad_phase.candidate_pairs import Candidates, candidate_pairs
from .compounds.compound import Compound
from .contact import contact
from .decomposition.decompose_mesh import decompose_mesh
from .decomposition.decompose_polygon import decompose_polygon
from .decomposition.mesh_convexity import MeshConvexity, mesh_convexity
from .decomposition.mesh_pieces import mesh_pieces
from .decomposition.polygon import Polygon
from .decomposition.polygon_convexity import Convexity, polygon_convexity
from .hierarchy.bvh import Bvh
from .hierarchy.tree_pairs import TreePairs
from .mesh_contact.mesh_result import MeshCertificate
from .meshes.contact_curves import contact_curves
from .meshes.crossings import Crossings, Meeting
from .meshes.decomposition import Decomposition
from .meshes.mesh import Mesh
from .meshes.mesh_distance import MeshDistance, mesh_distance
from .meshes.point_distance import MeshPoints, points_to_mesh
from .meshes.triangle_pairs import crossing_triangles, self_crossings
from .meshes.winding import Winding, contains, winding_numbers
from .narrow_phase.box_sat import BoxAxis, box_sat
from .narrow_phase.epa import Penetration, epa
from .narrow_phase.gjk import Simplex, gjk, gjk_intersects
from .narrow_phase.sat import SatResult, sat
from .note import Note
from .progress import Cancelled, Progress
from .region.contact_curve import ContactCurve
from .region.merged_region import MergedRegion, Patch
from .region.region import Arc, Region, RegionKind, contact_region
from .result import (
    BallCertificate,
    Certificate,
    CompoundCertificate,
    Contact,
    Method,
    Relation,
    Status,
    SupportCertificate,
    TieKind,
)
from .shapes.box import Box, rotate
from .shapes.curved_shape import CurvedShape
from .shapes.cylinder import Cone, Cylinder
from .shapes.ellipsoid import Ellipsoid
from .shapes.feature import Feature, FeatureKind
from .shapes.hull import ConvexHull
from .shapes.polytope import Polytope
from .shapes.rounded import Capsule, Circle, Rounded, Sphere
from .shapes.support import MinkowskiPoints, minkowski_difference, minkowski_sum, minkowski_supports, support
from .verify.verify import Check, Verification, verify

__all__ = [
    "RELATIONS",
    "STATUSES",
    "Arc",
    "BallCertificate",
    "Box",
    "BoxAxis",
    "Bvh",
    "Cancelled",
    "Candidates",
    "Capsule",
    "Certificate",
    "Check",
    "Circle",
    "Compound",
    "CompoundCertificate",
    "Cone",
    "Contact",
    "ContactCurve",
    "Contacts",
    "ConvexHull",
    "Convexity",
    "Crossings",
    "CurvedShape",
    "Cylinder",
    "Decomposition",
    "Ellipsoid",
    "Feature",
    "FeatureKind",
    "HullKDops",
    "Meeting",
    "MergedRegion",
    "Mesh",
    "MeshCertificate",
    "MeshConvexity",
    "MeshDistance",
    "MeshPoints",
    "Method",
    "MinkowskiPoints",
    "Note",
    "Patch",
    "Penetration",
    "Polygon",
    "Polytope",
    "Progress",
    "Region",
    "RegionKind",
    "Relation",
    "Rounded",
    "SatResult",
    "Simplex",
    "Sphere",
    "Status",
    "SupportCertificate",
    "TieKind",
    "TreePairs",
    "Verification",
    "Volumes",
    "Winding",
    "bounding_volumes",
    "box_sat",
    "candidate_pairs",
    "contact",
    "contact_curves",
    "contact_region",
    "contacts",
    "contains",
    "crossing_triangles",
    "decompose_mesh",
    "decompose_polygon",
    "epa",
    "gjk",
    "gjk_intersects",
    "mesh_convexity",
    "mesh_distance",
    "mesh_pieces",
    "minkowski_difference",
    "minkowski_sum",
    "minkowski_supports",
    "nearest_neighbours",
    "pairs_intersect",
    "points_to_mesh",
    "polygon_convexity",
    "rotate",
    "sat",
    "self_crossings",
    "support",
    "update_kdops",
    "verify",
    "volumes_of_shapes",
    "volumes_of_triangles",
    "winding_numbers",
]
