# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove again that no translation shorter than a given length separates two compounds.

A translation separates when it is inside of none of the pairwise differences A_i - B_j. These are built here as hulls
of differences of vertices, not as the search for the translation builds them. Then all translations are covered: a set
of them, those beyond some facets, is done when weights prove that none of it is shorter than the length; otherwise its
nearest one is inside some difference, and the set is covered by what is beyond each of that one's facets. A nearest one
that is inside of none is a counter-example. Any weights >= 0 prove their bound, so whoever found them need not be
trusted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compounds.compound_depth import _SUBSETS, _weights
from ..compounds.compound_planes import Planes, difference_planes
from ..compounds.curved_escape import inner_planes
from ..shapes.curved_shape import ConvexShape
from ..shapes.polytope import Polytope
from ..tolerance import COMPOUND_DUAL, EPS
from ..types import FloatArray, IntArray

_BATCH = 64
"""Sets of translations looked at together."""
_PRODUCTS = 400_000
"""Of facets and sets, held in memory together."""


_MOST_CORNERS = 20_000
"""Differences of corners of two polytopes of which a hull is made."""


class Covering(NamedTuple):
    """What covering all translations proved."""

    least: float
    """No translation shorter than this separates; world units."""
    counterexample: FloatArray | None
    """(3,) a translation that is shorter than asked for, and inside of no difference by more than the tolerance."""
    sets: int
    """How many sets of translations were looked at."""


def difference(a: ConvexShape, b: ConvexShape, directions: FloatArray, thick: float) -> Planes | None:
    """Return A - B as half-spaces, of curved shapes a polytope inside of it; None when it is flat.

    Where A or B is flat itself, it is grown by `thick`. Polytopes of very many corners are left to `difference_planes`,
    which is what the search takes too.
    """
    if isinstance(a, Polytope) and isinstance(b, Polytope) and many_differences(a, b):
        return difference_planes(a, b, 0.5 * thick, thick)
    return inner_planes(a, b, directions, thick)


def many_differences(a: ConvexShape, b: ConvexShape) -> bool:
    """Return whether two polytopes have too many corners for a hull of all their differences."""
    both = isinstance(a, Polytope) and isinstance(b, Polytope)
    return both and len(a.vertices) * len(b.vertices) > _MOST_CORNERS  # type: ignore[union-attr]


def covered(bodies: list[Planes], target: float, tolerance: float, most: int) -> Covering:
    """Return what is proved about translations shorter than `target`, which is to be proved; at most `most` sets are
    looked at. `tolerance`: how deep inside a difference translations count as outside."""
    if not bodies:
        return Covering(0.0, np.zeros(3), 1)
    normals = np.concatenate([body.normals for body in bodies])
    reaches = np.concatenate([body.offsets for body in bodies])
    counts = np.array([len(body.offsets) for body in bodies])
    starts = np.cumsum(counts) - counts
    sets = np.full((1, 3), -1, dtype=np.intp)
    points, keys = np.zeros((1, 3)), np.zeros(1)
    seen: set[tuple[int, ...]] = {(-1, -1, -1)}
    size = max(1, _PRODUCTS // (32 * int(counts.max())))
    lost, looked = target, 0
    while len(keys):
        if looked >= most:
            return Covering(min(lost, float(keys.min())), None, looked)
        order = np.argsort(keys, kind="stable")
        now, later = order[:_BATCH], order[_BATCH:]
        depth, body = _deepest(normals, reaches, starts, points[now])
        looked += len(now)
        free = depth <= tolerance
        if free.any():
            k = now[int(free.argmax())]
            # Not a counter-example where rounding of the bound and of the point differ.
            if float(np.linalg.norm(points[k])) < target:
                return Covering(float(keys[k]), points[k], looked)
            lost = min(lost, float(keys[now[free]].min()))
        left, bounds, body = sets[now[~free]], keys[now[~free]], body[~free]
        sets, points, keys = sets[later], points[later], keys[later]
        for n in range(0, len(left), size):
            step = slice(n, n + size)
            part = _children(normals, reaches, starts, counts, left[step], bounds[step], body[step], target)
            lost = min(lost, part.lost)
            found = {key: k for k, key in enumerate(map(tuple, part.sets.tolist())) if key not in seen}
            seen.update(found)
            fresh = list(found.values())
            sets = np.concatenate((sets, part.sets[fresh]))
            points = np.concatenate((points, part.points[fresh]))
            keys = np.concatenate((keys, part.keys[fresh]))
    return Covering(lost, None, looked)


def _deepest(
    normals: FloatArray, reaches: FloatArray, starts: IntArray, points: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Return how deep points (k, 3) are inside the body that holds them deepest, and which it is."""
    room = np.minimum.reduceat(reaches[:, None] - normals @ points.T, starts, axis=0)
    body: IntArray = room.argmax(axis=0)
    return room[body, np.arange(len(points))], body


class _Children(NamedTuple):
    sets: IntArray
    points: FloatArray
    keys: FloatArray
    lost: float


def _children(
    normals: FloatArray,
    reaches: FloatArray,
    starts: IntArray,
    counts: IntArray,
    sets: IntArray,
    keys: FloatArray,
    body: IntArray,
    target: float,
) -> _Children:
    """Return the parts of sets beyond the facets of a body each, without those of which nothing is below `target`."""
    sizes = counts[body]
    parent = np.repeat(np.arange(len(sets)), sizes)
    facet = np.arange(len(parent)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(starts[body], sizes)
    near = np.flatnonzero(reaches[facet] < target)
    parent, facet = parent[near], facet[near]
    members = np.concatenate((facet[:, None], sets[parent]), axis=1)
    missing = members < 0
    n = np.where(missing[:, :, None], 0.0, normals[members])
    g = np.where(missing, 0.0, reaches[members])
    best, beyond = np.full(len(members), -np.inf), np.full(len(members), -np.inf)
    points = np.zeros((len(members), 3))
    carrying = np.full((len(members), 3), -1, dtype=np.intp)
    for subset in map(list, _SUBSETS):
        rows = np.flatnonzero(~missing[:, subset].any(axis=1))
        weights = _weights(n[rows][:, subset], g[rows][:, subset])
        most = weights.max(axis=1, initial=0.0)
        good = (weights >= 0.0).all(axis=1) & (most > 0.0)
        rows, weights = rows[good], weights[good] / most[good, None]
        sums = np.einsum("mi,mik->mk", weights, n[rows][:, subset])
        reach = (weights * g[rows][:, subset]).sum(axis=1)
        rounding = COMPOUND_DUAL * EPS * (weights * np.abs(g[rows][:, subset])).sum(axis=1)
        length = np.sqrt((sums * sums).sum(axis=1))
        bound = (reach - rounding) / (length + COMPOUND_DUAL * EPS * weights.sum(axis=1))
        beyond[rows] = np.maximum(beyond[rows], bound)
        if len(subset) == 4:
            continue
        better = (bound > best[rows]) & (length > 0.0)
        rows = rows[better]
        best[rows] = bound[better]
        points[rows] = (reach[better] / length[better] ** 2)[:, None] * sums[better]
        carrying[rows] = -1
        carrying[rows, : len(subset)] = members[rows][:, subset]
    left = np.flatnonzero(beyond < target)
    # A part is farther than the whole; where rounding hides that, no more than the whole's bound is proved.
    stuck = left[best[left] <= keys[parent[left]]]
    lost = float(keys[parent[stuck]].min(initial=np.inf))
    left = left[best[left] > keys[parent[left]]]
    return _Children(np.sort(carrying[left], axis=1), points[left], best[left], lost)
