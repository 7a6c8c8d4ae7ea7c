# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a mesh is from its convex hull."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core.decomposition.concavity import Concavity, least_concavity, max_concavity
from contact_lens.core.decomposition.decompose_polygon import triangulated
from contact_lens.core.decomposition.polygon_convexity import outline_of
from contact_lens.core.shapes.hull import ConvexHull

from ..generators import sphere_points
from ..mesh_shapes import block, prism

CUBE, _ = block((2.0, 2.0, 2.0), (-1.0, -1.0, -1.0))
CUBE_QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]  # the last: z = 1


def fans(loops: list[tuple[int, ...]]) -> np.ndarray:
    return np.array([(f[0], f[k], f[k + 1]) for f in loops for k in range(1, len(f) - 1)])


def concavity(points: np.ndarray, triangles: np.ndarray) -> Concavity:
    hull = ConvexHull(points)
    return max_concavity(hull, hull.vertex_ids, points, triangles)


def test_what_the_mesh_leaves_open_of_its_hull_is_known() -> None:
    assert concavity(CUBE, fans(CUBE_QUADS)).open_fraction == 0.0
    opened = concavity(CUBE, fans(CUBE_QUADS[:-1]))
    assert opened.open_fraction == pytest.approx(1 / 6)
    assert (opened.depth, opened.is_closed) == (0.0, False)
    assert concavity(CUBE, np.zeros((0, 3), dtype=int)).open_fraction == 1.0
    square = CUBE[[0, 1, 3, 2]]
    assert concavity(square, fans([(0, 1, 2, 3)])).open_fraction == pytest.approx(0.0, abs=1e-12)
    assert concavity(square, np.array([[0, 1, 2]])).open_fraction == pytest.approx(0.5)


def test_middle_of_the_top_pushed_in() -> None:
    # The top face becomes four triangles down to a point 0.5 below it: a pyramid of 4 * 0.5 / 3 is missing of 8.
    points = np.vstack([CUBE, [(0.0, 0.0, 0.5)]])
    top = CUBE_QUADS[-1]
    triangles = np.vstack([fans(CUBE_QUADS[:-1]), [(top[k], top[(k + 1) % 4], 8) for k in range(4)]])
    found = concavity(points, triangles)
    assert found.depth == pytest.approx(0.5)
    assert found.point == pytest.approx((0.0, 0.0, 0.5))
    assert found.missing_fraction == pytest.approx(4.0 * 0.5 / 3.0 / 8.0)


def test_concavity_between_corners_that_are_all_on_the_hull() -> None:
    # Without the top, and with a wall from one upper edge down to the lower edge across: every point is a corner of
    # the cube, but the middle of the wall is 1 under the surface.
    loops = [*CUBE_QUADS[:-1], (1, 5, 6, 2)]
    found = concavity(CUBE, fans(loops))
    assert found.depth == pytest.approx(1.0, rel=0.01)
    assert found.point == pytest.approx((0.0, 0.0, 0.0), abs=0.02)
    assert not found.is_closed
    assert found.missing_fraction is None


def test_flat_l_shape_is_concave_within_its_plane() -> None:
    # Squares of side 1 in an L; the inner corner (1, 1) is sqrt(1/2) under the hull's slanted side.
    points = np.array([(0, 0, 3), (2, 0, 3), (2, 1, 3), (1, 1, 3), (1, 2, 3), (0, 2, 3)], dtype=float)
    triangles = np.array([(0, 1, 3), (1, 2, 3), (0, 3, 5), (3, 4, 5)])
    found = concavity(points, triangles)
    assert found.depth == pytest.approx(0.5**0.5, rel=0.01)
    assert found.point == pytest.approx((1.0, 1.0, 3.0))


def test_flat_square_with_points_inside_is_convex() -> None:
    points = np.array([(x, y, 0.0) for x in range(4) for y in range(4)])
    quads = [(4 * i + j, 4 * i + j + 4, 4 * i + j + 5, 4 * i + j + 1) for i in range(3) for j in range(3)]
    assert concavity(points, fans(quads)).depth == 0.0


def test_loose_point_inside_counts() -> None:
    found = concavity(np.vstack([CUBE, [(0.0, 0.0, 0.25)]]), fans(CUBE_QUADS))
    assert found.depth == pytest.approx(0.75)


@pytest.mark.parametrize("points", [[(1.0, 2.0, 3.0)], [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 0.0, 0.0)]])
def test_point_and_segment_have_no_concavity(points: list[tuple[float, float, float]]) -> None:
    assert concavity(np.array(points), np.empty((0, 3), dtype=int)).depth == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_depth_of_a_rough_ball_is_that_of_every_plane_tried_on_every_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = 1e3 + 0.02 * sphere_points(rng, 700) * (1.0 - 0.1 * rng.random(700))[:, None]
    hull = ConvexHull(points)
    deepest = (hull.offsets - (points - hull.center) @ hull.normals.T).min(axis=1).max()
    found = max_concavity(hull, hull.vertex_ids, points, np.empty((0, 3), dtype=int))
    assert found.depth == pytest.approx(deepest, rel=0.011)


def test_far_from_the_origin_a_cube_has_no_concavity() -> None:
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    assert concavity(CUBE @ turn + 1e6, fans(CUBE_QUADS)).depth == 0.0


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160])
def test_a_cube_of_any_size_has_no_concavity(size):
    found = concavity(CUBE * size, fans(CUBE_QUADS))
    assert (found.depth, found.is_closed) == (0.0, True)
    assert [found.open_fraction, found.missing_fraction] == pytest.approx([0.0, 0.0], abs=1e-12)


def dented_ball(seed: int, depth: float, count: int = 400) -> np.ndarray:
    """Points of a ball whose surface goes in and out by `depth` in waves."""
    rng = np.random.default_rng(seed)
    points = sphere_points(rng, count)
    waves = np.sin(3.0 * points @ rng.normal(size=(3, 4)) + rng.uniform(0.0, 6.0, 4)).sum(axis=1)
    return points * (1.0 - 0.25 * depth * waves)[:, None]


@pytest.mark.parametrize("seed", range(8))
def test_a_few_extreme_points_show_that_a_ball_is_dented(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = dented_ball(seed, 0.8) @ rng.normal(size=(3, 3)) * [1.0, 50.0, 1.0] + rng.normal(size=3)
    whole = concavity(points, np.zeros((0, 3), dtype=int)).depth
    assert 0.1 * whole < least_concavity(points) <= whole


def test_without_a_dent_nothing_is_shown() -> None:
    rng = np.random.default_rng(3)
    flat = np.column_stack([rng.uniform(size=(50, 2)), np.zeros(50)])
    for points in (sphere_points(rng, 300), 1e6 + CUBE, flat, flat * [1, 0, 0], np.ones((4, 3))):
        assert least_concavity(points) == 0.0


def test_a_thin_slab_takes_no_longer_than_a_thick_one():
    """The deepest places of its notch are a line half-way up: planes alone bound that to the size of triangles."""
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
    points, triangles = prism(outline, triangulated(outline_of(outline)), (0.0, 0.004))
    calls: list[float] = []
    hull = ConvexHull(points)
    found = max_concavity(hull, hull.vertex_ids, points, triangles, progress=calls.append)
    assert found.depth == pytest.approx(0.002, rel=1e-2)
    assert len(calls) < 50


@pytest.mark.parametrize("turn", range(3))
def test_a_search_that_ends_early_has_found_a_depth_of_the_mesh(turn: int) -> None:
    """A thin plate with a notch: everywhere along the notch it is as deep, and the whole search splits all of it."""
    outline = np.array([(0, 0), (9, 0), (9, 3), (6, 1), (3, 1), (0, 3)], dtype=np.float64)
    points = np.roll(np.array([(x, y, z) for z in (0.0, 0.02) for x, y in outline]), turn, axis=1)
    sides = [(k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6) for k in range(6)]
    caps = [(0, 5, 4), (0, 4, 3), (0, 3, 1), (1, 3, 2), (6, 10, 11), (6, 9, 10), (6, 7, 9), (7, 8, 9)]
    triangles = np.array([*caps, *((a, b, c) for a, b, c, _ in sides), *((a, c, d) for a, _, c, d in sides)])
    hull = ConvexHull(points)
    whole = max_concavity(hull, hull.vertex_ids, points, triangles)
    assert whole.depth == pytest.approx(0.01, rel=1e-3)
    found = max_concavity(hull, hull.vertex_ids, points, triangles, enough=1e-6)
    assert 1e-6 < found.depth <= whole.depth * (1.0 + 1e-9)
    assert max_concavity(hull, hull.vertex_ids, points, triangles, enough=1.0).depth == whole.depth
