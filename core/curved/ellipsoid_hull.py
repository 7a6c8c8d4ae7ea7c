# SPDX-License-Identifier: GPL-3.0-or-later
"""The Minkowski difference of two cores as the hull of a few sums of two ellipsoids, and its lowest support plane.

Every core is the hull of some ellipsoids: a disk is a flat one, a point one of size 0; a cylinder is the hull of two
disks, a cone of a point and a disk. So the support function of the difference is the largest of a few pieces

    c.n + |M n| + |N n|

each with known derivatives. Where they are equal it has a crease, and the best direction to separate two shapes is
often on one, or where two cross: that is found as the point where some of the pieces are equal and level along all
other directions (Newton's method with an active set). Source: J. Nocedal and S. J. Wright, Numerical Optimization,
2006, chapter 18.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..shapes.curved_shape import ConvexShape, across
from ..shapes.cylinder import Cone, Cylinder
from ..shapes.ellipsoid import Ellipsoid
from ..shapes.rounded import core_of
from ..types import FloatArray

_MOST = 4
"""Largest number of pieces of a difference."""
_STEPS = 40
"""Newton steps from one direction."""
_FRACTIONS = np.array([1.0, 0.3, 0.1, 0.01])[:, None, None]
"""Fractions of a step that are tried."""


class Pieces(NamedTuple):
    """Sums of two concentric ellipsoids whose hull is the Minkowski difference of two cores."""

    centers: FloatArray
    """(k, dim) centres of A less those of B, world axes."""
    maps: FloatArray
    """(2, k, dim, dim) matrices M of A and of B: the ellipsoid extends |M n| from its centre along a unit vector n."""

    @property
    def size(self) -> float:
        """Upper bound of the extent of the difference in any direction, and of the terms of its sum; world units."""
        return float((np.linalg.norm(self.centers, axis=1) + np.linalg.norm(self.maps, axis=(2, 3)).sum(axis=0)).max())

    def heights(self, directions: FloatArray) -> FloatArray:
        """Return the extent (n,) of the difference along each of the vectors (n, dim), times its length."""
        reach = np.linalg.norm(np.einsum("mkij,nj->mnki", self.maps, directions), axis=3).sum(axis=0)
        return (directions @ self.centers.T + reach).max(axis=1)


def pieces_of(
    a: ConvexShape, b: ConvexShape, corners_a: tuple[int, ...] = (), corners_b: tuple[int, ...] = ()
) -> Pieces | None:
    """Return the pieces of the difference of two cores; None when there are too many.

    Of a core that is a polytope only the given corners, if there are any.
    """
    ellipsoids_a, ellipsoids_b = _ellipsoids(a, corners_a), _ellipsoids(b, corners_b)
    if ellipsoids_a is None or ellipsoids_b is None or len(ellipsoids_a[0]) * len(ellipsoids_b[0]) > _MOST:
        return None
    centers = (ellipsoids_a[0][:, None] - ellipsoids_b[0]).reshape(-1, a.dim)
    count, count_b = len(centers), len(ellipsoids_b[0])
    maps = np.stack([np.repeat(ellipsoids_a[1], count_b, axis=0), np.tile(ellipsoids_b[1], (count // count_b, 1, 1))])
    return Pieces(centers, maps)


def _ellipsoids(shape: ConvexShape, corners: tuple[int, ...]) -> tuple[FloatArray, FloatArray] | None:
    """Return centres (k, dim) and matrices (k, dim, dim) of the ellipsoids whose hull the core is; None if they are too
    many."""
    core = core_of(shape)
    if core.skeleton is not None:
        points = core.skeleton.vertices
        points = points[sorted(set(corners))] if corners else points
        return (points, np.zeros((len(points), shape.dim, shape.dim))) if len(points) <= _MOST else None
    if isinstance(core, Ellipsoid):
        return core.center[None], (core.semi_axes[:, None] * core.axes)[None]
    if isinstance(core, Cylinder | Cone):
        disk = core.radius * np.stack([*across(core.axis), np.zeros(3)])
        second = disk if isinstance(core, Cylinder) else np.zeros((3, 3))
        return np.stack([core.start, core.end]), np.stack([disk, second])
    return None


def lowest_nearby(pieces: Pieces, normal: FloatArray) -> FloatArray:
    """Return a unit direction (3,) near `normal` along which the difference extends less, if there is one."""
    lowest = float(pieces.heights(normal[None])[0])
    for _ in range(_STEPS):
        frame = np.array(across(normal))
        steps = _newton_steps(pieces, normal, frame)
        if not len(steps):
            break
        directions = normal + (_FRACTIONS * steps).reshape(-1, 2) @ frame
        directions = directions / np.linalg.norm(directions, axis=1)[:, None]
        heights = pieces.heights(directions)
        k = int(heights.argmin())
        if not heights[k] < lowest:
            break
        normal, lowest = directions[k], float(heights[k])
    return normal


def _newton_steps(pieces: Pieces, normal: FloatArray, frame: FloatArray) -> FloatArray:
    """Return steps (n, 2) in the frame across a direction, each to where one to three of the pieces are equal and,
    along what is left, level: of their second-order expansions about the direction."""
    images = pieces.maps @ normal
    reach = np.linalg.norm(images, axis=2)
    unit = images / np.where(reach > 0.0, reach, 1.0)[:, :, None]
    values = pieces.centers @ normal + reach.sum(axis=0)
    beside = pieces.maps @ frame.T  # (2, k, 3, 2)
    slopes = np.einsum("mki,mkij->mkj", unit, beside)
    bends = np.einsum("mkia,mkib->mkab", beside, beside) - slopes[..., :, None] * slopes[..., None, :]
    bends = (bends / np.where(reach > 0.0, reach, np.inf)[:, :, None, None]).sum(axis=0)
    bends -= values[:, None, None] * np.eye(2)
    slopes = pieces.centers @ frame.T + slopes.sum(axis=0)
    steps: list[FloatArray] = []
    indices = range(len(values))
    for i in indices:
        curves, directions = np.linalg.eigh(bends[i])
        if float(curves[0]) > 0.0:
            steps.append(-directions @ ((directions.T @ slopes[i]) / curves))
        elif slopes[i].any():
            steps.append(-slopes[i] / max(float(np.abs(bends[i]).sum()), float(np.linalg.norm(slopes[i]))))
    for i, j in combinations(indices, 2):
        apart = slopes[i] - slopes[j]
        square = float(apart @ apart)
        if square == 0.0:
            continue
        fraction = min(max(-float(slopes[j] @ apart) / square, 0.0), 1.0)
        onto = float(values[j] - values[i]) / square * apart
        along = np.array([-apart[1], apart[0]]) / np.sqrt(square)
        bend = fraction * bends[i] + (1.0 - fraction) * bends[j]
        slope = fraction * slopes[i] + (1.0 - fraction) * slopes[j]
        steps.append(onto)
        curve = float(along @ bend @ along)
        if curve > 0.0:
            steps.append(onto - float(along @ (slope + bend @ onto)) / curve * along)
    for i, j, k in combinations(indices, 3):
        rows = np.stack([slopes[i] - slopes[j], slopes[i] - slopes[k]])
        if np.linalg.det(rows) != 0.0:
            steps.append(np.linalg.solve(rows, np.array([values[j] - values[i], values[k] - values[i]])))
    found = np.array(steps).reshape(-1, 2)
    lengths = np.linalg.norm(found, axis=1)
    return found[np.isfinite(lengths) & (lengths > 0.0) & (lengths < 1.0)]
