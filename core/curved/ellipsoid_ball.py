# SPDX-License-Identifier: GPL-3.0-or-later
"""A point, and so a ball, inside or outside an ellipsoid: nearest point of the surface, and the proof of its depth.

The point of the surface nearest to a point p is, in the frame of the semi-axes s, x_k = s_k^2 p_k / (s_k^2 - u), with
the number u for which x is on the surface: below 0 outside, from 0 to the square of the smallest semi-axis inside.

One number proves that no point of the surface is nearer to a point inside. For every u in that range

    d^2 = u (1 - sum p_k^2 / (s_k^2 - u))

makes (d^2 - |x - p|^2) no more than u (1 - sum x_k^2 / s_k^2) for all x: the difference is a square and more, as
completing it shows. So the ball of radius d about p is in the ellipsoid; with the u of the nearest point it touches.
Sources: D. Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid, 2011; V. A. Yakubovich, the
S-procedure, 1971.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from ..shapes.curved_shape import ConvexShape
from ..shapes.ellipsoid import Ellipsoid
from ..shapes.rounded import core_of
from ..types import FloatArray

_HALVINGS = 2200
"""More than the halvings from any range of float64 down to neighbours."""


class BallPair(NamedTuple):
    """An ellipsoid, the core of one shape, and a point, the core of the other."""

    ellipsoid: Ellipsoid
    point: FloatArray
    """(dim,) world frame."""
    ellipsoid_first: bool
    """Whether the ellipsoid is A."""


class NearestOnEllipsoid(NamedTuple):
    """The point of the surface of an ellipsoid nearest to a point."""

    normal: FloatArray
    """(dim,) the outward unit normal there."""
    others: FloatArray
    """(k, dim) normals of points that may be equally near: mirrored at the planes of the semi-axes."""
    gap: float | None
    """The argument of `proven_depth`; None outside of the ellipsoid."""
    iterations: int


def ball_pair(a: ConvexShape, b: ConvexShape) -> BallPair | None:
    """Return the ellipsoid and the point when these are the cores of two shapes; else None."""
    for shape, ball, first in ((a, b, True), (b, a, False)):
        core, place = core_of(shape), ball.skeleton
        if isinstance(core, Ellipsoid) and core.skeleton is None and place is not None and len(place.vertices) == 1:
            return BallPair(core, place.vertices[0], first)
    return None


def proven_depth(ellipsoid: Ellipsoid, point: FloatArray, gap: float) -> float:
    """Return a radius with which the ball about `point` (dim,) is certainly in the ellipsoid, to rounding; or -inf.

    `gap` is any number from 0.0 to the smallest semi-axis; the root of the module's u is that much less. World units.
    """
    place, semi = _local(ellipsoid, point)
    least = min(semi)
    if not 0.0 <= gap <= least:
        return -np.inf
    root = least - gap
    square = 1.0
    for p, s in zip(place, semi, strict=True):
        if p != 0.0:
            # Differences first: close to the smallest semi-axis the gap has all the digits.
            beyond = (s - least) + gap
            if beyond == 0.0:
                return -np.inf
            square -= (p / beyond) * (p / (s + root))
    return root * sqrt(square) if square >= 0.0 else -np.inf


def proven_above(ellipsoid: Ellipsoid, point: FloatArray, normal: FloatArray, gap: float | None) -> float:
    """Return a certain upper bound of the signed distance of an ellipsoid and a point (dim,), to rounding.

    That is the distance of the point of the surface with the outward unit `normal` (dim,) or, with a `gap`, minus the
    radius of the ball in the ellipsoid; world units.
    """
    above = float(np.linalg.norm(ellipsoid.core_supports(normal[None])[0] - point))
    return above if gap is None else min(above, -proven_depth(ellipsoid, point, gap))


def nearest_on_ellipsoid(ellipsoid: Ellipsoid, point: FloatArray) -> NearestOnEllipsoid:
    """Return the point of the surface nearest to a point (dim,), inside or outside; one of several nearest."""
    place, semi = _local(ellipsoid, point)
    least = min(semi)
    local: list[float]
    gap: float | None = None
    outside = hypot(*(p / s for p, s in zip(place, semi, strict=True))) > 1.0
    if outside:
        beyond, iterations = _root_outside(place, semi)
        local = [p / (s * s + beyond) for p, s in zip(place, semi, strict=True)]
    else:
        gap, iterations = _root_inside(place, semi)
        root = least - gap
        apart = [(s - least) + gap for s in semi]
        local = [p / far / (s + root) if p != 0.0 else 0.0 for p, far, s in zip(place, apart, semi, strict=True)]
        if gap == 0.0:
            # The point is on the plane or line across the smallest semi-axes: both sides of the surface are equally
            # near.
            reach = hypot(*(n * s for n, s in zip(local, semi, strict=True)))
            local[semi.index(least)] = sqrt(max(0.0, 1.0 - reach * reach)) / least
    largest = max(map(abs, local))
    signs = [(1.0, -1.0) if n != 0.0 else (1.0,) for n in local]
    directions = np.array(
        [[n / largest * sign for n, sign in zip(local, turn, strict=True)] for turn in product(*signs)]
    )
    directions = directions @ ellipsoid.axes
    directions = directions / np.linalg.norm(directions, axis=1)[:, None]
    return NearestOnEllipsoid(directions[0], directions[1:], gap, iterations)


def _local(ellipsoid: Ellipsoid, point: FloatArray) -> tuple[list[float], list[float]]:
    place: list[float] = (ellipsoid.axes @ (point - ellipsoid.center)).tolist()
    return place, ellipsoid.semi_axes.tolist()


def _root_inside(place: list[float], semi: list[float]) -> tuple[float, int]:
    """Return how much less the root of u is than the smallest semi-axis, and the number of steps."""
    least = min(semi)

    def too_near(gap: float) -> bool:
        total = 0.0
        for p, s in zip(place, semi, strict=True):
            if p != 0.0:
                beyond = (s - least) + gap
                if beyond == 0.0:
                    return True
                x = (p / beyond) * (s / (s + (least - gap)))
                total += x * x
        return total > 1.0

    if not too_near(0.0):
        return 0.0, 0
    low = max(0.0, *(0.5 * abs(p) - (s - least) for p, s in zip(place, semi, strict=True)))
    return _bisect(too_near, 0.5 * low, least)


def _root_outside(place: list[float], semi: list[float]) -> tuple[float, int]:
    """Return -u, and the number of steps."""

    def too_near(beyond: float) -> bool:
        return hypot(*(s * p / (s * s + beyond) for p, s in zip(place, semi, strict=True))) > 1.0

    return _bisect(too_near, 0.0, hypot(*place) * max(semi))


def _bisect(too_small: Callable[[float], bool], low: float, high: float) -> tuple[float, int]:
    """Return the largest number that is too small, by halving the range, or its exponents where they differ."""
    for step in range(_HALVINGS):
        middle = sqrt(low) * sqrt(high) if 0.0 < 4.0 * low < high else 0.5 * low + 0.5 * high
        if not low < middle < high:
            return high, step
        if too_small(middle):
            low = middle
        else:
            high = middle
    return high, _HALVINGS
