# SPDX-License-Identifier: GPL-3.0-or-later
"""What the public functions ask of their arguments: each error is a ValueError that names the argument.

The checks of shapes and vectors cost less than a microsecond and are made once, at the front door: the loops inside
take what they are given.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from .tolerance import EPS, LARGEST_COORDINATE
from .types import FloatArray, IntArray

_UNIT_LENGTH = 16.0
"""Times EPS: a normal whose length is this near to 1 is taken as it is, and any other is made a unit vector."""

_FLOAT64 = np.dtype(np.float64)
_UNIT_SQUARE = 2.0 * _UNIT_LENGTH * EPS
_REAL = "fiu"  # kinds of numpy types that are real numbers: no text, no truth values, no complex numbers, no objects


def as_array(name: str, value: ArrayLike, expected: str) -> FloatArray:
    """Return a float64 array of finite real numbers, the given one itself where it is that already.

    `expected` says in words what was expected: "an array (n, 3)". The shape is the caller's to check.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {expected} expected; rows of different length are not an array ({error})") from error
    if array.dtype.kind not in _REAL:
        raise ValueError(f"{name}: {expected} expected, of real numbers and not of dtype {array.dtype}")
    if array.dtype != _FLOAT64:
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: all numbers must be finite")
    return array


def validate_magnitude(name: str, coordinates: FloatArray) -> None:
    """Ask for coordinates that leave room for their differences and sums."""
    if not (np.abs(coordinates) <= LARGEST_COORDINATE).all():
        raise ValueError(f"{name}: no coordinate may be beyond {LARGEST_COORDINATE:.3g}, or distances are infinite")


def as_floats(name: str, value: ArrayLike, dim: int) -> list[float]:
    """Return `dim` finite real numbers as plain floats."""
    if type(value) is not np.ndarray or value.dtype is not _FLOAT64 or value.shape != (dim,):
        array = as_array(name, value, f"{dim} numbers")
        if array.shape != (dim,):
            raise ValueError(f"{name}: {dim} numbers expected, got the shape {array.shape}")
        return array.tolist()
    floats = value.tolist()
    if not isfinite(sum(floats)):  # the sum of finite numbers may overflow
        for x in floats:
            if not isfinite(x):
                raise ValueError(f"{name}: all numbers must be finite, got {floats}")
    return floats


def as_vector(name: str, value: ArrayLike, dim: int) -> FloatArray:
    """Return a vector (dim,) of finite real numbers as a float64 array, the given one itself where it is that."""
    floats = as_floats(name, value, dim)
    if type(value) is np.ndarray and value.dtype is _FLOAT64:
        return value
    return np.array(floats)


def as_direction(name: str, value: ArrayLike, dim: int) -> FloatArray:
    """Return a finite vector (dim,) that is not zero, at ordinary length."""
    vector = as_vector(name, value, dim)
    if not vector.any():
        raise ValueError(f"{name} must not be zero: a zero vector has no direction")
    return at_ordinary_length(vector)


def as_unit(name: str, value: ArrayLike, dim: int) -> FloatArray:
    """Return a direction (dim,) as a unit vector; an array that is one already, to rounding, as it is."""
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.shape == (dim,):
        square = 0.0
        for x in value.tolist():
            square += x * x
        if abs(square - 1.0) <= _UNIT_SQUARE:
            return value
    direction = as_direction(name, value, dim)
    direction = direction / np.abs(direction).max()  # squares neither overflow nor vanish
    return direction / sqrt(float(direction @ direction))


def as_points(name: str, value: ArrayLike, dim: int) -> FloatArray:
    """Return finite points (n, dim), n >= 0, as a float64 array."""
    expected = f"an array (n, {dim})"
    array = as_array(name, value, expected)
    if array.ndim != 2 or array.shape[1] != dim:
        raise ValueError(f"{name}: {expected} expected, got the shape {array.shape}")
    return array


def as_cloud(name: str, value: ArrayLike) -> FloatArray:
    """Return finite points (n, 2) or (n, 3), n >= 0, of coordinates that leave room, as a float64 array."""
    expected = "an array (n, 2) or (n, 3)"
    array = as_array(name, value, expected)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ValueError(f"{name}: {expected} expected, got the shape {array.shape}")
    validate_magnitude(name, array)
    return array


def as_directions(name: str, value: ArrayLike, dim: int) -> FloatArray:
    """Return directions (n, dim), finite and none of them zero, at ordinary length, as a float64 array."""
    array = as_points(name, value, dim)
    zero = np.flatnonzero(~array.any(axis=1))
    if len(zero):
        raise ValueError(f"{name}: row {zero[0]} is zero: a zero vector has no direction")
    return at_ordinary_length(array)


def at_ordinary_length(directions: FloatArray) -> FloatArray:
    """Return directions (..., dim) scaled by powers of two, which is exact, so that products with coordinates neither
    overflow nor vanish."""
    exponents = np.frexp(np.abs(directions).max(axis=-1, keepdims=True))[1]
    return np.ldexp(directions, 1 - exponents)


def as_affine(name: str, value: ArrayLike, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return the linear part (dim, dim) and the translation (dim,) of an affine matrix (dim + 1, dim + 1)."""
    expected = f"an array ({dim + 1}, {dim + 1})"
    matrix = as_array(name, value, expected)
    if matrix.shape != (dim + 1, dim + 1):
        raise ValueError(f"{name}: {expected} expected, got the shape {matrix.shape}")
    if matrix[-1].tolist() != [0.0] * dim + [1.0]:
        raise ValueError(f"{name}: the last row must be {', '.join('0' * dim)}, 1, got {matrix[-1].tolist()}")
    return matrix[:-1, :-1], matrix[:-1, -1]


def as_length(name: str, value: object) -> float:
    """Return a finite number that is not negative as a plain float."""
    # Asking for a `float` first: to ask an abstract class takes ten times as long.
    if type(value) is float and 0.0 <= value < inf:
        return value
    if isinstance(value, float | Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = inf
        if isfinite(number) and number >= 0.0:
            return number
    raise ValueError(f"{name} must be a finite number that is not negative, not {value!r}")


def as_factor(name: str, value: object) -> float:
    """Return a finite number above 0 as a plain float."""
    number = as_length(name, value)
    if number == 0.0:
        raise ValueError(f"{name} must be above 0")
    return number


def as_indices(name: str, value: ArrayLike, count: int, items: str, columns: int | None = None) -> IntArray:
    """Return `value` as indices (m,), or (m, columns), of `count` items with this name; no items, an empty array."""
    expected = "whole numbers (m,)" if columns is None else f"whole numbers (m, {columns})"
    shape = () if columns is None else (columns,)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {expected} expected, got rows of different length") from error
    if array.shape == (0,):
        array = np.empty((0, *shape), dtype=np.intp)
    if array.ndim == 0 or array.shape[1:] != shape or array.dtype.kind not in "iu":
        raise ValueError(f"{name}: {expected} expected, got the shape {array.shape} of dtype {array.dtype}")
    array = array.astype(np.intp, copy=False)
    if len(array) and array.view(np.uintp).max() >= count:  # as unsigned numbers, negative ones are the largest
        raise ValueError(f"{name}: all must be from 0 to {count - 1}, for there are {count} {items}")
    return array


def as_whole_number(name: str, value: object, least: int = 0) -> int:
    """Return a whole number that is not below the least."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on, not {value!r}")
    return int(value)
