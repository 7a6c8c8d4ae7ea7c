# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex hulls of six points each, many at once, from the signs of determinants.

1. Compute the minors: of the twenty triples of points, and of the fifteen quadruples (six times the signed volume of
   their tetrahedron), each from those of one point less.
2. A triple is a facet where the three other points are on one side of its plane: where three determinants agree.
3. A hull of which any determinant is within rounding of 0 gets no facets: so each surface is closed.

Source: S3.1; J. O'Rourke, Computational Geometry in C, 4.1.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...types import FloatArray, IntArray

VERTICES = 6
"""Points of each hull."""

_PAIRS: list[tuple[int, ...]] = list(combinations(range(VERTICES), 2))
_TRIPLES: list[tuple[int, ...]] = list(combinations(range(VERTICES), 3))
_QUADRUPLES: list[tuple[int, ...]] = list(combinations(range(VERTICES), 4))
_OTHERS = [[k for k in range(VERTICES) if k not in triple] for triple in _TRIPLES]
_TETRAHEDRA: IntArray = np.array(
    [[_QUADRUPLES.index(tuple(sorted((*t, k)))) for k in others] for t, others in zip(_TRIPLES, _OTHERS, strict=True)]
)
"""(triples, others) the quadruple of each triple and other point."""
_ODD = np.array([[sum(n > k for n in t) % 2 for k in others] for t, others in zip(_TRIPLES, _OTHERS, strict=True)])
"""(triples, others) 1 where sorting these four points changes the sign of the determinant."""


def _range(prefix: tuple[int, ...], sorted_combinations: list[tuple[int, ...]]) -> slice:
    """Return where the combinations with a prefix are: they follow each other."""
    found = [n for n, other in enumerate(sorted_combinations) if other[: len(prefix)] == prefix]
    return slice(found[0], found[-1] + 1)


# All minors with one prefix are computed as rows of one array, from ranges of those of one point less.
_TRIPLE_RANGES = [
    (i, j, _range((i, j), _TRIPLES), _range((j,), _PAIRS), _range((i,), _PAIRS).stop, _PAIRS.index((i, j)))
    for i, j in _PAIRS
    if j < VERTICES - 1
]
_QUADRUPLE_RANGES = [
    (
        _range((i, j, k), _QUADRUPLES),
        _range((j, k), _TRIPLES),
        _range((i, k), _TRIPLES),
        _range((i, j), _TRIPLES).stop,
        _TRIPLES.index((i, j, k)),
    )
    for i, j, k in _TRIPLES
    if k < VERTICES - 1
]


def first_hulls(points: FloatArray, limit: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the facets of the hulls of points (3, VERTICES, n): of each facet its hull (k,), in ascending order, and
    its vertices (k, 3), counter-clockwise seen from outside.

    Hulls with a determinant up to `limit` (n,) have no facets: its sign may be rounding.
    """
    x, y, z = points
    count = points.shape[2]
    pairs, triples, quadruples = (np.empty((len(of), count)) for of in (_PAIRS, _TRIPLES, _QUADRUPLES))
    memory = np.empty((VERTICES, count))
    for i in range(VERTICES - 1):
        rows = _range((i,), _PAIRS)
        product = memory[: VERTICES - 1 - i]
        np.multiply(x[i], y[i + 1 :], out=pairs[rows])
        np.multiply(y[i], x[i + 1 :], out=product)
        pairs[rows] -= product
    for i, j, rows, later, stop, both in _TRIPLE_RANGES:
        product, minors = memory[: VERTICES - 1 - j], triples[rows]
        np.multiply(z[i], pairs[later], out=minors)
        np.multiply(z[j], pairs[stop - len(product) : stop], out=product)
        minors -= product
        np.multiply(z[j + 1 :], pairs[both], out=product)
        minors += product
    for rows, first, second, stop, three in _QUADRUPLE_RANGES:
        minors = quadruples[rows]
        np.subtract(triples[first], triples[second], out=minors)
        minors += triples[stop - len(minors) : stop]
        minors -= triples[three]
    above = quadruples > limit
    sure = np.logical_and.reduce(above | (quadruples < -limit), axis=0)

    number_above = np.zeros((len(_TRIPLES), count), dtype=np.int8)
    for k in range(VERTICES - 3):
        number_above += above.take(_TETRAHEDRA[:, k], axis=0) != _ODD[:, k, None]
    inward = number_above == VERTICES - 3
    facets = ((number_above == 0) | inward) & sure
    hull, triple = np.divmod(np.flatnonzero(np.ascontiguousarray(facets.T)), len(_TRIPLES))
    vertices = np.array(_TRIPLES, dtype=np.intp).take(triple, axis=0)
    turned = inward.ravel().take(triple * count + hull)
    vertices[turned, 1:] = vertices[turned, 2:0:-1]
    return hull, vertices
