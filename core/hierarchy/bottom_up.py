# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchies from the bottom up: boxes that are each other's best neighbours are merged, a generation at a time.

Source: S3.3; D. Meister, J. Bittner, Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy Construction,
2018.
"""

from __future__ import annotations

import numpy as np

from ..bounding.volumes import half_surfaces
from ..progress import Progress, report_progress
from ..shapes.hilbert_curve import curve_order
from ..types import FloatArray, IntArray
from .insertion import layout_of_children
from .nodes import Layout

_NEAR = 8
"""Neighbours along the curve, on either side, that are candidates for a merge."""

_SLOW = 16
"""When fewer than one in so many volumes found a partner, the others are paired along the curve."""


def bottom_up_layout(low: FloatArray, high: FloatArray, middles: FloatArray, progress: Progress | None) -> Layout:
    """Merge boxes that are each other's best neighbours along the curve, until one is left."""
    count = low.shape[1]
    nodes = curve_order(middles)
    low, high = low[:, nodes], high[:, nodes]
    children = [np.full((count, 2), -1, dtype=np.intp)]
    made = count
    while len(nodes) > 1:
        first, second = _partners(low, high)
        children.append(np.stack([nodes[first], nodes[second]], axis=1))
        kept = np.ones(len(nodes), dtype=np.bool_)
        kept[second] = False
        nodes[first] = made + np.arange(len(first))
        made += len(first)
        low[:, first] = np.minimum(low[:, first], low[:, second])
        high[:, first] = np.maximum(high[:, first], high[:, second])
        low, high, nodes = low[:, kept], high[:, kept], nodes[kept]
        report_progress(progress, 1.0 - (len(nodes) - 1) / count)
    # The items are the first nodes.
    own = np.arange(made)
    return layout_of_children(np.concatenate(children), int(nodes[0]), own, np.ones_like(own), own)


def _partners(low: FloatArray, high: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the boxes (dim, n) along the curve to be merged, and the later ones to merge them with."""
    size = low.shape[1]
    number = np.arange(size)
    best, cost = np.zeros(size, dtype=np.intp), np.full(size, np.inf)
    for step in range(1, min(_NEAR, size - 1) + 1):
        surface = half_surfaces(np.maximum(high[:, :-step], high[:, step:]) - np.minimum(low[:, :-step], low[:, step:]))
        for own, its in ((number[:-step], number[step:]), (number[step:], number[:-step])):
            # Of equals the one next to it in a pair: equal boxes then merge two by two, not one after the other.
            own_cost = cost[own[0] : own[-1] + 1]
            better = (surface < own_cost) | ((surface == own_cost) & (its == own ^ 1))
            own_cost[better] = surface[better]
            best[own[0] : own[-1] + 1][better] = its[better]
    mutual = (best[best] == number) & (number < best)
    if _SLOW * int(mutual.sum()) < size:
        # Rings of equal costs, or chains in which each box is nearest to the one before: two by two along the curve.
        taken = mutual.copy()
        taken[best[mutual]] = True
        pair = np.flatnonzero(~taken[:-1] & ~taken[1:])
        pair = pair[pair % 2 == 0]
        mutual[pair], best[pair] = True, pair + 1
    first = np.flatnonzero(mutual)
    return first, best[first]
