# SPDX-License-Identifier: GPL-3.0-or-later
"""Smallest enclosing spheres of points and of spheres, many at a time.

Each group starts with one point; the farthest point outside joins those that carry the sphere, which is then the
smallest around these few, found among all that two, three or four of them carry. The sphere grows at each step, so that
it ends, after about ten steps. All groups take their steps together.

Source: S3.1; Gaertner, "Fast and robust smallest enclosing balls" (1999); Fischer, Gaertner, "The smallest enclosing
ball of balls" (2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ..progress import Progress, report_progress, subrange
from ..tolerance import EPS, SMALLEST_STEP, SUBNORMAL_SUM
from ..types import BoolArray, FloatArray, IntArray
from .volumes import (
    Volumes,
    check_partner,
    checked_index,
    checked_items,
    checked_margin,
    checked_parts,
    checked_points,
    checked_starts,
    freeze_views,
)

_SPHERE_ROUNDING = 8.0
"""Times EPS: relative rounding of a distance, a root of three squares, with some room; spheres are made wider by it."""
_SPHERE_DONE = 8.0
"""Times EPS: a sphere that no point exceeds by more, relatively, encloses them."""

_WIDER = 1.0 + _SPHERE_ROUNDING * EPS
_SUBNORMAL = SUBNORMAL_SUM * SMALLEST_STEP
_SMALL_SQUARE = 2.0**-960
"""Squares below this may have lost digits, or all."""
_STEPS = 200
"""Most steps of a group; none was seen to take forty."""
_ITEMS = 1 << 15
"""Points looked at in one go."""
_LEFT = 0.85
"""Share of the work that is left after a step, told as progress: how many there will be is not known."""


@dataclass(frozen=True, eq=False)
class Spheres(Volumes):
    """A batch of bounding spheres (circles in the plane). Source: S3.1."""

    center: FloatArray
    """(n, dim) world coordinates."""
    radius: FloatArray
    """(n,) >= 0."""

    def __post_init__(self) -> None:
        """Make the arrays read-only; the caller's own stay as they were."""
        freeze_views(self, ("center", "radius"))

    @property
    def dim(self) -> int:
        """Dimension: 2 or 3."""
        return int(self.center.shape[1])

    def __len__(self) -> int:
        """Return the number of volumes."""
        return len(self.radius)

    def take(self, indices: ArrayLike) -> Spheres:
        """Return the volumes with these indices (m,), in this order."""
        chosen = checked_items(indices, len(self))
        return Spheres(self.center.take(chosen, axis=0), self.radius.take(chosen))

    @classmethod
    def joined(cls, parts: Sequence[Spheres]) -> Spheres:
        """Return the volumes of one or more batches, one batch after the other."""
        checked_parts(cls, parts)
        return cls(np.concatenate([part.center for part in parts]), np.concatenate([part.radius for part in parts]))

    def merged(self, other: Spheres) -> Spheres:
        """Return, element by element, the smallest sphere that holds both: one of them, or one that touches both."""
        check_partner(self, other)
        way = other.center - self.center
        distance = _length(way.T)
        most = _up(distance)
        first = most + other.radius <= self.radius
        second = ~first & (most + self.radius <= other.radius)
        with np.errstate(over="ignore"):
            share = 0.5 + 0.5 * (other.radius - self.radius) / np.where(distance > 0.0, distance, 1.0)
        center = self.center + np.clip(share, 0.0, 1.0)[:, None] * way
        radius = np.maximum(
            _length((center - self.center).T) + self.radius, _length((center - other.center).T) + other.radius
        )
        center[first], center[second] = self.center[first], other.center[second]
        return Spheres(center, np.where(first, self.radius, np.where(second, other.radius, _up(radius))))

    def merged_ranges(self, starts: ArrayLike) -> Spheres:
        """Return the smallest sphere of each range of spheres, from starts[i] up to starts[i + 1]."""
        first = checked_starts(starts, len(self), "volumes")
        sizes = np.diff(first, append=len(self))
        if len(first) and int(sizes.max()) <= 2:  # pairs, as trees make them; the formula for two is quicker
            return self.take(first).merged(self.take(first + sizes - 1))
        return _enclosing(self.center, self.radius, first)

    def overlap(self, other: Spheres) -> BoolArray:
        """Return (n,) whether the centres are no farther apart than both radii. Touching counts. Source: S3.2."""
        check_partner(self, other)
        return _within((other.center - self.center).T, self.radius + other.radius)

    def gap(self, other: Spheres) -> FloatArray:
        """Return (n,) a lower bound of the distance of what is inside, 0 where the volumes overlap."""
        check_partner(self, other)
        distance = _length((other.center - self.center).T)
        radii = self.radius + other.radius
        return np.maximum(distance - radii - (_SPHERE_ROUNDING * EPS * (distance + radii) + _SUBNORMAL), 0.0)

    def grown(self, margin: float) -> Spheres:
        """Return spheres that hold everything within a distance `margin` >= 0 of these."""
        width = checked_margin(margin)
        if width == 0.0:
            return self
        radius = self.radius + width
        return Spheres(self.center, np.where(radius - self.radius == width, radius, _up(radius)))

    def centers(self) -> FloatArray:
        """Return the centres (n, dim)."""
        return self.center

    def sizes(self) -> FloatArray:
        """Return (n,) the surface area, in the plane the length of the circle."""
        with np.errstate(over="ignore"):
            size = 2.0 * np.pi * self.radius
            result: FloatArray = size if self.dim == 2 else 2.0 * size * self.radius
        return result

    def volumes(self) -> FloatArray:
        """Return (n,) the volume, in the plane the area."""
        with np.errstate(over="ignore"):
            area = np.pi * self.radius * self.radius
            result: FloatArray = area if self.dim == 2 else 4.0 / 3.0 * area * self.radius
        return result

    def contain(self, points: ArrayLike) -> BoolArray:
        """Return (n,), element by element, whether points[i] (n, dim) is not outside of sphere i for certain."""
        return _within((checked_points(points, len(self), self.dim) - self.center).T, self.radius)

    def polytope(self, index: int) -> None:
        """Return None: a sphere is no polytope."""
        checked_index(index, len(self))


def _length(way: FloatArray) -> FloatArray:
    """Return the lengths (n,) of columns (dim, n), whatever their size, to a relative _SPHERE_ROUNDING / 4."""
    with np.errstate(under="ignore"):
        length: FloatArray = np.hypot(way[0], way[1])
        return np.hypot(length, way[2], out=length) if len(way) == 3 else length


def _within(way: FloatArray, radius: FloatArray) -> BoolArray:
    """Return (n,) whether the lengths of columns (dim, n) may be no more than the radii (n,)."""
    with np.errstate(over="ignore", under="ignore"):
        square = way[0] * way[0]
        for row in way[1:]:
            square += row * row
        limit = radius * radius
        limit *= 1.0 + 2.0 * _SPHERE_ROUNDING * EPS
        result: BoolArray = square <= limit
        square += limit
        if len(square) and not (square.min() > _SMALL_SQUARE and square.max() < np.inf):
            # Squares that overflow or vanish tell nothing: lengths do. These may be wrong by the last step near 0.
            odd = np.flatnonzero(~((square > _SMALL_SQUARE) & (square < np.inf)))
            result[odd] = _length(way[:, odd]) <= radius[odd] * _WIDER + _SUBNORMAL
    return result


def _up(radius: FloatArray) -> FloatArray:
    """Return radii (n,) wider by the rounding of a distance; 0 stays."""
    with np.errstate(under="ignore"):
        result: FloatArray = np.where(radius > 0.0, radius * _WIDER + _SUBNORMAL, 0.0)
    return result


def bounding_spheres(points: FloatArray, starts: IntArray, progress: Progress | None = None) -> Spheres:
    """Return the smallest enclosing spheres of groups of points (N, dim); group i begins with point starts[i].

    See `bounding_volumes`. Radii are as small as possible to about 1e-14 of them and the rounding of the centres.
    """
    return _enclosing(points, None, starts, progress)


def _enclosing(
    points: FloatArray, radii: FloatArray | None, starts: IntArray, progress: Progress | None = None
) -> Spheres:
    """Return the smallest spheres around groups of spheres, with radii (N,), or of points, for None."""
    dim = points.shape[1]
    center, radius = np.empty((len(starts), dim)), np.empty(len(starts))
    ends = np.append(starts[1:], len(points)) if len(starts) else starts
    begin = 0
    report_progress(progress, 0.0)
    while begin < len(starts):
        end = max(begin + 1, int(np.searchsorted(ends, starts[begin] + _ITEMS, side="right")))
        part = slice(int(starts[begin]), int(ends[end - 1]))
        rows = np.zeros((3, part.stop - part.start))
        rows[:dim] = points[part].T
        own = None if radii is None else radii[part]
        done = part.stop / (len(points) + 1)
        told = subrange(progress, part.start / (len(points) + 1), done)
        middle, radius[begin:end] = _solve(rows, own, starts[begin:end] - part.start, dim, told)
        center[begin:end] = middle[:dim].T
        begin = end
        report_progress(progress, done)
    report_progress(progress, 1.0)
    return Spheres(center, radius)


@dataclass(eq=False)
class _Groups:
    """Groups of points or balls, near the origin and of about unit size. In the plane the third row is zero."""

    rows: FloatArray
    """(3, n)."""
    radii: FloatArray | None
    starts: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, rows: FloatArray, radii: FloatArray | None, starts: IntArray) -> _Groups:
        return cls(rows, radii, starts, np.diff(starts, append=rows.shape[1]))

    def spread(self, values: FloatArray) -> FloatArray:
        """Return (..., n) for each item what is given (..., g) for each group."""
        return np.repeat(values, self.sizes, axis=-1)

    def reach(self, center: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far the items (n,) reach from centres (3, g), and the most of each group (g,)."""
        way = self.rows - self.spread(center)
        reach = np.sqrt((way * way).sum(axis=0))
        if self.radii is not None:
            reach += self.radii
        return reach, np.maximum.reduceat(reach, self.starts)

    def chosen(self, groups: IntArray) -> tuple[_Groups, IntArray]:
        """Return some groups, and the item each of their items was."""
        sizes = self.sizes[groups]
        starts = np.cumsum(sizes) - sizes
        items = np.arange(int(sizes.sum())) + np.repeat(self.starts[groups] - starts, sizes)
        return _Groups(self.rows[:, items], None if self.radii is None else self.radii[items], starts, sizes), items


def _solve(
    rows: FloatArray, radii: FloatArray | None, starts: IntArray, dim: int, progress: Progress | None
) -> tuple[FloatArray, FloatArray]:
    """Return centres (3, g) and radii (g,) of the smallest spheres."""
    world = _Groups.of(rows, radii, starts)
    low, high = np.minimum.reduceat(rows, starts, axis=1), np.maximum.reduceat(rows, starts, axis=1)
    origin = 0.5 * low + 0.5 * high
    largest = np.maximum(high - origin, origin - low).max(axis=0)  # half of the least number is 0
    if radii is not None:
        largest = np.maximum(largest, np.maximum.reduceat(radii, starts))
    exponent = np.frexp(largest)[1]  # by powers of two, so that squares neither overflow nor vanish
    every = world.spread(exponent)
    with np.errstate(under="ignore"):
        local = _Groups(
            np.ldexp(rows - world.spread(origin), -every),
            None if radii is None else np.ldexp(radii, -every),
            starts,
            world.sizes,
        )
        center = origin + np.ldexp(_centers(local, dim, progress), exponent)
        single = np.flatnonzero(world.sizes == 1)
        center[:, single] = rows[:, starts[single]]
        # The centre is rounded: what counts is how far the points really are from it.
        away = np.ldexp(rows - world.spread(center), -every)
        reach = np.sqrt((away * away).sum(axis=0))
        if local.radii is not None:
            reach += local.radii
        radius = _up(np.ldexp(np.maximum.reduceat(reach, starts), exponent))
    if radii is not None:
        radius[single] = radii[starts[single]]
    return center, radius


def _centers(groups: _Groups, dim: int, progress: Progress | None) -> FloatArray:
    """Return the centres (3, g) of the smallest spheres."""
    if groups.radii is None and int(groups.sizes.max()) <= 3:
        return _centers_of_three(groups)
    first = groups.starts
    center = groups.rows[:, first].copy()
    best, best_reach = center.copy(), np.full(len(first), np.inf)
    carriers = np.full((len(first), dim + 1), -1, dtype=np.intp)
    carriers[:, 0] = first
    radius = np.zeros(len(first)) if groups.radii is None else groups.radii[first]
    active: IntArray = np.arange(len(first))
    part, items = groups, np.arange(groups.rows.shape[1])
    for step in range(_STEPS):
        report_progress(progress, 1.0 - _LEFT**step)
        reach, most = part.reach(center[:, active])
        better = most < best_reach[active]
        best[:, active[better]] = center[:, active[better]]
        best_reach[active[better]] = most[better]
        growing = most > radius[active] * (1.0 + _SPHERE_DONE * EPS)
        if not growing.any():
            break
        hits = np.flatnonzero(reach == part.spread(most))
        farthest = items[hits[np.searchsorted(hits, part.starts)]][growing]
        going = active[growing]
        few = np.concatenate([farthest[:, None], carriers[going]], axis=1)
        new_center, new_radius, kept = _around_few(groups, few, dim)
        # It has to grow; where rounding does not let it, the best so far is as good as it gets.
        grown = new_radius > radius[going]
        going = going[grown]
        if not len(going):
            break
        center[:, going] = new_center[:, grown]
        radius[going] = new_radius[grown]
        carriers[going] = kept[grown]
        if len(going) < len(active):
            active = going
            part, items = groups.chosen(active)
    return best


def _centers_of_three(groups: _Groups) -> FloatArray:
    """Return the centres (3, g) of the smallest circles around one, two or three points each."""
    items = groups.starts[:, None] + np.minimum(np.arange(3), groups.sizes[:, None] - 1)
    p = groups.rows[:, items]  # (3, g, 3)
    a, b, c = p[:, :, 0], p[:, :, 1], p[:, :, 2]
    ways = (b - a, c - b, a - c)
    squares = [(way * way).sum(axis=0) for way in ways]
    longest = np.argmax(squares, axis=0)
    best: FloatArray = np.choose(longest, [0.5 * a + 0.5 * b, 0.5 * b + 0.5 * c, 0.5 * c + 0.5 * a])
    # Where no angle is obtuse the circle goes through all three.
    sharp = np.flatnonzero(2.0 * np.max(squares, axis=0) < squares[0] + squares[1] + squares[2])
    if len(sharp):
        ends = np.stack([(b - a)[:, sharp], (c - a)[:, sharp]])
        best[:, sharp] = a[:, sharp] + _dual_point(ends, 0.5 * (ends * ends).sum(axis=1))
    return best


def _around_few(groups: _Groups, few: IntArray, dim: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return centres (3, a), radii (a,) and carriers (a, dim + 1) of the smallest spheres around a few items each.

    few (a, dim + 2) are items, -1 for none; the first is on the sphere. The smallest sphere is the smallest of all
    that some of them carry and that hold the others: the centre from which they reach least far.
    """
    there = few >= 0
    p = groups.rows[:, few]  # (3, a, dim + 2)
    r = np.zeros(few.shape) if groups.radii is None else groups.radii[few]
    center = p[:, :, 0].copy()
    least = np.full(len(few), np.inf)
    kept = np.full((len(few), dim + 1), -1, dtype=np.intp)
    choices = [choice for size in range(dim + 1) for choice in combinations(range(1, dim + 2), size)]
    for choice in choices:
        chosen = np.flatnonzero(there[:, choice].all(axis=1)) if choice else np.arange(len(few))
        if not len(chosen):
            continue
        for found in _carried(p[:, chosen], r[chosen], choice, groups.radii is not None):
            way = p[:, chosen] - found[:, :, None]
            reach = np.sqrt((way * way).sum(axis=0)) + r[chosen]
            reach[~there[chosen]] = 0.0
            most = reach.max(axis=1)
            better = most < least[chosen]  # never for what is not a number
            rows = chosen[better]
            least[rows] = most[better]
            center[:, rows] = found[:, better]
            kept[rows] = -1
            kept[rows, : len(choice) + 1] = few[rows][:, (0, *choice)]
    return center, least, kept


def _carried(p: FloatArray, r: FloatArray, choice: tuple[int, ...], balls: bool) -> list[FloatArray]:
    """Return centres (3, a) of the spheres that item 0 and those chosen of p (3, a, m) touch from inside."""
    if not choice:
        return [p[:, :, 0]]
    ends = np.stack([p[:, :, i] - p[:, :, 0] for i in choice])  # (t, 3, a)
    squares = (ends * ends).sum(axis=1)
    if not balls:
        return [p[:, :, 0] + _dual_point(ends, 0.5 * squares)]
    # From centre 0 the sphere's is at x, |x| = s, the radius less r0: x . e_i = (e_i^2 - d_i^2) / 2 + s d_i.
    more = np.stack([r[:, i] - r[:, 0] for i in choice])
    still, moving = _dual_point(ends, 0.5 * (squares - more * more)), _dual_point(ends, more)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        a, b, c = 1.0 - (moving * moving).sum(axis=0), (still * moving).sum(axis=0), (still * still).sum(axis=0)
        root = np.sqrt(b * b + a * c)
        return [p[:, :, 0] + still + moving * s for s in ((b + root) / a, (b - root) / a)]


def _dual_point(ends: FloatArray, values: FloatArray) -> FloatArray:
    """Return the points x (3, a) of the span of 1, 2 or 3 vectors, ends (t, 3, a), with ends[i] . x = values[i]."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if len(ends) == 1:
            by, square = ends[0] * values[0], (ends[0] * ends[0]).sum(axis=0)
        elif len(ends) == 2:
            normal = _cross(ends[0], ends[1])
            by = _cross(ends[1], normal) * values[0] + _cross(normal, ends[0]) * values[1]
            square = (normal * normal).sum(axis=0)
        else:
            normal = _cross(ends[0], ends[1])
            by = _cross(ends[1], ends[2]) * values[0] + _cross(ends[2], ends[0]) * values[1] + normal * values[2]
            square = (normal * ends[2]).sum(axis=0)
        result: FloatArray = by / square
    return result


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the cross products of columns (3, n)."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
