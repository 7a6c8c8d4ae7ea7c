# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of many pairs of boxes: witness points and who is inside whom, from the axis that decides.

Where a face of one box decides, the witness points are in the common part of that face and the feature of the other
box that is farthest against it, a corner, edge or face; where two edges decide, they are where these pass each other.
Whatever does not come out right to the promised tolerance, is told to be left to the single call. Source: S0.4, S2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .batched_boxes import BoxAxes, OrientedBoxes
from .polytope import FloatArray, IntArray
from .tolerance import BATCH_FLAT, BATCH_MISS

BoolArray = NDArray[np.bool_]

_CHUNK = 2_048
"""Pairs answered in one go: what they take fits the second cache."""
_OTHERS = np.array([[1, 2], [2, 0], [0, 1]])
"""The axes along a face across axis k."""
_CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
"""Of a face, in half sizes, around."""


@dataclass(frozen=True, eq=False)
class BoxWitnesses:
    """Where many pairs of boxes touch or penetrate; one column a pair."""

    on_a: FloatArray
    """(3, n) witness points on A, world frame."""
    on_b: FloatArray
    """(3, n) witness points on B."""
    good: BoolArray
    """(n,) whether they realise the signed distance; where not, ask `contact`."""


def box_witnesses(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, found: BoxAxes, tolerance: FloatArray
) -> BoxWitnesses:
    """Return witness points of boxes i (n,) and j (n,) that intersect, for what `box_axes` found of them.

    `tolerance` (n,) is the promised one.
    """
    count = len(i)
    on_a, on_b = np.empty((2, 3, count))
    good = np.empty(count, dtype=bool)
    for start in range(0, count, _CHUNK):
        part = slice(start, start + _CHUNK)
        some = BoxAxes(found.signed_distance[part], found.normal[:, part], found.axis[part], found.rounding[part])
        on_a[:, part], on_b[:, part], good[part] = _witnesses(boxes, i[part], j[part], some, tolerance[part])
    return BoxWitnesses(on_a, on_b, good)


def _witnesses(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, found: BoxAxes, tolerance: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Do what `box_witnesses` does, for some pairs."""
    # P is the box whose face decides, Q the other; for edges P is A.
    by_b = (found.axis >= 3) & (found.axis < 6)
    sign = np.where(by_b, -1.0, 1.0)
    one, other = np.where(by_b, j, i), np.where(by_b, i, j)
    out = found.normal * sign  # from P to Q
    on_p, on_q = np.empty((2, 3, len(i)))
    edges = found.axis >= 6
    frames = boxes.frames[:15]
    for rows, solve in ((np.flatnonzero(~edges), _faces), (np.flatnonzero(edges), _edges)):
        if len(rows):
            on_p[:, rows], on_q[:, rows] = solve(
                frames.take(one.take(rows), axis=1),
                frames.take(other.take(rows), axis=1),
                out.take(rows, axis=1),
                found.axis.take(rows),
                found.signed_distance.take(rows),
                tolerance.take(rows),
            )
    miss = on_q - on_p
    miss -= found.signed_distance * out
    good = np.einsum("cn,cn->n", miss, miss) <= (BATCH_MISS * tolerance) ** 2
    return np.where(by_b, on_q, on_p), np.where(by_b, on_p, on_q), good


def _axes(frames: FloatArray) -> FloatArray:
    return frames[3:12].reshape(3, 3, -1)


def _axis(frames: FloatArray, k: IntArray) -> FloatArray:
    """Return (3, n) axis k (n,) of each box; by places in flat memory, which is several times as fast."""
    count = frames.shape[1]
    result, at = np.empty((3, count)), (3 + 3 * k) * count + np.arange(count)
    for row in result:
        frames.ravel().take(at, out=row, mode="clip")
        at += count
    return result


def _half(frames: FloatArray, k: IntArray) -> FloatArray:
    """Return (n,) the half size of each box along its axis k (n,)."""
    count = frames.shape[1]
    result: FloatArray = frames.ravel().take((12 + k) * count + np.arange(count))
    return result


def _faces(
    p: FloatArray, q: FloatArray, out: FloatArray, axis: NDArray[np.int8], gap: FloatArray, tolerance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return points of a face of P and of the feature of Q farthest against it."""
    face = axis.astype(np.intp) % 3
    one, two = _OTHERS[face].T
    axes_q = _axes(q)
    along = _axis(p, one), _axis(p, two)
    half_p = _half(p, one), _half(p, two)
    middle_p = p[:3] + out * _half(p, face)
    rise = np.einsum("kcn,cn->kn", axes_q, out)
    free = 2.0 * np.abs(rise) * q[12:15] <= BATCH_FLAT * tolerance
    shift = np.where(free, 0.0, -np.sign(rise) * q[12:15])
    middle_q = q[:3] + np.einsum("kn,kcn->cn", shift, axes_q)
    way = middle_q - middle_p
    u, v = (np.einsum("cn,cn->n", way, a) for a in along)
    on_q = middle_q
    frees = free.sum(axis=0)
    rows = np.flatnonzero(frees == 1)
    if len(rows):
        k = free[:, rows].argmax(axis=0)
        edge = axes_q[k, :, rows].T * q[12 + k, rows]  # (3, m)
        low, high = np.full((2, len(rows)), -1.0)
        high[:] = 1.0
        for start, a, half in ((u, along[0], half_p[0]), (v, along[1], half_p[1])):
            step = np.einsum("cn,cn->n", edge, a.take(rows, axis=1))
            flat = np.abs(step) <= BATCH_FLAT * tolerance[rows]
            step = np.where(flat, 1.0, step)
            first, last = (-half[rows] - start[rows]) / step, (half[rows] - start[rows]) / step
            low = np.where(flat, low, np.maximum(low, np.minimum(first, last)))
            high = np.where(flat, high, np.minimum(high, np.maximum(first, last)))
        share = np.clip(0.5 * (low + high), -1.0, 1.0)
        on_q[:, rows] += share * edge
        for start, a in ((u, along[0]), (v, along[1])):
            start[rows] += share * np.einsum("cn,cn->n", edge, a.take(rows, axis=1))
    rows = np.flatnonzero(frees >= 2)
    if len(rows):
        u[rows], v[rows] = _common(
            axes_q.take(rows, axis=2),
            q[12:15].take(rows, axis=1),
            free.take(rows, axis=1),
            (along[0].take(rows, axis=1), along[1].take(rows, axis=1)),
            np.array([half_p[0][rows], half_p[1][rows]]),
            np.array([u[rows], v[rows]]),
            tolerance[rows],
        )
    u, v = np.clip(u, -half_p[0], half_p[0]), np.clip(v, -half_p[1], half_p[1])
    on_p = middle_p + u * along[0] + v * along[1]
    if len(rows):
        on_q[:, rows] = (on_p + gap * out).take(rows, axis=1)
    return on_p, on_q


def _common(
    axes_q: FloatArray,
    half_q: FloatArray,
    free: BoolArray,
    along: tuple[FloatArray, FloatArray],
    half: FloatArray,
    middle: FloatArray,
    tolerance: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the middle (m,), (m,) of the corners of what two faces have in common.

    In the plane of the first, about its middle: half sizes `half` (2, m); the other one's middle is `middle` (2, m).
    """
    count = len(tolerance)
    columns = np.arange(count)
    one = free.argmax(axis=0)
    two = 2 - free[::-1].argmax(axis=0)
    sides = np.empty((2, 2, count))  # side, coordinate
    for s, k in enumerate((one, two)):
        side = axes_q[k, :, columns].T * half_q[k, columns]
        for c in range(2):
            sides[s, c] = np.einsum("cn,cn->n", side, along[c])
    corners_q = middle[None] + _CORNERS[:, 0, None, None] * sides[0] + _CORNERS[:, 1, None, None] * sides[1]
    corners_p = _CORNERS[:, :, None] * half[None]
    slack = tolerance
    total, number = np.zeros((2, count)), np.zeros(count)

    def take(points: FloatArray, inside: BoolArray) -> None:
        nonlocal total, number
        total += np.where(inside[:, None], points, 0.0).sum(axis=0)
        number += inside.sum(axis=0)

    take(corners_q, (np.abs(corners_q) <= half + slack).all(axis=1))
    turn = sides[0, 0] * sides[1, 1] - sides[0, 1] * sides[1, 0]
    turn = np.where(turn == 0.0, 1.0, turn)
    local = corners_p - middle
    s = (local[:, 0] * sides[1, 1] - local[:, 1] * sides[1, 0]) / turn
    t = (local[:, 1] * sides[0, 0] - local[:, 0] * sides[0, 1]) / turn
    take(corners_p, (np.abs(s) <= 1.0) & (np.abs(t) <= 1.0))
    ends = np.roll(corners_q, -1, axis=0)
    for c in range(2):
        for place in (-half[c], half[c]):
            step = ends[:, c] - corners_q[:, c]
            share = (place - corners_q[:, c]) / np.where(step == 0.0, 1.0, step)
            points = corners_q + share[:, None] * (ends - corners_q)
            inside = (share > 0.0) & (share < 1.0) & (step != 0.0)
            take(points, inside & (np.abs(points[:, 1 - c]) <= half[1 - c]))
    mean: FloatArray = np.where(number > 0, total / np.maximum(number, 1.0), middle)
    return mean[0], mean[1]


def _edges(
    p: FloatArray, q: FloatArray, out: FloatArray, axis: NDArray[np.int8], gap: FloatArray, tolerance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the points where an edge of P and one of Q pass each other."""
    columns = np.arange(len(axis))
    which = axis.astype(np.intp) - 6
    k, m = which // 3, which % 3
    axes_p, axes_q = _axes(p), _axes(q)
    ways, middles, halves = [], [], []
    for frames, axes, own, sign in ((p, axes_p, k, 1.0), (q, axes_q, m, -1.0)):
        shift = sign * np.sign(np.einsum("kcn,cn->kn", axes, out)) * frames[12:15]
        shift[own, columns] = 0.0
        middles.append(frames[:3] + np.einsum("kn,kcn->cn", shift, axes))
        ways.append(_axis(frames, own))
        halves.append(_half(frames, own))
    way = middles[1] - middles[0] - gap * out
    cosine = np.einsum("cn,cn->n", *ways)
    d, e = (np.einsum("cn,cn->n", way, w) for w in ways)
    square = 1.0 - cosine * cosine
    square = np.where(square > 0.0, square, 1.0)
    s, t = (d - cosine * e) / square, (cosine * d - e) / square
    s, t = np.clip(s, -halves[0], halves[0]), np.clip(t, -halves[1], halves[1])
    return middles[0] + s * ways[0], middles[1] + t * ways[1]


def boxes_inside(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, low: FloatArray, high: FloatArray, slack: FloatArray
) -> tuple[BoolArray, BoolArray]:
    """Return (n,) whether boxes i (n,) are inside boxes j (n,) and (n,) the other way round.

    No part may stick out by more than `slack` (n,): of the faces, and of the bounding boxes `low`, `high` (3, boxes).
    """
    answers = []
    a, b = boxes.frames.take(i, axis=1), boxes.frames.take(j, axis=1)
    way = b[:3] - a[:3]
    cosines = np.abs(np.einsum("icn,jcn->ijn", _axes(a), _axes(b)))
    for inner, outer, across, ii, jj in ((a, b, cosines, i, j), (b, a, cosines.transpose(1, 0, 2), j, i)):
        reach = np.einsum("in,ijn->jn", inner[12:15], across)
        reach += np.abs(np.einsum("jcn,cn->jn", _axes(outer), way))
        inside = (reach <= outer[12:15] + slack).all(axis=0)
        inside &= (low.take(ii, axis=1) >= low.take(jj, axis=1) - slack).all(axis=0)
        inside &= (high.take(ii, axis=1) <= high.take(jj, axis=1) + slack).all(axis=0)
        answers.append(inside)
    return answers[0], answers[1]
