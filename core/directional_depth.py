# SPDX-License-Identifier: GPL-3.0-or-later
"""The directional penetration depth of two shapes: how far B has to be moved in a given direction to leave A.

Two convex pieces intersect in one interval of translations. Its end is found from outside, by conservative advancement:
a gap d along the normal n is closed by a move of d / (n . direction) at the earliest. Of compounds the search goes on
from the end of the pairs that penetrate until none does, so it stops in the first gap; of meshes that is the first
between the intervals in which two triangles meet. Source: B. Mirtich, Impulse-Based Dynamic Simulation, 1996; G. van
den Bergen, Ray Casting against General Convex Objects, 2004.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .arguments import as_length, as_unit
from .broad_phase.candidate_pairs import candidate_pairs
from .compounds.compound import Compound, ConvexPieces, as_compound
from .contact import contact
from .many.contacts import contacts
from .many.shape_set import ShapeSet
from .meshes.body import Body
from .meshes.first_gap import first_gap
from .meshes.solid_facets import Solid, solid_facets
from .narrow_phase.relation import contact_band
from .progress import Progress, report_progress, subrange
from .result import Relation
from .shapes.shape import validate_solids
from .shapes.support import project
from .tolerance import DEFAULT_CONTACT_TOLERANCE, promised
from .types import FloatArray, IntArray

_STEPS = 50
"""Steps inward of two convex pieces at most; polytopes take a few."""
_FEW = 12
"""Pairs of pieces up to which `contact` of each is faster than `contacts` of all."""
_FREE = (Relation.TOUCHING, Relation.SEPARATED)


def depth_along(
    a: Solid,
    b: Solid,
    direction: ArrayLike,
    *,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    progress: Progress | None = None,
) -> float:
    """Return how far B has to be moved in a direction until it no longer penetrates A; 0.0 where it does not.

    World units. An upper bound: after that translation the shapes are apart or touch within the contact tolerance. Of
    two convex shapes, and of others without curved surfaces, it is the shortest one, to rounding. It may end in an
    opening of A, as the MTV may.

    Args:
        a, b: see `contact`.
        direction: (dim,) world frame, of any length but zero.
        contact_tolerance: see `contact`: penetration within the band of TOUCHING is none, on the path neither.
        progress: called with the fraction done, 0 to 1; False cancels.

    Raises ValueError, naming the argument, when one is not a shape, the dimensions differ, or the direction is zero or
    not finite; Cancelled when `progress` returns False.

    >>> depth_along(Box([0, 0, 0], [2, 2, 2]), Box([0.5, 0, 0], [2, 2, 2]), [0, 0, 1])
    2.0
    """
    validate_solids(a, b)
    n = as_unit("direction", direction, a.dim)
    tolerance = as_length("contact_tolerance", contact_tolerance)
    report_progress(progress, 0.0)
    first, second = subrange(progress, 0.0, 0.2), subrange(progress, 0.2, 1.0)
    convex = isinstance(a, ConvexPieces) and isinstance(b, ConvexPieces)
    facets = [] if convex else [solid_facets(a), solid_facets(b)]
    slack = sum((of.slack for of in facets), 0.0)
    # Facets are inside of their solids and not much smaller: where they penetrate by more, these do.
    known = slack > 0.0 and not _is_free(facets[0].mesh, facets[1].mesh, 2.0 * tolerance, first)
    if not known and _is_free(a, b, tolerance, first):
        report_progress(progress, 1.0)
        return 0.0
    band = contact_band(a, b, tolerance)
    most = project(a, n)[1] - project(b, n)[0]
    if isinstance(a, ConvexPieces) and isinstance(b, ConvexPieces):
        found = _beyond_pieces(as_compound(a), as_compound(b), n, most, band, second)
    else:

        def is_free(length: float) -> bool:
            return _is_free(a, b.translated(length * n), tolerance, None)

        bodies = Body.of(facets[0].mesh), Body.of(facets[1].mesh)
        found = first_gap(*bodies, n, most, band, lambda length: slack > 0.0 or is_free(length), second)
        if slack > 0.0:
            found = _beyond_surfaces((found, most), slack, band, is_free, second)
    report_progress(progress, 1.0)
    return found


def _is_free(a: Solid, b: Solid, contact_tolerance: float, progress: Progress | None) -> bool:
    """Return whether two shapes do not penetrate."""
    found = contact(
        a, b, contact_tolerance=contact_tolerance, budget=0.0, depth=False, regions=False, progress=progress
    )
    return found.relation in _FREE


def _beyond_pieces(
    a: Compound, b: Compound, n: FloatArray, most: float, band: float, progress: Progress | None
) -> float:
    """Return the first translation along n at which no piece of B penetrates one of A by more than the band."""
    ends = b.lows, b.lows + most * n, b.highs, b.highs + most * n
    pairs = candidate_pairs(a.lows, a.highs, np.minimum(*ends[:2]), np.maximum(*ends[2:])).pairs
    of_a, of_b = ShapeSet(a.pieces), ShapeSet(b.pieces)
    found = 0.0
    while True:
        report_progress(progress, found, most)
        poses = _translations(np.full(len(b.pieces), found), n)
        distance, _ = _distances(of_a, of_b, pairs, poses, False)
        deep = np.flatnonzero(-distance > band)
        if not len(deep) or (end := float(_ends(a, b, pairs[deep], n, most).max())) <= found:
            return found
        found = end


def _ends(a: Compound, b: Compound, pairs: IntArray, n: FloatArray, most: float) -> FloatArray:
    """Return the translations (k,) along n beyond which pairs (k, 2) of pieces no longer penetrate."""
    of_a, of_b = (ShapeSet([of.pieces[k] for k in column]) for of, column in ((a, pairs[:, 0]), (b, pairs[:, 1])))
    rows = np.tile(np.arange(len(pairs))[:, None], 2)
    found = np.full(len(pairs), most + a.extent)
    enough = promised(0.0, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    for _ in range(_STEPS):
        poses = _translations(found, n)
        distance, normal = _distances(of_a, of_b, rows, poses, True)
        speed = normal @ n
        ahead = (distance > enough) & (speed > 0.0)
        if not ahead.any():
            break
        found[ahead] -= distance[ahead] / speed[ahead]
    return found


def _distances(
    of_a: ShapeSet, of_b: ShapeSet, pairs: IntArray, poses: FloatArray, apart: bool
) -> tuple[FloatArray, FloatArray]:
    """Return signed distances (k,) and normals (k, dim) of pairs (k, 2) of pieces, those of B in poses; `apart`: not
    only bounds of those that are apart."""
    if len(pairs) <= _FEW:
        found = [contact(of_a[i], of_b[j].transformed(poses[j])) for i, j in pairs.tolist()]
        normals = np.array([each.normal for each in found]).reshape(-1, of_a.dim)
        return np.array([each.signed_distance for each in found]), normals
    met = contacts(of_a, pairs, others=of_b, other_poses=poses, distances=apart, regions=False, certificates=False)
    return met.signed_distance, met.normal


def _translations(lengths: FloatArray, n: FloatArray) -> FloatArray:
    """Return the poses (k, dim + 1, dim + 1) that translate by lengths (k,) along n."""
    poses = np.tile(np.eye(len(n) + 1), (len(lengths), 1, 1))
    poses[:, :-1, -1] = lengths[:, None] * n
    return poses


def _beyond_surfaces(
    between: tuple[float, float],
    slack: float,
    band: float,
    is_free: Callable[[float], bool],
    progress: Progress | None,
) -> float:
    """Return a translation after which solids with curved surfaces do not penetrate: about the first after that of
    their facets, which are inside by up to the slack; to half of the band."""
    low = high = between[0]
    while high < between[1] and not is_free(high):
        report_progress(progress, 1.0)
        low, high, slack = high, min(high + slack, between[1]), 2.0 * slack
    while high - low > 0.5 * band:
        report_progress(progress, 1.0)
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_free(middle) else (middle, high)
    return high
