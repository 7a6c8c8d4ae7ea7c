# SPDX-License-Identifier: GPL-3.0-or-later
"""k-DOPs of hulls that move: recomputed from all vertices, or updated by hill climbing from the last extreme ones.

On a convex polytope every vertex but the farthest in a direction has a neighbour that is farther: who starts from the
vertex that was extreme before a small turn is there after a step or two, whatever the number of vertices. Both ways
give the same bounds to the last bit. Source: S3.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array
from ..progress import Progress, report_progress, subrange
from ..shapes.polytope import Polytope, as_polytope
from ..tolerance import EPS, KDOP_SUM, LARGEST_COORDINATE
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays, read_only
from .kdop import KDops, kdop_directions, slab

_KDOP_CLIMB = 64.0
"""Times EPS and the largest world coordinate: vertices this near to the best are climbed on from. A hull is convex, and
what is measured of it right, to a few EPS only."""

_POINTS = 16_384
"""Vertices moved in one go."""
_SHAPES = 1024
"""Shapes put together between two words about the progress."""
_CLIMBERS = 1 << 13
"""Climbers, one for each hull and direction, that climb together."""
_STEPS = 64
"""Most steps; whoever has not arrived then, such as on the rim of a large disc seen from above, is recomputed."""


@dataclass(frozen=True, eq=False)
class HullGraph(ReadOnlyArrays):
    """The vertices of b hulls in their own frames, and which of them are neighbours. Made by `hull_graph`."""

    rows: FloatArray
    """(dim, N) coordinates of all vertices, hull after hull."""
    starts: IntArray
    """(b,) first vertex of each hull."""
    counts: IntArray
    """(b,) vertices of each hull."""
    neighbours: IntArray
    """(m,) the neighbours of all vertices, vertex after vertex."""
    first: IntArray
    """(N + 1,) the neighbours of vertex i are neighbours[first[i] : first[i + 1]]."""
    reach: FloatArray
    """(b,) largest absolute coordinate of each hull."""

    @property
    def dim(self) -> int:
        """Dimension: 2 or 3."""
        return len(self.rows)

    def __len__(self) -> int:
        """Return the number of hulls."""
        return len(self.starts)


@dataclass(frozen=True, eq=False)
class Extremes(ReadOnlyArrays):
    """Which vertices of moved hulls are extreme along the directions of a k-DOP; the next update starts from them."""

    k: int
    """Number of planes."""
    ids: IntArray
    """(b, k) vertices, by their number in the `HullGraph`: the lowest along each direction, then the highest."""


def hull_graph(shapes: Iterable[Polytope], *, progress: Progress | None = None) -> HullGraph:
    """Return the vertices of shapes, and who is whose neighbour along an edge; no shapes: of dimension 3.

    `progress` is called with the share done, 0 to 1; False cancels. Raises ValueError, naming the argument, when
    something is no shape or the shapes are not of one dimension; Cancelled when `progress` says so.
    """
    if not isinstance(shapes, Iterable):
        raise ValueError(f"shapes must be shapes such as ConvexHull or Box, not {type(shapes).__name__}")
    shapes = list(shapes)
    report_progress(progress, 0.0)
    for i, shape in enumerate(shapes):
        if i % _SHAPES == 0:
            report_progress(progress, 0.2 * i, len(shapes))
        as_polytope(f"shapes[{i}]", shape)
    dims = {shape.dim for shape in shapes} or {3}
    if len(dims) > 1:
        raise ValueError("shapes: all must have the same dimension, but there are some of 2 and some of 3")
    counts = np.array([len(shape.vertices) for shape in shapes], dtype=np.intp)
    starts: IntArray = np.cumsum(counts) - counts
    total = int(counts.sum())
    edges = []
    for begin in range(0, len(shapes), _SHAPES):
        report_progress(progress, 0.2 + 0.4 * begin / len(shapes))
        part = slice(begin, begin + _SHAPES)
        edges += [shape.edges + start for shape, start in zip(shapes[part], starts[part], strict=True)]
    report_progress(progress, 0.6)
    ends = np.concatenate([np.empty((0, 2), dtype=np.intp), *edges])
    ends = np.concatenate([ends, ends[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    report_progress(progress, 0.8)
    degrees = np.bincount(ends[:, 0], minlength=total)
    points = np.concatenate([np.empty((0, dims.pop())), *(shape.vertices for shape in shapes)])
    graph = HullGraph(
        read_only(np.ascontiguousarray(points.T)),
        read_only(starts),
        read_only(counts),
        read_only(np.ascontiguousarray(ends[:, 1])),
        read_only(np.concatenate([[0], np.cumsum(degrees)]).astype(np.intp)),
        read_only(np.array([shape.magnitude for shape in shapes], dtype=np.float64)),
    )
    report_progress(progress, 1.0)
    return graph


def moved_kdops(
    hulls: HullGraph, rotations: ArrayLike, translations: ArrayLike, k: int, *, progress: Progress | None = None
) -> KDops:
    """Return the k-DOPs of b hulls, recomputed from all of their vertices x moved to `rotation @ x + translation`.

    rotations (b, dim, dim) may be any matrices, translations (b, dim) any vectors, world frame. k as for
    `kdop_directions`. `progress` is called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, for another shape, what is not finite, and what would move a hull, or a
    point at unit distance, beyond 4 LARGEST_COORDINATE; Cancelled when `progress` says so. Source: S3.5.
    """
    matrices, ways = _checked_motion(hulls, rotations, translations)
    return _recomputed(hulls, matrices, ways, kdop_directions(k, hulls.dim), None, progress)


def moved_extremes(
    hulls: HullGraph, rotations: ArrayLike, translations: ArrayLike, k: int, *, progress: Progress | None = None
) -> tuple[KDops, Extremes]:
    """Return what `moved_kdops` does, and the extreme vertices, for `climbed_kdops` to start from."""
    matrices, ways = _checked_motion(hulls, rotations, translations)
    directions = kdop_directions(k, hulls.dim)
    ids = np.empty((len(hulls), 2 * len(directions)), dtype=np.intp)
    kdops = _recomputed(hulls, matrices, ways, directions, ids, progress)
    return kdops, Extremes(2 * len(directions), read_only(ids))


def climbed_kdops(
    hulls: HullGraph,
    rotations: ArrayLike,
    translations: ArrayLike,
    extremes: Extremes,
    *,
    progress: Progress | None = None,
) -> tuple[KDops, Extremes]:
    """Return the k-DOPs of b moved hulls, and their extreme vertices, by hill climbing from those before.

    The same as `moved_extremes` returns, whatever the motion in between; of vertices that are equally extreme it may
    be another. Vertices that are extreme but for rounding are all looked at. Raises ValueError as `moved_kdops` does,
    and when the extremes are not those of such hulls; `progress`, and Cancelled, as there. Source: S3.5.
    """
    matrices, ways = _checked_motion(hulls, rotations, translations)
    if not isinstance(extremes, Extremes):
        raise ValueError(f"extremes must be what moved_extremes returns, not {type(extremes).__name__}")
    directions = kdop_directions(extremes.k, hulls.dim)
    if not isinstance(extremes.ids, np.ndarray) or (extremes.ids.dtype.kind not in "iu" and extremes.ids.size):
        raise ValueError("extremes: the numbers of vertices must be an array of whole numbers")
    if extremes.ids.shape != (len(hulls), extremes.k):
        raise ValueError(
            f"extremes: {extremes.k} vertices for each of {len(hulls)} hulls expected, got {extremes.ids.shape}"
        )
    away = extremes.ids - hulls.starts[:, None]
    if ((away < 0) | (away >= hulls.counts[:, None])).any():
        raise ValueError("extremes: not of these hulls; some are no vertices of them")
    low, high = np.empty((len(directions), len(hulls))), np.empty((len(directions), len(hulls)))
    ids = np.array(extremes.ids, dtype=np.intp)
    report_progress(progress, 0.0)
    if len(hulls) == 1:  # no need of slices, which would take longer than a small hull does
        _climb(hulls, matrices, ways, ids, low, high, progress)
    else:
        _climb_in_stretches(hulls, matrices, ways, ids, low, high, progress)
    report_progress(progress, 1.0)
    return KDops(directions, low, high), Extremes(extremes.k, read_only(ids))


def _checked_motion(hulls: HullGraph, rotations: ArrayLike, translations: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return matrices (b, dim, dim) and vectors (b, dim) that leave room for the sums of coordinates of moved hulls."""
    if not isinstance(hulls, HullGraph):
        raise ValueError(f"hulls must be what hull_graph returns, not {type(hulls).__name__}")
    b, dim = len(hulls), hulls.dim
    motion = []
    for name, value, shape in (("rotations", rotations, (b, dim, dim)), ("translations", translations, (b, dim))):
        array = as_array(name, value, f"an array {shape}")
        if array.shape != shape:
            raise ValueError(f"{name}: an array {shape} expected, got the shape {array.shape}")
        motion.append(array)
    largest, farthest = np.abs(motion[0]).max(axis=(1, 2), initial=0.0), np.abs(motion[1]).max(axis=1, initial=0.0)
    with np.errstate(over="ignore"):
        turned = dim * np.maximum(hulls.reach, 1.0) * largest
        wrong = np.flatnonzero(~(turned + farthest <= 4.0 * LARGEST_COORDINATE))
    if len(wrong):
        i = int(wrong[0])
        name = "rotations" if turned[i] > farthest[i] else "translations"
        raise ValueError(f"{name}: hull {i} would be moved too far from the origin, its coordinates would be infinite")
    return motion[0], motion[1]


def _moved(rows: FloatArray, matrices: FloatArray, ways: FloatArray) -> FloatArray:
    """Return points (dim, n) moved by matrices (dim, dim, n) and ways (dim, n), or by (..., 1) all in the same way.

    The operations and their order are always the same: the same point gives the same bits, alone or among others.
    """
    result = np.empty_like(rows)
    for i, row in enumerate(result):
        np.multiply(matrices[i, 0], rows[0], out=row)
        for j in range(1, len(rows)):
            row += matrices[i, j] * rows[j]
        row += ways[i]
    return result


def _recomputed(
    hulls: HullGraph,
    matrices: FloatArray,
    ways: FloatArray,
    directions: FloatArray,
    ids: IntArray | None,
    progress: Progress | None,
) -> KDops:
    """Return the k-DOPs of the moved hulls; put the extreme vertices (b, k) into `ids`."""
    h, b = len(directions), len(hulls)
    low, high = np.empty((h, b)), np.empty((h, b))
    whole = directions.astype(int).tolist()
    ends = hulls.starts + hulls.counts
    begin = 0
    report_progress(progress, 0.0)
    while begin < b:
        start = int(hulls.starts[begin])
        end = max(begin + 1, int(np.searchsorted(ends, start + _POINTS, side="right")))
        told = subrange(progress, start / int(ends[-1]), int(ends[end - 1]) / int(ends[-1]))
        first, counts = hulls.starts[begin:end] - start, hulls.counts[begin:end]
        turn, way = np.moveaxis(matrices[begin:end], 0, -1), ways[begin:end].T
        if end - begin > 1:
            turn, way = np.repeat(turn, counts, axis=-1), np.repeat(way, counts, axis=-1)
        rows = _moved(hulls.rows[:, start : int(ends[end - 1])], turn, way)
        for j, direction in enumerate(whole):
            least, most = slab(direction, rows)
            np.minimum.reduceat(least, first, out=low[j, begin:end])
            np.maximum.reduceat(most, first, out=high[j, begin:end])
            if ids is not None:
                for column, values, best in ((j, least, low), (h + j, most, high)):
                    hits = np.flatnonzero(values == np.repeat(best[j, begin:end], counts))
                    ids[begin:end, column] = start + hits[np.searchsorted(hits, first)]
            report_progress(told, j + 1, h)
        begin = end
    report_progress(progress, 1.0)
    return KDops(directions, low, high)


def _stretch(hulls: HullGraph, begin: int, end: int) -> tuple[HullGraph, int]:
    """Return hulls from number `begin` up to `end`, and the number that their first vertex had."""
    start, stop = int(hulls.starts[begin]), int(hulls.starts[end - 1] + hulls.counts[end - 1])
    first = hulls.first[start : stop + 1]
    part = HullGraph(
        np.ascontiguousarray(hulls.rows[:, start:stop]),
        hulls.starts[begin:end] - start,
        hulls.counts[begin:end],
        hulls.neighbours[first[0] : first[-1]] - start,
        first - first[0],
        hulls.reach[begin:end],
    )
    return part, start


def _part(hulls: HullGraph, chosen: IntArray) -> tuple[HullGraph, IntArray]:
    """Return the vertices of some hulls, without neighbours, and what number each had."""
    counts = hulls.counts[chosen]
    starts = np.cumsum(counts) - counts
    vertices = np.arange(int(counts.sum())) + np.repeat(hulls.starts[chosen] - starts, counts)
    nothing = np.empty(0, dtype=np.intp)
    return HullGraph(hulls.rows[:, vertices], starts, counts, nothing, nothing, hulls.reach[chosen]), vertices


@cache
def _climbing_directions(k: int, dim: int) -> tuple[FloatArray, BoolArray]:
    """Return the directions (3, k) in which the climbers of a hull go, and at which terms (3, k) a sum is made."""
    directions = kdop_directions(k, dim)
    rows = np.zeros((3, k))
    rows[:dim] = np.concatenate([-directions, directions]).T
    used = rows != 0.0
    sums = np.stack([np.zeros(k, dtype=np.bool_), used[0] & used[1], (used[0] | used[1]) & used[2]])
    return read_only(rows), sums


def _climb_in_stretches(
    hulls: HullGraph,
    matrices: FloatArray,
    ways: FloatArray,
    ids: IntArray,
    low: FloatArray,
    high: FloatArray,
    progress: Progress | None,
) -> None:
    """Climb as `_climb` does, on a limited number of hulls at a time."""
    b, k = ids.shape
    step = _CLIMBERS // k
    for begin in range(0, b, step):
        end = min(begin + step, b)
        part, told = slice(begin, end), subrange(progress, begin / b, end / b)
        stretch, first = _stretch(hulls, begin, end)
        own = ids[part] - first
        _climb(stretch, matrices[part], ways[part], own, low[:, part], high[:, part], told)
        ids[part] = own + first


def _climb(
    hulls: HullGraph,
    matrices: FloatArray,
    ways: FloatArray,
    ids: IntArray,
    low: FloatArray,
    high: FloatArray,
    progress: Progress | None,
) -> None:
    """Climb from vertices `ids` (b, k); put the extreme ones there, and the bounds (h, b) into `low` and `high`."""
    b, k = ids.shape
    dim, h, total = hulls.dim, k // 2, hulls.rows.shape[1]
    directions, sums = _climbing_directions(k, dim)
    turn, way = np.moveaxis(matrices, 0, -1), np.ascontiguousarray(ways.T)
    if b > 1:
        turn = np.ascontiguousarray(turn)
    magnitude = dim * hulls.reach * np.abs(matrices).max(axis=(1, 2)) + np.abs(ways).max(axis=1)
    slack = np.repeat(_KDOP_CLIMB * EPS * magnitude, k)
    # The directions in the frames of the hulls: matrix.T @ direction. To climb, this is exact enough.
    goes = np.matmul(matrices.transpose(0, 2, 1), directions[:dim]).transpose(1, 0, 2).reshape(dim, b * k)
    tall = [np.ascontiguousarray(row) for row in goes]

    def heights(climber: IntArray, vertex: IntArray) -> FloatArray:
        result: FloatArray = hulls.rows[0].take(vertex) * tall[0].take(climber)
        for row, go in zip(hulls.rows[1:], tall[1:], strict=True):
            result += row.take(vertex) * go.take(climber)
        return result

    def places(climber: IntArray, vertex: IntArray) -> FloatArray:
        """Return where vertices are (dim, n)."""
        if b == 1:
            return _moved(hulls.rows[:, vertex], turn, way)
        hull = climber // k
        return _moved(hulls.rows[:, vertex], turn[:, :, hull], way[:, hull])

    # Climber k i + j is on hull i and goes in direction j. It keeps all vertices within its slack of the best.
    climber: IntArray = np.arange(b * k)
    vertex: IntArray = ids.ravel()
    height = heights(climber, vertex)
    best = height.copy()
    kept = [(climber, vertex, height)]
    visited = np.zeros(k * total, dtype=np.bool_)
    visited[climber % k * total + vertex] = True
    for step in range(_STEPS):
        report_progress(progress, 0.5 * step, _STEPS)
        degrees = hulls.first[vertex + 1] - hulls.first[vertex]
        ends = np.cumsum(degrees)
        if not len(ends) or not ends[-1]:
            vertex = vertex[:0]
            break
        climber = np.repeat(climber, degrees)
        jumps = hulls.first[vertex] - ends + degrees
        vertex = hulls.neighbours.take(np.arange(int(ends[-1])) + np.repeat(jumps, degrees))
        height = heights(climber, vertex)
        begins = np.flatnonzero(np.diff(climber, prepend=-1))
        at = climber[begins]
        best[at] = np.maximum(best[at], np.maximum.reduceat(height, begins))
        near = np.flatnonzero(height >= (best - slack).take(climber))
        keys = climber[near] % k * total + vertex[near]
        new = near[~visited[keys]]
        if len(new):  # some may have been reached from two sides
            order = np.unique(climber[new] * total + vertex[new], return_index=True)[1]
            new = new[order]
        climber, vertex, height = climber[new], vertex[new], height[new]
        if not len(new):
            break
        visited[climber % k * total + vertex] = True
        kept.append((climber, vertex, height))
    late = np.unique(climber // k) if len(vertex) else climber[:0]

    climber, vertex, height = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    near = np.flatnonzero(height >= (best - slack)[climber])
    near = near[np.argsort(climber[near], kind="stable")]
    climber, vertex = climber[near], vertex[near]
    place = places(climber, vertex)
    # From here on as in `slab`, and its results are the same to the last bit.
    direction, summed = directions[:, climber % k], sums[:, climber % k]
    height = direction[0] * place[0]
    width = np.zeros(len(climber))
    inexact = np.zeros(len(climber), dtype=np.bool_)
    for j in range(1, dim):
        term = direction[j] * place[j]
        longer = height + term
        inexact |= (longer - height != term) | (longer - term != height)
        width += np.abs(longer) * summed[j]
        height = longer
    height += width * (KDOP_SUM * EPS) * inexact
    begins = np.flatnonzero(np.diff(climber, prepend=-1))
    top = np.maximum.reduceat(height, begins)
    hits = np.flatnonzero(height == np.repeat(top, np.diff(begins, append=len(climber))))
    ids[:] = vertex[hits[np.searchsorted(hits, begins)]].reshape(b, k)
    tops = top.reshape(b, k)
    low[:], high[:] = -tops[:, :h].T, tops[:, h:].T
    if len(late):
        part, vertices = _part(hulls, late)
        local = np.empty((len(late), k), dtype=np.intp)
        again = _recomputed(
            part, matrices[late], ways[late], kdop_directions(k, dim), local, subrange(progress, 0.5, 1.0)
        )
        low[:, late], high[:, late], ids[late] = again.low, again.high, vertices[local]
