# SPDX-License-Identifier: GPL-3.0-or-later
"""Upper bounds of the gauge functions of many polytopes: by which factor one must be scaled about its mean to reach a
point, so how far it reaches at least in any direction.

They are known at the nodes of a grid on the octahedron |x| + |y| + |z| = 1. The gauge is convex, so between the nodes
it is at most the interpolated one. Source: S4.4.
"""

from __future__ import annotations

import numpy as np

from ...progress import Progress, report_progress, subrange
from ...runs import chunks
from ...tolerance import SINGLE_EPS
from ...types import FloatArray, IntArray, read_only
from .columns import SingleArray

STEPS = 6
"""Cells of the octahedron's grid from a pole to the equator."""
_ROUNDING = 8.0
"""Times SINGLE_EPS and the inverse of the inscribed radius: what a gauge in single precision may be computed too small
by. Nodes and planes are rounded by half of SINGLE_EPS, the three products and two sums too."""
_PRODUCTS = 131_072
"""Numbers multiplied at a time, so that they are still in the cache when they are read again."""


def _octahedron_nodes() -> FloatArray:
    """Return the nodes (k, 3) of the grid: for z >= 0, then for z <= 0, row by row of the grid of x and y.

    Nodes outside of the octahedron are in the plane of one of its faces, so that each cell is in one plane.
    """
    x, y = np.meshgrid(*[np.arange(-STEPS, STEPS + 1) / STEPS] * 2, indexing="ij")
    z = 1.0 - np.abs(x) - np.abs(y)
    return read_only(np.concatenate([np.stack([x, y, sign * z], axis=2).reshape(-1, 3) for sign in (1.0, -1.0)]))


_NODES = _octahedron_nodes()
_NODE_ROW = 2 * STEPS + 1
_USED = np.flatnonzero(np.abs(_NODES[:, :2]).sum(axis=1) < 1.0 + 2.5 / STEPS)


def gauges_at_nodes(
    planes: FloatArray, first: IntArray, count: IntArray, radii: FloatArray, progress: Progress | None
) -> SingleArray:
    """Return upper bounds (n, nodes) of the gauges of polytopes whose `count` (n,) facet planes n.x = 1 about the mean
    are columns of `planes` (3, f) from `first` (n,) on; 0 where there are none.

    `radii` (n,) are those of inscribed spheres. Raise Cancelled.
    """
    gauges = np.zeros((len(count), len(_NODES)), dtype=np.float32)
    nodes = np.ascontiguousarray(_NODES[_USED].T, dtype=np.float32)
    single = planes.astype(np.float32)
    # Polytopes with about as many facets at a time: those with fewer have their last one again.
    sizes = np.where(count > 16, -8 * (-count // 8), count)
    groups = sorted(set(sizes[sizes > 0].tolist()))
    for done, size in enumerate(groups):
        part = subrange(progress, done / len(groups), (done + 1) / len(groups))
        members = np.flatnonzero(sizes == size)
        for rows in chunks(len(members), _PRODUCTS // len(_USED), part):
            which = members[rows]
            # The first planes of all polytopes, then the second ones, and so on: (facet, polytope, 3).
            number = np.minimum(np.arange(size)[:, None], count[which] - 1)
            chosen = np.ascontiguousarray(single.take(first[which] + number, axis=1).transpose(1, 2, 0))
            largest = np.full((len(which), len(_USED)), -np.inf, dtype=np.float32)
            step = max(1, _PRODUCTS // largest.size)
            for start in range(0, size, step):
                # No matrix product: how that rounds may depend on the number of polytopes.
                for products in np.einsum("fpc,ck->fpk", chosen[start : start + step], nodes):
                    np.maximum(largest, products, out=largest)
            largest += (_ROUNDING * SINGLE_EPS / radii[which, None]).astype(np.float32)
            gauges[which[:, None], _USED] = largest
    report_progress(progress, 1.0)
    return read_only(gauges)


def gauge_bounds(gauges: SingleArray, rows: IntArray, points: FloatArray) -> FloatArray:
    """Return upper bounds (m,) of the gauges in `rows` (m,) of `gauges_at_nodes`, at points (3, m)."""
    x, y, z = points
    norm = np.abs(x) + np.abs(y)
    norm += np.abs(z)
    scale = STEPS / np.where(norm > 0.0, norm, 1.0)
    u, v = x * scale, y * scale
    u += STEPS
    v += STEPS
    row, column = (np.minimum(t.astype(np.intp), _NODE_ROW - 2) for t in (u, v))
    u -= row
    v -= column
    node = 2 * rows
    node += z < 0.0
    node *= _NODE_ROW
    node += row
    node *= _NODE_ROW
    node += column
    flat = gauges.reshape(-1)
    low, high = (flat.take(node + k) * (1.0 - v) + flat.take(node + (k + 1)) * v for k in (0, _NODE_ROW))
    high -= low
    high *= u
    low += high
    return low * norm
