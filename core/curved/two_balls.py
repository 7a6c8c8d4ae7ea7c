# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact of two balls, or of two disks in the plane, from the distance of their centers."""

from __future__ import annotations

from math import dist

import numpy as np

from ..narrow_phase.relation import contact_band, relation_of_overlapping
from ..region.region import Region, RegionKind
from ..result import BallCertificate, Contact, Relation, Status
from ..shapes.curved_shape import ConvexShape
from ..shapes.feature import Feature, FeatureKind
from ..shapes.rounded import Rounded
from ..tolerance import CURVED_ROUNDING, EPS
from ..types import read_only

_CENTER = Feature(FeatureKind.VERTEX, (0,))
_CLEAR = 1e3
"""Times the rounding of a distance: centers this far apart have a direction."""


def two_balls_contact(a: ConvexShape, b: ConvexShape, clearance: float, contact_tolerance: float) -> Contact | None:
    """Return the contact of two balls of ordinary size; None where one is none, or about the center of the other."""
    core_a, core_b, radius_a, radius_b = a.skeleton, b.skeleton, a.rounding_radius, b.rounding_radius
    if not (isinstance(a, Rounded) and isinstance(b, Rounded)):
        return None  # an ellipsoid that is a ball has no vertex to name
    if core_a is None or core_b is None or len(core_a.vertices) > 1 or len(core_b.vertices) > 1:
        return None
    center_a, center_b = core_a._rows[0], core_b._rows[0]
    gap = dist(center_a, center_b)
    rounding = CURVED_ROUNDING * EPS * (gap + a.extent + b.extent + max(a.magnitude, b.magnitude))
    if gap <= _CLEAR * rounding or radius_a == 0.0 or radius_b == 0.0:
        return None
    direction = [(q - p) / gap + 0.0 for p, q in zip(center_a, center_b, strict=False)][: a.dim]
    normal = read_only(np.array(direction))
    on_a = [p + radius_a * n for p, n in zip(center_a, direction, strict=False)]
    on_b = [q - radius_b * n for q, n in zip(center_b, direction, strict=False)]
    signed_distance = gap - (radius_a + radius_b)
    band = contact_band(a, b, contact_tolerance)
    region, relation = None, Relation.SEPARATED
    if signed_distance <= max(band, clearance):
        middle = np.array([0.5 * p + 0.5 * q for p, q in zip(on_a, on_b, strict=True)])
        depths, point = read_only(np.array([-signed_distance])), read_only(middle)
        region = Region(RegionKind.POINT, point[None], 0.0, 0.0, point, depths, ((_CENTER, _CENTER),))
        relation = Relation.WITHIN_CLEARANCE
    if signed_distance <= band:
        a_in_b, b_in_a = gap + radius_a - radius_b <= band, gap + radius_b - radius_a <= band
        relation = relation_of_overlapping(a_in_b, b_in_a, signed_distance >= -band)
    return Contact(
        relation=relation,
        signed_distance=signed_distance,
        normal=normal,
        point_on_a=read_only(np.array(on_a)),
        point_on_b=read_only(np.array(on_b)),
        region=region,
        lower_bound=signed_distance - rounding,
        upper_bound=signed_distance + rounding,
        ties=read_only(normal[None]),
        feature_a=_CENTER,
        feature_b=_CENTER,
        method="centers, curved",
        iterations=0,
        status=Status.CERTIFIED,
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        certificate=BallCertificate(normal, None),
    )
