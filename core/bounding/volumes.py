# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of bounding volumes of every kind, many at a time, and the validation of its arguments.

Source: S3.1, S3.2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_array, as_indices, as_length, validate_magnitude
from ..shapes.hull import ConvexHull
from ..tolerance import LARGEST_COORDINATE
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays

_V = TypeVar("_V", bound="Volumes")


class Volumes(ReadOnlyArrays, ABC):
    """A batch of n bounding volumes of one kind, in the plane or in space. It is immutable.

    A volume contains what it was made from to the last digit: where rounding could leave a point out, it is wider by a
    rounding error. World coordinates and units throughout. Two batches in one call must be of one kind, one dimension
    and one length. Source: S3.1.
    """

    _fields: ClassVar[tuple[str, ...]]
    """Names of the arrays that have one row for each volume."""

    def __post_init__(self) -> None:
        """Make the arrays read-only; the caller's own stay as they were."""
        for name, array in zip(self._fields, self._arrays, strict=True):
            if array.flags.writeable:
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    @property
    def _arrays(self) -> list[FloatArray]:
        return [getattr(self, name) for name in self._fields]

    def _with(self: _V, *arrays: FloatArray) -> _V:
        """Return volumes of the same kind with these arrays."""
        return type(self)(*arrays)

    @property
    def kind(self) -> str:
        """Kind and dimension of the volumes, in words: two batches in one call must have the same."""
        return f"{type(self).__name__} of dimension {self.dim}"

    def _validate_partner(self, other: object) -> None:
        """Raise ValueError unless `other` is a batch of the same kind, dimension and length."""
        if not isinstance(other, Volumes) or other.kind != self.kind:
            raise ValueError(f"other must be {self.kind} like the first, not {kind_of(other)}")
        if len(other) != len(self):
            raise ValueError(f"other must have the same length, but these are {len(self)} and those are {len(other)}")

    @property
    def dim(self) -> int:
        """Dimension: 2 or 3."""
        return int(self._arrays[0].shape[1])

    def __len__(self) -> int:
        """Return the number of volumes n; it may be 0."""
        return len(self._arrays[0])

    @property
    def is_finite(self) -> bool:
        """Whether all numbers of the volumes and of their bounds are finite."""
        return all(np.isfinite(array).all() for array in (*self.bounds, *self._arrays))

    def take(self: _V, indices: ArrayLike) -> _V:
        """Return the volumes with these indices (m,), in this order."""
        chosen = as_indices("indices", indices, len(self), "volumes")
        return self._with(*(_rows(array, chosen) for array in self._arrays))

    @classmethod
    def concatenate(cls: type[_V], parts: Sequence[_V]) -> _V:
        """Return the volumes of one or more batches, one batch after the other."""
        if not isinstance(parts, Sequence) or not len(parts):
            raise ValueError("parts: a list of one or more batches expected")
        for i, part in enumerate(parts):
            expected = f"{parts[0].kind} like the first" if i else cls.__name__
            if not isinstance(part, cls) or part.kind != parts[0].kind:
                raise ValueError(f"parts[{i}] must be {expected}, not {kind_of(part)}")
        return parts[0]._with(*map(np.concatenate, zip(*(part._arrays for part in parts), strict=True)))

    @abstractmethod
    def merged(self: _V, other: _V) -> _V:
        """Return, element by element, the smallest volume of this kind that contains both."""

    @abstractmethod
    def reduce_groups(self: _V, starts: ArrayLike) -> _V:
        """Return one volume around each group of volumes, from starts[i] up to starts[i + 1], the last up to the end.

        starts (g,) must grow; volumes before starts[0] are in no group.
        """

    @abstractmethod
    def overlaps(self: _V, other: _V) -> BoolArray:
        """Return (n,), element by element, whether two volumes may have a point in common. Touching counts.

        False is a proof that nothing inside of one touches anything inside of the other. Source: S3.2.
        """

    @abstractmethod
    def gap(self: _V, other: _V) -> FloatArray:
        """Return (n,), element by element, a lower bound of the distance of the contents; 0 where they overlap."""

    def inflated(self: _V, margin: float) -> _V:
        """Return volumes that contain everything within a distance `margin` >= 0 of these.

        No two valid coordinates are 4 LARGEST_COORDINATE apart: a larger margin is taken as that.
        """
        width = as_margin(margin)
        return self._inflated(width) if width > 0.0 else self

    @abstractmethod
    def _inflated(self: _V, width: float) -> _V: ...

    @property
    @abstractmethod
    def centers(self) -> FloatArray:
        """(n, dim) a point in the middle of each volume."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest coordinates (dim, n) of an axis-aligned box around each volume, to a rounding error."""

    @property
    @abstractmethod
    def surface_area(self) -> FloatArray:
        """(n,) the size that the surface area heuristic compares: the surface area, in the plane the perimeter."""

    @property
    @abstractmethod
    def volume(self) -> FloatArray:
        """(n,) the volume, in the plane the area."""

    @abstractmethod
    def contains(self, points: ArrayLike) -> BoolArray:
        """Return (n,), element by element, whether points[i] (n, dim) is not certainly outside volume i."""

    @abstractmethod
    def polytope(self, index: int) -> ConvexHull | None:
        """Return a volume as a convex polytope, to be drawn; None for a sphere."""


def kind_of(value: object) -> str:
    """Return the kind of volumes in words, the name of the type of anything else."""
    return value.kind if isinstance(value, Volumes) else type(value).__name__


def _rows(array: FloatArray, indices: IntArray) -> FloatArray:
    """Return rows of an array in the same order of memory; the indices are valid."""
    # With mode="raise" numpy would check them again, which takes it half of the time.
    if array.flags.c_contiguous:
        return array.take(indices, axis=0, mode="clip")
    return array.T.take(indices, axis=-1, mode="clip").T


def as_starts(starts: ArrayLike, count: int, items: str) -> IntArray:
    """Return the first index (g,) of each of g non-empty groups of `count` items with this name."""
    first = as_indices("starts", starts, count, items)
    if not (first[1:] > first[:-1]).all():
        i = int(np.flatnonzero(first[1:] <= first[:-1])[0])
        raise ValueError(f"starts must grow, but starts[{i}] is {first[i]} and the next {first[i + 1]}")
    return first


def as_margin(margin: float) -> float:
    """Return a margin >= 0, no more than there is between any two coordinates."""
    return min(as_length("margin", margin), 4.0 * LARGEST_COORDINATE)


def as_points(points: ArrayLike, count: int, dim: int) -> FloatArray:
    """Return finite points (count, dim), one for each volume."""
    array = as_array("points", points, f"an array ({count}, {dim})")
    if array.shape != (count, dim):
        raise ValueError(f"points: an array ({count}, {dim}) expected, one for each volume, got {array.shape}")
    validate_magnitude("points", array)
    return array


def as_index(index: object, count: int) -> int:
    """Return the index of one of `count` volumes."""
    if isinstance(index, int | np.integer) and not isinstance(index, bool) and 0 <= index < count:
        return int(index)
    raise ValueError(f"index must be a whole number from 0 to {count - 1}, not {index!r}")


def box_volumes(sides: FloatArray) -> FloatArray:
    """Return the volumes or areas (n,) of boxes with sides (dim, n): infinite or 0 only where float64 has no number."""
    mantissas, exponents = np.frexp(sides)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(np.multiply.reduce(mantissas, axis=0), np.add.reduce(exponents, axis=0))


def box_surface_areas(sides: FloatArray) -> FloatArray:
    """Return the surface areas (n,), or perimeters, of boxes with sides (dim, n)."""
    with np.errstate(over="ignore", under="ignore"):
        return 2.0 * half_surfaces(sides)


def half_surfaces(sides: FloatArray) -> FloatArray:
    """Return half the surface areas of boxes with sides (dim, ...), in the plane half the perimeters."""
    if len(sides) == 2:
        return sides[0] + sides[1]
    return sides[0] * (sides[1] + sides[2]) + sides[1] * sides[2]
