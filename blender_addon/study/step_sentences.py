# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of SAT, GJK, EPA or the contact region as a sentence with its numbers.

Features of an object are named by their vertices, which are those of the mesh, counted from 0 as in Blender's overlay
*Indices*, where the collision shape is its convex hull; of other shapes, and in 2D, those of the shape. A point of
A - B is written (4, 17): vertex 4 of A minus vertex 17 of B.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.region.region import Region, RegionKind
from ...core.trace import AxesSkippedStep, AxisStep, EpaStep, GjkStep, IndexPair, RegionStep, Step, Vector
from ..data.messages import capitalized, counted
from ..data.units import Rounding, UnitFormat, along
from .traced_pair import TracedPair, measured

MOST_NAMED = 4
"""Vertices by which a feature is named; of others their number is said too."""
_FEATURES = ("", "vertex", "edge", "face")
_SIMPLICES = ("", "point", "edge", "triangle", "tetrahedron")
_SKIPPED = {
    "parallel": "the edges are parallel",
    "duplicate": "an earlier axis is parallel",
    "no_facet": "the edges span no face of A - B",
    "no_better": "the best so far is at least as good",
    "separated": "an earlier axis separates the objects",
}
_EXACT = " Rounding leaves this open, so it was computed in exact arithmetic."


class StepSentences:
    """Makes the sentences of one trace."""

    def __init__(self, pair: TracedPair) -> None:
        given, self.pair, self.trace, self.cores, self.ids = pair.given, pair, pair.trace, pair.cores, pair.ids
        self.names, self.units, self.plane = (given.name_a, given.name_b), given.units, given.flat
        self.solids = "the cores" if any(self.trace.radii) else "the objects"
        self.shadows = "shadows of the cores" if any(self.trace.radii) else "shadows"
        self.axis_numbers = {place: number for number, place in enumerate(measured(self.trace), 1)}

    def of(self, place: int) -> str:
        """Return the sentence of the step at a place in the trace."""
        step = self.trace.steps[place]
        if isinstance(step, AxisStep | AxesSkippedStep):
            text = self._axis(step, place) if isinstance(step, AxisStep) else self._axes_skipped(step)
            return text + (self._best_axis(step) if self.pair.is_last(place) else "")
        if isinstance(step, GjkStep):
            is_apart = step.outcome in ("converged", "repeated", "no_nearer")
            return self._gjk(step) + (self._radii(step) if is_apart else "")
        if isinstance(step, EpaStep):
            text, found = self._epa(step), self.pair.found_earlier(place)
            if found is not None:
                depth = f"{self._length(found.height)}, {self._along(found.normal)}"
                text += f" No nearer face is left: the depth is {depth}."
            return text + (self._radii(found or step) if found or step.outcome == "nearest" else "")
        assert isinstance(step, RegionStep)
        return {"features": self._features, "clip": self._clip, "result": self._result}[step.stage](step)

    # --- names

    def _length(self, value: float | None, rounding: Rounding = "nearest") -> str:
        return self.units.length(abs(value or 0.0), rounding=rounding)

    def _along(self, direction: Vector) -> str:
        return along(direction if self.plane is None else np.array(direction[:2]) @ self.plane.axes)

    def feature(self, side: int, vertices: Sequence[int]) -> str:
        """Return a feature of A (0) or B (1) by its vertices: 'edge 4-7 of Cube'."""
        ids = [str(self.ids[side][i]) for i in vertices]
        text = f"{_FEATURES[min(len(ids), 3)]} {'-'.join(ids[:MOST_NAMED])}"
        if len(ids) > MOST_NAMED:
            text += f"-... ({len(ids)} vertices)"
        return f"{text} of {self.names[side]}"

    def point(self, pair: IndexPair) -> str:
        """Return a point of A - B by its vertices: '(4, 17)'."""
        return f"({self.ids[0][pair[0]]}, {self.ids[1][pair[1]]})"

    def _difference(self, pair: IndexPair) -> str:
        """Return how a point of A - B is made."""
        return f"{self.feature(0, pair[:1])} minus {self.feature(1, pair[1:])}"

    def _simplex(self, corners: Sequence[IndexPair], is_face: bool = False) -> str:
        """Return a feature of A - B by its corners: 'edge (4, 17), (3, 17)'."""
        noun = "face" if len(corners) > 3 and is_face else _SIMPLICES[len(corners)]
        return f"{noun} {', '.join(map(self.point, corners))}"

    # --- SAT

    def origin(self, step: AxisStep) -> str:
        """Return what an axis is from, in words."""
        features = enumerate(self.pair.axis_features(step))
        parts = [self.feature(side, vertices) for side, vertices in features if vertices]
        words = " x ".join(parts)
        if step.origin == "flat":
            if words or any(len(core.vertices) > 1 for core in self.cores):
                return words or "in the plane or line that may contain A - B"
            return f"from the center of {self.names[0]} to that of {self.names[1]}"
        return f"beside {words or 'a sharp edge'}" if step.origin == "sharp" else words

    def _axis(self, step: AxisStep, place: int) -> str:
        if step.signed_distance is None or step.interval_a is None or step.interval_b is None:
            return f"{capitalized(self.origin(step))}: not measured, {_SKIPPED[step.skipped]}."
        number = self.axis_numbers[place]
        text = f"Axis {number:,} of {len(self.axis_numbers):,}: {self.origin(step)}."
        length, (low_a, high_a), (low_b, high_b) = self._length(step.signed_distance), step.interval_a, step.interval_b
        is_gap = step.signed_distance > 0.0
        if is_gap:
            text += f" Between the {self.shadows} is a gap of {length}"
        elif low_a < low_b and high_b < high_a or low_b < low_a and high_a < high_b:
            inner, outer = self.names[low_a < low_b], self.names[low_a >= low_b]
            text += f" The shadow of {inner} is inside that of {outer}: moving it out takes {length}"
        else:
            text += f" The {self.shadows} overlap by {length}"
        if self.pair.is_last(place):
            return f"{text}."
        if step.best == place:
            return f"{text}, the {'widest' if is_gap else 'least'} so far."
        best = self.trace.steps[step.best]
        assert isinstance(best, AxisStep) and best.signed_distance is not None
        kind = "gap" if best.signed_distance > 0.0 else "overlap"
        least = f"the {kind} of {self._length(best.signed_distance)} on axis {self.axis_numbers[step.best]:,}"
        return f"{text}; the best so far is {least}."

    def _axes_skipped(self, step: AxesSkippedStep) -> str:
        pairs = counted(step.count, "pair of edges", "pairs of edges")
        return f"{pairs} {'is' if step.count == 1 else 'are'} not measured: {_SKIPPED[step.skipped]}."

    def _best_axis(self, step: AxisStep | AxesSkippedStep) -> str:
        best = self.trace.steps[step.best] if step.best >= 0 else None
        if not isinstance(best, AxisStep) or best.signed_distance is None:
            return ""
        number, is_gap = self.axis_numbers[step.best], best.signed_distance > 0.0
        if is_gap:
            least = self._length(best.signed_distance, "down")
            end = f"the gap on axis {number:,} separates {self.solids}, so the distance is at least {least}."
        else:
            length = self._length(best.signed_distance)
            end = f"axis {number:,} has the least overlap, so the depth is {length}."
        return f" No axis is left: {end}{self._radii(best, is_gap)}"

    # --- GJK and EPA

    def _gjk(self, step: GjkStep) -> str:
        if step.support is None:
            text = f"The search starts from the {self._simplex(step.after or step.before)}."
        else:
            text = f"Support point {self.point(step.support)}: {self._difference(step.support)}."
            if len(step.tried) > len(step.before) + 1:
                text += " It is beyond the origin, so support points all around are taken at once."
        distance = self._length(float(np.linalg.norm(step.nearest)))
        nearest = f"The {self._simplex(step.after)}" if step.after else "The origin"
        ends = {
            "converged": f" No point of A - B is nearer to the origin: the gap is {distance}.",
            "repeated": f" It is in the simplex already, so no point is nearer: the gap is {distance}.",
            "no_nearer": f" Rounding finds no nearer point: the gap is {distance}.",
            "stalled": " Rounding hides what is nearer: exact arithmetic continues from here.",
            "inside": f" The origin is inside the {self._simplex(step.after)}: the objects intersect.",
            "touching": f" The origin is on the {self._simplex(step.after)}: the objects have a common point.",
        }
        if step.outcome == "touching" and len(step.after) > self.trace.dim:
            text += ends["inside"]  # of a triangle in the plane
        elif step.outcome:
            text += ends[step.outcome]
        else:
            text += f" {nearest} is nearest to the origin: {distance} away"
            text += (
                f"; the gap is at least {self.units.length(step.lower, rounding='down')}."
                if (step.lower or 0.0) > 0.0
                else "."
            )
        return text + (_EXACT if step.is_exact else "")

    def _epa(self, step: EpaStep) -> str:
        face = f"The {self._simplex(step.face, True)}" if step.face else ""
        away = self._along(step.normal)
        if step.outcome == "start":
            kind = "faces" if self.trace.dim == 3 else "sides"
            text = f"EPA grows a polytope inside A - B. It starts with {len(step.added)} {kind}"
            text += ", and the origin is inside." if step.upper is not None else "."
        elif step.outcome == "flat":
            text = f"A - B has no thickness {away}: the depth in this direction is {self._length(step.height)}."
        elif step.outcome == "grown" and step.support is not None:
            away = f"{self._length(step.offset)} away"
            text = (
                f"{face} is nearest to the origin: {away}."
                if (step.offset or 0.0) >= 0.0
                else f"The origin is beyond the {self._simplex(step.face, True)}, {away}."
            )
            kind = "face" if self.trace.dim == 3 else "side"
            text += (
                f" Support point {self.point(step.support)}, {self._difference(step.support)}, is farther along its "
                f"normal, {self._length(step.height)}: {counted(len(step.removed), kind)} removed, "
                f"{len(step.added)} added."
            )
            if step.lower is not None and step.upper is not None:
                text += f" The depth is {self._length(step.upper, 'down')} to {self._length(step.lower, 'up')}."
        else:
            text = f"No point of A - B is beyond the {self._simplex(step.face, True)}: it is on the surface, "
            text += {
                "nearest": f"so the depth is {self._length(step.height)}, {away}.",
                "tie": f"and equally near: {self._length(step.height)}, {away}, separates too.",
                "farther": f"but farther than the nearest: {self._length(step.height)}.",
                "coplanar": "in the plane of a face that was found before.",
            }[step.outcome]
        return text + (_EXACT if step.is_exact else "")

    def _radii(self, step: Step, is_bound: bool = False) -> str:
        """Return by which radii round shapes end later than their cores, and what follows; is_bound: at least, or at
        most."""
        total = sum(self.trace.radii)
        bound = step.lower if step.lower is not None else step.upper
        if total == 0.0 or bound is None:
            return ""
        round_ones = [
            f"{self._length(radius)} of {name}"
            for radius, name in zip(self.trace.radii, self.names, strict=True)
            if radius
        ]
        remaining = bound - total
        kind, bound_words = ("gap", "at least ") if remaining > 0.0 else ("depth", "at most ")
        rounding: Rounding = "nearest" if not is_bound else "down" if remaining > 0.0 else "up"
        return (
            f" The objects end beyond their cores, by the radius {' and '.join(round_ones)}: the {kind} is "
            f"{bound_words if is_bound else ''}{self._length(remaining, rounding)}."
        )

    # --- the contact region

    def _features(self, step: RegionStep) -> str:
        a, b = self.feature(0, step.feature_a), self.feature(1, step.feature_b)
        return (
            f"Facing each other along the normal ({self._along(step.normal)}) are the {a} and the {b}: what both cover "
            "of the contact plane is the contact region."
        )

    def _clip(self, step: RegionStep) -> str:
        kept = len(step.kept)
        left = (
            ("nothing is left", "a point is left", "a line is left")[kept] if kept < 3 else f"{kept} corners are left"
        )
        if step.side is None:
            return f"The features cut each other at once: {left}."
        cut = counted(len(step.cut), "corner") if step.cut else "nothing"
        return f"The {self.feature(int(step.side_of == 'b'), tuple(dict.fromkeys(step.side)))} cuts off {cut}: {left}."

    def _result(self, step: RegionStep) -> str:
        if len(step.kept) < 2:
            return "The contact region is a point, the contact center."
        kind = "a line" if len(step.kept) == 2 else f"a polygon of {len(step.kept)} corners"
        size = region_size(self.pair.region, self.units)
        return f"The contact region is {kind}, {size}; its centroid is the contact center."


def region_size(region: Region | None, units: UnitFormat) -> str:
    """Return how large a contact region is, in words."""
    if region is None or region.kind is RegionKind.POINT:
        return "a point"
    is_line = region.kind is RegionKind.SEGMENT
    return f"{units.length(region.length)} long" if is_line else f"area {units.area(region.area)}"
