# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of SAT, recorded as it takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from ..shapes.box import Box
from ..shapes.polytope import Polytope, intervals, parallel_axes
from ..tolerance import EPS, SAME_AXIS
from ..trace import AxesSkippedStep, AxisOrigin, AxisSkip, AxisStep, Trace
from ..types import BoolArray, FloatArray, IntArray
from .step_list import StepList

_MOST_SKIPPED = 1000
"""Pairs of edges that are recorded though they are not measured; those beyond it are counted."""
_ALONG = 1.0 - 1e-9
"""Cosine above which a facet or edge of a box is that of an axis."""

_Source = tuple[AxisOrigin, Sequence[int], Sequence[int]]
"""Where an axis is from, and facets or the edge of A and of B, the first of two parallel facets that which faces the
other shape if the axis is from A to B."""
_Place = tuple[bool, float, int, bool, int, float]
"""Of an axis among equally good ones, of which the least is the result: whether it is across edges, minus its gap if
so, number of the group measured with it, whether it is reversed, its step; then its gap."""


class AxisSteps:
    """The steps so far."""

    def __init__(self, a: Polytope, b: Polytope, bar_of: Callable[[float], float]) -> None:
        """`bar_of` returns the least gap that is as good as the widest one."""
        self.a, self.b, self.bar_of = a, b, bar_of
        self.steps = StepList(a, b)
        self.widest = self.bar = -inf
        self.good: list[_Place] = []
        self.chosen: _Place | None = None
        self.groups = self.recorded = 0
        self.known: set[int] = set()
        """Numbers of the axes across edges that have a step."""
        self.skipped: Counter[AxisSkip] = Counter()
        """Pairs of edges that have none."""
        self.pairs: dict[int, tuple[int, int, int, bool]] = {}

    @property
    def best(self) -> int:
        """The step with the best axis; -1 without one."""
        return -1 if self.chosen is None else self.chosen[4]

    @property
    def lower(self) -> float | None:
        """The gap across the best axis."""
        return None if self.chosen is None else self.chosen[5]

    def measure(
        self, axes: FloatArray, gaps: FloatArray, sources: Sequence[_Source], numbers: list[int] | None = None
    ) -> None:
        """Add axes that were measured; of edges with the `numbers` of the axes."""
        count = len(axes)
        covered_a, covered_b = (np.stack(intervals(axes, s.vertices), axis=1).tolist() for s in (self.a, self.b))
        for k, (forward, backward) in enumerate(zip(gaps[:count].tolist(), gaps[count:].tolist(), strict=True)):
            widest, is_edge, step = max(forward, backward), numbers is not None, len(self.steps)
            is_flipped = forward < (widest if is_edge else self.bar_of(widest))
            gap = backward if is_flipped else forward
            self._rank((is_edge, -gap if is_edge else 0.0, self.groups, is_flipped, step, gap), widest)
            origin, of_a, of_b = sources[k]
            index_a, index_b = (found[is_flipped and len(found) > 1] for found in (of_a, of_b))
            number = -1 if numbers is None else numbers[k]
            if number in self.known and self.best != step:
                self._skip(origin, index_a, index_b, "duplicate")
                continue
            if is_edge:
                self.known.add(number)
            axis, interval_a, interval_b = (tuple(row) for row in (axes[k].tolist(), covered_a[k], covered_b[k]))
            source = origin, index_a, index_b
            self.steps.append(
                AxisStep(self.lower, None, *source, axis, interval_a, interval_b, gap, is_flipped, self.best, "")
            )
        self.groups += 1

    def facets(self, axes: FloatArray, gaps: FloatArray, parallel: BoolArray | None) -> None:
        """Add the axes of the facets of A, then of B; `parallel` are those of all axes of B that A has too."""
        facets_a, facets_b = _facets_of_axes(self.a, 1.0), _facets_of_axes(self.b, -1.0)
        known = np.zeros(len(facets_b), dtype=bool) if parallel is None else parallel
        sources: list[_Source] = [("face_a", facets, (-1,)) for facets in facets_a]
        sources += [("face_b", (-1,), facets) for k, facets in enumerate(facets_b) if not known[k]]
        self.measure(axes, gaps, sources)
        for k in np.flatnonzero(known).tolist():
            self._skip("face_b", -1, facets_b[k][0], "duplicate")

    def look(self, i: IntArray, j: IntArray, numbers: IntArray, parallel: BoolArray) -> None:
        """Remember pairs of edges, the numbers of the axes across them, and which ones are parallel."""
        rows = zip(i.tolist(), j.tolist(), numbers.tolist(), parallel.tolist(), strict=True)
        self.pairs = dict(enumerate(rows))

    def edges(self, axes: FloatArray, gaps: FloatArray, places: IntArray) -> None:
        """Add the axes that were measured of these pairs."""
        pairs = [self.pairs.pop(place) for place in places.tolist()]
        self.measure(axes, gaps, [("edges", (i,), (j,)) for i, j, _, _ in pairs], [number for _, _, number, _ in pairs])

    def skip_others(self) -> None:
        """Add those of these pairs that were not measured."""
        for p, q, number, is_parallel in self.pairs.values():
            reason: AxisSkip = "duplicate" if number in self.known else "parallel" if is_parallel else "no_better"
            self.known.add(number)
            if self.recorded < _MOST_SKIPPED:
                self.recorded += 1
                self._skip("edges", p, q, reason)
            else:
                self.skipped[reason] += 1

    def others(self, axes: FloatArray, gaps: FloatArray, origin: AxisOrigin, is_clear: bool = True) -> None:
        """Add axes that are from no facet and no pair of edges; without a clear gap they do not count."""
        if is_clear:
            self.measure(axes, gaps, [(origin, (-1,), (-1,))] * len(axes))
        else:
            for _ in axes:
                self._skip(origin, -1, -1, "no_better")

    def end(self) -> Trace:
        """Return the trace, at its end how many pairs of edges have no step."""
        counts = self.skipped.items()
        self.steps += [AxesSkippedStep(self.lower, None, reason, count, self.best) for reason, count in counts if count]
        return self.steps.trace("sat")

    def _rank(self, place: _Place, widest: float) -> None:
        """Set the best axis, of which this may be one."""
        if widest > self.widest:
            self.widest, self.bar = widest, self.bar_of(widest)
            self.good = [*(good for good in self.good if good[5] >= self.bar), place]
            self.chosen = min(self.good)
        elif place[5] >= self.bar and self.chosen is not None:
            self.good.append(place)
            self.chosen = min(self.chosen, place)

    def _skip(self, origin: AxisOrigin, index_a: int, index_b: int, reason: AxisSkip) -> None:
        best, lower = self.best, self.lower
        self.steps.append(AxisStep(lower, None, origin, index_a, index_b, None, None, None, None, False, best, reason))


class BoxSteps:
    """The steps of two boxes: all 15 axes, in order."""

    def __init__(self, a: Box, b: Box) -> None:
        self.a, self.b = a, b
        self.steps = StepList(a, b)

    def measure(
        self,
        index: int,
        axis: Sequence[float],
        reaches: tuple[float, float],
        overlaps: tuple[float, float],
        best: int,
    ) -> None:
        """Add an axis with the half-widths of both boxes and the overlap along the axis and against it."""
        self._skip_to(index, "parallel")
        unit = np.array(axis)
        middles = float(unit @ self.a.center), float(unit @ self.b.center)
        interval_a, interval_b = ((m - reach, m + reach) for m, reach in zip(middles, reaches, strict=True))
        gap, is_flipped = 0.0 - min(overlaps), overlaps[1] < overlaps[0]
        lower = gap if best == index else self.steps[best].lower
        source = self._source(index, -unit if is_flipped else unit)
        self.steps.append(
            AxisStep(lower, None, *source, tuple(axis), interval_a, interval_b, gap, is_flipped, best, "")
        )

    def end(self, separated: bool) -> Trace:
        """Return the trace, with the steps that a separating axis made needless."""
        self._skip_to(15, "separated" if separated else "parallel")
        return self.steps.trace("sat")

    def _skip_to(self, index: int, reason: AxisSkip) -> None:
        for k in range(len(self.steps), index):
            last = self.steps[-1]  # the first axis is always measured
            assert isinstance(last, AxisStep)
            source = self._source(k, np.zeros(3))
            self.steps.append(AxisStep(last.lower, None, *source, None, None, None, None, False, last.best, reason))

    def _source(self, index: int, direction: FloatArray) -> tuple[AxisOrigin, int, int]:
        """Return the origin of an axis: of parallel facets and edges those that face the other box along a direction
        from A to B."""
        a, b = self.a, self.b
        if index < 3:
            return "face_a", _farthest(a.normals, a.normals, a.axes[index], direction), -1
        if index < 6:
            return "face_b", -1, _farthest(b.normals, b.normals, b.axes[index - 3], -direction)
        i, j = divmod(index - 6, 3)
        edge_a = _farthest(a.edge_directions, a.vertices[a.edges[:, 0]], a.axes[i], direction)
        return "edges", edge_a, _farthest(b.edge_directions, b.vertices[b.edges[:, 0]], b.axes[j], -direction)


def _farthest(lines: FloatArray, points: FloatArray, axis: FloatArray, direction: FloatArray) -> int:
    """Return the line along an axis whose point is farthest in a direction; -1 without one, as of a flat box."""
    along = np.flatnonzero(np.abs(lines @ axis) > _ALONG)
    return int(along[(points[along] @ direction).argmax()]) if len(along) else -1


def _facets_of_axes(shape: Polytope, sign: float) -> list[list[int]]:
    """Return the facets of each axis of a shape in their order, the one with the normal `sign` times the axis first."""
    axes, numbers = parallel_axes(shape.normals, SAME_AXIS * EPS)
    found: dict[int, list[int]] = {}
    for facet, number in enumerate(numbers.tolist()):
        found.setdefault(number, []).append(facet)
    sides = sign * np.einsum("ij,ij->i", shape.normals, axes)
    return [sorted(facets, key=lambda facet: -sides[facet]) for facets in found.values()]
