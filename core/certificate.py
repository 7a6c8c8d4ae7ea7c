# SPDX-License-Identifier: GPL-3.0-or-later
"""The proof that a contact carries: small, made of vertex indices, checked without the solver."""

from __future__ import annotations

from dataclasses import dataclass

from .polytope import FloatArray


@dataclass(frozen=True, eq=False)
class Certificate:
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
