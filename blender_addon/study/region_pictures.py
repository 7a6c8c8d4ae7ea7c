# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the steps of the contact region: two support features, clipped in the contact plane to the region.

No Blender, no GPU. Source: S2.2 to S2.6.
"""

from __future__ import annotations

import numpy as np

from ...core.shapes.curved_shape import across
from ...core.trace import RegionStep
from ...core.types import FloatArray
from ..geometry.shape_outline import fan
from .axis_pictures import THICK, loop
from .picture import Fills, Label, Lines, Points, Role, StudyPicture
from .step_sentences import region_size
from .traced_pair import TracedPair

ROOM = 0.15
"""By which the contact plane and the line of a side extend beyond both features, relative to them."""
FAINT = 0.5
"""Opacity of what is behind the subject."""
_ROLES: tuple[Role, Role] = ("a", "b")


def region_picture(pair: TracedPair, place: int) -> StudyPicture:
    """Return the picture of the step at a place in the trace."""
    step = pair.trace.steps[place]
    assert isinstance(step, RegionStep)
    in_world, plane = pair.given.in_world, _ContactPlane(pair, step)
    square, is_first = in_world(plane.square()), step.stage == "features"
    fills, lines = [Fills("plane", fan(square), FAINT)], [Lines("plane", loop(square))]
    points: list[Points] = []
    for role, feature in zip(_ROLES, plane.features, strict=True):
        outline, onto = in_world(feature), in_world(plane.project(feature))
        lines.append(Lines(role, loop(outline), width=THICK if is_first else 1.0))
        points.append(Points(role, outline))
        if is_first:
            fills.append(Fills(role, fan(outline)))
            lines.append(Lines(role, np.stack([outline, onto], axis=1), is_dashed=True))
        if is_first or step.side is None:
            lines.append(Lines(role, loop(onto), is_dashed=True))
    if step.side is not None:
        before = pair.trace.steps[place - 1]
        assert isinstance(before, RegionStep)
        cutting = step.side_of == "b"
        # The first cut is of all of the other feature.
        was = before.kept if before.stage == "clip" else plane.project(plane.features[not cutting])
        side = plane.project(pair.cores[cutting].vertices[list(step.side)])
        lines.append(Lines("removed", loop(in_world(was)), is_dashed=True))
        lines.append(Lines(_ROLES[cutting], loop(in_world(side)), width=THICK))
        lines.append(Lines(_ROLES[cutting], in_world(plane.extended(side))[None], is_dashed=True))
        if step.cut:
            points.append(Points("removed", in_world(step.cut)))
    if step.kept:
        kept = in_world(step.kept)
        fills.append(Fills("region", fan(kept)))
        lines.append(Lines("region", loop(kept), width=THICK))
        points.append(Points("region", kept))
    labels: list[Label] = []
    if step.stage == "result" and pair.region is not None:
        center = in_world(pair.region.centroid)
        points.append(Points("nearest", center[None]))
        labels.append(Label("region", region_size(pair.region, pair.given.units), center))
    return StudyPicture(tuple(fills), tuple(lines), tuple(points), tuple(labels))


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
        low, high = low - room, high + room
        corners = np.array([low, (high[0], low[1]), high, (low[0], high[1])] if z else [low, high])
        return float(self.origin @ self.normal) * self.normal + corners @ axes

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
