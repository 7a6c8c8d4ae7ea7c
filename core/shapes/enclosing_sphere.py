# SPDX-License-Identifier: GPL-3.0-or-later
"""Smallest enclosing spheres of points and of spheres, many at a time.

1. Each group starts with the point farthest from the middle of its box, and the point farthest from that one.
2. The farthest point outside joins the support set, the few points that the sphere goes through.
3. The new sphere is the smallest around these few, found among all that two, three or four of them determine.
4. The sphere grows at each step; the search ends after about ten. All groups take their steps together.

Source: S3.1; Gaertner, "Fast and robust smallest enclosing balls" (1999); Fischer, Gaertner, "The smallest enclosing
ball of balls" (2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import inf, sqrt

import numpy as np

from ..progress import Progress, report_progress, subrange
from ..runs import group_chunks, ranges
from ..tolerance import EPS, SMALLEST_STEP, SUBNORMAL_SUM
from ..types import BoolArray, FloatArray, IntArray
from ..vectors import cross, dot, squared_lengths
from .simplex import Vector

SPHERE_ROUNDING = 8.0
"""Times EPS: relative rounding of a distance, a root of three squares, and a little more: spheres are wider by it."""
_SPHERE_DONE = 8.0
"""Times EPS: a sphere that no point exceeds by more, relatively, encloses them."""
SPHERE_WIDER = 1.0 + SPHERE_ROUNDING * EPS
SUBNORMAL = SUBNORMAL_SUM * SMALLEST_STEP
_STEPS = 200
"""Most steps of a group; none was seen to take forty."""
_ITEMS = 1 << 15
"""Points processed at once."""
_CHOICES = {
    dim: [np.array(list(combinations(range(1, dim + 2), size)), dtype=np.intp).T for size in range(1, dim + 1)]
    for dim in (2, 3)
}
"""Of each dimension the choices (t, c) of one, two ... of the items after the first."""
_LEFT = 0.85
"""Fraction of the work that is assumed to be left after a step: the number of steps is unknown."""


def widened(radius: FloatArray) -> FloatArray:
    """Return radii (n,) wider by the rounding of a distance; 0 stays."""
    with np.errstate(under="ignore"):
        return np.where(radius > 0.0, radius * SPHERE_WIDER + SUBNORMAL, 0.0)


def enclosing_spheres(
    points: FloatArray, radii: FloatArray | None, starts: IntArray, progress: Progress | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return centres (g, dim) and radii (g,) of the smallest spheres around groups of spheres, or points without radii.

    Group i begins with starts[i]. Source: S3.1.
    """
    dim = points.shape[1]
    center, radius = np.empty((len(starts), dim)), np.empty(len(starts))
    report_progress(progress, 0.0)
    for groups, items in group_chunks(starts, len(points), _ITEMS):
        rows = np.zeros((3, items.stop - items.start))
        rows[:dim] = points[items].T
        done = items.stop / (len(points) + 1)
        chunk_progress = subrange(progress, items.start / (len(points) + 1), done)
        chunk_radii = None if radii is None else radii[items]
        middle, radius[groups] = _solve(rows, chunk_radii, starts[groups] - items.start, dim, chunk_progress)
        center[groups] = middle[:dim].T
        report_progress(progress, done)
    report_progress(progress, 1.0)
    return center, radius


def enclosing_diameter(points: FloatArray, radii: FloatArray | None = None) -> float:
    """Return the diameter of the smallest sphere around all spheres, or points (n, dim) without radii (n,)."""
    return 2.0 * float(enclosing_spheres(points, radii, np.zeros(1, dtype=np.intp))[1][0])


@dataclass(eq=False)
class _Groups:
    """Groups of points or balls, near the origin and of about unit size. In the plane the third row is zero."""

    rows: FloatArray
    """(3, n)."""
    radii: FloatArray | None
    starts: IntArray
    sizes: IntArray

    def spread(self, values: FloatArray) -> FloatArray:
        """Return values (..., n) of the items from values (..., g) of their groups."""
        # One value is broadcast: a group may be large.
        return values if len(self.sizes) == 1 else np.repeat(values, self.sizes, axis=-1)

    def reach(self, center: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the reach (n,) of the items from centres (3, g), and the largest of each group (g,)."""
        reach = np.sqrt(squared_lengths(self.rows - self.spread(center)))
        if self.radii is not None:
            reach += self.radii
        return reach, np.maximum.reduceat(reach, self.starts)

    def first(self, reach: FloatArray, most: FloatArray) -> IntArray:
        """Return the first item (g,) of each group whose `reach` (n,) is the largest of the group, `most` (g,)."""
        if len(self.sizes) == 1:
            return np.array([reach.argmax()])
        hits = np.flatnonzero(reach == self.spread(most))
        return hits[np.searchsorted(hits, self.starts)]

    def take(self, groups: IntArray) -> tuple[_Groups, IntArray]:
        """Return the groups with these indices, and the indices of their items."""
        sizes = self.sizes[groups]
        starts = np.cumsum(sizes) - sizes
        items = ranges(self.starts[groups], sizes)
        return _Groups(self.rows[:, items], None if self.radii is None else self.radii[items], starts, sizes), items


def _solve(
    rows: FloatArray, radii: FloatArray | None, starts: IntArray, dim: int, progress: Progress | None
) -> tuple[FloatArray, FloatArray]:
    """Return centres (3, g) and radii (g,) of the smallest spheres."""
    world = _Groups(rows, radii, starts, np.diff(starts, append=rows.shape[1]))
    low, high = np.minimum.reduceat(rows, starts, axis=1), np.maximum.reduceat(rows, starts, axis=1)
    origin = 0.5 * low + 0.5 * high
    largest = np.maximum(high - origin, origin - low).max(axis=0)  # half of the least number is 0
    if radii is not None:
        largest = np.maximum(largest, np.maximum.reduceat(radii, starts))
    exponent = np.frexp(largest)[1]  # by powers of two, so that squares neither overflow nor vanish
    every = world.spread(exponent)
    with np.errstate(all="ignore"):  # flat choices of points have no sphere
        local = _Groups(
            np.ldexp(rows - world.spread(origin), -every),
            None if radii is None else np.ldexp(radii, -every),
            starts,
            world.sizes,
        )
        center = origin + np.ldexp(_centers(local, dim, progress), exponent)
        single = np.flatnonzero(world.sizes == 1)
        center[:, single] = rows[:, starts[single]]
        # The centre is rounded: the radius is measured from where it is.
        away = np.ldexp(rows - world.spread(center), -every)
        reach = np.sqrt((away * away).sum(axis=0))
        if local.radii is not None:
            reach += local.radii
        radius = widened(np.ldexp(np.maximum.reduceat(reach, starts), exponent))
    if radii is not None:
        radius[single] = radii[starts[single]]
    return center, radius


def _centers(groups: _Groups, dim: int, progress: Progress | None) -> FloatArray:
    """Return the centres (3, g) of the smallest spheres."""
    if groups.radii is None and int(groups.sizes.max()) <= 3:
        return _centers_of_three(groups)
    reach, most = groups.reach(np.zeros((3, len(groups.starts))))
    first = groups.first(reach, most)
    center = groups.rows[:, first].copy()
    best, best_reach = center.copy(), np.full(len(first), np.inf)
    support = np.full((len(first), dim + 1), -1, dtype=np.intp)
    support[:, 0] = first
    if groups.radii is None:
        reach, most = groups.reach(center)
        second = groups.first(reach, most)
        support[:, 1] = second
        center, radius = 0.5 * center + 0.5 * groups.rows[:, second], 0.5 * most
    else:
        radius = groups.radii[first]
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
        farthest = items[part.first(reach, most)][growing]
        going = active[growing]
        few = np.concatenate([farthest[:, None], support[going]], axis=1)
        new_center, new_radius, kept = _around_few(groups, few, dim)
        # It has to grow; where rounding prevents that, the best so far is the result.
        grown = new_radius > radius[going]
        going = going[grown]
        if not len(going):
            break
        center[:, going] = new_center[:, grown]
        radius[going] = new_radius[grown]
        support[going] = kept[grown]
        if len(going) < len(active):
            active = going
            part, items = groups.take(active)
    return best


def _centers_of_three(groups: _Groups) -> FloatArray:
    """Return the centres (3, g) of the smallest circles around one, two or three points each."""
    items = groups.starts[:, None] + np.minimum(np.arange(3), groups.sizes[:, None] - 1)
    p = groups.rows[:, items]  # (3, g, 3)
    a, b, c = p[:, :, 0], p[:, :, 1], p[:, :, 2]
    squares = [(side * side).sum(axis=0) for side in (b - a, c - b, a - c)]
    longest = np.argmax(squares, axis=0)
    best: FloatArray = np.choose(longest, [0.5 * a + 0.5 * b, 0.5 * b + 0.5 * c, 0.5 * c + 0.5 * a])
    # Where no angle is obtuse the circle goes through all three.
    sharp = np.flatnonzero(2.0 * np.max(squares, axis=0) < squares[0] + squares[1] + squares[2])
    if len(sharp):
        ends = np.stack([(b - a)[:, sharp], (c - a)[:, sharp]])
        best[:, sharp] = a[:, sharp] + _dual_point(ends, 0.5 * (ends * ends).sum(axis=1))
    return best


def _around_few(groups: _Groups, few: IntArray, dim: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return centres (3, a), radii (a,) and support (a, dim + 1) of the smallest spheres around a few items each.

    few (a, dim + 2) are items, -1 for none; the first is on the sphere. The smallest sphere is the smallest of all
    that some of them determine and that contain the others: the centre from which they reach least far.
    """
    if len(few) == 1 and groups.radii is None:
        return _around_few_points(groups.rows, few[0].tolist(), dim)
    items, filled = few.T, few.T >= 0
    p = groups.rows[:, items]  # (3, dim + 2, a)
    r = np.zeros(items.shape) if groups.radii is None else groups.radii[items]
    offsets = p - p[:, :1]
    columns = np.arange(len(few))
    best, least = np.zeros((3, len(few))), _reach_of_few(offsets, r, filled, np.zeros((3, 1, len(few))))[0]
    kept = np.full((dim + 1, len(few)), -1, dtype=np.intp)
    kept[0] = items[0]
    for chosen in _CHOICES[dim]:
        possible = filled[chosen].all(axis=0)  # (c, a)
        if not possible.any():
            break  # nor are larger choices
        for found in _tangent_centers(offsets, r, chosen, groups.radii is not None):
            most = np.where(possible, _reach_of_few(offsets, r, filled, found), np.inf)
            most[np.isnan(most)] = np.inf
            number = most.argmin(axis=0)
            most = most[number, columns]
            better = np.flatnonzero(most < least)
            number = number[better]
            least[better] = most[better]
            best[:, better] = found[:, number, better]
            kept[1:, better] = -1
            kept[1 : len(chosen) + 1, better] = items[chosen[:, number], better]
    return p[:, 0] + best, least, kept.T


def _around_few_points(rows: FloatArray, few: list[int], dim: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return what `_around_few` does of points of one group, to the last bit: plain floats are quicker for so few."""
    items = [item for item in few if item >= 0]
    first, *others = rows[:, items].T.tolist()
    ends = [(x - first[0], y - first[1], z - first[2]) for x, y, z in others]
    squares = [x * x + y * y + z * z for x, y, z in ends]
    best, square = (0.0, 0.0, 0.0), max(squares)
    least, chosen = sqrt(square), tuple[int, ...]()
    for choice in (c for size in range(1, dim + 1) for c in combinations(range(len(ends)), size)):
        x, y, z = center = _dual_of_few([ends[k] for k in choice], [0.5 * squares[k] for k in choice])
        most = x * x + y * y + z * z
        if not most < square:
            continue
        for u, v, w in ends:
            u, v, w = u - x, v - y, w - z
            reach = u * u + v * v + w * w
            if reach > most:
                most = reach
                if most >= square:
                    break
        else:
            if sqrt(most) < least:
                best, least, square, chosen = center, sqrt(most), most, choice
    kept = [items[0], *(items[k + 1] for k in chosen), *[-1] * (dim - len(chosen))]
    return rows[:, items[:1]] + np.array(best)[:, None], np.array([least]), np.array([kept])


def _dual_of_few(ends: list[Vector], values: list[float]) -> Vector:
    """Return `_dual_point` of plain floats; infinity where there is none."""
    (ux, uy, uz), (vx, vy, vz), a = ends[0], ends[-1], values[0]
    if len(ends) == 1:
        square = ux * ux + uy * uy + uz * uz
        x, y, z = ux * a, uy * a, uz * a
    elif len(ends) == 2:
        b = values[1]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        square = nx * nx + ny * ny + nz * nz
        x = (vy * nz - vz * ny) * a + (ny * uz - nz * uy) * b
        y = (vz * nx - vx * nz) * a + (nz * ux - nx * uz) * b
        z = (vx * ny - vy * nx) * a + (nx * uy - ny * ux) * b
    else:
        (wx, wy, wz), (vx, vy, vz) = ends[2], ends[1]
        _, b, c = values
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        square = nx * wx + ny * wy + nz * wz
        x = (vy * wz - vz * wy) * a + (wy * uz - wz * uy) * b + nx * c
        y = (vz * wx - vx * wz) * a + (wz * ux - wx * uz) * b + ny * c
        z = (vx * wy - vy * wx) * a + (wx * uy - wy * ux) * b + nz * c
    return (x / square, y / square, z / square) if square else (inf, inf, inf)


def _reach_of_few(offsets: FloatArray, r: FloatArray, filled: BoolArray, centers: FloatArray) -> FloatArray:
    """Return how far (c, a) items with radii r (m, a), at offsets (3, m, a) where `filled`, reach from each of the
    centres (3, c, a)."""
    reach = np.sqrt(squared_lengths(offsets[:, :, None] - centers[:, None])) + r[:, None]
    most: FloatArray = np.where(filled[:, None], reach, 0.0).max(axis=0)
    return most


def _tangent_centers(offsets: FloatArray, r: FloatArray, chosen: IntArray, balls: bool) -> list[FloatArray]:
    """Return centres (3, c, a), from item 0, of the spheres that it and those chosen (t, c) of items at `offsets`
    (3, m, a) from it touch from inside."""
    ends = offsets[:, chosen].swapaxes(0, 1)  # (t, 3, c, a)
    squares = np.stack([squared_lengths(end) for end in ends])
    if not balls:
        return [_dual_point(ends, 0.5 * squares)]
    # From centre 0 the sphere's is at x, |x| = s, the radius less r0: x . e_i = (e_i^2 - d_i^2) / 2 + s d_i.
    more = r[chosen] - r[0]
    still, moving = _dual_point(ends, 0.5 * (squares - more * more)), _dual_point(ends, more)
    a, b, c = 1.0 - squared_lengths(moving), dot(still, moving), squared_lengths(still)
    root = np.sqrt(b * b + a * c)
    return [still + moving * s for s in ((b + root) / a, (b - root) / a)]


def _dual_point(ends: FloatArray, values: FloatArray) -> FloatArray:
    """Return the points x (3, ...) of the span of 1, 2 or 3 vectors, ends (t, 3, ...), with ends[i] . x = values[i]."""
    if len(ends) == 1:
        by, square = ends[0] * values[0], squared_lengths(ends[0])
    elif len(ends) == 2:
        normal = cross(ends[0], ends[1])
        by = cross(ends[1], normal) * values[0] + cross(normal, ends[0]) * values[1]
        square = squared_lengths(normal)
    else:
        normal = cross(ends[0], ends[1])
        by = cross(ends[1], ends[2]) * values[0] + cross(ends[2], ends[0]) * values[1] + normal * values[2]
        square = dot(normal, ends[2])
    return by / square
