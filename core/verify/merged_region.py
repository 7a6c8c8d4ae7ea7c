# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether area, length and centroid of a merged region are those of its outline, whose chords stand for arcs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..region.merged_region import MergedRegion, TrianglePatches
from ..region.region import Region, RegionKind
from ..types import FloatArray
from .region import segment_distances

_SMALL_ARC = 1e-3
"""Angle below which the area between an arc and its chord is the first term of its series: the next is 1e-7 of it."""
_LONGEST_CHORD = np.pi / 90.0
"""Angle of the longest side of an outline that stands for an arc: they are half of that, or a little more."""

_Arc = tuple[int, FloatArray, float]
"""The side that is an arc, or stands for one; center and radius of the circle."""


def differences(region: MergedRegion, rounding: float) -> Iterator[tuple[str, float, float]]:
    """Return by how much area, length and centroid differ from those of the outline, and what that is relative to.

    Where corners are rounded to the width of a sliver, or the length of an outline, so are area and centroid.
    """
    if region.kind is RegionKind.POINT:
        yield "area of a point", abs(region.area) + abs(region.length), 1.0
        return
    sides = region.outline - region.centroid
    lengths = np.linalg.norm(sides[:, 1] - sides[:, 0], axis=1)
    total = float(lengths.sum())
    off = float(np.linalg.norm(lengths @ sides.sum(axis=1))) / max(2.0 * total, np.finfo(np.float64).tiny)
    if region.kind is RegionKind.SEGMENT:
        yield "length", max(0.0, abs(total - region.length) - rounding), total
        yield "centroid", max(0.0, off - rounding), total
        yield "area of a segment", abs(region.area), total * total
        return
    area, total, moment = _measure(sides, region.normal, _chords(region, rounding))
    yield "length", max(0.0, abs(total - region.length) - rounding), total
    yield "area", max(0.0, abs(area - region.area) - rounding * total), abs(area)
    if area > rounding * total:
        off = float(np.linalg.norm(moment)) / area
        yield "centroid", max(0.0, off - rounding * total * total / area), total
    else:
        yield "centroid of a sliver", max(0.0, off - 0.5 * total), total


def patch_differences(region: MergedRegion, rounding: float) -> Iterator[tuple[str, float, float]]:
    """Return by how much the areas of patches differ from those of their outlines, and that of the region is less than
    the largest or more than all together, and what that is relative to."""
    if region.kind is not RegionKind.POLYGON:
        return
    areas: list[float] = []
    for patch in region.patches:
        if patch.region.kind is not RegionKind.POLYGON:
            continue
        origin = patch.region.vertices[0]
        arcs = [(arc.side, arc.center - origin, arc.radius) for arc in patch.region.arcs]
        own, around, _ = _measure(_sides(patch.region) - origin, patch.normal, arcs)
        yield "area of a patch", max(0.0, abs(own - patch.region.area) - rounding * around), max(region.area, own)
        areas.append(own)
    beyond = max(max(areas, default=0.0) - region.area, region.area - sum(areas))
    yield "area of the patches together", max(0.0, beyond - rounding * region.length), region.area


def _sides(region: Region) -> FloatArray:
    """Return the sides (k, 2, dim) of a polygon, of arcs their chords."""
    return np.stack([region.vertices, np.roll(region.vertices, -1, axis=0)], axis=1)


def _measure(sides: FloatArray, normal: FloatArray, arcs: list[_Arc]) -> tuple[float, float, FloatArray]:
    """Return area, length, and area times centroid of what sides (s, 2, dim) go around, some of them chords of arcs."""
    start, stop = sides[:, 0], sides[:, 1]
    lengths = np.linalg.norm(stop - start, axis=1)
    twice = np.cross(start, stop) @ normal
    area, length, moment = 0.5 * float(twice.sum()), float(lengths.sum()), twice @ (start + stop) / 6.0
    if arcs:
        rows = [side for side, _, _ in arcs]
        centers, radii = np.array([center for _, center, _ in arcs]), np.array([radius for _, _, radius in arcs])
        out = start[rows] - centers
        angle = _angles(out, stop[rows] - centers, normal)
        beyond = np.where(angle > _SMALL_ARC, 0.5 * (angle - np.sin(angle)), angle**3 / 12.0) * radii * radii
        towards = np.cos(0.5 * angle)[:, None] * out + np.sin(0.5 * angle)[:, None] * np.cross(normal, out)
        area += float(beyond.sum())
        length += float((radii * angle - lengths[rows]).sum())
        moment = moment + beyond @ centers + (radii * radii * np.sin(0.5 * angle) ** 3) @ towards / 1.5
    return area, length, moment


def _angles(start: FloatArray, stop: FloatArray, normal: FloatArray) -> FloatArray:
    """Return the angles (k,) from vectors to others, counter-clockwise about a normal, in 0 to 2 pi."""
    return np.arctan2(np.cross(start, stop) @ normal, (start * stop).sum(axis=1)) % (2.0 * np.pi)


def _chords(region: MergedRegion, rounding: float) -> list[_Arc]:
    """Return the short sides of an outline that stand for arcs, about its centroid: both ends are on the circle of a
    patch, and no straight side of a patch is along it."""
    if isinstance(region.patches, TrianglePatches):
        return []
    polygons = [patch.region for patch in region.patches if patch.region.kind is RegionKind.POLYGON]
    circles = {(*arc.center.tolist(), arc.radius) for of_patch in polygons for arc in of_patch.arcs}
    if not circles:
        return []
    straight = np.concatenate(
        [np.delete(_sides(of_patch), [arc.side for arc in of_patch.arcs], axis=0) for of_patch in polygons]
    )
    start, stop = region.outline[:, 0], region.outline[:, 1]
    found: dict[int, _Arc] = {}
    for *center, radius in sorted(circles):
        out, to = start - center, stop - center
        off = np.maximum(np.abs(np.linalg.norm(out, axis=1) - radius), np.abs(np.linalg.norm(to, axis=1) - radius))
        for k in np.flatnonzero((off <= rounding) & (_angles(out, to, region.normal) <= _LONGEST_CHORD)).tolist():
            along = straight[(straight[:, 1] - straight[:, 0]) @ (stop[k] - start[k]) > 0.0]
            ends = (segment_distances(np.broadcast_to(end, along[:, 0].shape), along) for end in (start[k], stop[k]))
            if not (np.maximum(*ends) <= rounding).any():
                found[k] = k, np.array(center) - region.centroid, radius
    return list(found.values())
