# SPDX-License-Identifier: GPL-3.0-or-later
"""Witness points of curved shapes that realise the signed distance, in the middle of the region where there is one."""

from __future__ import annotations

import numpy as np

from ..narrow_phase.polytope_contact import polytope_contact
from ..shapes.curved_shape import FlatFeature
from ..shapes.hull import ConvexHull
from ..tolerance import CURVED_BRACKET, CURVED_LEVEL, EPS
from ..types import FloatArray
from .curved_core import Core, rings

_AROUND = tuple(10.0**-k for k in range(9, 0, -1))
"""Angles around a normal, whose support points are all about as far along it. Rounding hides the best normal by the
root of EPS times the farthest coordinate over the radius of curvature: by the larger ones where that is tiny."""


def find_witness_points(
    one: Core,
    other: Core,
    known: tuple[FloatArray, FloatArray],
    normal: FloatArray,
    slab: float,
    centroid: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Return points of both cores that are as far apart as the slab across the normal is wide, along the normal.

    The best of those known, of the support points, and of those over the middle of the contact region, if given.
    """
    tops = one.supports(normal[None])[0], other.supports(-normal[None])[0]
    pairs = [known, tops]
    if centroid is not None:
        over = [centroid + float((top - centroid) @ normal) * normal for top in tops]
        pairs.append((over[0], over[1]))
    misses = [float(np.linalg.norm(q - p - slab * normal)) for p, q in pairs]
    if min(misses) > CURVED_BRACKET * min(one.shape.extent, other.shape.extent):
        pairs.append(_balanced(one, other, normal, slab))
        misses.append(float(np.linalg.norm(pairs[-1][1] - pairs[-1][0] - slab * normal)))
    # Of equally good ones the last: it is at the middle.
    slack = 4.0 * EPS * max(float(np.abs(tops[0]).max()), float(np.abs(tops[1]).max()))
    return pairs[max(k for k, miss in enumerate(misses) if miss <= min(misses) + slack)]


def _balanced(one: Core, other: Core, normal: FloatArray, slab: float) -> tuple[FloatArray, FloatArray]:
    """Return points of both cores between the support points of directions close around the normal, such that the
    vector from one to the other is along it as nearly as can be.

    On an edge, or where it is nearly flat, a shape has many points that are as far along the normal; one support point
    of each is then not enough.
    """
    directions = np.concatenate([normal[None], rings(normal, _AROUND)])
    on_a, on_b = one.supports(directions), other.supports(-directions) - slab * normal
    near = polytope_contact(ConvexHull(on_a), ConvexHull(on_b), contact_tolerance=0.0)
    return near.point_on_a, near.point_on_b + slab * normal


def contains_foot(feature: FlatFeature, normal: FloatArray, place: FloatArray) -> bool:
    """Tell whether a feature is level, and `place` is over or under it: both to rounding."""
    slack = CURVED_LEVEL * EPS * float(np.abs(feature.points).max())
    first = feature.points[0]
    if feature.disk_axis is not None:
        tilt = feature.disk_radius * float(np.linalg.norm(np.cross(feature.disk_axis, normal)))
        off = place - first - float((place - first) @ normal) * normal
        return 2.0 * tilt <= slack and float(np.linalg.norm(off)) <= feature.disk_radius + slack
    heights = (feature.points - first) @ normal
    if float(np.ptp(heights)) > slack:
        return False
    foot = place - float((place - first) @ normal) * normal
    if len(feature.points) <= 2:
        direction = feature.points[-1] - first
        square = float(direction @ direction)
        fraction = min(max(float((foot - first) @ direction) / square, 0.0), 1.0) if square > 0.0 else 0.0
        return float(np.linalg.norm(foot - first - fraction * direction)) <= slack
    return polytope_contact(ConvexHull(foot[None]), ConvexHull(feature.points)).signed_distance <= slack
