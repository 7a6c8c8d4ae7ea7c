# SPDX-License-Identifier: GPL-3.0-or-later
"""How far convex pieces, curved ones among them, are from a mesh: exactly, without facets for curved surfaces.

A piece that is rounded about a polytope is as far from the mesh as that is, less the radius. Any other curved one is
compared with triangles one by one. Each contact has a plane across which the pair is apart, and where all of another
triangle is beyond that plane it is known to be as far at least: most triangles are never looked at closely.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from ..curved.convex_contact import convex_contact
from ..progress import Progress, report_progress, subrange
from ..shapes.curved_shape import ConvexShape, CurvedShape
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope
from ..tolerance import CURVED_BRACKET, CURVED_ROUNDING, EPS, MESH_APART, MESH_GAP
from ..types import FloatArray
from .body import Body, length_of
from .mesh_distance import mesh_distance
from .solid_facets import bounds_of, inner_hull, mesh_of

_MOST_TRIANGLES = 256
"""Triangles that one curved piece is compared with; the bounds are valid for the others too."""
_STEPS = 40
"""Steps of pushing pieces out of a mesh."""
_LEAN = 0.3
"""Cosine of the angle to what is in the way, from which on is pushed along the translation and not away from that."""
_NUDGES = 3
"""Times that polytopes which touch the mesh after the translation are moved on by rounding."""


class Nearest(NamedTuple):
    """The nearest points of convex pieces and a mesh's surface."""

    signed_distance: float
    """> 0 gap; <= 0 where they meet: minus what one of the pieces overlaps one of the triangles by, or -inf where that
    is not known."""
    lower_bound: float
    """Where they are apart: certified."""
    upper_bound: float
    """Where they are apart: certified."""
    normal: FloatArray
    """(3,) unit vector from the pieces to the mesh; zero where it is not known."""
    on_piece: FloatArray
    """(3,)"""
    on_mesh: FloatArray
    """(3,)"""


_NONE = np.zeros(3)
_UNKNOWN = Nearest(-inf, -inf, 0.0, _NONE, _NONE, _NONE)


def nearest_to_mesh(
    pieces: Sequence[ConvexShape],
    mesh: Body,
    tolerance: float,
    toward: FloatArray | None = None,
    progress: Progress | None = None,
) -> Nearest:
    """Return where convex pieces in space are nearest to the surface of a mesh.

    Whether the mesh contains a whole piece is not decided. Ends at the first pair that overlaps by more than
    `tolerance`, world units. `toward` (3,) is a unit vector from the pieces to the mesh, where one is known: what
    reaches farthest against it is looked at first. `progress`: called with the fraction done; False cancels.
    """
    best = Nearest(inf, inf, inf, _NONE, _NONE, _NONE)
    flat = [piece for piece in pieces if isinstance(piece, Polytope)]
    if flat:
        best = _of_polytopes(flat, mesh, 0.0)
    for k, piece in enumerate(pieces):
        if isinstance(piece, Polytope) or best.signed_distance < -tolerance:
            continue
        part = subrange(progress, k / len(pieces), (k + 1) / len(pieces))
        report_progress(part, 0.0)
        if piece.skeleton is not None:
            found = _of_polytopes([piece.skeleton], mesh, piece.rounding_radius)
        else:
            found = _of_curved(piece, mesh, tolerance, toward, part)
        lower = min(best.lower_bound, found.lower_bound)
        best = (found if found.signed_distance < best.signed_distance else best)._replace(lower_bound=lower)
    return best._replace(upper_bound=max(best.upper_bound, best.signed_distance))


def has_entered(pieces: Sequence[ConvexShape], mesh: Body) -> bool:
    """Return whether a mesh's solid contains a piece's middle, or the core of a piece a point of a part of the mesh.

    Where pieces and surface do not meet either, they share nothing.
    """
    if mesh.contains(_middles(pieces)).any():
        return True
    for piece in pieces:
        core = piece.skeleton
        if core is not None and core.rank == 3:
            beyond = (mesh.part_points - core.center) @ core.normals.T - core.offsets
            if (beyond.max(axis=1) <= 0.0).any():
                return True
    return False


def all_inside(pieces: Sequence[ConvexShape], mesh: Body) -> bool:
    """Return whether a mesh's solid contains the middles of all pieces: all of them, if none meets its surface."""
    return bool(mesh.contains(_middles(pieces)).all())


def _middles(pieces: Sequence[ConvexShape]) -> FloatArray:
    """Return (k, 3) a point inside of each piece."""
    return np.array([piece.vertices.mean(axis=0) if isinstance(piece, Polytope) else piece.center for piece in pieces])


class Separation(NamedTuple):
    """A translation of convex pieces after which they share no more than a touch with a mesh."""

    translation: FloatArray
    """(3,)"""
    touch: FloatArray | None
    """(3,) where a piece then touches the mesh; None where it is farther away."""


def find_separation(
    pieces: Sequence[ConvexShape],
    mesh: Body,
    start: FloatArray,
    tolerance: float,
    progress: Progress | None = None,
) -> Separation | None:
    """Return a translation of pieces that separates them from a mesh, found by pushing them on from `start` (3,).

    Pieces that overlap the surface by `tolerance` or less count as touching; world units. None when none is found.
    """
    translation, nudges = start, 0
    magnitude = max(mesh.mesh.magnitude, *(piece.magnitude for piece in pieces))
    for step in range(_STEPS):
        report_progress(progress, step, _STEPS)
        length = length_of(translation)
        along = translation / length if length > 0.0 else None
        moved = [piece.translated(translation) for piece in pieces]
        near = nearest_to_mesh(moved, mesh, tolerance, None if along is None else -along)
        if near.signed_distance >= -tolerance:
            touch = near.on_mesh if near.signed_distance <= tolerance else None
            return None if has_entered(moved, mesh) else Separation(translation, touch)
        if near.signed_distance == -inf:
            if along is None or nudges == _NUDGES:
                return None
            nudges += 1
            translation = translation + along * (MESH_APART * EPS * (magnitude + length))
            continue
        lean = 0.0 if along is None else -float(along @ near.normal)
        push = -near.signed_distance
        if along is not None and lean >= _LEAN:
            translation = translation + along * (push / lean)
        else:
            translation = translation - push * near.normal
    return None


def _of_polytopes(cores: list[Polytope], mesh: Body, radius: float) -> Nearest:
    """Return it for all that is within a radius of polytopes."""
    a, b = mesh_of(cores), mesh.mesh
    found = mesh_distance(a, b)
    magnitude = max(a.magnitude, b.magnitude) + radius
    rounding = (MESH_GAP + CURVED_ROUNDING) * EPS * magnitude
    across = found.point_on_b - found.point_on_a
    length = length_of(across)
    if found.distance <= 0.0 or length <= rounding:
        return _UNKNOWN
    normal = across / length
    gap = found.distance - radius
    return Nearest(
        gap,
        found.lower_bound - radius - rounding,
        gap + rounding,
        normal,
        found.point_on_a + radius * normal,
        found.point_on_b,
    )


def _of_curved(
    shape: CurvedShape, mesh: Body, tolerance: float, toward: FloatArray | None, progress: Progress | None
) -> Nearest:
    """Return it for one curved piece: triangles in the order of what is known of each, until the rest is farther."""
    corners = mesh.mesh.points.take(mesh.mesh.triangles.ravel(), axis=0).reshape(-1, 3, 3)
    low, high = shape.bounds
    lows, highs = bounds_of(corners)
    between = np.maximum(np.maximum(lows - high, low - highs), 0.0)
    known = np.sqrt((between * between).sum(axis=1))
    known[known == 0.0] = -inf  # boxes that overlap bound nothing
    if toward is not None:
        np.maximum(known, _ahead(shape, corners, toward), out=known)
    rounding = CURVED_ROUNDING * EPS * (shape.rounding_radius + max(shape.magnitude, mesh.mesh.magnitude))
    enough = CURVED_BRACKET * min(shape.extent, mesh.mesh.extent) + rounding
    best = Nearest(inf, inf, inf, _NONE, _NONE, _NONE)
    lower = inf
    for looked_at in range(_MOST_TRIANGLES):
        report_progress(progress, looked_at, _MOST_TRIANGLES)
        k = int(known.argmin())
        if known[k] >= best.signed_distance - enough:
            break
        c = convex_contact(shape, ConvexHull(corners[k]))
        lower = min(lower, c.lower_bound)
        if c.signed_distance < best.signed_distance:
            best = Nearest(c.signed_distance, c.lower_bound, c.upper_bound, c.normal, c.point_on_a, c.point_on_b)
        if c.signed_distance < -tolerance:
            return best
        np.maximum(known, _ahead(shape, corners, c.normal), out=known)
        known[k] = inf
    remaining = float(known.min()) - rounding
    if remaining < best.signed_distance - 2.0 * enough:
        # Too many are about as near: facets inside of it may give a better bound.
        hull, slack = inner_hull(shape)
        remaining = max(remaining, _of_polytopes([hull], mesh, slack).lower_bound)
    return best._replace(lower_bound=min(lower, remaining))


def _ahead(shape: CurvedShape, corners: FloatArray, normal: FloatArray) -> FloatArray:
    """Return how far all of each triangle (t, 3, 3) is beyond the support plane of a shape along a unit normal."""
    front = shape.supports(normal[None])[0]
    return ((corners - front) @ normal).min(axis=1)
