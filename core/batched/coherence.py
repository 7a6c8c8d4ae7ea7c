# SPDX-License-Identifier: GPL-3.0-or-later
"""Do many pairs of polytopes still intersect, or are still apart, after a small motion: temporal coherence.

1. Each state has a margin: the width of an empty slab, or the radius of a ball around the origin in A - B. While both
   polytopes together moved by less, it cannot have changed, and nothing is computed.
2. Where the margin is used up, the last normal is tried (one support point), or the last portal.
3. What is left is searched with portals, starting from the last ones.

Source: S1.8, S4.4; D. Baraff, Curved Surfaces and Coherence, 1990 (separating planes as witnesses).
"""

from __future__ import annotations

import numpy as np

from ..progress import Progress
from ..tolerance import BATCH_CORNERS, EPS
from ..types import FloatArray, IntArray
from .hull_intersection import enclosed_radii, slab_widths
from .hull_pairs import NO_VERTEX
from .hull_table import HullTable
from .portals import APART, MEET, OPEN, HullStates, search_portals
from .vectors import length


def update_states(
    table: HullTable,
    i: IntArray,
    j: IntArray,
    start: HullStates | None = None,
    motion: FloatArray | None = None,
    progress: Progress | None = None,
) -> HullStates:
    """Return the states of polytopes i (n,) and j (n,).

    `start` is the last result for the same pairs, `motion` the `motion_bounds` since then: a state lasts while those
    of A and B add up to less than its margin. Raise Cancelled.
    """
    if start is None or motion is None:
        start, motion = HullStates.unknown(len(i)), np.zeros(len(table))
    margin = start.margin - motion.take(i)
    margin -= motion.take(j)
    left = np.flatnonzero(~(margin > 0.0))
    if not len(left):
        return HullStates(start.state, margin, start.normal, start.portals)
    state, normal, portals = start.state.copy(), start.normal.copy(), start.portals.copy()
    before = state.take(left)
    apart, inside = left[before == APART], left[(before == MEET) & (portals[0].take(left) != NO_VERTEX)]
    state[left], margin[left] = OPEN, 0.0
    for last, columns, margins in (
        (APART, apart, slab_widths(table, i.take(apart), j.take(apart), normal.take(apart, axis=1))),
        (MEET, inside, enclosed_radii(table, i.take(inside), j.take(inside), portals.take(inside, axis=1))),
    ):
        sure = margins > 0.0
        state[columns[sure]], margin[columns[sure]] = last, margins[sure]
    left = left[state.take(left) == OPEN]
    found = search_portals(table, i.take(left), j.take(left), progress, start=portals[:, left])
    state[left], normal[:, left], margin[left] = found.state, found.normal, found.margin
    portals[:, left] = found.portals
    return HullStates(state, margin, normal, portals)


def motion_bounds(before: HullTable, now: HullTable) -> FloatArray:
    """Return upper bounds (n,) of how far any vertex of each polytope moved, of one table in two poses.

    The translation of the mean plus the rotation times the bounding radius; rounding is added.
    """
    moved = length((now.centers[:3] + now.centers[3:]) - (before.centers[:3] + before.centers[3:]))
    turned, turned_before = (np.eye(3) if table.axes is None else table.axes for table in (now, before))
    turn = (turned - turned_before).reshape(-1, 9)
    # A difference of two rotations moves no unit vector farther than its norm over the root of 2.
    moved += np.sqrt(0.5 * np.einsum("nk,nk->n", turn, turn)) * np.maximum(before.radii[0], now.radii[0])
    reach = np.abs(now.centers[:3]).max(axis=0, initial=0.0) + np.abs(before.centers[:3]).max(axis=0, initial=0.0)
    return moved + BATCH_CORNERS * EPS * (reach + before.radii[0] + now.radii[0])
