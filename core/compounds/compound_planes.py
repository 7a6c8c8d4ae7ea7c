# SPDX-License-Identifier: GPL-3.0-or-later
"""The Minkowski difference of two convex pieces as half-spaces, without building its vertices.

Its facets are parallel to facets of either piece or to an edge of each. The list may contain half-spaces that only
touch the difference, never one that cuts into it. Source: S0.3, S1.4 (Gauss map).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..narrow_phase.gjk import size_of_difference
from ..narrow_phase.sat import _careful_cross
from ..runs import chunks
from ..shapes.polytope import PRODUCTS, Polytope, intervals
from ..tolerance import COMPOUND_PLANE, EPS, SAME_AXIS, SAT_PARALLEL, SAT_PLAIN_CROSS
from ..types import FloatArray

_COMPOUND_SUPPORT = 1e-9
"""Relative: edges this near to the support planes of their pieces may span a facet of the Minkowski difference.
Superfluous ones are harmless: they only touch it."""

_EDGES = PRODUCTS // 16  # pairs of edges measured at once


class Planes(NamedTuple):
    """A convex body {x : normals @ x <= offsets}, in space (z = 0 in the plane)."""

    normals: FloatArray
    """(f, 3) outward unit vectors."""
    offsets: FloatArray
    """(f,) world units, from the origin of the difference."""
    rounding: float
    """The body is inside the half-spaces moved outward by it, and contains them moved inward by it; world units."""


def difference_planes(a: Polytope, b: Polytope, flat: float, thick: float = 0.0) -> Planes | None:
    """Return A - B as half-spaces; None when it is nowhere thicker than `flat` and so has no interior.

    Where A or B is flat itself, the difference is grown by `thick`. A translation of B outside of it leaves the pieces'
    interiors disjoint. Frame and unit are those of the pieces.
    """
    if a.dim == 3:
        axes = np.concatenate((a.normals, -b.normals, _edge_axes(a, b)))
    else:
        axes = np.concatenate((a.normals, -b.normals))
    if not len(axes):
        return None
    # Keep parallel ones once: compare them as rows, rounded to the last few bits.
    _, kept = np.unique(np.rint(axes / (SAME_AXIS * EPS)), axis=0, return_index=True)
    axes = axes[np.sort(kept)]
    low_a, high_a = intervals(axes, a._centred)
    low_b, high_b = intervals(axes, b._centred)
    if float((high_a - low_a + high_b - low_b).min()) <= flat:
        return None
    offsets = high_a - low_b + axes @ (a.center - b.center)
    if a.rank < a.dim or b.rank < b.dim:
        offsets += thick
    if a.dim == 2:
        axes = np.concatenate((axes, np.zeros((len(axes), 1))), axis=1)
    return Planes(axes, offsets, COMPOUND_PLANE * EPS * size_of_difference(a, b))


def _edge_axes(a: Polytope, b: Polytope) -> FloatArray:
    """Return the normals (k, 3) of all facets of A - B spanned by an edge of A and one of B."""
    if not (len(a.edges) and len(b.edges)):
        return np.empty((0, 3))
    found = [np.empty((0, 3))]
    for edges in chunks(len(b.edges), PRODUCTS // len(a.edges)):
        i, j = _may_cross(a, b, edges)
        found += [_supporting(a, b, i[pairs], j[pairs]) for pairs in chunks(len(i), _EDGES)]
    return np.concatenate(found)


def _may_cross(a: Polytope, b: Polytope, edges: slice) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of an edge of A and one of a range of edges of B whose arcs on the Gauss map may cross.

    Each arc's ends must be on different sides of the other's great circle, or nearly on it.
    """
    of_a, of_b = a._edge_table, b._edge_table
    directions = of_b.directions[edges]
    apart = np.ones((len(of_a.directions), len(directions)), dtype=bool)
    # The rounding of corners limits the accuracy of facet normals.
    magnitude = EPS * max(a.magnitude, b.magnitude)
    if a.rank == 3:
        slack = _COMPOUND_SUPPORT + COMPOUND_PLANE * magnitude / a.extent
        levels = a.normals @ directions.T
        start, end = levels.take(of_a.first, axis=0), levels.take(of_a.second, axis=0)
        apart &= (np.minimum(start, end) <= slack) & (np.maximum(start, end) >= -slack)
    if b.rank == 3:
        slack = _COMPOUND_SUPPORT + COMPOUND_PLANE * magnitude / b.extent
        levels = of_a.directions @ b.normals.T
        start, end = levels.take(of_b.first[edges], axis=1), levels.take(of_b.second[edges], axis=1)
        apart &= (np.minimum(start, end) <= slack) & (np.maximum(start, end) >= -slack)
    i, j = apart.nonzero()
    return i, j + edges.start


def _supporting(a: Polytope, b: Polytope, i: np.ndarray, j: np.ndarray) -> FloatArray:
    """Return the axes across pairs of edges, oriented so that both edges are support features of their pieces."""
    of_a, of_b = a._edge_table, b._edge_table
    product = of_a.turned.take(i, axis=0) * of_b.turned_back.take(j, axis=0)
    product -= of_a.turned_back.take(i, axis=0) * of_b.turned.take(j, axis=0)
    sine = np.sqrt(np.einsum("ij,ij->i", product, product))
    kept = (sine > SAT_PARALLEL).nonzero()[0]
    i, j, sine, product = i[kept], j[kept], sine[kept], product[kept]
    near = (sine < SAT_PLAIN_CROSS).nonzero()[0]
    if len(near):
        careful = _careful_cross(of_a.directions[i[near]], of_b.directions[j[near]])
        product[near], sine[near] = careful, np.sqrt(np.einsum("ij,ij->i", careful, careful))
    axes = product / sine[:, None]
    starts_a, starts_b = of_a.starts.take(i, axis=0), of_b.starts.take(j, axis=0)
    low_a, high_a = intervals(axes, a._centred)
    low_b, high_b = intervals(axes, b._centred)
    at_a, at_b = np.einsum("ij,ij->i", axes, starts_a), np.einsum("ij,ij->i", axes, starts_b)
    rounding = COMPOUND_PLANE * EPS * max(a.magnitude, b.magnitude)
    near_a, near_b = _COMPOUND_SUPPORT * a.extent + rounding, _COMPOUND_SUPPORT * b.extent + rounding
    ahead = (at_a >= high_a - near_a) & (at_b <= low_b + near_b)
    behind = (at_a <= low_a + near_a) & (at_b >= high_b - near_b)
    return np.concatenate((axes[ahead], -axes[behind])) + 0.0
