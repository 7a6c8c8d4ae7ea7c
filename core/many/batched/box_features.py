# SPDX-License-Identifier: GPL-3.0-or-later
"""The support features of many boxes in their contact planes: a vertex, an edge or a face each.

In the contact plane a feature is its centre and up to two arms: from the centre to the end of an edge, or to the
middles of two sides of a face.

1. Axes of the box along which it rises by no more than the band belong to the feature: they are its arms.
2. Along the others the feature is at that end of the box which is extreme along the normal.

Source: S2.2.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import product

import numpy as np

from ...shapes.box import Box
from ...shapes.feature import Feature, FeatureKind
from ...types import BoolArray, FloatArray, IntArray
from .boxes import BoxColumns
from .columns import add_rows, einsum


def _name_features() -> tuple[Feature, ...]:
    """Return the 27 features of boxes that are not mirrored, then of those that are: by the place along each axis, low,
    between or high."""
    facets = [facet.tolist() for facet in Box((0, 0, 0), (1, 1, 1)).facets]
    result = []
    for mirrored in (False, True):
        for signs in product((-1, 0, 1), repeat=3):
            on = [k for k in range(8) if all(s == 0 or (k >> (2 - c)) % 2 == (s > 0) for c, s in enumerate(signs))]
            kind = FeatureKind.VERTEX if len(on) == 1 else FeatureKind.EDGE if len(on) == 2 else FeatureKind.FACE
            if len(on) == 4:
                on = next(facet for facet in facets if sorted(facet) == on)
            # A face begins at its lowest index, as in regions of single pairs.
            result.append(Feature(kind, tuple([on[0], *on[:0:-1]] if mirrored and len(on) == 4 else on)))
    return tuple(result)


FEATURES = _name_features()
"""The features that `SupportFeatures.number_at` numbers; 27 more for mirrored boxes."""
_FIRST_AND_LAST_AXIS = np.array([[0, 0, 1, 0, 2, 0, 1, 0], [2, 0, 1, 1, 2, 2, 2, 2]])
"""The first and the last of the axes whose bits are set."""


@dataclass(frozen=True, eq=False)
class SupportFeatures:
    """The support features of one box of each pair, in the contact plane; one column per pair."""

    boxes: IntArray
    """(n,) number of the box."""
    center: FloatArray
    """(2, n) in the contact plane."""
    arms: FloatArray
    """(2, 2, n) first and second arm, x and y; 0 where there is none."""
    rise: FloatArray
    """(2, n) how much higher the end of each arm is."""
    height: FloatArray
    """(n,) of the centre."""
    support: FloatArray
    """(n,) height of the vertex that is extreme toward the other box."""
    level: BoolArray
    """(n,) whether the whole feature is as high as the support, to rounding."""
    count: IntArray
    """(n,) number of arms: 0 for a vertex, 1 for an edge, 2 for a face."""
    axes: IntArray
    """(2, n) axis of the box of each arm."""
    ends: FloatArray
    """(3, n) on which end of each axis of the box the centre is: -1 or 1; 0 along the arms."""
    complete: BoolArray
    """(n,) whether this is the whole support feature."""

    @classmethod
    def of(
        cls,
        boxes: BoxColumns,
        numbers: IntArray,
        basis: FloatArray,
        origin: FloatArray,
        band: FloatArray,
        slack: FloatArray,
        top: bool,
    ) -> SupportFeatures:
        """Return the features of boxes `numbers` (n,) within `band` (n,) of their highest vertices, or of their lowest.

        Rows of `basis` (3, 3, n) are x, y and up of the contact plane through `origin` (3, n); `slack` (n,) is the
        rounding of a height.
        """
        frames = boxes.frames[:15].take(numbers, axis=1, mode="clip")
        half, axes = frames[12:15], frames[3:12].reshape(3, 3, -1)
        arms = einsum("bcn,kcn->kbn", basis, axes)
        arms *= half[:, None]
        center = einsum("bcn,cn->bn", basis, frames[:3] - origin)
        rise = np.abs(arms[:, 2])
        span = 2.0 * rise
        free = span <= band
        uneven = add_rows(np.where(free, span, 0.0))
        support = add_rows(rise)
        np.add(center[2], support if top else -support, out=support)
        ends = np.copysign(1.0 if top else -1.0, arms[:, 2] if top else -arms[:, 2])
        ends *= ~free
        center += einsum("kn,kbn->bn", ends, arms)
        count = np.add.reduce(free, axis=0, dtype=np.intp)
        which = _FIRST_AND_LAST_AXIS.take(np.array([1, 2, 4]) @ free, axis=1, mode="clip")
        chosen, columns = np.zeros((2, 3, len(numbers))), np.arange(len(numbers))
        for k in range(min(int(count.max(initial=0)), 2)):
            place = which[k] * (3 * len(numbers)) + columns
            for row in chosen[k]:
                np.multiply(arms.ravel().take(place), count > k, out=row)
                place += len(numbers)
        complete = (count <= 2) & (uneven <= band)
        plane = center[:2], chosen[:, :2], chosen[:, 2], center[2], support, uneven <= slack
        return cls(numbers, *plane, count, which, ends, complete)

    def take(self, columns: IntArray) -> SupportFeatures:
        """Return these columns."""
        return SupportFeatures(*(getattr(self, field.name).take(columns, axis=-1) for field in fields(self)))

    def heights(self, points: FloatArray) -> FloatArray:
        """Return the heights of the features at points (2, n) of the plane."""
        along = self.along_arms(points)
        height = self.height + along[0] * self.rise[0] + along[1] * self.rise[1]
        return np.where(self.level, self.support, height)

    def along_arms(self, points: FloatArray) -> FloatArray:
        """Return (2, n) the coordinates of points (2, n) along the arms, -1 to 1."""
        dx, dy = points - self.center
        (ux, uy), (vx, vy) = self.arms
        # An edge gets a second arm across it; its coordinate does not count.
        edge = self.count == 1
        vx, vy = np.where(edge, -uy, vx), np.where(edge, ux, vy)
        area = ux * vy - uy * vx
        area = np.where(area == 0.0, 1.0, area)
        along = np.array([dx * vy - dy * vx, ux * dy - uy * dx]) / area
        along[1, edge] = 0.0
        return np.clip(along, -1.0, 1.0)

    def number_at(self, points: FloatArray, near: FloatArray) -> IntArray:
        """Return (n,) which of the 27 features of its box each point (2, n) is on, to `near` (n,)."""
        along, ends, columns = self.along_arms(points), self.ends.copy(), np.arange(len(near))
        (ux, uy), (vx, vy) = self.arms
        area, first, second = np.abs(ux * vy - uy * vx), np.hypot(ux, uy), np.hypot(vx, vy)
        for k, (own, other) in enumerate(((first, second), (second, first))):
            width = np.where(self.count == 2, area / np.where(other > 0.0, other, 1.0), own)
            on = (self.count > k) & ((1.0 - np.abs(along[k])) * width <= near)
            ends[self.axes[k, on], columns[on]] = np.where(along[k, on] > 0.0, 1.0, -1.0)
        return (9.0 * ends[0] + 3.0 * ends[1] + ends[2] + 13.0).astype(np.intp)
