# SPDX-License-Identifier: GPL-3.0-or-later
"""Points that are near each other, joined to clusters: chains of steps of a distance or less.

Most points have no other near along some axis, and are left out first. All points of a small cell are near each other,
whatever their number: so many points in nearly one place take no more time than as many elsewhere.
"""

from __future__ import annotations

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..connected import connected_parts
from ..runs import group_chunks, ranges
from ..tolerance import EPS
from ..types import FloatArray, IntArray
from .copies import welded_ids

_ROUNDED = 1.0 + 4.0 * EPS
"""Times the distance: of points no farther apart, as computed, no coordinates differ by more."""
_CELL = 0.5
"""Times the distance: the sides of cells, whose diagonals are less than the distance then."""
_MOST_CELLS = 2.0**50
"""Along an axis: of more, numbers would be rounded, and each point is in a cell of its own."""
_CHUNK = 1 << 16
"""Pairs of points measured in one go."""


def near_clusters(points: FloatArray, distance: float) -> tuple[IntArray, IntArray]:
    """Return (n,) for each point (n, 3) the least index of its cluster, and the links (k, 2), no longer than the
    distance, that connect the different places of clusters."""
    ids = welded_ids(points)
    if not (distance > 0.0 and len(points)):
        return ids, np.zeros((0, 2), dtype=np.intp)
    spots = np.flatnonzero(ids == np.arange(len(ids)))
    spots = spots.take(_in_company(points.take(spots, axis=0), _ROUNDED * distance))
    if not len(spots):
        return ids, np.zeros((0, 2), dtype=np.intp)
    places = points.take(spots, axis=0)
    order, first = _cells(places, _CELL * distance)
    count = np.diff(first, append=len(order))
    heads = order.take(first)
    ranked = places.take(order, axis=0)
    low, high = np.minimum.reduceat(ranked, first, axis=0), np.maximum.reduceat(ranked, first, axis=0)
    i, j = candidate_pairs(low, high, margin=distance).pairs.T
    own = np.stack([np.repeat(heads, count), order], axis=1)
    links = np.concatenate([own[own[:, 0] != own[:, 1]], _near(places, heads.take(i), heads.take(j), distance)])
    # All points of two cells only where one of each has not connected them.
    part = connected_parts(links, len(spots)).take(heads)
    left = np.flatnonzero((part.take(i) != part.take(j)) & (count.take(i) * count.take(j) > 1))
    i, j = i.take(left), j.take(left)
    sizes = count.take(i) * count.take(j)
    for cells, _ in group_chunks(np.cumsum(sizes) - sizes, int(sizes.sum()), _CHUNK):
        size, across = sizes[cells], np.repeat(count.take(j[cells]), sizes[cells])
        place = ranges(np.zeros(len(size), dtype=np.intp), size)
        p = order.take(np.repeat(first.take(i[cells]), size) + place // across)
        q = order.take(np.repeat(first.take(j[cells]), size) + place % across)
        links = np.concatenate([links, _near(places, p, q, distance)])
    cluster = np.arange(len(points))
    cluster[spots] = spots.take(connected_parts(links, len(spots)))
    return cluster.take(ids), spots.take(links)


def _in_company(points: FloatArray, distance: float) -> IntArray:
    """Return which points (n, 3) have others that steps of a distance or less lead to along x, of those along y, and of
    those along z; all that are near another are among them."""
    group = np.zeros(len(points), dtype=np.intp)
    for row in points.T:
        order = np.lexsort((row, group))
        last, ranked = group.take(order), row.take(order)
        group[order[1:]] = np.cumsum((last[1:] != last[:-1]) | (ranked[1:] - ranked[:-1] > distance))
        group[order[0]] = 0
    return np.flatnonzero(np.bincount(group).take(group) > 1)


def _cells(points: FloatArray, size: float) -> tuple[IntArray, IntArray]:
    """Return an order of points (n, 3) by the cells that they are in, and where in it each cell begins."""
    with np.errstate(over="ignore"):
        cells = np.floor((points - points.min(axis=0)) / size)
    if not cells.max() < _MOST_CELLS:
        return np.arange(len(points)), np.arange(len(points))
    order = np.lexsort((cells[:, 2], cells[:, 1], cells[:, 0]))
    ranked = cells.take(order, axis=0)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return order, np.flatnonzero(new)


def _near(points: FloatArray, i: IntArray, j: IntArray, distance: float) -> IntArray:
    """Return the pairs (k, 2) of points i[k] and j[k] that are no farther apart than a distance."""
    x, y, z = (points.take(i, axis=0) - points.take(j, axis=0)).T
    near = np.flatnonzero(np.hypot(np.hypot(x, y), z) <= distance)
    return np.stack([i.take(near), j.take(near)], axis=1)
