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
from .mesh_distance import BoxGaps, some_items
from .surface import Surface, node_bounds, validate_mesh

_SLIVER = 1e-5
"""Sine between two sides of a triangle, below which the foot of a point on it is found in more than two steps."""
_BATCH = 1 << 14
"""Pairs of a point and a node or a triangle in one go."""
_AGAIN = 8
"""Times that the foot of a point on a sliver is computed again."""


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
    distance, nearest, which = np.empty(len(array)), np.empty((len(array), 3)), np.empty(len(array), dtype=np.intp)
    own = mesh.without_copies
    for part in chunks(len(array), _BATCH, progress):
        _nearest(array[part], own, least[part], distance[part], nearest[part], which[part])
    report_progress(progress, 1.0)
    return MeshPoints(read_only(distance), read_only(nearest), read_only(mesh.given(which)))


def _nearest(
    points: FloatArray,
    mesh: Surface,
    enough: FloatArray,
    distance: FloatArray,
    nearest: FloatArray,
    which: IntArray,
) -> None:
    """Put the distance (q,), the nearest point (q, 3) and its triangle (q,) of some points into the last three."""
    tree = mesh.tree
    rows = np.ascontiguousarray(points.T)
    gaps = BoxGaps(rows, rows, *node_bounds(mesh))
    distance[:] = np.inf

    def measure(of: IntArray, leaves: IntArray) -> None:
        counts = tree.count.take(leaves)
        chosen = tree.items.take(ranges(tree.first.take(leaves), counts))
        of = np.repeat(of, counts)
        for part in chunks(len(of), _BATCH):
            _measure_points(points, mesh, of[part], chosen[part], distance, nearest, which)

    # A corner below each node: no point is farther from the mesh than from these.
    corner = np.ascontiguousarray(
        mesh.points.take(mesh.triangles[:, 0].take(some_items(tree, np.arange(len(tree)))), axis=0).T
    )

    def to_corner(of: IntArray, nodes: IntArray) -> FloatArray:
        gap = corner.take(nodes, axis=1)
        gap -= rows.take(of, axis=1)
        np.abs(gap, out=gap)
        return np.hypot(np.hypot(gap[0], gap[1]), gap[2]) * (1.0 + MESH_GAP * EPS)

    # Every point first goes down to the child with the nearer corner until it is at a leaf.
    of, nodes = np.arange(len(points)), np.zeros(len(points), dtype=np.intp)
    while len(of):
        left = tree.left.take(nodes)
        ends, inner = np.flatnonzero(left < 0), np.flatnonzero(left >= 0)
        measure(of.take(ends), nodes.take(ends))
        of, left = of.take(inner), left.take(inner)
        nodes = left + (to_corner(of, left + 1) < to_corner(of, left))
    bound = distance.copy()
    waiting = [(np.arange(len(points)), np.zeros(len(points), dtype=np.intp))]
    while waiting:
        of, nodes = waiting.pop()
        if len(of) > 4 * _BATCH:
            waiting.append((of[: -4 * _BATCH], nodes[: -4 * _BATCH]))
            of, nodes = of[-4 * _BATCH :], nodes[-4 * _BATCH :]
        # Not only where it is less: a bound may not have been reached yet.
        gap, found = gaps(of, nodes), distance.take(of)
        near = np.flatnonzero((gap <= bound.take(of)) & (gap < found) & (found > enough.take(of)))
        of, nodes = of.take(near), nodes.take(near)
        left = tree.left.take(nodes)
        ends, inner = np.flatnonzero(left < 0), np.flatnonzero(left >= 0)
        if len(ends):
            measure(of.take(ends), nodes.take(ends))
            np.minimum(bound, distance, out=bound)
        if len(inner):
            of = of.take(inner)
            # Nodes of one point stand together.
            starts = np.flatnonzero(np.diff(of, prepend=-1))
            nearest_corner = np.minimum.reduceat(to_corner(of, nodes.take(inner)), starts)
            target = of.take(starts)
            bound[target] = np.minimum(bound.take(target), nearest_corner)
            waiting.append((np.repeat(of, 2), (left.take(inner)[:, None] + np.arange(2)).ravel()))


def _measure_points(
    points: FloatArray,
    mesh: Surface,
    of: IntArray,
    chosen: IntArray,
    distance: FloatArray,
    nearest: FloatArray,
    which: IntArray,
) -> None:
    """Measure points against triangles, pair by pair, and note what is nearer than before."""
    if not len(of):
        return
    p = np.ascontiguousarray(points.take(of, axis=0).T)
    found, closest = point_triangle_distances(p, mesh.corner_rows(chosen))
    # The nearest triangle of each point comes first among its own.
    order = np.lexsort((chosen, found, of))
    sorted_of = of.take(order)
    first = order[np.flatnonzero(np.diff(sorted_of, prepend=-1))]
    target = of.take(first)
    better = first[found.take(first) < distance.take(target)]
    target = of.take(better)
    distance[target], which[target] = found.take(better), chosen.take(better)
    nearest[target] = closest.take(better, axis=1).T


def point_triangle_distances(p: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, element by element, the distances (n,) of points (3, n) from triangles, and the nearest points (3, n).

    Triangles have their corners in rows (corner, axis, n).
    """
    a, w = rows - rows[0], p - rows[0]
    size = np.maximum(np.abs(a).max(axis=(0, 1)), np.abs(w).max(axis=0))
    exponent = np.frexp(size)[1]
    a, w = np.ldexp(a, -exponent), np.ldexp(w, -exponent)
    best, square = np.zeros_like(w), np.full(w.shape[1], np.inf)

    def consider(foot: FloatArray, where: FloatArray | None = None) -> None:
        gap = w - foot
        its = dot(gap, gap)
        if where is not None:
            its[~where.astype(bool)] = np.inf
        nearer = np.flatnonzero(its < square)
        square[nearer] = its.take(nearer)
        best[:, nearer] = foot.take(nearer, axis=1)

    for k in range(3):
        start, along = a[k], a[(k + 1) % 3] - a[k]
        length = dot(along, along)
        fraction = np.divide(dot(w - start, along), length, out=np.zeros_like(length), where=length > 0.0)
        np.clip(fraction, 0.0, 1.0, out=fraction)
        end = a[(k + 1) % 3]
        # From the nearer end: a foot at an end is that end itself.
        consider(np.where(fraction <= 0.5, start + fraction * along, end - (1.0 - fraction) * along))
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
    inside = (second >= 0.0) & (third >= 0.0) & (second + third <= 1.0) & ~flat
    consider(second * e1 + third * e2, inside)
    return np.ldexp(np.sqrt(square), exponent), np.ldexp(best, exponent) + rows[0]
