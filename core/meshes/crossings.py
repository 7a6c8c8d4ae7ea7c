# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of two meshes meet, how and where, as a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import FloatArray, IntArray, ReadOnlyArrays

FeatureArray = NDArray[np.uint8]

FACE = 6
"""The number of the inside of a triangle among its features; 0 to 2 are its corners, 3 + k the side from corner k."""


class Meeting(IntEnum):
    """How two triangles meet."""

    CROSSING = 0
    """Each goes through the plane of the other, and they have a segment in common."""
    TOUCHING = 1
    """They have a segment or a point in common and do not cross; they are in different planes, or one has no area."""
    COPLANAR = 2
    """They are in one plane and overlap: what they have in common has an area."""
    BESIDE = 3
    """They are in one plane and have a segment or a point in common."""


@dataclass(frozen=True, eq=False)
class Crossings(ReadOnlyArrays):
    """The triangles of two meshes that meet; p pairs in ascending order. Its arrays are read-only."""

    pairs: IntArray
    """(p, 2) a triangle of A and a triangle of B; of a mesh with itself the smaller number first."""
    kinds: NDArray[np.uint8]
    """(p,) numbers of `Meeting`."""
    segments: FloatArray
    """(p, 2, 3) the ends of what a pair has in common, world frame; twice the same where it is a point. Of a coplanar
    pair, two points of the common polygon that are farthest from each other. Rounded, all else is exact."""
    features: FeatureArray
    """(p, 2, 2) for each end the feature of the triangle of A and that of B whose inside it is on: 0 to 2 a corner,
    3 + k the side from corner k to the next, 6 the inside of the triangle."""

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.pairs, self.kinds, self.segments, self.features):
            array.flags.writeable = False

    @classmethod
    def none(cls) -> Crossings:
        """Return those of meshes that do not meet."""
        found = Found.none()
        pairs, segments = np.zeros((0, 2), dtype=np.intp), found.ends.transpose(2, 0, 1)
        return cls(pairs, found.kinds, segments, found.features.transpose(2, 0, 1))

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.pairs)

    def sample(self, count: int) -> IntArray:
        """Return the indices of about `count` pairs, which are the same when A and B change places."""
        indices = np.unique(np.linspace(0, len(self.pairs) - 1, count).astype(np.intp))
        order = np.lexsort((np.abs(self.pairs[:, 0] - self.pairs[:, 1]), self.pairs.sum(axis=1)))
        return order.take(indices)

    def renumbered(self, of_a: Callable[[IntArray], IntArray], of_b: Callable[[IntArray], IntArray]) -> Crossings:
        """Return the same with triangles numbered in another way, which keeps their order."""
        first, second = self.pairs.T
        return replace(self, pairs=np.stack([of_a(first), of_b(second)], axis=1))

    def of_kind(self, kind: Meeting) -> IntArray:
        """Return the numbers of the pairs of one kind."""
        return np.flatnonzero(self.kinds == kind)


class Found(NamedTuple):
    """What was found among some candidates, in columns."""

    chosen: IntArray
    """(k,) which of the candidates meet."""
    kinds: NDArray[np.uint8]
    """(k,) numbers of `Meeting`."""
    ends: FloatArray
    """(2, 3, k) the ends of what they have in common."""
    features: FeatureArray
    """(2, 2, k) their features: end, mesh."""

    @classmethod
    def none(cls) -> Found:
        """Return nothing found."""
        none = np.zeros(0, dtype=np.uint8)
        return cls(none.astype(np.intp), none, np.zeros((2, 3, 0)), np.zeros((2, 2, 0), dtype=np.uint8))

    @classmethod
    def concatenate(cls, parts: Sequence[Found]) -> Found:
        """Return what all parts have, in ascending order of the candidates, as each part is."""
        if len(parts) < 2:
            return parts[0] if parts else cls.none()
        order = np.argsort(np.concatenate([part.chosen for part in parts]), kind="stable")
        return cls(
            np.concatenate([part.chosen for part in parts]).take(order),
            np.concatenate([part.kinds for part in parts]).take(order),
            np.concatenate([part.ends for part in parts], axis=2).take(order, axis=2),
            np.concatenate([part.features for part in parts], axis=2).take(order, axis=2),
        )

    def of(self, candidates: IntArray) -> Found:
        """Return the same with the numbers that the candidates have among others."""
        return self._replace(chosen=candidates.take(self.chosen))
