# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of the contact regions of compounds and meshes: patches of pairs of pieces, and merged regions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..types import FloatArray, ReadOnlyArrays, read_only
from .region import Region, RegionKind, scaled_area


@dataclass(frozen=True, eq=False)
class Patch(ReadOnlyArrays):
    """The contact region of one pair of pieces; of meshes that touch, of one pair of triangles."""

    piece_a: int
    """Index of the piece or triangle of A; of the facets of a polytope, in fans, that is beside a mesh."""
    piece_b: int
    """Index of the piece or triangle of B."""
    normal: FloatArray
    """(dim,) unit vector from A to B of this pair."""
    region: Region
    """World frame."""

    def scaled(self, exponent: int) -> Patch:
        """Return the patch of pieces scaled by 2**exponent."""
        return replace(self, region=self.region.scaled(exponent))


@dataclass(frozen=True, eq=False)
class MergedRegion(ReadOnlyArrays):
    """Patches that lie in one plane (in the plane: on one line) and touch or overlap each other; world frame."""

    kind: RegionKind
    """The kind of its patches of highest dimension."""
    normal: FloatArray
    """(dim,) unit vector from A to B, of the largest patch."""
    patches: tuple[Patch, ...]
    """The largest first. They include points and segments within a larger patch."""
    area: float
    """Area of the union of the polygons, world units squared: where patches overlap it counts once. Of more than 300
    patches of triangles it counts as often as they overlap."""
    length: float
    """Length of the union of the segments, or of the outline of the polygons; world units."""
    centroid: FloatArray
    """(dim,) centroid of the area of the union, of its length, or the point."""
    outline: FloatArray
    """(s, 2, dim) sides of the union of the polygons, inner seams left out, counter-clockwise about the normal; or the
    segments of the union of segments."""

    def scaled(self, exponent: int) -> MergedRegion:
        """Return the region of compounds scaled by 2**exponent; an area beyond float64 is infinite."""
        return replace(
            self,
            patches=tuple(patch.scaled(exponent) for patch in self.patches),
            area=scaled_area(self.area, exponent),
            length=float(np.ldexp(self.length, exponent)),
            centroid=read_only(np.ldexp(self.centroid, exponent)),
            outline=read_only(np.ldexp(self.outline, exponent)),
        )
