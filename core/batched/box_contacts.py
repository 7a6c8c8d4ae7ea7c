# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of many pairs of boxes: witness points and who is inside whom, from the axis that decides.

Where a face of one box decides, the witness points are in the common part of that face and the feature of the other
box that is farthest against it, a corner, edge or face; where two edges decide, they are where these pass each other.
Whatever does not come out right to the promised tolerance, is told to be left to the single call. Source: S0.4, S2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tolerance import BATCH_MISS
from ..types import BoolArray, FloatArray, IntArray
from .box_axes import AXIS_OF_A, AXIS_OF_B, BoxAxes, group_by_feature, inverse
from .boxes import OrientedBoxes
from .vectors import chunks

_FLAT = 0.1
"""Times the promised tolerance: how far a feature of a box may rise across the contact plane and lie in it."""
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
    for part in chunks(count):
        points, good[part] = _witnesses(boxes, i[part], j[part], found.take(part), tolerance[part])
        on_a[:, part], on_b[:, part] = points[:3], points[3:]
    return BoxWitnesses(on_a, on_b, good)


def _witnesses(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, found: BoxAxes, tolerance: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return (6, n) the points on A and on B, and whether they are good, of some pairs."""
    order, of_b, edges = group_by_feature(found.axis)
    answers = []
    for rows, solve in ((order[:edges], _faces), (order[edges:], _edges)):
        if len(rows):
            answers.append(solve(boxes, i.take(rows), j.take(rows), found.take(rows), tolerance.take(rows), of_b))
    place = inverse(order)
    points, good = (np.concatenate(parts, axis=-1).take(place, axis=-1) for parts in zip(*answers, strict=True))
    return points, good


def _axes(frames: FloatArray) -> FloatArray:
    return frames[3:12].reshape(3, 3, -1)


def _faces(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, found: BoxAxes, tolerance: FloatArray, of_b: int
) -> tuple[FloatArray, BoolArray]:
    """Return points of a face of one box and of the feature of the other farthest against it, and which are good.

    The face is of A of the first `of_b` pairs, of B of the others.
    """
    # P is the box whose face decides, Q the other; `out` is from P to Q.
    p, q = np.concatenate([i[:of_b], j[of_b:]]), np.concatenate([j[:of_b], i[of_b:]])
    out = found.normal.copy()
    np.negative(out[:, of_b:], out=out[:, of_b:])
    # In an order in which the axes along the face come after the one across it.
    halves, axes_p = np.empty((3, len(p))), np.empty((3, 3, len(p)))
    face = found.axis.astype(np.intp)
    face[of_b:] -= 3
    for k, side in enumerate(boxes.sides(face, p, 0, 1, 2)):
        halves[k], axes_p[k] = side[3], side[:3]
    axes_p[0] = out
    frames = boxes.frames[:15].take(q, axis=1, mode="clip")
    axes_q, half_q = _axes(frames), frames[12:15]
    shift = np.einsum("kcn,cn->kn", axes_q, out)
    rise = np.abs(shift)
    rise *= half_q
    free = rise <= 0.5 * _FLAT * tolerance
    np.copysign(half_q, shift, out=shift)
    flat = bool(free.any())
    if flat:
        np.copyto(shift, 0.0, where=free)
    # The middle of the feature of Q, and where it is from the middle of P: across the face and along it.
    on_q = frames[:3] - np.einsum("kn,kcn->cn", shift, axes_q)
    middle = boxes.frames[:3].take(p, axis=1, mode="clip")
    places = np.einsum("kcn,cn->kn", axes_p, on_q - middle)
    gap = found.signed_distance
    faces = np.zeros(0, dtype=np.intp)
    if flat:
        number = free.sum(axis=0)
        edges, faces = np.flatnonzero(number == 1), np.flatnonzero(number >= 2)
        if len(edges):
            k = free[:, edges].argmax(axis=0)
            edge = axes_q[k, :, edges].T * half_q[k, edges]
            steps = np.einsum("kcn,cn->kn", axes_p.take(edges, axis=2), edge)
            share = _share(places[1:, edges], steps[1:], halves[1:, edges], tolerance.take(edges))
            places[1:, edges] += share * steps[1:]
            on_q[:, edges] += share * edge
        if len(faces):
            places[1:, faces] = _common(
                axes_q.take(faces, axis=2),
                half_q.take(faces, axis=1),
                free.take(faces, axis=1),
                axes_p[1:].take(faces, axis=2),
                halves[1:].take(faces, axis=1),
                places[1:].take(faces, axis=1),
                tolerance.take(faces),
            )
    on_face = np.minimum(places, halves)
    np.maximum(on_face[1:], -halves[1:], out=on_face[1:])
    on_face[0] = halves[0]
    on_p = middle
    on_p += np.einsum("kn,kcn->cn", on_face, axes_p)
    places -= on_face
    places[0] -= gap
    if len(faces):
        # Of two faces any points will do that are one above the other in what they have in common.
        on_q[:, faces] = (on_p + gap * out).take(faces, axis=1)
        places[:, faces] = 0.0
    good = np.einsum("cn,cn->n", places, places) <= (BATCH_MISS * tolerance) ** 2
    points = np.concatenate([on_p, on_q])
    points[:3, of_b:], points[3:, of_b:] = on_q[:, of_b:], on_p[:, of_b:]
    return points, good


def _share(starts: FloatArray, steps: FloatArray, halves: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Return (m,) where along edges is the middle of what is above a face, -1 to 1.

    In the plane of the face, with the half sizes `halves` (2, m): edges from their middles `starts` (2, m) to starts +
    steps, and as far to the other side.
    """
    low, high = np.full(len(tolerance), -1.0), np.ones(len(tolerance))
    for start, step, half in zip(starts, steps, halves, strict=True):
        flat = np.abs(step) <= _FLAT * tolerance
        step = np.where(flat, 1.0, step)
        first, last = (-half - start) / step, (half - start) / step
        low = np.where(flat, low, np.maximum(low, np.minimum(first, last)))
        high = np.where(flat, high, np.minimum(high, np.maximum(first, last)))
    return np.clip(0.5 * (low + high), -1.0, 1.0)


def _common(
    axes_q: FloatArray,
    half_q: FloatArray,
    free: BoolArray,
    along: FloatArray,
    half: FloatArray,
    middle: FloatArray,
    tolerance: FloatArray,
) -> FloatArray:
    """Return the middle (2, m) of the corners of what two faces have in common.

    In the plane of the first, along its sides `along` (2, 3, m), about its middle: half sizes `half` (2, m); the other
    one's middle is `middle` (2, m).
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
    return np.where(number > 0, total / np.maximum(number, 1.0), middle)


def _edges(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, found: BoxAxes, tolerance: FloatArray, _of_b: int
) -> tuple[FloatArray, BoolArray]:
    """Return the points where an edge of A and one of B pass each other, and which are good."""
    out, gap = found.normal, found.signed_distance
    points, ways, halves = np.empty((2, 3, len(i))), np.empty((2, 3, len(i))), np.empty((2, len(i)))
    for k, (numbers, own) in enumerate(((i, AXIS_OF_A), (j, AXIS_OF_B))):
        edge, *others = boxes.sides(own.take(found.axis), numbers, 0, 1, 2)
        ways[k], halves[k] = edge[:3], edge[3]
        # The middle of the edge that is farthest along the normal.
        for side in others:
            side[:3] *= np.copysign(side[3], np.einsum("cn,cn->n", side[:3], out))
        np.add(others[0][:3], others[1][:3], out=points[k])
        center = boxes.frames[:3].take(numbers, axis=1, mode="clip")
        (np.subtract if k else np.add)(center, points[k], out=points[k])
    along = gap * out
    way = points[1] - points[0]
    way -= along
    cosine = np.einsum("cn,cn->n", *ways)
    d, e = np.einsum("kcn,cn->kn", ways, way)
    square = 1.0 - cosine * cosine
    square = np.where(square > 0.0, square, 1.0)
    shares = np.array([d - cosine * e, cosine * d - e])
    shares /= square
    np.minimum(shares, halves, out=shares)
    np.maximum(shares, -halves, out=shares)
    points += shares[:, None] * ways
    miss = points[1] - points[0]
    miss -= along
    good = np.einsum("cn,cn->n", miss, miss) <= (BATCH_MISS * tolerance) ** 2
    return points.reshape(6, len(i)), good


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
