# SPDX-License-Identifier: GPL-3.0-or-later
"""The convex hull of points in the plane, and of flat points in space: monotone chain with exact turns.

Source: A. Andrew, "Another efficient algorithm for convex hulls in two dimensions" (1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..progress import Progress, report_progress, subrange
from ..tolerance import EPS
from ..types import FloatArray, IntArray
from ..vectors import squared_lengths
from .hull_grid import HullGrid, polygon_normal

_HULL_TURN = 4.0
"""Times EPS and the two products it is the difference of: a turn of a polygon's outline less than this is decided by
integers."""

_MANY = 64  # points; from this number on, those inside a first polygon are excluded before the chain is built
_REPORT_EVERY = 1 << 14  # points of the chain between two reports of progress


def bends(x: FloatArray, chain: Sequence[int], width: float) -> list[int]:
    """Return the corners of a chain of points: its ends, and the inner points that straight pieces between corners
    would miss by more than `width`."""
    if len(chain) <= 2:
        return list(chain)
    p = np.ascontiguousarray(x[:, list(chain)].T)
    # Farther neighbours only make a convex corner protrude more: a corner between its neighbours remains one.
    to, across = p[1:-1] - p[:-2], p[2:] - p[:-2]
    square = (across * across).sum(axis=1)
    miss = to - ((to * across).sum(axis=1) / np.where(square > 0.0, square, 1.0))[:, None] * across
    sure = np.flatnonzero((miss * miss).sum(axis=1) > width * width) + 1
    keep = [0, *sure.tolist(), len(chain) - 1]
    spans = [(first, last) for first, last in pairwise(keep) if last - first > 1]
    while spans:
        first, last = spans.pop()
        direction = p[last] - p[first]
        inner = p[first + 1 : last] - p[first]
        length = float(direction @ direction)
        fraction = np.clip(inner @ direction / length, 0.0, 1.0) if length > 0.0 else np.zeros(len(inner))
        miss = inner - fraction[:, None] * direction
        distance = (miss * miss).sum(axis=1)
        far = int(distance.argmax())
        if float(distance[far]) > width * width:
            middle = first + 1 + far
            keep.append(middle)
            spans += [span for span in ((first, middle), (middle, last)) if span[1] - span[0] > 1]
    return [chain[i] for i in sorted(keep)]


def polygon_hull(grid: HullGrid, x: FloatArray, progress: Progress | None = None) -> tuple[list[int], IntArray]:
    """Return the corners of the hull of the columns of x (2, n), counter-clockwise, and the points near its sides.

    x is the grid's own array, or two coordinates of it. Raises Cancelled when `progress` says so.
    """
    n = x.shape[1]
    ids: IntArray = np.arange(n)
    near = ids
    if n > _MANY:
        angle = 0.1 + np.arange(24) * (2.0 * np.pi / 24)
        extreme = np.unique((np.stack([np.cos(angle), np.sin(angle)], axis=1) @ x).argmax(axis=1))
        loop = _chain(x, extreme)
        if len(loop) >= 3:
            start = x[:, loop]
            direction = np.roll(start, -1, axis=1) - start
            length = np.sqrt(squared_lengths(direction))
            normal = np.stack([direction[1], -direction[0]]) / length
            height = normal.T @ x - (normal * start).sum(axis=0)[:, None]
            side = height.argmax(axis=0)
            top = height[side, ids]
            fraction = (direction.T @ x - (direction * start).sum(axis=0)[:, None])[side, ids]
            beside = (fraction < 0.0) | (fraction > length[side] ** 2)
            close = top >= -grid.filter
            near = np.flatnonzero(close)
            ids = np.flatnonzero((top > grid.drop) | (close & beside))
            ids = np.unique(np.concatenate([ids, np.array(loop, dtype=np.intp)]))
    loop = _chain(x, ids, progress)
    return _corners(x, loop, grid.straight), near


def _chain(x: FloatArray, ids: IntArray, progress: Progress | None = None) -> list[int]:
    """Return the strictly convex hull of the columns `ids` of x by the monotone chain, with exact turns."""
    order = ids[np.lexsort((x[1, ids], x[0, ids]))]
    px: list[float] = x[0].take(order).tolist()
    py: list[float] = x[1].take(order).tolist()
    bound = _HULL_TURN * EPS

    def half(sequence: range, progress: Progress | None) -> list[int]:
        hull: list[int] = []
        for begin in range(0, count, _REPORT_EVERY):
            report_progress(progress, begin, count)
            for c in sequence[begin : begin + _REPORT_EVERY]:
                cx, cy = px[c], py[c]
                while len(hull) >= 2:
                    a, b = hull[-2], hull[-1]
                    left = (px[b] - px[a]) * (cy - py[a])
                    right = (py[b] - py[a]) * (cx - px[a])
                    turn = left - right
                    if abs(turn) <= bound * (abs(left) + abs(right)):
                        ax, ay, bx, by = int(px[a]), int(py[a]), int(px[b]), int(py[b])
                        turn = (bx - ax) * (int(cy) - ay) - (by - ay) * (int(cx) - ax)
                    if turn > 0:
                        break
                    hull.pop()
                if not hull or px[hull[-1]] != cx or py[hull[-1]] != cy:
                    hull.append(c)
        return hull

    count = len(px)
    lower = half(range(count), subrange(progress, 0.0, 0.5))
    upper = half(range(count - 1, -1, -1), subrange(progress, 0.5, 1.0))
    return [int(order[i]) for i in lower[:-1] + upper[:-1]] if len(lower) > 1 else [int(order[0])]


def _corners(x: FloatArray, loop: list[int], width: float) -> list[int]:
    """Return a convex polygon without the vertices on a straight side within `width`."""
    if len(loop) < 4:
        return loop
    p = x[:, loop]
    before, after = np.roll(p, 1, axis=1), np.roll(p, -1, axis=1)
    direction, to = after - before, p - before
    if ((direction[0] * to[1] - direction[1] * to[0]) ** 2 > width * width * squared_lengths(direction)).all():
        return loop
    # The vertex farthest from any inner point is a corner, and so is the one farthest from that.
    first = int(squared_lengths(p - p.mean(axis=1, keepdims=True)).argmax())
    second = int(squared_lengths(p - p[:, first : first + 1]).argmax())
    cycle = loop[first:] + loop[:first]
    split = (second - first) % len(loop)
    corners = bends(x, cycle[: split + 1], width)[:-1] + bends(x, cycle[split:] + cycle[:1], width)[:-1]
    return corners if len(corners) >= 3 else loop


def _outline(grid: HullGrid, normal: FloatArray, progress: Progress | None) -> tuple[list[int], IntArray]:
    """Return the corners of flat points, counter-clockwise seen from the tip of the normal, and the points near the
    sides."""
    axis = int(np.abs(normal).argmax())
    first, second = (axis + 1) % 3, (axis + 2) % 3
    # Dropping one coordinate is exact, where projecting onto the plane would round.
    loop, near = polygon_hull(grid, np.ascontiguousarray(grid.x[[first, second]]), progress)
    return (loop if normal[axis] > 0.0 else loop[::-1]), near


def flat_hull(grid: HullGrid, normal: FloatArray, progress: Progress | None = None) -> tuple[list[int], FloatArray]:
    """Return the corners of flat points in space, counter-clockwise about the returned unit normal."""
    loop, _ = _outline(grid, normal, progress)
    better = polygon_normal(grid.x[:, loop].T.tolist())
    return loop, normal if better is None else np.array(better)
