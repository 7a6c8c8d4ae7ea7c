# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes with what is made once of each of them: for calls that ask again and again, and for shapes in many poses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from ..shapes.shape import Shape
from ..types import FloatArray, IntArray, read_only
from .batched.bodies import Bodies
from .batched.poses import validate_poses
from .batched.shape_tables import ShapeTables


class ShapeSet(Sequence[Shape]):
    """Shapes of one dimension, with what `contacts` and `pairs_intersect` make of each once; immutable.

    A sequence of the shapes as they were given. Functions that take shapes do not make their tables anew for a set: it
    pays for shapes that are asked about again, most of all in poses. What is made of an object that is there several
    times is made once, when it is first needed, and lasts as long as the set: about 4 kB for a hull of 32 vertices,
    0.5 kB for a box.

    >>> box, ball = Box([0, 0, 0], [1, 1, 1]), Sphere([0, 0, 0], 0.5)
    >>> shapes = ShapeSet([box, box, ball])
    >>> poses = np.tile(np.eye(4), (3, 1, 1))
    >>> for x in (0.5, 1.5):
    ...     poses[1, 0, 3], poses[2, 0, 3] = x, -2.0
    ...     print(contacts(shapes, [[0, 1], [0, 2]], poses=poses).signed_distance)
    [-0.5  1. ]
    [0.5 1. ]
    """

    def __init__(self, shapes: Sequence[Shape]) -> None:
        """Take shapes of any kinds, convex ones, compounds and meshes, mixed.

        Raise ValueError, naming the argument, when one is not a shape or has another dimension than the first.
        """
        self._shapes = validate_shapes("shapes", shapes)
        numbers: dict[int, int] = {}
        index = [numbers.setdefault(id(shape), len(numbers)) for shape in self._shapes]
        self._numbers = numbers
        self._index: IntArray = read_only(np.array(index, dtype=np.intp))
        different = self._shapes
        if len(numbers) < len(index):
            different = tuple({id(shape): shape for shape in self._shapes}.values())
        self._tables = ShapeTables(different, self.dim)

    @property
    def dim(self) -> int:
        """Dimension of the shapes: 2 or 3; 3 where there are none."""
        return self._shapes[0].dim if self._shapes else 3

    def bounds(self, poses: ArrayLike | None = None) -> tuple[FloatArray, FloatArray]:
        """Return lowest and highest corners (n, dim) of the axis-aligned bounding boxes of the shapes, as they are or
        transformed by affine matrices (n, dim + 1, dim + 1), to rounding.

        For `candidate_pairs`, when only whether shapes intersect is of interest. Raise ValueError, naming `poses`.

        >>> print(*ShapeSet([Box([0, 0, 0], [1, 1, 1])]).bounds([np.diag([2.0, 1.0, 1.0, 1.0])]))
        [[-1.  -0.5 -0.5]] [[1.  0.5 0.5]]
        """
        sizes = self._posed(poses).sizes
        return sizes.low.T.copy(), sizes.high.T.copy()

    def diameters(self, poses: ArrayLike | None = None) -> FloatArray:
        """Return the diameters (n,) of the smallest balls around the shapes, see `Shape.diameter`, as they are or
        transformed by affine matrices (n, dim + 1, dim + 1), to rounding.

        The contact tolerance of a pair is relative to the smaller one. Raise ValueError, naming `poses`.

        >>> print(ShapeSet([Box([0, 0, 0], [1, 2, 2])]).diameters([np.diag([2.0, 2.0, 2.0, 1.0])]))
        [6.]
        """
        return self._posed(poses).diameters(np.arange(len(self))).copy()

    def extended(self, shapes: Sequence[Shape]) -> ShapeSet:
        """Return a set of these shapes, followed by others, which keeps what this one has made of its shapes.

        This one stays as it is. Raise ValueError as the constructor does.

        >>> placed, box = ShapeSet([Box([0, 0, 0], [1, 1, 1])]), Box([0.75, 0, 0], [1, 1, 1])
        >>> print(pairs_intersect([box], others=placed), len(placed.extended([box])))
        [[0 0]] 2
        """
        more = validate_shapes("shapes", shapes, self._shapes[:1])
        if not self._shapes:
            return ShapeSet(more)
        result = ShapeSet.__new__(ShapeSet)
        result._shapes = (*self._shapes, *more)
        result._numbers = dict(self._numbers)
        index = [result._numbers.setdefault(id(shape), len(result._numbers)) for shape in more]
        result._index = read_only(np.concatenate([self._index, np.array(index, dtype=np.intp)]))
        known = len(self._tables)
        new = {number: shape for number, shape in zip(index, more, strict=True) if number >= known}
        result._tables = self._tables.extended(tuple(new.values()))
        return result

    def _posed(self, poses: ArrayLike | None) -> Bodies:
        matrices = None if poses is None else validate_poses("poses", poses, len(self), self.dim)
        return Bodies(self._tables, self._index, matrices, np.arange(len(self)), (("poses", (len(self),)),))

    def __len__(self) -> int:
        """Return the number of shapes."""
        return len(self._shapes)

    @overload
    def __getitem__(self, number: int) -> Shape: ...

    @overload
    def __getitem__(self, number: slice) -> tuple[Shape, ...]: ...

    def __getitem__(self, number: int | slice) -> Shape | tuple[Shape, ...]:
        """Return a shape, or those of a slice."""
        return self._shapes[number]

    def __iter__(self) -> Iterator[Shape]:
        """Return an iterator of the shapes."""
        return iter(self._shapes)

    def __repr__(self) -> str:
        """Return how many shapes there are, and how many different ones."""
        return f"ShapeSet({len(self)} shapes, {len(self._tables)} different)"

    def __reduce__(self) -> tuple[type[ShapeSet], tuple[tuple[Shape, ...]]]:
        """Pickle and copy the shapes alone."""
        return ShapeSet, (self._shapes,)


def validate_shapes(name: str, shapes: Sequence[Shape], alike: Sequence[Shape] = ()) -> tuple[Shape, ...]:
    """Return shapes of one dimension, that of `alike` if there is one. Raise ValueError, naming `name`."""
    try:
        result = tuple(shapes)
    except TypeError as error:
        raise ValueError(f"{name}: a sequence of shapes expected, not {type(shapes).__name__}") from error
    for kind in set(map(type, result)):
        if not issubclass(kind, Shape):
            number = next(k for k, shape in enumerate(result) if type(shape) is kind)
            raise ValueError(
                f"{name}: number {number} must be a shape such as ConvexHull, Box or Sphere, a Compound or a Mesh, "
                f"not {kind.__name__}"
            )
    dims = [shape.dim for shape in result]
    first = alike[0].dim if alike else dims[0] if dims else 3
    if dims.count(first) < len(dims):
        number = next(k for k, dim in enumerate(dims) if dim != first)
        raise ValueError(f"{name}: number {number} has dimension {dims[number]}, but the first has {first}")
    return result
