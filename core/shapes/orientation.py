# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact signs of volumes and areas, vectorized: on which side of a plane or a line a point lies.

Floats decide the signs that rounding cannot change. The others are computed with twice the digits, from exact
differences of coordinates, and those still undecided with integers. Source: J. R. Shewchuk, Adaptive precision
floating-point arithmetic and fast robust geometric predicates, 1997; T. J. Dekker, 1971.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runs import chunks
from ..tolerance import EPS, ORIENTATION_FILTER, ORIENTATION_LEAST
from ..types import BoolArray, FloatArray, IntArray

_ORIENTATION_DOUBLED = 256.0
"""Times EPS**2 and the sum of the absolute values of its products: the error of a determinant with twice the digits.
Each of a dozen steps has an error of a few EPS**2."""

SignArray = NDArray[np.int8]

_SPLIT = 2.0**27 + 1.0
_WHOLE_BITS = 30
"""Integers of this many bits: their determinant is below 2**96, computed to a fraction in twice 53 bits."""
_BATCH = 4096
_CORNER_PAIRS = np.tril_indices(4, -1)
"""Two corners each; the first three pairs are those of three corners."""
_FACTORS = {
    2: (np.array([0, 1]), np.array([1, 0])),
    3: (np.array([1, 2, 0, 2, 0, 1]), np.array([2, 0, 1, 1, 2, 0])),
}
"""By dimension, the components of two rows whose products are the terms of minors, then those subtracted from them."""


class Signs(NamedTuple):
    """Exact signs of determinants, and their values."""

    signs: SignArray
    """(k,) -1, 0 or 1."""
    values: FloatArray
    """(k,) six times the volume, or twice the area; 0.0 exactly where the sign is 0. Where floats did not decide, it is
    accurate to almost all digits; elsewhere to the rounding error of the products it is the sum of."""


class _Doubled(NamedTuple):
    """Numbers with twice the digits: the sum of both parts."""

    high: FloatArray
    low: FloatArray

    def part(self, rows: int | slice | IntArray) -> _Doubled:
        """Return some rows of the numbers."""
        return _Doubled(self.high[rows], self.low[rows])


def signs_of_volumes(p: FloatArray, q: FloatArray, r: FloatArray, s: FloatArray) -> Signs:
    """Return the signs of det(q - p, r - p, s - p): on which side of the triangles p q r the points s lie.

    Each is (3, k), one column a point. Positive on the side from which p, q, r are counter-clockwise.
    """
    u, v, w = q - p, r - p, s - p
    values, weight = determinants(u, v, w)
    return decide_signs(values, ORIENTATION_FILTER * EPS * weight + ORIENTATION_LEAST, p, q, r, s)


def signs_of_areas(p: FloatArray, q: FloatArray, r: FloatArray) -> Signs:
    """Return the signs of det(q - p, r - p) in the plane: positive where p, q, r are counter-clockwise.

    Each is (2, k), one column a point.
    """
    u, v = q - p, r - p
    product, subtrahend = u[0] * v[1], u[1] * v[0]
    values = product - subtrahend
    weight = np.abs(product) + np.abs(subtrahend)
    return decide_signs(values, ORIENTATION_FILTER * EPS * weight + ORIENTATION_LEAST, p, q, r)


def signs_of_turns(p: FloatArray, q: FloatArray, r: FloatArray, s: FloatArray) -> SignArray:
    """Return the signs (k,) of det(q - p, s - r) in the plane: positive where the second vector is turned to the left.

    Each is (2, k), one column a pair of vectors.
    """
    u, v = q - p, s - r
    product, subtrahend = u[0] * v[1], u[1] * v[0]
    values = product - subtrahend
    errors = ORIENTATION_FILTER * EPS * (np.abs(product) + np.abs(subtrahend)) + ORIENTATION_LEAST
    signs = (values > errors).astype(np.int8)
    signs -= values < -errors
    unclear = np.flatnonzero(signs == 0)
    if len(unclear):
        p, q, r, s = (corner.take(unclear, axis=1) for corner in (p, q, r, s))
        signs[unclear] = _signs_of_rows(_difference(np.array([q, s]), np.array([p, r])))[0]
    return signs


def determinants(u: FloatArray, v: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return det(u, v, w) of columns (3, k), rounded, and the sum of the absolute values of its products."""
    values, weight = np.zeros(u.shape[1]), np.zeros(u.shape[1])
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        product, subtrahend = u[y] * v[z], u[z] * v[y]
        values += (product - subtrahend) * w[x]
        np.abs(product, out=product)
        np.abs(subtrahend, out=subtrahend)
        product += subtrahend
        product *= np.abs(w[x])
        weight += product
    return values, weight


def precise_volumes(p: FloatArray, q: FloatArray, r: FloatArray, s: FloatArray) -> FloatArray:
    """Return det(q - p, r - p, s - p), accurate to almost all digits unless it is zero or nearly so."""
    values = np.empty(p.shape[1])
    for part in chunks(len(values), _BATCH):
        values[part] = _determinant(_rows(np.array([p[:, part], q[:, part], r[:, part], s[:, part]])))[0].high
    return values


def precise_areas(p: FloatArray, q: FloatArray, r: FloatArray) -> FloatArray:
    """Return det(q - p, r - p) in the plane, accurate to almost all digits unless it is zero or nearly so."""
    return _determinant(_rows(np.array([p, q, r])))[0].high


def decide_signs(values: FloatArray, errors: FloatArray, *corners: FloatArray) -> Signs:
    """Return the signs of determinants of which values are known to an error; where that leaves them open, the corners
    (dim, k) decide: four in space, three in the plane."""
    signs = (values > errors).astype(np.int8)
    signs -= values < -errors
    unclear = np.flatnonzero(signs == 0)
    if len(unclear):
        # The more accurate values replace the rounded ones.
        values = values.copy()
        for part in chunks(len(unclear), _BATCH):
            chunk = unclear[part]
            signs[chunk], values[chunk] = _exact_signs(np.array([corner.take(chunk, axis=1) for corner in corners]))
    return Signs(signs, values)


def _rows(corners: FloatArray) -> _Doubled:
    """Return the exact rows (dim, dim, k) of the determinants of corners (dim + 1, dim, k)."""
    return _difference(corners[1:], corners[0])


def _exact_signs(corners: FloatArray) -> tuple[SignArray, FloatArray]:
    """Return signs and values with twice the digits, and with integers where these do not decide, of corners
    (dim + 1, dim, k)."""
    count = corners.shape[2]
    signs, values = np.zeros(count, dtype=np.int8), np.zeros(count)
    # Coincident corners: the commonest reason for a zero.
    first, second = (side[: 3 * corners.shape[1] - 3] for side in _CORNER_PAIRS)
    remaining = np.flatnonzero((corners.take(first, axis=0) != corners.take(second, axis=0)).any(axis=1).all(axis=0))
    if len(remaining):
        signs[remaining], values[remaining] = _signs_of_rows(_rows(corners.take(remaining, axis=2)))
    return signs, values


def _signs_of_rows(rows: _Doubled) -> tuple[SignArray, FloatArray]:
    """Return signs and values of determinants of exact rows (dim, dim, k)."""
    total, weight = _determinant(rows)
    sure = np.abs(total.high) > _ORIENTATION_DOUBLED * EPS * EPS * weight + ORIENTATION_LEAST
    sizes = np.abs(rows.high)
    zero = ((sizes == 0.0) | (sizes > 2.0**-300)).all(axis=(0, 1))  # no product of three entries underflows
    zero &= (weight == 0.0) | ~sure & _is_integer_zero(rows, total)
    values = np.where(sure & ~zero, total.high, 0.0)
    signs = np.sign(values).astype(np.int8)
    for k in np.flatnonzero(~(sure | zero)).tolist():
        signs[k], values[k] = _integer_determinant(np.dstack([x[:, :, k] for x in rows]).tolist())
    return signs, values


def _is_integer_zero(rows: _Doubled, total: _Doubled) -> BoolArray:
    """Return (k,) whether the determinant, if no product underflows, is zero because its entries are integers and it is
    less than 1."""
    shift = _WHOLE_BITS - np.frexp(np.abs(rows.high).max(axis=(0, 1)))[1]
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.ldexp(rows.high, shift)
        fits = ((whole == np.rint(whole)) & (rows.low == 0.0)).all(axis=(0, 1))
        size = np.abs(total.high)
        for _ in rows.high:
            size = np.ldexp(size, shift)
    result: BoolArray = fits & (size < 0.5)
    return result


def _determinant(rows: _Doubled) -> tuple[_Doubled, FloatArray]:
    """Return determinants of rows (dim, dim, k) with twice the digits, and the sums of the absolute values of their
    products, rounded."""
    u, v, *across = (_Doubled(*parts) for parts in zip(*rows, strict=True))
    first, second = _FACTORS[len(u.high)]
    products = _product(u.part(first), v.part(second))
    half = len(first) // 2
    high, low = products
    minors = _sum(_Doubled(high[:half], low[:half]), _Doubled(-high[half:], -low[half:]))
    sizes = np.abs(high[:half]) + np.abs(high[half:])
    for w in across:
        minors, sizes = _product(minors, w), sizes * np.abs(w.high)
    zero = np.zeros(sizes.shape[1])
    total = _Doubled(zero, zero)
    for k in range(half):
        total = _sum(total, minors.part(k))
    return total, sizes.sum(axis=0)


def _difference(x: FloatArray, y: FloatArray) -> _Doubled:
    """Return x - y exactly."""
    high = x - y
    back = x - high
    low = (x - (high + back)) + (back - y)
    return _Doubled(high, low)


def _sum(x: _Doubled, y: _Doubled) -> _Doubled:
    high, low = _two_sum(x.high, y.high)
    low_sum, low_error = _two_sum(x.low, y.low)
    low = low + low_sum
    high, low = _quick_sum(high, low)
    return _quick_sum(high, low + low_error)


def _two_sum(x: FloatArray, y: FloatArray) -> _Doubled:
    high = x + y
    back = high - x
    return _Doubled(high, (x - (high - back)) + (y - back))


def _quick_sum(x: FloatArray, y: FloatArray) -> _Doubled:
    high = x + y
    return _Doubled(high, y - (high - x))


def _product(x: _Doubled, y: _Doubled) -> _Doubled:
    high = x.high * y.high
    a, b = _split(x.high)
    c, d = _split(y.high)
    low = ((a * c - high) + a * d + b * c) + b * d
    return _quick_sum(high, low + (x.high * y.low + x.low * y.high))


def _split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two parts of 26 bits with the sum `x`."""
    large = _SPLIT * x
    upper = large - (large - x)
    return upper, x - upper


def _integer_determinant(rows: list[list[list[float]]]) -> tuple[int, float]:
    """Return the sign and the value of one determinant; each entry is the sum of two floats."""
    ratios = [[[part.as_integer_ratio() for part in entry] for entry in row] for row in rows]
    unit = max(ratio[1] for row in ratios for entry in row for ratio in entry)  # all are powers of two
    whole = [[sum(number * (unit // of) for number, of in entry) for entry in row] for row in ratios]
    (a, b, c), (d, e, f), (g, h, i) = whole if len(whole) == 3 else [[*row, 0] for row in whole] + [[0, 0, 1]]
    value = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return (value > 0) - (value < 0), value / unit ** len(rows)
