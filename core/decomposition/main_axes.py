# SPDX-License-Identifier: GPL-3.0-or-later
"""Directions to measure a surface along, that turn with it."""

from __future__ import annotations

from itertools import product
from math import gcd

import numpy as np

from ..types import BoolArray, FloatArray, IntArray
from .solid_grid import surface_samples

FACES = 24
"""Directions of faces that are looked along, and planes of faces to cut in."""
_STEPS = 64.0
"""Normals in the same step of this fraction are one."""
_LARGE = 0.1
"""Fraction of the area: faces as large are what a frame is parallel to."""
_SAMPLES = 4000


def grid_axes(reach: int) -> FloatArray:
    """Return unit vectors through the points of a small grid, one of each opposite pair, those of its axes first."""
    span = range(-reach, reach + 1)
    rows = [row for row in product(span, span, span) if row > (0, 0, 0) and gcd(*row) == 1]
    axes = np.array(sorted(rows, key=lambda row: sum(x * x for x in row)), dtype=np.float64)
    return np.asarray(axes / np.sqrt((axes * axes).sum(axis=1))[:, None])


def unit_normals(points: FloatArray, triangles: IntArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the unit normals and twice the areas of triangles that have any, and which do."""
    a, b, c = points.take(triangles, axis=0).transpose(1, 0, 2)
    products = np.cross(b - a, c - a)
    areas = np.sqrt((products * products).sum(axis=1))
    has_area = areas > 0.0
    return products[has_area] / areas[has_area, None], areas[has_area], has_area


def one_of_opposites(steps: FloatArray) -> FloatArray:
    """Return for each row of whole numbers -1.0 where its first that is not 0 is negative, else 1.0."""
    lead = np.take_along_axis(steps, (steps != 0.0).argmax(axis=1)[:, None], axis=1)
    return np.where(lead < 0.0, -1.0, 1.0)


def face_axes(points: FloatArray, triangles: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the unit normals that most of the area has, one of each opposite pair, largest first, and the fractions of
    the area."""
    normals, areas, _ = unit_normals(points, triangles)
    steps = np.rint(normals * _STEPS)
    flip = one_of_opposites(steps)
    _, group = np.unique(steps * flip, axis=0, return_inverse=True)
    group = group.ravel()
    totals = np.bincount(group, weights=areas)
    sums = np.stack([np.bincount(group, weights=(normals * flip)[:, k] * areas) for k in range(3)], axis=1)
    order = np.argsort(-totals, kind="stable")[:FACES]
    return sums[order] / np.sqrt((sums[order] ** 2).sum(axis=1))[:, None], totals[order] / areas.sum()


def main_frame(points: FloatArray, triangles: IntArray) -> FloatArray:
    """Return three orthonormal axes as columns: of the largest faces, where there are large ones, else of inertia."""
    samples = surface_samples(points, triangles, _SAMPLES)
    if not len(samples):
        return np.eye(3)
    inertia = inertia_axes(samples)
    normals, fractions = face_axes(points, triangles)
    if fractions[0] < _LARGE:
        return inertia.T
    first = normals[0]
    # Of the faces across the largest, and the axes of inertia, as far as they are across it.
    others = np.concatenate([normals[1:], inertia])
    weights = np.concatenate([fractions[1:], [2e-2, 1e-2, 5e-3]])
    flat = others - (others @ first)[:, None] * first
    lengths = np.sqrt((flat * flat).sum(axis=1))
    second = flat[int((weights * (lengths > 0.99) + 1e-6 * lengths).argmax())]
    second = second / np.sqrt(second @ second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def inertia_axes(points: FloatArray) -> FloatArray:
    """Return the axes of inertia of points as rows, the longest first."""
    centred = points - points.mean(axis=0)
    return np.asarray(np.linalg.eigh(centred.T @ centred)[1][:, ::-1].T)
