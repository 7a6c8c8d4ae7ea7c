# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of two convex shapes: polytopes, or shapes of which at least one is curved.

The radii come off first: two shapes are as far apart as their cores, less both radii. Cores that are polytopes are
solved as such, exactly. Of points and segments (spheres, capsules) and a sphere with a box or hull that is the closed
form in effect: GJK ends with the feature in whose Voronoi region the nearest point is, EPA with the nearest facet, and
a formula beside it would save a tenth of the time at most (13 to 50 of 190 to 1000 microseconds, measured).

An ellipsoid and a point are solved by a closed form, bodies of revolution about parallel axes in the plane.

Any other smooth core is bracketed: the polytope of some of its points is inside of it, and the plane across any
direction at its support point is outside. So the pair of inner polytopes gives an upper bound of the signed distance
and a direction; support points there give a lower bound and new points for the polytopes; and so on until both bounds
meet.
Bounds that are still apart then, for rings of directions are all but equally good, are closed by cells of directions.
Near a smooth optimum the direction is improved by Newton's method, and rings of points close around it close the
bracket at once. Source: S1.5, S4.2; G. van den Bergen, Proximity Queries and Penetration Depth Computation on 3D Game
Objects, 2001 (the bracket).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..narrow_phase.gjk import size_of_difference
from ..narrow_phase.polytope_contact import polytope_contact
from ..narrow_phase.relation import contact_band
from ..result import BallCertificate, Certificate, Contact, Method, Status, SupportCertificate, TieKind
from ..shapes.curved_shape import ConvexShape, CurvedShape, FlatFeature, across
from ..shapes.feature import Feature, support_feature
from ..shapes.hull import ConvexHull
from ..shapes.polytope import Polytope, extreme_exponent
from ..shapes.rounded import polytope_feature
from ..tolerance import (
    CURVED_AXIS,
    CURVED_BRACKET,
    CURVED_LEVEL,
    CURVED_RINGS,
    CURVED_ROUNDING,
    DEFAULT_CONTACT_TOLERANCE,
    EPS,
    SUPPORT_ROUNDING,
    TIE_WIDTH,
    promised,
)
from ..types import FloatArray, read_only
from .curved_inside import curved_relation
from .curved_region import curved_region, whole_feature
from .curved_section import beside_section, common_axis, in_space, section_of, section_plane
from .direction_cover import cover, cover_axis, starts_around
from .ellipsoid_ball import BallPair, ball_pair, nearest_on_ellipsoid, proven_above
from .ellipsoid_hull import lowest_nearby, pieces_of

_TIE_HOLLOW = 8.0
"""Times TIE_WIDTH and the promised tolerance: normals of round shapes between which no hollow is deeper than that are
told as one. Along a crease all are nearly as good, and as it bends, those halfway between two of them are worse."""
_CURVED_BESIDE = 0.25
"""Times the promised tolerance: sections that leave out no more are all that is looked at."""
_CURVED_POLE = 1e-6
"""Sine: a normal this near to the axis of two bodies of revolution is along it, if that separates as well."""
_CURVED_LOOSE = 1e-10
"""Times the smaller extent: how much less than the best direction that of the inner polytopes may separate and still be
told, for its witness points realise it."""
_COVER_SHARE = 0.5
"""Times the promised tolerance: bounds of curved shapes that are no farther apart are not brought nearer by cells of
directions, and how much less than the depth that is told these prove."""

_MOST = 2000
"""Points of an inner polytope; with more it does not grow."""
_FACETS = 200
"""Facets of EPA's polytope across which points are added at a time."""
_TIES = 4
"""Equally good directions that are improved."""
_STEPS = 12
"""Newton steps from one direction."""
_IDLE = 3
"""Rounds without a better bound, after which bounds that have met are enough: no witness points will be nearer."""
_PROBE = 1e-5
"""Angle between the directions whose support points tell how the surface curves."""
_AROUND = tuple(10.0**-k for k in range(9, 0, -1))
"""Angles around a normal, whose support points are all about as far along it. Rounding hides the best normal by the
root of EPS times the farthest coordinate over the radius of curvature: by the larger ones where that is tiny."""
_RING = 6
"""Directions in a ring."""


@dataclass(frozen=True, eq=False)
class _Core:
    """What is left of a shape without its radius, and a polytope inside of it."""

    shape: ConvexShape
    radius: float
    inner: Polytope
    directions: FloatArray
    """(k, dim) the directions whose points the inner polytope is of; none when the core is that polytope."""

    def __post_init__(self) -> None:
        read_only(self.directions)

    @property
    def smooth(self) -> bool:
        return len(self.directions) > 0

    @classmethod
    def of(cls, shape: ConvexShape) -> _Core:
        if isinstance(shape, Polytope):
            return cls(shape, 0.0, shape, np.zeros((0, shape.dim)))
        skeleton = shape.skeleton
        if skeleton is not None:
            return cls(shape, shape.radius, skeleton, np.zeros((0, shape.dim)))
        directions = shape.start_directions()
        return cls(shape, shape.radius, inner_polytope(shape, directions), directions)

    def supports(self, directions: FloatArray) -> FloatArray:
        """Return support points (k, dim) of the core."""
        if isinstance(self.shape, CurvedShape):
            return self.shape.core_supports(directions)
        return self.shape.vertices[np.argmax(directions @ self.shape._centred.T, axis=1)]

    def grown(self, directions: FloatArray) -> _Core:
        """Return the core with more points in its inner polytope."""
        if not self.smooth:
            return self
        assert isinstance(self.shape, CurvedShape)
        more = np.concatenate([self.directions, directions])
        return replace(self, inner=inner_polytope(self.shape, more), directions=more)

    def feature(self, direction: FloatArray, width: float) -> FlatFeature:
        if isinstance(self.shape, CurvedShape):
            return self.shape.core_feature(direction, width)
        return polytope_feature(self.shape, direction, width)


def inner_polytope(shape: CurvedShape, directions: FloatArray) -> Polytope:
    """Return the polytope of the points of a smooth core for unit `directions` (k, dim): it is inside of the core.

    It has vertices only: GJK and EPA need no more, and all of them are corners or on the surface.
    """
    dim = directions.shape[1]
    pairs, nothing = np.zeros((0, 2), dtype=np.intp), np.zeros(0)
    return Polytope(
        read_only(np.unique(shape.core_points(directions), axis=0)), dim, pairs, pairs, (), np.zeros((0, dim)), nothing
    )


def at_ordinary_size(solve: Callable[[Any, Any, float], Contact], a: Any, b: Any, clearance: float) -> Contact:
    """Return `solve(a, b, clearance)`; of a pair too large or too small for products of lengths in float64, scaled by
    a power of two, which rounds nothing, and back."""
    exponent = extreme_exponent(a, b)
    if not exponent:
        return solve(a, b, clearance)
    found = solve(a.scaled(2.0**-exponent), b.scaled(2.0**-exponent), float(np.ldexp(clearance, -exponent)))
    return found.scaled(exponent, clearance)


def convex_contact(
    a: ConvexShape,
    b: ConvexShape,
    *,
    method: Method = "auto",
    clearance: float = 0.0,
    contact_tolerance: float = DEFAULT_CONTACT_TOLERANCE,
    start: Contact | None = None,
) -> Contact:
    """Return the contact of two convex shapes: `contact` without its checks of the arguments."""

    def solve(one: ConvexShape, other: ConvexShape, clear: float) -> Contact:
        if isinstance(one, Polytope) and isinstance(other, Polytope):
            return polytope_contact(one, other, method, clear, contact_tolerance, start)
        return _curved_contact(one, other, method, clear, contact_tolerance)

    return at_ordinary_size(solve, a, b, clearance)


def _curved_contact(
    a: ConvexShape, b: ConvexShape, method: Method, clearance: float, contact_tolerance: float
) -> Contact:
    """Return the contact of a pair of ordinary size of which at least one shape is curved."""
    one, other = _Core.of(a), _Core.of(b)
    axis = common_axis(a, b)
    found = _solved(a, b, one, other, method, axis)
    if found.status is Status.CURVED_BRACKET:
        found = _covered(a, b, found)
    found = _along_points(a, b, found)
    one, other, normal, slab = found.one, found.other, found.normal, found.slab
    size = float(np.linalg.norm(a.center - b.center)) + a.extent + b.extent
    magnitude = max(a.magnitude, b.magnitude)
    rounding = CURVED_ROUNDING * EPS * (size + magnitude)
    both = one.radius + other.radius
    signed_distance = slab - both
    lower = min(signed_distance, found.lower - both) - rounding
    upper = max(found.upper - both, signed_distance) + rounding
    tolerance = promised(signed_distance, min(a.extent, b.extent), magnitude)
    status = Status.CERTIFIED
    if upper - lower > tolerance:
        status = found.status
    ties, kind = _ties(found, tolerance, axis)
    band = contact_band(a, b, contact_tolerance)
    width = max(band, rounding)
    feature_a, feature_b = one.feature(normal, width), other.feature(-normal, width)
    on_a, on_b = _nearest(one, other, found.points, normal, slab, None)
    region = None
    if signed_distance <= band or (feature_a.extended and feature_b.extended):  # or there is no choice of points
        region = curved_region(feature_a, feature_b, normal, one.radius, other.radius, band, a, b, (on_a, on_b))
    middle_of = None
    if region is not None and _holds(feature_a, normal, region.centroid) and _holds(feature_b, normal, region.centroid):
        middle_of = region.centroid
    on_a, on_b = _nearest(one, other, (on_a, on_b), normal, slab, middle_of)
    point_on_a, point_on_b = on_a + one.radius * normal, on_b - other.radius * normal
    if region is None and signed_distance <= band:
        one_point, other_point = FlatFeature(point_on_a[None]), FlatFeature(point_on_b[None])
        region = curved_region(one_point, other_point, normal, 0.0, 0.0, band, a, b, (point_on_a, point_on_b))
        assert region is not None
        region = replace(region, features=((whole_feature(feature_a), whole_feature(feature_b)),))
    return Contact(
        relation=curved_relation(a, b, signed_distance, band, clearance),
        signed_distance=signed_distance,
        normal=read_only(normal),
        point_on_a=read_only(point_on_a),
        point_on_b=read_only(point_on_b),
        region=region if signed_distance <= band else None,
        lower_bound=lower,
        upper_bound=upper,
        ties=read_only(ties),
        feature_a=_named(a, feature_a, normal, width),
        feature_b=_named(b, feature_b, -normal, width),
        method=f"{found.method}, curved",
        iterations=found.iterations,
        status=status,
        cross_check=found.cross_check,
        clearance=clearance,
        contact_tolerance=contact_tolerance,
        certificate=found.certificate,
        tie_kind=kind,
    )


# ---------------------------------------------------------------------------------------------------------------------
# The methods that solve it


class _Solved(NamedTuple):
    """The result of one of the methods for the cores."""

    one: _Core
    other: _Core
    normal: FloatArray
    """(dim,) unit vector from A to B."""
    slab: float
    """How far apart the cores are across it; world units, as all here."""
    lower: float
    upper: float
    """Proven of the cores' signed distance, not yet widened by rounding."""
    points: tuple[FloatArray, FloatArray]
    """(dim,) on both cores, as far apart as that."""
    others: FloatArray
    """(k, dim) normals that may be as good; the chosen one may be among them."""
    method: str
    iterations: int
    status: Status
    """What it is if the bounds do not meet."""
    cross_check: float | None
    certificate: SupportCertificate | BallCertificate


def _solved(
    a: ConvexShape, b: ConvexShape, one: _Core, other: _Core, method: Method, axis: FloatArray | None
) -> _Solved:
    if not one.smooth and not other.smooth:
        inner = convex_contact(one.inner, other.inner, method=method)
        return _Solved(
            one,
            other,
            inner.normal,
            inner.signed_distance,
            inner.lower_bound + _widened(one.inner, other.inner),
            inner.upper_bound - _widened(one.inner, other.inner),
            (inner.point_on_a, inner.point_on_b),
            inner.ties,
            inner.method,
            inner.iterations,
            Status.CURVED_BRACKET if inner.status is Status.CERTIFIED else inner.status,
            inner.cross_check,
            SupportCertificate(inner.normal, one.directions, other.directions, inner),
        )
    pair = ball_pair(a, b)
    if pair is not None:
        return _by_ball(one, other, pair)
    small = min(a.extent, b.extent) or max(a.extent, b.extent)
    plane = section_plane(a, b)
    flat = None if plane is None else _by_sections(a, b, one, other, plane)
    if flat is None:
        return _bracket(one, other, small)
    assert plane is not None
    if beside_section(a, b, plane) <= _CURVED_BESIDE * promised(0.0, small, max(a.magnitude, b.magnitude)):
        return flat
    found = _bracket(one, other, small)
    if flat.upper < found.upper:
        # Axes that are all but parallel: the sections are wrong by as much as they lean, which may be less.
        assert isinstance(flat.certificate, SupportCertificate)
        proof = replace(flat.certificate, normal=found.normal)
        return found._replace(upper=max(flat.upper, found.lower), certificate=proof)
    return found


def _widened(a: ConvexShape, b: ConvexShape) -> float:
    """Return by how much the bounds of two cores' contact are widened, if they are polytopes: the bounds of the shapes
    are widened by more."""
    if isinstance(a, Polytope) and isinstance(b, Polytope):
        return SUPPORT_ROUNDING * EPS * size_of_difference(a, b)
    return 0.0


def _by_sections(a: ConvexShape, b: ConvexShape, one: _Core, other: _Core, plane: FloatArray) -> _Solved | None:
    """Return what the contact of two sections says of bodies of revolution; None when one is not known."""
    assert isinstance(a, CurvedShape)
    assert isinstance(b, CurvedShape)
    first, second = section_of(a, plane), section_of(b, plane)
    if first is None or second is None:
        return None
    inner = convex_contact(first, second)
    directions = np.array([in_space(plane, direction, False) for direction in inner.ties])
    # Where smooth sections end on the axis, the normal is no more exact than the root of rounding.
    along = np.where(directions @ plane[1] > 0.0, 1.0, -1.0)[:, None] * plane[1]
    slack = CURVED_ROUNDING * EPS * (one.shape.extent + other.shape.extent)
    level = np.linalg.norm(directions - along, axis=1) <= _CURVED_POLE
    level &= _slabs(one, other, along) >= _slabs(one, other, directions) - slack
    directions = np.where(level[:, None], along, directions)
    normal = directions[0].copy()
    slab = float(_slabs(one, other, normal[None])[0])
    return _Solved(
        one,
        other,
        normal,
        slab,
        slab,
        inner.upper_bound - _widened(first, second) + beside_section(a, b, plane),
        (in_space(plane, inner.point_on_a, True), in_space(plane, inner.point_on_b, True)),
        directions,
        inner.method.removesuffix(", curved"),
        inner.iterations,
        Status.CURVED_BRACKET if inner.status is Status.CERTIFIED else inner.status,
        inner.cross_check,
        SupportCertificate(normal, one.directions, other.directions, inner, plane),
    )


def _by_ball(one: _Core, other: _Core, pair: BallPair) -> _Solved:
    """Return what is told of an ellipsoid and a point: see `ellipsoid_ball`."""
    ellipsoid, point, first = pair
    found = nearest_on_ellipsoid(ellipsoid, point)
    outward = np.concatenate([found.normal[None], found.others])
    normals = outward if first else -outward
    slabs = _slabs(one, other, normals)
    k = int(slabs.argmax())
    normal, slab = normals[k], float(slabs[k])
    upper = proven_above(ellipsoid, point, outward[k], found.gap)
    foot = point - slab * outward[k]
    points = (foot, point) if first else (point, foot)
    proof = BallCertificate(normal, found.gap)
    nothing = Status.CURVED_BRACKET
    return _Solved(
        one, other, normal, slab, slab, upper, points, normals, "secular", found.iterations, nothing, None, proof
    )


def _along_points(a: ConvexShape, b: ConvexShape, found: _Solved) -> _Solved:
    """Return what is told of cores that are apart with the normal along the known points, where no points realise the
    slab across the one that was told.

    The slabs of directions that differ by less than the root of rounding are all alike: they do not say which one is
    that of the nearest points.
    """
    p, q = found.points
    gap = float(np.linalg.norm(q - p))
    if found.slab <= 0.0 or gap == 0.0:
        return found
    signed_distance = found.slab - found.one.radius - found.other.radius
    tolerance = promised(signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    on_a, on_b = _nearest(found.one, found.other, found.points, found.normal, found.slab, None)
    miss = float(np.linalg.norm(on_b - on_a - found.slab * found.normal))
    direction = (q - p) / gap
    slab = float(_slabs(found.one, found.other, direction[None])[0])
    if miss <= 0.5 * tolerance or slab < found.slab - _noise(found.one, found.other) or abs(gap - slab) >= miss:
        return found
    return found._replace(
        normal=direction, slab=slab, lower=slab, certificate=replace(found.certificate, normal=direction)
    )


def _covered(a: ConvexShape, b: ConvexShape, found: _Solved) -> _Solved:
    """Return what is told of cores that penetrate and whose bounds are still apart, with a better direction, if there
    is one, and a bound that cells of directions prove: see `direction_cover`."""
    one, other = found.one, found.other
    depth = -found.slab
    both = one.radius + other.radius
    tolerance = promised(depth + both, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    proof = found.certificate
    if depth <= tolerance or isinstance(proof, BallCertificate):
        return found
    near = found.upper - found.lower <= _COVER_SHARE * tolerance
    pieces = None if near and proof.section is not None else pieces_of(a, b)
    if pieces is None:
        return found
    if near:  # but a direction is known only to the root of that
        direction = lowest_nearby(pieces, found.normal) + 0.0
        slab = float(_slabs(one, other, direction[None])[0])
        if slab <= found.slab + _noise(one, other):
            return found
        return found._replace(normal=direction, slab=slab, lower=slab, certificate=replace(proof, normal=direction))
    directions = np.concatenate([found.normal[None], starts_around(a, b, found.normal), found.others])
    while True:
        directions = np.array([lowest_nearby(pieces, direction) for direction in directions])
        slabs = _slabs(one, other, directions)
        normal = directions[int(slabs.argmax())] + 0.0
        slab = float(slabs.max())
        if slab <= found.slab:
            normal, slab = found.normal, found.slab
        told = -slab - _COVER_SHARE * tolerance
        cells = cover(pieces, cover_axis(a, b), told) if told > 0.0 else None
        if cells is None or cells.complete or float(_slabs(one, other, cells.lowest[None])[0]) <= -told:
            break
        directions = np.concatenate([cells.lowest[None], directions])
    upper, depth_told = max(slab, found.upper), None
    if cells is not None and cells.complete and -told < upper:
        upper, depth_told = -told, told
    return found._replace(
        normal=normal,
        slab=slab,
        lower=slab,
        upper=upper,
        others=np.concatenate([directions, -directions]),
        certificate=replace(proof, normal=normal, depth=depth_told),
    )


# ---------------------------------------------------------------------------------------------------------------------
# The bracket of smooth cores


def _bracket(one: _Core, other: _Core, small: float) -> _Solved:
    """Return what is told by inner polytopes that grow until the bounds meet, and the cores with these."""
    best, off, normal = -inf, inf, np.zeros(one.shape.dim)
    noise = _noise(one, other)
    iterations = 0
    before, last, idle = (0, 0), inf, 0
    while True:
        inner = convex_contact(one.inner, other.inner, contact_tolerance=0.0)
        iterations += inner.iterations
        directions = np.array([inner.normal, *(_polished(one, other, direction) for direction in inner.ties[:_TIES])])
        directions = np.concatenate(
            [directions, *(_flat_directions(one, other, direction) for direction in directions)]
        )
        # The direction that is told must be that of witness points: the support points of the best one, if they meet,
        # or those of the inner polytopes.
        between = other.supports(-directions) - one.supports(directions)
        slabs = (between * directions).sum(axis=1)
        offs = np.linalg.norm(between - slabs[:, None] * directions, axis=1)
        k = int(np.where(slabs >= slabs.max() - noise, offs, inf).argmin())
        if _better(float(slabs[k]), float(offs[k]), best, off, noise):
            best, off, normal = float(slabs[k]), float(offs[k]), directions[k]
        enough = CURVED_BRACKET * small
        inner_off = inner.signed_distance - float(slabs[0])
        met = inner.signed_distance - best <= enough
        idle = idle + 1 if met and inner.signed_distance >= last else 0
        last = inner.signed_distance
        settled = met and (min(off, inner_off) <= enough or idle == _IDLE)
        points = len(one.inner.vertices), len(other.inner.vertices)
        if settled or max(points) > _MOST or points == before:  # or rounding lets nothing grow
            if inner_off <= min(off, _CURVED_LOOSE * small):
                best, normal = float(slabs[0]), inner.normal
            normal = normal + 0.0
            return _Solved(
                one,
                other,
                normal,
                best,
                best,
                inner.upper_bound - _widened(one.inner, other.inner),
                (inner.point_on_a, inner.point_on_b),
                np.concatenate([directions, -directions]),  # many shapes look the same from behind
                inner.method,
                iterations,
                Status.CURVED_BRACKET,
                inner.cross_check,
                SupportCertificate(normal, one.directions, other.directions, inner),
            )
        before = points
        new = np.concatenate([directions, rings(normal, CURVED_RINGS), _too_near(one, other, inner, -best - enough)])
        one, other = one.grown(new), other.grown(-new)


def _too_near(one: _Core, other: _Core, inner: Contact, depth: float) -> FloatArray:
    """Return the normals (k, dim) of the facets of EPA's polytope that are nearer to the origin than `depth`: either
    the surface is no farther there, or the polytope is not near enough to it."""
    proof = inner.certificate
    assert isinstance(proof, Certificate)
    if not proof.facets:
        return np.zeros((0, len(inner.normal)))
    index_a, index_b = np.array(proof.pairs).T
    corners = (one.inner.vertices[index_a] - other.inner.vertices[index_b])[np.array(proof.facets)]
    sides = corners[:, 1:] - corners[:, :1]
    if corners.shape[2] == 2:
        normals = np.stack([sides[:, 0, 1], -sides[:, 0, 0]], axis=1)
    else:
        normals = np.cross(sides[:, 0], sides[:, 1])
    lengths = np.linalg.norm(normals, axis=1)
    good = lengths > 0.0
    normals, corners = normals[good] / lengths[good, None], corners[good]
    heights = (normals * corners[:, 0]).sum(axis=1)
    near = np.flatnonzero(heights < depth)
    return normals[near[np.argsort(heights[near], kind="stable")[:_FACETS]]]


def _slabs(one: _Core, other: _Core, normals: FloatArray) -> FloatArray:
    """Return how wide the empty slab across each of the unit `normals` (k, dim) is; negative when they overlap."""
    return ((other.supports(-normals) - one.supports(normals)) * normals).sum(axis=1)


def _flat_directions(one: _Core, other: _Core, normal: FloatArray) -> FloatArray:
    """Return directions (k, dim) near one in which one of the cores ends in more than a point."""
    on_a, on_b = one.supports(normal[None])[0], other.supports(-normal[None])[0]
    found = [np.zeros((0, len(normal)))]
    if isinstance(one.shape, CurvedShape):
        found.append(one.shape.flat_directions(normal, on_b))
    if isinstance(other.shape, CurvedShape):
        found.append(-other.shape.flat_directions(-normal, on_a))
    return np.concatenate(found)


def rings(normal: FloatArray, angles: Sequence[float]) -> FloatArray:
    """Return unit directions (k, dim) close around one, on a ring for each angle; in the plane to either side."""
    if len(normal) == 2:
        around = np.array([[-normal[1], normal[0]], [normal[1], -normal[0]]])
    else:
        u, v = across(normal)
        turn = 2.0 * np.pi * np.arange(_RING)[:, None] / _RING
        around = np.cos(turn) * u + np.sin(turn) * v
    directions = np.concatenate([normal + angle * around for angle in angles])
    return directions / np.linalg.norm(directions, axis=1)[:, None]


def _polished(one: _Core, other: _Core, normal: FloatArray) -> FloatArray:
    """Return a direction nearby across which the slab is wider, if there is one: Newton's method on the unit sphere.

    The difference of the support points is the gradient of the overlap; how it changes tells the curvature.
    """
    here, noise = float(_slabs(one, other, normal[None])[0]), _noise(one, other)
    for _ in range(_STEPS):
        sides = _across_all(normal)
        directions = np.concatenate([normal[None], normal + _PROBE * sides, normal - _PROBE * sides])
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        points = one.supports(directions) - other.supports(-directions)
        overlap = float(points[0] @ normal)
        slope = sides @ points[0]
        steep = float(np.linalg.norm(slope))
        changes = (points[1 : 1 + len(sides)] - points[1 + len(sides) :]) / (2.0 * _PROBE)
        bend = changes @ sides.T
        bend = 0.5 * (bend + bend.T) - overlap * np.eye(len(sides))
        if np.linalg.eigvalsh(bend)[0] > 0.0:
            step = np.linalg.solve(bend, -slope)
        else:
            largest = float(np.abs(np.diagonal(bend)).sum())
            if largest == 0.0:
                break
            step = -slope / largest
        for _ in range(4):
            direction = normal + step @ sides
            direction = direction / np.linalg.norm(direction)
            between = other.supports(-direction[None])[0] - one.supports(direction[None])[0]
            there = float(between @ direction)
            if _better(there, float(np.linalg.norm(between - there * direction)), here, steep, noise):
                normal, here = direction, there
                break
            step = 0.25 * step
        else:
            break
    return normal


def _noise(one: _Core, other: _Core) -> float:
    """Return how much slabs may differ by rounding: of the directions near a smooth optimum it tells none apart."""
    return CURVED_ROUNDING * EPS * (one.shape.extent + other.shape.extent)


def _better(slab: float, off: float, than_slab: float, than_off: float, noise: float) -> bool:
    """Tell whether a slab is clearly wider than another, or about as wide and its support points are less far off."""
    return slab > than_slab + noise or (slab >= than_slab - noise and off < than_off)


# ---------------------------------------------------------------------------------------------------------------------
# What is told of it


def _nearest(
    one: _Core,
    other: _Core,
    known: tuple[FloatArray, FloatArray],
    normal: FloatArray,
    slab: float,
    centroid: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Return points of both cores that are as far apart as the slab across the normal is wide, along the normal.

    The best of those known, of the support points, and of those over the middle of the contact region, if given.
    """
    tops = one.supports(normal[None])[0], other.supports(-normal[None])[0]
    pairs = [known, tops]
    if centroid is not None:
        over = [centroid + float((top - centroid) @ normal) * normal for top in tops]
        pairs.append((over[0], over[1]))
    misses = [float(np.linalg.norm(q - p - slab * normal)) for p, q in pairs]
    if min(misses) > CURVED_BRACKET * min(one.shape.extent, other.shape.extent):
        pairs.append(_balanced(one, other, normal, slab))
        misses.append(float(np.linalg.norm(pairs[-1][1] - pairs[-1][0] - slab * normal)))
    # Of equally good ones the last: it is at the middle.
    slack = 4.0 * EPS * max(float(np.abs(tops[0]).max()), float(np.abs(tops[1]).max()))
    return pairs[max(k for k, miss in enumerate(misses) if miss <= min(misses) + slack)]


def _balanced(one: _Core, other: _Core, normal: FloatArray, slab: float) -> tuple[FloatArray, FloatArray]:
    """Return points of both cores between the support points of directions close around the normal, such that the
    vector from one to the other is along it as nearly as can be.

    On an edge, or where it is nearly flat, a shape has many points that are as far along the normal; one support point
    of each is then not enough.
    """
    directions = np.concatenate([normal[None], rings(normal, _AROUND)])
    on_a, on_b = one.supports(directions), other.supports(-directions) - slab * normal
    near = convex_contact(ConvexHull(on_a), ConvexHull(on_b), contact_tolerance=0.0)
    return near.point_on_a, near.point_on_b + slab * normal


def _holds(feature: FlatFeature, normal: FloatArray, place: FloatArray) -> bool:
    """Tell whether a feature is level, and `place` is over or under it: both to rounding."""
    slack = CURVED_LEVEL * EPS * float(np.abs(feature.points).max())
    first = feature.points[0]
    if feature.disk_axis is not None:
        tilt = feature.disk_radius * float(np.linalg.norm(np.cross(feature.disk_axis, normal)))
        off = place - first - float((place - first) @ normal) * normal
        return 2.0 * tilt <= slack and float(np.linalg.norm(off)) <= feature.disk_radius + slack
    heights = (feature.points - first) @ normal
    if float(np.ptp(heights)) > slack:
        return False
    foot = place - float((place - first) @ normal) * normal
    if len(feature.points) <= 2:
        direction = feature.points[-1] - first
        square = float(direction @ direction)
        fraction = min(max(float((foot - first) @ direction) / square, 0.0), 1.0) if square > 0.0 else 0.0
        return float(np.linalg.norm(foot - first - fraction * direction)) <= slack
    return convex_contact(ConvexHull(foot[None]), ConvexHull(feature.points)).signed_distance <= slack


def _named(shape: ConvexShape, feature: FlatFeature, direction: FloatArray, width: float) -> Feature:
    """Return the feature by its kind; of a polytope, and of a rounded one, with the vertices of it."""
    core = shape if isinstance(shape, Polytope) else shape.skeleton
    if core is not None:
        return support_feature(core, direction, width)
    return whole_feature(feature)


def _ties(found: _Solved, tolerance: float, axis: FloatArray | None) -> tuple[FloatArray, TieKind]:
    """Return equally good normals, the chosen one first, and whether they stand for all of a circle or a sphere."""
    one, other, normal = found.one, found.other, found.normal
    if axis is not None and len(axis) == 0:
        frame = [normal, *_across_all(normal)]
        return np.array([s * direction for direction in frame for s in (1.0, -1.0)]), _round_kind(len(normal))
    if one.smooth or other.smooth:
        if axis is None:
            return _as_good(found, found.others, tolerance), TieKind.FINITE
        return _turned(_as_good(found, _one_sided(found, axis[1]), tolerance), axis[1])
    if axis is not None:
        return _turned(normal[None], axis[1])
    directions = found.others
    if found.slab > tolerance:
        return np.concatenate([normal[None], directions[1:]]), TieKind.FINITE
    rank = _rank(one.inner, other.inner)
    if rank == 1 and len(normal) == 3 and one.radius + other.radius > 0.0 and _crosses(one.inner, other.inner):
        sideways = np.cross(_direction(one.inner, other.inner), normal)
        return np.array([normal, sideways, -normal, -sideways]), TieKind.CIRCLE
    return directions.copy(), TieKind.FINITE


def _as_good(found: _Solved, others: FloatArray, tolerance: float) -> FloatArray:
    """Return the normals (k, dim) that separate as well as the chosen one, which is the first, each with a hollow of
    worse ones between it and the rest: of normals with none between, along a flat optimum, one is told."""
    told = [found.normal]
    if found.slab > tolerance:
        return np.array(told)  # apart: there is one
    width = TIE_WIDTH * tolerance
    enough, hollow = found.slab - width, found.slab - _TIE_HOLLOW * width
    for direction in others[_slabs(found.one, found.other, others) >= enough]:
        between = np.array(
            [direction + known if float(direction @ known) > -0.99 else _across_all(known)[0] for known in told]
        )
        between = between / np.linalg.norm(between, axis=1)[:, None]
        if (_slabs(found.one, found.other, between) < hollow).all():
            told.append(direction)
    return np.array(told)


def _one_sided(found: _Solved, axis: FloatArray) -> FloatArray:
    """Return the normals (k, 3) that may be as good, turned about the axis to the side where the chosen one is."""
    out = found.normal - float(found.normal @ axis) * axis
    length = float(np.linalg.norm(out))
    out = out / length if length > CURVED_AXIS else across(axis)[0]
    along = (found.others @ axis)[:, None]
    directions = along * axis + np.linalg.norm(found.others - along * axis, axis=1)[:, None] * out
    return directions / np.linalg.norm(directions, axis=1)[:, None]


def _turned(directions: FloatArray, axis: FloatArray) -> tuple[FloatArray, TieKind]:
    """Return normals (k, 3), those that are not along the axis turned about it four times, and their kind."""
    told: list[FloatArray] = []
    kind = TieKind.FINITE
    for direction in directions:
        along = float(direction @ axis)
        sideways = direction - along * axis
        told.append(direction)
        if float(np.linalg.norm(sideways)) > CURVED_AXIS:
            third = np.cross(axis, sideways)
            told += [along * axis + side for side in (third, -sideways, -third)]
            kind = TieKind.CIRCLE
    return np.array(told), kind


def _round_kind(dim: int) -> TieKind:
    return TieKind.SPHERE if dim == 3 else TieKind.CIRCLE


def _across_all(normal: FloatArray) -> FloatArray:
    """Return unit vectors (dim - 1, dim) across one and each other."""
    return np.array(across(normal) if len(normal) == 3 else [[-normal[1], normal[0]]])


def _direction(a: Polytope, b: Polytope) -> FloatArray:
    directions = [shape.edge_directions[0] for shape in (a, b) if shape.rank == 1]
    return directions[0]


def _rank(a: Polytope, b: Polytope) -> int:
    """Return the dimension of the Minkowski difference of points and segments; 2 and more for all others."""
    if a.rank > 1 or b.rank > 1:
        return 2
    if a.rank + b.rank < 2:
        return a.rank + b.rank
    one, other = a.edge_directions[0], b.edge_directions[0]
    sine = float(np.linalg.norm(one - (one @ other) * other))
    return 1 if sine <= CURVED_AXIS else 2


def _crosses(a: Polytope, b: Polytope) -> bool:
    """Tell whether points or segments on one line overlap by more than their ends."""
    direction = _direction(a, b)
    low, high = (a.vertices @ direction).min(), (a.vertices @ direction).max()
    low_b, high_b = (b.vertices @ direction).min(), (b.vertices @ direction).max()
    slack = 4.0 * EPS * max(a.magnitude, b.magnitude)
    return bool(high_b - low > slack and high - low_b > slack)
