# SPDX-License-Identifier: GPL-3.0-or-later
"""How long searches for a smallest separating translation may refine: nodes looked at, and seconds."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter

DEFAULT_NODES = 4_000
"""Nodes of a search: below a second for most pairs, some ten seconds for hundreds of pieces that overlap each other."""


@dataclass(frozen=True)
class Budget:
    """What a search may spend. Nodes end it equally far on every machine, seconds do not."""

    nodes: int = DEFAULT_NODES
    """Nodes to look at, >= 0; 0 ends the search with its first result."""
    seconds: float = inf
    """Seconds from `start` on."""
    start: float = field(default_factory=perf_counter)
    """`time.perf_counter()` when the budget was made."""

    @classmethod
    def of_seconds(cls, seconds: float | None) -> Budget:
        """Return the budget of so many seconds, with any number of nodes; None gives the default number of nodes."""
        if seconds is None:
            return cls()
        return cls(sys.maxsize, seconds) if seconds > 0.0 else cls(0)

    @property
    def is_late(self) -> bool:
        """Whether the seconds have passed."""
        return self.seconds < inf and perf_counter() - self.start >= self.seconds

    def spent(self, nodes: int) -> float:
        """Return the fraction spent, 0 to 1, after a number of nodes: 1.0 when there is nothing left.

        >>> Budget(nodes=10).spent(5)
        0.5
        """
        if nodes >= self.nodes:
            return 1.0
        passed = (perf_counter() - self.start) / self.seconds if self.seconds < inf else 0.0
        return min(1.0, max(nodes / self.nodes, passed))

    def without(self, nodes: int) -> Budget:
        """Return what is left after a number of nodes."""
        return replace(self, nodes=max(0, self.nodes - nodes))

    def part(self, divisor: int) -> Budget:
        """Return a budget of a part of the nodes, for the same time."""
        return replace(self, nodes=self.nodes // divisor)
