# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors of fractions: exact arithmetic for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from .oracles import cross, dot, minus

Exact = Sequence[Fraction]


def exact(point: Iterable[float]) -> list[Fraction]:
    return [Fraction(float(x)) for x in point]


def height(p: Exact, a: Exact, b: Exact, c: Exact) -> Fraction:
    """Six times the volume over a triangle: positive in front of it."""
    return dot(minus(p, a), cross(minus(b, a), minus(c, a)))
