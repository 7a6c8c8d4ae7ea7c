# SPDX-License-Identifier: GPL-3.0-or-later
"""Array types, read-only arrays and the base of records that keep their arrays read-only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
_Array = TypeVar("_Array", bound=NDArray[Any])


class ReadOnlyArrays:
    """Base of frozen records with read-only arrays: numpy forgets the flag when an array is pickled or deep-copied."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes, every array among them read-only, in tuples too."""
        self.__dict__.update({name: _read_only_value(value) for name, value in state.items()})


def read_only(array: _Array) -> _Array:
    """Make the array itself read-only and return it."""
    array.setflags(write=False)  # half the time of setting the flag itself
    return array


def set_parts(record: object, parts: Mapping[str, object]) -> None:
    """Set attributes of a frozen record; the arrays among them become read-only."""
    for name, value in parts.items():
        object.__setattr__(record, name, read_only(value) if isinstance(value, np.ndarray) else value)


def positive_zero(array: FloatArray) -> FloatArray:
    """Return the array with every -0.0 replaced by 0.0."""
    return array + 0.0


def _read_only_value(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.flags.writeable:
        return read_only(value.view())  # a shallow copy shares its arrays with the original, which stays as it is
    if type(value) is tuple:
        return tuple(map(_read_only_value, value))
    if isinstance(value, tuple):  # a named one
        return type(value)(*map(_read_only_value, value))
    return value
