# SPDX-License-Identifier: GPL-3.0-or-later
"""The distance of points from a mesh: a descent of its tree, many points at a time. Source: S3.4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array, as_points, validate_magnitude
from ..progress import Progress, report_progress
from ..runs import chunks, ranges
from ..tolerance import EPS, MESH_GAP, SMALLEST_STEP
from ..types import FloatArray, IntArray, ReadOnlyArrays, read_only
from ..vectors import cross, dot
from .mesh_distance import BoxGaps, some_items, triangle_bounds
from .surface import Surface, node_bounds, validate_mesh

_SLIVER = 1e-5
"""Sine between two sides of a triangle, below which the foot of a point on it is found in more than two steps."""
_BATCH = 1 << 14
"""Pairs of a point and a node or a triangle in one go."""
_FEW = 200
"""Triangles up to which all are compared with each point, which is faster than to descend a tree."""
_FEW_PAIRS = 1 << 15
"""Pairs of a point and a triangle up to which all are compared."""
_CHUNK = 1 << 10
"""Pairs of a point and a triangle measured in one go: what is made of them on the way fits the cache."""
_AGAIN = 8
"""Times that the foot of a point on a sliver is computed again."""
_NEXT = np.array([1, 2, 0])  # corner after each

_Found = tuple[FloatArray, FloatArray, IntArray]
"""Of some points the distance (q,), the nearest point (q, 3) and its triangle (q,), to be written to."""


@dataclass(frozen=True, eq=False)
class MeshPoints(ReadOnlyArrays):
    """The points of a surface nearest to q points. World frame and units; the arrays are read-only."""

    distance: FloatArray
    """(q,) how far each point is from the surface, never negative."""
    point: FloatArray
    """(q, 3) the nearest point of the surface."""
    triangle: IntArray
    """(q,) a triangle that it is on."""


def points_to_mesh(
    points: ArrayLike, mesh: Surface, progress: Progress | None = None, *, enough: ArrayLike | None = None
) -> MeshPoints:
    """Return, for each point (q, 3), the nearest point of the surface of a mesh. q may be 0.

    Distances are right to a few rounding errors of the largest coordinate and 1e-9. `progress` is called with the
    fraction done, 0 to 1; False cancels.

    enough: (q,) lengths, or None. The search for a point ends once the surface is known to be no farther than its
        length: the result is then a point of the surface no farther than that, but maybe not the nearest.

    Raise ValueError, naming the argument, when one is of another kind or shape or not finite; Cancelled when `progress`
    returns False. Source: S3.4.

    >>> points_to_mesh([[0.25, 0.25, 3]], Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])).distance
    array([3.])
    """
    array = as_points("points", points, 3)
    validate_magnitude("points", array)
    validate_mesh("mesh", mesh)
    least = np.zeros(len(array)) if enough is None else as_array("enough", enough, "an array (q,)")
    if least.shape != (len(array),):
        raise ValueError(f"enough: an array ({len(array)},) expected, got the shape {least.shape}")
    distance, nearest, which = np.full(len(array), np.inf), np.empty((len(array), 3)), np.empty(len(array), np.intp)
    own = mesh.without_copies
    count = len(own.triangles)
    is_small = count <= _FEW or count * len(array) <= _FEW_PAIRS
    for part in chunks(len(array), _BATCH // count if is_small else _BATCH, progress):
        found = distance[part], nearest[part], which[part]
        if is_small:
            _compare_all(array[part], own, found)
        else:
            _descend(array[part], own, least[part], found)
    report_progress(progress, 1.0)
    return MeshPoints(read_only(distance), read_only(nearest), read_only(mesh.given(which)))


def _compare_all(points: FloatArray, mesh: Surface, found: _Found) -> None:
    """Find what is nearest to some points among all triangles."""
    rows, each = np.ascontiguousarray(points.T), np.arange(len(points))
    gaps = BoxGaps(rows, rows, *triangle_bounds(mesh))(each[:, None], np.arange(len(mesh.triangles)))
    first = gaps.argmin(axis=1)
    bound, _ = point_triangle_distances(rows, mesh.corner_rows(first))
    gaps[each, first] = 0.0  # whatever rounding says
    of, chosen = np.nonzero(gaps <= bound[:, None])
    _measure_points(points, mesh, of, chosen, found)


def _descend(points: FloatArray, mesh: Surface, enough: FloatArray, found: _Found) -> None:
    """Find what is nearest to some points by the tree of a mesh."""
    tree, distance = mesh.tree, found[0]
    rows = np.ascontiguousarray(points.T)
    gaps = BoxGaps(rows, rows, *node_bounds(mesh))

    # A corner below each node: no point is farther from the mesh than from these.
    corner = np.ascontiguousarray(
        mesh.points.take(mesh.triangles[:, 0].take(some_items(tree, np.arange(len(tree)))), axis=0).T
    )

    def to_corner(of: IntArray, nodes: IntArray) -> FloatArray:
        gap = corner.take(nodes, axis=1)
        gap -= rows.take(of, axis=1)
        np.abs(gap, out=gap)
        return np.hypot(np.hypot(gap[0], gap[1]), gap[2]) * (1.0 + MESH_GAP * EPS)

    bound = distance.copy()
    waiting = [(np.arange(len(points)), np.zeros(len(points), dtype=np.intp))]
    while waiting:
        of, nodes = waiting.pop()
        if len(of) > 4 * _BATCH:
            waiting.append((of[: -4 * _BATCH], nodes[: -4 * _BATCH]))
            of, nodes = of[-4 * _BATCH :], nodes[-4 * _BATCH :]
        # Not only where it is less: a bound may not have been reached yet.
        gap, least = gaps(of, nodes), distance.take(of)
        near = np.flatnonzero((gap <= bound.take(of)) & (gap < least) & (least > enough.take(of)))
        of, nodes = of.take(near), nodes.take(near)
        left = tree.left.take(nodes)
        ends, inner = np.flatnonzero(left < 0), np.flatnonzero(left >= 0)
        if len(ends):
            leaves = nodes.take(ends)
            counts = tree.count.take(leaves)
            its, chosen = np.repeat(of.take(ends), counts), tree.items.take(ranges(tree.first.take(leaves), counts))
            for part in chunks(len(its), _BATCH):
                _measure_points(points, mesh, its[part], chosen[part], found)
            np.minimum(bound, distance, out=bound)
        if len(inner):
            of = of.take(inner)
            # Nodes of one point stand together.
            starts = np.flatnonzero(np.diff(of, prepend=-1))
            nearest_corner = np.minimum.reduceat(to_corner(of, nodes.take(inner)), starts)
            target = of.take(starts)
            bound[target] = np.minimum(bound.take(target), nearest_corner)
            waiting.append((np.repeat(of, 2), (left.take(inner)[:, None] + np.arange(2)).ravel()))


def _measure_points(points: FloatArray, mesh: Surface, of: IntArray, chosen: IntArray, found: _Found) -> None:
    """Measure points, ascending, against triangles, pair by pair, and note what is nearer than before."""
    distance, nearest, which = found
    its, closest = point_triangle_distances(np.ascontiguousarray(points.take(of, axis=0).T), mesh.corner_rows(chosen))
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    target = of.take(starts)
    least = np.minimum.reduceat(its, starts)
    least[least >= distance.take(target)] = -1.0
    better = np.flatnonzero(its == np.repeat(least, np.diff(starts, append=len(of))))
    # Of triangles as near the one of the least number, which comes last.
    better = better.take(np.argsort(-chosen.take(better), kind="stable"))
    target = of.take(better)
    distance[target], which[target] = its.take(better), chosen.take(better)
    nearest[target] = closest.take(better, axis=1).T


def point_triangle_distances(p: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, element by element, the distances (n,) of points (3, n) from triangles, and the nearest points (3, n).

    Triangles have their corners in rows (corner, axis, n).
    """
    if p.shape[1] > _CHUNK:
        parts = [point_triangle_distances(p[:, part], rows[..., part]) for part in chunks(p.shape[1], _CHUNK)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts], axis=1)
    a, w = rows - rows[0], p - rows[0]
    size = np.maximum(np.abs(a).max(axis=(0, 1)), np.abs(w).max(axis=0))
    exponent = np.frexp(size)[1]
    a, w = np.ldexp(a, -exponent), np.ldexp(w, -exponent)
    # Axis first: a foot on each edge, and one on the face.
    feet, corners = np.empty((3, 4, w.shape[1])), a.transpose(1, 0, 2)
    along = corners.take(_NEXT, axis=1) - corners
    length = dot(along, along)
    fraction = dot(w[:, None] - corners, along)
    np.divide(fraction, length, out=fraction, where=length > 0.0)
    np.clip(fraction, 0.0, 1.0, out=fraction)
    # From the nearer end: a foot at an end is that end itself.
    is_beyond = fraction > 0.5
    fraction -= is_beyond
    np.multiply(along, fraction, out=feet[:, :3])
    feet[:, :3] += np.where(is_beyond, corners.take(_NEXT, axis=1), corners)
    e1, e2 = a[1], a[2]
    normal = cross(e1, e2)
    length = dot(normal, normal)
    flat = length == 0.0
    length[flat] = 1.0
    normal /= length
    to_second, to_third = cross(e2, normal), cross(normal, e1)
    second, third = dot(w, to_second), dot(w, to_third)
    # Once more from there: in thin triangles the first foot is off by far more than a rounding error.
    remaining = w - second * e1 - third * e2
    second += dot(remaining, to_second)
    third += dot(remaining, to_third)
    # In the thinnest each time takes away a few digits only.
    sine = np.sqrt(np.where(flat, np.inf, length)) / np.sqrt(np.maximum(dot(e1, e1), SMALLEST_STEP))
    thin = np.flatnonzero(sine < _SLIVER * np.sqrt(dot(e2, e2)))
    for _ in range(_AGAIN if len(thin) else 0):
        remaining = w[:, thin] - second[thin] * e1[:, thin] - third[thin] * e2[:, thin]
        second[thin] += dot(remaining, to_second[:, thin])
        third[thin] += dot(remaining, to_third[:, thin])
    np.add(second * e1, third * e2, out=feet[:, 3])
    gap = w[:, None] - feet
    square = dot(gap, gap)
    square[3, (second < 0.0) | (third < 0.0) | (second + third > 1.0) | flat] = np.inf
    count = len(exponent)
    foot = feet.reshape(3, -1).take(square.argmin(axis=0) * count + np.arange(count), axis=1)
    return np.ldexp(np.sqrt(square.min(axis=0)), exponent), np.ldexp(foot, exponent) + rows[0]
