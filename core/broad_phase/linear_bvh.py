# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of boxes of any sizes, from a linear hierarchy of axis-aligned boxes.

The boxes are sorted along Morton's curve, many along Hilbert's, and paired level by level, so that the tree needs no
pointers: node a has the children 2a and 2a + 1 one level below. Pairs of nodes are descended many at a time, their four
pairs of children tested together. All comparisons of two nodes take two subtractions: corners are rounded outward to
whole numbers, packed into one integer with a spare bit per axis, which a borrow clears. Source: S3.4; C. Lauterbach et
al., Fast BVH construction on GPUs, 2009; L. Lamport, Multiple byte processing with full-word instructions, 1975.

`core/hierarchy/bvh.py` has the trees for every kind of volume; this one lives as long as the call.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..bounding.uninformative_axes import SAMPLE, sample, uninformative_axes
from ..progress import Progress, report_progress
from ..runs import chunks
from ..shapes.hilbert_curve import DIGITS, turn
from ..types import IntArray
from .box_pairs import CHUNK, Boxes, Buffers, PairList

StepArray = NDArray[np.int32]

_OPENED = 10_000  # pairs of nodes opened at once, to four times as many
_ALIKE = 16  # one in so many boxes may share its place on the curve with another; else space is stretched
_MANY = 2000  # boxes from which Hilbert's curve saves more tests than it costs
_RUNAWAY = 100  # tests per box, and per pair found, from which on space is stretched and the search is repeated

_SPREAD_BITS = 10


def _spread(dim: int) -> IntArray:
    """Return a table of numbers with their bits moved `dim` places apart."""
    numbers = np.arange(1 << _SPREAD_BITS)
    result = np.zeros_like(numbers)
    for bit in range(_SPREAD_BITS):
        result |= ((numbers >> bit) & 1) << (dim * bit)
    return result


_SPREADS = {1: _spread(1), 2: _spread(2), 3: _spread(3)}


def find_tree_pairs(
    boxes: Boxes, other: Boxes | None, found: PairList, widened: float = 0.0, progress: Progress | None = None
) -> None:
    """Add the pairs of boxes that overlap to `found`; without a second set, pairs of the first.

    `widened`: most by which boxes that were extended may overlap without being within the margin. `progress` is called
    with the fraction done; raises Cancelled when it says so.
    """
    sets = [boxes] if other is None else [boxes, other]
    count = sum(s.count for s in sets)
    # The curve leaves out axes along which nearly all boxes overlap.
    ignored = uninformative_axes(
        *np.concatenate([s.corners.take(sample(s.count, SAMPLE), axis=2) for s in sets], axis=2)
    )
    axes = np.flatnonzero(~ignored)
    if not ignored.any():
        trees = [_Tree.build(rounded, axes) for rounded in _rounded(sets)]
        alike = sum(made.alike for made in trees) * _ALIKE > count + 8 * _ALIKE
        if not alike and _descended(trees, other is None, found, widened, _RUNAWAY * (count + CHUNK), progress):
            return
        found.clear()
    trees = [_Tree.build(ranked, axes) for ranked in _ranked(sets)]
    _descended(trees, other is None, found, widened, None, progress)


def _descended(
    trees: list[_Tree], itself: bool, found: PairList, widened: float, most: int | None, progress: Progress | None
) -> bool:
    """Add the pairs of one tree, or of two; return whether it took at most `most` tests and _RUNAWAY per pair."""
    descent = _TreeDescent(trees[0], trees[-1], found, widened == 0.0, most)
    if itself:
        descent.start_with_itself()
    else:
        descent.start_with_other()
    return descent.run(progress)


def _fields(dim: int) -> tuple[int, int]:
    """Return the width of a packed number's fields, and the largest number in one: a bit is spare."""
    width = 63 // dim
    return width, (1 << (width - 1)) - 1


def _rounded(sets: list[Boxes]) -> list[StepArray]:
    """Return the corners (2, dim, n) of each set as whole numbers: steps along a cube around all of them.

    Both are rounded down: what touches still does.
    """
    dim = sets[0].dim
    origin = np.min([s.low.min(axis=1) for s in sets], axis=0)
    extent = float((np.max([s.high.max(axis=1) for s in sets], axis=0) - origin).max())
    scale = (_fields(dim)[1] - 2) / max(extent, 1e-290)
    result = []
    for s in sets:
        steps = np.empty(s.corners.shape, dtype=np.int32)
        for part in chunks(s.count, CHUNK):
            rough = s.corners[:, :, part] - origin[:, None]
            rough *= scale
            steps[:, :, part] = rough
        result.append(steps)
    return result


def _ranked(sets: list[Boxes]) -> list[StepArray]:
    """Return the corners as `_rounded` does, but as ranks: space is stretched where the boxes crowd."""
    dim = sets[0].dim
    largest = _fields(dim)[1] - 1
    result = [np.empty((2, dim, s.count), dtype=np.int32) for s in sets]
    for axis in range(dim):
        corners = [s.corners[:, axis].ravel() for s in sets]
        distinct = np.sort(np.concatenate(corners))
        shift = len(distinct).bit_length() - largest.bit_length()
        for steps, s in zip(result, sets, strict=True):
            ranks = distinct.searchsorted(s.corners[:, axis])
            # Few numbers are spread over the whole range: the curve looks at the upper bits.
            steps[:, axis] = ranks >> shift if shift > 0 else ranks << -shift
    return result


@dataclass(frozen=True, eq=False)
class _Tree:
    """All levels one after the other, leaves first; each is padded to an even number of nodes."""

    order: IntArray
    """(n,) the box in each leaf."""
    bases: list[int]
    """Of each level, leaves first: its first place in `twins`."""
    sizes: list[int]
    """Of each level, leaves first: how many nodes it has."""
    twins: IntArray
    """(4, m) two nodes with one parent: their packed high corners with all spare bits set, and their low corners."""
    spare: int
    """All spare bits."""
    one: int
    """A packed number with 1 in all fields."""
    alike: int
    """Number of boxes at the same place on the curve as another."""

    @property
    def ends(self) -> list[int]:
        """Of each level, leaves first: the first place in `twins` after it."""
        return [*self.bases[1:], self.twins.shape[1]]

    def nodes(self, level: int) -> tuple[IntArray, IntArray]:
        """Return the packed high and low corners of the nodes of a level."""
        twins = self.twins[:, self.bases[level] : self.ends[level]]
        return twins[:2].T.ravel()[: self.sizes[level]], twins[2:].T.ravel()[: self.sizes[level]]

    @classmethod
    def build(cls, steps: StepArray, axes: IntArray) -> _Tree:
        """Build the tree of boxes with integer corners (2, dim, n), sorted along a curve through these axes."""
        _, dim, n = steps.shape
        order, alike = _along_curve(steps, axes)
        sizes = [n]
        while sizes[-1] > 1:
            sizes.append((sizes[-1] + 1) // 2)
        bases = list(accumulate(((size + 1) // 2 for size in sizes), initial=0))
        width, largest = _fields(dim)
        one = sum(1 << (width * axis) for axis in range(dim))
        spare = (largest + 1) * one
        nodes = np.empty((2, dim, 2 * bases[-1]), dtype=np.int32)
        steps.take(order, axis=2, out=nodes[:, :, :n], mode="clip")
        for base, above, size in zip(bases, bases[1:], sizes, strict=False):
            begin, end = 2 * base, 2 * above
            if size % 2:  # a node that overlaps none
                nodes[0, :, end - 1], nodes[1, :, end - 1] = largest, 0
            if size > 1:
                half = slice(end, end + above - base)
                np.minimum(nodes[0, :, begin:end:2], nodes[0, :, begin + 1 : end : 2], out=nodes[0, :, half])
                np.maximum(nodes[1, :, begin:end:2], nodes[1, :, begin + 1 : end : 2], out=nodes[1, :, half])
        packed = nodes[:, dim - 1].astype(np.intp)
        for axis in range(dim - 2, -1, -1):
            packed <<= width
            packed += nodes[:, axis]
        twins = np.empty((4, bases[-1]), dtype=np.intp)
        np.add(packed[1].reshape(-1, 2).T, spare, out=twins[:2])
        twins[2:] = packed[0].reshape(-1, 2).T
        return cls(order, bases[:-1], sizes, twins, spare, one, alike)


def _along_curve(steps: StepArray, axes: IntArray) -> tuple[IntArray, int]:
    """Return the order of boxes along a curve through their centres, and how many share a place."""
    _, dim, n = steps.shape
    shift = n.bit_length()
    width = _fields(dim)[0]
    middle = steps[0] + steps[1]
    if len(axes) < dim:
        middle, dim = middle.take(axes, axis=0), len(axes)
    bits = min((62 - shift) // dim, 2 * _SPREAD_BITS)
    if dim > 1:
        bits -= bits % DIGITS[dim]
    middle >>= width - bits
    spread = _SPREADS[dim]
    parts = spread.take(middle >> _SPREAD_BITS)
    parts <<= dim * _SPREAD_BITS
    middle &= (1 << _SPREAD_BITS) - 1
    parts |= spread.take(middle)
    code = parts[0]
    for axis in range(1, dim):
        parts[axis] <<= axis
        code |= parts[axis]
    if dim > 1 and n > _MANY:
        turn(code, dim, bits)
    code <<= shift
    code |= np.arange(n)
    code.sort()
    order = code & ((1 << shift) - 1)
    code >>= shift
    return order, int((code[1:] == code[:-1]).sum())


class _TreeDescent:
    """A descent of two trees: pairs of overlapping nodes are opened down to pairs of leaves."""

    def __init__(self, a: _Tree, b: _Tree, found: PairList, sure: bool, most: int | None) -> None:
        self._a, self._b, self._found, self._most = a, b, found, most
        self._sure = sure  # leaves that overlap by a step need no exact test
        self._before = found.tests
        self._buffers = Buffers(4 * _OPENED)
        # Per level: pairs of overlapping nodes to be opened, and their number.
        levels = max(len(a.sizes), len(b.sizes))
        self._queue: list[list[tuple[IntArray, IntArray]]] = [[] for _ in range(levels)]
        self._counts = [0] * levels

    def start_with_itself(self) -> None:
        """Queue all pairs of two nodes with one parent: every pair of boxes separates below one of them."""
        high, high_second, low, low_second = self._a.twins
        overlapping = self._overlapping(high, low, high_second, low_second)
        begin = 0
        for level, (base, end) in enumerate(zip(self._a.bases, overlapping.searchsorted(self._a.ends), strict=True)):
            first = 2 * (overlapping[begin:end] - base)
            self._put(level, first, first + 1)
            begin = end

    def start_with_other(self) -> None:
        """Queue the root of the lower tree with the nodes of the other on that level that it overlaps."""
        level = min(len(self._a.sizes), len(self._b.sizes)) - 1
        overlapping = self._overlapping(*self._a.nodes(level), *self._b.nodes(level))
        root = np.zeros_like(overlapping)
        self._put(level, *((overlapping, root) if self._b.sizes[level] == 1 else (root, overlapping)))

    def _overlapping(self, high_a: IntArray, low_a: IntArray, high_b: IntArray, low_b: IntArray) -> IntArray:
        """Return the indices of pairs of packed nodes that overlap."""
        met = high_a - low_b
        met &= high_b - low_a
        met &= self._a.spare
        self._found.tests += len(met)
        return (met == self._a.spare).nonzero()[0]

    def run(self, progress: Progress | None) -> bool:
        """Open queued pairs until there are none; return False after too many tests."""
        before, done = self._remaining(), 0.0
        while any(self._counts):
            if progress is not None:
                done = max(done, 1.0 - self._remaining() / before)
                report_progress(progress, done)
            # The highest level first, unless more pairs of a lower one are queued than fit the cache.
            level = next(
                (low for low, count in enumerate(self._counts) if count >= _OPENED),
                max(high for high, count in enumerate(self._counts) if count),
            )
            self._open(level, *self._take(level))
            tests = self._found.tests - self._before
            if self._most is not None and tests > self._most and tests > self._most + _RUNAWAY * self._found.kept:
                return False
        return True

    def _put(self, level: int, i: IntArray, j: IntArray) -> None:
        """Queue pairs of overlapping nodes, or propose them when they are leaves."""
        if level == 0:
            self._found.propose(self._a.order.take(i), self._b.order.take(j))
        elif len(i):
            self._queue[level].append((i, j))
            self._counts[level] += len(i)

    def _take(self, level: int) -> tuple[IntArray, IntArray]:
        """Return up to _OPENED queued pairs of a level."""
        queued = self._queue[level]
        chosen: list[tuple[IntArray, IntArray]] = []
        left = _OPENED
        while queued and left:
            i, j = queued.pop()
            if len(i) > left:
                queued.append((i[left:], j[left:]))
                i, j = i[:left], j[:left]
            chosen.append((i, j))
            left -= len(i)
        self._counts[level] -= _OPENED - left
        if len(chosen) == 1:
            return chosen[0]
        return np.concatenate([i for i, _ in chosen]), np.concatenate([j for _, j in chosen])

    def _open(self, level: int, i: IntArray, j: IntArray) -> None:
        """Test the four pairs of children of each pair of nodes."""
        a, b = self._buffers.row(0, 4 * len(i)).reshape(4, -1), self._buffers.row(1, 4 * len(i)).reshape(4, -1)
        self._a.twins.take(i + self._a.bases[level - 1], axis=1, out=a, mode="clip")
        self._b.twins.take(j + self._b.bases[level - 1], axis=1, out=b, mode="clip")
        shape = (2, 2, len(i))
        ends = np.subtract(a[:2, None], b[None, 2:], out=self._buffers.row(2, 4 * len(i)).reshape(shape))
        other_ends = np.subtract(b[None, :2], a[2:, None], out=self._buffers.row(3, 4 * len(i)).reshape(shape))
        met = np.bitwise_and(ends, other_ends, out=a.reshape(shape))
        met &= self._a.spare
        children = (met == self._a.spare).ravel().nonzero()[0]
        self._found.tests += 4 * len(i)
        leaves = level == 1 and self._sure
        certain = self._overlap(ends.ravel(), other_ends.ravel(), children) if leaves else None
        # They come in four runs: both first children, first and second, second and first, both second.
        count = len(i)
        one_two, two_one, both_two = children.searchsorted([count, 2 * count, 3 * count]).tolist()
        children[one_two:two_one] -= count
        children[two_one:both_two] -= 2 * count
        children[both_two:] -= 3 * count
        i, j = i.take(children), j.take(children)
        i *= 2
        j *= 2
        i[two_one:] += 1
        j[one_two:two_one] += 1
        j[both_two:] += 1
        if certain is None:
            self._put(level - 1, i, j)
            return
        i, j = self._a.order.take(i), self._b.order.take(j)
        if not certain.all():
            unsure, sure = (~certain).nonzero()[0], certain.nonzero()[0]
            self._found.propose(i.take(unsure), j.take(unsure))
            i, j = i.take(sure), j.take(sure)
        self._found.keep(i, j)

    def _overlap(self, ends: IntArray, other_ends: IntArray, indices: IntArray) -> NDArray[np.bool_]:
        """Return the mask of differences of high and low corners that are at least one step in all fields.

        Rounding keeps the order, so such corners differ the same way before it.
        """
        met = ends.take(indices)
        met -= self._a.one
        other = other_ends.take(indices)
        other -= self._a.one
        met &= other
        met &= self._a.spare
        result: NDArray[np.bool_] = met == self._a.spare
        return result

    def _remaining(self) -> float:
        """Return the work left, roughly: a pair has about twice as many pairs below it as one a level lower."""
        return sum(count * 2.0**level for level, count in enumerate(self._counts))
