# SPDX-License-Identifier: GPL-3.0-or-later
"""The pairs of a scene, cut into parts and joined, are those of one call, to the last digit."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest

from contact_lens.core import (
    Box,
    Cancelled,
    ConvexHull,
    Mesh,
    ShapeSet,
    Sphere,
    candidate_pairs,
    combine,
    partition,
)
from contact_lens.core import contacts as contacts_of
from contact_lens.core.many.result import Contacts

from ..assertions import assert_progress, assert_same_rows

contacts = partial(contacts_of, reproducible=True)


def scattered_shapes(count: int, seed: int = 7) -> ShapeSet:
    """Boxes, hulls, spheres and a few meshes in a room in which most have a neighbour."""
    rng = np.random.default_rng(seed)
    solid = Mesh(np.concatenate([np.zeros((1, 3)), np.eye(3)]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    room = 1.6 * count ** (1 / 3)
    makers = (
        lambda at: Box(at, rng.uniform(0.5, 2.0, 3)),
        lambda at: ConvexHull(rng.normal(size=(12, 3)) + at),
        lambda at: Sphere(at, 0.8),
    )
    shapes = [makers[k % 3](rng.uniform(0.0, room, 3)) for k in range(count)]
    return ShapeSet([*shapes[4:], *(solid.translated(rng.uniform(0.0, room, 3)) for _ in range(4))])


def in_own_numbers(shapes: ShapeSet, part: np.ndarray, **options) -> Contacts:
    """The contacts of a part as another process finds them: of its shapes alone, without certificates, pickled."""
    used, own = np.unique(part, return_inverse=True)
    chosen = [shapes[k] for k in used.tolist()]
    return pickle.loads(pickle.dumps(contacts(chosen, own.reshape(-1, 2), certificates=False, **options)))


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


def test_parts_of_other_processes_are_one_call_to_the_last_digit() -> None:
    shapes = scattered_shapes(60)
    whole = contacts(shapes, clearance=0.1, budget=0.0)
    parts = partition(shapes.bounds(), 5, clearance=0.1)
    results = [in_own_numbers(shapes, part, clearance=0.1, budget=0.0) for part in parts]
    assert_same_rows(combine(results, parts), whole)


def test_a_combined_result_makes_certificates_where_all_have_the_same_shapes() -> None:
    shapes = scattered_shapes(24)
    pairs = contacts(shapes, budget=0.0).pairs
    results = [contacts(shapes, pairs[rows], budget=0.0) for rows in (slice(5, None), slice(0, 5))]
    both = combine(results)
    whole = contacts(shapes, pairs, budget=0.0)
    assert_same_rows(both, whole)
    for k in range(len(pairs)):
        assert both.contact(k).certificate is not None
        assert both.contact(k).signed_distance == whole.contact(k).signed_distance
    moved = np.tile(np.eye(4), (len(shapes), 1, 1))
    moved[:, 0, 3] = 1.0
    at_home, away = (
        contacts(shapes, pairs[rows], poses=poses, budget=0.0)
        for rows, poses in ((slice(5), np.tile(np.eye(4), (len(shapes), 1, 1))), (slice(5, None), moved))
    )
    with pytest.raises(ValueError, match="certificates were not asked for"):
        combine([at_home, away]).contact(0)
    other = contacts([shapes[k] for k in range(len(shapes))], pairs[:5], budget=0.0, certificates=False)
    with pytest.raises(ValueError, match="certificates were not asked for"):
        combine([results[0], other]).contact(0)


def test_tolerances_of_pairs_and_missing_regions_are_joined() -> None:
    shapes = scattered_shapes(24)
    pairs = candidate_pairs(*shapes.bounds()).pairs
    tolerance = np.linspace(1e-6, 1e-3, len(pairs))
    options = {"regions": False, "budget": 0.0}
    whole = contacts(shapes, pairs, contact_tolerance=tolerance, **options)
    cut = len(pairs) // 3
    cuts = slice(cut), slice(cut, None)
    halves = [contacts(shapes, pairs[k], contact_tolerance=tolerance[k], **options) for k in cuts]
    both = combine(halves[::-1])
    assert_same_rows(both, whole)
    assert np.array_equal(both.contact_tolerance, tolerance)


ROW = ShapeSet([Box([x, 0, 0], [1, 1, 1]) for x in (0.0, 0.75, 1.5)])
FIRST = contacts(ROW, [[0, 1]])


@pytest.mark.parametrize(
    ("results", "parts", "message"),
    [
        ([], None, "results: at least one expected"),
        (FIRST.contact(0), None, "results: a sequence of Contacts expected, not Contact"),
        ([FIRST, FIRST.contact(0)], None, "results: number 1 must be what contacts"),
        ([FIRST, contacts(ROW, [[1, 2]], clearance=0.5)], None, "number 1 has the clearance 0.5, but number 0 0.0"),
        ([FIRST, contacts(ROW, [[1, 2]], contact_tolerance=1e-4)], None, "number 1 has the contact tolerance 0.0001"),
        ([FIRST, contacts(ROW, [[1, 2]], contact_tolerance=[1e-5])], None, "contact tolerance one for each pair"),
        ([FIRST, contacts_of(ROW, [[1, 2]])], None, "number 1 was asked for without reproducible=True"),
        ([FIRST, contacts(ROW, [[1, 2]], method="sat")], None, "number 1 has the method sat"),
        ([FIRST, contacts(ROW, [[1, 2]], budget=1.0)], None, "number 1 has the budget 1.0"),
        ([FIRST, contacts(ROW, [[1, 2]], regions=False)], None, "number 1 has the regions none"),
        ([FIRST, contacts(ROW, [[1, 2], [0, 1]])], None, r"the pair \[0, 1\] is in numbers 0 and 1"),
        ([contacts(ROW, [[0, 1], [0, 1]])], None, r"the pair \[0, 1\] is twice in number 0"),
        ([FIRST], [[[0, 1]], [[1, 2]]], "results: 2 expected, one for each of the parts, got 1"),
        ([FIRST], [[[0, 1], [1, 2]]], "number 0 has 1 pairs, but its part has 2"),
        ([contacts(ROW, [[0, 1], [1, 2]])], [[[0, 1], [5, 6]]], "number 0 has other pairs than its part"),
        ([contacts(ROW, [[0, 1], [0, 2]])], [[[0, 1], [5, 1]]], "number 0 has other pairs than its part"),
    ],
)
def test_results_that_do_not_fit_are_refused_by_name(results, parts, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        combine(results, parts)


def test_results_of_another_dimension_are_refused_and_empty_ones_fit_all() -> None:
    flat = [ConvexHull([[0, 0], [1, 0], [0, 1]]), ConvexHull([[0.5, 0.2], [1, 1], [2, 0]])]
    with pytest.raises(ValueError, match="number 1 has the dimension 2, but number 0 3"):
        combine([FIRST, contacts(flat, [[0, 1]])])
    nothing = contacts([])
    assert_same_rows(combine([nothing, contacts(flat, [[0, 1]]), nothing]), contacts(flat))
    assert len(combine([nothing, nothing])) == 0


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
