# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the source articles. The ids are those of the feature list (S0 to S4)."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Box, ConvexHull, Relation, contact, contact_region, gjk, gjk_intersects
from contact_lens.core.narrow_phase.box_sat import box_sat
from contact_lens.core.shapes.box import rotate
from contact_lens.core.shapes.support import (
    minkowski_difference,
    minkowski_sum,
    minkowski_supports,
    support,
)

from .generators import CUBE, as_matrix, cloud, direction, disc, pair, rotation_about
from .oracles import exact, tolerance

HALF = np.sqrt(0.5)
METHODS = ["auto", "gjk", "sat", "both"]
SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])


def quaternion(axis, angle: float) -> np.ndarray:
    """w, x, y, z of a turn by an angle in radians about an axis."""
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis) / np.linalg.norm(axis))])


def same_points(first, second) -> bool:
    """The same set of points to rounding, in any order."""
    first, second = np.asarray(first), np.asarray(second)
    distances = np.linalg.norm(first[:, None] - second[None], axis=2)
    return len(first) == len(second) and distances.min(axis=1).max() < 1e-12 and distances.min(axis=0).max() < 1e-12


# ---------------------------------------------------------------------------------------------------------------------
# S0: oriented boxes


def test_s0_1_corners_of_a_box():
    corners = 2 * CUBE
    assert same_points(Box([1, 2, 3], [2, 4, 6], [1, 0, 0, 0]).vertices, [1, 2, 3] + corners * [1, 2, 3])
    eighth = Box([0, 0, 0], [2, 2, 2], quaternion([0, 0, 1], np.pi / 4))
    tips = np.sqrt(2) * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    assert same_points(eighth.vertices, [[*tip, z] for tip in tips for z in (-1, 1)])


def test_s0_1_box_from_a_matrix_with_its_origin_at_a_corner():
    """The local bounding box of an object whose origin is not its middle, turned, scaled unevenly and moved."""
    matrix = as_matrix(rotation_about([1, 2, 3], 0.7) @ np.diag([2.0, 0.5, -3.0]), [10, 20, 30])
    box = Box.from_matrix(matrix, [0, 0, 0], [1, 2, 3])
    assert same_points(box.vertices, (CUBE + 0.5) * [1, 2, 3] @ matrix[:3, :3].T + matrix[:3, 3])


def test_s0_1_a_sheared_box_is_the_hull_of_its_corners():
    matrix = np.eye(4)
    matrix[0, 1] = 1.0
    box = Box.from_matrix(matrix, [-0.5] * 3, [0.5] * 3)
    corners = CUBE @ matrix[:3, :3].T
    assert same_points(box.vertices, corners)
    other = corners + [0.4, 0.9, 0.1]
    c = contact(box, ConvexHull(other))
    assert c.signed_distance == pytest.approx(exact(corners, other).signed_distance, abs=1e-12)


def test_s0_2_rotation_of_vectors_by_a_quaternion():
    assert np.array_equal(rotate([1.0, 0, 0], [HALF, 0, 0, HALF]), [0, 1, 0])
    assert np.array_equal(rotate([[1.0, 0, 0], [0, 0, 1]], [HALF, HALF, 0, 0]), [[1, 0, 0], [0, -1, 0]])
    assert np.array_equal(rotate([1.0, 2.0, 3.0], [0, 0, 1, 0]), [-1, 2, -3])
    rng = np.random.default_rng(0)
    for axis, vectors in zip(rng.normal(size=(100, 3)), rng.normal(size=(100, 5, 3)), strict=True):
        angle, length = rng.uniform(-7, 7), rng.choice([1e-300, 1e-8, 1.0, 7.0, 1e300])
        turned = rotate(vectors, quaternion(axis, angle) * length)  # not of unit length: normalised
        assert np.allclose(turned, vectors @ rotation_about(axis, angle).T, rtol=0, atol=1e-14)
        assert np.allclose(turned @ turned.T, vectors @ vectors.T, rtol=0, atol=1e-13)


def test_s0_2_a_zero_quaternion_is_refused_by_name():
    with pytest.raises(ValueError, match="rotation"):
        Box([0, 0, 0], [1, 1, 1], [0, 0, 0, 0])
    with pytest.raises(ValueError, match="rotation"):
        rotate([1, 0, 0], [0, 0, 0, 0])


def test_s0_3_an_edge_pair_can_be_the_only_separating_axis():
    """Two cubes, one turned onto an edge about x, the other about y: only the product of two edges parts them."""
    a = Box([0, 0, 0], [1, 1, 1], quaternion([1, 0, 0], np.pi / 4))
    apart, deep = (
        box_sat(a, Box([0, 0, np.sqrt(2) + gap], [1, 1, 1], quaternion([0, 1, 0], np.pi / 4))) for gap in (0.01, -0.01)
    )
    assert not apart.intersects
    assert deep.signed_distance == pytest.approx(-0.01, abs=1e-12)
    assert deep.axis >= 6
    assert np.allclose(deep.normal, [0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
def test_s0_3_nearly_parallel_edges_give_no_false_axis(angle):
    a = Box([0, 0, 0], [1, 1, 1])
    b = Box([0.5, 0.25, 0.9], [1, 1, 1], quaternion([1, 2, 3], angle))
    truth = exact(a.vertices, b.vertices).signed_distance
    assert abs(box_sat(a, b).signed_distance - truth) <= tolerance(a.vertices, b.vertices, truth)


def test_s0_4_the_first_separating_axis_ends_the_test():
    a = Box([0, 0, 0], [1, 1, 1])
    apart = box_sat(a, Box([1.5, 0, 0], [1, 1, 1]))
    assert (apart.intersects, apart.axis, apart.axes_tested) == (False, 0, 1)
    assert (apart.interval_a, apart.interval_b) == ((-0.5, 0.5), (1.0, 2.0))
    for x in (0.9, 1.0):
        assert box_sat(a, Box([x, 0, 0], [1, 1, 1])).intersects


def test_s0_5_minimum_translation_is_least_overlap_away_from_the_first_box():
    a = Box([0, 0, 0], [2, 2, 2])
    for sign in (-1, 1):
        result = box_sat(a, Box([0.2, sign * 1.5, 0.1], [2, 2, 2]))
        assert result.signed_distance == pytest.approx(-0.5, abs=1e-15)
        assert np.allclose(result.mtv, [0, 0.5 * sign, 0], atol=1e-15)


# ---------------------------------------------------------------------------------------------------------------------
# S1: separating axes in general


QUAD, TRIANGLE = [(4, 2), (12, 2), (12, 5), (4, 5)], np.array([[0.0, 0], [2, 0], [0, 2]])
OF_GJK = [(4, 5), (4, 11), (9, 9)], [(5, 7), (7, 3), (10, 2), (12, 7)]


@pytest.mark.parametrize("method", ["auto", "sat"])
@pytest.mark.parametrize(
    ("a", "b", "mtv", "region"),
    [
        (SQUARE, SQUARE + [0.75, 0.5], (0.25, 0), [(0.875, 0.5), (0.875, 1)]),
        # Clipping, first: a side on a side, from x = 8 to x = 12; half-way between the two.
        ([(8, 4), (14, 4), (14, 9), (8, 9)], QUAD, (0, -1), [(8, 4.5), (12, 4.5)]),
        # Clipping, second: the corner (6, 4) in a side, half the depth from it.
        ([(2, 8), (6, 4), (9, 7), (5, 11)], QUAD, (0, -1), [(6, 4.5)]),
        # Clipping, third: a slanted side of the first, across (-1, -4), over the corner (12, 5) of the second.
        ([(9, 4), (13, 3), (14, 7), (10, 8)], QUAD, (-7 / 17, -28 / 17), [(12 - 3.5 / 17, 5 - 14 / 17)]),
        # GJK and EPA: the side from (4, 5) to (9, 9) and the corner (5, 7), 6 / sqrt(41) deep.
        (*OF_GJK, (24 / 41, -30 / 41), [(5 + 12 / 41, 7 - 15 / 41)]),
    ],
)
def test_s1_3_the_polygons_of_the_articles_on_clipping_and_on_gjk(a, b, mtv, region, method):
    """Depth, translation and where, worked out by hand; either order, anywhere in the plane."""
    for move in (np.zeros(2), np.array([-300.0, 1e3])):
        shape_a, shape_b = ConvexHull(a + move), ConvexHull(b + move)
        for first, second, sign in ((shape_a, shape_b, 1), (shape_b, shape_a, -1)):
            c = contact(first, second, method=method)
            assert c.relation == Relation.PENETRATING
            assert c.depth == pytest.approx(np.linalg.norm(mtv), rel=1e-12)
            np.testing.assert_allclose(c.mtv, sign * np.array(mtv), rtol=0, atol=1e-12)
            assert same_points(c.region.vertices, np.array(region) + move)


def test_s1_3_a_triangle_and_a_square_apart_along_the_slanted_side():
    """No axis of the square parts them: the slanted side's normal does."""
    c = contact(ConvexHull(TRIANGLE), ConvexHull(SQUARE + [1.05, 1.05]))
    assert c.relation == Relation.SEPARATED
    assert np.allclose(c.normal, [HALF, HALF])
    assert c.signed_distance == pytest.approx(0.1 * HALF, abs=1e-14)


def test_s1_4_the_mtv_is_measured_with_unit_axes():
    """A long side does not make its axis look deeper or shallower than it is."""
    c = contact(ConvexHull(SQUARE * [100, 1]), ConvexHull(SQUARE + [50, 0.9]))
    assert c.depth == pytest.approx(0.1, abs=1e-13)
    assert np.allclose(c.mtv, [0, 0.1], atol=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_s1_4_moving_b_by_the_mtv_leaves_a_touch(method):
    for index in range(60):
        _, a, b = pair(14, index)
        c = contact(ConvexHull(a), ConvexHull(b), method=method)
        if c.intersects:
            assert abs(exact(a, b + c.mtv).signed_distance) <= 2 * tolerance(a, b, c.signed_distance)


@pytest.mark.parametrize("method", METHODS)
def test_s1_6_containment_and_segments(method):
    """The projection of the small one is inside that of the large one: overlap is not the depth, the exit is."""
    for x, normal in ((0.3, 1), (-0.3, -1), (0.9, 1), (-0.9, -1)):
        c = contact(ConvexHull(SQUARE * 4 - 2), ConvexHull((SQUARE - 0.5) * 0.5 + [x, 0.0]), method=method)
        assert c.relation == Relation.B_INSIDE_A
        assert c.depth == pytest.approx(2 - abs(x) + 0.25, abs=1e-14)
        assert np.allclose(c.normal, [normal, 0])
    c = contact(ConvexHull(SQUARE), ConvexHull([[0.9, 0.5], [3.0, 0.5]]), method=method)
    assert c.depth == pytest.approx(0.1, abs=1e-15)
    assert np.allclose(c.normal, [1, 0])
    through = contact(ConvexHull(CUBE), ConvexHull([[0.0, 0, -2], [0, 0, 2]]), method=method)
    assert through.depth == pytest.approx(0.5, abs=1e-15)
    assert len(through.ties) == 4


def test_s1_7_many_parallel_faces_give_one_normal():
    """Prisms over the same 12-gon share all axes: the answer names each direction once."""
    prism = np.concatenate([disc(12, 1.0, 0.0), disc(12, 1.0, 10.0)])
    c = contact(ConvexHull(prism), ConvexHull(prism), method="both")
    assert len(c.ties) == 12
    assert len(np.unique(np.round(c.ties, 9), axis=0)) == 12


# ---------------------------------------------------------------------------------------------------------------------
# S2: contact region


def test_s2_1_and_2_the_region_follows_the_normal_half_way_between_the_support_planes():
    """A's top is at 0.5, B's bottom at 0.4."""
    a, b = ConvexHull(CUBE), ConvexHull(CUBE + [0.5, 0.25, 0.9])
    c = contact(a, b)
    assert np.allclose(c.normal, [0, 0, 1])
    assert c.region.area == pytest.approx(0.5 * 0.75)
    assert np.allclose(c.region.centroid, [0.25, 0.125, 0.45])
    assert np.allclose(c.region.vertices[:, 2], 0.45)
    assert same_points(c.region.vertices, contact(b, a).region.vertices)
    alone = contact_region(a, b, c.normal, 1e-5, c.point_on_a, c.point_on_b)
    assert same_points(alone.vertices, c.region.vertices)


def test_s2_3_the_width_of_the_support_features_is_the_users():
    """A cube tilted by 1e-3 stands on an edge, or, seen more coarsely, on a face."""
    tilted = CUBE @ rotation_about([1, 0, 0], 1e-3).T
    tilted = tilted - [0, 0, tilted[:, 2].min() - 0.5]
    fine, coarse = (contact(ConvexHull(CUBE), ConvexHull(tilted), contact_tolerance=t) for t in (1e-5, 1e-2))
    assert fine.region.kind == "segment"
    assert coarse.region.kind == "polygon"
    assert coarse.region.area == pytest.approx(1.0, rel=1e-2)


def test_s2_4_and_5_the_outline_is_wound_and_convex():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        b = CUBE @ rotation_about([0, 0, 1], rng.uniform(0, 7)).T + [*rng.uniform(-0.5, 0.5, 2), 1.0]
        region = contact(ConvexHull(CUBE), ConvexHull(b)).region
        v = region.vertices
        sides = np.roll(v, -1, axis=0) - v
        turns = np.cross(sides, np.roll(sides, -1, axis=0))[:, 2]
        assert (turns > 0).all()


def test_s2_5_one_face_inside_the_other_in_either_order():
    small = CUBE * 0.5 + [0.1, 0, 0.75]
    for a, b in ((CUBE, small), (small, CUBE)):
        region = contact(ConvexHull(a), ConvexHull(b)).region
        assert region.area == pytest.approx(0.25)
        assert np.allclose(region.centroid, [0.1, 0, 0.5])


def test_s2_6_the_centre_is_of_the_area_not_of_the_corners():
    """A triangle with many extra points on one side keeps its centroid."""
    triangle = np.array([[0.0, 0, 0], [3, 0, 0], [0, 3, 0]])
    extra = np.column_stack([np.linspace(0, 3, 20), np.zeros(20), np.zeros(20)])
    prism = np.concatenate([triangle, extra, triangle - [0, 0, 1]])
    region = contact(ConvexHull(prism), ConvexHull(CUBE * 20 + [0, 0, 10])).region
    assert region.area == pytest.approx(4.5)
    assert np.allclose(region.centroid, [1, 1, 0], atol=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# S4: GJK


def test_s4_1_minkowski_sum_and_difference():
    square, triangle = ConvexHull(SQUARE), ConvexHull(TRIANGLE)
    assert same_points(ConvexHull(minkowski_sum(square, square)).vertices, SQUARE * 2)
    difference = ConvexHull(minkowski_difference(triangle, square).points)
    assert same_points(difference.vertices, [[-1, -1], [2, -1], [2, 0], [0, 2], [-1, 2]])


def test_s4_1_and_4_the_shapes_intersect_when_the_difference_contains_the_origin():
    for index in range(40):
        _, a, b = pair(41, index)
        shape_a, shape_b = ConvexHull(a), ConvexHull(b)
        found = minkowski_difference(shape_a, shape_b)
        assert np.array_equal(found.points, shape_a.vertices[found.index_a] - shape_b.vertices[found.index_b])
        truth = exact(a, b).signed_distance
        if abs(truth) > tolerance(a, b, truth):
            origin = exact(found.points, np.zeros((1, a.shape[1]))).signed_distance
            assert (origin <= 0) == (truth <= 0) == gjk_intersects(shape_a, shape_b) == gjk(shape_a, shape_b).intersects


def test_s4_2_support_points_are_the_farthest():
    rng = np.random.default_rng(2)
    a, b = ConvexHull(cloud(rng, 40)), ConvexHull(cloud(rng, 30) + 2)
    directions = np.array([direction(rng) for _ in range(50)])
    along = directions @ a.vertices.T
    assert np.array_equal(a.supports(directions), a.vertices[along.argmax(axis=1)])
    found = minkowski_supports(a, b, directions)
    for d, point, i, j in zip(directions, found.points, found.index_a, found.index_b, strict=True):
        assert np.array_equal(support(a, d), a.vertices[a.support_index(d)])
        assert np.array_equal(point, a.vertices[i] - b.vertices[j])
        assert point @ d == pytest.approx((a.vertices @ d).max() - (b.vertices @ d).min(), abs=1e-14)


def test_s4_3_the_difference_of_the_polygons_of_the_article_on_gjk_contains_the_origin():
    a, b = map(ConvexHull, OF_GJK)
    expected = [(-8, -2), (-1, -2), (4, 2), (2, 6), (-3, 8), (-6, 9), (-8, 4)]
    assert same_points(ConvexHull(minkowski_difference(a, b).points).vertices, expected)
    assert gjk_intersects(a, b)
    assert gjk(a, b).intersects


@pytest.mark.parametrize(
    ("triangle", "distance", "normal"),
    [
        # The origin in the Voronoi region of a vertex, of an edge, and inside; B is the origin as a point.
        ([[1.0, 1], [3, 1], [1, 3]], np.sqrt(2), [-HALF, -HALF]),
        ([[1.0, -1], [1, 1], [3, 0]], 1.0, [-1, 0]),
        ([[-1.0, 2], [1, 2], [0, 5]], 2.0, [0, -1]),
        ([[3.0, 0], [0, 3], [3, 3]], 3 * HALF, [-HALF, -HALF]),
    ],
)
def test_s4_3_voronoi_regions_in_the_plane(triangle, distance, normal):
    found = gjk(ConvexHull(triangle), ConvexHull([[0.0, 0.0]]))
    assert not found.intersects
    assert found.gap == pytest.approx(distance, abs=1e-14)
    assert np.allclose(found.normal, [*normal, 0])


def test_s4_3_the_origin_inside_a_triangle():
    assert gjk_intersects(ConvexHull([[-1.0, -1], [2, -1], [0, 2]]), ConvexHull([[0.0, 0.0]]))
    assert gjk_intersects(ConvexHull([[-1.0, 0], [1, 0], [0, 2]]), ConvexHull([[0.0, 0.0]]))


@pytest.mark.parametrize(
    ("tetrahedron", "nearest"),
    [
        ([[1.0, 1, 1], [3, 1, 1], [1, 3, 1], [1, 1, 3]], [1, 1, 1]),
        ([[1.0, 1, -1], [1, 1, 1], [3, 2, 0], [2, 3, 0]], [1, 1, 0]),
        ([[2.0, -1, -1], [2, 2, -1], [2, -1, 2], [5, 0, 0]], [2, 0, 0]),
    ],
    ids=["vertex", "edge", "face"],
)
def test_s4_4_voronoi_regions_in_space(tetrahedron, nearest):
    a, b = ConvexHull(tetrahedron), ConvexHull([[0.0, 0, 0]])
    found = gjk(a, b)
    assert np.allclose(found.nearest, nearest, atol=1e-14)
    assert sum(found.weights) == pytest.approx(1.0)
    assert min(found.weights) >= 0
    on_a, on_b = found.witness_points(a, b)
    assert np.allclose(on_a, nearest, atol=1e-14)
    assert np.allclose(on_b, 0)
