# SPDX-License-Identifier: GPL-3.0-or-later
"""Many oriented boxes as arrays, one column per box, in double and in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import frexp, ldexp

import numpy as np

from ...runs import chunks
from ...shapes.box import BOX_SOLID, Box
from ...tolerance import BATCH_CORNERS, BOX_ORTHOGONAL, EPS, SINGLE_EPS
from ...types import BoolArray, FloatArray, IntArray, read_only
from .columns import CHUNK, SingleArray, einsum
from .poses import affine_rows
from .sizes import corners_of

SINGLE_ROUNDING = 64.0
"""Times SINGLE_EPS and the sum of the bounding radii of two boxes, or the distance of their centres if that is more:
error bound of an overlap in single precision, of edges times their sine. Cosines are wrong by 2.5; their products with
sizes by 10 and with the offset by 8.5, the sine that divides them by 8."""
_OVERLAP_ROUNDING = 16.0
"""Times EPS and half the diagonals of two boxes: error bound of an overlap measured from their centres. Axes are unit
vectors and perpendicular to BOX_ORTHOGONAL EPS; some products of three terms."""
_RADIUS_ROUNDING = 8.0
"""Times SINGLE_EPS, relative: what bounding radii are enlarged and inscribed radii reduced by in single precision. Of
rounded radii and offsets, their squares and sums 3."""
_NEARLY_ORTHOGONAL = 1024.0
"""Times EPS: cosine between axes of posed boxes up to which they are made perpendicular; it counts as rounding."""
_SMALLEST_RADIUS = 1e-15
"""Relative to the largest box: least bounding radius in single precision, where squares of smaller ones vanish."""


@dataclass(frozen=True, eq=False)
class BoxColumns:
    """Many boxes that are not sheared, one column per box. World frame, unit of the coordinates; read-only."""

    frames: FloatArray
    """(20, n) rows 0 to 2 the centre, 3 to 11 the axes (row 3 + 3 k + c: component c of unit axis k), 12 to 16 the half
    sizes 0, 1, 2, 0, 1; 17 the error bound of an overlap; 18 and 19 the radii of bounding and inscribed sphere."""

    def __len__(self) -> int:
        """Return the number of boxes."""
        return int(self.frames.shape[1])

    @classmethod
    def of(cls, boxes: Sequence[Box], corners: tuple[FloatArray, FloatArray] | None = None) -> BoxColumns:
        """Return boxes, which must not be sheared, as columns; flat ones too. `corners` (3, n) are those of their
        bounding boxes, if they are known."""
        low, high = corners_of(boxes, 3) if corners is None else corners
        axes = np.concatenate([np.empty((0, 3)), *(box.axes for box in boxes)]).reshape(-1, 3, 3)
        half = np.concatenate([np.empty(0), *(box.half for box in boxes)]).reshape(-1, 3)
        return cls.from_poses((0.5 * low + 0.5 * high).T, axes, half)

    @classmethod
    def from_poses(cls, centers: FloatArray, axes: FloatArray, half: FloatArray) -> BoxColumns:
        """Return n boxes with centres (n, 3), orthonormal axes (n, 3, 3) in rows, and half sizes (n, 3), unchecked."""
        frames = np.empty((20, len(centers)))
        frames[:3], frames[3:12], frames[12:15] = centers.T, axes.reshape(-1, 9).T, half.T
        for part in chunks(len(centers), CHUNK):
            _complete(frames[:, part], 0.0, 0.0)
        return cls(read_only(frames))

    def posed(self, numbers: IntArray, poses: FloatArray, rows: IntArray) -> tuple[BoolArray, BoxColumns]:
        """Return which of boxes `numbers` (m,) are solid boxes, not sheared ones, in `rows` (m,) of affine matrices
        (r, 4, 4); and those."""
        frames, solid = np.empty((20, len(numbers))), np.empty(len(numbers), dtype=bool)
        for part in chunks(len(numbers), CHUNK // 4):
            columns = frames[:, part]
            for few in (slice(0, 3), slice(12, 15)) if self._upright else (slice(0, 15),):
                self.frames[few].take(numbers[part], axis=1, out=columns[few], mode="clip")
            with np.errstate(all="ignore"):  # what overflows is no box
                solid[part] = _transform(columns, affine_rows(poses, rows[part]), self._upright)
        if not solid.all():
            frames = frames.take(np.flatnonzero(solid), axis=1)
        return solid, BoxColumns(read_only(frames))

    @cached_property
    def _upright(self) -> bool:
        """Whether the axes of all boxes are the coordinate axes."""
        return bool((self.frames[3:12] == np.eye(3).reshape(9, 1)).all())

    @cached_property
    def scale(self) -> float:
        """Power of 2 by which lengths are multiplied in single precision: the largest box is then about 1."""
        largest = float(self.frames[18].max(initial=0.0))
        return ldexp(1.0, min(max(-frexp(largest)[1], -1000), 1000))

    @cached_property
    def single(self) -> SingleArray:
        """(14, n) in single precision: rows 0 to 8 the axes, 9 to 11 the half sizes, 12 and 13 the radii of bounding
        sphere, rounded up, and inscribed sphere, rounded down."""
        single = np.empty((14, len(self)), dtype=np.float32)
        single[:9] = self.frames[3:12]
        with np.errstate(over="ignore"):
            lengths = self.frames[[12, 13, 14, 17, 19]]
            lengths[3] /= SINGLE_ROUNDING * SINGLE_EPS  # so that the rounding of single precision is more than this
            lengths[3] += self.frames[18]
            lengths[3] *= 1.0 + _RADIUS_ROUNDING * SINGLE_EPS
            lengths[4] *= 1.0 - _RADIUS_ROUNDING * SINGLE_EPS
            lengths *= self.scale
            np.maximum(lengths[3], _SMALLEST_RADIUS, out=lengths[3])
            lengths[4, lengths[4] < _SMALLEST_RADIUS] = 0.0
            single[9:] = lengths
        return read_only(single)

    @cached_property
    def _sides(self) -> FloatArray:
        """(4, 5 n) unit vectors and half sizes of the axes 0 of all boxes, then 1, 2, and 0 and 1 again."""
        sides = np.empty((4, 5, len(self)))
        sides[:3, :3] = self.frames[3:12].reshape(3, 3, -1).transpose(1, 0, 2)
        sides[:3, 3:] = sides[:3, :2]
        sides[3] = self.frames[12:17]
        return read_only(sides.reshape(4, -1))

    def sides(self, axis: IntArray, numbers: IntArray, *steps: int) -> tuple[FloatArray, ...]:
        """Return (4, m) unit vector and half size of axis `axis` (m,) of boxes `numbers` (m,), for each step of 0 to 2
        of the axis that many further on, cyclically."""
        column = axis * len(self)
        column += numbers
        return tuple(self._sides.take(column + step * len(self), axis=1, mode="clip") for step in steps)

    def offsets(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return the vectors (3, m) from the centres of boxes i (m,) to those of boxes j (m,)."""
        offsets = self.frames[:3].take(j, axis=1, mode="clip")
        offsets -= self.frames[:3].take(i, axis=1, mode="clip")
        return offsets

    @property
    def diameters(self) -> FloatArray:
        """(n,) the diagonals."""
        return 2.0 * self.frames[18]

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return lowest and highest corners (3, n) of the axis-aligned bounding boxes, to rounding."""
        axes = self.frames[3:12].reshape(3, 3, -1)
        reach = np.abs(axes[0])
        reach *= self.frames[12]
        for k in (1, 2):
            along = np.abs(axes[k])
            along *= self.frames[12 + k]
            reach += along
        return self.frames[:3] - reach, self.frames[:3] + reach


def _transform(frames: FloatArray, affine: FloatArray, upright: bool) -> BoolArray:
    """Fill in the frames (20, m) of boxes in poses (3, 4, m) from their first 15 rows without, of which axes are not
    read where they are `upright`; return (m,) whether each is a solid box still."""
    linear, offsets = affine[:, :3], affine[:, 3]
    center, axes, half = frames[:3], frames[3:12].reshape(3, 3, -1), frames[12:15]
    turned = einsum("rcm,cm->rm", linear, center)
    np.add(turned, offsets, out=center)
    far = np.maximum(np.abs(turned, out=turned), np.abs(offsets)).max(axis=0)
    skew = _skew(linear)
    axes[:] = linear.transpose(1, 0, 2) + 0.0 if upright else einsum("rcm,kcm->krm", linear, axes)
    uneven = np.flatnonzero(~(skew <= BOX_ORTHOGONAL * EPS))
    if len(uneven):
        others = axes.take(uneven, axis=2)
        largest = np.abs(others).max(axis=1)
        others /= largest[:, None]  # squares neither overflow nor vanish
        lengths = np.sqrt(einsum("kcm,kcm->km", others, others))
        others /= lengths[:, None]
        half[:, uneven] *= lengths * largest
        skew[uneven] = _skew(others)
        cosines = einsum("kcm,lcm->klm", others, others)
        # The nearest axes that are perpendicular, but for the square of the largest cosine.
        axes[:, :, uneven] = 1.5 * others - 0.5 * einsum("klm,lcm->kcm", cosines, others)
    _complete(frames, far, 3.0 * skew)
    reach = np.abs(center).max(axis=0) + frames[18]
    solid = 2.0 * frames[19] > BOX_SOLID * EPS * reach
    solid &= skew <= _NEARLY_ORTHOGONAL * EPS
    solid &= np.isfinite(reach)
    return solid


def _complete(frames: FloatArray, far: FloatArray | float, skew: FloatArray | float) -> None:
    """Fill in rows 15 to 19 of frames (20, m). `far` are the largest coordinates that centres were rounded from, `skew`
    by how much corners may be farther off, relative to the radius."""
    half = frames[12:15]
    frames[15:17] = half[:2]
    np.sqrt(einsum("kn,kn->n", half, half), out=frames[18])
    frames[19] = half.min(axis=0)
    frames[17] = np.maximum(np.abs(frames[:3]).max(axis=0), far)
    frames[17] += frames[18]
    frames[17] *= BATCH_CORNERS * EPS
    frames[17] += (_OVERLAP_ROUNDING * EPS + skew) * frames[18]


def _skew(axes: FloatArray) -> FloatArray:
    """Return by how much (m,) matrices (3, 3, m) are no rotations or reflections: the largest difference of their
    products with their own transpose from 1."""
    products = einsum("krm,lrm->klm", axes, axes)
    products[np.arange(3), np.arange(3)] -= 1.0
    return np.abs(products, out=products).max(axis=(0, 1))
