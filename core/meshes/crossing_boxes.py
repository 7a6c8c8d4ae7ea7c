# SPDX-License-Identifier: GPL-3.0-or-later
r"""Boxes of translations for which the same two triangles cross: a lower bound of the depth, of thin solids too.

The translations t of B for which two triangles p of A and q of B meet are a convex polytope, p - q:

          .---------------.        The box with the middle m and half sides h is in p - q, so p and q cross for all t
         /    +-------+    \       in it: none of these separates A and B. A box that is in p - q for no pair is cut
        /     |       |     \      into eight, down to those of the last level. The distance of the nearest box that is
       :      |   m-h-|      :     left from no translation, t = 0, is the bound: no shorter translation separates.
        \     |       |     /
         \    +-------+    /
          '---------------'

The axes n are the normals of p and q and the products of an edge of each: across the faces of p - q, for t on which the
ranges of n.p and n.(q + t) only touch. At t = m + e, in the box, they overlap by

    overlap(m + e) >= overlap(m) - |n.e| >= overlap(m) - h reach,        reach = sum_k |n.f_k|
    overlap(t) = min(max n.p - min n.(q + t), max n.(q + t) - min n.p)   f_k the axes of the octree, |e.f_k| <= h

so the largest h is `margin`, the least overlap(m) / reach of all axes. Where it is negative, they meet for no t of a
box with half sides up to -margin. The largest overlap for any m is half the sum of both ranges: where that is too
small, a pair covers no box of the last level.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ..budget import Budget
from ..progress import Progress, tracked
from ..tolerance import EPS
from ..types import FloatArray, IntArray
from .body import Body
from .depth_proof import CrossingBoxes, Octree
from .mesh_sweep import grain, near_pairs
from .triangle_axes import across_edges, edges_of, normals, range_along

_ALIKE = 1e-9
"""Relative: sizes of meshes that differ by less count as equal."""
_FIRST = 2
"""Level of the boxes for which pairs of triangles are looked for, one after the other."""
_LAST = 5
"""Level of the smallest boxes."""
_COMPARED = 1_000_000
"""Boxes and pairs of triangles that are compared without a limit in seconds: half a second."""
_ROOM = 1e-7
"""Times the size of two triangles and how far they are apart: they cross by more in all of a box."""
_ROUNDING = 64.0
"""Times EPS and the largest coordinate: the same."""
_GRAINS = 2.5
"""Mean sides of the larger triangles: of longer translations there are too many boxes as small as triangles are."""
_INWARD = 1e-9
"""Relative: how much a bound is reduced for the rounding of lengths."""


def crossing_boxes(
    a: Body, b: Body, length: float, budget: Budget, progress: Progress | None = None
) -> CrossingBoxes | None:
    """Return a proof that no translation shorter than some length, at most `length`, separates two meshes; None where
    none is found."""
    if length > _GRAINS * max(grain(a.mesh), grain(b.mesh)):
        return None
    octree = Octree((a if a.size >= b.size * (1.0 - _ALIKE) else b).frame, length)
    search = _CrossingSearch(a, b, octree, budget)
    # The smallest boxes around no translation first: they decide for most.
    search.cover(_LAST, np.array(list(np.ndindex(2, 2, 2))) + (2 ** (_LAST - 1) - 1))
    firsts = np.array(list(np.ndindex((2**_FIRST,) * 3)))
    firsts = firsts[np.argsort(octree.nearest(_FIRST, firsts), kind="stable")]
    for k in tracked(range(len(firsts)), progress):
        search.cover(_FIRST, firsts[k : k + 1])
    if search.least <= _INWARD * length:
        return None
    levels, places, pairs = (np.concatenate(column) for column in zip(*search.found, strict=True))
    return CrossingBoxes(octree, levels, places, pairs, search.least * (1.0 - _INWARD))


class _CrossingSearch:
    """Pairs of triangles that cross in boxes of an octree, and what is left open."""

    def __init__(self, a: Body, b: Body, octree: Octree, budget: Budget) -> None:
        self.a, self.b, self.octree, self.budget = a, b, octree, budget
        self.found: list[tuple[IntArray, IntArray, IntArray]] = []
        """Levels (k,) and places (k, 3) of boxes and the pairs (k, 2) that cover them."""
        self.least = octree.reach
        """How short the shortest translation is that is in none of them."""
        self._compared = 0

    def cover(self, level: int, places: IntArray) -> None:
        """Cover boxes (k, 3) that are side by side, or parts of them, where that matters."""
        if self.octree.nearest(level, places).min() >= self.least:
            return
        middles = self.octree.middles(level, places)
        middle, across = middles.mean(axis=0), np.abs(self.octree.frame).sum(axis=0).max()
        reach = float(np.abs(middles - middle).max() + 0.5 * self.octree.size(level) * across)
        near = near_pairs(self.a.mesh, self.b.mesh, middle, reach)
        of, pairs = np.repeat(np.arange(len(places)), len(near)), np.tile(near, (len(places), 1))
        while True:
            chosen = self.octree.nearest(level, places) < self.least
            rows = np.flatnonzero(chosen.take(of))
            of, pairs, places = (chosen.cumsum() - 1).take(of.take(rows)), pairs.take(rows, axis=0), places[chosen]
            self._compared += len(of)
            late = self.budget.is_late if self.budget.seconds < inf else self._compared > _COMPARED
            half = 0.5 * self.octree.size(level)
            margins = np.full(len(of), -inf) if late else self._margins(level, places, of, pairs)
            # The pair with the largest margin of each box.
            order = np.lexsort((-margins, of))
            of, pairs, margins = of.take(order), pairs.take(order, axis=0), margins.take(order)
            best = np.flatnonzero((np.diff(of, prepend=-1) != 0) & (margins >= half))
            self.found.append((np.full(len(best), level), places.take(of.take(best), axis=0), pairs.take(best, axis=0)))
            left = np.ones(len(places), dtype=np.bool_)
            left[of.take(best)] = False
            if late or level == _LAST:
                self.least = float(self.octree.nearest(level, places[left]).min(initial=self.least))
                return
            # Pairs that meet nowhere in a box cover no part of it.
            rows = np.flatnonzero(left.take(of) & (margins > -half))
            of = (8 * (left.cumsum() - 1).take(of.take(rows))[:, None] + np.arange(8)).ravel()
            pairs, places = np.repeat(pairs.take(rows, axis=0), 8, axis=0), self.octree.parts(places[left])
            level += 1

    def _margins(self, level: int, places: IntArray, of: IntArray, pairs: IntArray) -> FloatArray:
        """Return (k,) half the sides of the largest boxes around the middles of places `of` (k,) in all of which pairs
        (k, 2) of triangles cross. Negative where they do not cross there: in boxes with such sides they nowhere do.
        -inf where that is less than half the side of a place, or the pair covers no box of the last level."""
        p, q = self.a.mesh.corner_rows(pairs[:, 0]), self.b.mesh.corner_rows(pairs[:, 1])
        q = q - p[0] + self.octree.middles(level, places).T.take(of, axis=1)
        p = p - p[0]
        room = _ROOM * np.maximum(np.abs(p).max(axis=(0, 1)), np.abs(q).max(axis=(0, 1)))
        room += _ROUNDING * EPS * max(self.a.mesh.magnitude, self.b.mesh.magnitude)
        least, smallest = -0.5 * self.octree.size(level), 0.5 * self.octree.size(_LAST)
        margins, left = np.full(len(of), inf), np.arange(len(of))
        for stage in (normals, across_edges):
            for axis in stage(edges_of(p), edges_of(q)):
                (low_p, high_p), (low_q, high_q) = range_along(axis, p), range_along(axis, q)
                reach = np.abs(self.octree.frame @ axis).sum(axis=0)
                reach[reach == 0.0] = np.nan  # no axis: triangles without area, parallel edges
                overlap = np.minimum(high_p - low_q, high_q - low_p) / reach - room
                wide = (high_p - low_p + high_q - low_q) / reach >= 2.0 * (room + smallest)
                np.fmin(margins, np.where(wide | np.isnan(reach), overlap, -inf), out=margins)
            kept = np.flatnonzero(margins > least)
            p, q = p.take(kept, axis=2), q.take(kept, axis=2)
            left, margins, room = left.take(kept), margins.take(kept), room.take(kept)
        result = np.full(len(of), -inf)
        result[left] = margins
        return result
