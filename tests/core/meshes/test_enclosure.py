# SPDX-License-Identifier: GPL-3.0-or-later
"""What is inside a mesh that is closed but for small holes: it is inside, and has no depth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Compound,
    Contact,
    ConvexHull,
    Mesh,
    Relation,
    Sphere,
    Status,
    contact,
    contacts,
    depth_along,
    pairs_intersect,
    points_to_mesh,
    verify,
)

from ..assertions import assert_verified
from ..generators import rotation
from ..mesh_shapes import Surface, block, flipped, joined, sheet, sphere

BALL = sphere(12)
CUBE = Mesh(*block((0.3, 0.3, 0.3), (-0.15, -0.15, -0.15)))


def without(surface: Surface, *triangles: int) -> Surface:
    """The surface without some triangles."""
    return surface[0], np.delete(surface[1], triangles, axis=0)


def shell(*holes: int) -> Mesh:
    """A ball without some triangles, by default one of 528."""
    return Mesh(*without(BALL, *(holes or (5,))))


def cap(height: float) -> np.ndarray:
    """The triangles of the ball above a height."""
    return np.flatnonzero(BALL[0][BALL[1]][:, :, 2].min(axis=1) > height)


def remarks(found: Contact) -> list[str]:
    return [str(note) for note in found.notes if "inside" in str(note)]


def assert_inside(a: object, b: object, words: str = "has a hole of 3 edges") -> None:
    """B is inside A, and A inside B when they are swapped."""
    for first, second, relation, text in (
        (a, b, Relation.B_INSIDE_A, f"B is inside A, but A {words}"),
        (b, a, Relation.A_INSIDE_B, f"A is inside B, but B {words}"),
    ):
        found = contact(first, second)  # type: ignore[arg-type]
        assert (found.relation, found.status, found.has_depth) == (relation, Status.NO_DEPTH, False)
        assert found.intersects
        assert remarks(found) == [text, "open surfaces have no inside, so there is no depth"]
        assert_verified(found, first, second)
        assert pairs_intersect([first, second], [[0, 1]]).tolist() == [True]


def assert_apart(a: object, b: object) -> None:
    for first, second in ((a, b), (b, a)):
        found = contact(first, second)  # type: ignore[arg-type]
        assert (found.relation, found.has_depth) == (Relation.SEPARATED, True)
        assert_verified(found, first, second)
        assert pairs_intersect([first, second], [[0, 1]]).tolist() == [False]


@pytest.mark.parametrize("seed", range(3))
def test_a_body_in_a_ball_with_a_hole_is_inside_in_every_pose_and_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = 10.0 ** rng.uniform(-4, 4) * rotation(rng), rng.uniform(-9, 9, 3)
    assert_inside(shell().transformed(matrix), CUBE.transformed(matrix))
    matrix[:3, 0] *= -1.0
    assert_inside(shell().transformed(matrix), CUBE.transformed(matrix))


@pytest.mark.parametrize(
    "inner",
    [
        Box([0, 0, 0], [0.3, 0.3, 0.3]),
        ConvexHull([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]),
        Sphere([0.1, 0, 0], 0.3),
        Compound([Box([0, 0, 0], [0.2, 0.2, 0.2]), Sphere([0.3, 0, 0], 0.1)]),
        Mesh(*sheet(2, 0.3)),
        Mesh(*joined([block((0.1, 0.1, 0.1)), block((0.1, 0.1, 0.1), (-0.3, 0.0, 0.0))])),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_whatever_the_body_is(inner: object) -> None:
    assert_inside(shell(), inner)


@pytest.mark.parametrize(
    ("outer", "words"),
    [
        (shell(0, 200, 300), "has 3 holes, the largest of 3 edges"),
        (shell(0, 2), "has a hole of 4 edges"),
        (Mesh(*flipped(without(BALL, 5))), "has a hole of 3 edges"),
        (Mesh(BALL[0][without(BALL, 5)[1].ravel()], np.arange(3 * 527).reshape(-1, 3)), "has a hole of 3 edges"),
        (Mesh(*joined([without(BALL, 5), sheet(2, 9.0, (2.0, 2.0, 2.0))])), "has a hole of 3 edges"),
        (Mesh(*joined([BALL, sheet(2, 9.0, (2.0, 2.0, 2.0))])), "is not closed"),
    ],
    ids=["three holes", "four edges", "turned over", "points for each triangle", "beside a sheet", "closed part"],
)
def test_holes_are_counted_by_the_parts_around_the_body(outer: Mesh, words: str) -> None:
    assert_inside(outer, CUBE, words)


def test_in_a_large_hole_or_many_small_ones_nothing_is_inside() -> None:
    assert_apart(shell(*cap(0.8)), CUBE)
    rng = np.random.default_rng(1)
    assert_apart(shell(*rng.choice(len(BALL[1]), 60, replace=False)), CUBE)  # a ninth of the ball
    assert_apart(Mesh(*without(block((2.0, 2.0, 2.0), (-1.0, -1.0, -1.0)), 0)), CUBE)
    grass = [sheet(1, 0.1, place) for place in np.random.default_rng(2).uniform(-1, 1, (200, 3))]
    assert_apart(Mesh(*joined([blade for blade in grass if abs(blade[0]).max() > 0.3])), CUBE)


def test_a_body_outside_or_across_the_surface_is_as_without_the_rule() -> None:
    assert_apart(shell(), CUBE.translated([1.3, 0.0, 0.0]))
    for x in (0.9, 1.0):
        found = contact(shell(), CUBE.translated([x, 0.0, 0.0]))
        assert (found.relation, found.has_depth, remarks(found)) == (Relation.PENETRATING, True, [])


@pytest.mark.parametrize("gap", [-1e-7, 0.0, 1e-9, 1e-7])
def test_what_is_beside_the_wall_touches_it_whatever_the_rounding(gap: float) -> None:
    middle = np.array([0.1, 0.05, 0.02])
    distance = float(points_to_mesh(middle[None], shell()).distance[0]) - gap
    out = points_to_mesh(middle[None], shell()).point[0] - middle
    tip = middle + distance * out / np.linalg.norm(out)
    spike = ConvexHull([tip, *(middle + 0.05 * np.eye(3))])
    for body in (spike, Mesh(spike.vertices, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]), Sphere(middle, distance)):
        found = contact(shell(), body)
        assert (found.relation, found.has_depth) == (Relation.TOUCHING, True)
        assert_verified(found, shell(), body)
        assert pairs_intersect([shell(), body], [[0, 1]]).tolist() == [found.intersects]


@pytest.mark.parametrize(
    "body",
    [CUBE, Box([0, 0, 0], [0.3, 0.3, 0.3]), pytest.param(Sphere([0, 0, 0], 0.15), marks=pytest.mark.slow)],
)
def test_along_a_direction_it_is_out_when_it_is_outside(body: object) -> None:
    for a, b in ((shell(), body), (body, shell())):
        found = depth_along(a, b, [0, 0, 1])  # type: ignore[arg-type]
        assert found == pytest.approx(1.15, abs=1e-3)
        assert contact(a, b.translated([0, 0, found])).relation in (Relation.TOUCHING, Relation.SEPARATED)  # type: ignore


def test_verify_rejects_what_is_inside_said_to_be_apart_and_the_reverse() -> None:
    inside, apart = contact(shell(), CUBE), contact(shell(*cap(0.8)), CUBE)
    assert not verify(replace(inside, relation=Relation.A_INSIDE_B), shell(), CUBE).ok
    assert not verify(inside, shell(*cap(0.8)), CUBE).ok
    assert not verify(inside, shell(), CUBE.translated([1.3, 0.0, 0.0])).ok
    assert not verify(apart, shell(), CUBE).ok


def test_deeper_inside_it_is_found_though_it_moved_less_than_it_was_apart() -> None:
    """Next to the hole it is not known to be inside."""
    top = np.flatnonzero((BALL[1] == len(BALL[0]) - 2).any(axis=1))[:5]
    hole = BALL[0][BALL[1][top]].mean(axis=(0, 1))
    shapes = [shell(*top), Mesh(*block((0.01, 0.01, 0.01)))]
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, :3, 3] = 0.8 * hole
    start = contacts(shapes, [[0, 1]], poses=poses, distances=False)
    assert start.relation.tolist() == [Relation.SEPARATED]
    poses[1, :3, 3] = 0.69 * hole
    assert start.lower_bound[0] > 0.11
    warm, cold = (contacts(shapes, [[0, 1]], poses=poses, distances=False, start=of) for of in (start, None))
    assert warm.relation.tolist() == cold.relation.tolist() == [Relation.B_INSIDE_A]
    assert pairs_intersect(shapes, [[0, 1]], poses=poses, start=start).tolist() == [True]


def test_farther_from_a_triangle_that_is_turned_over_it_is_found_too() -> None:
    turned = BALL[1].copy()
    turned[200] = turned[200, ::-1]
    shapes = [Mesh(BALL[0], turned), Mesh(*block((0.01, 0.01, 0.01)))]
    poses = np.tile(np.eye(4), (2, 1, 1))
    start, found = None, []
    for part in (0.87, 0.78):
        poses[1, :3, 3] = part * BALL[0][BALL[1][200]].mean(axis=0)
        start = contacts(shapes, [[0, 1]], poses=poses, distances=False, start=start)
        found += start.relation.tolist()
    assert found == [Relation.SEPARATED, Relation.B_INSIDE_A]
