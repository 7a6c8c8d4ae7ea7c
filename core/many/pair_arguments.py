# SPDX-License-Identifier: GPL-3.0-or-later
"""What functions of many pairs ask of their arguments: indices of pairs, and a tolerance for all or for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array, as_length
from ..types import FloatArray, IntArray, read_only


def validate_pairs(pairs: ArrayLike, count: int, others: int) -> IntArray:
    """Return a copy of pairs (p, 2) of whole numbers from 0 to count - 1 and others - 1. Raise ValueError, naming
    `pairs`."""
    try:
        array = np.asarray(pairs)
    except (TypeError, ValueError) as error:
        raise ValueError("pairs: an array (p, 2) expected; rows of different length are not an array") from error
    if array.size == 0 and array.ndim <= 2:
        return np.zeros((0, 2), dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise ValueError(f"pairs: whole numbers expected, not dtype {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"pairs: an array (p, 2) expected, got the shape {array.shape}")
    result = np.array(array, dtype=np.intp)
    numbers = result.view(np.uintp)  # as unsigned numbers, negative ones are the largest
    if numbers.max() >= min(count, others) and (numbers >= np.array([count, others], dtype=np.uintp)).any():
        row = int(((array < 0) | (array >= np.array([count, others]))).any(axis=1).argmax())
        there = f"{count} shapes" if count == others else f"{count} shapes and {others} others"
        raise ValueError(f"pairs: row {row} is {array[row].tolist()}, but there are {there}")
    return result


def validate_tolerance(value: float | ArrayLike, count: int) -> float | FloatArray:
    """Return the contact tolerance of all pairs, or a read-only copy (count,) of those of each. Raise ValueError."""
    if not isinstance(value, np.ndarray | Sequence) or isinstance(value, str):
        return as_length("contact_tolerance", value)
    array = as_array("contact_tolerance", value, f"a number or an array ({count},)")
    if array.shape != (count,) or not (array >= 0.0).all():
        raise ValueError(
            f"contact_tolerance: a number, or one for each of the {count} pairs, expected, none negative; got the "
            f"shape {array.shape}"
        )
    return read_only(np.array(array))


@overload
def tolerance_of(tolerance: float | FloatArray, rows: int) -> float: ...


@overload
def tolerance_of(tolerance: float | FloatArray, rows: IntArray) -> float | FloatArray: ...


def tolerance_of(tolerance: float | FloatArray, rows: int | IntArray) -> float | FloatArray:
    """Return the contact tolerance of some rows, of one for all or one for each (p,)."""
    if isinstance(tolerance, float):
        return tolerance
    chosen = tolerance[rows]
    return float(chosen) if isinstance(rows, int) else chosen
