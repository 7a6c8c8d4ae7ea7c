# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase: of many axis-aligned boxes the pairs that may collide, without a look at all pairs.

Four ways, one answer: a sweep for a few boxes, bitmaps for hundreds, a grid for more of about one size, a tree for all
others.
Source: S3.2, S3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array, as_length, validate_magnitude
from ..bounding.kdop import KDops
from ..bounding.volumes import Volumes
from ..hierarchy.bvh import alike
from ..hierarchy.bvh_build import build_bvh
from ..hierarchy.bvh_pairs import tree_pairs
from ..progress import Progress, report_progress, subrange
from ..tolerance import BROAD_MARGIN, EPS, LARGEST_COORDINATE
from ..types import IntArray, ReadOnlyArrays
from .bitmap_pairs import bitmap
from .box_pairs import Boxes, PairList
from .grid_pairs import grid
from .linear_bvh import tree
from .sweep_and_prune import sweep

Method = Literal["auto", "sweep", "bitmap", "grid", "bvh"]
METHODS = get_args(Method)

_FEW = 200  # boxes up to which a sweep is as fast as anything
_SEVERAL = 1500  # boxes up to which bitmaps are
_CROWDED = 50.0  # tests per box with a grid or bitmaps from which a tree is faster


@dataclass(frozen=True, eq=False)
class Candidates(ReadOnlyArrays):
    """What the broad phase found."""

    pairs: IntArray
    """(p, 2) numbers of boxes that overlap or are within the margin: i < j in one set, or i of A and j of B. In
    ascending order; read-only."""
    method: str
    """"sweep", "bitmap", "grid" or "bvh": the way they were found."""
    tests: int
    """How many tests of two boxes, or of two nodes of a tree, it took."""


def candidate_pairs(
    low: ArrayLike,
    high: ArrayLike,
    other_low: ArrayLike | None = None,
    other_high: ArrayLike | None = None,
    *,
    margin: float = 0.0,
    method: Method = "auto",
    progress: Progress | None = None,
) -> Candidates:
    """Return which axis-aligned boxes overlap or come within a margin of each other; touching counts.

    Args:
        low, high: (n, dim) lowest and highest corners, dim 2 or 3, world frame; n may be 0.
        other_low, other_high: a second set: pairs are then of one box of the first and one of the second.
        margin: boxes at most this far apart along every axis count too; world units, >= 0.
        method: "sweep" (sort along an axis), "bitmap" (a bit for each box), "grid", "bvh" (a tree), or "auto": by how
            many boxes there are and how they crowd. All find the same pairs.
        progress: called with the share done, 0 to 1; False cancels.

    Exact: of the corners as they are given, in float64. Memory: some arrays as long as the boxes, and
    one and a half times what the pairs take. Raises ValueError, naming the argument, when one is not such an array, a
    box has a low corner above its high one, or the margin is negative; Cancelled when `progress` says so.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if (other_low is None) != (other_high is None):
        raise ValueError("other_low and other_high must be given both or neither")
    margin = min(as_length("margin", margin), 4.0 * LARGEST_COORDINATE)  # no boxes are further apart
    a = _boxes_of_corners("low", low, "high", high)
    b = None
    if other_low is not None and other_high is not None:
        b = _boxes_of_corners("other_low", other_low, "other_high", other_high)
        if b.dim != a.dim:
            raise ValueError(f"other_low has dimension {b.dim}, but low has {a.dim}")
    report_progress(progress, 0.0)
    found = PairList(a, b, margin)
    chosen = _find(method, a, b, margin, found, subrange(progress, 0.0, 1.0))
    pairs = found.pairs()
    report_progress(progress, 1.0)
    return Candidates(pairs, chosen, found.tests)


def overlapping_pairs(
    volumes: Volumes,
    other: Volumes | None = None,
    *,
    margin: float = 0.0,
    method: Method = "auto",
    progress: Progress | None = None,
) -> Candidates:
    """Return which bounding volumes overlap or come within a margin; of one batch, or of two of the same kind.

    Axis-aligned boxes (k-DOPs with 6 planes, 4 in the plane) go to `candidate_pairs`, with the method asked for. Other
    kinds get trees, and "auto" and "bvh" are the methods for them: see `tree_pairs` for the answer and the margin.

    Raises ValueError, naming the argument, when one is of another kind, dimension or number of planes, or the method is
    not for these volumes; Cancelled when `progress` says so.
    """
    for name, value in (("volumes", volumes), ("other", volumes if other is None else other)):
        if not isinstance(value, Volumes):
            raise ValueError(f"{name} must be bounding volumes, not {type(value).__name__}")
    if other is not None and not alike(volumes, other):
        raise ValueError("other must be of the same kind and dimension as volumes, with as many planes")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if isinstance(volumes, KDops) and volumes.k == 2 * volumes.dim:
        low, high = volumes.low.T, volumes.high.T
        if isinstance(other, KDops):
            return candidate_pairs(
                low, high, other.low.T, other.high.T, margin=margin, method=method, progress=progress
            )
        return candidate_pairs(low, high, margin=margin, method=method, progress=progress)
    if method not in ("auto", "bvh"):
        raise ValueError(f'method must be "auto" or "bvh" but for axis-aligned boxes, not {method!r}')
    as_length("margin", margin)
    a = build_bvh(volumes, progress=subrange(progress, 0.0, 0.2))
    b = None if other is None else build_bvh(other, progress=subrange(progress, 0.2, 0.4))
    found = tree_pairs(a, b, margin, subrange(progress, 0.4, 1.0))
    return Candidates(found.pairs, "bvh", found.tests)


def _boxes_of_corners(name: str, low: ArrayLike, name_high: str, high: ArrayLike) -> Boxes:
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


def _wider(boxes: Boxes, margin: float) -> Boxes:
    """Return boxes with their high corners moved by a margin: of two boxes it is enough to widen one side of each."""
    corners = boxes.corners.copy()
    corners[1] += margin
    return Boxes(corners)


def _find(
    method: Method, a: Boxes, b: Boxes | None, margin: float, found: PairList, progress: Progress | None
) -> Literal["sweep", "bitmap", "grid", "bvh"]:
    """Propose pairs by the method asked for, or by one that fits; return which it was."""
    count = a.count + (0 if b is None else b.count)
    if method == "auto" and count <= _FEW:
        method = "sweep"
    if a.count == 0 or (b is not None and b.count == 0):
        return "sweep" if method == "auto" else method
    widened = 0.0
    if margin > 0.0:
        widened = BROAD_MARGIN * EPS * (max(s.magnitude for s in (a, b) if s is not None) + margin)
        a = _wider(a, margin + widened)
        b = None if b is None else _wider(b, margin + widened)
    if method == "sweep":
        sweep(a, b, found, progress)
        return "sweep"
    most = _CROWDED if method == "auto" else inf
    several = method == "auto" and count <= _SEVERAL
    if (several or method == "bitmap") and bitmap(a, b, found, progress, most):
        return "bitmap"
    if (method == "auto" and not several or method == "grid") and grid(a, b, found, widened, progress, most):
        return "grid"
    found.clear()
    tree(a, b, found, widened, progress)
    return "bvh"
