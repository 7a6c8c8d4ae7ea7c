# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of the contact regions of compounds and meshes: patches of pairs of pieces, and merged regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..shapes.feature import Feature, FeatureKind
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
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
class TrianglePatches(ReadOnlyArrays, Sequence[Patch]):
    """The patches of many pairs of triangles that face each other: each is made when it is asked for."""

    pairs: IntArray
    """(k, 2) `piece_a` and `piece_b`."""
    faces: IntArray
    """(k, 2, 3) the vertices of both triangles."""
    normals: FloatArray
    """(k, 3)."""
    vertices: FloatArray
    """(k, n, 3) beyond the number of vertices the first again."""
    counts: IntArray
    """(k,) the number of vertices."""
    depths: FloatArray
    """(k, n)."""
    areas: FloatArray
    """(k,)."""
    centroids: FloatArray
    """(k, 3)."""

    def __len__(self) -> int:
        """Return the number of patches."""
        return len(self.pairs)

    def __getitem__(self, k):  # type: ignore[no-untyped-def]
        """Return a patch, or those of a slice as a tuple."""
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        if not -len(self) <= k < len(self):
            raise IndexError(f"{k} of {len(self)} patches")
        count = int(self.counts[k])
        vertices = self.vertices[k, :count]
        sides = vertices - np.roll(vertices, 1, axis=0)
        face_a, face_b = (Feature(FeatureKind.FACE, tuple(face)) for face in self.faces[k].tolist())
        region = Region(
            RegionKind.POLYGON,
            vertices,
            float(self.areas[k]),
            float(np.sqrt((sides * sides).sum(axis=1)).sum()),
            self.centroids[k],
            self.depths[k, :count],
            ((face_a, face_b),) * count,
        )
        return Patch(int(self.pairs[k, 0]), int(self.pairs[k, 1]), self.normals[k], region)


@dataclass(frozen=True, eq=False)
class MergedRegion(ReadOnlyArrays):
    """Patches that lie in one plane (in the plane: on one line) and touch or overlap each other; world frame."""

    kind: RegionKind
    """The kind of its patches of highest dimension."""
    normal: FloatArray
    """(dim,) unit vector from A to B, of the largest patch."""
    patches: Sequence[Patch]
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
