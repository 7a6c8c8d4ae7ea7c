# SPDX-License-Identifier: GPL-3.0-or-later
"""The error of a wrong argument is a ValueError that names it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Compound,
    ConvexHull,
    Mesh,
    Sphere,
    contact,
    contact_region,
    epa,
    gjk,
    gjk_intersects,
    minkowski_difference,
    minkowski_sum,
    rotate,
    sat,
    support,
)
from contact_lens.core.arguments import as_length, as_unit
from contact_lens.core.shapes.support import minkowski_supports

from . import generators

CUBE = ConvexHull(generators.CUBE + 0.5)
ABOVE = ConvexHull(CUBE.vertices + [0.25, 0.25, 1.0])
SQUARE = ConvexHull([[0, 0], [1, 0], [1, 1], [0, 1]])
UP, ORIGIN = [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]

NO_SHAPE = [None, CUBE.vertices, [[0.0, 0.0, 0.0]], "cube", 3]
NO_NUMBERS = ["123", ["1", "2", "3"], [True, False, True], [1j, 0, 0], [None, 0, 0], [Fraction(1, 3), 0, 0]]
NO_VECTOR = [*NO_NUMBERS, None, 1.0, [], [0.0, 1.0], [[0.0, 0.0, 1.0]], [0.0, np.nan, 1.0], [np.inf, 0.0, 0.0]]
OF_VERTICES = (
    gjk, gjk_intersects, sat, minkowski_difference, minkowski_sum, lambda a, b: minkowski_supports(a, b, [UP]),
)  # fmt: skip


def region(**changed: Any) -> Any:
    arguments: dict[str, Any] = {
        "a": CUBE, "b": ABOVE, "normal": UP, "feature_width": 1e-6, "point_on_a": UP, "point_on_b": UP,
    }  # fmt: skip
    return contact_region(**(arguments | changed))


def assert_refused(name: str, *calls: Callable[[], object]) -> None:
    """Each call raises a ValueError that begins with the name of the argument."""
    for call in calls:
        with pytest.raises(ValueError, match=f"^{name}"):
            call()


@pytest.mark.parametrize("wrong", NO_SHAPE, ids=lambda x: type(x).__name__)
def test_arguments_that_are_not_shapes_are_refused_by_name(wrong: Any) -> None:
    touch = gjk(CUBE, ABOVE)
    for between in (contact, *OF_VERTICES, lambda a, b: epa(a, b, touch), lambda a, b: region(a=a, b=b)):
        assert_refused("a must be a shape", lambda between=between: between(wrong, CUBE))
        assert_refused("b must be a shape", lambda between=between: between(CUBE, wrong))
    assert_refused("shape must be a shape", lambda: support(wrong, UP))


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (Sphere(ORIGIN, 1), "a Sphere is curved: use contact"),
        (Compound([CUBE]), "a Compound is not convex: .* pieces"),
        (Mesh(CUBE.vertices, [[0, 1, 3]]), "a Mesh is not convex: .* ConvexHull"),
    ],
    ids=["sphere", "compound", "mesh"],
)
def test_a_shape_without_vertices_is_refused_with_the_reason(shape: Any, reason: str) -> None:
    for between in OF_VERTICES:
        with pytest.raises(ValueError, match=f"^b must have vertices, .* but {reason}"):
            between(CUBE, shape)
    assert support(shape, UP)[2] == 1.0


def test_shapes_of_different_dimension_are_refused() -> None:
    for between in (contact, *OF_VERTICES, lambda a, b: region(a=a, b=b)):
        with pytest.raises(ValueError, match="a has 3 and b has 2"):
            between(CUBE, SQUARE)


@pytest.mark.parametrize("wrong", [*NO_VECTOR, ORIGIN], ids=str)
def test_arguments_that_are_not_directions_are_refused_by_name(wrong: Any) -> None:
    assert_refused("direction", lambda: support(CUBE, wrong))
    assert_refused("directions", lambda: CUBE.supports([wrong]), lambda: minkowski_supports(CUBE, ABOVE, [wrong]))
    assert_refused("normal", lambda: region(normal=wrong))
    if wrong is not None:
        assert_refused("direction", lambda: gjk_intersects(CUBE, ABOVE, wrong))
    if wrong not in (None, ORIGIN):
        assert_refused("direction", lambda: gjk(CUBE, ABOVE, wrong))


@pytest.mark.parametrize("wrong", NO_VECTOR, ids=str)
def test_arguments_that_are_not_points_are_refused_by_name(wrong: Any) -> None:
    assert_refused("point_on_a", lambda: region(point_on_a=wrong))
    assert_refused("point_on_b", lambda: region(point_on_b=wrong))
    assert_refused("center", lambda: Box(wrong, [1, 1, 1]))
    assert_refused("size", lambda: Box(ORIGIN, wrong))
    assert_refused("low", lambda: Box.from_matrix(np.eye(4), wrong, [1, 1, 1]))


@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=str)
def test_text_truth_values_and_complex_numbers_are_no_vectors(wrong: Any) -> None:
    assert_refused("vectors", lambda: rotate(wrong, [1, 0, 0, 0]))
    assert_refused("rotation", lambda: rotate(UP, [*wrong, wrong[0]]))
    assert_refused("matrix", lambda: Box.from_matrix(np.full((4, 4), wrong[0]), ORIGIN, UP))


@pytest.mark.parametrize("wrong", [-1e-9, np.nan, np.inf, -np.inf, "1", None, [1.0], 1j, True, 10**400, Decimal(1)])
def test_arguments_that_are_not_lengths_are_refused_by_name(wrong: Any) -> None:
    assert_refused("feature_width must be a finite number", lambda: region(feature_width=wrong))
    assert_refused("clearance must be a finite number", lambda: contact(CUBE, ABOVE, clearance=wrong))
    assert_refused("contact_tolerance must be a finite number", lambda: contact(CUBE, ABOVE, contact_tolerance=wrong))


def test_lengths_of_any_real_type_are_taken() -> None:
    for length in (1, 1.0, np.float32(1), np.int8(1), Fraction(1)):
        assert as_length("clearance", length) == 1.0
        assert type(as_length("clearance", length)) is float
        assert type(contact(CUBE, ABOVE, clearance=length).clearance) is float
    huge = ConvexHull(CUBE.vertices * 1e200)
    assert contact(huge, huge, clearance=Fraction(1, 3)).clearance == 1 / 3


@pytest.mark.parametrize("scale", [1.0, 2.0, 1e-3, 5e-324, 1e-200, 1e200, 1.7e308])
def test_a_normal_of_any_length_is_made_a_unit_vector(scale: float) -> None:
    for normal in ([0.0, 0.0, 1.0], [0.6, 0.0, 0.8]):
        unit = as_unit("normal", np.array(normal) * scale, 3)
        assert np.linalg.norm(unit) == pytest.approx(1.0, abs=4e-16)
        if scale != 5e-324:
            np.testing.assert_allclose(unit, normal, rtol=1e-15)
    normal = np.array([0.6, 0.0, 0.8])
    assert as_unit("normal", normal, 3) is normal, "one of length 1 is taken as it is"


@pytest.mark.parametrize("kind", [list, tuple, np.float32, np.array])
def test_directions_of_any_real_type_are_taken(kind: Any) -> None:
    assert support(CUBE, kind([1.0, 1.0, 1.0])).tolist() == [1.0, 1.0, 1.0]
    assert CUBE.supports([kind([1.0, 1.0, 1.0])]).tolist() == [[1.0, 1.0, 1.0]]
    assert support(SQUARE, kind([1, 1])).tolist() == [1.0, 1.0]


def test_starts_of_gjk_and_of_epa() -> None:
    assert gjk(CUBE, ABOVE, [0, 0, -2]).intersects, "a list of whole numbers is a direction"
    for wrong in (None, CUBE, "simplex"):
        assert_refused(r"simplex must be a result of gjk\(a, b\)", lambda wrong=wrong: epa(CUBE, ABOVE, wrong))


@pytest.mark.parametrize("huge", [1.2e301, 1.7e308])
def test_coordinates_whose_distances_would_be_infinite_are_refused(huge: float) -> None:
    assert_refused(r"points: no coordinate may be beyond 1.07e\+301", lambda: ConvexHull([ORIGIN, [huge, 0.0, 0.0]]))
    assert_refused("center and size: no coordinate may be beyond", lambda: Box((huge, 0.0, 0.0), (1.0, 1.0, 1.0)))
    apart = contact(ConvexHull([[-1e301, 0.0, 0.0]]), ConvexHull([[1e301, 0.0, 0.0]]))
    assert apart.signed_distance == 2e301
