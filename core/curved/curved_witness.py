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
"""Angles around a normal whose support points are about equally far along it. The error of the best normal is the root
of EPS times the farthest coordinate over the radius of curvature: the larger angles are for tiny radii."""


def find_witness_points(
    core_a: Core,
    core_b: Core,
    known: tuple[FloatArray, FloatArray],
    normal: FloatArray,
    slab: float,
    centroid: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Return points of both cores that are as far apart as the slab across the normal is wide, along the normal.

    The best of the known points, of the support points, and of those over the middle of the contact region, if given.
    """
    tops = core_a.supports(normal[None])[0], core_b.supports(-normal[None])[0]
    pairs = [known, tops]
    if centroid is not None:
        over = [centroid + float((top - centroid) @ normal) * normal for top in tops]
        pairs.append((over[0], over[1]))
    misses = [float(np.linalg.norm(q - p - slab * normal)) for p, q in pairs]
    if min(misses) > CURVED_BRACKET * min(core_a.shape.extent, core_b.shape.extent):
        pairs.append(_balance(core_a, core_b, normal, slab))
        misses.append(float(np.linalg.norm(pairs[-1][1] - pairs[-1][0] - slab * normal)))
    # The last of equally good ones, which is at the middle.
    slack = 4.0 * EPS * max(float(np.abs(tops[0]).max()), float(np.abs(tops[1]).max()))
    return pairs[max(k for k, miss in enumerate(misses) if miss <= min(misses) + slack)]


def _balance(core_a: Core, core_b: Core, normal: FloatArray, slab: float) -> tuple[FloatArray, FloatArray]:
    """Return points of both cores between the support points of directions around the normal, such that the vector
    between them is as nearly as possible along it.

    On an edge, or where it is nearly flat, a shape has many points equally far along the normal; one support point of
    each is then not enough.
    """
    directions = np.concatenate([normal[None], rings(normal, _AROUND)])
    on_a, on_b = core_a.supports(directions), core_b.supports(-directions) - slab * normal
    near = polytope_contact(ConvexHull(on_a), ConvexHull(on_b), contact_tolerance=0.0)
    return near.point_on_a, near.point_on_b + slab * normal


def contains_foot(feature: FlatFeature, normal: FloatArray, place: FloatArray) -> bool:
    """Return whether a feature is level, and `place` is over or under it, both to rounding."""
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
    near = polytope_contact(ConvexHull(foot[None]), ConvexHull(feature.points), contact_tolerance=0.0)
    return near.signed_distance <= slack
