# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear hierarchy: items sorted along a curve through space, and a complete binary tree over them.

Building it is one sort, and everything about the tree follows from the number of leaves. The curve is Hilbert's, which
never jumps: its trees need half the tests of those along Morton's, and to turn Morton codes into Hilbert's takes a
tenth of the build. Source: S3.3; C. Lauterbach et al., Fast BVH Construction on GPUs, 2009; C. Hamilton, Compact
Hilbert Indices, 2006.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from .bvh import Layout
from .polytope import FloatArray, IntArray, frozen

_Codes = NDArray[np.uint32]

_BITS = {2: 16, 3: 10}
"""Bits of each coordinate: together they fit 32, which are made and sorted in half the time of 64."""

_SPREAD = {
    2: ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)),
    3: ((16, 0xFF0000FF), (8, 0x0F00F00F), (4, 0xC30C30C3), (2, 0x49249249)),
}
"""Shifts, and the bits kept after each, that put one zero (in space two) between every two bits of a number."""

_DIGITS = {2: 4, 3: 2}
"""Bits of each coordinate that are turned at a time: what comes of each is looked up in a small table."""

_CROWD = 8
"""More points than this with one code are told apart by a finer one."""

_POINTS = 1 << 14
"""Points whose codes are made in one go: they fit the cache."""


def linear_layout(middles: FloatArray, leaf_size: int) -> Layout:
    """Return a complete tree over items with these middles (dim, n), `leaf_size` in each leaf but the last."""
    items = curve_order(middles)
    count = len(items)
    leaves = -(-count // leaf_size)
    nodes = 2 * leaves - 1
    # The children of node i are 2 i + 1 and 2 i + 2, as in a heap. The last level holds the first leaves along the
    # curve; the others are at the end of the level above.
    depth = nodes.bit_length()
    last = (1 << depth - 1) - 1
    # One block of memory: for large ones numpy asks the system for large pages, and that is a quarter of the time.
    left, first, counts, level = np.empty((4, nodes), dtype=np.intp)
    left[: leaves - 1] = np.arange(1, nodes, 2)
    left[leaves - 1 :] = -1
    for k in range(depth):
        level[(1 << k) - 1 : (1 << k + 1) - 1] = k
    lowest = nodes - last
    leaf_first = np.arange(0, count, leaf_size)
    leaf_count = np.minimum(leaf_first + leaf_size, count) - leaf_first
    for array, of_leaves in ((first, leaf_first), (counts, leaf_count)):
        array[last:], array[leaves - 1 : last] = of_leaves[:lowest], of_leaves[lowest:]
    for k in range(depth - 2, -1, -1):
        begin, end = (1 << k) - 1, min((1 << k + 1) - 1, leaves - 1)
        first[begin:end] = first[2 * begin + 1 : 2 * end + 1 : 2]
        np.add(counts[2 * begin + 1 : 2 * end + 1 : 2], counts[2 * begin + 2 : 2 * end + 2 : 2], out=counts[begin:end])
    return Layout(left, first, counts, items, level)


def curve_order(rows: FloatArray) -> IntArray:
    """Return the numbers of points (dim, n) in the order of Hilbert's curve through their bounding box.

    Where many are in one cell of the curve, they are ordered by a curve through their own box: a few far points do not
    throw the others together. Equal points keep their order.
    """
    # Code and number in one: equal codes fall alike on every machine, and values sort twice as fast as indices.
    keys = _codes(rows).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    order = keys.astype(np.uint32).astype(np.intp)
    keys >>= np.uint64(32)
    same = keys[_CROWD:] == keys[: len(keys) - _CROWD] if len(keys) > _CROWD else np.zeros(0, dtype=np.bool_)
    if not same.any():
        return order
    edges = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    while True:
        # Runs [begin, end) of the order that still have one code.
        begin, end = np.append(0, edges), np.append(edges, len(order))
        crowded = end - begin > _CROWD
        begin, size = begin[crowded], (end - begin)[crowded]
        if not len(begin):
            return order
        run = np.repeat(np.arange(len(begin)), size)
        starts = np.cumsum(size) - size
        place = np.arange(len(run)) + (begin - starts)[run]
        points = rows[:, order[place]]
        low, high = np.minimum.reduceat(points, starts, axis=1), np.maximum.reduceat(points, starts, axis=1)
        wide = (high - low).max(axis=0)
        finer = _codes(points, low[:, run], np.where(wide > 0.0, wide, 1.0)[run])
        within = np.lexsort((finer, run))
        order[place] = order[place[within]]
        finer = finer[within]
        new = np.flatnonzero((finer[1:] != finer[:-1]) & (run[1:] == run[:-1])) + 1
        if not len(new):
            return order
        # Only these runs can still be crowded: everything else counts as told apart.
        fresh = np.ones(len(order) + 1, dtype=np.bool_)
        fresh[place] = False
        fresh[begin], fresh[begin + size] = True, True
        fresh[place[new]] = True
        alike = wide == 0.0
        if alike.any():
            fresh[place[alike[run]]] = True
        edges = np.flatnonzero(fresh[1:-1]) + 1


def _codes(rows: FloatArray, low: FloatArray | None = None, size: FloatArray | float | None = None) -> _Codes:
    """Return the codes (n,) of points (dim, n) in a cube: by default the one at the lowest corner of all of them."""
    dim, count = rows.shape
    codes = np.zeros(count, dtype=np.uint32)
    if not count:
        return codes
    if low is None or size is None:
        low = rows.min(axis=1)[:, None]
        size = float((rows.max(axis=1) - low[:, 0]).max())
        if not size > 0.0:
            return codes
    cells = 2.0 ** _BITS[dim] * (1.0 - 2.0**-40)  # the far sides of the cube belong to the last cells
    spread = np.empty((2, min(count, _POINTS)), dtype=np.uint32)
    for begin in range(0, count, _POINTS):
        part = slice(begin, begin + _POINTS)
        here = codes[part]
        bits, shifted = spread[0, : len(here)], spread[1, : len(here)]
        for axis in range(dim):
            corner = low[axis, part] if low.shape[1] > 1 else low[axis]
            away = rows[axis, part] - corner
            away /= size[part] if isinstance(size, np.ndarray) else size
            away *= cells
            bits[:] = away  # whole numbers: what is behind the point is cut off
            for shift, mask in _SPREAD[dim]:
                np.left_shift(bits, np.uint32(shift), out=shifted)
                np.bitwise_or(bits, shifted, out=bits)
                np.bitwise_and(bits, np.uint32(mask), out=bits)
            np.left_shift(bits, np.uint32(axis), out=bits)
            np.bitwise_or(here, bits, out=here)
        here[:] = _hilbert(here, dim)
    return codes


def _hilbert(morton: _Codes, dim: int) -> IntArray:
    """Return the places on Hilbert's curve of cells with these Morton codes (n,)."""
    width = dim * _DIGITS[dim]
    mask = (1 << width) - 1
    table = _turns(dim)
    cells = morton.astype(np.intp)
    turned, state, index = np.zeros_like(cells), np.zeros_like(cells), np.empty_like(cells)
    for shift in range(dim * _BITS[dim] - width, -1, -width):
        np.right_shift(cells, shift, out=index)
        np.bitwise_and(index, mask, out=index)
        np.bitwise_or(index, state, out=index)
        table.take(index, out=state, mode="clip")
        np.left_shift(turned, width, out=turned)
        np.bitwise_and(state, mask, out=index)
        np.bitwise_or(turned, index, out=turned)
        np.bitwise_xor(state, index, out=state)
    return turned


@cache
def _turns(dim: int) -> IntArray:
    """Return what becomes of some digits of a Morton code: entry (state << width) + digits, of which the lowest `width`
    bits are the digits of Hilbert's code, and the others are the state for the digits that follow.

    A state is the corner at which the curve enters a cell and the axis along which it leaves it: Hamilton's e and d.
    """
    corners, digits = 1 << dim, _DIGITS[dim]

    def rotated(bits: int, by: int) -> int:
        by %= dim
        return (bits >> by | bits << dim - by) & corners - 1

    def gray(number: int) -> int:
        return number ^ number >> 1

    place = {gray(number): number for number in range(corners)}
    table = []
    for state in range(dim * corners):
        for code in range(1 << dim * digits):
            enter, axis = divmod(state, dim)
            turned = 0
            for digit in range(digits - 1, -1, -1):
                corner = code >> dim * digit & corners - 1
                number = place[rotated(corner ^ enter, axis + 1)]
                turned = turned << dim | number
                enter ^= rotated(gray((number - 1) // 2 * 2) if number else 0, -axis - 1)
                # How many ones end the number, or the one before if it is even.
                odd = number if number % 2 else max(number - 1, 0)
                axis = (axis + (odd ^ odd + 1).bit_length()) % dim
            table.append((enter * dim + axis) << dim * digits | turned)
    return frozen(np.array(table, dtype=np.intp))
