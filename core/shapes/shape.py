# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of all shapes: bounds, volume, support points, signed distance and transforms."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_affine, as_direction, as_directions, as_factor, as_points, as_vector, validate_magnitude
from ..tolerance import EXTREME_EXPONENT
from ..types import BoolArray, FloatArray, ReadOnlyArrays, read_only
from ..vectors import dot

_S = TypeVar("_S", bound="Shape")
_I = TypeVar("_I", bound="Shape")

SIMILAR = 1e-6
"""Relative: by how much the stretches of a matrix may differ and still count as equal. Blender's matrices are
float32."""
LARGEST_POWER = 1000
"""Exponent of the largest power of two that scales shapes: 2.0**1000 is finite and makes the smallest numbers
normal."""


class Shape(ReadOnlyArrays):
    """A shape in the plane or in space, in world coordinates; immutable.

    Points and directions are arrays (n, dim), lengths in the unit of the coordinates. Every method raises ValueError,
    naming the argument, when that has another shape or is not finite.
    """

    without_vertices: ClassVar[str] = "is another kind of shape: use contact(a, b)"
    """Why algorithms on vertices (GJK, EPA, SAT) do not take it, and what to use instead; the end of their error
    message."""

    _has_formula: ClassVar[bool] = False
    """Whether the diameter is found faster from the shape than from one that it is the image of."""

    @property
    def dim(self) -> int:
        """Dimension of the points: 2 or 3."""
        raise NotImplementedError

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (dim,) of the axis-aligned bounding box, world frame."""
        raise NotImplementedError

    @property
    def volume(self) -> float:
        """Volume of a shape in space, area of a shape in the plane; 0.0 where it does not fill its space."""
        raise NotImplementedError

    @property
    def centroid(self) -> FloatArray:
        """(dim,) centre of mass, world frame: of the volume, or of the area or length of a shape without volume."""
        raise NotImplementedError

    def supports(self, directions: ArrayLike) -> FloatArray:
        """Return the support points (k, dim), those farthest along `directions` (k, dim), of any length but zero.

        For a shape that is not convex they are the support points of its convex hull. Source: S4.2.
        """
        return self._support_points(as_directions("directions", directions, self.dim))

    def support(self, direction: ArrayLike) -> FloatArray:
        """Return the support point (dim,): the one farthest along `direction` (dim,), of any length but zero.

        >>> print(Sphere((0, 0, 5), 2).support((0, 0, 1)))
        [0. 0. 7.]

        Source: S4.2.
        """
        return self._support_points(as_direction("direction", direction, self.dim)[None])[0]

    def signed_distance(self, points: ArrayLike) -> FloatArray:
        """Return the signed distances (n,) of `points` (n, dim): > 0 outside, < 0 minus the distance to the surface.

        Accurate to rounding. A shape that does not fill its space has no inside.

        >>> print(Box((0, 0, 0), (2, 2, 2)).signed_distance([(0, 0, 0), (3, 0, 0)]))
        [-1.  2.]

        Source: S1.5.
        """
        return self._signed_distances(as_points("points", points, self.dim))

    def contains(self, points: ArrayLike) -> BoolArray:
        """Return (n,) whether `points` (n, dim) are inside or on the surface: their signed distance is not above 0.

        For points on the surface, rounding decides.
        """
        return self.signed_distance(points) <= 0.0

    def transformed(self: _S, matrix: ArrayLike) -> Shape:
        """Return the image under an affine `matrix`, (4, 4) or in the plane (3, 3), which multiplies column vectors.

        The class is kept where the matrix allows it: a hull, box, polygon, ellipsoid, compound or mesh under any, a
        sphere, capsule and other rounded shapes under rotation, reflection, translation and even scale (stretches that
        differ by less than 1e-6, as those of float32 matrices do, are even), a cylinder and a cone also under another
        scale along their axis. A sphere becomes an `Ellipsoid` under uneven scale. Raises ValueError for any other
        matrix, naming the class to use instead, and when the last row is not 0, ..., 0, 1.
        """
        linear, offset = as_affine("matrix", matrix, self.dim)
        with np.errstate(over="ignore", invalid="ignore"):
            return _noted(self._transformed(linear, offset), self, linear)

    def translated(self: _S, vector: ArrayLike) -> _S:
        """Return the shape translated by a `vector` (dim,), rounded to the last digit of the coordinates."""
        step = as_vector("vector", vector, self.dim)
        for corner in self.bounds:
            validate_magnitude("vector", corner + step)
        return _noted(self._translated(step), self, None)

    def scaled(self: _S, factor: float) -> _S:
        """Return the shape scaled by a `factor` > 0 about the world origin; by a power of two without rounding."""
        number = as_factor("factor", factor)
        with np.errstate(over="ignore"):
            for corner in self.bounds:
                validate_magnitude("factor", corner * number)
            return _noted(self._scaled(number), self, number * np.eye(self.dim))

    def __repr__(self) -> str:
        """Return the class and what the shape is made of, in one line."""
        return f"{type(self).__name__}({', '.join(self._parts)})"

    @property
    def _parts(self) -> list[str]:
        """What the shape is made of, as text: the arguments of its class where they are few, else how many parts it has
        and its bounding box."""
        raise NotImplementedError

    @property
    def _box_words(self) -> str:
        return " to ".join(map(numbers, self.bounds))

    @cached_property
    def _bounds_tuples(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """`bounds` as plain floats."""
        low, high = self.bounds
        return tuple(low.tolist()), tuple(high.tolist())

    @cached_property
    def center(self) -> FloatArray:
        """(dim,) centre of the axis-aligned bounding box, world frame."""
        low, high = self.bounds
        return read_only(0.5 * low + 0.5 * high)

    @cached_property
    def extent(self) -> float:
        """Diagonal of the axis-aligned bounding box; the length that bounds of rounding are relative to."""
        low, high = self.bounds
        return math.hypot(*(high - low).tolist())

    @cached_property
    def diameter(self) -> float:
        """Diameter of the smallest enclosing ball, of a circle in the plane: the length that the contact tolerance is
        relative to. Of a box it is the diagonal.

        Rotation leaves it alone, and so do doubled points and subdivided faces; all but for rounding. Source: S3.1.

        >>> Box((0, 0, 0), (2, 3, 6)).diameter, Cylinder((0, 0, 0), (0, 0, 4), 1.5).diameter
        (7.0, 5.0)
        """
        original, linear = self._image_of
        scale = 1.0 if linear is None else float(even_scales(linear[:, :, None])[0])
        return self._diameter() if original is self or scale == 0.0 else scale * original.diameter

    @property
    def _image_of(self) -> tuple[Shape, FloatArray | None]:
        """The shape that this one was transformed, translated or scaled from, at first, and by what linear map,
        None for none; itself where it was not. It is kept as long as the image, whose diameter takes no search then."""
        known: tuple[Shape, FloatArray | None] = self.__dict__.get("_original_and_map", (self, None))
        return known

    @cached_property
    def magnitude(self) -> float:
        """Largest absolute coordinate: the rounding error of one coordinate is `eps * magnitude`."""
        low, high = self.bounds
        return float(max(np.abs(low).max(), np.abs(high).max()))

    @property
    def _at_ordinary_size(self: _S) -> tuple[_S, int]:
        """The shape, scaled by a power of two if it is too large or too small for products of lengths in float64, and
        the exponent of the power that scales it back."""
        exponent = math.frexp(self.extent)[1]
        if abs(exponent) <= EXTREME_EXPONENT:
            return self, 0
        exponent = max(exponent, -LARGEST_POWER)
        return self._scaled(2.0**-exponent), exponent

    def _diameter(self) -> float:
        """Return the diameter from the points alone."""
        raise NotImplementedError

    def _support_points(self, directions: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _signed_distances(self, points: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> Shape:
        """Return the image of x -> linear @ x + offset."""
        raise NotImplementedError

    def _translated(self: _S, step: FloatArray) -> _S:
        raise NotImplementedError

    def _scaled(self: _S, factor: float) -> _S:
        raise NotImplementedError


def numbers(array: FloatArray) -> str:
    """Return an array as text in one line, to six digits: '(0, 0.5, 1)'."""
    if array.ndim:
        return f"({', '.join(map(numbers, array))})"
    return f"{float(array):z.6g}"


def counted(count: int, singular: str, plural: str) -> str:
    """Return a number of things as text: '1 vertex', '8 vertices'."""
    return f"{count} {singular if count == 1 else plural}"


def as_shape(name: str, value: object) -> Shape:
    """Return a shape of any kind; raise ValueError, naming the argument, for anything else."""
    if not isinstance(value, Shape):
        raise ValueError(f"{name} must be a shape such as ConvexHull, Box or Sphere, not {type(value).__name__}")
    return value


def even_scales(linear: FloatArray) -> FloatArray:
    """Return by how much (m,) matrices (dim, dim, m) scale lengths, where all directions are SIMILAR; else 0.0."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = [dot(row, row) for row in linear]
        even = sum(squares[1:], squares[0]) / len(squares)
        uneven = [np.abs(square - even) for square in squares] + [np.abs(dot(u, v)) for u, v in combinations(linear, 2)]
        result: FloatArray = np.where(np.max(uneven, axis=0) <= 2.0 * SIMILAR * even, np.sqrt(even), 0.0)
    return result


def _noted(image: _I, shape: Shape, linear: FloatArray | None) -> _I:
    """Return the image of a shape under a linear map, or translated, with a note of that unless its diameter has a
    formula."""
    if not image._has_formula:
        original, before = shape._image_of
        if linear is None or before is None:
            image.__dict__["_original_and_map"] = original, before if linear is None else linear
        else:
            image.__dict__["_original_and_map"] = original, linear @ before
    return image


def similarity(linear: FloatArray) -> tuple[float, FloatArray] | None:
    """Return the scale > 0 and the rotation or reflection (dim, dim) whose product the matrix is; None for any
    other."""
    u, stretches, v = np.linalg.svd(linear)
    if not stretches[-1] > (1.0 - SIMILAR) * stretches[0]:
        return None
    return float(stretches.mean()), u @ v


def validate_solids(a: object, b: object) -> None:
    """Raise ValueError, naming `a` or `b`, unless both are shapes of the same dimension."""
    dims = []
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            raise ValueError(
                f"{name} must be a shape such as ConvexHull, Box or Sphere, a Compound or a Mesh, "
                f"not {type(shape).__name__}"
            )
        dims.append(shape.dim)
    if dims[0] != dims[1]:
        raise ValueError(f"a and b must have the same dimension, but a has {dims[0]} and b has {dims[1]}")
