# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase: the pairs of axis-aligned boxes that may collide, without testing all pairs.

Boxes of about one size go into a grid; where they crowd in a few of its cells, a tree takes over. Both find the same
pairs. Source: S3.2, S3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array, as_length, validate_magnitude
from ..progress import Progress, report_progress, subrange
from ..tolerance import EPS, LARGEST_COORDINATE
from ..types import IntArray, ReadOnlyArrays, read_only
from .box_pairs import Boxes, PairList
from .grid_pairs import find_grid_pairs
from .linear_bvh import find_tree_pairs

_BROAD_MARGIN = 4.0
"""Times EPS (M + margin): by how much more than a margin boxes are widened where pairs are only proposed; what the sums
are rounded by. The pairs are tested with the margin itself."""


@dataclass(frozen=True, eq=False)
class Candidates(ReadOnlyArrays):
    """Result of the broad phase."""

    pairs: IntArray
    """(p, 2) indices of boxes that overlap or are within the margin: i < j in one set, or i of A and j of B. In
    ascending order; read-only."""
    method: Literal["grid", "bvh"]
    """How they were found."""
    tests: int
    """Number of tests of two boxes, or of two nodes of a tree, that it took."""


def candidate_pairs(
    low: ArrayLike,
    high: ArrayLike,
    other_low: ArrayLike | None = None,
    other_high: ArrayLike | None = None,
    *,
    margin: float = 0.0,
    progress: Progress | None = None,
) -> Candidates:
    """Return the pairs of axis-aligned boxes that overlap or come within a margin of each other; touching counts.

    Args:
        low, high: (n, dim) lowest and highest corners, dim 2 or 3, world frame; n may be 0.
        other_low, other_high: a second set: pairs are then of one box of the first and one of the second.
        margin: boxes at most this far apart along every axis count too; world units, >= 0.
        progress: called with the fraction done, 0 to 1; False cancels.

    Exact: of the corners as they are given, in float64. Memory: some arrays as long as the boxes, and one and a half
    times what the pairs take. Raises ValueError, naming the argument, when one is not such an array, a box has a low
    corner above its high one, or the margin is negative; Cancelled when `progress` says so. Source: S3.2.

    >>> candidate_pairs([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], [[2.0, 2.0], [3.0, 3.0], [6.0, 6.0]]).pairs.tolist()
    [[0, 1]]
    """
    if (other_low is None) != (other_high is None):
        raise ValueError("other_low and other_high must be given both or neither")
    margin = min(as_length("margin", margin), 4.0 * LARGEST_COORDINATE)  # no boxes are further apart
    a = _as_boxes("low", low, "high", high)
    b = None
    if other_low is not None and other_high is not None:
        b = _as_boxes("other_low", other_low, "other_high", other_high)
        if b.dim != a.dim:
            raise ValueError(f"other_low has dimension {b.dim}, but low has {a.dim}")
    report_progress(progress, 0.0)
    found = PairList(a, b, margin)
    method = _find_pairs(a, b, margin, found, subrange(progress, 0.0, 1.0))
    pairs = read_only(found.sorted_pairs().T)
    report_progress(progress, 1.0)
    return Candidates(pairs, method, found.tests)


def _as_boxes(name: str, low: ArrayLike, name_high: str, high: ArrayLike) -> Boxes:
    """Return both corners as rows of coordinates (dim, n)."""
    corners = []
    for word, value in ((name, low), (name_high, high)):
        array = as_array(word, value, "an array (n, 2) or (n, 3)")
        if array.ndim != 2 or array.shape[1] not in (2, 3):
            raise ValueError(f"{word}: an array (n, 2) or (n, 3) expected, got the shape {array.shape}")
        corners.append(array)
    if corners[0].shape != corners[1].shape:
        raise ValueError(f"{name_high}: the shape of {name}, {corners[0].shape}, expected, got {corners[1].shape}")
    rows = np.empty((2, *corners[0].shape[::-1]))
    rows[0], rows[1] = corners[0].T, corners[1].T
    boxes = Boxes(rows)
    if not (boxes.low <= boxes.high).all():
        wrong = np.flatnonzero((corners[0] > corners[1]).any(axis=1))
        raise ValueError(f"{name}: row {wrong[0]} is above that of {name_high}")
    if boxes.count and boxes.magnitude > LARGEST_COORDINATE:
        validate_magnitude(name, boxes.low)
        validate_magnitude(name_high, boxes.high)
    return boxes


def _find_pairs(
    a: Boxes, b: Boxes | None, margin: float, found: PairList, progress: Progress | None
) -> Literal["grid", "bvh"]:
    """Propose pairs from the grid, or from the tree where that takes too many tests; return which it was."""
    if a.count == 0 or (b is not None and b.count == 0):
        return "grid"
    widened = 0.0
    if margin > 0.0:
        widened = _BROAD_MARGIN * EPS * (max(boxes.magnitude for boxes in (a, b) if boxes is not None) + margin)
        a = a.extended(margin + widened)
        b = None if b is None else b.extended(margin + widened)
    if find_grid_pairs(a, b, found, widened, progress):
        return "grid"
    found.clear()
    find_tree_pairs(a, b, found, widened, progress)
    return "bvh"
