# SPDX-License-Identifier: GPL-3.0-or-later
"""A polygon as the union of convex ones: ears are cut off, then cuts that no concave corner needs are undone.

The corners of the pieces are corners of the polygon, so nothing is rounded; turns are decided exactly. There are at
most four times as many pieces as need be.

Sources: S1.2; Hertel and Mehlhorn, "Fast triangulation of simple polygons" (1983); Meisters, "Polygons have ears"
(1975).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_length
from ..shapes.hull import ConvexHull
from ..tolerance import CONVEX_TURN, EPS, HULL_STRAIGHT
from ..types import FloatArray, IntArray
from .polygon_convexity import PolygonOutline, as_polygon, outline_of
from .whole_points import UNDERFLOW

_Turn = Callable[[int, int, int], int]
_TRIES = (1.0, 0.0, -1.0)  # orders to cut ears in; the one with the fewest pieces is taken
_MANY = 600  # corners from which on one order is tried


def decompose_polygon(points: ArrayLike, tolerance: float = 0.0) -> list[FloatArray]:
    """Return convex polygons (k, 2), counter-clockwise, that fill a polygon without overlapping.

    points (n, 2) in order, in either winding, without holes. The corners of a piece are points of the polygon; a piece
    is convex but for rounding (HULL_STRAIGHT EPS M), so that its `ConvexHull` or `Polygon` is the piece. With a
    `tolerance`, a fraction of the bounding box's diagonal, concavities of a piece that are not deeper are left in it.
    What is convex is one piece, points on one line too. Source: S1.2.

    Raise ValueError, naming the argument, when the points are not such an array of finite real numbers, when sides
    cross or touch (the message names them), or when the tolerance is negative.

    >>> print(len(decompose_polygon([[0, 0], [2, 0], [2, 2], [1, 1], [0, 2]])))
    2
    """
    array = as_polygon(points)
    return [array[piece] for piece in pieces_of(outline_of(array, as_length("tolerance", tolerance)), tolerance)]


def pieces_of(outline: PolygonOutline, tolerance: float = 0.0) -> list[IntArray]:
    """Return the pieces of an outline as numbers of its points, counter-clockwise."""
    if outline.convexity.convex:
        return [outline.hull.vertex_ids]
    least = max(HULL_STRAIGHT * EPS * outline.hull.magnitude, tolerance * outline.hull.extent)
    tries = _TRIES if len(outline.loop) <= _MANY else _TRIES[:1]
    found = [_merged(outline, triangulated(outline, shortest), least) for shortest in tries]
    return [np.array(piece, dtype=np.intp) for piece in min(found, key=len)]


def triangulated(outline: PolygonOutline, shortest: float = 1.0) -> list[tuple[int, int, int]]:
    """Return the triangles of a simple polygon, counter-clockwise, all of some area: as numbers of its points.

    Ears are cut off where the cut is short first; with `shortest` -1.0 where it is long, with 0.0 as they come.
    """
    loop = outline.loop.tolist()
    p, whole = outline.points, outline.whole
    n = len(loop)
    turn = _turn_of(outline)
    before = {v: loop[k - 1] for k, v in enumerate(loop)}
    after = {v: loop[(k + 1) % n] for k, v in enumerate(loop)}
    blocks = np.zeros(len(p), dtype=np.bool_)  # corners that are not convex: only these can be inside an ear
    blocks[outline.loop] = outline.turns <= 0
    convex = {v: bool(t > 0) for v, t in zip(loop, outline.turns.tolist(), strict=True)}
    alive = dict.fromkeys(loop, True)
    rows = p.tolist()

    def length(v: int) -> float:
        (ax, ay), (bx, by) = rows[before[v]], rows[after[v]]
        return shortest * float(max(abs(ax - bx), abs(ay - by)))

    def is_ear(v: int) -> bool:
        u, w = before[v], after[v]
        near = np.flatnonzero(blocks)
        corners = p[[u, v, w]]
        q = p[near]
        near = near[((q >= corners.min(axis=0)) & (q <= corners.max(axis=0))).all(axis=1)]
        near = near[(near != u) & (near != w)]
        if not len(near):
            return True
        a, b, c = np.full(len(near), u), np.full(len(near), v), np.full(len(near), w)
        inside = (whole.turns(a, b, near) >= 0) & (whole.turns(b, c, near) >= 0) & (whole.turns(c, a, near) >= 0)
        return not inside.any()

    triangles: list[tuple[int, int, int]] = []
    queue: list[tuple[float, int, int, int]] = []
    left = n
    while left > 3:
        if not queue:
            queue = [(length(v), v, before[v], after[v]) for v in loop if alive[v] and convex[v]]
            heapq.heapify(queue)
        cut = False
        while queue and left > 3:
            _, v, u, w = heapq.heappop(queue)
            if not (alive[v] and convex[v] and before[v] == u and after[v] == w and is_ear(v)):
                continue
            cut = True
            triangles.append((u, v, w))
            alive[v] = False
            after[u], before[w] = w, u
            left -= 1
            for x in (u, w):
                convex[x] = turn(before[x], x, after[x]) > 0
                blocks[x] = not convex[x]
                if convex[x]:
                    heapq.heappush(queue, (length(x), x, before[x], after[x]))
        assert cut or left == 3, "a simple polygon has an ear"
    v = next(x for x in loop if alive[x])
    triangles.append((before[v], v, after[v]))
    return triangles


def _turn_of(outline: PolygonOutline) -> _Turn:
    """Return a function for the direction in which three points turn: by floats where they are sure, else exactly."""
    rows = outline.whole.scaled.tolist()
    exactly = outline.whole.turn
    bound = CONVEX_TURN * EPS

    def turn(a: int, b: int, c: int) -> int:
        (ax, ay), (bx, by), (cx, cy) = rows[a], rows[b], rows[c]
        p, q = (bx - ax) * (cy - ay), (by - ay) * (cx - ax)
        value = p - q
        if abs(value) > bound * (abs(p) + abs(q)) + UNDERFLOW:
            return 1 if value > 0.0 else -1
        whole = exactly(a, b, c)
        return (whole > 0) - (whole < 0)

    return turn


def _merged(outline: PolygonOutline, triangles: list[tuple[int, int, int]], least: float) -> list[list[int]]:
    """Return convex pieces: triangles, joined where that is convex, first across cuts that end no concave corner."""
    turn = _turn_of(outline)
    p = outline.points
    rows = p.tolist()
    pieces: dict[int, list[int]] = {k: list(triangle) for k, triangle in enumerate(triangles)}
    owner = {(t[i], t[(i + 1) % 3]): k for k, t in enumerate(triangles) for i in range(3)}
    cuts = [(a, b) for a, b in owner if a < b and (b, a) in owner]
    loop = outline.loop.tolist()
    around = {v: (loop[k - 1], loop[(k + 1) % len(loop)]) for k, v in enumerate(loop)}
    concave = {v for v, t in zip(loop, outline.turns.tolist(), strict=True) if t < 0}

    def worth(cut: tuple[int, int]) -> tuple[int, float]:
        """Return how many concave corners the cut ends by itself, and minus its length."""
        ended = 0
        for v, w in (cut, cut[::-1]):
            u, x = around[v]
            ended += v in concave and turn(u, v, w) >= 0 and turn(w, v, x) >= 0
        (ax, ay), (bx, by) = rows[cut[0]], rows[cut[1]]
        return ended, -max(abs(ax - bx), abs(ay - by))

    cuts.sort(key=lambda e: (worth(e), e))
    for a, b in cuts:
        left, right = owner[a, b], owner[b, a]
        first, second = pieces[left], pieces[right]
        i, j = first.index(b), second.index(a)
        # From b round to a along the first piece, from a round to b along the second.
        joined = first[i:] + first[:i]
        remaining = second[j:] + second[:j]
        ring = joined[:-1] + remaining[:-1]
        if not _turns_left(turn, ring) and not _nearly_convex(p[ring], least):
            continue
        pieces[left] = ring
        del pieces[right]
        for k in range(len(remaining) - 1):
            owner[remaining[k], remaining[k + 1]] = left
    return [
        [v for k, v in enumerate(ring) if turn(ring[k - 1], v, ring[(k + 1) % len(ring)]) != 0]
        for ring in pieces.values()
    ]


def _turns_left(turn: _Turn, ring: list[int]) -> bool:
    return all(turn(ring[k - 1], ring[k], ring[(k + 1) % len(ring)]) >= 0 for k in range(len(ring)))


def _nearly_convex(p: FloatArray, least: float) -> bool:
    """Return whether no corner of a simple polygon is deeper than `least` under the sides of its hull."""
    hull = ConvexHull(p)
    if hull.rank < 2:
        return True
    depths = (hull.offsets - (p - hull.center) @ hull.normals.T).min(axis=1)
    return bool(depths.max() <= least)
