# SPDX-License-Identifier: GPL-3.0-or-later
"""What the decisive axes of many pairs of boxes show: signed distances, normals and witness points of those that
intersect; and which box is inside the other.

1. A face decides: the vertex of the other box that is farthest against it, and the point of the face below it.
2. Two edges decide: the points where they pass each other.

Where an edge or a face is opposite the face, many points are as good: those in the middle of the contact region are for
`box_regions` to find. Source: S0.4, S2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tolerance import BATCH_MISS
from ...types import BoolArray, FloatArray, IntArray
from ...vectors import dot
from .boxes import BoxColumns
from .columns import einsum

AXIS_OF_A = np.array([0, 1, 2, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
AXIS_OF_B = np.array([0, 0, 0, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
"""Of `BoxAxes.axis`, the axis of A and of B, if there is one."""
_FLAT = 0.1
"""Times the promised tolerance: how far an edge or a face may rise across the contact plane and be in it."""


@dataclass(frozen=True, eq=False)
class BoxAxes:
    """The decisive axis of many pairs of boxes A and B: the fields of `BoxAxis`, one column per pair, with the points
    that decide where they intersect. World frame."""

    axis: NDArray[np.int8]
    """(n,) 0 to 2: face of A; 3 to 5: face of B; 6 + 3 i + j: product of axis i of A and axis j of B."""
    rows: FloatArray
    """(13, n) what `signed_distance` and the following return."""

    @property
    def signed_distance(self) -> FloatArray:
        """(n,) minus the penetration depth; or, above 0, the widest gap across an axis, a lower bound of the
        distance."""
        return self.rows[9]

    @property
    def rounding(self) -> FloatArray:
        """(n,) error bound of the signed distance."""
        return self.rows[12]

    @property
    def normal(self) -> FloatArray:
        """(3, n) unit vectors from A to B, world frame: moving B by depth * normal separates the pair."""
        return self.rows[:3]

    @property
    def on_a(self) -> FloatArray:
        """(3, n) witness points on A."""
        return self.rows[3:6]

    @property
    def on_b(self) -> FloatArray:
        """(3, n) witness points on B."""
        return self.rows[6:9]

    def take(self, columns: IntArray) -> BoxAxes:
        """Return these columns."""
        return BoxAxes(self.axis.take(columns), self.rows.take(columns, axis=1))

    def replace(self, columns: IntArray, other: BoxAxes) -> None:
        """Put all columns of another one in place of these columns."""
        self.axis[columns], self.rows[:, columns] = other.axis, other.rows

    def good(self, tolerance: FloatArray) -> BoolArray:
        """Return (n,) whether the witness points realise the signed distance, to the promised tolerance (n,), and no
        others are as good."""
        miss, rise = self.rows[10:12]
        return (miss <= (BATCH_MISS * tolerance) ** 2) & (rise > 0.5 * _FLAT * tolerance)


def measure_axes(boxes: BoxColumns, i: IntArray, j: IntArray, axis: NDArray[np.int8]) -> tuple[IntArray, BoxAxes]:
    """Return what these axes (n,) show of boxes i (n,) and j (n,), and in which order: faces of A, of B, edges."""
    face_a, edge = axis < 3, axis >= 6
    groups = np.flatnonzero(face_a), np.flatnonzero(~(face_a | edge)), np.flatnonzero(edge)
    order = np.concatenate(groups)
    i, j, axis = i.take(order), j.take(order), axis.take(order)
    rows = np.empty((13, len(order)))
    rows[12] = boxes.frames[17].take(i)
    rows[12] += boxes.frames[17].take(j)
    of_b, edges = len(groups[0]), len(groups[0]) + len(groups[1])
    # P is the box whose face decides, Q the other.
    p, q = np.concatenate([i[:of_b], j[of_b:edges]]), np.concatenate([j[:of_b], i[of_b:edges]])
    if edges:
        _measure_faces(boxes, p, q, axis[:edges] % 3, rows[:, :edges])
    rows[:3, of_b:edges] *= -1.0  # np.negative of numpy 2.4 is wrong in place where numbers are 64 bytes apart
    rows[3:9, of_b:edges] = np.concatenate([rows[6:9, of_b:edges], rows[3:6, of_b:edges]])
    if edges < len(order):
        _measure_edges(boxes, i[edges:], j[edges:], axis[edges:], rows[:, edges:])
    return order, BoxAxes(axis, rows)


def _measure_faces(boxes: BoxColumns, p: IntArray, q: IntArray, face: NDArray[np.int8], rows: FloatArray) -> None:
    """Fill in rows (13, n) but the last for faces (n,) of boxes p (n,) and a vertex of boxes q (n,)."""
    out, on_p, vertex = rows[:3], rows[3:6], rows[6:9]
    across, first, second = boxes.sides(face.astype(np.intp), p, 0, 1, 2)
    frames = boxes.frames[:15].take(q, axis=1, mode="clip")
    axes, half = frames[3:12].reshape(3, 3, -1), frames[12:15]
    center = boxes.frames[:3].take(p, axis=1, mode="clip")
    along = dot(across[:3], frames[:3] - center)
    along += 0.0  # turns -0.0 into 0.0
    np.multiply(across[:3], np.copysign(1.0, along), out=out)
    toward = dot(axes.swapaxes(0, 1), out)
    rise = np.abs(toward)
    rise *= half
    distance = np.abs(along, out=along)
    distance -= across[3] + rise[0] + rise[1] + rise[2]
    np.copysign(half, toward, out=toward)
    np.subtract(frames[:3], einsum("kn,kcn->cn", toward, axes), out=vertex)
    # The point of the face that is nearest to the vertex.
    offset = vertex - center
    miss = dot(out, offset)
    miss -= across[3]
    miss -= distance
    miss *= miss
    np.multiply(out, across[3], out=on_p)
    on_p += center
    for side in (first, second):
        height = dot(side[:3], offset)
        below = np.minimum(height, side[3])
        np.maximum(below, -side[3], out=below)
        height -= below
        miss += height * height
        side[:3] *= below
        on_p += side[:3]
    rows[9], rows[10] = distance, miss
    np.minimum.reduce(rise, axis=0, out=rows[11])


def _measure_edges(boxes: BoxColumns, i: IntArray, j: IntArray, axis: NDArray[np.int8], rows: FloatArray) -> None:
    """Fill in rows (13, n) but the last for products of an edge of boxes i (n,) and one of boxes j (n,)."""
    normal, on_a, on_b = rows[:3], rows[3:6], rows[6:9]
    a, a1, a2 = boxes.sides(AXIS_OF_A.take(axis), i, 0, 1, 2)
    b, b1, b2 = boxes.sides(AXIS_OF_B.take(axis), j, 0, 1, 2)
    centers = [boxes.frames[:3].take(numbers, axis=1, mode="clip") for numbers in (i, j)]
    # Perpendicular to both but for rounding, however nearly parallel they are.
    dot_1, dot_2 = dot(a1[:3], b[:3]), dot(a2[:3], b[:3])
    square = dot_1 * dot_1
    square += dot_2 * dot_2
    sine = np.sqrt(square)
    dot_1 /= sine
    dot_2 /= sine
    np.multiply(a2[:3], dot_1, out=normal)
    normal -= a1[:3] * dot_2
    along = dot(normal, centers[1] - centers[0])
    along += 0.0  # turns -0.0 into 0.0
    sign = np.copysign(1.0, along)
    normal *= sign
    # The middles of the edges that are farthest towards the other box.
    dot_1 *= sign
    dot_2 *= -sign
    distance = np.abs(along, out=along)
    for point, center, sides in (
        (on_a, centers[0], ((a1, dot_2), (a2, dot_1))),
        (on_b, centers[1], ((b1, -dot(b1[:3], normal)), (b2, -dot(b2[:3], normal)))),
    ):
        point[:] = center
        for side, toward in sides:
            distance -= side[3] * np.abs(toward)
            side[:3] *= np.copysign(side[3], toward)
            point += side[:3]
    gap = distance * normal
    # The nearest points of two lines, kept on the edges.
    between = on_b - on_a
    between -= gap
    cosine, d, e = dot(a[:3], b[:3]), dot(a[:3], between), dot(b[:3], between)
    square[square == 0.0] = 1.0
    for point, edge, step in ((on_a, a, d - cosine * e), (on_b, b, cosine * d - e)):
        step /= square
        np.minimum(step, edge[3], out=step)
        np.maximum(step, -edge[3], out=step)
        edge[:3] *= step
        point += edge[:3]
    miss = on_b - on_a
    miss -= gap
    rows[9], rows[10], rows[11] = distance, dot(miss, miss), np.inf


def inverse(order: IntArray) -> IntArray:
    """Return the inverse permutation: taking results from where they are is several times faster than putting them."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def boxes_inside(boxes: BoxColumns, i: IntArray, j: IntArray, slack: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return (n,) whether boxes i (n,) are inside boxes j (n,) and (n,) j inside i.

    No part may stick out of the faces by more than `slack` (n,).
    """
    result = []
    a, b = boxes.frames.take(i, axis=1), boxes.frames.take(j, axis=1)
    offset = b[:3] - a[:3]
    cosines = np.abs(einsum("icn,jcn->ijn", a[3:12].reshape(3, 3, -1), b[3:12].reshape(3, 3, -1)))
    for inner, outer, across in ((a, b, cosines), (b, a, cosines.transpose(1, 0, 2))):
        reach = einsum("in,ijn->jn", inner[12:15], across)
        reach += np.abs(einsum("jcn,cn->jn", outer[3:12].reshape(3, 3, -1), offset))
        inside: BoolArray = np.logical_and.reduce(reach <= outer[12:15] + slack, axis=0)
        result.append(inside)
    return result[0], result[1]
