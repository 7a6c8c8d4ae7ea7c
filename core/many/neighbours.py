# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest neighbour of each of many shapes.

Bounding boxes tell for every pair what its signed distance is at least, and the farthest corners of two boxes what it
is at most: the broad phase finds the pairs that may be nearest by these, and the exact distance is asked for from the
most promising one on, until no other can be nearer. Source: N. Roussopoulos, S. Kelley, F. Vincent, Nearest Neighbor
Queries, 1995.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..broad_phase.candidate_pairs import candidate_pairs
from ..progress import Progress, report_progress, subrange
from ..shapes.shape import Shape
from ..tolerance import BATCH_CORNERS, DEFAULT_CONTACT_TOLERANCE, EPS, LARGEST_COORDINATE
from ..types import FloatArray, IntArray
from .contacts import contacts
from .result import Contacts
from .shape_set import ShapeSet, validate_shapes

_AROUND = 4
"""How many that come next in an order along each axis are looked at for a first bound."""


def nearest_neighbours(
    shapes: Sequence[Shape],
    others: Sequence[Shape] | None = None,
    *,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    regions: bool = True,
    progress: Progress | None = None,
) -> Contacts:
    """Return the contact of each shape with the one that is nearest to it: row k has the pair (k, its neighbour).

    >>> boxes = [Box((x, 0, 0), (2, 2, 2)) for x in (0, 3, 7)]
    >>> result = nearest_neighbours(boxes)
    >>> print(result.pairs.tolist(), result.signed_distance.tolist())
    [[0, 1], [1, 0], [2, 1]] [1.0, 1.0, 2.0]

    Nearest is what has the least signed distance: of several that collide the one that penetrates deepest. Of such
    within rounding it is one. Without `others` the neighbour is another of `shapes`. There are no rows when there is
    none to be one.

    For the other arguments see `contacts`. Raises ValueError, naming the argument, when a shape is none or has another
    dimension, or an option is not valid; Cancelled when `progress` says so.
    """
    first = validate_shapes("shapes", shapes)
    second = None if others is None else validate_shapes("others", others, first)
    # Tables of shapes are made once for all rounds.
    known = shapes if second is None and isinstance(shapes, ShapeSet) else ShapeSet((*first, *(second or ())))
    report_progress(progress, 0.0)
    count = len(first)
    if count and len(first if second is None else second) > (second is None):
        pairs = _may_be_nearest(first, second, subrange(progress, 0.0, 0.1))
        nearest = _nearest(known, count, second is None, *pairs, subrange(progress, 0.1, 0.9))
        chosen = np.stack([np.arange(count), nearest], axis=1)
    else:
        chosen = np.zeros((0, 2), dtype=np.intp)
    return contacts(
        known if second is None else first,
        chosen,
        others=second,
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        regions=regions,
        progress=subrange(progress, 0.9, 1.0),
    )


def _corners(shapes: tuple[Shape, ...]) -> tuple[FloatArray, FloatArray]:
    """Return lowest and highest corners (dim, n) of boxes around shapes."""
    bounds = np.array([shape._bounds_tuples for shape in shapes])
    low, high = np.ascontiguousarray(bounds[:, 0].T), np.ascontiguousarray(bounds[:, 1].T)
    slack = BATCH_CORNERS * EPS * np.maximum(np.abs(low), np.abs(high)).max(axis=0)
    return low - slack, high + slack


def _may_be_nearest(
    shapes: tuple[Shape, ...], others: tuple[Shape, ...] | None, progress: Progress | None
) -> tuple[IntArray, FloatArray]:
    """Return pairs (p, 2), ordered by shape, with the nearest neighbours among them, and what the signed distances
    (p,) are at least."""
    low, high = _corners(shapes)
    other_low, other_high = (low, high) if others is None else _corners(others)
    itself = others is None
    bound = _farthest_near(low, high, other_low, other_high, itself)
    bound *= 1.0 + BATCH_CORNERS * EPS
    most = LARGEST_COORDINATE
    found = candidate_pairs(
        np.maximum(low - bound, -most).T,
        np.minimum(high + bound, most).T,
        np.maximum(other_low, -most).T,
        np.minimum(other_high, most).T,
        progress=progress,
    ).pairs
    if itself:
        found = found[found[:, 0] != found[:, 1]]
    i, j = found.T
    least = np.full(len(found), -np.inf)
    square = np.zeros(len(found))
    for k in range(len(low)):
        # How far B must be moved along the axis, one way or the other, to be beside A; negative: it is already.
        one, other = high[k][i] - other_low[k][j], other_high[k][j] - low[k][i]
        push = np.minimum(one, other)
        least = np.maximum(least, -push)
        square += np.maximum(-push, 0.0) ** 2
    least = np.where(square > 0.0, np.sqrt(square) * (1.0 - BATCH_CORNERS * EPS), least)
    kept = least <= bound[i]
    return found[kept], least[kept]


def _farthest_near(
    low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray, itself: bool
) -> FloatArray:
    """Return (n,) what the distance of each box from what is nearest in the other is at most."""
    middle, others = 0.5 * low + 0.5 * high, 0.5 * other_low + 0.5 * other_high
    count = others.shape[1]
    best = np.full(middle.shape[1], np.inf)
    for k in range(len(low)):
        order = np.argsort(others[k], kind="stable")
        place = np.searchsorted(others[k][order], middle[k])
        for step in range(-_AROUND, _AROUND + 1):
            nearby = order[np.clip(place + step, 0, count - 1)]
            reach = np.maximum(high, other_high[:, nearby]) - np.minimum(low, other_low[:, nearby])
            length = np.sqrt((reach * reach).sum(axis=0))
            if itself:
                length[nearby == np.arange(len(nearby))] = np.inf
            np.minimum(best, length, out=best)
    return best


def _nearest(
    shapes: ShapeSet,
    count: int,
    itself: bool,
    pairs: IntArray,
    least: FloatArray,
    progress: Progress | None,
) -> IntArray:
    """Return (count,) which is nearest to each of the first `count` shapes, among these or those after them, of
    candidates with what their signed distances are at least."""
    order = np.lexsort((least, pairs[:, 0]))
    pairs, least = pairs[order], least[order]
    start = np.searchsorted(pairs[:, 0], np.arange(count))
    ends = np.append(start[1:], len(pairs))
    best, nearest = np.full(count, np.inf), pairs[start, 1]
    known: dict[int, float] = {}
    active = np.arange(count)
    width = 1
    while len(active):
        report_progress(progress, 1.0 - len(active) / count)
        # The next few of each, as many more each time as have not been enough.
        rows = start[active, None] + np.arange(width)
        asked = (rows < ends[active, None]) & (least[np.minimum(rows, len(least) - 1)] <= best[active, None])
        chosen = rows[asked]
        distance = _distances(shapes, 0 if itself else count, pairs[chosen], known)
        i = pairs[chosen, 0]
        # The first of the least of each shape.
        by = np.lexsort((pairs[chosen, 1], distance, i))
        heads = by[np.flatnonzero(np.diff(i[by], prepend=-1))]
        better = heads[distance[heads] < best[i[heads]]]
        best[i[better]], nearest[i[better]] = distance[better], pairs[chosen[better], 1]
        start[active] += width
        width *= 2
        more = start[active] < ends[active]
        active = active[more]
        active = active[least[start[active]] <= best[active]]
    return nearest


def _distances(shapes: ShapeSet, offset: int, pairs: IntArray, known: dict[int, float]) -> FloatArray:
    """Return the signed distances (p,) of pairs, B of which are among the shapes from `offset` on; of one set, where
    that is 0, those asked for once whichever comes first."""
    if offset:
        return contacts(shapes, pairs + [0, offset], regions=False, certificates=False).signed_distance
    ordered = np.sort(pairs, axis=1)
    codes = (ordered[:, 0] * len(shapes) + ordered[:, 1]).tolist()
    new = sorted(set(codes) - known.keys())
    if new:
        asked = np.stack(np.divmod(np.array(new), len(shapes)), axis=1)
        found = contacts(shapes, asked, regions=False, certificates=False).signed_distance
        known.update(zip(new, found.tolist(), strict=True))
    return np.array([known[code] for code in codes])
