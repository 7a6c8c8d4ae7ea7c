# SPDX-License-Identifier: GPL-3.0-or-later
"""How far B has to be moved in a direction to leave A: closed forms, `contact`, a lattice of translations."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Capsule,
    Circle,
    Compound,
    ConvexHull,
    Mesh,
    Relation,
    Sphere,
    contact,
    depth_along,
    directional_depth,
)
from contact_lens.core.meshes.solid_facets import Solid, solid_facets

from .assertions import assert_progress
from .generators import as_matrix, direction, pairs, rotation
from .mesh_shapes import block, bumpy, torus

X, Y, Z = np.eye(3)
FREE = (Relation.TOUCHING, Relation.SEPARATED)

ROOM = Compound([Box([0, 0, -0.5], [4, 4, 1]), Box([1.5, 0, 1], [1, 4, 2])])
"""A floor up to z = 0 and a wall from x = 1 on, 2 high."""
TABLE = Compound([Box([0.6, 0, 0.5], [1, 1, 1]), Box([0.6, 0, 1.25], [0.5, 0.5, 0.5])])
"""It stands on the floor and is 0.1 deep in the wall."""


PLATE = Compound([Box([x, 0, 0], [2, 5, 1]) for x in (-1.5, 1.5)] + [Box([0, y, 0], [1, 2, 1]) for y in (-1.5, 1.5)])
"""Around a bore, 1 wide."""
PEG = Compound([Box([0, 0, 0], [1, 1, 1]), Box([0, 0, 0.65], [2, 2, 0.5])])
"""It fills the bore; its head is 0.1 deep in the plate."""


def mesh_of(solid: Solid) -> Mesh:
    return solid_facets(solid).mesh


def is_free(a: Solid, b: Solid, translation: np.ndarray) -> bool:
    return contact(a, b.translated(translation), budget=0.0).relation in FREE


def test_boxes_leave_along_an_axis_by_their_overlap() -> None:
    a, b = Box([0, 0, 0], [2, 4, 6]), Box([0.5, -1, 1], [2, 2, 2])
    assert [depth_along(a, b, n) for n in (X, -X, Y, -Y, 3 * Z, -Z)] == pytest.approx([1.5, 2.5, 4, 2, 3, 5])


@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e5])
def test_balls_leave_where_a_line_leaves_the_ball_of_both_radii(size: float, far: float) -> None:
    a = Sphere(size * np.array([far, 0, 0]), 1.0 * size)
    b = Sphere(size * np.array([far + 0.5, 0.3, 0]), 0.5 * size)
    assert depth_along(a, b, Z) == pytest.approx(size * np.sqrt(1.5**2 - 0.5**2 - 0.3**2), rel=1e-9)
    assert depth_along(Circle([0, 0], size), Circle([0.5 * size, 0], size), [0, 1]) == pytest.approx(size * 3.75**0.5)


@pytest.mark.parametrize("index", range(0, 120, 3))
def test_convex_shapes_touch_after_it_and_not_before(index: int) -> None:
    ((_, points_a, points_b),) = list(pairs(31, index + 1))[-1:]
    a, b = ConvexHull(points_a), ConvexHull(points_b)
    n = direction(np.random.default_rng(index), a.dim)
    c = contact(a, b)
    length = depth_along(a, b, n)
    if c.relation in FREE:
        assert length == 0.0
        return
    rounding = 1e-9 * min(a.extent, b.extent) + 1e-13 * (max(a.magnitude, b.magnitude) + length)
    assert length >= c.depth - rounding
    assert abs(contact(a, b.translated(length * n)).signed_distance) <= rounding
    assert depth_along(b, a, -n) == pytest.approx(length, abs=rounding)
    assert depth_along(a, b, c.normal) == pytest.approx(c.depth, abs=rounding)
    if a.rank == b.rank == a.dim:
        for shorter in (0.99, 1.0 - 1e-4):
            assert contact(a, b.translated(shorter * length * n)).intersects


def test_it_turns_and_scales_with_the_pair() -> None:
    rng = np.random.default_rng(8)
    a, b, n = Mesh(*torus(24, 12)), Mesh(*bumpy(rng, 7, 0.2, 0.4)).translated([0.8, 0.3, 0.1]), direction(rng)
    turn, factor = rotation(rng), 37.0
    pose = as_matrix(factor * turn, [3, -2, 5])
    length = depth_along(a, b, n)
    assert length > contact(a, b).depth
    assert depth_along(a.transformed(pose), b.transformed(pose), turn @ n) == pytest.approx(factor * length)
    assert depth_along(b, a, -n) == pytest.approx(length)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("seed", range(6))
def test_of_meshes_it_is_the_first_translation_of_a_lattice_that_separates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ring, b = Mesh(*torus(24, 12)), Mesh(*(block((0.5, 0.4, 0.3)) if seed % 2 else bumpy(rng, 5, 0.2, 0.35)))
    b, n = b.translated([0.9, 0.1, -0.1]), direction(rng) if seed > 2 else np.eye(3)[seed]
    length, step = depth_along(ring, b, n), 0.04
    assert is_free(ring, b, length * n)
    first = next(k for k in range(100) if is_free(ring, b, k * step * n))
    assert (first - 1) * step < length <= first * step


def test_it_ends_in_the_first_opening() -> None:
    ring, ball = Mesh(*torus(48, 24)), Mesh(*bumpy(np.random.default_rng(1), 7, 0.2, 0.2))
    ball = ball.translated([0.9, 0, 0])
    inward, outward = depth_along(ring, ball, -X), depth_along(ring, ball, X)
    assert inward == pytest.approx(0.4, abs=0.01), "into the hole"
    assert outward == pytest.approx(0.6, abs=0.01)
    assert depth_along(ring, Mesh(*block((9, 9, 9), (-4, -4, -4))), X) == pytest.approx(5.3), "around all of it"


@pytest.mark.parametrize("kinds", ["pieces and pieces", "mesh and pieces", "pieces and mesh", "mesh and mesh"])
def test_the_floor_it_stands_on_is_no_hindrance(kinds: str) -> None:
    a, b = ROOM, TABLE
    if kinds.startswith("mesh"):
        a = mesh_of(a)
    if kinds.endswith("mesh"):
        b = mesh_of(b)
    lengths = [depth_along(a, b, n) for n in (-X, Y, Z)]
    assert lengths == pytest.approx([0.1, 2.5, 2.0], rel=1e-9)
    for length, n in zip(lengths, (-X, Y, Z), strict=True):
        assert is_free(a, b, length * n)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("kinds", ["pieces and pieces", "mesh and pieces", "pieces and mesh", "mesh and mesh"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_bore_it_fits_in_is_no_hindrance(kinds: str, turned: bool) -> None:
    pose = as_matrix(rotation(np.random.default_rng(3)) if turned else np.eye(3), [5, -3, 2])
    a, b = PLATE.transformed(pose), PEG.transformed(pose)
    if kinds.startswith("mesh"):
        a = mesh_of(a)
    if kinds.endswith("mesh"):
        b = mesh_of(b)
    n = pose[:3, :3] @ Z
    assert [depth_along(a, b, n), depth_along(b, a, -n), depth_along(a, b, -n)] == pytest.approx([0.1, 0.1, 1.4])
    assert is_free(a, b, 0.1 * n)


@pytest.mark.parametrize("kinds", ["pieces and pieces", "mesh and pieces", "pieces and mesh", "mesh and mesh"])
@pytest.mark.parametrize("turned", [False, True])
def test_it_ends_in_a_gap_that_it_fills(kinds: str, turned: bool) -> None:
    pose = as_matrix(rotation(np.random.default_rng(4)) if turned else np.eye(3), [5, -3, 2])
    a = Compound([Box([0, 0, 0], [1, 1, 1]), Box([2, 0, 0], [1, 1, 1])]).transformed(pose)
    b = Compound([Box([0.8, 0, 0], [1, 1, 1])]).transformed(pose)
    if kinds.startswith("mesh"):
        a = mesh_of(a)
    if kinds.endswith("mesh"):
        b = mesh_of(b)
    n = pose[:3, :3] @ X
    assert [depth_along(a, b, n), depth_along(a, b, -n)] == pytest.approx([0.2, 1.8])


@pytest.mark.parametrize(("n", "expected"), [(Y, 2.6), (Z, 0.6)])
def test_of_coincident_meshes_few_places_are_looked_at(
    n: np.ndarray, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, not timed: a thousand pairs of triangles begin or end to touch at about 0."""
    calls = []
    monkeypatch.setattr(
        directional_depth, "contact", lambda *args, **options: calls.append(0) or contact(*args, **options)
    )
    assert depth_along(Mesh(*torus(24, 12)), Mesh(*torus(24, 12)), n) == pytest.approx(expected)
    assert len(calls) <= 2


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("b", [Capsule([0.7, 0, 0.5], [0.7, 0, 1.5], 0.5), Compound([Sphere([0.7, 0, 0.5], 0.5)])])
def test_curved_shapes_leave_a_mesh_as_far_as_their_surface(b: Solid) -> None:
    a = mesh_of(ROOM)
    for n, expected in ((-X, 0.2), (Y, 2.4)):
        length = depth_along(a, b, n)
        assert length == pytest.approx(expected, abs=1e-3)
        assert is_free(a, b, length * n)


def test_a_surface_is_left_too() -> None:
    plane = Mesh([[-5, -5, 0], [5, -5, 0], [0, 9, 0]], [[0, 1, 2]])
    assert depth_along(plane, Box([0, 0, 0.3], [1, 1, 1]), Z) == pytest.approx(0.2)
    assert depth_along(plane, Box([0, 0, 0.3], [1, 1, 1]), -Z) == pytest.approx(0.8)


def test_what_does_not_penetrate_stays() -> None:
    for b in (Box([2, 0, 0], [2, 2, 2]), Box([5, 0, 0], [2, 2, 2])):
        assert (
            depth_along(Box([0, 0, 0], [2, 2, 2]), b, Y) == depth_along(mesh_of(b), b.translated([2, 0, 0]), Y) == 0.0
        )


@pytest.mark.parametrize(
    ("wrong", "match"),
    [([0, 0, 0], "direction must not be zero"), ([1, 0], "direction"), ([np.nan, 0, 1], "direction")],
)
def test_what_is_no_direction_is_refused(wrong: list[float], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        depth_along(Box([0, 0, 0], [1, 1, 1]), Box([0, 0, 0], [1, 1, 1]), wrong)


def test_progress_and_cancelling() -> None:
    assert_progress(lambda progress: depth_along(mesh_of(ROOM), mesh_of(TABLE), X, progress=progress))
