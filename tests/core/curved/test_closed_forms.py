# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of spheres, capsules, boxes and hulls that a short formula solves, against that formula.

A core of a sphere is a point and of a capsule a segment: GJK's simplex is then the feature in whose Voronoi region the
nearest point is, and EPA's facet the nearest face, so that the general method ends with the closed form. The formulas
here are computed with fractions of whole numbers, but for the last square root.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from contact_lens.core import Box, Capsule, ConvexHull, Ellipsoid, Relation, Sphere, contact, verify
from contact_lens.core.result import BallCertificate, Status

from ..assertions import assert_verified
from ..exact import exact as as_fractions
from ..oracles import EPS, as_unit, cross, dot, minus, root

Row = list[Fraction]
LEAST = 2.0**-40
"""Relative to the place and the sizes: a distance below has a direction that rounding of the input decides."""


def along(p: Row, fraction: Fraction, vector: Row) -> Row:
    return [x + fraction * y for x, y in zip(p, vector, strict=True)]


def on_segment(p: Row, a: Row, b: Row) -> Row:
    """The point of a segment that is nearest to p."""
    edge = minus(b, a)
    square = dot(edge, edge)
    return along(a, min(max(dot(minus(p, a), edge) / square, Fraction(0)), Fraction(1)), edge) if square else a


def between_segments(a: Row, b: Row, c: Row, d: Row) -> tuple[Row, Row]:
    """Nearest points of two segments: inside of both, or at one of the four ends."""
    pairs = [(a, on_segment(a, c, d)), (b, on_segment(b, c, d)), (on_segment(c, a, b), c), (on_segment(d, a, b), d)]
    u, v, w = minus(b, a), minus(d, c), minus(a, c)
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    if scale := uu * vv - uv * uv:
        s, t = (uv * vw - vv * uw) / scale, (uu * vw - uv * uw) / scale
        if 0 <= s <= 1 and 0 <= t <= 1:
            pairs.append((along(a, s, u), along(c, t, v)))
    return min(pairs, key=lambda pair: dot(minus(*pair), minus(*pair)))


def on_box(p: Row, box: Box) -> tuple[Row, bool, bool]:
    """The point of the surface of an aligned box nearest to p, whether p is inside, and whether no other is as near."""
    low, high = (as_fractions(side) for side in box.bounds)
    near = [min(max(x, lo), hi) for x, lo, hi in zip(p, low, high, strict=True)]
    if near != p:
        return near, False, True
    faces = sorted((abs(side[k] - p[k]), k, side[k]) for k in range(3) for side in (low, high))
    (nearest, k, near[k]), second = faces[:2]
    return near, True, nearest < second[0]


def on_hull(p: Row, hull: ConvexHull) -> tuple[Row, bool]:
    """The point of a tetrahedron's surface nearest to p, and whether p is inside: over its vertices, edges, faces."""
    corners = [as_fractions(v) for v in hull.vertices]
    found, inside = list(corners), True
    found += [on_segment(p, corners[i], corners[j]) for i, j in hull.edges.tolist()]
    for loop in hull.facets:
        a, b, c = (corners[k] for k in loop[:3])
        normal = cross(minus(b, a), minus(c, a))
        height = dot(minus(p, a), normal)
        inside = inside and height <= 0
        foot = along(p, -height / dot(normal, normal), normal)
        if all(
            dot(cross(minus(corners[j], corners[i]), minus(foot, corners[i])), normal) >= 0
            for i, j in zip(loop, np.roll(loop, -1), strict=True)
        ):
            found.append(foot)
    return min(found, key=lambda q: dot(minus(q, p), minus(q, p))), inside


def check(a, b, of_a: Row, of_b: Row, inside: bool = False, alone: bool = True, *, radii: float) -> None:
    """Compare a contact with the nearest points of the two cores; `alone`: no other pair is as near."""
    found = contact(a, b)
    gap = minus(of_b, of_a)
    length = float(root(dot(gap, gap), 1))
    expected = (-length if inside else length) - radii
    size = max(a.extent, b.extent, length)
    scale = size + max(a.magnitude, b.magnitude)
    assert found.signed_distance == pytest.approx(expected, rel=0, abs=1e-14 * size + 8 * EPS * scale)
    assert found.lower_bound <= expected + EPS * scale
    assert expected - EPS * scale <= found.upper_bound
    band = 1e-6 * min(e for e in (a.extent, b.extent) if e > 0.0) if max(a.extent, b.extent) > 0.0 else 0.0
    if expected > 2.0 * band + 1e-9 * scale:
        assert found.relation is Relation.SEPARATED
    elif expected < -2.0 * band - 1e-9 * scale:
        assert found.relation not in (Relation.SEPARATED, Relation.TOUCHING, Relation.WITHIN_CLEARANCE)
    apart = found.point_on_b - found.point_on_a
    np.testing.assert_allclose(apart, found.signed_distance * found.normal, rtol=0, atol=1e-12 * size + 1e-15 * scale)
    if alone and length > LEAST * scale:
        normal = -as_unit(gap) if inside else as_unit(gap)
        slack = 1e-12 + 16 * EPS * scale / length
        np.testing.assert_allclose(found.normal, normal, rtol=0, atol=slack)
    assert_verified(found, a, b)


SIZES = (1e-6, 1e-2, 1.0, 1e3, 1e6)
FAR = (0.0, 1e6)


def places(rng: np.random.Generator, size: float, far: float) -> np.ndarray:
    """Five points of about a size, some of them with equal coordinates, at a place."""
    points = rng.uniform(-1, 1, (5, 3)) if rng.random() < 0.6 else rng.integers(-2, 3, (5, 3)) / 2.0
    return far * np.array([1.0, -1.0, 1.0]) + size * points


CASES = [(size, far) for size, far in product(SIZES, FAR) if size >= 1e-2 or far == 0.0]


@pytest.mark.parametrize(("size", "far"), CASES)
def test_pairs_with_a_formula_are_solved_by_it(size, far):
    rng = np.random.default_rng([int(1e6 * size), int(far)])
    for _ in range(12):
        p, q, r, s, _ = places(rng, size, far)
        e = [as_fractions(x) for x in (p, q, r, s)]
        radius_a, radius_b = (size * rng.choice([0.0, 0.125, 0.5, 2.0], 2) * rng.uniform(0.5, 1)).tolist()
        both = radius_a + radius_b
        check(Sphere(p, radius_a), Sphere(q, radius_b), e[0], e[1], radii=both)
        check(Sphere(p, radius_a), Capsule(q, r, radius_b), e[0], on_segment(e[0], e[1], e[2]), radii=both)
        crossing = any(cross(minus(e[1], e[0]), minus(e[3], e[2])))
        check(Capsule(p, q, radius_a), Capsule(r, s, radius_b), *between_segments(*e), alone=crossing, radii=both)


@pytest.mark.parametrize(("size", "far"), CASES)
def test_spheres_and_boxes_and_tetrahedra(size, far):
    rng = np.random.default_rng([int(1e6 * size), int(far), 1])
    for _ in range(12):
        p, *rest = places(rng, size, far)
        corners = np.array(rest)
        radius = size * float(rng.choice([0.0, 0.125, 1.0]))
        point = as_fractions(p)
        low, high = corners[:2].min(axis=0), corners[:2].max(axis=0)
        if (high > low).all():
            box = Box(0.5 * (low + high), high - low)
            check(Sphere(p, radius), box, point, *on_box(point, box), radii=radius)
        hull = ConvexHull(corners)
        if hull.rank == 3 and len(hull.vertices) == 4 and hull.volume > 1e-3 * size**3:
            near, inside = on_hull(point, hull)
            check(Sphere(p, radius), hull, point, near, inside, not inside, radii=radius)


@pytest.mark.fast_cases(36)
@pytest.mark.parametrize("size", SIZES[::2])
@pytest.mark.parametrize("start", list(product((-1.0, -0.5, 0.0, 0.25, 1.0, 1.5), repeat=2)))
def test_a_sphere_with_its_centre_on_or_in_or_beside_a_box(size, start):
    """On a face, an edge, a corner, in the middle, beside each: where the Voronoi regions meet."""
    box = Box([0, 0, 0], [2 * size, 2 * size, 2 * size])
    for z in (0.0, 0.5, 1.0, 1.25):
        p = size * np.array([*start, z])
        check(Sphere(p, 0.5 * size), box, as_fractions(p), *on_box(as_fractions(p), box), radii=0.5 * size)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("size", SIZES[::2])
def test_segments_that_are_parallel_cross_or_are_points(size):
    lines = [
        ([-1, 0, 0], [1, 0, 0]),
        ([-3, 1, 0], [-2, 1, 0]),  # parallel, beside
        ([-0.5, 1, 0], [0.5, 1, 0]),  # parallel, over
        ([0.5, 0, 0], [3, 0, 0]),  # on one line, overlapping
        ([2, 0, 0], [3, 0, 0]),  # on one line, apart
        ([1, 0, 0], [1, 2, 0]),  # end on end
        ([0, -1, 0], [0, 1, 0]),  # crossing
        ([0, -1, 0.5], [0, 1, 0.5]),  # crossing over
        ([-1, 1e-9, 0], [1, -1e-9, 0]),  # crossing, nearly parallel
        ([-1, 1, 0], [1, 1 + 1e-9, 0]),
        ([0, 0, 0], [0, 0, 0]),
        ([1, 0, 0], [1, 0, 0]),
        ([0, 2, 0], [0, 2, 0]),
    ]
    for (p, q), (r, s) in combinations_with_replacement(lines, 2):
        points = size * np.array([p, q, r, s], dtype=float)
        e = [as_fractions(x) for x in points]
        turn = minus(e[1], e[0]), minus(e[3], e[2])
        for radius_a, radius_b in ((0.25, 0.25), (1.0, 0.0)):
            capsules = Capsule(*points[:2], radius_a * size), Capsule(*points[2:], radius_b * size)
            check(*capsules, *between_segments(*e), alone=any(cross(*turn)), radii=(radius_a + radius_b) * size)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e5])
def test_two_balls_are_as_far_apart_as_their_centers_less_the_radii(size):
    rng = np.random.default_rng(3)
    for gap in (2.4, 1.7, 1.0, 0.2, 1e-7):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        start = rng.normal(size=3) * 10.0 * size
        a, b = Sphere(start, size), Sphere(start + gap * size * direction, 0.7 * size)
        there, back = contact(a, b), contact(b, a)
        assert verify(there, a, b), verify(there, a, b)
        assert there.signed_distance == back.signed_distance == pytest.approx((gap - 1.7) * size, abs=2e-12 * size)
        assert np.array_equal(there.normal, -back.normal)
        by_gjk = contact(a, b, method="gjk")
        assert there.relation == by_gjk.relation
        assert there.signed_distance == pytest.approx(by_gjk.signed_distance, abs=2e-12 * size)


def test_an_ellipsoid_that_is_a_ball_beside_a_sphere_is_verified():
    a, b = Ellipsoid((0, 0, 0), (1, 1, 1)), Sphere((0.8, 0.3, 0.1), 0.7)
    for pair in ((a, b), (b, a)):
        c = contact(*pair)
        assert verify(c, *pair), verify(c, *pair)


def test_a_normal_on_a_crease_is_found_at_once():
    a = Ellipsoid((0, 0, 0), (1.0, 0.7, 0.5), (0.9, 0.1, 0.2, 0.3))
    b = Capsule((0.6, 0, 0.2), (0.6, 1, -1), 0.4)
    c = contact(a, b)
    assert verify(c, a, b), verify(c, a, b)
    assert c.iterations < 150  # 447 where creases are approached from both sides


def test_two_ellipsoids_need_no_polytope():
    """A result of the general method would have a certificate of polytopes."""
    rng = np.random.default_rng(3)
    sides = []
    for _ in range(40):
        a = Ellipsoid((0, 0, 0), rng.uniform(0.3, 1.5, 3), rng.normal(size=4))
        b = Ellipsoid(rng.normal(size=3), rng.uniform(0.3, 1.5, 3), rng.normal(size=4))
        c = contact(a, b)
        assert isinstance(c.certificate, BallCertificate)
        assert verify(c, a, b)
        sides.append((c.intersects, c.certificate.depth is None))
    assert {True, False} == {apart for apart, _ in sides}
    assert sum(closed for _, closed in sides) >= 36


def test_two_ellipsoids_with_several_best_directions():
    """Where no ellipsoid inside the difference touches it on both sides, cells of directions prove the depth."""
    a, b = Ellipsoid((0, 0, 0), (1, 0.7, 0.5)), Ellipsoid((0.3, 0, 0), (0.3, 0.3, 0.1))
    c = contact(a, b)
    assert c.status is Status.CERTIFIED
    assert len(c.ties) == 2
    assert c.certificate.depth is not None
    assert not verify(replace(c, certificate=replace(c.certificate, depth=c.depth + 1e-6)), a, b)
    assert not verify(replace(c, certificate=replace(c.certificate, depth=None)), a, b)
    assert len(contact(a, Ellipsoid((0, 0, 0), (0.5, 0.4, 0.3))).ties) == 2


def test_witness_points_of_parallel_needles_realise_their_distance():
    """Directions across a needle are equally good to rounding, and the best of them is not along its points."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        a = Ellipsoid((0, 0, 0), (1e-12, 1, 1e-12), rng.normal(size=4))
        b = a.translated(0.3 * rng.normal(size=3))
        assert_verified(contact(a, b), a, b)
