# SPDX-License-Identifier: GPL-3.0-or-later
"""What bounding volumes of every kind are, many at a time, and what all kinds ask of their arguments.

Source: S3.1, S3.2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_array, as_length, validate_magnitude
from ..shapes.hull import ConvexHull
from ..tolerance import LARGEST_COORDINATE
from ..types import BoolArray, FloatArray, IntArray, ReadOnlyArrays

_V = TypeVar("_V", bound="Volumes")


class Volumes(ReadOnlyArrays, ABC):
    """A batch of n bounding volumes of one kind, in the plane or in space. It cannot be changed.

    A volume holds what it was made from to the last digit: where rounding could leave a point out, it is wider by a
    rounding error. World coordinates and units throughout. Two batches that meet in a call must be of one kind, one
    dimension and one length. Source: S3.1.
    """

    @property
    @abstractmethod
    def dim(self) -> int:
        """Dimension: 2 or 3."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of volumes n; it may be 0."""

    @abstractmethod
    def take(self: _V, indices: ArrayLike) -> _V:
        """Return the volumes with these indices (m,), in this order."""

    @classmethod
    @abstractmethod
    def joined(cls: type[_V], parts: Sequence[_V]) -> _V:
        """Return the volumes of one or more batches, one batch after the other."""

    @abstractmethod
    def merged(self: _V, other: _V) -> _V:
        """Return, element by element, the smallest volume of this kind that holds both."""

    @abstractmethod
    def merged_ranges(self: _V, starts: ArrayLike) -> _V:
        """Return one volume for each range of items, from starts[i] up to starts[i + 1], the last up to the end.

        starts (g,) must grow; items before starts[0] are in no range.
        """

    @abstractmethod
    def overlap(self: _V, other: _V) -> BoolArray:
        """Return (n,), element by element, whether two volumes may have a point in common. Touching counts.

        False is a proof that nothing inside of one touches anything inside of the other. Source: S3.2.
        """

    @abstractmethod
    def gap(self: _V, other: _V) -> FloatArray:
        """Return (n,), element by element, a lower bound of the distance of what is inside; 0 where they overlap."""

    @abstractmethod
    def grown(self: _V, margin: float) -> _V:
        """Return volumes that hold everything within a distance `margin` >= 0 of these.

        No two coordinates that are accepted are 4 LARGEST_COORDINATE apart: a wider margin is taken as that.
        """

    @abstractmethod
    def centers(self) -> FloatArray:
        """Return a point (n, dim) in the middle of each volume."""

    @abstractmethod
    def sizes(self) -> FloatArray:
        """Return (n,) what the surface area heuristic weighs: the surface area, in the plane the perimeter."""

    @abstractmethod
    def volumes(self) -> FloatArray:
        """Return (n,) the content: the volume, in the plane the area."""

    @abstractmethod
    def contain(self, points: ArrayLike) -> BoolArray:
        """Return (n,), element by element, whether volume i holds points[i] of the array (n, dim)."""

    @abstractmethod
    def polytope(self, index: int) -> ConvexHull | None:
        """Return a volume as a convex polytope, to be drawn; None for a sphere."""


def checked_starts(starts: ArrayLike, count: int, what: str) -> IntArray:
    """Return the first index (g,) of each of g ranges, none of them empty, of `count` items that are called `what`."""
    first = checked_indices("starts", starts)
    if len(first):
        if first[0] < 0 or first[-1] >= count:
            raise ValueError(f"starts: all must be from 0 to {count - 1}, for there are {count} {what}")
        if not (first[1:] > first[:-1]).all():
            where = int(np.flatnonzero(first[1:] <= first[:-1])[0])
            raise ValueError(f"starts must grow, but starts[{where}] is {first[where]} and the next {first[where + 1]}")
    return first


def checked_indices(name: str, value: ArrayLike) -> IntArray:
    """Return whole numbers (m,) as an array of indices; nothing at all is none of them."""
    array = whole_numbers(name, value, "(m,)")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise ValueError(f"{name}: whole numbers (m,) expected, got the shape {array.shape} of dtype {array.dtype}")
    return array.astype(np.intp, copy=False)


def checked_items(indices: ArrayLike, count: int) -> IntArray:
    """Return the indices (m,) of some of `count` volumes, from 0 on."""
    chosen = checked_indices("indices", indices)
    if len(chosen) and (chosen.min() < 0 or chosen.max() >= count):
        raise ValueError(f"indices: all must be from 0 to {count - 1}, for there are {count} volumes")
    return chosen


def checked_parts(kind: type[Volumes], parts: Sequence[Volumes]) -> None:
    """Ask for at least one batch, all of them of one kind and dimension."""
    if not isinstance(parts, Sequence) or not len(parts):
        raise ValueError("parts: a list of one or more batches expected")
    for i, part in enumerate(parts):
        if not isinstance(part, kind):
            raise ValueError(f"parts[{i}] must be {kind.__name__}, not {type(part).__name__}")
        if part.dim != parts[0].dim:
            raise ValueError(f"parts[{i}] must be of dimension {parts[0].dim} like the first, not {part.dim}")


def freeze_views(volumes: Volumes, names: tuple[str, ...]) -> None:
    """Put read-only views in the place of the arrays of these names, so that nobody else's array becomes read-only."""
    for name in names:
        array = getattr(volumes, name)
        if array.flags.writeable:
            array = array.view()
            array.flags.writeable = False
            object.__setattr__(volumes, name, array)


def whole_numbers(name: str, value: ArrayLike, shape: str) -> NDArray[Any]:
    """Return an array, of any shape as yet, of what is to be whole numbers."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name}: whole numbers {shape} expected; rows of different length are none ({error})"
        ) from error


def checked_margin(margin: float) -> float:
    """Return by how much volumes are to grow; no more than there is between any two coordinates."""
    return min(as_length("margin", margin), 4.0 * LARGEST_COORDINATE)


def checked_points(points: ArrayLike, count: int, dim: int) -> FloatArray:
    """Return points (count, dim), finite, one for each volume."""
    array = as_array("points", points, f"an array ({count}, {dim})")
    if array.shape != (count, dim):
        raise ValueError(f"points: an array ({count}, {dim}) expected, one for each volume, got {array.shape}")
    validate_magnitude("points", array)
    return array


def check_partner(volumes: Volumes, other: object) -> None:
    """Ask for another batch of the same kind, dimension and length."""
    if type(other) is not type(volumes):
        raise ValueError(f"other must be {type(volumes).__name__} like the first, not {type(other).__name__}")
    assert isinstance(other, Volumes)
    if other.dim != volumes.dim or len(other) != len(volumes):
        raise ValueError(
            f"other must have the same length and dimension, but these are {len(volumes)} of dimension {volumes.dim} "
            f"and those are {len(other)} of dimension {other.dim}"
        )


def checked_index(index: object, count: int) -> int:
    """Return the index of one of `count` volumes, from 0 on."""
    if isinstance(index, int | np.integer) and not isinstance(index, bool) and 0 <= index < count:
        return int(index)
    raise ValueError(f"index must be a whole number from 0 to {count - 1}, not {index!r}")


def content_of_boxes(sides: FloatArray) -> FloatArray:
    """Return the volumes or areas (n,) of boxes with sides (dim, n): infinite or 0 only where float64 has no number."""
    mantissas, exponents = np.frexp(sides)
    with np.errstate(over="ignore", under="ignore"):
        result: FloatArray = np.ldexp(np.multiply.reduce(mantissas, axis=0), np.add.reduce(exponents, axis=0))
    return result
