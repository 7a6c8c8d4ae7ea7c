# SPDX-License-Identifier: GPL-3.0-or-later
"""Do many pairs of polytopes intersect, from cheap proofs to expensive ones.

1. Slabs: bounding spheres, or intervals along a fixed axis, that are disjoint prove that a pair is apart.
2. Rays: what both polytopes reach at least toward each other's mean, from the gauge table, proves a common point where
   it adds up to the distance of the means.
3. Portals settle the rest.

A proof is one that rounding cannot reverse. Pairs without one are OPEN, for the single call. Source: S4.2, S4.4.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...progress import Progress, subrange
from ...runs import chunks
from ...tolerance import EPS
from ...types import BoolArray, FloatArray, IntArray
from ...vectors import dot, length
from .columns import CHUNK, SingleArray
from .hull_pairs import HullPairs
from .hull_table import HullTable
from .portals import APART, MEET, OPEN, HullStates, search_portals

_PAIRS_FOR_INTERVALS = 4
"""Pairs per polytope from which intervals take less time than the portals that they save."""
_REACH_ROUNDING = 32.0
"""Times EPS: how far, relatively, a polytope's reach along a ray may be computed too long."""
_TINY = 1e-290
"""Not relative: less than any gauge but 0, with a finite inverse."""


def intersect_hulls(
    table: HullTable, i: IntArray, j: IntArray, with_intervals: bool, progress: Progress | None = None
) -> NDArray[np.int8]:
    """Return (n,) APART, MEET or OPEN of polytopes i (n,) and j (n,), the first by intervals too where that is asked
    for. Raise Cancelled."""
    if with_intervals:
        apart = are_separated(table, i, j, subrange(progress, 0.0, 0.2))
    else:
        apart = _spheres_are_separated(table, i, j)
    state = np.where(apart, np.int8(APART), np.int8(OPEN))
    left = np.flatnonzero(~apart)
    meet = rays_meet(table, i.take(left), j.take(left))
    state[left[meet]] = MEET
    left = left[~meet]
    state[left] = search_portals(table, i.take(left), j.take(left), subrange(progress, 0.2, 1.0)).state
    return state


def intervals_pay(table: HullTable, i: IntArray) -> bool:
    """Return whether intervals of a table are worth making for so many pairs."""
    return len(i) >= _PAIRS_FOR_INTERVALS * len(table)


def _spheres_are_separated(table: HullTable, i: IntArray, j: IntArray) -> BoolArray:
    """Return (n,) whether the bounding spheres of i (n,) and j (n,) are disjoint for sure."""
    result = np.empty(len(i), dtype=bool)
    for part in chunks(len(i), CHUNK):
        a, b = i[part], j[part]
        radii = table.radii.take(a, axis=1) + table.radii.take(b, axis=1)
        result[part] = length(table.offsets(a, b)) > radii[0] + radii[2]
    return result


def are_separated(table: HullTable, i: IntArray, j: IntArray, progress: Progress | None = None) -> BoolArray:
    """Return (n,) whether the intervals of i (n,) and j (n,) along a fixed axis are disjoint for sure.

    Raise Cancelled.
    """
    result = np.zeros(len(i), dtype=bool)
    for part, gaps in _interval_gaps(table, i, j, progress):
        # Eight booleans are compared as one word.
        (gaps > 0.0).view(np.uint64).T.any(axis=0, out=result[part])
    return result


def sphere_slabs(table: HullTable, i: IntArray, j: IntArray, _progress: Progress | None = None) -> HullStates:
    """Return the empty slabs between i (n,) and j (n,) by bounding spheres, and MEET where the inscribed ones do."""
    result = HullStates.unknown(len(i))
    offset = table.offsets(i, j)
    radii = table.radii.take(i, axis=1)
    radii += table.radii.take(j, axis=1)
    distance = length(offset)
    gap = distance - radii[0] - radii[2]
    apart = np.flatnonzero(gap > 0.0)
    result.state[apart], result.margin[apart] = APART, gap[apart]
    result.normal[:, apart] = offset[:, apart] / distance[apart]
    result.state[distance <= radii[1]] = MEET
    return result


def _interval_gaps(
    table: HullTable, i: IntArray, j: IntArray, progress: Progress | None
) -> Iterator[tuple[slice, SingleArray]]:
    """Yield of some pairs, along each fixed axis (m, AXES), the gap between the intervals of A and B, below 0 where
    they overlap."""
    for part in chunks(len(i), CHUNK // 8, progress):
        a, b = i[part], j[part]
        gaps = table.intervals[0].take(b, axis=0)
        gaps -= table.intervals[0].take(a, axis=0)
        np.abs(gaps, out=gaps)
        gaps -= table.intervals[1].take(a, axis=0)
        gaps -= table.intervals[1].take(b, axis=0)
        yield part, gaps


def rays_meet(table: HullTable, i: IntArray, j: IntArray) -> BoolArray:
    """Return (n,) whether i (n,) and j (n,) have a common point on the segment between their means, for sure."""
    result = np.zeros(len(i), dtype=bool)
    for part in chunks(len(i), CHUNK):
        a, b = i[part], j[part]
        offset = table.offsets(a, b)
        solid = (table.radii[1].take(a) > 0.0) & (table.radii[1].take(b) > 0.0)
        gauges = table.gauges_at(np.concatenate([a, b]), np.concatenate([offset, -offset], axis=1))
        # Where the means coincide the gauges are 0: a common point, however far the polytopes reach.
        reach = (1.0 / np.maximum(gauges, _TINY).reshape(2, -1)).sum(axis=0)
        result[part] = solid & (reach * (1.0 - _REACH_ROUNDING * EPS) >= 1.0)
    return result


def rays(table: HullTable, i: IntArray, j: IntArray, _progress: Progress | None = None) -> HullStates:
    """Return MEET where `rays_meet`, and OPEN for all others."""
    result = HullStates.unknown(len(i))
    result.state[rays_meet(table, i, j)] = MEET
    return result


def slab_widths(table: HullTable, i: IntArray, j: IntArray, normals: FloatArray) -> FloatArray:
    """Return lower bounds (n,) of the gap between i (n,) and j (n,) across unit vectors (3, n) from A to B; <= 0 where
    none is sure."""
    result = np.empty(len(i))
    for part in chunks(len(i), CHUNK):
        pairs = HullPairs(table, i[part], j[part])
        across = np.ascontiguousarray(normals[:, part])
        result[part] = -dot(across, pairs.supports(across)[:3]) - pairs.rounding
    return result
