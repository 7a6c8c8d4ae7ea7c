# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of extreme size are solved at ordinary size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..result import Contact
from ..shapes.polytope import extreme_exponent


def at_ordinary_size(solve: Callable[[Any, Any, float], Contact], a: Any, b: Any, clearance: float) -> Contact:
    """Return `solve(a, b, clearance)`; of a pair too large or too small for products of lengths in float64, scaled by
    a power of two, which rounds nothing, and back."""
    exponent = extreme_exponent(a, b)
    if not exponent:
        return solve(a, b, clearance)
    found = solve(a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), float(np.ldexp(clearance, -exponent)))
    return found.scaled(exponent, clearance)
