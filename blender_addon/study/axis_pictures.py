# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the steps of SAT: an axis beside the objects with the shadows of both on it, and the gap or overlap.

No Blender, no GPU. Source: S0.3 to S0.5, S1.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...core.trace import AxesSkippedStep, AxisStep
from ...core.types import FloatArray
from ..geometry.shape_outline import rectangle
from .picture import SIDES, Canvas, Role, StudyPicture
from .traced_pair import TracedPair

ROOM = 0.12
"""Between the objects and the axis, relative to both; the axis is as much longer than the shadows at either end."""
APART = 0.035
"""Between the shadows and the axis; half as much is half an end mark."""
THICK = 2.5
"""Width of the shadows and of what an axis is from."""
_VIEWED_FROM = np.array((1.0, -1.0, 0.7))
"""Where Blender's view is at first: from there the shadows are beside each other, not behind each other."""


def axis_picture(pair: TracedPair, place: int) -> StudyPicture:
    """Return the picture of the step at a place in the trace; where the last is not measured, of the best."""
    step, given = pair.trace.steps[place], pair.given
    if isinstance(step, AxisStep | AxesSkippedStep) and step.skipped and pair.is_last(place):
        step = pair.trace.steps[step.best] if step.best >= 0 else step
    if not isinstance(step, AxisStep):
        return StudyPicture()
    canvas = Canvas()
    for role, core, vertices in zip(SIDES, pair.cores, pair.axis_features(step), strict=True):
        if vertices:
            canvas.polygon(role, given.in_world(core.vertices[list(vertices)]), THICK)
    if step.axis is None or step.interval_a is None or step.interval_b is None or step.signed_distance is None:
        return canvas.picture()

    ruler = _Ruler(pair, np.array(step.axis))
    intervals = np.array((step.interval_a, step.interval_b))
    ends = [intervals.min() - ruler.room, intervals.max() + ruler.room]
    canvas.line("axis", ruler.at(ends[::-1] if step.is_flipped else ends), is_arrow=True)
    for role, core, interval, side in zip(SIDES, pair.cores, intervals, (-1.0, 1.0), strict=True):
        shadow = ruler.at(interval, side * APART)
        canvas.line(role, shadow, THICK)
        marks = [ruler.at(interval, side * APART + mark) for mark in (-0.5 * APART, 0.5 * APART)]
        canvas.line(role, np.stack(marks, axis=1), THICK)
        heights = core.vertices @ ruler.axis
        farthest = given.in_world(core.vertices[[heights.argmin(), heights.argmax()]])
        canvas.line(role, np.stack([farthest, shadow], axis=1), is_dashed=True)
    (low_a, high_a), (low_b, high_b) = intervals
    between = np.array((low_a, high_b) if step.is_flipped else (low_b, high_a))
    kind: Role = "gap" if step.signed_distance > 0.0 else "overlap"
    canvas.line(kind, ruler.at(between), THICK)
    canvas.label(kind, given.units.length(abs(step.signed_distance)), ruler.at([between.mean()])[0])
    if kind == "gap":
        canvas.polygon("plane", ruler.plane(between.mean()))
    return canvas.picture()


class _Ruler:
    """An axis beside two objects."""

    def __init__(self, pair: TracedPair, axis: FloatArray) -> None:
        self.given, self.axis, self.beside = pair.given, axis, _beside(axis)
        low, high = zip(pair.given.a.bounds, pair.given.b.bounds, strict=True)
        low, high = np.min(low, axis=0), np.max(high, axis=0)
        self.size, middle = float(np.linalg.norm(high - low)), 0.5 * (low + high)
        self.room = ROOM * self.size
        self.points = np.concatenate([core.vertices for core in pair.cores])
        self.radius = max(pair.trace.radii)
        reach = ((self.points - middle) @ self.beside).max() + self.radius + self.room
        self.base = middle - middle @ axis * axis + reach * self.beside

    def at(self, heights: ArrayLike, aside: float = 0.0) -> FloatArray:
        """Return the points (n, 3) at heights (n,) along the axis, world space; aside: relative to the size, away from
        the objects."""
        along = np.asarray(heights, dtype=float)[:, None] * self.axis
        return self.given.in_world(self.base + aside * self.size * self.beside + along)

    def plane(self, height: float) -> FloatArray:
        """Return the corners (4, 3) of the part of the plane across the axis that is between the objects; in the plane
        of flat objects both ends of a line."""
        sides = [self.beside] if len(self.axis) == 2 else [self.beside, np.cross(self.axis, self.beside)]
        heights = self.points @ np.array(sides).T
        room = 0.5 * self.room + self.radius
        corners = rectangle(heights.min(axis=0) - room, heights.max(axis=0) + room)
        return self.given.in_world(height * self.axis + corners @ np.array(sides))


def _beside(axis: FloatArray) -> FloatArray:
    """Return the unit vector (dim,) across an axis in which it is drawn beside the objects: rather below them."""
    x, y, *z = axis.tolist()
    if not z:
        found = np.array((-y, x))
    else:
        found = np.cross(axis, _VIEWED_FROM)
        if found @ found < 0.1:
            found = np.cross(axis, np.roll(_VIEWED_FROM, 1))
    upward = found @ np.array((-0.1, -0.3, 1.0) if z else (-0.1, 1.0))
    unit: FloatArray = found / np.linalg.norm(found)
    return -unit if upward > 0.0 else unit
