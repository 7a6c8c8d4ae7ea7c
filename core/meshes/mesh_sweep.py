# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh that is moved along a straight line: the first triangle of another mesh that it runs into, and on which side.

The translations by which two triangles have a point in common are a convex polytope, their Minkowski difference. A line
enters it across one of a few axes: the normals of the two triangles, those across an edge of each, and those across an
edge in the plane of its triangle. Source: D. Eberly, Intersection of convex objects: the method of separating axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from ..hierarchy.tree_pairs import find_pairs
from ..progress import Progress, report_progress
from ..tolerance import EPS, MESH_APART
from ..types import FloatArray, IntArray
from .mesh import Mesh
from .triangle_axes import across_edges, edges_of, in_planes, normals, range_along

_FIRST = 2.0  # times the mean side of a triangle: length of the first step
_PAIRS = 1 << 13  # pairs of triangles looked at together
_TOGETHER = 1 << 11  # pairs of a triangle pair and an axis tested at once
_NEAREST = 512  # pairs of triangles looked at first: what they find spares most others


class Impact(NamedTuple):
    """Where a moving mesh B is stopped by a mesh A that stands still."""

    fraction: float
    """Of the path, 0 to 1."""
    normal: FloatArray
    """(3,) unit vector from A to B, against the path."""
    offset: float
    """Translations t of B with `normal @ t >= offset` part the two triangles."""


def first_impact(
    a: Mesh,
    b: Mesh,
    start: FloatArray,
    path: FloatArray,
    progress: Progress | None = None,
    pairs: IntArray | None = None,
) -> Impact | None:
    """Return where B, moved by `start` (3,) before, is stopped by A on its path to `start + path`; None when it is not.

    Surfaces that touch at the start stop it unless it leaves them; those that cross there may be passed. Right to a few
    rounding errors of the coordinates, over the sine between the path and what it meets.

    pairs: (k, 2) the triangles of A and B that may meet on the path, such as `near_pairs`; None: they are looked for.

    Raise Cancelled when `progress` returns False.
    """
    if not path.any():
        return None
    if pairs is not None:
        return _first_of(a, b, pairs, start, path, 1.0)
    begin, step = 0.0, _first_step(a, b, path)
    while begin < 1.0:
        report_progress(progress, begin)
        end = min(1.0, begin + step)
        found = _first_of(a, b, _swept_pairs(a, b, start, path, begin, end), start, path, end)
        if found is not None:
            return found
        begin, step = end, 2.0 * step
    return None


def near_pairs(a: Mesh, b: Mesh, translation: FloatArray, reach: float) -> IntArray:
    """Return the pairs (k, 2) of triangles of A and B that may meet when B is moved by a translation (3,), or by any
    that differs from it by no more than `reach` along each axis."""
    return _swept_pairs(a, b, translation - reach, np.full(3, 2.0 * reach), 0.0, 1.0)


def gaps_between(a: Mesh, b: Mesh, start: FloatArray, path: FloatArray, least: float) -> FloatArray:
    """Return the fractions (k,) of a path (3,), 0 to 1 and ascending, from which on B, moved by `start` (3,) and as far
    along the path, meets no triangle of A.

    least: a fraction; what the surfaces leave free for less is no gap.
    """
    pairs = _swept_pairs(a, b, start, path, 0.0, 1.0)
    fractions, leaves = _intervals(a, b, pairs, start, path)
    order = np.argsort(fractions, kind="stable")
    # Where the next begins, and how far those before reach.
    nexts = np.append(fractions.take(order), 1.0)
    reach = np.maximum.accumulate(np.append(0.0, leaves.take(order)))
    return reach[(np.minimum(nexts, 1.0) - reach > least) & (reach < 1.0)]


def _first_step(a: Mesh, b: Mesh, path: FloatArray) -> float:
    return min(1.0, max(_FIRST * max(grain(a), grain(b)) / hypot(*path.tolist()), 2.0**-20))


def grain(mesh: Mesh) -> float:
    """Return about the mean length of the sides of the triangles, the same in every pose."""
    return sqrt(2.0 * (mesh.local_area / len(mesh.triangles))) * mesh.unit


def _swept_pairs(a: Mesh, b: Mesh, start: FloatArray, path: FloatArray, begin: float, end: float) -> IntArray:
    """Return the pairs of triangles whose boxes overlap somewhere between two fractions of the path, and some more."""
    ends = start + begin * path, start + end * path
    room = MESH_APART * EPS * (max(a.magnitude, b.magnitude) + float(np.abs(ends).max()))
    return find_pairs(a.tree, b.tree, 0.0, None, moved=(np.minimum(*ends) - room, np.maximum(*ends) + room)).pairs


def _corners(a: Mesh, b: Mesh, pairs: IntArray) -> Iterator[list[FloatArray]]:
    """Yield the corners (corner, axis, k) of the triangles of A and B of some pairs at a time."""
    for first in range(0, len(pairs), _PAIRS):
        chunk = pairs[first : first + _PAIRS]
        yield [mesh.corner_rows(chunk[:, k]) for k, mesh in enumerate((a, b))]


def _first_of(a: Mesh, b: Mesh, pairs: IntArray, start: FloatArray, path: FloatArray, end: float) -> Impact | None:
    """Return the first impact of pairs of triangles before the fraction `end`."""
    boxes, leave = _boxes_meet(a, b, pairs, start, path)
    indices = np.flatnonzero((boxes <= end) & (boxes <= leave) & (leave >= 0.0))
    boxes, pairs = boxes.take(indices), pairs.take(indices, axis=0)
    if len(pairs) > 2 * _NEAREST:
        # What begins to meet after the first impact of a few is not the first: its boxes meet before its triangles.
        near = _first_of_all(a, b, pairs.take(np.argpartition(boxes, _NEAREST)[:_NEAREST], axis=0), start, path, end)
        if near is not None:
            pairs = pairs.take(np.flatnonzero(boxes <= near.fraction), axis=0)
    return _first_of_all(a, b, pairs, start, path, end)


def _first_of_all(a: Mesh, b: Mesh, pairs: IntArray, start: FloatArray, path: FloatArray, end: float) -> Impact | None:
    """Return the first impact of pairs of triangles before the fraction `end`, the first pair where several are."""
    best: Impact | None = None
    for p, q in _corners(a, b, pairs):
        met = _meetings(p, q + start[:, None], path, end)
        # In each other at the start, by more than rounding: nothing stops what is not outside.
        ahead = np.flatnonzero((met.leave > 0.0) & (-met.enter <= met.leave * 2.0**-20))
        if not len(ahead):
            continue
        k = int(ahead[met.enter.take(ahead).argmin()])
        fraction = float(met.enter[k])
        if best is None or fraction < best.fraction:
            length = hypot(*met.axis[:, k].tolist())
            n = met.axis[:, k] / length
            best = Impact(max(0.0, fraction), n, float(n @ start) + float(met.gap[k]) / length)
            end = fraction
    return best


def _boxes_meet(
    a: Mesh, b: Mesh, pairs: IntArray, start: FloatArray, path: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the fractions (k,) of the path between which the boxes of pairs of triangles meet, and a little more; in
    this order if they do. No triangles meet before or after their boxes do."""
    (low_a, high_a), (low_b, high_b) = (
        (row.min(axis=0), row.max(axis=0)) for row in (a.corner_rows(pairs[:, 0]), b.corner_rows(pairs[:, 1]))
    )
    room = MESH_APART * EPS * (max(a.magnitude, b.magnitude) + float(np.abs(start).max() + np.abs(path).max()))
    enter, leave = np.full(len(pairs), -np.inf), np.full(len(pairs), np.inf)
    for axis, (begin, speed) in enumerate(zip(start.tolist(), path.tolist(), strict=True)):
        before = low_a[axis] - high_b[axis]
        after = high_a[axis] - low_b[axis]
        before -= begin + room
        after -= begin - room
        if abs(speed) * 1e9 <= room:  # no fraction of the path leads out
            enter[(before > room) | (after < -room)] = np.inf
            continue
        before /= speed
        after /= speed
        np.maximum(enter, before if speed > 0.0 else after, out=enter)
        np.minimum(leave, after if speed > 0.0 else before, out=leave)
    return enter, leave


def _intervals(a: Mesh, b: Mesh, pairs: IntArray, start: FloatArray, path: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the fractions between which pairs of triangles meet, of those that do between 0 and 1."""
    boxes, leave = _boxes_meet(a, b, pairs, start, path)
    pairs = pairs.take(np.flatnonzero((boxes <= leave) & (boxes <= 1.0) & (leave >= 0.0)), axis=0)
    parts = [np.empty((2, 0))]
    for p, q in _corners(a, b, pairs):
        met = _meetings(p, q + start[:, None], path, 1.0)
        parts.append(np.stack([met.enter, met.leave]))
    fractions, leaves = np.concatenate(parts, axis=1)
    return fractions, leaves


class _Meetings(NamedTuple):
    """When moving triangles meet; a column each."""

    enter: FloatArray
    """(k,) fraction of the path from which on they meet; negative before its start."""
    leave: FloatArray
    """(k,) fraction from which on they meet no more."""
    axis: FloatArray
    """(3, k) along which the second is clear of the first until it enters; of any length."""
    gap: FloatArray
    """(k,) how far the second must be moved along the axis for that, times its length."""


def _meetings(a: FloatArray, b: FloatArray, path: FloatArray, end: float) -> _Meetings:
    """Return when triangles a and b (corner, axis, k) meet, b moving along `path`, of those that do between the
    fractions 0 and `end`, in their order."""
    middle = 0.5 * a[0] + 0.5 * b[0]
    a, b = a - middle, b - middle
    count = a.shape[2]
    met = _Meetings(np.full(count, -np.inf), np.full(count, np.inf), np.zeros((3, count)), np.zeros(count))
    edges_a, edges_b = edges_of(a), edges_of(b)
    # The two normals decide for most. Few are tested along several axes at once: that is fewer steps.
    for stage in (normals, in_planes, across_edges):
        axes = list(stage(edges_a, edges_b))
        together = max(1, _TOGETHER // max(1, count))
        for first in range(0, len(axes), together):
            _narrow(met, np.stack(axes[first : first + together], axis=1), a, b, path)
        left = np.flatnonzero((met.enter <= met.leave) & (met.enter <= end) & (met.leave >= 0.0))
        if len(left) < count:
            count = len(left)
            met = _Meetings(*(of.take(left, axis=-1) for of in met))
            a, b, edges_a, edges_b = (of.take(left, axis=2) for of in (a, b, edges_a, edges_b))
    return met


def _narrow(met: _Meetings, axes: FloatArray, a: FloatArray, b: FloatArray, path: FloatArray) -> None:
    """Narrow the fractions between which triangles a and b (corner, axis, k) meet by the shadows on axes (3, n, k)."""
    low_a, high_a = range_along(axes, a[:, :, None])
    low_b, high_b = range_along(axes, b[:, :, None])
    speed = path[0] * axes[0] + path[1] * axes[1] + path[2] * axes[2]
    ahead = speed > 0.0
    # B comes from below where it goes up, and leaves above.
    before = np.where(ahead, low_a - high_b, high_a - low_b)
    after = np.where(ahead, high_a - low_b, low_a - high_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        enter, leave = before / speed, after / speed
    still = np.nonzero(speed == 0.0)
    if len(still[0]):
        apart = (low_a > high_b) | (low_b > high_a)
        enter[still], leave[still] = np.where(apart[still], np.inf, -np.inf), np.inf
    np.minimum(met.leave, leave.min(axis=0), out=met.leave)
    last = enter.argmax(axis=0)
    better = np.flatnonzero(enter.max(axis=0) > met.enter)
    last = last.take(better)
    met.enter[better] = enter[last, better]
    turn = np.where(ahead[last, better], -1.0, 1.0)
    met.axis[:, better] = axes[:, last, better] * turn
    met.gap[better] = before[last, better] * turn
