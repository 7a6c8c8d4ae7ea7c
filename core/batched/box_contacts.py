# SPDX-License-Identifier: GPL-3.0-or-later
"""Witness points of many pairs of boxes that intersect, from their decisive axes, and which box is inside the other.

1. A face decides: the vertex of the other box that is farthest against it, and the point of the face below it.
2. Two edges decide: the points where they pass each other.

Where an edge or a face is opposite the face, many points are as good: those in the middle of the contact region are for
`box_regions` to find. Source: S0.4, S2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tolerance import BATCH_MISS
from ..types import BoolArray, FloatArray, IntArray
from .box_axes import AXIS_OF_A, AXIS_OF_B, BoxAxes, group_by_feature, inverse
from .boxes import OrientedBoxes
from .vectors import chunks, dot

_FLAT = 0.1
"""Times the promised tolerance: how far an edge or a face may rise across the contact plane and be in it."""


@dataclass(frozen=True, eq=False)
class BoxWitnesses:
    """Witness points of many pairs of boxes A and B; one column per pair. World frame."""

    on_a: FloatArray
    """(3, n) on A."""
    on_b: FloatArray
    """(3, n) on B."""
    good: BoolArray
    """(n,) whether they realise the signed distance, and no others are as good."""


def box_witnesses(boxes: OrientedBoxes, i: IntArray, j: IntArray, axes: BoxAxes, tolerance: FloatArray) -> BoxWitnesses:
    """Return witness points of boxes i (n,) and j (n,), which intersect, from their decisive axes.

    `tolerance` (n,) is the promised one.
    """
    count = len(i)
    points, good = np.empty((6, count)), np.empty(count, dtype=bool)
    for part in chunks(count):
        arrays = boxes, i[part], j[part], axes.take(part), tolerance[part]
        points[:, part], good[part] = _chunk_witnesses(*arrays)
    return BoxWitnesses(points[:3], points[3:], good)


def _chunk_witnesses(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, axes: BoxAxes, tolerance: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return points (6, n) on A and on B, and (n,) whether they are good."""
    order, of_b, edges = group_by_feature(axes.axis)
    faces, rest = order[:edges], order[edges:]
    limit = 0.5 * _FLAT * tolerance.take(faces)
    of_faces, miss_faces, flat = _face_points(boxes, i.take(faces), j.take(faces), axes.take(faces), limit, of_b)
    of_edges, miss_edges = _edge_points(boxes, i.take(rest), j.take(rest), axes.take(rest))
    place = inverse(order)
    points, miss = np.concatenate([of_faces, of_edges], axis=1), np.concatenate([miss_faces, miss_edges], axis=1)
    good = dot(miss, miss).take(place) <= (BATCH_MISS * tolerance) ** 2
    good[faces[flat]] = False
    return points.take(place, axis=1), good


def _face_points(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, axes: BoxAxes, limit: FloatArray, of_b: int
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the points (6, n) on A and on B where a vertex is opposite a face, the vectors (3, n) by which they miss
    the signed distance, and (n,) whether an edge or a face of the other box rises by no more than `limit` (n,).

    The face is of A of the first `of_b` pairs, of B of the others.
    """
    # P is the box whose face decides, Q the other; `out` is from P to Q.
    p, q = np.concatenate([i[:of_b], j[of_b:]]), np.concatenate([j[:of_b], i[of_b:]])
    out = axes.normal.copy()
    np.negative(out[:, of_b:], out=out[:, of_b:])
    # In an order in which the axes along the face come after the one across it.
    half_p, axes_p = np.empty((3, len(p))), np.empty((3, 3, len(p)))
    face = axes.axis.astype(np.intp)
    face[of_b:] -= 3
    for k, side in enumerate(boxes.sides(face, p, 0, 1, 2)):
        half_p[k], axes_p[k] = side[3], side[:3]
    axes_p[0] = out
    frames = boxes.frames[:15].take(q, axis=1, mode="clip")
    axes_q, half_q = frames[3:12].reshape(3, 3, -1), frames[12:15]
    toward = np.einsum("kcn,cn->kn", axes_q, out)
    flat = (np.abs(toward) * half_q <= limit).any(axis=0)
    vertex = frames[:3] - np.einsum("kn,kcn->cn", np.copysign(half_q, toward), axes_q)
    on_p = boxes.frames[:3].take(p, axis=1, mode="clip")
    local = np.einsum("kcn,cn->kn", axes_p, vertex - on_p)
    below = np.minimum(local, half_p)
    np.maximum(below[1:], -half_p[1:], out=below[1:])
    below[0] = half_p[0]
    on_p += np.einsum("kn,kcn->cn", below, axes_p)
    local -= below
    local[0] -= axes.signed_distance
    points = np.concatenate([on_p, vertex])
    points[:3, of_b:], points[3:, of_b:] = vertex[:, of_b:], on_p[:, of_b:]
    return points, local, flat


def _edge_points(boxes: OrientedBoxes, i: IntArray, j: IntArray, axes: BoxAxes) -> tuple[FloatArray, FloatArray]:
    """Return the points (6, n) on A and on B where an edge of A and one of B pass each other, and the vectors (3, n) by
    which they miss the signed distance."""
    normal, count = axes.normal, len(i)
    points, edges, halves = np.empty((2, 3, count)), np.empty((2, 3, count)), np.empty((2, count))
    for k, (numbers, own) in enumerate(((i, AXIS_OF_A), (j, AXIS_OF_B))):
        edge, *others = boxes.sides(own.take(axes.axis), numbers, 0, 1, 2)
        edges[k], halves[k] = edge[:3], edge[3]
        # The middle of the edge that is farthest along the normal.
        for side in others:
            side[:3] *= np.copysign(side[3], dot(side[:3], normal))
        np.add(others[0][:3], others[1][:3], out=points[k])
        center = boxes.frames[:3].take(numbers, axis=1, mode="clip")
        (np.subtract if k else np.add)(center, points[k], out=points[k])
    along = axes.signed_distance * normal
    # The nearest points of two lines, kept on the edges.
    between = points[1] - points[0] - along
    cosine = dot(*edges)
    d, e = np.einsum("kcn,cn->kn", edges, between)
    square = 1.0 - cosine * cosine
    steps = np.array([d - cosine * e, cosine * d - e]) / np.where(square > 0.0, square, 1.0)
    points += np.clip(steps, -halves, halves)[:, None] * edges
    return points.reshape(6, count), points[1] - points[0] - along


def boxes_inside(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, low: FloatArray, high: FloatArray, slack: FloatArray
) -> tuple[BoolArray, BoolArray]:
    """Return (n,) whether boxes i (n,) are inside boxes j (n,) and (n,) j inside i.

    No part may stick out by more than `slack` (n,): of the faces, and of the bounding boxes `low`, `high` (3, boxes).
    """
    result = []
    a, b = boxes.frames.take(i, axis=1), boxes.frames.take(j, axis=1)
    offset = b[:3] - a[:3]
    cosines = np.abs(np.einsum("icn,jcn->ijn", a[3:12].reshape(3, 3, -1), b[3:12].reshape(3, 3, -1)))
    for inner, outer, across, ii, jj in ((a, b, cosines, i, j), (b, a, cosines.transpose(1, 0, 2), j, i)):
        reach = np.einsum("in,ijn->jn", inner[12:15], across)
        reach += np.abs(np.einsum("jcn,cn->jn", outer[3:12].reshape(3, 3, -1), offset))
        inside = (reach <= outer[12:15] + slack).all(axis=0)
        inside &= (low.take(ii, axis=1) >= low.take(jj, axis=1) - slack).all(axis=0)
        inside &= (high.take(ii, axis=1) <= high.take(jj, axis=1) + slack).all(axis=0)
        result.append(inside)
    return result[0], result[1]
