# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh against mesh: which triangles meet, where, and how.

1. Candidates are the pairs of triangles whose boxes overlap.
2. Most have one on one side of the other's plane for sure: they are left out.
3. The others are tested by whether they are in different planes, in one, or without area. What decides are signs of
   volumes of four corners, each of them exact. So is the answer, which features of the meshes it is on included,
   whatever the input.

Source: P. Guigue, O. Devillers, Fast and robust triangle-triangle overlap test using orientation predicates, 2003.
"""

from __future__ import annotations

import numpy as np

from ..progress import Progress, report_progress, subrange
from ..runs import chunks
from ..types import FloatArray, IntArray
from .common_corners import beyond_corners, without_neighbours
from .coordinates import scale_exponent, scale_points
from .coplanar_triangles import coplanar_meetings
from .crossings import Crossings, Found
from .degenerate_triangles import degenerate_meetings
from .mesh import Mesh
from .surface import validate_mesh
from .triangle_candidates import own_candidates, triangle_candidates
from .triangle_lines import line_meetings
from .triangle_rows import TriangleTable, both_sides, find_unparted

_BATCH = 4096
"""Pairs tested in one go."""
_SIEVED = 1 << 14
"""Pairs sieved in one go."""


def crossing_triangles(a: Mesh, b: Mesh, progress: Progress | None = None) -> Crossings:
    """Return which triangles of two meshes meet, and where. Touching counts. The decisions are exact.

    Trees are used where both meshes have them already (`Mesh.tree`), and not built for this: without them it is faster
    to look at what the meshes have in common only. `progress` is called with the fraction done, 0 to 1; False cancels.

    Raise ValueError, naming the argument, when one is not a Mesh; Cancelled when `progress` returns False.

    >>> a = Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> b = Mesh([[1, 1, -1], [1, 1, 1], [1, 3, 1]], [[0, 1, 2]])
    >>> crossings = crossing_triangles(a, b)
    >>> print(crossings.pairs.tolist(), (crossings.segments + 0.0).tolist())
    [[0, 0]] [[[1.0, 2.0, 0.0], [1.0, 1.0, 0.0]]]
    """
    validate_mesh("a", a)
    validate_mesh("b", b)
    report_progress(progress, 0.0)
    return _meetings(a, b, triangle_candidates(a, b, subrange(progress, 0.0, 0.5)), subrange(progress, 0.5, 1.0))


def self_crossings(mesh: Mesh, progress: Progress | None = None) -> Crossings:
    """Return which triangles of one mesh meet, and where, as `crossing_triangles` does: triangle i of A, j > i of B.

    Neighbours always meet: triangles that name two common vertices are left out, and those that name one unless they
    have more than it in common. See `Mesh.welded` for doubled vertices.
    Of triangles in one place, wound alike, the first one stands for all.

    Raise ValueError when it is not a Mesh; Cancelled when `progress` returns False.

    >>> corners = [[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, -1], [1, 1, 1], [1, 3, 1]]
    >>> print(self_crossings(Mesh(corners, [[0, 1, 2], [3, 4, 5]])).pairs.tolist())
    [[0, 1]]
    """
    validate_mesh("mesh", mesh)
    report_progress(progress, 0.0)
    own = mesh.without_copies
    pairs = own_candidates(own, subrange(progress, 0.0, 0.5))
    candidates = pairs.take(without_neighbours(own, pairs), axis=1)
    found = beyond_corners(own, _meetings(own, own, candidates, subrange(progress, 0.5, 1.0)))
    return found if own is mesh else found.renumbered(mesh.given, mesh.given)


def meetings(a: Mesh, b: Mesh, pairs: IntArray) -> IntArray:
    """Return which of some pairs (2, p) of a triangle of A and one of B, whose boxes overlap, meet: indices, ascending
    but for chunks."""
    return _found(a, b, pairs, None)[0].chosen


def _meetings(a: Mesh, b: Mesh, pairs: IntArray, progress: Progress | None) -> Crossings:
    """Return the crossings among candidates (2, p)."""
    found, exponent = _found(a, b, pairs, progress)
    report_progress(progress, 1.0)
    return Crossings(
        np.ascontiguousarray(pairs.take(found.chosen, axis=1).T),
        found.kinds,
        np.ascontiguousarray(scale_points(found.ends, -exponent).transpose(2, 0, 1)),
        np.ascontiguousarray(found.features.transpose(2, 0, 1)),
    )


def _found(a: Mesh, b: Mesh, pairs: IntArray, progress: Progress | None) -> tuple[Found, int]:
    """Test candidates (2, p), many at a time; return which meet, and the power of two that lengths are multiplied
    with."""
    reach = max(float(np.abs(side).max()) for mesh in (a, b) for side in mesh.reach)
    exponent = scale_exponent(reach)
    if not pairs.size:
        return Found.none(), exponent
    named, columns, count = [], [], 0
    for mesh, row in zip((a, b), pairs, strict=True):
        mask = np.zeros(len(mesh.triangles), dtype=np.bool_)
        mask[row] = True
        used = np.flatnonzero(mask)
        named.append((scale_points(mesh.points, exponent), mesh.triangles.take(used, axis=0)))
        columns.append((np.cumsum(mask) + (count - 1)).take(row))
        count += len(used)
    table = TriangleTable.of(named, float(np.ldexp(reach, exponent)))
    return _found_among(table, np.array(columns), progress), exponent


def _found_among(table: TriangleTable, columns: IntArray, progress: Progress | None) -> Found:
    """Test pairs (2, p) of triangles of a table, many at a time."""
    sieved = chunks(columns.shape[1], _SIEVED, subrange(progress, 0.0, 0.5))
    unparted = np.concatenate([find_unparted(table, *columns[:, part]) + part.start for part in sieved])
    parts = []
    for part in chunks(len(unparted), _BATCH, subrange(progress, 0.5, 1.0)):
        chosen = unparted[part]
        parts.append(_test(table.triangles.rows.take(columns.take(chosen, axis=1), axis=1)).of(chosen))
    return Found.concatenate(parts)


def _test(rows: FloatArray) -> Found:
    """Return which pairs of triangles with rows[:, 0, k] and rows[:, 1, k] (15, 2, n), whose boxes overlap, meet."""
    a, b = both_sides(rows)
    degenerate = a.triangles.flat | b.triangles.flat
    in_plane = ~a.signs.any(axis=0) & ~degenerate
    apart = a.is_beyond & ~b.triangles.flat | b.is_beyond & ~a.triangles.flat
    parts = []
    for mask, test in (
        (~(apart | degenerate | in_plane), line_meetings),
        (in_plane, coplanar_meetings),
        (degenerate & ~apart, degenerate_meetings),
    ):
        indices = np.flatnonzero(mask)
        if len(indices):
            parts.append(test(a.take(indices), b.take(indices)).of(indices))
    return Found.concatenate(parts)
