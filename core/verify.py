# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a contact against its shapes, without the solver.

Everything follows from the shapes' vertices and the certificate, in time linear in both: a plane with a gap proves the
lower bound of the signed distance; two points of the shapes, or a closed polytope around the origin whose corners are
differences of vertices, prove the upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from .contact import Contact, Status
from .gjk import size_of_difference
from .polytope import FloatArray, IntArray, Polytope, extreme_exponent
from .region import Region, RegionKind
from .relation import contact_band, relation_of
from .tolerance import EPS, REGION_TILT, SUPPORT_ROUNDING, VERIFY_REGION, VERIFY_TURN, VERIFY_UNIT, promised


@dataclass(frozen=True)
class Check:
    """One thing that must hold."""

    name: str
    """What is checked, in a few words."""
    ok: bool
    detail: str
    """The numbers compared."""


@dataclass(frozen=True)
class Verification:
    """What `verify` found, check by check."""

    checks: tuple[Check, ...]
    width: float
    """`upper_bound - lower_bound`, world units."""

    @property
    def ok(self) -> bool:
        """True when every check holds."""
        return all(check.ok for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.ok)

    def __str__(self) -> str:
        return "\n".join(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}" for check in self.checks)


def verify(contact: Contact, a: Polytope, b: Polytope) -> Verification:
    """Return, check by check, whether `contact` is a true statement about the shapes A and B.

    The shapes must be those the contact was computed from. A wrong sign, a tilted normal, a moved witness point, a
    scaled depth, a wrong relation or a torn polytope each fail a check. Raises ValueError when the certificate does not
    fit the shapes (an index out of range).
    """
    _check_indices(contact, a, b)
    exponent = extreme_exponent(a, b)
    if exponent:
        contact, a, b = contact.scaled(-exponent), a.scaled(-exponent), b.scaled(-exponent)
    tolerance = promised(contact.signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    rounding = SUPPORT_ROUNDING * EPS * size_of_difference(a, b)
    checks = [
        *_check_normals(contact, a, b, tolerance),
        *_check_witness(contact, a, b, tolerance),
        _check_lower(contact, a, b, rounding),
        _check_upper(contact, a, b, rounding),
        _check_meeting(contact, tolerance),
        _check_relation(contact, a, b),
        *_check_region(contact, a, b, tolerance),
    ]
    width = float(np.ldexp(contact.upper_bound - contact.lower_bound, exponent))
    return Verification(tuple(checks), width)


def overlap_along(a: Polytope, b: Polytope, normals: FloatArray) -> FloatArray:
    """Return how far A reaches past B along each of `normals` (k, dim): (k,) `max n.a - min n.b`, < 0 for a gap."""
    shift = (a.center - b.center) @ normals.T
    overlap: FloatArray = (normals @ a.centred.T).max(axis=1) - (normals @ b.centred.T).min(axis=1) + shift
    return overlap


def _check_indices(contact: Contact, a: Polytope, b: Polytope) -> None:
    proof = contact.certificate
    for name, shape, indices in (
        ("a", a, [*proof.index_a, *(i for i, _ in proof.pairs)]),
        ("b", b, [*proof.index_b, *(j for _, j in proof.pairs)]),
    ):
        if contact.normal.shape != (shape.dim,):
            raise ValueError(f"{name} is not the shape the contact was computed from: the dimension differs")
        if indices and not 0 <= min(indices) <= max(indices) < len(shape.vertices):
            raise ValueError(f"{name} is not the shape the contact was computed from: it has too few vertices")


def _check_normals(contact: Contact, a: Polytope, b: Polytope, tolerance: float) -> list[Check]:
    normals = np.vstack((contact.normal, contact.ties))
    error = float(np.abs(np.linalg.norm(normals, axis=1) - 1.0).max())
    overlap = overlap_along(a, b, normals)
    worst = float(np.abs(overlap + contact.signed_distance).max())
    return [
        Check("normals are unit vectors", error <= VERIFY_UNIT * EPS, f"off by {error:.3g}"),
        Check(
            "normal and ties separate the pair by the signed distance",
            worst <= tolerance,
            f"off by {worst:.3g}, tolerance {tolerance:.3g}",
        ),
        Check(
            "the chosen normal is the first tie",
            bool(np.array_equal(contact.normal, contact.ties[0])),
            f"{contact.normal} and {contact.ties[0]}",
        ),
    ]


def _check_witness(contact: Contact, a: Polytope, b: Polytope, tolerance: float) -> list[Check]:
    proof = contact.certificate
    weights = np.array(proof.weights)
    valid = bool((weights >= 0.0).all()) and abs(float(weights.sum()) - 1.0) <= VERIFY_UNIT * EPS
    off = max(
        float(np.abs(_mean(shape, indices, weights) - point).max())
        for shape, indices, point in ((a, proof.index_a, contact.point_on_a), (b, proof.index_b, contact.point_on_b))
    )
    between = contact.point_on_b - contact.point_on_a
    miss = float(np.linalg.norm(between - contact.signed_distance * contact.normal))
    return [
        Check("witness points lie on their shapes", valid and off <= tolerance, f"off by {off:.3g}"),
        Check(
            "witness points realise the signed distance",
            miss <= tolerance,
            f"off by {miss:.3g}, tolerance {tolerance:.3g}",
        ),
    ]


def _mean(shape: Polytope, indices: tuple[int, ...], weights: FloatArray) -> FloatArray:
    corners = shape.vertices[list(indices)]
    mean: FloatArray = corners[0] + weights @ (corners - corners[0])
    return mean


def _check_lower(contact: Contact, a: Polytope, b: Polytope, rounding: float) -> Check:
    normals = np.vstack((contact.certificate.normal, contact.ties))
    unit = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    proven = -float(overlap_along(a, b, unit).min())
    return Check(
        "a plane proves the lower bound",
        contact.lower_bound <= proven + rounding and contact.lower_bound <= contact.signed_distance,
        f"bound {contact.lower_bound:.17g}, plane {proven:.17g}",
    )


def _check_upper(contact: Contact, a: Polytope, b: Polytope, rounding: float) -> Check:
    proof = contact.certificate
    weights = np.array(proof.weights)
    # Differences of vertices first: far from the origin the points themselves have lost the digits that matter.
    differences = b.vertices[list(proof.index_b)] - a.vertices[list(proof.index_a)]
    proven = float(np.linalg.norm(differences[0] + weights @ (differences - differences[0])))
    by = "two points"
    if proof.pairs:
        radius = _inscribed_radius(proof.pairs, proof.facets, a, b)
        if radius is None:
            return Check("points or a polytope prove the upper bound", False, "the polytope is torn or inside out")
        if -radius < proven:
            proven, by = -radius, "polytope"
    return Check(
        "points or a polytope prove the upper bound",
        contact.upper_bound >= proven - rounding and contact.upper_bound >= contact.signed_distance,
        f"bound {contact.upper_bound:.17g}, {by} {proven:.17g}",
    )


def _inscribed_radius(
    pairs: tuple[tuple[int, int], ...], facets: tuple[tuple[int, ...], ...], a: Polytope, b: Polytope
) -> float | None:
    """Return the radius of a ball around the origin inside the polytope, None when it is not a closed outward surface.

    A closed surface that winds once around the origin and comes nowhere nearer than r encloses the ball of radius r;
    its corners are points of the convex A - B, so the ball is in A - B.
    """
    chosen = np.array(pairs, dtype=np.intp)
    points = a.vertices[chosen[:, 0]] - b.vertices[chosen[:, 1]]
    loops: IntArray = np.array(facets, dtype=np.intp)
    if loops.size == 0 or loops.shape[1] != a.dim or loops.min() < 0 or loops.max() >= len(points):
        return None
    if not _closed(loops, len(points)):
        return None
    corners = points[loops]
    by_plane, by_side = _distances_from_origin(corners)
    # When every facet faces away from the origin, all its signed angles are positive and their sum is a full turn or
    # more. Otherwise (a sliver whose plane rounding has tilted, or a tear) the sum must show it.
    if not (by_plane > 0.0).all() and abs(_winding(corners) - 1.0) > VERIFY_TURN:
        return None
    return float(np.maximum(by_plane, by_side).min())


def _closed(loops: IntArray, count: int) -> bool:
    """Tell whether each edge is there as often in one direction as in the other (in the plane: each corner)."""
    if loops.shape[1] == 2:
        return bool(np.array_equal(np.sort(loops[:, 0]), np.sort(loops[:, 1])))
    start, end = loops.reshape(-1), np.roll(loops, -1, axis=1).reshape(-1)
    return bool(np.array_equal(np.sort(start * count + end), np.sort(end * count + start)))


def _winding(corners: FloatArray) -> float:
    """Return how often the surface (f, dim, dim) winds around the origin: the sum of signed angles over a full turn."""
    if corners.shape[2] == 2:
        p, q = corners[:, 0], corners[:, 1]
        cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
        return float(np.arctan2(cross, (p * q).sum(axis=1)).sum() / (2.0 * pi))
    p, q, r = (corners[:, n] for n in range(3))
    # The triple product p (q x r) cancels for thin triangles; normal times the nearest corner does not.
    nearest = corners[np.arange(len(corners)), (corners * corners).sum(axis=2).argmin(axis=1)]
    volume = (_careful_normals(corners, np.roll(corners, -1, axis=1) - corners) * nearest).sum(axis=1)
    lp, lq, lr = (np.linalg.norm(side, axis=1) for side in (p, q, r))
    spread = lp * lq * lr + (p * q).sum(axis=1) * lr + (q * r).sum(axis=1) * lp + (r * p).sum(axis=1) * lq
    return float((2.0 * np.arctan2(volume, spread)).sum() / (4.0 * pi))


def _distances_from_origin(corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two lower bounds (f,) of the distance of each facet (f, k, dim) from the origin.

    Along any unit vector the nearest corner is such a bound, however badly the vector is rounded. Two are tried: the
    facet's outward normal (a negative bound says that the facet faces the origin), and the direction of the nearest
    point of its sides.
    """
    sides = np.roll(corners, -1, axis=1) - corners
    if corners.shape[2] == 2:
        normal = np.stack((sides[:, 0, 1], -sides[:, 0, 0]), axis=1)
    else:
        normal = _careful_normals(corners, sides)
    length2 = np.maximum((sides * sides).sum(axis=2), np.finfo(np.float64).tiny)
    t = np.clip(-(corners * sides).sum(axis=2) / length2, 0.0, 1.0)
    feet = corners + t[:, :, None] * sides
    foot = feet[np.arange(len(feet)), (feet * feet).sum(axis=2).argmin(axis=1)]
    by_plane, by_side = (
        (corners @ direction[:, :, None])[:, :, 0].min(axis=1)
        / np.maximum(np.linalg.norm(direction, axis=1), np.finfo(np.float64).tiny)
        for direction in (normal, foot)
    )
    return by_plane, by_side


def _careful_normals(corners: FloatArray, sides: FloatArray) -> FloatArray:
    """Return a normal (f, 3) of each triangle that all its corners agree on to rounding, however thin it is."""
    row = np.arange(len(corners))
    longest = (sides * sides).sum(axis=2).argmax(axis=1)
    base = sides[row, longest]
    start, end, apex = corners[row, longest], corners[row, longest - 2], corners[row, longest - 1]
    to_start, to_end = apex - start, apex - end
    nearer = (to_start * to_start).sum(axis=1) < (to_end * to_end).sum(axis=1)
    height = np.where(nearer[:, None], to_start, to_end)
    base2 = np.maximum((base * base).sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    for _ in range(2):  # twice is enough for perpendicular to rounding
        height = height - (height * base).sum(axis=1, keepdims=True) / base2 * base
    normals: FloatArray = np.cross(base, height)
    return normals


def _check_meeting(contact: Contact, tolerance: float) -> Check:
    width = contact.upper_bound - contact.lower_bound
    return Check(
        "the bounds meet",
        contact.status is Status.CERTIFIED and 0.0 <= width <= tolerance,
        f"status {contact.status}, width {width:.3g}, tolerance {tolerance:.3g}",
    )


def _check_relation(contact: Contact, a: Polytope, b: Polytope) -> Check:
    band = contact_band(a, b, contact.contact_tolerance)
    relation = relation_of(a, b, contact.signed_distance, band, contact.clearance)
    return Check("the relation fits", relation is contact.relation, f"{contact.relation}, found {relation}")


def _check_region(contact: Contact, a: Polytope, b: Polytope, tolerance: float) -> list[Check]:
    band = contact_band(a, b, contact.contact_tolerance)
    region = contact.region
    present = (region is not None) == (contact.signed_distance <= band)
    checks = [Check("there is a region unless the shapes are apart", present, f"region {region is not None}")]
    if region is None:
        return checks
    unit = contact.normal
    shadow_a, shadow_b = _on_support_plane(a, unit, region.vertices), _on_support_plane(b, -unit, region.vertices)
    off = float(np.abs(0.5 * (shadow_a + shadow_b) - region.vertices).max())
    # Features reach this far below their support planes; `contact_region` widens them by the rounding of the normal.
    width = band + tolerance + REGION_TILT * max(a.extent, b.extent)
    outside = max(_outside(a, shadow_a), _outside(b, shadow_b))
    too_deep = float(region.depths.max()) + contact.signed_distance
    too_shallow = -contact.signed_distance - float(region.depths.min())
    area, length, centroid = _measure(region, unit)
    longest = float(np.abs(region.vertices - region.vertices[0]).max())
    size_off = max(
        abs(region.length - length) - VERIFY_REGION * length - tolerance,
        abs(region.area - area) - VERIFY_REGION * area - tolerance * longest,
    )
    centroid_off = float(np.abs(region.centroid - centroid).max())
    # The centroid of a thin polygon is as uncertain along it as its thickness is.
    blur = 0.0
    if region.kind is RegionKind.POLYGON:
        blur = tolerance * longest * longest / area if area > tolerance * longest else longest
    return [
        *checks,
        Check("the region is half-way between the support planes", off <= 2.0 * tolerance, f"off by {off:.3g}"),
        Check("the region lies on both shapes", outside <= width, f"outside by {outside:.3g}, width {width:.3g}"),
        Check(
            "the region's depths fit",
            too_deep <= tolerance and too_shallow <= 2.0 * width,
            f"deeper by {too_deep:.3g}, shallower by {too_shallow:.3g}",
        ),
        Check(
            "the region's size is that of its outline",
            size_off <= 0.0,
            f"area {region.area:.17g}, measured {area:.17g}; length {region.length:.17g}, measured {length:.17g}",
        ),
        Check(
            "the region's centroid is that of its outline",
            centroid_off <= VERIFY_REGION * longest + 2.0 * tolerance + blur,
            f"off by {centroid_off:.3g}",
        ),
    ]


def _on_support_plane(shape: Polytope, direction: FloatArray, points: FloatArray) -> FloatArray:
    """Return `points` (k, dim) moved along the unit `direction` onto the support plane of `shape`."""
    reach = float((shape.centred @ direction).max())
    heights = (points - shape.center) @ direction
    moved: FloatArray = points + (reach - heights)[:, None] * direction
    return moved


def _outside(shape: Polytope, points: FloatArray) -> float:
    """Return how far the worst of `points` is outside a facet plane of `shape`; 0.0 for a shape without an inside."""
    if shape.rank < shape.dim:
        return 0.0
    return max(0.0, float(((points - shape.center) @ shape.normals.T - shape.offsets).max()))


def _measure(region: Region, normal: FloatArray) -> tuple[float, float, FloatArray]:
    """Return the area, the length (of a polygon: of its outline) and the centroid of a region's vertices."""
    first = region.vertices[0]
    v = region.vertices - first
    if region.kind is not RegionKind.POLYGON:
        return 0.0, float(np.linalg.norm(v[-1])), first + 0.5 * v[-1]
    following = np.roll(v, -1, axis=0)
    length = float(np.linalg.norm(following - v, axis=1).sum())
    doubled = np.cross(v, following) @ normal
    area = 0.5 * float(doubled.sum())
    if area <= 0.0:
        return area, length, first + v.mean(axis=0)
    return area, length, first + (doubled[:, None] * (v + following)).sum(axis=0) / (6.0 * area)
