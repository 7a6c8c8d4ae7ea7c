# SPDX-License-Identifier: GPL-3.0-or-later
"""Placing: how far B has to be moved in a direction until its signed distance from A is a wanted one.

A signed distance changes by no more than the length of a translation. So from outside a step of the missing distance
never goes too far; between convex shapes it is a convex function of the length, and one of the missing distance over
n . direction does not, either. Where the other side is reached the place is enclosed. Source: B. Mirtich, Impulse-Based
Dynamic Simulation, 1996.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from .arguments import as_length, as_unit
from .contact import contact
from .directional_depth import depth_along
from .meshes.solid_facets import Solid
from .progress import Progress, report_progress, subrange
from .shapes.curved_shape import ConvexShape
from .shapes.shape import validate_solids
from .shapes.support import project
from .tolerance import DEFAULT_CONTACT_TOLERANCE, promised
from .types import FloatArray

_STEPS = 200
"""Steps from the first place at most: of convex shapes and along the normal a few are enough."""
_ENCLOSED_STEPS = 60
"""Steps at most once the place is enclosed; every second halves what encloses it."""
_PRECISION = 1e-8
"""Times the diagonal of the smaller bounding box: how near to the margin is enough."""
_REMAINING = 0.9
"""Of the progress, after each step: how many there will be is not known."""


def place_along(
    a: Solid,
    b: Solid,
    direction: ArrayLike,
    margin: float,
    *,
    start: float | None = None,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    progress: Progress | None = None,
) -> float | None:
    """Return how far B has to be moved in a direction until its signed distance from A is a margin; None where no such
    place is found.

    World units; below 0 against the direction. B is set free along the direction first: from there it is moved on, or
    back, to the first place that is found.

    Args:
        a, b: see `contact`.
        direction: (dim,) world frame, of any length but zero.
        margin: the gap; below 0 minus the depth.
        start: a translation in that direction that sets B free; None: that of `depth_along`.
        contact_tolerance: see `contact`.
        progress: called with the fraction done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is not a shape, the dimensions differ, the direction is zero or
    the margin is not finite; Cancelled when `progress` returns False.

    >>> place_along(Box([0, 0, 0], [2, 2, 2]), Box([0.5, 0, 0], [2, 2, 2]), [0, 0, 1], 0.25)
    2.25
    """
    validate_solids(a, b)
    n = as_unit("direction", direction, a.dim)
    if not math.isfinite(margin):
        raise ValueError(f"margin must be a finite number, not {margin!r}")
    tolerance = as_length("contact_tolerance", contact_tolerance)
    if start is None:
        start = depth_along(a, b, n, contact_tolerance=tolerance, progress=subrange(progress, 0.0, 0.5))
    path = _Path(a, b, n, tolerance, subrange(progress, 0.5, 1.0))
    extent = min(a.extent, b.extent)
    precision = max(_PRECISION * extent, promised(margin, extent, max(a.magnitude, b.magnitude)))
    found = _place(path, margin, start, precision)
    report_progress(progress, 1.0)
    return found


class _Path:
    """The signed distance of B from A along a straight path."""

    def __init__(self, a: Solid, b: Solid, n: FloatArray, contact_tolerance: float, progress: Progress | None) -> None:
        self._a, self._b, self._n = a, b, n
        self._contact_tolerance, self._progress = contact_tolerance, progress
        self._remaining = 1.0
        self.is_convex = isinstance(a, ConvexShape) and isinstance(b, ConvexShape)
        of_a, of_b = project(a, n), project(b, n)
        self.before = of_a[0] - of_b[1]
        """The translation at which B is behind A."""
        self.beyond = of_a[1] - of_b[0]
        """The translation at which it is in front of A."""

    def at(self, length: float) -> tuple[float, float]:
        """Return the signed distance after a translation, minus infinity without a depth, and its derivative."""
        done, self._remaining = 1.0 - self._remaining, _REMAINING * self._remaining
        found = contact(
            self._a,
            self._b.translated(length * self._n),
            contact_tolerance=self._contact_tolerance,
            progress=subrange(self._progress, done, 1.0 - self._remaining),
        )
        if found.intersects and not found.has_depth:
            return -math.inf, 0.0
        return found.signed_distance, float(found.normal @ self._n)


def _place(path: _Path, margin: float, start: float, precision: float) -> float | None:
    """Return the first place that is found on the path from `start`, on or back, where the distance is the margin."""
    place = start
    distance, slope = path.at(place)
    is_onward = distance < margin
    end = path.beyond + margin if is_onward else path.before - max(margin, 0.0)
    for _ in range(_STEPS):
        if abs(distance - margin) <= precision:
            return place
        step = margin - distance
        if is_onward:  # beyond the end of the path there is a larger gap, whatever is in between
            step = step / slope if slope > 0.0 else end - place
        elif slope > 0.0 and (path.is_convex or distance < 0.0):  # else what is thinner than the step may be passed
            step /= slope
        elif path.is_convex:
            return None  # it is as deep as it gets
        last, last_distance = place, distance
        place = min(place + step, max(end, place)) if is_onward else max(place + step, min(end, place))
        if place == last:
            return None
        distance, slope = path.at(place)
        if abs(distance - margin) > precision and (distance < margin) != is_onward:
            ends = (last, last_distance), (place, distance)
            return _enclosed(path, margin, *(ends if is_onward else ends[::-1]), precision)
    return None


def _enclosed(
    path: _Path, margin: float, low: tuple[float, float], high: tuple[float, float], precision: float
) -> float | None:
    """Return a place between two, at which the distances are below and above the margin; where the distance jumps, the
    side above it, and where there is no depth none."""
    for k in range(_ENCLOSED_STEPS):
        part = 0.5 if k % 2 or math.isinf(low[1]) else (margin - low[1]) / (high[1] - low[1])
        place = low[0] + part * (high[0] - low[0])
        if abs(high[0] - low[0]) <= precision or place in (low[0], high[0]):
            break
        distance, _ = path.at(place)
        if abs(distance - margin) <= precision:
            return place
        low, high = ((place, distance), high) if distance < margin else (low, (place, distance))
    return None if math.isinf(low[1]) and high[1] - margin > precision else high[0]
