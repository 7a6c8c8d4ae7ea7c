# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether surfaces of triangles meet, how far apart they are, and how far points are from one, for checks.

Nothing here is a search: which triangles matter follows from a length that was reported, by the boxes and disks of the
meshes' trees, and all of these are measured. The boxes are checked in one pass (`tree_faults`); the disks are trusted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..bounding.kdop import KDops
from ..broad_phase.candidate_pairs import candidate_pairs
from ..hierarchy.nodes import both_children
from ..meshes.coordinates import scale_exponent, scale_points
from ..meshes.near_triangles import near_pairs
from ..meshes.point_distance import point_triangle_distances
from ..meshes.surface import Surface, node_bounds
from ..meshes.triangle_distance import distance_exactly, measured, slabs, triangle_distances
from ..runs import chunks
from ..shapes.orientation import signs_of_volumes
from ..types import BoolArray, FloatArray, IntArray

_MEASURED = 1 << 13
"""Pairs of triangles in one go."""


def tree_faults(mesh: Surface) -> Iterator[str]:
    """Yield what is wrong with the tree of a mesh: whether each triangle is below it once, and in all boxes above."""
    tree = mesh.tree
    low, high = node_bounds(mesh)
    items = tree.item_volumes
    assert isinstance(items, KDops)
    for k in range(3):
        corners = mesh.points.take(mesh.triangles[:, k], axis=0)
        if (corners < items.low).any() or (corners > items.high).any():
            yield "a triangle is not inside its own box"
    inner, leaves = np.flatnonzero(tree.left >= 0), np.flatnonzero(tree.left < 0)
    children = tree.left.take(inner)
    if not np.array_equal(np.sort(both_children(children)), np.arange(1, len(tree))):
        yield "a node does not have exactly one parent"
    if not np.array_equal(np.sort(tree.items.take(tree.first.take(leaves))), np.arange(len(mesh.triangles))):
        yield "a triangle is not in exactly one leaf"
    own = tree.items.take(tree.first.take(leaves))
    for rows, item_rows, sign in ((low, items.low.T, 1.0), (high, items.high.T, -1.0)):
        for row, item_row in zip(rows, item_rows, strict=True):
            above = sign * row.take(inner)
            outside = (sign * row.take(children) < above).any() or (sign * row.take(children + 1) < above).any()
            if outside or (sign * item_row.take(own) < sign * row.take(leaves)).any():
                yield "a box is not inside the box of its parent"


def surface_distance(a: Surface, b: Surface, reach: float, enough: float = -np.inf) -> tuple[float, float]:
    """Return how far apart two surfaces are at least, but no more than `reach`, and how far two of their triangles are
    apart, more than `reach` when all are. Ends once the first is below `enough`."""
    least, most = reach, np.inf
    for p, q in _near_triangles(a, b, reach):
        found = triangle_distances(a.points[a.triangles[p]], b.points[b.triangles[q]])
        least, most = min(least, float(found.lower_bound.min())), min(most, float(found.distance.min()))
        if least < enough:
            break
    return least, most


def surfaces_meet(a: Surface, b: Surface, *others: Surface) -> list[bool]:
    """Return whether a surface has a common point with each of others, which are the first one a little moved. Exact:
    planes part triangles by exact signs, and whole numbers decide where that fails and no edge certainly passes through
    a triangle."""
    moved = (b, *others)
    # As points are rounded, and no more than the square root of three of it along each axis.
    reach = 2.0 * max(float(np.abs(other.points - b.points).max()) for other in moved)
    result = [False] * len(moved)
    for p, q in _near_triangles(a, b, reach):
        for k in (k for k, met in enumerate(result) if not met):
            result[k] = _triangles_meet(a, moved[k], p, q)
        if all(result):
            break
    return result


def _near_triangles(a: Surface, b: Surface, reach: float) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of triangles, at least one at a time: all but those that slabs prove to be farther apart than
    `reach`."""
    for pairs in near_pairs(a, b, reach):
        for part in chunks(len(pairs[0]), _MEASURED):
            p, q = (indices[part] for indices in pairs)
            for across_faces in (False, True):
                near = np.flatnonzero(slabs(a.corner_rows(p), b.corner_rows(q), across_faces) <= reach)
                p, q = p.take(near), q.take(near)
            if len(p):
                yield p, q


def _triangles_meet(a: Surface, b: Surface, p: IntArray, q: IntArray) -> bool:
    """Return whether one of some pairs of triangles has a common point."""
    exponent = scale_exponent(max(a.magnitude, b.magnitude))
    rows_a, rows_b = (scale_points(mesh.corner_rows(k), exponent) for mesh, k in ((a, p), (b, q)))
    near = np.flatnonzero(~(_parted(rows_a, rows_b) | _parted(rows_b, rows_a)))
    if not len(near):
        return False
    found = measured(rows_a.take(near, axis=2), rows_b.take(near, axis=2))
    if ((found.distance == 0.0) & ~found.open).any():
        return True
    unsure = near.take(np.flatnonzero(found.open)).tolist()
    return any(distance_exactly(a.points[a.triangles[p[k]]], b.points[b.triangles[q[k]]])[0] == 0.0 for k in unsure)


def _parted(a: FloatArray, b: FloatArray) -> BoolArray:
    """Return (n,) whether all corners of one triangle are strictly on one side of the other's plane; rows (corner,
    axis, n)."""
    signs = [signs_of_volumes(a[0], a[1], a[2], corner).signs for corner in b]
    return (signs[0] != 0) & (signs[0] == signs[1]) & (signs[1] == signs[2])


def off_surface(point: FloatArray, mesh: Surface) -> float:
    """Return how far a point is from the nearest of all triangles: those are measured whose boxes are near enough."""
    boxes = mesh.tree.item_volumes
    assert isinstance(boxes, KDops)
    least, most = np.zeros(len(boxes)), np.zeros(len(boxes))
    exponent = scale_exponent(max(mesh.magnitude, float(np.abs(point).max())))
    for axis in range(3):
        below, above = (scale_points(side[:, axis] - point[axis], exponent) for side in (boxes.low, boxes.high))
        most += np.maximum(-below, above) ** 2
        least += np.maximum(np.maximum(below, -above), 0.0) ** 2
    near = np.flatnonzero(least <= most.min() * (1.0 + 1e-9))
    return float(
        point_triangle_distances(np.repeat(point[:, None], len(near), axis=1), mesh.corner_rows(near))[0].min()
    )


def points_off(points: FloatArray, mesh: Surface, reach: float) -> FloatArray:
    """Return how far points (n, 3) are from a surface, infinite where the boxes of all triangles are farther than
    `reach`."""
    result = np.full(len(points), np.inf)
    if len(points):
        boxes = mesh.tree.item_volumes
        assert isinstance(boxes, KDops)
        i, j = candidate_pairs(points, points, boxes.low, boxes.high, margin=reach).pairs.T
        for part in chunks(len(i), _MEASURED):
            rows = np.ascontiguousarray(points.take(i[part], axis=0).T)
            np.minimum.at(result, i[part], point_triangle_distances(rows, mesh.corner_rows(j[part]))[0])
    return result
