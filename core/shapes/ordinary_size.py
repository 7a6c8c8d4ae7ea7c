# SPDX-License-Identifier: GPL-3.0-or-later
"""Scaling of pairs too large or too small for products of lengths in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..tolerance import EXTREME_EXPONENT
from .shape import LARGEST_POWER, Shape


def extreme_exponent(a: Shape, b: Shape) -> int:
    """Return the power of two by which a pair is too large or too small for products of lengths in float64, else 0."""
    lows_a, highs_a = a._bounds_tuples
    lows_b, highs_b = b._bounds_tuples
    half = 0.0
    for k, low in enumerate(lows_a):
        high, low_b, high_b = highs_a[k], lows_b[k], highs_b[k]
        side = 0.5 * (high if high > high_b else high_b) - 0.5 * (low if low < low_b else low_b)
        if side > half:
            half = side
    exponent = math.frexp(half)[1]
    return max(exponent, -LARGEST_POWER) if abs(exponent) > EXTREME_EXPONENT else 0


def at_ordinary_size(solve: Callable[[Any, Any, float], Any], a: Any, b: Any, clearance: float) -> Any:
    """Return `solve(a, b, clearance)`; a pair of extreme size is scaled by a power of two, which is exact, and the
    result scaled back by its `scaled(exponent, clearance)`."""
    exponent = extreme_exponent(a, b)
    if not exponent:
        return solve(a, b, clearance)
    found = solve(a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), float(np.ldexp(clearance, -exponent)))
    return found.scaled(exponent, clearance)
