# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs of a scene cut into parts."""

from __future__ import annotations

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Cancelled,
    ConvexHull,
    Mesh,
    ShapeSet,
    Sphere,
    contacts,
    partition,
)

from .assertions import assert_progress
from .mesh_shapes import sphere


def scattered_shapes(count: int, seed: int = 7) -> ShapeSet:
    """Boxes, hulls, spheres and a few meshes in a room in which most have a neighbour."""
    rng = np.random.default_rng(seed)
    ball = Mesh(*sphere(5))
    room = 1.6 * count ** (1 / 3)
    makers = (
        lambda at: Box(at, rng.uniform(0.5, 2.0, 3)),
        lambda at: ConvexHull(rng.normal(size=(12, 3)) + at),
        lambda at: Sphere(at, 0.8),
    )
    shapes = [makers[k % 3](rng.uniform(0.0, room, 3)) for k in range(count)]
    return ShapeSet([*shapes[4:], *(ball.translated(rng.uniform(0.0, room, 3)) for _ in range(4))])


def test_parts_are_the_pairs_of_one_call_each_once() -> None:
    shapes = scattered_shapes(80)
    wanted = contacts(shapes, clearance=0.2, budget=0.0).pairs
    for parts in (1, 3, 16):
        found = partition(shapes.bounds(), parts, clearance=0.2)
        sizes = [len(part) for part in found]
        assert len(found) == parts
        assert max(sizes) - min(sizes) <= 1
        together = np.concatenate(found)
        assert np.array_equal(together[np.lexsort(together.T[::-1])], wanted)
        again = partition(shapes.bounds(), parts, clearance=0.2)
        assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))


def test_pairs_of_a_part_are_near_each_other() -> None:
    """A cube of boxes that touch, in 8 parts: a part needs few more shapes than an eighth of them."""
    places = np.stack(np.meshgrid(*[np.arange(16.0)] * 3), axis=-1).reshape(-1, 3)
    parts = partition((places - 0.5, places + 0.5), 8)
    assert max(len(np.unique(part)) for part in parts) < 1.6 * len(places) / 8


def test_parts_in_the_plane_and_of_few_or_no_pairs() -> None:
    low = np.array([[0.0, 0.0], [0.5, 0.5], [9.0, 9.0]])
    assert [part.tolist() for part in partition((low, low + 1.0), 3)] == [[], [], [[0, 1]]]
    empty = np.zeros((0, 3))
    assert [part.shape for part in partition((empty, empty), 2)] == [(0, 2), (0, 2)]


@pytest.mark.parametrize(
    ("bounds", "parts", "message"),
    [
        (5, 2, "bounds: lowest and highest corners"),
        ((np.zeros((2, 3)), np.ones((3, 3))), 2, "bounds: high: the shape of low"),
        ((np.zeros((2, 4)), np.ones((2, 4))), 2, "bounds: low: an array"),
        ((np.full((2, 3), np.nan), np.ones((2, 3))), 2, "bounds: low: all numbers must be finite"),
        ((np.ones((2, 3)), np.zeros((2, 3))), 2, "bounds: row 0 of low is above that of high"),
        ((np.zeros((2, 3)), np.ones((2, 3))), 0, "parts must be a whole number from 1 on, not 0"),
        ((np.zeros((2, 3)), np.ones((2, 3))), 2.5, "parts must be a whole number from 1 on, not 2.5"),
    ],
)
def test_bounds_and_parts_that_are_not_valid_are_refused_by_name(bounds, parts, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        partition(bounds, parts)


def test_partition_reports_progress_and_can_be_cancelled() -> None:
    low, high = scattered_shapes(400).bounds()
    assert_progress(lambda progress: partition((low, high), 3, progress=progress))
    with pytest.raises(Cancelled):
        partition((low, high), 3, progress=lambda _: False)
