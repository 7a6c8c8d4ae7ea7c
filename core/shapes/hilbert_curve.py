# SPDX-License-Identifier: GPL-3.0-or-later
"""Points sorted along Hilbert's curve through space: neighbours in the order are near in space.

The curve never jumps: trees along it need half the tests of those along Morton's curve, and converting Morton codes to
Hilbert codes takes a tenth of a build. Source: C. Hamilton, Compact Hilbert Indices, 2006.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..runs import chunks, ranges
from ..types import FloatArray, IntArray, read_only

_BITS = {2: 16, 3: 12}
"""Bits of each coordinate."""

DIGITS = {2: 4, 3: 3}
"""Bits of each coordinate that are converted at a time, by a small table."""

_NUMBER_BITS = 27
"""Bits for the index of an item after its code, so that both are sorted as one: the code has up to 36, the sign 1."""

_CROWD = 8
"""More points than this with one code are ordered by a finer one."""

_POINTS = 1 << 14
"""Points whose codes are computed at a time: they fit the cache."""


def curve_order(rows: FloatArray) -> IntArray:
    """Return the indices (n,) of points (dim, n) in the order of Hilbert's curve through their bounding box.

    Where many are in one cell of the curve, they are ordered by a curve through their own box, so that a few distant
    points do not merge all others into one cell. Equal points keep their order.
    """
    # Code and index in one: equal codes are ordered alike on every machine, and values sort twice as fast as indices.
    keys = curve_codes(rows)
    count = len(keys)
    if count >> _NUMBER_BITS:
        order: IntArray = np.argsort(keys, kind="stable")
        keys = keys[order]
    else:
        keys <<= _NUMBER_BITS
        keys |= np.arange(count)
        keys.sort()
        order = keys & ((1 << _NUMBER_BITS) - 1)
        keys >>= _NUMBER_BITS
    if count <= _CROWD or not (keys[_CROWD:] == keys[:-_CROWD]).any():
        return order
    edges = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    while True:
        # Runs [begin, end) of the order that still have equal codes.
        begin, end = np.append(0, edges), np.append(edges, len(order))
        crowded = end - begin > _CROWD
        begin, size = begin[crowded], (end - begin)[crowded]
        if not len(begin):
            return order
        run = np.repeat(np.arange(len(begin)), size)
        starts = np.cumsum(size) - size
        place = ranges(begin, size)
        points = rows[:, order[place]]
        low, high = np.minimum.reduceat(points, starts, axis=1), np.maximum.reduceat(points, starts, axis=1)
        wide = (high - low).max(axis=0)
        finer = curve_codes(points, low[:, run], np.where(wide > 0.0, wide, 1.0)[run])
        within = np.lexsort((finer, run))
        order[place] = order[place[within]]
        finer = finer[within]
        new = np.flatnonzero((finer[1:] != finer[:-1]) & (run[1:] == run[:-1])) + 1
        if not len(new):
            return order
        # Only these runs can still be crowded: everything else counts as ordered.
        fresh = np.ones(len(order) + 1, dtype=np.bool_)
        fresh[place] = False
        fresh[begin], fresh[begin + size] = True, True
        fresh[place[new]] = True
        alike = wide == 0.0
        if alike.any():
            fresh[place[alike[run]]] = True
        edges = np.flatnonzero(fresh[1:-1]) + 1


def curve_codes(rows: FloatArray, low: FloatArray | None = None, size: FloatArray | float | None = None) -> IntArray:
    """Return the codes (n,) of points (dim, n) in a cube: by default the one at the lowest corner of all of them."""
    dim, count = rows.shape
    codes = np.zeros(count, dtype=np.intp)
    if not count:
        return codes
    if low is None or size is None:
        low = rows.min(axis=1)[:, None]
        size = float((rows.max(axis=1) - low[:, 0]).max())
        if not size > 0.0:
            return codes
    cells = 2.0 ** _BITS[dim] * (1.0 - 2.0**-40)  # the far sides of the cube belong to the last cells
    spread = _spread(dim)
    memory = np.empty((3, min(count, _POINTS)), dtype=np.intp)
    room = np.empty(min(count, _POINTS))
    for part in chunks(count, _POINTS):
        code = codes[part]
        morton, state, index = memory[:, : len(code)]
        away = room[: len(code)]
        morton.fill(0)
        for axis in range(dim):
            np.subtract(rows[axis, part], low[axis, part] if low.shape[1] > 1 else low[axis], out=away)
            away /= size[part] if isinstance(size, np.ndarray) else size
            away *= cells
            index[:] = away  # truncated to integers
            morton |= spread[axis].take(index, out=state, mode="clip")
        _turn(morton, dim, _BITS[dim], code, state, index)
    return codes


def turn(codes: IntArray, dim: int, bits: int) -> None:
    """Convert Morton codes (n,) of `bits` bits of each of 2 or 3 coordinates to Hilbert codes, in place.

    Only whole digits are converted: `bits` must be a multiple of DIGITS[dim].
    """
    memory = np.empty((3, min(len(codes), _POINTS)), dtype=np.intp)
    for part in chunks(len(codes), _POINTS):
        code = codes[part]
        morton, state, index = memory[:, : len(code)]
        morton[:] = code
        _turn(morton, dim, bits, code, state, index)


def _turn(morton: IntArray, dim: int, bits: int, code: IntArray, state: IntArray, index: IntArray) -> None:
    """Write the Hilbert codes of Morton codes to `code`; `state` and `index` are work space."""
    table, width = _turns(dim), dim * DIGITS[dim]
    mask = (1 << width) - 1
    code.fill(0)
    state.fill(0)
    for shift in range(dim * bits - width, -1, -width):
        np.right_shift(morton, shift, out=index)
        index &= mask
        index |= state
        table.take(index, out=state, mode="clip")
        code <<= width
        np.bitwise_and(state, mask, out=index)
        code |= index
        state ^= index


@cache
def _spread(dim: int) -> IntArray:
    """Return (dim, 2**bits), for each number its bits `dim` places apart, shifted for each axis."""
    numbers = np.arange(1 << _BITS[dim], dtype=np.intp)  # numpy 1 has 32 bits on Windows
    result = np.zeros((dim, len(numbers)), dtype=np.intp)
    for axis in range(dim):
        for bit in range(_BITS[dim]):
            result[axis] |= ((numbers >> bit) & 1) << (dim * bit + axis)
    return read_only(result)


@cache
def _turns(dim: int) -> IntArray:
    """Return the conversion table: entry (state << width) + digits of a Morton code, whose lowest `width` bits are the
    digits of the Hilbert code, and whose other bits are the state for the next digits.

    A state is the corner at which the curve enters a cell and the axis along which it leaves it: Hamilton's e and d.
    """
    corners, digits = 1 << dim, DIGITS[dim]

    def rotate(bits: int, by: int) -> int:
        by %= dim
        return (bits >> by | bits << dim - by) & corners - 1

    def gray(number: int) -> int:
        return number ^ number >> 1

    place = {gray(number): number for number in range(corners)}
    numbers, following = np.empty((2, dim * corners, corners), dtype=np.intp)
    for state in range(dim * corners):
        for corner in range(corners):
            enter, axis = divmod(state, dim)
            number = place[rotate(corner ^ enter, axis + 1)]
            enter ^= rotate(gray((number - 1) // 2 * 2) if number else 0, -axis - 1)
            # Trailing ones of the number, or of its predecessor if it is even.
            odd = number if number % 2 else max(number - 1, 0)
            axis = (axis + (odd ^ odd + 1).bit_length()) % dim
            numbers[state, corner], following[state, corner] = number, enter * dim + axis
    codes = np.arange(1 << dim * digits, dtype=np.intp)
    states = np.repeat(np.arange(dim * corners, dtype=np.intp)[:, None], len(codes), axis=1)
    turned = np.zeros_like(states)
    for digit in range(digits - 1, -1, -1):
        corner_of = codes >> dim * digit & corners - 1
        turned = turned << dim | numbers[states, corner_of]
        states = following[states, corner_of]
    return read_only((states << dim * digits | turned).ravel())
