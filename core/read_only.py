# SPDX-License-Identifier: GPL-3.0-or-later
"""Frozen records whose arrays stay read-only when they are unpickled or copied."""

from __future__ import annotations

from typing import Any

import numpy as np


class ReadOnlyArrays:
    """Base of frozen records with read-only arrays: numpy forgets the flag when an array is pickled or deep-copied."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes, every array among them read-only, in tuples too."""
        self.__dict__.update({name: _read_only(value) for name, value in state.items()})


def _read_only(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.view()  # a shallow copy shares its arrays with the original, which stays as it is
        value.flags.writeable = False
        return value
    if type(value) is tuple:
        return tuple(map(_read_only, value))
    if isinstance(value, tuple):  # a named one
        return type(value)(*map(_read_only, value))
    return value
