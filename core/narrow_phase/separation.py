# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from a signed distance and a normal: the same for convex shapes, compounds and meshes."""

from __future__ import annotations

import numpy as np

from ..types import FloatArray, ReadOnlyArrays


class Separation(ReadOnlyArrays):
    """A signed distance, a normal from A to B (None where no depth is known), and what no translation of B can do
    better."""

    signed_distance: float
    normal: FloatArray | None
    upper_bound: float

    @property
    def depth(self) -> float:
        """Length of the smallest translation known to separate, 0.0 when apart."""
        return max(0.0, -self.signed_distance)

    @property
    def least_depth(self) -> float:
        """Certified: no shorter translation separates; 0.0 when apart."""
        return max(0.0, -self.upper_bound)

    @property
    def mtv(self) -> FloatArray:
        """(dim,) minimum translation vector: moving B by it separates the pair; zero when apart or where no depth is
        known."""
        return np.zeros(3) if self.normal is None else self.depth * self.normal  # mutant: contact-mtv-of-a


class SignedSeparation(Separation):
    """One whose sign tells whether the shapes meet."""

    normal: FloatArray

    @property
    def intersects(self) -> bool:
        """The bare truth, no tolerance: `signed_distance <= 0`."""
        return self.signed_distance <= 0.0
