# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hulls of six points each, many at once: without a search, from the signs of all their determinants.

Three of the points make a facet when the three others are on one side of its plane. Twenty triples and fifteen
determinants are some two hundred products, all of them along long rows. A hull is told only where no sign can be turned
by rounding, so its surface is closed. Source: S3.1; J. O'Rourke, Computational Geometry in C, 4.1.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..types import BoolArray, FloatArray, IntArray, read_only

CORNERS = 6
"""Points of each hull."""
FACETS = 2 * CORNERS - 4
"""Triangles of a hull of so many corners in general position; fewer when some points are inside."""

_Combination = tuple[int, ...]

_PAIRS: list[_Combination] = list(combinations(range(CORNERS), 2))
_TRIPLES: list[_Combination] = list(combinations(range(CORNERS), 3))
_FOURS: list[_Combination] = list(combinations(range(CORNERS), 4))
_CORNERS_OF = read_only(np.array(_TRIPLES, dtype=np.intp))
_OTHERS = [[k for k in range(CORNERS) if k not in triple] for triple in _TRIPLES]
_OVER: IntArray = np.array(
    [[_FOURS.index(tuple(sorted((*t, k)))) for k in others] for t, others in zip(_TRIPLES, _OTHERS, strict=True)]
)
"""(triples, others) the determinant that tells on which side of a triple each other point is."""
_TURNED = np.array([[sum(n > k for n in t) % 2 for k in others] for t, others in zip(_TRIPLES, _OTHERS, strict=True)])
"""(triples, others) 1 where it tells so with the other sign."""


def _run(start: _Combination, of: list[_Combination]) -> slice:
    """Return where in a list are the combinations that begin so: they follow each other."""
    found = [n for n, known in enumerate(of) if known[: len(start)] == start]
    return slice(found[0], found[-1] + 1)


# For each two points, what the determinants of them and of each later third are made of; for each three the same.
_RUNS_OF_TRIPLES = [
    (i, j, _run((i, j), _TRIPLES), _run((j,), _PAIRS), _run((i,), _PAIRS).stop, _PAIRS.index((i, j)))
    for i, j in _PAIRS
    if j < CORNERS - 1
]
_RUNS_OF_FOURS = [
    (
        _run((i, j, k), _FOURS),
        _run((j, k), _TRIPLES),
        _run((i, k), _TRIPLES),
        _run((i, j), _TRIPLES).stop,
        _TRIPLES.index((i, j, k)),
    )
    for i, j, k in _TRIPLES
    if k < CORNERS - 1
]


def first_hulls(points: FloatArray, limit: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the facets of the hulls of points (3, CORNERS, n): of each facet its hull (k,), in ascending order, and
    its corners (k, 3), counter-clockwise seen from outside.

    Determinants up to `limit` (n,) may have either sign: hulls of which one is in doubt have no facets.
    """
    x, y, z = points
    count = points.shape[2]
    flat, volumes, heights = (np.empty((len(of), count)) for of in (_PAIRS, _TRIPLES, _FOURS))
    room = np.empty((CORNERS, count))
    for i in range(CORNERS - 1):
        run = _run((i,), _PAIRS)
        part = room[: CORNERS - 1 - i]
        np.multiply(x[i], y[i + 1 :], out=flat[run])
        np.multiply(y[i], x[i + 1 :], out=part)
        flat[run] -= part
    # Determinants of three points from those of two, and of four from those of three.
    for i, j, run, later, stop, both in _RUNS_OF_TRIPLES:
        part, held = room[: CORNERS - 1 - j], volumes[run]
        np.multiply(z[i], flat[later], out=held)
        np.multiply(z[j], flat[stop - len(part) : stop], out=part)
        held -= part
        np.multiply(z[j + 1 :], flat[both], out=part)
        held += part
    for run, first, second, stop, three in _RUNS_OF_FOURS:
        held = heights[run]
        np.subtract(volumes[first], volumes[second], out=held)
        held += volumes[stop - len(held) : stop]
        held -= volumes[three]
    above = heights > limit
    sure: BoolArray = np.logical_and.reduce(above | (heights < -limit), axis=0)

    number = np.zeros((len(_TRIPLES), count), dtype=np.int8)
    for k in range(CORNERS - 3):
        number += above.take(_OVER[:, k], axis=0) != _TURNED[:, k, None]
    outward, inward = number == 0, number == CORNERS - 3
    outward |= inward
    outward &= sure
    hull, triple = np.divmod(np.flatnonzero(np.ascontiguousarray(outward.T)), len(_TRIPLES))
    turned = inward.ravel().take(triple * count + hull)
    corners: IntArray = _CORNERS_OF.take(triple, axis=0)
    corners[turned, 1:] = corners[turned, 2:0:-1]
    return hull, corners
