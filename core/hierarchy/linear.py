# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear hierarchy: items sorted along a curve through space, and a complete binary tree over them.

Building it is one sort, and everything about the tree follows from the number of leaves. Source: S3.3; C. Lauterbach et
al., Fast BVH Construction on GPUs, 2009.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ..shapes.hilbert_curve import curve_order
from ..types import FloatArray, IntArray
from .nodes import Layout


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
    left, first, counts = cast("IntArray", np.empty((3, nodes), dtype=np.int32))
    level = cast("IntArray", np.empty(nodes, dtype=np.int8))
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
