# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes with a rounding radius: spheres, circles, capsules, and any other shape grown by a radius.

The signed distance of two of them is that of their cores less both radii, exactly, whether they are apart or penetrate.
So results for polytopes apply to them. Source: S1.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import as_floats, as_length, validate_magnitude
from ..types import FloatArray, read_only, set_parts
from .curved_shape import ConvexShape, CurvedShape, FlatFeature, Revolution
from .ellipsoid import Ellipsoid
from .feature import support_feature
from .hull import ConvexHull
from .polytope import Polytope
from .shape import numbers, similarity

_R = TypeVar("_R", bound="Rounded")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Rounded(CurvedShape):
    """All points within a radius of a shape, which may itself be curved."""

    core: Polytope | CurvedShape
    """The shape that is rounded. A `Rounded` core is replaced by its own, a ball by its centre, and the radii add."""
    radius: float
    """Distance from the core to the surface, >= 0, world units: of a sphere, circle or capsule its radius."""

    def __init__(self, core: Polytope | CurvedShape, radius: float) -> None:
        """Round a shape by a radius in world units, >= 0. Raises ValueError, naming the argument, for anything else."""
        reach = as_length("radius", radius)
        if not isinstance(core, ConvexShape):
            raise ValueError(f"core must be a shape, not {type(core).__name__}")
        reach += core.rounding_radius
        core = core_of(core)
        if isinstance(core, Ellipsoid) and core.skeleton is not None:
            core = core.skeleton  # of a ball: its radius is counted already
        low, high = core.bounds
        validate_magnitude("radius", np.array([*(low - reach), *(high + reach)]))
        set_parts(self, {"core": core, "radius": reach})

    @property
    def _parts(self) -> list[str]:
        return [f"core={self.core!r}", f"radius={self.radius:.6g}"]

    @property
    def dim(self) -> int:
        return self.core.dim

    @property
    def rounding_radius(self) -> float:
        return self.radius

    @property
    def skeleton(self) -> Polytope | None:
        return self.core.skeleton

    def core_supports(self, directions: FloatArray) -> FloatArray:
        return self.core.core_supports(directions)

    def start_directions(self) -> FloatArray:
        return self.core.start_directions() if isinstance(self.core, CurvedShape) else np.zeros((0, self.dim))

    def core_points(self, directions: FloatArray) -> FloatArray:
        return self.core.core_points(directions) if isinstance(self.core, CurvedShape) else self.core.vertices

    def core_feature(self, direction: FloatArray, width: float) -> FlatFeature:
        return flat_feature(self.core, direction, width)

    def flat_directions(self, direction: FloatArray, point: FloatArray) -> FloatArray:
        return self.core.flat_directions(direction, point)

    @property
    def revolution(self) -> Revolution | None:
        if isinstance(self.core, CurvedShape):
            return self.core.revolution
        first = self.core.vertices[0]
        if self.core.rank == 0:
            return Revolution(tuple(first.tolist()), None, ((0.0, 0.0),))
        if self.core.rank > 1 or self.dim == 2:
            return None
        start, end = self.core.vertices[self.core.edges[0]]
        direction = self.core.edge_directions[0]
        length = float((end - start) @ direction)
        return Revolution(tuple(start.tolist()), tuple(direction.tolist()), ((0.0, 0.0), (length, 0.0)))

    def _core_diameter(self) -> float:
        return self.core._core_diameter() if isinstance(self.core, CurvedShape) else self.core.diameter

    @property
    def steiner_terms(self) -> tuple[FloatArray, FloatArray]:
        return self.core.steiner_terms

    @property
    def centroid(self) -> FloatArray:
        return super().centroid if self._at_ordinary_size[0].volume > 0.0 else self.core.centroid

    def core_distances(self, points: FloatArray) -> FloatArray:
        return self.core.core_distances(points)

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> CurvedShape:
        found = similarity(linear)
        if found is None and self.radius > 0.0:
            raise ValueError(
                f"matrix: a {type(self).__name__} keeps its form under rotation, reflection, translation and even "
                f"scale only; take {'Polygon' if self.dim == 2 else 'ConvexHull'} of points of its surface"
            )
        return self._with(self.core._transformed(linear, offset), self.radius * (found[0] if found else 1.0))

    def _translated(self: _R, step: FloatArray) -> _R:
        return self._with(self.core._translated(step), self.radius)

    def _scaled(self: _R, factor: float) -> _R:
        return self._with(self.core._scaled(factor), self.radius * factor)

    def _with(self: _R, core: ConvexShape, radius: float) -> _R:
        """Return a shape of the same class with another core and radius."""
        made = object.__new__(type(self))
        Rounded.__init__(made, core, radius)
        return made


class Sphere(Rounded):
    """A ball in space; with radius 0 a point."""

    def __init__(self, center: ArrayLike, radius: float) -> None:
        """Build it from its centre (3,) and radius >= 0, world units. Raises ValueError, naming the argument."""
        super().__init__(_corners(("center", center), dims=(3,)), radius)

    @property
    def _parts(self) -> list[str]:
        return [f"center={numbers(self.center)}", f"radius={self.radius:.6g}"]

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> CurvedShape:
        if self.radius == 0.0 or similarity(linear) is not None:
            return super()._transformed(linear, offset)
        return Ellipsoid.from_axes(self.core.center, np.full(3, self.radius), np.eye(3))._transformed(linear, offset)


class Circle(Rounded):
    """A disk in the plane, for two-dimensional contact."""

    def __init__(self, center: ArrayLike, radius: float) -> None:
        """Build it from its centre (2,) and radius >= 0, world units. Raises ValueError, naming the argument."""
        super().__init__(_corners(("center", center), dims=(2,)), radius)

    @property
    def _parts(self) -> list[str]:
        return [f"center={numbers(self.center)}", f"radius={self.radius:.6g}"]


class Capsule(Rounded):
    """All points within a radius of a segment, in space or in the plane; its length is that of the segment plus two
    radii."""

    def __init__(self, start: ArrayLike, end: ArrayLike, radius: float) -> None:
        """Build it from the ends of its segment (dim,) and its radius >= 0, world units.

        Raises ValueError, naming the argument.
        """
        super().__init__(_corners(("start", start), ("end", end), dims=(2, 3)), radius)

    @property
    def _parts(self) -> list[str]:
        return [f"start={numbers(self.start)}", f"end={numbers(self.end)}", f"radius={self.radius:.6g}"]

    @property
    def start(self) -> FloatArray:
        """(dim,) one end of the segment, world frame."""
        return self._ends[0]

    @property
    def end(self) -> FloatArray:
        """(dim,) the other end."""
        return self._ends[-1]

    @property
    def _ends(self) -> FloatArray:
        assert isinstance(self.core, Polytope)
        return self.core.vertices


def _corners(*named: tuple[str, ArrayLike], dims: tuple[int, ...]) -> ConvexHull:
    """Return the hull of points, of one of the dimensions `dims`."""
    size = np.size(named[0][1])
    dim = size if size in dims else dims[-1]
    rows = [as_floats(name, point, dim) for name, point in named]
    for (name, _), row in zip(named, rows, strict=True):
        validate_magnitude(name, np.array(row))
    return ConvexHull(rows)


def core_of(shape: ConvexShape) -> ConvexShape:
    """Return the shape that a `Rounded` one is grown from; any other shape itself."""
    return shape.core if isinstance(shape, Rounded) else shape


def flat_feature(shape: ConvexShape, direction: FloatArray, width: float) -> FlatFeature:
    """Return the part of a core that is extreme in a unit `direction` (dim,), to `width` in world units."""
    if isinstance(shape, CurvedShape):
        return shape.core_feature(direction, width)
    feature = support_feature(shape, direction, width)
    return FlatFeature(read_only(shape.vertices[list(feature.vertices)]), ids=feature.vertices)
