# SPDX-License-Identifier: GPL-3.0-or-later
"""What is inside of what, when one of two shapes is curved: against points of the one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Relation,
    Rounded,
    Sphere,
    contact,
)
from contact_lens.core.curved import curved_inside
from contact_lens.core.curved.curved_inside import protrusion

from ..assertions import assert_verified, peak_memory
from ..generators import as_matrix, direction, rotation, sphere_points

ALONG = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
ASIDE = np.array([2.0, -1.0, 0.0]) / np.sqrt(5.0)
UP = np.cross(ALONG, ASIDE)
QUATERNION = (1.0, 0.2, -0.3, 0.4)

LONG = {
    "cylinder": Cylinder(-5.0 * ALONG, 5.0 * ALONG, 1.0),
    "capsule": Capsule(-5.0 * ALONG, 5.0 * ALONG, 1.0),
    "rounded cylinder": Rounded(Cylinder(-5.0 * ALONG, 5.0 * ALONG, 0.7), 0.3),
    "egg": Ellipsoid.from_axes(np.zeros(3), np.array([1.0, 1.0, 50.0]), np.array([ASIDE, UP, ALONG])),
    "rounded box": Rounded(ConvexHull([s * 5 * ALONG + t * 0.01 * UP for s in (-1, 1) for t in (-1, 1)]), 1.0),
}
SMALL = {
    "sphere": lambda at: Sphere(at, 0.1),
    "capsule": lambda at: Capsule(at - 0.05 * ALONG, at + 0.05 * ALONG, 0.1),
    "box": lambda at: ConvexHull([at + 0.1 * ASIDE, at - 0.1 * ASIDE, at + 0.01 * ALONG, at + 0.01 * UP]),
    "cylinder": lambda at: Cylinder(at - 0.1 * ASIDE, at + 0.1 * ASIDE, 0.01),
    "egg": lambda at: Ellipsoid.from_axes(at, np.array([0.1, 0.02, 0.03]), np.array([ASIDE, ALONG, UP])),
}


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("outer", LONG)
@pytest.mark.parametrize("inner", SMALL)
def test_what_pokes_out_beside_a_long_shape_is_not_inside_of_it(inner: str, outer: str) -> None:
    around = LONG[outer]
    for out in (0.01, 1e-3, -1e-3, -0.2):
        small = SMALL[inner]((0.9 + out) * ASIDE)
        c = contact(small, around)
        assert c.relation is (Relation.PENETRATING if out > 0.0 else Relation.A_INSIDE_B), out
        assert_verified(c, small, around)
        assert contact(around, small).relation is (Relation.PENETRATING if out > 0.0 else Relation.B_INSIDE_A)


def _shapes(rng: np.random.Generator) -> dict[str, object]:
    way = direction(rng)
    return {
        "point": Sphere(0.2 * way, 0.0),
        "sphere": Sphere(0.2 * way, 0.8),
        "capsule": Capsule(-way, way, 0.5),
        "box": Box(0.1 * way, rng.uniform(0.5, 2.0, 3), rng.normal(size=4)),
        "rounded box": Rounded(Box(0.1 * way, rng.uniform(0.5, 2.0, 3), rng.normal(size=4)), 0.3),
        "rounded polygon": Rounded(ConvexHull(rng.normal(size=(3, 3))), 0.3),
        "cylinder": Cylinder(-way, way, float(rng.uniform(0.2, 2.0))),
        "cone": Cone(-way, way, float(rng.uniform(0.2, 2.0))),
        "rounded cone": Rounded(Cone(-way, way, float(rng.uniform(0.2, 2.0))), 0.2),
        "ellipsoid": Ellipsoid(0.1 * way, rng.uniform(0.3, 2.0, 3), rng.normal(size=4)),
        "spheroid": Ellipsoid(0.1 * way, (1.0, 1.0, float(rng.uniform(0.1, 3.0))), rng.normal(size=4)),
    }


WAYS = curved_inside.spread(3, 40_000)


def _tops(shape: object, ways: np.ndarray) -> np.ndarray:
    if isinstance(shape, ConvexHull | Box):
        return shape.vertices[(ways @ shape.vertices.T).argmax(axis=1)]
    return shape.supports(ways)


def _sampled(inner: object, outer: object) -> float:
    """How far out the farthest of many points of a shape is; it may be somewhat less than the farthest of all."""
    points = _tops(inner, WAYS)
    far = outer.signed_distance(points)
    # Uphill from the best: what is farthest along the slope there is at least as far out.
    at, step = points[far.argmax()], 1e-6 * max(outer.extent, inner.extent)
    for _ in range(40):
        slope = outer.signed_distance(at + step * np.eye(3)) - outer.signed_distance(at - step * np.eye(3))
        if slope.any():
            at = _tops(inner, slope[None])[0]
    return max(float(far.max()), float(outer.signed_distance(at[None])[0]))


@pytest.mark.fast_cases(10)
@pytest.mark.parametrize("kinds", list(product(_shapes(np.random.default_rng(0)), repeat=2)), ids="-in-".join)
def test_a_shape_is_inside_when_no_point_of_it_is_outside(kinds: tuple[str, str]) -> None:
    rng = np.random.default_rng([30, *map(len, kinds)])
    for size in (0.2, 1.0):
        inner, outer = _shapes(rng)[kinds[0]], _shapes(rng)[kinds[1]]
        inner = inner.transformed(as_matrix(size * np.eye(3), 0.1 * rng.normal(size=3)))
        reach = _sampled(inner, outer)
        missed = 1e-3 * inner.extent
        assert protrusion(inner, outer, reach - 1e-9) > reach - 1e-9
        assert protrusion(inner, outer, reach + missed) <= reach + missed
        band = 1e-5 * min(inner.extent, outer.extent)
        if reach > band:
            assert protrusion(inner, outer, band) > band
        if reach < -missed:
            assert protrusion(inner, outer, band) <= band


TIGHT = {
    "cylinder in cylinder": (Cylinder(-ALONG, ALONG, 1), Cylinder(-ALONG, 2 * ALONG, 1)),
    "cone in cylinder": (Cone(-ALONG, ALONG, 1), Cylinder(-ALONG, ALONG, 1)),
    "cone in cone": (Cone(-ALONG, ALONG, 1), Cone(-ALONG, ALONG, 1)),
    "cylinder in sphere": (Cylinder(-0.6 * ALONG, 0.6 * ALONG, 0.8), Sphere((0, 0, 0), 1)),
    "sphere in cone": (Sphere((0, 0, 0), 0.5), Cone(-0.5 * ALONG, 0.5 * ALONG, 0.5 / np.sqrt(1e-9))),
    "egg in capsule": (Ellipsoid((0, 0, 0), (3, 1, 1)), Capsule((-3, 0, 0), (3, 0, 0), 1)),
    "egg in egg": (Ellipsoid((0, 0, 0), (3, 2, 1), QUATERNION), Ellipsoid((0, 0, 0), (3, 2, 1), QUATERNION)),
    "egg in ball": (Ellipsoid((0, 0, 0), (3, 3, 1), QUATERNION), Sphere((0, 0, 0), 3)),
    "ball in egg": (Sphere((0, 0, 0), 1), Ellipsoid((0, 0, 0), (3, 1, 1), QUATERNION)),
    "box in rounded box": (Box((0, 0, 0), (2, 2, 2)), Rounded(Box((0, 0, 0), (1, 2, 2)), 0.5)),
    "rounded box in box": (Rounded(Box((0, 0, 0), (1, 1, 1)), 0.5), Box((0, 0, 0), (2, 2, 2))),
}


@pytest.mark.parametrize("name", TIGHT)
def test_what_just_fits_is_inside_and_what_is_larger_by_a_thousandth_is_not(name: str) -> None:
    inner, outer = TIGHT[name]
    band = 1e-5 * min(inner.extent, outer.extent)
    turn = rotation(np.random.default_rng(1))
    for way, size in ((np.zeros(3), 1.0), (np.array([10.0, -20.0, 5.0]), 1.0), (np.zeros(3), 1e-3)):
        small = inner.transformed(as_matrix(size * turn, way))
        large = outer.transformed(as_matrix(size * turn, way))
        grown = inner.transformed(as_matrix(1.001 * size * turn, way))
        if name != "box in rounded box":
            assert protrusion(small, large, size * band) <= size * band
        assert protrusion(grown, large, size * band) > size * band


def test_what_cannot_be_decided_is_not_called_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = Cylinder(-ALONG, ALONG, 1.0)
    assert protrusion(shape, shape, 1e-6) <= 1e-6
    monkeypatch.setattr(curved_inside, "_MOST", 10)
    assert protrusion(shape, shape, 1e-6) > 1e-6


def test_ellipsoids_that_are_flatter_where_they_stick_out() -> None:
    """Farthest out, measured by the outer one's size there, is not farthest out by length."""
    outer = Ellipsoid((0, 0, 0), (1.0, 1.0, 1e-3))
    inner = Ellipsoid((0, 0, 0), (1.009, 1.0, 1.01e-3))
    assert protrusion(inner, outer, 1e-3) == pytest.approx(9e-3, rel=1e-3)
    assert protrusion(inner, outer, 1e-2) <= 1e-2
    assert contact(inner, outer).relation is Relation.B_INSIDE_A


@pytest.mark.parametrize("radius", [0.0, 0.1])
def test_memory_does_not_grow_with_corners_times_facets(radius: float) -> None:
    ways = sphere_points(np.random.default_rng(5), 2000)
    outer, inner = ConvexHull(ways), ConvexHull(0.5 * ways)
    small = Rounded(inner, radius) if radius else inner
    for shapes in ((small, outer), (small, Rounded(outer, 0.1))):
        reach, peak = peak_memory(lambda shapes=shapes: protrusion(*shapes, 1e-5))
        assert reach < -0.3
        assert peak < 16e6


def test_a_rounded_polygon_in_a_larger_one_in_its_plane() -> None:
    rng = np.random.default_rng(6)
    for _ in range(10):
        corners = rng.normal(size=(7, 2)) @ rng.normal(size=(2, 3))
        outer = Rounded(ConvexHull(corners), 0.001)
        inner = Rounded(ConvexHull(rng.dirichlet(np.ones(7), 6) @ corners), 0.0005)
        c = contact(inner, outer)
        assert c.relation is Relation.A_INSIDE_B
        assert_verified(c, inner, outer)
