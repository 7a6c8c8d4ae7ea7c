# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of many short translations of one mesh leave no triangles that meet: only those near each other can."""

from __future__ import annotations

import numpy as np

from ..runs import chunks
from ..tolerance import EPS, MESH_GAP
from ..types import BoolArray, FloatArray
from .mesh import Mesh
from .near_triangles import near_triangles
from .triangle_pairs import meetings

_TESTED = 1 << 16
"""Pairs of triangles tested in one go."""


def are_clear_after(a: Mesh, b: Mesh, translations: FloatArray) -> BoolArray:
    """Return (k,) after which of some short translations (k, 3) of B no triangles meet, touching included. Exact.

    Many are tested in one go, on copies of the triangles that are no farther apart than the longest translation.
    """
    reach = float(np.sqrt((translations * translations).sum(axis=1)).max(initial=0.0))
    reach += MESH_GAP * EPS * (max(a.magnitude, b.magnitude) + reach)
    pairs = near_triangles(a, b, reach)
    result = np.ones(len(translations), dtype=np.bool_)
    if not len(pairs):
        return result
    used, place = np.unique(pairs[:, 1], return_inverse=True)
    own, other = (m.points.take(m.triangles.take(t, axis=0), axis=0) for m, t in ((a, pairs[:, 0]), (b, used)))
    low, high = own.min(axis=1), own.max(axis=1)
    other_low, other_high = (rows.take(place.ravel(), axis=0) for rows in (other.min(axis=1), other.max(axis=1)))
    for part in chunks(len(translations), _TESTED // len(pairs)):
        steps = translations[part][:, None]
        near = np.flatnonzero(((low <= other_high + steps) & (other_low + steps <= high)).all(axis=2))
        step, pair = np.divmod(near, len(pairs))
        corners = (other + steps[:, None]).reshape(-1, 3)
        moved = Mesh(corners, np.arange(len(corners)).reshape(-1, 3))
        met = meetings(a, moved, np.array([pairs[pair, 0], step * len(used) + place.ravel()[pair]]))
        result[part.start + step[met]] = False
    return result
