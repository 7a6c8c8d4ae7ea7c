# SPDX-License-Identifier: GPL-3.0-or-later
"""Many boxes of every kind, and what pairs of polytopes are measured by."""

from __future__ import annotations

import numpy as np

from contact_lens.core import Box, Polytope

from .oracles import EPS

SIZES = (1, 40, 1_000, 20_000)
BOX_KINDS = (
    "turned",
    "lattice",
    "quarter turns",
    "far",
    "slabs and needles",
    "about z",
    "tiny",
    "huge",
    "flat too",
)


def promised(a, b, signed_distance: float) -> float:
    """The promised tolerance of a signed distance."""
    extent, magnitude = min(a.extent, b.extent), max(a.magnitude, b.magnitude)
    return 1e-9 * abs(signed_distance) + 1e-10 * extent + 64 * EPS * magnitude


def gap_across(a: Polytope, b: Polytope, normal: np.ndarray) -> float:
    """Gap along a normal, measured from between the shapes so that nothing is lost far from the origin."""
    shift = float((b.center - a.center) @ normal)
    return float((b._centred @ normal).min() - (a._centred @ normal).max()) + shift


def outside(shape: Polytope, point: np.ndarray) -> float:
    """How far a point is outside of a solid polytope's planes."""
    return float(((point - shape.center) @ shape.normals.T - shape.offsets).max())


def random_pairs(count: int, shapes: int, seed: int = 3) -> np.ndarray:
    """Pairs (count, 2) of indices of shapes."""
    return np.random.default_rng(seed).integers(0, shapes, (count, 2))


def make_boxes(count: int, kind: str, seed: int = 5) -> list[Box]:
    """Boxes of one kind at random places."""
    rng = np.random.default_rng(seed)
    quarter = [(1, 0, 0, 0), (1, 0, 0, 1), (1, 1, 0, 0), (1, 1e-7, 0, 0), (1, 0, 3e-12, 0)]
    result = []
    for _ in range(count):
        place, size, turn = rng.uniform(-3, 3, 3), rng.uniform(0.5, 1.5, 3), rng.normal(size=4)
        if kind in ("lattice", "quarter turns"):
            place, size = rng.integers(-3, 4, 3), rng.integers(1, 3, 3)
            turn = quarter[rng.integers(5) if kind == "quarter turns" else 0]
        elif kind == "slabs and needles":
            size = 10.0 ** rng.uniform(-4, 0.7, 3)
        elif kind == "about z":
            turn = np.array([1.0, 0.0, 0.0, rng.normal()])
            place[2], size[2] = rng.integers(-2, 3), 1.0
        elif kind == "flat too":
            size = size * rng.integers(0, 2, 3)
        scale = {"tiny": 1e-4, "huge": 1e5, "minute": 1e-40}.get(kind, 1.0)
        scale = 10.0 ** rng.uniform(-17, 0) if kind == "all sizes" else scale
        result.append(Box(scale * place + (1e6 if kind == "far" else 0.0), scale * size, turn))
    return result
