# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of spheres, capsules, cylinders, cones, ellipsoids and rounded shapes with each other and with polytopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from contact_lens.core import (
    Box,
    Capsule,
    Circle,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Relation,
    Rounded,
    Sphere,
    contact,
    verify,
)
from contact_lens.core.region.region import Arc, RegionKind
from contact_lens.core.result import Status, TieKind
from contact_lens.core.shapes.feature import Feature, FeatureKind

from ..assertions import assert_lies_found, assert_verified
from ..generators import as_matrix, direction, rotation, sphere_points

Support = Callable[[np.ndarray], np.ndarray]
"""Heights (k,) of the support planes of a shape for unit directions (k, 3)."""


# ---------------------------------------------------------------------------------------------------------------------
# Shapes with support functions of their own, written down a second time


def sphere(rng: np.random.Generator, at: np.ndarray, size: float) -> tuple[Any, Support]:
    return Sphere(at, size), lambda n: n @ at + size


def capsule(rng: np.random.Generator, at: np.ndarray, size: float) -> tuple[Any, Support]:
    way, r = direction(rng) * size, 0.5 * size
    return Capsule(at - way, at + way, r), lambda n: n @ at + np.abs(n @ way) + r


def cylinder(rng: np.random.Generator, at: np.ndarray, size: float) -> tuple[Any, Support]:
    way, r = direction(rng), size * float(rng.uniform(0.3, 1.2))

    def heights(n: np.ndarray) -> np.ndarray:
        lean = n @ way
        return n @ at + size * np.abs(lean) + r * np.linalg.norm(np.cross(n, way), axis=1)

    return Cylinder(at - way * size, at + way * size, r), heights


def cone(rng: np.random.Generator, at: np.ndarray, size: float) -> tuple[Any, Support]:
    way, r = direction(rng), size * float(rng.uniform(0.3, 1.2))

    def heights(n: np.ndarray) -> np.ndarray:
        lean = n @ way
        rim = n @ at - size * lean + r * np.linalg.norm(np.cross(n, way), axis=1)
        return np.maximum(rim, n @ at + size * lean)

    return Cone(at - way * size, at + way * size, r), heights


def ellipsoid(rng: np.random.Generator, at: np.ndarray, size: float) -> tuple[Any, Support]:
    semi = size * rng.uniform(0.3, 1.5, 3)
    quaternion = rng.normal(size=4)
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    axes = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
            [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
            [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return Ellipsoid(at, semi, quaternion), lambda n: n @ at + np.linalg.norm((n @ axes.T) * semi, axis=1)


def box(rng: np.random.Generator, at: np.ndarray, size: float) -> tuple[Any, Support]:
    shape = Box(at, 2.0 * size * rng.uniform(0.3, 1.0, 3), rng.normal(size=4))
    return shape, lambda n: (n @ shape.vertices.T).max(axis=1)


def hull(rng: np.random.Generator, at: np.ndarray, size: float) -> tuple[Any, Support]:
    points = at + size * rng.normal(size=(10, 3)) * 0.7
    return ConvexHull(points), lambda n: (n @ points.T).max(axis=1)


def rounded(rng: np.random.Generator, at: np.ndarray, size: float) -> tuple[Any, Support]:
    core, heights = box(rng, at, 0.7 * size)
    return Rounded(core, 0.3 * size), lambda n: heights(n) + 0.3 * size


KINDS = {f.__name__: f for f in (sphere, capsule, cylinder, cone, ellipsoid, box, hull, rounded)}
PAIRS = [
    pair
    for pair in combinations_with_replacement(KINDS, 2)
    if pair not in {("box", "box"), ("box", "hull"), ("hull", "hull")}
]


def best_slab(height_a: Support, height_b: Support, rng: np.random.Generator) -> float:
    """The signed distance as the widest empty slab: sampled, then improved without derivatives."""

    def overlap(ways: np.ndarray) -> np.ndarray:
        return height_a(ways) + height_b(-ways)

    ways = sphere_points(rng, 20_000)
    values = overlap(ways)
    best = np.inf
    for k in np.argsort(values)[:6]:
        start = ways[k]
        u = np.cross(start, np.eye(3)[np.abs(start).argmin()])
        u /= np.linalg.norm(u)
        v = np.cross(start, u)

        def at(t: np.ndarray, start: np.ndarray = start, u: np.ndarray = u, v: np.ndarray = v) -> float:
            way = start + t[0] * u + t[1] * v
            return float(overlap((way / np.linalg.norm(way))[None])[0])

        t = np.zeros(2)
        for size in (0.05, 1e-3, 1e-5):
            simplex = t + size * np.array([[0.0, 0.0], [1.0, 0.2], [-0.3, 1.0]])
            found = minimize(
                at, t, method="Nelder-Mead", options={"initial_simplex": simplex, "xatol": 1e-12, "fatol": 1e-14}
            )
            t = found.x
        best = min(best, float(found.fun))
    return -best


def placed(name_a: str, name_b: str, state: str, seed: int) -> tuple[Any, Any, Support, Support]:
    rng = np.random.default_rng([seed, list(KINDS).index(name_a), list(KINDS).index(name_b)])
    a, height_a = KINDS[name_a](rng, rng.normal(size=3) * 0.3, 1.0)
    if state == "contained":
        b, height_b = KINDS[name_b](rng, a.center + 0.02 * rng.normal(size=3), 0.12)
        return a, b, height_a, height_b
    away = {"separated": 3.5, "penetrating": 0.8, "touching": 0.8}[state]
    b, height_b = KINDS[name_b](rng, a.center + away * direction(rng), 1.0)
    return a, b, height_a, height_b


BRACKET = 1e-10
"""Times the smaller extent: how near the bounds of every pair here are to each other."""
STATES = ["separated", "penetrating", "contained"]


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_every_pair_of_kinds_as_an_independent_search_finds_it(names):
    for state in STATES:
        a, b, height_a, height_b = placed(*names, state, 1)
        c = contact(a, b)
        expected = best_slab(height_a, height_b, np.random.default_rng(9))
        # The search may miss the best direction, never find too good a one.
        assert c.signed_distance >= expected - 1e-9, state
        assert c.signed_distance == pytest.approx(expected, abs=2e-8), state
        assert c.lower_bound <= c.signed_distance <= c.upper_bound, state
        assert c.status is Status.CERTIFIED, state
        assert c.upper_bound - c.lower_bound <= BRACKET * min(a.extent, b.extent), state
        assert_verified(c, a, b)
        assert (c.region is None) == (c.relation is Relation.SEPARATED) == (state == "separated")
        assert (c.relation is Relation.B_INSIDE_A) >= (state == "contained")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Ellipsoid((0, 0, 0), (0.9622828, 2.53156589, 0.94069097)), Cylinder((0, 0, 0), (-5e-5, -5e-5, 0), 1e-4)),
        (Cone((0, 0.01, 0), (0, 0, 0), 0.01), Ellipsoid((0, 0, 0), (3.74657813e-6, 6.45702229e-3, 1.14353163e-5))),
        (ConvexHull([[0, 0, 0], [0, -0.5, -1]]), Rounded(Cone((0, 0, 0), (0, 0, -1), 1.7), 27.2)),
    ],
    ids=["nearly flat", "an edge", "the rim of a cone"],
)
def test_witness_points_realise_the_distance_where_many_points_are_as_far(a, b):
    for one, other in ((a, b), (b, a)):
        c = contact(one, other)
        off = c.point_on_b - c.point_on_a - c.signed_distance * c.normal
        assert np.linalg.norm(off) < 1e-9 * abs(c.signed_distance) + 1e-10 * min(a.extent, b.extent)
        assert verify(c, one, other).failures == ()


@pytest.mark.parametrize("kind", [Cylinder, Cone])
def test_support_points_along_the_axis_are_on_the_shape(kind):
    """What is left of the axis across itself is rounding, and no way to the rim."""
    for x, y, z in np.ndindex(9, 9, 9):
        end = np.array([x - 4, y - 4, z - 4]) / 2.0
        if not end.any():
            continue
        shape = kind((0.0, 0.0, 0.0), end, 2.0)
        points = shape.supports(np.array([shape.axis, -shape.axis]))
        along = points @ shape.axis
        assert np.allclose(along, [np.linalg.norm(end), 0.0], rtol=0.0, atol=1e-12)
        assert np.linalg.norm(points - along[:, None] * shape.axis, axis=1).max() < 2.0 + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_more_placements_of_every_pair_have_bounds_that_meet_and_hold_both_ways(names):
    for seed, state in product((13, 14, 15), STATES):
        a, b, *_ = placed(*names, state, seed)
        for one, other in ((a, b), (b, a)):
            c = contact(one, other)
            assert c.status is Status.CERTIFIED, (seed, state)
            assert c.upper_bound - c.lower_bound <= BRACKET * min(a.extent, b.extent), (seed, state)
            assert_verified(c, one, other)


@pytest.mark.fast_cases(11)
@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_every_pair_of_kinds_touches_when_moved_by_the_mtv(names):
    for seed in (2, 16):
        a, b, *_ = placed(*names, "touching", seed)
        c = contact(a, b)
        moved = b.translated(c.mtv)
        touching = contact(a, moved)
        assert touching.relation is Relation.TOUCHING
        assert abs(touching.signed_distance) < 1e-9
        assert touching.region is not None
        assert_verified(touching, a, moved)


@pytest.mark.fast_cases(10)
@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_order_place_and_size_do_not_matter(names):
    rng = np.random.default_rng(3)
    a, b, *_ = placed(*names, "penetrating", 4)
    c = contact(a, b)
    swapped = contact(b, a)
    assert swapped.signed_distance == pytest.approx(c.signed_distance, abs=1e-9)
    assert_verified(swapped, b, a)
    assert swapped.tie_kind is c.tie_kind
    assert len(swapped.ties) == len(c.ties)
    if c.tie_kind is TieKind.FINITE and len(c.ties) == 1:
        assert np.allclose(swapped.normal, -c.normal, atol=3e-5), "as near as the root of the bracket"
    turn = rotation(rng)
    for way, size in (
        (np.array([3.0, -2.0, 1.0]), 1.0),
        (np.array([1e5, 0.0, -1e5]), 1.0),
        (np.zeros(3), 1e-4),
        (np.zeros(3), 1e5),
    ):
        matrix = as_matrix(size * turn, way)
        one, other = a.transformed(matrix), b.transformed(matrix)
        again = contact(one, other)
        tolerance = 2e-9 * size + 64 * 2.0**-52 * np.abs(way).max()
        assert again.signed_distance == pytest.approx(size * c.signed_distance, abs=tolerance)
        assert again.relation is c.relation
        assert_verified(again, one, other)


@pytest.mark.parametrize("names", [("sphere", "box"), ("cylinder", "ellipsoid"), ("cone", "capsule")])
@settings(max_examples=2)
@given(exponent=st.integers(-900, 900))
@example(exponent=-900)
@example(exponent=900)
def test_powers_of_two_change_nothing_but_the_exponent(names, exponent):
    a, b, *_ = placed(*names, "penetrating", 5)
    c, scaled = contact(a, b), contact(a.scaled(2.0**exponent), b.scaled(2.0**exponent))
    assert scaled.signed_distance == pytest.approx(float(np.ldexp(c.signed_distance, exponent)), rel=1e-9)
    assert np.allclose(scaled.normal, c.normal, atol=1e-6)
    assert scaled.relation is c.relation


# ---------------------------------------------------------------------------------------------------------------------
# Closed forms


TABLE, POLE = Box((0, 0, -1), (4, 4, 2)), Cylinder((0, 0, 0), (0, 0, 4), 1.0)
SQUARE, BALL = ConvexHull([[0, 0], [2, 0], [2, 2], [0, 2]]), Sphere((0, 0, 0), 1)
LENS = 2 * np.arccos(0.35) - 0.35 * np.sqrt(4 - 0.7**2)
KNOWN = {
    "ball inside a cylinder, by the end": (POLE, Sphere((0, 0, 3.5), 0.3), "b_inside_a", {"depth": 0.8}),
    "by the side": (POLE, Sphere((0.5, 0, 2.0), 0.3), "b_inside_a", {"depth": 0.8}),
    "nearer to the axis": (POLE, Sphere((0, 0.2, 2.0), 0.3), "b_inside_a", {"depth": 1.1}),
    "a cone on its apex": (
        TABLE,
        Cone((0, 0, 2), (0, 0, -0.25), 1.0),
        "penetrating",
        {"depth": 0.25, "normal": (0, 0, 1), "point_on_b": (0, 0, -0.25), "kind": "point"},
    ),
    "a cylinder's end on a table is a disk": (
        TABLE,
        Cylinder((0.3, 0.2, 0.0), (0.3, 0.2, 3.0), 0.5),
        "touching",
        {"area": np.pi * 0.25, "perimeter": np.pi, "centroid": (0.3, 0.2, 0.0), "arc_count": 4},
    ),
    "a cylinder's side, up to the table's edge": (
        TABLE,
        Cylinder((-1, 0, 0.4), (3, 0, 0.4), 0.5),
        "penetrating",
        {"depth": 0.1, "kind": "segment", "length": 3.0},
    ),
    "standing": (TABLE, Capsule((0, 0, 0.5), (0, 0, 2), 0.5), "touching", {"kind": "point"}),
    "lying": (TABLE, Capsule((-1, 0, 0.5), (1, 0, 0.5), 0.5), "touching", {"kind": "segment", "length": 2.0}),
    "end to end is a lens": (
        Cylinder((0, 0, 0), (0, 0, 1), 1.0),
        Cylinder((0.7, 0, 1), (0.7, 0, 2), 1.0),
        "touching",
        {"area": LENS, "centroid": (0.35, 0, 1)},
    ),
    "one direction": (BALL, Sphere((1, 0, 0), 1), "penetrating", {"tie_kind": "finite", "tie_count": 1}),
    "all around": (BALL, Sphere((0, 0, 0), 0.5), "b_inside_a", {"tie_kind": "sphere", "tie_count": 6}),
    "around an axis": (POLE, Sphere((0, 0, 2), 0.2), "b_inside_a", {"tie_kind": "circle", "depth": 1.2, "slope": 0.0}),
    "capsules on a line": (
        Capsule((-1, 0, 0), (1, 0, 0), 0.2),
        Capsule((0, 0, 0), (3, 0, 0), 0.2),
        "penetrating",
        {"tie_kind": "circle", "depth": 0.4},
    ),
    "circle in circle": (Circle((1, 2), 1), Circle((1, 2), 3), "a_inside_b", {"tie_kind": "circle"}),
    "circle beside": (SQUARE, Circle((3, 1), 0.5), "separated", {"signed_distance": 0.5}),
    "circle at a corner": (SQUARE, Circle((3, 3), 0.5), "separated", {"signed_distance": np.sqrt(2) - 0.5}),
    "circle inside": (SQUARE, Circle((0.5, 1), 0.25), "b_inside_a", {"depth": 0.75}),
    "circles": (Circle((0, 0), 1), Circle((1.5, 0), 1), "penetrating", {"depth": 0.5}),
    "lying in the plane": (SQUARE, Capsule((0.5, 2.5), (1.5, 2.5), 0.5), "touching", {"length": 1.0}),
    # Their difference is a parallelogram whose nearer sides are as far from its middle as the shorter one reaches.
    **{
        f"capsules at {angle}": (
            Capsule((-1.5, 0), (1.5, 0), 0.1),
            Capsule((-np.cos(angle), -np.sin(angle)), (np.cos(angle), np.sin(angle)), 0.2),
            "penetrating",
            {"depth": abs(np.sin(angle)) + 0.3},
        )
        for angle in (0.0, 0.3, 0.5 * np.pi, 2.0)
    },
    "a radius of 0": (Circle((1.5, -1), 0.5), Rounded(ConvexHull([[1, -1]]), 0), "touching", {}),
    "a point on a rim": (Cylinder((0, 1, 1), (0, 1, 1.5), 0.5), ConvexHull([[0, 0.5, 1.5]]), "touching", {}),
    "radii add": (
        Rounded(Cylinder((0, 0, 0), (0, 0, 1), 0.5), 0.1),
        Box((2, 0, 0.5), (1, 1, 1)),
        "separated",
        {"signed_distance": 0.9},
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers(name):
    a, b, relation, expected = KNOWN[name]
    c = contact(a, b)
    assert (c.relation, c.status) == (relation, Status.CERTIFIED)
    assert_verified(c, a, b)
    assert np.linalg.norm(c.ties, axis=1) == pytest.approx(1.0)
    found = {"tie_count": len(c.ties), "slope": np.abs(c.ties[:, -1]).max()}
    if c.region is not None:
        found |= {"kind": c.region.kind, "centroid": c.region.centroid, "perimeter": c.region.length}
        found["arc_count"] = len(c.region.arcs)
    for field, value in expected.items():
        actual = found[field] if field in found else getattr(c, field)
        assert actual == (value if isinstance(value, str) else pytest.approx(value, abs=1e-9)), field


def test_disks_over_the_edges_of_tables_have_the_areas_that_shapely_finds():
    rng = np.random.default_rng(10)
    for _ in range(60):
        x, y, r = *rng.uniform(-1.3, 1.3, 2), rng.uniform(0.2, 2.0)
        corners = ConvexHull(rng.normal(size=(8, 2)))
        solid = ConvexHull([[*p, z] for p in corners.vertices for z in (-1.0, 0.0)])
        c = contact(solid, Cylinder((x, y, 0.0), (x, y, 5.0), r))
        disk = shapely.Point(x, y).buffer(r, quad_segs=2000)
        expected = disk.intersection(shapely.Polygon(corners.vertices))
        if c.relation is not Relation.TOUCHING or expected.area == 0.0:
            assert expected.area == pytest.approx(0.0, abs=1e-6)
            continue
        assert c.region.area == pytest.approx(expected.area, rel=1e-5, abs=1e-9)
        centroid = np.array([expected.centroid.x, expected.centroid.y])
        assert np.allclose(c.region.centroid[:2], centroid, atol=1e-4)
        outline = shapely.Polygon(c.region.outline(c.normal, 4000)[:, :2])
        assert outline.area == pytest.approx(c.region.area, rel=1e-4, abs=1e-7)
        assert verify(c, solid, Cylinder((x, y, 0.0), (x, y, 5.0), r)).ok


# ---------------------------------------------------------------------------------------------------------------------
# What is not true is found out


@pytest.mark.parametrize(
    "names", [("sphere", "box"), ("cylinder", "ellipsoid"), ("cone", "hull"), ("capsule", "capsule")]
)
def test_lies_are_found_by_the_check_of_that_name(names):
    for seed in range(11, 30):
        a, b, *_ = placed(*names, "penetrating", seed)
        c = contact(a, b)
        if c.depth > 0.1:
            break
    assert c.depth > 0.1
    assert_verified(c, a, b)
    tilted = c.normal + 1e-3 * np.roll(c.normal, 1)
    tilted /= np.linalg.norm(tilted)
    separate, bounds, region = "normal and ties separate", "support points prove both bounds", c.region
    lies = [
        (separate, {"signed_distance": 0.9 * c.signed_distance}),
        (separate, {"ties": np.array([tilted]), "normal": tilted}),
        ("normals are unit vectors", {"normal": 2.0 * c.normal}),
        ("witness points", {"point_on_a": c.point_on_a + 1e-3}),
        (bounds, {"lower_bound": c.signed_distance + 1e-3}),
        (bounds, {"upper_bound": c.signed_distance - 1e-3}),
        ("the bounds meet", {"lower_bound": c.lower_bound - 1.0}),
        ("the relation fits", {"relation": Relation.SEPARATED}),
        ("a region unless the shapes are separated", {"region": None}),
        ("the region is on both shapes", {"region": replace(region, vertices=region.vertices + 0.5)}),
        ("area, length and centroid", {"region": replace(region, area=region.area + 1.0)}),
    ]
    assert_lies_found(c, a, b, lies)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sphere((0, 0), 1), r"^center: 3 numbers expected"),
        (lambda: Sphere((0, 0, np.nan), 1), r"^center: all numbers must be finite"),
        (lambda: Sphere((0, 0, 0), -1), r"^radius must be a finite number"),
        (lambda: Circle((0, 0, 0), 1), r"^center: 2 numbers expected"),
        (lambda: Capsule((0, 0, 0), (1, 0), 1), r"^end: 3 numbers expected"),
        (lambda: Cylinder((0, 0, 0), (0, 0, 0), 1), r"^end must not be start"),
        (lambda: Cylinder((0, 0, 0), (0, 0, 1), 0), r"^radius must be above 0"),
        (lambda: Cone((0, 0, 0), (0, 0, 0), 1), r"^apex must not be base"),
        (lambda: Ellipsoid((0, 0, 0), (1, 0, 1)), r"^semi_axes: all must be above 0"),
        (lambda: Ellipsoid((0, 0, 0), (1, 1, 1), (0, 0, 0, 0)), r"^rotation: a zero quaternion"),
        (lambda: Rounded("box", 1), r"^core must be a shape"),
        (lambda: Sphere((0, 0, 1e302), 1), r"^center: no coordinate may be beyond"),
        (lambda: contact(Sphere((0, 0, 0), 1), Circle((0, 0), 1)), r"^a and b must have the same dimension"),
        (lambda: contact(Sphere((0, 0, 0), 1), "box"), r"^b must be a shape"),
        (lambda: contact(Cone((0, 0, 0), (0, 0, 1), 1), Sphere((0, 0, 0), 1), method="sat"), r"^method 'sat' needs"),
        (lambda: Sphere((0, 0, 0), 1).supports([[0, 0, 0]]), r"^directions: row 0 is zero"),
    ],
)
def test_wrong_arguments_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_point_in_a_cylinder_has_witness_points_that_realise_the_depth():
    shape = Cylinder((-1.2926461227593415, -0.4718131547409021, 1.377950952722521),
                     (0.13573073406713437, 2.310363486795888, -0.7871927421571577), 0.921359740276797)  # fmt: skip
    point = ConvexHull([[-0.3910116556662047, 1.1316356936561862, -0.014422719317512999]])
    c = contact(shape, point)
    assert_verified(c, shape, point)
    rng = np.random.default_rng(12)
    for _ in range(60):
        a, _ = cylinder(rng, rng.normal(size=3), 1.0)
        b = ConvexHull(a.center + 0.6 * rng.normal(size=(1, 3)))
        c = contact(a, b)
        assert_verified(c, a, b)


def test_a_ball_that_is_rounded_is_as_large_wherever_it_is_moved():
    ball = Rounded(Ellipsoid((0, 0, 0), (1, 1, 1)), 1)
    for moved in (ball, ball.translated((5, 0, 0)), ball.scaled(3.0), ball.transformed(np.diag([2.0, 2.0, 2.0, 1.0]))):
        size = moved.radius / 2.0
        beside = Sphere(moved.center + size * np.array([5.0, 0, 0]), size)
        assert contact(moved, beside).signed_distance == pytest.approx(2.0 * size, rel=1e-12)
        assert np.ptp(moved.bounds, axis=0) == pytest.approx(4.0 * size, rel=1e-12)
    assert (ball.translated((5, 0, 0)).radius, ball.scaled(3.0).radius) == (2.0, 6.0)


def test_radii_of_rounded_shapes_add():
    core = Box((0, 0, 0), (1, 1, 1))
    twice = Rounded(Rounded(core, 0.1), 0.2)
    assert twice.core is core
    assert twice.radius == pytest.approx(0.3)


SHORT, LONG = np.zeros(2), np.full((2, 2), np.nan)


@pytest.mark.parametrize("names", [("sphere", "box"), ("cylinder", "ellipsoid"), ("cylinder", "cylinder")])
def test_fields_that_cannot_be_read_fail_the_checks_of_form(names):
    a, b, *_ = placed(*names, "penetrating", 1)
    if names == ("cylinder", "cylinder"):
        a, b = Cylinder((0, 0, 0), (0, 0, 1), 1), Cylinder((0.5, 0, 0.9), (0.5, 0, 2), 1)
    c = contact(a, b)
    assert_verified(c, a, b)
    told, proof, place = "the contact is", "the certificate is", "the region is"
    lies = [
        (told, {"signed_distance": None}),
        (told, {"lower_bound": "low"}),
        (told, {"upper_bound": float("nan")}),
        *((told, {name: bad}) for name in ("normal", "point_on_a", "point_on_b") for bad in (None, SHORT, [0, 0, 1])),
        *((told, {"ties": bad}) for bad in (None, SHORT, LONG, np.zeros((0, 3)))),
        (told, {"relation": "touching"}),
        (told, {"status": 3}),
        (told, {"tie_kind": None}),
        (told, {"method": "gjk"}),
        (told, {"feature_a": None}),
        (told, {"feature_b": Feature(FeatureKind.VERTEX, (999,))}),
        (told, {"clearance": -1.0}),
        (told, {"contact_tolerance": SHORT}),
        (proof, {"certificate": None}),
        *((proof, {"certificate": replace(c.certificate, normal=bad)}) for bad in (None, SHORT, np.zeros(3))),
        *((proof, {"certificate": replace(c.certificate, directions_b=bad)}) for bad in (None, SHORT, LONG)),
        *((proof, {"certificate": replace(c.certificate, section=bad)}) for bad in (3, SHORT, LONG)),
        (proof, {"certificate": replace(c.certificate, inner=None)}),
        (proof, {"certificate": replace(c.certificate, inner=replace(c.certificate.inner, certificate=c.certificate))}),
        (proof, {"certificate": replace(c.certificate, inner=replace(c.certificate.inner, normal=np.zeros(1)))}),
        (place, {"region": []}),
        *((place, {"region": replace(c.region, vertices=bad)}) for bad in (None, SHORT, LONG)),
        (place, {"region": replace(c.region, arcs=None)}),
        (place, {"region": replace(c.region, arcs=(Arc(99, np.zeros(3), 1.0),))}),
        (place, {"region": replace(c.region, depths=None)}),
        (place, {"region": replace(c.region, features=())}),
        (place, {"region": replace(c.region, area=None)}),
    ]
    assert_lies_found(c, a, b, lies)


def test_regions_name_the_vertices_of_the_core_and_none_of_a_smooth_shape():
    table = Box((0, 0, -1), (4, 4, 2))
    soft = Rounded(Box((0, 0, 1.5), (1, 1, 2)), 0.5)
    for shape in (soft, Capsule((-1, 0, 0.5), (1, 0, 0.5), 0.5), Cylinder((-1, 0, 0.5), (1, 0, 0.5), 0.5)):
        c = contact(table, shape)
        for corner, (_, feature) in zip(c.region.vertices, c.region.features, strict=True):
            if isinstance(shape, Cylinder):
                assert feature.vertices == ()
                continue
            below = shape.skeleton.vertices[list(feature.vertices)] - [0, 0, shape.radius]
            assert feature.vertices
            assert contact(ConvexHull(corner[None]), ConvexHull(below)).signed_distance < 1e-9


def test_verify_sees_what_lacks_in_a_region_a_name_or_the_ties():
    a, b = Cylinder((0, 0, 0), (0, 0, 1), 1.0), Cylinder((0.5, 0, 0.9), (0.5, 0, 2), 0.6)
    ball = Sphere((0, 0, 1.3), 0.5)
    box, small = Box((0, 0, 0), (1, 1, 1)), Sphere((0, 0, 0), 0.1)
    inner = Sphere((0, 0, 0), 0.3), Sphere((0, 0, 0), 0.2)
    lens, point, six, all_around = contact(a, b), contact(a, ball), contact(box, small), contact(*inner)
    for c, pair in ((lens, (a, b)), (point, (a, ball)), (six, (box, small)), (all_around, inner)):
        assert_verified(c, *pair)
    r, q = lens.region, point.region
    one = {"depths": r.depths[:1], "features": r.features[:1], "arcs": (), "area": 0.0, "length": 0.0}
    middle = replace(r, kind=RegionKind.POINT, vertices=r.centroid[None].copy(), **one)
    whole, place = "the region is the intersection", "the region's place and depths"
    lies = [
        (lens, (a, b), {"region": middle}, whole),
        (lens, (a, b), {"region": replace(r, depths=0.0 * r.depths)}, place),
        (lens, (a, b), {"region": replace(r, length=2.0 * r.length)}, "area, length and centroid"),
        (point, (a, ball), {"region": replace(q, vertices=q.vertices + 1e-7, centroid=q.centroid + 1e-7)}, whole),
        (point, (a, ball), {"region": replace(q, depths=0.0 * q.depths)}, place),
        (point, (a, ball), {"feature_a": replace(point.feature_a, kind=FeatureKind.VERTEX)}, "the features that"),
        (point, (a, ball), {"tie_kind": TieKind.SPHERE}, "the ties are of the kind"),
        (point, (a, ball), {"tie_kind": TieKind.CIRCLE}, "the ties are of the kind"),
        (six, (box, small), {"ties": six.ties[:1]}, "all normals known"),
        (six, (box, small), {"tie_kind": TieKind.CIRCLE}, "the ties are of the kind"),
        (all_around, inner, {"tie_kind": TieKind.FINITE}, "the ties are of the kind"),
        (all_around, inner, {"ties": all_around.ties[:1]}, "the ties are of the kind"),
    ]
    for c, pair, changes, expected in lies:
        assert_lies_found(c, *pair, [(expected, changes)])


@pytest.mark.parametrize("exponent", [-500, 500])
def test_a_section_of_two_round_solids_is_verified_at_extreme_sizes(exponent):
    a, b = (
        Sphere((0.3, -0.2, 0.1), 1).scaled(2.0**exponent),
        Cylinder((1, 2, 0), (1.5, 0, 1), 0.5).scaled(2.0**exponent),
    )
    c = contact(a, b)
    assert c.certificate.section is not None
    assert_verified(c, a, b)
