# SPDX-License-Identifier: GPL-3.0-or-later
"""Separating axes of two boxes in plain floats: numpy's overhead per call is larger than the whole test.

The 15 candidates are the 3 + 3 face normals and the 9 products of an axis of A and one of B. Everything is expressed
in the frame of A, in which B has the centre t, the rotation r (r_ij: axis i of A . axis j of B) and the half sizes g;
A has the half sizes h. Both projections of an axis are symmetric about the centres, so the push-outs to either side
are the sum of the half intervals minus or plus the distance of the centres: its sign is the orientation.

The axes are written out one by one: a loop would cost more than what it repeats. Source: S0.3, S0.4, S0.5.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from ..shapes.box import Box, validate_boxes
from ..tolerance import BOX_PARALLEL, BOX_PREFER_FACE

_BOX_WIDE = 0.968
"""Cosine (sine 0.25) up to which the products of axes of two boxes may stand for one another."""

_PREFER = (1.0 - BOX_PREFER_FACE) ** 2
_PARALLEL = BOX_PARALLEL**2


class BoxAxis(NamedTuple):
    """The axis that decided about two boxes A and B."""

    signed_distance: float
    """Minus the penetration depth; or, above 0, the gap along the first separating axis, less than the distance."""
    normal: tuple[float, float, float]
    """Unit vector from A to B, world frame: moving B by depth * normal separates the pair."""
    axis: int
    """0 to 2: face of A; 3 to 5: face of B; 6 + 3 i + j: product of axis i of A and axis j of B."""

    @property
    def intersects(self) -> bool:
        """`signed_distance <= 0`."""
        return self.signed_distance <= 0.0


def boxes_intersect(a: Box, b: Box) -> bool:
    """Tell whether two boxes have a common point. Source: S0.4.

    Two cheap proofs come before the fifteen axes: the point half-way between the centres in both boxes, or an empty
    slab along a face of A. Raises ValueError when one is no box, or a sheared one: use `sat`.
    """
    if not (type(a) is Box is type(b) and a.orthogonal and b.orthogonal):
        validate_boxes(a, b)
    ax, ay, az, a00, a01, a02, a10, a11, a12, a20, a21, a22, h0, h1, h2 = a.frame
    bx, by, bz, b00, b01, b02, b10, b11, b12, b20, b21, b22, g0, g1, g2 = b.frame
    x, y, z = bx - ax, by - ay, bz - az
    t0 = abs(x * a00 + y * a01 + z * a02)
    t1 = abs(x * a10 + y * a11 + z * a12)
    t2 = abs(x * a20 + y * a21 + z * a22)
    if (
        t0 <= h0 + h0
        and t1 <= h1 + h1
        and t2 <= h2 + h2
        and abs(x * b00 + y * b01 + z * b02) <= g0 + g0
        and abs(x * b10 + y * b11 + z * b12) <= g1 + g1
        and abs(x * b20 + y * b21 + z * b22) <= g2 + g2
    ):
        return True
    reach = g0 * abs(a00 * b00 + a01 * b01 + a02 * b02)
    reach += g1 * abs(a00 * b10 + a01 * b11 + a02 * b12)
    if t0 > h0 + reach + g2 * abs(a00 * b20 + a01 * b21 + a02 * b22):
        return False
    reach = g0 * abs(a10 * b00 + a11 * b01 + a12 * b02)
    reach += g1 * abs(a10 * b10 + a11 * b11 + a12 * b12)
    if t1 > h1 + reach + g2 * abs(a10 * b20 + a11 * b21 + a12 * b22):
        return False
    reach = g0 * abs(a20 * b00 + a21 * b01 + a22 * b02)
    reach += g1 * abs(a20 * b10 + a21 * b11 + a22 * b12)
    if t2 > h2 + reach + g2 * abs(a20 * b20 + a21 * b21 + a22 * b22):
        return False
    return box_sat(a, b).signed_distance <= 0.0


def box_sat(a: Box, b: Box) -> BoxAxis:
    """Return the axis of least overlap of two boxes, or the first that separates them. Source: S0.3, S0.4, S0.5.

    Axes that are equally good within `BOX_PREFER_FACE` are taken in the order of `BoxAxis.axis`, faces first. Raises
    ValueError when a box is sheared: use `sat`. Overlaps are compared by their squares: sizes beyond 1e-150 to 1e150
    need to be scaled first.
    """
    if not (type(a) is Box is type(b) and a.orthogonal and b.orthogonal):
        validate_boxes(a, b)
    ax, ay, az, a00, a01, a02, a10, a11, a12, a20, a21, a22, h0, h1, h2 = a.frame
    bx, by, bz, b00, b01, b02, b10, b11, b12, b20, b21, b22, g0, g1, g2 = b.frame
    x, y, z = bx - ax, by - ay, bz - az

    t0 = x * a00 + y * a01 + z * a02
    r00 = a00 * b00 + a01 * b01 + a02 * b02
    r01 = a00 * b10 + a01 * b11 + a02 * b12
    r02 = a00 * b20 + a01 * b21 + a02 * b22
    q00 = r00 if r00 >= 0.0 else -r00
    q01 = r01 if r01 >= 0.0 else -r01
    q02 = r02 if r02 >= 0.0 else -r02
    overlap = h0 + g0 * q00 + g1 * q01 + g2 * q02 - (t0 if t0 >= 0.0 else -t0)
    if overlap < 0.0:
        return _face(a00, a01, a02, t0, overlap, 0)
    best, bar, axis, side = overlap, overlap * overlap * _PREFER, 0, t0

    t1 = x * a10 + y * a11 + z * a12
    r10 = a10 * b00 + a11 * b01 + a12 * b02
    r11 = a10 * b10 + a11 * b11 + a12 * b12
    r12 = a10 * b20 + a11 * b21 + a12 * b22
    q10 = r10 if r10 >= 0.0 else -r10
    q11 = r11 if r11 >= 0.0 else -r11
    q12 = r12 if r12 >= 0.0 else -r12
    overlap = h1 + g0 * q10 + g1 * q11 + g2 * q12 - (t1 if t1 >= 0.0 else -t1)
    if overlap < 0.0:
        return _face(a10, a11, a12, t1, overlap, 1)
    if overlap * overlap < bar:
        best, bar, axis, side = overlap, overlap * overlap * _PREFER, 1, t1

    t2 = x * a20 + y * a21 + z * a22
    r20 = a20 * b00 + a21 * b01 + a22 * b02
    r21 = a20 * b10 + a21 * b11 + a22 * b12
    r22 = a20 * b20 + a21 * b21 + a22 * b22
    q20 = r20 if r20 >= 0.0 else -r20
    q21 = r21 if r21 >= 0.0 else -r21
    q22 = r22 if r22 >= 0.0 else -r22
    overlap = h2 + g0 * q20 + g1 * q21 + g2 * q22 - (t2 if t2 >= 0.0 else -t2)
    if overlap < 0.0:
        return _face(a20, a21, a22, t2, overlap, 2)
    if overlap * overlap < bar:
        best, bar, axis, side = overlap, overlap * overlap * _PREFER, 2, t2

    along = x * b00 + y * b01 + z * b02
    overlap = g0 + h0 * q00 + h1 * q10 + h2 * q20 - (along if along >= 0.0 else -along)
    if overlap < 0.0:
        return _face(b00, b01, b02, along, overlap, 3)
    if overlap * overlap < bar:
        best, bar, axis, side = overlap, overlap * overlap * _PREFER, 3, along
    along = x * b10 + y * b11 + z * b12
    overlap = g1 + h0 * q01 + h1 * q11 + h2 * q21 - (along if along >= 0.0 else -along)
    if overlap < 0.0:
        return _face(b10, b11, b12, along, overlap, 4)
    if overlap * overlap < bar:
        best, bar, axis, side = overlap, overlap * overlap * _PREFER, 4, along
    along = x * b20 + y * b21 + z * b22
    overlap = g2 + h0 * q02 + h1 * q12 + h2 * q22 - (along if along >= 0.0 else -along)
    if overlap < 0.0:
        return _face(b20, b21, b22, along, overlap, 5)
    if overlap * overlap < bar:
        best, bar, axis, side = overlap, overlap * overlap * _PREFER, 5, along

    u = v = 0.0  # the product of the deciding edges in the frame of A, without its zero
    along = t2 * r10 - t1 * r20
    overlap = h1 * q20 + h2 * q10 - (along if along >= 0.0 else -along)
    if q00 < _BOX_WIDE:
        overlap += g1 * q02 + g2 * q01
        square = 1.0 - q00 * q00
    else:
        overlap += _reach(r10, r20, r11, r21, r12, r22, g1, g2)
        square = r10 * r10 + r20 * r20
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 0, r10, r20, along, overlap, 6)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 6, along, r10, r20
        bar = best * best * _PREFER
    along = t2 * r11 - t1 * r21
    overlap = h1 * q21 + h2 * q11 - (along if along >= 0.0 else -along)
    if q01 < _BOX_WIDE:
        overlap += g2 * q00 + g0 * q02
        square = 1.0 - q01 * q01
    else:
        overlap += _reach(r11, r21, r12, r22, r10, r20, g2, g0)
        square = r11 * r11 + r21 * r21
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 0, r11, r21, along, overlap, 7)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 7, along, r11, r21
        bar = best * best * _PREFER
    along = t2 * r12 - t1 * r22
    overlap = h1 * q22 + h2 * q12 - (along if along >= 0.0 else -along)
    if q02 < _BOX_WIDE:
        overlap += g0 * q01 + g1 * q00
        square = 1.0 - q02 * q02
    else:
        overlap += _reach(r12, r22, r10, r20, r11, r21, g0, g1)
        square = r12 * r12 + r22 * r22
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 0, r12, r22, along, overlap, 8)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 8, along, r12, r22
        bar = best * best * _PREFER
    along = t0 * r20 - t2 * r00
    overlap = h2 * q00 + h0 * q20 - (along if along >= 0.0 else -along)
    if q10 < _BOX_WIDE:
        overlap += g1 * q12 + g2 * q11
        square = 1.0 - q10 * q10
    else:
        overlap += _reach(r20, r00, r21, r01, r22, r02, g1, g2)
        square = r20 * r20 + r00 * r00
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 1, r20, r00, along, overlap, 9)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 9, along, r20, r00
        bar = best * best * _PREFER
    along = t0 * r21 - t2 * r01
    overlap = h2 * q01 + h0 * q21 - (along if along >= 0.0 else -along)
    if q11 < _BOX_WIDE:
        overlap += g2 * q10 + g0 * q12
        square = 1.0 - q11 * q11
    else:
        overlap += _reach(r21, r01, r22, r02, r20, r00, g2, g0)
        square = r21 * r21 + r01 * r01
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 1, r21, r01, along, overlap, 10)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 10, along, r21, r01
        bar = best * best * _PREFER
    along = t0 * r22 - t2 * r02
    overlap = h2 * q02 + h0 * q22 - (along if along >= 0.0 else -along)
    if q12 < _BOX_WIDE:
        overlap += g0 * q11 + g1 * q10
        square = 1.0 - q12 * q12
    else:
        overlap += _reach(r22, r02, r20, r00, r21, r01, g0, g1)
        square = r22 * r22 + r02 * r02
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 1, r22, r02, along, overlap, 11)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 11, along, r22, r02
        bar = best * best * _PREFER
    along = t1 * r00 - t0 * r10
    overlap = h0 * q10 + h1 * q00 - (along if along >= 0.0 else -along)
    if q20 < _BOX_WIDE:
        overlap += g1 * q22 + g2 * q21
        square = 1.0 - q20 * q20
    else:
        overlap += _reach(r00, r10, r01, r11, r02, r12, g1, g2)
        square = r00 * r00 + r10 * r10
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 2, r00, r10, along, overlap, 12)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 12, along, r00, r10
        bar = best * best * _PREFER
    along = t1 * r01 - t0 * r11
    overlap = h0 * q11 + h1 * q01 - (along if along >= 0.0 else -along)
    if q21 < _BOX_WIDE:
        overlap += g2 * q20 + g0 * q22
        square = 1.0 - q21 * q21
    else:
        overlap += _reach(r01, r11, r02, r12, r00, r10, g2, g0)
        square = r01 * r01 + r11 * r11
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 2, r01, r11, along, overlap, 13)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 13, along, r01, r11
        bar = best * best * _PREFER
    along = t1 * r02 - t0 * r12
    overlap = h0 * q12 + h1 * q02 - (along if along >= 0.0 else -along)
    if q22 < _BOX_WIDE:
        overlap += g0 * q21 + g1 * q20
        square = 1.0 - q22 * q22
    else:
        overlap += _reach(r02, r12, r00, r10, r01, r11, g0, g1)
        square = r02 * r02 + r12 * r12
    if overlap < 0.0 and square > _PARALLEL:
        return _edges(a, 2, r02, r12, along, overlap, 14)
    if overlap * overlap < bar * square and square > _PARALLEL:
        best, axis, side, u, v = overlap / sqrt(square), 14, along, r02, r12
        bar = best * best * _PREFER

    if axis < 6:
        k, frame = (3 + 3 * axis, a.frame) if axis < 3 else (3 * axis - 6, b.frame)
        return _face(frame[k], frame[k + 1], frame[k + 2], side, best, axis)
    return _edges(a, (axis - 6) // 3, u, v, side, best * sqrt(u * u + v * v), axis)


def _face(nx: float, ny: float, nz: float, along: float, overlap: float, axis: int) -> BoxAxis:
    normal = (nx, ny, nz) if along >= 0.0 else (-nx, -ny, -nz)
    return BoxAxis(0.0 - overlap, normal, axis)


def _edges(a: Box, i: int, u: float, v: float, along: float, overlap: float, axis: int) -> BoxAxis:
    """Return the axis across two edges: axis i of A times an axis of B with the components u, v on A's other axes."""
    first, second = a.axes[i - 2].tolist(), a.axes[i - 1].tolist()
    length = sqrt(u * u + v * v)
    p, q = (-v / length, u / length) if along >= 0.0 else (v / length, -u / length)
    x, y, z = (p * f + q * s for f, s in zip(first, second, strict=True))
    return BoxAxis(0.0 - overlap / length, (x, y, z), axis)


def _reach(u: float, v: float, u1: float, v1: float, u2: float, v2: float, g1: float, g2: float) -> float:
    """Return how far B reaches along the product of two nearly parallel edges.

    The plain formula takes the products of axes of B for its axes. Here each must come from the same rounded numbers
    as the axis itself, or the error, divided by the sine of the edges, would be large.
    """
    return g1 * abs(u * v1 - v * u1) + g2 * abs(u * v2 - v * u2)
