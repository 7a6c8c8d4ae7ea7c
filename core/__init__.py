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

from .box import Box, rotate
from .box_sat import BoxAxis, box_sat, boxes_intersect
from .broad_phase import Candidates, candidate_pairs, overlapping_pairs
from .bvh import REBUILD_COST, Bvh, refitted
from .bvh_build import build_bvh
from .bvh_insert import inserted
from .bvh_pairs import TreePairs, tree_pairs
from .certificate import BallCertificate, Certificate, SupportCertificate
from .compound import Compound, CompoundContact, CompoundStatus, compound_contact
from .compound_region import MergedRegion, Patch
from .contact import Contact, Method, Status, TieKind, contact
from .contact_curves import ContactCurve, contact_curves
from .contacts import RELATIONS, STATUSES, Contacts, contacts, pairs_intersect
from .convexity import Convexity, MeshConvexity, mesh_convexity, polygon_convexity
from .curved_shape import CurvedShape
from .cylinder import Cone, Cylinder
from .decompose_mesh import Decomposition, approximately_decomposed, coacd_available, decomposed_mesh
from .decompose_polygon import decomposed_polygon
from .ellipsoid import Ellipsoid
from .epa import Penetration, epa
from .feature import Feature, FeatureKind
from .gjk import Simplex, gjk, gjk_intersects
from .hull import ConvexHull
from .kdop_update import Extremes, HullGraph, climbed_kdops, hull_graph, moved_extremes, moved_kdops
from .mesh import Mesh, loose_parts
from .mesh_contact import MeshContact, mesh_contact
from .mesh_distance import MeshDistance, MeshPoints, mesh_distance, points_to_mesh
from .mesh_pieces import mesh_pieces
from .nearest_neighbours import nearest_neighbours
from .note import Note
from .polygon import Polygon
from .polytope import Polytope
from .progress import Cancelled, Progress
from .region import Arc, Region, RegionKind, contact_region
from .relation import Relation
from .rounded import Capsule, Circle, Rounded, Sphere
from .sat import SatResult, sat
from .support import (
    MinkowskiPoints,
    minkowski_difference,
    minkowski_sum,
    minkowski_supports,
    support,
    supports,
)
from .triangle_pairs import Crossings, Meeting, crossing_triangles, self_crossings
from .verify import Check, Verification, verify
from .volumes import Volumes, bounding_volumes, volumes_of_shapes, volumes_of_triangles
from .winding import Winding, contains, winding_numbers

__all__ = [
    "REBUILD_COST",
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
    "CompoundContact",
    "CompoundStatus",
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
    "Extremes",
    "Feature",
    "FeatureKind",
    "HullGraph",
    "Meeting",
    "MergedRegion",
    "Mesh",
    "MeshContact",
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
    "approximately_decomposed",
    "bounding_volumes",
    "box_sat",
    "boxes_intersect",
    "build_bvh",
    "candidate_pairs",
    "climbed_kdops",
    "coacd_available",
    "compound_contact",
    "contact",
    "contact_curves",
    "contact_region",
    "contacts",
    "contains",
    "crossing_triangles",
    "decomposed_mesh",
    "decomposed_polygon",
    "epa",
    "gjk",
    "gjk_intersects",
    "hull_graph",
    "inserted",
    "loose_parts",
    "mesh_contact",
    "mesh_convexity",
    "mesh_distance",
    "mesh_pieces",
    "minkowski_difference",
    "minkowski_sum",
    "minkowski_supports",
    "moved_extremes",
    "moved_kdops",
    "nearest_neighbours",
    "overlapping_pairs",
    "pairs_intersect",
    "points_to_mesh",
    "polygon_convexity",
    "refitted",
    "rotate",
    "sat",
    "self_crossings",
    "support",
    "supports",
    "tree_pairs",
    "verify",
    "volumes_of_shapes",
    "volumes_of_triangles",
    "winding_numbers",
]
