# SPDX-License-Identifier: GPL-3.0-or-later
"""The shortest translation outside of the interiors of many convex bodies, with a certified lower bound.

The bodies are the pairwise Minkowski differences of two compounds. Branch and bound: a node is the set of translations
beyond at most three facets of the bodies. Its shortest translation x bounds it from below. If x is not inside any body,
it is the result; otherwise it is inside a body, every translation sought is beyond one of that body's facets, and each
facet gives a child. Of a child's facets only those that determine its shortest translation are kept, which enlarges the
child and limits the number of nodes to the corners, edges and facets of the arrangement of the bodies.

A bound is a quotient: for translations t with n_i.t >= g_i and any weights w_i >= 0, |t| |sum w_i n_i| >= sum w_i g_i.
It is valid for any weights, so rounding cannot make it wrong, only less sharp.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, pi, sqrt
from typing import NamedTuple

import numpy as np

from ..budget import Budget
from ..progress import Progress, report_progress, subrange
from ..runs import chunks, group_chunks, ranges
from ..tolerance import COMPOUND_DUAL, EPS
from ..types import FloatArray, IntArray
from .compound_planes import Planes

_COMPOUND_TURN = 16.0
"""Times eps times the length of a translation: the error of rotated facets and of the translation itself. Also times
eps alone: the relative change of lengths by a rotation."""
_COMPOUND_SAME = 64.0
"""Times eps: two facets of a body are one if the components of their normals, and their distances over the longest
translation, differ by no more. Relative: the least that a further facet must add to a bound."""
_COMPOUND_ALIKE = 2.0**-30
"""Times the longest translation: lengths are sorted in steps of it, those within one step in the order found."""

_SAMPLES = 256  # directions tried before the search
_BATCH = 48  # nodes processed together
_CHILDREN = 16_384  # children created together
_SURE = 1.0 - 1e-6  # reduces a step between two computed translations, for their rounding
_WIDER = 1.0 + 1e-9  # boxes are enlarged by this factor
_WITHOUT_BOXES = 400  # nodes processed before boxes are tried
_PRODUCTS = 120_000  # of facets and points, in memory together
_CELLS = 128  # boxes processed together


class Escape(NamedTuple):
    """The result of the search. World frame and units; z = 0 in the plane."""

    translations: FloatArray
    """(k, 3) the shortest translation that is inside no body by more than the slack, then others as short within the
    tie width."""
    lower_bound: float
    """Certified: no shorter translation is outside of all bodies."""
    nodes: int
    """Number of nodes processed."""
    finished: bool
    """False when the budget ended the search."""
    stalled: bool
    """True when rounding left undecided whether a node is empty, which weakens the bound."""


class _Bodies:
    """All bodies, their facets concatenated."""

    def __init__(self, bodies: list[Planes], frame: FloatArray, longest: float, slack: float) -> None:
        """Rotate the bodies into `frame`.

        Depths that differ by no more than a fraction of `slack` count as equal; translations longer than `longest` are
        not searched."""
        self.alike = 0.125 * slack
        counts = np.array([len(body.offsets) for body in bodies], dtype=np.intp)
        normals = np.concatenate([body.normals for body in bodies]) @ frame.T
        offsets = np.concatenate([body.offsets for body in bodies])
        rounding = np.array([body.rounding for body in bodies]) + _COMPOUND_TURN * EPS * longest
        # An order independent of the pose and of the order of the compounds: the bodies with the nearest facets last,
        # then by their farthest ones, and their facets by distance and normal.
        starts = np.cumsum(counts) - counts
        steps = np.rint(offsets / (_COMPOUND_ALIKE * (longest or 1.0)))
        order = np.lexsort((np.maximum.reduceat(steps, starts), -np.minimum.reduceat(steps, starts)))
        place = np.empty(len(bodies), dtype=np.intp)
        place[order] = np.arange(len(bodies))
        body = np.repeat(place, counts)
        rows = np.lexsort((*np.rint(normals.T / _COMPOUND_ALIKE), steps, body))
        body, normals, offsets = body[rows], normals[rows], offsets[rows]
        # Facets that are equal to rounding are kept once; the body may be smaller by the difference.
        same = (np.abs(np.diff(normals, axis=0)).max(axis=1) <= _COMPOUND_SAME * EPS) & (np.diff(body) == 0)
        same &= np.abs(np.diff(offsets)) <= _COMPOUND_SAME * EPS * longest
        fresh = np.concatenate(([True], ~same))
        kept = np.flatnonzero(fresh)
        stands = kept[np.cumsum(fresh) - 1]
        turn = np.sqrt(((normals - normals[stands]) ** 2).sum(axis=1))
        off = turn * longest + np.abs(offsets - offsets[stands])
        rounding = rounding[order] + np.maximum.reduceat(off, np.flatnonzero(np.diff(body, prepend=-1)))
        self.normals, self.offsets = normals[kept], offsets[kept]
        self.counts = np.bincount(body[kept])
        self.starts = np.cumsum(self.counts) - self.counts
        self.wide = np.concatenate((self.normals, np.abs(self.normals)), axis=1)
        # Translations are surely outside of a body only beyond its facets moved inward by the rounding.
        self.least = self.offsets - np.repeat(rounding, self.counts)

    def rows_of(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """Return the facets of the bodies `chosen`, and for each facet the index of its body in `chosen`."""
        counts = self.counts[chosen]
        place = np.repeat(np.arange(len(chosen)), counts)
        return ranges(self.starts[chosen], counts), place

    def depths(self, points: FloatArray, halves: FloatArray | None = None) -> tuple[FloatArray, IntArray]:
        """Return the depths of points (k, 3) inside the body in which each is deepest, and the index of that body.

        Negative outside. With `halves` (k, 3), the same for a box of these half-sizes about each point.
        """
        deepest = np.full(len(points), -inf)
        body = np.zeros(len(points), dtype=np.intp)
        boxes = None if halves is None else np.concatenate((points, halves), axis=1).T
        for group, rows in group_chunks(self.starts, len(self.offsets), _PRODUCTS // max(1, len(points))):
            inside = self.normals[rows] @ points.T if halves is None else self.wide[rows] @ boxes
            np.subtract(self.offsets[rows, None], inside, out=inside)
            least = np.minimum.reduceat(inside, self.starts[group] - rows.start, axis=0)
            values = least.max(axis=0)
            # The first of equally deep ones, so that rounding does not choose.
            best = (least >= values - self.alike).argmax(axis=0)
            better = values > deepest + self.alike
            body[better] = best[better] + group.start
            np.maximum(deepest, values, out=deepest)
        return deepest, body

    def exits(self, directions: FloatArray, slack: float) -> FloatArray:
        """Return the distances (k,) from the origin to the first point outside of all bodies along
        `directions` (k, 3)."""
        result = np.empty(len(directions))
        for chunk in chunks(len(directions), _PRODUCTS // len(self.offsets)):
            along = self.normals @ directions[chunk].T
            room = self.offsets[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = room / along
            ahead = np.where(along > 0.0, reach, inf)
            behind = np.where(along < 0.0, reach, -inf)
            behind[(along == 0.0) & (room <= 0.0)] = inf
            high = np.minimum.reduceat(ahead, self.starts, axis=0)
            low = np.maximum.reduceat(behind, self.starts, axis=0)
            low[low >= high] = inf
            order = np.argsort(low, axis=0)
            low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
            high[low == inf] = 0.0
            # The bodies' intervals sorted by their starts: the first gap after those that contain the origin.
            reached = np.maximum(np.maximum.accumulate(high, axis=0), 0.0)
            before = np.concatenate((np.zeros((1, along.shape[1])), reached[:-1]))
            gap = low >= before - slack
            first = np.where(gap.any(axis=0), gap.argmax(axis=0), len(low))
            padded = np.concatenate((before, reached[-1:]))
            result[chunk] = padded[first, np.arange(len(first))]
        return result


def shortest_escape(
    bodies: list[Planes],
    frame: FloatArray,
    start: FloatArray,
    slack: float,
    tie_width: float,
    budget: Budget,
    progress: Progress | None,
) -> Escape:
    """Return the shortest translations that are inside no body by more than `slack`.

    `frame` (3, 3) has orthogonal unit vectors as rows, the axes of the search: if they rotate with the bodies, a search
    that the budget ends gives the same result in every pose. `start` (3,) is a translation outside of all bodies.
    `budget` limits the number of nodes and the time. Raises Cancelled when `progress` returns False.
    """
    found = _shortest_escape(bodies, frame, frame @ start, slack, tie_width, budget, progress)
    lower = found.lower_bound * (1.0 - _COMPOUND_TURN * EPS)
    return found._replace(translations=found.translations @ frame, lower_bound=lower)


def _shortest_escape(
    bodies: list[Planes],
    frame: FloatArray,
    start: FloatArray,
    slack: float,
    tie_width: float,
    budget: Budget,
    progress: Progress | None,
) -> Escape:
    """Search along the axes of the frame, in which `start` and the result are given."""
    best = start
    longest = _length(start)

    def bodies_within(length: float) -> _Bodies | None:
        near = [body for body in bodies if -float(body.offsets.min()) < length + tie_width]
        return _Bodies(near, frame, length + tie_width, slack) if near else None

    free = Escape(np.zeros((1, 3)), 0.0, 0, True, False)
    table = bodies_within(longest)
    if table is None:
        return free
    flat = not table.normals[:, 2].any()
    directions = _sphere_directions(flat)
    exits = table.exits(directions, slack)
    shortest = int(exits.argmin())
    if exits[shortest] < longest:
        longest, best = float(exits[shortest]), exits[shortest] * directions[shortest]
        table = bodies_within(longest)
        if table is None:  # all near pairs only touch
            return free
    search = _TranslationSearch(table, best, longest, slack, tie_width)
    search.run(
        _boxes(longest, flat), replace(budget, nodes=min(budget.nodes, _WITHOUT_BOXES)), subrange(progress, 0.0, 0.2)
    )
    found = search.result()
    if found.finished or budget.spent(_WITHOUT_BOXES) == 1.0:
        return found
    # Where many bodies overlap, most of the ball about the origin is inside single ones: boxes exclude it faster.
    boxes = _uncovered(table, _boxes(search.longest, flat), budget, subrange(progress, 0.2, 0.6))
    search.run(boxes, budget, subrange(progress, 0.6, 1.0))
    again = search.result()
    return again._replace(lower_bound=max(found.lower_bound, again.lower_bound))


class _Boxes(NamedTuple):
    """Boxes that together contain all translations sought; (m, 3), world units."""

    middles: FloatArray
    halves: FloatArray
    gaps: FloatArray
    """(m,) lower bounds of their distances from the origin."""


def _boxes(longest: float, flat: bool) -> _Boxes:
    """Return a box that contains all translations up to a length."""
    half = np.full((1, 3), 1.0625 * longest)
    if flat:
        half[0, 2] = 0.0
    return _Boxes(np.zeros((1, 3)), half, np.zeros(1))


def _uncovered(bodies: _Bodies, boxes: _Boxes, budget: Budget, progress: Progress | None) -> _Boxes:
    """Return boxes that contain all translations of the given ones that are outside of all bodies.

    Boxes are halved, the nearest first, until each is inside a body.
    """
    longest = float(boxes.halves.max())
    rounding = float((bodies.offsets - bodies.least).max())
    seen = 0
    while len(boxes.gaps) and (spent := budget.spent(seen)) < 1.0:
        report_progress(progress, spent)
        chosen = _least(boxes.gaps, max(1, min(_CELLS, len(boxes.gaps) // 4)), longest)
        remaining = np.ones(len(boxes.gaps), dtype=bool)
        remaining[chosen] = False
        middle, half = boxes.middles[chosen], boxes.halves[chosen]
        seen += len(chosen)
        open_ = (bodies.depths(middle, half)[0] <= rounding).nonzero()[0]
        # Halve across the longest side.
        middle, half = middle[open_], half[open_].copy()
        lines = np.arange(len(open_))
        axis = half.argmax(axis=1)
        half[lines, axis] *= 0.5
        step = np.zeros_like(half)
        step[lines, axis] = half[lines, axis]
        middle, half = np.concatenate((middle - step, middle + step)), np.concatenate((half, half))
        away = np.maximum(np.abs(middle) - half, 0.0)
        gap = np.sqrt((away * away).sum(axis=1)) * (1.0 - COMPOUND_DUAL * EPS)
        near = gap < longest
        parts = zip(boxes, (middle, half, gap), strict=True)
        boxes = _Boxes(*(np.concatenate((old[remaining], new[near])) for old, new in parts))
    return boxes


class _TranslationSearch:
    """The open nodes, and the best translations so far."""

    def __init__(self, bodies: _Bodies, best: FloatArray, longest: float, slack: float, tie_width: float) -> None:
        self.bodies, self.slack, self.tie_width = bodies, slack, tie_width
        self.longest = longest
        self.found = best[None]
        self.nodes = 0
        self.run(_boxes(longest, False), Budget(0), None)

    def run(self, boxes: _Boxes, budget: Budget, progress: Progress | None) -> None:
        """Search from boxes that contain all translations sought, until `budget` is spent."""
        count = len(boxes.gaps)
        self.boxes = boxes
        self.points = np.zeros((count, 3))
        self.active = np.full((count, 4), -1, dtype=np.int64)  # up to three facets, and the index of the box
        self.active[:, 3] = np.arange(count)
        self.keys = np.zeros(count)  # the bounds proved by the facets
        self.bounds = boxes.gaps.copy()  # the bounds proved by facets and box
        self.known: dict[tuple[int, ...], float] = {}
        self.unresolved = self.closed = inf
        self._keep((self.bounds < self.longest + self.tie_width).nonzero()[0])
        while len(self.keys) and (spent := budget.spent(self.nodes)) < 1.0:
            report_progress(progress, max(spent, min(self.lower / self.longest, 0.99) if self.longest else 1.0))
            count = max(1, min(_BATCH, len(self.keys) // 4, budget.nodes - self.nodes))
            chosen = _least(self.bounds, count, self.longest)
            points, active = self.points[chosen], self.active[chosen]
            keys, bounds = self.keys[chosen], self.bounds[chosen]
            remaining = np.ones(len(self.keys), dtype=bool)
            remaining[chosen] = False
            self._keep(remaining.nonzero()[0])
            self.nodes += len(chosen)
            depths, body = self.bodies.depths(points)
            free = depths <= self.slack
            for point, key in zip(points[free], bounds[free].tolist(), strict=True):
                self.closed = min(self.closed, key)
                self._add(point)
            inside = (~free & (bounds < self.longest + self.tie_width)).nonzero()[0]
            if len(inside):
                self._try_rays(points[inside[:4]])
                sizes = np.cumsum(self.bodies.counts[body[inside]])
                cuts = np.searchsorted(sizes, np.arange(_CHILDREN, int(sizes[-1]), _CHILDREN))
                for part in np.split(inside, cuts):
                    if len(part):
                        self._branch(points[part], active[part], keys[part], body[part])
            if not (self.bounds < self.longest + self.tie_width).all():
                self._keep((self.bounds < self.longest + self.tie_width).nonzero()[0])

    @property
    def lower(self) -> float:
        """A lower bound of all translations sought."""
        return min(float(self.bounds.min()) if len(self.bounds) else inf, self.unresolved, self.closed, self.longest)

    def result(self) -> Escape:
        lengths = np.sqrt((self.found * self.found).sum(axis=1))
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] <= self.longest + self.tie_width]
        stalled = self.unresolved < self.longest - self.tie_width
        done = not len(self.bounds) or float(self.bounds.min()) >= self.longest - self.tie_width
        return Escape(self.found[order], max(0.0, self.lower), self.nodes, done, stalled)

    def _keep(self, places: IntArray) -> None:
        self.keys, self.bounds = self.keys[places], self.bounds[places]
        self.points, self.active = self.points[places], self.active[places]

    def _add(self, point: FloatArray) -> None:
        """Add a translation that is outside of all bodies."""
        length = _length(point)
        if length > self.longest + self.tie_width:
            return
        if length < self.longest - self.tie_width:
            self.found = point[None]
        elif (np.abs(self.found - point).max(axis=1) > self.tie_width).all() or length < self.longest:
            self.found = np.concatenate((self.found, point[None]))
        self.longest = min(self.longest, length)

    def _try_rays(self, points: FloatArray) -> None:
        """Follow the rays through `points` until outside of all bodies."""
        lengths = np.sqrt((points * points).sum(axis=1))
        points = points[lengths > 0.0] / lengths[lengths > 0.0, None]
        if not len(points):
            return
        exits = self.bodies.exits(points, self.slack)
        best = int(exits.argmin())
        if exits[best] < self.longest:
            self._add(exits[best] * points[best])

    def _branch(self, points: FloatArray, active: IntArray, keys: FloatArray, body: IntArray) -> None:
        """Add a child of each node for each facet of the body that contains its shortest translation."""
        limit = self.longest + self.tie_width
        rows, node = self.bodies.rows_of(body)
        # A child's shortest translation is beyond the facet, so at least as far from the parent's as the facet is.
        least, normals = self.bodies.least[rows], self.bodies.normals[rows]
        away = least - np.einsum("ij,ij->i", normals, points[node])
        # And the box of the node must reach beyond the facet.
        box = active[node, 3]
        reach = np.einsum("ij,ij->i", normals, self.boxes.middles[box])
        reach += np.einsum("ij,ij->i", np.abs(normals), self.boxes.halves[box]) * _WIDER
        near = (
            (least < limit) & (reach >= least) & (keys[node] ** 2 + away * np.abs(away) * _SURE < limit**2)
        ).nonzero()[0]
        rows, node = rows[near], node[near]
        sets = np.concatenate((rows[:, None], active[node, :3]), axis=1)
        child_keys, points, carrying, beyond = nearest_beyond(self.bodies.normals, self.bodies.least, sets)
        worthy = np.maximum(child_keys, beyond) < limit
        # A child is beyond a facet that its parent's shortest translation is not beyond, so its own is longer. Where
        # rounding hides that, the child is dropped and the bound stays at its parent's. So bounds strictly increase
        # along every path through the nodes, and an existing equal node may replace the child.
        parent = keys[node]
        lost = worthy & (child_keys <= parent)
        if lost.any():
            self.unresolved = min(self.unresolved, float(parent[lost].min()))
        chosen = (worthy & ~lost).nonzero()[0]
        if not len(chosen):
            return
        box = active[node[chosen], 3]
        carrying = np.concatenate((np.sort(carrying[chosen], axis=1), box[:, None]), axis=1)
        fresh = []
        known = self.known
        values, parents = child_keys[chosen].tolist(), parent[chosen].tolist()
        for k, names in enumerate(map(tuple, carrying.tolist())):
            key = known.setdefault(names, inf)
            if key == inf:
                known[names] = values[k]
                fresh.append(k)
            elif key <= parents[k]:
                self.unresolved = min(self.unresolved, parents[k])
        if fresh:
            indices = np.array(fresh)
            made = child_keys[chosen[indices]]
            self.keys = np.concatenate((self.keys, made))
            self.bounds = np.concatenate((self.bounds, np.maximum(made, self.boxes.gaps[box[indices]])))
            self.points = np.concatenate((self.points, points[chosen[indices]]))
            self.active = np.concatenate((self.active, carrying[indices]))


def _least(values: FloatArray, count: int, unit: float) -> IntArray:
    """Return the indices (k,) of the least values, ascending; of values equal to rounding in `unit`, the first ones."""
    steps = np.rint(values / (_COMPOUND_ALIKE * (unit or 1.0)))
    chosen = np.arange(len(values))
    if len(values) > count:
        last = np.partition(steps, count - 1)[count - 1]
        chosen = np.concatenate((np.flatnonzero(steps < last), np.flatnonzero(steps == last)))[:count]
    return chosen[np.argsort(steps[chosen], kind="stable")]


_SUBSETS = ((0,), (0, 1), (0, 2), (0, 3), (0, 1, 2), (0, 1, 3), (0, 2, 3), (0, 1, 2, 3))


def nearest_beyond(
    normals: FloatArray, least: FloatArray, sets: IntArray
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """Return the point nearest to the origin in each set of up to four half-spaces `normals @ t >= least`.

    `sets` (m, 4) are indices of half-spaces, -1 for an unused entry. Return (m,) a lower bound of the distance from the
    origin of the intersection of up to three of them, the first among them; (m, 3) its nearest point; (m, 3) the
    indices of these half-spaces; (m,) the best bound that any of them prove, very large when they have no common point.
    """
    count = len(sets)
    missing = sets < 0
    n = np.where(missing[:, :, None], 0.0, normals[sets])
    g = np.where(missing, 0.0, least[sets])
    best, beyond = np.full(count, -inf), np.full(count, -inf)
    points = np.zeros((count, 3))
    carrying = np.full((count, 3), -1, dtype=np.int64)
    for subset in _SUBSETS:
        places = np.flatnonzero(~missing[:, subset].any(axis=1))
        if not len(places):
            continue
        own = list(subset)
        directions, reaches = n[places][:, own], g[places][:, own]
        weights = _weights(directions, reaches)
        most = weights.max(axis=1)
        good = ((weights >= 0.0).all(axis=1) & (most > 0.0)).nonzero()[0]
        if not len(good):
            continue
        places, directions, reaches = places[good], directions[good], reaches[good]
        weights = weights[good] / most[good, None]
        y = np.einsum("mi,mik->mk", weights, directions)
        square = np.einsum("mk,mk->m", y, y)
        reach = (weights * reaches).sum(axis=1)
        top = reach - COMPOUND_DUAL * EPS * (weights * np.abs(reaches)).sum(axis=1)
        bound = np.where(top > 0.0, top / (np.sqrt(square) + COMPOUND_DUAL * EPS * weights.sum(axis=1)), -inf)
        beyond[places] = np.maximum(beyond[places], bound)
        if len(subset) == 4:
            continue
        # A facet that adds no more than rounding has no weight.
        better = ((bound > best[places] * (1.0 + _COMPOUND_SAME * EPS)) & (square > 0.0)).nonzero()[0]
        places = places[better]
        best[places] = bound[better]
        points[places] = (reach[better] / square[better])[:, None] * y[better]
        carrying[places] = -1
        carrying[places, : len(own)] = sets[places][:, own]
    return best, points, carrying, beyond


def _weights(n: FloatArray, g: FloatArray) -> FloatArray:
    """Return the weights (m, k) of normals n (m, k, 3) in the point nearest to the origin, up to a factor > 0.

    There is no division, so parallel normals are safe. For four normals, the weights with which they add up to zero.
    """
    k = n.shape[1]
    if k == 1:
        return g.copy()
    if k == 2:
        p = np.einsum("mk,mk->m", n[:, 0], n[:, 1])
        return np.stack((g[:, 0] - p * g[:, 1], g[:, 1] - p * g[:, 0]), axis=1)
    if k == 3:
        # Rows of the inverse: x = sum g_i u_i with u_0 = n_1 x n_2 / det; the weights of x are w_i = u_i . x.
        u = np.stack([np.cross(n[:, 1], n[:, 2]), np.cross(n[:, 2], n[:, 0]), np.cross(n[:, 0], n[:, 1])], axis=1)
        x = np.einsum("mi,mik->mk", g, u)
        return np.einsum("mik,mk->mi", u, x)
    minors = []
    for i in range(4):
        p, q, r = (n[:, j] for j in range(4) if j != i)
        minors.append((-1.0) ** i * np.einsum("mk,mk->m", p, np.cross(q, r)))
    weights = np.stack(minors, axis=1)
    turn: FloatArray = np.where((weights * g).sum(axis=1) < 0.0, -1.0, 1.0)
    return weights * turn[:, None]


def _length(vector: FloatArray) -> float:
    x, y, z = vector.tolist()
    return sqrt(x * x + y * y + z * z)


def _sphere_directions(flat: bool) -> FloatArray:
    """Return unit vectors (k, 3) distributed over the circle or the sphere, including the axes."""
    axes = np.concatenate((np.eye(3), -np.eye(3)))
    k = np.arange(_SAMPLES)
    if flat:
        angle = 2.0 * pi * k / _SAMPLES
        return np.stack((np.cos(angle), np.sin(angle), np.zeros(_SAMPLES)), axis=1)
    z = (2.0 * k + 1.0) / _SAMPLES - 1.0
    turn = pi * (1.0 + sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.concatenate((axes, np.stack((r * np.cos(turn), r * np.sin(turn), z), axis=1)))
