# SPDX-License-Identifier: GPL-3.0-or-later
"""Do many pairs of convex polytopes still intersect, or are they still apart, after they have moved a little.

An answer comes with a margin: how far both shapes together may move before it must be looked at again. A slab that is
empty stays so until they have moved by its width; a ball around the origin in the Minkowski difference stays around it
until they have moved by its radius. So nothing is asked about most pairs of a scene in which little moved.
Source: S1.8, S4.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..progress import Progress, subrange
from ..tolerance import BATCH_CORNERS, EPS
from ..types import FloatArray, IntArray
from .hulls import (
    APART,
    MEET,
    OPEN,
    HullTable,
    hulls_along,
    hulls_around,
    hulls_by_balls,
    hulls_by_portals,
    hulls_by_slabs,
)


@dataclass(frozen=True, eq=False)
class CoherentAnswers:
    """What is known of many pairs of polytopes A and B, and for how long."""

    state: NDArray[np.int8]
    """(n,) APART, MEET or OPEN: unknown, for the single call."""
    margin: FloatArray
    """(n,) the state stays as it is while both shapes together have moved by less: the sum of how far the corner of
    each that moved most has; 0 where nothing is sure."""
    normal: FloatArray
    """(3, n) where APART, unit vectors from A to B across an empty slab; else 0."""
    corners: NDArray[np.int32]
    """(2, 3, n) three corners of A and of B, the differences of which are the last portal: where MEET, they are around
    the origin together with that of the mean corners; -1 where no portal was needed."""


def hulls_coherent(
    table: HullTable,
    i: IntArray,
    j: IntArray,
    start: CoherentAnswers | None = None,
    motion: FloatArray | None = None,
    progress: Progress | None = None,
) -> CoherentAnswers:
    """Return whether shapes i (n,) and j (n,) intersect.

    `start` is the last answer for the same pairs, `motion` what `motions` says of the table it was made of and this
    one. Raises Cancelled when `progress` says so.
    """
    if start is None or motion is None:
        count = len(i)
        nothing = np.full((2, 3, count), -1, dtype=np.int32)
        start = CoherentAnswers(np.zeros(count, dtype=np.int8), np.zeros(count), np.zeros((3, count)), nothing)
        motion = np.zeros(len(table))
    margin = start.margin - motion.take(i)
    margin -= motion.take(j)
    left = np.flatnonzero(~(margin > 0.0))
    if not len(left):
        return CoherentAnswers(start.state, margin, start.normal, start.corners)
    state, normal, corners = start.state.copy(), start.normal.copy(), start.corners.copy()
    state[left], margin[left] = OPEN, 0.0
    # Along the last normal first: one support point of each.
    before = left[start.state.take(left) == APART]
    gap = hulls_along(table, i.take(before), j.take(before), normal.take(before, axis=1))
    still = gap > 0.0
    state[before[still]], margin[before[still]] = APART, gap[still]
    # In the last tetrahedron: where its corners are now.
    inside = left[(corners[0, 0].take(left) >= 0) & (start.state.take(left) == MEET)]
    deep = hulls_around(table, i.take(inside), j.take(inside), corners.take(inside, axis=2))
    some = inside[deep > 0.0]
    state[some], margin[some] = MEET, deep[deep > 0.0]
    left = left[state.take(left) == OPEN]
    deep = hulls_by_balls(table, i.take(left), j.take(left))
    some = left[deep > 0.0]
    state[some], margin[some] = MEET, deep[deep > 0.0]
    left = left[state.take(left) == OPEN]
    found = hulls_by_slabs(table, i.take(left), j.take(left), subrange(progress, 0.0, 0.3))
    state[left], normal[:, left], margin[left] = found.state, found.normal, np.abs(found.gap)
    left = left[state.take(left) == OPEN]
    found = hulls_by_portals(table, i.take(left), j.take(left), subrange(progress, 0.3, 1.0), start=corners[:, :, left])
    state[left], normal[:, left], margin[left] = found.state, found.normal, np.abs(found.gap)
    assert found.corners is not None
    corners[:, :, left] = found.corners
    return CoherentAnswers(state, margin, normal, corners)


def motions(before: HullTable, now: HullTable) -> FloatArray:
    """Return (n,) how far the corner of each shape that moved most may have: of a table, and the same one moved.

    The way of the mean corner, and how far a turn takes the corner that is farthest from there; what rounding may hide
    is added.
    """
    way = (now.centers[:3] + now.centers[3:]) - (before.centers[:3] + before.centers[3:])
    result: FloatArray = np.sqrt(np.einsum("cn,cn->n", way, way))
    # A difference of two rotations takes no unit vector farther than its norm over the root of 2.
    still = np.eye(3)
    turn = (still if now.axes is None else now.axes) - (still if before.axes is None else before.axes)
    turn = turn.reshape(-1, 9)
    far = np.sqrt(0.5 * np.einsum("nk,nk->n", turn, turn))
    result += far * np.maximum(before.balls[0], now.balls[0])
    reach = np.abs(now.centers[:3]).max(axis=0, initial=0.0) + np.abs(before.centers[:3]).max(axis=0, initial=0.0)
    result += BATCH_CORNERS * EPS * (reach + before.balls[0] + now.balls[0])
    return result
