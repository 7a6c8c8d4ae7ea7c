# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of GJK, recorded as it takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import dist, sqrt
from typing import Any

from ..shapes.simplex import Nearest, Vector, Vertex
from ..tolerance import EPS, GJK_GAP
from ..trace import GjkOutcome, GjkStep, IndexPair
from .step_list import StepList


class SimplexSteps:
    """The steps of a walk over simplices; the last one is completed as GJK learns more."""

    def __init__(self, steps: StepList, size: float) -> None:
        self.steps, self.dim, self.size = steps, steps.a.dim, size
        self.support = steps.support
        self.is_exact = False

    def restart(self, simplex: tuple[Vertex, ...], found: Nearest | None, is_exact: bool) -> None:
        """Add a step that starts from a known simplex and the nearest point of it."""
        self.is_exact = is_exact
        zero, corners = (0.0,) * self.dim, pairs_of(simplex)
        self.steps.append(GjkStep(None, None, zero, None, None, corners, (), corners, zero, "", is_exact))
        self.reduce(simplex, found)

    def search(self, v: Vector, length: float, point: Vertex, simplex: tuple[Vertex, ...], gap: float) -> None:
        """Add a step with the support point against `v`, whose length is given; `gap` is the widest so far."""
        x, y, z = v
        direction = (0.0 - x / length, 0.0 - y / length, 0.0 - z / length)[: self.dim]
        corners = pairs_of(simplex)
        upper = length if simplex else None  # else v is a direction only
        near, found = v[: self.dim], point[: self.dim]
        self.steps.append(
            GjkStep(gap, upper, direction, point[3:], found, corners, (), corners, near, "", self.is_exact)
        )

    def reduce(self, tried: tuple[Vertex, ...], found: Nearest | None, is_exact: bool = False) -> None:
        """Set the nearest point of a larger simplex, None where the origin is inside, and the face that contains it."""
        x, y, z, face = found or (0.0, 0.0, 0.0, tried)
        self._complete(
            upper=sqrt(x * x + y * y + z * z),
            tried=pairs_of(tried),
            after=pairs_of(face),
            nearest=(x, y, z)[: self.dim],
            is_exact=is_exact or self.is_exact,
        )

    def end(
        self,
        intersects: bool,
        vertices: tuple[Vertex, ...],
        nearest: Vector,
        gap: float,
        weights: tuple[float, ...],
        settled: bool = True,
    ) -> None:
        """Set why the search ends and the bounds of its result, a `Simplex` of which these are fields; not `settled`
        where floats have stalled."""
        last = self.steps[-1]
        assert isinstance(last, GjkStep)
        outcome: GjkOutcome
        if not settled:
            outcome = "stalled"
        elif intersects:
            outcome = "touching" if weights else "inside"
        elif last.tried:
            outcome = "no_nearer"
        else:
            assert last.point is not None and last.upper is not None
            width = -sum([x * p for x, p in zip(last.direction, last.point, strict=True)])
            is_wide = last.upper - width <= GJK_GAP * EPS * (last.upper + self.size)
            outcome = "converged" if is_wide else "repeated"
        self._complete(
            lower=last.lower if intersects else gap,
            upper=0.0 if intersects and settled else max(gap, dist(nearest, (0.0, 0.0, 0.0))),
            after=pairs_of(vertices),
            nearest=nearest[: self.dim],
            outcome=outcome,
        )

    def _complete(self, **fields: Any) -> None:
        self.steps[-1] = replace(self.steps[-1], **fields)


def pairs_of(points: Sequence[Vertex]) -> tuple[IndexPair, ...]:
    """Return the indices of points of A - B."""
    return tuple([point[3:] for point in points])
