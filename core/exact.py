# SPDX-License-Identifier: GPL-3.0-or-later
"""Decisions in whole numbers, for the few cases in which floats cannot tell.

Points are put on a power-of-two grid so fine that they keep all digits that matter; Python's integers then decide
exactly. Slower than floats by a factor of ten to fifty, so callers ask only when a float filter fails.
"""

from __future__ import annotations

from math import frexp

from .simplex import Nearest, Vertex
from .tolerance import EXACT_GRID_BITS

NORMAL_BITS = 60  # enough for a float64 of each component, few enough for its square

WholeVector = tuple[int, int, int]


def whole_plane(p: WholeVector, q: WholeVector, r: WholeVector) -> tuple[int, int, int, int]:
    """Return the plane (x, y, z, offset) through three points of a grid, right-handed: x p + y p + z p == offset."""
    normal = _cross(_minus(q, p), _minus(r, p))
    return (*normal, _dot(normal, p))


def whole_normal(p: WholeVector, q: WholeVector, r: WholeVector) -> tuple[float, float, float]:
    """Return a normal of the triangle, right-handed and of any length, rounded only at the end."""
    normal = _cross(_minus(q, p), _minus(r, p))
    shift = max(0, max(map(abs, normal)).bit_length() - NORMAL_BITS)
    x, y, z = (float(n >> shift) for n in normal)
    return x, y, z


def nearest_on_simplex_exactly(vertices: tuple[Vertex, ...]) -> Nearest | None:
    """Return what `simplex.nearest_on_simplex` returns, from exact arithmetic, correctly rounded."""
    largest = max(max(abs(x), abs(y), abs(z)) for x, y, z, _, _ in vertices)
    if largest == 0.0:
        return 0.0, 0.0, 0.0, vertices[:1]
    grid = 2.0 ** (EXACT_GRID_BITS - frexp(largest)[1])
    whole = [(int(x * grid), int(y * grid), int(z * grid)) for x, y, z, _, _ in vertices]
    if len(vertices) == 4 and _holds_origin(whole):
        return None
    best: tuple[WholeVector, int, tuple[int, ...]] | None = None
    best_square = best_scale = 0
    for corners in _faces(len(vertices)):
        foot = _foot([whole[k] for k in corners])
        if foot is None:
            continue
        point, denominator = foot
        square, scale = _dot(point, point), denominator * denominator
        if best is None or square * best_scale < best_square * scale:
            best, best_square, best_scale = (point, denominator, corners), square, scale
    assert best is not None  # each corner is a face of its own, and has a foot
    (x, y, z), denominator, corners = best
    return (
        x / denominator / grid,
        y / denominator / grid,
        z / denominator / grid,
        tuple(vertices[k] for k in corners),
    )


def _faces(count: int) -> list[tuple[int, ...]]:
    """Return the corners of every vertex, edge and triangle of a simplex, small ones first."""
    corners = range(count)
    return [
        *((i,) for i in corners),
        *((i, j) for i in corners for j in range(i)),
        *((i, j, k) for i in corners for j in range(i) for k in range(j)),
    ]


def _foot(corners: list[WholeVector]) -> tuple[WholeVector, int] | None:
    """Return the origin's foot (point, positive denominator) in the open interior of a face, None when outside it."""
    p = corners[0]
    if len(corners) == 1:
        return p, 1
    u = _minus(corners[1], p)
    if len(corners) == 2:
        length2 = _dot(u, u)
        along = -_dot(p, u)
        if not 0 < along < length2:
            return None
        return (p[0] * length2 + u[0] * along, p[1] * length2 + u[1] * along, p[2] * length2 + u[2] * along), length2
    q, r = corners[1:]
    normal = _cross(u, _minus(r, p))
    if not (_dot(normal, _cross(p, q)) > 0 and _dot(normal, _cross(q, r)) > 0 and _dot(normal, _cross(r, p)) > 0):
        return None
    height = _dot(normal, p)
    return (normal[0] * height, normal[1] * height, normal[2] * height), _dot(normal, normal)


def _holds_origin(corners: list[WholeVector]) -> bool:
    """Tell whether the origin is strictly inside a tetrahedron."""
    sides = []
    for p, q, r, opposite in ((0, 1, 2, 3), (0, 3, 1, 2), (1, 3, 2, 0), (0, 2, 3, 1)):
        *normal, offset = whole_plane(corners[p], corners[q], corners[r])
        inner = sum(n * c for n, c in zip(normal, corners[opposite], strict=True)) - offset
        sides.append((offset < 0 < inner) or (inner < 0 < offset))
    return all(sides)


def _minus(p: WholeVector, q: WholeVector) -> WholeVector:
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def _dot(p: WholeVector, q: WholeVector) -> int:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _cross(p: WholeVector, q: WholeVector) -> WholeVector:
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]
