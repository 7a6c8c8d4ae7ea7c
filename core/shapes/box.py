# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes in any orientation, also sheared, mirrored and flat ones, and the rotation of vectors by a quaternion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import hypot, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_affine, as_array, as_floats, validate_magnitude
from ..tolerance import BOX_ORTHOGONAL, EPS, SLIVER
from ..types import FloatArray, IntArray, read_only, set_parts
from .hull import ConvexHull
from .polytope import Polytope
from .shape import numbers

BOX_SOLID = 64.0
"""Times EPS M: a box thinner than this takes its planes from the hull of its corners, which detects flat points."""

_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))
"""(8, 3) corner k is at low (-1) or high (+1) of each axis: bit 2 of k is x, bit 1 is y, bit 0 is z."""

_LOOPS = ((4, 6, 7, 5), (0, 1, 3, 2), (2, 3, 7, 6), (0, 4, 5, 1), (1, 5, 7, 3), (0, 2, 6, 4))
"""Facets +x, -x, +y, -y, +z, -z, counter-clockwise seen from outside of a box that is not mirrored."""


def _indices(values: ArrayLike) -> IntArray:
    return read_only(np.array(values, dtype=np.intp))


def _topology(loops: tuple[tuple[int, ...], ...]) -> tuple[tuple[IntArray, ...], IntArray, IntArray]:
    """Return facets, edges and the two facets of each edge."""
    owner = {(loop[k - 1], loop[k]): f for f, loop in enumerate(loops) for k in range(4)}
    edges = [(p, q) for p, q in owner if p < q]
    beside = [(owner[p, q], owner[q, p]) for p, q in edges]
    return tuple(_indices(loop) for loop in loops), _indices(edges), _indices(beside)


_PLAIN = _topology(_LOOPS)
_MIRRORED = _topology(tuple(loop[::-1] for loop in _LOOPS))


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Box(Polytope):
    """A box in space. Source: S0.1.

    Made from centre, full size and rotation, or by `Box.from_matrix` from a transform and a local bounding box. A
    sheared transform makes a parallelepiped, and mirroring is allowed. A box without thickness has lower rank, and the
    vertices and facets of a polygon, segment or point.

    The 8 vertices of a solid box are in the order of binary numbers: bit 2 of the index is low or high x, bit 1 y,
    bit 0 z, of the local frame. Its facets are in the order +x, -x, +y, -y, +z, -z.
    """

    dim = 3
    _has_formula = True
    axes: FloatArray
    """(3, 3) row k is the unit direction of local axis k in the world. Not perpendicular when sheared."""
    half: FloatArray
    """(3,) half of the length of the edges along each axis, >= 0, world units."""
    orthogonal: bool
    """Whether the axes are perpendicular to each other, to the last digits."""

    def __init__(self, center: ArrayLike, size: ArrayLike, rotation: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Build a box from its centre (3,), its full size (3,) and a rotation (4,), the quaternion w, x, y, z.

        World frame and units. Sizes may be zero; the quaternion need not be a unit one. Raises ValueError, naming the
        argument, when one has another shape or is not finite, when a size is negative or the quaternion zero.
        """
        middle = as_floats("center", center, 3)
        full = as_floats("size", size, 3)
        if min(full) < 0.0:
            raise ValueError(f"size: no component may be negative, got {full}")
        axes = np.array(_rotation_matrix(as_floats("rotation", rotation, 4))).T
        self._build(np.array(middle), axes, 0.5 * np.array(full), True, "center and size")

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, low: ArrayLike, high: ArrayLike) -> Box:
        """Return the image of the local bounding box from `low` (3,) to `high` (3,) under a 4 x 4 affine `matrix`.

        The matrix multiplies column vectors, as Blender's `matrix_world` does; low and high are its `bound_box`. The
        box's middle need not be the origin. Source: S0.1.

        Raises ValueError, naming the argument, when one has another shape or is not finite, when the last row of the
        matrix is not 0, 0, 0, 1, or when low is above high.
        """
        linear, offset = as_affine("matrix", matrix, 3)
        bottom, top = as_floats("low", low, 3), as_floats("high", high, 3)
        if any(x > y for x, y in zip(bottom, top, strict=True)):
            raise ValueError(f"low: no component may be above that of high, got {bottom} and {top}")
        half = np.array([0.5 * y - 0.5 * x for x, y in zip(bottom, top, strict=True)])
        return cls._image(linear, offset, np.array(bottom) + half, half, "matrix, low and high")

    @classmethod
    def _image(cls, linear: FloatArray, offset: FloatArray, center: FloatArray, half: FloatArray, given: str) -> Box:
        """Return the image of the box about `center` (3,), its axes along those of the coordinates."""
        with np.errstate(over="ignore", invalid="ignore"):
            middle = linear @ center + offset
        columns = linear.T
        largest = np.abs(columns).max(axis=1)
        scaled = columns / np.where(largest > 0.0, largest, 1.0)[:, None]  # squares neither overflow nor vanish
        lengths = np.sqrt((scaled * scaled).sum(axis=1))
        axes = _complete_axes(scaled / np.where(lengths > 0.0, lengths, 1.0)[:, None], lengths > 0.0)
        orthogonal = bool(np.abs(axes @ axes.T - np.eye(3)).max() <= BOX_ORTHOGONAL * EPS)
        with np.errstate(over="ignore", invalid="ignore"):
            half = half * lengths * largest
        box = cls.__new__(cls)
        box._build(middle, axes, half, orthogonal, given)
        return box

    def _build(self, middle: FloatArray, axes: FloatArray, half: FloatArray, orthogonal: bool, given: str) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            corners = middle + _SIGNS @ (axes * half[:, None])
        validate_magnitude(given, corners)
        normals, half_thickness = axes, half
        if not orthogonal:
            normals = np.stack([_cross(axes[k - 2], axes[k - 1]) for k in range(3)])
            sines = np.sqrt((normals * normals).sum(axis=1))
            normals = normals / np.where(sines > 0.0, sines, 1.0)[:, None]
            heights = (normals * axes).sum(axis=1)
            normals = normals * np.where(heights < 0.0, -1.0, 1.0)[:, None]
            # A cross product of nearly parallel axes is not exact enough for a plane: the hull's is.
            half_thickness = np.where(sines.min() > SLIVER, half * np.abs(heights), 0.0)
        solid = 2.0 * half_thickness.min() > BOX_SOLID * EPS * np.abs(corners).max()
        parts: dict[str, object] = {"axes": axes, "half": half, "orthogonal": orthogonal}
        if solid:
            mirrored = float(_cross(axes[0], axes[1]) @ axes[2]) < 0.0
            facets, edges, edge_facets = _MIRRORED if mirrored else _PLAIN
            outward = np.repeat(normals, 2, axis=0)
            outward[1::2] *= -1.0
            low, high = corners.min(axis=0), corners.max(axis=0)
            heights = (corners - (0.5 * low + 0.5 * high)) @ outward.T
            parts |= {
                "vertices": corners,
                "rank": 3,
                "edges": edges,
                "edge_facets": edge_facets,
                "facets": facets,
                "normals": outward + 0.0,  # + 0.0 turns -0.0 into 0.0
                "offsets": heights.max(axis=0),
            }
        else:
            hull = ConvexHull(corners)
            names = ("vertices", "rank", "edges", "edge_facets", "facets", "normals", "offsets")
            parts |= {name: getattr(hull, name) for name in names}
        set_parts(self, parts)

    def _diameter(self) -> float:
        return 2.0 * hypot(*self.half.tolist()) if self.orthogonal else super()._diameter()

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> Box:
        return Box._image(linear @ self.axes.T, linear @ self.center + offset, np.zeros(3), self.half, "matrix")

    def _scaled(self, factor: float) -> Box:
        made = super()._scaled(factor)
        object.__setattr__(made, "half", read_only(self.half * factor))
        return made

    @property
    def _parts(self) -> list[str]:
        return [f"center={numbers(self.center)}", f"size={numbers(self.size)}", *turned(self.axes)]

    @property
    def size(self) -> FloatArray:
        """(3,) full length of the edges along each axis, >= 0, world units."""
        return read_only(2.0 * self.half)

    @cached_property
    def _frame(self) -> tuple[float, ...]:
        """Centre (3), axes (9, row after row) and half sizes (3) as plain floats, for the scalar box test."""
        return (*self.center.tolist(), *self.axes.ravel().tolist(), *self.half.tolist())


def validate_boxes(a: object, b: object) -> None:
    """Raise ValueError unless `a` and `b` are boxes that are not sheared: the test of 15 axes assumes it."""
    for name, box in (("a", a), ("b", b)):
        if not isinstance(box, Box):
            raise ValueError(f"{name} must be a Box, not {type(box).__name__}: use sat or contact for other shapes")
        if not box.orthogonal:
            raise ValueError(f"{name} must not be sheared: use sat or contact")


def turned(axes: FloatArray) -> list[str]:
    """Return the axes of a shape as text, if they are not those of the coordinates."""
    return [] if np.array_equal(axes, np.eye(3)) else [f"axes={numbers(axes)}"]


def rotate(vectors: ArrayLike, rotation: ArrayLike) -> FloatArray:
    """Return vectors (3,) or (n, 3) turned by a quaternion (4,) w, x, y, z: v' = q v q*. Source: S0.2.

    >>> print(rotate((1, 0, 0), (0.5**0.5, 0, 0, 0.5**0.5)).round(9) + 0.0)
    [0. 1. 0.]

    The quaternion is normalised. Raises ValueError, naming the argument, when it is zero, or when one of the two has
    another shape or is not finite.
    """
    expected = "an array (3,) or (n, 3)"
    array = np.array(as_array("vectors", vectors, expected))
    if array.ndim not in (1, 2) or array.shape[-1] != 3:
        raise ValueError(f"vectors: {expected} expected, got the shape {array.shape}")
    return array @ np.array(_rotation_matrix(as_floats("rotation", rotation, 4))).T


def _rotation_matrix(quaternion: list[float]) -> tuple[tuple[float, float, float], ...]:
    """Return q v q* of the normalised quaternion as a matrix for column vectors.

    Homogeneous form: turns by quarters come out exact although their quaternions are rounded.
    """
    largest = max(abs(x) for x in quaternion)
    if largest == 0.0:
        raise ValueError("rotation: a zero quaternion is not a rotation")
    w, x, y, z = (q / largest for q in quaternion)
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    s = ww + xx + yy + zz
    return (
        ((ww + xx - yy - zz) / s, 2.0 * (x * y - w * z) / s, 2.0 * (x * z + w * y) / s),
        (2.0 * (x * y + w * z) / s, (ww - xx + yy - zz) / s, 2.0 * (y * z - w * x) / s),
        (2.0 * (x * z - w * y) / s, 2.0 * (y * z + w * x) / s, (ww - xx - yy + zz) / s),
    )


def _complete_axes(axes: FloatArray, known: np.ndarray) -> FloatArray:
    """Return the axes with those of length zero replaced by unit vectors across the others."""
    result = axes.copy()
    for k in np.flatnonzero(~known):
        first, second = result[k - 2], result[k - 1]
        across = _cross(first, second)
        if not across.any():
            # At most one other axis is known, or both are parallel: any vector across it will do.
            nonzero = first if first.any() else second
            unit = np.zeros(3)
            unit[int(np.abs(nonzero).argmin())] = 1.0
            across = _cross(nonzero, unit) if nonzero.any() else unit
        result[k] = across / sqrt(float(across @ across))
    return result


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    (a, b, c), (x, y, z) = u.tolist(), v.tolist()
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])
