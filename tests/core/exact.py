# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors of fractions: exact arithmetic for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

Exact = Sequence[Fraction]


def exact(point: Iterable[float]) -> list[Fraction]:
    return [Fraction(float(x)) for x in point]


def minus(p: Exact, q: Exact) -> list[Fraction]:
    return [x - y for x, y in zip(p, q, strict=True)]


def dot(p: Exact, q: Exact) -> Fraction:
    return sum((x * y for x, y in zip(p, q, strict=True)), Fraction(0))


def cross(p: Exact, q: Exact) -> list[Fraction]:
    return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]


def height(p: Exact, a: Exact, b: Exact, c: Exact) -> Fraction:
    """Six times the volume over a triangle: positive in front of it."""
    return dot(minus(p, a), cross(minus(b, a), minus(c, a)))
