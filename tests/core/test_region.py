# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact region against statements of geometry, and against shapely as an independent oracle."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contact_lens.core.region.region import Region, RegionKind, contact_region
from contact_lens.core.shapes.feature import Feature, FeatureKind
from contact_lens.core.shapes.polytope import Polytope

Array = NDArray[np.float64]

UP = np.array([0.0, 0.0, 1.0])
EPS = 2.0**-52


def shape(points: Any) -> Polytope:
    """A polytope of which only the corners matter: a region is made of nothing else."""
    vertices = np.ascontiguousarray(points, dtype=float)
    dim = vertices.shape[1]
    none = np.zeros((0, 2), dtype=np.intp)
    return Polytope(vertices, dim, none, none, (), np.zeros((0, dim)), np.zeros(0))


def rotation(axis: Any, angle: float) -> Array:
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    result: Array = np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * k @ k
    return result


def box(center: Any, size: Any = 1.0, turn: Array | None = None) -> Polytope:
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * size
    return shape(corners @ (np.eye(3) if turn is None else turn).T + center)


def cone(outline: Any, apex: Any) -> Polytope:
    """A shape whose face in the plane z = 0 is the outline."""
    flat = np.asarray(outline, dtype=float)
    return shape(np.vstack([np.column_stack([flat, np.zeros(len(flat))]), [apex]]))


def below(outline: Any) -> Polytope:
    return cone(outline, [*np.mean(outline, axis=0), -1.0])


def above(outline: Any) -> Polytope:
    return cone(outline, [*np.mean(outline, axis=0), 1.0])


def regular(sides: int, radius: float = 1.0, phase: float = 0.0, center: Any = (0.0, 0.0)) -> Array:
    angles = phase + 2.0 * np.pi * np.arange(sides) / sides
    result: Array = np.column_stack([np.cos(angles), np.sin(angles)]) * radius + center
    return result


def meet(
    a: Polytope,
    b: Polytope,
    normal: Any = UP,
    at: Any | None = None,
    width: float = 1e-5,
) -> Region:
    """The region, with witness points on the two support planes above `at` (default: between the two shapes)."""
    n = np.asarray(normal, dtype=float)
    top, bottom = (a.vertices @ n).max(), (b.vertices @ n).min()
    middle = 0.5 * (a.vertices.mean(axis=0) + b.vertices.mean(axis=0)) if at is None else np.asarray(at, dtype=float)
    on_plane = middle - (middle @ n) * n
    region = contact_region(a, b, n, width, on_plane + top * n, on_plane + bottom * n)
    assert_sound(region, n)
    return region


def assert_sound(region: Region, normal: Array) -> None:
    """What holds for every region."""
    count, dim = region.vertices.shape
    assert dim == len(normal)
    assert region.centroid.shape == (dim,)
    assert region.depths.shape == (count,)
    assert len(region.features) == count
    for values in (
        region.vertices,
        region.centroid,
        region.depths,
        region.area,
        region.length,
    ):
        assert np.isfinite(values).all()
    sides = np.roll(region.vertices, -1, axis=0) - region.vertices
    if region.kind is RegionKind.POINT:
        assert (count, region.area, region.length) == (1, 0.0, 0.0)
    elif region.kind is RegionKind.SEGMENT:
        assert (count, region.area) == (2, 0.0)
        assert region.length == pytest.approx(np.linalg.norm(sides[0]), rel=1e-6)
    else:
        assert count >= 3
        assert region.area > 0.0
        turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ normal
        assert (turns > -64 * EPS * np.abs(region.vertices).max() * region.length).all()


def vertex(i: int) -> Feature:
    return Feature(FeatureKind.VERTEX, (i,))


def edge(i: int, j: int) -> Feature:
    return Feature(FeatureKind.EDGE, (i, j))


def rows(points: Any, digits: int = 9) -> set[tuple[float, ...]]:
    """Points as a set: the first corner of a region is nobody's business."""
    return {tuple(row) for row in (np.round(points, digits) + 0.0).tolist()}


def outline(region: Region) -> Array:
    result: Array = region.vertices[:, :2]
    return result


def assert_same_polygon(region: Region, expected: shapely.Polygon, relative: float = 1e-9) -> None:
    size = max(np.ptp(np.asarray(expected.exterior.coords), axis=0))
    assert region.kind is RegionKind.POLYGON
    assert region.area == pytest.approx(expected.area, rel=relative)
    assert region.length == pytest.approx(expected.length, rel=relative)
    np.testing.assert_allclose(
        region.centroid[:2],
        (expected.centroid.x, expected.centroid.y),
        atol=relative * size,
    )


# --- Face on face ---------------------------------------------------------------------------------------------


def test_two_cubes_face_to_face_share_the_overlap_of_their_faces() -> None:
    region = meet(box([0, 0, 0]), box([0.25, 0.5, 1]))
    assert region.kind is RegionKind.POLYGON
    assert rows(region.vertices) == {
        (-0.25, 0, 0.5),
        (0.5, 0, 0.5),
        (0.5, 0.5, 0.5),
        (-0.25, 0.5, 0.5),
    }
    assert region.area == pytest.approx(0.375, rel=1e-15)
    assert region.length == pytest.approx(2.5, rel=1e-15)
    np.testing.assert_allclose(region.centroid, [0.125, 0.25, 0.5], atol=1e-15)
    np.testing.assert_array_equal(region.depths, 0.0)


def test_corners_of_the_overlap_know_what_they_lie_on() -> None:
    a, b = box([0, 0, 0]), box([0.25, 0.5, 1])
    region = meet(a, b)
    by_corner = dict(
        zip(
            [tuple(v) for v in np.round(region.vertices, 9).tolist()],
            region.features,
            strict=True,
        )
    )
    on_a, on_b = by_corner[(-0.25, 0.0, 0.5)]
    assert on_b == vertex(0)
    assert on_a.kind is FeatureKind.FACE
    assert set(on_a.vertices) == {1, 3, 5, 7}
    assert by_corner[(0.5, 0.0, 0.5)] == (edge(5, 7), edge(0, 4))
    on_a, on_b = by_corner[(0.5, 0.5, 0.5)]
    assert on_a == vertex(7)
    assert set(on_b.vertices) == {0, 2, 4, 6}
    assert by_corner[(-0.25, 0.5, 0.5)] == (edge(3, 7), edge(0, 2))


def test_faces_are_named_counter_clockwise_seen_from_outside() -> None:
    a, b = box([0, 0, 0]), box([0, 0, 1], 0.5)
    face_of_a = next(f for f, _ in meet(a, b).features if f.kind is FeatureKind.FACE)
    face_of_b = next(f for _, f in meet(a, box([0, 0, 1.5], 2)).features if f.kind is FeatureKind.FACE)
    for corners, outward in (
        (a.vertices[list(face_of_a.vertices)], UP),
        (b.vertices[list(face_of_b.vertices)], -UP),
    ):
        for p, q, r in zip(
            corners,
            np.roll(corners, -1, axis=0),
            np.roll(corners, -2, axis=0),
            strict=True,
        ):
            assert np.cross(q - p, r - q) @ outward > 0.0


def test_a_cube_turned_by_45_degrees_gives_a_regular_octagon() -> None:
    region = meet(box([0, 0, 0]), box([0, 0, 1], 1, rotation([0, 0, 1], math.pi / 4)))
    assert len(region.vertices) == 8
    assert region.area == pytest.approx(2 * (math.sqrt(2) - 1), rel=1e-14)
    np.testing.assert_allclose(region.centroid, [0, 0, 0.5], atol=1e-15)
    assert all(f.kind is FeatureKind.EDGE and g.kind is FeatureKind.EDGE for f, g in region.features)


def test_equal_cubes_meet_in_the_whole_face_corner_on_corner() -> None:
    region = meet(box([0, 0, 0]), box([0, 0, 1]))
    assert region.area == 1.0
    assert {(f.vertices, g.vertices) for f, g in region.features} == {
        ((1,), (0,)),
        ((3,), (2,)),
        ((5,), (4,)),
        ((7,), (6,)),
    }


def test_a_small_face_inside_a_large_one_is_the_region_in_either_order() -> None:
    large, small = box([0, 0, 0], 4), box([0.5, 0.25, 2.5])
    on_top = meet(large, small)
    underneath = meet(small, large, -UP)
    for region in (on_top, underneath):
        assert rows(region.vertices) == {
            (0, -0.25, 2),
            (1, -0.25, 2),
            (1, 0.75, 2),
            (0, 0.75, 2),
        }
        assert region.area == pytest.approx(1.0, rel=1e-14)
    assert all(f.kind is FeatureKind.FACE and g.kind is FeatureKind.VERTEX for f, g in on_top.features)
    assert all(f.kind is FeatureKind.VERTEX and g.kind is FeatureKind.FACE for f, g in underneath.features)


def test_a_cross_of_two_bars_meets_in_the_square_of_their_crossing() -> None:
    region = meet(box([0, 0, 0], [4, 1, 1]), box([0, 0, 1], [1, 4, 1]))
    assert rows(region.vertices) == {
        (-0.5, -0.5, 0.5),
        (0.5, -0.5, 0.5),
        (0.5, 0.5, 0.5),
        (-0.5, 0.5, 0.5),
    }
    assert all(f.kind is FeatureKind.EDGE and g.kind is FeatureKind.EDGE for f, g in region.features)


def test_a_star_of_two_triangles_gives_a_hexagon() -> None:
    region = meet(below(regular(3)), above(regular(3, phase=math.pi)))
    assert len(region.vertices) == 6
    assert region.area == pytest.approx(math.sqrt(3) / 2, rel=1e-14)


def test_faces_that_share_a_side_line_within_the_overlap() -> None:
    region = meet(box([0, 0, 0]), box([0.25, 0, 1]))
    assert rows(region.vertices) == {
        (-0.25, -0.5, 0.5),
        (0.5, -0.5, 0.5),
        (0.5, 0.5, 0.5),
        (-0.25, 0.5, 0.5),
    }
    by_corner = dict(
        zip(
            [tuple(v) for v in np.round(region.vertices, 9).tolist()],
            region.features,
            strict=True,
        )
    )
    assert by_corner[(-0.25, -0.5, 0.5)] == (edge(1, 5), vertex(0))
    assert by_corner[(0.5, -0.5, 0.5)] == (vertex(5), edge(0, 4))


# --- Less than a polygon --------------------------------------------------------------------------------------


def test_faces_that_share_only_an_edge_meet_in_a_segment() -> None:
    region = meet(box([0, 0, 0]), box([1, 0.25, 1]))
    assert region.kind is RegionKind.SEGMENT
    assert rows(region.vertices) == {(0.5, -0.25, 0.5), (0.5, 0.5, 0.5)}
    assert region.length == pytest.approx(0.75, rel=1e-15)
    np.testing.assert_allclose(region.centroid, [0.5, 0.125, 0.5], atol=1e-15)
    assert set(region.features) == {(edge(5, 7), vertex(0)), (vertex(7), edge(0, 2))}


def test_faces_that_share_only_a_corner_meet_in_that_point() -> None:
    region = meet(box([0, 0, 0]), box([1, 1, 1]))
    assert region.kind is RegionKind.POINT
    np.testing.assert_array_equal(region.vertices, [[0.5, 0.5, 0.5]])
    assert region.features == ((vertex(7), vertex(0)),)


def test_an_edge_on_a_face_meets_it_in_a_segment_cut_at_the_border() -> None:
    tilted = box([0.2, 0.3, 0.5 + math.sqrt(0.5)], 1, rotation([0, 1, 0], math.pi / 4))
    region = meet(box([0, 0, 0]), tilted)
    assert region.kind is RegionKind.SEGMENT
    assert rows(region.vertices) == {(0.2, -0.2, 0.5), (0.2, 0.5, 0.5)}
    kinds = {(f.kind, g.kind) for f, g in region.features}
    assert kinds == {
        (FeatureKind.FACE, FeatureKind.VERTEX),
        (FeatureKind.EDGE, FeatureKind.EDGE),
    }


def test_an_edge_across_a_face_is_cut_at_both_borders() -> None:
    bar = shape([[-3, 0.1, 0.5], [3, 0.2, 0.5], [0, 0, 2], [0, 1, 2]])
    region = meet(box([0, 0, 0]), bar)
    assert rows(region.vertices, 6) == {(-0.5, 0.141667, 0.5), (0.5, 0.158333, 0.5)}
    assert {f.vertices for f, _ in region.features} == {(1, 3), (5, 7)}
    assert {g for _, g in region.features} == {edge(0, 1)}


def test_an_edge_along_the_border_of_a_face_meets_it_in_their_overlap() -> None:
    bar = shape([[0.5, 0.0, 0.5], [0.5, 2.0, 0.5], [1, 0, 2], [1, 1, 2]])
    region = meet(box([0, 0, 0]), bar)
    assert region.kind is RegionKind.SEGMENT
    assert rows(region.vertices) == {(0.5, 0.0, 0.5), (0.5, 0.5, 0.5)}
    assert set(region.features) == {(edge(5, 7), vertex(0)), (vertex(7), edge(0, 1))}


def test_crossed_edges_meet_in_their_crossing_point() -> None:
    a = shape([[-1, -1, 0], [1, 1, 0], [1, -1, -1], [-1, 1, -1]])
    b = shape([[-1, 0.5, 0], [1, 0.5, 0], [0, 0, 1], [0, 1, 1]])
    region = meet(a, b)
    assert region.kind is RegionKind.POINT
    np.testing.assert_allclose(region.vertices, [[0.5, 0.5, 0]], atol=1e-15)
    assert region.features == ((edge(0, 1), edge(0, 1)),)


def test_an_edge_that_ends_on_another_edge_names_its_end() -> None:
    a = shape([[-1, 0, 0], [1, 0, 0], [0, -1, -1], [0, 1, -1]])
    b = shape([[0.25, 0, 0], [0.25, 3, 0], [0, 0, 1], [1, 1, 1]])
    region = meet(a, b)
    np.testing.assert_allclose(region.vertices, [[0.25, 0, 0]], atol=1e-15)
    assert region.features == ((edge(0, 1), vertex(0)),)


def test_parallel_edges_on_one_line_meet_in_their_overlap() -> None:
    a = shape([[-1, -2, 0], [1, 2, 0], [1, -2, -1], [-1, 2, -1]])
    b = shape([[3, 6, 0], [0.5, 1, 0], [0, 0, 1], [0, 1, 1]])
    region = meet(a, b)
    assert region.kind is RegionKind.SEGMENT
    assert rows(region.vertices) == {(0.5, 1, 0), (1, 2, 0)}
    assert set(region.features) == {(edge(0, 1), vertex(1)), (vertex(1), edge(0, 1))}


def test_parallel_edges_end_to_end_meet_in_one_point() -> None:
    a = shape([[0, 0, 0], [1, 1, 0], [1, 0, -1], [0, 1, -1]])
    b = shape([[1, 1, 0], [2, 2, 0], [2, 1, 1], [1, 2, 1]])
    region = meet(a, b)
    assert region.kind is RegionKind.POINT
    np.testing.assert_allclose(region.vertices, [[1, 1, 0]], atol=1e-15)
    assert region.features == ((vertex(1), vertex(0)),)


def test_equal_edges_meet_in_the_whole_edge() -> None:
    a = shape([[0, 0, 0], [1, 1, 0], [1, 0, -1], [0, 1, -1]])
    b = shape([[1, 1, 0], [0, 0, 0], [2, 1, 1], [1, 2, 1]])
    region = meet(a, b)
    assert region.length == pytest.approx(math.sqrt(2), rel=1e-15)
    assert set(region.features) == {(vertex(0), vertex(1)), (vertex(1), vertex(0))}


def test_a_vertex_on_a_face_meets_it_in_that_vertex() -> None:
    spike = shape([[0.25, 0.125, 0.5], [1, 0, 2], [0, 1, 2], [-1, -1, 2]])
    region = meet(box([0, 0, 0]), spike)
    np.testing.assert_allclose(region.vertices, [[0.25, 0.125, 0.5]], atol=1e-15)
    on_a, on_b = region.features[0]
    assert on_a.kind is FeatureKind.FACE
    assert on_b == vertex(0)


def test_a_vertex_on_an_edge_names_vertex_and_edge() -> None:
    roof = shape([[-1, 0, 0], [1, 0, 0], [0, -1, -1], [0, 1, -1]])
    spike = shape([[0.25, 0, 0], [1, 0, 2], [0, 1, 2], [-1, -1, 2]])
    assert meet(roof, spike).features == ((edge(0, 1), vertex(0)),)
    assert meet(spike, roof, -UP).features == ((vertex(0), edge(0, 1)),)


def test_two_spikes_tip_to_tip_meet_in_one_point() -> None:
    spike = np.array([[0, 0, 0], [1, 0, 2], [0, 1, 2], [-1, -1, 2.0]])
    region = meet(shape(-spike), shape(spike), at=[0, 0, 0])
    np.testing.assert_array_equal(region.vertices, [[0, 0, 0]])
    assert region.features == ((vertex(0), vertex(0)),)


def test_a_point_is_a_shape_too() -> None:
    region = meet(box([0, 0, 0]), shape([[0.1, 0.2, 0.5]]))
    assert region.kind is RegionKind.POINT
    np.testing.assert_allclose(region.vertices, [[0.1, 0.2, 0.5]], atol=1e-15)


def test_two_coincident_points_at_the_origin() -> None:
    region = meet(shape([[0.0, 0.0, 0.0]]), shape([[0.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(region.vertices, [[0.0, 0.0, 0.0]])
    assert region.depths[0] == 0.0


def test_two_flat_shapes_in_one_plane_meet_in_their_overlap() -> None:
    a = shape([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]])
    b = shape([[1, 1, 0], [3, 1, 0], [3, 3, 0], [1, 3, 0]])
    region = meet(a, b)
    assert rows(region.vertices) == {(1, 1, 0), (2, 1, 0), (2, 2, 0), (1, 2, 0)}


# --- Never empty ----------------------------------------------------------------------------------------------


def test_features_that_miss_each_other_give_the_middle_of_the_witness_points() -> None:
    a, b = box([0, 0, 0]), box([5, 0, 1])
    on_a, on_b = np.array([0.5, 0.0, 0.5]), np.array([4.5, 0.0, 0.5])
    region = contact_region(a, b, UP, 1e-5, on_a, on_b)
    assert region.kind is RegionKind.POINT
    np.testing.assert_array_equal(region.vertices, [[2.5, 0.0, 0.5]])
    np.testing.assert_array_equal(region.centroid, [2.5, 0.0, 0.5])
    assert [set(f.vertices) for f in region.features[0]] == [{1, 3, 5, 7}, {0, 2, 4, 6}]


@pytest.mark.parametrize("gap", [1e-17, 1e-16, 4e-16])
def test_edges_apart_by_less_than_rounding_still_meet(gap: float) -> None:
    a = shape([[-1, 0, 0], [1, 0, 0], [0, -1, -1], [0, 1, -1]])
    b = shape([[0, gap, 0], [0, 3, 0], [1, 0, 1], [-1, 1, 1]])
    region = meet(a, b)
    np.testing.assert_allclose(region.vertices, [[0, 0, 0]], atol=1e-15)


@pytest.mark.parametrize("thickness", [0.0, 1e-17, 1e-16, 5e-16])
def test_an_overlap_thinner_than_rounding_is_a_segment(thickness: float) -> None:
    region = meet(box([0, 0, 0]), box([1 - thickness, 0, 1]))
    assert region.kind is RegionKind.SEGMENT
    assert region.length == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("thickness", [1e-12, 1e-9, 1e-6])
def test_a_thin_overlap_above_rounding_stays_a_polygon(thickness: float) -> None:
    region = meet(box([0, 0, 0]), box([1 - thickness, 0, 1]))
    assert region.kind is RegionKind.POLYGON
    assert region.area == pytest.approx(thickness, abs=4e-16)


def test_a_feature_thinner_than_rounding_is_an_edge() -> None:
    blade = shape([[-1, 0, 0.5], [1, 0, 0.5], [1, 1e-16, 0.5], [-1, 1e-16, 0.5], [0, 0, 2]])
    region = meet(box([0, 0, 0]), blade)
    assert region.kind is RegionKind.SEGMENT
    assert region.length == pytest.approx(1.0, rel=1e-14)


def test_duplicate_and_nearly_duplicate_vertices_change_nothing() -> None:
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    noise = 2e-16 * np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])
    a, b = below(square), above(square + np.array([0.3, 0.4]))
    many = below(np.vstack([square, square + noise, square[::-1], square - noise]))
    plain, noisy = meet(a, b), meet(many, b)
    assert len(noisy.vertices) == 4
    assert rows(noisy.vertices) == rows(plain.vertices)


def test_points_on_the_sides_and_inside_a_face_are_no_corners() -> None:
    grid = np.array(list(itertools.product(np.linspace(0, 1, 5), repeat=2)))
    region = meet(below(grid), above(grid + np.array([0.1, 0.1])))
    assert len(region.vertices) == 4
    assert region.area == pytest.approx(0.81, rel=1e-14)


@given(
    st.floats(0, 2 * math.pi),
    st.integers(3, 9),
    st.floats(-0.9, 0.9),
    st.floats(0.0, 3e-16),
)
@settings(max_examples=100, deadline=None)
def test_points_in_any_order_on_turned_sides_are_wound_the_same(
    angle: float, steps: int, shift: float, noise: float
) -> None:
    grid = np.array(list(itertools.product(np.linspace(-1, 1, steps), repeat=2)))
    rng = np.random.default_rng(steps)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    points = rng.permutation(grid) @ turn.T + noise * rng.uniform(-1, 1, grid.shape)
    region = meet(below(points), above(points + turn @ [shift, 0.0]))
    assert len(region.vertices) == 4
    assert region.area == pytest.approx(2 * (2 - abs(shift)), rel=1e-12)


def test_a_zero_normal_is_refused() -> None:
    with pytest.raises(ValueError, match="normal"):
        contact_region(box([0, 0, 0]), box([0, 0, 1]), np.zeros(3), 1e-5, np.zeros(3), np.zeros(3))


@pytest.mark.parametrize("scale", [2.0, 1e-3, 1e200, 1e-200])
def test_the_length_of_the_normal_does_not_matter(scale: float) -> None:
    a, b = box([0, 0, 0], turn=rotation([1, 0, 0], 0.005)), box([0.2, 0.3, 1.0])
    at = np.array([0.1, 0.1, 0.5])
    one = contact_region(a, b, UP, 0.006, at, at)
    other = contact_region(a, b, scale * UP, 0.006, at, at)
    assert one.kind is RegionKind.POLYGON
    assert one.vertices.tobytes() == other.vertices.tobytes()
    assert (one.area, one.features) == (other.area, other.features)


def test_lists_will_do_for_the_normal_and_the_witness_points() -> None:
    a, b = box([0, 0, 0]), box([0.5, 0, 1])
    region = contact_region(a, b, [0, 0, 1], 0, [0.25, 0, 0.5], (0.25, 0, 0.5))
    assert region.area == pytest.approx(0.5)


@pytest.mark.parametrize("size", [1.0, 1e200])
def test_the_arrays_of_a_region_are_read_only(size: float) -> None:
    a, b, at = box([0, 0, 0], size), box([0.5 * size, 0, size], size), np.array([0.25, 0.0, 0.5]) * size
    region = contact_region(a, b, UP, 0.0, at, at)
    for array in (region.vertices, region.centroid, region.depths):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


# --- Order and frame ------------------------------------------------------------------------------------------


def random_face(rng: np.random.Generator, most: int = 24) -> Array:
    count = int(rng.integers(3, most + 1))
    if rng.random() < 0.5:
        points = rng.normal(size=(count, 2))
    else:
        points = regular(count, 1.0, rng.uniform(0, 7)) * rng.uniform(0.1, 2.0, 2)
    result: Array = points + rng.uniform(-0.7, 0.7, 2)
    return result


def overlap(a: Array, b: Array) -> shapely.Geometry:
    return shapely.MultiPoint(a).convex_hull.intersection(shapely.MultiPoint(b).convex_hull)


def overlapping_faces(seed: int, count: int, most: int = 24) -> list[tuple[Array, Array, shapely.Polygon]]:
    rng = np.random.default_rng(seed)
    pairs: list[tuple[Array, Array, shapely.Polygon]] = []
    while len(pairs) < count:
        a, b = random_face(rng, most), random_face(rng, most)
        common = overlap(a, b)
        if common.geom_type == "Polygon" and common.area > 1e-4:
            pairs.append((a, b, common))
    return pairs


def test_four_hundred_random_convex_faces_agree_with_shapely() -> None:
    for a, b, expected in overlapping_faces(1, 400):
        region = meet(below(a), above(b))
        assert_same_polygon(region, expected)
        assert shapely.Polygon(outline(region)).symmetric_difference(expected).area <= 1e-12 * expected.area + 1e-15


def test_corners_lie_on_the_features_they_name() -> None:
    for a, b, _ in overlapping_faces(2, 150):
        lower, upper = below(a), above(b)
        region = meet(lower, upper)
        for corner, pair in zip(region.vertices, region.features, strict=True):
            for feature, solid in zip(pair, (lower, upper), strict=True):
                named = shapely.MultiPoint(solid.vertices[list(feature.vertices), :2]).convex_hull
                assert named.distance(shapely.Point(corner[:2])) < 1e-12
                if feature.kind is FeatureKind.FACE:
                    assert named.exterior.distance(shapely.Point(corner[:2])) > 1e-16


def test_swapping_the_shapes_reverses_the_order_and_changes_nothing_else() -> None:
    rng = np.random.default_rng(3)
    for a, b, _ in overlapping_faces(3, 60):
        turn = rotation(rng.normal(size=3), rng.uniform(0, 7))
        p, q, n = (
            shape(below(a).vertices @ turn.T),
            shape(above(b).vertices @ turn.T),
            turn[:, 2],
        )
        there, back = meet(p, q, n, at=[0, 0, 0]), meet(q, p, -n, at=[0, 0, 0])
        assert there.area == back.area
        assert there.length == back.length
        np.testing.assert_array_equal(there.centroid, back.centroid)
        np.testing.assert_array_equal(there.vertices, back.vertices[::-1])
        np.testing.assert_array_equal(there.depths, back.depths[::-1])
        assert there.features == tuple((f, g) for g, f in reversed(back.features))


def test_a_rigid_motion_moves_the_region_along() -> None:
    rng = np.random.default_rng(4)
    for a, b, expected in overlapping_faces(4, 100):
        turn = rotation(rng.normal(size=3), rng.uniform(0, 7))
        move = rng.uniform(-10, 10, 3)
        region = meet(
            shape(below(a).vertices @ turn.T + move),
            shape(above(b).vertices @ turn.T + move),
            turn[:, 2],
        )
        assert region.area == pytest.approx(expected.area, rel=1e-9)
        local = (region.centroid - move) @ turn
        np.testing.assert_allclose(local, [expected.centroid.x, expected.centroid.y, 0], atol=1e-10)


def test_the_twenty_four_turns_of_a_cube_keep_two_cubes_exact() -> None:
    a, b = box([0, 0, 0]), box([0.25, 0.5, 1])
    plain = meet(a, b)
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((-1.0, 1.0), repeat=3):
            turn = np.zeros((3, 3))
            turn[range(3), order] = signs
            if np.linalg.det(turn) < 0:
                continue
            region = meet(shape(a.vertices @ turn.T), shape(b.vertices @ turn.T), turn @ UP)
            assert region.area == plain.area
            assert rows(region.vertices, 15) == rows(plain.vertices @ turn.T, 15)


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e12])
def test_area_scales_with_the_square_of_the_size(scale: float) -> None:
    for a, b, expected in overlapping_faces(5, 40):
        region = meet(
            shape(below(a).vertices * scale),
            shape(above(b).vertices * scale),
            width=1e-5 * scale,
        )
        assert region.area == pytest.approx(expected.area * scale**2, rel=1e-9)
        np.testing.assert_allclose(
            region.centroid[:2] / scale,
            [expected.centroid.x, expected.centroid.y],
            rtol=0,
            atol=1e-9,
        )


@pytest.mark.parametrize("power", [-400, -300, -30, 30, 300, 400])
def test_scaling_by_a_power_of_two_scales_every_bit(power: int) -> None:
    scale = 2.0**power
    a, b = box([0, 0, 0]), box([0.25, 0.5, 1], 1, rotation([0, 0, 1], 0.3))
    plain = meet(a, b)
    scaled = meet(shape(a.vertices * scale), shape(b.vertices * scale), width=1e-5 * scale)
    np.testing.assert_array_equal(scaled.vertices, plain.vertices * scale)
    np.testing.assert_array_equal(scaled.centroid, plain.centroid * scale)
    assert scaled.length == plain.length * scale


def test_far_from_the_origin_the_region_is_as_good_as_the_coordinates() -> None:
    move = np.array([1e6, -1e6, 1e6])
    bound = 64 * EPS * 1e6
    for a, b, _ in overlapping_faces(6, 100):
        p, q = shape(below(a).vertices + move), shape(above(b).vertices + move)
        # The oracle gets the rounded coordinates, moved back without error.
        expected = overlap(p.vertices[:-1, :2] - move[:2], q.vertices[:-1, :2] - move[:2])
        region = meet(p, q)
        assert region.area == pytest.approx(expected.area, abs=bound * expected.length)
        np.testing.assert_allclose(
            region.centroid - move,
            [expected.centroid.x, expected.centroid.y, 0],
            rtol=0,
            atol=bound,
        )


def test_far_from_the_origin_two_cubes_still_share_an_edge() -> None:
    move = np.array([1e6 / 3, 1e6, -1e6])
    region = meet(shape(box([0, 0, 0]).vertices + move), shape(box([1, 0.25, 1]).vertices + move))
    assert region.kind is RegionKind.SEGMENT
    assert region.length == pytest.approx(0.75, abs=64 * EPS * 1e6)


def test_a_speck_on_a_plain_a_million_times_larger() -> None:
    region = meet(box([0, 0, -5e5], 1e6), box([123.25, 7.5, 0.5]))
    assert region.area == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(region.centroid, [123.25, 7.5, 0], atol=1e-9)


def test_the_same_call_gives_the_same_bytes() -> None:
    a, b = box([0, 0, 0]), box([0.1, 0.2, 1], 1, rotation([0, 0, 1], 0.3))
    first, second = meet(a, b), meet(a, b)
    assert first.vertices.tobytes() == second.vertices.tobytes()
    assert first.features == second.features


# --- Many sides -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [(128, 64), (100, 3), (4, 200), (300, 300), (25, 24), (24, 25), (24, 24)])
@pytest.mark.parametrize("phase", [0.0, 0.013])
def test_many_sided_faces_agree_with_shapely(sides: tuple[int, int], phase: float) -> None:
    a, b = regular(sides[0]), regular(sides[1], 0.999, phase, (0.0001, 0.0))
    region = meet(below(a), above(b))
    assert_same_polygon(region, overlap(a, b))


@pytest.mark.parametrize("sides", [8, 20, 32, 128, 500])
def test_equal_many_sided_faces_meet_corner_on_corner(sides: int) -> None:
    a = regular(sides)
    region = meet(below(a), above(a[::-1]))
    assert len(region.vertices) == sides
    assert all(f.kind is FeatureKind.VERTEX and g.kind is FeatureKind.VERTEX for f, g in region.features)
    assert region.area == pytest.approx(0.5 * sides * math.sin(2 * math.pi / sides), rel=1e-12)


def test_many_sided_faces_inside_each_other_beside_each_other_and_side_by_side() -> None:
    a = regular(64)
    inner = meet(below(a), above(0.5 * a))
    assert inner.area == pytest.approx(shapely.Polygon(0.5 * a).area, rel=1e-12)
    outer = meet(below(0.5 * a), above(a))
    assert outer.area == inner.area
    tips = meet(below(a), above(a + np.array([2.0, 0.0])))
    assert tips.kind is RegionKind.POINT
    np.testing.assert_allclose(tips.vertices, [[1, 0, 0]], atol=1e-15)
    turned = regular(64, phase=math.pi / 64)
    sides = meet(below(turned), above(turned + np.array([2 * math.cos(math.pi / 64), 0.0])))
    assert sides.kind is RegionKind.SEGMENT
    assert sides.length == pytest.approx(2 * math.sin(math.pi / 64), rel=1e-12)


def test_random_many_sided_faces_agree_with_shapely() -> None:
    for a, b, expected in overlapping_faces(7, 60, most=150):
        assert_same_polygon(meet(below(a), above(b)), expected)


def test_the_two_ways_to_clip_agree_at_their_border(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = [(below(a), above(b)) for a, b, _ in overlapping_faces(8, 80)]
    few = [meet(p, q) for p, q in pairs]
    monkeypatch.setattr("contact_lens.core.region.clip._FEW_PAIRS", 0)
    for (p, q), one in zip(pairs, few, strict=True):
        other = meet(p, q)
        assert rows(one.vertices) == rows(other.vertices)
        assert set(one.features) == set(other.features)


# --- Support features and depths ------------------------------------------------------------------------------


def test_only_vertices_within_the_width_belong_to_the_feature() -> None:
    tilted = shape([[0, 0, 0], [1, 0, 1e-3], [0, 1, 0], [1, 1, 1e-3], [0.5, 0.5, 1]])
    floor = box([0, 0, -0.5], 4)
    assert meet(floor, tilted, width=1e-4).kind is RegionKind.SEGMENT
    assert meet(floor, tilted, width=1e-2).kind is RegionKind.POLYGON


def test_exact_faces_survive_a_width_of_zero() -> None:
    rng = np.random.default_rng(9)
    for _ in range(50):
        turn = rotation(rng.normal(size=3), rng.uniform(0, 7))
        move = rng.uniform(-100, 100, 3)
        a = shape(box([0, 0, 0]).vertices @ turn.T + move)
        b = shape(box([0.25, 0.5, 1]).vertices @ turn.T + move)
        region = meet(a, b, turn[:, 2], width=0.0)
        assert region.area == pytest.approx(0.375, rel=1e-9)


def test_a_face_much_larger_than_its_partner_survives_the_rounding_of_the_normal() -> None:
    move = np.array([1e6, 1e6, 1e6])
    speck, plain = (
        shape(box([0, 0, 0.5]).vertices + move),
        shape(box([0, 0, -5e5], 1e6).vertices + move),
    )
    normal = np.array([1e-10, 0.0, 1.0])
    region = meet(plain, speck, normal, width=1e-5, at=move)
    assert region.kind is RegionKind.POLYGON


def test_flat_faces_have_one_depth_the_penetration() -> None:
    region = meet(box([0, 0, 0]), box([0.25, 0.5, 0.75]))
    np.testing.assert_array_equal(region.depths, 0.25)
    np.testing.assert_allclose(region.vertices[:, 2], 0.375, rtol=1e-15)


def test_a_gap_is_a_negative_depth() -> None:
    region = meet(box([0, 0, 0]), box([0.25, 0.5, 1.001]))
    np.testing.assert_allclose(region.depths, -0.001, rtol=1e-12)


def test_a_slightly_tilted_face_is_less_deep_towards_its_raised_side() -> None:
    slope = 1e-3
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [slope, 0.0, 1.0]])
    tilted = shape(box([0, 0, 0.4], 1).vertices @ turn.T)
    region = meet(box([0, 0, 0], 0.5), tilted, width=1e-2)
    assert region.area == pytest.approx(0.25, rel=1e-12)
    assert {g.kind for _, g in region.features} == {FeatureKind.FACE}
    np.testing.assert_allclose(region.depths, 0.25 - (-0.1 + slope * region.vertices[:, 0]), rtol=1e-12)
    assert region.depths.max() <= 0.25 + 0.1 + slope * 0.5


def test_a_slightly_tilted_edge_has_depths_that_vary_along_it() -> None:
    bar = shape([[-2, 0.1, 0.5 - 2e-3], [2, 0.1, 0.5 + 2e-3], [0, 0, 2], [0, 1, 2]])
    region = meet(box([0, 0, 0]), bar, width=1e-2)
    assert region.kind is RegionKind.SEGMENT
    np.testing.assert_allclose(region.depths, -1e-3 * region.vertices[:, 0], atol=1e-15)


def test_tilted_faces_of_both_shapes_add_up() -> None:
    a = shape([[-1, -1, -1e-3], [1, -1, 1e-3], [1, 1, 1e-3], [-1, 1, -1e-3], [0, 0, -1]])
    b = shape([[-2, -2, -4e-3], [2, -2, -4e-3], [2, 2, 4e-3], [-2, 2, 4e-3], [0, 0, 1]])
    region = meet(a, b, width=0.1)
    x, y = region.vertices[:, 0], region.vertices[:, 1]
    np.testing.assert_allclose(region.depths, 1e-3 * x - 2e-3 * y, atol=1e-15)


def test_no_depth_is_more_than_the_depth_of_the_support_planes() -> None:
    rng = np.random.default_rng(10)
    for a, b, _ in overlapping_faces(11, 60):
        p = np.column_stack([a, -1e-3 * rng.random(len(a))])
        q = np.column_stack([b, 1e-3 * rng.random(len(b))])
        region = meet(shape(p), shape(q), width=1e-2)
        assert (region.depths <= p[:, 2].max() - q[:, 2].min() + 1e-15).all()
        assert (region.depths >= p[:, 2].min() - q[:, 2].max() - 1e-15).all()


# --- In the plane ---------------------------------------------------------------------------------------------

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def test_two_squares_side_on_side_meet_in_a_segment() -> None:
    region = meet(shape(SQUARE), shape(SQUARE + np.array([0.25, 1.0])), [0.0, 1.0])
    assert region.kind is RegionKind.SEGMENT
    assert rows(region.vertices) == {(0.25, 1.0), (1.0, 1.0)}
    assert region.length == pytest.approx(0.75)
    np.testing.assert_allclose(region.centroid, [0.625, 1.0])
    assert set(region.features) == {(vertex(2), edge(0, 1)), (edge(2, 3), vertex(0))}


def test_a_corner_on_a_side_and_corner_on_corner_meet_in_a_point() -> None:
    diamond = np.array([[0.5, 1.0], [1.5, 2.0], [0.5, 3.0], [-0.5, 2.0]])
    region = meet(shape(SQUARE), shape(diamond), [0.0, 1.0])
    np.testing.assert_allclose(region.vertices, [[0.5, 1.0]])
    assert region.features == ((edge(2, 3), vertex(0)),)
    region = meet(shape(SQUARE), shape(SQUARE + 1.0), [0.0, 1.0])
    np.testing.assert_allclose(region.vertices, [[1.0, 1.0]])
    assert region.features == ((vertex(2), vertex(0)),)


@given(
    st.floats(0, 2 * math.pi),
    st.floats(-0.9, 0.9),
    st.floats(0.0, 0.4),
    st.floats(-100, 100),
)
@settings(max_examples=100, deadline=None)
def test_turned_squares_meet_in_the_overlap_of_their_sides(
    angle: float, shift: float, depth: float, away: float
) -> None:
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    a = shape(SQUARE @ turn.T + away)
    b = shape((SQUARE + np.array([shift, 1.0 - depth])) @ turn.T + away)
    there, back = meet(a, b, turn[:, 1]), meet(b, a, -turn[:, 1])
    assert there.length == pytest.approx(1.0 - abs(shift), rel=1e-9)
    np.testing.assert_allclose(there.depths, depth, atol=1e-12)
    np.testing.assert_array_equal(there.vertices, back.vertices[::-1])


def test_a_tilted_side_in_the_plane_is_less_deep_at_its_raised_end() -> None:
    wedge = np.array([[-1.0, 0.9], [2.0, 0.93], [0.0, 3.0]])
    region = meet(shape(SQUARE), shape(wedge), [0.0, 1.0], width=0.1)
    np.testing.assert_allclose(region.depths, 0.1 - 0.01 * (region.vertices[:, 0] + 1.0), atol=1e-15)


# --- Whatever comes -------------------------------------------------------------------------------------------

coordinates = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0, 1e-16, 1.0 + 4e-16])


@given(
    st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8),
    st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8),
)
@settings(max_examples=300, deadline=None)
def test_any_points_of_a_coarse_grid_agree_with_shapely(
    first: list[tuple[float, float]], second: list[tuple[float, float]]
) -> None:
    a, b = np.array(first), np.array(second)
    expected = overlap(np.round(a, 9), np.round(b, 9))
    region = meet(below(a), above(b))
    assert region.area == pytest.approx(expected.area, abs=1e-14)
    if not expected.is_empty:
        assert expected.distance(shapely.Point(region.centroid[:2])) < 1e-14
        assert region.kind == {"Point": "point", "LineString": "segment", "Polygon": "polygon"}[expected.geom_type]
        np.testing.assert_allclose(
            region.centroid[:2],
            [expected.centroid.x, expected.centroid.y],
            rtol=0,
            atol=1e-14,
        )


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-16, 1e-15, 1e-14, 1e-12, 1e-9]))
@settings(max_examples=300, deadline=None)
def test_nearly_degenerate_features_give_a_region_on_both_with_nothing_left_out(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    faces = []
    for _ in range(2):
        corners = rng.integers(-2, 3, (int(rng.integers(1, 7)), 2)).astype(float)
        faces.append(np.vstack([corners, corners[: len(corners) // 2]]) + 0.0)
        faces[-1] += noise * rng.uniform(-1, 1, faces[-1].shape)
    angle = rng.uniform(0, 7)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    a, b = (face @ turn.T for face in faces)
    region = meet(below(a), above(b))
    expected = overlap(a, b)
    assert region.area == pytest.approx(expected.area, abs=1e-12)
    # The answer is exact for features moved by rounding: it lies on both, and leaves nothing out.
    bound = 64 * EPS * 3
    found = shapely.MultiPoint(outline(region)).convex_hull
    for face in (a, b) if not expected.is_empty else ():
        hull = shapely.MultiPoint(face).convex_hull
        assert all(hull.distance(shapely.Point(corner)) < bound for corner in outline(region))
    # Along sides that are parallel but for the noise, rounding moves a crossing far.
    bound += bound / noise if noise else 0.0
    assert all(found.distance(shapely.Point(corner)) < bound for corner in shapely.get_coordinates(expected))
