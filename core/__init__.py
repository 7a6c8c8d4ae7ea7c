# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex collision detection in pure Python and numpy: SAT, GJK, EPA, contact regions, each answer with its proof.

    from contact_lens.core import ConvexHull, contact, verify

    a, b = ConvexHull(points_a), ConvexHull(points_b)
    c = contact(a, b)
    print(c.relation, c.signed_distance, c.normal, verify(c, a, b).ok)

No Blender needed. Points are arrays (n, 3) or (n, 2); lengths are in the unit of the coordinates.
"""

from .box import Box, rotate
from .box_sat import BoxAxis, box_sat, boxes_intersect
from .broad_phase import Candidates, candidate_pairs, overlapping_pairs
from .bvh import REBUILD_COST, Bvh, refitted
from .bvh_build import build_bvh
from .bvh_insert import inserted
from .bvh_pairs import TreePairs, tree_pairs
from .certificate import Certificate
from .contact import Contact, Method, Status, contact
from .epa import Penetration, epa
from .feature import Feature, FeatureKind
from .gjk import Simplex, gjk, gjk_intersects
from .hull import ConvexHull
from .kdop_update import Extremes, HullGraph, climbed_kdops, hull_graph, moved_extremes, moved_kdops
from .polytope import Polytope
from .progress import Cancelled, Progress
from .region import Region, RegionKind, contact_region
from .relation import Relation
from .sat import SatResult, sat
from .support import (
    MinkowskiPoints,
    minkowski_difference,
    minkowski_sum,
    minkowski_supports,
    support,
    supports,
)
from .verify import Check, Verification, verify
from .volumes import Volumes, bounding_volumes, volumes_of_shapes, volumes_of_triangles

__all__ = [
    "REBUILD_COST",
    "Box",
    "BoxAxis",
    "Bvh",
    "Cancelled",
    "Candidates",
    "Certificate",
    "Check",
    "Contact",
    "ConvexHull",
    "Extremes",
    "Feature",
    "FeatureKind",
    "HullGraph",
    "Method",
    "MinkowskiPoints",
    "Penetration",
    "Polytope",
    "Progress",
    "Region",
    "RegionKind",
    "Relation",
    "SatResult",
    "Simplex",
    "Status",
    "TreePairs",
    "Verification",
    "Volumes",
    "bounding_volumes",
    "box_sat",
    "boxes_intersect",
    "build_bvh",
    "candidate_pairs",
    "climbed_kdops",
    "contact",
    "contact_region",
    "epa",
    "gjk",
    "gjk_intersects",
    "hull_graph",
    "inserted",
    "minkowski_difference",
    "minkowski_sum",
    "minkowski_supports",
    "moved_extremes",
    "moved_kdops",
    "overlapping_pairs",
    "refitted",
    "rotate",
    "sat",
    "support",
    "supports",
    "tree_pairs",
    "verify",
    "volumes_of_shapes",
    "volumes_of_triangles",
]
