# SPDX-License-Identifier: GPL-3.0-or-later
"""The support features of many pairs of polytopes: how many vertices they have, and their contact regions where one has
a single vertex, or both are edges that cross. Such a region is a point, and a `Region` is made on access.

Source: S2.2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...region.region import Region, RegionKind, region_between
from ...runs import chunks
from ...shapes.polytope import Polytope
from ...tolerance import EPS, REGION_SUPPORT, REGION_TILT
from ...types import BoolArray, FloatArray, IntArray, read_only
from ...vectors import cross, dot, length
from .columns import CHUNK
from .hull_pairs import HullPairs, vertices_of
from .hull_table import HullTable
from .pair_regions import RegionMeasures

if TYPE_CHECKING:
    from .bodies import Bodies

_WIDER = 2.0
"""Times the width of a support feature: where no other vertex is nearer, it is a vertex or an edge for sure."""
ON_ONE_LINE = 2.0
"""Times the width of support features: edges whose ends all are within the width of a line have half the shorter one
no farther across the other."""
_TINY = 1e-290
"""Not relative: less than the length of any edge but 0, with a finite inverse."""
_CROSSING = 1e-3
"""Sine between two edges above which they cross in a point."""


def touch_in_points(
    table: HullTable, i: IntArray, j: IntArray, normal: FloatArray, widths: tuple[FloatArray, FloatArray]
) -> BoolArray:
    """Return (n,) whether the contact regions of polytopes i (n,) and j (n,) across normals (3, n) are points for sure;
    `widths` (n,) are those of the support features of A and B."""
    result = np.zeros(len(i), dtype=bool)
    for part in chunks(len(i), CHUNK):
        a, b, across = i[part], j[part], np.ascontiguousarray(normal[:, part])
        pairs = HullPairs(table, a, b)
        ids = vertices_of(pairs.supports(across)[3])
        features = [
            support_features(pairs, across, _WIDER * (width[part] + pairs.rounding), numbers, index, side)
            for side, (numbers, index, width) in enumerate(zip((a, b), ids, widths, strict=True))
        ]
        (count_a, edge_a, _), (count_b, edge_b, _) = features
        edges = (count_a == 2) & (count_b == 2) & ~are_parallel(edge_a, edge_b, _CROSSING)
        # The ends of shorter ones may be on one line to the width of the features.
        beside = length(cross(edge_a, edge_b)) / np.maximum(np.maximum(length(edge_a), length(edge_b)), _TINY)
        edges &= beside > 2.0 * ON_ONE_LINE * np.maximum(widths[0][part], widths[1][part])
        result[part] = (count_a == 1) | (count_b == 1) | edges
    return result


def feature_widths(
    band: FloatArray, extents: tuple[FloatArray, FloatArray], magnitude: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the widths (n,) of the support features of A and of B, as `region_between` widens them."""
    slack = REGION_SUPPORT * EPS * magnitude
    small = np.minimum(*extents)
    small = np.where(small > 0.0, small, np.maximum(*extents))
    tilt = np.where(small > 0.0, np.minimum(slack / np.where(small > 0.0, small, 1.0), REGION_TILT), 0.0)
    return np.maximum(band, slack + tilt * extents[0]), np.maximum(band, slack + tilt * extents[1])


class PointRegions:
    """Regions of pairs of polytopes that are points."""

    def __init__(
        self,
        bodies: Bodies,
        i: IntArray,
        j: IntArray,
        band: FloatArray,
        normal: FloatArray,
        on_a: FloatArray,
        on_b: FloatArray,
    ) -> None:
        """Take bodies i (n,) and j (n,), widths of features (n,), normals and witness points (n, 3)."""
        self._bodies, self._i, self._j, self._band = bodies, i, j, band
        self._normal, self._points = normal, (on_a, on_b)
        self._regions: dict[int, Region] = {}

    def region(self, k: int) -> Region:
        """Return the region of pair k; the same object each time."""
        if k not in self._regions:
            a, b = self._bodies.shape(int(self._i[k])), self._bodies.shape(int(self._j[k]))
            assert isinstance(a, Polytope)
            assert isinstance(b, Polytope)
            on_a, on_b = (points[k] for points in self._points)
            region = region_between(a, b, self._normal[k], float(self._band[k]), on_a.tolist(), on_b.tolist())
            if region.kind == RegionKind.POINT:
                middle = read_only(0.5 * on_a + 0.5 * on_b)
                region = replace(region, vertices=middle[None], centroid=middle)
            self._regions[k] = region
        return self._regions[k]

    def measures(self, pairs: IntArray) -> RegionMeasures:
        """Return the measures of the regions of pairs (n,): of points."""
        on_a, on_b = (points.take(pairs, axis=0) for points in self._points)
        return RegionMeasures(np.zeros(len(pairs), dtype=np.intp), np.zeros(len(pairs)), 0.5 * on_a + 0.5 * on_b)


def are_parallel(u: FloatArray, v: FloatArray, sine: float) -> BoolArray:
    """Return (m,) whether the sines of the angles between vectors (3, m) are at most `sine`."""
    across = cross(u, v)
    return dot(across, across) <= sine**2 * (dot(u, u) * dot(v, v))


def support_features(
    pairs: HullPairs, normal: FloatArray, width: FloatArray, numbers: IntArray, vertex: IntArray, side: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return of A (side 0) along the normals (3, m), or of B (side 1) against them: how many vertices are within
    `width` (m,) of the height of `vertex` (m,) or higher; the edge (3, m) from it to the other one where they are two;
    and by how much the highest is higher."""
    table, total = pairs.table, normal.shape[1]
    columns = np.arange(total)
    found = []
    for part, vertices, heights in pairs.vertex_heights((-normal if side else normal)[:, None], side):
        size = vertices.shape[2]
        own = heights.take(vertex[part] + size * columns[: len(heights)])
        place = np.flatnonzero(heights[:, 0] >= (own - width[part])[:, None])
        row = place // size
        found.append((columns[part].take(row), place - size * row, heights.take(place) - own.take(row)))
    row, index, above = (np.concatenate(parts) for parts in zip(*found, strict=True))
    real = np.flatnonzero(index < table.count.take(numbers).take(row))  # not padding
    row, index, above = row.take(real), index.take(real), above.take(real)
    beyond = np.zeros(total)
    starts = np.flatnonzero(np.diff(row, prepend=-1))  # the vertices of a polytope follow each other
    beyond[row.take(starts)] = np.maximum.reduceat(above, starts)
    number = np.bincount(row, minlength=total)
    other = np.bincount(row, index, total).astype(np.intp) - vertex
    edge = np.zeros((3, total))
    two = np.flatnonzero(number == 2)
    ends = table.vertices(numbers.take(two), np.stack([vertex, other]).take(two, axis=1))
    edge[:, two] = ends[:, 1] - ends[:, 0]
    return number, edge, beyond
