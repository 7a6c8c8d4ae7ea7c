# SPDX-License-Identifier: GPL-3.0-or-later
"""k-DOPs: the article's numbers, their planes, and what rounding may not do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull as QHull
from scipy.spatial import HalfspaceIntersection

from contact_lens.core import ConvexHull
from contact_lens.core.bounding.bounding_volumes import bounding_volumes, volumes_of_shapes
from contact_lens.core.bounding.kdop import KDops, kdop_directions

from ..generators import sphere_points

TRIANGLE = np.array([[3, 1], [5, 4], [1, 5]])
IN_SPACE = (6, 14, 18, 26)


def kdops(points, k: int, starts=None) -> KDops:
    volumes = bounding_volumes("kdop", points, starts, k=k)
    assert isinstance(volumes, KDops)
    return volumes


# ---------------------------------------------------------------------------------------------------------------------
# The article


def test_the_triangle_of_the_article():
    """Source: S3.1."""
    dop = kdops(TRIANGLE, 8)
    assert dop.directions.tolist() == [[1, 0], [0, 1], [1, 1], [1, -1]]
    assert dop.low[0].tolist() == [1, 1, 4, -4]
    assert dop.high[0].tolist() == [5, 5, 9, 2]


def test_the_triangle_of_the_article_as_a_polygon():
    shape = kdops(TRIANGLE, 8).polytope(0)
    assert sorted(map(tuple, shape.vertices.tolist())) == [(1, 3), (1, 5), (3, 1), (4, 5), (5, 3), (5, 4)]
    assert shape.area == 11.5
    assert kdops(TRIANGLE, 8).volume[0] == pytest.approx(11.5)
    assert kdops(TRIANGLE, 4).volume[0] == 16.0
    assert volumes_of_shapes("kdop", [ConvexHull(TRIANGLE)]).volume[0] == pytest.approx(11.5)


@pytest.mark.parametrize(("dim", "k"), [(2, 4), (2, 8), *((3, k) for k in IN_SPACE)])
def test_directions_have_components_of_minus_one_zero_and_one_and_no_two_are_parallel(dim, k):
    directions = kdop_directions(k, dim)
    assert directions.shape == (k // 2, dim)
    assert set(np.unique(directions)) <= {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(directions[:dim], np.eye(dim))
    both = {tuple(d) for d in np.concatenate([directions, -directions]).tolist()}
    assert len(both) == k


def test_the_sets_of_directions_are_made_of_axes_corners_and_edges():
    ends = {k: {tuple(d) for d in kdop_directions(k, 3).tolist()} for k in IN_SPACE}
    assert ends[14] & ends[18] == ends[6]
    assert ends[14] | ends[18] == ends[26]
    assert {sum(map(abs, d)) for d in ends[14] - ends[6]} == {3}
    assert {sum(map(abs, d)) for d in ends[18] - ends[6]} == {2}


def test_one_disjoint_slab_is_enough():
    """Source: S3.2. The boxes of these two overlap, and only x + y separates them."""
    a, b = np.array([[0, 0], [4, 0], [0, 4]]), np.array([[4, 4], [4, 1], [1, 4]])
    assert kdops(a, 4).overlaps(kdops(b, 4)).all()
    first, second = kdops(a, 8), kdops(b, 8)
    apart = (first.high < second.low) | (second.high < first.low)
    assert apart[0].tolist() == [False, False, True, False]
    assert not first.overlaps(second).any()
    assert first.gap(second)[0] == pytest.approx(np.sqrt(0.5))
    assert first.overlaps(kdops(b - [1, 0], 8)).all()  # touching: x + y is at most, and at least, 4


@pytest.mark.parametrize("k", [0, 5, 8, -6, 6.5, True, "6", None])
def test_no_other_k_and_no_other_dimension(k):
    with pytest.raises(ValueError, match=r"^k must be one of 6, 14, 18, 26 in dimension 3"):
        kdop_directions(k, 3)
    with pytest.raises(ValueError, match=r"^dim must be 2 or 3"):
        kdop_directions(6, 4)


def test_the_axis_aligned_box_is_the_lowest_and_the_highest_coordinates():
    points = np.random.default_rng(0).normal(size=(500, 3))
    box = bounding_volumes("aabb", points, np.arange(0, 500, 10))
    assert isinstance(box, KDops)
    np.testing.assert_array_equal(box.low, points.reshape(50, 10, 3).min(axis=1))
    np.testing.assert_array_equal(box.high, points.reshape(50, 10, 3).max(axis=1))
    np.testing.assert_array_equal(box.inflated(0.0).low, box.low)
    one = kdops(np.array([[1, 2, 3], [4, 5, 6]]), 6).inflated(1.0)
    assert one.low[0].tolist() == [0, 1, 2]
    assert one.high[0].tolist() == [5, 6, 7]


def test_the_gap_of_axis_aligned_boxes_is_their_distance():
    a, b = kdops(np.array([[0.0, 0, 0], [1, 1, 1]]), 6), kdops(np.array([[3.0, 4, 8], [4, 5, 9]]), 6)
    assert a.gap(b)[0] == pytest.approx(np.sqrt(4 + 9 + 49), rel=1e-14)
    assert a.gap(b)[0] <= np.sqrt(62)


# ---------------------------------------------------------------------------------------------------------------------
# Rounding

number = st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-8, 8).map(float) | st.sampled_from([1e-300, 2.0**53, 0.1])


@given(st.lists(st.tuples(number, number, number), min_size=1, max_size=6), st.sampled_from([14, 18, 26]))
def test_bounds_contain_the_exact_sums_and_are_the_exact_ones_where_these_are_floats(rows, k):
    points = np.array(rows)
    dop = kdops(points, k)
    for j, direction in enumerate(dop.directions.astype(int).tolist()):
        sums = [sum(d * Fraction(x) for d, x in zip(direction, row, strict=True)) for row in rows]
        low, high = Fraction(float(dop.low[0, j])), Fraction(float(dop.high[0, j]))
        assert low <= min(sums)
        assert max(sums) <= high
        size = max(sum(abs(Fraction(x)) for x in row) for row in rows)
        assert high - max(sums) <= Fraction(8, 2**52) * size
        assert min(sums) - low <= Fraction(8, 2**52) * size


def test_whole_numbers_are_never_widened():
    points = np.random.default_rng(1).integers(-(2**40), 2**40, (1000, 3))
    dop = kdops(points, 26, np.arange(0, 1000, 4))
    values = points @ dop.directions.T.astype(int)
    np.testing.assert_array_equal(dop.low, values.reshape(250, 4, 13).min(axis=1))
    np.testing.assert_array_equal(dop.high, values.reshape(250, 4, 13).max(axis=1))


def test_inflating_moves_planes_by_at_least_the_margin_times_the_length_of_the_direction():
    points = np.random.default_rng(2).normal(size=(200, 3)) * 1e3
    dop = kdops(points, 26, np.arange(0, 200, 2))
    for margin in (1e-12, 0.1, 7.0, 1e9):
        inflated = dop.inflated(margin)
        square = (dop.directions**2).sum(axis=1).astype(int).tolist()
        for j, factor in enumerate(square):
            for i in range(0, 100, 7):
                for by in (inflated.high[i, j], dop.high[i, j]), (-inflated.low[i, j], -dop.low[i, j]):
                    moved = Fraction(float(by[0])) - Fraction(float(by[1]))
                    assert moved > 0
                    assert moved**2 >= factor * Fraction(margin) ** 2
                    assert float(moved) <= margin * np.sqrt(factor) * (1 + 1e-12) + 1e-11


# ---------------------------------------------------------------------------------------------------------------------
# The polytope between the planes


def clouds(seed: int, dim: int) -> np.ndarray:
    rng = np.random.default_rng([seed, dim])
    points = rng.normal(size=(int(rng.integers(dim + 1, 40)), dim)) * 10.0 ** rng.integers(-4, 5)
    if seed % 4 == 1:
        points = np.round(points, 0 if np.abs(points).max() > 10 else 5)
    elif seed % 4 == 2:
        points = points + rng.normal(size=dim) * np.abs(points).max() * 10
    return points


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("dim", "k"), [(2, 4), (2, 8), *((3, k) for k in IN_SPACE)])
def test_the_polytope_is_the_intersection_of_the_half_spaces(dim, k):
    for seed in range(32):
        points = clouds(seed, dim)
        if np.linalg.matrix_rank(points - points[0]) < dim:
            continue
        dop = kdops(points, k)
        shape = dop.polytope(0)
        size, far = np.ptp(points, axis=0).max(), np.abs(points).max()
        along = shape.vertices @ dop.directions.T
        slack = 1e-14 * far
        assert (along >= dop.low - slack).all()
        assert (along <= dop.high + slack).all()
        np.testing.assert_allclose(along.min(axis=0), dop.low[0], rtol=0, atol=4 * slack)  # every plane touches
        np.testing.assert_allclose(along.max(axis=0), dop.high[0], rtol=0, atol=4 * slack)
        planes = np.concatenate(
            [np.column_stack([dop.directions, -dop.high.T]), np.column_stack([-dop.directions, dop.low.T])]
        )
        inside = points.mean(axis=0)
        planes[:, -1] += planes[:, :-1] @ inside
        planes[:, -1] /= size
        corners = HalfspaceIntersection(planes, np.zeros(dim)).intersections * size
        content = QHull(corners[np.isfinite(corners).all(axis=1)]).volume
        assert dop.volume[0] == pytest.approx(content, rel=1e-9 + 1e-13 * far / size)
        assert (shape.volume if dim == 3 else shape.area) == pytest.approx(content, rel=1e-9 + 1e-13 * far / size)
        if k == 2 * dim:
            assert len(shape.vertices) == 2**dim


@pytest.mark.parametrize("k", IN_SPACE)
def test_the_k_dop_of_a_ball_has_k_faces(k):
    dop = kdops(sphere_points(np.random.default_rng(3), 20_000), k)
    shape = dop.polytope(0)
    assert len(shape.facets) == k
    unit = shape.normals / np.abs(shape.normals).max(axis=1)[:, None]
    known = {tuple(d) for d in np.concatenate([dop.directions, -dop.directions]).tolist()}
    assert {tuple(d) for d in (np.round(unit, 6) + 0.0).tolist()} == known


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("k", IN_SPACE)
def test_flat_and_thin_points_give_flat_polytopes(k):
    rng = np.random.default_rng(5)
    for points, rank in (
        (np.zeros((3, 3)) + 0.1, 0),
        (np.outer([0.0, 1.0, 3.0], [1, 0, 0]) + 0.3, 1),
        (np.column_stack([rng.normal(size=(20, 2)), np.full(20, 0.7)]), 2),
        (np.column_stack([rng.normal(size=(20, 2)), np.full(20, 1e6)]), 2),
    ):
        dop = kdops(points, k)
        assert dop.polytope(0).rank == rank
        assert dop.volume[0] <= 1e-15 * np.abs(points).max()


def test_planes_that_leave_nothing_have_no_polytope():
    dop = KDops(kdop_directions(6, 3), np.ones((1, 3)), np.zeros((1, 3)))
    with pytest.raises(ValueError, match=r"^index: the planes of volume 0 leave nothing"):
        dop.polytope(0)
