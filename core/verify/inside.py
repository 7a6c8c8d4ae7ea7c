# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the relation of a mesh and another solid: what is inside of what, by winding numbers over all triangles."""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from ..meshes.body import Body
from ..meshes.coordinates import corner_rows
from ..meshes.enclosure import enclosure_of
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances
from ..meshes.solid_facets import Solid, pieces_of
from ..meshes.triangle_distance import rows_of
from ..result import Contact, Relation
from ..runs import chunks
from ..tolerance import CONVEX_COVERED
from ..types import FloatArray
from ..vectors import cross, dot
from .check import Check
from .pair_proof import off_piece
from .surfaces import off_surface, surfaces_meet

_MOST = 400_000
"""Points times triangles that are measured."""
_MOST_CURVED = 400
"""Points that are measured against curved pieces."""

_CHUNK = 1 << 13
"""Triangles in one go."""

_FITS = "the relation fits what is inside of what"


class SolidSide(NamedTuple):
    """One of the two solids."""

    solid: Solid
    body: Body
    """Its facets."""
    curved: bool


def check_inside(
    contact: Contact, crossing: bool, a: SolidSide, b: SolidSide, band: float, limit: float
) -> list[Check]:
    """Return whether the relation of two solids that are not apart agrees with where their points are.

    `crossing` is whether triangles meet, `band` the half-width of TOUCHING, `limit` how far what is inside may stick
    out; world units.
    """
    relation = contact.relation
    if relation is Relation.COINCIDENT:
        return _coincident(a, b, limit)
    if relation in (Relation.A_INSIDE_B, Relation.B_INSIDE_A):
        inner, outer = (a, b) if relation is Relation.A_INSIDE_B else (b, a)
        if not outer.body.solid:
            return [Check(_FITS, False, f"{relation}, but the other is not a solid")]
        if not crossing and not (a.curved or b.curved):
            return _whole_inside(relation, inner.body, outer.body)
        return _held(relation, inner, outer, limit)
    if relation is Relation.PENETRATING:
        return _penetrating(crossing, a, b)
    by_samples = not contact.normal.any()
    if relation is Relation.TOUCHING and contact.intersects and (by_samples or not (a.body.solid and b.body.solid)):
        return _touching(contact, a, b, band, limit)
    return []


def _coincident(a: SolidSide, b: SolidSide, limit: float) -> list[Check]:
    if a.body.solid != b.body.solid:
        return [Check(_FITS, False, "coincident, but only one is a solid")]
    if a.body.solid and isinstance(a.solid, Mesh) and isinstance(b.solid, Mesh):
        volume_a, volume_b = abs(a.body.mesh.volume), abs(b.body.mesh.volume)
        room = 4.0 * limit * max(a.body.mesh.area, b.body.mesh.area) + CONVEX_COVERED * volume_a
        if abs(volume_a - volume_b) > room:
            return [Check(_FITS, False, f"coincident, but the volumes are {volume_a:.9g} and {volume_b:.9g}")]
    return [*_held(Relation.COINCIDENT, a, b, limit), *_held(Relation.COINCIDENT, b, a, limit)]


def _whole_inside(relation: Relation, inner: Body, outer: Body) -> list[Check]:
    """Return whether all parts of one begin inside the other, whose surface none of them meets."""
    parts, (meet,) = parts_inside(inner, outer), surfaces_meet(inner.mesh, outer.mesh)
    words = f"{relation}: {sum(parts)} of {len(parts)} parts begin inside, the surfaces meet: {meet}"
    return [Check(_FITS, all(parts) and not meet, words)]


def _held(relation: Relation, inner: SolidSide, outer: SolidSide, limit: float) -> list[Check]:
    """Return whether no point looked at of `inner` is outside of `outer`; corners, then middles of triangles."""
    mesh = inner.body.mesh
    points = np.concatenate([mesh.points[np.unique(mesh.triangles)], mesh.points[mesh.triangles].mean(axis=1)])
    most = _MOST_CURVED if outer.curved else max(1, _MOST // len(outer.body.mesh.triangles))
    chosen = points[np.unique(np.linspace(0, len(points) - 1, min(most, len(points))).astype(np.intp))]
    off = 0.0
    for point in chosen:
        off = max(off, off_solid(point, outer))
        if off > limit:
            return [Check(_FITS, False, f"{relation}, but a point sticks out by {off:.3g}, limit {limit:.3g}")]
    checks = [Check(_FITS, True, f"{relation}: {len(chosen)} points stick out by {off:.3g}")]
    if len(chosen) < len(points):
        words = f"{len(chosen)} of {len(points)} points were checked"
        checks.append(Check("not checked: that no other point sticks out", True, words))
    return checks


def _penetrating(crossing: bool, a: SolidSide, b: SolidSide) -> list[Check]:
    if crossing or a.curved or b.curved:
        # The surfaces meet, or may: that nothing sticks out by more than the band is then no matter of loose parts.
        words = "the surfaces meet, and only corners could be checked"
        return [Check("not checked: that neither is inside the other", True, words)]
    a_in_b, b_in_a = parts_inside(a.body, b.body), parts_inside(b.body, a.body)
    if a_in_b and not any(b_in_a) and all(a_in_b):
        return [Check(_FITS, False, "penetrating, but all of A is inside B")]
    if b_in_a and not any(a_in_b) and all(b_in_a):
        return [Check(_FITS, False, "penetrating, but all of B is inside A")]
    return [Check(_FITS, True, f"{sum(a_in_b)} of {len(a_in_b)} parts of A inside B, {sum(b_in_a)} of B inside A")]


def _touching(contact: Contact, a: SolidSide, b: SolidSide, band: float, limit: float) -> list[Check]:
    """Return whether what touches leaves within the band; without a direction, whether no corner is deeper inside."""
    if contact.normal.any() and not (a.curved or b.curved):
        # By the band first: what is hardly thicker may meet again farther on.
        apart = any(are_separated(a.body, *(b.body.translated(length * contact.normal) for length in (band, limit))))
        return [Check(_FITS, apart, "touching: moved by the band along the normal, no triangles meet")]
    for inner, outer in ((a, b), (b, a)):
        if not outer.body.solid or outer.curved:
            continue
        points = inner.body.mesh.points[np.unique(inner.body.mesh.triangles)]
        for point in points[: max(1, _MOST // len(outer.body.mesh.triangles))]:
            if abs(turns(point, outer.body.mesh)) > 0.5 and off_surface(point, outer.body.mesh) > limit:
                return [Check(_FITS, False, "touching, but a corner is deeper inside than the band")]
    return [Check("not checked: that they only touch", True, "no direction in which it could be proved")]


def parts_inside(inner: Body, outer: Body) -> list[bool]:
    """Tell for each loose part of one whether it begins inside the other's solid."""
    low, high = outer.mesh.bounds
    starts, result = inner.part_points, [False] * len(inner.part_points)
    if outer.solid:
        for k in np.flatnonzero(((starts >= low) & (starts <= high)).all(axis=1)).tolist():
            result[k] = abs(turns(starts[k], outer.mesh)) > 0.5
    return result


def least_turns(inner: Body, outer: Body) -> tuple[float, bool]:
    """Return how often what of an open mesh is closed but for small holes winds at least around the corners of a body,
    and whether all of these were looked at; 0.0 where nothing is."""
    (low, high), (outer_low, outer_high) = inner.mesh.bounds, outer.mesh.bounds
    if outer.solid or (low < outer_low).any() or (high > outer_high).any():
        return 0.0, True
    found, corners = enclosure_of(outer.mesh), inner.corners
    if found is None:
        return 0.0, True
    surface, most = found.surface(outer.mesh), max(1, _MOST // len(outer.mesh.triangles))
    chosen = np.unique(np.linspace(0, len(corners) - 1, min(most, len(corners))).astype(np.intp))
    least = np.inf
    for point in corners[chosen]:
        least = min(least, abs(turns(point, surface)))
        if least < 0.5:  # outside
            break
    return least, len(chosen) == len(corners)


def are_separated(a: Body, *moved: Body) -> list[bool]:
    """Return of some bodies, one at different places, whether its surface has no common point with that of `a` and no
    part of one is inside the other."""
    meet = surfaces_meet(a.mesh, *(b.mesh for b in moved))
    return [not (met or any(parts_inside(a, b)) or any(parts_inside(b, a))) for met, b in zip(meet, moved, strict=True)]


def off_solid(point: FloatArray, side: SolidSide) -> float:
    """Return how far a point is outside of a solid, or from a bare surface; about 0.0 inside."""
    if side.curved:
        assert not isinstance(side.solid, Mesh)
        return max(0.0, min(off_piece(point, piece) for piece in pieces_of(side.solid)))
    if side.body.solid and abs(turns(point, side.body.mesh)) > 0.5:
        return 0.0
    return off_surface(point, side.body.mesh)


def distances(points: FloatArray, corners: FloatArray) -> FloatArray:
    """Return how far points (k, 3) are from triangles (k, 3, 3)."""
    if not len(points):
        return np.zeros(0)
    return point_triangle_distances(points.T, rows_of(corners))[0]


def turns(point: FloatArray, mesh: Mesh) -> float:
    """Return how often a mesh winds around a point: the sum of the solid angles of its triangles."""
    total = 0.0
    for part in chunks(len(mesh.triangles), _CHUNK):
        p, q, r = corner_rows(mesh.points, mesh.triangles[part]) - point[:, None]
        lp, lq, lr = (np.sqrt(dot(side, side)) for side in (p, q, r))
        spread = lp * lq * lr
        spread += dot(p, q) * lr
        spread += dot(q, r) * lp
        spread += dot(r, p) * lq
        angles = np.arctan2(dot(p, cross(q, r)), spread)
        total += float((angles if mesh.times is None else angles * mesh.times[part]).sum())
    return total / (2.0 * pi)
