# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact region: where the two support features meet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .feature import Feature
from .polytope import FloatArray, Polytope


class RegionKind(StrEnum):
    """What the contact region is."""

    POINT = "point"
    SEGMENT = "segment"
    POLYGON = "polygon"


@dataclass(frozen=True, eq=False)
class Region:
    """Intersection of the two support features in the contact plane. Source: S2.2 to S2.6.

    The contact plane is across the contact normal, half-way between the two support planes, so that swapping the
    shapes changes nothing.
    """

    kind: RegionKind
    vertices: FloatArray
    """(k, dim) world frame; 1 point, 2 ends of a segment, or a convex polygon counter-clockwise seen from the tip
    of the normal."""
    area: float
    """Area of the polygon, world units squared; 0.0 for a point or a segment."""
    length: float
    """Length of the segment or perimeter of the polygon, world units; 0.0 for a point."""
    centroid: FloatArray
    """(dim,) area centroid of the polygon, middle of the segment, or the point."""
    depths: FloatArray
    """(k,) how far the two features are inside each other along the normal at each vertex: > 0 penetrating."""
    features: tuple[tuple[Feature, Feature], ...]
    """For each vertex, the feature of A and the feature of B it lies on."""


def contact_region(
    a: Polytope, b: Polytope, normal: FloatArray, feature_width: float, point_on_a: FloatArray, point_on_b: FloatArray
) -> Region:
    raise NotImplementedError
