# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs of a scene in parts, for many processes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arguments import as_cloud, as_length, as_whole_number
from .batched.sizes import Sizes
from .broad_phase.pair_order import split_pairs
from .contacts import near_pairs
from .progress import Progress
from .tolerance import DEFAULT_CONTACT_TOLERANCE
from .types import FloatArray, IntArray


def partition(
    bounds: tuple[ArrayLike, ArrayLike],
    parts: int,
    *,
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    progress: Progress | None = None,
) -> list[IntArray]:
    """Return the pairs of shapes that `contacts(shapes)` finds near each other, in parts of about equal number.

    Args:
        bounds: (low, high), lowest and highest corners (n, dim) of the axis-aligned bounding boxes of the shapes, world
            frame, as `ShapeSet.bounds` returns them.
        parts: how many, 1 or more; those beyond the number of pairs are empty.
        clearance, contact_tolerance: as they are for `contacts`.
        progress: called with the fraction done, 0 to 1; False cancels.

    Each part is an array (p, 2) of indices of shapes, in ascending order. Every pair is in exactly one part, and pairs
    of one part are near each other: the pairs are cut in the order of Hilbert's curve through space. The same bounds
    give the same parts on every machine.

    Raise ValueError, naming the argument, when the bounds are not two such arrays, a low corner is above its high one,
    or an option is not valid; Cancelled when `progress` returns False. Source: S3.2.

    >>> shapes = ShapeSet([Box([x, 0, 0], [1, 1, 1]) for x in (0, 0.75, 1.5, 2.25, 9)])
    >>> [part.tolist() for part in partition(shapes.bounds(), 2)]
    [[[0, 1]], [[1, 2], [2, 3]]]
    """
    low, high = _validate_bounds(bounds)
    number = as_whole_number("parts", parts, 1)
    clearance, contact_tolerance = as_length("clearance", clearance), as_length("contact_tolerance", contact_tolerance)
    pairs = np.zeros((0, 2), dtype=np.intp)
    if len(low):
        sizes = Sizes(np.ascontiguousarray(low.T), np.ascontiguousarray(high.T))
        pairs = near_pairs(sizes, len(low), None, clearance, contact_tolerance, progress)
    return [pairs[rows] for rows in split_pairs(low, high, pairs, number)]


def _validate_bounds(bounds: tuple[ArrayLike, ArrayLike]) -> tuple[FloatArray, FloatArray]:
    """Return lowest and highest corners (n, dim). Raise ValueError, naming `bounds`."""
    try:
        low, high = bounds
    except (TypeError, ValueError) as error:
        raise ValueError("bounds: lowest and highest corners (low, high) expected") from error
    low, high = as_cloud("bounds: low", low), as_cloud("bounds: high", high)
    if low.shape != high.shape:
        raise ValueError(f"bounds: high: the shape of low, {low.shape}, expected, got {high.shape}")
    if (low > high).any():
        raise ValueError(f"bounds: row {(low > high).any(axis=1).argmax()} of low is above that of high")
    return low, high
