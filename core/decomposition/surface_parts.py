# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a surface of triangles: cut by a plane, and taken apart where they are not connected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..meshes.surface import connected_triangles
from ..types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SurfacePart:
    """Some triangles (m, 3) of a surface, indices of `points` (n, 3), which other parts may share."""

    points: FloatArray
    triangles: IntArray

    @property
    def corners(self) -> FloatArray:
        """(k, 3) the points that the triangles use."""
        return self.points.take(np.unique(self.triangles), axis=0)

    def cut(self, normal: FloatArray, offset: float, least: float) -> tuple[SurfacePart, SurfacePart]:
        """Return the parts under and above a plane; points nearer to it than `least` are on it.

        A triangle in the plane belongs to the side that its solid, under its front, is on.
        """
        ids, place = np.unique(self.triangles, return_inverse=True)
        points, triangles = self.points.take(ids, axis=0), place.reshape(-1, 3)
        heights = points @ normal - offset
        side = np.where(np.abs(heights) <= least, 0, np.sign(heights)).astype(np.intp)
        sides = side.take(triangles)
        lowest, highest = sides.min(axis=1), sides.max(axis=1)
        in_plane = (lowest == 0) & (highest == 0)
        a, b, c = points.take(triangles[in_plane], axis=0).transpose(1, 0, 2)
        faces_up = np.zeros(len(triangles), dtype=np.bool_)
        faces_up[in_plane] = np.cross(b - a, c - a) @ normal > 0.0
        is_under = (highest <= 0) & (~in_plane | faces_up)
        is_above = (lowest >= 0) & (~in_plane | ~faces_up)
        crossing = triangles[(lowest < 0) & (highest > 0)]
        points, under, above = _split(points, crossing, side, heights)
        return (
            SurfacePart(points, np.concatenate([triangles[is_under], under])),
            SurfacePart(points, np.concatenate([triangles[is_above], above])),
        )

    def loose_parts(self) -> list[SurfacePart]:
        """Return what is connected, as parts of their own."""
        ids, place = np.unique(self.triangles, return_inverse=True)
        triangles = place.reshape(-1, 3)
        label = connected_triangles(triangles, len(ids))
        if not len(label) or not label.any():
            return [self]
        order = np.argsort(label, kind="stable")
        ends = np.flatnonzero(np.diff(label.take(order))) + 1
        return [SurfacePart(self.points, group) for group in np.split(self.triangles.take(order, axis=0), ends)]


def joined(parts: list[SurfacePart]) -> SurfacePart:
    """Return parts as one."""
    if len(parts) == 1:
        return parts[0]
    if all(part.points is parts[0].points for part in parts):
        return SurfacePart(parts[0].points, np.concatenate([part.triangles for part in parts]))
    starts = np.cumsum([0, *(len(part.points) for part in parts[:-1])]).tolist()
    triangles = [part.triangles + start for part, start in zip(parts, starts, strict=True)]
    return SurfacePart(np.concatenate([part.points for part in parts]), np.concatenate(triangles))


def _split(
    points: FloatArray, triangles: IntArray, side: IntArray, heights: FloatArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the points with those where triangles cross a plane, and the triangles under and above it."""
    sides = side.take(triangles)
    # Turn each so that its first corner is the one alone on its side, or the one on the plane.
    total = sides.sum(axis=1)
    through = (sides == 0).any(axis=1)
    first = np.where(through, (sides == 0).argmax(axis=1), (sides == -total[:, None]).argmax(axis=1))
    rows = np.arange(len(triangles))
    a, b, c = (triangles[rows, (first + k) % 3] for k in range(3))
    # A corner in the plane: the side opposite is cut. One alone: both of its own sides are.
    starts = np.concatenate([b[through], a[~through], a[~through]])
    ends = np.concatenate([c[through], b[~through], c[~through]])
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    _, one, place = np.unique(low * len(points) + high, return_index=True, return_inverse=True)
    low, high = low[one], high[one]
    fraction = (heights[low] / (heights[low] - heights[high]))[:, None]
    new = points[low] + fraction * (points[high] - points[low])
    # Rounding may not carry a new point out of the box of its edge.
    new = np.clip(new, np.minimum(points[low], points[high]), np.maximum(points[low], points[high]))
    number = len(points) + place.ravel()
    t, s = int(through.sum()), int((~through).sum())
    x, y, z = number[:t], number[t : t + s], number[t + s :]
    alone = np.stack([a[~through], y, z], axis=1)
    others = np.concatenate([np.stack([y, b[~through], c[~through]], axis=1), np.stack([y, c[~through], z], axis=1)])
    up = side[a[~through]] > 0
    near_b = np.stack([a[through], b[through], x], axis=1)
    near_c = np.stack([a[through], x, c[through]], axis=1)
    b_up = side[b[through]] > 0
    under = [near_b[~b_up], near_c[b_up], alone[~up], others[np.tile(up, 2)]]
    above = [near_b[b_up], near_c[~b_up], alone[up], others[np.tile(~up, 2)]]
    return np.concatenate([points, new]), np.concatenate(under), np.concatenate(above)
