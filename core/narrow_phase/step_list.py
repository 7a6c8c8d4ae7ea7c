# SPDX-License-Identifier: GPL-3.0-or-later
"""The list that the solvers fill with their steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..shapes.polytope import Polytope
from ..shapes.simplex import Vector, Vertex
from ..trace import Step, Trace, TracedFunction


class StepList(list[Step]):
    """The steps so far on two polytopes A and B."""

    def __init__(self, a: Polytope, b: Polytope) -> None:
        super().__init__()
        self.a, self.b = a, b

    def support(self, direction: Vector, found: Vertex) -> Vertex:
        """Return the support point of A - B with which the next step goes on: that which was found in a direction."""
        return found

    def trace(self, function: TracedFunction, **options: Any) -> Trace:
        """Return the trace of what was called; `options` are other fields."""
        return Trace(tuple(self), function, self.a.dim, (len(self.a.vertices), len(self.b.vertices)), **options)


Recorder = Callable[[Polytope, Polytope], StepList]
"""Makes the list for two polytopes of ordinary size."""
