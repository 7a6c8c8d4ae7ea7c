# SPDX-License-Identifier: GPL-3.0-or-later
"""The proof that a contact carries: small, made of vertex indices or directions, checked without the solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..types import FloatArray, ReadOnlyArrays

if TYPE_CHECKING:
    from .contact import Contact


@dataclass(frozen=True, eq=False)
class Certificate(ReadOnlyArrays):
    """What proves the bounds of a signed distance.

    The lower bound is the width of the empty slab across `normal` (negative when the shapes overlap along it). The
    upper bound is the distance of the two witness points; for shapes that penetrate, minus the radius of a ball around
    the origin inside the polytope, which is inside the Minkowski difference A - B.
    """

    normal: FloatArray
    """(dim,) unit vector from A to B."""
    index_a: tuple[int, ...]
    """Vertices of A whose weighted mean is `point_on_a`."""
    index_b: tuple[int, ...]
    """Vertices of B whose weighted mean is `point_on_b`."""
    weights: tuple[float, ...]
    """The weights of both: none negative, sum 1."""
    pairs: tuple[tuple[int, int], ...]
    """Corners of the polytope: corner k is vertex `pairs[k][0]` of A minus vertex `pairs[k][1]` of B. Empty when the
    shapes do not penetrate."""
    facets: tuple[tuple[int, ...], ...]
    """Outward triangles of the polytope (in the plane: sides, counter-clockwise) as indices into `pairs`."""


@dataclass(frozen=True, eq=False)
class SupportCertificate(ReadOnlyArrays):
    """What proves the bounds of a signed distance when a shape is curved.

    The lower bound is the width of the empty slab across `normal`, told by the shapes' support points. The upper bound
    is that of `inner`, the contact of two polytopes inside the cores, less the radii.
    """

    normal: FloatArray
    """(dim,) unit vector from A to B."""
    directions_a: FloatArray
    """(k, dim) the polytope inside A's core is the hull of its points for these directions; none: the core itself."""
    directions_b: FloatArray
    """(k, dim) the same for B."""
    inner: Contact
    """The contact of these polytopes, with its own certificate."""
    section: FloatArray | None = None
    """(3, 3) rows origin, axis and a direction across it: `inner` is then the contact, in the plane, of the sections of
    two bodies of revolution about axes in this plane, which is as good: see `curved_section`."""
    depth: float | None = None
    """World units, > 0: the cores overlap by at least as much in every direction, which cells of directions show that
    are made anew, see `direction_cover`; minus this is then an upper bound as well. None where it is not needed."""


@dataclass(frozen=True, eq=False)
class BallCertificate(ReadOnlyArrays):
    """What proves the bounds of a signed distance when the cores are an ellipsoid and a point.

    The lower bound is the width of the empty slab across `normal`, told by the shapes' support points. The upper bound
    is the distance of the ellipsoid's support point from the point; inside minus the radius of a ball about the point,
    which is in the ellipsoid: see `ellipsoid_ball`.
    """

    normal: FloatArray
    """(dim,) unit vector from A to B."""
    gap: float | None
    """How much less than the smallest semi-axis the root of the multiplier is that proves the radius; world units. None
    where the point is outside."""
