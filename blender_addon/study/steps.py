# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that SAT, GJK, EPA and the contact region took on a pair, to be played.

No Blender, no GPU. The trace is that of `contact`; nothing is computed again but what is drawn.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from ...core.contact import contact
from ...core.region.region import Region
from ...core.result import Method
from ...core.shapes.curved_shape import ConvexShape
from ...core.shapes.minkowski_hull import MinkowskiHull, minkowski_hull
from ...core.trace import AxesSkippedStep, AxisStep, Trace
from ...core.types import FloatArray
from ..data import messages
from .axis_pictures import axis_picture
from .difference_pictures import DifferencePictures
from .picture import StudyPicture
from .region_pictures import region_picture
from .step_sentences import StepSentences
from .traced_pair import StepSettings, StepsInput, TracedPair, measured

ALGORITHMS = ("sat", "gjk", "epa", "region")
NAMES = {"sat": "SAT", "gjk": "GJK", "epa": "EPA", "region": "Contact Region"}


@dataclass(frozen=True, eq=False)
class Bar:
    """One axis of SAT in the strip."""

    signed_distance: float
    """Above 0 a gap, else an overlap; Blender units."""
    is_best: bool
    """Whether it is the best so far."""
    is_current: bool
    step: int
    """Index into the steps of the trace; of a `Playable` into its frames, -1 where none shows it."""
    text: str = ""
    """What it is, with its length; of a `Playable` only."""

    @property
    def kind(self) -> Literal["gap", "overlap"]:
        return "gap" if self.signed_distance > 0.0 else "overlap"


def fewer_bars(bars: list[Bar], most: int) -> list[Bar]:
    """Return at most so many bars: of neighbors the current one, else the best so far, else that of least overlap."""
    edges = np.linspace(0, len(bars), min(len(bars), most) + 1).astype(int).tolist()
    groups = [bars[start:end] for start, end in pairwise(edges)]
    return [max(group, key=lambda bar: (bar.is_current, bar.is_best, bar.signed_distance)) for group in groups]


@dataclass(frozen=True, eq=False)
class Steps(TracedPair):
    """The steps of a pair. `number` is an index into those that are shown."""

    shown: list[int]
    """Indices into the steps of the trace that are played, in order."""
    _pictures: dict[int, StudyPicture] = field(default_factory=dict)
    _bodies: dict[bool, MinkowskiHull] = field(default_factory=dict)
    """Minkowski difference and sum, by whether it is the sum; with any settings the same."""

    def sentence(self, number: int) -> str:
        """Return the step in one or a few sentences, with its numbers."""
        return self.sentences.of(self.shown[number])

    @cached_property
    def sentences(self) -> StepSentences:
        """The words for steps and features."""
        return StepSentences(self)

    def title(self, number: int) -> str:
        """Return the algorithm and the number of the step in it: 'SAT, Step 3 of 9'."""
        kind = self.trace.steps[self.shown[number]].kind
        of_kind = [k for k, place in enumerate(self.shown) if self.trace.steps[place].kind == kind]
        return f"{NAMES[kind]}, Step {of_kind.index(number) + 1} of {len(of_kind)}"

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper bound (n,) of the signed distance after each shown step, Blender units; NaN where
        there is none."""
        rows = [(self.trace.steps[k].lower, self.trace.steps[k].upper) for k in self.shown]
        lower, upper = np.array(rows, dtype=float).reshape(-1, 2).T - sum(self.trace.radii)
        return lower, upper

    def bars(self, number: int) -> list[Bar]:
        """Return one bar for each axis that SAT measured; none at the steps of other algorithms."""
        place = self.shown[number]
        current = self.trace.steps[place]
        if not isinstance(current, AxisStep | AxesSkippedStep):
            return []
        return [Bar(distance, k == current.best, k == place, k) for k, distance in measured(self.trace).items()]

    def picture(self, number: int) -> StudyPicture:
        """Return what is drawn of a step."""
        place = self.shown[number]
        if place not in self._pictures:
            draw = {"sat": axis_picture, "region": region_picture}.get(self.trace.steps[place].kind)
            self._pictures[place] = draw(self, place) if draw else self.difference_pictures.picture(place)
        return self._pictures[place]

    @cached_property
    def difference_pictures(self) -> DifferencePictures:
        """The pictures of the steps of GJK and EPA."""
        is_sum = self.given.settings.is_sum
        if is_sum not in self._bodies:
            self._bodies[is_sum] = minkowski_hull(self.given.a, self.given.b, not is_sum)
        return DifferencePictures(self, self._bodies[is_sum])

    def prepare(self) -> None:
        """Make what pictures share, which takes long for large hulls: in any thread, before one is drawn."""
        kinds = [self.trace.steps[place].kind for place in self.shown]
        for kind in ("gjk", "epa"):
            if kind in kinds:
                self.picture(kinds.index(kind))

    def with_settings(self, settings: StepSettings) -> Steps:
        """Return the steps with other settings."""
        given = replace(self.given, settings=settings)
        if settings.algorithm != self.given.settings.algorithm:
            return replace(steps_of(given), _bodies=self._bodies)
        return Steps(given, self.trace, self.region, _shown(self.trace, self.region, settings), _bodies=self._bodies)

    def show_axis(self, step: int) -> int:
        """Return the number of the shown step of an index into the trace; it is added to those shown."""
        number = bisect_left(self.shown, step)
        if self.shown[number : number + 1] != [step]:
            self.shown.insert(number, step)
        return number


def steps_of(given: StepsInput) -> Steps:
    """Return the steps that the algorithms take on a pair.

    Raises ValueError, with a sentence for the user, for shapes without steps, and where an algorithm has nothing to do.
    """
    for shape, name in ((given.a, given.name_a), (given.b, given.name_b)):
        if not isinstance(shape, ConvexShape):
            raise ValueError(messages.about(name, "is not convex: choose Convex Hull as its collision shape"))
        if shape.skeleton is None:
            reason = (
                "has a curved shape, which these algorithms only approach: choose Convex Hull, Box, Sphere or Capsule"
            )
            raise ValueError(messages.about(name, reason))
    wanted = given.settings.algorithm
    found = contact(
        given.a,
        given.b,
        method=_METHODS.get(wanted, "gjk"),
        clearance=given.clearance,
        contact_tolerance=given.contact_tolerance,
        trace=True,
    )
    trace = found.trace
    assert trace is not None
    shown = _shown(trace, found.region, given.settings)
    if not shown:
        names, is_round = f"'{given.name_a}' and '{given.name_b}'", any(trace.radii)
        raise ValueError(f"{names} {_NOTHING[wanted, is_round]}: choose SAT or GJK")
    return Steps(given, trace, found.region, shown)


_METHODS: dict[str, Method] = {"all": "both", "sat": "sat"}
"""How `contact` takes the steps of an algorithm; of others with "gjk", since after SAT GJK starts from its axis."""
_NOTHING = {
    ("epa", False): "do not intersect, so EPA has nothing to do",
    ("epa", True): "are round and their cores are apart, so EPA has nothing to do",
    ("region", False): "are apart, so they have no region",
    ("region", True): "are round, and no sides cut their region",
}
"""Why an algorithm has no steps; whether one is round."""
MOST_AXES = 15
"""Axes up to which SAT plays all that it measures: those of two boxes."""


def _shown(trace: Trace, region: Region | None, settings: StepSettings) -> list[int]:
    """Return the indices of the steps that are played: of many axes of SAT the first, those that improve the best, and
    the last; of what faces across a gap, which only centers the witness points, none."""
    kinds = ALGORITHMS if settings.algorithm == "all" else (settings.algorithm,)
    chosen = [
        k for k, step in enumerate(trace.steps) if step.kind in kinds and (region is not None or step.kind != "region")
    ]
    axes = [k for k in chosen if trace.steps[k].kind == "sat"]
    found = measured(trace)
    always = {*axes[:1], *axes[-1:], *(found if len(found) <= MOST_AXES else ())}

    def is_played(place: int) -> bool:
        step = trace.steps[place]
        if settings.all_axes or not isinstance(step, AxisStep | AxesSkippedStep):
            return True
        return place in always or step.best == place

    return [k for k in chosen if is_played(k)]
