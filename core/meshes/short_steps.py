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
    used, place = np.unique(pairs[:, 1], return_inverse=True)
    result = np.ones(len(translations), dtype=np.bool_)
    for part in chunks(len(translations), _TESTED // max(1, len(pairs))):
        steps = translations[part]
        corners = b.points.take(b.triangles.take(used, axis=0), axis=0) + steps[:, None, None]
        moved = Mesh(corners.reshape(-1, 3), np.arange(corners.size // 3).reshape(-1, 3)) if corners.size else b
        own = np.tile(pairs[:, 0], len(steps))
        other = (np.arange(len(steps))[:, None] * len(used) + place.ravel()).ravel()
        p, q = a.points.take(a.triangles.take(own, axis=0), axis=0), corners.reshape(-1, 3, 3).take(other, axis=0)
        near = ((p.min(axis=1) <= q.max(axis=1)) & (q.min(axis=1) <= p.max(axis=1))).all(axis=1)
        rows = np.flatnonzero(near)
        met = meetings(a, moved, np.stack([own.take(rows), other.take(rows)]))
        result[part.start + other.take(rows.take(met)) // max(1, len(used))] = False
    return result
