# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes are the eight corners, twelve edges and six planes their transform says they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_lens.core import ConvexHull
from contact_lens.core.shapes.box import Box, rotate, validate_boxes

from .generators import rotation

SIGNS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def hamilton(p, q):
    """Product of two quaternions w, x, y, z."""
    w, v, s, u = p[0], np.array(p[1:]), q[0], np.array(q[1:])
    return np.concatenate([[w * s - v @ u], w * u + s * v + np.cross(v, u)])


def rows(points) -> set:
    return {tuple(np.round(p, 9) + 0.0) for p in np.asarray(points)}


def assert_is_polytope(shape) -> None:
    """Facets are planar, outward and closed; edges join the facets they say."""
    centred = shape.vertices - shape.center
    size = shape.extent
    if len(shape.facets):
        assert np.allclose(np.linalg.norm(shape.normals, axis=1), 1, atol=1e-15)
        heights = centred @ shape.normals.T
        assert (heights <= shape.offsets + 1e-14 * size).all()
        for k, loop in enumerate(shape.facets):
            assert np.allclose(heights[loop, k], shape.offsets[k], atol=1e-14 * size)
            area = np.cross(centred[loop], centred[np.roll(loop, -1)]).sum(axis=0)
            assert area @ shape.normals[k] > 0
    sides = {(loop[i - 1], loop[i]): k for k, loop in enumerate(shape.facets) for i in range(len(loop))}
    for (p, q), (left, right) in zip(shape.edges, shape.edge_facets, strict=False):
        assert sides[p, q] == left
        assert sides[q, p] == right
    if shape.rank == 3:
        assert len(shape.vertices) - len(shape.edges) + len(shape.facets) == 2
    for array in (shape.vertices, shape.normals, shape.offsets, shape.edges, shape.edge_facets):
        assert not array.flags.writeable


def test_corners_of_an_axis_aligned_box_are_exact():
    box = Box((1, 2, 3), (2, 4, 6))
    assert np.array_equal(box.vertices, [1, 2, 3] + SIGNS * [1, 2, 3])
    assert np.array_equal(box.normals, [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    assert np.array_equal(box.offsets, [1, 1, 2, 2, 3, 3])
    assert_is_polytope(box)


def test_quarter_turns_are_exact():
    for axis in np.eye(3):
        turned = rotate(np.eye(3), [np.sqrt(0.5), *(np.sqrt(0.5) * axis)])
        assert set(np.abs(turned).ravel()) == {0.0, 1.0}
    assert np.array_equal(rotate([1, 0, 0], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]), [0, 1, 0])


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4), st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_rotation_is_q_v_q_conjugate(q, v):
    q = np.array(q)
    length = np.linalg.norm(q)
    if length < 1e-3:
        return
    unit = q / length
    expected = hamilton(hamilton(unit, [0.0, *v]), unit * [1, -1, -1, -1])[1:]
    assert np.allclose(rotate(v, q), expected, rtol=0, atol=1e-12 * (1 + np.linalg.norm(v)))


def test_a_quaternion_of_any_length_is_normalised():
    q = np.array([0.3, -0.2, 0.5, 0.7])
    for scale in (1e-300, 1e-150, 7.0, 1e150, 1e300):
        assert np.allclose(rotate([1, 2, 3], q * scale), rotate([1, 2, 3], q), rtol=1e-14)
        assert np.allclose(Box((0, 0, 0), (1, 2, 3), q * scale).vertices, Box((0, 0, 0), (1, 2, 3), q).vertices)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rotation", ((0, 0, 0), (1, 1, 1), (0, 0, 0, 0))),
        ("rotation", ((0, 0, 0), (1, 1, 1), (np.nan, 0, 0, 0))),
        ("rotation", ((0, 0, 0), (1, 1, 1), (1, 0, 0))),
        ("center", ((0, np.inf, 0), (1, 1, 1))),
        ("center", ((0, 0), (1, 1, 1))),
        ("center", ("abc", (1, 1, 1))),
        ("size", ((0, 0, 0), (1, np.nan, 1))),
        ("size", ((0, 0, 0), (1, -1, 1))),
    ],
)
def test_wrong_arguments_are_named(name, arguments):
    with pytest.raises(ValueError, match=name):
        Box(*arguments)


@pytest.mark.parametrize(
    ("name", "matrix", "low", "high"),
    [
        ("matrix", np.full((4, 4), np.nan), (0, 0, 0), (1, 1, 1)),
        ("matrix", np.eye(3), (0, 0, 0), (1, 1, 1)),
        ("matrix", np.ones((4, 4)), (0, 0, 0), (1, 1, 1)),
        ("low", np.eye(4), (0, 2, 0), (1, 1, 1)),
        ("low", np.eye(4), (0, np.nan, 0), (1, 1, 1)),
        ("high", np.eye(4), (0, 0, 0), (1, np.inf, 1)),
    ],
)
def test_wrong_matrices_and_bounds_are_named(name, matrix, low, high):
    with pytest.raises(ValueError, match=name):
        Box.from_matrix(matrix, low, high)


@pytest.mark.filterwarnings("error")
def test_a_box_too_large_for_float64_names_what_made_it():
    with pytest.raises(ValueError, match=r"^center and size: no coordinate may be beyond"):
        Box((1.7e308, 0, 0), (1.7e308, 1, 1))
    with pytest.raises(ValueError, match=r"^matrix, low and high: no coordinate may be beyond"):
        Box.from_matrix(np.diag([1e308, 1e308, 1e308, 1]), (-9, -9, -9), (9, 9, 9))


def test_what_the_test_of_two_boxes_cannot_tell_about_is_named():
    box, sheared = (
        Box((0, 0, 0), (1, 1, 1)),
        Box.from_matrix(np.eye(4) + 0.5 * np.eye(4, k=1) * [1, 1, 0, 0], [0] * 3, [1] * 3),
    )
    validate_boxes(box, box)
    for other, words in (
        (ConvexHull(box.vertices), "must be a Box"),
        (None, "must be a Box"),
        (sheared, "must not be sheared"),
    ):
        with pytest.raises(ValueError, match=f"^a {words}"):
            validate_boxes(other, box)
        with pytest.raises(ValueError, match=f"^b {words}"):
            validate_boxes(box, other)


def test_rotate_names_what_is_wrong():
    with pytest.raises(ValueError, match="rotation"):
        rotate([1, 0, 0], [0, 0, 0, 0])
    with pytest.raises(ValueError, match="vectors"):
        rotate([1, 0, np.nan], [1, 0, 0, 0])
    with pytest.raises(ValueError, match="vectors"):
        rotate([1, 0], [1, 0, 0, 0])


@pytest.mark.parametrize("kind", ["rigid", "scaled", "mirrored", "sheared", "sheared and mirrored"])
def test_a_matrix_moves_the_corners_of_the_bounding_box(kind):
    rng = np.random.default_rng(5)
    for _ in range(20):
        turn = rotation(rng)
        linear = {
            "rigid": turn,
            "scaled": turn @ np.diag(rng.uniform(0.1, 3, 3)),
            "mirrored": turn @ np.diag([1.0, -2.0, 0.5]),
            "sheared": turn @ np.triu(rng.uniform(0.2, 2, (3, 3))),
            "sheared and mirrored": -turn @ np.triu(rng.uniform(0.2, 2, (3, 3))),
        }[kind]
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = linear, rng.normal(size=3)
        low = rng.uniform(-3, 3, 3)
        high = low + rng.uniform(0.1, 2, 3)
        box = Box.from_matrix(matrix, low, high)
        corners = np.where(SIGNS > 0, high, low) @ linear.T + matrix[:3, 3]
        assert np.allclose(box.vertices, corners, rtol=0, atol=1e-14 * (1 + np.abs(corners).max()))
        assert box.rank == 3
        assert box.orthogonal == (not kind.startswith("sheared"))
        assert_is_polytope(box)
        hull = ConvexHull(corners)
        assert rows(hull.normals) == rows(box.normals)


def test_the_box_of_a_matrix_is_the_box_of_centre_size_and_rotation():
    rng = np.random.default_rng(6)
    q = rng.normal(size=4)
    matrix = np.eye(4)
    matrix[:3, :3] = rotate(np.eye(3), q).T
    matrix[:3, 3] = [1, 2, 3]
    assert np.allclose(
        Box.from_matrix(matrix, (-1, -2, -3), (1, 2, 3)).vertices, Box((1, 2, 3), (2, 4, 6), q).vertices, atol=1e-15
    )


@pytest.mark.parametrize(("size", "rank"), [((2, 0, 1), 2), ((0, 0, 3), 1), ((0, 0, 0), 0), ((1e-17, 1, 1), 2)])
def test_a_box_without_thickness_has_lower_rank(size, rank):
    for q in ((1, 0, 0, 0), (0.3, 0.4, -0.5, 0.9)):
        box = Box((1, 2, 3), size, q)
        assert box.rank == rank
        assert len(box.vertices) == 2**rank
        assert_is_polytope(box)
        assert np.allclose(box.center, [1, 2, 3], atol=1e-14)


def test_a_singular_matrix_makes_a_flat_box():
    matrix = np.eye(4)
    matrix[:3, :3] = [[1, 0, 1], [0, 1, 1], [0, 0, 0]]
    hexagon = Box.from_matrix(matrix, (-1, -1, -1), (1, 1, 1))
    assert hexagon.rank == 2
    assert rows(hexagon.vertices) == {(-2, -2, 0), (-2, 0, 0), (0, -2, 0), (0, 2, 0), (2, 0, 0), (2, 2, 0)}
    matrix[:3, :3] = np.diag([1.0, 0.0, 1.0])
    square = Box.from_matrix(matrix, (-1, -1, -1), (1, 1, 1))
    assert square.rank == 2
    assert square.orthogonal
    assert np.allclose(np.abs(square.axes[1]), [0, 1, 0])
    matrix[:3, :3] = 0
    assert Box.from_matrix(matrix, (-1, -1, -1), (1, 1, 1)).rank == 0


def test_a_needle_of_a_strong_shear_keeps_its_corners():
    matrix = np.eye(4)
    matrix[0, 1] = 1e4
    box = Box.from_matrix(matrix, (0, 0, 0), (1, 1, 1))
    assert rows(box.vertices) == rows((SIGNS + 1) / 2 @ matrix[:3, :3].T)
    assert_is_polytope(box)
