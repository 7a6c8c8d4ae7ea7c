# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact predicates with integers, for the few cases that floats do not decide.

Points are rounded to a power-of-two grid so fine that they keep all relevant digits; Python's integers then decide
exactly. Slower than floats by a factor of ten to fifty, so callers use them only when a float filter fails.
"""

from __future__ import annotations

from math import frexp

from ..shapes.simplex import Nearest, Vertex

_EXACT_GRID_BITS = 120
"""Bits of the integer grid on which GJK decides exactly: its step is 2**-120 of the largest coordinate."""

NORMAL_BITS = 60  # enough for a float64 of each component, few enough for its square

WholeVector = tuple[int, int, int]


def whole_plane(p: WholeVector, q: WholeVector, r: WholeVector) -> tuple[int, int, int, int]:
    """Return the plane (x, y, z, offset) through three points of a grid, right-handed: x p + y p + z p == offset."""
    normal = exact_cross(exact_difference(q, p), exact_difference(r, p))
    return (*normal, exact_dot(normal, p))  # mutant: exact-plane-offset


def whole_normal(p: WholeVector, q: WholeVector, r: WholeVector) -> tuple[float, float, float]:
    """Return a normal of the triangle, right-handed and of any length, rounded only at the end."""
    normal = exact_cross(exact_difference(q, p), exact_difference(r, p))
    shift = max(0, max(map(abs, normal)).bit_length() - NORMAL_BITS)
    x, y, z = (float(n >> shift) for n in normal)
    return x, y, z


def nearest_on_simplex_exactly(vertices: tuple[Vertex, ...]) -> Nearest | None:
    """Return the result of `simplex.nearest_on_simplex` from exact arithmetic, correctly rounded."""
    whole, grid = _whole(vertices)
    if len(whole) == 4 and all(volume > 0 for volume in _volumes(whole)):
        return None
    (x, y, z), denominator, corners = _nearest_face(whole)
    return (
        x / denominator / grid,
        y / denominator / grid,
        z / denominator / grid,
        tuple(vertices[k] for k in corners),
    )


def weights_exactly(vertices: tuple[Vertex, ...]) -> tuple[float, ...]:
    """Return the barycentric weights of the point of a simplex nearest to the origin, from exact arithmetic.

    One for each of the 1 to 4 vertices, none negative, each correctly rounded: the weighted mean is right to rounding
    however thin the simplex is.
    """
    whole = _whole(vertices)[0]
    if len(whole) == 4:
        volumes = _volumes(whole)
        if all(v > 0 for v in volumes):
            total = sum(volumes)
            return tuple(v / total for v in volumes)
    _, _, corners = _nearest_face(whole)
    weights = [0.0] * len(vertices)
    held = [whole[k] for k in corners]
    if len(held) == 1:
        fractions = [1]
    elif len(held) == 2:
        u = exact_difference(held[1], held[0])
        along = -exact_dot(held[0], u)
        fractions = [exact_dot(u, u) - along, along]
    else:
        fractions = list(_areas(*held)[1])
    total = sum(fractions)
    for k, fraction in zip(corners, fractions, strict=True):
        weights[k] = fraction / total
    return tuple(weights)


def _whole(vertices: tuple[Vertex, ...]) -> tuple[list[WholeVector], float]:
    """Return the points of a simplex on the integer grid, and the grid's points per unit."""
    largest = max(max(abs(x), abs(y), abs(z)) for x, y, z, _, _ in vertices)
    grid = 2.0 ** (_EXACT_GRID_BITS - frexp(largest)[1])
    return [(int(x * grid), int(y * grid), int(z * grid)) for x, y, z, _, _ in vertices], grid


def _nearest_face(corners: list[WholeVector]) -> tuple[WholeVector, int, tuple[int, ...]]:
    """Return the origin's foot (point, denominator) on the nearest vertex, edge or triangle of a simplex, and that
    face."""
    best: tuple[WholeVector, int, tuple[int, ...]] | None = None
    best_square = best_scale = 0
    for face in _faces(len(corners)):
        foot = _foot([corners[k] for k in face])
        if foot is None:
            continue
        point, denominator = foot
        square, scale = exact_dot(point, point), denominator * denominator
        if best is None or square * best_scale < best_square * scale:  # mutant: exact-farthest-face
            best, best_square, best_scale = (point, denominator, face), square, scale
    assert best is not None  # each corner is a face with a foot
    return best


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
    u = exact_difference(corners[1], p)
    if len(corners) == 2:
        length2 = exact_dot(u, u)
        along = -exact_dot(p, u)
        if not 0 < along < length2:
            return None
        return (p[0] * length2 + u[0] * along, p[1] * length2 + u[1] * along, p[2] * length2 + u[2] * along), length2
    normal, areas = _areas(*corners)
    if min(areas) <= 0:
        return None
    height = exact_dot(normal, p)
    return (normal[0] * height, normal[1] * height, normal[2] * height), exact_dot(normal, normal)


def _areas(p: WholeVector, q: WholeVector, r: WholeVector) -> tuple[WholeVector, tuple[int, int, int]]:
    """Return the normal of a triangle and the areas opposite each corner into which the origin's projection divides
    it."""
    normal = exact_cross(exact_difference(q, p), exact_difference(r, p))
    return normal, (
        exact_dot(normal, exact_cross(q, r)),
        exact_dot(normal, exact_cross(r, p)),
        exact_dot(normal, exact_cross(p, q)),
    )


def _volumes(corners: list[WholeVector]) -> tuple[int, int, int, int]:
    """Return the volumes opposite each corner into which the origin divides a tetrahedron: all positive when it is
    inside."""
    p, q, r, s = corners
    volume = exact_dot(exact_cross(exact_difference(q, p), exact_difference(r, p)), exact_difference(s, p))
    sign = (volume > 0) - (volume < 0)
    return (
        sign * exact_dot(exact_cross(q, r), s),
        -sign * exact_dot(exact_cross(p, r), s),  # mutant: exact-volume-sign
        sign * exact_dot(exact_cross(p, q), s),
        -sign * exact_dot(exact_cross(p, q), r),
    )


def exact_difference(p: WholeVector, q: WholeVector) -> WholeVector:
    """Return p - q."""
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def exact_dot(p: WholeVector, q: WholeVector) -> int:
    """Return the scalar product of p and q."""
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def exact_cross(p: WholeVector, q: WholeVector) -> WholeVector:
    """Return the vector product of p and q."""
    return p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]
