# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact region of curved shapes: the intersection of their flat support features.

Strictly curved surfaces touch in a point; the side of a cylinder in a segment; flat ends in polygons and disks, whose
outlines have arcs. Source: S2.2 to S2.6.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..region.region import Arc, Region, RegionKind, region_between
from ..shapes.curved_shape import ConvexShape, FlatFeature, across
from ..shapes.feature import Feature, FeatureKind
from ..shapes.hull import ConvexHull
from ..tolerance import EPS, REGION_ROUNDING
from ..types import FloatArray, read_only
from .disk_region import Disk, RoundOutline, disk_and_disk, disk_and_points, measures


def curved_region(
    feature_a: FlatFeature,
    feature_b: FlatFeature,
    normal: FloatArray,
    radius_a: float,
    radius_b: float,
    band: float,
    a: ConvexShape,
    b: ConvexShape,
    witnesses: tuple[FloatArray, FloatArray],
) -> Region | None:
    """Return the intersection of the support features of two cores, offset by their radii; None when a disk misses the
    other.

    `witnesses` are points of both cores near each other, which are the region where polytopes miss each other by
    rounding.
    """
    points_a, points_b = feature_a.points + radius_a * normal, feature_b.points - radius_b * normal
    tolerance = REGION_ROUNDING * EPS * max(a.magnitude, b.magnitude)
    if feature_a.disk_radius == 0.0 and feature_b.disk_radius == 0.0:
        on_a, on_b = witnesses[0] + radius_a * normal, witnesses[1] - radius_b * normal
        hull_a, hull_b = (ConvexHull(points) for points in (points_a, points_b))
        found = region_between(hull_a, hull_b, normal, band, on_a.tolist(), on_b.tolist())
        pairs = [
            (_feature_of(on_feature_a, hull_a, feature_a), _feature_of(on_feature_b, hull_b, feature_b))
            for on_feature_a, on_feature_b in found.features
        ]
        return replace(found, features=tuple(pairs))
    x_axis, y_axis = across(normal)
    origin = points_a[0]
    height = float((points_b[0] - origin) @ normal)
    flat = []
    for points, feature in ((points_a, feature_a), (points_b, feature_b)):
        local = [(float((p - origin) @ x_axis), float((p - origin) @ y_axis)) for p in points]
        flat.append(Disk(*local[0], feature.disk_radius) if feature.disk_radius > 0.0 else _wind(local))
    outline = _intersect(flat[0], flat[1], tolerance)
    if outline is None:
        return None
    area, length, (x, y) = measures(outline)
    kind = RegionKind.POLYGON if area > 0.0 else (RegionKind.SEGMENT if len(outline.corners) == 2 else RegionKind.POINT)
    middle = origin + 0.5 * height * normal

    def place(u: float, v: float) -> FloatArray:
        return middle + u * x_axis + v * y_axis

    corners = outline.corners if kind is not RegionKind.POINT else outline.corners[:1]
    arcs = tuple(
        Arc(side, read_only(place(disk.x, disk.y)), disk.radius)
        for side, disk in enumerate(outline.arcs)
        if disk is not None and kind is RegionKind.POLYGON
    )
    return Region(
        kind,
        read_only(np.array([place(u, v) for u, v in corners])),
        area,
        length if kind is not RegionKind.POINT else 0.0,
        read_only(place(x, y)),
        read_only(np.full(len(corners), -height)),
        ((whole_feature(feature_a), whole_feature(feature_b)),) * len(corners),
        arcs,
    )


def whole_feature(support: FlatFeature) -> Feature:
    """Return the whole support feature as a face, edge or vertex, with the core's vertices if any."""
    if support.disk_radius > 0.0 or len(support.points) > 2:
        return Feature(FeatureKind.FACE, support.ids)
    return Feature(FeatureKind.EDGE if len(support.points) > 1 else FeatureKind.VERTEX, support.ids)


def _feature_of(found: Feature, hull: ConvexHull, support: FlatFeature) -> Feature:
    """Return a feature of the hull of a support feature's points as one of the shape, with the core's vertices if
    any."""
    if not support.ids:
        return Feature(found.kind, ())
    return Feature(found.kind, tuple(support.ids[hull.vertex_ids[k]] for k in found.vertices))


def _wind(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of a convex polygon counter-clockwise."""
    if len(points) < 3:
        return points
    area = sum(
        ax * by - ay * bx
        for (ax, ay), (bx, by) in zip(
            [(x - points[0][0], y - points[0][1]) for x, y in points],
            [(x - points[0][0], y - points[0][1]) for x, y in points[1:] + points[:1]],
            strict=True,
        )
    )
    return points if area > 0.0 else points[::-1]


def _intersect(
    a: Disk | list[tuple[float, float]], b: Disk | list[tuple[float, float]], tolerance: float
) -> RoundOutline | None:
    if isinstance(a, Disk):
        return disk_and_disk(a, b, tolerance) if isinstance(b, Disk) else disk_and_points(a, b, tolerance)
    assert isinstance(b, Disk)
    return disk_and_points(b, a, tolerance)
