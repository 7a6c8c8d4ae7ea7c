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
from .certificate import Certificate
from .contact import Contact, Method, Status, contact
from .epa import Penetration, epa
from .feature import Feature, FeatureKind
from .gjk import Simplex, gjk, gjk_intersects
from .hull import ConvexHull
from .polytope import Polytope
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

__all__ = [
    "Box",
    "BoxAxis",
    "Certificate",
    "Check",
    "Contact",
    "ConvexHull",
    "Feature",
    "FeatureKind",
    "Method",
    "MinkowskiPoints",
    "Penetration",
    "Polytope",
    "Region",
    "RegionKind",
    "Relation",
    "SatResult",
    "Simplex",
    "Status",
    "Verification",
    "box_sat",
    "boxes_intersect",
    "contact",
    "contact_region",
    "epa",
    "gjk",
    "gjk_intersects",
    "minkowski_difference",
    "minkowski_sum",
    "minkowski_supports",
    "rotate",
    "sat",
    "support",
    "supports",
    "verify",
]
