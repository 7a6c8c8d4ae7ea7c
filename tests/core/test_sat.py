# SPDX-License-Identifier: GPL-3.0-or-later
"""Separating axes of polytopes of any rank, against exact arithmetic and against Qhull's Minkowski difference."""

from __future__ import annotations

import json
import tracemalloc
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from contact_lens.core import ConvexHull, FeatureKind
from contact_lens.core.narrow_phase.box_sat import box_sat
from contact_lens.core.narrow_phase.sat import sat
from contact_lens.core.shapes.box import Box

from .generators import CLASSES, box, cylinder, disc, pair, rotation, rotation_about, sphere
from .oracles import exact, gap_along, minkowski, sign_tolerance, tolerance

HARD_PAIRS = json.loads((Path(__file__).parents[1] / "data" / "hard_pairs.json").read_text())["pairs"]
SQUARE = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
OCTAHEDRAL = [
    matrix
    for order in permutations(range(3))
    for signs in product((-1.0, 1.0), repeat=3)
    if np.linalg.det(matrix := np.array(signs)[:, None] * np.eye(3)[list(order)]) > 0
]


def in_space(points, z=0.0) -> np.ndarray:
    return np.column_stack([points, np.full(len(points), z)])


def assert_right(pa, pb, truth: float | None = None, shapes=None) -> None:
    """Sign, depth, normal and ties are right, also with the shapes exchanged and with early exit."""
    pa, pb = np.asarray(pa, float), np.asarray(pb, float)
    truth = exact(pa, pb).signed_distance if truth is None else truth
    tol = tolerance(pa, pb, truth)
    clear = abs(truth) > sign_tolerance(pa, pb)
    a, b = shapes or (ConvexHull(pa), ConvexHull(pb))
    for one, other, p, q in ((a, b, pa, pb), (b, a, pb, pa)):
        result = sat(one, other)
        assert result.separated == (result.signed_distance > 0)
        if clear:
            assert result.separated == (truth > 0), (truth, result)
            assert sat(one, other, early_exit=True).separated == (truth > 0)
        if truth <= 0:
            assert result.signed_distance == pytest.approx(truth, rel=0, abs=tol)
            for tie in result.ties:
                assert gap_along(p, q, tie) >= truth - 2 * tol
        else:
            assert result.signed_distance <= truth + tol
        assert np.linalg.norm(result.normal) == pytest.approx(1, abs=1e-14)
        assert gap_along(p, q, result.normal) == pytest.approx(result.signed_distance, rel=0, abs=tol)
        assert np.array_equal(result.ties[0], result.normal)


# ---------------------------------------------------------------------------------------------------------------------
# What the sources say


def test_two_squares_in_the_plane_overlap_by_a_quarter():
    result = sat(ConvexHull(SQUARE), ConvexHull(SQUARE + [1.75, 0.5]))
    assert result.signed_distance == -0.25
    assert np.array_equal(result.normal, [1, 0])
    assert result.feature_a.kind == FeatureKind.EDGE


def test_moving_b_by_depth_times_normal_just_separates():
    rng = np.random.default_rng(1)
    for _ in range(50):
        pa, pb = rng.normal(size=(12, 3)), rng.normal(size=(9, 3)) + rng.normal(size=3) * 0.5
        result = sat(ConvexHull(pa), ConvexHull(pb))
        if result.separated:
            continue
        moved = pb - result.signed_distance * result.normal
        assert abs(exact(pa, moved).signed_distance) < 1e-14
        assert not sat(ConvexHull(pa), ConvexHull(moved - 1e-9 * result.normal)).separated
        assert sat(ConvexHull(pa), ConvexHull(moved + 1e-9 * result.normal)).separated


def test_the_normal_points_from_a_to_b_even_where_the_centres_say_otherwise():
    # A long wedge: its middle is far on the other side of the square that it pierces with its tip.
    wedge = np.array([[0.0, 0.0], [20.0, -3.0], [20.0, 3.0]])
    small = SQUARE * 0.25 + [19.5, 0.0]
    result = sat(ConvexHull(small), ConvexHull(wedge))
    assert np.allclose(result.normal, [-1, 0])
    assert result.signed_distance == pytest.approx(-0.75)


@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.1, -0.3, 0.2), (0.8, 0.0, 0.0)])
def test_a_cube_inside_a_cube_leaves_by_the_nearer_exit(offset):
    result = sat(Box((0, 0, 0), (2, 2, 2)), Box(offset, (0.4, 0.4, 0.4)))
    assert result.signed_distance == pytest.approx(-(1.2 - max(np.abs(offset))))
    if any(offset):
        assert np.allclose(result.normal, np.sign(offset) * (np.abs(offset) == max(np.abs(offset))))


def test_concentric_cubes_have_six_equally_good_normals():
    result = sat(Box((0, 0, 0), (2, 2, 2)), Box((0, 0, 0), (1, 1, 1)))
    assert result.signed_distance == -1.5
    assert sorted(map(tuple, result.ties)) == sorted([*map(tuple, np.eye(3)), *map(tuple, 0.0 - np.eye(3))])


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


def test_parallel_axes_are_tested_once():
    a, b = Box((0, 0, 0), (1, 1, 1)), Box((0.5, 0.5, 0.5), (1, 2, 3))
    assert sat(a, b).axes_tested == 3
    turned = Box((0.5, 0.5, 0.5), (1, 2, 3), (np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    assert sat(a, turned).axes_tested == 3
    prism = ConvexHull(cylinder(8))
    assert len(prism.facet_axes[0]) == 5
    assert sat(ConvexHull(SQUARE), ConvexHull(SQUARE * 2)).axes_tested == 2


def test_an_early_exit_looks_at_fewer_axes():
    a, b = ConvexHull(sphere(6, 8)), ConvexHull(sphere(6, 8) + [3, 0.1, 0.2])
    early, full = sat(a, b, early_exit=True), sat(a, b)
    assert early.separated
    assert full.separated
    assert early.axes_tested < full.axes_tested
    assert 0 < early.signed_distance <= full.signed_distance


def test_the_result_says_which_features_decided():
    a, b = Box((0, 0, 0), (2, 2, 2)), ConvexHull([[0.9, 0, 0], [2, -1, -1], [2, 1, -1], [2, 0, 1.5]])
    result = sat(a, b)
    assert result.feature_a.kind == FeatureKind.FACE
    assert set(result.feature_a.vertices) == {4, 5, 6, 7}
    assert result.feature_b.kind == FeatureKind.VERTEX
    assert np.array_equal(b.vertices[result.feature_b.vertices[0]], [0.9, 0, 0])
    back = sat(b, a)
    assert back.feature_a.kind == FeatureKind.VERTEX
    assert set(back.feature_b.vertices) == {4, 5, 6, 7}


def test_two_ridges_that_cross_decide_by_their_edges():
    ridge = rotation_about([1, 0, 0], np.pi / 4)
    across = rotation_about([0, 1, 0], np.pi / 4)
    pa, pb = box((4, 1, 1)) @ ridge.T, box((1, 4, 1)) @ across.T + [0, 0, np.sqrt(2) - 0.01]
    a, b = ConvexHull(pa), ConvexHull(pb)
    result = sat(a, b)
    assert result.signed_distance == pytest.approx(-0.01)
    assert np.allclose(result.normal, [0, 0, 1])
    assert result.feature_a.kind == result.feature_b.kind == FeatureKind.EDGE
    assert np.allclose(a.vertices[list(result.feature_a.vertices), 2], np.sqrt(0.5))
    assert np.allclose(b.vertices[list(result.feature_b.vertices), 2], np.sqrt(0.5) - 0.01)


def test_a_face_is_preferred_to_edges_that_are_equally_good():
    for angle in (0.0, 1e-16, 1e-15, 1e-14):
        turn = rotation_about([0.3, 0.4, 0.5], angle)
        result = sat(ConvexHull(box((1, 1, 1))), ConvexHull(box((1, 1, 1)) @ turn.T + [0, 0, 0.9]))
        assert FeatureKind.FACE in (result.feature_a.kind, result.feature_b.kind)
        assert result.signed_distance == pytest.approx(-0.1, abs=1e-12)


def test_shapes_of_different_dimension_are_refused():
    with pytest.raises(ValueError, match="dimension"):
        sat(ConvexHull(SQUARE), Box((0, 0, 0), (1, 1, 1)))


# ---------------------------------------------------------------------------------------------------------------------
# Against the oracles


@pytest.mark.parametrize("name", CLASSES)
def test_generated_pairs(name):
    names = list(CLASSES)
    for cycle in range(10):
        _, pa, pb = pair(20, names.index(name) + cycle * len(names))
        if len(pa) * len(pb) < 2500:
            assert_right(pa, pb)


@pytest.mark.parametrize("entry", HARD_PAIRS, ids=lambda entry: entry["id"])
def test_hard_pairs(entry):
    assert_right(entry["a"], entry["b"], entry["expected"]["signed_distance"])


def test_depth_is_the_distance_to_the_minkowski_difference_of_qhull():
    rng = np.random.default_rng(2)
    seen = 0
    for k in range(60):
        dim = 2 + k % 2
        make = (
            (lambda n, dim=dim: rng.integers(-3, 4, (n, dim)).astype(float))
            if k % 3 == 0
            else lambda n, dim=dim: rng.normal(size=(n, dim))
        )
        pa, pb = make(int(rng.integers(6, 20))), make(int(rng.integers(6, 20))) + rng.normal(size=dim).round() * 0.5
        expected = minkowski(pa, pb)
        if expected is not None and expected.signed_distance < -1e-9:
            seen += 1
            result = sat(ConvexHull(pa), ConvexHull(pb))
            assert result.signed_distance == pytest.approx(expected.signed_distance, abs=1e-11)
    assert seen > 30


SIZES = {"cube": (1.0, 1.0, 1.0), "slab": (2.0, 2.0, 0.02), "needle": (0.01, 0.02, 3.0)}
TURNS = [0.0, 1e-15, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.785]


@pytest.mark.parametrize("first", SIZES)
@pytest.mark.parametrize("second", SIZES)
def test_octahedral_orientations_with_small_turns(first, second):
    rng = np.random.default_rng([4, list(SIZES).index(first), list(SIZES).index(second)])
    pa = box(SIZES[first])
    for k, matrix in enumerate(OCTAHEDRAL):
        for angle in (TURNS[k % len(TURNS)], TURNS[(k * 5 + 3) % len(TURNS)]):
            pb = box(SIZES[second]) @ (rotation_about(rng.normal(size=3), angle) @ matrix).T
            axis = rng.normal(size=3) if rng.random() < 0.5 else np.eye(3)[rng.integers(3)]
            axis /= np.linalg.norm(axis)
            shift = -gap_along(pa, pb, axis) * (1 - rng.choice([0.0, 1e-9, 1e-3, 0.3, 1.0, -1e-9, -1e-3]))
            pb = pb + shift * axis + rng.choice([0.0, 0.1]) * rng.normal(size=3)
            assert_right(pa, pb)


def test_boxes_agree_with_the_test_made_for_boxes():
    rng = np.random.default_rng(5)
    for _ in range(100):
        a = Box(rng.normal(size=3) * 0.4, rng.uniform(0.1, 2, 3), rng.normal(size=4))
        b = Box(rng.normal(size=3) * 0.4, rng.uniform(0.1, 2, 3), rng.normal(size=4))
        general, special = sat(a, b), box_sat(a, b)
        assert general.separated == (not special.intersects)
        if special.intersects:
            assert general.signed_distance == pytest.approx(special.signed_distance, abs=1e-13)


def test_sheared_and_mirrored_boxes():
    rng = np.random.default_rng(6)
    for _ in range(30):
        m, n = np.eye(4), np.eye(4)
        m[:3, :3], n[:3, :3] = rng.normal(size=(2, 3, 3))
        n[:3, 3] = rng.normal(size=3)
        a, b = (Box.from_matrix(x, (-1, -0.5, 0), (1, 0.5, 0.7)) for x in (m, n))
        assert_right(a.vertices, b.vertices, shapes=(a, b))


# ---------------------------------------------------------------------------------------------------------------------
# Flat shapes


@pytest.mark.parametrize("turn", [np.eye(3), rotation(np.random.default_rng(9))], ids=["aligned", "turned"])
@pytest.mark.parametrize("move", [(0.0, 0.0, 0.0), (3.0, -2.0, 5.0), (1e5, 1e5, -1e5)], ids=str)
@pytest.mark.parametrize(
    ("a", "b", "truth"),
    [
        ([[0, 0, 0]], [[0, 0, 0]], 0.0),
        ([[0, 0, 0]], [[0, 3, 4]], 5.0),
        ([[-1, 0, 0], [1, 0, 0]], [[0.5, 0, 0]], 0.0),
        ([[-1, 0, 0], [1, 0, 0]], [[1.5, 0, 0]], 0.5),
        ([[-1, 0, 0], [1, 0, 0]], [[0.5, 0.25, 0]], 0.25),
        ([[-1, 0, 0], [1, 0, 0]], [[0, 0, 0], [3, 0, 0]], 0.0),
        ([[-1, 0, 0], [1, 0, 0]], [[1.25, 0, 0], [3, 0, 0]], 0.25),
        ([[-1, 0, 0], [1, 0, 0]], [[-1, 0.5, 0], [1, 0.5, 0]], 0.5),
        ([[-1, 0, 0], [1, 0, 0]], [[0, -1, 0], [0, 1, 0]], 0.0),
        ([[-1, 0, 0], [1, 0, 0]], [[0, 0.5, 0], [0, 1, 0]], 0.5),
        ([[-1, 0, 0], [1, 0, 0]], [[0, -1, 0.5], [0, 1, 0.5]], 0.5),
        (in_space(SQUARE), [[0.5, 0.5, 0]], 0.0),
        (in_space(SQUARE), [[1.5, 0.5, 0]], 0.5),
        (in_space(SQUARE), [[0.5, 0.5, 0.5]], 0.5),
        (in_space(SQUARE), [[0, 0, 0], [5, 0, 0]], 0.0),
        (in_space(SQUARE), [[1.5, 0, 0], [5, 0, 0]], 0.5),
        (in_space(SQUARE), [[0, 0, -1], [0, 0, 1]], -1.0),
        (in_space(SQUARE), [[2, 0, -1], [2, 0, 1]], 1.0),
        (in_space(SQUARE), [[0, 1.5, 0], [1.5, 0, 0]], 0.0),
        (in_space(SQUARE), [[0, 3, 0], [3, 0, 0]], np.sqrt(0.5)),
        (in_space(SQUARE), in_space(SQUARE + 0.5), 0.0),
        (in_space(SQUARE), in_space(SQUARE * 0.5), 0.0),
        (in_space(SQUARE), in_space(SQUARE), 0.0),
        (in_space(SQUARE), in_space(SQUARE + [2.5, 0.0]), 0.5),
        (in_space(SQUARE), in_space(SQUARE + [2.0, 0.0]), 0.0),
        (in_space(SQUARE), in_space(SQUARE, 0.75), 0.75),
        (in_space(SQUARE), in_space(SQUARE)[:, [1, 2, 0]], -1.0),
    ],
)
def test_flat_shapes(a, b, truth, turn, move):
    a, b = np.array(a, float) @ turn.T + move, np.array(b, float) @ turn.T + move
    if np.any(move) or not np.array_equal(turn, np.eye(3)):
        truth = exact(a, b).signed_distance
    assert_right(a, b, truth)


def test_squares_in_one_plane_have_its_two_normals():
    result = sat(ConvexHull(in_space(SQUARE)), ConvexHull(in_space(SQUARE * 0.5 + 0.2)))
    assert result.signed_distance == 0
    assert sorted(map(tuple, result.ties)) == [(0, 0, -1), (0, 0, 1)]


def test_polygons_in_one_plane_are_separated_within_it():
    rng = np.random.default_rng(10)
    for k in range(40):
        pa = disc(int(rng.integers(3, 9)), turn=rng.uniform(0, 7))
        pb = disc(int(rng.integers(3, 9)), turn=rng.uniform(0, 7)) + [*rng.uniform(-2.2, 2.2, 2), 0]
        turn = np.eye(3) if k % 2 else rotation(rng)
        assert_right(pa @ turn.T, pb @ turn.T)


@pytest.mark.parametrize("offset", [1e-3, 1e-6, 7e-9, 1e-11, 1e-13])
def test_points_and_parallel_segments_just_beside_a_segment(offset):
    rng = np.random.default_rng(14)
    for _ in range(20):
        ends = rng.normal(size=(2, 3))
        way = ends[1] - ends[0]
        side = np.cross(way, rng.normal(size=3))
        near = ends[0] + rng.uniform(0, 1) * way + offset * side / np.linalg.norm(side)
        assert_right(ends, [near])
        assert_right(ends, [near, near + 0.7 * way])


def test_segments_and_points_in_the_plane():
    rng = np.random.default_rng(11)
    shapes = [
        np.array([[0.0, 0.0]]),
        np.array([[1.0, 0.0]]),
        np.array([[-1.0, 0.0], [1.0, 0.0]]),
        np.array([[1.5, 0.0], [2.5, 0.0]]),
        np.array([[0.0, -1.0], [0.0, 1.0]]),
        np.array([[0.5, 0.5], [1.5, 0.5]]),
        SQUARE,
        SQUARE + [2.0, 0.5],
    ]
    for pa, pb in product(shapes, shapes):
        assert_right(pa, pb)
        turn = rotation_about([0, 0, 1], rng.uniform(0, 7))[:2, :2]
        assert_right(pa @ turn.T, pb @ turn.T)


@pytest.mark.parametrize("thickness", [1e-3, 1e-9, 1e-12, 1e-14])
def test_knives_edge_to_edge_are_apart(thickness):
    # The gap across their faces is the thickness times the gap of the edges: less than the rounding of a product.
    knife = np.array([[0, -1, 0], [0, 1, 0], [-1, -1, thickness], [-1, 1, thickness], [-1, -1, -thickness]])
    knife = np.concatenate([knife, [[-1, 1, -thickness]]])
    other = knife * [-1, 0.7, 1] + [1e-3, 0.1, 0]
    assert_right(knife, other, 1e-3)


# ---------------------------------------------------------------------------------------------------------------------
# Many vertices


def test_hulls_of_500_vertices_are_tested_in_pieces():
    rng = np.random.default_rng(12)
    p, q = rng.normal(size=(2, 500, 3))
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    q = q / np.linalg.norm(q, axis=1, keepdims=True) + [1.2, 0.9, 0.3]
    a, b = ConvexHull(p), ConvexHull(q)
    assert len(a.edges) * len(b.edges) > 2_000_000
    tracemalloc.start()
    result = sat(a, b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    assert result.signed_distance == pytest.approx(exact(p, q).signed_distance, abs=1e-13)


def test_the_same_pair_gives_the_same_bytes():
    rng = np.random.default_rng(13)
    p, q = rng.normal(size=(2, 30, 3))
    one, other = (sat(ConvexHull(p), ConvexHull(q + 0.5)) for _ in range(2))
    assert one.normal.tobytes() == other.normal.tobytes()
    assert one.ties.tobytes() == other.ties.tobytes()
    assert (one.signed_distance, one.feature_a, one.axes_tested) == (
        other.signed_distance,
        other.feature_a,
        other.axes_tested,
    )
