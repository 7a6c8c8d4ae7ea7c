# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volumes behind one interface, many at a time: spheres, axis-aligned and oriented boxes, k-DOPs.

Source: S3.1, S3.2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import checked_array, checked_length, checked_magnitude, checked_shape
from ..progress import Progress
from ..shapes.hull import ConvexHull
from ..shapes.polytope import FloatArray, IntArray, Polytope
from ..tolerance import LARGEST_COORDINATE

BoolArray = NDArray[np.bool_]

Kind = Literal["sphere", "aabb", "obb", "kdop"]
"""Kinds of bounding volume. "aabb" is the k-DOP of 6 directions in space, of 4 in the plane."""

_V = TypeVar("_V", bound="Volumes")


class Volumes(ABC):
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


def bounding_volumes(
    kind: Kind,
    points: ArrayLike,
    starts: ArrayLike | None = None,
    *,
    k: int | None = None,
    progress: Progress | None = None,
) -> Volumes:
    """Return the bounding volumes of groups of points, world frame.

    points (N, dim), dim 2 or 3. `starts` (g,) holds the index of the first point of each group; a group ends where
    the next begins, the last with the points. It must grow. None: all points are one group. `k` is for "kdop" only: 6,
    14, 18 or 26 in space, 4 or 8 in the plane; 18 and 8 when it is not given. No groups, no volumes.
    `progress` is called with the share done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is of another kind or shape or not finite, when a group has no
    points or when there is no such k; Cancelled when `progress` says so. Source: S3.1.
    """
    _check_kind(kind, k)
    array, first = checked_groups(points, starts)
    if kind == "sphere":
        from .bounding_sphere import bounding_spheres

        return bounding_spheres(array, first, progress)
    if kind == "obb":
        from .obb import bounding_obbs

        return bounding_obbs(array, first, progress)
    from .kdop import bounding_kdops

    return bounding_kdops(array, first, _count_of_planes(kind, k, array.shape[1]), progress)


def volumes_of_triangles(
    kind: Kind,
    points: ArrayLike,
    triangles: ArrayLike,
    *,
    k: int | None = None,
    progress: Progress | None = None,
) -> Volumes:
    """Return the bounding volumes of the triangles of a mesh, world frame, as of groups of three points.

    points (N, dim), dim 2 or 3; triangles (m, 3) indices into them, m may be 0; `k` and `progress` as for
    `bounding_volumes`.

    Raises ValueError, naming the argument, when one is of another kind or shape or not finite, when an index has no
    point or when there is no such k; Cancelled when `progress` says so. Source: S3.1.
    """
    _check_kind(kind, k)
    array, _ = checked_groups(points, [])
    corners = whole_numbers("triangles", triangles, "(m, 3)")
    if corners.shape == (0,):
        corners = np.empty((0, 3), dtype=np.intp)
    if corners.ndim != 2 or corners.shape[1] != 3 or (corners.dtype.kind not in "iu" and len(corners)):
        found = f"the shape {corners.shape} of dtype {corners.dtype}"
        raise ValueError(f"triangles: whole numbers (m, 3) expected, got {found}")
    if len(corners) and (corners.min() < 0 or corners.max() >= len(array)):
        raise ValueError(f"triangles: all must be from 0 to {len(array) - 1}, for there are {len(array)} points")
    corners = corners.astype(np.intp, copy=False)
    if kind in ("aabb", "kdop"):
        from .kdop import kdops_of_triangles

        return kdops_of_triangles(array, corners, _count_of_planes(kind, k, array.shape[1]), progress)
    at_corners = array.take(corners.ravel(), axis=0)
    return bounding_volumes(kind, at_corners, np.arange(0, corners.size, 3), progress=progress)


def volumes_of_shapes(
    kind: Kind, shapes: Iterable[Polytope], *, k: int | None = None, progress: Progress | None = None
) -> Volumes:
    """Return one bounding volume for each shape. No shapes: no volumes, of dimension 3.

    `k` and `progress` as for `bounding_volumes`.

    Raises ValueError, naming the argument, when something is no shape, when the shapes are not of one dimension or
    when there is no such k; Cancelled when `progress` says so.
    """
    _check_kind(kind, k)
    if not isinstance(shapes, Iterable) or isinstance(shapes, Polytope):
        raise ValueError(f"shapes must be a list of shapes, not {type(shapes).__name__}")
    shapes = [checked_shape(f"shapes[{i}]", shape) for i, shape in enumerate(shapes)]
    dims = {shape.dim for shape in shapes}
    if len(dims) > 1:
        raise ValueError("shapes: all must have the same dimension, but there are some of 2 and some of 3")
    dim = dims.pop() if dims else 3
    if kind == "obb":
        from .obb import obbs_of_shapes

        return obbs_of_shapes(shapes, dim, progress)
    counts = np.array([len(shape.vertices) for shape in shapes], dtype=np.intp)
    starts: IntArray = np.cumsum(counts) - counts
    points = np.concatenate([shape.vertices for shape in shapes]) if len(shapes) else np.empty((0, dim))
    if kind == "sphere":
        from .bounding_sphere import bounding_spheres

        return bounding_spheres(points, starts, progress)
    from .kdop import bounding_kdops

    return bounding_kdops(points, starts, _count_of_planes(kind, k, dim), progress)


def _check_kind(kind: Kind, k: int | None) -> None:
    if not isinstance(kind, str) or kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, not {kind!r}")
    if k is not None and kind != "kdop":
        raise ValueError(f'k is for "kdop" only, not for {kind!r}')


def _count_of_planes(kind: Kind, k: int | None, dim: int) -> int:
    if kind == "aabb":
        return 2 * dim
    if k is None:
        return 18 if dim == 3 else 8
    return k


def checked_groups(points: ArrayLike, starts: ArrayLike | None) -> tuple[FloatArray, IntArray]:
    """Return points (N, 2) or (N, 3), and the index (g,) of the first point of each group."""
    array = checked_array("points", points, "an array (n, 2) or (n, 3)")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ValueError(f"points: an array (n, 2) or (n, 3) expected, got the shape {array.shape}")
    checked_magnitude("points", array)
    if starts is None:
        if not len(array):
            raise ValueError("points: at least one point expected, got none")
        return array, np.zeros(1, dtype=np.intp)
    return array, checked_starts(starts, len(array), "points")


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
    return min(checked_length("margin", margin), 4.0 * LARGEST_COORDINATE)


def checked_points(points: ArrayLike, count: int, dim: int) -> FloatArray:
    """Return points (count, dim), finite, one for each volume."""
    array = checked_array("points", points, f"an array ({count}, {dim})")
    if array.shape != (count, dim):
        raise ValueError(f"points: an array ({count}, {dim}) expected, one for each volume, got {array.shape}")
    checked_magnitude("points", array)
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
