# SPDX-License-Identifier: GPL-3.0-or-later
"""How far B has to be moved in a direction until its distance from A is a margin: closed forms, and `contact`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from contact_lens.core import Box, Capsule, Circle, Compound, ConvexHull, Cylinder, Mesh, Sphere, contact, depth_along
from contact_lens.core.meshes.solid_facets import Solid
from contact_lens.core.placing import place_along

from .assertions import assert_progress
from .generators import direction, pairs
from .mesh_shapes import block, torus

X, Y, Z = np.eye(3)
FLOOR = Compound([Box([0, 0, -0.5], [4, 4, 1]), Box([1.5, 0, 1], [1, 4, 2])])
"""A floor up to z = 0 and a wall from x = 1 on, 2 high."""


def distance_at(a: Solid, b: Solid, n: np.ndarray, length: float) -> float:
    return contact(a, b.translated(length * n)).signed_distance


@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize("margin", [0.0, 1e-3, 0.4, -0.2])
def test_boxes_are_placed_along_an_axis(margin: float, far: float) -> None:
    place = np.array([far, 0, 0])
    a, b = Box(place, [2, 4, 6]), Box(place + [0.5, -1, 1], [2, 2, 2])
    for n, free in ((X, 1.5), (-X, 2.5), (3 * Z, 3.0)):
        assert place_along(a, b, n, margin) == pytest.approx(free + margin, abs=1e-9 + 64 * 2.2e-16 * far)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e5])
@pytest.mark.parametrize("margin", [0.0, 0.3, -0.3])
def test_balls_are_placed_where_a_line_leaves_a_ball_that_is_larger_by_the_margin(size: float, margin: float) -> None:
    a, b = Sphere([0, 0, 0], size), Sphere([0.5 * size, 0.3 * size, 0], 0.5 * size)
    expected = size * np.sqrt((1.5 + margin) ** 2 - 0.5**2 - 0.3**2)
    assert place_along(a, b, Z, margin * size) == pytest.approx(expected, rel=1e-8)


def test_a_gap_is_widened_and_closed() -> None:
    a, b = Box([0, 0, 0], [2, 2, 2]), Box([0, 0, 2.0002], [2, 2, 2])
    assert place_along(a, b, Z, 0.001) == pytest.approx(0.0008, abs=1e-12)
    assert place_along(a, b, Z, 0.0) == pytest.approx(-0.0002, abs=1e-12)
    assert place_along(a, b, Z, -0.1) == pytest.approx(-0.1002, abs=1e-12)


def test_a_slanted_gap_is_placed_though_the_normal_is_not_the_direction() -> None:
    turned = Box([0, 0, 0], [1, 1, 1], [0.9, 0.1, 0.4, 0.2])
    ball = Sphere([0.2, 0.1, 0.55], 0.25)
    for n in (X, Y, Z, -X):
        for margin in (0.02, 0.0, -0.1):
            length = place_along(turned, ball, n, margin)
            assert length is not None
            assert distance_at(turned, ball, n, length) == pytest.approx(margin, abs=1e-8)


SHAPES = {
    "compound": (FLOOR, Compound([Box([0.6, 0, 0.4], [1, 1, 1]), Box([0.6, 0, 1.1], [0.5, 0.5, 0.5])])),
    "mesh": (Mesh(*torus(24, 12)), Mesh(*block((0.5, 0.5, 0.5), (0.9, -0.2, -0.2)))),
    "mesh and ball": (Mesh(*block((1, 1, 1))), Sphere([0.9, 0.1, 0.05], 0.3)),
    "curved": (Capsule([0, 0, 0], [1, 0, 0], 0.5), Cylinder([0.2, 0.2, 0.3], [0.2, 0.9, 0.5], 0.4)),
    "plane": (Circle([0, 0], 1.0), Circle([0.5, 0.1], 0.5)),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("margin", [0.05, 0.0, -0.03])
def test_every_kind_of_shape_ends_at_the_margin(name: str, margin: float) -> None:
    a, b = SHAPES[name]
    for n in (Z, X)[: a.dim - 1] if a.dim == 3 else np.eye(2):
        length = place_along(a, b, n, margin)
        assert length is not None
        assert distance_at(a, b, n, length) == pytest.approx(margin, abs=1e-6)
        if margin > 0.0:
            assert length > depth_along(a, b, n)


@pytest.mark.parametrize("name", ["mesh", "compound"])
def test_the_search_begins_where_the_pair_is_free(name: str) -> None:
    a, b = SHAPES[name]
    found = contact(a, b)
    length = place_along(a, b, found.normal, 0.1, start=found.depth)
    assert length is not None
    assert distance_at(a, b, found.normal, length) == pytest.approx(0.1, abs=1e-8)
    assert length <= found.depth + 0.1 / 0.5


@pytest.mark.fast_cases(5)
@pytest.mark.parametrize("index", range(30))
def test_random_hulls_end_at_the_margin(index: int) -> None:
    ((_, points_a, points_b),) = list(pairs(31, index + 1))[-1:]
    a, b = ConvexHull(points_a), ConvexHull(points_b)
    found = contact(a, b)
    n = direction(np.random.default_rng(index), a.dim) if found.intersects else found.normal
    size = min(a.extent, b.extent)
    rounding = 1e-8 * size + 1e-13 * max(a.magnitude, b.magnitude)
    for margin in (0.1 * size, 0.0):
        length = place_along(a, b, n, margin)
        assert length is not None
        assert distance_at(a, b, n, length) == pytest.approx(margin, abs=rounding)


def test_where_there_is_no_such_place_none_is_named() -> None:
    a, b = Box([0, 0, 0], [2, 2, 2]), Box([0, 0, 1.9], [2, 2, 2])
    assert place_along(a, b, Z, -2.5) is None, "no overlap of two cubes of 2 is deeper than 2"
    beside = Box([0, 5, 0], [2, 2, 2])
    assert place_along(a, beside, Z, 0.0) is None, "it passes at a distance of 3"
    mesh, small = SHAPES["mesh"]
    assert place_along(mesh, small, Z, -2.0) is None


def test_what_slides_along_a_plane_goes_to_its_end() -> None:
    a, b = Box([0, 0, 0], [2, 2, 2]), Sphere([0, 0, 1.5], 0.5)
    length = place_along(a, b, X, 0.01)
    assert length is not None
    assert length > 1.0
    assert distance_at(a, b, X, length) == pytest.approx(0.01, abs=1e-7)


def test_margins_and_progress_are_checked() -> None:
    a, b = SHAPES["mesh"]
    with pytest.raises(ValueError, match="margin must be a finite number"):
        place_along(a, b, X, math.nan)
    with pytest.raises(ValueError, match="direction"):
        place_along(a, b, [0, 0, 0], 0.1)
    assert_progress(lambda progress: place_along(a, b, X, 0.1, progress=progress))
