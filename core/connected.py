# SPDX-License-Identifier: GPL-3.0-or-later
"""Connected parts of items that links join."""

from __future__ import annotations

import numpy as np

from .types import IntArray


def connected_parts(links: IntArray, count: int) -> IntArray:
    """Return for each of `count` items the first item of the part that links (k, 2) between items connect it with.

    >>> print(connected_parts(np.array([[1, 3], [4, 3]]), 5))
    [0 1 2 1 1]
    """
    root: IntArray = np.arange(count)
    a, b = links.T
    while True:
        high, low = root.take(a), root.take(b)
        apart = np.flatnonzero(high != low)
        if not len(apart):
            return root
        a, b, high, low = a.take(apart), b.take(apart), high.take(apart), low.take(apart)
        np.minimum.at(root, np.maximum(high, low), np.minimum(high, low))
        while True:
            above = root.take(root)
            if np.array_equal(above, root):
                break
            root = above
