# SPDX-License-Identifier: GPL-3.0-or-later
"""Directions spread over the sphere, the same for all polytopes: along them intervals are known. Source: S4.4."""

from __future__ import annotations

import numpy as np

from ...types import FloatArray, read_only

AXES = 32
"""Fixed axes along which the interval of every polytope is known."""


def _spread_axes() -> FloatArray:
    """Return unit vectors (AXES, 3), the coordinate axes among them, of which no two are nearly parallel."""
    count = AXES - 3
    z = 1.0 - (np.arange(count) + 0.5) / count
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    ring = np.sqrt(1.0 - z * z)
    spiral = np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)
    return read_only(np.concatenate([np.eye(3), spiral]))


FIXED_AXES = _spread_axes()
