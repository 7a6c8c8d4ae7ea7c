# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase: of many axis-aligned boxes the pairs that may collide, without a look at all pairs.

Three ways, one answer. Boxes of about one size are sorted into the cells of a grid; of a few, or in a row, one axis is
swept; boxes of very different sizes are descended in a tree. Source: S3.2, S3.4; M. Mazhar et al., A scalable parallel
method for large collision detection problems, 2011.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from .arguments import checked_array, checked_length, checked_magnitude
from .bvh_build import build_bvh
from .bvh_pairs import tree_pairs
from .kdop import KDops, kdop_directions
from .polytope import FloatArray, IntArray
from .progress import Progress, tell
from .tolerance import GRID_MARGIN

Method = Literal["auto", "grid", "sweep", "bvh"]
METHODS = get_args(Method)

_BATCH = 1 << 16  # pairs tested in one go: what is made of them on the way fits the cache
_FEW = 400  # boxes up to which a sweep is as fast as anything
_UNEVEN = 6.0  # times the mean size: one box this large makes the cells of a grid too wide for the others
_CELLS = 4  # times the boxes: most cells of a grid


@dataclass(frozen=True, eq=False)
class Candidates:
    """What the broad phase found."""

    pairs: IntArray
    """(p, 2) numbers of boxes that overlap or are within the margin: i < j in one set, or i of A and j of B. In
    ascending order."""
    method: str
    """"grid", "sweep" or "bvh": what decided."""
    tests: int
    """How many pairs of boxes were tested."""


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
        method: "grid", "sweep" (sort along an axis), "bvh" (a tree), or "auto": by how many there are and how much
            their sizes differ.
        progress: called with the share done, 0 to 1; False cancels.

    Memory: a few arrays as long as the boxes, and the pairs found. Raises ValueError, naming the argument, when one is
    not such an array, a box has a low corner above its high one, or the margin is negative; Cancelled when `progress`
    says so.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if (other_low is None) != (other_high is None):
        raise ValueError("other_low and other_high must be given both or neither")
    distance = checked_length("margin", margin)
    lows, highs = _checked_boxes("low", low, "high", high)
    other = None
    if other_low is not None and other_high is not None:
        other = _checked_boxes("other_low", other_low, "other_high", other_high)
        if len(other[0]) != len(lows):
            raise ValueError(f"other_low has dimension {len(other[0])}, but low has {len(lows)}")
    tell(progress, 0.0)
    count, most = lows.shape[1], lows.shape[1] if other is None else other[0].shape[1]
    if min(count, most) == 0 or (other is None and count == 1):
        return Candidates(np.zeros((0, 2), dtype=np.intp), "sweep" if method == "auto" else method, 0)
    chosen = _fitting(lows, highs, other) if method == "auto" else method
    find = {"grid": _by_grid, "sweep": _by_sweep, "bvh": _by_tree}[chosen]
    pairs, tests = find(lows, highs, other, distance, progress)
    tell(progress, 1.0)
    return Candidates(_sorted(pairs, most), chosen, tests)


def _checked_boxes(name: str, low: ArrayLike, name_high: str, high: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both corners as rows of coordinates (dim, n)."""
    corners = []
    for word, value in ((name, low), (name_high, high)):
        array = checked_array(word, value, "an array (n, 2) or (n, 3)")
        if array.ndim != 2 or array.shape[1] not in (2, 3):
            raise ValueError(f"{word}: an array (n, 2) or (n, 3) expected, got the shape {array.shape}")
        checked_magnitude(word, array)
        corners.append(array)
    if corners[0].shape != corners[1].shape:
        raise ValueError(f"{name_high}: the shape of {name}, {corners[0].shape}, expected, got {corners[1].shape}")
    wrong = np.flatnonzero((corners[0] > corners[1]).any(axis=1))
    if len(wrong):
        raise ValueError(f"{name}: row {wrong[0]} is above that of {name_high}")
    return np.ascontiguousarray(corners[0].T), np.ascontiguousarray(corners[1].T)


_Boxes = tuple[FloatArray, FloatArray]
"""Lowest and highest coordinates, (dim, n) each."""


def _fitting(low: FloatArray, high: FloatArray, other: _Boxes | None) -> Method:
    """Return the method that is likely to be the fastest."""
    count = low.shape[1] + (0 if other is None else other[0].shape[1])
    if count <= _FEW:
        return "sweep"
    sides = (high - low).max(axis=0)
    if other is not None:
        sides = np.concatenate([sides, (other[1] - other[0]).max(axis=0)])
    return "bvh" if sides.max() > _UNEVEN * sides.mean() else "grid"


def _sorted(pairs: IntArray, most: int) -> IntArray:
    """Return pairs (p, 2) in ascending order; their second numbers are below `most`."""
    code = pairs[:, 0] * most + pairs[:, 1]
    code.sort()
    result = np.empty_like(pairs)
    np.floor_divide(code, most, out=result[:, 0])
    np.subtract(code, result[:, 0] * most, out=result[:, 1])
    return result


class _Tester:
    """Tests ranges of one sorted set of boxes against single boxes of another, a batch at a time."""

    def __init__(self, low: FloatArray, high: FloatArray, of: _Boxes, margin: float) -> None:
        # All of the margin on one side: a pair is within it then as when half were on each.
        self.low, self.high = _grown(low, high, margin)
        self.of = of
        self.found: list[tuple[IntArray, IntArray]] = []
        self.tests = 0

    def ranges(self, item: IntArray, begin: IntArray, end: IntArray) -> None:
        """Test box `item[i]` of the one set against boxes `begin[i]` up to `end[i]` of the other."""
        size = end - begin
        some = np.flatnonzero(size > 0)
        if len(some) == 0:
            return
        item, begin, size = item[some], begin[some], size[some]
        total = np.cumsum(size)
        for first, last in _batches(total):
            length = size[first:last]
            before = total[first:last] - length
            which = np.repeat(np.arange(first, last), length)
            j = np.arange(len(which)) + (begin[first:last] - before + before[0]).repeat(length)
            self._test(item.take(which), j)

    def _test(self, i: IntArray, j: IntArray) -> None:
        self.tests += len(i)
        low, high = self.of
        for axis in range(len(low)):
            near = self.low[axis].take(i) <= high[axis].take(j)
            near &= low[axis].take(j) <= self.high[axis].take(i)
            kept = near.nonzero()[0]
            if len(kept) < len(i):
                i, j = i.take(kept), j.take(kept)
        if len(i):
            self.found.append((i, j))


def _grown(low: FloatArray, high: FloatArray, margin: float) -> _Boxes:
    """Return boxes wider by a margin on all sides."""
    if margin == 0.0:
        return low, high
    return np.nextafter(low - margin, -np.inf), np.nextafter(high + margin, np.inf)


def _batches(total: IntArray) -> Iterator[tuple[int, int]]:
    """Cut ranges with these cumulated lengths into runs of about _BATCH tests, at least one range each."""
    first = 0
    while first < len(total):
        done = int(total[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + _BATCH, side="right")))
        yield first, last
        first = last


def _paired(found: list[tuple[IntArray, IntArray]], one: IntArray, other: IntArray | None) -> IntArray:
    """Return pairs (p, 2) of the boxes' own numbers; within one set the smaller first."""
    none = np.zeros(0, dtype=np.intp)
    i = one.take(np.concatenate([none, *(pair[0] for pair in found)]))
    j = (one if other is None else other).take(np.concatenate([none, *(pair[1] for pair in found)]))
    if other is None:
        return np.stack([np.minimum(i, j), np.maximum(i, j)], axis=1)
    return np.stack([i, j], axis=1)


# ---------------------------------------------------------------------------------------------------------------------
# Sort and sweep


def _by_sweep(
    low: FloatArray, high: FloatArray, other: _Boxes | None, margin: float, progress: Progress | None
) -> tuple[IntArray, int]:
    """Sort along the axis on which the boxes overlap least; each is tested with those that begin before it ends."""
    spread = np.ptp(low, axis=1) / np.maximum((high - low).mean(axis=1), 1e-300)
    axis = int(spread.argmax())
    order = np.argsort(low[axis], kind="stable")
    low, high = low[:, order], high[:, order]
    if other is None:
        tester = _Tester(low, high, (low, high), margin)
        number = np.arange(low.shape[1])
        tester.ranges(number, number + 1, np.searchsorted(low[axis], tester.high[axis], side="right"))
        return _paired(tester.found, order, None), tester.tests
    order_b = np.argsort(other[0][axis], kind="stable")
    low_b, high_b = other[0][:, order_b], other[1][:, order_b]
    # Those of B that begin within a box of A, then those of A that begin within one of B, but not where it begins.
    low, high = _grown(low, high, margin)
    tester = _Tester(low, high, (low_b, high_b), 0.0)
    begin = np.searchsorted(low_b[axis], low[axis], side="left")
    tester.ranges(np.arange(low.shape[1]), begin, np.searchsorted(low_b[axis], high[axis], side="right"))
    tell(progress, 0.5)
    swapped = _Tester(low_b, high_b, (low, high), 0.0)
    begin = np.searchsorted(low[axis], low_b[axis], side="right")
    swapped.ranges(np.arange(low_b.shape[1]), begin, np.searchsorted(low[axis], high_b[axis], side="right"))
    found = tester.found + [(i, j) for j, i in swapped.found]
    return _paired(found, order, order_b), tester.tests + swapped.tests


# ---------------------------------------------------------------------------------------------------------------------
# Grid


def _by_grid(
    low: FloatArray, high: FloatArray, other: _Boxes | None, margin: float, progress: Progress | None
) -> tuple[IntArray, int]:
    """Sort the boxes' middles into cells as wide as the largest box: partners are in neighbouring cells.

    The cells of a row follow each other, so three of them are one range of the sorted boxes.
    """
    sets = [(low, high)] if other is None else [(low, high), other]
    middles = [0.5 * first + 0.5 * second for first, second in sets]
    least = np.min([middle.min(axis=1) for middle in middles], axis=0)
    size = np.max([middle.max(axis=1) for middle in middles], axis=0) - least
    widest = np.max([(second - first).max(axis=1) for first, second in sets], axis=0)
    boxes = sum(middle.shape[1] for middle in middles)
    width = np.maximum((widest + margin) * (1.0 + GRID_MARGIN), size * GRID_MARGIN)
    # No more cells than a few for each box: wider ones are right as well.
    while True:
        width = np.where(width > 0.0, width, 1.0)
        shape = np.floor(size / width) + 1.0
        if shape.prod() <= _CELLS * boxes + 64:
            break
        width = np.where(shape > 1.0, width * 1.3, width)
    shape = shape.astype(np.intp) + 2  # an empty cell on each side
    strides = np.cumprod(np.append(1, shape[:-1]))
    keys = [(((middle - least[:, None]) / width[:, None]).astype(np.intp) + 1).T @ strides for middle in middles]
    order = [np.argsort(key, kind="stable") for key in keys]
    target = order[-1]
    table = np.zeros(int(shape.prod()) + 1, dtype=np.intp)
    np.cumsum(np.bincount(keys[-1], minlength=int(shape.prod())), out=table[1:])
    low, high = low[:, order[0]], high[:, order[0]]
    of = (low, high) if other is None else (other[0][:, target], other[1][:, target])
    tester = _Tester(low, high, of, margin)
    key = keys[0].take(order[0])
    number = np.arange(len(key))
    rows = _rows(strides, other is None)
    for done, row in enumerate(rows):
        if other is None and row == 0:
            tester.ranges(number, number + 1, table.take(key + 2))  # what follows in this cell, and the next cell
        else:
            tester.ranges(number, table.take(key + row - 1), table.take(key + row + 2))
        tell(progress, (done + 1) / len(rows))
    return _paired(tester.found, order[0], None if other is None else target), tester.tests


def _rows(strides: IntArray, itself: bool) -> list[int]:
    """Return by how much the keys of the neighbouring rows of cells differ; of a set with itself only those after."""
    steps = [0]
    for stride in strides[1:].tolist():
        steps = [step + sign * stride for step in steps for sign in (-1, 0, 1)]
    return [step for step in steps if step >= 0 or not itself]


# ---------------------------------------------------------------------------------------------------------------------
# Tree


def _by_tree(
    low: FloatArray, high: FloatArray, other: _Boxes | None, margin: float, progress: Progress | None
) -> tuple[IntArray, int]:
    """Descend a linear hierarchy of the boxes."""
    directions = kdop_directions(2 * len(low), len(low))

    def part(begin: float, end: float) -> Progress | None:
        return None if progress is None else lambda share: progress(begin + share * (end - begin))

    tree = build_bvh(KDops(directions, low, high), progress=part(0.0, 0.2))
    second = None if other is None else build_bvh(KDops(directions, *other), progress=part(0.2, 0.4))
    found = tree_pairs(tree, second, margin, progress=part(0.4, 1.0))
    return found.pairs, found.tests
