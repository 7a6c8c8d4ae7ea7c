# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes have the eight corners, twelve edges and six planes of their transform."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import ConvexHull, box_sat, contact, contacts
from contact_lens.core.shapes.box import Box, rotate

from ..generators import CUBE, as_matrix, rotation

SIGNS = 2.0 * CUBE


def rows(points) -> set:
    return {tuple(np.round(p, 9) + 0.0) for p in np.asarray(points)}


def assert_is_polytope(shape) -> None:
    """Facets are planar, outward and closed; edges join the facets they name."""
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


CENTER, SIZE, LOW, HIGH = (0, 0, 0), (1, 1, 1), (0, 0, 0), (1, 1, 1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("make", "name", "arguments"),
    [
        (Box, "rotation", (CENTER, SIZE, (0, 0, 0, 0))),
        (Box, "rotation", (CENTER, SIZE, (np.nan, 0, 0, 0))),
        (Box, "rotation", (CENTER, SIZE, (1, 0, 0))),
        (Box, "center", ((0, np.inf, 0), SIZE)),
        (Box, "center", ((0, 0), SIZE)),
        (Box, "center", ("abc", SIZE)),
        (Box, "size", (CENTER, (1, np.nan, 1))),
        (Box, "size", (CENTER, (1, -1, 1))),
        (Box, "center and size: no coordinate may be beyond", ((1.7e308, 0, 0), (1.7e308, 1, 1))),
        (Box.from_matrix, "matrix", (np.full((4, 4), np.nan), LOW, HIGH)),
        (Box.from_matrix, "matrix", (np.eye(3), LOW, HIGH)),
        (Box.from_matrix, "matrix", (np.ones((4, 4)), LOW, HIGH)),
        (Box.from_matrix, "low", (np.eye(4), (0, 2, 0), HIGH)),
        (Box.from_matrix, "low", (np.eye(4), (0, np.nan, 0), HIGH)),
        (Box.from_matrix, "high", (np.eye(4), LOW, (1, np.inf, 1))),
        (
            Box.from_matrix,
            "matrix, low and high: no coordinate may be beyond",
            (np.diag([1e308, 1e308, 1e308, 1]), (-9, -9, -9), (9, 9, 9)),
        ),
        (rotate, "rotation", ((1, 0, 0), (0, 0, 0, 0))),
        (rotate, "vectors", ((1, 0, np.nan), (1, 0, 0, 0))),
        (rotate, "vectors", ((1, 0), (1, 0, 0, 0))),
    ],
)
def test_wrong_arguments_are_named(make, name, arguments):
    with pytest.raises(ValueError, match=f"^{name}"):
        make(*arguments)


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
        matrix = as_matrix(linear, rng.normal(size=3))
        low = rng.uniform(-3, 3, 3)
        high = low + rng.uniform(0.1, 2, 3)
        box = Box.from_matrix(matrix, low, high)
        corners = np.where(SIGNS > 0, high, low) @ linear.T + matrix[:3, 3]
        assert np.allclose(box.vertices, corners, rtol=0, atol=1e-14 * (1 + np.abs(corners).max()))
        assert box.rank == 3
        assert box.orthogonal == (not kind.startswith("sheared"))
        assert_is_polytope(box)
        assert rows(ConvexHull(corners).normals) == rows(box.normals)


@pytest.mark.parametrize(("size", "rank"), [((2, 0, 1), 2), ((0, 0, 3), 1), ((0, 0, 0), 0), ((1e-17, 1, 1), 2)])
def test_a_box_without_thickness_has_lower_rank(size, rank):
    for q in ((1, 0, 0, 0), (0.3, 0.4, -0.5, 0.9)):
        box = Box((1, 2, 3), size, q)
        assert box.rank == rank
        assert len(box.vertices) == 2**rank
        assert_is_polytope(box)
        assert np.allclose(box.center, [1, 2, 3], atol=1e-14)


def test_a_singular_matrix_makes_a_flat_box():
    def image(linear) -> Box:
        return Box.from_matrix(as_matrix(linear, 0), (-1, -1, -1), (1, 1, 1))

    hexagon = image(np.array([[1, 0, 1], [0, 1, 1], [0, 0, 0]]))
    assert hexagon.rank == 2
    assert rows(hexagon.vertices) == {(-2, -2, 0), (-2, 0, 0), (0, -2, 0), (0, 2, 0), (2, 0, 0), (2, 2, 0)}
    square = image(np.diag([1.0, 0.0, 1.0]))
    assert square.rank == 2
    assert square.orthogonal
    assert np.allclose(np.abs(square.axes[1]), [0, 1, 0])
    assert image(np.zeros((3, 3))).rank == 0


def test_a_needle_of_a_strong_shear_keeps_its_corners():
    matrix = np.eye(4)
    matrix[0, 1] = 1e4
    box = Box.from_matrix(matrix, (0, 0, 0), (1, 1, 1))
    assert rows(box.vertices) == rows((SIGNS + 1) / 2 @ matrix[:3, :3].T)
    assert_is_polytope(box)


def test_a_scaled_box_is_the_box_of_the_scaled_size():
    for factor in (3.0, 2.0**-700):
        box = Box((1, 2, 3), (1, 2, 0.5), (1, 2, 3, 4)).scaled(factor)
        np.testing.assert_allclose(box.half / factor, (0.5, 1, 0.25), rtol=1e-15)
        near = Box((1.5, 2, 3), (1, 1, 1)).scaled(factor)
        expected = contact(ConvexHull(box.vertices), ConvexHull(near.vertices)).depth
        assert contacts([box, near]).depth / factor == pytest.approx(expected / factor)
        assert box_sat(box, near).depth / factor == pytest.approx(expected / factor)
        assert box.transformed(np.eye(4)).volume == pytest.approx(box.volume, rel=1e-12)
