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
from .vectors import CHUNK, chunks, dot

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
    parts = []
    for part in chunks(len(i), size=2 * CHUNK) if len(i) else (slice(0, 0),):
        order, of_b, edges = group_by_feature(axes.axis[part])
        found = []
        for columns, points_of in ((order[:edges], _face_points), (order[edges:], _edge_points)):
            chosen = part.start + columns
            arrays = i.take(chosen), j.take(chosen), axes.take(chosen), tolerance.take(chosen)
            found.append(points_of(boxes, *arrays, of_b))
        place = inverse(order)
        parts.append([np.concatenate(arrays, axis=-1).take(place, axis=-1) for arrays in zip(*found, strict=True)])
    points, good = parts[0] if len(parts) == 1 else (np.concatenate(of, axis=-1) for of in zip(*parts, strict=True))
    return BoxWitnesses(points[:3], points[3:], good)


def _face_points(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, axes: BoxAxes, tolerance: FloatArray, of_b: int
) -> tuple[FloatArray, BoolArray]:
    """Return points (6, n) on A and on B where a vertex is opposite a face, and (n,) whether they are good.

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
    rise = np.abs(toward)
    rise *= half_q
    np.copysign(half_q, toward, out=toward)
    vertex = frames[:3] - np.einsum("kn,kcn->cn", toward, axes_q)
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
    flat = (rise <= 0.5 * _FLAT * tolerance).any(axis=0)
    return points, (dot(local, local) <= (BATCH_MISS * tolerance) ** 2) & ~flat


def _edge_points(
    boxes: OrientedBoxes, i: IntArray, j: IntArray, axes: BoxAxes, tolerance: FloatArray, _of_b: int
) -> tuple[FloatArray, BoolArray]:
    """Return the points (6, n) where an edge of A and one of B pass each other, and (n,) whether they are good."""
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
    between = points[1] - points[0]
    between -= along
    cosine = dot(*edges)
    d, e = np.einsum("kcn,cn->kn", edges, between)
    square = 1.0 - cosine * cosine
    steps = np.array([d - cosine * e, cosine * d - e])
    steps /= np.where(square > 0.0, square, 1.0)
    np.minimum(steps, halves, out=steps)
    np.maximum(steps, -halves, out=steps)
    edges *= steps[:, None]
    points += edges
    miss = points[1] - points[0]
    miss -= along
    return points.reshape(6, count), dot(miss, miss) <= (BATCH_MISS * tolerance) ** 2


def boxes_inside(boxes: OrientedBoxes, i: IntArray, j: IntArray, slack: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return (n,) whether boxes i (n,) are inside boxes j (n,) and (n,) j inside i.

    No part may stick out of the faces by more than `slack` (n,).
    """
    result = []
    a, b = boxes.frames.take(i, axis=1), boxes.frames.take(j, axis=1)
    offset = b[:3] - a[:3]
    cosines = np.abs(np.einsum("icn,jcn->ijn", a[3:12].reshape(3, 3, -1), b[3:12].reshape(3, 3, -1)))
    for inner, outer, across in ((a, b, cosines), (b, a, cosines.transpose(1, 0, 2))):
        reach = np.einsum("in,ijn->jn", inner[12:15], across)
        reach += np.abs(np.einsum("jcn,cn->jn", outer[3:12].reshape(3, 3, -1), offset))
        result.append((reach <= outer[12:15] + slack).all(axis=0))
    return result[0], result[1]
