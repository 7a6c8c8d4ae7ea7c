# SPDX-License-Identifier: GPL-3.0-or-later
"""k-DOPs of hulls that move: recomputed from all vertices, or updated by hill climbing from the last extreme vertices.

On a convex polytope every vertex but the farthest in a direction has a neighbour that is farther. From the vertex that
was extreme before a small rotation the climb takes a step or two, whatever the number of vertices. Both methods give
the same bounds to the last bit. Source: S3.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array
from ..progress import Progress, report_progress, subrange, tracked
from ..runs import chunks, ranges
from ..shapes.polytope import Polytope, as_polytope
from ..tolerance import EPS, KDOP_SUM, LARGEST_COORDINATE
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from .kdop import KDops, measured_kdops
from .kdop_polytope import default_k, kdop_directions

Method = Literal["climb", "recompute"]

_KDOP_CLIMB = 64.0
"""Times EPS and the largest world coordinate: the climb continues from all vertices this near to the highest. A hull is
convex, and its measured heights are right, to a few EPS only."""
_CLIMBERS = 1 << 13
"""Climbers, one for each hull and direction, that climb together."""
_STEPS = 64
"""Most steps of a climb; hulls that need more, such as a large disc seen from above, are recomputed."""


@dataclass(frozen=True, eq=False)
class _HullGraph(ReadOnlyArrays):
    """The vertices of b hulls in their own frames, and their neighbours along the edges."""

    rows: FloatArray
    """(dim, N) coordinates of all vertices, hull after hull."""
    starts: IntArray
    """(b + 1,) the first vertex of each hull, and N."""
    neighbours: IntArray
    """(m,) the neighbours of all vertices, vertex after vertex."""
    first: IntArray
    """(N + 1,) the neighbours of vertex i are neighbours[first[i] : first[i + 1]]."""
    magnitudes: FloatArray
    """(b,) largest absolute coordinate of each hull."""

    def part(self, begin: int, end: int) -> _HullGraph:
        """Return the hulls from index `begin` up to `end`."""
        if begin == 0 and end == len(self.magnitudes):
            return self
        start, stop = self.starts[begin], self.starts[end]
        first = self.first[start : stop + 1]
        return _HullGraph(
            self.rows[:, start:stop],
            self.starts[begin : end + 1] - start,
            self.neighbours[first[0] : first[-1]] - start,
            first - first[0],
            self.magnitudes[begin:end],
        )


@dataclass(frozen=True, eq=False)
class HullKDops(ReadOnlyArrays):
    """The k-DOPs of moved hulls, from which the next update starts."""

    kdops: KDops
    """One for each of the b hulls."""
    graph: _HullGraph
    """The hulls in their own frames."""
    extremes: IntArray
    """(b, k) vertices where the next climb starts: the lowest found along each direction, then the highest."""


@dataclass(frozen=True, eq=False)
class ClimbStep(ReadOnlyArrays):
    """Vertices that climbers looked at in one step. Climber k i + j is on hull i and climbs along direction j, down for
    the first half of the k."""

    climber: IntArray
    """(m,)"""
    origin: IntArray
    """(m,) the vertex that it came from along an edge; in the first step the vertex itself."""
    vertex: IntArray
    """(m,) the vertex whose height was measured."""
    is_higher: BoolArray
    """(m,) whether the climb went on from there: no vertex that it had looked at was higher."""


def update_kdops(
    hulls: Iterable[Polytope] | HullKDops,
    rotations: ArrayLike,
    translations: ArrayLike,
    *,
    k: int | None = None,
    method: Method = "climb",
    progress: Progress | None = None,
    steps: list[ClimbStep] | None = None,
) -> HullKDops:
    """Return the k-DOPs of b hulls whose vertices x are moved to `rotation @ x + translation`.

    Args:
        hulls: shapes of one dimension, or the result of the last update: the moved hulls are its own again.
        rotations: (b, dim, dim) any matrices, world frame.
        translations: (b, dim) any vectors, world units.
        k: as for `bounding_volumes`; that of the last update.
        method: "climb" from the last extreme vertices, which shapes do not have yet, or "recompute" from all vertices.
            Both give the same k-DOPs.
        progress: called with the fraction done, 0 to 1; False cancels.
        steps: a list to which the steps of the climbs are appended; vertices as in the hulls, hull after hull.

    Raises ValueError, naming the argument, when one is of another kind or shape or not finite, and for a motion that
    takes a hull, or a point at unit distance, beyond 4 LARGEST_COORDINATE; Cancelled when `progress` says so.
    Source: S3.5.

    >>> from contact_lens.core import Box
    >>> first = update_kdops([Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])], [np.eye(3)], [[0.0, 0.0, 0.0]], k=6)
    >>> update_kdops(first, [np.eye(3)], [[5.0, 0.0, 0.0]]).kdops.low.tolist()
    [[4.5, -0.5, -0.5]]
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
    report_progress(progress, 0.0)
    if isinstance(hulls, HullKDops):
        if k not in (None, hulls.kdops.k):
            raise ValueError(f"k must be that of the last update, {hulls.kdops.k}, not {k!r}")
        graph, directions, extremes = hulls.graph, hulls.kdops.directions, hulls.extremes.copy()
    else:
        method = "recompute"
        graph = _hull_graph(hulls, subrange(progress, 0.0, 0.5))
        directions = kdop_directions(default_k(len(graph.rows)) if k is None else k, len(graph.rows))
        extremes = np.repeat(graph.starts[:-1, None], 2 * len(directions), axis=1)
        progress = subrange(progress, 0.5, 1.0)
    matrices, offsets = _as_motion(graph, rotations, translations)
    if method == "recompute":
        return HullKDops(_recompute(graph, matrices, offsets, directions, progress), graph, read_only(extremes))
    low, high = np.empty((2, len(directions), len(matrices)))
    total = len(matrices)
    for chunk in chunks(total, _CLIMBERS // extremes.shape[1]):
        start = graph.starts[chunk.start]
        part_progress = subrange(progress, chunk.start / total, chunk.stop / total)
        low[:, chunk], high[:, chunk], climbed = _climb(
            graph.part(chunk.start, chunk.stop),
            matrices[chunk],
            offsets[chunk],
            directions,
            extremes[chunk] - start,
            part_progress,
            None if steps is None else (steps, chunk.start * extremes.shape[1], int(start)),
        )
        extremes[chunk] = climbed + start
    report_progress(progress, 1.0)
    return HullKDops(KDops(directions, low.T, high.T), graph, read_only(extremes))


def _hull_graph(shapes: Iterable[Polytope], progress: Progress | None) -> _HullGraph:
    """Return the vertices of shapes and their neighbours; no shapes: of dimension 3."""
    if not isinstance(shapes, Iterable):
        raise ValueError(f"hulls must be shapes such as ConvexHull or Box, not {type(shapes).__name__}")
    shapes = list(shapes)
    vertices, edges, total = [], [np.empty((0, 2), dtype=np.intp)], 0
    for i, shape in enumerate(tracked(shapes, progress)):
        as_polytope(f"hulls[{i}]", shape)
        if shape.dim != shapes[0].dim:
            raise ValueError("hulls: all must have the same dimension, but there are some of 2 and some of 3")
        vertices.append(shape.vertices)
        edges.append(shape.edges + total)
        total += len(shape.vertices)
    ends = np.concatenate(edges)
    ends = np.concatenate([ends, ends[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    graph = _HullGraph(
        read_only(np.ascontiguousarray(np.concatenate(vertices or [np.empty((0, 3))]).T)),
        read_only(np.cumsum([0, *map(len, vertices)], dtype=np.intp)),
        read_only(np.ascontiguousarray(ends[:, 1])),
        read_only(np.cumsum([0, *np.bincount(ends[:, 0], minlength=total)], dtype=np.intp)),
        read_only(np.array([shape.magnitude for shape in shapes], dtype=np.float64)),
    )
    report_progress(progress, 1.0)
    return graph


def _as_motion(graph: _HullGraph, rotations: ArrayLike, translations: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return matrices (b, dim, dim) and vectors (b, dim) under which no sum of coordinates overflows."""
    b, dim = len(graph.magnitudes), len(graph.rows)
    motion = []
    for name, value, shape in (("rotations", rotations, (b, dim, dim)), ("translations", translations, (b, dim))):
        array = as_array(name, value, f"an array {shape}")
        if array.shape != shape:
            raise ValueError(f"{name}: an array {shape} expected, got the shape {array.shape}")
        motion.append(array)
    largest, farthest = np.abs(motion[0]).max(axis=(1, 2), initial=0.0), np.abs(motion[1]).max(axis=1, initial=0.0)
    with np.errstate(over="ignore"):
        turned = dim * np.maximum(graph.magnitudes, 1.0) * largest
        wrong = np.flatnonzero(~(turned + farthest <= 4.0 * LARGEST_COORDINATE))
    if len(wrong):
        i = int(wrong[0])
        name = "rotations" if turned[i] > farthest[i] else "translations"
        raise ValueError(f"{name}: hull {i} would be moved too far from the origin, its coordinates would be infinite")
    return motion[0], motion[1]


def _transformed(rows: FloatArray, matrices: FloatArray, offsets: FloatArray) -> FloatArray:
    """Return points (dim, n) under matrices (dim, dim, n) and offsets (dim, n), or (..., 1) for the same motion of all.

    The operations and their order are always the same: the same point gives the same bits, alone or among others.
    """
    result = np.empty_like(rows)
    for i, row in enumerate(result):
        np.multiply(matrices[i, 0], rows[0], out=row)
        for j in range(1, len(rows)):
            row += matrices[i, j] * rows[j]
        row += offsets[i]
    return result


def _recompute(
    graph: _HullGraph, matrices: FloatArray, offsets: FloatArray, directions: FloatArray, progress: Progress | None
) -> KDops:
    """Return the k-DOPs of the moved hulls from all their vertices."""
    counts = np.diff(graph.starts)

    def moved(hulls: slice, vertices: slice) -> FloatArray:
        matrix, offset = np.moveaxis(matrices[hulls], 0, -1), offsets[hulls].T
        if matrix.shape[-1] > 1:
            matrix, offset = np.repeat(matrix, counts[hulls], axis=-1), np.repeat(offset, counts[hulls], axis=-1)
        return _transformed(graph.rows[:, vertices], matrix, offset).T

    return measured_kdops(moved, graph.starts[:-1], graph.rows.shape[1], directions, progress)


def _climb(
    graph: _HullGraph,
    matrices: FloatArray,
    offsets: FloatArray,
    directions: FloatArray,
    extremes: IntArray,
    progress: Progress | None,
    record: tuple[list[ClimbStep], int, int] | None,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Climb from the vertices `extremes` (b, k); return the bounds (h, b), low and high, and the extremes reached.

    Climber k i + j is on hull i and climbs along direction j, down for the first half of them. It keeps all vertices
    within its slack of the highest. record: the list of the steps, and the first climber and vertex.
    """
    b, k = extremes.shape
    dim, total = graph.rows.shape
    magnitude = dim * graph.magnitudes * np.abs(matrices).max(axis=(1, 2)) + np.abs(offsets).max(axis=1)
    slack = np.repeat(_KDOP_CLIMB * EPS * magnitude, k)
    # The directions in the frames of the hulls, matrix.T @ direction: exact enough for the climb.
    signed = np.concatenate([-directions, directions]).T
    local = np.matmul(matrices.transpose(0, 2, 1), signed).transpose(1, 0, 2).reshape(dim, b * k)
    local = np.ascontiguousarray(local)
    climber, vertex = np.arange(b * k, dtype=np.intp), extremes.ravel()
    origin = vertex
    best, visited = np.full(b * k, -np.inf), np.zeros(k * total, dtype=np.bool_)
    kept = []
    for step in range(_STEPS + 1):
        height = graph.rows[0].take(vertex) * local[0].take(climber)
        for row, along in zip(graph.rows[1:], local[1:], strict=True):
            height += row.take(vertex) * along.take(climber)
        begins = np.flatnonzero(np.diff(climber, prepend=-1))
        higher = climber[begins]
        best[higher] = np.maximum(best[higher], np.maximum.reduceat(height, begins))
        near = np.flatnonzero(height >= (best - slack).take(climber))
        new = near[~visited[climber[near] % k * total + vertex[near]]]
        if step:  # a vertex may have been reached from two sides
            new = new[np.unique(climber[new] * total + vertex[new], return_index=True)[1]]
        if record is not None:
            is_higher = np.zeros(len(vertex), dtype=np.bool_)
            is_higher[new] = True
            steps, first, start = record
            steps.append(ClimbStep(climber + first, origin + start, vertex + start, is_higher))
        climber, vertex = climber[new], vertex[new]
        visited[climber % k * total + vertex] = True
        kept.append((climber, vertex, height[new]))
        degrees = graph.first[vertex + 1] - graph.first[vertex]
        climber, origin = np.repeat(climber, degrees), vertex if record is None else np.repeat(vertex, degrees)
        vertex = graph.neighbours.take(ranges(graph.first[vertex], degrees))
        if not len(climber):
            break
        report_progress(progress, 0.5 * step, _STEPS)
    unfinished = np.unique(climber // k)

    climber, vertex, height = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    near = np.flatnonzero(height >= (best - slack)[climber])
    near = near[np.argsort(climber[near], kind="stable")]
    climber, vertex = climber[near], vertex[near]
    hull = climber // k if b > 1 else slice(None)
    place = _transformed(graph.rows[:, vertex], np.moveaxis(matrices, 0, -1)[:, :, hull], offsets.T[:, hull])
    # The same operations as in `slab`, for the same results to the last bit.
    direction = signed[:, climber % k]
    terms, used = direction * place, direction != 0.0
    height, width, inexact = terms[0], np.zeros(len(climber)), np.zeros(len(climber), dtype=np.bool_)
    for j in range(1, dim):
        longer = height + terms[j]
        inexact |= (longer - height != terms[j]) | (longer - terms[j] != height)
        width += np.abs(longer) * (used[j] & used[:j].any(axis=0))
        height = longer
    height += width * (KDOP_SUM * EPS) * inexact
    begins = np.flatnonzero(np.diff(climber, prepend=-1))
    top = np.maximum.reduceat(height, begins)
    hits = np.flatnonzero(height == np.repeat(top, np.diff(begins, append=len(climber))))
    reached = vertex[hits[np.searchsorted(hits, begins)]].reshape(b, k)
    low, high = -top.reshape(b, k).T[: k // 2], top.reshape(b, k).T[k // 2 :]
    for i in unfinished.tolist():
        hull_graph = graph.part(i, i + 1)
        exact = _recompute(hull_graph, matrices[i : i + 1], offsets[i : i + 1], directions, None)
        low[:, i], high[:, i] = exact.low[0], exact.high[0]
        reached[i] = graph.starts[i] + (local[:, i * k : (i + 1) * k].T @ hull_graph.rows).argmax(axis=1)
    return low, high, reached
