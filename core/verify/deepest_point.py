# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the deepest points of two solids, without the search that found them.

Points and distances are measured again. That no point is deeper is proved by covering the surface with triangles of
which each corner is near enough to one triangle of the other surface, or to two on an average, or is outside by more
than the triangle is long. Curved shapes are covered by facets inside of them, so for them that is checked only up to
how far those are from the surface.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..compounds.compound import Compound
from ..curved.curved_inside import spread
from ..measures.deepest_point import TOUCHING, named_reasons, no_inside, plain_solid
from ..measures.deepest_record import DeepestPoint, DeepestPoints
from ..meshes.body import Body, length_of
from ..meshes.mesh import Mesh
from ..meshes.point_distance import point_triangle_distances, points_to_mesh
from ..meshes.solid_facets import Solid, mesh_of, solid_facets
from ..runs import chunks
from ..shapes.curved_shape import ConvexShape
from ..shapes.hull import ConvexHull
from ..shapes.ordinary_size import extreme_exponent
from ..shapes.polytope import Polytope
from ..tolerance import EPS, MESH_GAP
from ..types import FloatArray
from ..vectors import least_mean
from .check import Check, Verification
from .form import Test, field_faults, first, is_length, of_kind, optional, vector
from .inside import turns
from .surfaces import off_surface

_RELATIVE = 1e-8
"""Times the distance: how nearly it is measured again."""
_MOST = 20_000
"""Points measured for a cover."""
_CHUNK = 1 << 12
"""Triangles in one go."""
_ENOUGH = 0.5
"""Times the limit: points nearer to a surface are not measured exactly."""
_AROUND = 720
"""Corners of the polygon in a curved shape in the plane."""


def check_deepest_points(found: DeepestPoints, a: Solid, b: Solid) -> Verification:
    """Return, check by check, whether deepest points are true statements about A and B, which must be shapes."""
    form = first("the deepest points are well-formed", _faults(found, a.dim))
    if not form.ok:
        return Verification((form,), float("nan"))
    exponent = extreme_exponent(a, b)
    if exponent:
        a, b, found = a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), found.scaled(-exponent)
    solids = plain_solid(a), plain_solid(b)
    reasons = [no_inside(solid) for solid in solids]
    same = found.unsupported_reason == named_reasons(reasons)
    checks = [form, Check("a reason is given where there is no answer", same, named_reasons(reasons))]
    for k, (name, point) in enumerate((("A", found.of_a), ("B", found.of_b))):
        own, other = solids[k], solids[1 - k]
        if isinstance(own, Compound) or isinstance(other, Compound) or reasons[1 - k]:
            checks.append(Check(f"nothing is known of the surface of {name}", point is None, reasons[1 - k]))
        else:
            checks += _checks(f"surface of {name}", own, other, point)
    widths = [(point.upper - point.lower) for point in (found.of_a, found.of_b) if point]
    return Verification(tuple(checks), float(np.ldexp(max(widths, default=0.0), exponent)))


def _faults(found: DeepestPoints, dim: int) -> Iterator[str]:
    tests: dict[str, Test] = {"distance lower upper": is_length, "point nearest": vector(dim)}
    yield from field_faults(found, {"of_a of_b": optional(of_kind(DeepestPoint)), "unsupported_reason": of_kind(str)})
    for point in (found.of_a, found.of_b):
        if isinstance(point, DeepestPoint):
            yield from field_faults(point, tests)


def _checks(name: str, own: Mesh | ConvexShape, other: Mesh | ConvexShape, point: DeepestPoint | None) -> list[Check]:
    rounding = 2.0 * MESH_GAP * EPS * max(own.magnitude, other.magnitude)
    if point is None:
        return [_cover(name, own, other, TOUCHING * min(own.extent, other.extent), rounding)]
    room = rounding + _RELATIVE * point.distance
    off = max(_off_surface(point.point, own), _off_surface(point.nearest, other))
    away, depth = length_of(point.nearest - point.point), _depth(point.point, other)
    wrong = max(abs(depth - point.distance), abs(away - point.distance))
    bounds = 0.0 <= point.lower <= point.distance <= point.upper and point.lower <= depth + rounding
    checks = [
        Check(f"the points are on the surfaces, {name}", off <= room, f"off by {off:.3g}"),
        Check(f"the point is as deep as reported, {name}", wrong <= room, f"{point.distance:.9g}, off by {wrong:.3g}"),
        Check(f"the bounds contain the depth, {name}", bounds, f"{point.lower:.9g} to {point.upper:.9g}"),
    ]
    if all(check.ok for check in checks):
        checks.append(_cover(name, own, other, point.upper, rounding))
    return checks


def _off_surface(point: FloatArray, solid: Mesh | ConvexShape) -> float:
    """Return how far a point is from the surface of a solid."""
    if isinstance(solid, Mesh):
        return off_surface(point, Body.of(solid).mesh)
    return abs(float(solid.signed_distance(point[None])[0]))


def _depth(point: FloatArray, solid: Mesh | ConvexShape) -> float:
    """Return how deep a point is inside a solid; below 0 outside."""
    if not isinstance(solid, Mesh):
        return -float(solid.signed_distance(point[None])[0])
    mesh = Body.of(solid).mesh
    return off_surface(point, mesh) if abs(turns(point, mesh)) > 0.5 else -off_surface(point, mesh)


def _cells(solid: Mesh | ConvexShape) -> tuple[FloatArray, float]:
    """Return triangles (k, 3, 3) of the surface of a solid, of a shape in the plane its sides, and how far it may be
    from these."""
    if solid.dim == 3:
        found = solid_facets(solid)
        return found.mesh.points[found.mesh.triangles], found.slack
    sides, beyond = _sides(solid)
    return np.pad(sides, ((0, 0), (0, 0), (0, 1)))[:, [0, 1, 1]], beyond


def _facets(solid: Mesh | ConvexShape) -> tuple[Mesh, float]:
    """Return the surface of a solid, of a shape in the plane that of a long prism, and how far it may be from there."""
    if isinstance(solid, Mesh):
        body = Body.of(solid)
        return body.mesh, body.slit
    if solid.dim == 3:
        found = solid_facets(solid)
        return found.mesh, found.slack
    sides, beyond = _sides(solid)
    corners = sides.reshape(-1, 2)
    ends = [np.column_stack([corners, np.full(len(corners), z)]) for z in (-solid.extent, solid.extent)]
    return mesh_of([ConvexHull(np.concatenate(ends))]), beyond


def _sides(solid: Mesh | ConvexShape) -> tuple[FloatArray, float]:
    """Return the sides (k, 2, 2) of a shape in the plane, and how far it may reach beyond these."""
    assert not isinstance(solid, Mesh)
    if isinstance(solid, Polytope):
        return solid.vertices[solid.edges], 0.0
    hull = ConvexHull(solid.supports(spread(2, _AROUND)))
    beyond = ((solid.supports(hull.normals) - hull.center) * hull.normals).sum(axis=1) - hull.offsets
    # Between neighbours it may reach to where their support lines meet.
    return hull.vertices[hull.edges], 2.0 * float(beyond.max())


def _cover(name: str, own: Mesh | ConvexShape, other: Mesh | ConvexShape, limit: float, rounding: float) -> Check:
    """Return whether no point of one surface is deeper inside the other solid than a limit."""
    cells, off = _cells(own)
    mesh, slack = _facets(other)
    body = Body.of(mesh)
    limit += off + slack + rounding
    measured = 0
    while len(cells):
        points, corners = np.unique(cells.reshape(-1, 3), axis=0, return_inverse=True)
        corners = corners.reshape(-1, 3)
        measured += len(points)
        if measured > _MOST:
            words = f"{len(cells)} triangles are left of the surface, and none of {measured} points is deeper"
            return Check(f"not checked: that no other point is deeper, {name}", True, words)
        found = points_to_mesh(points, mesh, enough=np.full(len(points), _ENOUGH * limit))
        far = np.flatnonzero(found.distance > limit)
        inside = far[body.contains(points[far])]
        if len(inside):
            deepest = float(found.distance[inside].max())
            return Check(f"no point is deeper, {name}", False, f"limit {limit:.9g}, a point is {deepest:.9g} deep")
        outside = np.zeros(len(points))
        outside[far] = found.distance[far] - rounding
        longest = np.sqrt(((cells - np.roll(cells, -1, axis=1)) ** 2).sum(axis=2)).max(axis=1)
        left = np.flatnonzero(longest > outside.take(corners).max(axis=1))
        deeper = []
        for part in chunks(len(left), _CHUNK):
            own_corners = corners.take(left[part], axis=0)
            places, numbers = (
                np.broadcast_to(k, (len(own_corners), 3, 3)).ravel()
                for k in (own_corners[:, :, None], own_corners[:, None])
            )
            triangles = found.triangle.take(places)
            rows = np.ascontiguousarray(points.take(numbers, axis=0).T)
            lengths = point_triangle_distances(rows, mesh.corner_rows(triangles))[0].reshape(-1, 3, 3)
            deeper.append(least_mean(lengths) > limit)
        left = left[np.concatenate([*deeper, np.zeros(0, dtype=np.bool_)])]
        cells = _quarters(cells[left])
    return Check(f"no point is deeper, {name}", True, f"limit {limit:.9g}, {measured} points")


def _quarters(cells: FloatArray) -> FloatArray:
    """Return (4k, 3, 3) the quarters of triangles."""
    middles = 0.5 * cells + 0.5 * np.roll(cells, -1, axis=1)
    corners = [np.stack([cells[:, k], middles[:, k], middles[:, k - 1]], axis=1) for k in range(3)]
    return np.concatenate([*corners, middles])
