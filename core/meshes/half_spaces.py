# SPDX-License-Identifier: GPL-3.0-or-later
"""The shortest translation in an intersection of half-spaces that are added one after the other."""

from __future__ import annotations

import numpy as np

from ..compounds.compound_depth import nearest_beyond
from ..types import FloatArray

_ADDED = 60
"""Half-spaces of a set that are added at most."""
_MISS = 1e-10
"""Times the longest translation: how far a half-space is exceeded, and how much may be missing."""


class HalfSpaces:
    """Half-spaces that a translation has to be in: the newest, and those that the shortest one before touched."""

    def __init__(self) -> None:
        """Begin with the whole space."""
        self._normals, self._offsets = np.empty((0, 3)), np.empty(0)

    def shortest(self, normal: FloatArray, offset: float, most: float) -> FloatArray | None:
        """Return the shortest translation with `normal @ t >= offset` too; None when it is longer than `most`."""
        normals = np.concatenate([normal[None], self._normals])
        offsets = np.concatenate([[offset], self._offsets])
        chosen = np.full((1, 4), -1)
        chosen[0, : len(offsets)] = np.arange(len(offsets))
        bound, points, touched, beyond = nearest_beyond(normals, offsets, chosen)
        if not np.isfinite(bound[0]) or beyond[0] > most:
            return None
        kept = touched[0][touched[0] >= 0]
        self._normals, self._offsets = normals.take(kept, axis=0), offsets.take(kept)
        return points[0]


def shortest_within(normals: FloatArray, offsets: FloatArray, most: float) -> FloatArray | None:
    """Return about the shortest translation t with `normals @ t >= offsets`, normals (k, 3), offsets (k,); None where
    none is found that is no longer than `most`."""
    spaces, translation = HalfSpaces(), np.zeros(3)
    for _ in range(_ADDED):
        missing = offsets - normals @ translation
        k = int(missing.argmax())
        if missing[k] <= _MISS * most:
            return translation
        onward = spaces.shortest(normals[k], float(offsets[k]) + _MISS * most, most)
        if onward is None:
            return None
        translation = onward
    return None
