# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds of curved pairs that must meet although many directions are as good, or nearly: whole circles of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from contact_lens.core import Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, Relation, Rounded, Sphere, contact, verify
from contact_lens.core.curved.direction_cover import cover, cover_axis
from contact_lens.core.curved.ellipsoid_hull import lowest_nearby, pieces_of
from contact_lens.core.curved.ellipsoid_pair import ellipsoid_pair, proven_above
from contact_lens.core.result import BallCertificate, Status, TieKind
from contact_lens.core.tolerance import promised

from ..assertions import assert_lies_found, assert_verified
from ..generators import direction, sphere_points
from .test_curved import best_slab

pytestmark = pytest.mark.slow

SEMI_AXES = {
    "triaxial": (0.5, 1.0, 2.0),
    "egg": (1.0, 1.0, 1.7),
    "lens": (0.4, 1.0, 1.0),
    "nearly a ball": (1.0, 1.0 + 1e-9, 1.0 - 1e-9),
    "needle": (1e-3, 1e-3, 1.0),
    "ball": (0.7, 0.7, 0.7),
}
PLACES = {
    "centre": (0.0, 0.0, 0.0),
    "on the first axis": (0.3, 0.0, 0.0),
    "on the last axis": (0.0, 0.0, 0.3),
    "in a principal plane": (0.2, 0.0, 0.5),
    "all but in a plane": (0.2, 1e-11, 0.5),
    "nearly at the centre": (1e-6, -2e-7, 3e-7),
    "anywhere": (0.2, -0.1, 0.3),
    "just inside": (0.6, 0.48, 0.64 * (1.0 - 1e-7)),
    "just outside": (0.6, 0.48, 0.64 * (1.0 + 1e-7)),
    "outside": (0.6, -1.2, 1.8),
    "far": (30.0, 0.0, 1.0),
}
"""In units of the semi-axes."""


def met(a, b):
    """The contact, with what every contact here must have."""
    c = contact(a, b)
    tolerance = promised(c.signed_distance, min(a.extent, b.extent), max(a.magnitude, b.magnitude))
    assert c.status is Status.CERTIFIED
    assert c.lower_bound <= c.signed_distance <= c.upper_bound
    assert c.upper_bound - c.lower_bound <= tolerance
    assert_verified(c, a, b)
    return c


def distance_to_surface(semi: np.ndarray, place: np.ndarray) -> float:
    """How far a point is from an ellipsoid's surface, by a search among its points from many starts."""

    def off(angles: np.ndarray) -> float:
        u, v = angles
        x = semi * [np.cos(u) * np.cos(v), np.cos(u) * np.sin(v), np.sin(u)]
        return float(((x - place) ** 2).sum())

    u, v = np.meshgrid(np.linspace(-1.5, 1.5, 41), np.linspace(-3.1, 3.1, 81))
    starts = np.stack([u.ravel(), v.ravel()], axis=1)
    best = sorted(starts.tolist(), key=lambda start: off(np.array(start)))[:4]
    options = {"xatol": 1e-11, "fatol": 1e-22, "maxiter": 2000}
    return float(np.sqrt(min(minimize(off, start, method="Nelder-Mead", options=options).fun for start in best)))


@pytest.mark.parametrize("semi", SEMI_AXES.values(), ids=SEMI_AXES)
def test_a_point_and_an_ellipsoid_have_bounds_that_meet_around_the_distance(semi):
    for place in PLACES.values():
        assert_bounds_meet_around_the_distance(semi, place)


def assert_bounds_meet_around_the_distance(semi, place):
    turned = Ellipsoid((0.3, -0.2, 0.1), semi, (0.9, 0.1, -0.3, 0.2))
    point = turned.center + (np.array(place) * semi) @ turned.axes
    expected = distance_to_surface(np.array(semi), np.array(place) * semi)
    if np.linalg.norm(place) < 1.0:
        expected = -expected
    for radius, round_by in ((0.0, 0.0), (0.25, 0.0), (0.1, 0.2)):
        a = Rounded(turned, round_by) if round_by else turned
        b = Sphere(point, radius)
        c = met(a, b)
        assert c.signed_distance == pytest.approx(expected - radius - round_by, abs=1e-9)
        swapped = met(b, a)
        assert swapped.signed_distance == pytest.approx(c.signed_distance, abs=1e-14)
        assert swapped.tie_kind is c.tie_kind
        assert len(swapped.ties) == len(c.ties)


def test_a_hull_of_one_point_in_an_ellipsoid_is_a_point():
    c = met(ConvexHull([[0.0, 0.0, 0.1]]), Ellipsoid((0, 0, 0), (1, 2, 3)))
    assert c.depth == pytest.approx(distance_to_surface(np.array([1.0, 2, 3]), np.array([0, 0, 0.1])), abs=1e-9)
    assert c.relation is Relation.A_INSIDE_B


@settings(max_examples=12)
@given(seed=st.integers(0, 9999))
def test_no_certificate_of_ellipsoids_proves_more_than_the_depth(seed):
    """Whatever direction and number a certificate holds: the ball that it proves is in the difference."""
    rng = np.random.default_rng(seed)
    semi = rng.uniform(0.1, 2.0, 3)
    solid, place = Ellipsoid((0, 0, 0), semi), direction(rng) * semi * rng.uniform(0.0, 1.0)
    other = Ellipsoid(place, rng.uniform(0.1, 2.0, 3), rng.normal(size=4))
    normals = rng.normal(size=(2000, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    for second, depth in ((Sphere(place, 0.0), distance_to_surface(semi, place)), (other, None)):
        pieces, c = ellipsoid_pair(solid, second), met(solid, second)
        least = c.depth if depth is None else depth
        for normal in (c.normal, *normals[:20]):
            for gap in rng.uniform(-0.1, 1.1, 20) * (semi + (0.0 if depth else other.semi_axes)).min():
                assert -proven_above(pieces, normal, gap) <= least + 1e-9
        assert c.depth == pytest.approx(least, abs=1e-9)
        assert c.status is Status.CERTIFIED
        assert c.depth <= pieces.heights(normals).min()


# (shape, point or ball, kind, number of ties, depth)
TIES = [
    (Ellipsoid((0, 0, 0), (1, 2, 3)), Sphere((0, 0, 0), 0), TieKind.FINITE, 2, 1.0),
    (Ellipsoid((0, 0, 0), (1, 2, 3)), Sphere((0, 0, 0.1), 0.2), TieKind.FINITE, 2, None),
    (Ellipsoid((0, 0, 0), (1, 2, 3)), Sphere((0.1, 0, 0), 0.2), TieKind.FINITE, 1, 1.1),
    (Ellipsoid((0, 0, 0), (1, 1, 3)), Sphere((0, 0, 0), 0.2), TieKind.CIRCLE, 4, 1.2),
    (Ellipsoid((0, 0, 0), (1, 1, 3)), Sphere((0, 0, 0.5), 0.2), TieKind.CIRCLE, 4, None),
    (Ellipsoid((0, 0, 0), (1, 1, 3)), Sphere((0, 0, 2.9), 0.2), TieKind.FINITE, 1, 0.3),
    (Ellipsoid((0, 0, 0), (2, 2, 1)), Sphere((0, 0, 0), 0.2), TieKind.FINITE, 2, 1.2),
    (Ellipsoid((0, 0, 0), (2, 2, 1)), Sphere((0.1, 0, 0), 0.2), TieKind.FINITE, 2, None),
    (Ellipsoid((0, 0, 0), (2, 2, 2)), Sphere((0, 0, 0), 0.2), TieKind.SPHERE, 6, 2.2),
    (Ellipsoid((0, 0, 0), (2, 2, 2)), Ellipsoid((0, 0, 0), (1, 1, 1)), TieKind.SPHERE, 6, 3.0),
    (Ellipsoid((0, 0, 0), (2, 2, 2)), Capsule((-1, 0, 0), (1, 0, 0), 0.1), TieKind.CIRCLE, 4, 2.1),
    (Ellipsoid((0, 0, 0), (1, 1, 3)), Ellipsoid((0, 0, 0), (0.1, 0.1, 0.3)), TieKind.CIRCLE, 4, 1.1),
    (Ellipsoid((0, 0, 0), (1, 2, 3)), Ellipsoid((0, 0, 0), (0.1, 0.2, 0.3)), TieKind.FINITE, 2, 1.1),
    (Cylinder((0, 0, -2), (0, 0, 2), 1), Ellipsoid((0, 0, 0), (0.1, 0.1, 0.3)), TieKind.CIRCLE, 4, 1.1),
    (Cone((0, 0, 0), (0, 0, 3), 1), Ellipsoid((0, 0, 1), (0.1, 0.1, 0.3)), TieKind.CIRCLE, 4, None),
]


@pytest.mark.parametrize(("a", "b", "kind", "count", "depth"), TIES)
def test_ties_are_told_by_their_kind_and_number(a, b, kind, count, depth):
    for one, other in ((a, b), (b, a)):
        c = met(one, other)
        assert c.tie_kind is kind
        assert len(c.ties) == count
        if depth is not None:
            assert c.depth == pytest.approx(depth, abs=1e-11)


@pytest.mark.parametrize("radius", [1e-4, 0.3, 1.0, 7.0, 1e5])
@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (3.0, -1.0, 0.7), (1e6, 0.0, 0.0)])
def test_a_point_that_touches_a_curved_shape_is_certified(radius, place):
    """The promise for a point has no length of its own: rounding alone must be within it."""
    middle, up = np.array(place), np.array([0.0, 0.0, radius])
    for way in np.concatenate([np.eye(3), [[0.6, 0.0, 0.8], [1 / 3, 2 / 3, 2 / 3]]]):
        spot = middle + radius * way
        for solid in (
            Sphere(middle, radius),
            Ellipsoid(middle, (radius, radius, radius)),
            Rounded(Ellipsoid(middle + 0.5 * radius * way, (radius / 4,) * 3), radius / 4),
            Capsule(middle - up, middle, radius),
        ):
            for one, other in ((solid, Sphere(spot, 0.0)), (Sphere(spot, 0.0), solid)):
                assert met(one, other).relation is Relation.TOUCHING
    for solid in (
        Cylinder(middle - up, middle + up, radius),
        Cone(middle + up, middle - up, radius),
        Ellipsoid(middle, (2 * radius, 3 * radius, radius)),
        Rounded(Cylinder(middle - up, middle + 0.5 * up, radius), 0.5 * radius),
    ):
        assert met(solid, Sphere(middle + up, 0.0)).relation is Relation.TOUCHING


def heights_of(shape):
    """The support function, written down a second time."""
    if isinstance(shape, Rounded) and not isinstance(shape.core, ConvexHull):
        core = heights_of(shape.core)
        return lambda n: core(n) + shape.radius
    if isinstance(shape, Rounded):
        return lambda n: (n @ shape.core.vertices.T).max(axis=1) + shape.radius
    if isinstance(shape, Ellipsoid):
        return lambda n: n @ shape.center + np.linalg.norm((n @ shape.axes.T) * shape.semi_axes, axis=1)
    rim = lambda n: shape.radius * np.linalg.norm(np.cross(n, shape.axis), axis=1)  # noqa: E731
    if isinstance(shape, Cone):
        return lambda n: np.maximum(n @ shape.start + rim(n), n @ shape.end)
    return lambda n: np.maximum(n @ shape.start, n @ shape.end) + rim(n)


UP = np.array([0.36, 0.48, 0.8])
ACROSS = np.array([0.8, -0.6, 0.0])
BODIES = {
    "cylinder": lambda at, size: Cylinder(at - size * UP, at + size * UP, 0.7 * size),
    "cone": lambda at, size: Cone(at - size * UP, at + size * UP, 0.9 * size),
    "cone upside down": lambda at, size: Cone(at + size * UP, at - size * UP, 0.9 * size),
    "rounded cone": lambda at, size: Rounded(Cone(at - size * UP, at + size * UP, 0.9 * size), 0.2 * size),
    "capsule": lambda at, size: Capsule(at - size * UP, at + size * UP, 0.4 * size),
    "segment": lambda at, size: Capsule(at - size * UP, at + size * UP, 0.0),
    "sphere": lambda at, size: Sphere(at, size),
    "egg": lambda at, size: Ellipsoid(at, (0.6 * size, 0.6 * size, size), (1.8, -0.48, 0.36, 0.0)),
    "lens": lambda at, size: Ellipsoid(at, (size, size, 0.5 * size), (1.8, -0.48, 0.36, 0.0)),
}


@pytest.mark.parametrize("inner", BODIES)
@pytest.mark.parametrize("outer", [name for name in BODIES if name not in ("segment", "sphere")])
def test_bodies_with_parallel_axes_have_bounds_that_meet_however_near_the_axes(outer, inner):
    a = BODIES[outer](np.array([0.1, 0.2, -0.1]), 1.0)
    for off in (0.0, 1e-13, 0.2):
        b = BODIES[inner](np.array([0.1, 0.2, -0.1]) + 0.05 * UP + off * ACROSS, 0.2)
        c = met(a, b)
        swapped = met(b, a)
        assert swapped.signed_distance == pytest.approx(c.signed_distance, abs=1e-10)
        if off != 1e-13:  # that is the distance of 0.0
            expected = best_slab(heights_of(a), heights_of(b), np.random.default_rng(1))
        # The search may miss the best direction, never find too good a one.
        assert c.signed_distance >= expected - 1e-9
    assert c.signed_distance == pytest.approx(expected, abs=2e-8)


def test_a_ball_in_a_cylinder_or_a_cone_leaves_by_the_side_that_is_nearest():
    places = (np.zeros(3), 0.0), (np.array([10.0, 20.0, -5.0]), 0.3)
    for off, (bottom, radius) in product((0.0, 1e-13, 1e-9, 1e-6, 1e-3, 0.2), places):
        ball = Sphere(bottom + 2.0 * UP + off * ACROSS, radius)
        cylinder = Cylinder(bottom, bottom + 4.0 * UP, 1.0)
        assert met(cylinder, ball).depth == pytest.approx(1.0 - off + radius, abs=1e-13)
        cone = Cone(bottom, bottom + 4.0 * UP, 3.0)  # its side leans by 3 to 4
        assert met(cone, ball).depth == pytest.approx(0.8 * (1.5 - off) + radius, abs=1e-13)
        assert met(Rounded(cone, 0.5), ball).depth == pytest.approx(0.8 * (1.5 - off) + radius + 0.5, abs=1e-13)


def test_lies_about_a_ball_in_an_ellipsoid_are_found():
    a, b = Ellipsoid((0, 0, 0), (1, 2, 3)), Sphere((0.1, 0.2, 0.3), 0.5)
    outside = Sphere((1.0, 2.0, 3.0), 0.5)
    c, apart = met(a, b), met(a, outside)
    proof, bounds, form = c.certificate, "support points prove both bounds", "the certificate is well-formed"
    assert isinstance(proof, BallCertificate)
    assert proof.gap is not None
    assert isinstance(apart.certificate, BallCertificate)
    assert apart.certificate.gap is None
    lies = [
        (bounds, {"upper_bound": c.signed_distance - 1e-9}),
        (bounds, {"lower_bound": c.signed_distance + 1e-9}),
        *((bounds, {"gap": gap}) for gap in (None, 0.0, -1.0, 1.0, 0.4, 1e300)),
        (bounds, {"certificate": replace(proof, normal=-proof.normal)}),
        (form, {"gap": "small"}),
        (form, {"gap": float("nan")}),
        (form, {"certificate": replace(proof, normal=np.zeros(3))}),
    ]
    assert_lies_found(c, a, b, lies)
    sideways = replace(apart.certificate, normal=np.array([1.0, 0.0, 0.0]))
    lies = [(bounds, {"certificate": sideways}), (bounds, {"upper_bound": apart.signed_distance - 1e-9})]
    assert_lies_found(apart, a, outside, lies)
    # A number that proves a ball inside proves nothing of a point outside.
    assert verify(replace(apart, certificate=replace(apart.certificate, gap=0.5)), a, outside).ok
    for other in (Ellipsoid((0, 0, 0), (1, 2, 3)), Capsule((0, 0, 0), (0.1, 0, 0), 0.5)):
        assert not verify(replace(contact(a, other), certificate=proof), a, other).ok


def test_a_section_proves_nothing_of_bodies_that_are_not_in_its_plane():
    a, b = Cylinder((0, 0, 0), (0, 0, 2), 1), Ellipsoid((0.3, 0.2, 1), (0.2, 0.2, 0.5))
    c = met(a, b)
    bounds = "support points prove both bounds"
    turned = c.certificate.section[[0, 1, 1]]
    lies = [("", {"section": section}) for section in (turned, -c.certificate.section, None)]
    assert_lies_found(c, a, b, [*lies, (bounds, {"upper_bound": c.signed_distance - 1e-9})])
    leaning = Ellipsoid((0.3, 0.2, 1), (0.2, 0.2, 0.5), (1, 0.1, 0, 0))
    assert not verify(replace(contact(a, leaning), certificate=c.certificate), a, leaning).ok


@pytest.mark.parametrize("lean", [1e-14, 1e-11, 1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize(("outer", "inner"), [("cylinder", "cylinder"), ("egg", "cone"), ("cone", "capsule")])
def test_axes_that_lean_by_rounding_widen_the_bounds_by_little_more_than_they_lean(outer, inner, lean):
    """As far as rotations in single precision do."""
    middle = np.array([0.1, 0.2, -0.1])
    a, b = BODIES[outer](middle, 1.0), BODIES[inner](middle, 0.2)
    ends = middle - 0.2 * UP - 0.2 * lean * ACROSS, middle + 0.2 * UP + 0.2 * lean * ACROSS
    b = Capsule(*ends, b.radius) if isinstance(b, Capsule) else type(b)(*ends, b.radius)
    for one, other in ((a, b), (b, a)):
        c = contact(one, other)
        told = promised(c.signed_distance, b.extent, a.magnitude)
        assert c.upper_bound - c.lower_bound <= told + 3.0 * lean * a.extent
        assert_verified(c, one, other)
        if lean <= 1e-11:
            assert c.status is Status.CERTIFIED
    if lean > 1e-12:
        proof = contact(a, b).certificate
        straight = BODIES[inner](middle, 0.2)
        assert not verify(replace(contact(a, straight), certificate=proof), a, straight).ok


def leaning(name, lean, size):
    """A body about one point, whose axis leans from the last axis."""
    at, way = np.array([0.1, 0.2, -0.1]), size * np.array([np.sin(lean), 0.0, np.cos(lean)])
    turn = (np.cos(lean / 2), 0.0, np.sin(lean / 2), 0.0)
    return {
        "cylinder": lambda: Cylinder(at - way, at + way, 0.7 * size),
        "cone": lambda: Cone(at - way, at + way, 0.9 * size),
        "capsule": lambda: Capsule(at - way, at + way, 0.4 * size),
        "rounded cylinder": lambda: Rounded(Cylinder(at - way, at + way, 0.7 * size), 0.2 * size),
        "egg": lambda: Ellipsoid(at, (0.6 * size, 0.6 * size, size), turn),
        "lens": lambda: Ellipsoid(at, (size, size, 0.5 * size), turn),
        "triaxial": lambda: Ellipsoid(at, (0.6 * size, 0.8 * size, size), turn),
        "nearly round": lambda: Ellipsoid(at, (size, 1.001 * size, 1.002 * size), turn),
    }[name]()


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("cylinder", "cylinder"),
        ("cylinder", "capsule"),
        ("cylinder", "egg"),
        ("cone", "rounded cylinder"),
        ("cone", "egg"),
        ("cone", "cone"),
        ("capsule", "lens"),
        ("rounded cylinder", "cone"),
        ("egg", "egg"),
        ("egg", "capsule"),
        ("triaxial", "cylinder"),
        ("nearly round", "egg"),
        ("nearly round", "nearly round"),
        ("nearly round", "triaxial"),
    ],
)
def test_bodies_about_one_point_whose_axes_lean_have_bounds_that_meet(outer, inner):
    rims = {"cylinder": 0.7, "capsule": 0.4, "rounded cylinder": 0.9}
    for lean in (1e-10, 1e-6, 1e-2):
        a, b = leaning(outer, 0.0, 1.0), leaning(inner, lean, 0.3)
        c = met(a, b)
        assert c.signed_distance >= best_slab(heights_of(a), heights_of(b), np.random.default_rng(1)) - 1e-9
        if outer in rims and inner in rims:
            # Across both axes only the rims count, and nothing is less deep.
            assert c.signed_distance == pytest.approx(-(rims[outer] + 0.3 * rims[inner]), abs=1e-10)


@pytest.mark.parametrize(
    ("body", "other"),
    list(combinations_with_replacement(["cylinder", "cone", "egg", "triaxial", "nearly round"], 2)),
)
def test_bodies_of_one_size_that_coincide_or_cross_have_bounds_that_meet(body, other):
    for lean in (0.0, 0.5 * np.pi):
        a, b = leaning(body, 0.0, 1.0), leaning(other, lean, 1.0)
        c = met(a, b)
        assert c.signed_distance >= best_slab(heights_of(a), heights_of(b), np.random.default_rng(1)) - 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_cells_of_directions_prove_no_more_than_the_depth(seed):
    rng = np.random.default_rng(seed)
    names = ["cylinder", "cone", "capsule", "egg", "lens", "triaxial", "nearly round"]
    a = leaning(names[rng.integers(7)], 0.0, 1.0)
    b = leaning(names[rng.integers(7)], 10.0 ** rng.uniform(-9, 0), rng.uniform(0.1, 1.0))
    b = b.translated(rng.normal(size=3) * 10.0 ** rng.uniform(-9, -1))
    pieces, axis = pieces_of(a, b), cover_axis(a, b)
    assert pieces is not None
    low = min(float(pieces.heights(lowest_nearby(pieces, way)[None])[0]) for way in sphere_points(rng, 60))
    if low <= 1e-6:
        return  # two segments, or as good as
    assert cover(pieces, axis, low * (1.0 - 1e-8)).complete
    for more in (1e-12, 1e-9, 1e-3, 1.0):
        assert not cover(pieces, axis, low * (1.0 + more)).complete


def test_lies_about_cells_of_directions_are_found():
    a, b = leaning("cylinder", 0.0, 1.0), leaning("egg", 1e-4, 0.3)
    c = met(a, b)
    proof, bounds = c.certificate, "support points prove both bounds"
    assert proof.depth is not None
    deeper = proof.depth + 1e-6
    lies = [
        (bounds, {"upper_bound": c.signed_distance - 1e-9}),
        (bounds, {"upper_bound": -deeper, "depth": deeper}),
        (bounds, {"depth": deeper}),
        (bounds, {"depth": None}),
        *(("the certificate is well-formed", {"depth": depth}) for depth in (0.0, -1.0, np.nan, np.inf, "deep")),
    ]
    assert_lies_found(c, a, b, lies)


@pytest.mark.parametrize("size", [1e-200, 1e-6, 1e6, 1e200])
def test_curved_shapes_of_any_size_are_verified(size):
    at, up = np.zeros(3), np.array([0.0, 0.0, size])
    for a, b in (
        (Cylinder(-up, up, 0.7 * size), Cylinder((1e-5 * size, 0, -size), up, 0.2 * size)),
        (Ellipsoid(at, (size, 0.6 * size, 0.6 * size)), Ellipsoid(at, np.array([0.3, 0.2, 0.25]) * size)),
        (Ellipsoid(at, (size, 0.6 * size, 0.7 * size)), Sphere((0.1 * size, 0, 0), 0.2 * size)),
    ):
        c = contact(a, b)
        assert c.status is Status.CERTIFIED
        assert_verified(c, a, b)
