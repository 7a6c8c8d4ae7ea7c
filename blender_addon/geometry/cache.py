# SPDX-License-Identifier: GPL-3.0-or-later
"""A cache that drops the least recently used values."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class LruCache(Generic[_T]):
    """The most recently used values; for use in several threads."""

    def __init__(
        self, count: int, weight: float = float("inf"), weigh: Callable[[_T], float] = lambda value: 0
    ) -> None:
        """Keep up to `count` values, and no more (but the last two) than weigh `weight` together."""
        self._values: OrderedDict[Hashable, tuple[_T, float]] = OrderedDict()
        self._lock = threading.Lock()
        self._count, self._most, self._weigh = count, weight, weigh
        self._weight = 0.0

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return the value of a key, made where it is not in the cache."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = make()
        with self._lock:
            self._weight -= self._values.pop(key, (value, 0.0))[1]
            self._values[key] = value, self._weigh(value)
            self._weight += self._values[key][1]
            while len(self._values) > self._count or (self._weight > self._most and len(self._values) > 2):
                self._weight -= self._values.popitem(last=False)[1][1]
        return value

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            self._values.clear()
            self._weight = 0.0
