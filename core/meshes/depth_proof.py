# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that no short translation separates two meshes, as records that can be checked without a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..types import FloatArray, IntArray, ReadOnlyArrays


@dataclass(frozen=True, eq=False)
class Lattice(ReadOnlyArrays):
    """Cells of equal size that fill the space. World frame."""

    frame: FloatArray
    """(3, 3) orthogonal unit vectors, as rows: the axes."""
    origin: FloatArray
    """(3,) corner of cell (0, 0, 0)."""
    size: float
    """Length of the sides of a cell."""

    def cells_from(self, points: FloatArray) -> FloatArray:
        """Return points (n, 3) in units of cells from the origin."""
        cells: FloatArray = ((points - self.origin) @ self.frame.T) / self.size
        return cells

    def points_at(self, cells: FloatArray) -> FloatArray:
        """Return the points (n, 3) at coordinates in units of cells from the origin."""
        points: FloatArray = self.origin + (cells * self.size) @ self.frame
        return points


@dataclass(frozen=True, eq=False)
class CommonCells(ReadOnlyArrays):
    """Cells inside A and cells inside B. The cell of A and that of B of a pair overlap for all translations of B that
    differ along each axis by less than a cell from the one that brings the second into the place of the first.

    No translation shorter than `least` is outside of all these.
    """

    lattice: Lattice
    """The cells."""
    of_a: IntArray
    """(k, 3) cells inside of A."""
    of_b: IntArray
    """(k, 3) cells inside of B, before it is moved."""
    least: float
    """Certified: no shorter translation separates."""


@dataclass(frozen=True, eq=False)
class CommonPoints(ReadOnlyArrays):
    """Points of a bare surface, and cells inside of a solid. A point and a cell of a pair prevent a separation for all
    translations of B that differ along each axis by less than a cell from the one that brings the cell and that of the
    point together, for the 26 cells around it are inside of the solid, too.

    No translation shorter than `least` is outside of all these.
    """

    lattice: Lattice
    """The cells."""
    of_a: bool
    """Whether A is the surface; else B is."""
    points: FloatArray
    """(k, 3) points of the surface, before B is moved."""
    triangles: IntArray
    """(k,) the triangles that they are on."""
    cells: IntArray
    """(k, 3) cells of the solid, before B is moved."""
    least: float
    """Certified: no shorter translation separates."""


@dataclass(frozen=True, eq=False)
class PointInside(ReadOnlyArrays):
    """A point of a surface inside of a solid, which no translation shorter than its distance from the surface of
    the solid separates."""

    of_a: bool
    """Whether the point is of A; else of B."""
    point: FloatArray
    """(3,) the point."""
    triangle: int
    """The triangle that it is on."""
    least: float
    """Certified: how far it is from the surface of the solid."""


@dataclass(frozen=True, eq=False)
class CommonBall(ReadOnlyArrays):
    """A ball inside both solids, which no translation shorter than its diameter separates."""

    middle: FloatArray
    """(3,) its centre."""
    radius: float
    """Its radius."""

    @property
    def least(self) -> float:
        """Certified: no shorter translation separates."""
        return 2.0 * self.radius


@dataclass(frozen=True, eq=False)
class CrossingPair:
    """Two triangles that cross: no translation shorter than their own depth separates the solids."""

    triangle_a: int
    """The triangle of A."""
    triangle_b: int
    """The triangle of B."""
    least: float
    """Certified: no shorter translation separates."""


@dataclass(frozen=True, eq=False)
class Octree(ReadOnlyArrays):
    """Boxes of translations: that of level 0 is around no translation, those of each next level are half as wide."""

    frame: FloatArray
    """(3, 3) orthogonal unit vectors, as rows: the axes of the boxes. World frame."""
    reach: float
    """Half of the width of the box of level 0."""

    def size(self, level: int) -> float:
        """Return the width of the boxes of a level."""
        return 2.0 * self.reach / 2**level

    def middles(self, level: int, places: IntArray) -> FloatArray:
        """Return the translations (k, 3), world frame, in the middle of boxes (k, 3) of a level, counted from 0 on."""
        middles: FloatArray = ((places + 0.5) * self.size(level) - self.reach) @ self.frame
        return middles

    def nearest(self, level: int, places: IntArray) -> FloatArray:
        """Return how long (k,) the shortest translations in boxes (k, 3) of a level are."""
        away = np.abs((places + 0.5) * self.size(level) - self.reach) - 0.5 * self.size(level)
        near: FloatArray = np.sqrt((np.maximum(away, 0.0) ** 2).sum(axis=1))
        return near

    @staticmethod
    def parts(places: IntArray) -> IntArray:
        """Return the eight parts of each of some boxes (k, 3), boxes (8 k, 3) of the next level."""
        return (2 * places[:, None] + np.array(list(np.ndindex(2, 2, 2)))).reshape(-1, 3)


@dataclass(frozen=True, eq=False)
class CrossingBoxes(ReadOnlyArrays):
    """Boxes of translations of B, and for each two triangles that cross for all of them.

    No translation shorter than `least` is outside of all these.
    """

    octree: Octree
    """The boxes."""
    levels: IntArray
    """(k,) the level of each box."""
    places: IntArray
    """(k, 3) which box of its level it is."""
    pairs: IntArray
    """(k, 2) the triangles of A and B."""
    least: float
    """Certified: no shorter translation separates."""


DepthProof = CommonCells | CommonPoints | CommonBall | PointInside | CrossingPair | CrossingBoxes
"""Proves a lower bound of the depth of two meshes."""


def renumbered(
    proof: DepthProof | None, of_a: Callable[[IntArray], IntArray], of_b: Callable[[IntArray], IntArray]
) -> DepthProof | None:
    """Return the same proof with the triangles of the meshes numbered in another way."""
    if isinstance(proof, CommonPoints | PointInside):
        of = of_a if proof.of_a else of_b
        if isinstance(proof, CommonPoints):
            return replace(proof, triangles=of(proof.triangles))
        return replace(proof, triangle=int(of(np.array([proof.triangle]))[0]))
    if isinstance(proof, CrossingPair):
        a, b = (int(of(np.array([k]))[0]) for of, k in ((of_a, proof.triangle_a), (of_b, proof.triangle_b)))
        return replace(proof, triangle_a=a, triangle_b=b)
    if isinstance(proof, CrossingBoxes):
        first, second = proof.pairs.T
        return replace(proof, pairs=np.stack([of_a(first), of_b(second)], axis=1))
    return proof
