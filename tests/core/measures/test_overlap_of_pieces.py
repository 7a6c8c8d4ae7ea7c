# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlap volumes of curved shapes and compounds: closed forms, grids of boxes, dense samples."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import pi

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Circle,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    OverlapVolume,
    Polygon,
    Rounded,
    Sphere,
    overlap_volume,
    verify,
)
from contact_lens.core.meshes.solid_facets import Solid

from ..generators import as_matrix, direction, rotation

X, Y, Z = np.eye(3)
TURNED = (0.9, 0.1, -0.3, 0.2)


def lens(r: float, s: float, d: float) -> float:
    """The volume of the lens of two balls whose spheres meet."""
    return pi * (r + s - d) ** 2 * (d * d + 2 * d * (r + s) - 3 * (r - s) ** 2) / (12 * d)


def sampled(a: Solid, b: Solid, count: int = 60_000) -> float:
    rng = np.random.default_rng(7)
    low, high = np.maximum(a.bounds[0], b.bounds[0]), np.minimum(a.bounds[1], b.bounds[1])
    points = rng.uniform(low, high, (count, a.dim))
    return float((a.contains(points) & b.contains(points)).mean() * np.prod(high - low))


def assert_between(found: OverlapVolume, truth: float, a: Solid, b: Solid) -> None:
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper
    assert found.lower <= found.volume <= found.upper
    assert found.upper - found.lower <= 0.01 * found.upper
    assert verify(found, a, b), str(verify(found, a, b))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_two_balls_overlap_in_a_lens(size: float) -> None:
    rng = np.random.default_rng(3)
    for r, s, d in ((1, 0.8, 1.2), (1, 0.3, 0.9), (2, 2, 0.01), (1, 1, 1.999), (1, 0.5, 0.2), (1, 1, 0.0), (1, 1, 2.0)):
        place = size * rng.normal(size=3)
        a = Sphere(place, r * size)
        b = Sphere(place + d * size * direction(rng), s * size)
        truth = 4 / 3 * pi * min(r, s) ** 3 if d <= abs(r - s) else lens(r, s, d)
        found = overlap_volume(a, b)
        assert found.volume == pytest.approx(truth * size**3, rel=1e-12, abs=1e-13 * size**3)
        assert found.upper - found.lower <= 1e-12 * size**3
        assert verify(found, a, b)


def test_two_circles_overlap_in_two_segments() -> None:
    for r, s, d in ((1, 0.8, 1.2), (1, 0.3, 0.9), (1, 1, 1.9999)):
        x = (d * d + r * r - s * s) / (2 * d)
        truth = sum(
            q * q * np.arccos(h / q) - h * np.sqrt(q * q - h * h) for q, h in ((r, x), (s, d - x))
        )  # radius and distance from the chord
        a, b = Circle((1, 2), r), Circle((1 + d * 0.6, 2 + d * 0.8), s)
        found = overlap_volume(a, b)
        assert found.volume == pytest.approx(truth, rel=1e-9)
        assert found.lower <= truth <= found.upper
        assert verify(found, a, b)


CLOSED = {
    "a cylinder cut across": (Cylinder(0 * Z, 3 * Z, 1), Box((0, 0, 0), (4, 4, 2)), pi),
    "the tip of a cone": (Cone(0 * Z, 2 * Z, 1), Box((0, 0, 1.5), (4, 4, 1)), pi / 12),
    "a rounded box cut": (
        Rounded(Box((0, 0, 0), (2, 2, 2)), 1),
        Box((5, 0, 0), (10, 10, 10)),
        16 + 3 * pi + 2 / 3 * pi,
    ),
    "a cylinder in a box": (Cylinder(0 * Z, 3 * Z, 1), Box((0, 0, 1), (9, 9, 9)), 3 * pi),
    "a quarter of a circle": (Circle((0, 0), 1), Polygon([(0, 0), (2, 0), (2, 2), (0, 2)]), pi / 4),
    "half of a ball": (Sphere((0, 0, 0), 1), Box((1, 0, 0), (2, 4, 4)), 2 / 3 * pi),
    "a cap": (Sphere((0, 0, 0), 1), Box((1.49, 0, 0), (1, 4, 4)), pi * 0.01**2 * (3 - 0.01) / 3),
    "a thin cap, turned": (
        Sphere((1, 1, 1), 1).transformed(as_matrix(rotation(np.random.default_rng(1)), (0, 0, 0))),
        Box((1.5 - 1e-5, 0, 0), (1, 4, 4))
        .translated((1, 1, 1))
        .transformed(as_matrix(rotation(np.random.default_rng(1)), (0, 0, 0))),
        pi * 1e-10 * (3 - 1e-5) / 3,
    ),
    "an ellipsoid cut in half": (Ellipsoid((0, 0, 0), (3, 2, 1)), Box((0, 0, 5), (10, 10, 10)), 4 * pi),
    "Steinmetz's solid": (Cylinder(-2 * X, 2 * X, 1), Cylinder(-2 * Y, 2 * Y, 1), 16 / 3),
    "a capsule cut along": (Capsule(0 * Z, 2 * Z, 1), Box((5, 0, 0), (10, 10, 10)), pi + 2 / 3 * pi),
}


FAST = ("a cylinder cut across", "the tip of a cone", "a cylinder in a box", "a quarter of a circle")


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in CLOSED]
)
def test_curved_shapes_have_volumes_within_a_hundredth(name: str) -> None:
    a, b, truth = CLOSED[name]
    assert_between(overlap_volume(a, b), truth, a, b)
    if name in FAST:
        swapped = overlap_volume(b, a)
        assert swapped.lower <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= swapped.upper


@pytest.mark.slow
def test_curved_shapes_of_all_kinds_agree_with_samples() -> None:
    rng = np.random.default_rng(11)
    makes = [
        lambda: Sphere(rng.normal(size=3), 1),
        lambda: Capsule(rng.normal(size=3), rng.normal(size=3), 0.6),
        lambda: Cylinder(rng.normal(size=3), 2 * rng.normal(size=3), 0.7),
        lambda: Cone(rng.normal(size=3), 2 * rng.normal(size=3), 0.9),
        lambda: Ellipsoid(rng.normal(size=3), rng.uniform(0.3, 1.5, 3), rng.normal(size=4)),
        lambda: Rounded(ConvexHull(rng.normal(size=(5, 3))), 0.2),
        lambda: Rounded(Cylinder(rng.normal(size=3), 2 * rng.normal(size=3), 0.5), 0.2),
        lambda: Box(rng.normal(size=3), rng.uniform(0.5, 2, 3), rng.normal(size=4)),
    ]
    looked_at = 0
    for k, step in product(range(len(makes)), (0, 1, 3)):
        a, b = makes[k](), makes[k - step]()
        found = overlap_volume(a, b)
        assert verify(found, a, b), (a, b, str(verify(found, a, b)))
        if found.lower > 0.02:
            looked_at += 1
            assert found.volume == pytest.approx(sampled(a, b), rel=0.06), (a, b)
            assert found.upper - found.lower <= 0.012 * found.upper, (a, b)
    assert looked_at > 5


def grid(count: int, gap: float = 0.0) -> Compound:
    """A cube of boxes that touch, or overlap by minus the gap."""
    return Compound([Box(at, [1 - gap] * 3) for at in product(range(count), repeat=3)])


def test_pieces_that_touch_add_up() -> None:
    a = grid(2)
    for b, truth in (
        (Box((0.5, 0.5, 0.5), (1.5, 1.5, 1.5)), 1.5**3),
        (a.translated((0.5, 0.5, 0.5)), 1.5**3),
        (Box((1, 1, 9), (1, 1, 1)), 0.0),
    ):
        found = overlap_volume(a, b)
        assert found.volume == pytest.approx(truth, abs=1e-12)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= 1e-10
        assert verify(found, a, b), str(verify(found, a, b))
        if truth:
            assert found.centroid == pytest.approx(overlap_volume(b, a).centroid)


def test_pieces_that_overlap_leave_bounds_that_hold() -> None:
    a = Compound([Box((0, 0, 0), (2, 2, 2)), Box((1, 0, 0), (2, 2, 2)), Box((2, 0, 0), (2, 2, 2))])
    b = Box((1, 0, 1), (3, 1, 1))
    found = overlap_volume(a, b)
    assert found.volume == pytest.approx(1.5)
    assert found.lower <= 1.5 <= found.upper
    assert verify(found, a, b), str(verify(found, a, b))


def test_a_shape_inside_another_or_twice_in_one_place_is_all_of_it() -> None:
    thin, disk = Cylinder(0 * Z, 1000 * Z, 1), Cylinder(0 * Z, Z, 1)
    for a, b in ((disk, disk), (thin, Sphere(500 * Z, 501)), (Sphere((0.5, 0, 0.5), 0.1), disk)):
        found = overlap_volume(a, b)
        assert_between(found, a.volume, a, b)
        assert found.upper - found.lower <= 1e-5 * found.upper


def test_a_compound_with_round_pieces_is_within_a_hundredth() -> None:
    a = Compound([Cylinder(0 * Z, Z, 1), Box((3, 0, 0), (2, 2, 2))])
    b = Box((1, 0, 1.5), (6, 4, 2))
    assert_between(overlap_volume(a, b), pi / 2 + 2, a, b)


def test_what_round_pieces_have_in_common_is_proved_too() -> None:
    a, b = Compound([Sphere((0, 0, 0), 1.0), Box((0.9, 0, 0), (1, 1, 1))]), Box((0.5, 0.75, 0), (4, 2, 4))
    found = overlap_volume(a, b)
    assert found.lower <= sampled(a, b) <= found.upper
    assert verify(found, a, b), str(verify(found, a, b))


def test_many_pieces_in_one_place_leave_the_centroid_there() -> None:
    inside = [Box((x, 0, 0), (0.8, 0.8, 0.8)) for x in (0.24, 0.26, 0.28, 0.3)]
    found = overlap_volume(Compound([Sphere((0, 0, 0), 1.0), *inside]), Box((0, 0, 0), (4, 4, 4)))
    assert found.lower <= 4 / 3 * pi <= found.upper
    assert np.linalg.norm(found.centroid) < 0.1


def test_a_forged_overlap_of_pieces_fails() -> None:
    for a, b in (
        (Cylinder(0 * Z, 3 * Z, 1), Box((0, 0, 0), (4, 4, 2))),
        (Sphere((0, 0, 0), 1), Sphere((0.5, 0, 0), 1)),
        (grid(2), Box((0.5, 0.5, 0.5), (1.2, 1.2, 1.2))),
    ):
        found = overlap_volume(a, b)
        assert verify(found, a, b)
        lies = {
            "moved": OverlapVolume(*(1.2 * x for x in (found.volume, found.lower, found.upper)), found.centroid),
            "less": OverlapVolume(*(0.8 * x for x in (found.volume, found.lower, found.upper)), found.centroid),
            "nothing": OverlapVolume(0.0, 0.0, 0.0),
            "no centroid": replace(found, centroid=None),
            "centroid": replace(found, centroid=found.centroid + 0.2),
            "a body": replace(found, body=ConvexHull(np.eye(3))),
        }
        assert [name for name, lie in lies.items() if verify(lie, a, b)] == []
