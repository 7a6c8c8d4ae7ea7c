# SPDX-License-Identifier: GPL-3.0-or-later
"""Separating axes of polytopes of any rank, against exact arithmetic and against Qhull's Minkowski difference."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import Compound, ConvexHull, Sphere, project
from contact_lens.core.narrow_phase.sat import sat
from contact_lens.core.shapes.box import Box
from contact_lens.core.shapes.feature import FeatureKind

from ...promises.test_hard_pairs import every_pair, vertices
from ..generators import CLASSES, box, cylinder, pair, rotation, rotation_about, sphere
from ..oracles import exact, gap_along, minkowski, sign_tolerance, tolerance

SQUARE = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
SQUARE_IN_SPACE = np.c_[SQUARE, np.zeros(4)]
CUBE = box((1, 1, 1))


def assert_right(pa, pb, truth: float | None = None, shapes=None) -> None:
    """Sign, depth, normal and ties are right, also with the shapes exchanged and with early exit."""
    pa, pb = np.asarray(pa, float), np.asarray(pb, float)
    truth = exact(pa, pb).signed_distance if truth is None else truth
    expected = minkowski(pa, pb) if max(len(pa), len(pb)) <= 20 else None
    tol = tolerance(pa, pb, truth)
    a, b = shapes or (ConvexHull(pa), ConvexHull(pb))
    for first, second, p, q in ((a, b, pa, pb), (b, a, pb, pa)):
        result = sat(first, second)
        assert result.separated == (result.signed_distance > 0)
        if abs(truth) > sign_tolerance(pa, pb):
            assert result.separated == (truth > 0), (truth, result)
            assert sat(first, second, early_exit=True).separated == (truth > 0)
        if truth <= 0:
            assert result.signed_distance == pytest.approx(truth, rel=0, abs=tol)
            assert min(gap_along(p, q, tie) for tie in result.ties) >= truth - 2 * tol
            if expected is not None:
                assert result.signed_distance == pytest.approx(expected.signed_distance, rel=0, abs=2 * tol)
        else:
            assert result.signed_distance <= truth + tol
        assert np.linalg.norm(result.normal) == pytest.approx(1, abs=1e-14)
        assert gap_along(p, q, result.normal) == pytest.approx(result.signed_distance, rel=0, abs=tol)
        assert np.array_equal(result.ties[0], result.normal)


# ---------------------------------------------------------------------------------------------------------------------
# The result


def test_two_squares_in_the_plane_overlap_by_a_quarter():
    result = sat(ConvexHull(SQUARE), ConvexHull(SQUARE + [1.75, 0.5]))
    assert result.signed_distance == -0.25
    assert np.array_equal(result.normal, [1, 0])
    assert result.feature_a.kind == FeatureKind.EDGE


@pytest.mark.parametrize("seed", range(4))
def test_the_candidate_axes_contain_the_answer_and_agree_with_projections(seed):
    rng = np.random.default_rng(seed)
    turn = rotation(rng) if seed else np.eye(3)
    a, b = ConvexHull(box((1, 2, 3))), ConvexHull(box((2, 1, 1)) @ turn.T + rng.uniform(-2, 2, 3))
    plain, result = sat(a, b), sat(a, b, candidates=True)
    assert plain.candidates is None
    assert (result.signed_distance, result.axes_tested) == (plain.signed_distance, plain.axes_tested)
    every = result.candidates
    assert every.signed_distances.max() == pytest.approx(result.signed_distance, abs=1e-14)
    assert len(every.axes) == result.axes_tested <= 3 + 3 + 9 * 16
    assert np.allclose(np.linalg.norm(every.axes, axis=1), 1.0)
    for axis, edges, of_a, of_b in zip(every.axes, every.edges, every.intervals_a, every.intervals_b, strict=True):
        assert np.allclose([project(a, axis), project(b, axis)], [of_a, of_b], atol=1e-14)
        if edges.min() >= 0:
            along = a.edge_directions[edges[0]], b.edge_directions[edges[1]]
            assert np.abs(np.array(along) @ axis).max() < 1e-14


def test_a_projection_is_the_interval_between_two_support_points():
    ball, both = Sphere([1, 2, 3], 0.5), Compound([Sphere([0, 0, 0], 1), Sphere([5, 0, 0], 1)])
    assert project(ball, [0, 0, -2]) == (-3.5, -2.5)
    assert project(both, [1, 0, 0]) == (-1.0, 6.0)
    with pytest.raises(ValueError, match=r"^axis"):
        project(ball, [0, 0, 0])
    with pytest.raises(ValueError, match=r"^shape must be a shape"):
        project([1, 2], [0, 0, 1])


def test_the_normal_points_from_a_to_b_even_where_the_centres_say_otherwise():
    # A long wedge: its middle is far on the other side of the square that it pierces with its tip.
    wedge = np.array([[0.0, 0.0], [20.0, -3.0], [20.0, 3.0]])
    result = sat(ConvexHull(SQUARE * 0.25 + [19.5, 0.0]), ConvexHull(wedge))
    assert np.allclose(result.normal, [-1, 0])
    assert result.signed_distance == pytest.approx(-0.75)


def test_equally_good_normals_are_all_in_the_result():
    result = sat(Box((0, 0, 0), (2, 2, 2)), Box((0, 0, 0), (1, 1, 1)))
    assert result.signed_distance == -1.5
    assert sorted(map(tuple, result.ties)) == sorted([*map(tuple, np.eye(3)), *map(tuple, 0.0 - np.eye(3))])
    result = sat(ConvexHull(SQUARE_IN_SPACE), ConvexHull(SQUARE_IN_SPACE * 0.5 + [0.2, 0.2, 0]))
    assert result.signed_distance == 0
    assert sorted(map(tuple, result.ties)) == [(0, 0, -1), (0, 0, 1)]


def test_parallel_axes_are_tested_once():
    a, b = Box((0, 0, 0), (1, 1, 1)), Box((0.5, 0.5, 0.5), (1, 2, 3))
    turned = Box((0.5, 0.5, 0.5), (1, 2, 3), (np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    assert sat(a, b).axes_tested == sat(a, turned).axes_tested == 3
    assert len(ConvexHull(cylinder(8))._facet_axes[0]) == 5
    assert sat(ConvexHull(SQUARE), ConvexHull(SQUARE * 2)).axes_tested == 2


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_two_turned_boxes_have_fifteen_axes(offset):
    """The nine across edges once each, though two pairs of parallel edges cross for each, on opposite sides."""
    rng = np.random.default_rng(15)
    for _ in range(20):
        a = Box(offset + rng.normal(size=3), rng.uniform(0.5, 2.0, 3), rng.normal(size=4))
        b = Box(a.center + rng.normal(size=3) * 0.4, rng.uniform(0.5, 2.0, 3), rng.normal(size=4))
        result, hulls = sat(a, b, candidates=True), sat(ConvexHull(a.vertices), ConvexHull(b.vertices), candidates=True)
        for found in (result, hulls):
            axes = found.candidates.axes
            assert (len(axes), found.axes_tested, sat(a, b).axes_tested) == (15, 15, 15)
            alike = np.abs(axes @ axes.T) - np.eye(15)
            assert alike.max() < 1.0 - 1e-9, "no two are parallel"
            assert found.candidates.signed_distances.max() == pytest.approx(
                found.signed_distance, abs=1e-15 + 1e-12 * offset
            )


def test_an_early_exit_tests_fewer_axes():
    a, b = ConvexHull(sphere(6, 8)), ConvexHull(sphere(6, 8) + [3, 0.1, 0.2])
    early, full = sat(a, b, early_exit=True), sat(a, b)
    assert early.separated
    assert early.axes_tested < full.axes_tested
    assert 0 < early.signed_distance <= full.signed_distance


def test_the_result_names_the_features_that_decide():
    a, b = Box((0, 0, 0), (2, 2, 2)), ConvexHull([[0.9, 0, 0], [2, -1, -1], [2, 1, -1], [2, 0, 1.5]])
    there, back = sat(a, b), sat(b, a)
    assert there.feature_a.kind == FeatureKind.FACE
    assert set(there.feature_a.vertices) == set(back.feature_b.vertices) == {4, 5, 6, 7}
    assert there.feature_b.kind == back.feature_a.kind == FeatureKind.VERTEX
    assert np.array_equal(b.vertices[there.feature_b.vertices[0]], [0.9, 0, 0])
    pa = box((4, 1, 1)) @ rotation_about([1, 0, 0], np.pi / 4).T
    pb = box((1, 4, 1)) @ rotation_about([0, 1, 0], np.pi / 4).T + [0, 0, np.sqrt(2) - 0.01]
    crossed = sat(ConvexHull(pa), ConvexHull(pb))
    assert crossed.signed_distance == pytest.approx(-0.01)
    assert np.allclose(crossed.normal, [0, 0, 1])
    assert crossed.feature_a.kind == crossed.feature_b.kind == FeatureKind.EDGE
    assert np.allclose(ConvexHull(pa).vertices[list(crossed.feature_a.vertices), 2], np.sqrt(0.5))
    assert np.allclose(ConvexHull(pb).vertices[list(crossed.feature_b.vertices), 2], np.sqrt(0.5) - 0.01)
    for angle in (0.0, 1e-16, 1e-15, 1e-14):  # a face is preferred to edges that are equally good
        result = sat(ConvexHull(CUBE), ConvexHull(CUBE @ rotation_about([3, 4, 5], angle).T + [0, 0, 0.9]))
        assert FeatureKind.FACE in (result.feature_a.kind, result.feature_b.kind)


# ---------------------------------------------------------------------------------------------------------------------
# Against the oracles


@pytest.mark.parametrize("name", CLASSES)
def test_generated_pairs(name):
    names = list(CLASSES)
    for cycle in range(6):
        _, pa, pb = pair(20, names.index(name) + cycle * len(names))
        if len(pa) * len(pb) < 2500:
            assert_right(pa, pb)


@every_pair
def test_hard_pairs(pair):
    assert_right(*vertices(pair), pair["expected"]["signed_distance"])


@pytest.mark.parametrize("angle", [1e-2, 1e-4, 1e-6, 1e-7, 1e-8, 9e-10, 1e-11])
def test_ridges_that_are_nearly_parallel_are_pushed_apart_across_both(angle):
    """Overlapping by less than the angle, and with no face across them, two roofs part along the product."""
    rng = np.random.default_rng(10)
    roof = np.array([[-1.0, 0, 0], [1, 0, 0], [-1, -1, -1], [1, -0.9, -1.2], [-1, 1, -0.9], [1, 1, -1.1]])
    across = 0
    for _ in range(20):
        turn = rotation(rng)
        other = roof * [1, 1, -1] @ rotation_about([0, 0, 1], angle).T
        other = other + [rng.uniform(-0.9, 0.9), 0.0, -0.4 * rng.uniform() * angle]
        assert_right(roof @ turn.T, other @ turn.T)
        found = sat(ConvexHull(roof @ turn.T), ConvexHull(other @ turn.T))
        across += found.feature_a.kind == found.feature_b.kind == FeatureKind.EDGE
    assert across > 10


def test_sheared_and_mirrored_boxes():
    rng = np.random.default_rng(6)
    for _ in range(30):
        matrices = np.tile(np.eye(4), (2, 1, 1))
        matrices[:, :3, :3], matrices[1, :3, 3] = rng.normal(size=(2, 3, 3)), rng.normal(size=3)
        a, b = (Box.from_matrix(matrix, (-1, -0.5, 0), (1, 0.5, 0.7)) for matrix in matrices)
        assert_right(a.vertices, b.vertices, shapes=(a, b))


# ---------------------------------------------------------------------------------------------------------------------
# Flat shapes

POINT, SEGMENT = [[0, 0, 0]], [[-1, 0, 0], [1, 0, 0]]
TOUCHING_OR_NOT = [
    (POINT, POINT, 0.0),
    (POINT, [[0, 3, 4]], 5.0),
    (SEGMENT, [[0.5, 0, 0]], 0.0),
    (SEGMENT, [[1.5, 0, 0]], 0.5),
    (SEGMENT, [[0.5, 0.25, 0]], 0.25),
    (SEGMENT, [[0, 0, 0], [3, 0, 0]], 0.0),
    (SEGMENT, [[1.25, 0, 0], [3, 0, 0]], 0.25),
    (SEGMENT, [[-1, 0.5, 0], [1, 0.5, 0]], 0.5),
    (SEGMENT, [[0, -1, 0], [0, 1, 0]], 0.0),
    (SEGMENT, [[0, 0.5, 0], [0, 1, 0]], 0.5),
    (SEGMENT, [[0, -1, 0.5], [0, 1, 0.5]], 0.5),
    (SQUARE_IN_SPACE, [[0.5, 0.5, 0]], 0.0),
    (SQUARE_IN_SPACE, [[1.5, 0.5, 0]], 0.5),
    (SQUARE_IN_SPACE, [[0.5, 0.5, 0.5]], 0.5),
    (SQUARE_IN_SPACE, [[0, 0, 0], [5, 0, 0]], 0.0),
    (SQUARE_IN_SPACE, [[1.5, 0, 0], [5, 0, 0]], 0.5),
    (SQUARE_IN_SPACE, [[0, 0, -1], [0, 0, 1]], -1.0),
    (SQUARE_IN_SPACE, [[2, 0, -1], [2, 0, 1]], 1.0),
    (SQUARE_IN_SPACE, [[0, 1.5, 0], [1.5, 0, 0]], 0.0),
    (SQUARE_IN_SPACE, [[0, 3, 0], [3, 0, 0]], np.sqrt(0.5)),
    (SQUARE_IN_SPACE, SQUARE_IN_SPACE * 0.5, 0.0),
    (SQUARE_IN_SPACE, SQUARE_IN_SPACE, 0.0),
    (SQUARE_IN_SPACE, SQUARE_IN_SPACE + [0.5, 0.5, 0], 0.0),
    (SQUARE_IN_SPACE, SQUARE_IN_SPACE + [2.5, 0, 0], 0.5),
    (SQUARE_IN_SPACE, SQUARE_IN_SPACE + [2, 0, 0], 0.0),
    (SQUARE_IN_SPACE, SQUARE_IN_SPACE + [0, 0, 0.75], 0.75),
    (SQUARE_IN_SPACE, SQUARE_IN_SPACE[:, [1, 2, 0]], -1.0),
]


@pytest.mark.parametrize("turn", [np.eye(3), rotation(np.random.default_rng(9))], ids=["aligned", "turned"])
@pytest.mark.parametrize("move", [(0.0, 0.0, 0.0), (3.0, -2.0, 5.0), (1e5, 1e5, -1e5)], ids=str)
def test_flat_shapes(turn, move):
    for a, b, truth in TOUCHING_OR_NOT:
        a, b = np.array(a, float) @ turn.T + move, np.array(b, float) @ turn.T + move
        assert_right(a, b, None if np.any(move) or turn[0, 0] != 1 else truth)


@pytest.mark.parametrize("offset", [1e-3, 1e-6, 7e-9, 1e-11, 1e-13])
def test_points_and_parallel_segments_just_beside_a_segment(offset):
    rng = np.random.default_rng(14)
    for _ in range(20):
        ends = rng.normal(size=(2, 3))
        along = ends[1] - ends[0]
        side = np.cross(along, rng.normal(size=3))
        near = ends[0] + rng.uniform(0, 1) * along + offset * side / np.linalg.norm(side)
        assert_right(ends, [near])
        assert_right(ends, [near, near + 0.7 * along])


@pytest.mark.parametrize("thickness", [1e-3, 1e-9, 1e-12, 1e-14])
def test_knives_edge_to_edge_are_apart(thickness):
    # The gap across their faces is the thickness times the gap of the edges: less than the rounding of a product.
    knife = np.array([[x, y, z] for x, z in ((0, 0), (-1, thickness), (-1, -thickness)) for y in (-1, 1)])
    assert_right(knife, knife * [-1, 0.7, 1] + [1e-3, 0.1, 0], 1e-3)


def test_results_are_read_only():
    result = sat(Box((0, 0, 0), (1, 1, 1)), Box((0.5, 0, 0), (1, 1, 1)), candidates=True)
    found = result.candidates
    arrays = (result.normal, result.ties, found.axes, found.edges, found.intervals_a, found.intervals_b)
    assert not any(array.flags.writeable for array in arrays)
