# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that penetrate are moved out of each other: all of them, as little as is enough, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from contact_lens.core import Box, Cancelled, ConvexHull, Mesh, Sphere, contacts
from contact_lens.core.penetration_resolution import ROUNDS, Resolution, resolve_penetrations
from contact_lens.core.shapes.shape import Shape

from .generators import CUBE, rotation

FLOOR = Box([0.0, 0.0, -0.5], [20.0, 20.0, 1.0])
BAND = 1e-5
"""What pairs may lack afterwards."""


def both(pairs: np.ndarray) -> np.ndarray:
    return np.ones(pairs.shape, dtype=bool)


def resolved(shapes: Sequence[Shape], bodies: Sequence[int] | None = None, **options: object) -> Resolution:
    """Bodies out of each other; each shape is one, but for a first floor, unless others are given."""
    if bodies is None:
        bodies = np.arange(len(shapes)) - (shapes[0] is FLOOR)
    return resolve_penetrations(shapes, bodies, options.pop("yielding", both), tolerances=BAND, **options)  # type: ignore


def in_place(shapes: Sequence[Shape], found: Resolution, first: int = 0) -> list[Shape]:
    """The shapes where they are moved to; first: how many stay."""
    return [*shapes[:first], *(each.translated(t) for each, t in zip(shapes[first:], found.translations, strict=True))]


def deep(shapes: Sequence[Shape]) -> list[list[int]]:
    met = contacts(shapes, contact_tolerance=0.0)
    return met.pairs[met.depth > 1.001 * BAND].tolist()


def pile(seed: int, count: int = 48, size: float = 1.5) -> list[Shape]:
    """Turned boxes in and above a floor, on top of each other."""
    rng = np.random.default_rng(seed)
    shapes: list[Shape] = [FLOOR]
    for _ in range(count):
        pose = np.eye(4)
        pose[:3, :3] = rotation(rng)
        pose[:3, 3] = rng.uniform([-size, -size, 0.2], [size, size, 2.0])
        shapes.append(Box([0.0, 0.0, 0.0], rng.uniform(0.4, 1.0, 3)).transformed(pose))
    return shapes


def test_a_row_of_books_spreads_by_half_to_each_side() -> None:
    row = [Box([0.15 * k, 0.0, 0.0], [0.2, 1.0, 1.5]) for k in range(11)]
    found = resolved(row)
    expected = 0.05 * (np.arange(11) - 5.0)
    assert found.translations[:, 0] == pytest.approx(expected, abs=1e-4)
    assert found.translations[:, 1:] == pytest.approx(0.0)
    assert found.rounds == 1


def test_a_stack_that_is_sunk_into_the_floor_rises() -> None:
    stack = [FLOOR, *(Box([0.0, 0.0, 0.3 + 0.8 * k], [1.0, 1.0, 1.0]) for k in range(6))]
    found = resolved(stack)
    assert found.translations[:, 2] == pytest.approx(0.2 * np.arange(1, 7), abs=1e-4)
    assert found.translations[:, :2] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("count", [15, pytest.param(48, marks=pytest.mark.slow)])
def test_a_pile_on_a_floor_ends_without_penetration(count: int) -> None:
    shapes = pile(count, count)
    before = contacts(shapes)
    found = resolved(shapes)
    assert len(deep(shapes)) > count
    assert deep(in_place(shapes, found, 1)) == []
    assert found.pairs.tolist() == []
    assert found.rounds <= ROUNDS
    assert np.linalg.norm(found.translations, axis=1).sum() < 1.2 * before.depth.sum()


def test_the_order_of_shapes_and_bodies_does_not_matter() -> None:
    shapes = pile(5, 15)
    order = np.random.default_rng(1).permutation(15)
    first = resolved(shapes).translations[order]
    second = resolved([FLOOR, *(shapes[1 + k] for k in order)]).translations
    assert second == pytest.approx(first, abs=1e-3)
    assert np.array_equal(resolved(shapes).translations, resolved(shapes).translations), "deterministic"


def test_what_is_free_of_others_stays() -> None:
    shapes = [
        Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
        Box([0.9, 0.0, 0.0], [1.0, 1.0, 1.0]),
        Sphere([5.0, 0.0, 0.0], 1.0),
    ]
    found = resolved(shapes)
    assert found.translations == pytest.approx(
        np.array([[-0.05, 0.0, 0.0], [0.05, 0.0, 0.0], [0.0, 0.0, 0.0]]), abs=1e-5
    )


def test_what_is_in_the_way_makes_room() -> None:
    row = [Box([x, 0.0, 0.0], [1.0, 1.0, 1.0]) for x in (0.0, 0.5, 1.51)]
    found = resolved(row, [-1, 0, 1])
    assert found.translations[:, 0] == pytest.approx([0.5, 0.49], abs=1e-4)


def test_who_yields_is_moved_alone() -> None:
    shapes = [Box([0.0, 0.0, 0.0], [4.0, 4.0, 4.0]), Box([2.2, 0.0, 0.0], [1.0, 1.0, 1.0])]
    found = resolved(shapes, yielding=lambda pairs: pairs == 1)
    assert found.translations[:, 0] == pytest.approx([0.0, 0.3], abs=1e-4)


def test_pairs_of_which_neither_yields_are_left_as_they_are() -> None:
    found = resolved([Box([x, 0.0, 0.0], [1.0, 1.0, 1.0]) for x in (0.0, 0.5)], yielding=lambda pairs: pairs < 0)
    assert not found.translations.any()
    assert found.pairs.tolist() == []


def test_shapes_of_one_body_move_together() -> None:
    shapes = [FLOOR, Box([0.0, 0.0, 0.4], [1.0, 1.0, 1.0]), Box([0.0, 0.0, 1.3], [0.5, 0.5, 1.0])]
    found = resolved(shapes, [-1, 0, 0])
    assert found.translations == pytest.approx(np.array([[0.0, 0.0, 0.1]]), abs=1e-4)


def test_pairs_get_the_clearance() -> None:
    row: list[Shape] = [FLOOR, *(Box([0.95 * k, 0.0, 0.52], [1.0, 1.0, 1.0]) for k in range(5))]
    met = contacts(in_place(row, resolved(row, clearance=0.05), 1), clearance=0.1)
    assert len(met) == 9
    assert met.signed_distance.min() > 0.05 - 1.001 * BAND


def test_along_an_axis_bodies_move_along_it_alone() -> None:
    shapes = [Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]), Box([0.2, 0.0, 0.9], [1.0, 1.0, 1.0])]
    found = resolved(shapes, free=[[True, False, False]] * 2)
    assert found.translations == pytest.approx(np.array([[-0.4, 0.0, 0.0], [0.4, 0.0, 0.0]]), abs=1e-4)
    assert deep(in_place(shapes, found)) == []


def test_where_there_is_no_room_a_body_leaves_by_the_shortest_way() -> None:
    walls: list[Shape] = [Box([x, 0.0, 0.0], [1.0, 3.0, 1.0]) for x in (-1.0, 1.0)]
    shapes = [*walls, Box([0.0, 0.0, 0.1], [1.5, 1.0, 0.8])]
    found = resolved(shapes, [-1, -1, 0])
    assert deep(in_place(shapes, found, 2)) == []
    assert found.translations[0] == pytest.approx([0.0, 0.0, 0.8], abs=1e-3)


def test_one_book_too_many_leaves_the_row() -> None:
    walls: list[Shape] = [Box([x, 0.0, 0.0], [3.0, 2.0, 2.0]) for x in (-2.4, 2.4)]
    shapes = [*walls, *(Box([-0.75 + 0.25 * k, 0.0, 0.0], [0.28, 1.0, 1.0]) for k in range(7))]
    found = resolved(shapes, [-1, -1, *range(7)])
    assert deep(in_place(shapes, found, 2)) == []
    assert (np.abs(found.translations[:, 1:]) > 0.1).any(axis=1).sum() == 1


def test_what_cannot_be_freed_within_the_limit_is_named() -> None:
    shapes = [Box([0.0, 0.0, 0.0], [4.0, 4.0, 4.0]), Box([0.5, 0.0, 0.0], [1.0, 1.0, 1.0])]
    found = resolved(shapes, [-1, 0], limit=1.0)
    assert found.pairs.tolist() == [[0, 1]]
    assert np.linalg.norm(found.translations) <= 1.0 + 1e-12


def test_meshes_are_freed_by_their_surfaces() -> None:
    """A box in the notch of an L is inside its hull."""
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
    points = np.array([[x, y, z] for z in (0.0, 1.0) for x, y in outline])
    caps = [[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 5, 4]]
    sides = [[k, (k + 1) % 6, 6 + (k + 1) % 6] for k in range(6)] + [[k, 6 + (k + 1) % 6, 6 + k] for k in range(6)]
    mesh = Mesh(points, np.array([*caps, *((np.array(caps) + 6)[:, ::-1].tolist()), *sides]))
    free = resolved([mesh, Box([1.51, 1.51, 0.5], [1.0, 1.0, 0.5])], [-1, 0])
    assert not free.translations.any()
    shapes = [mesh, Box([1.45, 1.6, 0.5], [1.0, 1.0, 0.5])]
    found = resolved(shapes, [-1, 0])
    assert deep(in_place(shapes, found, 1)) == []
    assert np.linalg.norm(found.translations) < 0.1, "of its hull it would be 0.4"


def test_hulls_touching_at_corners_stay() -> None:
    shapes = [ConvexHull(CUBE), ConvexHull(CUBE + 2.0 * np.abs(CUBE).max())]
    assert not resolved(shapes).translations.any()


def test_progress_cancels() -> None:
    with pytest.raises(Cancelled):
        resolved(pile(0, 5), progress=lambda fraction: fraction < 0.02)


@pytest.mark.parametrize(
    ("bodies", "options", "word"),
    [
        ([0], {}, "bodies"),
        ([0, -2], {}, "bodies"),
        ([0, 1], {"free": [[True] * 3]}, "free"),
        ([0, 1], {"clearance": -1.0}, "clearance"),
    ],
)
def test_arguments_are_named(bodies: list[int], options: dict[str, object], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        resolved([Sphere([0.0, 0.0, 0.0], 1.0), Sphere([1.0, 0.0, 0.0], 1.0)], bodies, **options)


@pytest.mark.parametrize(
    "given", [{"tolerances": np.nan}, {"tolerances": -1.0}, {"tolerances": [0.0]}, {"limit": np.nan}, {"limit": -1.0}]
)
def test_what_is_no_length_is_named(given: dict[str, float]) -> None:
    pair = [Box([x, 0.0, 0.0], [1.0, 1.0, 1.0]) for x in (0.0, 0.5)]
    with pytest.raises(ValueError, match=next(iter(given))):
        resolve_penetrations(pair, [0, 1], both, **given)
