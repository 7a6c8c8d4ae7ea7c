# SPDX-License-Identifier: GPL-3.0-or-later
"""Separating axes of two boxes, one after the other, as in the articles.

1. The candidates are 15 axes: the 3 + 3 face normals and the 9 cross products of an edge of A and one of B. Parallel
   edges have no product and give no axis.
2. On each axis both boxes are intervals, symmetric about the projections of their centres.
3. B can be pushed out of A over either end of A's interval. The shorter push is the overlap, and its side the
   orientation of the axis, from A to B. A negative overlap is a gap: the boxes are apart, and the search ends.
4. The axis of least overlap is the normal, and overlap times normal the minimum translation vector.

`sat` does the same for any polytopes, `pairs_intersect` and `contacts` for many boxes at once. Source: S0.3 to S0.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from ..shapes.box import Box, validate_boxes
from ..tolerance import BOX_PARALLEL, BOX_PREFER_FACE
from ..trace import Trace
from ..types import FloatArray, ReadOnlyArrays, positive_zero, read_only
from .sat_steps import BoxSteps

_Vector = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class BoxAxis(ReadOnlyArrays):
    """The deciding axis of two boxes A and B. World frame, the unit of the coordinates."""

    signed_distance: float
    """Minus the penetration depth; or, above 0, the gap along the first separating axis, no more than the distance."""
    normal: FloatArray
    """(3,) unit vector from A to B: moving B by `depth * normal` separates the pair."""
    axis: int
    """0 to 2: face of A; 3 to 5: face of B; 6 + 3 i + j: product of axis i of A and axis j of B."""
    interval_a: tuple[float, float]
    """Lowest and highest `normal @ x` of the points x of A."""
    interval_b: tuple[float, float]
    """Lowest and highest `normal @ x` of the points x of B."""
    axes_tested: int
    """Number of axes tested: at most 15, fewer when one separates or edges are parallel."""
    trace: Trace | None = None
    """The steps, if requested: one for each of the 15 axes."""

    @property
    def intersects(self) -> bool:
        """`signed_distance <= 0`."""
        return self.signed_distance <= 0.0

    @property
    def depth(self) -> float:
        """Penetration depth, 0.0 when apart."""
        return max(0.0, -self.signed_distance)

    @property
    def mtv(self) -> FloatArray:
        """(3,) minimum translation vector: moving B by it separates the pair; zero when apart."""
        return self.depth * self.normal


def box_sat(a: Box, b: Box, *, trace: bool = False) -> BoxAxis:
    """Return the axis of least overlap of two boxes, or the first that separates them.

    Axes that are equally good within `BOX_PREFER_FACE` are taken in the order of `BoxAxis.axis`, faces first. With
    `trace` the result has the steps, for study.

    >>> result = box_sat(Box((0, 0, 0), (2, 2, 2)), Box((1.5, 0.5, 0), (2, 2, 2)))
    >>> print(result.depth, result.normal, result.axis, result.interval_a, result.interval_b)
    0.5 [1. 0. 0.] 0 (-1.0, 1.0) (0.5, 2.5)

    Raises ValueError, naming the argument, when one is not a Box, or a sheared one: use `sat` or `contact`. Source:
    S0.3 to S0.5.
    """
    validate_boxes(a, b)
    half_edges_a, half_edges_b = (a.axes * a.half[:, None]).tolist(), (b.axes * b.half[:, None]).tolist()
    between = (b.center - a.center).tolist()
    best, bar, tested = (inf, 0, (0.0, 0.0, 0.0), 0.0, 0.0), inf, 0
    steps = BoxSteps(a, b) if trace else None
    for index, axis in _candidates(a.axes.tolist(), b.axes.tolist()):
        tested += 1
        reach_a, reach_b = _reach(axis, half_edges_a), _reach(axis, half_edges_b)
        distance = _dot(axis, between)
        forward, backward = reach_a + reach_b - distance, reach_a + reach_b + distance  # mutant: boxes-half-way-too-far
        overlap = min(forward, backward)
        if overlap < bar:
            x, y, z = axis
            # mutant: boxes-normal-turned
            best = overlap, index, axis if forward <= backward else (-x, -y, -z), reach_a, reach_b
            bar = overlap * (1.0 - BOX_PREFER_FACE)
        if steps is not None:
            steps.measure(index, axis, (reach_a, reach_b), (forward, backward), best[1])
        if overlap < 0.0:
            break
    overlap, index, axis, reach_a, reach_b = best
    normal = read_only(positive_zero(np.array(axis)))
    middle_a, middle_b = float(normal @ a.center), float(normal @ b.center)
    interval_a, interval_b = (middle_a - reach_a, middle_a + reach_a), (middle_b - reach_b, middle_b + reach_b)
    found = None if steps is None else steps.end(separated=overlap < 0.0)
    return BoxAxis(0.0 - overlap, normal, index, interval_a, interval_b, tested, found)


def _candidates(axes_a: list[_Vector], axes_b: list[_Vector]) -> Iterator[tuple[int, _Vector]]:
    """Yield the index and the unit vector of each candidate axis."""
    yield from enumerate(axes_a + axes_b)  # mutant: boxes-no-faces-of-b
    for i, edge_a in enumerate(axes_a):  # mutant: boxes-edges-of-one-direction
        for j, edge_b in enumerate(axes_b):
            x, y, z = _cross(edge_a, edge_b)
            sine = sqrt(x * x + y * y + z * z)
            if sine > BOX_PARALLEL:
                yield 6 + 3 * i + j, (x / sine, y / sine, z / sine)


def _reach(axis: _Vector, half_edges: list[_Vector]) -> float:
    """Return the half-width of a box along an axis."""
    x, y, z = axis
    (a, b, c), (d, e, f), (g, h, i) = half_edges
    return abs(x * a + y * b + z * c) + abs(x * d + y * e + z * f) + abs(x * g + y * h + z * i)


def _dot(u: _Vector, v: _Vector) -> float:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def _cross(u: _Vector, v: _Vector) -> _Vector:
    """Return u x (v - u) or u x (v + u), which equal u x v and keep its digits where it is nearly zero."""
    ax, ay, az = u
    bx, by, bz = v
    sign = 1.0 if _dot(u, v) > 0.0 else -1.0  # mutant: boxes-careless-when-parallel
    bx, by, bz = bx - sign * ax, by - sign * ay, bz - sign * az
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
