# SPDX-License-Identifier: GPL-3.0-or-later
"""Compounds: unions of convex pieces that represent a non-convex shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import sqrt
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ..curved.convex_contact import convex_contact
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..shapes.shape import Shape, counted
from ..tolerance import COMPOUND_PLANE, EPS, promised
from ..types import FloatArray, read_only
from .covered import union_moments


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Compound(Shape):
    """The union of convex pieces, in world coordinates. Pieces may overlap, touch, be apart, or be flat."""

    without_vertices = "is not convex: use contact(a, b), or its pieces one by one"
    pieces: tuple[ConvexShape, ...]
    """At least one, all of the same dimension, in the order given."""

    def __init__(self, pieces: Sequence[ConvexShape]) -> None:
        """Take pieces such as `ConvexHull`, `Box` or `Sphere`.

        Raises ValueError, naming the argument, when `pieces` is empty, one of them is not a shape, or their
        dimensions differ.
        """
        try:
            given = tuple(pieces)
        except TypeError as error:
            raise ValueError(f"pieces must be a sequence of shapes, not {type(pieces).__name__}") from error
        if not given:
            raise ValueError("pieces: at least one shape expected, got none")
        for k, piece in enumerate(given):
            if not isinstance(piece, ConvexShape):
                raise ValueError(f"pieces: number {k} must be a shape such as ConvexHull, not {type(piece).__name__}")
            if piece.dim != given[0].dim:
                raise ValueError(f"pieces: number {k} has dimension {piece.dim}, but number 0 has {given[0].dim}")
        object.__setattr__(self, "pieces", given)

    @property
    def dim(self) -> int:
        """Dimension of the points: 2 or 3."""
        return self.pieces[0].dim

    @property
    def _parts(self) -> list[str]:
        return [counted(len(self.pieces), "piece", "pieces"), self._box_words]

    @cached_property
    def lows(self) -> FloatArray:
        """(n, dim) lowest corners of the pieces' axis-aligned boxes, world frame."""
        return read_only(np.array([piece.bounds[0] for piece in self.pieces]))

    @cached_property
    def highs(self) -> FloatArray:
        """(n, dim) highest corners of the pieces' axis-aligned boxes, world frame."""
        return read_only(np.array([piece.bounds[1] for piece in self.pieces]))

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest corner (dim,) of the axis-aligned bounding box, world frame."""
        return read_only(self.lows.min(axis=0)), read_only(self.highs.max(axis=0))

    @cached_property
    def curved(self) -> bool:
        """Whether any piece is not a polytope."""
        return not all(isinstance(piece, Polytope) for piece in self.pieces)

    @cached_property
    def hull(self) -> ConvexShape:
        """The convex hull of all pieces; of a single piece, the piece itself; of several with a curved one among them,
        their bounding box."""
        if len(self.pieces) == 1:
            return self.pieces[0]
        parts = [piece for piece in self.pieces if isinstance(piece, Polytope)]
        if len(parts) < len(self.pieces):
            return ConvexHull(list(product(*np.transpose(self.bounds).tolist())))
        return ConvexHull(np.concatenate([piece.vertices for piece in parts]))

    def _diameter(self) -> float:
        if len(self.pieces) == 1:
            return self.pieces[0].diameter
        from .compound_diameter import pieces_diameter

        shape, exponent = self._at_ordinary_size
        return float(np.ldexp(pieces_diameter(shape.pieces), exponent))

    @cached_property
    def _moments(self) -> tuple[float, FloatArray]:
        curved = [piece for piece in self.pieces if not isinstance(piece, Polytope)]
        if not curved:
            return union_moments(cast(tuple[Polytope, ...], self.pieces))
        from ..broad_phase.candidate_pairs import candidate_pairs

        tolerance = pair_tolerance(self, self)
        for i, j in candidate_pairs(self.lows, self.highs).pairs.tolist():
            if convex_contact(self.pieces[i], self.pieces[j]).signed_distance < -tolerance:
                raise ValueError(f"pieces {i} and {j} overlap, one is curved: their union's volume is not known")
        volumes = np.array([piece.volume for piece in self.pieces])
        return float(volumes.sum()), volumes @ [piece.centroid for piece in self.pieces]

    @property
    def volume(self) -> float:
        """Volume of the union, its area in the plane: overlaps of pieces count once.

        Raises ValueError when pieces overlap and one of them is curved.
        """
        shape, exponent = self._at_ordinary_size
        with np.errstate(over="ignore"):
            return float(np.ldexp(shape._moments[0], self.dim * exponent))

    @property
    def centroid(self) -> FloatArray:
        """(dim,) centre of mass of the union, world frame; the centre of the box when the volume is 0.

        Raises ValueError when pieces overlap and one of them is curved.
        """
        shape, exponent = self._at_ordinary_size
        volume, moment = shape._moments
        return read_only(np.ldexp(moment / volume, exponent)) if volume > 0.0 else self.center

    def signed_distance(self, points: ArrayLike) -> FloatArray:
        """Return the signed distances (n,) of `points` (n, dim) from the nearest piece, or the one they are deepest in.

        For points outside, it is the distance from the union; inside, where pieces overlap or meet, the surface of the
        union may be farther.
        Raises ValueError, naming the argument. Source: S1.5.
        """
        return super().signed_distance(points)

    def _support_points(self, directions: FloatArray) -> FloatArray:
        tips = np.stack([piece.supports(directions) for piece in self.pieces])
        farthest = np.einsum("pkd,kd->pk", tips - self.center, directions).argmax(axis=0)
        return tips[farthest, np.arange(len(directions))]

    def _signed_distances(self, points: FloatArray) -> FloatArray:
        return np.min([piece.signed_distance(points) for piece in self.pieces], axis=0)

    def _transformed(self, linear: FloatArray, offset: FloatArray) -> Compound:
        return Compound([piece._transformed(linear, offset) for piece in self.pieces])

    def _translated(self, step: FloatArray) -> Compound:
        return Compound([piece.translated(step) for piece in self.pieces])

    def _scaled(self, factor: float) -> Compound:
        return Compound([piece.scaled(factor) for piece in self.pieces])


ConvexPieces = Compound | ConvexShape
"""Every kind of shape that is a union of convex pieces: all but meshes."""


def as_compound(shape: ConvexPieces) -> Compound:
    """Return `shape` if it is a compound, else the compound of that single convex shape."""
    return shape if isinstance(shape, Compound) else Compound([shape])


def pair_tolerance(a: Compound, b: Compound) -> float:
    """Return the depth up to which pieces count as touching, and within which bounds meet; world units."""
    promise = promised(0.0, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    return promise + 8.0 * COMPOUND_PLANE * EPS * pair_size(a, b)


def pair_size(a: Compound, b: Compound) -> float:
    """Return the sum of both extents and the distance between the centers, world units."""
    apart = b.center - a.center
    return a.extent + b.extent + sqrt(float(apart @ apart))
