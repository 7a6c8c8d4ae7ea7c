# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle: the exact volume of the intersection of the hulls of two small sets of points, in rational numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

Point = tuple[Fraction, ...]
Plane = tuple[Point, Fraction]


def exact_overlap(a, b) -> Fraction:
    """Return the volume, in the plane the area, that the hulls of a few points have in common."""
    a, b = ([tuple(map(Fraction, point)) for point in points.tolist()] for points in (a, b))
    dim = len(a[0])
    planes = _planes(a) + _planes(b)
    low = [min(p[k] for p in a) - 1 for k in range(dim)]
    high = [max(p[k] for p in a) + 1 for k in range(dim)]
    cell = _square(low, high) if dim == 2 else _cube(low, high)
    for normal, offset in planes:
        cell = _clipped(cell, normal, offset, dim)
    return _size(cell, dim)


def _minus(p, q):
    return tuple(x - y for x, y in zip(p, q, strict=True))


def _dot(p, q):
    return sum(x * y for x, y in zip(p, q, strict=True))


def _cross(u, v):
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def _planes(points: list[Point]) -> list[Plane]:
    """Return the half-spaces `normal @ x <= offset` of the hull; of flat points two at least that leave nothing."""
    found = set()
    for corners in combinations(points, len(points[0])):
        sides = [_minus(q, corners[0]) for q in corners[1:]]
        normal = _cross(*sides) if len(sides) == 2 else (sides[0][1], -sides[0][0])
        size = sum(map(abs, normal))
        if size:
            normal = tuple(x / size for x in normal)
            heights = [_dot(normal, p) for p in points]
            level = _dot(normal, corners[0])
            if max(heights) == level:
                found.add((normal, level))
            if min(heights) == level:
                found.add((tuple(-x for x in normal), -level))
    return list(found)


def _square(low, high):
    (x, y), (u, v) = low, high
    return [[(x, y), (u, y), (u, v), (x, v)]]


def _cube(low, high):
    corner = [[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)]
    loops = ((1, 3, 7, 5), (0, 4, 6, 2), (2, 6, 7, 3), (0, 1, 5, 4), (4, 5, 7, 6), (0, 2, 3, 1))
    return [[tuple(corner[k]) for k in loop] for loop in loops]


def _clipped(cell, normal, offset, dim):
    """Return a convex cell, as polygons, below a plane."""
    kept, rim = [], []
    for loop in cell:
        heights = [_dot(normal, p) - offset for p in loop]
        part = []
        for k, p in enumerate(loop):
            if heights[k] <= 0:
                part.append(p)
            if heights[k] == 0:
                rim.append(p)
            q, h, g = loop[(k + 1) % len(loop)], heights[k], heights[(k + 1) % len(loop)]
            if h * g < 0:
                cut = tuple(x + h / (h - g) * (y - x) for x, y in zip(p, q, strict=True))
                part.append(cut)
                rim.append(cut)
        if len(part) > 2 and any(h < 0 for h in heights):
            kept.append(part)
    rim = list(dict.fromkeys(rim))
    if dim == 2 or len(rim) < 3 or not kept:
        return kept
    # The rim in order: by exact turns about its first point, which is a corner of it.
    axis = max(range(3), key=lambda k: abs(normal[k]))
    first, second = [k for k in range(3) if k != axis]
    flat = sorted((p[first], p[second], p) for p in rim)

    def half(points):
        chain = []
        for p in points:
            while len(chain) > 1 and (chain[-1][0] - chain[-2][0]) * (p[1] - chain[-2][1]) <= (
                chain[-1][1] - chain[-2][1]
            ) * (p[0] - chain[-2][0]):
                chain.pop()
            chain.append(p)
        return chain[:-1]

    loop = [p[2] for p in half(flat) + half(flat[::-1])]
    if len(loop) < 3:
        return kept
    if _dot(_cross(_minus(loop[1], loop[0]), _minus(loop[2], loop[0])), normal) < 0:
        loop.reverse()
    return [*kept, loop]


def _size(cell, dim):
    if not cell:
        return Fraction(0)
    if dim == 2:
        (loop,) = cell
        return sum(p[0] * q[1] - p[1] * q[0] for p, q in zip(loop, loop[1:] + loop[:1], strict=True)) / 2
    total = Fraction(0)
    for loop in cell:
        for q, r in pairwise(loop[1:]):
            total += _dot(loop[0], _cross(q, r))
    return total / 6
