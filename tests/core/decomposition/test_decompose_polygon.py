# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex pieces of polygons: convex, without overlap, and together the polygon. Oracle: shapely."""

from __future__ import annotations

import numpy as np
import pytest
from shapely.geometry import Polygon as Shape
from shapely.ops import unary_union

from contact_lens.core.decomposition.decompose_polygon import decompose_polygon
from contact_lens.core.decomposition.polygon import Polygon
from contact_lens.core.decomposition.polygon_convexity import polygon_convexity
from contact_lens.core.shapes.hull import ConvexHull

EPS = 2.0**-52
L = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)


def star(rng: np.random.Generator, n: int) -> np.ndarray:
    angle = np.sort(rng.uniform(0, 2 * np.pi, n))
    while np.diff(np.append(angle, angle[0] + 2 * np.pi)).max() >= 3.0:
        angle = np.sort(rng.uniform(0, 2 * np.pi, n))
    radius = rng.uniform(0.2, 1.0, len(angle))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def untangled(rng: np.random.Generator, n: int) -> np.ndarray:
    """A polygon through random points: crossings are taken out by turning stretches round."""
    p = rng.random((n, 2))

    def crosses(a, b, c, d):
        def turn(p, q, r):
            return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

        return turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0

    changed = True
    while changed:
        changed = False
        for i in range(n - 1):
            for j in range(i + 2, n):
                if (j + 1) % n != i and crosses(p[i], p[i + 1], p[j], p[(j + 1) % n]):
                    p[i + 1 : j + 1] = p[i + 1 : j + 1][::-1].copy()
                    changed = True
    return p


def staircase(rng: np.random.Generator, n: int) -> np.ndarray:
    """Whole numbers: right angles, straight corners, equal coordinates."""
    steps = rng.integers(1, 3, (n, 2)).cumsum(axis=0)
    points = [[0, 0]]
    for x, y in steps.tolist():
        points += [[x, points[-1][1]], [x, y]]
    points += [[0, int(steps[-1, 1])]]
    return np.array(points, dtype=float)


def comb(teeth: int) -> np.ndarray:
    points = [[0.0, 0.0], [2.0 * teeth - 1, 0.0]]
    for k in reversed(range(teeth)):
        points += [[2 * k + 1, 2], [2 * k, 2]] + ([[2 * k, 1], [2 * k - 1, 1]] if k else [])
    return np.array(points, dtype=float)


def spiral(turns: int) -> np.ndarray:
    t = np.linspace(0.5, turns, 12 * turns)
    out = np.column_stack([t * np.cos(2 * np.pi * t), t * np.sin(2 * np.pi * t)])
    t, r = t[::-1], t[::-1] - 0.4
    return np.concatenate([out, np.column_stack([r * np.cos(2 * np.pi * t), r * np.sin(2 * np.pi * t)])])


def polygons(count: int, seed: int):
    rng = np.random.default_rng(seed)
    for k in range(count):
        n = int(rng.integers(4, 40))
        points = (star, untangled, staircase)[k % 3](rng, max(n, 6) if k % 3 == 0 else min(n, 24))
        if rng.random() < 0.5:
            points = points[::-1].copy()
        yield np.roll(points, int(rng.integers(len(points))), axis=0)


def assert_decomposed(points: np.ndarray, pieces: list[np.ndarray], spare: float = 0.0) -> None:
    whole = Shape(points)
    size = np.ptp(points, axis=0).max()
    unit = EPS * np.abs(points).max()
    rows = {tuple(p) for p in points.tolist()}
    for piece in pieces:
        assert {tuple(p) for p in piece.tolist()} <= rows, "corners are points of the polygon"
        assert len(piece) >= 3
        convexity = polygon_convexity(piece)
        assert convexity.convex or convexity.depth <= spare
        assert convexity.counter_clockwise
        hull = ConvexHull(piece)
        assert abs(hull.area - Shape(piece).area) <= 16 * unit * size + spare * size
    areas = sum(Shape(piece).area for piece in pieces)
    assert abs(areas - whole.area) <= 32 * len(points) * unit * size, "areas add up"
    union = unary_union([Shape(piece).buffer(1e-9 * size) for piece in pieces])
    assert union.symmetric_difference(whole).area <= 1e-7 * size * size + 20 * unit * size


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("seed", range(6))
def test_pieces_are_convex_and_together_the_polygon(seed):
    for points in polygons(25, seed):
        pieces = decompose_polygon(points)
        assert_decomposed(points, pieces)
        corners = polygon_convexity(points).corners
        assert len(pieces) <= 2 * len(corners) + 1
        assert len(pieces) >= (len(corners) + 1) // 2 + (1 if len(corners) else 0)


def test_known_polygons_have_as_few_pieces_as_need_be():
    assert len(decompose_polygon(L)) == 2
    assert len(decompose_polygon(comb(5))) <= 6
    plus = [[1, 0], [2, 0], [2, 1], [3, 1], [3, 2], [2, 2], [2, 3], [1, 3], [1, 2], [0, 2], [0, 1], [1, 1]]
    assert len(decompose_polygon(plus)) == 3
    assert_decomposed(comb(12), decompose_polygon(comb(12)))
    assert_decomposed(spiral(4), decompose_polygon(spiral(4)))


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5, 1e-200, 1e200])
def test_the_pieces_do_not_change_with_scale(scale):
    for points in polygons(20, 3):
        at_one = decompose_polygon(np.ldexp(points, 0))
        power = int(np.log2(scale))
        scaled = decompose_polygon(np.ldexp(points, power))
        assert len(scaled) == len(at_one)
        assert all(np.array_equal(np.ldexp(p, power), q) for p, q in zip(at_one, scaled, strict=True))


@pytest.mark.slow
def test_far_from_the_origin_and_rotated():
    rng = np.random.default_rng(9)
    for points in polygons(60, 4):
        angle = rng.uniform(0, 7)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        moved = points @ turn.T + 1e6
        try:
            pieces = decompose_polygon(moved)
        except ValueError as error:  # rounding can make points touch sides
            if Shape(points).minimum_clearance > 1e-8:
                raise AssertionError("nothing touches") from error
            continue
        assert_decomposed(moved, pieces)


def test_what_is_convex_is_one_piece():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float)
    for points in (square, square[::-1], np.repeat(square, 3, axis=0)):
        (piece,) = decompose_polygon(points)
        assert {tuple(p) for p in piece.tolist()} == {tuple(p) for p in square.tolist()}
    for flat in ([[0, 0]], [[0, 0], [1, 1]], [[0, 0], [1, 1], [2, 2], [0.5, 0.5]]):
        assert len(decompose_polygon(flat)) == 1


@pytest.mark.slow
def test_subdivided_and_turned_sides_need_no_more_pieces():
    """Points on straight sides bend by rounding only, and that makes no pieces."""
    rng = np.random.default_rng(2)
    fraction = np.linspace(0, 1, 9)[:-1, None]
    fine = np.concatenate([a + fraction * (b - a) for a, b in zip(L, np.roll(L, -1, axis=0), strict=True)])
    for _ in range(25):
        angle = rng.uniform(0, 7)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        points = fine @ turn.T * rng.uniform(0.1, 10) + rng.uniform(-5, 5, 2)
        convexity = polygon_convexity(points)
        assert convexity.corners.tolist() == [24]
        assert len(decompose_polygon(points)) <= 3
        assert_decomposed(points, decompose_polygon(points))


def test_a_tolerance_leaves_shallow_concavities():
    rng = np.random.default_rng(8)
    angle = 2 * np.pi * np.arange(60) / 60
    radius = 1 + 2e-2 * rng.random(60)
    wheel = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert len(decompose_polygon(wheel)) > 1
    assert len(decompose_polygon(wheel, tolerance=2e-2)) == 1
    pieces = decompose_polygon(wheel, tolerance=1e-3)
    assert 1 < len(pieces) <= len(decompose_polygon(wheel))
    assert_decomposed(wheel, pieces, spare=3e-3)


def test_crossing_sides_are_named():
    with pytest.raises(ValueError, match=r"^points: sides .* between points 0 and 1 crosses that between 2 and 3"):
        decompose_polygon([[0, 0], [1, 1], [1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"^points: .*touches"):
        decompose_polygon([[0, 0], [4, 0], [4, 2], [2, 0], [0, 2]])
    with pytest.raises(ValueError, match=r"^points: .*runs back over"):
        decompose_polygon([[0, 0], [4, 0], [6, 0], [4, 0], [4, 2], [1, 1], [0, 2]])


@pytest.mark.parametrize("bad", [[], [[0, 0, 0]], [[np.nan, 0]], [["a", "b"]], [[1e305, 0], [0, 1], [0, 0]]])
def test_bad_points_are_refused_by_name(bad):
    for function in (decompose_polygon, polygon_convexity, Polygon):
        with pytest.raises(ValueError, match=r"^points"):
            function(bad)
