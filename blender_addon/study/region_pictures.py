# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the steps of the contact region: two support features, clipped in the contact plane to the region.

No Blender, no GPU. Source: S2.2 to S2.6.
"""

from __future__ import annotations

import numpy as np

from ...core.shapes.curved_shape import across
from ...core.trace import RegionStep
from ...core.types import FloatArray
from ..geometry.shape_outline import fan, loop, rectangle
from .axis_pictures import THICK
from .picture import SIDES, Canvas, StudyPicture
from .step_sentences import region_size
from .traced_pair import TracedPair

ROOM = 0.15
"""By which the contact plane and the line of a side extend beyond both features, relative to them."""
FAINT = 0.5
"""Opacity of what is behind the subject."""


def region_picture(pair: TracedPair, place: int) -> StudyPicture:
    """Return the picture of the step at a place in the trace."""
    step = pair.trace.steps[place]
    assert isinstance(step, RegionStep)
    in_world, plane = pair.given.in_world, _ContactPlane(pair, step)
    canvas, is_first = Canvas(), step.stage == "features"
    canvas.polygon("plane", in_world(plane.square()), opacity=FAINT)
    for role, feature in zip(SIDES, plane.features, strict=True):
        outline, onto = in_world(feature), in_world(plane.project(feature))
        canvas.line(role, loop(outline), THICK if is_first else 1.0)
        canvas.mark(role, outline)
        if is_first:
            canvas.fill(role, fan(outline))
            canvas.line(role, np.stack([outline, onto], axis=1), is_dashed=True)
        if is_first or step.side is None:
            canvas.line(role, loop(onto), is_dashed=True)
    if step.side is not None:
        before = pair.trace.steps[place - 1]
        assert isinstance(before, RegionStep)
        cutting = step.side_of == "b"
        # The first cut is of all of the other feature.
        was = before.kept if before.stage == "clip" else plane.project(plane.features[not cutting])
        side = plane.project(pair.cores[cutting].vertices[list(step.side)])
        canvas.line("removed", loop(in_world(was)), is_dashed=True)
        canvas.line(SIDES[cutting], loop(in_world(side)), THICK)
        canvas.line(SIDES[cutting], in_world(plane.extended(side)), is_dashed=True)
        if step.cut:
            canvas.mark("removed", in_world(step.cut))
    if step.kept:
        kept = in_world(step.kept)
        canvas.polygon("region", kept, THICK)
        canvas.mark("region", kept)
    if step.stage == "result" and pair.region is not None:
        center = in_world(pair.region.centroid)
        canvas.mark("nearest", center)
        canvas.label("region", region_size(pair.region, pair.given.units), center)
    return canvas.picture()


class _ContactPlane:
    """The contact plane of two features; in the plane of flat objects a line."""

    def __init__(self, pair: TracedPair, step: RegionStep) -> None:
        self.features = [
            core.vertices[list(feature)]
            for core, feature in zip(pair.cores, (step.feature_a, step.feature_b), strict=True)
        ]
        self.normal, self.origin = np.array(step.normal), np.array(step.origin)
        self.points = self.project(np.concatenate(self.features))
        """Of both features, in the plane."""

    def project(self, points: FloatArray) -> FloatArray:
        """Return points (n, dim) moved along the normal into the plane."""
        flat: FloatArray = points - ((points - self.origin) @ self.normal)[:, None] * self.normal
        return flat

    def square(self) -> FloatArray:
        """Return the corners (4, 3) of the part of the plane that is drawn; of a line both ends (2, 2)."""
        x, y, *z = self.normal.tolist()
        axes = np.array(across(self.normal)) if z else np.array([(-y, x)])
        heights = self.points @ axes.T
        low, high = heights.min(axis=0), heights.max(axis=0)
        room = ROOM * float((high - low).max())
        return float(self.origin @ self.normal) * self.normal + rectangle(low - room, high + room) @ axes

    def extended(self, side: FloatArray) -> FloatArray:
        """Return the ends (2, dim) of the line of a side (2, dim), as far as both features."""
        along = side[1] - side[0]
        length = float(np.linalg.norm(along))
        if length == 0.0:
            return side
        heights = (self.points - side[0]) @ along / length
        room = ROOM * float(np.ptp(heights))
        ends = np.array([heights.min() - room, heights.max() + room])
        return side[0] + ends[:, None] * along / length
