# SPDX-License-Identifier: GPL-3.0-or-later
"""Two shapes with the trace of their contact, of which the sentences and pictures of its steps are made.

No Blender, no GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from ...core.region.region import Region
from ...core.shapes.curved_shape import ConvexShape
from ...core.shapes.hull import ConvexHull
from ...core.shapes.polytope import Polytope
from ...core.tolerance import DEFAULT_CONTACT_TOLERANCE
from ...core.trace import AxisStep, EpaStep, Trace
from ...core.types import FloatArray
from ..data.units import UnitFormat
from ..geometry.plane import Plane


@dataclass(frozen=True)
class StepSettings:
    """What is played, and how."""

    algorithm: str = "all"
    """One of `steps.ALGORITHMS`, or "all" in this order."""
    is_sum: bool = False
    """The Minkowski sum beside the objects instead of the difference."""
    offset: tuple[float, float, float] | None = None
    """Where the origin of the difference is drawn, world space; None: beside the objects."""
    all_axes: bool = False
    """All axes of SAT, not only those that improve the best."""


@dataclass(frozen=True, eq=False)
class StepsInput:
    """A pair whose steps are played."""

    a: ConvexShape
    """Collision shape of A, world space; in the frame of `flat` where that is given."""
    b: ConvexShape
    name_a: str
    name_b: str
    units: UnitFormat
    settings: StepSettings
    flat: Plane | None = None
    """The plane of two flat objects in 2D."""
    clearance: float = 0.0
    """As in `contact`."""
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE
    """As in `contact`."""

    def in_world(self, points: ArrayLike) -> FloatArray:
        """Return points (..., 3), world space, of points of the shapes or of the trace."""
        array = np.asarray(points, dtype=float)
        return array if self.flat is None else self.flat.to_3d(array)


@dataclass(frozen=True, eq=False)
class TracedPair:
    """A pair and the steps that were taken on it."""

    given: StepsInput
    trace: Trace
    region: Region | None
    """The contact region."""

    @cached_property
    def cores(self) -> tuple[Polytope, Polytope]:
        """The shapes whose vertices, edges and facets the steps refer to: of round ones, what they are around."""
        a, b = self.given.a.skeleton, self.given.b.skeleton
        assert a is not None and b is not None  # `steps_of` refuses others
        return a, b

    @cached_property
    def ids(self) -> tuple[Sequence[int], Sequence[int]]:
        """The numbers of the vertices of A and of B that the user knows."""
        a, b = (
            core.vertex_ids.tolist() if isinstance(core, ConvexHull) else range(len(core.vertices))
            for core in self.cores
        )
        return a, b

    def axis_features(self, step: AxisStep) -> list[tuple[int, ...]]:
        """Return the vertices of A and of B of the features that an axis is from."""
        found = []
        for core, index in zip(self.cores, (step.index_a, step.index_b), strict=True):
            of = core.facets if step.origin in ("face_a", "face_b") else core.edges
            found.append(tuple(int(i) for i in of[index]) if 0 <= index < len(of) else ())
        return found

    def is_last(self, place: int) -> bool:
        """Return whether no step of the same algorithm follows that at a place in the trace."""
        following = islice(self.trace.steps, place + 1, None)
        return all(step.kind != self.trace.steps[place].kind for step in following)

    def found_earlier(self, place: int) -> EpaStep | None:
        """Return the step of EPA that found the depth, at its last step where that only confirms it; else None."""
        step = self.trace.steps[place]
        if not isinstance(step, EpaStep) or step.outcome not in ("farther", "coplanar") or not self.is_last(place):
            return None
        earlier = (step for step in reversed(self.trace.steps[:place]) if isinstance(step, EpaStep))
        return next((step for step in earlier if step.outcome == "nearest"), None)


def measured(trace: Trace) -> dict[int, float]:
    """Return the signed distances along the axes that SAT measured, in order, by their places in the trace."""
    axes = [(k, step.signed_distance) for k, step in enumerate(trace.steps) if isinstance(step, AxisStep)]
    return {k: signed_distance for k, signed_distance in axes if signed_distance is not None}
